/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ratios.c - errors of ratios between published runs of one program, and how much of a gain remains when the best was chosen by its
 * prediction.
 *
 * An error is the part that no open reading explains. The error of a ratio is the difference of two errors, in units of the spread
 * (trust_interval.c) of the runs: if a program is unlike everything published, its ratios are less certain, too.
 *
 * If k configurations are equally good in truth, the one with the most favourable error looks best. With errors of standard deviation s it
 * looks better than it is by s x E(k), where E(k) is the expected largest of k normal numbers, which is the quantile at (k - 3/8) / (k + 1/4)
 * (Blom 1958). A ratio has the errors of two configurations, so s is its deviation over root 2. k counts the families of configurations within
 * the ratio's deviation of the best; a larger difference is not due to luck.
 */
#include "results/study/gain.h"
#include "results/study/trust_internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <jansson.h>

static const double LEVEL = 0.9, TOLD_APART = 0.01;

static bool makes_pair(const struct reference *x, const struct reference *y)
{
    return x->role != FIGURE_CONTEXT && y->role != FIGURE_CONTEXT && text_is(x->group, y->group)
        && property_names_equal(&x->at, &y->at, BY_COMPUTE) && property_names_equal(&x->at, &y->at, BY_INPUT);
}

static double log_rate_of_ipu(const struct reference *x, double rate)
{
    return log(rate / x->at.number[BY_IPUS]);
}

static double ratio_error(const struct reference *x, const struct reference *y)
{
    return reference_unexplained(x) - reference_unexplained(y);
}

static void add_pair(struct ratio_group *g, const struct reference *x, const struct reference *y)
{
    double published = log_rate_of_ipu(x, x->published) - log_rate_of_ipu(y, y->published), error = ratio_error(x, y);
    bool told_apart = fabs(published) > log1p(TOLD_APART);
    g->told_apart += told_apart;
    g->right += told_apart && (published > 0) == (published + error > 0);
    g->mean_error += (expm1(fabs(error)) - g->mean_error) / (double)++g->pairs;
    g->largest_error = fmax(g->largest_error, expm1(fabs(error)));
}

/* The error below which nine tenths of the pairs' weight lies. */
static double weighted_quantile(double *errors, double *weights, size_t n)
{
    double all = 0, sum = 0;
    gsl_sort2(errors, 1, weights, 1, n);
    for (size_t i = 0; i < n; i++)
        all += weights[i];
    for (size_t i = 0; i < n; i++)
        if ((sum += weights[i]) >= LEVEL * all)
            return errors[i];
    return NAN;
}

static bool is_first_of_group(const struct references *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (text_is(r->items[k].group, r->items[i].group))
            return false;
    return true;
}

/* Adds a group, which begins with run `first`, and the errors and weights of its pairs; returns the number of pairs. */
static size_t test_group(struct ratio_test *out, const struct references *r, const double *spreads, size_t first, double *errors, double *weights)
{
    struct ratio_group *g = &out->rows[out->n_groups];
    size_t n = 0;
    g->group = r->items[first].group;
    for (size_t i = first; i < r->n; i++)
        for (size_t k = i + 1; k < r->n && text_is(r->items[i].group, g->group); k++)
            if (makes_pair(&r->items[i], &r->items[k])) {
                add_pair(g, &r->items[i], &r->items[k]);
                errors[n++] = fabs(ratio_error(&r->items[i], &r->items[k])) / fmax(spreads[i], spreads[k]);
            }
    for (size_t i = 0; i < n; i++)
        weights[i] = 1 / (double)n;
    out->n_groups += n > 0;
    return n;
}

/* The spread of each run, as the fit of the spread computes it. */
static const double *spreads_of(const struct references *r, const struct spread *s, struct arena *a)
{
    double *spreads = ARENA_ROOM(a, double, r->n + 1);
    for (size_t i = 0; i < r->n; i++) {
        const struct question q = question_of(r, &r->items[i], false, NULL, a);
        spreads[i] = question_is_answered(&q) ? spread_at(s, &q.near, &r->items[i].at) : INFINITY;
    }
    return spreads;
}

void ratio_test(struct ratio_test *out, const struct references *r, const struct spread *s, struct arena *a)
{
    const double *spreads = spreads_of(r, s, a);
    double *errors = ARENA_ROOM(a, double, r->n * r->n + 1), *weights = ARENA_ROOM(a, double, r->n * r->n + 1);
    size_t n = 0;
    *out = (struct ratio_test){ .rows = ARENA_ARRAY(a, struct ratio_group, r->n + 1) };
    for (size_t i = 0; i < r->n; i++)
        if (is_first_of_group(r, i))
            n += test_group(out, r, spreads, i, errors + n, weights + n);
    struct ratio_group *all = &out->rows[out->n_groups];
    *all = (struct ratio_group){ .group = "all, each group counting once" };
    for (const struct ratio_group *g = out->rows; g < all; g++) {
        all->pairs += g->pairs;
        all->told_apart += g->told_apart;
        all->right += g->right;
        all->mean_error += g->mean_error / (double)out->n_groups;
        all->largest_error = fmax(all->largest_error, g->largest_error);
    }
    out->nine_in_ten = weighted_quantile(errors, weights, n);
}

/* ---- a gain --------------------------------------------------------------------------------------- */

/* The expected largest of k normal numbers, in standard deviations. */
static double expected_largest(uint64_t k)
{
    return k < 2 ? 0 : gsl_cdf_ugaussian_Pinv(((double)k - 0.375) / ((double)k + 0.25));
}

struct gain gain_of(const struct ratio_test *t, double ratio, double spread, const double *values, size_t n_values, double best)
{
    double half = t->nine_in_ten * spread, deviation = half / gsl_cdf_ugaussian_Pinv((1 + LEVEL) / 2);
    struct gain g = { .ratio = ratio };
    for (size_t i = 0; i < n_values; i++)
        g.n_rivals += fabs(log(values[i] / best)) <= deviation;
    g.expected = ratio * exp(-deviation / M_SQRT2 * expected_largest(g.n_rivals));
    g.low = g.expected * exp(-half);
    g.high = g.expected * exp(half);
    return g;
}

/* ---- printing --------------------------------------------------------------------------------------- */

static const struct table_column ratio_columns[] = {
#define C(member, ...) { COLUMN(struct ratio_group, member), __VA_ARGS__ }
#define SHARE .format = "%.1f %%", .scale = 100
    C(group, .heading = "program"), C(pairs, .heading = "pairs"), C(told_apart, .heading = "told apart"), C(right, .heading = "in the right order"),
    C(mean_error, .heading = "mean error of the ratio", SHARE), C(largest_error, .heading = "largest", SHARE),
#undef SHARE
#undef C
};

void ratio_test_document(struct document *d, const struct ratio_test *t)
{
    document_line(d, "pairs of published runs of one program that differ in configuration: which is faster for each IPU, and by how much");
    document_table(d, TABLE_OF(ratio_columns, t->rows, t->n_groups + 1))->name = "pairs";
    if (is_known(t->nine_in_ten))
        document_line(d, "nine in ten of such ratios, each group counting once, are predicted within %.2f times the spread of the runs", t->nine_in_ten);
    document_member(d, "pairs_nine_in_ten", json_number(t->nine_in_ten));
}
