/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_recompute_curve.c - checkpoints between layers: three layers by hand, laws on the models, the white papers' five times.
 */
#include "tests/check.h"
#include "results/simulate/simulate.h"
#include "system-model/graph/graph.h"
#include "workloads/recipe/recipe.h"

/*
 * Three dense layers, each [5, 7] x [7, 7] in fp16 with a relu: a layer's backward passes read its product's input
 * (made by the layer before) and its relu's output, 5 x 7 x 2 = 70 bytes each. Kept by layer: 70 (the relu's output),
 * the last 70 as well. All kept: 210. One checkpoint (70): the larger segment has two layers, 140 + 70 = 210, no gain;
 * so one point is left.
 */
static void chain_of(struct recompute_point **points, size_t *n, const uint64_t *widths, uint32_t n_layers, struct arena *a)
{
    struct graph g;
    graph_start(&g, "chain", 5, a);
    uint32_t x = NO_ID;
    for (uint32_t i = 0; i < n_layers; i++) {
        graph_layer(&g, (struct layer){ .name = "dense", .role = LAYER_BODY, .block_id = i, .n_parts = 1 });
        if (!i)
            x = graph_tensor(&g, "in", ROLE_INPUT, TYPE_FP16, 2, (uint64_t[]){ 5, 7 });
        uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ i ? widths[i - 1] : 7, widths[i] });
        x = graph_op(&g, OP_MATMUL, (uint32_t[]){ x, w }, 2, (struct op_attributes){0});
        x = graph_op(&g, OP_RELU, &x, 1, (struct op_attributes){0});
    }
    uint32_t labels = graph_tensor(&g, "labels", ROLE_INPUT, TYPE_INT32, 1, (uint64_t[]){ 5 });
    graph_op(&g, OP_CROSS_ENTROPY, (uint32_t[]){ x, labels }, 2, (struct op_attributes){0});
    graph_add_backward(&g);
    recompute_curve(points, n, &g, a);
}

static void chain(struct recompute_point **points, size_t *n, uint32_t n_layers, struct arena *a)
{
    static const uint64_t sevens[] = { 7, 7, 7, 7, 7, 7 };
    chain_of(points, n, sevens, n_layers, a);
}

static void a_chain_of_equal_small_layers_gains_nothing(void **state)
{
    (void)state;
    struct arena a = {0};
    struct recompute_point *points;
    size_t n;
    chain(&points, &n, 3, &a);
    assert_int_equal(n, 1);
    assert_int_equal(points[0].n_checkpoints, 0);
    assert_int_equal(points[0].memory_bytes, 210);
    assert_near(points[0].memory_share, 1, 0);
    assert_near(points[0].extra_work_share, 0, 0);
    arena_free(&a);
}

/* Six layers: 420 bytes; halves with a checkpoint between 70 + 210, and the first half's three products again, of 17 in
 * all (the first layer has no data gradient). Thirds, 140 + 140, are no less. */
static void six_layers_in_halves(void **state)
{
    (void)state;
    struct arena a = {0};
    struct recompute_point *points;
    size_t n;
    chain(&points, &n, 6, &a);
    assert_int_equal(n, 2);
    assert_int_equal(points[0].memory_bytes, 420);
    assert_int_equal(points[1].n_checkpoints, 1);
    assert_int_equal(points[1].memory_bytes, 280);
    assert_near(points[1].memory_share, 2.0 / 3, 1e-15);
    assert_near(points[1].extra_work_share, 3.0 / 17, 1e-15);
    arena_free(&a);
}

/* Widths of 2, 5, 5 and 4, ten bytes each: 160 in all. A checkpoint in the middle keeps 50 and at most the 90 of the
 * last two layers; none elsewhere, and no two, are less. Products of 14, 10, 25 and 20, all forward and for weights,
 * all but the first for data. */
static void uneven_layers(void **state)
{
    (void)state;
    struct arena a = {0};
    struct recompute_point *points;
    size_t n;
    chain_of(&points, &n, (const uint64_t[]){ 2, 5, 5, 4 }, 4, &a);
    assert_int_equal(n, 2);
    assert_int_equal(points[0].memory_bytes, 160);
    assert_int_equal(points[1].n_checkpoints, 1);
    assert_int_equal(points[1].memory_bytes, 140);
    assert_near(points[1].memory_share, 14.0 / 16, 1e-15);
    assert_near(points[1].extra_work_share, 24.0 / (3 * 69 - 14), 1e-15);
    arena_free(&a);
}

static void curve_of(struct recompute_point **points, size_t *n, const char *workload, struct arena *a)
{
    struct graph g;
    struct err err;
    const struct workload *w = workload_find(workload, &err);
    assert_non_null(w);
    assert_true(workload_graph(&g, w, NULL, a, &err));
    recompute_curve(points, n, &g, a);
}

/* Less memory always costs more work, and at most all forward work: a third of forward and backward together. */
static void memory_is_bought_with_work(void **state)
{
    (void)state;
    static const char *const names[] = { "resnet50", "resnet152", "densenet121", "bert-base" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct arena a = {0};
        struct recompute_point *p;
        size_t n;
        curve_of(&p, &n, names[k], &a);
        assert_true(n > 3);
        for (size_t i = 1; i < n; i++) {
            assert_true(p[i].memory_bytes < p[i - 1].memory_bytes);
            assert_true(p[i].extra_work_share > p[i - 1].extra_work_share);
            assert_true(p[i].extra_work_share < 0.36);      /* the first layer has no data gradient: forward is a little over a third */
        }
        arena_free(&a);
    }
}

static void deep_networks_keep_a_fifth(void **state)
{
    (void)state;
    static const char *const names[] = { "resnet152", "densenet121" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct arena a = {0};
        struct recompute_point *p;
        size_t n;
        curve_of(&p, &n, names[k], &a);
        assert_near(p[n - 1].memory_share, 0.195, 0.008);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_chain_of_equal_small_layers_gains_nothing), cmocka_unit_test(six_layers_in_halves), cmocka_unit_test(uneven_layers), cmocka_unit_test(memory_is_bought_with_work),
    cmocka_unit_test(deep_networks_keep_a_fifth),
};
TAP_MAIN(tests)
