/*
 * convergence_calibrate.c - the fitted values of the convergence model.
 *
 *   law_*                 E(B) = E0 (1 + (B/Bc)^g) of each round's reference points; law_error and line_error leave one batch out
 *   noise_*               run-to-run spread of ln(samples) in the reference lists: coefficient * B^exponent; exponent 0 (pooled spread)
 *                         unless its t-test passes at 5 %
 *   implementation_*      spread of calibration submissions about the reference: rms of ln(mean latent point / reference); its degrees of
 *                         freedom are the number of submissions, as no mean is taken out. Benchmarks with none take BERT's, the widest
 *   schedule_*            planned epochs over the reference, geometric mean over calibration submissions, by optimizer
 *   final_accuracy_*      of the last evaluation of fixed schedules with LARS
 *   time_noise            run-to-run spread of time to train at a fixed number of epochs, pooled
 * Sources: mlcommons/logging rcp_checker lists; MLPerf Training result logs of the calibration rows.
 */
#include "results/calibration/convergence_calibrate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "results/published/runs_table.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"

static const char *const benchmarks[] = { "resnet", "bert", "rnnt" };
static const char *const rounds[] = { "v1.0", "v1.1", "v2.0", "v2.1" };
enum { N_BENCHMARKS = sizeof benchmarks / sizeof *benchmarks, N_ROUNDS = sizeof rounds / sizeof *rounds, MOST_RECORDS = 256 };

struct writer { FILE *f; const char *data_dir; const struct run_rows *runs; struct arena *a; struct err *err; };

static void row(const struct writer *w, const char *benchmark, const char *ruleset, const char *key, double value, double error,
                const char *unit, const char *source)
{
    const char *cells[] = { benchmark, ruleset, key, arena_printf(w->a, "%.8g", value),
                            error > 0 ? arena_printf(w->a, "%.3g", error) : "", unit, source };
    for (size_t i = 0; i < 7; i++)
        csv_write_cell(w->f, cells[i], i == 6);
}

/* ---- laws ------------------------------------------------------------------------------------- */

static double finite_or(double x, double fallback)
{
    return isfinite(x) ? x : fallback;
}

static bool write_law(const struct writer *w, const char *benchmark, const char *round)
{
    struct rcp_table line, law;
    struct convergence_law l;
    const char *ruleset = rcp_ruleset(round);
    if (!convergence_points(&line, &law, benchmark, round, w->data_dir, w->a, w->err) || !law_choose(&l, &law, w->err))
        return false;
    const char *source = arena_printf(w->a, "fitted to rcp.csv %s %s: least squares on ln E, %zu batches, rms %.3g", ruleset, benchmark,
                                      l.n, l.rms);
    row(w, benchmark, ruleset, "law_e0", l.e0, l.e0_error, line.points[0].unit, source);
    row(w, benchmark, ruleset, "law_bc", l.bc, l.bc_error, "samples", source);
    row(w, benchmark, ruleset, "law_g", l.g, l.g_error, "1", source);
    double law_error = finite_or(l.loo, l.rms);
    row(w, benchmark, ruleset, "law_error", law_error, 0, "1", arena_printf(w->a, "%s, leave-one-batch-out", source));
    row(w, benchmark, ruleset, "line_error", finite_or(interpolation_loo(&line), law_error), 0, "1",
        arena_printf(w->a, "rcp.csv %s %s: inner batches from their neighbours, %zu batches left by pruning", ruleset, benchmark, line.n));
    return true;
}

/* ---- noise ------------------------------------------------------------------------------------- */

struct spreads { double ln_batch[MOST_RECORDS], ln_sd[MOST_RECORDS], variance_sum, dof_sum; size_t n; const struct rcp_point *from[MOST_RECORDS]; };

static bool known_record(const struct spreads *s, const struct rcp_point *p)
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

static bool collect_spreads(struct spreads *s, const struct writer *w, const char *benchmark)
{
    for (size_t r = 0; r < N_ROUNDS; r++) {
        struct rcp_table t;
        if (!rcp_load(&t, benchmark, rounds[r], RCP_LATER, w->data_dir, w->a, w->err))
            return false;
        for (size_t i = 0; i < t.n && s->n < MOST_RECORDS; i++)
            if (!known_record(s, t.points + i))
                add_spread(s, t.points + i, w->a);
    }
    return true;
}

static bool write_noise(const struct writer *w, const char *benchmark)
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
    row(w, benchmark, "any", "noise_coefficient", has_slope ? exp(ln_c) : pooled, has_slope ? exp(ln_c) * sqrt(cov00) : 0, "1", source);
    row(w, benchmark, "any", "noise_exponent", has_slope ? slope : 0, has_slope ? sqrt(cov11) : 0, "1", source);
    return true;
}

/* ---- calibration submissions -------------------------------------------------------------------- */

struct sums { double sum, squares, n; };

static void add(struct sums *s, double x)
{
    s->sum += x;
    s->squares += x * x;
    s->n++;
}

static double mean_of(const struct sums *s)
{
    return s->sum / s->n;
}

static double sd_of(const struct sums *s)
{
    return s->n > 1 ? sqrt((s->squares - s->sum * s->sum / s->n) / (s->n - 1)) : 0;
}

static bool reference_at(double *out, const struct writer *w, const struct run_row *r)
{
    struct rcp_table line, law;
    double sd;
    if (!convergence_points(&line, &law, r->benchmark, r->round, w->data_dir, w->a, w->err))
        return false;
    return rcp_interpolate(out, &sd, &line, r->global_batch)
        || fail(w->err, "%s: batch %g lies outside the reference points", r->source, r->global_batch);
}

/* ln of the mean latent point over the reference's: both half a grid before what was logged. */
static bool add_implementation(struct sums *s, const struct writer *w, const struct run_row *first, size_t n)
{
    struct benchmark_facts facts;
    struct eval_schedule schedule;
    double reference, sum = 0;
    if (!benchmark_facts(&facts, first->benchmark, w->data_dir, w->a, w->err) || !reference_at(&reference, w, first))
        return false;
    eval_schedule_of(&schedule, first->benchmark, first->global_batch);
    for (size_t i = 0; i < n; i++)
        sum += first[i].samples_to_converge;
    add(s, log((sum / (double)n - schedule.interval / 2) / (reference - facts.reference_grid / 2)));
    return true;
}

/* A planned run says how many epochs beyond the reference were planned, how accurate it ended, and how long it took. */
struct plans { struct sums lars, sgd, accuracy, time_variance; };

static bool add_plan(struct plans *p, const struct writer *w, const struct run_row *first, size_t n)
{
    double reference;
    bool lars = text_is(first->optimizer, "lars");
    struct sums time = { 0 };
    if (!reference_at(&reference, w, first))
        return false;
    add(lars ? &p->lars : &p->sgd, log(first->epochs / reference));
    for (size_t i = 0; i < n; i++) {
        if (lars)
            add(&p->accuracy, first[i].final_accuracy);
        if (first[i].success)
            add(&time, log(first[i].time_to_train_s));
    }
    double sd = sd_of(&time);
    p->time_variance.sum += sd * sd * (time.n - 1);
    p->time_variance.n += time.n - 1;
    return true;
}

static bool read_submissions(struct plans *plans, struct sums *bert, const struct writer *w)
{
    for (size_t i = 0, n; i < w->runs->n; i += n) {
        const struct run_row *first = &w->runs->items[i];
        n = run_rows_group(w->runs, i);
        if (first->role != FIGURE_CALIBRATE)
            continue;
        if (first->eval_at_end ? !add_plan(plans, w, first, n) : !add_implementation(bert, w, first, n))
            return false;
    }
    return true;
}

static void write_submissions(const struct writer *w, const struct plans *p, const struct sums *bert)
{
    static const char runs[] = "MLPerf logs of the calibration rows";
    double lars = mean_of(&p->lars), sgd = mean_of(&p->sgd), dof = p->lars.n + p->sgd.n - 2;
    double scatter = sqrt((pow(sd_of(&p->lars), 2) * (p->lars.n - 1) + pow(sd_of(&p->sgd), 2) * (p->sgd.n - 1)) / dof);
    double rms = sqrt(bert->squares / bert->n);
    row(w, "resnet", "any", "implementation_error", scatter, scatter / sqrt(2 * dof), "1",
        arena_printf(w->a, "%s (GC200 16 and 64, Bow 16): scatter of ln(planned epochs / reference) within an optimizer", runs));
    row(w, "resnet", "any", "implementation_dof", dof, 0, "1", runs);
    row(w, "any", "any", "implementation_error", rms, rms / sqrt(2 * bert->n), "1",
        arena_printf(w->a, "%s (BERT, GC200 16 and 64, Bow 16): rms of ln(latent mean / reference), mean %.3g", runs, mean_of(bert)));
    row(w, "any", "any", "implementation_dof", bert->n, 0, "1", runs);
    row(w, "resnet", "any", "schedule_margin_lars", exp(lars), exp(lars) * sd_of(&p->lars) / sqrt(p->lars.n), "1", runs);
    row(w, "resnet", "any", "schedule_margin_sgd", exp(sgd), exp(sgd) * sd_of(&p->sgd) / sqrt(p->sgd.n), "1", runs);
    row(w, "resnet", "any", "schedule_error", scatter, 0, "1", runs);
    row(w, "resnet", "any", "final_accuracy_mean", mean_of(&p->accuracy), sd_of(&p->accuracy) / sqrt(p->accuracy.n), "1",
        arena_printf(w->a, "%s (LARS, last evaluation of %g runs)", runs, p->accuracy.n));
    row(w, "resnet", "any", "final_accuracy_sd", sd_of(&p->accuracy), sd_of(&p->accuracy) / sqrt(2 * p->accuracy.n - 2), "1", runs);
    double noise = sqrt(p->time_variance.sum / p->time_variance.n);
    row(w, "any", "any", "time_noise", noise, noise / sqrt(2 * p->time_variance.n), "1",
        arena_printf(w->a, "%s (ResNet-50): spread of ln(time to train) at fixed epochs, pooled over runs that passed", runs));
}

bool convergence_calibrate(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err)
{
    struct run_rows rows;
    struct plans plans = { 0 };
    struct sums bert = { 0 };
    struct writer w = { f, data_dir, &rows, a, err };
    if (!run_rows_load(&rows, runs, a, err) || !read_submissions(&plans, &bert, &w))
        return false;
    fprintf(f, "benchmark,ruleset,key,value,standard_error,unit,source\n");
    for (size_t b = 0; b < N_BENCHMARKS; b++) {
        for (size_t r = 0; r < N_ROUNDS; r++)
            if (!write_law(&w, benchmarks[b], rounds[r]))
                return false;
        if (!write_noise(&w, benchmarks[b]))
            return false;
    }
    write_submissions(&w, &plans, &bert);
    return true;
}
