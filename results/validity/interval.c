/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interval.c - 90 % intervals from the errors of configurations whose group was left out.
 *
 * The size of the error to expect at distance d from the nearest reference: by exp(-d) that of the references about it (their |error|,
 * weighted by exp(-distance), but never below a quarter of the mean of all: no run next to a good one is without error), for the rest
 * the mean of all, or the same where that is larger; times 1 + d / farthest, so that it is twice as large where nothing that far was
 * tested. The interval is that size times the quantile of |error| / size over configurations with their group left out, as split
 * conformal prediction takes it: the ceil(0.9 (n + 1))-th smallest of n.
 */
#include "results/validity/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <jansson.h>
#include <math.h>

static const double LEVEL = 0.9, LEAST_SHARE_OF_MEAN = 0.25;

static bool is_left_out(const struct reference *x, const struct left_out *out)
{
    return text_is(x->group, out->group) || text_is(x->group, out->other_group) || text_is(x->configuration, out->configuration);
}

/* From `from` to each reference; infinite: left out. */
static void leave(double *apart, const struct references *r, const double *from, const struct left_out *out)
{
    for (size_t i = 0; i < r->n; i++)
        apart[i] = is_left_out(&r->items[i], out) ? INFINITY : from[i];
}

/* Infinite: none is left. */
static double nearest_of(const double *apart, size_t n)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < n; i++)
        nearest = fmin(nearest, apart[i]);
    return nearest;
}

/* Of each reference from each: as far from one to the other as back. */
static const double *all_distances(const struct references *r, struct arena *a)
{
    double *all = ARENA_ARRAY(a, double, r->n * r->n);
    for (size_t i = 1; i < r->n; i++)
        for (size_t k = 0; k < i; k++)
            all[i * r->n + k] = all[k * r->n + i] = property_distance(&r->items[i].at, &r->items[k].at);
    return all;
}

/* The size of the error to expect, before the quantile; 0: no reference is left. */
static double scale_from(const struct spread *s, const struct references *r, const double *apart)
{
    double weights = 0, sum = 0, nearest = nearest_of(apart, r->n);
    if (isinf(nearest))
        return 0;
    for (size_t i = 0; i < r->n; i++) {
        double w = exp(nearest - apart[i]);
        weights += w;
        sum += w * fabs(r->items[i].left_out);
    }
    double known = exp(-nearest), local = fmax(sum / weights, LEAST_SHARE_OF_MEAN * s->mean_error);
    return (known * local + (1 - known) * fmax(local, s->mean_error)) * (1 + (s->farthest > 0 ? nearest / s->farthest : 0));
}

static void take_size(struct spread *s, const struct references *r, const double *all, const char *without, double *apart)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *x = &r->items[i];
        struct left_out out = { x->group, without, NULL };
        if (text_is(x->group, without))
            continue;
        leave(apart, r, all + i * r->n, &out);
        double nearest = nearest_of(apart, r->n);
        if (isfinite(nearest))
            s->farthest = fmax(s->farthest, nearest);
        s->mean_error += fabs(x->left_out);
        s->n_errors++;
    }
    if (s->n_errors)
        s->mean_error /= (double)s->n_errors;
}

struct spread spread_of(const struct references *r, const char *without, struct arena *scratch)
{
    double *ratios = ARENA_ROOM(scratch, double, r->n), *apart = ARENA_ROOM(scratch, double, r->n);
    const double *all = all_distances(r, scratch);
    struct spread s = {0};
    size_t n = 0;
    take_size(&s, r, all, without, apart);
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *x = &r->items[i];
        struct left_out out = { x->group, without, NULL };
        leave(apart, r, all + i * r->n, &out);
        double size = scale_from(&s, r, apart);
        if (size > 0 && !text_is(x->group, without))
            ratios[n++] = fabs(x->left_out) / size;
    }
    gsl_sort(ratios, 1, n);
    size_t rank = (size_t)ceil(LEVEL * (double)(n + 1));
    s.quantile = n ? ratios[min_u64(rank, n) - 1] : 0;
    s.n_errors = n;
    return s;
}

double spread_half_width_from(const struct spread *s, const struct references *r, const double *apart)
{
    return s->quantile * scale_from(s, r, apart);
}

double spread_half_width(const struct spread *s, const struct references *r, const struct properties *at, const struct left_out *out)
{
    double apart[r->n ? r->n : 1];
    for (size_t i = 0; i < r->n; i++)
        apart[i] = is_left_out(&r->items[i], out) ? INFINITY : property_distance(at, &r->items[i].at);
    return spread_half_width_from(s, r, apart);
}

double spread_deviation(const struct references *r, const struct properties *at, const char *group, struct arena *scratch)
{
    struct spread s = spread_of(r, group, scratch);
    struct left_out out = { .group = group };
    return spread_half_width(&s, r, at, &out) / gsl_cdf_ugaussian_Pinv((1 + LEVEL) / 2);
}

/* ---- coverage --------------------------------------------------------------------------------- */

static void count(struct interval_count *c, bool inside, double half_width)
{
    c->mean_half_width = (c->mean_half_width * (double)c->n + half_width) / (double)(c->n + 1);
    c->n++;
    c->inside += inside;
}

static void test(struct interval_count *c, const struct spread *s, const struct references *r, const struct reference *x,
                 const struct left_out *out)
{
    double half = spread_half_width(s, r, &x->at, out);
    if (half > 0)
        count(c, fabs(x->left_out) <= half, half);
}

static void test_group(struct interval_coverage *out, const struct references *r, const char *group, struct arena *a)
{
    struct interval_count *c = &out->groups[out->n_groups++];
    struct spread s = spread_of(r, group, a);
    *c = (struct interval_count){ .what = group };
    for (size_t i = 0; i < r->n; i++)
        if (text_is(r->items[i].group, group)) {
            test(c, &s, r, &r->items[i], &(struct left_out){ .group = group });
            test(&out->all, &s, r, &r->items[i], &(struct left_out){ .group = group });
            test(&out->near, &s, r, &r->items[i], &(struct left_out){ .configuration = r->items[i].configuration });
        }
}

void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a)
{
    *out = (struct interval_coverage){ .all.what = "all", .near.what = "each configuration left out, its group known",
                                       .groups = ARENA_ROOM(a, struct interval_count, r->n) };
    for (size_t i = 0; i < r->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = text_is(r->items[k].group, r->items[i].group);
        if (!seen)
            test_group(out, r, r->items[i].group, a);
    }
}

static void print_count(FILE *f, const struct interval_count *c)
{
    fprintf(f, "%-44s %6zu %6zu %8.1f %% %9.1f %%\n", c->what, c->n, c->inside, c->n ? 100 * (double)c->inside / (double)c->n : 0,
            100 * (exp(c->mean_half_width) - 1));
}

void interval_coverage_print(FILE *f, const struct interval_coverage *c)
{
    fprintf(f, "%-44s %6s %6s %10s %11s\n", "group left out", "runs", "inside", "share", "half width");
    for (size_t i = 0; i < c->n_groups; i++)
        print_count(f, &c->groups[i]);
    print_count(f, &c->all);
    print_count(f, &c->near);
}

static json_t *count_json(const struct interval_count *c)
{
    return json_pack("{s:s, s:I, s:I, s:f}", "group", c->what, "configurations", (json_int_t)c->n, "inside", (json_int_t)c->inside,
                     "mean_half_width", exp(c->mean_half_width) - 1);
}

json_t *interval_coverage_json(const struct interval_coverage *c)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < c->n_groups; i++)
        json_array_append_new(groups, count_json(&c->groups[i]));
    json_t *o = count_json(&c->all);
    json_object_set_new(o, "level", json_real(LEVEL));
    json_object_set_new(o, "configuration_left_out", count_json(&c->near));
    json_object_set_new(o, "groups", groups);
    return o;
}
