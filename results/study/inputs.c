/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.c - the values of a simulation, and the same simulation with one of them moved. The unit tells which direction is faster: smaller for
 * times (s, cycles, s/B), larger for all others (rates, shares, counts).
 */
#include "results/study/inputs.h"

static const double STEP = 0.1;

/* ---- listing ------------------------------------------------------------------------------ */

const struct input *input_find(const struct inputs *in, const char *name)
{
    return FIND_TEXT(in->items, in->n, struct input, name, name);
}

static void list_sheet(struct inputs *out, const struct sheet *s, struct arena *a)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct sheet_row *row = &s->rows[i];
        const char *name = arena_printf(a, SHEET_OVERRIDE_SECTION ".%s", row->key);
        if (!input_find(out, name))
            LIST_ADD(out, a, (struct input){ .name = name, .value = row->value, .unit = row->unit, .source = row->source,
                                           .path = s->path, .line = row->line, .on_sheet = true, .origin = sheet_row_origin(row) });
    }
}

static bool is_memory_share(const struct field *f) { return f && f->type == FIELD_TEXT && text_is(f->name, "available_memory"); }

/* The value of a recipe's key as text. A share of memory that the recipe does not state is that of the plan. */
static const char *value_in(const struct recipe_setting *key, const struct simulation *sim, struct arena *a)
{
    if (!key->value && is_memory_share(key->field))
        return arena_printf(a, "%.10g", plan_available_memory(&sim->plan.request, 0));
    return key->value ? key->value : field_text(key->field, &sim->recipe, a);
}

static void list_recipe(struct inputs *out, const struct simulation *sim, struct arena *a)
{
    struct recipe_setting *keys;
    size_t n = recipe_settings(&keys, &sim->recipe, a);
    for (size_t i = 0; i < n; i++)
        if (keys[i].matters && !text_is(keys[i].section, "recipe"))
            LIST_ADD(out, a, (struct input){ .name = arena_printf(a, "%s.%s", keys[i].section, keys[i].field->name),
                .value = value_in(&keys[i], sim, a),
                .unit = keys[i].field->unit ? keys[i].field->unit : "",
                .source = keys[i].value ? sim->recipe.source : "default", .path = sim->recipe.path, .line = keys[i].line,
                .of_recipe = true, .field = keys[i].field });
}

static void place_input(struct input *in, const char *source, const char *path, uint32_t line)
{
    in->source = source;
    in->path = path;
    in->line = line;
}

/* Fills the origin of a framework's value: the recipe, or else the first sheet that states it. */
static void place_framework_value(struct input *in, const struct simulation *sim)
{
    place_input(in, sim->recipe.source, sim->recipe.path, 0);
    for (size_t s = sim->framework.n_sheets; s-- > 0;) {
        const struct sheet_row *row = sheet_find(&sim->framework.sheets[s], in->field->name);
        if (!row)
            continue;
        place_input(in, row->source, sim->framework.sheets[s].path, row->line);
        in->on_sheet = true;
        in->origin = sheet_row_origin(row);
    }
    for (size_t e = 0; e < sim->recipe.n_framework_settings; e++)
        if (text_is(sim->recipe.framework_settings[e].key, in->field->name)) {
            place_input(in, sim->recipe.source, sim->recipe.path, sim->recipe.framework_settings[e].line);
            in->on_sheet = false;
            in->origin = ORIGIN_SOURCED;
        }
}

static void list_framework(struct inputs *out, const struct simulation *sim, struct arena *a)
{
    for (size_t i = 0; i < n_framework_fields; i++) {
        const struct field *f = &framework_fields[i];
        struct input in = { .name = arena_printf(a, "framework.%s", f->name), .value = field_text(f, &sim->framework, a),
                            .unit = f->unit, .of_recipe = true, .field = f,
                            .idle = sim->recipe.mode != MODE_TRAIN || input_find(out, arena_printf(a, SHEET_OVERRIDE_SECTION ".%s", f->name)) };
        place_framework_value(&in, sim);
        LIST_ADD(out, a, in);
    }
}

void inputs_list_sheets(struct inputs *out, const struct simulation *sim, struct arena *a)
{
    const struct sheet *sheets[MAX_SHEETS];
    size_t n = simulation_sheets(sheets, sim);
    *out = (struct inputs){ .of = sim };
    for (size_t i = 0; i < n - sim->framework.n_sheets; i++)    /* frameworks' sheets come last, and are listed key by key */
        list_sheet(out, sheets[i], a);
    list_framework(out, sim, a);
}

void inputs_list(struct inputs *out, const struct simulation *sim, struct arena *a)
{
    inputs_list_sheets(out, sim, a);
    list_recipe(out, sim, a);
}

/* ---- moving one --------------------------------------------------------------------------------- */

static bool is_time(const struct input *in)
{
    return text_is(in->unit, "s") || text_is(in->unit, "cycles") || text_is(in->unit, "s/B");
}

/* The value one step away. Whole numbers move by at least one. NULL for names and for zero. */
static const char *stepped(const struct input *in, bool faster, struct arena *a)
{
    double x;
    uint64_t whole;
    bool up = is_time(in) != faster;
    if (!parse_f64(in->value, &x) || x == 0)
        return NULL;
    if (!parse_u64(in->value, &whole))
        return arena_printf(a, "%.10g", up ? x * (1 + STEP) : is_time(in) ? x * (1 - STEP) : x / (1 + STEP));
    uint64_t by = (uint64_t)llround(fmax(1, STEP * x));
    return !up && by > whole ? NULL : arena_printf(a, "%" PRIu64, up ? whole + by : whole - by);
}

static struct move try_move(const struct input *in, const char *to, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    const char *override = arena_printf(a, "%s=%s", in->name, to);
    struct move m = { .input = in, .to = to };
    struct result r;
    struct err why;
    if (!result_with(&r, q, &override, 1, &why)) {
        m.refused = arena_strdup(a, why.msg);
        return m;
    }
    m.fits = r.fits;
    m.ipus = r.ipus;
    m.step_time_s = r.step_time_s;
    m.sample_time_s = 1 / r.throughput_samples_per_s;
    m.relative = m.sample_time_s * base->throughput_samples_per_s - 1;
    m.energy_relative = is_known(base->energy_site_j) ? r.energy_site_j / r.global_batch / (base->energy_site_j / base->global_batch) - 1 : 0;
    memcpy(m.breakdown_s, r.breakdown_s, sizeof m.breakdown_s);
    return m;
}

static void move_sheet_value(struct moves *out, const struct input *in, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    const char *faster = stepped(in, true, a), *slower = stepped(in, false, a);
    if (!faster)
        return;
    struct move m = try_move(in, faster, base, q, a);
    if ((m.refused || m.relative > 0) && slower) {
        struct move back = try_move(in, slower, base, q, a);
        if (!back.refused && (m.refused || back.relative < m.relative))
            m = back;
    }
    LIST_ADD(out, a, m);
}

/* The list with each share multiplied by the factor and at most 1. NULL if that changes nothing, or if an item is no number. */
static const char *scaled_shares(const char *list, double factor, struct arena *a)
{
    const char *out = "";
    double x;
    bool moved = false;
    char *copy = arena_strdup(a, list), *rest;
    for (char *word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        if (!parse_f64(word, &x))
            return NULL;
        moved |= fmin(1, x * factor) != x;
        out = arena_printf(a, "%s%s%.10g", out, *out ? "," : "", fmin(1, x * factor));
    }
    return moved ? out : NULL;
}

/* A recipe without I/O tiles is tried with this many, as published programs have them. */
static const char *const PUBLISHED_IO_TILES = "32";

size_t input_next_values(const char **to, size_t room, const struct input *in, struct arena *a)
{
    const struct field *f = in->field;
    uint64_t whole;
    double x;
    size_t n = 0;
    if (f->type == FIELD_BOOL)
        to[n++] = text_is(in->value, "yes") ? "no" : "yes";
    for (int i = 0; f->type == FIELD_CHOICE && f->choices[i] && n < room; i++)
        if (!text_is(f->choices[i], in->value))
            to[n++] = f->choices[i];
    if (f->type == FIELD_U64 && parse_u64(in->value, &whole) && whole) {
        to[n++] = arena_printf(a, "%" PRIu64, 2 * whole);
        if (whole > 1)
            to[n++] = arena_printf(a, "%" PRIu64, whole / 2);
    }
    if (text_is(f->name, "io_tiles") && text_is(in->value, "0"))
        to[n++] = PUBLISHED_IO_TILES;
    if (f->type == FIELD_F64 && parse_f64(in->value, &x) && x > 0) {
        to[n++] = arena_printf(a, "%.10g", 2 * x);
        to[n++] = arena_printf(a, "%.10g", x / 2);
    }
    for (int i = 0; is_memory_share(f) && i < 2; i++)
        if ((to[n] = scaled_shares(in->value, i ? 0.5 : 2, a)))
            n++;
    return n;
}

static double size_of_move(const struct move *m)
{
    return m->refused ? -1 : fabs(m->relative);
}

static int move_order(const void *x, const void *y)
{
    const struct move *a = x, *b = y;
    double p = size_of_move(a), q = size_of_move(b);
    if (p != q)
        return p > q ? -1 : 1;
    int by_name = strcmp(a->input->name, b->input->name);
    return by_name ? by_name : strcmp(a->to, b->to);
}

void moves_try(struct moves *out, const struct inputs *inputs, const struct result *base, const struct simulation_request *q, struct arena *a)
{
    *out = (struct moves){ .n = 0 };
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *in = &inputs->items[i];
        const char *to[MOST_NEXT_VALUES];
        if (!in->of_recipe)
            move_sheet_value(out, in, base, q, a);
        size_t n = in->of_recipe && !in->idle ? input_next_values(to, MOST_NEXT_VALUES, in, a) : 0;
        for (size_t k = 0; k < n; k++)
            LIST_ADD(out, a, try_move(in, to[k], base, q, a));
        watch_report(&q->watch, "", i + 1, inputs->n);
    }
    sort_items(out->items, out->n, sizeof *out->items, move_order);
}

/* ---- shares by origin ------------------------------------------------------------------------------ */

static double changed_by(const char *const *sets, size_t n_sets, double step_time_s, const struct simulation_request *q)
{
    struct result r;
    return n_sets && result_with(&r, q, sets, n_sets, NULL) ? r.step_time_s / step_time_s - 1 : 0;
}

/* The relative change of the step when all numbers of this origin move by a tenth, divided by that tenth. */
static double share_in_proportion(enum origin origin, const struct inputs *inputs, double step_time_s, const struct simulation_request *q, struct arena *a)
{
    const char **sets = ARENA_ROOM(a, const char *, inputs->n);
    size_t n = 0;
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *in = &inputs->items[i];
        const char *to = in->of_recipe || in->origin != origin ? NULL : stepped(in, false, a);
        if (to)
            sets[n++] = arena_printf(a, "%s=%s", in->name, to);
    }
    return fmax(0, changed_by(sets, n, step_time_s, q) / STEP);
}

/* The largest relative change of the step, in either direction, over the next values of this input. */
static double share_of_next(const struct input *in, double step_time_s, const struct simulation_request *q, struct arena *a)
{
    const char *to[MOST_NEXT_VALUES];
    double share = 0;
    size_t n = input_next_values(to, MOST_NEXT_VALUES, in, a);
    for (size_t k = 0; k < n; k++) {
        const char *set = arena_printf(a, "%s=%s", in->name, to[k]);
        share = fmax(share, fabs(changed_by(&set, 1, step_time_s, q)));
    }
    return share;
}

/* The base is simulated with the same options as the moves, since with given splits memory does not decide how layers are divided. */
double inputs_share_of_origin(enum origin origin, const struct inputs *inputs, const struct simulation_request *q, struct arena *a)
{
    struct simulation_request step = *q;
    struct result base;
    step.options.step_only = true;
    step.options.splits_of = inputs->of;
    if (!result_with(&base, &step, NULL, 0, NULL))
        return 0;
    double share = share_in_proportion(origin, inputs, base.step_time_s, &step, a);
    for (size_t i = 0; i < inputs->n; i++) {
        const struct input *in = &inputs->items[i];
        if (in->of_recipe && in->on_sheet && in->origin == origin && !in->idle)
            share += share_of_next(in, base.step_time_s, &step, a);
    }
    return fmin(1, share);
}
