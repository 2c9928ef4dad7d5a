/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_vector_plan.c - operations as passes over data: counts of supersteps and cycles on paper, for 7 tiles.
 */
#include "tests/compiler/toy_op.h"

/* 3 x 50 halves on 7 tiles: 38 vectors of four, six of them on the fullest: 24 elements.
 * relu 9 + 6 x (23 + 2 x 1 vector a worker); one superstep, nothing moves. */
static void test_relu(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_RELU, &x, 1, (struct op_attributes){ 0 });
    assert_int_equal(p.compute_cycles, 9 + 6 * 25);
    assert_int_equal(p.exchange_cycles, 0);
    assert_int_equal(p.sync_cycles, 101);
    assert_int_equal(p.n_tiles_used, 7);
    toy_end(&t);
}

/* A product left its result uneven, with half as much again on the fullest tile: 36 of 150 elements instead of 24,
 * two vectors a worker. The next result is as uneven; moved data is even afterwards. */
static void test_runs_where_the_operand_lies(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    graph_op(&t.graph, OP_RELU, &x, 1, (struct op_attributes){ 0 });
    graph_op(&t.graph, OP_TRANSPOSE, &x, 1, (struct op_attributes){ .order = { 1, 0 } });
    struct op_plan stays, moves, even;
    op_plan_build(&stays, &t.graph, 0, (struct operands){ .imbalance = 1.5 }, &t.chip, &t.options, &t.cache);
    assert_int_equal(stays.compute_cycles, 9 + 6 * 27);
    assert_near(stays.imbalance, 1.5, 0);
    op_plan_build(&moves, &t.graph, 1, (struct operands){ .imbalance = 1.5 }, &t.chip, &t.options, &t.cache);
    op_plan_build(&even, &t.graph, 1, even_operands, &t.chip, &t.options, &t.cache);
    assert_int_equal(op_plan_cycles(&moves), op_plan_cycles(&even));
    assert_near(moves.imbalance, 1, 0);
    toy_end(&t);
}

/* Six elements on one tile of seven are seven times an even share, but no more than two words, a vector a worker. */
static void test_no_tile_has_more_than_all(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 2));
    graph_op(&t.graph, OP_RELU, &x, 1, (struct op_attributes){ 0 });
    struct op_plan p;
    op_plan_build(&p, &t.graph, 0, (struct operands){ .imbalance = 7 }, &t.chip, &t.options, &t.cache);
    assert_int_equal(p.compute_cycles, 9 + 6 * 25);
    toy_end(&t);
}

/* A function copies its operands in and its results out, each in a compute set of 48 turns and one for each 8 bytes of a worker. A layer norm of 3 x 50
 * halves takes 500 B, 72 a tile of seven, two such vectors a worker, and returns 300 B, 48 a tile. A relu is no function. */
static void test_functions_copy_operands(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(50)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(50)) };
    struct op_plan norm = plan_op(&t, OP_LAYER_NORM, in, 3, (struct op_attributes){ 0 });
    t.options.operations_by_value = true;
    struct op_plan called = plan_last(&t), relu = plan_op(&t, OP_RELU, in, 1, (struct op_attributes){ 0 });
    assert_int_equal(called.compute_cycles, norm.compute_cycles + (288 + 12) + (288 + 6));
    assert_int_equal(called.n_supersteps, norm.n_supersteps + 2);
    assert_int_equal(called.temp_bytes_per_tile, norm.temp_bytes_per_tile + 72 + 43);
    assert_int_equal(relu.n_supersteps, 1);
    toy_end(&t);
}

/* A reshape neither moves nor computes anything. */
static void test_view(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_VIEW, &x, 1, (struct op_attributes){ .view = { 15, 10 } });
    assert_int_equal(op_plan_cycles(&p), 0);
    assert_int_equal(p.n_supersteps, 0);
    toy_end(&t);
}

/* A row of 50 is broadcast to three: each tile receives the 24 elements that it needs, copies them out, 6 x (48 + 1), and
 * multiplies: 11 + 6 x (26 + 3). */
static void test_repeated_operand(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(1, 50)) };
    struct op_plan p = plan_op(&t, OP_MUL, in, 2, (struct op_attributes){ 0 });
    assert_int_equal(p.compute_cycles, 6 * 49 + 11 + 6 * 29);
    assert_int_equal(p.exchange_cycles, 12 + 1 + 37);
    toy_end(&t);
}

/* Hard swish: add (11 + 6 x 22), make two bounds (6 x 27), cut off (11 + 6 x (26 + 14)), divide by a number (11 + 6 x (20 + 16)), multiply
 * (11 + 6 x 29). */
static void test_function_of_steps(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_MAP, &x, 1, (struct op_attributes){ .function = FUNCTION_HARD_SWISH });
    assert_int_equal(p.compute_cycles, 11 + 6 * 22 + 2 * 6 * 27 + 11 + 6 * 40 + 11 + 6 * 36 + 11 + 6 * 29);
    assert_int_equal(p.n_supersteps, 6);
    toy_end(&t);
}

/* 25 pixels of 6 channels in one window. Each tile adds its 24 halves (11 + 6 x 18). Then 7 sums of 4 bytes arrive
 * for each channel (7 cycles, one begun, 37 of transit) and are added (11 + 6 x 18). Dividing gives 6 means (11 + 6
 * x 22). */
static void test_window_over_all_is_a_sum(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(1, 5, 5, 6));
    struct op_plan p = plan_op(&t, OP_AVERAGE_POOL, &x, 1, (struct op_attributes){ .kernel_h = 5, .kernel_w = 5, .stride = 1 });
    assert_int_equal(p.compute_cycles, 2 * (11 + 6 * 18) + 11 + 6 * 22);
    assert_int_equal(p.exchange_cycles, 7 + 1 + 37);
    toy_end(&t);
}

/* 150 halves on 7 tiles: 24 on the fullest, 4 for each worker, two a cycle. The scale of quarters is sent to every
 * tile first: a word, one begun, and 37 of transit. Floats have no scale. */
static void test_quarters_are_cast_by_their_scale(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP8 });
    assert_int_equal(p.compute_cycles, 12 + 6 * (37 + 2));
    assert_int_equal(p.exchange_cycles, 1 + 1 + 37);
    assert_int_equal(p.n_supersteps, 1);
    p = plan_op(&t, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP32 });
    assert_int_equal(p.compute_cycles, 12 + 6 * (37 + 2));
    assert_int_equal(p.exchange_cycles, 0);
    x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 28));    /* 12 a tile, in words of the wider type, two of a worker; quarters alone would be 16 */
    p = plan_op(&t, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP8 });
    assert_int_equal(p.compute_cycles, 12 + 6 * (37 + 1));
    assert_int_equal(p.n_tiles_used, 7);
    x = tensor(&t, ROLE_ACTIVATION, TYPE_FP8, DIMS(3, 28));
    p = plan_op(&t, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP16 });
    assert_int_equal(p.compute_cycles, 12 + 6 * (37 + 1));
    x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(5));        /* fewer than tiles */
    p = plan_op(&t, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP8 });
    assert_int_equal(p.n_tiles_used, 5);
    toy_end(&t);
}

/* The second operand is on other tiles: 24 halves, 48 bytes, take 12 cycles, one begun, and 37 of transit. */
static void test_add(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50)), tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50)) };
    struct op_plan p = plan_op(&t, OP_ADD, in, 2, (struct op_attributes){ 0 });
    assert_int_equal(p.compute_cycles, 11 + 6 * (26 + 3));
    assert_int_equal(p.exchange_cycles, 12 + 1 + 37);
    assert_int_equal(p.exchanged_bytes, 7 * 48);
    toy_end(&t);
}

/* The gradient of 24 halves on the fullest tile comes to the output that the forward pass kept (48 bytes), unless both lie on the same
 * tiles. A dropout draws its mask again where it drew it, so that its gradient comes there, and the seed's 8 bytes; a scale keeps nothing. */
static void test_gradient_comes_to_what_was_kept(void **state)
{
    (void)state;
    static const struct { enum op_kind kind; bool together; uint64_t bytes, seed; } cases[] = {
        { OP_RELU, false, 48, 0 }, { OP_RELU, true, 0, 0 }, { OP_GELU, false, 48, 0 }, { OP_DROPOUT, false, 48, 8 }, { OP_SCALE, false, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        toy_start(&t);
        uint32_t in[2] = { tensor(&t, ROLE_INPUT, TYPE_FP16, DIMS(3, 40)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(40, 50)) };
        uint32_t y = graph_op(&t.graph, OP_MATMUL, in, 2, (struct op_attributes){ 0 });
        y = graph_op(&t.graph, cases[i].kind, &y, 1, (struct op_attributes){ .rate = 0.1 });
        uint32_t loss[2] = { y, tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(3)) };
        graph_op(&t.graph, OP_CROSS_ENTROPY, loss, 2, (struct op_attributes){ 0 });
        graph_add_backward(&t.graph);
        uint32_t backward = (uint32_t)t.graph.n_ops - 2;        /* the last is the product's gradient to its weights */
        assert_int_equal(t.graph.ops[backward].kind, cases[i].kind);
        struct op_plan p;
        op_plan_build(&p, &t.graph, backward, (struct operands){ .imbalance = 1, .together = cases[i].together }, &t.chip, &t.options, &t.cache);
        assert_int_equal(p.exchanged_bytes, 7 * (cases[i].bytes + cases[i].seed));
        assert_int_equal(p.exchange_cycles, (cases[i].bytes ? cases[i].bytes / 4 + 1 + 37 : 0) + (cases[i].seed ? cases[i].seed / 4 + 1 + 37 : 0));
        toy_end(&t);
    }
}

/* Three halves of another tensor arrive as the whole word of four that holds them; three halves that are repeated
 * arrive alone. */
static void test_small_operands(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(1, 3)), wide = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(5, 3));
    struct op_plan equal = plan_op(&t, OP_ADD, (uint32_t[]){ x, x }, 2, (struct op_attributes){ 0 });
    struct op_plan repeated = plan_op(&t, OP_ADD, (uint32_t[]){ wide, x }, 2, (struct op_attributes){ 0 });
    assert_int_equal(equal.exchanged_bytes, 7 * 8);
    assert_int_equal(repeated.exchanged_bytes, 7 * 6);
    toy_end(&t);
}

/* An element or two use two tiles, not seven. */
static void test_few_elements(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP32, DIMS(1, 3));
    struct op_plan p = plan_op(&t, OP_TANH, &x, 1, (struct op_attributes){ 0 });
    assert_int_equal(p.n_tiles_used, 2);
    toy_end(&t);
}

static uint32_t norm_inputs(struct toy *t, uint32_t *in, uint64_t width)
{
    in[0] = tensor(t, ROLE_ACTIVATION, TYPE_FP16, DIMS(5, 6, 7, width));
    in[1] = tensor(t, ROLE_WEIGHT, TYPE_FP16, DIMS(width));
    in[2] = tensor(t, ROLE_WEIGHT, TYPE_FP16, DIMS(width));
    return 3;
}

/* Training takes sums, sums of sums, a root, the multiplicand and addend of each channel, the variance, a product and a sum. Inference has the
 * statistics, and needs no variance. Over replicas there are two more small steps. */
static void test_batch_norm_passes(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[3], n = norm_inputs(&t, in, 22);
    assert_int_equal(plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 1 }).n_supersteps, 8);
    assert_int_equal(plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 2 }).n_supersteps, 10);
    /* The stable way takes a pass more (less the mean) and a second reduction of as many supersteps as the first;
     * shared, two small steps more. */
    struct op_plan plain = plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 1 });
    struct op_plan stable = plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 1, .stable = true });
    assert_int_equal(stable.n_supersteps, 8 + 1 + 2);
    assert_true(stable.compute_cycles > plain.compute_cycles && stable.exchanged_bytes >= plain.exchanged_bytes);
    assert_int_equal(plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 2, .stable = true }).n_supersteps, 8 + 1 + 2 + 4);
    t.options.inference = true;
    assert_int_equal(plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 2 }).n_supersteps, 5);
    assert_int_equal(plan_op(&t, OP_BATCH_NORM, in, n, (struct op_attributes){ .norm_groups = 2, .stable = true }).n_supersteps, 5);
    toy_end(&t);
}

static void test_softmax_passes(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(90, 50));
    assert_true(plan_op(&t, OP_SOFTMAX, &x, 1, (struct op_attributes){ 0 }).n_supersteps >= 6);
    toy_end(&t);
}

/* 70 rows of 48 halves on 7 tiles, as a product left them: 480 elements on each, 30 pieces of 16, five for each worker. Maximum and sum: 11
 * + 6 x (17 + 20), and 12 for each of five pieces in each turn. Less the maximum, and times the inverse: 13 + 6 x
 * (24 + 2 x 20), and 7 for each piece. Whole rows are 10 on a tile, 2 of a worker. Exponential: 20 + 6 x (33 + 4 x 20). Inverses of 70 rows, 12 on the
 * fullest: 20 + 6 x (17 + 15). A batch norm of the same size has no pieces. */
static void test_rows_meet_their_values_in_pieces(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(70, 48));
    struct op_plan whole = plan_op(&t, OP_SOFTMAX, &x, 1, (struct op_attributes){ 0 }), p;
    op_plan_build(&p, &t.graph, 0, (struct operands){ .imbalance = 1, .groups = 3 }, &t.chip, &t.options, &t.cache);
    assert_int_equal(p.compute_cycles, 2 * (11 + 6 * (37 + 12 * 5)) + 2 * (13 + 6 * (64 + 7 * 5)) + 20 + 6 * 113 + 20 + 6 * 32);
    assert_int_equal(whole.compute_cycles, 2 * (11 + 6 * (37 + 12 * 2)) + 2 * (13 + 6 * (64 + 7 * 2)) + 20 + 6 * 113 + 20 + 6 * 32);
    assert_int_equal(p.groups, 3);
    toy_end(&t);
}

/* 3 x 50 halves, 24 on the fullest tile: 6 + 6 x 24 + 2 x 6 vectors. The states of six generators, 16 bytes each,
 * are read or written three times: 6 x (48 + 2). The seed of 8 bytes moves once. The backward pass draws the mask
 * again. */
static void test_dropout_sets_and_restores_generators(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_DROPOUT, &x, 1, (struct op_attributes){ .rate = 0.1 });
    assert_int_equal(p.compute_cycles, 6 + 6 * 24 + 2 * 6 + 3 * 6 * 50);
    assert_int_equal(p.n_supersteps, 4);
    assert_int_equal(p.exchanged_bytes, 7 * 8);
    toy_end(&t);
}

/* The same 24 halves, drawn one by one: 4 + 6 x 24 + 4 x 6 vectors of random numbers, 11 + 6 (20 + 8) and 12 + 6 (37 + 2 x 4) and 11 + 6 (20 + 8 x 2)
 * for the comparison, the cast and the division of a worker's 4, besides the states of the generators. Its result lies by itself. */
static void test_noise_is_drawn_by_four_operations(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_NOISE, &x, 1, (struct op_attributes){ .rate = 0.1 });
    assert_int_equal(p.compute_cycles, 4 + 6 * 24 + 4 * 6 + 11 + 6 * 28 + 12 + 6 * 45 + 11 + 6 * 36 + 3 * 6 * 50);
    assert_int_equal(p.n_supersteps, 7);
    assert_false(op_keeps_layout(&t.graph.ops[0]));
    toy_end(&t);
}

/* 150 halves: 24 on the fullest tile, 48 bytes; 5/4 of them at 2 bytes a cycle: 30. */
static void test_transpose(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t x = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 50));
    struct op_plan p = plan_op(&t, OP_TRANSPOSE, &x, 1, (struct op_attributes){ .order = { 1, 0 } });
    assert_int_equal(p.compute_cycles, 30);
    assert_int_equal(p.rearrange_cycles, 30 + 50);
    toy_end(&t);
}

/* Twice the steps take twice the supersteps of the cell, as an LSTM runs through time. Its work is that of its
 * products. */
static void test_lstm_is_serial(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[4] = { 0, tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(24, 4 * 20)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(20, 4 * 20)),
                       tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(8 * 20)) };
    in[0] = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 11, 24));
    struct op_plan one = plan_op(&t, OP_LSTM, in, 4, (struct op_attributes){ .hidden = 20 });
    in[0] = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 22, 24));
    struct op_plan two = plan_op(&t, OP_LSTM, in, 4, (struct op_attributes){ .hidden = 20 });
    assert_int_equal(one.mac, 3 * 11 * 80 * (24 + 20));
    assert_int_equal(two.mac, 2 * one.mac);
    assert_true(one.n_supersteps >= 11 * 10);
    assert_in_range(two.n_supersteps - one.n_supersteps, 11 * 10, 11 * 14);
    toy_end(&t);
}

/* 3 x 11 x 80 halves are 755 bytes on the fullest of 7 tiles. With memory for ten times as much, the inputs of all
 * steps are multiplied at once and kept; with a byte less, each step multiplies its own. */
static void test_inputs_of_all_steps_at_once(void **state)
{
    (void)state;
    struct op_plan plans[2];
    for (int less = 0; less < 2; less++) {
        struct toy t;
        toy_start(&t);
        t.chip.tile_memory_bytes = 7550 - less;
        uint32_t in[4] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 11, 24)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(24, 4 * 20)),
                           tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(20, 4 * 20)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(8 * 20)) };
        plans[less] = plan_op(&t, OP_LSTM, in, 4, (struct op_attributes){ .hidden = 20 });
        assert_int_equal(plans[less].mac, 3 * 11 * 80 * (24 + 20));
        toy_end(&t);
    }
    assert_true(op_plan_cycles(&plans[0]) != op_plan_cycles(&plans[1]));
    assert_true(plans[0].temp_bytes_per_tile >= 755 && plans[1].temp_bytes_per_tile < plans[0].temp_bytes_per_tile);
}

/* A GRU multiplies three gates and works on three. If its state is reset before the product, the candidate's product
 * waits for the reset. */
static void test_gru(void **state)
{
    (void)state;
    struct toy t;
    toy_start(&t);
    uint32_t in[4] = { tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 11, 24)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(24, 60)),
                       tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(20, 60)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(120)) };
    struct op_plan after = plan_op(&t, OP_GRU, in, 4, (struct op_attributes){ .hidden = 20 });
    struct op_plan before = plan_op(&t, OP_GRU, in, 4, (struct op_attributes){ .hidden = 20, .reset_before = true });
    in[0] = tensor(&t, ROLE_ACTIVATION, TYPE_FP16, DIMS(3, 22, 24));
    struct op_plan longer = plan_op(&t, OP_GRU, in, 4, (struct op_attributes){ .hidden = 20 });
    assert_int_equal(after.mac, 3 * 11 * 60 * (24 + 20));
    assert_int_equal(before.mac, after.mac);
    assert_int_equal(longer.mac, 2 * after.mac);
    assert_in_range(longer.n_supersteps - after.n_supersteps, 11 * 10, 11 * 14);
    assert_true(before.n_supersteps >= after.n_supersteps + 11);
    assert_true(op_plan_cycles(&before) > op_plan_cycles(&after));
    toy_end(&t);
}

/* Every kind of operation has a plan, forward and backward, and it costs something. */
static void test_all_kinds_backward(void **state)
{
    (void)state;
    static const enum op_kind kinds[] = { OP_SCALE, OP_RELU, OP_GELU, OP_TANH, OP_SIGMOID, OP_SWISH, OP_SOFTMAX, OP_DROPOUT };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct toy t;
        toy_start(&t);
        uint32_t in[2] = { tensor(&t, ROLE_INPUT, TYPE_FP16, DIMS(6, 40)), tensor(&t, ROLE_WEIGHT, TYPE_FP16, DIMS(40, 30)) };
        uint32_t y = graph_op(&t.graph, OP_MATMUL, in, 2, (struct op_attributes){ 0 });
        y = graph_op(&t.graph, kinds[i], &y, 1, (struct op_attributes){ .rate = 0.1 });
        uint32_t loss[2] = { y, tensor(&t, ROLE_INPUT, TYPE_INT32, DIMS(6)) };
        graph_op(&t.graph, OP_CROSS_ENTROPY, loss, 2, (struct op_attributes){ 0 });
        graph_add_backward(&t.graph);
        for (uint32_t op = 0; op < t.graph.n_ops; op++) {
            struct op_plan p;
            op_plan_build(&p, &t.graph, op, even_operands, &t.chip, &t.options, &t.cache);
            assert_true(op_plan_cycles(&p) > 0 && p.n_supersteps > 0);
        }
        toy_end(&t);
    }
}

/* Two tensors of 960 bytes: 480 halves each, 72 on the fullest of 7 tiles. Each is written as a slice, 25 + 6 x (63
 * + 2 x 3), with two steps of its index, 11 + 6 x (58 + 3). Reading adds a copy of 144 bytes, 6 x (48 + 3). As fp8
 * they are 72 bytes: slices of 36 halves, 25 + 6 x (63 + 2 x 2), and a cast each way, 12 + 6 x (37 + 6), since
 * quarters are cast two at a time as halves are. */
static void test_stash_is_sliced(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct op_plan_options opt = { 0 };
    struct op_plan write, read;
    struct stash s = { .n_bytes = 2 * 960, .n_tensors = 2 };
    uint64_t index = 2 * (11 + 6 * 61), cast = 12 + 6 * (37 + 6);
    stash_plan(&write, &read, &s, &chip, &opt);
    assert_int_equal(write.compute_cycles, 2 * (25 + 6 * 69 + index));
    assert_int_equal(read.compute_cycles, 2 * (25 + 6 * 69 + index + 6 * 51));
    assert_int_equal(write.n_supersteps, 2 * 3);
    assert_int_equal(read.n_supersteps, 2 * 4);
    s.fp8 = true;
    stash_plan(&write, &read, &s, &chip, &opt);
    assert_int_equal(write.compute_cycles, 2 * (25 + 6 * 67 + index + cast));
    assert_int_equal(read.compute_cycles, write.compute_cycles);
    s.n_tensors = s.n_bytes = 0;
    stash_plan(&write, &read, &s, &chip, &opt);
    assert_int_equal(op_plan_cycles(&write) + op_plan_cycles(&read), 0);
}

/* 1000 parameters on 7 tiles: 144 on the fullest. LAMB has two norms more than Adam; both count in floats. */
static void test_optimizer_work(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct op_plan_options opt = { 0 };
    struct op_plan adam, lamb, zero, nothing;
    vector_work_plan(&zero, WORK_ZERO, 1000, TYPE_FP16, 2, &chip, &opt);
    assert_int_equal(zero.compute_cycles, 6 * (26 + 6));
    vector_work_plan(&adam, WORK_ADAM, 1000, TYPE_FP16, 2, &chip, &opt);
    vector_work_plan(&lamb, WORK_LAMB, 1000, TYPE_FP16, 2, &chip, &opt);
    assert_int_equal(adam.n_supersteps, 9);
    assert_int_equal(lamb.n_supersteps, 9 + 4);
    vector_work_plan(&nothing, WORK_LAMB, 0, TYPE_FP16, 2, &chip, &opt);
    assert_int_equal(op_plan_cycles(&nothing), 0);
    struct op_plan sum;
    vector_work_plan(&sum, WORK_ACCUMULATE, 1000, TYPE_FP16, 2, &chip, &opt);
    assert_int_equal(sum.compute_cycles, 60 + 6 * (15 + 3 * 6));
    assert_int_equal(sum.exchange_cycles, 72 + 1 + 37);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relu), cmocka_unit_test(test_runs_where_the_operand_lies), cmocka_unit_test(test_no_tile_has_more_than_all), cmocka_unit_test(test_view), cmocka_unit_test(test_repeated_operand), cmocka_unit_test(test_function_of_steps),
        cmocka_unit_test(test_window_over_all_is_a_sum), cmocka_unit_test(test_quarters_are_cast_by_their_scale), cmocka_unit_test(test_add), cmocka_unit_test(test_gradient_comes_to_what_was_kept), cmocka_unit_test(test_small_operands), cmocka_unit_test(test_few_elements),
        cmocka_unit_test(test_functions_copy_operands), cmocka_unit_test(test_batch_norm_passes), cmocka_unit_test(test_softmax_passes), cmocka_unit_test(test_rows_meet_their_values_in_pieces), cmocka_unit_test(test_dropout_sets_and_restores_generators), cmocka_unit_test(test_noise_is_drawn_by_four_operations),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_lstm_is_serial), cmocka_unit_test(test_inputs_of_all_steps_at_once), cmocka_unit_test(test_gru),
        cmocka_unit_test(test_all_kinds_backward), cmocka_unit_test(test_optimizer_work), cmocka_unit_test(test_stash_is_sliced),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
