/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_query.c - small questions whose answer follows from a request or from a plan's stages.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

const char *const schedule_names[N_SCHEDULES + 1] = {
    [SCHEDULE_NONE] = "none", [SCHEDULE_SEQUENTIAL] = "sequential", [SCHEDULE_GROUPED] = "grouped",
    [SCHEDULE_INTERLEAVED] = "interleaved", [SCHEDULE_POPART] = "popart",
};
const char *const recompute_names[N_RECOMPUTES + 1] = {
    [RECOMPUTE_NONE] = "none", [RECOMPUTE_STAGE] = "stage", [RECOMPUTE_LAYER] = "layer", [RECOMPUTE_CHECKPOINTS] = "checkpoints",
};

/* ---- requests ------------------------------------------------------------------------- */

double share_of_ipu(const double *shares, uint32_t n, uint32_t ipu)
{
    const double default_of_poplibs = 0.6;
    return n ? shares[min_u32(ipu, n - 1)] : default_of_poplibs;
}

double plan_available_memory(const struct plan_request *r, uint32_t ipu)
{
    return share_of_ipu(r->available_memory, r->n_available_memory, ipu);
}

uint32_t plan_tensor_replicas(const struct plan_request *r)
{
    return max_u32(1, r->tensor_parallel[0]) * max_u32(1, r->tensor_parallel[1]);
}

uint32_t plan_activation_shards(const struct plan_request *r) { return max_u32(1, r->tensor_parallel[0]); }

uint32_t plan_data_replicas(const struct plan_request *r) { return r->n_replicas / plan_tensor_replicas(r); }

bool plan_is_phased(const struct plan_request *r) { return r->weights == WEIGHTS_STREAMING; }

/* TensorFlow recomputes a sequential pipeline among its backward pass, a grouped one before it (sdk 2.3.0 driver/tools/pipeline_util.cc:884-903). */
bool plan_keeps_statistics(const struct plan_request *r) { return r->program.keeps_statistics && (r->ipus_per_replica == 1 || r->schedule <= SCHEDULE_SEQUENTIAL); }

bool plan_keeps_gradients(const struct plan_request *r)
{
    return r->training && (r->grad_accum > 1 || plan_data_replicas(r) > 1);
}

bool plan_streams(const struct plan_request *r, uint64_t n_elements)
{
    return plan_is_phased(r) || (r->state.place == OPTIMIZER_STREAMING && n_elements >= r->program.offloaded_elements);
}

bool plan_requests_overlap(const struct plan_request *r)
{
    return !r->training && !r->evaluation && (r->host.requests ? r->host.requests > 1 : r->program.calls_overlap);
}

bool plan_is_buffered(const struct plan_request *r)
{
    return r->program.prefetch_depth > 1 || r->io_tiles || plan_requests_overlap(r);
}

double plan_process_bytes(const struct plan *p)
{
    double bytes = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        bytes += (double)plan_port_bytes(p, s);
    return bytes * (double)plan_process_replicas(&p->request);
}

bool plan_returns_each_micro_batch(const struct plan_request *r)
{
    return !r->host.synthetic_data && (r->program.outputs_each_micro_batch || (!r->training && !r->evaluation));
}

uint64_t plan_process_replicas(const struct plan_request *r)
{
    return ceil_div(r->n_replicas, max_u64(1, r->host.n_instances));
}

double plan_preparing_cores(const struct plan_request *r)
{
    double processes = fmin(r->host.n_instances, r->n_replicas);
    double cores = r->host.cores ? r->host.cores * (double)r->host.n_hosts / processes : INFINITY;
    return r->host.workers ? fmin(r->host.workers, cores) : cores;
}

/* ---- plans ----------------------------------------------------------------------------- */

/* The time to prepare a step's input. In an evaluation it is 0, because the same samples were prepared before: in MLPerf v2.0 later evaluations
 * take 0.2 to 0.5 s for 50,000 images. It is also 0 for data that is made on the chip. */
double plan_preparing_s(const struct plan *p)
{
    const struct plan_request *o = &p->request;
    double micro_batches = (double)plan_process_replicas(o) * o->grad_accum;
    double micro_batch_s = o->host.sample_s * (double)p->graph->micro_batch + o->program.number_s * (double)p->input_numbers;
    return o->evaluation || o->host.synthetic_data ? 0 : micro_batches * micro_batch_s;
}

uint64_t plan_parameters(const struct plan *p)
{
    uint64_t n = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        n += p->stages[s].n_parameters;
    return n;
}

uint64_t plan_own_parameters(const struct plan *p)
{
    uint64_t n = plan_parameters(p);
    for (uint32_t s = 0; s < p->n_stages; s++)
        n -= p->stages[s].n_spread;
    return n;
}

/* The time that one process needs to feed its replicas. Callbacks of all replicas run in one thread; loaders that work ahead hand over batches at
 * a rate of their own. */
double plan_feeding_s(const struct plan *p)
{
    const struct plan_request *o = &p->request;
    double bytes = plan_process_bytes(p) * o->grad_accum, callbacks_s = bytes / o->program.callback_bytes_per_s;
    if (o->program.host_data == HOST_DATA_IN_CALL || plan_requests_overlap(o))
        return callbacks_s;
    double handed_over_s = o->evaluation ? 0 : bytes / o->program.host_data_bytes_per_s;
    return fmax(callbacks_s, fmax(handed_over_s, plan_preparing_s(p) / plan_preparing_cores(o)));
}

uint64_t plan_port_bytes(const struct plan *p, uint32_t stage)
{
    return p->request.host.synthetic_data ? 0 : p->stages[stage].host_bytes;
}

uint64_t plan_result_bytes(const struct plan *p, uint32_t stage)
{
    const struct plan_request *o = &p->request;
    return o->training || o->evaluation || o->host.synthetic_data || !o->program.returns_results ? 0 : p->stages[stage].result_bytes;
}

void stage_sum_cycles(struct stage_plan *s)
{
    s->forward_cycles = cycles_total(&s->forward);
    s->backward_cycles = cycles_total(&s->backward);
}

const struct stage_plan *stage_holding(const struct stage_plan *stages, uint32_t n, uint32_t layer_id)
{
    for (uint32_t s = 0; s < n; s++)
        if (layer_id < stage_end(&stages[s]))
            return &stages[s];
    return &stages[n - 1];
}

const struct stage_plan *plan_stage_of(const struct plan *p, uint32_t layer_id)
{
    return stage_holding(p->stages, p->n_stages, layer_id);
}

uint32_t ipu_layers(struct layer_range *ranges, const struct stage_plan *stages, uint32_t n, uint32_t ipu)
{
    uint32_t n_ranges = 0;
    for (const struct stage_plan *s = stages; s < stages + n; s++)
        if (s->ipu == ipu)
            ranges[n_ranges++] = (struct layer_range){ { s->compiled }, s->first_layer, s->n_layers };
    return n_ranges;
}

/* Checkpoints are at the ends of blocks, whose second half ends a program's layer. The vendor's BERT checkpoints its feed-forward parts in PopART
 * (MLPerf training v2.0 482ba246 Graphcore/benchmarks/bert/implementations/popart/bert_model.py, should_checkpoint_ffn; attention in the last
 * stage alone, which is left out), its layers in PyTorch (graphcore/examples 3cc8f81 nlp/bert/pytorch/modeling.py:184, 470) and blocks in phases
 * (graphcore/popxl-addons 7499fca transforms/recomputation.py, recompute_graph()). */
bool is_checkpoint(const struct graph *g, enum recompute recompute, const bool *named, uint32_t layer_id)
{
    const struct layer *l = &g->layers[layer_id];
    return recompute == RECOMPUTE_LAYER ? l->part_id + 1 >= l->n_parts : named && named[layer_id];
}

uint32_t played_replicas(const struct topology *t, uint32_t n, uint32_t width, bool each, uint32_t n_ipus)
{
    uint32_t in_domain = t->ipus_per_domain;
    return each || in_domain % n_ipus != 0 ? n : min_u32(n, in_domain / width);
}

uint32_t plan_played_replicas(const struct plan *p, uint32_t n_ipus)
{
    const struct plan_request *r = &p->request;
    return played_replicas(p->topology, r->n_replicas, r->ipus_per_replica, r->detail.unfolded || r->faults, n_ipus);
}

uint64_t plan_sharing_ipus(const struct plan *p, uint64_t n_ipus)
{
    uint64_t in_use = (uint64_t)p->request.n_replicas * p->request.ipus_per_replica;
    return min_u64(n_ipus, in_use);
}

uint32_t plan_shard_replicas(const struct plan *p)
{
    const struct plan_request *r = &p->request;
    if (r->state.rts == RTS_NO)
        return 1;
    uint64_t in_domain = p->topology->machine->ipus_per_domain / r->ipus_per_replica;
    return r->state.rts_domain == RTS_DOMAIN_POD && in_domain ? (uint32_t)min_u64(in_domain, r->n_replicas) : r->n_replicas;
}

bool gathers_between(const struct topology *t, uint32_t n, uint32_t stride)
{
    bool goes_round = n * stride == t->ipus_per_domain && t->domain_topology == DOMAIN_TORUS;
    return n > 1 && stride > 1 && stride != t->ipus_per_domain && !goes_round;
}

double remote_rate(const struct machine *m, uint64_t n_moving, uint64_t n_in_use, double s_per_byte)
{
    if (m->streaming_bytes_per_s > 0)
        return fmin(m->chip.host_link_bytes_per_s, 1 / ((1 / (m->streaming_bytes_per_s * m->streaming_efficiency) + s_per_byte) * (double)n_moving));
    double shared = m->pcie_shared_ipus > 1 ? m->pcie_shared_bytes_per_s / (double)min_u64(m->pcie_shared_ipus, n_in_use) : INFINITY;
    return fmin(m->chip.host_link_bytes_per_s, shared);
}

double plan_remote_rate(const struct plan *p)
{
    const struct machine *m = p->topology->machine;
    uint64_t in_use = (uint64_t)p->request.n_replicas * p->request.ipus_per_replica;
    return remote_rate(m, min_u64(m->ipus_per_board, in_use), in_use, p->request.fitted.streaming_s_per_byte);
}

/* Cycles of the exchange that copies input from I/O tiles to the tiles that compute, or results back. All tiles wait for it (PopART's copy between
 * the two kinds of tiles). Few tiles send what many receive, or the other way round. */
uint64_t plan_io_copy_cycles(const struct plan *p, uint64_t n_bytes)
{
    const struct chip *chip = &p->topology->machine->chip;
    uint64_t io_tiles = p->request.io_tiles;
    uint64_t busiest_bytes = ceil_div(n_bytes, min_u64(io_tiles, chip->n_tiles - io_tiles));
    if (n_bytes == 0)
        return 0;
    return superstep_cycles(chip) + chip->exchange_transit_cycles + (uint64_t)ceil((double)busiest_bytes / chip_exchange_bytes_per_cycle(chip));
}

uint64_t update_cycles(const struct plan *p, uint32_t ipu, enum update_kind kind)
{
    const struct update_program *u = &p->update;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < u->n_chains; i++) {
        const struct update_chain *c = &u->chains[i];
        if (c->ipu != ipu && c->ipu != ALL_IPUS)
            continue;
        for (uint32_t k = 0; k < c->steps->n_ops; k++)
            sum += c->steps->ops[k].kind == kind ? c->n_tensors * c->steps->ops[k].n_cycles : 0;
    }
    return sum;
}

static bool starts_part(const struct update_chain *c, bool first) { return first || c->ipu != c[-1].ipu || c->ipu == ALL_IPUS; }

void update_sum_cycles(struct update_program *u, struct arena *a)
{
    uint32_t n_parts = 0;
    for (uint32_t i = 0; i < u->n_chains; i++)
        n_parts += starts_part(&u->chains[i], i == 0);
    u->parts = ARENA_ARRAY(a, struct update_part, n_parts);
    for (uint32_t i = 0; i < u->n_chains; i++) {
        const struct update_chain *c = &u->chains[i];
        if (starts_part(c, i == 0))
            u->parts[u->n_parts++] = (struct update_part){ .first = i, .ipu = c->ipu, .chains = c };
        struct update_part *part = &u->parts[u->n_parts - 1];
        part->end = i + 1;
        part->n_cycles += c->n_tensors * c->steps->n_cycles;
        cycles_add(&part->cycles, &c->steps->cycles, c->n_tensors);
    }
}
