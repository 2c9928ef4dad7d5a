/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulate_with.c - repeats a simulation on the same simulator, with more overrides.
 */
#include "results/simulate/simulator.h"

bool simulate_with(struct simulation *sim, struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more, struct err *err)
{
    struct arena scratch = {0};
    const char **all = ARENA_ARRAY(&scratch, const char *, q->n_overrides + n_more);
    for (size_t i = 0; i < q->n_overrides; i++)
        all[i] = q->overrides[i];
    for (size_t i = 0; i < n_more; i++)
        all[q->n_overrides + i] = more[i];
    struct simulator *s = q->simulator;
    const struct simulator_options before = s->options;
    s->options = q->options;
    s->options.totals_only = true;
    bool good = simulator_run(s, sim, out, q->recipe, all, q->n_overrides + n_more, err);
    s->options = before;
    arena_free(&scratch);
    return good;
}

bool result_with(struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more, struct err *err)
{
    struct simulation sim;
    bool good = simulate_with(&sim, out, q, more, n_more, err);
    simulation_free(&sim);
    return good;
}
