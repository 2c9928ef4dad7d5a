/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_interval.c - the middle and the 90 % interval that the errors of published runs imply for a prediction.
 *     bias    = sum of w x error / (1 + sum of w),  w = exp(-distance) / (distance + 0.1)
 *     spread^2 = base^2 + (far x (distance - 1))^2 + (host x host's share x ln(1 + distance))^2 + (vector x vector work^2)^2 x least(1, distance)
 *     half^2   = (t x spread)^2 + (w / 10 x (error of the nearest - bias))^2
 *     interval = prediction x exp(-bias +- half)
 *
 * The errors of neighbours count with their sign: if similar runs came out 4 % slower than predicted, this one is expected to, too. One run
 * without an error is added to the neighbours, since few neighbours say little; a published run of this very configuration counts as ten. Its
 * error is today's, as the fit has seen the run; the error of any other run is that of a fit without its group. An error is the part that no
 * open reading of the neighbour explains. In the formula of the spread, `distance` is that of the nearest published run, and `far` counts the
 * part beyond 1 (another framework, or another model of the family).
 *
 * An answer is as uncertain as its parts. The host's share of the step is the least known part of a new program. Vector work, products without
 * the AMP among it, is less known than products unless a published run does the same, so its variance grows with the distance, up to that of another model. A small share of
 * vector work is the norms and activations that every model has; a large share is work of other kinds. Hence the square of the share. An error
 * of the nearest run that its neighbours do not share has no known cause, so half of the interval is at least that difference, weighted as the
 * run is.
 *
 * trust_fit.c finds the four numbers and t: nine in ten errors of published runs are below t spreads. For a new question (no run of its family
 * and mode, or of its framework) t is at least the quantile of Student's distribution with three degrees of freedom. Few published runs were
 * new, and their errors have long tails: most are off by a third, and some by a factor of ten. Three values are judgements: the decay of w,
 * the one run without an error, and the three degrees.
 */
#include "results/study/trust_internal.h"

static const double OWN_COUNTS = 9;       /* a judgement: an own run weighs as much as nine runs without an error */

/* The quantile (1 + 0.9) / 2 of Student's distribution with SPREAD_DEGREES. */
double student_nine_in_ten(void) { return 2.3533634348018229; }

double reference_unexplained(const struct reference *r)
{
    double low = r->left_out + r->open_low, high = r->left_out + r->open_high;
    return low > 0 ? low : high < 0 ? high : 0;
}

/* The error of a reference: today's at distance 0, otherwise that of a fit without its group. */
static double error_for(const struct reference *r, double distance)
{
    if (distance > 0 || !(r->published > 0))
        return reference_unexplained(r);
    struct reference seen = *r;
    seen.left_out = log(r->simulated / r->published);
    return reference_unexplained(&seen);
}

static const double LEAST_DISTANCE = 0.1;   /* a run at distance 0 has the weight 1 / LEAST_DISTANCE */

static double weight_at(double distance)
{
    return exp(-distance) / (distance + LEAST_DISTANCE);
}

/* The factor on the weight of published runs. A near run of the user's own, made on the same machine, makes it smaller. */
static double published_weight(const struct references *r, const struct distances *d)
{
    double left = 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].is_own)
            left = fmin(left, 1 - exp(-d->items[i].apart.distance));
    return left;
}

struct neighbourhood neighbourhood_of(const struct references *r, const struct distances *d, reference_counts *counts, const void *user)
{
    struct neighbourhood n = { .nearest = INFINITY };
    double weights = 1, sum = 0, published = published_weight(r, d);
    bool has_kind = false, has_framework = false;
    for (size_t i = 0; i < r->n; i++) {
        if (counts && !counts(&r->items[i], user))
            continue;
        double distance = d->items[i].apart.distance, weight = r->items[i].is_own ? OWN_COUNTS * exp(-distance) : weight_at(distance) * published;
        weights += weight;
        const double error = error_for(&r->items[i], distance);
        sum += weight * error;
        has_kind |= distance_is_of_kind(&d->items[i]);
        has_framework |= distance_has_name(&d->items[i], BY_FRAMEWORK);
        if (distance < n.nearest)
            n.nearest = distance, n.apart = error;
    }
    n.bias = sum / weights;
    n.apart -= n.bias;
    n.is_new = !has_kind || !has_framework;
    return n;
}

/* The share of computing that is vector work. A product whose plan does not use the AMP counts, as the tiles' vector units make it. */
static double vector_work(const struct properties *at)
{
    return fmin(1, at->vector_share + at->off_amp_share);
}

static double spread_about(const struct spread *s, const struct neighbourhood *n, const struct properties *at)
{
    double far = s->far * fmax(0, n->nearest - 1), host = s->host * at->number[BY_SHARES + CLASS_HOST] * log1p(n->nearest);
    double work = vector_work(at), vector = s->vector * work * work * sqrt(fmin(1, n->nearest));
    return sqrt(s->base * s->base + far * far + host * host + vector * vector);
}

static double reach_of_nearest(const struct neighbourhood *n)
{
    return LEAST_DISTANCE * weight_at(n->nearest) * fabs(n->apart);
}

double spread_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at)
{
    return hypot(spread_about(s, n, at), reach_of_nearest(n) / student_nine_in_ten());
}

double half_width_at(const struct spread *s, const struct neighbourhood *n, const struct properties *at)
{
    double spreads = n->is_new ? fmax(s->nine_in_ten, student_nine_in_ten()) : s->nine_in_ten;
    return hypot(spreads * spread_about(s, n, at), reach_of_nearest(n));
}

double spreads_that_hold(const struct spread *s, const struct neighbourhood *n, const struct properties *at, double error)
{
    double reach = reach_of_nearest(n);
    return sqrt(fmax(0, error * error - reach * reach)) / spread_about(s, n, at);
}

struct expectation spread_expect(const struct spread *s, const struct references *r, const struct distances *d, const struct properties *at)
{
    const struct neighbourhood n = neighbourhood_of(r, d, NULL, NULL);
    if (!r->n || !(s->base > 0))
        return (struct expectation){0};
    return (struct expectation){ n.bias, half_width_at(s, &n, at), spread_at(s, &n, at) };
}

struct expectation spread_expect_at(const struct spread *s, const struct references *r, const struct properties *at)
{
    struct arena scratch = {0};
    struct distances d = {0};
    distances_find(&d, r, at, &scratch);
    struct expectation expected = spread_expect(s, r, &d, at);
    arena_free(&scratch);
    return expected;
}
