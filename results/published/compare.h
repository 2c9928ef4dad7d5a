/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - two tables of the same shape, cell by cell: what moved, by how much, for better or worse.
 *
 * What made a row (its version, its inputs' hash) is no prediction, and is passed over.
 * Exact: cells are compared as text. The model is deterministic, so any difference is a change someone made.
 */
#ifndef COMPARE_H
#define COMPARE_H
#include "system-model/base/base.h"

enum change_kind { CHANGE_CELL, CHANGE_ROW_GONE, CHANGE_ROW_NEW, CHANGE_COLUMN_GONE, CHANGE_COLUMN_NEW };
struct change {
    enum change_kind kind;
    const char *id, *column;            /* id: first cell of the row; NULL for columns. column: NULL for rows */
    const char *before, *after;         /* cells */
    bool is_number;                     /* both cells are, and before is not 0 */
    double relative;                    /* after / before - 1, when is_number */
    int verdict;                        /* +1 better, -1 worse, 0 neither or unknown */
};
struct comparison { struct change *items; size_t n, cap; size_t n_rows, n_columns; };

/* Rows are matched by their first column, which must be "id" and must not repeat. */
bool compare_tables(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                    struct arena *a, struct err *err);
void compare_print_text(FILE *f, const struct comparison *c);
/* Of a check's table with columns role and error, as its summary counts them: over the configurations of runs, kernels and links; n 0: none.
 * By counts_as, where there is such a column. */
struct error_summary { size_t n; double median, mean; };
struct error_summary errors_of_role(const struct csv_table *check, const char *role, struct arena *scratch);
/* For tables with columns role and error: the accuracy by role, before and after. Prints nothing for others. */
void compare_print_accuracy(FILE *f, const struct csv_table *base, const struct csv_table *run, struct arena *scratch);
struct json_t *compare_json(const struct comparison *c);

#endif
