/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_simulated_logs.c - logs of drawn runs: read back, their times by hand, and refused descriptions. */
#include "tests/mllog_keys.h"
#include "tests/rounds_folder.h"
#include "tests/golden_text.h"
#include "tests/mlperf/drawn.h"
#include "tests/mlperf/judged.h"

static const struct text_pair rnnt_keys[] = {
    { "opt_base_learning_rate", "0.004" }, { "model_weights_initialization_scale", "0.5" }, { "opt_lamb_learning_rate_decay_poly_power", "0.94" },
    { "opt_lamb_learning_rate_hold_epochs", "40" }, { "opt_learning_rate_warmup_epochs", "6" }, { "opt_lamb_beta_1", "0.9" },
    { "opt_lamb_beta_2", "0.999" }, { "data_train_max_duration", "16.7" }, { "data_train_num_buckets", "6" },
    { "model_eval_ema_factor", "0.995" }, { "opt_gradient_clip_norm", "Infinity" },
};
static const struct { const char *benchmark, *optimizer; const struct text_pair *keys; size_t n_keys; double batch, step_s; int placement; }
entries[] = {
    { "bert", "lamb", bert_keys, 9, 3072, 2.05, EVAL_INLINE },
    { "resnet", "lars", lars_keys, 5, 3200, 0.109, EVAL_END },
    { "rnnt", "lamb", rnnt_keys, 11, 1024, 0.39, EVAL_INLINE },
};

static void check_round_trip(size_t entry, const char *round, const char *top)
{
    struct arena a = { 0 };
    struct err err = { "" };
    double batch = text_is(round, "v1.0") && text_is(entries[entry].benchmark, "resnet") ? 2048 : entries[entry].batch;    /* the record of 3264 came after v1.0 */
    struct convergence c = predict(entries[entry].benchmark, round, batch);
    c.accuracy_mean = 0.7605;                   /* so that enough runs pass */
    struct draw_request q = { .convergence = &c, .seed = 42, .submissions = 20, .data_dir = data, .timing = {
        .step_time_s = entries[entry].step_s, .startup_s = 7, .eval_time_s = 1.3, .tail_s = 3, .noise = -1,
        .eval_placement = entries[entry].placement } };
    struct drawn_runs d = draw(&q, &a);
    struct text_pair fields[] = { { "accelerator_model_name", "IPU \"GC200\"" }, { "accelerators_per_node", "16" } };
    struct submission_description s = { .system = "toy-pod", .benchmark = c.benchmark, .division = "closed", .ruleset = c.ruleset,
        .optimizer = entries[entry].optimizer, .hyperparameters = entries[entry].keys, .n_hyperparameters = entries[entry].n_keys,
        .fields = fields, .n_fields = 2, .global_batch = c.global_batch, .grad_accum = 5, .timing = q.timing, .data_dir = data };
    const char *dir = arena_printf(&a, "%s/%s", top, round);
    submission_write(dir, &s, d.runs, d.n, &a, &err);
    assert_string_equal(err.msg, "");

    struct judged_tree j = judge_tree(dir, NULL, &a);
    const struct score_row *r = &j.row;
    assert_near(r->score_minutes, d.score_minutes, 1e-3 / 60);
    assert_string_equal(r->submitter, SIMULATED_ORG);
    assert_string_equal(r->system, "toy-pod-simulated");
    assert_string_equal(r->round, round);
    assert_near(r->measures[MEASURE_THROUGHPUT], c.global_batch / q.timing.step_time_s, 0.02 * c.global_batch / q.timing.step_time_s);
    for (size_t i = 0; i < r->runs; i++) {
        assert_near(j.folder.runs[i].measures[MEASURE_SAMPLES], d.runs[i].samples, 1e-6);
        assert_true(j.folder.runs[i].converged == d.runs[i].converged);
        assert_near(j.folder.runs[i].point, d.runs[i].convergence_point, 1e-3);
        assert_int_equal(j.folder.runs[i].n_errors + j.folder.runs[i].n_warnings, 0);
    }
    for (int i = 0; i < N_PACKAGE_PARTS; i++) {
        if (j.folder.parts[i].state != PART_PASSED)
            print_error("%s %s: %s: %s\n", round, c.benchmark, package_part_names[i], j.folder.parts[i].text);
        assert_int_equal(j.folder.parts[i].state, PART_PASSED);
    }
    assert_true(j.folder.passed);

    json_t *system = json_load_file(arena_printf(&a, "%s/" SIMULATED_ORG "/systems/toy-pod-simulated.json", dir), 0, NULL);
    assert_int_equal(json_object_size(system), 33);
    const char *field;
    json_t *value;
    json_object_foreach(system, field, value)
        assert_true(json_string_length(value) > 0);
    assert_string_equal(json_string_value(json_object_get(system, "accelerator_model_name")), "IPU \"GC200\"");
    assert_string_equal(json_string_value(json_object_get(system, "system_name")), "toy-pod (simulated)");
    assert_string_equal(json_string_value(json_object_get(system, "number_of_nodes")), "1");
    assert_string_equal(json_string_value(json_object_get(system, "host_processors_per_node")), "1");
    assert_string_equal(json_string_value(json_object_get(system, "accelerators_per_node")), "16");
    assert_string_equal(json_string_value(json_object_get(system, "cooling")), "not modelled");
    json_decref(system);
    arena_free(&a);
}

static void test_round_trip(void **state)
{
    static const char *const rounds[] = { "v1.0", "v1.1", "v2.0" };
    char top[] = "/tmp/podbench-test-submission-XXXXXX", command[96];
    (void)state;
    assert_non_null(mkdtemp(top));      /* an aborted test may have left a name made from the process id */
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            check_round_trip(i, rounds[k], top);
            assert_int_equal(system(command), 0);
        }
}

/* From v2.1 on, scaling.json holds the factor of a submission that passes and is faster than the reference. A slower
 * submission that replaces it has no such file. From v3.0 on there is no factor without the file. */
static void test_scaling_is_written(void **state)
{
    static const struct text_pair epsilon = { "opt_lamb_epsilon", "1e-6" };
    struct text_pair keys[10];
    char top[] = "/tmp/podbench-test-scaling-XXXXXX", command[96];
    (void)state;
    assert_non_null(mkdtemp(top));
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    memcpy(keys, bert_keys, 9 * sizeof *keys);
    keys[9] = epsilon;
    for (int slower = 0; slower < 2; slower++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct convergence c = predict("bert", "v3.0", 3072);
        struct draw_request q = { .convergence = &c, .samples_to_converge = slower ? 2764800 : 2580480, .seed = 3, .submissions = 20,
            .data_dir = data, .timing = { .step_time_s = 1.3 } };
        struct drawn_runs d = draw(&q, &a);
        const char *dir = arena_printf(&a, "%s/v3.0", top);
        struct submission_description s = { .system = "toy-pod", .benchmark = "bert", .division = "closed", .ruleset = c.ruleset, .optimizer = "lamb",
            .hyperparameters = keys, .n_hyperparameters = 10, .global_batch = 3072, .grad_accum = 5, .timing = q.timing,             .data_dir = data, .scaling = d.scaling, .replaces = true };
        submission_write(dir, &s, d.runs, d.n, &a, &err);
        assert_string_equal(err.msg, "");
        struct judged_tree j = judge_tree(dir, NULL, &a);
        assert_true(slower ? d.scaling == 1 : d.scaling > 1.02);
        assert_near(j.row.scaling, d.scaling, 1e-12);
        assert_near(j.row.score_minutes, d.score_minutes, 1e-3 / 60);
        for (const char *const *name = (const char *const[]){ "a.txt", "b.txt", NULL }; *name; name++) {     /* foreign files stay */
            const char *path = arena_printf(&a, "%s/" SIMULATED_ORG "/results/toy-pod-simulated/bert/%s", dir, *name);
            if (slower)
                assert_int_equal(access(path, F_OK), 0);
            else
                fclose(fopen(path, "w"));
        }
        arena_free(&a);
    }
    assert_int_equal(system(command), 0);
}

/* The whole log of an RNN-T run of three epochs: 7 s startup, epochs of 272 steps of 0.4 s, evaluations of 1.3 s. */
static void test_golden_log(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3, .time_s = 337.3 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .data_dir = data, .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3 } };
    char *text;
    (void)state;
    PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_golden(text, "tests/golden/mllog_rnnt.txt", &a);
    free(text);
    arena_free(&a);
}

/* Milliseconds from run_start to the n-th line of a key. */
static long long ms_of(const char *text, const char *key, int nth)
{
    char pattern[64];
    long long from, to;
    const char *at = strstr(text, "\"key\": \"run_start\""), *line = at;
    snprintf(pattern, sizeof pattern, "\"key\": \"%s\"", key);
    for (int i = 0; i < nth && line; i++)
        line = strstr(line + 1, pattern);
    assert_non_null(line);
    while (at > text && strncmp(at, "\"time_ms\": ", 11) != 0)
        at--;
    while (line > text && strncmp(line, "\"time_ms\": ", 11) != 0)
        line--;
    assert_int_equal(sscanf(at, "\"time_ms\": %lld", &from) + sscanf(line, "\"time_ms\": %lld", &to), 2);
    return to - from;
}

/* Evaluated at the end: 7 s startup, three epochs of 272 steps of 0.4 s, a tail of 2.3 s, 0.4 s for the first
 * evaluation, three times 1.3 s: 340 s. A run drawn at twice that time has parts twice as long; 50 s of scaling come
 * before run_stop. */
static void test_log_evaluated_at_the_end(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .data_dir = data, .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3, .tail_s = 2.3, .first_eval_extra_s = 0.4,
                                      .eval_placement = EVAL_END } };
    (void)state;
    for (int times = 1; times <= 2; times++) {
        char *text;
        run.scaling_s = 50 * (times - 1);
        run.time_s = 340 * times + run.scaling_s;
        PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
        assert_string_equal(err.msg, "");
        assert_int_equal(ms_of(text, "epoch_start", 1), 7000 * times);
        assert_int_equal(ms_of(text, "epoch_stop", 1), 115800 * times);
        assert_int_equal(ms_of(text, "eval_start", 1), 333400 * times);
        assert_int_equal(ms_of(text, "eval_stop", 1), 337400 * times);
        assert_int_equal(ms_of(text, "eval_accuracy", 2), 338700 * times);
        assert_int_equal(ms_of(text, "run_stop", 1), 340000 * times + 50000 * (times - 1));
        free(text);
    }
    arena_free(&a);
}

/* Three epochs of 272 steps are seven calls of 120 steps: two, two and three calls, 96, 96 and 144 s. */
static void test_log_of_whole_calls(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3, .time_s = 346.9 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .data_dir = data, .timing = { .step_time_s = 0.4, .steps_per_call = 120, .startup_s = 7, .eval_time_s = 1.3 } };
    char *text;
    (void)state;
    PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_int_equal(ms_of(text, "epoch_stop", 1), 7000 + 96000);
    assert_int_equal(ms_of(text, "epoch_stop", 2), 7000 + 96000 + 1300 + 96000);
    assert_int_equal(ms_of(text, "epoch_stop", 3), 7000 + 96000 + 1300 + 96000 + 1300 + 144000);
    assert_int_equal(ms_of(text, "run_stop", 1), 346900);
    free(text);
    arena_free(&a);
}

/* A run whose parts have no times: all lines come at once, and run_stop comes at the drawn time. */
static void test_log_of_no_parts(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3, .time_s = 340 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .data_dir = data };
    char *text;
    (void)state;
    PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_int_equal(ms_of(text, "epoch_stop", 3), 0);
    assert_int_equal(ms_of(text, "eval_stop", 3), 0);
    assert_int_equal(ms_of(text, "run_stop", 1), 340000);
    free(text);
    arena_free(&a);
}

static void test_missing_hyperparameter(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct drawn_run run = { .time_s = 3, .n_evals = 1, .samples = 3072 };
    struct submission_description s = { .system = "toy", .benchmark = "bert", .division = "closed", .ruleset = "1.1.0", .optimizer = "lamb",
        .global_batch = 3072, .grad_accum = 5, .data_dir = data };
    char *text;
    bool written = true;
    (void)state;
    PRINTED(text, written = submission_write_log(f, &s, &run, 0, &a, &err));
    assert_false(written);
    assert_string_equal(err.msg, "toy: [optimizer] lacks num_warmup_steps, opt_base_learning_rate, opt_epsilon, opt_lamb_beta_1, opt_lamb_beta_2, "
        "opt_lamb_weight_decay_rate, opt_learning_rate_training_steps, opt_learning_rate_warmup_steps, start_warmup_step, which the rules of v1.1 "
        "demand of closed bert: set optimizer.KEY for each");
    free(text);
    struct log_demands demands;
    assert_true(log_demands_load(&demands, s.ruleset, s.division, s.benchmark, s.optimizer, s.data_dir, &a, &err));
    while (!text_is(demands.items->key, "num_warmup_steps"))
        demands.items++, demands.n--;
    for (demands.n = 2; demands.n > 0; demands.n--) {       /* two demands, then one */
        s.demands = &demands;
        PRINTED(text, written = submission_write_log(f, &s, &run, 0, &a, &err));
        assert_string_equal(err.msg, arena_printf(&a, "toy: [optimizer] lacks num_warmup_steps%s%s, which the rules of v1.1 demand of closed bert: "
                                                  "set optimizer.KEY for each", demands.n > 1 ? ", " : "", demands.n > 1 ? demands.items[1].key : ""));
        free(text);
    }
    arena_free(&a);
}

static const struct submission_description rnnt_of_a_toy = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0",
    .optimizer = "lamb", .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .data_dir = data,
    .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3 } };

/* Impossible descriptions write nothing: division, sizes, time, name, fields, and existing logs. */
static void test_descriptions_refused(void **state)
{
    static const char names[] = "a folder's name may hold no space or slash, and not begin with a dot";
    static const struct text_pair odd_field[] = { { "colour", "red" } };
    static const struct { struct submission_description s; struct drawn_run run; const char *want; } cases[] = {
        { { .division = "network" }, { .n_evals = 3 }, "there are no rules 'network_common' in 1.0.0" },
        { { .grad_accum = -1 }, { .n_evals = 3 }, "global batch 1024 with -1 accumulation steps, want numbers above 0" },
        { { .global_batch = -2 }, { .n_evals = 3 }, "global batch -2 with 5 accumulation steps, want numbers above 0" },
        { { .name = NULL }, { .time_s = -3, .n_evals = 3 }, "a run of -3 s with 3 evaluations, want both above 0" },
        { { .name = NULL }, { .n_evals = 0 }, "a run of 337.3 s with 0 evaluations, want both above 0" },
        { { .name = "a b" }, { .n_evals = 3 }, names }, { { .name = "a/b" }, { .n_evals = 3 }, names }, { { .name = ".a" }, { .n_evals = 3 }, names },
        { { .fields = odd_field, .n_fields = 1 }, { .n_evals = 3 }, "system description: 'colour' is not one of its fields; known: " },
    };
    char top[64];
    (void)state;
    snprintf(top, sizeof top, "/tmp/podbench-test-refused-%ld", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct submission_description s = rnnt_of_a_toy;
        struct drawn_run run = toy_run;
        s.hyperparameters = rnnt_keys;
        s.division = cases[i].s.division ? cases[i].s.division : s.division;
        s.grad_accum = cases[i].s.grad_accum != 0 ? cases[i].s.grad_accum : s.grad_accum;
        s.global_batch = cases[i].s.global_batch != 0 ? cases[i].s.global_batch : s.global_batch;
        s.name = cases[i].s.name, s.fields = cases[i].s.fields, s.n_fields = cases[i].s.n_fields;
        run.time_s = cases[i].run.time_s != 0 ? cases[i].run.time_s : run.time_s;
        run.n_evals = cases[i].run.n_evals;
        assert_false(submission_write(top, &s, &run, 1, &a, &err));
        if (!strstr(err.msg, cases[i].want))
            print_error("%s\n", err.msg);
        assert_non_null(strstr(err.msg, cases[i].want));
        assert_true(access(top, F_OK) != 0);
        arena_free(&a);
    }
}

/* A log may have a hundred thousand evaluations and as many epochs, not one more. A log within the limit goes on to
 * be refused for its benchmark, 'none'. */
static void test_longest_logs(void **state)
{
    static const char more[] = "want at most 100000 and 100000; raise training.eval_every, or lower training.epochs", known[] = "benchmark 'none'";
    static const struct { uint64_t n_evals; double epochs; const char *begins, *has; } cases[] = {
        { 100000, 1, "", known }, { 1, 100000, "", known }, { 100000, 100000, "", known },
        { 100001, 2, "a log of 2 epochs and 100001 evaluations, ", more }, { 1, 100001, "a log of 100001 epochs and 1 evaluation, ", more },
        { 7, 100000.5, "a log of 100000 epochs and 7 evaluations, ", more }, { 100001, NAN, "a log of 0 epochs and 100001 evaluations, ", more },
        { 100000, NAN, "", known },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct submission_description s = rnnt_of_a_toy;
        struct drawn_run run = toy_run;
        char *text;
        bool written = true;
        s.benchmark = "none";
        run.n_evals = cases[i].n_evals, run.epochs = cases[i].epochs;
        PRINTED(text, written = submission_write_log(f, &s, &run, 0, &a, &err));
        assert_false(written);
        assert_string_equal(text, "");
        if (strncmp(err.msg, cases[i].begins, strlen(cases[i].begins)) != 0 || !strstr(err.msg, cases[i].has))
            print_error("%s\n", err.msg);
        assert_memory_equal(err.msg, cases[i].begins, strlen(cases[i].begins));
        assert_non_null(strstr(err.msg, cases[i].has));
        free(text);
        arena_free(&a);
    }
}

/* The smallest submission: less than a sample a step, less than a micro-batch, one evaluation, one millisecond. */
static void test_the_smallest_submission(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct submission_description s = rnnt_of_a_toy;
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 1, .epochs = 1, .accuracy = 0.0575, .n_evals = 1, .time_s = 0.001 };
    char *text;
    (void)state;
    s.hyperparameters = rnnt_keys, s.global_batch = 0.5, s.grad_accum = 0.25, s.init_s = 0.25;
    PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_non_null(strstr(text, "\"gradient_accumulation_steps\", \"value\": 0.25,"));
    assert_int_equal(ms_of(text, "run_stop", 1), 1);
    assert_non_null(strstr(text, "\"time_ms\": 1640995200250, \"event_type\": \"INTERVAL_END\", \"key\": \"init_stop\""));
    free(text);
    s.global_batch = 0;
    assert_false(submission_write_log(NULL, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "global batch 0 with 0.25 accumulation steps, want numbers above 0");
    s.global_batch = 0.5, s.grad_accum = 0;
    assert_false(submission_write_log(NULL, &s, &run, 0, &a, &err));
    arena_free(&a);
}

/* Whole numbers, true and false, infinity and text are written as JSON. */
static void test_hyperparameters_of_each_kind(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct text_pair keys[15];
    struct submission_description s = rnnt_of_a_toy;
    char *text;
    (void)state;
    memcpy(keys, rnnt_keys, sizeof *keys * 11);
    keys[11] = (struct text_pair){ "opt_odd_switch", "true" };
    keys[12] = (struct text_pair){ "opt_odd_limit", "Infinity" };
    keys[13] = (struct text_pair){ "opt_odd_name", "say \"x\"" };
    keys[14] = (struct text_pair){ "opt_odd_number", "2.50" };
    s.hyperparameters = keys;
    s.n_hyperparameters = 15;
    PRINTED(text, submission_write_log(f, &s, &toy_run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_non_null(strstr(text, "\"key\": \"opt_odd_switch\", \"value\": true,"));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_limit\", \"value\": Infinity,"));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_name\", \"value\": \"say \\\"x\\\"\","));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_number\", \"value\": 2.5,"));
    free(text);
    arena_free(&a);
}

/* Every key that the rules fix is logged with its type, including the first and the last. Given keys, and keys that
 * the log writes anyway, appear once. */
static void test_demands_of_each_kind(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct demand items[] = {
        { .key = "opt_first", .fixed = true, .value = { .kind = VALUE_BOOL, .number = 1 } }, { .key = "opt_given", .fixed = true, .value = { .kind = VALUE_NUMBER, .number = 7 } },
        { .key = "run_stop", .fixed = true, .value = { .kind = VALUE_NUMBER, .number = 8 } }, { .key = "opt_off", .fixed = true, .value = { .kind = VALUE_BOOL } },
        { .key = "opt_text", .fixed = true, .value = { .kind = VALUE_TEXT, .text = "a\"b" } }, { .key = "opt_last", .fixed = true, .value = { .kind = VALUE_NUMBER, .number = 2.5 } },
    };
    static const struct text_pair given[] = { { "opt_given", "3" } };
    struct log_demands demands = { .edition = edition_find(project_rounds(), "1.0.0"), .items = items, .n = 6 };
    struct submission_description s = rnnt_of_a_toy;
    char *text;
    (void)state;
    s.hyperparameters = given, s.n_hyperparameters = 1, s.demands = &demands;
    PRINTED(text, submission_write_log(f, &s, &toy_run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    static const char *const lines[] = { "\"opt_first\", \"value\": true,", "\"opt_given\", \"value\": 3,", "\"opt_off\", \"value\": false,",
                                         "\"opt_text\", \"value\": \"a\\\"b\",", "\"opt_last\", \"value\": 2.5,", "\"run_stop\", \"value\": null," };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *found = strstr(text, lines[i]), *key = arena_printf(&a, "%.*s", (int)strcspn(lines[i], ","), lines[i]);
        assert_non_null(found);
        assert_null(strstr(found + 1, key));
        assert_ptr_equal(strstr(text, key), found);
    }
    free(text);
    arena_free(&a);
}

/* Accuracies approach the target until the last evaluation, which has the drawn value on the side that matches the
 * run's status. Lower is better for RNN-T (target 0.058), higher for BERT (0.72). */
static void test_accuracies_of_a_log(void **state)
{
    static const struct { const char *benchmark, *ruleset; double drawn; bool converged; double last; } cases[] = {
        { "rnnt", "1.0.0", 0.0575, true, 0.0575 }, { "rnnt", "1.0.0", 0.0585, true, 0.058 }, { "rnnt", "1.0.0", 0.058, true, 0.058 },
        { "rnnt", "1.0.0", 0.0585, false, 0.0585 }, { "rnnt", "1.0.0", 0.0575, false, 0.058 * 1.0001 }, { "bert", "2.0.0", 0.73, true, 0.73 },
        { "bert", "2.0.0", 0.71, true, 0.72 }, { "bert", "2.0.0", 0.72, false, 0.72 * 0.9999 }, { "bert", "2.0.0", 0.71, false, 0.71 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        bool rnnt = text_is(cases[i].benchmark, "rnnt");
        struct submission_description s = rnnt_of_a_toy;
        struct drawn_run run = { .seed = 42, .converged = cases[i].converged, .samples = rnnt ? 3 * 278528 : 525312, .epochs = 3, .accuracy = cases[i].drawn,
                                 .n_evals = 3, .time_s = 340 };
        double target = rnnt ? 0.058 : 0.72, sign = rnnt ? -1 : 1;
        char *text;
        s.benchmark = cases[i].benchmark, s.ruleset = cases[i].ruleset;
        s.hyperparameters = rnnt ? rnnt_keys : bert_keys, s.n_hyperparameters = rnnt ? 11 : 9;
        PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
        assert_string_equal(err.msg, "");
        const char *at = text;
        for (int k = 1; k <= 3; k++) {
            at = strstr(at, "\"eval_accuracy\", \"value\": ");
            assert_non_null(at);
            at += strlen("\"eval_accuracy\", \"value\": ");
            assert_near(strtod(at, NULL), k == 3 ? cases[i].last : target - sign * (1e-4 * target + 0.5 * target * exp(-4.0 * k / 3)), k == 3 ? 1e-15 : 5.001e-7);
        }
        assert_non_null(strstr(text, cases[i].converged ? "\"status\": \"success\"" : "\"status\": \"aborted\""));
        free(text);
        arena_free(&a);
    }
}

/* "b1+3 e1 e2 e3 v3": a block of 3 epochs from epoch 1, each epoch, and the evaluation that follows. */
static const char *course_of(const char *text, struct arena *a)
{
    static const struct { const char *key, *number, *shown; } kinds[] = {
        { "block_start", "first_epoch_num", "b" }, { "block_start", "epoch_count", "+" }, { "epoch_start", "epoch_num", "e" }, { "eval_accuracy", "epoch_num", "v" } };
    const char *course = "";
    char *rest = arena_strdup(a, text), *line;
    while ((line = strsep(&rest, "\n")))
        for (size_t i = 0; i < 4; i++)
            if (strstr(line, arena_printf(a, "\"key\": \"%s\"", kinds[i].key)))
                course = arena_printf(a, "%s%s%s%.10g", course, *course && *kinds[i].shown != '+' ? " " : "", kinds[i].shown,
                                      strtod(strstr(line, kinds[i].number) + strlen(kinds[i].number) + 3, NULL));
    return course;
}

/* Evaluations come every so many epochs, or every so many samples at the batch that reaches the mark. */
static void test_sequence_of_a_log(void **state)
{
    static const struct { bool bert; int placement; double epochs, interval; uint64_t n_evals; const char *course; } cases[] = {
        { false, EVAL_INLINE, 11, 4, 3, "b1+3 e1 e2 e3 v3 b4+4 e4 e5 e6 e7 v7 b8+4 e8 e9 e10 e11 v11" }, { false, EVAL_INLINE, 5, 4, 2, "b1+1 e1 v1 b2+4 e2 e3 e4 e5 v5" },
        { false, EVAL_INLINE, 8, 4, 3, "b1+1 e1 v1 b2+3 e2 e3 e4 v4 b5+4 e5 e6 e7 e8 v8" }, { false, EVAL_INLINE, 3, 0, 3, "b1+1 e1 v1 b2+1 e2 v2 b3+1 e3 v3" },
        { false, EVAL_END, 5, 2, 3, "b1+5 e1 e2 e3 e4 e5 v1 v3 v5" }, { false, EVAL_END, 4, 3, 3, "b1+4 e1 e2 e3 e4 v1 v1 v4" },
        { true, EVAL_INLINE, 3700, 1000, 4, "b1+1 v1200 b2+1 v2100 b3+1 v3000 b4+1 v3700" }, { true, EVAL_END, 1900, 750, 2, "b1+1 v900 b2+1 v1900" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct submission_description s = rnnt_of_a_toy;
        struct drawn_run run = { .seed = 42, .converged = true, .samples = cases[i].epochs, .epochs = cases[i].epochs, .accuracy = 0.0575, .n_evals = cases[i].n_evals,
                                 .time_s = 340 };
        char *text;
        s.hyperparameters = rnnt_keys, s.eval_interval = cases[i].interval, s.timing.eval_placement = cases[i].placement;
        if (cases[i].bert)
            s.benchmark = "bert", s.ruleset = "2.0.0", s.global_batch = 300, s.hyperparameters = bert_keys, s.n_hyperparameters = 9;
        PRINTED(text, submission_write_log(f, &s, &run, 0, &a, &err));
        assert_string_equal(err.msg, "");
        assert_string_equal(course_of(text, &a), cases[i].course);
        free(text);
        arena_free(&a);
    }
}

/* Keys that the log writes itself are not repeated for a demand or a given value; a key that only begins alike is
 * written. */
static void test_keys_of_the_log_itself(void **state)
{
    static const char *const own[] = { "cache_clear", "init_start", "init_stop", "run_start", "run_stop", "block_start", "block_stop", "epoch_start", "epoch_stop",
        "eval_start", "eval_stop", "eval_accuracy", "train_samples", "eval_samples", "global_batch_size", "gradient_accumulation_steps", "opt_name",
        "weights_initialization", "submission_org", "submission_" }, *const others[] = { "cache", "submission", "opt_name_2", "eval_starts" };
    struct arena a = { 0 };
    struct err err = { "" };
    struct log_demands demands = { .edition = edition_find(project_rounds(), "1.0.0") };
    struct submission_description s = rnnt_of_a_toy;
    (void)state;
    for (size_t i = 0; i < 24; i++)
        for (int given = 0; given < 2; given++) {
            const char *key = i < 20 ? own[i] : others[i - 20], *odd = arena_printf(&a, "\"%s\", \"value\": 987,", key);
            char *text;
            demands.items = &(struct demand){ .key = key, .fixed = true, .value = { .kind = VALUE_NUMBER, .number = 987 } };
            demands.n = !given;
            s.hyperparameters = &(struct text_pair){ key, "987" }, s.n_hyperparameters = (size_t)given, s.demands = &demands;
            PRINTED(text, submission_write_log(f, &s, &toy_run, 0, &a, &err));
            assert_string_equal(err.msg, "");
            assert_int_equal(strstr(text, odd) != NULL, i >= 20);
            free(text);
        }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_golden_log), cmocka_unit_test(test_scaling_is_written), cmocka_unit_test(test_log_evaluated_at_the_end),
        cmocka_unit_test(test_log_of_no_parts), cmocka_unit_test(test_log_of_whole_calls), cmocka_unit_test(test_missing_hyperparameter), cmocka_unit_test(test_descriptions_refused), cmocka_unit_test(test_longest_logs),
        cmocka_unit_test(test_hyperparameters_of_each_kind), cmocka_unit_test(test_demands_of_each_kind), cmocka_unit_test(test_keys_of_the_log_itself), cmocka_unit_test(test_accuracies_of_a_log), cmocka_unit_test(test_sequence_of_a_log), cmocka_unit_test(test_the_smallest_submission),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
