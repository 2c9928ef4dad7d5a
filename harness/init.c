/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * init.c - podbench init: starts a project with a makefile, a recipe and a table of figures, ready to run.
 *
 * Nothing is overwritten. The recipe is a copy of a stock recipe under a new name, and the figure is its published one.
 * A new folder appears complete or not at all; in an existing folder the files written so far are removed when one
 * fails.
 */
#include "harness/harness.h"
#include "results/study/first_recipe.h"
#include "workloads/onnx/onnx.h"
#include <sys/stat.h>
#include <unistd.h>

static const char stock[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

/* No file that is committed names a folder of this machine: local.mk does, which .gitignore lists. */
static const char makefile[] =
    "# Runs on IPU systems, simulated and judged; make help lists what can be made. podbench is found in local.mk, as PODBENCH_HOME, as\n"
    "# the folder podbench here, or as the program that is installed.\n"
    "-include local.mk\n"
    "PODBENCH_HOME ?= $(or $(patsubst %/bench.mk,%,$(wildcard podbench/bench.mk)),$(shell podbench --home))\n"
    "include $(or $(PODBENCH_HOME),$(error podbench is not found: install it, or set PODBENCH_HOME to its source))/bench.mk\n";

static const char local_mk[] =
    "# Where podbench is on this machine; not committed.\n"
    "PODBENCH_HOME ?= %s\n";

static const char gitignore[] = "/build/\n/local.mk\n/podbench/\n";

static const char github[] =
    "# Judges the predictions of this project on every push. The repository variable PODBENCH_SOURCE names the git repository of podbench,\n"
    "# and PODBENCH_VERSION a tag or branch of it.\n"
    "name: podbench\n"
    "on: [push, pull_request]\n"
    "jobs:\n"
    "  predictions:\n"
    "    runs-on: ubuntu-latest\n"
    "    container: debian:12\n"
    "    steps:\n"
    "      - run: apt-get update && apt-get install -y git make gcc libc6-dev\n"
    "      - uses: actions/checkout@v4\n"
    "      - run: git clone --depth 1 --branch \"${PODBENCH_VERSION:-main}\" \"$PODBENCH_SOURCE\" podbench\n"
    "        env:\n"
    "          PODBENCH_SOURCE: ${{ vars.PODBENCH_SOURCE }}\n"
    "          PODBENCH_VERSION: ${{ vars.PODBENCH_VERSION }}\n"
    "      - run: make check FORMAT=annotations\n"
    "      - run: if [ -e baseline/rows.csv ]; then make gate FORMAT=annotations; fi\n";

static const char gitlab[] =
    "# Judges the predictions of this project on every push. The CI variable PODBENCH_SOURCE names the git repository of podbench, and\n"
    "# PODBENCH_VERSION a tag or branch of it.\n"
    "predictions:\n"
    "  image: debian:12\n"
    "  script:\n"
    "    - apt-get update && apt-get install -y git make gcc libc6-dev\n"
    "    - git clone --depth 1 --branch \"${PODBENCH_VERSION:-main}\" \"$PODBENCH_SOURCE\" podbench\n"
    "    - make -s check FORMAT=junit >check.xml\n"
    "    - if [ -e baseline/rows.csv ]; then make -s gate FORMAT=junit >gate.xml; fi\n"
    "  artifacts:\n"
    "    when: always\n"
    "    reports:\n"
    "      junit: [check.xml, gate.xml]\n";

static const char readme[] =
    "recipes/*.ini      how each run is configured; sheets of your own machines may be put here too (system = my-pod.csv)\n"
    "published/*.csv    what you measured, and the tolerance; recipes are named by id, or by a path relative to the table\n"
    "expected.csv       expected failures: id,reason (may be absent)\n"
    "baseline/          predictions that 'make baseline REASON=...' has recorded, and why\n"
    "\n"
    "make check                   compares predictions with your measurements; fails when a row is out of tolerance\n"
    "make baseline REASON=first   records the predictions\n"
    "make gate                    fails when a prediction differs from the recorded one\n"
    "make report                  draws everything on one page: build/run/report.html\n"
    "make help                    lists all of them\n"
    "\n"
    "local.mk says where podbench is on this machine, and is not committed. The workflows for GitHub and GitLab clone it\n"
    "from the repository that the variable PODBENCH_SOURCE names.\n"
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
enum { N_FILES = 8 };

static bool write_files(const char *folder, const struct project_file files[N_FILES], struct arena *a, struct err *err)
{
    int n = 0;
    static const char *const folders[] = { "recipes", "published", ".github/workflows" };
    bool good = true;
    for (size_t i = 0; good && i < sizeof folders / sizeof *folders; i++)
        good = make_folders(arena_printf(a, "%s/%s", folder, folders[i]), err);
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

/* A value for a makefile, in which $ and # have a meaning. */
static const char *make_value(const char *text, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(text) + 1), *to = out;
    for (; *text; *to++ = *text++)
        if (*text == '$' || *text == '#')
            *to++ = *text == '$' ? '$' : '\\';
    return out;
}

/* ---- a recipe for a model ------------------------------------------------------------------------------------------------ */

/* The file's name without folder and ending, in signs that an id may have. */
static const char *id_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    char *id = arena_strdup(a, slash ? slash + 1 : path);
    id[strlen(id) - strlen(".onnx")] = '\0';
    for (char *c = id; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
            *c = '-';
    return id;
}

/* In another folder the recipe names the model by its whole path. */
static int write_recipe(const struct options *o, struct session *s, struct err *err)
{
    const char *folder = o->n_arguments ? o->arguments[0] : ".";
    if (!onnx_is_file(o->model))
        return bad_input(err, "init: --model %.200s: want an ONNX file, FILE.onnx", o->model);
    const char *id = id_of(o->model, &s->arena), *name = arena_printf(&s->arena, "%s.ini", id), *path = arena_printf(&s->arena, "%s/%s", folder, name);
    if (access(path, F_OK) == 0)
        return bad_input(err, "%s: is already there; init overwrites nothing", path);
    char *whole = o->n_arguments ? realpath(o->model, NULL) : NULL;
    const char *model = whole ? arena_strdup(&s->arena, whole) : o->model;
    struct first_recipe_request q = { .model = model, .id = id, .sets = o->sets, .n_sets = o->n_sets, .simulator = &s->simulator };
    struct first_recipe first;
    free(whole);
    if (!first_recipe_find(&first, &q, &s->arena, err) || !write_new(folder, name, first.text, &s->arena, err))
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s: %s\n", path, first.result.fits ? "it fits" : "no split that was tried fits; 'podbench fit' says what would help");
    fprintf(s->out, "%.0f samples/s; with one step a call %.0f\n", first.result.throughput_samples_per_s, first.one_call_throughput);
    fprintf(s->out, "chosen: %s\n", first.chosen);
    if (first.assumed)
        fprintf(s->out, "assumed sizes: %s\n", first.assumed);
    fprintf(s->out, "next: podbench run %s\n", path);
    return EXIT_DONE;
}

int command_init(const struct options *o, struct session *s, struct err *err)
{
    if (o->model)
        return write_recipe(o, s, err);
    if (o->n_sets)
        return bad_input(err, "init: --set is of a recipe for a model; give --model FILE.onnx");
    if (o->n_arguments == 0)
        return bad_input(err, "init: wants the DIR of a new project, or --model FILE.onnx");
    const char *folder = o->arguments[0], *recipe = "", *figures = "";
    char *home = realpath(s->root, NULL);
    const char *named = arena_strdup(&s->arena, home ? home : s->root), *local = arena_printf(&s->arena, local_mk, make_value(named, &s->arena));
    free(home);
    if (!own_recipe(&recipe, s, err) || !own_figures(&figures, s, err))
        return EXIT_BAD_INPUT;
    const struct project_file files[N_FILES] = {
        { "Makefile", makefile }, { "recipes/my-run.ini", recipe }, { "published/figures.csv", figures }, { "README", readme },
        { "local.mk", local }, { ".gitignore", gitignore }, { ".github/workflows/podbench.yml", github }, { ".gitlab-ci.yml", gitlab },
    };
    struct stat st;
    bool good = lstat(folder, &st) == 0 ? write_files(folder, files, &s->arena, err) : write_folder(folder, files, &s->arena, err);
    if (!good)
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s: Makefile, README, recipes/my-run.ini, published/figures.csv, and workflows for GitHub and GitLab\n"
           "next: cd %s && make check\n", folder, folder);
    if (strpbrk(named, " \t#$:;%"))
        fprintf(s->log, "podbench: make cannot include files from %s because of blanks or signs in its name: make a link to it with a plain "
                        "name, and set PODBENCH_HOME in %s/local.mk to that\n", named, folder);
    return EXIT_DONE;
}
