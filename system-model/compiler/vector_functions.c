/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_functions.c - functions of elements, repeated operands, resized images and local normalisation, as passes.
 *
 * Each pass is one vertex of popops or popnn (vertex_cost.c). Functions without a vertex of their own are made of several, as
 * PopART builds them from map expressions (willow/src/popx/op); so is local response normalisation (lrnx.cpp): the
 * squares, one addition for each neighbour, and a power from logarithm, product and exponential. A resized image is copied
 * (nearest), or mixed from two neighbours in either direction (linear); its gradient adds up what was copied.
 */
#include "system-model/compiler/vector_internal.h"

static const struct function_row { uint32_t n, n_backward; enum map_op forward[4], backward[4]; } function_rows[] = {
    [FUNCTION_EXP]          = { 1, 1, { MAP_EXP }, { MAP_BINARY } },
    [FUNCTION_LOG]          = { 1, 1, { MAP_LOG }, { MAP_DIVIDE } },
    [FUNCTION_SQRT]         = { 1, 2, { MAP_SQRT }, { MAP_RSQRT, MAP_BINARY } },
    [FUNCTION_ABS]          = { 1, 2, { MAP_SCALAR }, { MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_NEGATE]       = { 1, 1, { MAP_SCALAR }, { MAP_SCALAR } },
    [FUNCTION_RECIPROCAL]   = { 1, 3, { MAP_INVERSE }, { MAP_SQUARE, MAP_DIVIDE, MAP_SCALAR } },
    [FUNCTION_SQUARE]       = { 1, 2, { MAP_SQUARE }, { MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_ERF]          = { 1, 3, { MAP_ERF }, { MAP_SQUARE, MAP_EXP, MAP_BINARY } },
    [FUNCTION_LEAKY_RELU]   = { 2, 2, { MAP_SCALAR, MAP_BINARY }, { MAP_RELU_GRAD, MAP_BINARY } },
    [FUNCTION_ELU]          = { 2, 2, { MAP_EXP, MAP_BINARY }, { MAP_EXP, MAP_BINARY } },
    [FUNCTION_HARD_SIGMOID] = { 2, 1, { MAP_SCALAR, MAP_SCALAR }, { MAP_BINARY } },
    [FUNCTION_HARD_SWISH]   = { 3, 3, { MAP_SCALAR, MAP_SCALAR, MAP_BINARY }, { MAP_SCALAR, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_SOFTPLUS]     = { 3, 2, { MAP_EXP, MAP_SCALAR, MAP_LOG }, { MAP_SIGMOID, MAP_BINARY } },
    [FUNCTION_CLIP]         = { 1, 1, { MAP_BINARY }, { MAP_RELU_GRAD } },
    [FUNCTION_ADD]          = { 1, 0, { MAP_SCALAR }, { MAP_SCALAR } },
    [FUNCTION_SIN]          = { 1, 2, { MAP_EXP }, { MAP_EXP, MAP_BINARY } },
    [FUNCTION_COS]          = { 1, 2, { MAP_EXP }, { MAP_EXP, MAP_BINARY } },
    [FUNCTION_FLOOR]        = { 1, 1, { MAP_SCALAR }, { MAP_FILL } },
    [FUNCTION_CEIL]         = { 1, 1, { MAP_SCALAR }, { MAP_FILL } },
    [FUNCTION_ROUND]        = { 1, 1, { MAP_SCALAR }, { MAP_FILL } },
    [FUNCTION_SIGN]         = { 1, 1, { MAP_SCALAR }, { MAP_FILL } },
    [FUNCTION_IS_NAN]       = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_IS_INF]       = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_SUBTRACT]     = { 1, 1, { MAP_BINARY }, { MAP_SCALAR } },
    [FUNCTION_DIVIDE]       = { 1, 2, { MAP_DIVIDE }, { MAP_DIVIDE, MAP_BINARY } },
    [FUNCTION_POWER]        = { 3, 4, { MAP_LOG, MAP_BINARY, MAP_EXP }, { MAP_LOG, MAP_BINARY, MAP_EXP, MAP_BINARY } },
    [FUNCTION_MAXIMUM]      = { 1, 1, { MAP_BINARY }, { MAP_BINARY } },
    [FUNCTION_MINIMUM]      = { 1, 1, { MAP_BINARY }, { MAP_BINARY } },
    [FUNCTION_EQUAL]        = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_GREATER]      = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_LESS]         = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_GREATER_EQUAL] = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_LESS_EQUAL]   = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_AND]          = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
    [FUNCTION_OR]           = { 1, 1, { MAP_BINARY }, { MAP_FILL } },
};
_Static_assert(sizeof function_rows / sizeof *function_rows == N_OP_FUNCTIONS, "one row a function");

static void add_steps(struct passes *p, const enum map_op *ops, uint32_t n_ops, uint64_t n)
{
    for (uint32_t i = 0; i < n_ops; i++)
        add_map(p, ops[i], n);
}

void plan_map(struct passes *p, const struct work *w)
{
    const struct function_row *row = &function_rows[w->forward->at->function];
    add_steps(p, w->backward ? row->backward : row->forward, w->backward ? row->n_backward : row->n, w->n);
}

void plan_combine(struct passes *p, const struct work *w)
{
    const struct function_row *row = &function_rows[w->forward->at->function];
    if (!w->backward) {
        add_operand(p, w, &w->g->tensors[w->op->inputs[1]]);
        add_steps(p, row->forward, row->n, w->n_out);
        return;
    }
    add_steps(p, row->backward, row->n_backward - 1, w->n_out);
    add_operand_gradients(p, w, row->backward[row->n_backward - 1]);
}

void plan_select(struct passes *p, const struct work *w)
{
    for (uint32_t i = 1; i < w->op->n_inputs && !w->backward; i++)
        add_operand(p, w, &w->g->tensors[w->op->inputs[i]]);
    if (w->backward)
        add_operand_gradients(p, w, MAP_SELECT);
    else
        add_map(p, MAP_SELECT, w->n_out);
}

void plan_expand(struct passes *p, const struct work *w)
{
    if (w->backward) {
        add_reduction(p, MAP_REDUCE, false, w->n_out, w->n, 1);
        return;
    }
    add_vector_broadcast(p, w->n, w->n_out);
    add_map(p, MAP_COPY, w->n_out);
}

void plan_view(struct passes *p, const struct work *w)
{
    (void)p;
    (void)w;
}

void plan_resize(struct passes *p, const struct work *w)
{
    uint64_t larger = max_u64(w->n, w->n_out);
    add_moved(p, w->backward ? w->n_out : w->n);
    if (w->forward->at->linear) {
        add_map(p, MAP_SCALED_ADD, larger);
        add_map(p, MAP_SCALED_ADD, larger);
    }
    if (w->backward)
        add_reduction(p, MAP_REDUCE, true, larger, w->n, 1);
    else
        add_map(p, MAP_COPY, w->n_out);
}

void plan_local_norm(struct passes *p, const struct work *w)
{
    static const enum map_op power[] = { MAP_LOG, MAP_SCALAR, MAP_EXP };
    uint32_t sums = w->backward ? 2 * w->forward->at->kernel_w : w->forward->at->kernel_w;
    add_map(p, MAP_SQUARE, w->n);
    for (uint32_t i = 1; i < sums; i++)
        add_map(p, MAP_BINARY_IN_PLACE, w->n);
    add_map(p, MAP_SCALAR, w->n);
    add_steps(p, power, 3, w->n);
    add_map(p, MAP_BINARY, w->n);
    if (w->backward)
        add_map(p, MAP_SCALED_ADD, w->n);
}
