/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * init.c - podbench init: starts a project with a makefile, a recipe and a table of figures, ready to run.
 *
 * Nothing is overwritten. The recipe is a copy of a stock recipe under a new name, and the figure is its published one. A new folder appears
 * complete or not at all. In an existing folder, the files written so far are removed if one fails.
 */
#include "harness/harness.h"
#include "results/simulate/simulate.h"
#include "results/study/first_recipe.h"
#include "workloads/onnx/onnx.h"
#include <sys/stat.h>
#include <unistd.h>

static const char stock[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

/* The files of a new project. Folders of this machine are named only in local.mk, which .gitignore lists, so git keeps no such name. */
static const struct { const char *name, *from; } templates[] = {
    { "Makefile", "Makefile" }, { "README", "README" }, { ".gitignore", "gitignore" },
    { ".github/workflows/podbench.yml", "github.yml" }, { ".gitlab-ci.yml", "gitlab-ci.yml" },
};
enum { N_TEMPLATES = sizeof templates / sizeof *templates, N_FILES = N_TEMPLATES + 3 };

static bool write_new(const char *folder, const char *name, const char *text, struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/%s", folder, name);
    if (access(path, F_OK) == 0)
        return fail(err, "%s: is already there; init overwrites nothing", path);
    return write_text_file(path, text, err);
}

/* The stock recipe with its id replaced. */
static bool own_recipe(char **out, struct session *s, struct err *err)
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

static bool own_figures(char **out, struct session *s, struct err *err)
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
    *out = text_close(f, &text, &s->arena);
    return true;
}

struct project_file { const char *name; char *text; };

static bool read_templates(struct project_file *out, struct session *s, struct err *err)
{
    const char *folder = root_path(s->root, "harness/project", &s->arena);
    for (size_t i = 0; i < N_TEMPLATES; i++) {
        out[i].name = templates[i].name;
        if (!read_text_file(&out[i].text, NULL, arena_printf(&s->arena, "%s/%s", folder, templates[i].from), LARGEST_FILE_BYTES, &s->arena, err))
            return false;
    }
    return true;
}

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

/* A value as it is written in a makefile, where $ and # have a meaning. */
static const char *make_value(const char *text, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(text) + 1), *to = out;
    for (; *text; *to++ = *text++)
        if (*text == '$' || *text == '#')
            *to++ = *text == '$' ? '$' : '\\';
    return out;
}

/* ---- a recipe for a model ------------------------------------------------------------------------------------------------ */

/* The id for a file: its name without folder and ending, with - for characters that an id may not have. */
static const char *id_of(const char *path, struct arena *a)
{
    char *id = arena_strdup(a, path_name(path));
    id[strlen(id) - strlen(".onnx")] = '\0';
    for (char *c = id; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
            *c = '-';
    return id;
}

/* A path for use in a shell: in quotes, unless it is plain. */
static const char *shell_word(const char *path, struct arena *a)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    if (path[strspn(path, plain)] == '\0')
        return path;
    const char *out = "'";
    for (size_t n; *path; path += n) {
        n = *path == '\'' ? 1 : strcspn(path, "'");
        out = *path == '\'' ? arena_printf(a, "%s'\\''", out) : arena_printf(a, "%s%.*s", out, (int)n, path);
    }
    return arena_printf(a, "%s'", out);
}

/* Writes a recipe for the user's model. A recipe in another folder names the model by its absolute path. */
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
    if (!first_recipe_find(&first, &q, &s->arena, err) || !make_folders(folder, err) || !write_new(folder, name, first.text, &s->arena, err))
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s: %s\n", path, first.result.fits ? "it fits" : "no split that was tried fits; 'podbench fit' says what would help");
    fprintf(s->out, "%.0f samples/s; with one step a call %.0f\n", first.result.throughput_samples_per_s, first.one_call_throughput);
    fprintf(s->out, "chosen: %s\n", first.chosen);
    if (first.assumed)
        fprintf(s->out, "assumed sizes: %s\n", first.assumed);
    fprintf(s->out, "next: podbench run %s\n", shell_word(path, &s->arena));
    return EXIT_DONE;
}

int command_init(const struct options *o, struct session *s, struct err *err)
{
    if (o->model)
        return write_recipe(o, s, err);
    if (o->n_sets)
        return bad_input(err, "init: --set changes the recipe that init writes for a model; give --model FILE.onnx");
    if (o->n_arguments == 0)
        return bad_input(err, "init: wants the DIR of a new project, or --model FILE.onnx");
    const char *folder = o->arguments[0];
    char *home = realpath(s->root, NULL);
    const char *named = arena_strdup(&s->arena, home ? home : s->root);
    free(home);
    struct project_file files[N_FILES], *own = files + N_TEMPLATES;
    own[0].name = "recipes/my-run.ini", own[1].name = "published/figures.csv", own[2].name = "local.mk";
    own[2].text = arena_printf(&s->arena, "# Where podbench is on this machine; not committed.\nPODBENCH_HOME ?= %s\n", make_value(named, &s->arena));
    if (!read_templates(files, s, err) || !own_recipe(&own[0].text, s, err) || !own_figures(&own[1].text, s, err))
        return EXIT_BAD_INPUT;
    struct stat st;
    bool good = lstat(folder, &st) == 0 ? write_files(folder, files, &s->arena, err) : write_folder(folder, files, &s->arena, err);
    if (!good)
        return EXIT_BAD_INPUT;
    fprintf(s->out, "wrote %s: Makefile, README, recipes/my-run.ini, published/figures.csv, and workflows for GitHub and GitLab\n"
           "next: cd %s && make check\n", folder, shell_word(folder, &s->arena));
    if (strpbrk(named, " \t#$:;%"))
        fprintf(s->log, "podbench: make cannot include files from %s because of blanks or signs in its name: make a link to it with a plain "
                        "name, and set PODBENCH_HOME in %s/local.mk to that\n", named, folder);
    return EXIT_DONE;
}
