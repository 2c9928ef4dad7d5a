/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * left_out.c - the convergence model on submitted batches, each submitter as one that it has never seen; see
 * predictions.h.
 *
 * A submitter without an effect of its own is predicted to converge as the reference at its batch does: on the line
 * between reference points or, beyond them, on the law fitted to them (convergence.h). The interval is
 *
 *     reference * exp(+-t(0.95, n) * s)
 *
 * with s the root mean square of ln(result / reference) over the results of the benchmark's n other submitters. The
 * model is compared with a guess: the reference times the median over the other submitters of their median ratio to it.
 * Nothing is known of results without reference points, and of those beyond points too few for a law. Open divisions
 * may change the model and the optimizer, so only closed results count.
 */
#include "results/rounds/predictions.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* A closed result that converged. */
struct converged { const struct round_result *r; double reference, ratio; bool beyond; };   /* ratio: ln(result / reference); NaN: unknown */
struct converged_results { struct converged *items; size_t n; };

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
    c->ratio = log(c->r->converged_at / c->reference);
}

/* ---- the effect of the others ------------------------------------------------------------------------------------ */

static bool same_submitter(const struct converged *c, const struct converged *d)
{
    return text_is(c->r->benchmark, d->r->benchmark) && text_is(c->r->submitter, d->r->submitter);
}

static bool is_first(const struct converged_results *t, const struct converged *c)
{
    for (const struct converged *k = t->items; k < c; k++)
        if (isfinite(k->ratio) && same_submitter(k, c))
            return false;
    return isfinite(c->ratio);
}

static double submitter_effect(const struct converged_results *t, const struct converged *of, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (isfinite(t->items[i].ratio) && same_submitter(&t->items[i], of))
            room[n++] = t->items[i].ratio;
    return median_of(room, n);
}

struct others { double effect, half_width; };     /* half_width: of the interval of ln(result / reference); NaN: fewer than two others */

static struct others others_of(const struct converged_results *t, const struct converged *without, struct arena *a)
{
    double *effects = ARENA_ROOM(a, double, t->n), *room = ARENA_ROOM(a, double, t->n), sum = 0;
    size_t n = 0, n_results = 0;
    for (const struct converged *c = t->items; c < t->items + t->n; c++) {
        if (!text_is(c->r->benchmark, without->r->benchmark) || same_submitter(c, without) || isnan(c->ratio))
            continue;
        sum += c->ratio * c->ratio, n_results++;
        if (is_first(t, c))
            effects[n++] = submitter_effect(t, c, room);
    }
    return (struct others){ n ? median_of(effects, n) : 0,
                            n > 1 ? gsl_cdf_tdist_Pinv(0.95, (double)n) * sqrt(sum / (double)n_results) : (double)NAN };
}

/* ---- the scores ---------------------------------------------------------------------------------------------------- */

struct left_out_score {
    const char *benchmark, *worst_row, *knows;
    uint64_t results, predicted, beyond, submitters, intervals;
    double mean, median, bias, worst, inside, width, others_mean, beyond_mean;
};
#define C(member, title, ...) { COLUMN(struct left_out_score, member), .heading = title, __VA_ARGS__ }
#define SHARE(member, title, shown) C(member, title, .scale = 100, .format = shown)
static const struct table_column left_out_columns[] = {
    C(benchmark, "benchmark"), C(results, "results"), C(predicted, "predicted"), C(submitters, "submitters"), SHARE(mean, "mean %", "%.1f"),
    SHARE(median, "median %", "%.1f"), SHARE(bias, "bias %", "%+.1f"), SHARE(worst, "worst %", "%+.1f"), C(intervals, "intervals"),
    SHARE(inside, "inside %", "%.1f"), SHARE(width, "width %", "%.1f"), SHARE(others_mean, "as others %", "%.1f"), C(beyond, "beyond points"),
    SHARE(beyond_mean, "there %", "%.1f"), C(worst_row, "worst row"), C(knows, "knows nothing of"),
};
#undef SHARE
#undef C

static void add_result(struct left_out_score *s, const struct converged_results *t, const struct converged *c, double *errors, struct arena *a)
{
    struct others others = others_of(t, c, a);
    double error = exp(-c->ratio) - 1;
    s->mean += fabs(error), s->bias += error;
    s->others_mean += fabs(exp(others.effect - c->ratio) - 1);
    s->beyond += c->beyond, s->beyond_mean += c->beyond ? fabs(error) : 0;
    if (!isnan(others.half_width)) {
        s->intervals++;
        s->inside += fabs(c->ratio) <= others.half_width;
        s->width += 2 * sinh(others.half_width);
    }
    if (!s->worst_row || fabs(error) > fabs(s->worst)) {
        s->worst = error;
        s->worst_row = arena_printf(a, "%s %s %s", c->r->round, c->r->submitter, c->r->system);
    }
    errors[s->predicted++] = fabs(error);
}

static double mean_over(double sum, uint64_t n)
{
    return n ? sum / (double)n : (double)NAN;
}

static void score_left_out(struct left_out_score *s, const struct converged_results *t, struct arena *a)
{
    double *errors = ARENA_ROOM(a, double, t->n);
    for (const struct converged *c = t->items; c < t->items + t->n; c++) {
        if (!text_is(c->r->benchmark, s->benchmark))
            continue;
        s->results++;
        s->submitters += is_first(t, c);
        if (isfinite(c->ratio))
            add_result(s, t, c, errors, a);
    }
    s->mean = mean_over(s->mean, s->predicted), s->bias = mean_over(s->bias, s->predicted);
    s->worst = s->predicted ? s->worst : (double)NAN;
    s->others_mean = mean_over(s->others_mean, s->submitters > 1 ? s->predicted : 0);
    s->inside = mean_over(s->inside, s->intervals), s->width = mean_over(s->width, s->intervals);
    s->beyond_mean = mean_over(s->beyond_mean, s->beyond);
    s->median = median_of(errors, s->predicted);
    s->knows = s->results > s->predicted ? arena_printf(a, "%zu without reference points, or beyond too few of them", (size_t)(s->results - s->predicted))
             : s->submitters < 3 ? "how submitters differ" : "";
}

void convergence_left_out_document(struct document *d, const struct round_results *r, const char *data_dir)
{
    struct converged_results t = { ARENA_ARRAY(d->arena, struct converged, r->n), 0 };
    struct reference_tables tables = { .data_dir = data_dir, .a = d->arena };
    struct table *out = document_table(d, TABLE(left_out_columns, struct left_out_score));
    out->title = "Samples to the target in closed divisions, each submitter as one never seen; intervals from the other submitters:";
    for (size_t i = 0; i < r->n; i++)
        if (text_is(r->items[i].division, "closed") && r->items[i].converged_at > 0 && r->items[i].global_batch > 0) {
            t.items[t.n] = (struct converged){ .r = &r->items[i] };
            find_reference(&t.items[t.n++], &tables);
        }
    for (size_t i = 0; i < t.n; i++) {
        struct left_out_score s = { .benchmark = t.items[i].r->benchmark };
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = text_is(t.items[k].r->benchmark, s.benchmark);
        if (!seen) {
            score_left_out(&s, &t, d->arena);
            table_add(out, &s, d->arena);
        }
    }
}
