/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_keys.c - keys that a recipe gives without effect, and the list of all keys with their defaults. */
#include "tests/documents.h"
#include "tests/loaded_recipe.h"
#include <jansson.h>
#include <unistd.h>

static void keys_without_effect_are_reported(void **state)
{
    struct loaded l;
    const char **unused;
    size_t n;
    (void)state;
    assert_true(LOAD(&l, pod16, "parallel.rts=no", "parallel.rts_domain=pod", "data.input_type=fp16",
                     "parallel.batch_norm_span=2", "parallel.available_memory=0.1,0.2,0.3,0.4,0.5"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_int_equal(n, 4);
    assert_string_equal(unused[0], "parallel.available_memory (past IPU 3)");
    assert_string_equal(unused[1], "parallel.rts_domain");
    assert_string_equal(unused[2], "data.input_type");
    assert_string_equal(unused[3], "parallel.batch_norm_span");
    arena_free(&l.a);
    assert_true(LOAD(&l, "mlperf-v2.0-closed-bow-pod16-resnet50", "training.converge=model"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_int_equal(n, 2);                     /* the reference has its own */
    assert_string_equal(unused[0], "data.samples_per_epoch");
    assert_string_equal(unused[1], "training.evaluations");
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "parallel.rts=no", "parallel.optimizer_state=on-chip", "optimizer.state_bytes_per_param=5", "hosts.steps_per_call=3",
                     "framework.sharded_elements=7", "framework.offloaded_elements=7", "framework.remote_alone_ipus=1", "framework.moment_bytes=3",
                     "framework.steps_per_call=2", "framework.update_order=series"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_int_equal(n, 5);                     /* decided by another key; four IPUs do have an order */
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "parallel.schedule=grouped", "framework.accumulation_multiple=2", "framework.output_reductions=3", "hosts.instances=2"));
    assert_false(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "parallel.schedule=interleaved", "parallel.layers_per_ipu=", "framework.accumulation_multiple=2"));
    assert_false(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));        /* an even split is a pipeline too */
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "parallel.schedule=interleaved", "parallel.layers_per_ipu=", "parallel.ipus_per_replica=2", "parallel.available_memory=",
                     "framework.accumulation_multiple=2"));
    assert_false(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));        /* also with two IPUs */
    arena_free(&l.a);
    assert_true(LOAD(&l, "vendor-ipu-pod4-resnet50-tf1", "framework.accumulation_multiple=2", "framework.output_reductions=3", "parallel.schedule=grouped"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_int_equal(n, 2);                     /* one IPU needs no turns and no schedule */
    assert_string_equal(unused[0], "framework.accumulation_multiple");
    assert_string_equal(unused[1], "parallel.schedule");
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "parallel.schedule=sequential", "framework.accumulation_multiple=2", "framework.output_reductions=3", "hosts.instances=1"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_int_equal(n, 2);                     /* no pipeline with turns, and no other process to average with */
    assert_string_equal(unused[0], "framework.accumulation_multiple");
    assert_string_equal(unused[1], "framework.output_reductions");
    arena_free(&l.a);
}

/* Inference with an optimizer evaluates a pre-training run, for which only BERT has separate heads. Drawn runs of a
 * benchmark have an end even if the recipe has none. */
static void keys_that_matter_elsewhere(void **state)
{
    static const struct { const char *recipe, *sets[2]; const char *idle; } rows[] = {
        { "vendor-ipu-m2000-bert-large-infer-b2", { "optimizer.name=lamb", "optimizer.name=lamb" }, "" },
        { "vendor-ipu-m2000-bert-large-infer-b2", { "optimizer.name=lamb", "training.fine_tuning=yes" }, "optimizer.name training.fine_tuning" },
        { "vendor-ipu-m2000-resnet50-infer-b4", { "optimizer.name=lars", "optimizer.name=lars" }, "optimizer.name" },
        { "vendor-ipu-pod16-bert-large-ph1-popart", { "training.eval_every=7", "training.initial_checkpoint=yes" }, "" },
        { "vendor-ipu-pod16-bert-large-ph1-popart", { "training.eval_samples=7", "training.evaluations=3" }, "training.evaluations" },
        { "vendor-ipu-pod16-bert-base-ph1-popart", { "training.eval_every=7", "training.eval_samples=3" }, "training.eval_every training.eval_samples" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        const char **unused, *found = "";
        size_t n;
        assert_true(load(&l, rows[i].recipe, rows[i].sets, 2));
        recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a);
        for (size_t k = 0; k < n; k++)
            found = arena_printf(&l.a, "%s%s%s", found, k ? " " : "", unused[k]);
        assert_string_equal(found, rows[i].idle);
        arena_free(&l.a);
    }
}

/* The position in the file does not matter; an override there counts. */
static void a_first_key_without_effect(void **state)
{
    struct loaded l = { 0 };
    char *text;
    size_t n_bytes, n;
    const char **unused;
    (void)state;
    assert_true(read_text_file(&text, &n_bytes, arena_printf(&l.a, "%s/vendor-ipu-m2000-resnet50-infer-b4.ini", recipes), 1 << 16, &l.a, &l.err));
    text = arena_strdup(&l.a, arena_printf(&l.a, "[framework]\nmerge_buffer_bytes = 1000000\n%s", text));
    assert_true(recipe_load(&l.r, temp_file(text, strlen(text), ".ini"), recipes, NULL, 0, &l.a, &l.err));
    unlink(temp_file("", 0, ".ini"));
    assert_true(recipe_unused_keys(&unused, &n, &l.r, NULL, &l.a));
    assert_string_equal(unused[0], "framework.merge_buffer_bytes");
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_true(recipe_load(&l.r, path, recipes, (const char *[]){ "framework.merge_buffer_bytes=7" }, 1, &l.a, &l.err));
    unlink(path);
    assert_string_equal(value_in(l.r.framework_settings, l.r.n_framework_settings, "merge_buffer_bytes"), "7");
    arena_free(&l.a);
}

static json_t *listed_keys(struct arena *a)
{
    struct document d = { .arena = a };
    recipe_keys_document(&d);
    return document_json_read(&d);
}

static void keys_are_listed(void **state)
{
    struct arena a = {0};
    struct document shown = { .arena = &a };
    (void)state;
    recipe_keys_document(&shown);
    char *text = document_text(&shown);
    json_t *json = listed_keys(&a), *key;
    size_t i = 0;
    for (const char *line = strchr(text, '\n') + 1; *line != '['; line = strchr(line, '\n') + 1) {      /* the same keys in both, in the same order */
        key = json_array_get(json, i++);
        const char *name = arena_printf(&a, "%s.%s ", json_string_value(json_object_get(key, "section")), json_string_value(json_object_get(key, "key")));
        assert_int_equal(strncmp(line, name, strlen(name)), 0);
    }
    assert_int_equal(json_array_size(json), i);
    json_array_foreach(json, i, key)
        if (text_is(json_string_value(json_object_get(key, "key")), "sequence_length")) {
            assert_near(json_number_value(json_object_get(key, "minimum")), 1, 0);
            assert_near(json_number_value(json_object_get(key, "maximum")), 16384, 0);
            assert_true(json_is_false(json_object_get(key, "required")) && json_array_size(json_object_get(key, "choices")) == 0);
        } else if (text_is(json_string_value(json_object_get(key, "key")), "mode")) {
            assert_int_equal(json_array_size(json_object_get(key, "choices")), 2);
            assert_true(json_is_null(json_object_get(key, "minimum")));
        }
    json_decref(json);
    arena_free(&a);
    free(text);
}

/* A recipe with only the required keys has the first choice of each key, and no for yes or no. */
static void defaults_are_as_listed(void **state)
{
    static const char text[] = "[recipe]\nid = x\nworkload = resnet50\nsystem = ipu-pod4\nsource = x\n[parallel]\nreplicas = 3\nipus_per_replica = 1\nmicro_batch = 5\n[optimizer]\nname = sgd\n";
    struct loaded l = {0};
    (void)state;
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_true(recipe_load(&l.r, path, recipes, NULL, 0, &l.a, &l.err));
    unlink(path);
    json_t *json = listed_keys(&l.a);
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct field *f = &recipe_keys[i].field;
        const char *listed = json_string_value(json_object_get(json_array_get(json, i), "default")), *at = (const char *)&l.r + f->offset;
        assert_true((f->type == FIELD_CHOICE || f->type == FIELD_BOOL) == (listed != NULL));
        if (f->type == FIELD_CHOICE)
            assert_string_equal(listed, f->choices[*(const int *)at]);
        if (f->type == FIELD_BOOL)
            assert_string_equal(listed, *(const bool *)at ? "yes" : "no");
    }
    assert_true(json_is_null(json_object_get(json_array_get(json, n_recipe_keys), "default")));         /* a framework's values are its sheet's */
    json_decref(json);
    arena_free(&l.a);
}

/* A second row with the same name would never be read. */
static void each_key_is_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_recipe_keys; i++)
        assert_ptr_equal(recipe_key_find(recipe_keys[i].section, recipe_keys[i].field.name), &recipe_keys[i]);
    for (size_t i = 0; i < n_framework_fields; i++)
        assert_ptr_equal(field_find(framework_fields, n_framework_fields, framework_fields[i].name), &framework_fields[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keys_without_effect_are_reported), cmocka_unit_test(keys_that_matter_elsewhere),
    cmocka_unit_test(a_first_key_without_effect), cmocka_unit_test(keys_are_listed),
    cmocka_unit_test(defaults_are_as_listed), cmocka_unit_test(each_key_is_there_once),
};
TAP_MAIN(tests)
