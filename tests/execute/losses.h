/* SPDX-License-Identifier: GPL-3.0-or-later */
/* losses.h - cross-entropy and the loss of a transducer. */
#ifndef EXECUTE_LOSSES_H
#define EXECUTE_LOSSES_H
#include "tests/execute/norms.h"

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

/* Rows of the table in execute.h. */
#define EXECUTE_LOSSES \
    [OP_CROSS_ENTROPY] = run_cross_entropy, [OP_TRANSDUCER_LOSS] = run_transducer,

#endif
