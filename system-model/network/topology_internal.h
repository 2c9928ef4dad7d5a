/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_internal.h - shared by the files of the link graph and the collectives.
 */
#ifndef TOPOLOGY_INTERNAL_H
#define TOPOLOGY_INTERNAL_H
#include "system-model/network/topology.h"

enum { NO_LINK = -1 };

/* The topology between domains; none if there is only one domain. */
static inline enum gateway_topology gateways(const struct topology *t)
{
    return t->n_domains > 1 ? (enum gateway_topology)t->machine->gateway_topology : GATEWAY_NONE;
}

static inline uint32_t hubs_per_domain(const struct topology *t) { return t->n_hubs / t->n_domains; }

/* topology_link() for ends in the first domain: it is faster, and it is called for every link of every route. */
static inline struct link link_without_ends(const struct topology *t, uint32_t link)
{
    if (link >= t->first_port)
        return topology_link(t, link);
    struct link l = t->domain[link % t->domain_links];
    if (t->rates)
        l.bytes_per_s = t->rates[link];
    return l;
}

uint32_t link_loads_number(struct link_loads *loads, uint32_t link);   /* its place among the items; a new one is added */
void link_loads_add(struct link_loads *loads, const uint32_t *links, size_t n_links, double bytes);

#endif
