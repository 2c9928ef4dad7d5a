/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_graph.c - shapes and work by hand, and the laws of the chain rule. */
#include "tests/check.h"
#include "system-model/graph/graph.h"

#define DIMS(...) (sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)), (const uint64_t[]){ __VA_ARGS__ }
static const struct op_attributes none;

static void start(struct graph *g, struct arena *a)
{
    *a = (struct arena){ 0 };
    graph_start(g, "test", 3, a);
    graph_layer(g, (struct layer){ .name = "one" });
}

static uint32_t weight(struct graph *g, uint32_t n_dims, const uint64_t *dims)
{
    return graph_tensor(g, "w", ROLE_WEIGHT, TYPE_FP16, n_dims, dims);
}

static uint32_t given(struct graph *g, enum data_type type, uint32_t n_dims, const uint64_t *dims)
{
    return graph_tensor(g, "x", ROLE_INPUT, type, n_dims, dims);
}

static void assert_dims(const struct graph *g, uint32_t id, size_t n, const uint64_t *dims)
{
    assert_int_equal(g->tensors[id].n_dims, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(g->tensors[id].dims[i], dims[i]);
}

static const struct op *find(const struct graph *g, enum op_kind kind, enum op_pass pass, size_t nth)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == kind && g->ops[i].pass == pass && nth-- == 0)
            return &g->ops[i];
    return NULL;
}

static size_t count(const struct graph *g, enum op_kind kind, enum op_pass pass)
{
    size_t n = 0;
    while (find(g, kind, pass, n))
        n++;
    return n;
}

/* ---- shapes and work --------------------------------------------------------------------- */

/* 19 x 13, kernel 5 x 3, stride 2, pad 1: (19 + 2 - 5) / 2 + 1 = 9, (13 + 2 - 3) / 2 + 1 = 7.
 * 3 * 9 * 7 * 10 outputs of 5 * 3 * 6 / 2 multiply-accumulates: 1890 * 45 = 85050. */
static void convolution(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t in[] = { given(&g, TYPE_FP16, DIMS(3, 19, 13, 6)), weight(&g, DIMS(5, 3, 3, 10)) };
    struct op_attributes at = { .kernel_h = 5, .kernel_w = 3, .stride = 2, .pad = 1, .groups = 2 };
    uint32_t y = graph_op(&g, OP_CONV, in, 2, at);
    assert_dims(&g, y, DIMS(3, 9, 7, 10));
    assert_int_equal(op_mac(&g, &g.ops[0]), 85050);
    assert_int_equal(op_flop(&g, &g.ops[0]), 170100);
    assert_int_equal(graph_parameters(&g), 450);
    arena_free(&a);
}

/* A kernel of one row does not see the padding of rows: [3, 1, 11, 5] stays one row, 11 + 2 * 3 - 7 + 1 = 11. */
static void convolution_over_time(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t in[] = { given(&g, TYPE_FP16, DIMS(3, 1, 11, 5)), weight(&g, DIMS(1, 7, 1, 5)) };
    struct op_attributes at = { .kernel_h = 1, .kernel_w = 7, .stride = 1, .pad = 3, .groups = 5 };
    assert_dims(&g, graph_op(&g, OP_CONV, in, 2, at), DIMS(3, 1, 11, 5));
    assert_int_equal(op_mac(&g, &g.ops[0]), 3 * 11 * 5 * 7);
    arena_free(&a);
}

/* One matrix for all rows: 3 * 7 rows of 5 by 5 x 11. A matrix a group: 3 * 2 groups of 7 x 5 by 5 x 9, given as 9 x
 * 5. */
static void matmul(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t one[] = { given(&g, TYPE_FP16, DIMS(3, 7, 5)), weight(&g, DIMS(5, 11)) };
    assert_dims(&g, graph_op(&g, OP_MATMUL, one, 2, none), DIMS(3, 7, 11));
    assert_int_equal(op_mac(&g, &g.ops[0]), 3 * 7 * 5 * 11);
    uint32_t many[] = { given(&g, TYPE_FP16, DIMS(3, 2, 7, 5)), given(&g, TYPE_FP16, DIMS(3, 2, 9, 5)) };
    struct op_attributes at = { .transpose_b = true };
    assert_dims(&g, graph_op(&g, OP_MATMUL, many, 2, at), DIMS(3, 2, 7, 9));
    struct matmul_shape s = op_matmul_shape(&g, &g.ops[1]);
    assert_int_equal(s.groups, 6);
    assert_int_equal(s.rows, 7);
    assert_int_equal(s.inner, 5);
    assert_int_equal(s.columns, 9);
    assert_int_equal(op_mac(&g, &g.ops[1]), 6 * 7 * 5 * 9);
    arena_free(&a);
}

/* [3, 11, 14] as 7 heads of 2: [3, 7, 11, 2]; and back. */
static void transposes(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 11, 14));
    struct op_attributes split = { .view = { 3, 11, 7, 2 }, .order = { 0, 2, 1, 3 } };
    uint32_t y = graph_op(&g, OP_TRANSPOSE, &x, 1, split);
    assert_dims(&g, y, DIMS(3, 7, 11, 2));
    struct op_attributes join = { .order = { 0, 2, 1, 3 }, .merge = 2 };
    assert_dims(&g, graph_op(&g, OP_TRANSPOSE, &y, 1, join), DIMS(3, 11, 14));
    arena_free(&a);
}

static void slices_pads_and_joins(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 5, 21));
    uint32_t y = graph_op(&g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 2, .pieces = 3 });
    assert_int_equal(g.ops[0].n_outputs, 3);
    assert_dims(&g, y + 2, DIMS(3, 5, 7));
    uint32_t z = graph_op(&g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .begin = 1, .length = 4 });
    assert_dims(&g, z, DIMS(3, 4, 21));
    uint32_t both[] = { x, z };
    assert_dims(&g, graph_op(&g, OP_CONCAT, both, 2, (struct op_attributes){ .axis = 1 }), DIMS(3, 9, 21));
    assert_dims(&g, graph_op(&g, OP_PAD, &z, 1, (struct op_attributes){ .axis = 1, .begin = 2, .length = 8 }),
                DIMS(3, 8, 21));
    arena_free(&a);
}

static void gathers(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t words[] = { weight(&g, DIMS(101, 6)), given(&g, TYPE_INT32, DIMS(3, 13)) };
    uint32_t x = graph_op(&g, OP_GATHER, words, 2, none);
    assert_dims(&g, x, DIMS(3, 13, 6));
    assert_int_equal(g.tensors[x].type, TYPE_FP16);
    uint32_t picked[] = { x, given(&g, TYPE_INT32, DIMS(3, 2)) };
    assert_dims(&g, graph_op(&g, OP_GATHER, picked, 2, none), DIMS(3, 2, 6));
    arena_free(&a);
}

/* Pools, the outer sum of a joint network, casts and losses. */
static void other_shapes(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t image = given(&g, TYPE_UINT8, DIMS(3, 9, 9, 5));
    uint32_t x = graph_op(&g, OP_INPUT_PREPARE, &image, 1, (struct op_attributes){ .to_type = TYPE_FP16 });
    assert_int_equal(g.tensors[x].type, TYPE_FP16);
    struct op_attributes window = { .kernel_h = 3, .kernel_w = 3, .stride = 2, .pad = 1 };
    assert_dims(&g, graph_op(&g, OP_MAX_POOL, &x, 1, window), DIMS(3, 5, 5, 5));
    assert_int_equal(op_flop(&g, &g.ops[1]), 3 * 5 * 5 * 5 * 9);
    uint32_t pair[] = { given(&g, TYPE_FP16, DIMS(3, 11, 6)), given(&g, TYPE_FP16, DIMS(3, 4, 6)) };
    uint32_t joint = graph_op(&g, OP_OUTER_ADD, pair, 2, none);
    assert_dims(&g, joint, DIMS(3, 11, 4, 6));
    uint32_t scored[] = { joint, given(&g, TYPE_INT32, DIMS(3, 3)) };
    uint32_t loss = graph_op(&g, OP_TRANSDUCER_LOSS, scored, 2, none);
    assert_dims(&g, loss, DIMS(1));
    assert_int_equal(g.tensors[loss].type, TYPE_FP32);
    arena_free(&a);
}

/* ---- the chain rule ------------------------------------------------------------------------ */

static uint32_t dense(struct graph *g, uint32_t x, uint64_t in, uint64_t out)
{
    uint32_t pair[] = { x, weight(g, DIMS(in, out)) };
    return graph_op(g, OP_MATMUL, pair, 2, none);
}

static void lose(struct graph *g, uint32_t x)
{
    uint32_t pair[] = { x, given(g, TYPE_INT32, DIMS(3)) };
    graph_op(g, OP_CROSS_ENTROPY, pair, 2, none);
}

/* Nothing flows to the graph's input: the first matmul has no data pass. */
static void inputs_get_no_gradient(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 7));
    x = dense(&g, x, 7, 5);
    x = graph_op(&g, OP_RELU, &x, 1, none);
    lose(&g, dense(&g, x, 5, 2));
    graph_add_backward(&g);
    assert_int_equal(count(&g, OP_MATMUL, PASS_BACKWARD_DATA), 1);
    assert_int_equal(count(&g, OP_MATMUL, PASS_BACKWARD_WEIGHT), 2);
    assert_int_equal(count(&g, OP_RELU, PASS_BACKWARD_DATA), 1);
    const struct op *relu = find(&g, OP_RELU, PASS_BACKWARD_DATA, 0);
    assert_int_equal(relu->inputs[1], g.ops[relu->forward_op].outputs[0]);      /* relu keeps what it made */
    arena_free(&a);
}

/* A gelu keeps its input, a product its own for its weight; a block's last product and sum serve the next layer alone. The relu's gradient reads its
 * result, which is there only if it is a checkpoint. The loss's gradient reads the scores. */
static void what_serves_later_layers(void **state)
{
    static const enum ahead want[] = { AHEAD_NEVER, AHEAD_NEVER, AHEAD_OF_STAGE, AHEAD_OF_STAGE, AHEAD_OF_CHECKPOINT, AHEAD_NEVER };
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 7)), y = dense(&g, x, 7, 5);
    uint32_t sum[] = { dense(&g, graph_op(&g, OP_GELU, &y, 1, none), 5, 7), x };
    y = graph_op(&g, OP_ADD, sum, 2, none);
    graph_layer(&g, (struct layer){ .name = "two" });
    y = graph_op(&g, OP_RELU, &y, 1, none);
    graph_layer(&g, (struct layer){ .name = "three" });
    lose(&g, dense(&g, y, 7, 2));
    graph_add_backward(&g);
    const enum ahead *ahead = graph_for_later_layers(&g, &a);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(ahead[i], want[i]);
    for (size_t i = g.n_forward_ops; i < g.n_ops; i++)
        assert_int_equal(ahead[i], AHEAD_NEVER);
    arena_free(&a);
}

/* Both branches of y = relu(x) + gelu(x) give x a gradient; they are added once, in the branch's layer. */
static void branches_are_summed(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = dense(&g, given(&g, TYPE_FP16, DIMS(3, 7)), 7, 5);
    graph_layer(&g, (struct layer){ .name = "two" });
    uint32_t pair[] = { graph_op(&g, OP_RELU, &x, 1, none), graph_op(&g, OP_GELU, &x, 1, none) };
    lose(&g, graph_op(&g, OP_ADD, pair, 2, none));
    graph_add_backward(&g);
    assert_int_equal(count(&g, OP_ADD, PASS_BACKWARD_DATA), 1);
    const struct op *sum = find(&g, OP_ADD, PASS_BACKWARD_DATA, 0), *w = find(&g, OP_MATMUL, PASS_BACKWARD_WEIGHT, 0);
    assert_int_equal(sum->forward_op, NO_ID);
    assert_int_equal(sum->layer_id, 1);
    assert_int_equal(g.tensors[sum->outputs[0]].of_tensor, x);
    assert_int_equal(w->inputs[0], sum->outputs[0]);
    arena_free(&a);
}

/* A table used as embedding and, transposed, as projection: one weight, two gradients, no sum. */
static void tied_weights_keep_several_gradients(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t table = weight(&g, DIMS(101, 6));
    uint32_t words[] = { table, given(&g, TYPE_INT32, DIMS(3)) };
    uint32_t again[] = { graph_op(&g, OP_GATHER, words, 2, none), table };
    lose(&g, graph_op(&g, OP_MATMUL, again, 2, (struct op_attributes){ .transpose_b = true }));
    graph_add_backward(&g);
    size_t n = 0;
    for (size_t i = 0; i < g.n_tensors; i++)
        n += g.tensors[i].role == ROLE_WEIGHT_GRADIENT && g.tensors[i].of_tensor == table;
    assert_int_equal(n, 2);
    assert_int_equal(count(&g, OP_ADD, PASS_BACKWARD_DATA), 0);
    assert_int_equal(graph_parameters(&g), 606);
    arena_free(&a);
}

/* Scores of attention: both operands are activations; the second one's gradient is the weight-shaped pass. */
static void matmul_of_activations(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 7, 5));
    uint32_t pair[] = { dense(&g, x, 5, 4), dense(&g, x, 5, 4) };
    lose(&g, graph_op(&g, OP_MATMUL, pair, 2, (struct op_attributes){ .transpose_b = true }));
    graph_add_backward(&g);
    const struct op *op = find(&g, OP_MATMUL, PASS_BACKWARD_WEIGHT, 0);
    assert_int_equal(g.tensors[op->outputs[0]].role, ROLE_GRADIENT);
    assert_int_equal(g.tensors[op->outputs[0]].of_tensor, pair[1]);
    assert_int_equal(op_mac(&g, op), 3 * 7 * 4 * 7);
    assert_int_equal(count(&g, OP_MATMUL, PASS_BACKWARD_WEIGHT), 3);
    assert_int_equal(count(&g, OP_MATMUL, PASS_BACKWARD_DATA), 1);
    arena_free(&a);
}

/* LSTM, 3 x 11 steps of 5 into 7: 33 * 28 * 12 = 11088; without a gradient for its input only 33 * 28 * 7 = 6468. A
 * GRU has three gates instead of four, and the gradients of four addends. */
static void recurrence(void **state)
{
    (void)state;
    for (uint64_t gates = 3; gates < 5; gates++) {
        struct graph g;
        struct arena a;
        start(&g, &a);
        enum op_kind kind = gates == 4 ? OP_LSTM : OP_GRU;
        uint32_t in[] = { given(&g, TYPE_FP16, DIMS(3, 11, 5)), weight(&g, DIMS(5, 7 * gates)), weight(&g, DIMS(7, 7 * gates)),
                          weight(&g, DIMS(14 * gates)) };
        lose(&g, graph_op(&g, kind, in, 4, (struct op_attributes){ .hidden = 7 }));
        graph_add_backward(&g);
        const struct op *data = find(&g, kind, PASS_BACKWARD_DATA, 0), *w = find(&g, kind, PASS_BACKWARD_WEIGHT, 0);
        assert_int_equal(op_mac(&g, &g.ops[0]), gates == 4 ? 11088 : 8316);
        assert_int_equal(op_mac(&g, data), gates == 4 ? 6468 : 4851);
        assert_int_equal(op_mac(&g, w), gates == 4 ? 11088 : 8316);
        assert_int_equal(w->n_outputs, 3);
        assert_int_equal(w->inputs[0], data->outputs[0]);
        assert_dims(&g, data->outputs[0], DIMS(3, 11, 28));
        arena_free(&a);
    }
}

/* A frozen half: nothing upstream of the first weight, or aside of the loss, is differentiated. */
static void what_needs_no_gradient_gets_none(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(3, 7));
    x = graph_op(&g, OP_TANH, &x, 1, none);
    uint32_t y = dense(&g, x, 7, 5);
    graph_op(&g, OP_SIGMOID, &y, 1, none);          /* nobody reads it */
    lose(&g, y);
    graph_add_backward(&g);
    assert_int_equal(count(&g, OP_TANH, PASS_BACKWARD_DATA), 0);
    assert_int_equal(count(&g, OP_SIGMOID, PASS_BACKWARD_DATA), 0);
    assert_int_equal(count(&g, OP_MATMUL, PASS_BACKWARD_WEIGHT), 1);
    arena_free(&a);
}

/* The loss reads one of three pieces: the gradients of the others are zeros made of its gradient, and the gradient of
 * the whole is assembled from all three. */
static void pieces_beside_one_that_is_read(void **state)
{
    (void)state;
    for (uint32_t read = 0; read < 3; read++) {
        struct graph g;
        struct arena a;
        start(&g, &a);
        uint32_t x = dense(&g, given(&g, TYPE_FP16, DIMS(3, 7)), 7, 6);
        uint32_t first = graph_op(&g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .pieces = 3 });
        lose(&g, dense(&g, first + read, 2, 2));
        graph_add_backward(&g);
        const struct op *whole = find(&g, OP_SLICE, PASS_BACKWARD_DATA, 0);
        assert_int_equal(count(&g, OP_SCALE, PASS_BACKWARD_DATA), 2);
        assert_int_equal(whole->n_inputs, 3);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(g.ops[g.tensors[whole->inputs[i]].producer_op].kind, i == read ? OP_MATMUL : OP_SCALE);
        assert_dims(&g, whole->outputs[0], 2, (uint64_t[]){ 3, 6 });
        arena_free(&a);
    }
}

/* Two tensors of 30 and 10 bytes are there before; layer 1 adds them, layer 2 takes the sum's tanh, times the first
 * of the two, layer 3 multiplies by a weight. Between layers: 30 + 10 into layer 1; the first and the sum into layer 2;
 * the product into layer 3. Backward passes read the sum and the product again. */
static void what_layers_hand_on(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    uint64_t kept[4] = {0}, outputs[4] = {0};
    static const uint64_t want_kept[] = { 0, 30, 30, 0 }, want_outputs[] = { 40, 60, 30, 0 };
    graph_start(&g, "hand on", 1, &a);
    graph_layer(&g, (struct layer){ .name = "before", .n_parts = 1 });
    uint32_t x = graph_tensor(&g, "x", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 3, 5 });
    uint32_t row = graph_tensor(&g, "row", ROLE_ACTIVATION, TYPE_FP16, 2, (uint64_t[]){ 1, 5 });
    graph_layer(&g, (struct layer){ .name = "sum", .n_parts = 1 });
    uint32_t sum = graph_op(&g, OP_ADD, (uint32_t[]){ x, row }, 2, (struct op_attributes){ 0 });
    graph_layer(&g, (struct layer){ .name = "product", .n_parts = 1 });
    uint32_t tanh_of = graph_op(&g, OP_TANH, &sum, 1, (struct op_attributes){ 0 });
    uint32_t product = graph_op(&g, OP_MUL, (uint32_t[]){ tanh_of, x }, 2, (struct op_attributes){ 0 });
    graph_layer(&g, (struct layer){ .name = "last", .n_parts = 1 });
    uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 5, 7 });
    uint32_t y = graph_op(&g, OP_MATMUL, (uint32_t[]){ product, w }, 2, (struct op_attributes){ 0 });
    const uint32_t read_again[] = { sum, product };
    graph_append(&g, (struct op){ .kind = OP_MATMUL, .pass = PASS_BACKWARD_WEIGHT, .layer_id = 3, .forward_op = 3, .at = g.ops[3].at, .n_inputs = 2,
                                  .inputs = read_again, .n_outputs = 1, .outputs = &y });
    graph_activations(kept, outputs, &g);
    assert_memory_equal(kept, want_kept, sizeof kept);
    assert_memory_equal(outputs, want_outputs, sizeof outputs);
    arena_free(&a);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < N_OP_KINDS; i++) {
        assert_non_null(op_kind_names[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(op_kind_names[i], op_kind_names[k]);
    }
}

/* 10 rows over 3 replicas are 4 each; an all-to-all follows the lookup, and its gradient goes back by one before rows are added up. auto leaves a table
 * whole that has no more rows than are looked up. */
static void tables_over_replicas(void **state)
{
    struct graph g;
    struct arena a;
    struct err err;
    (void)state;
    static const struct { const char *names; uint64_t n_rows, n; const char *refused; } cases[] = {
        { "auto", 10, 3, NULL }, { "tw*, one", 10, 3, NULL }, { "two", 10, 3, "no table" }, { "auto", 10, 2, "change parallel.micro_batch" },
        { "auto", 3, 3, "has more rows than a micro-batch looks up" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(&g, &a);
        uint32_t table = weight(&g, DIMS(cases[i].n_rows, 7)), rows = graph_op(&g, OP_GATHER, (uint32_t[]){ table, given(&g, TYPE_INT32, DIMS(3)) }, 2, none);
        lose(&g, dense(&g, rows, 7, 5));
        const bool good = graph_shard_tables(&g, cases[i].names, cases[i].n, &err);
        assert_int_equal(good, !cases[i].refused);
        if (good) {
            assert_dims(&g, table, DIMS(4, 7));
            assert_true(g.tensors[table].sharded && !g.tensors[table + 3].sharded);
            assert_int_equal(find(&g, OP_ALL_TO_ALL, PASS_FORWARD, 0)->outputs[0], find(&g, OP_MATMUL, PASS_FORWARD, 0)->inputs[0]);
            assert_int_equal(find(&g, OP_ALL_TO_ALL, PASS_FORWARD, 0)->inputs[0], find(&g, OP_GATHER, PASS_FORWARD, 0)->outputs[0]);
            graph_add_backward(&g);
            assert_int_equal(count(&g, OP_ALL_TO_ALL, PASS_BACKWARD_DATA), 1);
            assert_true(find(&g, OP_ALL_TO_ALL, PASS_BACKWARD_DATA, 0) < find(&g, OP_GATHER, PASS_BACKWARD_WEIGHT, 0));
        } else {
            assert_non_null(strstr(err.msg, cases[i].refused));
        }
        arena_free(&a);
    }
}

static void text_of_a_graph(void **state)
{
    struct graph g;
    struct arena a;
    char *text;
    (void)state;
    start(&g, &a);
    lose(&g, dense(&g, given(&g, TYPE_FP16, DIMS(3, 7)), 7, 5));
    PRINTED(text, graph_print_ops(f, &g));
    assert_string_equal(text,
        "    0 one                      matmul          forward         %0 fp16[3x7] %1 fp16[7x5] -> %2 fp16[3x5]  105 MAC 210 flop\n"
        "    1 one                      cross-entropy   forward         %2 fp16[3x5] %3 int32[3] -> %4 fp32[1]  0 MAC 75 flop\n");
    free(text);
    PRINTED(text, graph_print(f, &g));
    assert_string_equal(text,
        "test, micro-batch 3: 1 layers, 2 operations (2 forward), 35 parameters, 105 MAC forward\n"
        "one                      first    2 ops           35 parameters             105 MAC  fp32[1]\n");
    free(text);
    arena_free(&a);
    start(&g, &a);                      /* a weight before all else is one too */
    uint32_t table = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 9, 5 });
    graph_op(&g, OP_GATHER, (uint32_t[]){ table, given(&g, TYPE_INT32, DIMS(3)) }, 2, (struct op_attributes){ 0 });
    PRINTED(text, graph_print(f, &g));
    assert_string_equal(text,
        "test, micro-batch 3: 1 layers, 1 operations (1 forward), 45 parameters, 0 MAC forward\n"
        "one                      first    1 ops           45 parameters               0 MAC  fp16[3x5]\n");
    free(text);
    arena_free(&a);
}

/* The table of 11 words in three parts of 4, 4 and 3, though an input has more numbers, and a table of a later layer more words. */
static void the_word_table_in_parts(void **state)
{
    struct graph g, out;
    struct arena a = { 0 };
    uint64_t rows = 0, n_parts = 0;
    (void)state;
    graph_start(&g, "test", 3, &a);
    graph_layer(&g, (struct layer){ .name = "first", .role = LAYER_FIRST });
    uint32_t words = weight(&g, DIMS(11, 4)), ids = given(&g, TYPE_INT32, DIMS(90));
    uint32_t y = graph_op(&g, OP_GATHER, (uint32_t[]){ words, ids }, 2, none);
    y = graph_op(&g, OP_ADD, (uint32_t[]){ given(&g, TYPE_FP16, DIMS(90, 4)), y }, 2, none);
    graph_layer(&g, (struct layer){ .name = "body", .role = LAYER_BODY });
    uint32_t more = graph_op(&g, OP_GATHER, (uint32_t[]){ weight(&g, DIMS(70, 4)), ids }, 2, none);
    graph_op(&g, OP_ADD, (uint32_t[]){ y, more }, 2, none);
    assert_false(graph_split_table(&out, &g, 12, &a));
    assert_true(graph_split_table(&out, &g, 3, &a));
    for (size_t i = 0; i < out.n_tensors; i++)
        if (out.tensors[i].role == ROLE_WEIGHT && out.tensors[i].dims[0] < 11)
            rows += out.tensors[i].dims[0], n_parts++;
    assert_true(n_parts == 3 && rows == 11);
    arena_free(&a);
}

/* 48 x 72 in blocks of 8: 0.3 of 6 x 9 are 16.2, so 17. A weight that two products share stays dense, and so does one that is looked up too. */
static void products_made_sparse(void **state)
{
    struct graph g;
    struct arena a;
    struct err err;
    (void)state;
    start(&g, &a);
    uint32_t x = given(&g, TYPE_FP16, DIMS(7, 48)), w = weight(&g, DIMS(48, 72)), shared = weight(&g, DIMS(72, 72));
    uint32_t y = graph_op(&g, OP_MATMUL, (uint32_t[]){ x, w }, 2, none), table = weight(&g, DIMS(48, 72));
    graph_op(&g, OP_MATMUL, (uint32_t[]){ x, table }, 2, none);
    graph_op(&g, OP_GATHER, (uint32_t[]){ table, given(&g, TYPE_INT32, DIMS(7)) }, 2, none);
    graph_layer(&g, (struct layer){ .name = "two" });
    y = graph_op(&g, OP_MATMUL, (uint32_t[]){ y, shared }, 2, none);
    graph_op(&g, OP_MATMUL, (uint32_t[]){ y, shared }, 2, none);
    struct sparse_request q = { .density = 0, .block = 5, .pattern = PATTERN_DYNAMIC };
    assert_true(graph_make_sparse(&g, &q, &err) && g.ops[0].kind == OP_MATMUL);
    q.density = 0.3;
    assert_false(graph_make_sparse(&g, &q, &err));
    assert_string_equal(err.msg, "sparsity.block: 5; want 1, 4, 8 or 16, which PopSparse has");
    q.block = 16;
    assert_false(graph_make_sparse(&g, &q, &err));
    assert_non_null(strstr(err.msg, "16 does not divide the weights of layer one, 48 x 72"));
    q.block = 8;
    q.layers = "two";
    assert_false(graph_make_sparse(&g, &q, &err));
    assert_non_null(strstr(err.msg, "is named 'two'"));
    q.layers = "o*";
    assert_true(graph_make_sparse(&g, &q, &err));
    assert_dims(&g, w, DIMS(17, 8, 8));
    assert_dims(&g, shared, DIMS(72, 72));
    assert_dims(&g, table, DIMS(48, 72));
    assert_true(count(&g, OP_SPARSE_MATMUL, PASS_FORWARD) == 1 && count(&g, OP_MATMUL, PASS_FORWARD) == 3);
    assert_true(g.ops[0].at->sparse.inner == 48 && g.ops[0].at->sparse.outer == 72 && g.ops[0].at->sparse.block == 8);
    assert_true(g.ops[0].at->sparse.dynamic && g.ops[0].at->sparse.oversize == 0.3);
    arena_free(&a);
}

/* sigmoid(0.7) = 0.66818777, tanh(0.7) = 0.60436778. Slopes are of what is kept: the value of ReLU, tanh and sigmoid, the input of swish and GELU. */
static void activations_and_their_slopes(void **state)
{
    (void)state;
    assert_near(op_value_of_one(OP_RELU, &none, 1.7), 1.7, 0);
    assert_near(op_value_of_one(OP_RELU, &none, -0.3), 0, 0);
    assert_near(op_slope(OP_RELU, 1.7), 1, 0);
    assert_near(op_slope(OP_RELU, 0), 0, 0);
    assert_near(op_value_of_one(OP_TANH, &none, 0.7), 0.60436778, 1e-8);
    assert_near(op_slope(OP_TANH, 0.6), 0.64, 1e-15);
    assert_near(op_value_of_one(OP_SIGMOID, &none, 0.7), 0.66818777, 1e-8);
    assert_near(op_slope(OP_SIGMOID, 0.3), 0.21, 1e-15);
    assert_near(op_value_of_one(OP_SWISH, &none, 0.7), 0.46773144, 1e-8);       /* 0.7 x 0.66818777 */
    assert_near(op_slope(OP_SWISH, 0.7), 0.82338678, 1e-8);                     /* 0.66818777 x (1 + 0.7 x 0.33181223) */
    assert_near(op_value_of_one(OP_GELU, &none, 0), 0, 0);
    assert_near(op_slope(OP_GELU, 0), 0.5, 1e-15);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convolution), cmocka_unit_test(convolution_over_time), cmocka_unit_test(matmul),
    cmocka_unit_test(transposes), cmocka_unit_test(slices_pads_and_joins), cmocka_unit_test(gathers),
    cmocka_unit_test(other_shapes), cmocka_unit_test(inputs_get_no_gradient), cmocka_unit_test(branches_are_summed), cmocka_unit_test(what_serves_later_layers),
    cmocka_unit_test(tied_weights_keep_several_gradients), cmocka_unit_test(matmul_of_activations),
    cmocka_unit_test(recurrence), cmocka_unit_test(activations_and_their_slopes), cmocka_unit_test(what_needs_no_gradient_gets_none), cmocka_unit_test(pieces_beside_one_that_is_read),
    cmocka_unit_test(what_layers_hand_on), cmocka_unit_test(every_kind_has_a_name), cmocka_unit_test(text_of_a_graph), cmocka_unit_test(tables_over_replicas), cmocka_unit_test(products_made_sparse), cmocka_unit_test(the_word_table_in_parts),
};
TAP_MAIN(tests)
