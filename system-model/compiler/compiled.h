/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiled.h - the layers and programs that compiler.c makes of operations. Private to the compiler.
 */
#ifndef COMPILED_H
#define COMPILED_H
#include "system-model/compiler/compiler.h"

void compile_layers(struct compiled *out, struct compiler *c);      /* layer_costs.c: makes out->layers from its op_plans */

/* A program made of operations: it is started, operations are added in the order in which they run, and the bytes are summed at the end. */
struct program_op { const struct op *op; const struct op_plan *plan; bool is_product, repeated; };
struct tile_program {
    const struct graph *graph;
    struct program_bytes bytes;
    struct program_op *ops; size_t n_ops, cap_ops;
    uint32_t *callers;                  /* by code: 1 + the layout of the input of its first caller; 0 if nothing has called it */
    uint32_t *laid_by;                  /* by tensor: 1 + the code of the product that laid it out; 0 if none */
    bool *is_image;                     /* by tensor: a convolution of images laid it out */
    struct code_options options;
    bool *has_codelet, is_called;
    uint32_t layer_id; enum op_pass pass;       /* layer and pass of the last shared call; 0 before the first */
    struct arena *arena;
};
/* Starts a program. n_codes is above every op_plan.code_id. */
void program_start(struct tile_program *out, const struct graph *g, size_t n_codes, struct code_options options, struct arena *a);
void program_add_op(struct tile_program *out, const struct op *op, const struct op_plan *p);
struct program_bytes program_sum(struct tile_program *out);

#endif
