/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_convergence.h - a recipe as MLPerf sees it: its round and division, the batch its log states, the convergence to expect.
 */
#ifndef RECIPE_CONVERGENCE_H
#define RECIPE_CONVERGENCE_H
#include "workloads/convergence/convergence.h"
#include "workloads/recipe/recipe.h"

struct recipe_terms {
    char round[8], division[8], submitter[32];
    bool named;                         /* the recipe's id or reference_round says so; else v2.0, closed */
                                        /* submitter: as the source names it after "results:"; else Graphcore, whose programs recipes are of */
};
struct recipe_terms recipe_terms(const struct recipe *r);

/* Samples of a weight update, as they are; and as the log states them, by which the reference points are looked up. */
double recipe_true_batch(const struct recipe *r);
double recipe_logged_batch(const struct recipe *r);

double recipe_base_learning_rate(const struct recipe *r);   /* as the log of its optimizer names it; 0: not stated */

/* Fails for a workload that is no MLPerf benchmark. */
bool recipe_convergence(struct convergence *out, const struct recipe *r, struct convergence_tables *tables, struct err *err);

/* Between evaluations, in the benchmark's unit: the recipe's, or 0 for that of the rules. */
double recipe_eval_interval(const struct recipe *r, const struct convergence *c);

/* The centre of what is predicted: a fixed schedule where the recipe evaluates at the end, else the mean of runs, also of how often they
 * evaluate. */
struct expected_training { double samples, evaluations; };
struct expected_training expected_training(const struct recipe *r, const struct convergence *c);

#endif
