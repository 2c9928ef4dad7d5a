/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture.h - quantiles of a mixture of normal distributions in equal parts.
 */
#ifndef MIXTURE_H
#define MIXTURE_H
#include <stddef.h>

struct normal { double mean, deviation; };      /* deviation > 0 */
/* Below this lie 0 < p < 1 of it; n >= 1. */
double mixture_quantile(double p, const struct normal *parts, size_t n);

#endif
