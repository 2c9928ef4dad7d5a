/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reduction.c - sums over replicas, in the order of a tree or of a ring. If numbers are rounded, each addition is rounded to the weight's type.
 *
 * As a tree: the sum over n replicas is the sum over the first n / 2 plus the sum over the rest. A reduction over groups and then between them gives
 * the same bits if the groups are subtrees, whose sizes are powers of two.
 * As a ring: there are n chunks. Chunk i starts at replica i + 1, each next replica adds its own part, and in the end replica i has the sum
 * (Patarasuk and Yuan 2009).
 */
#include "system-model/execute/execute_internal.h"

enum { SUM_BLOCK = 256 };   /* elements that one partial sum adds up */
struct ranks { struct execution *x; uint32_t weight, first, stride, n; };

static float *gradient_of(const struct ranks *r, uint32_t rank) { return weight_of(r->x, r->first + rank % r->n * r->stride, r->weight)->gradient; }

void add_gradient(struct execution *x, uint32_t tensor_id, float *to, const float *more, uint64_t n, const struct rounding_draws *d)
{
    const struct tensor *t = &x->g->tensors[tensor_id];
    for (uint64_t i = 0; i < n; i++)
        to[i] += more[i];
    if (x->o.precision.by_type)
        round_elements(to, n, number_format_of(t->type), 0, d, &x->rounded[ROLE_WEIGHT_GRADIENT]);
}

static void add(const struct ranks *r, float *to, const float *more, uint64_t n)
{
    add_gradient(r->x, weight_of(r->x, 0, r->weight)->tensor_id, to, more, n, &to_nearest);
}

/* Elements [at, at + n) of the sum over `count` ranks from `first` on. */
static void tree_sum(float *to, const struct ranks *r, uint64_t at, uint64_t n, uint32_t first, uint32_t count)
{
    float rest[SUM_BLOCK];
    if (count == 1) {
        memcpy(to, gradient_of(r, first) + at, n * sizeof *to);
        return;
    }
    tree_sum(to, r, at, n, first, count / 2);
    tree_sum(rest, r, at, n, first + count / 2, count - count / 2);
    add(r, to, rest, n);
}

static void ring_sum(float *to, const struct ranks *r, uint64_t at, uint64_t n, uint32_t chunk)
{
    memcpy(to, gradient_of(r, chunk + 1) + at, n * sizeof *to);
    for (uint32_t k = 2; k <= r->n; k++)
        add(r, to, gradient_of(r, chunk + k) + at, n);
}

void reduce_gradients(struct execution *x, uint32_t weight, uint32_t first, uint32_t stride, uint32_t n, uint64_t begin, uint64_t end)
{
    struct ranks r = { x, weight, first, stride, n };
    uint64_t chunk = ceil_div(end - begin, n);
    float sum[SUM_BLOCK];
    for (uint64_t at = begin, m; at < end && n > 1; at += m) {
        uint32_t of = (uint32_t)((at - begin) / chunk);
        m = min_u64(min_u64(SUM_BLOCK, end - at), begin + (of + 1) * chunk - at);
        if (x->o.reduction == REDUCE_AS_TREE)
            tree_sum(sum, &r, at, m, 0, n);
        else
            ring_sum(sum, &r, at, m, of);
        for (uint32_t k = 0; k < n; k++)
            memcpy(gradient_of(&r, k) + at, sum, m * sizeof *sum);
    }
}
