/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph_sparsity.c - products of a dense model made sparse: their weights keep some blocks, and all else stays as it is.
 *
 * A product with a weight of two dimensions that it alone reads becomes one of sparse and dense (OP_SPARSE_MATMUL), which has n blocks:
 *     n = ceil(density x rows / block x columns / block)
 * Tables that are looked up too, products of two activations, and convolutions stay dense.
 */
#include "system-model/graph/op_kinds.h"

const char *const sparse_pattern_names[] = { [PATTERN_STATIC] = "static", [PATTERN_DYNAMIC] = "dynamic", NULL };

static uint32_t n_readers(const struct graph *g, uint32_t tensor_id)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            n += g->ops[i].inputs[k] == tensor_id;
    return n;
}

static bool may_be_sparse(const struct graph *g, const struct op *op)
{
    if (op->kind != OP_MATMUL)
        return false;
    const struct tensor *w = &g->tensors[op->inputs[1]];
    return w->role == ROLE_WEIGHT && w->n_dims == 2 && n_readers(g, op->inputs[1]) == 1;
}

static bool make_sparse(struct graph *g, struct op *op, const struct sparse_request *q, struct err *err)
{
    struct matmul_shape s = op_matmul_shape(g, op);
    struct tensor *w = &g->tensors[op->inputs[1]];
    if (s.inner % q->block || s.columns % q->block)
        return fail(err, "sparsity.block: %" PRIu64 " does not divide the weights of layer %s, %" PRIu64 " x %" PRIu64 "; leave the layer out "
                    "(sparsity.layers), or take a smaller block", q->block, g->layers[op->layer_id].name, s.inner, s.columns);
    struct op_attributes at = { .sparse = { .block = (uint32_t)q->block, .dynamic = q->pattern == PATTERN_DYNAMIC, .inner = s.inner, .outer = s.columns,
                                            .oversize = q->oversize > 0 ? q->oversize : 0.3 } };
    w->n_dims = 3;
    w->dims[0] = (uint64_t)ceil(q->density * (double)(s.inner / q->block) * (double)(s.columns / q->block));
    w->dims[1] = w->dims[2] = q->block;
    op->kind = OP_SPARSE_MATMUL;
    op->at = graph_keep_attributes(g, &at);
    return true;
}

bool graph_make_sparse(struct graph *g, const struct sparse_request *q, struct err *err)
{
    const char *layers = q->layers ? q->layers : "*";
    size_t n = 0;
    assert(g->n_ops == g->n_forward_ops);
    if (!(q->density > 0))
        return true;
    if (q->block != 1 && q->block != 4 && q->block != 8 && q->block != 16)
        return fail(err, "sparsity.block: %" PRIu64 "; want 1, 4, 8 or 16, which PopSparse has", q->block);
    for (size_t i = 0; i < g->n_ops; i++)
        if (may_be_sparse(g, &g->ops[i]) && layer_is_named(layers, g->layers[g->ops[i].layer_id].name)) {
            if (!make_sparse(g, &g->ops[i], q, err))
                return false;
            n++;
        }
    return n || fail(err, "sparsity.layers: no layer with a product by weights of its own is named '%.80s'; podbench workload prints the layers", layers);
}
