/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumptions.c - values marked assumed on the sheets, each halved and doubled in every recipe that reads it.
 *
 * If only the kind of a quantity is known, its value is taken to be uncertain by a factor of two; a share goes up to 1 at most. Values that
 * change nothing are listed, too, and so are values of sheets that no recipe reads.
 */
#include "results/study/inputs.h"
#include "system-model/base/assumed.h"

#include <jansson.h>

struct survey {
    struct assumptions *out;
    struct simulator *simulator;
    struct arena *a;
};

static struct assumption *assumption_of(struct survey *s, const char *path, const struct sheet_row *row)
{
    struct assumptions *all = s->out;
    for (size_t i = 0; i < all->n; i++)
        if (text_is(all->items[i].path, path) && all->items[i].line == row->line)
            return &all->items[i];
    all->items = arena_grow(s->a, all->items, all->n, &all->cap, sizeof *all->items);
    struct assumption *x = &all->items[all->n++];
    *x = (struct assumption){ arena_strdup(s->a, row->key), arena_strdup(s->a, row->value), arena_strdup(s->a, row->unit),
                              arena_strdup(s->a, row->source), arena_strdup(s->a, path), row->line,
                              ARENA_ARRAY(s->a, struct assumption_effect, all->n_of), NULL };
    for (size_t i = 0; i < all->n_of; i++)
        x->effects[i].workload = all->of[i];
    return x;
}

/* Writes `to` as a value in place of x. A share is at most 1, and a whole number stays whole. NULL if the value stays the same. */
static const char *moved_value(const struct input *in, double x, double to, struct arena *a)
{
    uint64_t whole;
    if (text_is(in->unit, "share"))
        to = fmin(1, to);
    if (parse_u64(in->value, &whole))
        to = round(to);
    return to == x ? NULL : arena_printf(a, "%.10g", to);
}

/* The values to try: half and twice a number on a sheet, or each next value of a framework's key. */
static size_t values_to_try(const char **to, const struct input *in, struct arena *a)
{
    double x;
    size_t n = 0;
    if (in->field)
        return input_next_values(to, MOST_NEXT_VALUES, in, a);
    if (!parse_f64(in->value, &x) || x == 0)
        return 0;
    const char *half = moved_value(in, x, x / 2, a), *twice = moved_value(in, x, x * 2, a);
    if (half)
        to[n++] = half;
    if (twice)
        to[n++] = twice;
    return n;
}

static void try_value(struct assumption_effect *effect, const char *set, const struct simulation_request *q, const struct result *base)
{
    struct simulation_request step = *q;
    struct result r;
    step.options.step_only = true;
    if (!result_with(&r, &step, &set, 1, NULL))
        return;
    double change = r.step_time_s / base->step_time_s - 1;
    effect->fit_changes |= r.fits != base->fits;
    if (fabs(change) > fmax(effect->slower, -effect->faster))
        effect->recipe = base->id;
    effect->slower = fmax(effect->slower, change);
    effect->faster = fmin(effect->faster, change);
}

static void survey_recipe(struct survey *s, const struct simulation *sim, const struct result *base, const struct simulation_request *q, size_t workload)
{
    struct arena scratch = {0};
    struct inputs inputs;
    inputs_list_sheets(&inputs, sim, &scratch);
    for (size_t i = 0; i < inputs.n; i++) {
        const struct input *in = &inputs.items[i];
        const char *to[MOST_NEXT_VALUES];
        if (in->origin != ORIGIN_ASSUMED || in->idle)
            continue;
        const struct sheet_row row = { strchr(in->name, '.') + 1, in->value, in->unit, in->source, "", in->line };
        struct assumption_effect *effect = &assumption_of(s, in->path, &row)->effects[workload];
        size_t n = values_to_try(to, in, &scratch);
        effect->n_recipes++;
        for (size_t k = 0; k < n; k++)
            try_value(effect, arena_printf(&scratch, "%s=%s", in->name, to[k]), q, base);
    }
    arena_free(&scratch);
}

static bool survey(struct survey *s, const char *recipe, struct err *err)
{
    struct simulation sim;
    struct result r;
    size_t w = 0;
    if (!simulator_run(s->simulator, &sim, &r, recipe, NULL, 0, err))
        return false;
    struct simulation_request q = { .recipe = recipe, .simulator = s->simulator };
    r.id = recipe;
    while (w + 1 < s->out->n_of && !text_is(r.workload, s->out->of[w]))
        w++;
    survey_recipe(s, &sim, &r, &q, w);
    simulation_free(&sim);
    return true;
}

/* Adds the assumed values of a folder's sheets that no recipe reads. */
static bool add_unread(struct survey *s, const char *folder, struct err *err)
{
    char **names;
    size_t n;
    if (!list_folder(&names, &n, folder, ".csv", s->a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sheet sheet;
        if (!sheet_load(&sheet, arena_printf(s->a, "%s/%s.csv", folder, names[i]), s->a, err))
            return false;
        for (size_t k = 0; k < sheet.n_rows; k++)
            if (sheet_row_origin(&sheet.rows[k]) == ORIGIN_ASSUMED)
                assumption_of(s, sheet.path, &sheet.rows[k]);
    }
    return true;
}

static double size_of_effect(const struct assumption_effect *e)
{
    return fmax(e->slower, -e->faster);
}

static int by_effect(const void *x, const void *y)
{
    const struct assumption *a = x, *b = y;
    double p = size_of_effect(a->most), q = size_of_effect(b->most);
    if (p != q)
        return p > q ? -1 : 1;
    int by_path = strcmp(a->path, b->path);
    return by_path ? by_path : (int)a->line - (int)b->line;
}

static void rank(struct assumptions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct assumption *x = &all->items[i];
        x->most = x->effects;
        for (size_t k = 1; k < all->n_of; k++)
            if (size_of_effect(&x->effects[k]) > size_of_effect(x->most))
                x->most = &x->effects[k];
    }
    sort_items(all->items, all->n, sizeof *all->items, by_effect);
}

static const char **with_the_others(const char *const *of, size_t n_of, struct arena *a)
{
    const char **names = ARENA_ARRAY(a, const char *, n_of + 1);
    for (size_t i = 0; i < n_of; i++)
        names[i] = of[i];
    names[n_of] = "others";
    return names;
}

bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, const struct watch *watch, struct arena *a, struct err *err)
{
    const char *specs = s->paths->specs_dir;
    *out = (struct assumptions){ .of = with_the_others(of, n_of, a), .n_of = n_of + 1 };
    struct survey w = { .out = out, .simulator = s, .a = a };
    for (size_t i = 0; i < n_recipes; i++) {
        if (!survey(&w, recipes[i], err))
            return false;
        watch_report(watch, "", i + 1, n_recipes);
    }
    if (!add_unread(&w, specs, err) || !add_unread(&w, arena_printf(a, "%s/sdk", specs), err)
        || !add_unread(&w, arena_printf(a, "%s/frameworks", specs), err))
        return false;
    rank(out);
    return true;
}

/* ---- numbers in the code ------------------------------------------------------------------------------ */

static const struct code_assumption { const char *name; int value; const char *unit, *enters, *why; } in_code[] = {
#define X(name, value, unit, enters, why) { #name, value, unit, enters, why },
    ASSUMED(X)
#undef X
};
enum { N_IN_CODE = sizeof in_code / sizeof *in_code };
static const char in_code_path[] = "system-model/base/assumed.h";

/* ---- the list of assumptions ----------------------------------------------------------------------------- */

/* The effect on one workload; NaN if none of its recipes reads the value. */
struct shown_effect { const char *text; double faster, slower; };
struct assumption_row { const char *key, *value, *unit, *source, *file; uint32_t line; json_t *effects_json; const char *most; struct shown_effect effects[]; };
static const struct table_column assumption_columns[] = {
#define C(member, ...) { COLUMN(struct assumption_row, member), __VA_ARGS__ }
    C(key, .heading = "key"), C(value, .heading = "value", .aligns_right = true), C(unit, .heading = "unit"), C(source), C(file),
    C(line, .zero_is_unknown = true), { COLUMN_AS(struct assumption_row, effects_json, "effects"), .formats = IN_JSON },
    { COLUMN_AS(struct assumption_row, most, NULL), .heading = "moves most; sheet, line and reason" },
#undef C
};
enum { N_ASSUMPTION_COLUMNS = sizeof assumption_columns / sizeof *assumption_columns };

/* A table with a workload's effect in columns before the last one: one column in text, two (faster, slower) in CSV. */
static struct table assumptions_table(const struct assumptions *all, struct arena *a)
{
    enum { EACH = 3 };
    size_t n = N_ASSUMPTION_COLUMNS - 1;
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, N_ASSUMPTION_COLUMNS + EACH * all->n_of);
    memcpy(columns, assumption_columns, sizeof assumption_columns);
    for (size_t k = 0; k < all->n_of; k++) {
        size_t at = offsetof(struct assumption_row, effects) + k * sizeof(struct shown_effect);
        columns[n++] = (struct table_column){ .type = CELL_TEXT, .heading = all->of[k], .aligns_right = true,
                                              .offset = at + offsetof(struct shown_effect, text) };
        columns[n++] = (struct table_column){ .type = CELL_REAL, .name = arena_printf(a, "%s_faster", all->of[k]), .formats = IN_CSV,
                                              .offset = at + offsetof(struct shown_effect, faster) };
        columns[n++] = (struct table_column){ .type = CELL_REAL, .name = arena_printf(a, "%s_slower", all->of[k]), .formats = IN_CSV,
                                              .offset = at + offsetof(struct shown_effect, slower) };
    }
    columns[n++] = assumption_columns[N_ASSUMPTION_COLUMNS - 1];
    return (struct table){ .columns = columns, .n_columns = n, .row_bytes = sizeof(struct assumption_row) + all->n_of * sizeof(struct shown_effect) };
}

static const char *effect_text(const struct assumption_effect *e, struct arena *a)
{
    if (!e->n_recipes)
        return "not read";
    return e->slower == 0 && e->faster == 0 ? "nothing" : arena_printf(a, "%+.3f to %+.3f %%", 100 * e->faster, 100 * e->slower);
}

static json_t *effects_json(const struct assumption *x, size_t n_of)
{
    json_t *all = json_array();
    for (const struct assumption_effect *e = x->effects; e < x->effects + n_of; e++)
        json_array_append_new(all, json_pack("{s:s, s:s?, s:I, s:f, s:f, s:b}", "workload", e->workload, "recipe", e->recipe, "recipes",
                                             (json_int_t)e->n_recipes, "faster", e->faster, "slower", e->slower, "changes_fit", e->fit_changes));
    return all;
}

static void add_assumption(struct table *t, const struct assumption *x, size_t n_of, json_t *effects, struct arena *a)
{
    struct assumption_row *row = arena_alloc(a, t->row_bytes);
    *row = (struct assumption_row){ x->key, x->value, x->unit, x->source, x->path, x->line, effects, NULL };
    row->most = arena_printf(a, "%s; %s:%u, %s", x->most->recipe ? x->most->recipe : "-", x->path, x->line, x->source);
    for (size_t k = 0; k < n_of; k++) {
        const struct assumption_effect *e = &x->effects[k];
        row->effects[k] = (struct shown_effect){ effect_text(e, a), e->n_recipes ? e->faster : (double)NAN, e->n_recipes ? e->slower : (double)NAN };
    }
    table_add(t, row, a);
}

struct code_row { const char *key; int64_t value; const char *unit, *source, *file, *enters; json_t *effects; };
static const struct table_column code_columns[] = {
#define C(member, ...) { COLUMN(struct code_row, member), __VA_ARGS__ }
    C(key, .heading = "key"), C(value, .heading = "value"), C(unit, .heading = "unit"), C(enters, .heading = "enters"), C(source, .heading = "reason"),
    C(file), C(effects),
#undef C
};

/* Adds an assumed number of the code to the CSV table of assumed values. It has no effects, because nothing varies it. */
static void add_code(struct table *t, const struct code_assumption *x, size_t n_of, struct arena *a)
{
    struct assumption_row *row = arena_alloc(a, t->row_bytes);
    *row = (struct assumption_row){ .key = x->name, .value = arena_printf(a, "%d", x->value), .unit = x->unit, .source = x->why, .file = in_code_path };
    for (size_t k = 0; k < n_of; k++)
        row->effects[k] = (struct shown_effect){ NULL, NAN, NAN };
    table_add(t, row, a);
}

void assumptions_document(struct document *d, const struct assumptions *all)
{
    document_line(d, "values that no source states for this part, and by how much halving or doubling one (of a name or flag: any other value) "
                  "changes the step time at most, over all recipes that read it");
    struct table *sheets = document_table(d, assumptions_table(all, d->arena)), *both = document_table(d, *sheets);
    sheets->formats = IN_TEXT | IN_JSON | IN_MARKDOWN, both->formats = IN_CSV;
    for (const struct assumption *x = all->items; x < all->items + all->n; x++) {
        add_assumption(sheets, x, all->n_of, effects_json(x, all->n_of), d->arena);
        add_assumption(both, x, all->n_of, NULL, d->arena);
    }
    document_line(d, "\nin the code of the model (%s), not varied here: docs/maintainers/trust.md says what halving and doubling them does", in_code_path);
    struct table *code = document_table(d, TABLE(code_columns, struct code_row, .formats = IN_TEXT | IN_JSON | IN_MARKDOWN));
    for (int i = 0; i < N_IN_CODE; i++) {
        add_code(both, &in_code[i], all->n_of, d->arena);
        table_add(code, &(struct code_row){ in_code[i].name, in_code[i].value, in_code[i].unit, in_code[i].why, in_code_path, in_code[i].enters, json_array() },
                  d->arena);
    }
}
