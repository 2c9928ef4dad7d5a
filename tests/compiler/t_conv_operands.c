/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_conv_operands.c - operands of convolutions and products: where they lie, what they take, which stands first.
 */
#include "tests/check.h"
#include "tests/conv_fixture.h"

/* Two groups of input 3 x 9 x 7 x 6, kernel 3 x 2 x 6 x 5 and results 3 x 4 x 5 x 5 in halves over 13 tiles; of the gradient to the input
 * results are as many as it has strides.
 *   (1134 + 180 + 300) x 2 x 2 = 6456: 497 a tile     (300 + 180 + 3 x 4 x 5 x 6 x 2) x 2 x 2 = 4800: 370 */
static void test_bytes_of_all_operands(void **state)
{
    (void)state;
    struct chip chip = small_chip(13);
    const struct conv_params p = { .groups = 2, .batch = 3, .in_h = 9, .in_w = 7, .out_h = 4, .out_w = 5, .kernel_h = 3, .kernel_w = 2,
                                   .in_chans = 6, .out_chans = 5, .stride = 2, .stride_w = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD), back = conv_shape_of_pass(&p, PASS_BACKWARD_DATA);
    assert_int_equal(conv_search_start(&s, &chip, &options).operand_bytes, 497);
    assert_int_equal(conv_search_start(&back, &chip, &options).operand_bytes, 370);
}

/* Few rows of floats leave the AMP idle between loads of weights. Turned round, the 1024 columns are 128 positions a tile, in eight
 * grains of channels and one of outputs, and all is laid out anew, by fours of floats:
 *   1024 x 64 weights   32,768 B a tile: 10,240 and 8192 + 1 + 37
 *   64 x 4 inputs       128 B: 40 and 32 + 1 + 37;     1024 x 4 results   2048 B: 640 and 512 + 1 + 37
 *   compute             50 + 6 x (7 + 3 x 7) + 13 + 8 x (15 + 19 + 6 + 32 + 6 x 107), sums at zero 6 x (5 + 86) */
static void test_products_turn_round(void **state)
{
    (void)state;
    struct chip chip = small_chip(8);
    struct conv_shape s = matmul_conv_shape(1, 1024, 64, 4, TYPE_FP32, PASS_FORWARD), t;
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.split.field, 8);
    assert_int_equal(p.split.out_chans, 1);
    assert_int_equal(p.rearrange_cycles, 10240 + 8230 + 40 + 70 + 640 + 550);
    assert_int_equal(p.compute_cycles, 10240 + 40 + 640 + 50 + 168 + 13 + 8 * 714 + 546);
    assert_int_equal(p.mac, 4 * 64 * 1024);
    assert_true(conv_shape_swapped(&t, &s) && t.field_h == 1024 && t.out_chans == 4 && t.in_chans == 64);
    s = matmul_conv_shape(1, 64, 64, 256, TYPE_FP32, PASS_FORWARD);         /* rows enough, and no reason to */
    assert_int_equal(planned(&s, &chip, &options).rearrange_cycles, 0);
    const struct conv_params c = { .groups = 1, .batch = 1, .in_h = 5, .in_w = 5, .out_h = 5, .out_w = 5, .kernel_h = 1, .kernel_w = 1,
                                   .in_chans = 64, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_false(conv_shape_swapped(&t, &s));
}

/* A single tile has all operands in place, so that only copies with padding and the sums are temporary: eight channels in a grain of sixteen take 512 B.
 * With a kernel of three rows, two of which share a pass, the fourth row takes 1024 B of input and 2304 B of weights. From elsewhere, operands take as
 * much again. */
static void test_padding_takes_memory(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct conv_params c = { .groups = 1, .batch = 1, .in_h = 4, .in_w = 4, .out_h = 4, .out_w = 4, .kernel_h = 1, .kernel_w = 1,
                             .in_chans = 8, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 512 + 16 * 16 * 2);
    s.in_elsewhere = 1;
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 2 * 512 + 16 * 16 * 2);
    s.weights_elsewhere = 1;
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 2 * 512 + 16 * 16 * 2 + 16 * 16 * 2);
    c.in_h = c.in_w = c.out_h = c.out_w = 8;
    c.kernel_h = c.kernel_w = 3;
    s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 1024 + 2304 + 64 * 16 * 2);
}

/* 64 rows of 16 channels to 8 in float sums: operands and results 2048 + 256 + 1024 B, temporaries 2048 + 256 + 2048, 7680 in all. A worker's
 * 11 positions take 4 / 0.8 cycles each where all of it is interleaved memory; where 2680 are beyond, 4 x 2680 / 7680 more.
 *   50 + 42 + 13 + 15 + 19 + 6 + 32 + 6 x (19 + 55 or 71);   sums at zero 6 x (5 + 43), cast 6 x (26 + 43)
 * A chip that loses nothing there has no conflict either, nor have half sums of eight units, which leave ports idle. */
static void test_loads_beyond_interleaved_memory(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct conv_shape s = matmul_conv_shape(1, 8, 16, 64, TYPE_FP16, PASS_FORWARD);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    uint64_t lossless = planned(&s, &chip, &floats).compute_cycles;
    chip.interleaved_bytes = 7680;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, lossless);
    chip.amp_efficiency = 0.8;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, 177 + 6 * (19 + 55) + 288 + 414);
    chip.interleaved_bytes = 5000;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, 177 + 6 * (19 + 71) + 288 + 414);
    chip.conv_units_fp16_fp16 = 8;
    chip.mac_fp16_fp16_per_cycle = 32;
    uint64_t halves = planned(&s, &chip, &options).compute_cycles;
    chip.interleaved_bytes = 0;
    assert_int_equal(planned(&s, &chip, &options).compute_cycles, halves);
}

/* An operand that another operation has laid out moves whole: 5 x 16 halves for one column grain, none of which is
 * on the tile already. Weights that are in place move only by the two thirds that are elsewhere. If all operands are
 * in place, one tile computes five rows (365 cycles, and 54 to zero 80 sums) and nothing moves. */
static void test_operands_from_elsewhere(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    uint64_t seed = 31;
    struct conv_shape s = matmul_conv_shape(1, 16, 16, 5, TYPE_FP16, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.exchange_cycles, 0);
    assert_int_equal(p.compute_cycles, 365 + 54);
    assert_near(p.imbalance, 7, 0);
    s = matmul_conv_shape(1, 16, 16, 13, TYPE_FP16, PASS_FORWARD);
    s.in_elsewhere = 1;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.exchanged_bytes, 6 * (171 + 160));           /* as test_one_block, but for the weights */
    assert_int_equal(p.exchange_cycles, 62 + 1 + 37);               /* (171 + 80) / 4 */
    for (int i = 0; i < N_RANDOM; i++) {
        struct conv_shape here = random_shape(&seed), there = here;
        chip.n_tiles = draw(&seed, 1, 60);
        there.in_elsewhere = there.weights_elsewhere = 1;
        struct op_plan near = planned(&here, &chip, &options), far = planned(&there, &chip, &options);
        assert_true(op_plan_cycles(&far) >= op_plan_cycles(&near));
    }
}

/* An operand from elsewhere is copied to where the plan wants it if more than seven parts need it. 16 x 5 halves of input for seven grains of outputs
 * move to each tile as they are; for eight, 20 B a tile move first, and then 7/8 of all, as two tiles share a bus.
 *   160 / 4 + 1 + 37 = 78     20 / 4 + 1 + 37 = 43, 70 / 4 + 1 + 37 = 55
 * Weights of 16 x 16 halves for seven parts of the field arrive as 512 B; for eight, 64 B move first, and then 7/8.
 *   512 / 4 + 1 + 37 = 166    64 / 4 + 1 + 37 = 54, 448 / 4 + 1 + 37 = 150
 * A copy has no vertices. */
static void test_operands_of_many_parts(void **state)
{
    (void)state;
    for (uint32_t n = 7; n <= 8; n++) {
        struct chip chip = small_chip(n);
        struct conv_shape s = matmul_conv_shape(1, 16 * n, 16, 5, TYPE_FP16, PASS_FORWARD), w = matmul_conv_shape(1, 16, 16, 64 * n, TYPE_FP16, PASS_FORWARD);
        s.in_elsewhere = w.weights_elsewhere = 1;
        struct op_plan p = planned(&s, &chip, &options), q = planned(&w, &chip, &options);
        assert_int_equal(p.split.out_chans, n);
        assert_int_equal(p.exchange_cycles, n == 7 ? 78 : 43 + 55);
        assert_int_equal(p.n_supersteps, n == 7 ? 1 : 2);
        assert_int_equal(q.split.field, n);
        assert_int_equal(q.exchange_cycles, n == 7 ? 166 : 54 + 150);
        assert_int_equal(q.code.state_bytes, p.code.state_bytes);
    }
}

/* A layer of few rows keeps its weights in place, a layer of many does not: then each pass has its own plan. */
static void test_fully_connected(void **state)
{
    (void)state;
    struct chip chip = small_chip(60);
    struct op_plan joint[N_OP_PASSES], apart[N_OP_PASSES];
    const struct conv_shape own[] = {
        matmul_conv_shape(1, 768, 512, 4, TYPE_FP16, PASS_FORWARD),
        matmul_conv_shape(1, 512, 768, 4, TYPE_FP16, PASS_BACKWARD_DATA),
        matmul_conv_shape(1, 768, 4, 512, TYPE_FP16, PASS_BACKWARD_WEIGHT),
    };
    uint64_t joint_cycles = 0, apart_cycles = 0;
    const struct layer_shape layer = { 1, 4, 512, 768, TYPE_FP16 };
    struct plan_choice choice;
    conv_plan_fully_connected(joint, &choice, &layer, &chip, &options);
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        conv_plan_search(&apart[pass], NULL, &own[pass], &chip, &options);
        joint_cycles += op_plan_cycles(&joint[pass]);
        apart_cycles += op_plan_cycles(&apart[pass]);
        assert_int_equal(joint[pass].mac, 4 * 512 * 768);
    }
    assert_true(joint_cycles < apart_cycles);
    assert_int_equal(joint[PASS_FORWARD].split.out_chans, 1);
    assert_int_equal(joint[PASS_FORWARD].split.in_chans, joint[PASS_BACKWARD_DATA].split.field);
    assert_int_equal(joint[PASS_FORWARD].split.field, joint[PASS_BACKWARD_DATA].split.in_chans);
    conv_plan_fully_connected_as(apart, &choice, &layer, &chip, &options);
    assert_memory_equal(apart, joint, sizeof joint);
    const struct layer_shape narrow = { 1, 1, 5 * 16, 8, TYPE_FP16 };      /* a grain of columns, five of the inner dimension: one on each tile */
    chip = small_chip(5);
    conv_plan_fully_connected(joint, &choice, &narrow, &chip, &options);
    assert_int_equal(choice.joint_inner, 5);
    assert_int_equal(joint[PASS_FORWARD].split.in_chans, 5);
}

/* The gradient of a 2 x 2 convolution of stride 2 has 16 positions of 4 elements and 16 channels, 1024 outputs. Four
 * tiles take 256 outputs each; out of 5 tiles that is 5 / 4 of an even share. With three tiles, two take 512. With 7
 * tiles, six take half of the channels and up to 6 of the positions: 192 outputs. */
static void test_imbalance_of_a_dilated_gradient(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 4, .out_w = 4, .kernel_h = 2, .kernel_w = 2,
                                   .in_chans = 16, .out_chans = 16, .stride = 2, .type = TYPE_FP16 };
    static const struct { uint64_t n_tiles, n_used, fullest; } cases[] = {
        { 1, 1, 1024 }, { 3, 2, 512 }, { 4, 4, 256 }, { 5, 4, 256 }, { 7, 6, 192 },
    };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_BACKWARD_DATA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chip chip = small_chip(cases[i].n_tiles);
        struct op_plan q = planned(&s, &chip, &options);
        assert_int_equal(q.n_tiles_used, cases[i].n_used);
        assert_near(q.imbalance, (double)(cases[i].n_tiles * cases[i].fullest) / 1024, 1e-12);
    }
}

/* Only a pure product is turned: one with a batch, width, kernel, stride or expansion of two, or with any two of
 * these, is not. */
static void test_only_products_are_turned(void **state)
{
    (void)state;
    struct conv_shape s = matmul_conv_shape(3, 24, 16, 13, TYPE_FP16, PASS_FORWARD), t;
    uint32_t *sizes[] = { &s.batch, &s.field_w, &s.kernel_h, &s.kernel_w, &s.in_stride_h, &s.in_stride_w, &s.out_stride_h, &s.out_stride_w,
                          &s.in_expand };
    enum { N = sizeof sizes / sizeof *sizes };
    assert_true(conv_shape_swapped(&t, &s) && t.field_h == 24 && t.in_h == 24 && t.out_chans == 13 && t.in_chans == 16 && t.groups == 3);
    for (size_t i = 0; i < N; i++)
        for (size_t k = i; k < N; k++) {
            *sizes[i] = *sizes[k] = 2;
            assert_false(conv_shape_swapped(&t, &s));
            *sizes[i] = *sizes[k] = 1;
        }
    s.in_h = 14;
    assert_false(conv_shape_swapped(&t, &s));
}

/* The gradient of a convolution's weights has groups of output channels, unless its operands are swapped: then it lies as the weights do. Any other
 * swapped result is laid out anew. */
static void test_weight_gradients_are_turned(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 1, .batch = 3, .in_h = 5, .in_w = 5, .out_h = 5, .out_w = 5, .kernel_h = 1, .kernel_w = 1,
                                   .in_chans = 24, .out_chans = 56, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_BACKWARD_WEIGHT), t;
    assert_true(s.rearrange_out && conv_shape_swapped(&t, &s) && !t.rearrange_out && t.rearrange_in && t.rearrange_weights);
    s = matmul_conv_shape(1, 24, 75, 56, TYPE_FP16, PASS_BACKWARD_WEIGHT);
    assert_true(s.rearrange_out && conv_shape_swapped(&t, &s) && t.rearrange_out);
    s = conv_shape_of_pass(&p, PASS_FORWARD);
    assert_false(s.rearrange_out);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_bytes_of_all_operands), cmocka_unit_test(test_products_turn_round), cmocka_unit_test(test_padding_takes_memory),
    cmocka_unit_test(test_loads_beyond_interleaved_memory), cmocka_unit_test(test_operands_from_elsewhere), cmocka_unit_test(test_operands_of_many_parts), cmocka_unit_test(test_fully_connected),
    cmocka_unit_test(test_imbalance_of_a_dilated_gradient), cmocka_unit_test(test_only_products_are_turned),
    cmocka_unit_test(test_weight_gradients_are_turned),
};
TAP_MAIN(tests)
