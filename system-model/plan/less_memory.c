/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * less_memory.c - the shares of memory for temporaries with which a plan fits that does not fit as configured.
 *
 * The share that an operation's temporaries may take is asked for before anything is placed (availableMemoryProportion; PopLibs' default is
 * 0.6). The planner does not know what else is on a tile, so too large a share plans operations that do not fit, where smaller steps would;
 * users then lower it by hand, IPU by IPU. Here each IPU that is too full gets what is left for the layer that exceeds its room most, in
 * hundredths of tile memory, and all is planned again, up to eight times. Where PopLibs finds no plan within a share, it doubles the share
 * until it finds one: the next share is then so small that doubling it does not lead to the same plan.
 */
#include "system-model/plan/plan.h"

enum { MOST_TRIES = 8 };

/* The share of memory `left`, rounded down to hundredths, if it is less than the present share. Otherwise `taken`, the share that temporaries
 * take, halved until it is less. */
static double lower_share(double left, double taken, double now)
{
    double share = left < now ? left : taken;
    while (share >= now)
        share /= 2;
    return floor(100 * share) / 100;
}

/* The lower share for an IPU that is too full; 0 if a lower share does not help. */
static double ipu_share(const struct plan *p, const double *rooms, uint32_t ipu)
{
    double capacity = (double)p->topology->machine->chip.tile_memory_bytes, most_over = 0, share = 0;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        for (uint32_t i = stage->first_layer; i < stage_end(stage) && stage->ipu == ipu; i++) {
            double taken = (double)stage->compiled->layers[i].temp_bytes_per_tile;
            if (taken - rooms[i] <= most_over)
                continue;
            most_over = taken - rooms[i];
            share = lower_share(rooms[i] / capacity, taken / capacity, plan_available_memory(&p->request, ipu));
        }
    }
    return share;
}

static bool lower_shares(struct plan_request *r, const struct plan *p, struct arena *a)
{
    const double *rooms = plan_layer_rooms(p, a);
    for (uint32_t i = 0; i < r->ipus_per_replica; i++)
        r->available_memory[i] = plan_available_memory(&p->request, i);
    r->n_available_memory = r->ipus_per_replica;
    for (uint32_t i = 0; i < r->ipus_per_replica; i++) {
        if (p->memory[i].end_bytes <= p->topology->machine->chip.tile_memory_bytes)
            continue;
        r->available_memory[i] = ipu_share(p, rooms, i);
        if (!(r->available_memory[i] > 0))
            return false;
    }
    return true;
}

bool plan_with_less_memory(struct plan *out, struct compiler *c, const struct plan *first, struct arena *a)
{
    struct plan_request r = first->request;
    *out = *first;
    if (r.ipus_per_replica > MAX_STAGES)
        return false;
    for (uint32_t i = 0; i < MOST_TRIES && !out->fits; i++)
        if (!lower_shares(&r, out, a) || !plan_build(out, c, &r, a, NULL))
            return false;
    return out->fits;
}
