/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_check_print.c - a check in the five formats; rows read back as they were written. */
#include "tests/published/checked_world.h"
#include <jansson.h>

/* Without simulated rows there are no errors. */
static void accuracy_as_json(void **state)
{
    (void)state;
    struct figure f = figure("worst of all", "run", "latency_s", 1, 0.1, FIGURE_VALIDATE);
    const struct check_row row = { .figure = &f };
    const struct accuracy one = { .n_rows = 5, .n_simulated = 1, .n_passed = 4, .errors = { .n = 3, .mean = 0.25, .median = 0.125, .bias = -0.75 },
                                  .max_abs_error = 0.5, .worst = &row }, none = { .n_rows = 2 };
    json_t *known = accuracy_json(&one), *unknown = accuracy_json(&none);
    char *text = json_dumps(known, JSON_SORT_KEYS), *other = json_dumps(unknown, JSON_SORT_KEYS);
    assert_string_equal(text, "{\"bias\": -0.75, \"configurations\": 3, \"max_abs_error\": 0.5, \"mean_abs_error\": 0.25, \"median_abs_error\": 0.125, \"passed\": 4, "
                              "\"rows\": 5, \"simulated\": 1, \"worst\": \"worst of all\"}");
    assert_string_equal(other, "{\"bias\": null, \"configurations\": 0, \"max_abs_error\": null, \"mean_abs_error\": null, \"median_abs_error\": null, \"passed\": 0, "
                               "\"rows\": 2, \"simulated\": 0, \"worst\": null}");
    free(text), free(other);
    json_decref(known), json_decref(unknown);
}

/* A single run, with published and with predicted samples. A kernel is only counted. */
static void one_run_as_text(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    char *text;
    world_build(&w);
    w.figures[0] = figure("only", "slow", "time_to_train_min", 40, 0.2, FIGURE_VALIDATE);
    w.figures[1] = figure("part", "kernel:matmul;machine=x", "tflop_per_s", 40, 0.2, FIGURE_CONTEXT);
    w.figures[1].kernel = &product;
    w.list.n = 2;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    PRINTED(text, print_as(f, FORMAT_TEXT, &w));
    assert_non_null(strstr(text, "\nonly    time_to_train_min  validate         40         30   -25.00     20  out of tolerance  slow\n"));
    assert_non_null(strstr(text, "\nand 1 measured kernels, links and collectives: "));
    assert_non_null(strstr(text, "\nonly              validate         40                30   -25.00                 46   +15.00\n"));
    free(text);
    world_free(&w);
}

/* Each metric is its own column of the result, in the figure's unit. */
static void metrics_are_columns(void **state)
{
    (void)state;
    static const struct result run = { .id = "run", .workload = "resnet50", .system = "ipu-pod16", .throughput_samples_per_s = 700, .time_to_train_s = 150,
                                       .latency_s = 0.03, .samples_to_converge = 1100, .step_time_s = 1.3, .evaluation_time_s = 17, .mfu = 0.19, .hfu = 0.23,
                                       .fits = true };
    static const struct { const char *metric; double value; } cases[] = {
        { "throughput_samples_per_s", 700 }, { "time_to_train_min", 2.5 }, { "latency_s", 0.03 }, { "samples_to_converge", 1100 }, { "step_time_s", 1.3 },
        { "evaluation_time_s", 17 }, { "time_to_train_s", 150 }, { "mfu", 0.19 }, { "hfu", 0.23 },
    };
    enum { N = sizeof cases / sizeof *cases };
    struct world w = {0};
    struct err err;
    world_build(&w);
    results_add(&w.from.known, &run, &w.a);
    for (size_t i = 0; i < N; i++)
        w.figures[i] = figure(cases[i].metric, "run", cases[i].metric, 1.25 * cases[i].value, 0.21, FIGURE_CONTEXT);
    w.list.n = N;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    for (size_t i = 0; i < N; i++) {
        assert_near(w.check.rows[i].simulated, cases[i].value, 1e-12 * cases[i].value);
        assert_near(w.check.rows[i].error, -0.2, 1e-12);
        assert_int_equal(w.check.rows[i].verdict, VERDICT_PASS);
    }
    world_free(&w);
}

/* Every format whole: as text, TAP, CSV and JSON, with what fits and what does not. */
static void every_format(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    char *text;
    world_build(&w);
    w.figures[4].configuration = "another";
    w.figures[9] = figure("part", "kernel:matmul;machine=x;m=3", "tflop_per_s", 40, 0.2, FIGURE_CONTEXT);
    w.figures[10] = figure("link", "link:p2p", "latency_us", 4, 0.345, FIGURE_VALIDATE);
    w.figures[9].kernel = &product;
    w.figures[10].link = &word;
    w.figures[11] = figure("too large", "big", "fits", 0, 0.1, FIGURE_VALIDATE);
    w.list.n = 12;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    PRINTED(text, (print_as(f, FORMAT_TEXT, &w), print_as(f, FORMAT_TAP, &w), print_as(f, FORMAT_CSV, &w),
                   print_as(f, FORMAT_JSON, &w)));
    assert_golden(text, "tests/golden/check_formats.txt", &w.a);
    free(text);
    world_free(&w);
}

static void rows_are_read_back_as_written(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    struct results set = {0};
    struct result r = { .id = "x, \"y\"", .workload = "resnet50", .system = "ipu-pod16", .ipus = 16, .global_batch = 1921.5,
                        .throughput_samples_per_s = 29123.25, .step_time_s = 0.0625, .fits = true, .mfu = 0.3,
                        .memory_peak_bytes_per_tile = 600000 };
    for (size_t i = 0; i < N_PARTS; i++)
        r.breakdown_s[i] = 0.0625 / N_PARTS;
    char *text;
    PRINTED(text, (result_write_csv(f, NULL), result_write_csv(f, &r)));
    assert_true(results_load(&set, temp_file(text, strlen(text), ".csv"), &a, &err));
    free(text);
    assert_int_equal(set.n, 1);
    assert_string_equal(set.items[0].id, r.id);
    assert_true(set.items[0].ipus == 16 && set.items[0].fits && set.items[0].memory_peak_bytes_per_tile == 600000);
    assert_near(set.items[0].throughput_samples_per_s, 29123.25, 0);
    assert_near(set.items[0].time_to_train_s, 0, 0);    /* absent */
    assert_near(set.items[0].breakdown_s[3], 0.0625 / N_PARTS, 1e-11);
    arena_free(&a);
}

static void json_has_null_for_unknown_and_a_breakdown_that_sums(void **state)
{
    (void)state;
    struct result r = { .id = "x", .workload = "resnet50", .system = "ipu-pod16", .step_time_s = 2.0 };
    for (size_t i = 0; i < N_PARTS; i++)
        r.breakdown_s[i] = 0.1;                         /* 20 parts */
    json_t *json = result_json(&r), *value;
    const char *key;
    double sum = 0;
    assert_true(json_is_null(json_object_get(json, "time_to_train_s")));
    assert_true(json_is_false(json_object_get(json, "fits")));
    json_object_foreach(json_object_get(json, "breakdown"), key, value)
        sum += json_real_value(value);
    assert_near(sum, json_real_value(json_object_get(json, "step_time_s")), 1e-12);
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(accuracy_as_json), cmocka_unit_test(one_run_as_text), cmocka_unit_test(metrics_are_columns), cmocka_unit_test(every_format),
    cmocka_unit_test(rows_are_read_back_as_written), cmocka_unit_test(json_has_null_for_unknown_and_a_breakdown_that_sums),
};
TAP_MAIN(tests)
