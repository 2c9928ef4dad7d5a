/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * accelerators.c - data sheets of accelerators, found by the free text in which system descriptions name them.
 *
 * A name is compared in lower case with its punctuation turned into blanks, so that "NVIDIA A100-SXM4-80GB (400W)" has
 * the words of "a100 sxm", and "Intel(R) Gaudi(R) 2" those of "gaudi 2".
 */
#include "results/rounds/rounds.h"

#include <ctype.h>

bool read_positive(double *out, const struct csv_table *t, const struct csv_row *row, const char *column, struct err *err)
{
    const char *text = csv_cell(t, row, column);
    *out = NAN;
    return !*text || (parse_f64(text, out) && *out > 0)
        || fail(err, "%s:%u: %s: '%.60s', want a number above 0, or nothing", t->path, row->line, column, text);
}

static bool read_row(struct accelerator *out, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    *out = (struct accelerator){ .pattern = csv_cell(t, row, "pattern"), .vendor = csv_cell(t, row, "vendor"), .model = csv_cell(t, row, "model"),
                                 .source = csv_cell(t, row, "source"), .verified = text_is(csv_cell(t, row, "verified"), "yes") };
    return (*out->pattern || fail(err, "%s:%u: pattern is empty", t->path, row->line))
        && (*out->source || fail(err, "%s:%u: source is empty", t->path, row->line))
        && read_positive(&out->peak_flop_per_s, t, row, "peak_flop_per_s", err)
        && read_positive(&out->memory_bytes_per_s, t, row, "memory_bytes_per_s", err)
        && read_positive(&out->link_bytes_per_s, t, row, "link_bytes_per_s", err)
        && read_positive(&out->network_bytes_per_s, t, row, "network_bytes_per_s", err);
}

bool accelerators_load(struct accelerator_table *out, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!csv_load(&t, arena_printf(a, "%s/accelerators.csv", data_dir), a, err))
        return false;
    *out = (struct accelerator_table){ ARENA_ARRAY(a, struct accelerator, t.n_rows), t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_row(&out->items[i], &t, &t.rows[i], err))
            return false;
    return true;
}

/* Lower case, "(R)" and "(TM)" left out, other punctuation as blanks. */
static void normalise(char *out, size_t room, const char *name)
{
    size_t n = 0;
    for (const char *p = name; *p && n + 1 < room; p++) {
        if (strncasecmp(p, "(r)", 3) == 0)
            p += 2;
        else if (strncasecmp(p, "(tm)", 4) == 0)
            p += 3;
        else
            out[n++] = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : ' ';
    }
    out[n] = 0;
}

static bool has_words(const char *name, const char *pattern)
{
    char word[64];
    int used;
    for (const char *at = name, *p = pattern; sscanf(p, " %63s%n", word, &used) == 1; p += used) {
        at = strstr(at, word);
        if (!at)
            return false;
        at += strlen(word);
    }
    return true;
}

const struct accelerator *accelerator_find(const struct accelerator_table *t, const char *name)
{
    char plain[256];
    normalise(plain, sizeof plain, name);
    for (size_t i = 0; i < t->n; i++)
        if (has_words(plain, t->items[i].pattern))
            return &t->items[i];
    return NULL;
}
