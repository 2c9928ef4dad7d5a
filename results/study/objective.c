/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objective.c - one configuration of a search: its settings, its simulation, and which of two values is better.
 */
#include "results/study/candidates.h"

const char *const objective_names[N_OBJECTIVES] = { "throughput", "time-to-train", "energy", "ipus" };

static bool maximised(enum objective o)
{
    return o == MAXIMISE_THROUGHPUT;
}

bool search_better(enum objective o, double x, double than)
{
    return maximised(o) ? x > than : x < than;
}

bool search_must_stop(const struct search_state *s)
{
    return s->q->stop && s->q->stop(s->q->user);
}

/* The value of the objective. Energy is that of the whole training, or of a sample if nothing is trained, with hosts and cooling if the recipe
 * states them. */
double search_value_of(enum objective o, const struct result *r)
{
    const double energy_j = is_known(r->energy_site_to_train_j) ? r->energy_site_to_train_j : r->energy_site_j / r->global_batch;
    const double values[] = { r->throughput_samples_per_s, r->time_to_train_s, energy_j, (double)r->ipus };
    return values[o];
}

const char *const *search_sets(const struct search_request *q, const char *const *settings, size_t n, struct arena *a)
{
    const char **all = ARENA_ROOM(a, const char *, q->n_sets + n);
    size_t n_all = 0;
    for (size_t i = 0; i < q->n_sets; i++)
        all[n_all++] = q->sets[i];
    for (size_t i = 0; i < n; i++)
        all[n_all++] = settings[i];
    return all;
}

bool search_simulate(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                     size_t n, struct err *err)
{
    struct arena scratch = {0};
    bool good = simulator_run(by, sim, r, q->recipe, search_sets(q, settings, n, &scratch), q->n_sets + n, err);
    arena_free(&scratch);
    return good;
}
