/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * peer_otava.h - changes of a series as Apache Otava tells them, for comparison.
 *
 * Otava (github.com/apache/otava, otava/analysis.py at f7e95b21 and otava/change_point_divisive) splits overlapping windows of 50 points by
 * E-divisive means (James and Matteson 2014): the split of an interval is where the energy distance between its parts, left from
 * its start and right up to any end, is largest; it stays if Student's t-test over the neighbouring splits has p < 0.01. Then the weakest split
 * goes until all have p < 0.001. Defaults are kept; the relative size of a change plays no part.
 */
#ifndef PEER_OTAVA_H
#define PEER_OTAVA_H
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { PEER_WINDOW = 50, PEER_MOST = 400 };
static const double peer_pass_p = 0.01, peer_p = 0.001;

struct peer_splits { size_t at[PEER_MOST], n; };

static inline double population_variance(const double *x, size_t n)
{
    return n < 2 ? 0 : gsl_stats_tss(x, 1, n) / (double)n;
}

/* Two-sided p of Student's t-test with pooled variance between the points from a to k - 1 and from k to b - 1. */
static inline double peer_t_test(const double *x, size_t a, size_t k, size_t b)
{
    size_t n1 = k - a, n2 = b - k;
    if (n1 + n2 <= 2)
        return 1;
    double freedom = (double)(n1 + n2 - 2);
    double pooled = ((double)(n1 - 1) * population_variance(x + a, n1) + (double)(n2 - 1) * population_variance(x + k, n2)) / freedom;
    double difference = gsl_stats_mean(x + a, 1, n1) - gsl_stats_mean(x + k, 1, n2);
    if (!(pooled > 0))
        return fabs(difference) > 0 ? 0 : 1;
    return 2 * gsl_cdf_tdist_Q(fabs(difference) / sqrt(pooled * (1 / (double)n1 + 1 / (double)n2)), freedom);
}

/* The best split of points a to b - 1, over every end; its distance is returned, -1 for fewer than two points. */
static inline double peer_best_split(size_t *split, const double *x, size_t a, size_t b)
{
    static double before[PEER_WINDOW + 1], after[PEER_WINDOW + 1][PEER_WINDOW + 1];    /* sums of distances within x[a..k) and x[k..e) */
    size_t n = b - a;
    double best = -1;
    before[0] = 0;
    for (size_t k = 0; k < n; k++) {
        before[k + 1] = before[k];
        for (size_t i = 0; i < k; i++)
            before[k + 1] += fabs(x[a + i] - x[a + k]);
    }
    for (size_t k = n; k-- > 0; ) {
        double own = 0;
        for (size_t e = k + 1; e <= n; e++) {
            own += fabs(x[a + k] - x[a + e - 1]);
            after[k][e] = own + (k + 1 < e ? after[k + 1][e] : 0);
        }
    }
    for (size_t k = 1; k < n; k++)
        for (size_t e = k + 1; e <= n; e++) {
            double left = (double)k, right = (double)(e - k), all = left + right;
            double between = after[0][e] - before[k] - after[k][e];
            double q = 2 / all * between - (k > 1 ? 2 * right / all / (left - 1) * before[k] : 0) - (e - k > 1 ? 2 * left / all / (right - 1) * after[k][e] : 0);
            if (q > best) {
                best = q;
                *split = a + k;
            }
        }
    return best;
}

static inline void peer_insert(struct peer_splits *s, size_t split)
{
    size_t i = s->n++;
    for (; i > 0 && s->at[i - 1] > split; i--)
        s->at[i] = s->at[i - 1];
    s->at[i] = split;
}

/* Splits the window from a to b - 1 at its best split while that is significant. Returns the last split, or a. */
static inline size_t peer_split_window(struct peer_splits *out, const double *x, size_t a, size_t b)
{
    struct peer_splits s = { .n = 0 };
    while (s.n < PEER_WINDOW) {
        double most = -1;
        size_t split = 0, from = 0, end = 0;
        for (size_t i = 0; i <= s.n; i++) {
            size_t left = i ? s.at[i - 1] : a, right = i < s.n ? s.at[i] : b, at = 0;
            double q = peer_best_split(&at, x, left, right);
            if (q > most) {
                most = q;
                split = at, from = left, end = right;
            }
        }
        if (most < 0 || peer_t_test(x, from, split, end) > peer_pass_p)
            break;
        peer_insert(&s, split);
    }
    for (size_t i = 0; i < s.n; i++) {
        bool known = false;
        for (size_t k = 0; k < out->n; k++)
            known |= out->at[k] == s.at[i];
        if (!known)
            peer_insert(out, s.at[i]);
    }
    return s.n ? s.at[s.n - 1] : a;
}

static inline void peer_merge(struct peer_splits *s, const double *x, size_t n)
{
    while (s->n) {
        double weakest = -1;
        size_t which = 0;
        for (size_t i = 0; i < s->n; i++) {
            double p = peer_t_test(x, i ? s->at[i - 1] : 0, s->at[i], i + 1 < s->n ? s->at[i + 1] : n);
            if (p > weakest) {
                weakest = p;
                which = i;
            }
        }
        if (weakest < peer_p)
            return;
        s->n--;
        memmove(s->at + which, s->at + which + 1, (s->n - which) * sizeof *s->at);
    }
}

/* All changes of n points. */
static inline struct peer_splits peer_changes(const double *x, size_t n)
{
    struct peer_splits s = { .n = 0 };
    for (size_t start = 0; start < n; ) {
        size_t end = start + PEER_WINDOW < n ? start + PEER_WINDOW : n, last = peer_split_window(&s, x, start, end);
        start = last > start + PEER_WINDOW / 2 ? last : start + PEER_WINDOW / 2;
    }
    peer_merge(&s, x, n);
    return s;
}

/* True if a change told when n points have arrived is upwards. */
static inline bool peer_tells_rise(const double *x, size_t n)
{
    struct peer_splits s = peer_changes(x, n);
    for (size_t i = 0; i < s.n; i++) {
        size_t a = i ? s.at[i - 1] : 0, b = i + 1 < s.n ? s.at[i + 1] : n;
        if (gsl_stats_mean(x + s.at[i], 1, b - s.at[i]) > gsl_stats_mean(x + a, 1, s.at[i] - a))
            return true;
    }
    return false;
}

#endif
