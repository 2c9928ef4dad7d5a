/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission.c - turns one simulated run into an MLPerf submission of many.
 *
 * Samples to converge are drawn from the reference's distribution at this batch, even if the recipe states what was logged; a fixed number of
 * epochs is kept. Runs differ by the measured noise of times. The model's own error, as calibration found it, is common to all runs of a
 * submission and widens the intervals.
 */
#include "harness/harness.h"
#include "results/study/trust.h"
#include "results/submission/submission_logs.h"
#include "results/published/check.h"
#include "workloads/recipe/recipe_convergence.h"

static bool write_submission(const struct drawn_runs *d, const struct simulation *sim, const struct result *r,
                             const struct convergence *c, const struct recipe_terms *terms, const struct run_timing *timing,
                             const struct submission_request *q, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    const struct recipe *rec = &sim->recipe;
    uint64_t nodes = rec->host_count ? rec->host_count : 1;
    const struct chip *chip = &sim->machine->chip;
    const struct text_pair fields[] = {
        { "system_name", r->system },
        { "number_of_nodes", arena_printf(a, "%" PRIu64, nodes) },
        { "accelerators_per_node", arena_printf(a, "%" PRIu64, r->ipus / nodes) },
        { "accelerator_model_name", sim->machine->chip_name ? sim->machine->chip_name : sim->machine->name },
        { "accelerator_frequency", arena_printf(a, "%.4g GHz", sim->machine->chip.clock_hz / 1e9) },
        { "accelerator_on-chip_memories", arena_printf(a, "%.0f MB", (double)chip->n_tiles * (double)chip->tile_memory_bytes / 1e6) },
        { "accelerator_interconnect", "IPU-Link" },
        { "framework", "podbench " PODBENCH_VERSION },
        { "sw_notes", arena_printf(a, "recipe %s, in the rounds' terms %s %s", rec->id, terms->round, terms->division) },
    };
    struct text_pair *hyperparameters = ARENA_ARRAY(a, struct text_pair, rec->n_hyperparameters);
    for (size_t i = 0; i < rec->n_hyperparameters; i++)
        hyperparameters[i] = (struct text_pair){ rec->hyperparameters[i].key, rec->hyperparameters[i].value };
    struct validity v = { 0 };
    if (q->record)
        validity_of(&v, q->record, sim, r, NULL, a);
    struct submission_description description = {
        .system = r->system, .name = rec->id, .replaces = q->replaces, .benchmark = c->benchmark,
        .division = terms->division, .ruleset = terms->round,
        .optimizer = rec->optimizer_name, .hyperparameters = hyperparameters, .n_hyperparameters = rec->n_hyperparameters,
        .fields = fields, .n_fields = sizeof fields / sizeof *fields, .global_batch = c->global_batch,
        .grad_accum = (double)rec->gradient_accumulation, .timing = *timing, .eval_interval = recipe_eval_interval(rec, c),
        .scaling = d->scaling, .data_dir = s->paths.data_dir, .trust = validity_note(&v, a),
    };
    return submission_write(q->mllog, &description, d->runs, d->n, a, err);
}

static bool submission_check_request(const struct submission_request *q, const struct recipe *rec, const struct workload *w, struct err *err)
{
    if (!w->benchmark || rec->mode == MODE_INFER)
        return fail(err, "%s: --runs and --mllog need the training of an MLPerf benchmark, not %s of %s", rec->id,
                    rec->mode == MODE_INFER ? "inference" : "training", rec->workload);
    if (q->runs > 1000)
        return fail(err, "--runs: %" PRIu64 " is outside 1 to 1000", q->runs);
    return true;
}

bool submission_draw(struct drawn_runs *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    const struct workload *w = workload_find(rec->workload, err);
    struct recipe_terms terms = recipe_terms(rec);
    struct convergence c;
    if (!w || !submission_check_request(q, rec, w, err) ||
        !simulator_convergence(&c, &s->simulator, rec, err))
        return false;
    struct run_timing timing = simulated_timing(sim, r);
    timing.error = q->record ? step_deviation(sim, q->record, false) : timing.error;
    struct draw_request draw = { .convergence = &c, .timing = timing, .epochs = q->predict_schedule ? 0 : rec->epochs,
                                         .eval_interval = q->predict_schedule ? 0 : recipe_eval_interval(rec, &c),
                                         .runs = (uint32_t)q->runs, .seed = q->seed, .until_valid = q->until_valid,
                                         .open_division = text_is(terms.division, "open"), .data_dir = s->paths.data_dir };
    if (!runs_draw(out, &draw, &s->arena, err))
        return false;
    if (!q->mllog)
        return true;
    if (!write_submission(out, sim, r, &c, &terms, &timing, q, s, err))
        return false;
    if (out->refusal)
        fprintf(s->log, "podbench: %s: the logs are written, but %s refuses them: %s; --draw-until-valid draws others\n", rec->id, terms.round,
                out->refusal);
    return true;
}
