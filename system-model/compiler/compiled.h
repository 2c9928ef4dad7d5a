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
    uint32_t *callers;                  /* for each code: 1 + the layout that the input of its first caller had; 0 before the first call */
    uint32_t *laid_by;                  /* for each tensor: 1 + the code of the product that laid it out; 0 if none did */
    bool *is_image;                     /* for each tensor: true if a convolution of images laid it out */
    struct code_options options;
    bool *has_codelet, is_called;
    uint32_t layer_id; enum op_pass pass;       /* layer and pass of the last shared call; 0 before the first */
    struct arena *arena;
};
/* Starts a program. Every op_plan.code_id is below n_codes. */
void program_start(struct tile_program *out, const struct graph *g, size_t n_codes, struct code_options options, struct arena *a);
void program_add_op(struct tile_program *out, const struct op *op, const struct op_plan *p);
struct program_bytes program_sum(struct tile_program *out);

#endif
