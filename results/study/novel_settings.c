/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * novel_settings.c - finds the settings of a configuration that no published run of its framework had.
 */
#include "results/study/gain.h"
#include "workloads/recipe/recipe.h"

/* The values that published runs had for one key: the range of numbers, and whether a run had the same word. */
struct had { bool same; double least, most; };

static const char *value_of_key(const struct recipe *r, const char *key, struct arena *a)
{
    const struct ini_entry *given = recipe_entry(r, key);
    const struct field *field = recipe_field(key);
    return given ? given->value : field ? field_text(field, r, a) : "";
}

static void note_their_value(struct had *had, const char *value, const char *theirs)
{
    double number;
    had->same |= text_is(value, theirs);
    if (parse_f64(theirs, &number)) {
        had->least = fmin(had->least, number);
        had->most = fmax(had->most, number);
    }
}

static bool is_novel(const struct had *had, const char *value)
{
    double number;
    return !had->same && !(parse_f64(value, &number) && number >= had->least && number <= had->most);
}

void settings_never_published(struct novel_settings *out, const char *const *settings, size_t n, const struct references *r, const struct properties *at,
                              const char *recipes_dir, struct arena *a)
{
    struct had *had = ARENA_ARRAY(a, struct had, n + 1);
    *out = (struct novel_settings){0};
    for (size_t i = 0; i < n; i++)
        had[i] = (struct had){ .least = INFINITY, .most = -INFINITY };
    for (size_t k = 0; k < r->n; k++) {
        struct recipe theirs;
        if (!property_names_equal(&r->items[k].at, at, BY_FRAMEWORK) || !property_names_equal(&r->items[k].at, at, BY_MODE)
            || !recipe_load(&theirs, r->items[k].recipe, recipes_dir, NULL, 0, a, NULL))
            continue;
        out->n_runs++;
        for (size_t i = 0; i < n; i++) {
            const char *equals = strchr(settings[i], '=');
            note_their_value(&had[i], equals + 1, value_of_key(&theirs, arena_printf(a, "%.*s", (int)(equals - settings[i]), settings[i]), a));
        }
    }
    for (size_t i = 0; i < n && out->n < sizeof out->settings / sizeof *out->settings; i++)
        if (strncmp(settings[i], "parallel.layers_per_ipu=", 24) != 0 && is_novel(&had[i], strchr(settings[i], '=') + 1))
            out->settings[out->n++] = settings[i];
}
