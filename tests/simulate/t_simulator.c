/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_simulator.c - what a simulator keeps never shows: after any other simulations a result is what it is from nothing,
 * to the byte.
 */
#include "tests/test_folder.h"
#include "system-model/graph/graph.h"
#include "tests/model_paths.h"
#include "tests/random.h"
#include "results/simulate/simulator.h"

static const char *const recipes[] = {
    "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-pod16-resnet50-pipelined", "vendor-ipu-pod16-bert-base-ph1-popart",
    "vendor-ipu-m2000-bert-base-infer-b1",
};

/* Most can be simulated, many do not fit and some are refused: all three must come out the same. */
static const char *const changes[] = {
    "parallel.replicas=1", "parallel.replicas=2", "parallel.replicas=3", "parallel.replicas=4", "parallel.replicas=99",
    "parallel.gradient_accumulation=8", "parallel.gradient_accumulation=16", "parallel.gradient_accumulation=1",
    "parallel.schedule=popart", "parallel.schedule=grouped", "parallel.schedule=interleaved", "parallel.schedule=none",
    "parallel.recompute=none", "parallel.recompute=stage", "parallel.recompute=layer", "parallel.recompute=checkpoints",
    "parallel.micro_batch=1", "parallel.micro_batch=2", "parallel.micro_batch=3", "parallel.micro_batch=0",
    "parallel.available_memory=0.2", "parallel.available_memory=0.3,0.4", "parallel.available_memory=2", "parallel.available_memory=",
    "parallel.layers_per_ipu=", "parallel.layers_per_ipu=3,7,7,7", "parallel.layers_per_ipu=1,1", "parallel.ipus_per_replica=2",
    "parallel.optimizer_state=streaming", "parallel.optimizer_state=on-chip", "parallel.rts=yes", "parallel.rts=no",
    "parallel.io_tiles=0", "parallel.io_tiles=32", "parallel.io_tiles=1472", "parallel.all_reduce=ring", "parallel.stash_type=fp8",
    "precision.partials=fp32", "precision.compute=fp32", "recipe.mode=infer", "recipe.mode=train", "recipe.system=bow-pod16",
    "recipe.system=ipu-pod4", "recipe.system=nowhere", "recipe.workload=bert-base", "recipe.workload=resnet50", "recipe.workload=toy",
    "recipe.sdk=1.4.0", "recipe.sdk=2.3.0", "recipe.source=elsewhere", "recipe.workload=model.onnx", "recipe.id=other", "data.sequence_length=128", "data.sequences_per_pack=1.5", "data.vocabulary=30522",
    "optimizer.name=sgd", "optimizer.name=lamb", "optimizer.name=none", "optimizer.state_bytes_per_param=12", "optimizer.name=",
    "training.epochs=3", "training.converge=model", "training.samples_to_converge=100000", "training.eval_samples=5000",
    "training.eval_every=20000", "training.eval_placement=end", "training.eval_program=training", "training.reference_round=v2.1",
    "hosts.steps_per_call=10", "hosts.count=2", "hosts.decode_bytes_per_s=1e9", "hosts.nonsense=1", "nonsense",
    "faults.link=0-1 0.5", "faults.link=0-1 0.25", "faults.chip=2 1.5", "faults.flow=0-3 1e9", "faults.chip=77 2", "faults.link=",
    "machine.link_bytes_per_s=4e9", "machine.link_bytes_per_s=8e9", "machine.clock_hz=1.5e9", "machine.n_tiles=1000",
    "machine.streaming_efficiency=0.5", "machine.n_links=nothing", "machine.ipus_per_domain=3", "machine.nonsense=1", "machine.n_tiles",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes, N_CHANGES = sizeof changes / sizeof *changes, MOST_SETS = 5 };

struct configuration { const char *recipe, *sets[MOST_SETS]; size_t n_sets; };

static struct configuration draw(uint64_t *state)
{
    struct configuration c = { .recipe = recipes[random_below(state, N_RECIPES)], .n_sets = random_below(state, MOST_SETS + 1) };
    for (size_t i = 0; i < c.n_sets; i++)
        c.sets[i] = changes[random_below(state, N_CHANGES)];
    return c;
}

/* The row, each IPU's memory by region, and the message of a refusal. */
static char *outcome(bool good, const struct simulation *sim, const struct result *r, const struct err *err)
{
    char *text;
    PRINTED(text, {
        if (good) {
            result_write_csv(f, r);
            for (uint32_t i = 0; i < sim->plan.request.ipus_per_replica; i++)
                for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
                    fprintf(f, "%ju ", (uintmax_t)sim->plan.memory[i].bytes[k]);
            fprintf(f, "%ju %.17g %s %zu\n", (uintmax_t)sim->timeline.step_cycles, sim->evaluation_s, sim->machine->name, sim->graph->n_ops);
        } else {
            fprintf(f, "%s\n", err->msg);
        }
    });
    return text;
}

static char *warm_outcome(struct simulator *s, const struct configuration *c, bool *good)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    *good = simulator_run(s, &sim, &r, c->recipe, c->sets, c->n_sets, &err);
    char *text = outcome(*good, &sim, &r, &err);
    simulation_free(&sim);
    return text;
}

/* cache NULL: the search of splits starts from nothing too. */
static char *cold_outcome(const struct configuration *c, struct plan_cache *cache)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    bool good = simulate(&sim, &r, c->recipe, c->sets, c->n_sets, &paths, cache, &err);
    char *text = outcome(good, &sim, &r, &err);
    if (good)
        simulation_free(&sim);
    return text;
}

static void assert_alike(const struct configuration *c, const char *warm, const char *cold)
{
    if (strcmp(warm, cold) != 0) {
        print_error("%s", c->recipe);
        for (size_t i = 0; i < c->n_sets; i++)
            print_error(" --set '%s'", c->sets[i]);
        print_error("\nwarm: %.600s\ncold: %.600s\n", warm, cold);
    }
    assert_string_equal(warm, cold);
}

/* A second simulator may cache next to nothing, so that it drops and makes entries again all the time. */
static void warm_is_cold(void **state)
{
    (void)state;
    const char *given = getenv("PODBENCH_CHANGES");          /* how many: 600, fewer under sanitizers */
    long times = given ? atol(given) : 600;
    struct simulator s, forgetful;
    struct plan_cache cache = {0};
    uint64_t seed = 11;
    size_t n_simulated = 0;
    simulator_open(&s, &paths);
    simulator_open(&forgetful, &paths);
    forgetful.limit_bytes = 100000;
    for (int i = 0; i < times; i++) {
        struct configuration c = draw(&seed);
        bool good, again;
        char *warm = warm_outcome(&s, &c, &good), *cold = cold_outcome(&c, &cache);
        assert_alike(&c, warm, cold);
        if (i % 10 == 0) {
            char *forgotten = warm_outcome(&forgetful, &c, &again);
            assert_alike(&c, forgotten, cold);
            free(forgotten);
        }
        n_simulated += good;
        free(warm);
        free(cold);
    }
    assert_in_range(n_simulated, times / 10, times * 9 / 10);
    simulator_close(&s);
    simulator_close(&forgetful);
    plan_cache_free(&cache);
}

/* The plan cache is empty too. */
static void warm_is_cold_from_nothing(void **state)
{
    (void)state;
    struct simulator s;
    uint64_t seed = 5;
    simulator_open(&s, &paths);
    for (int i = 0; i < 20; i++) {
        struct configuration c = draw(&seed);
        bool good;
        char *warm = warm_outcome(&s, &c, &good), *cold = cold_outcome(&c, NULL);
        assert_alike(&c, warm, cold);
        free(warm);
        free(cold);
    }
    simulator_close(&s);
}

/* Two simulations of one simulator are alive at once; dropping idle entries leaves both whole. */
static void living_simulations_keep_what_they_stand_on(void **state)
{
    (void)state;
    struct simulator s;
    struct simulation a, b;
    struct result r;
    struct err err = { "" };
    simulator_open(&s, &paths);
    s.limit_bytes = 1;
    assert_true(simulator_run(&s, &a, &r, recipes[0], NULL, 0, &err));
    uint64_t cycles = a.timeline.step_cycles;
    assert_true(simulator_run(&s, &b, &r, recipes[2], NULL, 0, &err));
    simulation_free(&b);
    assert_int_equal(s.compilers.n, 2);
    s.n_simulated = 0;                      /* the next one looks at the limit */
    assert_true(simulator_run(&s, &b, &r, recipes[1], NULL, 0, &err));
    assert_int_equal(s.compilers.n, 2);     /* those of a and b; the third's is gone */
    assert_string_equal(a.machine->name, "ipu-pod16");
    assert_int_equal(a.graph->micro_batch, a.recipe.model.micro_batch);
    struct plan p;
    struct timeline t;
    assert_true(plan_build(&p, a.compiler, &a.plan.request, &a.arena, &err) && timeline_run(&t, &p, &a.arena, &err));
    assert_int_equal(t.step_cycles, cycles);
    simulation_free(&a);
    simulation_free(&b);
    simulator_close(&s);
}

/* A simulation that uses another's splits keeps the other's machine, but only as long as it lives. */
static void nothing_outlives_who_stands_on_it(void **state)
{
    (void)state;
    struct simulator s;
    struct simulation a, b, c;
    struct result r;
    struct err err = { "" };
    const char *slower = "machine.clock_hz=1e9";
    simulator_open(&s, &paths);
    s.limit_bytes = 1;
    assert_true(simulator_run(&s, &a, &r, recipes[0], NULL, 0, &err));
    s.options.splits_of = &a;
    assert_true(simulator_run(&s, &b, &r, recipes[0], &slower, 1, &err));
    s.options.splits_of = NULL;
    simulation_free(&a);
    s.n_simulated = 0;                      /* the next one looks at the limit */
    assert_true(simulator_run(&s, &c, &r, recipes[1], NULL, 0, &err));
    assert_int_equal(s.compilers.n, 2);
    assert_int_equal(s.topologies.n, 3);    /* a's is there too */
    simulation_free(&b);
    simulation_free(&c);
    s.n_simulated = 0;
    assert_true(simulator_run(&s, &c, &r, recipes[2], NULL, 0, &err));
    assert_true(s.compilers.n == 1 && s.topologies.n == 1 && s.graphs.n == 1 && s.sheets.n == 1);
    simulation_free(&c);
    simulator_close(&s);
}

/* Only what a changed key affects is made again. */
static void a_change_makes_only_what_depends_on_it(void **state)
{
    (void)state;
    static const struct { const char *set; size_t sheets, topologies, graphs, compilers; } steps[] = {
        { "parallel.gradient_accumulation=64", 1, 1, 1, 1 },
        { "parallel.recompute=layer", 1, 1, 1, 1 },
        { "optimizer.state_bytes_per_param=12", 1, 1, 1, 1 },
        { "faults.link=0-1 0.5", 1, 2, 1, 2 },
        { "parallel.micro_batch=3", 1, 2, 2, 3 },
        { "machine.link_bytes_per_s=4e9", 2, 3, 2, 4 },
        { "recipe.system=bow-pod16", 3, 4, 2, 5 },
        { "parallel.replicas=2", 3, 4, 2, 5 },
    };
    if (memo_is_off())
        skip();
    struct simulator s;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct simulation sim;
        struct result r;
        struct err err = { "" };
        const char *sets[] = { "training.samples_to_converge=", "training.converge=", "training.epochs=", steps[i].set };
        assert_true(simulator_run(&s, &sim, &r, recipes[0], sets, 4, &err));
        assert_int_equal(s.recipes.n, 1);
        assert_int_equal(s.sheets.n, steps[i].sheets);
        assert_int_equal(s.topologies.n, steps[i].topologies);
        assert_int_equal(s.graphs.n, steps[i].graphs);
        assert_int_equal(s.compilers.n, steps[i].compilers);
        simulation_free(&sim);
    }
    simulator_close(&s);
}

struct told { size_t n_planned, n_single, of_single, n_pairs, of_pairs; };

static void listen(void *user, const char *what, size_t done, size_t of)
{
    struct told *t = user;
    bool planning = strcmp(what, "planning operations") == 0;
    bool single = strcmp(what, "trying remedies") == 0, pairs = strcmp(what, "trying remedies in pairs") == 0;
    assert_true(done >= 1 && done <= of);
    assert_int_equal(planning + single + pairs, 1);
    t->n_planned += planning;
    if (planning)
        return;
    size_t *last = single ? &t->n_single : &t->n_pairs;
    assert_int_equal(done, ++*last);
    *(single ? &t->of_single : &t->of_pairs) = of;
}

/* The listener is told of each search for a plan, of nothing if all plans are cached, then of each remedy and each pair
 * of remedies. */
static void long_work_is_told(void **state)
{
    (void)state;
    struct simulator s;
    struct simulation sim;
    struct result r;
    struct told told = { 0 };
    struct remedy remedies[MAX_REMEDIES];
    struct arena a = {0};
    struct err err = { "" };
    size_t n;
    const char *const sets[] = { "parallel.micro_batch=100" };
    if (memo_is_off())
        skip();
    simulator_open(&s, &paths);
    s.watch = (struct watch){ listen, &told };
    assert_true(simulator_run(&s, &sim, &r, recipes[0], sets, 1, &err));
    assert_true(told.n_planned > 10 && told.n_planned <= s.plans->misses);
    simulation_free(&sim);
    size_t before = told.n_planned;
    assert_true(simulator_run(&s, &sim, &r, recipes[0], sets, 1, &err));
    assert_int_equal(told.n_planned, before);
    assert_int_equal(told.n_single + told.n_pairs, 0);
    assert_true(remedies_find(remedies, &n, &(struct remedy_request){ &sim, recipes[0], sets, 1, false }, &a, &err));
    assert_true(told.n_single > 3 && told.n_single == told.of_single && told.n_planned > before);
    assert_int_equal(told.n_pairs, told.of_single * (told.of_single - 1) / 2);
    assert_int_equal(told.of_pairs, told.n_pairs);
    simulation_free(&sim);
    simulator_close(&s);
    arena_free(&a);
}

/* Two recipes have a sheet of the same name in their own folders, and each uses its own. */
static void sheets_beside_recipes(void **state)
{
    static const struct { const char *folder, *system; double clock_hz; } places[] = { { "gc200", "ipu-pod16", 1.325e9 }, { "bow", "bow-pod16", 1.85e9 } };
    (void)state;
    struct simulator s;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < 4; i++) {
        struct simulation sim;
        struct result r;
        struct err err = { "" };
        struct arena a = { 0 };
        const char *folder = arena_printf(&a, "%s/%s", top, places[i % 2].folder), *recipe = arena_printf(&a, "%s/mine.ini", folder);
        assert_int_equal(system(arena_printf(&a, "mkdir -p %s && cp system-model/specs/%s.csv %s/mine.csv && "
                                                 "sed 's/^system = .*/system = mine.csv/' workloads/recipes/%s.ini > %s",
                                             folder, places[i % 2].system, folder, recipes[1], recipe)), 0);
        assert_true(simulator_run(&s, &sim, &r, recipe, NULL, 0, &err));
        assert_near(sim.machine->chip.clock_hz, places[i % 2].clock_hz, 0);
        simulation_free(&sim);
        arena_free(&a);
    }
    simulator_close(&s);
}

/* The message lists the keys of all sheets, beginning with the system's. */
static void keys_of_sheets_are_offered(void **state)
{
    (void)state;
    struct simulator s;
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    const char *const sets[] = { "machine.nothing=1" };
    simulator_open(&s, &paths);
    assert_false(simulator_run(&s, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 1, &err));
    assert_non_null(strstr(err.msg, "--set machine.nothing=1: no sheet of this machine has such a key; nearest: "));
    assert_false(simulator_run(&s, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", (const char *[]){ "machine.link_speed=1" }, 1, &err));
    assert_non_null(strstr(err.msg, "nearest: link_bytes_per_s, link_byte_j, host_link_bytes_per_s, link_efficiency, n_links; podbench list keys --names"));
    simulator_close(&s);
}

/* Settings that no single key makes shape the graph too. */
static void graphs_are_told_apart_by_file_and_dimensions(void **state)
{
    (void)state;
    struct arena a = {0};
    struct recipe r = { .workload = "model.onnx" }, others[] = { r, r, r, r };
    others[1].model.file = "a/model.onnx";
    others[2].model.file = "b/model.onnx";
    others[3].model.dimensions = "tokens=128";
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            size_t n, m;
            const char *x = recipe_graph_key(&n, &others[i], &a), *y = recipe_graph_key(&m, &others[k], &a);
            assert_int_equal(i == k, n == m && memcmp(x, y, n) == 0);
        }
    arena_free(&a);
}

/* Equal operations are planned once; every plan is that of a compiler that plans each operation separately. */
static void alike_operations_have_equal_plans(void **state)
{
    (void)state;
    static const char *const of[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-pod16-resnet50-pipelined",
                                      "mlperf-v2.0-open-bow-pod64-transformer-transducer", "vendor-ipu-pod16-efficientnet-b4-g16-tf1",
                                      "vendor-ipu-m2000-bert-base-infer-b1", "vendor-ipu-pod4-conformer-pytorch" };
    struct simulator s;
    size_t n_ops = 0, n_first = 0;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct simulation sim;
        struct result r;
        struct compiler each;
        struct plan_cache cache = { 0 };
        struct arena a = { 0 };
        assert_true(simulator_run(&s, &sim, &r, of[i], NULL, 0, NULL));
        for (uint32_t k = 0; k < sim.compiler->n_variants; k++) {
            compiler_start(&each, sim.graph, sim.topology, &cache, &a);
            const struct compiled *once = sim.compiler->variants[k], *own = compile_graph(&each, &once->options);
            for (size_t op = 0; op < sim.graph->n_ops; op++)
                assert_memory_equal(once->op_plans[op], own->op_plans[op], sizeof *own->op_plans[op]);
        }
        for (size_t op = 0; op < sim.graph->n_ops; op++)
            n_first += sim.compiler->alike[op] == op;
        n_ops += sim.graph->n_ops;
        simulation_free(&sim);
        plan_cache_free(&cache);
        arena_free(&a);
    }
    simulator_close(&s);
    assert_true(n_first < n_ops / 3);
}

/* Two replicas of 8 IPUs have the same links in a torus of 64 as on a machine of 16, before and after eight replicas
 * have used all of it. */
static void a_partition_is_as_a_machine_of_its_size(void **state)
{
    (void)state;
    struct simulator s;
    uint64_t cycles[4];
    static const char *const sets[4][2] = {
        { "recipe.system=bow-pod16", "parallel.replicas=2" }, { "recipe.system=bow-pod64", "parallel.replicas=2" },
        { "recipe.system=bow-pod64", "parallel.replicas=8" }, { "recipe.system=bow-pod64", "parallel.replicas=2" },
    };
    simulator_open(&s, &paths);
    for (int i = 0; i < 4; i++) {
        struct simulation sim;
        struct result r;
        struct err err = { "" };
        assert_true(simulator_run(&s, &sim, &r, "mlperf-v2.0-closed-bow-pod64-bert-large", sets[i], 2, &err));
        assert_int_equal(sim.topology->domain_topology, i == 2 ? DOMAIN_TORUS : DOMAIN_LADDER);
        cycles[i] = sim.timeline.step_cycles;
        simulation_free(&sim);
    }
    simulator_close(&s);
    assert_int_equal(cycles[1], cycles[0]);
    assert_true(cycles[2] > cycles[0]);
    assert_int_equal(cycles[3], cycles[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(graphs_are_told_apart_by_file_and_dimensions), cmocka_unit_test_setup_teardown(sheets_beside_recipes, set_up, tear_down), cmocka_unit_test(keys_of_sheets_are_offered),
    cmocka_unit_test(warm_is_cold), cmocka_unit_test(warm_is_cold_from_nothing),
    cmocka_unit_test(living_simulations_keep_what_they_stand_on), cmocka_unit_test(nothing_outlives_who_stands_on_it), cmocka_unit_test(a_change_makes_only_what_depends_on_it),
    cmocka_unit_test(long_work_is_told), cmocka_unit_test(a_partition_is_as_a_machine_of_its_size),
    cmocka_unit_test(alike_operations_have_equal_plans),
};
TAP_MAIN(tests)
