/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_internal.h - what the files of the convolution planner share: candidates, shares of a tile, costs, the search's state.
 */
#ifndef CONV_INTERNAL_H
#define CONV_INTERNAL_H
#include "system-model/compiler/conv_plan.h"
#include "system-model/compiler/vertex_cost.h"
#include <assert.h>

static inline uint64_t shape_positions(const struct conv_shape *s)
{
    return (uint64_t)s->batch * s->field_h * s->field_w;
}

/* ---- conv_shape.c: a vertex, its grains, and the shape it sees ----------------------------- */

/* What does not depend on the split, in the terms of conv_bound.c; cycles unless bytes are named. */
struct conv_units {
    double turn, sync, rate, bus;       /* of the chip; rate: bytes a cycle */
    double fixed, once;                 /* of a step, of all of them */
    double positions, row, row_positions;           /* of the field; an item of a worker's list, and the positions of one of each worker */
    double load, position, channel, loads;          /* a load of weights, its use at all positions, and there for each channel; loads in a block */
    double weights, weight_copy, input, thin_input; /* bytes of a block's weights, cycles a byte to copy them; bytes of a grain of the input */
    double received, padding, slice;    /* cycles a byte */
    double results, outputs, partial_bytes;         /* of a grain of output channels; elements for each; bytes */
    double slice_once, add_once;        /* cycles of a slice, and of a sum that is added to, however small */
    double serial;                      /* of each of several steps: its slices and its counter */
    double stage, exchanged, added;     /* cycles: a stage of sums; for each element on its way, and added up */
    double cast, cast_fixed, zero;      /* cycles: for each element, of a cast at all; to set an element to zero */
    bool by_in, by_out;                 /* loads: a number for each grain of input channels, of output channels */
};

struct candidate {
    enum vertex_kind vertex;
    struct amp amp;
    struct conv_shape s;                /* with kernel dimensions moved into the input channels, where that is tried */
    uint64_t in_grain, out_grain, filter_height, passes;
    uint64_t group_chans;               /* input channels of a group of the convolution itself, however many share a vertex */
    bool joined;                        /* kernel elements have become input channels, or what a stride leaves out is gone, */
    bool gathered;                      /* by whole grains of channels, which are laid out before the loop and not on each tile */
    bool flat;                          /* 1x1 kernel: batch and field are one row of positions */
    struct conv_units units;
    size_t order;                       /* in which it is tried: of equal plans the earlier one is kept */
};

enum { MAX_CANDIDATES = 48 };       /* with 1024 units, in eight grains, 40 of the AMP and four others */
struct candidates { struct candidate items[MAX_CANDIDATES]; size_t n; };

/* Vertices in the order in which they are tried. */
void conv_candidates(struct candidates *list, const struct conv_shape *s, const struct chip *chip,
                     const struct op_plan_options *opt);
void conv_add_amp(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp, uint64_t in_grain,
                  uint64_t out_grain);

/* ---- conv_price.c: one split, priced ------------------------------------------------------------ */

enum { COUNTER_BYTES = 4 };     /* of a serial loop */

struct cost {
    uint64_t compute, exchange, supersteps, rearrange, temp_bytes, received_bytes;
    uint64_t copied_bytes, planned_copies;  /* of the input on the fullest tile, into another layout before the vertex; cycles that
                                         * the planner reckons with for them, in one step */
};

struct search {
    const struct vertex_table *vertices;
    const struct chip *chip;
    const struct op_plan_options *opt;
    const struct conv_shape *shape;
    uint64_t n_tiles, bound_bytes, best_cycles;
    uint64_t least_over_bytes;          /* what was left out for its memory takes at least so much */
    struct cost layout, by_step;        /* the same whatever the split: changes of layout; weights into the order of serial steps */
    uint64_t rearranged_bytes;
    uint64_t operand_bytes;             /* and results, an even share of a tile */
    const struct candidate *best_candidate;
    struct share best;
    struct cost best_cost;
    struct effort effort;
};

/* Of equal plans the first is kept, so one that takes as long may still be chosen. */
static inline bool conv_is_as_fast(const struct search *f, double cycles) { return cycles <= (double)f->best_cycles; }

/* All of a candidate's work on one tile, but for serial steps: where splits start. */
static inline struct share conv_whole(const struct candidate *c, uint64_t serial_in, uint64_t serial_out)
{
    return (struct share){ .p_groups = 1, .p_batch = 1, .p_field = 1, .p_kernel = 1, .p_in = 1, .p_out = 1,
                           .serial_in = serial_in, .serial_out = serial_out, .groups = c->s.groups, .batch = c->s.batch,
                           .height = c->s.field_h, .width = c->s.field_w, .kernel_h = c->s.kernel_h,
                           .in = ceil_div(ceil_div(c->s.in_chans, c->in_grain), serial_in),
                           .out = ceil_div(ceil_div(c->s.out_chans, c->out_grain), serial_out) };
}

static inline uint64_t share_positions(const struct share *t) { return t->batch * t->height * t->width; }

/* One after the other, of input or of output channels. */
static inline uint64_t share_steps(const struct share *t) { return t->serial_in * t->serial_out; }

static inline uint64_t tiles_in_use(const struct share *t)
{
    return t->p_groups * t->p_batch * t->p_field * t->p_kernel * t->p_in * t->p_out;
}

struct search conv_search_start(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* Keeps the split if it is the fastest so far and within the bound. False where its work alone takes longer than the fastest, or its
 * memory is beyond the bound: then so it is for larger shares. */
bool conv_price(struct search *f, const struct candidate *c, const struct share *t);
/* The vertex's amp as it runs with so many bytes of temporaries beside the operands. */
struct amp conv_crowded_amp(const struct search *f, const struct candidate *c, uint64_t temp_bytes);
/* conv_fill.c */
void conv_fill_plan(struct op_plan *out, struct search *f);
struct cost conv_gathering(const struct search *f, const struct candidate *c);
bool conv_pads_tiles(const struct search *f, const struct candidate *c);
bool conv_plans_by_fours(const struct search *f, const struct candidate *c);

struct rows { uint64_t n, width; };
struct rows conv_tile_rows(const struct candidate *c, const struct share *t);
struct conv_work conv_work_of(const struct candidate *c, const struct share *t);    /* what the fullest tile's vertex computes in one step */

/* ---- conv_padding.c: what vertices leave out ------------------------------------------------------ */

/* Of one step of the vertex on the tile that leaves out least. */
uint64_t conv_padding_cycles(const struct search *f, const struct candidate *c, const struct share *t);

/* ---- conv_bound.c: what no split below a point of the search gets under -------------------------- */

/* Which dimensions are still whole in a share, to be split over the tiles that are left: the field; kernel rows too; input
 * channels too; output channels too; groups too. */
enum open_splits { OPEN_FIELD, OPEN_KERNEL, OPEN_INPUTS, OPEN_OUTPUTS, OPEN_GROUPS };
struct least { double cycles, bytes; };         /* bytes: 0 where the cycles are more than those of the best plan */
void conv_add_units(struct candidate *c, const struct search *f);       /* before the first question */
struct least conv_least(const struct search *f, const struct candidate *c, const struct share *t, double tiles, enum open_splits open);
/* How many tiles, more than one, may share a sum in a plan as good as the best: p_in * p_kernel, both still open in t. */
struct range { double low, high; };
struct range conv_sum_range(struct search *f, const struct candidate *c, const struct share *t, double tiles);

/* ---- conv_plan.c: splits worth a try ------------------------------------------------------------- */

/* The next larger p that changes ceil(n / p); 0 after the last. */
static inline uint64_t conv_next_split(uint64_t n, uint64_t p)
{
    uint64_t part = ceil_div(n, p);
    return part == 1 ? 0 : ceil_div(n, part - 1);
}

/* Of at most limit parts, the fewest whose largest has the same size. */
static inline uint64_t conv_fewest_parts(uint64_t n, uint64_t limit, uint64_t *part)
{
    uint64_t most = min_u64(n, limit);
    assert(most > 0);
    *part = ceil_div(n, most);
    assert(*part > 0);
    return ceil_div(n, *part);
}

#endif
