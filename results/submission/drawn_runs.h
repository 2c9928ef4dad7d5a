/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn_runs.h - runs drawn at random from the convergence model: their times to train, the score of a submission of them as MLPerf computes
 * it, its 90 % interval, and the probability that it passes.
 *     time of a run = (startup + steps * step time + evaluations * evaluation time + tail) * noise
 *     steps = samples to converge / global batch, in whole calls
 * Each run draws its own latent convergence point (or last accuracy) and its own noise of time. All runs of a submission share two errors:
 * that of the predicted convergence, and that of the modelled time.
 */
#ifndef DRAWN_RUNS_H
#define DRAWN_RUNS_H
#include "results/mlperf/mlperf.h"
#include "system-model/plan/plan.h"
#include "workloads/convergence/convergence.h"
#include "workloads/recipe/recipe.h"

struct run_timing {
    double step_time_s, startup_s, tail_s;
    double samples_per_step;                    /* mean samples of a step; 0 means the logged global batch */
    double steps_per_call;                      /* a run consists of whole calls; 0 if the run is a single call */
    double eval_time_s, first_eval_extra_s;     /* the first evaluation also loads a program */
    int eval_placement;                         /* an enum eval_placement */
    double error;                               /* relative spread of the modelled time, shared by all runs; 0 if the time is exact */
    double noise;                               /* relative spread from run to run; a negative number stands for the table's time_noise */
};

double timing_samples_per_step(const struct run_timing *t, double global_batch);      /* is global_batch unless the timing has its own */

struct draw_request {
    const struct convergence *convergence;
    struct run_timing timing;
    double samples_to_converge;         /* published samples, equal for all runs; 0 to draw them from `convergence` */
    double epochs;                      /* epochs of a fixed schedule that is evaluated at its end; 0 for the predicted epochs */
    double eval_interval;               /* samples or epochs between evaluations; 0 for what the rules demand */
    double max_samples;                 /* runs that have not converged by then are aborted; 0 if there is no limit */
    uint32_t runs;                      /* 0 for as many as the rules demand */
    uint64_t seed;
    uint32_t submissions;               /* the number drawn for the means, and again for the intervals; 0 stands for 2000 */
    bool until_valid;                   /* draws submissions until one has a score and passes the reference-convergence test */
    bool open_division;                 /* the open division has no reference-convergence test */
    const char *data_dir;               /* workloads/convergence */
};

struct drawn_run {
    uint64_t seed;
    bool converged;
    double samples, epochs, accuracy;   /* epochs is NaN if the benchmark counts samples */
    double convergence_point;           /* the epochs or samples that the reference-convergence test reads */
    uint64_t n_evals;
    double time_s;
    double scaling_s;                   /* the part of time_s by which the round slows down a submission that is too fast; no training happens in it */
};

struct drawn_runs {
    struct drawn_run *runs;
    size_t n, may_fail;                 /* may_fail: the number of runs that need not converge */
    bool until_valid;                   /* true if the request wants a valid submission */
    uint64_t n_draws;                   /* the submissions that were drawn, including the one that was kept; above 1 only with until_valid */
    const char *refusal;                /* why the round refuses these runs, or NULL */
    double score_minutes;               /* the score of these runs; NaN if they are not valid */
    double scaling;                     /* the checker's factor in score_minutes; 1 unless the submission passes and is faster than the reference */
    double expected_minutes, expected_samples;  /* without shared errors: the mean score of valid submissions, and the mean samples of a run */
    double low_minutes, high_minutes;           /* 5 % and 95 % quantiles of the score; this and all members below include shared errors */
    double run_low_s, run_high_s;               /* 5 % and 95 % quantiles of a run's time to train */
    double samples_low, samples_high;           /* 5 % and 95 % quantiles of a run's samples to converge */
    double pass_probability;            /* the probability that enough runs converge and the reference-convergence test passes */
    double valid_probability;           /* the probability that enough runs converge */
};

/* Draws runs; equal requests and seeds give equal runs. Fails for values that no run can have, or if until_valid finds no valid submission. */
bool runs_draw(struct drawn_runs *out, const struct draw_request *q, struct arena *a, struct err *err);
struct json_t *drawn_runs_json(const struct drawn_runs *d);     /* the caller owns the returned object */
bool drawn_runs_are_few(const struct drawn_runs *d);        /* true if dropping the round's fastest and slowest runs would leave none */
const char *drawn_runs_why_no_score(const struct drawn_runs *d, struct arena *a);
void drawn_runs_document(struct document *d, const struct drawn_runs *drawn);
#endif
