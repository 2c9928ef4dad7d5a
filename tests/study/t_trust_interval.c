/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_trust_interval.c - distances and intervals by hand, and how often intervals hold. */
#include "tests/study/three_groups.h"

#include <jansson.h>
#include <stdlib.h>

static double distance_with(size_t at, const char *value)
{
    struct properties p = with(at, value);
    return properties_apart(&one, &p).distance;
}

static void distances_by_hand(void **state)
{
    (void)state;
    assert_near(properties_apart(&one, &one).distance, 0, 0);
    assert_near(distance_with(BY_FRAMEWORK, "POPart"), 0, 0);
    assert_near(distance_with(BY_IPUS, "128"), 0.75, 1e-12);            /* three doublings, a quarter each */
    assert_near(distance_with(BY_SEQUENCE, "128"), 1, 1e-12);           /* two, a half each */
    assert_near(distance_with(BY_SHARES, "0.72"), 0.4, 1e-12);          /* a fifth of the step, twice */
    assert_near(distance_with(BY_SEQUENCE, "0"), 0.5, 1e-12);           /* a count against none is one doubling */
    struct properties single = with(BY_SEQUENCE, "1");                  /* from 1 it is nine doublings to 512, there and back */
    assert_near(properties_apart(&single, &one).distance, 4.5, 1e-12);
    assert_near(properties_apart(&one, &single).distance, 4.5, 1e-12);
}

/* Each property alone: another name, twice the count, or a share that is a hundredth more. */
static void weights_of_all_properties(void **state)
{
    static const double weights[N_PROPERTIES] = { 4, 4, 1, 1, 1, 1, 1, 0.25, 0.5, 0.25, 0.25, 0.5, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02 };
    (void)state;
    for (size_t i = 0; i < N_PROPERTIES; i++)
        assert_near(distance_with(i, i < BY_IPUS ? "another" : arena_printf(&a, "%g", i < BY_SHARES ? 2 * one.number[i] : one.number[i] + 0.01)), weights[i], 1e-12);
    arena_free(&a);
}

/* Runs one after the other, each of which differs from the one before in two properties; and two long names that begin alike. */
static void distances_follow_what_changes(void **state)
{
    static const char begin[] = "a name of more than forty-eight characters begins so";
    struct distances d = {0};
    (void)state;
    make_three();
    for (size_t i = 0; i < 2 * (size_t)N_PROPERTIES; i++) {
        size_t property = i % N_PROPERTIES;
        struct properties at = with(property, property < BY_IPUS ? arena_printf(&a, "%s %zu", i < N_PROPERTIES ? "another" : begin, i / 2) : "0.5");
        distances_find(&d, &three_groups, &at, &a);
        for (size_t k = 0; k < three_groups.n; k++) {
            const struct apart fresh = properties_apart(&at, &three[k].at);
            assert_true(d.items[k].apart.distance == fresh.distance && d.items[k].apart.unlike == fresh.unlike);
            assert_true(distance_is_of_kind(&d.items[k]) == (property > BY_MODE));
        }
    }
    struct properties long_name = with(BY_FRAMEWORK, arena_printf(&a, "%s, and ends so", begin)), other = with(BY_FRAMEWORK, arena_printf(&a, "%s, or not", begin));
    const struct references one_long = { .items = &(struct reference){ .at = long_name }, .n = 1 };
    struct distances of_long = {0};
    distances_find(&of_long, &one_long, &long_name, &a);
    assert_near(of_long.items[0].apart.distance, 0, 0);
    distances_find(&of_long, &one_long, &other, &a);
    assert_near(of_long.items[0].apart.distance, 1, 0);
    arena_free(&a);
}

/* ---- intervals ------------------------------------------------------------------------------------ */

/* The mean of weighted errors is off itself: sqrt(1 + 1 / sum of the weights). */
static double expected(double sum, double weights)
{
    return sum / weights * sqrt(1 + 1 / weights);
}

static void intervals_by_hand(void **state)
{
    const double k = exp(-1);
    (void)state;
    make_three();
    struct spread s = spread_of(&three_groups, &a);
    assert_int_equal(s.n_errors, 3);
    assert_near(s.mean_error, 0.05, 1e-12);
    assert_near(s.quantile, 0.09 / expected(k * 0.06 + 0.05, 2 * k + 1), 1e-12);        /* ceil(0.9 x 4) = 4 of 3: the largest */
    /* At the first reference: 0.02 with weight 1, the others with e^-1 each, and their mean with weight 1. */
    assert_near(spread_half_width(&s, &three_groups, &one), s.quantile * expected(0.02 + k * 0.13 + 0.05, 2 + 2 * k), 1e-12);
    const struct references others = references_without_group(&three_groups, "PopART", &a);
    assert_int_equal(others.n, 2);
    assert_string_equal(others.items[0].group, "PyTorch");
    assert_near(spread_half_width(&s, &others, &one), s.quantile * expected(k * 0.13 + 0.05, 2 * k + 1), 1e-12);
    arena_free(&a);
}

static struct reference at_ipus(const char *ipus, const char *group, double left_out)
{
    return (struct reference){ .configuration = ipus, .group = group, .role = FIGURE_VALIDATE, .at = with(BY_IPUS, ipus), .left_out = left_out };
}

/* Two of a group on 16 and 32 IPUs, others on 128 and 1024: a quarter per doubling. The third has the largest ratio:
 * 0.06 at 0.5, and 0.02 and 0.01 at 0.75. A context row between them, far off, shapes nothing. */
static void distances_differ(void **state)
{
    (void)state;
    struct reference five[] = { at_ipus("16", "p", 0.02), at_ipus("32", "p", -0.06), at_ipus("128", "q", 0.13), at_ipus("1024", "r", 0.01), at_ipus("128", "s", 9) };
    const struct references all = { .items = five, .n = 5 }, p_alone = { .items = five, .n = 2 };
    const double mean = 0.22 / 4, v = exp(-0.25), u = exp(-0.5), t = exp(-0.75), k = exp(-1);
    five[4].role = FIGURE_CONTEXT;
    struct spread s = spread_of(&all, &a);
    assert_int_equal(s.n_errors, 4);
    assert_near(s.mean_error, mean, 1e-12);
    assert_near(s.quantile, 0.13 / expected(0.06 * u + 0.03 * t + mean, u + 2 * t + 1), 1e-12);
    /* on 256: 0.25 and 0.5 from the last two, 0.75 and 1 from the others */
    struct properties p = with(BY_IPUS, "256");
    assert_near(spread_half_width(&s, &all, &p), s.quantile * expected(0.13 * v + 0.01 * u + 0.06 * t + 0.02 * k + mean, v + u + t + k + 1), 1e-12);
    /* one group alone gives no interval */
    s = spread_of(&p_alone, &a);
    assert_int_equal(s.n_errors, 0);
    assert_near(spread_half_width(&s, &p_alone, &p), 0, 0);
    arena_free(&a);
}

/* At a reference without error, and far from one of 0.4: the mean of both counts as much as the first. */
static void no_run_is_without_error(void **state)
{
    (void)state;
    struct reference two[] = { at_ipus("16", "p", 0), at_ipus("65536", "q", -0.4) };
    const struct references both = { .items = two, .n = 2 };
    struct spread s = spread_of(&both, &a);
    const double k = exp(-3);
    assert_near(s.quantile, 0.4 / expected(0.2, k + 1), 1e-12);
    assert_near(spread_half_width(&s, &both, &two[0].at), s.quantile * expected(0.4 * k + 0.2, 2 + k), 1e-12);
    arena_free(&a);
}

/* Two steps, and one that is 0.4 and 0.5 unlike them: the nearest run's error speaks for six tenths of it. At the most a
 * hundredth is alike. */
static void what_is_unlike_is_wider(void **state)
{
    (void)state;
    struct reference two[] = { at_ipus("16", "p", 0.02), at_ipus("16", "q", -0.04) };
    const struct references both = { .items = two, .n = 2 };
    const struct spread s = { .mean_error = 0.03, .quantile = 3, .n_errors = 2 };
    struct properties far = one, other = one;
    two[0].at.number[BY_SHARES] = 0.62, two[0].at.number[BY_SHARES + 6] = -0.06;
    far.number[BY_SHARES] = 0.12, far.number[BY_SHARES + 6] = 0.44;
    assert_near(properties_apart(&far, &two[1].at).unlike, 0.4, 1e-12);
    assert_near(properties_apart(&far, &two[1].at).distance, 1.6, 1e-12);
    const double k = exp(-1.6), t = exp(-2);
    assert_near(spread_half_width(&s, &both, &far), 3 * expected(0.04 * k + 0.02 * t + 0.03, 1 + k + t) / 0.6, 1e-12);
    for (size_t i = BY_SHARES; i < N_PROPERTIES; i++)
        other.number[i] = 0;
    other.number[BY_SHARES + 5] = 1;
    two[1].at = two[0].at = with(BY_SHARES + 5, "0");
    const double u = properties_apart(&other, &two[0].at).unlike, w = exp(-4 * u);
    assert_true(u > 0.99);
    assert_near(spread_half_width(&s, &both, &other), 3 * expected(0.06 * w + 0.03, 1 + 2 * w) / 0.01, 1e-9);
    arena_free(&a);
}

/* Twenty groups at one place with errors of 1 to 20 %: each is judged by the others and the mean of all, and ceil(0.9 x 21) =
 * 19 of 20 are inside. */
static void nine_in_ten_of_twenty(void **state)
{
    (void)state;
    struct reference twenty[20];
    for (size_t i = 0; i < 20; i++)
        twenty[i] = at_ipus("16", arena_printf(&a, "group %zu", i), 0.01 * (double)(1 + i * 7 % 20));
    const struct references all = { .items = twenty, .n = 20 };
    assert_near(spread_of(&all, &a).quantile, 0.19 / expected(2.10 - 0.19 + 0.105, 20), 1e-9);
    arena_free(&a);
}

/* The third is left out: the others give 0.02 and 0.04 at distance 1, too narrow for its 0.09. */
static void coverage_by_hand(void **state)
{
    const double k = exp(-1);
    struct interval_coverage c;
    (void)state;
    make_three();
    interval_coverage(&c, &three_groups, &a);
    const struct interval_count *all = &c.rows[3], *framework = &c.rows[5], *alone = &c.rows[7];
    assert_int_equal(c.n_groups, 3);
    assert_int_equal(all->configurations, 3);
    assert_int_equal(c.rows[0].inside, 1);
    assert_int_equal(c.rows[2].inside, 0);
    assert_int_equal(all->inside, 2);
    assert_near(all->share, 2 / 3.0, 1e-12);
    const double quantile = 0.04 / expected(k * 0.02 + 0.03, k + 1), far = quantile * expected(k * 0.06 + 0.03, 2 * k + 1);
    assert_near(c.rows[2].mean_half_width, exp(far) - 1, 1e-12);
    assert_near(all->sum_half_widths, c.rows[0].sum_half_widths + c.rows[1].sum_half_widths + far, 1e-12);
    assert_near(all->mean_half_width, exp(all->sum_half_widths / 3) - 1, 1e-12);
    /* Each is its own group, so leaving it out alone leaves out the same. All are one family; each has a framework. */
    assert_true(alone->configurations == 3 && alone->inside == 2 && framework->configurations == 3 && framework->inside == 2);
    assert_near(alone->mean_half_width, all->mean_half_width, 1e-12);
    assert_near(framework->mean_half_width, all->mean_half_width, 1e-12);
    assert_true(c.rows[4].configurations == 0 && c.rows[6].configurations == 0);
    /* A second run of the third's group, off by 0.03, is its neighbour where each is left out alone. */
    struct reference four[] = { three[0], three[1], three[2], three[2] };
    four[3].configuration = "again", four[3].left_out = 0.03;
    interval_coverage(&c, &(struct references){ .items = four, .n = 4 }, &a);
    assert_int_equal(c.rows[2].configurations, 2);
    assert_near(c.rows[2].sum_half_widths, 2 * far, 1e-12);
    assert_near(c.rows[7].sum_half_widths, c.rows[0].sum_half_widths + c.rows[1].sum_half_widths
                + quantile * (expected(k * 0.06 + 0.03 + 0.03, 2 * k + 2) + expected(k * 0.06 + 0.09 + 0.03, 2 * k + 2)), 1e-12);
    /* A run that infers is counted apart from trainings of a family that has fewer than ten runs. */
    const struct interval_count *kinds = &c.rows[8];
    assert_true(kinds[0].configurations == 0 && kinds[1].configurations == 4 && kinds[2].configurations == 0);
    four[3].at.name[BY_MODE] = "infer";
    interval_coverage(&c, &(struct references){ .items = four, .n = 4 }, &a);
    kinds = &c.rows[8];
    assert_true(kinds[0].configurations == 0 && kinds[1].configurations == 3 && kinds[2].configurations == 1);
    assert_true(kinds[3].configurations == 0 && kinds[4].configurations == 3 && kinds[5].configurations == 1);
    assert_near(kinds[1].sum_half_widths + kinds[2].sum_half_widths, c.rows[3].sum_half_widths, 1e-12);
    assert_near(kinds[4].sum_half_widths + kinds[5].sum_half_widths, c.rows[7].sum_half_widths, 1e-12);
    /* A single group leaves nothing to make an interval from. */
    interval_coverage(&c, &(struct references){ .items = three, .n = 1 }, &a);
    assert_int_equal(c.n_groups, 1);
    assert_true(c.rows[0].configurations == 0 && c.rows[1].configurations == 0);
    arena_free(&a);
}

static void coverage_as_text(void **state)
{
    struct interval_count rows[] = { { "BERT on bow", 8, 6, 0.75, 0.25, 0 }, { "all", 40, 37, 0.925, 0.5, 0 }, { "family", 4, 1, 0.25, 0, 0 },
                                     { .group = "framework" }, { .group = "chip" }, { .group = "near" },
                                     { "large", 3, 2, 0.5, 0, 0 }, { .group = "rare" }, { .group = "infer" }, { .group = "large, near" },
                                     { .group = "rare, near" }, { .group = "infer, near" } };
    const struct interval_coverage c = { rows, 1 };
    struct table t = interval_coverage_table(&c);
    char *text;
    (void)state;
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(text, "group left out  runs  inside   share  half width\n"
                              "BERT on bow        8       6  75.0 %      25.0 %\n"
                              "all               40      37  92.5 %      50.0 %\n"
                              "family             4       1  25.0 %       0.0 %\n"
                              "framework          0       0   0.0 %       0.0 %\n"
                              "chip               0       0   0.0 %       0.0 %\n"
                              "near               0       0   0.0 %       0.0 %\n"
                              "large              3       2  50.0 %       0.0 %\n"
                              "rare               0       0   0.0 %       0.0 %\n"
                              "infer              0       0   0.0 %       0.0 %\n"
                              "large, near        0       0   0.0 %       0.0 %\n"
                              "rare, near         0       0   0.0 %       0.0 %\n"
                              "infer, near        0       0   0.0 %       0.0 %\n");
    free(text);
    json_t *json = interval_coverage_json(&c);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"group\":\"all\",\"configurations\":40,\"inside\":37,\"mean_half_width\":0.5,\"level\":0.9,\"configuration_left_out\":"
                              "{\"group\":\"near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},\"wider\":[{\"group\":\"family\",\"configurations\":4,\"inside\":1,\"mean_half_width\":0.0},"
                              "{\"group\":\"framework\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"chip\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0}],\"kinds\":["
                              "{\"group\":\"large\",\"configurations\":3,\"inside\":2,\"mean_half_width\":0.0},"
                              "{\"group\":\"rare\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"infer\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"large, near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"rare, near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"infer, near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0}],\"groups\":["
                              "{\"group\":\"BERT on bow\",\"configurations\":8,\"inside\":6,\"mean_half_width\":0.25}]}");
    free(text);
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distances_by_hand), cmocka_unit_test(distances_follow_what_changes), cmocka_unit_test(weights_of_all_properties), cmocka_unit_test(intervals_by_hand),
    cmocka_unit_test(distances_differ), cmocka_unit_test(no_run_is_without_error), cmocka_unit_test(what_is_unlike_is_wider),
    cmocka_unit_test(nine_in_ten_of_twenty), cmocka_unit_test(coverage_by_hand), cmocka_unit_test(coverage_as_text),
};

TAP_MAIN(tests)
