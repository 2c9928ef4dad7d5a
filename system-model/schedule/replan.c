/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replan.c - plans again where the temporaries were given more than is free beside what lives on an IPU.
 *
 * The share of memory that an operation's temporaries may take is asked for before anything is placed; too large a share plans operations
 * that do not fit, where smaller steps would. The IPUs that are too full get what is left on the fullest of them beside all
 * but its temporaries, in hundredths of tile memory, and all is planned again, up to six times, as other moments may become the worst. Where nothing is
 * found within a share, PopLibs doubles it until something is: the next share is then such that doubling it does not lead to the same plan.
 * PopLibs does not do this: its user lowers availableMemoryProportion by hand, to the same end. Where nothing helps, the first plan stands.
 */
#include "system-model/schedule/plan.h"

#include <math.h>

enum { MOST_TRIES = 6 };

double ipu_available_memory(const struct plan_options *o, uint32_t ipu)
{
    const double default_of_poplibs = 0.6;
    if (o->n_available_memory == 0)
        return default_of_poplibs;
    return o->available_memory[ipu < o->n_available_memory ? ipu : o->n_available_memory - 1];
}

/* Of an IPU that is too full: what is free beside all but temporaries; where it has no more already, less than temporaries take, by as many
 * doublings as bring it below what it has. */
static double lower_share(const struct tile_memory *m, double capacity, double now)
{
    double left = capacity - (double)(m->total_bytes - m->bytes[REGION_TEMPORARIES]), share = left / capacity;
    if (share < now)
        return share;
    for (share = (double)m->bytes[REGION_TEMPORARIES] / capacity; share >= now; )
        share /= 2;
    return share;
}

/* The least of all IPUs that are too full, in hundredths of tile memory; 0: none is left, or nothing is too full. */
static double next_share(const struct plan *p)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes;
    double least = 1;
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
        if (p->memory[i].total_bytes > capacity)
            least = fmin(least, lower_share(&p->memory[i], (double)capacity, ipu_available_memory(&p->options, i)));
    return least < 0 ? 0 : floor(100 * least) / 100;
}

/* False where no IPU that is too full would get less than it has. */
static bool tighten(struct plan_options *o, const struct plan *p)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes;
    double share = next_share(p);
    bool any = false;
    if (share <= 0 || p->options.ipus_per_replica > MAX_STAGES)
        return false;
    *o = p->options;
    for (uint32_t i = 0; i < o->ipus_per_replica; i++) {
        double now = ipu_available_memory(&p->options, i);
        bool lower = p->memory[i].total_bytes > capacity && share < now;
        o->available_memory[i] = lower ? share : now;
        any = any || lower;
    }
    o->n_available_memory = o->ipus_per_replica;
    return any;
}

static const double *shares(const struct plan_options *o, struct arena *a)
{
    double *by_ipu = ARENA_ARRAY(a, double, o->ipus_per_replica);
    for (uint32_t i = 0; i < o->ipus_per_replica; i++)
        by_ipu[i] = ipu_available_memory(o, i);
    return by_ipu;
}

bool plan_build(struct plan *out, struct compiler *c, const struct plan_options *opt, struct arena *a, struct err *err)
{
    struct plan_options o;
    if (!plan_once(out, c, opt, a, err))
        return false;
    struct plan tried = *out;
    for (uint32_t i = 0; i < MOST_TRIES && !opt->as_asked && !tried.fits && tighten(&o, &tried); i++)
        if (!plan_once(&tried, c, &o, a, err))
            return false;
    if (tried.fits && !out->fits) {
        *out = tried;
        out->asked_memory = shares(opt, a);
    }
    return true;
}

void plan_print_replanned(FILE *f, const struct plan *p, const char *before)
{
    if (!p->asked_memory)
        return;
    fprintf(f, "%splanned again, as temporaries left too little room:", before);
    const char *comma = "";
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++) {
        double now = ipu_available_memory(&p->options, i);
        if (now == p->asked_memory[i])
            continue;
        fprintf(f, "%s IPU %u within %g of tile memory instead of %g", comma, i, now, p->asked_memory[i]);
        comma = ",";
    }
    fputc('\n', f);
}
