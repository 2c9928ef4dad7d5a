/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulated_runs.h - what a simulation says of single runs: the timing that their distribution is drawn with, and how often published
 * runs lie within the interval it gives.
 */
#ifndef SIMULATED_RUNS_H
#define SIMULATED_RUNS_H
#include "results/simulate/simulator.h"
#include "results/published/coverage.h"

struct run_timing simulated_timing(const struct simulation *sim, const struct result *r);

/* The recipe that states this submission as its source, or wrote it ("ID-simulated"); NULL: none. */
struct submission_names { const char *round, *submitter, *system, *benchmark; };
bool recipe_of_submission(const char **out, const struct submission_names *names, struct simulator *s, struct arena *a, struct err *err);

/* How far the time of a simulation's step may be off: one standard deviation of its logarithm. */
typedef double step_error(void *user, const struct simulation *sim);
/* Over the runs of the table whose submission a recipe's source names ("v2.0 results: SUBMITTER SYSTEM/BENCHMARK"). error: NULL for the
 * one that the fitted sheet states for all. */
bool simulated_coverage(struct coverage *out, const char *runs, struct simulator *s, step_error *error, void *user, struct arena *a,
                        struct err *err);

#endif
