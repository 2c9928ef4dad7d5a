/*
 * kernel_fit.c - the chips' fitted constants against measured kernels: one operation planned for each row.
 *
 * The steps of the differences are wide, 2 % of a constant's range: a plan is a minimum over whole splits.
 */
#include "results/kernel_fit.h"
#include "results/kernel_rows.h"
#include "results/statistics.h"

#include <math.h>
#include <string.h>

struct fit_row { const char *recipe; const struct chip *chip; double log_measured; size_t chip_index; };
struct fit_job {
    struct fit_row *rows;
    size_t n_rows;
    struct chip chips[MAX_FITTED];      /* as the sheets have them, without a fit */
    size_t n_chips;
};

static void chips_with(struct chip *out, const struct fit_job *job, const double *x)
{
    memcpy(out, job->chips, sizeof job->chips);
    for (size_t c = 0; c < job->n_chips; c++)
        for (size_t i = 0; i < n_fitted_constants; i++)
            if (text_is(fitted_constants[i].chip, job->chips[c].name))
                fitted_constant_set(&out[c], &fitted_constants[i], x[i]);
}

/* x: values of the constants. */
static bool log_ratios(double *out, const double *x, void *user, struct err *err)
{
    struct fit_job *job = user;
    struct chip chips[MAX_FITTED];
    struct plan_cache cache = { 0 };
    struct arena scratch = { 0 };
    bool good = true;
    chips_with(chips, job, x);
    for (size_t i = 0; good && i < job->n_rows; i++) {
        const struct chip *chip = &chips[job->rows[i].chip_index];
        struct op_plan plan;
        good = kernel_row_plan(&plan, job->rows[i].recipe, chip, &cache, &scratch, err);
        if (good)
            out[i] = log(2e-12 * (double)plan.mac * chip->clock_hz / (double)op_plan_cycles(&plan)) - job->rows[i].log_measured;
    }
    plan_cache_free(&cache);
    arena_free(&scratch);
    return good;
}

static bool median_error(double *out, struct fit_job *job, const double *x, struct arena *a, struct err *err)
{
    double *d = ARENA_ARRAY(a, double, job->n_rows);
    if (!log_ratios(d, x, job, err))
        return false;
    for (size_t i = 0; i < job->n_rows; i++)
        d[i] = fabs(exp(d[i]) - 1);
    *out = statistics_median(d, job->n_rows, a);
    return true;
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
    struct fit_job job = {0};
    struct fit_parameter parameters[MAX_FITTED];
    double before[MAX_FITTED], after[MAX_FITTED];
    if (!load_chips(&job, specs_dir, a, err))
        return false;
    take_rows(&job, figures, a);
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        parameters[i] = (struct fit_parameter){ k->field.name, k->field.min, k->field.max, k->open_source_value, 0.02 };
        before[i] = k->open_source_value;
    }
    struct fit_problem p = { .parameters = parameters, .n_parameters = n_fitted_constants, .n_rows = job.n_rows,
                             .log_ratios = log_ratios, .user = &job };
    if (!fit_run(out->values, &p, err))
        return false;
    for (size_t i = 0; i < n_fitted_constants; i++)
        after[i] = out->values[i].value;
    out->n_rows = job.n_rows;
    return median_error(&out->median_before, &job, before, a, err) && median_error(&out->median_after, &job, after, a, err);
}

void kernel_fit_write(FILE *f, const struct kernel_fit *fit, const char *table)
{
    fprintf(f, "key,value,unit,source,note\n");
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        const struct fit_value *v = &fit->values[i];
        bool whole = k->field.type == FIELD_U64;
        fprintf(f, "%s.%s,%.*f,%s,\"fitted to %s, %zu rows, by least squares on log ratios\",", k->chip, k->field.name,
                whole ? 0 : 3, v->value, k->field.unit, table, fit->n_rows);
        fprintf(f, "\"standard error %.*f; bounds %g to %g; open source %g%s\"\n", whole ? 0 : 3, v->standard_error,
                k->field.min, k->field.max, k->open_source_value, v->at_bound ? "; at a bound" : "");
    }
}
