/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulated_runs.c - see simulated_runs.h. Each submission is simulated once, by the recipe that states it as its source.
 */
#include "results/published/simulated_runs.h"
#include "workloads/recipe/recipe_convergence.h"

#include <math.h>
#include <string.h>

/* The loader starts once, not in each step; it has no time in a step that waits for its input. */
static double steady_step_s(const struct simulation *sim, const struct result *r)
{
    double clock_hz = sim->machine->chip.clock_hz, floor_s = (double)sim->plan.host_floor_cycles / clock_hz;
    return fmax(floor_s, r->step_time_s - (double)sim->plan.call_cycles[CALL_LOADER] / clock_hz);
}

struct run_timing simulated_timing(const struct simulation *sim, const struct result *r)
{
    const struct recipe *rec = &sim->recipe;
    double load_s = rec->eval_placement == EVAL_END ? fmin(sim->sdk.eval_load_s, r->tail_time_s) : 0;
    return (struct run_timing){ .step_time_s = steady_step_s(sim, r), .samples_per_step = r->global_batch,
                                .steps_per_call = sim->plan.options.framework.steps_per_call, .startup_s = r->startup_time_s,
                                .tail_s = r->tail_time_s - load_s, .first_eval_extra_s = load_s, .eval_time_s = sim->evaluation_s,
                                .eval_placement = rec->eval_placement, .error = sim->fitted.throughput_error, .noise = -1 };
}

/* ---- published runs ----------------------------------------------------------------------------------------- */

struct sourced { const char *id, *source; };

struct lookup {
    struct sourced *recipes;
    size_t n_recipes;
    struct simulator *simulator;
    step_error *error; void *user;
    struct arena *a;
    const char *simulated;              /* the recipe that timing is of; NULL: none yet */
    struct run_timing timing;
};

static bool load_sources(struct lookup *l, struct err *err)
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

static const char *recipe_of(const struct lookup *l, const struct run_row *run)
{
    const char *named = arena_printf(l->a, "%s results: %s %s/%s", run->round, run->submitter, run->system, run->benchmark);
    for (size_t i = 0; i < l->n_recipes; i++)
        if (strstr(l->recipes[i].source, named))
            return l->recipes[i].id;
    return NULL;
}

static bool timing_of_run(void *user, struct run_timing *out, const struct run_row *run, struct err *err)
{
    struct lookup *l = user;
    const char *id = recipe_of(l, run);
    if (!id)
        return fail(err, "no recipe of %s %s %s", run->round, run->submitter, run->system);
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
    struct lookup l = { .simulator = s, .error = error, .user = user, .a = a };
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

static bool is_of(const struct recipe *r, const struct submission_names *names, struct arena *a)
{
    const struct workload *w = workload_find(r->workload, NULL);
    if (!w || !text_is(w->benchmark, names->benchmark) || r->mode == MODE_INFER)
        return false;
    return text_is(arena_printf(a, "%s-simulated", r->id), names->system)
        || (text_is(recipe_terms(r).round, names->round) && names_word(r->source, names->system));
}

bool recipe_of_submission(const char **out, const struct submission_names *names, struct simulator *s, struct arena *a, struct err *err)
{
    char **ids;
    size_t n;
    *out = NULL;
    if (!list_folder(&ids, &n, s->paths->recipes_dir, ".ini", a, err))
        return false;
    for (size_t i = 0; i < n && !*out; i++) {
        struct recipe r;
        if (!recipe_load(&r, ids[i], s->paths->recipes_dir, NULL, 0, a, err))
            return false;
        if (is_of(&r, names, a))
            *out = ids[i];
    }
    return true;
}
