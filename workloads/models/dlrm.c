/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlrm.c - recommendation from tables of categories (Naumov et al. 2019, arXiv 1906.00091), over the 26 categories of Criteo's Terabyte logs.
 *
 * All sizes are those of graphcore-research/notebooks, compressed_dlrm/CompressedDLRM.ipynb: the counts of values, the limit of 5,000 rows a table with which
 * it trains on IPUs (categories beyond it share rows by their hash), 171,392 parameters of the bottom network and 2,197,505 of the top one.
 */
#include "workloads/models/builders.h"

enum { N_CATEGORIES = 26, N_DENSE_FEATURES = 13, HASH_LIMIT = 5000, ROW_WIDTH = 128, N_ROWS_MET = N_CATEGORIES + 1, N_PAIRS = N_ROWS_MET * N_CATEGORIES / 2 };

/* The number of different values of each category. */
static const uint64_t category_values[N_CATEGORIES] = {
    227605432, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 130229467, 3067956, 405282, 10, 2209, 11938, 155, 4, 976, 14, 292775614, 40790948, 187188510,
    590152, 12973, 108, 36,
};

static uint32_t perceptron(struct builder *b, uint32_t x, size_t n, const uint64_t *widths)
{
    for (size_t i = 0; i < n; i++)
        x = build_op1(b, OP_RELU, build_dense(b, x, widths[i], true));
    return x;
}

/* The row of the numbers, followed by a row for each category, each [batch, 1, width]. */
static uint32_t all_rows(struct builder *b, uint32_t numbers, uint64_t width)
{
    uint32_t rows[N_ROWS_MET] = { build_reshape(b, numbers, DIMS(b->batch, 1, width)) };
    const uint64_t limit = b->o->vocabulary ? b->o->vocabulary : HASH_LIMIT, n = max_u64(1, b->o->n_shards);
    uint32_t all = build_input(b, "categories", TYPE_INT32, DIMS(b->batch, N_CATEGORIES));          /* the host sends all categories in one tensor */
    for (uint32_t i = 0; i < N_CATEGORIES; i++) {
        uint32_t mine = graph_op(b->g, OP_SLICE, &all, 1, (struct op_attributes){ .axis = 1, .begin = i, .length = 1 });
        uint32_t table = build_weight(b, "categories", DIMS(ceil_div(min_u64(category_values[i], limit), n), width));
        b->g->tensors[table].sharded = n > 1;
        uint32_t row = build_gather(b, table, build_reshape(b, mine, DIMS(b->batch)));
        rows[i + 1] = build_reshape(b, n > 1 ? build_op1(b, OP_ALL_TO_ALL, row) : row, DIMS(b->batch, 1, width));
    }
    return graph_op(b->g, OP_CONCAT, rows, N_ROWS_MET, (struct op_attributes){ .axis = 1 });
}

/* Products of all pairs of rows: those below the diagonal of each sample's square, read as a table. */
static uint32_t pairs_of(struct builder *b, uint32_t rows)
{
    const uint64_t square = (uint64_t)N_ROWS_MET * N_ROWS_MET;
    uint32_t x = graph_op(b->g, OP_MATMUL, (uint32_t[]){ rows, rows }, 2, (struct op_attributes){ .transpose_b = true });
    x = build_reshape(b, x, DIMS(b->batch, square, 1));
    x = build_gather(b, x, graph_tensor(b->g, "pairs-below", ROLE_STATE, TYPE_INT32, 2, (uint64_t[]){ b->batch, N_PAIRS }));
    return build_reshape(b, x, DIMS(b->batch, N_PAIRS));
}

static bool dlrm_build(struct builder *b, const struct workload *w, struct err *err)
{
    const uint64_t width = b->o->embedding_size ? b->o->embedding_size : ROW_WIDTH;
    if (b->batch % max_u64(1, b->o->n_shards))
        return fail(err, "%s: parallel.micro_batch: %s wants samples that its %ju shards divide", b->o->where, w->name, (uintmax_t)b->o->n_shards);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "numbers");
    uint32_t numbers = perceptron(b, build_input(b, "numbers", b->type, DIMS(b->batch, N_DENSE_FEATURES)), 3, (uint64_t[]){ 512, 256, width });
    build_layer(b, LAYER_BODY, 0, 0, 1, "categories");
    uint32_t rows = all_rows(b, numbers, width);
    build_layer(b, LAYER_BODY, 1, 0, 1, "pairs");
    uint32_t x = graph_op(b->g, OP_CONCAT, (uint32_t[]){ numbers, pairs_of(b, rows) }, 2, (struct op_attributes){ .axis = 1 });
    build_layer(b, LAYER_LAST, 0, 0, 1, "top");
    x = build_dense(b, perceptron(b, x, 4, (uint64_t[]){ 1024, 1024, 512, 256 }), 1, true);
    if (!b->training)
        return build_op1(b, OP_SIGMOID, x), true;
    /* A binary cross-entropy equals that of two classes, one of which has a score of zero. */
    uint32_t none = graph_tensor(b->g, "zeros", ROLE_STATE, b->g->tensors[x].type, 2, b->g->tensors[x].dims);
    build_classes(b, graph_op(b->g, OP_CONCAT, (uint32_t[]){ none, x }, 2, (struct op_attributes){ .axis = 1 }), DIMS(b->batch));
    return true;
}

WORKLOADS(dlrm)
{
    { "dlrm", "recommendation", "DLRM of Criteo Terabyte, at most 5,000 rows a table", "sample", dlrm_build, NULL, 0, NULL, HAS_TABLE | HAS_ROW_WIDTH },
    { 0 }
};
