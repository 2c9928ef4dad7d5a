/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp.h - the reference-convergence test: a submission must not converge suspiciously faster than the reference did.
 */
#ifndef RCP_H
#define RCP_H
#include "workloads/convergence/rcp_points.h"

enum rcp_match { RCP_EXACT, RCP_INTERPOLATED, RCP_SMALLER_BATCH, RCP_MISSING };

struct rcp_verdict {
    enum rcp_match match;
    bool passed;
    double batch;                       /* global, in samples */
    double submission_mean;             /* olympic; a run that failed counts as slowest */
    double mean, sd;                    /* of the reference at this batch; 0 when there is none */
    double max_speedup, least_mean;     /* the submission passes from mean / max_speedup up */
    double scaling;                     /* where the edition scales: mean / submission_mean for one that is faster and passes; else 1 */
    const char *text;                   /* one line, in the arena */
};

/* points: epochs or samples to converge, one a run, HUGE_VAL for a run that failed. t: pruned as the edition has it. */
bool rcp_test(struct rcp_verdict *out, const struct rcp_table *t, double batch, const double *points, size_t n, struct arena *a,
              struct err *err);
#endif
