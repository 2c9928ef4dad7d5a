/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_print.c - an explanation as text (one screen, the conclusion first), as JSON, and its waterfall as CSV.
 */
#include "results/study/explain.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { COSTS_SHOWN = 10, COSTS_TRACED = 4, CHILDREN_SHOWN = 3, INPUTS_SHOWN = 2, MOVES_SHOWN = 10, REGIONS_SHOWN = 4 };

static const double HELP_SHOWN = 0.0005, LEFT_SHOWN = 0.01;         /* of the time per sample */

static double share_of_step(const struct cost *c, const struct cost *of)
{
    return (double)c->ipu_cycles / (double)of->ipu_cycles;
}

/* ---- conclusion -------------------------------------------------------------------------------- */

static void print_place(FILE *f, const struct bound *b)
{
    if (b->operation)
        fprintf(f, ", most of it in %s, %s", b->operation->name, b->phase->name);
    if (b->link)
        fprintf(f, ", on %s links", b->link);
}

static const char *bound_name(const struct bound *b)
{
    return b->host_input ? "the host: the step waits for its input" : b->slow_chip ? "a slow chip" : part_class_names[b->class];
}

static void print_what_bounds(FILE *f, const struct explanation *e)
{
    const struct bound *b = &e->bound;
    if (b->memory)
        fprintf(f, "bound by memory: the fullest tile lacks %llu bytes; if it had them, ",
                (unsigned long long)e->result->memory_shortfall_bytes_per_tile);
    fprintf(f, "bound by %s", bound_name(b));
    if (b->part)
        fprintf(f, ": %s", part_names[b->part->part]);
    if (b->slow_chip)
        fprintf(f, ", IPU %u of the machine", b->ipu_of_machine);
    print_place(f, b);
    fprintf(f, "\n  IPU %u of a replica waits least: %.0f %% of its step; it spends %.0f %% on %s", b->ipu, 100 * b->least_waiting_share,
            100 * b->class_share, b->slow_chip ? "what it takes longer" : part_class_names[b->class]);
    if (b->most_waiting_share > b->least_waiting_share + 0.005)
        fprintf(f, "; IPU %u%s waits %.0f %%", b->idlest_ipu, b->idlest_ipu == b->ipu ? " of others" : "", 100 * b->most_waiting_share);
    fputc('\n', f);
}

/* Keys that decide what is learnt, or which steps are measured. Changing them does not make the run faster. */
static bool is_choice(const struct input *in)
{
    static const char *const given[] = { "data.", "training.", "hosts.timed_steps" };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (strncmp(in->name, given[i], strlen(given[i])) == 0)
            return false;
    return true;
}

static bool helps(const struct move *m)
{
    return !m->refused && m->relative < -HELP_SHOWN && is_choice(m->input);
}

static const struct move *best_move(const struct explanation *e, bool of_recipe)
{
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        if (helps(m) && m->input->of_recipe == of_recipe && (m->fits || !e->result->fits))
            return m;
    }
    return NULL;
}

static void print_best(FILE *f, const struct explanation *e, bool of_recipe, const char *what)
{
    const struct move *m = best_move(e, of_recipe);
    if (m)
        fprintf(f, "  %s: %s %s -> %s saves %.1f %% of the time per sample\n", what, m->input->name, m->input->value, m->to, -100 * m->relative);
}

/* The fullest tile by region, largest first. */
static void print_fullest_tile(FILE *f, const struct explanation *e)
{
    const struct plan *p = &e->sim->plan;
    struct tile_memory m = p->memory[p->worst_ipu];
    fprintf(f, "  memory of the fullest tile, IPU %u: %llu of %llu B", p->worst_ipu, (unsigned long long)m.total_bytes,
            (unsigned long long)e->sim->machine->chip.tile_memory_bytes);
    for (int shown = 0; shown < REGIONS_SHOWN; shown++) {
        int largest = 0;
        for (int k = 1; k < N_MEMORY_CATEGORIES; k++)
            if (m.bytes[k] > m.bytes[largest])
                largest = k;
        if (m.bytes[largest])
            fprintf(f, "%s %s %llu", shown ? "," : ":", memory_category_names[largest], (unsigned long long)m.bytes[largest]);
        m.bytes[largest] = 0;
    }
    fputc('\n', f);
}

/* The move that makes the model fit with the fastest sample; moves of the recipe come before those of the machine. */
static void print_fitting(FILE *f, const struct explanation *e)
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
        fprintf(f, "  makes it fit with one change: %s %s -> %s, at %+.1f %% time per sample\n", best->input->name, best->input->value, best->to,
                100 * best->relative);
    else
        fprintf(f, "  no change of a single value makes it fit; 'podbench run' tries combinations\n");
}

static void print_conclusion(FILE *f, const struct explanation *e)
{
    const struct result *r = e->result;
    fprintf(f, "%s: %.4g s per step, %.6g samples/s, %s\n", r->id, r->step_time_s, r->throughput_samples_per_s, r->fits ? "fits" : "does not fit");
    print_what_bounds(f, e);
    print_fullest_tile(f, e);
    if (!r->fits)
        print_fitting(f, e);
    print_best(f, e, true, "helps most in the recipe");
    print_best(f, e, false, "helps most in the machine");
}

/* ---- costs and moves ------------------------------------------------------------------------------ */

static void print_trace(FILE *f, const struct explanation *e, const struct cost *c)
{
    const struct move *inputs[INPUTS_SHOWN];
    size_t n = part_inputs(inputs, INPUTS_SHOWN, e, c->part);
    fprintf(f, "      = %s\n", cost_formulas[c->part]);
    for (size_t i = 0; i < n; i++) {
        const struct input *in = inputs[i]->input;
        fprintf(f, "%s%s = %s %s (%s:%u)", i ? ", " : "      ", strchr(in->name, '.') + 1, in->value, in->unit, in->path, in->line);
    }
    fputs(n ? "\n" : "", f);
}

static void print_cost(FILE *f, const struct explanation *e, const struct cost *c)
{
    fprintf(f, "  %-12s %10.4g s %5.1f %%  ", part_names[c->part], cost_seconds(c, &e->sim->timeline), 100 * share_of_step(c, &e->tree));
    for (size_t i = 0; i < c->n_children && i < CHILDREN_SHOWN; i++)
        fprintf(f, "%s%s %.1f", i ? ", " : "", c->children[i].name, 100 * share_of_step(&c->children[i], &e->tree));
    const struct cost *phase = c->n_children ? &c->children[0] : NULL;
    if (phase && phase->n_children)
        fprintf(f, "; most: %s %.1f", phase->children[0].name, 100 * share_of_step(&phase->children[0], &e->tree));
    fputc('\n', f);
}

static void print_costs(FILE *f, const struct explanation *e)
{
    uint64_t rest = e->tree.ipu_cycles;
    size_t n = e->tree.n_children;
    fprintf(f, "\nwhere the time goes: mean of %llu IPUs, per cent of the step\n", (unsigned long long)timeline_ipus(&e->sim->timeline));
    for (size_t i = 0; i < n && i < COSTS_SHOWN; i++) {
        print_cost(f, e, &e->tree.children[i]);
        if (i < COSTS_TRACED)
            print_trace(f, e, &e->tree.children[i]);
        rest -= e->tree.children[i].ipu_cycles;
    }
    struct cost others = { .ipu_cycles = rest };
    if (rest)
        fprintf(f, "  %-12s %10.4g s %5.1f %%  the %zu smaller ones\n", "others", cost_seconds(&others, &e->sim->timeline),
                100 * share_of_step(&others, &e->tree), n - COSTS_SHOWN);
}

static void print_moves(FILE *f, const struct explanation *e)
{
    size_t shown = 0;
    fprintf(f, "\none value changed, simulated again                    time per sample    step\n");
    for (size_t i = 0; i < e->moves.n && shown < MOVES_SHOWN; i++) {
        const struct move *m = &e->moves.items[i];
        if (!helps(m))
            continue;
        char text[80];
        snprintf(text, sizeof text, "%s %s -> %s", m->input->name, m->input->value, m->to);
        fprintf(f, "  %-54s %+8.1f %%  %+.4g s%s\n", text, 100 * m->relative, m->step_time_s - e->result->step_time_s,
                m->fits ? "" : "  does not fit");
        shown++;
    }
}

/* Values of the framework that its sheet states and the recipe does not. */
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

/* The largest move of each of these values. */
static void print_left(FILE *f, const struct explanation *e)
{
    bool any = false;
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        const struct input *in = m->input;
        if (m->refused || fabs(m->relative) < LEFT_SHOWN || !is_left_to_sheet(in) || !is_first_of_input(&e->moves, i))
            continue;
        if (!any)
            fprintf(f, "\nnot said by the recipe: as the framework's sheet has it, and the most that another value would do\n");
        any = true;
        fprintf(f, "  %s = %s; %s: %+.1f %% (%s:%u)\n", in->name, in->value, m->to, 100 * m->relative, in->path, in->line);
    }
}

void explain_print(FILE *f, const struct explanation *e)
{
    print_conclusion(f, e);
    print_costs(f, e);
    print_moves(f, e);
    print_left(f, e);
}

/* ---- data ----------------------------------------------------------------------------------------------- */

static double mean_seconds(const struct explanation *e, uint64_t ipu_cycles)
{
    struct cost c = { .ipu_cycles = ipu_cycles };
    return cost_seconds(&c, &e->sim->timeline);
}

void waterfall_write_csv(FILE *f, const struct explanation *e)
{
    fputs("name,from_s,to_s,from_ipu_cycles,to_ipu_cycles\n", f);
    for (size_t i = 0; i < e->waterfall.n; i++) {
        const struct waterfall_item *w = &e->waterfall.items[i];
        csv_write_cell(f, w->name, false);
        fprintf(f, "%.10g,%.10g,%llu,%llu\n", mean_seconds(e, w->from_ipu_cycles), mean_seconds(e, w->to_ipu_cycles),
                (unsigned long long)w->from_ipu_cycles, (unsigned long long)w->to_ipu_cycles);
    }
}

static json_t *input_json(const struct input *in)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(in->name));
    json_object_set_new(o, "value", json_string(in->value));
    json_object_set_new(o, "unit", json_string(in->unit));
    json_object_set_new(o, "source", json_string(in->source));
    json_object_set_new(o, "file", json_string(in->path));
    json_object_set_new(o, "line", in->line ? json_integer(in->line) : json_null());
    json_object_set_new(o, "origin", json_string(in->on_sheet ? origin_names[in->origin] : "recipe"));
    return o;
}

static json_t *inputs_json(const struct explanation *e, enum part part)
{
    const struct move *inputs[8];
    size_t n = part_inputs(inputs, sizeof inputs / sizeof *inputs, e, part);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = input_json(inputs[i]->input);
        json_object_set_new(o, "moved_to", json_string(inputs[i]->to));
        json_object_set_new(o, "change_s", json_real(inputs[i]->breakdown_s[part] - e->result->breakdown_s[part]));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *cost_json(const struct explanation *e, const struct cost *c, int depth)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(c->name));
    json_object_set_new(o, "ipu_cycles", json_integer((json_int_t)c->ipu_cycles));
    json_object_set_new(o, "seconds", json_real(cost_seconds(c, &e->sim->timeline)));
    json_object_set_new(o, "share", json_real(share_of_step(c, &e->tree)));
    if (depth == 1) {
        json_object_set_new(o, "class", json_string(part_class_names[part_classes[c->part]]));
        json_object_set_new(o, "formula", json_string(cost_formulas[c->part]));
        json_object_set_new(o, "inputs", inputs_json(e, c->part));
    }
    json_t *parts = json_array();
    for (size_t i = 0; i < c->n_children; i++)
        json_array_append_new(parts, cost_json(e, &c->children[i], depth + 1));
    json_object_set_new(o, "parts", parts);
    return o;
}

static json_t *bound_json(const struct explanation *e)
{
    const struct bound *b = &e->bound;
    json_t *o = json_object();
    json_object_set_new(o, "by", json_string(b->memory ? "memory" : b->host_input ? "host" : b->slow_chip ? "a slow chip" : part_class_names[b->class]));
    json_object_set_new(o, "class", json_string(part_class_names[b->class]));
    json_object_set_new(o, "part", b->part ? json_string(part_names[b->part->part]) : json_null());
    json_object_set_new(o, "phase", b->phase ? json_string(b->phase->name) : json_null());
    json_object_set_new(o, "operation", b->operation ? json_string(b->operation->name) : json_null());
    json_object_set_new(o, "link", b->link ? json_string(b->link) : json_null());
    json_object_set_new(o, "ipu", json_integer(b->ipu));
    json_object_set_new(o, "class_share", json_real(b->class_share));
    json_object_set_new(o, "waiting_share", json_real(b->least_waiting_share));
    json_object_set_new(o, "most_waiting_ipu", json_integer(b->idlest_ipu));
    json_object_set_new(o, "most_waiting_share", json_real(b->most_waiting_share));
    return o;
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

static json_t *move_json(const struct explanation *e, const struct move *m)
{
    json_t *o = input_json(m->input);
    json_object_set_new(o, "to", json_string(m->to));
    json_object_set_new(o, "refused", m->refused ? json_string(m->refused) : json_null());
    if (m->refused)
        return o;
    json_object_set_new(o, "fits", json_boolean(m->fits));
    json_object_set_new(o, "step_time_s", json_real(m->step_time_s));
    json_object_set_new(o, "step_time_change_s", json_real(m->step_time_s - e->result->step_time_s));
    json_object_set_new(o, "sample_time_change", json_real(m->relative));
    return o;
}

/* Every value of the framework, from the recipe or from a sheet. */
static json_t *framework_values_json(const struct explanation *e)
{
    json_t *array = json_array();
    for (size_t i = 0; i < e->inputs.n; i++)
        if (strncmp(e->inputs.items[i].name, "framework.", strlen("framework.")) == 0)
            json_array_append_new(array, input_json(&e->inputs.items[i]));
    return array;
}

json_t *explain_json(const struct explanation *e)
{
    json_t *o = json_object(), *moves = json_array(), *waterfall = json_array();
    for (size_t i = 0; i < e->moves.n; i++)
        json_array_append_new(moves, move_json(e, &e->moves.items[i]));
    for (size_t i = 0; i < e->waterfall.n; i++) {
        const struct waterfall_item *w = &e->waterfall.items[i];
        json_array_append_new(waterfall, json_pack("{s:s, s:f, s:f, s:I, s:I}", "name", w->name, "from_s", mean_seconds(e, w->from_ipu_cycles),
            "to_s", mean_seconds(e, w->to_ipu_cycles), "from_ipu_cycles", (json_int_t)w->from_ipu_cycles, "to_ipu_cycles", (json_int_t)w->to_ipu_cycles));
    }
    json_object_set_new(o, "id", json_string(e->result->id));
    json_object_set_new(o, "step_time_s", json_real(e->result->step_time_s));
    json_object_set_new(o, "throughput_samples_per_s", json_real(e->result->throughput_samples_per_s));
    json_object_set_new(o, "fits", json_boolean(e->result->fits));
    json_object_set_new(o, "bound", bound_json(e));
    json_object_set_new(o, "memory", memory_json(e));
    json_object_set_new(o, "costs", cost_json(e, &e->tree, 0));
    json_object_set_new(o, "moves", moves);
    json_object_set_new(o, "waterfall", waterfall);
    json_object_set_new(o, "framework", framework_values_json(e));
    return o;
}
