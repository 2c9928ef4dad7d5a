/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.c - podbench score: the official score of every system and benchmark in a tree of MLPerf results.
 */
#include "results/mlperf/mlperf.h"

#include "harness/harness.h"

struct scoring { struct judge *judge; struct session *session; struct table *rows; bool any_without; };

static void score_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct scoring *s = user;
    struct folder f;
    folder_judge(&f, s->judge, dir, logs, n, NULL, NULL, a);
    score_add(s->rows, &f, &s->session->arena);
    if (f.why_no_score)
        fprintf(s->session->log, "podbench: %s: no score: %s\n", dir, f.why_no_score), s->any_without = true;
}

int command_score(const struct options *o, struct session *s, struct err *err)
{
    struct judge judge;
    struct progress progress;
    struct judge_options options = logs_options(o, s, &progress);
    struct document d = { .arena = &s->arena };
    struct scoring scoring = { .judge = &judge, .session = s, .rows = document_table(&d, score_table()) };
    struct tree_visit visit = { score_folder, logs_on_notice, &scoring, NULL, options.watch };
    size_t n_folders;
    const char *dir = logs_folder(o->arguments[0], s, err);
    if (!dir || !count_threads(&options.n_threads, o, err) || !judge_load(&judge, &options, &s->arena, err))
        return EXIT_BAD_INPUT;
    bool walked = tree_walk(&n_folders, dir, &visit, err);
    if (scoring.rows->n)
        document_write(s->out, o->format, &d);
    if (!walked)
        return EXIT_BAD_INPUT;
    return scoring.any_without ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
