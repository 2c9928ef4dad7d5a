/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_print.c - an explanation as text (one screen that begins with the conclusion), as JSON, and its waterfall as CSV.
 */
#include "results/study/explain.h"

#include <jansson.h>

enum { COSTS_SHOWN = 10, COSTS_TRACED = 4, CHILDREN_SHOWN = 3, INPUTS_SHOWN = 2, MOVES_SHOWN = 10, REGIONS_SHOWN = 4 };

static const double HELP_SHOWN = 0.0005, LEFT_SHOWN = 0.01;         /* the least effects that are shown, as shares of the time per sample */

static double share_of_step(const struct cost *c, const struct cost *of)
{
    return (double)c->ipu_cycles / (double)of->ipu_cycles;
}

/* A sheet's value as text: with a prefix such as in "1.85 GHz" if its unit takes one, otherwise as written on the sheet. */
static const char *value_text(const struct input *in, const char *value, struct arena *a)
{
    double x;
    bool prefixed = in->unit && *in->unit && unit_takes_prefix(in->unit) && parse_f64(value, &x);
    return prefixed ? quantity_kept(x, in->unit, 4, a) : value;
}

/* A move as text, such as "machine.clock_hz 1.85 GHz -> 2.035 GHz". */
static const char *move_text(const struct move *m, struct arena *a)
{
    return arena_printf(a, "%s %s -> %s", m->input->name, value_text(m->input, m->input->value, a), value_text(m->input, m->to, a));
}

/* ---- conclusion -------------------------------------------------------------------------------- */

static const char *bound_name(const struct bound *b)
{
    return b->host_input ? "host" : b->slow_chip ? "a slow chip" : part_class_names[b->class];
}

static void add_bound(struct document *d, const struct explanation *e)
{
    const struct bound *b = &e->bound;
    struct arena *a = d->arena;
    const char *memory = b->memory ? arena_printf(a, "bound by memory: the fullest tile lacks %" PRIu64 " bytes; if it had them, ",
                                                  e->result->memory_shortfall_bytes_per_tile) : "";
    const char *by = b->host_input ? "the host: the step waits for its input" : bound_name(b);
    const char *part = b->part ? arena_printf(a, ": %s", part_names[b->part->part]) : "";
    const char *chip = b->slow_chip ? arena_printf(a, ", IPU %u of the machine", b->ipu_of_machine) : "";
    const char *operation = b->operation ? arena_printf(a, ", most of it in %s, %s", b->operation->name, b->phase->name) : "";
    const char *link = b->link ? arena_printf(a, ", on %s links", b->link) : "";
    bool others_wait = b->most_waiting_share > b->least_waiting_share + 0.005;
    document_line(d, "%sbound by %s%s%s%s%s", memory, by, part, chip, operation, link);
    document_line(d, "  IPU %u of a replica waits least: %.0f %% of its step; it spends %.0f %% on %s%s", b->ipu, 100 * b->least_waiting_share,
                  100 * b->class_share, b->slow_chip ? "what it takes longer" : part_class_names[b->class],
                  others_wait ? arena_printf(a, "; IPU %u%s waits %.0f %%", b->idlest_ipu, b->idlest_ipu == b->ipu ? " of others" : "",
                                             100 * b->most_waiting_share) : "");
}

/* False for keys that choose the task or the measured steps. Changing them is no advice for making the run faster. */
static bool is_choice(const struct input *in)
{
    static const char *const given[] = { "data.", "training.", "cost.", "hosts.timed_steps" };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (strncmp(in->name, given[i], strlen(given[i])) == 0)
            return false;
    return true;
}

static bool helps(const struct move *m)
{
    return !m->refused && m->relative < -HELP_SHOWN && is_choice(m->input);
}

/* The most helpful move of the recipe or of the machine among inputs whose names begin with `of`. Moves to more IPUs, which cost money, are
 * asked for separately. */
static const struct move *best_move(const struct explanation *e, bool of_recipe, bool more_ipus, const char *of)
{
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        if (helps(m) && m->input->of_recipe == of_recipe && (m->ipus > e->result->ipus) == more_ipus && (m->fits || !e->result->fits) && strncmp(m->input->name, of, strlen(of)) == 0)
            return m;
    }
    return NULL;
}

static void add_best(struct document *d, const struct explanation *e, bool of_recipe, bool more_ipus, const char *of, const char *what)
{
    const struct move *m = best_move(e, of_recipe, more_ipus, of);
    if (m)
        document_line(d, "  %s: %s saves %.1f %% of the time per sample", what, move_text(m, d->arena), -100 * m->relative);
}

/* Adds what the host's calls cost in a step, by part, and how many cores prepare its input. */
static void add_host(struct document *d, const struct explanation *e)
{
    const struct plan *p = &e->sim->plan;
    const struct plan_request *o = &p->request;
    const char *parts = "";
    uint64_t sum = 0;
    for (int i = 0; i < N_CALL_PARTS; i++)
        sum += p->call_cycles[i];
    for (int i = 0; i < N_CALL_PARTS; i++)
        if ((double)p->call_cycles[i] > LEFT_SHOWN * (double)sum)
            parts = arena_printf(d->arena, "%s%s %s %s", parts, *parts ? "," : ":", call_part_names[i],
                                 quantity_kept((double)p->call_cycles[i] / e->sim->machine->chip.clock_hz, "s", 3, d->arena));
    document_line(d, "  host: its calls take %s of a step%s", quantity_kept((double)sum / e->sim->machine->chip.clock_hz, "s", 3, d->arena), parts);
    double busy = plan_preparing_s(p) / e->result->step_time_s, cores = plan_preparing_cores(o);
    if (busy > 0 && o->program.host_data == HOST_DATA_IN_CALL)
        document_line(d, "  host: one core of a process prepares its input, while the chips wait");
    else if (busy > 0)
        document_line(d, "  host: each process keeps %.2g %s busy with its input", busy,
                      isinf(cores) ? "cores (how many there are is not known)" : arena_printf(d->arena, "of %.4g cores", cores));
    add_best(d, e, true, false, "hosts.", "helps the host most");
}

/* Adds a line with the memory of the fullest tile by region, largest first. */
static void add_fullest_tile(struct document *d, const struct explanation *e)
{
    const struct plan *p = &e->sim->plan;
    struct tile_memory m = p->memory[p->worst_ipu];
    const char *regions = "";
    for (int shown = 0; shown < REGIONS_SHOWN; shown++) {
        int largest = 0;
        for (int k = 1; k < N_MEMORY_CATEGORIES; k++)
            if (m.bytes[k] > m.bytes[largest])
                largest = k;
        if (m.bytes[largest])
            regions = arena_printf(d->arena, "%s%s %s %s", regions, shown ? "," : ":", memory_category_names[largest],
                                   quantity_kept((double)m.bytes[largest], "B", 3, d->arena));
        m.bytes[largest] = 0;
    }
    document_line(d, "  memory of the fullest tile, IPU %u: %s of %s%s", p->worst_ipu, quantity_kept((double)m.total_bytes, "B", 3, d->arena),
                  quantity_kept((double)e->sim->machine->chip.tile_memory_bytes, "B", 3, d->arena), regions);
}

/* Adds the move with which the model fits and a sample takes least time. Moves of the recipe are preferred to those of the machine. */
static void add_fitting(struct document *d, const struct explanation *e)
{
    const struct move *best = NULL;
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        bool better = !best || m->input->of_recipe > best->input->of_recipe
                   || (m->input->of_recipe == best->input->of_recipe && m->relative < best->relative);
        if (!m->refused && m->fits && is_choice(m->input) && better)
            best = m;
    }
    if (best)
        document_line(d, "  makes it fit with one change: %s, at %+.1f %% time per sample", move_text(best, d->arena), 100 * best->relative);
    else
        document_line(d, "  no change of a single value makes it fit; 'podbench run' tries combinations");
}

static void add_conclusion(struct document *d, const struct explanation *e)
{
    const struct result *r = e->result;
    document_line(d, "%s: %s per step, %s, %s", r->id, quantity_within(r->step_time_s, "s", e->uncertainty * r->step_time_s, d->arena),
                  quantity_within(r->throughput_samples_per_s, "samples/s", e->uncertainty * r->throughput_samples_per_s, d->arena),
                  r->fits ? "fits" : "does not fit");
    add_bound(d, e);
    add_fullest_tile(d, e);
    if (!r->fits)
        add_fitting(d, e);
    add_best(d, e, true, false, "", "helps most in the recipe");
    add_best(d, e, true, true, "", "on more IPUs");
    add_best(d, e, false, false, "", "helps most in the machine");
    add_host(d, e);
}

/* The work of the host as JSON; null if the number of cores or the time to prepare a sample is unknown. */
static json_t *host_json(const struct explanation *e)
{
    const struct plan *p = &e->sim->plan;
    double busy = plan_preparing_s(p) / e->result->step_time_s, cores = plan_preparing_cores(&p->request);
    json_t *parts = json_object();
    for (int i = 0; i < N_CALL_PARTS; i++)
        json_object_set_new(parts, call_part_names[i], json_real((double)p->call_cycles[i] / e->sim->machine->chip.clock_hz));
    return json_pack("{s:o, s:o, s:o}", "call_s_per_step", parts, "busy_cores_per_process", busy > 0 ? json_real(busy) : json_null(),
                     "cores_per_process", isinf(cores) ? json_null() : json_real(cores));
}

/* ---- where the time goes --------------------------------------------------------------------------- */

struct cost_row { const char *name; double seconds, share; const char *detail; };
static const struct table_column cost_columns[] = {
#define C(member, ...) { COLUMN(struct cost_row, member), .heading = "", __VA_ARGS__ }
    C(name), C(seconds, .unit = "s", .digits = 3), C(share, .format = "%.1f %%", .scale = 100), C(detail),
#undef C
};

/* The largest phases of a part, and the operation that takes most of the largest phase, as text. */
static const char *cost_detail(const struct explanation *e, const struct cost *c, struct arena *a)
{
    const char *text = "";
    for (size_t i = 0; i < c->n_children && i < CHILDREN_SHOWN; i++)
        text = arena_printf(a, "%s%s%s %.1f", text, i ? ", " : "", c->children[i].name, 100 * share_of_step(&c->children[i], &e->tree));
    const struct cost *phase = c->n_children ? &c->children[0] : NULL;
    if (phase && phase->n_children)
        text = arena_printf(a, "%s; most: %s %.1f", text, phase->children[0].name, 100 * share_of_step(&phase->children[0], &e->tree));
    return text;
}

static struct cost_row cost_row(const struct explanation *e, const char *name, const struct cost *c, const char *detail)
{
    return (struct cost_row){ name, cost_seconds(c, &e->sim->timeline), share_of_step(c, &e->tree), detail };
}

static void add_trace(struct document *d, const struct explanation *e, enum part part)
{
    const struct move *inputs[INPUTS_SHOWN];
    size_t n = part_inputs(inputs, INPUTS_SHOWN, e, part);
    const char *values = "";
    for (size_t i = 0; i < n; i++) {
        const struct input *in = inputs[i]->input;
        values = arena_printf(d->arena, "%s%s%s = %s%s%s (%s:%u)", values, i ? ", " : "", strchr(in->name, '.') + 1, value_text(in, in->value, d->arena),
                              unit_takes_prefix(in->unit) ? "" : " ", unit_takes_prefix(in->unit) ? "" : in->unit, in->path, in->line);
    }
    document_line(d, "  %s = %s", part_names[part], cost_formulas[part]);
    if (n)
        document_line(d, "      %s", values);
}

static void add_costs(struct document *d, const struct explanation *e)
{
    struct cost others = { .ipu_cycles = e->tree.ipu_cycles };
    size_t n = e->tree.n_children;
    document_gap(d);
    document_line(d, "where the time goes: mean of %" PRIu64 " IPUs, per cent of the step", timeline_ipus(&e->sim->timeline));
    struct table *t = document_table(d, TABLE(cost_columns, struct cost_row, .indent = "  ", .formats = IN_TEXT));
    for (size_t i = 0; i < n && i < COSTS_SHOWN; i++) {
        const struct cost *c = &e->tree.children[i];
        table_add(t, (struct cost_row[]){ cost_row(e, part_names[c->part], c, cost_detail(e, c, d->arena)) }, d->arena);
        others.ipu_cycles -= c->ipu_cycles;
    }
    struct cost_row row = cost_row(e, "others", &others, arena_printf(d->arena, "the %" PRIu64 " smaller ones", n - min_u64(n, COSTS_SHOWN)));
    if (others.ipu_cycles)
        table_add(t, &row, d->arena);
    document_line(d, "how the largest are counted");
    for (size_t i = 0; i < n && i < COSTS_TRACED; i++)
        add_trace(d, e, e->tree.children[i].part);
}

/* ---- where the energy goes -------------------------------------------------------------------------- */

struct energy_row { const char *name; double joules, share, ipu_w; };
static const struct table_column energy_columns[] = {
#define C(member, ...) { COLUMN(struct energy_row, member), __VA_ARGS__ }
    C(name, .heading = ""), C(joules, .heading = "", .unit = "J", .digits = 3), C(share, .heading = "", .format = "%.1f %%", .scale = 100),
    C(ipu_w, .heading = "", .unit = "W an IPU", .digits = 3),
#undef C
};

/* The move of one key of the recipe that saves most energy per sample; it must save at least a hundredth. */
static const struct move *most_saving(const struct explanation *e)
{
    const struct move *best = NULL;
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        bool choice = !m->refused && (m->fits || !e->result->fits) && m->input->of_recipe && is_choice(m->input);
        if (choice && m->energy_relative < (best ? best->energy_relative : -0.01))
            best = m;
    }
    return best;
}

static void add_energy(struct document *d, const struct explanation *e)
{
    const struct result *r = e->result;
    const struct { const char *name; double joules; } causes[] = {
        { "products", r->energy_products_j }, { "idling", r->energy_idle_j }, { "running", r->energy_running_j }, { "exchange", r->energy_exchange_j },
        { "vector work", r->energy_vector_j }, { "links", r->energy_links_j }, { "rest of the boards", r->energy_boards_j },
        /* the energy of chips without idle_power_w on their sheet */
        { r->energy_counts, is_known(r->energy_products_j) ? 0 : r->energy_per_step_j },
        { "hosts", r->energy_hosts_j }, { "cooling", r->energy_cooling_j },
    };
    json_t *groups = json_object();
    result_json_add_groups(groups, r);
    document_member(d, "energy", json_incref(json_object_get(groups, "energy")));
    json_decref(groups);
    document_gap(d);
    if (r->energy_missing) {
        document_line(d, "where the energy goes: not known: %s", r->energy_missing);
        return;
    }
    document_line(d, "where the energy goes: %s per sample, %s an IPU; modelled%s%s", quantity_kept(r->energy_site_j / r->global_batch, "J", 3, d->arena),
                  quantity_kept(r->energy_site_j / r->step_time_s / (double)r->ipus, "W", 3, d->arena), *r->energy_note ? ", " : "", r->energy_note);
    struct table *t = document_table(d, TABLE(energy_columns, struct energy_row, .indent = "  ", .formats = IN_TEXT));
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        double joules = causes[i].joules;
        struct energy_row row = { causes[i].name, joules, joules / r->energy_site_j, joules / r->step_time_s / (double)r->ipus };
        if (is_known(joules) && row.share >= 0.0005)    /* a smaller share would print as 0.0 % */
            table_add(t, &row, d->arena);
    }
    const struct move *m = most_saving(e);
    if (m)
        document_line(d, "  saves most in the recipe: %s, %.1f %% of the energy of a sample", move_text(m, d->arena), -100 * m->energy_relative);
}

/* ---- values and moves -------------------------------------------------------------------------------- */

/* An input value as a row of three tables: the values, the moves, and the inputs of a part. */
struct value_row {
    const char *name, *value, *unit, *source, *file; uint32_t line; const char *origin;
    const char *to, *refused; json_t *fits; double step_time_s, step_time_change_s, sample_time_change, sample_energy_change;
    const char *moved_to; double change_s;
    const char *text, *note;            /* texts for text output */
};
#define C(member, ...) { COLUMN(struct value_row, member), __VA_ARGS__ }
#define VALUE_COLUMNS C(name), C(value), C(unit), C(source), C(file), C(line, .zero_is_unknown = true), C(origin)
static const struct table_column value_columns[] = { VALUE_COLUMNS };
static const struct table_column input_columns[] = { VALUE_COLUMNS, C(moved_to), C(change_s) };
static const struct table_column move_columns[] = {
    VALUE_COLUMNS, C(to), C(refused), C(fits), C(step_time_s), C(step_time_change_s), C(sample_time_change), C(sample_energy_change),
};
static const struct table_column move_text_columns[] = {
    C(text, .heading = "one value changed, simulated again"),
    C(sample_time_change, .heading = "time per sample", .format = "%+.1f %%", .scale = 100),
    C(step_time_change_s, .heading = "step", .unit = "s", .digits = 3, .shows_sign = true), C(note, .heading = ""),
};
#undef C

static struct value_row value_row(const struct input *in)
{
    return (struct value_row){ .name = in->name, .value = in->value, .unit = in->unit, .source = in->source, .file = in->path, .line = in->line,
                               .origin = in->on_sheet ? origin_names[in->origin] : "recipe" };
}

static struct value_row move_row(const struct explanation *e, const struct move *m)
{
    struct value_row row = value_row(m->input);
    row.to = m->to;
    row.refused = m->refused;
    row.fits = m->refused ? NULL : json_boolean(m->fits);
    row.step_time_s = m->refused ? (double)NAN : m->step_time_s;
    row.step_time_change_s = m->refused ? (double)NAN : m->step_time_s - e->result->step_time_s;
    row.sample_time_change = m->refused ? (double)NAN : m->relative;
    row.sample_energy_change = m->refused || !is_known(e->result->energy_site_j) ? (double)NAN : m->energy_relative;
    row.note = m->fits ? "" : "does not fit";
    return row;
}

static void add_helping_moves(struct document *d, const struct explanation *e)
{
    document_gap(d);
    struct table *t = document_table(d, TABLE(move_text_columns, struct value_row, .formats = IN_TEXT));
    for (size_t i = 0; i < e->moves.n && t->n < MOVES_SHOWN; i++) {
        const struct move *m = &e->moves.items[i];
        if (!helps(m))
            continue;
        struct value_row row = move_row(e, m);
        row.text = arena_printf(d->arena, "  %s", move_text(m, d->arena));
        table_add(t, &row, d->arena);
    }
}

/* True for a framework's value that comes from its sheet and not from the recipe. */
static bool is_left_to_sheet(const struct input *in)
{
    return in->of_recipe && in->on_sheet;
}

static bool is_first_of_input(const struct moves *moves, size_t i)
{
    size_t k = 0;
    while (moves->items[k].input != moves->items[i].input)
        k++;
    return k == i;
}

/* Adds the largest move of each framework value that the recipe leaves to a sheet. */
static void add_left(struct document *d, const struct explanation *e)
{
    bool any = false;
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        const struct input *in = m->input;
        if (m->refused || fabs(m->relative) < LEFT_SHOWN || !is_left_to_sheet(in) || !is_first_of_input(&e->moves, i))
            continue;
        if (!any)
            document_line(d, "\nnot said by the recipe: as the framework's sheet has it, and the most that another value would do");
        any = true;
        document_line(d, "  %s = %s; %s: %+.1f %% (%s:%u)", in->name, in->value, m->to, 100 * m->relative, in->path, in->line);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------- */

static json_t *inputs_json(const struct explanation *e, enum part part, struct arena *a)
{
    const struct move *inputs[8];
    size_t n = part_inputs(inputs, sizeof inputs / sizeof *inputs, e, part);
    struct table t = TABLE(input_columns, struct value_row);
    for (size_t i = 0; i < n; i++) {
        struct value_row row = value_row(inputs[i]->input);
        row.moved_to = inputs[i]->to;
        row.change_s = inputs[i]->breakdown_s[part] - e->result->breakdown_s[part];
        table_add(&t, &row, a);
    }
    return table_json(&t);
}

static json_t *cost_json(const struct explanation *e, const struct cost *c, int depth, struct arena *a)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < c->n_children; i++)
        json_array_append_new(parts, cost_json(e, &c->children[i], depth + 1, a));
    json_t *o = json_pack("{s:s, s:I, s:f, s:f, s:o}", "name", utf8_text(c->name, a), "ipu_cycles", (json_int_t)c->ipu_cycles, "seconds",
                          cost_seconds(c, &e->sim->timeline), "share", share_of_step(c, &e->tree), "parts", parts);
    if (depth == 1)
        json_object_update_new(o, json_pack("{s:s, s:s, s:o}", "class", part_class_names[part_classes[c->part]], "formula",
                                            cost_formulas[c->part], "inputs", inputs_json(e, c->part, a)));
    return o;
}

static json_t *bound_json(const struct bound *b, struct arena *a)
{
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:I, s:f, s:f, s:I, s:f}", "by", b->memory ? "memory" : bound_name(b), "class",
                     part_class_names[b->class], "part", b->part ? part_names[b->part->part] : NULL, "phase", b->phase ? b->phase->name : NULL,
                     "operation", b->operation ? utf8_text(b->operation->name, a) : NULL, "link", b->link, "ipu", (json_int_t)b->ipu,
                     "class_share", b->class_share, "waiting_share", b->least_waiting_share, "most_waiting_ipu", (json_int_t)b->idlest_ipu,
                     "most_waiting_share", b->most_waiting_share);
}

static json_t *memory_json(const struct explanation *e)
{
    const struct plan *p = &e->sim->plan;
    const struct tile_memory *m = &p->memory[p->worst_ipu];
    json_t *regions = json_object();
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        json_object_set_new(regions, memory_category_names[k], json_integer((json_int_t)m->bytes[k]));
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "ipu", (json_int_t)p->worst_ipu, "tile_bytes",
                     (json_int_t)e->sim->machine->chip.tile_memory_bytes, "total_bytes", (json_int_t)m->total_bytes, "shortfall_bytes",
                     (json_int_t)p->shortfall_bytes, "regions", regions);
}

/* Adds every value of the framework, from the recipe or from a sheet. */
static void add_framework_values(struct document *d, const struct explanation *e)
{
    struct table *t = document_table(d, TABLE(value_columns, struct value_row, .name = "framework", .formats = IN_JSON));
    for (size_t i = 0; i < e->inputs.n; i++) {
        struct value_row row = value_row(&e->inputs.items[i]);
        if (strncmp(row.name, "framework.", strlen("framework.")) == 0)
            table_add(t, &row, d->arena);
    }
}

static void add_all_moves(struct document *d, const struct explanation *e)
{
    struct table *t = document_table(d, TABLE(move_columns, struct value_row, .name = "moves", .formats = IN_JSON));
    for (size_t i = 0; i < e->moves.n; i++)
        table_add(t, (struct value_row[]){ move_row(e, &e->moves.items[i]) }, d->arena);
}

struct waterfall_row { const char *name; double from_s, to_s; uint64_t from_ipu_cycles, to_ipu_cycles; };
static const struct table_column waterfall_columns[] = {
#define C(member) { COLUMN(struct waterfall_row, member) }
    C(name), C(from_s), C(to_s), C(from_ipu_cycles), C(to_ipu_cycles),
#undef C
};

static double mean_seconds(const struct explanation *e, uint64_t ipu_cycles)
{
    return cost_seconds(&(struct cost){ .ipu_cycles = ipu_cycles }, &e->sim->timeline);
}

static void add_waterfall(struct document *d, const struct explanation *e)
{
    struct table *t = document_table(d, TABLE(waterfall_columns, struct waterfall_row, .name = "waterfall", .formats = IN_CSV | IN_JSON));
    for (size_t i = 0; i < e->waterfall.n; i++) {
        const struct waterfall_item *w = &e->waterfall.items[i];
        bool is_last = i + 1 == e->waterfall.n;
        struct waterfall_row row = { is_last && e->is_guess ? "predicted (a guess)" : w->name, mean_seconds(e, w->from_ipu_cycles), mean_seconds(e, w->to_ipu_cycles), w->from_ipu_cycles,
                                     w->to_ipu_cycles };
        table_add(t, &row, d->arena);
    }
}

static const struct table_column result_columns_shown[] = {
#define C(member) { COLUMN(struct result, member) }
    C(id), C(step_time_s), C(throughput_samples_per_s), C(fits),
#undef C
};

void explain_document(struct document *d, const struct explanation *e)
{
    document_table(d, TABLE_OF(result_columns_shown, e->result, 1, .is_object = true, .formats = IN_JSON));
    add_conclusion(d, e);
    add_costs(d, e);
    add_energy(d, e);
    add_helping_moves(d, e);
    add_left(d, e);
    document_member(d, "bound", bound_json(&e->bound, d->arena));
    document_member(d, "memory", memory_json(e));
    document_member(d, "host", host_json(e));
    document_member(d, "costs", cost_json(e, &e->tree, 0, d->arena));
    add_all_moves(d, e);
    add_waterfall(d, e);
    add_framework_values(d, e);
}
