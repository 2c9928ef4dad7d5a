/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * predictions.c - reads predictions of published results, makes baselines, and computes errors; see predictions.h.
 *     error = predicted / published - 1
 * The width of an interval is (high - low) / predicted.
 */
#include "results/rounds/predictions.h"

const char *const prediction_uses[N_PREDICTION_USES + 1] = { "blind", "seen", "fitted", NULL };
static const char *const guess_names[] = { "no", "yes", NULL };

/* ---- the file ------------------------------------------------------------------------------------------- */

#define C(member, ...) { COLUMN(struct result_prediction, member), .csv_digits = 15, __VA_ARGS__ }
static const struct table_column prediction_columns[] = {
    C(round), C(division), C(submitter), C(system), C(benchmark), C(global_batch), C(samples_per_s), C(minutes), C(low), C(high),
    { COLUMN_AS(struct result_prediction, use_name, "use") }, { COLUMN_AS(struct result_prediction, guess_name, "guess") },
};
#undef C

void predictions_write(FILE *f, const struct predictions *p)
{
    const struct table t = TABLE_OF(prediction_columns, p->items, p->n);
    table_write(f, FORMAT_CSV, &t);
}

void prediction_add(struct predictions *p, const struct round_result *of, bool minutes, double value, double low, double high,
                    enum prediction_use use, bool guess, struct arena *a)
{
    LIST_ADD(p, a, (struct result_prediction){ of->round, of->division, of->submitter, of->system, of->benchmark, of->global_batch,
        minutes ? (double)NAN : value, minutes ? value : (double)NAN, low, high, prediction_uses[use], guess_names[guess], use, guess, 0 });
}

#define NAME(member) FIELD_OF(struct result_prediction, member, .required = true)
#define NUMBER(member) FIELD_OF(struct result_prediction, member, .min = 1e-12, .max = 1e18)
static const struct field prediction_fields[] = {
    NAME(round), NAME(division), NAME(submitter), NAME(system), NAME(benchmark), FIELD_OF(struct result_prediction, use, .choices = prediction_uses, .required = true),
    NUMBER(global_batch), NUMBER(samples_per_s), NUMBER(minutes), NUMBER(low), NUMBER(high), FIELD_OF(struct result_prediction, guess, .choices = guess_names),
};
enum { N_OPTIONAL_COLUMNS = 6 };        /* the columns after `use` */
#undef NUMBER
#undef NAME

static double predicted_value(const struct result_prediction *p)
{
    return isnan(p->minutes) ? p->samples_per_s : p->minutes;
}

static bool read_prediction(struct result_prediction *p, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    if (!fields_from_row(p, prediction_fields, N_FIELDS(prediction_fields), t, row, err))
        return false;
    p->line = row->line, p->use_name = prediction_uses[p->use], p->guess_name = guess_names[p->guess];
    if (isnan(p->samples_per_s) == isnan(p->minutes))
        return fail(err, "%s:%u: want either samples_per_s or minutes", t->path, row->line);
    if (isnan(p->low) != isnan(p->high) || p->low > predicted_value(p) || p->high < predicted_value(p))
        return fail(err, "%s:%u: low and high: want both, around the prediction, or neither", t->path, row->line);
    return true;
}

static bool predicts_same(const struct result_prediction *p, const struct result_prediction *q)
{
    return text_is(p->round, q->round) && text_is(p->division, q->division) && text_is(p->submitter, q->submitter)
        && text_is(p->system, q->system) && text_is(p->benchmark, q->benchmark);
}

/* Refuses a number that is predicted twice, and a result with two different uses. */
static bool check_pair(const struct result_prediction *p, const struct result_prediction *q, const char *path, struct err *err)
{
    if (!predicts_same(p, q))
        return true;
    if (isnan(p->minutes) == isnan(q->minutes))
        return fail(err, "%s:%u: predicts the same number as line %u", path, q->line, p->line);
    return p->use == q->use || fail(err, "%s:%u: use: %s, but line %u says that the same result is %s", path, q->line, q->use_name, p->line, p->use_name);
}

bool predictions_load(struct predictions *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct predictions){0};
    if (!fields_load(&t, path, prediction_fields, N_FIELDS(prediction_fields) - N_OPTIONAL_COLUMNS, a, err))
        return false;
    out->items = ARENA_ARRAY(a, struct result_prediction, t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++) {
        if (!read_prediction(&out->items[i], &t, &t.rows[i], err))
            return false;
        for (size_t k = 0; k < i; k++)
            if (!check_pair(&out->items[k], &out->items[i], path, err))
                return false;
        out->n = out->cap = i + 1;
    }
    return out->n > 0 || fail(err, "%s: holds no prediction; want rows below the header", path);
}

/* ---- errors ----------------------------------------------------------------------------------------------- */

void error_stats_add(struct error_stats *s, double error, const char *row)
{
    s->mean += fabs(error), s->bias += error;
    if (s->n == 0 || fabs(error) > fabs(s->worst))
        s->worst = error, s->worst_row = row;
    s->sizes[s->n++] = fabs(error);
}

void error_stats_add_interval(struct error_stats *s, bool inside, double width)
{
    s->n_intervals++;
    s->inside += inside, s->width += width;
}

void error_stats_end(struct error_stats *s)
{
    double n = s->n ? (double)s->n : (double)NAN, n_intervals = s->n_intervals ? (double)s->n_intervals : (double)NAN;
    s->mean /= n, s->bias /= n, s->inside /= n_intervals, s->width /= n_intervals;
    s->worst = s->n ? s->worst : (double)NAN;
    s->median = median_of(s->sizes, s->n);
}

/* ---- baselines ---------------------------------------------------------------------------------------------- */

static double result_value(const struct round_result *r, bool minutes)
{
    return minutes ? r->minutes : r->samples_per_s;
}

static double capacity(const struct round_result *r, const struct accelerator_table *accelerators, enum baseline b)
{
    const struct accelerator *x = accelerator_find(accelerators, r->accelerator);
    return b == BASELINE_OWN_LAST ? r->accelerators : x ? r->accelerators * x->peak_flop_per_s : (double)NAN;
}

struct guess { const struct round_result *from; double ratio; };         /* ratio: the capacity of the predicted result over that of `from` */

/* True if g is the better guess. For the submitter's last result, later rounds are better, then nearer capacities. For the nearest result,
 * nearer capacities are better, then later rounds. */
static bool is_better(const struct guess *g, const struct guess *than, enum baseline b)
{
    int later = strverscmp(g->from->round, than->from->round);
    double nearer = fabs(log(than->ratio)) - fabs(log(g->ratio));
    if (b == BASELINE_OWN_LAST)
        return later > 0 || (later == 0 && nearer > 0);
    return nearer > 0 || (!(nearer < 0) && later > 0);
}

static struct guess guess_from(const struct round_result *of, const struct round_results *r, bool minutes, enum baseline b,
                               const struct accelerator_table *accelerators)
{
    struct guess best = {0};
    double own = capacity(of, accelerators, b);
    for (const struct round_result *x = r->items, *end = r->items + r->n; x < end; x++) {
        if (strverscmp(x->round, of->round) >= 0 || !text_is(x->benchmark, of->benchmark) || !text_is(x->division, of->division)
            || (b == BASELINE_OWN_LAST && !text_is(x->submitter, of->submitter)))
            continue;
        struct guess g = { x, own / capacity(x, accelerators, b) };
        if (isfinite(g.ratio) && g.ratio > 0 && isfinite(result_value(x, minutes)) && (!best.from || is_better(&g, &best, b)))
            best = g;
    }
    return best;
}

/* Fills the guesses, and returns the nearest published result. */
static const struct round_result *fill_guesses(struct judged_prediction *j, const struct round_results *r, bool minutes,
                                               const struct accelerator_table *accelerators, struct arena *a)
{
    const struct round_result *nearest = NULL;
    for (int b = 0; b < N_BASELINES; b++) {
        struct guess g = guess_from(j->result, r, minutes, (enum baseline)b, accelerators);
        nearest = b == BASELINE_NEAREST ? g.from : nearest;
        j->guessed_from[b] = g.from ? arena_printf(a, "%s %s %s", g.from->round, g.from->submitter, g.from->system) : NULL;
        j->guesses[b] = g.from ? result_value(g.from, minutes) * (minutes ? 1 / g.ratio : g.ratio) : (double)NAN;
    }
    return nearest;
}

/* ---- judging -------------------------------------------------------------------------------------------------- */

static const struct round_result *result_of(const struct result_prediction *p, const struct round_results *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct round_result *x = &r->items[i];
        if (text_is(p->round, x->round) && text_is(p->submitter, x->submitter) && text_is(p->system, x->system) && text_is(p->benchmark, x->benchmark)
            && text_is(p->division, x->division))
            return x;
    }
    return NULL;
}

static const char *why_not_scored(const struct judged_prediction *j, struct arena *a)
{
    const double same_batch = 1e-6;
    if (!j->result)
        return "not among the results";
    if (fabs(j->prediction.global_batch / j->result->global_batch - 1) > same_batch)
        return arena_printf(a, "global_batch is %.10g, the result's is %.10g", j->prediction.global_batch, j->result->global_batch);
    return isfinite(j->published) ? NULL : "the result has no such number";
}

static const char *with_model(const char *models, const struct round_result *r, const struct accelerator_table *accelerators, struct arena *a)
{
    const struct accelerator *x = r ? accelerator_find(accelerators, r->accelerator) : NULL;
    if (!x || x->verified || isnan(x->peak_flop_per_s) || strstr(models, x->model))
        return models;
    return arena_printf(a, "%s%s%s", models, *models ? ", " : "", x->model);
}

void predictions_judge(struct judged_predictions *out, const struct predictions *p, const struct round_results *r,
                       const struct accelerator_table *accelerators, struct arena *a)
{
    *out = (struct judged_predictions){ .items = ARENA_ARRAY(a, struct judged_prediction, p->n), .n = p->n, .n_results = r->n, .of = p,
                                         .unverified = "" };
    for (size_t i = 0; i < p->n; i++) {
        struct judged_prediction *j = &out->items[i];
        bool minutes = !isnan(p->items[i].minutes);
        *j = (struct judged_prediction){ .prediction = p->items[i], .result = result_of(&p->items[i], r), .metric = minutes ? "minutes" : "samples/s",
                                         .published = NAN, .predicted = predicted_value(&p->items[i]), .guesses = { NAN, NAN } };
        const struct round_result *nearest = j->result ? fill_guesses(j, r, minutes, accelerators, a) : NULL;
        if (j->result)
            j->published = result_value(j->result, minutes);
        j->refused = why_not_scored(j, a);
        j->error = j->refused ? (double)NAN : j->predicted / j->published - 1;
        out->n_scored += !j->refused;
        out->unverified = with_model(with_model(out->unverified, j->result, accelerators, a), nearest, accelerators, a);
    }
}

/* ---- the scores of a group --------------------------------------------------------------------------------------- */

struct group_score { const char *predictor, *use, *metric, *benchmark; double predictor_mean; struct error_stats errors; };
#define C(member, title) { COLUMN(struct group_score, member), .heading = title }
#define E(member, title, ...) { COLUMN_AS(struct group_score, errors.member, #member), .heading = title, __VA_ARGS__ }
#define SHARE .scale = 100, .format = "%.1f"
#define SIGNED .scale = 100, .format = "%+.1f"
static const struct table_column group_columns[] = {
    C(predictor, "predictor"), C(use, "use"), C(metric, "metric"), C(benchmark, "benchmark"), E(n, "rows"), E(mean, "mean %", SHARE),
    { COLUMN(struct group_score, predictor_mean), .heading = "predictor there %", SHARE }, E(median, "median %", SHARE), E(bias, "bias %", SIGNED),
    E(worst, "worst %", SIGNED), E(n_intervals, "intervals"), E(inside, "inside %", SHARE), E(width, "width %", SHARE), E(worst_row, "worst row"),
};
#undef SIGNED
#undef SHARE
#undef E
#undef C

/* benchmark NULL: all benchmarks; baseline -1: the predictor */
struct group_key { const char *name; int use; bool minutes; const char *benchmark; int baseline; };

static double judged_value(const struct judged_prediction *j, int baseline)
{
    return baseline < 0 ? j->predicted : j->guesses[baseline];
}

static bool in_score_group(const struct judged_prediction *j, const struct group_key *k)
{
    return !j->refused && j->prediction.use == k->use && !isnan(j->prediction.minutes) == k->minutes
        && (!k->benchmark || text_is(j->prediction.benchmark, k->benchmark)) && isfinite(judged_value(j, k->baseline));
}

static void add_error(struct group_score *g, const struct judged_prediction *j, int baseline, struct arena *a)
{
    const struct result_prediction *p = &j->prediction;
    error_stats_add(&g->errors, judged_value(j, baseline) / j->published - 1, arena_printf(a, "%s %s %s", p->round, p->system, p->benchmark));
    g->predictor_mean += fabs(j->predicted / j->published - 1);
    if (baseline < 0 && !isnan(p->low))
        error_stats_add_interval(&g->errors, j->published >= p->low && j->published <= p->high, (p->high - p->low) / j->predicted);
}

/* Computes the score of a group; false if it has no rows. */
static bool score_group(struct group_score *g, const struct judged_predictions *j, const struct group_key *k, struct arena *a)
{
    *g = (struct group_score){ .predictor = k->name, .use = prediction_uses[k->use], .metric = k->minutes ? "minutes" : "samples/s",
                               .benchmark = k->benchmark ? k->benchmark : "all", .errors.sizes = ARENA_ROOM(a, double, j->n) };
    for (size_t i = 0; i < j->n; i++)
        if (in_score_group(&j->items[i], k))
            add_error(g, &j->items[i], k->baseline, a);
    g->predictor_mean = k->baseline < 0 ? (double)NAN : g->predictor_mean / (double)g->errors.n;
    error_stats_end(&g->errors);
    return g->errors.n > 0;
}

static void add_groups(struct table *t, const struct judged_predictions *j, const char *name, int use, bool minutes, struct arena *a)
{
    const char *const names[] = { name, "nearest published row", "submitter's last round" };
    for (int b = -1; b < N_BASELINES; b++) {
        struct group_key key = { names[b + 1], use, minutes, NULL, b };
        struct group_score g;
        if (score_group(&g, j, &key, a))
            table_add(t, &g, a);
        for (size_t i = 0; i < j->n; i++) {
            bool seen = false;
            key.benchmark = j->items[i].prediction.benchmark;
            for (size_t m = 0; m < i && !seen; m++)
                seen = text_is(j->items[m].prediction.benchmark, key.benchmark);
            if (!seen && score_group(&g, j, &key, a))
                table_add(t, &g, a);
        }
    }
}

/* ---- the answer ------------------------------------------------------------------------------------------------------ */

#define P(member, title) { COLUMN_AS(struct judged_prediction, prediction.member, #member), .heading = title }
#define C(member, title, ...) { COLUMN_AS(struct judged_prediction, member, __VA_ARGS__), .heading = title }
static const struct table_column line_columns[] = {
    P(round, "round"), P(division, NULL), P(submitter, NULL), P(system, "system"), P(benchmark, "benchmark"),
    { COLUMN_AS(struct judged_prediction, prediction.use_name, "use"), .heading = "use" }, C(metric, "metric", "metric"), C(published, "published", "published"),
    C(predicted, "predicted", "predicted"), { COLUMN(struct judged_prediction, error), .heading = "error %", .scale = 100, .format = "%+.1f" },
    P(low, NULL), P(high, NULL), { COLUMN_AS(struct judged_prediction, prediction.guess_name, "guess"), .heading = "a guess" }, C(guesses[BASELINE_NEAREST], "nearest", "nearest"), C(guesses[BASELINE_OWN_LAST], "own last", "own_last"),
    C(guessed_from[BASELINE_NEAREST], NULL, "nearest_from"), C(guessed_from[BASELINE_OWN_LAST], NULL, "own_last_from"), C(refused, "not scored", "refused"),
};
#undef C
#undef P

static size_t count_results(const struct judged_predictions *j)
{
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++) {
        bool seen = !j->items[i].result || j->items[i].refused;
        for (size_t k = 0; k < i && !seen; k++)
            seen = j->items[k].result == j->items[i].result && !j->items[k].refused;
        n += !seen;
    }
    return n;
}

void judged_predictions_document(struct document *d, const struct judged_predictions *j, const char *name, bool all)
{
    struct table *groups = document_table(d, TABLE(group_columns, struct group_score, .name = "groups", .formats = IN_TEXT | IN_JSON));
    for (int use = 0; use < N_PREDICTION_USES; use++)
        for (int minutes = 0; minutes < 2; minutes++)
            add_groups(groups, j, name, use, minutes, d->arena);
    document_line(d, "%zu of %zu predictions are scored; they cover %zu of %zu results.", j->n_scored, j->n, count_results(j), j->n_results);
    document_line(d, "error = predicted / published - 1; mean and median are of its size. Baselines are scored on the rows of the predictor for which "
                     "there is an earlier round;\npredictor there: the mean error of the predictor on the same rows.");
    if (*j->unverified)
        document_line(d, "Not verified: the data sheets of %s in accelerators.csv, on which nearest published rows and the roofline rest.", j->unverified);
    document_member(d, "unverified_data_sheets", json_string(j->unverified));
    struct table *lines = document_table(d, TABLE(line_columns, struct judged_prediction, .name = "predictions",
                                                  .formats = IN_CSV | IN_JSON | (all ? IN_TEXT : 0)));
    struct table *refused = document_table(d, TABLE(line_columns, struct judged_prediction, .title = "Not scored:", .formats = IN_TEXT));
    for (size_t i = 0; i < j->n; i++) {
        table_add(lines, &j->items[i], d->arena);
        if (j->items[i].refused && !all)
            table_add(refused, &j->items[i], d->arena);
    }
}
