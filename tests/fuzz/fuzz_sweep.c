/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_sweep.c - any axes over a small recipe, swept.
 *
 * The first byte picks the recipe and where the sweep is cut; a line is an axis as --over takes it, or, after '=', an override for all.
 * Laws: in two parts or by two threads it writes the same bytes; each row holds what a run of its configuration says, and a refused one
 * is refused; the counts are those of the rows.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "tests/model_paths.h"
#include "results/study/sweep.h"

enum { MOST_ACCUMULATION = 32, MOST_CONFIGURATIONS = 12, MOST_KEYS = 16 };

static const char *const recipes[] = { "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b16", "vendor-ipu-m2000-resnet50-infer-b4" };

/* Rows first to end - 1, under the header or without. */
static char *rows_of(const struct sweep *w, bool header, uint64_t first, uint64_t end, struct sweep_count *count)
{
    char *text = NULL;
    size_t n;
    struct err err = { "" };
    FILE *f = open_memstream(&text, &n);
    if (header)
        sweep_write_header(f, w);
    *count = (struct sweep_count){0};
    LAW(sweep_run(f, count, w, first, end, &err));
    fclose(f);
    return text;
}

static void check_cuts(const struct sweep *w, const char *whole, uint64_t cut, struct arena *a)
{
    struct sweep_count first, second;
    struct sweep threads = *w;
    threads.n_jobs = 2;
    char *before = rows_of(w, true, 0, cut, &first), *after = rows_of(&threads, false, cut, w->space->n, &second);
    LAW(text_is(arena_printf(a, "%s%s", before, after), whole));
    LAW(first.n_fit + first.n_unfit + first.n_refused == cut);
    free(before);
    free(after);
}

static const char *cell(const struct csv_table *t, size_t row, const char *column)
{
    size_t at;
    LAW(csv_column(&at, t, column, NULL));
    return t->rows[row].cells[at];
}

/* Checks a row against a run that starts from nothing. */
static void check_row(const struct csv_table *t, size_t i, const struct sweep *w, struct arena *a)
{
    const char *sets[MOST_OVERRIDES + MOST_KEYS];
    struct simulation sim;
    struct result r;
    size_t n = 0;
    for (; n < w->n_sets; n++)
        sets[n] = w->sets[n];
    const char *recipe = space_configuration(sets + n, w->space, i), *status = cell(t, i, "status");
    size_t n_all = n + w->space->n_keys;
    for (size_t k = n; k < n_all; k++)
        if (*sets[k])
            sets[n++] = sets[k];
    bool good = simulate(&sim, &r, recipe, sets, n, &paths, NULL, NULL);
    LAW(good ? text_is(status, r.fits ? "fits" : "does not fit") : text_is(status, "refused") && *cell(t, i, "reason"));
    if (!good)
        return;
    char text[32];
    snprintf(text, sizeof text, "%.10g", r.throughput_samples_per_s);
    LAW(text_is(text, cell(t, i, "throughput_samples_per_s")));
    LAW(text_is(arena_printf(a, "%llu", (unsigned long long)r.memory_peak_bytes_per_tile), cell(t, i, "memory_peak_bytes_per_tile")));
    simulation_free(&sim);
}

static void check_rows(const struct sweep *w, const char *text, const struct sweep_count *c, struct arena *a)
{
    const char *path = fuzz_file((const uint8_t *)text, strlen(text), ".csv");
    struct csv_table t;
    LAW(csv_load(&t, path, a, NULL) && t.n_rows == w->space->n);
    LAW(c->n_fit + c->n_unfit + c->n_refused == t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++)
        check_row(&t, i, w, a);
    unlink(path);
}

static bool all_small(const struct space *s, const struct texts *all, struct arena *a)
{
    for (uint64_t i = 0; i < s->n; i++) {
        const char **sets = ARENA_ARRAY(a, const char *, all->n + s->n_keys + 1);
        size_t n = 0;
        for (size_t k = 0; k < all->n; k++)
            sets[n++] = all->items[k];
        const char *recipe = space_configuration(sets + n, s, i);
        for (size_t k = all->n; k < all->n + s->n_keys; k++)
            if (*sets[k])
                sets[n++] = sets[k];
        struct arena scratch = {0};
        struct recipe r;
        bool loads = recipe_load(&r, recipe, paths.recipes_dir, sets, n, &scratch, NULL);
        arena_free(&scratch);
        if (loads && !is_small(recipe, paths.recipes_dir, sets, n, MOST_ACCUMULATION))
            return false;
    }
    return true;
}

static bool build(struct space *s, struct texts *sets, const struct texts *lines, const char *const *recipe, struct arena *a)
{
    space_start(s, recipe, 1);
    for (size_t i = 0; i < lines->n; i++)
        if (*lines->items[i] == '=')
            sets->items[sets->n++] = lines->items[i] + 1;
        else if (!space_over(s, lines->items[i], a, NULL))
            return false;
    return s->n_axes && space_close(s, NULL) && s->n <= MOST_CONFIGURATIONS && s->n_keys <= MOST_KEYS && all_small(s, sets, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char text[1024];
    struct arena a = {0};
    struct track_record record;
    struct space space;
    struct texts sets = { .n = 0 };
    struct sweep_count count;
    if (n < 1 || n >= sizeof text)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    struct texts lines = lines_of(text + 1);
    const char *recipe = recipes[data[0] % 3];
    struct sweep w = { .space = &space, .sets = sets.items, .paths = &paths, .record = &record, .n_jobs = 1 };
    if (build(&space, &sets, &lines, &recipe, &a) && track_record_open(&record, "results/validity", &a, NULL)) {
        w.n_sets = sets.n;
        if (sweep_identity(&w.identity, &w, &a, NULL)) {
            char *whole = rows_of(&w, true, 0, space.n, &count);
            check_cuts(&w, whole, data[0] / 3 % (space.n + 1), &a);
            check_rows(&w, whole, &count, &a);
            free(whole);
        }
    }
    arena_free(&a);
    return 0;
}
