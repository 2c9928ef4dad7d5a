/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * statistics.c - medians and means of small samples, by GSL.
 */
#include "system-model/base/base.h"
#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

double statistics_mean(const double *x, size_t n)
{
    assert(n > 0);
    return gsl_stats_mean(x, 1, n);
}

double statistics_median(const double *x, size_t n, struct arena *scratch)
{
    assert(n > 0);
    double *sorted = ARENA_ARRAY(scratch, double, n);
    memcpy(sorted, x, n * sizeof *x);
    gsl_sort(sorted, 1, n);
    return gsl_stats_median_from_sorted_data(sorted, 1, n);
}

double statistics_spread_about_zero(const double *x, size_t n, struct arena *scratch)
{
    double *sizes = ARENA_ARRAY(scratch, double, n);
    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(x[i]);
    static const double of_normal = 1.4826;         /* 1 / 0.6745, the upper quartile of a normal distribution */
    return of_normal * statistics_median(sizes, n, scratch);
}
