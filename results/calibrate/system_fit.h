/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system_fit.h - fits the constants of the software around the chips to published runs that may calibrate.
 */
#ifndef SYSTEM_FIT_H
#define SYSTEM_FIT_H
#include "results/calibrate/fit.h"
#include "results/published/published.h"
#include "results/simulate/simulate.h"

/* One published time and what the constants do to it: seconds = base_s + sum of slope x (constant - its default). */
struct system_row {
    const struct figure *figure;
    double published_s, base_s, slope[N_SYSTEM_CONSTANTS];
    double loop_s;                              /* of base_s: the micro-batches */
    size_t group;                               /* rows whose loops may be wrong together */
    double weight;                              /* rows of one configuration share 1 */
};

/* Rows of one model family, of training or of forward passes alone. Their loops may all be too fast or too slow by a share, which is fitted beside
 * the constants so that it does not pass for one of them, and reported; no prediction uses it. */
enum { MAX_LOOP_GROUPS = 8 };
struct loop_group { const char *family; bool training; size_t n_rows; struct fit_value error; };

struct system_fit {
    struct loop_group groups[MAX_LOOP_GROUPS]; size_t n_groups;
    struct fit_value values[N_SYSTEM_CONSTANTS];
    bool fitted[N_SYSTEM_CONSTANTS];            /* false: rows cannot tell it from its default, which it keeps */
    struct system_row *rows;
    size_t n_rows, n_configurations;
    double median_unfitted, median_fitted;      /* absolute relative error of the rows */
    double median_default[N_SYSTEM_CONSTANTS];  /* with this one constant at its default, the others as fitted */
    double median_left_out;                     /* of each row, by the fit to all rows but those of its configuration */
    double left_out_spread;                     /* of the log ratios about zero, left out */
};
/* Throughputs and evaluation times of role calibrate, one-chip inference among them (which no constant moves); validation rows are
 * never read, nor rows whose recipe is not there yet. watch: told of each simulation; may be NULL. */
bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err);
/* The fit of rows and groups that are there, by the rows' lines alone: no simulation. */
bool system_fit_lines(struct system_fit *fit, struct arena *a, struct err *err);
void system_fit_write(FILE *f, const struct system_fit *fit);   /* the sheet fitted-system.csv */
void system_fit_print(FILE *f, const struct system_fit *fit);   /* with each constant's share of each row */

#endif
