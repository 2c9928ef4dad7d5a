/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_sight.c - the bytes that were counted when it was first predicted whether a published run fits; see published.h.
 */
#include "results/published/published.h"


const char memory_sight_header[] = "id,version,certain_bytes,needed_bytes\n";
static const struct field fields[] = { FIELD_OF(struct memory_sight, id, .required = true), FIELD_OF(struct memory_sight, version, .required = true),
    FIELD_OF(struct memory_sight, certain_bytes, .unit = "B", .max = 1e12, .required = true), FIELD_OF(struct memory_sight, needed_bytes, .unit = "B", .min = 1, .max = 1e12, .required = true) };

bool memory_sights_load(struct memory_sights *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct memory_sights){0};
    if (is_missing(path))
        return true;
    if (!LIST_LOAD(out, &t, path, fields, a, err))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (memory_sight_find(out, out->items[i].id) != &out->items[i])
            return fail(err, "%s:%u: %s has two lines; want one", path, t.rows[i].line, out->items[i].id);
    return true;
}

const struct memory_sight *memory_sight_find(const struct memory_sights *all, const char *id)
{
    return FIND_TEXT(all->items, all->n, struct memory_sight, id, id);
}

void memory_sight_write(FILE *f, const struct memory_sight *s)
{
    fprintf(f, "%s,%s,%.0f,%.0f\n", s->id, s->version, s->certain_bytes, s->needed_bytes);
}
