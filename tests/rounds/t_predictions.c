/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_predictions.c - predictions of published results: the file and its refusals, errors and baselines by hand, the
 * roofline by hand, the convergence model with a submitter left out.
 */
#include "tests/check.h"
#include "results/rounds/predictions.h"
#include <jansson.h>

#define HEAD "round,division,submitter,system,benchmark,global_batch,samples_per_s,minutes,low,high,use\n"

/* ---- the table of results: two A100 systems of S in v1.0, one in v1.1, an H100 system of T in v2.1 ------------- */

static struct round_result row(const char *round, const char *submitter, const char *system, const char *accelerator, double n, double rate, double minutes)
{
    return (struct round_result){ .round = round, .division = "closed", .submitter = submitter, .system = system, .benchmark = "resnet",
        .accelerator = accelerator, .accelerators = n, .nodes = 1, .global_batch = 7 * n, .samples_per_s = rate, .minutes = minutes,
        .converged_at = NAN, .reference_at = NAN, .date = "", .availability = "", .vendor = "", .interconnect = "", .network = "", .framework = "",
        .smallest_system = "", .unit = "epochs", .ruleset = "", .throughput_method = "", .note = "", .path = system };
}

static struct round_results four(struct arena *a)
{
    static const char a100[] = "NVIDIA A100-SXM4-80GB", h100[] = "NVIDIA H100-SXM5-80GB";
    struct round_results r = { ARENA_ARRAY(a, struct round_result, 4), 4, 4 };
    r.items[0] = row("v1.0", "S", "s8", a100, 8, 1000, 30);
    r.items[1] = row("v1.0", "S", "s24", a100, 24, 2700, 11);
    r.items[2] = row("v1.1", "S", "s16", a100, 16, 2200, 15);
    r.items[3] = row("v2.1", "T", "t8", h100, 8, 3500, 9);
    return r;
}

static struct judged_predictions judge_text(const char *rows, struct arena *a)
{
    struct err err = { "" };
    struct accelerator_table accelerators;
    struct predictions *p = ARENA_NEW(a, struct predictions);
    struct round_results *r = ARENA_NEW(a, struct round_results);
    struct judged_predictions j;
    const char *text = arena_printf(a, HEAD "%s", rows);
    *r = four(a);
    assert_true(accelerators_load(&accelerators, "workloads/convergence", a, &err));
    if (!predictions_load(p, temp_file(text, strlen(text), ".csv"), a, &err))
        print_error("%s\n", err.msg);
    predictions_judge(&j, p, r, &accelerators, a);
    return j;
}

/* s16 of v1.1: 16 / 8 is as far as 24 / 16 is not: 24 is nearer, 2700 * 16 / 24 = 1800; both baselines agree. t8 of
 * v2.1: 8 x 989e12 is nearest to 24 x 312e12: 2700 * 7912 / 7488; T has no earlier round. */
static void test_baselines_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct judged_predictions j = judge_text("v1.1,closed,S,s16,resnet,112,2420,,2000,3000,blind\n"
                                             "v2.1,closed,T,t8,resnet,,,10.5,,,blind\nv1.0,closed,S,s8,resnet,,900,,,,blind\n", &a);
    assert_int_equal(j.n_scored, 3);
    assert_string_equal(j.unverified, "A100 SXM 80 GB, H100 SXM");
    assert_near(j.items[0].guesses[BASELINE_NEAREST], 1800, 1e-9);
    assert_near(j.items[0].guesses[BASELINE_OWN_LAST], 1800, 1e-9);
    assert_near(j.items[1].guesses[BASELINE_NEAREST], 11 * (24 * 312.0) / (8 * 989.0), 1e-9);
    assert_true(isnan(j.items[1].guesses[BASELINE_OWN_LAST]));
    assert_true(isnan(j.items[2].guesses[BASELINE_NEAREST]));       /* no round before v1.0 */
    arena_free(&a);
}

static double cell_of(const char *csv, const char *start, int column)
{
    const char *at = strstr(csv, start);
    assert_non_null(at);
    for (; column > 0; column--)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

/* A number of the groups' row of all benchmarks. */
static double group_number(const json_t *doc, const char *predictor, const char *use, const char *member)
{
    size_t i;
    json_t *g;
    json_array_foreach(json_object_get(doc, "groups"), i, g)
        if (text_is(json_string_value(json_object_get(g, "predictor")), predictor) && text_is(json_string_value(json_object_get(g, "use")), use)
            && text_is(json_string_value(json_object_get(g, "metric")), "samples/s") && text_is(json_string_value(json_object_get(g, "benchmark")), "all"))
            return json_number_value(json_object_get(g, member));
    return NAN;
}

/* Errors of samples/s: 2420 / 2200 = +10 %, 900 / 1000 = -10 %, 3325 / 3500 = -5 %; one of two intervals holds. The
 * guess for s16 is 1800 / 2200, that for t8 is 2700 x 7912 / 7488 / 3500. */
static void test_scores_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct judged_predictions j = judge_text("v1.1,closed,S,s16,resnet,112,2420,,2000,3000,blind\nv1.0,closed,S,s8,resnet,,900,,880,920,blind\n"
                                             "v2.1,closed,T,t8,resnet,,3325,,,,blind\nv1.0,closed,S,s24,resnet,168,2835,,,,fitted\n"
                                             "v1.0,closed,S,s24,resnet,100,,11,,,fitted\nv9.9,closed,S,s24,resnet,,,11,,,blind\n", &a);
    struct document d = { .arena = &a }, shown = { .arena = &a };
    char *json, *text;
    judged_predictions_document(&d, &j, "mine", false);
    PRINTED(json, document_write(f, FORMAT_JSON, &d));
    json_t *doc = json_loads(json, 0, NULL);
    double t8 = 2700 * (8 * 989.0) / (24 * 312.0) / 3500 - 1, s16 = 1800 / 2200.0 - 1;
    assert_near(group_number(doc, "mine", "blind", "n"), 3, 0);
    assert_near(group_number(doc, "mine", "blind", "mean"), 0.25 / 3, 1e-12);
    assert_near(group_number(doc, "mine", "blind", "median"), 0.1, 1e-12);
    assert_near(group_number(doc, "mine", "blind", "bias"), -0.05 / 3, 1e-12);
    assert_near(group_number(doc, "mine", "blind", "inside"), 0.5, 0);
    assert_near(group_number(doc, "mine", "blind", "width"), (1000 / 2420.0 + 40 / 900.0) / 2, 1e-12);
    assert_near(group_number(doc, "mine", "fitted", "mean"), 0.05, 1e-12);
    assert_near(group_number(doc, "nearest published row", "blind", "mean"), (fabs(t8) + fabs(s16)) / 2, 1e-12);
    assert_near(group_number(doc, "nearest published row", "blind", "predictor_mean"), 0.15 / 2, 1e-12);
    judged_predictions_document(&shown, &j, "mine", false);
    PRINTED(text, document_write(f, FORMAT_TEXT, &shown));
    assert_non_null(strstr(text, "4 of 6 predictions are scored; they cover 4 of 4 results."));
    assert_non_null(strstr(text, "global_batch is 100, the result's is 168"));
    assert_non_null(strstr(text, "not among the results"));
    json_decref(doc);
    free(json), free(text);
    arena_free(&a);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct { const char *rows, *message; } cases[] = {
        { "v1.0,closed,S,s8,resnet,,900,,,,guessed\n", ":2: use: 'guessed' is not one of: blind, seen, fitted" },
        { "v1.0,closed,S,s8,resnet,,900,30,,,seen\n", ":2: want either samples_per_s or minutes" },
        { "v1.0,closed,S,s8,resnet,,,,,,seen\n", ":2: want either samples_per_s or minutes" },
        { "v1.0,closed,S,s8,resnet,,-3,,,,seen\n", ":2: samples_per_s: -3 is outside 1e-12 to 1e+18" },
        { "v1.0,closed,S,s8,resnet,,900,,950,990,seen\n", ":2: low and high: want both, around the prediction, or neither" },
        { "v1.0,closed,S,s8,resnet,,900,,850,,seen\n", ":2: low and high: want both, around the prediction, or neither" },
        { "v1.0,closed,S,s8,resnet,,900,,,,seen\nv1.0,closed,S,s8,resnet,,901,,,,seen\n", ":3: predicts the same number as line 2" },
        { "v1.0,closed,S,s8,resnet,,900,,,,fitted\nv1.0,closed,S,s8,resnet,,,31,,,blind\n",
          ":3: use: blind, but line 2 says that the same result is fitted" },
        { "", "holds no prediction; want rows below the header" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err err = { "" };
        struct predictions p;
        const char *text = arena_printf(&a, HEAD "%s", cases[i].rows);
        assert_false(predictions_load(&p, temp_file(text, strlen(text), ".csv"), &a, &err));
        if (!strstr(err.msg, cases[i].message))
            print_error("%s\n", err.msg);
        assert_non_null(strstr(err.msg, cases[i].message));
        arena_free(&a);
    }
}

/* predictions_load() reads the same that predictions_write() wrote. */
static void test_written_and_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    struct predictions p = {0}, back;
    struct round_results r = four(&a);
    char *text, *again;
    prediction_add(&p, &r.items[1], false, 2600.5, 2000, 3000, USE_SEEN, false, &a);
    prediction_add(&p, &r.items[1], true, 10.25, NAN, NAN, USE_SEEN, true, &a);
    PRINTED(text, predictions_write(f, &p));
    assert_true(predictions_load(&back, temp_file(text, strlen(text), ".csv"), &a, &err));
    PRINTED(again, predictions_write(f, &back));
    assert_string_equal(again, text);
    free(text), free(again);
    arena_free(&a);
}

/* s8: batch 56, 7 images each. 459 launches of 5 us, 7 x 24.535e9 flop at 312e12 (memory: 7 x 1.33e8 bytes at 2.039e12
 * is less), a ring of 8 over NVLink at 3e11: 14 x 5 us + 7/4 x 2 x 25.557e6 / 3e11. */
static void test_roofline_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    struct accelerator_table accelerators;
    struct round_results r = four(&a);
    struct predictions p = {0};
    r.n = 1;
    assert_true(accelerators_load(&accelerators, "workloads/convergence", &a, &err));
    assert_true(roofline_predict(&p, &r, &accelerators, "workloads/convergence", &a, &err));
    double step = 459 * 5e-6 + 7 * 2.4535e10 / 3.12e14 + 14 * 5e-6 + 1.75 * 2 * 2.5557e7 / 3e11;
    assert_near(p.items[0].samples_per_s, 56 / step, 1e-6);
    r.items[0].nodes = 2;               /* the network's 2.5e10 instead of NVLink */
    p.n = 0;
    assert_true(roofline_predict(&p, &r, &accelerators, "workloads/convergence", &a, &err));
    assert_near(p.items[0].samples_per_s, 56 / (step + 1.75 * 2 * 2.5557e7 * (1 / 2.5e10 - 1 / 3e11)), 1e-6);
    r.items[0].division = "open";
    assert_false(roofline_predict(&(struct predictions){0}, &r, &accelerators, "workloads/convergence", &a, &err));
    assert_non_null(strstr(err.msg, "no closed result is of"));
    arena_free(&a);
}

/* BERT of v1.0 at a batch with reference points: S took 1.1 times the reference, T 1.3 times, U as long. With one
 * benchmark, the mean over benchmarks is the mean of the other two, so that intervals are t(0.95, 3) = 2.353 times the
 * root mean square of their logarithms; T lies outside its own. If U is held out, S has T alone, so t(0.95, 2) = 2.92,
 * T has S, and U both. By the median of
 * the others S would be predicted as sqrt(1.3), T as sqrt(1.1), U as sqrt(1.1 * 1.3). */
static void test_left_out_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct document d = { .arena = &a };
    const double reference = 2764498.666667;
    struct round_results r = four(&a);
    static const char *const submitters[] = { "S", "T", "U" };
    const double ratios[] = { 1.1, 1.3, 1 };
    char *text;
    r.n = 3;
    for (size_t i = 0; i < 3; i++) {
        r.items[i] = row("v1.0", submitters[i], submitters[i], "TPU", 8, 1, 1);
        r.items[i].benchmark = "bert", r.items[i].global_batch = 3072, r.items[i].converged_at = ratios[i] * reference;
    }
    const bool held_out[] = { false, false, true };
    convergence_left_out_document(&d, &r, NULL, "workloads/convergence");
    PRINTED(text, document_write(f, FORMAT_CSV, &d));
    const double mean = (1 - 1 / 1.1 + 1 - 1 / 1.3) / 3, s = log(1.1), t = log(1.3);
    const double half[] = { 2.353363 * t / sqrt(2), 2.353363 * s / sqrt(2), 2.353363 * sqrt((s * s + t * t) / 2) };     /* 0.44 0.16 0.47 */
    const double fewer[] = { 2.919986 * t, 2.919986 * s, half[2] };     /* 0.77 0.28 0.47 */
    assert_near(cell_of(text, "bert,", 2), 3, 0);
    assert_near(cell_of(text, "bert,", 4), mean, 1e-6);
    assert_near(cell_of(text, "bert,", 6), -mean, 1e-6);
    assert_near(cell_of(text, "bert,", 8), 3, 0);
    assert_near(cell_of(text, "bert,", 9), 2 / 3.0, 1e-6);
    assert_near(cell_of(text, "bert,", 10), 2 / 3.0, 1e-6);
    assert_near(cell_of(text, "bert,", 11), 2 * (sinh(half[0]) + sinh(half[1]) + sinh(half[2])) / 3, 1e-5);
    assert_near(cell_of(text, "all,", 11), cell_of(text, "bert,", 11), 0);
    assert_near(cell_of(text, "bert,", 12), (sqrt(1.3) / 1.1 - 1 + 1 - sqrt(1.1) / 1.3 + sqrt(1.1 * 1.3) - 1) / 3, 1e-6);
    free(text);
    d = (struct document){ .arena = &a };
    convergence_left_out_document(&d, &r, held_out, "workloads/convergence");
    PRINTED(text, document_write(f, FORMAT_CSV, &d));
    assert_near(cell_of(text, "bert,", 9), 1, 0);
    assert_near(cell_of(text, "bert,", 11), 2 * (sinh(fewer[0]) + sinh(fewer[1]) + sinh(fewer[2])) / 3, 1e-5);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_baselines_by_hand), cmocka_unit_test(test_scores_by_hand), cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_written_and_read), cmocka_unit_test(test_roofline_by_hand), cmocka_unit_test(test_left_out_by_hand),
};
TAP_MAIN(tests)
