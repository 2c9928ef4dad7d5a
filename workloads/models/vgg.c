/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vgg.c - plain convolutional networks: Simonyan and Zisserman 2014 (arXiv 1409.1556).
 *
 * Five stages of 3x3 convolutions with biases, each with a max pool of 2 at its end; two products of width 4096, and
 * the classes. A layer is a convolution with what follows it, or a product.
 */
#include "workloads/models/builders.h"

enum { VGG_IMAGE_SIZE = 224, WIDE = 4096 };
static const double dropout = 0.5;

struct vgg_config { uint64_t convs[5]; };

static uint32_t stages(struct builder *b, const struct vgg_config *c)
{
    uint32_t block = 0, x = NO_ID;
    for (uint32_t stage = 0; stage < 5; stage++)
        for (uint64_t i = 0; i < c->convs[stage]; i++) {
            uint64_t channels = stage < 4 ? 64ull << stage : 512;
            bool first = stage == 0 && i == 0;
            build_layer(b, first ? LAYER_FIRST : LAYER_BODY, first ? 0 : block++, 0, 1,
                        arena_printf(b->g->arena, "stage%u/conv%u", stage + 1, (unsigned)i + 1));
            if (first)
                x = build_images(b, VGG_IMAGE_SIZE, 3);
            x = build_op1(b, OP_RELU, build_bias(b, build_conv(b, x, (struct conv_spec){ .kernel = 3, .channels = channels })));
            if (i + 1 == c->convs[stage])
                x = build_pool(b, OP_MAX_POOL, x, 2, 2, 0);
        }
    uint64_t n = tensor_elements(&b->g->tensors[x]) / b->batch;
    x = build_reshape(b, x, DIMS(b->batch, n));
    for (uint32_t i = 0; i < 2; i++) {
        build_layer(b, LAYER_BODY, block++, 0, 1, arena_printf(b->g->arena, "dense%u", i + 1));
        x = build_dropout(b, build_op1(b, OP_RELU, build_dense(b, x, WIDE, true)), dropout);
    }
    return x;
}

static bool vgg_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    uint32_t x = stages(b, w->config);
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    build_classes(b, build_dense(b, x, N_IMAGE_CLASSES, true), DIMS(b->batch));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct vgg_config vgg11 = { { 1, 1, 2, 2, 2 } }, vgg13 = { { 2, 2, 2, 2, 2 } }, vgg16 = { { 2, 2, 3, 3, 3 } }, vgg19 = { { 2, 2, 4, 4, 4 } };

WORKLOADS(vgg)
{
    { "vgg11", "vgg", "VGG, 11 layers", "image", vgg_build, &vgg11, 0, NULL, TAKES_IMAGES },
    { "vgg13", "vgg", "VGG, 13 layers", "image", vgg_build, &vgg13, 0, NULL, TAKES_IMAGES },
    { "vgg16", "vgg", "VGG, 16 layers", "image", vgg_build, &vgg16, 0, NULL, TAKES_IMAGES },
    { "vgg19", "vgg", "VGG, 19 layers", "image", vgg_build, &vgg19, 0, NULL, TAKES_IMAGES },
    { 0 }
};
