/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * planned.h - a recipe simulated, with what its planning starts from: options to change, a compiler to plan again with.
 */
#ifndef PLANNED_H
#define PLANNED_H
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/simulate/simulate.h"

struct planned { struct simulation sim; struct result r; struct plan_cache cache; struct plan_request opt; struct err err; };

static inline void start(struct planned *y, const char *recipe)
{
    memset(y, 0, sizeof *y);
    if (!simulate(&y->sim, &y->r, recipe, NULL, 0, &paths, &y->cache, &y->err)) {
        print_error("%s\n", y->err.msg);
        assert_true(false);
    }
    y->opt = y->sim.plan.request;
}

static void stop(struct planned *y)
{
    plan_cache_free(&y->cache);
    simulation_free(&y->sim);
}

/* Its plan with the options as they are now. */
static inline bool build(struct planned *y, struct plan *p)
{
    return plan_build(p, y->sim.compiler, &y->opt, &y->sim.arena, &y->err);
}

/* The tasks that are at work in a run, a bit for each of the first 64. */
static inline uint64_t tasks_of_run(const struct plan *p, uint32_t run)
{
    uint64_t bits = 0;
    for (uint32_t i = p->runs[run].first_task; i < p->runs[run].end_task && i < 64; i++)
        bits |= (uint64_t)1 << i;
    return bits;
}

/* Blocks of each of n stages: attentions and feed-forwards. */
static inline void sizes(struct plan_request *o, const uint32_t (*counts)[2], uint32_t n)
{
    o->n_stages = n;
    for (uint32_t i = 0; i < n; i++)
        o->stage_sizes[i] = (struct stage_size){ { counts[i][0], counts[i][1] } };
}

#endif
