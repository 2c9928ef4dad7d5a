/*
 * system_fit.h - fits the constants of the software around the chips to published runs that may calibrate.
 */
#ifndef SYSTEM_FIT_H
#define SYSTEM_FIT_H
#include "results/calibration/fit.h"
#include "results/published/published.h"
#include "results/simulate/simulate.h"

struct system_fit {
    struct fit_value values[N_SYSTEM_CONSTANTS];
    size_t n_rows;
    double median_unfitted, median_fitted;      /* absolute relative error of the rows */
    double median_left_out;                     /* of each row, by the fit to all rows but those of its recipe */
    double left_out_spread;                     /* of the log ratios about zero, left out */
};
/* Only throughputs of role calibrate, one-chip inference among them (which no constant moves); validation rows are never
 * read, nor rows whose recipe is not there yet. */
bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, struct arena *a,
                    struct err *err);
void system_fit_write(FILE *f, const struct system_fit *fit);   /* the sheet fitted-system.csv */
void system_fit_print(FILE *f, const struct system_fit *fit);

#endif
