/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * branches.h - the space of a search as branches: graphs as compiled, on shapes, with what their layouts are judged under. Private to the
 * search.
 */
#ifndef BRANCHES_H
#define BRANCHES_H
#include "results/study/layouts.h"
#include "results/study/search.h"
#include "results/simulate/crew.h"

/* Keys before WIDTH, and those that are not here, are compiled each for itself. */
enum { MICRO_BATCH, MEMORY, IO_TILES, WIDTH, RECOMPUTE, SCHEDULE, OPTIMIZER, SHARDING, STASH, N_USUAL };
enum { MOST_ACCUMULATIONS = 12, MOST_DIMENSIONS = N_USUAL + MAX_DIMENSIONS };

/* A graph as compiled. */
struct compiled_graph {
    const char *settings[MOST_DIMENSIONS]; size_t n_settings;
    struct layer_work work;
    double micro_batch, clock_hz, state_bytes_per_param;
    bool tried, refused, hopeless, usable;     /* hopeless: one layer's activations alone fill a tile */
    struct arena arena;
};

struct branch {
    const struct compiled_graph *graph;
    const char *settings[N_USUAL]; size_t n_settings;
    struct layout_rules rules;
    bool on_chip, sharded;              /* the optimizer's state */
    uint32_t width, replicas, number;   /* number: in the order they were listed */
    uint64_t accumulations[MOST_ACCUMULATIONS + 1]; size_t n_accumulations;     /* the most first */
    double samples, bound;              /* the fewest to converge; of the objective */
    uint64_t least_cycles;              /* of a step, before the host's call is known */
    bool closed;                        /* nothing of it fits and may be better */
};

struct state {
    const struct search_request *q;
    struct search_result *out;
    struct crew crew;
    struct arena *a;
    struct recipe recipe;               /* as it stands */
    struct layout_rules own;            /* its own */
    struct framework framework;
    double samples_per_item, samples, power_w;      /* samples: to converge, where they do not depend on the batch; power: of one IPU */
    bool converges_by_batch;
    struct dimension dimensions[MOST_DIMENSIONS]; size_t n_dimensions;
    struct compiled_graph *graphs; size_t n_graphs;
    struct branch *branches; size_t n_branches, cap_branches;
    struct trial *round; size_t n_round;    /* what is simulated next */
    struct arena round_arena;
    bool stopped, any_open;
    double open_bound;                  /* the best of what was left out */
};

bool better(enum objective o, double x, double than);
bool is_set(const struct search_request *q, const char *key);

/* ---- branches.c, in order ----------------------------------------------------------------- */

void settle_dimensions(struct state *s);
void compile_graphs(struct state *s);
void list_branches(struct state *s);                /* best bound first */
/* Of the objective, where a step of so many micro-batches takes so many cycles. */
double bound_of(const struct state *s, const struct branch *b, uint64_t accumulation, double cycles);
void set_bound(const struct state *s, struct branch *b);
int by_bound(const void *x, const void *y, void *user);

#endif
