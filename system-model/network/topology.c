/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology.c - the link graph of a machine: how it is built, with faults, and the time of a sync.
 *
 * An IPU-Link domain is a ladder of two columns: a rung joins IPU 2i and 2i+1, a rail joins k and k+2. In a torus the rails are closed, for a
 * program that has the whole domain. Some rung links of GC2 carry only traffic that continues along a rail. Every board has a hub (a gateway or
 * a PCIe switch) with a port to each of its IPUs, its streaming memory and its host. Domains are joined by their gateways:
 *     direct      the hubs of two domains, pair by pair
 *     switched    every hub to one switch
 *     network     every hub to the switch of its domain, and those to a spine that carries all hubs at full rate
 * A fault cuts or slows a link. Background flows take part of its rate, but at most half, as two flows on one link share it evenly.
 * The rate of a link is nominal x efficiency. The sheets have the sources of the shapes.
 */
#include "system-model/base/assumed.h"
#include "system-model/network/topology_internal.h"

const char *const link_kind_names[N_LINK_KINDS] = { "rung", "rail", "port", "gateway", "switch", "host", "streaming" };

/* Latency between the gateways of two domains; in a network it has a leaf switch, the spine and a leaf switch. */
static double between_domains_s(const struct topology *t)
{
    const double n_switches[] = { [GATEWAY_SWITCHED] = 1, [GATEWAY_NETWORK] = NETWORK_SWITCHES };
    return t->machine->gateway_latency_s + n_switches[gateways(t)] * t->machine->switch_latency_s;
}

double topology_sync_s(const struct topology *t, const uint32_t *ipus, size_t n)
{
    const struct machine *m = t->machine;
    uint32_t farthest = 0;
    bool leaves = false;
    for (size_t i = 0; i < n; i++) {
        leaves = leaves || ipus[i] / t->ipus_per_domain != ipus[0] / t->ipus_per_domain;
        uint32_t board = ipus[i] % t->ipus_per_domain / (uint32_t)m->ipus_per_board;
        if (board > farthest)
            farthest = board;
    }
    double way_s = m->sync_hop_latency_s * farthest + (leaves ? between_domains_s(t) : 0);
    return (double)m->chip.global_sync_cycles / m->chip.clock_hz + 2 * way_s;
}

/* ---- the links of a domain --------------------------------------------------------- */

static void add_link(struct topology *t, uint32_t from, uint32_t to, enum link_kind kind, bool through, double rate, double latency_s)
{
    t->domain[t->domain_links++] = (struct link){ from, to, kind, through, rate, latency_s };
}

static void add_both_ways(struct topology *t, uint32_t a, uint32_t b, enum link_kind kind, double rate, double latency_s)
{
    add_link(t, a, b, kind, false, rate, latency_s);
    add_link(t, b, a, kind, false, rate, latency_s);
}

static void add_rung(struct topology *t, uint32_t left)
{
    const struct machine *m = t->machine;
    double rate = m->chip.link_bytes_per_s * m->chip.link_efficiency;
    add_both_ways(t, left, left + 1, LINK_RUNG, rate * (double)(m->rung_links - m->rung_through_links), m->rung_latency_s);
    if (m->rung_through_links == 0 || t->ipus_per_domain == 2)
        return;
    double through = rate * (double)m->rung_through_links;
    add_link(t, left, left + 1, LINK_RUNG, true, through, m->rung_latency_s);
    add_link(t, left + 1, left, LINK_RUNG, true, through, m->rung_latency_s);
}

/* In a torus of two rows the rails are closed already; more rows need links from the last to the first. */
static void add_domain(struct topology *t, struct arena *a)
{
    const struct machine *m = t->machine;
    uint32_t n = t->ipus_per_domain;
    double rate = m->chip.link_bytes_per_s * m->chip.link_efficiency * (double)m->rail_links;
    t->domain = ARENA_ARRAY(a, struct link, 4 * (size_t)n + 4);
    for (uint32_t i = 0; i + 1 < n; i += 2)
        add_rung(t, i);
    for (uint32_t i = 0; i + 2 < n; i++)
        add_both_ways(t, i, i + 2, LINK_RAIL, rate, m->rail_latency_s);
    for (uint32_t i = 0; t->domain_topology == DOMAIN_TORUS && n > 4 && i < 2; i++)
        add_both_ways(t, n - 2 + i, i, LINK_RAIL, rate, m->rail_latency_s);
}

/* Sorts the links by the IPU that they leave, otherwise in the order in which they were made. */
static void index_domain(struct topology *t, struct arena *a)
{
    uint32_t n = t->ipus_per_domain;
    t->first_out = ARENA_ARRAY(a, uint32_t, (size_t)n + 2);
    t->out_links = ARENA_ARRAY(a, uint32_t, (size_t)t->domain_links + 1);
    for (uint32_t i = 0; i < t->domain_links; i++)
        t->first_out[t->domain[i].from + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        t->first_out[i] += t->first_out[i - 1];
    for (uint32_t i = 0; i < t->domain_links; i++)
        t->out_links[t->first_out[t->domain[i].from + 1]++] = i;
}

/* ---- the graph --------------------------------------------------------------------- */

static void count_nodes(struct topology *t)
{
    const struct machine *m = t->machine;
    t->n_ipus = (uint32_t)m->n_ipus;
    t->ipus_per_domain = (uint32_t)m->ipus_per_domain;
    t->n_domains = t->n_ipus / t->ipus_per_domain;
    t->ipus_per_hub = (uint32_t)(m->pcie_shared_ipus > 1 ? m->pcie_shared_ipus : m->ipus_per_board);
    t->n_hubs = t->n_ipus / t->ipus_per_hub;
    t->n_memories = m->streaming_bytes_per_s > 0 && m->pcie_shared_ipus <= 1 ? t->n_hubs : 0;
    t->n_hosts = (uint32_t)ceil_div(m->n_ipus, m->ipus_per_host);
    t->n_switches = gateways(t) == GATEWAY_SWITCHED ? 1 : gateways(t) == GATEWAY_NETWORK ? t->n_domains + 1 : 0;
    t->first_hub = t->n_ipus;
    t->first_memory = t->first_hub + t->n_hubs;
    t->first_host = t->first_memory + t->n_memories;
    t->first_switch = t->first_host + t->n_hosts;
    t->n_nodes = t->first_switch + t->n_switches;
}

static void count_links(struct topology *t)
{
    enum gateway_topology kind = gateways(t);
    t->first_port = t->n_domains * t->domain_links;
    t->first_streaming = t->first_port + 2 * t->n_ipus;
    t->first_host_link = t->first_streaming + 2 * t->n_memories;
    t->first_gateway = t->first_host_link + 2 * t->n_hubs;
    t->first_spine = t->first_gateway + 2 * (kind == GATEWAY_NONE ? 0 : kind == GATEWAY_DIRECT ? hubs_per_domain(t) : t->n_hubs);
    t->n_links = t->first_spine + 2 * (kind == GATEWAY_NETWORK ? t->n_domains : 0);
}

/* ---- faults ------------------------------------------------------------------------ */

static bool slow_links(struct topology *t, const struct link_fault *f, struct err *err)
{
    if (!(f->rate_share >= 0 && f->rate_share <= 1))
        return fail(err, "faults: link %u-%u: rate share %g, want 0 (cut) to 1", f->from, f->to, f->rate_share);
    for (const struct link_fault *g = t->faults->links; g < f; g++)
        if ((g->from == f->from && g->to == f->to) || (g->from == f->to && g->to == f->from))
            return fail(err, "faults: link %u-%u is named twice; name it once, with one share", f->from, f->to);
    bool found = false;
    const uint32_t ends[2] = { f->from, f->to };
    for (int way = 0; way < 2 && f->from < t->n_nodes && f->to < t->n_nodes; way++) {
        for (uint32_t i = 0; i < topology_n_out(t, ends[way]); i++) {
            uint32_t link = topology_out(t, ends[way], i);
            if (topology_link(t, link).to != ends[1 - way])
                continue;
            t->rates[link] *= f->rate_share;
            found = true;
        }
    }
    return found ? true : fail(err, "faults: link %u-%u: %s has no link between these nodes (it has nodes 0 to %u)", f->from, f->to,
                               t->machine->name, t->n_nodes - 1);
}

static bool take_background(struct topology *t, const struct faults *faults, struct arena *a, struct err *err)
{
    double *taken = ARENA_ARRAY(a, double, t->n_links);
    for (size_t i = 0; i < faults->n_background; i++) {
        const struct flow *f = &faults->background[i];
        uint32_t links[MAX_ROUTE];
        size_t n;
        if (!(f->bytes >= 0 && f->bytes <= 1e14))       /* the highest rate that a sheet may state */
            return fail(err, "faults: flow %u-%u: %g bytes a second, want 0 to 1e14", f->from, f->to, f->bytes);
        if (!topology_route(links, MAX_ROUTE, &n, t, f->from, f->to, err))
            return false;
        for (size_t j = 0; j < n; j++)
            taken[links[j]] += f->bytes;
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        double rate = t->rates[i];
        t->rates[i] = fmax(rate - taken[i], rate / 2);
    }
    return true;
}

static bool apply_faults(struct topology *t, const struct faults *faults, struct arena *a, struct err *err)
{
    double *rates = ARENA_ARRAY(a, double, t->n_links);
    for (uint32_t i = 0; i < t->n_links; i++)
        rates[i] = topology_link(t, i).bytes_per_s;
    t->rates = rates;
    for (size_t i = 0; i < faults->n_links; i++)
        if (!slow_links(t, &faults->links[i], err))
            return false;
    for (size_t i = 0; i < faults->n_chips; i++) {
        const struct chip_fault *c = &faults->chips[i];
        for (size_t k = 0; k < i; k++)
            if (faults->chips[k].ipu == c->ipu)
                return fail(err, "faults: IPU %u is named twice; name it once, with one slowdown", c->ipu);
        if (c->ipu >= t->n_ipus || !(c->slowdown >= 1 && c->slowdown <= 1e6))
            return fail(err, "faults: IPU %u: slowdown %g, want 1 to 1e6 on an IPU from 0 to %u", c->ipu, c->slowdown, t->n_ipus - 1);
    }
    return take_background(t, faults, a, err);
}

/* A program runs on a partition of 2^k IPUs. */
enum domain_topology topology_of_partition(const struct machine *m, uint64_t n_in_use)
{
    uint64_t n = 1;
    while (n < n_in_use)
        n *= 2;
    bool open = PART_OF_TORUS_OPEN && m->domain_topology == DOMAIN_TORUS && n < m->ipus_per_domain;
    return open ? DOMAIN_LADDER : m->domain_topology;
}

bool topology_build(struct topology *out, const struct machine *m, const struct faults *faults, struct arena *a, struct err *err)
{
    return topology_build_as(out, m, m->domain_topology, faults, a, err);
}

bool topology_build_as(struct topology *out, const struct machine *m, enum domain_topology shape, const struct faults *faults, struct arena *a,
                       struct err *err)
{
    *out = (struct topology){ .machine = m, .domain_topology = shape };
    count_nodes(out);
    add_domain(out, a);
    index_domain(out, a);
    count_links(out);
    if (!faults || !(faults->n_links || faults->n_chips || faults->n_background))
        return true;
    out->faults = faults;
    return apply_faults(out, faults, a, err);
}
