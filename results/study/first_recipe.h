/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_recipe.h - a recipe for the user's own model: sizes, framework, split, batch and steps a call with which it fits and runs.
 *
 * The framework is that of the file's producer. The model is put on the fewest IPUs of a Bow Pod, or of the user's system, on which it surely
 * fits, with recomputation, an optimizer state off chip and less memory for temporaries if it needs them. The micro-batch is doubled as long as
 * it fits and pays. Then as many steps share a call as it takes for calls to cost a twentieth of a step. Each trial is a simulation.
 */
#ifndef FIRST_RECIPE_H
#define FIRST_RECIPE_H
#include "results/simulate/simulator.h"

struct first_recipe_request {
    const char *model;                          /* an ONNX file */
    const char *id;
    const char *const *sets; size_t n_sets;     /* settings of the user, which stay as they are */
    struct simulator *simulator;
};
struct first_recipe {
    const char *text;                           /* the recipe */
    const char *assumed;                        /* sizes that nobody gave: "tokens = 128, ..."; NULL if none */
    const char *chosen;                         /* the settings that it chose: "ipus_per_replica = 4, micro_batch = 1, ..." */
    struct result result;                       /* the recipe's result */
    double one_call_throughput;                 /* the throughput of the same recipe with one step a call */
};

/* Fails where the model cannot be read or simulated. A model that fits nowhere gets the recipe of the split that comes nearest; result.fits says so. */
bool first_recipe_find(struct first_recipe *out, const struct first_recipe_request *q, struct arena *a, struct err *err);

#endif
