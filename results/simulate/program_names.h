/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_names.h - the names that tell whether two programs are alike: what is run, on what, by which framework. Counts and shares of the step,
 * which also make two runs alike, are in results/study/trust.h.
 */
#ifndef PROGRAM_NAMES_H
#define PROGRAM_NAMES_H
#include "results/simulate/simulate.h"

enum program_name { BY_FAMILY, BY_MODE, BY_WORKLOAD, BY_CHIP, BY_FRAMEWORK, BY_COMPUTE, BY_INPUT, N_PROGRAM_NAMES };
/* The distance that one differing name adds. It is a judgement: 4 for the family of models and for inference against training, 1 for others. */
extern const double program_name_weights[N_PROGRAM_NAMES];

/* Fills the names, in the arena. A model from a file has a family of its own, which files with the same operations in order share. */
void program_names_of(const char *name[N_PROGRAM_NAMES], const struct simulation *sim, struct arena *a);
/* Compares names without regard to case, as sheets of frameworks are found. */
bool program_names_equal(const char *x, const char *y);
/* the sum of the weights of the names that differ */
double program_names_apart(const char *const x[N_PROGRAM_NAMES], const char *const y[N_PROGRAM_NAMES]);
#endif
