/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan_cache.c - plans are made once for a shape, a chip and a set of options, and once for operations alike, and never mixed up.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/compiler.h"
#include "system-model/compiler/conv.h"

static const struct op_plan_options options = { .partials = PARTIALS_FP16, .available_memory = 0.6 };

static struct op_plan cached(struct plan_cache *c, uint32_t rows, const struct chip *chip, const struct op_plan_options *opt)
{
    struct conv_shape s = matmul_conv_shape(1, 50, 40, rows, TYPE_FP16, PASS_FORWARD);
    struct op_plan p;
    cached_conv_plan(&p, &s, chip, opt, c);
    return p;
}

static void test_hit_is_the_same_plan(void **state)
{
    (void)state;
    struct plan_cache c = { 0 };
    struct chip chip = small_chip(7);
    struct op_plan first = cached(&c, 13, &chip, &options), again = cached(&c, 13, &chip, &options);
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(c.misses, 1);
    assert_int_equal(c.hits, 1);
    plan_cache_free(&c);
    assert_int_equal(c.hits, 0);
}

/* Halves and floats are multiplied by every chip, quarters where the sheet has a rate. */
static void test_what_a_chip_multiplies(void **state)
{
    (void)state;
    struct chip halves = small_chip(7), quarters = halves;
    struct err err = { "" };
    quarters.mac_fp8_per_cycle = 1;
    assert_true(chip_multiplies(&halves, TYPE_FP16, "here", &err) && chip_multiplies(&halves, TYPE_FP32, "here", &err));
    assert_true(chip_multiplies(&quarters, TYPE_FP8, "here", &err));
    assert_false(chip_multiplies(&halves, TYPE_FP8, "here", &err));
    assert_string_equal(err.msg, "here: fp8, but small multiplies no 8-bit floats (mac_fp8_per_cycle is 0 on its sheet); want fp16, or a chip that does, "
                                 "such as c600");
}

/* Each of these must not find the plan of the plain case. */
static void test_what_is_part_of_the_key(void **state)
{
    (void)state;
    struct plan_cache c = { 0 };
    struct chip chip = small_chip(7), other;
    cached(&c, 13, &chip, &options);
    cached(&c, 14, &chip, &options);
    other = chip; other.n_tiles = 8;                      cached(&c, 13, &other, &options);
    other = chip; other.on_chip_sync_cycles = 102;        cached(&c, 13, &other, &options);
    other = chip; other.compute_set_cycles = 3;           cached(&c, 13, &other, &options);
    other = chip; other.exchange_efficiency = 0.9;        cached(&c, 13, &other, &options);
    other = chip; other.amp_efficiency = 0.9;             cached(&c, 13, &other, &options);
    other = chip; other.tile_memory_bytes = 300001;       cached(&c, 13, &other, &options);
    struct op_plan_options opt = options;
    opt.partials = PARTIALS_FP32;                         cached(&c, 13, &chip, &opt);
    opt = options; opt.n_tiles = 6;                       cached(&c, 13, &chip, &opt);
    assert_int_equal(c.misses, 10);
    assert_int_equal(c.hits, 0);
    other = chip; other.clock_hz = 1;                     cached(&c, 13, &other, &options);     /* cycles know no clock */
    opt = options; opt.inference = true;                  cached(&c, 13, &chip, &opt);          /* nor whether anything is trained */
    assert_int_equal(c.misses, 10);
    assert_int_equal(c.hits, 2);
    plan_cache_free(&c);
}

/* A plan that is found for a chip is the one that a search for it would find, whichever value of the chip's sheet was changed. */
static void test_every_value_of_a_chip(void **state)
{
    (void)state;
    struct plan_cache c = { 0 };
    struct arena a = { 0 };
    struct machine plain, other;
    struct err err;
    uint32_t n_changed = 0;
    assert_true(machine_load(&plain, "gc200", "system-model/specs", &a, &err));
    for (size_t i = 0; machine_key(i); i++) {
        const struct sheet_row *row = machine_row(&plain, machine_key(i), NULL);
        double value;
        if (!row || !parse_f64(row->value, &value))
            continue;
        const char *set = arena_printf(&a, SHEET_OVERRIDE_SECTION ".%s=%.10g", row->key, value > 10 ? floor(0.75 * value) : 0.75 * value), **rest;
        struct sheet_overrides changes;
        size_t n;
        assert_true(sheet_overrides_split(&changes, &rest, &n, &set, 1, &a, &err));
        if (!machine_load_changed(&other, "gc200", "system-model/specs", &changes, &a, &err))
            continue;
        n_changed++;
        for (uint32_t rows = 130; rows < 1200; rows += 370) {
            struct op_plan_options opt = { .partials = PARTIALS_FP32, .available_memory = 0.3, .n_tiles = other.chip.n_tiles };
            struct plan_cache own = { 0 };
            struct op_plan known = cached(&c, rows, &other.chip, &opt), found = cached(&own, rows, &other.chip, &opt);
            assert_memory_equal(&known, &found, sizeof found);
            plan_cache_free(&own);
        }
    }
    assert_true(n_changed > 20 && c.misses > 3);
    plan_cache_free(&c);
    arena_free(&a);
}

/* A plan is known for every bound on its memory for which a search would choose it, and for no other: in whatever
 * order bounds are asked for, each has the plan of a search of its own; and a third and more of them have that of another. */
static void test_bounds_share_a_plan(void **state)
{
    (void)state;
    enum { N_BOUNDS = 60, N_SHAPES = 5 };
    struct chip chip = small_chip(37);
    struct arena a = { 0 };
    struct graph g;
    uint64_t n_searches[2] = { 0, 0 };
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    for (uint64_t i = 0; i < N_SHAPES; i++) {       /* a layer that is trained, and a product of two activations */
        uint32_t x = graph_tensor(&g, "x", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 40 + 490 * i, 300 });
        uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 300, 50 });
        uint32_t y = graph_tensor(&g, "y", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 300, 70 });
        graph_op(&g, OP_MATMUL, (uint32_t[]){ x, w }, 2, (struct op_attributes){ 0 });
        graph_op(&g, OP_MATMUL, (uint32_t[]){ x, y }, 2, (struct op_attributes){ 0 });
    }
    for (int falling = 0; falling < 2; falling++) {
        struct plan_cache c = { 0 };
        for (int i = 1; i <= N_BOUNDS; i++)
            for (uint32_t op = 0; op < g.n_ops; op++) {
                struct op_plan_options opt = options;
                struct plan_cache own = { 0 };
                struct op_plan shared, alone;
                opt.available_memory = 0.01 * (falling ? N_BOUNDS + 1 - i : i);
                op_plan_build(&shared, &g, op, even_operands, &chip, &opt, &c);
                op_plan_build(&alone, &g, op, even_operands, &chip, &opt, &own);
                assert_memory_equal(&shared, &alone, sizeof alone);
                plan_cache_free(&own);
            }
        n_searches[falling] = c.misses;
        plan_cache_free(&c);
    }
    assert_true(n_searches[1] > 2 * g.n_ops && 3 * n_searches[1] < 2 * n_searches[0] && n_searches[0] < g.n_ops * N_BOUNDS * 9 / 10);
    arena_free(&a);
}

/* All of 700 shapes are found again, unchanged. */
static void test_many_shapes(void **state)
{
    (void)state;
    struct plan_cache c = { 0 };
    struct chip chip = small_chip(3);
    uint64_t sum = 0;
    for (uint32_t rows = 1; rows <= 700; rows++)
        sum += op_plan_cycles(&(struct op_plan[]){ cached(&c, rows, &chip, &options) }[0]);
    assert_int_equal(c.misses, 700);
    assert_int_equal(c.plans.n, 700);
    for (uint32_t rows = 1; rows <= 700; rows++)
        sum -= op_plan_cycles(&(struct op_plan[]){ cached(&c, rows, &chip, &options) }[0]);
    assert_int_equal(sum, 0);
    assert_int_equal(c.hits, 700);
    plan_cache_free(&c);
}

/* Three passes of one layer: one search. A layer cut in five by the user: five times a fifth. */
static void test_graph_passes_share_a_search(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct plan_cache c = { 0 };
    struct chip chip = small_chip(7);
    struct graph g;
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    uint32_t in[2] = { graph_tensor(&g, "x", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 13, 40 }),
                       graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 40, 50 }) };
    graph_op(&g, OP_MATMUL, in, 2, (struct op_attributes){ 0 });
    graph_op(&g, OP_MATMUL, in, 2, (struct op_attributes){ .serial_steps = 5 });
    struct op_plan whole, steps;
    op_plan_build(&whole, &g, 0, even_operands, &chip, &options, &c);
    op_plan_build(&whole, &g, 0, even_operands, &chip, &options, &c);
    assert_int_equal(c.misses, 1);
    op_plan_build(&steps, &g, 1, even_operands, &chip, &options, &c);
    assert_int_equal(c.misses, 2);
    assert_int_equal(steps.mac, 13 * 40 * 50);
    assert_int_equal(steps.n_supersteps % 5, 0);
    assert_true(op_plan_cycles(&steps) > op_plan_cycles(&whole));
    plan_cache_free(&c);
    arena_free(&a);
}

/* Splits of another chip are searched there first, once, and priced here as plans of their own. The order of requests
 * does not matter. */
static void test_splits_of_another_chip(void **state)
{
    (void)state;
    struct plan_cache c = { 0 }, d = { 0 };
    struct chip chip = small_chip(7), slow = chip;
    slow.exchange_efficiency = 0.02;
    struct op_plan_options as = options, own = options;
    as.splits_of = &chip;
    own.splits_of = &slow;
    struct op_plan priced = cached(&c, 130, &slow, &as);
    assert_int_equal(c.misses, 2);
    struct op_plan there = cached(&c, 130, &chip, &options), best = cached(&c, 130, &slow, &options), again = cached(&c, 130, &slow, &as);
    assert_int_equal(c.misses, 3);
    assert_memory_equal(&again, &priced, sizeof again);
    assert_memory_equal(&priced.split, &there.split, sizeof there.split);
    assert_true(memcmp(&priced.split, &best.split, sizeof best.split) != 0 && op_plan_cycles(&best) < op_plan_cycles(&priced));
    struct op_plan same = cached(&c, 130, &slow, &own);
    assert_memory_equal(&same, &best, sizeof best);
    cached(&d, 130, &slow, &options);
    again = cached(&d, 130, &slow, &as);
    assert_memory_equal(&again, &priced, sizeof again);
    slow.n_tiles = 3;                   /* too few for the other's splits: its own */
    priced = cached(&c, 130, &slow, &as);
    best = cached(&c, 130, &slow, &options);
    assert_memory_equal(&priced, &best, sizeof best);
    plan_cache_free(&c);
    plan_cache_free(&d);
}

/* Products that differ in a name are planned once; in the type, the size, who made an operand, whether it is trained,
 * or an attribute, each by itself. So are their gradients, where what they differentiate differs. */
static void test_operations_alike(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    const uint64_t rows[] = { 13, 40 }, more[] = { 14, 40 }, columns[] = { 40, 50 };
    uint32_t x = graph_tensor(&g, "x", ROLE_ACTIVATION, TYPE_FP16, 2, rows), w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, columns);
    uint32_t other = graph_tensor(&g, "other", ROLE_ACTIVATION, TYPE_FP16, 2, rows);
    uint32_t longer = graph_tensor(&g, "longer", ROLE_ACTIVATION, TYPE_FP16, 2, more);
    uint32_t fixed = graph_tensor(&g, "fixed", ROLE_STATE, TYPE_FP16, 2, columns);
    uint32_t x_float = graph_tensor(&g, "xf", ROLE_ACTIVATION, TYPE_FP32, 2, rows);
    uint32_t w_float = graph_tensor(&g, "wf", ROLE_WEIGHT, TYPE_FP32, 2, columns);
    uint32_t made = graph_op(&g, OP_RELU, &x, 1, (struct op_attributes){ 0 });
    const uint32_t pairs[][2] = { { x, w }, { other, w }, { longer, w }, { x, fixed }, { x_float, w_float }, { made, w } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        graph_op(&g, OP_MATMUL, pairs[i], 2, (struct op_attributes){ 0 });
    graph_op(&g, OP_MATMUL, pairs[0], 2, (struct op_attributes){ .serial_steps = 5 });
    for (uint32_t i = 0; i < 3; i++) {          /* gradients of the first, of its like, of the one in steps */
        const uint32_t of[] = { 1, 2, 7 };
        graph_op(&g, OP_MATMUL, pairs[0], 2, (struct op_attributes){ 0 });
        g.ops[8 + i].pass = PASS_BACKWARD_DATA;
        g.ops[8 + i].forward_op = of[i];
    }
    const uint32_t expected[] = { 0, 1, 1, 3, 4, 5, 6, 7, 8, 8, 10 };
    assert_int_equal(g.n_ops, sizeof expected / sizeof *expected);
    assert_memory_equal(compile_equal_ops(&g, &a), expected, sizeof expected);
    arena_free(&a);
}

/* A table and the rows put into it may have the same dimensions, but the plans of their gradients differ; so do those
 * of outputs that are no tensor's gradient, such as the gates of a recurrence. */
static void test_gradients_of_other_operands(void **state)
{
    enum { TABLE, PLACES, ROWS, NONE };
    static const struct { uint32_t of, forward_op; } gradients[] = {
        { TABLE, 0 }, { ROWS, 0 }, { ROWS, 0 }, { TABLE, 1 }, { NONE, 0 }, { PLACES, 0 }, { NONE, 1 }, { PLACES, 1 },
    };
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    uint32_t in[3], at = graph_tensor(&g, "at", ROLE_INPUT, TYPE_INT32, 1, (uint64_t[]){ 9 });
    for (uint32_t i = 0; i < 3; i++)
        in[i] = i == 1 ? at : graph_tensor(&g, "x", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 9, 24 });
    for (uint32_t i = 0; i < 2; i++)
        graph_op(&g, OP_SCATTER, in, 3, (struct op_attributes){ .scatter = SCATTER_ADD });
    for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++) {
        uint32_t out = graph_tensor(&g, "dx", ROLE_GRADIENT, TYPE_FP16, 2, (uint64_t[]){ 9, 24 });
        g.tensors[out].of_tensor = gradients[i].of == NONE ? NO_ID : in[gradients[i].of];
        graph_append(&g, (struct op){ .kind = OP_SCATTER, .pass = PASS_BACKWARD_DATA, .forward_op = gradients[i].forward_op, .n_inputs = 2, .inputs = in,
                                      .n_outputs = 1, .outputs = &out, .at = g.ops[0].at });
    }
    const uint32_t expected[] = { 0, 0, 2, 3, 3, 2, 6, 7, 6, 7 };
    assert_memory_equal(compile_equal_ops(&g, &a), expected, sizeof expected);
    arena_free(&a);
}

/* Weights of all layers; those that a later layer reads, with who reads them, from the first operation on; batch
 * norms over several replicas. */
static void test_what_a_compiler_lists(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct compiler c;
    const struct machine toy = { 0 };
    const struct op_attributes none = { 0 }, one = { .norm_groups = 1 }, two = { .norm_groups = 2 };
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "tables", .n_parts = 1 });
    uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 7, 6 });
    graph_layer(&g, (struct layer){ .name = "products", .n_parts = 1 });
    uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 2, (uint64_t[]){ 5, 7 });
    x = graph_op(&g, OP_MATMUL, (uint32_t[]){ x, w }, 2, none);
    uint32_t v = graph_tensor(&g, "v", ROLE_WEIGHT, TYPE_FP16, 1, (uint64_t[]){ 6 });
    x = graph_op(&g, OP_BATCH_NORM, (uint32_t[]){ x, v, v }, 3, one);
    x = graph_op(&g, OP_BATCH_NORM, (uint32_t[]){ x, v, v }, 3, two);
    graph_op(&g, OP_RELU, &x, 1, none);
    graph_layer(&g, (struct layer){ .name = "lookups", .n_parts = 1 });
    uint32_t rows = graph_tensor(&g, "rows", ROLE_INPUT, TYPE_INT32, 1, (uint64_t[]){ 3 });
    graph_op(&g, OP_GATHER, (uint32_t[]){ w, rows }, 2, none);
    compiler_start(&c, &g, &(struct topology){ .machine = &toy }, NULL, &a);
    assert_int_equal(c.n_weights, 2);
    assert_memory_equal(c.weights, ((uint32_t[]){ w, v }), 2 * sizeof w);
    assert_int_equal(c.n_tied, 2);
    assert_memory_equal(c.tied, ((struct tied_use[]){ { 1, w }, { 2, w } }), 2 * sizeof(struct tied_use));
    assert_int_equal(c.n_spanning, 1);
    assert_int_equal(c.spanning[0], 2);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_is_the_same_plan), cmocka_unit_test(test_what_a_chip_multiplies), cmocka_unit_test(test_what_is_part_of_the_key), cmocka_unit_test(test_every_value_of_a_chip), cmocka_unit_test(test_bounds_share_a_plan),
        cmocka_unit_test(test_many_shapes), cmocka_unit_test(test_graph_passes_share_a_search),
        cmocka_unit_test(test_splits_of_another_chip), cmocka_unit_test(test_operations_alike),
        cmocka_unit_test(test_gradients_of_other_operands), cmocka_unit_test(test_what_a_compiler_lists),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
