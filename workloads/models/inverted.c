/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inverted.c - networks of inverted residuals: EfficientNet and MobileNet v2.
 *
 * Tan and Le 2019 (arXiv 1905.11946): blocks widen, convolve each channel, weigh channels (squeeze and excitation) and
 * narrow again; width, depth and image grow together from B0 to B7. Masters et al. 2021 (arXiv 2106.03640) convolve in
 * groups of 16 channels and widen by 4 instead of 6. Sandler et al. 2018 (arXiv 1801.04381): MobileNet v2, without the
 * weighing, and with relu cut off at 6. EfficientNet's blocks are left out for some samples in training, as the vendor's program does it (examples v2.4.0
 * cnns/training/Models/efficientnet.py:144-160, 314-316); its proxy norm is off unless asked for (the same:466) and not modelled.
 */
#include "workloads/models/builders.h"
#include <assert.h>

struct stage { bool widens; uint64_t channels, repeats; uint32_t stride, kernel; };

static const struct stage efficientnet_stages[] = {
    { false, 16, 1, 1, 3 }, { true, 24, 2, 2, 3 }, { true, 40, 2, 2, 5 }, { true, 80, 3, 2, 3 }, { true, 112, 3, 1, 5 }, { true, 192, 4, 2, 5 },
    { true, 320, 1, 1, 3 },
};
static const struct stage mobilenet_stages[] = {
    { false, 16, 1, 1, 3 }, { true, 24, 2, 2, 3 }, { true, 32, 3, 2, 3 }, { true, 64, 4, 2, 3 }, { true, 96, 3, 1, 3 }, { true, 160, 3, 2, 3 },
    { true, 320, 1, 1, 3 },
};
enum { N_STAGES = 7, STEM_CHANNELS = 32, HEAD_CHANNELS = 1280, SQUEEZE = 4 };

/* The choices in which the networks differ, for one block. */
struct inverted { bool weighs, relu6; uint64_t expansion; uint32_t group; double dropped; };      /* dropped: nearly the share of samples that the last block leaves out */

static uint32_t activation(struct builder *b, uint32_t x, const struct inverted *v)
{
    if (!v->relu6)
        return build_op1(b, OP_SWISH, x);
    return graph_op(b->g, OP_MAP, &x, 1, (struct op_attributes){ .function = FUNCTION_CLIP, .low = 0, .high = 6 });
}

static uint32_t conv_biased(struct builder *b, uint32_t x, uint64_t channels)
{
    return build_bias(b, build_conv(b, x, (struct conv_spec){ .kernel = 1, .channels = channels }));
}

/* Multiplies channels by weights [batch, 1, 1, channels] that follow from their means. */
static uint32_t weigh_channels(struct builder *b, uint32_t x, uint64_t squeezed)
{
    uint32_t w = build_op1(b, OP_SWISH, conv_biased(b, build_global_pool(b, x), squeezed));
    return build_op2(b, OP_MUL, x, build_op1(b, OP_SIGMOID, conv_biased(b, w, build_width(b, x))));
}

/* A block's result over its chance to survive, times one or zero for each sample. The chance falls from 1 in the first block to 0.8
 * (--block-survival-prob). In execution every sample survives. */
static uint32_t surviving(struct builder *b, uint32_t x, double chance)
{
    if (!b->training || chance >= 1)
        return x;
    x = graph_op(b->g, OP_MAP, &x, 1, (struct op_attributes){ .function = FUNCTION_DIVIDE_BY, .low = chance });
    return build_op2(b, OP_MUL, x, graph_tensor(b->g, "ones", ROLE_STATE, b->type, 4, (uint64_t[]){ build_dim(b, x, 0), 1, 1, 1 }));
}

static uint32_t inverted_block(struct builder *b, uint32_t x, const struct stage *s, uint64_t channels, uint32_t stride, double chance, const struct inverted *v)
{
    uint64_t in = build_width(b, x), wide = in * (s->widens ? v->expansion : 1);
    uint32_t y = x, groups = (uint32_t)(wide / common_divisor(wide, v->group));
    if (s->widens)
        y = activation(b, build_conv_norm(b, y, (struct conv_spec){ .kernel = 1, .channels = wide }), v);
    struct conv_spec by_channel = { .kernel = s->kernel, .stride = stride, .groups = groups, .channels = wide };
    y = activation(b, build_conv_norm(b, y, by_channel), v);
    if (v->weighs)
        y = weigh_channels(b, y, in / SQUEEZE);
    y = build_conv_norm(b, y, (struct conv_spec){ .kernel = 1, .channels = channels });
    return stride == 1 && in == channels ? build_op2(b, OP_ADD, surviving(b, y, chance), x) : y;
}

/* The channels of a wider network, rounded to a multiple of 8 that is at least nine tenths of them. */
static uint64_t widened(uint64_t channels, uint64_t width_tenths)
{
    assert(channels % 8 == 0);
    uint64_t exact_tenths = channels * width_tenths, to = (exact_tenths + 40) / 80 * 8;
    return 100 * to < 9 * exact_tenths ? to + 8 : to;
}

static uint32_t add_stages(struct builder *b, uint32_t x, const struct stage *stages, const struct inverted_config *c, const struct inverted *v)
{
    uint64_t block = 0, n_blocks = 0;
    for (uint32_t i = 0; i < N_STAGES; i++)
        n_blocks += ceil_div(stages[i].repeats * c->depth_tenths, 10);
    for (uint32_t i = 0; i < N_STAGES; i++) {
        const struct stage *s = &stages[i];
        uint64_t repeats = ceil_div(s->repeats * c->depth_tenths, 10);
        for (uint64_t k = 0; k < repeats; k++) {
            double chance = 1 - v->dropped * (double)block / (double)n_blocks;
            build_layer(b, LAYER_BODY, (uint32_t)block++, 0, 1, arena_printf(b->g->arena, "block%u%c", i + 1, (char)('a' + k)));
            x = inverted_block(b, x, s, widened(s->channels, c->width_tenths), k ? 1 : s->stride, chance, v);
        }
    }
    return x;
}

static bool build_inverted(struct builder *b, const struct workload *w, const struct stage *stages, const struct inverted *v)
{
    const struct inverted_config *c = w->config;
    struct conv_spec stem = { .kernel = 3, .stride = 2, .channels = widened(STEM_CHANNELS, c->width_tenths) };
    build_layer(b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = activation(b, build_conv_norm(b, build_images(b, c->image, 3), stem), v);
    x = add_stages(b, x, stages, c, v);
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    x = activation(b, build_conv_norm(b, x, (struct conv_spec){ .kernel = 1, .channels = widened(HEAD_CHANNELS, c->width_tenths) }), v);
    build_image_head(b, x, N_IMAGE_CLASSES, c->dropout);
    return true;
}

bool efficientnet_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct inverted_config *c = w->config;
    (void)err;
    return build_inverted(b, w, efficientnet_stages, &(struct inverted){ .weighs = true, .expansion = c->expansion, .group = c->group, .dropped = 0.2 });
}

bool mobilenet_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct inverted_config *c = w->config;
    (void)err;
    return build_inverted(b, w, mobilenet_stages, &(struct inverted){ .relu6 = true, .expansion = c->expansion, .group = c->group });
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Width and depth in tenths, image and dropout: Tan and Le 2019 and their published code. G16: groups of 16, expansion
 * 4 (Masters et al. 2021). */
#define EFFICIENTNET(name, width, depth, image, dropout) \
    static const struct inverted_config name = { width, depth, image, dropout, 1, 6 }, name##_g16 = { width, depth, image, dropout, 16, 4 }
EFFICIENTNET(b0, 10, 10, 224, 0.2);
EFFICIENTNET(b1, 10, 11, 240, 0.2);
EFFICIENTNET(b2, 11, 12, 260, 0.3);
EFFICIENTNET(b3, 12, 14, 300, 0.3);
EFFICIENTNET(b4, 14, 18, 380, 0.4);
EFFICIENTNET(b5, 16, 22, 456, 0.4);
EFFICIENTNET(b6, 18, 26, 528, 0.5);
EFFICIENTNET(b7, 20, 31, 600, 0.5);
#undef EFFICIENTNET
static const struct inverted_config mobilenet = { 10, 10, 224, 0.2, 1, 6 };

#define EFFICIENTNET(end, how, config) { "efficientnet-b" end, "efficientnet", "EfficientNet-B" how, "image", efficientnet_build, config, 0, NULL, \
                                         TAKES_IMAGES | HAS_NORMS }
#define DEPTHWISE(n) EFFICIENTNET(#n, #n ", depthwise", &b##n)
#define GROUPED(n) EFFICIENTNET(#n "-g16", #n " in groups of 16", &b##n##_g16)
WORKLOADS(inverted)
{
    DEPTHWISE(0), DEPTHWISE(1), DEPTHWISE(2), DEPTHWISE(3), DEPTHWISE(4), DEPTHWISE(5), DEPTHWISE(6), DEPTHWISE(7),
    GROUPED(0), GROUPED(1), GROUPED(2), GROUPED(3), GROUPED(4), GROUPED(5), GROUPED(6), GROUPED(7),
    { "mobilenet-v2", "mobilenet", "MobileNet v2", "image", mobilenet_build, &mobilenet, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { 0 }
};
