/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_ways.h - the flows of a step and the links that they take. Private to the collectives.
 */
#ifndef COLLECTIVE_WAYS_H
#define COLLECTIVE_WAYS_H
#include "system-model/network/collective.h"

/* Flows at the same time, all of as many bytes; link_by_link: on a torus each exchange takes them one link further. */
struct ends { struct { uint32_t from, to; } *items; size_t n; bool link_by_link; };
struct ends ends_new(size_t room, struct arena *a);
void add_ends(struct ends *e, uint32_t from, uint32_t to);

/* Every link that any of them takes, with how many do; number: of all links met on this topology. */
struct way_link { uint32_t number, n_flows; enum link_kind kind; };
/* What moves at once: on its links of each rate the most flows; all of them for as long as the slowest takes, and the longest latency. */
struct way_exchange { struct way_rate { double bytes_per_s; uint32_t most_flows; } *rates; uint32_t n_rates; double latency_s; };
struct step_way { struct way_link *links; uint32_t n_links, most_flows; struct way_exchange *exchanges; uint32_t n_exchanges; };
bool step_way_find(const struct step_way **out, struct collective_ways *ways, const struct topology *t, const struct ends *e,
                   struct arena *scratch, struct err *err);
/* Of all its exchanges, without their syncs; by_flows: bytes by number of flows. */
double step_way_time_s(const struct step_way *way, const double *by_flows);

#endif
