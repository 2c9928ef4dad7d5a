/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replan.c - plans again with less memory for temporaries, if the plan as asked does not fit.
 *
 * A request gives the share of tile memory that an operation's temporaries may take before anything is placed. Too large a share plans
 * operations that do not fit, where smaller steps would. On an IPU that is too full, each layer whose temporaries need more than is left
 * gets what is left, in hundredths of tile memory, and everything is planned again, up to eight times. A second attempt gives the share of
 * the worst layer to all layers of its IPU, which makes for less code. Of the plans that fit, the one that computes for less time is taken;
 * if none does, the plan as asked is kept.
 * When PopLibs finds no plan within a share it doubles the share until it finds one, so the next share is chosen small enough that doubling
 * does not lead to the same plan. PopLibs itself does not plan again: its users lower availableMemoryProportion by hand.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

#include <math.h>

enum { MOST_TRIES = 8 };

/* The next share to try, in hundredths: what is left, if that is less than now; else what temporaries take, halved until it is less than now. */
static double lower_share(double left, double taken, double now)
{
    double share = left < now ? left : taken;
    while (share >= now)
        share /= 2;
    return floor(100 * share) / 100;
}

/* The layer of an IPU that exceeds its room by most, and the share that it gets. */
struct worst_layer { double over_bytes, share; };

/* Lowers the shares of one stage; false if a layer would get nothing. */
static bool lower_stage(double *shares, struct worst_layer *worst, const double *rooms, const struct plan *p, const struct stage_plan *stage)
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
            *worst = (struct worst_layer){ taken - rooms[i], shares[i] };
        if (shares[i] <= 0)
            return false;
    }
    return true;
}

/* Lowers the shares of layers that take too much, or with whole_ipus of all layers on their IPU. False if no layer takes too much, or one would
 * get nothing. */
static bool tighten(double *shares, const struct plan *p, struct compiler *c, bool whole_ipus, struct arena *a)
{
    const double *rooms = plan_layer_rooms(p, c, a);
    struct worst_layer *worst = ARENA_ARRAY(a, struct worst_layer, p->request.ipus_per_replica);
    bool any = false;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (!lower_stage(shares, &worst[p->stages[s].ipu], rooms, p, &p->stages[s]))
            return false;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        const struct worst_layer *w = &worst[stage->ipu];
        any = any || w->over_bytes > 0;
        for (uint32_t i = stage->first_layer; whole_ipus && w->over_bytes > 0 && i < stage_end(stage); i++)
            shares[i] = fmin(plan_layer_share(&p->request, stage->ipu, i), w->share);
    }
    return any;
}

/* Cycles of a micro-batch on the busiest IPU. */
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

/* Replaces *best if the new plan fits and *best does not, or computes longer. */
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
