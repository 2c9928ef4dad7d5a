/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes.c - types, bytes and elements of tensors, and the operation whose tensors have the sizes of a pass.
 */
#include "system-model/graph/codelet.h"
#include "system-model/graph/graph.h"

const char *const float_type_names[] = { [TYPE_FP16] = "fp16", [TYPE_FP32] = "fp32", [TYPE_FP8] = "fp8", NULL };

uint64_t data_type_bytes(enum data_type t)
{
    static const uint64_t bytes[N_DATA_TYPES] = {
        /* a number of 4 bits counts as a byte here; tensor_bytes() has the packed size */
        [TYPE_FP16] = 2, [TYPE_FP32] = 4, [TYPE_FP8] = 1, [TYPE_INT32] = 4, [TYPE_UINT8] = 1, [TYPE_INT4] = 1,
    };
    return bytes[t];
}

uint64_t tensor_elements(const struct tensor *t)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n;
}

uint64_t tensor_bytes(const struct tensor *t)
{
    uint64_t n = tensor_elements(t);
    return t->type == TYPE_INT4 ? ceil_div(n, 2) + 4 * ceil_div(n, PACKED_GROUP) : n * data_type_bytes(t->type);
}

bool tensor_is_same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0;
}

const struct op *op_forward(const struct graph *g, const struct op *op)
{
    return op->forward_op == NO_ID ? op : &g->ops[op->forward_op];
}

const struct codelet *op_codelet(const struct graph *g, const struct op *op)
{
    const struct codelet *c = op_forward(g, op)->at->codelet;
    return op->pass != PASS_FORWARD && c->gradient_of ? c->gradient_of : c;
}
