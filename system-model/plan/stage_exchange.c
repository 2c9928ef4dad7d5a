/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_exchange.c - collectives inside a stage: what its operations exchange with the same stage of neighbouring replicas of the program.
 *
 * Batch norms over several replicas gather statistics; layers that are cut over IPUs (tensor parallelism) sum activations and their gradients.
 * IPUs that share a grid send each other its edges. Forward work that is recomputed exchanges again, unless a program keeps the statistics of norms for it. All groups of neighbours exchange at the same time, after one sync of all.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

static void add_cycles(struct stage_plan *s, const struct op *op, enum part part, uint64_t cycles, bool again)
{
    bool forward = op->pass == PASS_FORWARD;
    (forward ? &s->forward : &s->backward)->part[part] += cycles;
    if (again) {
        s->backward.part[part] += cycles;
        s->recompute_cycles += cycles;
    }
}

/* ---- halos of grids that replicas share ----------------------------------------------------- */

/* The part of a halo that one IPU sends another along an axis. */
static double face_bytes(const struct tensor *x, const struct codelet *c, uint32_t axis)
{
    return (double)tensor_bytes(x) / (double)x->dims[c->axes[axis]] * (double)c->halo;
}

/* Flows between neighbours of a grid of IPUs, there and back along each axis; the last axis has neighbouring IPUs. Returns how many. */
static size_t halo_flows(struct flow *flows, const struct op *op, const struct tensor *x, uint32_t n_ipus)
{
    const struct codelet *c = op->at->codelet;
    uint32_t stride = 1;
    size_t n = 0;
    for (uint32_t i = MOST_GRID_AXES; i-- > 0; stride *= max_u32(op->at->grid_ipus[i], 1))
        for (uint32_t ipu = 0, parts = max_u32(op->at->grid_ipus[i], 1); ipu < n_ipus && i < c->n_axes; ipu++)
            if (ipu / stride % parts + 1 < parts) {
                flows[n++] = (struct flow){ ipu, ipu + stride, face_bytes(x, c, i) };
                flows[n++] = (struct flow){ ipu + stride, ipu, face_bytes(x, c, i) };
            }
    return n;
}

/* All replicas exchange the edges of their parts before each round, in one sync. */
static bool add_halo(struct stage_plan *s, struct compiler *c, const struct op *op, uint32_t n_ipus, const struct exchange_place *at, bool again, struct err *err)
{
    const struct topology *t = c->topology;
    struct arena scratch = {0};
    struct flow *flows = ARENA_ARRAY(&scratch, struct flow, (size_t)2 * MOST_GRID_AXES * n_ipus);
    struct flows_cost cost;
    size_t n = halo_flows(flows, op, &c->graph->tensors[op_forward(c->graph, op)->inputs[0]], n_ipus);
    bool good = at->n_replicas % n_ipus == 0 ||
                fail(err, "parallel.grid_ipus: %u IPUs share a grid; want replicas a multiple of it, not %u", n_ipus, at->n_replicas);
    good = good && compile_flows(&cost, c, flows, n, played_replicas(t, at->n_replicas / n_ipus, n_ipus, at->each, n_ipus), n_ipus, err);
    arena_free(&scratch);
    if (good)
        add_cycles(s, op, PART_STAGE_COPY, (cycles_of(t, cost.time_s) + t->machine->chip.global_sync_cycles) * op_repeats(c->graph, op), again);
    return good;
}

bool stage_exchange(struct stage_plan *s, struct compiler *c, uint32_t op_id, const struct exchange_place *at, bool again, struct err *err)
{
    const struct op *op = &c->graph->ops[op_id];
    const struct op_exchange x = op_exchange(c->graph, op);
    const struct topology *t = c->topology;
    if (x.of_halos)
        return add_halo(s, c, op, x.ranks, at, again, err);
    uint32_t span = min_u32(x.ranks, at->n_replicas), stride = max_u32(1, x.stride);
    if (span < 2)
        return true;
    uint32_t played = played_replicas(t, at->n_replicas, at->width, at->each, span * stride * at->width);
    struct collective_question q = { .kind = x.gathers ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE, .bytes = x.bytes,
                                     .ranks = { span, stride, played / span, at->width, s->ipu, 1 },
                                     .method = x.sends_pieces ? METHOD_BROADCAST : 0, .n_in_use = at->n_replicas * at->width, .unfolded = at->unfolded };
    struct collective_cost cost;
    if (!compile_collective(&cost, c, &q, err))
        return false;
    add_cycles(s, op, x.of_activations ? PART_ACTIVATIONS : PART_ALL_REDUCE, x.n * cycles_of(t, cost.time_s), again && !(at->keeps_statistics && op->kind == OP_BATCH_NORM));
    return true;
}
