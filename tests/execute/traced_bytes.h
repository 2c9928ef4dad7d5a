/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * traced_bytes.h - the bytes that any execution in this order has to hold, from which operations ran when and what the graph says they read and write.
 *
 * Nothing here knows what the plan keeps, drops or hands over. A tensor lives from its first write, or from the beginning of a task that finds it there, to
 * its last read: by this task, by the backward task of the same stage and micro-batch, or by another stage. Each task is gone through from its end.
 */
#ifndef TRACED_BYTES_H
#define TRACED_BYTES_H
#include "tests/execute/planned_model.h"

enum { MOST_EVENTS = 1 << 16 };
struct traced_op { uint32_t stage, op_id; enum task_kind kind; uint64_t micro_batch; };
static struct { struct traced_op ops[MOST_EVENTS]; size_t n; } trace;

static void trace_op(void *user, uint32_t stage, enum task_kind kind, uint64_t micro_batch, uint32_t op_id)
{
    (void)user;
    assert_true(trace.n < MOST_EVENTS);
    trace.ops[trace.n++] = (struct traced_op){ stage, op_id, kind, micro_batch };
}

struct traced_bytes { uint64_t activations, stash, kept_inputs, entry; uint32_t deepest; };
struct tracer { const struct planned_model *m; bool *live; uint64_t n_in_flight; struct traced_bytes *out; };

static bool is_held(const struct graph *g, uint32_t id, enum tensor_role role)
{
    enum tensor_role is = g->tensors[id].role;
    return role == ROLE_INPUT ? is == ROLE_INPUT : is == ROLE_ACTIVATION || is == ROLE_GRADIENT || is == ROLE_WEIGHT_GRADIENT;
}

static uint64_t live_bytes_of(const struct tracer *t, enum tensor_role role)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->m->g.n_tensors; i++)
        n += t->live[i] && is_held(&t->m->g, i, role) ? tensor_bytes(&t->m->g.tensors[i]) : 0;
    return n;
}

static bool same_task(const struct traced_op *a, const struct traced_op *b) { return a->stage == b->stage && a->kind == b->kind && a->micro_batch == b->micro_batch; }

/* Before an operation, from what lives after it. Returns the bytes while it runs: work in place writes over what it reads last, if that is enough. */
static uint64_t step_back(struct tracer *t, const struct op *op)
{
    const struct graph *g = &t->m->g;
    uint64_t made = 0, dying = 0;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        made += tensor_bytes(&g->tensors[op->outputs[k]]);
        t->live[op->outputs[k]] = false;
    }
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        dying += !t->live[op->inputs[k]] && is_held(g, op->inputs[k], ROLE_ACTIVATION) ? tensor_bytes(&g->tensors[op->inputs[k]]) : 0;
        t->live[op->inputs[k]] = true;
    }
    bool in_place = op_writes_over(op) && dying >= made;
    return live_bytes_of(t, ROLE_ACTIVATION) + made - (in_place ? dying : 0);
}

/* Goes through the task whose last operation is trace.ops[end - 1]; live has what is read after it. Leaves what it finds at its beginning. */
static uint64_t go_back(struct tracer *t, size_t end)
{
    uint64_t most = live_bytes_of(t, ROLE_ACTIVATION);
    for (size_t i = end; i-- > 0; )
        if (same_task(&trace.ops[i], &trace.ops[end - 1]))
            most = max_u64(most, step_back(t, &t->m->g.ops[trace.ops[i].op_id]));
    return max_u64(most, live_bytes_of(t, ROLE_ACTIVATION));
}

/* The last stage's segment that is not computed again goes from pass to pass as it is, and counts as part of the task. */
static bool is_carried(const struct tracer *t, uint32_t stage, uint32_t id)
{
    const struct plan *p = &t->m->p;
    return stage + 1 == p->n_stages && p->request.recompute != RECOMPUTE_NONE
        && t->m->g.tensors[id].layer_id >= p->stages[stage].first_layer + p->stages[stage].n_layers_again;
}

/* Marks tensors that other stages read later: forward those above, backward those below. Tensors that only pass through live for the whole task. */
static void add_read_elsewhere(struct tracer *t, const struct traced_op *at, bool *made_elsewhere)
{
    const struct graph *g = &t->m->g;
    for (size_t i = 0; i < trace.n; i++) {
        const struct traced_op *o = &trace.ops[i];
        bool above = o->stage > at->stage, beyond = at->kind == TASK_FORWARD ? above : o->stage < at->stage;
        if (o->micro_batch != at->micro_batch || o->kind != at->kind)
            continue;
        for (uint32_t k = 0; k < g->ops[o->op_id].n_outputs && beyond; k++)
            made_elsewhere[g->ops[o->op_id].outputs[k]] = true;
        for (uint32_t k = 0; k < g->ops[o->op_id].n_inputs && beyond; k++)
            t->live[g->ops[o->op_id].inputs[k]] |= g->tensors[g->ops[o->op_id].inputs[k]].role == (at->kind == TASK_FORWARD ? ROLE_ACTIVATION : ROLE_GRADIENT);
    }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        t->live[i] &= !made_elsewhere[i];
}

static bool ends_task(size_t i)
{
    for (size_t k = i + 1; k < trace.n; k++)
        if (trace.ops[k].stage == trace.ops[i].stage)
            return !same_task(&trace.ops[k], &trace.ops[i]);
    return true;
}

/* The end of the backward task that belongs to a forward one; 0 if it has none. */
static size_t end_of_backward(const struct traced_op *forward)
{
    size_t end = 0;
    for (size_t i = 0; i < trace.n; i++)
        if (trace.ops[i].stage == forward->stage && trace.ops[i].micro_batch == forward->micro_batch && trace.ops[i].kind == TASK_BACKWARD)
            end = i + 1;
    return end;
}

static void trace_task(struct tracer *t, size_t end, struct arena *a)
{
    const struct traced_op *at = &trace.ops[end - 1];
    const struct graph *g = &t->m->g;
    bool *elsewhere = ARENA_ARRAY(a, bool, g->n_tensors), *kept = ARENA_ARRAY(a, bool, g->n_tensors);
    size_t backward = at->kind == TASK_FORWARD ? end_of_backward(at) : 0;
    memset(t->live, 0, g->n_tensors * sizeof *t->live);
    if (backward)
        go_back(t, backward);
    uint64_t entry = 0, inputs = live_bytes_of(t, ROLE_INPUT);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        kept[i] = t->live[i] && (g->tensors[i].role == ROLE_ACTIVATION || g->tensors[i].role == ROLE_INPUT);
        entry += kept[i] && g->tensors[i].role == ROLE_ACTIVATION && !is_carried(t, at->stage, i) ? tensor_bytes(&g->tensors[i]) : 0;
    }
    memset(t->live, 0, g->n_tensors * sizeof *t->live);
    add_read_elsewhere(t, at, elsewhere);
    for (uint32_t i = 0; i < g->n_tensors; i++)
        t->live[i] |= kept[i];
    t->out->activations = max_u64(t->out->activations, go_back(t, end));
    t->n_in_flight += at->kind == TASK_FORWARD ? 1 : -1;
    t->out->deepest = max_u32(t->out->deepest, (uint32_t)t->n_in_flight);
    if (at->kind == TASK_FORWARD)
        t->out->entry = entry, t->out->kept_inputs = max_u64(t->out->kept_inputs, inputs * t->n_in_flight), t->out->stash = max_u64(t->out->stash, entry * t->n_in_flight);
}

/* The bytes of one stage, after a step that was watched by trace_op(). */
static struct traced_bytes traced_bytes_of(const struct planned_model *m, uint32_t stage)
{
    struct arena a = { 0 };
    struct traced_bytes out = { 0 };
    struct tracer t = { .m = m, .live = ARENA_ARRAY(&a, bool, m->g.n_tensors), .out = &out };
    for (size_t i = 0; i < trace.n; i++)
        if (trace.ops[i].stage == stage && ends_task(i))
            trace_task(&t, i + 1, &a);
    arena_free(&a);
    return out;
}

#endif
