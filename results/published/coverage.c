/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.c - how often single published runs lie inside the 90 % interval predicted for them.
 *
 * Samples: the convergence model gives the interval from the run's benchmark, round, division, submitter, batch and way of evaluating. Time:
 * the same draws, with the time of a step from the caller's model; runs for which that model has no timing are left out. A run that was
 * aborted counts as inside if the interval reaches beyond the point where the run stopped.
 */
#include "results/published/check.h"

#include "results/mlperf/mllog.h"
#include "workloads/recipe/recipe_convergence.h"

enum { DRAWS = 400 };

struct coverage_writer {
    struct coverage *out;
    const struct run_rows *rows;
    const char *data_dir;
    coverage_timing *timing;
    void *user;
    struct arena *a;
    struct err *err;
};

static struct coverage_count *count_named(struct coverage *c, const char *what)
{
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].what, what))
            return &c->items[i];
    if (c->n == sizeof c->items / sizeof *c->items)
        return &c->items[0];
    c->items[c->n] = (struct coverage_count){ .what = what };
    return &c->items[c->n++];
}

static bool inside(const struct run_row *r, double x, double low, double high)
{
    if (!r->success && !r->eval_at_end)
        return high > x;
    return x >= low && x <= high;
}

/* Adds a run to its groups. `share` is 1 over the number of runs of its submission. */
static void tally(struct coverage_writer *w, const struct run_row *r, const struct drawn_runs *d, double share)
{
    const char *const groups[] = { "all", r->benchmark, r->division, role_names[r->role] };
    /* The interval's ends are whole batches, but logs may record samples within a batch, so the lower end moves down by one batch. */
    bool samples_in = inside(r, r->samples_to_converge, d->samples_low - r->global_batch, d->samples_high);
    bool time_in = inside(r, r->time_to_train_s, d->run_low_s, d->run_high_s);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct coverage_count *c = count_named(w->out, groups[i]);
        c->n++;
        c->samples_inside += samples_in;
        c->time_inside += time_in;
        c->submissions += share;
        c->samples_once += share * samples_in;
        c->time_once += share * time_in;
    }
}

/* Predicts the interval of a run and counts it. `n` is the number of runs of its submission. */
static bool count_run(struct coverage_writer *w, const struct convergence *c, const struct run_row *r, size_t n)
{
    struct draw_request q = { .convergence = c, .submissions = DRAWS, .seed = 1,
                                      .open_division = text_is(r->division, "open"), .data_dir = w->data_dir };
    struct drawn_runs d;
    struct err why;
    if (!w->timing(w->user, &q.timing, r, &why)) {
        w->out->n_without_timing++;
        return true;
    }
    if (!runs_draw(&d, &q, w->a, w->err))
        return false;
    tally(w, r, &d, 1.0 / (double)n);
    return true;
}

static bool count_submission(struct coverage_writer *w, size_t first, size_t n)
{
    const struct run_row *r = &w->rows->items[first];
    struct convergence c;
    if (!round_has_reference(r->round)) {
        w->out->n_without_reference += n;
        return true;
    }
    struct submission_terms terms = terms_of_run(r);
    if (!convergence_predict_for(&c, &terms, w->data_dir, w->a, w->err))
        return false;
    for (size_t i = first; i < first + n; i++)
        if (!count_run(w, &c, &w->rows->items[i], n))
            return false;
    return true;
}

bool coverage_report(struct coverage *out, const char *runs, const char *data_dir, coverage_timing *timing, void *user, struct arena *a,
                     struct err *err)
{
    struct run_rows rows;
    struct coverage_writer w = { out, &rows, data_dir, timing, user, NULL, err };
    *out = (struct coverage){ .n = 0 };
    if (!run_rows_load(&rows, runs, a, err))
        return false;
    count_named(out, "all");
    bool done = true;
    for (size_t i = 0, n; done && i < rows.n; i += n) {
        struct arena scratch = { 0 };
        w.a = &scratch;
        n = run_rows_group(&rows, i);
        done = count_submission(&w, i, n);
        arena_free(&scratch);
    }
    return done;
}

/* ---- as a table ------------------------------------------------------------------------------------------------ */

struct coverage_line { const char *of; uint64_t n, samples_inside, time_inside; double samples_of_runs, time_of_runs, submissions, samples_share, time_share; };
#define C(member, csv_name, ...) { COLUMN_AS(struct coverage_line, member, csv_name), __VA_ARGS__ }
#define PER_CENT .format = "%.1f", .scale = 100
static const struct table_column coverage_columns[] = {
    C(of, "of", .heading = "runs"), C(n, "runs", .heading = "number"), C(samples_inside, "samples_inside", .heading = "samples inside"),
    C(samples_of_runs, NULL, .heading = "%", PER_CENT), C(n, "timed_runs"), C(time_inside, "time_inside", .heading = "time inside"),
    C(time_of_runs, NULL, .heading = "%", PER_CENT), C(submissions, "submissions", .heading = "submissions", .format = "%.0f"),
    C(samples_share, "samples_share", .heading = "samples %", PER_CENT), C(time_share, "time_share", .heading = "time %", PER_CENT),
};
#undef PER_CENT
#undef C

struct table coverage_table(const struct coverage *c, struct arena *a)
{
    struct table t = TABLE(coverage_columns, struct coverage_line);
    for (size_t i = 0; i < c->n; i++) {
        const struct coverage_count *k = &c->items[i];
        const double n = (double)k->n;              /* without runs the shares are 0 / 0, which prints as unknown */
        table_add(&t, &(struct coverage_line){ k->what, k->n, k->samples_inside, k->time_inside, (double)k->samples_inside / n,
                                               (double)k->time_inside / n, k->submissions, k->samples_once / k->submissions,
                                               k->time_once / k->submissions }, a);
    }
    return t;
}

void coverage_document(struct document *d, const struct coverage *c)
{
    struct table t = coverage_table(c, d->arena);
    t.name = "coverage";
    t.title = "single runs of simulated systems inside the 90 % interval predicted for them; the last two columns count each submission once";
    document_table(d, t);
    document_line(d, "left out: %llu runs of rounds without reference points, %llu of systems that are not simulated",
                  (unsigned long long)c->n_without_reference, (unsigned long long)c->n_without_timing);
}

/* ---- simulated timing: each submission is simulated once, by the recipe whose source names it ----------------- */

/* The time of a step without the loader's start, which happens once. It cannot fall below the time of the host's input. */
static double steady_step_s(const struct simulation *sim, const struct result *r)
{
    double clock_hz = sim->machine->chip.clock_hz, floor_s = (double)sim->plan.host_floor_cycles / clock_hz;
    return fmax(floor_s, r->step_time_s - (double)sim->plan.call_cycles[CALL_LOADER] / clock_hz);
}

struct run_timing simulated_timing(const struct simulation *sim, const struct result *r)
{
    const struct recipe *rec = &sim->recipe;
    double load_s = rec->eval_placement == EVAL_END ? fmin(last_evaluations_load_s(sim), r->tail_time_s) : 0;
    return (struct run_timing){ .step_time_s = steady_step_s(sim, r), .samples_per_step = r->global_batch,
                                .steps_per_call = sim->plan.request.program.steps_per_call, .startup_s = r->startup_time_s,
                                .tail_s = r->tail_time_s - load_s, .first_eval_extra_s = load_s, .eval_time_s = sim->evaluation_s,
                                .eval_placement = rec->eval_placement, .error = sim->fitted.throughput_error, .noise = -1 };
}

struct sourced { const char *id, *source; };

struct timing_lookup {
    struct sourced *recipes;
    size_t n_recipes;
    struct simulator *simulator;
    step_error *error; void *user;
    struct arena *a;
    const char *simulated;              /* the recipe that `timing` was computed for; NULL at first */
    struct run_timing timing;
};

static bool load_sources(struct timing_lookup *l, struct err *err)
{
    char **ids;
    size_t n;
    if (!list_folder(&ids, &n, l->simulator->paths->recipes_dir, ".ini", l->a, err))
        return false;
    l->recipes = ARENA_ROOM(l->a, struct sourced, n);
    for (size_t i = 0; i < n; i++) {
        struct recipe r;
        if (!recipe_load(&r, ids[i], l->simulator->paths->recipes_dir, NULL, 0, l->a, err))
            return false;
        l->recipes[l->n_recipes++] = (struct sourced){ ids[i], r.source };
    }
    return true;
}

static const char *recipe_of(const struct timing_lookup *l, const struct run_row *run)
{
    const char *named = arena_printf(l->a, "%s results: %s %s/%s", run->round, run->submitter, run->system, run->benchmark);
    for (size_t i = 0; i < l->n_recipes; i++)
        if (strstr(l->recipes[i].source, named))
            return l->recipes[i].id;
    return NULL;
}

static bool timing_of_run(void *user, struct run_timing *out, const struct run_row *run, struct err *err)
{
    struct timing_lookup *l = user;
    const char *id = recipe_of(l, run);
    if (!id)
        return fail(err, "no recipe describes %s %s %s", run->round, run->submitter, run->system);
    if (!text_is(l->simulated, id)) {
        struct simulation sim;
        struct result r;
        bool good = simulator_run(l->simulator, &sim, &r, id, NULL, 0, err);
        if (good)
            l->timing = simulated_timing(&sim, &r);
        if (good && l->error)
            l->timing.error = l->error(l->user, &sim);
        simulation_free(&sim);
        if (!good)
            return false;
        l->simulated = id;
    }
    *out = l->timing;
    return true;
}

bool simulated_coverage(struct coverage *out, const char *runs, struct simulator *s, step_error *error, void *user, struct arena *a,
                        struct err *err)
{
    struct timing_lookup l = { .simulator = s, .error = error, .user = user, .a = a };
    return load_sources(&l, err) && coverage_report(out, runs, s->paths->data_dir, timing_of_run, &l, a, err);
}

/* ---- the recipe of a folder of logs ------------------------------------------------------------------------- */

static bool names_word(const char *text, const char *word)
{
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = strlen(word);
    for (const char *at = text; n && (at = strstr(at, word)); at++)
        if ((at == text || !strchr(inside, at[-1])) && (!at[n] || !strchr(inside, at[n])))
            return true;
    return false;
}

static bool is_recipe_of(const struct recipe *r, const struct submission_names *names, struct arena *a)
{
    const struct workload *w = workload_find(r->workload, NULL);
    if (!w || !text_is(w->benchmark, names->benchmark) || r->mode == MODE_INFER)
        return false;
    return text_is(arena_printf(a, "%s-simulated", r->id), names->system)
        || (text_is(recipe_terms(r).round, names->round) && names_word(r->source, names->system));
}

bool recipes_of_submissions(const char **out, const struct submission_names *names, size_t n, struct simulator *s, struct arena *a, struct err *err)
{
    char **ids;
    size_t n_ids, n_found = 0;
    memset(out, 0, n * sizeof *out);
    if (!list_folder(&ids, &n_ids, s->paths->recipes_dir, ".ini", a, err))
        return false;
    for (size_t i = 0; i < n_ids && n_found < n; i++) {
        struct recipe r;
        if (!recipe_load(&r, ids[i], s->paths->recipes_dir, NULL, 0, a, err))
            return false;
        for (size_t k = 0; k < n; k++)
            if (!out[k] && is_recipe_of(&r, &names[k], a))
                out[k] = ids[i], n_found++;
    }
    return true;
}
