/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_sparse_tensors.c - ONNX files with sparse initialisers, and PopSparse's operators: places, and what is refused. */
#include "tests/onnx/import.h"

/* x [n, 40] times a sparse 40 x 8, or that times x [8, n], with these elements. */
static struct imported *import_sparse(const int64_t *at, size_t n, size_t n_index_dims, bool first, const char *then)
{
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, first ? "n,8" : "n,40");
    draft_node(d, "Transpose", "x", "turned", "perm=1,0");
    draft_weight(d, "w", DIMS(n));
    Onnx__SparseTensorProto *sparse = ARENA_NEW(&d->arena, Onnx__SparseTensorProto), **all = ARENA_ARRAY(&d->arena, Onnx__SparseTensorProto *, 1);
    *sparse = (Onnx__SparseTensorProto)ONNX__SPARSE_TENSOR_PROTO__INIT;
    sparse->values = d->weights[--d->graph.n_initializer];
    draft_whole(d, "", n * n_index_dims, at);
    sparse->indices = d->weights[--d->graph.n_initializer];
    sparse->indices->n_dims = n_index_dims;
    sparse->indices->dims = memcpy(ARENA_ARRAY(&d->arena, int64_t, 2), (int64_t[]){ (int64_t)n, 2 }, 2 * sizeof(int64_t));
    sparse->dims = memcpy(ARENA_ARRAY(&d->arena, int64_t, 2), (int64_t[]){ 40, 8 }, 2 * sizeof(int64_t));
    sparse->n_dims = 2;
    d->graph.sparse_initializer = memcpy(all, &sparse, sizeof sparse);
    d->graph.n_sparse_initializer = 1;
    draft_node(d, then, first ? "w turned" : "x w", "y", "");
    return import(d, "y", infer);
}

/* Elements as numbers in the whole or as rows and columns; 16 that fill a block of 4 are one. */
static void sparse_initialisers(void **state)
{
    (void)state;
    static const int64_t three[] = { 3, 250, 17 }, pairs[] = { 0, 3, 31, 2, 2, 1 };
    int64_t block[16];
    for (int i = 0; i < 16; i++)
        block[i] = (4 + i / 4) * 8 + 4 + i % 4;
    struct imported *r = import_sparse(three, 3, 1, false, "MatMul");
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_parameters(&r->g), 3);
    assert_int_equal(r->g.ops[0].kind, OP_SPARSE_MATMUL);
    assert_false(r->g.ops[0].at->sparse.dynamic);
    const uint32_t in_order[] = { 3, 17, 250 };
    assert_memory_equal(r->g.ops[0].at->sparse.places, in_order, sizeof in_order);
    done(r);
    r = import_sparse(pairs, 3, 2, false, "MatMul");
    assert_memory_equal(r->g.ops[0].at->sparse.places, in_order, sizeof in_order);
    done(r);
    r = import_sparse(block, 16, 1, true, "MatMul");
    assert_int_equal(r->g.ops[1].at->sparse.block, 4);
    assert_int_equal(r->g.ops[1].at->sparse.places[0], 3);          /* the second row of blocks, its second block */
    assert_true(r->g.ops[1].at->sparse_first && r->g.ops[1].at->sparse.outer == 40);
    done(r);
}

static void sparse_initialisers_refused(void **state)
{
    (void)state;
    static const int64_t twice[] = { 3, 3 }, outside[] = { 3, 320 };
    static const struct { const int64_t *at; const char *then, *message; } cases[] = {
        { twice, "MatMul", "sparse initialiser w: two values have one place" }, { outside, "MatMul", "sparse initialiser w: index 1 lies outside 40 x 8" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct imported *r = import_sparse(cases[i].at, 2, 1, false, cases[i].then);
        if (!strstr(r->err.msg, cases[i].message))
            assert_string_equal(r->err.msg, cases[i].message);
        done(r);
    }
}

/* PopSparse's operators: blocks by elements, or by blocks where places move. */
static void sparse_operators(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "given", ONNX_FLOAT, "n,8");
    draft_node(d, "Transpose", "given", "x", "perm=1,0");
    draft_node(d, "StaticSparseMatmul", "x", "a", "n_rows=12 n_cols=8 block_size=4 rows=8,0 cols=4,0");
    draft_node(d, "StaticDynSparse", "x", "b", "n_rows=12 n_cols=8 block_size=4 rows=2,0 cols=1,0");
    draft_node(d, "Add", "a b", "y", "");
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    const uint32_t places[] = { 5, 0 };
    uint32_t n = 0;
    for (size_t i = 0; i < r->g.n_ops; i++)
        if (r->g.ops[i].kind == OP_SPARSE_MATMUL) {
            assert_int_equal(r->g.ops[i].at->sparse.dynamic, n++);
            assert_memory_equal(r->g.ops[i].at->sparse.places, places, sizeof places);
        }
    assert_int_equal(n, 2);
    assert_int_equal(graph_parameters(&r->g), 0);           /* attributes are constants */
    done(r);
}

static void sparse_operators_refused(void **state)
{
    (void)state;
    static const struct { const char *given, *message; } cases[] = {
        { "block_size=5 rows=8,0 cols=4,0", "12 x 8 in blocks of 5; want blocks of 1, 4, 8 or 16, which divide both, and fewer than 2^32 elements" },
        { "block_size=4 rows=8,0,8 cols=4,0,4", "two blocks have one place" },
        { "block_size=4 rows=8,3 cols=4,0", "block 1 begins at row 3 and column 0; want multiples of 4" },
        { "block_size=4 rows=8,12 cols=4,0", "block 1 lies outside the matrix" },
        { "block_size=4 rows=8,0 cols=4,0 mode=both", "mode 'both'; want sparse_dense or dense_sparse" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_input(d, "given", ONNX_FLOAT, "n,8");
        draft_node(d, "Transpose", "given", "x", "perm=1,0");
        draft_node(d, "StaticSparseMatmul", "x", "y", arena_printf(&d->arena, "n_rows=12 n_cols=8 %s", cases[i].given));
        char message[160];          /* refused() frees the draft, and compares afterwards */
        snprintf(message, sizeof message, "node 1, StaticSparseMatmul 'n1': %s", cases[i].message);
        refused(d, infer, message);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sparse_initialisers), cmocka_unit_test(sparse_initialisers_refused), cmocka_unit_test(sparse_operators), cmocka_unit_test(sparse_operators_refused),
};
TAP_MAIN(tests)
