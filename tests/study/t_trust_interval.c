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
    properties_prepare(&one);
    assert_string_equal(properties[4].name, "framework");
    assert_string_equal(properties[11].name, "sequence_length");
    assert_near(properties_apart(&one, &one).distance, 0, 0);
    assert_near(distance_with(1, "infer"), 4, 0);
    assert_near(distance_with(4, "PyTorch"), 1, 0);
    assert_near(distance_with(7, "128"), 0.75, 1e-12);          /* three doublings, a quarter each */
    assert_near(distance_with(11, "128"), 1, 1e-12);            /* two, a half each */
    assert_near(distance_with(12, "0.72"), 0.4, 1e-12);         /* a fifth of the step, twice */
    assert_near(distance_with(18, "0.01"), 0.06, 1e-12);
    assert_near(distance_with(11, "0"), 0.5, 1e-12);            /* a count against none is one doubling */
    assert_near(distance_with(11, "1"), 4.5, 1e-12);            /* nine doublings from 1 to 512, and as far from there */
    struct properties single = with(11, "1");
    assert_near(properties_apart(&single, &one).distance, 4.5, 1e-12);
}

/* Each property alone: another name, twice the count, or a share that is a hundredth more. */
static void weights_of_all_properties(void **state)
{
    static const double weights[] = { 4, 4, 1, 1, 1, 1, 1, 0.25, 0.5, 0.25, 0.25, 0.5, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02 };
    (void)state;
    assert_int_equal(n_properties, sizeof weights / sizeof *weights);
    properties_prepare(&one);
    for (size_t i = 0; i < n_properties; i++)
        assert_near(distance_with(i, properties[i].kind == PROPERTY_COUNT ? arena_printf(&a, "%u", 2 * (unsigned)one.count[i])
                                   : properties[i].kind == PROPERTY_SHARE ? arena_printf(&a, "%.2f", one.share[i] + 0.01) : "another"), weights[i], 1e-12);
    arena_free(&a);
}

/* ---- intervals ------------------------------------------------------------------------------------ */


static void intervals_by_hand(void **state)
{
    (void)state;
    make_three();
    struct spread s = spread_of(&three_groups, NULL, &a);
    assert_int_equal(s.n_errors, 3);
    assert_near(s.mean_error, 0.05, 1e-12);
    assert_near(s.farthest, 1, 1e-12);
    double k = exp(-1);
    assert_near(s.quantile, 0.09 * (2 * k + 1) / (2 * (k * 0.06 + 0.05)), 1e-12);
    /* At the first reference: 0.02 with weight 1, the others with e^-1 each, and their mean with weight 1; nothing is farther. */
    double local = (0.02 + k * 0.04 + k * 0.09 + 0.05) / (1 + 2 * k + 1);
    assert_near(spread_half_width(&s, &three_groups, &one, &(struct left_out){0}), s.quantile * local, 1e-12);
    /* Nine in ten of a normal error lie within 1.6449 deviations. */
    assert_near(spread_deviation(&three_groups, &one, NULL, &a), s.quantile * local / 1.6448536, 1e-8);
    struct spread others = spread_of(&three_groups, "PopART", &a);
    assert_near(spread_deviation(&three_groups, &one, "PopART", &a),
                spread_half_width(&others, &three_groups, &one, &(struct left_out){ .group = "PopART" }) / 1.6448536, 1e-8);
    arena_free(&a);
}

/* Two groups at one place with errors of 0.02 and 0.04: each is judged by the other and by the mean, 0.03. All
 * distances are 0. */
static void groups_in_one_place(void **state)
{
    (void)state;
    struct reference two[] = { { .configuration = "p", .group = "p", .role = FIGURE_VALIDATE, .at = with(4, "PopART"), .left_out = 0.02 },
                               { .configuration = "q", .group = "q", .role = FIGURE_VALIDATE, .at = with(4, "PopART"), .left_out = -0.04 } };
    const struct references both = { .items = two, .n = 2 };
    struct spread s = spread_of(&both, NULL, &a);
    assert_near(s.farthest, 0, 0);
    assert_near(s.mean_error, 0.03, 1e-12);
    assert_near(s.quantile, 0.04 / 0.025, 1e-12);
    assert_near(spread_half_width(&s, &both, &two[0].at, &(struct left_out){0}), 1.6 * 0.03, 1e-12);
    arena_free(&a);
}

static struct reference at_ipus(const char *ipus, const char *group, double left_out)
{
    return (struct reference){ .configuration = ipus, .group = group, .role = FIGURE_VALIDATE, .at = with(7, ipus), .left_out = left_out };
}

/* Two of a group on 16 and 32 IPUs, others on 128 and 1024: a quarter per doubling, so 0.75 is the farthest between
 * groups. The third has the largest ratio: 0.06 at 0.5, and 0.02 and 0.01 at 0.75. */
static void distances_differ(void **state)
{
    (void)state;
    struct reference four[] = { at_ipus("16", "p", 0.02), at_ipus("32", "p", -0.06), at_ipus("128", "q", 0.13), at_ipus("1024", "r", 0.01) };
    const struct references all = { .items = four, .n = 4 };
    const double mean = 0.22 / 4, v = exp(-0.25), u = exp(-0.5), t = exp(-0.75), k = exp(-1);
    struct spread s = spread_of(&all, NULL, &a);
    assert_int_equal(s.n_errors, 4);
    assert_near(s.mean_error, mean, 1e-12);
    assert_near(s.farthest, 0.75, 1e-12);
    assert_near(s.quantile, 0.13 / ((0.06 * u + 0.03 * t + mean) / (u + 2 * t + 1) * (1 + 0.5 / 0.75)), 1e-12);
    /* on 256: 0.25 and 0.5 from the last two, 0.75 and 1 from the others; then without the third */
    struct properties p = with(7, "256");
    const double near = (0.13 * v + 0.01 * u + 0.06 * t + 0.02 * k + mean) / (v + u + t + k + 1);
    assert_near(spread_half_width(&s, &all, &p, &(struct left_out){0}), s.quantile * near * (1 + 0.25 / 0.75), 1e-12);
    const double few = (0.01 * u + 0.06 * t + 0.02 * k + mean) / (u + t + k + 1);
    assert_near(spread_half_width(&s, &all, &p, &(struct left_out){ .group = "q" }), s.quantile * few * (1 + 0.5 / 0.75), 1e-12);
    /* one group alone gives no interval */
    s = spread_of(&(struct references){ .items = four, .n = 2 }, NULL, &a);
    assert_int_equal(s.n_errors, 0);
    assert_near(spread_half_width(&s, &(struct references){ .items = four, .n = 2 }, &p, &(struct left_out){0}), 0, 0);
    arena_free(&a);
}

/* At a reference without error, and far from one of 0.4: the mean of both counts as much as the first. */
static void no_run_is_without_error(void **state)
{
    (void)state;
    struct reference two[] = { at_ipus("16", "p", 0), at_ipus("65536", "q", -0.4) };
    const struct references both = { .items = two, .n = 2 };
    struct spread s = spread_of(&both, NULL, &a);
    const double k = exp(-3);
    assert_near(s.quantile, 0.4 * (k + 1) / (2 * 0.2), 1e-12);
    assert_near(spread_half_width(&s, &both, &two[0].at, &(struct left_out){0}), s.quantile * (0.4 * k + 0.2) / (1 + k + 1), 1e-12);
    arena_free(&a);
}

/* Sets the compute and host shares of one step; the rest is as in `one`. */
static struct properties spent(double compute, double host)
{
    struct properties p = one;
    p.share[12] = compute;
    p.share[18] = host;
    properties_prepare(&p);
    return p;
}

/* Two groups whose steps differ by a tenth, which is what was tested, and a step with three tenths more for the host. */
static void what_is_unlike_is_wider(void **state)
{
    (void)state;
    struct reference two[] = { { .configuration = "p", .group = "p", .role = FIGURE_VALIDATE, .at = spent(0.52, 0.04), .left_out = 0.02 },
                               { .configuration = "q", .group = "q", .role = FIGURE_VALIDATE, .at = spent(0.42, 0.14), .left_out = -0.04 } };
    const struct references both = { .items = two, .n = 2 };
    struct apart apart = properties_apart(&two[0].at, &two[1].at);
    assert_near(apart.unlike, 0.1, 1e-12);
    assert_near(apart.distance, 0.4, 1e-12);
    struct spread s = spread_of(&both, NULL, &a);
    assert_near(s.unlike, 0.1, 1e-12);
    assert_near(s.farthest, 0.4, 1e-12);
    const double k = exp(-0.4), p = exp(-1.6), known = exp(-1.2);
    assert_near(s.quantile, 0.04 * (k + 1) / ((k * 0.02 + 0.03) * 2), 1e-12);
    /* 0.3 unlike the second, 0.4 unlike the first: 1.2 and 1.6 away */
    const struct properties far = spent(0.12, 0.44);
    const double w = p / known, local = (0.04 * known + 0.02 * p + 0.03) / (known + p + 1), unlike = (0.3 + 0.4 * w) / (1 + w);
    const struct apart from[] = { properties_apart(&far, &two[0].at), properties_apart(&far, &two[1].at) };
    assert_near(spread_expect(&s, &both, from).unlike, unlike, 1e-12);
    assert_near(spread_expect(&s, &both, from).half_width, s.quantile * local * (1 + 1.2 / 0.4) + log(0.9 / (1 - unlike)), 1e-12);
    assert_near(spread_half_width(&s, &both, &far, &(struct left_out){0}), spread_expect(&s, &both, from).half_width, 0);
    /* all unlike: a hundredth is alike at least */
    const struct apart nothing[] = { { 3, 1 }, { 3, 1 } };
    assert_near(spread_expect(&s, &both, nothing).unlike, 0.99, 0);
    assert_near(spread_expect(&s, &both, nothing).half_width - s.quantile * 0.03 * (1 + 3 / 0.4), log(90), 1e-12);
    arena_free(&a);
}

/* Nineteen groups at one place with errors of 1 to 19 %, and one whose step is half the host's: the added width, nearly
 * ln 2, covers its 0.6. Nineteen of twenty were tested on steps that are hardly unlike, and the nineteenth of their
 * ratios is that of the second largest error. */
static void what_is_added_explains_errors(void **state)
{
    (void)state;
    struct reference twenty[20];
    for (size_t i = 0; i < 20; i++)
        twenty[i] = at_ipus("16", arena_printf(&a, "group %zu", i), 0.01 * (double)(1 + i * 7 % 19));
    twenty[19].at = spent(0.02, 0.54);
    twenty[19].left_out = -0.6;
    const struct references all = { .items = twenty, .n = 20 };
    const struct spread s = spread_of(&all, NULL, &a);
    const double w = exp(-2);
    assert_near(s.unlike, 0.5 * w / (18 + w), 1e-12);
    assert_near(s.quantile, 0.18 * (18 + w + 1) / (1.90 - 0.18 + 0.6 * w + 0.125), 1e-9);
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
    assert_near(spread_of(&all, NULL, &a).quantile, 19 * 20.0 / (210 - 19 + 10.5), 1e-9);
    arena_free(&a);
}

static void farther_is_wider(void **state)
{
    (void)state;
    static const char *const ipus[] = { "16", "64", "1024", "65536", "1000000" };
    double before = 0;
    make_three();
    struct spread s = spread_of(&three_groups, NULL, &a);
    for (size_t i = 0; i < 5; i++) {
        struct properties p = with(7, ipus[i]);
        double half = spread_half_width(&s, &three_groups, &p, &(struct left_out){0});
        assert_true(half > before);
        before = half;
    }
    arena_free(&a);
}

/* The third is left out: the others give 0.02 and 0.04 at distance 1, too narrow for its 0.09. */
static void coverage_by_hand(void **state)
{
    (void)state;
    struct interval_coverage c;
    make_three();
    interval_coverage(&c, &three_groups, &a);
    assert_int_equal(c.n_groups, 3);
    assert_int_equal(c.all.n, 3);
    assert_int_equal(c.groups[0].inside, 1);
    assert_int_equal(c.groups[2].inside, 0);
    assert_int_equal(c.all.inside, 2);
    double halves[3], sum = 0;
    for (size_t i = 0; i < 3; i++) {
        struct spread others = spread_of(&three_groups, three[i].group, &a);
        halves[i] = spread_half_width(&others, &three_groups, &three[i].at, &(struct left_out){ .group = three[i].group });
        assert_near(c.groups[i].mean_half_width, halves[i], 1e-12);
        sum += halves[i];
    }
    assert_near(c.all.mean_half_width, sum / 3, 1e-12);
    /* Each is left out alone, and only the spread leaves its group out: the others of the three are its references. */
    double near_sum = 0;
    size_t near_inside = 0;
    for (size_t i = 0; i < 3; i++) {
        struct spread others = spread_of(&three_groups, three[i].group, &a);
        double half = spread_half_width(&others, &three_groups, &three[i].at, &(struct left_out){ .configuration = three[i].configuration });
        near_inside += fabs(three[i].left_out) <= half;
        near_sum += half;
    }
    assert_int_equal(c.near.n, 3);
    assert_int_equal(c.near.inside, near_inside);
    assert_near(c.near.mean_half_width, near_sum / 3, 1e-12);
    /* All are one family; each has a framework of its own, which leaves out what its group does. */
    assert_true(c.wider[0].n == 0 && c.wider[2].n == 0);
    assert_int_equal(c.wider[1].n, 3);
    assert_int_equal(c.wider[1].inside, c.all.inside);
    assert_near(c.wider[1].mean_half_width, c.all.mean_half_width, 1e-12);
    /* A single group leaves nothing to make an interval from. */
    interval_coverage(&c, &(struct references){ .items = three, .n = 1 }, &a);
    assert_int_equal(c.n_groups, 1);
    assert_int_equal(c.all.n, 0);
    assert_int_equal(c.groups[0].n, 0);
    arena_free(&a);
}

/* At the first reference itself. With its group, another of its groups or its configuration left out, the others are
 * one name away. */
static void what_is_left_out_is_not_near(void **state)
{
    (void)state;
    make_three();
    const struct left_out first[] = { { .group = "PopART" }, { .other_group = "PopART" }, { .configuration = "PopART" } };
    const struct spread s = { .mean_error = 0.05, .farthest = 1, .quantile = 3 };
    const double k = exp(-1);
    for (size_t i = 0; i < 3; i++)
        assert_near(spread_half_width(&s, &three_groups, &one, &first[i]), 3 * 2 * (k * 0.13 + 0.05) / (2 * k + 1), 1e-12);
    assert_near(spread_half_width(&s, &three_groups, &one, &(struct left_out){ .group = "PyTorch" }), 3 * (k * 0.09 + 0.02 + 0.05) / (1 + k + 1), 1e-12);
}

static void coverage_as_text(void **state)
{
    struct interval_count group = { .what = "BERT on bow", .n = 8, .inside = 6, .mean_half_width = log(1.25) };
    const struct interval_coverage c = { .groups = &group, .n_groups = 1, .all = { .what = "all", .n = 40, .inside = 37, .mean_half_width = log(1.5) },
                                         .wider = { { .what = "family", .n = 4, .inside = 1 }, { .what = "framework" }, { .what = "chip" } },
                                         .near = { .what = "near" } };
    struct table t = interval_coverage_table(&c, &a);
    char *text;
    (void)state;
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(text, "group left out  runs  inside   share  half width\n"
                              "BERT on bow        8       6  75.0 %      25.0 %\n"
                              "all               40      37  92.5 %      50.0 %\n"
                              "family             4       1  25.0 %       0.0 %\n"
                              "framework          0       0   0.0 %       0.0 %\n"
                              "chip               0       0   0.0 %       0.0 %\n"
                              "near               0       0   0.0 %       0.0 %\n");
    free(text);
    json_t *json = interval_coverage_json(&c, &a);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"group\":\"all\",\"configurations\":40,\"inside\":37,\"mean_half_width\":0.5,\"level\":0.9,\"configuration_left_out\":"
                              "{\"group\":\"near\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},\"wider\":[{\"group\":\"family\",\"configurations\":4,\"inside\":1,\"mean_half_width\":0.0},"
                              "{\"group\":\"framework\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0},"
                              "{\"group\":\"chip\",\"configurations\":0,\"inside\":0,\"mean_half_width\":0.0}],\"groups\":["
                              "{\"group\":\"BERT on bow\",\"configurations\":8,\"inside\":6,\"mean_half_width\":0.25}]}");
    free(text);
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distances_by_hand), cmocka_unit_test(weights_of_all_properties), cmocka_unit_test(intervals_by_hand),
    cmocka_unit_test(groups_in_one_place), cmocka_unit_test(distances_differ), cmocka_unit_test(no_run_is_without_error),
    cmocka_unit_test(nine_in_ten_of_twenty), cmocka_unit_test(what_is_unlike_is_wider), cmocka_unit_test(what_is_added_explains_errors), cmocka_unit_test(farther_is_wider), cmocka_unit_test(coverage_by_hand),
    cmocka_unit_test(what_is_left_out_is_not_near), cmocka_unit_test(coverage_as_text),
};

TAP_MAIN(tests)
