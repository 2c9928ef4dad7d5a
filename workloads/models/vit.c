/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vit.c - vision transformers: Dosovitskiy et al. 2020 (arXiv 2010.11929).
 *
 * An image's patches are tokens, with a class token before them and a learned position added; norms come before
 * attention and before the feed-forward product. The classes are read from the class token, after a norm of all tokens
 * (graphcore/examples v3.1.0 vision/vit/pytorch/models/modules.py:218, 279-283).
 */
#include "workloads/models/builders.h"

static const double dropout = 0.1;

static uint32_t tokens(struct builder *b, const struct vit_config *c)
{
    struct conv_spec patches = { .kernel = (uint32_t)c->patch, .stride = (uint32_t)c->patch, .channels = c->hidden, .unpadded = true };
    uint32_t x = build_bias(b, build_conv(b, build_images(b, c->image, 3), patches));
    x = build_reshape(b, x, DIMS(b->batch, build_side(b, x) * build_side(b, x), c->hidden));
    uint32_t class = build_weight(b, "class-token", DIMS(1, 1, c->hidden));
    if (b->batch > 1)
        class = graph_op(b->g, OP_EXPAND, &class, 1, (struct op_attributes){ .view = { b->batch, 1, c->hidden } });
    x = graph_op(b->g, OP_CONCAT, (uint32_t[]){ class, x }, 2, (struct op_attributes){ .axis = 1 });
    uint32_t positions = build_weight(b, "positions", DIMS(1, build_dim(b, x, 1), c->hidden));
    return build_dropout(b, build_op2(b, OP_ADD, x, positions), dropout);
}

bool vit_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct vit_config *c = w->config;
    uint64_t size = o->image_size ? o->image_size : c->image;
    if (size % c->patch)
        return fail(err, "%s: data.image_size: %ju pixels are not a multiple of the patch of %ju; want 224 or 384", o->where,
                    (uintmax_t)size, (uintmax_t)c->patch);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t x = tokens(b, c);
    struct attention at = { .heads = c->heads, .mask = NO_ID, .dropout = o->attention_dropout ? dropout : 0, .split_qkv = true,
                            .divides = true };
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = build_block(b, x, "encoder", i, &at, c->inner, dropout, dropout);
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    x = build_layer_norm(b, x);
    x = graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 1, .length = 1 });
    x = build_reshape(b, x, DIMS(b->batch, c->hidden));
    build_classes(b, build_dense(b, x, N_IMAGE_CLASSES, true), DIMS(b->batch));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Dosovitskiy et al. 2021, table 1; the small one is from Touvron et al. 2021 (DeiT). */
#define VIT(name, n, width, n_heads, pixels) \
    static const struct vit_config name = { .n_layers = n, .hidden = width, .heads = n_heads, .inner = 4 * width, .patch = pixels, .image = 224 }
VIT(small_16, 12, 384, 6, 16);
VIT(base_16, 12, 768, 12, 16);
VIT(base_32, 12, 768, 12, 32);
VIT(large_16, 24, 1024, 16, 16);
VIT(large_32, 24, 1024, 16, 32);
VIT(huge_14, 32, 1280, 16, 14);
#undef VIT

WORKLOADS(vit)
{
    { "vit-b16", "vit", "ViT-Base, patches of 16 x 16", "image", vit_build, &base_16, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { "vit-s16", "vit", "ViT-Small, patches of 16 x 16", "image", vit_build, &small_16, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { "vit-b32", "vit", "ViT-Base, patches of 32 x 32", "image", vit_build, &base_32, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { "vit-l16", "vit", "ViT-Large, patches of 16 x 16", "image", vit_build, &large_16, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { "vit-l32", "vit", "ViT-Large, patches of 32 x 32", "image", vit_build, &large_32, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { "vit-h14", "vit", "ViT-Huge, patches of 14 x 14", "image", vit_build, &huge_14, 0, NULL, TAKES_IMAGES | HAS_ATTENTION | HAS_THREE_PRODUCTS },
    { 0 }
};
