/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.h - has a measured series changed? A judgement for each new point, quiet on noise of any shape.
 *
 * One default, measured by `make gate-quality`: at most 1 % of unchanged histories of 100 points raise an alarm, whether their noise is
 * Gaussian, log-normal, of two modes, with outliers, or correlated.
 */
#ifndef SERIES_H
#define SERIES_H
#include "system-model/base/base.h"

enum { SERIES_LEAST_POINTS = 30, SERIES_LEAST_NEW = 5 };       /* before the newest, and of those, for a judgement */

enum series_verdict { SERIES_STEADY, SERIES_WORSE, SERIES_BETTER, SERIES_CHANGED, SERIES_SHORT, N_SERIES_VERDICTS };
extern const char *const series_verdict_names[N_SERIES_VERDICTS];

struct series_rule {
    int better;                 /* +1: higher is better, -1: lower is, 0: unknown, any change counts */
    double least_change;        /* share of the level before; smaller changes are not told. 0: any */
};

struct series_change {
    enum series_verdict verdict;
    size_t from, found;         /* first point after the change, and the point whose arrival showed it; from 0 */
    double before, after;       /* medians */
    double correlation;         /* of neighbours, where it had to be taken out; else 0 */
};

/* The verdict when point n - 1 has just arrived, with all points before it unchanged. */
struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *scratch);
/* Every change of a whole series, in order; after one, what came before it is forgotten. Returns how many. */
size_t series_scan(struct series_change **out, const double *x, size_t n, const struct series_rule *rule, struct arena *a);

#endif
