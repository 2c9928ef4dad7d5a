/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repository.c - a submitter's whole folder as the repository checker sees it: names, sizes and links of files; see mlperf_internal.h.
 *
 * Source: mlcommons/logging repo_checker. It resolves links from the folder in which it is started, so it takes valid relative links for
 * broken; such links are counted separately. Links to folders are not followed.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

enum { DEEPEST_REPOSITORY = 64 };
static const int64_t largest_bytes = INT64_C(50) << 20;

struct finding_list { uint64_t n; const char *first; };
struct repository { struct finding_list names, large, broken, relative; struct arena *a; };

static void found(struct finding_list *l, const char *path, struct arena *a)
{
    if (l->n++ == 0)
        l->first = arena_strdup(a, path);
}

static void check_link(struct repository *r, const char *path)
{
    char to[4096];
    struct stat s;
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n > 0 && stat(path, &s) != 0)
        found(&r->broken, path, r->a);
    else if (n > 0 && to[0] != '/')
        found(&r->relative, path, r->a);
}

/* All names in a folder, sorted, including hidden ones, without "." and "..". */
static char **all_names(size_t *n, const char *dir, struct arena *a)
{
    char **names = NULL;
    size_t cap = 0;
    DIR *d = opendir(dir);
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d)); )
        if (!text_is(e->d_name, ".") && !text_is(e->d_name, "..")) {
            ARENA_APPEND(a, names, *n, cap, arena_strdup(a, e->d_name));
        }
    if (d)
        closedir(d);
    sort_items(names, *n, sizeof *names, compare_texts);
    return names;
}

static void check_folder(struct repository *r, const char *dir, int depth);

static void check_entry(struct repository *r, const char *path, const char *name, int depth)
{
    struct stat s, to;
    bool there = lstat(path, &s) == 0, to_folder = there && S_ISLNK(s.st_mode) && stat(path, &to) == 0 && S_ISDIR(to.st_mode);
    if (!there || to_folder)
        return;
    if (*name == '.' || strchr(name, ' '))
        found(&r->names, path, r->a);
    if (S_ISDIR(s.st_mode)) {
        check_folder(r, path, depth + 1);
        return;
    }
    if (S_ISLNK(s.st_mode))
        check_link(r, path);
    else if (s.st_size > largest_bytes)
        found(&r->large, path, r->a);
}

static void check_folder(struct repository *r, const char *dir, int depth)
{
    struct arena a = { 0 };
    size_t n = 0;
    char **names = depth < DEEPEST_REPOSITORY ? all_names(&n, dir, &a) : NULL;
    for (size_t i = 0; i < n; i++)
        check_entry(r, arena_printf(&a, "%s/%s", dir, names[i]), names[i], depth);
    arena_free(&a);
}

size_t repository_check(struct log_message out[MOST_REPOSITORY_MESSAGES], const char *org, struct arena *a)
{
    struct repository r = { .a = a };
    size_t n = 0;
    check_folder(&r, org, 0);
    const struct { const struct finding_list *list; enum severity severity; const char *text; } kinds[] = {
        { &r.names, SEVERITY_ERROR, "files or folders begin with a dot or have a space in their name" },
        { &r.large, SEVERITY_ERROR, "files are larger than 50 MiB, the most that the repository checker takes" },
        { &r.broken, SEVERITY_ERROR, "symbolic links lead nowhere" },
        { &r.relative, SEVERITY_WARNING, "relative symbolic links are broken to the repository checker, which resolves them from its own folder" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].list->n)
            out[n++] = (struct log_message){ kinds[i].severity, 0, "", arena_printf(a, "repository: %" PRIu64 " %s; the first is %s", kinds[i].list->n, kinds[i].text,
                                                                                     kinds[i].list->first) };
    return n;
}

bool folder_holds(const char *dir, const char *name)
{
    struct arena a = { 0 };
    char **names;
    size_t n;
    bool holds = access(arena_printf(&a, "%s/%s", dir, name), F_OK) == 0;
    if (!holds && list_folder(&names, &n, dir, "", &a, NULL))
        for (size_t i = 0; i < n && !holds; i++) {
            struct stat s;
            const char *path = arena_printf(&a, "%s/%s", dir, names[i]);
            holds = lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && folder_holds(path, name);
        }
    arena_free(&a);
    return holds;
}
