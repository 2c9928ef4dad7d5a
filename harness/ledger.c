/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.c - podbench ledger: checks that the published tables agree with the ledger.
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

/* Rows of the tables that disagree with the ledger, and those whose tolerance or recipe disagrees with kept.csv. */
struct ledger_answer { struct ledger_faults ledger; struct kept_faults kept; const char *ledger_path, *kept_path; };

static bool compare_with_ledger(struct ledger_answer *out, const struct figures *figures, struct session *s, struct err *err)
{
    struct ledger ledger;
    struct kept kept;
    *out = (struct ledger_answer){ .ledger_path = arena_printf(&s->arena, "%s/ledger/ledger.csv", s->published_dir),
                                   .kept_path = arena_printf(&s->arena, "%s/ledger/kept.csv", s->published_dir) };
    if (!ledger_load(&ledger, out->ledger_path, &s->arena, err) || !kept_load(&kept, out->kept_path, &s->arena, err) ||
        !kept_compare(&out->kept, &kept, figures, s->paths.recipes_dir, &s->arena, err))
        return false;
    ledger_compare(&out->ledger, &ledger, figures, &s->arena);
    return true;
}

static void judge_fault(struct judgements *out, size_t *n, const char *what, const char *file, struct arena *a)
{
    judgements_add(out, (struct judgement){ .group = "ledger", .name = arena_printf(a, "row %zu", ++*n), .message = what, .file = file,
                                            .judged = JUDGED_FAIL }, a);
}

static void judge_ledger(struct judgements *out, const struct ledger_answer *found, const struct figures *figures, struct arena *a)
{
    size_t n = 0;
    *out = (struct judgements){ .suite = "podbench ledger" };
    for (size_t i = 0; i < found->ledger.n; i++)
        judge_fault(out, &n, found->ledger.items[i].what, found->ledger_path, a);
    for (size_t i = 0; i < found->kept.n; i++)
        judge_fault(out, &n, found->kept.items[i].what, found->kept_path, a);
    if (n == 0)
        judgements_add(out, (struct judgement){ .group = "ledger", .name = "published rows", .judged = JUDGED_PASS,
                                                .message = arena_printf(a, "%zu rows agree with the ledger", figures->n) }, a);
}

/* Writes, as CSV, the lines to append to the ledger or, if it lacks none, those to append to kept.csv. */
static void write_wanted_lines(struct document *d, const struct ledger_answer *found)
{
    FILE *lines = document_stream(d, IN_CSV);
    for (size_t i = 0; i < found->ledger.n; i++)
        ledger_write_line(lines, &found->ledger.items[i].wanted);
    for (size_t i = 0; i < found->kept.n && !found->ledger.n; i++)
        kept_write_line(lines, &found->kept.items[i].wanted);
}

static void add_faults(struct document *d, const struct ledger_answer *found)
{
    for (size_t i = 0; i < found->ledger.n; i++)
        document_line_for(d, IN_TEXT, "%s", found->ledger.items[i].what);
    for (size_t i = 0; i < found->kept.n; i++)
        document_line_for(d, IN_TEXT, "%s", found->kept.items[i].what);
}

/* Adds the recorded changes, each reason once, in the ledger's order. */
static void add_recorded_changes(struct document *d, const struct ledger_change *changes, size_t n, const char *ledger)
{
    document_gap(d);
    document_line_for(d, IN_TEXT, "rows whose role, recipe, value or configuration changed, with the reason that %s has:", ledger);
    for (size_t i = 0; i < n; i++) {
        size_t rows = 1, before = 0;
        for (size_t k = 0; k < n; k++) {
            rows += k > i && text_is(changes[k].why, changes[i].why);
            before += k < i && text_is(changes[k].why, changes[i].why);
        }
        if (!before)
            document_line_for(d, IN_TEXT, "  %s%s: %s", changes[i].id, rows > 1 ? arena_printf(d->arena, " and %zu more", rows - 1) : "", changes[i].why);
    }
}

bool ledger_check(struct document *d, struct session *s, struct err *err)
{
    struct ledger_answer found;
    struct figures figures;
    struct ledger ledger;
    const char *path = arena_printf(&s->arena, "%s/ledger/kept.csv", s->published_dir);
    if (is_missing(path))
        return true;
    if (!session_figures(&figures, NULL, s, err) || !compare_with_ledger(&found, &figures, s, err) || !ledger_load(&ledger, found.ledger_path, &s->arena, err))
        return false;
    struct judgements judged;
    judge_ledger(&judged, &found, &figures, &s->arena);
    for (size_t i = 0; i < judged.n; i++)
        judgements_add(&d->judged, judged.items[i], &s->arena);
    if (found.ledger.n + found.kept.n)
        document_gap(d);
    add_faults(d, &found);
    if (ledger.n_changes)
        add_recorded_changes(d, ledger.changes, ledger.n_changes, path_name(found.ledger_path));
    return true;
}

int command_ledger(const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    struct ledger_answer found;
    if (!session_figures(&figures, NULL, s, err) || !compare_with_ledger(&found, &figures, s, err))
        return EXIT_BAD_INPUT;
    struct document *d = &s->answer;
    size_t n = found.ledger.n + found.kept.n;
    judge_ledger(&d->judged, &found, &figures, &s->arena);
    write_wanted_lines(d, &found);
    add_faults(d, &found);
    if (n == 0)
        add_role_counts(d, &figures);
    if (n && o->format == FORMAT_TEXT)
        fprintf(s->log, "podbench: %zu difference%s; 'podbench ledger --format csv' prints the lines to append to %s, each change with its reason in the last cell%s\n",
                n, plural(n), found.ledger.n ? found.ledger_path : found.kept_path, found.ledger.n && found.kept.n ? "; asked again, those for kept.csv" : "");
    return n ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
