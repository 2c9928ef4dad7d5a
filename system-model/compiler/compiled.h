/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiled.h - the layers and programs that compiler.c makes of operations. Private to the compiler.
 */
#ifndef COMPILED_H
#define COMPILED_H
#include "system-model/compiler/compiler.h"

void compile_layers(struct compiled *out, struct compiler *c);      /* layer_costs.c: makes out->layers from its op_plans */

/* The program of some operations, added one by one. n_codes: op_plan.code_id is less. */
struct tile_program { struct program_bytes bytes; bool outlining, *has_code, *has_codelet, is_called; uint32_t layer_id; enum op_pass pass; };
void program_start(struct tile_program *out, size_t n_codes, bool outlining, struct arena *a);
void program_add_op(struct tile_program *out, const struct graph *g, const struct op *op, const struct op_plan *p);

#endif
