/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_errors.h - predicted against published samples to converge, one row a submission, and the errors by benchmark and role.
 */
#ifndef CONVERGENCE_ERRORS_H
#define CONVERGENCE_ERRORS_H
#include "results/published/published.h"

struct convergence_error {
    const char *round, *division, *system, *benchmark;
    enum role role;
    double global_batch;                /* samples a step */
    double published, predicted;        /* mean samples over the runs; expected samples, or those of the planned epochs */
    double error;                       /* predicted / published - 1 */
};

struct convergence_errors { struct convergence_error *items; size_t n, cap; };

/* Rounds without reference points are left out. */
bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
/* Every submission that is not context, then root mean square and mean error by benchmark and role. */
void convergence_errors_print(FILE *f, const struct convergence_errors *e);
#endif
