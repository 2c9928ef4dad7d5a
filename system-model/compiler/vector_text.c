/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_text.c - parts of large language models as passes (vector_plan.c): rotary positions, and weights of 4 bits that are unpacked.
 */
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* One half of the elements that turn, as popops computes its expression: both operands times a table that repeats along the heads, so that its
 * elements are copied out, and the sum or difference. */
static void add_turned_half(struct passes *p, uint64_t n, uint64_t n_table)
{
    for (int i = 0; i < 2; i++) {
        passes_broadcast(p, n_table, n);
        passes_map(p, MAP_BINARY, n);
    }
    passes_map(p, MAP_BINARY_IN_PLACE, n);
}

/* Both halves, then a copy into the layout of the input, with the elements that do not turn (graphcore/examples 3cc8f81
 * nlp/llama/popxl/modelling/rotary_pos_embed/rotary_pos_embedx.cpp). */
void plan_rotary(struct passes *p, const struct vector_op *w)
{
    const struct op_attributes *at = w->forward->at;
    uint64_t turned = w->n / (w->last / at->groups) * at->length;
    for (int i = 0; i < 2; i++)
        add_turned_half(p, turned / 2, tensor_elements(&w->g->tensors[w->forward->inputs[1]]));
    passes_map(p, MAP_COPY, w->n);
}

/* Words of eight numbers are taken apart by a vertex of its own, then scaled and shifted by an expression with a value for each group (graphcore/popxl-addons
 * popxl_addons/ops/group_quantize_decompress: group_quantize_decompressx.cpp). */
void plan_unpacking(struct passes *p, const struct vector_op *w)
{
    p->element_bytes = data_type_bytes(w->y->type);
    passes_map(p, MAP_UNPACK, w->n);
    for (int i = 0; i < 2; i++) {
        passes_broadcast(p, ceil_div(w->n, PACKED_GROUP), w->n);
        passes_map(p, MAP_BINARY, w->n);
    }
}
