/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_step_flows.c - the links that the flows of a collective's step load: all at once, and link by link. */
#include "tests/collective_fixture.h"
#include "system-model/network/collective_internal.h"
#include "system-model/network/topology_internal.h"

static void assert_routes(const struct topology *t, const struct step_flows *e)
{
    struct collective_cache cache = collective_cache_new(&a);
    struct link_loads all = link_loads_new(&a);
    const struct step_routes *routes, *again;
    double latency_s = 0, most = 0;
    assert_true(step_routes_find(&routes, &cache, t, e, &a, &err));
    for (size_t i = 0; i < e->n; i++) {
        uint32_t links[MAX_ROUTE];
        size_t n;
        assert_true(topology_route(links, MAX_ROUTE, &n, t, e->items[i].from, e->items[i].to, &err));
        link_loads_add(&all, links, n, 1);
        latency_s = fmax(latency_s, route_latency_s(t, links, n));
    }
    assert_int_equal(routes->n_links, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        struct link link = topology_link(t, all.items[i].link);
        const struct step_link *found = NULL;
        for (uint32_t k = 0; k < routes->n_links; k++)
            if (routes->links[k].number == link_loads_number(&cache.numbers, all.items[i].link))
                found = &routes->links[k];
        assert_true(found && found->n_flows == all.items[i].bytes && found->kind == link.kind);
        most = fmax(most, all.items[i].bytes);
    }
    assert_int_equal(cache.numbers.n, all.n);            /* none was added by asking */
    assert_int_equal(routes->most_flows, most);
    assert_int_equal(routes->n_exchanges, 1);
    assert_near(routes->exchanges[0].latency_s, latency_s, 0);
    double by_flows[9], longest_s = 0;
    for (uint32_t i = 0; i < 9; i++)
        by_flows[i] = 3e6 * i;
    for (uint32_t i = 0; i < all.n; i++)
        longest_s = fmax(longest_s, 3e6 * all.items[i].bytes / topology_link(t, all.items[i].link).bytes_per_s);
    assert_true(most < 9);
    assert_near(step_routes_time_s(routes, by_flows), latency_s + longest_s, 1e-18);
    assert_true(step_routes_find(&again, &cache, t, e, &a, &err) && again == routes);
}

/* Flows on a torus from IPU 0 to 4, over two rails, and from 8 to 13, over a rung and two rails. They are priced at
 * once, then link by link, then at once again; no price depends on those before. */
static void the_same_flows_at_once_and_link_by_link(void **state)
{
    (void)state;
    struct machine m = toy_machine(16, 16, DOMAIN_TORUS, GATEWAY_NONE);
    struct topology t = build(&m, NULL);
    struct collective_cache cache = collective_cache_new(&a);
    static const double by_flows[] = { 0, 1.26e6, 2.52e6 };
    for (size_t i = 0; i < 3; i++) {
        struct step_flows e = step_flows_new(2, &a);
        const struct step_routes *routes;
        step_flows_add(&e, 0, 4);
        step_flows_add(&e, 8, 13);
        e.link_by_link = i == 1;
        assert_true(step_routes_find(&routes, &cache, &t, &e, &a, &err));
        assert_int_equal(routes->n_links, 5);
        assert_int_equal(routes->n_exchanges, i == 1 ? 3 : 1);
        /* The rung's latency is the longest of the first exchange, the rails' bytes take longest in all. */
        assert_near(step_routes_time_s(routes, by_flows), i == 1 ? 0.3e-6 + 2 * 0.11e-6 + 3e-4 : 0.3e-6 + 2 * 0.11e-6 + 1e-4, 1e-15);
    }
    arena_free(&a);
}

/* Two flows from IPU 0 to 4, and one each from 8 to 12 and from 16 to 20; or one flow in the first domain and two in
 * a later one, in two orders. Each flow passes two rails in turn, and two flows share each rail. */
static void flows_meet_in_a_later_domain_too(void **state)
{
    static const uint32_t ends[][4][2] = { { { 0, 4 }, { 0, 4 }, { 8, 12 }, { 16, 20 } }, { { 0, 4 }, { 8, 12 }, { 8, 12 }, { 16, 20 } },
                                           { { 0, 4 }, { 8, 12 }, { 16, 20 }, { 8, 12 } } };
    static const double by_flows[] = { 0, 1.26e6, 2.52e6 };
    (void)state;
    struct machine m = toy_machine(24, 8, DOMAIN_TORUS, GATEWAY_SWITCHED);
    struct topology t = build(&m, NULL);
    struct collective_cache cache = collective_cache_new(&a);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct step_flows e = step_flows_new(4, &a);
        const struct step_routes *routes;
        for (size_t k = 0; k < 4; k++)
            step_flows_add(&e, ends[i][k][0], ends[i][k][1]);
        e.link_by_link = true;
        assert_true(step_routes_find(&routes, &cache, &t, &e, &a, &err));
        assert_int_equal(routes->n_exchanges, 2);
        assert_int_equal(routes->n_links, 6);
        assert_int_equal(routes->most_flows, 2);
        assert_near(step_routes_time_s(routes, by_flows), 2 * (0.11e-6 + 2e-4), 1e-15);
    }
    arena_free(&a);
}

/* Three domains of eight, all whole or one with a cut rail. All links of all flows count, each as often as a flow
 * uses it, even if the same flows repeat in the next domain. */
static void all_flows_of_a_step_count(void **state)
{
    static const struct { size_t n; uint32_t ends[6][2]; } cases[] = {
        { 6, { { 0, 2 }, { 1, 3 }, { 8, 10 }, { 9, 11 }, { 16, 18 }, { 17, 19 } } },    /* alike */
        { 6, { { 0, 5 }, { 4, 1 }, { 8, 13 }, { 12, 9 }, { 16, 21 }, { 20, 17 } } },    /* over several links */
        { 4, { { 0, 6 }, { 2, 4 }, { 8, 14 }, { 10, 12 } } },                           /* two of them share one */
        { 4, { { 8, 14 }, { 10, 12 }, { 0, 6 }, { 2, 4 } } },                           /* a later domain first */
        { 4, { { 0, 2 }, { 1, 3 }, { 8, 10 }, { 9, 13 } } },                            /* the last one goes elsewhere */
        { 4, { { 0, 2 }, { 1, 3 }, { 8, 10 }, { 11, 11 + 2 } } },                       /* or comes from elsewhere */
        { 3, { { 0, 2 }, { 1, 3 }, { 8, 10 } } },                                       /* is missing */
        { 3, { { 0, 2 }, { 8, 10 }, { 8, 10 } } },                                      /* is there twice */
        { 2, { { 0, 2 }, { 8, 18 } } },                                                 /* leaves its domain */
        { 2, { { 0, 8 }, { 8, 16 } } },                                                 /* all do */
        { 3, { { 7, 8 }, { 15, 16 }, { 23, 0 } } }, { 2, { { 8, 0 }, { 16, 8 } } }, { 1, { { 3, 4 } } },
    };
    const struct link_fault cut = { 8, 10, 0 }, slow = { 8, 10, 0.25 };
    struct machine m = toy_machine(24, 8, DOMAIN_LADDER, GATEWAY_SWITCHED);
    struct topology with[] = { build(&m, NULL), build(&m, &(struct faults){ .links = &cut, .n_links = 1 }),
                               build(&m, &(struct faults){ .links = &slow, .n_links = 1 }) };
    (void)state;
    for (size_t k = 0; k < sizeof with / sizeof *with; k++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct step_flows e = step_flows_new(cases[i].n, &a);
            for (size_t j = 0; j < cases[i].n; j++)
                step_flows_add(&e, cases[i].ends[j][0], cases[i].ends[j][1]);
            assert_routes(&with[k], &e);
        }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_same_flows_at_once_and_link_by_link), cmocka_unit_test(flows_meet_in_a_later_domain_too),
    cmocka_unit_test(all_flows_of_a_step_count),
};
TAP_MAIN(tests)
