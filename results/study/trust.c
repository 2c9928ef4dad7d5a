/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - one answer compared with all published runs.
 *
 * A property is extrapolated if no published run of the same kind (family of models, training or inference) has the same name, if its count is
 * outside the range of theirs, or if its share of the step is far above all of theirs. A value of the machine that no published run had is
 * foreign. No error is known for such a value, so no interval can be given.
 */
#include "results/study/trust.h"

#include <jansson.h>

static const double SHARE_UNLIKE = 0.1, WORTH_TELLING = 0.005;
static const double SHARE_BEYOND = 0.05;        /* how far above all published shares counts as beyond; a share far below implies another far above */

void judged_run_free(struct judged_run *last)
{
    arena_free(&last->arena);
    arena_free(&last->texts);
}

/* Lists the properties in which this run differs from the nearest one. The use of the step is listed if a tenth of it is spent differently. */
static void find_differences(struct validity *v, const struct distance *d)
{
    for (size_t i = 0; i < BY_SHARES; i++)
        if (d->terms[i] > 0)
            v->differs[v->n_differs++] = property_name(i);
    if (d->apart.unlike > SHARE_UNLIKE)
        v->differs[v->n_differs++] = "what the step is spent on";
}

static void find_nearest(struct validity *v, const struct references *all, const struct distances *d)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct apart apart = d->items[i].apart;
        v->same_kind |= distance_is_of_kind(&d->items[i]);
        if (v->n_nearest == MAX_NEAREST && v->nearest[MAX_NEAREST - 1].distance <= apart.distance)
            continue;
        size_t k = v->n_nearest < MAX_NEAREST ? v->n_nearest++ : MAX_NEAREST - 1;
        for (; k > 0 && v->nearest[k - 1].distance > apart.distance; k--)
            v->nearest[k] = v->nearest[k - 1];
        v->nearest[k].reference = &all->items[i];
        v->nearest[k].distance = apart.distance;
        v->unlike = k == 0 ? apart.unlike : v->unlike;
    }
    v->distance = v->n_nearest ? v->nearest[0].distance : -1;
    if (v->n_nearest)
        find_differences(v, &d->items[v->nearest[0].reference - all->items]);
}

/* Foreign values in the form of --set, such as "machine.n_tiles=2944"; a missing key is shown as unset. Only the first few are named. */
static const char *foreign_text(const struct simulation *sim, const struct known_values *known, struct arena *a)
{
    enum { MOST_NAMED = 3 };
    const struct known_values foreign = known_values_foreign(known, sim, a);
    const char *text = NULL;
    for (size_t i = 0; i < foreign.n && i < MOST_NAMED; i++) {
        const struct known_value *x = &foreign.items[i];
        text = arena_printf(a, "%s%s" SHEET_OVERRIDE_SECTION ".%s%s%s", text ? text : "", text ? ", " : "", x->key, *x->value ? "=" : " unset", x->value);
    }
    return foreign.n > MOST_NAMED ? arena_printf(a, "%s and %zu more", text, foreign.n - MOST_NAMED) : text;
}

/* The foreign values of a run. The text of the last run is reused if both read the same values of the same sheets. */
static const char *find_foreign(const struct track_record *by, const struct simulation *sim, struct arena *a)
{
    struct judged_run *last = by->last;
    if (last && last->sheets_id == sim->sheets_id && last->values_read == machine_values_read(sim))
        return last->foreign ? arena_strdup(a, last->foreign) : NULL;
    const char *foreign = foreign_text(sim, &by->references.known, a);
    if (last) {
        arena_reset(&last->texts);
        last->foreign = foreign ? arena_strdup(&last->texts, foreign) : NULL;
        last->sheets_id = sim->sheets_id;
        last->values_read = machine_values_read(sim);
    }
    return foreign;
}

/* No published run had a slow chip, a slow or cut link, or other traffic. */
static const char *with_faults(const char *foreign, const struct result *r, struct arena *a)
{
    if (!(r->fault_cost_s > 0))
        return foreign;
    return foreign ? arena_printf(a, "%s, faults", foreign) : "faults";
}

static bool is_off_amp(const struct validity *v)
{
    return v->off_amp_share > v->most_off_amp_share + SHARE_BEYOND;
}

static void find_extrapolated(struct validity *v, const struct references *all, const struct distances *d, const struct properties *at)
{
    bool has_name[BY_IPUS] = {0}, has_lower[N_PROPERTIES] = {0}, has_higher[N_PROPERTIES] = {0};
    for (size_t k = 0; k < all->n; k++) {
        const struct properties *other = &all->items[k].at;
        v->most_off_amp_share = fmax(v->most_off_amp_share, other->off_amp_share);
        if (!distance_is_of_kind(&d->items[k]))
            continue;
        for (size_t i = 0; i < BY_IPUS; i++)
            has_name[i] |= distance_has_name(&d->items[k], i);
        for (size_t i = BY_IPUS; i < N_PROPERTIES; i++) {
            has_lower[i] |= i >= BY_SHARES || other->number[i] <= at->number[i];
            has_higher[i] |= other->number[i] + (i >= BY_SHARES ? SHARE_BEYOND : 0) >= at->number[i];
        }
    }
    for (size_t i = 0; i < N_PROPERTIES && v->same_kind; i++)
        if (i < BY_IPUS ? !has_name[i] : !has_lower[i] || !has_higher[i])
            v->extrapolates[v->n_extrapolates++] = property_name(i);
    if (!v->same_kind)
        v->extrapolates[v->n_extrapolates++] = property_name(BY_WORKLOAD);
    v->off_amp_share = at->off_amp_share;
    if (all->n && is_off_amp(v))
        v->extrapolates[v->n_extrapolates++] = property_name(N_PROPERTIES);
}

/* Computes the shares of the step that rest on fitted and on assumed values. A product of both kinds counts twice, so the sum is limited to 1. */
static void find_shares(struct validity *v, const struct simulation *sim, const struct simulation_request *q, struct arena *a)
{
    struct inputs inputs;
    inputs_list_sheets(&inputs, sim, a);
    double fitted = inputs_share_of_origin(ORIGIN_FITTED, &inputs, q, a), assumed = inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, q, a);
    v->from_fitted_share = fitted / fmax(1, fitted + assumed);
    v->from_assumed_share = assumed / fmax(1, fitted + assumed);
}

static void set_interval(struct validity *v)
{
    struct log_interval x = open_readings_interval(&v->open, v->expected);
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
    const struct references *references = &by->references;
    struct properties at = properties_of(sim, a);
    *out = (struct validity){ .throughput = r->throughput_samples_per_s, .as_if_fitted = !r->fits, .from_fitted_share = NAN, .from_assumed_share = NAN };
    const struct distances *d = track_record_distances(by, &at, a);
    find_nearest(out, references, d);
    find_extrapolated(out, references, d, &at);
    out->foreign = with_faults(find_foreign(by, sim, a), r, a);
    out->expected = spread_expect(&by->spread, references, d, &at);
    out->largest_error = by->spread.largest_error;
    if (out->expected.half_width > 0 && !out->foreign)
        set_interval(out);
    out->near = out->same_kind && !out->foreign && out->distance <= NEAR_DISTANCE && !is_off_amp(out);
    out->likeness = likeness_of(references, d);
    open_readings_list(&out->open, sim, a);
    if (q) {
        validity_add_readings(out, by, r, q, a);
        find_shares(out, sim, q, a);
    }
}

double validity_expected(const struct validity *v)
{
    return v->throughput * exp(-v->expected.bias);
}

bool validity_is_guess(const struct validity *v)
{
    return validity_has_interval(v) && !v->near;
}

const char *validity_guess_name(const struct validity *v)
{
    return !validity_has_interval(v) ? NULL : v->near ? "no" : "yes";
}

const char as_if_fitted_note[] = "does not fit: rate and interval are as if it fitted";

const char *validity_note(const struct validity *v, struct arena *a)
{
    return v->foreign ? arena_printf(a, "no interval: no published run has %s", v->foreign)
         : validity_is_guess(v) ? "the interval is a guess: no published run is near" : NULL;
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

/* Says how a prediction with this error is off: "2.7 % too slow" or "a factor of 3.0 too fast". */
static const char *error_text(double error, struct arena *a)
{
    double factor = exp(fabs(log1p(error)));
    if (fabs(error) < 5e-4)
        return "right";
    const char *by = factor > 1.5 ? arena_printf(a, "a factor of %.2g", factor) : arena_printf(a, "%.1f %%", 100 * fabs(error));
    return arena_printf(a, "%s too %s", by, error < 0 ? "slow" : "fast");
}

static const char *nearest_text(const struct validity *v, struct arena *a)
{
    const struct reference *r = v->nearest[0].reference;
    const char *differs = v->n_differs ? arena_printf(a, ", which differs in %s (distance %.2g)", names_joined(v->differs, v->n_differs, ", ", a), v->distance) : "";
    return arena_printf(a, "nearest %srun: %s%s; it is predicted %s%s", r->is_own ? "" : "published ", r->configuration, differs, error_text(relative_error(r), a),
                        r->is_own ? "" : " where the fit has not seen it");
}

static bool is_near_own(const struct validity *v)
{
    for (size_t i = 0; i < v->n_nearest; i++)
        if (v->nearest[i].reference->is_own)
            return true;
    return false;
}

/* The interval as text, with percentages, or with factors if it is wide. */
static const char *range_of_trust(const struct validity *v, const struct result *r, struct arena *a)
{
    double half = (v->high - v->low) / 2, down = v->low / r->throughput_samples_per_s, up = v->high / r->throughput_samples_per_s;
    const char *from_to = arena_printf(a, "%s to %s samples/s", quantity_within(v->low, "", half, a), quantity_within(v->high, "", half, a));
    return up / down > 2 ? arena_printf(a, "%s (x %.2g to x %.2g)", from_to, down, up) : arena_printf(a, "%s (%+.0f, %+.0f %%)", from_to, 100 * (down - 1), 100 * (up - 1));
}

static const char *trust_text(const struct validity *v, const struct result *r, struct arena *a)
{
    if (v->foreign)
        return arena_printf(a, "no interval, as no published run has %s; where runs are published, errors reach a factor of %.2g", v->foreign, exp(v->largest_error));
    const char *expect = fabs(v->expected.bias) < WORTH_TELLING ? "" : arena_printf(a, "; expect %s, as %sruns like it are predicted %s",
        quantity_within(validity_expected(v), "", (v->high - v->low) / 2, a), is_near_own(v) ? "measured and published " : "published ",
        error_text(expm1(v->expected.bias), a));
    if (v->near)
        return arena_printf(a, "90 %% interval %s%s", range_of_trust(v, r, a), expect);
    return arena_printf(a, "A GUESS, as %s: 90 %% interval %s%s", is_off_amp(v) && v->same_kind && v->distance <= NEAR_DISTANCE ? "its products do not use the AMP"
                        : v->same_kind ? "no published run is near" : "no published run is of this kind", range_of_trust(v, r, a), expect);
}

void validity_document(struct document *d, const struct validity *v, const struct result *r)
{
    struct arena *a = d->arena;
    if (!validity_has_interval(v) && !v->foreign) {
        document_line(d, "trust: unknown, as there are no errors of published runs to go by ('make baseline' writes results/validity/left-out.csv)");
        return;
    }
    document_line(d, "trust: %s%s", v->as_if_fitted ? "as if it fitted: " : "", trust_text(v, r, a));
    if (!isnan(v->from_fitted_share))
        document_line(d, "  %.0f %% of the time rests on fitted values, %.0f %% on assumed ones", 100 * v->from_fitted_share, 100 * v->from_assumed_share);
    if (v->n_nearest)
        document_line(d, "  %s", nearest_text(v, a));
    if (v->n_extrapolates)
        document_line(d, "  beyond everything published: %s", names_joined(v->extrapolates, v->n_extrapolates, ", ", a));
    if (is_off_amp(v))
        document_line(d, "  products that do not use the AMP take %.0f %% of a micro-batch's time, at most %.0f %% in any published run, so the interval is not "
                      "tested there; a larger parallel.available_memory may bring plans that use it", 100 * v->off_amp_share, 100 * v->most_off_amp_share);
    open_readings_document(d, &v->open);
}

/* The share of the step that rests on neither fitted nor assumed values; NAN if these shares are unknown. */
static double sourced_share(const struct validity *v)
{
    double rest = 1 - v->from_fitted_share - v->from_assumed_share;
    return rest < 0 ? 0 : rest;
}

json_t *validity_json(const struct validity *v)
{
    bool known = validity_has_interval(v);
    json_t *nearest = json_array();
    for (size_t i = 0; i < v->n_nearest; i++)
        json_array_append_new(nearest, json_pack("{s:s, s:f, s:f}", "configuration", v->nearest[i].reference->configuration, "error",
                                                 relative_error(v->nearest[i].reference), "distance", v->nearest[i].distance));
    return json_pack("{s:s, s:b, s:f, s:o, s:o, s:b, s:s, s:o, s:o, s:b, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "of", "throughput_samples_per_s", "as_if_fitted", v->as_if_fitted, "level", 0.9,
                     "expected", json_known(known, validity_expected(v)), "differs", json_words(v->differs, v->n_differs), "guess", validity_is_guess(v),
                     "likeness", likeness_names[v->likeness], "interval_low", json_known(known, v->low), "interval_high", json_known(known, v->high), "near", v->near, "foreign", v->foreign, "nearest", nearest,
                     "extrapolates", json_words(v->extrapolates, v->n_extrapolates), "unlike_share", json_known(v->n_nearest, v->unlike), "open_readings", open_readings_json(&v->open), "not_set",
                     open_readings_unset_json(&v->open), "from_fitted_share", json_number(v->from_fitted_share), "from_assumed_share",
                     json_number(v->from_assumed_share), "from_sourced_share",
                     json_number(sourced_share(v)));
}
