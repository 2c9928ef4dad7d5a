/*
 * topology.c - the link graph of a machine.
 *
 * An IPU-Link domain is a ladder of two columns: IPU 2i and 2i+1 are joined by a rung, k and k+2 by a rail; in a
 * torus the rails are closed. On GC2 some links of each rung carry only what goes on along a rail. Every board has a
 * hub (gateway or PCIe switch) with a port to each of its IPUs, its streaming memory and its host. Between domains:
 *     direct      the hubs of two domains, pair by pair
 *     switched    every hub to one switch
 *     network     every hub to its domain's switch, those to a spine that carries all hubs at full rate
 * A link's rate is nominal x efficiency. Faults cut or slow a link; background flows take their share of it, though
 * no more than half: two flows on one link share it evenly. Sources of the shapes: the sheets.
 */
#include "system-model/network/topology_internal.h"

#include <assert.h>

const char *const link_kind_names[N_LINK_KINDS] = { "rung", "rail", "port", "gateway", "switch", "host", "streaming" };

/* ---- the links, kind by kind ------------------------------------------------------ */

static void add_link(struct topology *t, uint32_t from, uint32_t to, enum link_kind kind, bool through, double rate, double latency_s)
{
    t->links[t->n_links++] = (struct link){ from, to, kind, through, rate, latency_s };
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

/* A torus of two rows has its rails already; a third row is needed to close them. */
static void add_domain(struct topology *t, uint32_t first)
{
    const struct machine *m = t->machine;
    uint32_t n = t->ipus_per_domain;
    double rate = m->chip.link_bytes_per_s * m->chip.link_efficiency * (double)m->rail_links;
    for (uint32_t i = 0; i + 1 < n; i += 2)
        add_rung(t, first + i);
    for (uint32_t i = 0; i + 2 < n; i++)
        add_both_ways(t, first + i, first + i + 2, LINK_RAIL, rate, m->rail_latency_s);
    for (uint32_t i = 0; m->domain_topology == DOMAIN_TORUS && n > 4 && i < 2; i++)
        add_both_ways(t, first + n - 2 + i, first + i, LINK_RAIL, rate, m->rail_latency_s);
}

static void add_hubs(struct topology *t)
{
    const struct machine *m = t->machine;
    double host_rate = m->pcie_shared_ipus > 1 ? m->pcie_shared_bytes_per_s : m->host_network_bytes_per_s;
    for (uint32_t i = 0; i < t->n_ipus; i++)
        add_both_ways(t, i, t->first_hub + i / t->ipus_per_hub, LINK_PORT, m->chip.host_link_bytes_per_s, 0);
    for (uint32_t i = 0; i < t->n_memories; i++)
        add_both_ways(t, t->first_hub + i, t->first_memory + i, LINK_STREAMING, m->streaming_bytes_per_s * m->streaming_efficiency, 0);
    for (uint32_t i = 0; i < t->n_hubs; i++) {
        uint32_t host = t->first_host + (uint32_t)(i * t->ipus_per_hub / m->ipus_per_host);
        add_both_ways(t, t->first_hub + i, host, LINK_HOST, host_rate, m->host_latency_s);
    }
}

static void add_gateways(struct topology *t)
{
    const struct machine *m = t->machine;
    double rate = m->gateway_bytes_per_s * m->gateway_efficiency;
    uint32_t hubs_per_domain = t->n_hubs / t->n_domains;
    switch (t->n_domains > 1 ? m->gateway_topology : GATEWAY_NONE) {
    case GATEWAY_NONE:
        return;
    case GATEWAY_DIRECT:
        for (uint32_t i = 0; i < hubs_per_domain; i++)
            add_both_ways(t, t->first_hub + i, t->first_hub + hubs_per_domain + i, LINK_GATEWAY, rate, m->gateway_latency_s);
        return;
    case GATEWAY_SWITCHED:
        for (uint32_t i = 0; i < t->n_hubs; i++)
            add_both_ways(t, t->first_hub + i, t->first_switch, LINK_GATEWAY, rate, m->gateway_latency_s);
        return;
    case GATEWAY_NETWORK:
        for (uint32_t i = 0; i < t->n_hubs; i++)
            add_both_ways(t, t->first_hub + i, t->first_switch + i / hubs_per_domain, LINK_GATEWAY, rate, m->gateway_latency_s);
        for (uint32_t i = 0; i < t->n_domains; i++)
            add_both_ways(t, t->first_switch + i, t->first_switch + t->n_domains, LINK_SWITCH, rate * hubs_per_domain,
                          m->gateway_latency_s);
        return;
    }
    assert(false && "a gateway topology");
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
    if (t->n_domains > 1)
        t->n_switches = m->gateway_topology == GATEWAY_SWITCHED ? 1 : m->gateway_topology == GATEWAY_NETWORK ? t->n_domains + 1 : 0;
    t->first_hub = t->n_ipus;
    t->first_memory = t->first_hub + t->n_hubs;
    t->first_host = t->first_memory + t->n_memories;
    t->first_switch = t->first_host + t->n_hosts;
    t->n_nodes = t->first_switch + t->n_switches;
}

static size_t most_links(const struct topology *t)
{
    size_t domain = 2 * (size_t)t->ipus_per_domain + 2 * ((size_t)t->ipus_per_domain + 2);
    return t->n_domains * domain + 2 * (size_t)t->n_ipus + 6 * (size_t)t->n_hubs + 2 * (size_t)t->n_switches;
}

/* Links by the node they leave, in the order they were made. */
static void index_links(struct topology *t, struct arena *a)
{
    t->first_out = ARENA_ARRAY(a, uint32_t, (size_t)t->n_nodes + 2);
    t->out_links = ARENA_ARRAY(a, uint32_t, (size_t)t->n_links + 1);
    for (uint32_t i = 0; i < t->n_links; i++)
        t->first_out[t->links[i].from + 2]++;
    for (uint32_t i = 2; i < t->n_nodes + 2; i++)
        t->first_out[i] += t->first_out[i - 1];
    for (uint32_t i = 0; i < t->n_links; i++)
        t->out_links[t->first_out[t->links[i].from + 1]++] = i;
}

/* ---- faults ------------------------------------------------------------------------ */

static bool slow_links(struct topology *t, const struct link_fault *f, struct err *err)
{
    if (!(f->rate_share >= 0 && f->rate_share <= 1))
        return fail(err, "faults: link %u-%u: rate share %g, want 0 (cut) to 1", f->from, f->to, f->rate_share);
    bool found = false;
    const uint32_t ends[2] = { f->from, f->to };
    for (int way = 0; way < 2 && f->from < t->n_nodes && f->to < t->n_nodes; way++) {
        for (uint32_t i = t->first_out[ends[way]]; i < t->first_out[ends[way] + 1]; i++) {
            struct link *l = &t->links[t->out_links[i]];
            if (l->to != ends[1 - way])
                continue;
            l->bytes_per_s *= f->rate_share;
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
        if (!(f->bytes >= 0))
            return fail(err, "faults: background %u-%u: %g bytes a second, want 0 or more", f->from, f->to, f->bytes);
        if (!topology_route(links, MAX_ROUTE, &n, t, f->from, f->to, err))
            return false;
        for (size_t j = 0; j < n; j++)
            taken[links[j]] += f->bytes;
    }
    for (uint32_t i = 0; i < t->n_links; i++) {
        double rate = t->links[i].bytes_per_s, left = rate - taken[i];
        t->links[i].bytes_per_s = left > rate / 2 ? left : rate / 2;
    }
    return true;
}

static bool apply_faults(struct topology *t, const struct faults *faults, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < faults->n_links; i++)
        if (!slow_links(t, &faults->links[i], err))
            return false;
    for (size_t i = 0; i < faults->n_chips; i++) {
        const struct chip_fault *c = &faults->chips[i];
        if (c->ipu >= t->n_ipus || !(c->slowdown >= 1 && c->slowdown <= 1e6))
            return fail(err, "faults: IPU %u: slowdown %g, want 1 to 1e6 on an IPU from 0 to %u", c->ipu, c->slowdown, t->n_ipus - 1);
    }
    return faults->n_background == 0 || take_background(t, faults, a, err);
}

bool topology_build(struct topology *out, const struct machine *m, const struct faults *faults, struct arena *a, struct err *err)
{
    *out = (struct topology){ .machine = m };
    count_nodes(out);
    size_t most = most_links(out);
    out->links = ARENA_ARRAY(a, struct link, most);
    for (uint32_t d = 0; d < out->n_domains; d++)
        add_domain(out, d * out->ipus_per_domain);
    add_hubs(out);
    add_gateways(out);
    assert(out->n_links <= most);
    index_links(out, a);
    if (!faults || faults->n_links + faults->n_chips + faults->n_background == 0)
        return true;
    out->faults = faults;
    return apply_faults(out, faults, a, err);
}

double topology_sync_s(const struct topology *t, const uint32_t *ipus, size_t n)
{
    const struct machine *m = t->machine;
    uint32_t farthest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t board = ipus[i] % t->ipus_per_domain / (uint32_t)m->ipus_per_board;
        if (board > farthest)
            farthest = board;
    }
    return (double)m->chip.global_sync_cycles / m->chip.clock_hz + 2 * m->sync_hop_latency_s * farthest;
}
