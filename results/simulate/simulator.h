/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.h - many simulations by one simulator, which caches everything that does not change from one to the next.
 *
 * It caches, each by what it depends on: recipe files (name), sheets (names, values given in their place), link graphs
 * (sheets, whether a torus is used as one, faults), graphs (the keys that shape them), compiled layers, collectives and
 * copies (graph and link graph), samples to converge (benchmark, round, batch, optimizer), and the search of splits
 * (shape, chip, options). A result is the same to the bit whatever was simulated before. Files are read once: a
 * simulator does not see later changes. Past limit_bytes, everything that no living simulation uses is dropped. One
 * thread at a time.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H
#include "results/simulate/memory_record.h"
#include "results/simulate/simulate.h"
#include "system-model/base/hash_table.h"
#include "workloads/recipe/recipe_convergence.h"

/* How a simulation is run, apart from its recipe. It may change between simulations: cached values hold for all options. */
struct simulator_options {
    bool totals_only;                   /* timelines without spans: for sweeps, which print none */
    bool verdict_only;                  /* for a plan that does not fit, no smaller share of memory is looked for */
    uint32_t split_attempts;            /* how many divisions of layers are played at most; 0 means the usual number */
    bool step_only;                     /* no evaluation and no samples to converge: nothing of the whole training */
    bool as_counted;                    /* the chance to fit does not depend on how far the program is from known memory */
    bool judges;                        /* simulates rows that are judged, so it must not know that a published run fitted */
    bool afresh;                        /* plans of other simulations are not used; their graphs, sheets and convolutions are */
    const struct simulation *splits_of; /* a living simulation whose splits are used and priced anew, without counting memory; NULL: splits are
                                           searched */
};

struct simulator {
    const struct model_paths *paths;    /* owned by the caller; only `unfolded` may change between simulations */
    struct plan_cache own_plans, *plans;
    size_t limit_bytes;
    struct watch watch;                 /* called as plans and remedies are made */
    struct simulator_options options;
    uint64_t n_simulated, n_sheets_read, n_afresh;
    struct arena arena, spare;          /* arena: for values that are read once; spare: the last simulation's arena, for the next one */
    struct sheet_cache cache;
    struct convergence_tables *tables;
    struct memory_record *memory;       /* read at the first simulation */
    struct hash_table recipes, sheets, topologies, graphs, compilers, convergences;
};

void simulator_open(struct simulator *out, const struct model_paths *paths);    /* reads nothing yet */
void simulator_close(struct simulator *s);      /* closes a simulator; all its simulations must be freed before */

/* Simulates a recipe with overrides "section.key=value" and "machine.key=value", in order. Nothing is left to free if
 * it fails. */
bool simulator_run(struct simulator *s, struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct err *err);

/* ---- simulate_with.c ---------------------------------------------------------------------------- */

/* A simulation that is to be repeated with changes: what every question about "what if" starts from. */
struct simulation_request {
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    struct simulator *simulator;
    struct simulator_options options;   /* totals_only is always on */
    struct watch watch;                 /* receives how many changes are done */
};
/* Simulates the request with more overrides after its own. The caller frees sim. */
bool simulate_with(struct simulation *sim, struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more,
                   struct err *err);
/* simulate_with() for the result alone. */
bool result_with(struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more, struct err *err);

/* ---- simulator.c, for simulate.c ----------------------------------------------------------------- */

/* The samples that the recipe needs; fails for a workload that is not an MLPerf benchmark. */
bool simulator_convergence(struct convergence *out, struct simulator *s, const struct recipe *r, struct err *err);
const struct memory_record *simulator_memory_record(struct simulator *s, struct err *err);        /* the record from the tables in validity_dir; NULL if they cannot be read */

/* Fills recipe, machine, sheets and compiler of a simulation, and the planner's options; all but the recipe are cached.
 */
bool simulator_prepare(struct simulation *sim, struct plan_request *opt, const char *recipe, const char *const *overrides,
                       size_t n_overrides, struct err *err);
/* The compiler of another recipe on this simulation's machine, with or without its faults; NULL, with err, if there is
 * none. */
struct compiler *simulator_compiler(struct simulation *sim, const struct recipe *rec, bool faults, struct err *err);

/* ---- simulator_pool.c: threads with one simulator each ---------------------------------------- */

struct simulator_pool { struct simulator *simulators; uint32_t n; };

/* paths stay the caller's; every simulator gets the options. */
void simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options);
void simulator_pool_close(struct simulator_pool *p);    /* closes the pool; all simulations of its simulators must be freed before */
/* Calls job(user, i, simulator) for each i below n, `chunk` neighbours on one thread, and returns when all are done.
 * Jobs write to places of their own, so that the result does not depend on the thread. The caller's own thread is one
 * of them. */
typedef void simulator_job(void *user, size_t i, struct simulator *s);
void simulator_pool_run(struct simulator_pool *p, size_t n, size_t chunk, simulator_job *job, void *user);

#endif
