/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_families.c - a built-in model that is written as an ONNX file and read back computes the same, on random weights.
 */
#include "tests/check.h"
#include "tests/golden_text.h"
#include "tests/onnx/draft.h"
#include "tests/onnx/execute_onnx.h"
#include "workloads/models/builders.h"
#include <unistd.h>

enum { SEED = 5 };

/* Indices are below the sizes of their tables. */
static uint64_t index_limit(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_GATHER && g->ops[i].inputs[1] == id) {
            const struct tensor *table = &g->tensors[g->ops[i].inputs[0]];
            return table->dims[table->n_dims - 2];
        }
    return 1;
}

static double filled(const struct graph *g, uint32_t id, uint64_t i)
{
    const struct tensor *t = &g->tensors[id];
    return t->type == TYPE_INT32 ? (double)(hash_bytes(&i, sizeof i, id) % index_limit(g, id)) : (double)(float)draft_noise(t->name, i);
}

static double **execute_built(const struct graph *g, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        uint64_t n = tensor_elements(&g->tensors[i]);
        v[i] = ARENA_ARRAY(a, double, n);
        if (g->tensors[i].role == ROLE_WEIGHT || g->tensors[i].role == ROLE_STATE)
            onnx_initial(v[i], g, i, SEED);
        for (uint64_t k = 0; k < n && g->tensors[i].role == ROLE_INPUT; k++)
            v[i][k] = filled(g, i, k);
    }
    graph_execute(g, v);
    return v;
}

static uint32_t input_called(const struct graph *g, const char *name)
{
    uint32_t i = 0;
    while (!g->tensors[i].name || !text_is(g->tensors[i].name, name))
        i++;
    return i;
}

static const double *execute_read(const struct graph *g, const struct onnx_import *im, const struct graph *built, struct arena *a)
{
    double **v = onnx_values(g, im, a);
    for (size_t i = 0; i < im->n_inputs; i++) {
        uint32_t own = input_called(built, g->tensors[im->inputs[i]].name);
        for (uint64_t k = 0; k < tensor_elements(&g->tensors[im->inputs[i]]); k++)
            v[im->inputs[i]][k] = filled(built, own, k);
    }
    graph_execute(g, v);
    return v[im->output];
}

/* The layers and operations of the file, as a golden text. */
static void check_layers(const struct graph *read, const struct onnx_import *im, const char *name, struct arena *a)
{
    char *text;
    PRINTED(text, onnx_print(f, im); graph_print(f, read); graph_print_ops(f, read));
    assert_golden(strchr(text, '\n') + 1, arena_printf(a, "tests/golden/onnx_family_%s.txt", name), a);
    free(text);
}

/* The result that nothing reads of which the file has `before` others before it. Casts that nothing reads are not written. */
static uint32_t result_of(const struct graph *g, size_t before, struct arena *a)
{
    bool *is_read = ARENA_ARRAY(a, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            is_read[g->ops[i].inputs[k]] = true;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].producer_op != NO_ID && !is_read[i] && g->ops[g->tensors[i].producer_op].kind != OP_CAST && before-- == 0)
            return i;
    return NO_ID;
}

static void remove_files(const char *path, struct arena *a)
{
    unlink(path);
    unlink(arena_printf(a, "%s.data", path));
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
    struct builder b = builder_start(&built, w->name, &o, &a);
    assert_true(w->build(&b, w, &err));
    built.n_forward_ops = built.n_ops;
    assert_true(onnx_write(path, &built, (uint64_t[]){ SEED }, &err));
    double **expected = execute_built(&built, &a);
    struct onnx_options reader = { .batch = o.micro_batch, .inference = true, .contents = true };
    for (size_t k = 0; ; k++) {
        onnx_build(&read, &im, path, &reader, &a, &err);
        assert_string_equal(err.msg, "");
        if (k == 0) {
            read.name = w->name;
            check_layers(&read, &im, w->name, &a);
            assert_int_equal(graph_parameters(&read), graph_parameters(&built));
            assert_int_equal(graph_forward_mac(&read), graph_forward_mac(&built));
        }
        uint32_t result = result_of(&built, k, &a);
        uint64_t n = tensor_elements(&built.tensors[result]);
        assert_int_equal(tensor_elements(&read.tensors[im.output]), n);
        const double *found = execute_read(&read, &im, &built, &a);
        for (uint64_t i = 0; i < n; i++)
            assert_near(found[i], expected[result][i], 1e-5);
        if (result_of(&built, k + 1, &a) == NO_ID)
            break;
        reader.output = im.model->values[im.model->outputs[1]].name;        /* the file's second output alone */
    }
    remove_files(path, &a);
    arena_free(&a);
}

static void images(void **state)
{
    static const struct inverted_config small = { 3, 3, 32, 0.2, 1, 2 };
    static const struct resnet_config grouped = { .units = { 1, 1 }, .bottleneck = true, .groups = 8, .group_width = 4 };
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
    static const struct decoder_config gpt2 = { .kind = DECODER_GPT2, .n_layers = 2, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9, .dropout = 0.1 };
    static const struct vit_config vit = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .patch = 4, .image = 8 };
    struct workload words = { .name = "bert", .build = bert_build, .config = &bert, .default_sequence_length = 7 };
    struct workload text = { .name = "gpt2", .build = decoder_build, .config = &gpt2, .default_sequence_length = 7 };
    struct workload split = { .name = "gpt2-split", .build = decoder_build, .config = &gpt2, .default_sequence_length = 7 };
    struct workload patches = { .name = "vit", .build = vit_build, .config = &vit };
    (void)state;
    there_and_back(&words, (struct model_options){ .micro_batch = 2 });
    there_and_back(&text, (struct model_options){ .micro_batch = 2 });
    there_and_back(&split, (struct model_options){ .micro_batch = 2, .split_qkv = true });
    there_and_back(&patches, (struct model_options){ .micro_batch = 2 });
}

static void large_families(void **state)
{
    static const struct decoder_config gptj = { .kind = DECODER_GPTJ, .n_layers = 1, .hidden = 12, .heads = 2, .turned = 4, .vocabulary = 11 };
    static const struct decoder_config llama = { .kind = DECODER_LLAMA, .n_layers = 1, .hidden = 24, .heads = 6, .key_heads = 2, .inner = 10, .vocabulary = 11, .epsilon = 1e-5 };
    static const struct decoder_config bloom = { .kind = DECODER_BLOOM, .n_layers = 1, .hidden = 9, .heads = 3, .vocabulary = 11 };
    static const struct t5_config t5 = { .n_layers = 1, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 11 };
    const struct workload w[] = {
        { .name = "gptj", .build = decoder_build, .config = &gptj, .default_sequence_length = 6 },
        { .name = "llama", .build = decoder_build, .config = &llama, .default_sequence_length = 6 },
        { .name = "bloom", .build = decoder_build, .config = &bloom, .default_sequence_length = 6 },
        { .name = "t5", .build = t5_build, .config = &t5, .default_sequence_length = 6 },
    };
    (void)state;
    for (int i = 0; i < 4; i++)
        there_and_back(&w[i], (struct model_options){ .micro_batch = 2 });
}

static void speech(void **state)
{
    static const struct conformer_config small = { .n_encoder = 2, .n_decoder = 1, .hidden = 6, .heads = 2, .inner = 10, .kernel = 3, .features = 9,
                                                   .vocabulary = 8, .labels = 3 };
    struct workload w = { .name = "conformer", .build = conformer_build, .config = &small, .default_sequence_length = 19 };
    (void)state;
    there_and_back(&w, (struct model_options){ .micro_batch = 2 });
}

static void transducers(void **state)
{
    static const struct rnnt_config lstm = { .features = 5, .encoder_hidden = 4, .encoder_first = 1, .encoder_second = 1, .time_stack = 2,
                                             .predictor_hidden = 3, .predictor_layers = 1, .joint_hidden = 4, .labels = 6 };
    struct workload w = { .name = "rnnt", .build = rnnt_build, .config = &lstm, .default_sequence_length = 6 };
    (void)state;
    there_and_back(&w, (struct model_options){ .micro_batch = 2, .labels_per_sample = 3 });
}

/* ---- every built-in model -------------------------------------------------------------------------------------------- */

/* Views are free, transpositions join differently, and the parts of a swish and of a dropout in place are joined; all other work is as much as it was. */
static void same_operations(const struct graph *read, const struct graph *built)
{
    int counts[N_OP_KINDS] = { 0 };
    bool other = false;
    for (size_t i = 0; i < built->n_ops; i++)
        counts[built->ops[i].kind]++;
    for (size_t i = 0; i < read->n_ops; i++)
        counts[read->ops[i].kind]--;
    int dropped = counts[OP_NOISE];             /* forward: noise and a product; backward: a product */
    counts[OP_NOISE] = 0;
    counts[OP_MUL] -= built->n_ops > built->n_forward_ops ? 2 * dropped : dropped;
    counts[OP_DROPOUT] += built->n_ops > built->n_forward_ops ? 2 * dropped : dropped;
    int joined = -counts[OP_SWISH];             /* x sigmoid(x) in two operations is read as swish */
    if (joined > 0) {
        counts[OP_SWISH] += joined;
        counts[OP_SIGMOID] -= joined;
        counts[OP_MUL] -= joined;
        counts[OP_ADD] -= built->n_ops > built->n_forward_ops ? joined / 2 : 0;         /* the sum of the two gradients of x */
    }
    for (int k = 0; k < N_OP_KINDS; k++)
        if (counts[k] && k != OP_VIEW && k != OP_TRANSPOSE) {
            print_error("%s has %d operations %s more than the file\n", built->name, counts[k], op_kind_names[k]);
            other = true;
        }
    assert_false(other);
}

/* Weights of one element, which a file's reader takes for numbers: constants are written in the same way. */
static uint64_t count_lone_weights(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i].role == ROLE_WEIGHT && tensor_elements(&g->tensors[i]) == 1;
    return n;
}

static void same_numbers(const struct workload *w, bool inference)
{
    struct arena a = { 0 };
    struct graph built, read;
    struct onnx_import im;
    struct err err = { "" };
    struct model_options o = own_options;
    char path[64];
    snprintf(path, sizeof path, "/tmp/t_families_%d.onnx", (int)getpid());
    o.inference = inference;
    o.loss_slices = 1;                  /* a file has one loss */
    o.input_type = INPUT_UINT8;         /* a file would have its own */
    o.micro_batch = 2;                  /* one number for all samples is read as such */
    assert_true(workload_graph(&built, w, &o, &a, &err));
    if (!onnx_write(path, &built, NULL, &err)) {
        /* Distances of knowledge graphs, their functions, and a transducer's loss are in no file. */
        assert_non_null(strstr(err.msg, "no ONNX operator is known for "));
        assert_true(w->traits & HAS_NEGATIVES || (!inference && strstr(err.msg, "transducer-loss")));
        arena_free(&a);
        return;
    }
    o.file = path;
    assert_true(onnx_file_import(&read, &im, &o, &a, &err));
    unlink(path);
    assert_int_equal(graph_parameters(&read), graph_parameters(&built) - count_lone_weights(&built));
    assert_int_equal(graph_forward_mac(&read), graph_forward_mac(&built));
    if (count_lone_weights(&built) == 0)
        same_operations(&read, &built);
    size_t n = built.n_layers;
    assert_int_equal(read.n_layers, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(read.layers[i].name, built.layers[i].name);
        assert_int_equal(read.layers[i].role, built.layers[i].role);
        assert_int_equal(read.layers[i].block_id, built.layers[i].block_id);
    }
    arena_free(&a);
}

/* The bytes that an IPU exchanges with others of its axes, forward and backward. */
static double exchanged_bytes(const struct graph *g)
{
    double bytes = 0;
    for (size_t i = 0; i < g->n_ops; i++) {
        struct op_exchange e = op_exchange(g, &g->ops[i]);
        bytes += e.n * e.bytes;
    }
    return bytes;
}

/* The training of a file is cut over IPUs as that of the model which wrote it: as many weights on an IPU, and as many sums. */
static void cut_alike(const char *name, const char *ipus)
{
    struct arena a = { 0 };
    struct graph whole, built, read;
    struct err err = { "" };
    struct model_options o = own_options;
    char path[64];
    snprintf(path, sizeof path, "/tmp/t_families_%d.onnx", (int)getpid());
    o.micro_batch = 2, o.sequence_length = 32;
    assert_true(workload_graph(&whole, workload_find(name, &err), &o, &a, &err));
    assert_true(onnx_write(path, &whole, NULL, &err));
    o.file = path, o.tensor_parallel = ipus, o.where = "test";
    bool good = workload_graph(&built, workload_find(name, &err), &o, &a, &err) && workload_graph(&read, workload_find(path, &err), &o, &a, &err);
    unlink(path);
    assert_string_equal(err.msg, "");
    assert_true(good && read.n_ops > read.n_forward_ops);
    assert_int_equal(graph_parameters(&read), graph_parameters(&built));
    assert_true(graph_parameters(&read) < graph_parameters(&whole));
    assert_true(exchanged_bytes(&read) == exchanged_bytes(&built) && exchanged_bytes(&read) > 0);
    arena_free(&a);
}

static void files_are_cut(void **state)
{
    (void)state;
    cut_alike("gpt2-small", "4");
    cut_alike("gpt2-small", "2x3");
    cut_alike("bloom-560m", "4x4");
    cut_alike("flan-t5-base", "3");
    cut_alike("bert-base", "4");
}

static void every_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < workload_count(); i++) {
        same_numbers(workload_at(i), true);
        if (i == 0 || workload_at(i)->build != workload_at(i - 1)->build)       /* one of a family trains */
            same_numbers(workload_at(i), false);
    }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(images), cmocka_unit_test(sequences), cmocka_unit_test(large_families), cmocka_unit_test(speech),
                                           cmocka_unit_test(transducers), cmocka_unit_test(files_are_cut), cmocka_unit_test(every_model) };
TAP_MAIN(tests)
