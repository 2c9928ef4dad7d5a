/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protocol.h - what a calibration may use: rows that the ledger lets calibrate, and at most ten constants.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H
#include "results/published/published.h"

enum { MOST_CONSTANTS = 10 };

/* False, with the row, where one of role calibrate validates by the ledger: by its id, or, under any id, by what it says. */
bool protocol_allows_rows(const struct figures *figures, const struct ledger *ledger, struct arena *a, struct err *err);
/* False, with the run, where a single run calibrates and no row of its submission in the tables does: a source names its submission as
 * "MLPerf Training v2.0 results, closed, Graphcore, ipu-pod16-TF1-closed/resnet". */
bool protocol_allows_runs(const struct run_rows *runs, const struct figures *figures, struct arena *a, struct err *err);
bool protocol_allows_constants(size_t n, struct err *err);

#endif
