/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint.c - podbench lint: judges MLPerf logs and packages as the official checkers do.
 */
#include "results/mlperf/mlperf.h"

#include "harness/harness.h"

/* Checks the paths before anything is printed, so that a wrong one leaves no partial answer. */
static bool all_there(const struct options *o, struct session *s, struct err *err)
{
    for (size_t i = 0; i < o->n_arguments; i++)
        if (!logs_path(o->arguments[i], s, err))
            return false;
    return files_are_distinct(o->arguments, o->arguments, o->n_arguments, err) || fail_at(err, "lint");
}

int command_lint(const struct options *o, struct session *s, struct err *err)
{
    struct judge judge;
    struct lint lint;
    struct progress progress;
    struct judge_options options = logs_options(o, s, &progress);
    if (!all_there(o, s, err) || !count_threads(&options.n_threads, o, err) || !judge_load(&judge, &options, &s->arena, err))
        return EXIT_BAD_INPUT;
    bool read = true;
    lint_begin(&lint, o->format, &judge, logs_notice, &s->arena);
    for (size_t i = 0; i < o->n_arguments && read; i++)
        read = lint_path(&lint, logs_path(o->arguments[i], s, err), err);
    lint.failed = lint.failed || !read;
    lint_end(&lint, s->out);
    return !read ? EXIT_BAD_INPUT : lint.failed ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
