/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_table.h - several runs side by side.
 */
#ifndef RUN_TABLE_H
#define RUN_TABLE_H
#include "harness/harness.h"
#include "results/study/trust.h"

struct run_summary {
    const char *id, *fits, *samples, *interval, *step, *published;      /* numbers as texts have digits to the interval */
    uint64_t ipus;
    double mfu, power, train_min;       /* power: watts an IPU; 0 if unknown */
};
/* The result's id stays the caller's. figures may be NULL. */
struct run_summary run_summary(const struct result *r, const struct validity *v, const struct figures *figures, struct arena *a);
void run_table_print(FILE *f, enum output_format format, struct run_summary *lines, size_t n);

#endif
