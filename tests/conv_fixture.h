/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_fixture.h - a convolution planned, and random ones, for the tests of plans by hand and of the search.
 */
#ifndef CONV_FIXTURE_H
#define CONV_FIXTURE_H
#include "tests/chip_fixture.h"
#include "system-model/compiler/conv.h"

static const struct op_plan_options options = { .partials = PARTIALS_FP16, .available_memory = 0.6 };

static inline struct op_plan planned(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct op_plan p;
    conv_plan_search(&p, NULL, s, chip, opt);
    return p;
}

static inline uint32_t draw32(uint64_t *seed, uint64_t low, uint64_t high) { return (uint32_t)draw(seed, low, high); }

static inline struct conv_shape random_shape(uint64_t *seed)
{
    enum data_type type = draw(seed, 0, 3) ? TYPE_FP16 : TYPE_FP32;
    enum op_pass pass = (enum op_pass)draw(seed, 0, 2);
    uint32_t groups = draw(seed, 0, 4) ? 1 : draw32(seed, 2, 9);
    if (draw(seed, 0, 1))
        return matmul_conv_shape(groups, draw32(seed, 1, 300), draw32(seed, 1, 400), draw32(seed, 1, 400), type, pass);
    uint32_t kernel = 1 + 2 * draw32(seed, 0, 2), stride = draw32(seed, 1, 2), out = draw32(seed, 1, 23);
    struct conv_params p = { .groups = groups, .batch = draw32(seed, 1, 5), .in_h = out * stride, .in_w = out * stride,
                             .out_h = out, .out_w = out, .kernel_h = kernel, .kernel_w = kernel,
                             .in_chans = 4 * draw32(seed, 1, 30), .out_chans = draw32(seed, 1, 120), .stride = stride,
                             .pad_h = (kernel - 1) / 2, .pad_w = (kernel - 1) / 2, .type = type };
    return conv_shape_of_pass(&p, pass);
}

/* The same over an input that goes on beyond all that a kernel reaches. */
static inline struct conv_shape without_padding(struct conv_shape s)
{
    s.before_h = s.before_w = 0;
    s.met_h = s.met_w = 10000;
    return s;
}

/* The vertices one by one, with their sizes in the order of the loops. */
static inline uint64_t amp_1x1_cycles(const struct chip *chip, const struct amp *a, uint64_t groups, uint64_t in, uint64_t out, uint64_t positions)
{
    const struct conv_work w = { VERTEX_AMP_1X1, groups, in, out, 1, positions, .kernel_h = 1, .kernel_w = 1, .filter_height = 1 };
    return conv_vertex_cycles(&vertex_table, chip, a, &w);
}

static inline uint64_t amp_nx1_cycles(const struct chip *chip, const struct amp *a, struct conv_work w)
{
    w.vertex = VERTEX_AMP_NX1;
    return conv_vertex_cycles(&vertex_table, chip, a, &w);
}

static inline uint64_t slic_cycles(const struct chip *chip, struct conv_work w, uint64_t partial_bytes)
{
    const struct amp a = { .partial_bytes = partial_bytes };
    w.vertex = VERTEX_SLIC;
    return conv_vertex_cycles(&vertex_table, chip, &a, &w);
}

static inline uint64_t hmac_cycles(const struct chip *chip, uint64_t element_bytes, struct conv_work w)
{
    const struct amp a = { .element_bytes = element_bytes };
    w.vertex = VERTEX_HMAC;
    return conv_vertex_cycles(&vertex_table, chip, &a, &w);
}

static inline uint64_t outer_product_cycles(const struct chip *chip, uint64_t groups, uint64_t positions, uint64_t out_chans)
{
    const struct amp a = { .element_bytes = 2 };
    const struct conv_work w = { VERTEX_OUTER_PRODUCT, groups, 1, out_chans, 1, positions, 1, 1, 1, .in_chans = 0 };
    return conv_vertex_cycles(&vertex_table, chip, &a, &w);
}

enum { N_RANDOM = 300 };

#endif
