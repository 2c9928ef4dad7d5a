/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - nonlinear least squares by GSL's Levenberg-Marquardt over log ratios.
 *
 * Ratios d are softened to sign(d) sqrt(s ln(1 + d^2 / s)) with s = 0.1^2 (Cauchy's loss), so that a row whose error has a cause outside the
 * model has little weight. The fit works on u, where x = low + (high - low) / (1 + exp(-u)) keeps the parameter x within its bounds. The first
 * step may overshoot to a bound, where a parameter hardly moves; so a second descent starts in the middle of all bounds, and the better of the
 * two is kept.
 *
 * The Jacobian comes from central differences with the step that the caller asks for, because plans are minima over whole numbers, and a small
 * step changes none of them. Standard errors are White's (HC1: Econometrica 48, 817). They weight each row by its own residual, so that
 * scatter in rows that do not depend on a constant does not widen its standard error.
 */
#include "results/calibrate/calibration.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>

struct fit_run { const struct fit_problem *problem; struct arena arena; struct err *err; bool failed; };

static double logistic(double u) { return 1 / (1 + exp(-u)); }

static double parameter_value(const struct fit_parameter *p, double u)
{
    return p->low + (p->high - p->low) * logistic(u);
}

/* The u of the start value. A start on a bound is moved inside by a fiftieth of the range. */
static double start_of(const struct fit_parameter *p)
{
    double share = (p->start - p->low) / (p->high - p->low);
    share = fmin(fmax(share, 0.02), 0.98);
    return log(share / (1 - share));
}

static double softened(double d)
{
    const double s = 0.01;
    return copysign(sqrt(s * log(1 + d * d / s)), d);
}

static int fit_residuals(const gsl_vector *u, void *user, gsl_vector *f)
{
    struct fit_run *job = user;
    const struct fit_problem *p = job->problem;
    double x[MAX_FIT_PARAMETERS], *d = ARENA_ARRAY(&job->arena, double, p->n_rows);
    for (size_t i = 0; i < p->n_parameters; i++)
        x[i] = parameter_value(&p->parameters[i], gsl_vector_get(u, i));
    job->failed |= !p->log_ratios(d, x, p->user, job->err);
    for (size_t i = 0; i < p->n_rows && !job->failed; i++)
        gsl_vector_set(f, i, p->weights ? p->weights[i] * softened(d[i]) : softened(d[i]));
    return job->failed ? GSL_EFAILED : GSL_SUCCESS;
}

/* The change of u that moves x by the parameter's step. */
static double step_of(const struct fit_parameter *p, double u)
{
    double share = logistic(u), step = p->step / (share * (1 - share));
    return fmin(step, 1);
}

static int fit_jacobian(const gsl_vector *u, void *user, gsl_matrix *j)
{
    const struct fit_problem *p = ((struct fit_run *)user)->problem;
    gsl_vector *low = gsl_vector_alloc(p->n_rows), *high = gsl_vector_alloc(p->n_rows), *at = gsl_vector_alloc(u->size);
    int status = GSL_SUCCESS;
    for (size_t k = 0; k < u->size && status == GSL_SUCCESS; k++) {
        double step = step_of(&p->parameters[k], gsl_vector_get(u, k));
        gsl_vector_memcpy(at, u);
        gsl_vector_set(at, k, gsl_vector_get(u, k) - step);
        status = fit_residuals(at, user, low);
        gsl_vector_set(at, k, gsl_vector_get(u, k) + step);
        status = status == GSL_SUCCESS ? fit_residuals(at, user, high) : status;
        for (size_t i = 0; i < p->n_rows; i++)
            gsl_matrix_set(j, i, k, (gsl_vector_get(high, i) - gsl_vector_get(low, i)) / (2 * step));
    }
    gsl_vector_free(low);
    gsl_vector_free(high);
    gsl_vector_free(at);
    return status;
}

static size_t n_weighted_rows(const struct fit_problem *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_rows; i++)
        n += !p->weights || p->weights[i] > 0;
    return n;
}

/* A matrix: element (k, i) is how far the residual of row k moves constant i. */
static gsl_matrix *influences(gsl_multifit_nlinear_workspace *w)
{
    const gsl_vector *f = gsl_multifit_nlinear_residual(w);
    const gsl_matrix *j = gsl_multifit_nlinear_jac(w);
    gsl_matrix *covariance = gsl_matrix_alloc(j->size2, j->size2), *moved = gsl_matrix_alloc(j->size1, j->size2);
    gsl_multifit_nlinear_covar(j, 1e-12, covariance);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, j, covariance, 0, moved);
    gsl_matrix_scale_rows(moved, f);
    gsl_matrix_free(covariance);
    return moved;
}

static void set_fit_values(struct fit_value *out, const struct fit_problem *p, gsl_multifit_nlinear_workspace *w)
{
    double n = (double)n_weighted_rows(p), spare = n - (double)p->n_parameters;
    gsl_matrix *moved = influences(w);
    for (size_t i = 0; i < p->n_parameters; i++) {
        const struct fit_parameter *k = &p->parameters[i];
        double u = gsl_vector_get(gsl_multifit_nlinear_position(w), i), share = logistic(u);
        double slope = (k->high - k->low) * share * (1 - share);
        gsl_vector_view of_constant = gsl_matrix_column(moved, i);
        out[i] = (struct fit_value){ .value = parameter_value(k, u), .at_bound = share < 0.01 || share > 0.99,
                                     .standard_error = slope * sqrt(n / spare) * gsl_blas_dnrm2(&of_constant.vector) };
    }
    gsl_matrix_free(moved);
}

enum { MOST_FIT_STEPS = 200 };         /* a high limit, because steps near a bound are small */

/* Descends once, from the start values or from the middle of all bounds. False, with the cause in *status, if GSL fails. */
static bool fit_descend(gsl_multifit_nlinear_workspace *w, gsl_multifit_nlinear_fdf *fdf, const struct fit_problem *problem, bool from_middle,
                    int *status)
{
    struct fit_run *job = fdf->params;
    gsl_vector *start = gsl_vector_calloc(problem->n_parameters);       /* u = 0 is the middle of the bounds */
    int info = 0;
    for (size_t i = 0; i < problem->n_parameters && !from_middle; i++)
        gsl_vector_set(start, i, start_of(&problem->parameters[i]));
    gsl_multifit_nlinear_init(start, fdf, w);
    *status = gsl_multifit_nlinear_driver(MOST_FIT_STEPS, 1e-6, 1e-8, 1e-8, NULL, NULL, &info, w);
    gsl_vector_free(start);
    /* A fit over whole numbers may also end because steps or progress run out. */
    return !job->failed && (*status == GSL_SUCCESS || *status == GSL_EMAXITER || *status == GSL_ENOPROG);
}

bool fit_run(struct fit_value *out, const struct fit_problem *problem, struct err *err)
{
    struct fit_run job = { .problem = problem, .err = err };
    size_t n = problem->n_parameters;
    double best = HUGE_VAL;
    int status = GSL_SUCCESS;
    if (n_weighted_rows(problem) <= n)
        return fail(err, "a fit of %zu constants needs more than %zu rows", n, n_weighted_rows(problem));
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = { .f = fit_residuals, .df = fit_jacobian, .n = problem->n_rows, .p = n, .params = &job };
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, problem->n_rows, n);
    for (int from_middle = 0; from_middle < 2 && fit_descend(w, &fdf, problem, from_middle, &status); from_middle++) {
        double cost = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(w));
        if (cost < best)
            set_fit_values(out, problem, w);
        best = fmin(best, cost);
    }
    bool good = best < HUGE_VAL;
    if (!good && !job.failed)
        fail(err, "the fit: %s", gsl_strerror(status));
    gsl_multifit_nlinear_free(w);
    arena_free(&job.arena);
    return good && !job.failed;
}

/* ---- the sheet of a fit ------------------------------------------------------------------------------ */

static const struct table_column sheet_columns[] = {
#define C(member) { COLUMN(struct fitted_value, member) }
    C(key), C(value), C(unit), C(source), C(note),
#undef C
};

struct table fitted_sheet(void)
{
    return TABLE(sheet_columns, struct fitted_value);
}
