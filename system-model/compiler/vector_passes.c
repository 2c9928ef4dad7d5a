/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_passes.c - the building blocks of vector operations: a compute set of one vertex over a tile's share,
 * exchanges, reductions; and work that is not in the graph, made of them: accumulation, optimizers (optimizers.c has their
 * passes), what moves a gradient, and the stash.
 *
 * Data is even over the tiles, in words of 64 bits, except for an operand that a product has left unevenly. Rows of
 * tokens are laid out as matmuls leave them, one group of 16 channels after the other, so that a value of a whole row
 * (its sum, its mean) meets the row in pieces of 16: 10 cycles a piece in addition to its vectors (assumed.h). Values
 * of a channel meet its rows at full speed.
 *
 * The cycles of a pass over weights follow from the types of its operands.
 * Limits: weight, accumulator and gradient have one type, and moments are halves or floats.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiler_internal.h"

/* A tile holds a tensor in atoms, the words of its memory: 64 bits. */
enum { ATOM_BYTES = 8 };          /* at least as large as any element */

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
}

void passes_map(struct passes *p, enum map_op op, uint64_t n)
{
    uint64_t share = passes_share(p, n), grain = ATOM_BYTES / p->element_bytes;
    uint64_t in_use = min_u64(p->n_tiles, ceil_div(n, grain));
    p->plan->n_tiles_used = (uint32_t)max_u64(p->plan->n_tiles_used, in_use);
    passes_superstep(p, map_cycles(p->chip, op, share, p->element_bytes));
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

static uint64_t pieces_cycles(const struct passes *p, uint64_t n)
{
    uint64_t pieces = ceil_div(passes_share(p, n), PIECE_CHANNELS);
    return chip_turn_cycles(p->chip) * PIECE_CYCLES * ceil_div(pieces, p->chip->n_workers);
}

void passes_map_vector(struct passes *p, uint64_t n, bool by_row)
{
    passes_map(p, MAP_VECTOR, n);
    if (by_row)
        p->plan->compute_cycles += pieces_cycles(p, n);
}

/* Each tile adds its own elements; then partial sums meet and are added, unless the elements of a result are
 * contiguous (in_rows) and fit on one tile. */
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

/* ---- optimizers and gradients ---------------------------------------------------------------------------------- */

static const struct work_cost gradient_costs[] = {
    [WORK_ACCUMULATE]   = { { { MAP_SCALED_ADD, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, true },
    [WORK_ZERO]         = { { { MAP_FILL, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, false },
    [WORK_REARRANGE]    = { { { MAP_COPY, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, true },
    [WORK_SQUARES]      = { { { MAP_COPY, WEIGHTS, WEIGHTS } }, 0, { WEIGHTS }, 1, false },
    [WORK_SCALE]        = { { { MAP_SCALAR, WEIGHTS, WEIGHTS } }, 1, { WEIGHTS }, 0, false },
};
_Static_assert(sizeof gradient_costs / sizeof *gradient_costs == N_GRADIENT_WORKS, "one row a kind of work");

/* Moments are halves or floats. A size between the two is the sum of a half for the first moment and a float for the
 * second, as BERT of MLPerf v1.1 has them. */
static void work_operand_bytes(uint64_t bytes[N_WORK_OPERANDS], enum data_type weights, double moment_bytes)
{
    bytes[WEIGHTS] = data_type_bytes(weights);
    bytes[FIRST_MOMENT] = moment_bytes >= 4 ? 4 : 2;
    bytes[SECOND_MOMENT] = moment_bytes > 2 ? 4 : 2;
    bytes[UPDATE] = max_u64(bytes[FIRST_MOMENT], bytes[SECOND_MOMENT]);
}

/* A scaled addition of operands of two types has its own vertex, which takes as many elements at a time as the
 * narrower type. Before any other pass the narrower operand is cast. */
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
    const struct work_cost *row = work < N_GRADIENT_WORKS ? &gradient_costs[work] : optimizer_rule(work)->cost;
    uint64_t bytes[N_WORK_OPERANDS];
    struct passes p = passes_start(out, chip, opt, data_type_bytes(type));
    if (n_elements == 0)
        return;
    work_operand_bytes(bytes, type, moment_bytes);
    if (row->moved)                     /* a gradient is where its pass left it, its accumulator where the weight is */
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

/* Writes or reads one tensor's slice of the stash in place; then the index is advanced: incremented, and its
 * remainder taken by the depth. */
static void add_stash_slice(struct passes *p, uint64_t n_elements)
{
    passes_superstep(p, dynamic_slice_cycles(&vertex_table, p->chip, ceil_div(passes_share(p, n_elements) * p->element_bytes, data_type_bytes(TYPE_FP16))));
    for (int i = 0; i < STASH_INDEX_SUPERSTEPS; i++)
        passes_map(p, MAP_BINARY_IN_PLACE, 1);
}

/* PopART (willow/src/popx/op/stashx.cpp, restorex.cpp) does a dynamic update of the stash for each tensor; reading
 * back is a dynamic slice, and a copy to the tensor's old place, which recomputation reads. TensorFlow's queues between
 * stages are the same slices. The cost of a slice has its source in vertex_cost.c. */
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
