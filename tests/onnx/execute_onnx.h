/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute_onnx.h - fills the tensors of an imported graph with the file's own weights.
 *
 * Kernels change their order of dimensions, matrices may be transposed, and batch norms are folded with their
 * statistics.
 */
#ifndef EXECUTE_ONNX_H
#define EXECUTE_ONNX_H
#include "tests/execute.h"
#include "workloads/onnx/onnx_model.h"

struct norm_values { const double *v[8]; double epsilon; };

static inline struct norm_values norm_values(const struct onnx_import *im, const struct onnx_source *s)
{
    struct norm_values n = { .epsilon = s->number };
    for (int i = 0; i < 8; i++)
        n.v[i] = s->values[i] == NO_ID ? NULL : onnx_contents(im->model, s->values[i]);
    return n;
}

/* y = (x - mean) / sqrt(variance + epsilon) scale + shift, then a second scale and shift if a layer after it was
 * fused. */
static inline double norm_factor(const struct norm_values *n, uint64_t c)
{
    return n->v[2][c] / sqrt(n->v[5][c] + n->epsilon) * (n->v[6] ? n->v[6][c] : 1);
}

static inline double norm_shift(const struct norm_values *n, uint64_t c, bool with_bias)
{
    double x = with_bias && n->v[1] ? n->v[1][c] : 0;
    double y = (x - n->v[4][c]) / sqrt(n->v[5][c] + n->epsilon) * n->v[2][c] + n->v[3][c];
    return y * (n->v[6] ? n->v[6][c] : 1) + (n->v[7] ? n->v[7][c] : 0);
}

/* [out, in, depth, height, width] to [height, width, depth x in, out]; the depth may be 1. */
static inline void fill_kernel(double *to, const double *from, const uint64_t *d, uint64_t n_in, const struct norm_values *norm)
{
    for (uint64_t i = 0; i < d[0] * d[1] * d[2] * d[3]; i++) {
        uint64_t o = i % d[3], c = i / d[3] % d[2] % n_in, z = i / d[3] % d[2] / n_in, w = i / d[3] / d[2] % d[1], h = i / d[3] / d[2] / d[1];
        to[i] = from[(((o * n_in + c) * (d[2] / n_in) + z) * d[0] + h) * d[1] + w] * (norm ? norm_factor(norm, o) : 1);
    }
}

/* 1 from a diagonal on, to its right or, turned, to its left. */
static inline double triangle(const struct onnx_source *s, double column_less_row)
{
    return (s->turned ? -column_less_row : column_less_row) >= s->number;
}

/* One direction of a recurrence's [directions, gates x hidden, width], transposed, or of its biases [directions, 2 x
 * gates x hidden]; an LSTM's gates input, output, forget, cell become input, forget, cell, output. */
static inline double gate_weight(const struct onnx_source *s, const double *from, const struct tensor *t, uint64_t i)
{
    static const uint64_t order[] = { 0, 2, 3, 1 };
    bool bias = t->n_dims == 1;
    uint64_t gates = s->turned ? 4 : 3, all = bias ? t->dims[0] / 2 : t->dims[1], column = i % all, row = i / all, hidden = all / gates;
    uint64_t k = (s->turned ? order[column / hidden] : column / hidden) * hidden + column % hidden;
    if (!from)
        return 0;
    from += (uint64_t)s->number * tensor_elements(t);
    return bias ? from[row * all + k] : from[k * t->dims[0] + row];
}

static inline void fill_weight(double *to, const struct graph *g, const struct onnx_import *im, const struct onnx_source *s)
{
    const struct tensor *t = &g->tensors[s->tensor_id];
    struct norm_values n = norm_values(im, s);
    uint64_t all = tensor_elements(t), columns = t->dims[t->n_dims - 1], rows = all / columns;
    assert(n.v[0] || s->layout >= ONNX_FOLDED_BIAS);
    for (uint64_t i = 0; i < all; i++)
        switch (s->layout) {
        case ONNX_AS_IS: to[i] = n.v[0][i]; break;
        case ONNX_MATRIX_TRANSPOSED: to[i] = n.v[0][i % columns * rows + i / columns]; break;
        case ONNX_FOLDED_BIAS: to[i] = norm_shift(&n, i, true); break;
        case ONNX_NORM_SCALE: to[i] = norm_factor(&n, i); break;
        case ONNX_NORM_SHIFT: to[i] = norm_shift(&n, i, false); break;
        case ONNX_NUMBER: to[i] = s->number; break;
        case ONNX_COUNT: to[i] = (double)i; break;
        case ONNX_GATES: to[i] = gate_weight(s, n.v[0], t, i); break;
        case ONNX_TRIANGLE: to[i] = triangle(s, (double)(i % columns) - (double)(i / columns % t->dims[t->n_dims - 2])); break;
        case ONNX_KERNEL: case ONNX_FOLDED_KERNEL: break;
        }
    if (s->layout == ONNX_KERNEL || s->layout == ONNX_FOLDED_KERNEL)
        fill_kernel(to, n.v[0], t->dims, im->model->values[s->values[0]].dims[1], s->layout == ONNX_KERNEL ? NULL : &n);
}

/* Allocates all tensors and fills the weights. The caller fills the inputs, in the graph's layout. */
static inline double **onnx_values(const struct graph *g, const struct onnx_import *im, struct arena *a)
{
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++)
        v[i] = ARENA_ARRAY(a, double, tensor_elements(&g->tensors[i]));
    for (size_t i = 0; i < im->n_sources; i++)
        fill_weight(v[im->sources[i].tensor_id], g, im, &im->sources[i]);
    return v;
}

/* The index of element i of [batch, channels, height, width] in [batch, height, width, channels]. */
static inline uint64_t channels_last(uint64_t i, const struct tensor *t)
{
    uint64_t w = i % t->dims[2], h = i / t->dims[2] % t->dims[1], c = i / t->dims[2] / t->dims[1] % t->dims[3];
    return ((i / t->dims[2] / t->dims[1] / t->dims[3] * t->dims[1] + h) * t->dims[2] + w) * t->dims[3] + c;
}
#endif
