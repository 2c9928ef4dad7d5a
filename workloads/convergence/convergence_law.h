/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_law.h - epochs or samples to the target as a law of the global batch, fitted to reference convergence
 * points.
 *
 *     E(B) = E0 * (1 + (B / Bc)^g)
 *
 * With g = 1 it is McCandlish et al. 2018 (arXiv 1812.06162): samples = Emin (1 + B / Bcrit). Least squares on ln E,
 * one point a batch.
 */
#ifndef CONVERGENCE_LAW_H
#define CONVERGENCE_LAW_H
#include "workloads/convergence/rcp_points.h"

struct convergence_law {
    double e0, bc, g;                   /* e0 in the table's unit, bc in samples */
    double e0_error, bc_error, g_error; /* standard errors; g_error is 0 if g was held at 1 */
    double rms;                         /* root mean square of ln(fit / point) */
    double loo;                         /* rms error of each point predicted from the others; NaN: too few points */
    size_t n;
};

double law_at(const struct convergence_law *l, double batch);       /* the law's value in the unit of e0; batch in samples */
/* Like law_at, but steps never grow with the batch, as they would for g > 1 far beyond the data; they stay at their
 * minimum (maximal data parallelism, Shallue et al. 2019). */
double law_beyond(const struct convergence_law *l, double batch);
/* law_beyond(), scaled to meet the mean of a reference point: the first or last one, for batches beyond it. */
double law_through(const struct convergence_law *l, const struct rcp_point *end, double batch);
/* Fails with fewer points than parameters, or where the least squares do not converge. */
bool law_fit(struct convergence_law *out, const struct rcp_table *t, bool free_g, struct err *err);
/* Fits with g held at 1 and with g free, and keeps the one with the smaller leave-one-out error. */
bool law_choose(struct convergence_law *out, const struct rcp_table *t, struct err *err);
#endif
