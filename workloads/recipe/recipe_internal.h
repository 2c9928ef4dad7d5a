/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_internal.h - the table of all keys of a recipe. Private to this folder.
 */
#ifndef RECIPE_INTERNAL_H
#define RECIPE_INTERNAL_H
#include "workloads/recipe/recipe.h"

struct recipe_key {
    const char *section;
    struct field field;
    bool (*matters)(const struct recipe *r);    /* NULL: always */
};
extern const struct recipe_key recipe_keys[];
extern const size_t n_recipe_keys;
extern const struct recipe recipe_defaults;     /* a recipe in which no key is given */

const struct recipe_key *recipe_key_find(const char *section, const char *key);     /* NULL if the table has no such key */
void recipe_place_entry(struct ini_entry *e);               /* looks the entry's key up, for all later recipe_key_of() */
const struct recipe_key *recipe_key_of(const struct ini_entry *e);      /* recipe_key_find() */
bool recipe_key_describes(const struct recipe_key *k);      /* the key documents a run, so it may have no effect */
/* True if the entry's key has no effect: recipe_unused_key() of a key that has no idle part alone. */
bool recipe_key_is_idle(const struct recipe *r, const struct plan *p, const struct ini_entry *e);
bool recipe_is_hyperparameter(const struct ini_entry *e);
bool recipe_takes_fault(const char *key);
bool recipe_times_first_steps(const struct recipe *r);  /* the recipe trains without a given end, so hosts.timed_steps has an effect */
bool recipe_may_converge(const struct recipe *r);       /* the recipe trains a benchmark with reference points */
bool recipe_is_packed(const struct recipe *r);          /* a row of the batch holds several sequences */
bool recipe_read_open(struct recipe *r, struct arena *a, struct err *err);      /* reads [open]; all other entries must be read before */
bool recipe_check_open(const struct ini_entry *e, const char *place, struct arena *a, struct err *err);     /* refuses a key that cannot be open */
/* "--set section.key=value", or file and line. */
const char *recipe_entry_place(const struct recipe *r, const struct ini_entry *e, struct arena *a);
/* field_set() of the entry's value, whose message begins with its place. */
bool recipe_set_field(void *record, const struct field *f, const struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err);
/* Fails with a message that lists the known keys or sections. */
bool recipe_unknown_key(const char *place, const struct ini_entry *e, struct arena *a, struct err *err);

#endif
