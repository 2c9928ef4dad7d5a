/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute.h - runs a graph in double precision: the test that a graph holds all that its execution needs.
 *
 * Each operation reads nothing but its own inputs, shapes and attributes; a backward pass thus shows that the tensors
 * it is given are enough. Slow and plain on purpose. Gradients are those of the sum of all losses.
 */
#ifndef EXECUTE_H
#define EXECUTE_H
#include "tests/execute/elements.h"
#include "tests/execute/losses.h"
#include "tests/execute/moves.h"
#include "tests/execute/norms.h"
#include "tests/execute/products.h"
#include "tests/execute/recurrence.h"

static void (*const run_of_kind[])(const struct run *r) = {
    EXECUTE_ELEMENTS EXECUTE_PRODUCTS EXECUTE_NORMS EXECUTE_MOVES EXECUTE_RECURRENCE EXECUTE_LOSSES
};
_Static_assert(sizeof run_of_kind / sizeof *run_of_kind == N_OP_KINDS, "one row a kind");

/* values[i] is tensor i: inputs, weights and state given; the rest is overwritten. Returns the sum of the losses. */
static inline double graph_execute(const struct graph *g, double **values)
{
    double loss = 0;
    for (size_t i = 0; i < g->n_ops; i++) {
        struct run r = { g, values, &g->ops[i], i };
        for (uint32_t k = 0; k < r.op->n_outputs; k++)
            memset(out(&r, k), 0, tensor_elements(tensor_out(&r, k)) * sizeof(double));
        assert(run_of_kind[r.op->kind]);
        run_of_kind[r.op->kind](&r);
        if ((r.op->kind == OP_CROSS_ENTROPY || r.op->kind == OP_TRANSDUCER_LOSS) && r.op->pass == PASS_FORWARD)
            loss += out(&r, 0)[0];
    }
    return loss;
}
#endif
