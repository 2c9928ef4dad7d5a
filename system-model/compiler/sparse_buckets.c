/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_buckets.c - how a random pattern fills the buckets of a dynamic product, and how far blocks have to travel that found no room.
 *
 * The host fills the buckets of a partition, z of them, with its blocks. What exceeds them lies in others: of the same rows first, of the nearest
 * partitions of the inner dimension before it, then of any partition of rows (graphcore/poplibs at 7eac0f26, SparsePartitionerImpl.cpp, balanceBuckets).
 * The program then lets all buckets travel as far as the farthest of them has to, over all partitions inside (findOverflowDistance):
 *     steps = z (d + 1) - z          if blocks lie d partitions of the inner dimension away
 *     steps = (x' - 1) y z + ...     if they lie in other partitions of rows, x' of them
 * Blocks of a partition are drawn from their binomial distribution, each partition by a hash of its number.
 */
#include "system-model/compiler/sparse.h"
#include <gsl/gsl_cdf.h>

/* A number between 0 and 1 for each i. */
static double drawn_share(uint64_t i) { return ((double)(hash_bytes(&i, sizeof i, 0) >> 11) + 0.5) * 0x1p-53; }

/* The number of blocks among n places below which lies this share of all draws. Means above 200 are normal. */
static uint64_t drawn_blocks(double share, uint64_t n, double density)
{
    double mean = density * (double)n;
    unsigned k = 0;
    if (density >= 1)
        return n;
    if (mean > 200)
        return (uint64_t)fmax(0, round(mean + sqrt(mean * (1 - density)) * gsl_cdf_ugaussian_Pinv(share)));
    while (k < n && gsl_cdf_binomial_P(k, density, (unsigned)n) < share)
        k++;
    return k;
}

/* Moves the blocks that are too many in each partition of a range of rows to the nearest partitions before it. Returns the longest way, and how
   many blocks found no room. */
static uint64_t settle_row(uint64_t *blocks, uint64_t n, uint64_t room, uint64_t *left)
{
    uint64_t farthest = 0;
    *left = 0;
    for (uint64_t y = 0; y < n; y++) {
        uint64_t over = blocks[y] > room ? blocks[y] - room : 0;
        blocks[y] -= over;
        for (uint64_t d = 1; d < n && over; d++) {
            uint64_t *at = &blocks[(y + n - d) % n], moved = min_u64(over, *at < room ? room - *at : 0);
            *at += moved;
            over -= moved;
            farthest = moved ? max_u64(farthest, d) : farthest;
        }
        *left += over;
    }
    return farthest;
}

void sparse_buckets_fill(struct dynamic_split *p, const struct sparse_shape *s)
{
    struct arena scratch = {0};
    uint64_t *blocks = ARENA_ARRAY(&scratch, uint64_t, p->y), farthest = 0, left = 0, room = p->blocks * p->z;
    uint64_t places = ceil_div(s->rows / s->block, p->x) * ceil_div(s->inner / s->block, p->y);
    double density = fmin(1, (double)s->n_blocks / ((double)(s->rows / s->block) * (double)(s->inner / s->block)));
    p->most_blocks = 0;
    for (uint64_t x = 0; x < p->x; x++) {
        uint64_t over;
        for (uint64_t y = 0; y < p->y; y++) {
            blocks[y] = drawn_blocks(drawn_share(x * p->y + y), places, density);
            p->most_blocks = max_u64(p->most_blocks, min_u64(blocks[y], room));
        }
        farthest = max_u64(farthest, settle_row(blocks, p->y, room, &over));
        left += over;
    }
    p->steps = left ? p->y * p->z : farthest * p->z;       /* the nearest partition of rows has room for what is left */
    arena_free(&scratch);
}
