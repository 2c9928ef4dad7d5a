/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_table.h - a sweep as a table for people.
 */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H
#include "harness/harness.h"
#include "results/study/sweep.h"

/* top: rows at most, the best first; 0: all, in the order of the sweep unless sort names a column. Best is the highest
 * throughput where sort is NULL, and what fits comes before what does not. columns: names of CSV columns, separated by
 * commas; NULL means the swept keys, whether it fits, throughput with its interval, step, MFU and notes. */
struct sweep_choice { const struct space *space; uint64_t top; const char *sort, *columns; };

bool sweep_table_check(const struct sweep_choice *choice, const char *header, struct arena *a, struct err *err);   /* refuses a wrong choice before the work begins */
bool sweep_table_print(FILE *f, const struct sweep_choice *choice, const char *rows_csv, size_t n_bytes, struct arena *a, struct err *err);

#endif
