/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * candidates.h - what a search may try, in families, and how good each candidate can be at best. Private to the search.
 *
 * A candidate is a compiled graph (micro-batch, share of memory, I/O tiles, and further keys whose values are given) on a number of IPUs, with
 * a schedule, recomputation and a place for the optimizer's state. split_layers() divides its layers over the IPUs. Candidates that differ
 * only in their micro-batch form a family; if one of them does not fit, those with larger micro-batches are not tried.
 *
 * Let F and B be the forward and backward cycles of a micro-batch, and W = F + B, or 2F + B if all stages but the last recompute. Let rho be
 * the largest share that forward work has in any layer (0 without recomputation). A step of G micro-batches on n IPUs takes at least
 *     G x W / (n + rho)                                  because the work is at best spread evenly,
 *     (W - heads) / (1 - (1 - 1/G)^n + rho/G)            because each IPU starts after those before it have worked on the first micro-batch,
 *     G x the longest layer, and G x (F + B) if stages take turns.
 * Copies, the update and the host only add time, so no candidate is better than its bound.
 */
#ifndef CANDIDATES_H
#define CANDIDATES_H
#include "results/study/search.h"
#include "results/simulate/simulator.h"

/* Keys that are searched. Tensor parallelism and weights are searched only if the recipe has them or values are given. Keys before KEY_WIDTH,
 * and given keys that are not listed here, change the compiled graph. */
enum { KEY_MICRO_BATCH, KEY_MEMORY, KEY_IO_TILES, KEY_TENSOR, KEY_WIDTH, KEY_RECOMPUTE, KEY_SCHEDULE, KEY_OPTIMIZER, KEY_SHARDING, KEY_STASH, KEY_WEIGHTS, N_USUAL };
enum { MOST_ACCUMULATIONS = 12, MOST_DIMENSIONS = N_USUAL + MAX_DIMENSIONS };

struct search_graph {
    const char *settings[MOST_DIMENSIONS]; size_t n_settings;
    double micro_batch, clock_hz;
    double forward_cycles, backward_cycles, accumulate_cycles;      /* cycles of one micro-batch */
    double heads_cycles, longest_cycles;        /* layers after the blocks, with twice the forward and once the backward cycles; and the longest layer */
    double forward_share;                       /* rho, the largest share of forward work in any layer */
    /* tensor: IPUs that each layer is cut over; table_parts: stages that hold the word table, at least 1 */
    uint32_t n_body_layers, tensor, table_parts;
    bool refused, skipped;                      /* skipped: the search stopped before the graph was planned */
    uint32_t n_unlike_own;                      /* the number of settings that differ from the recipe's */
};

struct search_candidate {
    const struct search_graph *graph;
    uint64_t accumulations[MOST_ACCUMULATIONS + 1]; size_t n_accumulations;     /* accumulations to try, the largest first */
    double samples, bound;                      /* the fewest samples to converge, and the bound of the objective */
    bool tried, fits, again;                    /* again: the candidate is tried again, with its layers divided anew */
};

struct search_family {
    const char *settings[N_USUAL]; size_t n_settings;
    uint32_t width, tensor, replicas, number;   /* width: stages of the pipeline, each on `tensor` IPUs; number: the family's place in the list */
    enum schedule schedule;
    bool recomputes, streams;                   /* streams: weights come in phases, without a pipeline */
    struct search_candidate *candidates; size_t n, next;       /* candidates, the smallest micro-batch first */
    double bound;                               /* the best bound of all candidates */
    double best_value; bool any;                /* any: true if a configuration counts; best_value: the best value of such a configuration */
    uint32_t n_unlike_own;                      /* the number of settings that differ from the recipe's */
};

/* The number of IPUs of a replica. */
static inline uint32_t search_family_width(const struct search_family *f) { return f->width * max_u32(1, f->tensor); }

struct search_state {
    const struct search_request *q;
    struct search_result *out;
    struct simulator_pool pool;
    struct arena *a;
    struct recipe recipe;                       /* unchanged */
    struct framework framework;
    bool training;
    double samples_per_item, power_w;           /* power_w: the least power of one IPU */
    double samples;                             /* samples to converge, if the batch does not change them */
    bool converges_by_batch;
    struct dimension dimensions[MOST_DIMENSIONS]; size_t n_dimensions;
    struct search_graph *graphs, **by_likeness; size_t n_graphs;        /* by_likeness: sorted, those with fewest differences from the recipe first */
    double planning_until;                      /* graphs are planned as long as more than this share of the time is left */
    struct search_family *families; size_t n_families, cap_families;
    struct trial *trials; size_t n_trials;      /* the trials of one round, simulated together */
    struct arena trial_arena;
    struct divided *divided; size_t n_divided, cap_divided;     /* pipelines that were tried */
    bool stopped, any_open;
    bool any_unplanned;                         /* the search stopped before all graphs were planned */
    double open_bound;                          /* the best bound of all untried candidates */
};

/* objective.c */
double search_value_of(enum objective o, const struct result *r);
bool search_better(enum objective o, double x, double than);
bool search_must_stop(const struct search_state *s);

bool search_is_set(const struct search_request *q, const char *key);
/* Adds the values of the i-th last resort to the request. False if it does not apply to the model, or if the recipe or the user sets one of
 * its keys. */
enum { N_RESORTS = 2 };
bool search_resort(struct search_state *s, struct search_request *q, size_t i);

/* Measures a graph by a plan in which all layers were compiled alike. */
void search_measure(struct search_graph *g, const struct simulation *sim);
void search_settle_dimensions(struct search_state *s);
void search_compile(struct search_state *s);            /* fills s->graphs */
void search_list_families(struct search_state *s);      /* sorts the families, best bound first */

/* The value of the objective if a step with this accumulation takes this many cycles. */
double search_value(const struct search_state *s, const struct search_family *f, const struct search_candidate *c, uint64_t accumulation, double cycles);
/* A lower bound on the cycles of a step with this accumulation, for every division of the layers. */
double search_least_cycles(const struct search_family *f, const struct search_candidate *c, uint64_t accumulation);

#endif
