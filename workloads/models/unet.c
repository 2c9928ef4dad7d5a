/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unet.c - segmentation of medical images: Ronneberger et al. 2015 (arXiv 1505.04597).
 *
 * Each of four levels down has two unpadded 3x3 convolutions and a max pool of 2; each level up a transposed 2x2
 * convolution, joined with the cropped result of the level down. Input is one channel of 572 x 572 pixels, output two
 * classes of 388 x 388; it has no norms.
 */
#include "workloads/models/builders.h"

enum { UNET_IMAGE_SIZE = 572, LEVELS = 4, N_CLASSES = 2 };

static uint32_t two_convs(struct builder *b, uint32_t x, uint64_t channels)
{
    for (int i = 0; i < 2; i++)
        x = build_op1(b, OP_RELU, build_bias(b, build_conv(b, x, (struct conv_spec){ .kernel = 3, .channels = channels, .unpadded = true })));
    return x;
}

static uint32_t crop(struct builder *b, uint32_t x, uint64_t size)
{
    uint64_t begin = (build_side(b, x) - size) / 2;
    x = graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .begin = begin, .length = size });
    return graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 2, .begin = begin, .length = size });
}

static uint32_t up(struct builder *b, uint32_t x, uint32_t beside)
{
    uint64_t channels = build_width(b, x) / 2, size = 2 * build_side(b, x);
    struct op_attributes at = { .kernel_h = 2, .kernel_w = 2, .stride = 2, .view = { b->batch, size, size, channels } };
    uint32_t w = build_product_weight(b, DIMS(2, 2, channels, build_width(b, x)));
    x = build_bias(b, graph_op(b->g, OP_CONV_TRANSPOSE, (uint32_t[]){ build_factor(b, x), w }, 2, at));
    return graph_op(b->g, OP_CONCAT, (uint32_t[]){ crop(b, beside, size), x }, 2, (struct op_attributes){ .axis = 3 });
}

/* A size s at the bottom is 16 s + 60 at the top. Two convolutions take 4 pixels and the rest is doubled, so 8 is the
 * smallest s that does not shrink on the way up. */
enum { SMALLEST_SIZE = 16 * 8 + 60 };

static bool check_size(uint64_t size, const struct workload *w, const struct model_options *o, struct err *err)
{
    if (size < SMALLEST_SIZE || (size - SMALLEST_SIZE) % 16)
        return fail(err, "%s: data.image_size: %s halves it four times after taking 4 pixels; want 188, 204, 220.. (572)", o->where, w->name);
    return true;
}

static bool unet_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    uint32_t beside[LEVELS], block = 0;
    if (!check_size(o->image_size ? o->image_size : UNET_IMAGE_SIZE, w, o, err))
        return false;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "down1");
    uint32_t x = beside[0] = two_convs(b, build_images(b, UNET_IMAGE_SIZE, 1), 64);
    for (uint32_t i = 1; i <= LEVELS; i++) {
        build_layer(b, LAYER_BODY, block++, 0, 1, i < LEVELS ? arena_printf(b->g->arena, "down%u", i + 1) : "bottom");
        x = two_convs(b, build_pool(b, OP_MAX_POOL, x, 2, 2, 0), 64ull << i);
        if (i < LEVELS)
            beside[i] = x;
        else
            x = build_dropout(b, x, 0.5);
    }
    for (uint32_t i = LEVELS; i-- > 0; ) {
        build_layer(b, LAYER_BODY, block++, 0, 1, arena_printf(b->g->arena, "up%u", i + 1));
        x = two_convs(b, up(b, x, beside[i]), 64ull << i);
    }
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    x = build_bias(b, build_conv(b, x, (struct conv_spec){ .kernel = 1, .channels = N_CLASSES }));
    build_classes(b, x, DIMS(b->batch, build_side(b, x), build_side(b, x)));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

WORKLOADS(unet)
{
    { "unet", "unet", "U-Net for medical images", "image", unet_build, NULL, 0, NULL, TAKES_IMAGES },
    { 0 }
};
