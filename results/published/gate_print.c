/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_print.c - what `podbench gate` says: changes of predictions and of accuracy, as a document of one screen and as judgements.
 */
#include "results/published/check.h"

enum { MOST_GROUPS = 12, MOST_INPUTS = 6, MOST_ACCURACIES = 8 };

struct gate_line { const char *cause, *range, *largest; uint64_t n; };
static const struct table_column group_columns[] = {
    { COLUMN(struct gate_line, cause), .heading = "what moved most" }, { COLUMN(struct gate_line, n), .heading = "rows" },
    { COLUMN(struct gate_line, range), .heading = "by" }, { COLUMN(struct gate_line, largest), .heading = "the largest" },
};

struct accuracy_change { const char *name, *worst, *verdict; uint64_t n; double before, after, growth; };
#define PER_CENT .format = "%.2f", .scale = 100
static const struct table_column accuracy_columns[] = {
    { COLUMN(struct accuracy_change, name), .heading = "group" }, { COLUMN(struct accuracy_change, n), .heading = "configurations" },
    { COLUMN(struct accuracy_change, before), .heading = "before %", PER_CENT },
    { COLUMN(struct accuracy_change, after), .heading = "after %", PER_CENT },
    { COLUMN(struct accuracy_change, growth), .heading = "growth, points", PER_CENT },
    { COLUMN(struct accuracy_change, worst), .heading = "most in" }, { COLUMN(struct accuracy_change, verdict), .heading = "" },
};
#undef PER_CENT

/* The range of a group's relative changes, as text; "-" for changes of "fits", which have no size. */
static const char *range_text(const struct gate_group *m, struct arena *a)
{
    if (isinf(m->low) || isinf(m->high))
        return "-";
    if (m->low == m->high)
        return arena_printf(a, "%+.3g %%", 100 * m->low);
    return arena_printf(a, "%+.3g to %+.3g %%", 100 * m->low, 100 * m->high);
}

/* Adds a line with the names of the inputs that differ. */
static void gate_add_inputs(struct document *d, const struct gate *g)
{
    const char *text = names_joined(g->inputs, min_u64(g->n_inputs, MOST_INPUTS), ", ", d->arena);
    if (g->n_inputs > MOST_INPUTS)
        text = arena_printf(d->arena, "%s, and %zu more", text, g->n_inputs - MOST_INPUTS);
    if (g->n_inputs)
        document_line(d, "  inputs that differ: %s", text);
    else if (g->inputs_known)
        document_line(d, "  inputs that differ: none; the program itself differs");
}

static void gate_add_change(struct document *d, const struct gate *g)
{
    if (!gate_moved(g)) {
        document_line(d, "change: none, the same: %zu rows", g->n_rows);
        return;
    }
    const char *rows = g->n_new || g->n_gone ? arena_printf(d->arena, ", %zu rows are new, %zu are gone", g->n_new, g->n_gone) : "";
    document_line(d, "change: %zu prediction%s moved (%zu better, %zu worse)%s", g->n_moves, plural(g->n_moves), g->n_better, g->n_worse, rows);
    gate_add_inputs(d, g);
    struct table t = TABLE(group_columns, struct gate_line, .indent = "  ");
    for (size_t i = 0; i < g->n_groups && i < MOST_GROUPS; i++) {
        const struct gate_group *m = &g->groups[i];
        const char *largest = arena_printf(d->arena, "%s: %s", m->largest->id, m->largest->what);
        table_add(&t, &(struct gate_line){ m->cause, range_text(m, d->arena), largest, m->n }, d->arena);
    }
    document_table(d, t);
    if (g->n_groups > MOST_GROUPS)
        document_line(d, "  and %zu more: --all lists every cell", g->n_groups - MOST_GROUPS);
}

static void gate_add_accuracy(struct document *d, const struct gate *g)
{
    struct table t = TABLE(accuracy_columns, struct accuracy_change);
    size_t n_left_out = 0;
    t.indent = "  ";
    document_line(d, "accuracy of validate rows: %s (the mean |error| of a group may grow by %.3g percentage point%s; gains elsewhere do not offset it)",
                  gate_accuracy_holds(g) ? "holds" : "WORSE", 100 * g->margin, 100 * g->margin == 1 ? "" : "s");
    for (size_t i = 0; i < g->n_accuracy; i++) {
        const struct gate_accuracy *x = &g->accuracy[i];
        if (x->growth == 0 && x->before == x->after)
            continue;
        if (t.n < MOST_ACCURACIES)
            table_add(&t, &(struct accuracy_change){ x->name, x->worst, x->holds ? "" : "TOO MUCH", x->n, x->before, x->after,
                                                     x->growth }, d->arena);
        else
            n_left_out++;
    }
    document_table(d, t);
    if (n_left_out)
        document_line(d, "  and %zu more groups that moved less", n_left_out);
}

/* The changed input that most likely moved a recipe: one whose name contains its id, else the first changed recipe, else the first input; NULL
 * if none changed. */
static const char *suspect(const struct gate *g, const char *id)
{
    const char *found = NULL;
    for (size_t i = g->n_inputs; i-- > 0; ) {
        size_t n = strlen(g->inputs[i]);
        bool is_recipe = n > 4 && text_is(g->inputs[i] + n - 4, ".ini");
        if (is_recipe && strstr(g->inputs[i], id))
            return g->inputs[i];
        if (is_recipe || !found)
            found = g->inputs[i];
    }
    return found;
}

static void add_judgements(struct judgements *out, const struct gate *g, struct arena *a)
{
    out->suite = "podbench compare";
    for (size_t i = 0; i < g->n_groups; i++) {
        const struct gate_group *m = &g->groups[i];
        judgements_add(out, (struct judgement){ .group = "change", .name = arena_printf(a, "change of %s", m->cause), .judged = JUDGED_FAIL,
                       .file = suspect(g, m->largest->id), .line = 1,
                       .message = arena_printf(a, "%" PRIu64 " prediction%s moved, %s; the largest: %s, %s", m->n, plural(m->n), range_text(m, a), m->largest->id,
                                               m->largest->what) }, a);
    }
    if (g->n_new || g->n_gone)
        judgements_add(out, (struct judgement){ .group = "change", .name = "rows", .judged = JUDGED_FAIL,
                       .message = arena_printf(a, "%zu rows are new, %zu are gone", g->n_new, g->n_gone) }, a);
    if (!gate_moved(g))
        judgements_add(out, (struct judgement){ .group = "change", .name = "change", .judged = JUDGED_PASS,
                       .message = arena_printf(a, "%zu rows are the same", g->n_rows) }, a);
    for (size_t i = 0; i < g->n_accuracy; i++) {
        const struct gate_accuracy *x = &g->accuracy[i];
        judgements_add(out, (struct judgement){ .group = "accuracy", .name = arena_printf(a, "accuracy of %s", x->name),
                       .judged = x->holds ? JUDGED_PASS : JUDGED_FAIL,
                       .message = arena_printf(a, "mean error of %zu configuration%s %.2f -> %.2f %%, grew by %.2f points", x->n, plural(x->n),
                                               100 * x->before, 100 * x->after, 100 * x->growth) }, a);
    }
}

void gate_document(struct document *d, const struct gate *g)
{
    gate_add_change(d, g);
    gate_add_accuracy(d, g);
    if (gate_moved(g))
        document_line(d, "verdict: %s; if this is intended: make baseline REASON=\"why\"",
                      g->n_moves ? "predictions moved" : "rows came or went");
    add_judgements(&d->judged, g, d->arena);
}
