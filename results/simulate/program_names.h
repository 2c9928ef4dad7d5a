/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_names.h - the names that tell whether two programs are alike: what is run, on what, by which framework. Counts and shares of the step,
 * which also make two runs alike, are in results/study/trust.h.
 */
#ifndef PROGRAM_NAMES_H
#define PROGRAM_NAMES_H
#include "results/simulate/simulate.h"

enum program_name { BY_FAMILY, BY_MODE, BY_WORKLOAD, BY_CHIP, BY_FRAMEWORK, BY_COMPUTE, BY_INPUT, N_PROGRAM_NAMES };
/* The distance that another name adds, a judgement: 4 for another family of models, and for inference instead of training; 1 for all others. */
extern const double program_name_weights[N_PROGRAM_NAMES];

/* The names live in the arena. A model from a file is of its own family: another file counts as the same one if it has the same operations in order. */
void program_names_of(const char *name[N_PROGRAM_NAMES], const struct simulation *sim, struct arena *a);
/* Upper and lower case are one name, as they are for sheets of frameworks. */
bool program_names_equal(const char *x, const char *y);
double program_names_apart(const char *const x[N_PROGRAM_NAMES], const char *const y[N_PROGRAM_NAMES]);        /* the sum over all names */
#endif
