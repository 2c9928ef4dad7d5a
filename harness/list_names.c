/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_names.c - a list of names in every format.
 */
#include "harness/harness.h"
#include <jansson.h>

static const struct table_column name_columns[] = { { .name = "name", .type = CELL_TEXT, .heading = "" } };

int print_names(const char *const *names, size_t n, const struct options *o, struct session *s)
{
    struct document d = { .arena = &s->arena };
    document_member(&d, NULL, json_words(names, n));
    document_table(&d, TABLE_OF(name_columns, names, n, .formats = IN_TEXT | IN_CSV | IN_MARKDOWN));
    document_write(s->out, o->format, &d);
    return EXIT_DONE;
}

int list_names(names_lister *lister, const struct options *o, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    return lister(&names, &n, s, err) ? print_names((const char *const *)names, n, o, s) : EXIT_BAD_INPUT;
}
