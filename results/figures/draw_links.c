/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_links.c - the links of a machine with the traffic of one pipeline cycle: activations to the next stage, and gradients back. IPUs are
 * placed as on their boards, with rungs across and rails along. Links to hubs are left out.
 */
#include "results/figures/drawings.h"

enum { MOST_DRAWN_IPUS = 64 };

/* The share of a step spent on copies between stages; 0 if there are too many IPUs for one picture. */
static double copies_share(const struct result *r)
{
    return r->ipus <= MOST_DRAWN_IPUS ? r->breakdown_s[PART_STAGE_COPY] / r->step_time_s : 0;
}

static bool more_copies(const struct result *x, const struct result *y)
{
    return copies_share(x) > copies_share(y);
}

static size_t copies_of(struct flow *flows, const struct plan *p)
{
    size_t n = 0;
    for (uint32_t r = 0; r < p->request.n_replicas; r++)
        for (uint32_t s = 0; s + 1 < p->n_stages; s++) {
            uint32_t base = r * p->request.ipus_per_replica, from = base + p->stages[s].ipu, to = base + p->stages[s + 1].ipu;
            if (from == to)
                continue;
            flows[n++] = (struct flow){ from, to, (double)p->stages[s].output_bytes };
            flows[n++] = (struct flow){ to, from, (double)p->stages[s].output_bytes };
        }
    return n;
}

static void write_links(FILE *f, const struct topology *t, struct link_loads *loads, double *busiest)
{
    double most = 0;
    for (uint32_t i = 0; i < loads->n; i++)
        most = fmax(most, loads->items[i].bytes / topology_link(t, loads->items[i].link).bytes_per_s);
    for (uint32_t i = 0; i < t->n_links; i++) {
        struct link l = topology_link(t, i);
        if (l.from >= t->n_ipus || l.to >= t->n_ipus)
            continue;
        double x = l.from / 2, y = l.from % 2, to_x = l.to / 2, to_y = l.to % 2, load = *link_loads_at(loads, i);
        if (fabs(to_x - x) > 1)                 /* a link that closes a ring is drawn as a stub */
            to_x = x + (to_x > x ? -0.4 : 0.4);
        double side = l.from < l.to ? 0.06 : -0.06;   /* puts the two directions next to each other */
        double share = load / l.bytes_per_s / most;
        *busiest = fmax(*busiest, load);
        fprintf(f, "%g,%g,%g,%g,%.4g,%u\n", x + (x == to_x ? side : 0), y + (y == to_y ? side : 0), to_x - x, to_y - y, 100 * share, l.from);
    }
}

static bool write_loads(struct drawing *d, const struct simulation *sim, const char *id, struct err *err)
{
    const struct topology *t = sim->topology;
    const struct plan *p = &sim->plan;
    struct flow *flows = ARENA_ROOM(d->a, struct flow, 2 * (size_t)p->request.n_replicas * p->n_stages);
    struct link_loads loads = link_loads_new(d->a);
    double time_s, busiest = 0;
    if (!topology_flows(&time_s, t, flows, copies_of(flows, p), &loads, d->a, err))
        return false;
    write_links(drawing_table(d, "links", "x,y,dx,dy,load,label"), t, &loads, &busiest);
    d->finding = arena_printf(d->a, "%s: copies between stages put %.1f MB on the busiest IPU-Link per micro-batch", drawing_label(id, d->a),
                              busiest / 1e6);
    FILE *f = drawing_table(d, "links-ipus", "x,y,ipu");
    for (uint32_t i = 0; i < t->n_ipus; i++)
        fprintf(f, "%u,%u,%u\n", i / 2, i % 2, i);
    return true;
}

bool draw_links(struct drawing *d, struct err *err)
{
    const struct result *run = drawing_run(d, more_copies);
    d->missing = "no pipelined training run on at most 64 IPUs";
    if (!run || !(copies_share(run) > 0))
        return true;
    const struct simulation *sim = drawing_simulate(d, run->id, NULL, 0, err);
    return sim && write_loads(d, sim, run->id, err);
}
