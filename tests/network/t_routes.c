/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_routes.c - links, all routes, flows and syncs of small machines of every kind, whole and at fault, digit for digit
 * (tests/golden/routes.txt). Cases by hand and laws are in t_topology.c.
 */
#include "system-model/output/output.h"
#include "tests/golden_text.h"
#include "tests/toy_machine.h"

static struct arena a;
static struct err err;

static const struct machine_case { const char *name; uint64_t n_ipus, domain; enum domain_topology in; enum gateway_topology between; uint64_t shared, through; }
machines[] = {
    { "ladder", 10, 10, DOMAIN_LADDER, GATEWAY_NONE, 1, 0 }, { "torus", 10, 10, DOMAIN_TORUS, GATEWAY_NONE, 1, 0 }, { "torus of six rows", 12, 12, DOMAIN_TORUS, GATEWAY_NONE, 1, 0 },
    { "two rows", 4, 4, DOMAIN_TORUS, GATEWAY_NONE, 1, 0 }, { "one board", 2, 2, DOMAIN_LADDER, GATEWAY_NONE, 1, 0 }, { "two domains", 8, 4, DOMAIN_LADDER, GATEWAY_DIRECT, 1, 0 },
    { "four domains", 16, 4, DOMAIN_LADDER, GATEWAY_DIRECT, 1, 0 }, { "switched", 12, 4, DOMAIN_LADDER, GATEWAY_SWITCHED, 1, 0 },
    { "network", 12, 4, DOMAIN_TORUS, GATEWAY_NETWORK, 1, 0 }, { "cards behind ports of four", 8, 8, DOMAIN_LADDER, GATEWAY_NONE, 4, 1 },
};

static struct machine machine_of(const struct machine_case *c)
{
    struct machine m = toy_machine(c->n_ipus, c->domain, c->in, c->between);
    m.pcie_shared_ipus = c->shared;
    m.pcie_shared_bytes_per_s = c->shared > 1 ? 6.5e9 : 0;
    m.rung_through_links = c->through;
    if (c->shared > 1)
        m.streaming_bytes_per_s = 0;
    return m;
}

static void print_routes(FILE *f, const struct topology *t)
{
    uint32_t links[64];
    size_t n;
    for (uint32_t from = 0; from < t->n_nodes; from++) {
        fprintf(f, "from %u:", from);
        for (uint32_t to = 0; to < t->n_nodes; to++) {
            if (!topology_route(links, 64, &n, t, from, to, &err)) {
                fprintf(f, " -;");
                continue;
            }
            for (size_t i = 0; i < n; i++)
                fprintf(f, " %u%s", topology_link(t, links[i]).to, topology_link(t, links[i]).through ? "*" : "");
            fputc(';', f);
        }
        fputc('\n', f);
    }
}

/* A ring over all IPUs, all to the last, neighbours, hosts and memories to all of theirs. */
static size_t flows_of(struct flow *flows, const struct topology *t, int kind)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_ipus; i++) {
        uint32_t to = kind == 0 ? (i + 1) % t->n_ipus : kind == 1 ? t->n_ipus - 1 : i ^ 1;
        uint32_t from = kind == 3 ? t->first_host : kind == 4 ? t->first_memory : i;
        bool off_chip = kind >= 3;
        if (off_chip && i >= t->ipus_per_hub)
            break;
        flows[n++] = (struct flow){ from, off_chip ? i : to, 1e9 + 1e8 * i };
    }
    return kind == 4 && !t->n_memories ? 0 : n;
}

static void print_flows(FILE *f, const struct topology *t)
{
    static const char *const names[] = { "ring", "all to one", "neighbours", "from a host", "from a memory" };
    for (int kind = 0; kind < 5; kind++) {
        struct flow flows[64];
        struct link_loads loads = link_loads_new(&a);
        double time_s, sum = 0, most = 0;
        size_t n = flows_of(flows, t, kind);
        if (!topology_flows(&time_s, t, flows, n, &loads, &a, &err)) {
            fprintf(f, "%s: %s\n", names[kind], err.msg);
            continue;
        }
        for (uint32_t i = 0; i < loads.n; i++) {
            sum += loads.items[i].bytes;
            most = fmax(most, loads.items[i].bytes);
        }
        fprintf(f, "%s: %.9g s, %u links, %.9g B on all, %.9g on one\n", names[kind], time_s, loads.n, sum, most);
    }
    for (uint32_t n = 1; n <= t->n_ipus; n += 3) {
        const uint32_t ipus[2] = { 0, n - 1 };
        fprintf(f, "sync to %u: %.9g; ", n - 1, topology_sync_s(t, ipus, 2));
    }
    fputc('\n', f);
}

static void print_machine(FILE *f, const struct machine_case *c, const struct faults *faults)
{
    struct machine m = machine_of(c);
    struct topology t;
    fprintf(f, "== %s%s\n", c->name, faults ? ", at fault" : "");
    if (!topology_build(&t, &m, faults, &a, &err)) {
        fprintf(f, "%s\n", err.msg);
        return;
    }
    PRINT_DOCUMENT(f, topology_document(d, &t, !faults));
    print_routes(f, &t);
    print_flows(f, &t);
}

static void routes(void **state)
{
    const struct link_fault links[] = { { 0, 1, 0 }, { 1, 3, 0.3 } };
    const struct chip_fault chips[] = { { 2, 1.5 } };
    const struct flow background[] = { { 0, 2, 2e9 } };
    const struct faults faults = { links, 2, chips, 1, background, 1 };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
            print_machine(f, &machines[i], NULL);
            print_machine(f, &machines[i], &faults);
        });
    assert_digests(text, "== ", "tests/golden/routes.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(routes) };
TAP_MAIN(tests)
