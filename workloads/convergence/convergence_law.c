/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_law.c - fits the law of convergence_law.h by GSL's nonlinear least squares (trust region, Levenberg-
 * Marquardt).
 *
 * The parameters are ln E0, ln Bc and g. Standard errors are the square roots of the covariance's diagonal times
 * sqrt(chi^2 / (n - p)); an exact fit (n = p) reports 0.
 */
#include "workloads/convergence/convergence_law.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

enum { MOST_LAW_POINTS = 64, MOST_LAW_ITERATIONS = 500 };

struct problem { double batch[MOST_LAW_POINTS], ln_e[MOST_LAW_POINTS]; size_t n; bool free_g; };

double law_at(const struct convergence_law *l, double batch)
{
    return l->e0 * (1 + pow(batch / l->bc, l->g));
}

/* The steps E(B) / B have their minimum where (g - 1) (B / Bc)^g = 1. */
double law_beyond(const struct convergence_law *l, double batch)
{
    double least_steps = l->bc * pow(fmax(l->g - 1, 0), -1 / l->g);     /* infinite for an exponent up to 1 */
    return batch <= least_steps ? law_at(l, batch) : law_at(l, least_steps) * batch / least_steps;
}

double law_through(const struct convergence_law *l, const struct rcp_point *end, double batch)
{
    return end->mean * law_beyond(l, batch) / law_beyond(l, end->batch);
}

/* ---- law_residuals and their derivatives -------------------------------------------------------- */

static double exponent(const gsl_vector *x, const struct problem *p) { return p->free_g ? gsl_vector_get(x, 2) : 1; }

static int law_residuals(const gsl_vector *x, void *data, gsl_vector *f)
{
    const struct problem *p = data;
    for (size_t i = 0; i < p->n; i++) {
        double z = exponent(x, p) * (log(p->batch[i]) - gsl_vector_get(x, 1));
        gsl_vector_set(f, i, gsl_vector_get(x, 0) + log1p(exp(z)) - p->ln_e[i]);
    }
    return GSL_SUCCESS;
}

static int law_jacobian(const gsl_vector *x, void *data, gsl_matrix *j)
{
    const struct problem *p = data;
    double g = exponent(x, p);
    for (size_t i = 0; i < p->n; i++) {
        double distance = log(p->batch[i]) - gsl_vector_get(x, 1), weight = 1 / (1 + exp(-g * distance));
        gsl_matrix_set(j, i, 0, 1);
        gsl_matrix_set(j, i, 1, -g * weight);
        if (p->free_g)
            gsl_matrix_set(j, i, 2, distance * weight);
    }
    return GSL_SUCCESS;
}

/* ---- one fit ---------------------------------------------------------------------------------- */

static void take_solution(struct convergence_law *out, gsl_multifit_nlinear_workspace *w, const struct problem *p, size_t n_params)
{
    const gsl_vector *x = gsl_multifit_nlinear_position(w), *f = gsl_multifit_nlinear_residual(w);
    gsl_matrix *covariance = gsl_matrix_alloc(n_params, n_params);
    double chi2;
    gsl_blas_ddot(f, f, &chi2);
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, covariance);
    double scale = p->n > n_params ? sqrt(chi2 / (double)(p->n - n_params)) : 0;
    out->n = p->n;
    out->e0 = exp(gsl_vector_get(x, 0));
    out->bc = exp(gsl_vector_get(x, 1));
    out->g = exponent(x, p);
    out->e0_error = out->e0 * scale * sqrt(gsl_matrix_get(covariance, 0, 0));
    out->bc_error = out->bc * scale * sqrt(gsl_matrix_get(covariance, 1, 1));
    out->g_error = p->free_g ? scale * sqrt(gsl_matrix_get(covariance, 2, 2)) : 0;
    out->rms = sqrt(chi2 / (double)p->n);
    gsl_matrix_free(covariance);
}

static bool solve(struct convergence_law *out, struct problem *p, struct err *err)
{
    size_t n_params = p->free_g ? 3 : 2;
    int info;
    if (p->n < n_params)
        return fail(err, "%zu reference points are too few for a law of %zu parameters", p->n, n_params);
    double least = p->ln_e[0], most_batch = p->batch[0];
    for (size_t i = 1; i < p->n; i++) {
        least = fmin(least, p->ln_e[i]);
        most_batch = fmax(most_batch, p->batch[i]);
    }
    double start[3] = { least, log(most_batch / 2), 1 };
    gsl_vector_view x = gsl_vector_view_array(start, n_params);
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = { .f = law_residuals, .df = law_jacobian, .n = p->n, .p = n_params, .params = p };
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, p->n, n_params);
    gsl_multifit_nlinear_init(&x.vector, &fdf, w);
    int status = gsl_multifit_nlinear_driver(MOST_LAW_ITERATIONS, 1e-10, 1e-12, 0, NULL, NULL, &info, w);
    if (status == GSL_SUCCESS)
        take_solution(out, w, p, n_params);
    gsl_multifit_nlinear_free(w);
    gsl_set_error_handler(old);
    return status == GSL_SUCCESS || fail(err, "the law's least squares: %s", gsl_strerror(status));
}

static void take_points(struct problem *p, const struct rcp_table *t, size_t left_out)
{
    p->n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (i == left_out)
            continue;
        p->batch[p->n] = t->points[i].batch;
        p->ln_e[p->n++] = log(t->points[i].mean);
    }
}

static double law_loo(const struct rcp_table *t, bool free_g)
{
    struct problem p = { .free_g = free_g };
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct convergence_law l;
        take_points(&p, t, i);
        if (!solve(&l, &p, NULL))
            return NAN;
        double error = log(law_at(&l, t->points[i].batch) / t->points[i].mean);
        sum += error * error;
    }
    return sqrt(sum / (double)t->n);
}

bool law_fit(struct convergence_law *out, const struct rcp_table *t, bool free_g, struct err *err)
{
    struct problem p = { .free_g = free_g };
    *out = (struct convergence_law){ 0 };
    if (t->n > MOST_LAW_POINTS)
        return fail(err, "%zu reference points, a law is fitted to at most %d", t->n, MOST_LAW_POINTS);
    take_points(&p, t, t->n);
    if (!solve(out, &p, err))
        return false;
    out->loo = law_loo(t, free_g);
    return true;
}

bool law_choose(struct convergence_law *out, const struct rcp_table *t, struct err *err)
{
    struct convergence_law wide;
    if (!law_fit(out, t, false, err))
        return false;
    if (law_fit(&wide, t, true, NULL) && wide.loo < out->loo)
        *out = wide;
    return true;
}
