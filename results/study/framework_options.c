/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework_options.c - writes the rows of the table of names for a configuration: as lines of Python that parse, as settings of published
 * programs, and as command lines.
 */
#include "results/study/framework_options.h"
#include "results/study/framework_names.h"
#include "system-model/graph/graph.h"

static const char *const place_names[N_OPTION_PLACES] = { [IN_CODE] = "code", [IN_SETTINGS] = "settings", [ON_COMMAND_LINE] = "command line" };

/* Writes the list "0.3,0.2" as "0.3, 0.2". The ",0" at the end of a division, which puts the heads on the first IPU, is dropped, because
 * programs do that by themselves. */
static const char *spaced(const char *value, bool is_division, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(value) + 1), *p = out;
    for (; *value && !(is_division && text_is(value, ",0")); value++) {
        *p++ = *value;
        if (*value == ',')
            *p++ = ' ';
    }
    return out;
}

/* The text with its next "%s" replaced, or unchanged if it has none. */
static const char *filled(const char *text, const char *value, struct arena *a)
{
    const char *hole = strstr(text, "%s");
    return hole ? arena_printf(a, "%.*s%s%s", (int)(hole - text), text, value, hole + 2) : text;
}

static bool is_row_of(const struct name_row *row, const char *framework)
{
    return framework && strncmp(framework, row->framework, strlen(row->framework)) == 0;
}

static bool is_for(const struct name_row *row, const char *value)
{
    return *value && (!row->value || text_is(row->value, value));
}

/* The text of a row that depends only on the value. Half layers, as in 7/6, keep podbench's notation. */
static const char *option_of_value(const struct name_row *row, const char *value, struct arena *a)
{
    bool is_division = text_is(row->key, "parallel.layers_per_ipu");
    uint64_t count;
    double number;
    if (row->fill > AS_NUMBER || (is_division && strchr(value, '/')) || (row->fill == AS_NUMBER && !parse_f64(value, &number)))
        return NULL;
    if (row->fill == AS_COUNT && (!parse_u64(value, &count) || count == 0))
        return NULL;
    return filled(row->text, spaced(value, is_division, a), a);
}

static struct framework_option option_of_row(const struct name_row *row, const char *option)
{
    return (struct framework_option){ option, row->key, place_names[row->place], row->source };
}

bool framework_option_of(struct framework_option *out, const char *framework, const char *setting, struct arena *a)
{
    const char *equals = strchr(setting, '=');
    for (size_t i = 0; equals && i < n_name_rows; i++) {
        const struct name_row *row = &name_rows[i];
        size_t n_key = (size_t)(equals - setting);
        bool names_key = strncmp(setting, row->key, n_key) == 0 && !row->key[n_key];
        if (!names_key || !is_row_of(row, framework) || !is_for(row, equals + 1))
            continue;
        const char *option = option_of_value(row, equals + 1, a);
        if (option) {
            *out = option_of_row(row, option);
            return true;
        }
    }
    return false;
}

/* ---- a whole configuration -------------------------------------------------------------------------------------- */

static const struct table_column option_columns[] = {
#define C(member, ...) { COLUMN(struct framework_option, member), __VA_ARGS__ }
    C(option), C(key), C(place), C(source),
#undef C
};

static const char *stage_layers(const struct plan *p, const struct stage_plan *s, struct arena *a)
{
    const struct layer *layers = p->graph->layers;
    return s->n_layers > 1 ? arena_printf(a, "%s to %s", layers[s->first_layer].name, layers[stage_end(s) - 1].name) : layers[s->first_layer].name;
}

static void add_option(struct table *t, const struct name_row *row, const char *option, struct arena *a)
{
    if (option)
        table_add(t, (struct framework_option[]){ option_of_row(row, option) }, a);
}

static void add_stage_options(struct table *t, const struct name_row *row, const struct plan *p, struct arena *a)
{
    for (uint32_t i = 0; i < p->n_stages; i++) {
        const char *text = filled(row->text, arena_printf(a, "%" PRIu32, p->stages[i].ipu), a);
        text = filled(text, arena_printf(a, "%" PRIu32, i), a);
        add_option(t, row, filled(text, stage_layers(p, &p->stages[i], a), a), a);
    }
}

/* The value of a row that depends on the plan. */
static const char *value_of_plan(const struct name_row *row, const struct plan *p, struct arena *a)
{
    const struct plan_request *q = &p->request;
    const char *list = "";
    if (row->fill == TOTAL_IPUS || row->fill == GLOBAL_BATCH)
        return arena_printf(a, "%" PRIu64, row->fill == TOTAL_IPUS ? (uint64_t)q->n_replicas * q->ipus_per_replica : p->global_batch);
    for (uint32_t i = 0; row->fill == STAGE_IPUS && i < p->n_stages; i++)
        list = arena_printf(a, "%s%s%" PRIu32, list, i ? ", " : "", p->stages[i].ipu);
    for (uint32_t i = 0; row->fill == MEMORY_BY_IPU && i < q->ipus_per_replica; i++)
        list = arena_printf(a, "%s%s\"IPU%" PRIu32 "\": %.6g", list, i ? ", " : "", i, plan_available_memory(q, i));
    return list;
}

static const char *two_axes(const struct name_row *row, const struct plan *p, struct arena *a)
{
    const uint32_t *n = p->request.tensor_parallel;
    return n[1] > 1 ? filled(filled(row->text, arena_printf(a, "%" PRIu32, n[0]), a), arena_printf(a, "%" PRIu32, n[1]), a) : NULL;
}

const char *framework_options_name(const struct simulation *sim)
{
    const struct plan_request *q = &sim->plan.request;
    const char *name = sim->recipe.framework;
    return text_is(name, "PopART") && (plan_is_phased(q) || plan_tensor_replicas(q) > 1) ? "PopXL" : name;
}

static bool matters(const struct recipe *r, const struct plan *p, const char *key, struct arena *a)
{
    const char **idle;
    size_t n = 0;
    recipe_unused_keys(&idle, &n, r, p, a);
    return !find_text(idle, n, sizeof *idle, 0, key);
}

static bool row_is_set(const struct name_row *row, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    const struct ini_entry *entry = recipe_entry(r, row->key);
    bool is_pipeline = sim->plan.n_stages > 1 && !plan_is_phased(&sim->plan.request), starts_processes = !*row->framework, is_split = row->fill == BY_STAGE || row->fill == STAGE_IPUS;
    bool accumulates = text_is(row->key, "parallel.gradient_accumulation");
    if (!is_row_of(row, framework_options_name(sim)) || (starts_processes && r->instances < 2) || (accumulates && r->mode != MODE_TRAIN)
        || (row->when != ANY_SPLIT && is_pipeline != (row->when == PIPELINED)))
        return false;
    return is_split ? is_pipeline : entry && is_for(row, entry->value) && matters(r, &sim->plan, row->key, a);
}

static const struct snippet_start *snippet_of(const char *framework)
{
    for (size_t i = 0; framework && i < n_snippet_starts; i++)
        if (strncmp(framework, snippet_starts[i].framework, strlen(snippet_starts[i].framework)) == 0)
            return &snippet_starts[i];
    return NULL;
}

static void add_start(struct table *t, const struct snippet_start *start, struct arena *a)
{
    for (size_t i = 0; i < sizeof start->lines / sizeof *start->lines && start->lines[i]; i++)
        table_add(t, &(struct framework_option){ start->lines[i], "", place_names[IN_CODE], start->source }, a);
}

struct table framework_options(const struct simulation *sim, struct arena *a)
{
    struct table t = TABLE(option_columns, struct framework_option);
    const struct snippet_start *start = snippet_of(framework_options_name(sim));
    if (start)
        add_start(&t, start, a);
    for (size_t i = 0; i < n_name_rows; i++) {
        const struct name_row *row = &name_rows[i];
        if (!row_is_set(row, sim, a))
            continue;
        if (row->fill == BY_STAGE)
            add_stage_options(&t, row, &sim->plan, a);
        else if (row->fill == TWO_AXES)
            add_option(&t, row, two_axes(row, &sim->plan, a), a);
        else if (row->fill > AS_NUMBER)
            add_option(&t, row, filled(row->text, value_of_plan(row, &sim->plan, a), a), a);
        else
            add_option(&t, row, option_of_value(row, recipe_entry(&sim->recipe, row->key)->value, a), a);
    }
    return t;
}

void framework_options_document(struct document *d, const char *framework, const struct table *options)
{
    const struct framework_option *rows = options->rows;
    const struct snippet_start *start = snippet_of(framework);
    const char *place = place_names[IN_CODE];
    if (!options->n)
        document_line(d, "options: no names are known for %s", framework ? framework : "a recipe without recipe.framework");
    else
        document_line(d, "options of %s for this configuration, as Python for %s (JSON has the sources)", framework, start ? start->release : "its programs");
    for (size_t i = 0; i < options->n; i++) {
        bool is_code = text_is(rows[i].place, place_names[IN_CODE]);
        if (!text_is(rows[i].place, place))
            document_line(d, text_is(rows[i].place, place_names[IN_SETTINGS]) ? "  # in the configuration file of the published program:" : "  # on the command line:");
        place = rows[i].place;
        document_line(d, is_code ? "  %s" : "  #   %s", rows[i].option);
    }
}
