/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * document.c - several tables and lines of text, written in order.
 */
#include "system-model/output/output.h"
#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>

/* One of: a line, a stream, a table, a JSON member. */
struct document_part { const char *line, *name; struct document_text *text; struct table *table; json_t *member; unsigned formats; };
struct document_text { FILE *f; char *bytes; size_t n; };

#define DATA_FORMATS (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV) | FORMAT_BIT(FORMAT_JSON) | FORMAT_BIT(FORMAT_MARKDOWN))
#define PROSE_FORMATS (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_MARKDOWN))

static void add_part(struct document *d, struct document_part part)
{
    ARENA_APPEND(d->arena, d->parts, d->n, d->cap, part);
}

/* Replaces control characters, which a terminal would obey, by blanks: a name in a user's file may have some. Newlines and colours stay. */
static void blank_control_characters(char *text)
{
    for (char *c = text; *c; c++) {
        size_t n = strncmp(c, "\033[", 2) == 0 ? 2 + strspn(c + 2, "0123456789;") : 0;
        if (n && c[n] == 'm')
            c += n;
        else if (iscntrl((unsigned char)*c) && *c != '\n')
            *c = ' ';
    }
}

static void add_line(struct document *d, unsigned formats, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        out_of_memory(strlen(format));
    blank_control_characters(text);
    add_part(d, (struct document_part){ .line = arena_strdup(d->arena, text), .formats = formats });
    free(text);
}

void document_line(struct document *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(d, PROSE_FORMATS, format, args);
    va_end(args);
}

void document_line_for(struct document *d, unsigned formats, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(d, formats, format, args);
    va_end(args);
}

FILE *document_stream(struct document *d, unsigned formats)
{
    struct document_text *text = ARENA_NEW(d->arena, struct document_text);
    text->f = text_stream(&text->bytes, &text->n);
    add_part(d, (struct document_part){ .text = text, .formats = formats });
    return text->f;
}

void document_gap(struct document *d)
{
    document_line(d, "%s", "");
}

struct table *document_table(struct document *d, struct table t)
{
    struct table *copy = ARENA_NEW(d->arena, struct table);
    *copy = t;
    add_part(d, (struct document_part){ .table = copy });
    return copy;
}

void document_member(struct document *d, const char *name, json_t *value)
{
    add_part(d, (struct document_part){ .member = value, .name = name, .formats = FORMAT_BIT(FORMAT_JSON) });
}

static bool is_in(const struct document_part *p, enum output_format format)
{
    unsigned formats = !p->table ? p->formats : p->table->formats ? p->table->formats : DATA_FORMATS;
    return formats & FORMAT_BIT(format);
}

static json_t *document_json(const struct document *d)
{
    json_t *object = json_object(), *rows = NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct document_part *p = &d->parts[i];
        if (!is_in(p, FORMAT_JSON))
            continue;
        const struct table *t = p->table;
        json_t *json = p->member ? p->member : t->is_object ? table_row_json(t, t->rows) : table_json(t);
        const char *name = p->table ? p->table->name : p->name;
        if (name) {
            json_object_set_new(object, name, json);
        } else if (json_is_array(json)) {
            rows = rows ? rows : json_array();
            json_array_extend(rows, json);
            json_decref(json);
        } else {
            json_object_update_new(object, json);
        }
    }
    if (rows)
        json_decref(object);
    return rows ? rows : object;
}

/* Frees all that the writer has not freed: streams, and JSON that the document's own JSON did not take. */
static void drop_parts(struct document *d, enum output_format format)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->parts[i].text)
            free(d->parts[i].text->bytes);
        if (format == FORMAT_JSON && is_in(&d->parts[i], FORMAT_JSON))
            continue;
        json_decref(d->parts[i].member);
        if (d->parts[i].table)
            table_drop_json(d->parts[i].table);
    }
}

static void write_parts(FILE *f, enum output_format format, const struct document *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct document_part *p = &d->parts[i];
        if (!is_in(p, format))
            continue;
        if (p->line)
            fprintf(f, "%s\n", p->line);
        else if (p->text)
            fwrite(p->text->bytes, 1, p->text->n, f);
        else
            table_write(f, format, p->table);
    }
}

static void close_streams(struct document *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->parts[i].text)
            fclose(d->parts[i].text->f);
}

void document_write(FILE *f, enum output_format format, struct document *d)
{
    close_streams(d);
    if (format == FORMAT_JSON)
        print_json(f, document_json(d));
    else if (!d->judged.suite || !judgements_write(f, format, &d->judged))
        write_parts(f, format, d);
    drop_parts(d, format);
}

void document_drop(struct document *d)
{
    close_streams(d);
    drop_parts(d, FORMAT_TEXT);
}
