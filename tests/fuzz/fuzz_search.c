/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_search.c - small spaces of a small recipe, searched twice: whole, and by bounds.
 *
 * The first byte picks recipe and objective; a line is "KEY=a,b" to search over, or, after '=', an override. Laws: both find the same value;
 * the best is no worse than the recipe as it stands and simulates to what is said of it; nothing on the front is beaten by another of it; what
 * was stopped early names a bound that the best of all keeps.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "tests/model_paths.h"
#include "results/study/search.h"
#include "results/study/sweep.h"

#include <math.h>

enum { MOST_ACCUMULATION = 32, MOST_SPACE = 100, FEW = 6, MOST_VALUES = 3 };

static const char *const recipes[] = { "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b16", "vendor-ipu-pod16-bert-base-ph1-popart" };
static const char *const set[][2] = {       /* defaults that keep a space small */
    { "parallel.micro_batch", "2" }, { "parallel.available_memory", "0.3" }, { "parallel.io_tiles", "32" }, { "parallel.recompute", "layer" },
    { "parallel.optimizer_state", "on-chip" }, { "parallel.rts", "no" }, { "parallel.gradient_accumulation", "8" },
    { "parallel.ipus_per_replica", "1" } };
enum { N_SET = sizeof set / sizeof *set, MOST_SETS = MOST_OVERRIDES + N_SET };

static bool has_key(const struct search_request *q, const char *key)
{
    for (size_t i = 0; i < q->n_given; i++)
        if (text_is(q->given[i].key, key))
            return true;
    for (size_t i = 0; i < q->n_sets; i++)
        if (strncmp(q->sets[i], key, strlen(key)) == 0)
            return true;
    return false;
}

/* "key=a,b". */
static bool take_values(struct search_request *q, const char *line, struct arena *a)
{
    struct space space;
    space_start(&space, &q->recipe, 1);
    if (!space_over(&space, line, a, NULL) || space.axes[0].n > MOST_VALUES || q->n_given == MAX_DIMENSIONS)
        return false;
    struct dimension *d = &q->given[q->n_given];
    *d = (struct dimension){ .key = space.axes[0].keys[0] };
    if (has_key(q, d->key))
        return false;
    for (; d->n < space.axes[0].n; d->n++)
        d->values[d->n] = strchr(space.axes[0].settings[d->n], '=') + 1;
    q->n_given++;
    return true;
}

static bool build(struct search_request *q, const char **sets, const struct texts *lines, struct arena *a)
{
    q->sets = sets;
    for (size_t i = 0; i < lines->n; i++)
        if (*lines->items[i] == '=')
            sets[q->n_sets++] = lines->items[i] + 1;
    for (size_t i = 0; i < lines->n; i++)
        if (*lines->items[i] != '=' && !take_values(q, lines->items[i], a))
            return false;
    for (size_t i = 0; i < N_SET; i++)
        if (!has_key(q, set[i][0]))
            sets[q->n_sets++] = arena_printf(a, "%s=%s", set[i][0], set[i][1]);
    return is_small(q->recipe, paths.recipes_dir, q->sets, q->n_sets, MOST_ACCUMULATION);
}

static void check_best(const struct search_request *q, const struct search_result *s)
{
    const char *sets[MOST_SETS + MAX_SETTINGS];
    struct simulation sim;
    struct result r;
    size_t n = 0;
    for (; n < q->n_sets; n++)
        sets[n] = q->sets[n];
    for (size_t i = 0; i < s->best.n_settings; i++)
        sets[n++] = s->best.settings[i];
    LAW(simulate(&sim, &r, q->recipe, sets, n, &paths, NULL, NULL));
    LAW(r.fits && r.throughput_samples_per_s == s->best.r.throughput_samples_per_s);
    simulation_free(&sim);
    bool least = q->objective != MAXIMISE_THROUGHPUT;
    LAW(!s->own_counts || (least ? s->best.value <= s->own.value : s->best.value >= s->own.value));
    for (size_t i = 0; i < s->n_front; i++)
        for (size_t k = 0; k < s->n_front; k++)
            LAW(i == k || (least ? s->front[i].value < s->front[k].value : s->front[i].value > s->front[k].value)
                || s->front[i].r.memory_peak_bytes_per_tile < s->front[k].r.memory_peak_bytes_per_tile);
}

/* Layers may be divided over several IPUs; how well depends on the number of attempts. */
static bool is_pipelined(const struct search_request *q)
{
    bool one_ipu = false;
    for (size_t i = 0; i < q->n_sets; i++)
        if (strncmp(q->sets[i], "parallel.ipus_per_replica=", 26) == 0)
            one_ipu = text_is(q->sets[i] + 26, "1");
    return !one_ipu;
}

/* Compares the space simulated whole with a search that leaves families by their bounds. */
static void check_bounds(const struct search_request *q, const struct search_result *stopped, struct arena *a)
{
    struct search_result whole, bounded;
    struct search_request again = *q;
    LAW(search(&whole, q, a, NULL) && whole.whole && whole.exact);
    again.exhaustive = 0;
    LAW(search(&bounded, &again, a, NULL) && bounded.any == whole.any);
    if (!whole.any)
        return;
    LAW(is_pipelined(q) || bounded.best.value == whole.best.value);
    check_best(q, &whole);
    bool least = q->objective != MAXIMISE_THROUGHPUT;
    double promised = stopped->exact || !stopped->any ? whole.best.value : stopped->best_bound;
    LAW(least ? promised <= whole.best.value || stopped->best.value <= whole.best.value
              : promised >= whole.best.value || stopped->best.value >= whole.best.value);
}

static void look(const struct search_request *q, struct arena *a)
{
    struct search_result first;
    struct search_request few = *q;
    struct err err = { "" };
    few.exhaustive = 0;
    few.most = FEW;
    bool good = search(&first, &few, a, &err);
    LAW(good || *err.msg);
    if (good && first.any)
        check_best(q, &first);
    if (good && first.space <= MOST_SPACE)
        check_bounds(q, &first, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct simulator by;
    static size_t n_inputs;
    char text[512];
    struct arena a = {0};
    const char *sets[MOST_SETS];
    if (n < 1 || n >= sizeof text)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    if (!by.paths)
        simulator_open(&by, &paths);
    struct texts lines = lines_of(text + 1);
    struct search_request q = { .recipe = recipes[data[0] % 3], .objective = data[0] / 3 % 2 ? MINIMISE_ENERGY : MAXIMISE_THROUGHPUT, .most = 2 * MOST_SPACE,
                                .exhaustive = MOST_SPACE, .simulator = &by, .global_batch = { 1, data[0] / 6 % 2 ? 1e9 : 0 } };
    if (build(&q, sets, &lines, &a))
        look(&q, &a);
    arena_free(&a);
    if (++n_inputs % 500 == 0) {
        simulator_close(&by);
        by = (struct simulator){0};
    }
    return 0;
}
