/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if.c - values given for one simulation in place of those on the sheets.
 *
 * A replaced row keeps its unit; its source says what the sheet had, and where. Line 0 marks a row that stands on no sheet.
 */
#include "system-model/machine/what_if.h"

#include <string.h>
#include <unistd.h>

bool is_what_if(const char *override)
{
    size_t n = strlen(WHAT_IF_SECTION);
    return strncmp(override, WHAT_IF_SECTION, n) == 0 && override[n] == '.';
}

static bool take(struct what_ifs *out, const char *text, struct arena *a, struct err *err)
{
    const char *key = text + strlen(WHAT_IF_SECTION) + 1, *equals = strchr(key, '=');
    if (!equals || equals == key)
        return fail(err, "--set %.100s: want " WHAT_IF_SECTION ".KEY=value, as in " WHAT_IF_SECTION ".clock_hz=2e9", text);
    struct what_if w = { arena_printf(a, "%.*s", (int)(equals - key), key), arena_strdup(a, equals + 1), false };
    for (size_t i = 0; i < out->n; i++)
        if (text_is(out->items[i].key, w.key)) {
            out->items[i] = w;
            return true;
        }
    out->items[out->n++] = w;
    return true;
}

bool what_ifs_take(struct what_ifs *out, const char ***rest, size_t *n_rest, const char *const *overrides, size_t n_overrides,
                   struct arena *a, struct err *err)
{
    *out = (struct what_ifs){ .items = ARENA_ARRAY(a, struct what_if, n_overrides) };
    *rest = ARENA_ARRAY(a, const char *, n_overrides);
    *n_rest = 0;
    for (size_t i = 0; i < n_overrides; i++) {
        if (!is_what_if(overrides[i]))
            (*rest)[(*n_rest)++] = overrides[i];
        else if (!take(out, overrides[i], a, err))
            return false;
    }
    return true;
}

static void drop_row(struct sheet *s, size_t at)
{
    s->n_rows--;
    memmove(&s->rows[at], &s->rows[at + 1], (s->n_rows - at) * sizeof *s->rows);
}

static void put(struct sheet *s, size_t at, struct what_if *w, struct arena *a)
{
    struct sheet_row *row = &s->rows[at];
    w->used = true;
    if (!*w->value) {
        drop_row(s, at);
        return;
    }
    row->source = arena_printf(a, "--set; the sheet has %s (%s:%u)", row->value, s->path, row->line);
    row->note = "";
    row->value = w->value;
    row->line = 0;
}

bool what_ifs_sheet(struct sheet *out, const struct what_ifs *w, const char *path, struct arena *a, struct err *err)
{
    struct shelf *s = w ? w->shelf : NULL;
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

void what_ifs_replace(struct sheet *s, const struct what_ifs *w, struct arena *a)
{
    for (size_t k = 0; w && k < w->n; k++)
        for (size_t i = 0; i < s->n_rows; i++)
            if (text_is(s->rows[i].key, w->items[k].key)) {
                put(s, i, &w->items[k], a);
                break;
            }
}

bool what_ifs_load(struct sheet *s, const struct what_ifs *w, const char *path, what_ifs_set_row *set, void *out, struct arena *a, struct err *err)
{
    *s = (struct sheet){0};
    if (access(path, F_OK) != 0)
        return true;
    if (!what_ifs_sheet(s, w, path, a, err))
        return false;
    what_ifs_replace(s, w, a);
    for (size_t i = 0; i < s->n_rows; i++)
        if (!set(out, s, &s->rows[i], a, err))
            return false;
    return true;
}

void what_if_add(struct sheet *s, struct what_if *w, const char *unit, struct arena *a)
{
    struct sheet_row *rows = ARENA_ARRAY(a, struct sheet_row, s->n_rows + 2);
    memcpy(rows, s->rows, s->n_rows * sizeof *rows);
    w->used = true;
    if (*w->value)
        rows[s->n_rows++] = (struct sheet_row){ w->key, w->value, unit, "--set; no sheet has it", "", 0 };
    s->rows = rows;
}

bool what_ifs_check(const struct what_ifs *w, const char *names, struct err *err)
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->items[i].used)
            return fail(err, "--set " WHAT_IF_SECTION ".%.60s=%.60s: no sheet of this machine has such a key; known: %s",
                        w->items[i].key, w->items[i].value, names);
    return true;
}

const char *sheet_row_place(const struct sheet *s, const struct sheet_row *row, struct arena *a)
{
    return row->line ? arena_printf(a, "%s:%u: %s", s->path, row->line, row->key)
                     : arena_printf(a, "--set " WHAT_IF_SECTION ".%s=%s", row->key, row->value);
}
