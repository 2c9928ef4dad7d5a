/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.c - the settings in which two simulations differ, and the steps from one to the other.
 */
#include "results/study/diff.h"

static struct diff_times times_of(const struct result *r)
{
    return (struct diff_times){ llround(r->step_time_s * 1e12), llround(1e15 / r->throughput_samples_per_s) };
}

static struct diff_times minus(struct diff_times x, struct diff_times y)
{
    return (struct diff_times){ x.step_ps - y.step_ps, x.sample_fs - y.sample_fs };
}

/* ---- what differs ------------------------------------------------------------------------------ */

struct diff_change { const char *set, *what; };
struct changes { struct diff_change *items; size_t n, cap; struct arena *a; };

static void add_change(struct changes *c, const char *name, const char *from, const char *to)
{
    LIST_ADD(c, c->a, (struct diff_change){ arena_printf(c->a, "%s=%s", name, to ? to : ""),
                                        arena_printf(c->a, "%s %s -> %s", name, from ? from : "not given", to ? to : "not given") });
}

static bool is_same(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

/* Adds the keys that differ. Names of system and framework are left out, because the values of their sheets are compared. */
static void compare_recipes(struct changes *out, const struct simulation *a, const struct simulation *b)
{
    struct recipe_setting *x, *y;
    size_t n = recipe_settings(&x, &a->recipe, out->a);
    recipe_settings(&y, &b->recipe, out->a);
    for (size_t i = 0; i < n; i++) {
        bool named = text_is(x[i].section, "recipe") && TEXT_IS_ONE_OF(x[i].field->name, "id", "source", "system", "framework");
        if (!named && !is_same(x[i].value, y[i].value))
            add_change(out, arena_printf(out->a, "%s.%s", x[i].section, x[i].field->name), x[i].value, y[i].value);
    }
}

/* True if a key outside [framework] decides this value; then that key is compared instead. */
static bool is_settled_elsewhere(const struct recipe *r, const char *framework_key)
{
    return r->steps_per_call >= 0 && text_is(framework_key, "steps_per_call");
}

/* Adds the frameworks' values that differ after sheets and recipes were applied. */
static void compare_frameworks(struct changes *out, const struct inputs *x, const struct inputs *y, const struct recipe *b)
{
    for (size_t i = 0; i < n_framework_fields; i++) {
        const char *name = arena_printf(out->a, "framework.%s", framework_fields[i].name);
        const struct input *from = input_find(x, name), *to = input_find(y, name);
        if (from && to && strcmp(from->value, to->value) != 0 && !is_settled_elsewhere(b, framework_fields[i].name))
            add_change(out, name, from->value, to->value);
    }
}

static const char *entry_value(const struct ini_entry *entries, size_t n, const char *key)
{
    const struct ini_entry *e = FIND_TEXT(entries, n, struct ini_entry, key, key);
    return e ? e->value : NULL;
}

static void compare_faults(struct changes *out, const struct recipe *a, const struct recipe *b)
{
    for (size_t i = 0; i < a->n_faults; i++) {
        const char *to = entry_value(b->faults, b->n_faults, a->faults[i].key);
        if (!is_same(a->faults[i].value, to))
            add_change(out, arena_printf(out->a, "faults.%s", a->faults[i].key), a->faults[i].value, to);
    }
    for (size_t i = 0; i < b->n_faults; i++)
        if (!entry_value(a->faults, a->n_faults, b->faults[i].key))
            add_change(out, arena_printf(out->a, "faults.%s", b->faults[i].key), NULL, b->faults[i].value);
}

/* False for names of further sheets. Constants that only one side's chip has are skipped, too, since they belong to a generation. */
static bool is_compared(const struct input *in)
{
    const char *key = strchr(in->name, '.') + 1;
    return !in->of_recipe && !text_is(key, "board") && !text_is(key, "chip");
}

static bool is_of_generation(const struct input *in)
{
    return strchr(strchr(in->name, '.') + 1, '.') != NULL;
}

static void compare_sheets(struct changes *out, const struct inputs *x, const struct inputs *y)
{
    for (const struct input *from = x->items; from < x->items + x->n; from++) {
        const struct input *to = input_find(y, from->name);
        bool differs = !to || strcmp(to->value, from->value) != 0;
        if (is_compared(from) && differs && (to || !is_of_generation(from)))
            add_change(out, from->name, from->value, to ? to->value : NULL);
    }
    for (const struct input *to = y->items; to < y->items + y->n; to++)
        if (is_compared(to) && !input_find(x, to->name) && !is_of_generation(to))
            add_change(out, to->name, NULL, to->value);
}

/* ---- the walk ------------------------------------------------------------------------------------ */

struct diff_walk {
    struct diff *out;
    const struct simulation_request *a;
    struct changes changes;
    bool *done;                         /* true for changes that have been made */
    const char **sets; size_t n_sets;   /* the settings of all changes made so far, in order */
    struct diff_times at;
};

/* Changes, by their index, that have not been made yet. */
struct change_group { size_t *items, n; };

static bool possible(struct result *r, struct diff_walk *w, const struct change_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        w->sets[w->n_sets + i] = w->changes.items[g->items[i]].set;
    return result_with(r, w->a, w->sets, w->n_sets + g->n, NULL);
}

static void take_change(struct diff_walk *w, const struct change_group *g, const struct result *r)
{
    struct diff_cause *c = &w->out->causes[w->out->n++];
    struct result alone;
    *c = (struct diff_cause){ .sets = ARENA_ARRAY(w->changes.a, const char *, g->n), .n_sets = g->n, .change = minus(times_of(r), w->at) };
    for (size_t i = 0; i < g->n; i++) {
        const struct diff_change *x = &w->changes.items[g->items[i]];
        c->sets[i] = w->sets[w->n_sets++] = x->set;
        c->what = i ? arena_printf(w->changes.a, "%s with %s", c->what, x->what) : x->what;
        w->done[g->items[i]] = true;
    }
    c->possible_alone = result_with(&alone, w->a, c->sets, c->n_sets, NULL);
    if (c->possible_alone)
        c->alone = minus(times_of(&alone), times_of(&w->out->a));
    w->at = times_of(r);
}

/* Makes the first change that is possible alone; false if there is none. */
static bool take_one(struct diff_walk *w)
{
    for (size_t i = 0; i < w->changes.n; i++) {
        struct change_group one = { &i, 1 };
        struct result r;
        if (!w->done[i] && possible(&r, w, &one)) {
            take_change(w, &one, &r);
            return true;
        }
    }
    return false;
}

/* Drops changes from the group that its others do not need. */
static void shrink(struct diff_walk *w, struct change_group *g)
{
    struct result r;
    for (size_t i = 0; i < g->n && g->n > 1; i++) {
        struct change_group fewer = { ARENA_ROOM(w->changes.a, size_t, g->n), 0 };
        for (size_t k = 0; k < g->n; k++)
            if (k != i)
                fewer.items[fewer.n++] = g->items[k];
        if (possible(&r, w, &fewer)) {
            *g = fewer;
            i--;
        }
    }
}

/* Makes several changes at once, if none is possible alone: the first few that are possible together. If none are, it takes B itself. */
static void use_change_group(struct diff_walk *w)
{
    struct change_group g = { ARENA_ROOM(w->changes.a, size_t, w->changes.n), 0 };
    struct result r;
    bool good = false;
    for (size_t i = 0; i < w->changes.n && !good; i++)
        if (!w->done[i]) {
            g.items[g.n++] = i;
            good = possible(&r, w, &g);
        }
    if (good) {
        shrink(w, &g);
        possible(&r, w, &g);
    }
    take_change(w, &g, good ? &r : &w->out->b);
}

static size_t left_over(const struct diff_walk *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->changes.n; i++)
        n += !w->done[i];
    return n;
}

static void walk_changes(struct diff_walk *w)
{
    for (size_t left; (left = left_over(w)) > 0; ) {
        if (!take_one(w))
            use_change_group(w);
        watch_report(&w->a->watch, "", w->changes.n - left, w->changes.n);
    }
}

static bool simulate_side(struct simulation *sim, struct result *r, const struct simulation_request *q, struct arena *a, struct err *err)
{
    if (!simulator_run(q->simulator, sim, r, q->recipe, q->overrides, q->n_overrides, err))
        return false;
    r->id = arena_strdup(a, r->id);
    r->workload = arena_strdup(a, r->workload);
    r->system = arena_strdup(a, r->system);
    return true;
}

bool diff_simulations(struct diff *out, const struct simulation_request *a, const struct simulation_request *b, struct arena *arena, struct err *err)
{
    struct simulation x = {0}, y = {0};
    *out = (struct diff){ .n = 0 };
    bool good = simulate_side(&x, &out->a, a, arena, err) && simulate_side(&y, &out->b, b, arena, err);
    if (good) {
        struct inputs of_x, of_y;
        struct diff_walk w = { .out = out, .a = a, .changes.a = arena, .at = times_of(&out->a) };
        compare_recipes(&w.changes, &x, &y);
        compare_faults(&w.changes, &x.recipe, &y.recipe);
        inputs_list(&of_x, &x, arena);
        inputs_list(&of_y, &y, arena);
        compare_frameworks(&w.changes, &of_x, &of_y, &y.recipe);
        compare_sheets(&w.changes, &of_x, &of_y);
        w.sets = ARENA_ROOM(arena, const char *, w.changes.n);
        w.done = ARENA_ARRAY(arena, bool, w.changes.n);
        out->causes = ARENA_ROOM(arena, struct diff_cause, w.changes.n);
        walk_changes(&w);
        out->whole = minus(times_of(&out->b), times_of(&out->a));
        out->rest = minus(times_of(&out->b), w.at);
    }
    simulation_free(&x);
    simulation_free(&y);
    return good;
}

/* ---- parts of two rows ------------------------------------------------------------------------------ */

struct diff_parts diff_parts(const struct result *a, const struct result *b)
{
    struct diff_parts d = { .whole_ps = minus(times_of(b), times_of(a)).step_ps };
    d.rounding_ps = d.whole_ps;
    for (int k = 0; k < N_PARTS; k++) {
        d.part_ps[k] = llround(b->breakdown_s[k] * 1e12) - llround(a->breakdown_s[k] * 1e12);
        d.rounding_ps -= d.part_ps[k];
    }
    return d;
}
