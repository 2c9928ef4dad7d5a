/* SPDX-License-Identifier: GPL-3.0-or-later */
/* products.h - matrix products, convolutions, and windows that slide as theirs do. */
#ifndef EXECUTE_PRODUCTS_H
#define EXECUTE_PRODUCTS_H
#include "tests/execute/operands.h"

/* The product of two row-major matrices, c += a b, which the caller may bring; where it is not set all loops are
 * plain. */
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

/* Window positions of convolutions and pools: y[b, i, j] sees x[b, i stride + p dilation - pad, j stride + q dilation
 * - pad]. */
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

/* Maximum: forward [x], backward [gradient, x, y]. Average: backward [gradient]; what is padding counts in the mean
 * if asked to. */
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

/* The two input rows between which row i of n_out falls, and the second one's share. Pixel centres are at halves
 * (half_pixel). */
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

/* Equal values keep their order. */
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

/* Rows of the table in execute.h. */
#define EXECUTE_PRODUCTS \
    [OP_CONV] = run_conv, [OP_CONV_TRANSPOSE] = run_conv, [OP_MATMUL] = run_matmul, [OP_MAX_POOL] = run_pool, \
    [OP_AVERAGE_POOL] = run_pool, [OP_RESIZE] = run_resize, [OP_LOCAL_NORM] = run_local_norm, [OP_ARG_MAX] = run_arg_max, \
    [OP_TOP_K] = run_top_k,

#endif
