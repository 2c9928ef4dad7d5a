/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_print.c - the link graph as text and as DOT (for Graphviz). Up to 64 IPUs every link is written.
 */
#include "system-model/network/topology.h"

enum { MOST_IPUS_IN_FULL = 64 };

static void print_node(FILE *f, const struct topology *t, uint32_t node)
{
    const struct { const char *name; uint32_t first; } kinds[] = {
        { "ipu", 0 }, { "hub", t->first_hub }, { "memory", t->first_memory }, { "host", t->first_host }, { "switch", t->first_switch },
    };
    size_t kind = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (node >= kinds[i].first)
            kind = i;
    fprintf(f, "%s%u", kinds[kind].name, node - kinds[kind].first);
}

/* Prints one line for all links of a kind with the same rate and latency. */
static void print_kinds(FILE *f, const struct topology *t)
{
    struct link_class { struct link of; uint32_t n; } *classes = NULL;
    struct arena scratch = {0};
    size_t n_classes = 0, cap = 0;
    for (uint32_t i = 0; i < t->n_links; i++) {
        struct link l = topology_link(t, i);
        size_t c = 0;
        while (c < n_classes && !(classes[c].of.kind == l.kind && classes[c].of.through == l.through &&
                                  classes[c].of.bytes_per_s == l.bytes_per_s && classes[c].of.latency_s == l.latency_s))
            c++;
        if (c == n_classes) {
            classes = arena_grow(&scratch, classes, n_classes, &cap, sizeof *classes);
            classes[n_classes++] = (struct link_class){ l, 0 };
        }
        classes[c].n++;
    }
    for (size_t c = 0; c < n_classes; c++) {
        const struct link *l = &classes[c].of;
        double rate = l->bytes_per_s / 1e9;
        fprintf(f, "  %-9s %-8s %8u links %10.4g GB/s each way %10.4g us   total %.5g TB/s\n", link_kind_names[l->kind],
                l->through ? "through" : "", classes[c].n, rate, l->latency_s * 1e6, rate * classes[c].n / 1e3);
    }
    arena_free(&scratch);
}

static void print_links(FILE *f, const struct topology *t)
{
    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct link link = topology_link(t, i), *l = &link;
        fprintf(f, "  ");
        print_node(f, t, l->from);
        fprintf(f, " -> ");
        print_node(f, t, l->to);
        fprintf(f, "  %s%s %.4g GB/s %.4g us\n", link_kind_names[l->kind], l->through ? " (through)" : "", l->bytes_per_s / 1e9,
                l->latency_s * 1e6);
    }
}

void topology_print_kinds(FILE *f, const struct topology *t)
{
    static const char *const domains[] = { "none", "ladder", "torus" };
    static const char *const gateways[] = { "none", "direct", "switched", "network" };
    const struct machine *m = t->machine;
    fprintf(f, "topology of %s\n", m->name);
    fprintf(f, "  %u nodes: %u IPUs, %u hubs, %u memories, %u hosts, %u switches\n", t->n_nodes, t->n_ipus, t->n_hubs, t->n_memories,
            t->n_hosts, t->n_switches);
    fprintf(f, "  %u domain%s of %u IPUs (%s), gateways %s\n", t->n_domains, plural(t->n_domains), t->ipus_per_domain,
            domains[t->domain_topology], gateways[m->gateway_topology]);
    print_kinds(f, t);
}

void topology_print(FILE *f, const struct topology *t)
{
    topology_print_kinds(f, t);
    if (t->n_ipus <= MOST_IPUS_IN_FULL)
        print_links(f, t);
}

/* The two links of a pair are one edge. */
void topology_print_dot(FILE *f, const struct topology *t)
{
    fprintf(f, "graph \"%s\" {\n", t->machine->name);
    fprintf(f, "  node [shape=box, fontsize=10];\n  edge [fontsize=8];\n");
    for (uint32_t i = 0; i < t->n_links; i += 2) {
        const struct link link = topology_link(t, i), *l = &link;
        fprintf(f, "  ");
        print_node(f, t, l->from);
        fprintf(f, " -- ");
        print_node(f, t, l->to);
        fprintf(f, " [label=\"%s%s %.4g\", style=%s];\n", link_kind_names[l->kind], l->through ? " through" : "", l->bytes_per_s / 1e9,
                l->bytes_per_s > 0 ? l->kind <= LINK_RAIL ? "bold" : "solid" : "dotted");
    }
    fprintf(f, "}\n");
}
