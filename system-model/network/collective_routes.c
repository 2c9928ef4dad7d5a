/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_routes.c - the links that the flows of a step use, cached by the ends of the flows.
 *
 * Collectives of one program differ in bytes more than in who sends to whom, and a route does not depend on bytes.
 */
#include "system-model/base/assumed.h"
#include "system-model/network/collective_internal.h"

struct collective_cache collective_cache_new(struct arena *a)
{
    return (struct collective_cache){ .numbers = link_loads_new(a), .a = a };
}

struct step_flows step_flows_new(size_t room, struct arena *a)
{
    return (struct step_flows){ arena_array(a, room, sizeof *((struct step_flows *)0)->items), 0, false };
}

void step_flows_add(struct step_flows *e, uint32_t from, uint32_t to)
{
    e->items[e->n].from = from;
    e->items[e->n++].to = to;
}

/* The number of flows to route: those of the first domain if they repeat in the others; all flows if they do not repeat, or if links may differ. */
static size_t flows_of_domain(const struct topology *t, const struct step_flows *e)
{
    uint32_t width = t->ipus_per_domain, domain = e->items[0].from / width;
    size_t n = 0;
    assert(e->n > 0);
    while (n < e->n && e->items[n].from / width == domain && e->items[n].to / width == domain)
        n++;
    if (t->rates || n == 0 || e->n % n != 0)
        return e->n;
    for (size_t i = n; i < e->n; i++) {
        uint32_t on = (e->items[i - i % n].from / width - domain) * width, before = e->items[i - i % n - 1].from / width;
        if (e->items[i].from / width <= before || e->items[i].from != e->items[i % n].from + on || e->items[i].to != e->items[i % n].to + on)
            return e->n;
    }
    return n;
}

/* Flows counted by link: those of a whole step and, if it goes link by link, those of each exchange, with their longest latencies. */
struct counted_routes {
    struct link_loads all, exchanges[MAX_ROUTE];
    double latency_s[MAX_ROUTE];
    uint32_t n_exchanges;
    bool link_by_link;
    struct arena *a;
};

/* True on a torus for rings inside a domain: a ring that leaves its domain closes no circle. */
static bool goes_link_by_link(const struct topology *t, const struct step_flows *e)
{
    if (!TORUS_LINK_BY_LINK || !e->link_by_link || t->domain_topology != DOMAIN_TORUS)
        return false;
    for (size_t i = 0; i < e->n; i++)
        if (e->items[i].from / t->ipus_per_domain != e->items[i].to / t->ipus_per_domain)
            return false;
    return true;
}

static void count_latency(struct counted_routes *c, uint32_t i, double latency_s)
{
    c->n_exchanges = max_u32(c->n_exchanges, i + 1);
    c->latency_s[i] = fmax(c->latency_s[i], latency_s);
}

static void count_route(struct counted_routes *c, const struct topology *t, const uint32_t *links, size_t n_links)
{
    link_loads_add(&c->all, links, n_links, 1);
    if (!c->link_by_link) {
        count_latency(c, 0, route_latency_s(t, links, n_links));
        return;
    }
    for (uint32_t i = 0; i < n_links; i++) {
        if (i == c->n_exchanges)
            c->exchanges[i] = link_loads_new(c->a);
        link_loads_add(&c->exchanges[i], &links[i], 1, 1);
        count_latency(c, i, route_latency_s(t, &links[i], 1));
    }
}

/* Counts the first n flows. */
static bool count_routes(struct counted_routes *c, const struct topology *t, const struct step_flows *e, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t links[MAX_ROUTE];
        size_t n_links;
        if (!topology_route(links, MAX_ROUTE, &n_links, t, e->items[i].from, e->items[i].to, err))
            return false;
        count_route(c, t, links, n_links);
    }
    return true;
}

/* Domains that are alike have the same routes. Those of the first domain are found, and its links are counted again for the others. */
static bool count_flows(struct counted_routes *c, const struct topology *t, const struct step_flows *e, struct err *err)
{
    size_t n = flows_of_domain(t, e);
    struct link_loads *flows = &c->all;
    if (!count_routes(c, t, e, n, err))
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

static void copy_exchange(struct step_exchange *x, const struct topology *t, const struct link_loads *flows, double latency_s, struct arena *a)
{
    *x = (struct step_exchange){ .rates = ARENA_ROOM(flows->a, struct step_rate, flows->n), .latency_s = latency_s };
    for (uint32_t i = 0; i < flows->n; i++) {
        double bytes_per_s = link_without_ends(t, flows->items[i].link).bytes_per_s;
        uint32_t k = 0;
        while (k < x->n_rates && x->rates[k].bytes_per_s != bytes_per_s)
            k++;
        if (k == x->n_rates)
            x->rates[x->n_rates++] = (struct step_rate){ .bytes_per_s = bytes_per_s };
        x->rates[k].most_flows = max_u32(x->rates[k].most_flows, (uint32_t)flows->items[i].bytes);
    }
    struct step_rate *few = ARENA_ARRAY(a, struct step_rate, x->n_rates);         /* many links share few rates */
    memcpy(few, x->rates, x->n_rates * sizeof *few);
    x->rates = few;
}

static void copy_routes(struct step_routes *routes, struct collective_cache *cache, const struct topology *t, const struct counted_routes *c)
{
    routes->n_links = c->all.n;
    routes->links = ARENA_ARRAY(cache->a, struct step_link, c->all.n);
    for (uint32_t i = 0; i < c->all.n; i++) {
        const struct link_load *l = &c->all.items[i];
        routes->links[i] = (struct step_link){ link_loads_number(&cache->numbers, l->link), (uint32_t)l->bytes, link_without_ends(t, l->link).kind };
        routes->most_flows = max_u32(routes->most_flows, routes->links[i].n_flows);
    }
    routes->exchanges = ARENA_ARRAY(cache->a, struct step_exchange, c->n_exchanges);
    for (uint32_t i = 0; i < c->n_exchanges; i++)
        copy_exchange(&routes->exchanges[i], t, c->link_by_link ? &c->exchanges[i] : &c->all, c->latency_s[i], cache->a);
    routes->n_exchanges = c->n_exchanges;
}

bool step_routes_find(const struct step_routes **out, struct collective_cache *cache, const struct topology *t, const struct step_flows *e,
                   struct arena *scratch, struct err *err)
{
    size_t n_bytes = e->n * sizeof *e->items;
    struct hash_table *known = &cache->steps[e->link_by_link];
    *out = hash_table_find(known, e->items, n_bytes);
    if (*out)
        return true;
    struct counted_routes c = { .all = link_loads_new(scratch), .link_by_link = goes_link_by_link(t, e), .a = scratch };
    if (!count_flows(&c, t, e, err))
        return false;
    struct step_routes *routes = hash_table_add(known, e->items, n_bytes, sizeof *routes, cache->a);
    copy_routes(routes, cache, t, &c);
    *out = routes;
    return true;
}

static double exchange_time_s(const struct step_exchange *x, const double *by_flows)
{
    double longest_s = 0;
    for (uint32_t i = 0; i < x->n_rates; i++)
        longest_s = fmax(longest_s, by_flows[x->rates[i].most_flows] / x->rates[i].bytes_per_s);
    return x->latency_s + longest_s;
}

double step_routes_time_s(const struct step_routes *routes, const double *by_flows)
{
    double time_s = 0;
    for (uint32_t i = 0; i < routes->n_exchanges; i++)
        time_s += exchange_time_s(&routes->exchanges[i], by_flows);
    return time_s;
}
