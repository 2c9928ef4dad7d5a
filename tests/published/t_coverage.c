/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_coverage.c - how many published runs lie inside the interval predicted for them: three runs of one system with
 * 2, 4 and 6 s a batch. */
#include "tests/check.h"
#include "results/published/check.h"
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

/* Submissions of two, three and one run. An aborted run is inside if the interval reaches beyond its end. A run that
 * evaluates only at the end is treated like any other, and so is a success. */
static void test_counts_of_each_group(void **state)
{
    static const char rows[] = "round,division,submitter,system,accelerators,benchmark,run,role,status,time_to_train_s,startup_s,eval_placement,"
        "eval_s,post_train_s,global_batch,samples_to_converge,epochs,evals,final_accuracy,optimizer,throughput_samples_per_s,source\n"
        "v2.0,closed,A,s,8,bert,0,validate,success,1806,,inline,,,3072,2774016,,,,lamb,,t\n"
        "v2.0,closed,A,s,8,bert,1,validate,success,3612,,inline,,,3072,2774016,,,,lamb,,t\n"
        "v2.0,closed,B,s,8,bert,0,context,aborted,1000,,inline,,,3072,600000,,,,lamb,,t\n"
        "v2.0,closed,B,s,8,bert,1,context,aborted,1e6,,inline,,,3072,1e9,,,,lamb,,t\n"
        "v2.0,closed,B,s,8,bert,2,context,aborted,1000,,end,,,3072,600000,,,,lamb,,t\n"
        "v2.0,open,A,s,8,bert,0,calibrate,success,1000,,inline,,,3072,600000,,,,lamb,,t\n";
    static const struct coverage_count want[] = {
        { "all", 6, 3, 2, 3, 4 / 3.0, 5 / 6.0 }, { "bert", 6, 3, 2, 3, 4 / 3.0, 5 / 6.0 }, { "closed", 5, 3, 2, 2, 4 / 3.0, 5 / 6.0 },
        { "validate", 2, 2, 1, 1, 1, 0.5 }, { "context", 3, 1, 1, 1, 1 / 3.0, 1 / 3.0 }, { "open", 1, 0, 0, 1, 0, 0 }, { "calibrate", 1, 0, 0, 1, 0, 0 },
    };
    struct arena a = { 0 };
    struct err err = { "" };
    struct coverage c;
    double step = 2;
    (void)state;
    assert_true(coverage_report(&c, temp_file(rows, strlen(rows), ".csv"), data, fixed_timing, &step, &a, &err));
    assert_int_equal(c.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < c.n; i++) {
        const struct coverage_count *k = &c.items[i];
        assert_string_equal(k->what, want[i].what);
        assert_true(k->n == want[i].n && k->samples_inside == want[i].samples_inside && k->time_inside == want[i].time_inside);
        assert_near(k->submissions, want[i].submissions, 1e-12);
        assert_near(k->samples_once, want[i].samples_once, 1e-12);
        assert_near(k->time_once, want[i].time_once, 1e-12);
    }
    arena_free(&a);
}

static void test_coverage_as_text(void **state)
{
    const struct coverage c = { .items = { { .what = "all", .n = 8, .samples_inside = 7, .time_inside = 5, .submissions = 3, .samples_once = 2.7, .time_once = 1.8 },
                                           { .what = "bert" }, { .what = "rnnt", .n = 4, .samples_inside = 3, .time_inside = 1, .submissions = 1, .samples_once = 0.75, .time_once = 0.25 } },
                                .n = 3, .n_without_reference = 6, .n_without_timing = 9 };
    struct arena a = {0};
    struct document d = { .arena = &a };
    char *text;
    (void)state;
    coverage_document(&d, &c);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    assert_string_equal(text,
        "single runs of simulated systems inside the 90 % interval predicted for them; the last two columns count each submission once\n"
        "runs  number  samples inside     %  time inside     %  submissions  samples %  time %\n"
        "all        8               7  87.5            5  62.5            3       90.0    60.0\n"
        "bert       0               0     -            0     -            0          -       -\n"
        "rnnt       4               3  75.0            1  25.0            1       75.0    25.0\n"
        "left out: 6 runs of rounds without reference points, 9 of systems that are not simulated\n");
    free(text);
    struct table t = coverage_table(&c, &a);
    json_t *json = table_json(&t);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "[{\"of\":\"all\",\"runs\":8,\"samples_inside\":7,\"timed_runs\":8,\"time_inside\":5,\"submissions\":3.0,\"samples_share\":0.9,"
                              "\"time_share\":0.6},{\"of\":\"bert\",\"runs\":0,\"samples_inside\":0,\"timed_runs\":0,\"time_inside\":0,\"submissions\":0.0,"
                              "\"samples_share\":null,\"time_share\":null},{\"of\":\"rnnt\",\"runs\":4,\"samples_inside\":3,\"timed_runs\":4,\"time_inside\":1,\"submissions\":1.0,"
                              "\"samples_share\":0.75,\"time_share\":0.25}]");
    free(text);
    json_decref(json);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_by_hand), cmocka_unit_test(test_counts_of_each_group), cmocka_unit_test(test_coverage_as_text),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
