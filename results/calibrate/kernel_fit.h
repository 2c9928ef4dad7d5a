/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_fit.h - fits the chip constants that may be fitted to the measured kernels and runs.
 */
#ifndef KERNEL_FIT_H
#define KERNEL_FIT_H
#include "results/calibrate/fit.h"
#include "results/published/published.h"
#include "results/simulate/simulate.h"
#include "system-model/machine/fitted_chip.h"

/* A measured kernel or run; share: of its time, from each constant's distance to its open-source value. */
struct kernel_fit_row { const char *recipe; double share[MAX_FITTED], error; };
struct kernel_fit {
    struct fit_value values[MAX_FITTED];    /* in the order of fitted_constants */
    struct kernel_fit_row *rows;
    size_t n_rows;
    double median_before, median_after;     /* absolute relative error of the rows, open-source values and fitted */
    double median_default[MAX_FITTED];      /* with this one constant at its open-source value, the others as fitted */
};
/* Only rows of role calibrate count: measured kernels, and throughputs of runs; each recipe once. watch: told of each time that one is
 * predicted; may be NULL. */
bool kernel_fit_run(struct kernel_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err);
/* The sheet: key,value,unit,source,note. table: the path of the rows. */
void kernel_fit_write(FILE *f, const struct kernel_fit *fit, const char *table);
void kernel_fit_print(FILE *f, const struct kernel_fit *fit);   /* with each constant's share of each row */

#endif
