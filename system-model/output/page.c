/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.c - an HTML page with its styles, scripts and data in it: plots/page.css and plots/page.js, which all pages share, and those of its own.
 */
#include "system-model/output/output.h"

#include <jansson.h>
#include <stdlib.h>

static bool write_asset(const struct page *p, const char *tag, const char *name, const char *suffix, struct err *err)
{
    char *text;
    if (!read_text_file(&text, NULL, arena_printf(p->a, "%s/%s.%s", p->assets_dir, name, suffix), LARGEST_FILE_BYTES, p->a, err))
        return false;
    fprintf(p->f, "<%s>\n%s</%s>\n", tag, text, tag);
    return true;
}

bool page_open(const struct page *p, const char *title, const char *name, struct err *err)
{
    fprintf(p->f, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                  "<title>%s</title>\n", title);
    bool good = write_asset(p, "style", "page", "css", err) && write_asset(p, "style", name, "css", err);
    fputs("</head><body>\n", p->f);
    return good;
}

/* "</" must not occur inside <script>. */
void page_add_json(const struct page *p, const char *id, json_t *value)
{
    char *text = json_dumps(value, JSON_REAL_PRECISION(8) | JSON_COMPACT);
    fprintf(p->f, "<script type=\"application/json\" id=\"%s\">", id);
    for (const char *c = text; c && *c; c++)
        fputs(*c == '<' ? "\\u003c" : (char[]){ *c, 0 }, p->f);
    fputs("</script>\n", p->f);
    free(text);
    json_decref(value);
}

bool page_close(const struct page *p, const char *name, struct err *err)
{
    bool good = write_asset(p, "script", "page", "js", err) && write_asset(p, "script", name, "js", err);
    fputs("</body></html>\n", p->f);
    return good;
}
