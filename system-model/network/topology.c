/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology.c - the link graph of a machine: its links by number, how it is built, and its text.
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

/* ---- any link by its number ----------------------------------------------------------- */

/* Pair i of the links between hubs and switches. A route over switches has the latency of the gateways once and that of each switch, so a
 * link that ends in a switch has half of both. */
static struct link gateway_link(const struct topology *t, uint32_t i)
{
    const struct machine *m = t->machine;
    double rate = m->gateway_bytes_per_s * m->gateway_efficiency;
    uint32_t hub = t->first_hub + i, to = gateways(t) == GATEWAY_DIRECT ? hub + hubs_per_domain(t)
                                        : gateways(t) == GATEWAY_SWITCHED ? t->first_switch : t->first_switch + i / hubs_per_domain(t);
    double latency_s = gateways(t) == GATEWAY_DIRECT ? m->gateway_latency_s : (m->gateway_latency_s + m->switch_latency_s) / 2;
    return (struct link){ hub, to, LINK_GATEWAY, false, rate, latency_s };
}

static struct link spine_link(const struct topology *t, uint32_t i)
{
    const struct machine *m = t->machine;
    double rate = m->gateway_bytes_per_s * m->gateway_efficiency;
    return (struct link){ t->first_switch + i, t->first_switch + t->n_domains, LINK_SWITCH, false, rate * hubs_per_domain(t), m->switch_latency_s };
}

static struct link host_link(const struct topology *t, uint32_t hub)
{
    const struct machine *m = t->machine;
    double rate = m->pcie_shared_ipus > 1 ? m->pcie_shared_bytes_per_s : m->host_network_bytes_per_s;
    uint32_t host = t->first_host + (uint32_t)(hub * t->ipus_per_hub / m->ipus_per_host);
    return (struct link){ t->first_hub + hub, host, LINK_HOST, false, rate, m->host_latency_s };
}

/* The forward link of the pair that begins with this number. */
static struct link link_there(const struct topology *t, uint32_t link)
{
    const struct machine *m = t->machine;
    if (link >= t->first_spine)
        return spine_link(t, (link - t->first_spine) / 2);
    if (link >= t->first_gateway)
        return gateway_link(t, (link - t->first_gateway) / 2);
    if (link >= t->first_host_link)
        return host_link(t, (link - t->first_host_link) / 2);
    uint32_t i = (link - (link >= t->first_streaming ? t->first_streaming : t->first_port)) / 2;
    if (link >= t->first_streaming)
        return (struct link){ t->first_hub + i, t->first_memory + i, LINK_STREAMING, false, m->streaming_bytes_per_s * m->streaming_efficiency, 0 };
    return (struct link){ i, t->first_hub + i / t->ipus_per_hub, LINK_PORT, false, m->chip.host_link_bytes_per_s, 0 };
}

struct link topology_link(const struct topology *t, uint32_t link)
{
    struct link l;
    if (link < t->first_port) {
        uint32_t first_ipu = link / t->domain_links * t->ipus_per_domain;
        l = t->domain[link % t->domain_links];
        l.from += first_ipu;
        l.to += first_ipu;
    } else {
        l = link_there(t, link & ~1u);
        uint32_t from = l.from;
        l.from = link & 1 ? l.to : from;
        l.to = link & 1 ? from : l.to;
    }
    if (t->rates)
        l.bytes_per_s = t->rates[link];
    return l;
}

/* ---- the links that leave a node ----------------------------------------------------------- */

/* n link numbers from `first` on, `step` apart. A few such runs make up the list of a node. */
struct run_of_links { uint32_t first, n, step; };

static struct run_of_links one_link(uint32_t link)
{
    return (struct run_of_links){ .first = link, .n = 1 };
}

static struct run_of_links gateways_of_hub(const struct topology *t, uint32_t hub)
{
    uint32_t n = hubs_per_domain(t);
    if (gateways(t) == GATEWAY_NONE || (gateways(t) == GATEWAY_DIRECT && hub >= 2 * n))
        return (struct run_of_links){0};
    bool other_end = gateways(t) == GATEWAY_DIRECT && hub >= n;
    return one_link(t->first_gateway + 2 * (other_end ? hub - n : hub) + other_end);
}

static uint32_t runs_of_switch(struct run_of_links *runs, const struct topology *t, uint32_t i)
{
    uint32_t n = gateways(t) == GATEWAY_SWITCHED ? t->n_hubs : hubs_per_domain(t);
    if (gateways(t) == GATEWAY_NETWORK && i == t->n_domains) {
        runs[0] = (struct run_of_links){ t->first_spine + 1, t->n_domains, 2 };
        return 1;
    }
    runs[0] = (struct run_of_links){ t->first_gateway + 2 * i * n + 1, n, 2 };
    runs[1] = one_link(t->first_spine + 2 * i);
    return gateways(t) == GATEWAY_NETWORK ? 2 : 1;
}

/* The runs of a node other than an IPU. */
static uint32_t runs_of(struct run_of_links *runs, const struct topology *t, uint32_t node)
{
    uint32_t n = 0;
    if (node >= t->first_switch)
        return runs_of_switch(runs, t, node - t->first_switch);
    if (node >= t->first_host) {
        uint64_t host = node - t->first_host, each = t->machine->ipus_per_host;
        uint32_t from = (uint32_t)ceil_div(host * each, t->ipus_per_hub), to = (uint32_t)min_u64(ceil_div((host + 1) * each, t->ipus_per_hub), t->n_hubs);
        runs[0] = (struct run_of_links){ t->first_host_link + 2 * from + 1, to - from, 2 };
        return 1;
    }
    if (node >= t->first_memory) {
        runs[0] = one_link(t->first_streaming + 2 * (node - t->first_memory) + 1);
        return 1;
    }
    uint32_t hub = node - t->first_hub;
    runs[n++] = (struct run_of_links){ t->first_port + 2 * hub * t->ipus_per_hub + 1, t->ipus_per_hub, 2 };
    if (t->n_memories)
        runs[n++] = one_link(t->first_streaming + 2 * hub);
    runs[n++] = one_link(t->first_host_link + 2 * hub);
    runs[n++] = gateways_of_hub(t, hub);
    return n;
}

uint32_t topology_n_out(const struct topology *t, uint32_t node)
{
    struct run_of_links runs[4];
    uint32_t n = 0, local = node % t->ipus_per_domain;
    if (node < t->first_hub)
        return t->first_out[local + 1] - t->first_out[local] + 1;
    for (uint32_t k = runs_of(runs, t, node); k-- > 0; )
        n += runs[k].n;
    return n;
}

uint32_t topology_out(const struct topology *t, uint32_t node, uint32_t i)
{
    struct run_of_links runs[4];
    uint32_t local = node % t->ipus_per_domain, n_local = t->first_out[local + 1] - t->first_out[local], k = 0;
    if (node < t->first_hub)
        return i < n_local ? node / t->ipus_per_domain * t->domain_links + t->out_links[t->first_out[local] + i] : t->first_port + 2 * node;
    runs_of(runs, t, node);
    while (i >= runs[k].n)
        i -= runs[k++].n;
    return runs[k].first + i * runs[k].step;
}

/* Latency between the gateways of two domains; in a network it has a leaf switch, the spine and a leaf switch. */
static double between_domains_s(const struct topology *t)
{
    static const double n_switches[] = { [GATEWAY_SWITCHED] = 1, [GATEWAY_NETWORK] = NETWORK_SWITCHES };
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
