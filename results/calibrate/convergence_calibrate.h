/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_calibrate.h - makes workloads/convergence/fits.csv: every fitted value of the convergence model, with its standard error.
 */
#ifndef CONVERGENCE_CALIBRATE_H
#define CONVERGENCE_CALIBRATE_H
#include "system-model/base/base.h"

/* data_dir: workloads/convergence (rcp.csv, benchmarks.csv). runs: results/published/runs/mlperf_runs.csv; of it only rows of role
 * calibrate give centres, drawn to the reference by the spreads of those and of role context; the spread about them, which makes intervals
 * only, comes from all closed submissions. */
bool convergence_calibrate(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err);
#endif
