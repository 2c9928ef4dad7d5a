/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - tables: a header line, then rows (RFC 4180).
 *
 * A cell in quotes may hold commas, line ends and doubled quotes. Blanks around cells do not count, and a blank line is no row. A line ends with a
 * newline, a carriage return or both.
 *
 * A text that a spreadsheet would take for a formula is written with an apostrophe before it, which reading removes.
 */
#include "system-model/base/base.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TABLE_BYTES = 64 << 20, MOST_COLUMNS = 256 };

struct csv_reader {
    struct csv_table *table;
    struct arena *a;
    struct err *err;
    bool failed;
    uint32_t line, row_line;            /* the line being read, and the line where the current row began */
    char *cells[MOST_COLUMNS];
    size_t n_cells, rows_cap;
};

/* True for a text that a spreadsheet would compute: it begins as a formula does, and is no number. */
static bool begins_formula(const char *text)
{
    double x;
    return *text && strchr("=+-@", *text) && text[1] && !parse_f64(text, &x);
}

static void add_cell(struct csv_reader *r, const char *text, size_t n)
{
    if (r->n_cells == MOST_COLUMNS) {
        r->failed = true;
        fail(r->err, "%s:%u: more than %d columns", r->table->path, r->line, MOST_COLUMNS);
        return;
    }
    char *cell = memcpy(ARENA_ROOM(r->a, char, n + 1), text, n);
    cell[n] = '\0';
    r->cells[r->n_cells++] = cell + (*cell == '\'' && begins_formula(cell + 1));
}

static char **copy_cells(const struct csv_reader *r)
{
    return memcpy(ARENA_ARRAY(r->a, char *, r->n_cells), r->cells, r->n_cells * sizeof *r->cells);
}

static bool csv_set_header(struct csv_reader *r)
{
    struct csv_table *t = r->table;
    t->n_columns = r->n_cells;
    t->columns = copy_cells(r);
    for (size_t i = 0; i < t->n_columns; i++) {
        if (!*t->columns[i])
            return fail(r->err, "%s:%u: column %zu has no name", t->path, r->row_line, i + 1);
        for (size_t j = 0; j < i; j++)
            if (text_is(t->columns[i], t->columns[j]))
                return fail(r->err, "%s:%u: column '%.60s' appears twice", t->path, r->row_line, t->columns[i]);
    }
    const char *separator = t->n_columns == 1 ? strpbrk(t->columns[0], ";\t") : NULL;
    if (separator)
        return fail(r->err, "%s:%u: cells are separated by %s, want commas", t->path, r->row_line, *separator == ';' ? "semicolons" : "tabs");
    return true;
}

static bool csv_add_row(struct csv_reader *r)
{
    struct csv_table *t = r->table;
    if (r->n_cells != t->n_columns)
        return fail(r->err, "%s:%u: %zu cell%s, want %zu%s", t->path, r->row_line, r->n_cells, plural(r->n_cells), t->n_columns,
                    t->n_columns > 1 ? arena_printf(r->a, " (%s, ...)", t->columns[0]) : "");      /* the header of a single column may be any text, so it is left out */
    t->rows = arena_grow(r->a, t->rows, t->n_rows, &r->rows_cap, sizeof *t->rows);
    t->rows[t->n_rows++] = (struct csv_row){ r->row_line, copy_cells(r) };
    return true;
}

static const char *past_blanks(const char *at) { return at + strspn(at, " \t"); }
static bool ends_line(char c) { return !c || c == '\r' || c == '\n'; }

/* Reads a cell without quotes; returns where it ends. */
static const char *read_plain(struct csv_reader *r, const char *at)
{
    const char *end = at + strcspn(at, ",\"\r\n"), *last = end;
    while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    add_cell(r, at, (size_t)(last - at));
    return end;
}

/* Reads a cell from behind its first quote; returns what follows the last one. */
static const char *read_quoted(struct csv_reader *r, const char *at)
{
    const char *end = strchr(at, '"');
    while (end && end[1] == '"')
        end = strchr(end + 2, '"');
    if (!end) {
        r->failed = true;
        fail(r->err, "%s:%u: a quote is not closed", r->table->path, r->row_line);
        return at;
    }
    add_cell(r, at, (size_t)(end - at));
    for (char *quote = r->cells[r->n_cells - 1]; (quote = strchr(quote, '"')); quote++)
        memmove(quote, quote + 1, strlen(quote));
    for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        r->line++;
    return past_blanks(end + 1);
}

static void end_row(struct csv_reader *r)
{
    if (r->n_cells)
        r->failed = !(r->table->columns ? csv_add_row(r) : csv_set_header(r));
    r->n_cells = 0;
}

/* Reads a row, or a blank line; returns where the next line begins. */
static const char *read_row(struct csv_reader *r, const char *at)
{
    at = past_blanks(at);
    r->row_line = r->line;
    for (bool more = !ends_line(*at); more && !r->failed; ) {
        at = past_blanks(at);
        at = *at == '"' ? read_quoted(r, at + 1) : read_plain(r, at);
        more = *at == ',';
        at += more;
    }
    if (!r->failed && !ends_line(*at))
        r->failed = !fail(r->err, "%s:%u: a quote stands within a cell; put the whole cell in quotes, and double those in it", r->table->path, r->line);
    if (!r->failed)
        end_row(r);
    r->line += *at == '\n';
    return at + (*at != '\0');
}

bool csv_load(struct csv_table *out, const char *path, struct arena *a, struct err *err)
{
    char *text;
    size_t n;
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    return read_text_file(&text, &n, path, LARGEST_TABLE_BYTES, a, err) && csv_read_text(out, path, text, a, err);
}

bool csv_read_text(struct csv_table *out, const char *path, const char *text, struct arena *a, struct err *err)
{
    struct csv_reader r = { .table = out, .a = a, .err = err, .line = 1 };
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    const char *end = strpbrk(text, "\r\n");
    out->crlf = end && strncmp(end, "\r\n", 2) == 0;
    for (const char *at = text + byte_order_mark(text); *at && !r.failed; )
        at = read_row(&r, at);
    if (!r.failed && !out->columns)
        return fail(err, "%s: is empty, want a header line", path);
    return !r.failed;
}

bool csv_column(size_t *out, const struct csv_table *t, const char *name, struct err *err)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (text_is(t->columns[i], name)) {
            *out = i;
            return true;
        }
    }
    struct arena scratch = {0};
    if (err)
        fail(err, "%s:1: no column '%.60s'; there are: %s", t->path, name, names_list((const char *const *)t->columns, t->n_columns, &scratch));
    arena_free(&scratch);
    return false;
}

bool csv_has_columns(const struct csv_table *t, const char *const *names, struct err *err)
{
    size_t at;
    for (; *names; names++)
        if (!csv_column(&at, t, *names, err))
            return false;
    return true;
}

const char *csv_cell(const struct csv_table *t, const struct csv_row *row, const char *column)
{
    size_t at;
    return csv_column(&at, t, column, NULL) ? row->cells[at] : "";
}

const struct csv_row *csv_row_named(const struct csv_table *t, const char *first_cell)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (text_is(t->rows[i].cells[0], first_cell))
            return &t->rows[i];
    return NULL;
}

/* True for the usual cell, in which no sign, blank or quote needs a closer look. */
static bool is_plain_cell(const char *text)
{
    static const bool ends[UCHAR_MAX + 1] = { ['\0'] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true },
                      closer_look[UCHAR_MAX + 1] = { ['='] = true, ['+'] = true, ['-'] = true, ['@'] = true, [' '] = true };
    const char *p = text;
    while (!ends[(unsigned char)*p])
        p++;
    return !*p && !closer_look[(unsigned char)*text] && (p == text || p[-1] != ' ');
}

/* Not for several threads: only one may write to f. */
void csv_write_cell(FILE *f, const char *text, bool last)
{
    if (is_plain_cell(text)) {
        for (; *text; text++)
            putc_unlocked(*text, f);
    } else if (begins_formula(text)) {
        char *shown;
        if (asprintf(&shown, "'%s", text) < 0)
            out_of_memory(strlen(text));
        csv_write_cell(f, shown, last);
        free(shown);
        return;
    } else if (strpbrk(text, ",\"\r\n") || text[0] == ' ' || text[strlen(text) - 1] == ' ') {
        putc_unlocked('"', f);
        for (; *text; text++)
            fputs(*text == '"' ? "\"\"" : (char[]){ *text, '\0' }, f);
        putc_unlocked('"', f);
    } else {
        fputs(text, f);
    }
    putc_unlocked(last ? '\n' : ',', f);
}
