/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * statistics.h - medians and means of small samples, by GSL.
 */
#ifndef STATISTICS_H
#define STATISTICS_H
#include "system-model/base/base.h"

/* n > 0. The median of an even number of values is the mean of the middle two. */
double statistics_mean(const double *x, size_t n);
double statistics_median(const double *x, size_t n, struct arena *scratch);
/* 1.4826 medians of |x|: one standard deviation of a normal spread about zero, hardly moved by a few far values; a bias counts. */
double statistics_spread_about_zero(const double *x, size_t n, struct arena *scratch);

#endif
