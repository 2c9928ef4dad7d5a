/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_kinds.h - the rows of op_kinds.c, for graph.c and graph_backward.c: shapes, arithmetic, gradients.
 */
#ifndef OP_KINDS_H
#define OP_KINDS_H
#include "system-model/graph/graph.h"

/* The tensors that a backward pass reads besides the gradient of the output. */
enum { KEEP_INPUT = 1, KEEP_SECOND = 2, KEEP_WEIGHTS = 4, KEEP_OUTPUT = 8, KEEP_THIRD = 16 };

struct gradient_rule {
    bool pass_through;                  /* the gradient of input 0 (of all inputs, for additions) is that of the output */
    bool no_gradient;
    bool first_alone;                   /* inputs after the first are taken as constants, even if they are computed */
    bool through_time;                  /* its data pass makes the gates' gradient, which its weight pass reads */
    uint8_t data_keeps, weight_keeps;
};

/* A count of operations is for each element of the output, of the first input, or of the kernel's window. */
enum per { PER_OUTPUT, PER_INPUT, PER_WINDOW, PER_PAIR };  /* PER_PAIR: each element of a row of the first with each row of the second */

struct op_rule {
    void (*shape)(const struct graph *g, struct op *op, struct tensor *out);
    uint64_t (*mac)(const struct graph *g, const struct op *op);
    enum per per;
    uint32_t flop[N_OP_PASSES];         /* operations besides multiply-accumulates */
    struct gradient_rule gradient;
    void (*defaults)(struct op_attributes *at, const struct tensor *x);     /* sets absent attributes from the first input; NULL if no attribute has a default */
};
extern const struct op_rule op_rules[N_OP_KINDS];

/* in graph.c; equal attributes are kept only once */
const struct op_attributes *graph_keep_attributes(struct graph *g, const struct op_attributes *at);

#endif
