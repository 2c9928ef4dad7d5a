/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_settings.c - which keys matter in which recipe (tests/golden/recipe_settings.txt), which of them shape the graph,
 * and what a framework makes of them.
 */
#include "tests/golden_text.h"
#include "system-model/plan/plan.h"
#include "tests/loaded_recipe.h"
#include "workloads/recipe/recipe_convergence.h"

/* ---- what matters -------------------------------------------------------------------------------------------------- */

static const char resnet[] = "mlperf-v2.0-closed-bow-pod16-resnet50";
static const struct { const char *id, *words; } cases[] = {
    { pod16, "" }, { pod16, "recipe.mode=infer" }, { pod16, "training.converge=model" }, { pod16, "parallel.rts=no" }, { pod16, "parallel.replicas=1" },
    { pod16, "parallel.schedule=none" }, { pod16, "parallel.recompute=checkpoints parallel.recompute_checkpoints=encoder1/attention" },
    { pod16, "parallel.ipus_per_replica=1 parallel.layers_per_ipu=" }, { pod16, "data.sequences_per_pack=1" }, { pod16, "data.sequences_per_pack=1.5" }, { pod16, "data.logged_sequences_per_pack=1" }, { pod16, "data.logged_sequences_per_pack=" }, { pod16, "training.eval_every= training.evaluations=3" },
    { pod16, "training.epochs=2 data.samples_per_epoch=1000" }, { pod16, "parallel.ipus_per_replica=1" }, { pod16, "training.eval_every= training.evaluations=" },
    { resnet, "" }, { resnet, "recipe.mode=infer" }, { resnet, "recipe.workload=rnnt" }, { resnet, "recipe.workload=transformer-transducer" },
    { resnet, "recipe.workload=conformer-medium" }, { resnet, "recipe.workload=gpt2-small" }, { resnet, "recipe.workload=vit-b16" },
    { resnet, "recipe.workload=unet" }, { resnet, "recipe.workload=vgg16" }, { resnet, "recipe.workload=inception-v3 recipe.mode=infer" },
    { resnet, "recipe.workload=bert-base" }, { resnet, "recipe.workload=model.onnx" }, { resnet, "recipe.workload=model.onnx recipe.mode=infer" },
};

static void what_matters(void **state)
{
    struct arena a = { 0 };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct loaded l;
            struct recipe_setting *settings;
            const char **unused;
            size_t n_unused;
            bool good = load_words(&l, cases[i].id, cases[i].words);
            fprintf(f, "== %s %s\n", cases[i].id, cases[i].words);
            if (!good)
                fprintf(f, "%s\n", l.err.msg);
            size_t n = good ? recipe_settings(&settings, &l.r, &l.a) : 0;
            fputs("without effect:", f);
            for (size_t k = 0; k < n; k++)
                if (!settings[k].matters)
                    fprintf(f, " %s.%s", settings[k].section, settings[k].field->name);
            fputs("\ngiven all the same:", f);
            if (good && recipe_unused_keys(&unused, &n_unused, &l.r, NULL, &l.a))
                for (size_t k = 0; k < n_unused; k++)
                    fprintf(f, " %s", unused[k]);
            if (good)
                fprintf(f, "\nbatch %ju, %.9g logged, %.9g true, rate %.9g, a sample %.9g\n", (uintmax_t)recipe_global_batch(&l.r), recipe_logged_batch(&l.r),
                        recipe_true_batch(&l.r), recipe_base_learning_rate(&l.r), recipe_samples_per_item(&l.r));
            arena_free(&l.a);
        });
    assert_golden(text, "tests/golden/recipe_settings.txt", &a);
    free(text);
    arena_free(&a);
}

/* Shares of memory for more IPUs than there are: the superfluous ones are reported. */
static void idle_shares(void **state)
{
    static const struct { const char *shares; bool idle; } lists[] = {
        { "parallel.available_memory=0.1", false }, { "parallel.available_memory=0.1,0.2,0.3,0.4", false },
        { "parallel.available_memory=0.1,0.2,0.3,0.4,0.5", true } };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct loaded l;
        const char **unused;
        size_t n;
        assert_true(load(&l, pod16, &lists[i].shares, 1));
        assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a) == lists[i].idle);
        assert_int_equal(n, lists[i].idle);
        if (n)
            assert_string_equal(unused[0], "parallel.available_memory (past IPU 3)");
        arena_free(&l.a);
    }
}

/* Every key's last value and its line: the first line of the file, an override (no line), a key of the same name in
 * another section (none). */
static void settings_are_as_given(void **state)
{
    static const struct { const char *section, *key, *value; uint32_t line; } keys[] = {
        { "recipe", "id", pod16, 5 }, { "parallel", "micro_batch", "7", 0 }, { "hosts", "steps_per_call", "11", 0 }, { "optimizer", "state_bytes_per_param", NULL, 0 } };
    struct loaded l;
    struct recipe_setting *settings;
    size_t n_found = 0;
    (void)state;
    assert_true(load_words(&l, pod16, "parallel.micro_batch=7 hosts.steps_per_call=11 framework.steps_per_call=5 optimizer.state_bytes_per_param="));
    size_t n = recipe_settings(&settings, &l.r, &l.a);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (text_is(settings[i].section, keys[k].section) && text_is(settings[i].field->name, keys[k].key)) {
                n_found++;
                assert_true(keys[k].value ? settings[i].value && text_is(settings[i].value, keys[k].value) : !settings[i].value);
                assert_int_equal(settings[i].line, keys[k].line);
            }
    assert_int_equal(n_found, 4);
    arena_free(&l.a);
}

/* Keys that only the plan's sheets can judge: with eight IPUs per pod and two per replica, each value at the limit
 * where its key begins to matter. */
static void idle_by_the_plan(void **state)
{
    static const struct { uint64_t in_domain; uint32_t replicas, instances; double upload_s, uploads, returns; uint64_t depth, fetch_cycles; const char *idle; } rows[] = {
        { 8, 5, 3, 1e-6, 2, 7, 1, 9, "" },
        { 8, 4, 3, 1e-6, 2, 7, 1, 9, "parallel.rts_domain" }, { 1, 5, 3, 1e-6, 2, 7, 1, 9, "parallel.rts_domain" }, { 2, 5, 3, 1e-6, 2, 7, 1, 9, "" },
        { 8, 5, 3, 0, 2, 7, 1, 9, "framework.uploads_per_call" }, { 8, 5, 3, 1e-6, 0, 7, 1, 9, "framework.upload_s" }, { 8, 5, 3, 1e-6, 0.5, 7, 1, 9, "" },
        { 8, 5, 3, 1e-6, 2, 0, 1, 9, "framework.uploads_per_call framework.upload_s framework.output_reductions" }, { 8, 5, 3, 1e-6, 2, 0.5, 1, 9, "" },
        { 8, 5, 3, 1e-6, 2, 7, 1, 1, "" }, { 8, 5, 4, 1e-6, 2, 7, 1, 9, "" }, { 8, 5, 3, 1e-6, 2, 7, 2, 9, "framework.fetch_threads" },
        { 8, 5, 3, 1e-6, 2, 7, 1, 0, "framework.outputs_each_micro_batch framework.fetch_threads framework.prefetch_depth" },
        { 8, 5, 5, 1e-6, 2, 7, 1, 9, "framework.fetch_threads" },
    };
    struct loaded l;
    (void)state;
    assert_true(load_words(&l, pod16, "parallel.rts_domain=pod hosts.instances=2 framework.uploads_per_call=2 framework.upload_s=1e-6 framework.output_reductions=3 "
                                     "framework.outputs_each_micro_batch=yes framework.fetch_threads=2 framework.prefetch_depth=3"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct machine m = { .ipus_per_domain = rows[i].in_domain };
        const struct topology t = { .machine = &m };
        const struct program f = { .upload_s = rows[i].upload_s, .uploads_per_call = rows[i].uploads, .steps_per_call = rows[i].returns, .prefetch_depth = rows[i].depth };
        const struct plan p = { .topology = &t, .fetch_cycles = rows[i].fetch_cycles,
                                .request = { .training = true, .ipus_per_replica = 2, .n_replicas = rows[i].replicas, .host.n_instances = rows[i].instances, .program = f } };
        const char **unused, *found = "";
        size_t n;
        recipe_unused_keys(&unused, &n, &l.r, &p, &l.a);
        for (size_t k = 0; k < n; k++)
            found = arena_printf(&l.a, "%s%s%s", found, k ? " " : "", unused[k]);
        if (!text_is(found, rows[i].idle))
            print_error("row %zu\n", i);
        assert_string_equal(found, rows[i].idle);
    }
    arena_free(&l.a);
}

/* First steps are timed only in a training run without an end. */
static void first_steps_matter(void **state)
{
    static const struct { const char *words; bool idle; } rows[] = {
        { "hosts.timed_steps=9", false },
        { "hosts.timed_steps=9 training.epochs=2 data.samples_per_epoch=5000", true },
        { "hosts.timed_steps=9 training.samples_to_converge=7e6", true }, { "hosts.timed_steps=9 training.converge=model", true },
        { "hosts.timed_steps=9 recipe.mode=infer", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct machine m = { .ipus_per_domain = 64 };
        const struct topology t = { .machine = &m };
        const struct plan p = { .topology = &t, .request = { .ipus_per_replica = 4, .n_replicas = 17 } };
        const char **unused;
        struct loaded l;
        struct plan_request o;
        size_t n;
        bool told = false;
        assert_true(load_words(&l, "vendor-bow-pod64-bert-large-ph1-pytorch", rows[i].words));
        recipe_unused_keys(&unused, &n, &l.r, &p, &l.a);
        for (size_t k = 0; k < n; k++)
            told |= text_is(unused[k], "hosts.timed_steps");
        assert_true(told == rows[i].idle);
        assert_true(recipe_plan_request(&o, &l.r, &l.a, &l.err));
        assert_int_equal(o.detail.timed_steps, rows[i].idle ? 0 : 9);
        arena_free(&l.a);
    }
}

/* Keys of [framework] that another key decides. */
static void idle_in_the_framework(void **state)
{
#define ALL "framework.sharded_elements=5 framework.offloaded_elements=6 framework.remote_together=yes framework.remote_alone_ipus=3 " \
    "framework.moment_bytes=2 framework.steps_per_call=3 framework.update_order=series framework.accumulation_multiple=2 "
#define TURNS "framework.update_order=series framework.accumulation_multiple=2 "
    static const struct { const char *words, *idle; } rows[] = {
        { ALL "hosts.steps_per_call= optimizer.state_bytes_per_param= parallel.rts=yes parallel.schedule=grouped", "" },
        { ALL "hosts.steps_per_call=0 optimizer.state_bytes_per_param=0.5 parallel.rts=no parallel.schedule=interleaved", "sharded_elements moment_bytes steps_per_call" },
        { ALL "hosts.steps_per_call=7 optimizer.state_bytes_per_param=3 parallel.schedule=popart", "moment_bytes steps_per_call accumulation_multiple" },
        { ALL "hosts.steps_per_call= optimizer.state_bytes_per_param= parallel.optimizer_state=on-chip", "offloaded_elements remote_together remote_alone_ipus accumulation_multiple" },
        { TURNS "parallel.ipus_per_replica=1 parallel.layers_per_ipu= parallel.schedule=grouped", "update_order accumulation_multiple" },
        { TURNS "parallel.ipus_per_replica=2 parallel.layers_per_ipu= parallel.schedule=grouped", "" },
        { TURNS "parallel.ipus_per_replica=1 parallel.layers_per_ipu=12,12 parallel.schedule=interleaved", "update_order" },
        { "framework.output_reductions=3 hosts.instances=1", "output_reductions" },
        { "framework.output_reductions=3 hosts.instances=2", "" },
        { "framework.output_reductions=0 hosts.instances=1", "" },
        { "framework.output_reductions=0 framework.update_order=series recipe.mode=infer", "clip_norm update_order" },
    };
#undef ALL
#undef TURNS
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        const char **unused, *found = "";
        size_t n;
        assert_true(load_words(&l, pod16, rows[i].words));
        recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a);
        for (size_t k = 0; k < n; k++)
            if (strncmp(unused[k], "framework.", 10) == 0)
                found = arena_printf(&l.a, "%s%s%s", found, *found ? " " : "", unused[k] + 10);
        if (!text_is(found, rows[i].idle))
            print_error("row %zu: %s\n", i, found);
        assert_string_equal(found, rows[i].idle);
        arena_free(&l.a);
    }
}

/* A recipe of the required keys only. */
static void defaults(void **state)
{
    static const char text[] = "[recipe]\nid = x\nworkload = bert-base\nsystem = ipu-pod16\nsource = none\n[parallel]\nreplicas = 3\nipus_per_replica = 2\n"
                               "micro_batch = 7\n[optimizer]\nname = lamb\n";
    struct loaded l;
    (void)state;
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_true(load(&l, path, NULL, 0));
    assert_true(l.r.steps_per_call < 0);
    assert_int_equal(l.r.gradient_accumulation, 1);
    assert_int_equal(l.o.grad_accum, 1);
    assert_int_equal(l.r.host_count, 1);
    assert_int_equal(l.o.host.n_hosts, 1);
    assert_int_equal(l.r.model.batch_norm_span, 1);
    assert_near(l.r.model.sequences_per_pack, 1, 0);
    assert_near(recipe_true_batch(&l.r), 3 * 7, 0);
    assert_true(l.o.training && l.o.n_stages == 0 && l.o.n_available_memory == 0 && l.o.schedule == SCHEDULE_NONE && l.o.state.rts == RTS_NO);
    unlink(path);
    arena_free(&l.a);
}

/* A name that is only the ending is a file too. */
static void an_ending_is_a_path(void **state)
{
    struct loaded l;
    (void)state;
    assert_false(load(&l, ".ini", NULL, 0));
    assert_null(strstr(l.err.msg, recipes));
    arena_free(&l.a);
}

/* A submitter's name is cut to the room, 31 letters. */
static void names_of_submitters(void **state)
{
    static const char letters[] = "Abcdefghijklmnopqrstuvwxyzabcdefghij";
    (void)state;
    for (int n = 1; n < 36; n++) {
        char submitter[80];
        struct recipe r = { .id = "mlperf-v1.1-open-x", .submitter = submitter, .source = "MLPerf v1.1 results: Another/system" };
        snprintf(submitter, sizeof submitter, "%.*s", n, letters);
        struct recipe_terms t = recipe_terms(&r);
        assert_int_equal(strlen(t.submitter), n < 32 ? n : 31);
        assert_int_equal(strncmp(t.submitter, letters, strlen(t.submitter)), 0);
        assert_string_equal(t.division, "open");
        assert_string_equal(t.round, "v1.1");
    }
}

/* Round and division come from the id if it names both, else v2.0 and closed. The recipe's own round comes before either. */
static void terms_of_an_id(void **state)
{
    static const struct { const char *id, *own, *round, *division; bool named; } rows[] = {
        { "mlperf-v1.1-open-x", NULL, "v1.1", "open", true }, { "mlperf-v1.1-open", NULL, "v1.1", "open", true }, { "mlperf-v1.1-open-x", "v2.1", "v2.1", "open", true },
        { "mlperf-today-open-x", NULL, "v2.0", "closed", false }, { "mlperf-v1.1", NULL, "v2.0", "closed", false }, { "mlperf-v1.1--x", NULL, "v2.0", "closed", false },
        { "mlperf--open-x", NULL, "v2.0", "closed", false }, { "mlperf", NULL, "v2.0", "closed", false }, { "vendor-v1.1-open-x", NULL, "v2.0", "closed", false },
        { "vendor-v1.1-open-x", "v1.0", "v1.0", "closed", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe_terms t = recipe_terms(&(struct recipe){ .id = rows[i].id, .reference_round = rows[i].own });
        assert_string_equal(t.round, rows[i].round);
        assert_string_equal(t.division, rows[i].division);
        assert_string_equal(t.submitter, "Graphcore");
        assert_int_equal(t.named, rows[i].named);
    }
}

/* ---- with a framework --------------------------------------------------------------------------------------------- */

/* The framework can run two schedules, and takes turns three times round its stages; the recipe has 4 IPUs in 5 stages
 * and 192 micro-batches. */
static const struct framework made = { .name = "made-1.0", .schedules = "grouped,interleaved",
                                       .program = { .accumulation_multiple = 3, .moment_bytes = 2.5, .steps_per_call = 7 } };

static void schedules_of_a_framework(void **state)
{
#define CANNOT "parallel.schedule: made-1.0 cannot run popart; want one of: grouped,interleaved (or framework.schedules=popart for a program that can)"
#define ALONE "parallel.ipus_per_replica=1 "
#define TURNS(n, accumulation, way, all) "parallel.gradient_accumulation: " #accumulation ", want a multiple of " #all ": made-1.0 runs " way \
    " pipelines with multiples of 3 times their " #n " stages"
    static const struct { const char *words, *message; } rows[] = {
        { "", CANNOT }, { "framework.schedules=popart", "" }, { "framework.schedules=grouped,popart parallel.gradient_accumulation=7", "" },
        { "parallel.schedule=none", "" }, { "parallel.schedule=sequential", "" }, { "recipe.mode=infer", "" }, { ALONE "parallel.layers_per_ipu=", "" },
        { ALONE "parallel.layers_per_ipu=24", "" }, { ALONE "parallel.layers_per_ipu=12,12", CANNOT }, { "parallel.layers_per_ipu=", CANNOT },
        { "parallel.schedule=grouped", TURNS(5, 192, "grouped", 15) }, { "parallel.schedule=grouped parallel.gradient_accumulation=180", "" },
        { "parallel.schedule=interleaved parallel.gradient_accumulation=46", TURNS(5, 46, "interleaved", 15) },
        { "parallel.schedule=interleaved parallel.gradient_accumulation=45", "" },
        { "parallel.schedule=grouped parallel.layers_per_ipu= parallel.gradient_accumulation=36", "" },
        { "parallel.schedule=grouped parallel.layers_per_ipu= parallel.gradient_accumulation=15", TURNS(4, 15, "grouped", 12) },
        { "parallel.schedule=grouped framework.accumulation_multiple=0 parallel.gradient_accumulation=7", "" },
        { "parallel.schedule=grouped framework.accumulation_multiple=1 parallel.gradient_accumulation=10", "" },
        { "framework.schedules=grouped,sideways,popart", "framework.schedules: 'sideways' of made-1.0 is not a schedule; known: none, sequential, grouped, "
          "interleaved, popart" },
        { "framework.update_order=sideways", "--set framework.update_order=sideways: 'sideways' is not one of: series, side-by-side" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        assert_true(load_words(&l, pod16, rows[i].words));
        struct framework f = made;
        bool good = recipe_framework(&l.o, &f, &l.r, &l.a, &l.err);
        if (!text_is(l.err.msg, rows[i].message))
            print_error("%s\n", rows[i].words);
        assert_string_equal(l.err.msg, rows[i].message);
        assert_true(good == !*rows[i].message);
        arena_free(&l.a);
    }
}

/* Bytes of moments come from the recipe, else the framework has them for each of Adam's two; steps per call come from
 * [hosts], else [framework], else the sheet. */
static void values_of_a_framework(void **state)
{
    static const struct { const char *words; double state_bytes, steps_per_call; } rows[] = {
        { "hosts.steps_per_call= optimizer.state_bytes_per_param=", 5, 7 }, { "hosts.steps_per_call= optimizer.state_bytes_per_param=3", 3, 7 }, { "hosts.steps_per_call= optimizer.name=adam optimizer.state_bytes_per_param=", 5, 7 },
        { "hosts.steps_per_call= optimizer.name=sgd optimizer.state_bytes_per_param=", 2, 7 }, { "hosts.steps_per_call= optimizer.name=lars optimizer.state_bytes_per_param=4", 4, 7 },
        { "hosts.steps_per_call= optimizer.name=sgd optimizer.state_bytes_per_param=0.5", 0.5, 7 },
        { "hosts.steps_per_call= optimizer.state_bytes_per_param= framework.moment_bytes=4", 8, 7 }, { "hosts.steps_per_call= recipe.mode=infer optimizer.state_bytes_per_param=", 0, 7 },
        { "hosts.steps_per_call= optimizer.state_bytes_per_param=3 framework.steps_per_call=9", 3, 9 }, { "optimizer.state_bytes_per_param=3 hosts.steps_per_call=11 framework.steps_per_call=9", 3, 11 },
        { "optimizer.state_bytes_per_param=3 hosts.steps_per_call=0", 3, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        assert_true(load_words(&l, pod16, rows[i].words));
        struct framework f = made;
        l.o.schedule = SCHEDULE_NONE;
        assert_true(recipe_framework(&l.o, &f, &l.r, &l.a, &l.err));
        assert_near(l.o.optimizer.state_bytes_per_param, rows[i].state_bytes, 0);
        assert_near(l.o.program.steps_per_call, rows[i].steps_per_call, 0);
        assert_int_equal(l.o.program.accumulation_multiple, 3);
        arena_free(&l.a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_matters), cmocka_unit_test(idle_shares), cmocka_unit_test(settings_are_as_given), cmocka_unit_test(idle_by_the_plan),
    cmocka_unit_test(first_steps_matter), cmocka_unit_test(idle_in_the_framework), cmocka_unit_test(defaults),
    cmocka_unit_test(an_ending_is_a_path), cmocka_unit_test(names_of_submitters), cmocka_unit_test(terms_of_an_id),
    cmocka_unit_test(schedules_of_a_framework), cmocka_unit_test(values_of_a_framework),
};
TAP_MAIN(tests)
