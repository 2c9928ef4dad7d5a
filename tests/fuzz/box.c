/* SPDX-License-Identifier: GPL-3.0-or-later */
/* box.c - see box.h. */
#include "tests/fuzz/box.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>

static const char *const recipes[] = {
    "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b1", "vendor-ipu-m2000-resnet50-infer-b1",
    "mlperf-v2.0-closed-bow-pod16-resnet50",
};
/* Lines that hold one of the recipes' names are kept, and those that hold `with`; of some tables every so many'th too: a log of few tensors
 * is as good as one of 400, and read four times as fast. */
static const struct table { const char *path, *with; size_t every; } tables[] = {
    { "published/mlperf.csv", NULL, 0 }, { "published/vendor.csv", NULL, 0 }, { "published/memory.csv", NULL, 0 },
    { "published/kernels.csv", NULL, 41 }, { "published/links.csv", NULL, 41 }, { "published/runs/mlperf_runs.csv", "v2.0,closed", 0 },
    { "published/ledger/ledger.csv", "", 0 },
};
static const struct table tensors = { "tensors.csv", "output_conv,", 7 };
enum { N_RECIPES = sizeof recipes / sizeof *recipes, N_TABLES = sizeof tables / sizeof *tables };

static struct box box;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_box(void)
{
    remove_tree(box.folder);
}

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

static bool keeps(const char *line, size_t i, const struct table *t)
{
    bool keep = i == 0 || (t->every && i % t->every == 0) || (t->with && strstr(line, t->with));
    for (size_t k = 0; k < N_RECIPES && !keep; k++)
        keep = strstr(line, recipes[k]);
    return keep;
}

/* t NULL: all. */
static void copy_lines(const char *to, const char *from, const struct table *t)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    char *line = NULL;
    size_t cap = 0;
    must(in && out, from);
    for (size_t i = 0; getline(&line, &cap, in) > 0; i++)
        if (!t || keeps(line, i, t))
            fputs(line, out);
    free(line);
    fclose(in);
    must(fclose(out) == 0, to);
}

/* The convergence tables, with fewer tensors in each round. */
static void copy_convergence(struct arena *a)
{
    static const char *const names[] = { "benchmarks.csv", "fits.csv", "retuned.csv" };
    const char *to = arena_printf(a, "%s/convergence", box.folder), *from = arena_printf(a, "%s/workloads/convergence", box.source);
    char **rounds, **files;
    size_t n, n_files;
    mkdir(to, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        must(symlink(arena_printf(a, "%s/%s", from, names[i]), arena_printf(a, "%s/%s", to, names[i])) == 0, names[i]);
    mkdir(arena_printf(a, "%s/rounds", to), 0777);
    must(list_folder(&rounds, &n, arena_printf(a, "%s/rounds", from), "", a, NULL), "rounds");
    for (size_t i = 0; i < n; i++) {
        const char *folder = arena_printf(a, "%s/rounds/%s", from, rounds[i]), *copy = arena_printf(a, "%s/rounds/%s", to, rounds[i]);
        mkdir(copy, 0777);
        must(list_folder(&files, &n_files, folder, "", a, NULL), folder);
        for (size_t k = 0; k < n_files; k++)
            copy_lines(arena_printf(a, "%s/%s", copy, files[k]), arena_printf(a, "%s/%s", folder, files[k]),
                       text_is(files[k], tensors.path) ? &tensors : NULL);
    }
}

const struct box *box_open(void)
{
    struct arena a = {0};
    if (*box.folder)
        return &box;
    must(getcwd(box.source, sizeof box.source) && (box.source_fd = open(".", O_RDONLY | O_DIRECTORY)) >= 0, "the current folder");
    snprintf(box.folder, sizeof box.folder, "%s", fuzz_folder());
    static const char *const folders[] = { "recipes", "bin", "published", "published/runs", "published/ledger" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(arena_printf(&a, "%s/%s", box.folder, folders[i]), 0777);
    for (size_t i = 0; i < N_RECIPES; i++)
        copy_lines(arena_printf(&a, "%s/recipes/%s.ini", box.folder, recipes[i]), arena_printf(&a, "workloads/recipes/%s.ini", recipes[i]), NULL);
    for (size_t i = 0; i < N_TABLES; i++)
        copy_lines(arena_printf(&a, "%s/%s", box.folder, tables[i].path), arena_printf(&a, "results/%s", tables[i].path), &tables[i]);
    copy_convergence(&a);
    must(symlink("/bin/true", arena_printf(&a, "%s/bin/gnuplot", box.folder)) == 0, "gnuplot");     /* drawings are not looked at */
    setenv("PATH", arena_printf(&a, "%s/bin:%s", box.folder, getenv("PATH") ? getenv("PATH") : ""), 1);
    atexit(remove_box);
    arena_free(&a);
    return &box;
}

void box_enter(void)
{
    struct arena a = {0};
    const char *work = arena_printf(&a, "%s/work", box_open()->folder);
    mkdir(work, 0777);
    must(chdir(work) == 0, work);
    arena_free(&a);
}

void box_leave(void)
{
    struct arena a = {0};
    must(fchdir(box.source_fd) == 0, "the source");
    remove_tree(arena_printf(&a, "%s/work", box.folder));
    arena_free(&a);
}

bool box_may_write(const char *path)
{
    for (const char *p = path; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-_./", *p)))
            return false;
    return *path && *path != '/' && *path != '-' && !strstr(path, "..") && strlen(path) < 128;
}

bool box_write(const char *path, const char *text, size_t n)
{
    struct arena a = {0};
    const char *slash = strrchr(path, '/');
    bool good = box_may_write(path) && (!slash || make_folders(arena_printf(&a, "%.*s", (int)(slash - path), path), NULL));
    FILE *f = good ? fopen(path, "wb") : NULL;
    good = f && fwrite(text, 1, n, f) == n;
    if (f)
        fclose(f);
    arena_free(&a);
    return good;
}
