/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_topology.c - the link graph: routes and flows by hand on a toy machine, laws on every machine, faults. */
#include "system-model/output/output.h"
#include "tests/golden_text.h"
#include "tests/topology_fixture.h"

/* The route as text: the nodes after the first. */
static const char *route(const struct topology *t, uint32_t from, uint32_t to)
{
    uint32_t links[64];
    size_t n;
    if (!topology_route(links, 64, &n, t, from, to, &err))
        return err.msg;
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&a, "%s%s%u%s", text, i ? " " : "", topology_link(t, links[i]).to, topology_link(t, links[i]).through ? "*" : "");
    return text;
}

static double flows_s(const struct topology *t, const struct flow *flows, size_t n)
{
    double time_s;
    if (!topology_flows(&time_s, t, flows, n, NULL, &a, &err))
        print_error("%s\n", err.msg);
    return time_s;
}

static void routes_take_the_rung_first(void **state)
{
    (void)state;
    struct machine ladder = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE), torus = toy_machine(10, 10, DOMAIN_TORUS, GATEWAY_NONE);
    struct topology l = build(&ladder, NULL), t = build(&torus, NULL);
    assert_string_equal(route(&l, 0, 1), "1");
    assert_string_equal(route(&l, 0, 3), "1 3");
    assert_string_equal(route(&l, 9, 2), "8 6 4 2");
    assert_string_equal(route(&l, 0, 8), "2 4 6 8");
    assert_string_equal(route(&t, 0, 8), "8");             /* round the other way */
    assert_string_equal(route(&t, 1, 6), "0 8 6");         /* two rows down, not three up */
    assert_string_equal(route(&t, 0, 4), "2 4");
    assert_string_equal(route(&t, 5, 5), "");
    arena_free(&a);
}

/* GC2 keeps a pair of links of the rung for what goes on along a rail. */
static void through_links_carry_what_goes_on(void **state)
{
    (void)state;
    struct topology t = build(load("dss8440"), NULL);
    assert_string_equal(route(&t, 0, 1), "1");
    assert_string_equal(route(&t, 0, 3), "1* 3");
    const struct flow direct = { 0, 1, 3e9 }, onward = { 0, 3, 3e9 };
    assert_near(flows_s(&t, &direct, 1), 0.255e-6 + 3e9 / (4 * 16e9 * 0.86), 1e-12);
    assert_near(flows_s(&t, &onward, 1), 0.386e-6 + 3e9 / (2 * 16e9 * 0.86), 1e-12);
    arena_free(&a);
}

static void domains_are_joined_by_gateways(void **state)
{
    (void)state;
    struct machine direct = toy_machine(8, 4, DOMAIN_LADDER, GATEWAY_DIRECT), switched = toy_machine(12, 4, DOMAIN_LADDER, GATEWAY_SWITCHED),
                   network = toy_machine(12, 4, DOMAIN_LADDER, GATEWAY_NETWORK);
    struct topology d = build(&direct, NULL), s = build(&switched, NULL), n = build(&network, NULL);
    assert_string_equal(route(&d, 1, 5), "8 10 5");        /* hubs 8 and 9, 10 and 11 */
    assert_string_equal(route(&d, 0, 6), "8 10 4 6");      /* hub 8 is joined to hub 10 only: on along the rail */
    assert_string_equal(route(&s, 0, 11), "12 27 17 11");  /* 6 hubs, 6 memories, 3 hosts, then the switch */
    assert_string_equal(route(&n, 0, 11), "12 27 30 29 17 11");
    assert_near(topology_link(&n, n.n_links - 1).bytes_per_s, 2 * 11e9 * 0.8, 1);     /* the spine carries both hubs of a domain */
    const struct flow two[2] = { { 0, 10, 2.2e9 }, { 1, 11, 2.2e9 } };     /* one gateway of 8.8 GB/s; each port has 5 */
    assert_near(flows_s(&s, two, 2), 1.7e-6 + 0.4e-6 + 4.4e9 / 8.8e9, 1e-12);
    arena_free(&a);
}

/* 12 IPUs, 6 hubs from 12, 6 memories from 18, 3 hosts from 24, a switch, 27: the first and the last of each that have no way. */
static void ends_without_a_way_are_told_by_kind(void **state)
{
    (void)state;
    struct machine m = toy_machine(12, 4, DOMAIN_LADDER, GATEWAY_SWITCHED);
    struct topology t = build(&m, NULL);
    static const struct { uint32_t from, to; const char *message; } rows[] = {
        { 0, 19, "IPU 0 to memory 19" }, { 11, 18, "IPU 11 to memory 18" }, { 12, 23, "hub 12 to memory 23" },
        { 17, 18, "hub 17 to memory 18" },
        { 23, 24, "memory 23 to host 24" }, { 18, 26, "memory 18 to host 26" }, { 24, 27, "host 24 to switch 27" }, { 27, 26, "switch 27 to host 26" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(route(&t, rows[i].from, rows[i].to), arena_printf(&a, "no route from %s of toy", rows[i].message));
    arena_free(&a);
}

static void hosts_and_memories(void **state)
{
    (void)state;
    struct machine m = toy_machine(8, 4, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology t = build(&m, NULL);
    const struct flow in = { t.first_host, 3, 1e9 }, pair[2] = { { t.first_host, 2, 1e9 }, { t.first_host, 3, 1e9 } };
    const struct flow stream[2] = { { 2, t.first_memory + 1, 1e9 }, { 3, t.first_memory + 1, 1e9 } };
    assert_near(flows_s(&t, &in, 1), 8e-6 + 1e9 / 5e9, 1e-12);              /* the chip's port */
    assert_near(flows_s(&t, pair, 2), 8e-6 + 2e9 / 6e9, 1e-12);             /* the board's network */
    assert_near(flows_s(&t, stream, 2), 2e9 / (9e9 * 0.7), 1e-12);          /* the board's memory */
    assert_string_equal(route(&t, t.first_host, 7), "no route from host 16 to IPU 7 of toy");
    m.pcie_shared_ipus = 2;
    m.pcie_shared_bytes_per_s = 3e9;
    t = build(&m, NULL);
    const struct flow both[2] = { { t.first_host, 2, 1e9 }, { t.first_host, 3, 1e9 } }, apart[2] = { { t.first_host, 1, 1e9 }, { t.first_host, 2, 1e9 } };
    assert_near(flows_s(&t, both, 2), 8e-6 + 2e9 / 3e9, 1e-12);             /* the port that two chips share */
    assert_near(flows_s(&t, apart, 2), 8e-6 + 1e9 / 3e9, 1e-12);
    arena_free(&a);
}

/* Two flows meet on the rail 2-4: 12.6 GB/s carry 3 + 4 GB; the longer route has three rails. */
static void flows_share_links(void **state)
{
    (void)state;
    struct machine m = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const struct flow flows[3] = { { 0, 6, 3e9 }, { 2, 4, 4e9 }, { 4, 2, 6e9 } };
    struct link_loads loads = link_loads_new(&a);
    double time_s, sum = 0;
    assert_true(topology_flows(&time_s, &t, flows, 3, &loads, &a, &err));
    assert_near(time_s, 3 * 0.11e-6 + 7e9 / 12.6e9, 1e-12);
    assert_int_equal(loads.n, 4);
    for (uint32_t i = 0; i < loads.n; i++)
        sum += loads.items[i].bytes;
    assert_near(sum, 3 * 3e9 + 4e9 + 6e9, 0);              /* every byte on every link of its route */
    const struct flow bad = { 0, 2, -1 };
    assert_false(topology_flows(&time_s, &t, &bad, 1, NULL, &a, &err));
    assert_string_equal(err.msg, "flow from node 0 to node 2: -1 bytes");
    arena_free(&a);
}

static void sync_reaches_the_farthest_board(void **state)
{
    (void)state;
    struct machine m = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const uint32_t ipus[2] = { 1, 7 };
    assert_near(topology_sync_s(&t, ipus, 1), 0.5e-6, 1e-15);
    assert_near(topology_sync_s(&t, ipus, 2), 0.5e-6 + 2 * 3 * 13e-9, 1e-15);
    arena_free(&a);
}

/* Boards of two IPUs, four to a domain: IPU 7 is three boards up, IPU 8 in the next domain: over no switch, one, or a leaf, the spine
 * and a leaf. The way of a word has the same latency. */
static void sync_crosses_the_gateways(void **state)
{
    (void)state;
    const uint32_t ipus[3] = { 0, 7, 8 };
    const struct { enum gateway_topology kind; double way_s; } rows[] = { { GATEWAY_DIRECT, 1.7e-6 }, { GATEWAY_SWITCHED, 2.1e-6 }, { GATEWAY_NETWORK, 2.9e-6 } };
    const struct flow across = { 0, 8, 4.4e9 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m = toy_machine(16, 8, DOMAIN_LADDER, rows[i].kind);
        struct topology t = build(&m, NULL);
        assert_near(topology_sync_s(&t, ipus, 2), 0.5e-6 + 2 * 3 * 13e-9, 1e-15);
        assert_near(topology_sync_s(&t, ipus, 3), 0.5e-6 + 2 * (3 * 13e-9 + rows[i].way_s), 1e-15);
        assert_near(flows_s(&t, &across, 1), rows[i].way_s + 4.4e9 / 5e9, 1e-12);
        assert_near(topology_sync_s(&t, ipus + 2, 1), 0.5e-6, 1e-15);
    }
    arena_free(&a);
}

/* ---- laws ---------------------------------------------------------------------------- */

static const char *const machines[] = { "gc2", "c600", "c2", "dss8440", "ipu-m2000", "ipu-pod16", "bow-pod64", "ipu-pod128", "bow-pod256" };
enum { N_MACHINES = sizeof machines / sizeof *machines };

/* Every pair has a route, whose links follow one another, with no node twice; on large machines, pairs from every seventh IPU. */
static void every_pair_has_a_route(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MACHINES; k++) {
        struct topology t = build(load(machines[k]), NULL);
        for (uint32_t from = 0; from < t.n_ipus; from += t.n_ipus > 128 ? 7 : 1) {
            for (uint32_t to = 0; to < t.n_ipus; to++) {
                uint32_t links[128], at = from;
                size_t n;
                assert_true(topology_route(links, 128, &n, &t, from, to, &err));
                for (size_t i = 0; i < n; i++) {
                    assert_int_equal(topology_link(&t, links[i]).from, at);
                    at = topology_link(&t, links[i]).to;
                    assert_int_not_equal(at, from);
                }
                assert_int_equal(at, to);
                assert_true(n <= t.ipus_per_domain / 2 + 5);
            }
        }
        arena_free(&a);
    }
}

static void links_come_in_pairs_and_none_is_idle(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MACHINES; k++) {
        struct topology t = build(load(machines[k]), NULL);
        assert_int_equal(t.n_links % 2, 0);
        for (uint32_t i = 0; i < t.n_links; i += 2) {
            struct link there = topology_link(&t, i), back = topology_link(&t, i + 1);
            assert_int_equal(there.from, back.to);
            assert_int_equal(there.to, back.from);
            assert_true(there.kind == back.kind && there.bytes_per_s > 0 && there.bytes_per_s == back.bytes_per_s);
        }
        arena_free(&a);
    }
}

static void assert_links_leave_one_node(const struct topology *t)
{
    uint32_t n = 0;
    for (uint32_t node = 0; node < t->n_nodes; node++)
        for (uint32_t i = 0, before = 0; i < topology_n_out(t, node); i++, n++) {
            uint32_t link = topology_out(t, node, i);
            assert_int_equal(topology_link(t, link).from, node);
            assert_true(link < t->n_links && (i == 0 || link > before));
            before = link;
        }
    assert_int_equal(n, t->n_links);
}

/* Nodes' lists rise, and hold every link once, at the node that it leaves: of all sheets, and of domains behind every kind of gateway. */
static void every_link_leaves_one_node(void **state)
{
    (void)state;
    static const enum gateway_topology gateways[] = { GATEWAY_NONE, GATEWAY_DIRECT, GATEWAY_SWITCHED, GATEWAY_NETWORK };
    for (size_t k = 0; k < N_MACHINES; k++) {
        struct topology t = build(load(machines[k]), NULL);
        assert_links_leave_one_node(&t);
    }
    for (size_t k = 0; k < sizeof gateways / sizeof *gateways; k++) {
        struct machine m = toy_machine(24, 6, DOMAIN_LADDER, gateways[k]);
        struct topology t = build(&m, NULL);
        assert_links_leave_one_node(&t);
    }
    arena_free(&a);
}

/* Loads of many links, asked for again after the table has grown. */
static void loads_are_found_again(void **state)
{
    (void)state;
    struct link_loads loads = link_loads_new(&a);
    for (uint32_t i = 0; i < 1000; i++)
        *link_loads_at(&loads, 7 * i) += i;
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(*link_loads_at(&loads, 7 * i) == i && loads.items[i].link == 7 * i);
    assert_int_equal(loads.n, 1000);
    arena_free(&a);
}

/* No IPU uses more links than its chip has. */
static void links_of_a_chip_are_enough(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_MACHINES; k++) {
        struct topology t = build(load(machines[k]), NULL);
        const struct chip *c = &t.machine->chip;
        for (uint32_t i = 0; i < t.n_ipus; i++) {
            double rate = 0;
            for (uint32_t j = 0; j < topology_n_out(&t, i); j++) {
                struct link l = topology_link(&t, topology_out(&t, i, j));
                rate += l.kind <= LINK_RAIL ? l.bytes_per_s : 0;
            }
            assert_true(rate <= 1.0000001 * (double)c->n_links * c->link_bytes_per_s * c->link_efficiency);
        }
        arena_free(&a);
    }
}

/* ---- faults ----------------------------------------------------------------------------- */

static void a_cut_rail_is_gone_round(void **state)
{
    (void)state;
    struct machine m = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE);
    const struct link_fault cut = { 2, 4, 0 };
    struct topology whole = build(&m, NULL), t = build(&m, &(struct faults){ .links = &cut, .n_links = 1 });
    assert_string_equal(route(&t, 0, 4), "1 3 5 4");
    assert_string_equal(route(&t, 4, 0), "5 3 2 0");
    assert_string_equal(route(&t, 0, 2), "2");
    for (uint32_t i = 0; i < 10; i++)
        for (uint32_t j = 0; j < 10; j++)
            assert_true(flows_s(&t, &(struct flow){ i, j, 5e9 }, 1) >= flows_s(&whole, &(struct flow){ i, j, 5e9 }, 1));
    arena_free(&a);
}

static void a_slow_link_slows_and_a_busy_one_is_shared(void **state)
{
    (void)state;
    struct machine m = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE);
    const struct link_fault slow = { 6, 4, 0.3 };
    const struct flow background[2] = { { 0, 2, 2.6e9 }, { 4, 2, 9e9 } };
    struct topology t = build(&m, &(struct faults){ .links = &slow, .n_links = 1, .background = background, .n_background = 2 });
    assert_near(flows_s(&t, &(struct flow){ 4, 6, 1e9 }, 1), 0.11e-6 + 1e9 / (12.6e9 * 0.3), 1e-12);
    assert_near(flows_s(&t, &(struct flow){ 6, 4, 1e9 }, 1), 0.11e-6 + 1e9 / (12.6e9 * 0.3), 1e-12);
    assert_near(flows_s(&t, &(struct flow){ 0, 2, 1e9 }, 1), 0.11e-6 + 1e9 / 10e9, 1e-12);
    assert_near(flows_s(&t, &(struct flow){ 4, 2, 1e9 }, 1), 0.11e-6 + 1e9 / 6.3e9, 1e-12);    /* no less than half */
    assert_near(flows_s(&t, &(struct flow){ 2, 4, 1e9 }, 1), 0.11e-6 + 1e9 / 12.6e9, 1e-12);   /* the other way is free */
    const struct flow far[2] = { { 0, 6, 3.6e9 }, { 2, 6, 1e9 } };                           /* over three rails, and two of these */
    static const double left[] = { 9e9, 8e9, 8e9 };
    t = build(&m, &(struct faults){ .background = far, .n_background = 2 });
    for (uint32_t i = 0; i < 3; i++)
        assert_near(flows_s(&t, &(struct flow){ 2 * i, 2 * i + 2, 1e9 }, 1), 0.11e-6 + 1e9 / left[i], 1e-12);
    arena_free(&a);
}

/* A hundred rates on as many links: each has its line, and no link is left out. */
static void as_many_kinds_as_rates(void **state)
{
    (void)state;
    struct machine m = toy_machine(128, 128, DOMAIN_LADDER, GATEWAY_NONE);
    struct flow background[100];
    for (uint32_t i = 0; i < 100; i++)
        background[i] = (struct flow){ i, i + 2, 1e7 * (i + 1) };
    struct topology t = build(&m, &(struct faults){ .background = background, .n_background = 100 });
    char *text, *line;
    uint32_t n_lines = 0, n_links = 0;
    DOCUMENTED(text, topology_document(d, &t, false));
    for (char *left = text; (line = strsep(&left, "\n")); ) {
        uint32_t n;
        double rate;
        bool rail = sscanf(line, " rail %u %lf", &n, &rate) == 2;
        n_lines += rail;
        n_links += rail ? n : 0;
    }
    assert_int_equal(n_lines, 101);
    assert_int_equal(n_links, 2 * 126);
    free(text);
    arena_free(&a);
}

static void a_dead_gateway_is_gone_round(void **state)
{
    (void)state;
    struct machine m = toy_machine(12, 4, DOMAIN_LADDER, GATEWAY_SWITCHED);
    const struct link_fault cut = { 12, 27, 0 };
    struct topology t = build(&m, &(struct faults){ .links = &cut, .n_links = 1 });
    assert_string_equal(route(&t, 0, 11), "2 13 27 17 11");
    assert_string_equal(route(&t, 11, 1), "17 27 13 3 1");
    m = toy_machine(24, 8, DOMAIN_LADDER, GATEWAY_SWITCHED);        /* 6 and 7 cannot be reached, so no route leaves by them */
    const struct link_fault cuts[] = { { 24, 51, 0 }, { 4, 6, 0 }, { 5, 7, 0 }, { 28, 51, 0 }, { 12, 14, 0 }, { 13, 15, 0 } };
    t = build(&m, &(struct faults){ .links = cuts, .n_links = 3 });
    assert_string_equal(route(&t, 0, 15), "2 25 51 31 15");
    assert_string_equal(route(&t, 15, 1), "31 51 25 3 1");
    t = build(&m, &(struct faults){ .links = cuts, .n_links = 6 });
    assert_string_equal(route(&t, 0, 8), "2 25 51 29 10 8");
    assert_string_equal(route(&t, 9, 1), "11 29 51 25 3 1");
    arena_free(&a);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct machine m = toy_machine(4, 4, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t;
    const struct link_fault alone[2] = { { 0, 1, 0 }, { 0, 2, 0 } }, none = { 0, 3, 0.5 }, share = { 0, 1, 1.5 };
    const struct link_fault kept = { 0, 1, 1 }, below = { 0, 1, -0.5 };
    const struct chip_fault chip = { 4, 2 }, fast = { 1, 0.5 }, slow = { 1, 1.5e6 }, bounds[2] = { { 0, 1 }, { 3, 1e6 } };
    assert_true(topology_build(&t, &m, &(struct faults){ .links = alone, .n_links = 2 }, &a, &err));
    assert_string_equal(route(&t, 0, 3), "no route from IPU 0 to IPU 3 of toy");
    assert_string_equal(route(&t, 0, 99), "route from node 0 to node 99: toy has nodes 0 to 8");
    assert_string_equal(route(&t, 0, 9), "route from node 0 to node 9: toy has nodes 0 to 8");
    assert_string_equal(route(&t, 9, 0), "route from node 9 to node 0: toy has nodes 0 to 8");
    assert_false(topology_build(&t, &m, &(struct faults){ .links = &none, .n_links = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: link 0-3: toy has no link between these nodes (it has nodes 0 to 8)");
    assert_false(topology_build(&t, &m, &(struct faults){ .links = &share, .n_links = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: link 0-1: rate share 1.5, want 0 (cut) to 1");
    assert_false(topology_build(&t, &m, &(struct faults){ .links = &below, .n_links = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: link 0-1: rate share -0.5, want 0 (cut) to 1");
    assert_true(topology_build(&t, &m, &(struct faults){ .links = &kept, .n_links = 1, .chips = bounds, .n_chips = 2 }, &a, &err));
    assert_near(flows_s(&t, &(struct flow){ 0, 1, 1e9 }, 1), 0.3e-6 + 1e9 / 18.9e9, 1e-12);    /* as without */
    const struct link_fault twice[] = { { 0, 1, 0.5 }, { 1, 0, 0.25 } };
    const struct chip_fault again[] = { { 2, 5 }, { 1, 3 }, { 2, 2 } };
    assert_false(topology_build(&t, &m, &(struct faults){ .links = twice, .n_links = 2 }, &a, &err));
    assert_string_equal(err.msg, "faults: link 1-0 is named twice; name it once, with one share");
    assert_false(topology_build(&t, &m, &(struct faults){ .chips = again, .n_chips = 3 }, &a, &err));
    assert_string_equal(err.msg, "faults: IPU 2 is named twice; name it once, with one slowdown");
    assert_false(topology_build(&t, &m, &(struct faults){ .chips = &slow, .n_chips = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: IPU 1: slowdown 1.5e+06, want 1 to 1e6 on an IPU from 0 to 3");
    assert_false(topology_build(&t, &m, &(struct faults){ .background = &(struct flow){ 0, 1, -1 }, .n_background = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: flow 0-1: -1 bytes a second, want 0 to 1e14");
    assert_false(topology_build(&t, &m, &(struct faults){ .background = &(struct flow){ 0, 1, 1.5e14 }, .n_background = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: flow 0-1: 1.5e+14 bytes a second, want 0 to 1e14");
    assert_true(topology_build(&t, &m, &(struct faults){ .background = &(struct flow){ 0, 1, 1e14 }, .n_background = 1 }, &a, &err));
    assert_true(topology_build(&t, &m, &(struct faults){ .background = &(struct flow){ 0, 1, 0 }, .n_background = 1 }, &a, &err));
    assert_false(topology_build(&t, &m, &(struct faults){ .chips = &chip, .n_chips = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: IPU 4: slowdown 2, want 1 to 1e6 on an IPU from 0 to 3");
    assert_false(topology_build(&t, &m, &(struct faults){ .chips = &fast, .n_chips = 1 }, &a, &err));
    assert_string_equal(err.msg, "faults: IPU 1: slowdown 0.5, want 1 to 1e6 on an IPU from 0 to 3");
    arena_free(&a);
}

/* However slow, a memory is one; a machine without has none, nor one whose cards share a port. */
static void memories_there_are(void **state)
{
    static const struct { double bytes_per_s; uint64_t shared; uint32_t n; } cases[] = { { 0, 1, 0 }, { 0.5, 1, 2 }, { 20e9, 1, 2 }, { 20e9, 4, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine m = *load("ipu-m2000");
        struct topology t;
        m.n_ipus = m.ipus_per_domain = 8;
        m.streaming_bytes_per_s = cases[i].bytes_per_s;
        m.pcie_shared_ipus = cases[i].shared;
        m.pcie_shared_bytes_per_s = 1e9;
        assert_true(topology_build(&t, &m, NULL, &a, &err));
        assert_int_equal(t.n_memories, cases[i].n);
    }
    arena_free(&a);
}

/* Partitions of 2^k IPUs of a torus of 16 and of two: 8 are a ladder, 9 need 16. A ladder, and IPUs without links, are what they are. */
static void a_part_of_a_torus_is_a_ladder(void **state)
{
    static const struct { enum domain_topology of_machine; uint64_t n_in_use; enum domain_topology want; } cases[] = {
        { DOMAIN_TORUS, 1, DOMAIN_LADDER }, { DOMAIN_TORUS, 6, DOMAIN_LADDER }, { DOMAIN_TORUS, 8, DOMAIN_LADDER }, { DOMAIN_TORUS, 9, DOMAIN_TORUS },
        { DOMAIN_TORUS, 16, DOMAIN_TORUS }, { DOMAIN_TORUS, 17, DOMAIN_TORUS }, { DOMAIN_TORUS, 32, DOMAIN_TORUS }, { DOMAIN_LADDER, 16, DOMAIN_LADDER },
        { DOMAIN_LADDER, 6, DOMAIN_LADDER }, { DOMAIN_NONE, 1, DOMAIN_NONE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine m = toy_machine(32, 16, cases[i].of_machine, GATEWAY_DIRECT);
        assert_int_equal(topology_of_partition(&m, cases[i].n_in_use), cases[i].want);
    }
}

/* Row 6 of 8 is two rails from row 0 round a torus, and six along a ladder. Everything else is as in a machine whose
 * rails are open. */
static void a_ladder_has_no_way_round(void **state)
{
    (void)state;
    struct machine torus = toy_machine(16, 16, DOMAIN_TORUS, GATEWAY_NONE), ladder = toy_machine(16, 16, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology whole, part, open = build(&ladder, NULL);
    uint32_t links[16];
    size_t n_round = 0, n_along = 0;
    char *want, *got;
    assert_true(topology_build(&whole, &torus, NULL, &a, &err) && topology_build_as(&part, &torus, DOMAIN_LADDER, NULL, &a, &err));
    assert_true(topology_route(links, 16, &n_round, &whole, 0, 12, &err) && topology_route(links, 16, &n_along, &part, 0, 12, &err));
    assert_int_equal(n_round, 2);
    assert_int_equal(n_along, 6);
    DOCUMENTED(want, topology_document(d, &open, true));
    DOCUMENTED(got, topology_document(d, &part, true));
    assert_string_equal(got, want);
    free(want);
    free(got);
    arena_free(&a);
}

/* A cut link is dotted, both ways; the others are as they were. */
static void a_cut_link_is_drawn_as_such(void **state)
{
    (void)state;
    const struct link_fault cut = { 0, 1, 0 };
    struct topology whole = build(load("ipu-m2000"), NULL), faulty = build(load("ipu-m2000"), &(struct faults){ .links = &cut, .n_links = 1 });
    char *text, *usual;
    struct document d[2] = { { .arena = &a }, { .arena = &a } };
    topology_graph(&d[0], &whole);
    topology_graph(&d[1], &faulty);
    PRINTED(usual, document_write(f, FORMAT_DOT, &d[0]));
    PRINTED(text, document_write(f, FORMAT_DOT, &d[1]));
    assert_null(strstr(usual, "dotted"));
    const char *dotted = strstr(text, "[label=\"rung 0\", style=dotted];");
    assert_non_null(dotted);
    assert_null(strstr(strchr(dotted, '\n'), "dotted"));
    free(text);
    free(usual);
    arena_free(&a);
}

static void golden_texts(void **state)
{
    (void)state;
    struct topology small = build(load("ipu-m2000"), NULL), large = build(load("bow-pod256"), NULL);
    char *text;
    DOCUMENTED(text, topology_document(d, &small, true); topology_document(d, &large, true));
    assert_golden(text, "tests/golden/machine_topology.txt", &a);
    free(text);
    arena_free(&a);
}

/* Each kind of fault counts by itself, and none takes another's place: a link at a third of its rate, a slow chip, a flow that takes 1 of the rail's
 * 12.6 GB/s. */
static void every_kind_of_fault_counts(void **state)
{
    static struct link_fault slow = { 0, 2, 1.0 / 3 };
    static struct chip_fault chip = { 1, 2.5 };
    static struct flow flow = { 2, 4, 1e9 };
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    for (uint32_t k = 0; k < 8; k++) {
        const struct faults f = { &slow, k & 1, &chip, k >> 1 & 1, &flow, k >> 2 };
        struct topology t = build(&m, &f);
        assert_true((t.faults != NULL) == (k > 0) && (t.rates != NULL) == (k > 0));
        for (uint32_t i = 0; i < t.n_links; i++) {
            struct link l = topology_link(&t, i);
            bool slowed = (k & 1) && l.from + l.to == 2 && l.kind == LINK_RAIL, taken = k >> 2 && l.from == 2 && l.to == 4;
            if (l.kind == LINK_RAIL)
                assert_near(l.bytes_per_s, slowed ? 4.2e9 : taken ? 11.6e9 : 12.6e9, 1);
        }
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_take_the_rung_first), cmocka_unit_test(every_kind_of_fault_counts),
        cmocka_unit_test(through_links_carry_what_goes_on),
        cmocka_unit_test(domains_are_joined_by_gateways),
        cmocka_unit_test(hosts_and_memories), cmocka_unit_test(ends_without_a_way_are_told_by_kind),
        cmocka_unit_test(flows_share_links),
        cmocka_unit_test(sync_reaches_the_farthest_board),
        cmocka_unit_test(sync_crosses_the_gateways),
        cmocka_unit_test(every_pair_has_a_route),
        cmocka_unit_test(every_link_leaves_one_node), cmocka_unit_test(loads_are_found_again),
    cmocka_unit_test(links_come_in_pairs_and_none_is_idle),
        cmocka_unit_test(links_of_a_chip_are_enough),
        cmocka_unit_test(a_cut_rail_is_gone_round),
        cmocka_unit_test(a_slow_link_slows_and_a_busy_one_is_shared),
        cmocka_unit_test(a_dead_gateway_is_gone_round), cmocka_unit_test(as_many_kinds_as_rates),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_cut_link_is_drawn_as_such), cmocka_unit_test(a_part_of_a_torus_is_a_ladder), cmocka_unit_test(a_ladder_has_no_way_round),
        cmocka_unit_test(memories_there_are), cmocka_unit_test(golden_texts),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
