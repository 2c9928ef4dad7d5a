/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_print.c - a machine's links as tables, and as a graph in DOT for Graphviz.
 */
#include "system-model/network/topology.h"
#include "system-model/output/output.h"

enum { MOST_IPUS_IN_FULL = 64 };

static const char *node_name(const struct topology *t, uint32_t node, struct arena *a)
{
    const struct { const char *name; uint32_t first; } kinds[] = {
        { "ipu", 0 }, { "hub", t->first_hub }, { "memory", t->first_memory }, { "host", t->first_host }, { "switch", t->first_switch },
    };
    size_t kind = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (node >= kinds[i].first)
            kind = i;
    return arena_printf(a, "%s%u", kinds[kind].name, node - kinds[kind].first);
}

/* One link, or all of a kind that have the same rate and latency. */
struct link_line { const char *from, *to, *kind, *through; uint32_t n; double bytes_per_s, latency_s, total; };
#define C(member, text, ...) { COLUMN(struct link_line, member), .heading = text, __VA_ARGS__ }
static const struct table_column kind_columns[] = {
    C(kind, "kind"), C(through, ""), C(n, "links"), C(bytes_per_s, "GB/s each way", .format = "%.4g", .scale = 1e-9),
    C(latency_s, "us", .format = "%.4g", .scale = 1e6), C(total, "TB/s in all", .format = "%.5g", .scale = 1e-12),
};
static const struct table_column link_columns[] = {
    C(from, "from"), C(to, "to"), C(kind, "kind"), C(through, ""), C(bytes_per_s, "GB/s", .format = "%.4g", .scale = 1e-9),
    C(latency_s, "us", .format = "%.4g", .scale = 1e6),
};
#undef C

static struct link_line link_line(const struct link *l)
{
    return (struct link_line){ .kind = link_kind_names[l->kind], .through = l->through ? "through" : "", .bytes_per_s = l->bytes_per_s,
                               .latency_s = l->latency_s };
}

static void add_kinds(struct document *d, const struct topology *t)
{
    struct table *kinds = document_table(d, TABLE(kind_columns, struct link_line, .formats = IN_TEXT, .indent = "  "));
    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct link link = topology_link(t, i);
        struct link_line new = link_line(&link), *line = kinds->rows, *end = line + kinds->n;
        while (line < end && !(line->kind == new.kind && line->through == new.through && line->bytes_per_s == new.bytes_per_s
                               && line->latency_s == new.latency_s))
            line++;
        if (line == end) {
            table_add(kinds, &new, d->arena);
            line = (struct link_line *)kinds->rows + kinds->n - 1;
        }
        line->total = line->bytes_per_s * ++line->n;
    }
}

static void add_links(struct document *d, const struct topology *t)
{
    struct table *links = document_table(d, TABLE(link_columns, struct link_line, .formats = IN_TEXT, .indent = "  "));
    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct link link = topology_link(t, i);
        struct link_line line = link_line(&link);
        line.from = node_name(t, link.from, d->arena);
        line.to = node_name(t, link.to, d->arena);
        table_add(links, &line, d->arena);
    }
}

void topology_document(struct document *d, const struct topology *t, bool links)
{
    static const char *const domains[] = { "none", "ladder", "torus" };
    static const char *const gateways[] = { "none", "direct", "switched", "network" };
    document_line(d, "topology of %s\n  %u nodes: %u IPUs, %u hubs, %u memories, %u hosts, %u switches", t->machine->name, t->n_nodes, t->n_ipus,
                  t->n_hubs, t->n_memories, t->n_hosts, t->n_switches);
    document_line(d, "  %u domain%s of %u IPUs (%s), gateways %s", t->n_domains, plural(t->n_domains), t->ipus_per_domain, domains[t->domain_topology],
                  gateways[t->machine->gateway_topology]);
    add_kinds(d, t);
    if (links && t->n_ipus <= MOST_IPUS_IN_FULL)
        add_links(d, t);
}

/* The two links of a pair are one edge. */
void topology_graph(struct document *d, const struct topology *t)
{
    unsigned dot = FORMAT_BIT(FORMAT_DOT);
    document_line_for(d, dot, "graph \"%s\" {\n  node [shape=box, fontsize=10];\n  edge [fontsize=8];", t->machine->name);
    for (uint32_t i = 0; i < t->n_links; i += 2) {
        const struct link l = topology_link(t, i);
        const char *style = l.bytes_per_s > 0 ? l.kind <= LINK_RAIL ? "bold" : "solid" : "dotted";
        document_line_for(d, dot, "  %s -- %s [label=\"%s%s %.4g\", style=%s];", node_name(t, l.from, d->arena), node_name(t, l.to, d->arena),
                          link_kind_names[l.kind], l.through ? " through" : "", l.bytes_per_s / 1e9, style);
    }
    document_line_for(d, dot, "}");
}
