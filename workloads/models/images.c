/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.c - what the networks for images share.
 *
 * Statistics of batch norms may span several replicas (distributed batch norm). Inference folds each batch norm into the
 * convolution before it, as exporters do; a bias remains. Group norm (Wu and He 2018) keeps its statistics by sample.
 */
#include "workloads/models/images.h"
#include <assert.h>

uint32_t build_conv(struct builder *b, uint32_t x, struct conv_spec c)
{
    uint32_t width = c.width ? c.width : c.kernel, pad = c.unpadded ? 0 : (c.kernel > width ? c.kernel : width) / 2;
    uint32_t stride = c.stride ? c.stride : 1, groups = c.groups ? c.groups : 1;
    struct op_attributes at = { .kernel_h = c.kernel, .kernel_w = width, .stride = stride, .pad = pad, .groups = groups };
    uint32_t w = build_product_weight(b, DIMS(c.kernel, width, build_width(b, x) / groups, c.channels));
    return graph_op(b->g, OP_CONV, (uint32_t[]){ build_factor(b, x), w }, 2, at);
}

uint32_t build_own_norm(struct builder *b, uint32_t x)
{
    uint64_t n = build_width(b, x);
    uint32_t gamma = build_weight(b, "gamma", DIMS(n)), beta = build_weight(b, "beta", DIMS(n));
    uint64_t groups = b->o->norm_groups;
    if (groups) {
        struct op_attributes at = { .norm_groups = (uint32_t)(n % groups ? 1 : groups) };
        return graph_op(b->g, OP_GROUP_NORM, (uint32_t[]){ x, gamma, beta }, 3, at);
    }
    graph_tensor(b->g, "moving-mean", ROLE_STATE, b->type, DIMS(n));
    graph_tensor(b->g, "moving-variance", ROLE_STATE, b->type, DIMS(n));
    struct op_attributes at = { .norm_groups = (uint32_t)b->o->batch_norm_span, .stable = b->o->stable_norm };
    return graph_op(b->g, OP_BATCH_NORM, (uint32_t[]){ x, gamma, beta }, 3, at);
}

uint32_t build_norm(struct builder *b, uint32_t x)
{
    bool by_group = b->o->norm_groups;
    return b->training || by_group ? build_own_norm(b, x) : build_bias(b, x);
}

uint32_t build_conv_norm(struct builder *b, uint32_t x, struct conv_spec c)
{
    return build_norm(b, build_conv(b, x, c));
}

uint32_t build_pool(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    struct op_attributes at = { .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = pad };
    return graph_op(b->g, kind, &x, 1, at);
}

uint64_t build_side(const struct builder *b, uint32_t x)
{
    const struct tensor *t = &b->g->tensors[x];
    assert(t->n_dims == 4 && t->dims[1] == t->dims[2]);
    return t->dims[1];
}

uint32_t build_global_pool(struct builder *b, uint32_t x)
{
    return build_pool(b, OP_AVERAGE_POOL, x, (uint32_t)build_side(b, x), 1, 0);
}

uint32_t build_images(struct builder *b, uint64_t size, uint64_t channels)
{
    bool prepared = b->o->input_type == INPUT_FP16;
    size = b->o->image_size ? b->o->image_size : size;
    uint32_t x = build_input(b, "images", prepared ? b->type : TYPE_UINT8, DIMS(b->batch, size, size, channels));
    if (prepared)
        return x;
    return graph_op(b->g, OP_INPUT_PREPARE, &x, 1, (struct op_attributes){ .to_type = b->type });
}

void build_image_head(struct builder *b, uint32_t x, double dropout)
{
    x = build_dropout(b, build_global_pool(b, x), dropout);
    build_classes(b, build_dense(b, x, N_IMAGE_CLASSES, true), DIMS(b->batch));
    if (b->training)
        graph_add_backward(b->g);
}
