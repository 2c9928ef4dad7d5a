/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_gain.c - ratios of published runs, what a search's gain is worth, and settings that no published run had, by hand.
 */
#include "tests/study/three_groups.h"
#include "system-model/output/output.h"
#include "results/study/gain.h"
#include "results/study/trust_internal.h"

/* A run of a program by its IPUs, published and simulated rate; the left-out error is that of the rates. */
static struct reference run_of(const char *group, const char *ipus, double published, double simulated)
{
    return (struct reference){ .configuration = ipus, .recipe = "mlperf-v2.0-closed-bow-pod64-resnet50", .group = group, .origin = group, .first_sight = NAN, .role = FIGURE_VALIDATE,
                               .at = with(BY_IPUS, ipus), .published = published, .simulated = simulated, .left_out = log(simulated / published) };
}

/* Rates of one IPU in the first group: 70, 65, 60 published; 70, 60, 63 simulated. So 70 is before both in both, and the others are swapped.
 * The second group has one pair: 50 and 50.1, too near to be told apart. Fp32 makes no pair with fp16, nor does a context row. */
static void pairs_by_hand(void **state)
{
    (void)state;
    struct reference all[] = { run_of("one", "16", 1120, 1120), run_of("one", "32", 2080, 1920), run_of("two", "4", 200, 210), run_of("one", "64", 3840, 4032),
                               run_of("two", "8", 400.8, 400.8), run_of("two", "8", 500, 700), run_of("two", "8", 500, 900), run_of("three", "8", 500, 900) };
    const struct references r = { .items = all, .n = 8 };
    struct ratio_test t;
    all[5].at.name[BY_COMPUTE] = "fp32";
    all[6].role = FIGURE_CONTEXT;
    ratio_test(&t, &r, &(struct spread){ .base = 0.02 }, &a);
    const double e01 = log(65.0 / 60), e03 = log(63.0 / 60), e13 = e01 + e03, two = log(1.05);
    assert_int_equal(t.n_groups, 2);
    assert_true(t.rows[0].pairs == 3 && t.rows[0].told_apart == 3 && t.rows[0].right == 2);
    assert_near(t.rows[0].mean_error, (expm1(e01) + expm1(e03) + expm1(e13)) / 3, 1e-12);
    assert_near(t.rows[0].largest_error, expm1(e13), 1e-12);
    assert_true(t.rows[1].pairs == 1 && t.rows[1].told_apart == 0 && t.rows[1].right == 0);
    assert_true(t.rows[2].pairs == 4 && t.rows[2].told_apart == 3 && t.rows[2].right == 2);
    assert_near(t.rows[2].mean_error, (t.rows[0].mean_error + expm1(two)) / 2, 1e-12);
    /* In order: 0.0488 (weights 1/3 and 1), 0.0800 (1/3), 0.1288 (1/3): nine tenths of 2 are reached by the last, over the wider spread of its two runs. */
    const struct spread s = { .base = 0.02 };
    const struct question q1 = question_of(&r, &all[1], false, NULL, &a), q3 = question_of(&r, &all[3], false, NULL, &a);
    assert_near(t.nine_in_ten, e13 / fmax(spread_at(&s, &q1.near, &all[1].at), spread_at(&s, &q3.near, &all[3].at)), 1e-9);
    arena_free(&a);
}

/* Nine in ten are within 2.5 x 0.04 = 0.1. The deviation is 0.1 / 1.6449 = 0.0608, so 1000, 990 and 960 are rivals, and 900, which is 0.105 off, is none. The expected
 * largest of three is the quantile of 2.625 / 3.25, 0.8694. */
static void gain_by_hand(void **state)
{
    (void)state;
    const struct ratio_test t = { .nine_in_ten = 2.5 }, none = { .nine_in_ten = NAN };
    const double values[] = { 960, 1000, 900, 990 };
    const double deviation = 0.1 / 1.6448536269514722, shift = deviation / sqrt(2) * 0.86942377;
    struct gain g = gain_of(&t, 1.2, 0.04, values, 4, 1000);
    assert_int_equal(g.n_rivals, 3);
    assert_near(g.ratio, 1.2, 0);
    assert_near(g.expected, 1.2 * exp(-shift), 1e-8);
    assert_near(g.low, 1.2 * exp(-shift - 0.1), 1e-8);
    assert_near(g.high, 1.2 * exp(-shift + 0.1), 1e-8);
    struct gain guess = gain_of(&t, 1.2, 0.08, values, 4, 1000);               /* twice as wide: the fourth is a rival too */
    assert_int_equal(guess.n_rivals, 4);
    assert_near(log(guess.high / guess.low), 0.4, 1e-12);
    struct gain alone = gain_of(&t, 1.2, 0.04, values + 1, 1, 1000);
    assert_true(alone.n_rivals == 1 && alone.expected == 1.2);
    assert_true(isnan(gain_of(&none, 1.2, 0.04, values, 4, 1000).low));
}

/* The recipe has micro-batch 20, recomputes by checkpoints and has no I/O tiles. */
static void novel_settings_by_hand(void **state)
{
    (void)state;
    struct reference all[] = { run_of("one", "64", 1, 1) };
    const struct references r = { .items = all, .n = 1 };
    const char *const settings[] = { "parallel.micro_batch=20", "parallel.micro_batch=24", "parallel.layers_per_ipu=1,2", "parallel.recompute=none", "parallel.rts=no",
                                     "parallel.io_tiles=32" };
    struct novel_settings novel;
    settings_never_published(&novel, settings, 6, &r, &one, paths.recipes_dir, &a);
    assert_int_equal(novel.n_runs, 1);
    assert_int_equal(novel.n, 3);
    assert_string_equal(novel.settings[0], "parallel.micro_batch=24");
    assert_string_equal(novel.settings[1], "parallel.recompute=none");
    assert_string_equal(novel.settings[2], "parallel.io_tiles=32");
    const struct properties other = with(BY_FRAMEWORK, "PyTorch");
    settings_never_published(&novel, settings, 6, &r, &other, paths.recipes_dir, &a);
    assert_true(novel.n_runs == 0 && novel.n == 5);                          /* nothing is published that ran in that framework */
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pairs_by_hand), cmocka_unit_test(gain_by_hand), cmocka_unit_test(novel_settings_by_hand),
};

TAP_MAIN(tests)
