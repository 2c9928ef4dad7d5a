/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_recipe.h - a recipe for the user's own model: sizes, framework, split, batch and steps a call with which it fits and runs.
 *
 * The framework is that of the file's producer. The model is put on the fewest IPUs of a Bow Pod, or of the user's system, on which it surely
 * fits. If it needs to save memory, it uses recomputation, optimizer state off chip, and less memory for temporaries. The micro-batch is
 * doubled as long as it fits and pays. A call then has enough steps that calls cost a twentieth of the time. Each trial is a simulation.
 */
#ifndef FIRST_RECIPE_H
#define FIRST_RECIPE_H
#include "results/simulate/simulator.h"

struct first_recipe_request {
    const char *model;                          /* the path of an ONNX file */
    const char *id;
    const char *const *sets; size_t n_sets;     /* the user's settings, which are never changed */
    struct simulator *simulator;
};
struct first_recipe {
    const char *text;                           /* the text of the recipe */
    const char *assumed;                        /* assumed sizes, such as "tokens = 128, ..."; NULL if all sizes were given */
    const char *chosen;                         /* the chosen settings, such as "ipus_per_replica = 4, micro_batch = 1, ..." */
    struct result result;                       /* the result of simulating the recipe */
    double one_call_throughput;                 /* throughput of the same recipe with one step a call */
};

/* Finds the recipe. Fails if the model cannot be read or simulated. If no split fits, the one that comes nearest is returned with result.fits
 * false. */
bool first_recipe_find(struct first_recipe *out, const struct first_recipe_request *q, struct arena *a, struct err *err);

#endif
