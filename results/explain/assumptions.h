/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assumptions.h - every number that enters time or memory without a source other than assumption, and what it could change at most.
 */
#ifndef ASSUMPTIONS_H
#define ASSUMPTIONS_H
#include "results/explain/inputs.h"

/* What a value does to the step of one workload: the largest changes when it is halved and doubled (a share: up to 1), over recipes
 * that read it. */
struct assumption_effect { const char *workload, *recipe; double slower, faster; size_t n_recipes; bool fit_changes; };
struct assumption {
    const char *key, *value, *unit, *source, *path;
    uint32_t line;
    struct assumption_effect *effects;  /* one a workload asked for */
    double largest;                     /* of them, either way */
};
struct assumptions { struct assumption *items; size_t n, cap; const char *const *of; size_t n_of; };

/* For each of the workloads one recipe a system, by name; the largest effect first. progress may be NULL. */
bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, void (*progress)(void *user, size_t done, size_t of), void *user, struct arena *a, struct err *err);
void assumptions_print(FILE *f, const struct assumptions *all);
struct json_t *assumptions_json(const struct assumptions *all);

#endif
