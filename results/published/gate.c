/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.c - what changed between the predictions of two runs of podbench, by cause, and how errors grew, by group.
 *
 * Cells are read by column name, so that runs of different versions can be compared. The move of a recipe is that of
 * its throughput; its cause is the part of the breakdown whose seconds changed most. Kernels and links move by their
 * own prediction.
 */
#include "results/published/check.h"
#include "results/simulate/result.h"
#include "results/simulate/run_folder.h"
#include <jansson.h>

static double cell_number(const struct csv_table *t, const struct csv_row *row, const char *column)
{
    double x;
    return parse_f64(csv_cell(t, row, column), &x) ? x : 0;
}

/* ---- moves ------------------------------------------------------------------------------------ */

static void add_gate_move(struct gate *g, struct gate_move m, struct arena *a)
{
    ARENA_APPEND(a, g->moves, g->n_moves, g->cap_moves, m);
}

/* The column of the breakdown whose seconds changed most; NULL if none changed. */
static const char *moved_part(const struct csv_table *bt, const struct csv_row *b, const struct csv_table *rt, const struct csv_row *r)
{
    const char *part = NULL;
    double most = 0;
    for (size_t k = 0; k < bt->n_columns; k++) {
        if (strncmp(bt->columns[k], "breakdown_", strlen("breakdown_")) != 0)
            continue;
        double change = fabs(cell_number(rt, r, bt->columns[k]) - cell_number(bt, b, bt->columns[k]));
        if (change > most) {
            most = change;
            part = bt->columns[k];
        }
    }
    return part;
}

static const char *part_name(const char *column, struct arena *a)
{
    const char *name = column + strlen("breakdown_");
    return arena_printf(a, "%.*s", (int)(strlen(name) - strlen("_s")), name);
}

/* A recipe's move is described by the first of these columns that differs. */
static const struct move_column { const char *column, *unit, *cause; } move_columns[] = {
    { "throughput_samples_per_s", "samples/s", NULL },
    { "memory_peak_bytes_per_tile", "B a tile", "memory" },
    { "samples_to_converge", "samples to converge", "samples to converge" },
    { "time_to_train_s", "s to train", "evaluation and start-up" },
    { "predicted_time_to_train_s", "s to train, predicted", "predicted convergence" },
    { "energy_j", "J", "energy" },
};

static void recipe_move(struct gate *g, const struct csv_table *bt, const struct csv_row *b, const struct csv_table *rt,
                        const struct csv_row *r, struct arena *a)
{
    const char *id = b->cells[0], *fit_before = csv_cell(bt, b, "fits"), *fit_after = csv_cell(rt, r, "fits");
    if (fit_before && fit_after && !text_is(fit_before, fit_after)) {
        int better = text_is(fit_after, "yes") - text_is(fit_before, "yes");
        add_gate_move(g, (struct gate_move){ id, "fits", arena_printf(a, "fits: %s -> %s", fit_before, fit_after), copysign(HUGE_VAL, better), better }, a);
        return;
    }
    for (size_t i = 0; i < sizeof move_columns / sizeof *move_columns; i++) {
        const char *before = csv_cell(bt, b, move_columns[i].column), *after = csv_cell(rt, r, move_columns[i].column);
        double x = cell_number(bt, b, move_columns[i].column), y = cell_number(rt, r, move_columns[i].column);
        if (text_is(before, after))
            continue;
        const char *part = move_columns[i].cause ? NULL : moved_part(bt, b, rt, r);
        add_gate_move(g, (struct gate_move){ id, move_columns[i].cause ? move_columns[i].cause : part ? part_name(part, a) : "batch",
                                   arena_printf(a, "%.6g -> %.6g %s", x, y, move_columns[i].unit), x > 0 ? y / x - 1 : 0,
                                   (int)result_column_better(move_columns[i].column) * ((y > x) - (y < x)) }, a);
        return;
    }
}

static void recipe_moves(struct gate *g, const struct gate_tables *base, const struct gate_tables *run, struct arena *a)
{
    for (size_t i = 0; i < base->rows.n_rows; i++) {
        const struct csv_row *r = csv_row_named(&run->rows, base->rows.rows[i].cells[0]);
        if (r)
            recipe_move(g, &base->rows, &base->rows.rows[i], &run->rows, r, a);
        g->n_gone += !r;
    }
    for (size_t i = 0; i < run->rows.n_rows; i++)
        g->n_new += !csv_row_named(&base->rows, run->rows.rows[i].cells[0]);
}

static bool is_kernel_or_link(const char *recipe)
{
    return strncmp(recipe, "kernel:", 7) == 0 || strncmp(recipe, "link:", 5) == 0;
}

/* Adds the changed predictions of kernels and links. Changes of recipes come from rows.csv instead. */
static void kernel_and_link_moves(struct gate *g, const struct gate_tables *base, const struct gate_tables *run, struct arena *a)
{
    for (size_t i = 0; i < base->check.n_rows; i++) {
        const struct csv_row *b = &base->check.rows[i], *r = csv_row_named(&run->check, b->cells[0]);
        g->n_gone += !r;
        if (!r || !is_kernel_or_link(csv_cell(&base->check, b, "recipe")) || text_is(csv_cell(&base->check, b, "simulated"), csv_cell(&run->check, r, "simulated")))
            continue;
        double x = cell_number(&base->check, b, "simulated"), y = cell_number(&run->check, r, "simulated");
        double error_before = fabs(cell_number(&base->check, b, "error")), error_after = fabs(cell_number(&run->check, r, "error"));
        add_gate_move(g, (struct gate_move){ b->cells[0], csv_cell(&base->check, b, "workload"), arena_printf(a, "%.6g -> %.6g %s", x, y, csv_cell(&base->check, b, "metric")),
                                   x > 0 ? y / x - 1 : 0, (error_after < error_before) - (error_after > error_before) }, a);
    }
    for (size_t i = 0; i < run->check.n_rows; i++)
        g->n_new += !csv_row_named(&base->check, run->check.rows[i].cells[0]);
}

static int larger_move(const void *x, const void *y)
{
    const struct gate_move *a = x, *b = y;
    double p = fabs(a->relative), q = fabs(b->relative);
    return p != q ? (p < q) - (p > q) : strcmp(a->id, b->id);
}

/* Collects the moves by cause. Moves are sorted, so the first move of a group is its largest. */
static void group_moves(struct gate *g, struct arena *a)
{
    g->groups = ARENA_ROOM(a, struct gate_group, g->n_moves);
    for (size_t i = 0; i < g->n_moves; i++) {
        const struct gate_move *m = &g->moves[i];
        size_t k = 0;
        while (k < g->n_groups && !text_is(g->groups[k].cause, m->cause))
            k++;
        struct gate_group *group = &g->groups[k];
        if (k == g->n_groups) {
            *group = (struct gate_group){ .cause = m->cause, .low = m->relative, .high = m->relative, .largest = m };
            g->n_groups++;
        }
        group->n++;
        group->n_better += m->verdict > 0;
        group->n_worse += m->verdict < 0;
        g->n_better += m->verdict > 0;
        g->n_worse += m->verdict < 0;
        group->low = fmin(group->low, m->relative);
        group->high = fmax(group->high, m->relative);
    }
    SORT_BY(g->groups, g->n_groups, FALLING(struct gate_group, n), RISING(struct gate_group, cause));
}

/* ---- accuracy ------------------------------------------------------------------------------------ */

/* One row that counts: its group, its configuration, and its |error| before and after. */
struct gate_row { const char *group, *configuration, *id; double before, after; };

/* The columns of errors. With published samples a row counts by counts_as; with predicted samples it counts by its role, since calibrating the
 * speed says nothing about the samples. */
static const struct error_column { const char *column, *counts_by, *suffix; } error_columns[] = {
    { "error", "counts_as", "" }, { "predicted_error", "role", ", samples predicted" } };

static bool validates(const struct csv_table *run, const struct csv_row *r, const struct error_column *e)
{
    const char *counts_by = csv_cell(run, r, e->counts_by);
    return text_is(*counts_by ? counts_by : csv_cell(run, r, "role"), "validate");
}

/* Collects the validating rows that have an error in both runs. */
static size_t validating_rows(struct gate_row *out, const struct csv_table *base, const struct csv_table *run, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < base->n_rows; i++) {
        const struct csv_row *b = &base->rows[i], *r = csv_row_named(run, b->cells[0]);
        for (size_t k = 0; r && k < 2; k++) {
            double before, after;
            const char *configuration = csv_cell(run, r, "configuration");
            if (!validates(run, r, &error_columns[k]) || !parse_f64(csv_cell(base, b, error_columns[k].column), &before) ||
                !parse_f64(csv_cell(run, r, error_columns[k].column), &after))
                continue;
            out[n++] = (struct gate_row){ arena_printf(a, "%s %s%s", csv_cell(run, r, "workload"), csv_cell(run, r, "metric"), error_columns[k].suffix),
                                          *configuration ? configuration : b->cells[0], b->cells[0], fabs(before), fabs(after) };
        }
    }
    return n;
}

static double growth_of(const struct gate_row *row)
{
    return fmax(0, row->after - row->before);
}

/* The mean errors of rows that all belong to one group. */
static struct gate_accuracy accuracy_of_group(const struct gate_row *rows, size_t n, double margin, struct arena *a)
{
    struct gate_accuracy out = { .name = rows[0].group };
    struct row_error *before = ARENA_ROOM(a, struct row_error, n), *after = ARENA_ROOM(a, struct row_error, n),
                     *growth = ARENA_ROOM(a, struct row_error, n);
    for (size_t i = 0; i < n; i++) {
        before[i] = (struct row_error){ rows[i].configuration, rows[i].before, 0 };
        after[i] = (struct row_error){ rows[i].configuration, rows[i].after, 0 };
        growth[i] = (struct row_error){ rows[i].configuration, growth_of(&rows[i]), 0 };
        if (growth_of(&rows[i]) > out.worst_growth) {
            out.worst_growth = growth_of(&rows[i]);
            out.worst = rows[i].id;
        }
    }
    struct error_summary grown = errors_by_configuration(growth, n, a);
    out.n = grown.n;
    out.growth = grown.mean;
    out.before = errors_by_configuration(before, n, a).mean;
    out.after = errors_by_configuration(after, n, a).mean;
    out.holds = out.growth <= margin;
    return out;
}

static void group_accuracy(struct gate *g, const struct csv_table *base, const struct csv_table *run, struct arena *a)
{
    struct gate_row *rows = ARENA_ROOM(a, struct gate_row, 2 * base->n_rows);
    size_t n = validating_rows(rows, base, run, a);
    SORT_BY(rows, n, RISING(struct gate_row, group), RISING(struct gate_row, id));
    g->accuracy = ARENA_ROOM(a, struct gate_accuracy, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && text_is(rows[end].group, rows[i].group); end++)
            ;
        g->accuracy[g->n_accuracy++] = accuracy_of_group(rows + i, end - i, g->margin, a);
    }
    SORT_BY(g->accuracy, g->n_accuracy, FALLING(struct gate_accuracy, growth), RISING(struct gate_accuracy, name));
}

bool gate_build(struct gate *out, const struct gate_tables *base, const struct gate_tables *run, double margin, struct arena *a, struct err *err)
{
    *out = (struct gate){ .margin = margin, .n_rows = run->rows.n_rows + run->check.n_rows };
    const struct csv_table *tables[] = { &base->rows, &base->check, &run->rows, &run->check };
    for (size_t i = 0; i < 4; i++)
        if (tables[i]->n_columns == 0 || !text_is(tables[i]->columns[0], "id"))
            return fail(err, "%s:1: the first column is '%s', want 'id'", tables[i]->path, tables[i]->n_columns ? tables[i]->columns[0] : "");
    recipe_moves(out, base, run, a);
    kernel_and_link_moves(out, base, run, a);
    sort_items(out->moves, out->n_moves, sizeof *out->moves, larger_move);
    group_moves(out, a);
    group_accuracy(out, &base->check, &run->check, a);
    return true;
}

/* ---- inputs ---------------------------------------------------------------------------------------- */

static json_t *manifest_inputs(const char *path, json_t **manifest, struct err *err)
{
    json_error_t why = { .text = "" };
    *manifest = manifest_load(path, &why);
    if (*why.text)
        fail(err, "%s:%d: %s", path, why.line, why.text);
    return json_object_get(*manifest, "inputs");
}

bool gate_inputs(struct gate *out, const char *base_manifest, const char *run_manifest, struct arena *a, struct err *err)
{
    json_t *base, *run, *hash;
    json_t *before = manifest_inputs(base_manifest, &base, err), *after = manifest_inputs(run_manifest, &run, err);
    const char *file;
    out->inputs_known = before && after;
    out->inputs = ARENA_ROOM(a, const char *, json_object_size(before) + json_object_size(after));
    json_object_foreach(after, file, hash)
        if (before && !json_equal(json_object_get(before, file), hash))
            out->inputs[out->n_inputs++] = arena_strdup(a, file);
    json_object_foreach(before, file, hash)
        if (after && !json_object_get(after, file))
            out->inputs[out->n_inputs++] = arena_strdup(a, file);
    json_decref(base);
    json_decref(run);
    return true;
}

bool gate_moved(const struct gate *g)
{
    return g->n_moves || g->n_new || g->n_gone;
}

bool gate_accuracy_holds(const struct gate *g)
{
    for (size_t i = 0; i < g->n_accuracy; i++)
        if (!g->accuracy[i].holds)
            return false;
    return true;
}
