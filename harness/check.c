/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - podbench check: compares a run, or a fresh simulation, with the published figures.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/study/own_runs.h"

bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err)
{
    struct figures *figures = ARENA_NEW(&s->arena, struct figures);
    struct progress p;
    struct check_source from = session_source(s, &s->simulator);
    const char *rows;
    if (o->n_arguments && (!run_open(o->arguments[0], result_columns(&s->arena), s, err) ||
                           !run_table_path(&rows, o->arguments[0], "rows.csv", s, err) ||
                           !results_load(&from.known, rows, &s->arena, err)))
        return false;
    if (!session_figures(figures, o->published, s, err))
        return false;
    if (figures->n == 0)                /* a check without figures must not pass */
        return fail(err, "%s: holds no figure; want rows below the header", o->published ? o->published : s->published_dir);
    from.watch = (struct watch){ progress_report, &p };
    progress_start(&p, s->log, "checking");
    bool good = check_build(out, figures, &from, &s->arena, err);
    progress_end(&p);
    return good;
}

/* Reports expected failures among the messages, as they do not decide the exit status. */
static void print_expected(FILE *log, const struct judgements *set)
{
    size_t expected = judgements_count(set, JUDGED_EXPECTED), passed = judgements_count(set, JUDGED_UNEXPECTED_PASS);
    if (expected || passed)
        fprintf(log, "podbench: expected failures: %zu fail, %zu pass\n", expected, passed);
}

static const double LOOSE_TOLERANCE = 0.1;       /* the verdict counts rows that pass only because their tolerance is wider than this */

/* Adds the verdict as the last line. The first judgements are those of the rows; those of the ledger may follow them. */
static void add_verdict(struct document *d, const struct check *c)
{
    size_t n[N_JUDGED] = {0}, n_context = 0, n_loose = 0;
    for (size_t i = 0; i < c->n; i++) {
        enum judged judged = d->judged.items[i].judged;
        n[judged]++;
        n_loose += (judged == JUDGED_PASS || judged == JUDGED_UNEXPECTED_PASS) && c->rows[i].figure->tolerance > LOOSE_TOLERANCE;
        n_context += c->rows[i].has_simulated && c->rows[i].figure->role == FIGURE_CONTEXT;
    }
    size_t n_passed = n[JUDGED_PASS] + n[JUDGED_UNEXPECTED_PASS], n_failed = n[JUDGED_FAIL], n_expected = n[JUDGED_EXPECTED];
    document_gap(d);
    document_line(d, "%s: %zu judged by their tolerance, %zu within it%s, %zu outside%s; %zu for context, %zu not simulated",
                  judgements_pass(&d->judged) ? "PASSED" : "FAILED", n_passed + n_failed + n_expected, n_passed,
                  n_loose ? arena_printf(d->arena, " (%zu by one above 10 %%, which is no agreement)", n_loose) : "", n_failed,
                  n_expected ? arena_printf(d->arena, ", %zu outside as expected", n_expected) : "", n_context, n[JUDGED_SKIP] - n_context);
}

/* Lists the user's own measurements, if there are any, without judging them. */
static bool add_measured_runs(struct document *d, struct session *s, struct err *err)
{
    struct references references = {0};
    struct own_runs own;
    if (!own_runs_load(&own, own_runs_file, &s->arena, err))
        return false;
    if (!own.n)
        return true;
    own_runs_reference(&references, &own, &s->simulator, &s->arena);
    document_gap(d);
    struct table *t = document_table(d, own_runs_table(&own, d->arena));
    t->name = "measured_here";
    t->formats = IN_TEXT | IN_JSON;
    return true;
}

int command_check(const struct options *o, struct session *s, struct err *err)
{
    struct check c;
    struct document *d = &s->answer;
    if (!build_check(&c, o, s, err))
        return EXIT_BAD_INPUT;
    check_document(d, &c);
    if (session_has_own_rows(s, o) && !ledger_check(d, s, err))
        return EXIT_BAD_INPUT;
    if (o->expect && !judgements_expect(&d->judged, o->expect, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (!add_measured_runs(d, s, err))
        return EXIT_BAD_INPUT;
    add_verdict(d, &c);
    print_expected(s->log, &d->judged);
    return judgements_pass(&d->judged) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
