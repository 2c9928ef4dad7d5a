/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_steps.c - the steps of a collective: flows on the links, and adding on the tiles.
 *
 *     step     = exchanges + a superstep that adds what came on the tiles
 *     exchange = sync + longest latency + max over links (bytes / rate)
 * As a rule a step is one exchange, in which all flows go over their whole routes. On a torus, copies that pass an IPU would wait for one another in
 * a circle. Therefore PopLibs splits a step into several exchanges if replicas are wider than two IPUs (887b9d3a^, ReplicatedCollectives.cpp:723;
 * their number is not published). Here each of these exchanges takes the copies one link further, so that no copy passes an IPU and none waits. Rings
 * of single IPUs that are far apart, as layers cut along two axes have them, are not known to that version; they are taken to need one exchange, like
 * all single IPUs. A ring that leaves its domain closes no circle, so its flows go at once. Broadcasts to all ranks go link by link, too, both ways
 * round, unless the vectors are too small to be cut into pieces.
 * With full_routes a step instead sends the two directions one after the other, each over whole routes, as the last public version of the library
 * does (graphcore/poplibs 887b9d3a^, ReplicatedCollectives.cpp:372-380, 718-797, 1078-1108, and CollectivesProgram.hpp).
 * The steps of a phase are alike, so one is played and counted n times. collective.c has the methods.
 */
#include "system-model/base/assumed.h"
#include "system-model/network/collective_internal.h"

/* Adding is a compute set of its own, as each stage of GC2's reductions is (arXiv:1912.03413 Table 4.16: one word is added in 0.44 us, 540 cycles
 * of superstep and 167 of vertex). */
static double add_time_s(const struct chip *c, double bytes, double slowdown)
{
    if (bytes <= 0)
        return 0;
    uint64_t tile_bytes = ceil_div((uint64_t)bytes, c->n_tiles);
    uint64_t worker_vectors = ceil_div(ceil_div(tile_bytes, c->vector_bytes_per_cycle), c->n_workers);
    uint64_t cycles = superstep_cycles(c) + add_vertex_cycles(c, worker_vectors);
    return (double)cycles / c->clock_hz * slowdown;
}

/* Counts the bytes that each link carries in n equal steps. */
static void count_bytes(struct collective *run, uint32_t n, const struct step_routes *routes, const double *by_flows)
{
    struct collective_cost *cost = run->cost;
    assert(run->total_bytes || !routes->n_links);          /* step_routes_find() has numbered the links */
    for (uint32_t i = 0; i < routes->n_links; i++) {
        const struct step_link *l = &routes->links[i];
        double *total = &run->total_bytes[l->number], *busiest = &cost->busiest_bytes[l->kind];
        *total += n * by_flows[l->n_flows];
        *busiest = fmax(*busiest, *total);
    }
}

/* Counts n steps that take the same time on the links, with a sync for each of their exchanges. */
static void count_steps(struct collective *run, uint32_t n, uint32_t n_exchanges, double link_s, double add_s)
{
    run->cost->link_s += n * link_s;
    run->cost->reduce_s += n * add_s;
    run->cost->sync_s += n * n_exchanges * run->sync_s;
    run->cost->n_steps += n;
}

/* The bytes on a link, from the number of its flows. They are summed flow by flow, because rounding depends on it. */
static const double *bytes_by_flows(const struct step_routes *routes, double bytes, struct arena *a)
{
    double *sums = ARENA_ARRAY(a, double, routes->most_flows + 1);
    for (uint32_t i = 1; i <= routes->most_flows; i++)
        sums[i] = sums[i - 1] + bytes;
    return sums;
}

static void widen_totals(struct collective *run)
{
    size_t n = run->cache->numbers.n;
    if (n == run->n_totals)
        return;
    double *wider = ARENA_ARRAY(run->a, double, n);
    if (run->n_totals)
        memcpy(wider, run->total_bytes, run->n_totals * sizeof *wider);
    run->total_bytes = wider;
    run->n_totals = n;
}

bool collective_play(struct collective *run, const struct step_flows *ends, double bytes, uint32_t n, double add_bytes, struct err *err)
{
    const struct step_routes *routes;
    if (n == 0)
        return true;
    if (!step_routes_find(&routes, run->cache, run->t, ends, run->a, err))
        return false;
    const double *by_flows = bytes_by_flows(routes, bytes, run->a);
    count_steps(run, n, routes->n_exchanges, step_routes_time_s(routes, by_flows), add_time_s(&run->t->machine->chip, add_bytes, run->slowdown));
    widen_totals(run);
    count_bytes(run, n, routes, by_flows);
    return true;
}

void step_flows_add_rings(struct step_flows *e, const struct ring_phase *p, enum ring_direction direction)
{
    for (size_t i = 0; i < p->n_rings; i++) {
        const struct ring *ring = &p->rings[i];
        for (uint32_t j = 0; j < (p->first_rank_only ? 1 : ring->n); j++) {
            if (direction != RING_BACKWARD)
                step_flows_add(e, ring->ipus[j], ring->ipus[(j + 1) % ring->n]);
            if (direction != RING_FORWARD)
                step_flows_add(e, ring->ipus[j], ring->ipus[(j + ring->n - 1) % ring->n]);
        }
    }
}

bool ring_phase_steps(struct collective *run, const struct ring_phase *p, uint32_t n_steps, double share, enum ring_direction direction,
                      struct err *err)
{
    struct step_flows e = step_flows_new(2 * p->n_rings * (p->first_rank_only ? 1 : p->rings[0].n), run->a);
    double bytes = direction == RING_BOTH_WAYS ? share + share : share;
    e.link_by_link = run->width > 2;
    step_flows_add_rings(&e, p, direction);
    run->cost->bytes_sent_per_rank += n_steps * bytes;
    return collective_play(run, &e, share, n_steps, p->adds ? bytes : 0, err);
}

bool ring_phase_full_routes(struct collective *run, const struct ring_phase *p, uint32_t n_iterations, double share, struct err *err)
{
    uint32_t n_empty = run->req->pattern.width / 2 - 1;
    for (int direction = RING_FORWARD; direction <= RING_BACKWARD; direction++) {
        struct step_flows e = step_flows_new(p->n_rings * (p->first_rank_only ? 1 : p->rings[0].n), run->a);
        step_flows_add_rings(&e, p, (enum ring_direction)direction);
        run->cost->bytes_sent_per_rank += n_iterations * share;
        run->cost->sync_s += (double)n_iterations * n_empty * run->sync_s;
        if (!collective_play(run, &e, share, n_iterations, p->adds ? share : 0, err))
            return false;
    }
    return true;
}

/* An expression of a few integers on one tile takes some 40 cycles. */
enum { CONTROL_VERTEX_CYCLES = 40 };

void collective_control(struct collective *run, uint32_t n_supersteps)
{
    const struct chip *c = &run->t->machine->chip;
    run->cost->control_s += (double)(n_supersteps * (superstep_cycles(c) + CONTROL_VERTEX_CYCLES)) / c->clock_hz * run->slowdown;
}

void collective_join(struct collective *run, double add_bytes)
{
    count_steps(run, 1, 1, 0, add_time_s(&run->t->machine->chip, add_bytes, run->slowdown));
}
