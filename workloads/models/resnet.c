/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resnet.c - residual networks for 224 x 224 images, 1000 classes.
 *
 * He et al. 2015 (arXiv 1512.03385), version 1.5: a bottleneck's stride is in its 3x3 convolution. ResNeXt (Xie et al.
 * 2016, arXiv 1611.05431) cuts that convolution in groups and makes it wider: 32 groups of 4, 8.. channels by stage. A
 * layer is a residual unit, "stage2/unit1". Small images (He et al., section 4.2) have a stem of one 3x3 convolution and no pool.
 */
#include "workloads/models/builders.h"

enum { RESNET_IMAGE_SIZE = 224, RESNET_WIDTH = 64 };

/* ---- residual networks --------------------------------------------------------------------- */

static uint32_t conv_norm(struct builder *b, uint32_t x, uint32_t kernel, uint32_t stride, uint64_t channels)
{
    return build_conv_norm(b, x, (struct conv_spec){ .kernel = kernel, .stride = stride, .channels = channels });
}

static uint32_t residual_unit(struct builder *b, uint32_t x, const struct resnet_config *c, uint64_t channels, uint32_t stride)
{
    uint64_t out = c->bottleneck ? 4 * channels : channels;
    uint64_t inner = c->groups ? channels * c->groups * c->group_width / 64 : channels;
    uint32_t shortcut = x, y = x;
    if (c->bottleneck) {
        struct conv_spec middle = { .kernel = 3, .stride = stride, .channels = inner, .groups = c->groups };
        y = build_op1(b, OP_RELU, conv_norm(b, y, 1, 1, inner));
        y = build_op1(b, OP_RELU, build_conv_norm(b, y, middle));
        y = conv_norm(b, y, 1, 1, out);
    } else {
        y = build_op1(b, OP_RELU, conv_norm(b, y, 3, stride, channels));
        y = conv_norm(b, y, 3, 1, out);
    }
    if (stride != 1 || build_width(b, x) != out)
        shortcut = conv_norm(b, x, 1, stride, out);
    return build_op1(b, OP_RELU, build_op2(b, OP_ADD, y, shortcut));
}

static uint32_t stem(struct builder *b, const struct resnet_config *c)
{
    if (c->image)
        return build_op1(b, OP_RELU, conv_norm(b, build_images(b, c->image, c->image_channels), 3, 1, c->width));
    uint32_t x = build_op1(b, OP_RELU, conv_norm(b, build_images(b, RESNET_IMAGE_SIZE, 3), 7, 2, RESNET_WIDTH));
    return build_pool(b, OP_MAX_POOL, x, 3, 2, 1);
}

bool resnet_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    const struct resnet_config *c = w->config;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = stem(b, c), block = 0;
    for (uint32_t stage = 0; stage < 4; stage++)
        for (uint64_t unit = 0; unit < c->units[stage]; unit++) {
            const char *name = arena_printf(b->g->arena, "stage%u/unit%u", stage + 1, (unsigned)unit + 1);
            build_layer(b, LAYER_BODY, block++, 0, 1, name);
            x = residual_unit(b, x, c, (c->width ? c->width : RESNET_WIDTH) << stage, stage > 0 && unit == 0 ? 2 : 1);
        }
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    build_image_head(b, x, c->classes ? c->classes : N_IMAGE_CLASSES, 0);
    return true;
}

/* ---- densely connected networks: Huang et al. 2016 (arXiv 1608.06993) ------------------------ */

static uint32_t norm_relu(struct builder *b, uint32_t x) { return build_op1(b, OP_RELU, build_own_norm(b, x)); }

static uint32_t transition(struct builder *b, uint32_t x)
{
    x = build_conv(b, norm_relu(b, x), (struct conv_spec){ .kernel = 1, .channels = build_width(b, x) / 2 });
    return build_pool(b, OP_AVERAGE_POOL, x, 2, 2, 0);
}

struct densenet_config { uint64_t layers[4]; uint64_t growth; };

static bool densenet_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    const struct densenet_config *c = w->config;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = build_op1(b, OP_RELU, conv_norm(b, build_images(b, RESNET_IMAGE_SIZE, 3), 7, 2, 2 * c->growth));
    x = build_pool(b, OP_MAX_POOL, x, 3, 2, 1);
    uint32_t block = 0;
    for (uint32_t stage = 0; stage < 4; stage++) {
        for (uint64_t i = 0; i < c->layers[stage]; i++) {
            const char *name = arena_printf(b->g->arena, "dense%u/layer%u", stage + 1, (unsigned)i + 1);
            build_layer(b, LAYER_BODY, block++, 0, 1, name);
            uint32_t y = build_op1(b, OP_RELU, conv_norm(b, norm_relu(b, x), 1, 1, 4 * c->growth));
            y = build_conv(b, y, (struct conv_spec){ .kernel = 3, .channels = c->growth });
            x = graph_op(b->g, OP_CONCAT, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .axis = 3 });
        }
        if (stage < 3) {
            build_layer(b, LAYER_BODY, block++, 0, 1, arena_printf(b->g->arena, "transition%u", stage + 1));
            x = transition(b, x);
        }
    }
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    build_image_head(b, norm_relu(b, x), N_IMAGE_CLASSES, 0);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct resnet_config resnet18 = { .units = { 2, 2, 2, 2 } }, resnet34 = { .units = { 3, 4, 6, 3 } },
    resnet50 = { { 3, 4, 6, 3 }, .bottleneck = true }, resnet101 = { { 3, 4, 23, 3 }, .bottleneck = true }, resnet152 = { { 3, 8, 36, 3 }, .bottleneck = true };
static const struct resnet_config resnext50 = { { 3, 4, 6, 3 }, .bottleneck = true, .groups = 32, .group_width = 4 },
    resnext101 = { { 3, 4, 23, 3 }, .bottleneck = true, .groups = 32, .group_width = 4 };
static const struct densenet_config densenet121 = { { 6, 12, 24, 16 }, 32 };

static const struct resnet_config resnet8 = { .units = { 1, 1, 1 }, .image = 28, .image_channels = 1, .width = 8, .classes = 10 };

WORKLOADS(resnet)
{
    { "resnet8", "resnet", "residual network, 8 layers, for grey images of 28 pixels and 10 classes", "image", resnet_build, &resnet8, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet18", "resnet", "residual network, 18 layers", "image", resnet_build, &resnet18, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet34", "resnet", "residual network, 34 layers", "image", resnet_build, &resnet34, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet50", "resnet", "residual network, 50 layers, v1.5", "image", resnet_build, &resnet50, 0, "resnet", TAKES_IMAGES | HAS_NORMS },
    { "resnet101", "resnet", "residual network, 101 layers, v1.5", "image", resnet_build, &resnet101, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnet152", "resnet", "residual network, 152 layers, v1.5", "image", resnet_build, &resnet152, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "densenet121", "densenet", "densely connected network, 121 layers", "image", densenet_build, &densenet121, 0,
      NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnext50", "resnet", "ResNeXt, 50 layers, 32 groups of 4", "image", resnet_build, &resnext50, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { "resnext101", "resnet", "ResNeXt, 101 layers, 32 groups of 4", "image", resnet_build, &resnext101, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { 0 }
};
