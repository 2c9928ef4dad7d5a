/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_trust_readings.c - intervals over several readings by hand, and their text and JSON. */
#include "system-model/output/output.h"
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/trust.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena a;
static struct err err;

/* ---- intervals ------------------------------------------------------------------------------ */

static struct open_reading reading(double ratio, double half)
{
    return (struct open_reading){ .key = "precision.partials", .taken = "fp16", .alternative = "fp32", .throughput_ratio = ratio, .expected = { .half_width = half },
                                  .fits = true };
}

static struct log_interval interval(struct open_reading *items, size_t n, double half)
{
    return open_readings_interval(&(struct open_readings){ .items = items, .n = n }, (struct expectation){ .half_width = half });
}

static void intervals_by_hand(void **state)
{
    struct open_reading two[] = { reading(0.25, 0.2), reading(7, 0.3) }, within = reading(1.01, 0.05), narrow = reading(1.2, 0.01);
    (void)state;
    struct log_interval x = interval(NULL, 0, 0.1);
    assert_true(x.low == -0.1 && x.high == 0.1);                /* no other reading: as it was, to the bit */
    x = interval(&within, 1, 0.1);
    assert_true(x.low == -0.1 && x.high == 0.1);                /* nor one inside it */
    x = interval(two, 1, 0.1);
    assert_near(x.low, log(0.25) - 0.2, 1e-12);
    assert_near(x.high, 0.1, 0);
    x = interval(two, 2, 0.1);
    assert_near(x.low, log(0.25) - 0.2, 1e-12);
    assert_near(x.high, log(7) + 0.3, 1e-12);
    x = interval(&narrow, 1, 0.1);
    assert_near(x.low, -0.1, 0);                                /* the answer's own interval stays inside */
    assert_near(x.high, log(1.2) + 0.01, 1e-12);
    two[1].expected.half_width = 0;                                      /* refused: it does not count */
    two[1].throughput_ratio = NAN;
    x = interval(two, 2, 0.1);
    assert_near(x.low, log(0.25) - 0.2, 1e-12);
    assert_near(x.high, 0.1, 0);
    x = interval(two, 2, 0);
    assert_near(x.low, log(0.25), 1e-12);                       /* nothing to judge by: the span of the readings alone */
    assert_near(x.high, 0, 0);
    /* runs like the answer are 10 % too fast, and like the reading 20 % too slow */
    two[0].expected = (struct expectation){ .bias = -0.2, .half_width = 0.3 };
    x = open_readings_interval(&(struct open_readings){ .items = two, .n = 1 }, (struct expectation){ .bias = 0.1, .half_width = 0.05 });
    assert_near(x.low, log(0.25) + 0.2 - 0.3, 1e-12);
    assert_near(x.high, -0.1 + 0.05, 1e-12);
}

/* ---- of recipes ------------------------------------------------------------------------------ */

static struct result result_of(struct simulator *s, const char *recipe, const char *set)
{
    struct simulation sim;
    struct result r;
    assert_true(simulator_run(s, &sim, &r, recipe, &set, set != NULL, &err));
    simulation_free(&sim);
    return r;
}

static struct validity judged(struct result *r, const char *recipe, const char *const *sets, size_t n, bool asks)
{
    struct simulator s;
    struct simulation sim;
    struct track_record record;
    struct validity v;
    simulator_open(&s, &paths);
    struct simulation_request q = { .recipe = recipe, .overrides = sets, .n_overrides = n, .simulator = &s };
    assert_true(track_record_open(&record, "results/validity", &a, &err));
    assert_true(simulator_run(&s, &sim, r, recipe, sets, n, &err));
    validity_of(&v, &record, &sim, r, asks ? &q : NULL, &a);
    simulation_free(&sim);
    simulator_close(&s);
    return v;
}

/* Each reading is the simulation with that key set, and has that answer's own width. */
static void readings_are_simulated(void **state)
{
    const char *recipe = "vendor-ipu-pod16-resnet50-pipelined", *half = "precision.partials=fp16";
    struct simulator s;
    struct result r;
    (void)state;
    struct validity v = judged(&r, recipe, NULL, 0, true);
    assert_int_equal(v.open.n, 5);         /* and two rates at which its one process may be fed */
    assert_string_equal(v.open.items[0].key, "precision.partials");
    assert_string_equal(v.open.items[0].taken, "fp32");
    assert_string_equal(v.open.items[1].taken, "2,4,4,6");
    simulator_open(&s, &paths);
    struct result other = result_of(&s, recipe, half);
    assert_near(v.open.items[0].throughput_ratio, other.throughput_samples_per_s / r.throughput_samples_per_s, 0);
    assert_true(v.open.items[0].fits && !v.open.items[0].refused);
    simulator_close(&s);
    struct validity settled = judged(&other, recipe, &half, 1, true);
    assert_int_equal(settled.open.n, 4);
    assert_near(v.open.items[0].expected.half_width, settled.expected.half_width, 1e-12);
    assert_near(v.open.items[0].expected.bias, settled.expected.bias, 1e-12);
    /* without a request they are listed only, and the interval is that of the reading taken */
    struct validity listed = judged(&r, recipe, NULL, 0, false);
    assert_int_equal(listed.open.n, 5);
    assert_true(isnan(listed.open.items[0].throughput_ratio));
    assert_near(listed.high, r.throughput_samples_per_s * exp(listed.expected.half_width - listed.expected.bias), 1e-9 * listed.high);
    assert_true(v.high > listed.high && v.low <= listed.low);
    arena_free(&a);
}

/* The plan of a product leaves each slice of its loss on an eighth of the tiles. If slices lay on all tiles, the program would be faster by more than
 * two plans of one product may differ, so the interval spans both. If a recipe states where slices lie, nothing is open. */
static void slices_on_a_part_of_the_tiles(void **state)
{
    const char *sliced = "vendor-ipu-pod4-gpt2-small-gbs1024-pytorch", *even = "framework.even_slices=yes", *stated = "framework.even_slices=no";
    struct simulator s;
    struct result r;
    (void)state;
    struct validity v = judged(&r, sliced, NULL, 0, true);
    size_t last = v.open.n - 1, n_others = v.open.n - 1;
    assert_string_equal(v.open.items[last].key, "framework.even_slices");
    simulator_open(&s, &paths);
    struct result other = result_of(&s, sliced, even);
    simulator_close(&s);
    assert_near(v.open.items[last].throughput_ratio, other.throughput_samples_per_s / r.throughput_samples_per_s, 0);
    assert_true(v.open.items[last].throughput_ratio > 1.1 && v.high >= r.throughput_samples_per_s * v.open.items[last].throughput_ratio);
    assert_int_equal(judged(&r, sliced, &even, 1, true).open.n, n_others);
    assert_int_equal(judged(&r, sliced, &stated, 1, true).open.n, n_others);
    arena_free(&a);
}

/* A torus that is slower than its ladder opens both forms of its exchanges, and the interval spans them; one that is not opens nothing, and nor does a stated form. */
static void a_torus_slower_than_its_ladder(void **state)
{
    const char *wide = "vendor-bow-pod128-bert-large-ph2-popart", *ladder = "machine.domain_topology=ladder", *torus = "machine.domain_topology=torus", *stated = "framework.torus_exchanges=link-by-link";
    struct simulator s;
    struct result r;
    (void)state;
    struct validity v = judged(&r, wide, NULL, 0, true);
    assert_int_equal(v.open.n, 2);
    assert_string_equal(v.open.items[0].key, "machine.domain_topology");
    assert_string_equal(v.open.items[0].alternative, "ladder");
    assert_string_equal(v.open.items[1].key, "framework.torus_exchanges");
    simulator_open(&s, &paths);
    struct result other = result_of(&s, wide, ladder);
    simulator_close(&s);
    assert_near(v.open.items[0].throughput_ratio, other.throughput_samples_per_s / r.throughput_samples_per_s, 0);
    assert_true(v.open.items[0].throughput_ratio > 1.0005 && v.high >= r.throughput_samples_per_s * v.open.items[0].throughput_ratio);
    assert_int_equal(judged(&r, "mlperf-v2.0-closed-bow-pod256-bert-large", NULL, 0, true).open.n, 2);        /* its recipe has the other form already */
    assert_int_equal(judged(&r, wide, &ladder, 1, true).open.n, 0);
    assert_int_equal(judged(&r, wide, &torus, 1, true).open.n, 0);
    assert_int_equal(judged(&r, wide, &stated, 1, true).open.n, 0);
    assert_int_equal(judged(&r, wide, NULL, 0, false).open.n, 0);
    assert_int_equal(judged(&r, "vendor-ipu-pod64-gpt-j-popxl", NULL, 0, true).open.n, 0);
    arena_free(&a);
}

/* A default, and readings that are refused: they are shown, and nothing else changes. */
static void a_reading_that_is_refused(void **state)
{
    const char *sets[] = { "open.parallel.layers_per_ipu=3", "open.parallel.io_tiles=64", "open.parallel.stash_type=fp32" };
    struct result r;
    (void)state;
    struct validity v = judged(&r, "mlperf-v2.0-closed-bow-pod16-bert-large", sets, 3, true);
    assert_int_equal(v.open.n, 3);
    assert_string_equal(v.open.items[0].refused, "--set parallel.layers_per_ipu=3: has 1 stage for 8 IPUs a replica; want at least one an IPU");
    assert_true(isnan(v.open.items[0].throughput_ratio) && v.open.items[0].expected.half_width == 0);
    assert_string_equal(v.open.items[1].taken, "0");
    assert_true(v.open.items[1].throughput_ratio > 0);
    assert_string_equal(v.open.items[2].refused, "workloads/recipes/mlperf-v2.0-closed-bow-pod16-bert-large.ini: stash_type: fp32 is wider than what is "
                                                 "computed; want fp16 or fp8");
    arena_free(&a);
}

/* The value taken is as written, the default, the framework sheet's, or none; also for keys that change nothing here. */
static void what_is_taken(void **state)
{
    const char *sets[] = { "parallel.available_memory=", "open.framework.merge_buffer_bytes=0", "open.framework.steps_per_call=3", "open.data.input_type=fp16",
                           "open.recipe.approximate=yes", "open.parallel.gradient_accumulation=12", "open.parallel.available_memory=0.3", "open.hosts.steps_per_call=9" };
    static const char *const taken[] = { "52428800", "72", "uint8", "no", "10", "", "72" };
    struct result r;
    (void)state;
    struct validity v = judged(&r, "mlperf-v2.0-closed-bow-pod16-resnet50", sets, 8, false);
    assert_int_equal(v.open.n, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(v.open.items[i].taken, taken[i]);
    v = judged(&r, "vendor-ipu-pod4-gpt2-small-pytorch", NULL, 0, false);
    assert_string_equal(v.open.items[1].key, "optimizer.state_bytes_per_param");        /* its 0 cannot be given, and says nothing alone */
    assert_non_null(v.open.items[1].zero_means);
    assert_ptr_equal(strstr(v.open.items[1].zero_means, "for each moment of the optimizer"), v.open.items[1].zero_means);
    arena_free(&a);
}

/* The recipe does not say how often this program returns to the host: calls of 1 step, as on the sheet, are two thirds
 * of the step. */
static void calls_that_nobody_has_set(void **state)
{
    const char *recipe = "vendor-bow-pod16-resnet50-tf1", *none = "hosts.steps_per_call=", *one = "hosts.steps_per_call=1", *all = "hosts.steps_per_call=0",
               *by_framework[] = { none, "framework.steps_per_call=1" };
    struct simulator s;
    struct result r, r_set;
    (void)state;
    struct validity unset = judged(&r, recipe, &none, 1, true), set = judged(&r_set, recipe, &one, 1, true);
    assert_near(r.step_time_s, r_set.step_time_s, 0);
    assert_int_equal(set.open.n, 0);
    assert_int_equal(judged(&r_set, recipe, by_framework, 2, true).open.n, 0);
    assert_int_equal(unset.open.n, 1);
    assert_string_equal(unset.open.items[0].key, "hosts.steps_per_call");
    assert_string_equal(unset.open.items[0].taken, "1");
    assert_string_equal(unset.open.unset_taken_from, "tensorflow-1-2.1.0");
    simulator_open(&s, &paths);
    double without = result_of(&s, recipe, all).step_time_s;
    assert_near(unset.open.items[0].throughput_ratio, r.step_time_s / without, 1e-12);
    assert_near(unset.open.items[0].unset_share, 1 - without / r.step_time_s, 0.01);
    double call_s = unset.open.items[0].unset_share * r.step_time_s;
    assert_true(unset.high > set.high);
    simulator_close(&s);
    /* an open reading says more than a sheet */
    struct validity open = judged(&r, recipe, (const char *[]){ none, "open.hosts.steps_per_call=7" }, 2, true);
    assert_int_equal(open.open.n, 1);
    assert_string_equal(open.open.items[0].alternative, "7");
    assert_near(open.open.items[0].unset_share, 0, 0);
    struct validity sheet = judged(&r, recipe, (const char *[]){ none, "open.framework.steps_per_call=7" }, 2, true);
    assert_int_equal(sheet.open.n, 1);
    assert_string_equal(sheet.open.items[0].key, "framework.steps_per_call");
    /* a call takes the same time of a longer step, until it is less than a twentieth, and the sheet's value is good enough */
    struct validity longer = judged(&r, recipe, (const char *[]){ none, "parallel.gradient_accumulation=90" }, 2, true);
    assert_near(longer.open.items[0].unset_share, call_s / r.step_time_s, 1e-6);
    assert_int_equal(judged(&r, recipe, (const char *[]){ none, "parallel.gradient_accumulation=270" }, 2, true).open.n, 0);
    assert_true(call_s < 0.05 * r.step_time_s);
    assert_int_equal(judged(&r, "vendor-bow-pod16-bert-large-ph1-tf1", NULL, 0, true).open.n, 0);
    arena_free(&a);
}

/* A model whose size lies between those whose calls take unexplained time and those whose calls do not: with it is the other reading. */
static void calls_of_a_middling_model(void **state)
{
    const char *recipe = "vendor-bow-pod256-efficientnet-b4-g16-tf1", *set = "framework.unexplained_parameters=1", *known = "framework.unexplained_parameters=0";
    struct result r, charged, free_of_it;
    (void)state;
    struct validity v = judged(&r, recipe, NULL, 0, true), with = judged(&charged, recipe, &set, 1, false), without = judged(&free_of_it, recipe, &known, 1, false);
    size_t i = 0;
    while (i < v.open.n && !text_is(v.open.items[i].key, "framework.unexplained_parameters"))
        i++;
    assert_true(i < v.open.n);
    assert_string_equal(v.open.items[i].alternative, "1");
    assert_near(v.open.items[i].throughput_ratio, r.step_time_s / charged.step_time_s, 1e-12);
    assert_near(free_of_it.step_time_s, r.step_time_s, 0);
    assert_int_equal(with.open.n, v.open.n - 1);
    assert_int_equal(without.open.n, v.open.n - 1);
    arena_free(&a);
}

/* No row of a GC2 shows unexplained calls: without them is the other reading, unless the recipe says which. A GC200 has no such reading. */
static void calls_of_another_generation(void **state)
{
    const char *recipe = "vendor-dss8440-bert-base-popart", *known = "framework.unexplained_parameters=0";
    struct result r, free_of_it;
    (void)state;
    struct validity v = judged(&r, recipe, NULL, 0, true), without = judged(&free_of_it, recipe, &known, 1, false);
    size_t i = 0;
    while (i < v.open.n && !text_is(v.open.items[i].key, "framework.unexplained_parameters"))
        i++;
    assert_true(i < v.open.n);
    assert_string_equal(v.open.items[i].alternative, "0");
    assert_near(v.open.items[i].throughput_ratio, r.step_time_s / free_of_it.step_time_s, 1e-12);
    assert_true(v.open.items[i].throughput_ratio > 1.05);
    assert_int_equal(without.open.n, v.open.n - 1);
    arena_free(&a);
}

/* One process of PyTorch would feed 16 replicas with 40,000 images of 150 kB a second, which no loader has been seen to do; eight share that. */
static void one_process_may_bound_the_step(void **state)
{
    const char *sets[] = { "hosts.sample_s=0", "hosts.instances=1", "framework.host_data_bytes_per_s=2e9" }, *recipe = "vendor-bow-pod16-resnet50-pytorch";
    struct result r;
    (void)state;
    struct validity own = judged(&r, recipe, sets, 1, false), v = judged(&r, recipe, sets, 2, false), set = judged(&r, recipe, sets, 3, false);
    assert_int_equal(v.open.n, own.open.n + 2);
    assert_string_equal(v.open.items[v.open.n - 2].key, "framework.host_data_bytes_per_s");
    assert_string_equal(v.open.items[v.open.n - 2].alternative, "1.4e9");
    assert_string_equal(v.open.items[v.open.n - 1].alternative, "5e9");
    assert_int_equal(set.open.n, own.open.n);
    arena_free(&a);
}

/* A request for inference whose images are copied in the call, as PyTorch's sheet has it. */
static void a_copy_that_may_not_be(void **state)
{
    const char *sets[] = { "recipe.mode=infer", "parallel.gradient_accumulation=40", "data.input_type=fp16", "framework.conversion_s_per_byte=0" };
    struct result r, without;
    (void)state;
    struct validity v = judged(&r, "vendor-bow-pod16-resnet50-pytorch", sets, 3, true), set = judged(&without, "vendor-bow-pod16-resnet50-pytorch", sets, 4, false);
    size_t i = 0;
    while (i < v.open.n && !text_is(v.open.items[i].key, "framework.conversion_s_per_byte"))
        i++;
    assert_true(i < v.open.n && v.open.items[i].unset_share > 0.05);
    assert_near(v.open.items[i].throughput_ratio, r.step_time_s / without.step_time_s, 1e-12);
    assert_int_equal(set.open.n, v.open.n - 1);
    arena_free(&a);
}

/* ---- printed --------------------------------------------------------------------------------- */

static char *printed(const struct open_readings *o)
{
    char *text;
    DOCUMENTED(text, open_readings_document(d, o));
    return text;
}

static void readings_as_text(void **state)
{
    struct open_reading items[] = { reading(0.861, 0.1), reading(1.0004, 0.1), reading(NAN, 0), reading(1.0462, 0.1), reading(NAN, 0), reading(3.3, 0.1) };
    items[1].alternative = "bf16";
    items[2].key = "data.sequences_per_pack";
    items[2].alternative = "2";
    items[2].refused = "no";
    items[3].key = items[4].key = "parallel.io_tiles";
    items[3].fits = false;
    items[5].key = "hosts.steps_per_call";
    items[5].taken = "1";
    items[5].unset_share = 0.693;
    items[3].taken = items[4].taken = "";
    const struct open_readings o = { .items = items, .n = 6, .unset_taken_from = "tensorflow-1" };
    (void)state;
    char *text = printed(&o);
    assert_string_equal(text,
        "  open: precision.partials is not stated, taken as fp16; with fp32 14 % slower; with bf16 as fast\n"
        "  open: data.sequences_per_pack is not stated, taken as fp16; with 2 is refused: no\n"
        "  open: parallel.io_tiles is not stated, none is taken; with fp32 4.6 % faster (does not fit); with fp32, not simulated\n"
        "  open: hosts.steps_per_call is not set: the 1 of tensorflow-1 is taken, and calls are 69 % of the step; all steps in one call (fp32): 230 % faster; "
        "set it as the program has it, in [hosts] or with --set hosts.steps_per_call=STEPS\n");
    free(text);
    items[5].key = "framework.host_data_bytes_per_s";
    items[5].alternative = "5e9";
    text = printed(&(struct open_readings){ .items = items + 5, .n = 1, .unset_taken_from = "pytorch" });
    assert_string_equal(text,
        "  open: framework.host_data_bytes_per_s is not set: the 1 of pytorch is taken, and the host may bound the step: to hand its input over is 69 % of "
        "the step; at another rate of loaders (5e9): 230 % faster; set it to the rate of the program's loader\n");
    free(text);
    items[5].key = "hosts.steps_per_call";
    text = printed(&(struct open_readings){ .items = items, .n = 1 });          /* only the first of two readings of one key is there */
    assert_string_equal(text, "  open: precision.partials is not stated, taken as fp16; with fp32 14 % slower\n");
    free(text);
    json_t *json = json_pack("[o, o]", open_readings_json(&(struct open_readings){ .items = items + 1, .n = 3 }), open_readings_unset_json(&o));
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text,
        "[[{\"key\":\"precision.partials\",\"taken\":\"fp16\",\"taken_means\":null,\"alternative\":\"bf16\",\"throughput_ratio\":1.0004,\"fits\":true,\"refused\":null},"
        "{\"key\":\"data.sequences_per_pack\",\"taken\":\"fp16\",\"taken_means\":null,\"alternative\":\"2\",\"throughput_ratio\":null,\"fits\":null,\"refused\":\"no\"},"
        "{\"key\":\"parallel.io_tiles\",\"taken\":null,\"taken_means\":null,\"alternative\":\"fp32\",\"throughput_ratio\":1.0462,\"fits\":false,\"refused\":null}],"
        "[{\"key\":\"hosts.steps_per_call\",\"taken\":\"1\",\"from\":\"tensorflow-1\",\"share_of_step\":0.693,\"remedy\":\"hosts.steps_per_call is not set: "
        "set it as the program has it, in [hosts] or with --set hosts.steps_per_call=STEPS\"}]]");
    free(text);
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(intervals_by_hand), cmocka_unit_test(readings_are_simulated), cmocka_unit_test(a_torus_slower_than_its_ladder), cmocka_unit_test(slices_on_a_part_of_the_tiles), cmocka_unit_test(a_reading_that_is_refused), cmocka_unit_test(what_is_taken), cmocka_unit_test(calls_that_nobody_has_set),
    cmocka_unit_test(calls_of_a_middling_model), cmocka_unit_test(calls_of_another_generation), cmocka_unit_test(one_process_may_bound_the_step), cmocka_unit_test(a_copy_that_may_not_be),
    cmocka_unit_test(readings_as_text),
};

TAP_MAIN(tests)
