/*
 * topology_internal.h - what topology.c, route.c and collective.c share.
 */
#ifndef TOPOLOGY_INTERNAL_H
#define TOPOLOGY_INTERNAL_H
#include "system-model/network/topology.h"

enum { LARGEST_DOMAIN = 64, MAX_ROUTE = 2 * LARGEST_DOMAIN + 16, NO_LINK = -1 };

/* Loads of the flows that are under way together; only the touched links are ever looked at. */
struct link_loads {
    double *bytes;                          /* one a link, zero where untouched */
    uint32_t *touched;
    uint32_t n_touched;
};
struct link_loads link_loads_new(const struct topology *t, struct arena *a);
void link_loads_clear(struct link_loads *loads);
void link_loads_add(struct link_loads *loads, const uint32_t *links, size_t n_links, double bytes);
double link_loads_time_s(const struct link_loads *loads, const struct topology *t);     /* of the busiest link */

double route_latency_s(const struct topology *t, const uint32_t *links, size_t n_links);

#endif
