/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_collective_laws.c - the laws that collectives keep: bytes, parts, folding to the bit, faults. */
#include "tests/collective_fixture.h"

static const struct { const char *machine; uint32_t n_groups; } cases[] = {
    { "c2", 1 }, { "dss8440", 1 }, { "dss8440", 2 }, { "dss8440", 4 }, { "ipu-m2000", 1 }, { "ipu-pod16", 1 }, { "bow-pod16", 4 },
    { "ipu-pod64", 1 }, { "bow-pod64", 2 }, { "bow-pod64", 8 }, { "ipu-pod128", 1 }, { "ipu-pod128", 4 }, { "bow-pod256", 1 }, { "bow-pod256", 8 },
    { "bow-pod1024", 2 },
};
enum { N_CASES = sizeof cases / sizeof *cases };
static const enum collective_method rings[] = { METHOD_AUTO, METHOD_RING, METHOD_BIDIRECTIONAL_RING, METHOD_MEET_IN_MIDDLE };

/* Ranks of a pattern, start by start and IPU by IPU. */
static const uint32_t *listed(const struct rank_pattern *p)
{
    uint32_t *ranks = ARENA_ARRAY(&a, uint32_t, (size_t)p->n_starts * p->n_ipus * p->n_ranks), n = 0;
    for (uint32_t start = 0; start < p->n_starts; start++)
        for (uint32_t i = 0; i < p->n_ipus; i++)
            for (uint32_t r = 0; r < p->n_ranks; r++) {
                uint32_t replica = p->stride == 1 ? start * p->n_ranks + r : start + r * p->stride;
                ranks[n++] = replica * p->width + p->first_ipu + i;
            }
    return ranks;
}

static void assert_same_cost(struct collective_request listed_ranks, struct collective_request of_pattern, const struct topology *t)
{
    struct collective_cost x, y;
    bool good = collective_run(&x, t, &listed_ranks, &a, &err);
    assert_int_equal(good, collective_run(&y, t, &of_pattern, &a, &err));
    if (!good)
        return;
    assert_true(x.time_s == y.time_s && x.link_s == y.link_s && x.reduce_s == y.reduce_s && x.sync_s == y.sync_s);
    assert_true(x.n_steps == y.n_steps && x.method == y.method && x.bytes_sent_per_rank == y.bytes_sent_per_rank);
    assert_true(memcmp(x.busiest_bytes, y.busiest_bytes, sizeof x.busiest_bytes) == 0);
}

/* Collectives that share a cache each cost, to the last bit, what they cost alone with their ranks in a list. */
static void ways_that_are_known_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct topology t = build(load(cases[i].machine), NULL);
        uint32_t width = cases[i].n_groups, n = t.n_ipus / width, half = n > 1 ? n / 2 : 1, starts = n / half;
        struct collective_cache cache = collective_cache_new(&a);
        const struct rank_pattern patterns[] = { { n, 1, 1, width, 0, width }, { half, 1, starts, width, 0, width },
                                                 { starts, half, half, width, 0, width }, { n, 1, 1, width, width - 1, 1 } };
        for (uint32_t k = 0; k < 4 * N_COLLECTIVE_KINDS * N_COLLECTIVE_METHODS; k++) {
            const struct rank_pattern *p = &patterns[k % 4];
            struct collective_request r = { .kind = (enum collective_kind)(k / 4 % N_COLLECTIVE_KINDS), .n_groups = p->n_starts * p->n_ipus,
                                            .method = (enum collective_method)(k / 4 / N_COLLECTIVE_KINDS % N_COLLECTIVE_METHODS),
                                            .n_ranks = p->n_ranks, .bytes = k % 3 ? 31.7e6 : 4, .n_in_use = t.n_ipus, .unfolded = k % 5 == 0 };
            struct collective_request known = r;
            r.ranks = listed(p);
            r.pattern.width = p->width;
            known.pattern = *p;
            known.cache = &cache;
            assert_same_cost(r, known, &t);
        }
        assert_true(cache.layouts.n <= 4 && cache.steps[0].n + cache.steps[1].n < 4 * 10);
        arena_free(&a);
    }
}

/* A rank sends (n-1)/n of the vector for a scatter or a gather, twice that for an all-reduce, whatever the method. */
static void bytes_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct topology t = build(load(cases[i].machine), NULL);
        double n = t.n_ipus / cases[i].n_groups, bytes = 31.7e6;
        for (size_t k = 0; k < 4; k++) {
            double all = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_ALL_REDUCE, rings[k], bytes)).bytes_sent_per_rank;
            double scatter = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_REDUCE_SCATTER, rings[k], bytes)).bytes_sent_per_rank;
            double gather = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_ALL_GATHER, rings[k], bytes)).bytes_sent_per_rank;
            assert_near(all, 2 * (n - 1) / n * bytes, 1e-3);
            assert_near(scatter, (n - 1) / n * bytes, 1e-3);
            assert_near(gather, (n - 1) / n * bytes, 1e-3);
        }
        arena_free(&a);
    }
}

static void parts_order_and_sum(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct topology t = build(load(cases[i].machine), NULL);
        for (double bytes = 3; bytes < 1e9; bytes *= 57) {
            for (size_t k = 0; k < 4; k++) {
                struct collective_cost all = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_ALL_REDUCE, rings[k], bytes));
                struct collective_cost scatter = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_REDUCE_SCATTER, rings[k], bytes));
                struct collective_cost more = run(&t, whole(&t, cases[i].n_groups, COLLECTIVE_ALL_REDUCE, rings[k] ? rings[k] : METHOD_RING, 2 * bytes));
                assert_near(all.time_s, all.link_s + all.reduce_s + all.sync_s + all.control_s, 0);
                assert_true(all.method == METHOD_BROADCAST || all.time_s > scatter.time_s);
                assert_true(rings[k] == METHOD_AUTO || more.time_s > all.time_s);
            }
        }
        arena_free(&a);
    }
}

static bool same_cost(const struct collective_cost *x, const struct collective_cost *y)
{
    return x->time_s == y->time_s && x->link_s == y->link_s && x->reduce_s == y->reduce_s && x->sync_s == y->sync_s &&
           x->n_steps == y->n_steps && x->bytes_sent_per_rank == y->bytes_sent_per_rank && x->method == y->method &&
           memcmp(x->busiest_bytes, y->busiest_bytes, sizeof x->busiest_bytes) == 0;
}

static void folded_and_unfolded_agree_to_the_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct topology t = build(load(cases[i].machine), NULL);
        for (int kind = 0; kind < N_COLLECTIVE_KINDS; kind++) {
            for (size_t k = 0; k <= 4; k++) {
                enum collective_method method = k < 4 ? rings[k] : METHOD_BROADCAST;
                struct collective_request r = whole(&t, cases[i].n_groups, (enum collective_kind)kind, method, 17.3e6);
                struct collective_cost folded = run(&t, r);
                r.unfolded = true;
                struct collective_cost unfolded = run(&t, r);
                assert_true(same_cost(&folded, &unfolded));
            }
        }
        arena_free(&a);
    }
}

static void one_rank_and_no_bytes_cost_nothing(void **state)
{
    (void)state;
    struct topology t = build(load("bow-pod64"), NULL);
    const uint32_t ranks[2] = { 5, 9 };
    for (int kind = 0; kind < N_COLLECTIVE_KINDS; kind++) {
        assert_near(run(&t, (struct collective_request){ .kind = (enum collective_kind)kind, .ranks = ranks, .n_groups = 2, .n_ranks = 1,
                                                         .bytes = 1e6 }).time_s, 0, 0);
        assert_near(run(&t, (struct collective_request){ .kind = (enum collective_kind)kind, .ranks = ranks, .n_groups = 1, .n_ranks = 2 }).time_s, 0, 0);
    }
    arena_free(&a);
}

static void faster_links_are_never_slower(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct machine *slow = load(cases[i].machine), fast = *slow;
        fast.chip.link_bytes_per_s *= 1.37;
        fast.gateway_bytes_per_s *= 1.11;
        struct topology s = build(slow, NULL), f = build(&fast, NULL);
        for (size_t k = 0; k < 4; k++)
            assert_true(run(&f, whole(&f, cases[i].n_groups, COLLECTIVE_ALL_REDUCE, rings[k], 5e6)).time_s <=
                        run(&s, whole(&s, cases[i].n_groups, COLLECTIVE_ALL_REDUCE, rings[k], 5e6)).time_s);
        arena_free(&a);
    }
}

static void a_missing_or_slow_link_is_never_faster(void **state)
{
    (void)state;
    static const struct { const char *machine; uint32_t n_groups; } some[] = { { "dss8440", 1 }, { "ipu-pod16", 4 }, { "bow-pod64", 1 }, { "ipu-pod128", 2 } };
    for (size_t i = 0; i < 4; i++) {
        struct machine *m = load(some[i].machine);
        struct topology whole_t = build(m, NULL);
        struct collective_cost before = run(&whole_t, whole(&whole_t, some[i].n_groups, COLLECTIVE_ALL_REDUCE, METHOD_AUTO, 9e6));
        bool any_slower = false;
        for (uint32_t l = 0; l < whole_t.n_links; l += 2 * 3) {
            struct link_fault fault = { topology_link(&whole_t, l).from, topology_link(&whole_t, l).to, 0 };
            if (topology_link(&whole_t, l).kind > LINK_RAIL && topology_link(&whole_t, l).kind != LINK_GATEWAY)
                continue;
            for (int way = 0; way < 2; way++, fault.rate_share = 0.4) {
                struct topology t = build(m, &(struct faults){ .links = &fault, .n_links = 1 });
                double time_s = run(&t, whole(&t, some[i].n_groups, COLLECTIVE_ALL_REDUCE, METHOD_AUTO, 9e6)).time_s;
                assert_true(time_s >= before.time_s);
                any_slower = any_slower || time_s > before.time_s;
            }
        }
        assert_true(any_slower);
        arena_free(&a);
    }
}

/* Domains are alike, but for what is at fault: a cut rail costs as much in the second domain as in the first, and more than none. */
static void a_cut_costs_the_same_in_every_domain(void **state)
{
    (void)state;
    struct machine m = toy_machine(12, 6, DOMAIN_LADDER, GATEWAY_DIRECT);
    struct topology whole_t = build(&m, NULL);
    const struct link_fault in_first = { 2, 4, 0 }, in_second = { 8, 10, 0 };
    const struct faults first = { .links = (struct link_fault *)&in_first, .n_links = 1 }, second = { .links = (struct link_fault *)&in_second, .n_links = 1 };
    struct topology a_t = build(&m, &first), b_t = build(&m, &second);
    for (int k = 0; k < 2; k++) {
        enum collective_method method = k ? METHOD_BROADCAST : METHOD_HIERARCHICAL;
        struct collective_request r = whole(&whole_t, 1, COLLECTIVE_ALL_REDUCE, method, 9e6);
        struct collective_cost x = run(&a_t, r), y = run(&b_t, r);
        assert_true(same_cost(&x, &y));
        assert_true(x.time_s > run(&whole_t, r).time_s);
    }
    arena_free(&a);
}

/* Groups in the second and third of three domains cost what those in the first two do, to the bit, and load each its own links. */
static void groups_may_begin_in_any_domain(void **state)
{
    static const uint32_t ranks[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 };
    static const enum collective_method methods[] = { METHOD_RING, METHOD_BIDIRECTIONAL_RING, METHOD_MEET_IN_MIDDLE, METHOD_BROADCAST };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof methods / sizeof *methods; i++) {
        struct machine m = toy_machine(18, 6, i % 2 ? DOMAIN_TORUS : DOMAIN_LADDER, GATEWAY_SWITCHED);
        struct topology t = build(&m, NULL);
        struct collective_request r = { .kind = COLLECTIVE_ALL_REDUCE, .method = methods[i / 2], .ranks = ranks, .n_groups = 2, .n_ranks = 6, .bytes = 7e6, .n_in_use = 18 };
        struct collective_cost first = run(&t, r), one;
        r.ranks = ranks + 6;
        struct collective_cost later = run(&t, r);
        r.n_groups = 1;
        one = run(&t, r);
        assert_true(same_cost(&first, &later) && same_cost(&later, &one));
    }
    arena_free(&a);
}

static void a_slow_chip_holds_up_the_adding(void **state)
{
    (void)state;
    struct machine *m = load("ipu-pod16");
    const struct chip_fault slow = { 7, 2.5 };
    struct topology whole_t = build(m, NULL), t = build(m, &(struct faults){ .chips = &slow, .n_chips = 1 });
    struct collective_cost before = run(&whole_t, whole(&whole_t, 1, COLLECTIVE_ALL_REDUCE, METHOD_RING, 9e6));
    struct collective_cost after = run(&t, whole(&t, 1, COLLECTIVE_ALL_REDUCE, METHOD_RING, 9e6));
    assert_near(after.reduce_s, 2.5 * before.reduce_s, 1e-15);
    assert_near(after.link_s, before.link_s, 1e-15);
    arena_free(&a);
}

/* The slowest of several chips counts, in whatever order they are named; a chip that does not take part, the first of the next group, delays nobody. */
static void the_slowest_of_several_chips(void **state)
{
    static const struct chip_fault orders[][3] = { { { 8, 2.5 }, { 4, 1.5 }, { 1, 9 } }, { { 1, 9 }, { 4, 1.5 }, { 8, 2.5 } }, { { 4, 1.5 }, { 1, 9 }, { 8, 2.5 } } };
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct machine *m = load("ipu-pod64");
        struct topology whole_t = build(m, NULL), t = build(m, &(struct faults){ .chips = (struct chip_fault *)orders[i], .n_chips = 3 });
        struct collective_request first = whole(&whole_t, 4, COLLECTIVE_ALL_REDUCE, METHOD_RING, 9e6);
        first.n_groups = 1;
        assert_int_equal(first.n_ranks, 16);
        struct collective_cost before = run(&whole_t, first), after = run(&t, first);
        assert_near(after.reduce_s, 2.5 * before.reduce_s, 1e-15);
        arena_free(&a);
    }
}

/* A flow that holds half of a rail makes the ring wait for it. */
static void background_traffic_slows(void **state)
{
    (void)state;
    struct machine *m = load("ipu-pod16");
    const struct flow busy = { 4, 6, 20e9 };
    struct topology whole_t = build(m, NULL), t = build(m, &(struct faults){ .background = &busy, .n_background = 1 });
    double before = run(&whole_t, whole(&whole_t, 1, COLLECTIVE_ALL_GATHER, METHOD_RING, 90e6)).link_s;
    double after = run(&t, whole(&t, 1, COLLECTIVE_ALL_GATHER, METHOD_RING, 90e6)).link_s;
    assert_near(after / before, 2, 0.01);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ways_that_are_known_change_nothing), cmocka_unit_test(bytes_sent), cmocka_unit_test(parts_order_and_sum),
    cmocka_unit_test(folded_and_unfolded_agree_to_the_bit), cmocka_unit_test(one_rank_and_no_bytes_cost_nothing),
    cmocka_unit_test(faster_links_are_never_slower), cmocka_unit_test(a_missing_or_slow_link_is_never_faster),
    cmocka_unit_test(a_cut_costs_the_same_in_every_domain), cmocka_unit_test(groups_may_begin_in_any_domain),
    cmocka_unit_test(a_slow_chip_holds_up_the_adding),
    cmocka_unit_test(the_slowest_of_several_chips), cmocka_unit_test(background_traffic_slows),
};
TAP_MAIN(tests)
