/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_execute.c - a training step of a plan: its tasks cycle by cycle and slot by slot, then its weight update.
 */
#include "system-model/execute/execute_internal.h"

/* ---- one task ------------------------------------------------------------------------------------------- */

/* A task of all replicas for one micro-batch. */
struct work { struct execution *x; const struct stage_program *program; uint32_t stage; enum task_kind kind; uint64_t micro_batch; };

static struct stage_state *at_work(const struct work *w, uint32_t replica) { return stage_state_of(w->x, replica, w->stage); }

static bool fail_in(const struct work *w, struct err *err)
{
    struct err inner = *err;
    return fail(err, "%s, stage %u %s of micro-batch %ju: %s", w->x->g->name, w->stage, w->kind == TASK_FORWARD ? "forward" : "backward",
                (uintmax_t)w->micro_batch, inner.msg);
}

/* Takes the packet that a neighbour handed over for this micro-batch. */
static bool receive(const struct work *w, struct stage_state *s, struct err *err)
{
    struct packet *p = s->handed[w->kind];
    uint32_t neighbour = w->kind == TASK_FORWARD ? w->stage - 1 : w->stage + 1;
    if (neighbour >= w->x->p->n_stages)
        return true;
    if (!s->n_handed[w->kind] || p->micro_batch != w->micro_batch)
        return fail(err, "stage %u has handed over nothing for it", neighbour);
    s->store.live.now[LIVE_HANDED_OVER] -= packet_bytes(p, w->x->g);
    store_put(&s->store, p);
    memmove(p, p + 1, --s->n_handed[w->kind] * sizeof *p);
    return true;
}

/* Packets that may wait for a stage's task of one kind. */
static uint32_t most_handed(const struct execution *x) { return plan_is_phased(&x->p->request) ? x->p->request.grad_accum : 1; }

/* Takes out of the store what the neighbour gets. What is also kept here stays as a copy. */
static void send(const struct work *w, struct stage_state *s)
{
    const struct id_list *list = &w->program->handed[w->kind];
    s->sent[w->kind] = store_take(&s->store, list, w->micro_batch);
    for (uint32_t i = 0; i < list->n && w->kind == TASK_FORWARD; i++) {
        const float *x = s->sent[w->kind].x[i];
        if (!x || !w->program->handed_is_kept[i])
            continue;
        store_make(&s->store, list->ids[i]);
        memcpy(s->store.values[list->ids[i]].x, x, s->store.values[list->ids[i]].n_elements * sizeof *x);
    }
}

/* After a slot, everything that its tasks sent moves at the same time. */
static bool deliver(const struct work *w, uint32_t replica, struct err *err)
{
    uint32_t neighbour = w->kind == TASK_FORWARD ? w->stage + 1 : w->stage - 1;
    struct stage_state *from = at_work(w, replica), *to = neighbour < w->x->p->n_stages ? stage_state_of(w->x, replica, neighbour) : NULL;
    if (!to)
        return true;
    if (to->n_handed[w->kind] == most_handed(w->x))
        return fail(err, "stage %u has not yet read what it was handed for micro-batch %ju", neighbour, (uintmax_t)to->handed[w->kind]->micro_batch);
    struct packet *packet = &to->handed[w->kind][to->n_handed[w->kind]++];
    *packet = from->sent[w->kind];
    from->sent[w->kind] = (struct packet){ 0 };
    live_add(&to->store.live, LIVE_HANDED_OVER, packet_bytes(packet, w->x->g));
    return true;
}

/* Adds or takes away an entry's bytes, each tensor's in its category. */
static void count_entry(struct live_bytes *l, const struct stage_program *program, const struct graph *g, bool add)
{
    static const enum live_category categories[] = { [KEPT_IN_STASH] = LIVE_STASH, [KEPT_INPUT] = LIVE_KEPT_INPUTS, [KEPT_CARRIED] = LIVE_ACTIVATIONS };
    l->entry_bytes = 0;
    for (uint32_t i = 0; i < program->kept.n; i++) {
        uint64_t bytes = tensor_bytes(&g->tensors[program->kept.ids[i]]);
        if (add)
            live_add(l, categories[program->kept_as[i]], bytes);
        else
            l->now[categories[program->kept_as[i]]] -= bytes;
        l->entry_bytes += program->kept_as[i] == KEPT_IN_STASH ? bytes : 0;
    }
}

static bool push_entry(const struct work *w, struct stage_state *s, struct err *err)
{
    uint32_t depth = w->x->p->stages[w->stage].stash_depth;
    if (s->n_entries == depth)
        return fail(err, "the stash is full: %u micro-batches are in flight, the plan's depth", depth);
    s->entries[s->n_entries++] = store_take(&s->store, &w->program->kept, w->micro_batch);
    s->store.live.deepest = max_u32(s->store.live.deepest, s->n_entries);
    count_entry(&s->store.live, w->program, w->x->g, true);
    return true;
}

static bool pop_entry(const struct work *w, struct stage_state *s, struct err *err)
{
    if (s->n_entries == 0 || s->entries[0].micro_batch != w->micro_batch)
        return fail(err, "the oldest entry of the stash belongs to another micro-batch");
    count_entry(&s->store.live, w->program, w->x->g, false);
    store_put(&s->store, &s->entries[0]);
    memmove(s->entries, s->entries + 1, --s->n_entries * sizeof *s->entries);
    return true;
}

static bool fill(const struct work *w, uint32_t replica, uint32_t id, struct err *err)
{
    struct stage_store *store = &at_work(w, replica)->store;
    store_make(store, id);
    bool filled = fill_part(w->x, store->values[id].x, id, replica, w->micro_batch, err);
    round_given(w->x, id, store->values[id].x);
    return filled;
}

static bool fill_all(const struct work *w, uint32_t replica, const struct id_list *ids, struct err *err)
{
    for (uint32_t i = 0; i < ids->n; i++)
        if (!fill(w, replica, ids->ids[i], err))
            return false;
    return true;
}

/* Puts everything that the task may read into its store. The host's inputs are given to the forward pass alone. */
static bool begin_task(const struct work *w, uint32_t replica, struct err *err)
{
    struct stage_state *s = at_work(w, replica);
    bool forward = w->kind == TASK_FORWARD;
    return fill_all(w, replica, &w->program->states, err) && (!forward || fill_all(w, replica, &w->program->inputs, err))
        && receive(w, s, err) && (forward || pop_entry(w, s, err));
}

static bool end_task(const struct work *w, uint32_t replica, struct err *err)
{
    struct stage_state *s = at_work(w, replica);
    if (w->kind == TASK_FORWARD ? w->stage + 1 < w->x->p->n_stages : w->stage > 0)
        send(w, s);
    bool good = w->kind == TASK_BACKWARD || !w->x->p->request.training || push_entry(w, s, err);
    store_clear(&s->store);
    return good;
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

static const struct op *last_forward_op(const struct graph *g) { return &g->ops[g->n_forward_ops - 1]; }

/* Replicas that compute one copy of the model draw the same numbers for tensors that they have alike. */
static uint64_t key_of(const struct work *w, uint32_t replica, uint32_t tensor_id)
{
    const struct tensor *t = &w->x->g->tensors[tensor_id];
    uint64_t width = plan_tensor_replicas(&w->x->p->request), copy = replica / width, drawer = copy;
    if (tensor_span(t) > 1)
        drawer = copy * width + tensor_part_of(&t->cuts[0], replica) * t->cuts[0].stride + tensor_part_of(&t->cuts[1], replica);
    const uint64_t key[] = { w->x->o.seed, w->x->step, drawer, w->micro_batch };
    return hash_bytes(key, sizeof key, 0);
}

/* Fills a list of the replicas that an operation exchanges something with, and returns how many; a backward pass has kept what its forward pass
 * exchanged. */
static uint32_t find_peers(const struct tensor_value *peers[MAX_REPLICAS], const struct work *w, uint32_t replica, const struct op *op)
{
    struct op_exchange own = op_exchange(w->x->g, op), forward = op_exchange(w->x->g, op_forward(w->x->g, op)), *e = own.ranks > forward.ranks ? &own : &forward;
    uint32_t n = max_u32(1, min_u32(e->ranks, w->x->p->request.n_replicas)), stride = max_u32(1, e->stride), first = replica / (n * stride) * n * stride + replica % stride;
    for (uint32_t i = 0; i < n && n > 1; i++)
        peers[i] = at_work(w, first + i * stride)->store.values;
    return n > 1 ? n : 0;
}

static bool run_op(const struct work *w, uint32_t replica, uint32_t op_id, struct err *err)
{
    const struct execution_options *o = &w->x->o;
    const struct op *op = &w->x->g->ops[op_id];
    const struct tensor_value *peers[MAX_REPLICAS];
    uint32_t n_peers = find_peers(peers, w, replica, op);
    struct op_context c = { .dropout_key = key_of(w, replica, op_forward(w->x->g, op)->outputs[0]), .rank = replica, .precision = o->precision, .counts = w->x->rounded,
                            .peers = peers, .n_peers = n_peers, .mean_losses = o->mean_losses, .loss_factor = o->loss_scale,
                            .n_threads = o->n_threads };
    return op_execute(w->x->g, op_id, at_work(w, replica)->store.values, &c, err);
}

/* A loss is counted when it is first computed, and not again in recomputation. Gradients of weights go to their accumulators at once; the output of
 * inference is kept. */
static void use_results(const struct work *w, uint32_t replica, const struct op *op)
{
    const struct tensor_value *values = at_work(w, replica)->store.values;
    if (op_is_loss(op) && w->kind == TASK_FORWARD)
        w->x->loss += (double)values[op->outputs[0]].x[0];
    if (op == last_forward_op(w->x->g) && w->x->output.x && replica == 0 && w->micro_batch == 0)
        memcpy(w->x->output.x, values[op->outputs[0]].x, w->x->output.n_elements * sizeof *w->x->output.x);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (w->x->g->tensors[op->outputs[k]].role == ROLE_WEIGHT_GRADIENT)
            accumulate(w->x, replica, w->x->p->stages[w->stage].ipu, op->outputs[k], values[op->outputs[k]].x, key_of(w, replica, op->outputs[k]));
}

/* Puts the results of an operation into the store. A result that is made in place takes over the bytes of an input that is read for the last time. */
static void make_results(struct stage_store *s, const struct op_sequence *q, uint32_t i)
{
    const struct op *op = &s->g->ops[q->ops.ids[i]];
    uint64_t replaced_bytes = 0;
    for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1] && q->in_place[i]; k++) {
        const struct tensor *t = &s->g->tensors[q->freed.ids[k]];
        replaced_bytes += s->values[q->freed.ids[k]].x && t->role != ROLE_INPUT ? tensor_bytes(t) : 0;
    }
    s->live.now[LIVE_ACTIVATIONS] -= replaced_bytes;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        store_make(s, op->outputs[k]);
    s->live.now[LIVE_ACTIVATIONS] += replaced_bytes;
}

static bool run_sequence(const struct work *w, struct err *err)
{
    const struct op_sequence *q = &w->program->pass[w->kind];
    uint32_t n_replicas = w->x->p->request.n_replicas;
    for (uint32_t i = 0; i < q->ops.n; i++) {
        const struct op *op = &w->x->g->ops[q->ops.ids[i]];
        if (w->x->o.watch)
            w->x->o.watch(w->x->o.user, w->stage, w->kind, w->micro_batch, q->ops.ids[i]);
        for (uint32_t r = 0; r < n_replicas; r++) {
            make_results(&at_work(w, r)->store, q, i);
            if (!run_op(w, r, q->ops.ids[i], err))
                return false;
            use_results(w, r, op);
        }
        for (uint32_t r = 0; r < n_replicas; r++)
            for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1]; k++)
                store_drop(&at_work(w, r)->store, q->freed.ids[k]);
    }
    return true;
}

static bool run_task(const struct work *w, struct err *err)
{
    bool good = true;
    for (uint32_t r = 0; r < w->x->p->request.n_replicas && good; r++)
        good = begin_task(w, r, err);
    good = good && run_sequence(w, err);
    for (uint32_t r = 0; r < w->x->p->request.n_replicas && good; r++)
        good = end_task(w, r, err);
    return good;
}

static bool deliver_all(const struct work *w, struct err *err)
{
    bool good = true;
    for (uint32_t r = 0; r < w->x->p->request.n_replicas && good; r++)
        good = deliver(w, r, err);
    return good;
}

/* ---- the step -------------------------------------------------------------------------------------------------- */

/* Calls each() for every task of a slot that is at work in a cycle. */
static bool each_task(struct execution *x, const struct pipeline_run *run, uint64_t cycle, uint32_t slot, bool (*each)(const struct work *, struct err *), struct err *err)
{
    for (const struct task *t = x->p->tasks + run->first_task; t < x->p->tasks + run->end_task; t++) {
        struct work w = { x, &x->programs[t->stage], t->stage, t->kind, cycle - t->first_cycle };
        if (t->slot == slot && !each(&w, err))
            return fail_in(&w, err);
    }
    return true;
}

static bool run_cycle(struct execution *x, const struct pipeline_run *run, uint64_t cycle, struct err *err)
{
    for (uint32_t slot = 0; slot < x->p->n_slots; slot++)
        if (!each_task(x, run, cycle, slot, run_task, err) || !each_task(x, run, cycle, slot, deliver_all, err))
            return false;
    return true;
}

static bool pipeline_is_empty(const struct execution *x, struct err *err)
{
    for (uint32_t s = 0; s < x->p->n_stages; s++)
        if (stage_state_of(x, 0, s)->n_entries || stage_state_of(x, 0, s)->n_handed[0] || stage_state_of(x, 0, s)->n_handed[1])
            return fail(err, "%s, stage %u: the step ends before its micro-batches do", x->g->name, s);
    return true;
}

bool execution_step(struct execution *x, struct step_result *out, struct err *err)
{
    *out = (struct step_result){ .loss = 0 };
    x->loss = 0;
    memset(x->rounded, 0, sizeof x->rounded);
    clear_gradients(x);
    for (uint32_t i = 0; i < x->p->n_runs; i++) {
        const struct pipeline_run *run = &x->p->runs[i];
        for (uint32_t c = 0; c < run->n_cycles; c++)
            if (!run_cycle(x, run, (uint64_t)run->first_cycle + c, err))
                return false;
    }
    out->loss = x->loss / x->p->request.grad_accum / x->p->request.n_replicas;
    if (!pipeline_is_empty(x, err) || (x->p->request.training && !update_execute(x, out, err)))
        return false;
    memcpy(out->rounded, x->rounded, sizeof out->rounded);
    x->step++;
    return true;
}

/* ---- beginning and end -------------------------------------------------------------------------------------------- */

static bool check_plan(const struct plan *p, struct err *err)
{
    if (p->request.stash_type == TYPE_FP8)
        return fail(err, "%s: a stash in fp8 is not executed; set parallel.stash_type=fp16", p->graph->name);
    if (p->request.n_replicas > MAX_REPLICAS)
        return fail(err, "%s: %u replicas, at most %d are executed; lower parallel.replicas", p->graph->name, p->request.n_replicas, MAX_REPLICAS);
    return graph_is_executable(p->graph, err);
}

/* Checks that the plan keeps all that a backward task reads and does not make. */
static bool check_stash(const struct execution *x, uint32_t stage, struct err *err)
{
    const struct stage_program *program = &x->programs[stage];
    uint64_t bytes = 0, planned = x->p->stages[stage].stash_bytes;
    for (uint32_t i = 0; i < program->kept.n; i++)
        bytes += program->kept_as[i] == KEPT_IN_STASH ? tensor_bytes(&x->g->tensors[program->kept.ids[i]]) : 0;
    return bytes == planned || fail(err, "%s, stage %u: its backward task reads %ju bytes that its forward task made, and the plan keeps %ju", x->g->name, stage,
                                    (uintmax_t)bytes, (uintmax_t)planned);
}

static void start_state(struct execution *x, uint32_t replica, uint32_t stage)
{
    struct stage_state *s = stage_state_of(x, replica, stage);
    s->store = (struct stage_store){ .g = x->g, .values = ARENA_ARRAY(&x->arena, struct tensor_value, x->g->n_tensors) };
    s->entries = ARENA_ARRAY(&x->arena, struct packet, max_u32(1, x->p->stages[stage].stash_depth));
    for (int k = 0; k < 2; k++)
        s->handed[k] = ARENA_ARRAY(&x->arena, struct packet, most_handed(x) + 1);
}

/* Fills tensors that are neither trained nor streamed, such as masks. */
static void start_states(struct execution *x, uint32_t replica)
{
    for (uint32_t s = 0; s < x->p->n_stages; s++)
        for (uint32_t i = 0; i < x->programs[s].states.n; i++) {
            uint32_t id = x->programs[s].states.ids[i];
            uint64_t n = tensor_elements(&x->g->tensors[id]);
            stage_state_of(x, replica, s)->store.values[id] = (struct tensor_value){ ARENA_ARRAY(&x->arena, float, n), n };
        }
}

struct execution *execution_start(const struct plan *p, const struct execution_options *o, struct err *err)
{
    if (!check_plan(p, err))
        return NULL;
    struct execution *x = malloc(sizeof *x);
    if (!x)
        out_of_memory(sizeof *x);
    *x = (struct execution){ .p = p, .g = p->graph, .o = *o, .shard = plan_shard_replicas(p) };
    const enum ahead *ahead = graph_for_later_layers(p->graph, &x->arena);
    x->programs = ARENA_ARRAY(&x->arena, struct stage_program, p->n_stages);
    x->states = ARENA_ARRAY(&x->arena, struct stage_state, (size_t)p->n_stages * p->request.n_replicas);
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_layers layers = plan_stage_layers(p, s);
        stage_program_make(&x->programs[s], p->graph, &layers, ahead, &x->arena);
    }
    for (uint32_t r = 0; r < p->request.n_replicas; r++) {
        for (uint32_t s = 0; s < p->n_stages; s++)
            start_state(x, r, s);
        start_states(x, r);
    }
    uint64_t n = tensor_elements(&x->g->tensors[last_forward_op(x->g)->outputs[0]]);
    if (!p->request.training)
        x->output = (struct tensor_value){ ARENA_ARRAY(&x->arena, float, n), n };
    bool good = weights_start(x, err);
    for (uint32_t s = 0; s < p->n_stages && good; s++)
        good = check_stash(x, s, err);
    if (good)
        return x;
    execution_end(x);
    return NULL;
}

void execution_set(struct execution *x, const struct optimizer_values *o) { x->o.optimizer = *o; }

float *execution_weight(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id)
{
    const struct weight *w = weight_on(x, replica, ipu, tensor_id);
    return w ? w->x : NULL;
}

const float *execution_direction(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id)
{
    const struct weight *w = weight_on(x, replica, ipu, tensor_id);
    return w ? w->gradient : NULL;
}

void execution_state(const struct execution *x, void (*visit)(void *user, float *elements, uint64_t n), void *user)
{
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++) {
        const struct weight *w = &x->weights[i];
        visit(user, w->x, w->n);
        for (int m = 0; m < 2; m++)
            if (w->moments[m])
                visit(user, w->moments[m], w->n_local);
    }
}

void execution_set_step(struct execution *x, uint64_t n_done) { x->step = n_done; }

const struct tensor_value *execution_output(const struct execution *x) { return &x->output; }

const struct live_bytes *execution_live(const struct execution *x, uint32_t stage) { return &stage_state_of(x, 0, stage)->store.live; }

void execution_end(struct execution *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->p->n_stages * x->p->request.n_replicas; i++) {
        struct stage_state *s = &x->states[i];
        if (s->store.values)
            store_clear(&s->store);
        for (uint32_t k = 0; k < s->n_entries; k++)
            packet_free(&s->entries[k]);
        for (int k = 0; k < 2; k++) {
            for (uint32_t n = 0; n < s->n_handed[k]; n++)
                packet_free(&s->handed[k][n]);
            packet_free(&s->sent[k]);
        }
    }
    weights_end(x);
    arena_free(&x->arena);
    free(x);
}
