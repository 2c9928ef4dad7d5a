/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_plan.h - operations that are no convolution: passes over data where it lies.
 */
#ifndef VECTOR_PLAN_H
#define VECTOR_PLAN_H
#include "system-model/compiler/op_plan.h"

/* Any operation pass but those of convolutions and matmuls. cache: for the matmuls inside an LSTM. */
void vector_op_plan(struct op_plan *out, const struct graph *g, const struct op *op, struct operands at, const struct chip *chip,
                    const struct op_plan_options *opt, struct plan_cache *cache);
#endif
