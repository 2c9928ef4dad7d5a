/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * space.h - the configurations of a sweep: recipes times axes, each numbered.
 *
 * An axis sets one key, or several in parallel. Configuration 1 takes the first value of every axis; the last axis varies fastest.
 */
#ifndef SPACE_H
#define SPACE_H
#include "system-model/base/base.h"

struct axis {
    const char **keys; size_t n_keys;
    const char **settings; size_t n;        /* value i of key k: settings[i * n_keys + k], as "key=value" */
};
struct space {
    const char *const *recipes; size_t n_recipes;
    struct axis *axes; size_t n_axes, cap_axes;
    size_t n_keys;                          /* of all axes */
    uint64_t n;                             /* configurations */
};

void space_start(struct space *s, const char *const *recipes, size_t n_recipes);
/* "key=values". Values: a,b,c; or a;b;c, where they hold commas; or FROM..TO, FROM..TO+STEP, FROM..TO*FACTOR. A value that a
 * list names twice is refused, and so is a step of a --zip or a row of a table that sets the same again. */
bool space_over(struct space *s, const char *text, struct arena *a, struct err *err);
/* Several such texts, as long as each other: one axis that sets all of their keys. */
bool space_zip(struct space *s, const char *const *texts, size_t n, struct arena *a, struct err *err);
/* A table whose columns are keys: one axis of its rows. An empty cell leaves the key as the recipe has it. */
bool space_from(struct space *s, const char *path, struct arena *a, struct err *err);
/* Multiplies up; refuses a key that two axes set, and more configurations than can be numbered. */
bool space_close(struct space *s, struct err *err);

/* Configuration `number` (from 0): its recipe, and room for n_keys settings, "" where the recipe's own holds. */
const char *space_configuration(const char **settings, const struct space *s, uint64_t number);

#endif
