/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chip_fit.c - fits the constants of the chips to measured kernels and to throughputs of runs.
 *
 * For a kernel one operation is planned; for a run everything is simulated, with the system's constants from their sheet. Differences are
 * taken over wide steps, 2 % of a constant's range, because a plan is a minimum over whole splits.
 */
#include "results/calibrate/calibration.h"
#include "results/published/check.h"

/* A measured kernel on a chip, or a measured run if `chip` is NULL. */
struct chip_row { const char *recipe; const struct kernel_case *kernel; const struct chip *chip; double log_measured; };
struct chip_job {
    struct chip_row *rows;
    size_t n_rows;
    struct chip *chips;                 /* all chips with fitted constants, as on their sheets */
    size_t n_chips;
    const struct model_paths *paths;
    const struct watch *watch;
    size_t n_predicted;
};

static bool predict_kernel(double *tflop_per_s, const struct chip_row *row, const double *x, struct plan_cache *cache,
                         struct arena *scratch, struct err *err)
{
    struct chip chip = *row->chip;
    struct op_plan plan;
    fitted_constants_set(&chip, x);
    if (!kernel_row_plan(&plan, NULL, row->kernel, &chip, cache, scratch, err))
        return false;
    *tflop_per_s = kernel_row_flop_per_s(row->kernel, &plan, &chip) / 1e12;
    return true;
}

static bool predict_run(double *samples_per_s, const struct chip_row *row, const double *x, const struct chip_job *job,
                            struct plan_cache *cache, struct err *err)
{
    struct model_paths paths = *job->paths;
    struct simulation sim;
    struct result r;
    paths.chip_constants = x;
    bool good = simulate(&sim, &r, row->recipe, NULL, 0, &paths, cache, err);
    *samples_per_s = r.throughput_samples_per_s;
    simulation_free(&sim);
    return good;
}

/* Sets the log ratio of each row, predicted with the values x of the constants. */
static bool chip_log_ratios(double *out, const double *x, void *user, struct err *err)
{
    struct chip_job *job = user;
    struct plan_cache cache = { 0 };
    struct arena scratch = { 0 };
    bool good = true;
    for (size_t i = 0; good && i < job->n_rows; i++) {
        const struct chip_row *row = &job->rows[i];
        double value;
        good = row->chip ? predict_kernel(&value, row, x, &cache, &scratch, err) : predict_run(&value, row, x, job, &cache, err);
        if (good)
            out[i] = log(value) - row->log_measured;
        watch_report(job->watch, "predictions of kernels and runs", ++job->n_predicted, 0);
    }
    plan_cache_free(&cache);
    arena_free(&scratch);
    return good;
}

/* Sets the median error of all rows, and the log ratio of predicted over measured of each row. */
static bool chip_median_error(double *out, double *ratios, struct chip_job *job, const double *x, struct arena *a, struct err *err)
{
    double *d = ARENA_ARRAY(a, double, job->n_rows);
    if (!chip_log_ratios(ratios, x, job, err))
        return false;
    for (size_t i = 0; i < job->n_rows; i++)
        d[i] = fabs(exp(ratios[i]) - 1);
    *out = statistics_median(d, job->n_rows, a);
    return true;
}

static bool load_chips(struct chip_job *job, struct arena *a, struct err *err)
{
    static const char *const names[] = { "gc2", "gc200", "bow", "c600" };
    job->n_chips = sizeof names / sizeof *names;
    job->chips = ARENA_ARRAY(a, struct chip, job->n_chips);
    for (size_t i = 0; i < job->n_chips; i++) {
        struct machine m;
        if (!machine_load(&m, names[i], job->paths->specs_dir, a, err))
            return false;
        job->chips[i] = m.chip;
    }
    return true;
}

static const struct chip *chip_of(const struct chip_job *job, const struct kernel_case *kernel)
{
    return FIND_TEXT(job->chips, job->n_chips, struct chip, name, kernel->machine);
}

/* Adds a row. Rows of one recipe are one measurement, which is their mean. */
static void add_chip_row(struct chip_job *job, uint32_t *n_added, const struct figure *f, const struct chip *chip)
{
    size_t i = 0;
    while (i < job->n_rows && !text_is(job->rows[i].recipe, f->recipe))
        i++;
    if (i == job->n_rows)
        job->rows[job->n_rows++] = (struct chip_row){ f->recipe, f->kernel, chip, 0 };
    n_added[i]++;
    job->rows[i].log_measured += (log(f->value) - job->rows[i].log_measured) / n_added[i];
}

static void read_chip_rows(struct chip_job *job, const struct figures *figures, struct arena *a)
{
    job->rows = ARENA_ROOM(a, struct chip_row, figures->n);
    uint32_t *n_added = ARENA_ARRAY(a, uint32_t, figures->n);
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        if (f->role != FIGURE_CALIBRATE)
            continue;
        const struct chip *chip = f->kernel ? chip_of(job, f->kernel) : NULL;
        if (chip ? text_is(f->metric, "tflop_per_s") : !f->kernel && text_is(f->metric, "throughput_samples_per_s"))
            add_chip_row(job, n_added, f, chip);
    }
}

/* Computes errors with all constants fitted, with all at their open-source values, and with one at a time at its open-source value. */
static bool chip_errors(struct chip_fit *out, struct chip_job *job, struct arena *a, struct err *err)
{
    double x[MAX_FITTED], before[MAX_FITTED], *fitted = ARENA_ARRAY(a, double, job->n_rows), *other = ARENA_ARRAY(a, double, job->n_rows);
    out->n_rows = job->n_rows;
    out->rows = ARENA_ARRAY(a, struct chip_fit_row, job->n_rows);
    for (size_t k = 0; k < n_fitted_constants; k++) {
        x[k] = out->values[k].value;
        before[k] = fitted_constants[k].open_source_value;
    }
    if (!chip_median_error(&out->median_before, other, job, before, a, err) || !chip_median_error(&out->median_after, fitted, job, x, a, err))
        return false;
    for (size_t i = 0; i < job->n_rows; i++)
        out->rows[i] = (struct chip_fit_row){ .recipe = job->rows[i].recipe, .error = exp(fitted[i]) - 1 };
    for (size_t k = 0; k < n_fitted_constants; k++) {
        x[k] = before[k];
        if (!chip_median_error(&out->median_default[k], other, job, x, a, err))
            return false;
        for (size_t i = 0; i < job->n_rows; i++)
            out->rows[i].share[k] = 1 - exp(fitted[i] - other[i]);
        x[k] = out->values[k].value;
    }
    return true;
}

bool chip_fit_run(struct chip_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err)
{
    struct chip_job job = { .paths = paths, .watch = watch };
    struct fit_parameter parameters[MAX_FITTED];
    if (!load_chips(&job, a, err))
        return false;
    read_chip_rows(&job, figures, a);
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        double middle = (k->field.min + k->field.max) / 2;         /* starts in the middle, because the defaults lie on bounds */
        parameters[i] = (struct fit_parameter){ k->field.name, k->field.min, k->field.max, middle, 0.02 };
    }
    struct fit_problem p = { .parameters = parameters, .n_parameters = n_fitted_constants, .n_rows = job.n_rows,
                             .log_ratios = chip_log_ratios, .user = &job };
    if (!fit_run(out->values, &p, err))
        return false;
    bool good = chip_errors(out, &job, a, err);
    watch_report(watch, NULL, 0, 0);
    return good;
}

void chip_fit_write(FILE *f, const struct chip_fit *fit, const char *table, const struct fitted_value *also)
{
    struct arena a = {0};
    struct table t = fitted_sheet();
    const char *source = arena_printf(&a, "fitted to %s, %zu rows, by least squares on log ratios", table, fit->n_rows);
    for (size_t i = 0; i < n_fitted_constants; i++) {
        const struct fitted_constant *k = &fitted_constants[i];
        const struct fit_value *v = &fit->values[i];
        int digits = k->field.type == FIELD_U64 ? 0 : 3;
        const char *note = arena_printf(&a, "standard error %.*f; bounds %g to %g; open source %g%s", digits, v->standard_error, k->field.min,
                                        k->field.max, k->open_source_value, v->at_bound ? "; at a bound" : "");
        table_add(&t, &(struct fitted_value){ arena_printf(&a, "%s.%s", generation_names[k->generation], k->field.name),
                                              arena_printf(&a, "%.*f", digits, v->value), k->field.unit, source, note }, &a);
    }
    if (also->key)
        table_add(&t, also, &a);
    table_write(f, FORMAT_CSV, &t);
    arena_free(&a);
}

static void print_constant(FILE *f, const struct chip_fit *fit, size_t k)
{
    const struct fitted_constant *c = &fitted_constants[k];
    const struct fit_value *v = &fit->values[k];
    fprintf(f, "  %s.%-20s %8.4g %-6s +- %.2g%s  (bounds %g to %g, open source %g: median error %.2f %%)  %s\n", generation_names[c->generation],
            c->field.name, v->value, c->field.unit, v->standard_error, v->at_bound ? ", at its bound" : "", c->field.min, c->field.max,
            c->open_source_value, 100 * fit->median_default[k], c->field.help);
}

void chip_fit_print(FILE *f, const struct chip_fit *fit)
{
    fprintf(f, "chips: %zu measured kernels and runs, median error %.2f %% with open-source constants, %.2f %% fitted\n", fit->n_rows,
            100 * fit->median_before, 100 * fit->median_after);
    for (size_t k = 0; k < n_fitted_constants; k++)
        print_constant(f, fit, k);
    fprintf(f, "  share of each row's time, %%:\n ");
    for (size_t k = 0; k < n_fitted_constants; k++)
        fprintf(f, " %s.%s", generation_names[fitted_constants[k].generation], fitted_constants[k].field.name);
    fprintf(f, "  error %%\n");
    for (size_t i = 0; i < fit->n_rows; i++) {
        for (size_t k = 0; k < n_fitted_constants; k++)
            fprintf(f, " %*.2f", (int)strlen(fitted_constants[k].field.name) + 5, 100 * fit->rows[i].share[k]);
        fprintf(f, " %+8.2f  %s\n", 100 * fit->rows[i].error, fit->rows[i].recipe);
    }
}
