/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.c - the ledger of published rows; see published.h.
 *
 * The hash is XXH3 over the cells, each with its terminating 0 and seeded by the hash of those before it; numbers have
 * ten digits. The value of a derived row is left out, as it follows from its parents.
 */
#include "results/published/published.h"

static const char removed[] = "removed";

static bool is_role(const char *text)
{
    return role_named(text) < N_FIGURE_ROLES || text_is(text, removed);
}

const char *figure_hash(const struct figure *f, struct arena *a)
{
    const char *value = f->n_parents ? "" : arena_printf(a, "%.10g", f->value);
    const char *const cells[] = { f->without ? arena_printf(a, "none:%s", f->without) : f->recipe, f->metric, value, f->unit };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        hash = hash_bytes(cells[i], strlen(cells[i]) + 1, hash);
    return arena_printf(a, "%016" PRIx64, hash);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Sorts the lines by id and keeps the last line of each. */
static bool keep_last_lines(struct ledger *l, size_t n, struct err *err)
{
    SORT_BY(l->last, n, RISING(struct ledger_line, id), RISING(struct ledger_line, line));
    for (size_t i = 0; i < n; i++) {
        const struct ledger_line *line = &l->last[i];
        if (l->n_last && text_is(l->last[l->n_last - 1].id, line->id)) {
            if (!*line->why)
                return fail(err, "%s:%u: why: is empty, and line %u has %s already; say why it changed", l->path, line->line,
                            l->last[l->n_last - 1].line, line->id);
            l->n_last--;
        }
        l->last[l->n_last++] = *line;
    }
    return true;
}

#define F(member) FIELD_OF(struct ledger_line, member)
static const struct field ledger_fields[] = { F(id), F(role), F(configuration), F(hash), F(why) };
#undef F

bool ledger_load(struct ledger *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct ledger){ .path = path };
    out->last = records_load(&t, sizeof *out->last, path, ledger_fields, N_FIELDS(ledger_fields), a, err);
    if (!out->last)
        return false;
    out->changes = ARENA_ARRAY(a, struct ledger_change, t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++) {
        struct ledger_line *line = &out->last[i];
        line->line = t.rows[i].line;
        if (!is_role(line->role))
            return fail(err, "%s:%u: role: '%.40s' is not one of: calibrate, validate, context, removed", path, line->line, line->role);
        if (*line->why)
            out->changes[out->n_changes++] = (struct ledger_change){ line->id, line->why };
    }
    return keep_last_lines(out, t.n_rows, err);
}

const struct ledger_line *ledger_find(const struct ledger *l, const char *id)
{
    return l->n_last ? bsearch(&id, l->last, l->n_last, sizeof *l->last, compare_texts) : NULL;
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static void add_ledger_fault(struct ledger_faults *out, const char *what, struct ledger_line wanted, struct arena *a)
{
    LIST_ADD(out, a, (struct ledger_fault){ what, wanted });
}

static void compare_ledger_figure(struct ledger_faults *out, const struct ledger *l, const struct figure *f, struct arena *a)
{
    struct ledger_line now = { .id = f->id, .role = role_names[f->role], .configuration = f->configuration,
                               .hash = figure_hash(f, a), .why = "" };
    const struct ledger_line *was = ledger_find(l, f->id);
    const char *where = arena_printf(a, "%s:%u: %s", f->path, f->line, f->id);
    if (!was)
        add_ledger_fault(out, arena_printf(a, "%s: is not in the ledger", where), now, a);
    else if (!text_is(was->role, now.role))
        add_ledger_fault(out, arena_printf(a, "%s: role is %s; the ledger's line %u has %s", where, now.role, was->line, was->role), now, a);
    else if (!text_is(was->configuration, now.configuration))
        add_ledger_fault(out, arena_printf(a, "%s: configuration is %s; the ledger's line %u has %s", where, now.configuration, was->line,
                                    was->configuration), now, a);
    else if (!text_is(was->hash, now.hash))
        add_ledger_fault(out, arena_printf(a, "%s: recipe, metric, value or unit is not what it was at the ledger's line %u", where, was->line),
                  now, a);
}

void ledger_compare(struct ledger_faults *out, const struct ledger *l, const struct figures *figures, struct arena *a)
{
    const char **ids = TEXTS_OF(figures->items, figures->n, struct figure, id, a);
    *out = (struct ledger_faults){0};
    for (size_t i = 0; i < figures->n; i++)
        compare_ledger_figure(out, l, &figures->items[i], a);
    sort_items(ids, figures->n, sizeof *ids, compare_texts);
    for (size_t i = 0; i < l->n_last; i++) {
        struct ledger_line gone = l->last[i];
        if (text_is(gone.role, removed) || bsearch(&gone.id, ids, figures->n, sizeof *ids, compare_texts))
            continue;
        gone.role = removed;
        gone.why = "";
        add_ledger_fault(out, arena_printf(a, "%s:%u: %s: is no longer in any table", l->path, gone.line, gone.id), gone, a);
    }
}

void ledger_write_line(FILE *f, const struct ledger_line *line)
{
    const char *const cells[] = { line->id, line->role, line->configuration, line->hash, line->why };
    for (size_t i = 0; i < 5; i++)
        csv_write_cell(f, cells[i], i == 4);
}
