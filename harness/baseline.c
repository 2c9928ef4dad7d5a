/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.c - podbench baseline: records a run as the one that later runs are compared with, and why.
 *
 * reasons.csv gets one line for each record: the version, how many predictions moved, the largest move, whether
 * accuracy held, and why the change was accepted. Lines are only appended, so branches merge.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/history/history.h"
#include "results/simulate/run_folder.h"

static const char header[] = "version,moved,better,worse,largest,accuracy,reason\n";

static const char *reason_line(const struct gate *g, const char *reason, struct arena *a)
{
    size_t n;
    char *text = NULL;
    FILE *f = text_stream(&text, &n);
    fprintf(f, "%s,%zu,%zu,%zu,", PODBENCH_VERSION, g->n_moves, g->n_better, g->n_worse);
    csv_write_cell(f, g->n_moves ? arena_printf(a, "%s: %s", g->moves[0].id, g->moves[0].what) : "", false);
    csv_write_cell(f, gate_accuracy_holds(g) ? "holds" : "worse", false);
    csv_write_cell(f, reason, true);
    return text_close(f, &text, a);
}

struct baseline_reason { const char *path, *line; };

static bool write_reason(void *what, struct err *err)
{
    const struct baseline_reason *r = what;
    return append_lines(r->path, header, r->line, err);
}

int command_baseline(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest";
    struct gate_tables tables[2];
    struct gate g = {0};
    struct document d = { .arena = &s->arena };
    double margin;
    if (!o->reason || !o->reason[strspn(o->reason, " \t")])
        return bad_input(err, "baseline: want a reason: podbench baseline %s --reason \"why the predictions moved\"", run);
    bool first = !baseline_is_recorded(s->baselines_dir, &s->arena);
    const char *folder = NULL;
    if (!margin_of(&margin, o, err) || !run_open(run, NULL, s, err) || !run_folder(&folder, run, s, err) ||
        (!first && !gate_of(&g, tables, s->baselines_dir, run, margin, s, err)))
        return EXIT_BAD_INPUT;
    struct baseline_reason reason = { arena_printf(&s->arena, "%s/reasons.csv", s->baselines_dir), reason_line(&g, o->reason, &s->arena) };
    const struct run_record record = { write_reason, &reason };
    if (!run_folder_copy(s->baselines_dir, folder, &record, err))
        return EXIT_BAD_INPUT;
    if (first)
        document_line(&d, "recorded %s as the first baseline in %s", run, s->baselines_dir);
    else {
        gate_document(&d, &g);
        document_line(&d, "recorded in %s: %s", s->baselines_dir, o->reason);
    }
    document_write(s->out, FORMAT_TEXT, &d);
    return EXIT_DONE;
}
