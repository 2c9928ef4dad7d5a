/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_ways.c - which links the flows of a step take, remembered by the ends of the flows.
 *
 * Collectives of one program differ in bytes more than in who sends to whom, and a route does not depend on bytes.
 */
#include "system-model/network/collective_ways.h"
#include "system-model/network/topology_internal.h"

#include <assert.h>
#include <string.h>

struct collective_ways collective_ways_new(struct arena *a)
{
    return (struct collective_ways){ .numbers = link_loads_new(a), .a = a };
}

struct ends ends_new(size_t room, struct arena *a)
{
    return (struct ends){ arena_array(a, room, sizeof *((struct ends *)0)->items), 0 };
}

void add_ends(struct ends *e, uint32_t from, uint32_t to)
{
    e->items[e->n].from = from;
    e->items[e->n++].to = to;
}

/* Flows inside one domain after those inside another, alike in all: how many there are in each. All of them, where they are not so, or where
 * links may differ. */
static size_t flows_of_domain(const struct topology *t, const struct ends *e)
{
    uint32_t width = t->ipus_per_domain, domain = e->items[0].from / width;
    size_t n = 0;
    assert(e->n > 0);
    while (n < e->n && e->items[n].from / width == domain && e->items[n].to / width == domain)
        n++;
    if (t->rates || n == 0 || e->n % n != 0)
        return e->n;
    for (size_t i = n; i < e->n; i++) {
        uint32_t on = (e->items[i - i % n].from / width - domain) * width;
        if (e->items[i].from != e->items[i % n].from + on || e->items[i].to != e->items[i % n].to + on)
            return e->n;
    }
    return n;
}

/* The first n of them, by link, in the order they are met: how many flows take it. */
static bool count_routes(struct link_loads *flows, double *latency_s, const struct topology *t, const struct ends *e, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t links[MAX_ROUTE];
        size_t n_links;
        if (!topology_route(links, MAX_ROUTE, &n_links, t, e->items[i].from, e->items[i].to, err))
            return false;
        link_loads_add(flows, links, n_links, 1);
        double route_s = route_latency_s(t, links, n_links);
        if (*latency_s < route_s)
            *latency_s = route_s;
    }
    return true;
}

/* Domains that are alike have the same routes: those of the first are found, and its links counted again as the others'. */
static bool count_flows(struct link_loads *flows, double *latency_s, const struct topology *t, const struct ends *e, struct err *err)
{
    size_t n = flows_of_domain(t, e);
    if (!count_routes(flows, latency_s, t, e, n, err))
        return false;
    if (n == e->n)
        return true;
    uint32_t n_links = flows->n;
    struct link_load *first = ARENA_ARRAY(flows->a, struct link_load, n_links);
    memcpy(first, flows->items, n_links * sizeof *first);
    for (size_t i = n; i < e->n; i += n) {
        uint32_t on = (e->items[i].from / t->ipus_per_domain - e->items[0].from / t->ipus_per_domain) * t->domain_links;
        for (uint32_t k = 0; k < n_links; k++) {
            uint32_t link = first[k].link + on;
            link_loads_add(flows, &link, 1, first[k].bytes);
        }
    }
    return true;
}

static struct way_link link_of_way(struct collective_ways *ways, const struct topology *t, const struct link_load *flows)
{
    struct link l = link_without_ends(t, flows->link);
    return (struct way_link){ .number = link_loads_number(&ways->numbers, flows->link), .n_flows = (uint32_t)flows->bytes, .kind = l.kind,
                              .bytes_per_s = l.bytes_per_s };
}

static void keep_way(struct step_way *way, struct collective_ways *ways, const struct topology *t, const struct link_loads *flows)
{
    way->n_links = flows->n;
    way->links = ARENA_ARRAY(ways->a, struct way_link, flows->n);
    for (uint32_t i = 0; i < flows->n; i++) {
        way->links[i] = link_of_way(ways, t, &flows->items[i]);
        way->most_flows = max_u32(way->most_flows, way->links[i].n_flows);
    }
}

bool step_way_find(const struct step_way **out, struct collective_ways *ways, const struct topology *t, const struct ends *e,
                   struct arena *scratch, struct err *err)
{
    size_t n_bytes = e->n * sizeof *e->items;
    struct link_loads flows;
    double latency_s = 0;
    *out = memo_find(&ways->steps, e->items, n_bytes);
    if (*out)
        return true;
    flows = link_loads_new(scratch);
    if (!count_flows(&flows, &latency_s, t, e, err))
        return false;
    struct step_way *way = memo_add(&ways->steps, e->items, n_bytes, sizeof *way, ways->a);
    way->latency_s = latency_s;
    keep_way(way, ways, t, &flows);
    *out = way;
    return true;
}

double step_way_time_s(const struct step_way *way, const double *by_flows)
{
    double longest_s = 0;
    for (uint32_t i = 0; i < way->n_links; i++)
        longest_s = max_f64(longest_s, by_flows[way->links[i].n_flows] / way->links[i].bytes_per_s);
    return longest_s;
}
