/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_grouping.c - layers of small graphs, by hand; their operations are products m, functions r, sums + and pools p.
 */
#include "tests/check.h"
#include "workloads/onnx/onnx_passes.h"

struct made { struct arena arena; struct graph g; uint32_t last; };

static void start(struct made *m, uint32_t n_dims, const uint64_t *dims)
{
    *m = (struct made){ .last = 0 };
    graph_start(&m->g, "made", dims[0], &m->arena);
    graph_layer(&m->g, (struct layer){ .name = "all" });
    m->last = graph_tensor(&m->g, "x", ROLE_INPUT, TYPE_FP16, n_dims, dims);
}

static uint32_t product(struct made *m, uint32_t x, uint64_t columns)
{
    const struct tensor *t = &m->g.tensors[x];
    uint32_t w = graph_tensor(&m->g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ t->dims[t->n_dims - 1], columns });
    return m->last = graph_op(&m->g, OP_MATMUL, (uint32_t[]){ x, w }, 2, (struct op_attributes){ 0 });
}

static uint32_t function(struct made *m, uint32_t x)
{
    return m->last = graph_op(&m->g, OP_RELU, &x, 1, (struct op_attributes){ 0 });
}

static uint32_t sum(struct made *m, uint32_t x, uint32_t y)
{
    return m->last = graph_op(&m->g, OP_ADD, (uint32_t[]){ x, y }, 2, (struct op_attributes){ 0 });
}

/* Layers with their operations, as "stem mr, block0 m+, head m". Checks that tensors are in the layer that makes or
 * first reads them. */
static const char *grouped(struct made *m)
{
    const char *text = "";
    onnx_group_layers(&m->g, NULL);
    for (uint32_t i = 0; i < m->g.n_layers; i++) {
        const struct layer *l = &m->g.layers[i];
        text = arena_printf(&m->arena, "%s%s%s ", text, i ? ", " : "", l->role == LAYER_BODY ? arena_printf(&m->arena, "block%u", l->block_id) : l->name);
        assert_true(l->role == (i == 0 ? LAYER_FIRST : i + 1 == m->g.n_layers ? LAYER_LAST : LAYER_BODY) && l->n_parts == 1);
        for (size_t k = 0; k < m->g.n_ops; k++)
            if (m->g.ops[k].layer_id == i)
                text = arena_printf(&m->arena, "%s%c", text, m->g.ops[k].kind == OP_MATMUL ? 'm' : m->g.ops[k].kind == OP_RELU ? 'r' : m->g.ops[k].kind == OP_ADD ? '+' : 'p');
    }
    for (size_t k = 0; k < m->g.n_ops; k++) {
        const struct op *op = &m->g.ops[k];
        assert_int_equal(m->g.tensors[op->outputs[0]].layer_id, op->layer_id);
        for (uint32_t i = 0; i < op->n_inputs; i++)
            if (m->g.tensors[op->inputs[i]].role == ROLE_WEIGHT)
                assert_int_equal(m->g.tensors[op->inputs[i]].layer_id, op->layer_id);
    }
    return text;
}

#define CHECK(m, want) do { assert_string_equal(grouped(m), want); arena_free(&(m)->arena); } while (0)

/* A function joins the product before it; before the first product, the one after it. */
static void chains(void **state)
{
    struct made m;
    (void)state;
    start(&m, 2, (uint64_t[]){ 2, 5 });
    product(&m, function(&m, product(&m, function(&m, product(&m, m.last, 7)), 3)), 4);
    CHECK(&m, "stem mr, block0 mr, head m");
    start(&m, 2, (uint64_t[]){ 2, 5 });
    function(&m, product(&m, product(&m, function(&m, function(&m, m.last)), 7), 3));
    CHECK(&m, "stem rrm, head mr");
    start(&m, 2, (uint64_t[]){ 2, 5 });
    product(&m, m.last, 7);
    CHECK(&m, "stem m");
}

/* A layer with a residual connection ends where its branches meet. */
static void around(void **state)
{
    struct made m;
    (void)state;
    start(&m, 2, (uint64_t[]){ 2, 50 });
    uint32_t x = product(&m, m.last, 6);
    sum(&m, product(&m, function(&m, product(&m, x, 6)), 6), x);
    product(&m, m.last, 300);
    CHECK(&m, "stem m, block0 mrm+, head m");
}

/* Three products of 4 x 4 inside a residual connection, and two of 4 x inputs and 4 x outputs. 48 multiply-accumulates
 * are a quarter of 48 + 4 x 36 and stay one layer; if they are more than a quarter, they are cut where two results are
 * alive. */
static void large_shares(void **state)
{
    static const struct { uint64_t in, out; const char *expected; } cases[] = {
        { 30, 6, "stem m, block0 mmm+, head m" }, { 30, 5, "stem m, block0 m, block1 m, block2 m+, head m" }, { 5, 31, "stem m, block0 mmm+, head m" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        start(&m, 2, (uint64_t[]){ 1, cases[i].in });
        uint32_t x = product(&m, m.last, 4);
        sum(&m, product(&m, product(&m, product(&m, x, 4), 4), 4), x);
        product(&m, m.last, cases[i].out);
        CHECK(&m, cases[i].expected);
    }
}

/* A stretch is cut where up to four results are alive, but not where five are. It has all the products. */
static void many_alive(void **state)
{
    (void)state;
    for (uint32_t beside = 0; beside < 5; beside++) {
        struct made m;
        uint32_t kept[5];
        start(&m, 2, (uint64_t[]){ 1, 4 });
        uint32_t x = product(&m, m.last, 4);
        for (uint32_t i = 0; i < beside; i++)
            kept[i] = x = function(&m, x);
        x = product(&m, product(&m, product(&m, x, 8), 8), 4);
        for (uint32_t i = 0; i < beside; i++)
            x = sum(&m, x, kept[i]);
        const char *text = grouped(&m);
        bool apart = strstr(text, "mm") == NULL;
        if (apart != (beside < 4))
            print_error("%u beside: %s\n", beside, text);
        assert_true(apart == (beside < 4));
        arena_free(&m.arena);
    }
}

/* Pooling to less than an eighth joins the head after it; pooling to an eighth, or without a product after it, joins
 * the layer before it. */
static void boiled_down(void **state)
{
    static const struct { uint64_t side; bool product_behind; const char *expected; } cases[] = {
        { 3, true, "stem m, block0 m, head pm" }, { 2, true, "stem m, block0 mp, head m" }, { 3, false, "stem m, head mp" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        uint32_t side = (uint32_t)cases[i].side, high = side == 3 ? 3 : 4;         /* 9 elements to one, or 8 */
        start(&m, 4, (uint64_t[]){ 1, high, side, 5 });
        product(&m, product(&m, m.last, 5), 6);
        m.last = graph_op(&m.g, OP_AVERAGE_POOL, &m.last, 1, (struct op_attributes){ .kernel_h = high, .kernel_w = side, .stride = 1 });
        if (cases[i].product_behind)
            product(&m, m.last, 7);
        CHECK(&m, cases[i].expected);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(chains), cmocka_unit_test(around), cmocka_unit_test(large_shares), cmocka_unit_test(many_alive), cmocka_unit_test(boiled_down),
};
TAP_MAIN(tests)
