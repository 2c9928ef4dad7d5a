/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inception.c - Inception v3: Szegedy et al. 2015 (arXiv 1512.00567), as torchvision and TF-slim build it, without the
 * auxiliary head.
 *
 * A branch is a text: "64:1 96:3 96:3" are convolutions of 64 channels with kernel 1, and so on; 1x7 is flat, 7x1
 * tall; /2 is a stride of 2 without padding; "avg" and "max" are pools. The branches of a module are joined by
 * channel.
 */
#include "workloads/models/builders.h"

enum { INCEPTION_IMAGE_SIZE = 299, MOST_BRANCHES = 6 };

static uint32_t conv(struct builder *b, uint32_t x, const char *item)
{
    char *at;
    struct conv_spec c = { .channels = strtoull(item, &at, 10), .stride = 1 };
    c.kernel = (uint32_t)strtoul(at + 1, &at, 10);
    c.width = *at == 'x' ? (uint32_t)strtoul(at + 1, &at, 10) : c.kernel;
    c.stride = *at == '/' ? 2 : 1;
    c.unpadded = *at == '/' || *at == 'v';
    return build_op1(b, OP_RELU, build_conv_norm(b, x, c));
}

static uint32_t branch(struct builder *b, uint32_t x, const char *text)
{
    for (char *rest = arena_strdup(b->g->arena, text), *item; (item = strsep(&rest, " ")); )
        x = text_is(item, "avg") ? build_pool(b, OP_AVERAGE_POOL, x, 3, 1, 1)
          : text_is(item, "max") ? build_pool(b, OP_MAX_POOL, x, 3, 2, 0) : conv(b, x, item);
    return x;
}

/* "+" after a branch: its result is the input of each of the next two, which are joined. */
static uint32_t module(struct builder *b, uint32_t x, const char *const *branches)
{
    uint32_t parts[MOST_BRANCHES + 2], n = 0;
    for (; *branches; branches++) {
        bool forks = (*branches)[strlen(*branches) - 1] == '+';
        if (!forks) {
            parts[n++] = branch(b, x, *branches);
            continue;
        }
        uint32_t y = branch(b, x, arena_printf(b->g->arena, "%.*s", (int)strlen(*branches) - 2, *branches));
        parts[n++] = branch(b, y, *++branches);
        parts[n++] = branch(b, y, *++branches);
    }
    return n == 1 ? parts[0] : graph_op(b->g, OP_CONCAT, parts, n, (struct op_attributes){ .axis = 3 });
}

static const struct { const char *name, *branches[MOST_BRANCHES + 3]; } modules[] = {
    { "mixed5b", { "64:1", "48:1 64:5", "64:1 96:3 96:3", "avg 32:1" } },
    { "mixed5c", { "64:1", "48:1 64:5", "64:1 96:3 96:3", "avg 64:1" } },
    { "mixed5d", { "64:1", "48:1 64:5", "64:1 96:3 96:3", "avg 64:1" } },
    { "mixed6a", { "384:3/", "64:1 96:3 96:3/", "max" } },
    { "mixed6b", { "192:1", "128:1 128:1x7 192:7x1", "128:1 128:7x1 128:1x7 128:7x1 192:1x7", "avg 192:1" } },
    { "mixed6c", { "192:1", "160:1 160:1x7 192:7x1", "160:1 160:7x1 160:1x7 160:7x1 192:1x7", "avg 192:1" } },
    { "mixed6d", { "192:1", "160:1 160:1x7 192:7x1", "160:1 160:7x1 160:1x7 160:7x1 192:1x7", "avg 192:1" } },
    { "mixed6e", { "192:1", "192:1 192:1x7 192:7x1", "192:1 192:7x1 192:1x7 192:7x1 192:1x7", "avg 192:1" } },
    { "mixed7a", { "192:1 320:3/", "192:1 192:1x7 192:7x1 192:3/", "max" } },
    { "mixed7b", { "320:1", "384:1 +", "384:1x3", "384:3x1", "448:1 384:3 +", "384:1x3", "384:3x1", "avg 192:1" } },
    { "mixed7c", { "320:1", "384:1 +", "384:1x3", "384:3x1", "448:1 384:3 +", "384:1x3", "384:3x1", "avg 192:1" } },
};

static bool inception_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)w, (void)err;
    static const char *const stem[] = { "32:3/ 32:3v 64:3 max", NULL }, *const second[] = { "80:1 192:3v max", NULL };
    build_layer(b, LAYER_FIRST, 0, 0, 1, "stem");
    uint32_t x = module(b, build_images(b, INCEPTION_IMAGE_SIZE, 3), stem);
    build_layer(b, LAYER_BODY, 0, 0, 1, "conv4");
    x = module(b, x, second);
    for (uint32_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        build_layer(b, LAYER_BODY, i + 1, 0, 1, modules[i].name);
        x = module(b, x, modules[i].branches);
    }
    build_layer(b, LAYER_LAST, 0, 0, 1, "head");
    build_image_head(b, x, N_IMAGE_CLASSES, 0.5);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

WORKLOADS(inception)
{
    { "inception-v3", "inception", "Inception v3", "image", inception_build, NULL, 0, NULL, TAKES_IMAGES | HAS_NORMS },
    { 0 }
};
