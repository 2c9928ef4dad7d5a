/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elements.h - work element by element: activations, pairs, functions, selection, repetition, dropout, biases. */
#ifndef EXECUTE_ELEMENTS_H
#define EXECUTE_ELEMENTS_H
#include "tests/execute/operands.h"

static const struct op_attributes no_attributes;
static inline double activation(enum op_kind kind, double x) { return op_value_of_one(kind, &no_attributes, x); }
static inline double sigmoid(double x) { return activation(OP_SIGMOID, x); }

/* Computed from the tensor that is kept: the output of relu, tanh and sigmoid, the input of gelu and swish. */
static inline double slope(enum op_kind kind, double kept)
{
    switch (kind) {
    case OP_RELU: return kept > 0;
    case OP_TANH: return 1 - kept * kept;
    case OP_SIGMOID: return kept * (1 - kept);
    case OP_GELU: return (activation(kind, kept + 1e-6) - activation(kind, kept - 1e-6)) / 2e-6;
    case OP_SWISH: return sigmoid(kept) * (1 + kept * (1 - sigmoid(kept)));
    default: assert(false); return 0;
    }
}

static inline void run_function(const struct run *r)
{
    bool forward = r->op->pass == PASS_FORWARD;
    for (uint64_t i = 0; i < n_out(r); i++)
        out(r, 0)[i] = forward ? activation(r->op->kind, in(r, 0)[i]) : in(r, 0)[i] * slope(r->op->kind, in(r, 1)[i]);
}

/* Element i of a tensor as seen by one whose dimensions may be 1 there. */
static inline uint64_t seen_at(uint64_t i, const struct tensor *big, const struct tensor *small)
{
    uint64_t at = 0, stride = 1;
    for (uint32_t d = big->n_dims; d-- > 0; ) {
        at += (small->dims[d] == 1 ? 0 : i % big->dims[d]) * stride;
        stride *= small->dims[d];
        i /= big->dims[d];
    }
    return at;
}

/* Additions and products of two tensors; an addition's backward pass sums over what was repeated. */
static inline void run_pair(const struct run *r)
{
    const struct tensor *y = &r->g->tensors[op_forward(r->g, r->op)->outputs[0]];
    bool summed = r->op->pass != PASS_FORWARD && r->op->forward_op != NO_ID;
    for (uint64_t i = 0; i < tensor_elements(y) && summed; i++)
        out(r, 0)[seen_at(i, y, tensor_out(r, 0))] += in(r, 0)[i];
    if (summed)
        return;
    for (uint64_t i = 0; i < n_out(r); i++) {
        double b = in(r, 1)[seen_at(i, tensor_in(r, 0), tensor_in(r, 1))];
        out(r, 0)[i] = op_value_of_two(r->op->kind, r->op->at, in(r, 0)[i], b);
    }
}

/* [gradient, a, b] to those of a and b. */
static inline void run_mul_backward(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]], *b = &r->g->tensors[f->inputs[1]];
    for (uint32_t k = 0; k < r->op->n_outputs; k++)
        for (uint64_t i = 0; i < tensor_elements(y); i++)
            if (which_input(r, k) == 0)
                out(r, k)[i] += in(r, 0)[i] * in(r, 2)[seen_at(i, y, b)];
            else
                out(r, k)[seen_at(i, y, b)] += in(r, 0)[i] * in(r, 1)[i];
}

static inline double unary(const struct op_attributes *at, double x) { return op_value_of_one(OP_MAP, at, x); }
static inline double binary(const struct op_attributes *at, double a, double b) { return op_value_of_two(OP_COMBINE, at, a, b); }

/* Backward passes differentiate by differences: [gradient, x] and [gradient, a, b]. */
static inline void run_map(const struct run *r)
{
    const struct op_attributes *at = r->op->at;
    for (uint64_t i = 0; i < n_out(r); i++)
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = unary(at, in(r, 0)[i]);
        else
            out(r, 0)[i] = in(r, 0)[i] * (unary(at, in(r, 1)[i] + 1e-6) - unary(at, in(r, 1)[i] - 1e-6)) / 2e-6;
}

static inline void run_combine(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]], *tb = &r->g->tensors[f->inputs[1]];
    bool forward = r->op->pass == PASS_FORWARD;
    const double h = 1e-6, *a = in(r, forward ? 0 : 1), *b = in(r, forward ? 1 : 2);
    for (uint64_t i = 0; i < tensor_elements(y); i++) {
        uint64_t k = seen_at(i, y, tb);
        if (forward)
            out(r, 0)[i] = binary(f->at, a[i], b[k]);
        for (uint32_t o = 0; o < r->op->n_outputs && !forward; o++)
            if (which_input(r, o) == 0)
                out(r, o)[i] += in(r, 0)[i] * (binary(f->at, a[i] + h, b[k]) - binary(f->at, a[i] - h, b[k])) / (2 * h);
            else
                out(r, o)[k] += in(r, 0)[i] * (binary(f->at, a[i], b[k] + h) - binary(f->at, a[i], b[k] - h)) / (2 * h);
    }
}

/* Forward inputs are [x, condition], and a third tensor for the other elements if there is one; backward inputs are
 * [gradient, condition]. */
static inline void run_select(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]];
    bool forward = r->op->pass == PASS_FORWARD;
    for (uint64_t i = 0; i < tensor_elements(y); i++) {
        bool here = (in(r, 1)[seen_at(i, y, &r->g->tensors[f->inputs[1]])] != 0) != f->at->inverted;
        const struct tensor *other = f->n_inputs > 2 ? &r->g->tensors[f->inputs[2]] : NULL;
        if (forward)
            out(r, 0)[i] = here ? in(r, 0)[i] : other ? in(r, 2)[seen_at(i, y, other)] : f->at->rate;
        for (uint32_t o = 0; o < r->op->n_outputs && !forward; o++)
            if (here && which_input(r, o) == 0)
                out(r, o)[i] += in(r, 0)[i];
            else if (!here && which_input(r, o) == 2)
                out(r, o)[seen_at(i, y, other)] += in(r, 0)[i];
    }
}

static inline void run_expand(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]], *y = &r->g->tensors[f->outputs[0]];
    for (uint64_t i = 0; i < tensor_elements(y); i++)
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = in(r, 0)[seen_at(i, y, x)];
        else
            out(r, 0)[seen_at(i, y, x)] += in(r, 0)[i];
}

static inline void run_copy(const struct run *r, double factor)
{
    for (uint64_t i = 0; i < n_out(r); i++)
        out(r, 0)[i] = factor * in(r, 0)[i];
}

/* Conversion to integers truncates. */
static inline void run_cast(const struct run *r)
{
    for (uint64_t i = 0; i < n_out(r); i++)
        out(r, 0)[i] = r->op->at->to_type == TYPE_INT32 && r->op->pass == PASS_FORWARD ? trunc(in(r, 0)[i]) : in(r, 0)[i];
}

/* The mask is drawn from the forward operation's number, so that both passes have the same. */
static inline void run_dropout(const struct run *r)
{
    uint64_t seed[2] = { r->op->forward_op == NO_ID ? r->op_id : r->op->forward_op, 0 };
    for (uint64_t i = 0; i < n_out(r); i++) {
        seed[1] = i;
        bool kept = (double)(hash_bytes(seed, sizeof seed, 7) % 1000) >= 1000 * r->op->at->rate;
        out(r, 0)[i] = kept ? in(r, 0)[i] / (1 - r->op->at->rate) : 0;
    }
}

static inline void run_bias(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0)), all = tensor_elements(tensor_in(r, 0));
    for (uint64_t i = 0; i < all; i++)
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = in(r, 0)[i] + in(r, 1)[i % n];
        else
            out(r, 0)[i % n] += in(r, 0)[i];
}

static inline void run_mul(const struct run *r)
{
    if (r->op->pass == PASS_FORWARD)
        run_pair(r);
    else
        run_mul_backward(r);
}

static inline void run_view(const struct run *r) { run_copy(r, 1); }
static inline void run_scale(const struct run *r) { run_copy(r, r->op->at->rate); }
static inline void run_prepare(const struct run *r) { run_copy(r, 1.0 / 255); }

/* Rows of the table in execute.h. */
#define EXECUTE_ELEMENTS \
    [OP_ADD] = run_pair, [OP_MUL] = run_mul, [OP_SCALE] = run_scale, [OP_BIAS_ADD] = run_bias, [OP_RELU] = run_function, \
    [OP_GELU] = run_function, [OP_TANH] = run_function, [OP_SIGMOID] = run_function, [OP_SWISH] = run_function, [OP_MAP] = run_map, \
    [OP_COMBINE] = run_combine, [OP_SELECT] = run_select, [OP_EXPAND] = run_expand, [OP_VIEW] = run_view, [OP_CAST] = run_cast, \
    [OP_INPUT_PREPARE] = run_prepare, [OP_DROPOUT] = run_dropout,

#endif
