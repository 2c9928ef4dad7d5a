/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sheet.c - spec sheets (key,value,unit,source[,note]), and values that replace those of sheets for one simulation.
 *
 * A row without a unit or a source is refused, and a key that appears twice. A replaced row keeps its unit; its source says what the sheet
 * has, and where. Line 0 marks a row that is on no sheet.
 */
#include "system-model/machine/machine.h"

#include <string.h>

enum { COLUMN_KEY, COLUMN_VALUE, COLUMN_UNIT, COLUMN_SOURCE, COLUMN_NOTE, N_SHEET_CELLS };
static const char *const column_names[] = { "key", "value", "unit", "source", "note" };
_Static_assert(sizeof column_names / sizeof *column_names == N_SHEET_CELLS, "one name per column");

static bool sheet_check_columns(const struct csv_table *t, struct err *err)
{
    if (t->n_columns != N_SHEET_CELLS && t->n_columns != N_SHEET_CELLS - 1)
        return fail(err, "%s:1: %zu column%s, want key,value,unit,source[,note]", t->path, t->n_columns, plural(t->n_columns));
    for (size_t i = 0; i < t->n_columns; i++)
        if (!text_is(t->columns[i], column_names[i]))
            return fail(err, "%s:1: column %zu is '%.60s', want '%s'", t->path, i + 1, t->columns[i], column_names[i]);
    return true;
}

static bool sheet_check_row(const struct sheet *s, const struct sheet_row *row, struct err *err)
{
    if (!*row->key)
        return fail(err, "%s:%u: a row without a key", s->path, row->line);
    if (!*row->value)
        return fail(err, "%s:%u: %.60s: no value; leave the row out where nothing is known", s->path, row->line, row->key);
    if (!*row->unit)
        return fail(err, "%s:%u: %.60s: no unit; want that of the same key on other sheets, as B/s, or name", s->path, row->line, row->key);
    if (!row->source[strspn(row->source, " \t")])
        return fail(err, "%s:%u: %.60s: no source; say where %.60s comes from", s->path, row->line, row->key, row->value);
    for (size_t i = 0; &s->rows[i] < row; i++)
        if (text_is(s->rows[i].key, row->key))
            return fail(err, "%s:%u: %.60s: is already in line %u", s->path, row->line, row->key, s->rows[i].line);
    return true;
}

const struct sheet_row *sheet_find(const struct sheet *s, const char *key)
{
    return FIND_TEXT(s->rows, s->n_rows, struct sheet_row, key, key);
}

/* The file's name without folder and extension. */
static const char *sheet_name(const char *path, struct arena *a)
{
    char *name = arena_strdup(a, utf8_text(path_name(path), a));
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
    bool good = csv_load(&t, path, a, err);
    if ((t.columns && !sheet_check_columns(&t, err)) || !good)          /* if a table is no sheet, the message is about its header and not about a row */
        return false;
    if (t.n_rows > MOST_ROWS)
        return fail(err, "%s: %zu rows, a spec sheet has at most %d", path, t.n_rows, MOST_ROWS);
    *out = (struct sheet){ .path = t.path, .name = sheet_name(path, a), .rows = ARENA_ARRAY(a, struct sheet_row, t.n_rows) };
    for (size_t i = 0; i < t.n_rows; i++) {
        char **cell = t.rows[i].cells;
        out->rows[i] = (struct sheet_row){ cell[COLUMN_KEY], plain_number(cell[COLUMN_VALUE], cell[COLUMN_UNIT], a), cell[COLUMN_UNIT], cell[COLUMN_SOURCE],
                                           t.n_columns == N_SHEET_CELLS ? cell[COLUMN_NOTE] : "", t.rows[i].line };
        if (!sheet_check_row(out, &out->rows[i], err))
            return false;
        out->n_rows++;
    }
    return true;
}

/* ---- values given for one simulation ------------------------------------------------ */

bool is_sheet_override(const char *override)
{
    size_t n = strlen(SHEET_OVERRIDE_SECTION);
    return strncmp(override, SHEET_OVERRIDE_SECTION, n) == 0 && override[n] == '.';
}

static bool override_add(struct sheet_overrides *out, const char *text, struct arena *a, struct err *err)
{
    const char *key = text + strlen(SHEET_OVERRIDE_SECTION) + 1, *equals = strchr(key, '=');
    if (!equals || equals == key)
        return fail(err, "--set %.100s: want " SHEET_OVERRIDE_SECTION ".KEY=value, as in " SHEET_OVERRIDE_SECTION ".clock_hz=2e9", text);
    struct sheet_override w = { arena_printf(a, "%.*s", (int)(equals - key), key), arena_strdup(a, equals + 1), false };
    for (size_t i = 0; i < out->n; i++)
        if (text_is(out->items[i].key, w.key)) {
            out->items[i] = w;
            return true;
        }
    out->items[out->n++] = w;
    return true;
}

bool sheet_overrides_split(struct sheet_overrides *out, const char ***rest, size_t *n_rest, const char *const *overrides, size_t n_overrides,
                   struct arena *a, struct err *err)
{
    *out = (struct sheet_overrides){ .items = ARENA_ARRAY(a, struct sheet_override, n_overrides) };
    *rest = ARENA_ARRAY(a, const char *, n_overrides);
    *n_rest = 0;
    for (size_t i = 0; i < n_overrides; i++) {
        if (!is_sheet_override(overrides[i]))
            (*rest)[(*n_rest)++] = overrides[i];
        else if (!override_add(out, overrides[i], a, err))
            return false;
    }
    return true;
}

static void sheet_drop_row(struct sheet *s, size_t at)
{
    s->n_rows--;
    memmove(&s->rows[at], &s->rows[at + 1], (s->n_rows - at) * sizeof *s->rows);
}

static void sheet_replace_row(struct sheet *s, size_t at, struct sheet_override *w, struct arena *a)
{
    struct sheet_row *row = &s->rows[at];
    double old, new;
    w->used = true;
    w->value = plain_number(w->value, row->unit, a);
    if (text_is(w->value, row->value) || (parse_f64(w->value, &new) && parse_f64(row->value, &old) && new == old))
        return;
    if (!*w->value) {
        sheet_drop_row(s, at);
        return;
    }
    row->source = arena_printf(a, "--set; the sheet has %s (%s:%u)", row->value, s->path, row->line);
    row->note = "";
    row->value = w->value;
    row->line = 0;
}

bool sheet_read(struct sheet *out, const struct sheet_overrides *w, const char *path, struct arena *a, struct err *err)
{
    struct sheet_cache *s = w ? w->cache : NULL;
    size_t i = 0;
    if (!s)
        return sheet_load(out, path, a, err);
    while (i < s->n && !text_is(s->sheets[i].path, path))
        i++;
    if (i == s->n) {
        s->sheets = arena_grow(s->arena, s->sheets, s->n, &s->cap, sizeof *s->sheets);
        if (!sheet_load(&s->sheets[i], path, s->arena, err))
            return false;
        s->n++;
    }
    *out = s->sheets[i];
    out->rows = ARENA_ARRAY(a, struct sheet_row, out->n_rows + 1);
    memcpy(out->rows, s->sheets[i].rows, out->n_rows * sizeof *out->rows);
    return true;
}

void sheet_apply_overrides(struct sheet *s, const struct sheet_overrides *w, struct arena *a)
{
    for (size_t k = 0; w && k < w->n; k++)
        for (size_t i = 0; i < s->n_rows; i++)
            if (text_is(s->rows[i].key, w->items[k].key)) {
                sheet_replace_row(s, i, &w->items[k], a);
                break;
            }
}

bool sheet_read_rows(struct sheet *s, const struct sheet_overrides *w, const char *path, sheet_row_reader *set, void *out, struct arena *a, struct err *err)
{
    *s = (struct sheet){0};
    if (is_missing(path))
        return true;
    if (!sheet_read(s, w, path, a, err))
        return false;
    sheet_apply_overrides(s, w, a);
    for (size_t i = 0; i < s->n_rows; i++)
        if (!set(out, s, &s->rows[i], a, err))
            return false;
    return true;
}

void sheet_add_override(struct sheet *s, struct sheet_override *w, const char *unit, struct arena *a)
{
    struct sheet_row *rows = ARENA_ARRAY(a, struct sheet_row, s->n_rows + 2);
    memcpy(rows, s->rows, s->n_rows * sizeof *rows);
    w->used = true;
    if (*w->value)
        rows[s->n_rows++] = (struct sheet_row){ w->key, plain_number(w->value, unit, a), unit, "--set; no sheet has it", "", 0 };
    s->rows = rows;
}

bool sheet_overrides_check(const struct sheet_overrides *w, const char *const *names, size_t n, struct err *err)
{
    enum { OFFERED = 5 };
    struct arena scratch = {0};
    const char *nearest[OFFERED];
    size_t i = 0;
    while (i < w->n && w->items[i].used)
        i++;
    if (i < w->n)
        fail(err, "--set " SHEET_OVERRIDE_SECTION ".%.60s=%.60s: no sheet of this machine has such a key; nearest: %s; podbench list keys --names has all",
             w->items[i].key, w->items[i].value, names_list(nearest, names_nearest(nearest, OFFERED, names, n, w->items[i].key), &scratch));
    arena_free(&scratch);
    return i == w->n;
}

const char *sheet_row_place(const struct sheet *s, const struct sheet_row *row, struct arena *a)
{
    return row->line ? arena_printf(a, "%s:%u: %s", s->path, row->line, row->key)
                     : arena_printf(a, "--set " SHEET_OVERRIDE_SECTION ".%s=%s", row->key, row->value);
}

bool sheet_row_set(void *record, const struct field *f, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    bool has_unit = text_is(row->unit, f->unit);
    if (has_unit && field_set(record, f, row->value, "", NULL))
        return true;
    const char *where = sheet_row_place(s, row, a);     /* made after a failure only, as messages alone name the place */
    return has_unit ? field_set(record, f, row->value, where, err) : fail(err, "%s is in '%.60s', want '%s'", where, row->unit, f->unit);
}
