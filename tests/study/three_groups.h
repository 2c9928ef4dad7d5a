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

/* Family, mode, workload, chip, framework, compute, input; then IPUs, width, micro-batch, global batch, sequence; then
 * the shares of compute, exchange, sync, links, waiting, memory, host. */
static struct properties one = { .name = { "bert", "train", "bert-large", "bow", "PopART", "fp16", "in turn" },
                                 .number = { [BY_IPUS] = 16, 4, 3, 1536, 512, 0.52, 0.21, 0.04, 0.03, 0.15, 0.01, 0.04 } };

static inline struct properties with(size_t at, const char *value)
{
    struct properties p = one;
    if (at < BY_IPUS)
        p.name[at] = value;
    else
        assert_true(parse_f64(value, &p.number[at]));
    return p;
}

/* Three groups, one run each, a framework apart (distance 1), errors 0.02, 0.04 and 0.09, mean 0.05. With its group left
 * out, each has the weights e^-1 of the other two, and 1 of the mean. */
static struct reference three[3];
static const struct references three_groups = { .items = three, .n = 3 };

static inline void make_three(void)
{
    static const char *const frameworks[] = { "PopART", "PyTorch", "TensorFlow" };
    static const double errors[] = { 0.02, -0.04, 0.09 };
    static const enum role roles[] = { FIGURE_VALIDATE, FIGURE_CALIBRATE, FIGURE_VALIDATE };
    for (size_t i = 0; i < 3; i++)
        three[i] = (struct reference){ .configuration = frameworks[i], .recipe = frameworks[i], .group = frameworks[i], .origin = frameworks[i], .first_sight = NAN,
                                       .role = roles[i], .published = 70 + (double)i, .simulated = 90 + (double)i, .at = with(BY_FRAMEWORK, frameworks[i]), .left_out = errors[i] };
}
#endif
