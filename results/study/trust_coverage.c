/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_coverage.c - how often 90 % intervals hold, by kind of question.
 *
 * Each published run is predicted in two ways: from the runs of other origins, with a spread fitted without its own origin; and from all other
 * runs. The interval spans the open readings of the run, as that of an answer does.
 */
#include "results/study/trust_internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <jansson.h>

static const double LEVEL = 0.9;

/* ---- counting ------------------------------------------------------------------------------------------- */

/* A published run, its predicted interval, and how far its true value lies outside. */
struct judged_question { const struct reference *reference; enum likeness likeness; double half_width, width, outside; };

static struct judged_question answer_of(const struct question *q, const struct spread *s)
{
    const struct reference *r = q->reference;
    double half = half_width_at(s, &q->near, &r->at);
    return (struct judged_question){ r, q->likeness, half, q->open_high - q->open_low + 2 * half, question_outside(q, half) };
}

/* The chance of a count at least as far from the mean, in either direction. */
static double binomial_chance(uint64_t inside, uint64_t n)
{
    unsigned k = (unsigned)inside, all = (unsigned)n;
    double below = gsl_cdf_binomial_P(k, LEVEL, all), above = k ? gsl_cdf_binomial_Q(k - 1, LEVEL, all) : 1;
    return fmin(1, 2 * fmin(below, above));
}

void interval_count_add(struct interval_count *c, double *half_widths, double half_width, double width, double outside)
{
    half_widths[c->runs] = half_width;
    c->inside += outside == 0;
    c->score += (width + 2 / (1 - LEVEL) * outside - c->score) / (double)++c->runs;
}

bool interval_count_end(struct interval_count *c, double *half_widths)
{
    if (!c->runs)
        return false;
    gsl_sort(half_widths, 1, c->runs);
    c->median_half_width = expm1(gsl_stats_median_from_sorted_data(half_widths, 1, c->runs));
    c->share = (double)c->inside / (double)c->runs;
    c->chance = binomial_chance(c->inside, c->runs);
    return true;
}

typedef bool answer_counts(const struct judged_question *x, int which);

static void add_kind(struct interval_coverage *out, const char *kind, const struct judged_question *answers, size_t n, answer_counts *counts, int which, struct arena *a)
{
    struct interval_count *c = &out->rows[out->n];
    double *half_widths = ARENA_ROOM(a, double, n + 1);
    *c = (struct interval_count){ .kind = kind };
    for (size_t i = 0; i < n; i++)
        if (!counts || counts(&answers[i], which))
            interval_count_add(c, half_widths, answers[i].half_width, answers[i].width, answers[i].outside);
    out->n += interval_count_end(c, half_widths);
}

static bool is_of_likeness(const struct judged_question *x, int which) { return x->likeness == (enum likeness)which; }
static bool is_first_sight(const struct judged_question *x, int which) { return isnan(x->reference->first_sight) == !which; }
static bool is_of_mode(const struct judged_question *x, int which) { return text_is(x->reference->at.name[BY_MODE], which ? "infer" : "train"); }

/* ---- asking --------------------------------------------------------------------------------------------- */

static bool is_first_of_origin(const struct references *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (text_is(r->items[k].origin, r->items[i].origin))
            return false;
    return true;
}

/* Judges each run of one origin by the runs of other origins, or, with `own`, by all other runs; returns the number of runs judged. */
static size_t ask_origin(struct judged_question *out, const struct references *r, const char *origin, const struct spread *s, bool own, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!text_is(r->items[i].origin, origin) || (own && !isnan(r->items[i].first_sight)))
            continue;
        struct question q = question_of(r, &r->items[i], !own, NULL, a);
        if (question_is_answered(&q))
            out[n++] = answer_of(&q, s);
    }
    return n;
}

void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a)
{
    struct judged_question *others = ARENA_ROOM(a, struct judged_question, r->n + 1), *alone = ARENA_ROOM(a, struct judged_question, r->n + 1);
    size_t n_others = 0, n_alone = 0;
    *out = (struct interval_coverage){ .rows = ARENA_ARRAY(a, struct interval_count, N_LIKENESSES + 6) };
    for (size_t i = 0; i < r->n; i++) {
        if (!is_first_of_origin(r, i))
            continue;
        const struct spread s = spread_fit(r, r->items[i].origin, a);
        if (!(s.base > 0))
            continue;
        n_others += ask_origin(others + n_others, r, r->items[i].origin, &s, false, a);
        n_alone += ask_origin(alone + n_alone, r, r->items[i].origin, &s, true, a);
    }
    add_kind(out, "all, their origin left out", others, n_others, NULL, 0, a);
    for (int k = 0; k < N_LIKENESSES; k++)
        add_kind(out, likeness_names[k], others, n_others, is_of_likeness, k, a);
    add_kind(out, "training", others, n_others, is_of_mode, 0, a);
    add_kind(out, "inference", others, n_others, is_of_mode, 1, a);
    add_kind(out, "known before errors at first sight were kept", others, n_others, is_first_sight, 0, a);
    add_kind(out, "at first sight", others, n_others, is_first_sight, 1, a);
    add_kind(out, "each known run alone, its origin known", alone, n_alone, NULL, 0, a);
}

static const struct table_column interval_columns[] = {
#define C(member, ...) { COLUMN(struct interval_count, member), __VA_ARGS__ }
#define SHARE .format = "%.1f %%", .scale = 100
    C(kind, .heading = "question"), C(runs, .heading = "runs"), C(inside, .heading = "inside"), C(share, .heading = "share", SHARE),
    C(chance, .heading = "chance", .format = "%.2f"), C(median_half_width, .heading = "median half width", SHARE), C(score, .heading = "Winkler's score", .format = "%.2f"),
#undef SHARE
#undef C
};

struct table interval_coverage_table(const struct interval_coverage *c)
{
    return TABLE_OF(interval_columns, c->rows, c->n);
}

json_t *interval_coverage_json(const struct interval_coverage *c)
{
    struct table kinds = TABLE_OF(interval_columns, c->rows, c->n);
    return json_pack("{s:f, s:o}", "level", LEVEL, "kinds", table_json(&kinds));
}
