/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulated.h - a recipe of the project with settings, simulated for a test: the test fails where it cannot be.
 */
#ifndef SIMULATED_H
#define SIMULATED_H
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/simulate/simulator.h"

struct texts { const char *items[8]; size_t n; };

static inline void run_with(struct simulation *sim, struct result *r, const char *recipe, struct texts sets, const struct model_paths *how,
                     struct plan_cache *cache)
{
    struct err err;
    if (!simulate(sim, r, recipe, sets.items, sets.n, how, cache, &err)) {
        print_error("%s: %s\n", recipe, err.msg);
        assert_true(false);
    }
}

static inline struct result result_of(const char *recipe, struct texts sets)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    run_with(&sim, &r, recipe, sets, &paths, &cache);
    simulation_free(&sim);
    plan_cache_free(&cache);
    r.id = r.workload = r.system = NULL;
    return r;
}

#endif
