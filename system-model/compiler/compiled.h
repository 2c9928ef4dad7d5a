/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiled.h - the layers and programs that compiler.c makes of operations. Private to the compiler.
 */
#ifndef COMPILED_H
#define COMPILED_H
#include "system-model/compiler/compiler.h"

void compile_layers(struct compiled *out, struct compiler *c);      /* layer_costs.c: makes out->layers from its op_plans */

/* The program of some operations: started, operations added in its order, then summed up. */
struct program_op { const struct op *op; const struct op_plan *plan; bool is_product, repeated; };
struct tile_program {
    const struct graph *graph;
    struct program_bytes bytes;
    struct program_op *ops; size_t n_ops, cap_ops;
    uint32_t *callers;                  /* by code: 0 if it is not there yet; else one more than the layout of its first caller's input */
    uint32_t *laid_by;                  /* by tensor: one more than the code of the product that laid it out; 0 if none */
    bool *is_image;                     /* by tensor: a convolution of images laid it out */
    struct code_options options;
    bool *has_codelet, is_called;
    uint32_t layer_id; enum op_pass pass;       /* 0 before the first call */
    struct arena *arena;
};
/* n_codes: op_plan.code_id is less. */
void program_start(struct tile_program *out, const struct graph *g, size_t n_codes, struct code_options options, struct arena *a);
void program_add_op(struct tile_program *out, const struct op *op, const struct op_plan *p);
struct program_bytes program_sum(struct tile_program *out);

#endif
