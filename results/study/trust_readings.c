/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_readings.c - other readings of a recipe, simulated one by one.
 *
 * Each reading is as possible as the one taken, and has an interval of its own. The interval of the answer spans them all, so it holds nine in
 * ten values whichever reading is true.
 *
 * One more link never makes a machine slower, because a program could leave it idle. But for replicas wider than two IPUs, the last public
 * version of the library uses the full routes of a torus one after the other, and may therefore be slower there than on the ladder that the
 * torus contains. In that case two readings follow: the ladder, and the library's other form, which moves one link at a time and which the
 * recipes of published runs state. The truth is taken to lie between them (docs/maintainers/unexplained.md).
 *
 * A loss in slices is computed on the tiles where the product before it left the slices. Two plans of that product may take equal time within
 * 2 %, while one leaves a slice on an eighth of the tiles and the other on all of them. So slices on all tiles are a reading if they would
 * make the step faster by more than 2 %.
 */
#include "results/study/trust.h"
#include "system-model/graph/graph.h"

#include <jansson.h>

static const double CALL_SHARE = 0.05, LEAST_SHOWN = 0.0005, PLANS_ALIKE = 0.02;
/* the largest model that is known not to have unexplained calls (see the framework's sheet) */
static const double PARAMETERS_WITHOUT_UNEXPLAINED = 4.2e6;
static const char CALL_KEY[] = "hosts.steps_per_call", SHEET_KEY[] = "framework.steps_per_call", UNEXPLAINED_KEY[] = "framework.unexplained_parameters",
                  FEED_KEY[] = "framework.host_data_bytes_per_s",
                  CONVERSION_KEY[] = "framework.conversion_s_per_byte", CORES_KEY[] = "hosts.cores", TORUS_KEY[] = "framework.torus_exchanges",
                  LADDER_KEY[] = "machine.domain_topology", SLICES_KEY[] = "framework.even_slices";

/* Texts about a key that nobody stated, and about the reading that is tried for it. */
static const struct unset_key { const char *key, *takes, *instead, *remedy; } unset_keys[] = {
    { CALL_KEY, "calls are", "all steps in one call", "set it as the program has it, in [hosts] or with --set hosts.steps_per_call=STEPS" },
    { UNEXPLAINED_KEY, "a time without a known cause, which calls of models of 25 million parameters take on GC200 and Bow, and of 4 million do not, would be", "by the other reading",
      "set it to 1 or 0, once a call of the program was measured" },
    { CONVERSION_KEY, "copying input that is not contiguous is", "without a copy", "set it to 0, if the program hands over contiguous tensors" },
    { FEED_KEY, "the host may bound the step: to hand its input over is", "at another rate of loaders", "set it to the rate of the program's loader" },
};

enum { N_UNSET_KEYS = sizeof unset_keys / sizeof *unset_keys };

static const struct unset_key *unset_key_of(const struct open_reading *x)
{
    size_t i = 0;
    while (i + 1 < N_UNSET_KEYS && !text_is(unset_keys[i].key, x->key))
        i++;
    return &unset_keys[i];
}

/* ---- listing -------------------------------------------------------------------------------- */

/* True if the recipe sets the key or lists readings of it. */
static bool is_stated(const struct recipe *r, const char *key)
{
    return FIND_TEXT(r->readings, r->n_readings, struct reading, key, key) || recipe_entry(r, key);
}

/* The share of the step that calls take; 0 if it is too small to matter. */
static double call_share(const struct simulation *sim)
{
    const struct plan *p = &sim->plan;
    if (!p->request.training || !(p->request.program.steps_per_call > 0))
        return 0;
    static const enum call_part once[] = { CALL_RUN, CALL_FRAMEWORK, CALL_UNEXPLAINED, CALL_FIRST_FETCH, CALL_OUTPUTS, CALL_WEIGHTS };
    uint64_t cycles = 0;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        cycles += p->call_cycles[once[i]];
    double share = (double)cycles / (double)sim->timeline.step_cycles;
    return share > CALL_SHARE ? share : 0;
}

/* The share of the step that unexplained calls would take; 0 unless the model has a size for which nobody knows if they exist. */
static double unexplained_share(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    double parameters = (double)plan_parameters(&sim->plan), own = (double)plan_own_parameters(&sim->plan), steps = q->program.steps_per_call, call_s = steps > 0 ? (double)q->program.session_calls * q->fitted.unexplained_call_s / steps : 0;
    double step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    bool unknown = q->training && !q->host.synthetic_data && parameters > PARAMETERS_WITHOUT_UNEXPLAINED && own < q->program.unexplained_parameters;
    return unknown && call_s > CALL_SHARE * step_s ? call_s / step_s : 0;
}

/* The share of the step that unexplained calls take on a chip of another generation than those whose rows show them; 0 if it is too small to matter. */
static double foreign_calls_share(const struct simulation *sim)
{
    double share = (double)sim->plan.call_cycles[CALL_UNEXPLAINED] / (double)sim->timeline.step_cycles;
    return sim->plan.request.training && sim->machine->chip.generation != GENERATION_MK2 && share > CALL_SHARE ? share : 0;
}

static double conversion_share(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    bool copies = !q->training && !plan_requests_overlap(q);
    double copy_s = copies ? plan_process_bytes(&sim->plan) * q->grad_accum * q->program.conversion_s_per_byte : 0;
    double step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    return copy_s > CALL_SHARE * step_s ? copy_s / step_s : 0;
}

/* Loaders that work ahead were seen to deliver at these rates (the framework's sheet: host_data_bytes_per_s). */
static const struct { const char *text; double bytes_per_s; } slow_loader = { "1.4e9", 1.4e9 }, fast_loader = { "5e9", 5e9 };

/* The share of the step that delivering input takes; 0 if even the slowest loader that was seen does not bound the step. */
static double feeding_share(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    double step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz, bytes = plan_process_bytes(&sim->plan) * q->grad_accum;
    bool ahead = q->program.host_data == HOST_DATA_AHEAD && !plan_requests_overlap(q);
    return ahead && bytes / slow_loader.bytes_per_s >= step_s ? bytes / q->program.host_data_bytes_per_s / step_s : 0;
}

static bool is_sheet_value_given(const struct simulation *sim, const char *key)
{
    for (size_t i = 0; i < sim->changes.n; i++)
        if (text_is(sim->changes.items[i].key, key))
            return true;
    return false;
}

/* True if a torus may be slower than its ladder (see the head of this file), and nobody stated which form the library has. */
static bool may_break_law(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    return sim->machine->domain_topology == DOMAIN_TORUS && q->program.torus_exchanges == TORUS_FULL_ROUTES && q->ipus_per_replica > 2 && q->n_replicas > 1
        && !recipe_entry(&sim->recipe, TORUS_KEY) && !is_sheet_value_given(sim, strchr(LADDER_KEY, '.') + 1);
}

/* True if the loss is computed in slices, and neither recipe nor framework states on which tiles. */
static bool may_crowd(const struct simulation *sim)
{
    const struct graph *g = sim->compiler->graph;
    if (sim->framework.program.even_slices || is_stated(&sim->recipe, SLICES_KEY))
        return false;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (g->ops[i].kind == OP_CROSS_ENTROPY && g->ops[i].at->pieces > 1)
            return true;
    return false;
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

/* Adds a reading of a key, next to the recipe's value or the default; a `value` of "" takes the key away. If the value is 0, the key's help may
   say what that means. */
static void list_reading(struct open_readings *out, const char *key, const char *value, double unset_share, const struct simulation *sim, struct arena *a)
{
    static const char says_zero[] = "default 0: ", says_unset[] = "default: ";      /* if a key cannot be set to 0, 0 is its default */
    const struct field *field = recipe_field(key);
    const struct ini_entry *given = recipe_entry(&sim->recipe, key);
    const char *taken = arena_strdup(a, given ? given->value : default_of_key(key, field, sim, a));
    const char *says = field && field->min > 0 && !strstr(field->help, says_zero) ? says_unset : says_zero;
    const char *zero = field && text_is(taken, "0") ? strstr(field->help, says) : NULL;
    out->items[out->n++] = (struct open_reading){ arena_strdup(a, key), taken, arena_strdup(a, value), NAN, { .bias = 0 }, true, NULL, unset_share,
                                                  zero ? zero + strlen(says) : NULL };
}

void open_readings_list(struct open_readings *out, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    double share = call_share(sim);
    *out = (struct open_readings){ .items = ARENA_ARRAY(a, struct open_reading, r->n_readings + N_UNSET_KEYS + 4), .unset_taken_from = arena_strdup(a, sim->framework.name),
                                   .may_break_law = may_break_law(sim), .may_crowd = may_crowd(sim), .links_are_stated = is_stated(r, TORUS_KEY) };
    for (size_t i = 0; i < r->n_readings; i++)
        list_reading(out, r->readings[i].key, r->readings[i].value, 0, sim, a);
    if (share > 0 && !is_stated(r, CALL_KEY) && !is_stated(r, SHEET_KEY))
        list_reading(out, CALL_KEY, "0", share, sim, a);
    if (unexplained_share(sim) > 0 && !is_stated(r, UNEXPLAINED_KEY))
        list_reading(out, UNEXPLAINED_KEY, "1", unexplained_share(sim), sim, a);
    if (foreign_calls_share(sim) > 0 && !is_stated(r, UNEXPLAINED_KEY))
        list_reading(out, UNEXPLAINED_KEY, "0", foreign_calls_share(sim), sim, a);
    if (conversion_share(sim) > 0 && !is_stated(r, CONVERSION_KEY))
        list_reading(out, CONVERSION_KEY, "0", conversion_share(sim), sim, a);
    if (feeding_share(sim) > 0 && !is_stated(r, FEED_KEY)) {
        list_reading(out, FEED_KEY, slow_loader.text, feeding_share(sim), sim, a);
        list_reading(out, FEED_KEY, fast_loader.text, feeding_share(sim), sim, a);
    }
}

/* ---- trying ----------------------------------------------------------------------------------- */

/* Simulates a reading. `by` is the record that judges it, or NULL if only the ratio is wanted. */
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
    x->throughput_ratio = r.global_batch / r.step_time_s / (base->global_batch / base->step_time_s);
    x->fits = r.fits;
    if (by)
        x->expected = spread_expect(&by->spread, &by->references, track_record_distances(by, &at, a), &at);
    simulation_free(&sim);
}

void open_readings_try(struct open_readings *o, const struct track_record *by, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    struct simulation_request step = *q;
    step.options.step_only = true;
    for (size_t i = 0; i < o->n; i++)
        try_reading(&o->items[i], by, base, &step, a);
    struct open_reading forms[] = { { .key = LADDER_KEY, .taken = "torus", .alternative = "ladder", .throughput_ratio = NAN, .fits = true },
                                    { .key = TORUS_KEY, .taken = "full-routes", .alternative = "link-by-link", .throughput_ratio = NAN, .fits = true } };
    struct open_reading even = { .key = SLICES_KEY, .taken = "no", .alternative = "yes", .throughput_ratio = NAN, .fits = true };
    if (o->may_crowd)
        try_reading(&even, by, base, &step, a);
    if (even.throughput_ratio > 1 + PLANS_ALIKE)
        o->items[o->n++] = even;
    if (o->may_break_law)
        try_reading(&forms[0], by, base, &step, a);
    if (!(forms[0].throughput_ratio > 1 + LEAST_SHOWN))
        return;
    o->items[o->n++] = forms[0];
    if (o->links_are_stated)
        return;
    try_reading(&forms[1], by, base, &step, a);
    o->items[o->n++] = forms[1];
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

/* The effect of a reading as text, such as " 14 % slower", with one decimal below ten. */
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

/* Adds one line for each key, with all its readings. */
void open_readings_document(struct document *d, const struct open_readings *o)
{
    const char *line = "";
    for (size_t i = 0; i < o->n; i++) {
        const struct open_reading *x = &o->items[i];
        const char *ratio = ratio_text(x, d->arena);
        if (x->unset_share > 0) {
            const struct unset_key *k = unset_key_of(x);
            document_line(d, "  open: %s is not set: the %s of %s is taken, and %s %.0f %% of the step; %s (%s):%s; %s", x->key, x->taken,
                          o->unset_taken_from, k->takes, 100 * x->unset_share, k->instead, x->alternative, ratio, k->remedy);
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
            json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:f, s:s++}", "key", x->key, "taken", x->taken, "from", o->unset_taken_from, "share_of_step",
                x->unset_share, "remedy", x->key, " is not set: ", k->remedy));
    }
    return all;
}
