/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sheet.c - a spec sheet: key,value,unit,source[,note]; no value without a unit and a source, no key twice.
 */
#include "system-model/machine/machine.h"

#include <string.h>

enum { COLUMN_KEY, COLUMN_VALUE, COLUMN_UNIT, COLUMN_SOURCE, COLUMN_NOTE, N_COLUMNS };
static const char *const column_names[] = { "key", "value", "unit", "source", "note" };
_Static_assert(sizeof column_names / sizeof *column_names == N_COLUMNS, "one name per column");

static bool check_columns(const struct csv_table *t, struct err *err)
{
    if (t->n_columns != N_COLUMNS && t->n_columns != N_COLUMNS - 1)
        return fail(err, "%s:1: %zu columns, want key,value,unit,source[,note]", t->path, t->n_columns);
    for (size_t i = 0; i < t->n_columns; i++)
        if (!text_is(t->columns[i], column_names[i]))
            return fail(err, "%s:1: column %zu is '%.60s', want '%s'", t->path, i + 1, t->columns[i], column_names[i]);
    return true;
}

static bool check_row(const struct sheet *s, const struct sheet_row *row, struct err *err)
{
    if (!*row->key)
        return fail(err, "%s:%u: a row without a key", s->path, row->line);
    if (!*row->value)
        return fail(err, "%s:%u: %.60s: no value; leave the row out where nothing is known", s->path, row->line, row->key);
    if (!*row->unit)
        return fail(err, "%s:%u: %.60s: no unit", s->path, row->line, row->key);
    if (!row->source[strspn(row->source, " \t")])
        return fail(err, "%s:%u: %.60s: no source; say where %.60s comes from", s->path, row->line, row->key, row->value);
    for (size_t i = 0; &s->rows[i] < row; i++)
        if (text_is(s->rows[i].key, row->key))
            return fail(err, "%s:%u: %.60s: is already in line %u", s->path, row->line, row->key, s->rows[i].line);
    return true;
}

const struct sheet_row *sheet_find(const struct sheet *s, const char *key)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (text_is(s->rows[i].key, key))
            return &s->rows[i];
    return NULL;
}

/* The file's name without folder and ending. */
static const char *name_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(a, utf8_text(slash ? slash + 1 : path, a));
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    return name;
}

const char *const origin_names[N_ORIGINS] = { "sourced", "fitted", "assumed" };

enum origin sheet_row_origin(const struct sheet_row *row)
{
    return strncmp(row->source, "fitted", 6) == 0 ? ORIGIN_FITTED : strncmp(row->source, "assumed", 7) == 0 ? ORIGIN_ASSUMED
                                                                                                          : ORIGIN_SOURCED;
}

bool sheet_load(struct sheet *out, const char *path, struct arena *a, struct err *err)
{
    enum { MOST_ROWS = 1000 };
    struct csv_table t;
    if (!csv_load(&t, path, a, err) || !check_columns(&t, err))
        return false;
    if (t.n_rows > MOST_ROWS)
        return fail(err, "%s: %zu rows, a spec sheet has at most %d", path, t.n_rows, MOST_ROWS);
    *out = (struct sheet){ .path = t.path, .name = name_of(path, a), .rows = ARENA_ARRAY(a, struct sheet_row, t.n_rows) };
    for (size_t i = 0; i < t.n_rows; i++) {
        char **cell = t.rows[i].cells;
        out->rows[i] = (struct sheet_row){ cell[COLUMN_KEY], cell[COLUMN_VALUE], cell[COLUMN_UNIT], cell[COLUMN_SOURCE],
                                           t.n_columns == N_COLUMNS ? cell[COLUMN_NOTE] : "", t.rows[i].line };
        if (!check_row(out, &out->rows[i], err))
            return false;
        out->n_rows++;
    }
    return true;
}
