/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_losses.h - cross-entropy and the loss of a transducer. */
#ifndef KERNELS_LOSSES_H
#define KERNELS_LOSSES_H
#include "system-model/execute/kernels_norms.h"

/* The share that each of n rows or samples has in the loss, and the factor of the gradients. Slices of one text (at.pieces) count alike. */
static inline double loss_share(const struct run *r, double n)
{
    return r->mean_losses ? 1 / fmax(n, 1) / fmax(op_forward(r->g, r->op)->at->pieces, 1) : 1;
}

static inline double n_counted(const real *labels, uint64_t rows)
{
    double n = 0;
    for (uint64_t i = 0; i < rows; i++)
        n += labels[i] >= 0;
    return n;
}

/* Rows whose label is negative do not count: empty places of a pack. */
static inline void run_cross_entropy(const struct run *r)
{
    struct arena a = { 0 };
    uint64_t n = last_dim(tensor_in(r, 0)), rows = tensor_elements(tensor_in(r, 0)) / n;
    uint64_t longest = max_u64(n, tensor_whole_size(tensor_in(r, 0), tensor_in(r, 0)->n_dims - 1)), at = first_column(r, r->op->inputs[0]);
    real *scores = ARENA_ARRAY(&a, real, longest);
    double *p = ARENA_ARRAY(&a, double, longest), loss = 0, share = loss_share(r, n_counted(in(r, 1), rows));
    for (uint64_t i = 0; i < rows; i++) {
        if (in(r, 1)[i] < 0)
            continue;
        uint64_t whole = whole_row(scores, r, r->op->inputs[0], i);
        softmax_row(p, scores, whole);
        uint64_t label = (uint64_t)in(r, 1)[i];
        loss -= share * log(p[label]);
        for (uint64_t k = 0; k < n && at + k < whole && r->op->pass != PASS_FORWARD; k++)
            out(r, 0)[i * n + k] = (real)(r->loss_factor * share * (p[at + k] - (at + k == label)));
    }
    if (r->op->pass == PASS_FORWARD)
        out(r, 0)[0] = (real)loss;
    arena_free(&a);
}

static inline double log_add(double a, double b)
{
    double most = fmax(a, b);
    return isinf(most) ? most : most + log(exp(a - most) + exp(b - most));
}

/* One sample's lattice: t steps, u labels, logarithms of the probabilities of blank and of the next label. alpha[i, j] is the log-probability
 * of having emitted j labels before step i's decision; beta[i, j] that of what remains. All are [t, u + 1]. */
struct lattice { uint64_t t, u; double *blank, *emit, *alpha, *beta; };

static inline uint64_t lattice_at(const struct lattice *l, uint64_t i, uint64_t j) { return i * (l->u + 1) + j; }

/* Returns the log-probability of the labels. */
static inline double lattice_fill(struct lattice *l)
{
    for (uint64_t i = 0; i < l->t; i++)
        for (uint64_t j = 0; j <= l->u; j++) {
            uint64_t at = lattice_at(l, i, j), above = at - l->u - 1, left = at - 1;
            double from = i == 0 && j == 0 ? 0 : -INFINITY;
            from = i > 0 ? log_add(from, l->alpha[above] + l->blank[above]) : from;
            l->alpha[at] = j > 0 ? log_add(from, l->alpha[left] + l->emit[left]) : from;
        }
    for (uint64_t i = l->t; i-- > 0; )
        for (uint64_t j = l->u + 1; j-- > 0; ) {
            uint64_t at = lattice_at(l, i, j);
            double to = i == l->t - 1 && j == l->u ? l->blank[at] : -INFINITY;
            to = i < l->t - 1 ? log_add(to, l->beta[at + l->u + 1] + l->blank[at]) : to;
            l->beta[at] = j < l->u ? log_add(to, l->beta[at + 1] + l->emit[at]) : to;
        }
    return l->beta[0];
}

static inline struct lattice lattice_start(uint64_t t, uint64_t u, struct arena *a)
{
    uint64_t n = t * (u + 1);
    return (struct lattice){ t, u, ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n) };
}

/* The gradient of one sample's loss by its scores: p [t, u + 1, v] are their probabilities, the last symbol blank. */
static inline void transducer_gradient(real *dx, const struct lattice *l, const double *p, const real *labels, uint64_t v, double factor)
{
    double all = l->beta[0];
    for (uint64_t i = 0; i < l->t; i++)
        for (uint64_t j = 0; j <= l->u; j++) {
            uint64_t at = lattice_at(l, i, j);
            double left = i < l->t - 1 ? l->beta[at + l->u + 1] : j == l->u ? 0 : -INFINITY;
            double blank = exp(l->alpha[at] + l->blank[at] + left - all);
            double emit = j < l->u ? exp(l->alpha[at] + l->emit[at] + l->beta[at + 1] - all) : 0;
            for (uint64_t k = 0; k < v; k++) {
                double taken = (k == v - 1) * blank + (j < l->u && k == (uint64_t)labels[j]) * emit;
                dx[at * v + k] = (real)(factor * (p[at * v + k] * (blank + emit) - taken));
            }
        }
}

static inline void run_transducer(const struct run *r)
{
    struct arena a = { 0 };
    const struct tensor *x = tensor_in(r, 0);
    uint64_t t = x->dims[1], u = x->dims[2] - 1, v = x->dims[3], n = t * (u + 1) * v;
    double *p = ARENA_ARRAY(&a, double, n), loss = 0, share = loss_share(r, (double)x->dims[0]);
    struct lattice l = lattice_start(t, u, &a);
    for (uint64_t b = 0; b < x->dims[0]; b++) {
        const real *labels = in(r, 1) + b * u;
        for (uint64_t at = 0; at < t * (u + 1); at++) {
            softmax_row(p + at * v, in(r, 0) + b * n + at * v, v);
            l.blank[at] = log(p[at * v + v - 1]);
            l.emit[at] = at % (u + 1) < u ? log(p[at * v + (uint64_t)labels[at % (u + 1)]]) : -INFINITY;
        }
        loss -= share * lattice_fill(&l);
        if (r->op->pass != PASS_FORWARD)
            transducer_gradient(out(r, 0) + b * n, &l, p, labels, v, share * r->loss_factor);
    }
    if (r->op->pass == PASS_FORWARD)
        out(r, 0)[0] = (real)loss;
    arena_free(&a);
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_LOSSES \
    [OP_CROSS_ENTROPY] = run_cross_entropy, [OP_TRANSDUCER_LOSS] = run_transducer,

#endif
