/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - a measured part, from the cells of its row.
 */
#include "results/published/parts.h"

bool part_is_in(const struct part_field *fields, const struct csv_table *t, const struct csv_row *row)
{
    return *csv_cell(t, row, fields->field.name) != 0;
}

static bool read_part_cell(void *out, const struct part_field *f, const char *cell, const char *kind, unsigned bit, const char *where, struct err *err)
{
    if (*cell && !(f->may & bit))
        return fail(err, "%s: '%.60s': leave it empty, as a %s has none", where, cell, kind);
    if (!*cell && f->must & bit)
        return fail(err, "%s: missing: %s", where, f->field.help);
    return !*cell || field_set(out, &f->field, cell, where, err);
}

bool part_read(void *out, const struct part_field *fields, size_t n, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    unsigned bit = ~0u;
    for (const struct part_field *f = fields; f < fields + n; f++) {
        const char *cell = csv_cell(t, row, f->field.name), *kind = csv_cell(t, row, fields->field.name);
        char where[300];
        if (!read_part_cell(out, f, cell, kind, bit, "", NULL)) {
            snprintf(where, sizeof where, "%.200s:%u: %s", t->path, row->line, f->field.name);
            return read_part_cell(out, f, cell, kind, bit, where, err);
        }
        if (f == fields)
            bit = 1u << *(const int *)((const char *)out + f->field.offset);
    }
    return true;
}

const char *part_text(const char *what, const struct part_field *fields, size_t n, const struct csv_table *t, const struct csv_row *row, struct arena *a)
{
    const char *name = arena_printf(a, "%s:%s", what, csv_cell(t, row, fields->field.name));
    for (size_t i = 1; i < n; i++) {
        const char *cell = csv_cell(t, row, fields[i].field.name);
        if (*cell)
            name = arena_printf(a, "%s;%s=%s", name, fields[i].field.name, cell);
    }
    return name;
}
