/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_known.c - the programs whose memory is known, and how certain verdicts on other programs are; see memory_known.h.
 */
#include "results/study/memory_known.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

/* ---- questions ------------------------------------------------------------------------------------------- */

static bool is_of_fullest_tile(const struct figure *f)
{
    size_t n = strlen(f->metric), ending = strlen("max_tile_bytes");
    return n >= ending && text_is(f->metric + n - ending, "max_tile_bytes");
}

static bool says_whether_it_fits(const struct figure *f) { return text_is(f->metric, "fits"); }

static bool asks_of_memory(const struct figure *f)
{
    return !f->kernel && *f->recipe && !f->without && !strpbrk(f->recipe, ":+") && (says_whether_it_fits(f) || is_of_fullest_tile(f));
}

static bool is_asked(const struct memory_known *m, const struct figure *f)
{
    for (size_t i = 0; i < m->n; i++)
        if (text_is(m->items[i].figure->configuration, f->configuration) && text_is(m->items[i].figure->metric, f->metric))
            return true;
    return false;
}

/* Takes the bytes that were counted for the first prediction, if they were recorded: certain and needed bytes for a verdict, only needed bytes
 * for a row about bytes. */
static void recall_need(struct memory_question *q, const struct first_sight *seen, const struct memory_sights *sights)
{
    const struct memory_sight *counted = memory_sight_find(sights, q->figure->id);
    const struct sight *first = q->published_bytes > 0 ? first_sight_find(seen, q->figure->id, false) : NULL;
    q->at_first_sight = counted || first;
    if (counted)
        q->need = (struct memory_need){ (uint64_t)counted->certain_bytes, (uint64_t)counted->needed_bytes };
    else if (first)
        q->need.needed_bytes = (uint64_t)first->predicted;
}

static bool add_question(struct memory_known *m, const struct figure *f, const struct first_sight *seen, const struct memory_sights *sights, struct simulator *s,
                         struct arena *a, struct err *err)
{
    struct simulation sim;
    struct result r;
    if (!simulator_run(s, &sim, &r, path_beside(f->path, f->recipe, a), NULL, 0, err))
        return false;
    const struct chip *chip = &sim.machine->chip;
    struct memory_need counted = plan_memory_need(&sim.plan, chip->memory_error);
    memory_of_tile(&counted, &sim.plan, f->metric);
    struct memory_question q = { .figure = f, .origin = figure_origin(f, a), .need = counted, .counted = counted,
                                 .tile_bytes = (double)chip->tile_memory_bytes, .memory_error = chip->memory_error, .published_bytes = says_whether_it_fits(f) ? 0 : f->value };
    program_names_of(q.name, &sim, a);
    recall_need(&q, seen, sights);
    simulation_free(&sim);
    LIST_ADD(m, a, q);
    return true;
}

/* Adds a program that was too large, or whose bytes were published, once for each origin. */
static void add_known_program(struct memory_record *record, const struct memory_question *q, struct arena *a)
{
    struct memory_program p = { .origin = q->origin };
    if (says_whether_it_fits(q->figure) && q->figure->value > 0)
        return;
    memcpy(p.name, q->name, sizeof p.name);
    for (size_t i = 0; i < record->n; i++)
        if (text_is(record->items[i].origin, p.origin) && program_names_apart(record->items[i].name, p.name) == 0)
            return;
    LIST_ADD(record, a, p);
}

/* How many entities fit is an estimate: the recipe of such a row has other sizes, and no run was published. */
static enum memory_outcome outcome_of(const struct figure *f)
{
    if (text_is(f->metric, "entities"))
        return MEMORY_UNKNOWN;
    if (says_whether_it_fits(f))
        return f->value > 0 ? MEMORY_RAN : MEMORY_TOO_LARGE;
    return figure_kind(f) == FIGURE_OF_RUN || is_of_fullest_tile(f) ? MEMORY_RAN : MEMORY_UNKNOWN;
}

/* Adds the published outcome of each recipe that describes a published configuration, once. */
static bool add_outcomes(struct memory_record *record, const struct figures *figures, const char *recipes_dir, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        bool is_run = *f->recipe && !f->kernel && !f->link && !f->without && !strpbrk(f->recipe, ":+");
        struct memory_published p = { f->recipe, NULL, is_run ? outcome_of(f) : MEMORY_UNKNOWN };
        if (p.outcome == MEMORY_UNKNOWN || memory_record_published(record, f->recipe))
            continue;
        if (!figure_recipe_hash(&p.hash, f, recipes_dir, a, err))
            return false;
        LIST_ADD(&record->published, a, p);
    }
    return true;
}

/* Counts the calibrating configurations that are known to have run or to have been too large. */
static uint64_t count_calibrating(const struct figures *figures, struct arena *a)
{
    const char **counted = ARENA_ROOM(a, const char *, figures->n);
    uint64_t n = 0;
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        bool is_new = f->role == FIGURE_CALIBRATE && *f->recipe && !f->without && !f->kernel && (says_whether_it_fits(f) || figure_kind(f) == FIGURE_OF_RUN);
        for (uint64_t k = 0; k < n && is_new; k++)
            is_new = !text_is(counted[k], f->configuration);
        if (is_new)
            counted[n++] = f->configuration;
    }
    return n;
}

bool memory_known_build(struct memory_known *out, const struct figures *figures, const struct first_sight *seen, const struct memory_sights *sights,
                        struct simulator *s, struct arena *a, struct err *err)
{
    *out = (struct memory_known){0};
    s->options.judges = true;
    for (size_t i = 0; i < figures->n; i++)
        if (asks_of_memory(&figures->items[i]) && !is_asked(out, &figures->items[i]) &&
            !add_question(out, &figures->items[i], seen, sights, s, a, err))
            return false;
    for (size_t i = 0; i < out->n; i++)
        add_known_program(&out->record, &out->items[i], a);
    out->record.spread.n_verdicts = count_calibrating(figures, a);
    out->record.spread.far = memory_far_fit(out, NULL);
    return add_outcomes(&out->record, figures, s->paths->recipes_dir, a, err);
}

/* ---- the fit --------------------------------------------------------------------------------------------- */

static double chance_with(const struct memory_record *record, const struct memory_question *q, const char *without_origin)
{
    const struct memory_doubt doubt = memory_record_doubt(record, q->name, q->memory_error, without_origin);
    return memory_doubt_probability(&doubt, memory_fits_probability((uint64_t)q->tile_bytes, q->need, doubt.error));
}

/* The logarithm of the likelihood of the published outcome or bytes, with the bytes counted at first sight. */
static double question_likelihood(const struct memory_record *record, const struct memory_question *q)
{
    double certain = (double)q->need.certain_bytes, uncertain = (double)q->need.needed_bytes - certain;
    if (q->published_bytes > certain && uncertain > 0) {
        double error = memory_record_doubt(record, q->name, q->memory_error, q->origin).error;
        return log(gsl_ran_ugaussian_pdf(log((q->published_bytes - certain) / uncertain) / error) / error);
    }
    double fits = chance_with(record, q, q->origin);
    return log(fmax(q->figure->value > 0 ? fits : 1 - fits, 1e-12));
}

static struct memory_record record_without(const struct memory_known *m, const char *origin, struct arena *a)
{
    struct memory_record r = { .spread = m->record.spread };
    for (size_t i = 0; i < m->record.n; i++)
        if (!text_is(m->record.items[i].origin, origin))
            LIST_ADD(&r, a, m->record.items[i]);
    return r;
}

double memory_far_fit(const struct memory_known *m, const char *without_origin)
{
    enum { N_TRIED = 400 };
    struct arena scratch = {0};
    struct memory_record record = record_without(m, without_origin, &scratch);
    double best = 0, most = -INFINITY;
    for (int i = 0; i < N_TRIED; i++) {
        double sum = 0;
        size_t n = 0;
        record.spread.far = 1e-3 * pow(1e3, i / (N_TRIED - 1.));        /* the spreads tried run from 0.001 to 1 */
        for (size_t k = 0; k < m->n; k++)
            if (m->items[k].figure->role == FIGURE_CALIBRATE && !text_is(m->items[k].origin, without_origin))
                sum += question_likelihood(&record, &m->items[k]), n++;
        if (n && sum > most)
            most = sum, best = record.spread.far;
    }
    arena_free(&scratch);
    return best;
}

/* ---- memory_error ---------------------------------------------------------------------------------------- */

enum { N_SPREADS_TRIED = 400 };
static double spread_tried(int i) { return 0.005 * pow(400, i / (N_SPREADS_TRIED - 1.)); }       /* the spreads tried run from 0.005 to 2 */

static bool has_bytes(const struct memory_question *q) { return q->published_bytes > (double)q->counted.certain_bytes; }

/* The logarithm of the likelihood of the published outcome or bytes, with the bytes counted today. */
static double counted_likelihood(const struct memory_question *q, double spread)
{
    double certain = (double)q->counted.certain_bytes;
    if (has_bytes(q))
        return log(gsl_ran_ugaussian_pdf(log((q->published_bytes - certain) / ((double)q->counted.needed_bytes - certain)) / spread) / spread);
    double fits = memory_fits_probability((uint64_t)q->tile_bytes, q->counted, spread);
    return log(fmax(q->figure->value > 0 ? fits : 1 - fits, 1e-300));
}

static struct memory_spread summed_up(struct memory_spread s, const double *likelihood)
{
    int best = 0;
    double weights = 0, squares = 0;
    for (int i = 1; i < N_SPREADS_TRIED; i++)
        best = likelihood[i] > likelihood[best] ? i : best;
    s.likely = s.low = s.high = spread_tried(best);
    for (int i = 0; i < N_SPREADS_TRIED; i++) {
        double spread = spread_tried(i), weight = exp(likelihood[i] - likelihood[best]);
        weights += weight;
        squares += weight * spread * spread;
        if (likelihood[best] - likelihood[i] < gsl_cdf_chisq_Pinv(0.95, 1) / 2) {
            s.low = fmin(s.low, spread);
            s.high = fmax(s.high, spread);
        }
    }
    s.mean_square_root = sqrt(squares / weights);
    return s;
}

struct memory_spread memory_error_fit(const struct memory_known *m)
{
    struct memory_spread s = { NAN, NAN, NAN, NAN, 0, 0 };
    double likelihood[N_SPREADS_TRIED] = { 0 };
    for (size_t k = 0; k < m->n; k++) {
        if (m->items[k].figure->role != FIGURE_CALIBRATE)
            continue;
        s.n_known += has_bytes(&m->items[k]);
        s.n_verdicts += !has_bytes(&m->items[k]);
        for (int i = 0; i < N_SPREADS_TRIED; i++)
            likelihood[i] += counted_likelihood(&m->items[k], spread_tried(i));
    }
    return s.n_known + s.n_verdicts ? summed_up(s, likelihood) : s;
}

static const struct table_column spread_columns[] = {
    { COLUMN(struct memory_spread, likely) }, { COLUMN(struct memory_spread, low) }, { COLUMN(struct memory_spread, high) },
    { COLUMN(struct memory_spread, mean_square_root) }, { COLUMN_AS(struct memory_spread, n_verdicts, "verdicts") },
    { COLUMN_AS(struct memory_spread, n_known, "fullest_tiles") },
};

struct table memory_spread_table(const struct memory_spread *s) { return TABLE_OF(spread_columns, s, 1); }

/* ---- how often it came true ------------------------------------------------------------------------------ */

static double memory_question_chance(const struct memory_known *m, const struct memory_question *q)
{
    struct memory_record others = m->record;
    others.spread.far = memory_far_fit(m, q->origin);
    return chance_with(&others, q, q->origin);
}

struct chance_bin *memory_known_chances(size_t *n, const struct memory_known *m, struct arena *a)
{
    struct chance_bin *all = ARENA_ROOM(a, struct chance_bin, 2 * N_FIGURE_ROLES * N_CHANCE_BINS);
    *n = 0;
    for (size_t g = 0; g < 2 * N_FIGURE_ROLES; g++) {
        struct chance_bin bins[N_CHANCE_BINS] = {{0}};
        for (size_t i = 0; i < m->n; i++) {
            const struct memory_question *q = &m->items[i];
            if (says_whether_it_fits(q->figure) && q->figure->role == g / 2 && q->at_first_sight == !(g % 2))
                chance_bins_add(bins, 0, memory_question_chance(m, q), q->figure->value > 0, q->figure->configuration);
        }
        *n += chance_bins_end(&all[*n], bins, 0, arena_printf(a, "%s, %s", role_names[g / 2], g % 2 ? "today" : "first sight"));
    }
    return all;
}
