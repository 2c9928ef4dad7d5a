/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_simulate.c - laws of whole simulations: what folds, what sums, what never makes a run slower, what fits, what faults cost.
 */
#include "tests/golden_text.h"
#include "tests/simulated.h"
#include "tests/rounding.h"
#include "results/simulate/remedies.h"
#include "results/simulate/provenance.h"
#include <jansson.h>

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
    for (uint32_t i = 0; i < b.timeline.n_rows && a.timeline.n_rows == a.plan.options.ipus_per_replica; i++)
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

/* Replicas of three do not fill a rack evenly, twelve replicas leave IPUs idle; a slow chip; a slow link far from replica 0. */
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
    double work_s = (double)(cycles_total(&s->forward) + cycles_total(&s->backward)) * sim.plan.options.grad_accum / sim.machine->chip.clock_hz;
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
        assert_near(r.throughput_samples_per_s * r.step_time_s / r.global_batch, 1, 1e-12);
        assert_true(r.mfu > 0 && r.mfu <= r.hfu && r.hfu < 1);
        if (!timeline_check(&sim.timeline, &err)) {
            print_error("%s: %s\n", all.ids[i], err.msg);
            assert_true(false);
        }
        simulation_free(&sim);
    }
    plan_cache_free(&cache);
    arena_free(&all.arena);
}

/* A step 2^20 times as long, of as many times the micro-batches, on 65536 times the chips: shares and ratios stay, though the
 * chips' cycles together pass 64 bits. */
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
    sim.plan.options.grad_accum <<= 20;
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
    assert_true(plan_build(&p, &c, &sim->plan.options, &a, &err));
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

/* A clock 1e-6 faster needs 213 cycles more here: the seconds of each tensor's all-reduce, rounded up. Rounding alone breaks the law. */
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
        m.chip.clock_hz = 1.330073e9 + 1000.0 * i;
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

/* Every column of a row with odd values, as text, and read back from its CSV. */
static void a_result_as_text_and_back(void **state)
{
    struct arena a = {0};
    struct err err = { "" };
    struct results back = {0};
    struct result r = { .id = "x", .workload = "w", .system = "s", .ipus = 7, .global_batch = 33, .throughput_samples_per_s = 1320.5, .step_time_s = 0.025,
                        .latency_s = 0.0035, .samples_to_converge = 1.25e6, .train_time_s = 900, .eval_time_s = 30.5, .startup_time_s = 4, .tail_time_s = 3, .scaling_time_s = 12.5,
                        .evaluation_time_s = 2.75, .time_to_train_s = 950, .predicted_samples_to_converge = 1.5e6, .predicted_time_to_train_s = 1111,
                        .fits = true, .memory_peak_bytes_per_tile = 456789, .mfu = 0.31, .hfu = 0.37, .energy_per_step_j = 12.5, .energy_j = 468750,
                        .cost_per_step = 0.001, .cost_to_train = 37.5, .fault_cost_s = 0.0005, .version = "v", .overrides = "", .inputs = "" };
    char *text, *csv;
    (void)state;
    r.breakdown_s[PART_MATMUL] = 0.02;
    r.breakdown_s[PART_HOST] = 0.005;
    PRINTED(text, result_print_text(f, &r));
    assert_golden(text, "tests/golden/result_text.txt", &a);
    free(text);
    const char *expected = "fits mfu hfu throughput_samples_per_s";       /* higher is better; lower: times, energy, cost, memory */
    char *columns = arena_strdup(&a, result_columns(&a)), *column;
    while ((column = strsep(&columns, ",\n")) && *column) {
        bool better = strstr(expected, column) != NULL, neutral = strstr("id workload system ipus global_batch version overrides inputs", column) != NULL;
        if (result_column_better(column) != (better ? HIGHER : neutral ? NEITHER : LOWER))
            print_error("%s\n", column);
        assert_int_equal(result_column_better(column), better ? HIGHER : neutral ? NEITHER : LOWER);
    }
    assert_true(result_column_is_provenance("version") && result_column_is_provenance("inputs") && result_column_is_provenance("overrides"));
    assert_false(result_column_is_provenance("id") || result_column_is_provenance("fault_cost_s"));
    PRINTED(csv, (result_write_csv_header(f), result_write_csv(f, &r)));
    const char *path = temp_file(csv, strlen(csv), ".csv");
    assert_true(results_load(&back, path, &a, &err));
    unlink(path);
    free(csv);
    assert_int_equal(back.n, 1);
    PRINTED(text, result_print_text(f, &back.items[0]));
    assert_golden(text, "tests/golden/result_text.txt", &a);
    free(text);
    arena_free(&a);
}

/* A header and a row, with the cell of a column in the row changed, or, without a text for it, the column left out. */
static const char *rows_with(const char *csv, const char *column, const char *text, struct arena *a)
{
    char *header = arena_strdup(a, csv), *row = strchr(header, '\n') + 1, *name, *cell;
    const char *names = "", *cells = "";
    row[-1] = *strchr(row, '\n') = '\0';
    while ((name = strsep(&header, ",")) && (cell = strsep(&row, ","))) {
        bool is_it = text_is(name, column);
        if (is_it && !text)
            continue;
        names = arena_printf(a, "%s%s%s", names, *names ? "," : "", name);
        cells = arena_printf(a, "%s%s%s", cells, *cells ? "," : "", is_it ? text : cell);
    }
    return arena_printf(a, "%s\n%s\n", names, cells);
}

/* Rows of an older version lack columns that may be unknown; those that every row has are asked for, and numbers are numbers. */
static void results_of_other_versions(void **state)
{
    static const struct { const char *column, *text, *want; } cases[] = {
        { "latency_s", NULL, NULL }, { "evaluation_time_s", NULL, NULL }, { "version", NULL, NULL }, { "latency_s", "", NULL },
        { "ipus", NULL, "no column 'ipus'" }, { "fits", NULL, "no column 'fits'" }, { "breakdown_conv_s", NULL, "no column 'breakdown_conv_s'" },
        { "breakdown_matmul_s", "x", ":2: breakdown_matmul_s: 'x' is not a number" }, { "ipus", "x", ":2: ipus: 'x' " }, { "mfu", "", ":2: mfu: '' " },
        { "fits", "maybe", ":2: fits: 'maybe' " }, { "step_time_s", "-1", ":2: step_time_s: -1 " },
    };
    struct result r = { .id = "x", .workload = "w", .system = "s", .ipus = 7, .global_batch = 33, .throughput_samples_per_s = 1320.5, .step_time_s = 0.025,
                        .latency_s = 0.0035, .fits = true, .mfu = 0.31, .hfu = 0.37, .version = "v", .overrides = "o", .inputs = "i" };
    char *csv;
    (void)state;
    PRINTED(csv, (result_write_csv_header(f), result_write_csv(f, &r)));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err err = { "" };
        struct results back = {0};
        const char *text = rows_with(csv, cases[i].column, cases[i].text, &a), *path = temp_file(text, strlen(text), ".csv");
        bool good = results_load(&back, path, &a, &err);
        if (cases[i].want ? !strstr(err.msg, cases[i].want) : !good)
            print_error("%s: %s\n", cases[i].column, err.msg);
        assert_true(good == !cases[i].want && (good || strstr(err.msg, cases[i].want)));
        if (good)
            assert_true(back.items[0].latency_s == (text_is(cases[i].column, "latency_s") ? 0 : 0.0035) && back.items[0].mfu == 0.31 && text_is(back.items[0].inputs, "i"));
        unlink(path);
        arena_free(&a);
    }
    free(csv);
}

/* One name for two rows is refused where it stands for the second time; what was read before is forgotten. */
static void rows_have_names_of_their_own(void **state)
{
    static const char *const names[] = { "a", "b", "c", "b", "d" };
    (void)state;
    struct arena a = {0};
    struct results back = {0};
    for (int reads = 0; reads < 2; reads++) {
        char *csv;
        PRINTED(csv, {
            result_write_csv_header(f);
            for (size_t i = reads ? 0 : 1; i < (reads ? 5 : 3); i++)
                result_write_csv(f, &(struct result){ .id = names[i], .workload = "w", .system = "s", .ipus = 7, .global_batch = 33,
                                                      .throughput_samples_per_s = 1, .step_time_s = 1, .version = "v", .overrides = "", .inputs = "i" });
        });
        struct err err = { "" };
        const char *path = temp_file(csv, strlen(csv), ".csv");
        assert_int_equal(results_load(&back, path, &a, &err), !reads);
        unlink(path);
        free(csv);
        assert_true(reads || (back.n == 2 && text_is(back.items[1].id, "c")));
        assert_non_null(strstr(err.msg, reads ? ".csv:5: id: b stands twice" : ""));
    }
    arena_free(&a);
}

/* What is listed is what simulating it says; those that fit come first, the fastest of them leading; two together where none alone helps. */
static void remedies_do_what_they_say(void **state)
{
    static const struct { const char *recipe, *override; bool fits, pairs; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=48", true, false },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=64", true, true },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=160", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulator s;
        struct simulation sim = {0}, again = {0};
        struct remedy list[MAX_REMEDIES];
        struct result r;
        struct err err = { "" };
        size_t n;
        simulator_open(&s, &paths);
        assert_true(simulator_run(&s, &sim, &r, cases[i].recipe, &cases[i].override, 1, &err));
        assert_false(r.fits);
        assert_true(remedies_find(list, &n, &sim, cases[i].recipe, &cases[i].override, 1, &sim.arena, &err));
        assert_true(list[0].fits == cases[i].fits && (strstr(list[0].what, ", and ") != NULL) == cases[i].pairs);
        for (size_t k = 0; k < n; k++) {
            const char *sets[MAX_REMEDY_SETS + 1] = { cases[i].override };
            for (uint32_t m = 0; m < list[k].n_sets; m++)
                sets[m + 1] = list[k].sets[m];
            assert_true(simulator_run(&s, &again, &r, cases[i].recipe, sets, list[k].n_sets + 1, &err));
            assert_true(r.fits == list[k].fits && r.throughput_samples_per_s == list[k].throughput_samples_per_s);
            assert_true(r.memory_shortfall_bytes_per_tile == list[k].shortfall_bytes_per_tile);
            assert_true(list[k].fits || !strstr(list[k].what, ", and "));
            assert_true(k == 0 || list[k - 1].fits > list[k].fits || (list[k - 1].fits == list[k].fits && (list[k].fits
                        ? list[k - 1].throughput_samples_per_s >= list[k].throughput_samples_per_s
                        : list[k - 1].shortfall_bytes_per_tile <= list[k].shortfall_bytes_per_tile)));
            simulation_free(&again);
        }
        assert_true(n > 2);
        simulation_free(&sim);
        simulator_close(&s);
    }
}

/* What is in force already is not tried, nor what the machine or the mode has no use for: a pod's ResNet-50 on single IPUs stashes nothing, and
 * is no pipeline; cards have no memory to stream to; BERT recomputes, streams and shards; inference trains nothing. */
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
        struct simulator s;
        struct simulation sim = {0};
        struct remedy list[MAX_REMEDIES];
        struct result r;
        struct err err = { "" };
        size_t n;
        char tried[N_WHATS + 1] = "--------";
        simulator_open(&s, &paths);
        assert_true(simulator_run(&s, &sim, &r, cases[i].recipe, &cases[i].override, 1, &err));
        assert_true(remedies_find(list, &n, &sim, cases[i].recipe, &cases[i].override, 1, &sim.arena, &err));
        for (size_t k = 0; k < n; k++)
            for (size_t w = 0; w < N_WHATS; w++)
                tried[w] = text_is(list[k].what, whats[w]) ? 'y' : tried[w];
        assert_string_equal(tried, cases[i].tried);
        simulation_free(&sim);
        simulator_close(&s);
    }
}

/* One that fits says its rate, one that does not what is missing; both how to ask for it. */
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

/* Tiles that load samples: twice as many is one of the things that are tried, where there are some. */
static void twice_the_tiles_that_load(void **state)
{
    static const char *const sets[][2] = { { "parallel.micro_batch=160", "parallel.io_tiles=0" }, { "parallel.micro_batch=160", "parallel.io_tiles=40" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct simulator s;
        struct simulation sim = {0};
        struct remedy list[MAX_REMEDIES];
        struct result r;
        struct err err = { "" };
        size_t n, found = 0;
        const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
        simulator_open(&s, &paths);
        assert_true(simulator_run(&s, &sim, &r, recipe, sets[i], 2, &err));
        assert_true(remedies_find(list, &n, &sim, recipe, sets[i], 2, &sim.arena, &err));
        for (size_t k = 0; k < n; k++)
            found += list[k].n_sets == 1 && text_is(list[k].sets[0], "parallel.io_tiles=80");
        assert_int_equal(found, i);
        simulation_free(&sim);
        simulator_close(&s);
    }
}

/* A micro-batch of two can be halved, its samples accumulated instead; one of one cannot. */
static void a_micro_batch_of_one_is_not_halved(void **state)
{
    (void)state;
    for (int micro_batch = 1; micro_batch <= 2; micro_batch++) {
        struct simulator s;
        struct simulation sim = {0};
        struct remedy list[MAX_REMEDIES];
        struct result r;
        struct err err = { "" };
        size_t n;
        bool halves = false;
        const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50", *const sets[] = {
            micro_batch == 1 ? "parallel.micro_batch=1" : "parallel.micro_batch=2", "parallel.gradient_accumulation=7", "machine.tile_memory_bytes=200000",
            "machine.interleaved_bytes=131072" };
        simulator_open(&s, &paths);
        assert_true(simulator_run(&s, &sim, &r, recipe, sets, 4, &err) && !r.fits);
        assert_true(remedies_find(list, &n, &sim, recipe, sets, 4, &sim.arena, &err));
        for (size_t k = 0; k < n; k++)
            if (text_is(list[k].what, "half the micro-batch")) {
                halves = true;
                assert_int_equal(list[k].n_sets, 2);
                assert_string_equal(list[k].sets[0], "parallel.micro_batch=1");
                assert_string_equal(list[k].sets[1], "parallel.gradient_accumulation=14");
            }
        assert_true(n > 0 && halves == (micro_batch == 2));
        simulation_free(&sim);
        simulator_close(&s);
    }
}

/* Temporaries of 0.6 of tile memory do not fit beside the activations of 20 images: layers that take more than is left beside what is alive are
 * planned again within that, and the others keep what they have; no share for all layers that fits is faster. What fits as asked is left alone. */
static void too_large_temporaries_are_planned_again(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    char text[300], want[300];
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    run_with(&sim, &r, recipe, (struct texts){ { "parallel.available_memory=0.6" }, 1 }, &paths, &cache);
    assert_true(r.fits && sim.plan.options.layer_memory);
    const struct plan *p = &sim.plan;
    const double *rooms = plan_layer_rooms(p, sim.compiler, &sim.arena);
    double least = 1;
    unsigned n = 0;
    for (size_t i = 0; i < p->graph->n_layers; i++) {
        assert_true((double)p->stages[0].compiled->layers[i].temp_bytes_per_tile <= rooms[i]);
        n += p->options.layer_memory[i] < 0.6;
        least = fmin(least, p->options.layer_memory[i]);
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
        assert_true(sim.plan.options.layer_memory || (all.fits && all.step_time_s >= r.step_time_s));
        assert_true(hundredths > 15 || !sim.plan.options.layer_memory);
        simulation_free(&sim);
        plan_cache_free(&cache);
        cache = (struct plan_cache){0};
    }
}

/* What fits, fits with less work too: shares that PopLibs doubles until something is found leave no holes. */
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

/* At 34 images the worst layer has no room for its temporaries beside the code of the others: all get less. 25,644 bytes are left, 0.04 of a tile; nothing
 * is found within 0.04 or 0.08, and what is takes 86,016, 0.135: half of that is no less than 0.04, a quarter is. */
static void all_layers_get_less_where_single_ones_do_not_help(void **state)
{
    (void)state;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "vendor-ipu-pod16-resnet50-tf1", (struct texts){ { "parallel.micro_batch=34" }, 1 }, &paths, &cache);
    assert_true(r.fits);
    for (size_t i = 0; i < sim.plan.graph->n_layers; i++)
        assert_near(sim.plan.options.layer_memory[i], 0.03, 0);
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

/* The C600 multiplies twice as fast in fp8: the same share of the peak is twice the throughput. */
/* All-reduces of one micro-batch's norms, backward, with one checkpoint. */
static uint64_t norms_backward(uint64_t *forward, const char *checkpoint_set)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", (struct texts){ { checkpoint_set }, 1 }, &paths, &cache);
    *forward = sim.plan.stages[0].forward.part[PART_ALL_REDUCE];
    uint64_t backward = sim.plan.stages[0].backward.part[PART_ALL_REDUCE];
    simulation_free(&sim);
    plan_cache_free(&cache);
    return backward;
}

/* A norm's statistics are shared once forward and once backward, and once more where its layer is computed again: with the only
 * checkpoint after the stem that is the stem's one norm of 53; after the last unit it is every norm. */
static void norms_are_shared_again_only_where_layers_are(void **state)
{
    (void)state;
    uint64_t forward, stem = norms_backward(&forward, "parallel.recompute_checkpoints=stem");
    assert_true(forward > 0 && stem > forward && (stem - forward) * 40 < forward);
    assert_int_equal(norms_backward(&forward, "parallel.recompute_checkpoints=stage4/unit3"), 2 * forward);
}

static void utilisation_is_of_the_peak_in_use(void **state)
{
    (void)state;
    struct result halves = result_of("vendor-c600-resnet50-b16-poprt", (struct texts){ .n = 0 });
    struct result bytes = result_of("vendor-c600-resnet50-b16-poprt", (struct texts){ { "precision.compute=fp8" }, 1 });
    assert_near(2 * bytes.mfu / halves.mfu, bytes.throughput_samples_per_s / halves.throughput_samples_per_s, 1e-9);
    assert_true(bytes.throughput_samples_per_s > halves.throughput_samples_per_s);
}

static const char *inputs_of(struct simulation *sim)
{
    static const char *const overrides[] = { "a.b=1", "c.d=2", "e.f=3" };
    struct result r;
    result_provenance(&r, sim, overrides, 3);
    assert_string_equal(r.overrides, "a.b=1; c.d=2; e.f=3");
    return r.inputs;
}

static void assert_counts(struct simulation *sim, const char **text, const char *before, bool counts)
{
    const char *own = *text;
    *text = "another";
    if (text_is(inputs_of(sim), before) == counts)
        print_error("%s\n", own);
    assert_true(text_is(inputs_of(sim), before) != counts);
    *text = own;
}

/* The hash of what was read: every entry of the recipe and every row of every sheet, from the first to the last, but for what only names them. */
static void what_was_read_is_hashed(void **state)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    const struct sheet *sheets[MAX_SHEETS];
    (void)state;
    run_with(&sim, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", (struct texts){ { NULL }, 0 }, &paths, &cache);
    const char *before = inputs_of(&sim);
    assert_string_equal(inputs_of(&sim), before);
    for (size_t i = 0; i < sim.recipe.n_entries; i++) {
        struct ini_entry *e = (struct ini_entry *)&sim.recipe.entries[i];
        bool names = text_is(e->section, "recipe") && (text_is(e->key, "id") || text_is(e->key, "source") || text_is(e->key, "system"));
        assert_counts(&sim, &e->value, before, !names);
        assert_counts(&sim, &e->key, before, true);
        assert_counts(&sim, &e->section, before, true);
    }
    size_t n = simulation_sheets(sheets, &sim);
    assert_true(n > 4);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sheets[i]->n_rows; k++) {
            struct sheet_row *row = &sheets[i]->rows[k];
            assert_counts(&sim, &row->value, before, !text_is(row->key, "chip") && !text_is(row->key, "board"));
            assert_counts(&sim, &row->key, before, true);
        }
    simulation_free(&sim);
    plan_cache_free(&cache);
}

/* What a step is spent on is the mean of all IPUs: of a pipeline's, which differ, and where rows stand for several. */
static void a_breakdown_is_the_mean_of_all_rows(void **state)
{
    static const struct { const char *recipe; struct texts sets; } cases[] = {
        { "vendor-ipu-pod16-resnet50-pipelined", { { NULL }, 0 } }, { "mlperf-v1.1-closed-ipu-pod16-resnet50", { { "faults.chip=3 1.5" }, 1 } },
    };
    struct plan_cache cache = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim;
        struct result r;
        run_with(&sim, &r, cases[i].recipe, cases[i].sets, &paths, &cache);
        assert_true(sim.timeline.n_rows > 1);
        for (int k = 0; k < N_PARTS; k++) {
            double sum = 0, n = 0;
            for (uint32_t row = sim.timeline.n_rows; row-- > 0;) {
                sum += (double)sim.timeline.rows[row].spent.part[k] * sim.timeline.rows[row].n_alike;
                n += sim.timeline.rows[row].n_alike;
            }
            assert_near(r.breakdown_s[k], sum / n / sim.machine->chip.clock_hz, 1e-12 * r.step_time_s);
        }
        simulation_free(&sim);
    }
    plan_cache_free(&cache);
}

/* By size, whatever the sign; of equals the one that stands first among the parts. */
static void parts_from_the_largest(void **state)
{
    double values[N_PARTS] = {0};
    enum part parts[N_PARTS];
    (void)state;
    values[N_PARTS - 1] = -7, values[2] = 3, values[5] = -5, values[0] = 1, values[4] = 5;
    parts_by_size(parts, values);
    const int want[] = { N_PARTS - 1, 4, 5, 2, 0, 1, 3, 6 };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(parts[i], want[i]);
    for (int i = 8; i < N_PARTS; i++)
        assert_int_equal(parts[i], i - 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(norms_are_shared_again_only_where_layers_are), cmocka_unit_test(utilisation_is_of_the_peak_in_use),
    cmocka_unit_test(folded_equals_unfolded_on_every_system), cmocka_unit_test(folded_equals_unfolded_beyond),
    cmocka_unit_test(folded_equals_unfolded_where_it_is_uneven), cmocka_unit_test(faults_cost_the_difference),
    cmocka_unit_test(a_slow_chip_costs_no_more_than_its_own_work), cmocka_unit_test(every_recipe_adds_up),
    cmocka_unit_test(sums_may_pass_64_bits), cmocka_unit_test(utilisation_is_of_the_precision_in_use),
    cmocka_unit_test(fp8_is_refused_where_nothing_multiplies_it), cmocka_unit_test(a_better_machine_is_never_slower), cmocka_unit_test(a_faster_clock_may_need_more_rounding),
    cmocka_unit_test(published_runs_fit_their_machines), cmocka_unit_test(known_misfits_do_not_fit),
    cmocka_unit_test(too_large_temporaries_are_planned_again), cmocka_unit_test(fits_have_no_holes), cmocka_unit_test(all_layers_get_less_where_single_ones_do_not_help), cmocka_unit_test(rows_have_names_of_their_own), cmocka_unit_test(remedies_do_what_they_say), cmocka_unit_test(what_is_tried), cmocka_unit_test(remedies_as_text), cmocka_unit_test(twice_the_tiles_that_load),
    cmocka_unit_test(a_micro_batch_of_one_is_not_halved), cmocka_unit_test(a_result_as_text_and_back),
    cmocka_unit_test(results_of_other_versions), cmocka_unit_test(parts_from_the_largest), cmocka_unit_test(a_breakdown_is_the_mean_of_all_rows), cmocka_unit_test(what_was_read_is_hashed),
};
TAP_MAIN(tests)
