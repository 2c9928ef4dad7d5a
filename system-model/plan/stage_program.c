/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_program.c - what the tasks of a stage run and keep.
 *
 * A forward task runs the forward operations of the stage's layers. A backward task goes through the stage's segments, which end at
 * checkpoints, from the last to the first: it runs the segment's forward operations again, unless they are the last segment of the last stage or nothing
 * is recomputed, and then its backward operations. What makes the checkpoint alone is not run again: PopART runs what a backward operation needs (graphcore/popart
 * d2f20d78 willow/src/popx/irlowering.cpp:217-300), and so does TensorFlow (graphcore/tensorflow sdk 2.4.0 driver/passes/pipeline_recomputation.cc:145-240), but phases
 * of PopXL call their whole forward graph (graphcore/popxl-addons 7499fca transforms/recomputation.py). Between the passes of a micro-batch the stage keeps what its backward task reads and does not
 * make: its input and the outputs of its checkpoints or, without recomputation, activations of all its layers; and inputs of the host. A tensor
 * that crosses several checkpoints is kept once, and one that no backward operation of the stage needs not at all.
 */
#include "system-model/plan/stage_program.h"
#include "system-model/graph/graph.h"

struct maker { const struct graph *g; const struct stage_layers *s; uint32_t end; struct arena *a; const enum ahead *ahead; };       /* end: the index after the stage's last layer */

static void list_add(struct id_list *l, uint32_t id) { l->ids[l->n++] = id; }

static struct id_list list_for(size_t n, struct arena *a) { return (struct id_list){ ARENA_ROOM(a, uint32_t, n), 0 }; }

/* ---- operations ----------------------------------------------------------------------------------- */

/* Lists the forward operations of the stage, and its backward operations. */
static void find_ops(struct id_list found[2], const struct maker *m)
{
    for (int forward = 0; forward < 2; forward++)
        found[forward] = list_for(m->g->n_ops, m->a);
    for (uint32_t i = 0; i < m->g->n_ops; i++) {
        const struct op *op = &m->g->ops[i];
        if (op->layer_id >= m->s->first && op->layer_id < m->end)
            list_add(&found[op->pass == PASS_FORWARD], i);
    }
}

/* The first layer of the segment that ends before `end`. */
static uint32_t segment_start(const struct maker *m, uint32_t end)
{
    uint32_t first = end - 1;
    while (first > m->s->first && !is_checkpoint(m->g, m->s->recompute, m->s->checkpoints, first - 1))
        first--;
    return m->s->recompute == RECOMPUTE_NONE ? m->s->first : first;
}

static bool is_recomputed(const struct maker *m, uint32_t end)
{
    return m->s->recompute != RECOMPUTE_NONE && end <= m->s->first + m->s->n_again;
}

enum ahead stage_spares(const struct graph *g, const struct stage_layers *s, uint32_t layer)
{
    if (s->whole)
        return AHEAD_NEVER;
    return layer + 1 == s->first + s->n ? AHEAD_OF_STAGE : is_checkpoint(g, s->recompute, s->checkpoints, layer) ? AHEAD_OF_CHECKPOINT : AHEAD_NEVER;
}

bool stage_runs_again(const struct graph *g, const struct stage_layers *s, uint32_t op_id, const enum ahead *ahead)
{
    const struct op *op = &g->ops[op_id];
    enum ahead spared = stage_spares(g, s, op->layer_id);
    return op->pass == PASS_FORWARD && op->layer_id >= s->first && op->layer_id < s->first + s->n_again && (!spared || ahead[op_id] < spared);
}

/* Appends the forward operations of layers first_layer to end_layer that run again. */
static void add_again(struct id_list *to, const struct maker *m, const struct id_list *forward, uint32_t first_layer, uint32_t end_layer)
{
    for (uint32_t i = 0; i < forward->n; i++) {
        uint32_t layer = m->g->ops[forward->ids[i]].layer_id;
        if (layer >= first_layer && layer < end_layer && stage_runs_again(m->g, m->s, forward->ids[i], m->ahead))
            list_add(to, forward->ids[i]);
    }
}

/* Appends the backward operations of layers first_layer to end_layer. If some belong to a part that runs again, that part's forward operations are appended
 * just before the first of them. */
static void add_backward(struct id_list *to, const struct maker *m, const struct id_list found[2], uint32_t first_layer, uint32_t end_layer)
{
    const struct graph *g = m->g;
    uint32_t layer = NO_ID, part = 0;
    for (uint32_t i = 0; i < found[false].n; i++) {
        const struct op *op = &g->ops[found[false].ids[i]];
        if (op->layer_id < first_layer || op->layer_id >= end_layer)
            continue;
        bool begins = op->at->again && (op->layer_id != layer || op->at->again != part);
        layer = op->at->again ? op->layer_id : layer;
        part = op->at->again ? op->at->again : part;
        for (uint32_t k = 0; begins && k < found[true].n; k++) {
            const struct op *forward = &g->ops[found[true].ids[k]];
            if (forward->layer_id == layer && forward->at->again == part)
                list_add(to, found[true].ids[k]);
        }
        list_add(to, found[false].ids[i]);
    }
}

static void make_ops(struct stage_program *out, const struct maker *m)
{
    struct id_list found[2], *backward = &out->pass[TASK_BACKWARD].ops;
    find_ops(found, m);
    out->pass[TASK_FORWARD].ops = found[true];
    if (!found[false].n)
        return;
    *backward = list_for(2 * (size_t)found[true].n + found[false].n, m->a);
    for (uint32_t end = m->end, first; end > m->s->first; end = first) {
        first = segment_start(m, end);
        if (is_recomputed(m, end))
            add_again(backward, m, &found[true], first, end);
        add_backward(backward, m, found, first, end);
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------ */

/* The last segment of the last stage is still there when its backward pass begins. */
static bool is_carried(const struct maker *m, uint32_t id)
{
    bool last_stage = m->end == m->g->n_layers;
    return last_stage && m->s->recompute != RECOMPUTE_NONE && m->g->tensors[id].layer_id >= m->s->first + m->s->n_again;
}

/* Marks the tensors that a pass reads but does not make. */
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
    const bool *forward = needed_by(&out->pass[TASK_FORWARD], m), *backward = needed_by(&out->pass[TASK_BACKWARD], m);
    out->inputs = list_for(n, m->a), out->states = list_for(n, m->a), out->kept = list_for(n, m->a);
    out->kept_as = ARENA_ROOM(m->a, enum kept_kind, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!forward[i] && !backward[i])
            continue;
        enum tensor_role role = m->g->tensors[i].role;
        if (role == ROLE_INPUT || role == ROLE_STATE)
            list_add(role == ROLE_INPUT ? &out->inputs : &out->states, i);
        if (!backward[i] || (role != ROLE_ACTIVATION && role != ROLE_INPUT))
            continue;
        out->kept_as[out->kept.n] = role == ROLE_INPUT ? KEPT_INPUT : is_carried(m, i) ? KEPT_CARRIED : KEPT_IN_STASH;
        list_add(&out->kept, i);
    }
}

/* ---- what is handed on --------------------------------------------------------------------------------- */

/* Forward: activations that this stage or an earlier one makes and a later one reads. Backward: gradients that this stage or a later one makes and
 * an earlier one reads. */
static void make_handed(struct stage_program *out, const struct maker *m)
{
    const struct graph *g = m->g;
    uint32_t first = m->s->first, end = m->end;
    for (int k = 0; k < 2; k++)
        out->handed[k] = list_for(g->n_tensors, m->a);
    if (first == 0 && end == g->n_layers)       /* no stage comes before or after it */
        return;
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        bool forward = t->role == ROLE_ACTIVATION;
        if ((!forward && t->role != ROLE_GRADIENT) || t->producer_op == NO_ID || (forward ? t->last_reader < end : t->first_reader >= first))
            continue;
        uint32_t maker = g->ops[t->producer_op].layer_id;
        if (forward ? maker < end : maker >= first)
            list_add(&out->handed[forward ? TASK_FORWARD : TASK_BACKWARD], i);
    }
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

/* An operation that has a form in place uses it if all of its result fits into what it reads for the last time. */
static bool works_in_place(const struct op_sequence *q, uint32_t i, const struct graph *g)
{
    const struct op *op = &g->ops[q->ops.ids[i]];
    uint64_t made = 0, freed = 0;
    if (!op_writes_over(op))
        return false;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        made += tensor_bytes(&g->tensors[op->outputs[k]]);
    for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1]; k++) {
        const struct tensor *t = &g->tensors[q->freed.ids[k]];
        bool is_result = false;
        for (uint32_t j = 0; j < op->n_outputs; j++)
            is_result |= op->outputs[j] == q->freed.ids[k];
        freed += is_result || t->role == ROLE_INPUT ? 0 : tensor_bytes(t);
    }
    return freed >= made;
}

/* Each tensor is freed after the operation of the sequence that uses it last, unless it is kept. */
static void make_freed(struct op_sequence *q, const struct maker *m, const bool *kept)
{
    const struct graph *g = m->g;
    bool *seen = ARENA_ARRAY(m->a, bool, g->n_tensors);
    uint32_t *ids = ARENA_ROOM(m->a, uint32_t, 2 * g->n_tensors), n = 0;
    q->freed_first = ARENA_ARRAY(m->a, uint32_t, q->ops.n + 1);
    q->in_place = ARENA_ARRAY(m->a, bool, q->ops.n);
    uint32_t *first = ARENA_ROOM(m->a, uint32_t, q->ops.n + 1);
    for (uint32_t i = q->ops.n; i-- > 0; ) {            /* seen from the end, a tensor's last use comes first */
        const struct op *op = &g->ops[q->ops.ids[i]];
        first[i] = n;
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            uint32_t id = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (!seen[id] && !kept[id] && is_dropped(&g->tensors[id]))
                ids[n++] = id;
            seen[id] = true;
        }
        for (uint32_t k = 0; k < op->n_outputs; k++)
            seen[op->outputs[k]] = false;       /* another operation has made the tensor before it is read */
    }
    q->freed = list_for(n, m->a);
    for (uint32_t i = 0; i < q->ops.n; i++) {
        for (uint32_t k = first[i]; k < (i ? first[i - 1] : n); k++)
            list_add(&q->freed, ids[k]);
        q->freed_first[i + 1] = q->freed.n;
        q->in_place[i] = works_in_place(q, i, g);
    }
}

struct stage_layers plan_stage_layers(const struct plan *p, uint32_t stage)
{
    const struct stage_plan *s = &p->stages[stage];
    return (struct stage_layers){ s->first_layer, s->n_layers, s->n_layers_again, p->request.recompute, p->named_checkpoints, plan_is_phased(&p->request) };
}

void stage_program_make(struct stage_program *out, const struct graph *g, const struct stage_layers *s, const enum ahead *ahead, struct arena *a)
{
    struct maker m = { g, s, s->first + s->n, a, ahead };
    *out = (struct stage_program){ .inputs.n = 0 };
    make_ops(out, &m);
    make_kept(out, &m);
    bool *forward = ARENA_ARRAY(a, bool, m.g->n_tensors), *backward = ARENA_ARRAY(a, bool, m.g->n_tensors);
    make_handed(out, &m);
    mark(forward, &out->handed[TASK_FORWARD]);
    mark(backward, &out->handed[TASK_BACKWARD]);
    bool *kept = ARENA_ARRAY(a, bool, m.g->n_tensors);
    mark(kept, &out->kept);
    out->handed_is_kept = ARENA_ARRAY(a, bool, out->handed[TASK_FORWARD].n);
    for (uint32_t i = 0; i < out->handed[TASK_FORWARD].n; i++)
        out->handed_is_kept[i] = kept[out->handed[TASK_FORWARD].ids[i]];
    mark(forward, &out->kept);
    make_freed(&out->pass[TASK_FORWARD], &m, forward);
    make_freed(&out->pass[TASK_BACKWARD], &m, backward);
}

/* ---- remembered --------------------------------------------------------------------------------------------- */

static void trim_ids(struct id_list *l, struct arena *a)
{
    uint32_t *ids = ARENA_ROOM(a, uint32_t, l->n);
    l->ids = l->n ? memcpy(ids, l->ids, l->n * sizeof *ids) : ids;
}

/* Copies a program, with as much memory as its lists need. */
static const struct stage_program *kept_program_of(const struct stage_program *made, struct arena *a)
{
    struct stage_program *out = memcpy(ARENA_NEW(a, struct stage_program), made, sizeof *made);
    struct id_list *lists[] = { &out->inputs, &out->states, &out->kept, &out->handed[TASK_FORWARD], &out->handed[TASK_BACKWARD] };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        trim_ids(lists[i], a);
    for (int k = TASK_FORWARD; k <= TASK_BACKWARD; k++) {
        struct op_sequence *q = &out->pass[k];
        trim_ids(&q->ops, a);
        trim_ids(&q->freed, a);
        q->freed_first = memcpy(ARENA_ROOM(a, uint32_t, q->ops.n + 1), q->freed_first, (q->ops.n + 1) * sizeof *q->freed_first);
        q->in_place = memcpy(ARENA_ROOM(a, bool, q->ops.n), q->in_place, q->ops.n * sizeof *q->in_place);
    }
    out->kept_as = memcpy(ARENA_ROOM(a, enum kept_kind, out->kept.n), out->kept_as, out->kept.n * sizeof *out->kept_as);
    out->handed_is_kept = memcpy(ARENA_ROOM(a, bool, out->handed[TASK_FORWARD].n), out->handed_is_kept, out->handed[TASK_FORWARD].n * sizeof(bool));
    return out;
}

MEMO_INPUT(stage_program_input, struct owned checkpoints; uint64_t whole; uint32_t first, n, n_again, recompute;);

static const void *make_program(void *world, const void *input, struct err *err)
{
    const struct stage_program_input *q = input;
    const struct stage_layers layers = { q->first, q->n, q->n_again, (enum recompute)q->recompute, q->checkpoints.at, q->whole };
    struct compiler *c = world;
    struct arena scratch = {0};
    struct stage_program made;
    (void)err;
    stage_program_make(&made, c->graph, &layers, compile_ahead(c), &scratch);
    const struct stage_program *kept = kept_program_of(&made, c->arena);
    arena_free(&scratch);
    return kept;
}

const struct stage_program *compile_stage_program(struct compiler *c, const struct stage_layers *s)
{
    const struct stage_program_input q = { { s->checkpoints }, s->whole, s->first, s->n, s->n_again, s->recompute };
    struct compiler *owner = c->of_graph && !s->checkpoints ? c->of_graph : c;      /* a program whose checkpoints are named is kept by this compiler alone */
    return memo_get(&owner->memo, make_program, &q, sizeof q, NULL).at;
}
