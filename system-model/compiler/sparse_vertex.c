/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_vertex.c - cycles of a tile in the inner loops of sparse products.
 *
 * The numbers are those of PopSparse's planner (graphcore/poplibs at 7eac0f26: StaticMatMulPartitioner.cpp, PerformanceEstimation.hpp), by block
 * and type. They are linear in rows and blocks, so means serve as well. The vendor's simulator gives these vertices no time at all.
 * Where the vertices' assembly takes longer than the planner estimates, `estimated` chooses the estimate, and else the assembly counts.
 * No measurement went into the numbers. Left out: numbers of columns that no model has (a last vector of 1 to 3 halves).
 */
#include "system-model/compiler/sparse.h"
#include <assert.h>

/* ---- places known to the program ------------------------------------------------------------------------------------- */

/* Cycles of blocks of one element, whose rows the workers share. If n is one vector of halves, or two, the vertex has a loop of its own. */
static double static_element_cycles(double m, double k, uint64_t n, uint64_t type)
{
    if (type == TYPE_FP16) {
        if (n == 4)
            return 31 + m * (7 + (k - 1) * 2);
        if (n == 8)
            return 31 + m * (8 + (k - 1) * 3);
        return 33 + m * (11 + (double)(n / 8) * (14 + (k - 1) * 3) + (n % 8 != 0) * (9 + (k - 1) * 2));
    }
    if (n == 2)
        return 29 + m * (5 + (k - 1) * 2);
    if (n == 4)
        return 30 + m * (6 + (k - 1) * 3);
    return 31 + m * (12 + (double)(n / 4) * (10 + (k - 1) * 3) + (n % 4 != 0) * (10 + (k - 1) * 2));
}

/* Cycles of a worker: once, for each row, for each block with n columns. */
struct static_block_terms { uint64_t header, row, block; };

static struct static_block_terms static_block_terms(uint64_t n, uint64_t block, bool half)
{
    assert(block == 4 || block == 8 || block == 16);
    switch (block) {
    case 4:  return half ? (struct static_block_terms){ 17, 1, (n <= 2 ? 7 : 13) + n } : (struct static_block_terms){ 13, 1, 12 + (n - 1) * 4 };
    case 8:  return half ? (struct static_block_terms){ 13, 1, 14 + (n - 1) * 2 } : (struct static_block_terms){ 13, 4, 19 + (n - 1) * 8 };
    default: return half ? (struct static_block_terms){ 13, 1, 19 + (n - 1) * 4 } : (struct static_block_terms){ 16, 4, n == 1 ? 58 : (37 + (n - 1) * 8) * 2 };
    }
}

double static_sparse_cycles(uint64_t n_workers, double m, double k, uint64_t n, uint64_t block, uint64_t type)
{
    double w = (double)n_workers, load = (double)(block * block * data_type_bytes((enum data_type)type) / 8);
    if (block == 1)
        return w * static_element_cycles(m, k, n, type);
    struct static_block_terms t = static_block_terms(n, block, type == TYPE_FP16);
    return 30 + (double)t.header * w + m * ((double)t.row * w + 17 + k * (16 + load + (double)t.block * w));
}

/* ---- places read from buckets ------------------------------------------------------------------------------------------ */

double zero_partials_cycles(uint64_t n_workers, uint64_t n_of_worker, uint64_t partials, bool blocks)
{
    uint64_t vector = partials == PARTIALS_FP32 ? 2 : 4;
    return (double)(((blocks ? 3 : 5) + (n_of_worker ? 10 + ceil_div(n_of_worker, vector) : 0)) * n_workers);
}

/* The supervisor looks for a tile's own part in each bucket. found: for each bucket that has one; missed: for each that has none. */
struct search_terms { double once, missed, found; };
static const struct search_terms search_terms[2][N_OP_PASSES] = {       /* elements; blocks */
    { { 30, 32, 93 }, { 30, 32, 112 }, { 75, 0, 26 } },
    { { 40, 33, 102 }, { 40, 33, 102 }, { 75, 0, 26 } },
};

/* Cycles of a row with y elements and z columns, which are more than two vectors. The planner counts the instructions around a vector's loop once a
 * row; the vertices run them for each vector (codelets/asm/SparseDenseMatMulElementWise_half_float.S and _float_float.S, LxLoop to
 * LRestoreUpdateXState). */
static double element_vectors_cycles(const struct bucket_work *w)
{
    bool half = w->type == TYPE_FP16;
    uint64_t vector = half ? 8 : 4, n = w->z / vector, rest = w->z % vector;
    return 12 + (double)n * (half ? 17 + 3 * w->y : 12 + 3 * w->y) + (rest ? (half ? 16 : 13) + 2 * w->y : 1);
}

/* Cycles of a worker: once, and for each row with y elements at z columns. */
static double element_row_cycles(double *once, const struct bucket_work *w)
{
    double y = w->y, z = (double)w->z;
    if (w->type == TYPE_FP16) {
        if (w->z == 8)
            return *once = 28, 15 + 3 * y;
        if (w->z == 4)
            return *once = 30, 11 + 2 * y;
        *once = 33;
        if (!w->estimated)
            return element_vectors_cycles(w);
        return 12 + (w->z / 8 ? 16 + floor(z / 8) * 3 * y : 0) + (w->z & 4 ? 13 + 2 * y : 0) + (w->z & 3 ? 11 + 2 * y * (double)(w->z & 3) : 0);
    }
    if (w->z == 4)
        return *once = 25, 13 + 3 * y;
    if (w->z == 2)
        return *once = 27, 11 + 2 * y;
    *once = 30;
    if (!w->estimated)
        return element_vectors_cycles(w);
    return 13 + (w->z / 4 ? 12 + floor(z / 4) * 3 * y : 0) + (w->z & 2 ? 8 + floor(z / 2) * 2 * y : 0) + (w->z & 1 ? 8 + 2 * y : 0) + (w->z & 3 ? 3 : 1);
}

/* The gradient of the dense side reads the buckets of the forward pass; the workers share the elements of each row. */
static double element_transposed_row_cycles(double *once, const struct bucket_work *w)
{
    double y = ceil(w->y / (double)w->n_workers), z = (double)w->z;
    *once = w->type == TYPE_FP32 ? 23 : w->z == 8 || w->z == 4 ? 20 : 26;
    if (w->type == TYPE_FP32)
        return 24 + 8 + (w->z / 2 ? (2 + floor(z / 2) * 3) * y : 0) + (w->z & 1 ? 4 * y : 0);
    if (w->z == 8)
        return 18 + 10 * y;
    if (w->z == 4)
        return 21 + 7 * y;
    return 22 + 8 + (w->z / 4 ? (2 + floor(z / 4) * 5) * y : 0) + (w->z & 3 ? (5 + 3 * (double)(w->z & 3)) * y : 0);
}

/* Each non-zero of the gradient is a sum over the columns. */
static double element_gradient_row_cycles(double *once, const struct bucket_work *w)
{
    double z = (double)w->z;
    if (w->type == TYPE_FP16) {
        if (w->z == 8)
            return *once = 30, 11 + 5 * w->y;
        if (w->z == 4)
            return *once = 32, 10 + 4 * w->y;
        *once = 35;
        return 8 + w->y * (11 + floor(z / 4) + (w->z & 2 ? 3 : 0) + (w->z & 1 ? 4 : 0));
    }
    if (w->z == 4)
        return *once = 30, 9 + 5 * w->y;
    if (w->z == 2)
        return *once = 32, 7 + 4 * w->y;
    *once = 34;
    return 9 + w->y * (9 + floor(z / 2) + (double)(w->z & 1));
}

/* The cycles of a worker on blocks at z columns. once: in all; block: for each load of a block; column: for each column of a load; loads: how
 * often the weights of a block are loaded. */
struct block_terms { double once, block, column, loads; };

static struct block_terms block_terms(const struct bucket_work *w)
{
    bool half = w->type == TYPE_FP16, narrow = w->partials == PARTIALS_FP16;
    double ramp = w->z == 1 ? 0 : w->z == 2 ? 1 : 2;
    assert(w->block == 4 || w->block == 8 || w->block == 16);
    switch (w->block) {
    case 4:  return (struct block_terms){ 26, narrow ? 15 + ramp : half ? 17 + ramp : 14, half ? 2 : 4, 1 };
    case 8:  return (struct block_terms){ narrow || !half ? 23 : 20, narrow ? 19 + fmin(ramp, 1) : w->z == 1 || (w->z == 2 && !half) ? 22 : 23, half ? 4 : 8, 1 };
    default: return (struct block_terms){ narrow && w->conv_units == 16 ? 22 : 23, (narrow && w->conv_units == 16 ? 22 : 24) + (w->z == 2), 4, w->conv_units == 8 ? 2 : 1 };
    }
}

static double block_cycles(const struct bucket_work *w)
{
    struct block_terms t = block_terms(w);
    double weights = (double)(w->block * w->block / (w->type == TYPE_FP16 ? 4 : 2)), keeps_rows = w->pass == PASS_FORWARD;
    double supervisor = 2 + w->x * (w->y * (weights + 3 + 12 * t.loads) + keeps_rows);
    return supervisor + (double)w->n_workers * (t.once + w->x * w->y * t.loads * (t.block + (double)w->z * t.column - 3 * keeps_rows));
}

/* Each worker has blocks of its own; a block sums z products for each element. */
static double block_gradient_cycles(const struct bucket_work *w)
{
    bool half = w->type == TYPE_FP16, narrow = w->partials == PARTIALS_FP16;
    static const struct { double once, row, block, column; } terms[3][3] = {      /* by block; fp32, fp16 with wide sums, fp16 with narrow ones */
        { { 27, 9, 45, 12 }, { 26, 9, 33, 6 }, { 26, 9, 29, 6 } },
        { { 24, 7, 208, 48 }, { 26, 9, 113, 24 }, { 26, 9, 113, 24 } },
        { { 27, 9, 505, 96 }, { 27, 9, 505, 96 }, { 27, 9, 441, 96 } },
    };
    uint64_t i = w->block == 4 ? 0 : w->block == 8 ? 1 : 2, j = !half ? 0 : narrow ? 2 : 1;
    double mine = w->x * w->y / (double)w->n_workers, rows = fmin(w->x, fmax(1, w->x / (double)w->n_workers));
    return (double)w->n_workers * (terms[i][j].once + rows * terms[i][j].row + mine * (terms[i][j].block + (double)w->z * terms[i][j].column));
}

double dynamic_sparse_cycles(const struct bucket_work *w)
{
    const struct search_terms *s = &search_terms[w->block > 1][w->pass];
    double search = s->once + s->missed * (double)(w->n_buckets - w->n_useful) + s->found * (double)w->n_useful, once = 0;
    if (w->block > 1)
        return search + (w->pass == PASS_BACKWARD_WEIGHT ? block_gradient_cycles(w) : block_cycles(w));
    double row = w->pass == PASS_BACKWARD_WEIGHT ? element_gradient_row_cycles(&once, w)
               : w->pass == PASS_BACKWARD_DATA ? element_transposed_row_cycles(&once, w) : element_row_cycles(&once, w);
    return search + (double)w->n_workers * (once + w->x * row);
}
