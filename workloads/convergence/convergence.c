/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence.c - samples to the target; see convergence.h.
 *
 *     centre = reference * exp(effect_SUBMITTER) * exp(open_gain)
 *
 * fits.csv holds the effect of a submitter in a round, and the gain that the open division has from re-tuning: its mean
 * over the reference records that were tuned anew at their batch. The error is the spread of submissions about the
 * centre, which includes the error of the line between records. Beyond the records, the law's leave-one-batch-out error
 * is added in squares. Reference lists step by a grid (an epoch, or 25,000 samples for BERT), so X is half a grid below
 * their mean. If the round's record of this batch has another learning rate than the run, and an earlier round has a
 * record with the run's own, the earlier record is the reference.
 * Limits: batches beyond the records are extrapolated at any distance. The learning rate is the only hyperparameter that
 * counts. Fixed schedules (has_plan) have no effect of a submitter, only their margin.
 */
#include "workloads/convergence/convergence.h"

#include <gsl/gsl_cdf.h>

#include "workloads/convergence/convergence_law.h"

enum { LEAST_LAW_POINTS = 5, MANY_EVALUATIONS = 10000 };

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *const betters[] = { "lower", "higher", NULL };
#define F(member) FIELD_OF(struct benchmark_facts, member, FIELD_ANY, .required = true)
static const struct field fact_fields[] = {
    F(benchmark), F(unit), F(eval_samples), F(target), F(reference_grid), FIELD_OF(struct benchmark_facts, samples_per_epoch, FIELD_ANY),
    FIELD_AS(struct benchmark_facts, higher_is_better, "better", .choices = betters, .required = true),
};
#undef F
/* A row of fits.csv; ruleset or benchmark may be "any". */
struct fit_row { const char *benchmark, *ruleset, *key; double value, standard_error; };
#define F(member, ...) FIELD_OF(struct fit_row, member, FIELD_ANY, __VA_ARGS__)
static const struct field fit_fields[] = {
    F(benchmark, .required = true), F(ruleset, .required = true), F(key, .required = true), F(value, .required = true), F(standard_error),
};
#undef F

struct fit_rows { const char *path; struct fit_row *items; size_t n; };

static bool fit_rows_load(struct fit_rows *out, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct fit_rows){ .path = arena_printf(a, "%s/fits.csv", data_dir) };
    return LIST_LOAD(out, &t, out->path, fit_fields, a, err);
}

static const struct fit_row *find_fit(const struct fit_rows *fits, const char *benchmark, const char *ruleset, const char *key, struct err *err)
{
    for (const struct fit_row *r = fits->items; r < fits->items + fits->n; r++)
        if (text_is(r->key, key) && (text_is(r->benchmark, "any") || text_is(r->benchmark, benchmark))
            && (text_is(r->ruleset, "any") || text_is(r->ruleset, ruleset)))
            return r;
    fail(err, "%s: no row '%s' for %s %s", fits->path, key, benchmark, ruleset);
    return NULL;
}

/* The error, or 0 if it is not stated. */
static double known(double error)
{
    return isnan(error) ? 0 : error;
}

bool fit_value(double *value, double *standard_error, const char *benchmark, const char *ruleset, const char *key, const char *data_dir, struct arena *a,
               struct err *err)
{
    struct fit_rows fits;
    const struct fit_row *r = fit_rows_load(&fits, data_dir, a, err) ? find_fit(&fits, benchmark, ruleset, key, err) : NULL;
    *value = r ? r->value : (double)NAN;
    if (standard_error)
        *standard_error = r ? known(r->standard_error) : (double)NAN;
    return r;
}

static bool find_facts(struct benchmark_facts *out, const struct csv_table *t, const char *benchmark, struct err *err)
{
    const struct csv_row *row = csv_row_named(t, benchmark);
    if (!row)
        return fail(err, "%s: no benchmark '%s'; known: resnet, bert, rnnt", t->path, benchmark);
    if (!fields_from_row(out, fact_fields, N_FIELDS(fact_fields), t, row, err))
        return false;
    out->samples_per_epoch = isnan(out->samples_per_epoch) ? 1 : out->samples_per_epoch;       /* samples_per_epoch is 1 for a benchmark that counts samples */
    return true;
}

bool benchmark_facts(struct benchmark_facts *out, const char *benchmark, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    return fields_load(&t, arena_printf(a, "%s/benchmarks.csv", data_dir), fact_fields, N_FIELDS(fact_fields), a, err) && find_facts(out, &t, benchmark, err);
}

static struct rcp_table pruned_copy(const struct rcp_table *full, void (*prune)(struct rcp_table *), struct arena *a)
{
    struct rcp_table line = *full;
    line.points = ARENA_ARRAY(a, struct rcp_point, full->n);
    memcpy(line.points, full->points, full->n * sizeof *line.points);
    prune(&line);
    return line;
}

bool convergence_points(struct rcp_table *line, struct rcp_table *law, const char *benchmark, const char *round, const char *data_dir,
                        struct arena *a, struct err *err)
{
    if (!rcp_load(law, benchmark, round, RCP_LATER, data_dir, a, err))
        return false;
    rcp_count_samples(law);
    *line = pruned_copy(law, rcp_prune_by_mean, a);
    if (line->n >= LEAST_LAW_POINTS)
        *law = *line;
    return true;
}

/* ---- tables read once, and the data of each benchmark and round --------------- */

struct benchmark_reference {
    const char *benchmark;
    const struct edition *edition;
    struct benchmark_facts facts;
    struct rcp_table line, full;        /* line: pruned by mean; full: all records */
    struct rcp_table judged;            /* pruned as the edition's checker does */
    struct benchmark_reference *next;
};

struct convergence_tables {
    struct csv_table benchmarks;
    struct fit_rows fits;
    struct round_table rounds;
    struct benchmark_reference *references;
    struct arena *a;
};

bool convergence_tables_load(struct convergence_tables **out, const char *data_dir, struct arena *a, struct err *err)
{
    struct convergence_tables *t = *out = ARENA_NEW(a, struct convergence_tables);
    t->a = a;
    return fields_load(&t->benchmarks, arena_printf(a, "%s/benchmarks.csv", data_dir), fact_fields, N_FIELDS(fact_fields), a, err) && round_table_load(&t->rounds, data_dir, a, err)
        && fit_rows_load(&t->fits, data_dir, a, err);
}

/* The reference of a benchmark; NULL, with a message, if it has no points. */
static struct benchmark_reference *reference_of(struct convergence_tables *t, const char *benchmark, const char *round, struct err *err)
{
    const struct edition *e = edition_find(&t->rounds, round);
    for (struct benchmark_reference *r = t->references; r; r = r->next)
        if (text_is(r->benchmark, benchmark) && r->edition == e)
            return r;
    struct benchmark_reference *r = ARENA_NEW(t->a, struct benchmark_reference);
    if (!find_facts(&r->facts, &t->benchmarks, benchmark, err)
        || !rcp_load_with(&r->full, &t->rounds, benchmark, round, RCP_LATER, t->a, err))
        return NULL;
    r->line = pruned_copy(&r->full, rcp_prune_by_mean, t->a);
    r->judged = pruned_copy(&r->full, rcp_prune, t->a);
    r->benchmark = arena_strdup(t->a, benchmark);
    r->edition = e;
    r->next = t->references;
    t->references = r;
    return r;
}

/* ---- the centre and its error ------------------------------------------------------------------- */

struct prediction {
    struct convergence *c;
    const struct submission_terms *terms;
    struct convergence_tables *tables;
    struct benchmark_reference *reference;
    struct err *err;
};

static const struct fit_row *fit_of(const struct prediction *l, const char *key, struct err *err)
{
    return find_fit(&l->tables->fits, l->reference->benchmark, l->reference->edition->ruleset, key, err);
}

static bool fit_number(const struct prediction *l, const char *key, double *out)
{
    const struct fit_row *r = fit_of(l, key, l->err);
    *out = r ? r->value : (double)NAN;
    return r;
}

/* Scales the law so that it meets the first or last record. */
static bool extrapolate_law(const struct prediction *l, const struct rcp_table *t)
{
    double e0, bc, g;
    struct convergence *c = l->c;
    const struct rcp_point *end = c->global_batch < t->points[0].batch ? t->points : t->points + t->n - 1;
    if (!fit_number(l, "law_e0", &e0) || !fit_number(l, "law_bc", &bc) || !fit_number(l, "law_g", &g))
        return false;
    const struct convergence_law law = { .e0 = e0, .bc = bc, .g = g };
    c->method = CONVERGENCE_EXTRAPOLATED;
    c->reference = law_through(&law, end, c->global_batch);
    return true;
}

static const struct rcp_point *record_at(const struct rcp_table *t, double batch)
{
    for (const struct rcp_point *p = t->points; p < t->points + t->n; p++)
        if (p->batch == batch)
            return p;
    return NULL;
}

static bool has_rate(const struct rcp_point *p, double rate)
{
    return p && fabs(p->learning_rate / rate - 1) < 0.01;       /* learning_rate is 0 for a record that names none */
}

/* The record of the latest earlier round that has the run's learning rate, if the round's own record has another one. Else NULL. */
static const struct rcp_point *record_by_rate(const struct prediction *l)
{
    double rate = l->terms->base_learning_rate;
    const struct rcp_point *own = record_at(&l->reference->full, l->c->global_batch);
    if (!(rate > 0) || !own || has_rate(own, rate))
        return NULL;
    const struct round_table *rounds = &l->tables->rounds;
    for (const struct edition *e = edition_before(rounds, l->reference->edition); e && e->reference_points; e = edition_before(rounds, e)) {
        const struct benchmark_reference *r = reference_of(l->tables, l->c->benchmark, e->round, NULL);
        const struct rcp_point *p = r ? record_at(&r->full, l->c->global_batch) : NULL;
        if (has_rate(p, rate))
            return p;
    }
    return NULL;
}

static bool at_record(const struct prediction *l, const struct rcp_table *t)
{
    const struct rcp_point *p = record_by_rate(l);
    if (!p)
        p = record_at(t, l->c->global_batch);
    if (p)
        l->c->reference = p->mean;
    return p;
}

/* Pruning removes the records below the fastest batch; for such a batch the full table is used. */
static bool set_centre(const struct prediction *l)
{
    double sd;
    const struct rcp_table *t = &l->reference->line, *full = &l->reference->full;
    struct convergence *c = l->c;
    if (c->global_batch < t->points[0].batch && c->global_batch >= full->points[0].batch)
        t = full;
    c->method = CONVERGENCE_INTERPOLATED;
    if (at_record(l, t) || rcp_interpolate(&c->reference, &sd, t, c->global_batch))
        return true;
    return extrapolate_law(l, t);
}

/* Beyond the records the noise is that of the nearest one. */
static bool set_noise(const struct prediction *l, const struct rcp_table *t)
{
    double coefficient, exponent, batch = fmin(fmax(l->c->global_batch, t->points[0].batch), t->points[t->n - 1].batch);
    if (!fit_number(l, "noise_coefficient", &coefficient) || !fit_number(l, "noise_exponent", &exponent))
        return false;
    l->c->sigma = coefficient * pow(batch, exponent);
    return true;
}

/* The open division lets a submitter gain on the reference by other hyperparameters. */
static bool add_open_gain(const struct prediction *l)
{
    if (!text_is(l->terms->division, "open"))
        return true;
    const struct fit_row *gain = fit_of(l, "open_gain", l->err);
    if (gain)
        l->c->effect += gain->value, l->c->error = hypot(l->c->error, known(gain->standard_error));
    return gain;
}

static bool set_effect(const struct prediction *l)
{
    struct convergence *c = l->c;
    char key[64];
    double law_error;
    snprintf(key, sizeof key, "effect_%s", l->terms->submitter ? l->terms->submitter : "");
    const struct fit_row *own = fit_of(l, key, NULL);
    if (own)
        c->effect = own->value, c->error = known(own->standard_error);
    else if (!fit_number(l, "spread", &c->error))
        return false;
    if (!fit_number(l, "spread_dof", &c->error_dof) || !add_open_gain(l))
        return false;
    if (c->method == CONVERGENCE_INTERPOLATED)
        return true;
    if (!fit_number(l, "law_error", &law_error))
        return false;
    c->error = hypot(c->error, law_error);
    return true;
}

/* The plan is the reference times the margin that submitters leave, rounded to whole epochs. */
static bool set_plan(const struct prediction *l)
{
    double margin, margin_error, law_error = 0;
    struct convergence *c = l->c;
    c->has_plan = text_is(c->benchmark, "resnet");
    if (!c->has_plan)
        return true;
    const char *key = text_is(l->terms->optimizer, "sgd") ? "schedule_margin_sgd" : "schedule_margin_lars";
    if (!fit_number(l, key, &margin) || !fit_number(l, "schedule_error", &margin_error) || !fit_number(l, "schedule_dof", &c->plan_dof)
        || !fit_number(l, "final_accuracy_mean", &c->accuracy_mean)
        || !fit_number(l, "final_accuracy_sd", &c->accuracy_sd)
        || (c->method == CONVERGENCE_EXTRAPOLATED && !fit_number(l, "law_error", &law_error)))
        return false;
    c->planned_epochs = round(c->reference * margin);
    c->plan_error = hypot(margin_error, law_error);
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
    return ceil(ceil(due / c->global_batch) * c->global_batch - 1e-6);   /* a packed batch may hold a fractional number of samples on average */
}

/* Sums, over the evaluations, samples times the probability that X falls into the interval before. With very many
 * evaluations, the next one is half an interval away on average. */
double convergence_expected(const struct convergence *c)
{
    double sum = 0, before = 0, unit = c->in_samples ? c->schedule.interval : c->schedule.interval * c->samples_per_epoch;
    if (c->median_samples > MANY_EVALUATIONS * unit)
        return c->median_samples * exp(c->sigma * c->sigma / 2) + unit / 2;
    for (int k = 1; k < 100 * MANY_EVALUATIONS && before < 1 - 1e-12; k++) {
        double p = gsl_cdf_ugaussian_P(log(k * unit / c->median_samples) / c->sigma);
        sum += (p - before) * convergence_observed(c, k * unit, 0);
        before = p;
    }
    return sum;
}

static bool start_prediction(struct prediction *l, struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms,
                  struct err *err)
{
    *out = (struct convergence){ .benchmark = terms->benchmark, .ruleset = "", .global_batch = terms->global_batch };
    *l = (struct prediction){ out, terms, tables, NULL, err };
    if (!(terms->global_batch > 0))
        return fail(err, "global batch %g, want a number above 0", terms->global_batch);
    l->reference = reference_of(tables, terms->benchmark, terms->round, err);
    if (!l->reference)
        return false;
    const struct benchmark_facts *facts = &l->reference->facts;
    out->in_samples = text_is(facts->unit, "samples");
    out->samples_per_epoch = facts->samples_per_epoch;
    out->target = facts->target;
    out->higher_is_better = facts->higher_is_better;
    eval_schedule_of(&out->schedule, terms->benchmark, terms->global_batch);
    out->edition = l->reference->edition;
    out->ruleset = out->edition->ruleset;
    out->is_closed = !text_is(terms->division, "open");
    rcp_limit_at(&out->limit, &l->reference->judged, terms->global_batch);
    return true;
}

static double latent_reference(const struct prediction *l)
{
    return (l->c->reference - l->reference->facts.reference_grid / 2) * l->c->samples_per_epoch;
}

bool convergence_predict_from(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms,
                              struct err *err)
{
    struct prediction l;
    if (!start_prediction(&l, out, tables, terms, err) || !set_centre(&l) || !set_noise(&l, &l.reference->line) || !set_effect(&l) || !set_plan(&l))
        return false;
    out->median_samples = latent_reference(&l) * exp(out->effect);
    out->mean_samples = convergence_expected(out);
    return true;
}

bool convergence_reference(struct convergence *out, struct convergence_tables *tables, const struct submission_terms *terms, struct err *err)
{
    struct prediction l;
    if (!start_prediction(&l, out, tables, terms, err) || !set_centre(&l))
        return false;
    out->median_samples = latent_reference(&l);
    return out->method == CONVERGENCE_INTERPOLATED || fail(err, "batch %g lies outside the reference points", out->global_batch);
}

bool convergence_predict_for(struct convergence *out, const struct submission_terms *terms, const char *data_dir, struct arena *a,
                             struct err *err)
{
    struct convergence_tables *tables;
    return convergence_tables_load(&tables, data_dir, a, err) && convergence_predict_from(out, tables, terms, err);
}

double convergence_scaling(const struct convergence *c, double samples)
{
    return c->is_closed && samples > 0 ? rcp_scaling(c->edition, &c->limit, samples / c->samples_per_epoch) : 1;
}
