/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp.h - the reference-convergence test: a submission must not converge suspiciously faster than the reference did.
 */
#ifndef RCP_H
#define RCP_H
#include "workloads/convergence/rcp_points.h"

struct rcp_verdict {
    struct rcp_limit limit;
    bool passed;
    double batch;                       /* global, in samples */
    double submission_mean;             /* olympic; a run that failed counts as slowest */
    double scaling;                     /* by the checker, of one that passes: mean / submission_mean where it is faster and the edition scales */
    const char *text;                   /* one line, in the arena */
};

/* points: epochs or samples to converge, one a run, HUGE_VAL for a run that failed. t: pruned as the edition has it. */
bool rcp_test(struct rcp_verdict *out, const struct rcp_table *t, double batch, const double *points, size_t n, struct arena *a,
              struct err *err);
#endif
