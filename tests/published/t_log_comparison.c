/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_log_comparison.c - logs compared with a simulation, by hand: three runs, of which one does not count. */
#include "tests/golden_text.h"
#include "results/published/log_comparison.h"
#include <jansson.h>

/* Two converged runs with a batch of 30 samples: 60 and 90 samples/s, 600 and 700 samples, 20 and 26 s, 2
 * evaluations of 3 s and 5 of 4 s, start-up of 1 and 2 s, 3 and 4 s after the last evaluation. */
static double first_rates[] = { 50, 70 }, second_rates[] = { 90 };
static const struct run_log logs[] = {
    { .global_batch = 30, .throughput_samples_per_s = 60, .steady_samples_per_s = 75, .samples_to_converge = 600, .time_to_train_s = 20, .eval_time_s = 3, .n_evals = 2,
      .startup_s = 1, .last_eval_s = 17, .init_s = 7, .unit_rates = first_rates, .n_units = 2, .first_unit = 2 },
    { .global_batch = 30, .throughput_samples_per_s = 90, .steady_samples_per_s = NAN, .samples_to_converge = 700, .time_to_train_s = 26, .eval_time_s = 4, .n_evals = 5,
      .startup_s = 2, .last_eval_s = 22, .init_s = 9, .unit_rates = second_rates, .n_units = 1, .first_unit = 2 },
    { .global_batch = 30, .throughput_samples_per_s = 1, .samples_to_converge = 1, .time_to_train_s = 1e6 },
};

static const struct compared_value *value(const struct log_comparison *c, const char *what)
{
    for (size_t i = 0; i < c->n_values; i++)
        if (text_is(c->values[i].what, what))
            return &c->values[i];
    print_error("no %s\n", what);
    assert_true(false);
    return NULL;
}

/* Simulated: steps of 0.5 s train 33 samples where the logs say 30 (packed), 66 samples/s; runs of 600 and 720
 * samples, 16 and 20 s, 3 and 4 evaluations of 2 s, 1.1 and 0.7 s added by their round, 0.2 s at the end. */
static struct log_comparison compare_logs(const struct run_log *of_runs, struct arena *a)
{
    static struct run_entry runs[] = { { .converged = true, .compliant = true }, { .converged = true, .compliant = true }, { .compliant = true } };
    static struct drawn_run drawn[] = { { .converged = true, .samples = 600, .n_evals = 3, .time_s = 16, .scaling_s = 1.1 },
                                        { .converged = true, .samples = 720, .n_evals = 4, .time_s = 20, .scaling_s = 0.7 }, { .samples = 9, .time_s = 99 } };
    static const struct result r = { .step_time_s = 0.5 };
    static const struct drawn_runs d = { .runs = drawn, .n = 3, .expected_minutes = 0.31, .low_minutes = 0.2, .high_minutes = 0.4,
                                               .expected_samples = 650, .samples_low = 500, .samples_high = 800,
                                               .run_low_s = 11, .run_high_s = 29 };
    struct simulated_side side = { .result = &r, .runs = &d, .logged_batch = 30,
                                   .timing = { .step_time_s = 0.5, .samples_per_step = 33, .eval_time_s = 2, .startup_s = 1.25, .tail_s = 0.2, .error = 0.1 } };
    struct folder f = { .dir = "d", .round = "v2.0", .division = "closed", .submitter = "A", .system = "s", .benchmark = "bert", .runs = runs, .n = 3,
                        .score_minutes = 0.38 };
    struct log_comparison c;
    log_compare(&c, &f, of_runs, "r", &side, a);
    return c;
}

static struct log_comparison compare(struct arena *a)
{
    return compare_logs(logs, a);
}

static void test_values(void **state)
{
    struct arena a = { 0 };
    struct log_comparison c = compare(&a);
    (void)state;
    const struct compared_value *v = value(&c, "step");
    assert_near(v->published, 1e3 * (33 / 60.0 + 33 / 90.0) / 2, 1e-9);
    assert_near(v->published_low, 1e3 * 33 / 90.0, 1e-9);
    assert_near(v->simulated, 500, 0);
    assert_near(v->simulated_low, 500 * exp(-0.1645), 1e-9);
    assert_near(v->simulated_high, 500 * exp(0.1645), 1e-9);
    v = value(&c, "step in steady state");
    assert_near(v->published, 1e3 * 33 / 75.0, 1e-9);
    assert_near(v->simulated_low, 500 * exp(-0.1645), 1e-9);
    v = value(&c, "step in block 2");
    assert_near(v->published, 1e3 * (33 / 50.0 + 33 / 90.0) / 2, 1e-9);
    assert_near(value(&c, "step in block 3")->published, 1e3 * 33 / 70.0, 1e-9);
    assert_near(value(&c, "evaluation")->published, 3.5, 0);
    assert_near(value(&c, "evaluation")->simulated, 2, 0);
    assert_near(value(&c, "start-up, on the clock")->simulated, 1.25, 0);
    assert_near(value(&c, "start-up, on the clock")->published, 1.5, 0);
    assert_near(value(&c, "initialisation, off the clock")->published, 8, 0);
    v = value(&c, "samples to converge");
    assert_near(v->published, 650, 0);
    assert_near(v->published_high, 700, 0);
    assert_near(v->simulated_low, 500, 0);
    v = value(&c, "one run");
    assert_near(v->published, 23 / 60.0, 1e-12);
    assert_near(v->simulated, (16 + 20 + 99) / 3.0 / 60, 1e-12);
    assert_near(v->simulated_low, 11 / 60.0, 1e-12);
    assert_near(v->simulated_high, 29 / 60.0, 1e-12);
    assert_near(value(&c, "score")->published, 0.38, 0);
    assert_int_equal(c.n_converged, 2);
    arena_free(&a);
}

/* Mean published run: 650 samples at 75/s, 23 s, 2 evaluations of 3 s or 5 of 4, start-up 1.5 s, 3.5 s at the end;
 * simulated 660 at 66/s, 18 s, 3.5 of 2 s, 1.25 s, 1.1 s. */
static void test_parts_sum_to_the_difference(void **state)
{
    struct arena a = { 0 };
    struct log_comparison c = compare(&a);
    double sum = 0;
    (void)state;
    assert_near(c.difference_s, 5, 1e-12);
    assert_near(c.parts_s[TIME_SAMPLES], -10 / 66.0, 1e-12);
    assert_near(c.parts_s[TIME_STEP], 650 * (1 / 75.0 - 1 / 66.0), 1e-12);
    assert_near(c.parts_s[TIME_EVALUATIONS], (2 * 3 + 5 * 4) / 2.0 - 3.5 * 2, 1e-12);
    assert_near(c.parts_s[TIME_STARTUP], 0.25, 1e-12);
    assert_near(c.parts_s[TIME_AFTER], 3.5 - (0.9 + 0.2), 1e-12);
    for (int i = 0; i < N_TIME_PARTS; i++)
        sum += c.parts_s[i];
    assert_near(sum, c.difference_s, 1e-12);
    arena_free(&a);
}

/* One log has no evaluation times: its 2 and 7 evaluations, 4.5 on average, are taken to last 2 s each, as simulated
 * ones do. */
static void test_evaluations_of_no_known_time(void **state)
{
    struct arena a = { 0 };
    struct run_log some[3];
    (void)state;
    memcpy(some, logs, sizeof some);
    some[1].n_evals = 7;
    some[1].eval_time_s = NAN;
    struct log_comparison c = compare_logs(some, &a);
    assert_near(c.parts_s[TIME_EVALUATIONS], (4.5 - 3.5) * 2, 1e-12);
    arena_free(&a);
}

/* Two epochs of 105 samples are 7 steps of 15, of which a call holds 5, so that another call follows at the end.
 * They take 20 and 42 s: steps of 4 and 4.2 s, where the samples alone would give 2.86 and 6 s. The run has 15
 * steps; the simulated one, of 9 steps of 3 s, has 10. Logs of another program are counted by their samples. */
static void test_epochs_of_whole_calls(void **state)
{
    struct arena a = { 0 };
    double rates[] = { 105 / 20.0, 105 / 42.0 };
    struct run_log log = { .global_batch = 15, .throughput_samples_per_s = 105 / 31.0, .steady_samples_per_s = 105 / 22.2, .samples_to_converge = 210,
                           .time_to_train_s = 62, .n_evals = 1, .unit_rates = rates, .n_units = 2, .first_unit = 1, .epochs_trained = 2, .epoch_samples = 105 };
    struct run_entry entry = { .converged = true, .compliant = true };
    struct drawn_run drawn = { .converged = true, .samples = 135, .n_evals = 1, .time_s = 30 };
    const struct result r = { .step_time_s = 3 };
    const struct drawn_runs d = { .runs = &drawn, .n = 1 };
    struct simulated_side side = { .result = &r, .runs = &d, .logged_batch = 15, .is_source = true,
                                   .timing = { .step_time_s = 3, .samples_per_step = 15, .steps_per_call = 5 } };
    struct folder f = { .runs = &entry, .n = 1 };
    struct log_comparison c;
    (void)state;
    log_compare(&c, &f, &log, "r", &side, &a);
    assert_near(value(&c, "step")->published, 4100, 1e-9);
    assert_true(isnan(value(&c, "step")->simulated_low) && isnan(value(&c, "step")->simulated_high));     /* the error is not known */
    assert_near(value(&c, "step in steady state")->published, 4020, 1e-9);
    assert_near(value(&c, "step in block 1")->published, 4000, 1e-9);
    assert_near(value(&c, "step in block 2")->published, 4200, 1e-9);
    assert_near(c.parts_s[TIME_SAMPLES], (15 - 10) * 3, 1e-9);
    assert_near(c.parts_s[TIME_STEP], 15 * (4.1 - 3), 1e-9);
    side.is_source = false;
    log_compare(&c, &f, &log, "r", &side, &a);
    assert_near(value(&c, "step")->published, 31e3 / 7, 1e-9);
    assert_near(value(&c, "step in steady state")->published, 22.2e3 / 7, 1e-9);
    assert_near(value(&c, "step in block 1")->published, 20e3 / 7, 1e-9);
    assert_near(c.parts_s[TIME_SAMPLES], (14 - 9) * 3, 1e-9);
    arena_free(&a);
}

/* Evaluation at the end: 4 checkpoints in 11 s. From a start of 1 s to the last of them are 42 s, of which training
 * takes 31 s at 60 samples/s; some seconds pass between steps. Simulated: 5 of 1.5 s, with 0.7 s to load and 1.3 s
 * to switch. 2 s follow. */
static void test_evaluations_at_the_end(void **state)
{
    struct arena a = { 0 };
    struct run_log log = { .global_batch = 30, .throughput_samples_per_s = 60, .samples_to_converge = 1860, .time_to_train_s = 45, .eval_time_s = 0.1,
                           .n_evals = 4, .startup_s = 1, .last_eval_s = 43, .evals_at_end = true };
    struct run_entry entry = { .converged = true, .compliant = true };
    struct drawn_run drawn = { .converged = true, .samples = 1860, .n_evals = 5, .time_s = 40, .scaling_s = 0.5 };
    const struct result r = { .step_time_s = 0.5 };
    const struct drawn_runs d = { .runs = &drawn, .n = 1 };
    struct simulated_side side = { .result = &r, .runs = &d, .logged_batch = 30, .timing = { .step_time_s = 0.5, .eval_time_s = 1.5, .tail_s = 1.3,
                                   .first_eval_extra_s = 0.7, .eval_placement = EVAL_END } };
    struct folder f = { .runs = &entry, .n = 1 };
    struct log_comparison c;
    (void)state;
    log_compare(&c, &f, &log, "r", &side, &a);
    assert_near(value(&c, "evaluation")->published, 11 / 4.0, 1e-12);
    assert_near(value(&c, "evaluation")->simulated, (5 * 1.5 + 2) / 5, 1e-12);
    assert_near(c.parts_s[TIME_EVALUATIONS], 11 - (5 * 1.5 + 2), 1e-12);
    assert_near(c.parts_s[TIME_AFTER], 2 - 0.5, 1e-12);
    arena_free(&a);
}

/* Two epochs of 110 samples, in steps of 15 that are a call each: 7 steps in 20 s, then 8 in 42 s. */
static void test_epochs_of_whole_steps(void **state)
{
    struct arena a = { 0 };
    double rates[] = { 110 / 20.0, 110 / 42.0 };
    struct run_log log = { .global_batch = 15, .throughput_samples_per_s = 110 / 31.0, .steady_samples_per_s = 110 / 22.0, .samples_to_converge = 220,
                           .time_to_train_s = 62, .n_evals = 1, .unit_rates = rates, .n_units = 2, .first_unit = 1, .epochs_trained = 2, .epoch_samples = 110 };
    struct run_entry entry = { .converged = true, .compliant = true };
    struct drawn_run drawn = { .converged = true, .samples = 140, .n_evals = 1, .time_s = 30 };
    const struct result r = { .step_time_s = 3 };
    const struct drawn_runs d = { .runs = &drawn, .n = 1 };
    struct simulated_side side = { .result = &r, .runs = &d, .logged_batch = 15, .is_source = true,
                                   .timing = { .step_time_s = 3, .samples_per_step = 15, .steps_per_call = 1 } };
    struct folder f = { .runs = &entry, .n = 1 };
    struct log_comparison c;
    (void)state;
    log_compare(&c, &f, &log, "r", &side, &a);
    assert_near(value(&c, "step in block 1")->published, 20e3 / 7, 1e-9);
    assert_near(value(&c, "step in block 2")->published, 42e3 / 8, 1e-9);
    assert_near(1 / value(&c, "step")->published, 1 / ((20e3 / 7 + 42e3 / 8) / 2), 1e-12);
    assert_near(value(&c, "step in steady state")->published, 20e3 / 7 + 0.1 * (42e3 / 8 - 20e3 / 7), 1e-9);
    assert_near(c.parts_s[TIME_SAMPLES], (15 - 10) * 3, 1e-9);
    arena_free(&a);
}

static void test_formats(void **state)
{
    struct arena a = { 0 };
    struct log_comparison c = compare(&a);
    char *text, *csv;
    (void)state;
    json_t *all = log_comparison_json(&c);
    struct table rows = log_comparison_rows();
    log_comparison_add(&rows, &c, &a);
    PRINTED(text, (log_comparison_print(f, &c), fputs("--\n", f), table_write(f, FORMAT_CSV, &rows), fputs("--\n", f),
                   json_dumpf(all, f, JSON_INDENT(1) | JSON_REAL_PRECISION(10))));
    assert_golden(text, "tests/golden/log_comparison.txt", &a);
    json_decref(all);
    free(text);
    PRINTED(text, log_comparison_print(f, &c));
    assert_non_null(strstr(text, "v2.0 closed A s bert: recipe r; 2 of 3 logs comply and converged\n"));
    assert_non_null(strstr(text, "  the mean run takes +0.08 min compared with the simulated one: samples to converge -0.00, time of a step -0.02,"));
    PRINTED(csv, table_write(f, FORMAT_CSV, &rows));
    assert_non_null(strstr(csv, "v2.0,closed,A,s,bert,r,score,min,0.38,,,0.31,0.2,0.4\n"));
    json_t *o = log_comparison_json(&c);
    assert_int_equal(json_array_size(json_object_get(o, "values")), c.n_values);
    json_decref(o);
    free(text), free(csv);
    arena_free(&a);
}

/* Large numbers are printed as integers, others with five digits. */
static void test_digits(void **state)
{
    struct compared_value values[] = {
        { .what = "large", .unit = "s", .published = 1e5, .published_low = 99999, .published_high = 104321.4, .simulated = -104321.4, .simulated_low = NAN, .simulated_high = NAN },
        { .what = "small", .unit = "s", .published = 7.0 / 3, .published_low = NAN, .published_high = NAN, .simulated = 123.4567, .simulated_low = NAN, .simulated_high = NAN },
    };
    struct log_comparison c = { .round = "r", .division = "d", .submitter = "s", .system = "y", .benchmark = "b", .recipe = "e",
                                .values = values, .n_values = 2, .difference_s = NAN };
    char *text;
    (void)state;
    PRINTED(text, log_comparison_print(f, &c));
    assert_string_equal(strchr(strchr(text, '\n') + 1, '\n') + 1,
        "  large     s        100000   99999 .. 104321    -104321              -   -204.32\n"
        "  small     s        2.3333                 -     123.46              -  +5191.00\n");
    free(text);
}

/* 7 is below, inside, above and at either end of the interval. Without an interval nothing is printed. */
static void test_inside_and_outside(void **state)
{
    struct compared_value values[] = {
        { .what = "below", .unit = "s", .published = 7, .simulated = 8, .simulated_low = 7.5, .simulated_high = 9 },
        { .what = "within", .unit = "s", .published = 7, .simulated = 8, .simulated_low = 6, .simulated_high = 9 },
        { .what = "above", .unit = "s", .published = 7, .simulated = 5.6, .simulated_low = 5, .simulated_high = 6.5 },
        { .what = "lowest", .unit = "s", .published = 7, .simulated = 8, .simulated_low = 7, .simulated_high = 9 },
        { .what = "highest", .unit = "s", .published = 7, .simulated = 5.6, .simulated_low = 5, .simulated_high = 7 },
        { .what = "alone", .unit = "s", .published = 7, .simulated = 7, .simulated_low = NAN, .simulated_high = NAN },
    };
    static const char *const ends[] = { "+14.29  outside\n", "+14.29  inside\n", "-20.00  outside\n", "+14.29  inside\n",
                                        "-20.00  inside\n", "+0.00\n" };
    enum { N = sizeof values / sizeof *values };
    struct log_comparison c = { .round = "r", .division = "d", .submitter = "s", .system = "y", .benchmark = "b", .recipe = "e",
                                .values = values, .n_values = N, .difference_s = NAN };
    char *text;
    (void)state;
    PRINTED(text, log_comparison_print(f, &c));
    for (size_t i = 0; i < N; i++) {
        const char *line = strstr(text, values[i].what), *end = line ? strstr(line, ends[i]) : NULL;
        assert_non_null(end);
        assert_ptr_equal(strchr(line, '\n'), end + strlen(ends[i]) - 1);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_parts_sum_to_the_difference), cmocka_unit_test(test_evaluations_of_no_known_time), cmocka_unit_test(test_epochs_of_whole_calls),
                                        cmocka_unit_test(test_epochs_of_whole_steps), cmocka_unit_test(test_evaluations_at_the_end), cmocka_unit_test(test_formats), cmocka_unit_test(test_inside_and_outside), cmocka_unit_test(test_digits) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
