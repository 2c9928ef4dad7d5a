/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recurrence.h - LSTM and GRU. */
#ifndef EXECUTE_RECURRENCE_H
#define EXECUTE_RECURRENCE_H
#include "tests/execute/elements.h"

/* The row of step s. Each sample has t rows, one after the other; they run backward if the recurrence does. */
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

/* Computes the gates of one step (update, reset, candidate) and the recurrent part of the candidate. h may be NULL
 * for zeros. */
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

/* One step back: d [4 hidden] of update, reset and the candidate's two addends, before their functions; dh of the
 * state before is added to. The state at the step is (1 - update) candidate + update h. */
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

/* Adds one step's contribution to the gradients of the weights: [x, h] times the gradients of the addends. */
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

/* Forward [x, w, r, bias]; data [gradient, x, w, r, bias, y] to that of x, if wanted, and of the gates; weight
 * [gates, x, w, r, bias, y]. */
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

/* Rows of the table in execute.h. */
#define EXECUTE_RECURRENCE \
    [OP_LSTM] = run_lstm, [OP_GRU] = run_gru,

#endif
