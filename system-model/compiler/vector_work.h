/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_work.h - work that is not in the graph: on weights and gradients, and the stash of a pipeline.
 */
#ifndef VECTOR_WORK_H
#define VECTOR_WORK_H
#include "system-model/compiler/op_plan.h"
#include "system-model/compiler/optimizers.h"

/* The elements are spread evenly over the options' tiles. type is that of weight and gradient. moment_bytes is the
 * mean size of an optimizer's moments of a parameter; other work ignores it. */
void vector_work_plan(struct op_plan *out, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                      const struct chip *chip, const struct op_plan_options *opt);

/* Copies of n_bytes that are even over the tiles and stay on them: one compute set, or none for no bytes. */
void copy_plan(struct op_plan *out, uint64_t n_bytes, const struct chip *chip, const struct op_plan_options *opt);

uint64_t vector_work_codelet_bytes(enum vector_work work);  /* vertex code */

/* The tensors of halves that a micro-batch leaves for its backward pass, kept as they are or cast to fp8. */
struct stash { uint64_t n_bytes, n_tensors; bool fp8; };
void stash_plan(struct op_plan *write, struct op_plan *read, const struct stash *s, const struct chip *chip, const struct op_plan_options *opt);

#endif
