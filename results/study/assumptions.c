/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumptions.c - values marked assumed on the sheets, each halved and doubled in every recipe that reads it.
 *
 * A factor of two is the uncertainty of a quantity of which only the kind is known; a share goes at most to 1. Values
 * that change nothing are listed too, and so are those of sheets that no recipe reads.
 */
#include "results/study/inputs.h"
#include "system-model/base/assumed.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The text of x moved to another value: a share at most to 1, a whole number to a whole number. NULL: it would not move. */
static const char *moved_value(const struct input *in, double x, double to, struct arena *a)
{
    uint64_t whole;
    if (text_is(in->unit, "share"))
        to = fmin(1, to);
    if (parse_u64(in->value, &whole))
        to = round(to);
    return to == x ? NULL : arena_printf(a, "%.10g", to);
}

/* Half and twice a number of a sheet; every next value of what a framework does. */
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
                      struct simulator *s, void (*progress)(void *user, size_t done, size_t of), void *user, struct arena *a, struct err *err)
{
    const char *specs = s->paths->specs_dir;
    *out = (struct assumptions){ .of = with_the_others(of, n_of, a), .n_of = n_of + 1 };
    struct survey w = { .out = out, .simulator = s, .a = a };
    for (size_t i = 0; i < n_recipes; i++) {
        if (!survey(&w, recipes[i], err))
            return false;
        if (progress)
            progress(user, i + 1, n_recipes);
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

/* ---- printing --------------------------------------------------------------------------------------- */

static void print_effect(FILE *f, const struct assumption_effect *e)
{
    if (!e->n_recipes)
        fprintf(f, "%22s", "not read");
    else if (e->slower == 0 && e->faster == 0)
        fprintf(f, "%22s", "nothing");
    else
        fprintf(f, "%+9.3f to %+7.3f %%", 100 * e->faster, 100 * e->slower);
}

void assumptions_print(FILE *f, const struct assumptions *all)
{
    fprintf(f, "values that no source states for this part, and by how much halving or doubling one (of a name or flag: any other value) changes "
               "the step time at most, over all recipes that read it\n");
    fprintf(f, "%-26s %12s %-13s", "key", "value", "unit");
    for (size_t i = 0; i < all->n_of; i++)
        fprintf(f, "%22s", all->of[i]);
    fprintf(f, "  moves most; sheet, line and reason\n");
    for (size_t i = 0; i < all->n; i++) {
        const struct assumption *x = &all->items[i];
        fprintf(f, "%-26s %12s %-13s", x->key, x->value, x->unit);
        for (size_t k = 0; k < all->n_of; k++)
            print_effect(f, &x->effects[k]);
        fprintf(f, "  %s; %s:%u, %s\n", x->most->recipe ? x->most->recipe : "-", x->path, x->line, x->source);
    }
    fprintf(f, "\nin the code of the model (%s), not varied here: docs/trust.md says what halving and doubling them does\n", in_code_path);
    for (int i = 0; i < N_IN_CODE; i++)
        fprintf(f, "%-26s %12d %-13s enters %s: %s\n", in_code[i].name, in_code[i].value, in_code[i].unit, in_code[i].enters, in_code[i].why);
}

static json_t *effect_json(const struct assumption_effect *e)
{
    return json_pack("{s:s, s:s?, s:I, s:f, s:f, s:b}", "workload", e->workload, "recipe", e->recipe, "recipes", (json_int_t)e->n_recipes,
                     "faster", e->faster, "slower", e->slower, "changes_fit", e->fit_changes);
}

json_t *assumptions_json(const struct assumptions *all)
{
    json_t *array = json_array();
    for (size_t i = 0; i < all->n; i++) {
        const struct assumption *x = &all->items[i];
        json_t *effects = json_array();
        for (size_t k = 0; k < all->n_of; k++)
            json_array_append_new(effects, effect_json(&x->effects[k]));
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o}", "key", x->key, "value", x->value, "unit", x->unit,
                                               "source", x->source, "file", x->path, "line", (json_int_t)x->line, "effects", effects));
    }
    for (int i = 0; i < N_IN_CODE; i++)
        json_array_append_new(array, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:[]}", "key", in_code[i].name, "value", in_code[i].value,
            "unit", in_code[i].unit, "source", in_code[i].why, "file", in_code_path, "enters", in_code[i].enters, "effects"));
    return array;
}
