/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_coverage.c - how many published runs lie within the interval that is predicted for them: three of one system that take 2, 4 and 6 s a batch. */
#include "tests/check.h"
#include "results/accuracy/coverage.h"
#include <jansson.h>

static const char data[] = "workloads/convergence";

static bool fixed_timing(void *user, struct run_timing *out, const struct run_row *run, struct err *err)
{
    (void)run, (void)err;
    *out = (struct run_timing){ .step_time_s = *(double *)user };
    return *(double *)user > 0;
}

static void test_coverage_by_hand(void **state)
{
    static const char rows[] = "round,division,submitter,system,accelerators,benchmark,run,role,status,time_to_train_s,startup_s,eval_placement,"
        "eval_s,post_train_s,global_batch,samples_to_converge,epochs,evals,final_accuracy,optimizer,throughput_samples_per_s,source\n"
        "v2.0,closed,A,s,8,bert,0,validate,success,1806,,inline,,,3072,2774016,,,,lamb,,t\n"     /* 903 steps of 2 s */
        "v2.0,closed,A,s,8,bert,1,validate,success,3612,,inline,,,3072,2774016,,,,lamb,,t\n"
        "v2.0,open,A,s,8,bert,2,context,success,1000,,inline,,,3072,600000,,,,lamb,,t\n"
        "v0.7,closed,A,s,8,bert,0,context,success,1000,,inline,,,3072,2774016,,,,lamb,,t\n";
    struct arena a = { 0 };
    struct err err = { "" };
    struct coverage c;
    double step = 2;
    const char *path = arena_strdup(&a, temp_file(rows, strlen(rows), ".csv"));
    (void)state;
    coverage_report(&c, path, data, fixed_timing, &step, &a, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(c.items[0].n, 3);
    assert_int_equal(c.items[0].samples_inside, 2);
    assert_int_equal(c.items[0].time_n, 3);
    assert_int_equal(c.items[0].time_inside, 1);
    assert_near(c.items[0].submissions, 2, 1e-12);      /* the closed one's runs are inside; of its times one of two is */
    assert_near(c.items[0].samples_once, 1, 1e-12);
    assert_near(c.items[0].time_once, 0.5, 1e-12);
    assert_int_equal(c.n_without_reference, 1);
    step = 0;                                   /* a model that knows none of them */
    coverage_report(&c, path, data, fixed_timing, &step, &a, &err);
    assert_int_equal(c.items[0].n, 0);
    assert_int_equal(c.n_without_timing, 3);
    unlink(path);
    arena_free(&a);
}

static void test_coverage_as_text(void **state)
{
    const struct coverage c = { .items = { { .what = "all", .n = 8, .samples_inside = 7, .time_n = 5, .time_inside = 4, .submissions = 3,
                                             .samples_once = 2.7, .time_submissions = 2, .time_once = 1.5 },
                                           { .what = "bert", .n = 4, .samples_inside = 1, .submissions = 2, .samples_once = 0.5 } },
                                .n = 2, .n_without_reference = 6, .n_without_timing = 9 };
    char *text;
    (void)state;
    PRINTED(text, coverage_print(f, &c));
    assert_string_equal(text,
        "runs       number     samples inside        time inside  submissions    samples %       time %\n"
        "all             8         7 (87.5 %)         4 (80.0 %)            3         90.0         75.0\n"
        "bert            4         1 (25.0 %)                  -            2         25.0\n"
        "90 % intervals; the last two columns count each submission once. Left out: 6 runs of rounds without reference points, 9 of systems "
        "that are not simulated\n");
    free(text);
    json_t *json = coverage_json(&c);
    assert_near(json_number_value(json_object_get(json_array_get(json, 0), "samples_share")), 0.9, 1e-12);
    assert_near(json_number_value(json_object_get(json_array_get(json, 0), "time_share")), 0.75, 1e-12);
    assert_near(json_number_value(json_object_get(json_array_get(json, 1), "samples_share")), 0.25, 1e-12);
    assert_true(json_is_null(json_object_get(json_array_get(json, 1), "time_share")));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_by_hand), cmocka_unit_test(test_coverage_as_text),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
