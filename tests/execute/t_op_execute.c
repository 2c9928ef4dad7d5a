/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_op_execute.c - operations in fp32: near those in double precision, the same bytes at any number of threads, and refusals.
 */
#include "tests/check.h"
#include "tests/execute.h"
#include "tests/small_models.h"
#include "system-model/execute/execution.h"

static void build(struct graph *g, const struct small_model *m, struct arena *a)
{
    struct err err = { "" };
    bool built = workload_graph(g, &m->w, &m->o, a, &err);
    assert_string_equal(err.msg, "");
    assert_true(built && graph_is_executable(g, &err));
}

static struct tensor_value *make_values(const struct graph *g, struct arena *a)
{
    struct tensor_value *v = ARENA_ARRAY(a, struct tensor_value, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        v[i] = (struct tensor_value){ ARENA_ARRAY(a, float, tensor_elements(&g->tensors[i])), tensor_elements(&g->tensors[i]) };
        for (uint64_t k = 0; k < v[i].n_elements && g->tensors[i].producer_op == NO_ID; k++)
            v[i].x[k] = (float)given_value(g, i, k, 0);
    }
    return v;
}

static struct tensor_value *run_graph(const struct graph *g, uint32_t n_threads, bool by_type, struct arena *a)
{
    struct tensor_value *v = make_values(g, a);
    struct err err = { "" };
    for (uint32_t i = 0; i < g->n_ops; i++) {
        bool good = op_execute(g, i, v, &(struct op_context){ .n_threads = n_threads, .precision = { by_type, PARTIALS_FP16, true, false } }, &err);
        assert_string_equal(err.msg, "");
        assert_true(good);
    }
    return v;
}

static double **doubles_of(const struct graph *g, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        v[i] = ARENA_ARRAY(a, double, tensor_elements(&g->tensors[i]));
        for (uint64_t k = 0; k < tensor_elements(&g->tensors[i]) && g->tensors[i].producer_op == NO_ID; k++)
            v[i][k] = (float)given_value(g, i, k, 0);
    }
    return v;
}

/* Weight gradients of all families, relative to the largest element of each, and the loss. */
static void as_in_double(void **state)
{
    (void)state;
    for (size_t m = 0; m < N_SMALL_MODELS; m++) {
        struct arena a = { 0 };
        struct graph g;
        build(&g, &small_models[m], &a);
        struct tensor_value *v = run_graph(&g, 1, false, &a);
        double **exact = doubles_of(&g, &a), worst = 0;
        graph_execute(&g, exact);
        for (uint32_t i = 0; i < g.n_tensors; i++) {
            double most = 1e-30, off = 0;
            for (uint64_t k = 0; k < v[i].n_elements && g.tensors[i].role == ROLE_WEIGHT_GRADIENT; k++) {
                most = fmax(most, fabs(exact[i][k]));
                off = fmax(off, fabs(exact[i][k] - (double)v[i].x[k]));
            }
            worst = fmax(worst, most > 1e-4 ? off / most : 0);
        }
        print_message("# %s: gradients differ by %.1e of the largest\n", small_models[m].w.name, worst);
        assert_true(worst > 0 && worst < 2e-3);
        arena_free(&a);
    }
}

/* A product that is cut into pieces: 700 x 90 x 110, over one, two and five threads, in fp32 and in the types of the tensors. */
static void any_number_of_threads(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct model_options one = { .micro_batch = 1 };
    struct builder b = builder_start(&g, "product", &one, &a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP32, DIMS(700, 90)), 110, true);
    uint32_t image = build_input(&b, "image", TYPE_FP32, DIMS(1, 70, 61, 8));
    uint32_t y = build_conv(&b, image, (struct conv_spec){ .kernel = 3, .stride = 1, .channels = 9 });
    (void)y;
    build_classes(&b, build_dense(&b, x, 5, true), DIMS(700));
    graph_add_backward(&g);
    for (int by_type = 0; by_type < 2; by_type++) {
        struct tensor_value *alone = run_graph(&g, 1, by_type, &a);
        for (uint32_t n = 2; n < 6; n += 3) {
            struct tensor_value *many = run_graph(&g, n, by_type, &a);
            for (uint32_t i = 0; i < g.n_tensors; i++)
                assert_memory_equal(alone[i].x, many[i].x, alone[i].n_elements * sizeof(float));
        }
    }
    arena_free(&a);
}

/* The last of the rows in which a label is below 0 does not count, in the mean either. */
static void labels_that_do_not_count(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    struct model_options one = { .micro_batch = 1 };
    struct builder b = builder_start(&g, "loss", &one, &a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    build_classes(&b, build_dense(&b, build_input(&b, "x", TYPE_FP32, DIMS(3, 4)), 2, false), DIMS(3));
    graph_add_backward(&g);
    struct tensor_value *v = make_values(&g, &a);
    const struct op *loss = &g.ops[g.n_forward_ops - 1];
    float scores[] = { 0, 1, 2, 0, 7, 7 }, labels[] = { 1, 1, -1 };
    memcpy(v[loss->inputs[0]].x, scores, sizeof scores);
    memcpy(v[loss->inputs[1]].x, labels, sizeof labels);
    struct op_context mean = { .mean_losses = true, .loss_factor = 8 };
    assert_true(op_execute(&g, (uint32_t)(loss - g.ops), v, &mean, &err) && op_execute(&g, (uint32_t)g.n_forward_ops, v, &mean, &err));
    double p[] = { 1 / (1 + exp(-1.0)), 1 / (1 + exp(2.0)) };
    assert_near(v[loss->outputs[0]].x[0], -(log(p[0]) + log(p[1])) / 2, 1e-6);
    const float *d = v[g.ops[g.n_forward_ops].outputs[0]].x;
    assert_near(d[1], 8 * (p[0] - 1) / 2, 1e-6);
    assert_near(d[2], 8 * (1 - p[1]) / 2, 1e-6);
    assert_true(d[4] == 0 && d[5] == 0);
    arena_free(&a);
}

/* A product of fp8: inputs up to 1000 and weights get scales of their own, so that nothing saturates, and three bits behind the point: an error of some per
 * cent of a factor, less of a sum. */
static void product_of_fp8(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    struct model_options fp8 = { .micro_batch = 1, .compute = COMPUTE_FP8 };
    struct rounding_counts counts[N_TENSOR_ROLES] = { { 0 } };
    struct builder b = builder_start(&g, "fp8", &fp8, &a);
    build_layer(&b, LAYER_BODY, 0, 0, 1, "body");
    uint32_t x = build_input(&b, "x", TYPE_FP16, DIMS(8, 96)), y = build_dense(&b, x, 40, false);
    struct tensor_value *exact = make_values(&g, &a), *v = make_values(&g, &a);
    for (uint64_t i = 0; i < v[x].n_elements; i++)
        v[x].x[i] = exact[x].x[i] = (float)(2000 * noise_at(3, i));
    for (uint32_t i = 0; i < g.n_ops; i++) {
        const struct op_context c = { .precision = { true, PARTIALS_FP16, false, false }, .counts = counts };
        assert_true(op_execute(&g, i, v, &c, &err) && op_execute(&g, i, exact, &(struct op_context){ 0 }, &err));
        if (g.ops[i].kind != OP_CAST)
            continue;
        const struct tensor_value *t = &v[g.ops[i].outputs[0]];
        int scale = rounding_scale(t->x, t->n_elements, FORMAT_E4M3);
        assert_int_equal(scale, 3);                         /* 240 * 2^3 is above 1000, 240 * 2^2 is not */
        float again[8 * 96];
        memcpy(again, t->x, sizeof again);
        round_elements(again, t->n_elements, FORMAT_E4M3, scale, &to_nearest, &counts[ROLE_INPUT]);
        assert_memory_equal(again, t->x, sizeof again);
    }
    double off = 0, all = 0;
    for (uint64_t i = 0; i < v[y].n_elements; i++)
        off += pow((double)v[y].x[i] - (double)exact[y].x[i], 2), all += pow((double)exact[y].x[i], 2);
    print_message("# a product of fp8: %.2g of the norm\n", sqrt(off / all));
    assert_true(sqrt(off / all) > 0.005 && sqrt(off / all) < 0.06);
    assert_true(counts[ROLE_ACTIVATION].n_saturated == 0 && counts[ROLE_ACTIVATION].n_infinite == 0 && counts[ROLE_ACTIVATION].n_rounded == 8 * 96 + 8 * 40);
    arena_free(&a);
}

static void refusals(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    struct model_options one = { .micro_batch = 1 };
    struct builder b = builder_start(&g, "refused", &one, &a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "words");
    uint32_t at = build_input(&b, "tokens", TYPE_INT32, DIMS(2));
    uint32_t x = build_gather(&b, build_weight(&b, "table", DIMS(5, 4)), at);
    build_classes(&b, build_dense(&b, x, 2, false), DIMS(2));
    graph_add_backward(&g);
    struct tensor_value *v = make_values(&g, &a);
    const struct op_context c = { 0 };
    v[at].x[1] = 5;
    assert_false(op_execute(&g, 0, v, &c, &err));
    assert_string_equal(err.msg, "operation 0 (gather forward of layer words): element 1 of tensor 0 (tokens) is 5, want -5 to 4");
    v[at].x[1] = -5;
    assert_true(op_execute(&g, 0, v, &c, &err));
    v[x].n_elements = 7;
    assert_false(op_execute(&g, 1, v, &c, &err));
    assert_string_equal(err.msg, "operation 1 (matmul forward of layer words) reads tensor 2 (gather) of 7 elements, want 8");
    v[x].x = NULL;
    assert_false(op_execute(&g, 1, v, &c, &err));
    assert_string_equal(err.msg, "operation 1 (matmul forward of layer words) reads tensor 2 (gather of layer words), which is not there");
    g.layers[0].repeats = 3;
    assert_false(graph_is_executable(&g, &err));
    assert_string_equal(err.msg, "layer words is described by one of 3 slices, which cannot be executed; leave it whole (parallel.joint_slices=1)");
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_in_double), cmocka_unit_test(any_number_of_threads), cmocka_unit_test(labels_that_do_not_count),
    cmocka_unit_test(product_of_fp8), cmocka_unit_test(refusals),
};
TAP_MAIN(tests)
