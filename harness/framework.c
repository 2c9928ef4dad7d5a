/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.c - podbench framework: what a framework's programs do if the recipe does not say, each value with its source. A value comes from
 * the framework's own sheet or, if that lacks it, from the sheet of its engine.
 */
#include "harness/harness.h"
#include "system-model/machine/framework.h"
#include <ctype.h>
#include <jansson.h>

struct value_line { const char *key, *value, *unit, *source; };
#define C(member, ...) { COLUMN(struct value_line, member), .heading = "", __VA_ARGS__ }
static const struct table_column value_columns[] = { C(key), C(value, .aligns_right = true), C(unit), C(source) };
#undef C

/* The first sheet that has the key; framework_load() has made sure that one does. */
static const struct sheet *sheet_with(const struct framework *f, const char *key)
{
    const struct sheet *sheet = f->sheets;
    while (!sheet_find(sheet, key))
        sheet++;
    return sheet;
}

static void framework_document(struct document *d, const struct framework *f)
{
    const char *engine = f->n_sheets > 1 ? f->sheets[1].name : NULL;
    struct table *rows = document_table(d, TABLE(sheet_columns, struct sheet_line)), *shown = document_table(d, TABLE(value_columns, struct value_line));
    rows->formats = IN_CSV, shown->formats = IN_TEXT, shown->indent = "  ";
    shown->title = arena_printf(d->arena, "framework %s%s%s: what its programs do unless [framework] of a recipe says otherwise", f->name,
                                engine ? " on the engine of " : "", engine ? engine : "");
    for (size_t i = 0; i < n_framework_fields; i++) {
        const struct sheet *sheet = sheet_with(f, framework_fields[i].name);
        const struct sheet_row *row = sheet_find(sheet, framework_fields[i].name);
        const char *source = arena_printf(d->arena, "%s: %s%s%s", sheet->name, row->source, *row->note ? "; " : "", row->note);
        sheet_line_add(rows, sheet, row, d->arena);
        table_add(shown, &(struct value_line){ row->key, row->value, row->unit, source }, d->arena);
    }
    document_member(d, "name", json_string(f->name));
    document_member(d, "engine", engine ? json_string(engine) : json_null());
    document_member(d, "rows", table_json(rows));
}

/* The release in a name such as "popart-2.1.0"; NULL, which asks for the newest, in a name such as "PopART". */
static const char *release_of(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash && isdigit((unsigned char)dash[1]) && strchr(dash, '.') ? dash + 1 : NULL;
}

int command_framework(const struct options *o, struct session *s, struct err *err)
{
    struct framework f;
    if (o->n_arguments == 0)
        return list_names(all_frameworks, s, err);
    const char *name = text_is(o->arguments[0], "default") ? NULL : o->arguments[0];
    if (!framework_load(&f, name, name ? release_of(name) : NULL, s->paths.specs_dir, NULL, &s->arena, err))
        return EXIT_BAD_INPUT;
    framework_document(&s->answer, &f);
    return EXIT_DONE;
}
