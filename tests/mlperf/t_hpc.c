/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_hpc.c - MLPerf HPC: strong scaling scored as Training is, weak scaling by the time for all models; layers that one
 * value calls for. */
#include "tests/mlperf/judged.h"
#include "tests/test_folder.h"

#include <sys/stat.h>
#include <unistd.h>

static void put_line(FILE *f, int64_t ms, const char *key, const char *value, const char *metadata)
{
    mllog_write(f, &(struct mllog_entry){ "", key, MLLOG_POINT, ms, value, "t.py", 3, metadata });
}

/* A run on 3 nodes of 7 accelerators, in the open division. */
static void write_model(const char *dir, int i, int64_t start_ms, int64_t stop_ms)
{
    char path[300];
    snprintf(path, sizeof path, "%s/result_%d.txt", dir, i);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    put_line(f, 1, "submission_division", "\"open\"", NULL);
    put_line(f, 1, "submission_benchmark", "\"cosmoflow\"", NULL);
    put_line(f, 1, "submission_org", "\"Acme\"", NULL);
    put_line(f, 1, "submission_platform", "\"toy\"", NULL);
    put_line(f, 1, "submission_status", "\"onprem\"", NULL);
    put_line(f, 1, "number_of_nodes", "3", NULL);
    put_line(f, 1, "accelerators_per_node", "7", NULL);
    put_line(f, 1, "global_batch_size", "64", NULL);
    put_line(f, 1, "train_samples", "1300", NULL);
    put_line(f, 1, "eval_samples", "7", NULL);
    put_line(f, 1, "cache_clear", "true", NULL);
    put_line(f, 1, "init_start", NULL, NULL);
    put_line(f, 1, "init_stop", NULL, NULL);
    put_line(f, start_ms, "run_start", NULL, NULL);
    put_line(f, start_ms, "epoch_start", NULL, "\"epoch_num\": 1");
    put_line(f, stop_ms, "epoch_stop", NULL, "\"epoch_num\": 1");
    put_line(f, stop_ms, "eval_start", NULL, "\"epoch_num\": 1");
    put_line(f, stop_ms, "eval_error", "0.1", "\"epoch_num\": 1");
    put_line(f, stop_ms, "eval_stop", NULL, "\"epoch_num\": 1");
    put_line(f, stop_ms, "run_stop", NULL, "\"status\": \"success\"");
    fclose(f);
}

static const char *write_models(const char *metric, int n, struct arena *a)
{
    const char *dir = arena_printf(a, "%s/hpc_results_v2.0/Acme/results/box/%s/cosmoflow", top, metric);
    assert_true(make_folders(dir, NULL));
    for (int i = 0; i < n; i++)
        write_model(dir, i, 60000 + 3000 * i, 660000 + 9000 * i);
    return dir;
}

/* Model i runs from 60 + 3 i to 660 + 9 i s. The last of eleven ends 660 + 90 - 60 s after the first begins; the strong score of ten is the
 * mean of 600 + 6 i s over i from 1 to 8. */
static void test_scores(void **state)
{
    struct arena a = { 0 };
    struct score_row row;
    (void)state;
    write_models("weak", 11, &a);
    struct judged_tree j = judge_tree(top, NULL, &a);
    score_row_fill(&row, &j.folder, &a);
    assert_null(j.folder.problem);
    assert_int_equal(j.folder.parts[PACKAGE_FILES].state, PART_PASSED);
    assert_string_equal(j.folder.parts[PACKAGE_FILES].text, "11 logs, want at least 10");
    assert_near(row.score_minutes, 690 / 60.0, 1e-12);
    assert_near(row.models, 11, 0);
    assert_near(row.measures[MEASURE_INSTANCE], 21, 0);
    assert_string_equal(row.metric, "weak");
    assert_string_equal(row.note, "");
    assert_string_equal(row.shown_note, "weak scaling: the time for all of 11 models, each on 21 accelerators");
    tear_down(state);
    write_models("strong", 10, &a);
    j = judge_tree(top, NULL, &a);
    score_row_fill(&row, &j.folder, &a);
    assert_near(row.score_minutes, (600 + 6 * 4.5) / 60, 1e-12);
    assert_true(isnan(row.models));
    assert_string_equal(row.metric, "strong");
    arena_free(&a);
}

/* Nine models are too few, a tenth that is refused does not count, and runs that the submitter left out are not read. */
static void test_too_few_models(void **state)
{
    struct arena a = { 0 };
    (void)state;
    const char *dir = write_models("weak", 10, &a), *pruned = arena_printf(&a, "%s/pruned_results", dir);
    FILE *f = fopen(arena_printf(&a, "%s/result_9.txt", dir), "w");
    fclose(f);
    assert_true(make_folders(pruned, NULL));
    write_model(pruned, 0, 60000, 61000);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_int_equal(j.n, 1);
    assert_non_null(strstr(j.notices, "pruned_results: holds runs that their submitter left out: not read"));
    assert_true(isnan(j.folder.score_minutes));
    assert_string_equal(j.folder.why_no_score, "9 models trained by the rules, hpc-v2.0 wants at least 10");
    arena_free(&a);
}

/* opt_name calls for the rules of LAMB alone; scheduler_type names its own. */
static void test_layers_of_one_value(void **state)
{
    static const struct { const char *optimizer, *scheduler; bool lamb, multistep; } cases[] = {
        { "LAMB", "multistep", true, true }, { "Adam", "cosine_annealing", false, false }, { "AdamW", "multistep", false, true },
    };
    struct arena a = { 0 };
    struct err err;
    struct rule_library l;
    const struct rule_book *b;
    (void)state;
    assert_true(rules_load(&l, "workloads/convergence", &a, &err));
    assert_true(rules_of_round(&b, &l, "hpc-v3.0", &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layer_calls calls = { .n = 0 };
        struct layer_queue q;
        bool lamb = false, multistep = false;
        layer_calls_add(&calls, "submission_division", "closed", &a);
        layer_calls_add(&calls, "submission_benchmark", "deepcam", &a);
        layer_calls_add(&calls, "opt_name", cases[i].optimizer, &a);
        layer_calls_add(&calls, "scheduler_type", cases[i].scheduler, &a);
        layer_queue_fill(&q, &calls, b, &a);
        assert_null(q.missing);
        for (size_t k = 0; k < q.n; k++)
            lamb = lamb || text_is(q.layers[k]->name, "closed_deepcam_lamb"), multistep = multistep || text_is(q.layers[k]->name, "closed_deepcam_multistep");
        assert_true(lamb == cases[i].lamb && multistep == cases[i].multistep);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scores, set_up, tear_down), cmocka_unit_test_setup_teardown(test_too_few_models, set_up, tear_down),
        cmocka_unit_test(test_layers_of_one_value),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
