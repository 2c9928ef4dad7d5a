/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if.h - values given for one simulation that take the place of those on the sheets: machine.clock_hz=2e9.
 *
 * One name for every sheet: chip, board, system, what was fitted, software. A sheet's loader checks such a value as it checks its own.
 */
#ifndef WHAT_IF_H
#define WHAT_IF_H
#include "system-model/machine/machine.h"

#define WHAT_IF_SECTION "machine"

struct what_if { const char *key, *value; bool used; };         /* an empty value takes the row away */
/* Sheets as they stand in their files, each read once, in an arena that outlives what is taken from it. */
struct shelf { struct sheet *sheets; size_t n, cap; struct arena *arena; };
struct what_ifs { struct what_if *items; size_t n; struct shelf *shelf; };      /* the last one of a key holds; shelf NULL: sheets are read anew */

/* Whether an override is of a sheet's value, "machine.KEY=value", and not of a recipe's key. */
bool is_what_if(const char *override);
/* Parts "machine.KEY=value" from the other overrides, which keep their order in rest. */
bool what_ifs_take(struct what_ifs *out, const char ***rest, size_t *n_rest, const char *const *overrides, size_t n_overrides,
                   struct arena *a, struct err *err);
/* The sheet as it stands in its file, with rows of its own. w may be NULL. */
bool what_ifs_sheet(struct sheet *out, const struct what_ifs *w, const char *path, struct arena *a, struct err *err);
/* Puts the values of rows that the sheet has; marks them used. out may be NULL or empty: nothing changes. */
void what_ifs_replace(struct sheet *s, const struct what_ifs *w, struct arena *a);
/* The whole of that: a sheet that is there is read, its values replaced, each row handed to set; one that is not has no rows. */
typedef bool what_ifs_set_row(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err);
bool what_ifs_load(struct sheet *s, const struct what_ifs *w, const char *path, what_ifs_set_row *set, void *out, struct arena *a, struct err *err);
/* Adds a row to the sheet and marks the value used. */
void what_if_add(struct sheet *s, struct what_if *w, const char *unit, struct arena *a);
/* Refuses values that no sheet took. names: keys to offer. */
bool what_ifs_check(const struct what_ifs *w, const char *names, struct err *err);
/* "path:12: key", or the override that set it: the head of a message. */
const char *sheet_row_place(const struct sheet *s, const struct sheet_row *row, struct arena *a);

#endif
