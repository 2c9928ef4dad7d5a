/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_plan.h - the tile-level compiler: how one operation pass is split over the tiles of one IPU, and what it costs.
 *
 * Each pass becomes supersteps: compute (the slowest tile), sync, exchange. Convolution and matmul passes
 * are searched (split, vertex, partials' type); the others have formulas of their own. Plans depend only on
 * shape, chip and options, and are memoised by them.
 */
#ifndef OP_PLAN_H
#define OP_PLAN_H
#include "system-model/base/hash_table.h"
#include "system-model/graph/graph.h"
#include "system-model/machine/machine.h"

enum partials_type { PARTIALS_FP16, PARTIALS_FP32 };
enum vertex_kind { VERTEX_NONE, VERTEX_AMP_1X1, VERTEX_AMP_NX1, VERTEX_SLIC, VERTEX_HMAC, VERTEX_OUTER_PRODUCT, N_VERTEX_KINDS };
extern const char *const vertex_kind_names[N_VERTEX_KINDS];

struct op_plan_options {
    enum partials_type partials;
    double available_memory;            /* share of tile memory that temporaries may take: 0..1 */
    const double *layer_memory;         /* by layer of the graph: no more than this; NULL: nowhere less. Equal only as the same array */
    bool inference;                     /* norms fold into fewer passes */
    uint64_t n_tiles;                   /* tiles for compute: the chip's, less I/O tiles */
    const struct chip *splits_of;       /* convolutions take the splits that are best there, and are priced here; NULL: searched */
};

struct conv_split {
    uint32_t batch, field, kernel, conv_groups, in_chans, out_chans;   /* parallel: product = tiles in use */
    uint32_t serial_in, serial_out;                                     /* steps one after the other */
    uint32_t in_grain, out_grain;                                       /* channels are split in grains */
};

/* No padding: plans are compared as bytes. */
struct op_plan {
    uint64_t compute_cycles, exchange_cycles, sync_cycles;  /* over all supersteps; their sum is the pass */
    uint32_t n_supersteps;
    uint32_t n_tiles_used;
    uint64_t mac, padded_mac;           /* of the operation; as the split computes them */
    uint64_t exchanged_bytes;           /* received by all tiles = sent by all */
    uint64_t temp_bytes_per_tile;       /* worst tile, while it runs */
    uint64_t code_bytes_per_tile;       /* vertex, control and exchange code, and vertex state */
    enum vertex_kind vertex;
    enum partials_type partials;
    struct conv_split split;            /* convolutions and matmuls */
    uint64_t rearrange_cycles;          /* of the above: changes of layout, compute and exchange */
    double imbalance;                   /* of the results over the tiles: the fullest tile's over an even share; at least 1 */
    uint32_t code;                      /* as compiled in a graph: operations with the same share their code (outlining) */
    uint32_t together;                  /* 1: none of its operands was moved to where another lies, as they lie alike */
};

static inline uint64_t op_plan_cycles(const struct op_plan *p)
{
    return p->compute_cycles + p->exchange_cycles + p->sync_cycles;
}

/* Memoises by shape, chip and options; may live longer than one simulation. */
struct plan_cache { struct arena arena; struct hash_table plans; uint64_t hits, misses; };
void plan_cache_free(struct plan_cache *c);

/* Multiply-accumulates a tile's AMP can do in a cycle: what shares of peak are shares of. fp8 where the chip has it. */
uint64_t chip_mac_per_cycle(const struct chip *c, enum data_type type, enum partials_type partials);

/* One axis of a convolution: so many elements of padding before those of the input, and what is reached beyond is padding too. The kernel's
 * elements are a dilation apart. */
struct conv_axis { uint64_t positions, kernel, stride, pad_before, in, dilation; };
/* Of n positions from the first on, those from the first to the last where one of the kernel elements from_kernel to to_kernel (included)
 * meets an element of the input. The sum over all elements of a kernel, each by itself, is what there is to multiply. */
uint64_t conv_axis_met(const struct conv_axis *x, uint64_t first, uint64_t n, uint64_t from_kernel, uint64_t to_kernel);

/* False, with err told, where the chip has no arithmetic of this type: fp8 where it multiplies none. */
bool chip_multiplies(const struct chip *c, enum data_type type, const char *where, struct err *err);

/* Where an operation's operands lie, as those that made them have left them. Vector operations run where one lies, and leave their results there;
 * products fetch theirs. */
struct operands {
    double imbalance;                   /* of the one that is most even: the fullest tile's share over an even one, at least 1 */
    bool together;                      /* all that are as large lie alike, element by element */
};
static const struct operands lying_evenly = { 1, false };
/* Never fails on size: a plan over the memory limit is returned with its temp bytes, and fits or not in the memory account. */
void op_plan_build(struct op_plan *out, const struct graph *g, uint32_t op_id, struct operands at, const struct chip *chip,
                   const struct op_plan_options *opt, struct plan_cache *cache);
bool op_by_elements(enum op_kind kind);     /* it works on its operand where that lies, and may write over it */
bool op_stays(const struct op *op);         /* it leaves its results where its first operand lies: views do so too */

/* Element-wise work that is not in the graph: gradient accumulation, optimizer update. */
enum vector_work {
    WORK_ACCUMULATE,            /* s += g, one weight gradient into its accumulator */
    WORK_ZERO,
    WORK_REARRANGE,             /* to another layout: every element moves */
    WORK_SQUARES,               /* sum of squares */
    WORK_SCALE,                 /* times a number */
    WORK_SGD_MOMENTUM, WORK_LARS, WORK_ADAM, WORK_LAMB,
    N_VECTOR_WORKS
};
/* n_elements spread evenly over the options' tiles. type: of weight and gradient; moment_bytes: of one moment of a parameter, on the mean, where
 * the work is an optimizer's. */
void vector_work_plan(struct op_plan *out, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                      const struct chip *chip, const struct op_plan_options *opt);

/* What a micro-batch leaves for its backward pass, in so many tensors of halves or, cast, of fp8: into the stash, and back. */
struct stash { uint64_t n_bytes, n_tensors; bool fp8; };
void stash_plan(struct op_plan *write, struct op_plan *read, const struct stash *s, const struct chip *chip, const struct op_plan_options *opt);

#endif
