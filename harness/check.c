/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - podbench check: a run, or a fresh simulation, beside the published figures.
 */
#include "harness/judge.h"

/* Values come from the run that is named, else every recipe is simulated as it is needed. */
bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err)
{
    struct figures *figures = ARENA_NEW(&s->arena, struct figures);
    struct progress p;
    struct check_source from = { .simulator = &s->simulator, .progress = progress_show, .user = &p };
    const char *rows;
    if (o->n_arguments && (!run_open(o->arguments[0], result_columns(&s->arena), s, err) ||
                           !run_table_path(&rows, o->arguments[0], "rows.csv", s, err) ||
                           !results_load(&from.known, rows, &s->arena, err)))
        return false;
    if (!session_figures(figures, o->published, s, err))
        return false;
    if (figures->n == 0)                /* what nothing was compared with has not passed */
        return fail(err, "%s: holds no figure; want rows below the header", o->published ? o->published : s->published_dir);
    progress_start(&p, "checking");
    bool good = check_build(out, figures, &from, &s->arena, err);
    progress_end(&p);
    return good;
}

/* What failed though it was expected to pass decides; failures that are expected are counted in words too. */
static void tell_expected(const struct judgements *set)
{
    size_t expected = judgements_count(set, JUDGED_EXPECTED), passed = judgements_count(set, JUDGED_UNEXPECTED_PASS);
    if (expected || passed)
        fprintf(stderr, "podbench: expected failures: %zu fail, %zu pass\n", expected, passed);
}

int command_check(const struct options *o, struct session *s, struct err *err)
{
    struct check c;
    struct judgements judged;
    if (!build_check(&c, o, s, err))
        return EXIT_BAD_INPUT;
    check_judgements(&judged, &c, &s->arena);
    if (!expect_failures(&judged, o, s, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON)
        print_json(stdout, check_json(&c));
    else if (o->format == FORMAT_CSV)
        check_write_csv(stdout, &c);
    else if (!judgements_write(stdout, o->format, &judged))
        check_print_text(stdout, &c, &s->arena);
    tell_expected(&judged);
    return judgements_pass(&judged) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
