/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replan.c - plans again where the temporaries were given more than is free beside what lives on an IPU.
 *
 * The share of memory that an operation's temporaries may take is asked for before anything is placed; too large a share plans operations
 * that do not fit, where smaller steps would. On IPUs that are too full, each layer whose temporaries take more than is left beside what is
 * alive while it works gets what is left, in hundredths of tile memory, and all is planned again, up to eight times. The same is tried with
 * the share of the worst layer for all layers of its IPU, which makes for less code; the plan that computes for less time is taken.
 * Where PopLibs finds no plan within a share, it doubles the share until it finds one: the next share is then small enough that doubling it
 * does not lead to the same plan. That all is planned again is not PopLibs': there the user lowers availableMemoryProportion by hand, for a
 * single operation if need be. Where nothing helps, the first plan stands.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

#include <math.h>

enum { MOST_TRIES = 8 };

/* What is left, where that is less than there is now; else less than what temporaries take, by as many doublings as bring it below. In hundredths. */
static double lower_share(double left, double taken, double now)
{
    double share = left < now ? left : taken;
    while (share >= now)
        share /= 2;
    return floor(100 * share) / 100;
}

/* Of an IPU: by how much its worst layer takes more than there is room for, and what that layer gets. */
struct worst { double over_bytes, share; };

/* Layers of one stage; false where one would get nothing. */
static bool lower_stage(double *shares, struct worst *worst, const double *rooms, const struct plan *p, const struct stage_plan *stage)
{
    double capacity = (double)p->topology->machine->chip.tile_memory_bytes;
    bool too_full = (double)p->memory[stage->ipu].total_bytes > capacity;
    for (uint32_t i = stage->first_layer; i < stage_end(stage); i++) {
        double taken = (double)stage->compiled->layers[i].temp_bytes_per_tile;
        shares[i] = plan_layer_share(&p->request, stage->ipu, i);
        if (!too_full || taken <= rooms[i])
            continue;
        shares[i] = lower_share(rooms[i] / capacity, taken / capacity, shares[i]);
        if (worst->over_bytes < taken - rooms[i])
            *worst = (struct worst){ taken - rooms[i], shares[i] };
        if (shares[i] <= 0)
            return false;
    }
    return true;
}

/* Layers that take too much get less, or all of their IPU what the worst of them gets. False where none does, or one would get nothing. */
static bool tighten(double *shares, const struct plan *p, struct compiler *c, bool whole_ipus, struct arena *a)
{
    const double *rooms = plan_layer_rooms(p, c, a);
    struct worst *worst = ARENA_ARRAY(a, struct worst, p->request.ipus_per_replica);
    bool any = false;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (!lower_stage(shares, &worst[p->stages[s].ipu], rooms, p, &p->stages[s]))
            return false;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        const struct worst *w = &worst[stage->ipu];
        any = any || w->over_bytes > 0;
        for (uint32_t i = stage->first_layer; whole_ipus && w->over_bytes > 0 && i < stage_end(stage); i++)
            shares[i] = fmin(plan_layer_share(&p->request, stage->ipu, i), w->share);
    }
    return any;
}

/* Of a micro-batch, on the slowest IPU: those of a pipeline work side by side, but for a sequential one. */
static uint64_t computing_cycles(const struct plan *p, struct arena *a)
{
    uint64_t *cycles = ARENA_ARRAY(a, uint64_t, p->request.ipus_per_replica), most = 0;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        uint32_t ipu = p->stages[s].ipu;
        cycles[ipu] += p->stages[s].forward_cycles + p->stages[s].backward_cycles;
        most = max_u64(most, cycles[ipu]);
    }
    return most;
}

/* Replaces a plan that does not fit, or that computes longer. */
static bool plan_again(struct plan *best, struct compiler *c, const struct plan *first, bool whole_ipus, struct arena *a, struct err *err)
{
    struct plan tried = *first;
    struct plan_request o = first->request;
    struct arena scratch = {0};
    double *shares = ARENA_ARRAY(&scratch, double, c->graph->n_layers);
    bool good = true;
    for (uint32_t i = 0; i < MOST_TRIES && good && !tried.fits && tighten(shares, &tried, c, whole_ipus, &scratch); i++) {
        o.layer_memory = compile_layer_memory(c, shares);
        good = plan_once(&tried, c, &o, a, err);
    }
    if (good && tried.fits && (!best->fits || computing_cycles(&tried, &scratch) < computing_cycles(best, &scratch)))
        *best = tried;
    arena_free(&scratch);
    return good;
}

bool plan_build(struct plan *out, struct compiler *c, const struct plan_request *opt, struct arena *a, struct err *err)
{
    struct plan_request o = *opt;
    o.layer_memory = compile_layer_memory(c, opt->layer_memory);
    if (!plan_once(out, c, &o, a, err))
        return false;
    struct plan first = *out;
    return first.fits || opt->as_asked || (plan_again(out, c, &first, false, a, err) && plan_again(out, c, &first, true, a, err));
}
