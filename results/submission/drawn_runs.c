/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn_runs.c - draws runs and submissions; see drawn_runs.h.
 *
 * Random numbers come from GSL's mt19937. Run i of the reported submission has a generator seeded with its own logged seed, so that it does
 * not depend on the number of runs. The submissions behind the means share one generator, and those behind the intervals another. The reported
 * runs and the means carry no shared error, so they follow the centre of the model: a mean over a shared error would grow with that error (the
 * exponential of a Student t has no mean). Quantiles are those of the drawn sample. The planned epochs of a fixed schedule vary as whole
 * numbers. Limits: the shared errors of samples and of time are independent of each other.
 */
#include "results/submission/drawn_runs.h"
#include "system-model/output/output.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <jansson.h>

#include "results/mlperf/mlperf.h"

enum { SUBMISSIONS = 2000, MOST_RUNS = 1000, MOST_DRAWS = 1000 };

struct run_drawing {
    const struct draw_request *q;
    struct run_timing timing;
    struct eval_schedule schedule;
    struct rcp_table reference;
    double planned_epochs, plan_error;
    double samples_factor, plan_factor, time_factor;    /* shared by the runs of a submission */
};

/* ---- one run ---------------------------------------------------------------------------------- */

static bool has_plan(const struct draw_request *q)
{
    return q->epochs > 0 || (q->timing.eval_placement == EVAL_END && q->convergence->has_plan);
}

/* Draws a run with planned epochs, which is judged by the evaluation of its last epoch. */
static void draw_plan(struct drawn_run *r, const struct run_drawing *d, gsl_rng *rng)
{
    const struct convergence *c = d->q->convergence;
    r->epochs = fmax(1, round(d->planned_epochs * d->plan_factor));
    r->samples = r->epochs * c->samples_per_epoch;
    r->convergence_point = r->epochs;
    r->n_evals = (uint64_t)ceil(r->epochs / d->schedule.interval);
    r->converged = true;
    r->accuracy = c->target;
    if (c->has_plan) {
        r->accuracy = c->accuracy_mean + c->accuracy_sd * gsl_ran_ugaussian(rng);
        r->converged = c->higher_is_better ? r->accuracy >= c->target : r->accuracy <= c->target;
    }
}

static void draw_latent(struct drawn_run *r, const struct run_drawing *d, gsl_rng *rng)
{
    const struct convergence *c = d->q->convergence;
    struct convergence scheduled = *c;
    scheduled.schedule = d->schedule;
    double offset = c->in_samples ? 0 : (double)gsl_rng_uniform_int(rng, (unsigned long)fmax(1, d->schedule.interval));
    double x = c->median_samples * d->samples_factor * exp(c->sigma * gsl_ran_ugaussian(rng));
    r->samples = convergence_observed(&scheduled, x, offset);
    r->epochs = c->in_samples ? (double)NAN : r->samples / c->samples_per_epoch;
    r->converged = !(d->q->max_samples > 0) || r->samples <= d->q->max_samples;
    if (!r->converged)
        r->samples = d->q->max_samples;
    double passed = c->in_samples ? floor(r->samples / d->schedule.interval) : ceil(r->epochs / d->schedule.interval);
    r->n_evals = (uint64_t)fmax(1, passed);
    r->convergence_point = c->in_samples ? r->samples : r->epochs;
    r->accuracy = c->target;
}

static void draw_given(struct drawn_run *r, const struct run_drawing *d)
{
    const struct convergence *c = d->q->convergence;
    r->samples = d->q->samples_to_converge;
    r->epochs = c->in_samples ? (double)NAN : r->samples / c->samples_per_epoch;
    r->convergence_point = c->in_samples ? r->samples : r->epochs;
    r->n_evals = (uint64_t)fmax(1, floor(r->convergence_point / d->schedule.interval + 1e-9));
    r->accuracy = c->target;
    r->converged = true;
}

double timing_samples_per_step(const struct run_timing *t, double global_batch)
{
    return t->samples_per_step > 0 ? t->samples_per_step : global_batch;
}

static void draw_run(struct drawn_run *r, const struct run_drawing *d, gsl_rng *rng)
{
    const struct run_timing *t = &d->timing;
    if (d->q->samples_to_converge > 0)
        draw_given(r, d);
    else if (has_plan(d->q))
        draw_plan(r, d, rng);
    else
        draw_latent(r, d, rng);
    double n_steps = r->samples / timing_samples_per_step(t, d->q->convergence->global_batch);
    double train_s = steps_in_whole_calls(n_steps, t->steps_per_call) * t->step_time_s;
    double exact_s = t->startup_s + train_s + (double)r->n_evals * t->eval_time_s + t->first_eval_extra_s + t->tail_s;
    r->time_s = exact_s * d->time_factor * exp(t->noise * gsl_ran_ugaussian(rng));
    r->scaling_s = 0;
}

/* ---- one submission ------------------------------------------------------------------------------- */

static void draw_shared(struct run_drawing *d, gsl_rng *rng)
{
    const struct convergence *c = d->q->convergence;
    double t = gsl_ran_tdist(rng, has_plan(d->q) && c->has_plan ? c->plan_dof : c->error_dof), z = gsl_ran_ugaussian(rng);
    d->samples_factor = exp(c->error * t);
    d->plan_factor = exp(d->plan_error * t);
    d->time_factor = exp(d->timing.error * z);
}

/* refusal: why the round refuses the runs; NULL if it does not, or if nobody asked */
struct outcome { bool passed; double score_minutes, scaling; const char *refusal; };

static double olympic_score(const struct run_drawing *d, const struct drawn_run *runs, size_t n, struct arena *a)
{
    double *minutes = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        minutes[i] = runs[i].converged ? runs[i].time_s / 60 : HUGE_VAL;
    return olympic_minutes(minutes, n, d->reference.terms.dropped);
}

/* Tests a complete submission of the closed division against the reference; other submissions pass. For submissions that are too fast, the
 * rules of the round scale either the times in the logs, or the score of one that passes. */
static struct outcome judge_submission(const struct run_drawing *d, struct drawn_run *runs, size_t n, bool asks_why, struct arena *a)
{
    struct rcp_verdict v;
    double *points = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        points[i] = runs[i].converged ? runs[i].convergence_point : HUGE_VAL;
    if (d->q->open_division || n != d->reference.terms.runs || !rcp_test(&v, &d->reference, d->q->convergence->global_batch, points, n, a, NULL))
        return (struct outcome){ true, olympic_score(d, runs, n, a), 1, NULL };
    double by = v.passed ? 1 : rcp_scaling(d->reference.edition, &v.limit, v.submission_mean);
    for (size_t i = 0; i < n; i++) {
        runs[i].scaling_s = runs[i].time_s * (by - 1);
        runs[i].time_s += runs[i].scaling_s;
    }
    const char *refusal = asks_why && !v.passed ? rcp_verdict_text(&v, &d->reference, points, n, a) : NULL;
    return (struct outcome){ v.passed, olympic_score(d, runs, n, a) * v.scaling, v.scaling, refusal };
}

struct samples { double *scores, *times, *samples; size_t n_scores, n_times, n_passed, n_drawn; };

static void draw_submissions(struct samples *s, struct run_drawing *d, bool with_shared, size_t runs, uint32_t submissions, gsl_rng *rng)
{
    s->n_scores = s->n_times = s->n_passed = 0;
    for (uint32_t k = 0; k < submissions; k++) {
        struct arena scratch = { 0 };
        struct drawn_run *drawn = ARENA_ARRAY(&scratch, struct drawn_run, runs);
        if (with_shared)
            draw_shared(d, rng);
        for (size_t i = 0; i < runs; i++)
            draw_run(&drawn[i], d, rng);
        const struct outcome j = judge_submission(d, drawn, runs, false, &scratch);
        for (size_t i = 0; i < runs; i++) {
            s->samples[s->n_times] = drawn[i].samples;
            s->times[s->n_times++] = drawn[i].time_s;
        }
        if (isfinite(j.score_minutes)) {
            s->scores[s->n_scores++] = j.score_minutes;
            s->n_passed += j.passed;
        }
        arena_free(&scratch);
    }
    s->n_drawn = submissions;
}

static double quantile(double *v, size_t n, double p)
{
    gsl_sort(v, 1, n);
    return n ? gsl_stats_quantile_from_sorted_data(v, 1, n, p) : (double)NAN;
}

static void fill_means(struct drawn_runs *out, const struct samples *s)
{
    out->expected_minutes = s->n_scores ? gsl_stats_mean(s->scores, 1, s->n_scores) : (double)NAN;
    out->expected_samples = gsl_stats_mean(s->samples, 1, s->n_times);
}

static void fill_intervals(struct drawn_runs *out, struct samples *s)
{
    out->low_minutes = quantile(s->scores, s->n_scores, 0.05);
    out->high_minutes = quantile(s->scores, s->n_scores, 0.95);
    out->run_low_s = quantile(s->times, s->n_times, 0.05);
    out->run_high_s = quantile(s->times, s->n_times, 0.95);
    out->samples_low = quantile(s->samples, s->n_times, 0.05);
    out->samples_high = quantile(s->samples, s->n_times, 0.95);
    out->valid_probability = (double)s->n_scores / (double)s->n_drawn;
    out->pass_probability = (double)s->n_passed / (double)s->n_drawn;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static bool prepare_drawing(struct run_drawing *d, const struct draw_request *q, struct arena *a, struct err *err)
{
    const struct convergence *c = q->convergence;
    bool given = q->epochs > 0;
    *d = (struct run_drawing){ .q = q, .timing = q->timing, .schedule = c->schedule, .planned_epochs = given ? q->epochs : c->planned_epochs,
                           .plan_error = given ? 0 : c->plan_error, .samples_factor = 1, .plan_factor = 1, .time_factor = 1 };
    if (!(q->timing.step_time_s > 0) || !isfinite(q->timing.step_time_s))
        return fail(err, "step time of %g s, want a number above 0", q->timing.step_time_s);
    if (q->runs > MOST_RUNS)
        return fail(err, "%u runs, want at most %d", q->runs, MOST_RUNS);
    if (q->eval_interval > 0)
        d->schedule.interval = q->eval_interval;
    if (q->timing.noise < 0
        && !fit_value(&d->timing.noise, NULL, c->benchmark, c->ruleset, "time_noise", q->data_dir, a, err))
        return false;
    if (!rcp_load(&d->reference, c->benchmark, c->ruleset, RCP_DEADLINE, q->data_dir, a, err))
        return false;
    rcp_prune(&d->reference);
    return true;
}

static void draw_reported(struct drawn_runs *out, const struct run_drawing *d, gsl_rng *rng)
{
    for (size_t i = 0; i < out->n; i++) {
        out->runs[i].seed = d->q->seed + (out->n_draws - 1) * out->n + i;
        gsl_rng_set(rng, (unsigned long)hash_bytes(&out->runs[i].seed, sizeof out->runs[i].seed, 1) & 0xffffffff);
        draw_run(&out->runs[i], d, rng);
    }
}

bool drawn_runs_are_few(const struct drawn_runs *d)
{
    return d->n <= 2 * d->may_fail;
}

const char *drawn_runs_why_no_score(const struct drawn_runs *d, struct arena *a)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < d->n; i++)
        n_failed += !d->runs[i].converged;
    if (drawn_runs_are_few(d))
        return arena_printf(a, "of %zu run%s none is left without the %zu fastest and the %zu slowest, which the round leaves out; want at least %zu",
                            d->n, plural(d->n), d->may_fail, d->may_fail, 2 * d->may_fail + 1);
    return arena_printf(a, "%zu of %zu runs did not converge, at most %zu may", n_failed, d->n, d->may_fail);
}

/* Draws the reported submission. With until_valid it draws again, with the next seeds, until the submission has a score and passes. */
static bool draw_submission(struct drawn_runs *out, const struct run_drawing *d, gsl_rng *rng, struct arena *a, struct err *err)
{
    if (d->q->until_valid && drawn_runs_are_few(out))
        return fail(err, "no drawn submission has a score: %s", drawn_runs_why_no_score(out, a));
    while (out->n_draws < MOST_DRAWS) {
        out->n_draws++;
        draw_reported(out, d, rng);
        const struct outcome j = judge_submission(d, out->runs, out->n, true, a);
        out->score_minutes = j.score_minutes;
        out->scaling = j.scaling;
        out->refusal = j.refusal;
        if (!d->q->until_valid || (isfinite(j.score_minutes) && j.passed))
            return true;
    }
    return fail(err, "none of %d drawn submissions has a score and passes: too few runs of this recipe converge as the reference does",
                MOST_DRAWS);
}

bool runs_draw(struct drawn_runs *out, const struct draw_request *q, struct arena *a, struct err *err)
{
    struct run_drawing d;
    if (!prepare_drawing(&d, q, a, err))
        return false;
    uint32_t required = d.reference.terms.runs, submissions = q->submissions ? q->submissions : SUBMISSIONS;
    *out = (struct drawn_runs){ .n = q->runs ? q->runs : required, .may_fail = d.reference.terms.dropped,
                                      .until_valid = q->until_valid };
    out->runs = ARENA_ARRAY(a, struct drawn_run, out->n);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!draw_submission(out, &d, rng, a, err)) {
        gsl_rng_free(rng);
        return false;
    }
    struct samples s = { .scores = ARENA_ROOM(a, double, submissions), .times = ARENA_ROOM(a, double, submissions * required),
                         .samples = ARENA_ROOM(a, double, submissions * required) };
    gsl_rng_set(rng, (unsigned long)hash_bytes(&q->seed, sizeof q->seed, 3) & 0xffffffff);
    draw_submissions(&s, &d, false, required, submissions, rng);
    fill_means(out, &s);
    gsl_rng_set(rng, (unsigned long)hash_bytes(&q->seed, sizeof q->seed, 2) & 0xffffffff);
    draw_submissions(&s, &d, true, required, submissions, rng);
    gsl_rng_free(rng);
    fill_intervals(out, &s);
    return true;
}

/* ---- tables --------------------------------------------------------------------------------------------- */

struct drawn_row { uint64_t seed; bool converged; double samples, epochs, accuracy; uint64_t evaluations; double time_s; const char *status; };
static const struct table_column run_columns[] = {
#define C(member, ...) { COLUMN(struct drawn_row, member), __VA_ARGS__ }
    C(seed, .heading = "seed"), { COLUMN_AS(struct drawn_row, status, NULL), .heading = "status" }, C(converged),
    C(samples, .heading = "samples", .format = "%.0f"), C(epochs, .heading = "epochs", .format = "%.0f"), C(accuracy),
    C(evaluations, .heading = "evals"), C(time_s, .heading = "minutes", .format = "%.4f", .scale = 1.0 / 60),
#undef C
};
static const struct table_column score_columns[] = {
#define C(member) { COLUMN(struct drawn_runs, member), .heading = #member }
    C(score_minutes), C(expected_minutes), C(low_minutes), C(high_minutes), C(run_low_s), C(run_high_s), C(expected_samples), C(samples_low),
    C(samples_high), C(valid_probability), C(pass_probability), { COLUMN_AS(struct drawn_runs, n_draws, "submissions_drawn") },
#undef C
};

static struct table drawn_runs_table(const struct drawn_runs *d, struct arena *a)
{
    struct table t = TABLE(run_columns, struct drawn_row);
    for (size_t i = 0; i < d->n; i++) {
        const struct drawn_run *r = &d->runs[i];
        table_add(&t, &(struct drawn_row){ r->seed, r->converged, r->samples, r->epochs, r->accuracy, r->n_evals, r->time_s,
                                           r->converged ? "success" : "aborted" }, a);
    }
    return t;
}

json_t *drawn_runs_json(const struct drawn_runs *d)
{
    struct arena a = {0};
    struct table runs = drawn_runs_table(d, &a), scores = TABLE(score_columns, struct drawn_runs);
    json_t *o = table_row_json(&scores, d);
    json_object_set_new(o, "runs", table_json(&runs));
    arena_free(&a);
    return o;
}

void drawn_runs_document(struct document *d, const struct drawn_runs *drawn)
{
    document_table(d, drawn_runs_table(drawn, d->arena))->formats = IN_TEXT;
    if (!isfinite(drawn->score_minutes))
        document_line(d, "no score: %s", drawn_runs_why_no_score(drawn, d->arena));
    if (drawn->until_valid)
        document_line(d, "%llu %s drawn until one was valid", (unsigned long long)drawn->n_draws, drawn->n_draws == 1 ? "submission was" : "submissions were");
    struct table *scores = document_table(d, TABLE(score_columns, struct drawn_runs, .formats = IN_TEXT, .as_lines = true));
    table_add(scores, drawn, d->arena);
}
