/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.c - podbench ledger: whether the published tables agree with the ledger.
 */
#include "harness/harness.h"
#include "results/published/published.h"

static void add_role_counts(struct document *d, const struct figures *f)
{
    size_t n[N_FIGURE_ROLES] = {0};
    const char *text = "";
    for (size_t i = 0; i < f->n; i++)
        n[f->items[i].role]++;
    for (int r = 0; r < N_FIGURE_ROLES; r++)
        text = arena_printf(d->arena, "%s%s%zu %s", text, r ? ", " : "", n[r], role_names[r]);
    document_line_for(d, IN_TEXT, "%zu published rows agree with the ledger: %s", f->n, text);
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
    struct document d = { .arena = &s->arena };
    FILE *lines = document_stream(&d, IN_CSV);
    judge_ledger(&d.judged, &faults, &figures, ledger.path, &s->arena);
    for (size_t i = 0; i < faults.n; i++) {
        ledger_write_line(lines, &faults.items[i].wanted);
        document_line_for(&d, IN_TEXT, "%s", faults.items[i].what);
    }
    if (faults.n == 0)
        add_role_counts(&d, &figures);
    document_write(s->out, o->format, &d);
    if (faults.n && o->format == FORMAT_TEXT)
        fprintf(s->log, "podbench: %zu rows differ from %s; 'podbench ledger --format csv' prints the lines to append, each change with its "
                "reason in the last cell\n", faults.n, ledger.path);
    return faults.n ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
