/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - tables: a header line, then rows, read by libcsv.
 *
 * libcsv's callbacks cannot stop a parse, so the first error is kept and later rows are ignored. An unclosed quote shows only in csv_fini().
 * libcsv does not count lines: it is given one line at a time, unless the line can be cut at its commas.
 *
 * A text that a spreadsheet would take for a formula is written with an apostrophe before it, which reading removes.
 */
#include "system-model/base/base.h"

#include <csv.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TABLE_BYTES = 64 << 20, MOST_COLUMNS = 256 };

struct csv_reader {
    struct csv_table *table;
    struct arena *a;
    struct err *err;
    bool failed, within_row;            /* within_row: a quoted cell goes on in the next line */
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
    if (r->failed)
        return;
    if (r->n_cells == MOST_COLUMNS) {
        r->failed = true;
        fail(r->err, "%s:%u: more than %d columns", r->table->path, r->line, MOST_COLUMNS);
        return;
    }
    char *cell = arena_room(r->a, n + 1, 1);
    if (n)
        memcpy(cell, text, n);
    cell[n] = '\0';
    r->cells[r->n_cells++] = cell + (*cell == '\'' && begins_formula(cell + 1));
}

static void csv_on_cell(void *text, size_t n, void *user) { add_cell(user, text, n); }

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

static void csv_on_row(int end, void *user)
{
    struct csv_reader *r = user;
    (void)end;
    if (!r->failed && r->n_cells)
        r->failed = !(r->table->columns ? csv_add_row(r) : csv_set_header(r));
    r->n_cells = 0;
    r->row_line = r->line;              /* after a lone carriage return another row begins here */
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Reads a line as libcsv does: blanks around cells are dropped, and a blank line is no row. False for a line with another quote than those around
 * whole cells. */
static bool csv_cut_line(struct csv_reader *r, const char *text, size_t n)
{
    const char *end = text + n - 1;
    bool has_quotes = memchr(text, '"', n);
    end -= end > text && end[-1] == '\r';
    while (text < end && is_blank(*text))
        text++;
    for (const char *comma = text < end ? text : NULL; comma; text = comma + 1) {
        while (text < end && is_blank(*text))
            text++;
        bool in_quotes = has_quotes && *text == '"';
        text += in_quotes;
        const char *found = memchr(text, in_quotes ? '"' : ',', (size_t)(end - text)), *last = found ? found : end;
        comma = found && in_quotes ? found + 1 : found;
        if (in_quotes ? !found || (comma < end && *comma != ',') : has_quotes && memchr(text, '"', (size_t)(last - text))) {
            r->n_cells = 0;
            return false;
        }
        comma = comma == end ? NULL : comma;
        while (!in_quotes && text < last && is_blank(last[-1]))
            last--;
        add_cell(r, text, (size_t)(last - text));
    }
    csv_on_row('\n', r);
    return true;
}

/* True for a line that ends with a newline and has no other carriage return than one before that. */
static bool is_plain_line(const char *text, size_t n)
{
    const char *turn = memchr(text, '\r', n);
    return text[n - 1] == '\n' && (!turn || turn == text + n - 2);
}

static const char misplaced_quote[] = "a quote stands within a cell; put the whole cell in quotes, and double those in it";

static bool csv_read_lines(struct csv_reader *r, struct csv_parser *p, const char *text, size_t n)
{
    for (size_t at = 0, length; at < n && !r->failed; at += length) {
        const char *newline = memchr(text + at, '\n', n - at);
        length = newline ? (size_t)(newline - text) + 1 - at : n - at;
        r->line++;
        r->row_line = r->within_row ? r->row_line : r->line;
        if (!r->within_row && is_plain_line(text + at, length) && csv_cut_line(r, text + at, length))
            continue;
        if (csv_parse(p, text + at, length, csv_on_cell, csv_on_row, r) != length)
            return fail(r->err, "%s:%u: %s", r->table->path, r->line, csv_error(p) == CSV_EPARSE ? misplaced_quote : csv_strerror(csv_error(p)));
        r->within_row = p->quoted;
    }
    if (!r->failed && csv_fini(p, csv_on_cell, csv_on_row, r) != 0)
        return fail(r->err, "%s:%u: a quote is not closed", r->table->path, r->row_line);
    return !r->failed;
}

bool csv_load(struct csv_table *out, const char *path, struct arena *a, struct err *err)
{
    char *text;
    size_t n;
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    return read_text_file(&text, &n, path, LARGEST_TABLE_BYTES, a, err) && csv_read_text(out, path, text, n, a, err);
}

bool csv_read_text(struct csv_table *out, const char *path, const char *text, size_t n, struct arena *a, struct err *err)
{
    struct csv_parser p;
    struct csv_reader r = { .table = out, .a = a, .err = err };
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    if (csv_init(&p, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return fail(err, "%s: libcsv could not start", path);
    size_t mark = byte_order_mark(text);
    const char *end = strpbrk(text, "\r\n");
    out->crlf = end && strncmp(end, "\r\n", 2) == 0;
    bool good = csv_read_lines(&r, &p, text + mark, n - mark);
    csv_free(&p);
    if (good && !out->columns)
        return fail(err, "%s: is empty, want a header line", path);
    return good;
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

/* True for a usual cell, which has no sign, blank or quote and needs no closer look. */
static bool is_plain_cell(const char *text)
{
    static const bool ends[UCHAR_MAX + 1] = { ['\0'] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true },
                      closer_look[UCHAR_MAX + 1] = { ['='] = true, ['+'] = true, ['-'] = true, ['@'] = true, [' '] = true };
    const char *p = text;
    while (!ends[(unsigned char)*p])
        p++;
    return !*p && !closer_look[(unsigned char)*text] && (p == text || p[-1] != ' ');
}

/* Several threads must not write to one file. */
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
        csv_fwrite(f, text, strlen(text));
    } else {
        fputs(text, f);
    }
    putc_unlocked(last ? '\n' : ',', f);
}
