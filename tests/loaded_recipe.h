/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loaded_recipe.h - one of the project's recipes with overrides, and the planner's options that it becomes.
 */
#ifndef LOADED_RECIPE_H
#define LOADED_RECIPE_H
#include "tests/check.h"
#include "workloads/recipe/recipe_internal.h"

static const char recipes[] = "workloads/recipes", pod16[] = "mlperf-v1.1-closed-ipu-pod16-bert-large";

struct loaded { struct arena a; struct recipe r; struct plan_request o; struct err err; };

static inline bool load(struct loaded *l, const char *id, const char *const *overrides, size_t n)
{
    *l = (struct loaded){ 0 };
    return recipe_load(&l->r, id, recipes, overrides, n, &l->a, &l->err) && recipe_plan_request(&l->o, &l->r, &l->a, &l->err);
}

#define LOAD(l, id, ...) \
    load(l, id, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* "a.b=c d.e=f": overrides with blanks between. */
static inline bool load_words(struct loaded *l, const char *id, const char *words)
{
    struct arena a = { 0 };
    const char *overrides[16];
    size_t n = 0;
    for (char *at = arena_strdup(&a, words), *word; (word = strsep(&at, " ")); )
        if (*word)
            overrides[n++] = word;
    bool good = load(l, id, overrides, n);
    arena_free(&a);
    return good;
}

static inline const char *value_in(const struct ini_entry *entries, size_t n, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < n; i++)
        if (text_is(entries[i].key, key)) {
            assert_null(value);
            value = entries[i].value;
        }
    return value;
}

#endif
