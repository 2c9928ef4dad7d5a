/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_recurrence.h - LSTM and GRU. */
#ifndef KERNELS_RECURRENCE_H
#define KERNELS_RECURRENCE_H
#include "system-model/execute/kernels_elements.h"

/* The row of step s. Each sample has t rows, one after the other; they run backward if the recurrence does. */
static inline uint64_t row_of(const struct op *f, uint64_t s, uint64_t t)
{
    return f->at->from_last ? s - s % t + t - 1 - s % t : s;
}

/* An LSTM of b samples, t steps, width n, state h. Gates are input, forget, candidate, output; gates and their gradients are [b, t, 4 h] and
 * cells [b, t, h], in the order of rows, as x and y. y has a row more where the last cell state follows. */
struct lstm {
    const struct op *f;
    uint64_t b, t, n, h, y_rows;
    real *x, *w, *recurrent, *bias, *y, *gates, *cells;
    real *first_state, *first_cell;         /* [b, h] each; NULL: zeros */
    const struct product_way *way;
};

static inline struct lstm lstm_start(const struct run *r, struct arena *a)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]];
    uint32_t first = r->op->pass == PASS_FORWARD ? 0 : 1;
    struct lstm l = { .f = f, .b = x->dims[0], .t = x->dims[1], .n = x->dims[2], .h = f->at->hidden, .way = &r->way };
    l.y_rows = l.t + f->at->with_cell;
    l.x = in(r, first), l.w = in(r, first + 1), l.recurrent = in(r, first + 2), l.bias = in(r, first + 3);
    l.y = r->op->pass == PASS_FORWARD ? out(r, 0) : in(r, 5);
    l.first_state = f->n_inputs > 4 && r->op->pass == PASS_FORWARD ? in(r, 4) : NULL;
    l.first_cell = f->n_inputs > 5 && r->op->pass == PASS_FORWARD ? in(r, 5) : NULL;
    l.gates = ARENA_ARRAY(a, real, l.b * l.t * 4 * l.h);
    l.cells = ARENA_ARRAY(a, real, l.b * l.t * l.h);
    return l;
}

/* Row `row` of every sample of a tensor with `rows` rows of `width` elements. */
static inline struct matrix lstm_rows(real *x, uint64_t row, uint64_t rows, uint64_t width)
{
    return (struct matrix){ x + row * width, rows * width, false };
}

/* Computes one step's gates from their sums, then the new cells and, if wanted, the new states. Samples of old_cells are `apart` elements apart. */
static inline void lstm_cells(const struct lstm *l, uint64_t row, const real *old_cells, uint64_t apart, bool states)
{
    for (uint64_t s = 0; s < l->b; s++)
        for (uint64_t k = 0; k < l->h; k++) {
            real *q = l->gates + (s * l->t + row) * 4 * l->h + k, *cell = l->cells + (s * l->t + row) * l->h + k;
            for (uint64_t gate = 0; gate < 4; gate++)
                q[gate * l->h] = (real)(gate == 2 ? tanh(q[gate * l->h]) : sigmoid(q[gate * l->h]));
            real old = old_cells ? old_cells[s * apart + k] : 0;
            *cell = q[l->h] * old + q[0] * q[2 * l->h];
            if (states)
                l->y[(s * l->y_rows + row) * l->h + k] = (real)(q[3 * l->h] * tanh(*cell));
        }
}

/* Fills gates and cells from x and y; forward also y, step by step. */
static inline void lstm_steps(const struct lstm *l, bool states)
{
    for (uint64_t i = 0; i < l->b * l->t * 4 * l->h; i++)
        l->gates[i] = l->bias[i % (4 * l->h)] + l->bias[4 * l->h + i % (4 * l->h)];
    product_add((struct matrix){ l->gates, 4 * l->h, false }, (struct matrix){ l->x, l->n, false }, (struct matrix){ l->w, 4 * l->h, false },
                l->b * l->t, l->n, 4 * l->h, l->way);
    for (uint64_t s = 0; s < l->t; s++) {
        uint64_t row = row_of(l->f, s, l->t), before = s ? row_of(l->f, s - 1, l->t) : 0;
        if (s)
            product_add(lstm_rows(l->gates, row, l->t, 4 * l->h), lstm_rows(l->y, before, l->y_rows, l->h),
                        (struct matrix){ l->recurrent, 4 * l->h, false }, l->b, l->h, 4 * l->h, l->way);
        else if (l->first_state)
            product_add(lstm_rows(l->gates, row, l->t, 4 * l->h), (struct matrix){ l->first_state, l->h, false },
                        (struct matrix){ l->recurrent, 4 * l->h, false }, l->b, l->h, 4 * l->h, l->way);
        lstm_cells(l, row, s ? l->cells + before * l->h : l->first_cell, s ? l->t * l->h : l->h, states);
    }
}

static inline void lstm_forward(const struct run *r)
{
    struct arena a = { 0 };
    struct lstm l = lstm_start(r, &a);
    lstm_steps(&l, true);
    for (uint64_t s = 0; s < l.b && l.f->at->with_cell; s++)
        memcpy(l.y + (s * l.y_rows + l.t) * l.h, l.cells + (s * l.t + row_of(l.f, l.t - 1, l.t)) * l.h, l.h * sizeof *l.y);
    arena_free(&a);
}

/* One step back: dg, the gradient before each gate's function, follows from the states' gradient; dc, that of the cells, is passed to the step before. */
static inline void lstm_step_back(const struct lstm *l, real *dg, real *dc, const real *dh, uint64_t row, const real *old_cells)
{
    for (uint64_t s = 0; s < l->b; s++)
        for (uint64_t k = 0; k < l->h; k++) {
            const real *q = l->gates + (s * l->t + row) * 4 * l->h + k;
            real *d = dg + (s * l->t + row) * 4 * l->h + k, *c = &dc[s * l->h + k];
            double in_gate = q[0], forget = q[l->h], candidate = q[2 * l->h], output = q[3 * l->h];
            double tc = tanh(l->cells[(s * l->t + row) * l->h + k]), old = old_cells ? old_cells[s * l->t * l->h + k] : 0;
            double of_cell = *c + dh[s * l->h + k] * output * (1 - tc * tc);
            d[0] = (real)(of_cell * candidate * in_gate * (1 - in_gate));
            d[l->h] = (real)(of_cell * old * forget * (1 - forget));
            d[2 * l->h] = (real)(of_cell * in_gate * (1 - candidate * candidate));
            d[3 * l->h] = (real)(dh[s * l->h + k] * tc * output * (1 - output));
            *c = (real)(of_cell * forget);
        }
}

/* The data pass reads [gradient, x, w, recurrent, bias, y], and gives the gradients of x, if wanted, and of the gates. */
static inline void lstm_data(const struct run *r)
{
    struct arena a = { 0 };
    struct lstm l = lstm_start(r, &a);
    real *dy = in(r, 0), *dg = out(r, r->op->n_outputs - 1), *dc = ARENA_ARRAY(&a, real, l.b * l.h), *dh = ARENA_ARRAY(&a, real, l.b * l.h);
    lstm_steps(&l, false);
    for (uint64_t s = l.t; s-- > 0; ) {
        uint64_t row = row_of(l.f, s, l.t);
        for (uint64_t i = 0; i < l.b; i++)
            memcpy(dh + i * l.h, dy + (i * l.t + row) * l.h, l.h * sizeof *dh);
        if (s + 1 < l.t)
            product_add((struct matrix){ dh, l.h, false }, lstm_rows(dg, row_of(l.f, s + 1, l.t), l.t, 4 * l.h),
                        (struct matrix){ l.recurrent, 4 * l.h, true }, l.b, 4 * l.h, l.h, l.way);
        lstm_step_back(&l, dg, dc, dh, row, s ? l.cells + row_of(l.f, s - 1, l.t) * l.h : NULL);
    }
    if (r->op->n_outputs == 2)
        product_add((struct matrix){ out(r, 0), l.n, false }, (struct matrix){ dg, 4 * l.h, false }, (struct matrix){ l.w, 4 * l.h, true },
                    l.b * l.t, 4 * l.h, l.n, l.way);
    arena_free(&a);
}

/* The weight pass reads [gates' gradient, x, y], and gives the gradients of input weights, recurrent weights and biases. */
static inline void lstm_weights(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = tensor_in(r, 1);
    uint64_t b = x->dims[0], t = x->dims[1], n = x->dims[2], h = f->at->hidden;
    real *dg = in(r, 0), *y = in(r, 2);
    product_add((struct matrix){ out(r, 0), 4 * h, false }, (struct matrix){ in(r, 1), n, true }, (struct matrix){ dg, 4 * h, false }, n, b * t, 4 * h,
                &r->way);
    bool last_first = f->at->from_last;         /* if steps run from the last one, the earlier state is in the next row */
    for (uint64_t s = 0; s < b && t > 1; s++)
        product_add((struct matrix){ out(r, 1), 4 * h, false }, (struct matrix){ y + (s * t + last_first) * h, h, true },
                    (struct matrix){ dg + (s * t + !last_first) * 4 * h, 4 * h, false }, h, t - 1, 4 * h, &r->way);
    sum_columns(out(r, 2), dg, b * t, 4 * h);
    memcpy(out(r, 2) + 4 * h, out(r, 2), 4 * h * sizeof(real));
}

static inline void run_lstm(const struct run *r)
{
    if (r->op->pass == PASS_FORWARD)
        lstm_forward(r);
    else if (r->op->pass == PASS_BACKWARD_DATA)
        lstm_data(r);
    else
        lstm_weights(r);
}

/* Computes the gates of one step (update, reset, candidate) and the recurrent part of the candidate. h may be NULL
 * for zeros. */
static inline void gru_step(real *g, real *share, const real *x, const real *h, const real *w, const real *rw, const real *bias,
                            uint64_t n, uint64_t hidden, bool before)
{
    for (uint64_t gate = 0; gate < 3; gate++)
        for (uint64_t j = 0; j < hidden; j++) {
            uint64_t k = gate * hidden + j;
            real from_x = bias[k], from_h = bias[3 * hidden + k];
            for (uint64_t i = 0; i < n; i++)
                from_x += x[i] * w[i * 3 * hidden + k];
            for (uint64_t i = 0; i < hidden && h; i++)
                from_h += (gate == 2 && before ? g[hidden + i] : 1) * h[i] * rw[i * 3 * hidden + k];
            if (gate == 2)
                share[j] = from_h;
            g[k] = (real)(gate < 2 ? sigmoid(from_x + from_h) : tanh(from_x + (before ? 1 : g[hidden + j]) * from_h));
        }
}

/* One step back. d: [4 hidden], the gradients of update, reset and the candidate's two addends, before their functions. The gradient of the
 * earlier state is added to dh. The state at the step is (1 - update) candidate + update h. */
static inline void gru_back(real *d, real *dh, const real *dy, const real *g, const real *share, const real *h, const real *rw,
                            uint64_t hidden, bool before)
{
    for (uint64_t j = 0; j < hidden; j++) {
        real z = g[j], r = g[hidden + j], c = g[2 * hidden + j], old = h ? h[j] : 0, dc = dy[j] * (1 - z) * (1 - c * c);
        d[j] = dy[j] * (old - c) * z * (1 - z);
        d[2 * hidden + j] = dc;
        d[3 * hidden + j] = before ? dc : dc * r;
        d[hidden + j] = before ? 0 : dc * share[j] * r * (1 - r);
        dh[j] += dy[j] * z;
    }
    for (uint64_t i = 0; i < hidden; i++) {
        real back = 0, r = g[hidden + i], old = h ? h[i] : 0;
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

/* Adds one step's contribution to the gradients of the weights: [x, h] times the gradients of the addends. */
static inline void gru_weights(const struct run *r, const real *d, const real *g, const real *x, const real *h, uint64_t n,
                               uint64_t hidden, bool before)
{
    for (uint64_t k = 0; k < 3 * hidden; k++) {
        real of_x = d[k], of_h = d[k < 2 * hidden ? k : hidden + k];
        for (uint64_t i = 0; i < n; i++)
            out(r, 0)[i * 3 * hidden + k] += x[i] * of_x;
        for (uint64_t i = 0; i < hidden && h; i++)
            out(r, 1)[i * 3 * hidden + k] += (k >= 2 * hidden && before ? g[hidden + i] : 1) * h[i] * of_h;
        out(r, 2)[k] += of_x;
        out(r, 2)[3 * hidden + k] += of_h;
    }
}

/* Forward [x, w, r, bias], and the initial state if it is not zero. Data [gradient, x, w, r, bias, y] makes the gradients of x, if wanted, and of the
 * gates. Weight [gates, x, w, r, bias, y]. */
static inline void run_gru(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *tx = &r->g->tensors[f->inputs[0]];
    uint64_t t = tx->dims[1], n = tx->dims[2], h = f->at->hidden;
    bool forward = r->op->pass == PASS_FORWARD, data = r->op->pass == PASS_BACKWARD_DATA, before = f->at->reset_before;
    uint32_t first = forward ? 0 : 1;
    const real *x = in(r, first), *w = in(r, first + 1), *rw = in(r, first + 2), *y = forward ? out(r, 0) : in(r, 5);
    real *g = ARENA_ARRAY(&a, real, 3 * h), *share = ARENA_ARRAY(&a, real, h), *dy = ARENA_ARRAY(&a, real, h);
    real *dh = ARENA_ARRAY(&a, real, h);
    const real *first_state = forward && f->n_inputs > 4 ? in(r, 4) : NULL;
    for (uint64_t i = 0; i < tx->dims[0] * t; i++) {
        uint64_t s = forward ? i : tx->dims[0] * t - 1 - i;             /* backward: the last step first */
        uint64_t row = row_of(f, s, t);
        const real *old = s % t ? y + row_of(f, s - 1, t) * h : first_state ? first_state + s / t * h : NULL;
        gru_step(g, share, x + row * n, old, w, rw, in(r, first + 3), n, h, before);
        for (uint64_t k = 0; k < h && forward; k++)
            out(r, 0)[row * h + k] = (1 - g[k]) * g[2 * h + k] + (old ? g[k] * old[k] : 0);
        if (r->op->pass == PASS_BACKWARD_WEIGHT)
            gru_weights(r, in(r, 0) + s * 4 * h, g, x + row * n, old, n, h, before);
        if (!data)
            continue;
        real *d = out(r, r->op->n_outputs - 1) + s * 4 * h;
        for (uint64_t k = 0; k < h; k++)
            dy[k] = in(r, 0)[row * h + k] + ((s + 1) % t ? dh[k] : 0);
        memset(dh, 0, h * sizeof *dh);
        gru_back(d, dh, dy, g, share, old, rw, h, before);
        for (uint64_t k = 0; k < n * 3 * h && r->op->n_outputs == 2; k++)
            out(r, 0)[row * n + k / (3 * h)] += d[k % (3 * h)] * w[k];
    }
    arena_free(&a);
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_RECURRENCE \
    [OP_LSTM] = run_lstm, [OP_GRU] = run_gru,

#endif
