/* t_lint.c - logs against the rules: a conforming log, each way to break it with the exact message, and the published verdicts. */
#include "tests/check.h"
#include "results/mlperf/lint.h"
#include "tests/mllog_keys.h"

/* Three evaluations of 175,000 samples each (57 steps of 3,072 reach the first); 7 s of startup and 300 s in all. */
static struct submission_description bert(void)
{
    return (struct submission_description){ .system = "toy", .benchmark = "bert", .division = "closed", .ruleset = "2.0.0",
        .optimizer = "lamb", .hyperparameters = bert_keys, .n_hyperparameters = 9, .global_batch = 3072, .grad_accum = 7,
        .timing = { .step_time_s = 1.7, .startup_s = 7, .eval_time_s = 1.3 }, .rules_dir = "results/rules",
        .data_dir = "workloads/convergence" };
}
static struct submission_description resnet(void)
{
    struct submission_description s = bert();
    s.benchmark = "resnet", s.optimizer = "lars", s.hyperparameters = lars_keys, s.n_hyperparameters = 5, s.global_batch = 3200;
    s.timing.eval_placement = EVAL_END;
    return s;
}
static const struct drawn_run bert_run = { .seed = 42, .converged = true, .samples = 525312, .epochs = NAN, .accuracy = 0.72,
                                           .n_evals = 3, .time_s = 300 };
static const struct drawn_run resnet_run = { .seed = 43, .converged = true, .samples = 38 * 1281167.0, .epochs = 38, .accuracy = 0.7593,
                                             .n_evals = 10, .time_s = 1700.125 };

static char *log_text(const struct submission_description *s, const struct drawn_run *run)
{
    struct arena a = { 0 };
    struct err err = { "" };
    char *text;
    bool written;
    PRINTED(text, written = mllog_write_run(f, s, run, 0, &a, &err));
    if (!written)
        print_error("%s\n", err.msg);
    assert_true(written);
    arena_free(&a);
    return text;
}

/* The text with its first occurrence of what replaced; NULL cuts the whole line. */
static char *edited(const char *text, const char *what, const char *by)
{
    const char *at = strstr(text, what);
    assert_non_null(at);
    char *out = malloc(strlen(text) + (by ? strlen(by) : 0) + 1);
    const char *end = at + strlen(what);
    if (!by) {
        while (at > text && at[-1] != '\n')
            at--;
        end = strchr(end, '\n') + 1;
        by = "";
    }
    sprintf(out, "%.*s%s%s", (int)(at - text), text, by, end);
    return out;
}

static void lint_text(struct lint_report *r, const char *text, const char *ruleset, struct arena *a)
{
    struct err err;
    char *path = (char *)temp_file(text, strlen(text), ".txt");
    struct lint_options opt = { .ruleset = ruleset, .rules_dir = "results/rules" };
    char **files = ARENA_ARRAY(a, char *, 1);
    files[0] = arena_strdup(a, path);
    bool done = lint_files(r, files, 1, &opt, a, &err);
    unlink(path);
    if (!done)
        print_error("%s\n", err.msg);
    assert_true(done);
}

static void test_a_conforming_log(void **state)
{
    static const char *const rulesets[] = { "1.0.0", "1.1.0", "2.0.0" };
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int b = 0; b < 2; b++) {
            struct arena a = { 0 };
            struct lint_report r;
            struct submission_description s = b ? bert() : resnet();
            s.ruleset = rulesets[i];
            char *text = log_text(&s, b ? &bert_run : &resnet_run);
            lint_text(&r, text, rulesets[i], &a);
            if (r.n_messages)
                lint_print(stdout, &r);
            assert_int_equal(r.n_messages, 0);
            assert_true(r.passed && r.files[0].passed);
            free(text);
            arena_free(&a);
        }
}

/* One edit of the BERT or ResNet-50 log of 2.0.0, and the one message it earns (after the file's name). */
static const struct { bool of_bert; const char *what, *by, *want; } breakages[] = {
    { true, "\"global_batch_size\"", NULL, ": error: global_batch_size: is not logged, want it exactly once (2.0.0 closed bert)" },
    { true, "\"key\": \"opt_epsilon\"", "\"key\": \"opt_lamb_epsilon\"",
      ": error: opt_epsilon: is not logged, want it exactly once (2.0.0 closed bert)" },
    { true, "\"value\": 7,", "\"value\": 0,",
      ":11: error: gradient_accumulation_steps: is 0, want a number above 0 (2.0.0 closed)" },
    { true, "\"value\": \"research\"", "\"value\": \"dreamt\"",
      ":5: error: submission_status: is \"dreamt\", want one of cloud|onprem|preview|research (2.0.0 common)" },
    { true, "\"status\": \"success\"", "\"state\": \"success\"", ":439: error: run_stop: want 'status' in its metadata (2.0.0 common)" },
    { true, "\"value\": 0.72,", "\"value\": 0.7199,",
      ": error: eval_accuracy: none of 3 values passes, the last is 0.7199, want at least one value from 0.720 up, below 1 "
      "(2.0.0 closed bert)" },
    { true, "\"tensor\": \"bert/pooler/dense/bias\"", "\"tensor\": \"bert/pooler/dense/kernel\"",
      ": error: weights_initialization: 1 tensors unknown or listed twice: bert/pooler/dense/kernel (2.0.0 closed bert)" },
    { true, "\"key\": \"cache_clear\"", "\"key\": \"cache\"", ": error: cache_clear: is not logged, want it at least once (2.0.0 common)" },
    { true, "\"key\": \"seed\"", "\"key\": \"sad\"",
      ": review: seed: is not logged, want one in every file of the closed division" },
    { true, "\"epoch_num\": 350208", "\"no_epoch_num\": 350208", ":429: error: eval_start: want 'epoch_num' in its metadata (2.0.0 common)" },
    { false, "\"value\": 0.7593", "\"value\": 1.5",
      ": error: eval_accuracy: none of 10 values passes, the last is 1.5, want at least one value from 0.7590 up, below 1 "
      "(2.0.0 closed resnet)" },
    { false, "\"value\": 5e-05", "\"value\": 7e-05",
      ":19: error: lars_opt_weight_decay: is 7e-05, want 0.0001 times a power of 2 (2.0.0 closed resnet lars)" },
    { false, "\"value\": \"lars\"", "\"value\": \"adam\"",
      ":14: error: opt_name: is \"adam\", want one of sgd|lars (2.0.0 closed resnet)" },
    { false, "\"key\": \"lars_epsilon\", \"value\": 0", "\"key\": \"lars_epsilon\", \"value\": 1e-09",
      ":22: error: lars_epsilon: is 1e-09, want 0 (2.0.0 closed resnet lars)" },
    { false, "\"value\": \"closed\"", "\"value\": \"ajar\"",
      ":1: error: submission_division: is \"ajar\", want one of closed|open (2.0.0 common)" },
    { false, ":::MLLOG {\"namespace\": \"podbench\", \"time_ms\": 1640995260000, \"event_type\": \"INTERVAL_START\", \"key\": \"run_start\"",
      ":::MLLOG {\"namespace\" \"podbench\"", ": error: is not JSON: ':' expected near '\"podbench\"'" },
};

static void test_each_breakage(void **state)
{
    struct submission_description b = bert(), c = resnet();
    char *bert_text = log_text(&b, &bert_run), *resnet_text = log_text(&c, &resnet_run);
    (void)state;
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        struct arena a = { 0 };
        struct lint_report r;
        char *text = edited(breakages[i].of_bert ? bert_text : resnet_text, breakages[i].what, breakages[i].by), *printed;
        lint_text(&r, text, "2.0.0", &a);
        PRINTED(printed, lint_print(f, &r));
        if (!strstr(printed, breakages[i].want)) {
            print_error("want '%s' in:\n%s", breakages[i].want, printed);
            assert_true(false);
        }
        bool review_only = strstr(breakages[i].want, " review: ") != NULL;
        if (r.files[0].passed != review_only)
            print_error("%s: %s", breakages[i].want, printed);
        assert_true(r.files[0].passed == review_only);
        free(printed);
        free(text);
        arena_free(&a);
    }
    free(bert_text);
    free(resnet_text);
}

static void has_message(const char *text, const char *ruleset, const char *want, bool passes)
{
    struct arena a = { 0 };
    struct lint_report r;
    char *printed;
    lint_text(&r, text, ruleset, &a);
    PRINTED(printed, lint_print(f, &r));
    if (!strstr(printed, want))
        print_error("want '%s' in:\n%s", want, printed);
    assert_non_null(strstr(printed, want));
    assert_true(r.files[0].passed == passes);
    free(printed);
    arena_free(&a);
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
    has_message(same, "2.0.0", "warning: opt_lamb_beta_1: is logged 2 times with one value, want it exactly once", true);
    has_message(other, "2.0.0", "error: opt_lamb_beta_1: is logged 2 times with different values, want it exactly once", false);
    free(same), free(other), free(text);
}

static void test_order_and_limits(void **state)
{
    struct submission_description s = resnet();
    s.init_s = 1799.9;
    char *text = log_text(&s, &resnet_run), *late, *moved;
    (void)state;
    has_message(text, "2.0.0", "1 of 1 logs pass", true);
    free(text);
    s.init_s = 1800;
    text = log_text(&s, &resnet_run);
    has_message(text, "1.0.0", "init_stop: 30.0 minutes after init_start, want it less than 30 minutes after the first init_start", false);
    s.division = "open";
    late = log_text(&s, &resnet_run);
    has_message(late, "2.0.0", "1 of 1 logs pass", true);           /* four hours in the open division, from 2.0.0 on */
    has_message(late, "1.1.0", "want it less than 30 minutes", false);
    free(text), free(late);
    s = resnet();
    text = log_text(&s, &resnet_run);
    moved = edited(text, "\"key\": \"run_start\"", "\"key\": \"run_began\"");
    has_message(moved, "2.0.0", "error: run_start: is not logged, want it exactly once (2.0.0 common)", false);
    free(moved);
    moved = edited(text, "\"key\": \"init_stop\"", "\"key\": \"init_over\"");
    has_message(moved, "2.0.0", "error: run_start: want it after init_stop (2.0.0 common)", false);
    free(moved), free(text);
}

/* Weights: none asked for by 1.0.0, a warning by 1.1.0, an error by 2.0.0. */
static void test_weights_by_ruleset(void **state)
{
    struct submission_description s = bert();
    char *text = log_text(&s, &bert_run);
    char *broken = edited(text, "\"tensor\": \"cls/predictions/output_bias\"", "\"tensor\": \"cls/predictions/outputs\"");
    (void)state;
    has_message(broken, "1.0.0", "1 of 1 logs pass", true);
    has_message(broken, "1.1.0", "warning: weights_initialization: 1 of 398 tensors not listed: cls/predictions/output_bias "
                                 "(1.1.0 closed bert)", true);
    has_message(broken, "2.0.0", "error: weights_initialization: 1 tensors unknown or listed twice: cls/predictions/outputs "
                                 "(2.0.0 closed bert)", false);
    free(broken), free(text);
}

static void test_evaluation_schedule(void **state)
{
    struct submission_description s = bert();
    struct drawn_run run = bert_run;
    (void)state;
    s.eval_interval = 350000, run.samples = 1050624;
    char *text = log_text(&s, &run);
    has_message(text, "2.0.0", "review: eval_accuracy: 350208 samples after the one before, want evaluations every 175000 samples "
                               "(3 of 3 are off the schedule)", true);
    free(text);
}

static void test_requests(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct lint_report r;
    struct name_list files = { 0 };
    struct lint_options opt = { .ruleset = "3.0.0", .rules_dir = "results/rules" };
    char *path = "tests/bad/mllog/list.txt";
    (void)state;
    assert_false(lint_files(&r, &path, 1, &opt, &a, &err));
    assert_string_equal(err.msg, "ruleset '3.0.0' is unknown; known: 1.0.0, 1.1.0, 2.0.0");
    assert_false(lint_collect(&files, "tests/none", &a, &err));
    assert_string_equal(err.msg, "tests/none: no such file or folder");
    assert_false(lint_collect(&files, "tests/bad/mllog", &a, &err));
    assert_string_equal(err.msg, "tests/bad/mllog: no result_N.txt in it or below it");
    opt.ruleset = "2.0.0";
    assert_true(lint_files(&r, &path, 1, &opt, &a, &err));
    assert_false(r.passed);
    assert_string_equal(r.messages[0].text, "is not a JSON object");
    assert_int_equal(r.messages[0].line, 1);
    arena_free(&a);
}

static void test_patterns(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct name_list l = { 0 };
    static const struct { const char *benchmark; size_t n; } lists[] = { { "resnet", 161 }, { "bert", 398 }, { "rnnt", 7 } };
    (void)state;
    assert_true(expand_pattern(&l, "a{1..3}_{x,yy}", &a, &err));
    assert_int_equal(l.n, 6);
    assert_string_equal(l.names[0], "a1_x");
    assert_string_equal(l.names[5], "a3_yy");
    assert_false(expand_pattern(&l, "a{1..", &a, &err));
    assert_string_equal(err.msg, "'a{1..': a brace is not closed");
    assert_false(expand_pattern(&l, "a{3..1}", &a, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_true(tensor_names(&l, lists[i].benchmark, "results/rules", &a, &err));
        assert_int_equal(l.n, lists[i].n);
        name_list_sort(&l);
        for (size_t k = 1; k < l.n; k++)
            assert_true(strcmp(l.names[k - 1], l.names[k]) < 0);    /* none twice */
    }
    arena_free(&a);
}

static void test_published_tensor_lists(void **state)
{
    static const char *const names[] = { "resnet", "bert", "rnnt" };
    struct arena a = { 0 };
    struct err err;
    (void)state;
    SKIP_WITHOUT("../shared/data");
    for (size_t i = 0; i < 3; i++) {
        struct name_list ours, theirs = { 0 };
        char *text, *rest = NULL;
        assert_true(tensor_names(&ours, names[i], "results/rules", &a, &err));
        assert_true(read_text_file(&text, NULL, arena_printf(&a, "../shared/data/mllog_tensors_%s.txt", names[i]), 1 << 20, &a, &err));
        for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
            name_list_add(&theirs, l, &a);
        name_list_sort(&ours);
        name_list_sort(&theirs);
        assert_int_equal(ours.n, theirs.n);
        for (size_t k = 0; k < ours.n; k++)
            assert_string_equal(ours.names[k], theirs.names[k]);
    }
    arena_free(&a);
}

/* "9 of 10 logs pass" of the official checker's outcome. */
static void compare_outcome(const char *round, const char *system, const char *benchmark, const char *detail, struct arena *a)
{
    static const char *const divisions[] = { "closed/Graphcore", "open/Graphcore", "closed/Baidu" };
    struct lint_options opt = { .ruleset = rcp_ruleset(round), .rules_dir = "results/rules" };
    for (size_t d = 0; d < 3; d++) {
        struct err err;
        struct name_list files = { 0 };
        struct lint_report r;
        const char *dir = arena_printf(a, "../shared/mlperf-logs/%s/%s/%s/%s", round, divisions[d], system, benchmark);
        if (access(dir, R_OK) != 0)
            continue;
        assert_true(lint_collect(&files, dir, a, &err));
        assert_true(lint_files(&r, files.names, files.n, &opt, a, &err));
        const char *got = arena_printf(a, "%zu of %zu logs pass", r.groups[0].n_passed, r.groups[0].n_files);
        if (strcmp(got, detail))
            print_error("%s: %s, the checker says %s\n", dir, got, detail);
        assert_string_equal(got, detail);
        return;
    }
    assert_true(false);
}

static void test_published_outcomes(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct csv_table t;
    size_t at[5], n = 0;
    static const char *const names[] = { "round", "system", "benchmark", "check", "verdict" };
    (void)state;
    SKIP_WITHOUT("../shared/mlperf-logs");
    assert_true(csv_load(&t, "../shared/data/mlperf_verdicts.csv", &a, &err));
    for (size_t i = 0; i < 5; i++)
        assert_true(csv_column(&at[i], &t, names[i], &err));
    for (size_t i = 0; i < t.n_rows; i++) {
        char **c = t.rows[i].cells;
        if (text_is(c[at[3]], "compliance"))
            compare_outcome(c[at[0]], c[at[1]], c[at[2]], c[at[4]], &a), n++;
    }
    assert_true(n >= 23);             /* more logs may come */
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_conforming_log), cmocka_unit_test(test_each_breakage), cmocka_unit_test(test_repeated_keys),
        cmocka_unit_test(test_order_and_limits), cmocka_unit_test(test_weights_by_ruleset), cmocka_unit_test(test_evaluation_schedule),
        cmocka_unit_test(test_requests), cmocka_unit_test(test_patterns), cmocka_unit_test(test_published_tensor_lists),
        cmocka_unit_test(test_published_outcomes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
