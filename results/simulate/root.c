/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * root.c - finds the folder that holds the data.
 */
#include "results/simulate/simulate.h"
#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

/* The usual places of data, for a program that cannot find its own path (no /proc). */
static const char *const usual[] = { "/usr/local/share/podbench", "/usr/share/podbench" };

static bool is_root(const char *path, struct arena *a)
{
    return access(arena_printf(a, "%s/system-model/specs/", path), F_OK) == 0;      /* the slash at the end makes sure that it is a folder */
}

/* The path of this code: the shared library's, if it is in one, or else the program's. */
static bool own_path(char path[PATH_MAX])
{
    Dl_info own;
    if (dladdr(usual, &own) && own.dli_fname && strstr(own.dli_fname, ".so") && realpath(own.dli_fname, path))
        return true;
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The folder this many levels above the program or library; NULL if there is none. From build/podbench, two levels lead to the source tree;
 * from /usr/bin/podbench, two lead to /usr. */
static const char *above_program(int levels, struct arena *a)
{
    char path[PATH_MAX];
    if (!own_path(path))
        return NULL;
    for (int up = 0; up < levels; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = 0;
    }
    return arena_strdup(a, path);
}

static const char *found_root(struct arena *a)
{
    char here[PATH_MAX];
    for (int levels = 2; levels <= 3; levels++) {
        const char *tree = above_program(levels, a);
        if (tree && is_root(tree, a))
            return getcwd(here, sizeof here) && text_is(here, tree) ? "." : tree;
    }
    const char *above = above_program(2, a);
    const char *shared = above ? arena_printf(a, "%s/share/podbench", above) : NULL;
    if (shared && is_root(shared, a))
        return shared;
    if (is_root(".", a))
        return ".";
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (is_root(usual[i], a))
            return usual[i];
    return NULL;
}

const char *root_find(const char *given, const char *given_as, struct arena *a, struct err *err)
{
    const char *from = given ? given : getenv("PODBENCH_ROOT");
    if (from && *from) {
        if (is_root(from, a))
            return from;
        fail(err, "%s: holds no system-model/specs (%s)", from, given ? given_as : "PODBENCH_ROOT");
        return NULL;
    }
    const char *root = found_root(a);
    if (!root)
        fail(err, "no system-model/specs next to the program or here: name its folder by %s or PODBENCH_ROOT", given_as);
    return root;
}

const char *root_path(const char *root, const char *folder, struct arena *a)
{
    return text_is(root, ".") ? folder : arena_printf(a, "%s/%s", root, folder);
}

bool root_is_installed(const char *root)
{
    size_t n = strlen(root), m = strlen("/share/podbench");
    return n > m && text_is(root + n - m, "/share/podbench");
}
