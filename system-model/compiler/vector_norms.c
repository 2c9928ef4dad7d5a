/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_norms.c - batch, group and layer norms as passes: statistics, then less one vector's values, times another's.
 *
 * Forward: the statistics (two sums in one pass, or popnn's stable way), then subtract, multiply, multiply, add: 5 passes. In inference a
 * batch norm's statistics are known: 2.
 */
#include "system-model/compiler/vector_internal.h"

/* How many statistics a norm keeps: a channel's, a group's, or a row's. */
static uint64_t norm_statistics(const struct work *w)
{
    if (w->op->kind == OP_BATCH_NORM)
        return w->last;
    if (w->op->kind == OP_LAYER_NORM)
        return w->n / w->last;
    return w->x->dims[0] * max_u64(1, w->forward->at->norm_groups);
}

/* Between replicas: what this chip does to hand its sums over and take them back. */
static void add_shared_statistics(struct passes *p, const struct work *w, uint64_t n)
{
    if (w->op->kind != OP_BATCH_NORM || w->forward->at->norm_groups < 2)
        return;
    add_map(p, MAP_COPY, n);
    add_map(p, MAP_BINARY, n);
}

/* Less one vector's values, times another's: a value a row, or one a channel. */
static void add_whitening(struct passes *p, uint64_t n, uint64_t n_statistics, bool by_row)
{
    add_vector_broadcast(p, 2 * n_statistics, n);
    add_map_vector(p, n, by_row);
    add_map_vector(p, n, by_row);
}

/* Mean and variance: two sums in one pass; the stable way, popnn's, sums, takes the mean away, then sums the squares. */
static void add_statistics(struct passes *p, const struct work *w, uint64_t n, uint64_t k, bool by_row)
{
    bool stable = w->forward->at->stable;
    add_reduction(p, MAP_REDUCE, by_row, n, k, stable ? 1 : 2);
    add_shared_statistics(p, w, stable ? k : 2 * k);
    if (!stable)
        return;
    add_vector_broadcast(p, k, n);
    add_map_vector(p, n, by_row);
    add_reduction(p, MAP_REDUCE, by_row, n, k, 1);
    add_shared_statistics(p, w, k);
}

void plan_norm(struct passes *p, const struct work *w)
{
    uint64_t n = w->n, k = norm_statistics(w);
    bool by_row = w->op->kind == OP_LAYER_NORM;
    if (w->op->pass == PASS_FORWARD) {
        if (w->opt->inference && w->op->kind == OP_BATCH_NORM) {    /* statistics are known: one scale, one shift */
            add_whitening(p, n, k, false);
            return;
        }
        add_statistics(p, w, n, k, by_row);
        add_map(p, MAP_RSQRT, k);
        add_whitening(p, n, k, by_row);
        add_whitening(p, n, w->last, false);                        /* gamma and beta */
        return;
    }
    if (w->op->pass == PASS_BACKWARD_WEIGHT) {
        add_map(p, MAP_BINARY, n);      /* on the normalised input that the data pass has made */
        add_reduction(p, MAP_REDUCE, false, n, w->last, 2);
        return;
    }
    add_whitening(p, n, k, by_row);     /* the normalised input is made again, once for both gradients */
    add_map(p, MAP_VECTOR, n);          /* gradient times gamma */
    add_map(p, MAP_BINARY, n);
    add_reduction(p, MAP_REDUCE, by_row, n, k, 2);
    add_shared_statistics(p, w, 2 * k);
    add_vector_broadcast(p, 2 * k, n);
    add_map_vector(p, n, by_row);       /* less what the statistics pass back, one for each */
    add_map(p, MAP_BINARY_IN_PLACE, n);
    add_map_vector(p, n, by_row);
}
