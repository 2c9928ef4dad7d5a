/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_time_to_train.c - time to train by hand from its parts, the batch that logs state, published and predicted
 * samples, and coverage by simulated timing. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/published/check.h"
#include "results/calibrate/calibration.h"
#include "workloads/recipe/recipe_convergence.h"
#include <sys/stat.h>

static const char resnet[] = "mlperf-v2.0-closed-bow-pod16-resnet50", bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large";

struct run { struct simulation sim; struct result r; struct plan_cache cache; struct err err; };

static bool run(struct run *x, const char *recipe, const char *const *sets, size_t n)
{
    *x = (struct run){0};
    return simulate(&x->sim, &x->r, recipe, sets, n, &paths, &x->cache, &x->err);
}
#define RUN(x, recipe, ...) \
    run(x, recipe, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void end(struct run *x)
{
    simulation_free(&x->sim);
    plan_cache_free(&x->cache);
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* 38 epochs of 1,281,167 images in batches of 3520: 13,830.8 steps, 193 calls of 72. The recipe states ten
 * evaluations; one every 4 epochs would be nine. */
static void the_recipe_counts_its_evaluations(void **state)
{
    (void)state;
    struct run x;
    assert_true(run(&x, resnet, NULL, 0));
    assert_near(x.r.train_time_s, 193 * 72 * x.r.step_time_s, 1e-9);
    assert_true(x.sim.evaluation_s > 0);
    assert_near(x.r.eval_time_s, 10 * x.sim.evaluation_s, 1e-12);
    assert_near(x.r.time_to_train_s, x.r.startup_time_s + x.r.train_time_s + x.r.eval_time_s + x.r.tail_time_s, 1e-9);
    end(&x);
    assert_true(RUN(&x, resnet, "training.evaluations="));
    assert_near(x.r.eval_time_s, 9 * x.sim.evaluation_s, 1e-12);
    end(&x);
}

/* SDK 2.5.1: 25.6 million parameters at 64.6 ns are written and read back in 1.65 s; switching takes 5.9 s, and loading 16 IPUs 1.2 and 0.88 s each
 * (TensorFlow's sheet). */
static void checkpoints_are_written_and_read_back(void **state)
{
    (void)state;
    struct run x;
    assert_true(run(&x, resnet, NULL, 0));
    double with_s = x.sim.evaluation_s;
    assert_near(x.r.tail_time_s, 5.9 + 1.2 + 16 * 0.88, 1e-9);
    end(&x);
    assert_true(RUN(&x, resnet, "recipe.sdk="));
    assert_near(with_s - x.sim.evaluation_s, 1.65, 0.005);
    assert_near(x.r.tail_time_s, 1.2 + 16 * 0.88, 1e-9);
    end(&x);
    assert_true(RUN(&x, resnet, "training.eval_placement=inline"));
    assert_near(x.r.tail_time_s, 0, 0);
    end(&x);
}

/* 50,000 images are 143 micro-batches of 22 on each of 16 IPUs: 15 calls of 10 between training steps. */
static void an_evaluation_between_steps_goes_in_whole_calls(void **state)
{
    (void)state;
    struct run one, all;
    assert_true(RUN(&one, resnet, "training.eval_placement=inline", "training.eval_samples=3520"));
    assert_true(RUN(&all, resnet, "training.eval_placement=inline"));
    assert_near(all.sim.evaluation_s, 15 * one.sim.evaluation_s, 1e-9);
    end(&one);
    end(&all);
}

/* 10,000 samples in updates of 3128.5 are four steps; in updates of 6257, two; of 12,514, one. */
static void an_evaluation_by_training_steps_is_whole_steps(void **state)
{
    (void)state;
    static const struct { const char *set; int steps; } cases[] = {
        { "parallel.gradient_accumulation=192", 4 }, { "parallel.gradient_accumulation=384", 2 },
        { "parallel.gradient_accumulation=768", 1 }, { "training.eval_samples=10000", 4 }, { "training.eval_samples=3129", 2 } };
    struct run x;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(RUN(&x, bert, cases[i].set));
        assert_near(x.sim.evaluation_s, cases[i].steps * x.r.step_time_s, 1e-12);
        end(&x);
    }
    /* 2 x 45 x 4 packs of 2.3 are 413.99999999999994 in binary: 414 samples are one step, not two. */
    assert_true(RUN(&x, bert, "data.sequences_per_pack=2.3", "parallel.gradient_accumulation=45", "parallel.micro_batch=1",
                    "training.eval_samples=414"));
    assert_near(x.sim.evaluation_s, x.r.step_time_s, 1e-12);
    end(&x);
    assert_true(RUN(&x, bert, "training.eval_program=forward"));
    assert_true(x.sim.evaluation_s > 0 && x.sim.evaluation_s < 2 * x.r.step_time_s);
    end(&x);
}

/* ---- predicted samples ----------------------------------------------------------------------------- */

static struct convergence reference(const char *benchmark, const char *round, double batch, const char *optimizer)
{
    struct arena a = {0};
    struct err err;
    struct convergence c;
    struct submission_terms terms = { .benchmark = benchmark, .round = round, .submitter = "Graphcore", .optimizer = optimizer,
                                      .global_batch = batch };
    assert_true(convergence_predict_for(&c, &terms, paths.data_dir, &a, &err));
    arena_free(&a);
    return c;
}

/* The reference is looked up at 3072, as the log says; steps are of 3128.5 samples. One evaluation in 175,000, 15.3
 * on average. */
static void bert_converges_by_the_logged_batch(void **state)
{
    (void)state;
    struct run x;
    struct convergence c = reference("bert", "v1.1", 3072, "lamb");
    assert_true(RUN(&x, bert, "training.converge=model"));
    assert_near(x.r.global_batch, 1536 * 2.0368, 1e-9);
    assert_near(x.r.samples_to_converge, c.mean_samples, 1e-6);
    assert_near(x.r.train_time_s, ceil(c.mean_samples / (1536 * 2.0368)) * x.r.step_time_s, 1e-9);
    assert_near(x.r.eval_time_s, c.mean_samples / 175000 * 4 * x.r.step_time_s, 1e-9);
    assert_near(x.r.predicted_time_to_train_s, x.r.time_to_train_s, 0);
    double predicted_s = x.r.time_to_train_s;
    end(&x);
    assert_true(run(&x, bert, NULL, 0));                /* with published samples the prediction is still there */
    assert_near(x.r.predicted_time_to_train_s, predicted_s, 0);
    assert_true(x.r.time_to_train_s - x.r.scaling_time_s < predicted_s);
    end(&x);
    assert_true(RUN(&x, bert, "training.converge=model", "training.reference_round=v2.0"));
    assert_near(x.r.samples_to_converge, reference("bert", "v2.0", 3072, "lamb").mean_samples, 1e-6);
    end(&x);
}

/* A fixed schedule runs all its epochs, and evaluates every fourth and the last. */
static void resnet_converges_by_its_planned_epochs(void **state)
{
    (void)state;
    struct run x;
    struct convergence c = reference("resnet", "v2.0", 3520, "lars");
    assert_true(RUN(&x, resnet, "training.converge=model"));
    assert_near(x.r.samples_to_converge, c.planned_epochs * 1281167, 1e-3);
    assert_near(x.r.eval_time_s, ceil(c.planned_epochs / 4) * x.sim.evaluation_s, 1e-9);
    end(&x);
    assert_true(RUN(&x, resnet, "training.converge=model", "optimizer.name=sgd"));
    assert_true(x.r.samples_to_converge > c.planned_epochs * 1281167);
    end(&x);
}

/* Only a recipe of an MLPerf round has a predicted time in addition to its own. */
static void other_recipes_have_no_prediction(void **state)
{
    (void)state;
    struct run x;
    assert_true(RUN(&x, bert, "recipe.id=mine"));
    assert_true(x.r.time_to_train_s > 0);
    assert_near(x.r.predicted_time_to_train_s, 0, 0);
    end(&x);
    assert_true(RUN(&x, bert, "recipe.id=mine", "training.reference_round=v1.1"));
    assert_true(x.r.predicted_time_to_train_s > 0);
    end(&x);
}

static void terms_and_batches(void **state)
{
    (void)state;
    struct recipe r = { .id = "mlperf-v1.0-open-x-y", .workload = "bert-large", .model.micro_batch = 2, .gradient_accumulation = 96, .replicas = 16,
                        .model.sequences_per_pack = 2.0368, .logged_sequences_per_pack = 2 };
    struct recipe_terms t = recipe_terms(&r);
    assert_string_equal(t.round, "v1.0");
    assert_string_equal(t.division, "open");
    assert_true(t.named);
    assert_near(recipe_logged_batch(&r), 6144, 0);
    assert_near(recipe_true_batch(&r), 3072 * 2.0368, 1e-9);
    r.logged_sequences_per_pack = 0;
    assert_near(recipe_logged_batch(&r), 3072 * 2.0368, 1e-9);
    r.id = "vendor-x";
    t = recipe_terms(&r);
    assert_string_equal(t.round, "v2.0");
    assert_string_equal(t.division, "closed");
    assert_false(t.named);
}

static void refusals(void **state)
{
    (void)state;
    struct run x;
    assert_false(RUN(&x, bert, "training.reference_round=v9.9"));
    assert_non_null(strstr(x.err.msg, "round 'v9.9' is unknown; known: v0.7"));
    end(&x);
    assert_false(RUN(&x, bert, "training.converge=model", "recipe.workload=bert-base"));
    assert_non_null(strstr(x.err.msg, "converge: bert-base has no MLPerf reference; give epochs or samples_to_converge"));
    end(&x);
}

/* ---- the model's own error ----------------------------------------------------------------------------- */

static void the_sheet_holds_the_error_of_throughput(void **state)
{
    (void)state;
    struct fitted_system fitted;
    struct arena a = {0};
    struct err err;
    struct run x;
    assert_true(fitted_system_load(&fitted, paths.specs_dir, NULL, &a, &err));
    assert_true(fitted.throughput_error > 0.01 && fitted.throughput_error < 0.3);
    assert_true(run(&x, resnet, NULL, 0));
    struct run_timing t = simulated_timing(&x.sim, &x.r);
    assert_near(t.error, fitted.throughput_error, 0);
    assert_near(t.step_time_s, x.r.step_time_s, 0);
    assert_near(t.samples_per_step, 3520, 0);
    assert_near(t.tail_s + t.first_eval_extra_s, x.r.tail_time_s, 1e-12);
    end(&x);
    struct system_fit fit = { .n_rows = 5, .left_out_spread = 0.0625 };
    char *sheet;
    PRINTED(sheet, system_fit_write(f, &fit));
    assert_non_null(strstr(sheet, "\nthroughput_error,0.0625,share,"));
    free(sheet);
    arena_free(&a);
}

/* The loader takes 30 of 160 cycles a second in each timed step. The step's 50 are all of the IPUs; or 34 are the
 * host's input, which takes longer than the other 20; or all are the input's, which the loader does not delay. */
static void a_step_without_the_loader_waits_for_its_input(void **state)
{
    static const struct { uint64_t floor_cycles; double steady_s; } cases[] = { { 0, 20 / 160. }, { 13, 20 / 160. }, { 34, 34 / 160. }, { 50, 50 / 160. } };
    static struct machine machine = { .chip.clock_hz = 160 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim = { .machine = &machine, .plan = { .call_cycles[CALL_LOADER] = 30, .host_floor_cycles = cases[i].floor_cycles } };
        const struct result r = { .step_time_s = 50 / 160. };
        assert_near(simulated_timing(&sim, &r).step_time_s, cases[i].steady_s, 1e-12);
    }
}

/* When all evaluations come last, the first one includes loading the evaluation program onto the IPUs of one host (five of 24, or one of 5, on five
 * hosts), which is never more than what follows the last step. The loader's start in a step (2 of 160 cycles a second) is not in the other parts. */
static void the_first_evaluation_loads_its_program(void **state)
{
    static const struct { enum eval_placement placement; uint32_t n_ipus; double load_s, per_ipu_s, tail_s, first_s, rest_s; } cases[] = {
        { EVAL_END, 24, 1, 2, 17, 11, 6 }, { EVAL_END, 5, 0.2, 0.1, 0.7, 0.3, 0.4 }, { EVAL_END, 24, 1, 2, 5, 5, 0 }, { EVAL_END, 24, 0, 0, 5, 0, 5 }, { EVAL_INLINE, 24, 1, 2, 17, 0, 17 },
    };
    static struct machine machine = { .chip.clock_hz = 160 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim = { .machine = &machine, .plan.call_cycles[CALL_LOADER] = 2, .recipe.eval_placement = cases[i].placement, .evaluation_s = 3,
                                  .plan.request = { .n_replicas = cases[i].n_ipus, .ipus_per_replica = 1, .host.n_hosts = 5 },
                                  .fitted.throughput_error = 0.06 };
        sim.plan.request.program = (struct program){ .steps_per_call = 7, .engine_load_s = cases[i].load_s, .engine_load_s_per_ipu = cases[i].per_ipu_s };
        const struct result r = { .step_time_s = 0.2125, .global_batch = 96, .startup_time_s = 23, .tail_time_s = cases[i].tail_s };
        const struct run_timing t = simulated_timing(&sim, &r);
        assert_near(t.first_eval_extra_s, cases[i].first_s, 1e-12);
        assert_near(t.tail_s, cases[i].rest_s, 1e-12);
        assert_true(fabs(t.step_time_s - 0.2) < 1e-12 && t.samples_per_step == 96 && t.steps_per_call == 7 && t.startup_s == 23 && t.eval_time_s == 3
                    && t.eval_placement == (int)cases[i].placement && t.error == 0.06 && t.noise == -1);
    }
}

static void write_sheet(const char *folder, const char *rows, struct arena *a)
{
    FILE *f = fopen(arena_printf(a, "%s/fitted-system.csv", folder), "w");
    assert_non_null(f);
    fprintf(f, "key,value,unit,source,note\n%s", rows);
    fclose(f);
}

static void sheets_of_the_system_are_read_and_refused(void **state)
{
    (void)state;
    char folder[] = "/tmp/podbench-specs-XXXXXX";
    struct fitted_system fitted;
    struct arena a = {0};
    struct err err;
    assert_non_null(mkdtemp(folder));
    assert_true(fitted_system_load(&fitted, folder, NULL, &a, &err));         /* no sheet */
    assert_near(fitted.throughput_error, 0, 0);
    write_sheet(folder, "throughput_error,0.07,share,a test,\n", &a);
    assert_true(fitted_system_load(&fitted, folder, NULL, &a, &err));
    assert_near(fitted.throughput_error, 0.07, 0);
    assert_near(fitted.times.output_reduction_s, 0.005, 0);
    write_sheet(folder, "throughput_error,7,%,a test,\n", &a);
    assert_false(fitted_system_load(&fitted, folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "fitted-system.csv:2: throughput_error is in '%', want 'share'"));
    write_sheet(folder, "bananas,7,s,a test,\n", &a);
    assert_false(fitted_system_load(&fitted, folder, NULL, &a, &err));
    const char *known = strstr(err.msg, "not a fitted constant of the system; known: ");
    assert_non_null(known);
    assert_string_equal(known, "not a fitted constant of the system; known: unexplained_call_s, output_reduction_s, streaming_s_per_byte, loader_s_per_byte, throughput_error");
    unlink(arena_printf(&a, "%s/fitted-system.csv", folder));
    rmdir(folder);
    arena_free(&a);
}

/* ---- coverage -------------------------------------------------------------------------------------------- */

static const struct coverage_count *counted(const struct coverage *c, const char *what)
{
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].what, what))
            return &c->items[i];
    return NULL;
}

/* Eighteen submissions of BERT with ten runs each, eight of ResNet-50 with five, one of RNN-T with ten: each has a
 * recipe that names it. */
static void every_published_ipu_run_is_covered_or_not(void **state)
{
    (void)state;
    struct coverage c;
    struct simulator s;
    struct arena a = {0};
    struct err err = { "" };
    simulator_open(&s, &paths);
    simulated_coverage(&c, "results/published/runs/mlperf_runs.csv", &s, NULL, NULL, &a, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(c.items[0].n, 230);
    assert_int_equal(counted(&c, "closed")->n, 170);
    assert_int_equal(counted(&c, "open")->n, 60);
    assert_int_equal(counted(&c, "resnet")->n, 40);
    assert_int_equal(counted(&c, "rnnt")->n, 10);
    assert_int_equal(counted(&c, "calibrate")->n + counted(&c, "validate")->n, 230);
    simulator_close(&s);
    arena_free(&a);
}

/* A source names a system as a word of its own, with its round and benchmark. Logs that podbench wrote name the
 * recipe. */
static void a_submission_finds_its_recipe(void **state)
{
    static const char large[] = "mlperf-v2.0-closed-bow-pod16-bert-large";
    static const struct { const char *round, *system, *benchmark, *id; } cases[] = {
        { "v1.1", "ipu-pod16-TF1", "resnet", "mlperf-v1.1-closed-ipu-pod16-resnet50" }, { "v1.1", "pod16-TF1", "resnet", NULL }, { "v1.1", "TF1", "resnet", NULL },
        { "v1.1", "ipu-pod16", "resnet", NULL }, { "v1.1", "ipu-pod16-TF", "resnet", NULL }, { "v2.1", "ipu-pod16-TF1", "resnet", NULL },
        { "v1.1", "ipu-pod16-TF1", "bert", NULL }, { "v1.1", "", "resnet", NULL }, { NULL, "mlperf-v2.0-closed-bow-pod16-bert-large-simulated", "bert", large },
        { NULL, "mlperf-v2.0-closed-bow-pod16-bert-large", "bert", NULL },
    };
    struct arena a = {0};
    struct simulator s;
    struct err err = { "" };
    (void)state;
    simulator_open(&s, &paths);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct submission_names names = { cases[i].round, "Graphcore", cases[i].system, cases[i].benchmark };
        const char *id = "none";
        assert_true(recipes_of_submissions(&id, &names, 1, &s, &a, &err));
        if (!cases[i].id)
            assert_null(id);
        else
            assert_string_equal(id, cases[i].id);
    }
    simulator_close(&s);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_recipe_counts_its_evaluations),
    cmocka_unit_test(checkpoints_are_written_and_read_back),
    cmocka_unit_test(an_evaluation_between_steps_goes_in_whole_calls),
    cmocka_unit_test(an_evaluation_by_training_steps_is_whole_steps),
    cmocka_unit_test(bert_converges_by_the_logged_batch),
    cmocka_unit_test(resnet_converges_by_its_planned_epochs),
    cmocka_unit_test(other_recipes_have_no_prediction),
    cmocka_unit_test(terms_and_batches),
    cmocka_unit_test(refusals),
    cmocka_unit_test(the_sheet_holds_the_error_of_throughput),
    cmocka_unit_test(a_step_without_the_loader_waits_for_its_input),
    cmocka_unit_test(the_first_evaluation_loads_its_program),
    cmocka_unit_test(sheets_of_the_system_are_read_and_refused),
    cmocka_unit_test(every_published_ipu_run_is_covered_or_not),
    cmocka_unit_test(a_submission_finds_its_recipe),
};
TAP_MAIN(tests)
