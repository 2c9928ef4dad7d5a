/*
 * kernel_fit.c - nonlinear least squares over log ratios of predicted to measured kernels.
 *
 * Residual of a row: d = ln(predicted / measured), softened to sign(d) sqrt(s ln(1 + d^2 / s)) with s = 0.1^2 (Cauchy's
 * loss): a row that misses for a cause that is not modelled pulls little. Levenberg-Marquardt from GSL,
 * with the Jacobian by differences of a few per cent (a plan is a minimum over whole splits: smaller steps see nothing). A
 * parameter u stands for x = low + (high - low) / (1 + exp(-u)), which keeps the bounds. A standard error is the square root of the covariance's diagonal, scaled by the residuals.
 */
#include "results/kernel_fit.h"
#include "results/kernel_rows.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_row { const char *recipe; const struct chip *chip; double log_measured; size_t chip_index; };
struct fit_job {
    struct fit_row *rows;
    size_t n_rows;
    struct chip chips[MAX_FITTED];      /* as the sheets have them, without a fit */
    size_t n_chips;
    struct arena *arena;
    struct err *err;
    bool failed;
};

/* u = 0 is the middle of the bounds, where every fit starts. */
static double constant_of(const struct fitted_constant *k, double u)
{
    return k->field.min + (k->field.max - k->field.min) / (1 + exp(-u));
}

/* d x / d u */
static double slope_of(const struct fitted_constant *k, double u)
{
    double share = 1 / (1 + exp(-u));
    return (k->field.max - k->field.min) * share * (1 - share);
}

static void chips_with(struct chip *out, const struct fit_job *job, const double *x)
{
    memcpy(out, job->chips, sizeof job->chips);
    for (size_t c = 0; c < job->n_chips; c++)
        for (size_t i = 0; i < n_fitted_constants; i++)
            if (text_is(fitted_constants[i].chip, job->chips[c].name))
                fitted_constant_set(&out[c], &fitted_constants[i], x[i]);
}

/* x: values of the constants. */
static bool log_ratios(double *out, struct fit_job *job, const double *x)
{
    struct chip chips[MAX_FITTED];
    struct plan_cache cache = { 0 };
    struct arena scratch = { 0 };
    bool good = true;
    chips_with(chips, job, x);
    for (size_t i = 0; good && i < job->n_rows; i++) {
        const struct chip *chip = &chips[job->rows[i].chip_index];
        struct op_plan plan;
        good = kernel_row_plan(&plan, job->rows[i].recipe, chip, &cache, &scratch, job->err);
        if (good)
            out[i] = log(2e-12 * (double)plan.mac * chip->clock_hz / (double)op_plan_cycles(&plan)) - job->rows[i].log_measured;
    }
    plan_cache_free(&cache);
    arena_free(&scratch);
    return good;
}

static double softened(double d)
{
    const double s = 0.01;
    return copysign(sqrt(s * log(1 + d * d / s)), d);
}

static int residuals(const gsl_vector *u, void *user, gsl_vector *f)
{
    struct fit_job *job = user;
    double x[MAX_FITTED], *d = ARENA_ARRAY(job->arena, double, job->n_rows);
    for (size_t i = 0; i < u->size; i++)
        x[i] = constant_of(&fitted_constants[i], gsl_vector_get(u, i));
    job->failed |= !log_ratios(d, job, x);
    for (size_t i = 0; i < job->n_rows; i++)
        gsl_vector_set(f, i, softened(d[i]));
    return job->failed ? GSL_EFAILED : GSL_SUCCESS;
}

/* The step in u that moves x by 4 % of its range's middle. */
static double step_of(const struct fitted_constant *k, double u)
{
    double step = 0.02 * (k->field.min + k->field.max) / slope_of(k, u);
    return step > 1 ? 1 : step;
}

static int jacobian(const gsl_vector *x, void *user, gsl_matrix *j)
{
    struct fit_job *job = user;
    gsl_vector *low = gsl_vector_alloc(job->n_rows), *high = gsl_vector_alloc(job->n_rows);
    gsl_vector *at = gsl_vector_alloc(x->size);
    int status = GSL_SUCCESS;
    for (size_t p = 0; p < x->size && status == GSL_SUCCESS; p++) {
        double step = step_of(&fitted_constants[p], gsl_vector_get(x, p));
        gsl_vector_memcpy(at, x);
        gsl_vector_set(at, p, gsl_vector_get(x, p) - step);
        status = residuals(at, user, low);
        gsl_vector_set(at, p, gsl_vector_get(x, p) + step);
        status = status == GSL_SUCCESS ? residuals(at, user, high) : status;
        for (size_t i = 0; i < job->n_rows; i++)
            gsl_matrix_set(j, i, p, (gsl_vector_get(high, i) - gsl_vector_get(low, i)) / (2 * step));
    }
    gsl_vector_free(low);
    gsl_vector_free(high);
    gsl_vector_free(at);
    return status;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_error(struct fit_job *job, const double *x)
{
    double *d = ARENA_ARRAY(job->arena, double, job->n_rows);
    job->failed |= !log_ratios(d, job, x);
    for (size_t i = 0; i < job->n_rows; i++)
        d[i] = fabs(exp(d[i]) - 1);
    qsort(d, job->n_rows, sizeof *d, order);
    return d[job->n_rows / 2];
}

/* A parameter no row depends on leaves a column of zeros: its error is not defined. */
static void take_result(struct kernel_fit *out, struct fit_job *job, gsl_multifit_nlinear_workspace *w)
{
    size_t n = n_fitted_constants;
    double before[MAX_FITTED], after[MAX_FITTED], chi2 = 0;
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    const gsl_vector *f = gsl_multifit_nlinear_residual(w);
    gsl_blas_ddot(f, f, &chi2);
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 1e-12, covariance);
    for (size_t i = 0; i < n; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        double u = gsl_vector_get(gsl_multifit_nlinear_position(w), i), share = 1 / (1 + exp(-u));
        double sigma = slope_of(k, u) * sqrt(chi2 / (double)(job->n_rows - n) * gsl_matrix_get(covariance, i, i));
        after[i] = constant_of(k, u);
        before[i] = k->open_source_value;
        out->values[i] = (struct kernel_fit_value){ .value = after[i], .standard_error = sigma,
                                                    .at_bound = share < 0.01 || share > 0.99 };
    }
    gsl_matrix_free(covariance);
    out->n_rows = job->n_rows;
    out->median_before = median_error(job, before);
    out->median_after = median_error(job, after);
}

static bool solve(struct kernel_fit *out, struct fit_job *job)
{
    size_t n = n_fitted_constants;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf problem = { .f = residuals, .df = jacobian, .n = job->n_rows, .p = n, .params = job };
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, job->n_rows, n);
    gsl_vector *start = gsl_vector_calloc(n);
    int info = 0;
    gsl_multifit_nlinear_init(start, &problem, w);
    int status = gsl_multifit_nlinear_driver(12, 1e-3, 1e-6, 1e-6, NULL, NULL, &info, w);
    /* Out of steps or of progress is where a fit of whole splits ends; anything else is a failure. */
    bool good = !job->failed && (status == GSL_SUCCESS || status == GSL_EMAXITER || status == GSL_ENOPROG);
    if (good)
        take_result(out, job, w);
    else if (!job->failed)
        fail(job->err, "the fit of the kernels: %s", gsl_strerror(status));
    gsl_vector_free(start);
    gsl_multifit_nlinear_free(w);
    return good && !job->failed;
}

static bool load_chips(struct fit_job *job, const char *specs_dir, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const char *name = fitted_constants[i].chip;
        size_t c = 0;
        while (c < job->n_chips && !text_is(job->chips[c].name, name))
            c++;
        struct machine m;
        if (c < job->n_chips)
            continue;
        if (!machine_load(&m, name, specs_dir, a, err))
            return false;
        job->chips[job->n_chips++] = m.chip;
    }
    return true;
}

static void take_rows(struct fit_job *job, const struct figures *figures, struct arena *a)
{
    job->rows = ARENA_ARRAY(a, struct fit_row, figures->n + 1);
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        if (f->role != FIGURE_CALIBRATE || !is_kernel_recipe(f->recipe) || !text_is(f->metric, "tflop_per_s"))
            continue;
        for (size_t c = 0; c < job->n_chips; c++)
            if (strstr(f->recipe, arena_printf(a, "machine=%s;", job->chips[c].name)))
                job->rows[job->n_rows++] = (struct fit_row){ f->recipe, &job->chips[c], log(f->value), c };
    }
}

bool kernel_fit_run(struct kernel_fit *out, const struct figures *figures, const char *specs_dir, struct arena *a,
                    struct err *err)
{
    struct fit_job job = { .arena = a, .err = err };
    if (!load_chips(&job, specs_dir, a, err))
        return false;
    take_rows(&job, figures, a);
    if (job.n_rows <= n_fitted_constants)
        return fail(err, "%zu measured kernels to calibrate by; want more than the %zu constants", job.n_rows,
                    n_fitted_constants);
    gsl_set_error_handler_off();
    return solve(out, &job);
}

void kernel_fit_write(FILE *f, const struct kernel_fit *fit, const char *table)
{
    fprintf(f, "key,value,unit,source,note\n");
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        const struct kernel_fit_value *v = &fit->values[i];
        bool whole = k->field.type == FIELD_U64;
        fprintf(f, "%s.%s,%.*f,%s,\"fitted to %s, %zu rows, by least squares on log ratios\",", k->chip, k->field.name,
                whole ? 0 : 3, v->value, k->field.unit, table, fit->n_rows);
        fprintf(f, "\"standard error %.*f; bounds %g to %g; open source %g%s\"\n", whole ? 0 : 3, v->standard_error,
                k->field.min, k->field.max, k->open_source_value, v->at_bound ? "; at a bound" : "");
    }
}
