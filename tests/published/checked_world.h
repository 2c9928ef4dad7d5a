/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checked_world.h - a few published figures with results by hand, and their check.
 */
#ifndef CHECKED_WORLD_H
#define CHECKED_WORLD_H
#include "tests/golden_text.h"
#include "results/published/check.h"

static inline struct figure figure(const char *id, const char *recipe, const char *metric, double value, double tolerance, enum role role)
{
    return (struct figure){ .id = id, .recipe = recipe, .configuration = recipe, .metric = metric, .unit = "x", .source = "a test", .quote = "", .note = "",
                            .path = "t.csv", .value = value, .tolerance = tolerance, .role = role, .line = 2 };
}

static const struct kernel_case product = { .kind = KERNEL_MATMUL, .machine = "x" };
static const struct link_case word = { .request.kind = EXCHANGE_P2P, .machine = "y" };

/* Two known runs; nothing else can be simulated, as the folders do not exist. */
struct world {
    struct arena a;
    struct check_source from;
    struct model_paths paths;
    struct simulator simulator;
    struct check check;
    struct figure figures[12];
    struct figures list;
};

static inline void world_build(struct world *w)
{
    w->paths = (struct model_paths){ .specs_dir = "/nonexistent", .recipes_dir = "/nonexistent", .data_dir = "/nonexistent" };
    simulator_open(&w->simulator, &w->paths);
    w->from = (struct check_source){ .simulator = &w->simulator };
    struct result slow = { .id = "slow", .workload = "resnet50", .system = "ipu-pod16", .throughput_samples_per_s = 1100,
                           .step_time_s = 0.7, .time_to_train_s = 1800, .predicted_time_to_train_s = 2760, .fits = true };
    struct result fast = { .id = "fast", .workload = "bert-large", .system = "bow-pod16", .throughput_samples_per_s = 3850,
                           .step_time_s = 0.3, .latency_s = 0.0025, .fits = true };
    struct result big = { .id = "big", .workload = "resnet50", .system = "ipu-pod16", .throughput_samples_per_s = 100,
                          .step_time_s = 1.3, .fits = false };
    results_add(&w->from.known, &slow, &w->a);
    results_add(&w->from.known, &fast, &w->a);
    results_add(&w->from.known, &big, &w->a);
    const struct figure all[] = {
        figure("a", "slow", "throughput_samples_per_s", 1000, 0.11, FIGURE_CALIBRATE),   /* +10 % */
        figure("b", "slow", "time_to_train_min", 40, 0.2, FIGURE_VALIDATE),              /* 30 min: -25 % */
        figure("c", "fast", "latency_s", 0.002, 0.3, FIGURE_VALIDATE),           /* 2.5 ms: +25 % */
        figure("d", "fast:slow", "speedup_x", 3.5, 0.001, FIGURE_CONTEXT),               /* 3850/1100 = 3.5 */
        figure("e", "big", "throughput_samples_per_s", 100, 0.1, FIGURE_CONTEXT),
        figure("f", "absent", "throughput_samples_per_s", 7, 0.1, FIGURE_CONTEXT),
        figure("g", "fast", "time_to_train_min", 7, 0.1, FIGURE_CONTEXT),                /* no time to train */
        figure("h", "slow", "bananas", 7, 0.1, FIGURE_CONTEXT),
        figure("i", "", "time_to_train_min", 7, 0.1, FIGURE_CONTEXT),
    };
    memcpy(w->figures, all, sizeof all);
    w->figures[8].without = "needs bananas";
    w->list = (struct figures){ .items = w->figures, .n = sizeof all / sizeof *all };
}

static inline void world_free(struct world *w)
{
    simulator_close(&w->simulator);
    arena_free(&w->a);
}

static inline void world_check(struct world *w)
{
    struct err err;
    world_build(w);
    assert_true(check_build(&w->check, &w->list, &w->from, &w->a, &err));
}

static inline void print_as(FILE *f, enum output_format format, struct world *w)
{
    struct document d = { .arena = &w->a };
    check_document(&d, &w->check);
    document_write(f, format, &d);
}

#endif
