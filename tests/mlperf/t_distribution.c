/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_distribution.c - drawn runs and submissions, their score by hand where nothing varies, and the laws of the
 * intervals. */
#include "system-model/output/output.h"
#include "tests/mlperf/drawn.h"
#include <gsl/gsl_cdf.h>

/* BERT at 3072 with 2,150,400 samples given: 700 steps of 1.3 s, 12 evaluations of 7 s, 11 s startup, 5 s tail: 910
 * + 84 + 16 = 1010 s. */
static void test_given_samples_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct draw_request q = { .convergence = &c, .samples_to_converge = 2150400, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5, .eval_time_s = 7 } };
    (void)state;
    struct drawn_runs d = draw(&q, &a);
    assert_int_equal(d.n, 10);
    assert_near(d.runs[4].time_s, 1010, 1e-9);
    assert_int_equal(d.runs[4].n_evals, 12);
    assert_near(d.score_minutes, 1010 / 60.0, 1e-12);
    assert_near(d.high_minutes - d.low_minutes, 0, 1e-12);
    assert_near(d.valid_probability, 1, 0);
    assert_near(d.pass_probability, 0, 0);      /* much faster than the reference */
    q.open_division = true;
    assert_near(draw(&q, &a).pass_probability, 1, 0);
    q.eval_interval = 1075200;                  /* half of the samples; one sample fewer does not reach the second evaluation */
    assert_int_equal(draw(&q, &a).runs[4].n_evals, 2);
    q.samples_to_converge--;
    assert_int_equal(draw(&q, &a).runs[4].n_evals, 1);
    q.samples_to_converge++;
    q.eval_interval = 0;
    q.timing.samples_per_step = 3500;           /* more samples a step than the log states: 614.4 steps, 798.72 s */
    assert_near(draw(&q, &a).runs[4].time_s, 898.72, 1e-9);
    arena_free(&a);
}

/* v2.1 scales the scores of submissions that pass, not their logs: by 2,656,421.42 (on the line from 448 to
 * 4608) over 2,580,480 samples. v2.0 does not, nor the open division. */
static void test_scaled_scores(void **state)
{
    static const struct { const char *round; bool open; double by; } cases[] = {
        { "v2.0", false, 1 }, { "v2.1", false, 2656421.42 / 2580480 }, { "v3.0", false, 2656421.42 / 2580480 }, { "v2.1", true, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct convergence c = predict("bert", cases[i].round, 3072);
        struct draw_request q = { .convergence = &c, .samples_to_converge = 2580480, .seed = 3, .submissions = 40, .data_dir = data,
            .open_division = cases[i].open, .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5 } };
        struct drawn_runs d = draw(&q, &a);       /* 840 steps */
        assert_near(d.runs[4].time_s, 1108, 1e-9);
        assert_near(d.score_minutes, cases[i].by * 1108 / 60, 1e-7);
        assert_near(d.scaling, cases[i].by, 1e-8);
        assert_near(d.expected_minutes, cases[i].by * 1108 / 60, 1e-7);
        arena_free(&a);
    }
}

/* The same in v1.1, where logs of submissions that fail are scaled: by 2,764,498.67 over 2,150,400. In the open
 * division they are not. */
static void test_scaled_runs(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v1.1", 3072);
    struct draw_request q = { .convergence = &c, .samples_to_converge = 2150400, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 1.3, .startup_s = 11, .tail_s = 5, .eval_time_s = 7 } };
    double by = 2764498.6666666667 / 2150400;
    (void)state;
    struct drawn_runs d = draw(&q, &a);
    assert_near(d.runs[4].time_s, 1010 * by, 1e-9);
    assert_near(d.runs[4].scaling_s, 1010 * (by - 1), 1e-9);
    assert_near(d.score_minutes, 1010 * by / 60, 1e-9);
    assert_near(d.expected_minutes, 1010 * by / 60, 1e-9);
    assert_near(d.run_low_s, 1010 * by, 1e-9);
    q.open_division = true;
    assert_near(draw(&q, &a).runs[4].time_s, 1010, 1e-9);
    q.open_division = false;
    q.runs = 7;                                 /* seven runs are no submission, so they are not judged */
    d = draw(&q, &a);
    assert_near(d.runs[4].time_s, 1010, 1e-9);
    assert_near(d.run_low_s, 1010 * by, 1e-9);
    arena_free(&a);
}

/* A plan of 7 epochs of ResNet-50 at 1,281,167 samples a step: 7 steps of 30 s; evaluations after epochs 3 and 7: 2
 * * 4 s, and 9 s once. */
static void test_fixed_schedule_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    c.global_batch = 1281167;
    c.accuracy_mean = 0.77;
    struct draw_request q = { .convergence = &c, .epochs = 7, .seed = 3, .submissions = 40, .data_dir = data,
        .timing = { .step_time_s = 30, .eval_time_s = 4, .first_eval_extra_s = 9, .eval_placement = EVAL_END } };
    (void)state;
    struct drawn_runs d = draw(&q, &a);
    assert_int_equal(d.n, 5);
    for (size_t i = 0; i < d.n; i++)
        assert_near(d.runs[i].time_s, 227, 1e-9);
    assert_near(d.score_minutes, 227 / 60.0, 1e-12);
    c.accuracy_mean = 0.74;                     /* no run passes */
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
    struct draw_request q = { .convergence = &c, .seed = 5, .submissions = 4000, .data_dir = data,
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
    struct draw_request q = { .convergence = &c, .seed = 42, .submissions = 50, .data_dir = data,
        .timing = { .step_time_s = 0.65, .eval_time_s = 0.5, .noise = -1 } };
    (void)state;
    struct drawn_runs one = draw(&q, &a), again = draw(&q, &a);
    char *text, *text_again;
    DOCUMENTED(text, drawn_runs_document(d, &one));
    DOCUMENTED(text_again, drawn_runs_document(d, &again));
    assert_string_equal(text, text_again);
    q.seed = 43;
    struct drawn_runs next = draw(&q, &a);
    for (size_t i = 0; i + 1 < one.n; i++)      /* a run depends only on its own seed */
        assert_near(one.runs[i + 1].time_s, next.runs[i].time_s, 0);
    assert_true(one.runs[0].time_s != one.runs[1].time_s);
    q.seed = 42, q.runs = 3;
    assert_int_equal(draw(&q, &a).n, 3);
    free(text), free(text_again);
    arena_free(&a);
}

/* With given samples, a submission's time varies by one lognormal factor: its 5 % and 95 % points are 1.645 * 0.1 away
 * from the time without error. 8,000 submissions give each point to 0.0024. */
static void test_samples_follow_the_schedule(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct draw_request q = { .convergence = &c, .seed = 9, .runs = 200, .submissions = 20, .data_dir = data,
        .timing = { .step_time_s = 1 } };
    (void)state;
    struct drawn_runs d = draw(&q, &a);
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

/* A run follows a plan of epochs that is given, or predicted where all evaluations come last: 17 epochs have 5
 * evaluations, one every 4 epochs. Other runs end at the first evaluation after their 30 epochs. */
static void test_which_runs_are_planned(void **state)
{
    static const struct { double epochs; enum eval_placement place; bool has_plan; double want; uint64_t n_evals; } cases[] = {
        { 0, EVAL_END, true, 17, 5 }, { 0, EVAL_END, false, 0, 0 }, { 0, EVAL_INLINE, true, 0, 0 }, { 0, EVAL_INLINE, false, 0, 0 },
        { 9, EVAL_INLINE, false, 9, 3 }, { 8, EVAL_END, true, 8, 2 }, { 1, EVAL_INLINE, false, 1, 1 }, { 1, EVAL_END, true, 1, 1 },
    };
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    (void)state;
    c.planned_epochs = 17, c.plan_error = 0, c.accuracy_mean = 0.77, c.accuracy_sd = 1e-6;
    c.median_samples = 30 * c.samples_per_epoch, c.sigma = 0, c.error = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_request q = { .convergence = &c, .epochs = cases[i].epochs, .seed = 3, .submissions = 2, .data_dir = data,
            .timing = { .step_time_s = 1, .eval_placement = cases[i].place } };
        c.has_plan = cases[i].has_plan;
        struct drawn_runs d = draw(&q, &a);
        size_t n_differ = 0;
        for (size_t k = 0; k < d.n; k++) {
            const struct drawn_run *r = &d.runs[k];
            n_differ += r->epochs != d.runs[0].epochs;
            assert_true(r->converged && r->convergence_point == r->epochs && r->samples == r->epochs * c.samples_per_epoch);
            assert_true(cases[i].want > 0 ? r->epochs == cases[i].want && r->n_evals == cases[i].n_evals
                                          : r->epochs >= 30 && r->epochs < 34 && r->n_evals == (uint64_t)ceil(r->epochs / 4));
        }
        assert_true((n_differ > 0) == !(cases[i].want > 0));        /* the first evaluation may come at any epoch of its interval */
    }
    arena_free(&a);
}

/* A run that converges at 2,000,000 samples is evaluated for the twelfth time at step 684 of 3072, as 2,100,000 are
 * due; with an interval of 200,000 it is the tenth evaluation, in step 652. A limit of one sample fewer stops it
 * before. */
static void test_runs_without_noise(void **state)
{
    static const struct { double interval, most, samples; uint64_t n_evals; bool converged; } cases[] = {
        { 0, 0, 684 * 3072, 12, true }, { 0, 684 * 3072, 684 * 3072, 12, true }, { 0, 684 * 3072 - 1, 684 * 3072 - 1, 12, false },
        { 0, 2e6, 2e6, 11, false }, { 0, 1000, 1000, 1, false }, { 0, 1, 1, 1, false }, { 200000, 0, 652 * 3072, 10, true },
    };
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    (void)state;
    c.median_samples = 2e6, c.sigma = 0, c.error = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_request q = { .convergence = &c, .eval_interval = cases[i].interval, .max_samples = cases[i].most, .seed = 3, .submissions = 2,
            .data_dir = data, .timing = { .step_time_s = 2, .eval_time_s = 7 } };
        const struct drawn_run r = draw(&q, &a).runs[1];
        assert_true(r.samples == cases[i].samples && r.n_evals == cases[i].n_evals && r.converged == cases[i].converged);
        assert_true(isnan(r.epochs) && r.convergence_point == r.samples);
        assert_near(r.time_s, cases[i].samples / 3072 * 2 + 7.0 * (double)cases[i].n_evals, 1e-9);
    }
    arena_free(&a);
}

/* Given samples as epochs, down to a single epoch: there is at least one evaluation, and one that is due at the very
 * end counts. */
static void test_given_epochs(void **state)
{
    static const struct { double epochs, interval; uint64_t n_evals; } cases[] = {
        { 3, 0, 1 }, { 4, 0, 1 }, { 7.9, 0, 1 }, { 8, 0, 2 }, { 41, 0, 10 }, { 41, 1, 41 }, { 41, 3, 13 }, { 1 / 1281167.0, 0, 1 },
    };
    struct arena a = { 0 };
    struct convergence c = predict("resnet", "v2.0", 3520);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_request q = { .convergence = &c, .samples_to_converge = cases[i].epochs * c.samples_per_epoch, .eval_interval = cases[i].interval, .seed = 3, .submissions = 2,
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
    struct drawn_runs d;
    struct convergence c = predict("resnet", "v2.0", 3200);
    c.accuracy_mean = c.target;
    struct draw_request q = { .convergence = &c, .seed = 3, .submissions = 20, .data_dir = data, .epochs = 40, .until_valid = true,
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
    assert_false(runs_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "none of 1000 drawn submissions has a score and passes: too few runs of this recipe converge as the reference does");
    assert_int_equal(d.n_draws, 1000);
    assert_int_equal(d.runs[4].seed, q.seed + 999 * 5 + 4);
    arena_free(&a);
}

/* 90 % intervals reach from the 5th to the 95th percentile: 1000 exp(-1.645 s) to 1000 exp(1.645 s) for a run of
 * 1000 s with noise s, and the same for a score of equal runs with the model's error e. 20,000 submissions of 10
 * runs give a twentieth of a standard deviation. */
static void test_intervals_by_hand(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct draw_request q = { .convergence = &c, .samples_to_converge = 3072 * 1000.0, .seed = 5, .submissions = 20000, .data_dir = data,
        .timing = { .step_time_s = 1, .noise = 0.08 } };
    (void)state;
    struct drawn_runs d = draw(&q, &a);
    assert_near(log(d.run_low_s / 1000) / 0.08, -1.6449, 0.05);
    assert_near(log(d.run_high_s / 1000) / 0.08, 1.6449, 0.05);
    q.timing.noise = 0, q.timing.error = 0.03;
    d = draw(&q, &a);
    assert_near(log(d.low_minutes * 60 / 1000) / 0.03, -1.6449, 0.05);
    assert_near(log(d.high_minutes * 60 / 1000) / 0.03, 1.6449, 0.05);
    assert_near(d.samples_low, 3072 * 1000.0, 0);
    arena_free(&a);
}

/* The shared error widens the interval and leaves the means as they are, to the bit. */
static void test_more_error_wider_interval(void **state)
{
    struct convergence c = predict("bert", "v2.0", 3072);
    double before = 0, minutes = 0, samples = 0, error = c.error;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct arena a = { 0 };
        struct draw_request q = { .convergence = &c, .seed = 9, .submissions = 600, .data_dir = data,
            .timing = { .step_time_s = 1, .error = 0.1 * i } };
        c.error = error * (1 + i);
        struct drawn_runs d = draw(&q, &a);
        assert_true(d.low_minutes < d.expected_minutes && d.expected_minutes < d.high_minutes);
        assert_true(i == 0 || (d.expected_minutes == minutes && d.expected_samples == samples));
        minutes = d.expected_minutes, samples = d.expected_samples;
        assert_true(d.run_high_s - d.run_low_s > before);
        before = d.run_high_s - d.run_low_s;
        arena_free(&a);
    }
}

static void test_refusals(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct drawn_runs d;
    struct convergence c = predict("bert", "v2.0", 3072);
    struct draw_request q = { .convergence = &c, .data_dir = data };
    (void)state;
    assert_false(runs_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "step time of 0 s, want a number above 0");
    q.timing.step_time_s = 1, q.runs = 1001;
    assert_false(runs_draw(&d, &q, &a, &err));
    assert_string_equal(err.msg, "1001 runs, want at most 1000");
    arena_free(&a);
}

static void test_no_score_as_text(void **state)
{
    struct drawn_run runs[] = { toy_run, toy_run, toy_run };
    struct drawn_runs drawn = { .runs = runs, .n = 3, .may_fail = 1, .until_valid = true, .n_draws = 7, .score_minutes = NAN, .expected_minutes = 12.5,
                                  .low_minutes = 11, .high_minutes = 14, .run_low_s = NAN, .run_high_s = 900, .samples_low = 1e6, .samples_high = 2e6,
                                  .expected_samples = 1.5e6, .pass_probability = 0.25, .valid_probability = 0.5 };
    char *text;
    (void)state;
    runs[1].converged = runs[2].converged = false;
    runs[2].epochs = NAN;
    DOCUMENTED(text, drawn_runs_document(d, &drawn));
    assert_string_equal(text,
        "seed  status   samples  epochs  evals  minutes\n"
        "  42  success   835584       3      3   5.6217\n"
        "  42  aborted   835584       3      3   5.6217\n"
        "  42  aborted   835584       -      3   5.6217\n"
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
    drawn.n_draws = 1;
    DOCUMENTED(text, drawn_runs_document(d, &drawn));
    assert_non_null(strstr(text, "\n1 submission was drawn until one was valid\n"));
    free(text);
}

/* Without errors a run's time is its steps of one second. What a plan varies by moves only runs that follow it. */
static void test_times_are_those_of_samples(void **state)
{
    struct arena a = { 0 };
    struct convergence c = predict("bert", "v2.0", 3072);
    struct draw_request q = { .convergence = &c, .seed = 9, .submissions = 20, .eval_interval = 3072, .data_dir = data, .timing = { .step_time_s = 1 } };
    (void)state;
    c.has_plan = true, c.plan_dof = 1;
    struct drawn_runs d = draw(&q, &a);
    assert_near(d.samples_low, 3072 * d.run_low_s, 1e-6);
    assert_near(d.samples_high, 3072 * d.run_high_s, 1e-6);
    c.plan_dof = 40;
    assert_near(draw(&q, &a).samples_high, d.samples_high, 0);
    assert_near(timing_samples_per_step(&(struct run_timing){ .samples_per_step = 1 }, 7), 1, 0);
    arena_free(&a);
}

/* Five runs less the two fastest and the two slowest are one. */
static void test_runs_that_are_left(void **state)
{
    struct arena a = { 0 };
    struct drawn_run runs[5] = { { .converged = false }, { .converged = true }, { .converged = true }, { .converged = false }, { .converged = false } };
    struct drawn_runs d = { .runs = runs, .n = 5, .may_fail = 2 };
    (void)state;
    assert_false(drawn_runs_are_few(&d));
    assert_string_equal(drawn_runs_why_no_score(&d, &a), "3 of 5 runs did not converge, at most 2 may");
    d.n = 4;
    assert_true(drawn_runs_are_few(&d));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_samples_by_hand), cmocka_unit_test(test_scaled_scores), cmocka_unit_test(test_scaled_runs),
        cmocka_unit_test(test_fixed_schedule_by_hand), cmocka_unit_test(test_pass_probability), cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_samples_follow_the_schedule), cmocka_unit_test(test_which_runs_are_planned), cmocka_unit_test(test_runs_without_noise),
        cmocka_unit_test(test_given_epochs), cmocka_unit_test(test_draw_until_valid), cmocka_unit_test(test_intervals_by_hand),
        cmocka_unit_test(test_more_error_wider_interval), cmocka_unit_test(test_refusals), cmocka_unit_test(test_no_score_as_text),
        cmocka_unit_test(test_times_are_those_of_samples), cmocka_unit_test(test_runs_that_are_left),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
