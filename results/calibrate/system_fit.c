/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system_fit.c - fits the constants of the software around the chips to the log ratios of published times of steps and evaluations.
 *
 * Every constant is a time that a step spends a fixed number of times, so a row's time is linear in each constant. One simulation with all
 * constants at their defaults, and one more for each constant, give these lines; the fit itself simulates nothing. Its result is simulated at
 * the end as a check. If the check disagrees, some time is not linear, and the fit is repeated with slopes from the defaults to the values
 * found.
 *
 * If the loops of a model were all predicted too fast, slow updates would seem to be the cause. So a share of the loop is fitted together with
 * the constants, for each family of models, separately for training and for forward passes. Neither predictions nor errors use it, not even
 * errors of left-out rows.
 *
 * A constant returns to its default if it ends at a bound, or if left-out configurations are predicted better without it, the most harmful
 * constant first; the others are then fitted again. Rows of one configuration count as one and are left out together, because otherwise a row
 * would be predicted from its own repeat.
 */
#include "results/calibrate/calibration.h"

#include <unistd.h>

static const double LARGEST_LOOP_ERROR = 0.5;
enum { MAX_SECANTS = 4 };
_Static_assert(N_SYSTEM_CONSTANTS + MAX_LOOP_GROUPS <= MAX_FIT_PARAMETERS, "the parameters have room for all");

struct row_job {
    struct system_fit *fit;
    const struct model_paths *paths;
    struct plan_cache cache;
    const struct watch *watch;
    size_t n_simulated;
};

struct line_job { struct system_fit *fit; double *weights; };

static bool is_time_of(const char *metric)
{
    return text_is(metric, "throughput_samples_per_s") || text_is(metric, "evaluation_time_s");
}

/* True if the row's recipe exists; some published rows have none yet. */
static bool has_recipe(const char *recipe, const struct model_paths *paths, struct arena *a)
{
    return recipe && *recipe && !recipe_is_missing(recipe, paths->recipes_dir, a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The share of the step before the first span of the update or of a call. */
static double loop_share(const struct timeline *t)
{
    uint64_t first = t->step_cycles;
    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].kind >= SPAN_REARRANGE && t->spans[i].start_cycle < first)
            first = t->spans[i].start_cycle;
    return (double)first / (double)t->step_cycles;
}

/* The group of a row's loop: its family of models, and training or forward passes. */
static size_t loop_group_of(struct system_fit *fit, const struct recipe *r, bool forward)
{
    const struct workload *w = workload_find(r->workload, NULL);
    const char *family = w ? w->family : "other";
    bool training = r->mode == MODE_TRAIN && !forward;
    size_t i = 0;
    while (i < fit->n_groups && !(text_is(fit->groups[i].family, family) && fit->groups[i].training == training))
        i++;
    if (i == MAX_LOOP_GROUPS)
        return i - 1;
    if (i == fit->n_groups)
        fit->groups[fit->n_groups++] = (struct loop_group){ .family = family, .training = training };
    return i;
}

/* Simulates a row's time, and sets the part of it that is loop. An evaluation by forward passes is all loop, because the fitted constants hold
 * its calls. */
static bool simulate_system_row(struct system_row *row, double *time_s, const double *x, struct row_job *job, struct err *err)
{
    const struct figure *f = row->figure;
    struct simulation sim;
    struct result r;
    struct fitted_system fitted = {0};
    struct model_paths paths = *job->paths;
    bool evaluation = text_is(f->metric, "evaluation_time_s");
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        *(double *)((char *)&fitted + system_constants[k].field.offset) = x[k];
    paths.fitted = &fitted;
    bool good = simulate(&sim, &r, f->recipe, NULL, 0, &paths, &job->cache, err);
    if (good) {
        *time_s = evaluation ? r.evaluation_time_s : r.step_time_s;
        row->published_s = evaluation ? f->value : r.global_batch / f->value;
        bool forward = evaluation && sim.recipe.eval_program == EVAL_FORWARD;
        row->loop_s = *time_s * (forward ? 1 : loop_share(&sim.timeline));
        row->group = loop_group_of(job->fit, &sim.recipe, forward);
    }
    simulation_free(&sim);
    watch_report(job->watch, "simulations of published runs", ++job->n_simulated, 0);
    return good;
}

static void set_defaults(double *x)
{
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        x[k] = system_constants[k].unfitted_value;
}

/* Simulates a row's base and slopes. A slope is taken over a hundredth of the constant's range, so that rounding to cycles does not matter. */
static bool read_system_row(struct system_row *row, const struct figure *f, struct row_job *job, struct err *err)
{
    double x[N_SYSTEM_CONSTANTS], raised_s;
    *row = (struct system_row){ .figure = f };
    set_defaults(x);
    if (!simulate_system_row(row, &row->base_s, x, job, err))
        return false;
    double loop_s = row->loop_s;
    job->fit->groups[row->group].n_rows++;
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        double by = (system_constants[k].field.max - system_constants[k].field.min) / 100;
        x[k] += by;
        if (!simulate_system_row(row, &raised_s, x, job, err))
            return false;
        x[k] -= by;
        row->slope[k] = (raised_s - row->base_s) / by;
    }
    row->loop_s = loop_s;
    return true;
}

static bool read_system_rows(struct row_job *job, const struct figures *figures, struct arena *a, struct err *err)
{
    struct system_fit *fit = job->fit;
    fit->rows = ARENA_ROOM(a, struct system_row, figures->n);
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        if (f->role != FIGURE_CALIBRATE || !is_time_of(f->metric) || !has_recipe(f->recipe, job->paths, a))
            continue;
        if (!read_system_row(&fit->rows[fit->n_rows++], f, job, err))
            return false;
    }
    return true;
}

/* ---- the lines -------------------------------------------------------------------------------- */

static double row_time_s(const struct system_row *row, const double *x)
{
    double time_s = row->base_s;
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        time_s += row->slope[k] * (x[k] - system_constants[k].unfitted_value);
    return time_s;
}

static double log_ratio(const struct system_row *row, const double *x)
{
    return log(row->published_s / row_time_s(row, x));
}

static double system_median_error(const struct system_fit *fit, const double *x, struct arena *a)
{
    double *errors = ARENA_ARRAY(a, double, fit->n_rows);
    for (size_t i = 0; i < fit->n_rows; i++)
        errors[i] = fabs(exp(log_ratio(&fit->rows[i], x)) - 1);
    return statistics_median(errors, fit->n_rows, a);
}

static void values_of(double *x, const struct system_fit *fit)
{
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        x[k] = fit->values[k].value;
}

/* ---- the fit ------------------------------------------------------------------------------------ */

static bool system_log_ratios(double *out, const double *active, void *user, struct err *err)
{
    struct line_job *job = user;
    double x[N_SYSTEM_CONSTANTS];
    size_t n = 0;
    (void)err;
    set_defaults(x);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        if (job->fit->fitted[k])
            x[k] = active[n++];
    for (size_t i = 0; i < job->fit->n_rows; i++) {
        const struct system_row *row = &job->fit->rows[i];
        out[i] = log(row->published_s / (row_time_s(row, x) + active[n + row->group] * row->loop_s));
    }
    return true;
}

/* Fits the constants that are marked as fitted; the others keep their defaults. */
static bool fit_active(struct line_job *job, struct err *err)
{
    struct system_fit *fit = job->fit;
    struct fit_parameter parameters[MAX_FIT_PARAMETERS];
    struct fit_value values[MAX_FIT_PARAMETERS];
    struct fit_problem p = { .parameters = parameters, .n_rows = fit->n_rows, .weights = job->weights, .log_ratios = system_log_ratios, .user = job };
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct system_constant *c = &system_constants[k];
        fit->values[k] = (struct fit_value){ .value = c->unfitted_value };
        if (fit->fitted[k])
            parameters[p.n_parameters++] = (struct fit_parameter){ c->field.name, c->field.min, c->field.max, c->start, 0.001 };
    }
    size_t n_fitted = p.n_parameters, n = 0;
    for (size_t g = 0; g < fit->n_groups; g++)
        parameters[p.n_parameters++] = (struct fit_parameter){ "loop_error", -LARGEST_LOOP_ERROR, LARGEST_LOOP_ERROR, 0, 0.001 };
    if (!fit_run(values, &p, err))
        return false;
    for (size_t k = 0; k < N_SYSTEM_CONSTANTS; k++)
        if (fit->fitted[k])
            fit->values[k] = values[n++];
    for (size_t g = 0; g < fit->n_groups; g++)
        fit->groups[g].error = values[n_fitted + g];
    return true;
}

static bool moves_a_row(const struct system_fit *fit, int constant)
{
    for (size_t i = 0; i < fit->n_rows; i++)
        if (fit->rows[i].slope[constant] != 0)
            return true;
    return false;
}

/* The log ratio of each row in a fit without the rows of its configuration. The same constants are fitted each time. */
static bool left_out_ratios(double *out, struct line_job *job, struct arena *a, struct err *err)
{
    struct system_fit whole = *job->fit;
    double x[N_SYSTEM_CONSTANTS];
    double *own = job->weights;
    job->weights = ARENA_ARRAY(a, double, whole.n_rows);
    for (size_t i = 0; i < whole.n_rows; i++) {
        for (size_t k = 0; k < whole.n_rows; k++)
            job->weights[k] = text_is(whole.rows[k].figure->configuration, whole.rows[i].figure->configuration) ? 0 : own[k];
        if (!fit_active(job, err))
            return false;
        values_of(x, job->fit);
        out[i] = log_ratio(&whole.rows[i], x);
    }
    job->weights = own;
    *job->fit = whole;
    return true;
}

/* The weighted sum of squares of left-out ratios, in which each configuration counts once. */
static bool left_out_loss(double *out, struct line_job *job, struct arena *a, struct err *err)
{
    double *d = ARENA_ARRAY(a, double, job->fit->n_rows);
    if (!left_out_ratios(d, job, a, err))
        return false;
    *out = 0;
    for (size_t i = 0; i < job->fit->n_rows; i++)
        *out += job->fit->rows[i].weight * d[i] * d[i];
    return true;
}

/* Sets *out to the fitted constant whose default predicts left-out configurations best, or to N_SYSTEM_CONSTANTS if no default is better. */
static bool most_harmful(int *out, struct line_job *job, struct arena *a, struct err *err)
{
    double least, loss;
    *out = N_SYSTEM_CONSTANTS;
    if (!left_out_loss(&least, job, a, err))
        return false;
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        if (!job->fit->fitted[k])
            continue;
        job->fit->fitted[k] = false;
        if (!left_out_loss(&loss, job, a, err))
            return false;
        job->fit->fitted[k] = true;
        if (loss < least) {
            least = loss;
            *out = k;
        }
    }
    return true;
}

/* The first fitted constant that ends at a bound, or N_SYSTEM_CONSTANTS. */
static int first_at_bound(const struct system_fit *fit)
{
    int k = 0;
    while (k < N_SYSTEM_CONSTANTS && !(fit->fitted[k] && fit->values[k].at_bound))
        k++;
    return k;
}

static bool fit_identified(struct line_job *job, struct arena *a, struct err *err)
{
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        job->fit->fitted[k] = moves_a_row(job->fit, k);
    for (int least = 0; least < N_SYSTEM_CONSTANTS;) {
        if (!fit_active(job, err))
            return false;
        least = first_at_bound(job->fit);
        if (least == N_SYSTEM_CONSTANTS && !most_harmful(&least, job, a, err))
            return false;
        if (least < N_SYSTEM_CONSTANTS)
            job->fit->fitted[least] = false;
    }
    return true;
}

/* Weights the rows so that those of one configuration sum to 1. */
static void weigh_rows(struct system_fit *fit)
{
    double sum = 0;
    for (size_t i = 0; i < fit->n_rows; i++) {
        size_t alike = 0;
        for (size_t k = 0; k < fit->n_rows; k++)
            alike += text_is(fit->rows[k].figure->configuration, fit->rows[i].figure->configuration);
        fit->rows[i].weight = 1.0 / (double)alike;
        sum += fit->rows[i].weight;
    }
    fit->n_configurations = (size_t)(sum + 0.5);
}

static bool fit_lines(struct line_job *job, struct arena *a, struct err *err)
{
    struct system_fit *fit = job->fit;
    double x[N_SYSTEM_CONSTANTS], *d = ARENA_ARRAY(a, double, fit->n_rows);
    if (!fit_identified(job, a, err) || !left_out_ratios(d, job, a, err))
        return false;
    values_of(x, fit);
    fit->median_fitted = system_median_error(fit, x, a);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        double fitted = x[k];
        x[k] = system_constants[k].unfitted_value;
        fit->median_default[k] = system_median_error(fit, x, a);
        x[k] = fitted;
    }
    fit->left_out_spread = statistics_spread_about_zero(d, fit->n_rows, a);
    for (size_t i = 0; i < fit->n_rows; i++)
        d[i] = exp(fabs(d[i])) - 1;
    fit->median_left_out = statistics_median(d, fit->n_rows, a);
    return true;
}

bool system_fit_lines(struct system_fit *fit, struct arena *a, struct err *err)
{
    struct line_job job = { fit, ARENA_ARRAY(a, double, fit->n_rows) };
    double x[N_SYSTEM_CONSTANTS];
    weigh_rows(fit);
    for (size_t i = 0; i < fit->n_rows; i++)
        job.weights[i] = sqrt(fit->rows[i].weight);
    set_defaults(x);
    fit->median_unfitted = system_median_error(fit, x, a);
    return fit_lines(&job, a, err);
}

/* Simulates the rows with the fitted constants. *out is the first row whose time differs from its line by more than a thousandth, or NULL. */
static bool check_lines(const struct system_row **out, double *time_s, struct row_job *job, struct err *err)
{
    double x[N_SYSTEM_CONSTANTS];
    values_of(x, job->fit);
    *out = NULL;
    for (size_t i = 0; i < job->fit->n_rows && !*out; i++) {
        struct system_row again = job->fit->rows[i];
        if (!simulate_system_row(&again, time_s, x, job, err))
            return false;
        if (fabs(*time_s / row_time_s(&job->fit->rows[i], x) - 1) > 1e-3)
            *out = &job->fit->rows[i];
    }
    return true;
}

/* Takes slopes between the defaults and the fitted values, moving one constant after another. The lines then meet the simulation at the fitted
 * values. */
static bool take_secants(struct system_row *row, struct row_job *job, struct err *err)
{
    double x[N_SYSTEM_CONSTANTS], fitted[N_SYSTEM_CONSTANTS], before_s = row->base_s, time_s, loop_s = row->loop_s;
    set_defaults(x);
    values_of(fitted, job->fit);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        double by = fitted[k] - x[k], range = system_constants[k].field.max - system_constants[k].field.min;
        if (fabs(by) < range / 1e4) /* for a smaller change, rounding to cycles would matter */
            continue;
        x[k] = fitted[k];
        if (!simulate_system_row(row, &time_s, x, job, err))
            return false;
        row->slope[k] = (time_s - before_s) / by;
        before_s = time_s;
    }
    row->loop_s = loop_s;
    return true;
}

/* Fits until lines and simulations agree. A time is not linear where something else hides it; slopes are then taken up to the fitted values. */
static bool fit_bent_lines(struct row_job *job, struct arena *a, struct err *err)
{
    const struct system_row *bent;
    double time_s, x[N_SYSTEM_CONSTANTS];
    for (int n = 0;; n++) {
        if (!system_fit_lines(job->fit, a, err) || !check_lines(&bent, &time_s, job, err))
            return false;
        if (!bent)
            return true;
        values_of(x, job->fit);
        if (n == MAX_SECANTS)
            return fail(err, "%s: simulated in %.6g s, but %.6g s by the fit's linear model: the time is not linear in a constant", bent->figure->id,
                        time_s, row_time_s(bent, x));
        for (size_t i = 0; i < job->fit->n_rows; i++)
            if (!take_secants(&job->fit->rows[i], job, err))
                return false;
    }
}

bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err)
{
    struct row_job job = { .fit = out, .paths = paths, .watch = watch };
    *out = (struct system_fit){0};
    bool good = read_system_rows(&job, figures, a, err) && fit_bent_lines(&job, a, err);
    plan_cache_free(&job.cache);
    watch_report(watch, NULL, 0, 0);
    return good;
}

/* ---- the sheet and the report -------------------------------------------------------------------------------------- */

void system_fit_write(FILE *f, const struct system_fit *fit)
{
    struct arena a = {0};
    struct table t = fitted_sheet();
    const char *fitted = arena_printf(&a, "fitted by podbench calibrate to %zu times (%zu configurations) of role calibrate in results/published",
                                      fit->n_rows, fit->n_configurations);
    const char *unfitted = arena_printf(&a, "not fitted: the %zu times of role calibrate cannot tell it from this, or are predicted better by it",
                                        fit->n_rows);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct system_constant *c = &system_constants[k];
        const char *note = fit->fitted[k] ? arena_printf(&a, "standard error %.2g; bounds %g to %g; unfitted %g", fit->values[k].standard_error,
                                                         c->field.min, c->field.max, c->unfitted_value) : unfitted;
        table_add(&t, &(struct fitted_value){ c->field.name, arena_printf(&a, "%.4g", fit->values[k].value), c->field.unit,
                                              fit->fitted[k] ? fitted : c->default_source, note }, &a);
    }
    table_add(&t, &(struct fitted_value){ throughput_error_field.name, arena_printf(&a, "%.4g", fit->left_out_spread), throughput_error_field.unit,
                  arena_printf(&a, "1.4826 x median of |ln(simulated / published)| over the same %zu rows, each predicted by the fit to the others",
                               fit->n_rows), "not fitted: the error of a throughput that the calibration has not seen" }, &a);
    table_write(f, FORMAT_CSV, &t);
    arena_free(&a);
}

static void print_rows(FILE *f, const struct system_fit *fit)
{
    double x[N_SYSTEM_CONSTANTS];
    values_of(x, fit);
    fprintf(f, "  share of each row's time, %%%*s", 37, "");
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
        fprintf(f, " %20s", system_constants[k].field.name);
    fprintf(f, " %8s\n", "error %");
    for (size_t i = 0; i < fit->n_rows; i++) {
        const struct system_row *row = &fit->rows[i];
        fprintf(f, "  %-62.62s", row->figure->id);
        for (int k = 0; k < N_SYSTEM_CONSTANTS; k++)
            fprintf(f, " %20.2f", 100 * row->slope[k] * x[k] / row_time_s(row, x));
        fprintf(f, " %+8.2f\n", 100 * (exp(log_ratio(row, x)) - 1));
    }
}

static void print_group(FILE *f, const struct loop_group *g)
{
    fprintf(f, "  loops of %s, %s: %+.1f %% ", g->family, g->training ? "training" : "forward passes alone", 100 * g->error.value);
    if (g->n_rows > 1)
        fprintf(f, "+- %.1f fitted together with the constants (in no prediction)\n", 100 * g->error.standard_error);
    else
        fputs("fitted together with the constants (one row, so it is met; in no prediction)\n", f);
}

void system_fit_print(FILE *f, const struct system_fit *fit)
{
    fprintf(f, "system: %zu times of %zu configurations, median error %.2f %% unfitted, %.2f %% fitted, %.2f %% left out (spread %.2f %%)\n",
            fit->n_rows, fit->n_configurations, 100 * fit->median_unfitted, 100 * fit->median_fitted, 100 * fit->median_left_out,
            100 * fit->left_out_spread);
    for (int k = 0; k < N_SYSTEM_CONSTANTS; k++) {
        const struct field *c = &system_constants[k].field;
        fprintf(f, "  %-20s %10.4g %-6s ", c->name, fit->values[k].value, c->unit);
        if (fit->fitted[k])
            fprintf(f, "+- %.2g%s  (bounds %g to %g, default %g: median error %.2f %%)  %s\n", fit->values[k].standard_error,
                    fit->values[k].at_bound ? ", at its bound" : "", c->min, c->max, system_constants[k].unfitted_value,
                    100 * fit->median_default[k], c->help);
        else
            fprintf(f, "its default: rows cannot tell it from that, or are predicted better by it  %s\n", c->help);
    }
    for (size_t g = 0; g < fit->n_groups; g++)
        print_group(f, &fit->groups[g]);
    print_rows(f, fit);
}
