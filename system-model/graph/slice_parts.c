/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slice_parts.c - an IPU's part of a tensor: which of its dimensions are cut, and the elements that it holds. */
#include "system-model/graph/graph.h"

const struct tensor_part *tensor_cut(const struct tensor *t, uint32_t dim)
{
    for (const struct tensor_part *p = t->cuts; p < t->cuts + MOST_CUTS; p++)
        if (p->dim == dim + 1)
            return p;
    return NULL;
}

uint64_t tensor_whole_size(const struct tensor *t, uint32_t dim)
{
    const struct tensor_part *cut = tensor_cut(t, dim);
    return cut ? cut->whole_size : t->dims[dim];
}

uint32_t tensor_part_of(const struct tensor_part *cut, uint32_t replica) { return cut && cut->dim ? replica / cut->stride % cut->parts : 0; }

uint32_t tensor_span(const struct tensor *t)
{
    uint32_t span = 1;
    for (const struct tensor_part *p = t->cuts; p < t->cuts + MOST_CUTS; p++)
        span = p->dim ? max_u32(span, p->parts * p->stride) : span;
    return span;
}

uint32_t tensor_parts(const struct tensor *t)
{
    uint32_t n = 1;
    for (const struct tensor_part *p = t->cuts; p < t->cuts + MOST_CUTS; p++)
        n *= p->dim ? p->parts : 1;
    return n;
}

/* The index in the whole tensor for an index in the part, along a dimension of this many elements; NO_ID64 for padding. */
static uint64_t whole_index(const struct tensor_part *p, uint64_t index, uint64_t size, uint32_t replica)
{
    uint64_t piece_size = size / p->pieces, whole_piece = p->whole_size / p->pieces, piece = index / piece_size;
    uint64_t at = p->first + index % piece_size + tensor_part_of(p, replica) * piece_size;
    return at < whole_piece ? piece * whole_piece + at : NO_ID64;
}

uint64_t tensor_whole_element(const struct tensor *t, uint64_t element, uint32_t replica)
{
    uint64_t whole = 0, inner = 1;
    for (uint32_t d = t->n_dims; d-- > 0; element /= t->dims[d]) {
        const struct tensor_part *cut = tensor_cut(t, d);
        uint64_t index = cut ? whole_index(cut, element % t->dims[d], t->dims[d], replica) : element % t->dims[d];
        if (index == NO_ID64)
            return NO_ID64;
        whole += index * inner;
        inner *= tensor_whole_size(t, d);
    }
    return whole;
}
