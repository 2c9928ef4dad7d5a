/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_overrides.c - an override reads what a file with the same line does, and shapes the graph if its key does; where lists and faults end. */
#include "tests/golden_text.h"
#include "tests/loaded_recipe.h"
#include <unistd.h>

static const char resnet[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

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
    static const char *const ids[] = { pod16, resnet };
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

/* A list may have as many items as its message says, and no more. */
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
            assert_true(load(&l, pod16, &override, 1) == (n == lists[i].most));
            if (n > lists[i].most)
                assert_string_equal(l.err.msg + strlen(l.err.msg) - strlen(lists[i].message), lists[i].message);
            else
                assert_int_equal(i == 0 ? l.o.n_stages : i == 1 ? l.o.n_available_memory : l.o.n_checkpoints, n);
            arena_free(&l.a);
        }
    arena_free(&a);
}

/* Overrides with the message that refuses each; NULL: it is accepted. */
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
        bool good = load(&l, pod16, &rows[i].override, 1);
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
    cmocka_unit_test(keys_alone), cmocka_unit_test(keys_of_graphs), cmocka_unit_test(lists_end), cmocka_unit_test(values_at_their_ends),
    cmocka_unit_test(a_line_is_named), cmocka_unit_test(dimensions_of_a_file),
};
TAP_MAIN(tests)
