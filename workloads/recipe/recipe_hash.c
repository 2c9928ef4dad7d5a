/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_hash.c - a hash of the values of a recipe that its simulation reads.
 *
 * It is the sum of the XXH3 of each key with its value, so that order does not matter, and leaves out what is at its
 * default, what has no effect, what only documents and what other readings say. A new key at its default therefore
 * changes no hash. Values are hashed as they were understood: 0.0001 is 1e-4. An ONNX file counts by its bytes, not its name.
 */
#include "system-model/graph/graph.h"
#include "system-model/machine/framework.h"
#include "workloads/recipe/recipe_internal.h"
#include <string.h>

static uint64_t hash_of_setting(const char *section, const char *key, const char *value)
{
    return hash_bytes(value, strlen(value) + 1, hash_bytes(key, strlen(key) + 1, hash_bytes(section, strlen(section) + 1, 0)));
}

static bool graph_file_hash(uint64_t *out, const char *path, struct arena *a, struct err *err)
{
    size_t n;
    FILE *f = open_regular(&n, path, err);
    if (!f)
        return false;
    char *bytes = arena_alloc(a, n + 1);
    bool good = fread(bytes, 1, n, f) == n || fail(err, "%s: cannot be read", path);
    fclose(f);
    *out = good ? hash_bytes(bytes, n, 0) : 0;
    return good;
}

/* Hashes those lines of the operators' sheet whose operation the ONNX file may name, by key and value. */
static bool operators_hash(uint64_t *out, const struct recipe *r, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = 0;
    if (!csv_load(&t, r->model.operators, a, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++) {
        const char *name = csv_cell(&t, &t.rows[i], "name");
        if (file_has_text(r->model.file, name))
            *out += hash_of_setting(name, csv_cell(&t, &t.rows[i], "key"), csv_cell(&t, &t.rows[i], "value"));
    }
    return true;
}

/* False for what names the recipe, what documents it, and what has no effect in it. */
static bool shapes_the_run(const struct recipe_key *k, const struct recipe *r)
{
    bool names_it = text_is(k->section, "recipe") && (text_is(k->field.name, "id") || text_is(k->field.name, "source") || text_is(k->field.name, "no_figure"));
    return !names_it && (!k->matters || k->matters(r));
}

/* True if the value is the key's default; for the images of a built-in model, bytes are a default, too. */
static bool is_default(const struct recipe_key *k, const struct recipe *r)
{
    const void *value = (const char *)r + k->field.offset, *usual = (const char *)&recipe_defaults + k->field.offset;
    return memcmp(value, usual, field_bytes(&k->field)) == 0 || (value == &r->model.input_type && !r->model.file && r->model.input_type == INPUT_UINT8);
}

/* A number in its shortest form that reads back, as in fields; other text as it is. */
static const char *plain_value(const char *text, struct arena *a)
{
    double x;
    return parse_f64(text, &x) ? arena_printf(a, "%.15g", x) : text;
}

static uint64_t entries_hash(const char *section, const struct ini_entry *entries, size_t n, const struct recipe *r, const struct plan *p, struct arena *a)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!p || !recipe_key_is_idle(r, p, &entries[i]))
            sum += hash_of_setting(section, entries[i].key, plain_value(entries[i].value, a));
    return sum;
}

/* True if the recipe sets this key, and the plan shows that it has no effect. */
static bool is_idle_by_plan(const struct recipe_key *k, const struct recipe *r, const struct plan *p, struct arena *a)
{
    const struct ini_entry *e = p ? recipe_entry(r, arena_printf(a, "%s.%s", k->section, k->field.name)) : NULL;
    return e && recipe_key_is_idle(r, p, e);
}

bool recipe_hash(const char **out, const struct recipe *r, const struct plan *p, struct arena *a, struct err *err)
{
    uint64_t sum = 0, of_file;
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct recipe_key *k = &recipe_keys[i];
        const char *value = field_text(&k->field, r, a);
        if (!shapes_the_run(k, r) || is_default(k, r) || is_idle_by_plan(k, r, p, a))
            continue;
        bool is_workload = text_is(k->field.name, "workload"), is_sheet = text_is(k->field.name, "operators");
        if (r->model.file && text_is(k->section, "recipe") && (is_workload || is_sheet)) {
            if (is_workload ? !graph_file_hash(&of_file, r->model.file, a, err) : !operators_hash(&of_file, r, a, err))
                return false;
            value = arena_printf(a, "%016" PRIx64, of_file);
        }
        sum += hash_of_setting(k->section, k->field.name, value);
    }
    sum += entries_hash("framework", r->framework_settings, r->n_framework_settings, r, p, a) + entries_hash("faults", r->faults, r->n_faults, r, NULL, a);
    if (r->model.dimensions)
        sum += hash_of_setting("data", "dimensions", r->model.dimensions);
    *out = arena_printf(a, "%016" PRIx64, sum);
    return true;
}
