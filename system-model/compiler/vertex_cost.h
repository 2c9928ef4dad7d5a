/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vertex_cost.h - cycles of one tile for each kind of vertex, and the arithmetic units behind them.
 *
 * A tile runs six workers in turn, so a worker's cycle is worth a turn of tile cycles. Nothing here knows
 * about splits or graphs: sizes in, tile cycles out.
 */
#ifndef VERTEX_COST_H
#define VERTEX_COST_H
#include "system-model/compiler/op_plan.h"

/* The AMP unit as it is set for one pair of types: in_grain x units weights are loaded, and each position of
 * the field then takes core_cycles for its in_grain x units multiply-accumulates. */
struct amp {
    uint64_t units, in_grain, load_cycles;
    double core_cycles;                 /* MACs over the chip's rate, over the share of it that an inner loop sustains */
    double conflict_cycles;             /* and more, where the memory serves its two loads one after the other */
    uint64_t element_bytes, partial_bytes, result_bytes;
};
/* Of types that the chip multiplies (chip_multiplies()). With other units than its own it loads as many weights. */
struct amp amp_for(const struct chip *chip, enum data_type type, enum partials_type partials);
struct amp amp_with_units(const struct chip *chip, struct amp a, uint64_t units);

/* Convolution vertices. groups: of the convolution; in_groups and out_groups: of channels, in grains of the AMP; positions, rows and width:
 * of the field on this tile; kernel_h, kernel_w: elements of the kernel. */
uint64_t amp_1x1_cycles(const struct chip *chip, const struct amp *a, uint64_t groups, uint64_t in_groups,
                        uint64_t out_groups, uint64_t positions);

extern const uint64_t amp_setup_cycles[5];         /* by filter height: what a load of weights takes besides them */

/* rows of `width` positions; kernel_outer x kernel_inner AMP passes a group; filter_height: kernel rows that
 * share one pass (1, 2 or 4: in-channel groups of 16, 8, 4 halves). */
uint64_t amp_nx1_cycles(const struct chip *chip, const struct amp *a, uint64_t groups, uint64_t in_groups,
                        uint64_t out_groups, uint64_t rows, uint64_t width, uint64_t kernel_outer,
                        uint64_t kernel_inner, uint64_t filter_height);
uint64_t slic_cycles(const struct chip *chip, uint64_t groups, uint64_t rows, uint64_t width, uint64_t kernel_h,
                     uint64_t kernel_w, uint64_t stride, uint64_t chans, bool fp32_partials);
uint64_t hmac_cycles(const struct chip *chip, uint64_t groups, uint64_t in_chans, uint64_t out_chans,
                     uint64_t rows, uint64_t width, uint64_t kernel_elements, uint64_t element_bytes);
/* Of these, the busiest worker's cycles over the positions for one kernel element. */
uint64_t amp_rows_cycles(const struct chip *chip, const struct amp *a, uint64_t rows, uint64_t width);
uint64_t hmac_rows_cycles(const struct chip *chip, uint64_t in_chans, uint64_t rows, uint64_t width, uint64_t element_bytes);
uint64_t outer_product_cycles(const struct chip *chip, uint64_t groups, uint64_t positions, uint64_t out_chans);

/* Adds depth partials for each of n outputs of this tile. */
uint64_t reduce_cycles(const struct chip *chip, uint64_t n, uint64_t depth, uint64_t partial_bytes);
/* Of n elements of this tile. */
uint64_t cast_cycles(const struct chip *chip, uint64_t n, uint64_t from_bytes, uint64_t to_bytes);
uint64_t zero_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes);
uint64_t dynamic_slice_cycles(const struct chip *chip, uint64_t n);
uint64_t add_in_place_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes);

/* Changes of layout on a tile: element by element, or in groups of channels. */
uint64_t rearrange_cycles(const struct chip *chip, uint64_t n_bytes, uint64_t element_bytes, bool by_fours);
uint64_t regroup_cycles(const struct chip *chip, uint64_t n_bytes);
/* Of a copy in pieces: a fixed cost, and cycles for each 100 bytes. */
enum { COPY_PIECES_CYCLES = 587, COPY_PIECES_CYCLES_PER_100_BYTES = 44 };
uint64_t copy_pieces_cycles(uint64_t n_bytes);     /* pieces of 8 bytes, wherever they go */
uint64_t copy_cycles(const struct chip *chip, uint64_t n_bytes);

/* Code of an exchange: three instructions of 4 bytes for each piece received from one tile, and on the other side one
 * send for 256 bytes. */
uint64_t exchange_code_bytes(uint64_t n_bytes, uint64_t piece_bytes);

/* ---- one-dimensional vertices: a row of the table each ----------------------------------------- */

enum map_op {
    MAP_BINARY, MAP_BINARY_IN_PLACE, MAP_SCALAR, MAP_VECTOR, MAP_SCALED_ADD, MAP_SCALED_ADD_MIXED,
    MAP_RELU, MAP_TANH, MAP_SIGMOID, MAP_GELU, MAP_SWISH, MAP_EXP, MAP_LOG, MAP_SQUARE, MAP_RSQRT, MAP_SQRT,
    MAP_INVERSE, MAP_DIVIDE, MAP_RELU_GRAD, MAP_TANH_GRAD, MAP_SIGMOID_GRAD, MAP_GELU_GRAD, MAP_SWISH_GRAD,
    MAP_DROPOUT, MAP_CAST, MAP_FILL, MAP_COPY, MAP_REDUCE, MAP_REDUCE_SQUARE, MAP_CROSS_ENTROPY, MAP_ERF, MAP_SELECT,
    N_MAP_OPS
};
extern const char *const map_op_names[N_MAP_OPS];
/* n elements of one tile, element_bytes wide. */
uint64_t map_cycles(const struct chip *chip, enum map_op op, uint64_t n, uint64_t element_bytes);

/* Gather of rows out of the part of a table that a tile holds; n_in of the n_lookups fall into it. */
uint64_t gather_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements);
uint64_t scatter_add_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements);
/* rows: output rows of this tile; each of `vectors` vectors takes kernel_elements steps. */
uint64_t pool_cycles(const struct chip *chip, uint64_t rows, uint64_t vectors_per_row, uint64_t kernel_elements,
                     bool max_backward);
/* Cells of the lattice of time steps and labels on this tile, forward or backward. */
uint64_t transducer_cell_cycles(const struct chip *chip, uint64_t n_cells);

#endif
