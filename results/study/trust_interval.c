/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_interval.c - 90 % intervals from the errors of configurations whose group was left out.
 *
 *     half width = quantile x size + added
 *
 * size is the error to expect. Each reference tells its own |error| with the weight exp(-distance), and the mean of all errors counts as one
 * reference at distance 0, because few neighbours tell little of how large an error may be:
 *     size = (sum of weight |error| + mean of all) / (sum of weight + 1) x (1 + d / farthest),
 * which is a known group's own error where many are near, that of all where none is, and doubles at the largest distance d to the nearest
 * reference that was tested.
 *
 * added covers a step that is spent on other things than the references' steps, of which their errors say nothing.
 * unlike is that share of the step, weighted as above; tested is the share below which nine in ten configurations were
 * unlike the others, with their group left out. Beyond it the part of the step that is like theirs shrinks from 1 -
 * tested to 1 - unlike:
 *     added = ln((1 - tested) / (1 - unlike)), and 0 up to tested.
 *
 * quantile is that of (|error| - added) / size over configurations with their group left out, the ceil(0.9 (n + 1))-th
 * smallest of n, as in split conformal prediction.
 */
#include "results/study/trust.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <jansson.h>

static const double LEVEL = 0.9, MOST_UNLIKE = 0.99;

/* A context row is no test of the model, so its error shapes no interval. */
static bool is_context(const struct reference *x)
{
    return x->role == FIGURE_CONTEXT;
}

static bool is_left_out(const struct reference *x, const struct left_out *out)
{
    return is_context(x) || text_is(x->group, out->group) || text_is(x->group, out->other_group) || text_is(x->configuration, out->configuration);
}

/* Copies the distances to each reference; those left out become infinite. */
static void leave_out_references(struct apart *apart, const struct references *r, const struct apart *from, const struct left_out *out)
{
    for (size_t i = 0; i < r->n; i++)
        apart[i] = (struct apart){ is_left_out(&r->items[i], out) ? INFINITY : from[i].distance, from[i].unlike };
}

/* All pairwise distances; the matrix is symmetric. */
static const struct apart *all_apart(const struct references *r, struct arena *a)
{
    struct apart *all = ARENA_ARRAY(a, struct apart, r->n * r->n);
    for (size_t i = 1; i < r->n; i++)
        for (size_t k = 0; k < i; k++)
            all[i * r->n + k] = all[k * r->n + i] = properties_apart(&r->items[i].at, &r->items[k].at);
    return all;
}

/* The error that references near a run predict for it, and how much they weigh. nearest is infinite if all are left out. */
struct about { double nearest, error, weight, unlike; };

static struct about about(const struct references *r, const struct apart *apart)
{
    struct about x = { .nearest = INFINITY };
    double weights = 0;
    for (size_t i = 0; i < r->n; i++)
        x.nearest = fmin(x.nearest, apart[i].distance);
    for (size_t i = 0; i < r->n && isfinite(x.nearest); i++) {
        double w = exp(x.nearest - apart[i].distance);
        weights += w;
        x.error += w * fabs(r->items[i].left_out);
        x.unlike += w * apart[i].unlike;
    }
    x.error /= weights > 0 ? weights : 1;
    x.weight = weights * exp(-x.nearest);
    x.unlike = fmin(MOST_UNLIKE, x.unlike / (weights > 0 ? weights : 1));
    return x;
}

/* The size of the error to expect, or 0 if all references are left out. */
static double expected_size(const struct spread *s, const struct about *x)
{
    if (isinf(x->nearest))
        return 0;
    double expected = (x->weight * x->error + s->mean_error) / (x->weight + 1);
    return expected * (1 + (s->farthest > 0 ? x->nearest / s->farthest : 0));
}

static double added_to(const struct spread *s, const struct about *x)
{
    return x->unlike > s->unlike ? log((1 - s->unlike) / (1 - x->unlike)) : 0;
}

/* The conformal quantile of the values, which are sorted. */
static double nine_in_ten(double *values, size_t n)
{
    gsl_sort(values, 1, n);
    size_t rank = (size_t)ceil(LEVEL * (double)(n + 1));
    return n ? values[min_u64(rank, n) - 1] : 0;
}

static struct about about_without_group(const struct references *r, size_t i, const struct apart *all, const char *without, struct apart *apart)
{
    leave_out_references(apart, r, all + i * r->n, &(struct left_out){ r->items[i].group, without, NULL });
    return about(r, apart);
}

/* values has room for one number per reference. */
static void take_sizes(struct spread *s, const struct references *r, const struct about *abouts, const char *without, double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (is_context(&r->items[i]) || text_is(r->items[i].group, without))
            continue;
        s->mean_error += fabs(r->items[i].left_out);
        s->n_errors++;
        if (isinf(abouts[i].nearest))
            continue;
        s->farthest = fmax(s->farthest, abouts[i].nearest);
        values[n++] = abouts[i].unlike;
    }
    s->mean_error /= s->n_errors ? (double)s->n_errors : 1;
    s->unlike = nine_in_ten(values, n);
}

struct spread spread_of(const struct references *r, const char *without, struct arena *scratch)
{
    double *values = ARENA_ROOM(scratch, double, r->n);
    struct apart *apart = ARENA_ROOM(scratch, struct apart, r->n);
    struct about *abouts = ARENA_ROOM(scratch, struct about, r->n);
    const struct apart *all = all_apart(r, scratch);
    struct spread s = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        abouts[i] = about_without_group(r, i, all, without, apart);
    take_sizes(&s, r, abouts, without, values);
    for (size_t i = 0; i < r->n; i++) {
        double size = expected_size(&s, &abouts[i]);
        if (size > 0 && !is_context(&r->items[i]) && !text_is(r->items[i].group, without))
            values[n++] = fmax(0, fabs(r->items[i].left_out) - added_to(&s, &abouts[i])) / size;
    }
    s.quantile = nine_in_ten(values, n);
    s.n_errors = n;
    return s;
}

struct expected_error spread_expect(const struct spread *s, const struct references *r, const struct apart *apart)
{
    struct apart tested[r->n ? r->n : 1];
    for (size_t i = 0; i < r->n; i++)
        tested[i] = (struct apart){ is_context(&r->items[i]) ? INFINITY : apart[i].distance, apart[i].unlike };
    struct about x = about(r, tested);
    double size = expected_size(s, &x);
    return (struct expected_error){ size > 0 ? s->quantile * size + added_to(s, &x) : 0, x.unlike };
}

double spread_half_width(const struct spread *s, const struct references *r, const struct properties *at, const struct left_out *out)
{
    struct apart apart[r->n ? r->n : 1];
    for (size_t i = 0; i < r->n; i++) {
        apart[i] = properties_apart(at, &r->items[i].at);
        apart[i].distance = is_left_out(&r->items[i], out) ? INFINITY : apart[i].distance;
    }
    return spread_expect(s, r, apart).half_width;
}

double spread_deviation(const struct references *r, const struct properties *at, const char *group, struct arena *scratch)
{
    struct spread s = spread_of(r, group, scratch);
    struct left_out out = { .group = group };
    return spread_half_width(&s, r, at, &out) / gsl_cdf_ugaussian_Pinv((1 + LEVEL) / 2);
}

/* ---- coverage --------------------------------------------------------------------------------- */

static void count_inside(struct interval_count *c, bool inside, double half_width)
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
        count_inside(c, fabs(x->left_out) <= half, half);
}

static void test_left_out_group(struct interval_coverage *out, const struct references *r, const char *group, struct arena *a)
{
    struct interval_count *c = &out->groups[out->n_groups++];
    struct spread s = spread_of(r, group, a);
    *c = (struct interval_count){ .what = group };
    for (size_t i = 0; i < r->n; i++)
        if (text_is(r->items[i].group, group) && !is_context(&r->items[i])) {
            test(c, &s, r, &r->items[i], &(struct left_out){ .group = group });
            test(&out->all, &s, r, &r->items[i], &(struct left_out){ .group = group });
            test(&out->near, &s, r, &r->items[i], &(struct left_out){ .configuration = r->items[i].configuration });
        }
}

/* Judges the runs that share a name with run i by all others. */
static void test_by_others(struct interval_count *c, const struct references *r, size_t i, size_t property, struct arena *a)
{
    struct references others = { ARENA_ROOM(a, struct reference, r->n), 0, r->n };
    for (size_t k = 0; k < r->n; k++)
        if (!property_names_equal(&r->items[k].at, &r->items[i].at, property))
            others.items[others.n++] = r->items[k];
    struct spread s = spread_of(&others, NULL, a);
    for (size_t k = i; k < r->n; k++)
        if (property_names_equal(&r->items[k].at, &r->items[i].at, property) && !is_context(&r->items[k]))
            test(c, &s, &others, &r->items[k], &(struct left_out){ 0 });
}

static struct interval_count test_wider(const struct references *r, const char *name, struct arena *a)
{
    struct interval_count c = { .what = arena_printf(a, "all of a %s left out", name) };
    size_t property = property_find(name);
    for (size_t i = 0; i < r->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = property_names_equal(&r->items[k].at, &r->items[i].at, property);
        if (!seen)
            test_by_others(&c, r, i, property, a);
    }
    return c;
}

void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a)
{
    static const char *const names[N_WIDER] = { "family", "framework", "chip" };
    *out = (struct interval_coverage){ .all.what = "all", .near.what = "each configuration left out, its group known",
                                       .groups = ARENA_ROOM(a, struct interval_count, r->n) };
    for (size_t i = 0; i < r->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = text_is(r->items[k].group, r->items[i].group);
        if (!seen)
            test_left_out_group(out, r, r->items[i].group, a);
    }
    for (size_t i = 0; i < N_WIDER; i++)
        out->wider[i] = test_wider(r, names[i], a);
}

struct interval_row { const char *group; uint64_t configurations, inside; double share, mean_half_width; };
static const struct table_column interval_columns[] = {
#define C(member, ...) { COLUMN(struct interval_row, member), __VA_ARGS__ }
#define SHARE .format = "%.1f %%", .scale = 100
    C(group, .heading = "group left out"), C(configurations, .heading = "runs"), C(inside, .heading = "inside"),
    { COLUMN_AS(struct interval_row, share, NULL), .heading = "share", SHARE }, C(mean_half_width, .heading = "half width", SHARE),
#undef SHARE
#undef C
};

static struct interval_row interval_row(const struct interval_count *c)
{
    return (struct interval_row){ c->what, c->n, c->inside, c->n ? (double)c->inside / (double)c->n : 0, exp(c->mean_half_width) - 1 };
}

static struct table interval_groups_table(const struct interval_coverage *c, struct arena *a)
{
    struct table t = TABLE(interval_columns, struct interval_row);
    for (size_t i = 0; i < c->n_groups; i++)
        table_add(&t, &(struct interval_row[]){ interval_row(&c->groups[i]) }, a);
    return t;
}

struct table interval_coverage_table(const struct interval_coverage *c, struct arena *a)
{
    struct table t = interval_groups_table(c, a);
    table_add(&t, &(struct interval_row[]){ interval_row(&c->all) }, a);
    for (size_t i = 0; i < N_WIDER; i++)
        table_add(&t, &(struct interval_row[]){ interval_row(&c->wider[i]) }, a);
    table_add(&t, &(struct interval_row[]){ interval_row(&c->near) }, a);
    return t;
}

json_t *interval_coverage_json(const struct interval_coverage *c, struct arena *a)
{
    struct table groups = interval_groups_table(c, a);
    struct interval_row all = interval_row(&c->all), near = interval_row(&c->near);
    json_t *o = table_row_json(&groups, &all);
    json_t *wider = json_array();
    for (size_t i = 0; i < N_WIDER; i++)
        json_array_append_new(wider, table_row_json(&groups, &(struct interval_row[]){ interval_row(&c->wider[i]) }));
    json_object_update_new(o, json_pack("{s:f, s:o, s:o, s:o}", "level", LEVEL, "configuration_left_out", table_row_json(&groups, &near), "wider",
                                        wider, "groups", table_json(&groups)));
    return o;
}

/* ---- mixtures --------------------------------------------------------------------------------- */

enum { MOST_BISECTIONS = 200 };
static const double NEAR_ENOUGH = 1e-12;

struct mixture { const struct normal *parts; size_t n; double p; };

static double mixture_excess(double x, void *user)
{
    const struct mixture *m = user;
    double sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum += gsl_cdf_gaussian_P(x - m->parts[i].mean, m->parts[i].deviation);
    return sum / (double)m->n - m->p;
}

double mixture_quantile(double p, const struct normal *parts, size_t n)
{
    struct mixture m = { parts, n, p };
    gsl_function f = { mixture_excess, &m };
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double quantile = parts[i].mean + gsl_cdf_gaussian_Pinv(p, parts[i].deviation);
        low = fmin(low, quantile);
        high = fmax(high, quantile);
    }
    if (!(mixture_excess(low, &m) < 0) || !(mixture_excess(high, &m) > 0))       /* the parts are too narrow to bracket a root */
        return low;
    gsl_root_fsolver *s = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_root_fsolver_set(s, &f, low, high);
    for (int i = 0; i < MOST_BISECTIONS && high - low > NEAR_ENOUGH; i++) {
        gsl_root_fsolver_iterate(s);
        low = gsl_root_fsolver_x_lower(s);
        high = gsl_root_fsolver_x_upper(s);
    }
    double x = gsl_root_fsolver_root(s);
    gsl_root_fsolver_free(s);
    return x;
}
