/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_lint.c - logs against the rules: a conforming log, each way to break it with the exact message. */
#include "results/mlperf/mlperf_internal.h"
#include "tests/mlperf/lint_log.h"
#include <jansson.h>
#include <sys/stat.h>

static void test_a_conforming_log(void **state)
{
    static const char *const rulesets[] = { "1.0.0", "1.1.0", "2.0.0", "2.1.0" };
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int b = 0; b < 2; b++) {
            struct submission_description s = b ? bert() : resnet();
            bool passed;
            s.ruleset = rulesets[i];
            char *text = log_text(&s, b ? &bert_run : &resnet_run), *printed = lint_of(text, NULL, &passed);     /* the log names its round */
            if (!passed || strstr(printed, "error:") || strstr(printed, "warning:"))
                print_error("%s\n", printed);
            assert_true(passed && !strstr(printed, "error:") && !strstr(printed, "warning:"));
            free(text), free(printed);
        }
}

/* Edits of the BERT or ResNet-50 log of 2.0.0, each with its message (after the file's name). */
static const struct { bool of_bert; const char *what, *by, *want; } breakages[] = {
    { true, "\"global_batch_size\"", NULL, ": error: global_batch_size: is not logged, want it exactly once (2.0.0 closed_bert)" },
    { true, "\"key\": \"opt_epsilon\"", "\"key\": \"opt_lamb_epsilon\"",
      ": error: opt_epsilon: is not logged, want it exactly once (2.0.0 closed_bert)" },
    { true, "\"key\": \"opt_epsilon\"", "\"key\": \"opt_epsilom\"",
      ": review: opt_epsilom: is not a key of the rules; did you mean opt_epsilon, which is not logged?" },
    { true, "\"value\": 7,", "\"value\": 0,", ":12: error: gradient_accumulation_steps: is 0, must be above 0 (2.0.0 closed_common)" },
    { true, "\"value\": 7,", "\"value\": \"7\",",
      ":12: error: gradient_accumulation_steps: is the text \"7\", must be above 0 (2.0.0 closed_common)" },          /* text cannot be ordered */
    { true, "\"value\": \"research\"", "\"value\": \"dreamt\"",
      ":5: error: submission_status: is \"dreamt\", must be one of cloud, onprem, preview or research (2.0.0 common)" },
    { true, "\"status\": \"success\"", "\"state\": \"success\"", ": error: run_stop: must have status in its metadata (2.0.0 common)" },
    { true, "\"value\": 0.72,", "\"value\": 0.7199,",
      ": error: eval_accuracy: none of 3 values is enough: the last is 0.7199, one must be at least 0.72 and below 1 (2.0.0 closed_bert)" },
    { true, "\"value\": 0.72,", "\"value\": [0.72],",
      ": error: the official checker stops here: line 436: eval_accuracy is [0.72], and v>=0.72 & v<1.0 cannot be computed" },
    { true, "\"tensor\": \"bert/pooler/dense/bias\"", "\"tensor\": \"bert/pooler/dense/kernel\"",
      ": error: 1 of 398 names not listed: bert/pooler/dense/bias; 1 unknown or listed twice: bert/pooler/dense/kernel; "
      "the weights must be those of the reference model (2.0.0 closed_bert)" },
    { true, "\"key\": \"cache_clear\"", "\"key\": \"cache\"", ": error: cache_clear: is not logged, want it at least once (2.0.0 common)" },
    { true, "\"epoch_num\": 350208", "\"other\": 350208", ": error: eval_start: must have epoch_num in its metadata (2.0.0 common)" },
    { true, "\"epoch_num\": 350208", "\"epoch_nun\": 350208", ": error: eval_start: must have epoch_num in its metadata, which has epoch_nun: is it misspelt? (2.0.0 common)" },
    { false, "\"value\": 0.7593", "\"value\": 1.5",
      ": error: eval_accuracy: none of 10 values is enough: the last is 1.5, one must be at least 0.759 and below 1 (2.0.0 closed_resnet)" },
    { false, "\"value\": 5e-05", "\"value\": 7e-05",
      ": error: lars_opt_weight_decay: is 7e-05, must be 0.0001 times a power of two (2.0.0 closed_resnet_lars)" },
    { false, "\"value\": \"lars\"", "\"value\": \"adam\"", ": error: opt_name: is \"adam\", must be sgd or lars (2.0.0 closed_resnet)" },
    { false, "\"value\": \"lars\"", "\"value\": \"adam\"",
      ": error: the official checker stops here: there are no rules 'closed_resnet_adam' in 2.0.0" },
    { false, "\"key\": \"lars_epsilon\", \"value\": 0", "\"key\": \"lars_epsilon\", \"value\": 1e-09",
      ": error: lars_epsilon: is 1e-09, must be 0 (2.0.0 closed_resnet_lars)" },
    { false, "\"value\": \"closed\"", "\"value\": \"ajar\"",
      ":1: error: submission_division: is \"ajar\", must be closed or open (2.0.0 common)" },
    { false, "\"value\": \"resnet\"", "\"value\": \"chess\"",
      ": error: the official checker stops here: there are no rules 'closed_chess' in 2.0.0" },
    { false, ":::MLLOG {\"namespace\": \"podbench\", \"time_ms\": 1640995260000, \"event_type\": \"INTERVAL_START\", \"key\": \"run_start\"",
      ":::MLLOG {\"namespace\" \"podbench\"", ": error: is not JSON: ':' expected near '\"podbench\"'" },
};

static void test_each_breakage(void **state)
{
    struct submission_description b = bert(), c = resnet();
    char *bert_text = log_text(&b, &bert_run), *resnet_text = log_text(&c, &resnet_run);
    (void)state;
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        char *text = edited(breakages[i].of_bert ? bert_text : resnet_text, breakages[i].what, breakages[i].by);
        expect(text, "2.0.0", breakages[i].want, false);
        free(text);
    }
    free(bert_text), free(resnet_text);
}

static void test_repeated_keys(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run);
    (void)state;
    const char *line = ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", \"key\": \"opt_lamb_beta_1\", \"value\": %s, "
                       "\"metadata\": {}}\n%s";
    char *same = malloc(strlen(text) + 300), *other = malloc(strlen(text) + 300);
    sprintf(same, line, "0.62", text);
    sprintf(other, line, "0.63", text);
    expect(same, "2.0.0", "warning: opt_lamb_beta_1: is logged 2 times with one value, the last on line 21, want it exactly once", true);
    expect(other, "2.0.0", "error: opt_lamb_beta_1: is logged 2 times with different values, the last on line 21, want it exactly once", false);
    free(same), free(other), free(text);
}

/* Every host of a large run logs the keys that call for layers; many lines of one key do not hide the other keys. */
static void test_many_hosts(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run), *many = malloc(strlen(text) + 100 * 300);
    (void)state;
    *many = 0;
    for (int i = 0; i < 99; i++)
        strcat(many, ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", \"key\": \"submission_benchmark\", \"value\": \"bert\", "
               "\"metadata\": {}}\n");
    strcat(many, text);
    expect(many, "2.0.0", "warning: submission_benchmark: is logged 100 times with one value", true);
    free(text), free(many);
}

/* Reviewers are told of a second seed, and of evaluations that are timed before the run or before another; the log
 * passes. */
static void test_notes_for_reviewers(void **state)
{
    struct submission_description s = resnet();
    char *text = log_text(&s, &resnet_run), *seeds = edited(text, ":::MLLOG", ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", "
                                                            "\"key\": \"seed\", \"value\": 7, \"metadata\": {}}\n:::MLLOG");
    (void)state;
    expect(seeds, "2.0.0", ":11: review: seed: differs from the first seed of the log, 7", true);
    char *at = strstr(text, "\"key\": \"eval_accuracy\""), *time = at;
    while (strncmp(time, "\"time_ms\": ", 11) != 0)
        time--;
    time[11] = ' ';                     /* one digit less */
    expect(text, "2.0.0", "review: eval_accuracy: its time is before run_start", true);
    time[11] = '1';
    assert_int_equal(time[14], '0');
    time[14] = '1';                     /* 1e9 ms later than it was */
    expect(text, "2.0.0", "review: eval_accuracy: its time is before that of the evaluation before it", true);
    free(text), free(seeds);
}

/* A closed log from words KEY=VALUE or KEY=VALUE@SAMPLES. */
static const char *log_of_words(const char *benchmark, const char *words, struct arena *a)
{
    static const char line[] = ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", \"key\": \"%s\", \"value\": %s, \"metadata\": {%s}}\n";
    const char *text = arena_printf(a, line, "submission_division", "\"closed\"", "");
    char *rest = NULL;
    text = arena_printf(a, "%s%s", text, arena_printf(a, line, "submission_benchmark", arena_printf(a, "\"%s\"", benchmark), ""));
    for (char *word = strtok_r(arena_strdup(a, words), " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '='), *at = strchr(word, '@');
        *value++ = 0;
        if (at)
            *at++ = 0;
        text = arena_printf(a, "%s%s", text, arena_printf(a, line, word, value, at ? arena_printf(a, "\"samples_count\": %s", at) : ""));
    }
    return text;
}

/* Rules of v5.1 to v6.1 that compute. With a batch of 1152, llama31_405b warms up for 8000 of 1,200,000 steps.
 * deepseekv3_671b is evaluated first at 16384 * floor(42 + 24576/16384) samples, and learns at 2.4e-5. qwen35_397b_grpo
 * is evaluated at 256 * ceil(2.5 + 3840/256) samples and then every 256; a wrong point does not move the next. */
static void test_rules_that_compute(void **state)
{
    static const struct { const char *ruleset, *benchmark, *words, *message; int n_refused; } cases[] = {
        { "5.1.0", "llama31_405b", "global_batch_size=1152 opt_learning_rate_warmup_steps=5 opt_learning_rate_decay_steps=1192000", "decay_steps: is", 0 },
        { "5.1.0", "llama31_405b", "global_batch_size=1152 opt_learning_rate_warmup_steps=5 opt_learning_rate_decay_steps=1191999",
          "decay_steps: is 1191999, must be ceil(1200000 * 1152 / global_batch_size) - ceil(8000 * 1152 / global_batch_size), here 1192000 (", 1 },
        { "6.0.0", "llama31_405b", "opt_learning_rate_decay_steps=1192000",
          ", which cannot be computed here: a line that it needs is missing before this one (", 1 },       /* the batch is unknown */
        { "6.0.0", "deepseekv3_671b", "global_batch_size=16384 opt_base_learning_rate=2.4e-05", "learning_rate: is", 0 },
        { "6.0.0", "deepseekv3_671b", "global_batch_size=18432 opt_base_learning_rate=2.4e-05", ", here 2.545584412e-05 (", 1 },
        { "6.1.0", "deepseekv3_671b", "global_batch_size=16384 eval_accuracy=3@704512 eval_accuracy=3@1", "eval_accuracy: the first must", 0 },
        { "6.1.0", "deepseekv3_671b", "global_batch_size=16384 eval_accuracy=3@704511 eval_accuracy=3@704512",
          "samples, here 704512 and not 704511 (", 1 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=256 eval_accuracy=0.6@4608 eval_accuracy=0.7@4864", "eval_accuracy:", 0 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=256 eval_accuracy=0.6@4608 eval_accuracy=0.7@4865 eval_accuracy=0.7@5120", "must come at the next", 2 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=256 eval_accuracy=0.69@4608", "is enough: the last is 0.69, one must be above 0.69", 1 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=256 opt_base_learning_rate=1e-06", "opt_base_learning_rate:", 0 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=256 opt_gradient_clip_norm=0.125", "opt_gradient_clip_norm:", 0 },
        { "6.1.0", "qwen35_397b_grpo", "global_batch_size=1024 opt_base_learning_rate=1e-06", "must be 1e-06 * sqrt(global_batch_size / 256)", 1 },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool passed;
        int n = 0;
        char *printed = lint_of(log_of_words(cases[i].benchmark, cases[i].words, &a), cases[i].ruleset, &passed), *lines = printed, *row;
        while ((row = strsep(&lines, "\n")))
            n += strstr(row, "error") && strstr(row, cases[i].message);
        if (n != cases[i].n_refused)
            print_error("%s %s: %d refused, want %d\n", cases[i].benchmark, cases[i].words, n, cases[i].n_refused);
        assert_int_equal(n, cases[i].n_refused);
        free(printed);
    }
    arena_free(&a);
}

/* Each key of a missing group asks for the group; it is reported once. */
static void test_groups_of_keys(void **state)
{
    static const struct { const char *key, *want; } groups[] = {
        { "\"key\": \"block_start\"", ".txt: error: block_start or epoch_start: is not logged, want one of them at least once (2.0.0 common)" },
        { "\"key\": \"block_stop\"", ".txt: error: block_stop or epoch_stop: is not logged, want one of them at least once (2.0.0 common)" },
    };
    struct submission_description s = bert();
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text = log_text(&s, &bert_run), *next;
        bool passed;
        for (; strstr(text, groups[i].key); text = next) {
            next = edited(text, groups[i].key, "\"key\": \"another\"");
            free(text);
        }
        char *printed = lint_of(text, "2.0.0", &passed), *found = strstr(printed, groups[i].want);
        if (!found)
            print_error("want '%s' in:\n%s", groups[i].want, printed);
        assert_true(!passed && found && !strstr(found + 1, groups[i].want));
        free(text), free(printed);
    }
}

/* All 38 epochs are one block that starts at the first. */
static void test_one_block_before_the_evaluations(void **state)
{
    struct submission_description s = resnet();
    char *text = log_text(&s, &resnet_run);
    (void)state;
    for (int stops = 0; stops < 2; stops++) {
        const char *line = strstr(text, stops ? "\"key\": \"block_stop\"" : "\"key\": \"block_start\"");
        assert_non_null(line);
        const char *first = strstr(line, "\"first_epoch_num\": ");
        assert_true(first && first < strchr(line, '\n'));
        assert_near(strtod(first + strlen("\"first_epoch_num\": "), NULL), 1, 0);
        assert_null(strstr(strchr(line, '\n'), stops ? "\"key\": \"block_stop\"" : "\"key\": \"block_start\""));
    }
    free(text);
}

/* Names in paths. A benchmark that no edition has counts in a folder structure of MLCommons. */
static void test_names_from_paths(void **state)
{
    static const struct { const char *path, *logged; struct folder_names want; } cases[] = {
        { "/data/training_results_v2.0/Org/results/sys/bert", NULL, { "v2.0", "", "Org", "sys", "bert", "" } },
        { "/data/training_results_v2.0/Org/results/sys/chess", NULL, { "v2.0", "", "Org", "sys", "chess", "" } },
        { "/data/training_results_v2.0/Org/results/sys", NULL, { "v2.0", "", "Org", "sys", "", "" } },
        { "v1.1/closed/Org/sys/bert", NULL, { "v1.1", "closed", "Org", "sys", "bert", "" } },
        { "v1.1/open/Org/sys/chess", "chess", { "v1.1", "open", "Org", "sys", "chess", "" } },
        { "v9.9/open/Org/sys/bert", NULL, { "v9.9", "open", "Org", "sys", "bert", "" } },
        { "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/a/b/c/d/e/f/g/h/i/j/v2.1/closed/Org/sys/bert",
          NULL, { "v2.1", "closed", "Org", "sys", "bert", "" } },
        { "//training_results_v9.9//Org/results/sys/bert/", NULL, { "v9.9", "", "Org", "sys", "bert", "" } },
        { "training_results_w2.0/Org/results/sys/bert", NULL, { "", "", "Org", "sys", "bert", "" } },
        { "v9.9beta/open/Org/sys/bert", NULL, { "", "open", "Org", "sys", "bert", "" } },
        { "x/v1.0/closed", NULL, { "v1.0", "closed", "", "closed", "", "" } }, { "open/x/v1.0", NULL, { "v1.0", "open", "x", "v1.0", "", "" } },
        { "bert", NULL, { "", "", "", "", "bert", "" } }, { "", NULL, { "", "", "", "", "", "" } },
        { "hpc_results_v3.0/Org/results/sys/weak/cosmoflow", NULL, { "hpc-v3.0", "", "Org", "sys", "cosmoflow", "weak" } },
        { "x/hpc-v2.0/Org/results/sys/strong/chess", "chess", { "hpc-v2.0", "", "Org", "sys", "chess", "strong" } },
        { "hpc_results_v9.9/Org/results/sys/strong/oc20", NULL, { "hpc-v9.9", "", "Org", "sys", "oc20", "strong" } },
        { "sys/weak/oc20", NULL, { "", "", "", "sys", "oc20", "weak" } },
        { "sys/bert", NULL, { "", "", "", "sys", "bert", "" } }, { "sys/chess", NULL, { "", "", "", "chess", "", "" } },
    };
    struct arena a = { 0 };
    struct judge j;
    struct err err = { "" };
    struct judge_options options = { .data_dir = "workloads/convergence" };
    (void)state;
    assert_true(judge_load(&j, &options, &a, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder_names n;
        const struct folder_names *want = &cases[i].want;
        folder_names_from(&n, &j, cases[i].path, cases[i].logged, &a);
        assert_string_equal(arena_printf(&a, "%s|%s|%s|%s|%s|%s", n.round, n.division, n.submitter, n.system, n.benchmark, n.metric),
                            arena_printf(&a, "%s|%s|%s|%s|%s|%s", want->round, want->division, want->submitter, want->system, want->benchmark, want->metric));
    }
    arena_free(&a);
}

/* ResNet-50 every 4 epochs, first within four; RNN-T every epoch; BERT at batch 448 every 150,000 samples, or at the
 * next batch. */
static void test_evaluations_off_the_schedule(void **state)
{
    static const struct { const char *benchmark; double batch; const char *points, *said; uint64_t line; } cases[] = {
        { "resnet", 3200, "4 8 12", NULL, 0 }, { "resnet", 3200, "1 5 9", NULL, 0 }, { "resnet", 3200, "4", NULL, 0 },
        { "resnet", 3200, "5", "5 epochs after the one before, want evaluations every 4 epochs (1 of 1 are off the schedule)", 1 },
        { "resnet", 3200, "4 7", "3 epochs after the one before, want evaluations every 4 epochs (1 of 2 are off the schedule)", 2 },
        { "resnet", 3200, "3 7 12 15 19", "5 epochs after the one before, want evaluations every 4 epochs (2 of 5 are off the schedule)", 3 },
        { "resnet", 3200, "1 1", "0 epochs after the one before, want evaluations every 4 epochs (1 of 2 are off the schedule)", 2 },
        { "rnnt", 1024, "1 2 3", NULL, 0 }, { "rnnt", 1024, "1 3", "2 epochs after the one before, want evaluations every 1 epochs (1 of 2 are off the schedule)", 2 },
        { "bert", 448, "150000 300000", NULL, 0 }, { "bert", 448, "150448 300896", NULL, 0 }, { "bert", 448, "100 150100", NULL, 0 }, { "bert", 448, "150000 299552", NULL, 0 },
        { "bert", 448, "150449", "150449 samples after the one before, want evaluations every 150000 samples (1 of 1 are off the schedule)", 1 },
        { "bert", 448, "150000 299551", "149551 samples after the one before, want evaluations every 150000 samples (1 of 2 are off the schedule)", 2 },
        { "bert", 448, "150000 300449", "150449 samples after the one before, want evaluations every 150000 samples (1 of 2 are off the schedule)", 2 },
        { "bert", 448, "1 1", "epoch_num does not count samples: the evaluation schedule cannot be seen", 0 },
        { "bert", 448, "200000 200000", "200000 samples after the one before, want evaluations every 150000 samples (2 of 2 are off the schedule)", 1 },
        { "bert", 448, "1", NULL, 0 }, { "bert", 0, "7 7", NULL, 0 }, { "ssd", 448, "7 7", NULL, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct compliance c = { .passed = true };
        struct eval_review r = { 0 };
        char *rest = arena_strdup(&a, cases[i].points), *point;
        for (uint64_t line = 1; (point = strsep(&rest, " ")); line++) {
            json_t *metadata = json_pack("{s:f}", "epoch_num", strtod(point, NULL));
            eval_review_line(&r, cases[i].benchmark, cases[i].batch, &(struct mllog_line){ .line = line, .key = "eval_accuracy", .metadata = metadata });
            eval_review_line(&r, cases[i].benchmark, cases[i].batch, &(struct mllog_line){ .line = line, .key = "eval_start", .metadata = metadata });
            json_decref(metadata);
        }
        eval_review_end(&r, cases[i].benchmark, cases[i].batch, &c, &a);
        assert_int_equal(c.n_messages, cases[i].said != NULL);
        assert_true(c.passed && c.n_errors + c.n_warnings == 0);
        if (cases[i].said) {
            if (!text_is(c.messages[0].text, cases[i].said))
                print_error("%s: %s\n", cases[i].points, c.messages[0].text);
            assert_string_equal(c.messages[0].text, cases[i].said);
            assert_int_equal(c.messages[0].line, cases[i].line);
            assert_int_equal(c.messages[0].severity, SEVERITY_REVIEW);
        }
        arena_free(&a);
    }
}

#define LOGGED(key, value) ":::MLLOG {\"key\": \"" key "\", \"value\": " value ", \"time_ms\": 1, \"event_type\": \"\", \"namespace\": \"\", \"metadata\": {"
/* Measures as STEP NAME VALUE; a step of 0 is not logged. */
static const char *measures_log(const char *measures, struct arena *a)
{
    const char *text = LOGGED("submission_benchmark", "\"stable_diffusion\"") "}}\n" LOGGED("submission_division", "\"closed\"") "}}\n";
    char *rest = arena_strdup(a, measures), *m;
    while ((m = strsep(&rest, " ")) && *m) {
        size_t n = strspn(m + 1, "FIDCLP");
        text = arena_printf(a, "%s" LOGGED("eval_accuracy", "%g") "%s\"metric\": \"%.*s\"}}\n", text, strtod(m + 1 + n, NULL),
                            *m == '0' ? "" : arena_printf(a, "\"step_num\": %c, ", *m), (int)n, m + 1);
    }
    return text;
}

/* Each measure of an evaluation has its own line; measures of the same step form one line, which is judged at the
 * end. */
static void test_measures_of_one_evaluation(void **state)
{
    static const struct { const char *measures, *want; size_t n; } cases[] = {
        { "1FID100 1CLIP.1 2FID80 2CLIP.2", "", 0 }, { "1FID100 2FID80 2CLIP.2 1CLIP.1", "", 0 },
        { "1FID80 1CLIP.2", "aggregated_eval_accuracy: is logged 1 time, want it at least 2 times", 1 },
        { "1FID100 1CLIP.2 2FID80 2CLIP.1", "none of 2 values is enough: the last is {\"step_num\": 2, \"FID\": 80, \"CLIP\": 0.1}, one must have a FID from 0 to 90", 1 },
        { "1FID100 1CLIP.1 2FID80", "aggregated_eval_accuracy: is {\"step_num\": 2, \"FID\": 80}, must have CLIP in its value", 3 },
        { "", "aggregated_eval_accuracy: is logged 0 times, want it at least 2 times", 1 },
        { "1FID80 1CLIP.2 0FID80", "stops here: line 5: eval_accuracy has a metric without 'step_num'", 2 },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool passed;
        size_t n = 0;
        char *printed = lint_of(measures_log(cases[i].measures, &a), "3.1.0", &passed), *at = printed, *row;
        assert_non_null(strstr(printed, cases[i].want));
        while ((row = strsep(&at, "\n")))
            n += strstr(row, "aggregated") || strstr(row, "metric");
        assert_int_equal(n, cases[i].n);
        free(printed);
    }
    arena_free(&a);
}

/* 4096 evaluations are gathered; one more is too many. */
static void test_as_many_evaluations_as_may_be(void **state)
{
    enum { MOST = 4096, ROOM = 400 };
    char *text = malloc((MOST + 3) * ROOM);
    size_t n = 0;
    (void)state;
    n += (size_t)sprintf(text, "%s", LOGGED("submission_benchmark", "\"stable_diffusion\"") "}}\n" LOGGED("submission_division", "\"closed\"") "}}\n");
    for (int more = 0; more < 2; more++) {
        bool passed;
        for (int step = more ? MOST : 0; step < MOST + more; step++)
            n += (size_t)sprintf(text + n, LOGGED("eval_accuracy", "80") "\"step_num\": %d, \"metric\": \"FID\"}}\n", step);
        char *printed = lint_of(text, "3.1.0", &passed);
        assert_int_equal(strstr(printed, "line 4099: eval_accuracy is one of too many evaluations") != NULL, more);
        assert_non_null(strstr(printed, "aggregated_eval_accuracy: is {\"step_num\": 2, \"FID\": 80}, must have CLIP in its value"));
        assert_non_null(strstr(printed, "aggregated_eval_accuracy: and on 4093 more lines"));
        free(printed);
    }
    free(text);
}

/* From 2.0.0 on only the first line of a submission_ key is judged; before, every line. */
static void test_submission_keys(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run), *twice = malloc(strlen(text) + 300);
    (void)state;
    sprintf(twice, "%s:::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"\", \"key\": \"submission_status\", \"value\": "
            "\"research \", \"metadata\": {}}\n", text);
    expect(twice, "1.1.0", "error: submission_status: is \"research \", must be one of", false);
    bool passed;
    char *printed = lint_of(twice, "2.0.0", &passed);
    assert_null(strstr(printed, "is \"research \""));
    assert_non_null(strstr(printed, "is logged 2 times with different values"));
    free(text), free(twice), free(printed);
}

/* Counts are from 0 to 2^53, and a batch is above 0. Other numbers are refused at their line. */
static void test_numbers_that_count(void **state)
{
    static const struct { const char *batch, *epoch, *refused; } cases[] = {
        { "3072", "0", NULL }, { "3072", "0.5", NULL }, { "1", "1", NULL }, { "0.5", "1", NULL }, { "3072", "9007199254740992", NULL }, { "3072", "null", NULL },
        { "3072", "-0.5", ":4: error: eval_accuracy: epoch_num -0.5 cannot be a count" }, { "3072", "-1", ":4: error: eval_accuracy: epoch_num -1 cannot be a count" },
        { "3072", "9007199254740994", ":4: error: eval_accuracy: epoch_num 9007199254740994 cannot be a count" },
        { "3072", "\"x\"", ":4: error: eval_accuracy: epoch_num \"x\" cannot be a count" },
        { "9007199254740994", "1", ":3: error: global_batch_size: 9007199254740994 cannot be a count" }, { "NaN", "-1", ":3: error: global_batch_size: NaN cannot be a count" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool passed;
        char *printed = lint_of(arena_printf(&a, LOGGED("submission_benchmark", "\"bert\"") "}}\n" LOGGED("submission_division", "\"closed\"") "}}\n"
                                             LOGGED("global_batch_size", "%s") "}}\n" LOGGED("eval_accuracy", "0.1") "\"epoch_num\": %s}}\n",
                                             cases[i].batch, cases[i].epoch), "2.0.0", &passed);
        const char *want = cases[i].refused ? cases[i].refused : "cannot be a count";
        if ((strstr(printed, want) != NULL) != (cases[i].refused != NULL))
            print_error("batch %s, epoch %s: %s in:\n%s", cases[i].batch, cases[i].epoch, want, printed);
        assert_true((strstr(printed, want) != NULL) == (cases[i].refused != NULL));
        free(printed);
    }
    arena_free(&a);
}

/* An initialisation of half a second is written as such; without one the default is written. */
static void test_short_initialisation(void **state)
{
    (void)state;
    struct submission_description s = resnet();
    const char *const ends[] = { "\"init_start\"", "\"init_stop\"" };
    long long at_ms[2];
    s.init_s = 0.5;
    char *text = log_text(&s, &resnet_run);
    for (int i = 0; i < 2; i++) {
        char *line = strstr(text, ends[i]), *time;
        while (line > text && line[-1] != '\n')
            line--;
        assert_non_null(time = strstr(line, "\"time_ms\": "));
        at_ms[i] = atoll(time + strlen("\"time_ms\": "));
    }
    assert_int_equal(at_ms[1] - at_ms[0], 500);
    free(text);
}

static void test_order_and_limits(void **state)
{
    struct submission_description s = resnet();
    s.init_s = 1799.9;
    char *text = log_text(&s, &resnet_run), *late, *moved;
    (void)state;
    expect(text, "2.0.0", "1 of 1 logs pass", true);
    free(text);
    s.init_s = 1800;
    text = log_text(&s, &resnet_run);
    expect(text, "1.0.0", "init_stop: must come within 30 minutes of the first init_start (1.0.0 common)", false);
    s.division = "open";
    late = log_text(&s, &resnet_run);
    expect(late, "2.0.0", "1 of 1 logs pass", true);            /* the limit is four hours in the open division from 2.0.0 on */
    expect(late, "1.1.0", "error: init_stop:", false);
    free(text), free(late);
    s = resnet();
    text = log_text(&s, &resnet_run);
    moved = edited(text, "\"key\": \"run_start\"", "\"key\": \"run_began\"");
    expect(moved, "2.0.0", "error: run_start: is not logged, want it exactly once (2.0.0 common)", false);
    free(moved);
    moved = edited(text, "\"key\": \"init_stop\"", "\"key\": \"init_over\"");
    expect(moved, "2.0.0", "error: run_start: must come after init_stop (2.0.0 common)", false);
    free(moved), free(text);
}

/* A time of 300 digits is told by its power of ten. */
static void test_a_time_of_300_digits(void **state)
{
    struct submission_description s = resnet();
    char *text = log_text(&s, &resnet_run), *stop = strstr(text, "\"key\": \"run_stop\""), *late = malloc(strlen(text) + 301);
    (void)state;
    assert_non_null(stop);
    while (strncmp(stop, "time_ms", 7) != 0)
        stop--;
    stop += strcspn(stop, "0123456789");
    sprintf(late, "%.*s1%0299d%s", (int)(stop - text), text, 0, stop + strspn(stop, "0123456789"));
    expect(late, "2.0.0", "error: run_stop: its time is longer than a run can be (run_start 1640995260000 ms, run_stop 1e+299 ms): "
                          "impossible, refused by podbench\n", false);
    free(late), free(text);
}

/* Missing weights: nothing in 1.0.0, a warning in 1.1.0, an error in 2.0.0. */
static void test_weights_by_ruleset(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run);
    char *broken = edited(text, "\"tensor\": \"cls/predictions/output_bias\"", "\"tensor\": \"cls/predictions/outputs\"");
    (void)state;
    expect(broken, "1.0.0", "1 of 1 logs pass", true);
    expect(broken, "1.1.0", "warning: 2 of 399 names not listed: cls/predictions/decoder/kernel cls/predictions/output_bias; 1 unknown", true);
    expect(broken, "2.0.0", "error: 1 of 398 names not listed: cls/predictions/output_bias; 1 unknown or listed twice: "
                            "cls/predictions/outputs; the weights must be", false);
    free(broken), free(text);
}

static void test_evaluation_schedule(void **state)
{
    struct submission_description s = bert();
    struct drawn_run run = bert_run;
    (void)state;
    s.eval_interval = 350000, run.samples = 1050624;
    char *text = log_text(&s, &run);
    expect(text, "2.0.0", "review: eval_accuracy: 350208 samples after the one before, want evaluations every 175000 samples "
                          "(3 of 3 are off the schedule)", true);
    free(text);
}

static void test_requests(void **state)
{
    struct err err;
    bool passed;
    (void)state;
    free(lint_text("tests/bad/mllog/list.txt", "9.9", FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "round '9.9' is unknown; known: v0.7, v1.0, v1.1, v2.0, v2.1, v3.0, v3.1, v4.0, v4.1, v5.0, v5.1, v6.0, v6.1, hpc-v1.0, hpc-v2.0, hpc-v3.0");
    free(lint_text("tests/none", "2.0.0", FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "tests/none: no such file or folder");
    free(lint_text("tests/bad/mllog", "2.0.0", FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "tests/bad/mllog: no result_N.txt in it or below it");
    free(lint_text("tests/bad/mlperf_log_detail.txt", NULL, FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "tests/bad/mlperf_log_detail.txt: belongs to MLPerf Inference, want a log of MLPerf Training or HPC");
    free(lint_text("/dev/zero", "2.0.0", FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "/dev/zero: is a device, pipe or socket, want a log file");
    free(lint_text("tests/bad/mllog/list.txt", NULL, FORMAT_TEXT, &passed, &err));
    assert_string_equal(err.msg, "tests/bad/mllog/list.txt: neither the path nor the log names the round; add "
                                 "--ruleset ROUND, one of v0.7, v1.0, v1.1, v2.0, v2.1, v3.0, v3.1, v4.0, v4.1, v5.0, v5.1, v6.0, v6.1, hpc-v1.0, hpc-v2.0, hpc-v3.0");
    char *text = lint_text("tests/bad/mllog/list.txt", "2.0.0", FORMAT_TEXT, &passed, &err);
    assert_false(passed);
    assert_non_null(strstr(text, "list.txt:1: error: is not a JSON object\n"));
    free(text);
}

static void test_weights(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct tensor_lists t;
    static const struct { const char *name; size_t n; } lists[] = { { "resnet", 161 }, { "bert", 399 }, { "bert_2", 398 }, { "rnnt", 7 },
        { "ssd", 119 }, { "ssd_2", 89 }, { "maskrcnn", 21 }, { "minigo", 48 }, { "unet3d", 50 }, { "dlrm", 9 } };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool is_later = lists[i].name[strlen(lists[i].name) - 1] == '2' || text_is(lists[i].name, "rnnt");
        assert_true(tensor_lists_load(&t, is_later ? "workloads/convergence/rounds/v2.0/tensors.csv" : "workloads/convergence/rounds/v1.1/tensors.csv", &a, &err));
        const struct name_list *names = tensor_lists_find(&t, lists[i].name);
        assert_int_equal(names->n, lists[i].n);
        for (size_t k = 1; k < names->n; k++)
            assert_true(strcmp(names->names[k - 1], names->names[k]) < 0);      /* sorted, without repeats */
    }
    arena_free(&a);
}

/* Two folders with an empty log each, a link and a pipe: skipped files are counted, in text and JSON. */
static void test_what_is_not_read(void **state)
{
    struct arena a = { 0 };
    struct err err;
    char top[] = "/tmp/podbench-test-lint-XXXXXX", *text;
    bool passed;
    (void)state;
    assert_non_null(mkdtemp(top));
    for (int i = 0; i < 2; i++) {
        assert_true(make_folders(arena_printf(&a, "%s/%d", top, i), &err));
        fclose(fopen(arena_printf(&a, "%s/%d/result_0.txt", top, i), "w"));
    }
    assert_int_equal(symlink("0", arena_printf(&a, "%s/link", top)) + mkfifo(arena_printf(&a, "%s/pipe", top), 0600), 0);
    text = lint_text(top, "v2.0", FORMAT_TEXT, &passed, &err);
    assert_non_null(strstr(text, "\n0 of 2 folders pass, 0 of 2 logs pass; 2 errors, 0 warnings, 0 for review, 2 not read\n"));
    free(text);
    text = lint_text(top, "v2.0", FORMAT_JSON, &passed, &err);
    json_t *json = json_loads(text, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "counts"), "not_read")), 2);
    json_decref(json);
    free(text);
    assert_int_equal(system(arena_printf(&a, "rm -r %s", top)), 0);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_is_not_read),
    cmocka_unit_test(test_a_conforming_log), cmocka_unit_test(test_each_breakage), cmocka_unit_test(test_repeated_keys),
    cmocka_unit_test(test_many_hosts), cmocka_unit_test(test_notes_for_reviewers), cmocka_unit_test(test_rules_that_compute), cmocka_unit_test(test_groups_of_keys), cmocka_unit_test(test_measures_of_one_evaluation), cmocka_unit_test(test_as_many_evaluations_as_may_be),
    cmocka_unit_test(test_one_block_before_the_evaluations), cmocka_unit_test(test_evaluations_off_the_schedule), cmocka_unit_test(test_names_from_paths), cmocka_unit_test(test_submission_keys),
    cmocka_unit_test(test_order_and_limits),
    cmocka_unit_test(test_a_time_of_300_digits), cmocka_unit_test(test_short_initialisation), cmocka_unit_test(test_numbers_that_count), cmocka_unit_test(test_weights_by_ruleset), cmocka_unit_test(test_evaluation_schedule),
    cmocka_unit_test(test_requests), cmocka_unit_test(test_weights),
};
TAP_MAIN(tests)
