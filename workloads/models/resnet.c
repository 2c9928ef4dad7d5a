/*
 * resnet.c - residual networks for 224 x 224 images, 1000 classes.
 *
 * He et al. 2015 (arXiv 1512.03385), version 1.5: a bottleneck's stride stands on its 3x3 convolution. A layer is a
 * residual unit, "stage2/unit1". Statistics of batch norms may span several replicas (distributed batch norm).
 * Inference folds each batch norm into the convolution before it, as exporters do; a bias remains.
 */
#include "workloads/models/builders.h"

enum { IMAGE_SIZE = 224, N_CLASSES = 1000 };

static uint32_t conv(struct builder *b, uint32_t x, uint32_t kernel, uint32_t stride, uint64_t out_channels)
{
    struct op_attributes at = { .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = kernel / 2 };
    uint32_t w = build_product_weight(b, DIMS(kernel, kernel, build_width(b, x), out_channels));
    return graph_op(b->g, OP_CONV, (uint32_t[]){ build_factor(b, x), w }, 2, at);
}

static uint32_t batch_norm(struct builder *b, uint32_t x)
{
    uint64_t n = build_width(b, x);
    uint32_t gamma = build_weight(b, "gamma", DIMS(n)), beta = build_weight(b, "beta", DIMS(n));
    graph_tensor(b->g, "moving-mean", ROLE_STATE, b->type, DIMS(n));
    graph_tensor(b->g, "moving-variance", ROLE_STATE, b->type, DIMS(n));
    struct op_attributes at = { .norm_groups = b->o ? (uint32_t)b->o->batch_norm_span : 1 };
    return graph_op(b->g, OP_BATCH_NORM, (uint32_t[]){ x, gamma, beta }, 3, at);
}

static uint32_t conv_norm(struct builder *b, uint32_t x, uint32_t kernel, uint32_t stride, uint64_t out_channels)
{
    x = conv(b, x, kernel, stride, out_channels);
    return b->training ? batch_norm(b, x) : build_bias(b, x);
}

static uint32_t pool(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    struct op_attributes at = { .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = pad };
    return graph_op(b->g, kind, &x, 1, at);
}

/* Bytes from the host are cast and normalised on the chip; prepared images arrive in the type of the graph. */
static uint32_t images(struct builder *b)
{
    bool prepared = b->o && b->o->input_type == INPUT_FP16;
    uint32_t x = build_input(b, "images", prepared ? b->type : TYPE_UINT8, DIMS(b->batch, IMAGE_SIZE, IMAGE_SIZE, 3));
    if (prepared)
        return x;
    return graph_op(b->g, OP_INPUT_PREPARE, &x, 1, (struct op_attributes){ .to_type = b->type });
}

static void head(struct builder *b, uint32_t x)
{
    x = pool(b, OP_AVERAGE_POOL, x, (uint32_t)build_dim(b, x, 1), 1, 0);
    build_classes(b, build_dense(b, x, N_CLASSES, true), DIMS(b->batch));
    if (b->training)
        graph_add_backward(b->g);
}

/* ---- residual networks --------------------------------------------------------------------- */

static uint32_t residual_unit(struct builder *b, uint32_t x, bool bottleneck, uint64_t channels, uint32_t stride)
{
    uint64_t out = bottleneck ? 4 * channels : channels;
    uint32_t shortcut = x, y = x;
    if (bottleneck) {
        y = build_op1(b, OP_RELU, conv_norm(b, y, 1, 1, channels));
        y = build_op1(b, OP_RELU, conv_norm(b, y, 3, stride, channels));
        y = conv_norm(b, y, 1, 1, out);
    } else {
        y = build_op1(b, OP_RELU, conv_norm(b, y, 3, stride, channels));
        y = conv_norm(b, y, 3, 1, out);
    }
    if (stride != 1 || build_width(b, x) != out)
        shortcut = conv_norm(b, x, 1, stride, out);
    return build_op1(b, OP_RELU, build_op2(b, OP_ADD, y, shortcut));
}

bool resnet_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    const struct resnet_config *c = w->config;
    struct builder b = builder_start(g, w->name, o, a);
    (void)err;
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = build_op1(&b, OP_RELU, conv_norm(&b, images(&b), 7, 2, 64));
    x = pool(&b, OP_MAX_POOL, x, 3, 2, 1);
    uint32_t block = 0;
    for (uint32_t stage = 0; stage < 4; stage++)
        for (uint64_t unit = 0; unit < c->units[stage]; unit++) {
            const char *name = arena_printf(a, "stage%u/unit%u", stage + 1, (unsigned)unit + 1);
            build_layer(&b, LAYER_BODY, block++, 0, 1, name);
            x = residual_unit(&b, x, c->bottleneck, 64ull << stage, stage > 0 && unit == 0 ? 2 : 1);
        }
    build_layer(&b, LAYER_LAST, 0, 0, 1, "head");
    head(&b, x);
    return true;
}

/* ---- densely connected networks: Huang et al. 2016 (arXiv 1608.06993) ------------------------ */

static uint32_t norm_relu(struct builder *b, uint32_t x)
{
    return build_op1(b, OP_RELU, batch_norm(b, x));
}

static uint32_t transition(struct builder *b, uint32_t x)
{
    x = conv(b, norm_relu(b, x), 1, 1, build_width(b, x) / 2);
    return pool(b, OP_AVERAGE_POOL, x, 2, 2, 0);
}

bool densenet_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    const struct densenet_config *c = w->config;
    struct builder b = builder_start(g, w->name, o, a);
    (void)err;
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = build_op1(&b, OP_RELU, conv_norm(&b, images(&b), 7, 2, 2 * c->growth));
    x = pool(&b, OP_MAX_POOL, x, 3, 2, 1);
    uint32_t block = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        for (uint64_t i = 0; i < c->layers[stage]; i++) {
            const char *name = arena_printf(a, "dense%u/layer%u", stage + 1, (unsigned)i + 1);
            build_layer(&b, LAYER_BODY, block++, 0, 1, name);
            uint32_t y = conv(&b, norm_relu(&b, x), 1, 1, 4 * c->growth);
            y = conv(&b, norm_relu(&b, y), 3, 1, c->growth);
            x = graph_op(g, OP_CONCAT, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .axis = 3 });
        }
        if (stage < 3) {
            build_layer(&b, LAYER_BODY, block++, 0, 1, arena_printf(a, "transition%u", stage + 1));
            x = transition(&b, x);
        }
    }
    build_layer(&b, LAYER_LAST, 0, 0, 1, "head");
    head(&b, norm_relu(&b, x));
    return true;
}
