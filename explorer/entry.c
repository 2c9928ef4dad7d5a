/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entry.c - the simulator as WebAssembly: what the page of the explorer calls.
 *
 * One session stays open, so that the caches of its simulator make the second answer faster than the first. A command is the program's own
 * command_NAME() with its options given as JSON; what it prints is the same to the byte as the native program's. A picture is one simulation
 * with what no command prints as data: memory by IPU, and every span.
 */
#include "harness/harness.h"
#include "results/study/first_recipe.h"
#include "results/study/fit.h"
#include "results/study/framework_options.h"
#include <gsl/gsl_errno.h>
#include <jansson.h>

/* The first thread that is started does all the work (musl.h). A sweep has room for 256 configurations for each thread. */
enum { SWEEP_JOBS = 2 };

static struct session session;
static char *output, *messages;         /* of the last request; owned here */

static const struct { const char *name; command_function *run; uint32_t jobs; } page_commands[] = {
    { "run", command_run, 1 }, { "explain", command_explain, 1 }, { "diff", command_diff, 1 }, { "sweep", command_sweep, SWEEP_JOBS },
    { "fit", command_fit, 1 }, { "plan", command_plan, 1 }, { "machine", command_machine, 1 }, { "workload", command_workload, 1 },
    { "search", command_search, 1 }, { "ask", command_ask, 1 }, { "kernel", command_kernel, 1 },
};

/* The data is in the current folder. Returns false without it. */
int explorer_open(void)
{
    gsl_set_error_handler_off();
    return session_open(&session, ".", "the page", NULL);
}

const char *explorer_output(void) { return output; }
const char *explorer_messages(void) { return messages; }

static const char **json_texts(size_t *n, const json_t *list, struct arena *a)
{
    *n = json_array_size(list);
    const char **out = ARENA_ARRAY(a, const char *, *n + 1);
    for (size_t i = 0; i < *n; i++)
        out[i] = arena_strdup(a, json_string_value(json_array_get(list, i)));
    return out;
}

static const char *text_or_none(const json_t *text, struct arena *a)
{
    return text ? arena_strdup(a, json_string_value(text)) : NULL;
}

static enum output_format format_of(const json_t *name)
{
    for (int i = 0; i < N_OUTPUT_FORMATS; i++)
        if (text_is(format_names[i], json_string_value(name)))
            return (enum output_format)i;
    return FORMAT_TEXT;
}

static struct options options_of(const json_t *q, struct arena *a)
{
    struct options o = { .seed = 1, .format = format_of(json_object_get(q, "format")) };
    o.arguments = json_texts(&o.n_arguments, json_object_get(q, "arguments"), a);
    o.sets = json_texts(&o.n_sets, json_object_get(q, "set"), a);
    o.overs = json_texts(&o.n_overs, json_object_get(q, "over"), a);
    o.limits = json_texts(&o.n_limits, json_object_get(q, "limit"), a);
    o.size = (uint64_t)json_integer_value(json_object_get(q, "size"));
    o.minimise = text_or_none(json_object_get(q, "minimise"), a);
    o.seconds = text_or_none(json_object_get(q, "seconds"), a);
    o.out = text_or_none(json_object_get(q, "out"), a);
    o.all = json_is_true(json_object_get(q, "all"));
    return o;
}

/* ---- the picture ------------------------------------------------------------------------------------------ */

static json_t *memory_by_ipu(const struct plan *p)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
        json_t *row = json_array();
        for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
            json_array_append_new(row, json_integer((json_int_t)p->memory[i].bytes[k]));
        json_array_append_new(rows, json_pack("{s:o, s:I}", "bytes", row, "total_bytes", (json_int_t)p->memory[i].total_bytes));
    }
    return rows;
}

static json_t *parts_by_ipu(const struct timeline *t)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < t->n_rows; i++) {
        if (t->rows[i].replica != 0)
            continue;
        json_t *row = json_array();
        for (int k = 0; k < N_PARTS; k++)
            json_array_append_new(row, json_integer((json_int_t)t->rows[i].spent.part[k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Seven numbers for each span of the first replica: IPU, start, length, period, repeats, kind, which. */
static json_t *flat_spans(const struct timeline *t)
{
    json_t *flat = json_array();
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        if (t->rows[s->row].replica != 0)
            continue;
        const uint64_t numbers[] = { t->rows[s->row].ipu, s->start_cycle, s->n_cycles, s->period_cycles, s->repeat, s->kind, s->which };
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            json_array_append_new(flat, json_integer((json_int_t)numbers[k]));
    }
    return flat;
}

/* The recipe as it was simulated, and as a program of its framework states it. */
static void add_settings(json_t *picture, const struct simulation *sim, struct arena *a)
{
    struct recipe_setting *settings;
    size_t n = recipe_settings(&settings, &sim->recipe, a);
    struct table options = framework_options(sim, a);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        if (!settings[i].value)
            continue;
        const char *key = arena_printf(a, "%s.%s", settings[i].section, settings[i].field->name);
        json_array_append_new(list, json_pack("[s, s, b]", key, settings[i].value, settings[i].matters));
    }
    json_object_set_new(picture, "settings", list);
    json_object_set_new(picture, "framework_options", table_json(&options));
}

static json_t *picture_of(const struct simulation *sim, const struct result *r, struct arena *a)
{
    const struct plan *p = &sim->plan;
    const struct chip *chip = &sim->machine->chip;
    json_t *picture = json_pack("{s:f, s:I, s:I, s:I, s:I, s:f}", "clock_hz", chip->clock_hz, "step_cycles", (json_int_t)sim->timeline.step_cycles,
        "tile_memory_bytes", (json_int_t)chip->tile_memory_bytes, "worst_ipu", (json_int_t)p->worst_ipu,
        "machine_ipus", (json_int_t)sim->machine->n_ipus, "link_bytes_per_s", chip->link_bytes_per_s);
    json_t *result = result_json(r);
    result_json_add_groups(result, r);
    json_object_set_new(picture, "result", result);
    json_object_set_new(picture, "memory", memory_by_ipu(p));
    json_object_set_new(picture, "parts", parts_by_ipu(&sim->timeline));
    json_object_set_new(picture, "spans", flat_spans(&sim->timeline));
    json_object_set_new(picture, "memory_names", json_words(memory_category_names, N_MEMORY_CATEGORIES));
    json_object_set_new(picture, "part_names", json_words(part_names, N_PARTS));
    json_object_set_new(picture, "span_names", json_words(span_kind_names, N_SPAN_KINDS));
    add_settings(picture, sim, a);
    return picture;
}

static int print_picture(const struct options *o, struct err *err)
{
    struct simulation sim;
    struct result r;
    if (o->n_arguments != 1)
        return bad_input(err, "picture: want one recipe");
    if (!simulator_run(&session.simulator, &sim, &r, o->arguments[0], o->sets, o->n_sets, err))
        return EXIT_BAD_INPUT;
    json_t *picture = picture_of(&sim, &r, &sim.arena);
    json_dumpf(picture, session.out, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(picture);
    simulation_free(&sim);
    return EXIT_DONE;
}

/* A recipe for an ONNX file of one's own, as `podbench init --model` writes it. */
static int print_first_recipe(const struct options *o, struct err *err)
{
    if (o->n_arguments != 2)
        return bad_input(err, "recipe: want an ONNX file and a name");
    struct first_recipe_request q = { .model = o->arguments[0], .id = o->arguments[1], .sets = o->sets, .n_sets = o->n_sets, .simulator = &session.simulator };
    struct first_recipe first;
    if (!first_recipe_find(&first, &q, &session.arena, err))
        return EXIT_BAD_INPUT;
    fputs(first.text, session.out);
    if (first.assumed)
        fprintf(session.log, "assumed sizes: %s\n", first.assumed);
    return EXIT_DONE;
}

static int answer(const json_t *q, struct err *err)
{
    struct options o = options_of(q, &session.arena);
    session.simulator.options.totals_only = false;         /* each command sets this option anew, as the program does when it starts */
    const char *name = json_string_value(json_object_get(q, "command"));
    if (text_is(name, "picture"))
        return print_picture(&o, err);
    if (text_is(name, "recipe"))
        return print_first_recipe(&o, err);
    for (size_t i = 0; i < sizeof page_commands / sizeof *page_commands; i++)
        if (text_is(page_commands[i].name, name)) {
            o.jobs = page_commands[i].jobs;
            return session_answer(page_commands[i].run, &o, &session, err);
        }
    return bad_input(err, "%.60s: is not a command of the page", name ? name : "");
}

/* request: {"command": NAME, "arguments": [...], "set": [...], "over": [...], "limit": [...], "minimise": NAME, "seconds": TEXT, "out": PATH, "size": N,
 * "format": NAME, "all": BOOL}; the command "picture" prints the picture, "recipe" the first recipe of a model. Returns the exit status; explorer_output() and explorer_messages() have the rest until the next request. */
int explorer_ask(const char *request)
{
    struct arena kept = session.arena;
    struct err err = {0};
    size_t n_output, n_messages;
    free(output);
    free(messages);
    session.out = open_memstream(&output, &n_output);
    session.log = open_memstream(&messages, &n_messages);
    session.arena = (struct arena){0};
    json_t *q = json_loads(request, 0, NULL);
    int status = answer(q, &err);
    if (*err.msg)
        fprintf(session.log, "podbench: %s\n", err.msg);
    fclose(session.out);
    fclose(session.log);
    json_decref(q);
    arena_free(&session.arena);
    session.arena = kept;
    return status;
}
