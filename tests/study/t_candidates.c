/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_candidates.c - what a search tries, and its bounds, for a model small enough for paper.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/model_paths.h"
#include "results/study/candidates.h"

/* ---- a stem, four blocks and heads ----------------------------------------------------------------------------- */

/* Forward cycles 4 | 3 1 2 5 | 2 of a micro-batch of 3, at 1 kHz; 1.25 samples an item, 7 tokens an item. */
struct toy {
    struct search_graph graph;
    struct search_request q;
    struct search_result out;
    struct arena a;
    struct search_state s;
};

static void toy_open(struct toy *t)
{
    memset(t, 0, sizeof *t);
    t->graph = (struct search_graph){ .micro_batch = 3, .clock_hz = 1000, .forward_cycles = 17, .heads_cycles = 4, .longest_cycles = 5, .forward_share = 1,
                                      .n_body_layers = 4, .tensor = 1 };
    t->q = (struct search_request){ .ipus = { 16, 16 }, .global_batch = { 600, 2400 } };
    t->s = (struct search_state){ .q = &t->q, .out = &t->out, .a = &t->a, .samples_per_item = 1.25, .samples = 9e6, .power_w = 50,
        .n_dimensions = N_USUAL, .graphs = &t->graph, .n_graphs = 1 };
    t->s.recipe.model.sequence_length = 7;
    t->s.recipe.ipus_per_replica = 2;
    t->s.recipe.schedule = SCHEDULE_GROUPED;
}

static void toy_close(struct toy *t)
{
    arena_free(&t->a);
}

static void give(struct toy *t, size_t dimension, const char *key, const char *first, const char *second)
{
    t->s.dimensions[dimension] = (struct dimension){ key, { first, second }, second ? 2 : 1 };
}

/* 16 IPUs are 8 replicas of two: 3 x 8 x 1.25 = 30 samples and 3 x 8 x 7 = 168 tokens a micro-batch of all. For throughput the most are tried,
 * and one where that is allowed; else each of up to twelve, the most first, or twelve in proportion, none twice. */
static void accumulations_within_the_limits(void **state)
{
    static const struct { enum objective o; double most_throughput; struct limit batch, tokens; uint64_t want[MOST_ACCUMULATIONS + 1]; } cases[] = {
        { MAXIMISE_THROUGHPUT, 0, { 600, 2400 }, { 0, 0 }, { 80 } },
        { MAXIMISE_THROUGHPUT, 0, { 30, 2400 }, { 0, 0 }, { 80, 1 } },
        { MAXIMISE_THROUGHPUT, 0, { 29, 30 }, { 0, 0 }, { 1 } },
        { MAXIMISE_THROUGHPUT, 0, { 10, 29 }, { 0, 0 }, { 0 } },
        { MAXIMISE_THROUGHPUT, 0, { 601, 629 }, { 0, 0 }, { 0 } },
        { MAXIMISE_THROUGHPUT, 0, { 3e7, 9e7 }, { 0, 0 }, { 1000000 } },
        { MAXIMISE_THROUGHPUT, 0, { 3.00001e7, 9e7 }, { 0, 0 }, { 0 } },
        { MAXIMISE_THROUGHPUT, 0, { 600, 2400 }, { 168 * 25, 168 * 60 }, { 60 } },
        { MAXIMISE_THROUGHPUT, 9, { 600, 660 }, { 0, 0 }, { 22, 21, 20 } },
        { MINIMISE_TIME_TO_TRAIN, 0, { 600 * (1 + 1e-11), 660 * (1 - 1e-11) }, { 0, 0 }, { 22, 21, 20 } },
        { MINIMISE_TIME_TO_TRAIN, 0, { 600, 2400 }, { 168 * 57, 168 * 60 }, { 60, 59, 58, 57 } },
        { MINIMISE_ENERGY, 0, { 1740, 1800 }, { 168 * 10, 168 * 100 }, { 60, 59, 58 } },
        { MINIMISE_IPUS, 0, { 600, 930 }, { 0, 0 }, { 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20 } },
        { MINIMISE_TIME_TO_TRAIN, 0, { 600, 960 }, { 0, 0 }, { 32, 31, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20 } },
        { MINIMISE_TIME_TO_TRAIN, 0, { 30, 360 }, { 0, 0 }, { 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 } },
        { MINIMISE_TIME_TO_TRAIN, 0, { 30, 390 }, { 0, 0 }, { 13, 10, 8, 6, 5, 4, 3, 2, 1 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        size_t n = 0;
        toy_open(&t);
        t.q.objective = cases[i].o;
        t.q.throughput.high = cases[i].most_throughput;
        t.q.global_batch = cases[i].batch, t.q.tokens = cases[i].tokens;
        search_list_families(&t.s);
        while (cases[i].want[n])
            n++;
        assert_int_equal(t.s.n_families, n > 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(t.s.families[0].candidates[0].accumulations[k], cases[i].want[k]);
        if (n) {
            const struct search_family *f = &t.s.families[0];
            assert_true(f->n == 1 && f->candidates[0].n_accumulations == n && f->width == 2 && f->replicas == 8 && f->candidates[0].samples == 9e6);
        }
        toy_close(&t);
    }
}

/* The limit, then the powers of two below it, as long as replicas of so many IPUs fill them; no more IPUs a replica than blocks, or than half
 * of the most stages. One IPU needs no block. */
static void shapes_within_the_limits(void **state)
{
    static const struct { struct limit ipus; const char *width; uint32_t n_body, want[6]; } cases[] = {
        { { 3, 24 }, "2", 4, { 12, 8, 4, 2 } }, { { 2, 24 }, "2", 4, { 12, 8, 4, 2, 1 } }, { { 1, 24 }, "2", 4, { 12, 8, 4, 2, 1 } },
        { { 2, 21 }, "2", 4, { 8, 4, 2, 1 } }, { { 4, 16 }, "4", 4, { 4, 2, 1 } }, { { 16, 16 }, "1", 0, { 16 } }, { { 16, 16 }, "2", 1, { 0 } },
        { { 5, 5 }, "5", 4, { 0 } }, { { 5, 5 }, "5", 5, { 1 } }, { { 32, 64 }, "32", 1000, { 2, 1 } }, { { 33, 66 }, "33", 1000, { 0 } },
        { { 16, 16 }, "65", 1000, { 0 } }, { { 16, 16 }, "two", 1000, { 0 } }, { { 16, 16 }, NULL, 4, { 8 } },
        { { 1ull << 33, 1ull << 33 }, "1", 4, { 0 } }, { { UINT32_MAX, UINT32_MAX }, "1", 4, { UINT32_MAX } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        size_t n = 0;
        toy_open(&t);
        t.q.ipus = cases[i].ipus, t.q.global_batch = (struct limit){ 1, 1e15 };
        t.graph.n_body_layers = cases[i].n_body;
        if (cases[i].width)
            give(&t, KEY_WIDTH, "parallel.ipus_per_replica", cases[i].width, NULL);
        search_list_families(&t.s);
        while (n < 6 && cases[i].want[n])
            n++;
        assert_int_equal(t.s.n_families, n);
        for (size_t k = 0; k < n; k++)          /* more replicas have the better bound */
            assert_true(t.s.families[k].replicas == cases[i].want[k] && t.s.families[k].number == k);
        toy_close(&t);
    }
}

/* The formulas of candidates.h for n = 3 IPUs and G = 5 micro-batches of 17 forward and, where trained, 23 backward cycles; the heads have
 * 4, the longest layer 11, and forward work is at most 0.6 of any layer. */
static void least_cycles_by_hand(void **state)
{
    static const struct { uint32_t width; enum schedule schedule; double backward, accumulate, longest; bool recomputes; double want; } cases[] = {
        { 1, SCHEDULE_GROUPED, 23, 0, 11, true, 5 * 40 },               /* the only stage recomputes nothing */
        { 3, SCHEDULE_SEQUENTIAL, 23, 7, 11, false, 5 * 47 },
        { 3, SCHEDULE_NONE, 0, 0, 11, false, 5 * 17 },
        { 3, SCHEDULE_GROUPED, 23, 0, 11, false, 36 / 0.488 },          /* 1 - (4/5)^3 = 0.488; spread evenly 66.7 */
        { 3, SCHEDULE_POPART, 23, 0, 11, true, (57 - 4) / (0.488 + 0.12) },
        { 3, SCHEDULE_GROUPED, 23, 7, 29, false, 5 * 29 },
        { 3, SCHEDULE_GROUPED, 0, 0, 4, false, 5 * 17 / 3. },           /* 13 / 0.488 is less */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct search_graph g = { .forward_cycles = 17, .backward_cycles = cases[i].backward, .accumulate_cycles = cases[i].accumulate,
                                        .heads_cycles = 4, .longest_cycles = cases[i].longest, .forward_share = 0.6 };
        const struct search_family f = { .width = cases[i].width, .schedule = cases[i].schedule, .recomputes = cases[i].recomputes };
        struct search_candidate c = { .graph = &g, .accumulations = { 5 }, .n_accumulations = 1 };
        assert_near(search_least_cycles(&f, &c, 5), cases[i].want, 1e-8 * cases[i].want);
        c.accumulations[c.n_accumulations++] = 1;                       /* which accumulates nothing */
        assert_near(search_least_cycles(&f, &c, 5), cases[i].want - (cases[i].schedule == SCHEDULE_SEQUENTIAL ? 5 * 7 : 0), 1e-8 * cases[i].want);
    }
}

/* 80 micro-batches of 17 cycles on each of two IPUs: 680 spread evenly, which is more than 13 / (1 - (79/80)^2) and 80 x 5. */
static void bounds_by_hand(void **state)
{
    static const struct { enum objective o; double bound; } cases[] = {
        { MAXIMISE_THROUGHPUT, 30 * 80 / 0.680 }, { MINIMISE_TIME_TO_TRAIN, 9e6 / (30 * 80 / 0.680) },
        { MINIMISE_ENERGY, 9e6 / (30 * 80 / 0.680) * 50 * 16 }, { MINIMISE_IPUS, 16 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        toy_open(&t);
        t.q.objective = cases[i].o;
        t.q.global_batch = (struct limit){ 2400, 2400 };
        t.q.throughput = (struct limit){ 3000, 0 };
        search_list_families(&t.s);
        assert_int_equal(t.s.n_families, 1);
        const struct search_family *f = &t.s.families[0];
        assert_near(f->bound, cases[i].bound, 1e-8 * cases[i].bound);
        assert_true(f->bound == f->candidates[0].bound);
        assert_true(cases[i].o != MINIMISE_IPUS || (search_value(&t.s, f, f->candidates, 80, 800) == 16
                                                    && isinf(search_value(&t.s, f, f->candidates, 80, 801))));     /* 3000 samples/s */
        toy_close(&t);
    }
}

/* A family has its candidates by micro-batch, and the bound of its best one; those that are refused are left out. */
static void families_climb_by_micro_batch(void **state)
{
    struct toy t;
    (void)state;
    toy_open(&t);
    struct search_graph graphs[6] = { t.graph, t.graph, t.graph, t.graph, t.graph, t.graph };      /* three micro-batches, two shares of memory */
    static const double micro_batches[] = { 6, 3, 5 };
    for (int i = 0; i < 6; i++)
        graphs[i].micro_batch = micro_batches[i / 2];
    graphs[4].refused = true;
    graphs[3].longest_cycles = graphs[3].forward_cycles = 3;      /* the best of the second family */
    t.s.graphs = graphs, t.s.n_graphs = 6;
    give(&t, KEY_MICRO_BATCH, "parallel.micro_batch", "6", "3");
    t.s.dimensions[KEY_MICRO_BATCH].values[t.s.dimensions[KEY_MICRO_BATCH].n++] = "5";
    give(&t, KEY_MEMORY, "parallel.available_memory", "0.1", "0.2");
    t.q.global_batch = (struct limit){ 1, 1e15 };
    search_list_families(&t.s);
    assert_int_equal(t.s.n_families, 2);
    const struct search_family *best = &t.s.families[0], *other = &t.s.families[1];
    assert_true(best->number == 1 && other->number == 0 && best->n == 3 && other->n == 2);
    assert_true(best->candidates[0].graph == &graphs[3] && best->candidates[1].graph == &graphs[5] && best->candidates[2].graph == &graphs[1]);
    assert_true(other->candidates[0].graph == &graphs[2] && other->candidates[1].graph == &graphs[0]);
    for (int i = 0; i < 3; i++)
        assert_true(best->bound >= best->candidates[i].bound && other->bound >= other->candidates[i % 2].bound);
    toy_close(&t);
}

/* A throughput that is a billionth below the limit is enough, to the last bit. */
static void a_rate_that_is_just_enough(void **state)
{
    struct toy t;
    (void)state;
    toy_open(&t);
    const struct search_family f = { .width = 3, .tensor = 1, .replicas = 1 };
    const struct search_candidate c = { .graph = &t.graph };
    t.q.objective = MINIMISE_IPUS;
    t.q.throughput.low = 3000;
    t.s.samples_per_item = t.graph.micro_batch = 1;
    t.graph.clock_hz = 3000 * (1 - 1e-9);
    assert_true(search_value(&t.s, &f, &c, 1, 1) == 3);
    t.graph.clock_hz = nextafter(t.graph.clock_hz, 0);
    assert_true(isinf(search_value(&t.s, &f, &c, 1, 1)));
    toy_close(&t);
}

static const char *settings_of(const struct search_family *f, struct arena *a)
{
    const char *all = "";
    for (size_t i = 0; i < f->n_settings; i++)
        all = arena_printf(a, "%s%s ", all, strchr(f->settings[i], '.') + 1);
    return arena_printf(a, "%s%u x %u, %d %d", all, f->width, f->replicas, f->recomputes, f->schedule == SCHEDULE_SEQUENTIAL);
}

/* Two values each, the first key's the fastest to change. One IPU has nothing to schedule or to stash, so only the first value is tried. */
static void every_value_with_every_other(void **state)
{
    static const char *const want[] = {     /* recomputes, sequential */
        "recompute=none schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 1 x 4, 0 0",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 0 0",
        "recompute=layer schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 1 x 4, 1 0",
        "recompute=layer schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 1 0",
        "recompute=none schedule=sequential optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 0 1",
        "recompute=layer schedule=sequential optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 1 1",
        "recompute=none schedule=grouped optimizer_state=streaming rts=no stash_type=fp8 1 x 4, 0 0",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=yes stash_type=fp8 1 x 4, 0 0",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=yes stash_type=fp16 2 x 2, 0 0",
    };
    struct toy t;
    size_t seen[sizeof want / sizeof *want] = { 0 }, n = 0;
    (void)state;
    toy_open(&t);
    t.q.ipus = (struct limit){ 4, 4 }, t.q.global_batch = (struct limit){ 1, 1e15 };
    t.s.training = true;
    give(&t, KEY_WIDTH, "parallel.ipus_per_replica", "1", "2");
    give(&t, KEY_RECOMPUTE, "parallel.recompute", "none", "layer");
    give(&t, KEY_SCHEDULE, "parallel.schedule", "grouped", "sequential");
    give(&t, KEY_OPTIMIZER, "parallel.optimizer_state", "on-chip", "streaming");
    give(&t, KEY_SHARDING, "parallel.rts", "no", "yes");
    give(&t, KEY_STASH, "parallel.stash_type", "fp8", "fp16");
    search_list_families(&t.s);
    assert_int_equal(t.s.n_families, 2 * 2 * 2 + 2 * 2 * 2 * 2 * 2);
    for (size_t i = 0; i < t.s.n_families; i++)
        for (size_t k = 0; k < sizeof want / sizeof *want; k++)
            seen[k] += strcmp(settings_of(&t.s.families[i], &t.a), want[k]) == 0;
    while (n < sizeof want / sizeof *want && seen[n] == 1)
        n++;
    if (n < sizeof want / sizeof *want)
        print_error("%zu times: %s\n", seen[n], want[n]);
    assert_int_equal(n, sizeof want / sizeof *want);
    toy_close(&t);
}

/* Each micro-batch is compiled with each share and each number format; what is refused is counted. */
static void graphs_are_compiled_with_their_settings(void **state)
{
    static const char *const micro_batches[] = { "3", "5", "8", "0" };
    (void)state;
    for (int with_format = 0; with_format < 2; with_format++) {
        struct simulator by;
        struct search_result out = {0};
        struct arena a = {0};
        struct search_request q = { .recipe = "vendor-ipu-pod16-resnet50-pipelined", .n_given = with_format ? 3 : 2, .simulator = &by,
            .given = { { "parallel.micro_batch", { "3", "5", "8", "0" }, 4 }, { "parallel.available_memory", { "0.1", "0.3" }, 2 },
                       { "precision.partials", { "fp16", "fp32" }, 2 } } };
        struct search_state s = { .q = &q, .out = &out, .a = &a, .training = true };
        simulator_open(&by, &paths);
        simulator_pool_open(&s.pool, &paths, 1, (struct simulator_options){ .totals_only = true });
        search_settle_dimensions(&s);
        s.dimensions[KEY_IO_TILES].n = 0;
        search_compile(&s);
        size_t each = with_format ? 4 : 2;
        assert_int_equal(s.n_graphs, 4 * each);
        assert_int_equal(out.n_refused, each);
        for (size_t g = 0; g < s.n_graphs; g++) {
            const struct search_graph *x = &s.graphs[g];
            const char *const micro_batch = micro_batches[g / each];
            assert_int_equal(x->n_settings, with_format ? 3 : 2);
            assert_string_equal(x->settings[x->n_settings - 1], arena_printf(&a, "parallel.micro_batch=%s", micro_batch));
            assert_string_equal(x->settings[x->n_settings - 2], g / (each / 2) % 2 ? "parallel.available_memory=0.3" : "parallel.available_memory=0.1");
            assert_true(x->refused == (g >= 3 * each));
            assert_true(x->refused || (x->micro_batch == strtod(micro_batch, NULL) && x->n_body_layers > 3 && x->clock_hz > 1e9 && x->longest_cycles > 0));
        }
        simulator_pool_close(&s.pool);
        simulator_close(&by);
        arena_free(&a);
    }
}

/* Dimensions without values take the recipe's own and set nothing; an inference recomputes nothing. */
static void what_is_not_searched_is_the_recipes_own(void **state)
{
    struct toy t;
    (void)state;
    for (int training = 0; training < 2; training++) {
        toy_open(&t);
        t.s.training = training;
        t.s.recipe.recompute = RECOMPUTE_STAGE;
        t.s.recipe.schedule = SCHEDULE_SEQUENTIAL;
        search_list_families(&t.s);
        assert_int_equal(t.s.n_families, 1);
        assert_string_equal(settings_of(&t.s.families[0], &t.a), training ? "2 x 8, 1 1" : "2 x 8, 0 1");
        give(&t, KEY_RECOMPUTE, "parallel.recompute", "none", NULL);
        t.s.n_families = 0;
        search_list_families(&t.s);
        assert_true(!t.s.families[0].recomputes);
        t.s.n_families = 0, t.graph.refused = true;
        search_list_families(&t.s);
        assert_int_equal(t.s.n_families, 0);
        toy_close(&t);
    }
}

/* ---- what is tried ----------------------------------------------------------------------------------------------- */

static const char *values_of(const struct dimension *d, struct arena *a)
{
    const char *all = "";
    for (size_t i = 0; i < d->n; i++)
        all = arena_printf(a, "%s%s%s", all, i ? " " : "", d->values[i]);
    return all;
}

/* The values for a recipe that has none of its own, and whose framework can run all schedules. */
static void usual_values(void **state)
{
    static const char *const want[N_USUAL] = {
        [KEY_MICRO_BATCH] = "1 2 3 4 6 8 12 16 20 24 32 48", [KEY_MEMORY] = "0.03 0.06 0.09 0.12 0.15 0.2 0.25 0.3 0.4 0.6", [KEY_IO_TILES] = "0 32", [KEY_WIDTH] = "1 2 4 8 16",
        [KEY_RECOMPUTE] = "none stage layer", [KEY_SCHEDULE] = "popart grouped interleaved sequential", [KEY_OPTIMIZER] = "on-chip streaming", [KEY_SHARDING] = "no yes",
        [KEY_STASH] = "", [KEY_TENSOR] = "", [KEY_WEIGHTS] = "",       /* the recipe has neither */
    };
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    t.s.training = true;
    t.s.framework.schedules = "popart,grouped,interleaved,sequential";
    search_settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL);
    for (size_t i = 0; i < N_USUAL; i++)
        assert_string_equal(values_of(&t.s.dimensions[i], &t.a), want[i]);
    toy_close(&t);
}

/* The usual values and the recipe's own, but for a list of them; of the schedules those that its framework can run, in the usual order. A key that
 * is set is not searched; values that are given replace the usual ones, and may be of any key. */
static void values_that_are_tried(void **state)
{
    static const char *const want[N_USUAL + 1] = {
        [KEY_MICRO_BATCH] = "1 2 3 4 6 8 12 16 20 24 32 48 5", [KEY_MEMORY] = "0.03 0.06 0.09 0.12 0.15 0.2 0.25 0.3 0.4 0.6", [KEY_IO_TILES] = "72 80",
        [KEY_WIDTH] = "4", [KEY_RECOMPUTE] = "none stage layer", [KEY_SCHEDULE] = "grouped interleaved", [KEY_OPTIMIZER] = "on-chip streaming", [KEY_SHARDING] = "",
        [KEY_STASH] = "", [KEY_TENSOR] = "1 2 4 8 16 4x4 8x8", [KEY_WEIGHTS] = "on-chip streaming", [N_USUAL] = "9 11",
    };
    struct ini_entry entries[] = { { "parallels", "micro_batch", "7", 1, 0 }, { "parallel", "micro_batch", "5", 2, 0 }, { "parallel", "available_memory", "0.1,0.2", 3, 0 },
                                   { "parallel", "ipus_per_replica", "4", 4, 0 }, { "parallel", "recompute", "stage", 5, 0 }, { "parallel", "tensor_parallel", "4", 6, 0 },
                                   { "parallel", "weights", "streaming", 7, 0 } };
    const char *const sets[] = { "parallel.io_tiles=72", "parallel.ipus_per_replica=4", "parallel.rts=yes" };
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    t.s.training = true;
    t.s.framework.schedules = "interleaved,grouped";
    t.s.recipe.entries = entries, t.s.recipe.n_entries = sizeof entries / sizeof *entries;
    t.q.sets = sets, t.q.n_sets = 3, t.q.n_given = 2;
    t.q.given[0] = (struct dimension){ "parallel.io_tiles", { "72", "80" }, 2 };
    t.q.given[1] = (struct dimension){ "precision.partials", { "9", "11" }, 2 };
    search_settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL + 1);
    for (size_t i = 0; i <= N_USUAL; i++)
        assert_string_equal(values_of(&t.s.dimensions[i], &t.a), want[i]);
    assert_string_equal(t.s.dimensions[N_USUAL].key, "precision.partials");
    assert_true(search_is_set(&t.q, "parallel.rts") && !search_is_set(&t.q, "parallel.r") && !search_is_set(&t.q, "parallel.rts_domain"));
    t.s.n_dimensions = 0;                       /* inference has its own schedule */
    t.s.training = false;
    search_settle_dimensions(&t.s);
    assert_string_equal(values_of(&t.s.dimensions[KEY_SCHEDULE], &t.a), "");
    toy_close(&t);
}

/* As many keys as may be given, in addition to the usual ones. */
static void every_key_that_is_given_is_tried(void **state)
{
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    for (size_t i = 0; i < MAX_DIMENSIONS; i++)
        t.q.given[t.q.n_given++] = (struct dimension){ arena_printf(&t.a, "optimizer.key%zu", i), { "5", "7", "11" }, 3 };
    search_settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL + MAX_DIMENSIONS);
    for (size_t i = 0; i < MAX_DIMENSIONS; i++) {
        assert_string_equal(t.s.dimensions[N_USUAL + i].key, t.q.given[i].key);
        assert_string_equal(values_of(&t.s.dimensions[N_USUAL + i], &t.a), "5 7 11");
    }
    toy_close(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(accumulations_within_the_limits), cmocka_unit_test(shapes_within_the_limits), cmocka_unit_test(least_cycles_by_hand),
    cmocka_unit_test(bounds_by_hand), cmocka_unit_test(families_climb_by_micro_batch), cmocka_unit_test(a_rate_that_is_just_enough),
    cmocka_unit_test(every_value_with_every_other), cmocka_unit_test(graphs_are_compiled_with_their_settings),
    cmocka_unit_test(what_is_not_searched_is_the_recipes_own), cmocka_unit_test(usual_values), cmocka_unit_test(values_that_are_tried),
    cmocka_unit_test(every_key_that_is_given_is_tried),
};
TAP_MAIN(tests)
