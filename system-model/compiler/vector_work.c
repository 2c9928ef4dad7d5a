/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_work.c - work that is not in the graph, as passes: accumulation, optimizers, what moves a gradient, and the stash.
 *
 * Which passes an optimizer has, and on which operands, is as PopART builds it; what a pass takes follows from the types of its operands.
 * Limits: weight, accumulator and gradient are of one type, and moments of halves or floats.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/vector_internal.h"

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
static void operand_bytes(uint64_t bytes[N_WORK_OPERANDS], enum data_type weights, double moment_bytes)
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
        add_superstep(p, map_cycles(p->chip, adds ? MAP_SCALED_ADD_MIXED : MAP_CAST, tile_share(p, n), min_u64(to, from)));
    if (w->op == MAP_COPY)
        add_superstep(p, copy_cycles(p->chip, tile_share(p, n) * p->element_bytes));
    else if (to == from || !adds)
        add_map(p, w->op, n);
}

void vector_work_plan(struct op_plan *out, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                      const struct chip *chip, const struct op_plan_options *opt)
{
    const struct work_row *row = &work_rows[work];
    uint64_t bytes[N_WORK_OPERANDS];
    struct passes p = passes_start(out, chip, opt, data_type_bytes(type));
    if (n_elements == 0)
        return;
    operand_bytes(bytes, type, moment_bytes);
    if (row->moved)                     /* a gradient lies as its pass left it, the accumulator as the weight */
        add_moved(&p, n_elements);
    for (uint32_t i = 0; i < row->n_passes; i++)
        add_work_pass(&p, &row->passes[i], bytes, n_elements);
    for (uint32_t i = 0; i < row->n_norms; i++) {
        p.element_bytes = bytes[row->norms[i]];
        add_reduction(&p, MAP_REDUCE_SQUARE, true, n_elements, 1, 1);
    }
    out->n_tiles_used = (uint32_t)min_u64(p.n_tiles, n_elements);
    out->temp_bytes_per_tile = p.scratch_bytes;
}

/* ---- the stash ------------------------------------------------------------------------------------------------- */

/* One tensor's slice of the stash, written or read where it lies; then the index goes on: one more, and the remainder by the depth. */
static void add_stash_slice(struct passes *p, uint64_t n_elements)
{
    add_superstep(p, dynamic_slice_cycles(&vertex_table, p->chip, ceil_div(tile_share(p, n_elements) * p->element_bytes, data_type_bytes(TYPE_FP16))));
    for (int i = 0; i < STASH_INDEX_SUPERSTEPS; i++)
        add_map(p, MAP_BINARY_IN_PLACE, 1);
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
            add_map(&in, MAP_CAST, n);
        add_stash_slice(&in, n);
        add_stash_slice(&out, n);
        add_superstep(&out, s->fp8 ? map_cycles(chip, MAP_CAST, tile_share(&out, n), kept_bytes) : copy_cycles(chip, tile_share(&out, n) * kept_bytes));
    }
}
