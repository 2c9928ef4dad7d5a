/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator_internal.h - what simulate.c asks of the simulator: artefacts, kept or made now.
 */
#ifndef SIMULATOR_INTERNAL_H
#define SIMULATOR_INTERNAL_H
#include "results/simulate/simulator.h"

/* Recipe, machine, sheets and compiler of a simulation, and the planner's options; all but the recipe kept. */
bool simulator_prepare(struct simulation *sim, struct plan_options *opt, const char *recipe, const char *const *overrides,
                       size_t n_overrides, struct err *err);
/* The compiler of another recipe on this simulation's machine, with or without its faults. NULL: err says why. */
struct compiler *simulator_compiler(struct simulation *sim, const struct recipe *rec, bool faults, struct err *err);

#endif
