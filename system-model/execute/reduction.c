/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reduction.c - sums over replicas, in the order of a tree or of a ring.
 *
 * As a tree: the sum over n replicas is that over the first n / 2 and that over the rest, added. A reduction over groups and then between them
 * gives the same bits where the groups are subtrees: powers of two.
 * As a ring: n chunks; chunk i starts at replica i + 1, each next one adds its own, and replica i has the sum in the end (Patarasuk and Yuan 2009).
 */
#include "system-model/execute/execute_internal.h"
#include <string.h>

struct ranks { const struct execution *x; uint32_t weight, first, stride, n; };

static float *gradient_of(const struct ranks *r, uint32_t rank) { return weight_of(r->x, r->first + rank % r->n * r->stride, r->weight)->gradient; }

static float tree_sum(const struct ranks *r, uint64_t element, uint32_t first, uint32_t n)
{
    if (n == 1)
        return gradient_of(r, first)[element];
    return tree_sum(r, element, first, n / 2) + tree_sum(r, element, first + n / 2, n - n / 2);
}

static float ring_sum(const struct ranks *r, uint64_t element, uint32_t chunk)
{
    float sum = gradient_of(r, chunk + 1)[element];
    for (uint32_t k = 2; k <= r->n; k++)
        sum += gradient_of(r, chunk + k)[element];
    return sum;
}

void reduce_gradients(const struct execution *x, uint32_t weight, uint32_t first, uint32_t stride, uint32_t n, uint64_t begin, uint64_t end)
{
    struct ranks r = { x, weight, first, stride, n };
    uint64_t chunk = ceil_div(end - begin, n);
    for (uint64_t i = begin; i < end && n > 1; i++) {
        float sum = x->o.reduction == REDUCE_AS_TREE ? tree_sum(&r, i, 0, n) : ring_sum(&r, i, (uint32_t)((i - begin) / chunk));
        for (uint32_t k = 0; k < n; k++)
            gradient_of(&r, k)[i] = sum;
    }
}
