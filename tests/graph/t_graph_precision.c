/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_graph_precision.c - operations in fp32 inside an fp16 model: casts by hand, and the same values in double precision. */
#include "tests/check.h"
#include "tests/execute.h"
#include "workloads/models/builders.h"

static struct builder started(struct graph *g, struct arena *a)
{
    static const struct model_options five = { .micro_batch = 5 };
    *a = (struct arena){ 0 };
    struct builder b = builder_start(g, "precision", &five, a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "one");
    return b;
}

static void keep(struct graph *g, const char *names)
{
    uint64_t kinds;
    assert_true(op_kinds_read(&kinds, names, NULL));
    graph_keep_fp32(g, kinds);
}

static void assert_ops(const struct graph *g, const char *want)
{
    char *text;
    PRINTED(text, graph_print_ops(f, g));
    assert_string_equal(text, want);
    free(text);
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            assert_int_equal(g->tensors[g->ops[i].outputs[k]].producer_op, i);
}

static void assert_readers(const struct graph *g, uint32_t id, uint32_t first, uint32_t last, bool backward)
{
    const struct tensor *t = &g->tensors[id];
    assert_int_equal(t->first_reader, first);
    assert_int_equal(t->last_reader, last);
    assert_int_equal(t->read_backward, backward);
}

/* Layers 1 and 2 read the product for a gelu. In fp32 layer 1 casts it for both, and layer 2 reads the copy instead. A gelu's backward pass reads its
 * input, the copy. */
static void readers_are_those_of_the_graph(void **state)
{
    (void)state;
    struct graph g;
    struct arena a;
    struct builder b = started(&g, &a);
    uint32_t product = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(5, 7)), 3, false);
    build_layer(&b, LAYER_BODY, 0, 0, 1, "two");
    uint32_t first = build_op1(&b, OP_GELU, product);
    build_layer(&b, LAYER_BODY, 1, 0, 1, "three");
    uint32_t sum = build_op2(&b, OP_ADD, first, build_op1(&b, OP_GELU, product));
    assert_readers(&g, product, 1, 2, false);
    assert_readers(&g, sum, NO_ID, 0, false);
    graph_op(&g, OP_CROSS_ENTROPY, (uint32_t[]){ sum, build_input(&b, "labels", TYPE_INT32, DIMS(5)) }, 2, (struct op_attributes){ 0 });
    keep(&g, "gelu");
    uint32_t copy = g.ops[1].outputs[0];
    assert_readers(&g, product, 1, 1, false);
    assert_readers(&g, copy, 1, 2, false);
    graph_add_backward(&g);
    assert_readers(&g, product, 1, 1, false);
    assert_readers(&g, copy, 1, 2, true);
    arena_free(&a);
}

/* The product feeds a gelu, the gelu a norm, and product and norm an addition. Up into the gelu, down behind the norm, and nothing between
 * the two; the norm's parameters are in fp32 themselves. */
static void neighbours_need_no_casts(void **state)
{
    (void)state;
    struct graph g;
    struct arena a;
    struct builder b = started(&g, &a);
    uint32_t product = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(5, 7)), 3, false);
    uint32_t norm = build_layer_norm(&b, build_op1(&b, OP_GELU, product));
    build_op2(&b, OP_ADD, norm, product);
    uint64_t parameters = graph_parameters(&g), mac = graph_forward_mac(&g);
    keep(&g, "gelu, layer-norm");
    assert_ops(&g,
        "    0 one                      matmul          forward         %0 fp16[5x7] %1 fp16[7x3] -> %2 fp16[5x3]  105 MAC 210 flop\n"
        "    1 one                      cast            forward         %2 fp16[5x3] -> %8 fp32[5x3]  0 MAC 0 flop\n"
        "    2 one                      gelu            forward         %8 fp32[5x3] -> %3 fp32[5x3]  0 MAC 135 flop\n"
        "    3 one                      layer-norm      forward         %3 fp32[5x3] %4 fp32[3] %5 fp32[3] -> %9 fp32[5x3]  0 MAC 105 flop\n"
        "    4 one                      cast            forward         %9 fp32[5x3] -> %6 fp16[5x3]  0 MAC 0 flop\n"
        "    5 one                      add             forward         %6 fp16[5x3] %2 fp16[5x3] -> %7 fp16[5x3]  0 MAC 15 flop\n");
    assert_int_equal(graph_parameters(&g), parameters);
    assert_int_equal(graph_forward_mac(&g), mac);
    assert_int_equal(g.n_forward_ops, 6);
    arena_free(&a);
}

/* A parameter that another operation reads too stays as it is; one cast serves both readers; indices stay whole numbers; what nothing reads
 * is the model's result, in the model's type. */
static void what_others_read_is_cast(void **state)
{
    (void)state;
    struct graph g;
    struct arena a;
    struct builder b = started(&g, &a);
    uint32_t table = build_weight(&b, "table", DIMS(4, 3)), at = build_input(&b, "at", TYPE_INT32, DIMS(5));
    uint32_t rows = build_gather(&b, table, at);
    build_op2(&b, OP_ADD, build_gather(&b, table, at), rows);
    graph_op(&g, OP_MATMUL, (uint32_t[]){ rows, table }, 2, (struct op_attributes){ .transpose_b = true });
    keep(&g, "gather,add");
    assert_ops(&g,
        "    0 one                      cast            forward         %0 fp16[4x3] -> %6 fp32[4x3]  0 MAC 0 flop\n"
        "    1 one                      gather          forward         %6 fp32[4x3] %1 int32[5] -> %7 fp32[5x3]  0 MAC 0 flop\n"
        "    2 one                      cast            forward         %7 fp32[5x3] -> %2 fp16[5x3]  0 MAC 0 flop\n"
        "    3 one                      gather          forward         %6 fp32[4x3] %1 int32[5] -> %3 fp32[5x3]  0 MAC 0 flop\n"
        "    4 one                      add             forward         %3 fp32[5x3] %7 fp32[5x3] -> %8 fp32[5x3]  0 MAC 15 flop\n"
        "    5 one                      cast            forward         %8 fp32[5x3] -> %4 fp16[5x3]  0 MAC 0 flop\n"
        "    6 one                      matmul          forward         %2 fp16[5x3] %0 fp16[4x3] -> %5 fp16[5x4]  60 MAC 120 flop\n");
    arena_free(&a);
}

/* ---- models --------------------------------------------------------------------------------------------- */

static const struct bert_config small_bert = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 13, .positions = 9 };
static const struct workload bert = { .name = "bert", .build = bert_build, .config = &small_bert, .default_sequence_length = 7 };
static const struct resnet_config small_resnet = { .units = { 1, 1 }, .bottleneck = true, .groups = 8, .group_width = 4 };
static const struct workload resnet = { .name = "resnet", .build = resnet_build, .config = &small_resnet };

/* Two halves of a transformer's layer, without dropout: its masks depend on where an operation is in the graph. */
static bool plain_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)w, (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "one");
    uint32_t x = build_dense(b, build_input(b, "x", TYPE_FP16, DIMS(2, 5, 7)), 6, true);
    build_layer(b, LAYER_LAST, 0, 0, 1, "two");
    x = build_layer_norm(b, build_op2(b, OP_ADD, build_attention(b, x, &(struct attention){ .heads = 3, .mask = NO_ID }), x));
    x = build_layer_norm(b, build_op2(b, OP_ADD, build_feed_forward(b, x, 10, OP_GELU, 0), x));
    build_classes(b, x, DIMS(2, 5));
    return true;
}
static const struct workload transformer = { .name = "transformer", .build = plain_build };

static void build(struct graph *g, const struct workload *w, bool inference, const char *kinds, int compute, struct arena *a)
{
    struct model_options o = { .micro_batch = 2, .batch_norm_span = 1, .image_size = 16, .inference = inference, .fp32_operations = kinds, .compute = compute };
    assert_true(workload_graph(g, w, &o, a, NULL));
}

static double **values_of(const struct graph *g, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        v[i] = ARENA_ARRAY(a, double, tensor_elements(&g->tensors[i]));
        for (uint64_t k = 0; k < tensor_elements(&g->tensors[i]); k++) {
            uint64_t seed[2] = { i, k };
            v[i][k] = g->tensors[i].type == TYPE_INT32 ? (double)(k % 2) : (double)(hash_bytes(seed, sizeof seed, 11) % 2003) / 2003 - 0.5;
        }
    }
    return v;
}

static const char *text_of(const struct graph *g, struct arena *a)
{
    char *text;
    PRINTED(text, graph_print_ops(f, g));
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

/* Kinds that a model lacks change nothing, nor does any kind where all is in fp32. */
static void what_changes_nothing(void **state)
{
    static const struct { const struct workload *w; const char *kinds; int compute; } cases[] = {
        { &bert, NULL, COMPUTE_FP16 }, { &bert, "lstm, conv", COMPUTE_FP16 }, { &resnet, "gelu", COMPUTE_FP16 }, { &bert, "gelu, matmul, add", COMPUTE_FP32 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int inference = 0; inference < 2; inference++) {
            struct arena a = { 0 };
            struct graph plain, kept;
            build(&plain, cases[i].w, inference, NULL, cases[i].compute, &a);
            build(&kept, cases[i].w, inference, cases[i].kinds, cases[i].compute, &a);
            assert_string_equal(text_of(&kept, &a), text_of(&plain, &a));
            arena_free(&a);
        }
}

/* Forward tensors keep their ids, and gradients of weights their order. */
static void values_stay(void **state)
{
    static const struct { const struct workload *w; const char *kinds; } cases[] = {
        { &transformer, "gelu, layer-norm" }, { &transformer, "add,softmax,matmul,slice,cross-entropy" }, { &resnet, "conv, batch-norm" }, { &resnet, "relu,add,average-pool" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct graph plain, kept;
        build(&plain, cases[i].w, false, NULL, COMPUTE_FP16, &a);
        build(&kept, cases[i].w, false, cases[i].kinds, COMPUTE_FP16, &a);
        assert_true(kept.n_ops > plain.n_ops);
        double **x = values_of(&plain, &a), **y = values_of(&kept, &a);
        assert_true(graph_execute(&plain, x) == graph_execute(&kept, y));
        uint32_t id = 0, n_gradients = 0;
        for (uint32_t k = 0; k < plain.n_tensors; k++)
            if (plain.tensors[k].role == ROLE_WEIGHT_GRADIENT) {
                while (kept.tensors[id].role != ROLE_WEIGHT_GRADIENT)
                    id++;
                assert_int_equal(kept.tensors[id].of_tensor, plain.tensors[k].of_tensor);
                for (uint64_t e = 0; e < tensor_elements(&plain.tensors[k]); e++)
                    assert_near(y[id][e], x[k][e], 1e-12);
                n_gradients++;
                id++;
            } else if (plain.tensors[k].role != ROLE_GRADIENT) {
                assert_memory_equal(y[k], x[k], tensor_elements(&plain.tensors[k]) * sizeof **x);
            }
        assert_true(n_gradients > 8);
        arena_free(&a);
    }
}

/* Each operation of the kinds is in fp32 throughout, forward and backward, all others are in fp16, and no cast leaves a type as it is. */
static void types_are_as_asked(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    build(&g, &bert, false, "gelu, layer-norm", COMPUTE_FP16, &a);
    for (size_t i = 0; i < g.n_ops; i++) {
        const struct op *op = &g.ops[i];
        bool wide = op->kind == OP_GELU || op->kind == OP_LAYER_NORM;
        enum data_type from = g.tensors[op->inputs[0]].type, to = g.tensors[op->outputs[0]].type;
        if (op->kind == OP_CAST)
            assert_true(from != to);
        for (uint32_t k = 0; k < op->n_inputs && wide; k++)
            assert_int_equal(g.tensors[op->inputs[k]].type, TYPE_FP32);
        for (uint32_t k = 0; k < op->n_outputs && wide; k++)
            assert_int_equal(g.tensors[op->outputs[k]].type, TYPE_FP32);
        if (!wide && op->kind != OP_CAST && op->kind != OP_CROSS_ENTROPY && op->kind != OP_GATHER)
            assert_int_equal(to, TYPE_FP16);
    }
    arena_free(&a);
}

static void lists_of_kinds(void **state)
{
    static const struct { const char *text; uint64_t kinds; } good[] = {
        { NULL, 0 }, { "gelu", UINT64_C(1) << OP_GELU }, { "layer-norm , gelu,gelu", UINT64_C(1) << OP_GELU | UINT64_C(1) << OP_LAYER_NORM },
        { " scatter", UINT64_C(1) << OP_SCATTER },
    };
    static const struct { const char *text, *message; } bad[] = {
        { "gelo", "'gelo' is not a kind of operation; did you mean 'gelu'? known: conv, matmul, " }, { "gelu,", "'' is not a kind of operation; " },
        { "cast", "'cast' is not a kind of operation; " }, { "gelu; relu", "'gelu; relu' is not a kind of operation; " },
        { "input-prepare", "'input-prepare' is not a kind of operation; " }, { "gel", "'gel' is not a kind of operation; " },
    };
    uint64_t kinds;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(op_kinds_read(&kinds, good[i].text, NULL));
        assert_true(kinds == good[i].kinds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(op_kinds_read(&kinds, bad[i].text, &err));
        assert_memory_equal(err.msg, bad[i].message, strlen(bad[i].message));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(readers_are_those_of_the_graph), cmocka_unit_test(neighbours_need_no_casts), cmocka_unit_test(what_others_read_is_cast), cmocka_unit_test(what_changes_nothing),
    cmocka_unit_test(values_stay), cmocka_unit_test(types_are_as_asked), cmocka_unit_test(lists_of_kinds),
};
TAP_MAIN(tests)
