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

/* How the dense side lies: as the product's plan has it; by columns, so that the elements of a column of a block are apart; or by the inner dimension, so that
 * they are in one piece. */
enum dense_order { ORDER_PLANNED, ORDER_BY_COLUMNS, ORDER_BY_INNER };

/* No padding: shapes are compared as bytes. */
struct sparse_shape {
    uint64_t rows, inner, columns, block;
    uint64_t n_blocks;                  /* non-zero blocks */
    uint64_t type;                      /* enum data_type of operands and result */
    uint64_t dynamic;
    uint64_t trains;                    /* dynamic: buckets also serve the gradients, and hold what these need */
    uint64_t order;                     /* enum dense_order of the dense side */
    uint64_t returns;                   /* the result becomes a dense side that lies by columns, as in a framework's loop */
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

/* ---- sparse_layout.c ------------------------------------------------------------------------------------------------ */

/* Cycles of a tile that transposes n matrices, each of rows x columns. */
uint64_t transpose_cycles(uint64_t n_workers, uint64_t n, uint64_t rows, uint64_t columns, uint64_t type);
/* True if the dense side does not lie in the order in which the vertices read it. */
bool sparse_lies_turned(const struct sparse_shape *s);
/* The matrices of the fullest tile in which the dense side is transposed before the product; n is 0 if it lies right, or has no whole matrices. */
struct turned_matrices { uint64_t n, rows, columns; };
struct turned_matrices sparse_turned_matrices(const struct sparse_shape *s, uint64_t n_tiles, uint64_t n_workers);

/* ---- sparse_static.c ------------------------------------------------------------------------------------------------ */

/* A split of the dense side's columns into ranges, and of the sparse side's columns into bands that have the same number of blocks. `cycles` and
 * `bytes` are the planner's estimate, by which it chooses. n_splits is 0 if no split fits the share of memory, or none has offsets within 16 bits. */
struct static_split {
    uint64_t n_splits, n_bands;
    uint64_t cycles, bytes;
    uint64_t columns, blocks, band_blocks;              /* columns, blocks: the fullest tile's columns and non-zero blocks; band_blocks: columns of blocks in its band */
    uint64_t tile_rows, met_rows, met_columns;          /* tile_rows: rows of blocks in the tile; met_rows, met_columns: rows and columns of blocks that its non-zero blocks meet */
    uint64_t sources;                                   /* tiles with sums of the same rows */
    uint64_t n_rows;                                    /* rows of blocks that are not left out */
    double row_chance, run_ends;                        /* row_chance: the chance that a row has blocks in a band; run_ends: the mean number of ends of tiles' runs inside such a row */
    uint64_t dense_exchange, block_exchange, compute, zero, sum_exchange, sum_compute, move;
};
struct static_split static_sparse_split(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* On each tile a list of words, which is live all the time, says where the tile's blocks are. */
uint64_t static_sparse_meta_bytes(uint64_t n_workers, uint64_t rows, uint64_t blocks, uint64_t block);

/* ---- sparse_sums.c -------------------------------------------------------------------------------------------------- */

/* How popops reduces the sums of a split. Bytes are those that the fullest tile receives. copied_bytes: of rows that are only copied; place_bytes: of
 * sums that are added where the result lies; spread_bytes: of sums that are added on all tiles; move_bytes: of the results of these, which then move.
 * compute: cycles of the tile. */
struct static_sums { uint64_t copied_bytes, place_bytes, spread_bytes, compute, move_bytes; };
struct static_sums static_sparse_sums(const struct static_split *p, const struct sparse_shape *s, const struct chip *chip, uint64_t n_tiles);

/* ---- sparse_dynamic.c ----------------------------------------------------------------------------------------------- */

/* A split of rows into x, inner dimension into y and columns into z partitions: x y z tiles, each with a bucket. */
struct dynamic_split {
    uint64_t x, y, z;
    uint64_t cycles, bytes;
    uint64_t blocks, meta;                              /* blocks: blocks that a bucket has room for; meta: words that it has room for, which say where blocks are */
    uint64_t steps;                                     /* rounds in which buckets travel on, because some blocks found no room in the buckets of their own partition: the median of several patterns */
    uint64_t most_blocks;                               /* the most blocks of one partition, in all its buckets, after blocks without room went to other partitions */
};
struct dynamic_search { const struct sparse_shape *s; const struct chip *chip; const struct op_plan_options *opt; uint64_t grain; double density; };
struct dynamic_search dynamic_sparse_search(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt);
/* The costs of one pass on a tile. exchange: cycles to receive dense rows and buckets; turn: cycles to turn blocks; vertex: cycles of the product;
 * sum_exchange, sum_compute: cycles of a reduction of `sums` sums over `depth` tiles, or of their cast. dense_bytes: what the tile receives of the dense side;
 * bucket_bytes: one bucket; bytes: all temporaries. The parameter `blocks` is the number of blocks in the tile's partition; with 0 it has as many as in an
 * even pattern, which the planner assumes. */
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
