/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unused.c - warnings of keys that have no effect.
 *
 * Keys in a recipe's file are judged by rules about keys. Keys on the command line are also tried: a simulation without the setting, or one
 * with any of its alternatives, must give another result. Rules see the value that is set: a limit of 0 is no limit,
 * and its key looks idle. A trial without the setting then overrules the rule. --unfolded skips the trials, which may take long. There is no warning for a setting
 * that repeats the recipe's own value, nor for one that all configurations of a sweep or search share, because that may be on purpose. Each
 * trial plans afresh, so that its answer does not depend on plans of other configurations.
 */
#include "harness/harness.h"
#include <jansson.h>

enum { MOST_TRIED = 16 };             /* the most alternatives tried for a key, including the first and the last */

/* Everything that a setting could change: the result, its power, and the memory of each IPU. A published outcome is left out. */
static json_t *all_findings(const struct simulation *sim, const struct result *r)
{
    struct result counted = *r;
    counted.fits = sim->plan.fits;
    counted.fits_probability = r->fits_probability_counted;
    counted.fits_published = NULL;
    json_t *used_bytes = json_array(), *result = result_json(&counted);
    result_json_add_groups(result, &counted);
    for (uint32_t i = 0; i < sim->plan.request.ipus_per_replica; i++)
        json_array_append_new(used_bytes, json_integer((json_int_t)sim->plan.memory[i].total_bytes));
    return json_pack("{s:o, s:o, s:I}", "result", result, "used_bytes", used_bytes,
                     "tile_memory_bytes", (json_int_t)sim->machine->chip.tile_memory_bytes);
}

/* True if a later setting has the same key, so that this one does not count. */
static bool is_replaced(const struct configuration *c, size_t at)
{
    for (size_t i = at + 1; i < c->n; i++)
        if (text_is(c->settings[i].key, c->settings[at].key))
            return true;
    return false;
}

/* True if the findings stay the same when one key's settings are replaced by another text, or left out (NULL). Settings found idle are left
 * out, too, so that of two settings which make each other idle only one is idle. */
static bool is_found_again(const json_t *found, const struct configuration *c, size_t at, const char *instead, struct session *s)
{
    struct arena scratch = {0};
    struct simulation sim;
    struct result r;
    const char **texts = ARENA_ARRAY(&scratch, const char *, c->n);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (i == at && instead)
            texts[n++] = instead;
        else if (!text_is(c->settings[i].key, c->settings[at].key) && !c->settings[i].is_idle)
            texts[n++] = c->settings[i].text;
    const struct simulator_options before = s->simulator.options;
    s->simulator.options.afresh = true;
    bool same = simulator_run(&s->simulator, &sim, &r, c->recipe, texts, n, NULL);
    s->simulator.options = before;
    if (same) {
        json_t *again = all_findings(&sim, &r);
        same = json_equal(found, again);
        json_decref(again);
        simulation_free(&sim);
    }
    arena_free(&scratch);
    return same;
}

static bool is_idle_value(const json_t *found, const struct configuration *c, size_t at, struct session *s)
{
    const struct setting *x = &c->settings[at];
    bool idle = is_found_again(found, c, at, NULL, s);
    for (size_t i = 0; i < x->n_others && idle; i++)
        idle = !*x->others[i] || text_is(x->others[i], x->text) || is_found_again(found, c, at, x->others[i], s);
    return idle;
}

static bool begins_with(const char *key, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(key, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

/* True if the setting repeats the value in the recipe's file, or the default of a choice or flag. */
static bool repeats_own_value(const struct recipe *own, const struct setting *x, struct arena *a)
{
    const char *value = strchr(x->text, '=') + 1;
    const struct ini_entry *entry = recipe_entry(own, x->key);
    struct recipe_setting *keys;
    size_t n = recipe_settings(&keys, own, a);
    for (size_t i = 0; i < n && !entry; i++)
        if (text_is(x->key, arena_printf(a, "%s.%s", keys[i].section, keys[i].field->name)))
            return text_is(value, keys[i].field->choices ? keys[i].field->choices[0] : keys[i].field->type == FIELD_BOOL ? "no" : "");
    return entry && text_is(entry->value, value);
}

/* True if the setting is judged by simulations. Simulations do not draw runs, so only rules judge keys that shape drawn runs. */
static bool is_tried(const struct configuration *c, size_t at, const struct recipe *own, struct arena *a)
{
    static const char *const of_draws[] = { "recipe.", "data.", "optimizer.", "training.", NULL }, *const of_interval[] = { "open.", NULL };
    const struct setting *x = &c->settings[at];
    return !is_replaced(c, at) && !begins_with(x->key, of_interval)
        && (is_sheet_override(x->text) || (!c->is_of_many && !(c->draws && begins_with(x->key, of_draws)) && !repeats_own_value(own, x, a)));
}

/* True if the list of unused keys has this key. An entry may have further words after a blank, about a part of the key. */
static bool is_named(const char *const *names, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcspn(names[i], " ") == strlen(key) && strncmp(names[i], key, strlen(key)) == 0)
            return true;
    return false;
}

/* Removes the entries that are equal to the key, and returns how many entries are left. */
static size_t without_name(const char **names, size_t n, const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!text_is(names[i], key))
            names[kept++] = names[i];
    return kept;
}

/* True for keys that change the numbers of an execution, but no time. */
static bool shapes_numbers(const char *name)
{
    return text_is(name, "precision.stochastic_rounding") || text_is(name, "precision.loss_scale");
}

/* Lists the settings without effect, and such keys of the recipe itself. Settings that the rules call idle are tried first. Those that prove to be
 * idle are left out of the trials of all others. */
static const char **unused_keys(size_t *n, const struct simulation *sim, const struct result *r, struct configuration *c,
                                struct session *s, struct arena *a)
{
    const char **unused, **names;
    struct recipe own = {0};
    json_t *found = NULL;
    recipe_unused_keys(&unused, n, &sim->recipe, &sim->plan, a);
    names = ARENA_ARRAY(a, const char *, *n + c->n);
    memcpy(names, unused, *n * sizeof *names);
    recipe_load(&own, c->recipe, s->paths.recipes_dir, NULL, 0, a, NULL);       /* if the recipe cannot be loaded, `own` stays empty */
    const size_t n_ruled = *n, n_trials = s->paths.unfolded ? 0 : 2 * c->n;
    for (size_t trial = 0; trial < n_trials; trial++) {
        size_t i = trial % c->n;
        struct setting *x = &c->settings[i];
        bool is_ruled = is_named(unused, n_ruled, x->key);
        if (is_ruled != (trial < c->n) || !is_tried(c, i, &own, a))
            continue;
        found = found ? found : all_findings(sim, r);
        x->is_idle = is_ruled ? is_found_again(found, c, i, NULL, s) : is_idle_value(found, c, i, s);
        if (x->is_idle && !is_ruled)
            names[(*n)++] = x->key;
        if (is_ruled && !x->is_idle)
            *n = without_name(names, *n, x->key);
    }
    json_decref(found);
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (!s->executes || !shapes_numbers(names[i]))
            names[kept++] = names[i];
    *n = kept;
    return names;
}

void warn_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch)
{
    struct configuration c = { .recipe = recipe, .draws = o->runs || o->mllog };
    size_t n;
    configuration_add(&c, o->sets, o->n_sets, scratch);
    const char **names = unused_keys(&n, sim, r, &c, s, scratch);
    if (n)
        fprintf(s->log, "podbench: %s: no effect here: %s\n", sim->recipe.id, names_list(names, n, scratch));
}

size_t settings_that_matter(const char **settings, size_t n, const char *recipe, const char *const *sets, size_t n_sets, struct session *s)
{
    struct arena scratch = {0};
    struct configuration c = { .recipe = recipe };
    struct simulation sim;
    struct result r;
    size_t kept = 0;
    configuration_add(&c, sets, n_sets, &scratch);
    configuration_add(&c, settings, n, &scratch);
    const char **texts = TEXTS_OF(c.settings, c.n, struct setting, text, &scratch);
    if (n == 0 || s->paths.unfolded || !simulator_run(&s->simulator, &sim, &r, recipe, texts, c.n, NULL)) {
        arena_free(&scratch);
        return n;
    }
    json_t *found = all_findings(&sim, &r);
    for (size_t i = n_sets; i < c.n; i++) {
        c.settings[i].is_idle = is_found_again(found, &c, i, NULL, s);
        if (!c.settings[i].is_idle)
            settings[kept++] = texts[i];
    }
    json_decref(found);
    simulation_free(&sim);
    arena_free(&scratch);
    return kept;
}

/* ---- one configuration of many --------------------------------------------------------------------------- */

bool setting_is_of(const char *setting, const char *key)
{
    size_t n = strlen(key);
    return strncmp(setting, key, n) == 0 && setting[n] == '=';
}

void configuration_add(struct configuration *c, const char *const *texts, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        const char *key = arena_printf(a, "%.*s", (int)strcspn(texts[i], "="), texts[i]);
        ARENA_APPEND(a, c->settings, c->n, c->cap, (struct setting){ .text = texts[i], .key = key });
    }
}

void configuration_vary(struct configuration *c, const char *text, const char *const *others, size_t n, size_t stride, struct arena *a)
{
    configuration_add(c, &text, 1, a);
    struct setting *x = &c->settings[c->n - 1];
    size_t n_tried = min_u64(n, MOST_TRIED);
    x->others = ARENA_ARRAY(a, const char *, n_tried);
    for (size_t i = 0; i < n_tried; i++)
        x->others[x->n_others++] = others[(n_tried > 1 ? i * (n - 1) / (n_tried - 1) : 0) * stride];
}

/* True if `name` is a key that the user has set. */
static bool is_set(const struct configuration *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->settings[i].is_choice && is_named(&name, 1, c->settings[i].key))
            return true;
    return false;
}

/* True if only a simulation can judge the settings, since they are sheet values, or framework keys whose effect depends on sheets. */
static bool rests_on_sheets(const struct configuration *c)
{
    static const char *const of_framework[] = { "framework.", NULL };
    for (size_t i = 0; i < c->n; i++)
        if (is_sheet_override(c->settings[i].text) || begins_with(c->settings[i].key, of_framework))
            return true;
    return false;
}

static bool find_idle(const char ***names, size_t *n, struct configuration *c, struct session *s, struct arena *a)
{
    struct simulation sim;
    struct recipe recipe;
    struct result r;
    const char **texts = TEXTS_OF(c->settings, c->n, struct setting, text, a);
    if (!rests_on_sheets(c))
        return recipe_load(&recipe, c->recipe, s->paths.recipes_dir, texts, c->n, a, NULL) && recipe_unused_keys(names, n, &recipe, NULL, a);
    if (!simulator_run(&s->simulator, &sim, &r, c->recipe, texts, c->n, NULL))
        return false;
    *names = unused_keys(n, &sim, &r, c, s, a);
    simulation_free(&sim);
    return true;
}

void warn_idle_settings(struct configuration *c, const char *where, json_t *notes, struct session *s)
{
    struct arena scratch = {0};
    struct progress p;
    const char **names;
    size_t n;
    progress_start(&p, s->log, "looking for settings without effect");
    s->simulator.watch = (struct watch){ progress_report, &p };
    bool good = find_idle(&names, &n, c, s, &scratch);
    s->simulator.watch = (struct watch){ NULL, NULL };
    progress_end(&p);
    for (size_t i = 0; good && i < n; i++)
        if (is_set(c, names[i])) {
            const char *note = arena_printf(&scratch, "%s: %s has no effect in the %s configuration", c->recipe, names[i], where);
            fprintf(s->log, "podbench: %s\n", note);
            json_array_append_new(notes, json_string(note));
        }
    arena_free(&scratch);
}
