/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_model_options.c - how recipe keys change a model, and values that are refused. */
#include "tests/built_graph.h"

/* ---- what a recipe changes ---------------------------------------------------------------------- */

static void recipes_shape_the_graph(void **state)
{
    struct graph g, h;
    struct arena a, b;
    struct model_options r = { .micro_batch = 3, .vocabulary = 30912, .sequence_length = 384, .sequences_per_pack = 1 };
    (void)state;
    build(&g, "bert-base", NULL, &a);
    build(&h, "bert-base", &r, &b);
    assert_int_equal(graph_parameters(&h) - graph_parameters(&g), (30912 - 30522) * (768 + 1));
    assert_int_equal(h.micro_batch, 3);
    assert_int_equal(h.tensors[0].dims[1], 384);
    arena_free(&b);
    r.inference = true;
    build(&h, "bert-base", &r, &b);
    assert_int_equal(h.n_ops, h.n_forward_ops);
    for (size_t i = 0; i < h.n_ops; i++)
        assert_int_not_equal(h.ops[i].kind, OP_DROPOUT);
    assert_string_equal(h.layers[h.n_layers - 1].name, "answer-head");
    arena_free(&b);
    r.keeps_training_heads = true;          /* the evaluation of a pre-training run */
    build(&h, "bert-base", &r, &b);
    assert_string_equal(h.layers[h.n_layers - 1].name, "nsp-head");
    assert_int_equal(h.n_ops, h.n_forward_ops);
    arena_free(&a);
    arena_free(&b);
}

/*
 * A packed row of 512 tokens has four numbers for each token (word, position, segment, sequence), and a position and a
 * label for each of 76 masked tokens and 3 sequences: 2206 words. The rows of a call are 13.6 MB for 1536 of them,
 * 20.3 MB for 2304.
 */
static void a_packed_row_comes_in_eight_inputs(void **state)
{
    struct graph g;
    struct arena a;
    struct model_options r = { .micro_batch = 3, .sequence_length = 512, .sequences_per_pack = 2.0368 };
    uint64_t bytes = 0;
    (void)state;
    build(&g, "bert-large", &r, &a);
    for (size_t i = 0; i < g.n_tensors; i++)
        bytes += g.tensors[i].role == ROLE_INPUT ? tensor_bytes(&g.tensors[i]) : 0;
    assert_int_equal(count_role(&g, ROLE_INPUT), 8);
    assert_int_equal(bytes, 3 * 4 * (4 * 512 + 2 * (76 + 3)));
    for (size_t i = 0; i < g.n_ops; i++)
        assert_true(g.ops[i].kind != OP_CAST || (g.ops[i].n_inputs == 1 && g.tensors[g.ops[i].inputs[0]].type == TYPE_INT32));
    arena_free(&a);
}

/* Fine-tuning replaces the heads of pre-training by one of 768 x 2 + 2 parameters, with a loss over 384 positions and
 * a backward pass. */
static void fine_tuning_scores_an_answer(void **state)
{
    struct graph base, g;
    struct arena a, b;
    struct model_options r = { .micro_batch = 3, .sequence_length = 384, .sequences_per_pack = 1 };
    (void)state;
    build(&base, "bert-base", &r, &a);
    r.fine_tuning = true;
    build(&g, "bert-base", &r, &b);
    assert_string_equal(g.layers[g.n_layers - 1].name, "answer-head");
    assert_true(g.n_ops > g.n_forward_ops);
    const struct op *loss = &g.ops[g.n_forward_ops - 1];
    assert_int_equal(loss->kind, OP_CROSS_ENTROPY);
    assert_int_equal(g.tensors[loss->inputs[0]].dims[1], 2);
    assert_int_equal(g.tensors[loss->inputs[0]].dims[2], 384);
    /* gone: transform 768^2 + 768, norm 2 x 768, bias 30522, pooler 768^2 + 768, two classes 2 x 768 + 2 */
    assert_int_equal(graph_parameters(&base) - graph_parameters(&g), 2 * (768 * 768 + 768) + 2 * 768 + 30522);
    arena_free(&a);
    arena_free(&b);
}

/* Inference folds 53 batch norms into their convolutions, which leaves a bias each. */
static void inference_folds_batch_norms(void **state)
{
    struct graph g;
    struct arena a;
    struct model_options r = { .micro_batch = 2, .inference = true, .batch_norm_span = 1 };
    (void)state;
    build(&g, "resnet50", &r, &a);
    size_t biases = 0;
    for (size_t i = 0; i < g.n_ops; i++) {
        assert_int_not_equal(g.ops[i].kind, OP_BATCH_NORM);
        biases += g.ops[i].kind == OP_BIAS_ADD;
    }
    assert_int_equal(biases, 53 + 1);
    assert_int_equal(graph_parameters(&g), 25557032 - 26560);     /* one value less for each of 26,560 normalised
                                                                   * channels */
    assert_int_equal(graph_forward_mac(&g), 2 * 4089184256);
    arena_free(&a);
}

/* A model is built up to its limit, and not beyond it. */
static void lengths_beyond_a_model_are_refused(void **state)
{
    static const struct { const char *name; uint64_t last, beyond; const char *message; } cases[] = {
        { "bert-large", 512, 513, "r.ini: sequence_length 513 is more than the 512 positions of bert-large; take a shorter one" },
        { "gpt2-small", 1024, 1025, "r.ini: sequence_length 1025 is more than the 1024 positions of gpt2-small; take a shorter one" },
        { "conformer-medium", 7, 6, "r.ini: sequence_length: 6 frames, want at least 7: two convolutions of stride 2" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a = { 0 };
        struct err err;
        struct model_options r = { .where = "r.ini", .micro_batch = 1, .sequence_length = cases[i].last };
        assert_true(workload_graph(&g, workload_find(cases[i].name, &err), &r, &a, &err));
        r.sequence_length = cases[i].beyond;
        assert_false(workload_graph(&g, workload_find(cases[i].name, &err), &r, &a, &err));
        assert_string_equal(err.msg, cases[i].message);
        arena_free(&a);
    }
}

/* Two convolutions remove 4 pixels on each of four levels, which are halved on the way down and doubled on the way up.
 * 16 s + 60 pixels leave s for the bottom. The smallest s is 8: 8 - 4 = 4, and 2 x 4 - 4 = 4 at each level up. With
 * 172 pixels, 7 - 4 = 3, then 2, then nothing. */
static void unets_of_all_sizes(void **state)
{
    static const struct { uint64_t pixels, scores; } cases[] = {
        { 188, 4 }, { 204, 20 }, { 220, 36 }, { 572, 388 }, { 4092, 3908 }, { 172, 0 }, { 156, 0 }, { 140, 0 }, { 124, 0 }, { 92, 0 }, { 60, 0 }, { 16, 0 },
        { 187, 0 }, { 189, 0 }, { 190, 0 }, { 192, 0 }, { 196, 0 }, { 203, 0 }, { 205, 0 }, { 571, 0 }, { 573, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a = { 0 };
        struct err err = { "" };
        struct model_options r = { .where = "r.ini", .micro_batch = 1, .image_size = cases[i].pixels };
        bool built = workload_graph(&g, workload_find("unet", &err), &r, &a, &err);
        assert_string_equal(err.msg, cases[i].scores ? "" : "r.ini: data.image_size: unet halves it four times after taking 4 pixels; want 188, 204, 220.. (572)");
        assert_int_equal(built, cases[i].scores > 0);
        const struct tensor *scores = built ? &g.tensors[g.ops[g.n_forward_ops - 1].inputs[0]] : NULL;
        for (int d = 1; scores && d < 3; d++)
            assert_int_equal(scores->dims[d], cases[i].scores);
        arena_free(&a);
    }
}

/* 15 % of a row's tokens, rounded up; 56 of 384 and 76 of 512 as in the data sets of pre-training. */
static void masked_tokens_of_a_row(void **state)
{
    static const uint64_t cases[][2] = { { 1, 1 }, { 6, 1 }, { 7, 2 }, { 20, 3 }, { 21, 4 }, { 100, 15 }, { 101, 16 }, { 127, 20 }, { 128, 20 }, { 133, 20 }, { 134, 21 },
                                         { 383, 58 }, { 384, 56 }, { 385, 58 }, { 511, 77 }, { 512, 76 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        size_t k = 0;
        const struct model_options o = { .micro_batch = 3, .sequence_length = cases[i][0] };
        build(&g, "bert-base", &o, &a);
        while (!text_is(g.tensors[k].name, "masked-positions"))
            k++;
        assert_int_equal(g.tensors[k].dims[0], 3);
        assert_int_equal(g.tensors[k].dims[1], cases[i][1]);
        arena_free(&a);
    }
}

/* A kernel of 16 frames, two apart, with 7 zeros before and after: a step for each two frames of the longest utterance's 557, or of 66. */
static void kernels_over_time_are_centred(void **state)
{
    (void)state;
    for (uint64_t frames = 66; frames <= 557; frames += 491) {
        struct graph g;
        struct arena a;
        uint64_t n = 0, time = (frames + 1) / 2;
        const struct model_options o = { .micro_batch = 1, .sequence_length = frames };
        build(&g, "transformer-transducer", &o, &a);
        for (size_t i = 0; i < g.n_forward_ops; i++) {
            const struct op *conv = &g.ops[i];
            if (conv->kind != OP_CONV)
                continue;
            assert_true(conv->at->kernel_h == 1 && conv->at->kernel_w == 16 && conv->at->stride_w == 2 && conv->at->groups == 1);
            assert_true(conv->at->zeros[1] == 7 && conv->at->zeros[3] == 7 && conv->at->zeros[0] == 0 && conv->at->zeros[2] == 0);
            const uint64_t want[] = { 1, 1, time, 768 };
            assert_memory_equal(g.tensors[conv->outputs[0]].dims, want, sizeof want);
            n++;
        }
        assert_int_equal(n, 1);
        arena_free(&a);
    }
}

/* The window of 3 steps sees one before and one after its own, along the inner axis; each of 12 blocks has one. */
static void windows_of_conformers_lie_along_the_inner_axis(void **state)
{
    (void)state;
    struct graph g;
    struct arena a;
    uint64_t n = 0;
    build(&g, "conformer-medium", NULL, &a);
    for (size_t i = 0; i < g.n_forward_ops; i++)
        if (g.ops[i].kind == OP_CONV && g.ops[i].at->groups == 256) {
            const struct op_attributes *at = g.ops[i].at;
            assert_true(at->kernel_h == 1 && at->kernel_w == 15 && at->zeros[1] == 7 && at->zeros[3] == 7 && at->pad == 0);
            n++;
        }
    assert_int_equal(n, 12);
    arena_free(&a);
}

/* gelu-new writes one power, one tanh and four products a layer where gelu is one operation; relu and swish replace it. */
static void activations_replace_the_models_own(void **state)
{
    static const struct { int activation; enum op_kind kind; uint32_t powers, others; } cases[] = {
        { ACTIVATION_OWN, OP_GELU, 0, 12 }, { ACTIVATION_GELU, OP_GELU, 0, 12 }, { ACTIVATION_RELU, OP_RELU, 0, 12 }, { ACTIVATION_SWISH, OP_SWISH, 0, 12 },
        { ACTIVATION_GELU_NEW, OP_TANH, 12, 12 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        const struct model_options o = { .micro_batch = 1, .activation = cases[i].activation };
        uint32_t powers = 0, others = 0;
        build(&g, "gpt2-small", &o, &a);
        for (size_t k = 0; k < g.n_forward_ops; k++) {
            powers += g.ops[k].kind == OP_COMBINE && g.ops[k].at->function == FUNCTION_POWER;
            others += g.ops[k].kind == cases[i].kind;
        }
        assert_int_equal(powers, cases[i].powers);
        assert_int_equal(others, cases[i].others);
        arena_free(&a);
    }
}

/*
 * Programs that divide scores (Conformer: attention.py:122, 204; ViT: modules.py:157) and those that multiply by the inverse (BERT: bert_fused_attention.py:102;
 * GPT-2: optimized_gpt2_attn.py:29), once a layer; a decoder's layer has two attentions.
 */
static void scores_are_divided_where_the_program_does(void **state)
{
    static const struct { const char *name; uint32_t divided, multiplied; } cases[] = {
        { "vit-b16", 12, 0 }, { "conformer-medium", 12 + 2 * 6, 0 }, { "bert-base", 0, 12 }, { "gpt2-small", 0, 12 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        uint32_t divided = 0, multiplied = 0;
        build(&g, cases[i].name, NULL, &a);
        for (size_t k = 0; k < g.n_forward_ops; k++) {
            bool scores = g.ops[k].kind == OP_SCALE && g.tensors[g.ops[k].outputs[0]].n_dims == 4;
            divided += scores && g.ops[k].at->divided;
            multiplied += scores && !g.ops[k].at->divided;
        }
        assert_int_equal(divided, cases[i].divided);
        assert_int_equal(multiplied, cases[i].multiplied);
        arena_free(&a);
    }
}

/*
 * The vendor's conformer drops out in place six times in each of 12 encoder layers and once in each of 6 decoder layers; elsewhere once after the first
 * convolutions, once after the transcript's embedding, three times a decoder layer. The paper's has dropouts alone, two of them
 * around its joint network. A ViT drops out three times a layer
 * besides its attention, twice around the second product, and once before.
 */
static void dropouts_in_place_are_noise_and_a_product(void **state)
{
    static const struct { const char *name; uint32_t noises, dropouts; } cases[] = {
        { "conformer-medium", 12 * 6 + 6, 2 + 6 * 3 }, { "conformer-transducer-s", 0, 1 + 16 * 6 + 2 }, { "vit-b16", 0, 1 + 12 * 3 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        uint32_t noises = 0, dropouts = 0;
        build(&g, cases[i].name, NULL, &a);
        for (size_t k = 0; k < g.n_forward_ops; k++) {
            noises += g.ops[k].kind == OP_NOISE;
            dropouts += g.ops[k].kind == OP_DROPOUT;
            if (g.ops[k].kind == OP_NOISE)
                assert_true(g.ops[k + 1].kind == OP_MUL && g.ops[k + 1].inputs[1] == g.ops[k].outputs[0] && g.ops[k + 1].inputs[0] == g.ops[k].inputs[0]);
        }
        assert_int_equal(noises, cases[i].noises);
        assert_int_equal(dropouts, cases[i].dropouts);
        arena_free(&a);
    }
}

/* MLPerf's BERT splits the weights of query, key and value, and joins them for one product (bert_model.py, qkv_weights); GPT-2 would have three, and
 * huggingface's BERT has three (model.unfused_attention). */
static void split_weights_are_joined_where_the_program_does(void **state)
{
    static const struct { const char *name; uint32_t joined, products; bool unfused; } cases[] = {
        { "bert-base", 12, 12 * 6 + 4, false }, { "bert-base", 0, 12 * 8 + 4, true }, { "gpt2-small", 0, 12 * 8 + 1, false } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        const struct model_options o = { .micro_batch = 1, .split_qkv = !cases[i].unfused, .unfused_attention = cases[i].unfused };
        uint32_t joined = 0, products = 0;
        build(&g, cases[i].name, &o, &a);
        for (size_t k = 0; k < g.n_tensors; k++) {
            joined += g.tensors[k].n_joined == 3;
            if (g.tensors[k].n_joined)
                assert_true(g.tensors[k].role == ROLE_WEIGHT && g.tensors[k].dims[0] == 768 && g.tensors[k].dims[1] == 3 * 768);
        }
        for (size_t k = 0; k < g.n_forward_ops; k++)
            products += g.ops[k].kind == OP_MATMUL;
        assert_int_equal(joined, cases[i].joined);
        assert_int_equal(products, cases[i].products);
        arena_free(&a);
    }
}

/* A file is a family of its own, without a benchmark, counted in samples; its sequence length is in the file. */
static void a_file_is_a_workload(void **state)
{
    struct err err = { "" };
    (void)state;
    const struct workload *w = workload_find("some/model.onnx", &err);
    assert_non_null(w);
    assert_string_equal(w->name, "model.onnx");
    assert_string_equal(w->family, "onnx");
    assert_string_equal(w->sample, "sample");
    assert_null(w->config);
    assert_null(w->benchmark);
    assert_int_equal(w->default_sequence_length, 0);
    assert_int_equal(w->traits, IS_FILE | TAKES_IMAGES);
}

/* 125 labels for 557 frames, rounded, at least one, with frames stacked in twos; or the number that the recipe
 * gives. */
static void labels_of_an_utterance(void **state)
{
    static const struct { uint64_t frames; double asked; uint64_t labels; } cases[] = {
        { 557, 0, 125 }, { 5570, 0, 1250 }, { 2228, 0, 500 }, { 66, 0, 15 }, { 12, 0, 3 }, { 6, 0, 1 }, { 4, 0, 1 }, { 557, 0.2, 1 }, { 557, 1, 1 },
        { 557, 1.6, 2 }, { 557, 11.47, 11 }, { 557, 11.5, 12 },
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a;
        size_t k = 0;
        const struct model_options o = { .micro_batch = 3, .sequence_length = cases[i / 2].frames, .labels_per_sample = cases[i / 2].asked };
        build(&g, i % 2 ? "transformer-transducer" : "rnnt", &o, &a);
        while (!text_is(g.tensors[k].name, "previous-labels"))
            k++;
        assert_int_equal(g.tensors[k].dims[1], cases[i / 2].labels + 1);            /* and a start */
        const struct op *loss = &g.ops[g.n_forward_ops - 1];
        assert_int_equal(g.tensors[loss->inputs[1]].dims[1], cases[i / 2].labels);
        assert_near(loss->at->labels_per_sample, (double)cases[i / 2].labels, 0);
        arena_free(&a);
    }
}

/* GPT-2 has a loss and a place of the largest score for every 128 tokens of a text in training, one loss if they do not divide it, or as many as are asked
 * for; slices that are not alike are refused. */
static void losses_of_slices(void **state)
{
    static const struct { const char *name; uint64_t length, asked, losses, places; bool inference; } cases[] = {
        { "gpt2-small", 1024, 0, 8, 8, false }, { "gpt2-medium", 384, 0, 3, 3, false }, { "gpt2-small", 300, 0, 1, 0, false }, { "gpt2-small", 1024, 1, 1, 0, false },
        { "gpt2-small", 96, 3, 3, 3, false }, { "gpt2-small", 1024, 0, 0, 0, true }, { "gpt2-tiny", 256, 0, 1, 0, false }, { "gpt2-small", 96, 7, 0, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a = { 0 };
        struct err err;
        uint64_t losses = 0, places = 0;
        const struct model_options o = { .where = "r.ini", .micro_batch = 2, .sequence_length = cases[i].length, .loss_slices = cases[i].asked, .inference = cases[i].inference };
        if (!workload_graph(&g, workload_find(cases[i].name, &err), &o, &a, &err)) {
            assert_int_equal(cases[i].asked, 7);
            assert_string_equal(err.msg, "r.ini: parallel.loss_slices: 7 slices of 96 tokens are not alike; take a number that divides them");
            arena_free(&a);
            continue;
        }
        for (const struct op *op = g.ops; op < g.ops + g.n_forward_ops; op++) {
            bool loss = op->kind == OP_CROSS_ENTROPY;
            losses += loss;
            places += op->kind == OP_ARG_MAX;
            assert_true(!loss || tensor_elements(&g.tensors[op->inputs[1]]) == 2 * cases[i].length / cases[i].losses);
            assert_true(!loss || cases[i].losses == 1 || op->at->pieces == cases[i].losses);
        }
        assert_int_equal(losses, cases[i].losses);
        assert_int_equal(places, cases[i].places);
        arena_free(&a);
    }
}

/* 197 tokens of an image, or 96 of a text, in 5 pieces. */
static void uneven_pieces_of_queries_are_refused(void **state)
{
    static const struct { const char *name, *message; } cases[] = {
        { "vit-b16", "r.ini: parallel.attention_serialisation: 5 pieces do not divide the 197 queries of vit-b16; take another number" },
        { "gpt-j", "r.ini: parallel.attention_serialisation: 5 pieces do not divide the 96 queries of gpt-j; take another number" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph g;
        struct arena a = { 0 };
        struct err err;
        struct model_options r = { .where = "r.ini", .micro_batch = 1, .sequence_length = i ? 96 : 0, .attention_serialisation = 5 };
        assert_false(workload_graph(&g, workload_find(cases[i].name, &err), &r, &a, &err));
        assert_string_equal(err.msg, cases[i].message);
        r.attention_serialisation = i ? 3 : 1;
        assert_true(workload_graph(&g, workload_find(cases[i].name, &err), &r, &a, &err));
        arena_free(&a);
    }
}

static void unknown_workloads_list_the_known(void **state)
{
    struct err err;
    (void)state;
    assert_null(workload_find("resnet51", &err));
    assert_string_equal(err.msg, "unknown workload 'resnet51'; did you mean 'resnet50'? known: bert-tiny, bert-base, bert-large, bloom, bloom-560m, bloom-7b1, "
                        "conformer-medium, conformer-transducer-s, conformer-transducer-m, conformer-transducer-l, dlrm, gpt2-small, gpt2-medium, gpt2-large, "
                        "gpt2-xl, gpt2-tiny, gpt3-2.7b, gpt3-175b, gpt-j, inception-v3, efficientnet-b0, efficientnet-b1, ...");
}

/* 65,536 utterances of 16,384 frames stacked in twos, 4,096 labels and a blank: the joint network has 65536 x 8192 x
 * 4097 rows. */
static void products_too_long_to_plan_are_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    struct err err;
    struct model_options r = { .where = "r.ini", .micro_batch = 65536, .sequence_length = 16384, .labels_per_sample = 4096, .batch_norm_span = 1 };
    assert_false(workload_graph(&g, workload_find("rnnt", &err), &r, &a, &err));
    assert_string_equal(err.msg, "r.ini: parallel.micro_batch: 65536: a product of layer joint has 2199560126464 rows, at most 4294967295; lower it");
    r.micro_batch = 1;
    assert_true(workload_graph(&g, workload_find("rnnt", &err), &r, &a, &err));
    arena_free(&a);
}

/* Only the body has blocks and parts; the parts of a block follow each other. */
static void layers_are_numbered(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * workload_count(); i++) {
        struct arena arena = { 0 };
        struct graph g;
        struct err why;
        struct model_options o = { .micro_batch = 1, .inference = i % 3 == 1, .fine_tuning = i % 3 == 2 };
        if (!workload_graph(&g, workload_at(i / 3), &o, &arena, &why))
            continue;
        uint32_t block = 0, part = 0;
        for (size_t k = 0; k < g.n_layers; k++) {
            const struct layer *l = &g.layers[k];
            bool body = l->role == LAYER_BODY;
            assert_int_equal(l->block_id, body ? block : 0);
            assert_int_equal(l->part_id, body ? part : 0);
            assert_true(body ? l->n_parts >= 1 && l->part_id < l->n_parts : l->n_parts == 1);
            assert_true(part == 0 || l->n_parts == g.layers[k - 1].n_parts);        /* all parts of a block agree */
            part = body ? (part + 1) % l->n_parts : part;
            block += body && part == 0;
        }
        arena_free(&arena);
    }
}

/* Devlin et al. 2019: 0.1 for embeddings, for both halves of each of 12 blocks, and for attention probabilities if the
 * recipe says so. */
static void dropout_rates(void **state)
{
    (void)state;
    for (int attention = 0; attention < 2; attention++) {
        struct arena arena = { 0 };
        struct graph g;
        struct err why;
        struct model_options o = { .micro_batch = 1, .attention_dropout = attention };
        size_t n = 0;
        assert_true(workload_graph(&g, workload_find("bert-base", &why), &o, &arena, &why));
        for (size_t i = 0; i < g.n_forward_ops; i++)
            if (g.ops[i].kind == OP_DROPOUT) {
                assert_near(g.ops[i].at->rate, 0.1, 0);
                n++;
            }
        assert_int_equal(n, attention ? 1 + 3 * 12 : 1 + 2 * 12);
        arena_free(&arena);
    }
}

/* The mask has one row for a single sequence, and a row for each token of a pack. */
static void masks_of_packs(void **state)
{
    static const struct { double sequences; uint64_t rows; } cases[] = { { 0, 1 }, { 1, 1 }, { 1.5, 96 }, { 2, 96 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a;
        struct graph g;
        const struct model_options o = { .micro_batch = 3, .sequence_length = 96, .sequences_per_pack = cases[i].sequences };
        size_t k = 0;
        build(&g, "bert-base", &o, &a);
        while (!text_is(g.tensors[k].name, "mask"))
            k++;
        const uint64_t want[] = { 3, 1, cases[i].rows, 96 };
        assert_int_equal(g.tensors[k].n_dims, 4);
        assert_memory_equal(g.tensors[k].dims, want, sizeof want);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(masks_of_packs), cmocka_unit_test(unets_of_all_sizes), cmocka_unit_test(masked_tokens_of_a_row),
    cmocka_unit_test(kernels_over_time_are_centred),
        cmocka_unit_test(windows_of_conformers_lie_along_the_inner_axis), cmocka_unit_test(activations_replace_the_models_own), cmocka_unit_test(scores_are_divided_where_the_program_does), cmocka_unit_test(dropouts_in_place_are_noise_and_a_product), cmocka_unit_test(split_weights_are_joined_where_the_program_does), cmocka_unit_test(a_file_is_a_workload),
    cmocka_unit_test(labels_of_an_utterance), cmocka_unit_test(dropout_rates), cmocka_unit_test(layers_are_numbered),
    cmocka_unit_test(recipes_shape_the_graph), cmocka_unit_test(a_packed_row_comes_in_eight_inputs),
    cmocka_unit_test(fine_tuning_scores_an_answer), cmocka_unit_test(inference_folds_batch_norms),
    cmocka_unit_test(lengths_beyond_a_model_are_refused), cmocka_unit_test(losses_of_slices), cmocka_unit_test(products_too_long_to_plan_are_refused),
    cmocka_unit_test(uneven_pieces_of_queries_are_refused), cmocka_unit_test(unknown_workloads_list_the_known),
};
TAP_MAIN(tests)
