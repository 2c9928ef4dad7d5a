/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_internal.h - functions shared by the fit of the spread, the interval and its coverage. Private to them.
 */
#ifndef TRUST_INTERNAL_H
#define TRUST_INTERNAL_H
#include "results/study/trust.h"

#define SPREAD_DEGREES 3.0              /* degrees of freedom of Student's distribution, which errors are taken to follow */

/* The published runs near a question: `bias` is their mean error, `nearest` the distance of the nearest one (infinite if there are none), and
 * `apart` the nearest one's error minus the bias. is_new: no run has the question's family and mode, or none has its framework. */
struct neighbourhood { double bias, nearest, apart; bool is_new; };
typedef bool reference_counts(const struct reference *r, const void *user);
/* The runs near a question. counts() says if a reference takes part; if it is NULL, all do. */
struct neighbourhood neighbourhood_of(const struct references *r, const struct distances *d, reference_counts *counts, const void *user);
double spread_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at);
double half_width_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at);      /* half the width of the 90 % interval */
/* The number of spreads at which half of the interval just reaches this error. */
double spreads_that_hold(const struct spread *s, const struct neighbourhood *n, const struct properties *at, double error);
enum likeness likeness_among(const struct references *r, const struct distances *d, reference_counts *counts, const void *user);

/* One reference as a question to the others. The error of its first prediction is judged by references of other origins; if none was recorded,
 * today's error is judged by all others. */
struct question { const struct reference *reference; struct neighbourhood near; double error, open_low, open_high; enum likeness likeness; };
/* Makes the question of reference x. by_origin: references of x's own origin are always ignored. Those of without_origin, which may be NULL,
 * are ignored, too. */
struct question question_of(const struct references *r, const struct reference *x, bool by_origin, const char *without_origin, struct arena *scratch);
bool question_is_answered(const struct question *q);            /* true if at least one reference took part */
double question_outside(const struct question *q, double half_width);   /* how far the true value lies outside the interval, which spans all readings */
struct spread spread_fit_questions(const struct question *questions, size_t n);

#endif
