/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slice.h - how a forward graph is cut over IPUs: which dimension of each tensor, and where sums are due. Private to graph_slice().
 */
#ifndef SLICE_H
#define SLICE_H
#include "system-model/graph/op_kinds.h"

/* Tensors that are cut together, such as the heads of one attention. n_units: the largest number that divides all their cut dimensions. even: all
 * parts must be of one size. */
struct region { uint32_t root; uint64_t n_units; bool attends, even; };

/* How a tensor of the whole graph is cut. dim: 1 + the dimension that is cut, 0 if the tensor is whole. The dimension has `pieces` equal pieces, and
 * each piece is cut. */
struct tensor_cut { uint32_t dim, pieces, region; bool is_used_whole, is_partial, is_wanted; };

struct cuts {
    const struct graph *g;
    struct slice_axis axis;
    struct tensor_cut *of;              /* by tensor */
    struct region *regions; uint32_t n_regions; size_t cap_regions;
    uint32_t *n_readers;                /* by tensor: how many operands of forward operations it is */
    bool *keeps_whole;                  /* by operation: it must not begin a region */
    bool *sums;                         /* by operation: each IPU has one addend of its result */
    bool *gathers;                      /* by operation: the parts of its operands are gathered first */
    const char *whole_layer;            /* the layer whose operation was the first to need a whole operand; NULL if there is none */
    struct arena *a;
};
/* Finds the cuts of all tensors. False if there are none, or if a second axis does not cut every product that the first has cut. */
bool cuts_find(struct cuts *c);
uint32_t cuts_region(const struct cuts *c, uint32_t region);        /* the region that this one was joined to */
uint32_t cuts_parts(const struct cuts *c, uint32_t region);         /* the number of IPUs that a region is cut over */
uint64_t cuts_local(const struct cuts *c, uint32_t region, uint64_t size);      /* an IPU's part of a dimension of this size, padding included */
/* The dimension of a view that holds dimension `dim` of x as its outermost factor; NO_ID if none does. */
uint32_t cuts_dim_in_view(const struct tensor *x, uint32_t dim, const uint64_t *view);

#endif
