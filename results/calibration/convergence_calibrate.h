/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_calibrate.h - makes workloads/convergence/fits.csv: every fitted value of the convergence model, with its standard error.
 */
#ifndef CONVERGENCE_CALIBRATE_H
#define CONVERGENCE_CALIBRATE_H
#include "system-model/base/base.h"

/* data_dir: workloads/convergence (rcp.csv, benchmarks.csv). runs: results/published/runs/mlperf_runs.csv; of it only rows of role
 * calibrate give centres; all closed submissions give the spread about them. */
bool convergence_calibrate(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err);
#endif
