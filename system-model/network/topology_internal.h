/*
 * topology_internal.h - what topology.c, route.c and collective.c share.
 */
#ifndef TOPOLOGY_INTERNAL_H
#define TOPOLOGY_INTERNAL_H
#include "system-model/network/topology.h"

enum { LARGEST_DOMAIN = 64, MAX_ROUTE = 2 * LARGEST_DOMAIN + 16, NO_LINK = -1 };

void link_loads_add(struct link_loads *loads, const uint32_t *links, size_t n_links, double bytes);
double link_loads_time_s(const struct link_loads *loads, const struct topology *t);     /* of the busiest link */

double route_latency_s(const struct topology *t, const uint32_t *links, size_t n_links);

#endif
