/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_steps.c - the steps of a reduce-scatter or an all-gather on rings of ranks, by each method.
 *
 *     step     = exchanges + a superstep that adds what came on the tiles
 *     exchange = sync + longest latency + max over links (bytes / rate)
 * A step is one exchange of all flows over their whole routes. On a torus, copies of a ring's step that pass an IPU would wait for one another in
 * a circle, and PopLibs splits them into several exchanges where replicas are wider than two IPUs, which is where ranks are more than a link apart
 * (before 887b9d3a, ReplicatedCollectives; into how many is not at hand). Here each exchange takes them one link further: no copy passes an
 * IPU, none waits. A ring that leaves its domain closes no circle: its flows go all at once. What everyone sends to everyone goes link by link
 * as well, in circles both ways, but for vectors that are too small to be cut into pieces.
 * The steps of a phase are alike, so one is played and counted n times. collective.c has the methods.
 */
#include "system-model/base/assumed.h"
#include "system-model/network/collective_internal.h"
#include "system-model/network/topology_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

/* What each link carries in n steps of these flows. */
static void count_bytes(struct run *run, uint32_t n, const struct step_way *way, const double *by_flows)
{
    struct collective_cost *cost = run->cost;
    assert(run->total_bytes || !way->n_links);          /* links are numbered as their ways are found */
    for (uint32_t i = 0; i < way->n_links; i++) {
        const struct way_link *l = &way->links[i];
        double *total = &run->total_bytes[l->number], *busiest = &cost->busiest_bytes[l->kind];
        *total += n * by_flows[l->n_flows];
        *busiest = fmax(*busiest, *total);
    }
}

/* n steps that took the same time on the links, with a sync for each of their exchanges. */
static void count_steps(struct run *run, uint32_t n, uint32_t n_exchanges, double link_s, double add_s)
{
    run->cost->link_s += n * link_s;
    run->cost->reduce_s += n * add_s;
    run->cost->sync_s += n * n_exchanges * run->sync_s;
    run->cost->n_steps += n;
}

/* Bytes of a link by how many flows it has, added flow by flow. */
static const double *bytes_by_flows(const struct step_way *way, double bytes, struct arena *a)
{
    double *sums = ARENA_ARRAY(a, double, way->most_flows + 1);
    for (uint32_t i = 1; i <= way->most_flows; i++)
        sums[i] = sums[i - 1] + bytes;
    return sums;
}

static void widen_totals(struct run *run)
{
    size_t n = run->ways->numbers.n;
    if (n == run->n_totals)
        return;
    double *wider = ARENA_ARRAY(run->a, double, n);
    if (run->n_totals)
        memcpy(wider, run->total_bytes, run->n_totals * sizeof *wider);
    run->total_bytes = wider;
    run->n_totals = n;
}

/* The flows of a phase's steps are the same ones on the same links, so that each takes as long as the first. */
bool play_steps(struct run *run, const struct ends *ends, double bytes, uint32_t n, double add_bytes, struct err *err)
{
    const struct step_way *way;
    if (n == 0)
        return true;
    if (!step_way_find(&way, run->ways, run->t, ends, run->a, err))
        return false;
    const double *by_flows = bytes_by_flows(way, bytes, run->a);
    count_steps(run, n, way->n_exchanges, step_way_time_s(way, by_flows), add_time_s(&run->t->machine->chip, add_bytes, run->slowdown));
    widen_totals(run);
    count_bytes(run, n, way, by_flows);
    return true;
}

/* Every rank sends to the next one of its ring; both ways: to the one before too. Folded rings over domains: only what leaves the first
 * domain, forward. */
static void ring_ends(struct ends *e, const struct ring *rings, size_t n_rings, bool both_ways, bool first_only)
{
    for (size_t i = 0; i < n_rings; i++) {
        const struct ring *ring = &rings[i];
        for (uint32_t j = 0; j < (first_only ? 1 : ring->n); j++) {
            add_ends(e, ring->ipus[j], ring->ipus[(j + 1) % ring->n]);
            if (both_ways)
                add_ends(e, ring->ipus[j], ring->ipus[(j + ring->n - 1) % ring->n]);
        }
    }
}

bool ring_steps(struct run *run, const struct ring *rings, size_t n_rings, uint32_t n_steps, double share, bool both_ways,
                bool add, bool first_only, struct err *err)
{
    struct ends e = ends_new(2 * n_rings * (first_only ? 1 : rings[0].n), run->a);
    double bytes = both_ways ? share + share : share;
    e.link_by_link = true;
    ring_ends(&e, rings, n_rings, both_ways, first_only);
    run->cost->bytes_sent_per_rank += n_steps * bytes;
    return play_steps(run, &e, share, n_steps, add ? bytes : 0, err);
}

static bool meet_in_middle(struct run *run, const struct ring *rings, size_t n_rings, double bytes, bool add, struct err *err)
{
    uint32_t n = rings[0].n;
    double share = bytes / n;
    if (!ring_steps(run, rings, n_rings, (n - 1) / 2, share, true, add, false, err))
        return false;
    if (n % 2 == 0 && !ring_steps(run, rings, n_rings, 1, share, false, add, false, err))
        return false;
    count_steps(run, 1, 1, 0, add ? add_time_s(&run->t->machine->chip, share, run->slowdown) : 0);
    return true;
}

/* Two rings that take the rungs and every other rail each: 0 1 3 2 4 5 7 6 ... and 1 0 2 3 5 4 6 7 ... */
static void twisted_order(uint32_t *ipus, uint32_t n, uint32_t first_ipu, uint32_t start_column)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = i / 2, column = (row + i + start_column) % 2;
        ipus[i] = first_ipu + 2 * row + column;
    }
}

/* Both ways on the two twisted rings of a torus that one group fills: four flows a rank and step. */
static bool quad_ring(struct run *run, const struct ring *whole, double bytes, bool add, struct err *err)
{
    uint32_t n = whole->n, first_ipu = whole->ipus[0];
    double share = bytes / n / 4;
    struct ring twisted[2];
    for (uint32_t i = 0; i < 2; i++) {
        twisted[i] = (struct ring){ ARENA_ARRAY(run->a, uint32_t, n), n };
        twisted_order(twisted[i].ipus, n, first_ipu, i);
    }
    struct ends e = ends_new(4 * n, run->a);
    e.link_by_link = true;
    ring_ends(&e, twisted, 2, true, false);
    run->cost->bytes_sent_per_rank += (n - 1) * 4 * share;
    return play_steps(run, &e, share, n - 1, add ? 4 * share : 0, err);
}

/* Every rank to every other of its ring. */
static bool to_all(struct run *run, const struct ring *rings, size_t n_rings, double share, bool add, struct err *err)
{
    uint32_t n = rings[0].n;
    struct ends e = ends_new(n_rings * n * (n - 1), run->a);
    e.link_by_link = run->req->bytes > (double)(UNCUT_TILE_BYTES * run->t->machine->chip.n_tiles);
    for (size_t i = 0; i < n_rings; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 1; k < n; k++)
                add_ends(&e, rings[i].ipus[j], rings[i].ipus[(j + k) % n]);
    run->cost->bytes_sent_per_rank += (n - 1) * share;
    return play_steps(run, &e, share, 1, add ? (n - 1) * share : 0, err);
}

bool scatter_or_gather(struct run *run, const struct ring *rings, size_t n_rings, enum collective_method method, double bytes,
                       bool add, struct err *err)
{
    uint32_t n = rings[0].n;
    if (n == 1)
        return true;
    switch (method) {
    case METHOD_BIDIRECTIONAL_RING:
        return ring_steps(run, rings, n_rings, n - 1, bytes / n / 2, true, add, false, err);
    case METHOD_MEET_IN_MIDDLE:
        return meet_in_middle(run, rings, n_rings, bytes, add, err);
    case METHOD_QUAD_RING:
        return quad_ring(run, rings, bytes, add, err);
    case METHOD_BROADCAST:
        return to_all(run, rings, n_rings, bytes / n, add, err);
    default:
        return ring_steps(run, rings, n_rings, n - 1, bytes / n, false, add, false, err);
    }
}
