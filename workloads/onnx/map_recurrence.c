/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_recurrence.c - LSTM and GRU, direction by direction, with the file's weights; and plain RNNs.
 *
 * PopLibs has no layer for a plain RNN that its frameworks call. It is written as its steps: a product of all inputs
 * at once, then a product, a sum and a function for each step.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_passes.h"
#include <assert.h>

enum { MOST_RNN_STEPS = 1000 };             /* the most steps of a plain RNN */

static bool goes_back(const struct mapper *p, uint64_t direction)
{
    return direction == 1 || text_is(onnx_string(p->n, "direction", "forward", p->m->arena), "reverse");
}

/* Input i for one direction: a matrix of [directions, gates x hidden, width], or both biases of [directions, 2 x gates
 * x hidden]. */
static uint32_t gate_weight_of(struct mapper *p, uint32_t i, uint64_t direction, const uint64_t *dims, bool lstm)
{
    uint32_t weight = map_weight(p, NO_ID, ONNX_AS_IS, i < 3 ? 2 : 1, dims);
    struct onnx_source *s = map_source(p, weight, ONNX_GATES, NO_ID);
    s->values[0] = map_in_id(p, i);
    s->number = (double)direction;
    s->turned = lstm;
    return weight;
}

/* Row `direction` of an initial state [directions, batch, hidden]; NO_ID if none is given, or zeros. */
static uint32_t initial_state(struct mapper *p, uint32_t i, uint64_t direction)
{
    const struct onnx_value *v = map_in(p, i);
    bool zeros = v && v->known;
    for (uint64_t k = 0; zeros && k < onnx_elements(v); k++)
        zeros = v->known[k] == 0;
    if (!v || zeros || !p->o->inference)
        return NO_ID;
    uint32_t x = map_as_plain(p, map_in_id(p, i));
    x = v->dims[0] == 1 ? x : map_emit1(p, OP_SLICE, x, WITH(.axis = 0, .begin = direction, .length = 1));
    return VIEW(p, x, v->dims[1], v->dims[2]);
}

/* The operation for one direction, with its input weights, recurrent weights, biases and, where they are given, initial states. */
static uint32_t one_direction(struct mapper *p, uint32_t x, uint64_t width, uint64_t hidden, uint64_t direction)
{
    bool lstm = onnx_is(p->n, ONNX_OP_LSTM);
    uint64_t gates = lstm ? 4 : 3;
    uint64_t biases = 2 * gates * hidden;
    uint32_t in[6] = { x, NO_ID, NO_ID, map_in(p, 3) ? NO_ID : map_filled(p, 0, biases), initial_state(p, 5, direction), lstm ? initial_state(p, 6, direction) : NO_ID };
    uint32_t n_in = in[4] == NO_ID && in[5] == NO_ID ? 4 : lstm ? 6 : 5;
    in[1] = gate_weight_of(p, 1, direction, (uint64_t[]){ width, gates * hidden }, lstm);
    in[2] = gate_weight_of(p, 2, direction, (uint64_t[]){ hidden, gates * hidden }, lstm);
    if (map_in(p, 3))
        in[3] = gate_weight_of(p, 3, direction, &biases, lstm);
    bool before = !lstm && !onnx_flag(p->n, "linear_before_reset", false);
    for (uint32_t i = 4; i < n_in; i++)     /* an initial state that the node leaves out is zeros */
        in[i] = in[i] == NO_ID ? VIEW(p, map_filled(p, 0, map_in(p, 0)->dims[1] * hidden), map_in(p, 0)->dims[1], hidden) : in[i];
    return map_emit(p, lstm ? OP_LSTM : OP_GRU, in, n_in,
                WITH(.hidden = (uint32_t)hidden, .reset_before = before, .with_cell = map_is_wanted(p, 2),
                   .from_last = goes_back(p, direction)));
}

/* True if the value is a constant or an input, perhaps repeated for each sample or viewed in other dimensions. It usually is zeros. */
static bool is_only_moved(const struct mapper *p, uint32_t value)
{
    for (;;) {
        const struct onnx_value *v = &p->m->values[value];
        const struct onnx_node *n = v->constant || v->producer == NO_ID ? NULL : &p->m->nodes[v->producer];
        if (!onnx_has(n, ONNX_VIEWS | ONNX_CUTS | ONNX_REPEATS) || n->n_inputs == 0 || n->inputs[0] == NO_ID)
            return !n;
        value = n->inputs[0];
    }
}

/* The initial state comes from another trained part of the model, which needs a gradient in training. */
static bool has_trained_state(const struct mapper *p)
{
    bool *depends = ARENA_ARRAY(p->m->arena, bool, p->g->n_tensors), any = false;
    map_dependent(depends, p->g, ROLE_WEIGHT);
    for (uint32_t i = 5; i < 7; i++)
        any |= map_in_id(p, i) != NO_ID && p->of[map_in_id(p, i)].tensor != NO_ID && !is_only_moved(p, map_in_id(p, i)) && depends[p->of[map_in_id(p, i)].tensor];
    return any;
}

static bool is_state(const struct onnx_value *v, uint64_t directions, uint64_t batch, uint64_t hidden)
{
    return v->n_dims == 3 && v->dims[0] == directions && v->dims[1] == batch && v->dims[2] == hidden;
}

static bool check_recurrence(struct mapper *p)
{
    const struct onnx_value *r = map_in(p, 2);
    if (!map_in(p, 1)->constant || !r->constant || (map_in(p, 3) && !map_in(p, 3)->constant) || r->dims[0] > 2)
        return MAP_REFUSE(p, "want weights that stand in the file");
    if (onnx_flag(p->n, "layout", false))
        return MAP_REFUSE(p, "want layout 0: time first");
    if (map_is_wanted(p, 2) && !p->o->inference)
        return MAP_REFUSE(p, "its last cell state is read; in training only its outputs are modelled");
    for (uint32_t i = 5; i < 7; i++)
        if (map_in(p, i) && !is_state(map_in(p, i), r->dims[0], map_in(p, 0)->dims[1], r->dims[2]))
            return MAP_REFUSE(p, "its initial state is not one of each direction, sample and unit");
    if (!p->o->inference && has_trained_state(p))
        return MAP_REFUSE(p, "its initial state is computed by the model, and its gradient is not modelled; train the parts one by one");
    return map_in(p, 7) && !onnx_is(p->n, ONNX_OP_RNN) ? MAP_REFUSE(p, "peepholes are not modelled") : true;
}

/* One row of each direction's [batch, rows, hidden], as [directions, batch, hidden]. */
static uint32_t states_at(struct mapper *p, const uint32_t *y, uint64_t directions, const uint64_t *row)
{
    uint32_t states[2];
    assert(directions == 1 || directions == 2);
    for (uint64_t d = 0; d < directions; d++) {
        const struct tensor *t = &p->g->tensors[y[d]];
        uint64_t dims[] = { 1, t->dims[0], t->dims[2] };
        states[d] = map_view(p, map_emit1(p, OP_SLICE, y[d], WITH(.axis = 1, .begin = row[d], .length = 1)), 3, dims);
    }
    return directions == 1 ? states[0] : map_emit(p, OP_CONCAT, states, 2, WITH(.axis = 0));
}

/* Splits off the last cell states, which follow the last step: PopLibs' lstmFwd returns them with its states. */
static bool part_from_cells(struct mapper *p, uint32_t *y, uint64_t directions, uint64_t steps)
{
    uint32_t cells = states_at(p, y, directions, (uint64_t[]){ steps, steps });
    for (uint64_t d = 0; d < directions; d++)
        y[d] = map_emit1(p, OP_SLICE, y[d], WITH(.axis = 1, .length = steps));
    return map_done(p, 2, cells, false);
}

/* [steps, batch, width] to [steps, directions, batch, hidden]. A backward direction costs as much as a forward one,
 * and its last step is the first. Given initial states cost nothing more than zeros, which PopLibs reads too. */
bool map_recurrence(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *r = map_in(p, 2);
    if (!check_recurrence(p))
        return false;
    uint64_t steps = v->dims[0], batch = v->dims[1], hidden = r->dims[2], directions = r->dims[0], last[2];
    uint32_t x = map_as_plain(p, map_in_id(p, 0)), y[2];
    if (x == NO_ID)
        return false;
    x = map_emit1(p, OP_TRANSPOSE, x, WITH(.order = { 1, 0, 2 }));
    for (uint64_t d = 0; d < directions; d++) {
        y[d] = one_direction(p, x, v->dims[2], hidden, d);
        last[d] = goes_back(p, d) ? 0 : steps - 1;
    }
    const char *into = p->into;
    if ((map_is_wanted(p, 2) && !part_from_cells(p, y, directions, steps)) ||
        (map_is_wanted(p, 1) && !map_done(p, 1, states_at(p, y, directions, last), false)))
        return false;
    uint32_t all = directions == 1 ? y[0] : map_emit(p, OP_CONCAT, y, 2, WITH(.axis = 2));
    uint32_t turned = map_emit1(p, OP_TRANSPOSE, all, WITH(.view = { batch, steps, directions, hidden }, .order = { 1, 2, 0, 3 }));
    return map_done_as(p, into, turned, false);
}

/* ---- a plain RNN --------------------------------------------------------------------------------------------------------- */

/* The activation of one direction; N_OP_KINDS: not modelled. */
static enum op_kind step_function(const struct mapper *p, uint64_t direction)
{
    static const struct { const char *name; enum op_kind kind; } kinds[] = { { "Tanh", OP_TANH }, { "Relu", OP_RELU }, { "Sigmoid", OP_SIGMOID } };
    const Onnx__AttributeProto *names = onnx_attribute(p->n, "activations");
    const char *name = names && direction < names->n_strings ? arena_printf(p->m->arena, "%.*s", (int)names->strings[direction].len,
                                                                              (const char *)names->strings[direction].data) : "Tanh";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(kinds[i].name, name))
            return kinds[i].kind;
    return N_OP_KINDS;
}

/* Products of all inputs with their weights, plus both biases: [steps, batch, hidden]. */
static uint32_t input_shares(struct mapper *p, uint64_t direction, uint64_t hidden)
{
    const struct onnx_value *v = map_in(p, 0);
    uint64_t rows = v->dims[0] * v->dims[1], inputs = v->dims[2], dims[] = { 2, hidden };
    uint32_t x = map_as_plain(p, map_in_id(p, 0)), first = 1;
    uint32_t w = x == NO_ID ? NO_ID : gate_weight_of(p, 1, direction, (uint64_t[]){ inputs, hidden }, false);
    if (w == NO_ID)
        return NO_ID;
    x = map_emit2(p, OP_MATMUL, VIEW(p, x, rows, inputs), w, NO_ATTRIBUTES);
    if (map_in(p, 3)) {
        uint32_t bias = map_view(p, gate_weight_of(p, 3, direction, (uint64_t[]){ 2 * hidden }, false), 2, dims);
        bias = map_scaled(p, map_mean(p, bias, dims, 2, first), 2);
        x = map_emit2(p, OP_ADD, x, VIEW(p, bias, 1, hidden), NO_ATTRIBUTES);
    }
    return VIEW(p, x, v->dims[0], v->dims[1], hidden);
}

/* h = f(input product + h x recurrent weights), from the given initial state or from zero. */
static uint32_t run_steps(struct mapper *p, uint64_t direction, uint64_t hidden, uint32_t *last)
{
    const struct onnx_value *v = map_in(p, 0);
    uint64_t steps = v->dims[0], state[] = { v->dims[1], hidden };
    uint32_t shares = input_shares(p, direction, hidden), h = NO_ID, *rows = ARENA_ARRAY(p->m->arena, uint32_t, steps);
    if (shares == NO_ID)
        return NO_ID;
    uint32_t r = gate_weight_of(p, 2, direction, (uint64_t[]){ hidden, hidden }, false);
    if (map_in(p, 5) && !map_in(p, 5)->constant) {
        uint32_t given = map_as_plain(p, map_in_id(p, 5));
        if (given == NO_ID)
            return NO_ID;
        h = map_view(p, map_emit1(p, OP_SLICE, given, WITH(.axis = 0, .begin = direction, .length = 1)), 2, state);
    }
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t at = goes_back(p, direction) ? steps - 1 - i : i;
        uint32_t sum = map_view(p, map_emit1(p, OP_SLICE, shares, WITH(.axis = 0, .begin = at, .length = 1)), 2, state);
        if (h != NO_ID)
            sum = map_emit2(p, OP_ADD, map_emit2(p, OP_MATMUL, h, r, NO_ATTRIBUTES), sum, NO_ATTRIBUTES);
        h = map_emit1(p, step_function(p, direction), sum, NO_ATTRIBUTES);
        rows[at] = VIEW(p, h, 1, state[0], state[1]);
    }
    *last = VIEW(p, h, 1, state[0], state[1]);
    return VIEW(p, map_joined(p, rows, steps, 0), steps, 1, state[0], state[1]);
}

bool map_rnn(struct mapper *p)
{
    const struct onnx_value *r = map_in(p, 2);
    uint32_t y[2], last[2];
    if (!check_recurrence(p))
        return false;
    uint64_t steps = map_in(p, 0)->dims[0], directions = r->dims[0];
    if (steps > MOST_RNN_STEPS)
        return MAP_REFUSE(p, "of %ju steps, at most %d", (uintmax_t)steps, MOST_RNN_STEPS);
    for (uint64_t d = 0; d < directions; d++) {
        if (step_function(p, d) == N_OP_KINDS)
            return MAP_REFUSE(p, "its function is not Tanh, Relu or Sigmoid");
        y[d] = run_steps(p, d, r->dims[2], &last[d]);
        if (y[d] == NO_ID)
            return false;
    }
    uint32_t all = directions == 1 ? y[0] : map_emit(p, OP_CONCAT, y, 2, WITH(.axis = 1));
    uint32_t states = directions == 1 ? last[0] : map_emit(p, OP_CONCAT, last, 2, WITH(.axis = 0));
    p->into = "steps of products";
    return map_done(p, 1, states, false) && map_done(p, 0, all, false);
}
