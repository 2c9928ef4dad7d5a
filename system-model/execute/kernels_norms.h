/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_norms.h - norms and softmax. */
#ifndef KERNELS_NORMS_H
#define KERNELS_NORMS_H
#include "system-model/execute/kernels_exchange.h"
#include "system-model/execute/kernels_operands.h"

/* The values that are normalised together are a channel, a row, or a sample's group of channels. A tensor is a matrix of rows of the last
 * dimension; the set of an element is the first set of its row plus the set of its column. An RMS norm takes no mean away and adds no vector. */
struct norm_sets { enum op_kind kind; bool by_row, centred; uint64_t rows, n, rows_per_sample, groups, n_sets; const uint64_t *of_column; double size, epsilon; };

static inline struct norm_sets norm_sets(const struct run *r, struct arena *a)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]];
    struct norm_sets s = { .kind = f->kind, .by_row = f->kind == OP_LAYER_NORM || f->kind == OP_RMS_NORM, .centred = f->kind != OP_RMS_NORM, .n = last_dim(x), .groups = f->at->norm_groups, .epsilon = f->at->epsilon > 0 ? f->at->epsilon : 1e-5 };
    s.rows = tensor_elements(x) / s.n;
    s.rows_per_sample = s.rows / x->dims[0];
    s.n_sets = s.kind == OP_BATCH_NORM ? s.n : s.by_row ? s.rows : x->dims[0] * s.groups;
    s.size = (double)(s.rows * s.n) * r->n_peers / (double)s.n_sets;
    uint64_t *of_column = ARENA_ARRAY(a, uint64_t, s.n);
    for (uint64_t c = 0; c < s.n; c++)
        of_column[c] = s.kind == OP_BATCH_NORM ? c : s.by_row ? 0 : c / (s.n / s.groups);
    s.of_column = of_column;
    return s;
}

static inline uint64_t first_set(const struct norm_sets *s, uint64_t row)
{
    return s->kind == OP_BATCH_NORM ? 0 : s->by_row ? row : row / s->rows_per_sample * s->groups;
}

/* Mean and 1 / deviation, and in the data pass the means of the scaled gradient and of its product with the normalised values; by set. */
struct norm_moments { double *mean, *inverse, *gradient, *along; };

static inline double normalised(const struct norm_moments *m, uint64_t set, real x) { return (x - m->mean[set]) * m->inverse[set]; }

/* Adds the deviations of one replica's values: from zero the first time, from the mean the second. */
static inline void add_deviations(double *sum, const double *mean, const struct norm_sets *s, const real *x)
{
    for (uint64_t i = 0; i < s->rows; i++)
        for (uint64_t c = 0, first = first_set(s, i); c < s->n; c++) {
            uint64_t set = first + s->of_column[c];
            double d = x[i * s->n + c] - (mean ? mean[set] : 0);
            sum[set] += mean ? d * d : d;
        }
}

static inline void add_gradients(struct norm_moments *m, const struct norm_sets *s, const real *dy, const real *x, const real *gamma)
{
    for (uint64_t i = 0; i < s->rows; i++)
        for (uint64_t c = 0, first = first_set(s, i); c < s->n; c++) {
            uint64_t set = first + s->of_column[c];
            double d = (double)dy[i * s->n + c] * gamma[c];
            m->gradient[set] += d;
            m->along[set] += d * normalised(m, set, x[i * s->n + c]);
        }
}

/* Sums go over the replicas in their order, so that all that take part get the same bits. */
static inline struct norm_moments moments(const struct run *r, const struct norm_sets *s, uint32_t x_id, struct arena *a)
{
    struct norm_moments m = { ARENA_ARRAY(a, double, s->n_sets), ARENA_ARRAY(a, double, s->n_sets),
                         ARENA_ARRAY(a, double, s->n_sets), ARENA_ARRAY(a, double, s->n_sets) };
    for (uint32_t p = 0; p < r->n_peers && s->centred; p++)
        add_deviations(m.mean, NULL, s, r->peers[p][x_id]);
    for (uint64_t k = 0; k < s->n_sets; k++)
        m.mean[k] /= s->size;
    for (uint32_t p = 0; p < r->n_peers; p++)
        add_deviations(m.inverse, m.mean, s, r->peers[p][x_id]);
    for (uint64_t k = 0; k < s->n_sets; k++)
        m.inverse[k] = 1 / sqrt(m.inverse[k] / s->size + s->epsilon);
    for (uint32_t p = 0; p < r->n_peers && r->op->pass == PASS_BACKWARD_DATA; p++)
        add_gradients(&m, s, r->peers[p][r->op->inputs[0]], r->peers[p][x_id], r->peers[p][r->op->inputs[2]]);
    for (uint64_t k = 0; k < s->n_sets; k++)
        m.gradient[k] = s->centred ? m.gradient[k] / s->size : 0, m.along[k] /= s->size;
    return m;
}

static inline void norm_weights(const struct run *r, const struct norm_sets *s, const struct norm_moments *m, struct arena *a)
{
    double *along = ARENA_ARRAY(a, double, s->n);
    for (uint64_t i = 0; i < s->rows; i++)
        for (uint64_t c = 0, first = first_set(s, i); c < s->n; c++)
            along[c] += in(r, 0)[i * s->n + c] * normalised(m, first + s->of_column[c], in(r, 1)[i * s->n + c]);
    double *sum = ARENA_ARRAY(a, double, s->n);
    for (uint64_t i = 0; i < s->rows; i++)
        for (uint64_t c = 0; c < s->n; c++)
            sum[c] += in(r, 0)[i * s->n + c];
    for (uint64_t c = 0; c < s->n; c++) {
        out(r, 0)[c] = (real)along[c];
        if (s->centred)
            out(r, 1)[c] = (real)sum[c];
    }
}

/* Inputs: forward [x, gamma, beta]; data [gradient, x, gamma]; weight [gradient, x], which gives the gradients of gamma and beta. An RMS norm has no beta. */
static inline void run_norm(const struct run *r)
{
    struct arena a = { 0 };
    bool forward = r->op->pass == PASS_FORWARD;
    struct norm_sets s = norm_sets(r, &a);
    struct norm_moments m = moments(r, &s, r->op->inputs[forward ? 0 : 1], &a);
    if (r->op->pass == PASS_BACKWARD_WEIGHT)
        norm_weights(r, &s, &m, &a);
    for (uint64_t i = 0; i < s.rows && r->op->pass != PASS_BACKWARD_WEIGHT; i++)
        for (uint64_t c = 0, first = first_set(&s, i); c < s.n; c++) {
            uint64_t set = first + s.of_column[c], e = i * s.n + c;
            if (forward)
                out(r, 0)[e] = (real)(normalised(&m, set, in(r, 0)[e]) * in(r, 1)[c] + (s.centred ? in(r, 2)[c] : 0));
            else
                out(r, 0)[e] = (real)(m.inverse[set] * ((double)in(r, 0)[e] * in(r, 2)[c] - m.gradient[set]
                                                        - normalised(&m, set, in(r, 1)[e]) * m.along[set]));
        }
    arena_free(&a);
}

static inline void softmax_row(double *y, const real *x, uint64_t n)
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
    struct arena a = { 0 };
    const struct tensor *x = &r->g->tensors[op_forward(r->g, r->op)->inputs[0]];
    uint64_t n = last_dim(tensor_out(r, 0)), all = n_out(r), at = first_column(r, op_forward(r->g, r->op)->inputs[0]);
    uint64_t longest = max_u64(n, tensor_whole_size(x, x->n_dims - 1));
    double *row = ARENA_ARRAY(&a, double, longest);
    real *scores = ARENA_ARRAY(&a, real, 2 * longest);
    for (uint64_t first = 0; first < all; first += n) {
        uint64_t whole = whole_row(scores, r, r->op->inputs[0], first / n);
        if (r->op->pass == PASS_FORWARD) {
            softmax_row(row, scores, whole);
            for (uint64_t i = 0; i < n && at + i < whole; i++)
                out(r, 0)[first + i] = (real)row[at + i];
            continue;
        }
        double along = 0;
        whole_row(scores + longest, r, r->op->inputs[1], first / n);
        for (uint64_t i = 0; i < whole; i++)
            along += (double)scores[i] * scores[longest + i];
        for (uint64_t i = first; i < first + n; i++)
            out(r, 0)[i] = (real)(in(r, 1)[i] * (in(r, 0)[i] - along));
    }
    arena_free(&a);
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_NORMS \
    [OP_SOFTMAX] = run_softmax, [OP_BATCH_NORM] = run_norm, [OP_GROUP_NORM] = run_norm, [OP_LAYER_NORM] = run_norm, \
    [OP_RMS_NORM] = run_norm,

#endif
