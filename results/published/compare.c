/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.c - two tables of the same shape, cell by cell.
 *
 * Each column of a result knows whether more is better; an "error" is better the nearer it is to zero.
 */
#include "results/published/check.h"
#include "results/simulate/result.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

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

static void add_change(struct comparison *out, struct table_change change, struct arena *a)
{
    out->items = arena_grow(a, out->items, out->n, &out->cap, sizeof *out->items);
    out->items[out->n++] = change;
}

static int sign(double x)
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
    c.verdict = text_is(column, "error") || text_is(column, "predicted_error") ? sign(fabs(x) - fabs(y)) : (int)result_column_better(column) * sign(y - x);
    return c;
}

static void compare_rows(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                         const size_t *column_in_run, struct arena *a)
{
    for (size_t i = 0; i < base->n_rows; i++) {
        const struct csv_row *before = &base->rows[i], *after = csv_row_named(run, before->cells[0]);
        if (!after) {
            add_change(out, (struct table_change){ .kind = CHANGE_ROW_GONE, .id = before->cells[0] }, a);
            continue;
        }
        for (size_t k = 1; k < base->n_columns; k++)
            if (column_in_run[k] != SIZE_MAX && !result_column_is_provenance(base->columns[k]) && !text_is(before->cells[k], after->cells[column_in_run[k]]))
                add_change(out, cell_change(before->cells[0], base->columns[k], before->cells[k], after->cells[column_in_run[k]]), a);
    }
    for (size_t i = 0; i < run->n_rows; i++)
        if (!csv_row_named(base, run->rows[i].cells[0]))
            add_change(out, (struct table_change){ .kind = CHANGE_ROW_NEW, .id = run->rows[i].cells[0] }, a);
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
                add_change(out, (struct table_change){ .kind = CHANGE_COLUMN_GONE, .column = base->columns[k] }, a);
        }
    size_t unused;
    for (size_t k = 1; k < run->n_columns; k++)
        if (!csv_column(&unused, base, run->columns[k], NULL) && !result_column_is_provenance(run->columns[k]))
            add_change(out, (struct table_change){ .kind = CHANGE_COLUMN_NEW, .column = run->columns[k] }, a);
    compare_rows(out, base, run, column_in_run, a);
    return true;
}

static const char *verdict_word(const struct table_change *c)
{
    return c->verdict > 0 ? "better" : c->verdict < 0 ? "worse" : "";
}

void compare_print_text(FILE *f, const struct comparison *c)
{
    const char *last_id = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct table_change *x = &c->items[i];
        if (x->kind != CHANGE_CELL) {
            fprintf(f, "%s: %s\n", x->id ? x->id : x->column, change_names[x->kind]);
            continue;
        }
        if (!text_is(last_id, x->id))
            fprintf(f, "%s\n", x->id);
        last_id = x->id;
        fprintf(f, "  %-32s %s -> %s", x->column, *x->before ? x->before : "-", *x->after ? x->after : "-");
        if (x->is_number)
            fprintf(f, "  (%+.3g %%)", 100 * x->relative);
        fprintf(f, "%s%s\n", x->verdict ? "  " : "", verdict_word(x));
    }
    if (c->n)
        fprintf(f, "%zu %s\n", c->n, c->n == 1 ? "difference" : "differences");
    else
        fprintf(f, "the same: %zu rows of %zu columns\n", c->n_rows, c->n_columns);
}

static void print_accuracy(FILE *f, enum figure_kind kind, const char *role, struct error_summary before, struct error_summary after)
{
    fprintf(f, "accuracy of %s, %s: %zu -> %zu configurations, median %.3f -> %.3f %%, mean %.3f -> %.3f %%  %s\n", figure_kind_names[kind],
            role, before.n, after.n, 100 * before.median, 100 * after.median, 100 * before.mean, 100 * after.mean,
            after.mean < before.mean ? "better" : after.mean > before.mean ? "worse" : "the same");
}

void compare_print_accuracy(FILE *f, const struct csv_table *base, const struct csv_table *run, struct arena *scratch)
{
    for (int kind = 0; kind <= FIGURE_OF_LINK; kind++)
        for (int role = 0; role < N_FIGURE_ROLES; role++) {
            struct error_summary before = errors_of_table(base, (enum figure_kind)kind, role_names[role], scratch);
            struct error_summary after = errors_of_table(run, (enum figure_kind)kind, role_names[role], scratch);
            if (before.n || after.n)
                print_accuracy(f, (enum figure_kind)kind, role_names[role], before, after);
        }
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

json_t *compare_json(const struct comparison *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n; i++) {
        const struct table_change *x = &c->items[i];
        json_t *o = json_object();
        json_object_set_new(o, "id", text_or_null(x->id));
        json_object_set_new(o, "column", text_or_null(x->column));
        json_object_set_new(o, "kind", json_string(change_names[x->kind]));
        json_object_set_new(o, "before", text_or_null(x->before));
        json_object_set_new(o, "after", text_or_null(x->after));
        json_object_set_new(o, "relative", x->is_number ? json_real(x->relative) : json_null());
        json_object_set_new(o, "verdict", text_or_null(x->verdict ? verdict_word(x) : NULL));
        json_array_append_new(array, o);
    }
    return array;
}
