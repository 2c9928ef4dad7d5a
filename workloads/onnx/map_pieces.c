/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_pieces.c - ranges of one value that together are all of it: one division, which moves nothing.
 *
 * Exporters write a split as slices (two halves of a rotary embedding, a chunk of channels) or as rows by their numbers (query, key and value of
 * one product). A range by itself is copied; where ranges of equal length leave nothing of a dimension out, the value is taken apart, as a split
 * is, and the gradient is put together again in one operation instead of one for each range.
 */
#include "workloads/onnx/map_internal.h"

struct range { uint32_t axis; uint64_t begin, length; };

/* A row by its number. */
static bool row_range(struct range *r, const struct onnx_model *m, const struct onnx_node *n, const struct onnx_value *v)
{
    const struct onnx_value *at = onnx_in(m, n, 1);
    if (!known_number(at) || !onnx_axis(&r->axis, onnx_int(n, "axis", 0), v->n_dims))
        return false;
    double row = at->known[0] + (at->known[0] < 0 ? (double)v->dims[r->axis] : 0);
    if (!(row >= 0 && row < (double)v->dims[r->axis]))
        return false;
    r->begin = (uint64_t)row;
    r->length = 1;
    return true;
}

/* A slice of one dimension, in steps of one. */
static bool slice_range(struct range *r, const struct onnx_model *m, const struct onnx_node *n, const struct onnx_value *v)
{
    struct onnx_cuts cuts;
    uint32_t n_cut = 0;
    if (!onnx_cuts(&cuts, m, n) || !cuts.good)
        return false;
    for (uint32_t i = 0; i < cuts.n; i++) {
        const struct onnx_cut *c = &cuts.at[i];
        if (c->step != 1)
            return false;
        if (c->n == v->dims[c->axis])
            continue;
        *r = (struct range){ c->axis, (uint64_t)c->from, c->n };
        n_cut++;
    }
    return n_cut == 1;
}

static bool range_of(struct range *r, const struct onnx_model *m, const struct onnx_node *n, uint32_t value)
{
    const struct onnx_value *v = &m->values[value], *y = n->gone || n->n_inputs == 0 || n->inputs[0] != value ? NULL : onnx_out(m, n, 0);
    if (!y || !y->shaped || y->constant)
        return false;
    return text_is(n->op, "Gather") ? row_range(r, m, n, v) : text_is(n->op, "Slice") && slice_range(r, m, n, v);
}

/* Each range of this length along this dimension has a reader. */
static bool leaves_nothing(const struct onnx_model *m, uint32_t value, const struct range *like, uint64_t n_pieces)
{
    uint64_t seen = 0;
    uint32_t n_readers = m->values[value].n_readers;
    for (size_t i = m->values[value].producer == NO_ID ? 0 : m->values[value].producer; i < m->n_nodes && n_readers; i++) {
        struct range r;
        for (uint32_t k = 0; k < m->nodes[i].n_inputs; k++)
            n_readers -= m->nodes[i].inputs[k] == value;
        if (range_of(&r, m, &m->nodes[i], value) && r.axis == like->axis && r.length == like->length && r.begin % r.length == 0)
            seen |= UINT64_C(1) << r.begin / r.length;
    }
    return seen == (UINT64_C(1) << n_pieces) - 1;
}

uint32_t map_piece(struct mapper *p, bool image)
{
    struct range r;
    uint32_t value = in_id(p, 0);
    const struct onnx_value *v = &p->m->values[value];
    if (!range_of(&r, p->m, p->n, value) || v->dims[r.axis] % r.length || r.begin % r.length)
        return NO_ID;
    uint64_t n = v->dims[r.axis] / r.length, piece = r.begin / r.length;
    for (size_t i = 0; i < p->n_divisions; i++)
        if (p->divisions[i].value == value && p->divisions[i].axis == r.axis && p->divisions[i].n == n && p->divisions[i].image == image)
            return p->divisions[i].first + (uint32_t)piece;
    if (n < 2 || n > MAX_OP_OUTPUTS || !leaves_nothing(p->m, value, &r, n))
        return NO_ID;
    uint32_t x = in_layout(p, value, image);
    if (x == NO_ID)
        return NO_ID;
    uint32_t first = emit1(p, OP_SLICE, x, AT(.axis = layout_axis(r.axis, image, v->n_dims), .pieces = (uint32_t)n));
    p->divisions = arena_grow(p->m->arena, p->divisions, p->n_divisions, &p->cap_divisions, sizeof *p->divisions);
    p->divisions[p->n_divisions++] = (struct division){ value, r.axis, first, n, image };
    return first + (uint32_t)piece;
}
