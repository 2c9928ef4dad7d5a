/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - the best configuration of a recipe under limits, and how much better any other could be.
 *
 * The space consists of micro-batch, share of memory, I/O tiles, IPUs of a replica, the schedules that the framework can run, recomputation,
 * the optimizer's place, sharding, gradient accumulation, any other key whose values are given, and the unchanged recipe. Each configuration
 * is planned and played as `run` would do it; split_layers() divides its layers over the IPUs. Configurations are tried in the order of their
 * bounds (candidates.h), until no bound is better than the best result. Those with fewest differences from the recipe come before all others,
 * because they are the likeliest to fit, and a short search should find something. A space of at most `exhaustive` configurations is simulated
 * whole. If no configuration counts, word tables over 2 and 4 stages are tried, then layers cut over IPUs in phases.
 *
 * When no bound is left, a result that does not depend on the division of layers is proved best. For a pipeline the bound says how much a
 * better division could still gain. A configuration counts only if it fits as configured; a smaller share of memory for temporaries is a
 * configuration of its own. If a configuration does not fit, larger micro-batches are not tried. The answer is the same for any number of
 * threads.
 */
#ifndef SEARCH_H
#define SEARCH_H
#include "results/simulate/simulator.h"

enum objective { MAXIMISE_THROUGHPUT, MINIMISE_TIME_TO_TRAIN, MINIMISE_ENERGY, MINIMISE_IPUS, N_OBJECTIVES };
extern const char *const objective_names[N_OBJECTIVES];     /* throughput, time-to-train, energy, ipus */

struct limit { double low, high; };             /* both ends belong to the range; high is 0 if the user gave no limit */
#define NO_LIMIT 1e18                           /* the `high` of a limit without an upper end */
enum { MAX_SETTINGS = 32, MAX_VALUES = 32, MAX_DIMENSIONS = 16 };
struct dimension { const char *key; const char *values[MAX_VALUES]; size_t n; };

struct found { struct result r; double value; const char *settings[MAX_SETTINGS]; size_t n_settings; };   /* `value` is that of the objective */

struct search_request {
    const char *recipe;
    const char *const *sets; size_t n_sets;     /* keys that are set here are not searched */
    struct dimension given[MAX_DIMENSIONS]; size_t n_given;     /* values that replace the usual ones, and further keys */
    enum objective objective;
    struct limit ipus, global_batch, tokens, throughput, token_rate;     /* token_rate limits new tokens a second of a recipe that generates */
    struct limit fits, memory_bytes;            /* limits on the chance to fit (by default at least FITS_SURELY), and on the bytes of the fullest tile */
    uint64_t most, exhaustive;                  /* the most simulations, and the size up to which a space is simulated whole */
    uint32_t n_threads;
    struct simulator *simulator;
    void (*tell)(void *user, size_t n_simulated, const struct found *best); /* reports progress; `best` is NULL if there is none yet. May be NULL */
    bool (*stop)(void *user);                   /* asked by all threads before each simulation; true ends the search. May be NULL */
    /* returns the share of the allowed time that is left, from 1 to 0; planning may use half of the time; NULL if time is not limited */
    double (*left)(void *user);
    void *user;
};

struct search_result {
    struct found own, best;                     /* `own` is the unchanged recipe; it is also the best if best.n_settings is 0 */
    bool own_counts, any;                       /* own_counts: the recipe fits and keeps the limits; any: some configuration does */
    struct found *front; size_t n_front, cap_front;     /* the configurations that no other beats in both value and memory */
    double *family_values; size_t n_family_values;      /* the best value of each family with a configuration that counts */
    uint64_t n_simulated, n_refused, n_unfit, n_bounded;    /* n_bounded: families left out because of their bound */
    double space;                               /* the number of all configurations */
    /* whole: all were simulated; exact: none can be better; stopped: by the limit of simulations, or by stop() */
    bool whole, exact, stopped;
    /* unless exact, no configuration can be better than this; NaN if the search was stopped too early to know */
    double best_bound;
};

/* The settings of the request followed by n more, as one list of q->n_sets + n. */
const char *const *search_sets(const struct search_request *q, const char *const *settings, size_t n, struct arena *a);
/* Simulates the recipe with the request's settings and n more. */
bool search_simulate(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                     size_t n, struct err *err);
/* Fails if the recipe itself cannot be simulated. Texts live in `a`. */
bool search(struct search_result *out, const struct search_request *q, struct arena *a, struct err *err);

#endif
