/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_slice.c - the cut of a model over IPUs by hand: shapes of the parts, and the sums between them.
 */
#include "tests/check.h"
#include "workloads/models/models.h"
#include "system-model/graph/graph.h"

struct cut_model { struct arena a; struct graph g; struct err err; };

static void cut(struct cut_model *m, const char *name, struct model_options o, const char *ipus)
{
    *m = (struct cut_model){ .err = { "" } };
    o.where = "test", o.tensor_parallel = ipus;
    bool good = workload_graph(&m->g, workload_find(name, &m->err), &o, &m->a, &m->err);
    assert_string_equal(m->err.msg, "");
    assert_true(good);
}

static uint32_t count(const struct graph *g, const char *layer, enum op_kind kind, enum op_pass pass)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_ops; i++)
        n += g->ops[i].kind == kind && g->ops[i].pass == pass && text_is(g->layers[g->ops[i].layer_id].name, layer);
    return n;
}

/* The k-th weight of a layer. */
static const struct tensor *weight(const struct graph *g, const char *layer, uint32_t k)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT && text_is(g->layers[g->tensors[i].layer_id].name, layer) && k-- == 0)
            return &g->tensors[i];
    assert_true(false);
    return NULL;
}

static void is_shape(const struct tensor *t, uint32_t dim, uint64_t d0, uint64_t d1)
{
    assert_int_equal(t->dims[0], d0);
    assert_true(t->n_dims < 2 || t->dims[1] == d1);
    assert_int_equal(t->cuts[0].dim, dim);
}

/* BERT Large over 8 of 16 heads' worth of IPUs: 1024 wide, 3 x 1024 columns of queries, keys and values, 4096 between. 30522 words are 3816 on each of 8 (30528),
 * 512 positions 64; two token types stay whole. The dense layer of the head needs all of a row for its norm, and stays whole. */
static void bert_large_is_cut_by_8(void **state)
{
    struct cut_model m;
    (void)state;
    cut(&m, "bert-large", (struct model_options){ .micro_batch = 3, .sequence_length = 384, .sequences_per_pack = 2, .batch_norm_span = 1 }, "8");
    is_shape(weight(&m.g, "embeddings", 0), 1, 3816, 1024);
    is_shape(weight(&m.g, "embeddings", 1), 1, 64, 1024);
    is_shape(weight(&m.g, "embeddings", 2), 0, 2, 1024);
    is_shape(weight(&m.g, "encoder7/attention", 0), 2, 1024, 384);
    is_shape(weight(&m.g, "encoder7/attention", 1), 1, 384, 0);
    is_shape(weight(&m.g, "encoder7/attention", 2), 1, 128, 1024);
    is_shape(weight(&m.g, "encoder7/attention", 3), 0, 1024, 0);
    assert_int_equal(weight(&m.g, "encoder7/attention", 0)->cuts[0].pieces, 3);
    is_shape(weight(&m.g, "encoder7/feed-forward", 0), 2, 1024, 512);
    is_shape(weight(&m.g, "encoder7/feed-forward", 2), 1, 512, 1024);
    is_shape(weight(&m.g, "mlm-head", 0), 0, 1024, 1024);
    is_shape(weight(&m.g, "mlm-head", 4), 1, 3816, 0);
    arena_free(&m.a);
}

/* Four sums a layer: of addends forward, of a shared operand's gradient backward; words and positions are summed once, though each table has its
 * part. A head has one backward; its loss exchanges three words a row. */
static void sums_of_a_layer(void **state)
{
    struct cut_model m;
    struct op_exchange loss = { 0 }, sum = { 0 };
    (void)state;
    cut(&m, "gpt2-medium", (struct model_options){ .micro_batch = 3, .sequence_length = 384, .batch_norm_span = 1, .loss_slices = 1 }, "8");
    const char *halves[] = { "decoder5/attention", "decoder5/feed-forward" };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count(&m.g, halves[i], OP_ALL_REDUCE, PASS_FORWARD), 1);
        assert_int_equal(count(&m.g, halves[i], OP_SHARE, PASS_FORWARD), 1);
        assert_int_equal(count(&m.g, halves[i], OP_SHARE, PASS_BACKWARD_DATA), 1);
        assert_int_equal(count(&m.g, halves[i], OP_ALL_REDUCE, PASS_BACKWARD_DATA), 0);
    }
    assert_int_equal(count(&m.g, "embeddings", OP_ALL_REDUCE, PASS_FORWARD), 1);
    assert_int_equal(count(&m.g, "lm-head", OP_SHARE, PASS_BACKWARD_DATA), 1);
    for (size_t i = 0; i < m.g.n_ops; i++) {
        if (m.g.ops[i].kind == OP_CROSS_ENTROPY && m.g.ops[i].pass == PASS_FORWARD)
            loss = op_exchange(&m.g, &m.g.ops[i]);
        if (m.g.ops[i].kind == OP_ALL_REDUCE)
            sum = op_exchange(&m.g, &m.g.ops[i]);
    }
    assert_true(loss.ranks == 8 && loss.n == 3 && loss.bytes == 2.0 * 3 * 384);
    assert_true(sum.ranks == 8 && sum.n == 1 && sum.bytes == 2.0 * 3 * 384 * 1024);
    arena_free(&m.a);
}

/* GPT-3's block of 12,288 over 8 x 8 IPUs, which is what popxl's classes with TP2D do: results of layers have 1,536 columns, heads and feed-forward an eighth, and
 * weights both. Each half sums its columns' addends over neighbours, 8 of the second axis, and its result over IPUs 8 apart; backward as many. Norms exchange
 * two sums of each row: 2 + 4 bytes forward, 2 + 2 backward. */
static void two_axes_cut_gpt3(void **state)
{
    struct cut_model m;
    uint64_t bytes[2][2] = { 0 };
    double norm_bytes[2] = { 0, 0 };
    (void)state;
    cut(&m, "gpt3-175b", (struct model_options){ .micro_batch = 1, .sequence_length = 384, .batch_norm_span = 1 }, "8x8");
    is_shape(weight(&m.g, "embeddings", 0), 1, 6283, 1536);
    is_shape(weight(&m.g, "decoder5/attention", 0), 0, 1536, 0);
    is_shape(weight(&m.g, "decoder5/attention", 2), 2, 1536, 3 * 1536);
    is_shape(weight(&m.g, "decoder5/attention", 3), 1, 3 * 1536, 0);
    is_shape(weight(&m.g, "decoder5/attention", 4), 1, 1536, 1536);
    is_shape(weight(&m.g, "decoder5/attention", 5), 0, 1536, 0);
    is_shape(weight(&m.g, "decoder5/feed-forward", 2), 2, 1536, 4 * 1536);
    const struct tensor *w = weight(&m.g, "decoder5/attention", 2), *norm = weight(&m.g, "decoder5/attention", 0);
    assert_int_equal(tensor_span(w), 64);
    assert_int_equal(tensor_parts(w), 64);
    assert_int_equal(tensor_span(norm), 8);
    assert_int_equal(tensor_span(weight(&m.g, "decoder5/attention", 3)), 64);       /* neighbours have it alike */
    assert_int_equal(tensor_parts(weight(&m.g, "decoder5/attention", 3)), 8);
    for (size_t i = 0; i < m.g.n_ops; i++) {
        const struct op *op = &m.g.ops[i];
        struct op_exchange e = op_exchange(&m.g, op);
        bool backward = op->pass != PASS_FORWARD;
        if (!text_is(m.g.layers[op->layer_id].name, "decoder5/attention") || !e.n)
            continue;
        assert_int_equal(e.ranks, 8);
        assert_true(e.stride == 1 || e.stride == 8);
        if (op->kind == OP_LAYER_NORM)
            norm_bytes[backward] += e.bytes;
        else if (op->kind == OP_ALL_REDUCE || op->kind == OP_SHARE)
            bytes[backward][e.stride == 8] += (uint64_t)e.bytes;
    }
    assert_true(norm_bytes[0] == 6.0 * 384 && norm_bytes[1] == 4.0 * 384);
    assert_int_equal(bytes[0][0], 2 * 384 * 3 * 1536);
    assert_int_equal(bytes[0][1], 2 * 384 * 1536);
    assert_int_equal(bytes[1][0], 2 * 384 * 1536);
    assert_int_equal(bytes[1][1], 2 * 384 * 1536);
    arena_free(&m.a);
}

/* A model whose head needs whole rows has no second axis, and says so. */
static void a_second_axis_may_be_refused(void **state)
{
    struct cut_model m = { .err = { "" } };
    struct model_options o = { .micro_batch = 1, .sequence_length = 384, .sequences_per_pack = 2, .batch_norm_span = 1, .where = "test", .tensor_parallel = "4x2" };
    (void)state;
    assert_false(workload_graph(&m.g, workload_find("bert-large", &m.err), &o, &m.a, &m.err));
    assert_string_equal(m.err.msg, "test: parallel.tensor_parallel: mlm-head of bert-large needs whole rows of what a second axis cuts; give one number");
    arena_free(&m.a);
}

/* A matrix [5, 2 pieces of 7] over 3 IPUs has 3 columns of each piece an IPU; the last has one and two of padding. */
static void elements_of_parts(void **state)
{
    const struct tensor t = { .n_dims = 2, .dims = { 5, 6 }, .cuts = { { 2, 3, 2, 1, 14, 0 } } };
    static const struct { uint64_t element; uint32_t rank; uint64_t whole; } rows[] = {
        { 0, 0, 0 }, { 2, 0, 2 }, { 3, 0, 7 }, { 5, 1, 7 + 3 + 2 }, { 6, 1, 14 + 3 }, { 6 * 4 + 3, 2, 14 * 4 + 7 + 6 }, { 6 * 4 + 4, 2, NO_ID64 }, { 1, 2, NO_ID64 },
        { 2, 3, 2 },        /* a fourth IPU begins anew */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tensor_whole_element(&t, rows[i].element, rows[i].rank), rows[i].whole);
}

/* Flan-T5 Base's 12 heads over 4 IPUs: a bias of positions is looked up in 3 of 12 columns; all words in 8032 of 32128 rows. Packed weights are cut before they are
 * unpacked. */
static void biases_and_packed_weights_are_cut(void **state)
{
    struct cut_model m;
    struct model_options o = { .micro_batch = 1, .sequence_length = 16, .inference = true, .generation = { .prompt_tokens = 1, .new_tokens = 1, .weight_bits = 4 } };
    (void)state;
    cut(&m, "flan-t5-base", o, "4");
    is_shape(weight(&m.g, "embeddings", 0), 1, 8032, 768);
    is_shape(weight(&m.g, "embeddings", 1), 2, 32, 3);
    is_shape(weight(&m.g, "embeddings", 2), 2, 32, 3);
    const char *second[] = { "encoder1/attention", "decoder11/attention" };
    for (int i = 0; i < 2; i++) {
        const struct tensor *w = weight(&m.g, second[i], 1);
        is_shape(w, 2, 768, 3 * 192);
        assert_int_equal(w->cuts[0].pieces, 3);
        assert_int_equal(w->type, TYPE_INT4);
        is_shape(weight(&m.g, second[i], 2), 1, 192, 768);
    }
    const struct op *picks = NULL, *gathers = NULL;         /* one token's scores are picked before the IPUs exchange them */
    for (size_t i = 0; i < m.g.n_ops; i++) {
        picks = m.g.ops[i].kind == OP_GATHER ? &m.g.ops[i] : picks;
        gathers = m.g.ops[i].kind == OP_ALL_GATHER ? &m.g.ops[i] : gathers;
    }
    assert_int_equal(m.g.tensors[picks->outputs[0]].dims[2], 8032);
    assert_true(!gathers || tensor_elements(&m.g.tensors[gathers->outputs[0]]) == 32128);
    assert_int_equal(count(&m.g, "decoder11/attention", OP_ALL_REDUCE, PASS_FORWARD), 2);
    assert_int_equal(count(&m.g, "encoder11/attention", OP_ALL_REDUCE, PASS_FORWARD), 1);
    arena_free(&m.a);
}

/* Six heads of four, side by side, turned by their positions: each of 4 IPUs has two heads, the last one none. */
static void whole_heads_are_turned(void **state)
{
    struct arena a = {0};
    struct graph whole, part;
    (void)state;
    graph_start(&whole, "heads", 2, &a);
    graph_layer(&whole, (struct layer){ .name = "all" });
    uint32_t x = graph_tensor(&whole, "x", ROLE_INPUT, TYPE_FP16, 3, (uint64_t[]){ 2, 3, 20 }), w[2], turns[2];
    for (int i = 0; i < 2; i++) {
        w[i] = graph_tensor(&whole, "w", ROLE_WEIGHT, TYPE_FP16, 2, i ? (uint64_t[]){ 24, 20 } : (uint64_t[]){ 20, 24 });
        turns[i] = graph_tensor(&whole, "turns", ROLE_STATE, TYPE_FP16, 3, (uint64_t[]){ 1, 3, 2 });
    }
    x = graph_op(&whole, OP_MATMUL, (uint32_t[]){ x, w[0] }, 2, (struct op_attributes){ 0 });
    x = graph_op(&whole, OP_ROTARY, (uint32_t[]){ x, turns[0], turns[1] }, 3, (struct op_attributes){ .groups = 6, .length = 4 });
    graph_op(&whole, OP_MATMUL, (uint32_t[]){ x, w[1] }, 2, (struct op_attributes){ 0 });
    const char *whole_layer;
    assert_true(graph_slice(&part, &whole, (struct slice_axis){ 0, 4, 4, 1 }, &whole_layer, &a));
    is_shape(weight(&part, "all", 0), 2, 20, 8);
    is_shape(weight(&part, "all", 1), 1, 8, 20);
    arena_free(&a);
}

/* A convolutional network has one product of an activation, its classes. */
static void little_of_an_image_network_is_cut(void **state)
{
    struct cut_model m;
    uint32_t n = 0;
    (void)state;
    cut(&m, "resnet50", (struct model_options){ .micro_batch = 1, .batch_norm_span = 1 }, "5");
    for (size_t i = 0; i < m.g.n_tensors; i++)
        n += m.g.tensors[i].role == ROLE_WEIGHT && m.g.tensors[i].cuts[0].dim;
    assert_int_equal(n, 2);
    arena_free(&m.a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(bert_large_is_cut_by_8), cmocka_unit_test(sums_of_a_layer), cmocka_unit_test(elements_of_parts), cmocka_unit_test(two_axes_cut_gpt3), cmocka_unit_test(a_second_axis_may_be_refused),
                                          cmocka_unit_test(little_of_an_image_network_is_cut), cmocka_unit_test(whole_heads_are_turned), cmocka_unit_test(biases_and_packed_weights_are_cut) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, NULL, NULL); }
