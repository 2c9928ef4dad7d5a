/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench.c - podbench bench: simulates every recipe, writes a run, and compares it with the published figures.
 *
 * A run consists of rows.csv (a row for each recipe), check.csv (a row for each published figure) and manifest.json (versions, and hashes of
 * all inputs and of both tables). They are written after everything has been simulated. They contain no time and no host, so that two runs of
 * the same inputs are equal to the byte.
 */
#include "harness/harness.h"
#include "results/figures/drawings.h"
#include "results/published/check.h"
#include "results/simulate/simulator.h"
#include "results/simulate/run_folder.h"
#include "results/simulate/simulate.h"
#include "results/study/trust.h"
#include <errno.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <unistd.h>

/* ---- the manifest ----------------------------------------------------------------------------- */

static bool manifest_hash_folder(json_t *inputs, const char *folder, const char *suffix, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    if (!list_folder(&names, &n, folder, suffix, &s->arena, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *path = arena_printf(&s->arena, "%s/%s%s", folder, names[i], suffix);
        const char *shown = strncmp(path, s->root, strlen(s->root)) == 0 ? path + strlen(s->root) + 1 : path;
        char *text, hash[32];
        size_t n_bytes;
        if (!read_text_file(&text, &n_bytes, path, LARGEST_FILE_BYTES, &s->arena, err))
            return false;
        snprintf(hash, sizeof hash, "xxh3:%016" PRIx64, hash_bytes(text, n_bytes, 0));
        json_object_set_new(inputs, text_is(s->root, ".") ? path : shown, json_string(hash));
    }
    return true;
}

/* Adds the hashes of the tables of all MLPerf rounds. */
static bool manifest_hash_rounds(json_t *inputs, struct session *s, struct err *err)
{
    const char *dir = arena_printf(&s->arena, "%s/rounds", s->paths.data_dir);
    char **rounds;
    size_t n;
    bool good = list_folder(&rounds, &n, dir, "", &s->arena, err);
    for (size_t i = 0; good && i < n; i++)
        good = manifest_hash_folder(inputs, arena_printf(&s->arena, "%s/%s", dir, rounds[i]), ".csv", s, err);
    return good;
}

/* The user's own folders, which plot and report read from the manifest. */
static json_t *folders_json(const struct options *o)
{
    json_t *folders = json_object();
    if (o->recipes)
        json_object_set_new(folders, "recipes", json_string(o->recipes));
    if (o->published)
        json_object_set_new(folders, "published", json_string(o->published));
    return folders;
}

static bool manifest_json(json_t **out, const struct options *o, size_t n_recipes, size_t n_figures, struct session *s, struct err *err)
{
    json_t *inputs = json_object();
    *out = json_object();
    json_object_set_new(*out, "podbench", json_string(PODBENCH_VERSION));
    json_object_set_new(*out, "gsl", json_string(GSL_VERSION));
    json_object_set_new(*out, "jansson", json_string(JANSSON_VERSION));
    json_object_set_new(*out, "recipes", json_integer((json_int_t)n_recipes));
    json_object_set_new(*out, "figures", json_integer((json_int_t)n_figures));
    json_object_set_new(*out, "folders", folders_json(o));
    json_object_set_new(*out, "inputs", inputs);
    const char *sdk_dir = arena_printf(&s->arena, "%s/sdk", s->paths.specs_dir), *links_dir = arena_printf(&s->arena, "%s/links", s->published_dir);
    return manifest_hash_folder(inputs, s->paths.specs_dir, ".csv", s, err) && manifest_hash_folder(inputs, sdk_dir, ".csv", s, err) &&
           manifest_hash_folder(inputs, s->paths.recipes_dir, ".ini", s, err) &&
           manifest_hash_folder(inputs, s->paths.data_dir, ".csv", s, err) &&
           manifest_hash_rounds(inputs, s, err) && manifest_hash_folder(inputs, s->published_dir, ".csv", s, err) &&
           (is_missing(links_dir) || manifest_hash_folder(inputs, links_dir, ".csv", s, err));
}

/* ---- writing a run ------------------------------------------------------------------------------ */

static void write_rows(FILE *f, const void *results)
{
    const struct results *set = results;
    result_write_csv(f, NULL);
    for (size_t i = 0; i < set->n; i++)
        result_write_csv(f, &set->items[i]);
}

static void write_check(FILE *f, const void *check)
{
    struct arena a = {0};
    struct table t = check_table(check, &a);
    table_write(f, FORMAT_CSV, &t);
    arena_free(&a);
}

static bool bench_write_run(const char *folder, const struct results *set, const struct check *c, json_t *manifest,
                      struct session *s, struct err *err)
{
    const struct run_table tables[] = { { "rows.csv", write_rows, set }, { "check.csv", write_check, c } };
    return run_folder_write(folder, tables, sizeof tables / sizeof *tables, result_columns(&s->arena), manifest, err);
}

/* ---- the command ---------------------------------------------------------------------------------- */

enum { RECIPES_PER_ROUND = 256, RECIPES_PER_CHUNK = 16 };

/* One recipe. All threads simulate recipes; results are collected in order. */
struct simulated { const char *id; const struct track_record *record; bool good; struct results row; struct arena arena; struct err err; };

static void simulate_one(void *user, size_t i, struct simulator *by)
{
    struct simulated *x = (struct simulated *)user + i;
    struct simulation sim;
    struct result r;
    struct validity v;
    x->good = simulator_run(by, &sim, &r, x->id, NULL, 0, &x->err);
    if (!x->good)
        return;
    if (!text_is(r.id, x->id))
        x->good = fail(&x->err, "%s: id: '%.80s', want the file's name, %s", sim.recipe.path, r.id, x->id);
    result_provenance(&r, &sim, NULL, 0);
    validity_of(&v, x->record, &sim, &r, NULL, &sim.arena);
    r.guess = validity_guess_name(&v);
    results_add(&x->row, &r, &x->arena);
    simulation_free(&sim);
}

static bool collect_round(struct results *out, struct simulated *round, size_t n, struct session *s, struct err *err)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        if (good && !round[i].good) {
            *err = round[i].err;
            good = false;
        }
        if (good)
            results_add(out, &round[i].row.items[0], &s->arena);
        arena_free(&round[i].arena);
    }
    return good;
}

static bool simulate_all(struct results *out, struct simulator_pool *pool, struct session *s, struct err *err)
{
    char **ids;
    size_t n;
    struct progress p;
    struct track_record record;
    bool good = true;
    if (!all_recipes(&ids, &n, s, err) || !session_record(&record, NULL, s, err))
        return false;
    struct simulated *round = ARENA_ARRAY(&s->arena, struct simulated, RECIPES_PER_ROUND);
    progress_start(&p, s->log, "simulating");
    for (size_t first = 0; first < n && good; first += RECIPES_PER_ROUND) {
        size_t n_round = min_u64(RECIPES_PER_ROUND, n - first);
        for (size_t i = 0; i < n_round; i++)
            round[i] = (struct simulated){ .id = ids[first + i], .record = &record };
        simulator_pool_run(pool, n_round, RECIPES_PER_CHUNK, simulate_one, round);
        good = collect_round(out, round, n_round, s, err);
        progress_report(&p, "", first + n_round, n);
    }
    progress_end(&p);
    return good;
}

static void print_scaling(FILE *f, const struct results *results, const struct figures *figures)
{
    static const char *const names[] = { "resnet50", "bert-large" };
    fprintf(f, "\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct scaling scaling;
        scaling_build(&scaling, names[i], results, figures);
        scaling_print(f, &scaling);
    }
}

/* Keeps only the figures of kernels, of links, or of both. */
static void keep_figures(struct figures *figures, bool kernels, bool links)
{
    size_t kept = 0;
    for (size_t i = 0; i < figures->n; i++) {
        enum figure_kind kind = figure_kind(&figures->items[i]);
        if ((kernels && kind == FIGURE_OF_KERNEL) || (links && kind == FIGURE_OF_LINK))
            figures->items[kept++] = figures->items[i];
    }
    figures->n = kept;
}

static int bench_parts(const struct options *o, struct figures *figures, struct check_source *from, struct session *s,
                       struct err *err)
{
    struct check c;
    keep_figures(figures, o->kernels, o->links);
    if (!check_build(&c, figures, from, &s->arena, err))
        return EXIT_BAD_INPUT;
    check_document(&s->answer, &c);
    return EXIT_DONE;
}

/* Prepares the folder before anything is simulated, so that no result is lost. Refuses the folder of a baseline, which only podbench baseline
 * replaces, with a reason. */
static bool prepare_folder(struct made_folders *made, const char *folder, struct arena *a, struct err *err)
{
    struct err why = { "" };
    if (access(arena_printf(a, "%s/reasons.csv", folder), F_OK) == 0)
        return fail(err, "%s: is a baseline, which only 'podbench baseline RUN --reason WHY' replaces; name another folder: --out DIR", folder);
    if (made_folders_make(made, folder, a, &why) && access(folder, W_OK) != 0)
        fail(&why, "%s: %s", folder, strerror(errno));
    return !*why.msg || fail(err, "%s; name a folder that may be written to: --out DIR", why.msg);
}

static int bench_all(const struct options *o, struct figures *figures, struct simulator_pool *pool, struct session *s, struct err *err)
{
    struct check_source from = session_source(s, &pool->simulators[0]);
    struct check c;
    json_t *manifest = NULL;
    const char *folder = o->out ? o->out : arena_printf(&s->arena, "%s/latest", s->runs_dir);
    struct made_folders made = { .path = "" };
    bool good = prepare_folder(&made, folder, &s->arena, err) && simulate_all(&from.known, pool, s, err);
    size_t n_recipes = from.known.n;
    good = good && check_build(&c, figures, &from, &s->arena, err) && manifest_json(&manifest, o, n_recipes, figures->n, s, err);
    from.known.n = good ? n_recipes : 0;
    good = good && bench_write_run(folder, &from.known, &c, manifest, s, err);
    json_decref(manifest);
    if (!good) {
        made_folders_drop(&made);
        return EXIT_BAD_INPUT;
    }
    struct document d = { .arena = &s->arena };
    check_document(&d, &c);
    document_write(s->out, o->format, &d);
    if (o->format == FORMAT_TEXT)
        print_scaling(s->out, &from.known, figures);
    fflush(s->out);
    fprintf(s->log, "podbench: %zu recipe%s and %zu figure%s in %s\n", n_recipes, plural(n_recipes), figures->n, plural(figures->n), folder);
    return EXIT_DONE;
}

int command_bench(const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    struct check_source parts = session_source(s, &s->simulator);
    struct simulator_pool pool;
    uint32_t n_threads;
    char **ids;
    size_t n_ids;
    if (o->published && (!o->recipes || !text_is(s->published_dir, o->published))) {
        fail(err, "bench --published: %.200s: want %s", *o->published ? o->published : "''",
             o->recipes ? "a folder of tables" : "--recipes too: whose figures they are");
        return EXIT_BAD_INPUT;
    }
    if (!all_recipes(&ids, &n_ids, s, err) || !session_figures(&figures, NULL, s, err) || !count_threads(&n_threads, o, err))
        return EXIT_BAD_INPUT;
    if (o->kernels || o->links)
        return bench_parts(o, &figures, &parts, s, err);
    simulator_pool_open(&pool, &s->paths, n_threads, (struct simulator_options){ .totals_only = true, .judges = true });
    int status = bench_all(o, &figures, &pool, s, err);
    simulator_pool_close(&pool);
    return status;
}
