/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_system_fit.c - the fit recovers the constants that rows were made with, and does not fit those that the rows cannot
 * determine.
 */
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/calibrate/calibration.h"

/* A call shows in every one of these; BERT on 16 GC200 streams its state, in v1.0 and v1.1. */
static const char *const recipes[] = {
    "vendor-bow-pod16-resnet50-pytorch", "vendor-bow-pod64-resnet50-pytorch-alcf-16", "mlperf-v1.1-closed-ipu-pod16-bert-large",
    "mlperf-v1.0-closed-ipu-pod16-bert-large", "mlperf-v2.0-closed-bow-pod16-bert-large", "vendor-ipu-pod64-resnet50-pytorch",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

static double loop_share(const struct timeline *t)
{
    uint64_t loop = t->step_cycles;
    for (size_t k = 0; k < t->n_spans; k++)
        if (t->spans[k].kind >= SPAN_REARRANGE)
            loop = min_u64(loop, t->spans[k].start_cycle);
    return (double)loop / (double)t->step_cycles;
}

/* The value that a machine with these constants would publish; every loop of BERT takes `slower` times as long. */
static void publish(struct figure *out, const char *const *ids, size_t n, const struct fitted_system *fitted, double slower,
                    struct plan_cache *cache, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        struct simulation sim = {0};
        struct result r;
        struct err err;
        struct model_paths with = paths;
        with.fitted = fitted;
        assert_true(simulate(&sim, &r, ids[i], NULL, 0, &with, cache, &err));
        double factor = strstr(ids[i], "bert") ? 1 + (slower - 1) * loop_share(&sim.timeline) : 1;
        out[i] = (struct figure){ .id = ids[i], .recipe = ids[i], .configuration = arena_printf(a, "configuration %zu", i),
                                  .metric = "throughput_samples_per_s", .value = r.throughput_samples_per_s / factor };
        simulation_free(&sim);
    }
}

/* An evaluation on such a machine. Forward passes are all loop except for their calls, which take no time by
 * default. */
static struct figure publish_evaluation(const char *id, const struct fitted_system *fitted, double slower, struct plan_cache *cache)
{
    struct fitted_system usual = {0};
    double time_s = 0;
    fitted_system_defaults(&usual);
    for (int made = 0; made < 2; made++) {
        struct simulation sim = {0};
        struct result r;
        struct err err;
        struct model_paths with = paths;
        with.fitted = made ? fitted : &usual;
        assert_true(simulate(&sim, &r, id, NULL, 0, &with, cache, &err));
        time_s = made ? time_s + r.evaluation_time_s : (slower - 1) * r.evaluation_time_s * (sim.recipe.eval_program == EVAL_FORWARD ? 1 : loop_share(&sim.timeline));
        simulation_free(&sim);
    }
    return (struct figure){ .id = "evaluation", .recipe = id, .configuration = id, .metric = "evaluation_time_s", .value = time_s };
}

/* Counts simulations one by one; after the last call nothing is in progress. */
struct told { size_t n; bool under_way; };

static void count_simulations(void *user, const char *what, size_t done, size_t of)
{
    struct told *t = user;
    t->under_way = what != NULL;
    assert_true(of == 0 && (what ? text_is(what, "simulations of published runs") && done == ++t->n : done == 0));
}

/* A call of 70 ms and 0.2 ms for an access to streaming memory are recovered, although every loop of BERT is a tenth
 * slower than in the model. Rows that validate are not read; averages of outputs, which no row has, stay at their
 * default. */
static void constants_come_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct plan_cache cache = {0};
    enum { N_ROWS = N_RECIPES + 2 };
    struct figure rows[N_ROWS + 1];
    struct fitted_system made = {0};
    struct system_fit fit;
    struct err err;
    struct told told = { 0 };
    const struct watch watch = { count_simulations, &told };
    fitted_system_defaults(&made);
    made.times.unexplained_call_s = 0.07;
    publish(rows, recipes, N_RECIPES, &made, 1.1, &cache, &a);
    rows[N_RECIPES] = publish_evaluation(recipes[2], &made, 1.1, &cache);
    rows[N_RECIPES + 1] = publish_evaluation(recipes[4], &made, 1.1, &cache);
    rows[N_ROWS] = rows[0];
    rows[N_ROWS].role = FIGURE_VALIDATE;
    rows[N_ROWS].value *= 3;
    struct figures figures = { .items = rows, .n = N_ROWS + 1 };
    if (!system_fit_run(&fit, &figures, &paths, &watch, &a, &err)) {
        print_error("%s\n", err.msg);
        assert_true(false);
    }
    assert_true(told.n == N_ROWS * (1 + N_SYSTEM_CONSTANTS + 1) && !told.under_way);
    assert_int_equal(fit.n_rows, N_ROWS);
    assert_int_equal(fit.n_configurations, N_ROWS);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const char *name = system_constants[k].field.name;
        double want = text_is(name, "unexplained_call_s") ? 0.07 : system_constants[k].unfitted_value;
        assert_near(fit.values[k].value, want, 1e-3 * want);
        assert_true(fit.fitted[k] == (want != system_constants[k].unfitted_value));
    }
    assert_int_equal(fit.n_groups, 3);
    for (size_t g = 0; g < fit.n_groups; g++)
        assert_near(fit.groups[g].error.value, text_is(fit.groups[g].family, "bert") ? 0.1 : 0, 1e-3);
    assert_true(fit.groups[0].n_rows == 3 && fit.groups[1].n_rows == 4 && fit.groups[2].n_rows == 1 && !fit.groups[2].training);
    assert_true(fit.median_fitted > 0.02 && fit.median_fitted < fit.median_unfitted);     /* the error of the loops remains an error */
    plan_cache_free(&cache);
    arena_free(&a);
}

/* Rows within 5 % of the model, and one that took 19 % longer for no modelled reason. Values averaged over processes
 * seem to explain it, at 0.107 +- 0.065 s each: more than root two standard errors from their default of 0.005 s.
 * But they make the predictions of left-out rows worse. */
static void one_row_alone_fits_no_constant(void **state)
{
    static const char *const with_averages[] = {
        "mlperf-v1.0-closed-ipu-pod64-resnet50", "mlperf-v1.0-closed-ipu-pod16-resnet50", "mlperf-v1.1-closed-ipu-pod16-resnet50",
        "mlperf-v1.1-closed-ipu-pod64-resnet50", "mlperf-v2.0-closed-bow-pod16-resnet50", "vendor-bow-pod16-resnet50-pytorch",
        "vendor-bow-pod64-resnet50-pytorch-alcf-16", "mlperf-v2.0-closed-bow-pod16-bert-large",
    };
    enum { N = sizeof with_averages / sizeof *with_averages };
    static const double slower[N] = { 0.19, -0.05, -0.05, 0.05, -0.05 };
    (void)state;
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct figure rows[N];
    struct fitted_system made = {0};
    struct system_fit fit;
    struct err err;
    fitted_system_defaults(&made);
    made.times.unexplained_call_s = 0.07;
    publish(rows, with_averages, N, &made, 1, &cache, &a);
    for (size_t i = 0; i < N; i++)
        rows[i].value /= 1 + slower[i];
    struct figures figures = { .items = rows, .n = N };
    assert_true(system_fit_run(&fit, &figures, &paths, NULL, &a, &err));
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        assert_int_equal(fit.fitted[k], text_is(system_constants[k].field.name, "unexplained_call_s"));
    plan_cache_free(&cache);
    arena_free(&a);
}

/* A row of 3 s: 1 s at the defaults and 0.5 s for each second of a call more than its default, published 2.5 s. */
static void a_fit_as_text(void **state)
{
    struct figure figure = { .id = "row" };
    struct system_row row = { .figure = &figure, .published_s = 2.5, .base_s = 1 };
    struct system_fit fit = { .rows = &row, .n_rows = 1, .n_configurations = 1, .n_groups = 2, .median_unfitted = 0.6, .median_fitted = 0.2,
                              .median_left_out = 0.3, .left_out_spread = 0.125,
                              .groups = { { .family = "bert", .training = true, .n_rows = 2, .error = { .value = 0.34, .standard_error = 0.275 } },
                                          { .family = "rnnt", .n_rows = 1, .error = { .value = -0.125 } } } };
    char *text;
    (void)state;
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        bool call = text_is(system_constants[k].field.name, "unexplained_call_s");
        fit.values[k] = (struct fit_value){ .value = call ? 4 + system_constants[k].unfitted_value : system_constants[k].unfitted_value,
                                            .standard_error = 0.25 };
        fit.fitted[k] = call;
        row.slope[k] = call ? 0.5 : 0;
        fit.median_default[k] = 0.07;
    }
    struct arena a = {0};
    PRINTED(text, (system_fit_print(f, &fit), fputs("--\n", f), system_fit_write(f, &fit)));
    assert_golden(text, "tests/golden/system_fit.txt", &a);
    free(text);
    arena_free(&a);
    PRINTED(text, system_fit_print(f, &fit));
    assert_true(strncmp(text, "system: 1 times of 1 configurations, median error 60.00 % unfitted, 20.00 % fitted, 30.00 % left out (spread 12.50 %)\n"
                              "  unexplained_call_s            4 s      +- 0.25  (bounds 0 to 1, default 0: median error 7.00 %)  a time of a large model", 215) == 0);
    assert_non_null(strstr(text, "\n  output_reduction_s        0.005 s      its default: rows cannot tell it from that, or are predicted better by it  one number"));
    assert_non_null(strstr(text, "\n  loops of bert, training: +34.0 % +- 27.5 fitted together with the constants (in no prediction)\n"
                                 "  loops of rnnt, forward passes alone: -12.5 % fitted together with the constants (one row, so it is met; in no prediction)\n"));
    assert_non_null(strstr(text, "\n  row                                                                           66.67                 0.00"
                                 "                 0.00                 0.00   -16.67\n"));
    free(text);
    PRINTED(text, system_fit_write(f, &fit));
    assert_non_null(strstr(text, "\nunexplained_call_s,4,s,fitted by podbench calibrate to 1 times (1 configurations) of role calibrate in results/published,"
                                 "standard error 0.25; bounds 0 to 1; unfitted 0\n"));
    assert_non_null(strstr(text, "\nstreaming_s_per_byte,0,s/B,"));
    assert_non_null(strstr(text, "\nthroughput_error,0.125,share,"));
    free(text);
}

/* Rows of inference, which no constant moves, 8 %, 5 % and 20 % slower than the model: nothing is fitted, every
 * median is 8 %, and leaving a row out changes nothing. */
static void what_no_constant_moves_is_not_fitted(void **state)
{
    static const char *const inference[] = { "vendor-c600-resnet50-b1-poprt", "vendor-c600-resnet50-b4-poprt", "vendor-c600-resnet50-b16-poprt" };
    static const double factors[] = { 1.08, 1.05, 1.2 };
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct figure rows[3];
    struct fitted_system made = {0};
    struct system_fit fit;
    struct err err;
    (void)state;
    fitted_system_defaults(&made);
    publish(rows, inference, 3, &made, 1, &cache, &a);
    for (size_t i = 0; i < 3; i++)
        rows[i].value /= factors[i];
    struct figures figures = { .items = rows, .n = 3 };
    assert_true(system_fit_run(&fit, &figures, &paths, NULL, &a, &err));
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        assert_false(fit.fitted[k]);
        assert_near(fit.median_default[k], 0.08, 1e-9);
    }
    assert_near(fit.median_unfitted, 0.08, 1e-9);
    assert_near(fit.median_fitted, 0.08, 1e-9);
    assert_near(fit.median_left_out, 0.08, 1e-9);
    assert_near(fit.left_out_spread, 1.4826 * log(1.08), 1e-9);
    plan_cache_free(&cache);
    arena_free(&a);
}

/* Nine groups with room for eight: the ninth, ResNet's training, joins the eighth, in whatever order its rows come.
 * With two rows of GPT-2, the time of streaming is apart from the loop of their group. */
static void more_groups_than_there_is_room_for(void **state)
{
    static const char *const each[] = {
        "vendor-ipu-pod4-gpt2-small-pytorch", "mlperf-v2.0-closed-bow-pod16-bert-large", "vendor-bow-pod16-conformer-pytorch", "prediction-bow-pod64-rnnt",
        "vendor-bow-pod16-efficientnet-b4-tf1", "prediction-bow-pod16-vit-b16", "vendor-c600-resnet50-b1-poprt", "vendor-ipu-m2000-bert-large-infer-b1",
        "vendor-bow-pod16-resnet50-pytorch", "mlperf-v1.1-closed-ipu-pod64-bert-large", "vendor-bow-pod64-resnet50-pytorch-alcf-16",
        "mlperf-v1.0-closed-ipu-pod64-bert-large", "prediction-ipu-pod64-rnnt", "vendor-ipu-pod4-gpt2-small-gbs64-pytorch",
    };
    static const size_t groups[] = { 0, 1, 2, 3, 4, 5, 6, 7, 7, 1, 7, 1, 3, 0 };
    enum { N = sizeof each / sizeof *each };
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct figure rows[N];
    struct system_fit fit;
    struct err err;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct simulation sim = {0};
        struct result r;
        assert_true(simulate(&sim, &r, each[i], NULL, 0, &paths, &cache, &err));
        rows[i] = (struct figure){ .id = each[i], .recipe = each[i], .configuration = each[i], .metric = "throughput_samples_per_s",
                                   .value = r.throughput_samples_per_s };
        simulation_free(&sim);
    }
    struct figures figures = { .items = rows, .n = N };
    if (!system_fit_run(&fit, &figures, &paths, NULL, &a, &err))
        print_error("%s\n", err.msg);
    assert_int_equal(fit.n_groups, MAX_LOOP_GROUPS);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(fit.rows[i].group, groups[i]);
    assert_true(text_is(fit.groups[7].family, "bert") && !fit.groups[7].training);
    plan_cache_free(&cache);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(constants_come_back), cmocka_unit_test(one_row_alone_fits_no_constant), cmocka_unit_test(a_fit_as_text), cmocka_unit_test(more_groups_than_there_is_room_for),
                                           cmocka_unit_test(what_no_constant_moves_is_not_fitted) };
TAP_MAIN(tests)
