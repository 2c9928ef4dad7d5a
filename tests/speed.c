/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speed.c - how fast the program is, by the commands that a user types: make speed. Each command is a process of its own, on one core,
 * its output thrown away; times are its processor seconds, start and end included, the median of its runs, and memory is its peak.
 * Nothing else in the project depends on a clock.
 */
#include "system-model/network/collective.h"
#include "tests/speed_execute.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RUNS = 21, MOST_ARGUMENTS = 24 };

/* n_results: results of one run; 0: its time is printed. function: called instead of the program. peer: measured on
 * the machine of the first figures (two cores of a shared host), for an idea of size; NULL if no other program does
 * it. */
struct speed_case {
    const char *name, *aim, *peer;
    uint32_t n_runs;
    double n_results;
    const char *arguments[MOST_ARGUMENTS];
    int (*function)(void);
};

/* 24 hierarchical all-reduces of 25 MB over 4,096 IPUs, which no command asks for. */
static int all_reduces(void)
{
    enum { N = 4096, TIMES = 24 };
    struct arena a = {0};
    struct machine m;
    struct topology t;
    struct err err;
    if (!machine_load(&m, "ipu-65536", "system-model/specs", &a, &err))
        return 1;
    m.n_ipus = N;
    if (!topology_build(&t, &m, NULL, &a, &err))
        return 1;
    uint32_t *ranks = ARENA_ARRAY(&a, uint32_t, N);
    for (uint32_t i = 0; i < N; i++)
        ranks[i] = i;
    struct collective_request req = { .kind = COLLECTIVE_ALL_REDUCE, .method = METHOD_HIERARCHICAL, .ranks = ranks,
                                      .n_groups = 1, .n_ranks = N, .bytes = 25e6 };
    for (int i = 0; i < TIMES; i++) {
        struct collective_cost cost;
        struct arena scratch = {0};
        if (!collective_run(&cost, &t, &req, &scratch, &err))
            return 1;
        arena_free(&scratch);
    }
    return 0;
}

#define BERT "mlperf-v1.1-closed-ipu-pod64-bert-large"
#define BERT_16 "mlperf-v1.1-closed-ipu-pod16-bert-large"
#define RESNET "mlperf-v1.1-closed-ipu-pod64-resnet50"
#define SET(setting) "--set", setting
#define OVER(axis) "--over", axis
#define ALL_CHIPS SET("recipe.system=ipu-65536"), SET("hosts.count=1024")

static const struct speed_case cases[] = {
    { "answer, BERT-Large", "6 ms", "Calculon, a model of 1T parameters, whole process: 352 ms", 21, 0, { "run", BERT }, NULL },
    { "answer, ResNet-50", "12 ms", "the same", 21, 0, { "run", RESNET }, NULL },
    { "row, BERT-Large", "6 ms", "the same", 21, 0, { "run", BERT, "--format", "csv" }, NULL },
    { "row, ResNet-50", "12 ms", "the same", 21, 0, { "run", RESNET, "--format", "csv" }, NULL },
    { "bench, all recipes and figures", "500 ms", NULL, 3, 0, { "bench", "--out", "build/speed" }, NULL },
    /* Only schedules that the recipe's framework can run: a refusal takes almost no time and gives no result. */
    { "sweep of BERT-Large", "50000 /s", "Calculon, full results of one process: 84 /s as shipped, 561 to 594 without its log", 3, 8 * 969 * 2 * 2,
      { "sweep", BERT, "--jobs", "1", OVER("parallel.replicas=1..8"), OVER("parallel.gradient_accumulation=32..1000"),
        OVER("parallel.schedule=popart,sequential"), OVER("hosts.steps_per_call=1,2") }, NULL },
    { "sweep of ResNet-50", "50000 /s", "the same", 3, 8 * 1000 * 4,
      { "sweep", RESNET, "--jobs", "1", OVER("parallel.replicas=8..64+8"), OVER("parallel.gradient_accumulation=1..1000"),
        OVER("hosts.steps_per_call=1,2,5,10") }, NULL },
    { "sweep of BERT-Large, a framework's setting given", "50000 /s", "the same", 3, 8 * 969 * 2 * 2,
      { "sweep", BERT, "--jobs", "1", SET("framework.clip_norm=no"), OVER("parallel.replicas=1..8"), OVER("parallel.gradient_accumulation=32..1000"),
        OVER("parallel.schedule=popart,sequential"), OVER("hosts.steps_per_call=1,2") }, NULL },
    /* Each plan is new: micro-batch, share of memory, recomputation; then 50 of each that are not. */
    { "sweep of BERT-Large over new plans", "2000 /s", "Calculon's search: 232 /s", 3, 6 * 5 * 3 * 50,
      { "sweep", BERT, "--jobs", "1", OVER("parallel.micro_batch=1..6"), OVER("parallel.available_memory=0.1,0.2,0.3,0.4,0.6"),
        OVER("parallel.recompute=none,stage,layer"), OVER("parallel.gradient_accumulation=101..150") }, NULL },
    { "a million configurations of ResNet-50", "300 MB", NULL, 1, 1000000,
      { "sweep", RESNET, "--jobs", "1", OVER("parallel.replicas=1..50"), OVER("parallel.gradient_accumulation=1..400"),
        OVER("hosts.steps_per_call=1..50") }, NULL },
    { "micro-batch 1024, BERT-Large", "500 ms", NULL, 3, 0, { "run", BERT, SET("parallel.micro_batch=1024") }, NULL },
    { "micro-batch 1024, ResNet-50", "500 ms", NULL, 3, 0, { "run", RESNET, SET("parallel.micro_batch=1024") }, NULL },
    { "micro-batch 65536, BERT-Large", "5 s", NULL, 3, 0, { "run", BERT, SET("parallel.micro_batch=65536") }, NULL },
    { "micro-batch 65536, ResNet-50", "5 s", NULL, 3, 0, { "run", RESNET, SET("parallel.micro_batch=65536") }, NULL },
    { "row, BERT-Large on 16 IPUs", NULL, NULL, 7, 0, { "run", BERT_16, "--format", "csv" }, NULL },
    { "row, BERT-Large on 65536 IPUs", "20 ms, the memory of 16 IPUs", "none can", 7, 0,
      { "run", BERT, "--format", "csv", ALL_CHIPS, SET("parallel.replicas=8192") }, NULL },
    { "row, ResNet-50 on 65536 IPUs", "20 ms", "none can", 7, 0, { "run", RESNET, "--format", "csv", ALL_CHIPS, SET("parallel.replicas=65536") }, NULL },
    { "row, BERT-Large on 65536 IPUs, unfolded", "1 s, 150 MB", "none can", 1, 0,
      { "run", BERT, "--format", "csv", "--unfolded", ALL_CHIPS, SET("parallel.replicas=8192") }, NULL },
    { "row, ResNet-50 on 65536 IPUs, unfolded", "1 s, 150 MB", "none can", 1, 0,
      { "run", RESNET, "--format", "csv", "--unfolded", ALL_CHIPS, SET("parallel.replicas=65536") }, NULL },
    { "24 all-reduces, 4096 IPUs", NULL, "ASTRA-sim 195 s, 527 MB", 3, 0, { NULL }, all_reduces },
};

enum { EXIT_BROKEN = 2 };        /* a run of a plan that does not fit ends with 1, and is timed */

static void become(const struct speed_case *c)
{
    const char *program = getenv("PODBENCH"), *all[MOST_ARGUMENTS + 2] = { "podbench" };
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0)
        _exit(EXIT_BROKEN);
    if (c->function)
        _exit(c->function() ? EXIT_BROKEN : 0);
    memcpy(all + 1, c->arguments, sizeof c->arguments);
    execv(program ? program : "build/podbench", (char *const *)(uintptr_t)all);
    _exit(EXIT_BROKEN);
}

static bool run_once(double *cpu_s, double *peak_mb, const struct speed_case *c)
{
    int status;
    struct rusage use;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become(c);
    if (child < 0 || wait4(child, &status, 0, &use) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) >= EXIT_BROKEN)
        return false;
    *cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    *peak_mb = (double)use.ru_maxrss / 1024;
    return true;
}

static int smaller(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static bool run_case(const struct speed_case *c)
{
    double cpu_s[MOST_RUNS], peak_mb = 0;
    printf("%-50s ", c->name);
    for (uint32_t i = 0; i < c->n_runs; i++)
        if (!run_once(&cpu_s[i], &peak_mb, c)) {
            printf("FAILED\n");
            return false;
        }
    qsort(cpu_s, c->n_runs, sizeof *cpu_s, smaller);
    double median_s = cpu_s[c->n_runs / 2];
    if (c->n_results > 0)
        printf("%8.0f /s", c->n_results / median_s);
    else
        printf("%8.1f ms", 1e3 * median_s);
    printf(" %8.1f MB%s%s%s%s\n", peak_mb, c->aim ? "; aim: " : "", c->aim ? c->aim : "", c->peer ? "; peer: " : "", c->peer ? c->peer : "");
    return true;
}

int main(int argc, char **argv)
{
    int n_failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 2 || strstr(cases[i].name, argv[1]))
            n_failed += !run_case(&cases[i]);
    if (argc < 2 || strstr("execution, share of the library", argv[1]))
        n_failed += execution_share();
    return n_failed != 0;
}
