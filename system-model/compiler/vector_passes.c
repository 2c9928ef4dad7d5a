/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_passes.c - the building blocks of vector operations: a compute set of one vertex over a tile's share,
 * exchanges, reductions.
 *
 * Data is even over the tiles, in words of 64 bits, except for an operand that a product has left unevenly. What a
 * product made, and what follows from it element by element, is laid out as products leave it: one group of 16 channels after the other
 * (assumed.h), so that a value of a whole row (its sum, its mean) meets the row in pieces of 16, and a vector over the
 * channels in as many groups as the tile has. Other rows are whole. Each row or piece has a price besides its vectors.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"
#include "system-model/compiler/passes.h"

/* A tile holds a tensor in atoms, the words of its memory: 64 bits. */
enum { ATOM_BYTES = 8 };          /* an atom is at least as large as any element */

struct passes passes_start(struct op_plan *out, const struct chip *chip, const struct op_plan_options *opt,
                           uint64_t element_bytes)
{
    *out = (struct op_plan){ .partials = opt->partials };
    return (struct passes){ .plan = out, .chip = chip, .n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles,
                            .element_bytes = element_bytes, .imbalance = 1, .room_bytes = conv_bound_bytes(chip, opt) };
}

uint64_t passes_share(const struct passes *p, uint64_t n)
{
    uint64_t grain = ATOM_BYTES / p->element_bytes;
    uint64_t atoms = ceil_div(n, grain), even = grain * ceil_div(atoms, p->n_tiles);
    return n >= p->n_operand ? min_u64((uint64_t)(p->imbalance * (double)even), grain * atoms) : even;
}

void passes_superstep(struct passes *p, uint64_t compute_cycles)
{
    p->plan->compute_cycles += compute_cycles;
    p->plan->sync_cycles += superstep_cycles(p->chip);
    p->plan->n_supersteps++;
    p->plan->code.supersteps++;
    p->plan->code.state_bytes += SUPERSTEP_STATE_BYTES;
}

/* One worker's expression of three integers takes 20 cycles and a few (popops/ExpressionGenerator.cpp). */
enum { CONTROL_CYCLES = 40 };

void passes_control(struct passes *p, uint64_t n_sets)
{
    for (uint64_t i = 0; i < n_sets; i++)
        passes_superstep(p, CONTROL_CYCLES);
}

static void note_tiles(struct passes *p, uint64_t n)
{
    uint64_t in_use = min_u64(p->n_tiles, ceil_div(n, ATOM_BYTES / p->element_bytes));
    p->plan->n_tiles_used = (uint32_t)max_u64(p->plan->n_tiles_used, in_use);
}

/* Integers have vertices of their own, which take one element at a time; they need no rounding. */
static enum map_op of_integers(enum map_op op)
{
    static const enum map_op integer[N_MAP_OPS] = {
        [MAP_BINARY] = MAP_INTEGER, [MAP_BINARY_IN_PLACE] = MAP_INTEGER, [MAP_MAXIMUM] = MAP_INTEGER, [MAP_SCALAR] = MAP_INTEGER_NUMBER,
        [MAP_VECTOR] = MAP_INTEGER_NUMBER, [MAP_MAXIMUM_NUMBER] = MAP_INTEGER_NUMBER, [MAP_DIVIDE] = MAP_INTEGER_DIVIDE,
        [MAP_DIVIDE_NUMBER] = MAP_INTEGER_DIVIDE, [MAP_REMAINDER] = MAP_INTEGER_REMAINDER, [MAP_REMAINDER_NUMBER] = MAP_INTEGER_REMAINDER,
        [MAP_COMPARE] = MAP_INTEGER_COMPARE, [MAP_NOT_EQUAL] = MAP_INTEGER_COMPARE, [MAP_COMPARE_NUMBER] = MAP_INTEGER_COMPARE_NUMBER,
    };
    return integer[op] ? integer[op] : op;
}

void passes_map(struct passes *p, enum map_op op, uint64_t n)
{
    if (p->integers && op == MAP_ROUND)
        return;
    note_tiles(p, n);
    passes_superstep(p, map_cycles(p->chip, p->integers ? of_integers(op) : op, passes_share(p, n), p->element_bytes));
}

void passes_exchange(struct passes *p, uint64_t bytes_per_tile)
{
    if (bytes_per_tile == 0)
        return;
    p->plan->exchange_cycles += (uint64_t)((double)bytes_per_tile / chip_exchange_bytes_per_cycle(p->chip)) + 1 + p->chip->exchange_transit_cycles;
    p->plan->exchanged_bytes += bytes_per_tile * p->n_tiles;
    p->plan->code.exchanges++;
    p->plan->code.pieces += (uint32_t)ceil_div(bytes_per_tile, MOVED_PIECE_BYTES);
    p->scratch_bytes = max_u64(p->scratch_bytes, bytes_per_tile);
}

void passes_move(struct passes *p, uint64_t n_elements)
{
    passes_exchange(p, passes_share(p, n_elements) * p->element_bytes);
}

void passes_broadcast(struct passes *p, uint64_t n_vector, uint64_t n_elements)
{
    passes_exchange(p, min_u64(n_vector, passes_share(p, n_elements)) * p->element_bytes);
}

/* Adds `depth` partial sums (floats, one from each tile) for each of n_out results. While there are more tiles than
 * results, several tiles share a result: each adds a contiguous run of its partials, and one adds their sums. */
static void add_partial_sums(struct passes *p, uint64_t n_out, uint64_t depth)
{
    uint64_t w = p->chip->n_workers, turn = chip_turn_cycles(p->chip);
    while (depth > 1) {
        uint64_t sharing = max_u64(1, min_u64(p->n_tiles / n_out, ceil_div(depth, 2 * w)));
        uint64_t mine = ceil_div(n_out * sharing, p->n_tiles), run = ceil_div(depth, sharing);
        passes_exchange(p, mine * run * 4);
        passes_superstep(p, map_cycles(p->chip, MAP_REDUCE, mine * run, 4) + turn * FURTHER_SUM_CYCLES * (ceil_div(mine, w) - 1));
        depth = sharing;
    }
}

/* The busiest worker's rows or pieces of rows, among n elements. */
static uint64_t worker_rows(const struct passes *p, uint64_t n)
{
    uint64_t share = passes_share(p, n), run = p->groups ? PIECE_CHANNELS : max_u64(1, min_u64(p->row, share));
    return ceil_div(ceil_div(share, run), p->chip->n_workers);
}

/* Combines n elements with values that each serve one piece, of a row or of a group. */
static void map_pieces(struct passes *p, uint64_t n)
{
    passes_map(p, MAP_VECTOR, n);
    p->plan->compute_cycles += chip_turn_cycles(p->chip) * BROADCAST_ROW_CYCLES * worker_rows(p, n);
}

/* Combines n elements with a vector that repeats along them. */
static void map_vector(struct passes *p, enum map_channels op, uint64_t n)
{
    uint64_t width = p->groups ? p->groups * PIECE_CHANNELS : p->row;
    note_tiles(p, n);
    passes_superstep(p, map_channels_cycles(p->chip, op, passes_share(p, n), width, p->element_bytes));
}

void passes_map_rows(struct passes *p, uint64_t n)
{
    if (p->turned)
        map_vector(p, CHANNELS_ADD, n);
    else
        map_pieces(p, n);
}

void passes_map_channels(struct passes *p, enum map_channels op, uint64_t n)
{
    if (p->turned)
        map_pieces(p, n);
    else
        map_vector(p, op, n);
}

/* Each tile adds its own elements; then partial sums meet and are added, unless the elements of a result are
 * contiguous (in_rows) and fit on one tile. */
void passes_reduction(struct passes *p, enum map_op op, bool in_rows, uint64_t n, uint64_t n_out, uint64_t n_quantities)
{
    uint64_t share = passes_share(p, n), partials = min_u64(n_out, share) * n_quantities;
    uint64_t compute = map_cycles(p->chip, op, share, p->element_bytes);
    if (n_quantities > 1)
        compute += map_cycles(p->chip, MAP_REDUCE_SQUARE, share, p->element_bytes);
    if (in_rows && n_out > 1 && !p->turned)
        compute += n_quantities * chip_turn_cycles(p->chip) * REDUCED_ROW_CYCLES * worker_rows(p, n);
    passes_superstep(p, compute);
    if (in_rows && ceil_div(n, n_out) <= share)
        return;
    add_partial_sums(p, n_out * n_quantities, max_u64(2, min_u64(p->n_tiles, ceil_div(partials * p->n_tiles, n_out * n_quantities))));
}

void passes_softmax(struct passes *p, uint64_t n, uint64_t rows)
{
    passes_reduction(p, MAP_REDUCE, true, n, rows, 1);
    passes_broadcast(p, rows, n);
    passes_map_rows(p, n);
    passes_map(p, MAP_EXP, n);
    passes_reduction(p, MAP_REDUCE, true, n, rows, 1);
    passes_map(p, MAP_INVERSE, rows);
    passes_broadcast(p, rows, n);
    passes_map_rows(p, n);
}

/* ---- a round of a framework's loop (device_loop.c) --------------------------------------------------------------- */

uint64_t carried_tile_bytes(uint64_t n_bytes, uint64_t n_tiles)
{
    enum { WORD_BYTES = 8 };
    return ceil_div(n_bytes, n_tiles * WORD_BYTES) * WORD_BYTES;
}

void passes_loop_round(struct passes *p, const struct carried *c)
{
    passes_control(p, 1);
    passes_exchange(p, c->moved_bytes);
    if (c->apart_bytes)
        passes_superstep(p, rearrange_cycles(&vertex_table, p->chip, c->apart_bytes, c->element_bytes, false));
    if (c->kept_bytes)
        passes_superstep(p, copy_cycles(p->chip, c->kept_bytes));
    passes_superstep(p, copy_cycles(p->chip, c->kept_bytes + c->moved_bytes));
    passes_control(p, 1);
}
