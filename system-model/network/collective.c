/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective.c - collectives as steps of flows on the links.
 *
 * A collective over n ranks in one domain is a reduce-scatter, an all-gather, or both, on a ring that follows physical neighbours: up the left
 * column and down the right one (the peripheral ring; for ranks of one column only, its rail). collective_methods.c has what each method sends on it.
 * Across domains there is a reduce-scatter in each domain, an all-reduce of the V/n shards between domains on a ring over the gateways, and an
 * all-gather in each domain. An all-reduce by broadcast is one in each domain, then V goes round the domains. A collective of kind broadcast is
 * a scatter by the root and an all-gather. IPUs behind one port to other domains may have vectors of unlike size: their mean counts between domains,
 * as together they fill the port, and the largest within, as each has links of its own. Domains with different numbers of ranks use their own sizes, and the largest decides the pieces
 * between them. If that is slower than one ring over all ranks (few ranks, most of them in one domain), AUTO takes the ring.
 * collective_steps.c has the time of a step. All groups run at the same time and share the links, so contention and faults have their effect.
 *
 * Folding: without faults, if all domains hold the same positions, only the flows of one domain are played. The result is the same to the bit.
 * Keeping count of the pieces and copying them takes supersteps on the chips, by the library's ancestor (collective_methods.c). Not modelled: overlap of
 * adding with the next step.
 */
#include "system-model/base/assumed.h"
#include "system-model/network/collective_internal.h"

#include <assert.h>
#include <math.h>

static bool collective_check(const struct topology *t, const struct collective_request *r, struct err *err)
{
    if ((unsigned)r->kind >= N_COLLECTIVE_KINDS || (unsigned)r->method >= N_COLLECTIVE_METHODS)
        return fail(err, "collective: no such kind or method");
    if (r->n_groups == 0 || r->n_ranks == 0)
        return fail(err, "%s: %u groups of %u ranks, want at least one of each", collective_kind_names[r->kind], r->n_groups, r->n_ranks);
    if (r->n_in_use > t->n_ipus)
        return fail(err, "%s: %u IPUs in use; %s has %u", collective_kind_names[r->kind], r->n_in_use, t->machine->name, t->n_ipus);
    if (!(r->bytes >= 0 && r->bytes < 1e18))
        return fail(err, "%s: %g bytes, want 0 or more, and less than 1e18", collective_kind_names[r->kind], r->bytes);
    return true;
}

/* ---- rings --------------------------------------------------------------------------- */

/* The number of IPUs of a replica. If ranks are listed without it, it is the gap between the first two of them. */
static uint32_t replica_width(const struct collective *run)
{
    uint64_t p = group_place_at(&run->at, 0, 0).positions;
    assert(p);                          /* the position of the first rank is among them */
    p &= p - 1;
    return run->req->pattern.width || !p ? max_u32(run->req->pattern.width, 1)
         : (uint32_t)(__builtin_ctzll(p) - __builtin_ctzll(group_place_at(&run->at, 0, 0).positions));
}

/* Lists the ranks of a domain in the order of their ring. Single IPUs go up the left column of the ladder, which has the even positions, and down the
   right one. With wider replicas on a ladder, every other one goes up and the rest come down (graphcore/poplibs 887b9d3a^,
   ReplicatedCollectives.cpp:101-195). On a torus, or where single IPUs are apart, the ranks of one column go round in order. */
static uint32_t ring_order(uint32_t *ipus, const struct collective *run, uint32_t domain, uint64_t positions)
{
    bool by_rank = run->width > 1 && run->t->domain_topology != DOMAIN_TORUS;
    uint32_t n = (uint32_t)__builtin_popcountll(positions), first = domain * run->t->ipus_per_domain, up = 0, down = n;
    for (uint32_t i = 0; positions; positions &= positions - 1, i++) {
        uint32_t at = (uint32_t)__builtin_ctzll(positions);
        ipus[(by_rank ? i : at) % 2 ? --down : up++] = first + at;
    }
    return n;
}

/* One ring for each domain and group. The rings of the first domains of all groups come first. */
static size_t domain_rings(struct ring **rings, const struct collective *run)
{
    const struct collective_layout *at = &run->at;
    size_t n = (size_t)run->n_shown * at->n_groups;
    uint32_t *ipus = ARENA_ARRAY(run->a, uint32_t, n * at->n_local);
    *rings = ARENA_ARRAY(run->a, struct ring, n);
    for (size_t i = 0; i < n; i++) {
        struct group_place p = group_place_at(at, (uint32_t)(i % at->n_groups), (uint32_t)(i / at->n_groups));
        (*rings)[i] = (struct ring){ ipus + i * at->n_local, 0 };
        (*rings)[i].n = ring_order((*rings)[i].ipus, run, p.domain, p.positions);
    }
    return n;
}

/* One ring for each group, over all its domains. */
static size_t flat_rings(struct ring **rings, const struct collective *run)
{
    const struct collective_layout *at = &run->at;
    uint32_t n_ranks = run->req->n_ranks;
    uint32_t *ipus = ARENA_ARRAY(run->a, uint32_t, (size_t)at->n_groups * n_ranks);
    *rings = ARENA_ARRAY(run->a, struct ring, at->n_groups);
    for (uint32_t g = 0; g < at->n_groups; g++) {
        struct ring *r = &(*rings)[g];
        *r = (struct ring){ ipus + (size_t)g * n_ranks, 0 };
        for (uint32_t k = 0; k < group_n_places(at, g); k++) {
            struct group_place p = group_place_at(at, g, k);
            r->n += ring_order(r->ipus + r->n, run, p.domain, p.positions);
        }
    }
    return at->n_groups;
}

/* ---- the collectives ------------------------------------------------------------------------ */

/* The root sends each rank its share; this is one step. */
static bool scatter_by_root(struct collective *run, struct err *err)
{
    const struct collective_request *req = run->req;
    double share = req->bytes / req->n_ranks;
    struct step_flows e = step_flows_new((size_t)req->n_groups * req->n_ranks, run->a);
    for (uint32_t g = 0; g < req->n_groups; g++)
        for (uint32_t i = 1; i < req->n_ranks; i++)
            step_flows_add(&e, collective_rank(req, g, 0), collective_rank(req, g, i));
    run->cost->bytes_sent_per_rank += share * (req->n_ranks - 1) / req->n_ranks;
    return collective_play(run, &e, share, 1, 0, err);
}

static bool run_flat(struct collective *run, enum collective_method method, struct err *err)
{
    struct ring *rings;
    size_t n = flat_rings(&rings, run);
    run->cost->method = method;
    struct ring_phase reduce = { rings, n, run->req->bytes, .adds = true }, gather = { rings, n, run->req->bytes, .adds = false };
    return (!run->phases->reduces || ring_phase_play(run, &reduce, method, err)) &&
           (!run->phases->gathers || ring_phase_play(run, &gather, method, err));
}

static double steps_time_s(const struct collective_cost *c) { return c->link_s + c->reduce_s + c->sync_s + c->control_s; }

/* Copies everything except the bytes on the links. */
static void copy_times(struct collective_cost *to, const struct collective_cost *from)
{
    to->link_s = from->link_s;
    to->reduce_s = from->reduce_s;
    to->sync_s = from->sync_s;
    to->control_s = from->control_s;
    to->n_steps = from->n_steps;
    to->bytes_sent_per_rank = from->bytes_sent_per_rank;
}

/* Fills ring i of group g between domains. In each domain it takes the IPU that holds piece i of n_local in the group's local ring: the IPU at
 * place i if all domains have equally many ranks. In a domain with fewer ranks, each holds several pieces. */
static size_t between_rings(struct ring **rings, const struct collective *run, const struct ring *local)
{
    const struct collective_layout *at = &run->at;
    size_t n = (size_t)at->n_groups * at->n_local;
    uint32_t *ipus = ARENA_ARRAY(run->a, uint32_t, n * run->n_shown);
    *rings = ARENA_ARRAY(run->a, struct ring, n);
    for (size_t i = 0; i < n; i++) {
        (*rings)[i] = (struct ring){ ipus + i * run->n_shown, at->n_domains };
        for (uint32_t d = 0; d < run->n_shown; d++) {
            const struct ring *r = &local[(size_t)d * at->n_groups + i / at->n_local];
            (*rings)[i].ipus[d] = r->ipus[i % at->n_local * r->n / at->n_local];
        }
    }
    return n;
}

/* Rings of different sizes work at the same time, each in its own domain, so the slowest counts. */
static bool local_phase(struct collective *run, const struct ring_phase *p, enum collective_method method, struct err *err)
{
    struct collective_cost before = *run->cost, longest = before;
    struct ring *alike = ARENA_ARRAY(run->a, struct ring, p->n_rings);
    for (uint32_t size = 2; size <= run->at.n_local; size++) {      /* a ring of one rank has nothing to send */
        size_t n = 0;
        for (size_t i = 0; i < p->n_rings; i++)
            if (p->rings[i].n == size)
                alike[n++] = p->rings[i];
        if (n == 0)
            continue;
        copy_times(run->cost, &before);
        if (!ring_phase_play(run, &(struct ring_phase){ alike, n, p->bytes, .adds = p->adds }, method, err))
            return false;
        if (steps_time_s(run->cost) >= steps_time_s(&longest))
            longest = *run->cost;
    }
    copy_times(run->cost, &longest);
    return true;
}

static double bytes_across_domains(const struct collective_request *r) { return r->port_bytes > 0 ? r->port_bytes : r->bytes; }

static bool run_by_domain(struct collective *run, enum collective_method method, struct err *err)
{
    struct ring *local, *between;
    const struct collective_layout *at = &run->at;
    size_t n_local_rings = domain_rings(&local, run);
    size_t n_between = between_rings(&between, run, local);
    double bytes = run->req->bytes, across_bytes = bytes_across_domains(run->req) / at->n_local, shard = across_bytes / at->n_domains;
    uint32_t steps = at->n_domains - 1;
    if (run->fold_domains)
        n_local_rings = at->n_groups;
    run->cost->method = METHOD_HIERARCHICAL;
    for (int adds = 1; adds >= 0; adds--) {
        struct ring_phase inside = { local, n_local_rings, bytes, .adds = adds };
        struct ring_phase across = { between, n_between, across_bytes, .adds = adds, .first_rank_only = run->fold_domains };
        if (adds && run->phases->reduces &&
            (!local_phase(run, &inside, method, err) || !ring_phase_steps(run, &across, steps, shard, RING_FORWARD, err)))
            return false;
        if (!adds && run->phases->gathers &&
            (!ring_phase_steps(run, &across, steps, shard, RING_FORWARD, err) || !local_phase(run, &inside, method, err)))
            return false;
    }
    return true;
}

/* An all-reduce by broadcast: n pieces move as in the other methods, but each of them is a whole vector. */
static bool reduce_at_once(struct collective *run, struct err *err)
{
    struct ring *local, *between;
    const struct collective_layout *at = &run->at;
    size_t n_local_rings = domain_rings(&local, run), n_between = between_rings(&between, run, local);
    double bytes = run->req->bytes;
    if (run->fold_domains)
        n_local_rings = at->n_groups;
    run->cost->method = METHOD_BROADCAST;
    struct ring_phase inside = { local, n_local_rings, at->n_local * bytes, .adds = true };
    struct ring_phase across = { between, n_between, bytes_across_domains(run->req), .adds = true, .first_rank_only = run->fold_domains };
    return ring_phase_play(run, &inside, METHOD_BROADCAST, err)
        && ring_phase_steps(run, &across, at->n_domains - 1, across.bytes, RING_FORWARD, err);
}

/* The slowest chip that takes part delays every step. */
static double slowest(const struct topology *t, const struct collective_request *r)
{
    double slowdown = 1;
    for (size_t i = 0; t->faults && i < t->faults->n_chips; i++)
        for (size_t j = 0; j < (size_t)r->n_groups * r->n_ranks; j++)
            if (collective_rank(r, (uint32_t)(j / r->n_ranks), (uint32_t)(j % r->n_ranks)) == t->faults->chips[i].ipu)
                slowdown = fmax(slowdown, t->faults->chips[i].slowdown);
    return slowdown;
}

static double sync_s(const struct topology *t, const struct collective_request *r)
{
    assert(r->ranks || r->n_in_use);
    if (r->n_in_use == 0)
        return topology_sync_s(t, r->ranks, (size_t)r->n_groups * r->n_ranks);
    const uint32_t last = r->n_in_use - 1, farthest[] = { 0, min_u32(last, t->ipus_per_domain - 1), last };
    return topology_sync_s(t, farthest, sizeof farthest / sizeof *farthest);
}

static bool reduces_and_gathers(const struct collective *run) { return run->phases->reduces && run->phases->gathers; }

static void run_start(struct collective *run, struct collective_cost *out, enum collective_method method)
{
    *out = (struct collective_cost){ .method = method };
    run->cost = out;
    run->total_bytes = NULL;
    run->n_totals = 0;
}

static bool run_all(struct collective *run, struct collective_cost *out, enum collective_method method, bool by_domain, struct err *err)
{
    run_start(run, out, by_domain ? METHOD_HIERARCHICAL : method);
    if (run->phases->root_scatters && !scatter_by_root(run, err))
        return false;
    bool at_once = method == METHOD_BROADCAST && reduces_and_gathers(run);
    if (!(at_once ? reduce_at_once(run, err) : by_domain ? run_by_domain(run, method, err) : run_flat(run, method, err)))
        return false;
    out->time_s = steps_time_s(out);
    return true;
}

/* False if the bytes of a broadcast alone take an IPU's links longer than time_s. Its routes are then not searched. */
static bool may_broadcast(const struct collective *run, double time_s)
{
    const struct collective_request *r = run->req;
    const struct chip *c = &run->t->machine->chip;
    return reduces_and_gathers(run) && run->at.regular && r->n_ranks >= BROADCAST_LEAST_RANKS &&
           (run->at.n_local - 1) * r->bytes < time_s * (double)c->n_links * c->link_bytes_per_s;
}

/* Tries another method, without a hierarchy, and keeps it if it is faster. */
static bool try_instead(struct collective *run, struct collective_cost *best, enum collective_method method, struct err *err)
{
    struct collective_cost other;
    if (!run_all(run, &other, method, false, err))
        return false;
    if (other.time_s < best->time_s)
        *best = other;
    return true;
}

bool collective_run(struct collective_cost *out, const struct topology *t, const struct collective_request *req,
                    struct arena *scratch, struct err *err)
{
    struct collective_cache own = {0};
    struct collective run = { .t = t, .req = req, .a = scratch, .cache = req->cache ? req->cache : &own };
    enum collective_method method = req->method;
    bool by_domain = false;
    *out = (struct collective_cost){ .method = req->method };
    if (!req->cache)
        own = collective_cache_new(scratch);
    if (!collective_check(t, req, err))
        return false;
    run.phases = collective_phases_of(req->kind);
    if (!collective_layout_find(&run.at, t, req, run.cache, scratch, err))
        return false;
    run.width = replica_width(&run);
    if (!collective_method_settle(&method, &by_domain, &run, err))
        return false;
    out->method = by_domain ? METHOD_HIERARCHICAL : method;
    if (req->n_ranks == 1 || req->bytes == 0)
        return true;
    run.sync_s = sync_s(t, req);
    run.slowdown = slowest(t, req);
    run.fold_domains = !req->unfolded && !t->faults && run.at.alike;
    run.n_shown = run.fold_domains ? min_u32(2, run.at.n_domains) : run.at.n_domains;
    if (!run_all(&run, out, method, by_domain, err))
        return false;
    if (req->method != METHOD_AUTO)
        return true;
    return (!by_domain || run.at.regular || try_instead(&run, out, METHOD_RING, err)) &&
           (!may_broadcast(&run, out->time_s) || try_instead(&run, out, METHOD_BROADCAST, err));
}
