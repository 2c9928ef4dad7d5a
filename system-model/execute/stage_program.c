/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_program.c - what the tasks of a stage run and keep, by the plan's rules.
 *
 * A forward task runs the forward operations of the stage's layers. A backward task goes through the stage's segments, which end at
 * checkpoints, from the last to the first: it runs the segment's forward operations again, unless they are the last segment of the last stage or nothing
 * is recomputed, and then its backward operations. Between the passes of a micro-batch the stage keeps its input and the outputs of its checkpoints
 * or, without recomputation, all activations of its layers that backward passes read (placement.c, keep_everything() and
 * keep_checkpoints()).
 */
#include "system-model/execute/execute_internal.h"

struct maker { const struct plan *p; const struct graph *g; const struct stage_plan *s; uint32_t stage; struct arena *a; };

uint32_t stage_of_op(const struct plan *p, const struct op *op)
{
    return (uint32_t)(plan_stage_of(p, op->layer_id) - p->stages);
}

static void list_add(struct id_list *l, uint32_t id) { l->ids[l->n++] = id; }

static struct id_list list_of(const bool *in, size_t n, struct arena *a)
{
    struct id_list l = { ARENA_ARRAY(a, uint32_t, n), 0 };
    for (uint32_t i = 0; i < n; i++)
        if (in[i])
            list_add(&l, i);
    return l;
}

/* ---- operations ----------------------------------------------------------------------------------- */

static void add_ops(struct id_list *ops, const struct maker *m, uint32_t first_layer, uint32_t end_layer, bool forward)
{
    for (uint32_t i = 0; i < m->g->n_ops; i++) {
        const struct op *op = &m->g->ops[i];
        if (op->layer_id >= first_layer && op->layer_id < end_layer && (op->pass == PASS_FORWARD) == forward)
            list_add(ops, i);
    }
}

/* The first layer of the segment that ends before `end`. */
static uint32_t segment_start(const struct maker *m, uint32_t end)
{
    uint32_t first = end - 1;
    while (first > m->s->first_layer && !plan_is_checkpoint(m->p, first - 1))
        first--;
    return m->p->request.recompute == RECOMPUTE_NONE ? m->s->first_layer : first;
}

static bool is_recomputed(const struct maker *m, uint32_t end)
{
    return m->p->request.recompute != RECOMPUTE_NONE && end <= m->s->first_layer + m->s->n_layers_again;
}

static void make_ops(struct stage_program *out, const struct maker *m)
{
    struct id_list *forward = &out->pass[TASK_FORWARD].ops, *backward = &out->pass[TASK_BACKWARD].ops;
    forward->ids = ARENA_ARRAY(m->a, uint32_t, m->g->n_ops);
    backward->ids = ARENA_ARRAY(m->a, uint32_t, 2 * m->g->n_ops);
    add_ops(forward, m, m->s->first_layer, stage_end(m->s), true);
    for (uint32_t end = stage_end(m->s), first; end > m->s->first_layer; end = first) {
        first = segment_start(m, end);
        if (is_recomputed(m, end))
            add_ops(backward, m, first, end, true);
        add_ops(backward, m, first, end, false);
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------ */

/* By tensor: the last layer that reads it forward and whether a backward pass reads it. */
struct uses { uint32_t *last_layer; bool *backward; };

static struct uses uses_of(const struct graph *g, struct arena *a)
{
    struct uses u = { ARENA_ARRAY(a, uint32_t, g->n_tensors), ARENA_ARRAY(a, bool, g->n_tensors) };
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            if (g->ops[i].pass == PASS_FORWARD)
                u.last_layer[g->ops[i].inputs[k]] = max_u32(u.last_layer[g->ops[i].inputs[k]], g->ops[i].layer_id);
            else
                u.backward[g->ops[i].inputs[k]] = true;
    return u;
}

/* True if the activation is made by a layer up to `layer` and read by a later one. */
static bool crosses(const struct graph *g, const struct uses *u, uint32_t id, uint32_t layer)
{
    return g->tensors[id].layer_id <= layer && u->last_layer[id] > layer;
}

static bool plan_keeps(const struct maker *m, const struct uses *u, uint32_t id)
{
    uint32_t layer = m->g->tensors[id].layer_id;
    if (m->s->first_layer && crosses(m->g, u, id, m->s->first_layer - 1))
        return true;
    if (m->p->request.recompute == RECOMPUTE_NONE)
        return u->backward[id] && layer >= m->s->first_layer && layer < stage_end(m->s);
    for (uint32_t i = m->s->first_layer; i + 1 < stage_end(m->s); i++)
        if (plan_is_checkpoint(m->p, i) && crosses(m->g, u, id, i))
            return true;
    return false;
}

/* The last segment of the last stage is still there when its backward pass begins. */
static bool is_carried(const struct maker *m, const struct uses *u, uint32_t id)
{
    uint32_t layer = m->g->tensors[id].layer_id;
    bool last_stage = m->stage + 1 == m->p->n_stages;
    return last_stage && m->p->request.recompute != RECOMPUTE_NONE && layer < stage_end(m->s) && layer >= m->s->first_layer + m->s->n_layers_again && u->backward[id];
}

/* Marks what a pass reads without having made it. */
static bool *needed_by(const struct op_sequence *q, const struct maker *m)
{
    bool *needed = ARENA_ARRAY(m->a, bool, m->g->n_tensors), *made = ARENA_ARRAY(m->a, bool, m->g->n_tensors);
    for (uint32_t i = 0; i < q->ops.n; i++) {
        const struct op *op = &m->g->ops[q->ops.ids[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            needed[op->inputs[k]] |= !made[op->inputs[k]];
        for (uint32_t k = 0; k < op->n_outputs; k++)
            made[op->outputs[k]] = true;
    }
    return needed;
}

static void make_kept(struct stage_program *out, const struct maker *m)
{
    size_t n = m->g->n_tensors;
    struct uses u = uses_of(m->g, m->a);
    const bool *forward = needed_by(&out->pass[TASK_FORWARD], m), *backward = needed_by(&out->pass[TASK_BACKWARD], m);
    bool *inputs = ARENA_ARRAY(m->a, bool, n), *states = ARENA_ARRAY(m->a, bool, n);
    out->kept.ids = ARENA_ARRAY(m->a, uint32_t, n);
    out->kept_as = ARENA_ARRAY(m->a, enum live_category, n);
    for (uint32_t i = 0; i < n; i++) {
        enum tensor_role role = m->g->tensors[i].role;
        bool stash = role == ROLE_ACTIVATION && plan_keeps(m, &u, i), input = role == ROLE_INPUT && backward[i];
        inputs[i] = role == ROLE_INPUT && (forward[i] || backward[i]);
        states[i] = role == ROLE_STATE && (forward[i] || backward[i]);
        out->unread_bytes += stash && !backward[i] ? tensor_bytes(&m->g->tensors[i]) : 0;
        if (!stash && !input && !(role == ROLE_ACTIVATION && is_carried(m, &u, i)))
            continue;
        out->kept_as[out->kept.n] = stash ? LIVE_STASH : input ? LIVE_KEPT_INPUTS : LIVE_ACTIVATIONS;
        list_add(&out->kept, i);
    }
    out->inputs = list_of(inputs, n, m->a), out->states = list_of(states, n, m->a);
}

/* ---- what is handed on --------------------------------------------------------------------------------- */

/* Forward: activations that this stage or an earlier one makes and a later one reads. Backward: gradients, the other way round. */
static struct id_list handed_on(const struct maker *m, bool forward)
{
    bool *in = ARENA_ARRAY(m->a, bool, m->g->n_tensors);
    for (size_t i = 0; i < m->g->n_ops; i++) {
        const struct op *op = &m->g->ops[i];
        uint32_t reader = stage_of_op(m->p, op);
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const struct tensor *t = &m->g->tensors[op->inputs[k]];
            if (t->producer_op == NO_ID || t->role != (forward ? ROLE_ACTIVATION : ROLE_GRADIENT))
                continue;
            uint32_t maker = stage_of_op(m->p, &m->g->ops[t->producer_op]);
            in[op->inputs[k]] |= forward ? maker <= m->stage && reader > m->stage : maker >= m->stage && reader < m->stage;
        }
    }
    return list_of(in, m->g->n_tensors, m->a);
}

/* ---- when tensors are dropped ----------------------------------------------------------------------------- */

static void mark(bool *in, const struct id_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        in[l->ids[i]] = true;
}

static bool is_dropped(const struct tensor *t)
{
    return t->role == ROLE_ACTIVATION || t->role == ROLE_GRADIENT || t->role == ROLE_WEIGHT_GRADIENT || t->role == ROLE_INPUT;
}

/* Each tensor is freed after the operation of the sequence that uses it last, unless it is kept. */
static void make_freed(struct op_sequence *q, const struct maker *m, const bool *kept)
{
    const struct graph *g = m->g;
    bool *seen = ARENA_ARRAY(m->a, bool, g->n_tensors);
    uint32_t *ids = ARENA_ARRAY(m->a, uint32_t, g->n_tensors), n = 0;
    q->freed_first = ARENA_ARRAY(m->a, uint32_t, q->ops.n + 1);
    uint32_t *first = ARENA_ARRAY(m->a, uint32_t, q->ops.n + 1);
    for (uint32_t i = q->ops.n; i-- > 0; ) {            /* backward: the first use that is met is the last one */
        const struct op *op = &g->ops[q->ops.ids[i]];
        first[i] = n;
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            uint32_t id = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (!seen[id] && !kept[id] && is_dropped(&g->tensors[id]))
                ids[n++] = id;
            seen[id] = true;
        }
    }
    q->freed = (struct id_list){ ARENA_ARRAY(m->a, uint32_t, n), 0 };
    for (uint32_t i = 0; i < q->ops.n; i++) {
        for (uint32_t k = first[i]; k < (i ? first[i - 1] : n); k++)
            list_add(&q->freed, ids[k]);
        q->freed_first[i + 1] = q->freed.n;
    }
}

void stage_program_make(struct stage_program *out, const struct plan *p, uint32_t stage, struct arena *a)
{
    struct maker m = { p, p->graph, &p->stages[stage], stage, a };
    *out = (struct stage_program){ .unread_bytes = 0 };
    make_ops(out, &m);
    make_kept(out, &m);
    bool *forward = ARENA_ARRAY(a, bool, m.g->n_tensors), *backward = ARENA_ARRAY(a, bool, m.g->n_tensors);
    for (int k = 0; k < 2; k++) {
        out->handed[k] = handed_on(&m, k == TASK_FORWARD);
        mark(k == TASK_FORWARD ? forward : backward, &out->handed[k]);
    }
    bool *kept = ARENA_ARRAY(a, bool, m.g->n_tensors);
    mark(kept, &out->kept);
    out->handed_is_kept = ARENA_ARRAY(a, bool, out->handed[TASK_FORWARD].n);
    for (uint32_t i = 0; i < out->handed[TASK_FORWARD].n; i++)
        out->handed_is_kept[i] = kept[out->handed[TASK_FORWARD].ids[i]];
    mark(forward, &out->kept);
    make_freed(&out->pass[TASK_FORWARD], &m, forward);
    make_freed(&out->pass[TASK_BACKWARD], &m, backward);
}
