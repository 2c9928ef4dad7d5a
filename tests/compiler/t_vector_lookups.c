/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_vector_lookups.c - slices, lookups, updates and the largest of rows: counts of supersteps and cycles on paper, for 7 tiles. */
#include "tests/compiler/toy_op.h"

/* Equal pieces of an axis stay in place. A range is copied: 5 x 4 halves, 4 of them, 8 bytes, on the fullest tile. */
static void test_slice(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(5, 12));
    assert_int_equal(op_plan_cycles(&(struct op_plan[]){ plan_op(&t, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .pieces = 3 }) }[0]), 0);
    assert_int_equal(op_plan_cycles(&(struct op_plan[]){ plan_op(&t, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .pieces = 1 }) }[0]), 0);
    struct op_plan p = plan_op(&t, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .begin = 2, .length = 4 });
    assert_int_equal(p.compute_cycles, 288 + 6);
    assert_int_equal(p.exchange_cycles, 2 + 1 + 37);
    assert_int_equal(p.rearrange_cycles, 288 + 6 + 40);
    toy_end(&t);
}

/* A large table is split by rows: copies of it for each group of lookups would have to be sent. */
static void test_gather(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[] = { tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(9000, 48)), tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(2, 17)) };
    struct op_plan p = plan_op(&t, OP_GATHER, in, 2, (struct op_attributes){ 0 });
    assert_true(p.n_tiles_used > 1);
    assert_true(p.exchanged_bytes < 9000 * 48 * 2);
    graph_add_backward(&t.graph);
    toy_end(&t);
}

/* Groups of lookups are cheapest, of which each has the table of 2000 x 8 halves: 32,000 bytes. Where the share of memory, 0.6, has no room
 * for it, all tiles have the indices of all 6,000 lookups: 24,000 bytes, also where there is no room for them either. */
static void test_lookups_heed_the_memory(void **state)
{
    static const struct { uint64_t memory_bytes, temp_bytes; } cases[] = { { 53334, 32000 }, { 53332, 24000 }, { 1000, 24000 } };
    uint64_t cycles[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct toy t;
        toy_start(&t);
        t.chip.tile_memory_bytes = cases[i].memory_bytes;
        uint32_t in[] = { tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(2000, 8)), tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(1, 6000)) };
        struct op_plan p = plan_op(&t, OP_GATHER, in, 2, (struct op_attributes){ 0 });
        assert_int_equal(p.temp_bytes_per_tile, cases[i].temp_bytes);
        cycles[i] = op_plan_cycles(&p);
        toy_end(&t);
    }
    assert_true(cycles[0] < cycles[1] && cycles[1] == cycles[2]);
}

/* One lookup of a row of 48 on four tiles: 12 elements on each, 19 + 12 cycles shared by six workers, 6 altogether.
 * A fifth tile has nothing to do. */
static void test_gather_takes_all_tiles(void **state)
{
    (void)state;
    for (uint64_t n_tiles = 4; n_tiles <= 5; n_tiles++) {
        struct toy t;
        toy_start(&t);
        t.chip.n_tiles = n_tiles;
        uint32_t in[] = { tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(3, 48)), tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(1, 1)) };
        struct op_plan p = plan_op(&t, OP_GATHER, in, 2, (struct op_attributes){ 0 });
        assert_int_equal(p.n_tiles_used, 4);
        assert_int_equal(p.compute_cycles, 11 + 6 * 6);
        toy_end(&t);
    }
}

/* The index of the largest: a reduction over 7 rows of 1000 carries the value and the index of each element. */
static void test_arg_max(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[1] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(7, 1000)) };
    struct op_plan p = plan_op(&t, OP_ARG_MAX, in, 1, (struct op_attributes){ 0 });
    struct op_plan sum = plan_op(&t, OP_SOFTMAX, in, 1, (struct op_attributes){ 0 });
    assert_true(p.compute_cycles > 0 && p.n_supersteps > 0 && p.n_supersteps < sum.n_supersteps);
    assert_true(p.compute_cycles < sum.compute_cycles);
    toy_end(&t);
}

/* For rows of 1000 halves, which become floats, the largest is found in 10 halvings. The largest 3 are
 * found as the largest 4: runs of 4 are sorted in 1 + 2 stages, then 8 halvings follow, each with 2 stages that sort
 * again. Shorter rows take fewer. */
static void test_top_k(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[1] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(7, 1000)) };
    struct op_plan one = plan_op(&t, OP_TOP_K, in, 1, (struct op_attributes){ .length = 1 });
    struct op_plan three = plan_op(&t, OP_TOP_K, in, 1, (struct op_attributes){ .length = 3 });
    struct op_plan four = plan_op(&t, OP_TOP_K, in, 1, (struct op_attributes){ .length = 4 });
    assert_int_equal(one.n_supersteps, 1 + 10);
    assert_int_equal(three.n_supersteps, 1 + 1 + 2 + 8 * (1 + 2));
    assert_int_equal(op_plan_cycles(&three), op_plan_cycles(&four));
    assert_true(three.compute_cycles > one.compute_cycles);
    in[0] = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(7, 250));
    three = plan_op(&t, OP_TOP_K, in, 1, (struct op_attributes){ .length = 3 });
    assert_int_equal(three.n_supersteps, 1 + 1 + 2 + 6 * (1 + 2));
    toy_end(&t);
}

/* A scatter costs more than the copy of its table, and more with more updates. Replacing rows costs as much as
 * keeping the larger. */
static void test_scatter(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[3] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(90, 24)), tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(11)),
                       tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(11, 24)) };
    struct op_plan few = plan_op(&t, OP_SCATTER, in, 3, (struct op_attributes){ 0 });
    struct op_plan larger = plan_op(&t, OP_SCATTER, in, 3, (struct op_attributes){ .scatter = SCATTER_MAXIMUM });
    struct op_plan copy = plan_op(&t, OP_CONCAT, in, 1, (struct op_attributes){ 0 });
    in[1] = tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(77));
    in[2] = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(77, 24));
    struct op_plan many = plan_op(&t, OP_SCATTER, in, 3, (struct op_attributes){ 0 });
    assert_int_equal(op_plan_cycles(&few), op_plan_cycles(&larger));
    assert_true(few.compute_cycles > copy.compute_cycles);
    assert_true(op_plan_cycles(&many) > op_plan_cycles(&few));
    toy_end(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_slice), cmocka_unit_test(test_gather), cmocka_unit_test(test_lookups_heed_the_memory),
    cmocka_unit_test(test_gather_takes_all_tiles), cmocka_unit_test(test_arg_max), cmocka_unit_test(test_top_k), cmocka_unit_test(test_scatter),
};
TAP_MAIN(tests)
