/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute.h - runs a graph in double precision: the test that a graph holds all that its execution needs.
 *
 * Each operation reads nothing but its own inputs, shapes and attributes; a backward pass thus shows that the tensors
 * it is given are enough. Slow and plain on purpose. Gradients are those of the sum of all losses.
 */
#ifndef EXECUTE_H
#define EXECUTE_H
#include "system-model/graph/graph.h"
#include <assert.h>
#include <math.h>
#include <string.h>

struct run { const struct graph *g; double **v; const struct op *op; size_t op_id; };

static inline const struct tensor *tensor_in(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->inputs[i]]; }
static inline const struct tensor *tensor_out(const struct run *r, uint32_t i) { return &r->g->tensors[r->op->outputs[i]]; }
static inline double *in(const struct run *r, uint32_t i) { return r->v[r->op->inputs[i]]; }
static inline double *out(const struct run *r, uint32_t i) { return r->v[r->op->outputs[i]]; }
static inline uint64_t last_dim(const struct tensor *t) { return t->dims[t->n_dims - 1]; }
static inline uint64_t n_out(const struct run *r) { return tensor_elements(tensor_out(r, 0)); }

/* The forward input that output i of a backward pass is the gradient of. */
static inline uint32_t which_input(const struct run *r, uint32_t i)
{
    const struct op *f = op_forward(r->g, r->op);
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (f->inputs[k] == tensor_out(r, i)->of_tensor)
            return k;
    assert(false);
    return 0;
}

/* ---- element by element -------------------------------------------------------------------- */

static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

static inline double activation(enum op_kind kind, double x)
{
    switch (kind) {
    case OP_RELU: return x > 0 ? x : 0;
    case OP_GELU: return gelu(x);
    case OP_TANH: return tanh(x);
    case OP_SIGMOID: return sigmoid(x);
    case OP_SWISH: return x * sigmoid(x);
    default: assert(false); return 0;
    }
}

/* By the tensor that is kept: the output of relu, tanh and sigmoid, the input of gelu and swish. */
static inline double slope(enum op_kind kind, double kept)
{
    switch (kind) {
    case OP_RELU: return kept > 0;
    case OP_TANH: return 1 - kept * kept;
    case OP_SIGMOID: return kept * (1 - kept);
    case OP_GELU: return (gelu(kept + 1e-6) - gelu(kept - 1e-6)) / 2e-6;
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
        double a = in(r, 0)[i], b = in(r, 1)[seen_at(i, tensor_in(r, 0), tensor_in(r, 1))];
        out(r, 0)[i] = r->op->kind == OP_ADD ? a + b : a * b;
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

/* ---- functions of elements, selection, repetition ------------------------------------------------- */

static inline double unary(const struct op_attributes *at, double x)
{
    switch (at->function) {
    case FUNCTION_EXP: return exp(x);
    case FUNCTION_LOG: return log(x);
    case FUNCTION_SQRT: return sqrt(x);
    case FUNCTION_ABS: return fabs(x);
    case FUNCTION_NEGATE: return -x;
    case FUNCTION_RECIPROCAL: return 1 / x;
    case FUNCTION_SQUARE: return x * x;
    case FUNCTION_ERF: return erf(x);
    case FUNCTION_LEAKY_RELU: return x > 0 ? x : at->low * x;
    case FUNCTION_ELU: return x > 0 ? x : at->low * (exp(x) - 1);
    case FUNCTION_HARD_SIGMOID: return fmax(0, fmin(1, at->low * x + at->high));
    case FUNCTION_HARD_SWISH: return x * fmax(0, fmin(1, x / 6 + 0.5));
    case FUNCTION_SOFTPLUS: return log(1 + exp(x));
    case FUNCTION_CLIP: return fmax(at->low, fmin(at->high, x));
    case FUNCTION_ADD: return x + at->low;
    case FUNCTION_SIN: return sin(x);
    case FUNCTION_COS: return cos(x);
    case FUNCTION_FLOOR: return floor(x);
    case FUNCTION_CEIL: return ceil(x);
    case FUNCTION_ROUND: return nearbyint(x);
    case FUNCTION_SIGN: return (x > 0) - (x < 0);
    case FUNCTION_IS_NAN: return isnan(x);
    case FUNCTION_IS_INF: return isinf(x) != 0;
    default: assert(false); return 0;
    }
}

static inline double binary(const struct op_attributes *at, double a, double b)
{
    double x = at->inverted ? b : a, y = at->inverted ? a : b;
    switch (at->function) {
    case FUNCTION_SUBTRACT: return x - y;
    case FUNCTION_DIVIDE: return x / y;
    case FUNCTION_POWER: return pow(x, y);
    case FUNCTION_MAXIMUM: return fmax(x, y);
    case FUNCTION_MINIMUM: return fmin(x, y);
    case FUNCTION_EQUAL: return x == y;
    case FUNCTION_GREATER: return x > y;
    case FUNCTION_LESS: return x < y;
    case FUNCTION_AND: return x != 0 && y != 0;
    case FUNCTION_OR: return x != 0 || y != 0;
    default: assert(false); return 0;
    }
}

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

/* Forward [x, condition] or with what stands elsewhere; backward [gradient, condition]. */
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

/* Whole numbers lose what stands behind the point. */
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

/* ---- products ----------------------------------------------------------------------------------- */

/* The product of two row-major matrices, c += a b, which the caller may bring; where it is not set all loops are plain. */
typedef void (*gemm)(double *c, const double *a, const double *b, uint64_t rows, uint64_t inner, uint64_t columns);
static gemm fast_gemm __attribute__((unused));

/* c += a x b for each group, with the operand named by the pass as what is written. */
static inline void run_matmul(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    struct matmul_shape s = op_matmul_shape(r->g, f);
    bool forward = r->op->pass == PASS_FORWARD, data = r->op->pass == PASS_BACKWARD_DATA;
    double *a = forward ? in(r, 0) : data ? out(r, 0) : in(r, 1);
    double *b = forward || data ? in(r, 1) : out(r, 0), *c = forward ? out(r, 0) : in(r, 0);
    for (uint64_t g = 0; g < s.groups && fast_gemm && forward && !f->at->transpose_b; g++)
        fast_gemm(c + g * s.rows * s.columns, a + g * s.rows * s.inner, b + g * s.inner * s.columns, s.rows, s.inner, s.columns);
    if (fast_gemm && forward && !f->at->transpose_b)
        return;
    for (uint64_t g = 0; g < s.groups; g++)
        for (uint64_t i = 0; i < s.rows; i++)
            for (uint64_t j = 0; j < s.columns; j++)
                for (uint64_t k = 0; k < s.inner; k++) {
                    double *pa = &a[(g * s.rows + i) * s.inner + k], *pc = &c[(g * s.rows + i) * s.columns + j];
                    double *pb = &b[g * s.inner * s.columns + (f->at->transpose_b ? j * s.inner + k : k * s.columns + j)];
                    if (forward)
                        *pc += *pa * *pb;
                    else if (data)
                        *pa += *pc * *pb;
                    else
                        *pb += *pa * *pc;
                }
}

/* Window positions of convolutions and pools: y[b, i, j] sees x[b, i stride + p dilation - pad, j stride + q dilation - pad]. */
static inline bool window_at(uint64_t *at, const struct tensor *x, const struct op_attributes *w, uint64_t b, uint64_t i,
                             uint64_t j, uint64_t p, uint64_t q)
{
    uint64_t step = w->dilation ? w->dilation : 1, stride_w = w->stride_w ? w->stride_w : w->stride;
    int64_t h = (int64_t)(i * w->stride + p * step) - (w->kernel_h > 1 ? (int64_t)w->pad : 0) - (int64_t)w->zeros[0];
    int64_t v = (int64_t)(j * stride_w + q * step) - (w->kernel_w > 1 ? (int64_t)w->pad : 0) - (int64_t)w->zeros[1];
    if (h < 0 || v < 0 || h >= (int64_t)x->dims[1] || v >= (int64_t)x->dims[2])
        return false;
    *at = ((b * x->dims[1] + (uint64_t)h) * x->dims[2] + (uint64_t)v) * x->dims[3];
    return true;
}

/* A forward convolution without groups as one product of its windows with the kernel. */
static inline void conv_by_gemm(const struct run *r)
{
    struct arena a = { 0 };
    const struct tensor *x = tensor_in(r, 0), *w = tensor_in(r, 1), *y = tensor_out(r, 0);
    uint64_t inner = w->dims[0] * w->dims[1] * w->dims[2], rows = y->dims[1] * y->dims[2], at;
    double *windows = ARENA_ARRAY(&a, double, rows * inner);
    for (uint64_t b = 0; b < y->dims[0]; b++) {
        memset(windows, 0, rows * inner * sizeof *windows);
        for (uint64_t row = 0; row < rows; row++)
            for (uint64_t k = 0; k < w->dims[0] * w->dims[1]; k++)
                if (window_at(&at, x, r->op->at, b, row / y->dims[2], row % y->dims[2], k / w->dims[1], k % w->dims[1]))
                    memcpy(windows + row * inner + k * w->dims[2], in(r, 0) + at, w->dims[2] * sizeof *windows);
        fast_gemm(out(r, 0) + b * rows * w->dims[3], windows, in(r, 1), rows, inner, w->dims[3]);
    }
    arena_free(&a);
}

/* A transposed convolution is the data pass of the convolution from its result to its input. */
static inline void run_conv(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    if (fast_gemm && r->op->pass == PASS_FORWARD && f->kind == OP_CONV && f->at->groups == 1) {
        conv_by_gemm(r);
        return;
    }
    bool turned = f->kind == OP_CONV_TRANSPOSE;
    const struct tensor *w = &r->g->tensors[f->inputs[1]];
    const struct tensor *x = &r->g->tensors[turned ? f->outputs[0] : f->inputs[0]];
    const struct tensor *y = &r->g->tensors[turned ? f->inputs[0] : f->outputs[0]];
    bool forward = r->op->pass == (turned ? PASS_BACKWARD_DATA : PASS_FORWARD);
    bool data = r->op->pass == (turned ? PASS_FORWARD : PASS_BACKWARD_DATA), weight = !forward && !data;
    double *vin = r->op->pass == PASS_FORWARD ? in(r, 0) : r->op->pass == PASS_BACKWARD_DATA ? out(r, 0) : in(r, 1);
    double *vout = r->op->pass == PASS_FORWARD ? out(r, 0) : in(r, 0), *vw = weight ? out(r, 0) : in(r, 1);
    double *vx = turned ? vout : vin, *vy = turned ? vin : vout;
    uint64_t n = tensor_elements(y), per_group = w->dims[3] / f->at->groups, at;
    for (uint64_t e = 0; e < n; e++) {
        uint64_t o = e % y->dims[3], j = e / y->dims[3] % y->dims[2], i = e / y->dims[3] / y->dims[2] % y->dims[1];
        uint64_t b = e / y->dims[3] / y->dims[2] / y->dims[1];
        for (uint64_t k = 0; k < w->dims[0] * w->dims[1] * w->dims[2]; k++) {
            uint64_t c = k % w->dims[2], q = k / w->dims[2] % w->dims[1], p = k / w->dims[2] / w->dims[1];
            if (!window_at(&at, x, f->at, b, i, j, p, q))
                continue;
            double *px = &vx[at + o / per_group * w->dims[2] + c], *pw = &vw[k * w->dims[3] + o];
            if (forward)
                vy[e] += *px * *pw;
            else if (data)
                *px += vy[e] * *pw;
            else
                *pw += vy[e] * *px;
        }
    }
}

/* Maximum: forward [x], backward [gradient, x, y]. Average: backward [gradient]; what is padding counts in the mean if asked to. */
static inline void run_pool(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]], *y = &r->g->tensors[f->outputs[0]];
    bool forward = r->op->pass == PASS_FORWARD, most = f->kind == OP_MAX_POOL;
    uint64_t window = (uint64_t)f->at->kernel_h * f->at->kernel_w;
    for (uint64_t e = 0; e < tensor_elements(y); e++) {
        uint64_t c = e % y->dims[3], j = e / y->dims[3] % y->dims[2], i = e / y->dims[3] / y->dims[2] % y->dims[1];
        uint64_t b = e / y->dims[3] / y->dims[2] / y->dims[1], at, n = 0;
        double best = -INFINITY, sum = 0;
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t k = 0; k < window; k++) {
                if (!window_at(&at, x, f->at, b, i, j, k / f->at->kernel_w, k % f->at->kernel_w))
                    continue;
                if (pass == 0) {
                    n++;
                    if (forward) {
                        best = fmax(best, in(r, 0)[at + c]);
                        sum += in(r, 0)[at + c];
                    }
                } else if (!forward && (!most || in(r, 1)[at + c] == in(r, 2)[e])) {
                    out(r, 0)[at + c] += most ? in(r, 0)[e] : in(r, 0)[e] / (double)(f->at->counts_padding ? window : n);
                }
            }
        if (forward)
            out(r, 0)[e] = most ? best : sum / (double)(f->at->counts_padding ? window : n);
    }
}

/* Where row i of n_out falls among n_in: between two rows, with the second one's share. Pixel centres at halves (half_pixel). */
struct between { uint64_t first, second; double share; };
static inline struct between resized_at(uint64_t i, uint64_t n_in, uint64_t n_out, bool linear)
{
    double at = ((double)i + 0.5) * (double)n_in / (double)n_out - (linear ? 0.5 : 0);
    at = fmax(0, fmin(at, (double)n_in - 1));
    uint64_t first = (uint64_t)at;
    return (struct between){ first, linear && first + 1 < n_in ? first + 1 : first, linear ? at - (double)first : 0 };
}

static inline void run_resize(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]], *y = &r->g->tensors[f->outputs[0]];
    for (uint64_t e = 0; e < tensor_elements(y); e++) {
        uint64_t c = e % y->dims[3], b = e / y->dims[3] / y->dims[2] / y->dims[1];
        struct between h = resized_at(e / y->dims[3] / y->dims[2] % y->dims[1], x->dims[1], y->dims[1], f->at->linear);
        struct between v = resized_at(e / y->dims[3] % y->dims[2], x->dims[2], y->dims[2], f->at->linear);
        for (int k = 0; k < 4; k++) {
            double share = (k & 1 ? h.share : 1 - h.share) * (k & 2 ? v.share : 1 - v.share);
            uint64_t row = k & 1 ? h.second : h.first, column = k & 2 ? v.second : v.first;
            uint64_t at = ((b * x->dims[1] + row) * x->dims[2] + column) * x->dims[3] + c;
            if (r->op->pass == PASS_FORWARD)
                out(r, 0)[e] += share * in(r, 0)[at];
            else
                out(r, 0)[at] += share * in(r, 0)[e];
        }
    }
}

/* y = x / (bias + alpha / size * sum of squares of the size neighbours)^beta; backward [gradient, x]. */
static inline void run_local_norm(const struct run *r)
{
    const struct op_attributes *at = op_forward(r->g, r->op)->at;
    bool forward = r->op->pass == PASS_FORWARD;
    const double *x = in(r, forward ? 0 : 1), factor = at->rate / at->kernel_w;
    uint64_t n = last_dim(tensor_out(r, 0)), before = (at->kernel_w - 1) / 2, after = at->kernel_w - 1 - before;
    for (uint64_t i = 0; i < n_out(r); i++) {
        uint64_t c = i % n, first = c < before ? 0 : c - before, last = c + after < n ? c + after : n - 1;
        double sum = at->high;
        for (uint64_t k = first; k <= last; k++)
            sum += factor * x[i - c + k] * x[i - c + k];
        if (forward) {
            out(r, 0)[i] = x[i] * pow(sum, -at->low);
            continue;
        }
        out(r, 0)[i] += in(r, 0)[i] * pow(sum, -at->low);
        for (uint64_t k = first; k <= last; k++)
            out(r, 0)[i - c + k] -= in(r, 0)[i] * x[i] * at->low * pow(sum, -at->low - 1) * 2 * factor * x[i - c + k];
    }
}

static inline void run_arg_max(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0));
    for (uint64_t i = 0; i < n_out(r); i++)
        for (uint64_t k = 1; k < n; k++)
            if (in(r, 0)[i * n + k] > in(r, 0)[i * n + (uint64_t)out(r, 0)[i]])
                out(r, 0)[i] = (double)k;
}

/* Of equal ones the first comes first. */
static inline void run_top_k(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0)), wanted = r->op->at->length;
    for (uint64_t i = 0; i < n_out(r); i++) {
        const double *x = in(r, 0) + i / wanted * n, *taken = out(r, 0) + i / wanted * wanted;
        uint64_t best = n;
        for (uint64_t k = 0; k < n; k++) {
            bool free = true;
            for (uint64_t t = 0; t < i % wanted; t++)
                free &= taken[t] != (double)k;
            best = free && (best == n || x[k] > x[best]) ? k : best;
        }
        out(r, 0)[i] = (double)best;
    }
}

/* ---- normalisation, softmax ------------------------------------------------------------------------ */

/* Which set of values element i is normalised with: its channel, its row, or its sample and group of channels. */
static inline uint64_t norm_set(const struct op *f, const struct tensor *x, uint64_t i)
{
    uint64_t n = last_dim(x), groups = f->at->norm_groups;
    switch (f->kind) {
    case OP_BATCH_NORM: return i % n;
    case OP_LAYER_NORM: return i / n;
    default: return i / (tensor_elements(x) / x->dims[0]) * groups + i % n / (n / groups);
    }
}

/* Normalised values and, by set, size and 1 / deviation; all in memory of its own. */
struct normalised { double *x, *inverse, *size; uint64_t *set, n, n_sets; };
static inline struct normalised normalise(const struct op *f, const struct tensor *t, const double *x, struct arena *a)
{
    struct normalised s = { .n = tensor_elements(t) };
    s.x = ARENA_ARRAY(a, double, s.n);
    s.set = ARENA_ARRAY(a, uint64_t, s.n);
    double *mean = ARENA_ARRAY(a, double, s.n);
    s.inverse = ARENA_ARRAY(a, double, s.n);
    s.size = ARENA_ARRAY(a, double, s.n);
    for (uint64_t i = 0; i < s.n; i++) {
        s.set[i] = norm_set(f, t, i);
        s.size[s.set[i]] += 1;
        mean[s.set[i]] += x[i];
    }
    for (uint64_t i = 0; i < s.n; i++) {
        s.x[i] = x[i] - mean[s.set[i]] / s.size[s.set[i]];
        s.inverse[s.set[i]] += s.x[i] * s.x[i];
    }
    for (uint64_t i = 0; i < s.n; i++)
        s.n_sets = s.set[i] + 1 > s.n_sets ? s.set[i] + 1 : s.n_sets;
    for (uint64_t k = 0; k < s.n_sets; k++)
        s.inverse[k] = 1 / sqrt(s.inverse[k] / s.size[k] + (f->at->epsilon > 0 ? f->at->epsilon : 1e-5));
    for (uint64_t i = 0; i < s.n; i++)
        s.x[i] *= s.inverse[s.set[i]];
    return s;
}

/* Forward [x, gamma, beta]; data [gradient, x, gamma]; weight [gradient, x] to those of gamma and beta. */
static inline void run_norm(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *t = &r->g->tensors[f->inputs[0]];
    uint64_t n = last_dim(t);
    struct normalised s = normalise(f, t, in(r, r->op->pass == PASS_FORWARD ? 0 : 1), &a);
    double *sum = ARENA_ARRAY(&a, double, s.n_sets), *along = ARENA_ARRAY(&a, double, s.n_sets);
    for (uint64_t i = 0; i < s.n; i++) {
        if (r->op->pass == PASS_FORWARD) {
            out(r, 0)[i] = s.x[i] * in(r, 1)[i % n] + in(r, 2)[i % n];
        } else if (r->op->pass == PASS_BACKWARD_WEIGHT) {
            out(r, 0)[i % n] += in(r, 0)[i] * s.x[i];
            out(r, 1)[i % n] += in(r, 0)[i];
        } else {
            sum[s.set[i]] += in(r, 0)[i] * in(r, 2)[i % n] / s.size[s.set[i]];
            along[s.set[i]] += in(r, 0)[i] * in(r, 2)[i % n] * s.x[i] / s.size[s.set[i]];
        }
    }
    for (uint64_t i = 0; i < s.n && r->op->pass == PASS_BACKWARD_DATA; i++) {
        uint64_t k = s.set[i];
        out(r, 0)[i] = s.inverse[k] * (in(r, 0)[i] * in(r, 2)[i % n] - sum[k] - s.x[i] * along[k]);
    }
    arena_free(&a);
}

static inline void softmax_row(double *y, const double *x, uint64_t n)
{
    double most = -INFINITY, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        most = fmax(most, x[i]);
    for (uint64_t i = 0; i < n; i++)
        sum += y[i] = exp(x[i] - most);
    for (uint64_t i = 0; i < n; i++)
        y[i] /= sum;
}

static inline void run_softmax(const struct run *r)
{
    uint64_t n = last_dim(tensor_out(r, 0));
    for (uint64_t row = 0; row < n_out(r); row += n) {
        if (r->op->pass == PASS_FORWARD) {
            softmax_row(out(r, 0) + row, in(r, 0) + row, n);
            continue;
        }
        double along = 0;
        for (uint64_t i = row; i < row + n; i++)
            along += in(r, 0)[i] * in(r, 1)[i];
        for (uint64_t i = row; i < row + n; i++)
            out(r, 0)[i] = in(r, 1)[i] * (in(r, 0)[i] - along);
    }
}

/* ---- moving elements ----------------------------------------------------------------------------------- */

/* Forward [table, indices]; backward [gradient, indices]. */
static inline void run_gather(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *table = &r->g->tensors[f->inputs[0]], *at = &r->g->tensors[f->inputs[1]];
    uint64_t width = last_dim(table), n = tensor_elements(at);
    for (uint64_t i = 0; i < n; i++) {
        double index = in(r, 1)[i];     /* negative ones count from the end */
        uint64_t row = (uint64_t)(index < 0 ? index + (double)table->dims[table->n_dims - 2] : index);
        if (table->n_dims == 3)
            row += i / at->dims[1] * table->dims[1];
        for (uint64_t k = 0; k < width; k++)
            if (r->op->pass == PASS_FORWARD)
                out(r, 0)[i * width + k] = in(r, 0)[row * width + k];
            else
                out(r, 0)[row * width + k] += in(r, 0)[i * width + k];
    }
}

/* Of the result's gradient: rows of zeros where the table's were replaced; those rows for the updates. */
static inline void run_scatter_back(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *table = &r->g->tensors[f->inputs[0]], *at = &r->g->tensors[f->inputs[1]];
    uint64_t width = last_dim(table), rows = table->dims[table->n_dims - 2], n = last_dim(at);
    for (uint32_t o = 0; o < r->op->n_outputs; o++) {
        bool updates = r->g->tensors[r->op->outputs[o]].of_tensor == f->inputs[2];
        if (!updates)
            memcpy(out(r, o), in(r, 0), tensor_elements(table) * sizeof(double));
        for (uint64_t i = 0; i < tensor_elements(at) * width; i++) {
            double index = in(r, 1)[i / width];
            uint64_t row = i / width / n * rows + (uint64_t)(index < 0 ? index + (double)rows : index);
            if (updates)
                out(r, o)[i] = in(r, 0)[row * width + i % width];
            else if (f->at->scatter == SCATTER_REPLACE)
                out(r, o)[row * width + i % width] = 0;
        }
    }
}

/* [table, indices, updates]; an index below zero counts from the end. */
static inline void run_scatter(const struct run *r)
{
    if (r->op->pass != PASS_FORWARD) {
        run_scatter_back(r);
        return;
    }
    const struct tensor *table = tensor_in(r, 0), *at = tensor_in(r, 1);
    uint64_t width = last_dim(table), rows = table->dims[table->n_dims - 2], n = last_dim(at);
    memcpy(out(r, 0), in(r, 0), tensor_elements(table) * sizeof(double));
    for (uint64_t i = 0; i < tensor_elements(at); i++) {
        double index = in(r, 1)[i];
        uint64_t row = i / n * rows + (uint64_t)(index < 0 ? index + (double)rows : index);
        assert(index >= -(double)rows && index < (double)rows);
        for (uint64_t k = 0; k < width; k++) {
            double *to = &out(r, 0)[row * width + k], x = in(r, 2)[i * width + k];
            *to = r->op->at->scatter == SCATTER_ADD ? *to + x : r->op->at->scatter == SCATTER_MAXIMUM ? fmax(*to, x) : x;
        }
    }
}

static inline void run_transpose(const struct run *r)
{
    const struct op_attributes *t = r->op->at;
    uint32_t n = 0;
    uint64_t stride[MAX_VIEW_DIMS], all = n_out(r);
    while (n < MAX_VIEW_DIMS && t->view[n])
        n++;
    stride[n - 1] = 1;
    for (uint32_t d = n - 1; d-- > 0; )
        stride[d] = stride[d + 1] * t->view[d + 1];
    for (uint64_t i = 0; i < all; i++) {
        uint64_t rest = i, from = 0;
        for (uint32_t d = n; d-- > 0; ) {
            from += rest % t->view[t->order[d]] * stride[t->order[d]];
            rest /= t->view[t->order[d]];
        }
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = in(r, 0)[from];
        else
            out(r, 0)[from] = in(r, 0)[i];
    }
}

/* Copies the part of `whole` that starts at begin along axis to or from `part`. */
static inline void copy_range(double *whole, const struct tensor *w, double *part, const struct tensor *p, uint32_t axis,
                              uint64_t begin, bool to_part)
{
    uint64_t inner = 1, n = tensor_elements(p);
    for (uint32_t d = axis + 1; d < w->n_dims; d++)
        inner *= w->dims[d];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t outer = i / (inner * p->dims[axis]), rest = i % (inner * p->dims[axis]);
        uint64_t at = (outer * w->dims[axis] + begin) * inner + rest;
        if (to_part)
            part[i] = whole[at];
        else
            whole[at] = part[i];
    }
}

static inline void run_concat(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    bool forward = r->op->pass == PASS_FORWARD;
    const struct tensor *whole = &r->g->tensors[f->outputs[0]];
    uint64_t begin = 0;
    for (uint32_t k = 0; k < f->n_inputs; k++) {
        const struct tensor *part = &r->g->tensors[f->inputs[k]];
        if (forward)
            copy_range(out(r, 0), whole, in(r, k), part, f->at->axis, begin, false);
        for (uint32_t o = 0; o < r->op->n_outputs && !forward; o++)
            if (which_input(r, o) == k)
                copy_range(in(r, 0), whole, out(r, o), part, f->at->axis, begin, true);
        begin += part->dims[f->at->axis];
    }
}

static inline void run_slice(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    bool forward = r->op->pass == PASS_FORWARD;
    const struct tensor *whole = &r->g->tensors[f->inputs[0]];
    for (uint32_t k = 0; k < f->n_outputs; k++) {
        const struct tensor *part = &r->g->tensors[f->outputs[k]];
        uint64_t begin = f->at->pieces ? k * part->dims[f->at->axis] : f->at->begin;
        copy_range(forward ? in(r, 0) : out(r, 0), whole, forward ? out(r, k) : in(r, k), part, f->at->axis, begin, forward);
    }
}

/* Which of n elements stands at a place of a padded row, counted from the first of them; n: the number. */
static inline uint64_t pad_source(enum pad_border border, int64_t at, int64_t n)
{
    int64_t period = n > 1 ? 2 * (n - 1) : 1, turned = (at % period + period) % period;
    if (at >= 0 && at < n)
        return (uint64_t)at;
    switch (border) {
    case BORDER_MIRRORED: return (uint64_t)(turned < n ? turned : period - turned);
    case BORDER_OUTERMOST: return at < 0 ? 0 : (uint64_t)n - 1;
    case BORDER_OTHER_END: return (uint64_t)((at % n + n) % n);
    default: return (uint64_t)n;
    }
}

static inline void run_pad(const struct run *r)
{
    bool forward = r->op->pass == PASS_FORWARD;
    const struct tensor *small = forward ? tensor_in(r, 0) : tensor_out(r, 0), *large = forward ? tensor_out(r, 0) : tensor_in(r, 0);
    uint32_t axis = r->op->at->axis;
    uint64_t inner = 1, n = small->dims[axis], length = large->dims[axis];
    for (uint32_t d = axis + 1; d < large->n_dims; d++)
        inner *= large->dims[d];
    for (uint64_t i = 0; i < tensor_elements(large); i++) {
        uint64_t k = pad_source(r->op->at->border, (int64_t)(i / inner % length) - (int64_t)r->op->at->begin, (int64_t)n);
        uint64_t from = (i / inner / length * n + k) * inner + i % inner;
        if (forward)
            out(r, 0)[i] = k < n ? in(r, 0)[from] : r->op->at->rate;
        else if (k < n)
            out(r, 0)[from] += in(r, 0)[i];
    }
}

static inline void run_outer_add(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *y = &r->g->tensors[f->outputs[0]];
    uint64_t t = y->dims[1], u = y->dims[2], h = y->dims[3];
    for (uint64_t i = 0; i < tensor_elements(y); i++) {
        uint64_t b = i / (t * u * h), row = i / (u * h) % t, column = i / h % u, k = i % h;
        uint64_t first = (b * t + row) * h + k, second = (b * u + column) * h + k;
        if (r->op->pass == PASS_FORWARD) {
            out(r, 0)[i] = in(r, 0)[first] + in(r, 1)[second];
            continue;
        }
        for (uint32_t o = 0; o < r->op->n_outputs; o++)
            out(r, o)[which_input(r, o) == 0 ? first : second] += in(r, 0)[i];
    }
}

/* ---- recurrence -------------------------------------------------------------------------------------------- */

/* Where step s of t stands, samples one behind the other. */
static inline uint64_t row_of(const struct op *f, uint64_t s, uint64_t t)
{
    return f->at->from_last ? s - s % t + t - 1 - s % t : s;
}

/* Gates (input, forget, candidate, output), cells and states of one sample: g [t, 4h], c [t + 1, h], y [t, h]. */
static inline void lstm_steps(const struct op *f, double *g, double *c, double *y, const double *x, const double *w, const double *rw,
                              const double *bias, uint64_t t, uint64_t n, uint64_t h)
{
    for (uint64_t s = 0; s < t; s++) {
        for (uint64_t k = 0; k < 4 * h; k++) {
            double sum = bias[k] + bias[4 * h + k];
            for (uint64_t i = 0; i < n; i++)
                sum += x[row_of(f, s, t) * n + i] * w[i * 4 * h + k];
            for (uint64_t i = 0; s > 0 && i < h; i++)
                sum += y[row_of(f, s - 1, t) * h + i] * rw[i * 4 * h + k];
            g[s * 4 * h + k] = k / h == 2 ? tanh(sum) : sigmoid(sum);
        }
        for (uint64_t k = 0; k < h; k++) {
            const double *q = &g[s * 4 * h];
            c[(s + 1) * h + k] = q[h + k] * c[s * h + k] + q[k] * q[2 * h + k];
            y[row_of(f, s, t) * h + k] = q[3 * h + k] * tanh(c[(s + 1) * h + k]);
        }
    }
}

/* dg, the gradient before each gate's function, from dy and what the steps left. */
static inline void lstm_back(const struct op *f, double *dg, const double *dy, const double *g, const double *c, const double *rw, uint64_t t,
                             uint64_t h, struct arena *a)
{
    double *dc = ARENA_ARRAY(a, double, h);
    for (uint64_t s = t; s-- > 0; )
        for (uint64_t k = 0; k < h; k++) {
            const double *q = &g[s * 4 * h];
            double *d = &dg[s * 4 * h], dh = dy[row_of(f, s, t) * h + k], tc = tanh(c[(s + 1) * h + k]);
            for (uint64_t i = 0; s + 1 < t && i < 4 * h; i++)
                dh += dg[(s + 1) * 4 * h + i] * rw[k * 4 * h + i];
            dc[k] += dh * q[3 * h + k] * (1 - tc * tc);
            d[k] = dc[k] * q[2 * h + k] * q[k] * (1 - q[k]);
            d[h + k] = dc[k] * c[s * h + k] * q[h + k] * (1 - q[h + k]);
            d[2 * h + k] = dc[k] * q[k] * (1 - q[2 * h + k] * q[2 * h + k]);
            d[3 * h + k] = dh * tc * q[3 * h + k] * (1 - q[3 * h + k]);
            dc[k] *= q[h + k];
        }
}

/* Weight pass [gates' gradient, x, y] to those of the input weights, the recurrent ones and the biases. */
static inline void lstm_weights(const struct run *r, uint64_t b, uint64_t t, uint64_t n, uint64_t h)
{
    const struct op *f = op_forward(r->g, r->op);
    for (uint64_t s = 0; s < b * t; s++)
        for (uint64_t k = 0; k < 4 * h; k++) {
            double d = in(r, 0)[s * 4 * h + k];
            for (uint64_t i = 0; i < n; i++)
                out(r, 0)[i * 4 * h + k] += in(r, 1)[row_of(f, s, t) * n + i] * d;
            for (uint64_t i = 0; s % t > 0 && i < h; i++)
                out(r, 1)[i * 4 * h + k] += in(r, 2)[row_of(f, s - 1, t) * h + i] * d;
            out(r, 2)[k] += d;
            out(r, 2)[4 * h + k] += d;
        }
}

/* Forward [x, w, r, bias]; data [gradient, x, w, r, bias, y] to that of x, if wanted, and of the gates. */
static inline void run_lstm(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]];
    uint64_t b = x->dims[0], t = x->dims[1], n = x->dims[2], h = f->at->hidden;
    bool forward = r->op->pass == PASS_FORWARD;
    double *g = ARENA_ARRAY(&a, double, t * 4 * h), *c = ARENA_ARRAY(&a, double, (t + 1) * h);
    double *y = ARENA_ARRAY(&a, double, t * h);
    for (uint64_t s = 0; s < b && r->op->pass != PASS_BACKWARD_WEIGHT; s++) {
        uint32_t first = forward ? 0 : 1;
        double *to = forward ? out(r, 0) + s * (t + f->at->with_cell) * h : y;
        lstm_steps(f, g, c, to, in(r, first) + s * t * n, in(r, first + 1), in(r, first + 2),
                   in(r, first + 3), t, n, h);
        if (forward && f->at->with_cell)
            memcpy(to + t * h, c + t * h, h * sizeof *to);
        if (forward)
            continue;
        double *dg = out(r, r->op->n_outputs - 1) + s * t * 4 * h;
        lstm_back(f, dg, in(r, 0) + s * t * h, g, c, in(r, 3), t, h, &a);
        for (uint64_t i = 0; i < t * n && r->op->n_outputs == 2; i++)
            for (uint64_t k = 0; k < 4 * h; k++)
                out(r, 0)[s * t * n + row_of(f, i / n, t) * n + i % n] += dg[i / n * 4 * h + k] * in(r, 2)[i % n * 4 * h + k];
    }
    if (r->op->pass == PASS_BACKWARD_WEIGHT)
        lstm_weights(r, b, t, n, h);
    arena_free(&a);
}

/* Of one step the gates (update, reset, candidate) and the candidate's share of the state; x and h may stand anywhere, h NULL: zeros. */
static inline void gru_step(double *g, double *share, const double *x, const double *h, const double *w, const double *rw, const double *bias,
                            uint64_t n, uint64_t hidden, bool before)
{
    for (uint64_t gate = 0; gate < 3; gate++)
        for (uint64_t j = 0; j < hidden; j++) {
            uint64_t k = gate * hidden + j;
            double from_x = bias[k], from_h = bias[3 * hidden + k];
            for (uint64_t i = 0; i < n; i++)
                from_x += x[i] * w[i * 3 * hidden + k];
            for (uint64_t i = 0; i < hidden && h; i++)
                from_h += (gate == 2 && before ? g[hidden + i] : 1) * h[i] * rw[i * 3 * hidden + k];
            if (gate == 2)
                share[j] = from_h;
            g[k] = gate < 2 ? sigmoid(from_x + from_h) : tanh(from_x + (before ? 1 : g[hidden + j]) * from_h);
        }
}

/* One step back: d [4 hidden] of update, reset and the candidate's two addends, before their functions; dh of the state before is added
 * to. The state at the step is (1 - update) candidate + update h. */
static inline void gru_back(double *d, double *dh, const double *dy, const double *g, const double *share, const double *h, const double *rw,
                            uint64_t hidden, bool before)
{
    for (uint64_t j = 0; j < hidden; j++) {
        double z = g[j], r = g[hidden + j], c = g[2 * hidden + j], old = h ? h[j] : 0, dc = dy[j] * (1 - z) * (1 - c * c);
        d[j] = dy[j] * (old - c) * z * (1 - z);
        d[2 * hidden + j] = dc;
        d[3 * hidden + j] = before ? dc : dc * r;
        d[hidden + j] = before ? 0 : dc * share[j] * r * (1 - r);
        dh[j] += dy[j] * z;
    }
    for (uint64_t i = 0; i < hidden; i++) {
        double back = 0, r = g[hidden + i], old = h ? h[i] : 0;
        for (uint64_t j = 0; j < hidden; j++)
            back += d[3 * hidden + j] * rw[i * 3 * hidden + 2 * hidden + j];
        if (before)
            d[hidden + i] = back * old * r * (1 - r);
        dh[i] += before ? back * r : back;
    }
    for (uint64_t i = 0; i < hidden; i++)
        for (uint64_t k = 0; k < 2 * hidden; k++)
            dh[i] += d[k] * rw[i * 3 * hidden + k];
}

/* What one step gives to the weights: [x, h] by the addends' gradients. */
static inline void gru_weights(const struct run *r, const double *d, const double *g, const double *x, const double *h, uint64_t n,
                               uint64_t hidden, bool before)
{
    for (uint64_t k = 0; k < 3 * hidden; k++) {
        double of_x = d[k], of_h = d[k < 2 * hidden ? k : hidden + k];
        for (uint64_t i = 0; i < n; i++)
            out(r, 0)[i * 3 * hidden + k] += x[i] * of_x;
        for (uint64_t i = 0; i < hidden && h; i++)
            out(r, 1)[i * 3 * hidden + k] += (k >= 2 * hidden && before ? g[hidden + i] : 1) * h[i] * of_h;
        out(r, 2)[k] += of_x;
        out(r, 2)[3 * hidden + k] += of_h;
    }
}

/* Forward [x, w, r, bias]; data [gradient, x, w, r, bias, y] to that of x, if wanted, and of the gates; weight [gates, x, w, r, bias, y]. */
static inline void run_gru(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *tx = &r->g->tensors[f->inputs[0]];
    uint64_t t = tx->dims[1], n = tx->dims[2], h = f->at->hidden;
    bool forward = r->op->pass == PASS_FORWARD, data = r->op->pass == PASS_BACKWARD_DATA, before = f->at->reset_before;
    uint32_t first = forward ? 0 : 1;
    const double *x = in(r, first), *w = in(r, first + 1), *rw = in(r, first + 2), *y = forward ? out(r, 0) : in(r, 5);
    double *g = ARENA_ARRAY(&a, double, 3 * h), *share = ARENA_ARRAY(&a, double, h), *dy = ARENA_ARRAY(&a, double, h);
    double *dh = ARENA_ARRAY(&a, double, h);
    for (uint64_t i = 0; i < tx->dims[0] * t; i++) {
        uint64_t s = forward ? i : tx->dims[0] * t - 1 - i;             /* backward: the last step first */
        uint64_t row = row_of(f, s, t);
        const double *old = s % t ? y + row_of(f, s - 1, t) * h : NULL;
        gru_step(g, share, x + row * n, old, w, rw, in(r, first + 3), n, h, before);
        for (uint64_t k = 0; k < h && forward; k++)
            out(r, 0)[row * h + k] = (1 - g[k]) * g[2 * h + k] + (old ? g[k] * old[k] : 0);
        if (r->op->pass == PASS_BACKWARD_WEIGHT)
            gru_weights(r, in(r, 0) + s * 4 * h, g, x + row * n, old, n, h, before);
        if (!data)
            continue;
        double *d = out(r, r->op->n_outputs - 1) + s * 4 * h;
        for (uint64_t k = 0; k < h; k++)
            dy[k] = in(r, 0)[row * h + k] + ((s + 1) % t ? dh[k] : 0);
        memset(dh, 0, h * sizeof *dh);
        gru_back(d, dh, dy, g, share, old, rw, h, before);
        for (uint64_t k = 0; k < n * 3 * h && r->op->n_outputs == 2; k++)
            out(r, 0)[row * n + k / (3 * h)] += d[k % (3 * h)] * w[k];
    }
    arena_free(&a);
}

/* ---- losses -------------------------------------------------------------------------------------------------- */

static inline void run_cross_entropy(const struct run *r)
{
    struct arena a = { 0 };
    uint64_t n = last_dim(tensor_in(r, 0)), rows = tensor_elements(tensor_in(r, 0)) / n;
    double *p = ARENA_ARRAY(&a, double, n);
    for (uint64_t i = 0; i < rows; i++) {
        softmax_row(p, in(r, 0) + i * n, n);
        uint64_t label = (uint64_t)in(r, 1)[i];
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[0] -= log(p[label]);
        for (uint64_t k = 0; k < n && r->op->pass != PASS_FORWARD; k++)
            out(r, 0)[i * n + k] = p[k] - (k == label);
    }
    arena_free(&a);
}

static inline double log_add(double a, double b)
{
    double most = fmax(a, b);
    return isinf(most) ? most : most + log(exp(a - most) + exp(b - most));
}

/*
 * One sample's lattice: p [t, u + 1, v] probabilities, the last symbol blank. alpha[i, j] is the log-probability of
 * having emitted j labels before step i's decision; beta[i, j] that of what remains.
 */
static inline double lattice(double *alpha, double *beta, const double *p, const double *labels, uint64_t t, uint64_t u, uint64_t v)
{
#define BLANK(i, j) log(p[((i) * (u + 1) + (j)) * v + v - 1])
#define EMIT(i, j) log(p[((i) * (u + 1) + (j)) * v + (uint64_t)labels[j]])
#define AT(m, i, j) (m)[(i) * (u + 1) + (j)]
    for (uint64_t i = 0; i < t; i++)
        for (uint64_t j = 0; j <= u; j++) {
            double from = i == 0 && j == 0 ? 0 : -INFINITY;
            from = i > 0 ? log_add(from, AT(alpha, i - 1, j) + BLANK(i - 1, j)) : from;
            AT(alpha, i, j) = j > 0 ? log_add(from, AT(alpha, i, j - 1) + EMIT(i, j - 1)) : from;
        }
    for (uint64_t i = t; i-- > 0; )
        for (uint64_t j = u + 1; j-- > 0; ) {
            double to = i == t - 1 && j == u ? BLANK(i, j) : -INFINITY;
            to = i < t - 1 ? log_add(to, AT(beta, i + 1, j) + BLANK(i, j)) : to;
            AT(beta, i, j) = j < u ? log_add(to, AT(beta, i, j + 1) + EMIT(i, j)) : to;
        }
    return AT(beta, 0, 0);
}

static inline void run_transducer(const struct run *r)
{
    struct arena a = { 0 };
    const struct tensor *x = tensor_in(r, 0);
    uint64_t t = x->dims[1], u = x->dims[2] - 1, v = x->dims[3], n = t * (u + 1) * v;
    double *p = ARENA_ARRAY(&a, double, n), *alpha = ARENA_ARRAY(&a, double, n), *beta = ARENA_ARRAY(&a, double, n);
    for (uint64_t b = 0; b < x->dims[0]; b++) {
        const double *labels = in(r, 1) + b * u;
        for (uint64_t i = 0; i < n; i += v)
            softmax_row(p + i, in(r, 0) + b * n + i, v);
        double all = lattice(alpha, beta, p, labels, t, u, v);
        if (r->op->pass == PASS_FORWARD) {
            out(r, 0)[0] -= all;
            continue;
        }
        for (uint64_t i = 0; i < t; i++)
            for (uint64_t j = 0; j <= u; j++) {
                double left = i < t - 1 ? AT(beta, i + 1, j) : j == u ? 0 : -INFINITY;
                double share[2] = { exp(AT(alpha, i, j) + BLANK(i, j) + left - all),
                                    j < u ? exp(AT(alpha, i, j) + EMIT(i, j) + AT(beta, i, j + 1) - all) : 0 };
                for (uint64_t k = 0; k < v; k++) {
                    uint64_t e = (i * (u + 1) + j) * v + k;
                    out(r, 0)[b * n + e] = p[e] * (share[0] + share[1]) - (k == v - 1) * share[0] -
                                           (j < u && k == (uint64_t)labels[j]) * share[1];
                }
            }
    }
    arena_free(&a);
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

static inline void run_op(const struct run *r)
{
    bool forward = r->op->pass == PASS_FORWARD;
    switch (r->op->kind) {
    case OP_CONV: run_conv(r); return;
    case OP_MATMUL: run_matmul(r); return;
    case OP_CONV_TRANSPOSE: run_conv(r); return;
    case OP_MAP: run_map(r); return;
    case OP_COMBINE: run_combine(r); return;
    case OP_SELECT: run_select(r); return;
    case OP_VIEW: run_copy(r, 1); return;
    case OP_EXPAND: run_expand(r); return;
    case OP_RESIZE: run_resize(r); return;
    case OP_LOCAL_NORM: run_local_norm(r); return;
    case OP_ARG_MAX: run_arg_max(r); return;
    case OP_TOP_K: run_top_k(r); return;
    case OP_SCATTER: run_scatter(r); return;
    case OP_ADD: run_pair(r); return;
    case OP_MUL: forward ? run_pair(r) : run_mul_backward(r); return;
    case OP_SCALE: run_copy(r, r->op->at->rate); return;
    case OP_BIAS_ADD: run_bias(r); return;
    case OP_RELU: case OP_GELU: case OP_TANH: case OP_SIGMOID: case OP_SWISH: run_function(r); return;
    case OP_SOFTMAX: run_softmax(r); return;
    case OP_BATCH_NORM: case OP_GROUP_NORM: case OP_LAYER_NORM: run_norm(r); return;
    case OP_DROPOUT: run_dropout(r); return;
    case OP_MAX_POOL: case OP_AVERAGE_POOL: run_pool(r); return;
    case OP_GATHER: run_gather(r); return;
    case OP_TRANSPOSE: run_transpose(r); return;
    case OP_CONCAT: run_concat(r); return;
    case OP_SLICE: run_slice(r); return;
    case OP_PAD: run_pad(r); return;
    case OP_LSTM: run_lstm(r); return;
    case OP_GRU: run_gru(r); return;
    case OP_OUTER_ADD: run_outer_add(r); return;
    case OP_CROSS_ENTROPY: run_cross_entropy(r); return;
    case OP_TRANSDUCER_LOSS: run_transducer(r); return;
    case OP_CAST: run_cast(r); return;
    case OP_INPUT_PREPARE: run_copy(r, 1.0 / 255); return;
    case N_OP_KINDS: break;
    }
    assert(false);
}

/* values[i] is tensor i: inputs, weights and state given; the rest is overwritten. Returns the sum of the losses. */
static inline double graph_execute(const struct graph *g, double **values)
{
    double loss = 0;
    for (size_t i = 0; i < g->n_ops; i++) {
        struct run r = { g, values, &g->ops[i], i };
        for (uint32_t k = 0; k < r.op->n_outputs; k++)
            memset(out(&r, k), 0, tensor_elements(tensor_out(&r, k)) * sizeof(double));
        run_op(&r);
        if ((r.op->kind == OP_CROSS_ENTROPY || r.op->kind == OP_TRANSDUCER_LOSS) && r.op->pass == PASS_FORWARD)
            loss += out(&r, 0)[0];
    }
    return loss;
}
#endif
