/*
 * planned.h - a recipe simulated, with what its planning starts from: options to change, a compiler to plan again with.
 */
#ifndef PLANNED_H
#define PLANNED_H
#include "tests/check.h"
#include "results/simulate/simulate.h"

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };

struct planned { struct simulation sim; struct result r; struct plan_cache cache; struct plan_options opt; struct err err; };

static void start(struct planned *y, const char *recipe)
{
    memset(y, 0, sizeof *y);
    if (!simulate(&y->sim, &y->r, recipe, NULL, 0, &paths, &y->cache, &y->err)) {
        print_error("%s\n", y->err.msg);
        assert_true(false);
    }
    y->opt = y->sim.plan.options;
}

static void stop(struct planned *y)
{
    plan_cache_free(&y->cache);
    simulation_free(&y->sim);
}
#endif
