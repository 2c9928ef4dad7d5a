/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_table.c - a sweep as a table for people: a few columns, sorted, with as many rows as the user wants. The rows are read from the
 * sweep's CSV, so that both say the same.
 */
#include "harness/sweep_table.h"

struct sweep_view { const struct csv_table *csv; const struct sweep_choice *choice; struct arena *a; };

static size_t column_named(const struct csv_table *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_columns && !text_is(t->columns[i], name))
        i++;
    return i;
}

static const char *cell_of(const struct sweep_view *v, size_t row, const char *column)
{
    size_t k = column_named(v->csv, column);
    return k < v->csv->n_columns ? v->csv->rows[row].cells[k] : "";
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

struct sortable { size_t row; bool fits, is_number; double number; const char *text; int direction; };

/* Sorts rows that fit first, then by value, best first and unknown values last, then in the order of the sweep. */
static int compare_sortable(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->is_number != y->is_number)
        return x->is_number ? -1 : 1;
    if (x->is_number && x->number != y->number)
        return (x->number < y->number ? -1 : 1) * x->direction;
    int texts = x->is_number ? 0 : strcmp(x->text, y->text);
    return texts ? texts : x->row < y->row ? -1 : x->row > y->row;
}

static size_t *sorted_rows(const struct sweep_view *v)
{
    size_t n = v->csv->n_rows, *rows = ARENA_ROOM(v->a, size_t, n);
    struct sortable *items = ARENA_ROOM(v->a, struct sortable, n);
    const char *by = v->choice->sort ? v->choice->sort : "throughput_samples_per_s";
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct sortable){ .row = i, .fits = text_is(cell_of(v, i, "status"), "fits"), .text = cell_of(v, i, by),
                                      .direction = result_column_better(by) == HIGHER ? -1 : 1 };
        items[i].is_number = parse_f64(items[i].text, &items[i].number);
    }
    if (v->choice->sort || v->choice->top)
        qsort(items, n, sizeof *items, compare_sortable);
    for (size_t i = 0; i < n; i++)
        rows[i] = items[i].row;
    return rows;
}

/* ---- columns --------------------------------------------------------------------------------------------- */

enum { MOST_SWEEP_COLUMNS = 64 };
struct shown_columns { struct table_column items[MOST_SWEEP_COLUMNS]; const char *names[MOST_SWEEP_COLUMNS]; size_t n; };

static void show_column(struct shown_columns *c, const char *name, const char *heading, bool aligns_right)
{
    if (c->n == MOST_SWEEP_COLUMNS)
        return;
    c->names[c->n] = name;
    c->items[c->n] = (struct table_column){ .type = CELL_TEXT, .offset = c->n * sizeof(const char *), .heading = heading, .aligns_right = aligns_right };
    c->n++;
}

static bool choose_sweep_columns(struct shown_columns *c, const struct sweep_view *v, struct err *err)
{
    const struct space *s = v->choice->space;
    for (const char *list = v->choice->columns, *name; list && (name = text_item(&list, ',', v->a)); ) {
        if (column_named(v->csv, name) == v->csv->n_columns)
            return fail(err, "--columns: a sweep has no column '%.60s'; %sknown: %s", name,
                        names_suggestion((const char *const *)v->csv->columns, v->csv->n_columns, name, v->a),
                        names_list((const char *const *)v->csv->columns, v->csv->n_columns, v->a));
        show_column(c, name, name, true);
    }
    if (v->choice->columns)
        return true;
    if (s->n_recipes > 1)
        show_column(c, "recipe", "recipe", false);
    for (size_t i = 0; i < s->n_axes; i++)
        for (size_t k = 0; k < s->axes[i].n_keys; k++)
            show_column(c, s->axes[i].keys[k], s->axes[i].keys[k], true);
    show_column(c, "status", "fits", false);
    show_column(c, "throughput_samples_per_s", "samples/s", true);
    show_column(c, "interval_low", "90 % interval", true);
    show_column(c, "step_time_s", "step", true);
    show_column(c, "mfu", "MFU", true);
    show_column(c, "notes", "notes", false);
    return true;
}

static const char *interval_text(const struct sweep_view *v, size_t row, double half)
{
    double from, to;
    if (!parse_f64(cell_of(v, row, "interval_low"), &from) || !parse_f64(cell_of(v, row, "interval_high"), &to))
        return NULL;
    return arena_printf(v->a, "%s to %s", quantity_within(from, "", half, v->a), quantity_within(to, "", half, v->a));
}

/* The text of a cell. Usual columns get as many digits as the interval allows; chosen columns are shown as in CSV. */
static const char *shown_cell(const struct sweep_view *v, size_t row, const char *column)
{
    const char *text = cell_of(v, row, column);
    double x, low, high, rate, half = 0, share = 0;
    if (v->choice->columns || !*text)
        return *text || text_is(column, "notes") ? text : NULL;
    if (parse_f64(cell_of(v, row, "interval_low"), &low) && parse_f64(cell_of(v, row, "interval_high"), &high) &&
        parse_f64(cell_of(v, row, "throughput_samples_per_s"), &rate)) {
        half = (high - low) / 2;
        share = half / rate;
    }
    if (text_is(column, "status"))
        return text_is(text, "fits") ? "yes" : text_is(text, "refused") ? "refused" : "NO";
    if (!parse_f64(text, &x))
        return text;
    if (text_is(column, "throughput_samples_per_s"))
        return quantity_within(x, "", half, v->a);
    if (text_is(column, "interval_low"))
        return interval_text(v, row, half);
    if (text_is(column, "step_time_s"))
        return quantity_within(x, "s", share * x, v->a);
    return text_is(column, "mfu") ? arena_printf(v->a, "%.1f %%", 100 * x) : text;
}

bool sweep_table_check(const struct sweep_choice *choice, const char *header, struct arena *a, struct err *err)
{
    struct csv_table csv;
    struct shown_columns c = { .n = 0 };
    struct sweep_view v = { &csv, choice, a };
    if (!csv_read_text(&csv, "the columns of a sweep", header, strlen(header), a, err) || !choose_sweep_columns(&c, &v, err))
        return false;
    return !choice->sort || column_named(&csv, choice->sort) < csv.n_columns
        || fail(err, "--sort: a sweep has no column '%.60s'; %sknown: %s", choice->sort,
                names_suggestion((const char *const *)csv.columns, csv.n_columns, choice->sort, a),
                names_list((const char *const *)csv.columns, csv.n_columns, a));
}

bool sweep_table_print(FILE *f, const struct sweep_choice *choice, const char *rows_csv, size_t n_bytes, struct arena *a, struct err *err)
{
    struct csv_table csv;
    struct shown_columns c = { .n = 0 };
    struct sweep_view v = { &csv, choice, a };
    if (!csv_read_text(&csv, "the rows of a sweep", rows_csv, n_bytes, a, err) || !choose_sweep_columns(&c, &v, err))
        return false;
    struct table t = { .columns = c.items, .n_columns = c.n, .row_bytes = sizeof(const char *) * c.n };
    const size_t *order = sorted_rows(&v);
    for (size_t i = 0; i < csv.n_rows && (!choice->top || i < choice->top); i++) {
        const char *cells[MOST_SWEEP_COLUMNS];
        for (size_t k = 0; k < c.n; k++)
            cells[k] = shown_cell(&v, order[i], c.names[k]);
        table_add(&t, cells, a);
    }
    table_write(f, FORMAT_TEXT, &t);
    return true;
}
