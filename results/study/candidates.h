/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * candidates.h - what a search may try, in families, and how good each candidate can be at best. Private to the search.
 *
 * A candidate is a graph as compiled (micro-batch, share of memory, I/O tiles, any key that values are given for) on a number of IPUs with
 * a schedule, recomputation and a place for the optimizer's state. How its layers are divided over the IPUs is left to split_layers().
 * Candidates that differ in the micro-batch alone are a family: when one of them does not fit, the larger ones are not tried.
 *
 * With F and B the forward and backward cycles of a micro-batch, W = F + B, or 2F + B where all stages but the last recompute, and rho the
 * largest share that forward work has of any layer (0 without recomputation), a step of G micro-batches on n IPUs takes at least
 *     G x W / (n + rho)                                  the work is spread evenly
 *     (W - heads) / (1 - (1 - 1/G)^n + rho/G)            and each IPU starts after those before it have worked on the first micro-batch
 *     G x the longest layer
 * and G x (F + B) where stages take turns. Copies, the update and the host only add to it, so no candidate is better than its bound.
 */
#ifndef CANDIDATES_H
#define CANDIDATES_H
#include "results/study/search.h"
#include "results/simulate/simulator.h"

/* Keys of tensor parallelism and of weights are tried where the recipe has them, or values are given. Keys before KEY_WIDTH, and keys that are not listed here, change the compiled graph. */
enum { KEY_MICRO_BATCH, KEY_MEMORY, KEY_IO_TILES, KEY_TENSOR, KEY_WIDTH, KEY_RECOMPUTE, KEY_SCHEDULE, KEY_OPTIMIZER, KEY_SHARDING, KEY_STASH, KEY_WEIGHTS, N_USUAL };
enum { MOST_ACCUMULATIONS = 12, MOST_DIMENSIONS = N_USUAL + MAX_DIMENSIONS };

struct search_graph {
    const char *settings[MOST_DIMENSIONS]; size_t n_settings;
    double micro_batch, clock_hz;
    double forward_cycles, backward_cycles, accumulate_cycles;      /* cycles of one micro-batch */
    double heads_cycles, longest_cycles;        /* heads: twice the forward and once the backward cycles of the layers after the blocks; longest: the cycles of the longest layer */
    double forward_share;                       /* rho: the largest share of a layer's cycles that are forward work */
    uint32_t n_body_layers, tensor, table_parts;        /* tensor: IPUs that layers are cut over; table_parts: stages that the word table is on, or 1 */
    bool refused, skipped;                      /* skipped: the search was stopped before */
    uint32_t n_unlike_own;                      /* settings that differ from the recipe's */
};

struct search_candidate {
    const struct search_graph *graph;
    uint64_t accumulations[MOST_ACCUMULATIONS + 1]; size_t n_accumulations;     /* accumulations to try, the most first */
    double samples, bound;                      /* samples: the fewest to converge; bound: the bound of the objective */
    bool tried, fits, again;                    /* again: the candidate is tried again, with its layers divided anew */
};

struct search_family {
    const char *settings[N_USUAL]; size_t n_settings;
    uint32_t width, tensor, replicas, number;   /* width: IPUs of a pipeline, each of which stands for `tensor` of them; number: its place in the order of listing */
    enum schedule schedule;
    bool recomputes, streams;                   /* streams: weights come in phases, which have no pipeline */
    struct search_candidate *candidates; size_t n, next;       /* from the smallest micro-batch to the largest */
    double bound;                               /* the best bound of its candidates */
    double best_value; bool any;                /* best_value: of the family's configurations that count; any: true if some count */
    uint32_t n_unlike_own;                      /* the number of settings that differ from the recipe's */
};

/* IPUs of a replica. */
static inline uint32_t search_family_width(const struct search_family *f) { return f->width * max_u32(1, f->tensor); }

struct search_state {
    const struct search_request *q;
    struct search_result *out;
    struct simulator_pool pool;
    struct arena *a;
    struct recipe recipe;                       /* unchanged */
    struct framework framework;
    bool training;
    double samples_per_item, power_w;           /* power_w: the least that one IPU draws */
    double samples;                             /* samples to converge, if they do not depend on the batch */
    bool converges_by_batch;
    struct dimension dimensions[MOST_DIMENSIONS]; size_t n_dimensions;
    struct search_graph *graphs, **by_likeness; size_t n_graphs;        /* by_likeness: those that differ least from the recipe first */
    double planning_until;                      /* graphs are planned while more than this share of the time is left */
    struct search_family *families; size_t n_families, cap_families;
    struct trial *trials; size_t n_trials;      /* trials that are simulated together */
    struct arena trial_arena;
    struct divided *divided; size_t n_divided, cap_divided;     /* the pipelines that were tried */
    bool stopped, any_open;
    bool any_unplanned;                         /* the search was stopped before it had planned every graph */
    double open_bound;                          /* the best bound of the candidates that were not tried */
};

/* objective.c */
double search_value_of(enum objective o, const struct result *r);
bool search_better(enum objective o, double x, double than);
bool search_must_stop(const struct search_state *s);

bool search_is_set(const struct search_request *q, const char *key);
/* Adds the values of last resort number i to the request. False if they do not apply to the model, or the recipe or the user has set one of their
 * keys. */
enum { N_RESORTS = 2 };
bool search_resort(struct search_state *s, struct search_request *q, size_t i);

/* Measures a graph by a plan that compiled all its layers alike. */
void search_measure(struct search_graph *g, const struct simulation *sim);
void search_settle_dimensions(struct search_state *s);
void search_compile(struct search_state *s);            /* fills graphs */
void search_list_families(struct search_state *s);      /* the best bound first */

/* The objective's value if a step of n micro-batches takes this many cycles. */
double search_value(const struct search_state *s, const struct search_family *f, const struct search_candidate *c, uint64_t accumulation, double cycles);
/* A lower bound on the cycles of a step of n micro-batches, however the layers are divided. */
double search_least_cycles(const struct search_family *f, const struct search_candidate *c, uint64_t accumulation);

#endif
