/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_fixture.h - a convolution planned, and random ones, for the tests of plans by hand and of the search.
 */
#ifndef CONV_FIXTURE_H
#define CONV_FIXTURE_H
#include "tests/chip_fixture.h"
#include "system-model/compiler/conv_internal.h"

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

enum { N_RANDOM = 300 };

#endif
