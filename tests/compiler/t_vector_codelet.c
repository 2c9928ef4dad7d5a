/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_vector_codelet.c - operations of one's own, and lookups and updates that are planned by themselves, by hand on 7 tiles: 6 workers, whose cycle is 6 of
 * the tile; 4 bytes a cycle of exchange after 38 cycles; a sync of 101.
 */
#include "tests/check.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/compiler.h"
#include "system-model/compiler/vertex_cost.h"
#include "system-model/graph/graph.h"

/* ---- codelets ------------------------------------------------------------------------------------------------------------------ */

static const struct codelet blur = {
    .domain = "own", .name = "Blur", .output = "input", .split = "0,1", .worker_split = "6x1", .n_axes = 2, .axes = { 0, 1 },
    .worker_rule = WORKERS_GIVEN, .worker_parts = { 6, 1 }, .cycles_per_element = 1.5, .cycles_per_row = 5, .cycles_fixed = 11, .vector = 4, .halo = 2,
    .copies = COPIES_INPUTS_AND_RESULTS, .broadcast_bytes = 40, .temporary_bytes = 70,
};

static struct op_plan planned(const struct codelet *c, const uint64_t dims[3], uint32_t down, uint32_t across)
{
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct graph g;
    struct op_plan out;
    const struct chip chip = small_chip(7);
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 7 };
    graph_start(&g, "grid", 1, &a);
    graph_layer(&g, (struct layer){ .name = "all" });
    uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP32, 3, dims);
    graph_op(&g, OP_CODELET, &x, 1, (struct op_attributes){ .codelet = c, .pieces = 1, .grid_tiles = { down, across } });
    op_plan_build(&out, &g, 0, even_operands, &chip, &opt, &cache);
    arena_free(&a);
    plan_cache_free(&cache);
    return out;
}

/* A tile has 20 x 5 of 20 x 30 cells, 3 elements each, and a worker 4 x 5: 4 rows of 15 elements, 16 with the vector's rest. With two cells around,
 * 24 x 9 - 20 x 5 = 116 cells arrive; the workers copy 8 x 9 cells each. */
static void by_hand(void **state)
{
    (void)state;
    struct op_plan p = planned(&blur, (uint64_t[]){ 20, 30, 3 }, 1, 7);
    uint64_t vertex = 6 * (11 + 4 * (5 + 24)), in = 288 + 8 * 9 * 12 * 6 / 4, out = 288 + 20 * 5 * 12 / 4;
    assert_int_equal(vertex, 762);
    assert_int_equal(p.compute_cycles, vertex + in + out);
    assert_int_equal(p.rearrange_cycles, in + out);
    assert_int_equal(p.exchange_cycles, (116 * 12 + 40) / 4 + 38);
    assert_int_equal(p.sync_cycles, 3 * 101);
    assert_int_equal(p.n_supersteps, 3);
    assert_int_equal(p.n_tiles_used, 6);        /* six of 5 cover the 30 */
    assert_int_equal(p.temp_bytes_per_tile, 8 * 9 * 12 * 6 + 20 * 5 * 12 + 70 + 40);
}

/* Along one axis: 47 leaves 5 of 6 over and 45 leaves 3, so that a worker has 47 x 8. In the best way it has 8 x 45, in rows that cost less. */
static void ways_to_cut_a_region(void **state)
{
    (void)state;
    struct codelet c = blur;
    const uint64_t dims[] = { 47, 45, 1 };
    c.vector = 1, c.halo = 0, c.copies = COPIES_NOTHING, c.broadcast_bytes = 0;
    c.worker_rule = WORKERS_ALONG_ONE_AXIS;
    assert_int_equal(planned(&c, dims, 1, 1).compute_cycles, 6 * (11 + 47 * (5 + 12)));
    c.worker_rule = WORKERS_BEST;
    assert_int_equal(planned(&c, dims, 1, 1).compute_cycles, 6 * (11 + 8 * 5 + 540));
    c.cycles_per_row = 0;           /* 24 x 15 is as good as 8 x 45, and 16 x 23 is worse */
    assert_int_equal(planned(&c, dims, 1, 1).compute_cycles, 6 * (11 + 540));
}

/* No split that can be given beats the one that is chosen. */
static void best_of_all(void **state)
{
    (void)state;
    const uint64_t dims[] = { 23, 31, 2 };
    struct codelet c = blur;
    c.worker_rule = WORKERS_BEST;
    struct op_plan best = planned(&c, dims, 0, 0);
    bool reached = false;
    for (uint32_t i = 1; i <= 7; i++)
        for (uint32_t j = 1; i * j <= 7; j++) {
            struct op_plan p = planned(&c, dims, i, j);
            assert_true(op_plan_cycles(&best) <= op_plan_cycles(&p) + 2);       /* exchanges are counted in whole cycles */
            reached |= op_plan_cycles(&best) == op_plan_cycles(&p);
        }
    assert_true(reached);
}

/* ---- lookups and updates -------------------------------------------------------------------------------------------------------- */

static void vertices_of_slices(void **state)
{
    (void)state;
    const struct chip chip = small_chip(7);
    /* 9 lookups, 5 of them in the tile's part: three vectors of two elements */
    assert_int_equal(slice_cycles(&chip, 9, 5, 5, 4), 6 * (30 + 5 * (19 + 6) + 4 * 8));
    assert_int_equal(slice_cycles(&chip, 9, 5, 5, 1), 6 * (30 + 5 * (19 + 6) + 4 * 8));
    /* all workers go through 50 updates, 9 of them in its rows */
    assert_int_equal(slice_update_cycles(&chip, 50, 9, 5, 4), 6 * (38 + 9 * (11 + 4 * 3) + 41 * 5));
    assert_int_equal(slice_update_cycles(&chip, 50, 9, 2, 4), 6 * (38 + 9 * 8 + 41 * 5));
    assert_int_equal(slice_update_cycles(&chip, 50, 9, 4, 4), 6 * (38 + 9 * 16 + 41 * 5));
    assert_int_equal(slice_update_cycles(&chip, 50, 9, 4, 2), 6 * (37 + 9 * 9 + 41 * 5));
    assert_int_equal(slice_update_cycles(&chip, 50, 9, 6, 2), 6 * (37 + 9 * (13 + 2 * 3) + 41 * 5));
}

static struct op_plan slices(enum op_kind kind, uint64_t rows, uint64_t width, uint64_t n, enum scatter_how how)
{
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct graph g;
    struct op_plan out;
    const struct chip chip = small_chip(7);
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 7 };
    graph_start(&g, "slices", 1, &a);
    graph_layer(&g, (struct layer){ .name = "all" });
    uint32_t in[3] = { graph_tensor(&g, "table", ROLE_INPUT, TYPE_FP32, 2, (uint64_t[]){ rows, width }), graph_tensor(&g, "at", ROLE_INPUT, TYPE_INT32, 1, &n) };
    in[2] = graph_tensor(&g, "rows", ROLE_INPUT, TYPE_FP32, 2, (uint64_t[]){ n, width });
    graph_op(&g, kind, in, kind == OP_SCATTER ? 3 : 2, (struct op_attributes){ .scatter = how });
    op_plan_build(&out, &g, 0, even_operands, &chip, &opt, &cache);
    arena_free(&a);
    plan_cache_free(&cache);
    return out;
}

/* Three rows of two floats are one grain wide, and 4 lookups, one a worker. By the planner's estimate a tile that has all is 16 B of the table above an even
 * share, 4 cycles, and 6 x (30 + 19 + 2) for the vertex. Groups of lookups each receive 24 B of it, 6 cycles, and rows in two parts have a second stage: one
 * tile is chosen. It receives 16 B of indices; 16 B of the table are planned for besides. */
static void lookups_by_hand(void **state)
{
    (void)state;
    struct op_plan p = slices(OP_GATHER, 3, 2, 4, SCATTER_REPLACE);
    assert_int_equal(p.exchange_cycles, 42);
    assert_int_equal(p.compute_cycles, 6 * (30 + 19 + 2));
    assert_int_equal(p.sync_cycles, 101);
    assert_int_equal(p.n_tiles_used, 1);
    assert_int_equal(p.temp_bytes_per_tile, 16 + 16);
}

/* 7,000 rows of two floats on 7 tiles: in 7 parts a tile has no more than its share. The second stage has two compute sets more for its indices, one a worker,
 * between both stages' vertices, which each copy one row. */
static void second_stage_by_hand(void **state)
{
    (void)state;
    struct op_plan p = slices(OP_GATHER, 7000, 2, 6, SCATTER_REPLACE);
    const uint64_t indices = 1, first = 6 * (30 + 19 + 2), second = 6 * (30 + 19 + 2), counted = 6 * (20 + 9 * indices);
    assert_int_equal(p.n_supersteps, 4);
    assert_int_equal(p.n_tiles_used, 7);
    assert_true(p.compute_cycles > first + counted + second && p.compute_cycles < first + counted + second + 400);
    assert_int_equal(p.sync_cycles, 4 * 101);
}

/* Rows that are replaced cannot be summed, so that no updates are split: 5 rows of two floats in at most 3 parts. */
static void updates_that_are_no_sums(void **state)
{
    (void)state;
    struct op_plan replaced = slices(OP_SCATTER, 5, 2, 400, SCATTER_REPLACE), added = slices(OP_SCATTER, 5, 2, 400, SCATTER_ADD);
    assert_true(replaced.n_tiles_used <= 3);
    assert_true(added.n_tiles_used > 3);
    assert_true(op_plan_cycles(&added) < op_plan_cycles(&replaced));
}

/* More lookups, wider rows and larger tables never cost less. */
static void slices_grow(void **state)
{
    (void)state;
    static const enum op_kind kinds[] = { OP_GATHER, OP_SCATTER };
    for (size_t k = 0; k < 2; k++)
        for (uint64_t n = 3; n < 3000; n = n * 5 + 1) {
            uint64_t cycles = op_plan_cycles(&(struct op_plan[]){ slices(kinds[k], 37, 24, n, SCATTER_ADD) }[0]);
            struct op_plan more = slices(kinds[k], 37, 24, n * 3, SCATTER_ADD), wider = slices(kinds[k], 37, 96, n, SCATTER_ADD);
            assert_true(op_plan_cycles(&more) >= cycles && op_plan_cycles(&wider) >= cycles);
        }
}

/* Random updates fall unevenly: 100 of them on 7 tiles of 6 workers, each of which owns one of 42 rows. The mean is 2.4, and the most of 42 workers is 6 or more
 * in half of all draws (binomial, 1 - 0.5^(1/42)). Rows that replace others are copied. */
static void busiest_worker_waited_for(void **state)
{
    (void)state;
    struct op_plan p = slices(OP_SCATTER, 42, 2, 100, SCATTER_REPLACE);
    assert_int_equal(p.n_tiles_used, 7);
    const struct chip chip = small_chip(7);
    uint64_t vertex = slice_cycles(&chip, 100, 6, 2, 4), copied = copy_cycles(&chip, 42 * 2 * 4 / 7);
    assert_int_equal(p.compute_cycles, copied + copy_cycles(&chip, 30 * 4) + vertex);
}

/* 168 B of table, 56 B of indices and 112 B of result on 7 tiles: 24, 8 and 16 B each. The first two stay on the tile, out and in; the result is copied out
 * there, and crosses the exchange. */
static void loop_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    struct op_plan p;
    const struct chip chip = small_chip(7);
    graph_start(&g, "loop", 1, &a);
    graph_layer(&g, (struct layer){ .name = "all" });
    uint32_t in[2] = { graph_tensor(&g, "table", ROLE_INPUT, TYPE_FP32, 2, (uint64_t[]){ 21, 2 }), graph_tensor(&g, "at", ROLE_INPUT, TYPE_INT32, 1, &(uint64_t){ 14 }) };
    graph_op(&g, OP_GATHER, in, 2, (struct op_attributes){0});
    device_loop_plan(&p, &g, &chip, &(struct op_plan_options){ .available_memory = 0.6, .inference = true, .n_tiles = 7 });
    assert_int_equal(p.exchange_cycles, 16 / 4 + 1 + 37);
    assert_int_equal(p.compute_cycles, 2 * 40 + copy_cycles(&chip, 24 + 8) + copy_cycles(&chip, 24 + 8 + 16));
    assert_int_equal(p.sync_cycles, 4 * 101);
    assert_int_equal(device_loop_bytes(&g, 7), 24 + 8 + 16);
    arena_free(&a);
}

/* A result of 28 x 6 halves in blocks of 4, 48 B a tile, returns as an input in rows: element by element, 587 cycles and 5.15 a byte. */
static void loop_of_blocks(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    struct op_plan p;
    const struct chip chip = small_chip(7);
    graph_start(&g, "loop", 1, &a);
    graph_layer(&g, (struct layer){ .name = "all" });
    uint32_t in[2] = { graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 2, (uint64_t[]){ 28, 6 }), graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 3, (uint64_t[]){ 9, 4, 4 }) };
    graph_op(&g, OP_SPARSE_MATMUL, in, 2, (struct op_attributes){ .sparse = { .block = 4, .inner = 28, .outer = 28 }, .sparse_first = true });
    device_loop_plan(&p, &g, &chip, &(struct op_plan_options){ .available_memory = 0.6, .inference = true, .n_tiles = 7 });
    assert_int_equal(p.exchange_cycles, 48 / 4 + 1 + 37);
    assert_int_equal(p.compute_cycles, 2 * 40 + copy_cycles(&chip, 48) + copy_cycles(&chip, 48 + 48) + 587 + 248);
    assert_int_equal(p.sync_cycles, 5 * 101);
    arena_free(&a);
}

/* Two layers of 28 x 6 halves, 48 B a tile; the second runs 9 rounds and adds its result to itself. A round hands 48 B on, which stay on the tile. */
static void loop_inside(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    const struct chip chip = small_chip(7);
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 7 };
    graph_start(&g, "loop", 1, &a);
    graph_layer(&g, (struct layer){ .name = "once" });
    uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 2, (uint64_t[]){ 28, 6 }), in[2] = { x, x };
    in[0] = in[1] = graph_op(&g, OP_ADD, in, 2, (struct op_attributes){0});
    graph_layer(&g, (struct layer){ .name = "body", .rounds = 9 });
    in[0] = in[1] = graph_op(&g, OP_ADD, in, 2, (struct op_attributes){0});
    graph_op(&g, OP_ADD, in, 2, (struct op_attributes){0});
    assert_int_equal(inner_loops_cycles(&g, 1, &chip, &opt), 9 * (2 * 40 + 2 * copy_cycles(&chip, 48) + 4 * 101));
    assert_int_equal(inner_loops_cycles(&g, 9, &chip, &opt), 0);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(by_hand), cmocka_unit_test(ways_to_cut_a_region), cmocka_unit_test(best_of_all), cmocka_unit_test(vertices_of_slices),
    cmocka_unit_test(lookups_by_hand), cmocka_unit_test(second_stage_by_hand), cmocka_unit_test(updates_that_are_no_sums), cmocka_unit_test(slices_grow),
    cmocka_unit_test(busiest_worker_waited_for), cmocka_unit_test(loop_by_hand), cmocka_unit_test(loop_of_blocks), cmocka_unit_test(loop_inside),
};
TAP_MAIN(tests)
