/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_accuracy.c - every published configuration: its throughput, published and simulated, and the error.
 *
 * There is one row per configuration, those of a model together, the smallest system first. The interval is blind: it
 * uses only the errors of runs that others published.
 */
#include "results/figures/drawings.h"
#include "results/study/trust.h"

/* Models in the order of their groups' names, systems by size. */
static int row_order(const void *a, const void *b)
{
    const struct reference *x = *(const struct reference *const *)a, *y = *(const struct reference *const *)b;
    static const enum property_id names[] = { BY_MODE, BY_WORKLOAD, BY_CHIP };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int order = strcmp(x->at.name[names[i]], y->at.name[names[i]]);
        if (order)
            return i == 0 ? -order : order;     /* training first */
    }
    double m = x->at.number[BY_IPUS], n = y->at.number[BY_IPUS];
    return m != n ? (m < n ? -1 : 1) : strcmp(x->recipe, y->recipe);
}

static const struct reference **in_order(const struct references *r, struct arena *a)
{
    const struct reference **rows = ARENA_ARRAY(a, const struct reference *, r->n);
    for (size_t i = 0; i < r->n; i++)
        rows[i] = &r->items[i];
    sort_items(rows, r->n, sizeof *rows, row_order);
    return rows;
}

/* intervals: of the rows, as logarithms of the ratio to the prediction; 0, 0 where no other origin gives one. */
static const char *accuracy_finding(const struct reference *const *rows, const struct log_interval *intervals, size_t n_rows, struct arena *a)
{
    size_t n = 0, n_judged = 0, n_inside = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i]->role == FIGURE_VALIDATE) {
            n++;
            double truth = log(rows[i]->published / rows[i]->simulated);
            n_judged += intervals[i].high > intervals[i].low;
            n_inside += intervals[i].high > intervals[i].low && truth >= intervals[i].low && truth <= intervals[i].high;
        }
    if (!n)
        return n_rows ? "No configuration has been kept out of the fit" : NULL;
    if (!n_judged)
        return "Nobody else has published a run whose error would give an interval";
    return arena_printf(a, "%zu of %zu configurations of role validate lie within the 90 %% interval that runs of other origins give", n_inside, n_judged);
}

static void write_configuration(FILE *f, const struct reference *r, struct log_interval interval, size_t row, struct arena *a)
{
    double error = 100 * (r->simulated / r->published - 1);
    double low = 100 * (r->simulated * exp(interval.low) / r->published - 1), high = 100 * (r->simulated * exp(interval.high) / r->published - 1);
    double per_ipu = r->at.number[BY_IPUS], by_role[N_FIGURE_ROLES] = { NAN, NAN, NAN };
    by_role[r->role] = error;
    const double cells[] = { -(double)row, r->published / per_ipu, r->simulated / per_ipu, by_role[FIGURE_CALIBRATE], by_role[FIGURE_VALIDATE],
                             by_role[FIGURE_CONTEXT], low, high };
    drawing_row(f, drawing_label(r->recipe, a), cells, sizeof cells / sizeof *cells);
}

bool draw_accuracy(struct drawing *d, struct err *err)
{
    const struct references *r = d->from->references;
    const struct reference **rows = in_order(r, d->a);
    FILE *f = drawing_table(d, "accuracy", "label,row,published,simulated,calibrates,validates,context,low,high");
    struct log_interval *intervals = ARENA_ARRAY(d->a, struct log_interval, r->n);
    const struct spread s = spread_fit(r, NULL, d->a);
    for (size_t i = 0; i < r->n; i++) {
        intervals[i] = interval_without_origin(r, rows[i], &s, d->a);
        write_configuration(f, rows[i], intervals[i], i, d->a);
    }
    d->missing = "no published configuration";
    d->finding = accuracy_finding(rows, intervals, r->n, d->a);
    (void)err;
    return true;
}
