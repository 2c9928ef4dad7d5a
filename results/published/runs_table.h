/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs_table.h - single runs of published MLPerf submissions (results/published/runs/mlperf_runs.csv), one row a result file.
 */
#ifndef RUNS_TABLE_H
#define RUNS_TABLE_H
#include "results/published/published.h"
#include "workloads/convergence/convergence.h"

/* Absent numbers are NaN. */
struct run_row {
    const char *round, *division, *submitter, *system, *benchmark, *optimizer, *source;
    enum role role;
    bool success, eval_at_end;
    double accelerators, time_to_train_s, startup_s, eval_s, post_train_s;
    double global_batch, base_learning_rate, samples_to_converge, epochs, evals, final_accuracy, throughput_samples_per_s;
};

struct run_rows { struct run_row *items; size_t n; };

bool run_rows_load(struct run_rows *out, const char *path, struct arena *a, struct err *err);
/* What is known of it before it runs. */
struct submission_terms terms_of_run(const struct run_row *r);
/* How many rows from the first on are of the same submission, and of one role: its runs stand together. */
size_t run_rows_group(const struct run_rows *t, size_t first);
/* Samples to converge, on the mean of n runs. */
double run_rows_mean_samples(const struct run_row *rows, size_t n);
#endif
