/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * three_groups.h - a run, and three published runs about it, by hand.
 */
#ifndef THREE_GROUPS_H
#define THREE_GROUPS_H
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/trust.h"

#include <math.h>
#include <string.h>

static struct arena a;

/* In the table's order: family, mode, workload, chip, framework, compute, input, ipus, width, micro-batch, global batch,
 * sequence; then the shares of compute, exchange, sync, links, waiting, memory, host. */
static struct properties one = { .name = { "bert", "train", "bert-large", "bow", "PopART", "fp16", "in turn" }, .count = { [7] = 16, 4, 3, 1536, 512 },
                                 .share = { [12] = 0.52, 0.21, 0.04, 0.03, 0.15, 0.01, 0.04 } };

static inline struct properties with(size_t at, const char *value)
{
    struct properties p = one;
    if (properties[at].kind == PROPERTY_COUNT)
        assert_true(parse_u64(value, &p.count[at]));
    else if (properties[at].kind == PROPERTY_SHARE)
        assert_true(parse_f64(value, &p.share[at]));
    else
        p.name[at] = value;
    properties_prepare(&p);
    return p;
}

/* Three groups, one run each, a framework apart (distance 1), errors 0.02, 0.04 and 0.09. Mean 0.05, farthest 1.
 * Sizes, group left out: e^-1 x mean of the other two + (1 - e^-1) x 0.05, times 1 + 1/1:
 *   first 0.110455 (others 0.065), second 0.103722 (0.055), third 0.085327 (0.03)
 * ratios 0.18107, 0.38565, 1.05476; ceil(0.9 x 4) = 4 of 3: the largest. */
static struct reference three[3];
static const struct references three_groups = { .items = three, .n = 3 };

static inline void make_three(void)
{
    static const char *const frameworks[] = { "PopART", "PyTorch", "TensorFlow" };
    static const double errors[] = { 0.02, -0.04, 0.09 };
    static const enum role roles[] = { FIGURE_VALIDATE, FIGURE_CALIBRATE, FIGURE_VALIDATE };
    for (size_t i = 0; i < 3; i++)
        three[i] = (struct reference){ .configuration = frameworks[i], .recipe = frameworks[i], .group = frameworks[i],
                                       .role = roles[i], .published = 70 + (double)i, .simulated = 90 + (double)i, .at = with(4, frameworks[i]), .left_out = errors[i] };
}
#endif
