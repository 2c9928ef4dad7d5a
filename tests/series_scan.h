/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series_scan.h - the changes of a whole series by series_judge() alone, for tests.
 */
#ifndef SERIES_SCAN_H
#define SERIES_SCAN_H
#include "results/history/history.h"

/* Every change of a whole series, in order. After a change the points before it are ignored. Returns the number of changes. */
static size_t series_scan(struct series_change **out, const double *x, size_t n, const struct series_rule *rule, struct arena *a)
{
    size_t n_found = 0, cap = 0, start = 0;
    *out = NULL;
    for (size_t t = 1; t <= n; t++) {
        struct series_change c = series_judge(x + start, t - start, rule, a);
        if (c.verdict == SERIES_STEADY || c.verdict == SERIES_SHORT)
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
