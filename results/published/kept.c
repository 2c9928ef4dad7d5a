/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.c - the tolerance of every row that has a recipe, and the values of that recipe, as they were when the row was first simulated; see
 * published.h.
 */
#include "results/published/published.h"

#define F(member, ...) FIELD_OF(struct kept_line, member, __VA_ARGS__)
static const struct field kept_fields[] = { F(id, .required = true), F(tolerance, .max = 1, .required = true), F(recipe, .required = true), F(why) };
#undef F

bool kept_load(struct kept *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct kept){ .path = path };
    struct kept_line *lines = records_load(&t, sizeof *lines, path, kept_fields, N_FIELDS(kept_fields), a, err);
    for (size_t i = 0; lines && i < t.n_rows; i++)
        lines[i].line = t.rows[i].line;
    if (!lines)
        return false;
    SORT_BY(lines, t.n_rows, RISING(struct kept_line, id), RISING(struct kept_line, line));
    for (size_t i = 0; i < t.n_rows; i++) {
        bool is_later = out->n && text_is(out->last[out->n - 1].id, lines[i].id);
        if (is_later && !*lines[i].why)
            return fail(err, "%s:%u: why: is empty, and line %u has %s already; say why it changed", path, lines[i].line, out->last[out->n - 1].line,
                        lines[i].id);
        out->last = lines;              /* `last` holds the last line of each id, packed at the front of the array */
        if (is_later)
            lines[i].was_another = lines[out->n - 1].was_another || !text_is(lines[out->n - 1].recipe, lines[i].recipe);
        out->last[is_later ? out->n - 1 : out->n++] = lines[i];
    }
    return true;
}

static const struct kept_line *kept_find(const struct kept *k, const char *id)
{
    return k->n ? bsearch(&id, k->last, k->n, sizeof *k->last, compare_texts) : NULL;
}

/* Says how a row differs from its kept line, or NULL. A row whose recipe changed must be context. */
static const char *what_changed(const struct kept *k, const struct kept_line *was, const struct kept_line *now, const struct figure *f, struct arena *a)
{
    const char *where = arena_printf(a, "%s:%u: %s", f->path, f->line, f->id);
    if (!was)
        return arena_printf(a, "%s: is not in %s", where, path_name(k->path));
    if (was->tolerance != now->tolerance)
        return arena_printf(a, "%s: tolerance is %.10g; line %u of %s has %.10g", where, now->tolerance, was->line, path_name(k->path), was->tolerance);
    if (!text_is(was->recipe, now->recipe))
        return arena_printf(a, "%s: the values of its recipe are not those of line %u of %s", where, was->line, path_name(k->path));
    if (was->was_another && f->role != FIGURE_CONTEXT)
        return arena_printf(a, "%s: its recipe changed at line %u of %s, after it was seen, so it is context and not %s", where, was->line, path_name(k->path),
                            role_names[f->role]);
    return NULL;
}

bool kept_compare(struct kept_faults *out, const struct kept *k, const struct figures *figures, const char *recipes_dir, struct arena *a, struct err *err)
{
    *out = (struct kept_faults){ 0 };
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        struct kept_line now = { .id = f->id, .tolerance = f->tolerance, .why = "" };
        if (!*f->recipe)
            continue;
        if (!figure_recipe_hash(&now.recipe, f, recipes_dir, a, err))
            return false;
        const char *what = what_changed(k, kept_find(k, f->id), &now, f, a);
        if (what)
            LIST_ADD(out, a, ((struct kept_fault){ what, now }));
    }
    return true;
}

void kept_write_line(FILE *f, const struct kept_line *line)
{
    fprintf(f, "%s,%.10g,%s,", line->id, line->tolerance, line->recipe);
    csv_write_cell(f, line->why, true);
}
