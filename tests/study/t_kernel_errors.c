/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_kernel_errors.c - intervals of single operations, from the errors of published ones. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/kernel_errors.h"
#include "system-model/graph/graph.h"

#include <math.h>

static struct arena a;

static struct kernel_errors errors_of(const struct kernel_error *items, size_t n)
{
    return (struct kernel_errors){ .items = (struct kernel_error *)items, .n = n };
}

/* Three lookups of a chip: the root of their mean square, 0.05, times Student's 95 % quantile with three degrees. On another chip, or of a kind with two
 * rows there, the whole kind, or all, are a guess. */
static void few_errors_make_wide_intervals(void **state)
{
    static const struct kernel_error items[] = { { "a", "lookup", "bow", 0.05 }, { "b", "lookup", "bow", 0.07 }, { "c", "lookup", "bow", 0.01 },
                                                 { "d", "codelet", "gc2", 0.3 }, { "e", "codelet", "gc2", 0.4 } };
    const struct kernel_errors k = errors_of(items, 5);
    (void)state;
    struct kernel_trust t = kernel_trust_of(&k, "lookup", "bow");
    assert_true(t.n == 3 && !t.is_guess);
    assert_near(t.half_width, 2.3533634348 * 0.05, 1e-9);
    t = kernel_trust_of(&k, "lookup", "gc200");
    assert_true(t.n == 3 && t.is_guess);
    t = kernel_trust_of(&k, "codelet", "gc2");
    assert_true(t.n == 5 && t.is_guess);
    assert_near(t.half_width, 2.0150483733 * sqrt((0.0075 + 0.25) / 5), 1e-9);         /* with five degrees */
    t = kernel_trust_of(&(struct kernel_errors){0}, "lookup", "bow");
    assert_true(t.n == 0 && t.is_guess && t.half_width == 0);
}

/* Convolutions err unlike products of matrices, and those in groups unlike the others. */
static void operations_have_kinds(void **state)
{
    static const struct op_attributes whole = { .groups = 1 }, grouped = { .groups = 8 };
    static const struct { enum op_kind kind; const struct op_attributes *at; const char *want; } ops[] = {
        { OP_SCATTER, NULL, "lookup" }, { OP_SOFTMAX, NULL, "other" }, { OP_MATMUL, NULL, "product" }, { OP_CONV, &whole, "convolution" },
        { OP_CONV, &grouped, "grouped convolution" }, { OP_CONV_TRANSPOSE, &whole, "convolution" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        assert_string_equal(kernel_kind_of(&(struct op){ .kind = ops[i].kind, .at = ops[i].at }), ops[i].want);
}

/* Nineteen errors lie at 0.01 to 0.19: nine in ten of further ones lie below the eighteenth. Left out in turn, eighteen are judged by the 18th of the
 * others, which is 0.19, or 0.18 for the largest: that one is outside by 0.01. */
static void many_errors_are_sorted(void **state)
{
    struct kernel_error items[19];
    struct interval_coverage c;
    (void)state;
    for (size_t i = 0; i < 19; i++)
        items[i] = (struct kernel_error){ "x", "product", "gc2", 0.01 * (double)(19 - i) };
    const struct kernel_errors k = errors_of(items, 19);
    assert_near(kernel_trust_of(&k, "product", "gc2").half_width, 0.18, 1e-12);
    kernel_coverage(&c, &k, &a);
    assert_int_equal(c.n, 1);
    assert_true(c.rows[0].runs == 19 && c.rows[0].inside == 18);
    assert_near(c.rows[0].score, (18 * 0.38 + 0.36 + 20 * 0.01) / 19, 1e-12);
    assert_near(c.rows[0].median_half_width, expm1(0.19), 1e-12);
    arena_free(&a);
}

/* Published rows: a product, and a recipe whose stem is a gather; a rate of joules is no time. What was first seen lately counts with its first error. */
static void published_rows_give_errors(void **state)
{
    static const char sights[] = "g,first,0,v1,2000,,,,\n";
    struct kernel_case product = { .kind = KERNEL_MATMUL, .machine = "gc2" };
    const struct figure rows_of[] = { { .id = "p", .metric = "time_s", .value = 2, .kernel = &product, .path = "t.csv", .recipe = "" },
                                { .id = "j", .metric = "energy_above_idle_j", .value = 2, .kernel = &product, .path = "t.csv", .recipe = "" },
                                { .id = "g", .metric = "device_cycles", .value = 1000, .recipe = "operator-bow-gather-1024x64-2048", .path = "t.csv" } };
    struct check_row rows[] = { { .figure = &rows_of[0], .has_simulated = true, .simulated = 1 }, { .figure = &rows_of[1], .has_simulated = true, .simulated = 1 },
                                { .figure = &rows_of[2], .has_simulated = true, .simulated = 900 } };
    const struct check check = { rows, 3 };
    struct kernel_errors k, back;
    struct simulator s;
    struct first_sight seen;
    struct err err = { "" };
    char *text = NULL;
    const char *table = arena_printf(&a, "%s%s", first_sight_header, sights);
    (void)state;
    simulator_open(&s, &paths);
    assert_true(first_sight_load(&seen, temp_file(table, strlen(table), ".csv"), &a, &err));
    kernel_errors_build(&k, &check, &seen, &s, &a);
    assert_int_equal(k.n, 2);
    assert_string_equal(k.items[1].kind, "lookup");
    assert_string_equal(k.items[1].chip, "bow");
    assert_near(k.items[0].error, log(2), 1e-12);
    assert_near(k.items[1].error, log(2), 1e-12);
    PRINTED(text, kernel_errors_write(f, &k));
    assert_true(kernel_errors_load(&back, temp_file(text, strlen(text), ".csv"), &a, &err));
    assert_int_equal(back.n, 2);
    assert_near(back.items[1].error, 0.6931, 1e-12);
    assert_true(kernel_errors_load(&back, "no/such/kernel-errors.csv", &a, &err) && back.n == 0);
    free(text);
    simulator_close(&s);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(few_errors_make_wide_intervals), cmocka_unit_test(operations_have_kinds), cmocka_unit_test(many_errors_are_sorted), cmocka_unit_test(published_rows_give_errors),
};

TAP_MAIN(tests)
