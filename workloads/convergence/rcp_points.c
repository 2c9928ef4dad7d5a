/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp_points.c - the table of reference convergence points, its pruning and its interpolation.
 *
 * Pruning (mlcommons/logging, rcp_checker from 2.0.0) removes the records below the batch of the fastest. Then, in
 * order of batch, it removes a record that is slower than the straight line between its neighbours, and tries the one
 * that takes its place. It is one pass, not a convex hull. "Slower" compares the least mean that passes, and from 4.0.0
 * on the mean.
 */
#include "workloads/convergence/rcp_points.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* How many runs are dropped at each end; 0 if no run would be left. */
static size_t left_out(size_t n, size_t dropped) { return n > 2 * dropped ? dropped : 0; }

double olympic_mean(double *values, size_t n, size_t dropped)
{
    dropped = left_out(n, dropped);
    gsl_sort(values, 1, n);
    return gsl_stats_mean(values + dropped, 1, n - 2 * dropped);
}

/* Gives the digits of the checker, which bisects from 0 to the mean until the step is below 1e-4. */
double rcp_least_mean(double mean, double sd, double n_reference, double n_submission)
{
    static const double smallest_step = 1e-4;
    if (sd == 0)
        return mean;
    double t = gsl_cdf_tdist_Pinv(0.95, n_reference + n_submission - 2);
    double exact = mean - t * sd * sqrt(1 / n_reference + 1 / n_submission), low = 0, high = mean;
    while (high - low > smallest_step && (low + high) / 2 != low && (low + high) / 2 != high) {
        double middle = (low + high) / 2;
        *(middle > exact ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

/* ---- loading ------------------------------------------------------------------------------- */

static bool read_run_values(struct rcp_point *p, char *list, const char *path, uint32_t line, struct arena *a, struct err *err)
{
    size_t cap = 0;
    char *rest = NULL;
    for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        p->values = arena_grow(a, p->values, p->n, &cap, sizeof *p->values);
        if (!parse_f64(word, &p->values[p->n++]))
            return fail(err, "%s:%u: to_converge: '%s' is not a number", path, line, word);
    }
    if (p->n < 3)
        return fail(err, "%s:%u: to_converge has %zu runs, want at least 3", path, line, p->n);
    return true;
}

/* The base learning rate in "{opt_base_learning_rate:0.002;...}". */
static double learning_rate(const char *hyperparameters)
{
    static const char key[] = "opt_base_learning_rate:";
    const char *at = strstr(hyperparameters, key);
    char number[32] = "";
    double value = 0;
    if (at)
        sscanf(at + sizeof key - 1, "%31[0-9.e-]", number);
    return parse_f64(number, &value) ? value : 0;
}

static const char *const units[] = { "epochs", "samples", "steps", NULL };
struct record_row { const char *benchmark, *edition, *record, *to_converge, *hyperparameters, *source; double batch_size; int unit; };
#define F(member, ...) FIELD_OF(struct record_row, member, __VA_ARGS__)
static const struct field point_fields[] = {
    F(benchmark, .required = true), F(edition, .required = true), F(record), F(to_converge, .required = true), F(hyperparameters), F(source, .required = true), F(batch_size, .min = 1, .max = 1e12, .required = true),
    F(unit, .choices = units, .required = true),
};
#undef F

static bool read_point(struct rcp_point *p, const struct csv_table *t, const struct csv_row *row, struct arena *a, struct err *err)
{
    struct record_row r;
    if (!fields_from_row(&r, point_fields, N_FIELDS(point_fields), t, row, err))
        return false;
    *p = (struct rcp_point){ .record = r.record, .unit = units[r.unit], .source = r.source, .batch = r.batch_size, .learning_rate = learning_rate(r.hyperparameters) };
    return read_run_values(p, arena_strdup(a, r.to_converge), t->path, row->line, a, err);
}

/* The number of runs that the test assumes for a submission, and for the line between two records. */
static double submission_runs(const struct rcp_table *t) { return t->terms.runs - 2.0; }
static double line_runs(const struct rcp_table *t) { return 2.0 * t->terms.runs; }

static void finish_point(struct rcp_point *p, const struct rcp_table *t)
{
    size_t dropped = left_out(p->n, t->terms.dropped), left = p->n - 2 * dropped;
    p->left = (double)left;
    p->mean = olympic_mean(p->values, p->n, dropped);
    p->sd = t->edition->full_spread ? sqrt(gsl_stats_variance_with_fixed_mean(p->values, 1, p->n, gsl_stats_mean(p->values, 1, p->n)))
                                    : sqrt(gsl_stats_variance_with_fixed_mean(p->values + dropped, 1, left, p->mean));
    p->least = rcp_least_mean(p->mean, p->sd, p->left, submission_runs(t));
}

static void insert_by_batch(struct rcp_table *t, struct rcp_point p)
{
    size_t i = t->n++;
    for (; i > 0 && t->points[i - 1].batch > p.batch; i--)
        t->points[i] = t->points[i - 1];
    t->points[i] = p;
}

static bool read_points(struct rcp_table *t, enum rcp_edition edition, const struct csv_table *csv, struct arena *a, struct err *err)
{
    t->points = ARENA_ARRAY(a, struct rcp_point, csv->n_rows);
    for (size_t i = 0; i < csv->n_rows; i++) {
        const struct csv_row *row = &csv->rows[i];
        struct rcp_point p;
        if (!text_is(csv_cell(csv, row, "benchmark"), t->benchmark)
            || text_is(csv_cell(csv, row, "edition"), edition == RCP_DEADLINE ? "later" : "deadline"))
            continue;
        if (!read_point(&p, csv, row, a, err))
            return false;
        finish_point(&p, t);
        insert_by_batch(t, p);
    }
    return true;
}

bool rcp_load_with(struct rcp_table *out, const struct round_table *rounds, const char *benchmark, const char *round, enum rcp_edition edition,
                   struct arena *a, struct err *err)
{
    const struct edition *e = edition_find(rounds, round);
    const struct round_terms *terms = e ? round_terms_find(rounds, benchmark, e) : NULL;
    struct csv_table csv;
    if (!e)
        return edition_unknown(rounds, round, err);
    if (!terms)
        return benchmark_unknown(rounds, benchmark, e, err);
    const char *path = round_file(rounds, e, "rcp.csv", a);
    if (!e->reference_points)
        return fail(err, "%s: %s has no reference points", path, e->round);
    *out = (struct rcp_table){ .benchmark = benchmark, .edition = e, .terms = *terms };
    if (!fields_load(&csv, path, point_fields, N_FIELDS(point_fields), a, err) || !read_points(out, edition, &csv, a, err))
        return false;
    return out->n > 0 || fail(err, "%s: no reference points of '%s'", path, benchmark);
}

bool rcp_load(struct rcp_table *out, const char *benchmark, const char *round, enum rcp_edition edition, const char *data_dir,
              struct arena *a, struct err *err)
{
    struct round_table rounds;
    return round_table_load(&rounds, data_dir, a, err) && rcp_load_with(out, &rounds, benchmark, round, edition, a, err);
}

/* ---- pruning and interpolation ---------------------------------------------------------------- */

static double line_at(double x, double x0, double y0, double x1, double y1)
{
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

static void drop(struct rcp_table *t, size_t first, size_t n)
{
    memmove(t->points + first, t->points + first + n, (t->n - first - n) * sizeof *t->points);
    t->n -= n;
}

static double point_least(const struct rcp_point *p) { return p->least; }

static double point_mean(const struct rcp_point *p) { return p->mean; }

static void prune_by(struct rcp_table *t, double (*slowness)(const struct rcp_point *))
{
    size_t fastest = 0;
    for (size_t i = 1; i < t->n; i++)
        if (slowness(t->points + i) < slowness(t->points + fastest))
            fastest = i;
    drop(t, 0, fastest);
    for (size_t i = 1; i + 1 < t->n; ) {
        const struct rcp_point *p = t->points + i;
        if (slowness(p) > line_at(p->batch, p[-1].batch, slowness(p - 1), p[1].batch, slowness(p + 1)))
            drop(t, i, 1);
        else
            i++;
    }
}

void rcp_prune(struct rcp_table *t)
{
    if (t->edition->pruning != RCP_UNPRUNED)
        prune_by(t, t->edition->pruning == RCP_BY_MEAN ? point_mean : point_least);
}

void rcp_count_samples(struct rcp_table *t)
{
    for (struct rcp_point *p = t->points; p < t->points + t->n; p++)
        if (text_is(p->unit, "steps")) {
            for (size_t i = 0; i < p->n; i++)
                p->values[i] *= p->batch;
            p->mean *= p->batch, p->sd *= p->batch, p->least *= p->batch, p->unit = "samples";
        }
}

void rcp_prune_by_mean(struct rcp_table *t)
{
    prune_by(t, point_mean);
}

bool rcp_interpolate(double *mean, double *sd, const struct rcp_table *t, double batch)
{
    const struct rcp_point *p = t->points, *end = t->points + t->n;
    while (p < end && p->batch < batch)
        p++;
    if (p == end || (p == t->points && p->batch != batch))
        return false;
    *mean = p->batch == batch ? p->mean : line_at(batch, p[-1].batch, p[-1].mean, p->batch, p->mean);
    *sd = p->batch == batch ? p->sd : line_at(batch, p[-1].batch, p[-1].sd, p->batch, p->sd);
    return true;
}

/* ---- the test's limit ----------------------------------------------------------------------------- */

static struct rcp_limit limit_of(enum rcp_match match, double mean, double sd, double least, const struct rcp_table *t)
{
    return (struct rcp_limit){ match, mean, sd, least, mean / (least - t->terms.allowance) };
}

void rcp_limit_at(struct rcp_limit *out, const struct rcp_table *t, double batch)
{
    const struct rcp_point *first = t->points, *end = t->points + t->n;
    double mean, sd;
    *out = (struct rcp_limit){ .match = RCP_MISSING };
    if (batch < first->batch) {
        *out = limit_of(RCP_SMALLER_BATCH, first->mean, first->sd, first->least, t);
        return;
    }
    for (const struct rcp_point *p = first; p < end; p++)
        if (p->batch == batch) {
            *out = limit_of(RCP_EXACT, p->mean, p->sd, p->least, t);
            return;
        }
    if (rcp_interpolate(&mean, &sd, t, batch))
        *out = limit_of(RCP_INTERPOLATED, mean, sd, rcp_least_mean(mean, sd, line_runs(t), submission_runs(t)), t);
}

double rcp_scaling(const struct edition *e, const struct rcp_limit *limit, double submission_mean)
{
    if (limit->match == RCP_MISSING || !(submission_mean < limit->mean))
        return 1;
    bool passed = submission_mean >= limit->mean / limit->max_speedup;
    bool scales = passed ? e->scales : e->scales_failed && limit->match != RCP_SMALLER_BATCH;
    return scales ? limit->mean / submission_mean : 1;
}
