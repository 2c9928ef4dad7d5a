/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumptions.h - every number that enters time or memory without a source other than assumption, and what it could change at most.
 */
#ifndef ASSUMPTIONS_H
#define ASSUMPTIONS_H
#include "results/study/inputs.h"

/* What a value does to the step of one workload, or of all that are not asked for by name: the largest changes when it is halved and doubled
 * (a share: up to 1; a name or a flag: each other one), over recipes that read it, and the recipe that changes most. */
struct assumption_effect { const char *workload, *recipe; double slower, faster; size_t n_recipes; bool fit_changes; };
struct assumption {
    const char *key, *value, *unit, *source, *path;
    uint32_t line;
    struct assumption_effect *effects;  /* one a workload asked for, and the last for all others */
    const struct assumption_effect *most;   /* of them, either way */
};
struct assumptions { struct assumption *items; size_t n, cap; const char **of; size_t n_of; };

/* Every value on a sheet that is assumed, moved in every recipe that reads it; the largest effect first. of: workloads that are told one by
 * one. progress may be NULL. */
bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, void (*progress)(void *user, size_t done, size_t of), void *user, struct arena *a, struct err *err);
void assumptions_print(FILE *f, const struct assumptions *all);
struct json_t *assumptions_json(const struct assumptions *all);

#endif
