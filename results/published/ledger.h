/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.h - the book of all published rows: what role each has, what configuration, and a hash of what it says.
 *
 * results/published/ledger/ledger.csv: id,role,configuration,hash,why. It only grows: the last line of an id holds. The first line of
 * an id needs no reason; every later one does (why). A row that left the tables ends with the role "removed". So no row changes its
 * side, its value or its configuration, and none disappears, without a line that says why.
 */
#ifndef LEDGER_H
#define LEDGER_H
#include "results/published/published.h"

struct ledger_line {
    const char *id, *role, *configuration, *hash, *why;
    uint32_t line;
};
struct ledger {
    const char *path;
    struct ledger_line *last; size_t n_last;    /* of each id, in the order in which ids first appear */
};

/* Refuses an unknown role, and a later line of an id that gives no reason. */
bool ledger_load(struct ledger *out, const char *path, struct arena *a, struct err *err);
const struct ledger_line *ledger_find(const struct ledger *l, const char *id);     /* NULL: not there */

/* What the row says, apart from its id, role and configuration: recipe, metric, value, unit. 16 hexadecimal digits. */
const char *figure_hash(const struct figure *f, struct arena *a);

/* The lines that would set the book right, each with what is wrong: none when it is. */
struct ledger_fault { const char *what; struct ledger_line wanted; };
struct ledger_faults { struct ledger_fault *items; size_t n, cap; };
void ledger_compare(struct ledger_faults *out, const struct ledger *l, const struct figures *figures, struct arena *a);
void ledger_write_line(FILE *f, const struct ledger_line *line);

#endif
