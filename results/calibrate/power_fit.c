/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power_fit.c - fits the energy of a chip's work to measured kernels: what they take besides the chip's idle power.
 *
 * A row is the energy of one call, (power - idle power) / calls per second as measured, so that no error of a predicted time is in it. The law is
 * linear in its constants.
 */
#include "results/calibrate/calibrate.h"
#include "results/published/check.h"

#include <math.h>

static const struct fitted_table *const power_table = &fitted_tables[FITTED_POWER];

struct power_job {
    const struct model_paths *paths;
    const struct figure **rows; size_t n_rows;
    struct plan_cache cache;
};

static bool predict_energy(double *energy_j, const struct figure *f, const double *x, struct power_job *job, struct arena *a, struct err *err)
{
    const char *name = kernel_row_machine(f->recipe, a, err);
    struct machine m;
    if (!name || !machine_load(&m, name, job->paths->specs_dir, a, err))
        return false;
    fitted_table_set(&m.chip, power_table, x);
    return kernel_row_energy(energy_j, f->recipe, &m.chip, &job->cache, a, err);
}

static bool power_log_ratios(double *out, const double *x, void *user, struct err *err)
{
    struct power_job *job = user;
    struct arena scratch = {0};
    bool good = true;
    for (size_t i = 0; good && i < job->n_rows; i++) {
        double energy_j;
        good = predict_energy(&energy_j, job->rows[i], x, job, &scratch, err);
        if (good)
            out[i] = log(energy_j / job->rows[i]->value);
    }
    arena_free(&scratch);
    return good;
}

/* The share of each constant in each row's energy, by what the row lacks without it. */
static bool power_shares(struct power_fit *out, struct power_job *job, struct err *err)
{
    double x[MAX_FITTED], *all = ARENA_ARRAY(out->arena, double, job->n_rows), *less = ARENA_ARRAY(out->arena, double, job->n_rows);
    for (size_t k = 0; k < power_table->n; k++)
        x[k] = out->values[k].value;
    if (!power_log_ratios(all, x, job, err))
        return false;
    for (size_t i = 0; i < job->n_rows; i++)
        out->rows[i] = (struct chip_fit_row){ .recipe = job->rows[i]->id, .error = exp(all[i]) - 1 };
    for (size_t k = 0; k < power_table->n; k++) {
        double value = x[k];
        x[k] = 0;
        if (!power_log_ratios(less, x, job, err))
            return false;
        x[k] = value;
        for (size_t i = 0; i < job->n_rows; i++)
            out->rows[i].share[k] = 1 - exp(less[i] - all[i]);
    }
    return true;
}

bool power_fit_run(struct power_fit *out, const struct figures *figures, const struct model_paths *paths, struct arena *a, struct err *err)
{
    struct power_job job = { .paths = paths, .rows = ARENA_ROOM(a, const struct figure *, figures->n) };
    struct fit_parameter parameters[MAX_FITTED];
    for (size_t i = 0; i < figures->n; i++)
        if (figures->items[i].role == FIGURE_CALIBRATE && text_is(figures->items[i].metric, "energy_above_idle_j"))
            job.rows[job.n_rows++] = &figures->items[i];
    for (size_t k = 0; k < power_table->n; k++) {
        const struct field *f = &power_table->constants[k].field;
        parameters[k] = (struct fit_parameter){ f->name, f->min, f->max, (f->min + f->max) / 4, 0.02 };
    }
    *out = (struct power_fit){ .rows = ARENA_ARRAY(a, struct chip_fit_row, job.n_rows), .n_rows = job.n_rows, .arena = a };
    struct fit_problem p = { .parameters = parameters, .n_parameters = power_table->n, .n_rows = job.n_rows, .log_ratios = power_log_ratios,
                             .user = &job };
    if (!job.n_rows)
        return true;                    /* no chip has a law then */
    bool good = fit_run(out->values, &p, err) && power_shares(out, &job, err);
    plan_cache_free(&job.cache);
    return good;
}

void power_fit_write(FILE *f, const struct power_fit *fit)
{
    struct table t = fitted_sheet();
    const char *source = arena_printf(fit->arena, "fitted by podbench calibrate to the power of %zu kernels of role calibrate in results/published", fit->n_rows);
    for (size_t k = 0; fit->n_rows && k < power_table->n; k++) {
        const struct fitted_constant *c = &power_table->constants[k];
        const struct fit_value *v = &fit->values[k];
        const char *note = arena_printf(fit->arena, "standard error %.2g; bounds %g to %g%s", v->standard_error, c->field.min, c->field.max,
                                        v->at_bound ? "; at a bound" : "");
        table_add(&t, &(struct fitted_value){ arena_printf(fit->arena, "%s.%s", generation_names[c->generation], c->field.name),
                                              arena_printf(fit->arena, "%.4g", v->value), c->field.unit, source, note }, fit->arena);
    }
    table_write(f, FORMAT_CSV, &t);
}

void power_fit_print(FILE *f, const struct power_fit *fit)
{
    fprintf(f, "power: %zu measured kernels; share of each row's energy besides idling, %%:\n ", fit->n_rows);
    for (size_t k = 0; k < power_table->n; k++)
        fprintf(f, " %12s", power_table->constants[k].field.name);
    fprintf(f, "  error %%\n");
    for (size_t i = 0; i < fit->n_rows; i++) {
        fputc(' ', f);
        for (size_t k = 0; k < power_table->n; k++)
            fprintf(f, " %12.2f", 100 * fit->rows[i].share[k]);
        fprintf(f, " %+8.2f  %s\n", 100 * fit->rows[i].error, fit->rows[i].recipe);
    }
}
