/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_score.c - official scores: by hand, over trees of several shapes, and of the published logs. */
#include "tests/check.h"
#include <sys/stat.h>
#include "tests/golden_text.h"
#include "tests/mlperf/judged.h"
#include "tests/test_folder.h"

static double score(size_t dropped, size_t n, const double *minutes)
{
    double sorted[40];
    memcpy(sorted, minutes, n * sizeof *sorted);
    return olympic_minutes(sorted, n, dropped);
}

#define RUNS(...) sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), (const double[]){ __VA_ARGS__ }

static void test_by_hand(void **state)
{
    (void)state;
    assert_near(score(1, RUNS(7.5, 2.385, 3.1, 9.7, 4.4)), (7.5 + 3.1 + 4.4) / 3, 1e-12);
    assert_near(score(1, RUNS(7.5, HUGE_VAL, 3.1, 9.7, 4.4)), (4.4 + 7.5 + 9.7) / 3, 1e-12);
    assert_true(isnan(score(1, RUNS(7.5, HUGE_VAL, 3.1, HUGE_VAL, 4.4))));
    assert_near(score(1, RUNS(3, 5, 7, 11, 13, 17, 19, 23, 29, 31)), (5 + 7 + 11 + 13 + 17 + 19 + 23 + 29) / 8.0, 1e-12);
    assert_near(score(4, RUNS(1, 2, 3, 4, 5.5, 6, 7, 8, HUGE_VAL)), 5.5, 1e-12);   /* four at each end */
    assert_near(score(1, RUNS(3, 9, 4.5)), 4.5, 1e-12);         /* the summariser does not check the number of runs */
    assert_true(isnan(score(1, RUNS(3, 9))));
}

/* ---- trees: five runs of 60, 72, 84, 96 and 132 s, the last refused for its accuracy; a block of 2 epochs in a
 * quarter of the run ------------ */

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
    put(f, 100, MLLOG_POINT, "submission_division", "\"open\"", NULL);
    put(f, 100, MLLOG_POINT, "submission_org", "\"Somebody\"", NULL);
    put(f, 100, MLLOG_POINT, "submission_platform", "\"toy\"", NULL);
    put(f, 100, MLLOG_POINT, "submission_status", "\"onprem\"", NULL);
    put(f, 100, MLLOG_POINT, "cache_clear", "true", NULL);
    put(f, 100, MLLOG_POINT, "eval_samples", "7", NULL);
    put(f, 100, MLLOG_POINT, "global_batch_size", "13", NULL);
    put(f, 100, MLLOG_POINT, "train_samples", "[1300]", NULL);
    put(f, 1000, MLLOG_START, "init_start", NULL, NULL);
    put(f, 8000, MLLOG_STOP, "init_stop", NULL, NULL);
    put(f, 10000, MLLOG_START, "run_start", NULL, NULL);
    put(f, 10000 + quarter, MLLOG_START, "block_start", NULL, "\"first_epoch_num\": 1, \"epoch_count\": 2");
    put(f, 10000 + 2 * quarter, MLLOG_STOP, "block_stop", NULL, "\"first_epoch_num\": 1");
    put(f, 10000 + 2 * quarter, MLLOG_START, "eval_start", NULL, "\"epoch_num\": 2");
    put(f, 10000 + 3 * quarter, MLLOG_STOP, "eval_stop", NULL, "\"epoch_num\": 2");
    put(f, 10000 + 3 * quarter, MLLOG_POINT, "eval_accuracy", i == 4 ? "1.5" : "0.76", "\"epoch_num\": 2");
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

static void test_names_from_the_path(void **state)
{
    static const struct { const char *path, *start, *round, *submitter, *system; } cases[] = {
        { "v2.0/closed/Acme/box/resnet", "", "v2.0", "Acme", "box" },
        { "training_results_v1.1/Acme/results/box/resnet", "/training_results_v1.1", "v1.1", "Acme", "box" },
        { "v1.0/box/resnet", "/v1.0/box/resnet", "v1.0", "Somebody", "box" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_tree(arena_printf(&a, "%s/%s", top, cases[i].path));
        struct judged_tree j = judge_tree(arena_printf(&a, "%s%s", top, cases[i].start), NULL, &a);
        assert_int_equal(j.n, 1);
        assert_string_equal(j.row.round, cases[i].round);
        assert_string_equal(j.row.submitter, cases[i].submitter);
        assert_string_equal(j.row.system, cases[i].system);
        assert_string_equal(j.row.division, i == 0 ? "closed" : "open");
        assert_string_equal(j.row.benchmark, "resnet");
        tear_down(state);
    }
    arena_free(&a);
}

/* Score: 72, 84 and 96 s, as the refused run is the slowest: 1.4 min. An epoch is an eighth of a run: of those that
 * converged 7.5, 9, 10.5 and 12 s; the median of rates is that of 1300/9 and 1300/10.5; evaluations and startup are
 * a quarter of 72 and 84 s. */
static void test_columns_by_hand(void **state)
{
    struct arena a = { 0 };
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
    write_tree(dir);
    struct judged_tree j = judge_tree(top, NULL, &a);
    const struct score_row *r = &j.row;
    assert_int_equal(r->runs, 5);
    assert_near(r->failed, 1, 0);
    assert_near(r->score_minutes, 1.4, 1e-12);
    assert_near(r->mean_minutes, 1.3, 1e-12);
    assert_near(r->spread, 0.6 / 1.3, 1e-12);
    assert_near(r->measures[MEASURE_SAMPLES], 2 * 1300, 0);
    assert_near(r->measures[MEASURE_BATCH], 13, 0);
    assert_near(r->measures[MEASURE_THROUGHPUT], (1300 / 9.0 + 1300 / 10.5) / 2, 1e-9);
    assert_near(r->measures[MEASURE_EVAL_TIME], 19.5, 1e-9);
    assert_near(r->measures[MEASURE_STARTUP], 19.5, 1e-9);
    assert_near(r->measures[MEASURE_INIT], 7, 1e-9);
    assert_string_equal(r->note, "1 of 5 runs refused, counted as slowest");
    FILE *f = fopen(arena_printf(&a, "%s/scaling.json", dir), "w");
    fputs("{\"scaling_factor\": 1.25}", f);
    fclose(f);
    assert_near(judge_tree(top, NULL, &a).row.score_minutes, 1.75, 1e-12);
    assert_near(judge_tree(top, &(struct judge_options){ .ruleset = "1.1.0" }, &a).row.score_minutes, 1.4, 1e-12);    /* not read before 2.0.0 */
    static const struct { const char *text; double by; } good[] = { { "{\"scaling_factor\": 1}", 1 }, { "{\"scaling_factor\": 1000000}", 1e6 },
        { "{\"scaling_factor\": 1.5, \"scaling_factor\": 1.25}", 1.25 } };        /* the last of two counts, as in Python */
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(f = fopen(arena_printf(&a, "%s/scaling.json", dir), "w"));
        fputs(good[i].text, f);
        fclose(f);
        assert_near(judge_tree(top, NULL, &a).row.score_minutes, 1.4 * good[i].by, 1e-6);
    }
    for (int bytes = 1048576; bytes <= 1048577; bytes++) {          /* a file of 1 MiB is read, a larger one is not */
        assert_non_null(f = fopen(arena_printf(&a, "%s/scaling.json", dir), "w"));
        fprintf(f, "%-*s}", bytes - 1, "{\"scaling_factor\": 1.25");
        fclose(f);
        double score = judge_tree(top, NULL, &a).row.score_minutes;
        assert_true(bytes == 1048576 ? fabs(score - 1.75) < 1e-12 : isnan(score));
    }
    static const char *const bad[] = { "{\"scaling_factor\": 1000001}", "{\"scaling_factor\": 0.9999}", "garbage", "{}", "[1.25]", "{\"scaling_factor\": \"1.25\"}", "{\"scaling_factor\": 0.9}", "{\"scaling_factor\": 1e308}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(f = fopen(arena_printf(&a, "%s/scaling.json", dir), "w"));
        fputs(bad[i], f);
        fclose(f);
        j = judge_tree(top, NULL, &a);
        assert_true(isnan(j.row.score_minutes));
        assert_string_equal(j.row.note, "scaling.json has no scaling_factor that is a number from 1");
    }
    arena_free(&a);
}

/* Samples to converge: as logged, or as steps of a batch of 13. Older logs have 1 there, and 5000 at their end. */
static void test_samples_by_the_unit(void **state)
{
    static const struct { const char *place, *benchmark; int point; double samples; } cases[] = {
        { "v2.0/open/Acme/box/bert", "bert", 7000, 7000 }, { "v2.0/open/Acme/box/bert", "bert", 2, 2 }, { "v2.0/open/Acme/box/bert", "bert", 1, 5000 },
        { "v3.1/open/Acme/box/stable_diffusion", "stable_diffusion", 50, 650 }, { "v3.1/open/Acme/box/stable_diffusion", "stable_diffusion", 2, 26 },
        { "v3.1/open/Acme/box/stable_diffusion", "stable_diffusion", 1, 5000 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err;
        bool steps = i > 2;
        const char *dir = arena_printf(&a, "%s/%s", top, cases[i].place), *metadata = arena_printf(&a, "\"epoch_num\": %d", cases[i].point);
        assert_true(make_folders(dir, &err));
        FILE *f = fopen(arena_printf(&a, "%s/result_0.txt", dir), "w");
        put(f, 100, MLLOG_POINT, "submission_benchmark", arena_printf(&a, "\"%s\"", cases[i].benchmark), NULL);
        put(f, 100, MLLOG_POINT, "submission_division", "\"open\"", NULL);
        put(f, 100, MLLOG_POINT, "global_batch_size", "13", NULL);
        put(f, 200, MLLOG_START, "run_start", NULL, NULL);
        for (int k = 0; k < 1 + steps; k++)
            put(f, 300, MLLOG_POINT, "eval_accuracy", k ? "0.16" : steps ? "80" : "0.8",
                steps ? arena_printf(&a, "\"step_num\": %d, \"metric\": \"%s\"", cases[i].point, k ? "CLIP" : "FID") : metadata);
        put(f, 400, MLLOG_POINT, "train_samples", "5000", NULL);
        put(f, 500, MLLOG_STOP, "run_stop", NULL, "\"status\": \"success\"");
        fclose(f);
        struct judged_tree j = judge_tree(arena_printf(&a, "%s/%.4s", top, cases[i].place), NULL, &a);
        assert_int_equal(j.folder.n, 1);
        assert_near(j.folder.runs[0].point, cases[i].point, 0);
        assert_near(j.folder.runs[0].measures[MEASURE_SAMPLES], cases[i].samples, 0);
        arena_free(&a);
    }
}

static void replace_in(const char *path, const char *from, const char *to, struct arena *a)
{
    char *text;
    assert_true(read_text_file(&text, NULL, path, 1 << 20, a, NULL));
    FILE *f = fopen(path, "w");
    for (char *at; (at = strstr(text, from)); text = at + strlen(from))
        fprintf(f, "%.*s%s", (int)(at - text), text, to);
    fputs(text, f);
    fclose(f);
}

/* A batch or an evaluation that is no count, or a start-up that ends before it begins, is refused and left out of
 * medians. One such log is allowed, two are not. */
static void test_impossible_counts(void **state)
{
    static const struct { const char *from, *to; } wrong[] = {
        { "\"value\": 13,", "\"value\": 0," }, { "\"value\": 13,", "\"value\": -13," }, { "\"value\": 13,", "\"value\": 1e300," },
        { "\"value\": 13,", "\"value\": \"many\"," }, { "\"epoch_num\": 2", "\"epoch_num\": -2" }, { "\"epoch_num\": 2", "\"epoch_num\": 1e308" },
        { "\"time_ms\": 8000,", "\"time_ms\": 999," },
    };
    struct arena a = { 0 };
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_tree(dir);
        struct judged_tree whole = judge_tree(top, NULL, &a);
        replace_in(arena_printf(&a, "%s/result_4.txt", dir), wrong[i].from, wrong[i].to, &a);      /* the log that is refused anyway */
        struct judged_tree j = judge_tree(top, NULL, &a);
        assert_near(j.row.score_minutes, whole.row.score_minutes, 0);
        assert_near(j.row.measures[MEASURE_BATCH], 13, 0);
        replace_in(arena_printf(&a, "%s/result_1.txt", dir), wrong[i].from, wrong[i].to, &a);
        j = judge_tree(top, NULL, &a);
        assert_true(isnan(j.row.score_minutes));
        assert_string_equal(j.row.note, "2 of 5 runs are refused (result_1.txt: a number that no run can have), at most 1 may be");
        assert_near(j.row.measures[MEASURE_SAMPLES], whole.row.measures[MEASURE_SAMPLES], 0);
    }
    arena_free(&a);
}

/* Different names in path and log, and an unknown status, earn a warning, without control characters. */
static void test_names_that_differ(void **state)
{
    struct arena a = { 0 };
    struct err err;
    bool passed;
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top), *log = arena_printf(&a, "%s/result_1.txt", dir);
    write_tree(dir);
    replace_in(log, "\"open\"", "\"closed\"", &a);
    replace_in(log, "\"success\"", "\"SUC\\u001b[31mCESS\\n\"", &a);
    replace_in(log, "\"resnet\"", "\"bert\"", &a);
    char *text = lint_text(dir, NULL, FORMAT_TEXT, &passed, &err);
    assert_non_null(strstr(text, "result_1.txt: warning: submission_benchmark: is 'bert', and the log is among those of 'resnet'\n"));
    assert_non_null(strstr(text, "result_1.txt: warning: submission_division: is 'closed', and the log is among those of 'open'\n"));
    assert_non_null(strstr(text, "result_1.txt: warning: run_stop: status 'SUC [31mCESS ' is neither success nor aborted: taken for a run that did not converge\n"));
    assert_null(strstr(text, "result_2.txt: warning: submission"));
    free(text);
    arena_free(&a);
}

/* No score: 2 of 5 runs refused is one too many; 2 runs leave none; a stop before the start, or after years, is
 * impossible. */
static void test_no_score(void **state)
{
    struct arena a = { 0 };
    char path[256];
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
    write_tree(dir);
    snprintf(path, sizeof path, "%s/result_4.txt", dir);
    unlink(path);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_near(j.row.score_minutes, (72 + 84) / 120.0, 1e-12);
    assert_string_equal(j.row.note, "4 logs, v2.0 wants 5: the package is refused");
    static const char *const times[] = { "9999", "1e999", "1e18" };
    static const char *const want[] = { "run_stop is not after run_start", "its time is longer than a run can be", "its time is longer than a run can be" };
    for (size_t i = 0; i < 3; i++) {
        write_tree(dir);
        for (int run = 0; run < 2; run++) {
            char *text;
            snprintf(path, sizeof path, "%s/result_%d.txt", dir, run);
            assert_true(read_text_file(&text, NULL, path, 1 << 20, &a, NULL));
            char *stop = strstr(text, "\"key\": \"run_stop\""), *line = stop;
            while (line > text && line[-1] != '\n')
                line--;
            FILE *f = fopen(path, "w");
            fprintf(f, "%.*s:::MLLOG {\"namespace\": \"\", \"time_ms\": %s, %s", (int)(line - text), text, times[i], stop);
            fclose(f);
        }
        j = judge_tree(top, NULL, &a);
        assert_true(isnan(j.row.score_minutes));
        assert_string_equal(j.row.note, arena_printf(&a, "3 of 5 runs are refused (result_0.txt: %s), at most 1 may be", want[i]));
    }
    arena_free(&a);
}

/* An unknown edition or benchmark is refused by name, and never judged by another's rules. */
static void test_unknown_names(void **state)
{
    struct arena a = { 0 };
    (void)state;
    static const struct { const char *path, *want; } cases[] = {
        { "v9.9/open/Acme/box/resnet", "round 'v9.9' is unknown; known: v0.7, v1.0, v1.1, v2.0, v2.1, v3.0, v3.1, v4.0, v4.1, v5.0, v5.1, v6.0, v6.1, hpc-v1.0, hpc-v2.0, hpc-v3.0" },
        { "hpc_results_v3.0/Acme/results/box/strong/resnet", "benchmark 'resnet' is not one of hpc-v3.0; known: cosmoflow, deepcam, oc20, openfold" },
        { "v5.0/open/Acme/box/resnet", "benchmark 'resnet' is not one of v5.0; known: bert, dlrm_dcnv2, llama2_70b_lora, llama31_405b, retinanet, "
                                       "rgat, stable_diffusion" },
        { "open/Acme/box/resnet", "result_0.txt: neither the path nor the log names the round; add --ruleset v4.0, or another of the rounds "
                                  "with resnet: v0.7, v1.0, v1.1, v2.0, v2.1, v3.0, v3.1, v4.0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_tree(arena_printf(&a, "%s/%s", top, cases[i].path));
        struct judged_tree j = judge_tree(top, NULL, &a);
        assert_true(isnan(j.row.score_minutes) && isnan(j.row.failed));
        const char *got = j.row.note;
        if (strcmp(got, cases[i].want))
            print_error("'%s', want '%s'\n", got, cases[i].want);
        assert_string_equal(got, cases[i].want);
        tear_down(state);
    }
    arena_free(&a);
}

/* One log too many bytes long: those before it were judged, those after it were not, and the row counts none. */
static void test_a_log_that_cannot_be_read(void **state)
{
    struct arena a = { 0 };
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
    write_tree(dir);
    assert_int_equal(truncate(arena_printf(&a, "%s/result_2.txt", dir), (256 << 20) + 1), 0);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_int_equal(j.row.runs, 5);
    assert_true(isnan(j.row.failed) && isnan(j.row.mean_minutes) && isnan(j.row.spread) && isnan(j.row.score_minutes));
    assert_string_equal(j.row.note, "result_2.txt: 268435457 bytes, more than the 268435456 that a log may have");
    arena_free(&a);
}

/* A ruleset that the user names counts, and the row says that the path names another round. */
static void test_another_round_than_the_path(void **state)
{
    struct arena a = { 0 };
    (void)state;
    write_tree(arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top));
    struct judged_tree own = judge_tree(top, NULL, &a), other = judge_tree(top, &(struct judge_options){ .ruleset = "2.1.0" }, &a);
    assert_null(strstr(own.row.note, "though the path says"));
    assert_non_null(strstr(other.row.note, "judged as v2.1, though the path says v2.0"));
    arena_free(&a);
}

/* Links are not followed and pipes not opened; both are reported. */
static void test_what_is_passed_over(void **state)
{
    struct arena a = { 0 };
    (void)state;
    const char *dir = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
    write_tree(dir);
    assert_int_equal(symlink(top, arena_printf(&a, "%s/loop", dir)), 0);
    assert_int_equal(symlink("result_0.txt", arena_printf(&a, "%s/result_7.txt", dir)), 0);
    assert_int_equal(mkfifo(arena_printf(&a, "%s/result_8.txt", dir), 0600), 0);
    assert_int_equal(mkfifo(arena_printf(&a, "%s/scaling.json", dir), 0600), 0);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_int_equal(j.n, 1);
    assert_int_equal(j.row.runs, 5);
    assert_string_equal(j.notices, "result_7.txt: is a symbolic link: not followed\nresult_8.txt: is a pipe: not read\n"
                                   "loop: is a symbolic link: not followed (and 1 more links, pipes or devices that are not named result_N.txt)\n");
    arena_free(&a);
}

/* A folder whose name has control characters is not read, and the message has none. */
static void test_names_that_a_terminal_would_obey(void **state)
{
    struct arena a = { 0 };
    struct judge judge;
    struct err err = { "" };
    size_t n;
    (void)state;
    const char *odd = arena_printf(&a, "%s/v2.0/open/Acme/box/res\033[31mnet\a", top), *fine = arena_printf(&a, "%s/v2.0/open/Best/box/resnet", top);
    write_tree(odd);
    write_tree(fine);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_int_equal(j.n, 1);
    assert_string_equal(j.folder.dir, fine);
    assert_string_equal(j.notices, "box: 'res?[31mnet?' holds a control character: not read\n");
    struct tree_visit visit = { judged_folder, judged_notice, &(struct judged_tree){ .judge = &judge, .a = &a }, NULL, { 0 } };
    const char *box = arena_printf(&a, "%s/v2.0/open/Acme/box", top);
    assert_false(tree_walk(&n, box, &visit, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 'res?[31mnet?' holds a control character", box));
    arena_free(&a);
}

/* A log needs a name between result_ and .txt; folders are read up to 32 levels down. */
static void test_names_and_depths(void **state)
{
    struct arena a = { 0 };
    (void)state;
    for (int levels = 32; levels <= 33; levels++) {
        const char *dir = top, *resnet = arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top);
        write_tree(resnet);
        FILE *f = fopen(arena_printf(&a, "%s/result_.txt", resnet), "w");
        assert_non_null(f);
        fclose(f);
        for (int i = 0; i < levels; i++)
            dir = arena_printf(&a, "%s/d", dir);
        write_tree(dir);
        struct judged_tree j = judge_tree(top, NULL, &a);
        assert_int_equal(j.n, levels == 32 ? 2 : 1);
        assert_string_equal(j.notices, levels == 32 ? "" : "d: is more than 32 folders deep: not read\n");
        assert_int_equal(j.row.runs, 5);
        tear_down(state);
    }
    arena_free(&a);
}

struct told { size_t n_folders, n_lines, n_ends; bool under_way; };

static void tell(void *user, const char *what, size_t done, size_t of)
{
    struct told *t = user;
    assert_int_equal(of, 0);
    t->under_way = what != NULL;
    t->n_ends += !what;
    if (!what)
        return;
    if (text_is(what, "folders looked through for logs"))
        t->n_folders = done;
    else if (text_is(what, "lines of result_4.txt"))
        t->n_lines = done;
}

/* The watch hears of each folder and line, and of an end after each log, before a notice, and at the end. */
static void test_long_work_tells(void **state)
{
    struct arena a = { 0 };
    struct told told = { 0 };
    struct judge_options options = { .watch = { tell, &told } };
    (void)state;
    write_tree(arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top));
    assert_int_equal(symlink("nowhere", arena_printf(&a, "%s/v2.0/link", top)), 0);
    judge_tree(top, &options, &a);
    assert_int_equal(told.n_folders, 6);
    assert_true(told.n_lines > 10 && !told.under_way);
    assert_int_equal(told.n_ends, 8);       /* five logs, their folder, the link, the end */
    arena_free(&a);
}

/* By its reference points a closed submission that converged too fast is 1.25 times as slow; in the open division they do not count. */
static void test_recomputed_minutes(void **state)
{
    static const struct { const char *division; bool has_rcp; double minutes; } cases[] = { { "closed", true, 8.75 }, { "open", true, 7 }, { "closed", false, 7 } };
    struct arena a = { 0 };
    struct edition edition = { .round = "v2.0", .tag = "2.0.0" };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct score_row row;
        struct folder f = { .dir = "d", .round = "v2.0", .remark = "", .metric = "", .division = cases[i].division, .edition = &edition, .problem = "none counts here",
                            .has_rcp = cases[i].has_rcp, .rcp = { .scaling = 1.25 }, .olympic_minutes = 7 };
        score_row_fill(&row, &f, &a);
        assert_near(row.recomputed_minutes, cases[i].minutes, 1e-12);
    }
    arena_free(&a);
}

/* Minutes of 3, 7 and 11 count; a run that the rules refuse, and one that has no time, are failed ones. */
static void test_runs_that_count(void **state)
{
    struct run_entry runs[] = {
        { .compliant = true, .minutes = 7 }, { .compliant = true, .minutes = 3 }, { .compliant = false, .minutes = 1 },
        { .compliant = true, .problem = "no run_stop", .minutes = 40 }, { .compliant = true, .minutes = 11 },
    };
    struct arena a = { 0 };
    struct edition edition = { .round = "v2.0", .tag = "2.0.0" };
    struct folder f = { .dir = "d", .round = "v2.0", .remark = "", .metric = "", .division = "open", .edition = &edition, .runs = runs, .n = 5 };
    struct score_row row;
    (void)state;
    score_row_fill(&row, &f, &a);
    assert_near(row.failed, 2, 0);
    assert_near(row.mean_minutes, 7, 1e-12);
    assert_near(row.min_minutes, 3, 0);
    assert_near(row.max_minutes, 11, 0);
    assert_near(row.spread, 8 / 7.0, 1e-12);
    arena_free(&a);
}

/* Two rows in every format; the second has numbers at which the number of digits changes. */
static void test_formats_agree(void **state)
{
    struct arena a = { 0 };
    char *text;
    (void)state;
    write_tree(arena_printf(&a, "%s/v2.0/open/Acme/box/resnet", top));
    struct judged_tree j = judge_tree(top, NULL, &a);
    struct document d = { .arena = &a };
    struct table *t = document_table(&d, score_table());
    score_add(t, &j.folder, &a);
    struct score_row *rows = t->rows, second = rows[0];
    rows[0].path = second.path = "path";
    second.logs = NULL, second.note = "", second.score_minutes = 999.5, second.spread = NAN;
    second.measures[MEASURE_SAMPLES] = 1000.5, second.measures[MEASURE_BATCH] = -1000.25, second.measures[MEASURE_THROUGHPUT] = -999.75;
    second.measures[MEASURE_EVAL_TIME] = 1000, second.measures[MEASURE_STARTUP] = 7;
    table_keep(t, &second, &a);
    PRINTED(text, (table_write(f, FORMAT_TEXT, t), table_write(f, FORMAT_CSV, t), document_write(f, FORMAT_JSON, &d)));
    assert_golden(text, "tests/golden/mlperf_score.txt", &a);
    free(text);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test_setup_teardown(test_names_from_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_columns_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_samples_by_the_unit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_score, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_that_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_names, set_up, tear_down), cmocka_unit_test_setup_teardown(test_a_log_that_cannot_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_round_than_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_that_a_terminal_would_obey, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_and_depths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_work_tells, set_up, tear_down),
        cmocka_unit_test(test_recomputed_minutes), cmocka_unit_test(test_runs_that_count),
        cmocka_unit_test_setup_teardown(test_formats_agree, set_up, tear_down),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
