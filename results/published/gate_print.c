/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_print.c - both gates on one screen, and as judgements.
 */
#include "results/published/check.h"
#include <math.h>

enum { MOST_GROUPS = 12, MOST_INPUTS = 6 };

/* A change of "fits" has no size. */
static const char *range_text(const struct gate_group *m, struct arena *a)
{
    if (isinf(m->low) || isinf(m->high))
        return "-";
    if (m->low == m->high)
        return arena_printf(a, "%+.3g %%", 100 * m->low);
    return arena_printf(a, "%+.3g to %+.3g %%", 100 * m->low, 100 * m->high);
}

/* The suspects, when predictions moved. */
static void print_inputs(FILE *f, const struct gate *g)
{
    for (size_t i = 0; i < g->n_inputs && i < MOST_INPUTS; i++)
        fprintf(f, "%s %s", i ? "," : "  inputs that differ:", g->inputs[i]);
    if (g->n_inputs > MOST_INPUTS)
        fprintf(f, ", and %zu more", g->n_inputs - MOST_INPUTS);
    if (g->n_inputs)
        fputc('\n', f);
    else if (g->inputs_known)
        fprintf(f, "  inputs that differ: none; the program itself differs\n");
}

static void print_change(FILE *f, const struct gate *g)
{
    struct arena a = {0};
    if (!gate_moved(g)) {
        fprintf(f, "change: none, the same: %zu rows\n", g->n_rows);
        return;
    }
    fprintf(f, "change: %zu prediction%s moved (%zu better, %zu worse)", g->n_moves, plural(g->n_moves), g->n_better, g->n_worse);
    fprintf(f, g->n_new || g->n_gone ? ", %zu rows are new, %zu are gone\n" : "\n", g->n_new, g->n_gone);
    print_inputs(f, g);
    if (g->n_groups)
        fprintf(f, "  %-24s %5s  %-22s %s\n", "what moved most", "rows", "by", "the largest");
    for (size_t i = 0; i < g->n_groups && i < MOST_GROUPS; i++)
        fprintf(f, "  %-24s %5zu  %-22s %s: %s\n", g->groups[i].cause, g->groups[i].n, range_text(&g->groups[i], &a), g->groups[i].largest->id,
                g->groups[i].largest->what);
    if (g->n_groups > MOST_GROUPS)
        fprintf(f, "  and %zu more: --all lists every cell\n", g->n_groups - MOST_GROUPS);
    arena_free(&a);
}

static void print_accuracy(FILE *f, const struct gate *g)
{
    enum { MOST = 8 };
    size_t grown = 0;
    fprintf(f, "accuracy of validate rows: %s (the mean |error| of a group may grow by %.3g percentage point%s; gains elsewhere do not offset it)\n",
            gate_accuracy_holds(g) ? "holds" : "WORSE", 100 * g->margin, 100 * g->margin == 1 ? "" : "s");
    for (size_t i = 0; i < g->n_accuracy; i++) {
        const struct gate_accuracy *x = &g->accuracy[i];
        if (x->growth == 0 && x->before == x->after)
            continue;
        if (grown++ < MOST)
            fprintf(f, "  %-52s %4zu configuration%s  %6.2f -> %.2f %%, grew by %.2f points%s%s%s\n", x->name, x->n, plural(x->n),
                    100 * x->before, 100 * x->after, 100 * x->growth, x->worst ? ", most: " : "", x->worst ? x->worst : "", x->holds ? "" : "  TOO MUCH");
    }
    if (grown > MOST)
        fprintf(f, "  and %zu more groups that moved less\n", grown - MOST);
}

void gate_print(FILE *f, const struct gate *g)
{
    print_change(f, g);
    print_accuracy(f, g);
    if (gate_moved(g))
        fprintf(f, "verdict: predictions moved; if this is intended: make baseline REASON=\"why\"\n");
}

void gate_judgements(struct judgements *out, const struct gate *g, struct arena *a)
{
    *out = (struct judgements){ .suite = "podbench compare" };
    for (size_t i = 0; i < g->n_groups; i++) {
        const struct gate_group *m = &g->groups[i];
        judgements_add(out, (struct judgement){ .group = "change", .name = arena_printf(a, "change of %s", m->cause), .judged = JUDGED_FAIL,
                       .message = arena_printf(a, "%zu prediction%s moved, %s; the largest: %s, %s", m->n, plural(m->n), range_text(m, a), m->largest->id,
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
