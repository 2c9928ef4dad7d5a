/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - one answer compared with all published runs.
 *
 * A property is extrapolated if no published run of the same kind (family of models, training or inference) has its
 * name, if its count is outside the range of theirs, or if its share of the step is far above all of theirs. A sheet
 * value that was changed for this simulation always is.
 */
#include "results/study/trust.h"

#include <jansson.h>

static const double SHARE_BEYOND = 0.05;

/* One answer compared with each reference. */
struct all_distances { const struct references *all; const struct properties *at; struct apart *apart; bool *same_kind; };

static struct all_distances compare_with_all(const struct references *all, const struct properties *at, struct arena *a)
{
    struct all_distances b = { all, at, ARENA_ARRAY(a, struct apart, all->n), ARENA_ARRAY(a, bool, all->n) };
    for (size_t i = 0; i < all->n; i++) {
        b.apart[i] = properties_apart(at, &all->items[i].at);
        b.same_kind[i] = properties_same_kind(at, &all->items[i].at);
    }
    return b;
}

static void find_nearest(struct validity *v, const struct all_distances *b)
{
    for (size_t i = 0; i < b->all->n; i++) {
        size_t k = v->n_nearest < MAX_NEAREST ? v->n_nearest++ : MAX_NEAREST;
        for (; k > 0 && v->nearest[k - 1].distance > b->apart[i].distance; k--)
            if (k < MAX_NEAREST)
                v->nearest[k] = v->nearest[k - 1];
        if (k < MAX_NEAREST) {
            v->nearest[k].reference = &b->all->items[i];
            v->nearest[k].distance = b->apart[i].distance;
        }
    }
    v->distance = v->n_nearest ? v->nearest[0].distance : -1;
}

/* A share is outside if it is above all of theirs by more than a twentieth of the step. Below is not tested: another
 * share is then above. */
static bool is_share_inside(const struct all_distances *b, size_t property)
{
    for (size_t i = 0; i < b->all->n; i++)
        if (b->same_kind[i] && b->at->share[property] <= b->all->items[i].at.share[property] + SHARE_BEYOND)
            return true;
    return false;
}

static bool is_inside(const struct all_distances *b, size_t property)
{
    bool is_count = properties[property].kind == PROPERTY_COUNT;
    if (properties[property].kind == PROPERTY_SHARE)
        return is_share_inside(b, property);
    uint64_t x = b->at->count[property], low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < b->all->n; i++) {
        const struct properties *other = &b->all->items[i].at;
        if (!b->same_kind[i])
            continue;
        if (!is_count && property_names_equal(other, b->at, property))
            return true;
        low = min_u64(low, other->count[property]);
        high = max_u64(high, other->count[property]);
    }
    return is_count && low <= x && x <= high;
}

static void add_extrapolated(struct validity *v, const char *name)
{
    if (v->n_extrapolates < MAX_EXTRAPOLATES)
        v->extrapolates[v->n_extrapolates++] = name;
}

/* NULL means the key was taken off its sheet. */
static const struct sheet_row *row_of_key(const struct simulation *sim, const char *key)
{
    const struct sheet *sheets[MAX_SHEETS];
    size_t n = simulation_sheets(sheets, sim);
    const struct sheet_row *row = NULL;
    for (size_t i = 0; i < n && !row; i++)
        row = sheet_find(sheets[i], key);
    return row;
}

/* A value that is set to what the sheet has is no change. */
static bool is_changed(const struct simulation *sim, const char *key)
{
    const struct sheet_row *row = row_of_key(sim, key);
    return !row || row->line == 0;
}

static void find_extrapolated(struct validity *v, const struct all_distances *b, const struct simulation *sim, struct arena *a)
{
    for (size_t i = 0; i < b->all->n && !v->same_kind; i++)
        v->same_kind = b->same_kind[i];
    for (size_t i = 0; i < n_properties && v->same_kind; i++)
        if (!is_inside(b, i))
            add_extrapolated(v, properties[i].name);
    if (!v->same_kind)
        add_extrapolated(v, "workload");
    for (size_t i = 0; i < sim->changes.n; i++)
        if (is_changed(sim, sim->changes.items[i].key))
            add_extrapolated(v, arena_printf(a, SHEET_OVERRIDE_SECTION ".%s", sim->changes.items[i].key));
}

/* True if a published run had this chip. */
static bool is_known_chip(const struct references *all, const struct properties *at)
{
    size_t chip = 0;
    while (!text_is(properties[chip].name, "chip"))
        chip++;
    for (size_t i = 0; i < all->n; i++)
        if (property_names_equal(&all->items[i].at, at, chip))
            return true;
    return false;
}

/* True if the value can change how fast a step is; watts cannot. A key ends in its unit. */
static bool counts_for_speed(const char *key)
{
    size_t n = strlen(key);
    return n < 2 || !text_is(key + n - 2, "_w");
}

/* A chip that no published run had, or a sheet's value that none had, is farther from all of them than any of them was from
 * the others when its group was left out. No error is known there, so no width of an interval can be vouched for. */
static const char *foreign_part(const struct simulation *sim, const struct properties *at, const struct references *all, struct arena *a)
{
    if (!is_known_chip(all, at))
        return arena_printf(a, "chip %s", sim->machine->chip_name);
    for (size_t i = 0; i < sim->changes.n; i++)
        if (is_changed(sim, sim->changes.items[i].key) && counts_for_speed(sim->changes.items[i].key))
            return arena_printf(a, SHEET_OVERRIDE_SECTION ".%s=%s", sim->changes.items[i].key, sim->changes.items[i].value);
    return NULL;
}

static double largest_error(const struct references *all)
{
    double most = 0;
    for (size_t i = 0; i < all->n; i++)
        most = all->items[i].role == FIGURE_CONTEXT ? most : fmax(most, fabs(all->items[i].left_out));
    return most;
}

bool track_record_open(struct track_record *out, const char *left_out_csv, struct arena *a, struct err *err)
{
    *out = (struct track_record){ .spread.n_errors = 0 };
    if (!references_load(&out->references, left_out_csv, a, err))
        return false;
    out->spread = spread_of(&out->references, NULL, a);
    return true;
}

/* A time that is a fitted value times an assumed one counts for both, so the sum is scaled down to at most 1. */
static void limit_shares(struct validity *v)
{
    double by = 1 / fmax(1, v->from_fitted_share + v->from_assumed_share);
    v->from_fitted_share *= by;
    v->from_assumed_share *= by;
}

static void set_interval(struct validity *v)
{
    struct log_interval x = open_readings_interval(&v->open, v->half_width);
    v->low = v->throughput * exp(x.low);
    v->high = v->throughput * exp(x.high);
}

bool validity_has_interval(const struct validity *v)
{
    return v->high > 0;
}

void validity_add_readings(struct validity *v, const struct track_record *by, const struct result *as_asked, const struct simulation_request *q, struct arena *a)
{
    open_readings_try(&v->open, by, as_asked, q, a);
    if (validity_has_interval(v))
        set_interval(v);
}

void validity_of(struct validity *out, const struct track_record *by, const struct simulation *sim, const struct result *r, const struct simulation_request *q,
                 struct arena *a)
{
    struct properties at = properties_of(sim, a);
    const struct references *references = &by->references;
    struct all_distances comparison = compare_with_all(references, &at, a);
    *out = (struct validity){ .throughput = r->throughput_samples_per_s, .from_fitted_share = NAN, .from_assumed_share = NAN };
    out->foreign = references->n ? foreign_part(sim, &at, references, a) : NULL;
    for (size_t i = 0; i < references->n && out->foreign; i++)
        comparison.apart[i].distance += fmax(by->spread.farthest, NEAR_DISTANCE);
    find_nearest(out, &comparison);
    find_extrapolated(out, &comparison, sim, a);
    if (by->spread.n_errors >= 2) {
        struct expected_error expected = spread_expect(&by->spread, references, comparison.apart);
        out->unlike = expected.unlike;
        out->tested_unlike = by->spread.unlike;
        out->half_width = expected.half_width;
        out->largest_error = largest_error(references);
        if (!out->foreign)
            set_interval(out);
    }
    out->near = out->same_kind && !out->foreign && out->distance <= NEAR_DISTANCE
                && (!out->n_nearest || out->nearest[0].reference->role != FIGURE_CONTEXT);
    open_readings_list(&out->open, sim, a);
    if (!q)
        return;
    validity_add_readings(out, by, r, q, a);
    struct inputs inputs;
    inputs_list_sheets(&inputs, sim, a);
    out->from_fitted_share = inputs_share_of_origin(ORIGIN_FITTED, &inputs, q, a);
    out->from_assumed_share = inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, q, a);
    limit_shares(out);
}

double validity_uncertainty(const struct validity *v)
{
    return validity_has_interval(v) ? (v->high - v->low) / 2 / v->throughput : 0;
}

/* ---- printing --------------------------------------------------------------------------------- */

static double relative_error(const struct reference *r)
{
    return exp(r->left_out) - 1;
}

static void print_nearest(FILE *f, const struct validity *v)
{
    if (!v->n_nearest)
        return;
    const struct reference *r = v->nearest[0].reference;
    if (!v->near)
        fprintf(f, "NO PUBLISHED RUN IS NEAR%s%s; ", v->same_kind ? "" : ", AND NONE IS OF THIS KIND", v->foreign ? "" : ": the interval is a guess");
    fprintf(f, "nearest published: %s, distance %.2g, predicted %+.1f %% off when left out of the fit\n", r->configuration, v->distance, 100 * relative_error(r));
}

static void print_interval(FILE *f, const struct validity *v, const struct result *r)
{
    char low[QUANTITY_ROOM], high[QUANTITY_ROOM];
    double half = (v->high - v->low) / 2;
    fprintf(f, "trust: 90 %% interval %s to %s samples/s (%+.0f, %+.0f %%)", quantity_text(low, v->low, "", digits_within(v->low, half)),
            quantity_text(high, v->high, "", digits_within(v->high, half)), 100 * (v->low / r->throughput_samples_per_s - 1),
            100 * (v->high / r->throughput_samples_per_s - 1));
}

void validity_print(FILE *f, const struct validity *v, const struct result *r)
{
    if (!validity_has_interval(v) && !v->foreign) {
        fprintf(f, "trust: unknown, as there are no errors of published runs to go by ('make baseline' writes results/validity/left-out.csv)\n");
        return;
    }
    if (v->foreign)
        fprintf(f, "trust: no interval, as no published run has %s; where runs are published, errors reach %.0f %%", v->foreign,
                100 * (exp(v->largest_error) - 1));
    else
        print_interval(f, v, r);
    if (!isnan(v->from_fitted_share))
        fprintf(f, "; %.0f %% of the time rests on fitted values, %.0f %% on assumed ones", 100 * v->from_fitted_share,
                100 * v->from_assumed_share);
    fprintf(f, "\n  ");
    print_nearest(f, v);
    if (v->unlike > v->tested_unlike && !v->foreign)
        fprintf(f, "  %.0f %% of the step is spent on other things than in the published runs about it, more than the %.0f %% that was tested: the "
                "interval is wider for it\n", 100 * v->unlike, 100 * v->tested_unlike);
    for (size_t i = 0; i < v->n_extrapolates; i++)
        fprintf(f, "%s%s", i ? ", " : "  beyond everything published: ", v->extrapolates[i]);
    fputs(v->n_extrapolates ? "\n" : "", f);
    open_readings_print(f, &v->open);
}

json_t *validity_json(const struct validity *v)
{
    bool known = validity_has_interval(v), is_compared = known || v->foreign;
    json_t *nearest = json_array();
    for (size_t i = 0; i < v->n_nearest; i++)
        json_array_append_new(nearest, json_pack("{s:s, s:f, s:f}", "configuration", v->nearest[i].reference->configuration, "error",
                                                 relative_error(v->nearest[i].reference), "distance", v->nearest[i].distance));
    return json_pack("{s:s, s:f, s:o, s:o, s:b, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "of", "throughput_samples_per_s", "level", 0.9,
                     "interval_low", json_known(known, v->low), "interval_high", json_known(known, v->high), "near", v->near, "foreign", v->foreign, "nearest", nearest,
                     "extrapolates", json_words(v->extrapolates, v->n_extrapolates), "unlike_share", json_known(is_compared, v->unlike),
                     "tested_unlike_share", json_known(is_compared, v->tested_unlike), "open_readings", open_readings_json(&v->open), "not_set",
                     open_readings_unset_json(&v->open), "from_fitted_share", json_number(v->from_fitted_share), "from_assumed_share",
                     json_number(v->from_assumed_share), "from_sourced_share",
                     json_number(fmax(0, 1 - v->from_fitted_share - v->from_assumed_share)));
}
