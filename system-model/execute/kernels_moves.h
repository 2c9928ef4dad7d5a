/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_moves.h - elements that move: rows looked up and written, transposed, joined, cut, padded, added in pairs. */
#ifndef KERNELS_MOVES_H
#define KERNELS_MOVES_H
#include "system-model/execute/kernels_operands.h"

/* Forward [table, indices]; backward [gradient, indices]. A table that is cut has zeros for the rows of other parts. */
static inline void run_gather(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *table = &r->g->tensors[f->inputs[0]], *at = &r->g->tensors[f->inputs[1]];
    const struct tensor_part *cut = tensor_cut(table, table->n_dims - 2);
    uint64_t width = last_dim(table), n = tensor_elements(at);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rows = table->dims[table->n_dims - 2], row = indexed_row(in(r, 1)[i], cut ? cut->whole_size : rows);
        uint64_t first = cut ? cut->first + tensor_part_of(cut, r->rank) * rows : 0;
        if (row < first || row - first >= rows)
            continue;
        row -= first;
        if (table->n_dims == 3)
            row += i / at->dims[1] * table->dims[1];
        for (uint64_t k = 0; k < width; k++)
            if (r->op->pass == PASS_FORWARD)
                out(r, 0)[i * width + k] = in(r, 0)[row * width + k];
            else
                out(r, 0)[row * width + k] += in(r, 0)[i * width + k];
    }
}

/* Splits the result's gradient: the table gets zeros in the rows that were replaced, the updates get those rows. */
static inline void run_scatter_back(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *table = &r->g->tensors[f->inputs[0]], *at = &r->g->tensors[f->inputs[1]];
    uint64_t width = last_dim(table), rows = table->dims[table->n_dims - 2], n = last_dim(at);
    for (uint32_t o = 0; o < r->op->n_outputs; o++) {
        bool updates = r->g->tensors[r->op->outputs[o]].of_tensor == f->inputs[2];
        if (!updates)
            memcpy(out(r, o), in(r, 0), tensor_elements(table) * sizeof(real));
        for (uint64_t i = 0; i < tensor_elements(at) * width; i++) {
            uint64_t row = i / width / n * rows + indexed_row(in(r, 1)[i / width], rows);
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
    memcpy(out(r, 0), in(r, 0), tensor_elements(table) * sizeof(real));
    for (uint64_t i = 0; i < tensor_elements(at); i++) {
        uint64_t row = i / n * rows + indexed_row(in(r, 1)[i], rows);
        for (uint64_t k = 0; k < width; k++) {
            real *to = &out(r, 0)[row * width + k], x = in(r, 2)[i * width + k];
            *to = r->op->at->scatter == SCATTER_ADD ? *to + x : r->op->at->scatter == SCATTER_MAXIMUM && *to > x ? *to : x;
        }
    }
}

/* The place in the input moves as an odometer counts: the last dimension of the result is the fastest. */
static inline void run_transpose(const struct run *r)
{
    const struct op_attributes *t = r->op->at;
    uint64_t stride[MAX_VIEW_DIMS], at[MAX_VIEW_DIMS] = { 0 }, from = 0;
    uint32_t n = 0;
    while (n < MAX_VIEW_DIMS && t->view[n])
        n++;
    stride[n - 1] = 1;
    for (uint32_t d = n - 1; d-- > 0; )
        stride[d] = stride[d + 1] * t->view[d + 1];
    for (uint64_t i = 0, all = n_out(r); i < all; i++) {
        if (r->op->pass == PASS_FORWARD)
            out(r, 0)[i] = in(r, 0)[from];
        else
            out(r, 0)[from] = in(r, 0)[i];
        for (uint32_t d = n; d-- > 0; ) {
            uint32_t of = t->order[d];
            from += stride[of];
            if (++at[d] < t->view[of])
                break;
            from -= stride[of] * t->view[of];
            at[d] = 0;
        }
    }
}

/* Copies the part of `whole` that starts at begin along axis to or from `part`. */
static inline void copy_range(real *whole, const struct tensor *w, real *part, const struct tensor *p, uint32_t axis,
                              uint64_t begin, bool to_part)
{
    uint64_t inner = 1;
    for (uint32_t d = axis + 1; d < w->n_dims; d++)
        inner *= w->dims[d];
    uint64_t run = inner * p->dims[axis], pieces = tensor_elements(p) / run;
    for (uint64_t i = 0; i < pieces; i++) {
        real *in_whole = whole + (i * w->dims[axis] + begin) * inner, *in_part = part + i * run;
        memcpy(to_part ? in_part : in_whole, to_part ? in_whole : in_part, run * sizeof *part);
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

/* The index, from 0 to n - 1, of the element at a place of a padded row; n if the place holds the number. */
static inline uint64_t pad_source(enum pad_border border, int64_t at, int64_t n)
{
    int64_t period = n > 1 ? 2 * (n - 1) : 1, turned = (at % period + period) % period;
    if (at >= 0 && at < n)
        return (uint64_t)at;
    switch (border) {
    case BORDER_MIRRORED: return (uint64_t)(turned < n ? turned : period - turned);
    case BORDER_OUTERMOST: return at < 0 ? 0 : (uint64_t)n - 1;
    case BORDER_OTHER_END: return (uint64_t)((at % n + n) % n);
    case BORDER_NUMBER: return (uint64_t)n;
    }
    assert(false);
    return 0;
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
            out(r, 0)[i] = k < n ? in(r, 0)[from] : (real)r->op->at->rate;
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

/* Rows of the table in kernels.h. */
#define KERNELS_OF_MOVES \
    [OP_GATHER] = run_gather, [OP_SCATTER] = run_scatter, [OP_TRANSPOSE] = run_transpose, [OP_CONCAT] = run_concat, \
    [OP_SLICE] = run_slice, [OP_PAD] = run_pad, [OP_OUTER_ADD] = run_outer_add,

#endif
