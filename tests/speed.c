/*
 * speed.c - how fast the simulator is: make speed. Each case runs in a process of its own, so that its peak memory
 * is its own. Times are processor seconds of one core of this machine; nothing else in the project depends on a clock.
 */
#include "results/simulate/simulate.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes",
                                          .data_dir = "workloads/convergence" };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool stop(const struct err *err)
{
    printf("%s", err->msg);
    return false;
}

/* ---- the cases: each prints what it measured ------------------------------------------------------ */

static bool cold_run(const char *recipe)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    struct err err;
    double start = now_s();
    if (!simulate(&sim, &r, recipe, NULL, 0, &paths, &cache, &err))
        return stop(&err);
    printf("%.1f ms; plan cache: %llu hits, %llu misses", 1e3 * (now_s() - start), (unsigned long long)cache.hits,
           (unsigned long long)cache.misses);
    return true;
}

/* The plan alone, nothing remembered. */
static bool cold_plan(void)
{
    struct simulation sim;
    struct result r;
    struct plan_cache warm = {0}, cold = {0};
    struct compiler c;
    struct plan p;
    struct err err;
    if (!simulate(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-bert-large", NULL, 0, &paths, &warm, &err))
        return stop(&err);
    double start = now_s();
    compiler_start(&c, sim.graph, sim.topology, &cold, &sim.arena);
    if (!plan_build(&p, &c, &sim.plan.options, &sim.arena, &err))
        return stop(&err);
    printf("%.1f ms; plan cache: %llu hits, %llu misses", 1e3 * (now_s() - start), (unsigned long long)cold.hits,
           (unsigned long long)cold.misses);
    return true;
}

/* The program itself: all recipes, kernels and links, checked and written. */
static bool whole_bench(void)
{
    const char *program = getenv("PODBENCH");
    printf("podbench bench");
    fflush(stdout);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        return false;
    execl(program ? program : "build/podbench", "podbench", "bench", "--out", "build/speed", (char *)NULL);
    return false;
}

static bool cold_bert(void)   { return cold_run("mlperf-v1.1-closed-ipu-pod16-bert-large"); }
static bool cold_resnet(void) { return cold_run("mlperf-v1.1-closed-ipu-pod16-resnet50"); }

static bool all_recipes(void)
{
    struct arena a = {0};
    struct plan_cache cache = {0};
    struct err err;
    char **ids;
    size_t n;
    double start = now_s();
    if (!list_folder(&ids, &n, paths.recipes_dir, ".ini", &a, &err))
        return stop(&err);
    for (size_t i = 0; i < n; i++) {
        struct simulation sim;
        struct result r;
        if (!simulate(&sim, &r, ids[i], NULL, 0, &paths, &cache, &err))
            return stop(&err);
        simulation_free(&sim);
    }
    printf("%zu recipes in %.2f s; plan cache: %.1f %% hits", n, now_s() - start,
           100.0 * (double)cache.hits / (double)(cache.hits + cache.misses));
    return true;
}

/* The user's way: the program itself on one core, its output thrown away; n results are counted over all its time, the first, cold
 * ones included. */
static bool sweep(uint64_t n, const char *const *arguments)
{
    const char *program = getenv("PODBENCH"), *all[16] = { "podbench", "sweep", "--jobs", "1" };
    for (size_t i = 0; arguments[i]; i++)
        all[4 + i] = arguments[i];
    int status;
    struct rusage use;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execv(program ? program : "build/podbench", (char *const *)all);
        _exit(1);
    }
    if (child < 0 || wait4(child, &status, 0, &use) < 0 || status)
        return false;
    double cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    printf("%.0f full results a second (%llu)", (double)n / cpu_s, (unsigned long long)n);
    return true;
}

#define BERT "mlperf-v1.1-closed-ipu-pod64-bert-large"
#define RESNET "mlperf-v1.1-closed-ipu-pod64-resnet50"

/* The schedules that the recipe's framework can run: a refusal takes no time to speak of, and is no result. */
static bool sweep_bert(void)
{
    return sweep(8 * 969 * 2 * 2, (const char *const[]){ BERT, "--over", "parallel.replicas=1..8", "--over", "parallel.gradient_accumulation=32..1000", "--over",
                                                         "parallel.schedule=popart,sequential", "--over", "hosts.steps_per_call=1,2", NULL });
}

static bool sweep_resnet(void)
{
    return sweep(8 * 1000 * 4, (const char *const[]){ RESNET, "--over", "parallel.replicas=8..64+8", "--over", "parallel.gradient_accumulation=1..1000",
                                                      "--over", "hosts.steps_per_call=1,2,5,10", NULL });
}

/* Each plan is new: micro-batch, share of memory, recomputation; then 50 of each that are not. */
static bool sweep_new_plans(void)
{
    return sweep(6 * 5 * 3 * 50, (const char *const[]){ BERT, "--over", "parallel.micro_batch=1..6", "--over", "parallel.available_memory=0.1,0.2,0.3,0.4,0.6",
                                                        "--over", "parallel.recompute=none,stage,layer", "--over", "parallel.gradient_accumulation=101..150", NULL });
}

/* 24 hierarchical all-reduces of 25 MB over 4,096 IPUs, 1 ms of compute between them. */
static bool all_reduces(void)
{
    enum { N = 4096, TIMES = 24 };
    struct arena a = {0};
    struct machine m;
    struct topology t;
    struct err err;
    double start = now_s(), simulated_s = 0;
    if (!machine_load(&m, "ipu-65536", paths.specs_dir, &a, &err))
        return stop(&err);
    m.n_ipus = N;
    if (!topology_build(&t, &m, NULL, &a, &err))
        return stop(&err);
    uint32_t *ranks = ARENA_ARRAY(&a, uint32_t, N);
    for (uint32_t i = 0; i < N; i++)
        ranks[i] = i;
    struct collective_request req = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_HIERARCHICAL, .ranks = ranks,
                                      .n_groups = 1, .n_ranks = N, .bytes = 25e6 };
    for (int i = 0; i < TIMES; i++) {
        struct collective_cost cost;
        struct arena scratch = {0};
        if (!collective_run(&cost, &t, &req, &scratch, &err))
            return stop(&err);
        simulated_s += cost.time_s + 1e-3;
        arena_free(&scratch);
    }
    printf("%.1f ms for %.2f ms simulated", 1e3 * (now_s() - start), 1e3 * simulated_s);
    return true;
}

/* A whole training run with one step played, its evaluation as well: load, plan, time, result. */
static bool full_step(const char *recipe, const char *const *sets, bool unfolded)
{
    struct model_paths how = paths;
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    struct err err;
    double start = now_s();
    how.unfolded = unfolded;
    if (!simulate(&sim, &r, recipe, sets, 3, &how, &cache, &err))
        return stop(&err);
    printf("%.2f s for a step of %.6f ms", now_s() - start, 1e3 * r.step_time_s);
    return true;
}

static const char *const bert_sets[] = { "recipe.system=ipu-65536", "parallel.replicas=8192", "hosts.count=1024" };
static const char *const resnet_sets[] = { "recipe.system=ipu-65536", "parallel.replicas=65536", "hosts.count=1024" };
static bool bert_step(bool unfolded)   { return full_step("mlperf-v1.1-closed-ipu-pod64-bert-large", bert_sets, unfolded); }
static bool resnet_step(bool unfolded) { return full_step("mlperf-v1.1-closed-ipu-pod64-resnet50", resnet_sets, unfolded); }
static bool folded_bert(void)     { return bert_step(false); }
static bool unfolded_bert(void)   { return bert_step(true); }
static bool folded_resnet(void)   { return resnet_step(false); }
static bool unfolded_resnet(void) { return resnet_step(true); }

/* peer: measured on the machine of the first figures (two cores of a shared host), for an idea of size; NULL: none does it. */
static const struct speed_case { const char *name; bool (*run)(void); const char *peer; } cases[] = {
    { "cold plan, BERT-Large", cold_plan, NULL },
    { "cold run, BERT-Large on 16 IPUs", cold_bert, NULL },
    { "cold run, ResNet-50 on 16 IPUs", cold_resnet, NULL },
    { "all recipes", all_recipes, NULL },
    { "whole bench", whole_bench, NULL },
    { "sweep of BERT-Large", sweep_bert, "Calculon, full results of one process: 84 as shipped, 561 to 594 without its log" },
    { "sweep of ResNet-50", sweep_resnet, "the same" },
    { "sweep of BERT-Large over new plans", sweep_new_plans, "Calculon's search: 232" },
    { "24 all-reduces, 4,096 IPUs", all_reduces, "ASTRA-sim 195 s, 527 MB" },
    { "BERT-Large step, 65,536 IPUs, folded", folded_bert, NULL },
    { "BERT-Large step, 65,536 IPUs, unfolded", unfolded_bert, NULL },
    { "ResNet-50 step, 65,536 IPUs, folded", folded_resnet, NULL },
    { "ResNet-50 step, 65,536 IPUs, unfolded", unfolded_resnet, NULL },
};

static int run_case(const struct speed_case *c)
{
    printf("%-40s ", c->name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool good = c->run();
        fflush(stdout);
        _exit(good ? 0 : 1);
    }
    int status;
    struct rusage use;
    if (child < 0 || wait4(child, &status, 0, &use) < 0)
        return 1;
    double cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    printf("; in all %.2f s, peak %.1f MB%s\n", cpu_s, (double)use.ru_maxrss / 1024, status ? "  FAILED" : "");
    if (c->peer)
        printf("%-40s   peer: %s\n", "", c->peer);
    return status != 0;
}

int main(int argc, char **argv)
{
    int n_failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 2 || strstr(cases[i].name, argv[1]))
            n_failed += run_case(&cases[i]);
    return n_failed != 0;
}
