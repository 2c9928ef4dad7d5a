/*
 * t_fit.c - least squares by hand: values, and standard errors that come from the rows that a constant moves.
 */
#include "tests/check.h"
#include "results/calibration/fit.h"
#include <math.h>

/* Rows 0 and 1 measure the first constant, as 4 and as 6; rows 2 to 4 the second, all as 2. Ratios are so small that softening them
 * changes next to nothing. */
static bool four_and_six(double *out, const double *x, void *user, struct err *err)
{
    (void)user, (void)err;
    out[0] = 1e-2 * (x[0] - 4);
    out[1] = 1e-2 * (x[0] - 6);
    for (int i = 2; i < 5; i++)
        out[i] = 1e-2 * (x[1] - 2);
    return true;
}

/* The mean of 4 and 6; White's error: each is 1 away, half of it is its pull, sqrt(2 x 0.5^2), times sqrt(5 / (5 - 2)) for two constants
 * from five rows. One error for all rows would be sqrt(2 / 3 / 2) for the first and sqrt(2 / 3 / 3) for the second, which no row doubts. */
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

/* A row of no weight counts neither for the value nor for how many rows there are. */
static void a_row_left_out_counts_for_nothing(void **state)
{
    (void)state;
    const struct fit_parameter parameters[] = { { "first", 0, 10, 3, 0.01 }, { "second", 0, 10, 3, 0.01 } };
    const double weights[] = { 1, 0, 1, 0, 0 };
    struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = 5, .log_ratios = four_and_six, .weights = weights };
    struct fit_value found[2];
    struct err err = { "" };
    assert_false(fit_run(found, &p, &err));
    assert_string_equal(err.msg, "a fit of 2 constants wants more than 2 rows");
    p.weights = (const double[]){ 1, 0, 1, 1, 0 };
    assert_true(fit_run(found, &p, &err));
    assert_near(found[0].value, 4, 0.01);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_come_from_the_rows_that_move), cmocka_unit_test(a_row_left_out_counts_for_nothing),
};

TAP_MAIN(tests)
