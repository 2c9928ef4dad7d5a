/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_trust.c - an answer compared with published runs: how near they are, what is beyond them, and the shares of fitted
 * and assumed values. */
#include "system-model/output/output.h"
#include "tests/study/three_groups.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static struct err err;

/* ---- an answer ------------------------------------------------------------------------------------- */

static struct validity validity_with(const char *recipe, const char *override)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct track_record record;
    struct validity v = { .low = -1 };
    simulator_open(&simulator, &paths);
    assert_true(track_record_open(&record, "results/validity", &a, &err));
    struct simulation_request q = { .recipe = recipe, .overrides = &override, .n_overrides = override ? 1 : 0, .simulator = &simulator };
    assert_true(simulator_run(&simulator, &sim, &r, recipe, q.overrides, q.n_overrides, &err));
    validity_of(&v, &record, &sim, &r, &q, &a);
    assert_true(v.foreign ? !validity_has_interval(&v) : v.low > 0 && v.low < validity_expected(&v) && validity_expected(&v) < v.high);
    simulation_free(&sim);
    simulator_close(&simulator);
    return v;
}

static void near_and_far(void **state)
{
    (void)state;
    const char *bert = "mlperf-v2.0-closed-bow-pod64-bert-large";
    struct validity near = validity_with(bert, NULL), longer = validity_with(bert, "data.sequence_length=32"),
                    far = validity_with("vendor-ipu-m2000-bert-large-infer-b1", NULL);
    assert_true(near.near && near.n_extrapolates == 0);
    assert_string_equal(near.nearest[0].reference->configuration, bert);
    assert_near(near.distance, 0, 0);
    assert_true(near.nearest[0].distance <= near.nearest[1].distance && near.nearest[1].distance <= near.nearest[2].distance);
    assert_true(longer.distance > 1 && longer.expected.half_width > near.expected.half_width);
    assert_near(validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "data.sequence_length=32").distance, 0, 0);     /* images have none */
    assert_false(far.near);
    assert_true(log(far.high / far.low) > log(near.high / near.low));
    arena_free(&a);
}

/* Names that find the same sheet are one framework; others are not. */
static void a_framework_by_any_of_its_names(void **state)
{
    static const char *const names[] = { "TensorFlow 1", "tensorflow-1", "tensorflow-1-2.1.0", "TENSORFLOW-1.15" };
    const char *recipe = "mlperf-v1.1-closed-ipu-pod64-resnet50";
    struct validity own = validity_with(recipe, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct validity v = validity_with(recipe, arena_printf(&a, "recipe.framework=%s", names[i]));
        assert_near(v.distance, 0, 0);
        assert_int_equal(v.n_extrapolates, 0);
        assert_near(v.low, own.low, 0);
        assert_near(v.high, own.high, 0);
    }
    assert_true(validity_with(recipe, "recipe.framework=PaddlePaddle").distance >= 1);
    arena_free(&a);
}

/* A run at distance 2 is still near: one name, and four doublings of a quarter each. One doubling more is not. */
static void near_to_the_last_doubling(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct reference only = { .configuration = "only", .group = "only", .role = FIGURE_VALIDATE };
    struct track_record record = { .references = { .items = &only, .n = 1 } };
    (void)state;
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    for (int doublings = 4; doublings <= 5; doublings++) {
        struct validity v;
        only.at = properties_of(&sim, &a);
        only.at.name[BY_FRAMEWORK] = "another";
        only.at.number[BY_IPUS] = ldexp(only.at.number[BY_IPUS], doublings);
        record.spread.base = doublings == 4 ? 0 : 0.03;
        validity_of(&v, &record, &sim, &r, NULL, &a);
        assert_true((v.low > 0) == (doublings == 5) && (v.high > 0) == (doublings == 5));          /* an interval needs a spread */
        assert_near(v.distance, doublings == 4 ? 2 : 2.25, 0);
        assert_true(v.same_kind && v.near == (doublings == 4) && validity_is_guess(&v) == (doublings == 5));
    }
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Nine in ten of a normal error lie within 1.6449 deviations. Without its group it is judged by the others, and without any by the fit's error. */
static void a_deviation_of_the_step(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    (void)state;
    make_three();
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    const struct properties at = properties_of(&sim, &a);
    three[0].group = properties_group(&at, &a);
    const struct references others = { .items = three + 1, .n = 2 };
    const struct track_record all = { .references = three_groups, .spread = { .base = 0.04, .far = 0.2, .vector = 0.5, .nine_in_ten = 1.9 } }, none = { .references.n = 0 };
    assert_near(step_deviation(&sim, &all, false), spread_expect_at(&all.spread, &three_groups, &at).half_width / 1.6448536269514722, 1e-8);
    assert_near(step_deviation(&sim, &all, true), spread_expect_at(&all.spread, &others, &at).half_width / 1.6448536269514722, 1e-8);
    assert_near(step_deviation(&sim, &none, false), sim.fitted.throughput_error, 0);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Five published runs that are equally far: the first three, in the table's order. */
static void of_equally_near_the_first(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct validity v;
    struct reference five[5];
    const struct track_record record = { .references = { .items = five, .n = 5 } };
    (void)state;
    for (size_t i = 0; i < 5; i++)
        five[i] = (struct reference){ .configuration = "alike", .group = "alike", .role = FIGURE_VALIDATE, .at = one };
    five[1].at = with(BY_MODE, "infer");                               /* farther */
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    validity_of(&v, &record, &sim, &r, NULL, &a);
    assert_int_equal(v.n_nearest, 3);
    assert_ptr_equal(v.nearest[0].reference, &five[0]);
    assert_ptr_equal(v.nearest[1].reference, &five[2]);
    assert_ptr_equal(v.nearest[2].reference, &five[3]);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

static bool extrapolates(const struct validity *v, const char *name)
{
    for (size_t i = 0; i < v->n_extrapolates; i++)
        if (text_is(v->extrapolates[i], name))
            return true;
    return false;
}

static void what_lies_outside_is_named(void **state)
{
    (void)state;
    struct validity v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=64");
    assert_true(extrapolates(&v, "micro_batch"));
    assert_false(extrapolates(&v, "ipus") || extrapolates(&v, "chip"));
    v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "machine.clock_hz=2e9");
    assert_int_equal(v.n_extrapolates, 0);
    assert_string_equal(v.foreign, "machine.clock_hz=2e9");
    assert_false(v.near);
    assert_false(validity_has_interval(&v));            /* no error is known there */
    assert_near(validity_uncertainty(&v), 0, 0);
    v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "machine.tdp_w=");
    assert_true(v.foreign == NULL && v.near);
    v = validity_with("mlperf-v1.1-closed-ipu-pod16-resnet50", "machine.board_power_w=999");
    assert_true(v.foreign == NULL && v.near);           /* watts say nothing of the speed */
    /* the host's share is more than in any run of the kind */
    struct validity own = validity_with("vendor-c600-resnet50-b64-poprt", NULL);
    assert_near(own.unlike, 0, 0);
    v = validity_with("vendor-c600-resnet50-b64-poprt", "framework.calls_overlap=no");
    assert_true(extrapolates(&v, "host_share") && !extrapolates(&v, "compute_share"));
    assert_true(v.unlike > 0.3 && log(v.high / v.low) > 1.5 * log(own.high / own.low));
    v = validity_with("prediction-bow-pod16-vit-b16", NULL);
    assert_true(extrapolates(&v, "workload"));
    assert_false(v.same_kind || v.near);
    /* no plan that uses the AMP fits the stem's convolution of 64 images; published runs are never beyond themselves */
    v = validity_with("vendor-c600-resnet50-b64-poprt", NULL);
    assert_true(v.n_extrapolates == 0 && v.off_amp_share < 0.01 && v.most_off_amp_share > 0.05);
    v = validity_with("vendor-c600-resnet50-b64-poprt", "parallel.available_memory=0.13");
    assert_true(extrapolates(&v, "off_amp_share") && v.off_amp_share > 0.7);
    arena_free(&a);
}

/* A share that exceeds the only published run's by a twentieth of the step is still inside. */
static void a_share_is_outside_by_a_twentieth(void **state)
{
    struct simulator simulator;
    struct simulation sim = {0};
    struct result r;
    struct reference only = { .configuration = "only", .group = "only", .role = FIGURE_VALIDATE };
    const struct track_record record = { .references = { .items = &only, .n = 1 } };
    struct validity v;
    (void)state;
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL, 0, &err));
    for (int more = 0; more < 2; more++) {
        only.at = properties_of(&sim, &a);
        only.at.number[BY_SHARES + CLASS_COMPUTE] -= more ? 0.0501 : 0.0499;
        only.at.number[BY_SHARES + CLASS_EXCHANGE] += 0.4;
        validity_of(&v, &record, &sim, &r, NULL, &a);
        assert_int_equal(v.n_extrapolates, more);
    }
    assert_string_equal(v.extrapolates[0], "compute_share");
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* If every step is a call, more of the time is in proportion to its fitted length; if links are slow, to their assumed
 * efficiency. */
static void shares_follow_the_values(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    struct validity v = validity_with(recipe, NULL);
    assert_true(v.from_fitted_share >= 0 && v.from_assumed_share > 0 && v.from_fitted_share + v.from_assumed_share < 1);
    struct validity slow = validity_with(recipe, "hosts.steps_per_call=1");
    assert_true(slow.from_fitted_share > v.from_fitted_share + 0.1);
    slow = validity_with(recipe, "machine.link_bytes_per_s=1e8");
    assert_true(slow.from_assumed_share > v.from_assumed_share + 0.1);
    struct validity wide = validity_with("mlperf-v2.0-closed-bow-pod64-bert-large", NULL);     /* calls, 6 %, and compute sets add up */
    assert_true(wide.from_fitted_share > 0.07);
    arena_free(&a);
}

/* Each step of PopART's BERT is a call, whose time is fitted, whether listed first or last. Sourced values, of the
 * recipe or beyond the list, do not count. */
static void a_share_by_hand(void **state)
{
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-bert-large";
    struct simulator simulator;
    struct simulation_request q = { .recipe = recipe, .simulator = &simulator };
    struct simulation sim;
    struct result r;
    (void)state;
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, recipe, NULL, 0, &err));
    const char *unexplained_call_s = arena_printf(&a, "%.10g", sim.fitted.times.unexplained_call_s);
    struct input call = { .name = "machine.unexplained_call_s", .value = unexplained_call_s, .unit = "s", .origin = ORIGIN_FITTED },
                 clock = { .name = "machine.clock_hz", .value = "1.325e9", .unit = "Hz", .origin = ORIGIN_SOURCED },
                 wait = { .name = "machine.host_latency_s", .value = "8.83e-6", .unit = "s", .origin = ORIGIN_FITTED };
    struct input items[][3] = { { call, clock, wait }, { clock, call, wait }, { call, wait, clock } };
    const size_t n[] = { 2, 2, 1 };
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct inputs inputs = { .items = items[i], .n = n[i] };
        assert_near(inputs_share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), sim.fitted.times.unexplained_call_s / r.step_time_s, 1e-8);
        assert_near(inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), 0, 0);
    }
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* The steps per call, as if they were assumed: half as many give twice the calls. The time of calls is in proportion to
 * their fitted length and to this number, which together exceed all of the time, and are scaled to all of it. */
static void shares_of_a_product_are_all_at_most(void **state)
{
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    static const char *const sets[] = { "hosts.steps_per_call=", "parallel.micro_batch=1" };
    const struct track_record record = { .references.n = 0 };
    struct simulator simulator;
    struct simulation sim;
    struct result r;
    struct inputs inputs;
    struct validity v;
    (void)state;
    simulator_open(&simulator, &paths);
    struct simulation_request q = { .recipe = recipe, .overrides = sets, .n_overrides = 2, .simulator = &simulator };
    assert_true(simulator_run(&simulator, &sim, &r, recipe, sets, 2, &err));
    for (size_t i = 0; i < sim.framework.n_sheets; i++) {
        struct sheet *s = &sim.framework.sheets[i];
        for (size_t k = 0; k < s->n_rows; k++)
            if (text_is(s->rows[k].key, "steps_per_call"))
                s->rows[k].source = "assumed: a test";
    }
    inputs_list_sheets(&inputs, &sim, &a);
    const double fitted = inputs_share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), assumed = inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a);
    assert_true(fitted + assumed > 1.1);
    validity_of(&v, &record, &sim, &r, &q, &a);
    assert_near(v.from_fitted_share, fitted / (fitted + assumed), 1e-12);
    assert_near(v.from_assumed_share, assumed / (fitted + assumed), 1e-12);
    /* nothing is published */
    assert_true(v.n_nearest == 0 && !v.near && !v.same_kind && v.n_extrapolates == 1 && extrapolates(&v, "workload"));
    assert_near(v.distance, -1, 0);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* The shares for fixed splits agree with those of a compiler that may choose again, to a percentage point. In the last
 * recipe they are 2.7 points apart: with other splits, other results of its backward pass lie alike and need not move.
 * They do not depend on what was simulated before. */
static void shares_are_of_the_chosen_plan(void **state)
{
    (void)state;
    const char *recipes[] = { "mlperf-v1.1-closed-ipu-pod64-bert-large", "vendor-ipu-m2000-bert-large-infer-b1",
                              "mlperf-v2.0-open-bow-pod64-transformer-transducer", "vendor-ipu-pod16-efficientnet-b4-g16-tf1",
                              "mlperf-v1.1-closed-ipu-pod16-resnet50" };
    const size_t n_recipes = sizeof recipes / sizeof *recipes;
    struct simulator simulator;
    size_t n_differ = 0;
    simulator_open(&simulator, &paths);
    for (size_t i = 0; i < n_recipes; i++) {
        struct simulation_request q = { .recipe = recipes[i], .simulator = &simulator };
        struct simulation sim;
        struct result r;
        struct inputs inputs;
        assert_true(simulator_run(&simulator, &sim, &r, recipes[i], NULL, 0, &err));
        inputs_list(&inputs, &sim, &a);
        for (enum origin o = ORIGIN_FITTED; o <= ORIGIN_ASSUMED; o++) {
            struct inputs free_to_choose = { .items = inputs.items, .n = inputs.n };
            double share = inputs_share_of_origin(o, &inputs, &q, &a), chosen_again = inputs_share_of_origin(o, &free_to_choose, &q, &a);
            assert_near(share, chosen_again, i + 1 < n_recipes ? 0.01 : 0.03);
            assert_true(inputs_share_of_origin(o, &inputs, &q, &a) == share);
            n_differ += share != chosen_again;
        }
        struct validity cold = validity_with(recipes[i], NULL);
        assert_true(cold.from_assumed_share == inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a));
        simulation_free(&sim);
    }
    assert_true(n_differ > 1);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Layers balanced within the memory are placed differently with given splits, as these leave memory aside. The shares
 * are relative to the same request unchanged, and near those of two samples, which leave room (5 and 33 %). */
static void shares_where_memory_placed_layers(void **state)
{
    static const char *const sets[] = { "parallel.layers_per_ipu=", "parallel.micro_batch=4" };
    const char *recipe = "mlperf-v1.0-closed-ipu-pod16-bert-large";
    struct simulator simulator;
    struct simulation sim;
    struct result r, same;
    struct inputs inputs;
    (void)state;
    simulator_open(&simulator, &paths);
    struct simulation_request q = { .recipe = recipe, .overrides = sets, .n_overrides = 2, .simulator = &simulator }, step = q;
    assert_true(simulator_run(&simulator, &sim, &r, recipe, sets, 2, &err));
    inputs_list_sheets(&inputs, &sim, &a);
    step.options = (struct simulator_options){ .step_only = true, .splits_of = &sim };
    assert_true(result_with(&same, &step, NULL, 0, &err));
    assert_true(same.step_time_s < 0.997 * r.step_time_s);
    assert_near(inputs_share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), 0.045, 0.015);
    assert_near(inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), 0.32, 0.03);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* Assumed values of a framework count with the sheets' values, each by its largest change of the step, faster or slower. */
static void what_a_framework_does_is_counted(void **state)
{
    static const char *const others[] = { "framework.rearrange_before_reduce=no", "framework.callback_bytes_per_s=3.5e9", "framework.even_slices=yes" };
    const char *recipe = "vendor-bow-pod64-bert-large-ph2-tf1";
    struct simulator simulator;
    struct simulation sim;
    struct result r, other;
    struct inputs inputs, of_machine;
    double want = 0;
    (void)state;
    simulator_open(&simulator, &paths);
    struct simulation_request q = { .recipe = recipe, .simulator = &simulator }, step = q;
    assert_true(simulator_run(&simulator, &sim, &r, recipe, NULL, 0, &err));
    inputs_list_sheets(&inputs, &sim, &a);
    of_machine = inputs;
    of_machine.n = 0;
    while (!inputs.items[of_machine.n].of_recipe)
        of_machine.n++;
    step.options = (struct simulator_options){ .step_only = true, .splits_of = &sim };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_true(result_with(&other, &step, &others[i], 1, &err));
        assert_true(other.step_time_s != r.step_time_s);
        want += fabs(1 - other.step_time_s / r.step_time_s);
    }
    assert_true(want > 1e-4);
    assert_near(inputs_share_of_origin(ORIGIN_ASSUMED, &inputs, &q, &a), inputs_share_of_origin(ORIGIN_ASSUMED, &of_machine, &q, &a) + want, 1e-12);
    assert_near(inputs_share_of_origin(ORIGIN_FITTED, &inputs, &q, &a), inputs_share_of_origin(ORIGIN_FITTED, &of_machine, &q, &a), 0);
    simulation_free(&sim);
    simulator_close(&simulator);
    arena_free(&a);
}

/* 0.1 samples/s, 90 % less to 175 % more; the nearest run 4 % too fast when left out, and runs like this one 5.1 %. */
static void a_judgement_as_text(void **state)
{
    const struct reference near = { .configuration = "one", .left_out = log(1.04) };
    const struct result r = { .throughput_samples_per_s = 0.1 };
    struct validity v = { .throughput = 0.1, .low = 0.01, .high = 0.275, .distance = 0.75, .unlike = 0.31, .nearest = { { &near, 0.75 } }, .n_nearest = 1, .near = true,
                          .same_kind = true, .from_fitted_share = 0.12, .from_assumed_share = 0.03, .expected = { .bias = 0.05, .half_width = 0.3 }, .differs = { "chip", "ipus" }, .n_differs = 2 };
    char *text;
    (void)state;
    DOCUMENTED(text, validity_document(d, &v, &r));
    assert_string_equal(text, "trust: 90 % interval 0.010 to 0.28 samples/s (x 0.1 to x 2.8); expect 0.095, as published runs like it are predicted 5.1 % too fast\n"
                              "  12 % of the time rests on fitted values, 3 % on assumed ones\n"
                              "  nearest published run: one, which differs in chip, ipus (distance 0.75); it is predicted 4.0 % too fast where the fit has not seen it\n");
    free(text);
    v.as_if_fitted = true;
    DOCUMENTED(text, validity_document(d, &v, &r));
    assert_non_null(strstr(text, "trust: as if it fitted: 90 % interval 0.010 to 0.28 samples/s"));
    free(text);
    v.as_if_fitted = false;
    json_t *json = validity_json(&v);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"of\":\"throughput_samples_per_s\",\"as_if_fitted\":false,\"level\":0.9,\"expected\":0.0951229,\"differs\":[\"chip\",\"ipus\"],\"guess\":false,"
                              "\"likeness\":\"program and chip known\",\"interval_low\":0.01,\"interval_high\":0.275,\"near\":true,\"foreign\":null,"
                              "\"nearest\":[{\"configuration\":\"one\",\"error\":0.04,\"distance\":0.75}],\"extrapolates\":[],"
                              "\"unlike_share\":0.31,\"open_readings\":[],\"not_set\":[],"
                              "\"from_fitted_share\":0.12,\"from_assumed_share\":0.03,\"from_sourced_share\":0.85}");
    free(text);
    json_decref(json);
    struct validity foreign = v, close = v;
    close.low = 0.09, close.high = 0.105, close.n_differs = 0, close.expected.bias = 0.004;
    DOCUMENTED(text, validity_document(d, &close, &r));
    assert_string_equal(text, "trust: 90 % interval 0.0900 to 0.1050 samples/s (-10, +5 %)\n  12 % of the time rests on fitted values, 3 % on assumed ones\n"
                              "  nearest published run: one; it is predicted 4.0 % too fast where the fit has not seen it\n");
    free(text);
    foreign.foreign = "machine.n_tiles=9", foreign.low = foreign.high = 0, foreign.near = false, foreign.largest_error = log(1.25);
    DOCUMENTED(text, validity_document(d, &foreign, &r));
    assert_string_equal(text, "trust: no interval, as no published run has machine.n_tiles=9; where runs are published, errors reach a factor of 1.2\n  12 % of the time rests on "
                              "fitted values, 3 % on assumed ones\n"
                              "  nearest published run: one, which differs in chip, ipus (distance 0.75); it is predicted 4.0 % too fast where the fit has not seen it\n");
    free(text);
    v.near = v.same_kind = false;
    v.from_fitted_share = v.from_assumed_share = NAN;
    v.expected.bias = -log(2);
    v.extrapolates[v.n_extrapolates++] = "micro-batch 9";
    v.extrapolates[v.n_extrapolates++] = "128 IPUs";
    v.off_amp_share = 0.8, v.most_off_amp_share = 0.13;
    DOCUMENTED(text, validity_document(d, &v, &r));
    assert_string_equal(text, "trust: A GUESS, as no published run is of this kind: 90 % interval 0.010 to 0.28 samples/s (x 0.1 to x 2.8); expect 0.20, as published runs "
                              "like it are predicted a factor of 2 too slow\n"
                              "  nearest published run: one, which differs in chip, ipus (distance 0.75); it is predicted 4.0 % too fast where the fit has not seen it\n"
                              "  beyond everything published: micro-batch 9, 128 IPUs\n"
                              "  products that do not use the AMP take 80 % of a micro-batch's time, at most 13 % in any published run, so the interval is not tested "
                              "there; a larger parallel.available_memory may bring plans that use it\n");
    free(text);
    v.high = v.low = 0;
    DOCUMENTED(text, validity_document(d, &v, &r));
    assert_non_null(strstr(text, "trust: unknown"));
    free(text);
    json = validity_json(&v);
    assert_true(json_is_null(json_object_get(json, "interval_low")) && json_is_null(json_object_get(json, "expected")) && json_is_false(json_object_get(json, "guess")));
    assert_true(json_is_null(json_object_get(json, "from_sourced_share")));     /* an unknown share is not 0 */
    json_decref(json);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(near_and_far), cmocka_unit_test(a_framework_by_any_of_its_names), cmocka_unit_test(near_to_the_last_doubling),
    cmocka_unit_test(of_equally_near_the_first), cmocka_unit_test(a_deviation_of_the_step),
    cmocka_unit_test(what_lies_outside_is_named), cmocka_unit_test(a_share_is_outside_by_a_twentieth), cmocka_unit_test(shares_follow_the_values), cmocka_unit_test(a_share_by_hand),
    cmocka_unit_test(shares_of_a_product_are_all_at_most), cmocka_unit_test(shares_are_of_the_chosen_plan),
    cmocka_unit_test(shares_where_memory_placed_layers), cmocka_unit_test(what_a_framework_does_is_counted),
    cmocka_unit_test(a_judgement_as_text),
};

TAP_MAIN(tests)
