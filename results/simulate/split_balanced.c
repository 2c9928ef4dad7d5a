/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_balanced.c - makes the longest stage of a pipeline as short as possible:
 *     longest(s, i) = min over j of max(longest(s - 1, j), time of units j to i)
 * over units, which are the layers of blocks in order; time is forward, backward and recomputation. Stages are left out if weights, gradients,
 * optimizer state and the stash of the micro-batches in flight need more than an IPU's memory. The stem is part of the first stage. The heads
 * are part of the last, or of a stage of their own on the first IPU.
 */
#include "results/simulate/split.h"
#include "system-model/graph/graph.h"

struct balance { const struct units *units; const struct chip *chip; const struct plan_request *asked; uint32_t n_stages; bool alone; };

/* The most micro-batches in flight at a stage. */
static uint64_t in_flight(const struct balance *b, uint32_t stage)
{
    enum schedule schedule = b->asked->schedule;
    if (!b->asked->training || schedule == SCHEDULE_NONE || schedule == SCHEDULE_SEQUENTIAL)
        return 1;
    return schedule == SCHEDULE_INTERLEAVED ? b->n_stages - stage : 2 * (b->n_stages - 1 - stage) + 1;
}

static bool has_room(const struct balance *b, uint32_t stage, uint32_t from, uint32_t to)
{
    const struct units *u = b->units;
    uint64_t bytes = u->fixed_bytes[to] - u->fixed_bytes[from];
    bytes += (u->kept_bytes[to] - u->kept_bytes[from]) * in_flight(b, stage);
    return bytes <= b->chip->tile_memory_bytes * (b->chip->n_tiles - b->asked->io_tiles);
}

static uint64_t stage_time(const struct balance *b, uint32_t stage, uint32_t from, uint32_t to)
{
    const struct units *u = b->units;
    uint64_t time = u->time[to] - u->time[from];
    time += stage == 0 ? u->first_time + (b->alone ? u->last_time : 0) : 0;
    return time + (stage + 1 == b->n_stages && !b->alone ? u->last_time : 0);
}

struct split split_balanced(const struct units *u, const struct chip *chip, const struct plan_request *asked, uint32_t n_stages, bool alone)
{
    const struct balance b = { u, chip, asked, n_stages, alone };
    struct arena scratch = {0};
    uint32_t n = u->n, *from = ARENA_ARRAY(&scratch, uint32_t, (size_t)n_stages * (n + 1));
    uint64_t *longest = ARENA_ARRAY(&scratch, uint64_t, (size_t)n_stages * (n + 1));
    for (uint32_t st = 0; st < n_stages; st++)
        for (uint32_t i = 0; i <= n; i++) {
            uint64_t *best = &longest[st * (n + 1) + i];
            *best = st == 0 && has_room(&b, 0, 0, i) ? stage_time(&b, 0, 0, i) : UINT64_MAX;
            for (uint32_t j = i + 1; st > 0 && j-- > 0; ) {     /* the loop ends early, since a stage that begins earlier takes more time and memory */
                uint64_t mine = stage_time(&b, st, j, i), worse = max_u64(longest[(st - 1) * (n + 1) + j], mine);
                bool empty = j == i && st + 1 < n_stages;
                if (mine > *best || !has_room(&b, st, j, i))
                    break;
                if (worse <= *best && worse < UINT64_MAX && !empty) {
                    *best = worse;
                    from[st * (n + 1) + i] = j;
                }
            }
        }
    struct split out = { .n_stages = n_stages, .valid = longest[n_stages * (n + 1) - 1] != UINT64_MAX };
    out.border[n_stages] = n;
    for (uint32_t st = n_stages - 1; st > 0; st--)
        out.border[st] = from[st * (n + 1) + out.border[st + 1]];
    if (alone) {
        out.border[n_stages + 1] = n;
        out.n_stages++;
    }
    arena_free(&scratch);
    return out;
}

/* ---- what units cost ---------------------------------------------------------------------------------------- */

/* Bytes of a layer's weights, their gradients and their optimizer state. */
static uint64_t fixed_bytes(const struct plan *p, const struct layer_cost *l)
{
    const struct plan_request *o = &p->request;
    double state = o->training && o->state.place == OPTIMIZER_ON_CHIP ? o->optimizer.state_bytes_per_param * (double)l->n_parameters : 0;
    return l->weight_bytes + (plan_keeps_gradients(o) ? l->weight_bytes : 0) + (uint64_t)(state / plan_shard_replicas(p));
}

static uint64_t kept_bytes(const struct plan *p, uint32_t layer, const struct layer_cost *l)
{
    const struct plan_request *o = &p->request;
    return !o->training ? 0 : o->recompute == RECOMPUTE_NONE ? l->kept_bytes : is_checkpoint(p->graph, o->recompute, p->named_checkpoints, layer) ? l->output_bytes : 0;
}

void units_of_plan(struct units *u, const struct plan *p, struct arena *a)
{
    const struct graph *g = p->graph;
    const struct plan_request *o = &p->request;
    *u = (struct units){ .layer = ARENA_ARRAY(a, uint32_t, g->n_layers), .time = ARENA_ARRAY(a, uint64_t, g->n_layers + 1),
                         .fixed_bytes = ARENA_ARRAY(a, uint64_t, g->n_layers + 1), .kept_bytes = ARENA_ARRAY(a, uint64_t, g->n_layers + 1) };
    for (uint32_t i = 0; i < g->n_layers; i++) {
        const struct layer_cost *l = &plan_stage_of(p, i)->compiled->layers[i];
        uint64_t forward = l->forward_cycles, time = forward;
        if (o->training)
            time += l->backward_cycles + (o->recompute == RECOMPUTE_NONE ? 0 : forward);
        if (g->layers[i].role != LAYER_BODY) {
            *(g->layers[i].role == LAYER_FIRST ? &u->first_time : &u->last_time) += time;
            continue;
        }
        u->layer[u->n++] = i;
        u->time[u->n] = u->time[u->n - 1] + time;
        u->fixed_bytes[u->n] = u->fixed_bytes[u->n - 1] + fixed_bytes(p, l);
        u->kept_bytes[u->n] = u->kept_bytes[u->n - 1] + kept_bytes(p, i, l);
    }
}
