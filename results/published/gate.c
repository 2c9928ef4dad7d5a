/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.c - the moves between two runs, by cause, and the growth of errors by group.
 *
 * Read from the tables as they stand, by column, so that runs of another version can be set side by side. A recipe's move is that of its
 * throughput; its cause is the part of the breakdown whose seconds a sample changed most. Kernels and links move by their own prediction.
 */
#include "results/published/gate.h"
#include "results/simulate/result.h"
#include "results/simulate/run_folder.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------ */

static const char *cell(const struct csv_table *t, const struct csv_row *row, const char *column)
{
    size_t at;
    return csv_column(&at, t, column, NULL) ? row->cells[at] : "";
}

static double number(const struct csv_table *t, const struct csv_row *row, const char *column)
{
    double x;
    return parse_f64(cell(t, row, column), &x) ? x : 0;
}

static const struct csv_row *row_of(const struct csv_table *t, const char *id)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (text_is(t->rows[i].cells[0], id))
            return &t->rows[i];
    return NULL;
}

/* ---- moves ------------------------------------------------------------------------------------ */

static void add_move(struct gate *g, struct gate_move m, struct arena *a)
{
    g->moves = arena_grow(a, g->moves, g->n_moves, &g->cap_moves, sizeof *g->moves);
    g->moves[g->n_moves++] = m;
}

/* The part of the step whose seconds moved most; NULL: none did. */
static const char *moved_part(const struct csv_table *bt, const struct csv_row *b, const struct csv_table *rt, const struct csv_row *r)
{
    const char *part = NULL;
    double most = 0;
    for (size_t k = 0; k < bt->n_columns; k++) {
        if (strncmp(bt->columns[k], "breakdown_", strlen("breakdown_")) != 0)
            continue;
        double change = fabs(number(rt, r, bt->columns[k]) - number(bt, b, bt->columns[k]));
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

/* Columns of a recipe's row in the order in which a move is told by them; the first that moved names it. */
static const struct told { const char *column, *unit, *cause; } told[] = {
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
    const char *id = b->cells[0], *fit_before = cell(bt, b, "fits"), *fit_after = cell(rt, r, "fits");
    if (fit_before && fit_after && !text_is(fit_before, fit_after)) {
        int better = text_is(fit_after, "yes") - text_is(fit_before, "yes");
        add_move(g, (struct gate_move){ id, "fits", arena_printf(a, "fits: %s -> %s", fit_before, fit_after), copysign(HUGE_VAL, better), better }, a);
        return;
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *before = cell(bt, b, told[i].column), *after = cell(rt, r, told[i].column);
        double x = number(bt, b, told[i].column), y = number(rt, r, told[i].column);
        if (text_is(before, after))
            continue;
        const char *part = told[i].cause ? NULL : moved_part(bt, b, rt, r);
        add_move(g, (struct gate_move){ id, told[i].cause ? told[i].cause : part ? part_name(part, a) : "batch",
                                   arena_printf(a, "%.6g -> %.6g %s", x, y, told[i].unit), x > 0 ? y / x - 1 : 0,
                                   (int)result_column_better(told[i].column) * ((y > x) - (y < x)) }, a);
        return;
    }
}

static void recipe_moves(struct gate *g, const struct gate_tables *base, const struct gate_tables *run, struct arena *a)
{
    for (size_t i = 0; i < base->rows.n_rows; i++) {
        const struct csv_row *r = row_of(&run->rows, base->rows.rows[i].cells[0]);
        if (r)
            recipe_move(g, &base->rows, &base->rows.rows[i], &run->rows, r, a);
        g->n_gone += !r;
    }
    for (size_t i = 0; i < run->rows.n_rows; i++)
        g->n_new += !row_of(&base->rows, run->rows.rows[i].cells[0]);
}

static bool is_part(const char *recipe)
{
    return strncmp(recipe, "kernel:", 7) == 0 || strncmp(recipe, "link:", 5) == 0;
}

/* Kernels and links; what is predicted of recipes moves with them. */
static void part_moves(struct gate *g, const struct gate_tables *base, const struct gate_tables *run, struct arena *a)
{
    for (size_t i = 0; i < base->check.n_rows; i++) {
        const struct csv_row *b = &base->check.rows[i], *r = row_of(&run->check, b->cells[0]);
        g->n_gone += !r;
        if (!r || !is_part(cell(&base->check, b, "recipe")) || text_is(cell(&base->check, b, "simulated"), cell(&run->check, r, "simulated")))
            continue;
        double x = number(&base->check, b, "simulated"), y = number(&run->check, r, "simulated");
        double error_before = fabs(number(&base->check, b, "error")), error_after = fabs(number(&run->check, r, "error"));
        add_move(g, (struct gate_move){ b->cells[0], cell(&base->check, b, "workload"), arena_printf(a, "%.6g -> %.6g %s", x, y, cell(&base->check, b, "metric")),
                                   x > 0 ? y / x - 1 : 0, (error_after < error_before) - (error_after > error_before) }, a);
    }
    for (size_t i = 0; i < run->check.n_rows; i++)
        g->n_new += !row_of(&base->check, run->check.rows[i].cells[0]);
}

static int larger_move(const void *x, const void *y)
{
    const struct gate_move *a = x, *b = y;
    double p = fabs(a->relative), q = fabs(b->relative);
    return p != q ? (p < q) - (p > q) : strcmp(a->id, b->id);
}

static int larger_group(const void *x, const void *y)
{
    const struct gate_group *a = x, *b = y;
    return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : strcmp(a->cause, b->cause);
}

/* Moves are sorted: the first of a group is its largest. */
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
    sort_items(g->groups, g->n_groups, sizeof *g->groups, larger_group);
}

/* ---- accuracy ------------------------------------------------------------------------------------ */

static struct accuracy_group *group_named(struct gate *g, const char *name)
{
    for (size_t i = 0; i < g->n_accuracy; i++)
        if (text_is(g->accuracy[i].name, name))
            return &g->accuracy[i];
    struct accuracy_group *new = &g->accuracy[g->n_accuracy++];
    *new = (struct accuracy_group){ .name = name };
    return new;
}

static int by_growth(const void *x, const void *y)
{
    const struct accuracy_group *a = x, *b = y;
    return a->growth != b->growth ? (a->growth < b->growth) - (a->growth > b->growth) : strcmp(a->name, b->name);
}

/* A row that the accuracy counts: its group, its configuration, and the error before and after. */
struct counted { const char *name, *configuration, *id; double before, after; };

/* Rows of a configuration share its weight of 1. */
static void add_row(struct gate *g, const struct counted *row, double weight)
{
    struct accuracy_group *group = group_named(g, row->name);
    double growth = fmax(0, row->after - row->before);
    group->weight += weight;
    group->before += weight * row->before;
    group->after += weight * row->after;
    group->growth += weight * growth;
    if (growth > group->worst_growth) {
        group->worst_growth = growth;
        group->worst = row->id;
    }
}

static void add_rows(struct gate *g, const struct counted *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double alike = 0;
        for (size_t k = 0; k < n; k++)
            alike += text_is(rows[k].name, rows[i].name) && text_is(rows[k].configuration, rows[i].configuration);
        add_row(g, &rows[i], 1 / alike);
    }
}

/* Errors as the check has them. With published samples a row counts as it says; with predicted ones by its role, as what calibrated the
 * speed of a configuration says nothing of its samples. */
static const struct manner { const char *column, *counts_by, *name; } manners[] = {
    { "error", "counts_as", "" }, { "predicted_error", "role", ", samples predicted" } };

static bool validates(const struct csv_table *run, const struct csv_row *r, const struct manner *m)
{
    const char *counts_by = cell(run, r, m->counts_by);
    return text_is(*counts_by ? counts_by : cell(run, r, "role"), "validate");
}

/* Rows of both runs that have a prediction. */
static size_t counted_rows(struct counted *out, const struct csv_table *base, const struct csv_table *run, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < base->n_rows; i++) {
        const struct csv_row *b = &base->rows[i], *r = row_of(run, b->cells[0]);
        for (size_t k = 0; r && k < 2; k++) {
            double before, after;
            const char *configuration = cell(run, r, "configuration");
            if (!validates(run, r, &manners[k]) || !parse_f64(cell(base, b, manners[k].column), &before) ||
                !parse_f64(cell(run, r, manners[k].column), &after))
                continue;
            out[n++] = (struct counted){ arena_printf(a, "%s %s%s", cell(run, r, "workload"), cell(run, r, "metric"), manners[k].name),
                                         *configuration ? configuration : b->cells[0], b->cells[0], fabs(before), fabs(after) };
        }
    }
    return n;
}

static void group_accuracy(struct gate *g, const struct csv_table *base, const struct csv_table *run, struct arena *a)
{
    struct counted *rows = ARENA_ROOM(a, struct counted, 2 * base->n_rows);
    size_t n = counted_rows(rows, base, run, a);
    g->accuracy = ARENA_ROOM(a, struct accuracy_group, n);
    add_rows(g, rows, n);
    for (size_t i = 0; i < g->n_accuracy; i++) {
        struct accuracy_group *group = &g->accuracy[i];
        group->n = (size_t)(group->weight + 0.5);
        group->before /= group->weight;
        group->after /= group->weight;
        group->growth /= group->weight;
        group->holds = group->growth <= g->margin;
    }
    sort_items(g->accuracy, g->n_accuracy, sizeof *g->accuracy, by_growth);
}

bool gate_build(struct gate *out, const struct gate_tables *base, const struct gate_tables *run, double margin, struct arena *a, struct err *err)
{
    *out = (struct gate){ .margin = margin, .n_rows = run->rows.n_rows + run->check.n_rows };
    const struct csv_table *tables[] = { &base->rows, &base->check, &run->rows, &run->check };
    for (size_t i = 0; i < 4; i++)
        if (tables[i]->n_columns == 0 || !text_is(tables[i]->columns[0], "id"))
            return fail(err, "%s:1: the first column is '%s', want 'id'", tables[i]->path, tables[i]->n_columns ? tables[i]->columns[0] : "");
    recipe_moves(out, base, run, a);
    part_moves(out, base, run, a);
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
