/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint.c - podbench lint: what the official checkers say of MLPerf logs and packages.
 */
#include "results/mlperf/mlperf.h"

#include "harness/harness.h"
#include "harness/logs.h"

/* Paths are tried before anything is written, so that a wrong one leaves no half of an answer. */
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
    if (!all_there(o, s, err) || !judge_load(&judge, &options, &s->arena, err)
        || !lint_begin(&lint, stdout, o->format, &judge, logs_notice, err))
        return EXIT_BAD_INPUT;
    bool read = true;
    for (size_t i = 0; i < o->n_arguments && read; i++)
        read = lint_path(&lint, logs_path(o->arguments[i], s, err), err);
    lint.failed = lint.failed || !read;
    bool passed = lint_end(&lint);
    return !read ? EXIT_BAD_INPUT : passed ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
