/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_diff.c - the causes of a difference add up to it, key by key and sheet value by sheet value; and how they are printed. */
#include "tests/study/asked.h"

#include <jansson.h>

static void check_sums(const struct diff *d)
{
    struct diff_times sum = d->rest;
    for (size_t i = 0; i < d->n; i++) {
        sum.step_ps += d->causes[i].change.step_ps;
        sum.sample_fs += d->causes[i].change.sample_fs;
    }
    assert_true(sum.step_ps == d->whole.step_ps && sum.sample_fs == d->whole.sample_fs);
    assert_near((double)d->whole.step_ps, 1e12 * (d->b.step_time_s - d->a.step_time_s), 1.5);
    assert_true(d->rest.step_ps == 0 && d->rest.sample_fs == 0);        /* keys and values say everything */
    struct diff_parts p = diff_parts(&d->a, &d->b);
    int64_t parts = p.rounding_ps;
    for (int k = 0; k < N_PARTS; k++)
        parts += p.part_ps[k];
    assert_true(parts == p.whole_ps && llabs(p.rounding_ps) <= N_PARTS);
}

/* From 0.2 to 0.25 s per step and from 500 to 400 samples/s: a quarter more for both. 3 ps of the convolutions are lost
 * in rounding. */
static const char *micro_batch_4[] = { "parallel.micro_batch=4" };
static struct diff_cause causes[] = {
    { "parallel.micro_batch 3 -> 4", micro_batch_4, 1, { 30000000000, 300000000000 }, true, { 20000000000, 200000000000 } },
    { "one with the other", NULL, 0, { 15000000000, 150000000000 }, false, { 0, 0 } },
    { "optimizer.rate 1 -> 2", NULL, 0, { 0, 0 }, true, { 0, 0 } }, { "data.name x -> y", NULL, 0, { 0, 0 }, true, { 0, 0 } },
    { "of a sample", NULL, 0, { 0, 2000000 }, true, { 0, 2000000 } }, { "of a step", NULL, 0, { 3000, 0 }, true, { 3000, 0 } },
    { "alone on A", NULL, 0, { 0, 0 }, true, { 0, 7000 } }, { "alone a step", NULL, 0, { 0, 0 }, true, { 5000, 0 } },
};
static const struct diff slower = {
    .a = { .id = "slow", .system = "s", .step_time_s = 0.2, .throughput_samples_per_s = 500, .fits = true,
           .breakdown_s = { [PART_MATMUL] = 0.1, [PART_CONV] = 0.06, [PART_EXCHANGE] = 0.04 } },
    .b = { .id = "slower", .system = "s", .step_time_s = 0.25, .throughput_samples_per_s = 400,
           .breakdown_s = { [PART_MATMUL] = 0.13, [PART_CONV] = 0.05 - 3e-12, [PART_EXCHANGE] = 0.06, [PART_SYNC] = 0.01 } },
    .causes = causes, .n = 8, .whole = { 50000000000, 500000000000 }, .rest = { 5000000000, 50000000000 },
};

static void a_difference_as_text(void **state)
{
    char *text;
    (void)state;
    PRINTED(text, diff_write(f, FORMAT_TEXT, &slower));
    assert_string_equal(text,
        "A slow: 200.000 ms per step, 500 samples/s, fits\nB slower: 250.000 ms per step, 400 samples/s, does not fit\n"
        "B against A: +25.00 % time per step, +25.00 % time per sample\n\n"
        "causes, the largest first; order is that in which they are applied to A\n"
        "    per step  per sample   alone, on A  interaction  order\n"
        "  +30.000 ms   +0.300 ms    +20.000 ms   +10.000 ms      1  parallel.micro_batch 3 -> 4\n"
        "  +15.000 ms   +0.150 ms  not possible                   2  one with the other\n"
        "   +5.000 ms   +0.050 ms                                    not stated by any key or value\n"
        "  +50.000 ms   +0.500 ms                                    sum\n"
        "  too small to show: of a sample, of a step, alone on A, alone a step\n"
        "  no effect on the step: optimizer.rate 1 -> 2, data.name x -> y\n\n"
        "slower: what the step is spent on, mean of the IPUs; the largest change first\n"
        "  +30.000 ms  matmul    100.000 ->  130.000 ms\n"
        "  +20.000 ms  exchange   40.000 ->   60.000 ms\n"
        "  -10.000 ms  conv       60.000 ->   50.000 ms\n"
        "  +10.000 ms  sync        0.000 ->   10.000 ms\n"
        "  +50.000 ms  sum       200.000 ->  250.000 ms\n");
    free(text);
}

static void a_difference_in_a_line(void **state)
{
    char *text;
    (void)state;
    PRINTED(text, diff_print_parts_line(f, &slower.a, &slower.b));
    assert_string_equal(text, "slower: step +25 %: matmul +15, exchange +10, conv -5, others +5\n");
    free(text);
    PRINTED(text, diff_print_parts_line(f, &slower.b, &slower.b));
    assert_string_equal(text, "slower: step +0 %\n");
    free(text);
    /* Parts with equal changes keep their order. */
    const struct result before = { .id = "x", .step_time_s = 0.1, .breakdown_s = { [PART_CONV] = 0.02, [PART_NORM] = 0.02, [PART_SYNC] = 0.06 } },
                        after = { .id = "y", .step_time_s = 0.1, .breakdown_s = { [PART_CONV] = 0.03, [PART_NORM] = 0.01, [PART_SYNC] = 0.06 } };
    PRINTED(text, diff_print_parts_line(f, &before, &after));
    assert_string_equal(text, "y: step +0 %: conv +10, norm -10\n");
    free(text);
}

static void a_difference_as_json(void **state)
{
    (void)state;
    json_t *json = differing_json(&slower), *cause = json_array_get(json_object_get(json, "causes"), 0);
    assert_near(json_number_value(json_object_get(cause, "step_time_s")), 0.03, 1e-15);
    assert_near(json_number_value(json_object_get(cause, "sample_time_s")), 3e-4, 1e-15);
    assert_near(json_number_value(json_object_get(json_object_get(cause, "alone"), "step_time_s")), 0.02, 1e-15);
    assert_near(json_number_value(json_object_get(json_object_get(cause, "interaction"), "step_time_s")), 0.01, 1e-15);
    assert_near(json_number_value(json_object_get(json_object_get(cause, "interaction"), "sample_time_s")), 1e-4, 1e-15);
    assert_int_equal(json_array_size(json_object_get(cause, "set")), 1);
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(json, "causes"), 1), "interaction")));
    assert_near(json_number_value(json_object_get(json_object_get(json, "parts"), "conv")), -0.010000000003, 1e-15);
    assert_near(json_number_value(json_object_get(json_object_get(json, "parts"), "rounding")), 3e-12, 1e-18);
    json_decref(json);
}

/* PODBENCH_ALL_PAIRS=1: every recipe with the next one; else one in nineteen. */
static void neighbours_add_up(void **state)
{
    (void)state;
    char **ids;
    size_t n;
    assert_true(list_folder(&ids, &n, paths.recipes_dir, ".ini", &a, &err));
    for (size_t i = 0; i + 1 < n; i += getenv("PODBENCH_ALL_PAIRS") ? 1 : 19) {
        struct simulation_request x = ask(ids[i], NULL, 0), y = ask(ids[i + 1], NULL, 0);
        struct diff d;
        assert_true(diff_simulations(&d, &x, &y, &a, &err));
        check_sums(&d);
    }
    arena_free(&a);
}

/* Progress before each cause that is found: how many of how many. */
struct told { size_t n, done[4], of[4]; };

static void tell(void *user, const char *what, size_t done, size_t of)
{
    assert_string_equal(what, "");
    struct told *t = user;
    assert_true(t->n < 4);
    t->done[t->n] = done;
    t->of[t->n++] = of;
}

/* Two independent causes, and their order. */
static void causes_are_told_apart(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    const char *const sets[] = { "machine.host_latency_s=20e-6", "parallel.gradient_accumulation=7" };
    struct simulation_request x = ask(recipe, NULL, 0), y = ask(recipe, sets, 2);
    struct told told = { .n = 0 };
    struct diff d;
    x.watch = (struct watch){ tell, &told };
    assert_true(diff_simulations(&d, &x, &y, &a, &err));
    assert_int_equal(told.n, 2);
    assert_true(told.done[0] == 0 && told.of[0] == 2 && told.done[1] == 1 && told.of[1] == 2);
    check_sums(&d);
    assert_int_equal(d.n, 2);
    assert_string_equal(d.causes[0].sets[0], "parallel.gradient_accumulation=7");
    assert_string_equal(d.causes[1].what, "machine.host_latency_s 8.83e-6 -> 20e-6");
    assert_near((double)d.causes[1].change.step_ps, (7 + 2 / 80.0) * 11.17e6, 6e3);          /* 7 fetches a step, two latencies a call of 80 steps */
    assert_true(d.causes[0].possible_alone && d.causes[0].alone.step_ps == d.causes[0].change.step_ps);   /* the first has none before it */
    arena_free(&a);
}

static void changes_that_need_each_other_go_together(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    const char *const sets[] = { "parallel.replicas=32", "machine.n_ipus=32", "machine.ipus_per_domain=32" };
    struct simulation_request x = ask(recipe, NULL, 0), y = ask(recipe, sets, 3);
    struct diff d;
    assert_true(diff_simulations(&d, &x, &y, &a, &err));
    check_sums(&d);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.causes[0].n_sets, 2);            /* domains of 16 without a gateway: 32 IPUs want one of 32 */
    assert_string_equal(d.causes[0].what, "machine.n_ipus 16 -> 32 with machine.ipus_per_domain 16 -> 32");
    assert_string_equal(d.causes[1].sets[0], "parallel.replicas=32");
    assert_false(d.causes[1].possible_alone);
    arena_free(&a);
}

/* A card has no system's values, so a pod's are printed as not given. Fitted constants of a generation follow it: the
 * generation is printed, its constants are not. */
static void a_card_beside_a_pod_and_mk1_beside_mk2(void **state)
{
    (void)state;
    struct simulation_request card = ask("vendor-c600-resnet50-b1-poprt", NULL, 0), pod = ask("vendor-bow-pod16-resnet50-pytorch", NULL, 0);
    struct simulation_request mk1 = ask("vendor-dss8440-resnet50-tf1", NULL, 0), mk2 = ask("vendor-ipu-pod16-resnet50-pipelined", NULL, 0);
    struct diff d;
    size_t n_systems = 0, n_generations = 0;
    assert_true(diff_simulations(&d, &card, &pod, &a, &err));
    for (size_t i = 0; i < d.n; i++)
        n_systems += strstr(d.causes[i].what, "machine.n_ipus not given -> 16 with machine.ipus_per_domain not given -> 16") != NULL;
    assert_int_equal(n_systems, 1);
    assert_true(diff_simulations(&d, &mk1, &mk2, &a, &err));
    for (size_t i = 0; i < d.n; i++) {
        n_generations += strstr(d.causes[i].what, "machine.generation mk1 -> mk2") != NULL;
        assert_null(strstr(d.causes[i].what, "machine.mk"));
    }
    assert_int_equal(n_generations, 1);
    arena_free(&a);
}

/* Each fault that only one side has, or that differs. A fault of both is no cause. */
static void faults_are_compared(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    const char *const before[] = { "faults.chip=3 1.5", "faults.link=0-1 0.5", "faults.flow=0-2 1e9" },
               *const after[] = { "faults.chip=3 1.5", "faults.link=0-1 0.25", "faults.flow=0-2 1e9" };
    static const struct { size_t n_before, n_after; const char *what; } cases[] = {
        { 3, 3, "faults.link 0-1 0.5 -> 0-1 0.25" }, { 2, 1, "faults.link 0-1 0.5 -> not given" }, { 1, 2, "faults.link not given -> 0-1 0.25" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation_request x = ask(recipe, before, cases[i].n_before), y = ask(recipe, after, cases[i].n_after);
        struct diff d;
        assert_true(diff_simulations(&d, &x, &y, &a, &err));
        assert_int_equal(d.n, 1);
        assert_string_equal(d.causes[0].what, cases[i].what);
        check_sums(&d);
    }
    arena_free(&a);
}

/* hosts.steps_per_call is printed once. If only A gives it, the framework's value may differ too. */
static void steps_of_a_call_are_told_once(void **state)
{
    const char *set = "hosts.steps_per_call=7", *all = "hosts.steps_per_call=0";
    struct simulation_request by_framework = ask("vendor-bow-pod16-bert-large-ph1-tf1", NULL, 0), by_recipe = ask("vendor-bow-pod16-bert-large-ph1-tf1", &set, 1),
                    in_one_call = ask("vendor-bow-pod16-bert-large-ph1-tf1", &all, 1);
    struct diff d;
    (void)state;
    assert_true(diff_simulations(&d, &by_framework, &by_recipe, &a, &err));
    assert_int_equal(d.n, 1);
    assert_string_equal(d.causes[0].what, "hosts.steps_per_call not given -> 7");
    assert_true(d.causes[0].change.step_ps < 0);
    assert_true(diff_simulations(&d, &by_framework, &in_one_call, &a, &err));
    assert_int_equal(d.n, 1);
    assert_string_equal(d.causes[0].what, "hosts.steps_per_call not given -> 0");
    assert_true(diff_simulations(&d, &by_recipe, &by_framework, &a, &err));
    assert_int_equal(d.n, 2);
    assert_string_equal(d.causes[1].what, "framework.steps_per_call 7 -> 1");
    check_sums(&d);
    arena_free(&a);
}

static void the_same_does_not_differ(void **state)
{
    (void)state;
    static const char *const recipes[] = { "vendor-c600-resnet50-b1-poprt", "mlperf-v1.1-closed-ipu-pod16-resnet50" };
    struct simulation_request x;
    struct diff d;
    for (size_t i = 0; i < 2; i++) {
        x = ask(recipes[i], NULL, 0);
        assert_true(diff_simulations(&d, &x, &x, &a, &err));
        assert_int_equal(d.n, 0);
        assert_true(d.whole.step_ps == 0);
    }
    struct simulation_request bad = ask("no-such", NULL, 0);
    assert_false(diff_simulations(&d, &x, &bad, &a, &err));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_difference_as_text), cmocka_unit_test(a_difference_in_a_line), cmocka_unit_test(a_difference_as_json),
    cmocka_unit_test(neighbours_add_up), cmocka_unit_test(causes_are_told_apart), cmocka_unit_test(changes_that_need_each_other_go_together),
    cmocka_unit_test(a_card_beside_a_pod_and_mk1_beside_mk2), cmocka_unit_test(faults_are_compared), cmocka_unit_test(steps_of_a_call_are_told_once),
    cmocka_unit_test(the_same_does_not_differ),
};
TAP_MAIN(tests)
