/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs_distribution.h - time to train as MLPerf scores it, drawn as a distribution: N runs with their seeds, the score of a submission of
 * them, its 90 % interval, and the chance that it passes.
 *
 * One run: startup + steps * step time + evaluations * evaluation time + tail, times noise; steps = samples to converge / global batch,
 * in whole calls.
 * What a run draws for itself: its latent convergence point (or last accuracy) and the time noise. What all runs of a submission share:
 * the error of the predicted convergence and of the modelled time.
 */
#ifndef RUNS_DISTRIBUTION_H
#define RUNS_DISTRIBUTION_H
#include "results/mlperf/mlperf.h"
#include "system-model/plan/plan.h"
#include "workloads/convergence/convergence.h"
#include "workloads/recipe/recipe.h"

struct run_timing {
    double step_time_s, startup_s, tail_s;
    double samples_per_step;                    /* on average, where it is not the global batch as logged; 0: it is */
    double steps_per_call;                      /* a run is a whole number of calls; 0: it is one call */
    double eval_time_s, first_eval_extra_s;     /* the first evaluation loads a program */
    int eval_placement;                         /* enum eval_placement */
    double error;                               /* relative spread of the modelled time, shared by all runs; 0: taken as exact */
    double noise;                               /* relative spread from run to run; negative: the table's time_noise */
};

double samples_per_step(const struct run_timing *t, double global_batch);      /* the timing's, or else the batch */

struct distribution_request {
    const struct convergence *convergence;
    struct run_timing timing;
    double samples_to_converge;         /* as published, every run the same; 0: draw from convergence */
    double epochs;                      /* of a fixed schedule evaluated at the end; 0: the predicted plan */
    double eval_interval;               /* in the benchmark's unit; 0: the rules' */
    double max_samples;                 /* a run that has not converged by here is aborted; 0: no limit */
    uint32_t runs;                      /* 0: as many as the rules ask for */
    uint64_t seed;
    uint32_t submissions;               /* drawn for the means, and as many for the intervals; 0: 2000 */
    bool until_valid;                   /* draw whole submissions until one has a score and passes the reference-convergence test */
    bool open_division;                 /* no reference-convergence test */
    const char *data_dir;               /* workloads/convergence */
};

struct drawn_run {
    uint64_t seed;
    bool converged;
    double samples, epochs, accuracy;   /* epochs: NaN for a benchmark that counts samples */
    double convergence_point;           /* in the benchmark's unit: what the reference-convergence test takes */
    uint64_t n_evals;
    double time_s;
    double scaling_s;                   /* of it: added where the round scales submissions that are too fast; nothing runs in it */
};

struct run_distribution {
    struct drawn_run *runs;
    size_t n, may_fail;                 /* may_fail: runs that need not converge */
    bool until_valid;                   /* as asked for */
    uint64_t n_draws;                   /* submissions drawn for these runs; more than 1 only with until_valid */
    double score_minutes;               /* of these runs; NaN: not valid */
    double scaling;                     /* in it: by the checker, of a submission that passes but is faster than the reference; else 1 */
    double expected_minutes, expected_samples;  /* means: of the score over submissions that are valid, of a run's samples; without shared errors */
    double low_minutes, high_minutes;           /* 5 % and 95 % of that score; these and what follows with shared errors */
    double run_low_s, run_high_s;               /* 5 % and 95 % of one run's time to train */
    double samples_low, samples_high;           /* and of its samples */
    double pass_probability;            /* enough runs converge, and not suspiciously fast */
    double valid_probability;           /* enough runs converge */
};

/* The same for the same request and seed. Fails on values that no run can have, and where until_valid finds none in its number of draws. */
bool distribution_draw(struct run_distribution *out, const struct distribution_request *q, struct arena *a, struct err *err);
struct json_t *distribution_json(const struct run_distribution *d);     /* the caller owns it */
void distribution_print(FILE *f, const struct run_distribution *d);
#endif
