/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_conv_plan.c - plans of single convolutions and products by hand: which split, how many cycles and bytes.
 */
#include "tests/check.h"
#include "tests/conv_fixture.h"

/* 13 x 16 x 16 on 7 tiles, input from elsewhere. Best: columns in two grains of 8, rows in three: 5, 5, 3, on six tiles.
 *   compute   50 + 6 x 7 + 13 + 15 + (19 + 6 + 32 + 6 x 26) = 333, and 40 half sums set to zero, seven a worker in two words: 6 x (5 + 2)
 *   exchange  weights 256 B; input 160 B at double rate as both tiles of a pair take it: (256 + 80) / 4 -> 85, and 37 transit
 *   one superstep: 101. Results stay: 40 on the fullest tile, of 208 for seven. */
static void test_one_block(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct conv_shape s = matmul_conv_shape(1, 16, 16, 13, TYPE_FP16, PASS_FORWARD);
    s.in_elsewhere = s.weights_elsewhere = 1;
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.vertex, VERTEX_AMP_1X1);
    assert_int_equal(p.split.field, 3);
    assert_int_equal(p.split.out_chans, 2);
    assert_int_equal(p.n_tiles_used, 6);
    assert_int_equal(p.compute_cycles, 333 + 42);
    assert_int_equal(p.exchange_cycles, 85 + 37);
    assert_int_equal(p.sync_cycles, 101);
    assert_int_equal(p.n_supersteps, 1);
    assert_int_equal(p.exchanged_bytes, 6 * (256 + 160));
    assert_int_equal(p.temp_bytes_per_tile, 160 + 256 + 80);
    assert_int_equal(p.mac, 13 * 16 * 16);
    assert_int_equal(p.padded_mac, 6 * 5 * 16 * 8);
    assert_near(p.imbalance, 40 * 7 / 208.0, 1e-12);
}

/* A tile of 3 samples of 5 x 4 positions with 3 x 3 kernel elements, 2 groups of 3 and 5 grains of channels. Seven workers share 60 positions: they begin at
 * 0, 8, 17, 25, 34, 42, 51 and so meet 2 + 3 + 3 + 3 + 3 + 3 + 3 = 20 of 15 rows. Nine kernel elements have a list of 4 bytes a worker, and 6 bytes a row;
 * addresses are 2 x (3 + 5 + 3 x 5) of 4 bytes. Two compute sets besides the vertex's have 11 bytes each. As a product, each of three samples is one row:
 * 60 positions in rows of 20 make 9 items. The vertex of single positions has one item a worker. */
static void test_vertices_read_worklists(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    chip.n_workers = 7;
    struct conv_candidate c = { .vertex = VERTEX_AMP_NX1, .filter_height = 1, .in_grain = 16, .out_grain = 8, .amp.element_bytes = 2,
                                .s = { .field_w = 9, .kernel_w = 3, .in_stride_h = 1, .in_stride_w = 1 } };
    struct conv_shape shape = { .groups = 2, .batch = 3, .field_h = 5, .field_w = 4, .kernel_h = 3, .kernel_w = 3, .in_chans = 48, .out_chans = 40 };
    struct search f = { .chip = &chip, .shape = &shape, .n_tiles = 7, .best_candidate = &c, .best_cost.supersteps = 2,
                        .best = { 1, 1, 1, 1, 1, 1, 1, 1, .groups = 2, .batch = 3, .height = 5, .width = 4, .kernel_h = 3, .in = 3, .out = 5 } };
    assert_int_equal(conv_code(&f).field_bytes, 9 * (7 * 4 + 20 * 6) + 2 * 23 * 4);
    assert_int_equal(conv_code(&f).state_bytes, 52 + 2 * 11);
    struct conv_candidate paired = c, wide = c, product = c, single = c;
    paired.filter_height = 2;                               /* two rows of the kernel in a pass */
    f.best_candidate = &paired;
    assert_int_equal(conv_code(&f).field_bytes, 6 * (7 * 4 + 20 * 6) + 2 * 23 * 4);
    wide.in_grain = 4096;                                   /* offsets of more than 16 bits */
    f.best_candidate = &wide;
    assert_int_equal(conv_code(&f).field_bytes, 9 * (7 * 4 + 20 * 12) + 2 * 23 * 4);
    product.s.field_w = 1, f.best.height = 20, f.best.width = 1;
    f.best_candidate = &product;
    assert_int_equal(conv_code(&f).field_bytes, 9 * (7 * 4 + 9 * 6) + 2 * 23 * 4);
    single.vertex = VERTEX_AMP_1X1;
    f.best_candidate = &single;
    assert_int_equal(conv_code(&f).field_bytes, 7 * 6 + 2 * 23 * 4);
    assert_int_equal(conv_code(&f).state_bytes, 32 + 2 * 11);
}

/* Batch 3, 10 x 9 field, 5 x 5 kernel of stride 2 to 5 x 5, 6 to 7 channels in two groups: work is the same in all
 * passes. */
static void test_passes_have_the_same_work(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 2, .batch = 3, .in_h = 10, .in_w = 9, .out_h = 5, .out_w = 5, .kernel_h = 5,
                                   .kernel_w = 5, .in_chans = 6, .out_chans = 7, .stride = 2, .type = TYPE_FP16 };
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        struct conv_shape s = conv_shape_of_pass(&p, (enum op_pass)pass);
        assert_int_equal(conv_shape_mac(&s), 2 * 3 * 25 * 25 * 6 * 7);
    }
    struct conv_shape w = conv_shape_of_pass(&p, PASS_BACKWARD_WEIGHT);
    assert_int_equal(w.in_chans, 3 * 25);               /* batch and field are summed over */
    assert_int_equal(w.field_h, 6 * 25);                /* each channel and kernel element is a row */
    assert_int_equal(w.in_expand, 6);                   /* 25 kernel elements, one in four starts a window */
}

/* A product is a convolution of one column by a kernel of one element, forward; that kernel meets no padding
 * anywhere. */
static void test_a_product_is_a_convolution(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 3, .batch = 1, .in_h = 5, .in_w = 1, .out_h = 5, .out_w = 1, .kernel_h = 1, .kernel_w = 1, .in_chans = 7,
                                   .out_chans = 11, .stride = 1, .type = TYPE_FP32 };
    struct conv_shape conv = conv_shape_of_pass(&p, PASS_FORWARD), product = matmul_conv_shape(3, 11, 7, 5, TYPE_FP32, PASS_FORWARD);
    conv.met_h = conv.met_w = 0;
    conv.columns_are_field = true;
    assert_memory_equal(&product, &conv, sizeof conv);
}

/* More units at the same rate are no slower: a plan may leave some idle, so 18 units do not make a result of 16
 * channels wait. Twice the units at twice the rate are faster. */
static void test_more_units_are_no_slower(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct conv_shape s = matmul_conv_shape(1, 112, 80, 313, TYPE_FP16, PASS_FORWARD);
    uint64_t first = op_plan_cycles(&(struct op_plan[]){ planned(&s, &chip, &options) }[0]);
    const uint64_t units[] = { 18, 23, 32, 48, 64, 100, 256 };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        chip.conv_units_fp16_fp16 = units[i];
        assert_true(op_plan_cycles(&(struct op_plan[]){ planned(&s, &chip, &options) }[0]) <= first);
    }
    chip.conv_units_fp16_fp16 = 2 * small_chip(7).conv_units_fp16_fp16;
    chip.mac_fp16_fp16_per_cycle *= 2;
    assert_true(op_plan_cycles(&(struct op_plan[]){ planned(&s, &chip, &options) }[0]) < first);
}

/* Four groups of one channel share a slice vertex and cost as much as one group of four, but for the order of their
 * weights: 12 cycles a turn for each of the 3 rows of a kernel slice. Five groups leave three of eight channels
 * empty. */
static void test_depthwise_groups_go_together(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    chip.conv_units_fp16_fp16 = 16;
    struct op_plan p[3];
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t groups[] = { 1, 4, 5 }, chans = i ? 1 : 4;
        const struct conv_params in = { .groups = groups[i], .batch = 1, .in_h = 11, .in_w = 13, .out_h = 11, .out_w = 13, .kernel_h = 3,
                                        .kernel_w = 3, .in_chans = chans, .out_chans = chans, .stride = 1, .type = TYPE_FP16 };
        struct conv_shape s = conv_shape_of_pass(&in, PASS_FORWARD);
        s.groups = s.groups > 1 ? s.groups : 2;         /* slices are for groups */
        p[i] = planned(&s, &chip, &options);
        assert_int_equal(p[i].vertex, VERTEX_SLIC);
        assert_int_equal(p[i].mac, 11 * 13 * 9 * s.groups * chans * chans);
    }
    uint64_t turn = chip_turn_cycles(&chip), one = p[0].compute_cycles - 50;        /* two groups of four channels */
    assert_int_equal(p[1].compute_cycles - 50, one / 2 + 3 * 12 * turn);
    assert_int_equal(p[2].compute_cycles - 50, one + 2 * 3 * 12 * turn);
    assert_int_equal(p[1].n_supersteps, p[0].n_supersteps);
    enum { SUM_BYTES = 11 * 13 * 4 * 2 };           /* the sums of a group are written to two places */
    assert_int_equal(p[0].temp_bytes_per_tile, 2 * SUM_BYTES + SUM_BYTES + 200);
    assert_int_equal(p[1].temp_bytes_per_tile, SUM_BYTES + SUM_BYTES + 200);
}

/* 65536 samples of 2048 x 2048 positions give the weight gradient 2^38 input channels. In 32 bits that count was 0,
 * and a division by zero followed. */
static void test_more_positions_than_32_bits_hold(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 1, .batch = 65536, .in_h = 4096, .in_w = 4096, .out_h = 2048, .out_w = 2048, .kernel_h = 7,
                                   .kernel_w = 7, .in_chans = 3, .out_chans = 64, .stride = 2, .type = TYPE_FP16 };
    struct chip chip = small_chip(1472);
    struct conv_shape s = conv_shape_of_pass(&p, PASS_BACKWARD_WEIGHT);
    struct op_plan plan = planned(&s, &chip, &options);
    assert_true(plan.mac == (UINT64_C(1) << 38) * 49 * 3 * 64);
    assert_true(plan.compute_cycles > plan.mac / 64 / 1472);
}

/* If every dimension divides, nothing is padded: 64 tiles, 512 rows, 64 x 64 channels. */
static void test_no_padding_where_all_divides(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    struct conv_shape s = matmul_conv_shape(1, 64, 64, 512, TYPE_FP16, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.padded_mac, p.mac);
}

/* 400 x 192 x 256 in fp32 on four tiles. A quarter of the rows (77 kB), all weights (197 kB) and the sums (102 kB)
 * exceed 0.6 of 300 kB, and so does any other division by four. The outputs are therefore computed in steps, each
 * with its part of the weights (49 kB a tile). A planner that counts the rows twice has 154 kB of them, 25 kB of a step's
 * weights, 13 kB of sums and the 49 kB in eight steps: it sends them in each step, where weights stay as well, which saves the 49. */
static void test_memory_forces_serial_steps(void **state)
{
    (void)state;
    struct chip chip = small_chip(4);
    chip.planner_input = INPUT_ONCE;
    struct conv_shape s = matmul_conv_shape(1, 256, 192, 400, TYPE_FP32, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_true(p.split.serial_out * p.split.serial_in > 1);
    assert_true(p.temp_bytes_per_tile <= 180000);
    assert_true(p.temp_bytes_per_tile >= 400 * 192 * 4 / 4 + 192 * 256 * 4 / 4);
    assert_int_equal(p.rearrange_cycles, 49152 / 4 + 1 + 37);       /* all weights into the order of the steps, once */
    assert_int_equal(p.split.serial_out, 8);
    assert_int_equal(p.n_supersteps, 8 * (1 + 2 + 1) + 2);          /* product, slice and result, counter; that order, and the input */
    assert_int_equal(p.temp_bytes_per_tile, 76800 + 24576 + 12800 + 49152);
    chip.planner_input = INPUT_TWICE;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.split.serial_out, 8);
    assert_int_equal(p.n_supersteps, 8 * (1 + 2 + 1) + 1);
    assert_int_equal(p.temp_bytes_per_tile, 76800 + 24576 + 12800 + 49152);
    s.weights_stay = 1;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.rearrange_cycles, 0);
    s.weights_stay = 0;
    chip.tile_memory_bytes = 100 * 1000 * 1000;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.split.serial_out * p.split.serial_in, 1);
}

/* 3 groups of 4 to 16 channels, 26 x 26 positions, 4 tiles, one each for the groups: HMAC holds 676 x 4 inputs in 5.4
 * kB, and 16 output channels in floats, 43 kB. In 30 kB it takes 4 steps of 4, 10.8 kB, with its inputs twice, and 2 of 8, 21.6 kB,
 * by a planner that counts them once. */
static void test_hmac_takes_steps(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 1,
                             .kernel_w = 1, .in_chans = 4, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan wide = planned(&s, &chip, &options);
    assert_int_equal(wide.vertex, VERTEX_HMAC);
    assert_int_equal(wide.split.serial_out, 1);
    struct op_plan_options tight = { .partials = PARTIALS_FP16, .available_memory = 0.1 };
    struct op_plan stepped = planned(&s, &chip, &tight);
    assert_int_equal(stepped.vertex, VERTEX_HMAC);
    assert_int_equal(stepped.split.serial_out, 4);
    assert_true(stepped.temp_bytes_per_tile <= 30000);
    chip.planner_input = INPUT_ONCE;
    assert_int_equal(planned(&s, &chip, &tight).split.serial_out, 2);
}

/* The same with a 3 x 3 kernel: three columns become channels, so that a dot of 12 takes 7 + 3 where three of 4 take
 * 24. One group on one tile: a worker has 113 positions, 17 cycles each, in pieces of up to six rows of the field, 19
 * each, or 109 where a kernel row meets padding in one of 26: 65 + 38 + 16 x (10 + 6 x (16 + 3 x 6 x 19 + (113 + 2 x
 * 109) x 17)); 1803 floats a worker are cast, two a cycle, 6 x (26 + 902); and the input's columns are copied. */
static void test_hmac_takes_columns_as_channels(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 3,
                             .kernel_w = 3, .in_chans = 4, .out_chans = 16, .stride = 1, .type = TYPE_FP16, .pad_h = 1, .pad_w = 1 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.vertex, VERTEX_HMAC);
    assert_int_equal(got.compute_cycles - got.rearrange_cycles, 65 + 38 + 16 * (10 + 6 * (16 + 3 * 6 * 19 + (113 + 2 * 109) * 17)) + 6 * (26 + 902));
    assert_true(got.rearrange_cycles > 0);
}

/* With a kernel of one column, the same row of all four images is one row, as it is once columns have become
 * channels: a worker's 451 positions, or 434 without a row of padding, are in up to six rows of 104, not in 19 of 26. */
static void test_images_beside_each_other_are_one_row(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    chip.tile_memory_bytes = 638976;
    struct conv_params p = { .groups = 3, .batch = 4, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 3,
                             .kernel_w = 3, .in_chans = 4, .out_chans = 16, .stride = 1, .type = TYPE_FP16, .pad_h = 1, .pad_w = 1 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.split.serial_out, 1);
    assert_int_equal(got.compute_cycles - got.rearrange_cycles, 65 + 38 + 16 * (10 + 6 * (16 + 3 * 6 * 19 + (451 + 2 * 434) * 17)) + 6 * (26 + 3606));
}

/* A field of one dimension is a row of 31 positions. A worker computes 6 of them in one piece, 16 + 24 cycles; in
 * pieces of one position they took 120. A pass takes 12 + 64 + 15 + 3 + 6 x (18 + 40) = 442 cycles, five passes take
 * 14 more each, and 14 + 14 + 34 + 224 surround them. The outer four passes meet padding, so that no worker has more
 * than 5 positions. Zeroing 496 sums takes 6 x (5 + 21). */
static void test_one_dimension_is_a_row(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct conv_params p = { .groups = 1, .batch = 1, .in_h = 31, .in_w = 1, .out_h = 31, .out_w = 1, .kernel_h = 5, .kernel_w = 1,
                             .in_chans = 16, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.vertex, VERTEX_AMP_NX1);
    assert_int_equal(got.compute_cycles, 224 + 34 + 14 + 14 + 5 * (14 + 442) - 4 * 6 * 4 + 6 * (5 + 21));
}

/* HMAC reads four channels together. Two channels are copied, one by one, into rows of four, as they are before any
 * other vertex. */
static void test_hmac_pads_channels(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 1,
                             .kernel_w = 1, .in_chans = 2, .out_chans = 4, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.vertex, VERTEX_HMAC);
    assert_int_equal(got.rearrange_cycles, 587 + (676 * 4 * 2 * 515 + 99) / 100);
}

/* 8 channels and a 3 x 3 kernel: two kernel rows share a pass, so that a fourth row of zeros joins the weights of
 * each tile, 8 x 8 x 9 x 2 B = 1152 B. The input grows to 12 rows for 10 rows of 56 results, 8 channels of 2 B each:
 * 10752 B. Together 587 + 0.44 x 11904 = 587 + 5238 cycles. A kernel of two rows needs no copy. */
static void test_kernel_rows_are_padded(void **state)
{
    (void)state;
    struct chip chip = small_chip(13);
    struct conv_params p = { .groups = 1, .batch = 2, .in_h = 56, .in_w = 56, .out_h = 56, .out_w = 56, .kernel_h = 3,
                             .kernel_w = 3, .in_chans = 8, .out_chans = 8, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan three = planned(&s, &chip, &options);
    assert_int_equal(three.vertex, VERTEX_AMP_NX1);
    assert_int_equal(three.split.in_grain, 8);
    assert_int_equal(three.split.kernel, 1);
    assert_int_equal(three.split.batch, 2);
    assert_int_equal(three.split.field, 6);
    assert_int_equal(three.rearrange_cycles, 587 + 5238);
    s.kernel_h = 2;
    assert_int_equal(planned(&s, &chip, &options).rearrange_cycles, 0);
}

/* With 4 channels, a quarter of a grain, four kernel rows share a pass. With 5 to 8 channels two rows do, and with
 * more each row has its own pass. */
static void test_grains_of_few_channels(void **state)
{
    static const struct { uint32_t in_chans; uint64_t grain; } cases[] = { { 3, 4 }, { 4, 4 }, { 5, 8 }, { 8, 8 }, { 9, 16 } };
    (void)state;
    struct chip chip = small_chip(13);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conv_params p = { .groups = 1, .batch = 2, .in_h = 9, .in_w = 9, .out_h = 9, .out_w = 9, .kernel_h = 3, .kernel_w = 3,
                                 .in_chans = cases[i].in_chans, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
        struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
        struct candidates list;
        uint64_t least = 16;
        conv_candidates(&list, &s, &chip, &options);
        for (size_t k = 0; k < list.n; k++)
            if (list.items[k].vertex == VERTEX_AMP_NX1 && !list.items[k].joined) {
                least = min_u64(least, list.items[k].in_grain);
                assert_int_equal(list.items[k].filter_height, 16 / list.items[k].in_grain);
            }
        assert_int_equal(least, cases[i].grain);
    }
}

/* A gradient of weights over an odd number of rows turns the gradient of its output by fours too, after it has filled up the last
 * four: 1021 rows of 64 cost no more than 1024. Turned by single elements they would cost 587 + 5.15 cycles a byte. */
static void test_odd_lengths(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    struct conv_shape even = matmul_conv_shape(1, 64, 1024, 64, TYPE_FP16, PASS_BACKWARD_WEIGHT);
    struct conv_shape odd = matmul_conv_shape(1, 64, 1021, 64, TYPE_FP16, PASS_BACKWARD_WEIGHT);
    struct op_plan p = planned(&even, &chip, &options), q = planned(&odd, &chip, &options);
    assert_true(op_plan_cycles(&q) <= op_plan_cycles(&p));
    /* 1024 x 64 halves over 64 tiles, 2048 bytes: 1280 cycles, 513 to arrive, 37 on the way; the result's 64 x 64, 128 bytes; copies of both operands,
     * 2042 bytes each, in one exchange */
    assert_int_equal(q.rearrange_cycles, 1280 + 513 + 37 + 80 + 33 + 37 + 1022 + 37);
}

/* Partials in floats halve the AMP's rate and double what is added up. */
static void test_partials(void **state)
{
    (void)state;
    struct chip chip = small_chip(56);
    struct conv_shape s = matmul_conv_shape(1, 512, 512, 700, TYPE_FP16, PASS_FORWARD);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    struct op_plan half = planned(&s, &chip, &options), full = planned(&s, &chip, &floats);
    assert_int_equal(full.partials, PARTIALS_FP32);
    assert_true(full.compute_cycles > half.compute_cycles * 3 / 2);
}

/* Sums are set to zero once, however many grains of input channels are added to them. On one tile 16 rows of 16
 * columns are 256 halves, so a worker zeroes 43, in eleven words; as floats they fill 22 words. */
static void test_sums_start_at_zero(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    for (uint32_t grains = 1; grains <= 4; grains++) {
        struct conv_shape s = matmul_conv_shape(1, 16, 16 * grains, 16, TYPE_FP16, PASS_FORWARD);
        struct op_plan half = planned(&s, &chip, &options), full = planned(&s, &chip, &floats);
        struct amp h = amp_for(&chip, TYPE_FP16, PARTIALS_FP16), f = amp_for(&chip, TYPE_FP16, PARTIALS_FP32);
        assert_int_equal(half.compute_cycles, amp_1x1_cycles(&chip, &h, 1, grains, 1, 16) + 6 * (5 + 11));
        assert_int_equal(full.compute_cycles, amp_1x1_cycles(&chip, &f, 1, grains, 2, 16) + 6 * (5 + 22) + cast_cycles(&vertex_table, &chip, 256, 4, 2));
    }
}

/* Sums of several tiles, 13 rows of 16 columns in halves. Up to fifteen are added at once; more take two stages of
 * equal depth, and from 125 on three. A stage costs a superstep, the bytes that arrive from its other tiles (4 a
 * cycle, 37 cycles of transit), and its additions. */
static void test_sums_come_in_stages(void **state)
{
    static const struct { uint32_t depth; uint64_t fans[4]; } cases[] = {
        { 1, { 0 } }, { 2, { 2 } }, { 15, { 15 } }, { 16, { 4, 4 } }, { 17, { 5, 4 } }, { 25, { 5, 5 } }, { 124, { 12, 11 } }, { 125, { 5, 5, 5 } },
        { 126, { 6, 5, 5 } }, { 512, { 8, 8, 8 } }, { 513, { 9, 8, 8 } },
    };
    struct chip chip = small_chip(600);
    struct conv_cost alone = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conv_shape s = matmul_conv_shape(1, 16, 16 * cases[i].depth, 13, TYPE_FP16, PASS_FORWARD);
        struct candidates list;
        s.in_elsewhere = s.weights_elsewhere = 1;
        struct search f = conv_search_start(&s, &chip, &options);
        conv_candidates(&list, &s, &chip, &options);
        const struct conv_candidate *c = &list.items[0];
        assert_true(c->vertex == VERTEX_AMP_1X1 && c->in_grain == 16);
        struct share t = conv_whole(c, 1, 1);
        t.p_in = cases[i].depth;
        t.in = 1;
        assert_true(conv_price(&f, c, &t));
        if (i == 0)
            alone = f.best_cost;
        uint64_t compute = alone.compute, exchange = alone.exchange, received = alone.received_bytes, n = 13 * 16, stages = 0;
        for (; cases[i].fans[stages]; stages++) {
            uint64_t fan = cases[i].fans[stages];
            n = ceil_div(n, fan);
            compute += reduce_cycles(&vertex_table, &chip, n, fan, 2);
            exchange += n * (fan - 1) * 2 / 4 + 1 + 37;
            received += n * (fan - 1) * 2;
        }
        assert_int_equal(f.best_cost.compute, compute);
        assert_int_equal(f.best_cost.exchange, exchange);
        assert_int_equal(f.best_cost.received_bytes, received);
        assert_int_equal(f.best_cost.supersteps, 1 + stages);
    }
}

/* A split whose vertices alone take as long as the best plan so far is still priced; one that takes a cycle more is
 * not. The vertices of all serial steps count. */
static void test_work_alone_leaves_a_split(void **state)
{
    struct chip chip = small_chip(4);
    struct conv_shape s = matmul_conv_shape(1, 16, 48, 13, TYPE_FP16, PASS_FORWARD);
    struct candidates list;
    struct amp amp = amp_for(&chip, TYPE_FP16, PARTIALS_FP16);
    (void)state;
    conv_candidates(&list, &s, &chip, &options);
    for (uint64_t steps = 1; steps <= 3; steps += 2) {
        struct share t = conv_whole(&list.items[0], steps, 1);
        uint64_t work = steps * (amp_1x1_cycles(&chip, &amp, 1, 3 / steps, 1, 13) + 6 * (5 + 9));     /* 208 sums, 35 a worker in nine words */
        struct search f = conv_search_start(&s, &chip, &options);
        f.best_cycles = work;
        assert_true(conv_price(&f, &list.items[0], &t));
        f.best_cycles = work - 1;
        assert_false(conv_price(&f, &list.items[0], &t));
        assert_int_equal(f.effort.n_priced, 2);
    }
}

/* If no plan fits into the whole tile, the bound doubles step by step instead of becoming unlimited at once, and more splits are tried than within a bound that
 * is met at first. */
static void test_the_bound_grows_by_two(void **state)
{
    struct chip chip = small_chip(3);
    const struct op_plan_options all = { .partials = PARTIALS_FP16, .available_memory = 1 }, half = { .partials = PARTIALS_FP16, .available_memory = 0.5 },
                                 twice = { .partials = PARTIALS_FP16, .available_memory = 2 }, endless = { .partials = PARTIALS_FP16, .available_memory = 1000 };
    struct conv_shape s = matmul_conv_shape(1, 800, 700, 200, TYPE_FP16, PASS_FORWARD);
    s.in_elsewhere = s.weights_elsewhere = 1;       /* all operands are copied, as the planner counts */
    (void)state;
    struct op_plan fastest = planned(&s, &chip, &endless), within = planned(&s, &chip, &twice), a = planned(&s, &chip, &all), h = planned(&s, &chip, &half);
    assert_true(fastest.temp_bytes_per_tile > 2 * chip.tile_memory_bytes);
    assert_true(within.temp_bytes_per_tile > chip.tile_memory_bytes && within.temp_bytes_per_tile <= 2 * chip.tile_memory_bytes);
    assert_true(a.temp_bytes_per_tile > chip.tile_memory_bytes && a.temp_bytes_per_tile <= 2 * chip.tile_memory_bytes);
    assert_true(op_plan_cycles(&a) <= op_plan_cycles(&within));
    assert_memory_equal(&h, &a, sizeof h);
}

/* Each split comes before those below it, by these keys in turn: candidate, fewer steps, fewer steps of outputs,
 * fewer parts of groups, of outputs, of the inner dimension, of the kernel and of the batch, and the larger height.
 * Among equally fast splits the first in this order is kept, whichever was priced first. */
static void test_of_equals_the_first_is_kept(void **state)
{
    static const struct { size_t order; uint64_t serial_out, serial_in, p_groups, p_out, p_in, p_kernel, p_batch, height; } splits[] = {
        { 0, 1, 1, 3, 5, 6, 2, 3, 2 }, { 0, 2, 1, 2, 5, 6, 2, 3, 4 }, { 0, 1, 2, 2, 4, 6, 2, 3, 5 }, { 0, 3, 1, 1, 4, 5, 2, 3, 6 },
        { 0, 1, 3, 1, 2, 5, 2, 3, 7 }, { 0, 1, 3, 2, 1, 5, 2, 3, 7 }, { 0, 1, 3, 2, 3, 2, 2, 3, 7 }, { 0, 1, 3, 2, 3, 4, 1, 3, 7 },
        { 0, 1, 3, 2, 3, 4, 2, 1, 7 }, { 0, 1, 3, 2, 3, 4, 2, 2, 8 }, { 0, 1, 3, 2, 3, 4, 2, 2, 3 }, { 1, 1, 1, 1, 1, 1, 1, 1, 9 },
    };
    enum { N = sizeof splits / sizeof *splits };
    struct chip chip = small_chip(400);
    struct conv_shape s = matmul_conv_shape(1, 48, 64, 26, TYPE_FP16, PASS_FORWARD);
    struct candidates list;
    struct conv_candidate alike[2];
    struct share t[N];
    (void)state;
    conv_candidates(&list, &s, &chip, &options);
    alike[0] = alike[1] = list.items[0];
    alike[1].order = alike[0].order + 1;
    for (size_t i = 0; i < N; i++) {
        t[i] = conv_whole(&alike[0], splits[i].serial_in, splits[i].serial_out);
        t[i].p_groups = splits[i].p_groups, t[i].p_out = splits[i].p_out, t[i].p_in = splits[i].p_in, t[i].p_kernel = splits[i].p_kernel;
        t[i].p_batch = splits[i].p_batch, t[i].height = splits[i].height;
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            struct search f = conv_search_start(&s, &chip, &options);
            assert_true(conv_price(&f, &alike[splits[k].order], &t[k]));
            f.best_candidate = &alike[splits[i].order];         /* as if it took as long */
            f.best = t[i];
            f.best_cost.received_bytes = 12345678;              /* its own, which goes with it */
            assert_true(conv_price(&f, &alike[splits[k].order], &t[k]));
            assert_true((f.best_cost.received_bytes == 12345678) == (i <= k));
            size_t first = i < k ? i : k;
            assert_true(f.best_candidate == &alike[splits[first].order]);
            assert_memory_equal(&f.best, &t[first], sizeof t[first]);
        }
}

/* A split chosen for another chip is refused if the candidate with its number is a different one or missing, or if
 * there are too few tiles. */
static void test_choices_that_a_chip_has_not(void **state)
{
    struct chip chip = small_chip(56);
    struct conv_shape s = matmul_conv_shape(1, 512, 512, 700, TYPE_FP16, PASS_FORWARD);
    struct conv_choice choice;
    struct op_plan own, again;
    struct candidates list;
    (void)state;
    conv_plan_search(&own, &choice, &s, &chip, &options);
    conv_candidates(&list, &s, &chip, &options);
    assert_true(!choice.swapped && list.n < MAX_CANDIDATES && conv_plan_as(&again, &choice, &s, &chip, &options));
    assert_memory_equal(&again, &own, sizeof own);
    struct conv_choice others[] = { choice, choice, choice, choice, choice };
    others[0].candidate = list.n;
    others[1].vertex++;
    others[2].in_grain *= 2;
    others[3].out_grain *= 2;
    others[4].share.p_batch *= 57;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(conv_plan_as(&again, &others[i], &s, &chip, &options));
    chip.n_tiles = own.n_tiles_used;                    /* as many as are used are enough */
    assert_true(conv_plan_as(&again, &choice, &s, &chip, &options));
    chip.n_tiles--;
    assert_false(conv_plan_as(&again, &choice, &s, &chip, &options));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_one_block), cmocka_unit_test(test_passes_have_the_same_work), cmocka_unit_test(test_a_product_is_a_convolution),
    cmocka_unit_test(test_more_units_are_no_slower), cmocka_unit_test(test_depthwise_groups_go_together),
    cmocka_unit_test(test_more_positions_than_32_bits_hold), cmocka_unit_test(test_no_padding_where_all_divides),
    cmocka_unit_test(test_memory_forces_serial_steps), cmocka_unit_test(test_hmac_takes_steps),
    cmocka_unit_test(test_hmac_takes_columns_as_channels), cmocka_unit_test(test_images_beside_each_other_are_one_row),
    cmocka_unit_test(test_one_dimension_is_a_row), cmocka_unit_test(test_hmac_pads_channels), cmocka_unit_test(test_kernel_rows_are_padded),
    cmocka_unit_test(test_grains_of_few_channels), cmocka_unit_test(test_odd_lengths),
    cmocka_unit_test(test_partials), cmocka_unit_test(test_sums_start_at_zero), cmocka_unit_test(test_sums_come_in_stages), cmocka_unit_test(test_choices_that_a_chip_has_not), cmocka_unit_test(test_of_equals_the_first_is_kept), cmocka_unit_test(test_work_alone_leaves_a_split),
    cmocka_unit_test(test_the_bound_grows_by_two),
    cmocka_unit_test(test_vertices_read_worklists),
   
};
TAP_MAIN(tests)
