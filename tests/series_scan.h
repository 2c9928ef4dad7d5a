/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series_scan.h - the verdict on a series' newest point, and all changes of a series without levels, for tests.
 */
#ifndef SERIES_SCAN_H
#define SERIES_SCAN_H
#include "results/history/history.h"

/* The verdict when point n - 1 has just arrived, if the points before it have not changed. */
static inline struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *a)
{
    struct level_points l;
    level_points_create(&l, x, n, a);
    while (l.n < n)
        level_points_add(&l);
    return series_verdict(&l, level_evidence(&l), rule);
}

/* Every change of a whole series, in order. After a change the points before it are ignored. Returns the number of changes. */
static inline size_t series_scan(struct series_change **out, const double *x, size_t n, const struct series_rule *rule, struct arena *a)
{
    size_t n_found = 0, cap = 0, start = 0;
    *out = NULL;
    for (size_t t = 1; t <= n; t++) {
        struct series_change c = series_judge(x + start, t - start, rule, a);
        if (c.verdict == SERIES_STEADY)
            continue;
        c.from += start;
        c.found += start;
        start = c.from;
        *out = arena_grow(a, *out, n_found, &cap, sizeof **out);
        (*out)[n_found++] = c;
    }
    return n_found;
}

#endif
