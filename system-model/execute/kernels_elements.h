/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_elements.h - work element by element: activations, pairs, functions, selection, repetition, dropout, biases. */
#ifndef KERNELS_ELEMENTS_H
#define KERNELS_ELEMENTS_H
#include "system-model/execute/kernels_operands.h"

static const struct op_attributes no_attributes;
static inline double activated(enum op_kind kind, double x) { return op_value_of_one(kind, &no_attributes, x); }
static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static inline void run_function(const struct run *r)
{
    bool forward = r->op->pass == PASS_FORWARD;
    const real *x = in(r, 0);
    real *y = out(r, 0);
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        y[i] = (real)(forward ? activated(r->op->kind, x[i]) : x[i] * op_slope(r->op->kind, in(r, 1)[i]));
}

static inline void run_relu(const struct run *r)
{
    const real *x = in(r, 0), *kept = r->op->pass == PASS_FORWARD ? x : in(r, 1);
    real *y = out(r, 0);
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        y[i] = kept[i] > 0 ? x[i] : 0;
}

/* The element of `small` that meets element i of `big`: dimensions of `small` may be 1, and are repeated. */
static inline uint64_t seen_at(uint64_t i, const struct tensor *big, const struct tensor *small)
{
    uint64_t at = 0, stride = 1;
    if (tensor_is_same_shape(big, small))
        return i;
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
    for (uint64_t i = 0, n = tensor_elements(y); i < n && summed; i++)
        out(r, 0)[seen_at(i, y, tensor_out(r, 0))] += in(r, 0)[i];
    for (uint64_t i = 0, n = n_out(r); i < n && !summed; i++) {
        real a = in(r, 0)[i], b = in(r, 1)[seen_at(i, tensor_in(r, 0), tensor_in(r, 1))];
        out(r, 0)[i] = r->op->kind == OP_ADD ? a + b : a * b;
    }
}

/* Makes the gradients of a and b from [gradient, a, b]. */
static inline void run_mul_backward(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]], *b = &r->g->tensors[f->inputs[1]];
    for (uint32_t k = 0; k < r->op->n_outputs; k++)
        for (uint64_t i = 0, n = tensor_elements(y); i < n; i++)
            if (which_input(r, k) == 0)
                out(r, k)[i] += in(r, 0)[i] * in(r, 2)[seen_at(i, y, b)];
            else
                out(r, k)[seen_at(i, y, b)] += in(r, 0)[i] * in(r, 1)[i];
}

static inline double unary(const struct op_attributes *at, double x) { return op_value_of_one(OP_MAP, at, x); }
static inline double binary(const struct op_attributes *at, double a, double b) { return op_value_of_two(OP_COMBINE, at, a, b); }

/* A backward pass reads [gradient, x] or [gradient, a, b], and differentiates by differences in double. */
static inline void run_map(const struct run *r)
{
    const struct op_attributes *at = r->op->at;
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = (real)unary(at, in(r, 0)[i]);
        else
            out(r, 0)[i] = (real)(in(r, 0)[i] * (unary(at, in(r, 1)[i] + 1e-6) - unary(at, in(r, 1)[i] - 1e-6)) / 2e-6);
}

static inline void run_combine(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]], *tb = &r->g->tensors[f->inputs[1]];
    bool forward = r->op->pass == PASS_FORWARD;
    const double h = 1e-6;
    const real *va = in(r, forward ? 0 : 1), *vb = in(r, forward ? 1 : 2);
    for (uint64_t i = 0, n = tensor_elements(y); i < n; i++) {
        uint64_t k = seen_at(i, y, tb);
        double a = va[i], b = vb[k];
        if (forward)
            out(r, 0)[i] = (real)binary(f->at, a, b);
        for (uint32_t o = 0; o < r->op->n_outputs && !forward; o++)
            if (which_input(r, o) == 0)
                out(r, o)[i] += (real)(in(r, 0)[i] * (binary(f->at, a + h, b) - binary(f->at, a - h, b)) / (2 * h));
            else
                out(r, o)[k] += (real)(in(r, 0)[i] * (binary(f->at, a, b + h) - binary(f->at, a, b - h)) / (2 * h));
    }
}

/* Forward inputs are [x, condition], and a third tensor for the other elements if there is one; backward inputs are
 * [gradient, condition]. */
static inline void run_select(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]];
    const struct tensor *other = f->n_inputs > 2 ? &r->g->tensors[f->inputs[2]] : NULL;
    bool forward = r->op->pass == PASS_FORWARD;
    for (uint64_t i = 0, n = tensor_elements(y); i < n; i++) {
        bool here = (in(r, 1)[seen_at(i, y, &r->g->tensors[f->inputs[1]])] != 0) != f->at->inverted;
        if (forward)
            out(r, 0)[i] = here ? in(r, 0)[i] : other ? in(r, 2)[seen_at(i, y, other)] : (real)f->at->rate;
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
    for (uint64_t i = 0, n = tensor_elements(y); i < n; i++)
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = in(r, 0)[seen_at(i, y, x)];
        else
            out(r, 0)[seen_at(i, y, x)] += in(r, 0)[i];
}

static inline void run_copy(const struct run *r, real factor)
{
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        out(r, 0)[i] = factor * in(r, 0)[i];
}

/* Conversion to integers truncates. */
static inline void run_cast(const struct run *r)
{
    bool whole = r->op->at->to_type == TYPE_INT32 && r->op->pass == PASS_FORWARD;
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        out(r, 0)[i] = whole ? (real)trunc(in(r, 0)[i]) : in(r, 0)[i];
}

/* Every pass of a micro-batch draws the same mask from the run's key, forward, recomputed and backward; noise is the mask of ones. */
static inline void run_dropout(const struct run *r)
{
    bool ones = r->op->kind == OP_NOISE;
    uint64_t seed[3] = { r->dropout_key[0], r->dropout_key[1], 0 };
    for (uint64_t i = 0, n = n_out(r); i < n; i++) {
        seed[2] = i;
        bool kept = (double)(hash_bytes(seed, sizeof seed, 7) >> 11) >= 0x1p53 * r->op->at->rate;
        out(r, 0)[i] = kept ? (real)((ones ? 1 : in(r, 0)[i]) / (1 - r->op->at->rate)) : 0;
    }
}

static inline double drawn_number(const struct run *r, uint64_t i, uint64_t which)
{
    const uint64_t seed[] = { r->dropout_key[0], r->dropout_key[1], i, which };
    return ((double)(hash_bytes(seed, sizeof seed, 11) >> 11) + 0.5) * 0x1p-53;
}

/* Normal numbers by the method of Box and Muller; every pass of a micro-batch draws the same. */
static inline void run_random(const struct run *r)
{
    const struct op_attributes *at = r->op->at;
    for (uint64_t i = 0, n = n_out(r); i < n; i++)
        if (at->draw == DRAW_UNIFORM)
            out(r, 0)[i] = (real)(at->low + (at->high - at->low) * drawn_number(r, i, 0));
        else
            out(r, 0)[i] = (real)(at->low + at->high * sqrt(-2 * log(drawn_number(r, i, 0))) * cos(2 * M_PI * drawn_number(r, i, 1)));
}

/* Never called with an operation: graph_is_executable() refuses codelets. */
static inline void run_codelet(const struct run *r) { (void)r; }

/* Adds up the columns of a matrix, each in double, from the first row on. */
static inline void sum_columns(real *sums, const real *x, uint64_t rows, uint64_t columns)
{
    struct arena a = { 0 };
    double *sum = ARENA_ARRAY(&a, double, columns);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < columns; k++)
            sum[k] += x[i * columns + k];
    for (uint64_t k = 0; k < columns; k++)
        sums[k] = (real)sum[k];
    arena_free(&a);
}

static inline void run_bias(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0)), rows = tensor_elements(tensor_in(r, 0)) / n;
    if (r->op->pass != PASS_FORWARD) {
        sum_columns(out(r, 0), in(r, 0), rows, n);
        return;
    }
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < n; k++)
            out(r, 0)[i * n + k] = in(r, 0)[i * n + k] + in(r, 1)[k];
}

static inline void run_mul(const struct run *r)
{
    if (r->op->pass == PASS_FORWARD)
        run_pair(r);
    else
        run_mul_backward(r);
}

static inline void run_view(const struct run *r) { run_copy(r, 1); }
static inline void run_scale(const struct run *r) { run_copy(r, (real)r->op->at->rate); }
static inline void run_prepare(const struct run *r) { run_copy(r, (real)(1.0 / 255)); }

/* Forward [x, cosines, sines]; backward [gradient, cosines, sines], which turns the other way. */
static inline void run_rotary(const struct run *r)
{
    const struct op_attributes *at = r->op->at;
    const struct tensor *x = tensor_in(r, 0), *table = tensor_in(r, 1);
    bool flat = x->n_dims == 3;
    uint64_t batch = x->dims[0], heads = flat ? at->groups : x->dims[1], time = table->dims[1], half = table->dims[2], width = last_dim(x) / at->groups;
    real way = r->op->pass == PASS_FORWARD ? 1 : -1;
    memcpy(out(r, 0), in(r, 0), n_out(r) * sizeof(real));
    for (uint64_t i = 0; i < batch * heads * time * half; i++) {
        uint64_t k = i % half, t = i / half % time, h = i / half / time % heads, b = i / half / time / heads;
        uint64_t first = (flat ? (b * time + t) * heads + h : (b * heads + h) * time + t) * width, angle = ((table->dims[0] == 1 ? 0 : b) * time + t) * half + k;
        uint64_t one = first + (at->neighbours ? 2 * k : k), other = one + (at->neighbours ? 1 : half);
        real c = in(r, 1)[angle], s = way * in(r, 2)[angle], p = in(r, 0)[one], q = in(r, 0)[other];
        out(r, 0)[one] = p * c - q * s;
        out(r, 0)[other] = p * s + q * c;
    }
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_ELEMENTS \
    [OP_ADD] = run_pair, [OP_MUL] = run_mul, [OP_SCALE] = run_scale, [OP_BIAS_ADD] = run_bias, [OP_RELU] = run_relu, \
    [OP_GELU] = run_function, [OP_TANH] = run_function, [OP_SIGMOID] = run_function, [OP_SWISH] = run_function, [OP_MAP] = run_map, \
    [OP_COMBINE] = run_combine, [OP_SELECT] = run_select, [OP_EXPAND] = run_expand, [OP_VIEW] = run_view, [OP_CAST] = run_cast, \
    [OP_INPUT_PREPARE] = run_prepare, [OP_DROPOUT] = run_dropout, [OP_NOISE] = run_dropout, [OP_ROTARY] = run_rotary, \
    [OP_RANDOM] = run_random, [OP_CODELET] = run_codelet,

#endif
