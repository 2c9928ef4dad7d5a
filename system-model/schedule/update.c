/*
 * update.c - what follows the accumulated micro-batches once a step: gradients reduced over the replicas, the optimizer,
 * its state to and from streaming memory, new weights gathered, the host's barrier.
 *
 * Without replicated tensor sharding: one all-reduce of all gradients, each replica updates everything.
 * With it: reduce-scatter within the domain, an all-reduce of the shard between domains, the update of the shard,
 * all-gather within the domain. The IPUs of a replica do this at the same time, on the links they share.
 */
#include "system-model/schedule/plan_stages.h"

#include <string.h>

static uint64_t ipu_parameters(const struct plan *p, uint32_t ipu)
{
    uint64_t n = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (p->stages[s].ipu == ipu)
            n += p->stages[s].n_parameters;
    return n;
}

/* The IPUs move their gradients side by side; the one with most sets the time. */
static double largest_weight_bytes(const struct plan *p)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++) {
        uint64_t bytes = 0;
        for (uint32_t s = 0; s < p->n_stages; s++)
            if (p->stages[s].ipu == i)
                bytes += p->stages[s].weight_bytes;
        if (largest < bytes)
            largest = bytes;
    }
    return (double)largest;
}

uint32_t shard_replicas(const struct plan *p)
{
    const struct plan_options *o = &p->options;
    if (o->rts == RTS_NO)
        return 1;
    uint64_t in_domain = p->topology->machine->ipus_per_domain / o->ipus_per_replica;
    if (o->rts_domain == RTS_DOMAIN_POD && in_domain && in_domain < o->n_replicas)
        return (uint32_t)in_domain;
    return o->n_replicas;
}

/* Groups of n_ranks replicas `stride` apart, one group an IPU of the replica and starting replica. Groups share no replica: with
 * a stride of 1 each starts where the one before ended, with a longer one they interleave. */
static uint32_t *make_ranks(const struct plan *p, uint32_t n_ranks, uint32_t stride, uint32_t n_starts, struct arena *a)
{
    uint32_t width = p->options.ipus_per_replica;
    uint32_t *ranks = ARENA_ARRAY(a, uint32_t, (size_t)n_ranks * width * n_starts);
    size_t n = 0;
    for (uint32_t start = 0; start < n_starts; start++) {
        uint32_t first = start / stride * stride * n_ranks + start % stride;
        for (uint32_t i = 0; i < width; i++)
            for (uint32_t r = 0; r < n_ranks; r++)
                ranks[n++] = (first + r * stride) * width + i;
    }
    return ranks;
}

static bool add_collective(struct collective_cost *sum, const struct plan *p, struct compiler *c, enum collective_kind kind,
                           uint32_t n_ranks, uint32_t stride, uint32_t n_starts, double bytes, struct err *err)
{
    if (n_ranks < 2)
        return true;
    struct arena scratch = {0};
    struct collective_request req = {
        .kind = kind, .method = p->options.all_reduce_method, .n_ranks = n_ranks,
        .n_groups = p->options.ipus_per_replica * n_starts, .bytes = bytes, .unfolded = p->options.unfolded,
        .ranks = make_ranks(p, n_ranks, stride, n_starts, &scratch),
    };
    struct collective_cost cost;
    bool good = compile_collective(&cost, c, &req, err);
    arena_free(&scratch);
    if (!good)
        return false;
    sum->time_s += cost.time_s;
    sum->link_s += cost.link_s;
    sum->reduce_s += cost.reduce_s;
    sum->sync_s += cost.sync_s;
    sum->n_steps += cost.n_steps;
    sum->bytes_sent_per_rank += cost.bytes_sent_per_rank;
    sum->busiest_link_bytes += cost.busiest_link_bytes;
    for (int k = 0; k < N_LINK_KINDS; k++)
        sum->busiest_bytes[k] += cost.busiest_bytes[k];
    sum->method = cost.method;
    return true;
}

static bool plan_collectives(struct plan *p, struct compiler *c, struct err *err)
{
    uint32_t n = p->options.n_replicas, shard = shard_replicas(p);
    double bytes = largest_weight_bytes(p);
    if (shard < 2)
        return add_collective(&p->gradient_collective, p, c, COLLECTIVE_ALL_REDUCE, n, 1, 1, bytes, err);
    uint32_t domains = n / shard;
    return add_collective(&p->gradient_collective, p, c, COLLECTIVE_REDUCE_SCATTER, shard, 1, domains, bytes, err)
        && add_collective(&p->gradient_collective, p, c, COLLECTIVE_ALL_REDUCE, domains, shard, shard, bytes / shard, err)
        && add_collective(&p->weight_collective, p, c, COLLECTIVE_ALL_GATHER, shard, 1, domains, bytes, err);
}

/* Norms of weight and update, a number each a tensor, summed over the shards. */
static bool plan_norms(struct plan *p, struct compiler *c, struct err *err)
{
    uint32_t shard = shard_replicas(p), tensors = 0;
    if (!p->options.optimizer.needs_norms || shard < 2)
        return true;
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++) {
        uint32_t of_ipu = 0;
        for (uint32_t s = 0; s < p->n_stages; s++)
            of_ipu += p->stages[s].ipu == i ? p->stages[s].n_weight_tensors : 0;
        tensors = tensors < of_ipu ? of_ipu : tensors;
    }
    struct collective_cost cost = {0};
    if (!add_collective(&cost, p, c, COLLECTIVE_ALL_REDUCE, shard, 1, p->options.n_replicas / shard, 2.0 * 4 * tensors, err))
        return false;
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
        p->update[i].norm_cycles = cycles_of(p->topology, cost.time_s);
    return true;
}

static uint64_t streaming_cycles(const struct plan *p, double state_bytes)
{
    const struct machine *m = p->topology->machine;
    if (p->options.optimizer_place != OPTIMIZER_STREAMING)
        return 0;
    double rate = m->streaming_bytes_per_s * m->streaming_efficiency / (double)sharing_ipus(p, m->ipus_per_board);
    return cycles_of(p->topology, 2 * state_bytes / rate);      /* in and out */
}

static double ipu_state_bytes(const struct plan *p, uint32_t ipu)
{
    return (double)ceil_div(ipu_parameters(p, ipu), shard_replicas(p)) * p->options.optimizer.state_bytes_per_param;
}

/* A board's memory holds the state of its IPUs, as many as are in use, each as much as the one with most. */
static bool check_streaming(const struct plan *p, struct err *err)
{
    const struct machine *m = p->topology->machine;
    double most = 0;
    if (p->options.optimizer_place != OPTIMIZER_STREAMING)
        return true;
    if (m->streaming_bytes_per_s <= 0)
        return fail(err, "parallel.optimizer_state: streaming, but %s has no streaming memory; use on-chip", m->name);
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
        most = ipu_state_bytes(p, i) > most ? ipu_state_bytes(p, i) : most;
    double wanted = most * (double)sharing_ipus(p, m->ipus_per_board);
    if (wanted > (double)m->streaming_bytes)
        return fail(err, "parallel.optimizer_state: streaming wants %.4g GB of a board's memory, %s has %.4g GB; shard it (parallel.rts=yes) or use more IPUs a replica",
                    wanted / 1e9, m->name, (double)m->streaming_bytes / 1e9);
    return true;
}

static void plan_optimizer(struct plan *p, struct compiler *c)
{
    const struct plan_options *o = &p->options;
    for (uint32_t i = 0; i < o->ipus_per_replica; i++) {
        struct layer_range ranges[MAX_STAGES];
        uint32_t n = ipu_layers(ranges, p, i);
        p->update[i].optimizer = compile_weight_work(c, ranges, n, o->optimizer.work, shard_replicas(p), PART_OPTIMIZER);
        p->update[i].streaming_cycles = streaming_cycles(p, ipu_state_bytes(p, i));
    }
}

bool plan_update(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    const struct plan_options *o = &p->options;
    const struct machine *m = p->topology->machine;
    p->update = ARENA_ARRAY(a, struct update_plan, o->ipus_per_replica);
    double host_s = 2 * m->host_latency_s + (o->steps_per_call > 0 ? o->host_call_s / o->steps_per_call : 0);
    for (uint32_t i = 0; i < o->ipus_per_replica; i++)
        p->update[i].host_cycles = cycles_of(p->topology, host_s);
    if (!o->training)
        return true;
    if (!check_streaming(p, err))
        return false;
    if (o->n_replicas % shard_replicas(p) != 0)
        return fail(err, "parallel.rts_domain: pod, but %u replicas are no multiple of the %u of a pod; use all, or change parallel.replicas",
                    o->n_replicas, shard_replicas(p));
    if (!plan_collectives(p, c, err) || !plan_norms(p, c, err))
        return false;
    for (uint32_t i = 0; i < o->ipus_per_replica; i++) {
        p->update[i].gradient_cycles = cycles_of(p->topology, p->gradient_collective.time_s);
        p->update[i].weight_cycles = cycles_of(p->topology, p->weight_collective.time_s);
    }
    plan_optimizer(p, c);
    return true;
}
