/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_readings.c - other readings of a recipe, simulated one by one.
 *
 * Each reading is as possible as the one taken, and has an interval of its own. The interval of the answer spans them
 * all, so it holds nine in ten values whichever reading is true.
 */
#include "results/study/trust.h"

#include <jansson.h>

static const double CALL_SHARE = 0.05;
/* The input of a process in a call of MLPerf's BERT on 256 IPUs: no published run whose calls take CALL_SHARE has less. */
#define LEAST_CALL_MB "7.6"
static const char CALL_KEY[] = "hosts.steps_per_call", SHEET_KEY[] = "framework.steps_per_call", SESSION_KEY[] = "framework.session_calls",
                  CORES_KEY[] = "hosts.cores";

/* The words about a key that nobody has stated, and about the reading that is tried in its place. */
static const struct unset_key { const char *key, *known, *instead, *remedy; } unset_keys[] = {
    { CALL_KEY, "", "all steps in one call", "set it as the program has it, in [hosts] or with --set hosts.steps_per_call=STEPS" },
    { SESSION_KEY, ", as in programs with " LEAST_CALL_MB " MB of input in a call and more: an upper bound here, where no source tells", "an engine's launch alone",
      "set it to 0, and framework.launch_s to what a call takes, if that was measured" },
};

static const struct unset_key *unset_key_of(const struct open_reading *x)
{
    return &unset_keys[text_is(x->key, SESSION_KEY)];
}

/* ---- listing -------------------------------------------------------------------------------- */

/* True if the recipe gives the key, or readings of it. */
static bool is_stated(const struct recipe *r, const char *key)
{
    for (size_t i = 0; i < r->n_readings; i++)
        if (text_is(r->readings[i].key, key))
            return true;
    return recipe_entry(r, key);
}

/* True if a session's calls are larger than those whose time is known, or the recipe says how they are to be taken. */
static bool is_call_known(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    return q->program.session_calls == 0 || is_stated(&sim->recipe, SESSION_KEY)
        || plan_process_bytes(&sim->plan) * q->grad_accum * q->program.steps_per_call >= 1e6 * strtod(LEAST_CALL_MB, NULL);
}

/* The calls' share of the step, or 0 if it is small. */
static double call_share(const struct simulation *sim)
{
    const struct plan *p = &sim->plan;
    if (!(p->request.program.steps_per_call > 0))
        return 0;
    double share = (double)(p->call_cycles[CALL_SESSION] + p->call_cycles[CALL_FIRST_FETCH] + p->call_cycles[CALL_OUTPUTS])
                 / (double)sim->timeline.step_cycles;
    return share > CALL_SHARE ? share : 0;
}

static const char *default_of_key(const char *key, const struct field *field, const struct simulation *sim, struct arena *a)
{
    if (text_is(key, CALL_KEY))
        return arena_printf(a, "%.15g", sim->plan.request.program.steps_per_call);
    if (text_is(key, CORES_KEY))
        return arena_printf(a, "%" PRIu32, sim->plan.request.host.cores);
    return field ? field_text(field, &sim->recipe, a)
                 : field_text(field_find(framework_fields, n_framework_fields, strchr(key, '.') + 1), &sim->framework, a);
}

/* Takes the recipe's value of the key, or its default; "" is a text that is not given. Help may say what a default 0 stands for. */
static void list_reading(struct open_readings *out, const char *key, const char *value, double unset_share, const struct simulation *sim, struct arena *a)
{
    static const char says[] = "default 0: ";
    const struct field *field = recipe_field(key);
    const struct ini_entry *given = recipe_entry(&sim->recipe, key);
    const char *taken = arena_strdup(a, given ? given->value : default_of_key(key, field, sim, a));
    const char *zero = field && text_is(taken, "0") ? strstr(field->help, says) : NULL;
    out->items[out->n++] = (struct open_reading){ arena_strdup(a, key), taken, arena_strdup(a, value), NAN, { 0, 0 }, true, NULL, unset_share,
                                                  zero ? zero + sizeof says - 1 : NULL };
}

void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    double share = call_share(sim);
    *out = (struct open_readings){ .items = ARENA_ARRAY(a, struct open_reading, r->n_readings + 2), .unset_taken_from = arena_strdup(a, sim->framework.name) };
    for (size_t i = 0; i < r->n_readings; i++)
        list_reading(out, r->readings[i].key, r->readings[i].value, 0, sim, a);
    if (share > 0 && !is_stated(r, CALL_KEY) && !is_stated(r, SHEET_KEY))
        list_reading(out, CALL_KEY, "0", share, sim, a);
    if (share > 0 && sim->plan.request.training && !is_call_known(sim))
        list_reading(out, SESSION_KEY, "0", share, sim, a);
}

/* ---- trying ----------------------------------------------------------------------------------- */

/* by: NULL where the ratio alone is wanted. */
static void try_reading(struct open_reading *x, const struct track_record *by, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    const char *set = arena_printf(a, "%s=%s", x->key, x->alternative);
    struct simulation sim;
    struct result r;
    struct err why;
    if (!simulate_with(&sim, &r, q, &set, 1, &why)) {
        x->refused = arena_strdup(a, why.msg);
        return;
    }
    const struct properties at = properties_of(&sim, a);
    x->throughput_ratio = r.throughput_samples_per_s / base->throughput_samples_per_s;
    x->fits = r.fits;
    if (by)
        x->expected = spread_expect(&by->spread, &by->references, track_record_distances(by, &at, a), at.number[BY_SHARES + CLASS_HOST]);
    simulation_free(&sim);
}

void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    struct simulation_request step = *q;
    step.options.step_only = true;
    for (size_t i = 0; i < o->n; i++)
        try_reading(&o->items[i], by, base, &step, a);
}

static void widen_by(struct log_interval *all, double log_ratio, struct expectation expected)
{
    all->low = fmin(all->low, log_ratio - expected.bias - expected.half_width);
    all->high = fmax(all->high, log_ratio - expected.bias + expected.half_width);
}

struct log_interval open_readings_interval(const struct open_readings *o, struct expectation own)
{
    struct log_interval all = { INFINITY, -INFINITY };
    widen_by(&all, 0, own);
    for (const struct open_reading *x = o->items; x < o->items + o->n; x++)
        if (x->throughput_ratio > 0)
            widen_by(&all, log(x->throughput_ratio), own.half_width > 0 ? x->expected : own);
    return all;
}

struct log_interval open_readings_span(const struct simulation *sim, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    struct open_readings o;
    open_readings_list(&o, sim, a);
    open_readings_try(&o, NULL, base, q, a);
    return open_readings_interval(&o, (struct expectation){0});
}

/* ---- printing --------------------------------------------------------------------------------- */

/* " 14 % slower", to a tenth where it is less than ten. */
static const char *ratio_text(const struct open_reading *x, struct arena *a)
{
    double percent = 100 * (x->throughput_ratio - 1);
    const char *fits = x->fits ? "" : " (does not fit)";
    if (x->refused)
        return arena_printf(a, " is refused: %s%s", x->refused, fits);
    if (isnan(percent) || fabs(percent) < 0.05)
        return arena_printf(a, "%s%s", isnan(percent) ? ", not simulated" : " as fast", fits);
    return arena_printf(a, " %.*f %% %s%s", fabs(percent) < 9.95, fabs(percent), percent < 0 ? "slower" : "faster", fits);
}

/* One line for each key, with all its readings. */
void open_readings_document(struct document *d, const struct open_readings *o)
{
    const char *line = "";
    for (size_t i = 0; i < o->n; i++) {
        const struct open_reading *x = &o->items[i];
        const char *ratio = ratio_text(x, d->arena);
        if (x->unset_share > 0) {
            const struct unset_key *k = unset_key_of(x);
            document_line(d, "  open: %s is not set: the %s of %s is taken, and calls are %.0f %% of the step%s; %s:%s; %s", x->key, x->taken,
                          o->unset_taken_from, 100 * x->unset_share, k->known, k->instead, ratio, k->remedy);
            continue;
        }
        if (!i || !text_is(x->key, x[-1].key)) {
            const char *means = x->zero_means ? arena_printf(d->arena, " (%s)", x->zero_means) : "";
            line = arena_printf(d->arena, "  open: %s is not stated, %s%s%s", x->key, *x->taken ? "taken as " : "none is taken", x->taken, means);
        }
        line = arena_printf(d->arena, "%s; with %s%s", line, x->alternative, ratio);
        if (i + 1 == o->n || !text_is(x->key, x[1].key))
            document_line(d, "%s", line);
    }
}

static json_t *reading_json(const struct open_reading *x)
{
    return json_pack("{s:s, s:s?, s:s?, s:s, s:o, s:o, s:s?}", "key", x->key, "taken", *x->taken ? x->taken : NULL, "taken_means", x->zero_means, "alternative", x->alternative, "throughput_ratio",
                     isnan(x->throughput_ratio) ? json_null() : json_real(x->throughput_ratio), "fits",
                     isnan(x->throughput_ratio) ? json_null() : json_boolean(x->fits), "refused", x->refused);
}

json_t *open_readings_json(const struct open_readings *o)
{
    json_t *all = json_array();
    for (size_t i = 0; i < o->n; i++)
        json_array_append_new(all, reading_json(&o->items[i]));
    return all;
}

json_t *open_readings_unset_json(const struct open_readings *o)
{
    json_t *all = json_array();
    for (size_t i = 0; i < o->n; i++) {
        const struct open_reading *x = &o->items[i];
        const struct unset_key *k = unset_key_of(x);
        if (x->unset_share > 0)
            json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:f, s:s+++++}", "key", x->key, "taken", x->taken, "from", o->unset_taken_from, "share_of_step",
                x->unset_share, "remedy", x->key, " is not set", k->known, ": ", k->remedy, ""));
    }
    return all;
}
