/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_run_log.c - what a log's lines say of its run, by hand: intervals, samples, rates of its parts. */
#include "tests/check.h"
#include "results/mlperf/mllog.h"

struct event { double s; const char *key, *value, *metadata; };

/* Seconds from a start at 1000 s since the epoch. */
static struct run_log folded(const struct event *events, size_t n, const char *unit, struct arena *a)
{
    struct run_log r;
    struct run_fold *f = run_fold_start(&r, "log", a);
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_loads(events[i].value ? events[i].value : "null", JSON_DECODE_ANY, NULL);
        json_t *metadata = events[i].metadata ? json_loads(events[i].metadata, 0, NULL) : json_null();
        assert_true(value && metadata);
        run_fold_line(f, &(struct mllog_line){ i + 1, 1e3 * (1000 + events[i].s), events[i].key, "", value, metadata });
        json_decref(value);
        json_decref(metadata);
    }
    run_fold_end(f, unit);
    return r;
}
#define FOLDED(events, unit, a) folded(events, sizeof (events) / sizeof *(events), unit, a)

/* Three epochs of 7000 samples in 100, 80 and 90 s; evaluations of 5 and 7 s after the first two. */
static void epochs_by_hand(void **state)
{
    static const struct event events[] = {
        { -30, "init_start", NULL, NULL }, { 0, "global_batch_size", "64", NULL }, { 0, "train_samples", "7000", NULL },
        { -3, "init_stop", NULL, NULL }, { -2, "init_stop", NULL, NULL }, { 0, "run_start", NULL, NULL }, { 1, "run_start", NULL, NULL },
        { 4, "epoch_start", NULL, "{\"epoch_num\": 1}" }, { 104, "epoch_stop", NULL, "{\"epoch_num\": 1}" },
        { 104, "eval_start", NULL, NULL }, { 109, "eval_accuracy", "0.25", "{\"epoch_num\": 1}" }, { 109, "eval_stop", NULL, NULL },
        { 110, "epoch_start", NULL, "{\"epoch_num\": 2}" }, { 190, "epoch_stop", NULL, "{\"epoch_num\": 2}" },
        { 190, "eval_start", NULL, NULL }, { 197, "eval_accuracy", "0.5", "{\"epoch_num\": 2}" }, { 197, "eval_stop", NULL, NULL },
        { 200, "epoch_start", NULL, "{\"epoch_num\": 3}" }, { 290, "epoch_stop", NULL, "{\"epoch_num\": 3}" },
        { 300, "run_stop", NULL, "{\"status\": \"success\"}" }, { 310, "eval_accuracy", "0.75", "{\"epoch_num\": 3}" },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "epochs", &a);
    assert_null(r.problem);
    assert_true(r.success);
    assert_near(r.time_to_train_s, 299, 1e-9);
    assert_near(r.init_s, 27, 1e-9);
    assert_near(r.startup_s, 3, 1e-9);
    assert_near(r.global_batch, 64, 0);
    assert_near(r.epochs_trained, 3, 0);
    assert_near(r.samples_to_converge, 21000, 0);
    assert_near(r.convergence_point, 2, 0);
    assert_near(r.eval_interval, 1, 0);
    assert_near(r.eval_time_s, 6, 1e-9);
    assert_near(r.last_eval_s, 196, 1e-9);
    assert_false(r.evals_at_end);
    assert_near(r.train_unit_s, 90, 1e-9);
    assert_near(r.throughput_samples_per_s, 7000.0 / 90, 1e-9);
    assert_int_equal(r.n_evals, 2);
    assert_int_equal(r.n_units, 3);
    assert_int_equal(r.first_unit, 1);
    for (size_t i = 0; i < 3; i++)
        assert_near(r.unit_rates[i], 7000.0 / (i == 0 ? 100 : i == 1 ? 80 : 90), 1e-9);
    arena_free(&a);
}

/* Checkpoints are evaluated at the end: the first evaluation follows the last epoch. Lines after run_stop are no
 * evaluations. */
static void evaluations_at_the_end(void **state)
{
    struct event events[] = {
        { 0, "train_samples", "600", NULL }, { 0, "run_start", NULL, NULL },
        { 10, "epoch_start", NULL, NULL }, { 30, "epoch_stop", NULL, NULL }, { 30, "epoch_start", NULL, NULL }, { 55, "epoch_stop", NULL, NULL },
        { 55, "eval_accuracy", "0.5", "{\"epoch_num\": 1}" }, { 67, "eval_accuracy", "0.6", "{\"epoch_num\": 2}" },
        { 70, "run_stop", NULL, "{\"status\": \"success\"}" }, { 80, "eval_accuracy", "0.7", "{\"epoch_num\": 2}" },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "epochs", &a);
    assert_true(r.evals_at_end);
    assert_near(r.last_eval_s, 67, 1e-9);
    events[6].s = 54;
    r = FOLDED(events, "epochs", &a);
    assert_false(r.evals_at_end);
    arena_free(&a);
}

/* Evaluations count steps of 16 samples: blocks of 50, 40 and 25 s, evaluations at 10, 30 and 40 steps. The first
 * block includes warming up, and the first gain is unknown: 20 x 16 samples in 40 s, 10 x 16 in 25 s. */
static void steps_by_hand(void **state)
{
    static const struct event events[] = {
        { 0, "global_batch_size", "16", NULL }, { 0, "train_samples", "640", NULL }, { 0, "run_start", NULL, NULL },
        { 10, "block_start", NULL, NULL }, { 60, "block_stop", NULL, NULL }, { 62, "eval_accuracy", "0.1", "{\"step_num\": 10}" },
        { 63, "block_start", NULL, NULL }, { 103, "block_stop", NULL, NULL }, { 106, "eval_accuracy", "0.2", "{\"step_num\": 30}" },
        { 107, "block_start", NULL, NULL }, { 132, "block_stop", NULL, NULL }, { 136, "eval_accuracy", "0.3", "{\"step_num\": 40}" },
        { 140, "run_stop", NULL, "{\"status\": \"aborted\"}" },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "steps", &a);
    assert_false(r.success);
    assert_near(r.samples_to_converge, 640, 0);
    assert_near(r.convergence_point, 40, 0);
    assert_near(r.startup_s, 10, 1e-9);
    assert_near(r.eval_interval, 15, 1e-9);
    assert_near(r.eval_time_s, 3, 1e-9);                    /* without eval_start, an evaluation starts at the block's end */
    assert_near(r.train_unit_s, 32.5, 1e-9);
    assert_near(r.throughput_samples_per_s, (8 + 6.4) / 2, 1e-9);
    assert_int_equal(r.n_units, 2);
    assert_int_equal(r.first_unit, 2);
    assert_near(r.unit_rates[0], 8, 1e-9);
    assert_near(r.unit_rates[1], 6.4, 1e-9);
    arena_free(&a);
}

/* Without blocks, rates are taken between evaluations, leaving out the first gain and the first time. */
static void samples_between_evaluations(void **state)
{
    static const struct event events[] = {
        { 0, "run_start", NULL, NULL }, { 20, "eval_accuracy", "0.1", "{\"samples_count\": 100}" },
        { 50, "eval_accuracy", "0.2", "{\"samples_count\": 400}" }, { 90, "eval_accuracy", "0.3", "{\"samples_count\": 1000}" },
        { 110, "eval_accuracy", "0.3", "{\"samples_count\": 1200}" }, { 120, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "samples", &a);
    assert_near(r.samples_to_converge, 1200, 0);
    assert_near(r.eval_interval, 300, 0);
    assert_int_equal(r.n_evals, 4);
    assert_int_equal(r.first_unit, 3);
    assert_int_equal(r.n_units, 2);
    assert_near(r.unit_rates[0], 15, 1e-9);
    assert_near(r.unit_rates[1], 10, 1e-9);
    assert_near(r.throughput_samples_per_s, 12.5, 1e-9);
    assert_near(r.train_unit_s, 30, 1e-9);
    arena_free(&a);
}

/* Two blocks give one rate; with one block the evaluations give the rate. */
static void one_rate_of_a_block(void **state)
{
    static const struct event two[] = {
        { 0, "run_start", NULL, NULL }, { 10, "block_start", NULL, NULL }, { 60, "block_stop", NULL, NULL },
        { 62, "eval_accuracy", "0.1", "{\"samples_count\": 100}" }, { 63, "block_start", NULL, NULL }, { 103, "block_stop", NULL, NULL },
        { 106, "eval_accuracy", "0.2", "{\"samples_count\": 340}" }, { 110, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    static const struct event one[] = {
        { 0, "run_start", NULL, NULL }, { 10, "block_start", NULL, NULL }, { 60, "block_stop", NULL, NULL },
        { 62, "eval_accuracy", "0.1", "{\"samples_count\": 100}" }, { 80, "eval_accuracy", "0.1", "{\"samples_count\": 200}" },
        { 106, "eval_accuracy", "0.2", "{\"samples_count\": 330}" }, { 110, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    struct arena a = {0};
    (void)state;
    static const struct event epoch[] = {
        { 0, "train_samples", "900", NULL }, { 0, "run_start", NULL, NULL }, { 10, "epoch_start", NULL, NULL }, { 55, "epoch_stop", NULL, NULL },
        { 60, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    struct run_log r = FOLDED(epoch, "epochs", &a);
    assert_near(r.throughput_samples_per_s, 900 / 45.0, 1e-9);
    assert_near(r.train_unit_s, 45, 1e-9);
    assert_int_equal(r.n_units, 1);
    r = FOLDED(two, "samples", &a);
    assert_near(r.throughput_samples_per_s, 240 / 40.0, 1e-9);
    assert_near(r.train_unit_s, 40, 1e-9);
    assert_near(r.eval_time_s, (2 + 3) / 2.0, 1e-9);
    assert_int_equal(r.n_units, 1);
    assert_int_equal(r.first_unit, 2);
    assert_near(r.unit_rates[0], 6, 1e-9);
    static const struct event unbegun[] = {                     /* the first of two blocks has no start, so only one is measured */
        { 0, "run_start", NULL, NULL }, { 10, "block_stop", NULL, NULL }, { 12, "eval_accuracy", "0.1", "{\"samples_count\": 100}" },
        { 13, "block_start", NULL, NULL }, { 53, "block_stop", NULL, NULL }, { 56, "eval_accuracy", "0.2", "{\"samples_count\": 340}" },
        { 60, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    r = FOLDED(unbegun, "samples", &a);
    assert_near(r.throughput_samples_per_s, 340 / 60.0, 1e-9);
    assert_int_equal(r.n_units, 0);
    r = FOLDED(one, "samples", &a);
    assert_near(r.throughput_samples_per_s, 130 / 26.0, 1e-9);
    assert_near(r.train_unit_s, 26, 1e-9);
    assert_true(isnan(r.eval_time_s));
    assert_int_equal(r.n_units, 1);
    assert_int_equal(r.first_unit, 3);
    assert_near(r.unit_rates[0], 5, 1e-9);
    arena_free(&a);
}

/* Blocks of 4 epochs in 80 s, of 2 in 30 s, and of one (without a count) in 13 s: 15 s is the median of 20, 15 and
 * 13. No epoch is marked, so the last evaluation gives their number; its repetition adds nothing. */
static void blocks_of_epochs(void **state)
{
    static const struct event events[] = {
        { 0, "train_samples", "600", NULL }, { 0, "run_start", NULL, NULL },
        { 10, "block_start", NULL, "{\"epoch_count\": 4}" }, { 90, "block_stop", NULL, NULL }, { 92, "eval_accuracy", "0.1", "{\"epoch_num\": 4}" },
        { 100, "block_start", NULL, "{\"epoch_count\": 2}" }, { 130, "block_stop", NULL, NULL }, { 135, "eval_accuracy", "0.2", "{\"epoch_num\": 6}" },
        { 140, "block_start", NULL, NULL }, { 153, "block_stop", NULL, NULL }, { 160, "eval_accuracy", "0.3", "{\"epoch_num\": 7}" },
        { 161, "eval_accuracy", "0.4", "{\"epoch_num\": 7}" }, { 170, "run_stop", NULL, "{\"status\": \"success\"}" },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "epochs", &a);
    assert_near(r.train_unit_s, 15, 1e-9);
    assert_near(r.throughput_samples_per_s, 40, 1e-9);
    assert_string_equal(r.throughput_method, "train_samples / median(block / epoch_count), a block may include its evaluation");
    assert_near(r.epochs_trained, 7, 0);
    assert_near(r.samples_to_converge, 4200, 0);
    assert_near(r.eval_interval, 1.5, 1e-9);                /* median of 2 and 1 */
    assert_near(r.eval_time_s, (5 + 7) / 2.0, 1e-9);        /* median of 2, 5, 7 and 8 s after a block */
    assert_true(isnan(r.steady_samples_per_s) && r.n_units == 3 && r.first_unit == 1);
    assert_near(r.unit_rates[0], 30, 1e-9);
    assert_near(r.unit_rates[1], 40, 1e-9);
    assert_near(r.unit_rates[2], 600 / 13.0, 1e-9);
    arena_free(&a);
}

/* Neither epochs nor blocks are marked: the third evaluation comes 2 epochs of 600 samples and 40 s after the
 * second. Without it only the rate over the whole run is known. */
static void epochs_that_are_not_marked(void **state)
{
    static const struct event events[] = {
        { 0, "train_samples", "600", NULL }, { 0, "run_start", NULL, NULL }, { 20, "eval_accuracy", "0.1", "{\"epoch_num\": 1}" },
        { 50, "eval_accuracy", "0.2", "{\"epoch_num\": 2}" }, { 90, "eval_accuracy", "0.3", "{\"epoch_num\": 4}" }, { 96, "run_stop", NULL, NULL },
    }, fewer[] = {
        { 0, "train_samples", "600", NULL }, { 0, "run_start", NULL, NULL }, { 20, "eval_accuracy", "0.1", "{\"epoch_num\": 1}" },
        { 50, "eval_accuracy", "0.2", "{\"epoch_num\": 2}" }, { 96, "run_stop", NULL, NULL },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "epochs", &a);
    assert_string_equal(r.throughput_method, "median of samples gained / time between evaluations, evaluation included");
    assert_near(r.throughput_samples_per_s, 600 * 2 / 40.0, 1e-9);
    assert_near(r.train_unit_s, 40, 1e-9);
    assert_true(r.n_units == 1 && r.first_unit == 3 && r.samples_to_converge == 2400);
    assert_near(r.unit_rates[0], 30, 1e-9);
    r = FOLDED(fewer, "epochs", &a);
    assert_string_equal(r.throughput_method, "samples to converge / time to train");
    assert_near(r.throughput_samples_per_s, 1200 / 96.0, 1e-9);
    assert_true(isnan(r.train_unit_s) && r.n_units == 0);
    arena_free(&a);
}

/* Older logs of benchmarks that count samples or steps have epoch_num 1 at the only evaluation, and train_samples at
 * the end. */
static void old_logs_have_their_samples_at_the_end(void **state)
{
    static const struct event events[] = {
        { 0, "global_batch_size", "16", NULL }, { 0, "run_start", NULL, NULL }, { 35, "eval_accuracy", "0.1", "{\"epoch_num\": 1}" },
        { 38, "train_samples", "5000", NULL }, { 40, "run_stop", NULL, NULL },
    };
    struct arena a = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct run_log r = FOLDED(events, i ? "steps" : "samples", &a);
        assert_near(r.samples_to_converge, 5000, 0);
        assert_near(r.throughput_samples_per_s, 125, 1e-9);
        assert_string_equal(r.throughput_method, "samples to converge / time to train");
        assert_true(isnan(r.train_unit_s) && isnan(r.eval_time_s) && isnan(r.eval_interval) && isnan(r.epochs_trained) && r.n_units == 0);
    }
    arena_free(&a);
}

static void problems_are_named(void **state)
{
    static const struct event whole[] = { { 0, "run_start", NULL, NULL }, { 5, "run_stop", NULL, NULL } };
    static const struct event turned[] = { { 5, "run_start", NULL, NULL }, { 5, "run_stop", NULL, NULL } };
    struct arena a = {0};
    (void)state;
    assert_null(FOLDED(whole, "epochs", &a).problem);
    assert_string_equal(FOLDED(turned, "epochs", &a).problem, "run_stop is not after run_start");
    assert_string_equal(folded(whole, 1, "epochs", &a).problem, "no run_stop");
    assert_string_equal(folded(whole + 1, 1, "epochs", &a).problem, "no run_start");
    for (int more = 0; more < 2; more++) {                  /* ten years, and one second less */
        const struct event years[] = { { 0, "run_start", NULL, NULL }, { 10 * 366 * 86400.0 - 1 + more, "run_stop", NULL, NULL } };
        const char *problem = FOLDED(years, "epochs", &a).problem;
        assert_true(more ? text_is(problem, "its time is longer than a run can be") : !problem);
    }
    arena_free(&a);
}

/* Ten epochs of 20 to 29 s in any order: the tenth percentile is nine tenths of the way from the first to the
 * second. Nine epochs are too few. */
static void steady_state_is_of_the_fastest_epochs(void **state)
{
    static const int last_digits[] = { 7, 1, 9, 4, 0, 8, 3, 5, 2, 6 };
    struct event events[22] = { { 0, "train_samples", "900", NULL }, { 0, "run_start", NULL, NULL } };
    struct arena a = {0};
    double now = 10;
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        events[2 + 2 * i] = (struct event){ now, "epoch_start", NULL, NULL };
        now += 20 + last_digits[i];
        events[3 + 2 * i] = (struct event){ now, "epoch_stop", NULL, NULL };
    }
    struct run_log r = FOLDED(events, "epochs", &a);
    assert_int_equal(r.n_units, 10);
    assert_near(r.steady_samples_per_s, 900 / 20.9, 1e-9);
    assert_near(r.throughput_samples_per_s, 900 / 24.5, 1e-9);
    events[21] = (struct event){ now, "eval_start", NULL, NULL };
    r = FOLDED(events, "epochs", &a);
    assert_int_equal(r.n_units, 9);
    assert_true(isnan(r.steady_samples_per_s));
    arena_free(&a);
}

/* No time passes before the third evaluation, and the clock goes back before the fourth: neither gives a rate, nor
 * does a block of no length. */
static void no_rate_without_time(void **state)
{
    static const struct event events[] = {
        { 0, "run_start", NULL, NULL }, { 20, "eval_accuracy", "0.1", "{\"samples_count\": 100}" }, { 50, "eval_accuracy", "0.2", "{\"samples_count\": 400}" },
        { 50, "eval_accuracy", "0.3", "{\"samples_count\": 1000}" }, { 45, "eval_accuracy", "0.3", "{\"samples_count\": 1200}" },
        { 55, "eval_accuracy", "0.3", "{\"samples_count\": 1250}" }, { 120, "run_stop", NULL, "{\"status\": \"success\"}" },
    }, blocks[] = {
        { 0, "run_start", NULL, NULL }, { 1, "block_start", NULL, NULL }, { 11, "block_stop", NULL, NULL }, { 12, "eval_accuracy", "0.1", "{\"samples_count\": 100}" },
        { 13, "block_start", NULL, NULL }, { 13, "block_stop", NULL, NULL }, { 14, "eval_accuracy", "0.2", "{\"samples_count\": 400}" },
        { 20, "block_start", NULL, NULL }, { 18, "block_stop", NULL, NULL }, { 21, "eval_accuracy", "0.2", "{\"samples_count\": 500}" },
        { 22, "block_start", NULL, NULL }, { 26, "block_stop", NULL, NULL }, { 27, "eval_accuracy", "0.2", "{\"samples_count\": 700}" }, { 30, "run_stop", NULL, NULL },
    };
    struct arena a = {0};
    (void)state;
    struct run_log r = FOLDED(events, "samples", &a);
    assert_int_equal(r.n_units, 1);
    assert_near(r.unit_rates[0], 5, 1e-12);
    assert_near(r.throughput_samples_per_s, 5, 1e-12);
    r = FOLDED(blocks, "samples", &a);
    assert_int_equal(r.n_units, 1);
    assert_near(r.unit_rates[0], 50, 1e-12);
    assert_near(r.throughput_samples_per_s, 50, 1e-12);
    static const struct event warm[] = {                        /* the first block gives no rate, however often it is evaluated */
        { 0, "run_start", NULL, NULL }, { 1, "block_start", NULL, NULL }, { 11, "block_stop", NULL, NULL }, { 12, "eval_accuracy", "0.1", "{\"samples_count\": 100}" },
        { 13, "eval_accuracy", "0.1", "{\"samples_count\": 200}" }, { 14, "block_start", NULL, NULL }, { 34, "block_stop", NULL, NULL },
        { 35, "eval_accuracy", "0.2", "{\"samples_count\": 600}" }, { 40, "run_stop", NULL, NULL },
    };
    r = FOLDED(warm, "samples", &a);
    assert_int_equal(r.n_units, 1);
    assert_near(r.unit_rates[0], 20, 1e-12);
    assert_near(r.throughput_samples_per_s, 20, 1e-12);
    arena_free(&a);
}

/* Only the first 65,536 epochs count, half of 1 s and half of 3 s; with one more the median would be 3 s. */
static void epochs_beyond_the_limit_are_ignored(void **state)
{
    enum { MOST = 65536 };
    struct arena a = {0};
    struct run_log r;
    double now = 0;
    (void)state;
    struct run_fold *f = run_fold_start(&r, "log", &a);
    json_t *samples = json_integer(600);
    run_fold_line(f, &(struct mllog_line){ .key = "train_samples", .event_type = "", .value = samples, .metadata = json_null() });
    run_fold_line(f, &(struct mllog_line){ .key = "run_start", .event_type = "", .value = json_null(), .metadata = json_null() });
    for (int i = 0; i <= MOST; i++)
        for (int stop = 0; stop < 2; stop++) {
            now += !stop ? 0 : i < MOST / 2 ? 1 : 3;
            run_fold_line(f, &(struct mllog_line){ .time_ms = 1e3 * now, .key = stop ? "epoch_stop" : "epoch_start", .event_type = "", .value = json_null(),
                                                   .metadata = json_null() });
        }
    run_fold_line(f, &(struct mllog_line){ .time_ms = 1e3 * now, .key = "run_stop", .event_type = "", .value = json_null(), .metadata = json_null() });
    run_fold_end(f, "epochs");
    assert_near(r.train_unit_s, 2, 1e-9);
    assert_near(r.throughput_samples_per_s, 300, 1e-9);
    assert_near(r.steady_samples_per_s, 600, 1e-9);
    assert_near(r.epochs_trained, MOST + 1, 0);
    assert_true(r.n_units == MOST_UNITS && r.first_unit == 1);
    assert_near(r.unit_rates[MOST_UNITS - 1], 600, 1e-9);
    assert_near(r.time_to_train_s, MOST / 2 * 4 + 3, 1e-9);
    json_decref(samples);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_rate_without_time), cmocka_unit_test(epochs_beyond_the_limit_are_ignored),
    cmocka_unit_test(steady_state_is_of_the_fastest_epochs), cmocka_unit_test(epochs_by_hand), cmocka_unit_test(evaluations_at_the_end), cmocka_unit_test(steps_by_hand), cmocka_unit_test(samples_between_evaluations),
    cmocka_unit_test(one_rate_of_a_block), cmocka_unit_test(blocks_of_epochs), cmocka_unit_test(epochs_that_are_not_marked), cmocka_unit_test(old_logs_have_their_samples_at_the_end),
    cmocka_unit_test(problems_are_named),
};
TAP_MAIN(tests)
