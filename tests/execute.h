/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute.h - runs a graph in double precision, by the kernels of system-model/execute: the test that a graph holds all that its execution needs.
 *
 * Each operation reads nothing but its own inputs, shapes and attributes; a backward pass thus shows that the tensors it is given are enough.
 * Gradients are those of the sum of all losses.
 */
#ifndef TESTS_EXECUTE_H
#define TESTS_EXECUTE_H
#define EXECUTE_REAL double
#define product_add product_add_in_double
#include "system-model/execute/kernels.h"

void product_add_in_double(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns,
                           const struct product_way *way)
{
    (void)way;
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < inner; k++) {
            double x = a.turned ? a.x[k * a.stride + i] : a.x[i * a.stride + k];
            for (uint64_t j = 0; j < columns; j++)
                c.x[i * c.stride + j] += x * (b.turned ? b.x[j * b.stride + k] : b.x[k * b.stride + j]);
        }
}

/* values[i] is tensor i: inputs, weights and state given; the rest is overwritten. Returns the sum of the losses. */
static inline double graph_execute(const struct graph *g, double **values)
{
    double loss = 0;
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        double *const *peers[] = { values };
        struct run r = { .g = g, .v = values, .op = op, .dropout_key = { op->forward_op == NO_ID ? i : op->forward_op }, .peers = peers,
                         .n_peers = 1, .loss_factor = 1 };
        run_kernel(&r);
        if ((op->kind == OP_CROSS_ENTROPY || op->kind == OP_TRANSDUCER_LOSS) && op->pass == PASS_FORWARD)
            loss += values[op->outputs[0]][0];
    }
    return loss;
}
#endif
