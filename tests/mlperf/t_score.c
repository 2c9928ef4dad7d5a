/* t_score.c - official scores: by hand, over trees of several shapes, and of the published logs. */
#include "tests/check.h"
#include "tests/golden_text.h"
#include "results/mlperf/score.h"

static double score(const char *benchmark, const char **note, size_t n, const double *minutes)
{
    static struct arena a;
    double s = olympic_score(minutes, n, benchmark, note, &a);
    static char kept[200];
    snprintf(kept, sizeof kept, "%s", *note);
    *note = kept;
    arena_free(&a);
    return s;
}

#define RUNS(...) sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), (const double[]){ __VA_ARGS__ }

static void test_by_hand(void **state)
{
    const char *note;
    (void)state;
    assert_near(score("resnet", &note, RUNS(7.5, 2.385, 3.1, 9.7, 4.4)), (7.5 + 3.1 + 4.4) / 3, 1e-12);
    assert_string_equal(note, "");
    assert_near(score("resnet", &note, RUNS(7.5, HUGE_VAL, 3.1, 9.7, 4.4)), (4.4 + 7.5 + 9.7) / 3, 1e-12);
    assert_true(isnan(score("resnet", &note, RUNS(7.5, HUGE_VAL, 3.1, HUGE_VAL, 4.4))));
    assert_string_equal(note, "2 runs did not converge, at most 1 may");
    assert_near(score("bert", &note, RUNS(3, 5, 7, 11, 13, 17, 19, 23, 29, 31)), (5 + 7 + 11 + 13 + 17 + 19 + 23 + 29) / 8.0, 1e-12);
}

/* Windows of seven runs 3 9 4 8 5 7 6: {3 9 4 8 5} 17/3, {9 4 8 5 7} 20/3, {4 8 5 7 6} 18/3: the median is 6. */
static void test_more_or_fewer_runs(void **state)
{
    const char *note;
    (void)state;
    assert_near(score("resnet", &note, RUNS(3, 9, 4, 8, 5, 7, 6)), 6, 1e-12);
    assert_string_equal(note, "7 runs: median over windows of 5");
    assert_near(score("resnet", &note, RUNS(3, 9, 4.5)), 5.5, 1e-12);
    assert_string_equal(note, "3 of 5 runs: plain mean, not a score");
    assert_near(score("gpt3", &note, RUNS(3, 4)), 3.5, 1e-12);
    assert_string_equal(note, "'gpt3' is no benchmark with a known number of runs: plain mean");
}

/* ---- trees: five runs of 60, 72, 84, 96 and 132 s; two blocks of 2 epochs each of a quarter of the run ------------ */

static void put(FILE *f, int64_t ms, enum mllog_event event, const char *key, const char *value, const char *metadata)
{
    struct mllog_entry e = { "", key, event, ms, value, "t.py", 3, metadata };
    mllog_write(f, &e);
}

static void write_run(const char *path, int i)
{
    static const int64_t seconds[] = { 60, 72, 84, 96, 132 };
    int64_t quarter = seconds[i] * 250;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    put(f, 100, MLLOG_POINT, "submission_benchmark", "\"resnet\"", NULL);
    put(f, 100, MLLOG_POINT, "submission_division", "\"closed\"", NULL);
    put(f, 100, MLLOG_POINT, "submission_org", "\"Somebody\"", NULL);
    put(f, 100, MLLOG_POINT, "global_batch_size", "13", NULL);
    put(f, 100, MLLOG_POINT, "train_samples", "[1300]", NULL);
    put(f, 1000, MLLOG_START, "init_start", NULL, NULL);
    put(f, 8000, MLLOG_STOP, "init_stop", NULL, NULL);
    put(f, 10000, MLLOG_START, "run_start", NULL, NULL);
    put(f, 10000 + quarter, MLLOG_START, "block_start", NULL, "\"first_epoch_num\": 1, \"epoch_count\": 2");
    put(f, 10000 + 2 * quarter, MLLOG_STOP, "block_stop", NULL, "\"first_epoch_num\": 1");
    put(f, 10000 + 2 * quarter, MLLOG_START, "eval_start", NULL, "\"epoch_num\": 2");
    put(f, 10000 + 3 * quarter, MLLOG_STOP, "eval_stop", NULL, "\"epoch_num\": 2");
    put(f, 10000 + 3 * quarter, MLLOG_POINT, "eval_accuracy", "0.76", "\"epoch_num\": 2");
    put(f, 10000 + 4 * quarter, MLLOG_STOP, "run_stop", NULL, i == 4 ? "\"status\": \"aborted\"" : "\"status\": \"success\"");
    fclose(f);
}

static void write_tree(const char *dir)
{
    struct err err;
    char path[256];
    assert_true(make_folders(dir, &err));
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/result_%d.txt", dir, i);
        write_run(path, i);
    }
}

static char top[64];
static int set_up(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/podbench-test-score-%ld", (long)getpid());
    return 0;
}
static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

static void test_names_from_the_path(void **state)
{
    static const struct { const char *path, *start, *round, *submitter, *system; } cases[] = {
        { "v2.0/closed/Acme/box/resnet", "", "v2.0", "Acme", "box" },
        { "training_results_v1.1/Acme/results/box/resnet", "/training_results_v1.1", "v1.1", "Acme", "box" },
        { "box/resnet", "/box", "", "Somebody", "box" },
        { "box/resnet", "/box/resnet", "", "Somebody", "box" },
    };
    struct arena a = { 0 };
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct score_table t;
        write_tree(arena_printf(&a, "%s/%s", top, cases[i].path));
        assert_true(score_tree(&t, arena_printf(&a, "%s%s", top, cases[i].start), NULL, &a, &err));
        assert_int_equal(t.n, 1);
        assert_string_equal(t.items[0].round, cases[i].round);
        assert_string_equal(t.items[0].submitter, cases[i].submitter);
        assert_string_equal(t.items[0].system, cases[i].system);
        assert_string_equal(t.items[0].division, "closed");
        assert_string_equal(t.items[0].benchmark, "resnet");
        tear_down(state);
    }
    arena_free(&a);
}

/* Score: 72, 84 and 96 s, as the aborted run is the slowest: 1.4 min. An epoch is an eighth of a run: of those that converged 7.5, 9, 10.5
 * and 12 s, median 9.75, 1300 / 9.75 samples/s each way: the median of rates is that of 1300/9 and 1300/10.5. */
static void test_columns_by_hand(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct score_table t;
    (void)state;
    write_tree(top);
    assert_true(score_tree(&t, top, NULL, &a, &err));
    const struct score_row *r = &t.items[0];
    assert_int_equal(r->runs, 5);
    assert_int_equal(r->failed, 1);
    assert_near(r->score_minutes, 1.4, 1e-12);
    assert_near(r->mean_minutes, 1.3, 1e-12);
    assert_near(r->spread, 0.6 / 1.3, 1e-12);
    assert_near(r->samples_to_converge, 2 * 1300, 0);
    assert_near(r->global_batch, 13, 0);
    assert_near(r->throughput_samples_per_s, (1300 / 9.0 + 1300 / 10.5) / 2, 1e-9);
    assert_near(r->eval_time_s, (18 + 21) / 2.0, 1e-9);
    assert_near(r->startup_time_s, (18 + 21) / 2.0, 1e-9);
    assert_near(r->init_time_s, 7, 1e-9);
    FILE *f = fopen(arena_printf(&a, "%s/scaling.json", top), "w");
    fputs("{\"scaling_factor\": 1.25}", f);
    fclose(f);
    assert_true(score_tree(&t, top, NULL, &a, &err));
    assert_near(t.items[0].score_minutes, 1.75, 1e-12);
    arena_free(&a);
}

static void test_formats_agree(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct score_table t;
    char *csv, *text;
    (void)state;
    write_tree(arena_printf(&a, "%s/v2.0/closed/Acme/box/resnet", top));
    assert_true(score_tree(&t, top, NULL, &a, &err));
    PRINTED(csv, score_write_csv(f, &t));
    assert_non_null(strstr(csv, "round,division,submitter,system,benchmark,runs,failed,required_runs,score_minutes,"));
    assert_non_null(strstr(csv, "\nv2.0,closed,Acme,box,resnet,5,1,5,1.4,1,1.3,1,1.6,"));
    PRINTED(text, score_print(f, &t));
    assert_golden(text, "tests/golden/mlperf_score.txt", &a);
    json_t *rows = score_json(&t);
    assert_int_equal(json_array_size(rows), 1);
    assert_near(json_number_value(json_object_get(json_array_get(rows, 0), "score_minutes")), 1.4, 1e-12);
    assert_int_equal(json_array_size(json_object_get(json_array_get(rows, 0), "logs")), 5);
    json_decref(rows);
    free(csv);
    free(text);
    arena_free(&a);
}

static void test_refusals(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct score_table t;
    (void)state;
    assert_false(score_tree(&t, "tests/nowhere", NULL, &a, &err));
    assert_string_equal(err.msg, "tests/nowhere: no such folder, want one that holds result_N.txt files somewhere below");
    assert_false(score_tree(&t, "tests/bad/mllog", NULL, &a, &err));
    assert_string_equal(err.msg, "tests/bad/mllog: no result_N.txt in it or below it");
    arena_free(&a);
}

/* ---- published logs ---------------------------------------------------------------------------------- */

static const struct { const char *column; size_t offset; double tolerance; } compared[] = {
#define C(column, member, tolerance) { column, offsetof(struct score_row, member), tolerance }
    C("score_minutes", score_minutes, 1e-9), C("rcp_scaling_factor", scaling, 1e-9), C("median_samples_to_converge", samples_to_converge, 1e-9),
    C("median_epochs_to_converge", epochs_to_converge, 1e-9), C("global_batch_size", global_batch, 1e-9),
    C("throughput_samples_s", throughput_samples_per_s, 1e-9), C("median_eval_s", eval_time_s, 1e-6),
    C("median_pre_train_s", startup_time_s, 1e-6), C("median_init_s", init_time_s, 1e-9), C("median_train_unit_s", train_unit_s, 1e-9),
};

static const char *cell(const struct csv_table *t, size_t row, const char *column)
{
    size_t c;
    assert_true(csv_column(&c, t, column, NULL));
    return t->rows[row].cells[c];
}

static void compare_row(const struct csv_table *t, const struct score_row *r)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!text_is(cell(t, i, "round"), r->round) || !text_is(cell(t, i, "division"), r->division)
            || !text_is(cell(t, i, "submitter"), r->submitter) || !text_is(cell(t, i, "system"), r->system)
            || !text_is(cell(t, i, "benchmark"), r->benchmark))
            continue;
        for (size_t k = 0; k < sizeof compared / sizeof *compared; k++) {
            double got = *(const double *)((const char *)r + compared[k].offset), want;
            if (!parse_f64(cell(t, i, compared[k].column), &want))
                assert_true(isnan(got));
            else
                assert_near(got, want, compared[k].tolerance * fmax(1, fabs(want)));
        }
        return;
    }
    print_error("%s %s %s is not in the table\n", r->round, r->system, r->benchmark);
    assert_true(false);
}

static void test_published_scores(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct csv_table t;
    struct score_table scores;
    (void)state;
    SKIP_WITHOUT("../shared/mlperf-logs");
    assert_true(csv_load(&t, "../shared/data/mlperf_scores.csv", &a, &err));
    assert_true(score_tree(&scores, "../shared/mlperf-logs", "workloads/convergence", &a, &err));
    assert_true(scores.n >= 37);
    for (size_t i = 0; i < scores.n; i++)
        compare_row(&t, &scores.items[i]);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_more_or_fewer_runs),
        cmocka_unit_test_setup_teardown(test_names_from_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_columns_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_formats_agree, set_up, tear_down), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_published_scores),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
