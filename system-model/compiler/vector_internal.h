/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_internal.h - passes over data where it lies: what vector plans are built of.
 */
#ifndef VECTOR_INTERNAL_H
#define VECTOR_INTERNAL_H
#include "system-model/compiler/vector_plan.h"
#include "system-model/compiler/vertex_cost.h"

struct passes {
    struct op_plan *plan;
    const struct chip *chip;
    uint64_t n_tiles, element_bytes;
    uint64_t n_operand;                 /* so many elements and more lie as the operand does; fewer are even over the tiles */
    double imbalance;                   /* the fullest tile's share of the operand over an even one; 1: even */
    uint64_t scratch_bytes;             /* results between passes, on the fullest tile */
};

struct work {
    const struct graph *g;
    const struct op *op, *forward;
    const struct tensor *x, *y;         /* first input and output of the forward operation */
    uint64_t n, n_out, last;            /* elements of x, of y; the last dimension of x */
    const struct op_plan_options *opt;
    struct plan_cache *cache;
    bool backward, together;            /* together: operands as large as the result lie where it does */
};

/* vector_passes.c */
/* No passes yet; out becomes the plan of those to come. Data is even over the options' tiles, or over all of the chip. */
struct passes passes_start(struct op_plan *out, const struct chip *chip, const struct op_plan_options *opt, uint64_t element_bytes);
uint64_t tile_share(const struct passes *p, uint64_t n);           /* elements of the fullest tile */
void add_superstep(struct passes *p, uint64_t compute_cycles);
void add_map(struct passes *p, enum map_op op, uint64_t n);
void add_map_vector(struct passes *p, uint64_t n, bool by_row);    /* a value for each channel, or for each row, with all of its elements */
void add_exchange(struct passes *p, uint64_t bytes_per_tile);
void add_moved(struct passes *p, uint64_t n_elements);
void add_vector_broadcast(struct passes *p, uint64_t n_vector, uint64_t n_elements);
void add_reduction(struct passes *p, enum map_op op, bool in_rows, uint64_t n, uint64_t n_out, uint64_t n_quantities);

/* vector_plan.c */
void add_operand(struct passes *p, const struct work *w, const struct tensor *b);
void add_operand_gradients(struct passes *p, const struct work *w, enum map_op op);

/* vector_functions.c */
void plan_map(struct passes *p, const struct work *w);
void plan_combine(struct passes *p, const struct work *w);
void plan_select(struct passes *p, const struct work *w);
void plan_expand(struct passes *p, const struct work *w);
void plan_view(struct passes *p, const struct work *w);
void plan_resize(struct passes *p, const struct work *w);
void plan_local_norm(struct passes *p, const struct work *w);

/* vector_norms.c */
void plan_norm(struct passes *p, const struct work *w);

/* vector_lookups.c */
void plan_gather(struct passes *p, const struct work *w);
void plan_scatter(struct passes *p, const struct work *w);
void plan_top_k(struct passes *p, const struct work *w);

/* vector_recurrence.c */
void plan_recurrence(struct passes *p, const struct work *w);

#endif
