/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judged.h - helpers that judge a tree of logs, and return what lint prints.
 */
#ifndef JUDGED_H
#define JUDGED_H
#include "tests/check.h"
#include "results/mlperf/mlperf.h"

/* The last folder of a tree, and the number of folders. Everything is in the arena. */
struct judged_tree { struct judge *judge; struct folder folder; struct score_row row; size_t n; struct arena *a; char notices[2000]; };

static inline void judged_no_log(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    (void)user, (void)f, (void)path, (void)j;
}

static inline void judged_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct judged_tree *j = user;
    (void)a;
    char **kept = ARENA_ARRAY(j->a, char *, n);
    for (size_t i = 0; i < n; i++)
        kept[i] = arena_strdup(j->a, logs[i]);
    folder_judge(&j->folder, j->judge, arena_strdup(j->a, dir), kept, n, judged_no_log, NULL, j->a);
    score_row_fill(&j->row, &j->folder, j->a);
    j->n++;
}

static inline void judged_notice(void *user, const char *path, const char *text)
{
    struct judged_tree *j = user;
    size_t n = strlen(j->notices);
    snprintf(j->notices + n, sizeof j->notices - n, "%s: %s\n", strrchr(path, '/') + 1, text);
}

static inline struct judged_tree judge_tree(const char *dir, const struct judge_options *given, struct arena *a)
{
    struct err err = { "" };
    struct judge_options *options = ARENA_NEW(a, struct judge_options);
    struct judged_tree *j = ARENA_NEW(a, struct judged_tree);        /* row.folder points into it */
    *j = (struct judged_tree){ .judge = ARENA_NEW(a, struct judge), .a = a };
    struct tree_visit visit = { judged_folder, judged_notice, j, NULL, given ? given->watch : (struct watch){ 0 } };
    size_t n;
    *options = given ? *given : (struct judge_options){ 0 };
    options->data_dir = "workloads/convergence";
    if (!judge_load(j->judge, options, a, &err) || !tree_walk(&n, dir, &visit, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return *j;
}

static inline void no_notice(const char *path, const char *text)
{
    (void)path, (void)text;
}

/* Returns what lint prints for a path; the caller frees it. err is "" or why lint refused. */
static inline char *lint_text(const char *path, const char *ruleset, enum output_format format, bool *passed, struct err *err)
{
    struct arena a = { 0 };
    struct judge judge;
    struct lint lint;
    struct judge_options options = { .ruleset = ruleset, .data_dir = "workloads/convergence" };
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    err->msg[0] = 0;
    if (judge_load(&judge, &options, &a, err)) {
        lint_begin(&lint, format, &judge, no_notice, &a);
        *passed = lint_path(&lint, path, err) && !lint.failed;
        lint_end(&lint, f);
    }
    fclose(f);
    arena_free(&a);
    return text;
}
#endif
