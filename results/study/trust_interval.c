/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_interval.c - 90 % intervals from the errors of configurations whose group was left out, by split conformal
 * prediction.
 *
 *     half width = quantile x error to expect
 *
 * The error to expect is a mean: each reference tells its own |error| with the weight exp(-distance), and the mean of
 * all references counts as one more at distance 0, because few neighbours tell little of how large an error may be. So
 * a known group has its own error, and what nothing is near has that of all. Two factors widen it. A mean of n runs is
 * off itself by what a run is off, over root n: sqrt(1 + 1 / n), where n is the sum of the weights. And the nearest
 * run's error speaks for the part of the step alone that is spent on the same things: 1 / (1 - unlike).
 *
 * quantile is that of |error| / error to expect over configurations with their group left out, the ceil(0.9 (n +
 * 1))-th smallest of n. A context row is no test of the model, so its error shapes no interval.
 */
#include "results/study/trust.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <jansson.h>

static const double LEVEL = 0.9, MOST_UNLIKE = 0.99;

/* The error to expect at these distances, or 0 if all references are of the group `without`, which may be NULL. */
static double expected_error(const struct references *r, const struct distances *d, double mean_error, const char *without)
{
    double weights = 1, sum = mean_error, unlike = 0, nearest = INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *x = &r->items[i];
        const struct apart apart = d->items[i].apart;
        if (x->role == FIGURE_CONTEXT || text_is(x->group, without))
            continue;
        double weight = exp(-apart.distance);
        weights += weight;
        sum += weight * fabs(x->left_out);
        if (apart.distance < nearest) {
            nearest = apart.distance;
            unlike = fmin(MOST_UNLIKE, apart.unlike);
        }
    }
    return isinf(nearest) ? 0 : sum / weights * sqrt(1 + 1 / weights) / (1 - unlike);
}

struct spread spread_of(const struct references *r, struct arena *scratch)
{
    double *ratios = ARENA_ROOM(scratch, double, r->n);
    struct distances d = {0};
    struct spread s = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].role != FIGURE_CONTEXT)
            s.mean_error += (fabs(r->items[i].left_out) - s.mean_error) / (double)++n, s.largest_error = fmax(s.largest_error, fabs(r->items[i].left_out));
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *x = &r->items[i];
        if (x->role == FIGURE_CONTEXT)
            continue;
        distances_find(&d, r, &x->at, scratch);
        double expected = expected_error(r, &d, s.mean_error, x->group);
        if (expected > 0)
            ratios[s.n_errors++] = fabs(x->left_out) / expected;
    }
    gsl_sort(ratios, 1, s.n_errors);
    size_t rank = (size_t)ceil(LEVEL * (double)(s.n_errors + 1));
    s.quantile = s.n_errors ? ratios[min_u64(rank, s.n_errors) - 1] : 0;
    return s;
}

double spread_half_width_at(const struct spread *s, const struct references *r, const struct distances *d)
{
    return s->quantile * expected_error(r, d, s->mean_error, NULL);
}

double spread_half_width(const struct spread *s, const struct references *r, const struct properties *at)
{
    struct arena scratch = {0};
    struct distances d = {0};
    distances_find(&d, r, at, &scratch);
    double half = spread_half_width_at(s, r, &d);
    arena_free(&scratch);
    return half;
}

double step_deviation(const struct simulation *sim, const struct references *r, bool without_group)
{
    struct arena scratch = {0};
    const struct properties at = properties_of(sim, &scratch);
    const struct references judges = without_group ? references_without_group(r, properties_group(&at, &scratch), &scratch) : *r;
    const struct spread s = spread_of(&judges, &scratch);
    double deviation = spread_half_width(&s, &judges, &at) / gsl_cdf_ugaussian_Pinv((1 + LEVEL) / 2);
    arena_free(&scratch);
    return deviation > 0 ? deviation : sim->fitted.throughput_error;
}

bool track_record_open(struct track_record *out, const char *validity_dir, struct arena *a, struct err *err)
{
    *out = (struct track_record){0};
    if (!references_load(&out->references, arena_printf(a, "%s/left-out.csv", validity_dir), a, err)
        || (out->references.n && !known_values_load(&out->references.known, arena_printf(a, "%s/known-values.csv", validity_dir), a, err)))
        return false;
    out->spread = spread_of(&out->references, a);
    return true;
}

/* ---- coverage --------------------------------------------------------------------------------- */

/* A run is left out together with all of its group, family, framework or chip, or alone. */
enum { PART_GROUP, PART_FAMILY, PART_FRAMEWORK, PART_CHIP, PART_CONFIGURATION, N_PARTS_LEFT_OUT };
/* The runs of each kind, of those that are left out with their group, and alone. */
enum { KIND_TRAINING, KIND_RARE, KIND_INFERENCE, N_KINDS };
enum { KINDS_OF_GROUP = N_PARTS_LEFT_OUT, KINDS_ALONE = KINDS_OF_GROUP + N_KINDS };
_Static_assert(KINDS_ALONE + N_KINDS == N_INTERVAL_SUMS, "a row for each");
static const size_t COMMON = 10;        /* configurations of a family that is not rare */

static int kind_of(const struct references *r, const struct reference *x)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->items[i].role != FIGURE_CONTEXT && property_names_equal(&r->items[i].at, &x->at, BY_FAMILY);
    return text_is(x->at.name[BY_MODE], "infer") ? KIND_INFERENCE : n < COMMON ? KIND_RARE : KIND_TRAINING;
}

static bool is_of_part(const struct reference *x, const struct reference *y, int part)
{
    static const enum property_id names[] = { [PART_FAMILY] = BY_FAMILY, [PART_FRAMEWORK] = BY_FRAMEWORK, [PART_CHIP] = BY_CHIP };
    return part == PART_GROUP ? text_is(x->group, y->group)
         : part == PART_CONFIGURATION ? text_is(x->configuration, y->configuration) : property_names_equal(&x->at, &y->at, names[part]);
}

static struct references references_without(const struct references *r, const struct reference *x, int part, struct arena *a)
{
    struct references others = { .items = ARENA_ROOM(a, struct reference, r->n) };
    for (size_t i = 0; i < r->n; i++)
        if (!is_of_part(&r->items[i], x, part))
            others.items[others.n++] = r->items[i];
    return others;
}

struct references references_without_group(const struct references *r, const char *group, struct arena *a)
{
    return references_without(r, &(struct reference){ .group = group }, PART_GROUP, a);
}

static void test(struct interval_count *c, const struct spread *s, const struct references *r, const struct reference *x)
{
    double half = spread_half_width(s, r, &x->at);
    if (!(half > 0) || x->role == FIGURE_CONTEXT)
        return;
    c->inside += fabs(x->left_out) <= half;
    c->share = (double)c->inside / (double)++c->configurations;
    c->sum_half_widths += half;
    c->mean_half_width = exp(c->sum_half_widths / (double)c->configurations) - 1;
}

/* Judges the runs of the part that run i is the first of by all others. With a group, also judges each of its runs by
 * the rest of the group, with the spread of the others. */
static void test_part(struct interval_coverage *out, const struct references *r, size_t i, int part, struct arena *a)
{
    const struct references others = references_without(r, &r->items[i], part, a);
    const struct spread s = spread_of(&others, a);
    struct interval_count *sums = &out->rows[r->n], *group = part == PART_GROUP ? &out->rows[out->n_groups++] : NULL;
    if (group)
        group->group = r->items[i].group;
    for (size_t k = i; k < r->n; k++) {
        if (!is_of_part(&r->items[k], &r->items[i], part))
            continue;
        test(&sums[part], &s, &others, &r->items[k]);
        if (!group)
            continue;
        const struct references rest = references_without(r, &r->items[k], PART_CONFIGURATION, a);
        const int kind = kind_of(r, &r->items[k]);
        test(group, &s, &others, &r->items[k]);
        test(&sums[KINDS_OF_GROUP + kind], &s, &others, &r->items[k]);
        test(&sums[PART_CONFIGURATION], &s, &rest, &r->items[k]);
        test(&sums[KINDS_ALONE + kind], &s, &rest, &r->items[k]);
    }
}

void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a)
{
    static const char *const titles[N_INTERVAL_SUMS] = { "all", "all of a family left out", "all of a framework left out", "all of a chip left out",
                                                         "each configuration left out, its group known",
        "of all: training of families with ten runs or more", "of all: training of other families", "of all: inference",
        "group known: training of families with ten runs or more", "group known: training of other families", "group known: inference" };
    *out = (struct interval_coverage){ .rows = ARENA_ARRAY(a, struct interval_count, r->n + N_INTERVAL_SUMS) };
    for (int sum = 0; sum < N_INTERVAL_SUMS; sum++)
        out->rows[r->n + sum].group = titles[sum];
    for (int part = 0; part < PART_CONFIGURATION; part++) {
        for (size_t i = 0; i < r->n; i++) {
            size_t first = 0;
            while (!is_of_part(&r->items[first], &r->items[i], part))
                first++;
            if (first == i)
                test_part(out, r, i, part, a);
        }
    }
    memmove(&out->rows[out->n_groups], &out->rows[r->n], N_INTERVAL_SUMS * sizeof *out->rows);
}

static const struct table_column interval_columns[] = {
#define C(member, ...) { COLUMN(struct interval_count, member), __VA_ARGS__ }
#define SHARE .format = "%.1f %%", .scale = 100
    C(group, .heading = "group left out"), C(configurations, .heading = "runs"), C(inside, .heading = "inside"),
    { COLUMN_AS(struct interval_count, share, NULL), .heading = "share", SHARE }, C(mean_half_width, .heading = "half width", SHARE),
#undef SHARE
#undef C
};

struct table interval_coverage_table(const struct interval_coverage *c)
{
    return TABLE_OF(interval_columns, c->rows, c->n_groups + N_INTERVAL_SUMS);
}

json_t *interval_coverage_json(const struct interval_coverage *c)
{
    const struct interval_count *sums = &c->rows[c->n_groups];
    struct table groups = TABLE_OF(interval_columns, c->rows, c->n_groups), wider = TABLE_OF(interval_columns, &sums[PART_FAMILY], 3),
                       kinds = TABLE_OF(interval_columns, &sums[KINDS_OF_GROUP], 2 * N_KINDS);
    json_t *o = table_row_json(&groups, &sums[PART_GROUP]);
    json_object_update_new(o, json_pack("{s:f, s:o, s:o, s:o, s:o}", "level", LEVEL, "configuration_left_out", table_row_json(&groups, &sums[PART_CONFIGURATION]),
                                        "wider", table_json(&wider), "kinds", table_json(&kinds), "groups", table_json(&groups)));
    return o;
}
