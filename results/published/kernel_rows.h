/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_rows.h - measured kernels as rows of the published tables, and what the planner makes of them.
 *
 * The recipe cell of such a row holds the case itself:
 *     kernel:matmul;machine=bow;m=4096;k=4096;n=2048;type=fp16;partials=fp16       weights m x k, n columns
 *     kernel:conv;machine=gc2;batch=16;filter=3;input=56;in_chans=64;out_chans=64;stride=1;groups=1;type=fp16;partials=fp32
 * The case becomes a graph of one operation and is planned like any other.
 */
#ifndef KERNEL_ROWS_H
#define KERNEL_ROWS_H
#include "system-model/compiler/op_plan.h"

bool is_kernel_recipe(const char *recipe_text);

/* metric: "tflop_per_s" (multiplications with padding are none), "time_s", "cycles" or "peak_share". The plan's cycles are those of the
 * one operation, sync included, operands on chip. */
bool kernel_row_predict(double *value, const char *recipe_text, const char *metric, const char *specs_dir,
                        struct plan_cache *cache, struct arena *a, struct err *err);
/* On a chip given: the plan and its rate. */
bool kernel_row_plan(struct op_plan *out, double *tflop_per_s, const char *recipe_text, const struct chip *chip, struct plan_cache *cache,
                     struct arena *a, struct err *err);

#endif
