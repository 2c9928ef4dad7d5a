/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - Levenberg-Marquardt from GSL over log ratios d, softened to sign(d) sqrt(s ln(1 + d^2 / s)) with s = 0.1^2
 * (Cauchy's loss): a row that misses for a cause that is not modelled pulls little.
 *
 * A first step may overshoot to a bound, where a parameter hardly moves: a second descent begins in the middle of all bounds, and the
 * better of the two counts.
 *
 * A parameter u stands for x = low + (high - low) / (1 + exp(-u)), which keeps the bounds. The Jacobian is by central
 * differences, as wide as the caller asks: plans are minima over whole numbers, and small steps see nothing. Standard errors are
 * White's (HC1: Econometrica 48, 817): each row with its own residual, so that what scatters in rows that do not move with a
 * constant says nothing of it.
 */
#include "results/calibrate/fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

struct job { const struct fit_problem *problem; struct arena arena; struct err *err; bool failed; };

static double share_of(double u) { return 1 / (1 + exp(-u)); }

static double value_of(const struct fit_parameter *p, double u)
{
    return p->low + (p->high - p->low) * share_of(u);
}

/* One on a bound starts a fiftieth inside. */
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

static int residuals(const gsl_vector *u, void *user, gsl_vector *f)
{
    struct job *job = user;
    const struct fit_problem *p = job->problem;
    double x[MAX_FIT_PARAMETERS], *d = ARENA_ARRAY(&job->arena, double, p->n_rows);
    for (size_t i = 0; i < p->n_parameters; i++)
        x[i] = value_of(&p->parameters[i], gsl_vector_get(u, i));
    job->failed |= !p->log_ratios(d, x, p->user, job->err);
    for (size_t i = 0; i < p->n_rows && !job->failed; i++)
        gsl_vector_set(f, i, p->weights ? p->weights[i] * softened(d[i]) : softened(d[i]));
    return job->failed ? GSL_EFAILED : GSL_SUCCESS;
}

/* The step in u that moves x by the parameter's step. */
static double step_of(const struct fit_parameter *p, double u)
{
    double share = share_of(u), step = p->step / (share * (1 - share));
    return fmin(step, 1);
}

static int jacobian(const gsl_vector *u, void *user, gsl_matrix *j)
{
    const struct fit_problem *p = ((struct job *)user)->problem;
    gsl_vector *low = gsl_vector_alloc(p->n_rows), *high = gsl_vector_alloc(p->n_rows), *at = gsl_vector_alloc(u->size);
    int status = GSL_SUCCESS;
    for (size_t k = 0; k < u->size && status == GSL_SUCCESS; k++) {
        double step = step_of(&p->parameters[k], gsl_vector_get(u, k));
        gsl_vector_memcpy(at, u);
        gsl_vector_set(at, k, gsl_vector_get(u, k) - step);
        status = residuals(at, user, low);
        gsl_vector_set(at, k, gsl_vector_get(u, k) + step);
        status = status == GSL_SUCCESS ? residuals(at, user, high) : status;
        for (size_t i = 0; i < p->n_rows; i++)
            gsl_matrix_set(j, i, k, (gsl_vector_get(high, i) - gsl_vector_get(low, i)) / (2 * step));
    }
    gsl_vector_free(low);
    gsl_vector_free(high);
    gsl_vector_free(at);
    return status;
}

static size_t counted_rows(const struct fit_problem *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_rows; i++)
        n += !p->weights || p->weights[i] > 0;
    return n;
}

/* Row k, column i: how far the residual of row k has moved constant i. */
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

static void take_values(struct fit_value *out, const struct fit_problem *p, gsl_multifit_nlinear_workspace *w)
{
    double n = (double)counted_rows(p), spare = n - (double)p->n_parameters;
    gsl_matrix *moved = influences(w);
    for (size_t i = 0; i < p->n_parameters; i++) {
        const struct fit_parameter *k = &p->parameters[i];
        double u = gsl_vector_get(gsl_multifit_nlinear_position(w), i), share = share_of(u);
        double slope = (k->high - k->low) * share * (1 - share);
        gsl_vector_view of_constant = gsl_matrix_column(moved, i);
        out[i] = (struct fit_value){ .value = value_of(k, u), .at_bound = share < 0.01 || share > 0.99,
                                     .standard_error = slope * sqrt(n / spare) * gsl_blas_dnrm2(&of_constant.vector) };
    }
    gsl_matrix_free(moved);
}

/* Near a bound a step is a small one, and many are needed. */
enum { MOST_STEPS = 200 };

/* One descent from shares of the ranges between the bounds. False where GSL fails, with its status. */
static bool descend(gsl_multifit_nlinear_workspace *w, gsl_multifit_nlinear_fdf *fdf, const struct fit_problem *problem, bool from_middle,
                    int *status)
{
    struct job *job = fdf->params;
    gsl_vector *start = gsl_vector_calloc(problem->n_parameters);       /* 0: in the middle */
    int info = 0;
    for (size_t i = 0; i < problem->n_parameters && !from_middle; i++)
        gsl_vector_set(start, i, start_of(&problem->parameters[i]));
    gsl_multifit_nlinear_init(start, fdf, w);
    *status = gsl_multifit_nlinear_driver(MOST_STEPS, 1e-6, 1e-8, 1e-8, NULL, NULL, &info, w);
    gsl_vector_free(start);
    /* Out of steps or of progress is where a fit over whole numbers ends; anything else is a failure. */
    return !job->failed && (*status == GSL_SUCCESS || *status == GSL_EMAXITER || *status == GSL_ENOPROG);
}

bool fit_run(struct fit_value *out, const struct fit_problem *problem, struct err *err)
{
    struct job job = { .problem = problem, .err = err };
    size_t n = problem->n_parameters;
    double best = HUGE_VAL;
    int status = GSL_SUCCESS;
    if (counted_rows(problem) <= n)
        return fail(err, "a fit of %zu constants wants more than %zu rows", n, counted_rows(problem));
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = { .f = residuals, .df = jacobian, .n = problem->n_rows, .p = n, .params = &job };
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, problem->n_rows, n);
    for (int from_middle = 0; from_middle < 2 && descend(w, &fdf, problem, from_middle, &status); from_middle++) {
        double cost = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(w));
        if (cost < best)
            take_values(out, problem, w);
        best = fmin(best, cost);
    }
    bool good = best < HUGE_VAL;
    if (!good && !job.failed)
        fail(err, "the fit: %s", gsl_strerror(status));
    gsl_multifit_nlinear_free(w);
    arena_free(&job.arena);
    return good && !job.failed;
}
