/*
 * system_fit.c - each row is a published throughput, of training or of one-chip inference; its prediction is a whole simulation with the constants set.
 *
 * A simulation's step splits into what the constants do not touch and what they add, but the fit does not use that: it
 * simulates again, as any constant may one day change a plan. Rows of one recipe are left out together in the
 * leave-one-out error, or the row would be judged by its twin.
 */
#include "results/calibration/system_fit.h"
#include "system-model/base/statistics.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct fit_job {
    const struct figure **rows;
    size_t n_rows;
    const struct model_paths *paths;
    struct plan_cache cache;
};

static bool may_calibrate(const struct figure *f)
{
    return f->role == FIGURE_CALIBRATE && text_is(f->metric, "throughput_samples_per_s");
}

/* A published row may wait for its recipe. */
static bool has_recipe(const struct fit_job *job, const char *recipe, struct arena *a)
{
    return strchr(recipe, '/') || access(arena_printf(a, "%s/%s.ini", job->paths->recipes_dir, recipe), F_OK) == 0;
}

static bool log_ratios(double *out, const double *x, void *user, struct err *err)
{
    struct fit_job *job = user;
    for (size_t i = 0; i < job->n_rows; i++) {
        struct simulation sim = {0};
        struct result r;
        struct fitted_system fitted = {0};
        for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
            *(double *)((char *)&fitted + system_constants[k].field.offset) = x[k];
        struct model_paths paths = *job->paths;
        paths.fitted = &fitted;
        bool good = simulate(&sim, &r, job->rows[i]->recipe, NULL, 0, &paths, &job->cache, err);
        if (good)
            out[i] = log(r.throughput_samples_per_s / job->rows[i]->value);
        simulation_free(&sim);
        if (!good)
            return false;
    }
    return true;
}

static double median_error(const double *log_ratio, size_t n, struct arena *a)
{
    double *errors = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        errors[i] = fabs(exp(log_ratio[i]) - 1);
    return statistics_median(errors, n, a);
}

static bool leave_out(double *out, struct fit_problem p, struct fit_job *job, struct arena *a, struct err *err)
{
    double *weights = ARENA_ARRAY(a, double, job->n_rows), *d = ARENA_ARRAY(a, double, job->n_rows);
    p.weights = weights;
    for (size_t i = 0; i < job->n_rows; i++) {
        struct fit_value values[N_SYSTEM_CONSTANTS];
        double x[N_SYSTEM_CONSTANTS];
        for (size_t k = 0; k < job->n_rows; k++)
            weights[k] = !text_is(job->rows[k]->recipe, job->rows[i]->recipe);
        if (!fit_run(values, &p, err))
            return false;
        for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
            x[k] = values[k].value;
        if (!log_ratios(d, x, job, err))
            return false;
        out[i] = d[i];
    }
    return true;
}

static void take_rows(struct fit_job *job, const struct figures *figures, struct arena *a)
{
    job->rows = ARENA_ARRAY(a, const struct figure *, figures->n);
    for (size_t i = 0; i < figures->n; i++)
        if (may_calibrate(&figures->items[i]) && has_recipe(job, figures->items[i].recipe, a))
            job->rows[job->n_rows++] = &figures->items[i];
}

static bool run(struct system_fit *out, struct fit_job *job, struct arena *a, struct err *err)
{
    struct fit_parameter parameters[N_SYSTEM_CONSTANTS];
    double x[N_SYSTEM_CONSTANTS], *d = ARENA_ARRAY(a, double, job->n_rows);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct system_constant *c = &system_constants[k];
        parameters[k] = (struct fit_parameter){ c->field.name, c->field.min, c->field.max, c->unfitted_value, 0.01 };
        x[k] = c->unfitted_value;
    }
    struct fit_problem p = { .parameters = parameters, .n_parameters = N_SYSTEM_CONSTANTS, .n_rows = job->n_rows,
                             .log_ratios = log_ratios, .user = job };
    out->n_rows = job->n_rows;
    if (!log_ratios(d, x, job, err))
        return false;
    out->median_unfitted = median_error(d, job->n_rows, a);
    if (!fit_run(out->values, &p, err))
        return false;
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        x[k] = out->values[k].value;
    if (!log_ratios(d, x, job, err))
        return false;
    out->median_fitted = median_error(d, job->n_rows, a);
    if (!leave_out(d, p, job, a, err))
        return false;
    out->median_left_out = median_error(d, job->n_rows, a);
    out->left_out_spread = statistics_spread_about_zero(d, job->n_rows, a);
    return true;
}

bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, struct arena *a,
                    struct err *err)
{
    struct fit_job job = { .paths = paths };
    *out = (struct system_fit){0};
    take_rows(&job, figures, a);
    bool good = run(out, &job, a, err);
    plan_cache_free(&job.cache);
    return good;
}

void system_fit_write(FILE *f, const struct system_fit *fit)
{
    fputs("key,value,unit,source,note\n", f);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct field *c = &system_constants[k].field;
        fprintf(f, "%s,%.4g,%s,\"fitted by podbench calibrate to the %zu throughputs of role calibrate in results/published\","
                "\"standard error %.2g; bounds %g to %g; unfitted %g\"\n", c->name, fit->values[k].value, c->unit, fit->n_rows,
                fit->values[k].standard_error, c->min, c->max, system_constants[k].unfitted_value);
    }
    fprintf(f, "%s,%.4g,%s,\"1.4826 x median of |ln(simulated / published)| over the same %zu rows, each predicted by the fit to the others\","
            "\"not fitted: the error of a throughput that the calibration has not seen\"\n", throughput_error_field.name,
            fit->left_out_spread, throughput_error_field.unit, fit->n_rows);
}

void system_fit_print(FILE *f, const struct system_fit *fit)
{
    fprintf(f, "system: %zu rows, median error %.2f %% unfitted, %.2f %% fitted, %.2f %% left out (spread %.2f %%)\n", fit->n_rows,
            100 * fit->median_unfitted, 100 * fit->median_fitted, 100 * fit->median_left_out, 100 * fit->left_out_spread);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct field *c = &system_constants[k].field;
        fprintf(f, "  %-20s %10.4g %-6s +- %.2g%s  (bounds %g to %g, unfitted %g)  %s\n", c->name, fit->values[k].value, c->unit,
                fit->values[k].standard_error, fit->values[k].at_bound ? ", at its bound" : "", c->min, c->max,
                system_constants[k].unfitted_value, c->help);
    }
}
