/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - walks a tree of results; see tree.h.
 */
#include "results/mlperf/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST_TREE = 32 };

struct walk { const struct tree_visit *visit; size_t *n_folders; struct err *err; };

static bool is_result(const char *name)
{
    size_t n = strlen(name);
    return n > 11 && !strncmp(name, "result_", 7) && text_is(name + n - 4, ".txt");
}

static const char *kind_of(mode_t mode)
{
    return S_ISLNK(mode) ? "is a symbolic link: not followed" : S_ISFIFO(mode) ? "is a pipe: not read"
         : S_ISREG(mode) || S_ISDIR(mode) ? NULL : "is a device or socket: not read";
}

static bool walk_folder(struct walk *w, const char *dir, int depth);

/* Splits the names into logs and folders, in place; what is neither is dropped. */
static void sort_out(struct walk *w, const char *dir, char **names, size_t n, char **folders, size_t *n_logs, size_t *n_folders)
{
    char path[PATH_MAX];
    struct stat s;
    for (size_t i = 0; i < n; i++) {
        bool fits = snprintf(path, sizeof path, "%s/%s", dir, names[i]) < (int)sizeof path;
        bool known = fits && lstat(path, &s) == 0;
        const char *text = !fits ? "its path is too long" : !known ? "cannot be read" : kind_of(s.st_mode);
        if (known && !text && S_ISDIR(s.st_mode))
            folders[(*n_folders)++] = names[i];
        else if (known && !text && is_result(names[i]))
            names[(*n_logs)++] = names[i];
        else if (text)
            w->visit->notice(w->visit->user, path, text);
    }
}

static bool visit_logs(struct walk *w, const char *dir, char **names, size_t n)
{
    struct arena a = {0};
    if (n == 0)
        return true;
    w->visit->folder(w->visit->user, dir, names, n, &a);
    (*w->n_folders)++;
    arena_free(&a);
    return true;
}

static bool walk_names(struct walk *w, const char *dir, char **names, size_t n, struct arena *a, int depth)
{
    char **folders = ARENA_ARRAY(a, char *, n);
    size_t n_logs = 0, n_folders = 0;
    sort_out(w, dir, names, n, folders, &n_logs, &n_folders);
    visit_logs(w, dir, names, n_logs);
    for (size_t i = 0; i < n_folders; i++) {
        struct arena path = {0};
        bool good = walk_folder(w, arena_printf(&path, "%s/%s", dir, folders[i]), depth + 1);
        arena_free(&path);
        if (!good)
            return false;
    }
    return true;
}

/* Why: "dir: what is wrong". */
static void tell_unread(const struct walk *w, const char *dir, const struct err *why, struct arena *a)
{
    size_t n = strlen(dir) + strlen(": ");
    w->visit->notice(w->visit->user, dir, strlen(why->msg) > n ? arena_printf(a, "%s: not read", why->msg + n) : "cannot be read");
}

static bool walk_folder(struct walk *w, const char *dir, int depth)
{
    struct arena a = {0};
    struct err why;
    char **names;
    size_t n;
    bool good = true;
    if (depth > DEEPEST_TREE)
        w->visit->notice(w->visit->user, dir, "lies too deep: not read");
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
    struct walk w = { v, n_folders, err };
    *n_folders = 0;
    return walk_folder(&w, dir, 0);
}
