/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shaped.c - counts the numbers and decisions of the model that were taken from published rows, or from no source. Constants and numbers on
 * sheets are counted by what their source says, numbers in the code by assumed.h, and decisions by results/published/ledger/decisions.csv.
 */
#include "results/study/inputs.h"
#include "system-model/base/assumed.h"
#include <unistd.h>

static const char from_runs[] = "from published runs: ";

/* A number that is counted once, even if two sheets state it with the same source. */
struct counted_value { const char *key, *value, *source; };
struct counted { struct counted_value *items; size_t n, cap; };

static bool is_counted_first(struct counted *all, const struct sheet_row *row, struct arena *a)
{
    for (size_t i = 0; i < all->n; i++)
        if (text_is(all->items[i].key, row->key) && text_is(all->items[i].value, row->value) && text_is(all->items[i].source, row->source))
            return false;
    LIST_ADD(all, a, ((struct counted_value){ row->key, row->value, row->source }));
    return true;
}

static bool count_folder(struct shaped *out, struct counted *all, const char *folder, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    if (!list_folder(&names, &n, folder, ".csv", a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sheet sheet;
        if (!sheet_load(&sheet, arena_printf(a, "%s/%s.csv", folder, names[i]), a, err))
            return false;
        for (size_t k = 0; k < sheet.n_rows; k++) {
            const struct sheet_row *row = &sheet.rows[k];
            enum origin origin = sheet_row_origin(row);
            bool is_from_runs = strncmp(row->source, from_runs, strlen(from_runs)) == 0;
            if ((origin == ORIGIN_SOURCED && !is_from_runs) || !is_counted_first(all, row, a))
                continue;
            out->n_fitted += origin == ORIGIN_FITTED;
            out->n_from_runs += is_from_runs;
            out->n_assumed_on_sheets += origin == ORIGIN_ASSUMED;
        }
    }
    return true;
}

struct decision { const char *kind, *name, *file, *rows, *what; double tried; };
#define F(member, ...) FIELD_OF(struct decision, member, __VA_ARGS__)
static const struct field decision_fields[] = { F(kind, .required = true), F(name, .required = true), F(file, .required = true), F(rows),
                                                F(what, .required = true), F(tried, .min = 1, .max = 1000, .required = true) };
#undef F

/* Counts the rows of decisions.csv; a missing file means none. */
static bool count_decisions(struct shaped *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (access(path, F_OK) != 0)
        return true;
    const struct decision *d = records_load(&t, sizeof *d, path, decision_fields, N_FIELDS(decision_fields), a, err);
    for (size_t i = 0; d && i < t.n_rows; i++) {
        bool is_decision = text_is(d[i].kind, "decision");
        if (!is_decision && !text_is(d[i].kind, "code"))
            return fail(err, "%s:%u: kind: '%.40s' is not one of: decision, code", path, t.rows[i].line, d[i].kind);
        out->n_decisions += is_decision;
        out->n_tried += is_decision ? (size_t)d[i].tried : 0;
        out->n_in_code += !is_decision;
    }
    return d != NULL;
}

bool shaped_count(struct shaped *out, const char *specs_dir, const char *decisions, struct arena *a, struct err *err)
{
    struct counted all = { 0 };
#define X(name, value, unit, enters, why) + 1
    *out = (struct shaped){ .n_assumed_in_code = 0 ASSUMED(X) };
#undef X
    return count_folder(out, &all, specs_dir, a, err) && count_folder(out, &all, arena_printf(a, "%s/sdk", specs_dir), a, err)
        && count_folder(out, &all, arena_printf(a, "%s/frameworks", specs_dir), a, err) && count_decisions(out, decisions, a, err);
}

void shaped_document(struct document *d, const struct shaped *s, const char *decisions)
{
    document_line(d, "\ntaken from published rows: %zu fitted constants, %zu numbers read from published runs, and %zu decisions that rows prompted, for which %zu forms "
                  "were tried (%s)\nof no source: %zu assumed numbers (%zu on sheets, %zu in the code), and %zu more in the code", s->n_fitted, s->n_from_runs,
                  s->n_decisions, s->n_tried, decisions, s->n_assumed_on_sheets + s->n_assumed_in_code, s->n_assumed_on_sheets, s->n_assumed_in_code, s->n_in_code);
}
