/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_internal.h - what the fit of the spread, the interval and its coverage share. Private to them.
 */
#ifndef TRUST_INTERNAL_H
#define TRUST_INTERNAL_H
#include "results/study/trust.h"

#define SPREAD_DEGREES 3.0              /* the degrees of freedom of Student's distribution of errors */

/* The published runs near a question. bias: their mean error; nearest: the distance of the nearest run, infinite if there are none; apart: the error
 * of the nearest run less the bias. is_new: no run is of the question's family and mode, or none of its framework. */
struct neighbourhood { double bias, nearest, apart; bool is_new; };
typedef bool reference_counts(const struct reference *r, const void *user);
/* counts() says if a reference takes part; NULL: all do. */
struct neighbourhood neighbourhood_of(const struct references *r, const struct distances *d, reference_counts *counts, const void *user);
double spread_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at);
double half_width_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at);      /* half of the 90 % interval */
/* The number of spreads in half of the interval that just reaches the error. */
double spreads_that_hold(const struct spread *s, const struct neighbourhood *n, const struct properties *at, double error);
enum likeness likeness_among(const struct references *r, const struct distances *d, reference_counts *counts, const void *user);

/* One reference with its error, and the others that judge it: the error of its first prediction is judged by references of other origins; if no first
 * prediction was kept, today's error is judged by all others. */
struct question { const struct reference *reference; struct neighbourhood near; double error, open_low, open_high; enum likeness likeness; };
/* by_origin: references of x's own origin are always left out. References of without_origin, which may be NULL, take no part. */
struct question question_of(const struct references *r, const struct reference *x, bool by_origin, const char *without_origin, struct arena *scratch);
bool question_is_answered(const struct question *q);            /* at least one reference took part */
double question_outside(const struct question *q, double half_width);   /* how far the true value lies outside of the interval, which spans all readings */
struct spread spread_fit_questions(const struct question *questions, size_t n);

#endif
