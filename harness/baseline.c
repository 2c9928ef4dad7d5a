/*
 * baseline.c - podbench baseline: record a run as what later ones are compared with, and why.
 *
 * The reason goes to reasons.csv beside the tables, a line a record, never taken away: which version, how many predictions moved, the
 * largest, whether accuracy held, and why it was accepted. Lines only grow at the end, so branches merge.
 */
#include "harness/gate_of.h"
#include "results/history/append.h"
#include "results/simulate/run_folder.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char header[] = "version,moved,better,worse,largest,accuracy,reason\n";

static const char *reason_line(const struct gate *g, const char *reason, struct arena *a)
{
    size_t better = 0, worse = 0, n;
    char *text = NULL;
    for (size_t i = 0; i < g->n_moves; i++) {
        better += g->moves[i].verdict > 0;
        worse += g->moves[i].verdict < 0;
    }
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "%s,%zu,%zu,%zu,", PODBENCH_VERSION, g->n_moves, better, worse);
    csv_write_cell(f, g->n_moves ? arena_printf(a, "%s: %s", g->moves[0].id, g->moves[0].what) : "", false);
    csv_write_cell(f, gate_accuracy_holds(g) ? "holds" : "worse", false);
    csv_write_cell(f, reason, true);
    fclose(f);
    const char *line = arena_strdup(a, text);
    free(text);
    return line;
}

static bool copy_file(const char *from, const char *to, struct arena *a, struct err *err)
{
    enum { LARGEST_BYTES = 64 << 20 };
    char *text;
    size_t n;
    struct new_file file;
    if (!read_text_file(&text, &n, from, LARGEST_BYTES, a, err) || !new_file_open(&file, to, err))
        return false;
    fwrite(text, 1, n, file.f);
    return new_file_save(&file, err);
}

/* The manifest last: a run is whole once it stands. */
static bool copy_run(const char *run, const char *baseline, struct session *s, struct err *err)
{
    static const char *const names[] = { "rows.csv", "check.csv", "manifest.json" };
    if (!make_folders(baseline, err))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *from;
        const char *to = arena_printf(&s->arena, "%s/%s", baseline, names[i]);
        if (!run_table_path(&from, run, names[i], s, err) || !copy_file(from, to, &s->arena, err))
            return false;
    }
    return true;
}

static bool is_recorded(const char *baseline, struct arena *a)
{
    return access(arena_printf(a, "%s/rows.csv", baseline), F_OK) == 0;
}

int command_baseline(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest";
    struct gate_tables tables[2];
    struct gate g = {0};
    double margin;
    if (!o->reason || !o->reason[strspn(o->reason, " \t")])
        return bad_input(err, "baseline: a reason is wanted: podbench baseline %s --reason \"why the predictions moved\"", run);
    bool first = !is_recorded(s->baselines_dir, &s->arena);
    if (!margin_of(&margin, o, err) || !run_open(run, NULL, s, err) ||
        (!first && !gate_of(&g, tables, s->baselines_dir, run, margin, s, err)))
        return EXIT_BAD_INPUT;
    if (!copy_run(run, s->baselines_dir, s, err) ||
        !append_lines(arena_printf(&s->arena, "%s/reasons.csv", s->baselines_dir), header,
                      reason_line(&g, o->reason, &s->arena), err))
        return EXIT_BAD_INPUT;
    if (first)
        printf("recorded %s as the first baseline in %s\n", run, s->baselines_dir);
    else
        gate_print(stdout, &g), printf("recorded in %s: %s\n", s->baselines_dir, o->reason);
    return EXIT_DONE;
}
