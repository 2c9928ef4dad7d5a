/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_table.h - published MLPerf results for the commands that ask about them.
 */
#ifndef RESULTS_TABLE_H
#define RESULTS_TABLE_H
#include "harness/harness.h"
#include "results/rounds/rounds.h"

/* rounds.c: reads folders of logs, by the user's cache. */
bool results_from_folders(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct options *o,
                          struct session *s, struct err *err);
#endif
