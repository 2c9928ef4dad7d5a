/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute.h - computes what a graph describes: numbers for its tensors, operation by operation.
 *
 * Every element is held as fp32, whatever its tensor's type; whole numbers are exact up to 2^24. The caller owns all elements. Results depend
 * neither on the number of threads nor on anything but the arguments; between processors they may differ in the last bits, as OpenBLAS
 * multiplies by the processor it finds.
 */
#ifndef EXECUTE_H
#define EXECUTE_H
#include "system-model/graph/graph.h"

/* Elements of a tensor in row-major order; x NULL: the tensor is not there. */
struct tensor_value { float *x; uint64_t n_elements; };

/* The values that an operation's result depends on besides its operands. */
struct op_context {
    uint64_t dropout_key;               /* of step, replica and micro-batch: all passes of a dropout with one key draw one mask */
    /* Values of the replicas that a batch norm spans, in their order, the operation's own included; 0: it is alone. Their inputs of the
     * operation must be there. */
    const struct tensor_value *const *peers; uint32_t n_peers;
    bool mean_losses;                   /* a loss is the mean of its rows (transducer: samples) and not their sum; rows with a label below 0 don't count */
    double loss_factor;                 /* of all gradients: loss scaling; 0: 1 */
    uint32_t n_threads;                 /* 0: 1 */
};

/* Computes one operation: values[i] is tensor i; those of its outputs are overwritten. Fails, naming operation, layer and tensor, if an input or
 * output is not there or has not the tensor's size, if an index is beyond its table or a label beyond its classes, and on what is not
 * executed: the backward pass of an LSTM that hands on its cell state. */
bool op_execute(const struct graph *g, uint32_t op_id, const struct tensor_value *values, const struct op_context *c, struct err *err);
/* False with the reason for a graph that cannot be executed: a layer that is described by one of its slices (layer.repeats). */
bool graph_is_executable(const struct graph *g, struct err *err);
bool op_is_loss(const struct op *op);   /* the forward pass of a loss: its output is one number */
const char *execute_library(void);      /* the library of products: "OpenBLAS", or "plain loops" where it is not installed */

#endif
