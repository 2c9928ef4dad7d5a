/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_evidence.c - the evidence for a moved mean: against likelihoods computed point by point, and its cleaning by hand. */
#include "tests/check.h"
#include "results/history/evidence.h"
#include <math.h>

enum { N = 23 };
static const double noise[N] = { 0.3, -1.1, 0.7, 1.9, -0.4, -0.9, 1.2, 0.1, -1.7, 0.8, 0.5, -0.6, 1.4, -0.2, -1.3, 0.9, 0.2, -0.8, 1.1, 0.4, -0.5, 0.6, -1.0 };

static void fill(struct level_points *l, const double *x, size_t n, struct arena *a)
{
    level_points_create(l, x, n, a);
    while (l->n < n)
        level_points_add(l);
}

/* Makes noise of correlation r independent. */
static void whiten(double *out, const double *x, size_t n, double r)
{
    out[0] = sqrt(1 - r * r) * x[0];
    for (size_t i = 1; i < n; i++)
        out[i] = x[i] - r * x[i - 1];
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Subtracts from x its projection on u. */
static void project_out(double *x, const double *u, size_t n)
{
    double share = dot(x, u, n) / dot(u, u, n);
    for (size_t i = 0; i < n; i++)
        x[i] -= share * u[i];
}

/* Log odds of a shape from whole vectors, by the formula in evidence.c's head. */
static double odds_by_vectors(const double *y, const double *shape, size_t n, double variance)
{
    static const double correlations[] = { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99 };
    enum { N_R = sizeof correlations / sizeof *correlations };
    double null = -INFINITY, changed = 0, half = ((double)n - 1) / 2, ones[64], x[64], u[64], z[64];
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    for (size_t k = 0; k < N_R; k++) {
        double r = correlations[k], prior = variance / (1 - r * r);
        whiten(x, y, n, r), whiten(u, ones, n, r), whiten(z, shape, n, r);
        double share = log((1 - r * r) / dot(u, u, n)) / 2;
        project_out(x, u, n), project_out(z, u, n);
        double rest = dot(x, x, n), grown = 1 + prior * dot(z, z, n), fall = prior * dot(x, z, n) * dot(x, z, n) / grown;
        null = r <= 0.9 ? fmax(null, share - half * log(rest)) : null;
        changed += exp(share - log(grown) / 2 - half * log(rest - fall)) / N_R;
    }
    return log(changed) - null;
}

/* No point of this noise is clipped, so the sums give what the vectors do. The odds of a step of 4 at point 9, and of the best shape. */
static void sums_give_what_vectors_do(void **state)
{
    struct arena a = {0};
    struct level_points l;
    double x[N], shape[N], best = -INFINITY;
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = 40 + noise[i] + (i >= 9 ? 4 : 0);
    fill(&l, x, N, &a);
    for (size_t i = 0; i < N; i++)
        assert_near(l.centre + l.sums[i].y / l.unit, x[i], 1e-12);
    for (size_t k = 9; k + 5 <= N; k++) {
        for (size_t i = 0; i < N; i++)
            shape[i] = i >= k;
        double odds = odds_by_vectors(x, shape, N, 25);
        best = fmax(best, odds);
        struct level_evidence e = level_evidence_at(&l, k);
        assert_near(odds < evidence_floor ? 0 : odds, odds < evidence_floor ? (isfinite(e.up) ? 1 : 0) : e.up, 1e-7);
        assert_true(!isfinite(e.down));
    }
    assert_true(best > 6);
    assert_near(level_evidence(&l).up, best, 1e-7);
    double correlation;
    assert_int_equal(level_split(&l, true, &correlation), 9);
    arena_free(&a);
}

/* Squares of these values overflow, or are 0. */
static void evidence_has_no_unit(void **state)
{
    static const double units[] = { 1, 1e200, 1e-200 };
    double up[3], x[N];
    (void)state;
    for (size_t u = 0; u < 3; u++) {
        struct arena a = {0};
        struct level_points l;
        for (size_t i = 0; i < N; i++)
            x[i] = units[u] * (i == 0 ? 0 : noise[i] + (i >= 9 ? 4 : 0));
        fill(&l, x, N, &a);
        up[u] = level_evidence(&l).up;
        arena_free(&a);
    }
    assert_true(up[0] > 6);
    assert_near(up[1], up[0], 1e-9);
    assert_near(up[2], up[0], 1e-9);
}

/* Noise on a slope of 0.7 a point from point 6 on: the best shape is a ramp. */
static void a_ramp_is_a_shape(void **state)
{
    struct arena a = {0};
    struct level_points l;
    double x[N], shape[N], best = -INFINITY;
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = -3 - 0.5 * noise[i] - (i >= 6 ? 0.7 * (double)(i - 5) : 0);
    fill(&l, x, N, &a);
    for (size_t i = 0; i < N; i++)
        x[i] = l.sums[i].y;                             /* the newest two are clipped */
    for (size_t after = 10; after < N; after += 1 + after / 16) {       /* the numbers of new points that are tried */
        size_t k = N - after;
        for (size_t i = 0; i < N; i++)
            shape[i] = i < k ? 0 : (double)(i - k + 1) / (double)(N - k);
        best = fmax(best, odds_by_vectors(x, shape, N, 100));
    }
    assert_near(level_evidence(&l).down, best, 1e-6);
    assert_true(!isfinite(level_evidence(&l).up));
    arena_free(&a);
}

/* 1 to 5 again and again: the running median of five is 3 but at the ends, so the distances are 2, 1, 0, 1, 2. One standard deviation is 1 to 2 by the
 * quantiles, and at most 4 of them are kept: 1000 becomes 3 + 8. */
static void an_outlier_is_brought_near_the_running_median(void **state)
{
    struct arena a = {0};
    struct level_points l;
    double x[30];
    (void)state;
    for (size_t i = 0; i < 30; i++)
        x[i] = 1 + (double)(i * 2 % 5);
    x[17] = 1000;
    fill(&l, x, 30, &a);
    for (size_t i = 0; i < 30; i++)
        if (i != 17)
            assert_near(l.centre + l.sums[i].y / l.unit, x[i], 1e-12);
    double kept = l.centre + l.sums[17].y / l.unit;
    assert_true(kept >= 3 + 4 && kept <= 5 + 8);
    assert_near(level_points_mean(&l, 16, 18), (x[16] + kept) / 2, 1e-12);
    arena_free(&a);
}

/* The same as the points arrive one by one, restarted at a later one, or in one go. */
static void points_may_arrive_in_any_way(void **state)
{
    struct arena a = {0};
    struct level_points all, later, again;
    double x[2 * N];
    (void)state;
    for (size_t i = 0; i < 2 * N; i++)
        x[i] = noise[i % N] * (i % 7 == 3 ? 9 : 1) + (i >= 30 ? 12 : 0);
    fill(&all, x, 2 * N, &a);
    fill(&later, x + 11, 2 * N - 11, &a);
    level_points_restart(&all, x + 11);
    level_points_create(&again, x, 2 * N, &a);
    level_points_restart(&again, x + 11);
    while (again.n < 2 * N - 11) {
        level_points_add(&again);
        level_evidence(&again);
        level_points_add(&all);
    }
    assert_near(level_evidence(&again).up, level_evidence(&later).up, 1e-9);
    assert_near(level_evidence(&all).up, level_evidence(&later).up, 1e-9);
    assert_true(level_evidence(&later).up > 6);
    arena_free(&a);
}

static void points_that_do_not_differ_are_no_evidence(void **state)
{
    struct arena a = {0};
    struct level_points l;
    double x[40];
    (void)state;
    for (size_t i = 0; i < 40; i++)
        x[i] = 0.1;
    fill(&l, x, 40, &a);
    struct level_evidence e = level_evidence(&l);
    assert_true(!isfinite(e.up) && !isfinite(e.down));
    e = level_evidence_at(&l, 20);
    assert_true(!isfinite(e.up) && !isfinite(e.down));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_give_what_vectors_do), cmocka_unit_test(a_ramp_is_a_shape), cmocka_unit_test(evidence_has_no_unit), cmocka_unit_test(an_outlier_is_brought_near_the_running_median),
    cmocka_unit_test(points_may_arrive_in_any_way), cmocka_unit_test(points_that_do_not_differ_are_no_evidence),
};
TAP_MAIN(tests)
