/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn_runs.h - runs drawn at random from the convergence model: their times to train, the score of a submission of
 * them as MLPerf computes it, its 90 % interval, and the probability that it passes.
 *
 *     time of a run = (startup + steps * step time + evaluations * evaluation time + tail) * noise
 *     steps = samples to converge / global batch, in whole calls
 *
 * Each run draws its own latent convergence point (or last accuracy) and time noise. All runs of a submission share the
 * error of the predicted convergence and that of the modelled time.
 */
#ifndef DRAWN_RUNS_H
#define DRAWN_RUNS_H
#include "results/mlperf/mlperf.h"
#include "system-model/plan/plan.h"
#include "workloads/convergence/convergence.h"
#include "workloads/recipe/recipe.h"

struct run_timing {
    double step_time_s, startup_s, tail_s;
    double samples_per_step;                    /* samples of a step on average; 0 means the global batch as logged */
    double steps_per_call;                      /* a run is a whole number of calls; 0 if the run is one call */
    double eval_time_s, first_eval_extra_s;     /* the first evaluation loads a program */
    int eval_placement;                         /* enum eval_placement */
    double error;                               /* relative spread of the modelled time, shared by all runs; 0: taken as exact */
    double noise;                               /* relative spread from run to run; negative: the table's time_noise */
};

double timing_samples_per_step(const struct run_timing *t, double global_batch);      /* global_batch unless the timing has its own */

struct draw_request {
    const struct convergence *convergence;
    struct run_timing timing;
    double samples_to_converge;         /* published, the same for every run; 0: drawn from convergence */
    double epochs;                      /* the epochs of a fixed schedule that is evaluated at its end; 0: as predicted */
    double eval_interval;               /* samples or epochs between evaluations; 0 means as the rules demand */
    double max_samples;                 /* a run that has not converged by here is aborted; 0 if no limit */
    uint32_t runs;                      /* 0: as many as the rules ask for */
    uint64_t seed;
    uint32_t submissions;               /* how many are drawn for the means, and again for the intervals; 0: 2000 */
    bool until_valid;                   /* draw whole submissions until one has a score and passes the reference-convergence test */
    bool open_division;                 /* no reference-convergence test */
    const char *data_dir;               /* workloads/convergence */
};

struct drawn_run {
    uint64_t seed;
    bool converged;
    double samples, epochs, accuracy;   /* epochs is NaN for a benchmark that counts samples */
    double convergence_point;           /* epochs or samples at convergence, as the reference-convergence test reads them */
    uint64_t n_evals;
    double time_s;
    double scaling_s;                   /* the part of time_s by which the round slows down a submission that is too fast; nothing runs in it */
};

struct drawn_runs {
    struct drawn_run *runs;
    size_t n, may_fail;                 /* may_fail: how many runs need not converge */
    bool until_valid;                   /* until_valid of the request */
    uint64_t n_draws;                   /* submissions that were drawn before one was kept, this one included; more than 1 only with until_valid */
    const char *refusal;                /* why the round refuses these runs; NULL if it does not */
    double score_minutes;               /* score of these runs; NaN if they are not valid */
    double scaling;                     /* the checker's factor in score_minutes, for a submission that passes and is faster than the reference; else 1 */
    double expected_minutes, expected_samples;  /* expected_minutes: mean score of valid submissions; expected_samples: mean samples of a run; both without shared errors */
    double low_minutes, high_minutes;           /* 5 % and 95 % of the score. These and all members below include shared errors */
    double run_low_s, run_high_s;               /* 5 % and 95 % of one run's time to train */
    double samples_low, samples_high;           /* 5 % and 95 % of one run's samples to converge */
    double pass_probability;            /* probability that enough runs converge, and pass the reference-convergence test */
    double valid_probability;           /* probability that enough runs converge */
};

/* The same request and seed give the same runs. Fails for values that no run can have, and when until_valid finds no
 * valid submission. */
bool runs_draw(struct drawn_runs *out, const struct draw_request *q, struct arena *a, struct err *err);
struct json_t *drawn_runs_json(const struct drawn_runs *d);     /* a JSON object, which the caller owns */
bool drawn_runs_are_few(const struct drawn_runs *d);        /* true if no run would be left when the round's fastest and slowest are dropped */
const char *drawn_runs_why_no_score(const struct drawn_runs *d, struct arena *a);
void drawn_runs_document(struct document *d, const struct drawn_runs *drawn);
#endif
