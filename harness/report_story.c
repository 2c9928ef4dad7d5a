/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_story.c - the report's text: the result in one sentence, where the time of the largest run goes, what would help it, and what is
 * missed. Every number is computed from the run's rows; no recipe is named here.
 */
#include "harness/report_tables.h"
#include "results/figures/drawings.h"
#include "results/study/explain.h"

#define CLOSE_ERROR 0.05
enum { MOST_HELP = 3, MOST_MISSED = 6 };

static bool id_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && text_is(text + n - n_end, end);
}

/* True for the row RECIPE.NAME of a run in MLPerf's closed division whose recipe ends in the model's name, as those of the vendor's own framework do. */
static bool is_closed_row(const struct check_row *row, const char *name)
{
    const char *recipe = row->figure->recipe;
    size_t n = strlen(recipe);
    return row->has_simulated && strncmp(recipe, "mlperf-", 7) == 0 && strstr(recipe, "-closed-") && id_ends_with(recipe, row->workload)
        && strncmp(row->figure->id, recipe, n) == 0 && row->figure->id[n] == '.' && text_is(row->figure->id + n + 1, name);
}

static double *closed_errors(size_t *n, const struct check *c, const char *name, struct arena *a)
{
    double *errors = ARENA_ARRAY(a, double, c->n + 1);
    *n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_closed_row(&c->rows[i], name))
            errors[(*n)++] = fabs(c->rows[i].error);
    return errors;
}

static size_t count_within(const double *errors, size_t n, double limit)
{
    size_t within = 0;
    for (size_t i = 0; i < n; i++)
        within += errors[i] <= limit;
    return within;
}

void report_write_opening(FILE *f, const struct check *c, const struct results *results, const struct report_page *r)
{
    size_t n_speed, n_time;
    const double *speed = closed_errors(&n_speed, c, "throughput", r->a), *time = closed_errors(&n_time, c, "score", r->a);
    fputs("<p class=\"dim\">podbench predicts how machine-learning models run on Graphcore IPU systems, from spec sheets and without the machines.</p>\n", f);
    if (n_speed)
        fprintf(f, "<h1>%zu of %zu runs of MLPerf&rsquo;s closed division are predicted within 5&nbsp;%% of their published throughput%s</h1>\n",
                count_within(speed, n_speed, CLOSE_ERROR), n_speed,
                n_time ? arena_printf(r->a, ", %zu of %zu times to train too", count_within(time, n_time, CLOSE_ERROR), n_time) : "");
    else
        fprintf(f, "<h1>%zu run%s beside %zu published figure%s</h1>\n", results->n, plural(results->n), c->n, plural(c->n));
    fprintf(f, "<p>Version %s: %zu run%s, %zu published figure%s. <a href=\"#known\">How it is known</a>, "
               "<a href=\"#time\">where the time goes</a>, <a href=\"#memory\">what fits</a>, <a href=\"#help\">what would help</a>, "
               "<a href=\"#missed\">what is missed</a>, <a href=\"#accuracy\">accuracy</a>, <a href=\"#published\">published figures</a>, "
               "<a href=\"#runs\">runs</a>, <a href=\"#status\">status for CI</a>.</p>\n", PODBENCH_VERSION, results->n, plural(results->n), c->n, plural(c->n));
}

/* ---- what would help the largest run --------------------------------------------------------------------------- */

/* True for a move that makes the run faster; other data and more IPUs do not count. */
static bool can_help(const struct move *m, uint64_t ipus)
{
    return !m->refused && m->fits && m->ipus <= ipus && m->relative < 0 && strncmp(m->input->name, "data.", 5) != 0;
}

/* Writes the changes that save most, largest first, each key once. */
static void write_moves(FILE *f, const struct explanation *e, struct arena *a)
{
    const char *shown[MOST_HELP];
    size_t n = 0;
    for (size_t i = 0; i < e->moves.n && n < MOST_HELP; i++) {
        const struct move *m = &e->moves.items[i];
        bool repeats = false;
        for (size_t k = 0; k < n; k++)
            repeats |= text_is(shown[k], m->input->name);
        if (!can_help(m, e->result->ipus) || repeats)
            continue;
        shown[n++] = m->input->name;
        fprintf(f, "<li><code>%s</code> %s &rarr; %s: %.1f&nbsp;%% less time a sample</li>\n", xml_text(m->input->name, a), xml_text(m->input->value, a),
                xml_text(m->to, a), -100 * m->relative);
    }
}

/* Simulates the run again, because its row does not say how the time is spent. */
void report_write_help(FILE *f, const struct results *results, const struct report_page *r)
{
    const struct result *hero = drawing_hero(results, r->published);
    struct simulation sim;
    struct result again;
    struct explanation e;
    if (!hero || (hero->overrides && *hero->overrides) || !simulator_run(r->simulator, &sim, &again, hero->id, NULL, 0, NULL))
        return;
    struct simulation_request q = { .recipe = hero->id, .simulator = r->simulator };
    explain(&e, &sim, &again, &q, r->a);
    fprintf(f, "<p>In <a href=\"#run-%s\">%s</a>, one change at a time (another accumulation is another global batch, which may need more samples):</p><ul>\n",
            hero->id, hero->id);
    write_moves(f, &e, r->a);
    fputs("</ul>\n", f);
    simulation_free(&sim);
}

void report_write_hero(FILE *f, const struct results *results, const struct report_page *r)
{
    const struct result *hero = drawing_hero(results, r->published);
    if (hero)
        fprintf(f, "<p>The largest run, <a href=\"#run-%s\">%s</a>, makes %s samples/s on %llu IPUs: a step of %s samples takes %.4g s. This is how "
                   "its step grows from the bare arithmetic.</p>\n", hero->id, hero->id, grouped_number(hero->throughput_samples_per_s, 4, r->a),
                (unsigned long long)hero->ipus, grouped_number(hero->global_batch, 5, r->a), hero->step_time_s);
}

/* ---- misses ------------------------------------------------------------------------------------------------ */

static int by_error(const void *x, const void *y)
{
    const struct check_row *const *a = x, *const *b = y;
    double difference = fabs((*b)->error) - fabs((*a)->error);
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp((*a)->figure->id, (*b)->figure->id);
}

/* True if an earlier row is about the same recipe. */
static bool is_told(const struct check_row *const *missed, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (text_is(missed[k]->figure->recipe, missed[i]->figure->recipe))
            return true;
    return false;
}

/* Writes the rows of runs out of tolerance: the worst row of each run, the worst run first. */
void report_write_missed(FILE *f, const struct check *c, const struct report_page *r)
{
    const struct check_row **missed = ARENA_ARRAY(r->a, const struct check_row *, c->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (row->figure->role != FIGURE_CONTEXT && figure_kind(row->figure) == FIGURE_OF_RUN && row->has_simulated && row->verdict != VERDICT_PASS)
            missed[n++] = row;
    }
    qsort(missed, n, sizeof *missed, by_error);
    fputs("<h2 id=\"missed\">What is missed</h2>\n", f);
    if (!n) {
        fputs("<p>No judged run is out of tolerance.</p>\n", f);
        return;
    }
    fprintf(f, "<p>%zu judged figures of runs are out of tolerance. The worst of each run is below, with what its source says of it; docs/maintainers/unexplained.md "
               "says what is known of the causes.</p>\n<ul>\n", n);
    for (size_t i = 0, told = 0; i < n && told < MOST_MISSED; i++) {
        const struct figure *g = missed[i]->figure;
        if (is_told(missed, i))
            continue;
        told++;
        const char *recipe = xml_text(g->recipe, r->a), *note = g->note ? xml_text(g->note, r->a) : "";
        fprintf(f, "<li><a href=\"#run-%s\">%s</a> (%s): %s published, %s predicted (%+.0f&nbsp;%%)%s%s</li>\n", recipe, recipe, xml_text(g->id, r->a),
                grouped_number(g->value, 6, r->a), grouped_number(missed[i]->simulated, 4, r->a), 100 * missed[i]->error, *note ? ". " : "", note);
    }
    fputs("</ul>\n", f);
}
