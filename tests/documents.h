/* SPDX-License-Identifier: GPL-3.0-or-later */
/* documents.h - a document as text, or its JSON read back; the caller owns what is returned. */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H
#include "tests/check.h"
#include "system-model/output/output.h"

#include <jansson.h>

/* Not inlined: gcc 12 takes the stream's reference to `text` for one that outlives it. */
__attribute__((noinline, unused)) static char *document_text(struct document *d)
{
    char *text = NULL;
    PRINTED(text, document_write(f, FORMAT_TEXT, d));
    return text;
}

static inline json_t *document_json_read(struct document *d)
{
    char *text = NULL;
    PRINTED(text, document_write(f, FORMAT_JSON, d));
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    return json;
}
#endif
