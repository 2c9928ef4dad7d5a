/*
 * convergence.c - samples to the target; see convergence.h.
 *
 * Error of the median: the table's own error (of a record's mean; or leave-one-batch-out, of the line or of the law) and the spread of implementations about the
 * reference (from the calibration runs), added in squares. No factor moves the centre off the reference: a submission that converges
 * faster than it fails the reference-convergence test. Reference lists step by a grid (an epoch; 25,000 samples for BERT), so X lies half
 * a grid before their mean. Limits: batches beyond the table are extrapolated however far; hyperparameters are those of the reference.
 */
#include "workloads/convergence/convergence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "workloads/convergence/convergence_law.h"

const char *const convergence_method_names[3] = { "interpolated", "extrapolated", NULL };
enum { LEAST_LAW_POINTS = 5, MOST_EVALUATIONS = 4000 };

/* ---- tables ---------------------------------------------------------------------------------- */

static bool cell_number(double *out, const struct csv_table *t, size_t row, const char *column, double absent, struct err *err)
{
    size_t c;
    if (!csv_column(&c, t, column, err))
        return false;
    const char *text = t->rows[row].cells[c];
    *out = absent;
    return !*text || parse_f64(text, out)
        || fail(err, "%s:%u: %s: '%s' is not a number", t->path, t->rows[row].line, column, text);
}

static bool take_facts(struct benchmark_facts *out, const struct csv_table *t, size_t row, struct err *err)
{
    size_t better, unit;
    if (!csv_column(&better, t, "better", err) || !csv_column(&unit, t, "unit", err))
        return false;
    out->unit = t->rows[row].cells[unit];
    out->higher_is_better = text_is(t->rows[row].cells[better], "higher");
    return cell_number(&out->samples_per_epoch, t, row, "samples_per_epoch", 1, err)
        && cell_number(&out->eval_samples, t, row, "eval_samples", 0, err) && cell_number(&out->target, t, row, "target", 0, err)
        && cell_number(&out->reference_grid, t, row, "reference_grid", 0, err);
}

static bool find_facts(struct benchmark_facts *out, const struct csv_table *t, const char *benchmark, struct err *err)
{
    size_t name;
    *out = (struct benchmark_facts){ .name = benchmark };
    if (!csv_column(&name, t, "benchmark", err))
        return false;
    for (size_t i = 0; i < t->n_rows; i++)
        if (text_is(t->rows[i].cells[name], benchmark))
            return take_facts(out, t, i, err);
    return fail(err, "%s: no benchmark '%s'; known: resnet, bert, rnnt", t->path, benchmark);
}

bool benchmark_facts(struct benchmark_facts *out, const char *benchmark, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    return csv_load(&t, arena_printf(a, "%s/benchmarks.csv", data_dir), a, err) && find_facts(out, &t, benchmark, err);
}

static bool cell_is(const struct csv_table *t, size_t row, size_t column, const char *wanted)
{
    const char *text = t->rows[row].cells[column];
    return text_is(text, "any") || text_is(text, wanted);
}

static bool find_fit(double *value, double *standard_error, const struct csv_table *t, const char *benchmark, const char *ruleset,
                     const char *key, struct err *err)
{
    size_t bench, rules, name;
    double unused;
    if (!csv_column(&bench, t, "benchmark", err) || !csv_column(&rules, t, "ruleset", err) || !csv_column(&name, t, "key", err))
        return false;
    for (size_t i = 0; i < t->n_rows; i++)
        if (text_is(t->rows[i].cells[name], key) && cell_is(t, i, bench, benchmark) && cell_is(t, i, rules, ruleset))
            return cell_number(value, t, i, "value", NAN, err)
                && cell_number(standard_error ? standard_error : &unused, t, i, "standard_error", 0, err);
    return fail(err, "%s: no row '%s' for %s %s", t->path, key, benchmark, ruleset);
}

bool fit_value(double *value, double *standard_error, const char *benchmark, const char *ruleset, const char *key,
               const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    return csv_load(&t, arena_printf(a, "%s/fits.csv", data_dir), a, err)
        && find_fit(value, standard_error, &t, benchmark, ruleset, key, err);
}

static bool take_points(struct rcp_table *line, struct rcp_table *law, const struct csv_table *rcp, const char *benchmark, const char *round,
                        struct arena *a, struct err *err)
{
    if (!rcp_take(line, rcp, benchmark, round, RCP_LATER, a, err) || !rcp_take(law, rcp, benchmark, round, RCP_LATER, a, err))
        return false;
    rcp_prune_by_mean(line);
    if (line->n >= LEAST_LAW_POINTS)
        *law = *line;
    return true;
}

bool convergence_points(struct rcp_table *line, struct rcp_table *law, const char *benchmark, const char *round, const char *data_dir,
                        struct arena *a, struct err *err)
{
    struct csv_table rcp;
    return csv_load(&rcp, arena_printf(a, "%s/rcp.csv", data_dir), a, err) && take_points(line, law, &rcp, benchmark, round, a, err);
}

/* ---- tables read once, and of each benchmark and round what its predictions stand on --------------- */

struct reference {
    const char *benchmark, *ruleset;
    struct benchmark_facts facts;
    struct rcp_table line, full;        /* pruned by mean; all records */
    struct reference *next;
};

struct convergence_tables {
    struct csv_table benchmarks, fits, rcp;
    struct reference *references;
    struct arena *a;
};

bool convergence_tables_load(struct convergence_tables **out, const char *data_dir, struct arena *a, struct err *err)
{
    struct convergence_tables *t = *out = ARENA_NEW(a, struct convergence_tables);
    t->a = a;
    return csv_load(&t->benchmarks, arena_printf(a, "%s/benchmarks.csv", data_dir), a, err)
        && csv_load(&t->rcp, arena_printf(a, "%s/rcp.csv", data_dir), a, err)
        && csv_load(&t->fits, arena_printf(a, "%s/fits.csv", data_dir), a, err);
}

/* NULL, with the reason, where there are no points. */
static const struct reference *reference_of(struct convergence_tables *t, const char *benchmark, const char *round, struct err *err)
{
    struct rcp_table law;
    for (const struct reference *r = t->references; r; r = r->next)
        if (text_is(r->benchmark, benchmark) && text_is(r->ruleset, rcp_ruleset(round)))
            return r;
    struct reference *r = ARENA_NEW(t->a, struct reference);
    if (!find_facts(&r->facts, &t->benchmarks, benchmark, err)
        || !take_points(&r->line, &law, &t->rcp, benchmark, round, t->a, err)
        || !rcp_take(&r->full, &t->rcp, benchmark, round, RCP_LATER, t->a, err))
        return NULL;
    r->benchmark = arena_strdup(t->a, benchmark);
    r->ruleset = rcp_ruleset(round);
    r->next = t->references;
    t->references = r;
    return r;
}

/* ---- the centre and its error ------------------------------------------------------------------- */

struct lookup { struct convergence *c; const struct csv_table *fits; const struct reference *reference; struct err *err; };

static bool look(const struct lookup *l, const char *key, double *out)
{
    return find_fit(out, NULL, l->fits, l->c->benchmark, l->c->ruleset, key, l->err);
}

/* Beyond the table the law carries on from its first or last point. */
static bool extrapolate(const struct lookup *l, const struct rcp_table *t, double *table_error)
{
    struct convergence_law law = { 0 };
    struct convergence *c = l->c;
    const struct rcp_point *end = c->global_batch < t->points[0].batch ? t->points : t->points + t->n - 1;
    if (!look(l, "law_e0", &law.e0) || !look(l, "law_bc", &law.bc) || !look(l, "law_g", &law.g) || !look(l, "law_error", table_error))
        return false;
    c->method = CONVERGENCE_EXTRAPOLATED;
    c->reference = end->mean * law_beyond(&law, c->global_batch) / law_beyond(&law, end->batch);
    return true;
}

static bool at_record(const struct lookup *l, const struct rcp_table *t, double *table_error)
{
    for (const struct rcp_point *p = t->points; p < t->points + t->n; p++)
        if (p->batch == l->c->global_batch) {
            l->c->reference = p->mean;
            *table_error = p->sd / p->mean / sqrt((double)p->n);
            return true;
        }
    return false;
}

/* Pruning cuts off batches below the fastest; where the reference has records there all the same, those stand. */
static bool set_centre(const struct lookup *l, double *table_error)
{
    double sd;
    const struct rcp_table *t = &l->reference->line, *full = &l->reference->full;
    struct convergence *c = l->c;
    if (c->global_batch < t->points[0].batch && c->global_batch >= full->points[0].batch)
        t = full;
    c->method = CONVERGENCE_INTERPOLATED;
    if (at_record(l, t, table_error))
        return true;
    if (!rcp_interpolate(&c->reference, &sd, t, c->global_batch))
        return extrapolate(l, t, table_error);
    return look(l, "line_error", table_error);
}

/* Beyond the table the noise is that of its end. */
static bool set_noise(const struct lookup *l, const struct rcp_table *t)
{
    double coefficient, exponent, batch = fmin(fmax(l->c->global_batch, t->points[0].batch), t->points[t->n - 1].batch);
    if (!look(l, "noise_coefficient", &coefficient) || !look(l, "noise_exponent", &exponent))
        return false;
    l->c->sigma = coefficient * pow(batch, exponent);
    return true;
}

static bool set_error(const struct lookup *l, double table_error)
{
    double implementation;
    if (!look(l, "implementation_error", &implementation) || !look(l, "implementation_dof", &l->c->error_dof))
        return false;
    l->c->error = hypot(table_error, implementation);
    return true;
}

/* Whole epochs: the reference times the margin that submitters leave, to the nearest. */
static bool set_plan(const struct lookup *l, const char *optimizer, double table_error)
{
    double margin, margin_error;
    struct convergence *c = l->c;
    c->has_plan = text_is(c->benchmark, "resnet");
    if (!c->has_plan)
        return true;
    const char *key = text_is(optimizer, "sgd") ? "schedule_margin_sgd" : "schedule_margin_lars";
    if (!look(l, key, &margin) || !look(l, "schedule_error", &margin_error) || !look(l, "final_accuracy_mean", &c->accuracy_mean)
        || !look(l, "final_accuracy_sd", &c->accuracy_sd))
        return false;
    c->planned_epochs = round(c->reference * margin);
    c->plan_error = hypot(margin_error, table_error);
    return true;
}

double convergence_observed(const struct convergence *c, double x, double offset)
{
    double interval = c->schedule.interval;
    if (!c->in_samples) {
        double epochs = x / c->samples_per_epoch + offset;
        return (ceil(epochs / interval) * interval - offset) * c->samples_per_epoch;
    }
    double due = ceil(x / interval) * interval;
    return ceil(ceil(due / c->global_batch) * c->global_batch - 1e-6);   /* a packed batch may hold a broken number on average */
}

/* Sum over the evaluations of samples times the probability that X lies in the interval before it. */
static double expected_observed(const struct convergence *c)
{
    double sum = 0, before = 0, unit = c->in_samples ? c->schedule.interval : c->schedule.interval * c->samples_per_epoch;
    for (int k = 1; k < MOST_EVALUATIONS && before < 1 - 1e-12; k++) {
        double p = gsl_cdf_ugaussian_P(log(k * unit / c->median_samples) / c->sigma);
        sum += (p - before) * convergence_observed(c, k * unit, 0);
        before = p;
    }
    return sum;
}

double convergence_plan_pass(const struct convergence *c)
{
    double z = (c->accuracy_mean - c->target) / c->accuracy_sd;
    return gsl_cdf_ugaussian_P(c->higher_is_better ? z : -z);
}

bool convergence_predict_from(struct convergence *out, struct convergence_tables *tables, const char *benchmark, const char *round,
                              double global_batch, const char *optimizer, struct err *err)
{
    double table_error;
    *out = (struct convergence){ .benchmark = benchmark, .ruleset = rcp_ruleset(round), .global_batch = global_batch };
    if (!(global_batch > 0))
        return fail(err, "global batch %g, want a number above 0", global_batch);
    struct lookup l = { out, &tables->fits, reference_of(tables, benchmark, round, err), err };
    if (!l.reference)
        return false;
    const struct benchmark_facts *facts = &l.reference->facts;
    out->in_samples = text_is(facts->unit, "samples");
    out->samples_per_epoch = facts->samples_per_epoch;
    out->target = facts->target;
    out->higher_is_better = facts->higher_is_better;
    eval_schedule_of(&out->schedule, benchmark, global_batch);
    if (!set_centre(&l, &table_error) || !set_noise(&l, &l.reference->line) || !set_error(&l, table_error)
        || !set_plan(&l, optimizer, table_error))
        return false;
    out->median_samples = (out->reference - facts->reference_grid / 2) * out->samples_per_epoch;
    out->mean_samples = expected_observed(out);
    return true;
}

bool convergence_predict_for(struct convergence *out, const char *benchmark, const char *round, double global_batch,
                             const char *optimizer, const char *data_dir, struct arena *a, struct err *err)
{
    struct convergence_tables *tables;
    return convergence_tables_load(&tables, data_dir, a, err)
        && convergence_predict_from(out, tables, benchmark, round, global_batch, optimizer, err);
}

bool convergence_predict(struct convergence *out, const char *benchmark, const char *round, double global_batch, const char *data_dir,
                         struct arena *a, struct err *err)
{
    return convergence_predict_for(out, benchmark, round, global_batch, NULL, data_dir, a, err);
}
