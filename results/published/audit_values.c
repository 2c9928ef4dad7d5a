/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit_values.c - what the expression of a claim may refer to.
 *
 *     sheet[MACHINE.KEY]            a value on a spec sheet, as written there; has[MACHINE.KEY]: 1 if the sheet has it, otherwise 0
 *     fact[NAME]                    a row of facts.csv: values that neither sheets nor logs have
 *     numbers[ID]                   a row of numbers.csv: statements on number formats, tried by execution (docs/maintainers/numerics.md)
 *     figure[ID]                    a published value; logged[ID]: 1 if there is such a row, otherwise 0
 *     recipe[ID/section.key]        a number in a recipe; section.key#2: the second of a list
 *     run[ID/metric]                any number of the result of a simulation; run[ID;section.key=value/metric] with keys set
 *     workload[NAME/parameters]     or forward_mac, of one sample
 *     recompute[NAME/memory_share]  the least share of activations kept, over all placements of checkpoints; extra_work_share: its cost
 */
#include "results/published/check.h"

#include <jansson.h>
#include <unistd.h>

#include "results/simulate/simulate.h"
#include "system-model/graph/graph.h"

enum { MOST_SETS = 8 };

/* ---- sheets, facts and figures ------------------------------------------------------------------------- */

/* The cell in the row whose first cell is name. NULL if there is none. */
static const char *named_cell(const struct csv_table *t, const char *name, const char *column)
{
    const struct csv_row *row = csv_row_named(t, name);
    size_t at;
    return row && csv_column(&at, t, column, NULL) ? row->cells[at] : NULL;
}

/* "gc2.n_tiles" */
static bool sheet_text(const char **out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *dot = strchr(argument, '.');
    struct csv_table t;
    if (!dot)
        return fail(err, "no such form; want sheet[MACHINE.KEY] or has[MACHINE.KEY]");
    const char *machine = arena_printf(v->a, "%.*s", (int)(dot - argument), argument);
    if (!csv_load(&t, arena_printf(v->a, "%s/%s.csv", v->paths->specs_dir, machine), v->a, err))
        return false;
    *out = named_cell(&t, dot + 1, "value");
    return true;
}

static bool to_number(double *out, const char *text, const char *what, struct err *err)
{
    if (!text)
        return fail(err, "there is no such %s", what);
    return parse_f64(text, out) || fail(err, "'%.40s' is not a number", text);
}

static bool value_of_sheet(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *text;
    return sheet_text(&text, v, argument, err) && to_number(out, text, "key", err);
}

static bool value_of_has(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *text;
    bool good = sheet_text(&text, v, argument, err);
    *out = good && text;
    return good;
}

static bool value_of_fact(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    return to_number(out, named_cell(v->facts, argument, "value"), "fact", err);
}

static bool value_of_numbers(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    return to_number(out, named_cell(v->numbers, argument, "value"), "statement on numbers", err);
}

static const struct figure *figure_named(const struct audit_values *v, const char *id)
{
    return FIND_TEXT(v->figures->items, v->figures->n, struct figure, id, id);
}

static bool value_of_figure(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const struct figure *f = figure_named(v, argument);
    *out = f ? f->value : 0;
    return f || fail(err, "there is no such published row");
}

static bool value_of_logged(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    (void)err;
    *out = figure_named(v, argument) != NULL;
    return true;
}

/* ---- recipes and simulations ---------------------------------------------------------------------------- */

/* `want` is the correct form of the argument, for the message. */
static bool split_at_last_slash(const char **first, const char **second, const char *argument, const char *want, struct arena *a, struct err *err)
{
    const char *slash = strrchr(argument, '/');
    if (!slash)
        return fail(err, "lacks a slash; want %s", want);
    *first = arena_printf(a, "%.*s", (int)(slash - argument), argument);
    *second = slash + 1;
    return true;
}

static bool value_of_recipe(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *id = "", *key = "";
    struct recipe r;
    double item = 1;
    if (!split_at_last_slash(&id, &key, argument, "RECIPE/section.key", v->a, err) || !recipe_load(&r, id, v->paths->recipes_dir, NULL, 0, v->a, err))
        return false;
    const char *hash = strchr(key, '#');
    if (hash && !parse_f64(hash + 1, &item))
        return fail(err, "'%.20s' is no place in the list; want a number from 1", hash + 1);
    char *list = NULL, *text = NULL;
    const struct ini_entry *e = recipe_entry(&r, hash ? arena_printf(v->a, "%.*s", (int)(hash - key), key) : key);
    for (list = e ? arena_strdup(v->a, e->value) : NULL; list && item > 0; item--)
        text = strsep(&list, ",");
    return to_number(out, item > 0 ? NULL : text, "key in the recipe", err);
}

static bool member_number(double *out, const json_t *member, const char *metric, struct err *err)
{
    if (json_is_boolean(member))
        *out = json_is_true(member);
    else if (json_is_number(member))
        *out = json_number_value(member);
    else
        return fail(err, "the result has no number %s", metric);
    return true;
}

static bool value_of_run(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *id = "", *metric = "", *sets[MOST_SETS];
    size_t n_sets = 0;
    struct simulation sim;
    struct result r;
    if (!split_at_last_slash(&id, &metric, argument, "RECIPE/metric", v->a, err))
        return false;
    char *rest = arena_strdup(v->a, id), *recipe = strsep(&rest, ";");
    while (rest && n_sets < MOST_SETS)
        sets[n_sets++] = strsep(&rest, ";");
    if (!simulator_run(v->simulator, &sim, &r, recipe, sets, n_sets, err))
        return false;
    json_t *json = result_json(&r);
    bool good = member_number(out, json_object_get(json, metric), metric, err);
    json_decref(json);
    simulation_free(&sim);
    return good;
}

/* ---- models --------------------------------------------------------------------------------------------- */

static bool model_graph(struct graph *g, const char *name, struct arena *a, struct err *err)
{
    const struct workload *w = workload_find(name, err);
    *g = (struct graph){0};
    return w && workload_graph(g, w, NULL, a, err);
}

static bool value_of_workload(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *name = "", *what = "";
    struct graph g;
    if (!split_at_last_slash(&name, &what, argument, "WORKLOAD/parameters", v->a, err) || !model_graph(&g, name, v->a, err))
        return false;
    if (text_is(what, "parameters"))
        *out = (double)graph_parameters(&g);
    else if (text_is(what, "forward_mac"))
        *out = (double)graph_forward_mac(&g);
    else
        return fail(err, "'%.40s' is not one of: parameters, forward_mac", what);
    return true;
}

static bool value_of_recompute(double *out, const struct audit_values *v, const char *argument, struct err *err)
{
    const char *name = "", *what = "";
    struct graph g;
    struct recompute_point *points;
    size_t n;
    if (!split_at_last_slash(&name, &what, argument, "WORKLOAD/memory_share", v->a, err) || !model_graph(&g, name, v->a, err))
        return false;
    recompute_curve(&points, &n, &g, v->a);
    const struct recompute_point *least = &points[n - 1];
    if (text_is(what, "memory_share"))
        *out = least->memory_share;
    else if (text_is(what, "extra_work_share"))
        *out = least->extra_work_share;
    else
        return fail(err, "'%.40s' is not one of: memory_share, extra_work_share", what);
    return true;
}

static const struct audit_kind { const char *kind; bool (*value)(double *out, const struct audit_values *v, const char *argument, struct err *err); } kinds[] = {
    { "sheet", value_of_sheet }, { "has", value_of_has }, { "fact", value_of_fact }, { "figure", value_of_figure }, { "logged", value_of_logged }, { "recipe", value_of_recipe },
    { "run", value_of_run }, { "workload", value_of_workload }, { "recompute", value_of_recompute }, { "numbers", value_of_numbers },
};

bool audit_lookup(double *out, void *values, const char *kind, const char *argument, struct err *err)
{
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    struct audit_values *v = values;
    const struct audit_kind *k = FIND_TEXT(kinds, N_KINDS, struct audit_kind, kind, kind);
    return k ? k->value(out, v, argument, err) : fail(err, "known: %s", names_list(TEXTS_OF(kinds, N_KINDS, struct audit_kind, kind, v->a), N_KINDS, v->a));
}
