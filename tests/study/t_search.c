/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_search.c - the bounds as laws on hundreds of plans, and small searches compared with every configuration simulated.
 */
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "tests/random.h"
#include "results/study/candidates.h"

static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-pod16-resnet50-pipelined", "vendor-ipu-pod16-bert-base-ph1-popart",
                                       "mlperf-v1.1-closed-ipu-pod16-resnet50" };

/* However its layers are divided, a plan's micro-batches take no less than the bound. */
static void assert_bound(const struct simulation *sim)
{
    const struct plan_request *o = &sim->plan.request;
    struct search_graph g = {0};
    struct search_family f = { .width = o->ipus_per_replica, .schedule = o->schedule, .recomputes = o->training && o->recompute != RECOMPUTE_NONE };
    struct search_candidate c = { .graph = &g, .accumulations = { o->grad_accum }, .n_accumulations = 1 };
    search_measure(&g, sim);
    double least = search_least_cycles(&f, &c, o->grad_accum), micro_batches = (double)sim->timeline.micro_batches_cycles;
    assert_true(least <= micro_batches);
    assert_true(least > 0.2 * micro_batches);           /* a bound that became loose shows here */
}

static void no_plan_is_better_than_its_bounds(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "parallel.recompute=checkpoints", "parallel.ipus_per_replica=4", "parallel.ipus_per_replica=8", "parallel.rts=yes", "parallel.optimizer_state=streaming",
        "parallel.recompute=none", "parallel.recompute=stage", "parallel.recompute=layer", "parallel.micro_batch=1", "parallel.micro_batch=3",
        "parallel.schedule=grouped", "parallel.schedule=interleaved", "parallel.schedule=sequential", "parallel.schedule=popart",
        "parallel.stash_type=fp8", "parallel.gradient_accumulation=64", "parallel.replicas=1", "parallel.replicas=2", "parallel.available_memory=0.2",
        "parallel.io_tiles=0", "parallel.optimizer_state=on-chip", "parallel.rts=no", "parallel.ipus_per_replica=2", "parallel.layers_per_ipu=",
        "parallel.layers_per_ipu=2,3,3,4", "parallel.layers_per_ipu=3,7,7,7,0", "parallel.layers_per_ipu=7/6,5/6,6/6,6/6", "recipe.mode=infer",
        "parallel.embedding_split=2", "parallel.embedding_split=4",
    };
    struct simulator s;
    uint64_t seed = 3;
    size_t n = 0, n_split = 0;
    simulator_open(&s, &paths);
    s.options.verdict_only = true;
    for (int i = 0; i < 1000; i++) {
        const char *chosen[4];
        struct simulation sim;
        struct result r;
        for (size_t k = 0; k < 4; k++)
            chosen[k] = sets[random_below(&seed, sizeof sets / sizeof *sets)];
        if (!simulator_run(&s, &sim, &r, recipes[random_below(&seed, 4)], chosen, 4, NULL))
            continue;
        uint64_t parts = max_u64(1, sim.recipe.model.embedding_split);
        if (sim.plan.request.n_available_memory < 2 && sim.plan.n_stages <= sim.plan.request.ipus_per_replica + parts) {
            assert_bound(&sim);
            n++;
            n_split += parts > 1;
        }
        simulation_free(&sim);
    }
    assert_true(n > 100 && n_split > 10);
    simulator_close(&s);
}

/* ---- whole searches ------------------------------------------------------------------------------------------------- */

static const struct search_request pipelined_bert = {
    .recipe = "vendor-ipu-pod16-bert-base-ph1-popart", .n_given = 7,
    .given = { { "parallel.micro_batch", { "2", "4" }, 2 }, { "parallel.available_memory", { "0.4" }, 1 }, { "parallel.io_tiles", { "0" }, 1 },
               { "parallel.ipus_per_replica", { "2" }, 1 }, { "parallel.recompute", { "none", "stage" }, 2 },
               { "parallel.optimizer_state", { "on-chip" }, 1 }, { "parallel.rts", { "no", "yes" }, 2 } },
};
/* Three schedules, and a key that is compiled. */
static const struct search_request pipelined_resnet = {
    .recipe = "vendor-ipu-pod16-resnet50-pipelined", .n_given = 8,
    .given = { { "parallel.micro_batch", { "2", "8" }, 2 }, { "parallel.available_memory", { "0.1", "0.3" }, 2 }, { "parallel.io_tiles", { "0" }, 1 },
               { "parallel.ipus_per_replica", { "1", "2", "4" }, 3 }, { "parallel.recompute", { "none", "stage", "layer" }, 3 },
               { "parallel.optimizer_state", { "on-chip" }, 1 }, { "parallel.rts", { "no" }, 1 }, { "precision.partials", { "fp16", "fp32" }, 2 } },
};

static void seek(struct search_result *out, struct search_request q, struct simulator *s, uint64_t exhaustive, uint32_t n_threads, struct arena *a)
{
    struct err err = { "" };
    q.most = q.most ? q.most : 1000000;
    q.exhaustive = exhaustive;
    q.simulator = s;
    q.n_threads = n_threads;
    if (!search(out, &q, a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
}

static void assert_front(const struct search_result *r)
{
    for (size_t i = 0; i < r->n_front; i++)
        for (size_t k = 0; k < r->n_front; k++)
            assert_true(i == k || r->front[i].value > r->front[k].value
                        || r->front[i].r.memory_peak_bytes_per_tile < r->front[k].r.memory_peak_bytes_per_tile);
}

/* Prints the effort of a search: a bound that became loose, or a division that became worse, shows here. */
static void print_effort(FILE *f, const char *name, const struct search_result *r)
{
    fprintf(f, "%s: %.0f configurations, %ju simulated, %ju refused, %ju do not fit, %ju families left by their bound; best %.6g, bound %.6g\n", name,
            r->space, (uintmax_t)r->n_simulated, (uintmax_t)r->n_refused, (uintmax_t)r->n_unfit, (uintmax_t)r->n_bounded, r->best.value,
            r->exact ? r->best.value : r->best_bound);
}

/* A search by bounds finds what simulating everything finds, with fewer simulations; the number of threads changes nothing. */
static void assert_nothing_is_lost(FILE *f, const char *name, const struct search_request *q, struct simulator *s)
{
    struct arena a = {0};
    struct search_result all, bounded, alone;
    seek(&all, *q, s, 1000000, 3, &a);
    seek(&bounded, *q, s, 0, 3, &a);
    seek(&alone, *q, s, 0, 1, &a);
    assert_true(all.any && all.whole && all.exact && !bounded.whole && !bounded.stopped);
    assert_true(all.best.value == bounded.best.value);
    assert_true(bounded.exact || search_better(q->objective, bounded.best_bound, all.best.value));
    assert_true(!all.own_counts || !search_better(q->objective, all.own.value, all.best.value));
    assert_int_equal(all.n_bounded, 0);
    assert_true((double)bounded.n_bounded <= all.space);
    assert_true(alone.n_simulated == bounded.n_simulated && alone.n_front == bounded.n_front && alone.best.n_settings == bounded.best.n_settings);
    for (size_t i = 0; i < alone.best.n_settings; i++)
        assert_string_equal(alone.best.settings[i], bounded.best.settings[i]);
    if (q->objective == MAXIMISE_THROUGHPUT)
        assert_front(&all);
    print_effort(f, name, &bounded);
    arena_free(&a);
}

/* If the samples to converge are given, the shortest training has no lower rate than the fastest step has. */
static void time_to_train_is_no_worse(void **state)
{
    (void)state;
    struct simulator s;
    struct arena a = {0};
    struct search_result by_rate, by_time;
    struct search_request q = pipelined_bert;
    q.sets = (const char *const[]){ "training.samples_to_converge=1e7" };
    q.n_sets = 1;
    q.global_batch = (struct limit){ 400, 900 };
    simulator_open(&s, &paths);
    seek(&by_rate, q, &s, 0, 2, &a);
    q.objective = MINIMISE_TIME_TO_TRAIN;
    seek(&by_time, q, &s, 0, 2, &a);
    assert_true(by_rate.any && by_time.any);
    assert_true(by_time.best.value <= by_rate.best.r.time_to_train_s * (1 + 1e-9));
    simulator_close(&s);
    arena_free(&a);
}

static void bounds_lose_nothing(void **state)
{
    (void)state;
    struct simulator s;
    struct arena a = {0};
    char *text;
    struct search_request by_time = pipelined_bert, by_ipus = pipelined_bert;
    by_time.objective = MINIMISE_TIME_TO_TRAIN;
    by_time.sets = (const char *const[]){ "training.samples_to_converge=1e7" };
    by_time.n_sets = 1;
    by_ipus.objective = MINIMISE_IPUS;
    by_ipus.ipus = (struct limit){ 2, 16 };
    by_ipus.throughput = (struct limit){ 3000, 1e9 };
    const struct { const char *name; const struct search_request *q; } cases[] = {
        { "BERT", &pipelined_bert }, { "ResNet", &pipelined_resnet }, { "BERT by time", &by_time }, { "BERT by IPUs", &by_ipus },
    };
    simulator_open(&s, &paths);
    PRINTED(text, for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_nothing_is_lost(f, cases[i].name, cases[i].q, &s));
    assert_golden(text, "tests/golden/searches.txt", &a);
    free(text);
    simulator_close(&s);
    arena_free(&a);
}

/* One configuration a micro-batch and IPUs: what is best then hangs on the batch, of which the largest alone is tried at first. If the host is
 * slow, no division is faster than its input. */
static const struct search_request by_batch = {
    .recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50", .n_given = 7, .ipus = { 4, 16 }, .global_batch = { 1000, 6000 },
    .given = { { "parallel.micro_batch", { "8", "16" }, 2 }, { "parallel.available_memory", { "0.3" }, 1 }, { "parallel.io_tiles", { "32" }, 1 },
               { "parallel.ipus_per_replica", { "1" }, 1 }, { "parallel.recompute", { "layer" }, 1 }, { "parallel.optimizer_state", { "on-chip" }, 1 },
               { "parallel.rts", { "no" }, 1 } },
};

static void no_batch_is_lost(void **state)
{
    static const char *const by_model[] = { "training.converge=model", "training.epochs=" }, *const slow_host[] = { "hosts.decode_bytes_per_s=2e8" },
        *const slow_call[] = { "training.converge=model", "training.epochs=", "framework.host_data=in-call", "framework.host_data_bytes_per_s=1e10" },
        *const with_site[] = { "training.converge=model", "training.epochs=", "cost.host_power_w=60000", "cost.cooling_share=0.2" },
        *const slow_loader[] = { "training.epochs=", "hosts.timed_steps=3", "machine.loader_s_per_byte=1e-9" };
    static const struct { enum objective o; struct limit throughput; const char *const *sets; size_t n_sets; bool one_batch; } cases[] = {
        { MINIMISE_TIME_TO_TRAIN, { 0, 0 }, by_model, 2, true },        /* each shape has one batch at most */
        { MINIMISE_TIME_TO_TRAIN, { 0, 0 }, by_model, 2, false }, { MINIMISE_ENERGY, { 0, 0 }, by_model, 2, false },
        { MINIMISE_ENERGY, { 0, 0 }, with_site, 4, false }, { MINIMISE_IPUS, { 9000, 1e9 }, by_model, 2, false },
        { MINIMISE_TIME_TO_TRAIN, { 0, 0 }, slow_host, 1, false }, { MAXIMISE_THROUGHPUT, { 0, 0 }, slow_host, 1, false }, { MINIMISE_IPUS, { 900, 1e9 }, slow_host, 1, false },
        { MINIMISE_TIME_TO_TRAIN, { 0, 0 }, slow_call, 4, false }, { MINIMISE_ENERGY, { 0, 0 }, slow_call, 4, false },
        { MAXIMISE_THROUGHPUT, { 0, 0 }, slow_loader, 3, false }, { MINIMISE_IPUS, { 9000, 1e9 }, slow_loader, 3, false },
    };
    struct simulator s;
    (void)state;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct search_request q = by_batch;
        struct search_result all, bounded;
        q.objective = cases[i].o, q.throughput = cases[i].throughput, q.sets = cases[i].sets, q.n_sets = cases[i].n_sets;
        q.global_batch = cases[i].one_batch ? (struct limit){ 2560, 2560 } : q.global_batch;
        seek(&all, q, &s, 1000000, 1, &a);
        seek(&bounded, q, &s, 0, 1, &a);
        assert_int_equal(all.n_bounded, 0);
        assert_true(all.any && all.whole && bounded.exact && all.best.value == bounded.best.value && (!cases[i].one_batch || all.best.n_settings > 0));
        if (cases[i].sets == with_site)
            assert_near(bounded.best.value / (bounded.best.r.energy_site_j / bounded.best.r.energy_per_step_j * bounded.best.r.energy_j), 1, 1e-12);
        assert_true(cases[i].sets == slow_host || cases[i].o == MINIMISE_IPUS || bounded.best.r.global_batch < 5000);
        arena_free(&a);
    }
    simulator_close(&s);
}

/* Inference has no training: the energy of a sample is as small as can be, on a card whose power is all that is known. */
static void energy_of_a_sample(void **state)
{
    struct search_request q = { .recipe = "vendor-c600-resnet50-b4-poprt", .objective = MINIMISE_ENERGY, .n_given = 1,
                                .given = { { "parallel.micro_batch", { "1", "4", "8" }, 3 } } };
    struct simulator s;
    struct search_result out;
    struct arena a = {0};
    (void)state;
    simulator_open(&s, &paths);
    seek(&out, q, &s, 1000000, 1, &a);
    assert_true(out.any && out.whole && out.best.r.energy_j == 0);
    assert_near(out.best.value, 185 / out.best.r.throughput_samples_per_s, 1e-12);
    assert_true(out.best.value <= 185 / out.own.r.throughput_samples_per_s);
    simulator_close(&s);
    arena_free(&a);
}

/* Nothing fits 16 GC2 unless the word table is on several of them. A table whose parts are given stays as it is. */
static void a_table_over_stages_is_the_last_resort(void **state)
{
    static const char *const sets[] = { "recipe.system=dss8440" };
    struct search_request q = {
        .recipe = "vendor-ipu-pod16-bert-large-ph1-popart", .sets = sets, .n_sets = 1, .n_given = 7,
        .given = { { "parallel.micro_batch", { "1" }, 1 }, { "parallel.available_memory", { "0.12" }, 1 }, { "parallel.io_tiles", { "0" }, 1 },
                   { "parallel.ipus_per_replica", { "1", "2", "16" }, 3 }, { "parallel.recompute", { "stage" }, 1 }, { "parallel.optimizer_state", { "streaming" }, 1 },
                   { "parallel.rts", { "no" }, 1 } },
    };
    struct search_result out, without;
    struct simulator s;
    struct arena a = {0};
    (void)state;
    simulator_open(&s, &paths);
    seek(&out, q, &s, 0, 1, &a);
    assert_true(out.any && out.best.r.fits && text_is(out.best.settings[0], "parallel.embedding_split=4"));
    assert_int_equal(out.n_refused, 0);         /* two parts need two IPUs */
    q.given[q.n_given++] = (struct dimension){ "parallel.embedding_split", { "1" }, 1 };
    seek(&without, q, &s, 0, 1, &a);
    assert_true(!without.any && without.n_simulated < out.n_simulated);
    arena_free(&a);
    simulator_close(&s);
}

static double less_each_time(void *user)
{
    double *left = user;
    return *left -= 0.1;
}

/* There are eight graphs, and time to plan about half of them: five are planned, those most like the recipe first, and only their configurations
 * are simulated. */
static void planning_takes_half_of_the_time(void **state)
{
    struct simulator s;
    struct arena a = {0};
    struct search_request q = pipelined_resnet;
    struct search_result all, out;
    double left = 1.1;
    (void)state;
    simulator_open(&s, &paths);
    seek(&all, q, &s, 1000000, 1, &a);
    q.left = less_each_time, q.user = &left;
    seek(&out, q, &s, 1000000, 1, &a);
    assert_true(out.any && out.stopped && !out.whole && !out.exact && !is_known(out.best_bound));
    assert_true(out.n_simulated > 1 && out.n_simulated < all.n_simulated);
    assert_near(left, 1.1 - 0.1 * (1 + 8), 1e-9);       /* asked once before, and before each graph */
    assert_near(out.space / all.space, 5 / 8.0, 1e-9);
    arena_free(&a);
    simulator_close(&s);
}

/* A key that is set to nothing is not searched, and not set again. */
static void a_key_set_to_nothing(void **state)
{
    static const char *const sets[] = { "parallel.available_memory=" };
    struct search_request q = by_batch;
    struct search_result out;
    struct simulator s;
    struct arena a = {0};
    (void)state;
    q.sets = sets, q.n_sets = 1;
    q.given[1] = q.given[--q.n_given];          /* sharding is given; no share of memory */
    simulator_open(&s, &paths);
    seek(&out, q, &s, 1000000, 1, &a);
    assert_true(out.any && out.n_refused == 0 && out.n_simulated > 1);
    arena_free(&a);
    simulator_close(&s);
}

/* The value that becomes x, to the last bit, when it is scaled. */
static double unscaled(double x, double factor)
{
    double y = x / factor;
    for (int i = 0; i < 9 && y * factor != x; i++)
        y = nextafter(y, y * factor < x ? INFINITY : 0);
    return y;
}

/* The recipe itself, by what it has: at either end of a limit, and a hundred-millionth beyond. */
static void limits_to_the_last_digit(void **state)
{
    struct simulator s;
    struct arena a = {0};
    struct search_request q = { .recipe = recipes[0], .n_given = 3, .most = 1,
        .given = { { "parallel.micro_batch", { "2" }, 1 }, { "parallel.ipus_per_replica", { "4" }, 1 }, { "parallel.available_memory", { "0.2" }, 1 } } };
    struct search_result out;
    (void)state;
    simulator_open(&s, &paths);
    seek(&out, q, &s, 0, 1, &a);
    const struct result own = out.own.r;
    const struct { struct limit *l; double value; } limits[] = {
        { &q.ipus, 16 }, { &q.global_batch, own.global_batch }, { &q.throughput, own.throughput_samples_per_s },
        { &q.tokens, own.global_batch / 2.0368 * 512 },         /* as many sequences share one of 512 */
    };
    assert_true(out.own_counts && out.any && out.best.n_settings == 0 && out.n_simulated == 1);
    for (size_t i = 0; i < 4; i++) {
        double x = limits[i].value;
        assert_true(i > 0 || (unscaled(x, 1 - 1e-9) * (1 - 1e-9) == x && unscaled(x, 1 + 1e-9) * (1 + 1e-9) == x));
        const struct { struct limit l; bool counts; } ends[] = {
            { { x, x }, true }, { { x * (1 + 1e-10), 2 * x }, true }, { { x / 2, x * (1 - 1e-10) }, true },
            { { x * (1 + 1e-8), 2 * x }, false }, { { x / 2, x * (1 - 1e-8) }, false },
            { { unscaled(x, 1 - 1e-9), 2 * x }, true }, { { x / 2, unscaled(x, 1 + 1e-9) }, true },
        };
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            const struct search_request before = q;
            *limits[i].l = ends[k].l;
            seek(&out, q, &s, 0, 1, &a);
            assert_true(out.own_counts == ends[k].counts && out.any == ends[k].counts);
            q = before;
        }
    }
    arena_free(&a);
    simulator_close(&s);
}

/* A limit holds over all rounds of simulations, and one of exactly what is wanted cuts nothing off. */
static void no_more_are_simulated_than_allowed(void **state)
{
    struct simulator s;
    struct arena a = {0};
    struct search_request q = pipelined_resnet;
    struct search_result all, few, same;
    (void)state;
    simulator_open(&s, &paths);
    q.given[0] = (struct dimension){ "parallel.micro_batch", { "1", "2", "3", "4", "5", "6", "7", "8" }, 8 };
    q.given[3] = (struct dimension){ "parallel.ipus_per_replica", { "2" }, 1 };
    seek(&all, q, &s, 1000000, 1, &a);
    assert_near(all.space, 8 * 2 * 3 * 3 * 2, 0);       /* micro-batches, shares of memory, schedules, recomputations, partials */
    assert_true(all.n_simulated == 1 + 288);
    q.most = all.n_simulated - 1;
    seek(&few, q, &s, 1000000, 1, &a);
    assert_true(few.n_simulated == q.most && !few.whole && few.best.value <= all.best.value && (!few.exact || few.best.value == all.best.value));
    q.most = all.n_simulated;
    seek(&same, q, &s, 1000000, 1, &a);
    assert_true(same.n_simulated == q.most && same.exact && same.best.value == all.best.value);
    arena_free(&a);
    simulator_close(&s);
}

/* Values in another order are the same space: on one IPU, where schedules are alike and recomputation is not, and on two. */
static void the_order_of_values_changes_nothing(void **state)
{
    static const struct { const char *ipus; struct dimension values[2]; } cases[] = {
        { "1", { { "parallel.recompute", { "none", "layer" }, 2 }, { "parallel.recompute", { "layer", "none" }, 2 } } },
        { "2", { { "parallel.schedule", { "sequential", "grouped" }, 2 }, { "parallel.schedule", { "grouped", "sequential" }, 2 } } },
    };
    struct simulator s;
    (void)state;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct search_result found[2];
        for (size_t k = 0; k < 2; k++) {
            struct search_request q = pipelined_resnet;
            q.given[3] = (struct dimension){ "parallel.ipus_per_replica", { cases[i].ipus }, 1 };
            q.given[i ? q.n_given++ : 4] = cases[i].values[k];
            seek(&found[k], q, &s, 0, 1, &a);
            assert_true(found[k].any);
        }
        assert_true(found[0].best.value == found[1].best.value);
        arena_free(&a);
    }
    simulator_close(&s);
}

/* Why a search by throughput tries the most micro-batches alone. */
static void more_micro_batches_are_no_slower(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "parallel.recompute=none", "parallel.recompute=layer", "parallel.micro_batch=1", "parallel.schedule=grouped", "parallel.schedule=interleaved",
        "parallel.schedule=sequential", "parallel.replicas=1", "parallel.io_tiles=0", "parallel.io_tiles=32", "parallel.optimizer_state=streaming",
        "parallel.rts=yes", "parallel.ipus_per_replica=2", "parallel.layers_per_ipu=2,3,3,4", "hosts.steps_per_call=1", "hosts.decode_bytes_per_s=1e9",
    };
    struct simulator s;
    uint64_t seed = 7;
    size_t n = 0;
    simulator_open(&s, &paths);
    for (int i = 0; i < 200; i++) {
        const char *chosen[4];
        double before = 0;
        for (size_t k = 0; k < 3; k++)
            chosen[k] = sets[random_below(&seed, sizeof sets / sizeof *sets)];
        uint32_t recipe = random_below(&seed, 4);
        for (uint32_t g = 2 + random_below(&seed, 20), step = 0; step < 6; step++, g += 1 + random_below(&seed, 7)) {
            struct arena a = {0};
            struct simulation sim;
            struct result r;
            chosen[3] = arena_printf(&a, "parallel.gradient_accumulation=%u", g);
            if (simulator_run(&s, &sim, &r, recipes[recipe], chosen, 4, NULL)) {
                assert_true(r.throughput_samples_per_s >= before * (1 - 1e-9));
                before = r.throughput_samples_per_s;
                simulation_free(&sim);
                n++;
            }
            arena_free(&a);
        }
    }
    assert_true(n > 200);
    simulator_close(&s);
}

/* However many there are, the last one of a key holds, and the settings come after all. */
static void all_that_is_set_is_set(void **state)
{
    (void)state;
    enum { SETS = 70 };
    const char *sets[SETS], *const settings[] = { "parallel.micro_batch=1", "parallel.replicas=2" };
    struct simulator s;
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    for (size_t i = 0; i < SETS; i++)
        sets[i] = i + 1 < SETS ? "parallel.gradient_accumulation=64" : "parallel.gradient_accumulation=32";
    sets[3] = "parallel.micro_batch=3";
    simulator_open(&s, &paths);
    const struct search_request q = { .recipe = recipes[0], .sets = sets, .n_sets = SETS, .simulator = &s };
    assert_true(search_simulate(&sim, &r, &s, &q, settings, 2, &err));
    assert_true(sim.recipe.gradient_accumulation == 32 && sim.recipe.model.micro_batch == 1 && sim.recipe.replicas == 2);
    simulation_free(&sim);
    assert_true(search_simulate(&sim, &r, &s, &q, NULL, 0, &err) && sim.recipe.model.micro_batch == 3);
    simulation_free(&sim);
    simulator_close(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_plan_is_better_than_its_bounds), cmocka_unit_test(bounds_lose_nothing), cmocka_unit_test(time_to_train_is_no_worse), cmocka_unit_test(no_batch_is_lost), cmocka_unit_test(limits_to_the_last_digit), cmocka_unit_test(energy_of_a_sample), cmocka_unit_test(a_key_set_to_nothing), cmocka_unit_test(a_table_over_stages_is_the_last_resort), cmocka_unit_test(planning_takes_half_of_the_time),
    cmocka_unit_test(no_more_are_simulated_than_allowed), cmocka_unit_test(the_order_of_values_changes_nothing),
    cmocka_unit_test(more_micro_batches_are_no_slower), cmocka_unit_test(all_that_is_set_is_set),
};
TAP_MAIN(tests)
