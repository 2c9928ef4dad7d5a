/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_execute.c - graphs run, and their gradients are right.
 *
 * Small models of each family run in double precision. Moving all weights a little along a random direction must
 * change the loss by the gradients' sum along it: central differences, 1e-6 relative. A dropped gradient, a wrong
 * sum, or a backward pass that was not given what it needs shows.
 */
#include "tests/check.h"
#include "tests/chip_fixture.h"
#include "tests/execute.h"
#include "tests/golden_text.h"
#include "system-model/compiler/compiler.h"
#include "workloads/models/builders.h"

/* ---- inputs ------------------------------------------------------------------------------------- */

static double noise(uint64_t a, uint64_t b)
{
    uint64_t seed[2] = { a, b };
    return (double)(hash_bytes(seed, sizeof seed, 11) % 2000003) / 2000003 - 0.5;
}

/* Indices must be within their table, and labels within their classes, as the operation that reads them requires. */
static uint64_t index_limit(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        const struct tensor *t = &g->tensors[op->inputs[0]];
        if (op->n_inputs < 2 || op->inputs[1] != id)
            continue;
        if (op->kind == OP_GATHER)
            return t->dims[t->n_dims - 2];
        return t->dims[t->n_dims - 1] - (op->kind == OP_TRANSDUCER_LOSS);      /* all but the blank */
    }
    return 1;
}

/* A scatter writes each row once here: which of two updates would win is undefined. */
static bool is_scattered(const struct graph *g, uint32_t id)
{
    bool any = false;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        any |= g->ops[i].kind == OP_SCATTER && g->ops[i].inputs[1] == id;
    return any;
}

static double index_at(const struct graph *g, uint32_t id, uint64_t k)
{
    uint64_t n = g->tensors[id].dims[g->tensors[id].n_dims - 1];
    return is_scattered(g, id) ? (double)(n - 1 - k % n) : (double)(hash_bytes(&k, sizeof k, id) % index_limit(g, id));
}

static double **make_values(const struct graph *g, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        uint64_t n = tensor_elements(t);
        v[i] = ARENA_ARRAY(a, double, n);
        for (uint64_t k = 0; k < n && t->producer_op == NO_ID; k++)
            v[i][k] = t->type == TYPE_INT32 ? index_at(g, i, k)
                    : t->type == TYPE_UINT8 ? floor(255 * (noise(i, k) + 0.5)) : noise(i, k);
        for (uint64_t k = 0; k < n && text_is(t->name, "own-places"); k++)        /* a label here may be any class */
            v[i][k] = -1;
    }
    return v;
}

static void move_weights(const struct graph *g, double **v, double step)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        for (uint64_t k = 0; g->tensors[i].role == ROLE_WEIGHT && k < tensor_elements(&g->tensors[i]); k++)
            v[i][k] += step * noise(i + 1000, k);
}

static double gradient_along(const struct graph *g, double **v)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        for (uint64_t k = 0; g->tensors[i].role == ROLE_WEIGHT_GRADIENT && k < tensor_elements(&g->tensors[i]); k++)
            sum += v[i][k] * noise(g->tensors[i].of_tensor + 1000, k);
    return sum;
}

/* Sums of the costs of all operations here on 97 tiles, by kind and pass. */
static struct op_plan costs[N_OP_KINDS][N_OP_PASSES];
static uint32_t n_ops[N_OP_KINDS][N_OP_PASSES];
static uint64_t flop[N_OP_KINDS][N_OP_PASSES];

static void add_costs(const struct graph *g)
{
    const struct chip chip = small_chip(97);
    const struct op_plan_options options = { .available_memory = 0.6 };
    struct plan_cache cache = { 0 };
    for (uint32_t i = 0; i < g->n_ops; i++) {
        struct op_plan p, *sum = &costs[g->ops[i].kind][g->ops[i].pass];
        op_plan_build(&p, g, i, (struct operands){ i % 2 ? 1.5 : 1, i % 3 == 0, i % 5, false, 0 }, &chip, &options, &cache);
        n_ops[g->ops[i].kind][g->ops[i].pass]++;
        flop[g->ops[i].kind][g->ops[i].pass] += op_flop(g, &g->ops[i]);
        sum->compute_cycles += p.compute_cycles;
        sum->exchange_cycles += p.exchange_cycles;
        sum->sync_cycles += p.sync_cycles;
        sum->mac += p.mac;
        sum->exchanged_bytes += p.exchanged_bytes;
        sum->temp_bytes_per_tile += p.temp_bytes_per_tile;
        sum->code.supersteps += p.code.supersteps;
        sum->code.exchanges += p.code.exchanges;
        sum->code.pieces += p.code.pieces;
        sum->code.state_bytes += p.code.state_bytes;
        sum->code.field_bytes += p.code.field_bytes;
        sum->rearrange_cycles += p.rearrange_cycles;
    }
    plan_cache_free(&cache);
}

static void check_gradient(const struct graph *g)
{
    struct arena a = { 0 };
    add_costs(g);
    const double step = 1e-5;
    double **v = make_values(g, &a);
    double loss = graph_execute(g, v), along = gradient_along(g, v);
    assert_true(isfinite(loss) && loss > 0 && fabs(along) > 1e-3);
    move_weights(g, v, step);
    double above = graph_execute(g, v);
    move_weights(g, v, -2 * step);
    double below = graph_execute(g, v);
    assert_near((above - below) / (2 * step) / along, 1, 1e-6);
    arena_free(&a);
}

/* ---- models ------------------------------------------------------------------------------------------ */

static void build(const struct workload *w, const struct model_options *r)
{
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    assert_true(workload_graph(&g, w, r, &a, &err));
    check_gradient(&g);
    arena_free(&a);
}

static void bert(void **state)
{
    static const struct bert_config small = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 13,
                                              .positions = 9 };
    struct workload w = { .name = "small", .build = bert_build, .config = &small, .default_sequence_length = 7 };
    struct model_options packed = { .micro_batch = 2, .sequence_length = 8, .sequences_per_pack = 1.7, .attention_dropout = true };
    struct model_options split = { .micro_batch = 3, .sequences_per_pack = 1, .split_qkv = true, .vocabulary = 17 };
    (void)state;
    build(&w, &packed);
    build(&w, &split);
}

static void rnnt(void **state)
{
    static const struct rnnt_config small = { .features = 5, .encoder_hidden = 4, .encoder_first = 1, .encoder_second = 2,
        .time_stack = 2, .predictor_hidden = 3, .predictor_layers = 2, .joint_hidden = 6, .labels = 7 };
    struct workload w = { .name = "small", .build = rnnt_build, .config = &small, .default_sequence_length = 9 };
    struct model_options r = { .micro_batch = 2, .labels_per_sample = 3 };
    (void)state;
    build(&w, &r);
}

/* Two layers of each recurrence, the second from the last step to the first; a GRU's state reset before its product
 * and after it. */
static void gated(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool lstm = kind == 2;
        uint64_t all = lstm ? 28 : 21;
        struct arena a = { 0 };
        struct graph g;
        struct model_options three = { .micro_batch = 3 };
        struct builder b = builder_start(&g, "gated", &three, &a);
        build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
        uint32_t x = build_input(&b, "x", TYPE_FP16, DIMS(3, 4, 5));
        for (uint64_t width = 5; width < 9; width += 2) {
            uint32_t in[] = { x, build_weight(&b, "w", DIMS(width, all)), build_weight(&b, "r", DIMS(7, all)), build_weight(&b, "b", DIMS(2 * all)) };
            x = graph_op(&g, lstm ? OP_LSTM : OP_GRU, in, 4,
                         (struct op_attributes){ .hidden = 7, .reset_before = kind == 1, .from_last = width == 7 });
        }
        x = graph_op(&g, OP_VIEW, &x, 1, (struct op_attributes){ .view = { 3, 28 } });
        build_classes(&b, build_dense(&b, x, 5, true), DIMS(3));
        graph_add_backward(&g);
        check_gradient(&g);
        arena_free(&a);
    }
}

static void transformer_transducer(void **state)
{
    static const struct transducer_config small = { .n_layers = 2, .hidden = 6, .heads = 2, .inner = 10, .kernel = 4,
        .subsampling = 2, .features = 5, .predictor_hidden = 3, .predictor_layers = 1, .joint_hidden = 4, .labels = 7 };
    struct workload w = { .name = "small", .build = transducer_build, .config = &small, .default_sequence_length = 9 };
    struct model_options r = { .micro_batch = 2, .labels_per_sample = 3 };
    (void)state;
    build(&w, &r);
}

static void vit(void **state)
{
    static const struct vit_config small = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .patch = 4, .image = 8 };
    struct workload w = { .name = "small", .build = vit_build, .config = &small };
    struct model_options r = { .micro_batch = 2, .attention_dropout = true };
    (void)state;
    build(&w, &r);
}

static void gpt2(void **state)
{
    static const struct decoder_config small = { .kind = DECODER_GPT2, .n_layers = 2, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9, .dropout = 0.1 };
    struct workload w = { .name = "small", .build = decoder_build, .config = &small, .default_sequence_length = 7 };
    struct model_options r = { .micro_batch = 2 };
    (void)state;
    build(&w, &r);
}

/* Rotary positions in pairs of neighbours and of halves, on some of a head's elements and on all; shared keys; biases by head and by position; blocks of
 * one form for both sides; attention in steps. */
static void large_families(void **state)
{
    static const struct decoder_config gptj = { .kind = DECODER_GPTJ, .n_layers = 2, .hidden = 12, .heads = 2, .turned = 4, .vocabulary = 11 };
    static const struct decoder_config llama = { .kind = DECODER_LLAMA, .n_layers = 2, .hidden = 24, .heads = 6, .key_heads = 2, .inner = 10, .vocabulary = 11, .epsilon = 1e-5 };
    static const struct decoder_config bloom = { .kind = DECODER_BLOOM, .n_layers = 2, .hidden = 9, .heads = 3, .vocabulary = 11 };
    static const struct t5_config t5 = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 11 };
    const struct workload w[] = {
        { .name = "gptj", .build = decoder_build, .config = &gptj, .default_sequence_length = 6 },
        { .name = "llama", .build = decoder_build, .config = &llama, .default_sequence_length = 6 },
        { .name = "bloom", .build = decoder_build, .config = &bloom, .default_sequence_length = 6 },
        { .name = "t5", .build = t5_build, .config = &t5, .default_sequence_length = 6 },
    };
    const struct model_options o[] = { { .micro_batch = 2 }, { .micro_batch = 2, .attention_serialisation = 3, .uniform_blocks = true } };
    (void)state;
    for (int i = 0; i < 8; i++)
        build(&w[i / 2], &o[i % 2]);
}

/* [batch, heads, time, width] with angles of each sample, two of six elements left as they are. */
static void rotary_by_sample(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct model_options two = { .micro_batch = 2 };
    struct builder b = builder_start(&g, "rotary", &two, &a);
    (void)state;
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(2, 3, 5, 4)), 6, true);
    uint32_t three[] = { x, build_input(&b, "cosines", TYPE_FP16, DIMS(2, 5, 2)), build_input(&b, "sines", TYPE_FP16, DIMS(2, 5, 2)) };
    x = graph_op(&g, OP_ROTARY, three, 3, (struct op_attributes){ .length = 4 });
    build_classes(&b, build_dense(&b, x, 7, true), DIMS(2, 3, 5));
    graph_add_backward(&g);
    check_gradient(&g);
    arena_free(&a);
}

static void conformer(void **state)
{
    static const struct conformer_config small = { .n_encoder = 2, .n_decoder = 1, .hidden = 6, .heads = 2, .inner = 10, .kernel = 3, .features = 9,
                                                   .vocabulary = 8, .labels = 3 };
    struct workload w = { .name = "small", .build = conformer_build, .config = &small, .default_sequence_length = 19 };
    struct model_options r = { .micro_batch = 2, .batch_norm_span = 1 };
    (void)state;
    build(&w, &r);
}

/* Depthwise and in groups, squeezed and weighed, with either norm; 1000 classes, so small images. */
static void inverted_residuals(void **state)
{
    static const struct inverted_config depthwise = { 3, 3, 64, 0.2, 1, 2 }, grouped = { 5, 3, 64, 0.2, 16, 2 },
        mobile = { 4, 3, 32, 0, 1, 2 };
    struct workload small[] = { { .name = "d", .build = efficientnet_build, .config = &depthwise }, { .name = "g", .build = efficientnet_build, .config = &grouped },
                                { .name = "m", .build = mobilenet_build, .config = &mobile } };
    struct model_options r[] = { { .micro_batch = 2, .batch_norm_span = 1 }, { .micro_batch = 2, .norm_groups = 4 } };
    (void)state;
    for (int i = 0; i < 3; i++)
        build(&small[i], &r[i > 0]);      /* a channel that relu cuts off whole has no variance */
}

static void grouped_residuals(void **state)
{
    static const struct resnet_config small = { .units = { 1, 1 }, .bottleneck = true, .groups = 8, .group_width = 4 };
    struct workload w = { .name = "x", .build = resnet_build, .config = &small };
    struct model_options r = { .micro_batch = 2, .batch_norm_span = 1, .image_size = 16 };
    (void)state;
    build(&w, &r);
}

/* ---- convolutional nets are 224 pixels wide; a small one of the same parts --------------------------------- */

static uint32_t window(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    return graph_op(b->g, kind, &x, 1, (struct op_attributes){ .kernel_h = kernel, .kernel_w = kernel, .stride = stride,
                                                              .pad = pad });
}

static uint32_t conv(struct builder *b, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t groups, uint64_t channels)
{
    uint32_t pair[] = { x, build_weight(b, "w", DIMS(kernel, kernel, build_width(b, x) / groups, channels)) };
    struct op_attributes at = { .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = kernel / 2, .groups = groups };
    return graph_op(b->g, OP_CONV, pair, 2, at);
}

static uint32_t norm(struct builder *b, enum op_kind kind, uint32_t x, uint32_t groups)
{
    uint64_t n = build_width(b, x);
    uint32_t three[] = { x, build_weight(b, "gamma", DIMS(n)), build_weight(b, "beta", DIMS(n)) };
    return graph_op(b->g, kind, three, 3, (struct op_attributes){ .norm_groups = groups });
}

static void convolutional(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct model_options r = { .micro_batch = 3 };
    struct builder b = builder_start(&g, "small", &r, &a);
    (void)state;
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    uint32_t image = build_input(&b, "images", TYPE_UINT8, DIMS(3, 11, 9, 3));
    uint32_t x = graph_op(&g, OP_INPUT_PREPARE, &image, 1, (struct op_attributes){ .to_type = TYPE_FP16 });
    x = build_op1(&b, OP_RELU, norm(&b, OP_BATCH_NORM, conv(&b, x, 3, 2, 1, 4), 1));
    x = window(&b, OP_MAX_POOL, x, 3, 2, 1);
    uint32_t y = build_op1(&b, OP_SWISH, norm(&b, OP_GROUP_NORM, conv(&b, x, 3, 1, 2, 4), 2));
    uint32_t z = build_op1(&b, OP_SIGMOID, conv(&b, y, 1, 1, 1, 4));
    x = build_op2(&b, OP_ADD, build_op2(&b, OP_MUL, y, z), x);
    uint32_t both[] = { x, z };
    x = graph_op(&g, OP_CONCAT, both, 2, (struct op_attributes){ .axis = 3 });
    x = graph_op(&g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 3, .begin = 2, .length = 5 });
    x = graph_op(&g, OP_PAD, &x, 1, (struct op_attributes){ .axis = 1, .begin = 1, .length = 6 });
    x = graph_op(&g, OP_CAST, &x, 1, (struct op_attributes){ .to_type = TYPE_FP32 });
    x = build_op1(&b, OP_GELU, window(&b, OP_AVERAGE_POOL, x, 3, 3, 0));
    build_classes(&b, build_dense(&b, x, 7, true), DIMS(3, 2, 1));
    graph_add_backward(&g);
    check_gradient(&g);
    arena_free(&a);
}

/* ---- kinds that imported models bring -------------------------------------------------------------------------- */

static uint32_t function(struct builder *b, enum op_function f, uint32_t x, double low, double high)
{
    return graph_op(b->g, OP_MAP, &x, 1, (struct op_attributes){ .function = f, .low = low, .high = high });
}

static uint32_t combine(struct builder *b, enum op_function f, uint32_t x, uint32_t y, bool inverted)
{
    return graph_op(b->g, OP_COMBINE, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .function = f, .inverted = inverted });
}

static void finish(struct builder *b, uint32_t x, uint64_t n)
{
    x = graph_op(b->g, OP_VIEW, &x, 1, (struct op_attributes){ .view = { n, tensor_elements(&b->g->tensors[x]) / n } });
    build_classes(b, build_dense(b, x, 5, true), DIMS(n));
    graph_add_backward(b->g);
    check_gradient(b->g);
}

static struct builder started(struct graph *g, struct arena *a)
{
    static const struct model_options three = { .micro_batch = 3 };
    struct builder b = builder_start(g, "kinds", &three, a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    return b;
}

/* An element of the border has its gradient added to those of the element that it repeats. */
static void borders(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    (void)state;
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(3, 5, 4)), 4, true);
    for (int border = BORDER_MIRRORED; border <= BORDER_OTHER_END; border++)
        x = graph_op(&g, OP_PAD, &x, 1, (struct op_attributes){ .axis = 1, .begin = 2, .length = 10 * (unsigned)border, .border = (enum pad_border)border });
    finish(&b, x, 3);
    arena_free(&a);
}

/* Every function of one element, on values where it is smooth. */
static void functions(void **state)
{
    (void)state;
    for (int f = 0; f < FUNCTION_SUBTRACT; f++) {
        struct arena a = { 0 };
        struct graph g;
        struct builder b = started(&g, &a);
        uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(3, 7)), 6, true);
        bool within_one = f == FUNCTION_ASIN || f == FUNCTION_ACOS || f == FUNCTION_ATANH;
        x = function(&b, FUNCTION_ADD, build_op1(&b, OP_SIGMOID, x), f == FUNCTION_ACOSH ? 1.125 : within_one ? 0 : 0.125, 0);
        finish(&b, function(&b, (enum op_function)f, x, 0.3, 0.85), 3);
        arena_free(&a);
    }
}

/* Operands that are repeated, either way round: weights and results. */
static void repeated_operands(void **state)
{
    static const enum op_function twos[] = { FUNCTION_SUBTRACT, FUNCTION_DIVIDE, FUNCTION_POWER, FUNCTION_MAXIMUM, FUNCTION_MINIMUM };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof twos / sizeof *twos; i++) {
        struct arena a = { 0 };
        struct graph g;
        struct builder b = started(&g, &a);
        uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(3, 4, 7)), 6, true);
        uint32_t y = build_dense(&b, build_input(&b, "y", TYPE_FP16, DIMS(3, 1, 5)), 6, true);
        x = function(&b, FUNCTION_ADD, build_op1(&b, OP_SIGMOID, x), 0.5, 0);
        y = function(&b, FUNCTION_ADD, build_op1(&b, OP_SIGMOID, y), 0.5, 0);
        x = combine(&b, twos[i / 2], x, y, i % 2);
        x = build_op2(&b, OP_ADD, x, y);
        x = build_op2(&b, OP_MUL, x, y);
        x = build_op2(&b, OP_MUL, x, build_weight(&b, "scale", DIMS(1, 4, 1)));
        x = build_op2(&b, OP_ADD, x, build_weight(&b, "shift", DIMS(1, 4, 6)));
        finish(&b, x, 3);
        arena_free(&a);
    }
}

static void selected_and_expanded(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    (void)state;
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(3, 4, 7)), 6, true);
    uint32_t mask = build_input(&b, "mask", TYPE_UINT8, DIMS(1, 4, 6)), y = build_weight(&b, "class", DIMS(1, 1, 6));
    x = graph_op(&g, OP_SELECT, (uint32_t[]){ x, mask }, 2, (struct op_attributes){ .rate = -0.25 });
    y = graph_op(&g, OP_EXPAND, &y, 1, (struct op_attributes){ .view = { 3, 1, 6 } });
    uint32_t odd = build_input(&b, "odd", TYPE_INT32, DIMS(3, 4, 1));
    x = graph_op(&g, OP_SELECT, (uint32_t[]){ x, odd, y }, 3, (struct op_attributes){ .inverted = true });
    uint32_t both[] = { y, x };
    finish(&b, graph_op(&g, OP_CONCAT, both, 2, (struct op_attributes){ .axis = 1 }), 3);
    arena_free(&a);
}

/* Strides by direction, dilation, uneven padding; turned round; groups; depthwise; resized; local norm. */
static void windows(void **state)
{
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    (void)state;
    uint32_t x = build_input(&b, "images", TYPE_FP16, DIMS(3, 9, 8, 4));
    struct op_attributes dilated = { .kernel_h = 3, .kernel_w = 2, .stride = 2, .stride_w = 1, .dilation = 2, .zeros = { 1, 0, 2, 1 }, .groups = 2 };
    x = graph_op(&g, OP_CONV, (uint32_t[]){ x, build_weight(&b, "w", DIMS(3, 2, 2, 6)) }, 2, dilated);
    assert_int_equal(g.tensors[x].dims[1], 4);      /* (9 + 3 - 5) / 2 + 1 */
    assert_int_equal(g.tensors[x].dims[2], 7);      /* (8 + 1 - 3) / 1 + 1 */
    struct op_attributes local = { .kernel_w = 3, .rate = 0.6, .low = 0.75, .high = 1.5 };
    x = graph_op(&g, OP_LOCAL_NORM, &x, 1, local);
    struct op_attributes depthwise = { .kernel_h = 3, .kernel_w = 3, .stride = 1, .pad = 1, .groups = 6 };
    x = graph_op(&g, OP_CONV, (uint32_t[]){ x, build_weight(&b, "d", DIMS(3, 3, 1, 6)) }, 2, depthwise);
    struct op_attributes turned = { .kernel_h = 3, .kernel_w = 2, .stride = 2, .zeros = { 1, 0, 1, 0 }, .groups = 3, .view = { 3, 8, 14, 9 } };
    uint32_t up = graph_op(&g, OP_CONV_TRANSPOSE, (uint32_t[]){ x, build_weight(&b, "t", DIMS(3, 2, 3, 6)) }, 2, turned);
    uint64_t mac = 3 * 4 * 7 * 6 * 3 * 2 * 3;       /* each input element to 3 x 2 places in each of 3 channels */
    assert_int_equal(op_mac(&g, &g.ops[g.n_ops - 1]), mac);
    x = graph_op(&g, OP_RESIZE, &x, 1, (struct op_attributes){ .view = { 3, 8, 14, 6 } });
    x = graph_op(&g, OP_RESIZE, &x, 1, (struct op_attributes){ .view = { 3, 5, 9, 6 }, .linear = true });
    up = graph_op(&g, OP_RESIZE, &up, 1, (struct op_attributes){ .view = { 3, 5, 9, 9 }, .linear = true });
    uint32_t both[] = { x, up };
    x = graph_op(&g, OP_CONCAT, both, 2, (struct op_attributes){ .axis = 3 });
    struct op_attributes counted = { .kernel_h = 3, .kernel_w = 3, .stride = 2, .pad = 1, .counts_padding = true };
    finish(&b, graph_op(&g, OP_AVERAGE_POOL, &x, 1, counted), 3);
    arena_free(&a);
}

/* Rows replaced in a result and in a parameter, and added to a table of each sample. */
static void scattered(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(7, 4)), 6, true), few = build_input(&b, "few", TYPE_INT32, DIMS(3));
    uint32_t rows = build_dense(&b, build_input(&b, "rows", TYPE_FP16, DIMS(3, 5)), 6, true);
    x = graph_op(&g, OP_SCATTER, (uint32_t[]){ build_op1(&b, OP_TANH, x), few, rows }, 3, (struct op_attributes){ 0 });
    uint32_t y = graph_op(&g, OP_SCATTER, (uint32_t[]){ build_weight(&b, "table", DIMS(7, 6)), few, build_op1(&b, OP_TANH, rows) }, 3, (struct op_attributes){ 0 });
    x = graph_op(&g, OP_VIEW, (uint32_t[]){ build_op2(&b, OP_MUL, x, y) }, 1, (struct op_attributes){ .view = { 2, 7, 3 } });
    uint32_t more = build_weight(&b, "more", DIMS(2, 3, 3)), at = build_input(&b, "at", TYPE_INT32, DIMS(2, 3));
    finish(&b, graph_op(&g, OP_SCATTER, (uint32_t[]){ x, at, more }, 3, (struct op_attributes){ .scatter = SCATTER_ADD }), 3);
    arena_free(&a);
}

/* Dense times sparse, with blocks where the graph puts them and where a list does, and sparse times dense. */
static void sparse_products(void **state)
{
    (void)state;
    static const uint32_t places[] = { 5, 0, 3 };
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(12, 4)), 8, true), w = build_weight(&b, "w", DIMS(3, 4, 4)), v = build_weight(&b, "v", DIMS(7, 1, 1));
    x = build_op1(&b, OP_TANH, graph_op(&g, OP_SPARSE_MATMUL, (uint32_t[]){ x, w }, 2,
                                         (struct op_attributes){ .sparse = { .block = 4, .dynamic = true, .inner = 8, .outer = 12, .places = places } }));
    x = graph_op(&g, OP_SPARSE_MATMUL, (uint32_t[]){ x, v }, 2, (struct op_attributes){ .sparse = { .block = 1, .dynamic = true, .inner = 12, .outer = 9 }, .sparse_first = true });
    assert_int_equal(op_mac(&g, &g.ops[g.n_ops - 1]), 7 * 12);
    finish(&b, x, 3);
    arena_free(&a);
}

/* Sums of differences of 4 rows and 5 others, and triples of knowledge graphs that are scored by them. RotatE and ComplEx have no exact gradient:
 * t_knowledge.c. */
static void distances(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    struct builder b = started(&g, &a);
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(4, 3)), 6, true), y = build_dense(&b, build_input(&b, "y", TYPE_FP16, DIMS(5, 3)), 6, true);
    uint32_t z = build_op2(&b, OP_DISTANCE, build_op1(&b, OP_ALL_TO_ALL, build_op1(&b, OP_TANH, x)), y);      /* a single replica keeps its pieces */
    assert_int_equal(op_flop(&g, &g.ops[g.n_ops - 1]), 3 * 4 * 5 * 6);
    finish(&b, z, 4);
    arena_free(&a);
    for (size_t i = 0; i < 2; i++) {
        const struct model_options few = { .micro_batch = 4, .vocabulary = 11, .negatives = 2, .embedding_size = 8u << i };
        build(workload_find((const char *[]){ "transe", "transe-pytorch" }[i], &err), &few);
    }
}

/* The loss depends on the last two of three pieces: the first one's gradient is zeros, not missing. */
static void pieces_that_nothing_reads(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct builder b = started(&g, &a);
    uint32_t x = build_dense(&b, build_input(&b, "x", TYPE_FP16, DIMS(3, 4)), 6, true);
    uint32_t first = graph_op(&g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .pieces = 3 });
    finish(&b, build_op2(&b, OP_MUL, first + 1, build_op1(&b, OP_TANH, first + 2)), 3);
    arena_free(&a);
}

/* Collectives are executed by tests/execute/t_sliced.c, the others by those of tests/onnx; a codelet only has a price. */
static const bool executed_elsewhere[N_OP_KINDS] = {
    [OP_ALL_REDUCE] = true, [OP_SHARE] = true, [OP_ALL_GATHER] = true, [OP_ARG_MAX] = true, [OP_TOP_K] = true, [OP_RANDOM] = true,
    [OP_CODELET] = true,
};

/* Every kind has a name, a shape, a price and a kernel: one that lacks a row of these tables stops a test above. */
static void every_kind_is_executed(void **state)
{
    (void)state;
    for (int k = 0; k < N_OP_KINDS; k++)
        if (!n_ops[k][PASS_FORWARD] && !executed_elsewhere[k]) {
            print_error("operation %d, '%s', is in no graph of tests/graph/t_execute.c: add one, whose gradient is then checked\n", k, op_kind_names[k] ? op_kind_names[k] : "");
            _fail(__FILE__, __LINE__);
        }
}

/* Runs last: the golden text shows which kind of operation a change makes dearer. */
static void costs_by_kind(void **state)
{
    struct arena a = { 0 };
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)state;
    fprintf(f, "%-16s %-16s %5s %10s %10s %8s %9s %9s %10s %9s %9s %10s\n", "kind", "pass", "ops", "compute", "exchange", "sync", "mac", "flop", "moved B",
            "temp B", "code B", "rearrange");
    for (int k = 0; k < N_OP_KINDS; k++)
        for (int pass = 0; pass < N_OP_PASSES; pass++) {
            const struct op_plan *c = &costs[k][pass];
            if (n_ops[k][pass])
                fprintf(f, "%-16s %-16s %5u %10ju %10ju %8ju %9ju %9ju %10ju %9ju %9ju %10ju\n", op_kind_names[k], op_pass_names[pass], n_ops[k][pass],
                        (uintmax_t)c->compute_cycles, (uintmax_t)c->exchange_cycles, (uintmax_t)c->sync_cycles, (uintmax_t)c->mac,
                        (uintmax_t)flop[k][pass], (uintmax_t)c->exchanged_bytes, (uintmax_t)c->temp_bytes_per_tile, (uintmax_t)op_code_bytes(&c->code),
                        (uintmax_t)c->rearrange_cycles);
        }
    fclose(f);
    assert_golden(text, "tests/golden/op_costs.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bert), cmocka_unit_test(rnnt), cmocka_unit_test(gated), cmocka_unit_test(transformer_transducer),
    cmocka_unit_test(convolutional), cmocka_unit_test(vit), cmocka_unit_test(gpt2), cmocka_unit_test(large_families), cmocka_unit_test(rotary_by_sample), cmocka_unit_test(conformer),
    cmocka_unit_test(inverted_residuals), cmocka_unit_test(grouped_residuals), cmocka_unit_test(functions), cmocka_unit_test(repeated_operands),
    cmocka_unit_test(selected_and_expanded), cmocka_unit_test(windows), cmocka_unit_test(borders), cmocka_unit_test(scattered),
    cmocka_unit_test(pieces_that_nothing_reads), cmocka_unit_test(sparse_products), cmocka_unit_test(distances), cmocka_unit_test(every_kind_is_executed), cmocka_unit_test(costs_by_kind),
};
TAP_MAIN(tests)
