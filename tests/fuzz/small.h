/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * small.h - what the fuzzers simulate: recipes whose simulation is a matter of milliseconds. Larger ones only cost time.
 */
#ifndef SMALL_H
#define SMALL_H
#include "workloads/recipe/recipe.h"

#include <string.h>

enum { MOST_MICRO_BATCH = 32, MOST_IPUS = 32, MOST_TOKENS = 512, MOST_OVERRIDES = 8 };
#define LAW(holds) ((holds) ? (void)0 : (fprintf(stderr, "broken: %s\n", #holds), abort()))

/* One override a line. */
struct texts { const char *items[MOST_OVERRIDES + 2]; size_t n; };

static inline struct texts lines_of(char *text)
{
    struct texts t = { .n = 0 };
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line && t.n < MOST_OVERRIDES; line = strtok_r(NULL, "\n", &rest))
        t.items[t.n++] = line;
    return t;
}

/* True if a recipe with overrides is small, on either side of a comparison; false if it is refused. Overrides may be
 * of sheet values. */
static inline bool is_small(const char *recipe, const char *recipes_dir, const char *const *sets, size_t n, uint64_t most_accumulation)
{
    struct arena a = {0};
    struct recipe r;
    const char **of_recipe = ARENA_ARRAY(&a, const char *, n + 1);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        const char *set = strncmp(sets[i], "a:", 2) == 0 ? sets[i] + 2 : sets[i];
        if (strncmp(set, "machine.", 8) != 0)
            of_recipe[n_kept++] = set;
    }
    bool small = recipe_load(&r, recipe, recipes_dir, of_recipe, n_kept, &a, NULL)
                 && r.model.micro_batch <= MOST_MICRO_BATCH && r.replicas * r.ipus_per_replica <= MOST_IPUS
                 && r.gradient_accumulation <= most_accumulation && r.model.sequence_length <= MOST_TOKENS;
    arena_free(&a);
    return small;
}
#endif
