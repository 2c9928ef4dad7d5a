/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_distance.c - how far apart two runs are.
 *
 * The weights are a judgement, not a fit. A distance of 1 counts for another model of the family, another framework, chip or number format, or
 * input that overlaps in only one of the runs; a half for a doubled width of the replica or sequence length; a quarter each for doubled IPUs,
 * micro-batch or global batch; 4 for another family, or for inference against training, since nothing else makes up for these. Two steps
 * without a common class of work are as far apart as two families.
 *
 * Neighbours in a sweep share most properties, so a property's term is computed only when its value changes.
 */
#include "results/study/trust_internal.h"

static const double ALL_UNLIKE = 4;

static double property_weight(size_t property)
{
    static const double counts[] = { 0.25, 0.5, 0.25, 0.25, 0.5 };
    return property < BY_IPUS ? program_name_weights[property] : counts[property - BY_IPUS];
}

/* The doublings between two counts; between 0 and another count there is one. */
static double doublings(double x, double y)
{
    return x == y ? 0 : x > 0 && y > 0 ? fabs(log2(x / y)) : 1;
}

static bool is_name(size_t property)
{
    return property < BY_IPUS;
}

/* The part of the distance that comes from one name or count. */
static double term_of(const struct properties *x, const struct properties *y, size_t property)
{
    if (is_name(property))
        return property_names_equal(x, y, property) ? 0 : property_weight(property);
    return property_weight(property) * doublings(x->number[property], y->number[property]);
}

static struct apart sum_of(const double *terms, const struct properties *x, const struct properties *y)
{
    struct apart apart = {0};
    for (size_t i = 0; i < BY_SHARES; i++)
        apart.distance += terms[i];
    for (size_t i = BY_SHARES; i < N_PROPERTIES; i++)
        apart.unlike += fabs(x->number[i] - y->number[i]) / 2;
    apart.distance += ALL_UNLIKE * apart.unlike;
    return apart;
}

struct apart properties_apart(const struct properties *x, const struct properties *y)
{
    double terms[BY_SHARES];
    for (size_t i = 0; i < BY_SHARES; i++)
        terms[i] = term_of(x, y, i);
    return sum_of(terms, x, y);
}

static bool is_as_before(const struct distances *d, const struct properties *at, size_t property)
{
    return is_name(property) ? text_is(d->names[property], at->name[property]) : d->counts[property] == at->number[property];
}

/* Keeps the property for comparison with the next run. A name too long for its place will count as changed. */
static void keep_property(struct distances *d, const struct properties *at, size_t property)
{
    if (is_name(property))
        snprintf(d->names[property], sizeof d->names[property], "%s", at->name[property]);
    else
        d->counts[property] = at->number[property];
}

void distances_find(struct distances *d, const struct references *r, const struct properties *at, struct arena *a)
{
    bool is_first = !d->items;
    if (is_first)
        d->items = ARENA_ARRAY(a, struct distance, r->n + 1);
    for (size_t i = 0; i < BY_SHARES; i++) {
        if (!is_first && is_as_before(d, at, i))
            continue;
        for (size_t k = 0; k < r->n; k++)
            d->items[k].terms[i] = term_of(at, &r->items[k].at, i);
        keep_property(d, at, i);
    }
    for (size_t k = 0; k < r->n; k++)
        d->items[k].apart = sum_of(d->items[k].terms, at, &r->items[k].at);
}

bool distance_has_name(const struct distance *d, size_t property)
{
    return d->terms[property] == 0;
}

bool distance_is_of_kind(const struct distance *d)
{
    return distance_has_name(d, BY_FAMILY) && distance_has_name(d, BY_MODE);
}

const struct distances *track_record_distances(const struct track_record *by, const struct properties *at, struct arena *a)
{
    struct distances *d = by->last ? &by->last->distances : ARENA_NEW(a, struct distances);
    distances_find(d, &by->references, at, by->last ? &by->last->arena : a);
    return d;
}

/* ---- likeness ------------------------------------------------------------------------------------------ */

const char *const likeness_names[N_LIKENESSES] = {
    [LIKE_PROGRAM] = "program and chip known", [LIKE_FAMILY] = "family of models known", [LIKE_NO_FAMILY] = "new family, or mode",
    [LIKE_NO_FRAMEWORK] = "new framework",
};

enum likeness likeness_among(const struct references *r, const struct distances *d, reference_counts *counts, const void *user)
{
    bool kind = false, framework = false, program = false;
    for (size_t i = 0; i < r->n; i++) {
        const struct distance *x = &d->items[i];
        if (counts && !counts(&r->items[i], user))
            continue;
        bool same_framework = distance_has_name(x, BY_FRAMEWORK), same_kind = distance_is_of_kind(x);
        kind |= same_kind;
        framework |= same_framework;
        program |= same_kind && same_framework && distance_has_name(x, BY_WORKLOAD) && distance_has_name(x, BY_CHIP);
    }
    return !kind ? LIKE_NO_FAMILY : !framework ? LIKE_NO_FRAMEWORK : program ? LIKE_PROGRAM : LIKE_FAMILY;
}

enum likeness likeness_of(const struct references *r, const struct distances *d)
{
    return likeness_among(r, d, NULL, NULL);
}
