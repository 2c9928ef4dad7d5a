/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * init.c - podbench init: starts a project with a makefile, a recipe and a table of figures, ready to run.
 *
 * Nothing is overwritten. The recipe is a copy of a stock recipe under a new name, and the figure is its published one.
 * A new folder appears complete or not at all; in an existing folder the files written so far are removed when one
 * fails.
 */
#include "harness/harness.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char stock[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

static const char makefile[] =
    "# Runs on IPU systems, simulated and judged: make bench, check, gate, baseline REASON=\"why\". See recipes/ and published/.\n"
    "PODBENCH_HOME ?= %s\n"
    "include $(PODBENCH_HOME)/bench.mk\n";

static const char readme[] =
    "recipes/*.ini      how each run is configured; sheets of your own machines may be put here too (system = my-pod.csv)\n"
    "published/*.csv    what you measured, and the tolerance; recipes are named by id, or by a path relative to the table\n"
    "expected.csv       expected failures: id,reason (may be absent)\n"
    "baseline/          predictions that 'make baseline REASON=...' has recorded, and why\n"
    "\n"
    "make check                   compares predictions with your measurements; fails when a row is out of tolerance\n"
    "make baseline REASON=first   records the predictions\n"
    "make gate                    fails when a prediction differs from the recorded one\n"
    "\n"
    "With FORMAT=junit, tap, markdown or annotations, check and gate print for a CI system.\n";

static bool write_new(const char *folder, const char *name, const char *text, struct arena *a, struct err *err)
{
    struct new_file file;
    const char *path = arena_printf(a, "%s/%s", folder, name);
    if (access(path, F_OK) == 0)
        return fail(err, "%s: is already there; init overwrites nothing", path);
    if (!new_file_open(&file, path, err))
        return false;
    fputs(text, file.f);
    return new_file_save(&file, err);
}

/* The stock recipe with its id replaced. */
static bool own_recipe(const char **out, struct session *s, struct err *err)
{
    char *text;
    if (!read_text_file(&text, NULL, arena_printf(&s->arena, "%s/%s.ini", s->paths.recipes_dir, stock), LARGEST_FILE_BYTES, &s->arena,
                        err))
        return false;
    char *id = strstr(text, stock);
    if (!id)
        return fail(err, "%s: has no id", stock);
    *out = arena_printf(&s->arena, "%.*smy-run%s", (int)(id - text), text, id + strlen(stock));
    return true;
}

static bool own_figures(const char **out, struct session *s, struct err *err)
{
    struct figures figures;
    char *text = NULL, value[32];
    size_t n;
    if (!published_load(&figures, s->published_dir, &s->arena, err))
        return false;
    FILE *f = text_stream(&text, &n);
    fprintf(f, "id,recipe,metric,value,unit,tolerance,role,source,quote,note\n");
    for (size_t i = 0; i < figures.n; i++) {
        const struct figure *g = &figures.items[i];
        if (!text_is(g->recipe, stock) || !text_is(g->metric, "throughput_samples_per_s"))
            continue;
        snprintf(value, sizeof value, "%.10g", g->value);
        const char *const cells[] = { "my-run.throughput", "my-run", g->metric, value, g->unit, "0.1", "validate", g->source, "",
                                      "" };
        for (size_t k = 0; k < 10; k++)
            csv_write_cell(f, cells[k], k == 9);
        break;
    }
    fclose(f);
    *out = arena_strdup(&s->arena, text);
    free(text);
    return true;
}

struct project_file { const char *name, *text; };
enum { N_FILES = 4 };

static bool write_files(const char *folder, const struct project_file files[N_FILES], struct arena *a, struct err *err)
{
    int n = 0;
    bool good = make_folders(arena_printf(a, "%s/recipes", folder), err) && make_folders(arena_printf(a, "%s/published", folder), err);
    while (good && n < N_FILES && (good = write_new(folder, files[n].name, files[n].text, a, err)))
        n++;
    while (!good && n-- > 0)
        unlink(arena_printf(a, "%s/%s", folder, files[n].name));
    return good;
}

static bool write_folder(const char *path, const struct project_file files[N_FILES], struct arena *a, struct err *err)
{
    struct new_folder folder;
    if (!new_folder_open(&folder, path, err))
        return false;
    if (write_files(folder.temp_path, files, a, err))
        return new_folder_save(&folder, err);
    new_folder_drop(&folder);
    return false;
}

int command_init(const struct options *o, struct session *s, struct err *err)
{
    const char *folder = o->arguments[0], *recipe = "", *figures = "";
    char *home = realpath(s->root, NULL);
    const char *named = arena_strdup(&s->arena, home ? home : s->root), *make_text = arena_printf(&s->arena, makefile, named);
    free(home);
    if (!own_recipe(&recipe, s, err) || !own_figures(&figures, s, err))
        return EXIT_BAD_INPUT;
    const struct project_file files[N_FILES] = { { "Makefile", make_text }, { "recipes/my-run.ini", recipe }, { "published/figures.csv", figures },
                                                 { "README", readme } };
    struct stat st;
    bool good = lstat(folder, &st) == 0 ? write_files(folder, files, &s->arena, err) : write_folder(folder, files, &s->arena, err);
    if (!good)
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s: Makefile, README, recipes/my-run.ini, published/figures.csv\nnext: cd %s && make check\n", folder, folder);
    if (strpbrk(named, " \t#$:;%"))
        fprintf(s->log, "podbench: make cannot include files from %s because of blanks or signs in its name: make a link to it with a plain "
                        "name, and set PODBENCH_HOME in %s/Makefile to that\n", named, folder);
    return EXIT_DONE;
}
