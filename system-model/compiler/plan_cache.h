/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_cache.h - a convolution's plan, searched once for each shape, chip and set of options;
 * or, with the splits of another chip, priced once.
 */
#ifndef PLAN_CACHE_H
#define PLAN_CACHE_H
#include "system-model/compiler/conv_plan.h"

void cached_conv_plan(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt, struct plan_cache *cache);

#endif
