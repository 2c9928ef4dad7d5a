/*
 * submission.c - one simulated run as a submission of many.
 *
 * Samples to converge are drawn from the reference's distribution at this batch, whatever the recipe says was logged;
 * a fixed number of epochs stays. The time of a step is taken as exact; runs differ by the measured noise of times.
 */
#include "harness/submission.h"
#include "results/mllog_write.h"
#include <inttypes.h>
#include <string.h>

struct terms { char round[8], division[8]; };

/* The round and division that a recipe's id names; others are held to the closed rules of v2.0. */
static struct terms terms_of(const char *id)
{
    struct terms t;
    if (sscanf(id, "mlperf-%7[^-]-%7[^-]-", t.round, t.division) == 2 && *rcp_ruleset(t.round))
        return t;
    return (struct terms){ "v2.0", "closed" };
}

static double number_of_evals(const struct recipe *rec, const struct result *r)
{
    double n = rec->evaluations ? (double)rec->evaluations
             : rec->eval_every ? (double)(uint64_t)(r->samples_to_converge / (double)rec->eval_every + 1e-9) : 1;
    return n < 1 ? 1 : n;
}

static struct run_timing timing_of(const struct simulation *sim, const struct result *r)
{
    const struct recipe *rec = &sim->recipe;
    bool at_end = rec->eval_placement == EVAL_END;
    double load_s = at_end ? sim->sdk.eval_load_s : 0;
    if (load_s > r->tail_time_s)
        load_s = r->tail_time_s;
    return (struct run_timing){ .step_time_s = r->step_time_s, .startup_s = r->startup_time_s, .tail_s = r->tail_time_s - load_s,
                                .first_eval_extra_s = load_s, .eval_time_s = r->eval_time_s / number_of_evals(rec, r),
                                .eval_placement = rec->eval_placement, .noise = -1 };
}

/* In the benchmark's unit; 0: the rules' own. */
static double eval_interval(const struct recipe *rec, const struct convergence *c)
{
    return rec->eval_every ? (double)rec->eval_every / c->samples_per_epoch : 0;
}

static bool write_submission(const struct run_distribution *d, const struct simulation *sim, const struct result *r,
                             const struct convergence *c, const struct terms *terms, const struct run_timing *timing,
                             const char *folder, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    const struct recipe *rec = &sim->recipe;
    uint64_t nodes = rec->host_count ? rec->host_count : 1;
    const struct text_pair fields[] = {
        { "number_of_nodes", arena_printf(a, "%" PRIu64, nodes) },
        { "accelerators_per_node", arena_printf(a, "%" PRIu64, r->ipus / nodes) },
        { "accelerator_model_name", sim->machine.chip_name ? sim->machine.chip_name : sim->machine.name },
        { "accelerator_frequency", arena_printf(a, "%.4g GHz", sim->machine.chip.clock_hz / 1e9) },
        { "framework", "podbench " PODBENCH_VERSION },
    };
    struct text_pair *hyperparameters = ARENA_ARRAY(a, struct text_pair, rec->n_hyperparameters + 1);
    for (size_t i = 0; i < rec->n_hyperparameters; i++)
        hyperparameters[i] = (struct text_pair){ rec->hyperparameters[i].key, rec->hyperparameters[i].value };
    struct submission_description description = {
        .system = r->system, .benchmark = c->benchmark, .division = terms->division, .ruleset = rcp_ruleset(terms->round),
        .optimizer = rec->optimizer_name, .hyperparameters = hyperparameters, .n_hyperparameters = rec->n_hyperparameters,
        .fields = fields, .n_fields = sizeof fields / sizeof *fields, .global_batch = c->global_batch,
        .grad_accum = (double)rec->gradient_accumulation, .timing = *timing, .eval_interval = eval_interval(rec, c),
        .rules_dir = s->rules_dir, .data_dir = s->paths.data_dir,
    };
    return mllog_write_submission(folder, &description, d->runs, d->n, a, err);
}

static bool check_request(const struct submission_request *q, const struct recipe *rec, const struct workload *w, struct err *err)
{
    if (!w->benchmark || rec->mode == MODE_INFER)
        return fail(err, "%s: --runs and --mllog want the training of an MLPerf benchmark, not %s of %s", rec->id,
                    rec->mode == MODE_INFER ? "inference" : "training", rec->workload);
    if (q->runs > 1000)
        return fail(err, "--runs: %" PRIu64 " is outside 0 to 1000", q->runs);
    return true;
}

bool submission_draw(struct run_distribution *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    const struct workload *w = workload_find(rec->workload, err);
    struct terms terms = terms_of(rec->id);
    struct convergence c;
    if (!w || !check_request(q, rec, w, err) ||
        !convergence_predict_for(&c, w->benchmark, terms.round, r->global_batch, rec->optimizer_name, s->paths.data_dir, &s->arena, err))
        return false;
    struct run_timing timing = timing_of(sim, r);
    struct distribution_request draw = { .convergence = &c, .timing = timing, .epochs = q->predict_schedule ? 0 : rec->epochs,
                                         .eval_interval = q->predict_schedule ? 0 : eval_interval(rec, &c),
                                         .runs = (uint32_t)q->runs, .seed = q->seed,
                                         .open_division = text_is(terms.division, "open"), .data_dir = s->paths.data_dir };
    return distribution_draw(out, &draw, &s->arena, err) &&
           (!q->mllog || write_submission(out, sim, r, &c, &terms, &timing, q->mllog, s, err));
}
