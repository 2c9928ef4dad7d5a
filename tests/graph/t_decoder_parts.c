/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_decoder_parts.c - parts of large language models by hand: RMS norm, rotary positions, gated parts, tables that names describe. */
#include "tests/check.h"
#include "tests/execute.h"
#include "workloads/models/builders.h"

static struct builder started(struct graph *g, struct arena *a)
{
    static const struct model_options one = { .micro_batch = 1, .inference = true };
    struct builder b = builder_start(g, "parts", &one, a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    return b;
}

/* Fills the graph's first tensors in their order and computes the rest. */
static const double *computed(const struct graph *g, const double *const *given, uint32_t n, uint32_t id, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        v[i] = ARENA_ARRAY(a, double, tensor_elements(&g->tensors[i]));
        if (i < n)
            memcpy(v[i], given[i], tensor_elements(&g->tensors[i]) * sizeof(double));
    }
    ((struct graph *)g)->n_forward_ops = g->n_ops;
    graph_execute(g, v);
    return v[id];
}

/* (3, 4) over sqrt((9 + 16) / 2 + 1/2) = sqrt(13), times (2, 1/2). */
static void rms_norm(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    (void)state;
    uint32_t y = build_rms_norm(&b, build_input(&b, "x", TYPE_FP32, DIMS(1, 1, 2)), 0.5);
    const double *y_is = computed(&g, (const double *[]){ (double[]){ 3, 4 }, (double[]){ 2, 0.5 } }, 2, y, &a);
    assert_near(y_is[0], 6 / sqrt(13), 1e-12);
    assert_near(y_is[1], 2 / sqrt(13), 1e-12);
    arena_free(&a);
}

/* The second of two heads of three elements; the last element of each stays. (3, 5) turned by cosine 0.6 and sine 0.8 is (3 0.6 - 5 0.8, 3 0.8 + 5 0.6). */
static void rotary(void **state)
{
    (void)state;
    for (int neighbours = 0; neighbours < 2; neighbours++) {
        struct arena a = { 0 };
        struct graph g;
        struct builder b = started(&g, &a);
        uint32_t x = build_input(&b, "x", TYPE_FP32, DIMS(1, 1, 10));
        uint32_t three[] = { x, build_input(&b, "c", TYPE_FP32, DIMS(1, 1, 2)), build_input(&b, "s", TYPE_FP32, DIMS(1, 1, 2)) };
        uint32_t y = graph_op(&g, OP_ROTARY, three, 3, (struct op_attributes){ .groups = 2, .length = 4, .neighbours = neighbours });
        const double *y_is = computed(&g, (const double *[]){ (double[]){ 0, 0, 0, 0, 0, 3, 5, 5, 2, 7 }, (double[]){ 0.6, 1 }, (double[]){ 0.8, 0 } }, 3, y, &a);
        const double halves[] = { -2.2, 5, 5.4, 2, 7 }, pairs[] = { -2.2, 5.4, 5, 2, 7 };
        for (int i = 0; i < 5; i++)
            assert_near(y_is[5 + i], neighbours ? pairs[i] : halves[i], 1e-12);
        arena_free(&a);
    }
}

/* Keys of two heads for six: heads 0 to 2 read the first. */
static void shared_keys(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    struct attention at = { .heads = 6, .key_heads = 2, .mask = NO_ID, .unbiased = true };
    (void)state;
    build_attention(&b, build_input(&b, "x", TYPE_FP16, DIMS(1, 5, 12)), &at);
    assert_int_equal(graph_parameters(&g), 12 * 12 + 12 * 2 * 4 + 12 * 12);
    for (size_t i = 0; i < g.n_ops; i++)
        if (g.ops[i].kind == OP_EXPAND) {
            const struct tensor *y = &g.tensors[g.ops[i].outputs[0]];
            assert_int_equal(y->dims[1], 2);
            assert_int_equal(y->dims[2], 3);
        }
    arena_free(&a);
}

static double value_of(const char *name, uint32_t n_dims, const uint64_t *dims, uint64_t i)
{
    struct arena a = { 0 };
    struct tensor t = { .name = name, .n_dims = n_dims };
    memcpy(t.dims, dims, n_dims * sizeof *dims);
    double *all = ARENA_ARRAY(&a, double, tensor_elements(&t));
    assert_true(state_values(all, &t));
    double x = all[i];
    arena_free(&a);
    return x;
}

/* T5's buckets: 16 each way, of which 8 are single places; backwards 32, of which 16 are. 16 + floor(16 ln(31 / 16) / ln(128 / 16)) = 21. */
static void tables(void **state)
{
    const uint64_t square[] = { 300, 300 }, slopes[] = { 1, 112, 1, 3 }, angles[] = { 1, 5, 3 };
    double one;
    (void)state;
    assert_near(value_of("position-buckets", 2, square, 200 * 300 + 199), 1, 0);
    assert_near(value_of("position-buckets", 2, square, 200 * 300 + 201), 17, 0);
    assert_near(value_of("position-buckets", 2, square, 200 * 300), 15, 0);
    assert_near(value_of("position-buckets-causal", 2, square, 200 * 300 + 169), 21, 0);
    assert_near(value_of("position-buckets-causal", 2, square, 200 * 300 + 299), 0, 0);
    assert_near(value_of("causal-mask", 2, square, 7 * 300 + 8), -10000, 0);
    assert_near(value_of("causal-mask", 2, square, 7 * 300 + 7), 0, 0);
    assert_near(value_of("linear-biases", 4, slopes, 2), 2 * pow(2, -8.0 / 64), 1e-12);
    assert_near(value_of("linear-biases", 4, slopes, 65 * 3 + 1), pow(2, -24.0 / 128), 1e-12);
    assert_near(value_of("rotary-sines", 3, angles, 4 * 3 + 1), sin(4 / pow(10000, 1.0 / 3)), 1e-12);
    assert_near(value_of("rotary-cosines", 3, angles, 4 * 3), cos(4), 1e-12);
    assert_near(value_of("own-places", 2, (uint64_t[]){ 6, 1 }, 5), 5, 0);
    assert_near(value_of("places", 2, (uint64_t[]){ 1, 6 }, 5), 5, 0);
    assert_near(value_of("pairs-below", 2, (uint64_t[]){ 2, 6 }, 6), 4, 0);       /* 4 rows: 1 x 4 + 0, ..., 3 x 4 + 2 */
    assert_near(value_of("pairs-below", 2, (uint64_t[]){ 2, 6 }, 2), 9, 0);
    assert_near(value_of("pairs-below", 2, (uint64_t[]){ 2, 6 }, 11), 14, 0);
    assert_near(value_of("zeros", 2, (uint64_t[]){ 2, 6 }, 11), 0, 0);
    assert_near(value_of("ones", 2, (uint64_t[]){ 2, 6 }, 0), 1, 0);
    assert_near(value_of("ones", 2, (uint64_t[]){ 2, 6 }, 11), 1, 0);
    assert_near(value_of("rotary-cosines", 3, angles, 0), 1, 0);
    assert_false(state_values(&one, &(struct tensor){ .name = "mask", .n_dims = 1, .dims = { 1 } }));
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(rms_norm), cmocka_unit_test(rotary), cmocka_unit_test(shared_keys), cmocka_unit_test(tables) };
TAP_MAIN(tests)
