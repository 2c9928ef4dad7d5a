/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * route.c - the route of a flow over the links, and the time of flows that share links.
 *
 * Inside a domain a route crosses the rung first and then follows the rail, the shorter way round a torus (dimension ordered, as PopLibs' IPU
 * model routes). Between domains it goes from hub to hub over their gateway links. If that route has a cut link, the shortest intact one is
 * taken (breadth first, links in their order); inside a domain it uses IPU-Links only.
 *     time = latency of the longest route + max over links (bytes / rate)
 */
#include "system-model/network/topology_internal.h"

#include <assert.h>
#include <string.h>

static bool live(const struct topology *t, int64_t link)
{
    return link != NO_LINK && link_without_ends(t, (uint32_t)link).bytes_per_s > 0;
}

/* The link from one IPU of a domain to another. `through` prefers one that is kept for traffic passing through. */
static int64_t find_ipu_link(const struct topology *t, uint32_t from, uint32_t to, bool through)
{
    uint32_t domain = from / t->ipus_per_domain, base = domain * t->ipus_per_domain;
    int64_t found = NO_LINK;
    for (uint32_t i = t->first_out[from - base]; i < t->first_out[from - base + 1]; i++) {
        const struct link *l = &t->domain[t->out_links[i]];
        if (l->to + base == to && (found == NO_LINK || l->through == through))
            found = (int64_t)domain * t->domain_links + t->out_links[i];
    }
    return found;
}

/* The first link from one node to the next. Links are made in pairs, there and back, so the node with fewer links is searched: switches have
 * many. */
static int64_t find_link(const struct topology *t, uint32_t from, uint32_t to, bool through)
{
    if (from < t->n_ipus && to < t->n_ipus)
        return find_ipu_link(t, from, to, through);
    uint32_t n_from = topology_n_out(t, from), n_to = topology_n_out(t, to);
    bool backwards = n_to < n_from;
    uint32_t at = backwards ? to : from, other = backwards ? from : to;
    int64_t found = NO_LINK;
    for (uint32_t i = 0; i < (backwards ? n_to : n_from) && found == NO_LINK; i++) {
        uint32_t link = topology_out(t, at, i);
        if (topology_link(t, link).to == other)
            found = link;
    }
    return found != NO_LINK && backwards ? found ^ 1 : found;
}

/* ---- inside a domain ----------------------------------------------------------------- */

static uint32_t next_row(const struct topology *t, uint32_t row, uint32_t to_row)
{
    uint32_t rows = t->ipus_per_domain / 2;
    if (t->domain_topology != DOMAIN_TORUS)
        return row < to_row ? row + 1 : row - 1;
    uint32_t up = (to_row + rows - row) % rows;
    return up <= rows - up ? (row + 1) % rows : (row + rows - 1) % rows;
}

/* The dimension ordered route; false if one of its links is cut. */
static bool ordered_route(uint32_t *links, size_t *n_links, const struct topology *t, uint32_t from, uint32_t to)
{
    uint32_t base = from - from % t->ipus_per_domain, place = from - base, to_place = to - base;
    uint32_t column = place % 2, row = place / 2, to_column = to_place % 2, to_row = to_place / 2;
    size_t n = 0;
    while (column != to_column || row != to_row) {
        uint32_t at = base + 2 * row + column;
        bool rung = column != to_column;
        if (rung)
            column = to_column;
        else
            row = next_row(t, row, to_row);
        int64_t link = find_link(t, at, base + 2 * row + column, rung && row != to_row);
        if (!live(t, link))
            return false;
        links[n++] = (uint32_t)link;
    }
    *n_links = n;
    return true;
}

/* Breadth-first search from one IPU over the intact IPU-Links of its domain. came_by[i] is the link that reached i. */
struct domain_search { int64_t came_by[LARGEST_DOMAIN]; uint32_t hops[LARGEST_DOMAIN]; };

static void search_domain(struct domain_search *s, const struct topology *t, uint32_t from)
{
    uint32_t base = from - from % t->ipus_per_domain, queue[LARGEST_DOMAIN], n = 0;
    for (uint32_t i = 0; i < LARGEST_DOMAIN; i++) {
        s->came_by[i] = NO_LINK;
        s->hops[i] = UINT32_MAX;
    }
    s->hops[from - base] = 0;
    queue[n++] = from;
    for (uint32_t head = 0; head < n; head++) {
        uint32_t at = queue[head];
        for (uint32_t i = 0; i < topology_n_out(t, at); i++) {
            uint32_t link = topology_out(t, at, i);
            struct link l = topology_link(t, link);
            if (l.kind > LINK_RAIL || l.bytes_per_s <= 0 || s->hops[l.to - base] != UINT32_MAX)
                continue;
            s->hops[l.to - base] = s->hops[at - base] + 1;
            s->came_by[l.to - base] = link;
            queue[n++] = l.to;
        }
    }
}

static bool domain_route(uint32_t *links, size_t *n_links, const struct topology *t, uint32_t from, uint32_t to)
{
    if (ordered_route(links, n_links, t, from, to))
        return true;
    struct domain_search s;
    search_domain(&s, t, from);
    uint32_t base = from - from % t->ipus_per_domain;
    if (s.hops[to - base] == UINT32_MAX)
        return false;
    size_t n = *n_links = s.hops[to - base];
    for (uint32_t at = to; at != from; at = topology_link(t, links[n]).from)
        links[--n] = (uint32_t)s.came_by[at - base];
    return true;
}

/* ---- between domains ------------------------------------------------------------------- */

/* The links between nodes in a row; false if one is cut. */
static bool route_over(uint32_t *links, size_t *n_links, const struct topology *t, const uint32_t *nodes, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        int64_t link = find_link(t, nodes[i], nodes[i + 1], false);
        if (!live(t, link))
            return false;
        links[i] = (uint32_t)link;
    }
    *n_links = n - 1;
    return true;
}

/* The nodes from hub to hub: directly, over one switch, or over two switches and the spine. */
static size_t hub_nodes(uint32_t *nodes, const struct topology *t, uint32_t from_hub, uint32_t to_hub)
{
    size_t n = 0;
    nodes[n++] = t->first_hub + from_hub;
    if (t->n_switches == 1)
        nodes[n++] = t->first_switch;
    if (t->n_switches > 1) {
        nodes[n++] = t->first_switch + from_hub / hubs_per_domain(t);
        nodes[n++] = t->first_switch + t->n_domains;
        nodes[n++] = t->first_switch + to_hub / hubs_per_domain(t);
    }
    nodes[n++] = t->first_hub + to_hub;
    return n;
}

/* The route over the port of one IPU, gateway links, and the port of the other IPU. */
static bool gateway_route(uint32_t *links, size_t *n_links, const struct topology *t, uint32_t from, uint32_t to)
{
    uint32_t nodes[8];
    size_t n = 0;
    nodes[n++] = from;
    n += hub_nodes(nodes + n, t, from / t->ipus_per_hub, to / t->ipus_per_hub);
    nodes[n++] = to;
    return route_over(links, n_links, t, nodes, n);
}

/* Chooses the IPUs where a route leaves one domain and enters the other: fewest hops, then lowest ids. */
static bool choose_gateways(uint32_t *leave, uint32_t *enter, const struct topology *t, uint32_t from, uint32_t to)
{
    struct domain_search out, in;
    search_domain(&out, t, from);
    search_domain(&in, t, to);
    uint32_t n = t->ipus_per_domain, from_base = from - from % n, to_base = to - to % n;
    uint64_t best = UINT32_MAX;         /* no route yet */
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t links[8];
            size_t n_links;
            uint64_t hops = (uint64_t)out.hops[i] + in.hops[j];
            if (hops >= best || !gateway_route(links, &n_links, t, from_base + i, to_base + j))
                continue;
            best = hops;
            *leave = from_base + i;
            *enter = to_base + j;
        }
    }
    return best != UINT32_MAX;
}

static bool far_route(uint32_t *links, size_t *n_links, const struct topology *t, uint32_t from, uint32_t to)
{
    if (gateway_route(links, n_links, t, from, to))
        return true;
    uint32_t leave, enter;
    size_t n, more;
    if (!choose_gateways(&leave, &enter, t, from, to) || !domain_route(links, &n, t, from, leave) ||
        !gateway_route(links + n, &more, t, leave, enter))
        return false;
    n += more;
    if (!domain_route(links + n, &more, t, enter, to))
        return false;
    *n_links = n + more;
    return true;
}

/* ---- hosts and memories ------------------------------------------------------------------ */

/* The route between an IPU and its own host or memory, or between a hub and one of its neighbours. */
static bool side_route(uint32_t *links, size_t *n_links, const struct topology *t, uint32_t from, uint32_t to)
{
    uint32_t nodes[3], n = 0;
    nodes[n++] = from;
    if (from < t->n_ipus && to != t->first_hub + from / t->ipus_per_hub)
        nodes[n++] = t->first_hub + from / t->ipus_per_hub;
    else if (to < t->n_ipus && from != t->first_hub + to / t->ipus_per_hub)
        nodes[n++] = t->first_hub + to / t->ipus_per_hub;
    nodes[n++] = to;
    return route_over(links, n_links, t, nodes, n);
}

/* ---- any two nodes ------------------------------------------------------------------------ */

static const char *node_kind(const struct topology *t, uint32_t node)
{
    return node < t->first_hub ? "IPU" : node < t->first_memory ? "hub" : node < t->first_host ? "memory"
         : node < t->first_switch ? "host" : "switch";
}

bool topology_route(uint32_t *links, size_t max_links, size_t *n_links, const struct topology *t,
                    uint32_t from, uint32_t to, struct err *err)
{
    uint32_t route[MAX_ROUTE];
    size_t n = 0;
    if (from >= t->n_nodes || to >= t->n_nodes)
        return fail(err, "route from node %u to node %u: %s has nodes 0 to %u", from, to, t->machine->name, t->n_nodes - 1);
    bool found = true;
    if (from != to && (from >= t->n_ipus || to >= t->n_ipus))
        found = side_route(route, &n, t, from, to);
    else if (from != to && from / t->ipus_per_domain == to / t->ipus_per_domain)
        found = domain_route(route, &n, t, from, to);
    else if (from != to)
        found = far_route(route, &n, t, from, to);
    if (!found)
        return fail(err, "no route from %s %u to %s %u of %s", node_kind(t, from), from, node_kind(t, to), to, t->machine->name);
    if (n > max_links)
        return fail(err, "the route from node %u to node %u has %zu links, room for %zu", from, to, n, max_links);
    memcpy(links, route, n * sizeof *links);
    *n_links = n;
    return true;
}

double route_latency_s(const struct topology *t, const uint32_t *links, size_t n_links)
{
    double latency_s = 0;
    for (size_t i = 0; i < n_links; i++)
        latency_s += link_without_ends(t, links[i]).latency_s;
    return latency_s;
}

/* ---- loads ---------------------------------------------------------------------------------- */

struct link_loads link_loads_new(struct arena *a) { return (struct link_loads){ .a = a }; }

uint32_t link_loads_number(struct link_loads *loads, uint32_t link)
{
    uint32_t *number = hash_table_find(&loads->numbers, &link, sizeof link);
    if (number)
        return *number;
    loads->items = arena_grow(loads->a, loads->items, loads->n, &loads->cap, sizeof *loads->items);
    loads->items[loads->n] = (struct link_load){ link, 0 };
    number = hash_table_add(&loads->numbers, &link, sizeof link, sizeof *number, loads->a);
    return *number = loads->n++;
}

double *link_loads_at(struct link_loads *loads, uint32_t link)
{
    uint32_t number = link_loads_number(loads, link);      /* this comes before items are read, because they may move */
    return &loads->items[number].bytes;
}

void link_loads_add(struct link_loads *loads, const uint32_t *links, size_t n_links, double bytes)
{
    assert(bytes > 0);
    for (size_t i = 0; i < n_links; i++)
        *link_loads_at(loads, links[i]) += bytes;
}

static double link_loads_time_s(const struct link_loads *loads, const struct topology *t)
{
    double longest_s = 0;
    for (uint32_t i = 0; i < loads->n; i++) {
        double time_s = loads->items[i].bytes / link_without_ends(t, loads->items[i].link).bytes_per_s;
        longest_s = time_s > longest_s ? time_s : longest_s;
    }
    return longest_s;
}

bool topology_flows(double *time_s, const struct topology *t, const struct flow *flows, size_t n_flows,
                    struct link_loads *loads, struct arena *scratch, struct err *err)
{
    struct link_loads these = link_loads_new(scratch);
    double latency_s = 0;
    for (size_t i = 0; i < n_flows; i++) {
        uint32_t links[MAX_ROUTE];
        size_t n;
        if (!(flows[i].bytes >= 0 && flows[i].bytes < 1e30))
            return fail(err, "flow from node %u to node %u: %g bytes", flows[i].from, flows[i].to, flows[i].bytes);
        if (!topology_route(links, MAX_ROUTE, &n, t, flows[i].from, flows[i].to, err))
            return false;
        double flow_latency_s = route_latency_s(t, links, n);
        if (flow_latency_s > latency_s)
            latency_s = flow_latency_s;
        if (flows[i].bytes > 0)
            link_loads_add(&these, links, n, flows[i].bytes);
    }
    for (uint32_t i = 0; loads && i < these.n; i++)
        *link_loads_at(loads, these.items[i].link) += these.items[i].bytes;
    *time_s = latency_s + link_loads_time_s(&these, t);
    return true;
}
