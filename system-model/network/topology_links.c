/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_links.c - the links of a machine by their numbers, and those that leave a node. They are computed from numbers that topology.c has set.
 */
#include "system-model/network/topology_internal.h"

/* ---- any link by its number ----------------------------------------------------------- */

/* Pair i of the links between hubs and switches. A route over switches takes the latency of the gateways once, and that of each switch once. It has
 * two links between a hub and a switch, so each of these has half the latency of the gateways and half that of one switch. */
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
