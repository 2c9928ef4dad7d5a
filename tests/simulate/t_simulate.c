/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_simulate.c - laws of whole simulations: what folds, what sums, what never makes a run slower, what faults cost.
 */
#include "tests/simulated.h"
#include "system-model/graph/graph.h"
#include "tests/rounding.h"

static const struct model_paths unfolded_paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence",
                                                  .unfolded = true };

/* ---- folded and unfolded ------------------------------------------------------------------------ */

/* Every number of the result, and every chip's cycles. */
static void assert_same(const char *recipe, struct texts sets, struct plan_cache *cache)
{
    struct simulation a, b;
    struct result x, y;
    run_with(&a, &x, recipe, sets, &paths, cache);
    run_with(&b, &y, recipe, sets, &unfolded_paths, cache);
    if (memcmp(x.breakdown_s, y.breakdown_s, sizeof x.breakdown_s) || x.step_time_s != y.step_time_s)
        print_error("%s %s %s: %.17g folded, %.17g unfolded\n", recipe, sets.items[0], sets.items[1], x.step_time_s, y.step_time_s);
    assert_memory_equal(x.breakdown_s, y.breakdown_s, sizeof x.breakdown_s);
    assert_true(x.step_time_s == y.step_time_s && x.time_to_train_s == y.time_to_train_s && x.latency_s == y.latency_s);
    assert_true(x.fault_cost_s == y.fault_cost_s && x.mfu == y.mfu && x.memory_peak_bytes_per_tile == y.memory_peak_bytes_per_tile);
    assert_int_equal(b.timeline.n_rows, x.ipus);
    for (uint32_t i = 0; i < b.timeline.n_rows && a.timeline.n_rows == a.plan.request.ipus_per_replica; i++)
        assert_memory_equal(&b.timeline.rows[i].spent, &a.timeline.rows[i % a.timeline.n_rows].spent, sizeof b.timeline.rows[i].spent);
    simulation_free(&a);
    simulation_free(&b);
}

static const struct { const char *recipe; uint32_t width; } foldable[] = {
    { "mlperf-v1.1-closed-ipu-pod16-resnet50", 1 },     /* norms over neighbours */
    { "vendor-ipu-pod16-resnet50-pipelined", 4 },
    { "mlperf-v1.1-closed-ipu-pod16-bert-large", 4 },   /* rts over all */
    { "mlperf-v1.1-closed-ipu-pod64-bert-large", 8 },
};

static void each_system(uint64_t least, uint64_t most, size_t n_recipes)
{
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct err err;
    char **names;
    size_t n, n_tested = 0;
    assert_true(machine_names(&names, &n, paths.specs_dir, &a, &err));
    for (size_t i = 0; i < n; i++) {
        struct machine m;
        assert_true(machine_load(&m, names[i], paths.specs_dir, &a, &err));
        for (size_t k = 0; k < n_recipes && m.n_ipus >= least && m.n_ipus <= most; k++) {
            if (m.n_ipus < foldable[k].width)
                continue;
            const char *system = arena_printf(&a, "recipe.system=%s", names[i]);
            const char *replicas = arena_printf(&a, "parallel.replicas=%u", (uint32_t)m.n_ipus / foldable[k].width);
            assert_same(foldable[k].recipe, (struct texts){ { system, replicas, "parallel.optimizer_state=on-chip" }, 3 }, &cache);
            n_tested++;
        }
    }
    assert_true(n_tested >= n_recipes);
    plan_cache_free(&cache);
    arena_free(&a);
}

static void folded_equals_unfolded_on_every_system(void **state)
{
    (void)state;
    each_system(1, 256, sizeof foldable / sizeof *foldable);
}

static void folded_equals_unfolded_beyond(void **state)
{
    (void)state;
    each_system(1024, 1024, sizeof foldable / sizeof *foldable);
}

/* Replicas of three do not fill a rack evenly; twelve replicas leave IPUs idle; a slow chip; a slow link far from
 * replica 0. */
static void folded_equals_unfolded_where_it_is_uneven(void **state)
{
    (void)state;
    struct plan_cache cache = {0};
    const char *recipe = "vendor-ipu-pod16-resnet50-pipelined", *system = "recipe.system=ipu-pod128";
    assert_same(recipe, (struct texts){ { system, "parallel.replicas=42", "parallel.ipus_per_replica=3", "parallel.layers_per_ipu=4,6,6",
                                  "parallel.gradient_accumulation=252" }, 5 }, &cache);
    assert_same(recipe, (struct texts){ { system, "parallel.replicas=12" }, 2 }, &cache);
    assert_same(recipe, (struct texts){ { system, "parallel.replicas=32", "faults.chip1=77 1.3" }, 3 }, &cache);
    assert_same(recipe, (struct texts){ { system, "parallel.replicas=32", "faults.link1=68-70 0.5" }, 3 }, &cache);
    assert_same("mlperf-v1.1-closed-ipu-pod16-resnet50",
                (struct texts){ { system, "parallel.replicas=128", "faults.link1=100-101 0.25" }, 3 }, &cache);
    assert_same("mlperf-v1.1-closed-ipu-pod16-resnet50",
                (struct texts){ { system, "parallel.replicas=128", "faults.chip1=100 9" }, 3 }, &cache);
    assert_same("mlperf-v2.0-closed-bow-pod256-bert-large", (struct texts){ .n = 0 }, &cache);      /* shards in each of four pods */
    plan_cache_free(&cache);
}

/* ---- what faults cost -------------------------------------------------------------------------------- */

static void faults_cost_the_difference(void **state)
{
    (void)state;
    static const char *const faults[] = { "faults.chip1=13 1.37", "faults.link1=8-10 0.5", "faults.flow1=4-6 9e9" };
    const char *recipe = "vendor-ipu-pod16-resnet50-pipelined";
    struct result healthy = result_of(recipe, (struct texts){ .n = 0 });
    assert_true(healthy.fault_cost_s == 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct result r = result_of(recipe, (struct texts){ { faults[i] }, 1 });
        assert_true(r.fault_cost_s > 0);
        assert_true(r.step_time_s - healthy.step_time_s == r.fault_cost_s);
    }
}

/* Chip 13 is the second of four in its replica and takes the longest, by far, when it takes 5 times as long: its work of
 * a micro-batch, five-fold, sets every cycle in which it works; the cost stays below four times all its work. */
static void a_slow_chip_costs_no_more_than_its_own_work(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "vendor-ipu-pod16-resnet50-pipelined", (struct texts){ { "faults.chip1=13 5" }, 1 }, &paths, &cache);
    const struct stage_plan *s = &sim.plan.stages[1];
    double work_s = (double)(cycles_total(&s->forward) + cycles_total(&s->backward)) * sim.plan.request.grad_accum / sim.machine->chip.clock_hz;
    assert_true(r.fault_cost_s < 1.1 * 4 * work_s);
    assert_true(r.fault_cost_s > 3 * work_s);
    plan_cache_free(&cache);
    simulation_free(&sim);
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

struct recipes { char **ids; size_t n; struct arena arena; };

static void load_recipes(struct recipes *out)
{
    struct err err;
    *out = (struct recipes){0};
    assert_true(list_folder(&out->ids, &out->n, paths.recipes_dir, ".ini", &out->arena, &err));
    assert_true(out->n > 50);
}

static void every_recipe_adds_up(void **state)
{
    (void)state;
    struct recipes all;
    struct plan_cache cache = {0};
    load_recipes(&all);
    for (size_t i = 0; i < all.n; i++) {
        struct simulation sim;
        struct result r;
        struct err err;
        double sum = 0;
        run_with(&sim, &r, all.ids[i], (struct texts){ .n = 0 }, &paths, &cache);
        for (int k = 0; k < N_PARTS; k++)
            sum += r.breakdown_s[k];
        assert_near(sum / r.step_time_s, 1, 1e-12);
        if (sim.recipe.rate == RATE_LOGGED)
            assert_true(r.throughput_samples_per_s == r.logged_samples_per_s && r.logged_samples_per_s * r.step_time_s < r.global_batch);
        else
            assert_near(r.throughput_samples_per_s * r.step_time_s / r.global_batch, 1, 1e-12);
        assert_true((r.mfu > 0) == (sim.plan.model_mac > 0) && r.mfu <= r.hfu && r.hfu < 1);
        if (!timeline_check(&sim.timeline, &err)) {
            print_error("%s: %s\n", all.ids[i], err.msg);
            assert_true(false);
        }
        simulation_free(&sim);
    }
    plan_cache_free(&cache);
    arena_free(&all.arena);
}

/* A step 2^20 times as long, with as many times the micro-batches, on 65536 times the chips: shares and ratios stay the
 * same, though the chips' cycles together exceed 64 bits. */
static void sums_may_pass_64_bits(void **state)
{
    (void)state;
    struct simulation sim;
    struct result small, large;
    struct plan_cache cache = {0};
    run_with(&sim, &small, "vendor-ipu-pod16-resnet50-pipelined", (struct texts){ .n = 0 }, &paths, &cache);
    struct timeline t = sim.timeline;
    struct timeline_row *rows = ARENA_ARRAY(&sim.arena, struct timeline_row, t.n_rows);
    for (uint32_t i = 0; i < t.n_rows; i++) {
        rows[i] = (struct timeline_row){ .n_alike = t.rows[i].n_alike << 16 };
        cycles_add(&rows[i].spent, &t.rows[i].spent, 1 << 20);
    }
    t.rows = rows;
    t.step_cycles <<= 20;
    sim.plan.request.grad_accum <<= 20;
    result_of_step(&large, &sim.recipe, &t);
    assert_true((double)t.step_cycles * (double)((uint64_t)rows[0].n_alike * t.n_rows) > 0x1p64);
    for (int k = 0; k < N_PARTS; k++)
        assert_true(large.breakdown_s[k] == small.breakdown_s[k] * 0x1p20);
    assert_true(large.mfu == small.mfu && large.hfu == small.hfu);
    plan_cache_free(&cache);
    simulation_free(&sim);
}

static void expect_refusal(const char *recipe, const char *set, const char *message)
{
    struct plan_cache cache = {0};
    struct simulation sim = {0};
    struct result r;
    struct err err;
    assert_false(simulate(&sim, &r, recipe, &set, 1, &paths, &cache, &err));
    assert_string_equal(err.msg, message);
    simulation_free(&sim);
    plan_cache_free(&cache);
}

static void fp8_is_refused_where_nothing_multiplies_it(void **state)
{
    (void)state;
    expect_refusal("vendor-ipu-m2000-resnet50-infer-b4", "precision.compute=fp8",
                   "workloads/recipes/vendor-ipu-m2000-resnet50-infer-b4.ini: precision.compute: fp8, but gc200 multiplies no 8-bit "
                   "floats (mac_fp8_per_cycle is 0 on its sheet); want fp16, or a chip that does, such as c600");
    expect_refusal("mlperf-v1.1-closed-ipu-pod16-resnet50", "precision.compute=fp8",
                   "workloads/recipes/mlperf-v1.1-closed-ipu-pod16-resnet50.ini: precision.compute: fp8 is for inference, as no source says "
                   "how a program trains in it; want fp16");
}

/* A chip that multiplies fp8 at twice the rate: utilisation is of that rate. */
static void utilisation_is_of_the_precision_in_use(void **state)
{
    (void)state;
    struct result r = result_of("vendor-c600-resnet50-b16-poprt", (struct texts){ { "precision.compute=fp8" }, 1 });
    double mac_per_image = 4089184256;  /* graph_forward_mac of t_workloads.c */
    assert_near(r.mfu / (mac_per_image * r.throughput_samples_per_s / (128 * 1472 * 1.5e9)), 1, 1e-9);
}

/* ---- what never makes a run slower ------------------------------------------------------------------------ */

struct change { const char *name; void (*make)(struct machine *m); };

static void faster_clock(struct machine *m) { m->chip.clock_hz *= 1.27; }
static void faster_links(struct machine *m) { m->chip.link_bytes_per_s *= 1.7; m->gateway_bytes_per_s *= 1.7; }
static void faster_exchange(struct machine *m) { m->chip.exchange_bytes_per_cycle *= 2; }
static void faster_host(struct machine *m) { m->chip.host_link_bytes_per_s *= 3; m->host_network_bytes_per_s *= 3; }
static void faster_memory(struct machine *m) { m->streaming_bytes_per_s *= 1.9; }

static const struct change changes[] = {
    { "faster clock", faster_clock }, { "faster links", faster_links }, { "faster exchange", faster_exchange },
    { "faster host", faster_host }, { "faster streaming memory", faster_memory },
};

static double step_s(const struct simulation *sim, const struct machine *m)
{
    struct arena a = {0};
    struct topology t;
    struct compiler c;
    struct plan p;
    struct timeline line;
    struct plan_cache cache = {0};
    struct err err;
    assert_true(topology_build(&t, m, NULL, &a, &err));
    compiler_start(&c, sim->graph, &t, &cache, &a);
    assert_true(plan_build(&p, &c, &sim->plan.request, &a, &err));
    assert_true(timeline_run(&line, &p, &a, &err));
    double step = (double)line.step_cycles / m->chip.clock_hz;
    plan_cache_free(&cache);
    arena_free(&a);
    return step;
}

static void a_better_machine_is_never_slower(void **state)
{
    (void)state;
    static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "mlperf-v1.1-closed-ipu-pod128-resnet50",
                                           "vendor-ipu-pod16-bert-base-ph1-popart", "vendor-ipu-m2000-resnet50-infer-b16" };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct simulation sim;
        struct result r;
        struct plan_cache cache = {0};
        run_with(&sim, &r, recipes[i], (struct texts){ .n = 0 }, &paths, &cache);
        double before = step_s(&sim, sim.machine);
        assert_true(before == r.step_time_s);
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
            struct machine m = *sim.machine;
            changes[k].make(&m);
            double after = step_s(&sim, &m);
            if (after > before)
                print_error("%s: %s: %g s, %g s before\n", recipes[i], changes[k].name, after, before);
            assert_true(after <= before);
        }
        plan_cache_free(&cache);
        simulation_free(&sim);
    }
}

/* With a clock faster by 1e-6 the step takes longer, because the seconds of each tensor's all-reduce are
 * rounded up. Only rounding breaks the law. */
static void a_faster_clock_may_need_more_rounding(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", (struct texts){ .n = 0 }, &paths, &cache);
    struct machine m = *sim.machine;
    double before = 0, rounded_s = rounding_s(&sim);
    unsigned n_slower = 0;
    for (unsigned i = 0; i < 4; i++) {
        m.chip.clock_hz = 1.330429e9 + 1000.0 * i;
        double step = step_s(&sim, &m);
        assert_true(i == 0 || step <= before + rounded_s);
        n_slower += i > 0 && step > before;
        before = step;
    }
    assert_int_equal(n_slower, 1);
    assert_true(rounded_s / before < 1e-4);
    plan_cache_free(&cache);
    simulation_free(&sim);
}

/* ---- what fits ------------------------------------------------------------------------------------------------ */

static void published_runs_fit_their_machines(void **state)
{
    (void)state;
    struct recipes all;
    size_t n_closed = 0;
    load_recipes(&all);
    for (size_t i = 0; i < all.n; i++) {
        if (strncmp(all.ids[i], "mlperf-", 7) || !strstr(all.ids[i], "-closed-"))
            continue;
        struct result r = result_of(all.ids[i], (struct texts){ .n = 0 });
        if (!r.fits)
            print_error("%s: %llu bytes a tile too many\n", all.ids[i], (unsigned long long)r.memory_shortfall_bytes_per_tile);
        assert_true(r.fits);
        n_closed++;
    }
    assert_true(n_closed >= 20);
    arena_free(&all.arena);
}

/* The C600 multiplies twice as fast in fp8: the same share of the peak is twice the throughput. */
/* All-reduces of one micro-batch's norms, backward, with one checkpoint. */
static uint64_t norms_backward(uint64_t *forward, const char *checkpoint_set, const char *kept_set)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", (struct texts){ { checkpoint_set, kept_set }, 2 }, &paths, &cache);
    *forward = sim.plan.stages[0].forward.part[PART_ALL_REDUCE];
    uint64_t backward = sim.plan.stages[0].backward.part[PART_ALL_REDUCE];
    simulation_free(&sim);
    plan_cache_free(&cache);
    return backward;
}

/* A norm's statistics are shared once forward and once backward. Where its layer is computed again without them they are shared once more: with
 * the only checkpoint after the stem that is the stem's one norm of 53; after the last unit it is every norm but the last, which serves the checkpoint alone. */
static void norms_are_shared_again_only_where_layers_are(void **state)
{
    (void)state;
    const char *kept = "framework.keeps_statistics=yes", *lost = "framework.keeps_statistics=no";
    uint64_t forward, stem = norms_backward(&forward, "parallel.recompute_checkpoints=stem", lost);
    assert_true(forward > 0 && stem > forward && (stem - forward) * 40 < forward);
    uint64_t all = norms_backward(&forward, "parallel.recompute_checkpoints=stage4/unit3", lost);
    assert_true(all < 2 * forward && (2 * forward - all) * 25 < forward);
    uint64_t none = norms_backward(&forward, "parallel.recompute_checkpoints=stage4/unit3", kept);
    assert_true(none < stem && none + forward > all);
}

static void utilisation_is_of_the_peak_in_use(void **state)
{
    (void)state;
    struct result halves = result_of("vendor-c600-resnet50-b16-poprt", (struct texts){ .n = 0 });
    struct result bytes = result_of("vendor-c600-resnet50-b16-poprt", (struct texts){ { "precision.compute=fp8" }, 1 });
    assert_near(2 * bytes.mfu / halves.mfu, bytes.throughput_samples_per_s / halves.throughput_samples_per_s, 1e-9);
    assert_true(bytes.throughput_samples_per_s > halves.throughput_samples_per_s);
}

/* The cores of a pod's sheet prepare the samples of a step, unless the recipe has its own: 16 replicas x 57 micro-batches of 18 images, of
 * 8 ms each, on 128, 64 and 200 cores. */
static void a_host_has_the_cores_of_its_sheet(void **state)
{
    static const struct { struct texts sets; double cores; } rows[] = {
        { { { "hosts.sample_s=8e-3" }, 1 }, 128 }, { { { "hosts.sample_s=8e-3", "machine.host_cores=64" }, 2 }, 64 },
        { { { "hosts.sample_s=8e-3", "hosts.cores=200", "machine.host_cores=64" }, 3 }, 200 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double step_s = result_of("vendor-ipu-pod16-resnet50-pytorch-nasari-16", rows[i].sets).step_time_s;
        assert_near(step_s / (16 * 57 * 18 * 8e-3 / rows[i].cores), 1, 1e-6);
    }
}

/* Three texts of a micro-batch of 4, five of which each of two replicas has in a call: a text has its next token after the call. With kept keys the prompt's 5 tokens pass one by one. Packed weights take less memory and more time. */
static void tokens_a_second(void **state)
{
    const char *recipe = "field-ipu-pod16-gpt2-small-sl128-infer-optimum";
    struct texts sets = { { "generation.prompt_tokens=5", "generation.new_tokens=7", "generation.prompts=3", "parallel.micro_batch=4", "parallel.replicas=2", "hosts.requests=1",
                            "generation.cache=on-chip", "generation.weight_bits=4" }, 8 }, wide = sets, none = sets, still = sets;
    wide.n = 7;
    none.n = 6;
    still.n = 0;
    struct result packed = result_of(recipe, sets), kept = result_of(recipe, wide), whole = result_of(recipe, none), scores = result_of(recipe, still);
    (void)state;
    assert_near(kept.throughput_tokens_per_s * kept.token_latency_s, 3 * 5 * 2, 1e-9);
    assert_near(kept.token_latency_s, kept.step_time_s, 0);
    assert_near(kept.first_token_s, 5 * kept.token_latency_s, 1e-12);
    assert_near(whole.first_token_s, whole.token_latency_s, 0);
    assert_near(scores.throughput_tokens_per_s + scores.token_latency_s + scores.first_token_s, 0, 0);
    assert_true(kept.token_latency_s < whole.token_latency_s);
    assert_true(packed.token_latency_s > kept.token_latency_s && packed.memory_peak_bytes_per_tile < kept.memory_peak_bytes_per_tile);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tokens_a_second),
    cmocka_unit_test(a_host_has_the_cores_of_its_sheet),
    cmocka_unit_test(norms_are_shared_again_only_where_layers_are), cmocka_unit_test(utilisation_is_of_the_peak_in_use),
    cmocka_unit_test(folded_equals_unfolded_on_every_system), cmocka_unit_test(folded_equals_unfolded_beyond),
    cmocka_unit_test(folded_equals_unfolded_where_it_is_uneven), cmocka_unit_test(faults_cost_the_difference),
    cmocka_unit_test(a_slow_chip_costs_no_more_than_its_own_work), cmocka_unit_test(every_recipe_adds_up),
    cmocka_unit_test(sums_may_pass_64_bits), cmocka_unit_test(utilisation_is_of_the_precision_in_use),
    cmocka_unit_test(fp8_is_refused_where_nothing_multiplies_it), cmocka_unit_test(a_better_machine_is_never_slower),
    cmocka_unit_test(a_faster_clock_may_need_more_rounding), cmocka_unit_test(published_runs_fit_their_machines),
};
TAP_MAIN(tests)
