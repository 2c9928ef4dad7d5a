/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vertex_cost.c - cycles of one tile for each kind of vertex, and their lower bounds.
 *
 * The formulas and their constants are those of the estimators in PopLibs (github.com/graphcore/poplibs at 7eac0f2:
 * poplin ConvVertexCycleEstimators, popops and popnn cycle estimators). A worker's cycles are multiplied by the turn,
 * because each worker issues once in this many cycles (six, however few workers have work). With six workers and half
 * inputs, the 1x1 vertex comes to 4 P + 203 cycles for a 16 x 16 block of weights and P positions (64-bit weight
 * loads): half its speed is lost at about 51 positions a tile, whatever the layer.
 *
 * As in the source, constants are for six workers and 64-bit data paths, which all chips here have in common. One
 * thing is changed: two positions a worker are run as three (31 cycles instead of 35 in PopLibs' table, which a
 * compiler avoids by padding its worklist), so that cycles never fall when positions grow.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/vertex_cost.h"

/* ---- the AMP unit ---------------------------------------------------------------------------------------------- */

/* True if inputs and partial sums need two loads and a store in every cycle. */
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
        a.core_cycles = AMP_CHAIN;      /* a chain takes one operand a cycle, however few units it has; sheets cannot ask for more */
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

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* Sources, by function of PopLibs 7eac0f2: conv rows are poplin's ConvVertexCycleEstimators (getConvPartial1x1...,
 * getConvPartialnx1..., getConvPartialSlic..., getConvPartialHorizontalMac..., getOuterProduct...); reduce is popops'
 * single-input reduction with 64-bit loads; cast, zero and slice are popops' cycle estimators. Copies in pieces are a
 * regression over ten thousand measured copies that PopLibs' planner keeps next to its formula: 587 cycles, and 5.15 a
 * byte in pieces of a half, 3.13 in pieces of a float, 0.44 in pieces of 8 bytes. */
const struct vertex_table vertex_table = {
    .conv = {
        [VERTEX_AMP_1X1] = { .call = { 50, 4 }, .call_in = { 0, 3 }, .group = { 13, 0 }, .in = { 15, 0 }, .load = { 25, 19 } },
        [VERTEX_AMP_NX1] = { .call = { 110, 17 }, .group = { 11, 1 }, .group_out = { 23, 0 }, .in = { 14, 0 }, .out = { 14, 0 },
                             .kernel_row = { 14, 0 }, .load = { 15, 18 }, .item = 16 },
        [VERTEX_SLIC] = { .call = { 50, 0 }, .load = { 34, 20 }, .item = 10 },
        [VERTEX_HMAC] = { .call = { 65, 0 }, .group = { 38, 0 }, .out = { 10, 16 }, .item = 19, .position = 14 },
        [VERTEX_OUTER_PRODUCT] = { .call = { 0, 25 }, .group = { 0, 10 }, .position = 6 },
    },
    .amp_filter_load = { 0, 15, 46, 0, 60 }, .amp_half_partials = 1,
    .amp_1x1_least_positions = 3, .amp_1x1_alone = 3,
    .slic = { { 5, 10, 1 }, { 3, 9, 2 } }, .slic_thin_load = 12,
    .outer_product_free_chans = 12,
    .reduce = { 33, 20, 7 }, .reduce_partial = 2, .cast = { 0, 26, 1 }, .zero = { 0, 5, 1 }, .slice = { 25, 63, 2 },
    .copy_by_fours = 5, .copy_pieces = 587,
    .copy_halves_per_100_bytes = 515, .copy_floats_per_100_bytes = 313, .copy_words_per_100_bytes = 44,
};

/* ---- convolution vertices -------------------------------------------------------------------------------------- */

static uint64_t loop_cycles(uint64_t turn, struct loop_terms c) { return c.tile + turn * c.worker; }

static bool has_in_loop(enum vertex_kind v) { return v == VERTEX_AMP_1X1 || v == VERTEX_AMP_NX1; }
static bool has_out_loop(enum vertex_kind v) { return has_in_loop(v) || v == VERTEX_HMAC; }

/* If four kernel rows share a load, weights come at 8 bytes a cycle whatever the chip's width. */
static uint64_t weights_cycles(const struct amp *a, const struct conv_work *w)
{
    if (!has_in_loop(w->vertex))
        return 0;
    return w->filter_height == 4 ? ceil_div(a->units * a->in_grain * a->element_bytes, 8) : a->load_cycles;
}

static uint64_t load_once_cycles(const struct vertex_table *v, uint64_t turn, const struct amp *a, const struct conv_work *w)
{
    uint64_t cycles = loop_cycles(turn, v->conv[w->vertex].load) + weights_cycles(a, w);
    if (w->vertex == VERTEX_AMP_NX1)
        cycles += v->amp_filter_load[w->filter_height];
    if (w->vertex == VERTEX_SLIC && w->in_chans < 4)
        cycles += turn * v->slic_thin_load;
    return cycles;
}

/* The cycles of the busiest worker. Either all positions in a line are cut into n_workers parts, which breaks rows, or each worker has whole rows.
   A row or a piece of one is an item of the worker's list. */
static uint64_t worker_rows_cycles(double position, uint64_t item, uint64_t workers, uint64_t rows, uint64_t width)
{
    if (rows * width == 0)
        return 0;
    uint64_t n = ceil_div(rows * width, workers), whole = ceil_div(rows, workers);
    uint64_t pieces = min_u64(min_u64((n - 1) / width + 2, n), rows);
    return min_u64(item * pieces + positions_cycles(position, n), whole * (item + positions_cycles(position, width)));
}

uint64_t conv_rows_cycles(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *w)
{
    const struct conv_terms *t = &v->conv[w->vertex];
    double position = a->core_cycles;
    if (w->vertex == VERTEX_HMAC)
        position = (double)(t->position + ceil_div(w->in_chans * a->element_bytes, chip->vector_bytes_per_cycle));
    return worker_rows_cycles(position, t->item, chip->n_workers, w->rows, w->width);
}

static uint64_t slic_passes(const struct amp *a) { return a->partial_bytes == 4 ? 2 : 1; }

/* Two positions of a worker are charged as three in the 1x1 vertex. A position of an outer product covers several output channels. */
static uint64_t worker_cycles(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *w)
{
    const struct conv_terms *t = &v->conv[w->vertex];
    const struct slic_terms *s = &v->slic[w->every_other];
    uint64_t n = ceil_div(w->rows * w->width, chip->n_workers), more = w->out - min_u64(w->out, v->outer_product_free_chans);
    switch (w->vertex) {
    case VERTEX_AMP_1X1:
        return n <= 1 ? v->amp_1x1_alone + positions_cycles(a->core_cycles, 1)
                      : positions_cycles(a->core_cycles, max_u64(n, v->amp_1x1_least_positions));
    case VERTEX_SLIC:
        return ceil_div(w->rows, chip->n_workers) * (t->item + slic_passes(a) * (s->row + s->position * max_u64(w->width, s->least_width)));
    case VERTEX_OUTER_PRODUCT:
        return n * (t->position + ceil_div(more, 4));
    case VERTEX_AMP_NX1: case VERTEX_HMAC:
        return conv_rows_cycles(v, chip, a, w);
    case VERTEX_NONE: case N_VERTEX_KINDS: break;
    }
    assert(false);
    return 0;
}

static uint64_t call_cycles(const struct vertex_table *v, uint64_t turn, const struct amp *a, const struct conv_work *w)
{
    bool halves = w->vertex == VERTEX_AMP_NX1 && a->partial_bytes != 4;
    return loop_cycles(turn, v->conv[w->vertex].call) + (halves ? turn * v->amp_half_partials : 0);
}

uint64_t conv_vertex_cycles(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *w)
{
    const struct conv_terms *t = &v->conv[w->vertex];
    uint64_t turn = chip_turn_cycles(chip), in = has_in_loop(w->vertex) ? w->in : 1, out = has_out_loop(w->vertex) ? w->out : 1;
    uint64_t load = load_once_cycles(v, turn, a, w) + turn * worker_cycles(v, chip, a, w);
    uint64_t kernel = w->kernel_h * (loop_cycles(turn, t->kernel_row) + w->kernel_w * load);
    uint64_t group = loop_cycles(turn, t->group) + out * loop_cycles(turn, t->group_out);
    group += in * (loop_cycles(turn, t->in) + out * (loop_cycles(turn, t->out) + kernel));
    return call_cycles(v, turn, a, w) + in * loop_cycles(turn, t->call_in) + w->groups * group;
}

/* ---- their lower bounds ---------------------------------------------------------------------------------------- */

/* A lower bound may not exceed positions_cycles(), which may round down by a thousandth of a worker's cycle. This larger amount is therefore
 * subtracted for each item and each load. */
static const double MOST_ROUNDED_OFF = 0.01;

static double less_rounding(double cycles) { return fmax(cycles - MOST_ROUNDED_OFF, 0); }

/* Adds the cost of one position, and of each input channel within it. */
static void add_position_least(struct conv_least *out, const struct vertex_table *v, const struct chip *chip, const struct amp *a,
                               const struct conv_work *w)
{
    double worker = (double)chip_turn_cycles(chip) / (double)chip->n_workers;
    out->position = worker * v->conv[w->vertex].position;
    if (has_in_loop(w->vertex))
        out->position = worker * a->core_cycles;
    else if (w->vertex == VERTEX_SLIC)
        out->position = worker * (double)(slic_passes(a) * v->slic[w->every_other].position);
    else if (w->vertex == VERTEX_HMAC)
        out->channel = worker * (double)a->element_bytes / (double)chip->vector_bytes_per_cycle;
}

/* The cost of the loops outside a load. The loops directly around the kernel are spread over its loads, because a share of the work may have fewer
 * of these loops for a load, but not more; other loops are charged whole. */
struct conv_least conv_vertex_least(const struct vertex_table *v, const struct chip *chip, const struct amp *a, const struct conv_work *whole)
{
    const struct conv_terms *t = &v->conv[whole->vertex];
    uint64_t turn = chip_turn_cycles(chip);
    double columns = (double)whole->kernel_w, loads = columns * (double)whole->kernel_h, cycles = (double)turn;
    bool is_list = whole->vertex == VERTEX_AMP_NX1 || whole->vertex == VERTEX_HMAC;
    struct conv_least out = { .row = is_list ? cycles * less_rounding(t->item) : 0 };
    out.fixed = (double)(call_cycles(v, turn, a, whole) + loop_cycles(turn, t->call_in) + loop_cycles(turn, t->group)
                         + loop_cycles(turn, t->group_out) + loop_cycles(turn, t->in));
    out.load = (double)load_once_cycles(v, turn, a, whole) - cycles * (has_in_loop(whole->vertex) ? MOST_ROUNDED_OFF : 0);
    out.load = fmax(out.load + (double)loop_cycles(turn, t->kernel_row) / columns + (double)loop_cycles(turn, t->out) / loads, 0);
    add_position_least(&out, v, chip, a, whole);
    return out;
}

/* ---- what surrounds a convolution ------------------------------------------------------------------------------ */

/* The partials of one stage reach a tile in one piece, output after output, so this is PopLibs' vertex for a single
 * input, with 64-bit loads. */
uint64_t reduce_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t depth, uint64_t partial_bytes)
{
    uint64_t vector = 2 * chip->vector_bytes_per_cycle / partial_bytes, vectors = ceil_div(ceil_div(n, vector), chip->n_workers);
    return v->reduce.tile + chip_turn_cycles(chip) * (v->reduce.worker + vectors * (v->reduce.vector + v->reduce_partial * depth));
}

/* The cycles for n elements in vectors of `vector` elements. */
static uint64_t vector_terms_cycles(const struct chip *chip, struct vector_terms t, uint64_t n, uint64_t vector)
{
    return t.tile + chip_turn_cycles(chip) * (t.worker + t.vector * ceil_div(ceil_div(n, chip->n_workers), vector));
}

uint64_t cast_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t from_bytes, uint64_t to_bytes)
{
    return vector_terms_cycles(chip, v->cast, n, chip->vector_bytes_per_cycle / max_u64(from_bytes, to_bytes));
}

uint64_t zero_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n, uint64_t element_bytes)
{
    return vector_terms_cycles(chip, v->zero, n, chip->vector_bytes_per_cycle / element_bytes);
}

uint64_t dynamic_slice_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n)
{
    return vector_terms_cycles(chip, v->slice, n, SLICE_VECTOR);
}

uint64_t add_in_place_cycles(const struct chip *chip, uint64_t n, uint64_t element_bytes)
{
    return map_cycles(chip, MAP_BINARY_IN_PLACE, n, element_bytes);
}

/* Channels in fours move 5/4 of the elements one at a time, as the planner of PopLibs prices it. Others move in
 * pieces of one element. */
uint64_t rearrange_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n_bytes, uint64_t element_bytes, bool by_fours)
{
    if (!by_fours)
        return v->copy_pieces + ceil_div(n_bytes * (element_bytes < 4 ? v->copy_halves_per_100_bytes : v->copy_floats_per_100_bytes), 100);
    return ceil_div(ceil_div(v->copy_by_fours * n_bytes, 4), min_u64(chip->vector_bytes_per_cycle, element_bytes));
}

uint64_t regroup_cycles(const struct vertex_table *v, const struct chip *chip, uint64_t n_bytes)
{
    return ceil_div(v->copy_by_fours * n_bytes, 4 * chip->vector_bytes_per_cycle);
}

uint64_t copy_pieces_cycles(const struct vertex_table *v, uint64_t n_bytes)
{
    return v->copy_pieces + ceil_div(v->copy_words_per_100_bytes * n_bytes, 100);
}

uint64_t copy_cycles(const struct chip *chip, uint64_t n_bytes)
{
    return map_cycles(chip, MAP_COPY, n_bytes, 1);
}

enum { ONE_HOT_START_CYCLES = 11, ONE_HOT_LABEL_CYCLES = 62 + 12 };
uint64_t one_hot_cycles(uint64_t n_labels) { return ONE_HOT_START_CYCLES + ONE_HOT_LABEL_CYCLES * n_labels; }

/* ---- one-dimensional vertices ---------------------------------------------------------------------------------- */

/* A loop of an inner vertex takes a worker `cycles` for `elements` elements; 0 elements stand for as many as 8 bytes hold. A loop of one element
 * is the same on every chip; longer loops grow with the width of the data path. */
struct map_loop { uint16_t cycles, elements; };

enum { MAP_ROW_BYTES = 8 };      /* the width of the data path for which the rows were read */

/* cycles = start + turn x (worker_start + loop.cycles x loops of the busiest worker), with a loop for halves (and for one-byte
 * floats, which are computed as halves) and one for floats and integers.
 * Loops are those of popops' tables for one and two operands, and for an operand repeated over the other (lib/popops/popopsCycleEstimators.hpp
 * at 7eac0f2: out of place where PopART has no form in place); of its ternary codelets, which take longer than their
 * estimators (codelets/asm/select_half.S, select_int_float.S, Clamp.S); of casts (popops/PerformanceEstimation.cpp); and
 * of popnn (popnn/PerformanceEstimation.hpp). Sine, tangent, power and integer division are library calls, whose cycles are means over random operands.
 * shared: the unit serves the whole tile, so that a worker's share counts once and not a turn each. */
static const struct map_row {
    const char *name;
    uint16_t start, worker_start;
    struct map_loop half, single;
    bool shared;
} map_rows[] = {
    [MAP_BINARY]             = { "binary", 11, 26, { 3, 4 }, { 3, 2 }, false },
    [MAP_BINARY_IN_PLACE]    = { "binary-in-place", 11, 58, { 3, 4 }, { 3, 2 }, false },
    [MAP_SCALAR]             = { "scalar", 11, 20, { 2, 4 }, { 2, 2 }, false },
    [MAP_VECTOR]             = { "vector", 13, 24, { 2, 4 }, { 2, 2 }, false },
    [MAP_SCALED_ADD]         = { "scaled-add", 60, 15, { 3, 4 }, { 3, 2 }, false },
    [MAP_SCALED_ADD_MIXED]   = { "scaled-add-mixed", 60, 15, { 5, 4 }, { 5, 2 }, false },
    [MAP_RELU]               = { "relu", 9, 23, { 2, 4 }, { 2, 2 }, false },
    [MAP_TANH]               = { "tanh", 9, 23, { 4, 4 }, { 12, 2 }, false },
    [MAP_TANH_IN_PLACE]      = { "tanh-in-place", 9, 23, { 2, 4 }, { 10, 2 }, false },
    [MAP_SIGMOID]            = { "sigmoid", 9, 23, { 4, 4 }, { 10, 2 }, false },
    [MAP_GELU]               = { "gelu", 9, 23, { 5, 4 }, { 10, 2 }, false },
    [MAP_SWISH]              = { "swish", 9, 23, { 5, 4 }, { 11, 2 }, false },
    [MAP_EXP]                = { "exp", 20, 33, { 4, 4 }, { 6, 2 }, false },
    [MAP_LOG]                = { "log", 20, 17, { 4, 4 }, { 12, 2 }, false },
    [MAP_SQUARE]             = { "square", 20, 17, { 2, 4 }, { 2, 2 }, false },
    [MAP_RSQRT]              = { "rsqrt", 20, 17, { 19, 4 }, { 8, 2 }, false },
    [MAP_SQRT]               = { "sqrt", 20, 17, { 23, 4 }, { 10, 2 }, false },
    [MAP_INVERSE]            = { "inverse", 20, 17, { 15, 4 }, { 6, 2 }, false },
    [MAP_DIVIDE]             = { "divide", 20, 17, { 21, 4 }, { 10, 2 }, false },
    [MAP_DIVIDE_NUMBER]      = { "divide-number", 11, 20, { 8, 2 }, { 6, 2 }, false },
    [MAP_POWER]              = { "power", 11, 26, { 325, 1 }, { 312, 1 }, false },
    [MAP_REMAINDER]          = { "remainder", 11, 26, { 300, 4 }, { 133, 2 }, false },
    [MAP_REMAINDER_NUMBER]   = { "remainder-number", 11, 20, { 225, 4 }, { 93, 2 }, false },
    [MAP_MAXIMUM]            = { "maximum", 11, 58, { 4, 4 }, { 3, 2 }, false },
    [MAP_MAXIMUM_NUMBER]     = { "maximum-number", 11, 20, { 3, 4 }, { 3, 2 }, false },
    [MAP_COMPARE]            = { "compare", 11, 26, { 9, 4 }, { 14, 4 }, false },
    [MAP_COMPARE_NUMBER]     = { "compare-number", 11, 20, { 8, 4 }, { 12, 4 }, false },
    [MAP_NOT_EQUAL]          = { "not-equal", 11, 26, { 11, 4 }, { 20, 4 }, false },
    [MAP_NOT_EQUAL_NUMBER]   = { "not-equal-number", 11, 20, { 10, 4 }, { 18, 4 }, false },
    [MAP_LOGICAL]            = { "logical", 11, 26, { 5, 4 }, { 5, 4 }, false },
    [MAP_CLAMP]              = { "clamp", 11, 26, { 7, 2 }, { 4, 1 }, false },
    [MAP_SELECT]             = { "select", 11, 20, { 8, 1 }, { 5, 1 }, false },
    [MAP_SINE]               = { "sine", 20, 17, { 25, 1 }, { 2300, 1 }, false },
    [MAP_TANGENT]            = { "tangent", 20, 17, { 5700, 1 }, { 5100, 1 }, false },
    [MAP_ARC_SINE]           = { "arc-sine", 20, 17, { 106, 1 }, { 106, 1 }, false },
    [MAP_ERF]                = { "erf", 20, 17, { 13, 1 }, { 41, 1 }, false },
    [MAP_SIGN]               = { "sign", 20, 17, { 9, 4 }, { 9, 2 }, false },
    [MAP_ROUND]              = { "round", 20, 17, { 6, 4 }, { 6, 2 }, false },
    [MAP_IS_NAN]             = { "is-nan", 20, 17, { 7, 4 }, { 7, 2 }, false },
    [MAP_IS_INF]             = { "is-inf", 20, 17, { 9, 4 }, { 7, 2 }, false },
    [MAP_RELU_GRAD]          = { "relu-grad", 9, 23, { 3, 4 }, { 3, 2 }, false },
    [MAP_TANH_GRAD]          = { "tanh-grad", 9, 23, { 3, 4 }, { 3, 2 }, false },
    [MAP_SIGMOID_GRAD]       = { "sigmoid-grad", 9, 23, { 3, 4 }, { 3, 2 }, false },
    [MAP_GELU_GRAD]          = { "gelu-grad", 9, 23, { 5, 4 }, { 10, 2 }, false },
    [MAP_SWISH_GRAD]         = { "swish-grad", 9, 23, { 9, 4 }, { 15, 2 }, false },
    [MAP_INTEGER]            = { "integer", 11, 26, { 7, 1 }, { 7, 1 }, false },
    [MAP_INTEGER_NUMBER]     = { "integer-number", 11, 20, { 6, 1 }, { 6, 1 }, false },
    [MAP_INTEGER_DIVIDE]     = { "integer-divide", 11, 26, { 277, 1 }, { 277, 1 }, false },
    [MAP_INTEGER_REMAINDER]  = { "integer-remainder", 11, 26, { 292, 1 }, { 292, 1 }, false },
    [MAP_INTEGER_COMPARE]    = { "integer-compare", 11, 26, { 22, 4 }, { 22, 4 }, false },
    [MAP_INTEGER_COMPARE_NUMBER] = { "integer-compare-number", 11, 20, { 16, 4 }, { 16, 4 }, false },
    [MAP_DROPOUT]            = { "dropout", 6, 24, { 2, 4 }, { 2, 2 }, true },       /* one random generator a tile */
    [MAP_RANDOM]             = { "random", 4, 24, { 4, 4 }, { 4, 2 }, true },        /* normal numbers, scaled and shifted (poprandCycleEstimators.cpp) */
    [MAP_CAST]               = { "cast", 12, 37, { 1, 2 }, { 1, 1 }, false },        /* two halves to two floats, or back */
    [MAP_CAST_BYTES]         = { "cast-bytes", 12, 37, { 9, 4 }, { 9, 4 }, false },  /* bytes to halves */
    [MAP_CAST_ELEMENT]       = { "cast-element", 12, 37, { 2, 1 }, { 2, 1 }, false },
    [MAP_UNPACK]             = { "unpack", 0, 100, { 30, 8 }, { 30, 8 }, false },     /* a word of eight numbers; the source states an estimate */
    [MAP_FILL]               = { "fill", 0, 26, { 1, 0 }, { 1, 0 }, false },
    [MAP_COPY]               = { "copy", 0, 48, { 1, 0 }, { 1, 0 }, false },         /* 288 cycles a call */
    [MAP_REDUCE]             = { "reduce", 11, 17, { 1, 4 }, { 1, 2 }, false },
    [MAP_REDUCE_SQUARE]      = { "reduce-square", 11, 17, { 1, 4 }, { 1, 2 }, false },
    [MAP_ARG_MAX]            = { "arg-max", 9, 30, { 3, 1 }, { 3, 1 }, false },      /* popnnCycleEstimators.cpp:463 */
    [MAP_COMPARE_EXCHANGE]   = { "compare-exchange", 11, 23, { 11, 1 }, { 11, 1 }, false },   /* pairs of a top-k: values and their places */
};
_Static_assert(sizeof map_rows / sizeof *map_rows == N_MAP_OPS, "one row a vertex");

const char *map_op_name(enum map_op op) { return map_rows[op].name; }

static uint64_t loop_elements(const struct chip *chip, const struct map_loop *l, uint64_t element_bytes)
{
    if (l->elements == 0)
        return max_u64(1, chip->vector_bytes_per_cycle / element_bytes);
    return l->elements == 1 ? 1 : max_u64(1, l->elements * chip->vector_bytes_per_cycle / MAP_ROW_BYTES);
}

uint64_t map_cycles(const struct chip *chip, enum map_op op, uint64_t n, uint64_t element_bytes)
{
    const struct map_row *row = &map_rows[op];
    const struct map_loop *l = element_bytes <= 2 ? &row->half : &row->single;
    uint64_t turn = chip_turn_cycles(chip), elements = loop_elements(chip, l, element_bytes);
    if (row->shared)
        return row->start + turn * row->worker_start + l->cycles * ceil_div(n, elements);
    return row->start + turn * (row->worker_start + l->cycles * ceil_div(ceil_div(n, chip->n_workers), elements));
}

/* popops' vertices for a vector repeated along the outer dimension (popopsCycleEstimators.cpp: vectorInnerAddCoreCycles_half and
 * vectorInnerMulCoreCycles_half): each group of the vector's elements stays in registers while a worker passes over its rows. */
static const struct channel_row { uint16_t elements, once, row, group; } channel_rows[] = {
    [CHANNELS_ADD]          = { 8, 7, 2, 13 },
    [CHANNELS_MUL]          = { 4, 9, 1, 9 },
    [CHANNELS_MUL_IN_PLACE] = { 4, 9, 2, 7 },
};

/* The vertex takes halves, and a vector that is repeated and whose length is a multiple of four. Any other vector is first copied out to the
 * size of the other operand (ElementWise.cpp, binaryOpBroadcastInnerVector). */
uint64_t map_channels_cycles(const struct chip *chip, enum map_channels op, uint64_t n, uint64_t width, uint64_t element_bytes)
{
    const struct channel_row *c = &channel_rows[op];
    uint64_t rows = ceil_div(ceil_div(n, max_u64(1, width)), chip->n_workers);
    if (element_bytes > 2 || width % 4 != 0 || n < 2 * width)
        return map_cycles(chip, MAP_COPY, n, element_bytes) + map_cycles(chip, MAP_BINARY, n, element_bytes);
    uint64_t group = rows == 1 ? c->once : c->group + c->row * rows;
    return 13 + chip_turn_cycles(chip) * (24 + ceil_div(width, c->elements) * group);
}

/* A lookup costs 8 cycles if the row is on another tile, else 19 and a cycle for each element. */
uint64_t gather_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements)
{
    return 11 + chip_turn_cycles(chip) * ceil_div(8 * (n_lookups - n_in) + n_in * (19 + row_elements), chip->n_workers);
}

/* All workers go through all lookups; each owns a part of the rows. */
uint64_t scatter_add_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t row_elements)
{
    uint64_t worker = 30 + 5 * (n_lookups - n_in) + n_in * (12 + 3 * ceil_div(row_elements, 2 * chip->n_workers));
    return 11 + chip_turn_cycles(chip) * worker;
}

/* popops/PerformanceEstimation.cpp at 7eac0f2: getMultiSliceCycleEstimate and getMultiUpdateOpCycleEstimate, without sorted indices. A vector is of two
 * elements, of four bytes. */
uint64_t slice_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t elements, uint64_t element_bytes)
{
    uint64_t row = element_bytes == 1 ? 3 * ceil_div(elements, 4) : 2 * ceil_div(elements, 2);
    return chip_turn_cycles(chip) * (30 + n_in * (19 + row) + (n_lookups - n_in) * 8);
}

uint64_t slice_update_cycles(const struct chip *chip, uint64_t n_lookups, uint64_t n_in, uint64_t elements, uint64_t element_bytes)
{
    bool floats = element_bytes >= 4;
    uint64_t atoms = ceil_div(elements * element_bytes, UPDATE_ATOM_BYTES), row = (floats ? 11 : 13) + 3 * (atoms - 1);
    if (floats && (elements == 2 || elements == 4))
        row = elements == 2 ? 8 : 16;
    else if (!floats && elements == 4)
        row = 9;
    return chip_turn_cycles(chip) * (3 + (floats ? 29 : 30) + (floats ? 6 : 4) + n_in * row + (n_lookups - n_in) * 5);
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
