/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.c - podbench ledger: whether the published tables agree with the ledger.
 */
#include "harness/harness.h"
#include "results/published/published.h"

static void print_counts(FILE *out, const struct figures *f)
{
    size_t n[N_FIGURE_ROLES] = {0};
    for (size_t i = 0; i < f->n; i++)
        n[f->items[i].role]++;
    fprintf(out, "%zu published rows agree with the ledger: ", f->n);
    for (int r = 0; r < N_FIGURE_ROLES; r++)
        fprintf(out, "%zu %s%s", n[r], role_names[r], r + 1 < N_FIGURE_ROLES ? ", " : "\n");
}

static void print_faults(struct session *s, const struct ledger_faults *faults, const char *path)
{
    for (size_t i = 0; i < faults->n; i++)
        fprintf(s->out, "%s\n", faults->items[i].what);
    fprintf(s->log, "podbench: %zu rows differ from %s; 'podbench ledger --format csv' prints the lines to append, each change with its "
            "reason in the last cell\n", faults->n, path);
}

static void judge_ledger(struct judgements *out, const struct ledger_faults *faults, const struct figures *figures, const char *path,
                  struct arena *a)
{
    *out = (struct judgements){ .suite = "podbench ledger" };
    for (size_t i = 0; i < faults->n; i++)
        judgements_add(out, (struct judgement){ .group = "ledger", .name = arena_printf(a, "row %zu", i + 1),
                                                .message = faults->items[i].what,
                                                .file = path, .judged = JUDGED_FAIL }, a);
    if (faults->n == 0)
        judgements_add(out, (struct judgement){ .group = "ledger", .name = "published rows", .judged = JUDGED_PASS,
                                                .message = arena_printf(a, "%zu rows agree with the ledger", figures->n) }, a);
}

/* Text lists what is wrong, or counts; CSV is the lines to append. */
int command_ledger(const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    struct ledger ledger;
    struct ledger_faults faults;
    if (!session_figures(&figures, NULL, s, err) ||
        !ledger_load(&ledger, arena_printf(&s->arena, "%s/ledger/ledger.csv", s->published_dir), &s->arena, err))
        return EXIT_BAD_INPUT;
    ledger_compare(&faults, &ledger, &figures, &s->arena);
    struct judgements judged;
    judge_ledger(&judged, &faults, &figures, ledger.path, &s->arena);
    if (judgements_write(s->out, o->format, &judged))
        return faults.n ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
    if (o->format == FORMAT_CSV)
        for (size_t i = 0; i < faults.n; i++)
            ledger_write_line(s->out, &faults.items[i].wanted);
    else if (faults.n == 0)
        print_counts(s->out, &figures);
    else
        print_faults(s, &faults, ledger.path);
    return faults.n ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
