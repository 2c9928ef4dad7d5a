/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_families.c - a built-in model that is written as an ONNX file and read back computes the same, on random weights.
 */
#include "tests/check.h"
#include "tests/golden_text.h"
#include "tests/onnx/execute_onnx.h"
#include "tests/onnx/export.h"
#include "workloads/models/builders.h"
#include <unistd.h>

/* Contents depend on name and index, equally on both sides. */
static double filled(const char *name, const struct tensor *t, uint64_t i, uint64_t limit)
{
    uint64_t whole = hash_bytes(&i, sizeof i, hash_bytes(name, strlen(name), 5));
    return t->type == TYPE_INT32 ? (double)(whole % limit) : t->type == TYPE_UINT8 ? (double)(whole % 3 > 0) : (double)(float)draft_noise(name, i);
}

/* Indices are below the sizes of their tables. */
static uint64_t index_limit(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_GATHER && g->ops[i].inputs[1] == id)
            return g->tensors[g->ops[i].inputs[0]].dims[0];
    return 1;
}

static const double *execute_built(const struct graph *g, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        uint64_t n = tensor_elements(&g->tensors[i]);
        v[i] = ARENA_ARRAY(a, double, n);
        for (uint64_t k = 0; k < n && g->tensors[i].producer_op == NO_ID; k++)
            v[i][k] = filled(arena_printf(a, "t%u", i), &g->tensors[i], k, index_limit(g, i));
    }
    graph_execute(g, v);
    return v[g->ops[g->n_ops - 1].outputs[0]];
}

static const double *execute_read(const struct graph *g, const struct onnx_import *im, const struct graph *built, struct arena *a)
{
    double **v = onnx_values(g, im, a);
    for (size_t i = 0; i < im->n_inputs; i++) {
        const struct tensor *t = &g->tensors[im->inputs[i]];
        uint64_t limit = index_limit(built, (uint32_t)strtoul(t->name + 1, NULL, 10));
        assert_false(im->input_is_image[i]);
        for (uint64_t k = 0; k < tensor_elements(t); k++)
            v[im->inputs[i]][k] = filled(t->name, t, k, limit);
    }
    graph_execute(g, v);
    return v[im->output];
}

/* Results that nothing reads, the last one first. */
static const char *unread(const struct graph *g, struct arena *a)
{
    bool *is_read = ARENA_ARRAY(a, bool, g->n_tensors);
    const char *names = arena_printf(a, "t%u", g->ops[g->n_ops - 1].outputs[0]);
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            is_read[g->ops[i].inputs[k]] = true;
    for (size_t i = 0; i + 1 < g->n_ops; i++)
        if (!is_read[g->ops[i].outputs[0]] && g->ops[i].n_outputs == 1)
            names = arena_printf(a, "%s t%u", names, g->ops[i].outputs[0]);
    return names;
}

/* The layers found in the file, as a golden text. */
static void check_layers(const struct graph *read, const struct onnx_import *im, const char *name, struct arena *a)
{
    char *text;
    PRINTED(text, onnx_print(f, im); graph_print(f, read); graph_print_ops(f, read));
    assert_golden(strchr(text, '\n') + 1, arena_printf(a, "tests/golden/onnx_family_%s.txt", name), a);
    free(text);
}

static void there_and_back(const struct workload *w, struct model_options o)
{
    struct arena a = { 0 };
    struct graph built, read;
    struct onnx_import im;
    struct err err = { "" };
    char path[64];
    snprintf(path, sizeof path, "/tmp/t_families_%d.onnx", (int)getpid());
    o.inference = true;
    o.input_type = INPUT_FP16;
    assert_true(w->build(&built, w, &o, &a, &err));
    struct draft *d = export_graph(&built);
    draft_write(d, unread(&built, &a), path);
    draft_end(d);
    struct onnx_options reader = { .batch = o.micro_batch, .inference = true, .contents = true };
    onnx_build(&read, &im, path, &reader, &a, &err);
    unlink(path);
    assert_string_equal(err.msg, "");
    assert_int_equal(graph_parameters(&read), graph_parameters(&built));
    assert_int_equal(graph_forward_mac(&read), graph_forward_mac(&built));
    uint64_t n = tensor_elements(&built.tensors[built.ops[built.n_ops - 1].outputs[0]]);
    assert_int_equal(tensor_elements(&read.tensors[im.output]), n);
    const double *expected = execute_built(&built, &a), *found = execute_read(&read, &im, &built, &a);
    for (uint64_t i = 0; i < n; i++)
        assert_near(found[i], expected[i], 1e-5);
    read.name = w->name;
    check_layers(&read, &im, w->name, &a);
    arena_free(&a);
}

static void images(void **state)
{
    static const struct inverted_config small = { 3, 3, 32, 0.2, 1, 2 };
    static const struct resnet_config grouped = { { 1, 1, 0, 0 }, true, 8, 4 };
    struct workload in_groups = { .name = "efficientnet-in-groups", .build = efficientnet_build, .config = &small };
    struct workload inverted = { .name = "efficientnet", .build = efficientnet_build, .config = &small };
    struct workload mobile = { .name = "mobilenet", .build = mobilenet_build, .config = &small };
    struct workload residual = { .name = "resnext", .build = resnet_build, .config = &grouped };
    (void)state;
    there_and_back(&inverted, (struct model_options){ .micro_batch = 2 });
    there_and_back(&in_groups, (struct model_options){ .micro_batch = 2, .norm_groups = 4 });
    there_and_back(&mobile, (struct model_options){ .micro_batch = 2 });
    there_and_back(&residual, (struct model_options){ .micro_batch = 3, .image_size = 16 });
}

static void sequences(void **state)
{
    static const struct bert_config bert = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 13, .positions = 9 };
    static const struct gpt2_config gpt2 = { .n_layers = 2, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9 };
    static const struct vit_config vit = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .patch = 4, .image = 8 };
    struct workload words = { .name = "bert", .build = bert_build, .config = &bert, .default_sequence_length = 7 };
    struct workload text = { .name = "gpt2", .build = gpt2_build, .config = &gpt2, .default_sequence_length = 7 };
    struct workload split = { .name = "gpt2-split", .build = gpt2_build, .config = &gpt2, .default_sequence_length = 7 };
    struct workload patches = { .name = "vit", .build = vit_build, .config = &vit };
    (void)state;
    there_and_back(&words, (struct model_options){ .micro_batch = 2 });
    there_and_back(&text, (struct model_options){ .micro_batch = 2 });
    there_and_back(&split, (struct model_options){ .micro_batch = 2, .split_qkv = true });
    there_and_back(&patches, (struct model_options){ .micro_batch = 2 });
}

static void speech(void **state)
{
    static const struct conformer_config small = { .n_encoder = 2, .n_decoder = 1, .hidden = 6, .heads = 2, .inner = 10, .kernel = 3, .features = 9,
                                                   .vocabulary = 8, .labels = 3 };
    struct workload w = { .name = "conformer", .build = conformer_build, .config = &small, .default_sequence_length = 19 };
    (void)state;
    there_and_back(&w, (struct model_options){ .micro_batch = 2 });
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(images), cmocka_unit_test(sequences), cmocka_unit_test(speech) };
TAP_MAIN(tests)
