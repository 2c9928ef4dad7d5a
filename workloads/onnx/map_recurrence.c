/*
 * map_recurrence.c - LSTM and GRU: one direction after the other, weights as the file has them.
 */
#include "workloads/onnx/map_internal.h"

static bool goes_back(const struct mapper *p, uint64_t direction)
{
    return direction == 1 || text_is(onnx_string(p->n, "direction", "forward", p->m->arena), "reverse");
}

/* One direction: the file's weights [directions, gates x hidden, width] and [directions, gates x hidden, hidden], biases of both. */
static uint32_t one_direction(struct mapper *p, uint32_t x, uint64_t width, uint64_t hidden, uint64_t direction)
{
    bool lstm = text_is(p->n->op, "LSTM");
    uint64_t gates = lstm ? 4 : 3;
    const uint64_t dims[][2] = { { width, gates * hidden }, { hidden, gates * hidden }, { 2 * gates * hidden, 0 } };
    uint32_t in[4] = { x };
    in[3] = map_in(p, 3) ? NO_ID : map_filled(p, 0, 2 * gates * hidden);
    for (uint32_t i = 0; i < (map_in(p, 3) ? 3 : 2); i++) {
        in[1 + i] = map_weight(p, NO_ID, ONNX_AS_IS, i < 2 ? 2 : 1, dims[i]);
        struct onnx_source *s = map_source(p, in[1 + i], ONNX_GATES, NO_ID);
        s->values[0] = in_id(p, 1 + i);
        s->number = (double)direction;
        s->turned = lstm;
    }
    bool before = !lstm && !onnx_int(p->n, "linear_before_reset", 0);
    return emit(p, lstm ? OP_LSTM : OP_GRU, in, 4,
                AT(.hidden = (uint32_t)hidden, .reset_before = before, .with_cell = map_is_wanted(p, 2),
                   .from_last = goes_back(p, direction)));
}

static bool check_recurrence(struct mapper *p)
{
    const struct onnx_value *r = map_in(p, 2);
    if (!map_in(p, 1) || !r)
        return MAP_REFUSE(p, "has %u inputs, want at least 3", p->n->n_inputs);
    if (!map_in(p, 1)->constant || !r->constant || (map_in(p, 3) && !map_in(p, 3)->constant) || r->dims[0] > 2)
        return MAP_REFUSE(p, "want weights that stand in the file");
    if (onnx_int(p->n, "layout", 0))
        return MAP_REFUSE(p, "want layout 0: time first");
    if (map_is_wanted(p, 2) && !p->o->inference)
        return MAP_REFUSE(p, "its last cell state is read; in training only its outputs are modelled");
    return map_in(p, 7) ? MAP_REFUSE(p, "peepholes are not modelled") : true;
}

/* [batch, rows, hidden] of each direction: one row of each as [directions, batch, hidden]. */
static uint32_t states_at(struct mapper *p, const uint32_t *y, uint64_t directions, const uint64_t *row)
{
    uint32_t states[2];
    for (uint64_t d = 0; d < directions; d++) {
        const struct tensor *t = &p->g->tensors[y[d]];
        uint64_t dims[] = { 1, t->dims[0], t->dims[2] };
        states[d] = map_view(p, emit1(p, OP_SLICE, y[d], AT(.axis = 1, .begin = row[d], .length = 1)), 3, dims);
    }
    return directions == 1 ? states[0] : emit(p, OP_CONCAT, states, 2, AT(.axis = 0));
}

/* The last cell states stand behind the last step: PopLibs' lstmFwd gives them beside its states. */
static bool part_from_cells(struct mapper *p, uint32_t *y, uint64_t directions, uint64_t steps)
{
    uint32_t cells = states_at(p, y, directions, (uint64_t[]){ steps, steps });
    for (uint64_t d = 0; d < directions; d++)
        y[d] = emit1(p, OP_SLICE, y[d], AT(.axis = 1, .length = steps));
    return map_done(p, 2, cells, false);
}

/* [steps, batch, width] to [steps, directions, batch, hidden]. A backward direction costs what a forward one does, and ends at the first step;
 * what states are given at the start costs nothing. */
bool map_recurrence(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *r = map_in(p, 2);
    if (!check_recurrence(p))
        return false;
    uint64_t steps = v->dims[0], batch = v->dims[1], hidden = r->dims[2], directions = r->dims[0], last[2];
    uint32_t x = as_plain(p, in_id(p, 0)), y[2];
    if (x == NO_ID)
        return false;
    x = emit1(p, OP_TRANSPOSE, x, AT(.order = { 1, 0, 2 }));
    for (uint64_t d = 0; d < directions; d++) {
        y[d] = one_direction(p, x, v->dims[2], hidden, d);
        last[d] = goes_back(p, d) ? 0 : steps - 1;
    }
    const char *into = p->into;
    if ((map_is_wanted(p, 2) && !part_from_cells(p, y, directions, steps)) ||
        (map_is_wanted(p, 1) && !map_done(p, 1, states_at(p, y, directions, last), false)))
        return false;
    uint32_t all = directions == 1 ? y[0] : emit(p, OP_CONCAT, y, 2, AT(.axis = 2));
    uint32_t turned = emit1(p, OP_TRANSPOSE, all, AT(.view = { batch, steps, directions, hidden }, .order = { 1, 2, 0, 3 }));
    p->into = into;
    return map_done(p, 0, turned, false);
}
