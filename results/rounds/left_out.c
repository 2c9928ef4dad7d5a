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
struct converged { const struct round_result *r; double reference, ratio; bool beyond; };   /* ratio: ln(result / reference); NaN if unknown */
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

struct left_out_score { const char *benchmark, *knows; uint64_t results, beyond, submitters; double others_mean, beyond_mean; struct error_stats errors; };
#define C(member, title, ...) { COLUMN(struct left_out_score, member), .heading = title, __VA_ARGS__ }
#define E(member, name, title, ...) { COLUMN_AS(struct left_out_score, errors.member, name), .heading = title, __VA_ARGS__ }
#define SHARE .scale = 100, .format = "%.1f"
#define SIGNED .scale = 100, .format = "%+.1f"
static const struct table_column left_out_columns[] = {
    C(benchmark, "benchmark"), C(results, "results"), E(n, "predicted", "predicted"), C(submitters, "submitters"), E(mean, "mean", "mean %", SHARE),
    E(median, "median", "median %", SHARE), E(bias, "bias", "bias %", SIGNED), E(worst, "worst", "worst %", SIGNED),
    E(n_intervals, "intervals", "intervals"), E(inside, "inside", "inside %", SHARE), E(width, "width", "width %", SHARE),
    C(others_mean, "as others %", SHARE), C(beyond, "beyond points"), C(beyond_mean, "there %", SHARE), E(worst_row, "worst_row", "worst row"),
    C(knows, "knows nothing of"),
};
#undef SIGNED
#undef SHARE
#undef E
#undef C

static void add_result(struct left_out_score *s, const struct converged_results *t, const struct converged *c, struct arena *a)
{
    struct others others = others_of(t, c, a);
    double error = exp(-c->ratio) - 1;
    error_stats_add(&s->errors, error, arena_printf(a, "%s %s %s", c->r->round, c->r->submitter, c->r->system));
    s->others_mean += fabs(exp(others.effect - c->ratio) - 1);
    s->beyond += c->beyond, s->beyond_mean += c->beyond ? fabs(error) : 0;
    if (!isnan(others.half_width))
        error_stats_add_interval(&s->errors, fabs(c->ratio) <= others.half_width, 2 * sinh(others.half_width));
}

static void score_left_out(struct left_out_score *s, const struct converged_results *t, struct arena *a)
{
    s->errors.sizes = ARENA_ROOM(a, double, t->n);
    for (const struct converged *c = t->items; c < t->items + t->n; c++) {
        if (!text_is(c->r->benchmark, s->benchmark))
            continue;
        s->results++;
        s->submitters += is_first(t, c);
        if (isfinite(c->ratio))
            add_result(s, t, c, a);
    }
    uint64_t n = s->errors.n;
    error_stats_end(&s->errors);
    s->others_mean = s->submitters > 1 ? s->others_mean / (double)n : (double)NAN;
    s->beyond_mean = s->beyond ? s->beyond_mean / (double)s->beyond : (double)NAN;
    s->knows = s->results > n ? arena_printf(a, "%zu without reference points, or beyond too few of them", (size_t)(s->results - n))
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
