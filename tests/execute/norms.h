/* SPDX-License-Identifier: GPL-3.0-or-later */
/* norms.h - norms and softmax. */
#ifndef EXECUTE_NORMS_H
#define EXECUTE_NORMS_H
#include "tests/execute/operands.h"

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

/* Rows of the table in execute.h. */
#define EXECUTE_NORMS \
    [OP_SOFTMAX] = run_softmax, [OP_BATCH_NORM] = run_norm, [OP_GROUP_NORM] = run_norm, [OP_LAYER_NORM] = run_norm,

#endif
