/*
 * t_system_fit.c - the fit of the system's constants finds again what rows were made with, and leaves alone what they cannot tell.
 */
#include "tests/check.h"
#include "results/calibration/system_fit.h"

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };

/* A call shows in every one of these; collectives one a tensor in BERT alone; none streams its state. */
static const char *const recipes[] = {
    "vendor-bow-pod16-resnet50-pytorch", "vendor-bow-pod64-resnet50-pytorch-alcf-16", "mlperf-v1.1-closed-ipu-pod64-bert-large",
    "mlperf-v1.0-closed-ipu-pod64-bert-large", "mlperf-v2.0-closed-bow-pod16-bert-large", "vendor-ipu-pod64-resnet50-pytorch",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

/* What a machine with these constants would publish; every loop of BERT takes `slower` times as long. */
static void publish(struct figure *out, const struct fitted_system *fitted, double slower, struct plan_cache *cache, struct arena *a)
{
    for (size_t i = 0; i < N_RECIPES; i++) {
        struct simulation sim = {0};
        struct result r;
        struct err err;
        struct model_paths with = paths;
        with.fitted = fitted;
        assert_true(simulate(&sim, &r, recipes[i], NULL, 0, &with, cache, &err));
        uint64_t loop = sim.timeline.step_cycles;
        for (size_t k = 0; k < sim.timeline.n_spans; k++)
            if (sim.timeline.spans[k].kind >= SPAN_REARRANGE && sim.timeline.spans[k].start_cycle < loop)
                loop = sim.timeline.spans[k].start_cycle;
        bool bert = strstr(recipes[i], "bert") != NULL;
        double share = (double)loop / (double)sim.timeline.step_cycles, factor = bert ? 1 + (slower - 1) * share : 1;
        out[i] = (struct figure){ .id = recipes[i], .recipe = recipes[i], .configuration = arena_printf(a, "configuration %zu", i),
                                  .metric = "throughput_samples_per_s", .value = r.throughput_samples_per_s / factor };
        simulation_free(&sim);
    }
}

/* A call of 70 ms and 0.3 us a tile come back, though every loop of BERT is a tenth slower than the model has it; rows that validate
 * are not looked at; output averages, which no row has, stay at their default, and so does access to streaming memory. */
static void constants_come_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct figure rows[N_RECIPES + 1];
    struct fitted_system made = {0};
    struct system_fit fit;
    struct err err;
    fitted_system_defaults(&made);
    made.call_s = 0.07;
    made.collective_tile_s = 3e-7;
    publish(rows, &made, 1.1, &cache, &a);
    rows[N_RECIPES] = rows[0];
    rows[N_RECIPES].role = FIGURE_VALIDATE;
    rows[N_RECIPES].value *= 3;
    struct figures figures = { rows, N_RECIPES + 1, N_RECIPES + 1 };
    if (!system_fit_run(&fit, &figures, &paths, &a, &err)) {
        print_error("%s\n", err.msg);
        assert_true(false);
    }
    assert_int_equal(fit.n_rows, N_RECIPES);
    assert_int_equal(fit.n_configurations, N_RECIPES);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const char *name = system_constants[k].field.name;
        double want = text_is(name, "call_s") ? 0.07 : text_is(name, "collective_tile_s") ? 3e-7 : system_constants[k].unfitted_value;
        assert_near(fit.values[k].value / want, 1, 1e-3);
        assert_true(fit.fitted[k] == (want != system_constants[k].unfitted_value));
    }
    assert_int_equal(fit.n_groups, 2);
    for (size_t g = 0; g < fit.n_groups; g++)
        assert_near(fit.groups[g].error.value, text_is(fit.groups[g].family, "bert") ? 0.1 : 0, 1e-3);
    assert_true(fit.median_fitted > 0.02 && fit.median_fitted < fit.median_unfitted);     /* the loops' error stays an error */
    plan_cache_free(&cache);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(constants_come_back) };
TAP_MAIN(tests)
