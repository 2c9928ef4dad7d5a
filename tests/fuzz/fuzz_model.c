/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_model.c - any overrides of a small recipe, simulated whole: refused with a message, or the laws hold.
 *
 * The first byte picks the recipe; each line after it is one --set. Laws: those of laws.h; folded equals unfolded, a cold start equals a
 * warm one, and neither a faster clock nor faster links make a step longer, but for rounding (rounding.h). What is not small is passed over.
 */
#include "system-model/output/output.h"
#include "tests/fuzz/fuzz.h"
#include "system-model/graph/graph.h"
#include "tests/fuzz/laws.h"
#include "tests/rounding.h"
#include "harness/podbench.h"

enum { MOST_ACCUMULATION = 64 };

static const char *const recipes[] = {
    "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b16", "vendor-ipu-pod16-bert-base-ph1-popart",
    "vendor-ipu-pod4-resnet50-tf1", "mlperf-v2.0-open-bow-pod64-transformer-transducer",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

static const struct track_record *published_runs(void)
{
    static struct arena kept;
    static struct track_record record;
    if (!kept.head)
        LAW(track_record_open(&record, "results/validity", &kept, NULL));
    return &record;
}

/* Prints everything about a plan. The text is not checked, but printing may not crash or hang. */
static void print_all(const struct simulation *sim)
{
    struct err err;
    FILE *nowhere = fopen("/dev/null", "w");
    graph_print(nowhere, sim->graph);
    struct arena a = {0};
    struct document d = { .arena = &a };
    topology_document(&d, sim->topology, true);
    plan_document(&d, &sim->plan, true);
    timeline_document(&d, &sim->timeline, true);
    document_write(nowhere, FORMAT_TEXT, &d);
    arena_free(&a);
    timeline_write_trace(nowhere, &sim->timeline, NULL, &err);
    fclose(nowhere);
}

/* 0 if refused. */
static double step_s(double *rounded_s, const char *id, const struct texts *t, bool unfolded, struct plan_cache *cache)
{
    struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes",
                                 .data_dir = "workloads/convergence", .unfolded = unfolded };
    struct simulation sim = {0};
    struct result r;
    struct err err = { "" };
    bool good = simulate(&sim, &r, id, t->items, t->n, &paths, cache, &err);
    LAW(good || *err.msg);
    if (good)
        check_result(&sim, &r);
    if (good && unfolded)
        check_validity(&sim, &r, published_runs());
    if (good && unfolded)
        print_all(&sim);
    double step = good ? r.step_time_s : 0;
    if (good && rounded_s)
        *rounded_s = rounding_s(&sim);
    simulation_free(&sim);
    return step;
}

/* The step where one more override holds; that of t where it is refused or t holds that key already. */
static double step_with(double *rounded_s, const char *id, const struct texts *t, const char *more, double otherwise, struct plan_cache *cache)
{
    struct texts longer = *t;
    for (size_t i = 0; i < t->n; i++)
        if (strncmp(t->items[i], "machine.", 8) == 0)
            return otherwise;
    longer.items[longer.n++] = more;
    double step = step_s(rounded_s, id, &longer, false, cache);
    return step > 0 ? step : otherwise;
}

/* The library, which has its own way in, says the same; where it refuses it says why. */
static void ask_library(const char *id, const struct texts *t, double step)
{
    struct podbench *p = podbench_open(".");
    struct podbench_result r;
    bool done = podbench_run(p, id, t->items, t->n, &r) == 0;
    char *json = podbench_run_json(p, id, t->items, t->n);
    LAW(done == (step > 0) && done == (json != NULL));
    LAW(done ? r.step_time_s == step : *podbench_message(p) != 0);
    free(json);
    podbench_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct plan_cache warm;
    char text[1024];
    if (n < 1 || n >= sizeof text)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    const char *id = recipes[data[0] % N_RECIPES];
    struct texts t = lines_of(text + 1);
    if (!is_small(id, "workloads/recipes", t.items, t.n, MOST_ACCUMULATION))
        return 0;
    double step = step_s(NULL, id, &t, false, &warm);
    if (n % 16 == 0)                    /* from nothing: it takes longer */
        ask_library(id, &t, step);
    if (step > 0) {
        struct plan_cache cold = {0};
        double rounded_s = 0;
        LAW(step_s(NULL, id, &t, true, &warm) == step);
        LAW(step_s(NULL, id, &t, false, &cold) == step);
        LAW(step_with(&rounded_s, id, &t, "machine.clock_hz=2e9", step, &warm) <= step + rounded_s);
        LAW(step_with(NULL, id, &t, "machine.link_bytes_per_s=1e11", step, &warm) <= step);
        plan_cache_free(&cold);
    }
    if (warm.plans.n > 200000)
        plan_cache_free(&warm);
    return 0;
}
