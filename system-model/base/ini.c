/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ini.c - sections of key = value, read by libinih.
 *
 * Traps of Debian's libinih met here: it cuts a line at 200 bytes in silence, joins indented lines to the one
 * before, takes the first colon for the end of a key, and gives the handler no line number. So a reader of ours
 * hands it the lines: it counts them, refuses long ones, takes leading spaces away, and hides a key's colons
 * (exporters of models name values with them).
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <ini.h>
#include <string.h>

enum { LARGEST_INI_BYTES = 1 << 20, LONGEST_LINE = 190, HIDDEN_COLON = 1 };

struct ini_reader {
    struct ini_file *out;
    struct arena *a;
    struct err *err;
    const char *text;
    uint32_t line;
    size_t cap;
    bool failed;
};

static int give_up(struct ini_reader *r)
{
    r->failed = true;
    return 0;
}

static void replace_all(char *text, size_t n, char from, char to)
{
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] == from ? to : text[i];
}

static int on_entry(void *user, const char *section, const char *name, const char *value)
{
    struct ini_reader *r = user;
    struct ini_file *f = r->out;
    char *key = arena_strdup(r->a, name);
    replace_all(key, strlen(key), HIDDEN_COLON, ':');
    if (r->failed)
        return 0;
    if (!*section) {
        fail(r->err, "%s:%u: key '%.60s' stands before any [section]", f->path, r->line, key);
        return give_up(r);
    }
    for (size_t i = 0; i < f->n_entries; i++) {
        const struct ini_entry *e = &f->entries[i];
        if (text_is(e->section, section) && text_is(e->key, key)) {
            fail(r->err, "%s:%u: %s.%s is already in line %u", f->path, r->line, section, key, e->line);
            return give_up(r);
        }
    }
    f->entries = arena_grow(r->a, f->entries, f->n_entries, &r->cap, sizeof *f->entries);
    f->entries[f->n_entries++] = (struct ini_entry){
        arena_strdup(r->a, section), key, arena_strdup(r->a, value ? value : ""), r->line };
    return true;
}

/* fgets for libinih: one line, leading blanks dropped. Ends the text at the first fault. */
static char *next_line(char *to, int size, void *user)
{
    struct ini_reader *r = user;
    if (r->failed || !*r->text)
        return NULL;
    size_t length = strcspn(r->text, "\n");
    const char *line = r->text;
    r->text += length + (r->text[length] == '\n');
    r->line++;
    while (length && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    assert(size >= LONGEST_LINE + 2);   /* libinih's own limit */
    if (length > LONGEST_LINE) {
        r->failed = true;
        fail(r->err, "%s:%u: line is longer than %d characters", r->out->path, r->line, LONGEST_LINE);
        return NULL;
    }
    memcpy(to, line, length);
    to[length] = '\n';
    to[length + 1] = '\0';
    const char *equals = memchr(to, '=', length);
    if (equals)
        replace_all(to, (size_t)(equals - to), ':', HIDDEN_COLON);
    return to;
}

bool ini_load(struct ini_file *out, const char *path, struct arena *a, struct err *err)
{
    char *text;
    *out = (struct ini_file){ .path = arena_strdup(a, path) };
    if (!read_text_file(&text, NULL, path, LARGEST_INI_BYTES, a, err))
        return false;
    struct ini_reader r = { .out = out, .a = a, .err = err, .text = text };
    int bad_line = ini_parse_stream(next_line, &r, on_entry, &r);
    if (r.failed)
        return false;
    if (bad_line)
        return fail(err, "%s:%d: is neither [section] nor key = value", path, bad_line);
    if (!out->n_entries)
        return fail(err, "%s: is empty, want sections of key = value", path);
    return true;
}
