/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumptions.c - values marked assumed on the sheets, each moved as far as a factor of two, on every system that reads it.
 *
 * Two is what is left where a quantity is known by its kind alone; a share ends at 1. Values of record change nothing, and are listed as such.
 */
#include "results/explain/assumptions.h"
#include "system-model/compiler/assumed.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct survey {
    struct assumptions *out;
    struct simulator *simulator;
    struct arena *a;
};

static struct assumption *assumption_of(struct survey *s, const struct input *in)
{
    struct assumptions *all = s->out;
    for (size_t i = 0; i < all->n; i++)
        if (text_is(all->items[i].path, in->path) && all->items[i].line == in->line)
            return &all->items[i];
    all->items = arena_grow(s->a, all->items, all->n, &all->cap, sizeof *all->items);
    struct assumption *x = &all->items[all->n++];
    *x = (struct assumption){ arena_strdup(s->a, strchr(in->name, '.') + 1), arena_strdup(s->a, in->value), arena_strdup(s->a, in->unit),
                              arena_strdup(s->a, in->source), arena_strdup(s->a, in->path), in->line,
                              ARENA_ARRAY(s->a, struct assumption_effect, all->n_of), 0 };
    for (size_t i = 0; i < all->n_of; i++)
        x->effects[i].workload = all->of[i];
    return x;
}

/* From x to another value, though not beyond the end of a share, 1, and between whole numbers. NULL: nothing is moved. */
static const char *moved(const struct input *in, double x, double to, struct arena *a)
{
    uint64_t whole;
    if (text_is(in->unit, "share"))
        to = fmin(1, to);
    if (parse_u64(in->value, &whole))
        to = round(to);
    return to == x ? NULL : arena_printf(a, "%s=%.10g", in->name, to);
}

static void try_value(struct assumption_effect *effect, const char *set, const struct question *q, const struct result *base)
{
    struct question step = *q;
    struct result r;
    step.options.step_only = true;
    if (!set || !ask_again(&r, &step, &set, 1, NULL))
        return;
    double change = r.step_time_s / base->step_time_s - 1;
    effect->fit_changes |= r.fits != base->fits;
    if (fabs(change) > fmax(effect->slower, -effect->faster))
        effect->recipe = base->id;
    effect->slower = fmax(effect->slower, change);
    effect->faster = fmin(effect->faster, change);
}

static void survey_recipe(struct survey *s, const struct simulation *sim, const struct result *base, const struct question *q, size_t workload)
{
    struct arena scratch = {0};
    struct inputs inputs;
    inputs_list(&inputs, sim, &scratch);
    for (size_t i = 0; i < inputs.n; i++) {
        const struct input *in = &inputs.items[i];
        double x;
        if (in->of_recipe || in->origin != ORIGIN_ASSUMED)
            continue;
        struct assumption_effect *effect = &assumption_of(s, in)->effects[workload];
        effect->n_recipes++;
        if (!parse_f64(in->value, &x) || x == 0)        /* a name, or nothing */
            continue;
        try_value(effect, moved(in, x, x / 2, &scratch), q, base);
        try_value(effect, moved(in, x, x * 2, &scratch), q, base);
    }
    arena_free(&scratch);
}

/* Systems that a workload was surveyed on. */
struct seen { const char **systems; size_t n; };

static bool is_new(struct seen *seen, const char *system, struct arena *a)
{
    for (size_t i = 0; i < seen->n; i++)
        if (text_is(seen->systems[i], system))
            return false;
    seen->systems[seen->n++] = arena_strdup(a, system);
    return true;
}

static bool survey(struct survey *s, const char *recipe, struct seen *seen, struct err *err)
{
    struct simulation sim;
    struct result r;
    if (!simulator_run(s->simulator, &sim, &r, recipe, NULL, 0, err))
        return false;
    struct question q = { .recipe = recipe, .simulator = s->simulator };
    r.id = recipe;
    for (size_t w = 0; w < s->out->n_of; w++)
        if (text_is(r.workload, s->out->of[w]) && is_new(&seen[w], r.system, s->a))
            survey_recipe(s, &sim, &r, &q, w);
    simulation_free(&sim);
    return true;
}

static int by_effect(const void *x, const void *y)
{
    const struct assumption *a = x, *b = y;
    if (a->largest != b->largest)
        return a->largest > b->largest ? -1 : 1;
    int by_path = strcmp(a->path, b->path);
    return by_path ? by_path : (int)a->line - (int)b->line;
}

static void rank(struct assumptions *all)
{
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->n_of; k++) {
            struct assumption *x = &all->items[i];
            x->largest = fmax(x->largest, fmax(x->effects[k].slower, -x->effects[k].faster));
        }
    sort_items(all->items, all->n, sizeof *all->items, by_effect);
}

bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, void (*progress)(void *user, size_t done, size_t of), void *user, struct arena *a, struct err *err)
{
    *out = (struct assumptions){ .of = of, .n_of = n_of };
    struct survey w = { .out = out, .simulator = s, .a = a };
    struct seen *seen = ARENA_ARRAY(a, struct seen, n_of);
    for (size_t i = 0; i < n_of; i++)
        seen[i].systems = ARENA_ROOM(a, const char *, n_recipes);
    for (size_t i = 0; i < n_recipes; i++) {
        if (!survey(&w, recipes[i], seen, err))
            return false;
        if (progress)
            progress(user, i + 1, n_recipes);
    }
    rank(out);
    return true;
}

/* ---- numbers in the code ------------------------------------------------------------------------------ */

static const struct code_assumption { const char *name; int value; const char *unit, *enters, *why; } in_code[] = {
#define X(name, value, unit, enters, why) { #name, value, unit, enters, why },
    COMPILER_ASSUMPTIONS(X)
#undef X
};
enum { N_IN_CODE = sizeof in_code / sizeof *in_code };
static const char in_code_path[] = "system-model/compiler/assumed.h";

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
    fprintf(f, "values that no source states for this part, and by how much halving or doubling one changes the step time at most, over all systems\n");
    fprintf(f, "%-26s %12s %-7s", "key", "value", "unit");
    for (size_t i = 0; i < all->n_of; i++)
        fprintf(f, "%22s", all->of[i]);
    fprintf(f, "  where, why\n");
    for (size_t i = 0; i < all->n; i++) {
        const struct assumption *x = &all->items[i];
        fprintf(f, "%-26s %12s %-7s", x->key, x->value, x->unit);
        for (size_t k = 0; k < all->n_of; k++)
            print_effect(f, &x->effects[k]);
        fprintf(f, "  %s:%u, %s\n", x->path, x->line, x->source);
    }
    fprintf(f, "\nin the code of the compiler model (%s), not varied here\n", in_code_path);
    for (int i = 0; i < N_IN_CODE; i++)
        fprintf(f, "%-26s %12d %-7s enters %s: %s\n", in_code[i].name, in_code[i].value, in_code[i].unit, in_code[i].enters, in_code[i].why);
}

static json_t *effect_json(const struct assumption_effect *e)
{
    return json_pack("{s:s, s:s?, s:I, s:f, s:f, s:b}", "workload", e->workload, "recipe", e->recipe, "systems", (json_int_t)e->n_recipes,
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
