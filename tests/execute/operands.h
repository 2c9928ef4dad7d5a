/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operands.h - what an operation of a graph reads and writes. */
#ifndef EXECUTE_OPERANDS_H
#define EXECUTE_OPERANDS_H
#include "system-model/graph/graph.h"
#include <assert.h>
#include <math.h>
#include <string.h>

struct run { const struct graph *g; double **v; const struct op *op; size_t op_id; };

static inline const struct tensor *tensor_in(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->inputs[i]]; }
static inline const struct tensor *tensor_out(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->outputs[i]]; }
static inline double *in(const struct run *r, uint32_t i) { return r->v[r->op->inputs[i]]; }
static inline double *out(const struct run *r, uint32_t i) { return r->v[r->op->outputs[i]]; }
static inline uint64_t last_dim(const struct tensor *t) { return t->dims[t->n_dims - 1]; }
static inline uint64_t n_out(const struct run *r) { return tensor_elements(tensor_out(r, 0)); }

/* The forward input that output i of a backward pass is the gradient of. */
static inline uint32_t which_input(const struct run *r, uint32_t i)
{
    const struct op *f = op_forward(r->g, r->op);
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (f->inputs[k] == tensor_out(r, i)->of_tensor)
            return k;
    assert(false);
    return 0;
}

#endif
