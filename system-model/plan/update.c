/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update.c - builds the weight update: what each weight tensor goes through, step by step, and what each step takes.
 *
 * With replicated tensor sharding a large tensor is zeroed and rearranged, reduce-scattered over its shard's replicas (and
 * all-reduced between pods), clipped, its moments loaded where they are off chip, updated, its norms added, its moments
 * stored, the new weight gathered and copied back (graphcore/popart at sdk 2.5.1: streamingmemoryopinserter.cpp,
 * replicatedreducescatterx.cpp, lamb.cpp, clipweightgradientsbynorm.cpp). Others are all-reduced, one by one or merged.
 *     collective = steps on the links (collective.c)
 * In phases (phases.c) a program that clips gradients by their global norm stores the reduced ones, which come back with weight and moments in a phase of the
 * optimizer (graphcore/examples 3cc8f81 nlp/gpt_j/popxl/finetuning.py); otherwise the moments come with the weight to the backward phase, which updates it at once
 * (tutorials/tutorials/popxl/6_phased_execution/mnist.py). Weights are not gathered here, and accesses of a phase are counted there.
 *     access to streaming memory = moments x host_latency_s + bytes x IPUs that move state x (1 / rate of the memory + streaming_s_per_byte)
 *                                  or, if that is longer, bytes / rate of the chip's own port
 * A sync of a collective holds all IPUs of a replica, so their chains follow one another (in series) unless the framework runs them side by side.
 * Not modelled: overlap of one IPU's chain with the next IPU's where neither needs the other; serialised word tables as several tensors.
 */
#include "system-model/plan/update_internal.h"
#include "system-model/graph/graph.h"

const char *const update_kind_names[N_UPDATE_KINDS] = {
    [UPDATE_ZERO] = "zero", [UPDATE_REARRANGE] = "rearrange", [UPDATE_REDUCE] = "reduce", [UPDATE_REDUCE_PODS] = "reduce-pods",
    [UPDATE_CLIP] = "clip", [UPDATE_STORE_GRADIENT] = "store-gradient", [UPDATE_LOAD] = "load", [UPDATE_OPTIMIZER] = "optimizer", [UPDATE_NORMS] = "norms",
    [UPDATE_GATHER] = "gather", [UPDATE_COPY_BACK] = "copy-back", [UPDATE_STORE] = "store",
};

struct update_builder {
    const struct update_terms *q;
    struct owned terms;                 /* owns *q */
    const struct stage_place *places; size_t n_places;  /* the stages of one IPU */
    struct update_program u;
    struct compiler *c;
    struct arena *a;                    /* the arena of what is being built */
    struct err *err;
    uint32_t n_pods;                    /* groups of replicas that share a shard */
    struct op_plan_options vector;
    struct update_op ops[N_UPDATE_KINDS]; uint32_t n_ops;       /* operations of the chain that is being built */
    uint32_t n_shards, n_parts;         /* see struct update_steps and struct update_chain */
};

enum { WORD_BYTES = 4 };                /* the size of one square or norm */

static void update_start(struct update_builder *b, struct owned terms, struct compiler *c, struct err *err)
{
    *b = (struct update_builder){ .q = terms.at, .terms = terms, .c = c, .err = err };
    b->n_pods = b->q->n_replicas / b->q->shard;
    b->vector = ((const struct compiled *)b->q->compiled.at)->options;
    b->u.in_series = b->q->in_series;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* A struct rank_pattern for replicas as wide as the plan's. */
struct group { uint32_t n_ranks, stride, n_starts, first_ipu, n_ipus; };

/* port_bytes: see struct collective_request. */
static bool add_uneven_collective(struct update_op *op, struct update_builder *b, enum collective_kind kind, struct group g, double bytes, double port_bytes)
{
    const struct update_terms *o = b->q;
    struct collective_question q = { .kind = kind, .method = o->all_reduce_method, .unfolded = o->unfolded, .bytes = bytes, .port_bytes = port_bytes,
                                     .full_routes = o->full_routes,
                                     .n_in_use = o->n_replicas * o->ipus_per_replica,
                                     .ranks = { g.n_ranks, g.stride, g.n_starts, o->ipus_per_replica, g.first_ipu, g.n_ipus } };
    struct collective_cost cost;
    if (!compile_collective(&cost, b->c, &q, b->err))
        return false;
    op->cycles.part[PART_ALL_REDUCE] += cycles_of(b->c->topology, cost.time_s);
    op->bytes += bytes;
    for (int k = 0; k < N_LINK_KINDS; k++)
        op->busiest_bytes[k] += cost.busiest_bytes[k];
    return true;
}

static bool add_collective(struct update_op *op, struct update_builder *b, enum collective_kind kind, struct group g, double bytes)
{
    return add_uneven_collective(op, b, kind, g, bytes, bytes);
}

/* The replicas of a collective. In series, the collective of one IPU has all links to itself. Without a fault it takes equally long on every IPU,
 * so IPU 0 stands for all. */
static struct group over(const struct update_builder *b, uint32_t ipu, uint32_t n_ranks, uint32_t stride, uint32_t n_starts)
{
    const struct update_terms *o = b->q;
    if (!b->q->in_series || ipu == ALL_IPUS)
        return (struct group){ n_ranks, stride, n_starts, 0, o->ipus_per_replica };
    return (struct group){ n_ranks, stride, n_starts, o->has_faults ? ipu : 0, 1 };
}

/* The replicas that each have a shard of the current tensor: replicas of one pod that have the same part of it. If the tensor is in parts, the
 * groups of one pod stand for all. */
static struct group over_shard(const struct update_builder *b, uint32_t ipu)
{
    return b->n_parts > 1 ? over(b, ipu, b->n_shards, b->n_parts, b->n_parts) : over(b, ipu, b->q->shard, 1, b->n_pods);
}

static uint32_t n_copies(const struct update_builder *b) { return b->q->n_replicas / (uint32_t)b->q->tensor_replicas; }

/* The group of the copies of the model, which sum their gradients. */
static struct group over_copies(const struct update_builder *b, uint32_t ipu)
{
    uint32_t width = (uint32_t)b->q->tensor_replicas;
    return over(b, ipu, n_copies(b), width, width);
}

static struct update_op *add_op(struct update_builder *b, enum update_kind kind, bool on_tiles)
{
    assert(b->n_ops < N_UPDATE_KINDS);
    b->ops[b->n_ops] = (struct update_op){ .kind = kind, .on_tiles = on_tiles };
    return &b->ops[b->n_ops++];
}

/* Adds a sum over a group of replicas. In phases the sum may gather whole addends from all replicas in between. */
static bool add_sum(struct update_builder *b, enum collective_kind kind, struct group g, double bytes)
{
    struct update_op *op = add_op(b, UPDATE_REDUCE, false);
    if (!b->q->phased || !gathers_between(b->c->topology, g.n_ranks, g.stride))
        return add_collective(op, b, kind, g, bytes);
    uint32_t n = g.n_ranks * g.stride;
    return add_collective(op, b, COLLECTIVE_ALL_GATHER, (struct group){ n, 1, max_u32(1, (uint32_t)b->q->n_replicas / n), g.first_ipu, g.n_ipus }, bytes * n);
}

/* ---- steps of a chain ---------------------------------------------------------------------- */

static void add_work(struct update_op *op, const struct update_builder *b, enum vector_work work, uint64_t n_elements, enum data_type type,
                     enum part part)
{
    const double moment_bytes = b->q->state_bytes_per_param / b->q->n_moments;
    cycles_add_plan(&op->cycles, compile_vector_work(b->c, work, n_elements, type, moment_bytes, &b->vector), part, 1);
    op->bytes += (double)(n_elements * data_type_bytes(type));
}

/* All-reduces that fit into a buffer are merged; a larger one is not, as no tensor is cut to fill a buffer. */
static bool is_merged(const struct update_builder *b, double bytes)
{
    return bytes <= b->q->merge_buffer_bytes;
}

/* Adds the reduction of a gradient. If a tensor's shards are on more replicas than sum its gradient, the gradient is reduced whole, and each
 * replica takes its slice (graphcore/popxl-addons 7499fca rts.py:reduce_replica_sharded_tensor). */
static bool add_reduction(struct update_builder *b, const struct update_chain *chain, double bytes)
{
    const struct update_terms *o = b->q;
    if (chain->apart)
        return true;
    if (b->n_shards < 2 || b->n_parts < o->tensor_replicas) {
        bool alone = n_copies(b) > 1 && !is_merged(b, bytes);
        return !alone || add_sum(b, COLLECTIVE_ALL_REDUCE, over_copies(b, chain->ipu), bytes);
    }
    if (o->rearrange_before_reduce) {
        add_work(add_op(b, UPDATE_ZERO, true), b, WORK_ZERO, chain->n_elements, chain->type, PART_REARRANGE);
        add_work(add_op(b, UPDATE_REARRANGE, true), b, WORK_REARRANGE, chain->n_elements, chain->type, PART_REARRANGE);
    }
    return add_sum(b, COLLECTIVE_REDUCE_SCATTER, over_shard(b, chain->ipu), bytes)
        && (b->n_pods < 2 || is_merged(b, bytes / b->n_shards)
            || add_collective(add_op(b, UPDATE_REDUCE_PODS, false), b, COLLECTIVE_ALL_REDUCE, over(b, chain->ipu, b->n_pods, b->q->shard, b->q->shard),
                              bytes / b->n_shards));
}

/* Adds the time to send one word from one IPU of the replica to another. */
static bool add_word(struct update_op *op, struct update_builder *b, uint32_t ipu)
{
    uint32_t width = b->q->ipus_per_replica;
    struct flow word = { ipu, (ipu + 1) % width, WORD_BYTES };
    struct flows_cost cost;
    if (width < 2)
        return true;
    if (!compile_flows(&cost, b->c, &word, 1, played_replicas(b->c->topology, b->q->n_replicas, width, b->q->each_replica, width), width, b->err))
        return false;
    op->cycles.part[PART_ALL_REDUCE] += cycles_of(b->c->topology, cost.time_s) + b->c->topology->machine->chip.global_sync_cycles;
    return true;
}

/* Adds the clipping of gradients: the squares of a shard are summed over its replicas and sent to the IPU that computes the global norm; the
 * factor is sent back, and gradients are scaled by it. */
static bool add_clip(struct update_builder *b, const struct update_chain *chain, uint64_t n_local)
{
    if (!b->q->clip_norm)
        return true;
    struct update_op *op = add_op(b, UPDATE_CLIP, false);
    add_work(op, b, WORK_SQUARES, n_local, chain->type, PART_OPTIMIZER);
    add_work(op, b, WORK_SCALE, n_local, chain->type, PART_OPTIMIZER);
    if (!add_word(op, b, chain->ipu) || !add_word(op, b, chain->ipu))
        return false;
    return b->n_shards < 2 || is_merged(b, WORD_BYTES) || add_collective(op, b, COLLECTIVE_ALL_REDUCE, over_shard(b, chain->ipu), WORD_BYTES);
}

/* Returns bytes per second of an IPU's streamed state, and how many IPUs of the replica move theirs at the same time. The replicas on a board share
 * its memory and the gateway before it. */
static double streaming_rate(uint32_t *together, const struct update_builder *b, uint32_t ipu)
{
    const struct update_terms *o = b->q;
    const struct machine *m = b->c->topology->machine;
    uint64_t width = o->ipus_per_replica, alone = o->remote_alone_ipus, in_use = (uint64_t)o->n_replicas * width;
    *together = !b->q->in_series ? (uint32_t)width : o->remote_together && ipu >= alone ? (uint32_t)(width - alone) : 1;
    uint64_t on_board = min_u64(m->ipus_per_board, in_use);
    uint64_t replicas = max_u64(1, on_board / width);
    return remote_rate(m, min_u64(on_board, *together * replicas), in_use, o->streaming_s_per_byte);
}

/* In phases, a reduced gradient waits off the chip for the global norm. */
static bool waits_off_chip(const struct update_terms *o) { return o->phased && o->clip_norm; }

/* Adds an access to streaming memory. In series, IPUs that move their state at the same time share its duration, so that it counts once. */
static void add_streaming(struct update_builder *b, enum update_kind kind, const struct update_chain *chain, uint64_t n_local)
{
    const struct update_terms *o = b->q;
    if (!o->phased && (!o->streams || chain->n_elements < o->offloaded_elements))
        return;
    uint32_t together;
    double rate = streaming_rate(&together, b, chain->ipu);
    struct update_op *op = add_op(b, kind, false);
    uint32_t with_state = !o->phased ? 0 : kind == UPDATE_STORE ? 1 : waits_off_chip(o) ? 2 : 0;      /* the weight is loaded; its gradient may come with it */
    op->bytes = (double)n_local * (o->state_bytes_per_param + (double)(with_state * data_type_bytes(chain->type)));
    double time_s = (o->phased ? 0 : o->n_moments) * b->c->topology->machine->host_latency_s + op->bytes / rate;
    op->cycles.part[PART_STREAMING] = cycles_of(b->c->topology, time_s / (b->q->in_series ? together : 1));
}

static void add_gradient_store(struct update_builder *b, const struct update_chain *chain, uint64_t n_local)
{
    uint32_t together;
    if (!waits_off_chip(b->q))
        return;
    struct update_op *op = add_op(b, UPDATE_STORE_GRADIENT, false);
    op->bytes = (double)(n_local * data_type_bytes(chain->type));
    op->cycles.part[PART_STREAMING] = cycles_of(b->c->topology, op->bytes / streaming_rate(&together, b, chain->ipu));
}

/* Adds the norms of weight and update over the shards, one number each. */
static bool add_norms(struct update_builder *b, const struct update_chain *chain)
{
    if (!chain->has_norms || b->n_shards < 2 || is_merged(b, WORD_BYTES))
        return true;
    struct update_op *op = add_op(b, UPDATE_NORMS, false);
    return add_collective(op, b, COLLECTIVE_ALL_REDUCE, over_shard(b, chain->ipu), WORD_BYTES)
        && add_collective(op, b, COLLECTIVE_ALL_REDUCE, over_shard(b, chain->ipu), WORD_BYTES);
}

static bool add_gather(struct update_builder *b, const struct update_chain *chain, double bytes)
{
    if (b->n_shards < 2 || b->q->phased)        /* the weight is gathered by the next phase that reads it */
        return true;
    if (!add_collective(add_op(b, UPDATE_GATHER, false), b, COLLECTIVE_ALL_GATHER, over_shard(b, chain->ipu), bytes))
        return false;
    if (b->q->rearrange_before_reduce)
        add_work(add_op(b, UPDATE_COPY_BACK, true), b, WORK_REARRANGE, chain->n_elements, chain->type, PART_REARRANGE);
    return true;
}

/* Copies the steps that were added so far, and starts a new list. */
static void close_steps(struct update_steps *out, struct update_builder *b, uint32_t ipu, struct arena *a)
{
    *out = (struct update_steps){ ARENA_ARRAY(a, struct update_op, b->n_ops), b->n_ops, .n_shards = max_u32(1, b->n_shards) };
    for (uint32_t i = 0; i < b->n_ops; i++) {
        out->ops[i] = b->ops[i];
        out->ops[i].n_cycles = cycles_total(&b->ops[i].cycles);
        out->ops[i].all_ipus = ipu == ALL_IPUS || !b->q->in_series;
        out->n_cycles += out->ops[i].n_cycles;
        cycles_add(&out->cycles, &out->ops[i].cycles, 1);
    }
    b->n_ops = b->n_shards = 0;
}

static bool add_steps(struct update_builder *b, const struct update_chain *chain)
{
    const struct update_terms *o = b->q;
    double bytes = (double)(chain->n_elements * data_type_bytes(chain->type));
    b->n_parts = chain->n_parts;
    b->n_shards = !chain->apart && chain->n_elements >= o->sharded_elements ? max_u32(1, o->shard / chain->n_parts) : 1;
    uint64_t n_local = ceil_div(chain->n_elements, b->n_shards);
    if (!add_reduction(b, chain, bytes) || !add_clip(b, chain, n_local))
        return false;
    add_gradient_store(b, chain, n_local);
    add_streaming(b, UPDATE_LOAD, chain, n_local);
    bool own_norms = chain->has_norms && o->merge_norm_bytes == 0;
    add_work(add_op(b, UPDATE_OPTIMIZER, true), b, (enum vector_work)(own_norms ? o->work : o->work_without_norms), n_local, chain->type,
             PART_OPTIMIZER);
    if (!add_norms(b, chain))
        return false;
    add_streaming(b, UPDATE_STORE, chain, n_local);
    return add_gather(b, chain, bytes);
}

static const void *make_steps(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct steps_input *q = input;
    struct update_builder b;
    const struct update_chain chain = { .ipu = q->ipu, .type = (enum data_type)q->type, .n_elements = q->n_elements, .has_norms = q->has_norms,
                                        .n_parts = (uint32_t)q->n_parts, .apart = q->apart };
    update_start(&b, q->terms, c, err);
    if (!add_steps(&b, &chain))
        return NULL;
    struct update_steps *out = ARENA_NEW(c->arena, struct update_steps);
    close_steps(out, &b, q->ipu, c->arena);
    return out;
}

static bool fill_chain(const struct update_builder *b, struct update_chain *chain)
{
    const struct steps_input q = { b->terms, chain->n_elements, chain->has_norms, chain->n_parts, chain->apart, chain->ipu, chain->type };
    chain->steps = memo_get(&b->c->memo, make_steps, &q, sizeof q, b->err).at;
    return chain->steps;
}

/* ---- chains ------------------------------------------------------------------------------------ */

static void new_chain(struct update_builder *b, struct update_chain chain)
{
    ARENA_APPEND(b->a, b->u.chains, b->u.n_chains, b->u.cap_chains, chain);
}

/* Tensors come in the order of layers, so a chain of the same IPU is usually among the last ones. */
static void add_tensor(struct update_builder *b, const struct tensor *t, uint32_t ipu)
{
    uint32_t joined = max_u32(1, t->n_joined), n_parts = tensor_span(t);
    uint64_t n = tensor_elements(t) / joined;
    enum norms norms = (enum norms)b->q->norms;
    bool has_norms = norms == NORMS_OF_ALL || (norms == NORMS_OF_KERNELS && t->n_dims > 1);
    for (uint32_t i = b->u.n_chains; i-- > 0; ) {
        struct update_chain *same = &b->u.chains[i];
        if (same->ipu == ipu && same->n_elements == n && same->type == t->type && same->has_norms == has_norms && same->n_parts == n_parts &&
            same->apart == t->sharded) {
            same->n_tensors += joined;
            return;
        }
    }
    new_chain(b, (struct update_chain){ .ipu = ipu, .tensor = t->name, .type = t->type, .n_elements = n, .has_norms = has_norms, .apart = t->sharded, .n_tensors = joined,
                                        .n_parts = n_parts });
}

/* Sorts merged collectives before others; those come IPU by IPU, small tensors first. */
static int by_ipu_and_size(const void *a, const void *b)
{
    const struct update_chain *x = a, *y = b;
    const int32_t i = (int32_t)x->ipu, j = (int32_t)y->ipu;     /* ALL_IPUS is -1 here, so merged chains come first */
    if (i != j)
        return i < j ? -1 : 1;
    if (x->n_elements != y->n_elements)
        return x->n_elements < y->n_elements ? -1 : 1;
    if (x->type != y->type)
        return (int)x->type - (int)y->type;
    return x->has_norms != y->has_norms ? x->has_norms - y->has_norms : (int)x->n_parts - (int)y->n_parts;
}

static bool holds_layer_here(const void *user, uint32_t layer_id)
{
    const struct update_builder *b = user;
    for (const struct stage_place *p = b->places; p < b->places + b->n_places; p++)
        if (layer_id >= p->first_layer && layer_id < p->first_layer + p->n_layers)
            return true;
    return false;
}

/* A weight read on another IPU than its own has a copy there, which is reduced and updated as a tensor of its own. */
static void list_tensors(struct update_builder *b, uint32_t ipu)
{
    const struct graph *g = b->c->graph;
    for (uint32_t i = 0; i < b->c->n_weights; i++) {
        const struct tensor *t = &g->tensors[b->c->weights[i]];
        if (holds_layer_here(b, t->layer_id))
            add_tensor(b, t, ipu);
    }
    for (size_t i = 0; i < b->c->n_tied; i++) {
        const struct tensor *t = &g->tensors[b->c->tied[i].tensor_id];
        if (tied_is_first(b->c, i, holds_layer_here, b) && !holds_layer_here(b, t->layer_id))
            add_tensor(b, t, ipu);
    }
    sort_items(b->u.chains, b->u.n_chains, sizeof *b->u.chains, by_ipu_and_size);
}

/* The merged parts of an update; each number is that of the IPU with the most: bytes whose all-reduces are merged, bytes in shards, tensors in shards, and
 * tensors with norms, in shards or not; and the widest type of all tensors with norms. */
struct merged { double bytes, sharded_bytes; uint32_t n_sharded, n_sharded_norms, n_norms; uint64_t norm_elements; enum data_type norm_type; };

/* The merged bytes of an IPU: the mean over a replica's IPUs behind one port to other domains, taken for the busiest port. */
static double merged_behind_port(const struct update_builder *b, const struct update_program *const *of_ipus, bool sharded)
{
    uint32_t width = b->q->ipus_per_replica, n = min_u32(width, b->c->topology->ipus_per_hub);
    double sum = 0, most = 0;
    for (uint32_t ipu = 0; ipu < width; ipu++) {
        sum = ipu % n ? sum : 0;
        for (const struct update_chain *c = of_ipus[ipu]->chains; c < of_ipus[ipu]->chains + of_ipus[ipu]->n_chains; c++) {
            double bytes = (double)(c->n_elements * data_type_bytes(c->type)) / c->steps->n_shards;
            if ((c->steps->n_shards > 1) == sharded && !c->apart && is_merged(b, bytes))
                most = fmax(most, sum += c->n_tensors * bytes / n);
        }
    }
    return most;
}

static void add_to_merged(struct merged *m, const struct update_builder *b, const struct update_chain *c)
{
    double bytes = (double)(c->n_elements * data_type_bytes(c->type)), moved = bytes / c->steps->n_shards;
    uint32_t n_norms = c->has_norms ? c->n_tensors : 0;
    bool sharded = c->steps->n_shards > 1;
    if (!c->apart && is_merged(b, moved))
        *(sharded ? &m->sharded_bytes : &m->bytes) += c->n_tensors * bytes;
    m->n_norms += n_norms;
    m->n_sharded_norms += sharded ? n_norms : 0;
    m->norm_elements += n_norms * ceil_div(c->n_elements, c->steps->n_shards);
    m->n_sharded += sharded ? c->n_tensors : 0;
    m->norm_type = c->has_norms && data_type_bytes(c->type) > data_type_bytes(m->norm_type) ? c->type : m->norm_type;
}

/* For each field, the largest sum of one of n IPUs. */
static struct merged largest_merged(const struct update_builder *b, const struct update_program *const *of_ipus, uint32_t n)
{
    struct merged most = { .norm_type = TYPE_FP16 };
    for (uint32_t ipu = 0; ipu < n; ipu++) {
        struct merged here = { .norm_type = TYPE_FP16 };
        for (uint32_t i = 0; i < of_ipus[ipu]->n_chains; i++)
            add_to_merged(&here, b, &of_ipus[ipu]->chains[i]);
        most.bytes = fmax(most.bytes, here.bytes);
        most.sharded_bytes = fmax(most.sharded_bytes, here.sharded_bytes);
        most.n_sharded = max_u32(most.n_sharded, here.n_sharded);
        most.n_norms = max_u32(most.n_norms, here.n_norms);
        most.n_sharded_norms = max_u32(most.n_sharded_norms, here.n_sharded_norms);
        most.norm_elements = max_u64(most.norm_elements, here.norm_elements);
        most.norm_type = data_type_bytes(here.norm_type) > data_type_bytes(most.norm_type) ? here.norm_type : most.norm_type;
    }
    return most;
}

static bool add_merged_on(struct update_builder *b, uint32_t ipu, enum update_kind kind, const char *what, struct group g, double bytes, double port_bytes,
                          double buffer_bytes)
{
    if (bytes == 0 || g.n_ranks < 2)
        return true;
    uint32_t n = (uint32_t)ceil(bytes / buffer_bytes);
    struct update_steps *steps = ARENA_NEW(b->c->plans.arena, struct update_steps);
    new_chain(b, (struct update_chain){ .ipu = ipu, .tensor = what, .is_merged = true, .type = TYPE_FP16, .n_tensors = n, .n_parts = 1,
                                        .n_elements = (uint64_t)(bytes / n / 2), .steps = steps });
    if (!add_uneven_collective(add_op(b, kind, false), b, COLLECTIVE_ALL_REDUCE, g, bytes / n, port_bytes / n))
        return false;
    close_steps(steps, b, ipu, b->c->plans.arena);
    return true;
}

static bool add_merged(struct update_builder *b, enum update_kind kind, const char *what, struct group g, double bytes, double port_bytes, double buffer_bytes)
{
    return add_merged_on(b, ALL_IPUS, kind, what, g, bytes, port_bytes, buffer_bytes);
}

/* A framework that merges only within an IPU reduces IPU by IPU, if the IPUs follow one another. */
static bool merges_by_ipu(const struct update_builder *b) { return b->q->in_series && !b->q->merge_over_ipus; }

static bool merge_gradients(struct update_builder *b, const struct update_program *const *of_ipus, const struct merged *most)
{
    const struct update_terms *o = b->q;
    if (!merges_by_ipu(b))
        return add_merged(b, UPDATE_REDUCE, "gradients", over_copies(b, ALL_IPUS), most->bytes, merged_behind_port(b, of_ipus, false),
                          o->merge_buffer_bytes);
    for (uint32_t ipu = 0; ipu < o->ipus_per_replica; ipu++) {
        double bytes = largest_merged(b, of_ipus + ipu, 1).bytes;
        if (!add_merged_on(b, ipu, UPDATE_REDUCE, "gradients", over_copies(b, ipu), bytes, bytes, o->merge_buffer_bytes))
            return false;
    }
    return true;
}

/* Each tensor with norms has two norms, one word each. One reduction merges as many norms as the buffer has room for, and takes as many supersteps as
 * the reduction of a single norm. */
static void merge_norms(struct update_builder *b, const struct merged *most)
{
    double buffer_bytes = b->q->merge_norm_bytes;
    uint32_t n = (uint32_t)ceil(2.0 * WORD_BYTES * most->n_norms / fmax(WORD_BYTES, buffer_bytes));
    if (buffer_bytes == 0 || n == 0)
        return;
    struct update_steps *steps = ARENA_NEW(b->c->plans.arena, struct update_steps);
    struct update_chain chain = { .ipu = ALL_IPUS, .tensor = "norms", .is_merged = true, .n_parts = 1, .type = most->norm_type, .n_tensors = n, .steps = steps,
                                  .n_elements = ceil_div(2 * most->norm_elements, n) };
    new_chain(b, chain);
    add_work(add_op(b, UPDATE_NORMS, true), b, WORK_SQUARES, chain.n_elements, chain.type, PART_OPTIMIZER);
    close_steps(steps, b, ALL_IPUS, b->c->plans.arena);
}

/* Adds the collectives of all IPUs at once: all-reduces of gradients, of shards between pods, of shards' squares for the global norm, and of
 * norms, each merged in buffers. */
static bool merge_collectives(struct update_builder *b, const struct update_program *const *of_ipus)
{
    const struct update_terms *o = b->q;
    struct merged most = largest_merged(b, of_ipus, o->ipus_per_replica);
    merge_norms(b, &most);
    double words = is_merged(b, WORD_BYTES) ? WORD_BYTES : 0, squares = words * most.n_sharded, norms = 2 * words * most.n_sharded_norms;
    return merge_gradients(b, of_ipus, &most)
        && add_merged(b, UPDATE_REDUCE_PODS, "shards", over(b, ALL_IPUS, b->n_pods, b->q->shard, b->q->shard), most.sharded_bytes / b->q->shard,
                      merged_behind_port(b, of_ipus, true), o->merge_buffer_bytes)
        && (!o->clip_norm || add_merged(b, UPDATE_CLIP, "squares", over_shard(b, ALL_IPUS), squares, squares, o->merge_buffer_bytes))
        && add_merged(b, UPDATE_NORMS, "norms", over_shard(b, ALL_IPUS), norms, norms, o->merge_buffer_bytes);
}

/* ---- the program ---------------------------------------------------------------------------------- */

/* Copies a program, with as much memory as its chains need, and sums their cycles. */
static const struct update_program *kept_program(const struct update_program *u, struct arena *a)
{
    struct update_program *out = ARENA_NEW(a, struct update_program);
    *out = *u;
    out->cap_chains = u->n_chains;
    out->chains = memcpy(ARENA_ROOM(a, struct update_chain, u->n_chains), u->chains, u->n_chains * sizeof *u->chains);
    update_sum_cycles(out, a);
    return out;
}

/* The chains of one IPU, without merged ones, as a program. */
static const void *make_ipu_update(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct ipu_update_input *q = input;
    struct arena scratch = {0};
    struct update_builder b;
    update_start(&b, q->terms, c, err);
    b.places = q->places.at;
    b.n_places = q->n_places;
    b.a = &scratch;
    list_tensors(&b, q->ipu);
    bool good = true;
    for (uint32_t i = 0; i < b.u.n_chains && good; i++)
        good = fill_chain(&b, &b.u.chains[i]);
    const void *out = good ? kept_program(&b.u, c->arena) : NULL;
    arena_free(&scratch);
    return out;
}

static const struct update_program *ipu_update(const struct update_builder *b, const struct update_input *of, uint32_t ipu)
{
    const struct stage_place *all = of->places.at;
    struct stage_place here[MAX_STAGES];
    uint32_t n = 0;
    for (uint64_t s = 0; s < of->n_stages; s++)
        if (all[s].ipu == ipu)
            here[n++] = all[s];
    const struct ipu_update_input q = { of->terms, memo_own(&b->c->memo, here, n * sizeof *here), ipu, n };
    return memo_get(&b->c->memo, make_ipu_update, &q, sizeof q, b->err).at;
}

/* Appends a program's parts of one IPU, or of all, with their chains. */
static void append_parts(struct update_program *u, const struct update_program *more, uint32_t ipu)
{
    for (const struct update_part *part = more->parts; part < more->parts + more->n_parts; part++) {
        uint32_t n = part->end - part->first, at = u->n_chains;
        if (part->ipu != ipu)
            continue;
        memcpy(u->chains + at, more->chains + part->first, n * sizeof *u->chains);
        u->n_chains += n;
        u->parts[u->n_parts] = *part;
        u->parts[u->n_parts].first = at;
        u->parts[u->n_parts].end = at + n;
        u->parts[u->n_parts++].chains = part->chains->is_merged ? u->chains + at : part->chains;
    }
}

/* The chains that are merged over all IPUs come first. Then, for each IPU, those that are merged on it, and its tensors. */
const void *make_update(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct update_input *q = input;
    struct arena scratch = {0};
    struct update_builder b;
    update_start(&b, q->terms, c, err);
    b.a = &scratch;
    uint32_t width = b.q->ipus_per_replica, n_chains = 0, n_parts = 0, n = 0;
    const struct update_program **of_ipus = ARENA_ARRAY(&scratch, const struct update_program *, width);
    bool good = true;
    for (; n < width && good; n++) {
        of_ipus[n] = ipu_update(&b, q, n);
        good = of_ipus[n];
        n_chains += good ? of_ipus[n]->n_chains : 0;
        n_parts += good ? of_ipus[n]->n_parts : 0;
    }
    good = good && merge_collectives(&b, of_ipus);
    struct update_program *out = NULL;
    if (good) {
        sort_items(b.u.chains, b.u.n_chains, sizeof *b.u.chains, by_ipu_and_size);
        update_sum_cycles(&b.u, &scratch);
        out = ARENA_NEW(c->plans.arena, struct update_program);
        out->in_series = b.u.in_series;
        out->chains = ARENA_ROOM(c->plans.arena, struct update_chain, n_chains + b.u.n_chains);
        out->parts = ARENA_ROOM(c->plans.arena, struct update_part, n_parts + b.u.n_parts);
        append_parts(out, &b.u, ALL_IPUS);
        for (uint32_t i = 0; i < width; i++) {
            append_parts(out, &b.u, i);
            append_parts(out, of_ipus[i], i);
        }
    }
    arena_free(&scratch);
    return out;
}
