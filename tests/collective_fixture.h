/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_fixture.h - collectives run on machines and link graphs of a test.
 */
#ifndef COLLECTIVE_FIXTURE_H
#define COLLECTIVE_FIXTURE_H
#include "tests/topology_fixture.h"
#include "system-model/network/collective.h"

static inline struct collective_cost run(const struct topology *t, struct collective_request r)
{
    struct collective_cost cost;
    if (!collective_run(&cost, t, &r, &a, &err))
        print_error("%s\n", err.msg);
    assert_non_null(cost.time_s >= 0 ? &cost : NULL);
    return cost;
}

/* One group a stage: IPU = replica x n_groups + stage, over every IPU of the machine. */
static inline struct collective_request whole(const struct topology *t, uint32_t n_groups, enum collective_kind kind,
                                       enum collective_method method, double bytes)
{
    uint32_t n_ranks = t->n_ipus / n_groups, *ranks = ARENA_ARRAY(&a, uint32_t, t->n_ipus);
    for (uint32_t g = 0; g < n_groups; g++)
        for (uint32_t i = 0; i < n_ranks; i++)
            ranks[g * n_ranks + i] = i * n_groups + g;
    return (struct collective_request){ .kind = kind, .method = method, .ranks = ranks, .n_groups = n_groups, .n_ranks = n_ranks, .bytes = bytes };
}
#endif
