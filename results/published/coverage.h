/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.h - how many published runs lie within the interval that is predicted for them.
 */
#ifndef COVERAGE_H
#define COVERAGE_H
#include "results/submission/runs_distribution.h"
#include "results/published/runs_table.h"

/* Time of one training step and of all else of a published run, from anything but that run. False: no prediction for this run, which is
 * left out. */
typedef bool coverage_timing(void *user, struct run_timing *out, const struct run_row *run, struct err *err);

struct coverage_count {
    const char *what;
    uint64_t n, samples_inside, time_inside;            /* single runs */
    double submissions, samples_once, time_once;        /* the same with each submission counted once, whatever its runs */
};
struct coverage {
    struct coverage_count items[16];
    size_t n;                           /* the first is "all" */
    uint64_t n_without_reference;       /* rounds without reference points */
    uint64_t n_without_timing;          /* the caller's model does not know the run */
};

/* For every run of the table: whether its samples to converge and its time to train lie within the 90 % interval predicted for it. */
bool coverage_report(struct coverage *out, const char *runs, const char *data_dir, coverage_timing *timing, void *user, struct arena *a,
                     struct err *err);
void coverage_print(FILE *f, const struct coverage *c);
struct json_t *coverage_json(const struct coverage *c);         /* an array of groups; the caller owns it */
#endif
