/* SPDX-License-Identifier: GPL-3.0-or-later */
/* * codelet.c - reads the sheet of the user's own operations. */
#include "system-model/graph/codelet.h"
#include <inttypes.h>

static const char *const copies_names[] = { "none", "in", "in+out", NULL };

#define F(member, ...) FIELD_OF(struct codelet, member, __VA_ARGS__)
static const struct field codelet_fields[] = {
    F(output, .unit = "", .help = "input, or sizes such as 8x16"),
    F(split, .unit = "", .help = "axes that are cut over tiles, such as 0,1"),
    F(worker_split, .unit = "", .help = "best, one-axis, or parts such as 6x1"),
    F(cycles_per_element, .unit = "cycles", .max = 1e9, .required = true, .help = "of a worker, for an element"),
    F(cycles_per_row, .unit = "cycles", .max = 1e9, .help = "of a worker, for a run along the last axis that is cut"),
    F(cycles_fixed, .unit = "cycles", .max = 1e9, .help = "of a worker, for a call"),
    F(vector, .unit = "elements", .min = 1, .max = 1024, .help = "elements computed at once"),
    F(halo, .unit = "cells", .max = 1024, .help = "cells around a region that it reads"),
    F(copies, .unit = "", .choices = copies_names, .help = "what is copied on the tile before and after it"),
    F(broadcast_bytes, .unit = "B", .max = 1e9, .help = "received by each tile before each call"),
    F(temporary_bytes, .unit = "B", .max = 1e9, .help = "held on each tile while it runs"),
    F(code_bytes, .unit = "B", .max = 1e9, .help = "of the vertex; 0: as a small vertex of the library"),
    F(gradient, .unit = "", .help = "the operation that computes its gradient, or none"),
};
#undef F

bool parse_parts(uint64_t out[MOST_GRID_AXES], uint32_t *n, const char *text)
{
    struct arena scratch = {0};
    bool good = true;
    *n = 0;
    for (const char *item; good && (item = text_item(&text, 'x', &scratch)); ) {
        uint64_t parts = 0;
        good = *n < MOST_GRID_AXES && parse_u64(item, &parts) && parts >= 1 && parts <= UINT32_MAX;
        if (good)
            out[(*n)++] = parts;
    }
    arena_free(&scratch);
    return good && *n > 0;
}

/* ---- one operation ------------------------------------------------------------------------------------------------------- */

static bool read_split(struct codelet *c, const char *where, struct err *err)
{
    struct arena scratch = {0};
    const char *rest = c->split;
    bool good = true;
    c->n_axes = 0;
    for (const char *item; good && (item = text_item(&rest, ',', &scratch)); c->n_axes++) {
        uint64_t axis = 0;
        good = c->n_axes < MOST_GRID_AXES && parse_u64(item, &axis) && axis < MOST_OUTPUT_DIMS && (!c->n_axes || axis > c->axes[c->n_axes - 1]);
        if (good)
            c->axes[c->n_axes] = (uint32_t)axis;
    }
    arena_free(&scratch);
    return (good && c->n_axes > 0) ||
           fail(err, "%s: '%.40s': want one to %d axes of the first input, in rising order, such as 0,1", where, c->split, MOST_GRID_AXES);
}

static bool read_worker_split(struct codelet *c, const char *where, struct err *err)
{
    uint32_t n;
    c->worker_rule = text_is(c->worker_split, "best") ? WORKERS_BEST : text_is(c->worker_split, "one-axis") ? WORKERS_ALONG_ONE_AXIS : WORKERS_GIVEN;
    return c->worker_rule != WORKERS_GIVEN || (parse_parts(c->worker_parts, &n, c->worker_split) && n == c->n_axes) ||
           fail(err, "%s: '%.40s': want best, one-axis, or a number of parts for each axis of split, such as 6x1", where, c->worker_split);
}

static bool read_output(struct codelet *c, const char *where, struct err *err)
{
    struct arena scratch = {0};
    const char *rest = text_is(c->output, "input") ? NULL : c->output;
    uint32_t n = 0;
    bool good = true;
    for (const char *item; good && (item = text_item(&rest, 'x', &scratch)); n += good)
        good = n < MOST_OUTPUT_DIMS && parse_u64(item, &c->output_dims[n]) && c->output_dims[n] > 0 && c->output_dims[n] <= UINT32_MAX;
    arena_free(&scratch);
    return good || fail(err, "%s: '%.40s': want input, for results that are like the inputs, or at most %d sizes such as 8x16", where, c->output, MOST_OUTPUT_DIMS);
}

/* Sets the values that follow from several keys, once all keys are read. */
static bool finish_codelet(struct codelet *c, const struct codelets *all, bool has_cycles, struct err *err)
{
    struct arena scratch = {0};
    const char *where = arena_printf(&scratch, "%s:%u: %.40s,%.40s", all->path, c->line, c->domain, c->name);
    bool good = (has_cycles || fail(err, "%s: cycles_per_element is missing: cycles of a worker for each element", where)) && read_split(c, where, err) &&
                read_worker_split(c, where, err) && read_output(c, where, err);
    if (good && c->gradient && !text_is(c->gradient, "none") && !codelet_find(all, c->domain, c->gradient))
        good = fail(err, "%s: gradient: no operation '%.40s' of this domain in the sheet; add its lines, or write none", where, c->gradient);
    c->gradient_of = good && c->gradient ? codelet_find(all, c->domain, c->gradient) : NULL;
    arena_free(&scratch);
    return good;
}

/* ---- the sheet -------------------------------------------------------------------------------------------------------------- */

const struct codelet *codelet_find(const struct codelets *all, const char *domain, const char *name)
{
    for (size_t i = 0; all && i < all->n; i++)
        if (text_is(all->items[i].name, name) && text_is(all->items[i].domain, domain))
            return &all->items[i];
    return NULL;
}

static struct codelet *codelet_of_line(struct codelets *all, const char *domain, const char *name, uint32_t line, struct arena *a)
{
    const struct codelet *known = codelet_find(all, domain, name);
    if (known)
        return &all->items[known - all->items];
    all->items = arena_grow(a, all->items, all->n, &all->cap, sizeof *all->items);
    all->items[all->n] = (struct codelet){ .domain = domain, .name = name, .line = line, .output = "input", .split = "0", .worker_split = "best", .vector = 1 };
    return &all->items[all->n++];
}

static const struct field *field_of_line(const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    const char *key = csv_cell(t, row, "key"), *unit = csv_cell(t, row, "unit");
    const struct field *f = field_find(codelet_fields, N_FIELDS(codelet_fields), key);
    if (!f) {
        struct arena scratch = {0};
        const char **names = TEXTS_OF(codelet_fields, N_FIELDS(codelet_fields), struct field, name, &scratch);
        fail(err, "%s:%u: key: '%.40s' is not known; %sknown: %s", t->path, row->line, key, names_suggestion(names, N_FIELDS(codelet_fields), key, &scratch),
             names_list(names, N_FIELDS(codelet_fields), &scratch));
        arena_free(&scratch);
    } else if (!text_is(unit, f->unit)) {
        fail(err, "%s:%u: %s is in '%.40s', want '%s'", t->path, row->line, key, unit, f->unit);
        return NULL;
    }
    return f;
}

/* given[i] has a bit for each key that the sheet has stated for operation i so far. */
static bool read_line(struct codelets *all, uint64_t *given, const struct csv_table *t, const struct csv_row *row, struct arena *a, struct err *err)
{
    const char *domain = csv_cell(t, row, "domain"), *name = csv_cell(t, row, "name"), *key = csv_cell(t, row, "key");
    const struct field *f = field_of_line(t, row, err);
    if (!f)
        return false;
    if (!*domain || !*name || !*csv_cell(t, row, "source"))
        return fail(err, "%s:%u: %s: domain, name and source must not be empty; the source says who measured or counted it", t->path, row->line, key);
    struct codelet *c = codelet_of_line(all, domain, name, row->line, a);
    uint64_t *mine = &given[c - all->items], bit = UINT64_C(1) << (f - codelet_fields);
    if (*mine & bit)
        return fail(err, "%s:%u: %s of %.40s stands in the sheet twice; keep one", t->path, row->line, key, name);
    *mine |= bit;
    return field_set(c, f, csv_cell(t, row, "value"), arena_printf(a, "%s:%u: %s", t->path, row->line, key), err);
}

bool codelets_load(struct codelets *out, const char *path, struct arena *a, struct err *err)
{
    static const char *const columns[] = { "domain", "name", "key", "value", "unit", "source", NULL };
    struct csv_table t;
    *out = (struct codelets){ .path = path };
    if (!csv_load(&t, path, a, err) || !csv_has_columns(&t, columns, err))
        return false;
    uint64_t *given = ARENA_ARRAY(a, uint64_t, t.n_rows + 1);
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_line(out, given, &t, &t.rows[i], a, err))
            return false;
    const uint64_t cycles = UINT64_C(1) << (field_find(codelet_fields, N_FIELDS(codelet_fields), "cycles_per_element") - codelet_fields);
    for (size_t i = 0; i < out->n; i++)
        if (!finish_codelet(&out->items[i], out, given[i] & cycles, err))
            return false;
    return out->n > 0 || fail(err, "%s: describes no operation", path);
}
