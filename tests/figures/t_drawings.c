/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_drawings.c - the data of figures: from runs made up, whose numbers can be followed by hand
 * (tests/golden/drawings.txt), and from one small run simulated, by what must hold of it.
 */
#include "tests/golden_text.h"
#include "system-model/graph/graph.h"
#include "tests/model_paths.h"
#include "results/figures/drawings.h"
#include "results/figures/scaling.h"
#include "results/simulate/recompute_curve.h"
#include <math.h>
#include <unistd.h>

static struct arena a;
static struct err err;
static const char pipelined[] = "vendor-ipu-pod16-resnet50-pipelined";

static struct simulator *simulator(void)
{
    static struct simulator s;
    if (!s.paths)
        simulator_open(&s, &paths);
    return &s;
}

static const char *folder(void)
{
    static char path[] = "/tmp/podbench-drawings-XXXXXX";
    if (strstr(path, "XXXXXX"))
        assert_non_null(mkdtemp(path));
    return path;
}

/* ---- runs made up ----------------------------------------------------------------------------------- */

/* A step of 20 ms on 16 IPUs: 9 ms products, 2 ms norms, 3 ms exchange, 1 ms sync, 2 ms links, 3 ms waiting. */
#define STEP .step_time_s = 0.02, .breakdown_s = { [PART_MATMUL] = 0.004, [PART_CONV] = 0.005, [PART_NORM] = 0.002, [PART_EXCHANGE] = 0.003, \
    [PART_SYNC] = 0.001, [PART_STAGE_COPY] = 0.0005, [PART_ALL_REDUCE] = 0.0015, [PART_BUBBLE] = 0.003 }
static struct result made[] = {
    { .id = "mlperf-v1.1-closed-ipu-pod16-resnet50", .workload = "resnet50", .system = "IPU-POD16", .ipus = 16, .throughput_samples_per_s = 30000,
      .time_to_train_s = 1740, .fits = true, STEP },
    { .id = "mlperf-v1.1-closed-ipu-pod64-resnet50", .workload = "resnet50", .system = "IPU-POD64", .ipus = 64, .throughput_samples_per_s = 108000,
      .time_to_train_s = 510, .fits = true, STEP },
    { .id = "mlperf-v2.0-closed-bow-pod16-resnet50", .workload = "resnet50", .system = "Bow-Pod16", .ipus = 16, .throughput_samples_per_s = 41000,
      .time_to_train_s = 1170, .fits = true, STEP },
    { .id = "mlperf-v2.0-closed-bow-pod64-bert-large", .workload = "bert-large", .system = "Bow-Pod64", .ipus = 64,
      .throughput_samples_per_s = 5500, .time_to_train_s = 600, .fits = true, .step_time_s = 0.05, .breakdown_s = { [PART_MATMUL] = 0.04, [PART_HOST] = 0.01 } },
    { .id = "mlperf-v2.0-closed-bow-pod16-bert-large", .workload = "bert-large", .system = "Bow-Pod16", .ipus = 16,
      .throughput_samples_per_s = 1500, .fits = true, .step_time_s = 0.05, .breakdown_s = { [PART_MATMUL] = 0.035, [PART_STREAMING] = 0.015 } },
    { .id = "mlperf-v2.0-open-bow-pod16-bert-large-pytorch", .workload = "bert-large", .system = "Bow-Pod16", .ipus = 16,
      .throughput_samples_per_s = 1400, .fits = true, STEP },
    { .id = "mlperf-v2.0-open-bow-pod16-bert-large", .workload = "bert-large", .system = "Bow-Pod16", .ipus = 16, .time_to_train_s = 1200,
      .throughput_samples_per_s = 1450, .fits = true, STEP },
    { .id = "vendor-c600-resnet50-b1", .workload = "resnet50", .system = "C600", .ipus = 1, .latency_s = 0.001, .fits = true, STEP },
};
static const struct results runs = { .items = made, .n = sizeof made / sizeof *made };

#define SAMPLES .metric = "throughput_samples_per_s"
#define MINUTES .metric = "time_to_train_min"
static struct figure figure_items[] = {
    { .recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50", SAMPLES, .value = 31000 },
    { .recipe = "mlperf-v1.1-closed-ipu-pod64-resnet50", SAMPLES, .value = 117000 },
    { .recipe = "mlperf-v2.0-closed-bow-pod16-bert-large", SAMPLES, .value = 1600 },
    { .recipe = "mlperf-v2.0-closed-bow-pod64-bert-large", SAMPLES, .value = 6000 },
    { .recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50", .configuration = "ipu-pod16-resnet50", MINUTES, .value = 28.33 },
    { .recipe = "mlperf-v2.0-closed-bow-pod16-resnet50", .configuration = "bow-pod16-resnet50", MINUTES, .value = 19.64 },
    { .recipe = "mlperf-v2.0-closed-bow-pod64-bert-large", .configuration = "bow-pod64-bert-large", MINUTES, .value = 10.5 },
    /* Off by 150 %: a finding names the worst. With the 4.8 % of the run before it is one configuration; the others are
     * off by 0.7 and 2.4 %. */
    { .recipe = "mlperf-v2.0-open-bow-pod16-bert-large", .configuration = "bow-pod64-bert-large", MINUTES, .value = 8 },
    { MINUTES, .value = 27.6, .note = "round=v2.0; division=closed; benchmark=resnet; chips=8; accelerator=NVIDIA A100-SXM4-80GB (500W); submitter=Dell" },
    { MINUTES, .value = 4.5, .note = "round=v1.1; division=closed; benchmark=resnet; chips=256; accelerator=NVIDIA A100-SXM-80GB; submitter=NVIDIA" },
    { MINUTES, .value = 4.1, .note = "round=v1.1; division=closed; benchmark=resnet; chips=257; accelerator=NVIDIA A100-SXM-80GB; submitter=NVIDIA" },
    { MINUTES, .value = 4.2, .note = "round=v2.1; division=closed; benchmark=resnet; chips=8; accelerator=NVIDIA H100; submitter=NVIDIA" },
    { MINUTES, .value = 4.3, .note = "round=v0.7; division=closed; benchmark=resnet; chips=8; accelerator=NVIDIA V100; submitter=NVIDIA" },
    { MINUTES, .value = 4.4, .note = "round=v1.0; division=open; benchmark=resnet; chips=8; accelerator=NVIDIA A100; submitter=NVIDIA" },
    { MINUTES, .value = 4.6, .note = "round=v1.0; division=closed; benchmark=resnet; chips=8; accelerator=TPU v4; submitter=Google" },
    { MINUTES, .value = 9.5, .note = "round=v1.0; division=closed; benchmark=bert; chips=64; accelerator=NVIDIA A30 (165W); submitter=Azure" },
};
static const struct figures figures = { .items = figure_items, .n = sizeof figure_items / sizeof *figure_items };

/* family, mode, workload, chip, framework, compute, ipus, width, micro-batch, global batch, sequence. */
#define AT(mode, workload, chip, framework, ipus) { .name = { "f", mode, workload, chip, framework, "fp16", "in turn" }, .count = { [7] = ipus, 1, 3, 1536, 0 } }
static struct reference reference_items[] = {
    { "c1", "vendor-a-infer", "g1", FIGURE_VALIDATE, AT("infer", "resnet50", "bow", "PopART", 1), 1000, 1100, 0.09 },
    { "c2", "mlperf-v1.1-closed-b", "g2", FIGURE_CALIBRATE, AT("train", "resnet50", "mk2", "PopART", 64), 4000, 3900, -0.04 },
    { "c3", "mlperf-v1.1-closed-a", "g2", FIGURE_VALIDATE, AT("train", "resnet50", "mk2", "PopART", 16), 2000, 1700, -0.16 },
    { "c4", "mlperf-v2.0-open-a", "g3", FIGURE_VALIDATE, AT("train", "bert-large", "bow", "PyTorch", 16), 500, 510, 0.02 },
    { "c5", "mlperf-v2.0-closed-a", "g3", FIGURE_VALIDATE, AT("train", "bert-large", "bow", "PyTorch", 16), 500, 530, 0.06 },
};
static const struct references references = { .items = reference_items, .n = sizeof reference_items / sizeof *reference_items };

static const struct drawing_kind *kind(const char *name)
{
    for (size_t i = 0; i < n_drawing_kinds; i++)
        if (text_is(drawing_kinds[i].name, name))
            return &drawing_kinds[i];
    return NULL;
}

static struct drawing drawn(const char *name, const struct drawing_source *from)
{
    struct drawing d = { .folder = folder(), .from = from, .a = &a };
    if (!kind(name)->write(&d, &err))
        print_error("%s: %s\n", name, err.msg);
    return d;
}

/* Prints the finding and the tables, and removes them. */
static const char *written(const char *name, const struct drawing *d, const char *const *tables, size_t n)
{
    const char *text = arena_printf(&a, "== %s: %s\n", name, d->finding ? d->finding : d->missing);
    for (size_t i = 0; i < n; i++) {
        char *table;
        const char *path = arena_printf(&a, "%s/%s.csv", d->folder, tables[i]);
        assert_true(read_text_file(&table, NULL, path, 1 << 20, &a, &err));
        text = arena_printf(&a, "%s-- %s\n%s", text, tables[i], table);
        unlink(path);
    }
    return text;
}
#define WRITTEN(name, d, ...) \
    written(name, d, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void tables_of_runs(void **state)
{
    const struct drawing_source from = { &runs, &figures, &references, NULL };
    const struct drawing_source nothing = { &(struct results){0}, &(struct figures){0}, &(struct references){0}, NULL };
    (void)state;
    for (size_t i = 0; i < references.n; i++)
        properties_prepare(&reference_items[i].at);
    struct drawing accuracy = drawn("accuracy", &from), scaling = drawn("scaling", &from), times = drawn("time-to-train", &from);
    struct drawing breakdown = drawn("breakdown", &from);
    const char *text = arena_printf(&a, "%s%s%s%s", WRITTEN("accuracy", &accuracy, "accuracy"),
                                    WRITTEN("scaling", &scaling, "scaling-resnet50", "scaling-bert-large"),
                                    WRITTEN("time-to-train", &times, "time-to-train-resnet", "time-to-train-bert"),
                                    WRITTEN("breakdown", &breakdown, "breakdown"));
    assert_golden(text, "tests/golden/drawings.txt", &a);
    static const char *const named[] = { "accuracy", "scaling", "time-to-train", "breakdown", "waterfall", "memory", "roofline", "pipeline", "links", "map" };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct drawing d = drawn(named[i], &nothing);
        assert_null(d.finding);
        assert_non_null(d.missing);
    }
}

/* 31000 to 117000 on four times the chips: 94.3548 %; 30000 to 108000: 90 %. */
/* Only sizes that are both published and simulated count, apart from the smallest. */
static void scaling_of_both_as_text(void **state)
{
    struct scaling s = { .workload = "toy", .n_sizes = 4, .sizes = { 2, 4, 8, 16 } };
    char *text;
    (void)state;
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        for (size_t i = 0; i < MOST_SIZES; i++)
            s.points[k][i] = (struct scaling_point){ NAN, NAN, NAN, NAN, NAN };
    s.points[0][0].published_efficiency = s.points[0][0].simulated_efficiency = 100;
    s.points[0][1].published_efficiency = 97;
    s.points[0][2].simulated_efficiency = 93;
    s.points[0][3].published_efficiency = 90, s.points[0][3].simulated_efficiency = 92.5;
    s.points[2][1].published_efficiency = 99, s.points[2][1].simulated_efficiency = 98;
    PRINTED(text, scaling_print(f, &s));
    assert_string_equal(text, "scaling   toy                      v1.0         16 IPUs: published 90.0 %, simulated 92.5 %, +2.5 points\n"
                              "scaling   toy                      v2.0          4 IPUs: published 99.0 %, simulated 98.0 %, -1.0 points\n");
    free(text);
}

static void scaling_by_hand(void **state)
{
    struct scaling s;
    char *text;
    (void)state;
    scaling_build(&s, "resnet50", &runs, &figures);
    assert_int_equal(s.n_sizes, 2);
    assert_int_equal(s.sizes[1], 64);
    assert_near(s.points[1][1].ideal, 124000, 1e-9);
    assert_near(s.points[1][1].published_efficiency, 100 * 117.0 / 124, 1e-9);
    assert_near(s.points[1][1].simulated_efficiency, 90, 1e-9);
    assert_near(s.points[1][0].simulated_efficiency, 100, 1e-9);
    assert_true(isnan(s.points[2][0].published) && isnan(s.points[2][1].simulated));
    PRINTED(text, scaling_print(f, &s));
    assert_string_equal(text, "scaling   resnet50                 v1.1         64 IPUs: published 94.4 %, simulated 90.0 %, -4.4 points\n");
    free(text);
}

/* Powers of two from 1 to 1024, each once, whatever the round. */
static void sizes_of_a_scaling(void **state)
{
    static const struct { const char *id; uint64_t ipus; } cases[] = {
        { "mlperf-v2.0-closed-a-resnet50", 1024 }, { "mlperf-v1.0-closed-b-resnet50", 2048 }, { "mlperf-v1.1-closed-c-resnet50", 1 },
        { "mlperf-v1.0-closed-d-resnet50", 8 }, { "mlperf-v2.0-closed-e-resnet50", 8 }, { "mlperf-v1.0-closed-f-resnet50", 3 },
        { "mlperf-v0.7-closed-g-resnet50", 16 }, { "mlperf-v1.0-open-h-resnet50", 32 }, { "mlperf-v1.0-closed-i-resnet50-pytorch", 64 },
    };
    struct result items[sizeof cases / sizeof *cases];
    const struct results all = { .items = items, .n = sizeof cases / sizeof *cases };
    struct scaling s;
    (void)state;
    for (size_t i = 0; i < all.n; i++)
        items[i] = (struct result){ .id = cases[i].id, .workload = "resnet50", .ipus = cases[i].ipus, .throughput_samples_per_s = 100 };
    scaling_build(&s, "resnet50", &all, &(struct figures){0});
    assert_int_equal(s.n_sizes, 3);
    assert_true(s.sizes[0] == 1 && s.sizes[1] == 8 && s.sizes[2] == 1024);
}

/* 94.3548 % and 94 %, 93.75 % and 93.25 %: less than a point apart is a finding too. */
static void small_gaps_are_told(void **state)
{
    struct result near[] = { made[0], made[1], made[4], made[3] };
    const struct results all = { .items = near, .n = 4 };
    const struct drawing_source from = { &all, &figures, &references, NULL };
    (void)state;
    near[1].throughput_samples_per_s = 112800;
    near[3].throughput_samples_per_s = 5595;
    struct drawing d = drawn("scaling", &from);
    assert_non_null(WRITTEN("scaling", &d, "scaling-resnet50", "scaling-bert-large"));
    assert_string_equal(d.finding, "Scaling efficiency as predicted and as published: ResNet-50 within 0.4 points (v1.1, 64 IPUs), "
                                   "BERT-Large within 0.5 points (v2.0, 64 IPUs)");
}

/* 90 of 100 a chip at the largest of three sizes, whose order is not that of the run. Two runs of one size, and what was published, are no
 * series. */
static void servers_without_published_runs(void **state)
{
    static const struct { uint64_t ipus; double rate; } sizes[] = { { 64, 5760 }, { 16, 1600 }, { 32, 3200 } };
    struct result of[3];
    struct figure one = { .recipe = "32", .metric = "throughput_samples_per_s" };
    const struct results all = { .items = of, .n = 3 };
    const struct drawing_source from = { &all, &(struct figures){0}, &references, NULL };
    const struct drawing_source known = { &all, &(struct figures){ .items = &one, .n = 1 }, &references, NULL };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        of[i] = (struct result){ .id = arena_printf(&a, "%d", (int)sizes[i].ipus), .system = "toy", .workload = "net", .ipus = sizes[i].ipus,
                                 .throughput_samples_per_s = sizes[i].rate, .step_time_s = 2 };
        of[i].breakdown_s[PART_ALL_REDUCE] = i ? 0 : 0.5;
    }
    struct drawing d = drawn("servers", &from);
    assert_string_equal(WRITTEN("servers", &d, "servers"),
                        "== servers: Predicted, not measured, efficiency: net at 90 % on 64 IPUs of toy\n-- servers\n"
                        "workload,series,chips,samples,efficiency,all-reduce\nnet,1,16,1600,100,0\nnet,1,32,3200,100,0\nnet,1,64,5760,90,25\n");
    d = drawn("servers", &known);
    assert_null(d.finding);
    of[1].ipus = 32;
    d = drawn("servers", &from);
    assert_null(d.finding);
    assert_non_null(WRITTEN("servers", &d, "servers"));
}

/* One model alone gives no picture, whichever it is. */
static void a_panel_without_points_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct results one = { .items = &made[i ? 4 : 0], .n = 1 };
        const struct drawing_source from = { &one, &figures, &references, NULL };
        struct drawing d = drawn("scaling", &from);
        assert_null(d.finding);
        assert_string_equal(d.missing, "no MLPerf runs of both ResNet-50 and BERT-Large");
    }
}

/* A single round, the first or the last, gives the gap. */
static void one_round_has_its_gap(void **state)
{
    static const char *const rounds[] = { "v1.0", "v2.0" };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct result two[] = { made[0], made[1], made[4] };
        struct figure published[] = { figure_items[0], figure_items[1], figure_items[2] };
        const struct results all = { .items = two, .n = 3 };
        const struct figures both = { .items = published, .n = 3 };
        const struct drawing_source from = { &all, &both, &references, NULL };
        for (size_t i = 0; i < 2; i++)
            two[i].id = published[i].recipe = arena_printf(&a, "mlperf-%s-closed-ipu-pod%d-resnet50", rounds[k], i ? 64 : 16);
        struct drawing d = drawn("scaling", &from);
        assert_non_null(WRITTEN("scaling", &d, "scaling-resnet50", "scaling-bert-large"));
        assert_string_equal(d.finding, arena_printf(&a, "Scaling efficiency as predicted and as published: ResNet-50 within 4.4 points (%s, 64 IPUs), "
                                                        "BERT-Large within 0.0 points (v2.0, 16 IPUs)", rounds[k]));
    }
}

/* With one size per model, each is its own reference. */
static void one_size_has_no_gap(void **state)
{
    struct result alone[] = { made[0], made[4] };
    const struct results all = { .items = alone, .n = 2 };
    const struct drawing_source from = { &all, &figures, &references, NULL };
    (void)state;
    assert_string_equal(drawn("scaling", &from).finding, "Scaling efficiency as predicted and as published: ResNet-50 within 0.0 points (v1.1, 16 IPUs), "
                                                         "BERT-Large within 0.0 points (v2.0, 16 IPUs)");
}

static void labels(void **state)
{
    (void)state;
    assert_string_equal(drawing_label("mlperf-v2.0-closed-bow-pod16-resnet50", &a), "v2.0 closed bow-pod16-resnet50");
    assert_string_equal(drawing_label("vendor-c600-resnet50-b1", &a), "c600-resnet50-b1");
    assert_string_equal(drawing_label("own-run", &a), "own-run");
}

/* ---- one run simulated --------------------------------------------------------------------------------- */

/* A comma between quotes is text. */
static double number(const char *row, size_t column)
{
    bool quoted = false;
    for (size_t i = 0; i < column; row++) {
        quoted ^= *row == '"';
        i += *row == ',' && !quoted;
    }
    return strtod(row, NULL);
}

/* The lines below the header of a table, which is removed. */
static size_t lines_of(char **out, const char *table)
{
    char *text, *path = arena_printf(&a, "%s/%s.csv", folder(), table), *line;
    size_t n = 0;
    assert_true(read_text_file(&text, NULL, path, 1 << 20, &a, &err));
    unlink(path);
    strsep(&text, "\n");
    while ((line = strsep(&text, "\n")) && *line) {
        assert_true(n < 2000);
        out[n++] = line;
    }
    return n;
}

static struct drawing_source simulated(struct simulation *sim)
{
    static struct results one;
    static struct figures none;
    struct result r = {0};
    assert_true(simulator_run(simulator(), sim, &r, pipelined, NULL, 0, &err));
    results_add(&one, &r, &a);
    return (struct drawing_source){ &one, &none, NULL, simulator() };
}

/* Regions are stacked, each as wide as its bytes; the finding is about the fullest tile. */
static void check_memory(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    struct drawing d = drawn("memory", from);
    size_t n = lines_of(lines, "memory");
    double most = 0, limit = (double)sim->machine->chip.tile_memory_bytes;
    uint32_t fullest = 0;
    assert_int_equal(n, sim->plan.request.ipus_per_replica);
    for (uint32_t i = 0; i < n; i++) {
        double end = 0;
        assert_near(number(lines[i], 0), i, 0);
        assert_near(number(lines[i], 1), i - 0.38, 1e-9);
        assert_near(number(lines[i], 2), i + 0.38, 1e-9);
        assert_near(number(lines[i], 4), limit / 1024, 1e-9);
        for (size_t k = 0; k < N_MEMORY_CATEGORIES; k++) {
            assert_near(number(lines[i], 5 + 2 * k), end, 1e-3);
            end += (double)sim->plan.memory[i].bytes[k] / 1024;
            assert_near(number(lines[i], 6 + 2 * k), end, 1e-3);
        }
        if (end > most) {
            most = end;
            fullest = i;
        }
    }
    assert_string_equal(d.finding, arena_printf(&a, "What the fullest tile holds: closest to its limit is IPU %u of ipu-pod16-resnet50-pipelined, "
                                                "%.0f %% full", fullest, 100 * most * 1024 / limit));
}

/* Each item begins where the one before ends; the last is the whole step of the mean IPU. */
static void check_waterfall(const struct drawing_source *from, char **lines)
{
    struct drawing d = drawn("waterfall", from);
    size_t n = lines_of(lines, "waterfall");
    double at = 0, step_ms = 1e3 * from->results->items[0].step_time_s;
    assert_true(n > 3);
    for (size_t i = 0; i < n; i++) {
        double first = number(lines[i], 2), last = number(lines[i], 3);
        assert_near(number(lines[i], 0), (double)i, 0);
        assert_near(first, i + 1 < n ? at : 0, 1e-5);
        assert_near(number(lines[i], 4), (double)i - 0.38, 1e-9);
        assert_near(number(lines[i], 5), (double)i + 0.38, 1e-9);
        assert_near(number(lines[i], 6), fmax(first, last), 0);
        assert_near(number(lines[i], 7), last - first, 0.006 * fabs(last - first));
        at = last;
    }
    assert_near(at, step_ms, 1e-5 * step_ms);
    assert_non_null(strstr(d.finding, arena_printf(&a, "a step takes %.3g ms", step_ms)));
}

/* Bars of one IPU do not overlap; there are as many forward as backward passes, each with a number. The busy share is
 * the sum of their widths. */
static void check_pipeline(const struct drawing_source *from, char **lines)
{
    struct drawing d = drawn("pipeline", from);
    static const char *const tables[] = { "pipeline-inference", "pipeline-training" };
    static const unsigned passes[2][2] = { { 8, 0 }, { 16, 16 } };
    double share[2];
    for (size_t t = 0; t < 2; t++) {
        size_t n = lines_of(lines, tables[t]), count[2] = { 0, 0 };
        double last = 0, busy = 0, bars[4][64][2];
        size_t n_bars[4] = { 0 };
        for (size_t i = 0; i < n; i++) {
            double chip = number(lines[i], 0);
            size_t column = 5, shown = 0;
            for (size_t k = 0; k < 4; k++)
                if (!isnan(number(lines[i], 5 + 2 * k))) {
                    column = 5 + 2 * k;
                    shown++;
                }
            double at = number(lines[i], column), to = number(lines[i], column + 1);
            assert_int_equal(shown, 1);
            assert_near(number(lines[i], 1), chip - 0.4, 1e-9);
            assert_near(number(lines[i], 2), chip + 0.4, 1e-9);
            assert_near(number(lines[i], 3), (at + to) / 2, 1e-3);
            assert_true(to >= at && chip < 4);
            last = fmax(last, to);
            if (column < 9) {
                double which = number(lines[i], 4), (*mine)[2] = bars[(int)chip];
                assert_true(which >= 1 && which <= passes[t][0]);
                for (size_t k = 0; k < n_bars[(int)chip]; k++)
                    assert_true(at >= mine[k][1] - 1e-3 || to <= mine[k][0] + 1e-3);
                mine[n_bars[(int)chip]][0] = at;
                mine[n_bars[(int)chip]++][1] = to;
                busy += to - at;
                count[(column - 5) / 2]++;
            }
        }
        assert_int_equal(count[0], 4 * passes[t][0]);
        assert_int_equal(count[1], 4 * passes[t][1]);
        share[t] = 100 * busy / (4 * last);
    }
    assert_true(share[0] > 10 && share[1] > 10);
    double found[2];
    assert_int_equal(sscanf(d.finding, "ResNet-50 on four IPUs, computing %lf %% of the time in inference of 8 micro-batches, %lf", &found[0], &found[1]), 2);
    assert_near(found[0], share[0], 0.501);     /* whole per cent of what the bars, cut to the microsecond, sum to */
    assert_near(found[1], share[1], 0.501);
}

/* Every link between two IPUs once, drawn as a line or a stub, with the load of the busiest direction. */
static void check_links(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    struct drawing d = drawn("links", from);
    size_t n = lines_of(lines, "links"), between = 0;
    double most = 0;
    for (uint32_t i = 0; i < sim->topology->n_links; i++)
        between += topology_link(sim->topology, i).from < 16 && topology_link(sim->topology, i).to < 16;
    assert_int_equal(n, between);
    uint32_t link = 0;
    for (size_t i = 0; i < n; i++, link++) {
        while (topology_link(sim->topology, link).from >= 16 || topology_link(sim->topology, link).to >= 16)
            link++;
        uint32_t ipu = topology_link(sim->topology, link).from, to = topology_link(sim->topology, link).to;
        double along = (double)(to / 2) - ipu / 2, across = (double)(to % 2) - ipu % 2, side = ipu < to ? 0.06 : -0.06;
        assert_near(number(lines[i], 5), ipu, 0);
        assert_near(number(lines[i], 0), ipu / 2 + (along == 0 ? side : 0), 1e-9);
        assert_near(number(lines[i], 1), ipu % 2 + (across == 0 ? side : 0), 1e-9);
        assert_near(number(lines[i], 2), fabs(along) > 1 ? (along > 0 ? -0.4 : 0.4) : along, 1e-9);
        assert_near(number(lines[i], 3), across, 1e-9);
        assert_true(number(lines[i], 4) >= 0 && number(lines[i], 4) <= 100);
        most = fmax(most, number(lines[i], 4));
    }
    assert_near(most, 100, 1e-9);
    assert_non_null(strstr(d.finding, "ipu-pod16-resnet50-pipelined: copies between stages put "));
    assert_int_equal(lines_of(lines, "links-ipus"), 16);
    assert_string_equal(lines[5], "2,1,5");
}

static bool has_point(char **lines, size_t n, double intensity, double rate)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(number(lines[i], 0) / intensity - 1) < 1e-5 && fabs(number(lines[i], 1) / rate - 1) < 1e-5)
            return true;
    return false;
}

/* Every operation that multiplies has a point, equal ones share it, and nothing else has one. */
static void check_points(const struct simulation *sim, char **lines, size_t n)
{
    double (*seen)[2] = arena_alloc(&a, sim->graph->n_ops * sizeof *seen);
    size_t n_points = 0;
    for (uint32_t s = 0; s < sim->plan.n_stages; s++) {
        const struct stage_plan *stage = &sim->plan.stages[s];
        for (uint32_t i = 0; i < sim->graph->n_ops; i++) {
            const struct op_plan *p = stage->compiled->op_plans[i];
            uint32_t layer = sim->graph->ops[i].layer_id;
            if (layer < stage->first_layer || layer - stage->first_layer >= stage->n_layers || p->mac == 0 || p->exchanged_bytes == 0)
                continue;
            double intensity = 2 * (double)p->mac / (double)p->exchanged_bytes;
            double rate = 2e-12 * (double)p->mac / (double)op_plan_cycles(p) * sim->machine->chip.clock_hz;
            assert_true(has_point(lines, n, intensity, rate));
            size_t k = 0;
            while (k < n_points && (seen[k][0] != intensity || seen[k][1] != rate))
                k++;
            seen[k][0] = intensity, seen[k][1] = rate;
            n_points += k == n_points;
        }
    }
    assert_int_equal(n, n_points);
}

/* No point is above its roof, which is what the chip's units and exchange allow. */
static void check_roofline(const struct drawing_source *from, const struct simulation *sim, char **lines)
{
    const struct chip *c = &sim->machine->chip;
    struct drawing d = drawn("roofline", from);
    double peak = chip_peak_flop_per_s(c, chip_mac_per_cycle(c, TYPE_FP16, sim->plan.request.partials)) / 1e12;
    double slope = (double)c->n_tiles * (double)c->exchange_bytes_per_cycle * c->clock_hz / 1e12, percent;
    size_t n = lines_of(lines, "roofline"), near = 0;
    for (size_t i = 0; i < n; i++) {
        double intensity = number(lines[i], 0), rate = number(lines[i], 1), limit = fmin(peak, intensity * slope);
        assert_true(rate > 0 && rate <= limit * (1 + 1e-6) && isnan(number(lines[i], 2)) && isnan(number(lines[i], 7)));
        near += rate > limit / 2;
    }
    assert_true(n > 20);
    check_points(sim, lines, n);
    assert_int_equal(sscanf(d.finding, "%lf", &percent), 1);
    assert_near(percent, 100 * (double)near / (double)n, 0.51);
    assert_int_equal(lines_of(lines, "roofline-roofs"), 3);
    assert_near(number(lines[0], 2), slope, 1e-6 * slope);
    assert_near(number(lines[1], 1), peak / slope, 1e-6 * peak / slope);
    assert_near(number(lines[1], 2), peak, 1e-6 * peak);
    assert_near(number(lines[2], 1), 6 * peak / slope, 1e-6 * 6 * peak / slope);
    assert_near(number(lines[2], 2), peak, 1e-6 * peak);
}

/* 9 micro-batches in rows of 8 accumulations, each cell as the simulator gives it; the finding names the fastest that
 * fits. */
static void check_map(const struct drawing_source *from, char **lines)
{
    static const unsigned micro_batches[] = { 1, 2, 4, 8, 12, 16, 20, 24, 32 }, accumulations[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
    struct drawing d = drawn("map", from);
    double most = 0;
    const char *best = "";
    assert_int_equal(lines_of(lines, "map"), 72);
    for (size_t i = 0; i < 72; i++) {
        const char *sets[] = { arena_printf(&a, "parallel.micro_batch=%u", micro_batches[i % 9]),
                               arena_printf(&a, "parallel.gradient_accumulation=%u", accumulations[i / 9]) };
        struct simulation sim = {0};
        struct result r;
        bool good = simulator_run(from->simulator, &sim, &r, pipelined, sets, 2, NULL);
        const char *cell = !good ? "NaN,refused" : !r.fits ? "NaN,does not fit"
                         : arena_printf(&a, "%.8g,%.0f", r.throughput_samples_per_s, r.throughput_samples_per_s);
        assert_string_equal(lines[i], arena_printf(&a, "%zu,%zu,%s", i % 9, i / 9, cell));
        if (good && r.fits && r.throughput_samples_per_s > most) {
            most = r.throughput_samples_per_s;
            best = arena_printf(&a, "at most %.0f (micro-batch %u, accumulation %u)", most, micro_batches[i % 9], accumulations[i / 9]);
        }
        if (good)
            simulation_free(&sim);
    }
    assert_true(most > 0);
    assert_non_null(strstr(d.finding, best));
}

/* With more IPUs than can be drawn, or no copies between stages, there is no picture of links. */
static void links_of_no_run(void **state)
{
    const struct result runs_alone[] = {
        { .id = "too-large", .ipus = 65, .fits = true, .step_time_s = 1, .breakdown_s = { [PART_STAGE_COPY] = 0.9 } },
        { .id = "no-copies", .ipus = 64, .fits = true, .step_time_s = 1 },
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct results one = { .items = (struct result *)&runs_alone[i], .n = 1 };
        const struct drawing_source from = { &one, &figures, &references, simulator() };
        struct drawing d = drawn("links", &from);
        assert_null(d.finding);
        assert_string_equal(d.missing, "no pipelined training run on at most 64 IPUs");
    }
}

/* The run that the figure is about; the others are no recipes, so that choosing one of them fails. */
static void the_run_is_chosen(void **state)
{
#define COPIES(share) .step_time_s = 1, .breakdown_s = { [PART_STAGE_COPY] = (share) }
    const struct result links[] = {
        { .id = "too-large", .ipus = 65, .fits = true, COPIES(0.9) }, { .id = "no-copies", .ipus = 4, .fits = true, COPIES(0) },
        { .id = "fewer-copies", .ipus = 16, .fits = true, COPIES(0.2) }, { .id = pipelined, .ipus = 64, .fits = true, COPIES(0.3) },
        { .id = "too-large-too", .ipus = 128, .fits = true, COPIES(0.8) }, { .id = "half-as-many", .ipus = 16, .fits = true, COPIES(0.15) },
        { .id = "a-smaller-share", .ipus = 16, .fits = true, .step_time_s = 4, .breakdown_s = { [PART_STAGE_COPY] = 0.8 } },
        { .id = "a-small-step", .ipus = 16, .fits = true, .step_time_s = 0.25, .breakdown_s = { [PART_STAGE_COPY] = 0.05 } },
        { .id = "no-fit", .ipus = 16, COPIES(0.8) }, { .id = "inference", .ipus = 16, .fits = true, .latency_s = 1, COPIES(0.8) },
    };
    const struct result waterfall[] = {
        { .id = "fewer", .ipus = 15, .fits = true, COPIES(0) }, { .id = "a-first-name", .ipus = 16, .fits = true, COPIES(0) },
        { .id = pipelined, .ipus = 16, .fits = true, COPIES(0) }, { .id = "b-name", .ipus = 16, .fits = true, COPIES(0) },
        { .id = "fewer-too", .ipus = 4, .fits = true, COPIES(0) },
    };
    const struct result map[] = {
        { .id = "z-last-name", .ipus = 16, .fits = true, COPIES(0) }, { .id = "copies", .ipus = 2, .fits = true, COPIES(0.1) },
        { .id = pipelined, .ipus = 16, .fits = true, COPIES(0) }, { .id = "larger", .ipus = 17, .fits = true, COPIES(0) },
        { .id = "copies-too", .ipus = 8, .fits = true, COPIES(0.1) },
    };
    const struct { const char *name; const struct result *runs; size_t n; } cases[] = {
        { "links", links, sizeof links / sizeof *links }, { "waterfall", waterfall, sizeof waterfall / sizeof *waterfall },
        { "map", map, sizeof map / sizeof *map },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct results list = { .items = (struct result *)cases[i].runs, .n = cases[i].n };
        struct drawing_source from = { &list, &figures, NULL, simulator() };
        struct drawing d = drawn(cases[i].name, &from);
        assert_non_null(d.finding);
        assert_non_null(strstr(d.finding, "ipu-pod16-resnet50-pipelined"));
    }
}

static void figures_of_one_run(void **state)
{
    struct simulation sim = {0};
    struct drawing_source from = simulated(&sim);
    char **lines = ARENA_ARRAY(&a, char *, 2000);
    (void)state;
    check_memory(&from, &sim, lines);
    check_waterfall(&from, lines);
    check_pipeline(&from, lines);
    check_links(&from, &sim, lines);
    check_roofline(&from, &sim, lines);
    check_map(&from, lines);
    simulation_free(&sim);
}

/* The same with smaller micro-batches: the finding has whole per cents, which a single run might hide. */
static void pipelines_of_smaller_batches(void **state)
{
    static const char own[] = "micro_batch = 16";
    static const unsigned batches[] = { 12, 8, 4 };
    char *text, *path = arena_printf(&a, "%s/%s.ini", folder(), pipelined), **lines = ARENA_ARRAY(&a, char *, 2000);
    (void)state;
    assert_true(read_text_file(&text, NULL, arena_printf(&a, "%s/%s.ini", paths.recipes_dir, pipelined), 1 << 16, &a, &err));
    char *at = strstr(text, own);
    assert_non_null(at);
    *at = 0;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%smicro_batch = %u%s", text, batches[i], at + sizeof own - 1);
        fclose(f);
        struct model_paths there = paths;
        struct simulator s;
        struct result r = { .id = pipelined };
        struct results one = { .items = &r, .n = 1 };
        there.recipes_dir = folder();
        simulator_open(&s, &there);
        check_pipeline(&(struct drawing_source){ .results = &one, .simulator = &s }, lines);
        simulator_close(&s);
        unlink(path);
    }
}

static bool is_faster(const struct result *x, const struct result *y)
{
    return x->throughput_samples_per_s > y->throughput_samples_per_s;
}

/* A run that does not fit, has no step or has a latency is not drawn, however fast; of equal ones the first is. */
static void the_run_that_is_drawn(void **state)
{
    struct result items[] = {
        { .fits = false, .step_time_s = 0.5, .throughput_samples_per_s = 90 }, { .fits = true, .throughput_samples_per_s = 80 },
        { .fits = true, .step_time_s = 0.5, .latency_s = 0.25, .throughput_samples_per_s = 70 },
        { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 30 }, { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 60 },
        { .fits = true, .step_time_s = 0.25, .throughput_samples_per_s = 60 }, { .fits = true, .step_time_s = 0.5, .throughput_samples_per_s = 50 },
    };
    const struct results all = { .items = items, .n = sizeof items / sizeof *items }, none = { .items = items, .n = 3 };
    const struct drawing_source from = { .results = &all }, of_none = { .results = &none };
    (void)state;
    assert_ptr_equal(drawing_run(&(struct drawing){ .from = &from }, is_faster), &items[4]);
    assert_null(drawing_run(&(struct drawing){ .from = &of_none }, is_faster));
}

/* The caption names the point with the least extra work among those that keep at most a fifth of the activations. */
static void recomputation(void **state)
{
    static const char *const models[] = { "resnet50", "resnet152", "densenet121" };
    struct drawing d = drawn("recompute", NULL);
    char **lines = ARENA_ARRAY(&a, char *, 2000);
    const char *expected = "Down to a fifth of the activation memory: ";
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        size_t n = lines_of(lines, arena_printf(&a, "recompute-%s", models[m]));
        double least = INFINITY;
        assert_true(n > 3);
        for (size_t i = 0; i < n; i++)
            if (number(lines[i], 1) <= 20)
                least = fmin(least, number(lines[i], 2));
        expected = isfinite(least) ? arena_printf(&a, "%s%s%s with %.0f %% more work", expected, m ? ", " : "", models[m], least)
                                   : arena_printf(&a, "%s%s%s never gets there", expected, m ? ", " : "", models[m]);
    }
    assert_string_equal(d.finding, expected);
}

static int end(void **state)
{
    char **left;
    size_t n;
    (void)state;
    if (list_folder(&left, &n, folder(), ".csv", &a, &err))
        for (size_t i = 0; i < n; i++)
            unlink(arena_printf(&a, "%s/%s.csv", folder(), left[i]));
    rmdir(folder());
    simulator_close(simulator());
    arena_free(&a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_runs), cmocka_unit_test(scaling_of_both_as_text), cmocka_unit_test(sizes_of_a_scaling), cmocka_unit_test(scaling_by_hand), cmocka_unit_test(small_gaps_are_told), cmocka_unit_test(one_size_has_no_gap), cmocka_unit_test(one_round_has_its_gap), cmocka_unit_test(servers_without_published_runs), cmocka_unit_test(a_panel_without_points_is_none), cmocka_unit_test(labels), cmocka_unit_test(the_run_is_chosen), cmocka_unit_test(links_of_no_run),
        cmocka_unit_test(figures_of_one_run), cmocka_unit_test(pipelines_of_smaller_batches),
        cmocka_unit_test(recomputation), cmocka_unit_test(the_run_that_is_drawn),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, end);
}
