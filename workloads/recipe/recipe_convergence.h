/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_convergence.h - a recipe in MLPerf's terms: its round and division, the batch that its log states, the
 * convergence to expect.
 */
#ifndef RECIPE_CONVERGENCE_H
#define RECIPE_CONVERGENCE_H
#include "workloads/convergence/convergence.h"
#include "workloads/recipe/recipe.h"

struct recipe_terms {
    char round[8], division[8], submitter[32];
    bool named;                         /* the recipe's id or reference_round names the round; else it is v2.0, closed */
                                        /* submitter: that of training.submitter; else Graphcore, as recipes describe its programs */
};
struct recipe_terms recipe_terms(const struct recipe *r);

/* Samples per weight update: the true number; and the number in the log, by which reference points are found. */
double recipe_true_batch(const struct recipe *r);
double recipe_logged_batch(const struct recipe *r);

double recipe_base_learning_rate(const struct recipe *r);   /* base learning rate, under the name that its optimizer has in logs; 0 if not stated */

/* Fails for a workload that is not an MLPerf benchmark. */
bool recipe_convergence(struct convergence *out, const struct recipe *r, struct convergence_tables *tables, struct err *err);

/* The recipe's interval between evaluations in the benchmark's unit, or 0 for that of the rules. */
double recipe_eval_interval(const struct recipe *r, const struct convergence *c);

/* The predicted samples and evaluations: those of a fixed schedule if the recipe evaluates at the end, else means over
 * runs. */
struct expected_training { double samples, evaluations; };
struct expected_training expected_training(const struct recipe *r, const struct convergence *c);

#endif
