/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unused.c - what was set and changes nothing: silence would pass for an effect that happens to be none.
 *
 * Keys of the recipe by their rules; values of sheets by a simulation without each: not unfolded, where one may take long.
 */
#include "harness/harness.h"
#include "results/simulate/energy.h"
#include <jansson.h>
#include <string.h>

/* The result, what its energy rests on, and the memory that its peak stands beside. */
static json_t *all_that_is_found(const struct simulation *sim, const struct result *r)
{
    struct power power;
    machine_power(&power, sim->machine, r->ipus);
    return json_pack("{s:o, s:o, s:I}", "result", result_json(r), "energy", energy_json(&power, r),
                     "tile_memory_bytes", (json_int_t)sim->machine->chip.tile_memory_bytes);
}

/* What answers are made of is the same where the sheets' own value stands in the place of the one that is set, whatever else is set. */
static bool is_idle_value(const json_t *found, size_t set, const char *recipe, const struct options *o, struct session *s)
{
    struct arena scratch = {0};
    struct simulation sim;
    struct result r;
    const char **others = ARENA_ARRAY(&scratch, const char *, o->n_sets);
    size_t n = 0;
    for (size_t i = 0; i < o->n_sets; i++)
        if (i != set)
            others[n++] = o->sets[i];
    bool idle = false;
    if (simulator_run(&s->simulator, &sim, &r, recipe, others, n, NULL)) {
        json_t *without = all_that_is_found(&sim, &r);
        idle = json_equal(found, without);
        json_decref(without);
    }
    simulation_free(&sim);
    arena_free(&scratch);
    return idle;
}

void tell_unused_keys(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                      struct arena *scratch)
{
    static const char of_sheets[] = WHAT_IF_SECTION ".";
    const char **unused, **names;
    size_t n = 0;
    recipe_unused_keys(&unused, &n, &sim->recipe, &sim->plan, scratch);
    names = ARENA_ARRAY(scratch, const char *, n + o->n_sets);
    memcpy(names, unused, n * sizeof *names);
    json_t *found = NULL;
    for (size_t i = 0; i < o->n_sets && !o->unfolded; i++) {
        if (strncmp(o->sets[i], of_sheets, strlen(of_sheets)) != 0)
            continue;
        found = found ? found : all_that_is_found(sim, r);
        if (is_idle_value(found, i, recipe, o, s))
            names[n++] = arena_printf(scratch, "%.*s", (int)strcspn(o->sets[i], "="), o->sets[i]);
    }
    json_decref(found);
    if (n)
        fprintf(stderr, "podbench: %s: no effect here: %s\n", sim->recipe.id, names_list(names, n, scratch));
}
