/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - turns folders of logs into rows of the table; see rounds.h.
 *
 * A row is cached under the hash of everything that it depends on: the program, the folder's path, its logs and power logs, scaling.json, and
 * its system description. Hashing reads the same bytes as judging, but is about ten times faster.
 */
#include "results/rounds/round_results.h"

#include <time.h>
#include <unistd.h>

struct rounds_reading {
    const struct rounds_request *q;
    struct accelerator_table accelerators;
    struct judge judge;
    struct round_results *out;
    size_t n_cached;
    struct arena *a;
};

/* ---- the hash --------------------------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return hash_bytes(text, strlen(text) + 1, seed);
}

/* Adds a file to the hash; one that cannot be read adds only its name. */
static uint64_t hash_file(const char *path, uint64_t seed)
{
    char block[1 << 15];
    uint64_t hash = hash_text(path, seed);
    FILE *f = open_regular(NULL, path, NULL);
    if (!f)
        return hash;
    setvbuf(f, NULL, _IONBF, 0);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0; )
        hash = hash_bytes(block, n, hash);
    fclose(f);
    return hash;
}

static uint64_t hash_files_in(const char *dir, uint64_t seed, struct arena *a)
{
    char **names;
    size_t n;
    if (access(dir, R_OK) != 0 || !list_folder(&names, &n, dir, "", a, NULL))
        return seed;
    for (size_t i = 0; i < n; i++)
        seed = hash_file(arena_printf(a, "%s/%s", dir, names[i]), seed);
    return seed;
}

const char *rounds_program_hash(const char *data_dir, struct arena *a)
{
    struct arena scratch = {0};
    const char *dir = arena_printf(&scratch, "%s/rounds", data_dir);
    char **rounds;
    size_t n;
    uint64_t hash = hash_file("/proc/self/exe", 0);
    if (list_folder(&rounds, &n, dir, "", &scratch, NULL))
        for (size_t i = 0; i < n; i++)
            hash = hash_files_in(arena_printf(&scratch, "%s/%s", dir, rounds[i]), hash, &scratch);
    arena_free(&scratch);
    return arena_printf(a, "%016llx", (unsigned long long)hash);
}

/* The hash of a folder, with the descriptions in all places where folder_description_path() looks. */
static uint64_t hash_folder(const char *program_hash, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    uint64_t hash = hash_text(dir, hash_text(program_hash, 0));
    const char *system = "", *benchmark = strrchr(dir, '/');
    if (benchmark) {
        const char *parent = arena_printf(a, "%.*s", (int)(benchmark - dir), dir);
        system = strrchr(parent, '/') ? strrchr(parent, '/') + 1 : parent;
    }
    for (size_t i = 0; i < n; i++) {
        hash = hash_file(arena_printf(a, "%s/%s", dir, logs[i]), hash);
        hash = hash_files_in(arena_printf(a, "%s/power/%.*s", dir, (int)strlen(logs[i]) - 4, logs[i]), hash, a);
    }
    const char *others[] = { "scaling.json", "package_checker_params", "../package_checker_params", "../../../package_checker_params", arena_printf(a, "../%s.json", system), arena_printf(a, "../../../systems/%s.json", system) };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        hash = hash_file(arena_printf(a, "%s/%s", dir, others[i]), hash);
    return hash;
}

/* ---- a row of a folder --------------------------------------------------------------------------------------------- */

static const char *description_text(const json_t *doc, const char *key, struct arena *a)
{
    const json_t *v = json_object_get(doc, key);
    return v && !json_is_null(v) ? utf8_text(mllog_text(v, a), a) : "";
}

/* The number at the beginning of a field, since some descriptions say "8 (2 per board)"; NaN if there is none. */
static double description_count(const json_t *doc, const char *key, struct arena *a)
{
    char *end;
    const char *text = description_text(doc, key, a);
    double x = strtod(text, &end);
    return end != text && x >= 0 && x <= 1e7 ? x : (double)NAN;
}

static bool names_nothing(const char *text)
{
    return !*text || text_is(text, "N/A") || text_is(text, "None") || text_is(text, "-");
}

/* Fills the row from the system description. A system without accelerators counts its processors instead. */
static void describe_system(struct round_result *row, const struct folder *f, struct arena *a)
{
    json_t *doc = load_small_json(folder_description_path(f, a));
    row->nodes = description_count(doc, "number_of_nodes", a);
    row->accelerators = row->nodes * description_count(doc, "accelerators_per_node", a);
    row->accelerator = description_text(doc, "accelerator_model_name", a);
    if (row->accelerators == 0 || (isnan(row->accelerators) && names_nothing(row->accelerator))) {
        row->accelerators = row->nodes * description_count(doc, "host_processors_per_node", a);
        row->accelerator = description_text(doc, "host_processor_model_name", a);
    }
    row->interconnect = description_text(doc, "accelerator_interconnect", a);
    row->network = description_text(doc, "host_networking", a);
    row->framework = description_text(doc, "framework", a);
    row->availability = description_text(doc, "status", a);
    const char *notes = doc ? description_text(doc, "hw_notes", a) : "no system description";
    if (!doc || strncmp(notes, SIMULATED_NOTE, strlen(SIMULATED_NOTE)) == 0)
        row->note = arena_printf(a, "%s%s%.*s", row->note, *row->note ? "; " : "", (int)strcspn(notes, "."), notes);
    json_decref(doc);
}

static const char *day_of(double ms, struct arena *a)
{
    struct tm day;
    time_t s = (time_t)(ms / 1e3);
    char text[16];
    if (!isfinite(ms) || !gmtime_r(&s, &day) || strftime(text, sizeof text, "%Y-%m-%d", &day) == 0)
        return "";
    return arena_strdup(a, text);
}

static double median_point(const struct folder *f, struct arena *a)
{
    double *points = ARENA_ROOM(a, double, f->n);
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->runs[i].converged && isfinite(f->runs[i].point))
            points[n++] = f->runs[i].point;
    return median_of(points, n);
}

static void fill_row(struct round_result *row, const struct folder *f, struct arena *a, struct arena *scratch)
{
    struct score_row s;
    double first_ms = NAN;
    score_row_fill(&s, f, a);
    for (size_t i = 0; i < f->n && !f->problem; i++)
        first_ms = fmin(first_ms, f->runs[i].start_ms);
    *row = (struct round_result){ .round = s.round, .date = day_of(first_ms, a), .submitter = s.submitter, .system = s.system,
        .division = s.division, .benchmark = s.benchmark, .vendor = "", .global_batch = s.measures[MEASURE_BATCH],
        .samples_to_target = s.measures[MEASURE_SAMPLES], .epochs_to_target = s.measures[MEASURE_EPOCHS],
        .samples_per_s = s.measures[MEASURE_THROUGHPUT], .minutes = s.score_minutes, .spread = s.spread, .runs = (double)s.runs,
        .failed = s.failed, .scaling_efficiency = NAN, .time_efficiency = NAN, .smallest_system = "", .converged_at = NAN,
        .reference_at = NAN, .unit = f->rules ? f->rules->terms->unit : "", .ruleset = s.ruleset, .throughput_method = s.throughput_method,
        .note = s.note, .path = s.path };
    if (!f->problem)
        row->converged_at = text_is(row->unit, "epochs") ? median_point(f, scratch) : text_is(row->unit, "samples") ? row->samples_to_target
                          : row->samples_to_target / row->global_batch;
    if (f->has_rcp && f->rcp.limit.match != RCP_MISSING)
        row->reference_at = f->rcp.limit.mean;
    describe_system(row, f, a);
    row->energy_j = f->energy_j, row->power_w = s.power_w;
}

/* ---- the cache: in a file the hash of key and row, in hexadecimal, and the row as a table ----------------------------- */

enum { HASH_DIGITS = 16, LARGEST_ROW = 1 << 20 };

/* Loads a row from the cache. False if the file's hash shows that it was damaged or written for another key. */
static bool cache_load(struct round_result *row, const char *path, uint64_t key, struct arena *a)
{
    struct round_results one = {0};
    struct csv_table t;
    char *text;
    size_t n;
    if (access(path, R_OK) != 0 || !read_text_file(&text, &n, path, LARGEST_ROW, a, NULL) || n <= HASH_DIGITS + 1)
        return false;
    const char *csv = text + HASH_DIGITS + 1;
    char *hash = arena_printf(a, "%016" PRIx64 "\n", hash_bytes(csv, n - HASH_DIGITS - 1, key));
    bool good = !strncmp(hash, text, HASH_DIGITS + 1) && csv_read_text(&t, path, csv, n - HASH_DIGITS - 1, a, NULL)
             && round_results_from(&one, &t, a, NULL) && one.n == 1;
    if (good)
        *row = one.items[0];
    return good;
}

/* Saves a row in the cache. If that fails, the logs will be read again. */
static void cache_save(struct round_result *row, const char *path, uint64_t key)
{
    struct new_file file;
    char *csv = NULL;
    size_t n = 0;
    FILE *text = open_memstream(&csv, &n);
    round_results_write_exactly(text, &(struct round_results){ row, 1, 1 });
    fclose(text);
    if (new_file_open(&file, path, NULL)) {
        fprintf(file.f, "%016" PRIx64 "\n", hash_bytes(csv, n, key));
        fwrite(csv, 1, n, file.f);
        new_file_save(&file, NULL);
    }
    free(csv);
}

/* ---- the trees ------------------------------------------------------------------------------------------------------- */

/* Copies the row's texts, which live in the folder's arena, to the caller's arena. */
static void keep_texts(struct round_result *row, struct arena *a)
{
    for (size_t k = 0; k < n_round_result_columns; k++)
        if (round_result_columns[k].type == CELL_TEXT) {
            const char **text = (const char **)((char *)row + round_result_columns[k].offset);
            *text = arena_strdup(a, *text ? *text : "");
        }
}

static void read_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *room)
{
    struct rounds_reading *r = user;
    struct folder judged;
    struct round_result row;
    uint64_t key = r->q->cache_dir ? hash_folder(r->q->program_hash, dir, logs, n, room) : 0;
    const char *cached = r->q->cache_dir ? arena_printf(room, "%s/%016" PRIx64 ".csv", r->q->cache_dir, key) : NULL;
    watch_report(&r->q->watch, "folders of logs", r->out->n, 0);
    if (cached && cache_load(&row, cached, key, room)) {
        r->n_cached++;
    } else {
        folder_judge(&judged, &r->judge, dir, logs, n, NULL, NULL, room);
        fill_row(&row, &judged, room, room);
        if (cached)
            cache_save(&row, cached, key);
    }
    const struct accelerator *x = accelerator_find(&r->accelerators, arena_printf(room, "%s %s", row.accelerator, row.system));
    row.vendor = x ? x->vendor : "";
    keep_texts(&row, r->a);
    LIST_ADD(r->out, r->a, row);
}

static void pass_notice(void *user, const char *path, const char *text)
{
    struct rounds_reading *r = user;
    r->q->notice(r->q->user, path, text);
}

bool rounds_read(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct rounds_request *q,
                 struct arena *a, struct err *err)
{
    struct judge_options options = { .data_dir = q->data_dir, .n_threads = q->n_threads };
    struct rounds_reading r = { .q = q, .out = out, .a = a };
    struct tree_visit visit = { read_folder, pass_notice, &r, NULL, q->watch };
    *out = (struct round_results){0};
    if (!accelerators_load(&r.accelerators, q->data_dir, a, err) || !judge_load(&r.judge, &options, a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t found;
        if (!tree_walk(&found, dirs[i], &visit, err))
            return false;
    }
    *counts = (struct rounds_counts){ out->n, r.n_cached };
    round_results_finish(out);
    return true;
}
