/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_fits.c - models that fit, models that are planned again until they fit, and the remedies for those that do not. */
#include "tests/golden_text.h"
#include "system-model/graph/graph.h"
#include "tests/simulated.h"
#include "results/simulate/remedies.h"
#include <jansson.h>

struct remedied { struct simulator s; struct simulation sim; struct result r; struct remedy list[MAX_REMEDIES]; size_t n; };

/* The remedies for a recipe with these settings. */
static void find_remedies(struct remedied *y, const char *recipe, const char *const *sets, size_t n_sets)
{
    struct err err = { "" };
    *y = (struct remedied){ .n = 0 };
    simulator_open(&y->s, &paths);
    assert_true(simulator_run(&y->s, &y->sim, &y->r, recipe, sets, n_sets, &err));
    assert_true(remedies_find(y->list, &y->n, &y->sim, recipe, sets, n_sets, &y->sim.arena, &err));
}

static void forget_remedies(struct remedied *y)
{
    simulation_free(&y->sim);
    simulator_close(&y->s);
}

/* A listed remedy is what simulating it gives. Those that fit come first, the fastest leading; pairs are tried if no
 * single remedy fits. */
static void remedies_do_what_they_say(void **state)
{
    static const struct { const char *recipe, *override; bool fits, pairs; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=48", true, false },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=64", true, true },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=160", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation again = {0};
        struct result r;
        struct err err = { "" };
        struct remedied y;
        find_remedies(&y, cases[i].recipe, &cases[i].override, 1);
        assert_false(y.r.fits);
        const struct remedy *list = y.list;
        assert_true(list[0].fits == cases[i].fits && (strstr(list[0].what, ", and ") != NULL) == cases[i].pairs);
        for (size_t k = 0; k < y.n; k++) {
            const char *sets[MAX_REMEDY_SETS + 1] = { cases[i].override };
            for (uint32_t m = 0; m < list[k].n_sets; m++)
                sets[m + 1] = list[k].sets[m];
            assert_true(simulator_run(&y.s, &again, &r, cases[i].recipe, sets, list[k].n_sets + 1, &err));
            assert_true(r.fits == list[k].fits && r.throughput_samples_per_s == list[k].throughput_samples_per_s);
            assert_true(r.memory_shortfall_bytes_per_tile == list[k].shortfall_bytes_per_tile);
            assert_true(list[k].fits || !strstr(list[k].what, ", and "));
            assert_true(k == 0 || list[k - 1].fits > list[k].fits || (list[k - 1].fits == list[k].fits && (list[k].fits
                        ? list[k - 1].throughput_samples_per_s >= list[k].throughput_samples_per_s
                        : list[k - 1].shortfall_bytes_per_tile <= list[k].shortfall_bytes_per_tile)));
            simulation_free(&again);
        }
        assert_true(y.n > 2);
        forget_remedies(&y);
    }
}

/* Changes already in force are not tried, nor those that the machine or the mode cannot use: a ResNet-50 on single IPUs
 * stashes nothing and has no pipeline, cards have no streaming memory, this BERT recomputes, streams and shards
 * already, and inference trains nothing. */
static void what_is_tried(void **state)
{
    static const char *const whats[] = { "recompute every layer", "shard the optimizer state over the replicas", "stream the optimizer state",
                                         "stash activations as fp8", "smaller temporaries", "twice the I/O tiles", "half the micro-batch",
                                         "twice the IPUs per replica" };
    enum { N_WHATS = sizeof whats / sizeof *whats };
    static const struct { const char *recipe, *override, *tried; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=48", "yyy-y-y-" },
        { "vendor-ipu-pod16-resnet50-pipelined", "parallel.micro_batch=300", "yyyyy-yy" },
        { "vendor-dss8440-resnet50-tf1", "parallel.micro_batch=100", "yy-yy-yy" },
        { "mlperf-v1.1-closed-ipu-pod16-bert-large", "parallel.micro_batch=100", "---yy-yy" },
        { "vendor-ipu-m2000-resnet50-infer-b16", "parallel.micro_batch=2000", "----yyyy" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tried[N_WHATS + 1] = "--------";
        struct remedied y;
        find_remedies(&y, cases[i].recipe, &cases[i].override, 1);
        for (size_t k = 0; k < y.n; k++)
            for (size_t w = 0; w < N_WHATS; w++)
                tried[w] = text_is(y.list[k].what, whats[w]) ? 'y' : tried[w];
        assert_string_equal(tried, cases[i].tried);
        forget_remedies(&y);
    }
}

/* A remedy that fits prints its rate, one that does not prints the shortfall; both print how to ask for them. */
static void remedies_as_text(void **state)
{
    static const struct remedy list[] = {
        { .what = "half of it", .sets = { "parallel.micro_batch=3", "parallel.rts=yes" }, .n_sets = 2, .fits = true, .throughput_samples_per_s = 1234.5 },
        { .what = "less", .sets = { "parallel.available_memory=0.1" }, .n_sets = 1, .shortfall_bytes_per_tile = 777 },
    };
    (void)state;
    char *text;
    PRINTED(text, remedies_print(f, list, 2));
    assert_string_equal(text, "does not fit; what was tried:\n"
                              "  half of it                                   fits, 1234.5 samples/s: --set parallel.micro_batch=3 --set parallel.rts=yes\n"
                              "  less                                         777 bytes too many on the fullest tile: --set parallel.available_memory=0.1\n");
    free(text);
    json_t *json = remedies_json(list, 2);
    text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "[{\"what\":\"half of it\",\"set\":[\"parallel.micro_batch=3\",\"parallel.rts=yes\"],\"fits\":true,"
                              "\"throughput_samples_per_s\":1234.5,\"shortfall_bytes_per_tile\":0},"
                              "{\"what\":\"less\",\"set\":[\"parallel.available_memory=0.1\"],\"fits\":false,"
                              "\"throughput_samples_per_s\":0.0,\"shortfall_bytes_per_tile\":777}]");
    free(text);
    json_decref(json);
}

/* Twice the I/O tiles are tried if there are any. */
static void twice_the_tiles_that_load(void **state)
{
    static const char *const sets[][2] = { { "parallel.micro_batch=160", "parallel.io_tiles=0" }, { "parallel.micro_batch=160", "parallel.io_tiles=40" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t found = 0;
        struct remedied y;
        find_remedies(&y, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets[i], 2);
        for (size_t k = 0; k < y.n; k++)
            found += y.list[k].n_sets == 1 && text_is(y.list[k].sets[0], "parallel.io_tiles=80");
        assert_int_equal(found, i);
        forget_remedies(&y);
    }
}

/* A micro-batch of 2 can be halved, with twice the accumulation; a micro-batch of 1 cannot. */
static void a_micro_batch_of_one_is_not_halved(void **state)
{
    (void)state;
    for (int micro_batch = 1; micro_batch <= 2; micro_batch++) {
        bool halves = false;
        const char *const sets[] = { micro_batch == 1 ? "parallel.micro_batch=1" : "parallel.micro_batch=2", "parallel.gradient_accumulation=7",
                                     "machine.tile_memory_bytes=200000", "machine.interleaved_bytes=131072" };
        struct remedied y;
        find_remedies(&y, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 4);
        assert_false(y.r.fits);
        for (size_t k = 0; k < y.n; k++)
            if (text_is(y.list[k].what, "half the micro-batch")) {
                halves = true;
                assert_int_equal(y.list[k].n_sets, 2);
                assert_string_equal(y.list[k].sets[0], "parallel.micro_batch=1");
                assert_string_equal(y.list[k].sets[1], "parallel.gradient_accumulation=14");
            }
        assert_true(y.n > 0 && halves == (micro_batch == 2));
        forget_remedies(&y);
    }
}

/* Temporaries of 0.6 of tile memory do not fit together with the activations of 20 images. Layers that need more than
 * what is left beside the live tensors are planned again within that, and the others keep their plans; no single share
 * for all layers that fits is faster. A plan that fits as asked is left alone. */
static void too_large_temporaries_are_planned_again(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    char text[300], want[300];
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    run_with(&sim, &r, recipe, (struct texts){ { "parallel.available_memory=0.6" }, 1 }, &paths, &cache);
    assert_true(r.fits && sim.plan.request.layer_memory);
    const struct plan *p = &sim.plan;
    const double *rooms = plan_layer_rooms(p, sim.compiler, &sim.arena);
    double least = 1;
    unsigned n = 0;
    for (size_t i = 0; i < p->graph->n_layers; i++) {
        assert_true((double)p->stages[0].compiled->layers[i].temp_bytes_per_tile <= rooms[i]);
        n += p->request.layer_memory[i] < 0.6;
        least = fmin(least, p->request.layer_memory[i]);
    }
    assert_true(n > 0 && n < p->graph->n_layers && least > 0.2);
    FILE *f = fmemopen(text, sizeof text, "w");
    plan_print_replanned(f, p, "");
    fclose(f);
    snprintf(want, sizeof want, "planned again, as temporaries left too little room: IPU 0 has %u layer%s within %g%s of tile memory instead of 0.6\n", n,
             n == 1 ? "" : "s", least, n == 1 ? "" : " or more");
    assert_string_equal(text, want);
    simulation_free(&sim);
    plan_cache_free(&cache);
    for (int hundredths = 15; hundredths < 60; hundredths += 4) {
        struct result all;
        snprintf(text, sizeof text, "parallel.available_memory=%g", hundredths / 100.0);
        run_with(&sim, &all, recipe, (struct texts){ { text }, 1 }, &paths, &cache);
        assert_true(sim.plan.request.layer_memory || (all.fits && all.step_time_s >= r.step_time_s));
        assert_true(hundredths > 15 || !sim.plan.request.layer_memory);
        simulation_free(&sim);
        plan_cache_free(&cache);
        cache = (struct plan_cache){0};
    }
}

/* A plan that fits still fits with less work: PopLibs doubles the share until it finds a plan, and that leaves no holes. */
static void fits_have_no_holes(void **state)
{
    static const struct { const char *recipe; int most; } cases[] = { { "vendor-ipu-pod16-resnet50-tf1", 37 }, { "vendor-dss8440-resnet50-tf1", 12 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char set[40];
        bool fitted = false;
        for (int n = cases[i].most; n > cases[i].most / 2; n--) {
            snprintf(set, sizeof set, "parallel.micro_batch=%d", n);
            bool fits = result_of(cases[i].recipe, (struct texts){ { set }, 1 }).fits;
            assert_true(fits || !fitted);
            fitted = fits;
        }
        assert_true(fitted);
    }
}

/* At 34 images the worst layer has no room for its temporaries next to the code of the others, so all get less. 25,644
 * bytes are left, 0.04 of a tile. Nothing is found within 0.04 or 0.08; the plan found takes 86,016, 0.135. Half of
 * that is not below 0.04, a quarter is. */
static void all_layers_get_less_where_single_ones_do_not_help(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "vendor-ipu-pod16-resnet50-tf1", (struct texts){ { "parallel.micro_batch=34" }, 1 }, &paths, &cache);
    assert_true(r.fits);
    for (size_t i = 0; i < sim.plan.graph->n_layers; i++)
        assert_near(sim.plan.request.layer_memory[i], 0.03, 0);
    simulation_free(&sim);
    plan_cache_free(&cache);
}

static void known_misfits_do_not_fit(void **state)
{
    (void)state;
    struct result bert = result_of("mlperf-v1.1-closed-ipu-pod16-bert-large",
                                   (struct texts){ { "parallel.optimizer_state=on-chip", "parallel.rts=no" }, 2 });
    assert_false(bert.fits);        /* fp32 moments: 8 bytes a parameter */
    struct result resnet = result_of("mlperf-v1.1-closed-ipu-pod16-resnet50",
                                     (struct texts){ { "parallel.recompute=none", "parallel.micro_batch=20" }, 2 });
    assert_false(resnet.fits);
    assert_true(resnet.memory_shortfall_bytes_per_tile > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_misfits_do_not_fit), cmocka_unit_test(too_large_temporaries_are_planned_again),
    cmocka_unit_test(fits_have_no_holes), cmocka_unit_test(all_layers_get_less_where_single_ones_do_not_help),
    cmocka_unit_test(remedies_do_what_they_say), cmocka_unit_test(what_is_tried), cmocka_unit_test(remedies_as_text),
    cmocka_unit_test(twice_the_tiles_that_load), cmocka_unit_test(a_micro_batch_of_one_is_not_halved),
};
TAP_MAIN(tests)
