/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_buckets.c - how a random pattern fills the buckets of a dynamic product, and how far blocks have to travel that found no room.
 *
 * The host fills the buckets of a partition, z of them, with its blocks. Blocks that exceed them go into other buckets: first into those of the same
 * rows, in the nearest partitions of the inner dimension before it; then into those of any partition of rows (graphcore/poplibs at 7eac0f26,
 * SparsePartitionerImpl.cpp, balanceBuckets).
 * The program then lets all buckets travel as far as the farthest of them has to, over all partitions inside (findOverflowDistance; FullyConnected.cpp,
 * lines 346-395). It has computed with the z buckets of its own partition when it begins:
 *     steps = (d + 1) z - z            if blocks lie d partitions of the inner dimension away
 *     steps = (d + 1) y z - z          if they lie d partitions of rows away
 * Blocks of a partition are drawn from their binomial distribution, each partition by a hash of its number. A pattern is one draw, and its steps are
 * those of the partition that overflows farthest: of several patterns the median one counts.
 */
#include "system-model/compiler/sparse.h"
#include <gsl/gsl_cdf.h>

enum { PATTERNS = 15 };

/* The i-th of a series of pseudo-random numbers between 0 and 1. */
static double drawn_share(uint64_t i) { return ((double)(hash_bytes(&i, sizeof i, 0) >> 11) + 0.5) * 0x1p-53; }

enum { MOST_MEAN = 200, MOST_DRAWN = 512, STRIDE = 16 };        /* draws with a mean up to MOST_MEAN stay far below MOST_DRAWN */

/* at_most[k] is the chance that no more than k of n places have a block; the first n_known are computed. */
struct binomial { unsigned n; double density, at_most[MOST_DRAWN]; unsigned n_known; };

static double chance_of_at_most(struct binomial *b, unsigned k)
{
    assert(k < MOST_DRAWN);
    for (; b->n_known <= k; b->n_known++)
        b->at_most[b->n_known] = gsl_cdf_binomial_P(b->n_known, b->density, b->n);
    return b->at_most[k];
}

/* The number of blocks at the quantile `share` of the distribution. Above MOST_MEAN a normal distribution is used. */
static uint64_t drawn_blocks(double share, struct binomial *b)
{
    double mean = b->density * b->n;
    unsigned k = 0;
    if (b->density >= 1)
        return b->n;
    if (mean > MOST_MEAN)
        return (uint64_t)fmax(0, round(mean + sqrt(mean * (1 - b->density)) * gsl_cdf_ugaussian_Pinv(share)));
    while (k + STRIDE <= b->n_known && b->at_most[k + STRIDE - 1] < share)
        k += STRIDE;
    while (k < b->n && chance_of_at_most(b, k) < share)
        k++;
    return k;
}

/* Moves excess blocks of each of n partitions in a ring to the nearest partitions before it. Returns the longest way, and in `left` how many
 * blocks found no room. */
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

/* One random pattern: how far its blocks travel, and the most blocks of one partition. */
struct drawn_pattern { uint64_t steps, most_blocks; };

static struct drawn_pattern draw_pattern(const struct dynamic_split *p, uint64_t draw, struct binomial *of_partition, uint64_t *blocks, uint64_t *rows)
{
    struct drawn_pattern out = { 0, 0 };
    uint64_t farthest = 0, over, room = p->blocks * p->z, first = draw * p->x * p->y;
    for (uint64_t x = 0; x < p->x; x++) {
        rows[x] = 0;
        for (uint64_t y = 0; y < p->y; y++) {
            blocks[y] = drawn_blocks(drawn_share(first + x * p->y + y), of_partition);
            out.most_blocks = max_u64(out.most_blocks, min_u64(blocks[y], room));
            rows[x] += blocks[y];
        }
        farthest = max_u64(farthest, settle_row(blocks, p->y, room, &over));
    }
    uint64_t rows_away = settle_row(rows, p->x, p->y * room, &over);
    out.steps = rows_away ? (rows_away + 1) * p->y * p->z - p->z : farthest * p->z;
    return out;
}

static int by_steps(const void *a, const void *b)
{
    const struct drawn_pattern *x = a, *y = b;
    return x->steps != y->steps ? (x->steps > y->steps) - (x->steps < y->steps) : (x->most_blocks > y->most_blocks) - (x->most_blocks < y->most_blocks);
}

void sparse_buckets_fill(struct dynamic_split *p, const struct sparse_shape *s)
{
    struct arena scratch = {0};
    uint64_t *blocks = ARENA_ARRAY(&scratch, uint64_t, p->y), *rows = ARENA_ARRAY(&scratch, uint64_t, p->x);
    uint64_t places = ceil_div(s->rows / s->block, p->x) * ceil_div(s->inner / s->block, p->y);
    struct binomial of_partition = { (unsigned)places, fmin(1, (double)s->n_blocks / ((double)(s->rows / s->block) * (double)(s->inner / s->block))), .n_known = 0 };
    struct drawn_pattern drawn[PATTERNS];
    for (uint64_t i = 0; i < PATTERNS; i++)
        drawn[i] = draw_pattern(p, i, &of_partition, blocks, rows);
    qsort(drawn, PATTERNS, sizeof *drawn, by_steps);
    p->steps = drawn[PATTERNS / 2].steps;
    p->most_blocks = drawn[PATTERNS / 2].most_blocks;
    arena_free(&scratch);
}
