/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_drawings.c - the data of figures, from runs made up, whose numbers can be followed by hand (tests/golden/drawings.txt).
 */
#include "tests/figures/drawn.h"
#include "results/figures/drawings.h"

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

/* Nine in ten of 0.9, 1.1 and 1.5 are from 0.9 + 0.1 x 0.2 = 0.92 to 1.1 + 0.9 x 0.4 = 1.46; of 0.5 and 4 from 0.675 to 3.825. */
#define ERROR_OF(ratio) ((ratio) > 1 ? (ratio) - 1 : 1 - (ratio))
#define SEEN(recipe_id, kind, then, now) \
    { .figure = &(struct figure){ .recipe = recipe_id }, .novelty = kind, .error_then = ERROR_OF(then), .error_again = ERROR_OF(then), .error_now = ERROR_OF(now), \
      .ratio_then = then, .ratio_now = now }
static const struct first_seen_rows first_seen = { .n = 5, .items = (struct first_seen[]){
    SEEN("mlperf-a", NOVELTY_KNOWN, 1.5, 1.3), SEEN("vendor-b", NOVELTY_NEW_FAMILY, 4.0, 2.0), SEEN("mlperf-c", NOVELTY_KNOWN, 0.9, 0.95), SEEN("mlperf-d", NOVELTY_KNOWN, 1.1, 1.02),
    SEEN("vendor-e", NOVELTY_NEW_FAMILY, 0.5, 1.0) } };

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
    const struct drawing_source from = { &runs, &figures, &first_seen, NULL, NULL };
    const struct drawing_source nothing = { &(struct results){0}, &(struct figures){0}, NULL, NULL, NULL };
    (void)state;
    struct drawing kinds = drawn("kinds", &from), scaling = drawn("scaling", &from), times = drawn("time-to-train", &from);
    struct drawing breakdown = drawn("breakdown", &from);
    const char *text = arena_printf(&a, "%s%s%s%s", WRITTEN("kinds", &kinds, "kinds", "kinds-bands"),
                                    WRITTEN("scaling", &scaling, "scaling-resnet50", "scaling-bert-large"),
                                    WRITTEN("time-to-train", &times, "time-to-train-resnet", "time-to-train-bert"),
                                    WRITTEN("breakdown", &breakdown, "breakdown"));
    assert_golden(text, "tests/golden/drawings.txt", &a);
    static const char *const named[] = { "kinds", "scaling", "time-to-train", "breakdown", "waterfall", "memory", "roofline", "pipeline", "links", "map" };
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
    const struct drawing_source from = { &all, &figures, NULL, NULL, NULL };
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
    const struct track_record record = { 0 };
    const struct drawing_source from = { &all, &(struct figures){0}, NULL, NULL, &record };
    const struct drawing_source known = { &all, &(struct figures){ .items = &one, .n = 1 }, NULL, NULL, &record };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        of[i] = (struct result){ .id = arena_printf(&a, "%d", (int)sizes[i].ipus), .system = "toy", .workload = "net", .ipus = sizes[i].ipus,
                                 .throughput_samples_per_s = sizes[i].rate, .step_time_s = 0.5 };
        of[i].breakdown_s[PART_ALL_REDUCE] = i ? 0 : 0.125;
        of[i].guess = i ? "no" : "yes";
    }
    struct drawing d = drawn("servers", &from);
    assert_string_equal(WRITTEN("servers", &d, "servers"),
                        "== servers: Predicted, not measured, efficiency: net at 90 % on 64 IPUs of toy (1 of 3 a guess: no published run is near)\n-- servers\n"
                        "workload,series,chips,samples,efficiency,all-reduce\nnet,1,16,1600,100,0\nnet,1,32,3200,100,0\nnet,1,64,5760,90,25\n");
    of[1].guess = NULL;                 /* a machine unlike all has no interval */
    d = drawn("servers", &from);
    assert_string_equal(d.finding, "Predicted, not measured, efficiency: net at 90 % on 64 IPUs of toy (1 of 3 a guess: no published run is near; 1 of 3 without an interval)");
    assert_non_null(WRITTEN("servers", &d, "servers"));
    of[0].guess = of[1].guess = "no";
    d = drawn("servers", &from);
    assert_string_equal(d.finding, "Predicted, not measured, efficiency: net at 90 % on 64 IPUs of toy");
    assert_non_null(WRITTEN("servers", &d, "servers"));
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
        const struct drawing_source from = { &one, &figures, NULL, NULL, NULL };
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
        const struct drawing_source from = { &all, &both, NULL, NULL, NULL };
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
    const struct drawing_source from = { &all, &figures, NULL, NULL, NULL };
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_runs), cmocka_unit_test(scaling_of_both_as_text), cmocka_unit_test(sizes_of_a_scaling),
        cmocka_unit_test(scaling_by_hand), cmocka_unit_test(small_gaps_are_told), cmocka_unit_test(one_size_has_no_gap),
        cmocka_unit_test(one_round_has_its_gap), cmocka_unit_test(servers_without_published_runs), cmocka_unit_test(a_panel_without_points_is_none),
        cmocka_unit_test(labels),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, end);
}
