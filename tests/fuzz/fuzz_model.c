/*
 * fuzz_model.c - any overrides of a small recipe, simulated whole: refused with a message, or the laws hold.
 *
 * The first byte picks the recipe; each line after it is one --set. Laws: no quantity is negative or not a number, the breakdown
 * sums to the step, what fits has no shortfall, spans do not overlap, folded equals unfolded, a cold start equals a warm one, and
 * neither a faster clock nor faster links make a step longer. Runs of more than MOST of anything are passed over: they only cost time.
 */
#include "tests/fuzz/fuzz.h"
#include "results/simulate/simulate.h"

#include <math.h>
#include <string.h>

enum { MOST_OVERRIDES = 8, MOST_MICRO_BATCH = 32, MOST_IPUS = 32, MOST_ACCUMULATION = 64, MOST_TOKENS = 512 };
#define LAW(holds) ((holds) ? (void)0 : (fprintf(stderr, "broken: %s\n", #holds), abort()))

static const char *const recipes[] = {
    "vendor-ipu-pod4-resnet50-caraml", "vendor-ipu-m2000-bert-base-infer-b16", "vendor-ipu-pod16-bert-base-ph1-popart",
    "vendor-ipu-pod4-resnet50-tf1", "mlperf-v2.0-open-bow-pod64-transformer-transducer",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

struct texts { const char *items[MOST_OVERRIDES + 2]; size_t n; };

static struct texts lines_of(char *text)
{
    struct texts t = { .n = 0 };
    for (char *line = strtok(text, "\n"); line && t.n < MOST_OVERRIDES; line = strtok(NULL, "\n"))
        t.items[t.n++] = line;
    return t;
}

static bool is_small(const char *id, const struct texts *t)
{
    struct arena a = {0};
    struct recipe r;
    struct texts of_recipe = { .n = 0 };
    for (size_t i = 0; i < t->n; i++)
        if (strncmp(t->items[i], "machine.", 8) != 0)
            of_recipe.items[of_recipe.n++] = t->items[i];
    bool small = recipe_load(&r, id, "workloads/recipes", of_recipe.items, of_recipe.n, &a, NULL)
                 && r.model.micro_batch <= MOST_MICRO_BATCH && r.replicas * r.ipus_per_replica <= MOST_IPUS
                 && r.gradient_accumulation <= MOST_ACCUMULATION && r.model.sequence_length <= MOST_TOKENS;
    arena_free(&a);
    return small;
}

static void check_result(const struct simulation *sim, const struct result *r)
{
    struct err err;
    double sum = 0;
    for (int i = 0; i < N_PARTS; i++) {
        LAW(r->breakdown_s[i] >= 0 && isfinite(r->breakdown_s[i]));
        sum += r->breakdown_s[i];
    }
    LAW(isfinite(r->step_time_s) && r->step_time_s > 0 && fabs(sum / r->step_time_s - 1) < 1e-9);
    LAW(isfinite(r->throughput_samples_per_s) && r->throughput_samples_per_s > 0);
    LAW(r->mfu >= 0 && r->mfu <= r->hfu && r->hfu <= 1);
    LAW(r->fits == (r->memory_shortfall_bytes_per_tile == 0));
    LAW(!r->fits || r->memory_peak_bytes_per_tile <= sim->machine->chip.tile_memory_bytes);
    LAW(timeline_check(&sim->timeline, &err));
}

/* What is printed of a plan is read by nobody here: it may not crash or hang. */
static void print_all(const struct simulation *sim)
{
    struct err err;
    FILE *nowhere = fopen("/dev/null", "w");
    topology_print(nowhere, sim->topology);
    graph_print(nowhere, sim->graph);
    plan_print(nowhere, &sim->plan);
    timeline_print(nowhere, &sim->timeline, true);
    timeline_draw(nowhere, &sim->timeline, 80);
    timeline_write_trace(nowhere, &sim->timeline, &err);
    fclose(nowhere);
}

/* 0: refused. */
static double step_s(const char *id, const struct texts *t, bool unfolded, struct plan_cache *cache)
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
        print_all(&sim);
    double step = good ? r.step_time_s : 0;
    simulation_free(&sim);
    return step;
}

/* The step where one more override holds; that of t where it is refused or t holds that key already. */
static double step_with(const char *id, const struct texts *t, const char *more, double otherwise, struct plan_cache *cache)
{
    struct texts longer = *t;
    for (size_t i = 0; i < t->n; i++)
        if (strncmp(t->items[i], "machine.", 8) == 0)
            return otherwise;
    longer.items[longer.n++] = more;
    double step = step_s(id, &longer, false, cache);
    return step > 0 ? step : otherwise;
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
    if (!is_small(id, &t))
        return 0;
    double step = step_s(id, &t, false, &warm);
    if (step > 0) {
        struct plan_cache cold = {0};
        LAW(step_s(id, &t, true, &warm) == step);
        LAW(step_s(id, &t, false, &cold) == step);
        LAW(step_with(id, &t, "machine.clock_hz=2e9", step, &warm) <= step);
        LAW(step_with(id, &t, "machine.link_bytes_per_s=1e11", step, &warm) <= step);
        plan_cache_free(&cold);
    }
    if (warm.n_used > 200000)
        plan_cache_free(&warm);
    return 0;
}
