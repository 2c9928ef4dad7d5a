/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_series.c - changes of level in measured series: cases by hand, laws, and the rate of false alarms on drawn
 * noise. */
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

/* Without noise: 100 times 7, then 8. One of the C(105, 5) choices of the new points is as extreme: 1e-8. Four
 * points would have 2e-7, but at least five are required. */
static void a_series_without_noise_changes_at_its_fifth_new_point(void **state)
{
    struct arena a = {0};
    double x[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = i < 100 ? 7 : 8;
    assert_int_equal(series_judge(x, 100, &unknown, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 104, &unknown, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 105, &unknown, &a).verdict, SERIES_CHANGED);
    arena_free(&a);
}

/* 100 times 7, then 8 for longer and longer. The change is dated exactly, or as near as twice the largest number of
 * new points, 20, allows. */
static void a_change_is_dated_within_two_windows(void **state)
{
    static const struct { size_t n_new, from; } cases[] = {
        { 5, 100 }, { 6, 100 }, { 9, 100 }, { 10, 100 }, { 23, 100 }, { 30, 100 },
    };
    struct arena a = {0};
    double x[150];
    (void)state;
    for (size_t i = 0; i < 150; i++)
        x[i] = i < 100 ? 7 : 8;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct series_change c = series_judge(x, 100 + cases[k].n_new, &lower, &a);
        assert_int_equal(c.verdict, SERIES_WORSE);
        assert_int_equal(c.from, cases[k].from);
        assert_int_equal(c.found, 99 + cases[k].n_new);
        assert_true(c.before == 7 && c.after == 8);
    }
    arena_free(&a);
}

/* 7 for 100 points, 8 for 60, 9 for 50 and 8 again: each change is reported at its fifth new point, and dated from
 * the start of the level before. */
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
        assert_true(c[i].found >= want[i].from + 4 && c[i].found < want[i].from + 10);
        assert_true(c[i].before == want[i].before && c[i].after == want[i].after && c[i].verdict == want[i].verdict);
    }
    arena_free(&a);
}

/* 100 points, h of them 9, some 8, the others 6 and 7 in turn, so that no correlation is likely, then five of 8: in 5 h of the
 * 500 pairs the new point is lower, and each 8 adds a half of 5. The number of the 96,560,646 choices of five of 105 with no
 * more such pairs is the number of partitions of up to that number into at most five parts: 2602 for 25, 4049 for 28, 5326 for
 * 30, 9952 for 35. The level is 1.1e-4 or 10622 choices on one side, and half of that on each side where both count. */
static void ranks_are_counted(void **state)
{
    static const struct { size_t n_higher, n_equal; const struct series_rule *rule; enum series_verdict verdict; } cases[] = {
        { 7, 0, &lower, SERIES_WORSE }, { 8, 0, &lower, SERIES_STEADY }, { 5, 0, &unknown, SERIES_CHANGED }, { 6, 0, &unknown, SERIES_STEADY },
        { 5, 4, &lower, SERIES_WORSE }, { 5, 6, &lower, SERIES_STEADY }, { 4, 3, &unknown, SERIES_CHANGED }, { 4, 4, &unknown, SERIES_STEADY },
    };
    struct arena a = {0};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double x[105];
        for (size_t i = 0; i < 105; i++)
            x[i] = i >= 100 || (i % 14 == 10 && i / 14 < cases[k].n_equal) ? 8 : i % 12 == 3 && i / 12 < cases[k].n_higher ? 9 : i % 2 ? 7 : 6;
        assert_int_equal(series_judge(x, 105, cases[k].rule, &a).verdict, cases[k].verdict);
    }
    arena_free(&a);
}

/* Counts the choices of the newest 20 of 120 integers from 0 to 200 whose sum is as large. */
static double share_as_large(const double *x)
{
    enum { DRAWN = 20, POINTS = 120, MOST_SUM = DRAWN * 200 };
    static double ways[DRAWN + 1][MOST_SUM + 1];
    double sum = 0, all = 0, large = 0;
    memset(ways, 0, sizeof ways);
    ways[0][0] = 1;
    for (size_t i = 0; i < POINTS; i++)
        for (size_t n = DRAWN; n > 0; n--)
            for (size_t k = (size_t)x[i]; k <= MOST_SUM; k++)
                ways[n][k] += ways[n - 1][k - (size_t)x[i]];
    for (size_t i = POINTS - DRAWN; i < POINTS; i++)
        sum += x[i];
    for (size_t k = 0; k <= MOST_SUM; k++) {
        all += ways[DRAWN][k];
        large += (double)k >= sum ? ways[DRAWN][k] : 0;
    }
    return large / all;
}

/* 100 points that alternate evenly between 50 and 150, and 20 of the same spread, which rise by 1 one after the
 * other. The level is 2e-4 for five points and a quarter of that for 20. The first sum that raises an alarm is at
 * that level, within one step (3 % here) and the lattice. */
static void means_are_judged_at_their_level(void **state)
{
    struct arena a = {0};
    double x[120];
    size_t n_up = 0;
    (void)state;
    for (size_t i = 0; i < 120; i++)
        x[i] = 100 + (i % 2 ? 1 : -1) * (i < 100 ? 1 + (double)(i / 2) : 2.5 * (double)(i - i % 2 - 100));
    while (series_judge(x, 120, &lower, &a).verdict == SERIES_STEADY && n_up < 800)
        x[100 + n_up++ % 20]++;
    assert_true(share_as_large(x) < 1.01 * 5e-5);
    x[100 + (n_up - 1) % 20]--;
    assert_true(share_as_large(x) > 0.99 * 5e-5);
    arena_free(&a);
}

/* The same points with the newest one far off; how many steps the others take towards it until there is an alarm. */
static size_t steps_until_told(double off, double sign)
{
    struct arena a = {0};
    double x[120];
    size_t n_steps = 0;
    for (size_t i = 0; i < 120; i++)
        x[i] = 100 + (i % 2 ? 1 : -1) * (i < 100 ? 1 + (double)(i / 2) : 2.5 * (double)(i - i % 2 - 100));
    x[113] = 100 + sign * off;
    while (series_judge(x, 120, sign > 0 ? &lower : &higher, &a).verdict == SERIES_STEADY && n_steps < 2000)
        x[100 + n_steps++ % 13] += sign;
    arena_free(&a);
    return n_steps;
}

/* 84 of 100 even values from 50 to 150 are below 134, 16 are below 66. A value counts up to three times as far from
 * the middle, 202 or -2, and slightly more as rising values move the quantile. */
static void outliers_count_up_to_three_deviations(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        size_t far = steps_until_told(120, sign), farther = steps_until_told(5000, sign), less = steps_until_told(80, sign), near = steps_until_told(60, sign);
        assert_int_equal(far, farther);
        assert_true(near < 2000 && near > less && less > far);
    }
}

/* One of the points before is as high as the newest five: after 30 points 7 of 324,632 choices are no lower, after 40 points 7 of
 * 1,221,759. The level falls with the square of the share of 100 points: 1.1e-4 becomes 9.9e-6 and 1.8e-5; 2.2e-5 and 5.7e-6 are
 * needed, and up to three times that for the correlations that are likely. */
static void few_points_before_are_trusted_less(void **state)
{
    struct arena a = {0};
    double x[45];
    (void)state;
    for (size_t i = 0; i < 45; i++)
        x[i] = i < 40 && i != 20 ? 7 : 8;
    assert_int_equal(series_judge(x + 10, 35, &lower, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 45, &lower, &a).verdict, SERIES_WORSE);
    arena_free(&a);
}

/* Neighbours that alternate do not make the test less strict: five of the upper half in a row come by chance once in
 * 28 times. */
static void turns_do_not_alarm(void **state)
{
    struct arena a = {0};
    double x[105];
    (void)state;
    for (size_t i = 0; i < 105; i++)
        x[i] = (i >= 100 || i % 2 ? 7 : 6) + 0.01 * (double)(i * 7 % 10);
    assert_int_equal(series_judge(x, 105, &lower, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 105, &higher, &a).verdict, SERIES_STEADY);
    for (size_t i = 0; i < 105; i++)    /* two values alone: 55 of 105 are the largest, five of them fall together once in 28 times */
        x[i] = i >= 100 || i % 2 ? 7 : 6;
    assert_int_equal(series_judge(x, 105, &lower, &a).verdict, SERIES_STEADY);
    assert_int_equal(series_judge(x, 105, &higher, &a).verdict, SERIES_STEADY);
    arena_free(&a);
}

static void short_series_are_not_judged(void **state)
{
    struct arena a = {0};
    double x[N];
    (void)state;
    draw(x, N, 2);
    assert_int_equal(series_judge(x, 9, &lower, &a).verdict, SERIES_SHORT);
    assert_int_equal(series_judge(x, 10, &lower, &a).verdict, SERIES_STEADY);
    arena_free(&a);
}

/* The five points before are 2 apart. The newest five are told when they are more than 2 above the highest of them; of the 252 orders of ten
 * points one has the newest five on top, and one below. */
static void few_points_tell_a_large_change(void **state)
{
    static const struct { double lowest; struct series_rule rule; enum series_verdict verdict; double chance; } cases[] = {
        { 17.25, { .better = -1 }, SERIES_WORSE, 1 / 252.0 }, { 17.25, { .better = 1 }, SERIES_BETTER, 1 / 252.0 },
        { 17.25, { .better = 0 }, SERIES_CHANGED, 2 / 252.0 }, { 17, { .better = -1 }, SERIES_STEADY, 0 },
        { 17.25, { .better = -1, .least_change = 0.35 }, SERIES_STEADY, 0 }, { 17.25, { .better = -1, .least_change = 0.3 }, SERIES_WORSE, 1 / 252.0 },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x[10] = { 13, 15, 14, 13.5, 14.5, cases[i].lowest, 19, 18.75, 30, 18.5 };
        struct series_change c = series_judge(x, 10, &cases[i].rule, &a);
        assert_int_equal(c.verdict, cases[i].verdict);
        assert_near(c.chance, cases[i].chance, 1e-12);
        if (c.verdict != SERIES_STEADY)
            assert_true(c.from == 5 && c.found == 9 && c.before == 14 && c.after == 18.75);
        for (size_t k = 0; k < 10; k++)
            x[k] = -x[k];
        struct series_rule mirrored = cases[i].rule;
        mirrored.better = -mirrored.better;
        assert_int_equal(series_judge(x, 10, &mirrored, &a).verdict, cases[i].verdict);
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

/* Neighbours with a correlation of 0.5 make long excursions: 60 histories of 120 points raise at most two alarms.
 * Treated as independent, the same noise raises alarms in a third of them. */
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
    cmocka_unit_test(a_step_is_found_and_told_by_its_direction), cmocka_unit_test(a_series_without_noise_changes_at_its_fifth_new_point),
    cmocka_unit_test(ranks_are_counted), cmocka_unit_test(a_change_is_dated_within_two_windows), cmocka_unit_test(few_points_before_are_trusted_less), cmocka_unit_test(turns_do_not_alarm),
    cmocka_unit_test(means_are_judged_at_their_level), cmocka_unit_test(outliers_count_up_to_three_deviations), cmocka_unit_test(short_series_are_not_judged), cmocka_unit_test(few_points_tell_a_large_change), cmocka_unit_test(units_do_not_matter), cmocka_unit_test(outliers_do_not_alarm),
    cmocka_unit_test(correlated_noise_is_taken_for_what_it_is),
};
TAP_MAIN(tests)
