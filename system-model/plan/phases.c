/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phases.c - a model in phases: weights, gradients, state and activations lie off the chip, and layers come one phase after another.
 *
 * A phase is a stage of the plan; all are on the same IPUs. It loads its weights once, in one exchange, and gathers those that replicas share; then all
 * micro-batches of the step pass through it (batch serialisation); the next phase begins. Backward phases load their weights again, and for each
 * micro-batch what the forward pass stored (phase_moves.c). The last phase does both passes at once. Read from graphcore/examples 3cc8f81
 * nlp/gpt_j/popxl/finetuning.py and graphcore/popxl-addons 7499fca transforms/batch_serialisation.py, remote.py, rts.py.
 *
 *     transfer        = host latency + bytes of an IPU / its rate to the memory, when all IPUs in use move theirs
 *     rate            = of a board with streaming memory: the memory's, shared by its IPUs, and at most the chip's port
 *                       else: the port to the host, or its part of the switch before it
 *     load of a phase = transfer(weights / shards) + all-gather of what is sharded
 *     micro-batch     = transfer(what it reads / tensor-parallel replicas) + all-gather + way over I/O tiles + work + transfer(what it stores / replicas)
 *                       overlapped, max(work, transfers) and the gather; the first load and the last store are then paid once a phase
 * Activations are sharded over the replicas of a copy of the model that have them alike, those of its first axis (nlp/gpt3_175B/popxl/pretraining.py, rg_rts_activations). In inference the only micro-batch of a call stays on the chips between
 * phases (nlp/gpt_j/popxl/inference.py, nlp/llama/popxl/inference.py: no remote store). Not modelled: the embedding's gradient, which its optimizer reads at once.
 */
#include "system-model/plan/stage_program.h"
#include "system-model/graph/graph.h"

static uint32_t plan_tensor_shards(const struct plan *p, const struct tensor *t)
{
    return tensor_elements(t) >= p->request.program.sharded_elements ? max_u32(1, plan_shard_replicas(p) / tensor_span(t)) : 1;
}

/* ---- weights of a phase ------------------------------------------------------------------------------ */

typedef bool on_weight(void *user, const struct tensor *t);

static bool is_in_phase(const void *user, uint32_t layer_id)
{
    const struct stage_plan *s = user;
    return layer_id >= s->first_layer && layer_id < stage_end(s);
}

/* Calls `on` with each weight that a phase reads: its own, and tied ones of other phases. */
static bool each_weight(const struct compiler *c, const struct stage_plan *s, on_weight *on, void *user)
{
    const struct graph *g = c->graph;
    bool good = true;
    for (uint32_t i = 0; i < c->n_weights && good; i++)
        if (is_in_phase(s, g->tensors[c->weights[i]].layer_id))
            good = on(user, &g->tensors[c->weights[i]]);
    for (size_t i = 0; i < c->n_tied && good; i++) {
        const struct tensor *t = &g->tensors[c->tied[i].tensor_id];
        good = !tied_is_first(c, i, is_in_phase, s) || is_in_phase(s, t->layer_id) || on(user, t);
    }
    return good;
}

/* Bytes that a gather brings from other groups. Inference gathers shards of a weight. Training also gathers the whole gradients of all replicas,
 * from which each replica sums those of its group: its shard's, or those of all copies of the weight where it is not sharded. */
static uint64_t bytes_between(const struct plan *p, uint32_t n_shards, const struct tensor *t)
{
    bool training = p->request.training;
    uint32_t stride = tensor_span(t), n = training && n_shards < 2 ? p->request.n_replicas / stride : n_shards;
    return gathers_between(p->topology, n, stride) ? tensor_bytes(t) * stride * (training ? n : 1) : 0;
}

struct weight_count { const struct plan *p; struct phase_bytes *out; };

static bool count_phase_weight(void *user, const struct tensor *t)
{
    struct weight_count *w = user;
    uint32_t n_shards = plan_tensor_shards(w->p, t);
    uint64_t n = ceil_div(tensor_elements(t), n_shards);
    w->out->weights += tensor_bytes(t);
    w->out->local_weights += n_shards > 1 ? n * data_type_bytes(t->type) : tensor_bytes(t);
    w->out->local_elements += n;
    w->out->between = max_u64(w->out->between, bytes_between(w->p, n_shards, t));
    return true;
}

/* The one micro-batch of an inference call stays on the chips between phases. */
static bool passes_on_chip(const struct plan *p) { return !p->request.training && p->request.grad_accum == 1; }

static struct phase_bytes phase_bytes_of(const struct plan *p, struct compiler *c, uint32_t stage)
{
    const struct stage_layers layers = plan_stage_layers(p, stage);
    struct phase_bytes out = { .updates_at_once = p->request.training && !p->request.program.clip_norm };
    each_weight(c, &p->stages[stage], count_phase_weight, &(struct weight_count){ p, &out });
    out.moves = phase_moves(c->graph, compile_stage_program(c, &layers), &layers);
    for (int task = TASK_FORWARD; task <= TASK_BACKWARD && passes_on_chip(p); task++)
        out.moves.loaded[task] = out.moves.stored[task] = 0;
    return out;
}

static void list_phases(struct plan *p, struct compiler *c)
{
    struct phase_bytes phases[MAX_STAGES];
    for (uint32_t s = 0; s < p->n_stages; s++)
        phases[s] = phase_bytes_of(p, c, s);
    p->phases = memo_own(&c->plans, phases, p->n_stages * sizeof *phases).at;
}

/* ---- collectives ---------------------------------------------------------------------------------------- */

struct gatherer { const struct plan *p; struct compiler *c; uint64_t cycles; struct err *err; };

/* A gather over n replicas that are `stride` apart. All groups of the same shape run at the same time. */
static bool add_phase_gather(struct gatherer *g, uint32_t n, uint32_t stride, double bytes)
{
    const struct plan_request *o = &g->p->request;
    if (gathers_between(g->p->topology, n, stride))
        return add_phase_gather(g, n * stride, 1, bytes * stride);
    uint32_t n_starts = max_u32(stride, plan_played_replicas(g->p, n * stride * o->ipus_per_replica) / max_u32(1, n));
    struct collective_question q = { .kind = COLLECTIVE_ALL_GATHER, .bytes = bytes, .ranks = { n, stride, n_starts, o->ipus_per_replica, 0, 1 },
                                     .n_in_use = (uint64_t)o->n_replicas * o->ipus_per_replica, .unfolded = o->detail.unfolded };
    struct collective_cost cost;
    if (n < 2)
        return true;
    if (!compile_collective(&cost, g->c, &q, g->err))
        return false;
    g->cycles += cycles_of(g->p->topology, cost.time_s);
    return true;
}

static bool gather_phase_weight(void *user, const struct tensor *t)
{
    struct gatherer *g = user;
    return add_phase_gather(g, plan_tensor_shards(g->p, t), tensor_span(t), (double)tensor_bytes(t));
}

/* ---- transfers --------------------------------------------------------------------------------------------- */

static uint64_t transfer_cycles(const struct plan *p, double bytes)
{
    double latency_s = p->topology->machine->host_latency_s;
    return bytes > 0 ? cycles_of(p->topology, latency_s + bytes / plan_remote_rate(p)) : 0;
}

/* The cycles of a task's transfers. moved, io_copies: for each micro-batch; once: the first load and the last store of a phase, if the others
 * overlap with work. */
struct transfers { uint64_t moved, io_copies, once; };

static struct transfers transfers_of(const struct plan *p, double read_bytes, double stored_bytes)
{
    double width = plan_activation_shards(&p->request);
    uint64_t in = transfer_cycles(p, read_bytes / width), out = transfer_cycles(p, stored_bytes / width);
    struct transfers t = { .moved = in + out };
    if (p->request.io_tiles)
        t.io_copies = plan_io_copy_cycles(p, (uint64_t)read_bytes) + plan_io_copy_cycles(p, (uint64_t)stored_bytes);
    t.once = p->request.phase_io == PHASE_IO_OVERLAPPED ? in + out : 0;
    return t;
}

/* Adds a task's transfers, and the gather of what it reads, which is sharded over the replicas of one copy of the model. */
static bool add_transfers(struct gatherer *g, struct cycles *task, struct cycles *once, double read_bytes, double stored_bytes)
{
    const struct plan *p = g->p;
    struct transfers t = transfers_of(p, read_bytes, stored_bytes);
    uint64_t work = cycles_total(task), hidden = p->request.phase_io == PHASE_IO_OVERLAPPED ? min_u64(work, t.moved) : 0;
    g->cycles = 0;
    if (read_bytes > 0 && !add_phase_gather(g, plan_activation_shards(&p->request), max_u32(1, p->request.tensor_parallel[1]), read_bytes))
        return false;
    task->part[PART_STREAMING] += t.moved - hidden;
    task->part[PART_EXCHANGE] += t.io_copies;
    task->part[PART_ACTIVATIONS] += g->cycles;
    once->part[PART_STREAMING] += t.once;
    return true;
}

/* Each cache is loaded and stored by accesses of its own, whatever else overlaps (graphcore/examples 3cc8f81 nlp/llama/popxl/inference.py). */
static uint64_t cache_cycles(const struct plan *p, const struct phase_moves *m)
{
    double latency_s = p->topology->machine->host_latency_s;
    return cycles_of(p->topology, 2 * ((double)m->caches * latency_s + (double)m->cache / plan_remote_rate(p)));
}

/* ---- a phase --------------------------------------------------------------------------------------------------- */

static bool load_weights(struct gatherer *g, struct stage_plan *s, const struct phase_bytes *b, struct cycles *once)
{
    g->cycles = 0;
    if (!each_weight(g->c, s, gather_phase_weight, g))
        return false;
    once->part[PART_STREAMING] += transfer_cycles(g->p, (double)b->local_weights);
    once->part[PART_ALL_REDUCE] += g->cycles;
    return true;
}

/* The cycles of latency that a phase's accesses to memory take in its update. Gradients are stored, then loaded with weights and state, and the
 * results are stored; a phase that updates at once has only the last access. update.c counts the bytes. */
static uint64_t update_access_cycles(const struct plan *p, const struct phase_bytes *b)
{
    return (b->updates_at_once ? 1 : 3) * cycles_of(p->topology, p->topology->machine->host_latency_s);
}

/* Adds a phase's loads and transfers. The last phase does its backward pass right after its forward pass, and does not load its weights again. */
static bool add_phase(struct gatherer *g, struct plan *p, uint32_t i)
{
    struct stage_plan *s = &p->stages[i];
    const struct phase_bytes *b = &p->phases[i];
    bool last = i + 1 == p->n_stages;
    for (int task = TASK_FORWARD; task <= (p->request.training ? TASK_BACKWARD : TASK_FORWARD); task++) {
        struct cycles *work = task == TASK_FORWARD ? &s->forward : &s->backward, *once = &s->phase_cycles[task];
        bool loads = task == TASK_FORWARD || !last;
        if ((loads && !load_weights(g, s, b, once)) || !add_transfers(g, work, once, (double)b->moves.loaded[task], (double)b->moves.stored[task]))
            return false;
    }
    s->forward.part[PART_STREAMING] += cache_cycles(p, &b->moves);
    if (p->request.training)
        s->phase_cycles[TASK_BACKWARD].part[PART_STREAMING] += update_access_cycles(p, b);
    stage_sum_cycles(s);
    return true;
}

bool plan_phases(struct plan *p, struct compiler *c, struct err *err)
{
    struct gatherer g = { p, c, 0, err };
    bool good = true;
    if (!plan_is_phased(&p->request))
        return true;
    list_phases(p, c);
    for (uint32_t i = 0; i < p->n_stages && good; i++)
        good = add_phase(&g, p, i);
    return good;
}
