/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_passes.c - what vector operations are built of: a compute set of one vertex over a tile's share, exchanges, reductions.
 *
 * Data is even over the tiles, in words of 64 bits, but for an operand that a product has left unevenly. Rows of tokens lie as
 * matmuls leave them, a group of 16 channels after the other, so that a value of a whole row (its sum, its mean) meets it in pieces of 16:
 * 10 cycles a piece besides its vectors (assumed.h). Values of a channel meet its rows at full speed.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiler_internal.h"

/* What a tile holds of a tensor comes in atoms, the words of its memory: 64 bits. */
enum { ATOM_BYTES = 8 };          /* no element is larger */

struct passes passes_start(struct op_plan *out, const struct chip *chip, const struct op_plan_options *opt,
                           uint64_t element_bytes)
{
    *out = (struct op_plan){ .partials = opt->partials };
    return (struct passes){ .plan = out, .chip = chip, .n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles,
                            .element_bytes = element_bytes, .imbalance = 1 };
}

uint64_t passes_share(const struct passes *p, uint64_t n)
{
    uint64_t grain = ATOM_BYTES / p->element_bytes;
    uint64_t even = grain * ceil_div(ceil_div(n, grain), p->n_tiles);
    return n >= p->n_operand ? (uint64_t)(p->imbalance * (double)even) : even;
}

void passes_superstep(struct passes *p, uint64_t compute_cycles)
{
    p->plan->compute_cycles += compute_cycles;
    p->plan->sync_cycles += superstep_cycles(p->chip);
    p->plan->n_supersteps++;
    p->plan->code_bytes_per_tile += SUPERSTEP_CONTROL_BYTES + SUPERSTEP_STATE_BYTES;
}

void passes_map(struct passes *p, enum map_op op, uint64_t n)
{
    uint64_t share = passes_share(p, n), grain = ATOM_BYTES / p->element_bytes;
    uint64_t in_use = min_u64(p->n_tiles, ceil_div(n, grain));
    p->plan->n_tiles_used = (uint32_t)max_u64(p->plan->n_tiles_used, in_use);
    passes_superstep(p, map_cycles(p->chip, op, share, p->element_bytes));
}

/* Exchange before the next compute set: the fullest tile receives bytes_per_tile. */
void passes_exchange(struct passes *p, uint64_t bytes_per_tile)
{
    if (bytes_per_tile == 0)
        return;
    p->plan->exchange_cycles += (uint64_t)((double)bytes_per_tile / chip_exchange_bytes_per_cycle(p->chip)) + 1 + p->chip->exchange_transit_cycles;
    p->plan->exchanged_bytes += bytes_per_tile * p->n_tiles;
    p->plan->code_bytes_per_tile += exchange_code_bytes(bytes_per_tile, MOVED_PIECE_BYTES);
    p->scratch_bytes = max_u64(p->scratch_bytes, bytes_per_tile);
}

void passes_move(struct passes *p, uint64_t n_elements)
{
    passes_exchange(p, passes_share(p, n_elements) * p->element_bytes);
}

/* A scale or bias vector of n elements to the tiles that need a part of it. */
void passes_broadcast(struct passes *p, uint64_t n_vector, uint64_t n_elements)
{
    passes_exchange(p, min_u64(n_vector, passes_share(p, n_elements)) * p->element_bytes);
}

/* Adds depth partial sums (floats, one a tile) for each of n_out results. While there are more tiles than results,
 * several share a result, each adding a part of its partials as one contiguous run, and one adds what they made. */
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

static uint64_t pieces_cycles(const struct passes *p, uint64_t n)
{
    uint64_t pieces = ceil_div(passes_share(p, n), PIECE_CHANNELS);
    return chip_turn_cycles(p->chip) * PIECE_CYCLES * ceil_div(pieces, p->chip->n_workers);
}

/* A value for each channel, or for each row, to or with all of its elements. */
void passes_map_vector(struct passes *p, uint64_t n, bool by_row)
{
    passes_map(p, MAP_VECTOR, n);
    if (by_row)
        p->plan->compute_cycles += pieces_cycles(p, n);
}

/* Sums of n elements into n_out results: each tile adds what it has, then partial sums meet and are added, unless
 * a result's elements lie together (in_rows) and fit on one tile. n_quantities sums are made in the same compute sets
 * (mean and square, two gradients). */
void passes_reduction(struct passes *p, enum map_op op, bool in_rows, uint64_t n, uint64_t n_out, uint64_t n_quantities)
{
    uint64_t share = passes_share(p, n), partials = min_u64(n_out, share) * n_quantities;
    uint64_t compute = map_cycles(p->chip, op, share, p->element_bytes);
    if (n_quantities > 1)
        compute += map_cycles(p->chip, MAP_REDUCE_SQUARE, share, p->element_bytes);
    if (in_rows && n_out > 1)
        compute += n_quantities * pieces_cycles(p, n);
    passes_superstep(p, compute);
    if (in_rows && ceil_div(n, n_out) <= share)
        return;
    add_partial_sums(p, n_out * n_quantities, max_u64(2, min_u64(p->n_tiles, ceil_div(partials * p->n_tiles, n_out * n_quantities))));
}

/* ---- optimizers and gradients ------------------------------------------------------------------------------- */

/* What a pass works on: weight, accumulator and gradient are of one type; the update is as wide as the wider of the moments that it is made of. */
enum work_operand { WEIGHTS, FIRST_MOMENT, SECOND_MOMENT, UPDATE, N_WORK_OPERANDS };
struct work_pass { enum map_op op; enum work_operand to, from; };

/* Adam and LAMB as PopART builds them: accumulate m, accumulate v (of squares), updater (root, add, divide, decay), update, and the gradient's
 * accumulator is cleared. */
#define ADAM_PASSES \
    { MAP_SCALED_ADD, FIRST_MOMENT, WEIGHTS }, { MAP_SQUARE, SECOND_MOMENT, WEIGHTS }, { MAP_SCALED_ADD, SECOND_MOMENT, SECOND_MOMENT }, \
    { MAP_SQRT, SECOND_MOMENT, SECOND_MOMENT }, { MAP_SCALAR, SECOND_MOMENT, SECOND_MOMENT }, { MAP_DIVIDE, UPDATE, FIRST_MOMENT }, \
    { MAP_SCALED_ADD, UPDATE, WEIGHTS }, { MAP_SCALED_ADD, WEIGHTS, UPDATE }, { MAP_FILL, WEIGHTS, WEIGHTS }
#define MOMENTUM_PASSES \
    { MAP_SCALED_ADD, WEIGHTS, WEIGHTS }, { MAP_SCALED_ADD, FIRST_MOMENT, WEIGHTS }, { MAP_SCALED_ADD, WEIGHTS, FIRST_MOMENT }

/* Each pass in turn; reductions (norms of weight and update, or of gradient) come last. */
static const struct work_row {
    struct work_pass passes[10]; uint32_t n_passes;
    enum work_operand norms[2]; uint32_t n_norms;
    bool moved;
} work_rows[] = {
    [WORK_ACCUMULATE]   = { { { MAP_SCALED_ADD, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, true },
    [WORK_ZERO]         = { { { MAP_FILL, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, false },
    [WORK_REARRANGE]    = { { { MAP_COPY, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, true },
    [WORK_SQUARES]      = { { { MAP_COPY, WEIGHTS, WEIGHTS } }, 0, { WEIGHTS }, 1, false },
    [WORK_SCALE]        = { { { MAP_SCALAR, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, false },
    [WORK_SGD_MOMENTUM] = { { MOMENTUM_PASSES }, 3, { WEIGHTS }, 0, false },
    [WORK_LARS]         = { { MOMENTUM_PASSES }, 3, { WEIGHTS, WEIGHTS }, 2, false },
    [WORK_ADAM]         = { { ADAM_PASSES }, 9, { WEIGHTS }, 0, false },
    [WORK_LAMB]         = { { ADAM_PASSES }, 9, { WEIGHTS, UPDATE }, 2, false },
};
#undef ADAM_PASSES
#undef MOMENTUM_PASSES
_Static_assert(sizeof work_rows / sizeof *work_rows == N_VECTOR_WORKS, "one row a kind of work");

/* Moments are halves or floats. Between the two, on the mean, the first are halves and the second floats: 6 bytes of two, as BERT of MLPerf v1.1
 * has them. */
static void work_operand_bytes(uint64_t bytes[N_WORK_OPERANDS], enum data_type weights, double moment_bytes)
{
    bytes[WEIGHTS] = data_type_bytes(weights);
    bytes[FIRST_MOMENT] = moment_bytes >= 4 ? 4 : 2;
    bytes[SECOND_MOMENT] = moment_bytes > 2 ? 4 : 2;
    bytes[UPDATE] = max_u64(bytes[FIRST_MOMENT], bytes[SECOND_MOMENT]);
}

/* Of operands of two types a scaled addition has its own vertex, which takes as many elements at a time as the narrower; before any other pass the
 * narrower is cast. */
static void add_work_pass(struct passes *p, const struct work_pass *w, const uint64_t bytes[N_WORK_OPERANDS], uint64_t n)
{
    uint64_t to = bytes[w->to], from = bytes[w->from];
    bool adds = w->op == MAP_SCALED_ADD;
    p->element_bytes = max_u64(to, from);
    if (to != from)
        passes_superstep(p, map_cycles(p->chip, adds ? MAP_SCALED_ADD_MIXED : MAP_CAST, passes_share(p, n), min_u64(to, from)));
    if (w->op == MAP_COPY)
        passes_superstep(p, copy_cycles(p->chip, passes_share(p, n) * p->element_bytes));
    else if (to == from || !adds)
        passes_map(p, w->op, n);
}

void vector_work_plan(struct op_plan *out, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                      const struct chip *chip, const struct op_plan_options *opt)
{
    const struct work_row *row = &work_rows[work];
    uint64_t bytes[N_WORK_OPERANDS];
    struct passes p = passes_start(out, chip, opt, data_type_bytes(type));
    if (n_elements == 0)
        return;
    work_operand_bytes(bytes, type, moment_bytes);
    if (row->moved)                     /* a gradient lies as its pass left it, the accumulator as the weight */
        passes_move(&p, n_elements);
    for (uint32_t i = 0; i < row->n_passes; i++)
        add_work_pass(&p, &row->passes[i], bytes, n_elements);
    for (uint32_t i = 0; i < row->n_norms; i++) {
        p.element_bytes = bytes[row->norms[i]];
        passes_reduction(&p, MAP_REDUCE_SQUARE, true, n_elements, 1, 1);
    }
    out->n_tiles_used = (uint32_t)min_u64(p.n_tiles, n_elements);
    out->temp_bytes_per_tile = p.scratch_bytes;
}

/* ---- the stash ------------------------------------------------------------------------------------------------- */

/* One tensor's slice of the stash, written or read where it lies; then the index goes on: one more, and the remainder by the depth. */
static void add_stash_slice(struct passes *p, uint64_t n_elements)
{
    passes_superstep(p, dynamic_slice_cycles(&vertex_table, p->chip, ceil_div(passes_share(p, n_elements) * p->element_bytes, data_type_bytes(TYPE_FP16))));
    for (int i = 0; i < STASH_INDEX_SUPERSTEPS; i++)
        passes_map(p, MAP_BINARY_IN_PLACE, 1);
}

/* PopART (willow/src/popx/op/stashx.cpp, restorex.cpp): a dynamic update of the stash for each tensor; read back, a dynamic slice, and a
 * copy to where the tensor was, which what is computed again reads. TensorFlow's queues between stages are the same slices. What a slice costs
 * has its source in vertex_cost.c. */
void stash_plan(struct op_plan *write, struct op_plan *read, const struct stash *s, const struct chip *chip, const struct op_plan_options *opt)
{
    uint64_t n = s->n_bytes / data_type_bytes(TYPE_FP16) / max_u64(1, s->n_tensors);
    uint64_t kept_bytes = data_type_bytes(s->fp8 ? TYPE_FP8 : TYPE_FP16);
    struct passes in = passes_start(write, chip, opt, kept_bytes), out = passes_start(read, chip, opt, kept_bytes);
    for (uint64_t i = 0; i < s->n_tensors && n > 0; i++) {
        if (s->fp8)
            passes_map(&in, MAP_CAST, n);
        add_stash_slice(&in, n);
        add_stash_slice(&out, n);
        passes_superstep(&out, s->fp8 ? map_cycles(chip, MAP_CAST, passes_share(&out, n), kept_bytes) : copy_cycles(chip, passes_share(&out, n) * kept_bytes));
    }
}
