/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_vertex_cost.c - cycles of one tile, worked out on paper from the published estimators.
 */
#include "tests/check.h"
#include "tests/conv_fixture.h"

static const uint64_t one = 1;

/* 16 units x 16 weights of 2 bytes at 8 bytes a cycle: 64 cycles to load; 256 MACs at 64: 4 a position. */
static void test_amp_units(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    assert_int_equal(a.units, 16);
    assert_int_equal(a.in_grain, 16);
    assert_int_equal(a.load_cycles, 64);
    assert_near(a.core_cycles, 4, 0);
    a = amp_for(&chip, TYPE_FP16, PARTIALS_FP32);       /* half the units, half the weights */
    assert_int_equal(a.units, 8);
    assert_int_equal(a.load_cycles, 32);
    assert_near(a.core_cycles, 4, 0);
    a = amp_for(&chip, TYPE_FP32, PARTIALS_FP16);       /* floats have float partials */
    assert_int_equal(a.in_grain, 8);
    assert_int_equal(a.partial_bytes, 4);
    assert_int_equal(a.load_cycles, 32);
    assert_near(a.core_cycles, 4, 0);
    chip.amp_efficiency = 0.8;
    assert_near(amp_for(&chip, TYPE_FP16, PARTIALS_FP16).core_cycles, 5, 1e-12);        /* 32 + 2 x 32 bytes in 4 cycles: all ports */
    chip.conv_units_fp32 = 6;
    chip.mac_fp32_per_cycle = 12;
    assert_near(amp_for(&chip, TYPE_FP32, PARTIALS_FP32).core_cycles, 4, 0);            /* 32 + 2 x 24: a port is free */
}

/* Quarters: 32 to a chain, 32 x 16 MACs at 128, 512 bytes of weights at 8 a cycle; results are halves. */
static void test_amp_fp8(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    chip.mac_fp8_per_cycle = 128;
    struct amp a = amp_for(&chip, TYPE_FP8, PARTIALS_FP16);
    assert_int_equal(a.in_grain, 32);
    assert_int_equal(a.load_cycles, 64);
    assert_int_equal(a.result_bytes, 2);
    assert_near(a.core_cycles, 4, 0);
}

/* The AMP is as wide as its own data path: a wider vector unit leaves it as it is. */
static void test_amp_is_no_vector_unit(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    chip.vector_bytes_per_cycle = 16;
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    assert_int_equal(a.in_grain, 16);
    assert_int_equal(a.load_cycles, 64);
    assert_near(a.core_cycles, 4, 0);
}

/* Six workers: 17 halves each are 5 vectors of 4. Pieces of a message: 1,000 bytes in pieces of 200 are 5 of 12 bytes
 * of code, and 4 of 4 bytes for each 256; short pieces are joined to 128. */
static void test_square_roots_and_exchange_code(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    assert_int_equal(map_cycles(&chip, MAP_SQRT, 100, 2), 20 + 6 * (17 + 23 * 5));
    assert_int_equal(exchange_code_bytes(3, 7), 3 * 12 + 7 / 2);
}

/* Two workers in turns of six: 50 elements each, 13 vectors of 3; three workers of twelve: a turn is twelve. Quarters
 * are computed as halves, but moved as bytes. */
static void test_turns(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    chip.worker_turn_cycles = 6;
    chip.n_workers = 2;
    assert_int_equal(map_cycles(&chip, MAP_BINARY, 100, 2), 11 + 6 * (26 + 3 * 13));
    chip.n_workers = 12;
    assert_int_equal(map_cycles(&chip, MAP_BINARY, 100, 2), 11 + 12 * (26 + 3 * 3));
    chip.n_workers = 6;
    assert_int_equal(map_cycles(&chip, MAP_RELU, 100, 1), map_cycles(&chip, MAP_RELU, 100, 2));
    assert_int_equal(map_cycles(&chip, MAP_FILL, 100, 1), 6 * (26 + 3));
    for (int op = 0; op < N_MAP_OPS; op++) {
        struct chip wider = chip;
        wider.vector_bytes_per_cycle = 16;
        for (uint64_t n = 1; n < 500; n += 13)
            assert_true(map_cycles(&wider, (enum map_op)op, n, 2) <= map_cycles(&chip, (enum map_op)op, n, 2));
    }
}

/* 17 positions: 3 a worker, 4 x 3 + 19 = 31. Block 19 + 6 + 64 + 6 x 31 = 275; 50 + 6 x (7 + 3 x 2) + 13 + 3 x (15 +
 * 2 x 275). */
static void test_amp_1x1(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    assert_int_equal(amp_1x1_cycles(&chip, &a, 1, 3, 2, 17), 1836);
    assert_int_equal(amp_1x1_cycles(&chip, &a, 1, 3, 2, 7), 1836);      /* two a worker are run as three */
    assert_int_equal(amp_1x1_cycles(&chip, &a, 1, 3, 2, 5), 1836 - 6 * 30);     /* one: 26 */
    /* A block of many positions: 4 P + 203. */
    assert_int_equal(amp_1x1_cycles(&chip, &a, 1, 1, 9, 600) - amp_1x1_cycles(&chip, &a, 1, 1, 8, 600), 4 * 600 + 203);
}

/* 5 rows of 7: a whole row each for five workers, 16 + 28 = 44, less than pieces of two rows, 32 + 24. A pass:
 * 12 + 64 + 15 + 3 + 6 x (18 + 44) = 466; kernel 3 x (14 + 3 x 466) = 4236; 109 + 54 + 60 + 1 + 34 + 14 + 14 + 4236. */
static void test_amp_nx1(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    assert_int_equal(amp_nx1_cycles(&chip, &a, (struct conv_work){ 0, 1, 1, 1, 5, 7, 3, 3, 1, .in_chans = 0 }), 4522);
    /* one row of 30: a piece for each worker, 16 + 5 x 4 */
    assert_int_equal(amp_nx1_cycles(&chip, &a, (struct conv_work){ 0, 1, 1, 1, 1, 30, 3, 3, 1, .in_chans = 0 }), 4522 - 4236 + 3 * (14 + 3 * (466 - 6 * (44 - 36))));
    /* four kernel rows in a pass: 60 instead of 15, one pass of kernel rows instead of three */
    assert_int_equal(amp_nx1_cycles(&chip, &a, (struct conv_work){ 0, 1, 1, 1, 5, 7, 1, 3, 4, .in_chans = 0 }), 4522 - 4236 + 14 + 3 * (466 + 45));
}

/* Float partials, 8 units; their weights, 256 bytes, at 16 bytes a cycle, but at 8 where four kernel rows share a
 * pass; 5 rows of 7 as above, 62 cycles a worker. A pass 12 + 16 + 15 + 3 + 372 = 418 for one kernel row, 31 more for
 * two, 12 + 32 + 60 + 3 + 372 = 479 for four. Kernel 2 x (14 + 3 passes); 3 groups of inputs with 5 of outputs each; two
 * groups: 109 + 54 + 54 + 6 + 1 and twice 126 + 3 x (14 + 5 x (14 + kernel)). */
static void test_amp_nx1_of_several(void **state)
{
    static const struct { uint64_t filter_height, pass; } rows[] = { { 1, 418 }, { 2, 449 }, { 4, 479 } };
    (void)state;
    struct chip chip = small_chip(7);
    chip.weight_load_bytes_per_cycle = 16;
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP32);
    assert_int_equal(a.load_cycles, 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t kernel = 2 * (14 + 3 * rows[i].pass);
        assert_int_equal(amp_nx1_cycles(&chip, &a, (struct conv_work){ 0, 2, 3, 5, 5, 7, 2, 3, rows[i].filter_height, .in_chans = 0 }), 224 + 2 * (126 + 3 * (14 + 5 * (14 + kernel))));
    }
    chip.weight_load_bytes_per_cycle = 8;
    a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    assert_int_equal(amp_1x1_cycles(&chip, &a, 2, 3, 2, 17), 50 + 6 * (7 + 3 * 2) + 2 * (13 + 3 * (15 + 2 * 275)));
}

/* Two groups, a kernel of 3 x 5 in slices of four: 2 x 3 x 2 passes. Three channels: 34 + 12 x 6 to load. Every other
 * one of 9 positions 15 + 2 x 6, of 2 as of 3: 15. Next to each other, 4 as 5: 15. */
static void test_thin_vertices_of_several(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 2, 1, 1, 7, 9, 3, 2, 1, .in_chans = 3, .every_other = true }, 2), 50 + 12 * (106 + 6 * (20 + 2 * (10 + 27))));
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 2, 1, 1, 7, 2, 3, 2, 1, .in_chans = 3, .every_other = true }, 2), 50 + 12 * (106 + 6 * (20 + 2 * (10 + 15))));
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 2, 1, 1, 7, 4, 3, 2, 1, .in_chans = 4 }, 4), 50 + 12 * (34 + 6 * (20 + 2 * (10 + 2 * 15))));
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 1, 1, 1, 7, 9, 3, 1, 1, .in_chans = 3 }, 2), 50 + 3 * (106 + 6 * (20 + 2 * (10 + 19))));
    assert_int_equal(hmac_cycles(&chip, 2, (struct conv_work){ 0, 2, 1, 3, 1, 13, 1, 9, 1, .in_chans = 6 }), 65 + 2 * (38 + 3 * (10 + 6 * 619)));
    assert_int_equal(outer_product_cycles(&chip, 2, 13, 12), 6 * (25 + 2 * (10 + 3 * 6)));
    assert_int_equal(outer_product_cycles(&chip, 2, 13, 13), 6 * (25 + 2 * (10 + 3 * 7)));
    assert_int_equal(cast_cycles(&vertex_table, &chip, 100, 1, 2), 6 * (26 + 5));
    assert_int_equal(cast_cycles(&vertex_table, &chip, 100, 2, 4), 6 * (26 + 9));
}

static void test_thin_vertices(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    /* 34 + 6 x (20 + 2 rows x (10 + 15 + 4)) = 502 for each of three kernel rows */
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 1, 1, 1, 7, 9, 3, 1, 1, .in_chans = 4 }, 2), 50 + 3 * 502);
    assert_int_equal(slic_cycles(&chip, (struct conv_work){ 0, 1, 1, 1, 7, 9, 3, 1, 1, .in_chans = 4 }, 4), 50 + 3 * (34 + 6 * (20 + 2 * (10 + 2 * 19))));
    /* dot of 6 halves 7 + 2 = 9; worker 16 + 9 x (19 + 3 x (7 + 9)) = 619, for each of three output channels */
    assert_int_equal(hmac_cycles(&chip, 2, (struct conv_work){ 0, 1, 1, 3, 1, 13, 1, 9, 1, .in_chans = 6 }), 65 + 38 + 3 * (10 + 6 * 619));
    /* 5 rows of 7: a whole row each for five workers, 19 + 7 x 16 = 131, less than pieces of two rows, 38 + 6 x 16; 4
     * rows of 39: pieces */
    assert_int_equal(hmac_cycles(&chip, 2, (struct conv_work){ 0, 1, 1, 3, 5, 7, 1, 9, 1, .in_chans = 6 }), 65 + 38 + 3 * (10 + 6 * (16 + 9 * 131)));
    assert_int_equal(hmac_cycles(&chip, 2, (struct conv_work){ 0, 1, 1, 3, 4, 39, 1, 9, 1, .in_chans = 6 }), 65 + 38 + 3 * (10 + 6 * (16 + 9 * (2 * 19 + 26 * 16))));
    assert_int_equal(outer_product_cycles(&chip, 1, 13, 20), 6 * (25 + 10 + 3 * (6 + 2)));
}

static void test_around_a_convolution(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    assert_int_equal(reduce_cycles(&vertex_table, &chip, 50, 5, 2), 33 + 6 * (20 + 2 * (2 * 4 + 9)));    /* 7 vectors of 8 halves */
    assert_int_equal(cast_cycles(&vertex_table, &chip, 100, 4, 2), 6 * (26 + 9));
    assert_int_equal(zero_cycles(&vertex_table, &chip, 100, 4), 6 * (5 + 9));
    assert_int_equal(dynamic_slice_cycles(&vertex_table, &chip, 100), 25 + 6 * (63 + 2 * 5));
    assert_int_equal(rearrange_cycles(&vertex_table, &chip, 1000, 2, true), 625);
    assert_int_equal(rearrange_cycles(&vertex_table, &chip, 1000, 2, false), 587 + 5150);
    assert_int_equal(rearrange_cycles(&vertex_table, &chip, 1000, 4, false), 587 + 3130);
    assert_int_equal(regroup_cycles(&vertex_table, &chip, 1000), 157);
    assert_int_equal(copy_pieces_cycles(&vertex_table, 1001), 587 + 441);
    assert_int_equal(copy_cycles(&chip, 1000), 288 + 6 * 21);
}

static void test_maps(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    assert_int_equal(map_cycles(&chip, MAP_BINARY, 100, 2), 11 + 6 * (26 + 3 * 5));
    assert_int_equal(map_cycles(&chip, MAP_BINARY, 100, 4), 11 + 6 * (26 + 3 * 9));
    assert_int_equal(map_cycles(&chip, MAP_CAST, 100, 2), 12 + 6 * (37 + 9));
    assert_int_equal(map_cycles(&chip, MAP_DROPOUT, 100, 2), 6 + 6 * 24 + 2 * 25);      /* one generator a tile */
    for (int op = 0; op < N_MAP_OPS; op++) {
        assert_non_null(map_op_name((enum map_op)op));
        assert_true(map_cycles(&chip, (enum map_op)op, 1000, 2) > map_cycles(&chip, (enum map_op)op, one, 2));
    }
}

/* 100 elements are 17 a worker: 5 vectors of 4 halves, 9 of 2 floats: start + 6 x (worker's start + vectors x cycles of one). The place of the
 * largest takes one element at a time. */
static void test_maps_by_hand(void **state)
{
    (void)state;
    static const struct { enum map_op op; uint64_t halves, floats; } want[] = {
        { MAP_BINARY_IN_PLACE, 11 + 6 * 73, 11 + 6 * 85 }, { MAP_SCALAR, 11 + 6 * 30, 11 + 6 * 38 }, { MAP_VECTOR, 13 + 6 * 34, 13 + 6 * 42 },
        { MAP_SCALED_ADD, 60 + 6 * 30, 60 + 6 * 42 }, { MAP_SCALED_ADD_MIXED, 60 + 6 * 40, 60 + 6 * 60 }, { MAP_RELU, 9 + 6 * 33, 9 + 6 * 41 },
        { MAP_TANH, 9 + 6 * 43, 9 + 6 * 131 }, { MAP_TANH_IN_PLACE, 9 + 6 * 33, 9 + 6 * 113 }, { MAP_SIGMOID, 9 + 6 * 43, 9 + 6 * 113 },
        { MAP_SWISH_GRAD, 9 + 6 * 68, 9 + 6 * 158 }, { MAP_EXP, 20 + 6 * 53, 20 + 6 * 87 }, { MAP_RSQRT, 20 + 6 * 112, 20 + 6 * 89 },
        { MAP_DIVIDE, 20 + 6 * 122, 20 + 6 * 107 }, { MAP_DIVIDE_NUMBER, 11 + 6 * 92, 11 + 6 * 74 }, { MAP_COMPARE, 11 + 6 * 71, 11 + 6 * 96 },
        { MAP_COPY, 6 * 53, 6 * 57 }, { MAP_REDUCE, 11 + 6 * 22, 11 + 6 * 26 }, { MAP_ARG_MAX, 9 + 6 * 81, 9 + 6 * 81 },
        { MAP_SELECT, 11 + 6 * (20 + 17 * 8), 11 + 6 * (20 + 17 * 5) }, { MAP_CLAMP, 11 + 6 * (26 + 9 * 7), 11 + 6 * (26 + 17 * 4) },
        { MAP_POWER, 11 + 6 * (26 + 17 * 325), 11 + 6 * (26 + 17 * 312) }, { MAP_CAST_BYTES, 12 + 6 * (37 + 45), 12 + 6 * (37 + 45) },
    };
    struct chip chip = small_chip(7);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(map_cycles(&chip, want[i].op, 100, 2) == want[i].halves && map_cycles(&chip, want[i].op, 100, 4) == want[i].floats);
}

/* 1000 halves, 40 to a row: 25 rows, 5 of a worker. Sums take 8 elements of the vector at a time: 5 x (13 + 2 x 5); products 4: 10 x (9 + 5), in
 * place 10 x (7 + 2 x 5). With one row a worker there is no loop. Floats, odd lengths and a vector that fits once are
 * copied out, 250 words: 6 x (48 + 42), and combined. */
static void test_vectors_over_rows(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_ADD, 1000, 40, 2), 13 + 6 * (24 + 5 * 23));
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_MUL, 1000, 40, 2), 13 + 6 * (24 + 10 * 14));
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_MUL_IN_PLACE, 1000, 40, 2), 13 + 6 * (24 + 10 * 17));
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_ADD, 240, 40, 2), 13 + 6 * (24 + 5 * 7));
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_MUL, 240, 40, 2), 13 + 6 * (24 + 10 * 9));
    uint64_t copied_out = 6 * (48 + 42) + 11 + 6 * (26 + 3 * 42);
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_MUL, 1000, 50 + 1, 2), copied_out);
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_MUL, 1000, 600, 2), copied_out);
    assert_int_equal(map_channels_cycles(&chip, CHANNELS_ADD, 500, 40, 4), copied_out);
}

/* One vertex on each of Bow's 1,472 tiles at 1.85 GHz, N positions of 16 channels by 16 (graphcore-research/tessellate-ipu, notebooks/IPU Peak Flops.ipynb,
 * cell 16; role calibrate, fitted to by nothing). */
static void test_amp_1x1_as_measured(void **state)
{
    static const struct { uint64_t positions; double tflop_per_s; } rows[] = { { 16, 55.4937 }, { 128, 211.1188 }, { 512, 299.7758 }, { 2048, 334.9405 } };
    (void)state;
    struct chip chip = small_chip(7);
    struct amp a = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double measured = 1472 * 2.0 * 256 * (double)rows[i].positions * 1.85e9 / (rows[i].tflop_per_s * 1e12);
        assert_near((double)amp_1x1_cycles(&chip, &a, 1, 1, 1, rows[i].positions) / measured, 1, 0.02);
    }
}

static void test_gather_pool(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    /* 8 lookups elsewhere at 8, 5 here at 19 + 7: 194, shared by six workers */
    assert_int_equal(gather_cycles(&chip, 13, 5, 7), 11 + 6 * 33);
    assert_int_equal(scatter_add_cycles(&chip, 13, 5, 7), 11 + 6 * (30 + 5 * 8 + 5 * 15));
    assert_int_equal(pool_cycles(&chip, 7, 3, 9, false), 11 + 6 * 2 * (33 + 3 * 34));
    assert_int_equal(pool_cycles(&chip, 7, 3, 9, true), 11 + 6 * 2 * (33 + 3 * 52));
    assert_int_equal(transducer_cell_cycles(&chip, 13), 11 + 6 * (20 + 44 * 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amp_units), cmocka_unit_test(test_amp_fp8), cmocka_unit_test(test_amp_is_no_vector_unit), cmocka_unit_test(test_square_roots_and_exchange_code), cmocka_unit_test(test_turns), cmocka_unit_test(test_amp_1x1),
        cmocka_unit_test(test_amp_nx1), cmocka_unit_test(test_amp_nx1_of_several), cmocka_unit_test(test_thin_vertices),
        cmocka_unit_test(test_thin_vertices_of_several), cmocka_unit_test(test_around_a_convolution),
        cmocka_unit_test(test_maps), cmocka_unit_test(test_maps_by_hand), cmocka_unit_test(test_vectors_over_rows), cmocka_unit_test(test_gather_pool), cmocka_unit_test(test_amp_1x1_as_measured),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
