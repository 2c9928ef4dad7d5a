/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_errors.c - predicted against published samples to converge, for each submission, and with one submitter left out.
 */
#include "results/calibrate/calibrate.h"

#include <gsl/gsl_cdf.h>
#include <jansson.h>
#include <math.h>


static bool add_submission(struct convergence_errors *out, const struct run_row *first, size_t n, const char *data_dir, struct arena *a,
                           struct err *err)
{
    struct convergence c;
    struct submission_terms terms = terms_of_run(first);
    if (!convergence_predict_for(&c, &terms, data_dir, a, err))
        return false;
    struct convergence_error e = { first->round, first->division, first->system, first->benchmark, first->role, first->global_batch,
                                   run_rows_mean_samples(first, n), c.mean_samples, 0 };
    if (c.has_plan && first->eval_at_end)
        e.predicted = c.planned_epochs * c.samples_per_epoch;
    e.error = e.predicted / e.published - 1;
    out->items = arena_grow(a, out->items, out->n, &out->cap, sizeof *out->items);
    out->items[out->n++] = e;
    return true;
}

bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err)
{
    struct run_rows t;
    *out = (struct convergence_errors){ 0 };
    if (!run_rows_load(&t, runs, a, err))
        return false;
    for (size_t i = 0, n; i < t.n; i += n) {
        n = run_rows_group(&t, i);
        if (round_has_reference(t.items[i].round) && !add_submission(out, &t.items[i], n, data_dir, a, err))
            return false;
    }
    return true;
}

static void print_summary(FILE *f, const struct convergence_errors *e, const char *benchmark, enum role role, const char *role_name)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (text_is(e->items[i].benchmark, benchmark) && e->items[i].role == role) {
            sum += e->items[i].error;
            squares += e->items[i].error * e->items[i].error;
            n++;
        }
    if (n > 0)
        fprintf(f, "%-7s %-10s %3.0f submissions, rms error %5.1f %%, mean %+5.1f %%\n", benchmark, role_name, n, 100 * sqrt(squares / n),
                100 * sum / n);
}

void convergence_errors_print(FILE *f, const struct convergence_errors *e)
{
    static const char *const benchmarks[] = { "resnet", "bert", "rnnt" };
    fprintf(f, "%-5s %-7s %-30s %-7s %-10s %6s %11s %11s %8s\n", "round", "div", "system", "bench", "role", "batch", "published",
            "predicted", "error");
    for (size_t i = 0; i < e->n; i++) {
        const struct convergence_error *x = &e->items[i];
        if (x->role != FIGURE_CONTEXT)
            fprintf(f, "%-5s %-7s %-30s %-7s %-10s %6.0f %11.0f %11.0f %+6.1f %%\n", x->round, x->division, x->system, x->benchmark,
                    role_names[x->role], x->global_batch, x->published, x->predicted, 100 * x->error);
    }
    for (size_t b = 0; b < 3; b++)
        for (int r = 0; r < 3; r++)
            print_summary(f, e, benchmarks[b], (enum role)r, role_names[r]);
}

/* ---- leaving one submitter out ----------------------------------------------------------------------------------- */

/* Predicts by the reference. The interval has the others' spread about it and the noise of a run, at the points where a run evaluates. */
static bool add_left_out(struct submitter_left_out *l, const struct submission *s, double spread, struct convergence_tables *tables, struct err *err)
{
    struct submission_terms terms = terms_of_run(s->first);
    struct convergence c;
    terms.submitter = NULL;
    if (!convergence_predict_from(&c, tables, &terms, err))
        return false;
    double error = exp(-s->ln_ratio) - 1, half = gsl_cdf_ugaussian_Pinv(0.95) * hypot(spread, c.sigma);
    double low = convergence_observed(&c, c.median_samples * exp(-half), 0), high = convergence_observed(&c, c.median_samples * exp(half), 0);
    l->n++;
    l->rms_error += error * error;
    l->mean_error += error;
    for (size_t i = 0; i < s->n_runs; i++) {
        double samples = s->first[i].samples_to_converge;
        l->n_runs++;
        l->n_inside += samples >= low - c.global_batch && samples <= high;
    }
    return true;
}

static bool leave_submitter_out(struct submitter_left_out *l, const struct submissions *all, struct convergence_tables *tables, struct arena *a, struct err *err)
{
    struct effect_spreads others = effect_spreads(all, SPREADS_FOR_WIDTHS, l->benchmark, l->submitter, a);
    l->n_others = others.n;
    for (size_t i = 0; others.n && i < all->n; i++)
        if (submission_has_effect(&all->items[i], l->benchmark) && text_is(all->items[i].first->submitter, l->submitter)
            && !add_left_out(l, &all->items[i], effect_total(&others), tables, err))
            return false;
    if (l->n) {
        l->rms_error = sqrt(l->rms_error / (double)l->n);
        l->mean_error /= (double)l->n;
    }
    return true;
}

static bool submitter_is_listed(const struct submitters_left_out *l, const struct run_row *r)
{
    for (size_t i = 0; i < l->n; i++)
        if (text_is(l->items[i].submitter, r->submitter) && text_is(l->items[i].benchmark, r->benchmark))
            return true;
    return false;
}

bool submitters_left_out(struct submitters_left_out *out, const char *runs, const char *data_dir, struct arena *a, struct err *err)
{
    struct run_rows rows;
    struct convergence_tables *tables;
    struct submissions all;
    if (!run_rows_load(&rows, runs, a, err) || !convergence_tables_load(&tables, data_dir, a, err)
        || !submissions_of(&all, &rows, tables, a, err))
        return false;
    *out = (struct submitters_left_out){ .items = ARENA_ROOM(a, struct submitter_left_out, all.n) };
    for (size_t i = 0; i < all.n; i++) {
        const struct run_row *r = all.items[i].first;
        struct submitter_left_out l = { .submitter = r->submitter, .benchmark = r->benchmark };
        if (!submission_has_effect(&all.items[i], r->benchmark) || submitter_is_listed(out, r))
            continue;
        if (!leave_submitter_out(&l, &all, tables, a, err))
            return false;
        out->items[out->n++] = l;
    }
    return true;
}

void submitters_left_out_print(FILE *f, const struct submitters_left_out *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct submitter_left_out *x = &l->items[i];
        if (x->n)
            fprintf(f, "%-10s %-7s %3zu submissions by the reference and %2zu of others: rms error %5.1f %%, mean %+5.1f %%; %zu of %zu runs inside "
                    "90 %% (%.1f %%)\n", x->submitter, x->benchmark, x->n, x->n_others, 100 * x->rms_error, 100 * x->mean_error, x->n_inside,
                    x->n_runs, 100.0 * (double)x->n_inside / (double)x->n_runs);
        else
            fprintf(f, "%-10s %-7s no other submitter to estimate the spread from\n", x->submitter, x->benchmark);
    }
}

json_t *submitters_left_out_json(const struct submitters_left_out *l)
{
    json_t *array = json_array();
    for (size_t i = 0; i < l->n; i++) {
        const struct submitter_left_out *x = &l->items[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:I}", "submitter", x->submitter, "benchmark", x->benchmark,
            "submissions", (json_int_t)x->n, "others", (json_int_t)x->n_others, "rms_error", x->rms_error, "mean_error", x->mean_error,
            "runs", (json_int_t)x->n_runs, "inside", (json_int_t)x->n_inside));
    }
    return array;
}
