/*
 * rcp_points.c - the table of reference convergence points, its pruning and its interpolation.
 *
 * Pruning (mlcommons/logging, rcp_checker of 2.0.0): records below the batch of the fastest go; then, in order of batch, a record
 * goes when it is slower than the straight line between its neighbours, and the one that takes its place is tried next. It is one pass,
 * not a convex hull. "Slower" compares the least mean that passes.
 */
#include "workloads/convergence/rcp_points.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static const struct { const char *benchmark; uint32_t runs; } required_runs[] = {
    { "resnet", 5 }, { "bert", 10 }, { "rnnt", 10 }, { "ssd", 5 }, { "maskrcnn", 5 }, { "dlrm", 5 }, { "minigo", 10 }, { "unet3d", 40 },
};

uint32_t rcp_runs(const char *benchmark)
{
    for (size_t i = 0; i < sizeof required_runs / sizeof *required_runs; i++)
        if (text_is(required_runs[i].benchmark, benchmark))
            return required_runs[i].runs;
    return 0;
}

static const struct { const char *round, *ruleset; } rulesets[] = {
    { "v1.0", "1.0.0" }, { "v1.1", "1.1.0" }, { "v2.0", "2.0.0" }, { "v2.1", "2.1.0" }, { "v3.0", "3.0.0" }, { "v3.1", "3.1.0" },
    { "v4.0", "4.0.0" }, { "v4.1", "4.1.0" }, { "v5.0", "5.0.0" }, { "v5.1", "5.1.0" },
};

const char *rcp_ruleset_before(const char *ruleset)
{
    for (size_t i = 1; i < sizeof rulesets / sizeof *rulesets; i++)
        if (text_is(rulesets[i].ruleset, ruleset))
            return rulesets[i - 1].ruleset;
    return "";
}

const char *rcp_ruleset(const char *round)
{
    for (size_t i = 0; i < sizeof rulesets / sizeof *rulesets; i++)
        if (text_is(rulesets[i].round, round) || text_is(rulesets[i].ruleset, round))
            return rulesets[i].ruleset;
    return "";
}

bool rcp_is_pruned(const char *ruleset)
{
    return ruleset[0] >= '2';
}

double olympic_mean(double *values, size_t n)
{
    gsl_sort(values, 1, n);
    return n > 2 ? gsl_stats_mean(values + 1, 1, n - 2) : gsl_stats_mean(values, 1, n);
}

double rcp_least_mean(double mean, double sd, double n_reference, double n_submission)
{
    double t = gsl_cdf_tdist_Pinv(0.95, n_reference + n_submission - 2);
    return mean - t * sd * sqrt(1 / n_reference + 1 / n_submission);
}

/* ---- loading ------------------------------------------------------------------------------- */

enum { RULESET, BENCHMARK, RECORD, BATCH, UNIT, VALUES, EDITION, HYPERPARAMETERS, SOURCE, N_CELLS };
static const char *const columns[N_CELLS] = { "ruleset", "benchmark", "record", "batch_size", "unit", "to_converge", "edition",
                                              "hyperparameters", "source" };

static bool take_values(struct rcp_point *p, char *list, const char *path, uint32_t line, struct arena *a, struct err *err)
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

/* Of {opt_base_learning_rate:0.002;...}. */
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

static bool take_point(struct rcp_point *p, char *cells[N_CELLS], const char *path, uint32_t line, struct arena *a, struct err *err)
{
    *p = (struct rcp_point){ .record = cells[RECORD], .unit = cells[UNIT], .source = cells[SOURCE],
                              .learning_rate = learning_rate(cells[HYPERPARAMETERS]) };
    if (!parse_f64(cells[BATCH], &p->batch) || p->batch <= 0)
        return fail(err, "%s:%u: batch_size: '%s' is not a positive number", path, line, cells[BATCH]);
    if (!text_is(p->unit, "epochs") && !text_is(p->unit, "samples"))
        return fail(err, "%s:%u: unit: '%s', want epochs or samples", path, line, p->unit);
    if (!*p->source)
        return fail(err, "%s:%u: source is empty", path, line);
    return take_values(p, arena_strdup(a, cells[VALUES]), path, line, a, err);
}

static void finish_point(struct rcp_point *p, uint32_t runs)
{
    p->mean = olympic_mean(p->values, p->n);
    p->sd = sqrt(gsl_stats_variance_with_fixed_mean(p->values + 1, 1, p->n - 2, p->mean));
    p->least = rcp_least_mean(p->mean, p->sd, (double)p->n - 2, runs - 2.0);
}

static void insert_by_batch(struct rcp_table *t, struct rcp_point p)
{
    size_t i = t->n++;
    for (; i > 0 && t->points[i - 1].batch > p.batch; i--)
        t->points[i] = t->points[i - 1];
    t->points[i] = p;
}

static bool is_wanted(const struct rcp_table *t, enum rcp_edition edition, char *cells[N_CELLS])
{
    return text_is(cells[RULESET], t->ruleset) && text_is(cells[BENCHMARK], t->benchmark)
        && !text_is(cells[EDITION], edition == RCP_DEADLINE ? "later" : "deadline");
}

static bool take_rows(struct rcp_table *t, enum rcp_edition edition, const struct csv_table *csv, struct arena *a, struct err *err)
{
    size_t at[N_CELLS];
    for (int c = 0; c < N_CELLS; c++)
        if (!csv_column(&at[c], csv, columns[c], err))
            return false;
    t->points = ARENA_ARRAY(a, struct rcp_point, csv->n_rows);
    for (size_t i = 0; i < csv->n_rows; i++) {
        char *cells[N_CELLS];
        struct rcp_point p;
        for (int c = 0; c < N_CELLS; c++)
            cells[c] = csv->rows[i].cells[at[c]];
        if (!is_wanted(t, edition, cells))
            continue;
        if (!take_point(&p, cells, csv->path, csv->rows[i].line, a, err))
            return false;
        finish_point(&p, rcp_runs(t->benchmark));
        insert_by_batch(t, p);
    }
    return true;
}

bool rcp_take(struct rcp_table *out, const struct csv_table *csv, const char *benchmark, const char *round, enum rcp_edition edition,
              struct arena *a, struct err *err)
{
    *out = (struct rcp_table){ .ruleset = rcp_ruleset(round), .benchmark = benchmark };
    if (!*out->ruleset)
        return fail(err, "round '%s' is unknown; known: v1.0, v1.1, v2.0, v2.1, v3.0, v3.1, v4.0, v4.1, v5.0, v5.1", round);
    if (!take_rows(out, edition, csv, a, err))
        return false;
    if (out->n == 0)
        return fail(err, "%s: no reference points of '%s' for %s; known: resnet, bert, rnnt", csv->path, benchmark, out->ruleset);
    return true;
}

bool rcp_load(struct rcp_table *out, const char *benchmark, const char *round, enum rcp_edition edition, const char *data_dir,
              struct arena *a, struct err *err)
{
    struct csv_table csv;
    return csv_load(&csv, arena_printf(a, "%s/rcp.csv", data_dir), a, err) && rcp_take(out, &csv, benchmark, round, edition, a, err);
}

/* ---- pruning and interpolation ---------------------------------------------------------------- */

static double between(double x, double x0, double y0, double x1, double y1)
{
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

static void drop(struct rcp_table *t, size_t first, size_t n)
{
    memmove(t->points + first, t->points + first + n, (t->n - first - n) * sizeof *t->points);
    t->n -= n;
}

static double least_of(const struct rcp_point *p)
{
    return p->least;
}

static double mean_of(const struct rcp_point *p)
{
    return p->mean;
}

static void prune(struct rcp_table *t, double (*slowness)(const struct rcp_point *))
{
    size_t fastest = 0;
    for (size_t i = 1; i < t->n; i++)
        if (slowness(t->points + i) < slowness(t->points + fastest))
            fastest = i;
    drop(t, 0, fastest);
    for (size_t i = 1; i + 1 < t->n; ) {
        const struct rcp_point *p = t->points + i;
        if (slowness(p) > between(p->batch, p[-1].batch, slowness(p - 1), p[1].batch, slowness(p + 1)))
            drop(t, i, 1);
        else
            i++;
    }
}

void rcp_prune(struct rcp_table *t)
{
    prune(t, least_of);
}

void rcp_prune_by_mean(struct rcp_table *t)
{
    prune(t, mean_of);
}

bool rcp_interpolate(double *mean, double *sd, const struct rcp_table *t, double batch)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct rcp_point *p = t->points + i;
        if (p->batch == batch) {
            *mean = p->mean, *sd = p->sd;
            return true;
        }
        if (i > 0 && p->batch > batch && p[-1].batch < batch) {
            *mean = between(batch, p[-1].batch, p[-1].mean, p->batch, p->mean);
            *sd = between(batch, p[-1].batch, p[-1].sd, p->batch, p->sd);
            return true;
        }
    }
    return false;
}
