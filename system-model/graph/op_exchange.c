/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_exchange.c - what an operation exchanges with the same operation on other IPUs while it runs.
 *
 *     all-reduce     the tensor, forward; a shared operand's gradient, backward
 *     loss           of a dimension that is cut: the largest score of each row, the sum of exponentials, the loss (graphcore/popxl-addons 7499fca
 *                    ops/cross_entropy_sharded_loss/crossentropyshardedx.cpp, in the scores' type)
 *     softmax        the first two of them; backward the sum of each row
 *     norm of rows   of a dimension that is cut: mean, and mean square in fp32; backward the sums of two gradients (graphcore/popxl-addons 7499fca
 *                    ops/layer_norm_distributed/layer_norm_distributedx.cpp, graphcore/poplibs 7eac0f26 lib/poplin/Norms.cpp:130-256, 450-503)
 *     codelet        the halos of a grid that several IPUs share, with neighbours
 *     all-to-all     a piece for each other replica: as many bytes on the links as if each sent the same to all
 *     batch norm     of each channel the mean, in the activations' type, and the mean square in fp32, over at->norm_groups replicas; a stable one has the mean
 *                    first; backward two sums in the activations' type (graphcore/poplibs 7eac0f26 lib/poplin/Norms.cpp:160-256, 503-507)
 */
#include "system-model/graph/graph.h"

static struct op_exchange of_norm(const struct graph *g, const struct op *op)
{
    const struct tensor *x = &g->tensors[op->inputs[0]];
    uint64_t word = data_type_bytes(x->type), channel_bytes = word + (op->pass == PASS_FORWARD ? 4 : word);
    uint32_t n = op->at->stable && op->pass == PASS_FORWARD ? 2 : 1;
    return (struct op_exchange){ .ranks = op->at->norm_groups, .n = n, .bytes = (double)(x->dims[x->n_dims - 1] * channel_bytes) / n };
}

/* n exchanges of this many bytes for each row of a tensor that is cut along its last dimension. */
static struct op_exchange of_rows(const struct tensor *x, uint32_t n, uint64_t row_bytes)
{
    const struct tensor_part *cut = tensor_cut(x, x->n_dims - 1);
    double rows = (double)(tensor_elements(x) / x->dims[x->n_dims - 1]);
    if (!cut)
        return (struct op_exchange){ 0 };
    return (struct op_exchange){ .ranks = cut->parts, .stride = cut->stride, .n = n, .bytes = rows * (double)row_bytes, .of_activations = true };
}

static struct op_exchange of_row_norm(const struct graph *g, const struct op *op)
{
    const struct tensor *x = &g->tensors[op_forward(g, op)->inputs[0]];
    uint64_t word = data_type_bytes(x->type), mean = op->kind == OP_LAYER_NORM ? word : 0;
    return of_rows(x, op->pass != PASS_BACKWARD_WEIGHT, mean + (op->pass == PASS_FORWARD ? 4 : word));
}

static struct op_exchange of_tensor(const struct graph *g, const struct op *op, bool gathers)
{
    return (struct op_exchange){ .ranks = op_forward(g, op)->at->ranks, .stride = op_forward(g, op)->at->stride, .n = 1, .bytes = (double)tensor_bytes(&g->tensors[op->outputs[0]]), .gathers = gathers,
                                 .of_activations = true };
}

static struct op_exchange of_grid(const struct op *op)
{
    uint32_t ranks = 1;
    for (uint32_t i = 0; i < MOST_GRID_AXES; i++)
        ranks *= max_u32(op->at->grid_ipus[i], 1);
    return (struct op_exchange){ .ranks = ranks, .n = ranks > 1 && op->at->codelet->halo > 0, .of_halos = true };
}

struct op_exchange op_exchange(const struct graph *g, const struct op *op)
{
    bool forward = op->pass == PASS_FORWARD, loss_or_softmax = op->kind == OP_CROSS_ENTROPY || op->kind == OP_SOFTMAX;
    const struct op_exchange none = { 0 };
    if (op->kind == OP_BATCH_NORM)
        return op->at->norm_groups > 1 && op->pass != PASS_BACKWARD_WEIGHT ? of_norm(g, op) : none;
    if (op->kind == OP_CODELET)
        return of_grid(op);
    if (op->kind == OP_ALL_REDUCE || op->kind == OP_ALL_GATHER)
        return of_tensor(g, op, op->kind == OP_ALL_GATHER);
    if (op->kind == OP_ALL_TO_ALL)
        return (struct op_exchange){ .ranks = UINT32_MAX, .n = 1, .bytes = (double)tensor_bytes(&g->tensors[op->inputs[0]]), .gathers = true, .sends_pieces = true };
    if (op->kind == OP_SHARE)
        return forward ? none : of_tensor(g, op, false);
    if (op->kind == OP_LAYER_NORM || op->kind == OP_RMS_NORM)
        return of_row_norm(g, op);
    const struct tensor *scores = &g->tensors[op_forward(g, op)->inputs[0]];
    if (loss_or_softmax)
        return of_rows(scores, op->kind == OP_SOFTMAX ? (forward ? 2 : 1) : forward ? 3 : 0, data_type_bytes(scores->type));
    return none;
}
