/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.c - two tables of the same shape, cell by cell.
 *
 * Each column of a result knows whether more is better; an "error" is better the nearer it is to zero.
 */
#include "results/published/check.h"
#include "results/simulate/result.h"

static const char *const change_names[] = { "changed", "row is gone", "row is new", "column is gone", "column is new" };

static bool check_row_ids(const struct csv_table *t, struct err *err)
{
    if (t->n_columns == 0 || !text_is(t->columns[0], "id"))
        return fail(err, "%s:1: the first column is '%s', want 'id'", t->path, t->n_columns ? t->columns[0] : "");
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t j = 0; j < i; j++)
            if (text_is(t->rows[i].cells[0], t->rows[j].cells[0]))
                return fail(err, "%s:%u: id: %s appears twice", t->path, t->rows[i].line, t->rows[i].cells[0]);
    return true;
}

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static struct table_change cell_change(const char *id, const char *column, const char *before, const char *after)
{
    struct table_change c = { .kind = CHANGE_CELL, .id = id, .column = column, .before = before, .after = after };
    double x, y;
    if (text_is(column, "fits"))
        c.verdict = text_is(after, "yes") - text_is(before, "yes");
    if (!parse_f64(before, &x) || !parse_f64(after, &y))
        return c;
    c.is_number = x != 0;
    c.relative = c.is_number ? y / x - 1 : 0;
    c.verdict = text_is(column, "error") || text_is(column, "predicted_error") ? sign_of(fabs(x) - fabs(y)) : (int)result_column_better(column) * sign_of(y - x);
    return c;
}

static void compare_rows(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                         const size_t *column_in_run, struct arena *a)
{
    for (size_t i = 0; i < base->n_rows; i++) {
        const struct csv_row *before = &base->rows[i], *after = csv_row_named(run, before->cells[0]);
        if (!after) {
            LIST_ADD(out, a, (struct table_change){ .kind = CHANGE_ROW_GONE, .id = before->cells[0] });
            continue;
        }
        for (size_t k = 1; k < base->n_columns; k++)
            if (column_in_run[k] != SIZE_MAX && !result_column_is_provenance(base->columns[k]) && !text_is(before->cells[k], after->cells[column_in_run[k]]))
                LIST_ADD(out, a, cell_change(before->cells[0], base->columns[k], before->cells[k], after->cells[column_in_run[k]]));
    }
    for (size_t i = 0; i < run->n_rows; i++)
        if (!csv_row_named(base, run->rows[i].cells[0]))
            LIST_ADD(out, a, (struct table_change){ .kind = CHANGE_ROW_NEW, .id = run->rows[i].cells[0] });
}

bool compare_tables(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                    struct arena *a, struct err *err)
{
    if (!check_row_ids(base, err) || !check_row_ids(run, err))
        return false;
    size_t *column_in_run = ARENA_ARRAY(a, size_t, base->n_columns);
    out->n_rows = run->n_rows;
    out->n_columns = run->n_columns;
    for (size_t k = 0; k < base->n_columns; k++)
        if (!csv_column(&column_in_run[k], run, base->columns[k], NULL)) {
            column_in_run[k] = SIZE_MAX;
            if (!result_column_is_provenance(base->columns[k]))
                LIST_ADD(out, a, (struct table_change){ .kind = CHANGE_COLUMN_GONE, .column = base->columns[k] });
        }
    size_t unused;
    for (size_t k = 1; k < run->n_columns; k++)
        if (!csv_column(&unused, base, run->columns[k], NULL) && !result_column_is_provenance(run->columns[k]))
            LIST_ADD(out, a, (struct table_change){ .kind = CHANGE_COLUMN_NEW, .column = run->columns[k] });
    compare_rows(out, base, run, column_in_run, a);
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------ */

struct change_line { const char *id, *column, *kind, *before, *after, *verdict, *text; double relative; };
static const struct table_column change_columns[] = {
    { COLUMN(struct change_line, id), .heading = "row" }, { COLUMN(struct change_line, column), .heading = "column" },
    { COLUMN(struct change_line, kind) }, { COLUMN(struct change_line, before) }, { COLUMN(struct change_line, after) },
    { COLUMN_AS(struct change_line, text, NULL), .heading = "change" },
    { COLUMN(struct change_line, relative), .heading = "by %", .format = "%+.3g", .scale = 100 },
    { COLUMN(struct change_line, verdict), .heading = "verdict" },
};

struct table compare_table(const struct comparison *c, struct arena *a)
{
    struct table t = TABLE(change_columns, struct change_line);
    for (size_t i = 0; i < c->n; i++) {
        const struct table_change *x = &c->items[i];
        const char *text = x->kind != CHANGE_CELL ? change_names[x->kind]
                         : arena_printf(a, "%s -> %s", *x->before ? x->before : "-", *x->after ? x->after : "-");
        table_add(&t, &(struct change_line){ x->id, x->column, change_names[x->kind], x->before, x->after,
                                             x->verdict > 0 ? "better" : x->verdict < 0 ? "worse" : NULL, text,
                                             x->is_number ? x->relative : (double)NAN }, a);
    }
    return t;
}

void compare_document(struct document *d, const struct comparison *c)
{
    document_table(d, compare_table(c, d->arena));
    if (c->n)
        document_line(d, "%zu difference%s", c->n, plural(c->n));
    else
        document_line(d, "the same: %zu rows of %zu columns", c->n_rows, c->n_columns);
}

/* ---- accuracy by kind and role ------------------------------------------------------------------------ */

static void add_accuracy_change(struct document *d, enum figure_kind kind, const char *role, struct error_summary before, struct error_summary after)
{
    document_line(d, "accuracy of %s, %s: %zu -> %zu configurations, median %.3f -> %.3f %%, mean %.3f -> %.3f %%  %s", figure_kind_names[kind],
                  role, before.n, after.n, 100 * before.median, 100 * after.median, 100 * before.mean, 100 * after.mean,
                  after.mean < before.mean ? "better" : after.mean > before.mean ? "worse" : "the same");
}

void compare_add_accuracy(struct document *d, const struct csv_table *base, const struct csv_table *run)
{
    for (int kind = 0; kind <= FIGURE_OF_LINK; kind++)
        for (int role = 0; role < N_FIGURE_ROLES; role++) {
            struct error_summary before = errors_of_table(base, (enum figure_kind)kind, role_names[role], d->arena);
            struct error_summary after = errors_of_table(run, (enum figure_kind)kind, role_names[role], d->arena);
            if (before.n || after.n)
                add_accuracy_change(d, (enum figure_kind)kind, role_names[role], before, after);
        }
}
