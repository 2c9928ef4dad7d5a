/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_knowledge.c - scores of a knowledge graph, by execution in double precision.
 *
 * ComplEx replaces the head of one half of its triples and the tail of the other half. If what replaces an end is that end itself, the score is the
 * triple's own, sum of the real parts of h r conj(t): the relation applies to a tail by its conjugate.
 * The softmax that weighs negatives is constant for the gradient.
 */
#include "tests/built_graph.h"
#include "tests/execute.h"

enum { N_ENTITIES = 7, N_RELATIONS = 37, WIDTH = 6, HEAD_0 = 1, HEAD_1 = 2, TAIL_0 = 4, TAIL_1 = 6 };

static double value_of(uint64_t k) { return sin(1.7 * (double)k + 0.3); }

/* Sum of the real parts of h r conj(t), by the values of the tables. */
static double complex_score(const double *entities, const double *relations, uint64_t head, uint64_t relation, uint64_t tail)
{
    const double *h = entities + head * WIDTH, *r = relations + relation * WIDTH, *t = entities + tail * WIDTH;
    double sum = 0;
    for (int k = 0, i = WIDTH / 2; k < WIDTH / 2; k++, i++)
        sum += (h[k] * r[k] - h[i] * r[i]) * t[k] + (h[k] * r[i] + h[i] * r[k]) * t[i];
    return sum;
}

static void an_end_replaced_by_itself_scores_alike(void **state)
{
    static const double ends[] = { HEAD_0, HEAD_1, TAIL_0, TAIL_1, HEAD_0, TAIL_1 }, kinds[] = { 3, 5 };
    const struct model_options two = { .micro_batch = 2, .vocabulary = N_ENTITIES, .embedding_size = WIDTH, .inference = true };
    const double *entities = NULL, *relations = NULL;
    struct graph g;
    struct arena a;
    uint32_t n = 0;
    (void)state;
    build(&g, "complex", &two, &a);
    double **v = ARENA_ARRAY(&a, double *, g.n_tensors);
    for (uint32_t i = 0; i < g.n_tensors; i++) {
        const struct tensor *t = &g.tensors[i];
        v[i] = ARENA_ARRAY(&a, double, tensor_elements(t));
        for (uint64_t k = 0; k < tensor_elements(t) && t->producer_op == NO_ID; k++)
            v[i][k] = text_is(t->name, "entity") ? ends[k] : text_is(t->name, "relation") ? kinds[k] : value_of(k + i);
        entities = text_is(t->name, "entities") ? v[i] : entities;
        relations = text_is(t->name, "relations") ? v[i] : relations;
    }
    graph_execute(&g, v);
    assert_true(entities && relations);
    const double own[] = { complex_score(entities, relations, HEAD_0, 3, TAIL_0), complex_score(entities, relations, HEAD_1, 5, TAIL_1) };
    for (size_t i = 0; i < g.n_ops; i++)
        if (g.ops[i].kind == OP_MATMUL)
            n += fabs(v[g.ops[i].outputs[0]][0] - own[0]) < 1e-12 || fabs(v[g.ops[i].outputs[0]][0] - own[1]) < 1e-12;
    assert_int_equal(n, 2);
    arena_free(&a);
}

static void no_gradient_goes_through_the_weights_of_negatives(void **state)
{
    const struct model_options two = { .micro_batch = 2, .vocabulary = N_ENTITIES, .embedding_size = WIDTH };
    struct graph g;
    struct arena a;
    uint32_t n[2] = { 0 };
    (void)state;
    build(&g, "rotate", &two, &a);
    for (size_t i = 0; i < g.n_ops; i++)
        if (g.ops[i].kind == OP_SOFTMAX || g.ops[i].kind == OP_SIGMOID)
            n[g.ops[i].kind == OP_SIGMOID] += g.ops[i].pass == PASS_FORWARD ? 1 : 10;
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 22);         /* two log-sigmoids, with a gradient each */
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(an_end_replaced_by_itself_scores_alike), cmocka_unit_test(no_gradient_goes_through_the_weights_of_negatives) };
TAP_MAIN(tests)
