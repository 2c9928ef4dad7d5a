/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_work.c - work that is not in the graph: accumulation, optimizers (optimizers.c has their passes), what moves a
 * gradient, and the stash.
 *
 * The cycles of a pass over weights follow from the types of its operands.
 * Limits: weight, accumulator and gradient have one type, and moments are halves or floats.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"

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
    if (row->moved)                     /* a gradient lies where its pass left it, its accumulator where the weight lies */
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

void copy_plan(struct op_plan *out, uint64_t n_bytes, const struct chip *chip, const struct op_plan_options *opt)
{
    struct passes p = passes_start(out, chip, opt, 1);
    if (n_bytes > 0)
        passes_map(&p, MAP_COPY, n_bytes);
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
