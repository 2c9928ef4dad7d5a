/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_stream.c - text that is written as to a file, and kept in an arena.
 */
#include "system-model/base/base.h"

FILE *text_stream(char **text, size_t *n_bytes)
{
    FILE *f = open_memstream(text, n_bytes);
    if (!f)
        out_of_memory(BUFSIZ);
    return f;
}

char *text_close(FILE *f, char **text, struct arena *a)
{
    fclose(f);
    char *kept = arena_strdup(a, *text);
    free(*text);
    return kept;
}
