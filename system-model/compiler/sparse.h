/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse.h - products of a matrix of non-zero blocks and a dense one, as PopSparse plans them.
 *
 * [rows, inner] sparse times [inner, columns] dense. Blocks are square, of 1, 4, 8 or 16 elements, and lie in random places. A static product has its
 * places in the program; a dynamic one reads them, so that they may change while it runs. Formulas: graphcore/poplibs at 7eac0f26, lib/popsparse.
 */
#ifndef SPARSE_H
#define SPARSE_H
#include "system-model/compiler/op_plan.h"

/* How the dense side and the result lie: as planned, with the rows of a block next to each other; by columns, so that each element of a row of a block
 * is apart; or by the inner dimension, so that such a row is in one piece. */
enum dense_order { ORDER_PLANNED, ORDER_BY_COLUMNS, ORDER_BY_INNER };

/* No padding: shapes are compared as bytes. */
struct sparse_shape {
    uint64_t rows, inner, columns, block;
    uint64_t n_blocks;                  /* non-zero blocks */
    uint64_t type;                      /* enum data_type of operands and result */
    uint64_t dynamic;
    uint64_t trains;                    /* dynamic: buckets also serve the gradients, and hold what these need */
    uint64_t order;                     /* enum dense_order of the dense side and the result */
    double oversize;                    /* dynamic: the share by which buckets are larger than an even share (metaInfoBucketOversizeProportion); 0.3 as a rule */
};
enum { SPARSE_META_BYTES = 2 };         /* the bytes of one word of a bucket's metadata, which says where blocks are */

/* ---- sparse_vertex.c: cycles of a tile ------------------------------------------------------------------------------ */

/* m rows with k blocks each, and n columns. With block 1 the rows are those of the busiest worker; with larger blocks the columns are. */
double static_sparse_cycles(uint64_t n_workers, double m, double k, uint64_t n, uint64_t block, uint64_t type);

/* A pass over the buckets that a tile has received: x rows with y blocks each; a gradient has rows or columns in their place. */
struct bucket_work {
    uint64_t n_buckets, n_useful;       /* n_buckets: all buckets; n_useful: those that hold something for the tile */
    double x, y;
    uint64_t z;                         /* columns of the busiest worker */
    uint64_t block, type, partials, conv_units, n_workers;
    enum op_pass pass;
    bool estimated;                     /* cycles as the planner estimates them; else those of the vertex's instructions */
};
double dynamic_sparse_cycles(const struct bucket_work *w);
double zero_partials_cycles(uint64_t n_workers, uint64_t n_of_worker, uint64_t partials, bool blocks);

/* ---- sparse_static.c ------------------------------------------------------------------------------------------------ */

/* A split of the columns of the dense side, and of those of the sparse one into bands that have the same number of blocks. Memory and cycles are
 * those by which the planner chooses. Returns n_splits 0 if no split fits the share of memory, or none has offsets within 16 bits. */
struct static_split {
    uint64_t n_splits, n_bands;
    uint64_t cycles, bytes;
    uint64_t columns, blocks, band_blocks;              /* the fullest tile's columns and non-zero blocks; columns of blocks of its band */
    uint64_t tile_rows, met_rows, met_columns;          /* rows of blocks in the tile; rows and columns of blocks that the tile's non-zero blocks meet */
    uint64_t sources;                                   /* tiles with sums of the same rows */
    uint64_t n_rows;                                    /* rows of blocks that are not left out */
    double row_chance, run_ends;                        /* a row has blocks in a band; ends of tiles' runs in such a row */
    uint64_t dense_exchange, block_exchange, compute, zero, sum_exchange, sum_compute, move;
};
struct static_split static_sparse_split(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* On each tile a list of words, which is live all the time, says where the tile's blocks are. */
uint64_t static_sparse_meta_bytes(uint64_t n_workers, uint64_t rows, uint64_t blocks, uint64_t block);

/* ---- sparse_sums.c -------------------------------------------------------------------------------------------------- */

/* Bytes that the fullest tile receives, and cycles of its workers, as popops reduces the sums of a split: rows that are only copied; sums that are added
 * where the result lies, and those spread over all tiles, whose results then move. */
struct static_sums { uint64_t copied_bytes, place_bytes, spread_bytes, compute, move_bytes; };
struct static_sums static_sparse_sums(const struct static_split *p, const struct sparse_shape *s, const struct chip *chip, uint64_t n_tiles);

/* ---- sparse_dynamic.c ----------------------------------------------------------------------------------------------- */

/* Partitions of rows, inner dimension and columns, over one tile each; and the bucket of each tile. */
struct dynamic_split {
    uint64_t x, y, z;
    uint64_t cycles, bytes;
    uint64_t blocks, meta;                              /* blocks, and words of their places, that a bucket has room for */
    uint64_t steps;                                     /* rounds in which buckets travel on, as some blocks found no room in the buckets of their own partition; the median of several patterns */
    uint64_t most_blocks;                               /* the most blocks of one partition, in all its buckets, after blocks without room went to other partitions */
};
struct dynamic_search { const struct sparse_shape *s; const struct chip *chip; const struct op_plan_options *opt; uint64_t grain; double density; };
struct dynamic_search dynamic_sparse_search(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* The costs of one pass on a tile. Cycles: exchange of dense rows and of buckets, turning of blocks, the vertex, and the reduction of sums over
 * `depth` tiles or their cast. Bytes: the dense side that the tile receives, one bucket, and all temporaries. `blocks` is the number of blocks in the
 * tile's partition; 0: those of an even pattern, which the planner assumes. */
struct dynamic_cost { uint64_t exchange, turn, sum_exchange, sum_compute, dense_bytes, bucket_bytes, sums, depth, bytes; double vertex; };
struct dynamic_cost dynamic_sparse_pass(const struct dynamic_search *f, const struct dynamic_split *p, enum op_pass pass, uint64_t blocks);
struct dynamic_split dynamic_sparse_split(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* Sets the steps of propagation of a random pattern, the median of several, and the most blocks of one partition (SparsePartitionerImpl.cpp). */
void sparse_buckets_fill(struct dynamic_split *p, const struct sparse_shape *s);

/* ---- both ------------------------------------------------------------------------------------------------------------- */

/* Bytes of all tiles for the non-zero elements and the words that say where they are. */
struct sparse_bytes { uint64_t values, meta; };
/* One pass of the product; returns the bytes of its sparse side. Static products have no gradients in PopSparse. */
struct sparse_bytes sparse_product_plan(struct op_plan *out, const struct sparse_shape *s, enum op_pass pass, const struct chip *chip,
                                        const struct op_plan_options *opt);

#endif
