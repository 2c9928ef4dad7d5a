/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_series.c - changes of level in measured series: cases by hand, laws, and false alarms on drawn noise. */
#include "tests/golden_text.h"
#include "tests/series_scan.h"
#include <gsl/gsl_randist.h>
#include <math.h>

static const struct series_rule lower = { .better = -1 }, higher = { .better = 1 }, unknown = { 0 };
enum { N = 120 };

static void draw(double *x, size_t n, unsigned long seed)
{
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(r, seed);
    for (size_t i = 0; i < n; i++)
        x[i] = 10 + 0.1 * gsl_ran_ugaussian(r);
    gsl_rng_free(r);
}

static void a_step_is_found_and_told_by_its_direction(void **state)
{
    struct arena a = {0};
    double x[N];
    (void)state;
    draw(x, N, 1);
    for (size_t i = 100; i < N; i++)
        x[i] += 0.5;                                    /* 5 deviations */
    struct series_change *c;
    assert_int_equal(series_scan(&c, x, N, &lower, &a), 1);
    assert_int_equal(c[0].verdict, SERIES_WORSE);
    assert_int_equal(c[0].from, 100);
    assert_true(c[0].found >= 102 && c[0].found <= 104);
    assert_near(c[0].after / c[0].before, 1.05, 0.01);
    assert_int_equal(series_scan(&c, x, N, &higher, &a), 1);
    assert_int_equal(c[0].verdict, SERIES_BETTER);
    assert_int_equal(series_scan(&c, x, N, &unknown, &a), 1);
    assert_int_equal(c[0].verdict, SERIES_CHANGED);
    const struct series_rule coarse = { .better = -1, .least_change = 0.06 };
    assert_int_equal(series_scan(&c, x, N, &coarse, &a), 0);
    arena_free(&a);
}

/* Without noise: 100 times 7, then 8. The running median of five takes the step with the third new point, and five new points are compared,
 * of which two may be old. */
static void a_series_without_noise_changes_at_its_third_new_point(void **state)
{
    struct arena a = {0};
    double x[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = i < 100 ? 7 : 8;
    assert_int_equal(series_judge(x, 100, &unknown, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 102, &unknown, &a).verdict, SERIES_STEADY);
    struct series_change c = series_judge(x, 103, &unknown, &a);
    assert_int_equal(c.verdict, SERIES_CHANGED);
    assert_int_equal(c.from, 100);
    arena_free(&a);
}

/* 100 times 7, then 8 for longer and longer: dated exactly. */
static void a_change_is_dated_exactly(void **state)
{
    static const size_t n_new[] = { 3, 4, 6, 9, 10, 13, 15 };
    struct arena a = {0};
    double x[150];
    (void)state;
    for (size_t i = 0; i < 150; i++)
        x[i] = i < 100 ? 7 : 8;
    for (size_t k = 0; k < sizeof n_new / sizeof *n_new; k++) {
        struct series_change c = series_judge(x, 100 + n_new[k], &lower, &a);
        assert_int_equal(c.verdict, SERIES_WORSE);
        assert_int_equal(c.from, 100);
        assert_int_equal(c.found, 99 + n_new[k]);
        assert_near(c.before, 7, 1e-12);
        assert_near(c.after, 8, 1e-12);
    }
    arena_free(&a);
}

/* 7 for 100 points, 8 for 60, 9 for 50 and 8 again: each change is told by its fifth new point, and dated exactly. */
static void one_change_after_another(void **state)
{
    static const struct { size_t from; double before, after; enum series_verdict verdict; } want[] = {
        { 100, 7, 8, SERIES_WORSE }, { 160, 8, 9, SERIES_WORSE }, { 210, 9, 8, SERIES_BETTER },
    };
    struct arena a = {0};
    struct series_change *c;
    double x[260];
    (void)state;
    for (size_t i = 0; i < 260; i++)
        x[i] = i < 100 ? 7 : i < 160 ? 8 : i < 210 ? 9 : 8;
    assert_int_equal(series_scan(&c, x, 260, &lower, &a), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(c[i].from, want[i].from);
        assert_true(c[i].found >= want[i].from + 2 && c[i].found <= want[i].from + 4);
        assert_near(c[i].before, want[i].before, 1e-12);
        assert_near(c[i].after, want[i].after, 1e-12);
        assert_int_equal(c[i].verdict, want[i].verdict);
    }
    arena_free(&a);
}

/* 95 zeros among which some ones are spread, then five new counts: evidence alone takes them for a change, and the order of the points decides. With
 * 17 ones before, four ones in five newest come by chance in 0.7 % of cases (of 21 among 100), five in 0.035 %; the limit is 0.4 %. */
static void rare_counts_need_an_order_that_is_rare(void **state)
{
    struct arena a = {0};
    double x[100] = {0};
    (void)state;
    for (size_t i = 0; i < 17; i++)
        x[5 * i + 3] = 1;
    x[95] = x[96] = x[98] = 1, x[99] = 3;
    assert_int_equal(series_judge(x, 100, &lower, &a).verdict, SERIES_STEADY);
    x[97] = 1;
    assert_int_equal(series_judge(x, 100, &lower, &a).verdict, SERIES_WORSE);
    arena_free(&a);
}

/* Neighbours that alternate are no change. */
static void turns_do_not_alarm(void **state)
{
    struct arena a = {0};
    double x[105];
    (void)state;
    for (int digits = 0; digits < 2; digits++) {
        for (size_t i = 0; i < 105; i++)
            x[i] = (i >= 100 || i % 2 ? 7 : 6) + 0.01 * digits * (double)(i * 7 % 10);
        assert_int_equal(series_judge(x, 105, &lower, &a).verdict, SERIES_STEADY);
        assert_int_equal(series_judge(x, 105, &higher, &a).verdict, SERIES_STEADY);
    }
    arena_free(&a);
}

/* Five points take three values about 14; the next five are 2 to 20 deviations higher. So few points tell a large change only. */
static void few_points_tell_a_large_change(void **state)
{
    static const struct { double step; struct series_rule rule; enum series_verdict verdict; } cases[] = {
        { 1, { .better = -1 }, SERIES_STEADY }, { 10, { .better = -1 }, SERIES_WORSE }, { 10, { .better = 1 }, SERIES_BETTER },
        { 10, { .better = 0 }, SERIES_CHANGED }, { 10, { .better = -1, .least_change = 0.8 }, SERIES_STEADY },
        { 10, { .better = -1, .least_change = 0.7 }, SERIES_WORSE },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double s = cases[i].step, x[10] = { 13.5, 14.5, 14, 13.5, 14.5, 14 + s, 14.5 + s, 13.5 + s, 14.5 + s, 13.5 + s };
        assert_int_equal(series_judge(x, 9, &cases[i].rule, &a).verdict, SERIES_STEADY);
        struct series_change c = series_judge(x, 10, &cases[i].rule, &a);
        assert_int_equal(c.verdict, cases[i].verdict);
        if (c.verdict != SERIES_STEADY)
            assert_true(c.from == 5 && c.found == 9);
        for (size_t k = 0; k < 10; k++)
            x[k] = -x[k];
        struct series_rule mirrored = cases[i].rule;
        mirrored.better = -mirrored.better;
        assert_int_equal(series_judge(x, 10, &mirrored, &a).verdict, cases[i].verdict);
    }
    arena_free(&a);
}

/* The series that watch once called steady: noise of 1 %, and a step of 5 % after 20 points; stairs of 5 %; creep of 0.2 % a point. */
static void changes_at_the_beginning_are_told(void **state)
{
    struct arena a = {0};
    double step[200], stairs[200], creep[200];
    (void)state;
    for (unsigned long seed = 21; seed < 31; seed++) {
        draw(step, 200, seed);
        for (size_t i = 0; i < 200; i++) {
            stairs[i] = step[i] + 0.5 * (double)(i / 20);
            creep[i] = step[i] + 0.02 * (double)i;
            step[i] += i >= 20 ? 0.5 : 0;
        }
        struct series_change *c;
        assert_int_equal(series_scan(&c, step, 200, &lower, &a), 1);
        assert_int_equal(c[0].from, 20);
        assert_true(c[0].found < 40);
        assert_true(series_scan(&c, stairs, 200, &lower, &a) >= 7);
        assert_true(c[0].found < 40 && c[0].verdict == SERIES_WORSE);
        assert_true(series_scan(&c, creep, 200, &lower, &a) >= 3);
        assert_true(c[0].found < 80 && c[0].verdict == SERIES_WORSE);
    }
    arena_free(&a);
}

/* A unit, an offset or a mirror changes no verdict. */
static void units_do_not_matter(void **state)
{
    struct arena a = {0};
    double x[N], y[N], z[N];
    struct series_change *c, *d, *e;
    (void)state;
    for (unsigned long seed = 3; seed < 13; seed++) {
        draw(x, N, seed);
        for (size_t i = 0; i < N; i++) {
            x[i] += i >= 90 ? 0.18 : 0;                 /* 1.8 deviations: found late, or not */
            y[i] = (seed % 2 ? 0x1p-40 : 0x1p40) * x[i];
            z[i] = -x[i];
        }
        size_t n = series_scan(&c, x, N, &lower, &a);
        assert_int_equal(series_scan(&d, y, N, &lower, &a), n);
        assert_int_equal(series_scan(&e, z, N, &higher, &a), n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(c[i].found, d[i].found);
            assert_int_equal(c[i].found, e[i].found);
            assert_int_equal(c[i].verdict, e[i].verdict);
        }
    }
    arena_free(&a);
}

static void outliers_do_not_alarm(void **state)
{
    struct arena a = {0};
    double x[N];
    struct series_change *c;
    (void)state;
    draw(x, N, 4);
    x[60] = x[61] = 30;                                 /* two in a row, 200 deviations away */
    x[100] = 1000;
    assert_int_equal(series_scan(&c, x, N, &unknown, &a), 0);
    arena_free(&a);
}

/* Neighbours with a correlation of 0.5 make long excursions: 60 histories of 120 points raise at most two alarms. */
static void correlated_noise_is_taken_for_what_it_is(void **state)
{
    struct arena a = {0};
    double x[N];
    struct series_change *c;
    size_t n_alarms = 0;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    gsl_rng_set(r, 7);
    for (size_t k = 0; k < 60; k++) {
        for (size_t i = 0; i < N; i++)
            x[i] = (i ? 0.5 * x[i - 1] : 0) + gsl_ran_ugaussian(r);
        n_alarms += series_scan(&c, x, N, &lower, &a) > 0 && c[0].verdict == SERIES_WORSE;
    }
    assert_true(n_alarms <= 2);
    gsl_rng_free(r);
    arena_free(&a);
}

/* Neighbours correlated by 0.75, about a mean that rises by a tenth of their deviation from point to point: told in each of 20 histories. */
static void a_drift_is_not_taken_for_correlation(void **state)
{
    struct arena a = {0};
    double x[N];
    struct series_change *c;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    gsl_rng_set(r, 3);
    for (size_t k = 0; k < 20; k++) {
        double noise = 0;
        for (size_t i = 0; i < N; i++) {
            noise = 0.75 * noise + sqrt(1 - 0.75 * 0.75) * gsl_ran_ugaussian(r);
            x[i] = noise + 0.1 * (double)i;
        }
        assert_true(series_scan(&c, x, N, &lower, &a) > 0);
        assert_int_equal(c[0].verdict, SERIES_WORSE);
    }
    gsl_rng_free(r);
    arena_free(&a);
}

/* Noise around 10: independent; correlated from point to point, up to a random walk; integers of tenths, many of
 * which are equal; or with a long tail on one side. */
enum noise { PLAIN, PULLED, WHOLE, TAILED, WALK, N_NOISES };
static const char *const noise_names[N_NOISES] = { "plain", "pulled", "whole", "tailed", "walk" };

static void draw_noise(double *x, size_t n, enum noise noise, unsigned long seed)
{
    double before = 0;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(r, seed);
    for (size_t i = 0; i < n; i++) {
        double d = gsl_ran_ugaussian(r);
        before = (noise == WALK ? 1 : noise == PULLED ? 0.1 * (double)(seed % 10) : 0) * before + d;
        x[i] = 10 + 0.1 * (noise == WHOLE ? round(before) : noise == TAILED ? exp(before) : before);
    }
    gsl_rng_free(r);
}

/* The verdict when the newest m points are a step higher. */
static struct series_change after_step(const double *x, size_t n, size_t m, double step, const struct series_rule *rule, struct arena *a)
{
    double stepped[160];
    for (size_t i = 0; i < n; i++)
        stepped[i] = x[i] + (i >= n - m ? step : 0);
    return series_judge(stepped, n, rule, a);
}

/* The smallest step that raises an alarm, to a ten-thousandth of the level, for series long and short, and few and
 * many new points. */
static void the_smallest_steps_that_are_told(void **state)
{
    static const struct { size_t n, m; double sign; const struct series_rule *rule; } cases[] = {
        { 43, 9, 1, &lower }, { 45, 5, -1, &lower }, { 52, 11, 1, &unknown }, { 81, 5, -1, &unknown }, { 105, 5, 1, &higher },
        { 118, 13, -1, &higher }, { 127, 24, 1, &lower }, { 139, 38, -1, &lower }, { 158, 7, 1, &unknown },
    };
    struct arena a = {0};
    char *text;
    size_t n_bytes;
    FILE *f = open_memstream(&text, &n_bytes);
    (void)state;
    for (size_t k = 0; k < N_NOISES * sizeof cases / sizeof *cases; k++) {
        const size_t n = cases[k / N_NOISES].n, m = cases[k / N_NOISES].m;
        double x[160], least = 0, most = 4;
        draw_noise(x, n, k % N_NOISES, 41 + k);
        while (most - least > 1e-6) {
            double step = (least + most) / 2;
            *(after_step(x, n, m, cases[k / N_NOISES].sign * step, cases[k / N_NOISES].rule, &a).verdict == SERIES_STEADY ? &least : &most) = step;
        }
        struct series_change c = after_step(x, n, m, cases[k / N_NOISES].sign * most, cases[k / N_NOISES].rule, &a);
        fprintf(f, "%-6s %3zu points, %2zu new: %+.4f: %s from %zu, found at %zu, %.4f to %.4f, correlation %.4f\n", noise_names[k % N_NOISES], n, m,
                cases[k / N_NOISES].sign * most, series_verdict_names[c.verdict], c.from, c.found, c.before, c.after, c.correlation);
    }
    fclose(f);
    assert_golden(text, "tests/golden/series_steps.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_smallest_steps_that_are_told), cmocka_unit_test(one_change_after_another),
    cmocka_unit_test(a_step_is_found_and_told_by_its_direction), cmocka_unit_test(a_series_without_noise_changes_at_its_third_new_point),
    cmocka_unit_test(a_change_is_dated_exactly), cmocka_unit_test(turns_do_not_alarm), cmocka_unit_test(rare_counts_need_an_order_that_is_rare),
    cmocka_unit_test(few_points_tell_a_large_change), cmocka_unit_test(changes_at_the_beginning_are_told), cmocka_unit_test(units_do_not_matter),
    cmocka_unit_test(outliers_do_not_alarm), cmocka_unit_test(correlated_noise_is_taken_for_what_it_is),
    cmocka_unit_test(a_drift_is_not_taken_for_correlation),
};
TAP_MAIN(tests)
