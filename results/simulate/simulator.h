/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.h - many simulations by one simulator, which caches everything that does not change from one to the next.
 *
 * The caches, each with what it depends on, are: recipe files (name), sheets (names and overrides), topologies (sheets, use as a torus,
 * faults), graphs (the keys that shape them), compiled layers, collectives and copies (graph and topology), samples to converge (benchmark,
 * round, batch, optimizer), and splits (shape, chip, options). A result is the same to the bit whatever was simulated before it. Files are
 * read once: a simulator does not see later changes. Beyond limit_bytes, everything that no living simulation uses is dropped. A simulator
 * serves one thread at a time.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H
#include "results/simulate/memory_record.h"
#include "results/simulate/simulate.h"
#include "system-model/base/hash_table.h"
#include "workloads/recipe/recipe_convergence.h"

/* Options of a simulation apart from its recipe. They may change between simulations, since cached values hold for all options. */
struct simulator_options {
    bool totals_only;                   /* timelines keep totals and no spans, which sweeps do not print */
    bool verdict_only;                  /* no smaller share of memory is searched for a plan that does not fit */
    uint32_t split_attempts;            /* most divisions of layers to play; 0 means the usual number */
    bool step_only;                     /* leaves out evaluation, samples to converge and the rest of the time to train */
    bool as_counted;                    /* the chance to fit follows from bytes alone, whatever the distance from known programs */
    bool judges;                        /* the simulation serves to judge a row, so the row's published outcome must not be used */
    bool afresh;                        /* plans of earlier simulations are not reused; graphs, sheets and convolutions are */
    const struct simulation *splits_of; /* a living simulation whose splits are priced again, without counting memory; NULL: splits are searched */
};

struct simulator {
    const struct model_paths *paths;    /* owned by the caller; only `unfolded` may change between simulations */
    struct plan_cache own_plans, *plans;
    size_t limit_bytes;
    struct watch watch;                 /* reports plans and remedies as they are made */
    struct simulator_options options;
    uint64_t n_simulated, n_sheets_read, n_afresh;
    struct arena arena, spare;          /* `arena` has values that are read once; `spare` is the last simulation's arena, for reuse */
    struct sheet_cache cache;
    struct convergence_tables *tables;
    struct memory_record *memory;       /* loaded by the first simulation */
    struct hash_table recipes, sheets, topologies, graphs, compilers, convergences;
};

void simulator_open(struct simulator *out, const struct model_paths *paths);    /* loads no files yet */
void simulator_close(struct simulator *s);      /* all simulations of the simulator must have been freed */

/* Simulates a recipe with overrides "section.key=value" and "machine.key=value", applied in order. If it fails, there is nothing to free. */
bool simulator_run(struct simulator *s, struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct err *err);

/* ---- simulate_with.c ---------------------------------------------------------------------------- */

/* A simulation to be repeated with changes. */
struct simulation_request {
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    struct simulator *simulator;
    struct simulator_options options;   /* totals_only is always set */
    struct watch watch;                 /* reports how many changes have been simulated */
};
/* Simulates the request, with further overrides after its own. The caller frees `sim`. */
bool simulate_with(struct simulation *sim, struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more,
                   struct err *err);
/* simulate_with() that keeps only the result. */
bool result_with(struct result *out, const struct simulation_request *q, const char *const *more, size_t n_more, struct err *err);

/* ---- simulator.c, for simulate.c ----------------------------------------------------------------- */

/* The predicted samples to converge of a recipe. Fails if its workload is no MLPerf benchmark. */
bool simulator_convergence(struct convergence *out, struct simulator *s, const struct recipe *r, struct err *err);
/* the record of known programs in validity_dir; NULL if its tables cannot be read */
const struct memory_record *simulator_memory_record(struct simulator *s, struct err *err);

/* Fills the recipe, machine, sheets and compiler of a simulation, and the planner's request. All but the recipe are cached. */
bool simulator_prepare(struct simulation *sim, struct plan_request *opt, const char *recipe, const char *const *overrides,
                       size_t n_overrides, struct err *err);
/* The compiler for another recipe on this simulation's machine, with its faults if `faults`. NULL, with err set, if it fails. */
struct compiler *simulator_compiler(struct simulation *sim, const struct recipe *rec, bool faults, struct err *err);

/* ---- simulator_pool.c: threads with one simulator each ---------------------------------------- */

struct simulator_pool { struct simulator *simulators; uint32_t n; };

/* Opens a pool whose simulators all get these options. `paths` stays the caller's. */
void simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options);
void simulator_pool_close(struct simulator_pool *p);    /* all simulations of the pool must have been freed */
/* Calls job(user, i, simulator) for each i below n, and returns when all calls are done. Each thread, one of which is the caller's, takes
 * `chunk` neighbours at a time. Jobs write to places of their own, so results do not depend on threads. */
typedef void simulator_job(void *user, size_t i, struct simulator *s);
void simulator_pool_run(struct simulator_pool *p, size_t n, size_t chunk, simulator_job *job, void *user);

#endif
