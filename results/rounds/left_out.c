/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * left_out.c - the convergence model on submitted batches, with each submitter predicted as if it had never been seen; see predictions.h.
 *
 * A submitter without an effect of its own is predicted to converge as the reference does at its batch: on the line between reference points
 * or, beyond them, on the law fitted to them (convergence.h). The interval is
 *     reference * exp(+-t(0.95, n + 1) * s),     s^2 = (m_1 + ... + m_n + m) / (n + 1)
 * with m_i the mean square of ln(result / reference) over the results of one of the benchmark's n other submitters, and m the mean, over all
 * benchmarks, of their submitters' mean m_i. So what other benchmarks show counts as one more submitter. A few submitters of a benchmark may
 * agree by chance, for example if all run one vendor's program. The predicted submitter shapes no part of its own interval, in no benchmark.
 *
 * The model is compared with a guess: the reference times the median, over the other submitters, of each one's median ratio to it. Results
 * without reference points are not predicted, nor those beyond points that are too few for a law. Open divisions may change the model and the
 * optimizer, so only closed results count. Limit: a submitter that plans its epochs with a margin, or uses another optimizer than the
 * reference, does what no other submitter shows.
 */
#include "results/rounds/predictions.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"

#include <gsl/gsl_cdf.h>

/* The results of one submitter and benchmark. */
struct submitter_results {
    const char *benchmark, *submitter;
    double *ratios, median;             /* median is that of ln(result / reference) */
    size_t n, n_shaping;                /* n_shaping: the results that may shape the intervals of others */
    double square;                      /* the mean square of the errors */
};
/* A closed result that converged. `ratio` is ln(result / reference), NaN if unknown. */
struct converged { const struct round_result *r; double reference, ratio; bool beyond; struct submitter_results *own; };
struct converged_results { struct converged *items; size_t n; struct submitter_results *submitters; size_t n_submitters; };

/* ---- the reference at a batch -------------------------------------------------------------------------------- */

struct reference_tables { const char *round, *benchmark, *data_dir; bool found; struct rcp_table line, law; struct arena *a; };

static void load_reference(struct reference_tables *t, const struct round_result *r)
{
    if (text_is(t->round, r->round) && text_is(t->benchmark, r->benchmark))
        return;
    t->round = r->round, t->benchmark = r->benchmark;
    t->found = round_has_reference(r->round) && convergence_points(&t->line, &t->law, r->benchmark, r->round, t->data_dir, t->a, NULL);
}

static double reference_beyond(const struct reference_tables *t, double batch)
{
    struct convergence_law law;
    const struct rcp_point *ends[] = { &t->line.points[0], &t->line.points[t->line.n - 1] }, *end = ends[batch > ends[0]->batch];
    if (!law_choose(&law, &t->law, NULL))
        return NAN;
    return law_through(&law, end, batch);
}

static void find_reference(struct converged *c, struct reference_tables *t)
{
    double sd;
    load_reference(t, c->r);
    c->reference = NAN;
    if (t->found && t->line.n && !rcp_interpolate(&c->reference, &sd, &t->line, c->r->global_batch)) {
        c->reference = reference_beyond(t, c->r->global_batch);
        c->beyond = isfinite(c->reference);
    }
    c->ratio = log(c->r->converged_at * (text_is(c->r->unit, "steps") ? c->r->global_batch : 1) / c->reference);
}

/* ---- the submitters ---------------------------------------------------------------------------------------------- */

static struct submitter_results *results_of(struct converged_results *t, const struct round_result *r, struct arena *a)
{
    for (struct submitter_results *s = t->submitters; s < t->submitters + t->n_submitters; s++)
        if (text_is(s->benchmark, r->benchmark) && text_is(s->submitter, r->submitter))
            return s;
    t->submitters[t->n_submitters] = (struct submitter_results){ .benchmark = r->benchmark, .submitter = r->submitter, .ratios = ARENA_ROOM(a, double, t->n) };
    return &t->submitters[t->n_submitters++];
}

static void group_by_submitter(struct converged_results *t, const struct round_result *first, const bool *held_out, struct arena *a)
{
    t->submitters = ARENA_ROOM(a, struct submitter_results, t->n);
    for (struct converged *c = t->items; c < t->items + t->n; c++) {
        struct submitter_results *s = c->own = isnan(c->ratio) ? NULL : results_of(t, c->r, a);
        if (!s)
            continue;
        s->ratios[s->n++] = c->ratio;
        if (!held_out || !held_out[c->r - first])
            s->square += (c->ratio * c->ratio - s->square) / (double)++s->n_shaping;
    }
    for (struct submitter_results *s = t->submitters; s < t->submitters + t->n_submitters; s++)
        s->median = median_of(s->ratios, s->n);
}

/* The sum of the mean squares of a benchmark's submitters except one; *n is their number. */
static double sum_of_squares(size_t *n, const struct converged_results *t, const char *benchmark, const char *without)
{
    double sum = 0;
    *n = 0;
    for (const struct submitter_results *s = t->submitters; s < t->submitters + t->n_submitters; s++)
        if (s->n_shaping && text_is(s->benchmark, benchmark) && !text_is(s->submitter, without))
            sum += s->square, ++*n;
    return sum;
}

static double mean_over_benchmarks(const struct converged_results *t, const char *const *benchmarks, const char *without)
{
    double sum = 0;
    size_t n, n_benchmarks = 0;
    for (; *benchmarks; benchmarks++) {
        double squares = sum_of_squares(&n, t, *benchmarks, without);
        if (n)
            sum += squares / (double)n, n_benchmarks++;
    }
    return n_benchmarks ? sum / (double)n_benchmarks : (double)NAN;
}

/* Half the width of the interval of ln(result / reference); NaN if nobody else has results. */
static double half_width(const struct converged_results *t, const char *const *benchmarks, const struct converged *c)
{
    size_t n;
    double sum = sum_of_squares(&n, t, c->r->benchmark, c->r->submitter) + mean_over_benchmarks(t, benchmarks, c->r->submitter);
    return gsl_cdf_tdist_Pinv(0.95, (double)n + 1) * sqrt(sum / (double)(n + 1));
}

static double effect_of_others(const struct converged_results *t, const struct converged *c, struct arena *a)
{
    double *effects = ARENA_ROOM(a, double, t->n_submitters);
    size_t n = 0;
    for (const struct submitter_results *s = t->submitters; s < t->submitters + t->n_submitters; s++)
        if (s != c->own && text_is(s->benchmark, c->r->benchmark))
            effects[n++] = s->median;
    return n ? median_of(effects, n) : 0;
}

/* ---- the scores ---------------------------------------------------------------------------------------------------- */

struct left_out_score {
    const char *benchmark, *knows;
    uint64_t results, beyond, submitters;
    double others_mean, beyond_mean, submitters_inside;
    struct error_stats errors;
};
#define C(member, title, ...) { COLUMN(struct left_out_score, member), .heading = title, __VA_ARGS__ }
#define E(member, name, title, ...) { COLUMN_AS(struct left_out_score, errors.member, name), .heading = title, __VA_ARGS__ }
#define SHARE .scale = 100, .format = "%.1f"
#define SIGNED .scale = 100, .format = "%+.1f"
static const struct table_column left_out_columns[] = {
    C(benchmark, "benchmark"), C(results, "results"), E(n, "predicted", "predicted"), C(submitters, "submitters"), E(mean, "mean", "mean %", SHARE),
    E(median, "median", "median %", SHARE), E(bias, "bias", "bias %", SIGNED), E(worst, "worst", "worst %", SIGNED),
    E(n_intervals, "intervals", "intervals"), E(inside, "inside", "inside %", SHARE),
    C(submitters_inside, "submitters inside %", SHARE), E(width, "width", "width %", SHARE),
    C(others_mean, "as others %", SHARE), C(beyond, "beyond points"), C(beyond_mean, "there %", SHARE), E(worst_row, "worst_row", "worst row"),
    C(knows, "knows nothing of"),
};
#undef SIGNED
#undef SHARE
#undef E
#undef C

static void add_result(struct left_out_score *s, const struct converged_results *t, const char *const *benchmarks, const struct converged *c, struct arena *a)
{
    double error = exp(-c->ratio) - 1, half = half_width(t, benchmarks, c);
    bool inside = fabs(c->ratio) <= half;
    error_stats_add(&s->errors, error, arena_printf(a, "%s %s %s", c->r->round, c->r->submitter, c->r->system));
    s->others_mean += fabs(exp(effect_of_others(t, c, a) - c->ratio) - 1);
    s->beyond += c->beyond, s->beyond_mean += c->beyond ? fabs(error) : 0;
    if (isnan(half))
        return;
    error_stats_add_interval(&s->errors, inside, 2 * sinh(half));
    s->submitters_inside += inside ? 1 / (double)c->own->n : 0;
}

/* Scores one benchmark, or all of them for "all". */
static void score_left_out(struct left_out_score *s, const struct converged_results *t, const char *const *benchmarks, struct arena *a)
{
    bool all = text_is(s->benchmark, "all");
    s->errors.sizes = ARENA_ROOM(a, double, t->n);
    for (const struct submitter_results *x = t->submitters; x < t->submitters + t->n_submitters; x++)
        s->submitters += all || text_is(x->benchmark, s->benchmark);
    for (const struct converged *c = t->items; c < t->items + t->n; c++) {
        if (!all && !text_is(c->r->benchmark, s->benchmark))
            continue;
        s->results++;
        if (c->own)
            add_result(s, t, benchmarks, c, a);
    }
    uint64_t n = s->errors.n;
    error_stats_end(&s->errors);
    s->submitters_inside /= s->errors.n_intervals ? (double)s->submitters : (double)NAN;
    s->others_mean = s->submitters > 1 ? s->others_mean / (double)n : (double)NAN;
    s->beyond_mean = s->beyond ? s->beyond_mean / (double)s->beyond : (double)NAN;
    s->knows = s->results > n ? arena_printf(a, "%zu without reference points, or beyond too few of them", (size_t)(s->results - n))
             : s->submitters > 2 ? "" : s->errors.n_intervals ? "how submitters differ here: intervals are mostly from other benchmarks"
             : "how submitters differ: no other has results";
}

/* Lists the benchmarks of the results, followed by NULL. */
static const char **benchmarks_of(const struct converged_results *t, struct arena *a)
{
    const char **out = ARENA_ARRAY(a, const char *, t->n + 1);
    size_t n = 0;
    for (size_t i = 0, k; i < t->n; i++) {
        for (k = 0; k < n && !text_is(out[k], t->items[i].r->benchmark); k++)
            ;
        if (k == n)
            out[n++] = t->items[i].r->benchmark;
    }
    return out;
}

void convergence_left_out_document(struct document *d, const struct round_results *r, const bool *held_out, const char *data_dir)
{
    struct converged_results t = { ARENA_ARRAY(d->arena, struct converged, r->n), 0, NULL, 0 };
    struct reference_tables tables = { .data_dir = data_dir, .a = d->arena };
    struct table *out = document_table(d, TABLE(left_out_columns, struct left_out_score));
    out->title = "Samples to the target in closed divisions, each submitter as one never seen; intervals from the other submitters:";
    for (size_t i = 0; i < r->n; i++)
        if (text_is(r->items[i].division, "closed") && r->items[i].converged_at > 0 && r->items[i].global_batch > 0) {
            t.items[t.n] = (struct converged){ .r = &r->items[i] };
            find_reference(&t.items[t.n++], &tables);
        }
    group_by_submitter(&t, r->items, held_out, d->arena);
    const char **benchmarks = benchmarks_of(&t, d->arena);
    for (const char **b = benchmarks; *b; b++) {
        struct left_out_score s = { .benchmark = *b };
        score_left_out(&s, &t, benchmarks, d->arena);
        table_add(out, &s, d->arena);
    }
    struct left_out_score all = { .benchmark = "all" };
    score_left_out(&all, &t, benchmarks, d->arena);
    table_add(out, &all, d->arena);
}
