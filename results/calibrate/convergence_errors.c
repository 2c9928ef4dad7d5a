/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_errors.c - predicted against published samples to converge, for each submission, and with one submitter
 * left out.
 */
#include "results/calibrate/calibration.h"

#include <gsl/gsl_cdf.h>

static bool add_submission(struct convergence_errors *out, const struct run_row *first, size_t n, struct convergence_tables *tables, struct arena *a,
                           struct err *err)
{
    struct convergence c;
    struct submission_terms terms = terms_of_run(first);
    if (!convergence_predict_from(&c, tables, &terms, err))
        return false;
    struct convergence_error e = { first->round, first->division, first->system, first->benchmark, role_names[first->role], first->role, first->global_batch,
                                   run_rows_mean_samples(first, n), c.mean_samples, 0 };
    if (c.has_plan && first->eval_at_end)
        e.predicted = c.planned_epochs * c.samples_per_epoch;
    e.error = e.predicted / e.published - 1;
    LIST_ADD(out, a, e);
    return true;
}

bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err)
{
    struct run_rows t;
    struct convergence_tables *tables;
    *out = (struct convergence_errors){ 0 };
    if (!run_rows_load(&t, runs, a, err) || !convergence_tables_load(&tables, data_dir, a, err))
        return false;
    for (size_t i = 0, n; i < t.n; i += n) {
        n = run_rows_group(&t, i);
        if (round_has_reference(t.items[i].round) && !add_submission(out, &t.items[i], n, tables, a, err))
            return false;
    }
    return true;
}

/* ---- as tables ----------------------------------------------------------------------------------------------------- */

#define C(member, text, ...) { COLUMN_AS(struct convergence_error, member, NULL), .heading = text, __VA_ARGS__ }
static const struct table_column error_columns[] = {
    C(round, "round"), C(division, "division"), C(system, "system"), C(benchmark, "benchmark"), C(role_name, "role"), C(global_batch, "batch", .format = "%.0f"),
    C(published, "published", .format = "%.0f"), C(predicted, "predicted", .format = "%.0f"), C(error, "error %", .format = "%+.1f", .scale = 100),
};
#undef C

struct convergence_sum { const char *benchmark, *role; uint64_t n; double rms, mean; };
#define C(member, text, ...) { COLUMN_AS(struct convergence_sum, member, NULL), .heading = text, __VA_ARGS__ }
static const struct table_column sum_columns[] = {
    C(benchmark, "benchmark"), C(role, "role"), C(n, "submissions"), C(rms, "rms error %", .format = "%.1f", .scale = 100),
    C(mean, "mean %", .format = "%+.1f", .scale = 100),
};
#undef C

static struct convergence_sum sum_errors(const struct convergence_errors *e, const char *benchmark, int role)
{
    struct convergence_sum s = { .benchmark = benchmark, .role = role_names[role] };
    for (size_t i = 0; i < e->n; i++)
        if (text_is(e->items[i].benchmark, benchmark) && e->items[i].role == role) {
            s.mean += e->items[i].error;
            s.rms += e->items[i].error * e->items[i].error;
            s.n++;
        }
    s.mean /= (double)s.n;
    s.rms = sqrt(s.rms / (double)s.n);
    return s;
}

void convergence_errors_document(struct document *d, const struct convergence_errors *e)
{
    static const char *const benchmarks[] = { "resnet", "bert", "rnnt" };
    struct table errors = TABLE(error_columns, struct convergence_error, .formats = IN_TEXT), sums = TABLE(sum_columns, struct convergence_sum, .formats = IN_TEXT);
    for (size_t i = 0; i < e->n; i++)
        if (e->items[i].role != FIGURE_CONTEXT)
            table_add(&errors, &e->items[i], d->arena);
    for (size_t b = 0; b < 3; b++)
        for (int r = 0; r < N_FIGURE_ROLES; r++) {
            struct convergence_sum s = sum_errors(e, benchmarks[b], r);
            if (s.n)
                table_add(&sums, &s, d->arena);
        }
    errors.title = "samples to converge: mean of a submission's runs, and the prediction from its batch size";
    document_table(d, errors);
    document_gap(d);
    document_table(d, sums);
}

/* ---- leaving one submitter out ----------------------------------------------------------------------------------- */

/* Predicts a submission from the reference. The interval has the others' spread and the noise of a run, and its ends are points where a run evaluates. */
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
    double n = l->n ? (double)l->n : (double)NAN;       /* without other submitters there is no spread, so errors are NaN */
    l->rms_error = sqrt(l->rms_error / n);
    l->mean_error /= n;
    l->share_inside = (double)l->n_inside / (double)l->n_runs;
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

#define C(member, csv_name, ...) { COLUMN_AS(struct submitter_left_out, member, csv_name), __VA_ARGS__ }
static const struct table_column left_out_columns[] = {
    C(submitter, "submitter", .heading = "submitter"), C(benchmark, "benchmark", .heading = "benchmark"), C(n, "submissions", .heading = "submissions"),
    C(n_others, "others", .heading = "others"), C(rms_error, "rms_error", .heading = "rms error %", .format = "%.1f", .scale = 100),
    C(mean_error, "mean_error", .heading = "mean %", .format = "%+.1f", .scale = 100), C(n_runs, "runs", .heading = "runs"),
    C(n_inside, "inside", .heading = "inside 90 %"), C(share_inside, NULL, .heading = "%", .format = "%.1f", .scale = 100),
};
#undef C

struct table submitters_left_out_table(const struct submitters_left_out *l)
{
    struct table t = TABLE_OF(left_out_columns, l->items, l->n);
    t.title = "samples to converge, one submitter left out: its closed submissions, predicted from the reference and the spread of the others'";
    return t;
}
