/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_log.h - one log file folded into one run: when it ran, whether it converged, how fast it trained.
 */
#ifndef RUN_LOG_H
#define RUN_LOG_H
#include "results/mlperf/mllog.h"

/* Absent numbers are NaN, absent texts NULL. */
struct run_log {
    const char *path;
    const char *benchmark, *division, *org, *platform, *status, *seed;
    uint64_t n_lines;
    bool has_bad_line;                  /* one that the format forbids */
    const char *problem;                /* why its time or its counts are none that a run can have; NULL: they are */
    bool success;                       /* run_stop says so */
    double run_start_ms, run_stop_ms;   /* the first of each, since the epoch */
    double time_to_train_s;             /* first run_start to first run_stop */
    double init_s;                      /* first init_start to init_stop */
    double startup_s;                   /* run_start to the first block or epoch */
    double global_batch, grad_accum, train_samples, eval_samples;
    double final_accuracy;
    double convergence_point;           /* epoch_num of the last eval_accuracy before run_stop: what the RCP test takes */
    double epochs_trained;
    double samples_to_converge;
    double last_eval_s;                 /* run_start to the last eval_accuracy before run_stop */
    bool evals_at_end;                  /* the first of them comes after the last epoch: checkpoints are evaluated */
    double eval_interval;               /* in epoch_num's unit: the median step between evaluations */
    uint64_t n_evals;
    double train_unit_s;                /* median epoch, or block between evaluations */
    double eval_time_s;                 /* median evaluation */
    double throughput_samples_per_s;
    const char *throughput_method;
    double steady_samples_per_s;        /* over the tenth percentile of ten epochs or more, which wait for no checkpoint and no host */
    double *unit_rates;                 /* samples/s of each epoch or block in order, NaN where unknown; at most MOST_UNITS */
    size_t n_units, first_unit;         /* first_unit: the number of the first, from 1 */
    double epoch_samples;               /* of each unit, where units are epochs; else 0 */
};
enum { MOST_UNITS = 512 };
#define STEADY_QUANTILE 0.1             /* of epochs, the shortest first */

/* Reads line by line, for a reader that has other work with the lines too. unit: in which the benchmark's evaluations count: epochs,
 * samples or steps. */
struct run_fold;
struct run_fold *run_fold_start(struct run_log *out, const char *path, struct arena *a);
void run_fold_line(struct run_fold *f, const struct mllog_line *l);
void run_fold_bad_line(struct run_fold *f);
void run_fold_end(struct run_fold *f, const char *unit);

/* Median of n values, which it sorts; NaN of none. */
double median_of(double *values, size_t n);

#endif
