/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unused.c - what was set and changes nothing: silence would pass for an effect that happens to be none.
 *
 * Keys of the recipe by their rules; values of sheets by a simulation without each, and with each that may stand in its place: not
 * unfolded, where one may take long.
 */
#include "harness/harness.h"
#include "results/simulate/energy.h"
#include <jansson.h>
#include <string.h>

enum { MOST_TRIED = 16 };             /* of the values of one key, the first and the last among them */

static const char *key_of(const char *setting, struct arena *a)
{
    return arena_printf(a, "%.*s", (int)strcspn(setting, "="), setting);
}

/* The result, what its energy rests on, and the memory that its peak stands beside. */
static json_t *all_that_is_found(const struct simulation *sim, const struct result *r)
{
    struct power power;
    machine_power(&power, sim->machine, r->ipus);
    return json_pack("{s:o, s:o, s:I}", "result", result_json(r), "energy", energy_json(&power, r),
                     "tile_memory_bytes", (json_int_t)sim->machine->chip.tile_memory_bytes);
}

/* Whether all that is found is the same with another text, or none (NULL), in the place of one setting, whatever else is set. */
static bool is_found_again(const json_t *found, const struct configuration *c, size_t at, const char *instead, struct session *s)
{
    struct arena scratch = {0};
    struct simulation sim;
    struct result r;
    const char **texts = ARENA_ARRAY(&scratch, const char *, c->n);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (i != at || instead)
            texts[n++] = i == at ? instead : c->settings[i].text;
    bool same = simulator_run(&s->simulator, &sim, &r, c->recipe, texts, n, NULL);
    if (same) {
        json_t *again = all_that_is_found(&sim, &r);
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

/* Their keys, and what the recipe itself sets in vain. */
static const char **unused_keys(size_t *n, const struct simulation *sim, const struct result *r, const struct configuration *c,
                                struct session *s, struct arena *a)
{
    const char **unused, **names;
    json_t *found = NULL;
    recipe_unused_keys(&unused, n, &sim->recipe, &sim->plan, a);
    names = ARENA_ARRAY(a, const char *, *n + c->n);
    memcpy(names, unused, *n * sizeof *names);
    for (size_t i = 0; i < c->n && !s->paths.unfolded; i++) {
        if (!is_what_if(c->settings[i].text))
            continue;
        found = found ? found : all_that_is_found(sim, r);
        if (is_idle_value(found, c, i, s))
            names[(*n)++] = key_of(c->settings[i].text, a);
    }
    json_decref(found);
    return names;
}

void tell_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch)
{
    struct configuration c = { .recipe = recipe };
    size_t n;
    configuration_add(&c, o->sets, o->n_sets, scratch);
    const char **names = unused_keys(&n, sim, r, &c, s, scratch);
    if (n)
        fprintf(stderr, "podbench: %s: no effect here: %s\n", sim->recipe.id, names_list(names, n, scratch));
}

/* ---- one configuration of many --------------------------------------------------------------------------- */

void configuration_add(struct configuration *c, const char *const *texts, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        c->settings = arena_grow(a, c->settings, c->n, &c->cap, sizeof *c->settings);
        c->settings[c->n++] = (struct setting){ .text = texts[i] };
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

static bool is_set(const struct configuration *c, const char *key)
{
    size_t n = strcspn(key, " ");       /* what follows says which part of it */
    for (size_t i = 0; i < c->n; i++)
        if (!c->settings[i].is_choice && strncmp(c->settings[i].text, key, n) == 0 && c->settings[i].text[n] == '=')
            return true;
    return false;
}

/* What the sheets settle: their values, and whether a program's habits cost anything on them. */
static bool rests_on_sheets(const struct configuration *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (is_what_if(c->settings[i].text) || strncmp(c->settings[i].text, "framework.", strlen("framework.")) == 0)
            return true;
    return false;
}

static bool find_idle(const char ***names, size_t *n, const struct configuration *c, struct session *s, struct arena *a)
{
    struct simulation sim;
    struct recipe recipe;
    struct result r;
    const char **texts = ARENA_ARRAY(a, const char *, c->n);
    for (size_t i = 0; i < c->n; i++)
        texts[i] = c->settings[i].text;
    if (!rests_on_sheets(c))
        return recipe_load(&recipe, c->recipe, s->paths.recipes_dir, texts, c->n, a, NULL) && recipe_unused_keys(names, n, &recipe, NULL, a);
    if (!simulator_run(&s->simulator, &sim, &r, c->recipe, texts, c->n, NULL))
        return false;
    *names = unused_keys(n, &sim, &r, c, s, a);
    simulation_free(&sim);
    return true;
}

void tell_idle_settings(const struct configuration *c, const char *where, struct session *s)
{
    struct arena scratch = {0};
    struct progress p;
    const char **names;
    size_t n;
    progress_start(&p, "looking for settings without effect");
    s->simulator.watch = (struct watch){ progress_tell, &p };
    bool good = find_idle(&names, &n, c, s, &scratch);
    s->simulator.watch = (struct watch){ NULL, NULL };
    progress_end(&p);
    for (size_t i = 0; good && i < n; i++)
        if (is_set(c, names[i]))
            fprintf(stderr, "podbench: %s: %s has no effect in the %s configuration\n", c->recipe, names[i], where);
    arena_free(&scratch);
}
