/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - tables: a header line, then rows. libcsv does the quoting rules; a line whose quotes stand at both ends of cells, and nowhere
 * within, needs none, and is cut here at a tenth of the cost: libcsv takes text byte by byte, and tables are a third of what a run takes.
 *
 * Traps of libcsv met here: its callbacks cannot stop a parse (the first error is kept, later rows are
 * passed over), a cell has no terminating zero unless asked for, an unclosed quote shows only at csv_fini.
 */
#include "system-model/base/base.h"

#include <csv.h>
#include <string.h>

enum { LARGEST_TABLE_BYTES = 64 << 20, MOST_COLUMNS = 256 };

struct csv_reader {
    struct csv_table *t;
    struct arena *a;
    struct err *err;
    const char *column, *value;         /* rows that have it there are wanted; NULL: all */
    size_t at_column;
    bool failed;
    uint32_t line;                      /* of the text that is being read */
    char *cells[MOST_COLUMNS];
    size_t n_cells, cap_rows;
    uint32_t row_line;                  /* where the row began */
};

static void add_cell(struct csv_reader *r, char *cell)
{
    if (r->n_cells == 0)
        r->row_line = r->line;
    if (r->n_cells == MOST_COLUMNS) {
        r->failed = true;
        fail(r->err, "%s:%u: more than %d columns", r->t->path, r->line, MOST_COLUMNS);
        return;
    }
    r->cells[r->n_cells++] = cell;
}

static void on_cell(void *text, size_t n, void *user)
{
    struct csv_reader *r = user;
    if (r->failed)
        return;
    char *cell = arena_alloc(r->a, n + 1);
    if (n)
        memcpy(cell, text, n);
    add_cell(r, cell);
}

static bool take_header(struct csv_reader *r)
{
    struct csv_table *t = r->t;
    t->n_columns = r->n_cells;
    t->columns = ARENA_ARRAY(r->a, char *, r->n_cells);
    memcpy(t->columns, r->cells, r->n_cells * sizeof *t->columns);
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
    return !r->column || csv_column(&r->at_column, t, r->column, r->err);
}

static bool take_row(struct csv_reader *r)
{
    struct csv_table *t = r->t;
    if (r->n_cells != t->n_columns)
        return fail(r->err, "%s:%u: %zu cell%s, want %zu (%s%s)", t->path, r->row_line, r->n_cells, plural(r->n_cells), t->n_columns,
                    t->columns[0], t->n_columns > 1 ? ", ..." : "");
    t->rows = arena_grow(r->a, t->rows, t->n_rows, &r->cap_rows, sizeof *t->rows);
    struct csv_row *row = &t->rows[t->n_rows++];
    row->line = r->row_line;
    row->cells = ARENA_ARRAY(r->a, char *, r->n_cells);
    memcpy(row->cells, r->cells, r->n_cells * sizeof *row->cells);
    return true;
}

/* The header is, and a row that may still have the value. */
static bool is_wanted(const struct csv_reader *r)
{
    return !r->column || !r->t->columns || r->n_cells <= r->at_column || text_is(r->cells[r->at_column], r->value);
}

static void on_row(int end, void *user)
{
    struct csv_reader *r = user;
    (void)end;
    if (!r->failed && r->n_cells && is_wanted(r))
        r->failed = !(r->t->columns ? take_row(r) : take_header(r));
    r->n_cells = 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The text between two places, without the blanks around it, as libcsv has a cell; what stands at its end is written over. */
static char *trimmed(char *from, char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    *to = 0;
    return from;
}

/* A cell in quotes, or up to the comma; *line becomes what follows it, NULL after the last. */
static char *cut_cell(char **line, char *end)
{
    char *cell = *line, *from = cell;
    bool quoted = *cell == '"';        /* what stands at the end is none */
    if (quoted) {
        cell++;
        from = memchr(cell, '"', (size_t)(end - cell));
        *from++ = 0;
    }
    char *comma = memchr(from, ',', (size_t)(end - from));
    *line = comma ? comma + 1 : NULL;
    return quoted ? cell : trimmed(cell, comma ? comma : end);
}

/* A plain line. end: where its line end stands, or the text's. A blank line is no row. */
static void cut_line(struct csv_reader *r, char *line, char *end)
{
    while (line < end && is_blank(*line))
        line++;
    if (line == end)
        return;
    while (line && !r->failed && is_wanted(r))
        add_cell(r, cut_cell(&line, end));
    on_row('\n', r);
}

/* Whether all quotes stand beside a comma, or the line's end. Blanks between them are left to libcsv. */
static bool quotes_cells(const char *line, const char *end)
{
    const char *open, *close;
    for (; (open = memchr(line, '"', (size_t)(end - line))); line = close + 1) {
        close = memchr(open + 1, '"', (size_t)(end - open) - 1);
        if (!close || (open > line && open[-1] != ',') || (close + 1 < end && close[1] != ','))
            return false;
    }
    return true;
}

/* No quote but around cells, and no line end but its own. *end: where that stands. */
static bool is_plain(char **end, char *line, size_t length)
{
    *end = line + length;
    if (length && line[length - 1] == '\n')
        --*end;
    if (*end > line && (*end)[-1] == '\r')
        --*end;
    return !memchr(line, '\r', (size_t)(*end - line)) && quotes_cells(line, *end);
}

static bool changes_quoting(const char *line, size_t length)
{
    bool odd = false;
    for (size_t i = 0; i < length; i++)
        odd ^= line[i] == '"';
    return odd;
}

static const char misplaced_quote[] = "a quote stands within a cell; put the whole cell in quotes, and double those in it";

/* Line by line, so that a row knows where it stands. A quote that is open goes on in the lines after it. */
static bool feed(struct csv_reader *r, struct csv_parser *p, char *text, size_t n)
{
    bool quoted = false;
    for (size_t at = 0; at < n && !r->failed; ) {
        const char *newline = memchr(text + at, '\n', n - at);
        size_t length = newline ? (size_t)(newline - text) + 1 - at : n - at;
        char *end;
        r->line++;
        bool plain = !quoted && is_plain(&end, text + at, length);
        quoted ^= !plain && changes_quoting(text + at, length);
        if (plain)
            cut_line(r, text + at, end);
        else if (csv_parse(p, text + at, length, on_cell, on_row, r) != length)
            return fail(r->err, "%s:%u: %s", r->t->path, r->line, csv_error(p) == CSV_EPARSE ? misplaced_quote : csv_strerror(csv_error(p)));
        at += length;
    }
    if (!r->failed && csv_fini(p, on_cell, on_row, r) != 0)
        return fail(r->err, "%s:%u: a quote is not closed", r->t->path, r->row_line ? r->row_line : r->line);
    return !r->failed;
}

static bool read_table(struct csv_table *out, const char *path, const char *column, const char *value, char *text, size_t n,
                       struct arena *a, struct err *err)
{
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    struct csv_parser p;
    if (csv_init(&p, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return fail(err, "%s: libcsv could not start", path);
    struct csv_reader r = { .t = out, .a = a, .err = err, .column = column, .value = value };
    size_t mark = byte_order_mark(text);
    const char *end = strpbrk(text, "\r\n");
    out->crlf = end && strncmp(end, "\r\n", 2) == 0;
    bool good = feed(&r, &p, text + mark, n - mark);
    csv_free(&p);
    if (good && !out->columns)
        return fail(err, "%s: is empty, want a header line", path);
    return good;
}

bool csv_load_where(struct csv_table *out, const char *path, const char *column, const char *value, struct arena *a, struct err *err)
{
    char *text;
    size_t n;
    return read_text_file(&text, &n, path, LARGEST_TABLE_BYTES, a, err) && read_table(out, path, column, value, text, n, a, err);
}

bool csv_load(struct csv_table *out, const char *path, struct arena *a, struct err *err)
{
    return csv_load_where(out, path, NULL, NULL, a, err);
}

bool csv_column(size_t *out, const struct csv_table *t, const char *name, struct err *err)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (text_is(t->columns[i], name)) {
            *out = i;
            return true;
        }
    }
    return fail(err, "%s:1: no column '%s'", t->path, name);
}

void csv_write_cell(FILE *f, const char *text, bool last)
{
    if (strpbrk(text, ",\"\r\n") || text[0] == ' ' || (*text && text[strlen(text) - 1] == ' '))
        csv_fwrite(f, text, strlen(text));
    else
        fputs(text, f);
    fputc(last ? '\n' : ',', f);
}
