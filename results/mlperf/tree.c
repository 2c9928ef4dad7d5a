/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - walks a tree of results; see mlperf.h.
 *
 * A log that is a symbolic link, pipe or device is reported by name. Other files of these kinds are reported with one message, because a
 * folder without results may have thousands.
 */
#include "results/mlperf/mlperf.h"

#include <limits.h>
#include <sys/stat.h>

enum { DEEPEST_TREE = 32 };

struct tree_walker {
    const struct tree_visit *visit;
    size_t n_seen, *n_folders, n_special;       /* n_special counts links, pipes and devices that are no logs */
    const char *first_special, *first_why;
    const char *foreign;                /* another suite whose results were seen, or NULL */
    struct arena arena;
    struct err *err;
};

bool is_result_name(const char *name)
{
    size_t n = strlen(name);
    return n > 11 && !strncmp(name, "result_", 7) && text_is(name + n - 4, ".txt");
}

const char *foreign_log(const char *name)
{
    static const struct { const char *name, *suite; } files[] = {
        { "mlperf_log_detail.txt", "MLPerf Inference" }, { "mlperf_log_summary.txt", "MLPerf Inference" }, { "mlperf_log_accuracy.json", "MLPerf Inference" },
        { "dlio.log", "MLPerf Storage" }, { "mlperf_storage_report.json", "MLPerf Storage" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (text_is(name, files[i].name))
            return files[i].suite;
    return NULL;
}

/* Why a path is skipped; NULL for a regular file or a folder, of which *s is the status. */
static const char *why_skipped(struct stat *s, const char *path, const char *name)
{
    if (strlen(path) >= PATH_MAX)
        return "its path is too long";
    if (lstat(path, s) != 0)
        return "cannot be read";
    if (S_ISDIR(s->st_mode) && text_is(name, "pruned_results"))
        return "holds runs that their submitter left out: not read";
    if (S_ISDIR(s->st_mode))
        return is_unfinished(name) ? "is not finished: its writer is at work, or was killed: not read" : NULL;
    if (S_ISREG(s->st_mode))
        return NULL;
    return S_ISLNK(s->st_mode) ? "is a symbolic link: not followed" : S_ISFIFO(s->st_mode) ? "is a pipe: not read"
         : "is a device or socket: not read";
}

static bool walk_folder(struct tree_walker *w, const char *dir, int depth);

static void tell_notice(const struct tree_walker *w, const char *path, const char *text)
{
    if (w->visit->n_skipped)
        (*w->visit->n_skipped)++;
    watch_report(&w->visit->watch, NULL, 0, 0);
    w->visit->notice(w->visit->user, path, text);
}

static const char *path_in(const char *dir, const char *name, struct arena *a)
{
    return arena_printf(a, "%s%s%s", dir, text_is(dir, "/") ? "" : "/", name);
}

static void skip_path(struct tree_walker *w, const char *path, const char *name, const struct stat *s, const char *why)
{
    if (is_result_name(name) || S_ISDIR(s->st_mode) || S_ISREG(s->st_mode))
        tell_notice(w, path, why);
    else if (w->n_special++ == 0)
        w->first_special = arena_strdup(&w->arena, path), w->first_why = why;
}

static void tell_special(struct tree_walker *w)
{
    const char *rest = w->n_special > 1 ? arena_printf(&w->arena, " (and %zu more links, pipes or devices that are not named result_N.txt)", w->n_special - 1) : "";
    if (w->n_special > 1 && w->visit->n_skipped)
        *w->visit->n_skipped += w->n_special - 1;
    if (w->n_special)
        tell_notice(w, w->first_special, arena_printf(&w->arena, "%s%s", w->first_why, rest));
}

/* Splits the names into logs, which stay in `names`, and folders; drops all others. */
static void sort_names(struct tree_walker *w, const char *dir, char **names, size_t n, char **folders, size_t *n_logs, size_t *n_folders, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        struct stat s = {0};
        const char *path = path_in(dir, names[i], a), *why = why_skipped(&s, path, names[i]);
        if (why)
            skip_path(w, path, names[i], &s, why);
        else if (S_ISDIR(s.st_mode))
            folders[(*n_folders)++] = names[i];
        else if (is_result_name(names[i]))
            names[(*n_logs)++] = names[i];
        else if (!w->foreign)
            w->foreign = foreign_log(names[i]);
    }
}

static void visit_logs(struct tree_walker *w, const char *dir, char **names, size_t n)
{
    struct arena a = {0};
    if (n == 0)
        return;
    watch_report(&w->visit->watch, NULL, 0, 0);
    w->visit->folder(w->visit->user, dir, names, n, &a);
    (*w->n_folders)++;
    arena_free(&a);
}

static bool walk_names(struct tree_walker *w, const char *dir, char **names, size_t n, struct arena *a, int depth)
{
    char **folders = ARENA_ROOM(a, char *, n);
    size_t n_logs = 0, n_folders = 0;
    sort_names(w, dir, names, n, folders, &n_logs, &n_folders, a);
    visit_logs(w, dir, names, n_logs);
    for (size_t i = 0; i < n_folders; i++) {
        struct arena path = {0};
        bool good = walk_folder(w, path_in(dir, folders[i], &path), depth + 1);
        arena_free(&path);
        if (!good)
            return false;
    }
    return true;
}

/* Reports a folder that was not read. `why` has the form "dir: what is wrong". */
static void tell_unread(const struct tree_walker *w, const char *dir, const struct err *why, struct arena *a)
{
    size_t n = strlen(dir) + strlen(": ");
    tell_notice(w, dir, strlen(why->msg) > n ? arena_printf(a, "%s: not read", why->msg + n) : "cannot be read");
}

static bool walk_folder(struct tree_walker *w, const char *dir, int depth)
{
    struct arena a = {0};
    struct err why;
    char **names;
    size_t n;
    bool good = true;
    watch_report(&w->visit->watch, "folders looked through for logs", ++w->n_seen, 0);
    if (depth > DEEPEST_TREE)
        tell_notice(w, dir, arena_printf(&a, "is more than %d folders deep: not read", DEEPEST_TREE));
    else if (list_folder(&names, &n, dir, "", &a, &why))
        good = walk_names(w, dir, names, n, &a, depth);
    else if (depth == 0)
        good = fail(w->err, "%s", why.msg);
    else
        tell_unread(w, dir, &why, &a);
    arena_free(&a);
    return good;
}

bool tree_walk(size_t *n_folders, const char *dir, const struct tree_visit *v, struct err *err)
{
    struct tree_walker w = { .visit = v, .n_folders = n_folders, .err = err };
    *n_folders = 0;
    bool good = walk_folder(&w, dir, 0);
    tell_special(&w);
    if (good && *n_folders == 0)
        good = fail(err, "%s: no result_N.txt in it or below it%s%s%s", dir, w.foreign ? "; its results are of " : "", w.foreign ? w.foreign : "",
                    w.foreign ? ", want those of MLPerf Training or HPC" : "");
    arena_free(&w.arena);
    watch_report(&v->watch, NULL, 0, 0);
    return good;
}
