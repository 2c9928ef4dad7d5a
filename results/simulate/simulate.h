/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulate.h - recipe to machine, graph, plan, timeline and result.
 */
#ifndef SIMULATE_H
#define SIMULATE_H
#include "results/simulate/result.h"
#include "system-model/machine/fitted_system.h"
#include "system-model/machine/sdk.h"
#include "system-model/timeline/timeline.h"
#include "workloads/recipe/recipe.h"

/* Everything one simulation made. Recipe, plan and timeline live in its arena, the rest in its simulator. */
struct simulation {
    struct arena arena;
    struct recipe recipe;
    struct what_ifs changes;            /* values given in place of the sheets' */
    struct machine *machine;
    struct sdk sdk;
    struct framework framework;         /* as its sheets have it; the recipe's settings are in plan.options */
    struct fitted_system fitted;
    struct topology *topology;
    struct graph *graph;
    struct compiler *compiler;
    struct plan plan;
    struct timeline timeline;
    double evaluation_s;                /* one evaluation, with its checkpoint where that is evaluated at the end; 0: none, or inference */
    struct simulator *by;
    struct hash_entry *held;                  /* keeps its compiler, and what that stands on */
    bool owns_simulator;
};

struct model_paths {
    const char *specs_dir, *recipes_dir, *data_dir;
    const struct fitted_system *fitted;     /* instead of the sheet in specs_dir; NULL: the sheet */
    const double *chip_constants;           /* values of fitted_constants instead of their sheet's; NULL: the sheet */
    bool unfolded;                          /* every replica is played, instead of one for all that are alike */
};

/* Loads, builds, plays: one simulation from nothing, with a simulator of its own. simulator.h has the way for more than one.
 * overrides: keys of the recipe, and machine.KEY=value for values on sheets. What fails leaves nothing to free. cache may be
 * shared by several; NULL: none. */
bool simulate(struct simulation *sim, struct result *out, const char *recipe, const char *const *overrides, size_t n_overrides,
              const struct model_paths *paths, struct plan_cache *cache, struct err *err);
void simulation_free(struct simulation *sim);       /* and its simulator, where it is its own */
/* Every sheet that the simulation read, outermost first; returns how many. */
enum { MAX_SHEETS = 8 };
size_t simulation_sheets(const struct sheet *out[MAX_SHEETS], const struct simulation *sim);
/* Seconds of a step by what they are spent on, mean of the IPUs: N_PARTS of them, which sum to the step. */
void step_breakdown(double *part_s, const struct timeline *t);
/* The ratios of one step; how long the training takes is not filled in. */
void result_of_step(struct result *out, const struct recipe *recipe, const struct timeline *t);

#endif
