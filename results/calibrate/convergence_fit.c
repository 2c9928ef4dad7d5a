/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_fit.c - writes the fitted values of the convergence model.
 *
 *   law_*                 E(B) = E0 (1 + (B/Bc)^g) of each round's reference points; law_error leaves one batch out
 *   noise_*               run-to-run spread of ln(samples) in the reference lists: coefficient * B^exponent. The exponent is 0 (a pooled
 *                         spread) unless its t-test passes at 5 %
 *   effect_SUBMITTER      how far the submitter's calibration submissions are from the reference, and the spread that remains
 *   spread, spread_dof    spread about the reference of a submission of any other submitter; degrees of freedom: submissions less one.
 *                         Runs of role validate enter only these two and the spread that remains of an effect
 *   open_gain             mean of ln(after / before) over reference records that were tuned again at their batch (retuned.csv), and the
 *                         spread of one more record
 *   schedule_*            planned epochs over the reference, geometric mean over calibration submissions, by optimizer
 *   final_accuracy_*      of the last evaluation of fixed schedules with LARS
 *   time_noise            run-to-run spread of time to train at a fixed number of epochs, pooled
 * Sources: mlcommons/logging rcp_checker lists; MLPerf Training result logs of the calibration rows.
 */
#include "results/calibrate/calibration.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>

#include "workloads/convergence/convergence_law.h"

static const char *const benchmarks[] = { "resnet", "bert", "rnnt" };
static const char *const rounds[] = { "v1.0", "v1.1", "v2.0", "v2.1" };
enum { N_BENCHMARKS = sizeof benchmarks / sizeof *benchmarks, N_ROUNDS = sizeof rounds / sizeof *rounds, MOST_RECORDS = 256 };

/* *missing is the first value that the available runs do not determine, or NULL. */
struct fits_writer { FILE *f; const char *data_dir; const struct run_rows *runs; struct arena *a; struct err *err; const char **missing; };

static void write_fit(const struct fits_writer *w, const char *benchmark, const char *ruleset, const char *key, double value, double error,
                const char *unit, const char *source)
{
    const char *cells[] = { benchmark, ruleset, key, arena_printf(w->a, "%.8g", value),
                            error > 0 ? arena_printf(w->a, "%.3g", error) : "", unit, source };
    if (!*w->missing && (!isfinite(value) || isinf(error)))
        *w->missing = arena_printf(w->a, "%s of %s", key, benchmark);
    for (size_t i = 0; i < 7; i++)
        csv_write_cell(w->f, cells[i], i == 6);
}

/* ---- laws ------------------------------------------------------------------------------------- */

/* The degrees of freedom, or NaN if there are none. */
static double degrees_of_freedom(double n)
{
    return n > 0 ? n : NAN;
}

static bool write_law(const struct fits_writer *w, const char *benchmark, const char *round)
{
    struct rcp_table line, law;
    struct convergence_law l;
    if (!convergence_points(&line, &law, benchmark, round, w->data_dir, w->a, w->err) || !law_choose(&l, &law, w->err))
        return false;
    const char *ruleset = law.edition->ruleset;
    const char *source = arena_printf(w->a, "fitted to rcp.csv %s %s: least squares on ln E, %zu batches, rms %.3g", ruleset, benchmark,
                                      l.n, l.rms);
    write_fit(w, benchmark, ruleset, "law_e0", l.e0, l.e0_error, line.points[0].unit, source);
    write_fit(w, benchmark, ruleset, "law_bc", l.bc, l.bc_error, "samples", source);
    write_fit(w, benchmark, ruleset, "law_g", l.g, l.g_error, "1", source);
    write_fit(w, benchmark, ruleset, "law_error", isfinite(l.loo) ? l.loo : l.rms, 0, "1", arena_printf(w->a, "%s, leave-one-batch-out", source));
    return true;
}

/* ---- noise ------------------------------------------------------------------------------------- */

struct spreads { double ln_batch[MOST_RECORDS], ln_sd[MOST_RECORDS], variance_sum, dof_sum; size_t n; const struct rcp_point *from[MOST_RECORDS]; };

static bool has_record(const struct spreads *s, const struct rcp_point *p)
{
    for (size_t i = 0; i < s->n; i++)
        if (text_is(s->from[i]->record, p->record) && s->from[i]->n == p->n && s->from[i]->mean == p->mean)
            return true;
    return false;
}

static void add_spread(struct spreads *s, const struct rcp_point *p, struct arena *a)
{
    double *ln = ARENA_ARRAY(a, double, p->n);
    for (size_t i = 0; i < p->n; i++)
        ln[i] = log(p->values[i]);
    double variance = gsl_stats_variance(ln, 1, p->n);
    s->variance_sum += variance * ((double)p->n - 1);
    s->dof_sum += (double)p->n - 1;
    s->from[s->n] = p;
    s->ln_batch[s->n] = log(p->batch);
    s->ln_sd[s->n++] = log(variance) / 2;
}

static bool collect_spreads(struct spreads *s, const struct fits_writer *w, const char *benchmark)
{
    for (size_t r = 0; r < N_ROUNDS; r++) {
        struct rcp_table t;
        if (!rcp_load(&t, benchmark, rounds[r], RCP_LATER, w->data_dir, w->a, w->err))
            return false;
        for (size_t i = 0; i < t.n && s->n < MOST_RECORDS; i++)
            if (!has_record(s, t.points + i))
                add_spread(s, t.points + i, w->a);
    }
    return true;
}

static bool write_noise(const struct fits_writer *w, const char *benchmark)
{
    struct spreads s = { .n = 0 };
    double ln_c, slope, cov00, cov01, cov11, chi2;
    if (!collect_spreads(&s, w, benchmark))
        return false;
    gsl_fit_linear(s.ln_batch, 1, s.ln_sd, 1, s.n, &ln_c, &slope, &cov00, &cov01, &cov11, &chi2);
    double p = 2 * gsl_cdf_tdist_Q(fabs(slope) / sqrt(cov11), (double)s.n - 2), pooled = sqrt(s.variance_sum / s.dof_sum);
    bool has_slope = p < 0.05;
    const char *source = arena_printf(w->a, "spread of ln(to_converge) in %zu reference lists of rcp.csv, pooled %.3g; slope with batch: p = %.2g",
                                      s.n, pooled, p);
    write_fit(w, benchmark, "any", "noise_coefficient", has_slope ? exp(ln_c) : pooled, has_slope ? exp(ln_c) * sqrt(cov00) : 0, "1", source);
    write_fit(w, benchmark, "any", "noise_exponent", has_slope ? slope : 0, has_slope ? sqrt(cov11) : 0, "1", source);
    return true;
}

/* ---- calibration submissions -------------------------------------------------------------------- */

static double moments_mean(const struct moments *s)
{
    return s->sum / s->n;
}

static double moments_sd(const struct moments *s)
{
    return s->n > 1 ? sqrt(moments_within(s) / (s->n - 1)) : 0;
}

static bool reference_at(double *out, const struct fits_writer *w, const struct run_row *r)
{
    struct rcp_table line, law;
    double sd;
    if (!convergence_points(&line, &law, r->benchmark, r->round, w->data_dir, w->a, w->err))
        return false;
    return rcp_interpolate(out, &sd, &line, r->global_batch)
        || fail(w->err, "%s: batch %g lies outside the reference points", r->source, r->global_batch);
}

/* Runs with a planned number of epochs: these epochs over the reference's, the final accuracy, and the spread of the times. */
struct plans { struct moments lars, sgd, accuracy; double time_squares, time_dof; };

static bool add_planned_runs(struct plans *p, const struct fits_writer *w, const struct run_row *first, size_t n)
{
    double reference;
    bool lars = text_is(first->optimizer, "lars");
    struct moments time = { 0 };
    if (!reference_at(&reference, w, first))
        return false;
    moments_add(lars ? &p->lars : &p->sgd, log(first->epochs / reference));
    for (size_t i = 0; i < n; i++) {
        if (lars)
            moments_add(&p->accuracy, first[i].final_accuracy);
        if (first[i].success)
            moments_add(&time, log(first[i].time_to_train_s));
    }
    p->time_squares += moments_within(&time);
    p->time_dof += time.n - 1;
    return true;
}

static bool read_plans(struct plans *plans, const struct fits_writer *w)
{
    for (size_t i = 0, n; i < w->runs->n; i += n) {
        const struct run_row *first = &w->runs->items[i];
        n = run_rows_group(w->runs, i);
        if (first->role == FIGURE_CALIBRATE && first->eval_at_end && !add_planned_runs(plans, w, first, n))
            return false;
    }
    return true;
}

/* ---- submissions ------------------------------------------------------------------------------------- */

static const char *spread_source(const struct effect_spreads *s, const char *role, struct arena *a)
{
    return arena_printf(a, "%zu closed submissions of %s, MLPerf v1.0 to v2.1: maximum likelihood; submitter %.3g, submission %.3g", s->n, role,
                        s->submitter, s->submission);
}

static bool is_first_calibrating(const struct submissions *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (all->items[k].first->role == FIGURE_CALIBRATE && text_is(all->items[k].first->submitter, all->items[i].first->submitter))
            return false;
    return all->items[i].first->role == FIGURE_CALIBRATE;
}

/* Writes the effect of each submitter that has a calibrating submission. */
static void write_effects(const struct fits_writer *w, const struct submissions *all, const struct effect_spreads spreads[2], const char *benchmark)
{
    for (size_t i = 0; i < all->n; i++) {
        const char *submitter = all->items[i].first->submitter;
        struct effect e = effect_of(all, &spreads[SPREADS_FOR_MEANS], &spreads[SPREADS_FOR_WIDTHS], benchmark, submitter);
        if (e.n && is_first_calibrating(all, i))
            write_fit(w, benchmark, "any", arena_printf(w->a, "effect_%s", submitter), e.mean, e.spread, "1",
                arena_printf(w->a, "MLPerf logs of %zu submissions of role calibrate: ln over the reference, drawn to it by the spreads of %s; and "
                             "what is left of spread", e.n, spread_source(&spreads[SPREADS_FOR_MEANS], "roles calibrate and context", w->a)));
    }
}

static void write_spreads(const struct fits_writer *w, const struct submissions *all, const char *benchmark)
{
    const struct effect_spreads spreads[] = {
        [SPREADS_FOR_MEANS] = effect_spreads(all, SPREADS_FOR_MEANS, benchmark, NULL, w->a),
        [SPREADS_FOR_WIDTHS] = effect_spreads(all, SPREADS_FOR_WIDTHS, benchmark, NULL, w->a),
    }, s = spreads[SPREADS_FOR_WIDTHS];
    double total = effect_total(&s);
    const char *source = spread_source(&s, "all roles", w->a);
    write_effects(w, all, spreads, benchmark);
    write_fit(w, benchmark, "any", "spread", total, total / sqrt(2.0 * (double)s.n), "1", source);
    write_fit(w, benchmark, "any", "spread_dof", degrees_of_freedom((double)s.n - 1), 0, "1", source);
}

/* ---- the open division --------------------------------------------------------------------------------- */

struct retuned { const char *benchmark; double before, after; };
#define F(member, ...) FIELD_OF(struct retuned, member, .min = 1e-9, .max = 1e18, .required = true)
static const struct field retuned_fields[] = { F(benchmark), F(before), F(after) };
#undef F

static bool read_gains(struct moments gains[N_BENCHMARKS], const struct fits_writer *w)
{
    struct csv_table t;
    const struct retuned *r = records_load(&t, sizeof *r, arena_printf(w->a, "%s/retuned.csv", w->data_dir), retuned_fields, N_FIELDS(retuned_fields), w->a, w->err);
    for (size_t i = 0; r && i < t.n_rows; i++)
        for (size_t b = 0; b < N_BENCHMARKS; b++)
            if (text_is(r[i].benchmark, benchmarks[b]))
                moments_add(&gains[b], log(r[i].after / r[i].before));
    return r != NULL;
}

/* Writes the gains from tuning a record again. Each benchmark has its own mean; the spread is pooled over all, as each has only two or three records. */
static bool write_gains(const struct fits_writer *w)
{
    struct moments gains[N_BENCHMARKS] = { { 0 } };
    double squares = 0, dof = 0;
    if (!read_gains(gains, w))
        return false;
    for (size_t b = 0; b < N_BENCHMARKS; b++) {
        squares += moments_within(&gains[b]);
        dof += gains[b].n - 1;
    }
    for (size_t b = 0; b < N_BENCHMARKS; b++)
        write_fit(w, benchmarks[b], "any", "open_gain", moments_mean(&gains[b]), sqrt(squares / dof * (1 + 1 / gains[b].n)), "1",
            arena_printf(w->a, "retuned.csv: mean of ln(after / before) of %g records; spread of one more, pooled over all benchmarks", gains[b].n));
    return true;
}

static void write_plans(const struct fits_writer *w, const struct plans *p)
{
    static const char runs[] = "MLPerf logs of the calibration rows";
    double lars = moments_mean(&p->lars), sgd = moments_mean(&p->sgd), dof = p->lars.n + p->sgd.n - 2;
    double scatter = sqrt((moments_within(&p->lars) + moments_within(&p->sgd)) / dof);
    write_fit(w, "resnet", "any", "schedule_margin_lars", exp(lars), exp(lars) * moments_sd(&p->lars) / sqrt(p->lars.n), "1", runs);
    write_fit(w, "resnet", "any", "schedule_margin_sgd", exp(sgd), exp(sgd) * moments_sd(&p->sgd) / sqrt(p->sgd.n), "1", runs);
    write_fit(w, "resnet", "any", "schedule_error", scatter, 0, "1",
        arena_printf(w->a, "%s (GC200 16 and 64, Bow 16): scatter of ln(planned epochs / reference) within an optimizer", runs));
    write_fit(w, "resnet", "any", "schedule_dof", degrees_of_freedom(dof), 0, "1", runs);
    write_fit(w, "resnet", "any", "final_accuracy_mean", moments_mean(&p->accuracy), moments_sd(&p->accuracy) / sqrt(p->accuracy.n), "1",
        arena_printf(w->a, "%s (LARS, last evaluation of %g runs)", runs, p->accuracy.n));
    write_fit(w, "resnet", "any", "final_accuracy_sd", moments_sd(&p->accuracy), moments_sd(&p->accuracy) / sqrt(2 * p->accuracy.n - 2), "1", runs);
    double noise = sqrt(p->time_squares / p->time_dof);
    write_fit(w, "any", "any", "time_noise", noise, noise / sqrt(2 * p->time_dof), "1",
        arena_printf(w->a, "%s (ResNet-50): spread of ln(time to train) at fixed epochs, pooled over runs that passed", runs));
}

bool convergence_fit(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err)
{
    struct run_rows rows;
    struct plans plans = { 0 };
    struct convergence_tables *tables;
    struct submissions all;
    const char *missing = NULL;
    struct fits_writer w = { f, data_dir, &rows, a, err, &missing };
    if (!run_rows_load(&rows, runs, a, err) || !read_plans(&plans, &w) || !convergence_tables_load(&tables, data_dir, a, err)
        || !submissions_of(&all, &rows, tables, a, err))
        return false;
    fprintf(f, "benchmark,ruleset,key,value,standard_error,unit,source\n");
    for (size_t b = 0; b < N_BENCHMARKS; b++) {
        for (size_t r = 0; r < N_ROUNDS; r++)
            if (!write_law(&w, benchmarks[b], rounds[r]))
                return false;
        if (!write_noise(&w, benchmarks[b]))
            return false;
        write_spreads(&w, &all, benchmarks[b]);
    }
    write_plans(&w, &plans);
    return write_gains(&w) && (!missing || fail(err, "%s: too few runs of role calibrate to determine %s", runs, missing));
}
