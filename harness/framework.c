/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.c - podbench framework: what a framework's programs do unless a recipe says otherwise, value by value, with the sources.
 *
 * A value stands on the framework's own sheet or, where that has none, on its engine's.
 */
#include "harness/harness.h"
#include "system-model/machine/framework.h"
#include <ctype.h>
#include <jansson.h>
#include <string.h>

struct value { const struct sheet *sheet; const struct sheet_row *row; };

static struct value value_of(const struct framework *f, const char *key)
{
    const struct sheet *sheet = f->sheets;
    while (!sheet_find(sheet, key))             /* on one of them it stands: framework_load has seen to that */
        sheet++;
    return (struct value){ sheet, sheet_find(sheet, key) };
}

static json_t *framework_json(const struct framework *f)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n_framework_fields; i++) {
        struct value v = value_of(f, framework_fields[i].name);
        json_array_append_new(rows, sheet_row_json(v.sheet, v.row));
    }
    return json_pack("{s:s, s:s?, s:o}", "name", f->name, "engine", f->n_sheets > 1 ? f->sheets[1].name : NULL, "rows", rows);
}

static void write_framework_csv(FILE *out, const struct framework *f)
{
    write_sheet_header(out);
    for (size_t i = 0; i < n_framework_fields; i++) {
        struct value v = value_of(f, framework_fields[i].name);
        write_sheet_row(out, v.sheet, v.row);
    }
}

static void print_framework(FILE *out, const struct framework *f)
{
    fprintf(out, "framework %s%s%s: what its programs do unless [framework] of a recipe says otherwise\n", f->name,
            f->n_sheets > 1 ? " on the engine of " : "", f->n_sheets > 1 ? f->sheets[1].name : "");
    for (size_t i = 0; i < n_framework_fields; i++) {
        struct value v = value_of(f, framework_fields[i].name);
        fprintf(out, "  %-24s %10s %-13s %s: %s%s%s\n", v.row->key, v.row->value, v.row->unit, v.sheet->name, v.row->source,
                *v.row->note ? "; " : "", v.row->note);
    }
}

/* "popart-2.1.0" asks for that release; "PopART" for the newest. */
static const char *release_of(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash && isdigit((unsigned char)dash[1]) && strchr(dash, '.') ? dash + 1 : NULL;
}

int command_framework(const struct options *o, struct session *s, struct err *err)
{
    struct framework f;
    if (o->n_arguments == 0)
        return print_names(all_frameworks, o, s, err);
    const char *name = text_is(o->arguments[0], "default") ? NULL : o->arguments[0];
    if (!framework_load(&f, name, name ? release_of(name) : NULL, s->paths.specs_dir, NULL, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON)
        print_json(stdout, framework_json(&f));
    else if (o->format == FORMAT_CSV)
        write_framework_csv(stdout, &f);
    else
        print_framework(stdout, &f);
    return EXIT_DONE;
}
