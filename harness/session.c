/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c - the folders of data and runs with which a command works.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/simulate/simulate.h"
#include "results/simulate/run_folder.h"
#include "results/study/own_runs.h"
#include "system-model/machine/fitted.h"
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

int bad_input(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->msg, sizeof err->msg, format, args);
    va_end(args);
    return EXIT_BAD_INPUT;
}

bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool session_open(struct session *s, const char *root, const char *given_as, struct err *err)
{
    s->root = root_find(root, given_as, &s->arena, err);
    if (!s->root || !root_is_whole(s->root, &s->arena, err))
        return false;
#define IN_ROOT(folder) root_path(s->root, folder, &s->arena)
    s->paths.specs_dir = IN_ROOT("system-model/specs");
    s->paths.recipes_dir = IN_ROOT("workloads/recipes");
    s->paths.data_dir = IN_ROOT("workloads/convergence");
    s->published_dir = IN_ROOT("results/published");
    s->validity_dir = s->paths.validity_dir = IN_ROOT("results/validity");
    s->runs_dir = root_is_installed(s->root) ? "podbench-runs" : IN_ROOT("results/runs");      /* nothing is written into an installation */
    s->baselines_dir = root_is_installed(s->root) ? "podbench-baseline" : IN_ROOT("results/baselines");
    s->plots_dir = IN_ROOT("plots");
#undef IN_ROOT
    simulator_open(&s->simulator, &s->paths);
    return true;
}

bool session_has_own_rows(const struct session *s, const struct options *o)
{
    struct arena scratch = {0};
    bool own = !o->published && text_is(s->published_dir, root_path(s->root, "results/published", &scratch))
            && text_is(s->paths.recipes_dir, root_path(s->root, "workloads/recipes", &scratch));
    arena_free(&scratch);
    return own;
}

static bool use_folder(const char **folder, const char *given, const char *option, struct err *err)
{
    if (given && !is_folder(given))
        return fail(err, "--%s: %.200s is not a folder", option, *given ? given : "''");
    *folder = given ? given : *folder;
    return true;
}

/* Takes the folders in the options. --published may also name a single table, which the commands that accept one read themselves. */
bool session_folders(struct session *s, const struct options *o, struct err *err)
{
    bool all_tables = o->published && is_folder(o->published);
    s->published_dir = all_tables && o->recipes ? o->published : s->published_dir;
    s->baselines_dir = o->baseline ? o->baseline : s->baselines_dir;
    return use_folder(&s->paths.recipes_dir, o->recipes, "recipes", err);
}

static void warn_unfitted(const char *sheet, const char *const *names, size_t n, struct session *s)
{
    const char *path = arena_printf(&s->arena, "%s/%s", s->paths.specs_dir, sheet), **absent = ARENA_ARRAY(&s->arena, const char *, n);
    struct sheet found;
    size_t n_absent = 0;
    if (is_missing(path)) {
        fprintf(s->log, "podbench: %s: no %s: unfitted constants are used; 'podbench calibrate --out DIR' makes it\n",
                s->paths.specs_dir, sheet);
        return;
    }
    if (!sheet_load(&found, path, &s->arena, NULL))
        return;                         /* the command that needs it will report the error */
    for (size_t i = 0; i < n; i++)
        if (!sheet_find(&found, names[i]))
            absent[n_absent++] = names[i];
    if (n_absent)
        fprintf(s->log, "podbench: %s: unfitted values are used for the constants it lacks: %s; 'podbench calibrate --out DIR' makes it again\n",
                path, names_list(absent, n_absent, &s->arena));
}

void session_warn_unfitted(struct session *s)
{
    const char *of_chip[N_FITTED_CHIP_NAMES], *of_system[N_FITTED_SYSTEM_NAMES];
    fitted_chip_names(of_chip, &s->arena);
    fitted_system_names(of_system);
    warn_unfitted("fitted-chip.csv", of_chip, N_FITTED_CHIP_NAMES, s);
    warn_unfitted("fitted-system.csv", of_system, N_FITTED_SYSTEM_NAMES, s);
}

/* Warns if --set sets a key twice, as only the last value counts. */
void session_warn_replaced(const struct options *o, struct session *s)
{
    for (size_t i = 0; i < o->n_sets; i++)
        for (size_t k = i + 1; k < o->n_sets; k++) {
            size_t n = strcspn(o->sets[i], "=") + 1;
            if (strncmp(o->sets[i], o->sets[k], n) == 0 && !text_is(o->sets[i], o->sets[k])) {
                fprintf(s->log, "podbench: --set %.100s replaces --set %.100s\n", o->sets[k], o->sets[i]);
                break;
            }
        }
}

void session_close(struct session *s)
{
    simulator_close(&s->simulator);
    arena_free(&s->arena);
}

int session_answer(command_function *run, const struct options *o, struct session *s, struct err *err)
{
    s->answer = (struct document){ .arena = &s->arena };
    int status = run(o, s, err);
    if (status != EXIT_BAD_INPUT && (s->answer.n || s->answer.judged.suite))
        document_write(s->out, o->format, &s->answer);
    else
        document_drop(&s->answer);
    return status;
}

bool run_table_path(const char **out, const char *run, const char *table, struct session *s, struct err *err)
{
    const char *in_runs = arena_printf(&s->arena, "%s/%s", s->runs_dir, run);
    struct stat st;
    if (stat(run, &st) == 0 && S_ISREG(st.st_mode))
        *out = run;
    else if (is_folder(run))
        *out = arena_printf(&s->arena, "%s/%s", run, table);
    else if (is_folder(in_runs))
        *out = arena_printf(&s->arena, "%s/%s", in_runs, table);
    else {
        char **names;
        size_t n;
        if (!list_folder(&names, &n, s->runs_dir, "", &s->arena, NULL) || n == 0)
            return fail(err, "%s: no such run; there are none yet: 'podbench bench' makes one", run);
        return fail(err, "%s: no such run; known: %s", run, names_list((const char *const *)names, n, &s->arena));
    }
    return true;
}

const char *unfit_text(const struct result *r, struct arena *a)
{
    uint64_t bytes = r->memory_shortfall_bytes_per_tile;
    return bytes ? arena_printf(a, "does not fit: %s more than a tile has", quantity_kept((double)bytes, "B", 3, a)) : "does not fit: it was out of memory when it was published";
}

void warn_unfit(const struct result *r, struct session *s)
{
    if (!r->fits)
        fprintf(s->log, "podbench: %s: %s; this is the time it would take if it did\n", r->id, unfit_text(r, &s->arena));
}

bool simulate_argument(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err)
{
    struct progress p;
    progress_start(&p, s->log, "simulating");
    s->simulator.watch = (struct watch){ progress_report, &p };
    bool good = simulator_run(&s->simulator, sim, r, o->arguments[0], o->sets, o->n_sets, err);
    s->simulator.watch = (struct watch){ NULL, NULL };
    progress_end(&p);
    if (good && !s->trains)
        warn_unused_keys(sim, r, o->arguments[0], o, s, &sim->arena);
    return good;
}

static void use_recorded(const char **folder, const char *recorded, const char *what, const char *manifest_path, struct session *s)
{
    if (is_folder(recorded))
        *folder = arena_strdup(&s->arena, recorded);
    else
        fprintf(s->log, "podbench: %s: the run's %s were in %.200s, which is missing; using those in %s\n", manifest_path, what, recorded,
                *folder);
}

/* Takes the folders of recipes and figures from a run's manifest, unless options name them. */
static void use_folders(const char *manifest_path, struct session *s)
{
    json_t *manifest = manifest_load(manifest_path, NULL), *folders = json_object_get(manifest, "folders");
    const char *recipes = json_string_value(json_object_get(folders, "recipes"));
    const char *published = json_string_value(json_object_get(folders, "published"));
    bool own = text_is(s->paths.recipes_dir, root_path(s->root, "workloads/recipes", &s->arena));
    if (recipes && own)
        use_recorded(&s->paths.recipes_dir, recipes, "recipes", manifest_path, s);
    if (recipes && own && published)
        use_recorded(&s->published_dir, published, "figures", manifest_path, s);
    json_decref(manifest);
}

bool run_open(const char *run, const char *columns, struct session *s, struct err *err)
{
    const char *rows;
    struct stat st;
    if (stat(run, &st) == 0 && S_ISREG(st.st_mode))
        return true;
    if (!run_table_path(&rows, run, "", s, err) ||
        !run_folder_check(arena_printf(&s->arena, "%.*s", (int)strlen(rows) - 1, rows), columns, err))
        return false;
    if (columns)
        use_folders(arena_printf(&s->arena, "%smanifest.json", rows), s);
    return true;
}

bool run_folder(const char **out, const char *run, struct session *s, struct err *err)
{
    const char *path;
    if (!run_table_path(&path, run, "manifest.json", s, err))
        return false;
    if (text_is(path, run))
        return fail(err, "%s: is a table; want the folder of a run", run);
    *out = arena_printf(&s->arena, "%.*s", (int)(strrchr(path, '/') - path), path);
    return true;
}

bool session_figures(struct figures *out, const char *published, struct session *s, struct err *err)
{
    if (!published_load_derived(out, published ? published : s->published_dir, s->paths.recipes_dir, &s->arena, err))
        return false;
    if (out->n_left_out)
        fprintf(s->log, "podbench: %zu derived row%s left out; %s\n", out->n_left_out, plural(out->n_left_out), out->left_out);
    return true;
}

struct check_source session_source(struct session *s, struct simulator *simulator)
{
    return (struct check_source){ .simulator = simulator, .links.costs_dir = arena_printf(&s->arena, "%s/links", s->published_dir) };
}

bool all_recipes(char ***ids, size_t *n, struct session *s, struct err *err)
{
    return list_folder(ids, n, s->paths.recipes_dir, ".ini", &s->arena, err)
        && (*n || fail(err, "%s: holds no recipe; want files that end in .ini", s->paths.recipes_dir));
}

bool may_replace(const char *path, const char *beginning, const char *what, struct err *err)
{
    char text[64];
    size_t n = strlen(beginning);
    FILE *f = is_device(path) ? NULL : fopen(path, "rbe");
    size_t n_read = f ? fread(text, 1, n, f) : 0;
    if (f)
        fclose(f);
    return n_read == 0 || (n_read == n && memcmp(text, beginning, n) == 0)
        || fail(err, "%s: is there, and does not hold %s; remove it, or name another file", path, what);
}

bool session_record(struct track_record *out, struct own_runs *own, struct session *s, struct err *err)
{
    struct own_runs unused = { 0 }, *runs = own ? own : &unused;
    if (!track_record_open(out, s->validity_dir, &s->arena, err) || !own_runs_load(runs, own_runs_file, &s->arena, err))
        return false;
    own_runs_reference(&out->references, runs, &s->simulator, &s->arena);
    for (size_t i = 0; i < runs->n; i++)
        if (runs->items[i].why_not)
            fprintf(s->log, "podbench: %s:%u: not counted: %s\n", runs->path, runs->items[i].line, runs->items[i].why_not);
    return true;
}

const char *session_memory_sights_path(struct session *s)
{
    return arena_printf(&s->arena, "%s/ledger/first-memory.csv", s->published_dir);
}

bool session_first_sight(struct first_sight *out, struct session *s, struct err *err)
{
    const char *path = arena_printf(&s->arena, "%s/%s.csv", s->published_dir, first_sight_name);
    *out = (struct first_sight){0};
    return is_missing(path) || first_sight_load(out, path, &s->arena, err);
}
