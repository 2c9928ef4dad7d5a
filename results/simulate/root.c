/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * root.c - finds the folder that holds the data, and checks that its tables are whole.
 */
#include "results/simulate/simulate.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
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

/* ---- are the tables whole? ------------------------------------------------------------------------------ */

#define TABLES "results/validity/tables.csv"
#define WRITE_AGAIN "if rows were taken out on purpose, sh harness/tables.sh writes " TABLES " again"
static const char restore[] = "restore it from the repository or the package; " WRITE_AGAIN;

struct counted_file { const char *path; uint64_t lines, bytes; };
static const struct field counted_fields[] = { FIELD_OF(struct counted_file, path, .required = true),
                                               FIELD_OF(struct counted_file, lines, .unit = "", .min = 1, .max = 1e9, .required = true),
                                               FIELD_OF(struct counted_file, bytes, .unit = "", .min = 1, .max = 1e12, .required = true) };

/* False if the file cannot be read. */
static bool count_lines(uint64_t *out, const char *path)
{
    char block[1 << 16];
    int file = open(path, O_RDONLY);
    ssize_t n = -1;
    *out = 0;
    while (file >= 0 && (n = read(file, block, sizeof block)) > 0)
        for (const char *at = block, *end = block + n; (at = memchr(at, '\n', (size_t)(end - at))); at++)
            ++*out;
    if (file >= 0)
        close(file);
    return n == 0;
}

/* A folder that is not there at all was left out on purpose, as from the explorer's page. */
static bool folder_is_there(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    return !slash || access(arena_printf(a, "%.*s", (int)(slash - path), path), F_OK) == 0;
}

/* A file that was cut is smaller, so most files need no counting. */
static bool file_is_whole(const struct counted_file *f, const char *path, struct arena *a, struct err *err)
{
    struct stat st;
    uint64_t n;
    if (stat(path, &st) == 0 && (uint64_t)st.st_size >= f->bytes)
        return true;
    if (!count_lines(&n, path))
        return !folder_is_there(path, a) || fail(err, "%s: %s, and " TABLES " lists it; %s", path, strerror(errno), restore);
    return n >= f->lines || fail(err, "%s: is cut: %" PRIu64 " of %" PRIu64 " lines; %s", path, n, f->lines, restore);
}

bool root_is_whole(const char *root, struct arena *a, struct err *err)
{
    const char *path = root_path(root, TABLES, a);
    struct csv_table t;
    if (access(path, F_OK) != 0)
        return true;
    const struct counted_file *files = records_load(&t, sizeof *files, path, counted_fields, N_FIELDS(counted_fields), a, err);
    if (!files)
        return false;
    if (!t.n_rows || !text_is(t.rows[0].cells[0], TABLES))
        return fail(err, "%s: the first row is not that of this file itself; %s", path, restore);
    for (size_t i = 0; i < t.n_rows; i++)
        if (!file_is_whole(&files[i], root_path(root, files[i].path, a), a, err))
            return false;
    return true;
}
