/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_distribution.c - drawn runs and submissions, their score by hand where nothing varies, the laws of the intervals, and coverage. */
#include "tests/check.h"
#include "tests/mllog_keys.h"
#include "tests/golden_text.h"
#include "results/mlperf/mllog_write.h"
#include "tests/mlperf/judged.h"
#include <gsl/gsl_cdf.h>
#include <jansson.h>

static const char data[] = "workloads/convergence";

static struct convergence predict(const char *benchmark, const char *round, double batch)
{
    struct arena a = { 0 };
    struct err err;
    struct convergence c;
    assert_true(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = benchmark, .round = round, .global_batch = batch }, data, &a, &err));
    arena_free(&a);
    return c;
}

static struct run_distribution draw(const struct distribution_request *q, struct arena *a)
{
    struct err err = { "" };
    struct run_distribution d;
    if (!distribution_draw(&d, q, a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return d;
}

/* BERT at 3072 with 2,150,400 samples given: 700 steps of 1.3 s, 12 evaluations of 7 s, 11 s startup, 5 s tail: 910 + 84 + 16 = 1010 s. */
static void test_given_samples_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct distribution_request q = { .convergence = &c, .samples_to_converge = 2150400, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5, .eval_time_s = 7 } };
    (void)state;
    struct run_distribution d = draw(&q, &a);
    assert_int_equal(d.n, 10);
    assert_near(d.runs[4].time_s, 1010, 1e-9);
    assert_int_equal(d.runs[4].n_evals, 12);
    assert_near(d.score_minutes, 1010 / 60.0, 1e-12);
    assert_near(d.high_minutes - d.low_minutes, 0, 1e-12);
    assert_near(d.valid_probability, 1, 0);
    assert_near(d.pass_probability, 0, 0);      /* far faster than the reference */
    q.open_division = true;
    assert_near(draw(&q, &a).pass_probability, 1, 0);
    q.timing.samples_per_step = 3500;           /* more than the log states: 614.4 steps, 798.72 s */
    assert_near(draw(&q, &a).runs[4].time_s, 898.72, 1e-9);
    arena_free(&a);
}

/* v2.1 scales the scores of submissions that pass, not their logs: by 2,656,421.42 (on the line from 448 to
 * 4608) over 2,580,480 samples. v2.0 does not, nor the open division. */
static void test_scaled_scores(void **state)
{
    static const struct { const char *round; bool open; double by; } cases[] = {
        { "v2.0", false, 1 }, { "v2.1", false, 2656421.42 / 2580480 }, { "v2.1", true, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct convergence c = predict("bert", cases[i].round, 3072);
        struct distribution_request q = { .convergence = &c, .samples_to_converge = 2580480, .seed = 3, .submissions = 40, .data_dir = data,
            .open_division = cases[i].open, .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5 } };
        struct run_distribution d = draw(&q, &a);       /* 840 steps */
        assert_near(d.runs[4].time_s, 1108, 1e-9);
        assert_near(d.score_minutes, cases[i].by * 1108 / 60, 1e-7);
        assert_near(d.expected_minutes, cases[i].by * 1108 / 60, 1e-7);
        arena_free(&a);
    }
}

/* The same in v1.1, where logs of submissions that fail are scaled: by 2,764,498.67 over 2,150,400. In the open division they are not. */
static void test_scaled_runs(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v1.1", 3072);
    struct distribution_request q = { .convergence = &c, .samples_to_converge = 2150400, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5, .eval_time_s = 7 } };
    double by = 2764498.6666666667 / 2150400;
    (void)state;
    struct run_distribution d = draw(&q, &a);
    assert_near(d.runs[4].time_s, 1010 * by, 1e-9);
    assert_near(d.runs[4].scaling_s, 1010 * (by - 1), 1e-9);
    assert_near(d.score_minutes, 1010 * by / 60, 1e-9);
    assert_near(d.expected_minutes, 1010 * by / 60, 1e-9);
    assert_near(d.run_low_s, 1010 * by, 1e-9);
    q.open_division = true;
    assert_near(draw(&q, &a).runs[4].time_s, 1010, 1e-9);
    q.open_division = false;
    q.runs = 7;                                 /* no submission: it is not judged */
    d = draw(&q, &a);
    assert_near(d.runs[4].time_s, 1010, 1e-9);
    assert_near(d.run_low_s, 1010 * by, 1e-9);
    arena_free(&a);
}

/* A plan of 7 epochs of ResNet-50 at 1,281,167 samples a step: 7 steps of 30 s; evaluations after epochs 3 and 7: 2 * 4 s, and 9 s once. */
static void test_fixed_schedule_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    c.global_batch = 1281167;
    c.accuracy_mean = 0.77;
    struct distribution_request q = { .convergence = &c, .epochs = 7, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 30, .eval_time_s = 4, .first_eval_extra_s = 9, .eval_placement = EVAL_END } };
    (void)state;
    struct run_distribution d = draw(&q, &a);
    assert_int_equal(d.n, 5);
    for (size_t i = 0; i < d.n; i++)
        assert_near(d.runs[i].time_s, 227, 1e-9);
    assert_near(d.score_minutes, 227 / 60.0, 1e-12);
    c.accuracy_mean = 0.74;                     /* none passes */
    d = draw(&q, &a);
    assert_true(isnan(d.score_minutes) && isnan(d.expected_minutes));
    assert_near(d.valid_probability, 0, 0);
    arena_free(&a);
}

/* A run passes with probability p: a submission of five is valid with p^5 + 5 p^4 (1 - p). */
static void test_pass_probability(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    struct distribution_request q = { .convergence = &c, .seed = 5, .submissions = 4000, .data_dir = data,
        .timing = { .step_time_s = 0.08, .eval_placement = EVAL_END } };
    (void)state;
    double p = gsl_cdf_ugaussian_P((c.accuracy_mean - c.target) / c.accuracy_sd), want = pow(p, 5) + 5 * pow(p, 4) * (1 - p);
    assert_near(draw(&q, &a).valid_probability, want, 4 * sqrt(want * (1 - want) / 4000));
    arena_free(&a);
}

static void test_seeds(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 4608);
    struct distribution_request q = { .convergence = &c, .seed = 42, .submissions = 50, .data_dir = data,
        .timing = { .step_time_s = 0.65, .eval_time_s = 0.5, .noise = -1 } };
    (void)state;
    struct run_distribution one = draw(&q, &a), again = draw(&q, &a);
    char *text, *text_again;
    PRINTED(text, distribution_print(f, &one));
    PRINTED(text_again, distribution_print(f, &again));
    assert_string_equal(text, text_again);
    q.seed = 43;
    struct run_distribution next = draw(&q, &a);
    for (size_t i = 0; i + 1 < one.n; i++)      /* a run depends on its own seed alone */
        assert_near(one.runs[i + 1].time_s, next.runs[i].time_s, 0);
    assert_true(one.runs[0].time_s != one.runs[1].time_s);
    q.seed = 42, q.runs = 3;
    assert_int_equal(draw(&q, &a).n, 3);
    free(text), free(text_again);
    arena_free(&a);
}

/* Given samples, a submission's time varies by one lognormal factor alone: its 5 % and 95 % points lie 1.645 spreads of 0.1 off the
 * time without an error. Over 8,000 submissions each point is known to 0.0024. */
static void test_samples_lie_on_the_schedule(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct distribution_request q = { .convergence = &c, .seed = 9, .runs = 200, .submissions = 20, .data_dir = data,
        .timing = { .step_time_s = 1 } };
    (void)state;
    struct run_distribution d = draw(&q, &a);
    double sum = 0;
    for (size_t i = 0; i < d.n; i++) {
        double due = floor(d.runs[i].samples / 175000) * 175000;
        assert_true(d.runs[i].samples - due < 3072 && fmod(d.runs[i].samples, 3072) == 0);
        assert_near((double)d.runs[i].n_evals, due / 175000, 0);
        sum += d.runs[i].samples;
    }
    assert_near(sum / 200, c.mean_samples, 4 * c.mean_samples * 0.06 / sqrt(200));
    q.max_samples = 2.9e6;              /* evaluations at most at 2.8e6: about a third converge */
    d = draw(&q, &a);
    size_t n_aborted = 0;
    for (size_t i = 0; i < d.n; i++) {
        assert_true(d.runs[i].samples <= 2.9e6);
        n_aborted += !d.runs[i].converged;
    }
    assert_true(n_aborted > 60 && n_aborted < 180);
    arena_free(&a);
}

/* A plan of epochs is followed where one is given, or where all evaluations come last and there is one: 17 epochs are evaluated 5 times, every 4.
 * Else a run ends at the first evaluation from its 30 epochs on. */
static void test_which_runs_are_planned(void **state)
{
    static const struct { double epochs; enum eval_placement place; bool has_plan; double want; uint64_t n_evals; } cases[] = {
        { 0, EVAL_END, true, 17, 5 }, { 0, EVAL_END, false, 0, 0 }, { 0, EVAL_INLINE, true, 0, 0 }, { 0, EVAL_INLINE, false, 0, 0 },
        { 9, EVAL_INLINE, false, 9, 3 }, { 8, EVAL_END, true, 8, 2 },
    };
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    (void)state;
    c.planned_epochs = 17, c.plan_error = 0, c.accuracy_mean = 0.77, c.accuracy_sd = 1e-6;
    c.median_samples = 30 * c.samples_per_epoch, c.sigma = 0, c.error = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct distribution_request q = { .convergence = &c, .epochs = cases[i].epochs, .seed = 3, .submissions = 2, .data_dir = data,
            .timing = { .step_time_s = 1, .eval_placement = cases[i].place } };
        c.has_plan = cases[i].has_plan;
        struct run_distribution d = draw(&q, &a);
        for (size_t k = 0; k < d.n; k++) {
            const struct drawn_run *r = &d.runs[k];
            assert_true(r->converged && r->convergence_point == r->epochs && r->samples == r->epochs * c.samples_per_epoch);
            assert_true(cases[i].want > 0 ? r->epochs == cases[i].want && r->n_evals == cases[i].n_evals
                                          : r->epochs >= 30 && r->epochs < 34 && r->n_evals == (uint64_t)ceil(r->epochs / 4));
        }
    }
    arena_free(&a);
}

/* 2,000,000 samples are seen at the twelfth evaluation, due at 2,100,000 and made at the 684th step of 3072; every 200,000 at the tenth, in step 652.
 * A run that may take no more than one sample less does not converge. */
static void test_runs_without_noise(void **state)
{
    static const struct { double interval, most, samples; uint64_t n_evals; bool converged; } cases[] = {
        { 0, 0, 684 * 3072, 12, true }, { 0, 684 * 3072, 684 * 3072, 12, true }, { 0, 684 * 3072 - 1, 684 * 3072 - 1, 12, false },
        { 0, 2e6, 2e6, 11, false }, { 0, 1000, 1000, 1, false }, { 200000, 0, 652 * 3072, 10, true },
    };
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    (void)state;
    c.median_samples = 2e6, c.sigma = 0, c.error = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct distribution_request q = { .convergence = &c, .eval_interval = cases[i].interval, .max_samples = cases[i].most, .seed = 3, .submissions = 2,
            .data_dir = data, .timing = { .step_time_s = 2, .eval_time_s = 7 } };
        const struct drawn_run r = draw(&q, &a).runs[1];
        assert_true(r.samples == cases[i].samples && r.n_evals == cases[i].n_evals && r.converged == cases[i].converged);
        assert_true(isnan(r.epochs) && r.convergence_point == r.samples);
        assert_near(r.time_s, cases[i].samples / 3072 * 2 + 7.0 * (double)cases[i].n_evals, 1e-9);
    }
    arena_free(&a);
}

/* Samples that are given, in epochs: at least one evaluation, and one that is due at the very end. */
static void test_given_epochs(void **state)
{
    static const struct { double epochs; uint64_t n_evals; } cases[] = { { 3, 1 }, { 4, 1 }, { 7.9, 1 }, { 8, 2 }, { 41, 10 } };
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct distribution_request q = { .convergence = &c, .samples_to_converge = cases[i].epochs * c.samples_per_epoch, .seed = 3, .submissions = 2,
            .data_dir = data, .timing = { .step_time_s = 1 } };
        const struct drawn_run r = draw(&q, &a).runs[2];
        assert_near(r.epochs, cases[i].epochs, 1e-12);
        assert_true(r.convergence_point == r.epochs && r.n_evals == cases[i].n_evals && r.converged);
    }
    arena_free(&a);
}

/* Half of all runs pass, four of five must: one submission in five has a score. Each draw takes the next five seeds. */
static void test_draw_until_valid(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct run_distribution d;
    struct convergence c = predict("resnet", "v2.0", 3200);
    c.accuracy_mean = c.target;
    struct distribution_request q = { .convergence = &c, .seed = 3, .submissions = 20, .data_dir = data, .epochs = 40, .until_valid = true,
        .timing = { .step_time_s = 0.1, .eval_placement = EVAL_END } };
    uint64_t most = 0;
    (void)state;
    for (q.seed = 1; q.seed < 400; q.seed += 40) {
        d = draw(&q, &a);
        size_t failed = 0;
        for (size_t i = 0; i < d.n; i++) {
            failed += !d.runs[i].converged;
            assert_int_equal(d.runs[i].seed, q.seed + (d.n_draws - 1) * 5 + i);
        }
        assert_true(failed <= 1 && isfinite(d.score_minutes));
        most = max_u64(most, d.n_draws);
    }
    assert_true(most > 1);
    c.accuracy_mean = c.target - 20 * c.accuracy_sd;
    assert_false(distribution_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "none of 1000 submissions drawn has a score and passes: too few runs of this recipe converge as the reference does");
    arena_free(&a);
}

/* 90 % intervals are from the 5th to the 95th percentile: a run of 1000 s with noise s lies from 1000 exp(-1.645 s) to 1000 exp(1.645 s), and
 * a score of equal runs with the model's error e likewise. 20,000 submissions of 10 runs: to a twentieth of a standard deviation. */
static void test_intervals_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct distribution_request q = { .convergence = &c, .samples_to_converge = 3072 * 1000.0, .seed = 5, .submissions = 20000, .data_dir = data,
        .timing = { .step_time_s = 1, .noise = 0.08 } };
    (void)state;
    struct run_distribution d = draw(&q, &a);
    assert_near(log(d.run_low_s / 1000) / 0.08, -1.6449, 0.05);
    assert_near(log(d.run_high_s / 1000) / 0.08, 1.6449, 0.05);
    q.timing.noise = 0, q.timing.error = 0.03;
    d = draw(&q, &a);
    assert_near(log(d.low_minutes * 60 / 1000) / 0.03, -1.6449, 0.05);
    assert_near(log(d.high_minutes * 60 / 1000) / 0.03, 1.6449, 0.05);
    assert_near(d.samples_low, 3072 * 1000.0, 0);
    arena_free(&a);
}

static void test_more_error_wider_interval(void **state)
{
    struct convergence c = predict("bert", "v2.0", 3072);
    double before = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct arena a = { 0 };
        struct distribution_request q = { .convergence = &c, .seed = 9, .submissions = 600, .data_dir = data,
            .timing = { .step_time_s = 1, .error = 0.1 * i } };
        struct run_distribution d = draw(&q, &a);
        assert_true(d.low_minutes < d.expected_minutes && d.expected_minutes < d.high_minutes);
        assert_true(d.run_high_s - d.run_low_s > before);
        before = d.run_high_s - d.run_low_s;
        arena_free(&a);
    }
}

static void test_refusals(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct run_distribution d;
    struct convergence c = predict("bert", "v2.0", 3072);
    struct distribution_request q = { .convergence = &c, .data_dir = data };
    (void)state;
    assert_false(distribution_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "step time of 0 s, want a number above 0");
    q.timing.step_time_s = 1, q.runs = 1001;
    assert_false(distribution_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "1001 runs, want at most 1000");
    arena_free(&a);
}

/* ---- a simulated submission, read back ---------------------------------------------------------- */

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
    double batch = text_is(round, "v1.0") && text_is(entries[entry].benchmark, "resnet") ? 2048 : entries[entry].batch;    /* 3264 came after v1.0 */
    struct convergence c = predict(entries[entry].benchmark, round, batch);
    c.accuracy_mean = 0.7605;                   /* so that enough runs pass */
    struct distribution_request q = { .convergence = &c, .seed = 42, .submissions = 20, .data_dir = data, .timing = {
        .step_time_s = entries[entry].step_s, .startup_s = 7, .eval_time_s = 1.3, .tail_s = 3, .noise = -1,
        .eval_placement = entries[entry].placement } };
    struct run_distribution d = draw(&q, &a);
    struct text_pair fields[] = { { "accelerator_model_name", "IPU \"GC200\"" }, { "accelerators_per_node", "16" } };
    struct submission_description s = { .system = "toy-pod", .benchmark = c.benchmark, .division = "closed", .ruleset = c.ruleset,
        .optimizer = entries[entry].optimizer, .hyperparameters = entries[entry].keys, .n_hyperparameters = entries[entry].n_keys,
        .fields = fields, .n_fields = 2, .global_batch = c.global_batch, .grad_accum = 5, .timing = q.timing, .rules_dir = "results/rules",
        .data_dir = data };
    const char *dir = arena_printf(&a, "%s/%s", top, round);
    mllog_write_submission(dir, &s, d.runs, d.n, &a, &err);
    assert_string_equal(err.msg, "");

    struct judged j = judge_tree(dir, NULL, &a);
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
    json_decref(system);
    arena_free(&a);
}

static void test_round_trip(void **state)
{
    static const char *const rounds[] = { "v1.0", "v1.1", "v2.0" };
    char top[] = "/tmp/podbench-test-submission-XXXXXX", command[96];
    (void)state;
    assert_non_null(mkdtemp(top));      /* a name by process could be one that a test broken off has left behind */
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            check_round_trip(i, rounds[k], top);
            assert_int_equal(system(command), 0);
        }
}

/* The whole log of an RNN-T run of three epochs: 7 s startup, epochs of 272 steps of 0.4 s, evaluations of 1.3 s. */
static void test_golden_log(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3, .time_s = 337.3 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .rules_dir = "results/rules",
        .data_dir = data, .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3 } };
    char *text;
    (void)state;
    PRINTED(text, mllog_write_run(f, &s, &run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_golden(text, "tests/golden/mllog_rnnt.txt", &a);
    free(text);
    arena_free(&a);
}

/* Milliseconds from the start of the run to the n-th line of a key. */
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

/* Evaluated at the end: 7 s startup, three epochs of 272 steps of 0.4 s, 2.3 s left over and 0.4 s to begin evaluating, three times 1.3 s:
 * 340 s. Drawn as twice that, every part takes twice as long; and 50 s of scaling come between the last evaluation and run_stop. */
static void test_log_evaluated_at_the_end(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .rules_dir = "results/rules",
        .data_dir = data, .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3, .tail_s = 2.3, .first_eval_extra_s = 0.4,
                                      .eval_placement = EVAL_END } };
    (void)state;
    for (int times = 1; times <= 2; times++) {
        char *text;
        run.scaling_s = 50 * (times - 1);
        run.time_s = 340 * times + run.scaling_s;
        PRINTED(text, mllog_write_run(f, &s, &run, 0, &a, &err));
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

/* A run that says nothing of its parts: all happens at once, and the run stops when its time is over. */
static void test_log_of_no_parts(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct drawn_run run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575, .convergence_point = 3,
                             .n_evals = 3, .time_s = 340 };
    struct submission_description s = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0", .optimizer = "lamb",
        .hyperparameters = rnnt_keys, .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .rules_dir = "results/rules", .data_dir = data };
    char *text;
    (void)state;
    PRINTED(text, mllog_write_run(f, &s, &run, 0, &a, &err));
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
        .global_batch = 3072, .grad_accum = 5, .rules_dir = "results/rules", .data_dir = data };
    char *text;
    bool written = true;
    (void)state;
    PRINTED(text, written = mllog_write_run(f, &s, &run, 0, &a, &err));
    assert_false(written);
    assert_string_equal(err.msg, "toy: [optimizer] lacks num_warmup_steps, opt_base_learning_rate, opt_epsilon, opt_lamb_beta_1, opt_lamb_beta_2, "
        "opt_lamb_weight_decay_rate, opt_learning_rate_training_steps, opt_learning_rate_warmup_steps, start_warmup_step, which the rules of v1.1 "
        "ask of closed bert: set optimizer.KEY for each");
    free(text);
    struct log_demands demands;
    assert_true(log_demands_load(&demands, s.ruleset, s.division, s.benchmark, s.optimizer, s.rules_dir, &a, &err));
    while (!text_is(demands.items->key, "num_warmup_steps"))
        demands.items++, demands.n--;
    for (demands.n = 2; demands.n > 0; demands.n--) {       /* of two, and of one alone */
        s.demands = &demands;
        PRINTED(text, written = mllog_write_run(f, &s, &run, 0, &a, &err));
        assert_string_equal(err.msg, arena_printf(&a, "toy: [optimizer] lacks num_warmup_steps%s%s, which the rules of v1.1 ask of closed bert: "
                                                  "set optimizer.KEY for each", demands.n > 1 ? ", " : "", demands.n > 1 ? demands.items[1].key : ""));
        free(text);
    }
    arena_free(&a);
}

static const struct submission_description rnnt_of_a_toy = { .system = "toy", .benchmark = "rnnt", .division = "closed", .ruleset = "1.0.0",
    .optimizer = "lamb", .n_hyperparameters = 11, .global_batch = 1024, .grad_accum = 5, .rules_dir = "results/rules", .data_dir = data,
    .timing = { .step_time_s = 0.4, .startup_s = 7, .eval_time_s = 1.3 } };
static const struct drawn_run toy_run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575,
                                          .convergence_point = 3, .n_evals = 3, .time_s = 337.3 };

/* Nothing is written of what cannot be: by its division, its sizes, its time, its name, its fields, and what is there already. */
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
        assert_false(mllog_write_submission(top, &s, &run, 1, &a, &err));
        if (!strstr(err.msg, cases[i].want))
            print_error("%s\n", err.msg);
        assert_non_null(strstr(err.msg, cases[i].want));
        assert_true(access(top, F_OK) != 0);
        arena_free(&a);
    }
}

/* Whole numbers, truth values, no end, and text, as JSON has them. */
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
    PRINTED(text, mllog_write_run(f, &s, &toy_run, 0, &a, &err));
    assert_string_equal(err.msg, "");
    assert_non_null(strstr(text, "\"key\": \"opt_odd_switch\", \"value\": true,"));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_limit\", \"value\": Infinity,"));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_name\", \"value\": \"say \\\"x\\\"\","));
    assert_non_null(strstr(text, "\"key\": \"opt_odd_number\", \"value\": 2.5,"));
    free(text);
    arena_free(&a);
}

static void test_no_score_as_text(void **state)
{
    struct drawn_run runs[] = { toy_run, toy_run, toy_run };
    struct run_distribution d = { .runs = runs, .n = 3, .may_fail = 1, .until_valid = true, .n_draws = 7, .score_minutes = NAN, .expected_minutes = 12.5,
                                  .low_minutes = 11, .high_minutes = 14, .run_low_s = NAN, .run_high_s = 900, .samples_low = 1e6, .samples_high = 2e6,
                                  .expected_samples = 1.5e6, .pass_probability = 0.25, .valid_probability = 0.5 };
    char *text;
    (void)state;
    runs[1].converged = runs[2].converged = false;
    runs[2].epochs = NAN;
    PRINTED(text, distribution_print(f, &d));
    assert_string_equal(text,
        "seed   status           samples   epochs evals      minutes\n"
        "42     success           835584        3     3       5.6217\n"
        "42     aborted           835584        3     3       5.6217\n"
        "42     aborted           835584        -     3       5.6217\n"
        "no score: 2 of 3 runs did not converge, at most 1 may\n"
        "7 submissions were drawn until one was valid\n"
        "score_minutes      -\n"
        "expected_minutes   12.5\n"
        "low_minutes        11\n"
        "high_minutes       14\n"
        "run_low_s          -\n"
        "run_high_s         900\n"
        "expected_samples   1.5e+06\n"
        "samples_low        1e+06\n"
        "samples_high       2e+06\n"
        "valid_probability  0.5\n"
        "pass_probability   0.25\n");
    free(text);
    d.n_draws = 1;
    PRINTED(text, distribution_print(f, &d));
    assert_non_null(strstr(text, "\n1 submission was drawn until one was valid\n"));
    free(text);
}

/* ---- coverage: three runs of one system that take 2, 4 and 6 s a batch ---------------------------------- */

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
        cmocka_unit_test(test_given_samples_by_hand), cmocka_unit_test(test_which_runs_are_planned), cmocka_unit_test(test_runs_without_noise),
        cmocka_unit_test(test_given_epochs), cmocka_unit_test(test_log_of_no_parts), cmocka_unit_test(test_scaled_runs), cmocka_unit_test(test_scaled_scores), cmocka_unit_test(test_fixed_schedule_by_hand), cmocka_unit_test(test_pass_probability),
        cmocka_unit_test(test_seeds), cmocka_unit_test(test_descriptions_refused),
        cmocka_unit_test(test_hyperparameters_of_each_kind), cmocka_unit_test(test_no_score_as_text), cmocka_unit_test(test_samples_lie_on_the_schedule), 
        cmocka_unit_test(test_intervals_by_hand), cmocka_unit_test(test_draw_until_valid), cmocka_unit_test(test_more_error_wider_interval),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_round_trip), cmocka_unit_test(test_golden_log), cmocka_unit_test(test_missing_hyperparameter),
        cmocka_unit_test(test_coverage_by_hand), cmocka_unit_test(test_coverage_as_text), cmocka_unit_test(test_log_evaluated_at_the_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
