/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_plan.h - the plan of one pass of one operation: how it is split over the tiles, its supersteps, its code.
 */
#ifndef OP_PLAN_H
#define OP_PLAN_H
#include "system-model/compiler/cycles.h"
#include "system-model/graph/types.h"
#include "system-model/base/hash_table.h"

/* ---- op_plan.c: one pass of one operation ---------------------------------------------------------------------- */

enum partials_type { PARTIALS_FP16, PARTIALS_FP32 };
extern const char *const partials_type_names[];         /* NULL-ended */
/* A unit of the AMP multiplies a chain of four operands of 8 bytes, one a cycle, and adds their products and a partial sum. The weights of a chain
 * are 32 bytes: 8 floats, 16 halves or 32 quarters (weights per conv unit in PopLibs' target). The width of the vector unit is independent of
   that. */
enum { AMP_CHAIN = 4, AMP_UNIT_BYTES = 32 };
enum vertex_kind { VERTEX_NONE, VERTEX_AMP_1X1, VERTEX_AMP_NX1, VERTEX_SLIC, VERTEX_HMAC, VERTEX_OUTER_PRODUCT, N_VERTEX_KINDS };
extern const char *const vertex_kind_names[N_VERTEX_KINDS];

struct op_plan_options {
    enum partials_type partials;
    double available_memory;            /* share of tile memory that temporaries may take: 0..1 */
    bool inference;                     /* norms fold into fewer passes */
    bool log_softmax;                   /* losses of classes are computed from log-probabilities, as in PopTorch */
    bool even_slices;                   /* slices of a product's result are spread evenly over the tiles */
    bool operations_by_value;           /* convolutions, products, norms and recurrent layers are functions that copy operands in and results out */
    bool plain_products;                /* products with weights are not planned as fully connected layers: each pass has a plan of its own */
    uint64_t n_tiles;                   /* tiles that compute: the chip's, less I/O tiles */
    const struct chip *splits_of;       /* convolutions take the splits that are best on that chip, but the prices of this one; NULL: splits are searched */
};

/* How often each dimension of a convolution is split. The product of the first six is the number of tiles in use. */
struct conv_split {
    uint32_t batch, field, kernel, conv_groups, in_chans, out_chans;
    uint32_t serial_in, serial_out;     /* steps one after the other */
    uint32_t in_grain, out_grain;       /* channels of one grain, which is never split */
};

/* The needs of a plan on a tile besides its data. The body of a serial loop counts once. */
struct op_code {
    uint32_t supersteps, exchanges;     /* supersteps: compute sets; exchanges: exchange phases */
    uint32_t pieces;                    /* runs of bytes that the fullest tile receives, each from one other tile */
    uint32_t field_pieces;              /* pieces of images that come from convolutions with another layout; each takes an instruction */
    uint32_t state_bytes;               /* the fields of all vertices */
    uint32_t field_bytes;               /* further bytes that vertices read: addresses of operands, worklists */
};

/* Must not hold padding: plans are compared as bytes. */
struct op_plan {
    uint64_t compute_cycles, exchange_cycles, sync_cycles;  /* sums over all supersteps; the three together are the time of the pass */
    uint32_t n_supersteps;
    uint32_t n_tiles_used;
    uint64_t mac, padded_mac;           /* multiply-accumulates of the operation, without and with padded channels and kernel rows */
    uint64_t exchanged_bytes;           /* received by all tiles together */
    uint64_t temp_bytes_per_tile;       /* fullest tile, while the operation runs */
    uint64_t interleaved_bytes;         /* part of them that must lie in interleaved memory: the sums that the AMP writes */
    struct op_code code;
    enum vertex_kind vertex;
    enum partials_type partials;
    struct conv_split split;            /* convolutions and matmuls; else zeros */
    uint64_t rearrange_cycles;          /* the part of compute and exchange cycles that changes layouts */
    double imbalance;                   /* bytes of the results on the fullest tile over an even share; at least 1 */
    uint32_t code_id;                   /* set by compile_graph(): operations with the same number share their code (outlining) */
    uint32_t together;                  /* 1: its operands have the same layout, so that none was moved to another */
    uint32_t groups, turned;            /* groups: groups of channels on the fullest tile, in a product's results, else in the operands; turned: 1 if field and output channels of the split change places */
    uint32_t input_before, weights_before;      /* 1: before the serial steps, the input that all steps share, or the weights in the order of the steps, are copied to the tiles that use them */
    double crowding;                    /* crowding of its operands (struct operands) */
    uint64_t shared_cycles[3];          /* compute, exchange and sync of the part that makes statistics which several replicas share; else 0 */
};

static inline uint64_t op_plan_cycles(const struct op_plan *p)
{
    return p->compute_cycles + p->exchange_cycles + p->sync_cycles;
}
/* Adds a plan's cycles `times` over: computing to the part given, exchange and sync to parts of their own. */
void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times);
void cycles_add_shared(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times);      /* those of the shared statistics alone */

/* Plans of convolutions by shape, chip and options. One cache may serve many graphs and simulations; {0} is an empty
 * one. */
struct plan_cache { struct arena arena; struct hash_table plans; uint64_t hits, misses; };
void plan_cache_free(struct plan_cache *c);

/* How the operands of an operation are laid out by the operations that made them. Vector operations run where an operand is and leave their
 * results there; products fetch their operands. */
struct operands {
    double imbalance;                   /* the most even operand's bytes on the fullest tile over an even share, at least 1 */
    bool together;                      /* all operands of the largest size have the same layout, element by element */
    uint32_t groups;                    /* groups of channels on the fullest tile, in the layout that a product left; 0: rows are whole */
    bool turned;                        /* true: `groups` counts groups of rows, each with all columns of its tile */
    double crowding;                    /* for a slice: its bytes on a tile that holds it, over the even share of each tile in the layout of the whole; 0: no slice */
};
static const struct operands even_operands = { 1, false, 0, false, 0 };
/* `at` with only those facts that the operation's plan depends on; all others are cleared. */
struct operands op_operands(const struct op *op, struct operands at);
void op_plan_build(struct op_plan *out, const struct graph *g, uint32_t op_id, struct operands operands, const struct chip *chip,
                   const struct op_plan_options *opt, struct plan_cache *cache);
bool op_is_elementwise(const struct op *op);    /* the operation works where its operand lies */
bool op_keeps_layout(const struct op *op);      /* the operation leaves its results where its first operand is: elementwise operations, casts and views */
bool op_takes_apart(const struct op *op);    /* the operation cuts a tensor into pieces, or joins their gradients: nothing moves */
bool op_writes_over(const struct op *op);       /* the operation has a form in place, which writes its result over an operand that is not read again */
enum part op_part(const struct op *op);     /* the part of a step that the operation's computing belongs to */

/* Joules of an AMP's cycle, of a cycle in which a tile runs, and of a byte that is loaded or stored. */
struct energy_prices { const struct chip *chip; double cycle_j, running_cycle_j, byte_j; };
struct energy_prices energy_prices(const struct chip *chip);
/* The energy of one pass, in all tiles, from the values on the chip's sheet; zeros if it has none. Products are counted with padding and with their
 * operands; all other work by the bytes of its operands and results. Tiles that run are counted apart, whatever they do. */
struct energy op_energy(const struct graph *g, const struct op *op, const struct op_plan *p, const struct energy_prices *prices);

/* Multiply-accumulates that one tile's AMP does in a cycle, by which shares of peak are measured; 0 for fp8 on a chip without it. */
uint64_t chip_mac_per_cycle(const struct chip *c, enum data_type type, enum partials_type partials);
/* Fails, with `where` at the head of the message, for fp8 on a chip that multiplies none. */
bool chip_multiplies(const struct chip *c, enum data_type type, const char *where, struct err *err);

/* One axis of a convolution. The input follows pad_before elements of padding; whatever is reached beyond it is
 * padding too. Kernel elements are `dilation` apart. */
struct conv_axis { uint64_t positions, kernel, stride, pad_before, in, dilation; };
/* How many of n positions, from `first` on, lie between the first and the last at which one of the kernel elements
 * from_kernel to to_kernel (included) meets the input. Summed over single kernel elements, this is the number of
 * multiplications along the axis. */
uint64_t conv_axis_met(const struct conv_axis *x, uint64_t first, uint64_t n, uint64_t from_kernel, uint64_t to_kernel);

/* ---- op_code.c: bytes of code -------------------------------------------------------------------------------------- */

void op_code_add(struct op_code *to, const struct op_code *code);
/* A program on a tile besides its data. */
struct program_bytes { uint64_t vertex_code, vertex_state, vertex_fields, control_code, exchange_code; };
void program_bytes_add(struct program_bytes *to, const struct op_code *code, uint64_t n_calls);     /* adds the bytes of some code, without vertex code */
uint64_t op_code_bytes(const struct op_code *code);         /* the bytes of one operation's code, all its parts together */
/* The bytes of the code of n exchanges in which a tile receives n_pieces pieces */
uint64_t exchange_code_bytes(uint64_t n_exchanges, uint64_t n_pieces);

#endif
