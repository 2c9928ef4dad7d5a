/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words.c - suggestions for a mistyped command or list.
 */
#include "harness/harness.h"

static const char *other_word(const char *typed)
{
    static const struct { const char *typed, *meant; } words[] = {
        { "simulate", "run" }, { "predict", "run" }, { "estimate", "run" }, { "optimise", "search" }, { "optimize", "search" }, { "tune", "search" },
        { "memory", "fit" }, { "profile", "explain" }, { "why", "explain" }, { "models", "workloads" }, { "model", "workload" },
        { "systems", "machines" }, { "system", "machine" }, { "chips", "machines" }, { "runs", "recipes" }, { "settings", "keys" }, { "options", "keys" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_is(words[i].typed, typed))
            return words[i].meant;
    return NULL;
}

/* Suggests podbench's name if the typed word is another tool's name for a command or list, and otherwise the name with the nearest letters. */
const char *words_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a)
{
    const char *meant = other_word(typed);
    return meant && find_text(names, n, sizeof *names, 0, meant) ? arena_printf(a, "did you mean '%s'? ", meant) : names_suggestion(names, n, typed, a);
}
