/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.h - simulations one after the other, with everything kept that does not change from one to the next.
 *
 * Kept, each by what it depends on: recipe files (their name), sheets (their names, what is given in place of their values), link
 * graphs (sheets, whether a torus is used as one, faults), graphs (the keys that shape them), compiled layers, collectives and copies
 * (graph and link graph), samples to converge (benchmark, round, batch, optimizer), the search of splits (shape, chip, options). A changed
 * key invalidates what depends on it and nothing else, and a result is the same to the bit whatever was simulated before. Files are read
 * once: a simulator does not see later changes. What no living simulation uses is dropped when more than limit_bytes are kept. One thread
 * at a time.
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H
#include "results/simulate/simulate.h"
#include "system-model/base/hash_table.h"
#include "workloads/recipe/recipe_convergence.h"

/* What is asked of a simulation beside its recipe. May change from one to the next; what is kept holds for all. */
struct simulator_options {
    bool totals_only;                   /* timelines without spans: for sweeps, which print none */
    bool as_asked;                      /* what does not fit is not planned again */
    uint32_t split_attempts;            /* at most so many divisions of layers are played at a time; 0: the usual number */
    bool step_only;                     /* nothing of how long the training takes: no evaluation, no samples to converge */
    const struct simulation *splits_of; /* a living one, whose splits are taken and priced anew, memory left aside; NULL: they are searched */
};

struct simulator {
    const struct model_paths *paths;    /* who opens it keeps them; unfolded may change between simulations, nothing else */
    struct plan_cache own_plans, *plans;
    size_t limit_bytes;
    struct watch watch;                 /* told of plans and remedies as they are made */
    struct simulator_options options;
    uint64_t n_simulated;
    struct arena arena, spare;          /* what is read once; what the last simulation leaves to the next */
    struct shelf shelf;
    struct convergence_tables *tables;
    struct hash_table recipes, sheets, sheets_asked, topologies, graphs, compilers, convergences;
};

void simulator_open(struct simulator *out, const struct model_paths *paths);    /* reads nothing yet */
void simulator_close(struct simulator *s);      /* after the last of its simulations is freed */

/* Recipe, with overrides "section.key=value" and "machine.key=value" in order. What fails leaves nothing to free. */
bool simulator_run(struct simulator *s, struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct err *err);
/* How many samples the recipe needs; fails for a workload that is no MLPerf benchmark. */
bool simulator_convergence(struct convergence *out, struct simulator *s, const struct recipe *r, struct err *err);

#endif
