/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_names.c - a list of names in every format.
 */
#include "harness/harness.h"
#include <jansson.h>

static const struct table_column name_columns[] = { { .name = "name", .type = CELL_TEXT, .heading = "" } };

int print_names(const char *const *names, size_t n, struct session *s)
{
    document_member(&s->answer, NULL, json_words(names, n));
    document_table(&s->answer, TABLE_OF(name_columns, names, n, .formats = IN_TEXT | IN_CSV | IN_MARKDOWN));
    return EXIT_DONE;
}

int list_names(names_lister *lister, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    return lister(&names, &n, s, err) ? print_names((const char *const *)names, n, s) : EXIT_BAD_INPUT;
}
