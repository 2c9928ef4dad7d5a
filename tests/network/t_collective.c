/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_collective.c - collectives by hand on a toy machine. */
#include "tests/golden_text.h"
#include "tests/collective_fixture.h"
#include "system-model/network/collective_internal.h"
#include "system-model/network/topology_internal.h"

static double busiest_link_bytes(const struct collective_cost *c)
{
    double most = 0;
    for (int k = 0; k < N_LINK_KINDS; k++)
        most = fmax(most, c->busiest_bytes[k]);
    return most;
}

/*
 * Ring of IPUs 0, 2, 4 of an open ladder, 63 MB: 4 steps of 21 MB. The last rank's flow goes back over both rails: 0.22 us.
 * Each rail carries 21 MB each way at 12.6 GB/s: 21e6 / 12.6e9 = 1.666667 ms.
 * Sync: 0.5 us + 2 x 2 boards x 13 ns = 0.552 us. Adding, two steps: 21e6 / 7 tiles = 3e6 bytes, 375000 vectors, 62500 a worker:
 * 11 + 6 (26 + 187500) = 1125167 cycles at 1.3 GHz, and a superstep of 103 + 207.
 */
static void ring_of_three(void **state)
{
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    m.chip.on_chip_sync_cycles = 103;
    m.chip.compute_set_cycles = 207;
    struct topology t = build(&m, NULL);
    const uint32_t ranks[3] = { 0, 2, 4 };
    struct collective_cost c = run(&t, (struct collective_request){ .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_RING, .ranks = ranks,
                                                                    .n_groups = 1, .n_ranks = 3, .bytes = 63e6 });
    assert_int_equal(c.n_steps, 4);
    assert_near(c.link_s, 4 * (0.22e-6 + 21e6 / 12.6e9), 1e-12);
    assert_near(c.sync_s, 4 * 0.552e-6, 1e-15);
    assert_near(c.reduce_s, 2 * (1125167 + 310) / 1.3e9, 1e-12);
    assert_near(c.control_s, (2 * 5 + 4 * 3) * (310 + 40) / 1.3e9, 1e-15);
    assert_near(c.time_s, c.link_s + c.sync_s + c.reduce_s + c.control_s, 1e-18);
    assert_near(c.bytes_sent_per_rank, 84e6, 1e-6);
    assert_near(busiest_link_bytes(&c), 84e6, 1e-6);
    arena_free(&a);
}

/* Supersteps without a sum or a link, of 103 + 207 + 40 cycles at 1.3 GHz. On five ranks a ring has 4 iterations in each phase, and rings that meet in the
 * middle 2. A broadcast's are not published. */
static void counting_pieces(void **state)
{
    static const struct { enum collective_kind kind; enum collective_method method; uint32_t n_supersteps; } cases[] = {
        { COLLECTIVE_REDUCE_SCATTER, METHOD_RING, 5 + 4 * 3 }, { COLLECTIVE_ALL_GATHER, METHOD_RING, 5 + 4 * 3 },
        { COLLECTIVE_ALL_REDUCE, METHOD_BIDIRECTIONAL_RING, 2 * (10 + 4 * 6) }, { COLLECTIVE_REDUCE_SCATTER, METHOD_MEET_IN_MIDDLE, 10 + 2 * 10 },
        { COLLECTIVE_ALL_GATHER, METHOD_MEET_IN_MIDDLE, 9 + 2 * 9 }, { COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST, 0 },
    };
    (void)state;
    struct machine m = toy_machine(10, 10, DOMAIN_LADDER, GATEWAY_NONE);
    m.chip.on_chip_sync_cycles = 103;
    m.chip.compute_set_cycles = 207;
    struct topology t = build(&m, NULL);
    const uint32_t ranks[5] = { 0, 2, 4, 6, 8 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collective_request r = { .kind = cases[i].kind, .method = cases[i].method, .ranks = ranks, .n_groups = 1, .n_ranks = 5, .bytes = 5e6 };
        assert_near(run(&t, r).control_s, cases[i].n_supersteps * 350 / 1.3e9, 1e-15);
    }
    arena_free(&a);
}

/* Three bytes are cut into pieces of one, half a byte into pieces of a sixth. A worker adds the piece that arrives
 * in one turn of a tile, 11 + 6 (26 + 3) cycles. Adding pieces of less than a byte takes no cycles. */
static void the_smallest_pieces_are_added(void **state)
{
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[3] = { 0, 2, 4 };
    struct collective_request r = { .kind = COLLECTIVE_REDUCE_SCATTER, .method = METHOD_RING, .ranks = ranks, .n_groups = 1, .n_ranks = 3, .bytes = 3 };
    assert_near(run(&t, r).reduce_s, 2 * 185 / 1.3e9, 1e-15);
    r.bytes = 0.5;
    assert_near(run(&t, r).reduce_s, 2 * (11 + 6 * 26) / 1.3e9, 1e-15);
    r.kind = COLLECTIVE_ALL_GATHER;
    assert_near(run(&t, r).reduce_s, 0, 0);
    arena_free(&a);
}

/*
 * Broadcast of 63 MB from IPU 0 to 2 and 4: two flows of 21 MB leave it in one step, both over its rail, one of them over two: 42 MB and
 * 0.22 us. Then an all-gather, 2 steps of 21 MB. The root alone sends in the first step: 2/3 x 21 MB a rank on average, then 42 MB.
 */
static void broadcast_of_three(void **state)
{
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[3] = { 0, 2, 4 };
    struct collective_cost c = run(&t, (struct collective_request){ .kind = COLLECTIVE_BROADCAST, .method = METHOD_RING, .ranks = ranks,
                                                                    .n_groups = 1, .n_ranks = 3, .bytes = 63e6 });
    assert_int_equal(c.n_steps, 3);
    assert_near(c.link_s, 0.22e-6 + 42e6 / 12.6e9 + 2 * (0.22e-6 + 21e6 / 12.6e9), 1e-12);
    assert_near(c.reduce_s, 0, 0);
    assert_near(c.bytes_sent_per_rank, 56e6, 1e-6);
    assert_near(busiest_link_bytes(&c), 84e6, 1e-6);
    arena_free(&a);
}

/*
 * IPUs 0, 2 and 4 of an open ladder all send 63 MB to each other. Each rail carries two flows each way, as those
 * between 0 and 4 use both rails, with 0.22 us: 126e6 / 12.6e9 = 10 ms. The 126 MB that arrive are added at once: 18e6
 * bytes a tile, 2250000 vectors, 375000 a worker. A reduce-scatter and an all-gather send pieces of 21 MB over the same
 * routes. AUTO chooses this method only for the smallest vectors.
 */
static void everyone_to_everyone(void **state)
{
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[3] = { 0, 2, 4 };
    struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_BROADCAST, .ranks = ranks, .n_groups = 1, .n_ranks = 3, .bytes = 63e6 };
    struct collective_cost all = run(&t, r);
    assert_int_equal(all.n_steps, 1);
    assert_near(all.link_s, 0.22e-6 + 10e-3, 1e-12);
    assert_near(all.sync_s, 0.552e-6, 1e-15);
    assert_near(all.reduce_s, (11 + 6 * (26 + 3 * 375000)) / 1.3e9, 1e-12);
    assert_near(all.bytes_sent_per_rank, 126e6, 1e-6);
    assert_near(busiest_link_bytes(&all), 126e6, 1e-6);
    r.kind = COLLECTIVE_REDUCE_SCATTER;
    assert_near(run(&t, r).link_s, 0.22e-6 + 10e-3 / 3, 1e-12);
    r.kind = COLLECTIVE_ALL_GATHER;
    assert_near(run(&t, r).bytes_sent_per_rank, 42e6, 1e-6);
    assert_near(run(&t, r).reduce_s, 0, 0);
    arena_free(&a);
}

/*
 * The same of IPUs 0, 4 and 8, on a torus of six rows. Each flow has two rails for itself. Up to 128 bytes for each of the 7 tiles go over both at
 * once, 0.22 us; more waits on the IPU between, two exchanges of 0.11 us, each with its bytes and its sync of 0.5 us + 2 x 4 boards x 13 ns.
 */
static void large_vectors_reach_everyone_link_by_link(void **state)
{
    static const struct { enum collective_kind kind; double bytes, piece_bytes; uint32_t n_exchanges; } cases[] = {
        { COLLECTIVE_ALL_REDUCE, 896, 896, 1 }, { COLLECTIVE_ALL_REDUCE, 897, 897, 2 }, { COLLECTIVE_ALL_REDUCE, 63e6, 63e6, 2 },
        { COLLECTIVE_REDUCE_SCATTER, 896, 896. / 3, 1 }, { COLLECTIVE_REDUCE_SCATTER, 63e6, 21e6, 2 }, { COLLECTIVE_ALL_GATHER, 897, 299, 2 },
    };
    (void)state;
    struct machine m = toy_machine(12, 12, DOMAIN_TORUS, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[3] = { 0, 4, 8 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collective_request r = { .kind = cases[i].kind, .method = METHOD_BROADCAST, .ranks = ranks, .n_groups = 1, .n_ranks = 3, .bytes = cases[i].bytes };
        struct collective_cost c = run(&t, r);
        assert_int_equal(c.n_steps, 1);
        assert_near(c.link_s, 0.22e-6 + cases[i].n_exchanges * cases[i].piece_bytes / 12.6e9, 1e-15);
        assert_near(c.sync_s, cases[i].n_exchanges * 0.604e-6, 1e-15);
    }
    arena_free(&a);
}

/* Two domains of four are joined hub by hub, with 1 kB. In each domain all IPUs send to each other, and then the two
 * IPUs of each hub send the vector to the other domain: 2 kB at 8.8 GB/s. The rail 0-2 carries 0>2, and 0>3 or 1>2,
 * as routes use the rung first: 2 kB at 12.6 GB/s, 0.41 us for both hops. */
static void everyone_then_round_the_domains(void **state)
{
    (void)state;
    struct machine m = toy_machine(8, 4, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology t = build(&m, NULL);
    struct collective_cost c = run(&t, whole(&t, 1, COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST, 1e3));
    assert_int_equal(c.n_steps, 2);
    assert_near(c.link_s, 0.41e-6 + 2e3 / 12.6e9 + 1.7e-6 + 2e3 / 8.8e9, 1e-12);
    assert_near(c.bytes_sent_per_rank, 4e3, 1e-9);
    arena_free(&a);
}

/* All six in peripheral order 0 2 4 5 3 1: every hop one link, rungs at 18.9 and rails at 12.6 GB/s. 5 steps of 5 MB. */
static void peripheral_ring(void **state)
{
    (void)state;
    struct machine m = toy_machine(6, 6, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    struct collective_cost one_way = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_RING, 30e6));
    struct collective_cost both = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_BIDIRECTIONAL_RING, 30e6));
    struct collective_cost middle = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_MEET_IN_MIDDLE, 30e6));
    assert_near(one_way.link_s, 5 * (0.3e-6 + 5e6 / 12.6e9), 1e-12);
    assert_near(both.link_s, 5 * (0.3e-6 + 2.5e6 / 12.6e9), 1e-12);
    assert_near(middle.link_s, 3 * (0.3e-6 + 5e6 / 12.6e9), 1e-12);
    assert_int_equal(middle.n_steps, 4);                    /* 2 both ways, 1 one way, 1 to join */
    assert_near(one_way.reduce_s, 0, 0);
    arena_free(&a);
}

/* Two pipeline stages on a column each: rings of 0 2 4 6 and 1 3 5 7 at once do not meet. Four stages: 0>2>4 and 2>4>6 meet on
 * the rail 2-4, as 1>3>5 and 3>5>7 do on theirs. One group of the four alone has its rails to itself. */
static void groups_share_links(void **state)
{
    (void)state;
    struct machine m = toy_machine(8, 8, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    struct collective_request two = whole(&t, 2, COLLECTIVE_ALL_REDUCE, METHOD_RING, 63e6), one = two;
    one.n_groups = 1;
    assert_near(run(&t, two).link_s, run(&t, one).link_s, 0);
    struct collective_request four = whole(&t, 4, COLLECTIVE_ALL_GATHER, METHOD_RING, 8e6);
    one = four;
    one.n_groups = 1;
    assert_near(run(&t, four).link_s, 2 * 0.11e-6 + 2 * 4e6 / 12.6e9, 1e-12);
    assert_near(run(&t, one).link_s, 2 * 0.11e-6 + 4e6 / 12.6e9, 1e-12);
    arena_free(&a);
}

/*
 * Quad on a whole torus of 64, 51.2 MB, gather: 63 steps of 200 kB each way on two rings. A rail carries one ring, a rung both:
 * 200e3 / 27.52e9 on the rail is more than 400e3 / 82.56e9 on the rung. The bidirectional ring has 400 kB on the rail.
 */
static void quad_uses_every_rail_once(void **state)
{
    (void)state;
    struct topology t = build(load("bow-pod64"), NULL);
    struct collective_cost quad = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_QUAD_RING, 51.2e6));
    struct collective_cost both = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_BIDIRECTIONAL_RING, 51.2e6));
    assert_near(quad.link_s, 63 * (0.255e-6 + 200e3 / 27.52e9), 1e-12);
    assert_near(both.link_s, 63 * (0.255e-6 + 400e3 / 27.52e9), 1e-12);
    assert_near(busiest_link_bytes(&quad), 63 * 400e3, 1e-6);
    assert_near(quad.bytes_sent_per_rank, 63 * 800e3, 1e-6);
    quad = run(&t, whole(&t, 1, COLLECTIVE_REDUCE_SCATTER, METHOD_QUAD_RING, 51.2e6));
    both = run(&t, whole(&t, 1, COLLECTIVE_REDUCE_SCATTER, METHOD_BIDIRECTIONAL_RING, 51.2e6));
    assert_near(quad.reduce_s, both.reduce_s, 1e-15);       /* as much to add each step, by whichever way it came */
    arena_free(&a);
}

/*
 * Two domains of four joined hub by hub at 8.8 GB/s, 40 MB: reduce-scatter in each on 0 2 3 1 (3 steps of 5 MB both ways, rail-bound),
 * shards of 10 MB between them in halves (2 steps of 5 MB, two IPUs a hub: 10 MB on a gateway), all-gather.
 */
static void hierarchical_by_hand(void **state)
{
    (void)state;
    struct machine m = toy_machine(8, 4, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology t = build(&m, NULL);
    struct collective_request r = whole(&t, 1, COLLECTIVE_ALL_REDUCE, METHOD_HIERARCHICAL, 40e6);
    struct collective_cost c = run(&t, r);
    double local_s = 2 * 3 * (0.3e-6 + 5e6 / 12.6e9);
    assert_int_equal(c.method, METHOD_HIERARCHICAL);
    assert_near(c.link_s, local_s + 2 * (1.7e-6 + 10e6 / 8.8e9), 1e-12);
    assert_near(c.bytes_sent_per_rank, 2 * 7.0 / 8 * 40e6, 1e-6);
    arena_free(&a);
}

/* Every kind by every method, small and large, one and two groups, on machines of odd numbers. */
static void collectives_as_text(void **state)
{
    static const struct { uint32_t n_ipus, per_domain; enum domain_topology domain; enum gateway_topology gateway; } toys[] = {
        { 6, 6, DOMAIN_LADDER, GATEWAY_NONE }, { 10, 10, DOMAIN_TORUS, GATEWAY_NONE }, { 16, 8, DOMAIN_TORUS, GATEWAY_DIRECT },
        { 24, 6, DOMAIN_LADDER, GATEWAY_DIRECT }, { 8, 8, DOMAIN_TORUS, GATEWAY_NONE },
    };
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)state;
    for (size_t i = 0; i < sizeof toys / sizeof *toys; i++) {
        struct machine m = toy_machine(toys[i].n_ipus, toys[i].per_domain, toys[i].domain, toys[i].gateway);
        struct topology t = build(&m, NULL);
        for (int kind = 0; kind < N_COLLECTIVE_KINDS; kind++)
            for (int method = 0; method < N_COLLECTIVE_METHODS; method++)
                for (uint32_t groups = 1; groups <= 2; groups++)
                    for (double bytes = 3e3; bytes < 4e6; bytes *= 1e3) {
                        struct collective_request r = whole(&t, groups, (enum collective_kind)kind, (enum collective_method)method, bytes);
                        struct collective_cost c;
                        fprintf(f, "%2u/%2u %-14s %-18s %u x %7g B: ", toys[i].n_ipus, toys[i].per_domain, collective_kind_names[kind],
                                collective_method_names[method], groups, bytes);
                        if (!collective_run(&c, &t, &r, &a, &err))
                            fprintf(f, "refused\n");
                        else
                            fprintf(f, "%2u steps by %-18s links %.6g us, adding %.6g us, sync %.6g us; %g B sent, %g B on the busiest link\n", c.n_steps,
                                    collective_method_names[c.method], 1e6 * c.link_s, 1e6 * c.reduce_s, 1e6 * c.sync_s, c.bytes_sent_per_rank,
                                    busiest_link_bytes(&c));
                    }
    }
    fclose(f);
    assert_golden(text, "tests/golden/collectives.txt", &a);
    free(text);
    arena_free(&a);
}

/* Two ranks of the first domain in programs of several sizes. A step's sync waits for all IPUs of the program; links
 * and sums do not change. */
static void a_sync_holds_the_whole_program(void **state)
{
    (void)state;
    struct machine m = toy_machine(16, 8, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[2] = { 0, 2 };
    struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_RING, .ranks = ranks, .n_groups = 1, .n_ranks = 2, .bytes = 1e6 };
    struct collective_cost alone = run(&t, r);
    const struct { uint32_t n_in_use; double sync_s; } rows[] = { { 4, 0.526e-6 }, { 8, 0.578e-6 }, { 9, 0.578e-6 + 2 * m.gateway_latency_s }, { 16, 0.578e-6 + 2 * m.gateway_latency_s } };
    assert_near(alone.sync_s, 2 * 0.526e-6, 1e-15);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        r.n_in_use = rows[i].n_in_use;
        struct collective_cost c = run(&t, r);
        assert_near(c.sync_s, 2 * rows[i].sync_s, 1e-15);
        assert_true(c.link_s == alone.link_s && c.reduce_s == alone.reduce_s);
    }
    arena_free(&a);
}

/*
 * Replicas of four IPUs, two rows each, on a torus of eight rows: a copy passes two rails, one in each exchange. Four
 * ranks reduce 50.4 MB in 3 steps of 12.6 MB, 1 ms a rail; sync: 0.5 us + 2 x 4 boards x 13 ns. Four groups take no
 * longer than one: no rail has more than one copy at a time. On an open ladder a step is one exchange, in which rails
 * carry the copies of two groups.
 */
static void copies_round_a_torus_go_link_by_link(void **state)
{
    (void)state;
    struct machine torus = toy_machine(16, 16, DOMAIN_TORUS, GATEWAY_NONE), ladder = toy_machine(16, 16, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&torus, NULL), open = build(&ladder, NULL);
    const uint32_t ranks[] = { 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 };
    struct collective_request r = { .kind = COLLECTIVE_REDUCE_SCATTER, .method = METHOD_RING, .ranks = ranks, .n_ranks = 4, .bytes = 50.4e6, .n_in_use = 16 };
    for (r.n_groups = 1; r.n_groups <= 4; r.n_groups += 3) {
        struct collective_cost c = run(&t, r);
        assert_int_equal(c.n_steps, 3);
        assert_near(c.link_s, 3 * 2 * (0.11e-6 + 1e-3), 1e-12);
        assert_near(c.sync_s, 3 * 2 * topology_sync_s(&t, (const uint32_t[]){ 0, 15 }, 2), 1e-15);
        assert_near(c.busiest_bytes[LINK_RAIL], 3 * (r.n_groups == 1 ? 1 : 2) * 12.6e6, 1e-6);
        c = run(&open, r);
        assert_near(c.sync_s, 3 * topology_sync_s(&open, (const uint32_t[]){ 0, 15 }, 2), 1e-15);
    }
    r.n_groups = 4;
    assert_near(run(&open, r).link_s, 3 * (4 * 0.11e-6 + 2e-3), 1e-12);            /* 0 8 12 4: hops of four rails */
    /* With three ranks the last one is four rails from the first, so that two exchanges more are its own. */
    r.n_groups = 1, r.n_ranks = 3;
    assert_near(run(&t, r).link_s, 2 * 4 * (0.11e-6 + 16.8e6 / 12.6e9), 1e-12);
    /* Broadcasts to all go at once, the farthest over four rails and a rung; neighbours are one link apart. */
    struct collective_cost at_once = run(&t, whole(&t, 4, COLLECTIVE_ALL_REDUCE, METHOD_AUTO, 4));
    assert_int_equal(at_once.method, METHOD_BROADCAST);
    assert_near(at_once.sync_s, topology_sync_s(&t, (const uint32_t[]){ 0, 15 }, 2), 1e-15);
    struct collective_cost near = run(&t, whole(&t, 1, COLLECTIVE_REDUCE_SCATTER, METHOD_RING, 1e6));
    assert_near(near.sync_s, near.n_steps * topology_sync_s(&t, (const uint32_t[]){ 0, 15 }, 2), 1e-15);
    arena_free(&a);
}

/*
 * Layers cut along two axes: single IPUs in groups of four, four apart, on a torus of eight rows. The library splits no step for single IPUs and
 * chooses by size: below 1,245,184 bytes they meet in the middle, above they go both ways. Two groups share a column, so that each of its rails
 * carries two pieces a step and direction, over two rails. On a ladder the ring's way back is six rails.
 */
static void single_ipus_apart_go_at_once(void **state)
{
    (void)state;
    struct machine torus = toy_machine(16, 16, DOMAIN_TORUS, GATEWAY_NONE), ladder = toy_machine(16, 16, DOMAIN_LADDER, GATEWAY_NONE);
    struct topology t = build(&torus, NULL), open = build(&ladder, NULL);
    struct collective_request r = { .kind = COLLECTIVE_REDUCE_SCATTER, .pattern = { 4, 4, 4, 1, 0, 1 }, .n_groups = 4, .n_ranks = 4, .bytes = 50.4e6, .n_in_use = 16 };
    struct collective_cost c = run(&t, r);
    assert_int_equal(c.method, METHOD_BIDIRECTIONAL_RING);
    assert_near(c.link_s, 3 * (2 * 0.11e-6 + 1e-3), 1e-12);
    assert_near(c.sync_s, 3 * topology_sync_s(&t, (const uint32_t[]){ 0, 15 }, 2), 1e-15);
    c = run(&open, r);
    assert_int_equal(c.method, METHOD_BIDIRECTIONAL_RING);
    assert_near(c.link_s, 3 * (6 * 0.11e-6 + 2e-3), 1e-12);           /* forward and back share the rails there */
    r.bytes = 1245183;
    assert_int_equal(run(&t, r).method, METHOD_MEET_IN_MIDDLE);
    r.pattern.width = 2, r.pattern.stride = 1, r.n_groups = 2, r.pattern.n_starts = 2;     /* replicas of two IPUs have one method at any size */
    r.bytes = 50.4e6;
    assert_int_equal(run(&t, r).method, METHOD_MEET_IN_MIDDLE);
    assert_int_equal(run(&open, r).method, METHOD_RING);
    arena_free(&a);
}

/* Steps in a domain have a sync for each exchange, steps of rings that leave it one sync each. */
static void steps_between_domains_are_one_exchange(void **state)
{
    (void)state;
    struct machine pods = toy_machine(32, 16, DOMAIN_TORUS, GATEWAY_DIRECT);
    struct topology two = build(&pods, NULL);
    const double sync_s = topology_sync_s(&two, (const uint32_t[]){ 0, 15, 31 }, 3);
    assert_near(run(&two, whole(&two, 16, COLLECTIVE_ALL_REDUCE, METHOD_RING, 1e6)).sync_s, 2 * sync_s, 1e-15);        /* one rank a domain */
    const uint32_t ranks[] = { 0, 4, 16 };              /* over two rails and two gateways, in one exchange */
    assert_near(run(&two, (struct collective_request){ .kind = COLLECTIVE_REDUCE_SCATTER, .method = METHOD_RING, .ranks = ranks, .n_groups = 1,
                                                       .n_ranks = 3, .bytes = 1e6, .n_in_use = 32 }).sync_s, 2 * sync_s, 1e-15);
    struct collective_cost both = run(&two, whole(&two, 4, COLLECTIVE_ALL_REDUCE, METHOD_HIERARCHICAL, 1e6));
    assert_int_equal(both.n_steps, 2 * 3 + 2 * 1);
    assert_near(both.sync_s, (2 * 2 * 2 + 2 + 2 * 1) * sync_s, 1e-15);              /* in a domain two steps to the middle, and one that joins */
    arena_free(&a);
}

/*
 * Ranks 0 1 2 3 in one domain, 4 5 in the other, 40 MB: the first reduces on 0 2 3 1 in 3 steps of 5 MB both ways over
 * the rail, the second in one step of 10 MB both ways over the rung of 18.9 GB/s, which is the shorter. Between the
 * domains, four pieces of 10 MB are exchanged in halves, two by each of 4 and 5: 20 MB a step on their gateway of 8.8
 * GB/s, which is a rail away.
 */
static void uneven_domains_by_hand(void **state)
{
    (void)state;
    struct machine m = toy_machine(8, 4, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[6] = { 0, 1, 2, 3, 4, 5 };
    struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_HIERARCHICAL, .ranks = ranks, .n_groups = 1,
                                    .n_ranks = 6, .bytes = 40e6 };
    struct collective_cost c = run(&t, r);
    double local_s = 2 * 3 * (0.3e-6 + 5e6 / 12.6e9);
    assert_near(c.link_s, local_s + 2 * (1.81e-6 + 20e6 / 8.8e9), 1e-12);
    arena_free(&a);
}

/* Two groups of two IPUs, each with one in the first domain and one in a domain of its own. There is no work within
 * a domain. Half of the vector goes back and forth between the two of a group, in two steps that all flows share. */
static void groups_in_domains_of_their_own(void **state)
{
    (void)state;
    struct machine m = toy_machine(24, 8, DOMAIN_LADDER, GATEWAY_SWITCHED);
    struct topology t = build(&m, NULL);
    const uint32_t ranks[4] = { 0, 8, 1, 17 };
    const struct flow flows[] = { { 0, 8, 3e6 }, { 8, 0, 3e6 }, { 1, 17, 3e6 }, { 17, 1, 3e6 } };
    double step_s;
    struct collective_cost c = run(&t, (struct collective_request){ .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_HIERARCHICAL, .ranks = ranks,
                                                                    .n_groups = 2, .n_ranks = 2, .bytes = 6e6 });
    assert_true(topology_flows(&step_s, &t, flows, 4, NULL, &a, &err));
    assert_int_equal(c.n_steps, 2);
    assert_near(c.link_s, 2 * step_s, 1e-15);
    assert_near(c.bytes_sent_per_rank, 6e6, 1e-6);
    arena_free(&a);
}

/* Two servers of the cluster, all-reduce by server and then over InfiniBand: a rank's sixteenth goes there in two steps of a half, and four
 * IPUs share a port of 5.9375 GB/s, so that V/4 passes it. With one adapter a server that takes twice as long. */
static void servers_share_their_adapters(void **state)
{
    const double bytes = 64e6, port_bytes_per_s = 2 * 12.5e9 / 4 * 0.95;
    struct machine *m = load("dss8440-cluster");
    m->n_ipus = 32;
    struct topology two = build(m, NULL);
    struct collective_cost both = run(&two, whole(&two, 1, COLLECTIVE_ALL_REDUCE, METHOD_HIERARCHICAL, bytes));
    (void)state;
    assert_near(both.busiest_bytes[LINK_GATEWAY], bytes / 4, 1e-3);
    m->gateway_bytes_per_s /= 2;
    struct collective_cost single = run(&two, whole(&two, 1, COLLECTIVE_ALL_REDUCE, METHOD_HIERARCHICAL, bytes));
    assert_near(single.link_s - both.link_s, bytes / 4 / port_bytes_per_s, 1e-9);
    arena_free(&a);
}

/* Replicas of four IPUs, one behind each port, four a server: 36 MB on the IPU with most, 12 MB in the mean. In a server two of the four share each
 * rail, and the ring of 0 8 12 4 has hops of four rails. Between servers a port has the mean four times, in two steps a server less one. */
static void stages_of_unlike_size_by_hand(void **state)
{
    const double rail_bytes_per_s = 2 * 16e9 * 0.86, port_bytes_per_s = 2 * 12.5e9 / 4 * 0.95;
    (void)state;
    for (uint32_t servers = 2; servers <= 8; servers *= 4) {
        struct machine *m = load("dss8440-cluster");
        m->n_ipus = 16 * servers;
        struct topology t = build(m, NULL);
        struct collective_cost c = run(&t, (struct collective_request){ .pattern = { 4 * servers, 1, 1, 4, 0, 4 }, .n_groups = 4, .n_ranks = 4 * servers,
                                                                        .n_in_use = 16 * servers, .bytes = 36e6, .port_bytes = 12e6 });
        double local_s = 2 * 3 * (4 * 0.131e-6 + 2 * 9e6 / rail_bytes_per_s), n = servers, between_s = 2 * (n - 1) * (19.3e-6 + 12e6 / n / port_bytes_per_s);
        assert_near(c.link_s, local_s + between_s, 1e-9);
        assert_near(c.busiest_bytes[LINK_GATEWAY], 2 * (n - 1) / n * 12e6, 1e-3);
        assert_near(c.sync_s, 2 * (3 + n - 1) * (0.375e-6 + 2 * (19.3e-6 + 7 * 15e-9)), 1e-12);
        arena_free(&a);
    }
}



static const struct CMUnitTest tests[] = {
    cmocka_unit_test(servers_share_their_adapters), cmocka_unit_test(stages_of_unlike_size_by_hand), cmocka_unit_test(ring_of_three), cmocka_unit_test(counting_pieces),
    cmocka_unit_test(the_smallest_pieces_are_added), cmocka_unit_test(broadcast_of_three), cmocka_unit_test(everyone_to_everyone),
    cmocka_unit_test(large_vectors_reach_everyone_link_by_link), cmocka_unit_test(everyone_then_round_the_domains),
    cmocka_unit_test(peripheral_ring), cmocka_unit_test(groups_share_links), cmocka_unit_test(quad_uses_every_rail_once),
    cmocka_unit_test(hierarchical_by_hand), cmocka_unit_test(collectives_as_text), cmocka_unit_test(a_sync_holds_the_whole_program),
    cmocka_unit_test(copies_round_a_torus_go_link_by_link), cmocka_unit_test(steps_between_domains_are_one_exchange),
    cmocka_unit_test(single_ipus_apart_go_at_once), cmocka_unit_test(uneven_domains_by_hand), cmocka_unit_test(groups_in_domains_of_their_own),
};
TAP_MAIN(tests)
