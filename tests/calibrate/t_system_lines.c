/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_system_lines.c - which constants of the system are determined by made-up linear rows, and how far a loop may be
 * off: the thresholds by hand.
 */
#include "tests/check.h"
#include "results/calibrate/calibration.h"

enum { CALL, REMOTE = 2, MOST_ROWS = 48 };

/* Rows of 1 s at the defaults, each a configuration of its own unless stated otherwise. */
struct made { struct figure figures[MOST_ROWS]; struct system_row rows[MOST_ROWS]; size_t n; };

static struct system_row *add_row(struct made *m, const char *configuration, double log_ratio, struct arena *a)
{
    size_t i = m->n++;
    m->figures[i] = (struct figure){ .id = "row", .configuration = configuration ? configuration : arena_printf(a, "configuration %zu", i) };
    m->rows[i] = (struct system_row){ .figure = &m->figures[i], .base_s = 1, .published_s = exp(log_ratio) };
    return &m->rows[i];
}

/* `n_calls` rows (an even number) with a call that takes 0.005 s for each of its seconds, 0.2 s on average, with an
 * alternating scatter of so many times that. Each row is repeated `twins` times in one configuration. Then `n` rows
 * of loops alone. */
static bool call_is_fitted(size_t n, size_t n_calls, double scatter, size_t twins)
{
    struct arena a = {0};
    struct made m = { .n = 0 };
    struct err err = { "" };
    const double mean = 1e-3;
    for (size_t i = 0; i < n_calls; i++)
        for (size_t k = 0; k < twins; k++)
            add_row(&m, arena_printf(&a, "call %zu", i), mean * (1 + (i % 2 ? scatter : -scatter)), &a)->slope[CALL] = 5e-3;
    for (size_t i = 0; i < n; i++)
        add_row(&m, NULL, 0, &a)->loop_s = 1;
    struct system_fit fit = { .rows = m.rows, .n_rows = m.n, .n_groups = 1, .groups = { { .family = "bert" } } };
    assert_true(system_fit_lines(&fit, &a, &err));
    assert_int_equal(fit.n_configurations, n + n_calls);
    assert_near(fit.values[CALL].value, fit.fitted[CALL] ? 0.2 : 0, 1e-3);
    for (int k = CALL + 1; k < N_SYSTEM_CONSTANTS; k++)
        assert_true(!fit.fitted[k] && fit.values[k].value == system_constants[k].unfitted_value);
    arena_free(&a);
    return fit.fitted[CALL];
}

/* Four rows of 24. Each left-out row is 4/3 of its scatter away from the mean of the others, and mean + scatter away
 * with the default. Both are equal where 16/9 s^2 = m^2 + s^2, at s = 1.134 m. Repeated rows are one configuration. */
static void a_constant_must_predict_what_is_left_out(void **state)
{
    (void)state;
    const double edge = 1 / sqrt(16 / 9.0 - 1);
    for (size_t twins = 1; twins <= 2; twins++) {
        assert_true(call_is_fitted(20, 4, 0.997 * edge, twins));
        assert_false(call_is_fitted(20, 4, 1.003 * edge, twins));
    }
}

/* Only the first row has a call, of 0.05 s. When it is left out, the fit's start of 0.03 s predicts it better than
 * no call does. */
static void a_single_row_moves_a_constant(void **state)
{
    struct arena a = {0};
    struct made m = { .n = 0 };
    struct err err = { "" };
    (void)state;
    for (size_t i = 0; i < 4; i++)
        *add_row(&m, NULL, 0, &a) = (struct system_row){ .figure = &m.figures[i], .base_s = 1, .published_s = i ? 1 : 1.05, .slope[CALL] = i == 0, .loop_s = i > 0 };
    struct system_fit fit = { .rows = m.rows, .n_rows = m.n, .n_groups = 1 };
    assert_true(system_fit_lines(&fit, &a, &err));
    assert_true(fit.fitted[CALL]);
    assert_near(fit.values[CALL].value, 0.05, 1e-6);
    arena_free(&a);
}

/* Loops that are 60 % too fast or too slow are fitted as 50 % at most; those of 45 % as 45 %. */
static void a_loop_is_half_wrong_at_most(void **state)
{
    static const double off[] = { 1.6, 0.4, 1.45, 0.55 }, found[] = { 0.5, -0.5, 0.45, -0.45 };
    struct arena a = {0};
    struct made m = { .n = 0 };
    struct err err = { "" };
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        struct system_row *row = add_row(&m, NULL, log(off[i % 4]), &a);
        row->loop_s = 1;
        row->group = i % 4;
    }
    struct system_fit fit = { .rows = m.rows, .n_rows = m.n, .n_groups = 4 };
    assert_true(system_fit_lines(&fit, &a, &err));
    for (size_t g = 0; g < 4; g++) {
        assert_near(fit.groups[g].error.value, found[g], 1e-3);
        assert_int_equal(fit.groups[g].error.at_bound, g < 2);
    }
    arena_free(&a);
}

/* A call of 0.3 s is in seven rows, and 40 ps for a byte of streaming memory in five of them; eight more rows are
 * 3, 8 and so on up to 38 % slower than the model for no modelled reason. The seven are met, also when they are left
 * out, so that 3 % is the median of all. With one of the two at its default, what it explains becomes the error. */
static void errors_with_and_without(void **state)
{
    struct arena a = {0};
    struct made m = { .n = 0 };
    struct err err = { "" };
    (void)state;
    assert_string_equal(system_constants[REMOTE].field.name, "streaming_s_per_byte");
    for (size_t i = 0; i < 7; i++) {
        struct system_row *row = add_row(&m, NULL, 0, &a);
        row->slope[CALL] = 0.1 + 0.05 * (double)i;
        row->slope[REMOTE] = i < 5 ? 1e9 * (double)(5 - i) : 0;
        row->published_s = 1 + 0.3 * row->slope[CALL] + 4e-11 * row->slope[REMOTE];
    }
    for (size_t i = 0; i < 8; i++)
        add_row(&m, NULL, log(1.03 + 0.05 * (double)i), &a);
    struct system_fit fit = { .rows = m.rows, .n_rows = m.n };
    assert_true(system_fit_lines(&fit, &a, &err));
    assert_near(fit.values[CALL].value, 0.3, 1e-4);
    assert_near(fit.values[REMOTE].value, 4e-11, 1e-14);
    assert_near(fit.median_unfitted, 0.18, 1e-9);              /* 0.03 to 0.38, and 0.23, 0.205, 0.18, 0.155, 0.13, 0.105, 0.12 */
    assert_near(fit.median_fitted, 0.03, 1e-6);
    assert_near(fit.median_left_out, 0.03, 1e-6);
    assert_near(fit.left_out_spread, 1.4826 * log(1.03), 1e-6);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        assert_near(fit.median_default[k], k == CALL ? 0.105 : k == REMOTE ? 0.13 : 0.03, 1e-6);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_constant_must_predict_what_is_left_out),
    cmocka_unit_test(a_single_row_moves_a_constant), cmocka_unit_test(a_loop_is_half_wrong_at_most), cmocka_unit_test(errors_with_and_without),
};
TAP_MAIN(tests)
