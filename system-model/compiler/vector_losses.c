/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_losses.c - losses of classes and of transducers, pass by pass as PopART and PopTorch make them.
 *
 *     PopART        First comes the softmax. The likelihood encodes labels as rows, multiplies, and adds up the rows. Its gradient is the
 *                   probabilities less the labels, times the incoming gradient (PopART d2f20d78 willow/src/popx/op/softmaxx.cpp, NlllWithSoftmaxGradDirect).
 *     PopTorch      First comes the log-softmax of a copy of the scores, then the same likelihood. Its gradient encodes the labels again, negates
 *                   and scales them, and masks the rows that are ignored. The softmax of a second copy, times the sum of each row, is then
 *                   subtracted (poptorch/source/popart_canonicalization/LossOps.cpp:144; PopART nllx.cpp, logsoftmaxx.cpp).
 * Both work where the product has left the scores. Labels are encoded evenly over the tiles and then brought there (popops lib/popops/Encoding.cpp).
 * Left out: sums of one number for each row.
 */
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* ---- classes --------------------------------------------------------------------------------------------------- */

/* The cost of one-hot labels: zeros, a one for each label of a tile, and the exchange to where the scores are. A tile has a vector of labels, or more
 * (Encoding.cpp:60-85). */
static void add_labels(struct passes *p, uint64_t n, uint64_t rows)
{
    struct passes even = *p;
    uint64_t lanes = p->chip->vector_bytes_per_cycle / p->element_bytes, grains = ceil_div(ceil_div(rows, lanes), p->n_tiles);
    even.imbalance = 1;
    passes_map(&even, MAP_FILL, n);
    passes_superstep(p, one_hot_cycles(grains * lanes));
    if (p->groups)
        passes_superstep(p, regroup_cycles(&vertex_table, p->chip, passes_share(&even, n) * p->element_bytes));
    passes_move(p, n);
}

static void add_clone(struct passes *p, uint64_t n)
{
    uint64_t bytes = passes_share(p, n) * p->element_bytes;
    passes_superstep(p, copy_cycles(p->chip, bytes));
    p->scratch_bytes = max_u64(p->scratch_bytes, bytes);
}

static void add_likelihood(struct passes *p, uint64_t n, uint64_t rows)
{
    add_labels(p, n, rows);
    passes_map(p, MAP_BINARY_IN_PLACE, n);
    passes_reduction(p, MAP_REDUCE, true, n, rows, 1);
}

static void add_log_softmax_gradient(struct passes *p, uint64_t n, uint64_t rows)
{
    add_labels(p, n, rows);
    passes_map(p, MAP_SCALAR, n);
    passes_map_rows(p, n);
    passes_map(p, MAP_SCALAR, n);
    add_clone(p, n);
    passes_softmax(p, n, rows);
    passes_reduction(p, MAP_REDUCE, true, n, rows, 1);
    passes_map_rows(p, n);
    passes_map(p, MAP_BINARY_IN_PLACE, n);
}

void plan_cross_entropy(struct passes *p, const struct vector_op *w)
{
    uint64_t rows = w->n / w->last;
    if (w->backward && w->opt->log_softmax) {
        add_log_softmax_gradient(p, w->n, rows);
    } else if (w->backward) {
        passes_map(p, MAP_BINARY_IN_PLACE, w->n);
        passes_map(p, MAP_SCALAR, w->n);
    } else {
        if (w->opt->log_softmax)
            add_clone(p, w->n);
        passes_softmax(p, w->n, rows);
        add_likelihood(p, w->n, rows);
    }
}

/* ---- transducers ----------------------------------------------------------------------------------------------- */

/* One step along a lattice's diagonals: its cells go to the next tile, and one vertex takes each. */
static struct op_plan lattice_step(const struct passes *p, uint64_t cells)
{
    struct op_plan one = { 0 };
    struct passes q = *p;
    uint64_t width = ceil_div(cells, p->n_tiles);
    q.plan = &one;
    passes_exchange(&q, 4 * width);
    passes_superstep(&q, transducer_cell_cycles(p->chip, width));
    return one;
}

/* Logits [batch, time, labels + 1, vocabulary]. The forward variables run along the lattice's diagonals, time + labels steps one after the
 * other, and then the backward variables. Logits may come in slices of time (at.pieces). The lattice is summed once for all slices,
 * but each slice runs twice, forward and again before its backward pass. So each run is charged half of the slice's share of the steps. */
void plan_transducer_loss(struct passes *p, const struct vector_op *w)
{
    const uint64_t *d = w->x->dims;
    assert(w->x->n_dims == 4);
    uint64_t slices = max_u64(1, w->forward->at->pieces), batch = d[0], time = d[1] * slices, labels = d[2];
    if (w->backward) {
        passes_map(p, MAP_EXP, w->n);
        passes_map(p, MAP_BINARY_IN_PLACE, w->n);
        return;
    }
    passes_softmax(p, w->n, batch * d[1] * labels);
    passes_map(p, MAP_LOG, w->n);
    uint64_t steps = 2 * (time + labels);
    if (slices > 1)
        steps = ceil_div(steps, 2 * slices);
    struct op_plan one = lattice_step(p, batch * min_u64(time, labels));
    p->plan->compute_cycles += steps * one.compute_cycles;
    p->plan->exchange_cycles += steps * one.exchange_cycles;
    p->plan->sync_cycles += steps * one.sync_cycles;
    p->plan->exchanged_bytes += steps * one.exchanged_bytes;
    p->plan->n_supersteps += (uint32_t)steps;
    op_code_add(&p->plan->code, &one.code);
}
