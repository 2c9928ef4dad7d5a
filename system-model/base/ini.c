/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ini.c - sections of key = value, one entry a line.
 *
 * A line whose first character is ';' or '#' is a comment; a ';' after a blank begins one too. Keys may hold colons, as exporters of models
 * name values with them; in a line without '=' a colon separates key and value.
 */
#include "system-model/base/base.h"

#include <ctype.h>
#include <string.h>

enum { LARGEST_INI_BYTES = 1 << 20, LONGEST_LINE = 2000 };

struct ini_reader {
    struct ini_file *out;
    const char *section;                /* "" before the first section */
    uint32_t line;
    size_t cap;
    struct arena *a;
};

/* The text without blanks at its ends; it is cut in place. */
static char *ini_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = 0;
    return text;
}

static void ini_cut_comment(char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (text[i] == ';' && i && isspace((unsigned char)text[i - 1])) {
            text[i] = 0;
            return;
        }
}

static bool ini_add(struct ini_reader *r, const char *key, const char *value, struct err *err)
{
    struct ini_file *f = r->out;
    if (!*r->section)
        return fail(err, "%s:%u: key '%.60s' stands before any [section]", f->path, r->line, key);
    for (size_t i = 0; i < f->n_entries; i++) {
        const struct ini_entry *e = &f->entries[i];
        if (text_is(e->section, r->section) && text_is(e->key, key))
            return fail(err, "%s:%u: %s.%s is already in line %u", f->path, r->line, r->section, key, e->line);
    }
    f->entries = arena_grow(r->a, f->entries, f->n_entries, &r->cap, sizeof *f->entries);
    f->entries[f->n_entries++] = (struct ini_entry){ r->section, key, value, r->line, 0 };
    return true;
}

static bool ini_read_line(struct ini_reader *r, char *line, struct err *err)
{
    line += strspn(line, " \t");
    if (*line == ';' || *line == '#')
        return true;
    if (strlen(line) > LONGEST_LINE)
        return fail(err, "%s:%u: line is longer than %d characters; put what is no setting into a comment, which may be longer", r->out->path, r->line,
                    LONGEST_LINE);
    if (!*(line = ini_trim(line)))
        return true;
    ini_cut_comment(line);
    char *end = *line == '[' ? strchr(line, ']') : strchr(line, '=') ? strchr(line, '=') : strchr(line, ':');
    if (!end)
        return fail(err, "%s:%u: is neither [section] nor key = value", r->out->path, r->line);
    *end = 0;
    if (*line != '[')
        return ini_add(r, ini_trim(line), ini_trim(end + 1), err);
    r->section = line + 1;
    return true;
}

bool ini_load(struct ini_file *out, const char *path, struct arena *a, struct err *err)
{
    char *text;
    *out = (struct ini_file){ .path = arena_strdup(a, path) };
    if (!read_text_file(&text, NULL, path, LARGEST_INI_BYTES, a, err))
        return false;
    struct ini_reader r = { .out = out, .section = "", .a = a };
    text += byte_order_mark(text);
    for (char *line; (line = strsep(&text, "\n")); ) {
        r.line++;
        if (!ini_read_line(&r, line, err))
            return false;
    }
    return out->n_entries || fail(err, "%s: is empty, want sections of key = value", path);
}
