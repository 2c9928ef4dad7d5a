/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_ranks.c - logs as the ranks of a run write them: several records on a line, placeholders, two starts, two stops, two
 * runs in one file; and verdicts by rules that are provisional. */
#include "tests/check.h"
#include "tests/mlperf/lint_log.h"

#include <unistd.h>

/* A copy of the first line that holds `what`, with `from` replaced by `to`, put before or behind it. The caller frees the text. */
static char *doubled(const char *text, const char *what, const char *from, const char *to, bool behind)
{
    char line[600], *copy;
    const char *at = strstr(text, what), *start = at, *end = strchr(at, '\n') + 1;
    while (start > text && start[-1] != '\n')
        start--;
    snprintf(line, sizeof line, "%.*s", (int)(end - start), start);
    copy = edited(line, from, to);
    const char *cut = behind ? end : start;
    char *out = malloc(strlen(text) + strlen(copy) + 1);
    sprintf(out, "%.*s%s%s", (int)(cut - text), text, copy, cut);
    free(copy);
    return out;
}

/* The record after the last token of a line counts, as in the official parser. Line 12 of the log is the accumulation of 7. */
static void test_several_records_on_a_line(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run);
    char *joined = edited(text, "\"value\": 7,", "\"value\": :::MLLOG {\"time_ms\": 1, \"key\": \"gradient_accumulation_steps\", \"value\": 5,");
    char *broken = edited(text, "\"value\": 7,", "\"value\": 7, \"x\": \":::MLLOG {\",");
    (void)state;
    expect(joined, "2.0.0", ":12: warning: holds several records, of which only the last counts (1 such line in this log)", true);
    expect(broken, "2.0.0", ":12: error: is not JSON", false);
    free(text), free(joined), free(broken);
}

/* The last run_start before run_stop is scored; the last run_stop says whether the run converged. */
static void test_two_starts_and_stops(void **state)
{
    struct submission_description s = resnet();
    char *text = log_text(&s, &resnet_run);
    char *starts = doubled(text, "\"run_start\"", "\"run_start\"", "\"run_start\"", true);
    expect(starts, "2.0.0", "warning: run_start: is the one that is scored: the last before run_stop", true);
    (void)state;
    char *stops = doubled(text, "\"run_stop\"", "success", "aborted", true);
    expect(stops, "2.0.0", "warning: run_stop: has another status than the one before: the first run_stop ends the time, the last says whether the run "
                           "converged, here 'aborted'", true);
    char *same = doubled(text, "\"run_stop\"", "success", "success", true), *printed;
    bool passed;
    printed = lint_of(same, "2.0.0", &passed);
    assert_true(passed);
    assert_null(strstr(printed, "another status"));
    free(printed), free(same), free(text), free(starts), free(stops);
}

/* A run_stop that comes later has the last word on convergence, and takes the point before it; the time ends with the first. */
static void test_what_counts_of_two_stops(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge judge;
    struct judge_options options = { .data_dir = "workloads/convergence" };
    struct submission_description s = resnet();
    char *text = log_text(&s, &resnet_run), *aborted = doubled(text, "\"run_stop\"", "success", "aborted", false);
    (void)state;
    assert_true(judge_load(&judge, &options, &a, &err));
    for (int both = 0; both < 2; both++) {
        struct log_judgement j;
        const char *written = both ? aborted : text, *path = temp_file(written, strlen(written), ".txt");
        assert_true(log_judge(&j, &judge, path, false, edition_find(&judge.rounds, "v2.0"), "resnet", &a, &err));
        unlink(path);
        assert_true(j.run.success && (j.run.other_stop_line != 0) == (both == 1));
        assert_near(j.point, 38, 0);
        assert_near(j.run.time_to_train_s, 1700.125, 1e-9);
    }
    free(text), free(aborted);
    arena_free(&a);
}

/* A second run in the file is said once, at its first line, and nothing else of it. */
static void test_two_runs_in_a_file(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run), *both = malloc(2 * strlen(text) + 1), *printed, want[200];
    size_t n_lines = 0, n_errors = 0;
    bool passed;
    (void)state;
    for (const char *c = text; *c; c++)
        n_lines += *c == '\n';
    size_t first = 1;
    for (const char *line = text; !strstr(line, "\"init_start\"") || strstr(line, "\"init_start\"") > strchr(line, '\n'); line = strchr(line, '\n') + 1)
        first++;
    sprintf(both, "%s%s", text, text);
    snprintf(want, sizeof want, ".txt:%zu: error: init_start: a second run begins here, after run_stop: a log holds one run, so split the file", n_lines + first);
    printed = lint_of(both, "2.0.0", &passed);
    for (const char *at = printed; (at = strstr(at, ": error: ")); at++)
        n_errors++;
    if (!strstr(printed, want) || n_errors != 1)
        print_error("want '%s' in:\n%s", want, printed);
    assert_non_null(strstr(printed, want));
    assert_true(!passed && n_errors == 1);
    free(text), free(both), free(printed);
}

#define LINE(key, value, metadata) ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", \"key\": \"" key "\", \"value\": " value ", \"metadata\": {" metadata "}}\n"
#define HEAD(benchmark) LINE("submission_division", "\"closed\"", "") LINE("submission_benchmark", "\"" benchmark "\"", "")

/* An epoch_num may be a placeholder where samples_count is the point, and must be a number where it is the point itself. */
static void test_placeholders(void **state)
{
    static const char sentence[] = "epoch_num -1 cannot be a count of samples or epochs, refused by podbench";
    struct { const char *text; bool refused; } cases[] = {
        { HEAD("llama31_8b") LINE("eval_accuracy", "3.2", "\"epoch_num\": -1, \"samples_count\": 12288"), false },
        { HEAD("retinanet") LINE("eval_accuracy", "0.4", "\"epoch_num\": -1"), true },
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        bool passed;
        char *printed = lint_of(cases[i].text, "5.1.0", &passed);
        assert_true((strstr(printed, sentence) != NULL) == cases[i].refused);
        free(printed);
    }
}

/* Rules of a round without a tag are marked in every format, for a log and for a folder; those of a round with one are not. */
static void test_provisional_rules(void **state)
{
    static const char mark[] = "rules of 2026-09-18";
    static const enum output_format formats[] = { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_TAP, FORMAT_JUNIT };
    struct arena a = { 0 };
    struct err err;
    char top[] = "/tmp/podbench-test-ranks-XXXXXX";
    const char *text = HEAD("flux1") LINE("eval_accuracy", "0.5", "\"samples_count\": 262144");
    (void)state;
    assert_non_null(mkdtemp(top));
    const char *dir = arena_printf(&a, "%s/v6.1/closed/Acme/box/flux1", top), *log = arena_printf(&a, "%s/result_0.txt", dir);
    assert_true(make_folders(dir, &err));
    FILE *file = fopen(log, "w");
    fputs(text, file);
    fclose(file);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (int of_folder = 0; of_folder < 2; of_folder++)
            for (int later = 0; later < 2; later++) {
                bool passed;
                char *printed = lint_text(of_folder ? dir : log, later ? "v6.1" : "v6.0", formats[i], &passed, &err);
                if ((strstr(printed, mark) != NULL) != (later == 1))
                    print_error("format %zu, folder %d: %s\n", i, of_folder, printed);
                assert_true((strstr(printed, mark) != NULL) == (later == 1));
                free(printed);
            }
    struct judged_tree j = judge_tree(top, NULL, &a);
    struct document d = { .arena = &a };
    char *csv;
    score_add(document_table(&d, score_table()), &j.folder, &a);
    PRINTED(csv, document_write(f, FORMAT_CSV, &d));
    assert_non_null(strstr(csv, "6.1.0 (provisional, rules of 2026-09-18)"));
    free(csv);
    assert_int_equal(system(arena_printf(&a, "rm -r %s", top)), 0);
    arena_free(&a);
}

/* Notes on demands that stand in the written rules alone. */
static void test_written_rules(void **state)
{
#define RATES(end) HEAD("gpt_oss_20b") LINE("opt_base_learning_rate", "0.0008", "") LINE("opt_end_learning_rate", end, "")
#define DLRM(rate) HEAD("dlrmv4") LINE("global_batch_size", "16384", "") LINE("opt_base_learning_rate", rate, "")
    static const struct { const char *text, *ruleset, *note; bool noted; } cases[] = {
        { RATES("0.00008"), "6.0.0", "opt_end_learning_rate must be 4e-05 or 0.1 * opt_base_learning_rate by the written rules", false },
        { RATES("0.00004"), "6.0.0", "opt_end_learning_rate must be 4e-05 or 0.1 * opt_base_learning_rate by the written rules", false },
        { RATES("0.00005"), "6.0.0", "review: opt_end_learning_rate must be 4e-05 or 0.1 * opt_base_learning_rate by the written rules", true },
        { RATES("0.00004"), "6.1.0", "review: opt_end_learning_rate must be 0.1 * opt_base_learning_rate by the written rules", true },
        { RATES("0.00008"), "6.1.0", "opt_end_learning_rate must be 0.1 * opt_base_learning_rate by the written rules", false },
        { DLRM("3e-06"), "6.1.0", "opt_base_learning_rate must be from 0.5 to 1.5 times 1e-06 * global_batch_size / 8192", false },
        { DLRM("3.1e-06"), "6.1.0", "review: opt_base_learning_rate must be from 0.5 to 1.5 times 1e-06 * global_batch_size / 8192", true },
        { DLRM("9e-07"), "6.1.0", "review: opt_base_learning_rate must be from 0.5 to 1.5 times 1e-06 * global_batch_size / 8192", true },
        { DLRM("3e-06"), "6.1.0", "review: holds records alone: the written rules want the whole log of the framework in it", true },
        { "a line of the framework\n" DLRM("3e-06"), "6.1.0", "holds records alone", false }, { RATES("0.00004"), "6.0.0", "holds records alone", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool passed;
        char *printed = lint_of(cases[i].text, cases[i].ruleset, &passed);
        if ((strstr(printed, cases[i].note) != NULL) != cases[i].noted)
            print_error("%zu: %s in:\n%s", i, cases[i].note, printed);
        assert_true((strstr(printed, cases[i].note) != NULL) == cases[i].noted);
        free(printed);
    }
}

/* The reference test gathers FID and CLIP of a log that names no division, and takes its last run_stop even without a run_start. */
static void test_points_of_a_refused_log(void **state)
{
    static const char text[] = LINE("submission_benchmark", "\"stable_diffusion\"", "")
        LINE("eval_accuracy", "91.5", "\"metric\": \"FID\", \"samples_count\": 512000") LINE("eval_accuracy", "0.17", "\"metric\": \"CLIP\", \"samples_count\": 512000")
        LINE("eval_accuracy", "89.5", "\"metric\": \"FID\", \"samples_count\": 1024000") LINE("eval_accuracy", "0.17", "\"metric\": \"CLIP\", \"samples_count\": 1024000")
        LINE("run_stop", "null", "\"status\": \"success\"");
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge judge;
    struct judge_options options = { .data_dir = "workloads/convergence" };
    struct log_judgement j;
    const char *path = temp_file(text, sizeof text - 1, ".txt");
    (void)state;
    assert_true(judge_load(&judge, &options, &a, &err));
    assert_true(log_judge(&j, &judge, path, false, edition_find(&judge.rounds, "v5.0"), "stable_diffusion", &a, &err));
    unlink(path);
    assert_false(j.compliance.passed);
    assert_true(j.run.success);
    assert_near(j.point, 1024000, 0);
    assert_null(j.stops);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_points_of_a_refused_log),
    cmocka_unit_test(test_several_records_on_a_line), cmocka_unit_test(test_two_starts_and_stops), cmocka_unit_test(test_what_counts_of_two_stops),
    cmocka_unit_test(test_two_runs_in_a_file), cmocka_unit_test(test_placeholders), cmocka_unit_test(test_provisional_rules), cmocka_unit_test(test_written_rules),
};
TAP_MAIN(tests)
