/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - the best configuration of a recipe under limits, and how much better any other could be.
 *
 * The space: micro-batch, share of memory, I/O tiles, IPUs of a replica, the schedules that the framework can run, recomputation, the
 * optimizer's place, sharding, gradient accumulation; any other key that values are given for; and the unchanged recipe. Each configuration
 * is planned and played as `run` would, its layers divided over the IPUs by split_layers(). Configurations are taken in the order of their
 * bounds (candidates.h), until no bound is better than the best one found; but first those that differ least from the recipe, as they are the
 * likeliest to fit, and a search of few simulations should end with something. A space of at most `exhaustive` configurations is simulated
 * whole. If no configuration counts, word tables over 2 and 4 stages are tried, then layers cut over IPUs in phases. When the bounds are exhausted, a
 * result that does not depend on the division of layers is proved best; for a pipeline the bound says by how much a better division could still win.
 * Only what fits as configured counts: a smaller share of memory for temporaries is a configuration of its own. A configuration that does not fit is
 * not tried with a larger micro-batch. The answer is the same for any number of threads.
 */
#ifndef SEARCH_H
#define SEARCH_H
#include "results/simulate/simulator.h"

enum objective { MAXIMISE_THROUGHPUT, MINIMISE_TIME_TO_TRAIN, MINIMISE_ENERGY, MINIMISE_IPUS, N_OBJECTIVES };
extern const char *const objective_names[N_OBJECTIVES];     /* throughput, time-to-train, energy, ipus */

struct limit { double low, high; };             /* both ends belong to the range; high 0: the recipe's own value */
#define NO_LIMIT 1e18                           /* the value of `high` that means no upper end */
enum { MAX_SETTINGS = 32, MAX_VALUES = 32, MAX_DIMENSIONS = 16 };
struct dimension { const char *key; const char *values[MAX_VALUES]; size_t n; };

struct found { struct result r; double value; const char *settings[MAX_SETTINGS]; size_t n_settings; };   /* value: that of the objective */

struct search_request {
    const char *recipe;
    const char *const *sets; size_t n_sets;     /* a key that is set is not searched */
    struct dimension given[MAX_DIMENSIONS]; size_t n_given;     /* values to try instead of the usual ones, and further keys */
    enum objective objective;
    struct limit ipus, global_batch, tokens, throughput;
    struct limit fits, memory_bytes;            /* limits on the chance that it fits (default: from FITS_SURELY), and on the bytes of the fullest tile */
    uint64_t most, exhaustive;                  /* most: the limit on simulations; spaces of up to `exhaustive` configurations are simulated whole */
    uint32_t n_threads;
    struct simulator *simulator;
    void (*tell)(void *user, size_t n_simulated, const struct found *best); /* best is NULL if none is known yet; tell may be NULL */
    bool (*stop)(void *user);                   /* asked by all threads before each simulation; true ends the search. May be NULL */
    double (*left)(void *user);                 /* returns how much of the time is left, from 1 down to 0; planning takes at most half. May be NULL: time is not limited */
    void *user;
};

struct search_result {
    struct found own, best;                     /* own: the unchanged recipe, which is the best if best.n_settings is 0 */
    bool own_counts, any;                       /* own_counts: the recipe fits and keeps the limits; any: some configuration does */
    struct found *front; size_t n_front, cap_front;     /* simulated configurations that none beats in both value and memory */
    double *family_values; size_t n_family_values;      /* the best value of each family of which some configuration counts */
    uint64_t n_simulated, n_refused, n_unfit, n_bounded;    /* bounded: families of configurations that were not tried, by their bound */
    double space;                               /* configurations in all */
    bool whole, exact, stopped;                 /* whole: all were simulated; exact: no configuration can be better; stopped: at the limit of simulations, or by `stop` */
    double best_bound;                          /* unless exact: no configuration can be better than this bound; NaN: not known, as the search was stopped */
};

/* The request's settings, followed by these n: q->n_sets + n of them. */
const char *const *search_sets(const struct search_request *q, const char *const *settings, size_t n, struct arena *a);
/* Simulates the recipe with the request's settings and these. */
bool search_simulate(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                     size_t n, struct err *err);
/* Fails when the recipe itself cannot be simulated. Texts live in a. */
bool search(struct search_result *out, const struct search_request *q, struct arena *a, struct err *err);

#endif
