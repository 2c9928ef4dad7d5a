/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - bounded nonlinear least squares on log ratios, by GSL, with standard errors: what both calibrations use.
 */
#ifndef FIT_H
#define FIT_H
#include "system-model/base/base.h"

enum { MAX_FIT_PARAMETERS = 16 };

struct fit_parameter {
    const char *name;
    double low, high, start;            /* low < high; start within */
    double step;                        /* of the Jacobian's differences, as a share of high - low */
};
struct fit_value { double value, standard_error; bool at_bound; };

/* Fills log(predicted / measured) for every row; false, with a message, when a row cannot be predicted. */
typedef bool fit_log_ratios(double *out, const double *x, void *user, struct err *err);

struct fit_problem {
    const struct fit_parameter *parameters;
    size_t n_parameters, n_rows;
    const double *weights;              /* one a row: 1 counts, 0 leaves the row out; NULL: all count */
    fit_log_ratios *log_ratios;
    void *user;
};
bool fit_run(struct fit_value *out, const struct fit_problem *problem, struct err *err);

#endif
