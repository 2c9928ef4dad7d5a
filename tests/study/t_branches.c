/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_branches.c - what a search tries, and its bounds, of a model small enough for paper.
 */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/branches.h"

/* ---- a stem, four blocks and heads ----------------------------------------------------------------------------- */

/* 17 cycles of a micro-batch of 3, at 1 kHz; 1.25 samples an item, 7 tokens an item. */
enum { N_LAYERS = 6 };
struct toy {
    struct layer layers[N_LAYERS];
    struct layer_cost costs[N_LAYERS];
    struct graph g;
    struct compiled_graph compiled;
    struct search_request q;
    struct search_result out;
    struct arena a;
    struct state s;
};

static void toy_open(struct toy *t)
{
    static const uint64_t cycles[N_LAYERS] = { 4, 3, 1, 2, 5, 2 };
    memset(t, 0, sizeof *t);
    for (int i = 0; i < N_LAYERS; i++) {
        t->layers[i] = (struct layer){ .role = i == 0 ? LAYER_FIRST : i + 1 < N_LAYERS ? LAYER_BODY : LAYER_LAST, .n_parts = 1 };
        t->costs[i].forward_cycles = cycles[i];
    }
    t->g = (struct graph){ .layers = t->layers, .n_layers = N_LAYERS };
    t->compiled = (struct compiled_graph){ .usable = true, .micro_batch = 3, .clock_hz = 1000, .state_bytes_per_param = 24,
        .work = { .graph = &t->g, .layers = t->costs, .n_layers = N_LAYERS, .first_body = 1, .n_body = 4, .n_tiles = 1, .tile_bytes = 1000 } };
    t->q = (struct search_request){ .ipus = { 16, 16 }, .global_batch = { 600, 2400 } };
    t->s = (struct state){ .q = &t->q, .out = &t->out, .a = &t->a, .samples_per_item = 1.25, .samples = 9e6, .power_w = 50,
        .n_dimensions = N_USUAL, .graphs = &t->compiled, .n_graphs = 1, .own = { .schedule = SCHEDULE_GROUPED, .stash_is_known = true } };
    t->s.recipe.model.sequence_length = 7;
    t->s.recipe.ipus_per_replica = 2;
}

static void toy_close(struct toy *t)
{
    arena_free(&t->a);
}

static void give(struct toy *t, size_t dimension, const char *key, const char *first, const char *second)
{
    t->s.dimensions[dimension] = (struct dimension){ key, { first, second }, second ? 2 : 1 };
}

/* Of 16 IPUs 8 replicas of two: 3 x 8 x 1.25 = 30 samples and 3 x 8 x 7 = 168 tokens a micro-batch of all. By throughput the most, and one
 * where that is allowed; else each of up to twelve, the most first, or twelve in proportion, none twice. */
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
        list_branches(&t.s);
        while (cases[i].want[n])
            n++;
        assert_int_equal(t.s.n_branches, n > 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(t.s.branches[0].accumulations[k], cases[i].want[k]);
        if (n) {
            const struct branch *b = &t.s.branches[0];
            assert_true(b->n_accumulations == n && b->width == 2 && b->replicas == 8 && b->samples == 9e6);
            assert_true(b->rules.grad_accum == cases[i].want[0] && b->rules.accumulates == (cases[i].want[n - 1] > 1) && b->rules.keeps_gradients);
        }
        toy_close(&t);
    }
}

/* The limit, then the powers of two below it, as long as replicas of so many IPUs fill them; no more IPUs a replica than blocks, or than half
 * of all stages that there may be. One IPU needs no block. */
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
        t.compiled.work.n_body = cases[i].n_body;
        if (cases[i].width)
            give(&t, WIDTH, "parallel.ipus_per_replica", cases[i].width, NULL);
        list_branches(&t.s);
        while (n < 6 && cases[i].want[n])
            n++;
        assert_int_equal(t.s.n_branches, n);
        for (size_t k = 0; k < n; k++) {        /* more replicas are the better bound */
            assert_int_equal(t.s.branches[k].replicas, cases[i].want[k]);
            assert_true(t.s.branches[k].rules.keeps_gradients == (cases[i].want[k] > 1));      /* a batch of one micro-batch each may be tried */
            assert_int_equal(t.s.branches[k].number, k);
        }
        toy_close(&t);
    }
}

/* 80 micro-batches of 8 cycles, half of 17, on each of two IPUs are 640; what the host takes on top, and what fits, make it longer. */
static void bounds_by_hand(void **state)
{
    static const struct { enum objective o; double bound, later; } cases[] = {
        { MAXIMISE_THROUGHPUT, 30 * 80 / 0.640, 30 * 80 / 0.865 }, { MINIMISE_TIME_TO_TRAIN, 9e6 / (30 * 80 / 0.640), 9e6 / (30 * 80 / 0.865) },
        { MINIMISE_ENERGY, 9e6 / (30 * 80 / 0.640) * 50 * 16, 9e6 / (30 * 80 / 0.865) * 50 * 16 }, { MINIMISE_IPUS, 16, INFINITY },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        toy_open(&t);
        t.q.objective = cases[i].o;
        t.q.global_batch = (struct limit){ 2400, 2400 };
        t.q.throughput = (struct limit){ 3000, 0 };
        list_branches(&t.s);
        assert_int_equal(t.s.n_branches, 1);
        struct branch *b = &t.s.branches[0];
        assert_near(b->bound, cases[i].bound, 1e-9 * cases[i].bound);
        b->least_cycles = 700, b->rules.each_cycles = 2, b->rules.once_cycles = 5;
        set_bound(&t.s, b);
        assert_true(isinf(cases[i].later) ? isinf(b->bound) : fabs(b->bound / cases[i].later - 1) < 1e-9);
        b->least_cycles = 3;                    /* what takes less than any layout says nothing: 80 x (8 + 2) + 5 */
        set_bound(&t.s, b);
        assert_true(b->bound == bound_of(&t.s, b, 80, 805));
        assert_true(cases[i].o != MINIMISE_IPUS || (bound_of(&t.s, b, 80, 800) == 16 && isinf(bound_of(&t.s, b, 80, 801))));    /* 3000 samples/s */
        toy_close(&t);
    }
}

/* To the last bit: a billionth less than is wanted is enough. */
static void a_rate_that_is_just_enough(void **state)
{
    struct toy t;
    (void)state;
    toy_open(&t);
    struct branch b = { .graph = &t.compiled, .width = 3, .replicas = 1 };
    t.q.objective = MINIMISE_IPUS;
    t.q.throughput.low = 3000;
    t.s.samples_per_item = t.compiled.micro_batch = 1;
    t.compiled.clock_hz = 3000 * (1 - 1e-9);
    assert_true(bound_of(&t.s, &b, 1, 1) == 3);
    t.compiled.clock_hz = nextafter(t.compiled.clock_hz, 0);
    assert_true(isinf(bound_of(&t.s, &b, 1, 1)));
    toy_close(&t);
}

static void the_better_bound_comes_first(void **state)
{
    static const struct search_request fastest = { .objective = MAXIMISE_THROUGHPUT }, soonest = { .objective = MINIMISE_TIME_TO_TRAIN };
    struct state s = { .q = &fastest };
    struct branch a = { .bound = 7, .number = 5 }, b = { .bound = 9, .number = 2 }, c = { .bound = 7, .number = 6 };
    (void)state;
    assert_true(by_bound(&b, &a, &s) < 0 && by_bound(&a, &b, &s) > 0);
    assert_true(by_bound(&a, &c, &s) < 0 && by_bound(&c, &a, &s) > 0);
    s.q = &soonest;
    assert_true(by_bound(&a, &b, &s) < 0 && by_bound(&b, &a, &s) > 0);
    assert_true(by_bound(&a, &c, &s) < 0 && by_bound(&c, &a, &s) > 0);
}

static const char *settings_of(const struct branch *b, struct arena *a)
{
    const char *all = "";
    for (size_t i = 0; i < b->n_settings; i++)
        all = arena_printf(a, "%s%s ", all, strchr(b->settings[i], '.') + 1);
    return arena_printf(a, "%s%u x %u, %d %d %d %d %g", all, b->width, b->replicas, b->rules.recompute == RECOMPUTE_LAYER, b->rules.schedule == SCHEDULE_SEQUENTIAL,
                        b->rules.stash_is_known, b->rules.half_stash, b->rules.state_bytes_per_param);
}

/* Two values each, the first key's the fastest to change. On one IPU there is nothing to schedule or to stash: the first value stands for both.
 * 24 bytes of state a parameter on the chip, shared by the replicas where it is sharded. */
static void every_value_with_every_other(void **state)
{
    static const char *const want[] = {     /* recomputed by layers, sequential, stash known, half of it, state */
        "recompute=none schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 1 x 4, 0 0 0 1 24",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 0 0 0 1 24",
        "recompute=layer schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 1 x 4, 1 0 0 1 24",
        "recompute=layer schedule=grouped optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 1 0 0 1 24",
        "recompute=none schedule=sequential optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 0 1 0 1 24",
        "recompute=layer schedule=sequential optimizer_state=on-chip rts=no stash_type=fp8 2 x 2, 1 1 0 1 24",
        "recompute=none schedule=grouped optimizer_state=streaming rts=no stash_type=fp8 1 x 4, 0 0 0 1 0",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=yes stash_type=fp8 1 x 4, 0 0 0 1 6",
        "recompute=none schedule=grouped optimizer_state=on-chip rts=yes stash_type=fp8 2 x 2, 0 0 0 1 12",
    };
    struct toy t;
    size_t seen[sizeof want / sizeof *want] = { 0 }, n = 0;
    (void)state;
    toy_open(&t);
    t.q.ipus = (struct limit){ 4, 4 }, t.q.global_batch = (struct limit){ 1, 1e15 };
    t.s.own.training = true;
    give(&t, WIDTH, "parallel.ipus_per_replica", "1", "2");
    give(&t, RECOMPUTE, "parallel.recompute", "none", "layer");
    give(&t, SCHEDULE, "parallel.schedule", "grouped", "sequential");
    give(&t, OPTIMIZER, "parallel.optimizer_state", "on-chip", "streaming");
    give(&t, SHARDING, "parallel.rts", "no", "yes");
    give(&t, STASH, "parallel.stash_type", "fp8", "fp16");
    list_branches(&t.s);
    assert_int_equal(t.s.n_branches, 2 * 2 * 2 + 2 * 2 * 2 * 2 * 2);
    for (size_t i = 0; i < t.s.n_branches; i++)
        for (size_t k = 0; k < sizeof want / sizeof *want; k++)
            seen[k] += strcmp(settings_of(&t.s.branches[i], &t.a), want[k]) == 0;
    while (n < sizeof want / sizeof *want && seen[n] == 1)
        n++;
    if (n < sizeof want / sizeof *want)
        print_error("%zu times: %s\n", seen[n], want[n]);
    assert_int_equal(n, sizeof want / sizeof *want);
    toy_close(&t);
}

/* Each micro-batch with each share and each number format is compiled as it is said; what is refused is counted; where one layer's
 * activations alone fill a tile, no share of that micro-batch is tried, unless another key may make them smaller. */
static void graphs_are_compiled_as_they_are_said(void **state)
{
    static const char *const micro_batches[] = { "3", "5", "4000", "0" };
    (void)state;
    for (int with_format = 0; with_format < 2; with_format++) {
        struct simulator by;
        struct search_result out = {0};
        struct arena a = {0};
        struct search_request q = { .recipe = "vendor-ipu-pod16-resnet50-pipelined", .n_given = with_format ? 3 : 2, .simulator = &by,
            .given = { { "parallel.micro_batch", { "3", "5", "4000", "0" }, 4 }, { "parallel.available_memory", { "0.1", "0.3" }, 2 },
                       { "precision.partials", { "fp16", "fp32" }, 2 } } };
        struct state s = { .q = &q, .out = &out, .a = &a, .own = { .training = true } };
        simulator_open(&by, &paths);
        crew_open(&s.crew, &paths, 1, (struct simulator_options){ .totals_only = true });
        settle_dimensions(&s);
        s.dimensions[IO_TILES].n = 0;
        compile_graphs(&s);
        size_t each = with_format ? 4 : 2;
        assert_int_equal(s.n_graphs, 4 * each);
        assert_int_equal(out.n_refused, each);
        for (size_t g = 0; g < s.n_graphs; g++) {
            const struct compiled_graph *x = &s.graphs[g];
            const char *const micro_batch = micro_batches[g / each];
            assert_int_equal(x->n_settings, with_format ? 3 : 2);
            assert_string_equal(x->settings[x->n_settings - 1], arena_printf(&a, "parallel.micro_batch=%s", micro_batch));
            assert_string_equal(x->settings[x->n_settings - 2], g / (each / 2) % 2 ? "parallel.available_memory=0.3" : "parallel.available_memory=0.1");
            assert_true(x->usable == (g < 2 * each) && x->refused == (g >= 3 * each));
            assert_true(x->hopeless == (g / each == 2 && (with_format || g % each == 0)));     /* the others of it are not tried */
            assert_true(!x->usable || (x->micro_batch == (g < each ? 3 : 5) && x->work.n_layers > 3 && x->clock_hz > 1e9 && x->state_bytes_per_param > 0));
            arena_free(&s.graphs[g].arena);
        }
        crew_close(&s.crew);
        simulator_close(&by);
        arena_free(&a);
    }
}

/* Without values a branch has the recipe's own, in its rules and in no setting; what only infers keeps and recomputes nothing. */
static void what_is_not_searched_is_as_it_was(void **state)
{
    struct toy t;
    (void)state;
    for (int training = 0; training < 2; training++) {
        toy_open(&t);
        t.s.own = (struct layout_rules){ .training = training, .recompute = RECOMPUTE_STAGE, .schedule = SCHEDULE_INTERLEAVED, .half_stash = true };
        t.s.recipe.rts = RTS_YES;
        list_branches(&t.s);
        assert_int_equal(t.s.n_branches, 1);
        assert_string_equal(settings_of(&t.s.branches[0], &t.a), training ? "2 x 8, 0 0 0 1 3" : "2 x 8, 0 0 0 1 0");
        assert_int_equal(t.s.branches[0].rules.recompute, RECOMPUTE_STAGE);
        assert_int_equal(t.s.branches[0].rules.schedule, SCHEDULE_INTERLEAVED);
        give(&t, RECOMPUTE, "parallel.recompute", "layer", NULL);
        t.s.n_branches = 0, t.s.recipe.rts = RTS_NO;
        list_branches(&t.s);
        assert_int_equal(t.s.branches[0].rules.recompute, training ? RECOMPUTE_LAYER : RECOMPUTE_NONE);
        assert_near(t.s.branches[0].rules.state_bytes_per_param, training ? 24 : 0, 0);
        t.s.n_branches = 0, t.compiled.usable = false;
        list_branches(&t.s);
        assert_int_equal(t.s.n_branches, 0);
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

/* Of a recipe that has none of its own, and whose framework can run them all. */
static void usual_values(void **state)
{
    static const char *const want[N_USUAL] = {
        [MICRO_BATCH] = "1 2 3 4 6 8 12 16 20 24 32 48", [MEMORY] = "0.03 0.06 0.09 0.12 0.15 0.2 0.25 0.3 0.4 0.6", [IO_TILES] = "0 32", [WIDTH] = "1 2 4 8 16",
        [RECOMPUTE] = "none stage layer", [SCHEDULE] = "popart grouped interleaved sequential", [OPTIMIZER] = "on-chip streaming", [SHARDING] = "no yes",
        [STASH] = "",
    };
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    t.s.own.training = true;
    t.s.framework.schedules = "popart,grouped,interleaved,sequential";
    settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL);
    for (size_t i = 0; i < N_USUAL; i++)
        assert_string_equal(values_of(&t.s.dimensions[i], &t.a), want[i]);
    toy_close(&t);
}

/* The usual values and the recipe's own, but for a list of them; of the schedules those that its framework can run, in the usual order. What is
 * set is not searched; what is given is all that is tried, be the key usual or not. */
static void values_that_are_tried(void **state)
{
    static const char *const want[N_USUAL + 1] = {
        [MICRO_BATCH] = "1 2 3 4 6 8 12 16 20 24 32 48 5", [MEMORY] = "0.03 0.06 0.09 0.12 0.15 0.2 0.25 0.3 0.4 0.6", [IO_TILES] = "72 80",
        [WIDTH] = "4", [RECOMPUTE] = "none stage layer", [SCHEDULE] = "grouped interleaved", [OPTIMIZER] = "on-chip streaming", [SHARDING] = "",
        [STASH] = "", [N_USUAL] = "9 11",
    };
    struct ini_entry entries[] = { { "parallels", "micro_batch", "7", 1 }, { "parallel", "micro_batch", "5", 2 }, { "parallel", "available_memory", "0.1,0.2", 3 },
                                   { "parallel", "ipus_per_replica", "4", 4 }, { "parallel", "recompute", "stage", 5 } };
    const char *const sets[] = { "parallel.io_tiles=72", "parallel.ipus_per_replica=4", "parallel.rts=yes" };
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    t.s.own.training = true;
    t.s.framework.schedules = "interleaved,grouped";
    t.s.recipe.entries = entries, t.s.recipe.n_entries = sizeof entries / sizeof *entries;
    t.q.sets = sets, t.q.n_sets = 3, t.q.n_given = 2;
    t.q.given[0] = (struct dimension){ "parallel.io_tiles", { "72", "80" }, 2 };
    t.q.given[1] = (struct dimension){ "precision.partials", { "9", "11" }, 2 };
    settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL + 1);
    for (size_t i = 0; i <= N_USUAL; i++)
        assert_string_equal(values_of(&t.s.dimensions[i], &t.a), want[i]);
    assert_string_equal(t.s.dimensions[N_USUAL].key, "precision.partials");
    assert_true(is_set(&t.q, "parallel.rts") && !is_set(&t.q, "parallel.r") && !is_set(&t.q, "parallel.rts_domain"));
    t.s.n_dimensions = 0;                       /* what only infers has its own schedule */
    t.s.own.training = false;
    settle_dimensions(&t.s);
    assert_string_equal(values_of(&t.s.dimensions[SCHEDULE], &t.a), "");
    toy_close(&t);
}

/* As many as may be given, beside the usual ones. */
static void every_key_that_is_given_is_tried(void **state)
{
    struct toy t;
    (void)state;
    toy_open(&t);
    t.s.n_dimensions = 0;
    for (size_t i = 0; i < MAX_DIMENSIONS; i++)
        t.q.given[t.q.n_given++] = (struct dimension){ arena_printf(&t.a, "optimizer.key%zu", i), { "5", "7", "11" }, 3 };
    settle_dimensions(&t.s);
    assert_int_equal(t.s.n_dimensions, N_USUAL + MAX_DIMENSIONS);
    for (size_t i = 0; i < MAX_DIMENSIONS; i++) {
        assert_string_equal(t.s.dimensions[N_USUAL + i].key, t.q.given[i].key);
        assert_string_equal(values_of(&t.s.dimensions[N_USUAL + i], &t.a), "5 7 11");
    }
    toy_close(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(accumulations_within_the_limits), cmocka_unit_test(shapes_within_the_limits), cmocka_unit_test(bounds_by_hand),
    cmocka_unit_test(a_rate_that_is_just_enough), cmocka_unit_test(the_better_bound_comes_first), cmocka_unit_test(every_value_with_every_other), cmocka_unit_test(what_is_not_searched_is_as_it_was), cmocka_unit_test(graphs_are_compiled_as_they_are_said),
    cmocka_unit_test(values_that_are_tried), cmocka_unit_test(every_key_that_is_given_is_tried), cmocka_unit_test(usual_values),
};
TAP_MAIN(tests)
