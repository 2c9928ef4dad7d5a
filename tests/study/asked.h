/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asked.h - recipes that are explained or compared: one simulator for all, questions, and a simulation each.
 */
#ifndef ASKED_H
#define ASKED_H
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/study/diff.h"
#include "results/study/explain.h"

#include <math.h>
#include <string.h>

static struct arena a;
static struct err err;

static inline struct simulator *simulator(void)
{
    static struct simulator s;
    if (!s.paths)
        simulator_open(&s, &paths);
    return &s;
}

static inline struct simulation_request ask(const char *recipe, const char *const *sets, size_t n)
{
    return (struct simulation_request){ .recipe = recipe, .overrides = sets, .n_overrides = n, .simulator = simulator() };
}

static inline void run(struct simulation *sim, struct result *r, const char *recipe, const char *override)
{
    if (!simulate(sim, r, recipe, &override, override ? 1 : 0, &paths, simulator()->plans, &err))
        print_error("%s: %s\n", recipe, err.msg);
    assert_true(r->step_time_s > 0);
}

/* Progress counts up to the number that `user` gives. */
static size_t n_told;

static inline void count_told(void *user, size_t done, size_t of)
{
    assert_int_equal(done, ++n_told);
    assert_int_equal(of, *(size_t *)user);
}
#endif
