/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * left_out.c - the convergence model on submitted batches, with one submitter left out at a time; see predictions.h.
 *
 * The reference's mean at a batch is the line between reference points or, beyond them, the law fitted to them, scaled
 * to meet the nearest point (convergence.h). A result is predicted as that mean times exp(effect), where the effect is
 * the median over the benchmark's other submitters of their median ln(result / reference). It is 0 without another
 * submitter. Nothing is known of results without reference points, and of those beyond points too few for a law. Open
 * divisions may change the model and the optimizer, so only closed results count.
 */
#include "results/rounds/predictions.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"

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
    return end->mean * law_beyond(&law, batch) / law_at(&law, end->batch);
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

static double others_effect(const struct converged_results *t, const struct converged *without, struct arena *a)
{
    double *effects = ARENA_ROOM(a, double, t->n), *room = ARENA_ROOM(a, double, t->n);
    size_t n = 0;
    for (const struct converged *c = t->items; c < t->items + t->n; c++)
        if (text_is(c->r->benchmark, without->r->benchmark) && !same_submitter(c, without) && is_first(t, c))
            effects[n++] = submitter_effect(t, c, room);
    return n ? median_of(effects, n) : 0;
}

/* ---- the scores ---------------------------------------------------------------------------------------------------- */

struct left_out_score {
    const char *benchmark, *worst_row, *knows;
    uint64_t results, predicted, beyond, submitters;
    double mean, median, bias, worst, reference_mean, beyond_mean;
};
#define C(member, title, ...) { COLUMN(struct left_out_score, member), .heading = title, __VA_ARGS__ }
#define SHARE(member, title, shown) C(member, title, .scale = 100, .format = shown)
static const struct table_column left_out_columns[] = {
    C(benchmark, "benchmark"), C(results, "results"), C(predicted, "predicted"), C(submitters, "submitters"), SHARE(mean, "mean %", "%.1f"),
    SHARE(median, "median %", "%.1f"), SHARE(bias, "bias %", "%+.1f"), SHARE(worst, "worst %", "%+.1f"),
    SHARE(reference_mean, "reference alone %", "%.1f"), C(beyond, "beyond points"), SHARE(beyond_mean, "there %", "%.1f"),
    C(worst_row, "worst row"), C(knows, "knows nothing of"),
};
#undef SHARE
#undef C

static void add_result(struct left_out_score *s, const struct converged_results *t, const struct converged *c, double *errors, struct arena *a)
{
    double error = exp(others_effect(t, c, a) - c->ratio) - 1;
    s->mean += fabs(error), s->bias += error;
    s->reference_mean += fabs(exp(-c->ratio) - 1);
    s->beyond += c->beyond, s->beyond_mean += c->beyond ? fabs(error) : 0;
    if (!s->worst_row || fabs(error) > fabs(s->worst)) {
        s->worst = error;
        s->worst_row = arena_printf(a, "%s %s %s", c->r->round, c->r->submitter, c->r->system);
    }
    errors[s->predicted++] = fabs(error);
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
    double n = s->predicted ? (double)s->predicted : (double)NAN, unknown = (double)(s->results - s->predicted);
    s->mean /= n, s->bias /= n, s->reference_mean /= n, s->worst = s->predicted ? s->worst : (double)NAN;
    s->beyond_mean = s->beyond ? s->beyond_mean / (double)s->beyond : (double)NAN;
    s->median = median_of(errors, s->predicted);
    s->knows = unknown > 0 ? arena_printf(a, "%.0f without reference points, or beyond too few of them", unknown)
             : s->submitters == 1 ? "other submitters" : "";
}

void convergence_left_out_document(struct document *d, const struct round_results *r, const char *data_dir)
{
    struct converged_results t = { ARENA_ARRAY(d->arena, struct converged, r->n), 0 };
    struct reference_tables tables = { .data_dir = data_dir, .a = d->arena };
    struct table *out = document_table(d, TABLE(left_out_columns, struct left_out_score));
    out->title = "Samples to the target in closed divisions, each submitter predicted from the reference points and the others:";
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
