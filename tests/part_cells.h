/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_cells.h - the row of a measured part, written as "KIND;column=cell;column=cell".
 */
#ifndef TESTS_PART_CELLS_H
#define TESTS_PART_CELLS_H
#include "results/published/parts.h"

#include <stdlib.h>
#include <string.h>

/* A table of one row: the kind under kind_column, then the cells in their order. The text may begin with "kernel:" or "link:". */
static inline struct csv_table cells_of(const char *kind_column, const char *text, struct arena *a)
{
    const char *colon = strchr(text, ':');
    char *rest = arena_strdup(a, colon ? colon + 1 : text);
    const char *columns = kind_column, *cells = strsep(&rest, ";");
    while (rest) {
        char *cell = strsep(&rest, ";"), *equals = strchr(cell, '=');
        columns = arena_printf(a, "%s,%.*s", columns, (int)(equals - cell), cell);
        cells = arena_printf(a, "%s,%s", cells, equals + 1);
    }
    const char *csv = arena_printf(a, "%s\n%s\n", columns, cells);
    struct csv_table t;
    struct err err;
    bool good = csv_read_text(&t, "cells.csv", csv, strlen(csv), a, &err);
    if (!good)
        abort();
    return t;
}

static inline const struct kernel_case *kernel_of(const char *text, struct arena *a)
{
    struct csv_table t = cells_of("kernel", text, a);
    struct kernel_case *c = ARENA_ARRAY(a, struct kernel_case, 1);
    struct err err;
    if (!kernel_case_read(c, &t, t.rows, &err))
        abort();
    return c;
}

#endif
