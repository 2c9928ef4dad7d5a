/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_collective_choice.c - which method a collective is run by, and which requests are refused. */
#include "tests/golden_text.h"
#include "tests/collective_fixture.h"
#include "system-model/network/collective_internal.h"

static void methods_are_chosen_by_size_and_shape(void **state)
{
    (void)state;
    static const struct { const char *machine; uint32_t n_groups; double bytes; enum collective_kind kind; enum collective_method want; } want[] = {
        { "c2", 1, 1e6, COLLECTIVE_ALL_REDUCE, METHOD_RING },                        /* two ranks */
        { "ipu-m2000", 1, 1245183, COLLECTIVE_REDUCE_SCATTER, METHOD_MEET_IN_MIDDLE },
        { "ipu-m2000", 1, 1245184, COLLECTIVE_REDUCE_SCATTER, METHOD_BIDIRECTIONAL_RING },
        { "ipu-m2000", 1, 622592, COLLECTIVE_ALL_GATHER, METHOD_BIDIRECTIONAL_RING },
        { "ipu-pod16", 1, 39e6, COLLECTIVE_ALL_REDUCE, METHOD_MEET_IN_MIDDLE },
        { "ipu-pod16", 1, 40e6, COLLECTIVE_ALL_REDUCE, METHOD_BIDIRECTIONAL_RING },
        { "ipu-pod16", 4, 40e6, COLLECTIVE_ALL_REDUCE, METHOD_RING },                /* several IPUs a replica, rails open */
        { "ipu-pod64", 4, 40e6, COLLECTIVE_ALL_REDUCE, METHOD_MEET_IN_MIDDLE },      /* rails closed */
        { "ipu-pod64", 1, 196607, COLLECTIVE_ALL_REDUCE, METHOD_MEET_IN_MIDDLE },
        { "ipu-pod64", 1, 196608, COLLECTIVE_ALL_REDUCE, METHOD_MEET_IN_MIDDLE },
        { "ipu-pod128", 1, 40e6, COLLECTIVE_ALL_REDUCE, METHOD_HIERARCHICAL },
        { "c2", 1, 4, COLLECTIVE_ALL_REDUCE, METHOD_RING },
        { "ipu-m2000", 1, 4, COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST },
        { "ipu-m2000", 1, 4, COLLECTIVE_REDUCE_SCATTER, METHOD_MEET_IN_MIDDLE },     /* pieces go round */
        { "ipu-pod64", 8, 4096, COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST },
        { "ipu-pod64", 1, 4, COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST },
        { "ipu-pod128", 8, 4, COLLECTIVE_ALL_REDUCE, METHOD_BROADCAST },             /* over gateways */
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct topology t = build(load(want[i].machine), NULL);
        assert_int_equal(run(&t, whole(&t, want[i].n_groups, want[i].kind, METHOD_AUTO, want[i].bytes)).method, want[i].want);
        arena_free(&a);
    }
}

/* Two IPUs side by side have one ring; three choose by size. */
static void the_fewest_that_choose(void **state)
{
    static const struct { uint32_t n_ranks; double bytes; enum collective_method want; } cases[] = {
        { 2, 1245183, METHOD_RING }, { 2, 1245184, METHOD_RING }, { 3, 1245183, METHOD_MEET_IN_MIDDLE }, { 3, 1245184, METHOD_BIDIRECTIONAL_RING },
    };
    const uint32_t ranks[3] = { 0, 1, 2 };
    (void)state;
    struct topology t = build(load("ipu-m2000"), NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(run(&t, (struct collective_request){ .kind = COLLECTIVE_REDUCE_SCATTER, .ranks = ranks, .n_groups = 1, .n_ranks = cases[i].n_ranks,
                                                              .bytes = cases[i].bytes }).method, cases[i].want);
    arena_free(&a);
}

/* With a few replicas fewer than all, the hierarchical method must still be used. If a domain has an odd number of
 * them, both directions of its ring share a rail at the corner, so it may take up to twice the time. */
static void few_ranks_less_keep_the_hierarchy(void **state)
{
    (void)state;
    static const char *const machines[] = { "ipu-pod128", "bow-pod256" };
    for (int k = 0; k < 2; k++) {
        struct topology t = build(load(machines[k]), NULL);
        uint32_t *ranks = ARENA_ARRAY(&a, uint32_t, t.n_ipus);
        for (uint32_t i = 0; i < t.n_ipus; i++)
            ranks[i] = i;
        struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 1, .n_ranks = t.n_ipus, .bytes = 51e6 };
        double all_s = run(&t, r).time_s;
        for (uint32_t less = 1; less < 30; less += 7) {
            r.n_ranks = t.n_ipus - less;
            struct collective_cost c = run(&t, r);
            assert_int_equal(c.method, METHOD_HIERARCHICAL);
            assert_true(c.time_s < (r.n_ranks % 2 ? 2 : 1.1) * all_s);
        }
        arena_free(&a);
    }
}

/* Few ranks, most of them in one domain, run on one ring. */
static void uneven_domains_run_flat(void **state)
{
    (void)state;
    struct topology t = build(load("ipu-pod128"), NULL);
    const uint32_t ranks[3] = { 0, 2, 64 };
    struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 1, .n_ranks = 3, .bytes = 6e6 };
    struct collective_cost c = run(&t, r);
    assert_int_equal(c.method, METHOD_RING);
    assert_int_equal(c.n_steps, 4);
    r.method = METHOD_HIERARCHICAL;             /* pieces are those of the domain with most: halves, and halves of these between the domains */
    c = run(&t, r);
    assert_int_equal(c.n_steps, 4);
    assert_near(c.bytes_sent_per_rank, 2 * (3e6 + 1.5e6), 1e-6);
    const uint32_t two_groups[6] = { 0, 2, 64, 1, 4, 3 };
    struct collective_request apart = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_HIERARCHICAL, .ranks = two_groups, .n_groups = 2,
                                        .n_ranks = 3, .bytes = 6e6 };
    assert_false(collective_run(&c, &t, &apart, &a, &err));
    assert_string_equal(err.msg, "all-reduce: hierarchical wants every group to have ranks in the same number of domains of ipu-pod128");
    arena_free(&a);
}

/* Pairs of neighbours all over a system at once, as for batch norm: each pair has its rung to itself. */
static void many_small_groups(void **state)
{
    (void)state;
    struct topology t = build(load("bow-pod1024"), NULL), small = build(load("bow-pod4"), NULL);
    uint32_t *ranks = ARENA_ARRAY(&a, uint32_t, 1024);
    for (uint32_t i = 0; i < 1024; i++)
        ranks[i] = i;
    struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 512, .n_ranks = 2, .bytes = 3e6 };
    struct collective_cost many = run(&t, r);
    r.n_groups = 1;
    assert_near(many.link_s, run(&small, r).link_s, 0);
    r.n_groups = 256;
    r.n_ranks = 4;
    assert_int_equal(run(&t, r).method, METHOD_BIDIRECTIONAL_RING);
    arena_free(&a);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    struct topology t = build(load("ipu-pod16"), NULL);
    struct collective_cost c;
    const uint32_t twice[3] = { 0, 3, 3 }, far[2] = { 0, 16 }, first[4] = { 2, 3, 17, 1 };
    const struct { struct collective_request r; const char *message; } bad[] = {
        { { .ranks = twice, .n_groups = 1, .n_ranks = 3, .bytes = 1 }, "all-reduce: IPU 3 appears twice in group 0" },
        { { .ranks = far, .n_groups = 1, .n_ranks = 2, .bytes = 1 }, "all-reduce: rank 1 of group 0 is IPU 16; ipu-pod16 has only IPUs 0 to 15" },
        { { .ranks = first, .n_groups = 2, .n_ranks = 2, .bytes = 1 }, "all-reduce: rank 0 of group 1 is IPU 17; ipu-pod16 has only IPUs 0 to 15" },
        { { .ranks = far, .n_groups = 0, .n_ranks = 2, .bytes = 1 }, "all-reduce: 0 groups of 2 ranks, want at least one of each" },
        { { .ranks = far, .n_groups = 1, .n_ranks = 0, .bytes = 1 }, "all-reduce: 1 groups of 0 ranks, want at least one of each" },
        { { .ranks = far, .n_groups = 1, .n_ranks = 1, .bytes = -1 }, "all-reduce: -1 bytes, want 0 or more, and less than 1e18" },
        { { .ranks = far, .n_groups = 1, .n_ranks = 1, .bytes = 1e18 }, "all-reduce: 1e+18 bytes, want 0 or more, and less than 1e18" },
        { { .kind = N_COLLECTIVE_KINDS, .ranks = far, .n_groups = 1, .n_ranks = 1, .bytes = 1 }, "collective: no such kind or method" },
        { { .method = N_COLLECTIVE_METHODS, .ranks = far, .n_groups = 1, .n_ranks = 1, .bytes = 1 }, "collective: no such kind or method" },
        { { .ranks = far, .n_groups = 1, .n_ranks = 1, .bytes = 1, .n_in_use = 17 }, "all-reduce: 17 IPUs in use; ipu-pod16 has 16" },
        { { .method = METHOD_QUAD_RING, .ranks = twice, .n_groups = 1, .n_ranks = 2, .bytes = 1 },
          "all-reduce: quad-ring wants one group of all 16 IPUs of one torus; 2 ranks, 1 groups, 1 domains on ipu-pod16" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(collective_run(&c, &t, &bad[i].r, &a, &err));
        assert_string_equal(err.msg, bad[i].message);
    }
    const uint32_t uneven[3] = { 0, 1, 64 }, fewer_first[3] = { 0, 64, 65 };
    struct topology large = build(load("ipu-pod128"), NULL);
    struct collective_request broadcast = { .kind = COLLECTIVE_ALL_GATHER, .method = METHOD_BROADCAST, .ranks = uneven, .n_groups = 1, .n_ranks = 3, .bytes = 4 };
    assert_false(collective_run(&c, &large, &broadcast, &a, &err));
    assert_string_equal(err.msg, "all-gather: broadcast wants equally many ranks of each group in every domain of ipu-pod128");
    broadcast.ranks = fewer_first;
    assert_false(collective_run(&c, &large, &broadcast, &a, &err));
    arena_free(&a);
}

/* Two rings that share no rail want whole pairs of rows, and more of them than two, closed to a torus. */
static void where_a_quad_ring_fits(void **state)
{
    static const struct { uint32_t n; enum domain_topology domain; bool fits; } rows[] = {
        { 4, DOMAIN_TORUS, false }, { 6, DOMAIN_TORUS, false }, { 8, DOMAIN_TORUS, true }, { 10, DOMAIN_TORUS, false }, { 12, DOMAIN_TORUS, true },
        { 8, DOMAIN_LADDER, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m = toy_machine(rows[i].n, rows[i].n, rows[i].domain, GATEWAY_NONE);
        struct topology t = build(&m, NULL);
        struct collective_request r = whole(&t, 1, COLLECTIVE_ALL_REDUCE, METHOD_QUAD_RING, 3e3), less = r;
        struct collective_cost c;
        less.n_ranks = rows[i].n - 1;
        assert_true(collective_run(&c, &t, &r, &a, &err) == rows[i].fits && !collective_run(&c, &t, &less, &a, &err));
    }
    arena_free(&a);
}

/* The sizes at which the library turns from meeting in the middle to rings both ways, over up to 4, 8 and 16 IPUs; a gather moves half
 * as much, and turns at half. */
static void the_method_turns_at_its_size(void **state)
{
    (void)state;
    static const struct { uint32_t n; double all_reduce_bytes; } turns[] = { { 4, 2 * 622592 }, { 5, 2 * 2490368 }, { 8, 2 * 2490368 }, { 9, 2 * 19922944 },
        { 16, 2 * 19922944 } };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct machine m = toy_machine(turns[i].n, turns[i].n, DOMAIN_LADDER, GATEWAY_NONE);
        struct topology t = build(&m, NULL);
        for (int gather = 0; gather < 2; gather++) {
            enum collective_kind kind = gather ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE;
            double at = gather ? turns[i].all_reduce_bytes / 2 : turns[i].all_reduce_bytes;
            assert_int_equal(run(&t, whole(&t, 1, kind, METHOD_AUTO, at - 1)).method, METHOD_MEET_IN_MIDDLE);
            assert_int_equal(run(&t, whole(&t, 1, kind, METHOD_AUTO, at)).method, METHOD_BIDIRECTIONAL_RING);
        }
    }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods_are_chosen_by_size_and_shape), cmocka_unit_test(the_fewest_that_choose),
    cmocka_unit_test(few_ranks_less_keep_the_hierarchy), cmocka_unit_test(uneven_domains_run_flat), cmocka_unit_test(many_small_groups),
    cmocka_unit_test(bad_requests_are_refused), cmocka_unit_test(where_a_quad_ring_fits), cmocka_unit_test(the_method_turns_at_its_size),
};
TAP_MAIN(tests)
