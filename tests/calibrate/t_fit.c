/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_fit.c - least squares by hand: values, and standard errors that come from the rows that a constant moves; kernels
 * made with known constants.
 */
#include "tests/golden_text.h"
#include "results/calibrate/calibration.h"
#include "tests/part_cells.h"
#include "results/published/check.h"
#include <gsl/gsl_errno.h>
#include <math.h>

static const struct model_paths kernel_paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes",
                                                 .data_dir = "workloads/convergence" };

/* Rows 0 and 1 measure the first constant as 4 and as 6; rows 2 to 4 measure the second as 2. Ratios are so small
 * that softening hardly changes them. */
static bool four_and_six(double *out, const double *x, void *user, struct err *err)
{
    (void)user, (void)err;
    out[0] = 1e-2 * (x[0] - 4);
    out[1] = 1e-2 * (x[0] - 6);
    for (int i = 2; i < 5; i++)
        out[i] = 1e-2 * (x[1] - 2);
    return true;
}

/* The mean of 4 and 6. White's error: each row is 1 away and has half the influence, sqrt(2 x 0.5^2), times sqrt(5 /
 * (5 - 2)) for two constants from five rows. A common error for all rows would give sqrt(2 / 3 / 2) for the first
 * and sqrt(2 / 3 / 3) for the second, on which its rows agree. */
static void errors_come_from_the_rows_that_move(void **state)
{
    (void)state;
    const struct fit_parameter parameters[] = { { "first", 0, 10, 3, 0.01 }, { "second", 0, 10, 3, 0.01 } };
    const struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = 5, .log_ratios = four_and_six };
    struct fit_value found[2];
    struct err err = { "" };
    assert_true(fit_run(found, &p, &err));
    assert_near(found[0].value, 5, 0.01);
    assert_near(found[0].standard_error, sqrt(0.5 * 5 / 3.0), 0.01);
    assert_near(found[1].value, 2, 0.01);
    assert_near(found[1].standard_error, 0, 0.01);
    assert_false(found[0].at_bound || found[1].at_bound);
}

/* A row with weight 0 affects neither the value nor the number of rows. */
static void a_row_left_out_counts_for_nothing(void **state)
{
    (void)state;
    const struct fit_parameter parameters[] = { { "first", 0, 10, 3, 0.01 }, { "second", 0, 10, 3, 0.01 } };
    const double weights[] = { 1, 0, 1, 0, 0 };
    struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = 5, .log_ratios = four_and_six, .weights = weights };
    struct fit_value found[2];
    struct err err = { "" };
    assert_false(fit_run(found, &p, &err));
    assert_string_equal(err.msg, "a fit of 2 constants needs more than 2 rows");
    p.weights = (const double[]){ 1, 0, 1, 1, 0 };
    assert_true(fit_run(found, &p, &err));
    assert_near(found[0].value, 4, 0.01);
}

/* Two minima, at 2 and at 8, and a maximum between them at 5. */
static bool two_valleys(double *out, const double *x, void *user, struct err *err)
{
    (void)user, (void)err;
    for (int i = 0; i < 3; i++)
        out[i] = 1e-3 * (i + 1) * (x[0] - 2) * (x[0] - 8);
    return true;
}

/* The start value decides which minimum is found. */
static void a_fit_starts_where_it_is_told(void **state)
{
    static const struct { double start, found; } cases[] = { { 1, 2 }, { 3.5, 2 }, { 7, 8 }, { 9.5, 8 }, { 0, 2 }, { 10, 8 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fit_parameter k = { "constant", 0, 10, cases[i].start, 0.01 };
        const struct fit_problem p = { .parameters = &k, .n_parameters = 1, .n_rows = 3, .log_ratios = two_valleys };
        struct fit_value found;
        struct err err = { "" };
        assert_true(fit_run(&found, &p, &err));
        assert_near(found.value, cases[i].found, 0.01);
    }
}

struct line { double base, slope, x[6]; };

static bool of_a_line(double *out, const double *x, void *user, struct err *err)
{
    const struct line *l = user;
    (void)err;
    for (int i = 0; i < 6; i++)
        out[i] = log((x[0] + x[1] * l->x[i]) / (l->base + l->slope * l->x[i]));
    return true;
}

/* Values that explain their rows exactly are found where the first step goes to a bound, and near bounds, where each
 * step is small. Found by fuzzing. */
static void values_that_explain_all_are_found(void **state)
{
    static const struct line lines[] = {
        { 14.9375, 1.8225, { 1.4375, 4.359375, 7.90625, 10.90625, 13.90625, 16.078125 } },
        { 1, 0.06, { 1.015625, 4.90625, 7.8671875, 10.8203125, 13.8671875, 16.8203125 } },
        { 1.125, 0.06, { 1.015625, 4.90625, 7.8671875, 10.8203125, 13.8671875, 16.8203125 } },
        { 1.125, 0.075625, { 1, 4, 7, 10, 13, 16 } }, { 19.5, 4.9, { 1, 4, 7, 10, 13, 16 } }, { 0.75, 4.9, { 1, 4, 7, 10, 13, 16 } },
        { 19.5, 0.06, { 1, 4, 7, 10, 13, 16 } },
    };
    static const struct fit_parameter parameters[] = { { "base", 0.5, 20, 5, 1e-4 }, { "slope", 0.001, 5, 1, 1e-4 } };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct line l = lines[i];
        const struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = 6, .log_ratios = of_a_line, .user = &l };
        struct fit_value found[2];
        struct err err = { "" };
        assert_true(fit_run(found, &p, &err));
        assert_near(found[0].value / l.base, 1, 1e-3);
        assert_near(found[1].value / l.slope, 1, 1e-3);
        assert_false(i == 0 && (found[0].at_bound || found[1].at_bound));
    }
}

/* The planner's value for a kernel on a chip with these constants. */
static double kernel_tflop_per_s(const char *recipe, const double *constants, struct plan_cache *cache, struct arena *a)
{
    struct machine m;
    struct op_plan plan;
    struct err err;
    assert_true(machine_load(&m, strstr(recipe, "gc2;") ? "gc2" : "bow", kernel_paths.specs_dir, a, &err));
    fitted_constants_set(&m.chip, constants);
    assert_true(kernel_row_plan(&plan, NULL, kernel_of(recipe, a), &m.chip, cache, a, &err));
    return kernel_row_flop_per_s(kernel_of(recipe, a), &plan, &m.chip) / 1e12;
}

static const char *const made_kernels[] = {
    "kernel:matmul;machine=gc2;m=2688;k=2688;n=2688;type=fp16;partials=fp32", "kernel:matmul;machine=gc2;m=512;k=2048;n=64;type=fp16;partials=fp16",
    "kernel:conv;machine=gc2;batch=1;filter=1;input=14;in_chans=256;out_chans=256;stride=1;groups=1;type=fp16;partials=fp32",
    "kernel:conv;machine=gc2;batch=8;filter=3;input=56;in_chans=64;out_chans=64;stride=1;groups=1;type=fp16;partials=fp32",
    "kernel:matmul;machine=bow;m=1024;k=1024;n=1024;type=fp16;partials=fp16", "kernel:matmul;machine=bow;m=1024;k=1024;n=4;type=fp16;partials=fp16",
    "kernel:matmul;machine=bow;m=2048;k=2048;n=4;type=fp16;partials=fp16",
};
enum { N_MADE = sizeof made_kernels / sizeof *made_kernels };

/* Counts one by one; after the last call nothing is in progress. */
struct told { size_t n; bool under_way; };

static void count_predictions(void *user, const char *what, size_t done, size_t of)
{
    struct told *t = user;
    t->under_way = what != NULL;
    assert_true(of == 0 && (what ? text_is(what, "predictions of kernels and runs") && done == ++t->n : done == 0));
}

static void fit_to_made(struct chip_fit *fit, const double *made, double *errors, struct arena *a)
{
    struct figure rows[N_MADE + 1];
    struct plan_cache cache = {0};
    struct err err = { "" };
    double unfitted[MAX_FITTED];
    for (size_t i = 0; i < n_fitted_constants; i++)
        unfitted[i] = fitted_constants[i].open_source_value;
    for (size_t i = 0; i < N_MADE; i++) {
        double value = kernel_tflop_per_s(made_kernels[i], made, &cache, a);
        rows[i] = (struct figure){ .id = made_kernels[i], .recipe = made_kernels[i], .kernel = kernel_of(made_kernels[i], a), .metric = "tflop_per_s", .value = value };
        errors[i] = fabs(kernel_tflop_per_s(made_kernels[i], unfitted, &cache, a) / value - 1);
    }
    rows[N_MADE] = rows[0];
    rows[N_MADE].role = FIGURE_VALIDATE;
    rows[N_MADE].value *= 3;
    const struct figures figures = { .items = rows, .n = N_MADE + 1 };
    struct told told = { 0 };
    const struct watch watch = { count_predictions, &told };
    assert_true(chip_fit_run(fit, &figures, &kernel_paths, &watch, a, &err));
    assert_true(told.n > 10 * N_MADE && told.n % N_MADE == 0 && !told.under_way);
    plan_cache_free(&cache);
}

/* The effect of each constant: what it adds to a kernel's time over its open-source value; constants of the other generation add
 * nothing. */
static void check_shares(const struct chip_fit *fit, struct arena *a)
{
    struct plan_cache cache = {0};
    double x[MAX_FITTED];
    for (size_t i = 0; i < n_fitted_constants; i++)
        x[i] = fit->values[i].value;
    for (size_t k = 0; k < n_fitted_constants; k++) {
        double errors[N_MADE];
        for (size_t i = 0; i < N_MADE; i++) {
            const struct chip_fit_row *row = &fit->rows[i];
            double all = kernel_tflop_per_s(row->recipe, x, &cache, a);
            x[k] = fitted_constants[k].open_source_value;
            assert_near(row->share[k], 1 - all / kernel_tflop_per_s(row->recipe, x, &cache, a), 1e-9);
            x[k] = fit->values[k].value;
            errors[i] = fabs((1 + row->error) / (1 - row->share[k]) - 1);
            assert_true(row->share[k] == 0 || (fitted_constants[k].generation == GENERATION_MK1) == (strstr(row->recipe, "gc2;") != NULL));
        }
        assert_near(fit->median_default[k], statistics_median(errors, N_MADE, a), 1e-9);
    }
    plan_cache_free(&cache);
}

/* Kernels published as a chip with other constants would run them give these constants back, wherever they are
 * between their bounds, and no error remains. Before the fit each error is the planner's own. A row that validates
 * is not read. */
static void kernels_give_their_constants_back(void **state)
{
    (void)state;
    for (int tenths = 2; tenths <= 8; tenths += 2) {
        struct chip_fit fit;
        struct arena a = {0};
        double made[MAX_FITTED], errors[N_MADE];
        for (size_t i = 0; i < n_fitted_constants; i++)
            made[i] = fitted_constants[i].field.min + tenths / 10.0 * (fitted_constants[i].field.max - fitted_constants[i].field.min);
        fit_to_made(&fit, made, errors, &a);
        assert_int_equal(fit.n_rows, N_MADE);
        for (size_t i = 0; i < n_fitted_constants; i++)
            assert_near(fit.values[i].value / made[i], 1, 0.01);    /* a plan is whole cycles of whole splits */
        assert_near(fit.median_before, statistics_median(errors, N_MADE, &a), 1e-12);
        assert_true(fit.median_before > 0.1 && fit.median_after < 1e-3);
        check_shares(&fit, &a);
        arena_free(&a);
    }
}

/* Records, in order, the points that a fit evaluates; its rows are met where the constants are 4 and 1. */
struct asked { double x[400][2]; size_t n; };

static bool four_and_one(double *out, const double *x, void *user, struct err *err)
{
    struct asked *asked = user;
    (void)err;
    assert_true(asked->n < 400);
    memcpy(asked->x[asked->n++], x, 2 * sizeof *x);
    out[0] = 1e-2 * (x[0] - 4);
    out[1] = 1e-2 * (x[1] - 1);
    out[2] = 1e-2 * (x[0] + x[1] - 5);
    return true;
}

static double at_logit(double low, double high, double u) { return low + (high - low) / (1 + exp(-u)); }

/* Differences of `step` to both sides of a start at `share` of its range; the other constant stays at its start. */
static void check_looks(const double (*x)[2], int k, double low, double high, double share, double step, double other)
{
    double u = log(share / (1 - share));
    assert_near(x[0][k], at_logit(low, high, u - step), 1e-9);
    assert_near(x[1][k], at_logit(low, high, u + step), 1e-9);
    assert_near(x[0][1 - k], other, 1e-9);
    assert_near(x[1][1 - k], other, 1e-9);
}

/* The fit first evaluates the start, moved inside by a fiftieth if it is on a bound; then both sides of it, with the
 * step of 0.01 of the range, which is 0.01 / 0.21 of the logit, or 1 if that were more, as for 0.05 at a bound. Then
 * it does the same from the middle of all ranges. */
static void where_a_fit_looks(void **state)
{
    static const struct { double start, begins; } ends[] = { { 6, 5.84 }, { -2, -1.84 } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct fit_parameter parameters[] = { { "first", 0, 10, 3, 0.01 }, { "second", -2, 6, ends[i].start, 0.05 } };
        struct asked asked = { .n = 0 };
        const struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = 3, .log_ratios = four_and_one, .user = &asked };
        struct fit_value found[2];
        struct err err = { "" };
        size_t middle = 1;
        assert_true(fit_run(found, &p, &err));
        assert_near(found[0].value, 4, 1e-5);
        assert_near(found[1].value, 1, 1e-5);
        assert_near(asked.x[0][0], 3, 1e-9);
        assert_near(asked.x[0][1], ends[i].begins, 1e-9);
        check_looks(&asked.x[1], 0, 0, 10, 0.3, 0.01 / 0.21, ends[i].begins);
        check_looks(&asked.x[3], 1, -2, 6, i ? 0.02 : 0.98, 1, 3);
        while (asked.x[middle][0] != 5 || asked.x[middle][1] != 2)
            assert_true(++middle + 4 < asked.n);
        for (size_t k = middle + 1; k < asked.n; k++)
            assert_true(asked.x[k][0] != 5 || asked.x[k][1] != 2);          /* and not a third time */
        check_looks(&asked.x[middle + 1], 0, 0, 10, 0.5, 0.04, 2);
        check_looks(&asked.x[middle + 3], 1, -2, 6, 0.5, 0.2, 5);
    }
}

/* One outlier. The two other rows are d away from their value and it is y away. The pull of a row is d / (0.01 +
 * d^2): 2 x 0.02 / 0.0104 and y / (0.01 + y^2) are equal where y^2 - 0.26 y + 0.01 = 0. */
static bool one_far_off(double *out, const double *x, void *user, struct err *err)
{
    (void)user, (void)err;
    out[0] = out[1] = x[0] - 4;
    out[2] = x[0] - 4.02 - (0.13 + sqrt(0.0069));
    return true;
}

static void a_row_far_off_pulls_little(void **state)
{
    const struct fit_parameter k = { "constant", 0, 10, 4.1, 1e-5 };
    const struct fit_problem p = { .parameters = &k, .n_parameters = 1, .n_rows = 3, .log_ratios = one_far_off };
    struct fit_value found;
    struct err err = { "" };
    (void)state;
    assert_true(fit_run(&found, &p, &err));
    assert_near(found.value, 4.02, 1e-6);
}

static bool a_value(double *out, const double *x, void *user, struct err *err)
{
    (void)err;
    out[0] = out[1] = x[0] - *(const double *)user;
    return true;
}

/* A value within a hundredth of the range counts as on the bound. */
static void near_a_bound(void **state)
{
    static const struct { double value; bool at_bound; } cases[] = { { 3.095, true }, { 3.105, false }, { 12.895, false }, { 12.905, true } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = cases[i].value;
        const struct fit_parameter k = { "constant", 3, 13, 5, 1e-3 };
        const struct fit_problem p = { .parameters = &k, .n_parameters = 1, .n_rows = 2, .log_ratios = a_value, .user = &value };
        struct fit_value found;
        struct err err = { "" };
        assert_true(fit_run(&found, &p, &err));
        assert_near(found.value, value, 1e-6);
        assert_int_equal(found.at_bound, cases[i].at_bound);
    }
}

/* An error of the prediction is reported, at the start, in the first differences, and later. */
struct failing { size_t at, n; };

static bool not_always(double *out, const double *x, void *user, struct err *err)
{
    struct failing *f = user;
    out[0] = out[1] = 1e-2 * (x[0] - 4);
    return f->n++ != f->at || fail(err, "asked %zu times", f->n);
}

static void what_cannot_be_predicted_says_why(void **state)
{
    const struct fit_parameter k = { "constant", 0, 10, 3, 0.01 };
    size_t n_failed = 0;
    bool good = false;
    (void)state;
    gsl_set_error_handler_off();        /* as the program does */
    for (struct failing f = { .at = 0 }; !good; f.at++) {
        struct arena a = {0};
        struct fit_value found;
        struct err err = { "" };
        f.n = 0;
        good = fit_run(&found, &(struct fit_problem){ &k, 1, 2, NULL, not_always, &f }, &err);
        assert_string_equal(err.msg, good ? "" : arena_printf(&a, "asked %zu times", f.at + 1));
        n_failed += !good;
        arena_free(&a);
    }
    assert_true(n_failed > 6);
}

/* A ratio that is not a number ends the fit. */
static bool no_number(double *out, const double *x, void *user, struct err *err)
{
    (void)x, (void)user, (void)err;
    out[0] = out[1] = NAN;
    return true;
}

static void what_is_no_number_is_refused(void **state)
{
    const struct fit_parameter k = { "constant", 0, 10, 3, 0.01 };
    struct fit_value found;
    struct err err = { "" };
    (void)state;
    gsl_set_error_handler_off();        /* as the program does */
    assert_false(fit_run(&found, &(struct fit_problem){ &k, 1, 2, NULL, no_number, NULL }, &err));
    assert_string_equal(err.msg, "the fit: exceeded max number of iterations");
}

/* As text and as a sheet. Every number is different, and one of the constants is on its bound. */
static void a_fit_of_kernels_as_text(void **state)
{
    struct chip_fit_row rows[] = { { .recipe = "kernel:one", .error = 0.345 }, { .recipe = "kernel:two", .error = -0.567 } };
    struct chip_fit fit = { .rows = rows, .n_rows = 2, .median_before = 0.678, .median_after = 0.123 };
    struct arena a = {0};
    char *text;
    (void)state;
    for (size_t k = 0; k < n_fitted_constants; k++) {
        fit.values[k] = (struct fit_value){ .value = 1.2345 + 100 * (double)k, .standard_error = 0.0375 * (double)(k + 1), .at_bound = k == 1 };
        fit.median_default[k] = 0.777 + 0.1 * (double)k;
        rows[0].share[k] = 0.555 - 0.1 * (double)k;
        rows[1].share[k] = 0.333 + 0.1 * (double)k;
    }
    PRINTED(text, (chip_fit_print(f, &fit), fputs("--\n", f), chip_fit_write(f, &fit, "TABLE", &(struct fitted_value){ "memory_error", "0.14", "share", "fitted", "" })));
    assert_golden(text, "tests/golden/chip_fit.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_cannot_be_predicted_says_why), cmocka_unit_test(what_is_no_number_is_refused), cmocka_unit_test(a_fit_of_kernels_as_text), cmocka_unit_test(where_a_fit_looks), cmocka_unit_test(a_row_far_off_pulls_little), cmocka_unit_test(near_a_bound),
    cmocka_unit_test(kernels_give_their_constants_back), cmocka_unit_test(errors_come_from_the_rows_that_move), cmocka_unit_test(a_row_left_out_counts_for_nothing), cmocka_unit_test(a_fit_starts_where_it_is_told), cmocka_unit_test(values_that_explain_all_are_found),
};

TAP_MAIN(tests)
