/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - tables as text, CSV, JSON and Markdown.
 */
#include "system-model/output/output.h"
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

const char *const format_names[N_OUTPUT_FORMATS] = { "text", "csv", "json", "tap", "junit", "markdown", "annotations", "dot" };

void table_add(struct table *t, const void *row, struct arena *a)
{
    t->rows = arena_grow(a, t->rows, t->n, &t->cap, t->row_bytes);
    memcpy((char *)t->rows + t->n++ * t->row_bytes, row, t->row_bytes);
}

void table_keep(struct table *t, const void *row, struct arena *a)
{
    table_add(t, row, a);
    for (size_t k = 0; k < t->n_columns; k++) {
        const char **text = (const char **)((char *)t->rows + (t->n - 1) * t->row_bytes + t->columns[k].offset);
        if (t->columns[k].type == CELL_TEXT && *text)
            *text = arena_strdup(a, *text);
    }
}

static const void *row_at(const struct table *t, size_t i) { return (const char *)t->rows + i * t->row_bytes; }

static bool has_column(const struct table_column *c, enum output_format format)
{
    const char *shown = format == FORMAT_CSV || format == FORMAT_JSON ? c->name : c->heading;
    return shown && (!c->formats || c->formats & FORMAT_BIT(format));
}

/* ---- cells ---------------------------------------------------------------------------------------- */

enum { CELL_ROOM = QUANTITY_ROOM };

static double real_at(const struct table_column *c, const void *row)
{
    double x = *(const double *)((const char *)row + c->offset);
    return c->zero_is_unknown && x == 0 ? (double)NAN : x;
}

static const char *text_at(const struct table_column *c, const void *row)
{
    const char *text = *(const char *const *)((const char *)row + c->offset);
    return text && c->zero_is_unknown && !*text ? NULL : text;
}

static const char *real_text(char room[CELL_ROOM], const struct table_column *c, double x, enum output_format format)
{
    if (!isfinite(x))
        return NULL;
    if (format == FORMAT_CSV)
        return f64_text(room, x, c->csv_digits ? c->csv_digits : 10);
    if (c->digits)
        (c->shows_sign ? quantity_change_text : quantity_text)(room, x * (c->scale != 0 ? c->scale : 1), c->unit ? c->unit : "", c->digits);
    else
        snprintf(room, CELL_ROOM, c->format ? c->format : "%.6g", x * (c->scale != 0 ? c->scale : 1));
    return room;
}

/* In text and Markdown a whole number of bytes is a quantity, too. */
static const char *count_text(char room[CELL_ROOM], const struct table_column *c, uint64_t n, enum output_format format)
{
    return c->digits && format != FORMAT_CSV ? quantity_text(room, (double)n, c->unit, c->digits) : u64_text(room, n);
}

/* A cell as text; NULL when it is unknown. */
static const char *cell_text(char room[CELL_ROOM], const struct table_column *c, const void *row, enum output_format format)
{
    const void *at = (const char *)row + c->offset;
    switch (c->type) {
    case CELL_TEXT: return text_at(c, row);
    case CELL_REAL: return real_text(room, c, real_at(c, row), format);
    case CELL_BOOL: return *(const bool *)at ? "yes" : "no";
    case CELL_U64:  return count_text(room, c, *(const uint64_t *)at, format);
    case CELL_U32:  return c->zero_is_unknown && !*(const uint32_t *)at ? NULL : u64_text(room, *(const uint32_t *)at);
    case CELL_I64:  snprintf(room, CELL_ROOM, "%" PRId64, *(const int64_t *)at); return room;
    case CELL_JSON: break;
    }
    return NULL;
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* The columns that a text takes on a terminal: bytes of UTF-8 that continue a character do not count. */
static size_t text_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void write_padded(FILE *f, const char *text, size_t width, bool right, bool last)
{
    int blanks = (int)(width - min_u64(width, text_width(text)));
    fprintf(f, "%*s", right ? blanks : 0, "");
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, f);
    if (!last)
        fprintf(f, "%*s  ", right ? 0 : blanks, "");
}

static bool aligns_right(const struct table_column *c)
{
    return c->aligns_right || (c->type != CELL_TEXT && c->type != CELL_BOOL);
}

/* A cell of the row, or of the headings if row is NULL. */
static const char *shown_text(char room[CELL_ROOM], const struct table_column *c, const void *row, enum output_format format)
{
    const char *text = row ? cell_text(room, c, row, format) : c->heading;
    return text ? text : "-";
}

static size_t column_width(const struct table *t, const struct table_column *c)
{
    char room[CELL_ROOM];
    size_t width = text_width(c->heading);
    for (size_t i = 0; i < t->n; i++)
        width = max_u64(width, text_width(shown_text(room, c, row_at(t, i), FORMAT_TEXT)));
    return width;
}

/* Blanks at the end of a line are left out. */
static void write_text_row(FILE *f, const struct table *t, const size_t *widths, const void *row)
{
    size_t n = 0;
    char room[CELL_ROOM];
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT) && *shown_text(room, &t->columns[k], row, FORMAT_TEXT))
            n = k + 1;
    fputs(t->indent ? t->indent : "", f);
    for (size_t k = 0; k < n; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT))
            write_padded(f, shown_text(room, &t->columns[k], row, FORMAT_TEXT), widths[k], aligns_right(&t->columns[k]), k + 1 == n);
    fputc('\n', f);
}

static size_t *column_widths(const struct table *t, struct arena *a)
{
    size_t *widths = ARENA_ARRAY(a, size_t, t->n_columns);
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT))
            widths[k] = column_width(t, &t->columns[k]);
    return widths;
}

static bool has_headings(const struct table *t)
{
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT) && *t->columns[k].heading)
            return true;
    return false;
}

static void write_text(FILE *f, const struct table *t)
{
    struct arena scratch = {0};
    const size_t *widths = column_widths(t, &scratch);
    if (t->n && t->title)
        fprintf(f, "%s\n", t->title);
    if (t->n && has_headings(t))
        write_text_row(f, t, widths, NULL);
    for (size_t i = 0; i < t->n; i++)
        write_text_row(f, t, widths, row_at(t, i));
    arena_free(&scratch);
}

static void write_lines(FILE *f, const struct table *t)
{
    size_t width = 0;
    char room[CELL_ROOM];
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT))
            width = max_u64(width, text_width(t->columns[k].heading));
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_TEXT)) {
            write_padded(f, t->columns[k].heading, width, false, false);
            const char *text = shown_text(room, &t->columns[k], t->rows, FORMAT_TEXT), *unit = t->columns[k].unit;
            write_padded(f, text, 0, false, true);
            fprintf(f, unit && *unit && !t->columns[k].digits && !text_is(text, "-") ? " %s\n" : "\n", unit);
        }
}

/* ---- CSV ---------------------------------------------------------------------------------------------- */

static void write_csv_cells(FILE *f, const struct table *t, const void *row, bool ends_line)
{
    char room[CELL_ROOM];
    size_t last = t->n_columns;
    while (last > 0 && !has_column(&t->columns[last - 1], FORMAT_CSV))
        last--;
    for (size_t k = 0; k < last; k++) {
        const struct table_column *c = &t->columns[k];
        if (!has_column(c, FORMAT_CSV))
            continue;
        const char *text = row ? cell_text(room, c, row, FORMAT_CSV) : c->name;
        csv_write_cell(f, text ? text : "", ends_line && k + 1 == last);
    }
}

void table_write_csv_row(FILE *f, const struct table *t, const void *row)
{
    write_csv_cells(f, t, row, true);
}

void table_write_cells(FILE *f, const struct table *t, const void *row)
{
    write_csv_cells(f, t, row, false);
}

/* ---- JSON ----------------------------------------------------------------------------------------------- */

json_t *json_known(bool known, double x)
{
    return known && isfinite(x) ? json_real(x) : json_null();
}

json_t *json_number(double x)
{
    return json_known(true, x);
}

/* A string that is not UTF-8 is taken for Latin-1. */
static json_t *json_text(const char *text)
{
    struct arena scratch = {0};
    json_t *out = text ? json_string(utf8_text(text, &scratch)) : json_null();
    arena_free(&scratch);
    return out;
}

json_t *json_words(const char *const *words, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text(words[i]));
    return array;
}

static json_t *cell_json(const struct table_column *c, const void *row)
{
    const void *at = (const char *)row + c->offset;
    switch (c->type) {
    case CELL_TEXT: return json_text(text_at(c, row));
    case CELL_REAL: return json_number(real_at(c, row));
    case CELL_BOOL: return json_boolean(*(const bool *)at);
    case CELL_U64:  return json_integer((json_int_t)*(const uint64_t *)at);
    case CELL_U32:
        return c->zero_is_unknown && !*(const uint32_t *)at ? json_null() : json_integer((json_int_t)*(const uint32_t *)at);
    case CELL_I64:  return json_integer((json_int_t)*(const int64_t *)at);
    case CELL_JSON: break;
    }
    json_t *cell = *(json_t *const *)at;
    return cell ? cell : json_null();
}

json_t *table_row_json(const struct table *t, const void *row)
{
    json_t *object = json_object();
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_JSON))
            json_object_set_new(object, t->columns[k].name, cell_json(&t->columns[k], row));
    return object;
}

json_t *table_json(const struct table *t)
{
    json_t *array = json_array();
    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(array, table_row_json(t, row_at(t, i)));
    return array;
}

void print_json(FILE *f, json_t *json)
{
    json_dumpf(json, f, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', f);
    json_decref(json);
}

void table_drop_json(const struct table *t)
{
    for (size_t k = 0; k < t->n_columns; k++)
        for (size_t i = 0; t->columns[k].type == CELL_JSON && i < t->n; i++)
            json_decref(*(json_t *const *)((const char *)row_at(t, i) + t->columns[k].offset));
}

/* ---- Markdown -------------------------------------------------------------------------------------------- */

static void write_markdown_cell(FILE *f, const char *text, bool is_code)
{
    fputs(is_code && *text ? "`" : "", f);
    for (const char *p = text; *p; p++)
        if (*p == '|')
            fputs("\\|", f);
        else if (*p == '<' && !is_code)
            fputs("&lt;", f);
        else if (*p == '`' && is_code)
            fputc('\'', f);             /* a backtick would end the code */
        else
            fputc(iscntrl((unsigned char)*p) ? ' ' : *p, f);
    fputs(is_code && *text ? "`" : "", f);
}

void write_markdown_text(FILE *f, const char *text)
{
    write_markdown_cell(f, text, false);
}

static void write_markdown_row(FILE *f, const struct table *t, const void *row)
{
    char room[CELL_ROOM];
    for (size_t k = 0; k < t->n_columns; k++) {
        const struct table_column *c = &t->columns[k];
        if (!has_column(c, FORMAT_MARKDOWN))
            continue;
        fputs("| ", f);
        write_markdown_cell(f, shown_text(room, c, row, FORMAT_MARKDOWN), row && c->is_code);
        fputc(' ', f);
    }
    fputs("|\n", f);
}

static void write_markdown(FILE *f, const struct table *t)
{
    if (t->title)
        fprintf(f, "%s\n\n", t->title);
    write_markdown_row(f, t, NULL);
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k], FORMAT_MARKDOWN))
            fputs("|---", f);
    fputs("|\n", f);
    for (size_t i = 0; i < t->n; i++)
        write_markdown_row(f, t, row_at(t, i));
}

void table_write(FILE *f, enum output_format format, const struct table *t)
{
    if (format == FORMAT_JSON)
        print_json(f, table_json(t));
    else if (format == FORMAT_MARKDOWN)
        write_markdown(f, t);
    else if (format == FORMAT_CSV) {
        table_write_csv_row(f, t, NULL);
        for (size_t i = 0; i < t->n; i++)
            table_write_csv_row(f, t, row_at(t, i));
    } else {
        (t->as_lines ? write_lines : write_text)(f, t);
    }
}
