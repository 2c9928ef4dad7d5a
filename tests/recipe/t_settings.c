/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_settings.c - which keys matter in which recipe (tests/golden/recipe_settings.txt), which of them shape the graph,
 * where lists and faults end, and that overrides read what a file with the same lines does.
 */
#include "tests/golden_text.h"
#include "system-model/plan/plan.h"
#include "workloads/recipe/recipe.h"
#include "workloads/recipe/recipe_convergence.h"
#include <unistd.h>

static const char recipes[] = "workloads/recipes";

struct loaded { struct arena a; struct recipe r; struct plan_request o; struct err err; };

static bool load(struct loaded *l, const char *id, const char *const *overrides, size_t n)
{
    *l = (struct loaded){ 0 };
    return recipe_load(&l->r, id, recipes, overrides, n, &l->a, &l->err) && recipe_plan_request(&l->o, &l->r, &l->a, &l->err);
}

/* "a.b=c d.e=f": overrides with blanks between. */
static bool load_words(struct loaded *l, const char *id, const char *words)
{
    struct arena a = { 0 };
    const char *overrides[16];
    size_t n = 0;
    for (char *at = arena_strdup(&a, words), *word; (word = strsep(&at, " ")); )
        if (*word)
            overrides[n++] = word;
    bool good = load(l, id, overrides, n);
    arena_free(&a);
    return good;
}

/* ---- what matters -------------------------------------------------------------------------------------------------- */

static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v2.0-closed-bow-pod16-resnet50";
static const struct { const char *id, *words; } cases[] = {
    { bert, "" }, { bert, "recipe.mode=infer" }, { bert, "training.converge=model" }, { bert, "parallel.rts=no" }, { bert, "parallel.replicas=1" },
    { bert, "parallel.schedule=none" }, { bert, "parallel.recompute=checkpoints parallel.recompute_checkpoints=encoder1/attention" },
    { bert, "parallel.ipus_per_replica=1 parallel.layers_per_ipu=" }, { bert, "data.sequences_per_pack=1" }, { bert, "data.sequences_per_pack=1.5" }, { bert, "data.logged_sequences_per_pack=1" }, { bert, "data.logged_sequences_per_pack=" }, { bert, "training.eval_every= training.evaluations=3" },
    { bert, "training.epochs=2 data.samples_per_epoch=1000" }, { bert, "parallel.ipus_per_replica=1" }, { bert, "training.eval_every= training.evaluations=" },
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
        assert_true(load(&l, bert, &lists[i].shares, 1));
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
        { "recipe", "id", bert, 5 }, { "parallel", "micro_batch", "7", 0 }, { "hosts", "steps_per_call", "11", 0 }, { "optimizer", "state_bytes_per_param", NULL, 0 } };
    struct loaded l;
    struct recipe_setting *settings;
    size_t n_found = 0;
    (void)state;
    assert_true(load_words(&l, bert, "parallel.micro_batch=7 hosts.steps_per_call=11 framework.steps_per_call=5 optimizer.state_bytes_per_param="));
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
    assert_true(load_words(&l, bert, "parallel.rts_domain=pod hosts.instances=2 framework.uploads_per_call=2 framework.upload_s=1e-6 framework.output_reductions=3 "
                                     "framework.outputs_each_micro_batch=yes framework.fetch_threads=2 framework.prefetch_depth=3"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct machine m = { .ipus_per_domain = rows[i].in_domain };
        const struct topology t = { .machine = &m };
        const struct program f = { .upload_s = rows[i].upload_s, .uploads_per_call = rows[i].uploads, .steps_per_call = rows[i].returns, .prefetch_depth = rows[i].depth };
        const struct plan p = { .topology = &t, .fetch_cycles = rows[i].fetch_cycles,
                                .request = { .ipus_per_replica = 2, .n_replicas = rows[i].replicas, .host.n_instances = rows[i].instances, .program = f } };
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
        { "framework.output_reductions=0 framework.update_order=series recipe.mode=infer", "clip_norm output_reductions update_order" },
    };
#undef ALL
#undef TURNS
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        const char **unused, *found = "";
        size_t n;
        assert_true(load_words(&l, bert, rows[i].words));
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
        assert_true(load_words(&l, bert, rows[i].words));
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
        assert_true(load_words(&l, bert, rows[i].words));
        struct framework f = made;
        l.o.schedule = SCHEDULE_NONE;
        assert_true(recipe_framework(&l.o, &f, &l.r, &l.a, &l.err));
        assert_near(l.o.optimizer.state_bytes_per_param, rows[i].state_bytes, 0);
        assert_near(l.o.program.steps_per_call, rows[i].steps_per_call, 0);
        assert_int_equal(l.o.program.accumulation_multiple, 3);
        arena_free(&l.a);
    }
}

/* ---- each key alone ----------------------------------------------------------------------------------------------------- */

/* A value other than the recipe's, in the key's range; NULL: texts are tested elsewhere. */
static const char *other_value(const struct field *f, const struct recipe *r, struct arena *a)
{
    const void *at = (const char *)r + f->offset;
    if (text_is(f->name, "epochs") || text_is(f->name, "samples_to_converge"))
        return NULL;                    /* an override replaces an earlier one; a line of a file does not */
    switch (f->type) {
    case FIELD_U64: return arena_printf(a, "%.0f", f->min + (*(const uint64_t *)at == (uint64_t)f->min + 1 ? 2 : 1));
    case FIELD_F64: return arena_printf(a, "%.3f", f->min + (*(const double *)at == f->min + 0.5 ? 0.75 : 0.5));
    case FIELD_BOOL: return *(const bool *)at ? "no" : "yes";
    case FIELD_CHOICE: return f->choices[*(const int *)at == 1 ? 0 : 1];
    case FIELD_U32: case FIELD_TEXT: break;
    }
    return text_is(f->name, "dataset") ? "another" : text_is(f->name, "source") ? "elsewhere" : text_is(f->name, "available_memory") ? "0.375" : NULL;
}

/* Unsigned, so that an offset before the first is large. */
static bool shapes_graph(const struct field *f)
{
    return f->offset - offsetof(struct recipe, model) < sizeof(struct model_options);
}

/* The recipe's file with one key more, or another value of it. */
static const char *written(const struct recipe *r, const struct recipe_setting *s, const char *value, struct arena *a)
{
    char *text;
    bool found = false;
    PRINTED(text,
        for (size_t i = 0; i < r->n_entries; i++) {
            const struct ini_entry *e = &r->entries[i];
            bool is_key = text_is(e->section, s->section) && text_is(e->key, s->field->name);
            found |= is_key;
            if (i == 0 || !text_is(e->section, r->entries[i - 1].section))
                fprintf(f, "[%s]\n", e->section);
            fprintf(f, "%s = %s\n", e->key, is_key ? value : e->value);
        }
        if (!found)
            fprintf(f, "[%s]\n%s = %s\n", s->section, s->field->name, value));
    const char *path = arena_strdup(a, temp_file(text, strlen(text), ".ini"));
    free(text);
    return path;
}

static void check_member(const struct recipe *a, const struct recipe *b, const struct field *f)
{
    const char *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
    if (f->type == FIELD_TEXT)
        assert_string_equal(*(const char *const *)x, *(const char *const *)y);
    else
        assert_memory_equal(x, y, f->type == FIELD_BOOL ? sizeof(bool) : f->type == FIELD_CHOICE ? sizeof(int) : 8);
}

/* Overriding one key reads the same as a file with that line, and changes the graph only if the key shapes it. */
static void check_key(const struct loaded *plain, const struct recipe_setting *s, const char *value)
{
    struct loaded over, file;
    struct arena a = { 0 };
    size_t n_plain, n_over;
    const char *override = arena_printf(&a, "%s.%s=%s", s->section, s->field->name, value);
    bool good = load(&over, plain->r.id, &override, 1);
    const char *path = written(&plain->r, s, value, &a);
    bool same = load(&file, path, NULL, 0) == good;
    if (!same)
        print_error("%s: '%s' and '%s'\n", override, over.err.msg, file.err.msg);
    assert_true(same);
    if (good) {
        const char *x = recipe_graph_key(&n_plain, &plain->r, &a), *y = recipe_graph_key(&n_over, &over.r, &a);
        check_member(&over.r, &file.r, s->field);
        if ((n_plain != n_over || memcmp(x, y, n_plain) != 0) != (shapes_graph(s->field) || text_is(s->field->name, "mode")))
            print_error("%s\n", override);
        assert_true((n_plain != n_over || memcmp(x, y, n_plain) != 0) == (shapes_graph(s->field) || text_is(s->field->name, "mode")));
    }
    unlink(path);
    arena_free(&over.a);
    arena_free(&file.a);
    arena_free(&a);
}

static void keys_alone(void **state)
{
    static const char *const ids[] = { bert, resnet };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct loaded plain;
        struct recipe_setting *settings;
        assert_true(load(&plain, ids[i], NULL, 0));
        size_t n = recipe_settings(&settings, &plain.r, &plain.a), n_tried = 0;
        for (size_t k = 0; k < n; k++) {
            const char *value = other_value(settings[k].field, &plain.r, &plain.a);
            n_tried += value != NULL;
            if (value)
                check_key(&plain, &settings[k], value);
        }
        assert_true(n_tried > 40);
        arena_free(&plain.a);
    }
}

/* Recipes of one graph have one key: texts count to their last letter, and what does not shape the graph does not count. */
static void keys_of_graphs(void **state)
{
    static const struct { const char *words, *others; bool same; } pairs[] = {
        { "recipe.workload=model.onnx recipe.output=boxes1", "recipe.workload=model.onnx recipe.output=boxes2", false },
        { "recipe.workload=model.onnx recipe.output=boxes", "recipe.workload=model.onnx recipe.output=boxes1", false },
        { "recipe.workload=model.onnx recipe.output=boxes", "recipe.workload=model.onnx", false },
        { "recipe.workload=model.onnx recipe.output=boxes", "recipe.workload=model.onnx recipe.output=boxes parallel.replicas=7 recipe.sdk=3.0.0", true },
        { "recipe.workload=model.onnx data.tokens=17", "recipe.workload=model.onnx data.tokens=18", false },
        { "recipe.workload=model1.onnx", "recipe.workload=model2.onnx", false }, { "recipe.workload=model1.onnx", "recipe.workload=model1.onnx", true },
        { "recipe.workload=resnet18", "recipe.workload=resnet34", false }, { "optimizer.name=sgd", "optimizer.name=lars", true },
        { "recipe.mode=infer", "recipe.mode=infer optimizer.name=", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct loaded one, other;
        size_t n, n_other;
        assert_true(load_words(&one, resnet, pairs[i].words) && load_words(&other, resnet, pairs[i].others));
        const char *key = recipe_graph_key(&n, &one.r, &one.a), *of_other = recipe_graph_key(&n_other, &other.r, &other.a);
        if ((n == n_other && memcmp(key, of_other, n) == 0) != pairs[i].same)
            print_error("%s and %s\n", pairs[i].words, pairs[i].others);
        assert_true((n == n_other && memcmp(key, of_other, n) == 0) == pairs[i].same);
        arena_free(&one.a);
        arena_free(&other.a);
    }
}

/* ---- lists and faults ----------------------------------------------------------------------------------------------------- */

static const char *repeated(const char *key, const char *item, size_t n, struct arena *a)
{
    char *text;
    PRINTED(text, fprintf(f, "%s=", key); for (size_t i = 0; i < n; i++) fprintf(f, "%s%s", i ? "," : "", item));
    const char *out = arena_strdup(a, text);
    free(text);
    return out;
}

/* 64 of each and no more. */
static void lists_end(void **state)
{
    static const struct { const char *key, *item, *message; size_t most; } lists[] = {
        { "parallel.layers_per_ipu", "1", ": has more than 128 stages", 128 }, { "parallel.available_memory", "1", ": has more than 128 shares", 128 },
        { "parallel.recompute_checkpoints", "x", ": has more than 64 layers", 64 } };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t n = lists[i].most; n < lists[i].most + 2; n++) {
            struct loaded l;
            const char *override = repeated(lists[i].key, lists[i].item, n, &a);
            assert_true(load(&l, bert, &override, 1) == (n == lists[i].most));
            if (n > lists[i].most)
                assert_string_equal(l.err.msg + strlen(l.err.msg) - strlen(lists[i].message), lists[i].message);
            else
                assert_int_equal(i == 0 ? l.o.n_stages : i == 1 ? l.o.n_available_memory : l.o.n_checkpoints, n);
            arena_free(&l.a);
        }
    arena_free(&a);
}

/* A name and how it is understood; NULL if it is understood as it is. */
static void values_at_their_ends(void **state)
{
    static const struct { const char *override, *message; } rows[] = {
        { "parallel.layers_per_ipu=10000,0,0,0", NULL }, { "parallel.layers_per_ipu=10001,0,0,0", "'10001' is not the size of a stage; want blocks, as in 3,7,7,7,0, or halves, as in 7/6,6/7" },
        { "parallel.layers_per_ipu=7/10001,0,0,0", "'7/10001' is not the size of a stage; want blocks, as in 3,7,7,7,0, or halves, as in 7/6,6/7" },
        { "parallel.layers_per_ipu=1,2,3", "has 3 stages for 4 IPUs a replica; want at least one an IPU" }, { "parallel.layers_per_ipu=auto", NULL },
        { "parallel.io_tiles=4294967296", "4294967296 is outside 0 to 1472" },
        { "parallel.available_memory=1", NULL }, { "parallel.available_memory=0", "'0' is not a share; want more than 0, at most 1, as in 0.25" },
        { "parallel.available_memory=0.2, 1.01", "'1.01' is not a share; want more than 0, at most 1, as in 0.25" },
        { "parallel.recompute_checkpoints=a,,b", "an empty name; want layers, as in stage1/unit1,stage2/unit1" },
        { "faults.link=0-1 1", NULL }, { "faults.link=0-1 0", NULL }, { "faults.link=0-1 1.01", "1.01 is outside 0 to 1: the share of its rate that the link keeps" },
        { "faults.link=1-1 0.5", "'1-1 0.5' is not understood; want A-B SHARE, as in 0-1 0.5" }, { "faults.link=1 0.5", "'1 0.5' is not understood; want A-B SHARE, as in 0-1 0.5" },
        { "faults.link=0-1 -1", "'0-1 -1' is not understood; want A-B SHARE, as in 0-1 0.5" }, { "faults.chip=3 1", NULL },
        { "faults.chip=3 0.99", "0.99 is below 1: how many times longer the chip computes" }, { "faults.chip=3-4 2", "'3-4 2' is not understood; want IPU FACTOR, as in 3 1.2" },
        { "faults.flow=0-1 0", NULL }, { "faults.flow=0-x 1", "'0-x 1' is not understood; want A-B RATE, as in 0-5 4e9" }, { "faults.link12=0-1 0.5", NULL },
        { "faults.chip=4294967295 2", NULL }, { "faults.chip=4294967296 2", "'4294967296 2' is not understood; want IPU FACTOR, as in 3 1.2" },
        { "faults.linkx=0-1 0.5", "unknown key in [faults]; did you mean 'link'? known: link, chip, flow (and link1, link2...)" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        bool good = load(&l, bert, &rows[i].override, 1);
        if (good != !rows[i].message)
            print_error("%s: %s\n", rows[i].override, l.err.msg);
        assert_true(good == !rows[i].message);
        if (rows[i].message)
            assert_string_equal(l.err.msg, arena_printf(&l.a, "--set %s: %s", rows[i].override, rows[i].message));
        arena_free(&l.a);
    }
}

/* Other entries of [data] are dimensions of an ONNX file, if the model is one; no other section has them. */
static void dimensions_of_a_file(void **state)
{
    static const struct { const char *words, *dimensions, *message; } rows[] = {
        { "recipe.workload=model.onnx data.tokens=7", "tokens=7", "" },
        { "recipe.workload=model.onnx data.tokens=7 data.frames=5 data.tokens=9", "tokens=9,frames=5", "" },
        { "data.tokens=7", NULL, "--set data.tokens=7: unknown key in [data]" },
        { "recipe.workload=model.onnx parallel.tokens=7", NULL, "--set parallel.tokens=7: unknown key in [parallel]" },
        { "recipe.workload= data.tokens=7", NULL, "--set data.tokens=7: unknown key in [data]" },
        { "recipe.workload=no-such-model data.tokens=7", NULL, "--set data.tokens=7: unknown key in [data]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        bool good = load_words(&l, resnet, rows[i].words);
        if (good == *rows[i].message)
            print_error("%s: %s\n", rows[i].words, l.err.msg);
        assert_true(good == !*rows[i].message);
        if (good)
            assert_string_equal(l.r.model.dimensions, rows[i].dimensions);
        else
            assert_int_equal(strncmp(l.err.msg, rows[i].message, strlen(rows[i].message)), 0);
        arena_free(&l.a);
    }
}

/* A message names the line of the key, even line 1. */
static void a_line_is_named(void **state)
{
    static const char text[] = "[parallel]\navailable_memory = 2\nreplicas = 1\nipus_per_replica = 1\nmicro_batch = 1\n[recipe]\nid = x\nworkload = resnet50\n"
                               "system = ipu-pod4\nsource = none\nmode = infer\n";
    struct loaded l;
    (void)state;
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_false(load(&l, path, NULL, 0));
    assert_string_equal(l.err.msg, arena_printf(&l.a, "%s:2: available_memory: '2' is not a share; want more than 0, at most 1, as in 0.25", path));
    unlink(path);
    arena_free(&l.a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_matters), cmocka_unit_test(idle_shares), cmocka_unit_test(settings_are_as_given), cmocka_unit_test(idle_by_the_plan), cmocka_unit_test(first_steps_matter), cmocka_unit_test(idle_in_the_framework), cmocka_unit_test(defaults),
    cmocka_unit_test(an_ending_is_a_path), cmocka_unit_test(names_of_submitters), cmocka_unit_test(terms_of_an_id), cmocka_unit_test(schedules_of_a_framework), cmocka_unit_test(values_of_a_framework), cmocka_unit_test(keys_alone), cmocka_unit_test(keys_of_graphs), cmocka_unit_test(lists_end),
    cmocka_unit_test(values_at_their_ends), cmocka_unit_test(a_line_is_named), cmocka_unit_test(dimensions_of_a_file),
};
TAP_MAIN(tests)
