/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vertex_cost.h - tile cycles of each kind of vertex. Private to the compiler.
 */
#ifndef VERTEX_COST_H
#define VERTEX_COST_H
#include "system-model/compiler/op_plan.h"

/* Sizes in, tile cycles out; nothing here knows about splits or graphs. A tile's workers issue in turn, so that a
 * worker's cycle counts as chip_turn_cycles() of the tile. */

/* The AMP unit as it is set for one pair of types. in_grain x units weights are loaded, and each position of the
 * field then takes core_cycles for its in_grain x units multiply-accumulates. */
struct amp {
    uint64_t units, in_grain, load_cycles;
    double core_cycles;                 /* the MACs of a position over the rate that an inner loop sustains */
    double conflict_cycles;             /* further cycles in which the memory serves the two loads of a cycle one after the other */
    uint64_t element_bytes, partial_bytes, result_bytes;
};
/* The type must be one that the chip multiplies (chip_multiplies()). */
struct amp amp_for(const struct chip *chip, enum data_type type, enum partials_type partials);
struct amp amp_with_units(const struct chip *chip, struct amp a, uint64_t units);       /* the AMP with this many units, and as many weight loads as they need */

/* ---- the table of coefficients ------------------------------------------------------------------------------------
 * Every number of PopLibs' estimators is here once. The exact costs sum them; conv_vertex_least() and
 * conv_bound.c relax the same numbers into lower bounds. All members are uint16_t, so that a test can change
 * each of them in turn. */

/* The cost of one turn of a loop without what is inside it. tile: cycles of the tile's supervisor; worker: cycles of each worker. */
struct loop_terms { uint16_t tile, worker; };

/* A convolution vertex is a nest of loops: groups { input grains { output grains { kernel rows { kernel columns: a
 * load of weights, then all positions } } } }. A vertex that lacks a loop has zeros for it. */
struct conv_terms {
    struct loop_terms call, call_in;    /* call: a call; call_in: an input grain, once in the call */
    struct loop_terms group, group_out; /* group: a group; group_out: an output grain, once in each group */
    struct loop_terms in, out, kernel_row, load;
    uint16_t item, position;            /* cycles of a worker. item: an item of its list (a row or a piece of one); position: a position of HMAC or of
                                           an outer product, which no sheet prices */
};

/* One row of a slice vertex costs a worker row + position * max(width, least_width) cycles. */
struct slic_terms { uint16_t least_width, row, position; };

/* A vertex around a convolution takes tile + turn * (worker + vector * n) cycles, where turn is the cycles of a worker's turn and n the vectors of the busiest worker. */
struct vector_terms { uint16_t tile, worker, vector; };

struct vertex_table {
    struct conv_terms conv[N_VERTEX_KINDS];
    uint16_t amp_filter_load[5];            /* by filter height: what a load of weights takes besides the weights */
    uint16_t amp_half_partials;             /* cycles of a worker in a call, with partial sums of 2 bytes */
    uint16_t amp_1x1_least_positions, amp_1x1_alone;        /* least_positions: a worker with two or more positions is charged for no fewer;
                                               alone: further cycles of a worker with a single position */
    struct slic_terms slic[2];              /* [0]: a stride of one; [1]: a stride of two */
    uint16_t slic_thin_load;                /* cycles of a worker in a load, with fewer than four channels */
    uint16_t outer_product_free_chans;      /* output channels that a position's cycles include; each four more take another cycle */
    struct vector_terms reduce, cast, zero, slice;          /* the vectors of `reduce` are vectors of outputs */
    uint16_t reduce_partial;                /* cycles for each partial of a vector of outputs */
    uint16_t copy_by_fours;                 /* elements moved for each four of the operand */
    uint16_t copy_pieces;                   /* fixed cycles of a copy in pieces; the next three are its cycles for 100 bytes, in pieces of a half, of a float, and of 8 bytes */
    uint16_t copy_halves_per_100_bytes, copy_floats_per_100_bytes, copy_words_per_100_bytes;
};
extern const struct vertex_table vertex_table;
enum { SLICE_VECTOR = 4 };              /* elements of one vector of a dynamic slice */

/* ---- convolution vertices -------------------------------------------------------------------------------------- */

/* One vertex's part of a convolution. in and out count grains of channels; out counts channels for an outer product.
 * kernel_h and kernel_w count loads of weights, which are fewer than the kernel's rows or columns where several share
 * one. */
struct conv_work {
    enum vertex_kind vertex;
    uint64_t groups, in, out, rows, width, kernel_h, kernel_w;
    uint64_t filter_height;                 /* kernel rows that share a load: 1, 2 or 4 */
    uint64_t in_chans;                      /* HMAC: channels of one dot product; SLIC: channels of a group of the convolution */
    bool every_other;                       /* SLIC: a stride of two */
};
uint64_t conv_vertex_cycles(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *w);
/* The busiest worker's cycles over all rows for one load of weights, of AMP_NX1 and HMAC. */
uint64_t conv_rows_cycles(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *w);

/* A lower bound of conv_vertex_cycles(). A tile with any share of the work takes at least
 *     fixed + loads * (load + row * rows + position * positions + channel * input channels * positions)
 * cycles. Rows and positions are the tile's. The bound takes them to be spread evenly over the workers, so they may be fractions. */
struct conv_least { double fixed, load, row, position, channel; };
struct conv_least conv_vertex_least(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *whole);

/* ---- vertices around a convolution: n counts the elements of the tile ------------------------------------------ */

/* Adds `depth` partials for each of n outputs. */
uint64_t reduce_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t depth, uint64_t partial_bytes);
uint64_t cast_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t from_bytes, uint64_t to_bytes);
uint64_t zero_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t element_bytes);
uint64_t dynamic_slice_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n);
uint64_t add_in_place_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes);

/* Changes of layout on a tile: by elements, by groups of channels, and by pieces of 8 bytes wherever they go. */
uint64_t rearrange_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n_bytes, uint64_t element_bytes, bool by_fours);
uint64_t regroup_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n_bytes);
uint64_t copy_pieces_cycles(const struct vertex_table *v, uint64_t n_bytes);
uint64_t copy_cycles(const struct chip *chip, uint64_t n_bytes);
/* A one at each of n_labels labels of a tile, among zeros (popopsCycleEstimators.cpp:2235, EncodeOneHot). */
uint64_t one_hot_cycles(uint64_t n_labels);

/* ---- one-dimensional vertices ---------------------------------------------------------------------------------- */

enum map_op {
    MAP_BINARY, MAP_BINARY_IN_PLACE, MAP_SCALAR, MAP_VECTOR, MAP_SCALED_ADD, MAP_SCALED_ADD_MIXED,
    MAP_RELU, MAP_TANH, MAP_TANH_IN_PLACE, MAP_SIGMOID, MAP_GELU, MAP_SWISH, MAP_EXP, MAP_LOG, MAP_SQUARE, MAP_RSQRT, MAP_SQRT,
    MAP_INVERSE, MAP_DIVIDE, MAP_DIVIDE_NUMBER, MAP_POWER, MAP_REMAINDER, MAP_REMAINDER_NUMBER, MAP_MAXIMUM, MAP_MAXIMUM_NUMBER,
    MAP_COMPARE, MAP_COMPARE_NUMBER, MAP_NOT_EQUAL, MAP_NOT_EQUAL_NUMBER, MAP_LOGICAL, MAP_CLAMP, MAP_SELECT, MAP_SINE, MAP_TANGENT, MAP_ARC_SINE, MAP_ERF, MAP_SIGN,
    MAP_ROUND, MAP_IS_NAN, MAP_IS_INF, MAP_RELU_GRAD, MAP_TANH_GRAD, MAP_SIGMOID_GRAD, MAP_GELU_GRAD, MAP_SWISH_GRAD,
    MAP_INTEGER, MAP_INTEGER_NUMBER, MAP_INTEGER_DIVIDE, MAP_INTEGER_REMAINDER, MAP_INTEGER_COMPARE, MAP_INTEGER_COMPARE_NUMBER,
    MAP_DROPOUT, MAP_RANDOM, MAP_CAST, MAP_CAST_BYTES, MAP_CAST_ELEMENT, MAP_UNPACK, MAP_FILL, MAP_COPY, MAP_REDUCE, MAP_REDUCE_SQUARE, MAP_ARG_MAX,
    MAP_COMPARE_EXCHANGE,
    N_MAP_OPS
};
const char *map_op_name(enum map_op op);
uint64_t map_cycles(const struct chip *chip, enum map_op op, uint64_t n, uint64_t element_bytes);

/* n elements combined with a vector of `width` elements that repeats along them. */
enum map_channels { CHANNELS_ADD, CHANNELS_MUL, CHANNELS_MUL_IN_PLACE };
uint64_t map_channels_cycles(const struct chip *chip, enum map_channels op, uint64_t n, uint64_t width, uint64_t element_bytes);

/* Cycles of a worker besides its vectors, for each row or piece of a row: when it is combined with a value of its own (popops' BroadcastVectorOuter),
 * and when it is reduced to one value (lib/popops/reduction/CycleEstimationFunctions.cpp, AllRegionsContinuous). */
enum { BROADCAST_ROW_CYCLES = 7, REDUCED_ROW_CYCLES = 12 };

/* Rows of a table, of which a tile holds a part: n_in of the n_lookups fall into that part. */
uint64_t gather_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements);
uint64_t scatter_add_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements);
/* slice_cycles(): n_lookups are those of the busiest worker. slice_update_cycles(): each worker goes through all n_lookups, and n_in of them fall
 * into its rows. `elements` is the part of a row on the tile. */
enum { UPDATE_ATOM_BYTES = 4 };         /* the bytes that one store of a worker can write alone */
uint64_t slice_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t elements, uint64_t element_bytes);
uint64_t slice_update_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t elements, uint64_t element_bytes);
/* rows: output rows of this tile; each of their vectors takes kernel_elements steps. */
uint64_t pool_cycles(const struct chip *chip, uint64_t rows, uint64_t vectors_per_row, uint64_t kernel_elements,
                     bool max_backward);
/* n_cells: cells of the lattice of time steps and labels, forward or backward. */
uint64_t transducer_cell_cycles(const struct chip *chip, uint64_t n_cells);

#endif
