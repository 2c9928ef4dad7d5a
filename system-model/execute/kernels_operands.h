/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernels_operands.h - what a pass of an operation reads and writes, and helpers that all kernels share.
 *
 * The kernels are written for any real type. The program compiles them for fp32 (op_execute.c), the tests also for double precision, in
 * which central differences prove the gradients to 1e-6. Sums over many elements are added in double in either. Results are zeroed before a
 * kernel runs. A kernel adds its terms in one fixed order, whatever the number of threads.
 */
#ifndef KERNELS_OPERANDS_H
#define KERNELS_OPERANDS_H
#include "system-model/execute/product.h"
#include "system-model/graph/graph.h"

/* v[i] holds the elements of tensor i. peers hold them for each replica that the operation exchanges something with, this one included. */
struct run {
    const struct graph *g;
    real *const *v;
    const struct op *op;
    uint64_t dropout_key[2];            /* equal for the passes of one dropout in one micro-batch */
    real *const *const *peers; uint32_t n_peers;
    uint32_t rank;                      /* this replica's number among its neighbours */
    bool mean_losses;
    double loss_factor;
    struct product_way way;             /* the arithmetic of its products */
};

static inline const struct tensor *tensor_in(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->inputs[i]]; }
static inline const struct tensor *tensor_out(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->outputs[i]]; }
static inline real *in(const struct run *r, uint32_t i) { return r->v[r->op->inputs[i]]; }
static inline real *out(const struct run *r, uint32_t i) { return r->v[r->op->outputs[i]]; }
static inline uint64_t last_dim(const struct tensor *t) { return t->dims[t->n_dims - 1]; }
static inline uint64_t n_out(const struct run *r) { return tensor_elements(tensor_out(r, 0)); }

/* The forward input whose gradient output i of a backward pass is. An operation that reads one tensor twice has a gradient for
 * each, in the order of its inputs. */
static inline uint32_t which_input(const struct run *r, uint32_t i)
{
    const struct op *f = op_forward(r->g, r->op);
    uint32_t before = 0, of = tensor_out(r, i)->of_tensor;
    for (uint32_t k = 0; k < i; k++)
        before += tensor_out(r, k)->of_tensor == of;
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (f->inputs[k] == of && before-- == 0)
            return k;
    assert(false);
    return 0;
}

/* The row of a table of n rows that an index names; negative ones count from the end. n if there is no such row. */
static inline uint64_t indexed_row(real index, uint64_t n)
{
    double row = index < 0 ? (double)index + (double)n : (double)index;
    return row >= 0 && row < (double)n ? (uint64_t)row : n;
}

#endif
