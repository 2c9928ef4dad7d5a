/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_layout.c - what it takes to bring the dense side of a sparse product into the order in which its vertices read it.
 *
 * Vertices of blocks read the rows of a block next to each other, those of elements read the columns. A dense side that lies so is fetched from where
 * it is. If it lies the other way, popops moves it into matrices and transposes these (graphcore/poplibs at 7eac0f26: regroupIfBeneficial() in
 * popops/Rearrange.cpp, which popsparse/StaticMatMul.cpp:1020 and FullyConnected.cpp:1940 call). It cuts the matrices until every worker has one:
 * of all divisors x of the number of its smallest matrices in one, that with the least  1/x ceil(ceil(matrices x / tiles) / workers).
 * A tile's matrices are transposed by 4 x 4 halves, or 2 x 2 floats (getTransposeCycleEstimate() in popsparse/PerformanceEstimation.hpp). A few of
 * them are shared among the workers (c4e847d0, popops/RearrangeUtil.cpp), which is left out: at most 27 cycles of a worker more or fewer for each row of grains.
 */
#include "system-model/compiler/sparse.h"

enum { MOST_STRIDE = 512 };             /* in vectors of 8 bytes: what an instruction can step */

static uint64_t smallest_side(uint64_t type) { return 8 / data_type_bytes((enum data_type)type); }

uint64_t transpose_cycles(uint64_t n_workers, uint64_t n, uint64_t rows, uint64_t columns, uint64_t type)
{
    uint64_t side = smallest_side(type), grain = type == TYPE_FP32 ? 3 : 4, down = rows / side, across = columns / side, mine = ceil_div(n, n_workers), worker;
    if (down == 1 && across == 1)
        worker = mine == 1 ? 29 : 37 + (mine - 2) * grain;
    else if (across == 1)
        worker = 27 + mine * (35 + (down - 2) * grain);
    else
        worker = 29 + mine * (18 + down * (12 + across * grain - 2 * grain));
    return 7 + n_workers * worker;
}

/* Into how many parts popops cuts each of n matrices. */
static uint64_t matrix_parts(uint64_t n, uint64_t rows, uint64_t columns, uint64_t side, uint64_t n_tiles, uint64_t n_workers)
{
    uint64_t smallest = rows * columns / (side * side), stride = max_u64(rows, columns) / 4 * 3 - 1, best = 1, least = UINT64_MAX;
    uint64_t most = n_tiles * min_u64(ceil_div(stride, MOST_STRIDE), n_workers);
    for (uint64_t x = 1; x <= smallest && n * x <= most; x++) {
        uint64_t cost = smallest / x * ceil_div(ceil_div(n * x, n_tiles), n_workers);
        if (smallest % x == 0 && cost < least) {
            least = cost;
            best = x;
        }
    }
    return best;
}

bool sparse_lies_turned(const struct sparse_shape *s)
{
    return s->order != ORDER_PLANNED && (s->block == 1) == (s->order == ORDER_BY_INNER);
}

struct turned_matrices sparse_turned_matrices(const struct sparse_shape *s, uint64_t n_tiles, uint64_t n_workers)
{
    uint64_t side = smallest_side(s->type), group = s->block == 1 || s->dynamic ? s->inner : s->block;
    struct turned_matrices t = { .rows = s->block == 1 ? s->columns : group, .columns = s->block == 1 ? group : s->columns };
    if (!sparse_lies_turned(s) || t.rows % side || t.columns % side)
        return (struct turned_matrices){ 0, 0, 0 };
    uint64_t n = s->inner / group, parts = matrix_parts(n, t.rows, t.columns, side, n_tiles, n_workers);
    uint64_t across = common_divisor(parts, t.columns / side), down = common_divisor(parts / across, t.rows / side);
    t.columns /= across;
    t.rows /= down;
    t.n = ceil_div(n * across * down, n_tiles);
    return t;
}
