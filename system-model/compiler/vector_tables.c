/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_tables.c - what tables over several replicas need on each chip: rows brought in order for the links, and distances between embeddings.
 *
 * An all-to-all has its operand, and then its result, in the order of the replicas; the time on the links is placement's (plan/placement.c).
 * Distances follow a published operator (graphcore/distributed-kge-poplar at 0dfc4be, src/poplar_extensions/distance.cpp and l1distance.codelet.cpp):
 *     forward    results in blocks over the tiles, as square as they go; a vertex for each, which reads two rows
 *     gradient   one compute set for each operand, elements in such blocks; a vertex for each, which reads a column of the other operand and a row of the
 *                gradient, copied to the tile before: columns element by element. For the second operand's gradient, so is the results' gradient
 * Results are floats, and cast to the operands' type if that is another (castMaybe() in graphcore-research/poptorch-experimental-addons at beb1267,
 * poptorch_experimental_addons/cpp/distance_matrix.cpp, which has the same operator).
 * Vertices are compiled C++, with no cycles stated: DISTANCE_CYCLES and DISTANCE_SLOPE_CYCLES (assumed.h) a vector of 8 bytes, by their instructions.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

void plan_all_to_all(struct passes *p, const struct vector_op *w)
{
    passes_move(p, w->n);
    passes_move(p, w->n);
}

/* Blocks of a rows x columns result, one a tile. */
struct block_of_results { uint64_t rows, columns; };

static struct block_of_results result_blocks(uint64_t rows, uint64_t columns, uint64_t n_tiles)
{
    struct block_of_results b = { .rows = max_u64(1, (uint64_t)ceil(sqrt((double)rows * (double)columns / (double)n_tiles))) };
    uint64_t down = ceil_div(rows, b.rows);
    b.columns = ceil_div(columns, max_u64(1, n_tiles / down));
    return b;
}

static void add_distance_results(struct passes *p, struct block_of_results b, uint64_t length, uint64_t cycles_per_vector)
{
    uint64_t vector = 8 / p->element_bytes, vertex = DISTANCE_FIXED_CYCLES + ceil_div(length, vector) * cycles_per_vector;
    passes_superstep(p, ceil_div(b.rows * b.columns, p->chip->n_workers) * vertex * chip_turn_cycles(p->chip));
}

static void add_result_cast(struct passes *p, uint64_t n)
{
    if (p->element_bytes != data_type_bytes(TYPE_FP32))
        passes_map(p, MAP_CAST, n);
}

/* `turned` is true if the gradient of the results is read by columns. */
static void add_distance_gradient(struct passes *p, uint64_t rows, uint64_t width, uint64_t n_other, bool turned)
{
    struct block_of_results b = result_blocks(rows, width, p->n_tiles);
    uint64_t column_bytes = b.columns * n_other * p->element_bytes, row_bytes = b.rows * n_other * p->element_bytes;
    passes_exchange(p, column_bytes + row_bytes);
    passes_superstep(p, rearrange_cycles(&vertex_table, p->chip, column_bytes + (turned ? row_bytes : 0), p->element_bytes, false));
    add_distance_results(p, b, n_other, DISTANCE_SLOPE_CYCLES);
    add_result_cast(p, rows * width);
}

void plan_distance(struct passes *p, const struct vector_op *w)
{
    const struct tensor *other = &w->g->tensors[w->forward->inputs[1]];
    uint64_t rows = w->x->dims[0], n_other = other->dims[0], width = w->x->dims[1];
    p->plan->n_tiles_used = (uint32_t)p->n_tiles;
    if (w->backward) {
        add_distance_gradient(p, rows, width, n_other, false);
        add_distance_gradient(p, n_other, width, rows, true);
        return;
    }
    struct block_of_results b = result_blocks(rows, n_other, p->n_tiles);
    passes_exchange(p, (b.rows + b.columns) * width * p->element_bytes);
    add_distance_results(p, b, width, DISTANCE_CYCLES);
    add_result_cast(p, rows * n_other);
}
