/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vertex_cost.c - cycles of one tile for each kind of vertex.
 *
 * The formulas and their constants are those of the estimators in PopLibs (github.com/graphcore/poplibs at
 * 7eac0f2: poplin ConvVertexCycleEstimators, popops and popnn cycle estimators); a worker formula is multiplied
 * by the turn, because each worker issues once in so many cycles (six, however few workers have work). With six workers and half inputs,
 * the 1x1 vertex comes to 4 P + 203 cycles for a 16 x 16 block of weights and P positions (64-bit weight
 * loads): half its speed is lost at about 51 positions a tile, whatever the layer.
 *
 * Left as in the source: constants were read for six workers and 64-bit data paths; chips here share both.
 * Changed: two positions a worker are run as three (31 cycles instead of 35 in the table, which a
 * compiler avoids by padding its worklist), so that cycles never fall when positions grow.
 */
#include "system-model/compiler/vertex_cost.h"
#include "system-model/base/assumed.h"

/* ---- the AMP unit ------------------------------------------------------------------------- */

/* A unit multiplies a chain of four operands of 8 bytes, one a cycle; its weights for them are 32 bytes: 8 floats, 16 halves or
 * 32 quarters (weights per conv unit in PopLibs' target). The width of the vector unit is another matter. */
enum { AMP_CHAIN = 4, AMP_UNIT_BYTES = 32 };

/* Inputs and partial sums in, partial sums out, for each position: two loads and a store in every cycle? */
static bool needs_all_ports(const struct chip *chip, const struct amp *a)
{
    uint64_t moved = a->in_grain * a->element_bytes + 2 * a->units * a->partial_bytes;
    return (double)moved >= 3 * a->core_cycles * (double)chip->load_bytes_per_cycle;
}

struct amp amp_with_units(const struct chip *chip, struct amp a, uint64_t units)
{
    a.core_cycles *= (double)units / (double)a.units;
    a.conflict_cycles *= (double)units / (double)a.units;
    if (a.core_cycles < AMP_CHAIN)
        a.core_cycles = AMP_CHAIN;      /* a chain is fed one operand a cycle, however few its units; sheets cannot ask for more */
    a.units = units;
    a.load_cycles = ceil_div(units * a.in_grain * a.element_bytes, chip->weight_load_bytes_per_cycle);
    return a;
}

struct amp amp_for(const struct chip *chip, enum data_type type, enum partials_type partials)
{
    struct amp a = { .element_bytes = data_type_bytes(type), .partial_bytes = 4 };
    uint64_t mac, units;
    if (type == TYPE_FP32) {
        mac = chip->mac_fp32_per_cycle;
        units = chip->conv_units_fp32;
    } else if (partials == PARTIALS_FP32) {
        mac = chip->mac_fp16_fp32_per_cycle;
        units = chip->conv_units_fp16_fp32;
    } else {
        mac = chip->mac_fp16_fp16_per_cycle;
        units = chip->conv_units_fp16_fp16;
        a.partial_bytes = 2;
    }
    if (type == TYPE_FP8)
        mac = chip->mac_fp8_per_cycle;
    a.in_grain = AMP_UNIT_BYTES / a.element_bytes;
    a.result_bytes = type == TYPE_FP8 ? 2 : a.element_bytes;
    a.units = units;
    a.core_cycles = (double)(a.in_grain * units) / (double)mac;
    if (chip->amp_efficiency > 0 && needs_all_ports(chip, &a)) {
        a.conflict_cycles = a.core_cycles;
        a.core_cycles /= chip->amp_efficiency;
    }
    return amp_with_units(chip, a, units);
}

static uint64_t positions_cycles(double position, uint64_t n)
{
    return (uint64_t)(position * (double)n + 0.999);
}

/* One worker, n positions: 26, 31, then 4 a position and 19. */
static uint64_t amp_1x1_worker(const struct amp *a, uint64_t n)
{
    return n <= 1 ? 22 + positions_cycles(a->core_cycles, 1) : positions_cycles(a->core_cycles, max_u64(n, 3)) + 19;
}

uint64_t amp_1x1_cycles(const struct chip *chip, const struct amp *a, uint64_t groups, uint64_t in_groups,
                        uint64_t out_groups, uint64_t positions)
{
    uint64_t w = chip_turn_cycles(chip);
    uint64_t block = 19 + 6 + a->load_cycles + w * amp_1x1_worker(a, ceil_div(positions, chip->n_workers));
    uint64_t group = 13 + in_groups * (15 + out_groups * block);
    return 50 + w * (7 + 3 * (in_groups - 1)) + groups * group;
}

/* The busiest worker's share of the field: positions laid end to end and cut in n_workers, which breaks rows, or whole rows. A row, or a
 * piece of one, is an item of the worker's list. */
static uint64_t worker_rows_cycles(double position, uint64_t item, uint64_t workers, uint64_t rows, uint64_t width)
{
    if (rows * width == 0)
        return 0;
    uint64_t n = ceil_div(rows * width, workers), whole = ceil_div(rows, workers);
    uint64_t pieces = min_u64(min_u64((n - 1) / width + 2, n), rows);
    return min_u64(item * pieces + positions_cycles(position, n), whole * (item + positions_cycles(position, width)));
}

uint64_t amp_rows_cycles(const struct chip *chip, const struct amp *a, uint64_t rows, uint64_t width)
{
    return worker_rows_cycles(a->core_cycles, 16, chip->n_workers, rows, width);
}

const uint64_t amp_setup_cycles[] = { 0, 15, 46, 0, 60 };

uint64_t amp_nx1_cycles(const struct chip *chip, const struct amp *a, uint64_t groups, uint64_t in_groups,
                        uint64_t out_groups, uint64_t rows, uint64_t width, uint64_t kernel_outer,
                        uint64_t kernel_inner, uint64_t filter_height)
{
    uint64_t w = chip_turn_cycles(chip), worker = 18 + amp_rows_cycles(chip, a, rows, width);
    uint64_t load = filter_height == 4
        ? ceil_div(a->units * a->in_grain * a->element_bytes, 8) : a->load_cycles;
    uint64_t position = 12 + load + amp_setup_cycles[filter_height] + 3 + w * worker;
    uint64_t inner = kernel_outer * (14 + kernel_inner * position);
    uint64_t group = 23 * out_groups - 5 + 16 + in_groups * (14 + out_groups * (14 + inner));
    return 109 + w * 9 + w * (a->partial_bytes == 4 ? 9 : 10) + w * (groups - 1) + 1 + groups * group;
}

/* Thin convolutions: 1x4 kernel slices over groups of at most 4 channels. */
uint64_t slic_cycles(const struct chip *chip, uint64_t groups, uint64_t rows, uint64_t width, uint64_t kernel_h,
                     uint64_t kernel_w, uint64_t stride, uint64_t chans, bool fp32_partials)
{
    uint64_t w = chip_turn_cycles(chip), passes = fp32_partials ? 2 : 1;
    uint64_t load = 34 + (chans < 4 ? 12 * w : 0);
    uint64_t row = stride == 2 ? 15 + 2 * (max_u64(width, 3) - 3) : 15 + (max_u64(width, 5) - 5);
    uint64_t worker = 20 + ceil_div(rows, chip->n_workers) * (10 + passes * row);
    return 50 + groups * kernel_h * ceil_div(kernel_w, 4) * (load + w * worker);
}

uint64_t hmac_rows_cycles(const struct chip *chip, uint64_t in_chans, uint64_t rows, uint64_t width, uint64_t element_bytes)
{
    uint64_t dot = 7 + ceil_div(in_chans * element_bytes, chip->vector_bytes_per_cycle);
    return worker_rows_cycles((double)(7 + dot), 19, chip->n_workers, rows, width);
}

/* One output channel a group, as poplin plans this vertex: each goes over the positions anew, a row, or a piece of one, after the other. */
uint64_t hmac_cycles(const struct chip *chip, uint64_t groups, uint64_t in_chans, uint64_t out_chans,
                     uint64_t rows, uint64_t width, uint64_t kernel_elements, uint64_t element_bytes)
{
    uint64_t w = chip_turn_cycles(chip), worker = 16 + kernel_elements * hmac_rows_cycles(chip, in_chans, rows, width, element_bytes);
    return 65 + groups * (23 + 15 + out_chans * (10 + w * worker));
}

uint64_t outer_product_cycles(const struct chip *chip, uint64_t groups, uint64_t positions, uint64_t out_chans)
{
    uint64_t w = chip_turn_cycles(chip), extra = out_chans > 12 ? ceil_div(out_chans - 12, 4) : 0;
    return w * (25 + groups * (10 + ceil_div(positions, chip->n_workers) * (6 + extra)));
}

/* ---- what surrounds a convolution ------------------------------------------------------------ */

/* Partials of one stage reach a tile in one piece, an output's after the other's: PopLibs' vertex for a single input, of 64-bit loads. */
uint64_t reduce_cycles(const struct chip *chip, uint64_t n, uint64_t depth, uint64_t partial_bytes)
{
    uint64_t w = chip_turn_cycles(chip), vector = 2 * chip->vector_bytes_per_cycle / partial_bytes;
    return 33 + w * (20 + ceil_div(ceil_div(n, vector), chip->n_workers) * (2 * (depth - 1) + 9));
}

uint64_t cast_cycles(const struct chip *chip, uint64_t n, uint64_t from_bytes, uint64_t to_bytes)
{
    uint64_t w = chip_turn_cycles(chip), vector = chip->vector_bytes_per_cycle / max_u64(from_bytes, to_bytes);
    return w * (26 + ceil_div(ceil_div(n, chip->n_workers), vector));
}

uint64_t zero_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes)
{
    return chip_turn_cycles(chip) * (5 + ceil_div(ceil_div(n, chip->n_workers), chip->vector_bytes_per_cycle / element_bytes));
}

uint64_t dynamic_slice_cycles(const struct chip *chip, uint64_t n)
{
    return 25 + chip_turn_cycles(chip) * (63 + 2 * ceil_div(ceil_div(n, chip->n_workers), 4));
}

uint64_t add_in_place_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes)
{
    return map_cycles(chip, MAP_BINARY_IN_PLACE, n, element_bytes);
}

/* Channels in fours: 5/4 of the elements pass one at a time, as the planner of PopLibs prices it. Others move
 * in pieces of one element: 587 cycles and 5.15 a byte of halves, 3.13 of floats (regression over ten thousand
 * measured copies that PopLibs' planner keeps beside its formula). */
uint64_t rearrange_cycles(const struct chip *chip, uint64_t n_bytes, uint64_t element_bytes, bool by_fours)
{
    if (!by_fours)
        return COPY_PIECES_CYCLES + ceil_div(n_bytes * (element_bytes < 4 ? 515 : 313), 100);
    return ceil_div(ceil_div(5 * n_bytes, 4), min_u64(chip->vector_bytes_per_cycle, element_bytes));
}

uint64_t regroup_cycles(const struct chip *chip, uint64_t n_bytes)
{
    return ceil_div(5 * n_bytes, 4 * chip->vector_bytes_per_cycle);
}

/* The same regression, pieces of 8 bytes. */
uint64_t copy_pieces_cycles(uint64_t n_bytes)
{
    return COPY_PIECES_CYCLES + ceil_div(COPY_PIECES_CYCLES_PER_100_BYTES * n_bytes, 100);
}

uint64_t copy_cycles(const struct chip *chip, uint64_t n_bytes)
{
    return map_cycles(chip, MAP_COPY, n_bytes, 1);
}

uint64_t exchange_code_bytes(uint64_t n_bytes, uint64_t piece_bytes)
{
    return 12 * ceil_div(n_bytes, max_u64(128, piece_bytes)) + 4 * ceil_div(n_bytes, 256);
}

/* ---- one-dimensional vertices ------------------------------------------------------------------ */

const char *const map_op_names[N_MAP_OPS] = {
    "binary", "binary-in-place", "scalar", "vector", "scaled-add", "scaled-add-mixed",
    "relu", "tanh", "sigmoid", "gelu", "swish", "exp", "log", "square", "rsqrt", "sqrt",
    "inverse", "divide", "relu-grad", "tanh-grad", "sigmoid-grad", "gelu-grad", "swish-grad",
    "dropout", "cast", "fill", "copy", "reduce", "reduce-square", "cross-entropy", "erf", "select",
};

/* cycles = start + workers x (worker_start + per_vector x vectors of the worker): vectors of `bytes` bytes
 * (halves: 8 bytes are four). Rows and columns as in PopLibs' estimators of popops and popnn; shared: the
 * unit serves the whole tile, so a worker's share counts once, not a turn each. moves: of bytes, whatever their type; all others
 * compute, and one-byte floats are computed as halves: PopLibs has quarters for convolutions and casts alone. A vector of 1 byte is an
 * element at a time, whatever its type. */
enum { MAP_ROW_BYTES = 8 };      /* the data path that the rows were read for */
static const struct map_row {
    uint16_t start, worker_start, per_vector, bytes;
    bool shared, moves;
} map_rows[] = {
    [MAP_BINARY]           = { 11, 26, 3, 8, false, false },
    [MAP_BINARY_IN_PLACE]  = { 11, 58, 3, 8, false, false },
    [MAP_SCALAR]           = { 11, 20, 2, 8, false, false },
    [MAP_VECTOR]           = { 13, 24, 2, 8, false, false },
    [MAP_SCALED_ADD]       = { 60, 15, 3, 8, false, false },
    [MAP_SCALED_ADD_MIXED] = { 60, 15, 5, 8, false, false },
    [MAP_RELU]             = {  9, 23, 1, 8, false, false },
    [MAP_TANH]             = {  9, 23, 2, 8, false, false },
    [MAP_SIGMOID]          = {  9, 23, 4, 8, false, false },
    [MAP_GELU]             = {  9, 23, 5, 8, false, false },
    [MAP_SWISH]            = {  9, 23, 5, 8, false, false },
    [MAP_EXP]              = { 20, 33, 4, 8, false, false },
    [MAP_LOG]              = { 20, 17, 4, 8, false, false },
    [MAP_SQUARE]           = { 20, 17, 2, 8, false, false },
    [MAP_RSQRT]            = { 20, 17, 19, 8, false, false },
    [MAP_SQRT]             = { 20, 17, 23, 8, false, false },
    [MAP_INVERSE]          = { 20, 17, 15, 8, false, false },
    [MAP_DIVIDE]           = { 20, 17, 16, 8, false, false },
    [MAP_RELU_GRAD]        = {  9, 23, 3, 8, false, false },
    [MAP_TANH_GRAD]        = {  9, 23, 3, 8, false, false },
    [MAP_SIGMOID_GRAD]     = {  9, 23, 3, 8, false, false },
    [MAP_GELU_GRAD]        = {  9, 23, 5, 8, false, false },
    [MAP_SWISH_GRAD]       = {  9, 23, 5, 8, false, false },
    [MAP_DROPOUT]          = {  6, 24, 2, 8, true, false },        /* one random generator a tile */
    [MAP_CAST]             = { 12, 37, 1, 4, false, false },       /* two halves to two floats, or back */
    [MAP_FILL]             = {  0, 26, 1, 8, false, true },
    [MAP_COPY]             = {  0, 48, 1, 8, false, true },       /* 288 cycles a call */
    [MAP_REDUCE]           = { 11, 17, 1, 8, false, false },
    [MAP_REDUCE_SQUARE]    = { 11, 17, 2, 8, false, false },
    [MAP_CROSS_ENTROPY]    = { 11, 20, 9, 4, false, false },
    [MAP_ERF]              = {  9, 23, 15, 8, false, false },      /* as popnn's gelu_erf */
    [MAP_SELECT]           = { 11, 20, SELECT_CYCLES, 1, false, false },
};
_Static_assert(sizeof map_rows / sizeof *map_rows == N_MAP_OPS, "one row a vertex");

uint64_t map_cycles(const struct chip *chip, enum map_op op, uint64_t n, uint64_t element_bytes)
{
    const struct map_row *row = &map_rows[op];
    uint64_t turn = chip_turn_cycles(chip), computed_bytes = row->moves ? element_bytes : max_u64(2, element_bytes);
    uint64_t vector = max_u64(1, row->bytes * chip->vector_bytes_per_cycle / (MAP_ROW_BYTES * computed_bytes));
    if (row->shared)
        return row->start + turn * row->worker_start + row->per_vector * ceil_div(n, vector);
    return row->start + turn * (row->worker_start + row->per_vector * ceil_div(ceil_div(n, chip->n_workers), vector));
}

/* A lookup costs 8 where the row is on another tile, else 19 and a cycle an element. */
uint64_t gather_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements)
{
    return 11 + chip_turn_cycles(chip) * ceil_div(8 * (n_lookups - n_in) + n_in * (19 + row_elements), chip->n_workers);
}

/* All workers walk all lookups: each owns a part of the rows. */
uint64_t scatter_add_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements)
{
    uint64_t worker = 30 + 5 * (n_lookups - n_in) + n_in * (12 + 3 * ceil_div(row_elements, 2 * chip->n_workers));
    return 11 + chip_turn_cycles(chip) * worker;
}

uint64_t pool_cycles(const struct chip *chip, uint64_t rows, uint64_t vectors_per_row, uint64_t kernel_elements,
                     bool max_backward)
{
    uint64_t w = chip_turn_cycles(chip), step = max_backward ? 5 : 3;
    uint64_t row = 13 + 20 + vectors_per_row * (7 + step * kernel_elements);
    return 11 + w * ceil_div(rows, chip->n_workers) * row;
}

uint64_t transducer_cell_cycles(const struct chip *chip, uint64_t n_cells)
{
    return 11 + chip_turn_cycles(chip) * (20 + TRANSDUCER_CELL_CYCLES * ceil_div(n_cells, chip->n_workers));
}
