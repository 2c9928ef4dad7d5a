/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance.c - what made a result.
 *
 * The hash is XXH3 over the recipe's entries with overrides, and over each row of each sheet that was read, with overrides. File names are not
 * hashed, so that a copied sheet with the same values has the same hash.
 */
#include "results/simulate/simulate.h"
#include <jansson.h>

static uint64_t hash_value(const char *text, uint64_t seed)
{
    return text ? hash_bytes(text, strlen(text) + 1, seed) : seed;
}

static uint64_t hash_inputs(const struct simulation *sim)
{
    const struct sheet *sheets[MAX_SHEETS];
    size_t n = simulation_sheets(sheets, sim);
    uint64_t h = 0;
    for (size_t i = 0; i < sim->recipe.n_entries; i++) {
        const struct ini_entry *e = &sim->recipe.entries[i];
        bool names_it = text_is(e->section, "recipe") && (text_is(e->key, "id") || text_is(e->key, "source") || text_is(e->key, "system"));
        if (!names_it && !text_is(e->section, "open"))      /* open readings do not change the answer, so they are not hashed */
            h = hash_value(e->value, hash_value(e->key, hash_value(e->section, h)));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sheets[i]->n_rows; k++) {
            const struct sheet_row *row = &sheets[i]->rows[k];
            bool names_it = text_is(row->key, "chip") || text_is(row->key, "board");
            h = names_it ? h : hash_value(row->value, hash_value(row->key, h));
        }
    return h;
}

void result_provenance(struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides)
{
    r->version = PODBENCH_VERSION;
    r->overrides = names_joined(overrides, n_overrides, "; ", &sim->arena);
    r->inputs = arena_printf(&sim->arena, "xxh3:%016" PRIx64, hash_inputs(sim));
}

json_t *provenance_json(const struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides)
{
    const struct sheet *sheets[MAX_SHEETS];
    size_t n = simulation_sheets(sheets, sim);
    json_t *paths = json_array(), *sets = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(paths, json_string(sheets[i]->path));
    for (size_t i = 0; i < n_overrides; i++)
        json_array_append_new(sets, json_string(utf8_text(overrides[i], &sim->arena)));
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:s}", "podbench", r->version, "format", RESULT_FORMAT, "recipe", sim->recipe.path, "overrides", sets, "sheets", paths,
                     "inputs", r->inputs);
}
