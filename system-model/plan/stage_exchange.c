/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_exchange.c - collectives inside a stage: what its operations exchange with the same stage of neighbouring replicas of the program.
 *
 * Batch norms over several replicas gather statistics; layers that are cut over IPUs (tensor parallelism) sum activations and their gradients.
 * Forward work that is recomputed exchanges again. All groups of neighbours exchange at the same time, after one sync of all.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

static void add_cycles(struct stage_plan *s, const struct op *op, enum part part, uint64_t cycles)
{
    bool forward = op->pass == PASS_FORWARD;
    (forward ? &s->forward : &s->backward)->part[part] += cycles;
    if (forward && op->layer_id < s->first_layer + s->n_layers_again) {
        s->backward.part[part] += cycles;
        s->recompute_cycles += cycles;
    }
}

bool stage_exchange(struct stage_plan *s, struct compiler *c, uint32_t op_id, const struct exchange_place *at, struct err *err)
{
    const struct op *op = &c->graph->ops[op_id];
    const struct op_exchange x = op_exchange(c->graph, op);
    const struct topology *t = c->topology;
    uint32_t span = min_u32(x.ranks, at->n_replicas);
    if (span < 2)
        return true;
    struct collective_question q = { .kind = x.gathers ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE, .bytes = x.bytes,
                                     .ranks = { span, 1, played_replicas(t, at->n_replicas, at->width, at->each, span * at->width) / span, at->width, s->ipu, 1 },
                                     .n_in_use = at->n_replicas * at->width, .unfolded = at->unfolded };
    struct collective_cost cost;
    if (!compile_collective(&cost, c, &q, err))
        return false;
    add_cycles(s, op, x.of_activations ? PART_ACTIVATIONS : PART_ALL_REDUCE, x.n * cycles_of(t, cost.time_s));
    return true;
}
