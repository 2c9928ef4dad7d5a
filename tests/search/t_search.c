/*
 * t_search.c - the laws that branches are left by, on thousands of plans; and small searches beside every configuration simulated.
 */
#include "tests/check.h"
#include "results/search/layouts.h"
#include "results/search/search.h"

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-pod16-resnet50-pipelined", "vendor-ipu-pod16-bert-base-ph1-popart" };

/* Bounds of a plan as it stands: of time by its busiest IPU, of memory by each. */
static void assert_bounds(const struct simulation *sim, const struct result *r)
{
    const struct plan *p = &sim->plan;
    struct layer_work w;
    struct arena a = {0};
    uint64_t cycles[MAX_STAGES] = {0}, bottleneck = 0;
    struct layout_rules rules = { p->options.training, p->options.recompute, p->options.schedule, p->options.stash_type == TYPE_FP8 };
    assert_true(layer_work_of(&w, p, &a));
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        w.layers = stage->compiled->layers;     /* IPUs may have shares of memory of their own */
        struct stage_bound b = stage_bound(&w, &rules, s, p->n_stages, stage->first_layer, stage->first_layer + stage->n_layers);
        cycles[stage->ipu] += b.cycles;
        bottleneck = max_u64(bottleneck, cycles[stage->ipu]);
        if (p->options.grad_accum > 1 || p->options.n_replicas > 1)
            assert_true(b.bytes <= p->memory[stage->ipu].total_bytes);
    }
    if (p->options.n_available_memory < 2) {
        assert_true(least_bottleneck(&w, &rules, p->options.ipus_per_replica) <= bottleneck);
        assert_true(!activations_fill_a_tile(&w, p->options.training) || !r->fits);
    }
    assert_true(bottleneck * p->options.grad_accum <= sim->timeline.step_cycles);
    assert_true(r->throughput_samples_per_s <= r->global_batch * sim->machine->chip.clock_hz / ((double)bottleneck * p->options.grad_accum) * (1 + 1e-9));
    arena_free(&a);
}

static void no_plan_is_better_than_its_bounds(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "parallel.recompute=none", "parallel.recompute=stage", "parallel.recompute=layer", "parallel.micro_batch=1", "parallel.micro_batch=3",
        "parallel.schedule=grouped", "parallel.schedule=interleaved", "parallel.schedule=sequential", "parallel.schedule=popart",
        "parallel.stash_type=fp8", "parallel.gradient_accumulation=64", "parallel.replicas=1", "parallel.replicas=2", "parallel.available_memory=0.2",
        "parallel.io_tiles=0", "parallel.optimizer_state=on-chip", "parallel.rts=no", "parallel.ipus_per_replica=2", "parallel.layers_per_ipu=",
        "parallel.layers_per_ipu=2,3,3,4", "parallel.layers_per_ipu=3,7,7,7,0", "parallel.layers_per_ipu=7/6,5/6,6/6,6/6", "recipe.mode=infer",
    };
    struct simulator s;
    uint64_t seed = 3;
    size_t n = 0;
    simulator_open(&s, &paths);
    for (int i = 0; i < 400; i++) {
        const char *chosen[4];
        struct simulation sim;
        struct result r;
        for (size_t k = 0; k < 4; k++)
            chosen[k] = sets[random_below(&seed, sizeof sets / sizeof *sets)];
        if (!simulator_run(&s, &sim, &r, recipes[random_below(&seed, 3)], chosen, 4, NULL))
            continue;
        assert_bounds(&sim, &r);
        simulation_free(&sim);
        n++;
    }
    assert_true(n > 100);
    simulator_close(&s);
}

/* ---- layouts by hand ------------------------------------------------------------------------------------------- */

/* A stem of 4 cycles, blocks of 3, 1, 2, 5, heads of 2; two IPUs. Cuts by busiest IPU: stem 3 1 | 2 5 heads: 9; stem 3 1 2 | 5 heads:
 * 10; stem 3 | 1 2 5 heads: 10; stem | ...: 13. With the heads back on the first: stem 3 1 + 2 | 2 5: 10; ... */
static void layouts_of_five_layers(void **state)
{
    (void)state;
    struct layer layers[] = { { .role = LAYER_FIRST }, { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_BODY, .n_parts = 1 },
                              { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_LAST } };
    static const uint64_t cycles[] = { 4, 3, 1, 2, 5, 2 };
    struct layer_cost costs[6];
    memset(costs, 0, sizeof costs);
    for (int i = 0; i < 6; i++)
        costs[i].forward.part[PART_MATMUL] = cycles[i];
    struct graph g = { .layers = layers, .n_layers = 6 };
    struct layer_work w = { .graph = &g, .layers = costs, .n_layers = 6, .first_body = 1, .n_body = 4, .n_tiles = 1, .tile_bytes = 1000 };
    struct layout_rules rules = { .training = false };
    struct arena a = {0};
    struct layouts list;
    assert_int_equal(least_bottleneck(&w, &rules, 2), 9);       /* 17 cycles on two */
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.items[0].bottleneck, 9);
    assert_string_equal(layout_text(&w, &list.items[0], &a), "2,2");
    assert_int_equal(list.n, 5 + 4);                            /* the last stage has the heads: it may have no block; not so where they are back */
    layouts_list(&list, &w, &rules, 2, 11, 100, &a);
    assert_int_equal(list.n, 3 + 2);
    assert_string_equal(layout_text(&w, &list.items[list.n - 1], &a), "2,2,0");
    costs[4].weight_bytes = 1300;                               /* alone more than a tile holds */
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 0);
    arena_free(&a);
}

/* ---- whole searches ------------------------------------------------------------------------------------------------- */

static void seek(struct search_result *out, struct simulator *s, uint64_t exhaustive, enum objective objective, struct arena *a)
{
    struct err err = { "" };
    struct search_request q = { .recipe = "vendor-ipu-pod16-bert-base-ph1-popart", .objective = objective, .most = 1000000, .exhaustive = exhaustive,
                                .simulator = s, .n_given = 7,
                                .given = { { "parallel.micro_batch", { "2", "4" }, 2 }, { "parallel.available_memory", { "0.4" }, 1 },
                                           { "parallel.io_tiles", { "0" }, 1 }, { "parallel.ipus_per_replica", { "2" }, 1 },
                                           { "parallel.recompute", { "none", "stage" }, 2 }, { "parallel.optimizer_state", { "on-chip" }, 1 },
                                           { "parallel.rts", { "no", "yes" }, 2 } } };
    if (!search(out, &q, a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
}

/* Branch and bound finds what simulating everything finds, with fewer simulations. */
static void bounds_lose_nothing(void **state)
{
    (void)state;
    struct simulator s;
    struct arena a = {0};
    struct search_result all, bounded;
    simulator_open(&s, &paths);
    seek(&all, &s, 1000000, MAXIMISE_THROUGHPUT, &a);
    seek(&bounded, &s, 0, MAXIMISE_THROUGHPUT, &a);
    assert_true(all.any && all.whole && all.exact && bounded.exact && !bounded.whole);
    assert_true(all.best.value == bounded.best.value);
    assert_true(all.best.value >= all.own.value);
    assert_true(bounded.n_simulated < all.n_simulated && bounded.n_bounded > 0);
    for (size_t i = 0; i < all.n_front; i++)
        for (size_t k = 0; k < all.n_front; k++)
            assert_true(i == k || all.front[i].value > all.front[k].value
                        || all.front[i].r.memory_peak_bytes_per_tile < all.front[k].r.memory_peak_bytes_per_tile);
    simulator_close(&s);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_plan_is_better_than_its_bounds), cmocka_unit_test(layouts_of_five_layers), cmocka_unit_test(bounds_lose_nothing),
};
TAP_MAIN(tests)
