/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_recurrence.c - LSTM and GRU: a matmul (a GRU that resets before it: two) and ten small compute sets a time
 * step, one step after the other, as popnn at 7eac0f2 builds them.
 */
#include "system-model/compiler/conv.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

static void add_repeated_plan(struct op_plan *to, const struct op_plan *p, uint64_t times)
{
    to->compute_cycles += times * p->compute_cycles;
    to->exchange_cycles += times * p->exchange_cycles;
    to->sync_cycles += times * p->sync_cycles;
    to->rearrange_cycles += times * p->rearrange_cycles;
    to->exchanged_bytes += times * p->exchanged_bytes;
    to->n_supersteps += (uint32_t)(times * p->n_supersteps);
    to->mac += times * p->mac;
    to->padded_mac += times * p->padded_mac;
    op_code_add(&to->code, &p->code);
    to->temp_bytes_per_tile = max_u64(to->temp_bytes_per_tile, p->temp_bytes_per_tile);
    to->n_tiles_used = (uint32_t)max_u64(to->n_tiles_used, p->n_tiles_used);
    if (p->vertex != VERTEX_NONE) {
        to->vertex = p->vertex;
        to->split = p->split;
        to->partials = p->partials;
    }
}

/* The four gates and the cell of one step; units is batch x hidden. */
static void lstm_cell(struct passes *p, uint64_t units, bool backward)
{
    passes_move(p, 4 * units);            /* the matmul's output, sorted by gate */
    passes_map(p, MAP_VECTOR, 4 * units);
    if (!backward) {
        passes_map(p, MAP_SIGMOID, 3 * units);
        passes_map(p, MAP_TANH_IN_PLACE, units);
        passes_map(p, MAP_BINARY, units);
        passes_map(p, MAP_BINARY, units);
        passes_map(p, MAP_BINARY_IN_PLACE, units);
        passes_map(p, MAP_TANH_IN_PLACE, units);
        passes_map(p, MAP_BINARY, units);
        passes_map(p, MAP_COPY, units);    /* copies the result into the sequence */
        return;
    }
    passes_map(p, MAP_TANH_IN_PLACE, units);
    passes_map(p, MAP_BINARY, 2 * units);
    passes_map(p, MAP_TANH_GRAD, units);
    passes_map(p, MAP_BINARY_IN_PLACE, units);
    passes_map(p, MAP_BINARY, 4 * units);
    passes_map(p, MAP_SIGMOID_GRAD, 3 * units);
    passes_map(p, MAP_TANH_GRAD, units);
    passes_map(p, MAP_COPY, 4 * units);
}

static void add_matmul(struct passes *p, const struct vector_op *w, uint64_t rows, uint64_t inner, uint64_t columns,
                       enum op_pass pass, uint64_t times)
{
    struct conv_shape s = matmul_conv_shape(1, (uint32_t)rows, (uint32_t)inner, (uint32_t)columns, w->x->type, pass);
    struct op_plan plan;
    cached_conv_plan(&plan, &s, p->chip, w->opt, w->cache);
    add_repeated_plan(p->plan, &plan, times);
}

/* Update and reset, the candidate, and what is kept of the old state: the passes of the equations, as popnn builds
 * them. */
static void gru_cell(struct passes *p, uint64_t units, bool backward)
{
    passes_move(p, 3 * units);
    passes_map(p, MAP_VECTOR, 3 * units);
    if (!backward) {
        passes_map(p, MAP_SIGMOID, 2 * units);
        passes_map(p, MAP_BINARY, units);          /* the reset gate times the state, or times its product */
        passes_map(p, MAP_BINARY_IN_PLACE, units);
        passes_map(p, MAP_TANH_IN_PLACE, units);
        passes_map(p, MAP_BINARY, units);          /* candidate less state, times update, added to the candidate */
        passes_map(p, MAP_BINARY, units);
        passes_map(p, MAP_BINARY_IN_PLACE, units);
        passes_map(p, MAP_COPY, units);
        return;
    }
    passes_map(p, MAP_BINARY, 3 * units);
    passes_map(p, MAP_TANH_GRAD, units);
    passes_map(p, MAP_BINARY, 2 * units);
    passes_map(p, MAP_SIGMOID_GRAD, 2 * units);
    passes_map(p, MAP_BINARY_IN_PLACE, units);
    passes_map(p, MAP_COPY, 4 * units);
}

/* The products of one step. A state that is reset before its product has to wait for its gate. */
static void add_step_products(struct passes *p, const struct vector_op *w, uint64_t batch, uint64_t extra, uint64_t gates, uint64_t steps)
{
    uint64_t hidden = w->forward->at->hidden, all = gates * hidden, inner = hidden + extra;
    bool forward = w->op->pass == PASS_FORWARD;
    if (w->forward->at->reset_before) {
        uint64_t first = forward ? inner : 2 * hidden, wide = forward ? 2 * hidden : inner;
        add_matmul(p, w, batch, first, wide, PASS_FORWARD, steps);
        add_matmul(p, w, batch, forward ? inner : hidden, forward ? hidden : inner, PASS_FORWARD, steps);
        return;
    }
    add_matmul(p, w, batch, forward ? inner : all, forward ? all : inner, PASS_FORWARD, steps);
}

void plan_recurrence(struct passes *p, const struct vector_op *w)
{
    bool lstm = w->op->kind == OP_LSTM, forward = w->op->pass == PASS_FORWARD, input_wanted = forward || w->op->n_outputs > 1;
    uint64_t batch = w->x->dims[0], steps = w->x->dims[1], in = w->x->dims[2], hidden = w->forward->at->hidden, gates = lstm ? 4 : 3;
    if (w->op->pass == PASS_BACKWARD_WEIGHT) {
        add_matmul(p, w, in + hidden, batch * steps, gates * hidden, PASS_BACKWARD_WEIGHT, 1);
        passes_reduction(p, MAP_REDUCE, false, batch * steps * gates * hidden, gates * hidden, 1);
        return;
    }
    /* The inputs of all steps are multiplied at once if the products fit in a tenth of tile memory. */
    uint64_t products = ceil_div(batch * steps * gates * hidden * p->element_bytes, p->n_tiles);
    bool at_once = 10 * products <= p->chip->tile_memory_bytes;
    if (at_once && input_wanted) {
        if (forward)
            add_matmul(p, w, batch * steps, in, gates * hidden, PASS_FORWARD, 1);
        else
            add_matmul(p, w, batch * steps, gates * hidden, in, PASS_BACKWARD_DATA, 1);
        p->scratch_bytes = products;
    }
    add_step_products(p, w, batch, at_once || !input_wanted ? 0 : in, gates, steps);
    struct op_plan cell = { 0 };
    struct passes q = *p;
    q.plan = &cell;
    (lstm ? lstm_cell : gru_cell)(&q, batch * hidden, !forward);
    add_repeated_plan(p->plan, &cell, steps);
}
