/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - the best configuration of a recipe under limits, with the proof that no other in the space is better.
 *
 * The space: micro-batch, share of memory, I/O tiles, IPUs of a replica, every cut of the layers into stages (at halves of blocks
 * where blocks have them), the schedules that the framework can run, recomputation, the optimizer's place, sharding, gradient
 * accumulation; any other key that values are given for; and the recipe as it stands. What fits only when it is planned again with
 * less memory than it asks for does not count: of a smaller share for all layers it is that share's, and shares by layer are not searched, though
 * they may be faster than any for all. A space of at most `exhaustive`
 * configurations is simulated whole. A larger one is searched by branch and bound: parts of it whose bound (layouts.h) is no better
 * than the best known are left, best bound first. Stopped at `most` simulations, it says how much better the rest could be at best.
 * The answer is the same for any number of threads.
 */
#ifndef SEARCH_H
#define SEARCH_H
#include "results/simulate/simulator.h"

enum objective { MAXIMISE_THROUGHPUT, MINIMISE_TIME_TO_TRAIN, MINIMISE_ENERGY, MINIMISE_IPUS, N_OBJECTIVES };
extern const char *const objective_names[N_OBJECTIVES];     /* throughput, time-to-train, energy, ipus */

struct limit { double low, high; };             /* inclusive; high 0: as the recipe has it */
#define NO_LIMIT 1e18                           /* as a high end */
enum { MAX_SETTINGS = 32, MAX_VALUES = 32, MAX_DIMENSIONS = 16 };
struct dimension { const char *key; const char *values[MAX_VALUES]; size_t n; };

struct search_request {
    const char *recipe;
    const char *const *sets; size_t n_sets;     /* a key that is set is not searched */
    struct dimension given[MAX_DIMENSIONS]; size_t n_given;     /* values to try in place of the usual ones; other keys too */
    enum objective objective;
    struct limit ipus, global_batch, tokens, throughput;
    uint64_t most, exhaustive;
    uint32_t n_threads;
    struct simulator *simulator;
    void (*progress)(void *user, size_t done, size_t of); void *user;   /* may be NULL */
};

struct found { struct result r; double value; const char *settings[MAX_SETTINGS]; size_t n_settings; };   /* value: of the objective */
struct search_result {
    struct found own, best;                     /* own: the recipe as it stands; best.n_settings 0: it is the recipe itself */
    bool own_counts, any;                       /* the recipe fits and keeps the limits; something does */
    struct found *front; size_t n_front, cap_front;     /* of all simulated: nothing has a better value with as little memory */
    uint64_t n_simulated, n_refused, n_unfit, n_bounded;    /* bounded: branches left by their bound */
    double space;                               /* configurations in all, cuts included */
    bool whole, exact;                          /* all simulated; proved best */
    double best_bound;                          /* where not exact: nothing left is better than this */
};

/* What the request sets, and these n settings after it: q->n_sets + n of them. */
const char *const *search_sets(const struct search_request *q, const char *const *settings, size_t n, struct arena *a);
/* The recipe as the request sets it, and with these settings. */
bool search_simulate(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                     size_t n, struct err *err);
/* Fails when the recipe itself cannot be simulated. Texts live in a. */
bool search(struct search_result *out, const struct search_request *q, struct arena *a, struct err *err);

#endif
