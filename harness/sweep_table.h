/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_table.h - a sweep as a table for people.
 */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H
#include "harness/harness.h"
#include "results/study/sweep.h"

/* The choice of rows and columns. `top` is the number of rows, the best first; 0 shows all, in the order of the sweep unless `sort` names a
 * column. If `sort` is NULL, the best is the highest throughput. Configurations that fit always come first. `columns` lists columns of CSV,
 * separated by commas; NULL means the swept keys, whether the configuration fits, throughput with its interval, step, MFU and notes. */
struct sweep_choice { const struct space *space; uint64_t top; const char *sort, *columns; };

/* refuses a wrong choice before work begins */
bool sweep_table_check(const struct sweep_choice *choice, const char *header, struct arena *a, struct err *err);
bool sweep_table_print(FILE *f, const struct sweep_choice *choice, const char *rows_csv, size_t n_bytes, struct arena *a, struct err *err);

#endif
