/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passes.h - vector operations as passes over the tiles: compute sets, exchanges, reductions. Private to the compiler.
 */
#ifndef PASSES_H
#define PASSES_H
#include "system-model/compiler/vector_work.h"
#include "system-model/compiler/vertex_cost.h"

/* ---- vector_work.c: work on weights and gradients --------------------------------------------------------------- */

/* The operands of a pass. Weight, accumulator and gradient have one type; the update is as wide as the wider moment.
 * */
enum work_operand { WEIGHTS, FIRST_MOMENT, SECOND_MOMENT, UPDATE, N_WORK_OPERANDS };
struct work_pass { enum map_op op; enum work_operand to, from; };
/* Passes are done in order; reductions (norms of weight and update, or of gradient) come last. */
struct work_cost {
    struct work_pass passes[10]; uint32_t n_passes;
    enum work_operand norms[2]; uint32_t n_norms;
    bool moved;                         /* a gradient lies where its pass left it, its accumulator where the weight lies */
};

/* ==== vector_passes.c: compute sets and exchanges, of which vector plans are built ============================== */

struct passes {
    struct op_plan *plan;
    const struct chip *chip;
    uint64_t n_tiles, element_bytes;
    uint64_t n_operand;                 /* tensors with at least this many elements are laid out like the operand, smaller ones evenly */
    double imbalance;                   /* elements of the operand on the fullest tile over an even share */
    uint64_t row, groups;               /* row: elements of a whole row; groups: groups of channels on the fullest tile, 0 if rows are whole */
    bool integers, turned;              /* turned: `groups` counts groups of rows */
    uint64_t scratch_bytes;             /* results between passes, on the fullest tile */
    uint64_t room_bytes;                /* the most that temporaries may take of a tile */
};
/* Makes *out an empty plan, to which the passes that follow are added. */
struct passes passes_start(struct op_plan *out, const struct chip *chip, const struct op_plan_options *opt, uint64_t element_bytes);
uint64_t passes_share(const struct passes *p, uint64_t n);         /* elements of the fullest tile */
void passes_superstep(struct passes *p, uint64_t compute_cycles);
void passes_control(struct passes *p, uint64_t n_sets);            /* compute sets over a few integers of one tile, whose result all tiles wait for */
void passes_map(struct passes *p, enum map_op op, uint64_t n);     /* one vertex over n elements */
/* One vertex that combines n elements with a value for each row, or with a value for each channel. */
void passes_map_rows(struct passes *p, uint64_t n);
void passes_map_channels(struct passes *p, enum map_channels op, uint64_t n);
void passes_exchange(struct passes *p, uint64_t bytes_per_tile);   /* an exchange before the next compute set: the fullest tile receives this many bytes */
void passes_move(struct passes *p, uint64_t n_elements);
/* A scale or bias of n_vector elements goes to the tiles that need a part of it. */
void passes_broadcast(struct passes *p, uint64_t n_vector, uint64_t n_elements);
/* Sums of n elements into n_out results. in_rows: the elements of one result are contiguous. n_quantities sums, such
 * as mean and square, share the same compute sets. */
void passes_reduction(struct passes *p, enum map_op op, bool in_rows, uint64_t n, uint64_t n_out, uint64_t n_quantities);
void passes_softmax(struct passes *p, uint64_t n, uint64_t rows);

/* Bytes on a tile that a round of a framework's loop (device_loop.c) hands to the next. kept_bytes: of tensors that lie alike as result and as input;
 * moved_bytes: of results that return in another layout; apart_bytes: the part of these that is copied element by element, each of element_bytes. */
struct carried { uint64_t kept_bytes, moved_bytes, apart_bytes, element_bytes; };
uint64_t carried_tile_bytes(uint64_t n_bytes, uint64_t n_tiles);
void passes_loop_round(struct passes *p, const struct carried *c);

/* ==== vector_slices.c: lookups and updates that are planned by themselves ======================================== */

/* A table of rows x width elements. sums: groups of tiles may work on parts of the lookups; false for updates that replace rows. */
struct slice_task { uint64_t rows, width, lookups; bool sums; };
void passes_slice(struct passes *p, const struct slice_task *t);
void passes_slice_update(struct passes *p, const struct slice_task *t);

/* ==== vector_plan.c: operations that are neither convolution nor matmul ========================================= */

struct vector_op {
    const struct graph *g;
    const struct op *op, *forward;
    const struct tensor *x, *y;         /* first input and output of the forward operation */
    uint64_t n, n_out, last;            /* n: elements of x; n_out: elements of y; last: the last dimension of x */
    const struct op_plan_options *opt;
    struct plan_cache *cache;
    bool backward;
    bool together;                      /* operands as large as the result are laid out like it */
};
/* cache is for the matmuls inside an LSTM or GRU. */
void vector_op_plan(struct op_plan *out, const struct graph *g, const struct op *op, struct operands operands, const struct chip *chip,
                    const struct op_plan_options *opt, struct plan_cache *cache);

/* vector_norms.c, vector_text.c, vector_lookups.c, vector_recurrence.c, vector_codelet.c, vector_random.c, vector_losses.c */
void plan_cross_entropy(struct passes *p, const struct vector_op *w);
void plan_transducer_loss(struct passes *p, const struct vector_op *w);
void plan_norm(struct passes *p, const struct vector_op *w);
void plan_rms_norm(struct passes *p, const struct vector_op *w);
void plan_rotary(struct passes *p, const struct vector_op *w);
void plan_unpacking(struct passes *p, const struct vector_op *w);
void plan_gather(struct passes *p, const struct vector_op *w);
void plan_scatter(struct passes *p, const struct vector_op *w);
void plan_top_k(struct passes *p, const struct vector_op *w);
void plan_all_to_all(struct passes *p, const struct vector_op *w);
void plan_distance(struct passes *p, const struct vector_op *w);        /* vector_tables.c */
void plan_sparse_matmul(struct passes *p, const struct vector_op *w);      /* sparse_plan.c */
void plan_dropout(struct passes *p, const struct vector_op *w);
void plan_noise(struct passes *p, const struct vector_op *w);
void plan_recurrence(struct passes *p, const struct vector_op *w);
void plan_codelet(struct passes *p, const struct vector_op *w);
void plan_random(struct passes *p, const struct vector_op *w);

#endif
