/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_workloads.c - parameters and work of the models against sums by hand, laws of all training graphs, printed
 * layers. */
#include "tests/built_graph.h"
#include "tests/golden_text.h"

static uint64_t backward_mac(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = g->n_forward_ops; i < g->n_ops; i++)
        n += op_mac(g, &g->ops[i]);
    return n;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/*
 * ResNet-50, 25,557,032 parameters, 4.09 G multiply-accumulates: stem 9,408 + 128; stage 1 215,808, stage 2
 * 1,219,584, stage 3 7,098,368, stage 4 14,964,736; classifier 2,049,000. 161 tensors, as MLPerf logs list them.
 */
static void resnet50_is_exact(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    build(&g, "resnet50", NULL, &a);
    assert_int_equal(9408 + 128 + 215808 + 1219584 + 7098368 + 14964736 + 2049000, 25557032);
    assert_int_equal(graph_parameters(&g), 25557032);
    assert_int_equal(count_role(&g, ROLE_WEIGHT), 161);
    assert_int_equal(graph_forward_mac(&g), 4089184256);
    /* Twice the forward work, less the data gradient of the first convolution: 112 * 112 * 64 * 49 * 3. */
    assert_int_equal(backward_mac(&g), 2 * graph_forward_mac(&g) - 118013952);
    arena_free(&a);
}

/* Sizes of families as published with their reference implementations. */
static const struct { const char *name; uint64_t parameters, mac_millions; } family_sizes[] = {
    { "resnet18", 11689512, 1814 }, { "resnet34", 21797672, 3664 }, { "resnet101", 44549160, 7801 },
    { "resnet152", 60192808, 11514 }, { "densenet121", 7978856, 2834 },
    { "resnext50", 25028904, 4230 },            /* torchvision: 25,028,904; 4.23 G */
    { "resnext101", 44177704, 7970 },           /* timm: resnext101_32x4d 44.18 M; 8.01 G with norms */
    { "efficientnet-b0", 5288548, 386 },        /* Tan and Le: 5.3 M, 0.39 G; torchvision 5,288,548 */
    { "efficientnet-b1", 7794184, 687 },
    { "efficientnet-b2", 9109994, 994 },
    { "efficientnet-b3", 12233232, 1827 },
    { "efficientnet-b4", 19341616, 4394 },      /* 19 M, 4.2 G */
    { "efficientnet-b5", 30389784, 10266 },
    { "efficientnet-b6", 43040704, 19068 },
    { "efficientnet-b7", 66347960, 37746 },     /* 66 M, 37 G */
    { "mobilenet-v2", 3504872, 301 },           /* Sandler et al.: 3.4 M, 300 M; torchvision 3,504,872 */
    { "inception-v3", 23834568, 5713 },         /* torchvision, without the auxiliary head: 5.71 G */
    { "vgg16", 138357544, 15470 },              /* torchvision: 138,357,544; 15.47 G */
    { "vgg19", 143667240, 19632 },
    { "vgg11", 132863336, 7609 },               /* torchvision: 132,863,336; 7.61 G */
    { "vgg13", 133047848, 11308 },
    { "unet", 31030658, 150428 },
    { "vit-b16", 86567656, 17564 },             /* torchvision: 86,567,656; 17.56 G */
    { "vit-b32", 88224232, 4409 },              /* torchvision: 88,224,232; 4.41 G */
    { "vit-l16", 304326632, 61555 },            /* torchvision: 304,326,632; 61.55 G */
    { "vit-l32", 306535400, 15378 },            /* torchvision: 306,535,400; 15.38 G */
    { "vit-h14", 632045800, 167295 },           /* the paper: 632 M */
    { "vit-s16", 22050664, 4599 },              /* DeiT-S: 22 M, 4.6 G */
    { "gpt2-tiny", 10672512 + 1024 * 384, 3026 },      /* 10.67 million, as its source counts without positions */
    { "gpt2-small", 124439808, 145824 },        /* the released checkpoints: 124,439,808 and so on */
    { "gpt2-medium", 354823168, 413476 },
    { "gpt2-large", 774030080, 887285 },
    { "gpt2-xl", 1557611200, 1753352 },
    { "gpt-j", 6050882784, 12929731 },          /* EleutherAI/gpt-j-6b: 6,050,882,784 */
    { "llama2-7b", 6738415616, 31460635 },      /* the released checkpoints: 6,738,415,616 and so on */
    { "llama2-13b", 13015864320, 59512141 },
    { "llama2-70b", 68976648192, 303439439 },
    { "bloom-560m", 559214592, 1350767 },       /* bigscience's checkpoints: 559,214,592; 7,069,016,064; 176,247,271,424 */
    { "bloom-7b1", 7069016064, 15504832 },
    { "bloom", 176247271424, 369345713 },
    { "flan-t5-base", 247577856, 128597 },      /* google's checkpoints: 247,577,856; 783,150,080; 2,849,757,184; 11,135,332,352 */
    { "flan-t5-large", 783150080, 422719 },
    { "flan-t5-xl", 2849757184, 1502567 },
    /* By hand (2,500,604 + 535) 100; 93,773 x 128 + 51 x 64; (123,182 + 37) 256. Work of dlrm: 13 x 512 + 512 x 256 + 256 x 128 + 27^2 x 128 + 2,194,688 */
    { "transe", 250113900, 0 }, { "rotate", 12006208, 0 }, { "complex", 31544064, 0 },
    { "dlrm", 10255488 + 171392 + 2197505, 2 },         /* as CompressedDLRM.ipynb prints them */
    { "flan-t5-xxl", 11135332352, 5788274 },
    /* Brown et al., table 2.1: 2.7 B and 175.0 B; by hand n (12 h^2 + 13 h) + (50257 + 2048 + 2) h */
    { "gpt3-2.7b", 32 * (12 * 2560ull * 2560 + 13 * 2560) + 52307 * 2560, 6104647 },
    { "gpt3-175b", 96 * (12 * 12288ull * 12288 + 13 * 12288) + 52307 * 12288ull, 367402131 },
};

static void families_have_published_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof family_sizes / sizeof *family_sizes; i++) {
        struct graph g;
        struct arena a;
        build(&g, family_sizes[i].name, NULL, &a);
        assert_int_equal(graph_parameters(&g), family_sizes[i].parameters);
        assert_int_equal((graph_forward_mac(&g) + 500000) / 1000000, family_sizes[i].mac_millions);
        arena_free(&a);
    }
}

static void every_family_has_a_published_size(void **state)
{
    (void)state;
    /* The sizes of these are in tests of their own. */
    static const char *const by_hand[] = { "bert-large", "rnnt", "transformer-transducer", "conformer-medium", "conformer-transducer-s" };
    for (size_t w = 0; w < workload_count(); w++) {
        bool known = false;
        assert_ptr_equal(workload_find(workload_at(w)->name, NULL), workload_at(w));         /* a name is there once */
        for (size_t i = 0; i < sizeof family_sizes / sizeof *family_sizes; i++)
            known |= workload_find(family_sizes[i].name, NULL)->build == workload_at(w)->build;
        for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++)
            known |= workload_find(by_hand[i], NULL)->build == workload_at(w)->build;
        if (!known) {
            print_error("%s: no size of its family is compared with what was published; add a row\n", workload_at(w)->name);
            _fail(__FILE__, __LINE__);
        }
    }
}

/* Image sizes of the papers; 299 and 300 pixels give the same first convolution. */
static void images_have_published_sizes(void **state)
{
    static const struct { const char *name; uint64_t pixels; } sizes[] = {
        { "resnet50", 224 }, { "resnext101", 224 }, { "densenet121", 224 }, { "mobilenet-v2", 224 }, { "vgg16", 224 }, { "vit-b16", 224 },
        { "inception-v3", 299 }, { "efficientnet-b0", 224 }, { "efficientnet-b1", 240 }, { "efficientnet-b2", 260 },
        { "efficientnet-b3", 300 }, { "efficientnet-b4", 380 }, { "efficientnet-b5", 456 }, { "efficientnet-b6", 528 },
        { "efficientnet-b7", 600 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct graph g;
        struct arena a;
        size_t k = 0;
        build(&g, sizes[i].name, NULL, &a);
        while (g.tensors[k].role != ROLE_INPUT)
            k++;
        assert_int_equal(g.tensors[k].n_dims, 4);
        assert_int_equal(g.tensors[k].dims[1], sizes[i].pixels);
        assert_int_equal(g.tensors[k].dims[2], sizes[i].pixels);
        assert_int_equal(g.tensors[k].dims[3], 3);
        arena_free(&a);
    }
}

/*
 * BERT-Large. Embeddings (30522 + 512 + 2) 1024 + 2048 = 31,782,912; a layer 4 (1024^2 + 1024) + 2 * 4096 * 1024 +
 * 4096 + 1024 + 2 * 2048 = 12,596,224; heads: transform 1,049,600 + 2048, vocabulary bias 30,522, pooler 1,049,600,
 * classifier 2050. Work of a 512-token row: 24 (4 * 512 * 1024^2 + 2 * 512^2 * 1024 + 2 * 512 * 1024 * 4096), head
 * 76 * 1024 * (1024 + 30522), pooler 1024 * 1026.
 */
static void bert_large_is_exact(void **state)
{
    struct graph g;
    struct arena a;
    struct model_options split = { .micro_batch = 1, .split_qkv = true };
    (void)state;
    build(&g, "bert-large", NULL, &a);
    assert_int_equal(graph_parameters(&g), 31782912 + 24 * 12596224 + 1049600 + 2048 + 30522 + 1049600 + 2050);
    uint64_t layer = 4ull * 512 * 1024 * 1024 + 2ull * 512 * 512 * 1024 + 2ull * 512 * 1024 * 4096;
    assert_int_equal(graph_forward_mac(&g), 24 * layer + 76ull * 1024 * (1024 + 30522) + 1024 * 1026);
    assert_near(2e-9 * (double)graph_forward_mac(&g), 340, 1);
    assert_int_equal(backward_mac(&g), 2 * graph_forward_mac(&g));
    arena_free(&a);
    build(&g, "bert-large", &split, &a);
    assert_int_equal(count_role(&g, ROLE_WEIGHT), 302);     /* MLPerf logs list 398: in each of 24 layers two more weights and two more biases */
    arena_free(&a);
}

/* 49.0 million: 5 encoder layers 5,185,536 + 8,396,800 + 12,591,104 + 2 * 8,396,800, predictor 1023 * 512 +
 * 2 * 2,101,248, joint 524,800 + 262,656 + 525,312. The joint's work: 279 steps x (125 + 1) labels x 512 x 1024. */
static void rnnt_is_exact(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    build(&g, "rnnt", NULL, &a);
    assert_int_equal(graph_parameters(&g), 5185536 + 8396800 + 12591104 + 2 * 8396800 + 1023 * 512 + 2 * 2101248 +
                     524800 + 262656 + 525312);
    uint64_t joint = 0;
    for (size_t i = 0; i < g.n_forward_ops; i++)
        if (g.ops[i].kind == OP_MATMUL && op_mac(&g, &g.ops[i]) > joint)
            joint = op_mac(&g, &g.ops[i]);
    assert_int_equal(joint, 279ull * 126 * 512 * 1024);
    arena_free(&a);
}

/*
 * The paper's conformers: a block is two feed-forward parts 8 h^2 + 5 h, attention 5 h^2 + 4 h and two vectors added to
 * the products of queries, a convolution 3 h^2 + (2 + 31 + 1 + 2 + 1) h, and norms 5 of 2 h; front end two convolutions
 * and the product of 19 h columns; predictor 1023 p + 8 p^2 + 8 p, joint (h + 1) p + (p + 1) p + (p + 1) 1024. The
 * result is within 6 % of the paper.
 */
/* The joint network on slices of time: it repeats once for each slice, and the slices cover all frames. */
static void a_joint_network_in_slices(void **state)
{
    (void)state;
    uint64_t frames = 0;
    for (uint64_t slices = 0; slices <= 3; slices++) {
        struct arena a;
        struct graph g;
        struct model_options o = own_options;
        o.micro_batch = 2;
        o.joint_slices = slices;
        build(&g, "rnnt", &o, &a);
        for (size_t i = 0; i < g.n_forward_ops; i++) {
            const struct op *op = &g.ops[i];
            if (op->kind != OP_OUTER_ADD)
                continue;
            uint64_t seen = g.tensors[op->inputs[0]].dims[1];
            frames = slices ? frames : seen;
            assert_int_equal(op_repeats(&g, op), slices > 1 ? slices : 1);
            assert_int_equal(seen, slices > 1 ? (frames + slices - 1) / slices : frames);
            const struct op *slice = &g.ops[g.tensors[op->inputs[0]].producer_op];
            assert_int_equal(slice->kind == OP_SLICE, slices > 1);
            assert_true(slices < 2 || (slice->n_inputs == 1 && slice->n_outputs == 1 && slice->at->axis == 1 && slice->at->begin == 0 && slice->at->pieces == 0));
        }
        assert_true(frames > 3);
        arena_free(&a);
    }
}

static void conformers_are_exact(void **state)
{
    static const struct { const char *name; uint64_t blocks, h, p; double millions; } sizes[] = {
        { "conformer-transducer-s", 16, 144, 320, 10.3 }, { "conformer-transducer-m", 16, 256, 640, 30.7 }, { "conformer-transducer-l", 17, 512, 640, 118.8 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct graph g;
        struct arena a;
        uint64_t h = sizes[i].h, p = sizes[i].p;
        build(&g, sizes[i].name, NULL, &a);
        uint64_t block = 2 * (8 * h * h + 5 * h) + 5 * h * h + 6 * h + 3 * h * h + 37 * h + 10 * h;
        uint64_t front = 9 * h + h + 9 * h * h + h + 19 * h * h + h;
        uint64_t joint = (h + 1) * p + (p + 1) * p + (p + 1) * 1024;
        assert_int_equal(graph_parameters(&g), sizes[i].blocks * block + front + 1023 * p + 8 * p * p + 8 * p + joint);
        assert_near((double)graph_parameters(&g) * 1e-6, sizes[i].millions, 0.06 * sizes[i].millions);
        arena_free(&a);
        const struct model_options one_label = { .micro_batch = 1, .labels_per_sample = 1 };
        build(&g, sizes[i].name, &one_label, &a);
        const struct tensor *last = &g.tensors[g.ops[g.n_forward_ops - 1].inputs[1]];
        assert_true(last->n_dims == 2 && last->dims[1] == 1);           /* the loss's labels */
        arena_free(&a);
    }
}

/* A layer of 768: attention 4 * 768^2, feed-forward 8 * 768^2 + 5 * 768, two norms of 2 * 768; front end a
 * convolution of 16 taps, 240 to 768; predictor and joint as the reference but for 768 encoder features. */
static void transformer_transducer_is_exact(void **state)
{
    struct graph g;
    struct arena a;
    (void)state;
    build(&g, "transformer-transducer", NULL, &a);
    uint64_t layer = 4 * 768 * 768 + 8 * 768 * 768 + 5 * 768 + 4 * 768;
    assert_int_equal(graph_parameters(&g), 14 * layer + (16 * 240 + 1) * 768 + 1023 * 512 + 2 * 2101248 +
                     769 * 512 + 262656 + 525312);
    arena_free(&a);
}

/* ---- laws of every training graph ---------------------------------------------------------------- */

/* Kinds with a fixed number of operands; 0 means the number varies. */
static const uint32_t n_operands[N_OP_KINDS] = {
    [OP_CONV] = 2, [OP_MATMUL] = 2, [OP_ADD] = 2, [OP_MUL] = 2, [OP_SCALE] = 1, [OP_BIAS_ADD] = 2, [OP_RELU] = 1, [OP_GELU] = 1, [OP_TANH] = 1,
    [OP_SIGMOID] = 1, [OP_SWISH] = 1, [OP_SOFTMAX] = 1, [OP_BATCH_NORM] = 3, [OP_GROUP_NORM] = 3, [OP_LAYER_NORM] = 3, [OP_DROPOUT] = 1,
    [OP_MAX_POOL] = 1, [OP_AVERAGE_POOL] = 1, [OP_GATHER] = 2, [OP_TRANSPOSE] = 1, [OP_SLICE] = 1, [OP_PAD] = 1, [OP_LSTM] = 4, [OP_OUTER_ADD] = 2,
    [OP_CROSS_ENTROPY] = 2, [OP_TRANSDUCER_LOSS] = 2, [OP_CAST] = 1, [OP_INPUT_PREPARE] = 1, [OP_MAP] = 1, [OP_COMBINE] = 2, [OP_VIEW] = 1,
    [OP_EXPAND] = 1, [OP_RESIZE] = 1, [OP_LOCAL_NORM] = 1, [OP_ARG_MAX] = 1, [OP_CONV_TRANSPOSE] = 2,
};

static void check_op(const struct graph *g, size_t i)
{
    const struct op *op = &g->ops[i];
    assert_int_equal(op->pass == PASS_FORWARD, i < g->n_forward_ops);
    if (op->pass == PASS_FORWARD && n_operands[op->kind])
        assert_int_equal(op->n_inputs, n_operands[op->kind]);
    if (op->kind == OP_CROSS_ENTROPY && op->pass == PASS_FORWARD) {         /* a label for each row of scores */
        const struct tensor *scores = &g->tensors[op->inputs[0]];
        assert_int_equal(tensor_elements(&g->tensors[op->inputs[1]]) * scores->dims[scores->n_dims - 1], tensor_elements(scores));
    }
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t producer = g->tensors[op->inputs[k]].producer_op;
        assert_true(producer == NO_ID || producer < i);         /* made before it is read */
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const struct tensor *t = &g->tensors[op->outputs[k]];
        assert_int_equal(t->producer_op, i);
        assert_int_equal(t->layer_id, op->layer_id);
        if (t->of_tensor != NO_ID)
            assert_true(tensor_is_same_shape(t, &g->tensors[t->of_tensor]));
    }
    if (op->pass != PASS_FORWARD && op->forward_op != NO_ID) {
        assert_int_equal(op->layer_id, g->ops[op->forward_op].layer_id);
        assert_int_equal(op->kind, g->ops[op->forward_op].kind);
    }
}

/* Each weight has a gradient for each use; inputs and state have none; every gradient is read or is a weight's. */
static void check_gradients(const struct graph *g, struct arena *a)
{
    uint32_t *uses = ARENA_ARRAY(a, uint32_t, g->n_tensors), *gradients = ARENA_ARRAY(a, uint32_t, g->n_tensors);
    uint32_t *reads = ARENA_ARRAY(a, uint32_t, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++) {
            uses[g->ops[i].inputs[k]] += g->ops[i].pass == PASS_FORWARD;
            reads[g->ops[i].inputs[k]]++;
        }
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].of_tensor != NO_ID)
            gradients[g->tensors[i].of_tensor]++;
    for (size_t i = 0; i < g->n_tensors; i++) {
        enum tensor_role role = g->tensors[i].role;
        if (role == ROLE_WEIGHT)
            assert_int_equal(gradients[i], uses[i]);
        if (role == ROLE_INPUT || role == ROLE_STATE)
            assert_int_equal(gradients[i], 0);
        if (role == ROLE_GRADIENT)
            assert_true(reads[i] > 0);
    }
}

static void check_training(const struct graph *g, struct arena *a)
{
    assert_true(g->n_ops > g->n_forward_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        check_op(g, i);
    check_gradients(g, a);
}

static void training_graphs_obey_the_chain_rule(void **state)
{
    (void)state;
    for (size_t w = 0; w < workload_count(); w++) {
        struct graph g;
        struct arena a;
        build(&g, workload_at(w)->name, NULL, &a);
        check_training(&g, &a);
        arena_free(&a);
        if (!text_is(workload_at(w)->family, "bert"))
            continue;
        const struct model_options tuned = { .compute = COMPUTE_FP16, .micro_batch = 3, .fine_tuning = true };
        build(&g, workload_at(w)->name, &tuned, &a);
        check_training(&g, &a);
        arena_free(&a);
    }
}

/* A knowledge graph has a tensor of entities, which includes negatives, and a tensor of relations. Its labels are constants: the true entity is the
   first class. DLRM has numbers, categories and labels. */
static void tensors_from_the_host(void **state)
{
    static const struct { const char *name; uint32_t n_inputs; } cases[] = { { "transe", 2 }, { "transe-pytorch", 2 }, { "rotate", 2 }, { "complex", 2 }, { "dlrm", 3 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct model_options trained = { .micro_batch = 6 };
        struct graph g;
        struct arena a;
        uint32_t n = 0;
        build(&g, cases[i].name, &trained, &a);
        for (size_t t = 0; t < g.n_tensors; t++)
            n += g.tensors[t].role == ROLE_INPUT;
        assert_int_equal(n, cases[i].n_inputs);
        arena_free(&a);
    }
}

/* First layers, then blocks in order with all their parts, then last ones. */
static void layers_are_in_order(void **state)
{
    (void)state;
    for (size_t w = 0; w < workload_count(); w++) {
        struct graph g;
        struct arena a;
        build(&g, workload_at(w)->name, NULL, &a);
        uint32_t block = 0, part = 0;
        for (size_t i = 0; i < g.n_layers; i++) {
            const struct layer *l = &g.layers[i];
            assert_true(i == 0 ? l->role == LAYER_FIRST : l->role >= g.layers[i - 1].role);
            if (l->role != LAYER_BODY)
                continue;
            assert_int_equal(l->block_id, block);
            assert_int_equal(l->part_id, part);
            part = (part + 1) % l->n_parts;
            block += part == 0;
        }
        arena_free(&a);
    }
}

/* ---- printed ------------------------------------------------------------------------------------------ */

static void layers_print_as_recorded(void **state)
{
    (void)state;
    for (size_t w = 0; w < workload_count(); w++) {
        struct graph g;
        struct arena a;
        char *text, path[256];
        const struct workload *one = workload_at(w);
        if (w > 0 && one->build == workload_at(w - 1)->build && !one->benchmark)
            continue;                   /* one size of a family, and those of MLPerf: workload_sums.txt has all */
        build(&g, workload_at(w)->name, NULL, &a);
        PRINTED(text, graph_print(f, &g));
        snprintf(path, sizeof path, "tests/golden/workload_%s.txt", one->name);
        assert_golden(text, path, &a);
        free(text);
        arena_free(&a);
    }
}

/* Forward operations of each kind: their number, their work, and sums of their shapes and attributes. */
static void print_sums(FILE *f, const struct graph *g)
{
    for (int kind = 0; kind < N_OP_KINDS; kind++) {
        uint64_t n = 0, flop = 0, rows = 0, columns = 0, strides = 0, groups = 0, elements = 0;
        double rates = 0;
        for (size_t i = 0; i < g->n_forward_ops; i++) {
            const struct op *op = &g->ops[i];
            if (op->kind != (enum op_kind)kind)
                continue;
            n++;
            flop += op_flop(g, op) * op_repeats(g, op);
            rows += op->at->kernel_h;
            columns += op->at->kernel_w;
            strides += op->at->stride + op->at->stride_w;
            groups += op->at->groups + op->at->norm_groups + op->at->pieces + op->at->merge + op->at->serial_steps;
            rates += op->at->rate + op->at->low + op->at->high + op->at->epsilon;
            elements += tensor_elements(&g->tensors[op->outputs[0]]);
        }
        if (!n)
            continue;
        fprintf(f, "  %-13s %5ju flop %ju elements %ju", op_kind_names[kind], (uintmax_t)n, (uintmax_t)flop, (uintmax_t)elements);
        if (rows | columns | strides | groups)
            fprintf(f, " windows %ju x %ju strides %ju groups %ju", (uintmax_t)rows, (uintmax_t)columns, (uintmax_t)strides, (uintmax_t)groups);
        fprintf(f, rates != 0 ? " rates %.9g\n" : "\n", rates);
    }
}

static void print_options(FILE *f, const struct workload *w, const char *name, const struct model_options *o)
{
    struct arena a = { 0 };
    struct graph g;
    struct err why = { "" };
    bool built = workload_graph(&g, w, o, &a, &why);
    fprintf(f, "%s, %s: ", w->name, name);
    if (!built)
        fprintf(f, "%s\n", why.msg);
    else {
        fprintf(f, "%zu layers, %ju parameters, %ju MAC\n", g.n_layers, (uintmax_t)graph_parameters(&g), (uintmax_t)graph_forward_mac(&g));
        print_sums(f, &g);
    }
    arena_free(&a);
}

/* Every model as a golden text, in training and inference, with each option. */
static void sums_print_as_recorded(void **state)
{
    const struct model_options trained = { .where = "r.ini", .micro_batch = 2, .batch_norm_span = 1, .attention_dropout = true };
    const struct model_options answers = { .where = "r.ini", .micro_batch = 3, .batch_norm_span = 1, .inference = true };
    const struct model_options otherwise = {
        .where = "r.ini", .compute = COMPUTE_FP8, .micro_batch = 2, .batch_norm_span = 2, .sequence_length = 96, .sequences_per_pack = 2, .vocabulary = 1008,
        .joint_slices = 3, .labels_per_sample = 11.47, .input_type = INPUT_FP16, .stable_norm = true, .norm_groups = 4, .image_size = 96,
        .embedding_serial_steps = 3, .split_qkv = true };
    const struct model_options tuned = { .where = "r.ini", .compute = COMPUTE_FP32, .micro_batch = 1, .batch_norm_span = 1, .fine_tuning = true,
                                         .sequence_length = 64 };
    struct arena a = { 0 };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < workload_count(); i++) {
            const struct workload *w = workload_at(i);
            fprintf(f, "== %s of %s: %s, by %s, traits %x, length %ju, %s\n", w->name, w->family, w->help, w->sample, w->traits,
                    (uintmax_t)w->default_sequence_length, w->benchmark ? w->benchmark : "no benchmark");
            print_options(f, w, "trained", &trained);
            print_options(f, w, "answers", &answers);
            print_options(f, w, "otherwise", &otherwise);
            print_options(f, w, "tuned", &tuned);
        });
    assert_digests(text, "== ", "tests/golden/workload_sums.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(resnet50_is_exact), cmocka_unit_test(families_have_published_sizes), cmocka_unit_test(every_family_has_a_published_size),
    cmocka_unit_test(images_have_published_sizes), cmocka_unit_test(bert_large_is_exact),
    cmocka_unit_test(rnnt_is_exact), cmocka_unit_test(transformer_transducer_is_exact),
    cmocka_unit_test(a_joint_network_in_slices), cmocka_unit_test(conformers_are_exact),
    cmocka_unit_test(training_graphs_obey_the_chain_rule), cmocka_unit_test(layers_are_in_order), cmocka_unit_test(tensors_from_the_host),
    cmocka_unit_test(layers_print_as_recorded), cmocka_unit_test(sums_print_as_recorded),
};
TAP_MAIN(tests)
