/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compile_internal.h - what compile.c and layer_costs.c share.
 */
#ifndef COMPILE_INTERNAL_H
#define COMPILE_INTERNAL_H
#include "system-model/compiler/compile.h"

/* Makes out->layers from its op_plans. */
void compile_layers(struct compiled *out, struct compiler *c);

#endif
