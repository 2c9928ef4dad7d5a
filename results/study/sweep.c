/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.c - threads simulate chunks of configurations into texts, and one writer writes the texts in order.
 *
 * Each thread has a simulator of its own; threads share only the ring of chunks. A chunk consists of consecutive configurations, because their
 * settings differ least. The size of the ring limits how many finished chunks wait for the writer.
 */
#include "results/simulate/memory_record.h"
#include "results/study/sweep.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio_ext.h>

enum { SWEEP_CHUNK = 32, CHUNKS_A_THREAD = 8, SWEEP_BYTES = 96 << 20 };

/* ---- one row ---------------------------------------------------------------------------------------- */

/* The first columns of a row; the result's columns follow. `values` has the value of each swept key. */
struct sweep_row {
    uint64_t configuration, of;
    const char *sweep, *recipe;
    json_t *settings;
    const char *status, *reason, *notes;
    double interval_low, interval_high;
    const char *nearest;
    double nearest_distance;
    const char *extrapolates;
    const char *values[];
};
#define C(member, ...) { COLUMN(struct sweep_row, member), __VA_ARGS__ }
static const struct table_column columns_before_keys[] = { C(configuration), C(of), C(sweep), C(recipe) }, columns_after_keys[] = {
    C(settings, .formats = IN_JSON), C(status), C(reason), C(notes), C(interval_low, .formats = IN_CSV), C(interval_high, .formats = IN_CSV),
    C(nearest, .formats = IN_CSV), C(nearest_distance, .formats = IN_CSV, .csv_digits = 4), C(extrapolates, .formats = IN_CSV),
};
#undef C
enum { N_BEFORE_KEYS = sizeof columns_before_keys / sizeof *columns_before_keys, N_AFTER_KEYS = sizeof columns_after_keys / sizeof *columns_after_keys };

static struct table sweep_table(const struct space *s, struct arena *a)
{
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, N_BEFORE_KEYS + s->n_keys + N_AFTER_KEYS), *c = columns + N_BEFORE_KEYS;
    memcpy(columns, columns_before_keys, sizeof columns_before_keys);
    for (size_t i = 0; i < s->n_axes; i++)
        for (size_t k = 0; k < s->axes[i].n_keys; k++, c++)
            *c = (struct table_column){ .name = s->axes[i].keys[k], .type = CELL_TEXT, .formats = IN_CSV,
                                        .offset = offsetof(struct sweep_row, values) + (size_t)(c - columns - N_BEFORE_KEYS) * sizeof(const char *) };
    memcpy(c, columns_after_keys, sizeof columns_after_keys);
    return (struct table){ .columns = columns, .n_columns = N_BEFORE_KEYS + s->n_keys + N_AFTER_KEYS,
                           .row_bytes = sizeof(struct sweep_row) + s->n_keys * sizeof(const char *) };
}

/* The value in "key=value", or "" if the recipe's own value is kept. */
static const char *setting_value(const char *setting)
{
    const char *equals = strchr(setting, '=');
    return equals ? equals + 1 : "";
}

static const char *add_note(const char *notes, const char *note, struct arena *a)
{
    return arena_printf(a, "%s%s%s", notes, *notes ? "; " : "", note);
}

/* The cell "notes", with warnings that the numbers do not show. */
static const char *notes_of(const struct simulation *sim, const struct result *r, const struct validity *v, struct arena *a)
{
    const char *notes = "", *unused;
    if (!r->fits)
        notes = add_note(notes, as_if_fitted_note, a);
    else if (!result_fits_surely(r))
        notes = add_note(notes, arena_printf(a, "fits barely (%s)", likely_text(r->fits_probability, a)), a);
    if (r->smaller_available_memory)
        notes = add_note(notes, arena_printf(a, "fits with parallel.available_memory=%s", r->smaller_available_memory), a);
    for (const struct ini_entry *e = sim->recipe.entries; e < sim->recipe.entries + sim->recipe.n_entries; e++)
        if (!e->line && (unused = recipe_unused_key(e, &sim->recipe, &sim->plan, a)))       /* only settings of the sweep or of --set have no line */
            notes = add_note(notes, arena_printf(a, "no effect: %s", unused), a);
    const char *trust = validity_note(v, a);
    return trust ? add_note(notes, trust, a) : notes;
}

static void set_validity(struct sweep_row *row, const struct validity *v, struct arena *a)
{
    if (!v->n_nearest)
        return;
    row->interval_low = validity_has_interval(v) ? v->low : (double)NAN;
    row->interval_high = validity_has_interval(v) ? v->high : (double)NAN;
    row->nearest = v->nearest[0].reference->configuration;
    row->nearest_distance = v->distance;
    row->extrapolates = names_joined(v->extrapolates, v->n_extrapolates, ";", a);
}

/* The state of one thread: its simulator, its record for judging, and its columns. `settings` begins with those of --set; those of the swept
 * keys follow. */
struct sweeper {
    const struct sweep *sweep;
    struct track_record record; struct judged_run last;
    struct simulator simulator;
    struct table row, result;
    const char **settings; size_t n_settings;
    struct arena a;
};

static void sweeper_open(struct sweeper *x, const struct sweep *w)
{
    *x = (struct sweeper){ .sweep = w, .record = *w->record, .n_settings = w->n_sets + w->space->n_keys };
    x->record.last = &x->last;
    simulator_open(&x->simulator, w->paths);
    x->simulator.options.totals_only = true;
    x->simulator.limit_bytes = min_u64(x->simulator.limit_bytes, SWEEP_BYTES / w->n_jobs);
    x->row = sweep_table(w->space, &x->a);
    x->result = result_table(&x->a);
    x->settings = ARENA_ARRAY(&x->a, const char *, x->n_settings);
    for (size_t i = 0; i < w->n_sets; i++)
        x->settings[i] = w->sets[i];
}

static void sweeper_close(struct sweeper *x)
{
    simulator_close(&x->simulator);
    judged_run_free(&x->last);
    arena_free(&x->a);
}

static void write_csv_row(FILE *f, const struct sweeper *x, const struct sweep_row *row, const struct result *r)
{
    table_write_cells(f, &x->row, row);
    if (r)
        table_write_csv_row(f, &x->result, r);
    for (size_t i = 1; !r && i < x->result.n_columns; i++)
        fputc(',', f);
    fputs(r ? "" : "\n", f);
}

static void write_json_row(FILE *f, const struct sweeper *x, struct sweep_row *row, const struct result *r, const struct validity *v, struct arena *a)
{
    row->settings = json_object();
    for (size_t k = 0; k < x->sweep->space->n_keys; k++)
        if (*row->values[k])
            json_object_set_new(row->settings, utf8_text(x->row.columns[N_BEFORE_KEYS + k].name, a), json_string(utf8_text(row->values[k], a)));
    json_t *object = table_row_json(&x->row, row);
    if (r) {
        json_object_update_new(object, result_json(r));
        json_object_set_new(object, "validity", validity_json(v));
    }
    json_dumpf(object, f, JSON_COMPACT | JSON_REAL_PRECISION(15));
    fputc('\n', f);
    json_decref(object);
}

void sweep_write_header(FILE *f, const struct sweep *w)
{
    struct arena a = {0};
    const struct table t = sweep_table(w->space, &a);
    if (w->format == SWEEP_CSV) {
        table_write_cells(f, &t, NULL);
        result_write_csv(f, NULL);
    }
    arena_free(&a);
}

static struct sweep_row *sweep_row(const struct sweep *w, uint64_t number, const char *recipe, const char **settings, struct arena *a)
{
    struct sweep_row *row = arena_alloc(a, sizeof *row + w->space->n_keys * sizeof *row->values);
    *row = (struct sweep_row){ .configuration = number + 1, .of = w->space->n, .sweep = arena_printf(a, "%016" PRIx64, w->identity), .recipe = recipe,
                               .interval_low = NAN, .interval_high = NAN, .nearest_distance = NAN };
    for (size_t k = 0; k < w->space->n_keys; k++)
        row->values[k] = setting_value(settings[k]);
    return row;
}

static void fill_sweep_row(struct sweep_row *row, struct validity *v, struct sweeper *x, struct simulation *sim, struct result *r, const char *const *given, size_t n,
                     struct arena *a)
{
    const struct sweep *w = x->sweep;
    struct simulation_request q = { .recipe = row->recipe, .overrides = given, .n_overrides = n, .simulator = &x->simulator };
    r->version = PODBENCH_VERSION;
    validity_of(v, &x->record, sim, r, NULL, a);
    validity_add_readings(v, &x->record, r, &q, a);
    r->guess = validity_guess_name(v);
    set_validity(row, v, a);
    row->notes = notes_of(sim, r, v, a);
    if (w->idle && text_is(row->recipe, w->space->recipes[0]))
        row->notes = add_note(row->notes, w->idle, a);
    row->status = r->fits ? "fits" : "does not fit";
    if (!r->fits)
        row->reason = arena_printf(a, "%s too many on the fullest tile, on IPU %u of a replica", quantity_kept((double)r->memory_shortfall_bytes_per_tile, "B", 3, a),
                                   sim->plan.worst_ipu);
}

static void simulate_configuration(FILE *f, struct sweep_count *count, struct sweeper *x, uint64_t number)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    struct validity validity;
    struct arena a = {0};
    const struct sweep *w = x->sweep;
    const char **swept = x->settings + w->n_sets, *given[x->n_settings + 1];
    struct sweep_row *row = sweep_row(w, number, space_configuration(swept, w->space, number), swept, &a);
    size_t n = 0;
    for (size_t i = 0; i < x->n_settings; i++)
        if (i < w->n_sets || *x->settings[i])          /* an empty cell of a table sets nothing */
            given[n++] = x->settings[i];
    bool done = simulator_run(&x->simulator, &sim, &r, row->recipe, given, n, &err);
    if (done) {
        fill_sweep_row(row, &validity, x, &sim, &r, given, n, &a);
        ++*(r.fits ? &count->n_fit : &count->n_unfit);
    } else {
        row->status = "refused";
        row->reason = err.msg;
        if (!count->n_refused++)
            snprintf(count->first_reason, sizeof count->first_reason, "%s", err.msg);
        err.msg[strcspn(err.msg, "\n")] = '\0';
    }
    if (w->format == SWEEP_CSV)
        write_csv_row(f, x, row, done ? &r : NULL);
    else
        write_json_row(f, x, row, done ? &r : NULL, &validity, &a);
    simulation_free(&sim);
    arena_free(&a);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

struct chunk { char *text; size_t n_bytes; struct sweep_count count; bool done; };

/* The work that threads share. Chunk i is ring[i % n_ring]. */
struct sweep_work {
    const struct sweep *sweep;
    uint64_t first, end, n_chunks, next, written;       /* next: the first chunk that no thread has taken */
    struct chunk *ring; size_t n_ring;
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static bool take_chunk(struct sweep_work *w, uint64_t *number)
{
    pthread_mutex_lock(&w->lock);
    while (!w->stop && w->next < w->n_chunks && w->next >= w->written + w->n_ring)
        pthread_cond_wait(&w->changed, &w->lock);
    bool got = !w->stop && w->next < w->n_chunks;
    if (got)
        *number = w->next++;
    pthread_mutex_unlock(&w->lock);
    return got;
}

static void simulate_chunk(struct chunk *c, const struct sweep_work *w, struct sweeper *x, uint64_t number)
{
    FILE *f = text_stream(&c->text, &c->n_bytes);
    uint64_t first = w->first + number * SWEEP_CHUNK, end = min_u64(first + SWEEP_CHUNK, w->end);
    __fsetlocking(f, FSETLOCKING_BYCALLER);     /* only this thread uses the stream */
    for (uint64_t i = first; i < end; i++)
        simulate_configuration(f, &c->count, x, i);
    if (fclose(f) != 0)
        out_of_memory(c->n_bytes);
}

static void *sweep_thread(void *user)
{
    struct sweep_work *w = user;
    struct sweeper x;
    uint64_t number;
    plain_locale();
    sweeper_open(&x, w->sweep);
    while (take_chunk(w, &number)) {
        struct chunk c = {0};
        simulate_chunk(&c, w, &x, number);
        pthread_mutex_lock(&w->lock);
        w->ring[number % w->n_ring] = c;
        w->ring[number % w->n_ring].done = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
    }
    sweeper_close(&x);
    return NULL;
}

static struct chunk wait_for_chunk(struct sweep_work *w, uint64_t number)
{
    struct chunk *at = &w->ring[number % w->n_ring];
    pthread_mutex_lock(&w->lock);
    while (!at->done)
        pthread_cond_wait(&w->changed, &w->lock);
    struct chunk c = *at;
    *at = (struct chunk){0};
    w->written = number + 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return c;
}

static void add_count(struct sweep_count *to, const struct sweep_count *c)
{
    if (!to->n_refused)
        memcpy(to->first_reason, c->first_reason, sizeof to->first_reason);
    to->n_fit += c->n_fit;
    to->n_unfit += c->n_unfit;
    to->n_refused += c->n_refused;
}

static bool write_chunks(FILE *f, struct sweep_count *count, struct sweep_work *w, struct err *err)
{
    const struct sweep *sweep = w->sweep;
    for (uint64_t i = 0; i < w->n_chunks; i++) {
        struct chunk c = wait_for_chunk(w, i);
        fwrite(c.text, 1, c.n_bytes, f);
        fflush(f);
        free(c.text);
        add_count(count, &c.count);
        if (ferror(f))
            return fail(err, "%s took %" PRIu64 " of %" PRIu64 " configurations and no more: %s", sweep->output, i * SWEEP_CHUNK,
                        w->end - w->first, strerror(errno));
        watch_report(&sweep->watch, "", min_u64((i + 1) * SWEEP_CHUNK, w->end - w->first), w->end - w->first);
    }
    return true;
}

static void stop_work(struct sweep_work *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool sweep_run(FILE *f, struct sweep_count *count, const struct sweep *sweep, uint64_t first, uint64_t end, struct err *err)
{
    struct arena a = {0};
    struct sweep_work w = { .sweep = sweep, .first = first, .end = end, .n_chunks = ceil_div(end - first, SWEEP_CHUNK),
                      .n_ring = (size_t)sweep->n_jobs * CHUNKS_A_THREAD };
    pthread_t *threads = ARENA_ARRAY(&a, pthread_t, sweep->n_jobs);
    uint32_t n_threads = 0;
    *count = (struct sweep_count){0};
    w.ring = ARENA_ARRAY(&a, struct chunk, w.n_ring);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    while (n_threads < sweep->n_jobs && pthread_create(&threads[n_threads], NULL, sweep_thread, &w) == 0)
        n_threads++;
    bool good = n_threads ? write_chunks(f, count, &w, err) : fail(err, "no thread could be started");
    stop_work(&w);
    for (uint32_t i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < w.n_ring; i++)
        free(w.ring[i].text);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    arena_free(&a);
    return good;
}

/* ---- identity -------------------------------------------------------------------------------------------- */

static uint64_t hash_string(const char *text, uint64_t seed)
{
    return hash_bytes(text, strlen(text) + 1, seed);
}

static bool hash_input_folder(uint64_t *h, const char *folder, const char *suffix, struct arena *a, struct err *err)
{
    char **names, *text;
    size_t n, n_bytes;
    if (!list_folder(&names, &n, folder, suffix, a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!read_text_file(&text, &n_bytes, arena_printf(a, "%s/%s%s", folder, names[i], suffix), LARGEST_FILE_BYTES, a, err))
            return false;
        *h = hash_bytes(text, n_bytes, hash_string(names[i], *h));
    }
    return true;
}

/* Adds the tables of all MLPerf rounds to the hash. */
static bool hash_rounds(uint64_t *h, const char *data_dir, struct arena *a, struct err *err)
{
    const char *dir = arena_printf(a, "%s/rounds", data_dir);
    char **rounds;
    size_t n;
    bool good = list_folder(&rounds, &n, dir, "", a, err);
    for (size_t i = 0; good && i < n; i++)
        good = hash_input_folder(h, arena_printf(a, "%s/%s", dir, rounds[i]), ".csv", a, err);
    return good;
}

/* Adds a recipe to the hash. A recipe that cannot be read adds only its name, since its rows will be refused. */
static uint64_t hash_recipe(const struct sweep *w, const char *name, uint64_t h, struct arena *a)
{
    struct recipe_file file;
    h = hash_string(name, h);
    if (!recipe_file_load(&file, name, w->paths->recipes_dir, a, NULL))
        return h;
    for (size_t i = 0; i < file.file.n_entries; i++) {
        const struct ini_entry *e = &file.file.entries[i];
        h = hash_string(e->value, hash_string(e->key, hash_string(e->section, h)));
    }
    return h;
}

bool sweep_identity(uint64_t *out, const struct sweep *w, struct arena *scratch, struct err *err)
{
    const struct space *s = w->space;
    uint64_t h = hash_string(result_columns(scratch), hash_string(PODBENCH_VERSION, 0));
    const struct references *judged_by = &w->record->references;
    for (size_t i = 0; i < judged_by->n; i++)
        h = hash_bytes(&judged_by->items[i].left_out, sizeof judged_by->items[i].left_out, hash_string(judged_by->items[i].configuration, h));
    h = hash_bytes(&w->record->spread, sizeof w->record->spread, h);
    for (size_t i = 0; i < judged_by->known.n; i++)
        h = hash_string(judged_by->known.items[i].value, hash_string(judged_by->known.items[i].key, h));
    for (size_t i = 0; i < s->n_recipes; i++)
        h = hash_recipe(w, s->recipes[i], h, scratch);
    for (size_t i = 0; i < w->n_sets; i++)
        h = hash_string(w->sets[i], h);
    for (size_t i = 0; i < s->n_axes; i++)
        for (size_t k = 0; k < s->axes[i].n_keys; k++) {
            h = hash_string(s->axes[i].keys[k], h);
            for (size_t v = 0; v < s->axes[i].n; v++)
                h = hash_string(s->axes[i].settings[v * s->axes[i].n_keys + k], h);
        }
    *out = h;
    return hash_input_folder(out, w->paths->specs_dir, ".csv", scratch, err)
        && hash_input_folder(out, arena_printf(scratch, "%s/sdk", w->paths->specs_dir), ".csv", scratch, err)
        && hash_input_folder(out, w->paths->data_dir, ".csv", scratch, err) && hash_rounds(out, w->paths->data_dir, scratch, err);
}
