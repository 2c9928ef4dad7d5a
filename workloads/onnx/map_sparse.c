/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_sparse.c - products with sparse matrices: sparse initialisers, and PopSparse's operators in domain ai.graphcore.
 *
 * A sparse initialiser is a list of elements. Where they are whole blocks of 16, 8 or 4 it is a matrix of blocks, as PopSparse is faster by
 * blocks; else of single elements. StaticSparseMatmul and StaticDynSparse (graphcore-research/notebooks at 6297308, poptorch_static_sparse and
 * poptorch_dynamic_sparse) state blocks, with their first row and column in elements and in blocks. Gradients need a dynamic product.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_shapes.h"

/* Blocks by rows: each with its place, and its elements by rows; values are NULL where the file's numbers are not read. */
struct sparse_matrix { uint64_t rows, columns, block, n; uint32_t *places; double *values; };
struct element { uint64_t row, column; size_t at; };

/* ---- lists of elements ------------------------------------------------------------------------------------------------- */

static int by_size_of_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Counts the blocks that have an element. `places`, which may be NULL, receives the place of each of them, in rising order. */
static uint64_t blocks_with_elements(uint32_t *places, const struct element *all, uint64_t n, uint64_t columns, uint64_t block, struct arena *a)
{
    uint64_t *sorted = ARENA_ARRAY(a, uint64_t, n), n_blocks = 0;
    for (uint64_t i = 0; i < n; i++)
        sorted[i] = all[i].row / block * (columns / block) + all[i].column / block;
    sort_items(sorted, n, sizeof *sorted, by_size_of_number);
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            if (places)
                places[n_blocks] = (uint32_t)sorted[i];
            n_blocks++;
        }
    return n_blocks;
}

static uint64_t largest_block(const struct sparse_matrix *m, const struct element *all, uint64_t n, struct arena *a)
{
    for (uint64_t block = 16; block > 1; block /= 2)
        if (block != 2 && m->rows % block == 0 && m->columns % block == 0 && n % (block * block) == 0
            && blocks_with_elements(NULL, all, n, m->columns, block, a) == n / (block * block))
            return block;
    return 1;
}

static uint64_t block_at(const struct sparse_matrix *m, const struct element *e)
{
    uint32_t place = (uint32_t)(e->row / m->block * (m->columns / m->block) + e->column / m->block);
    uint64_t low = 0, high = m->n;
    while (high - low > 1)
        *(m->places[(low + high) / 2] <= place ? &low : &high) = (low + high) / 2;
    return low;
}

static void fill_blocks(struct sparse_matrix *m, struct element *all, uint64_t n, const double *values, struct arena *a)
{
    SORT_BY(all, n, RISING(struct element, row), RISING(struct element, column));
    m->block = largest_block(m, all, n, a);
    m->n = n / (m->block * m->block);
    m->places = ARENA_ARRAY(a, uint32_t, m->n);
    blocks_with_elements(m->places, all, n, m->columns, m->block, a);
    m->values = values ? ARENA_ARRAY(a, double, n) : NULL;
    for (uint64_t i = 0; i < n && values; i++)
        m->values[(block_at(m, &all[i]) * m->block + all[i].row % m->block) * m->block + all[i].column % m->block] = values[all[i].at];
}

/* Indices are of elements in the dense tensor, or a row and a column each. */
static bool read_initialiser(struct sparse_matrix *m, struct mapper *p, const struct onnx_value *v, bool turned)
{
    struct arena *a = p->m->arena;
    const Onnx__TensorProto *indices = v->sparse->indices;
    double *at = onnx_tensor_contents(indices, UINT64_MAX, a);
    uint64_t n = indices->n_dims > 0 ? (uint64_t)indices->dims[0] : 0, rows = v->dims[0], columns = v->dims[1];
    bool pairs = indices->n_dims == 2;
    if (!at || n == 0 || (pairs && indices->dims[1] != 2) || (uint64_t)v->sparse->values->dims[0] != n || rows * columns > UINT32_MAX)
        return MAP_REFUSE(p, "sparse initialiser %.80s: want as many indices as values, at least one, as elements or as rows and columns, of a matrix of fewer than 2^32 elements", v->name);
    struct element *all = ARENA_ARRAY(a, struct element, n);
    for (uint64_t i = 0; i < n; i++) {
        double row = pairs ? at[2 * i] : floor(at[i] / (double)columns), column = pairs ? at[2 * i + 1] : at[i] - row * (double)columns;
        if (!(row >= 0 && row < (double)rows && column >= 0 && column < (double)columns))
            return MAP_REFUSE(p, "sparse initialiser %.80s: index %" PRIu64 " lies outside %" PRIu64 " x %" PRIu64, v->name, i, rows, columns);
        all[i] = (struct element){ (uint64_t)(turned ? column : row), (uint64_t)(turned ? row : column), i };
    }
    *m = (struct sparse_matrix){ .rows = turned ? columns : rows, .columns = turned ? rows : columns };
    fill_blocks(m, all, n, onnx_tensor_contents(v->sparse->values, UINT64_MAX, a), a);
    return blocks_with_elements(NULL, all, n, m->columns, 1, a) == n || MAP_REFUSE(p, "sparse initialiser %.80s: two values have one place", v->name);
}

/* ---- the product ---------------------------------------------------------------------------------------------------------- */

/* The blocks' values become a constant of their own, which is trained where the file's is. */
static uint32_t values_tensor(struct mapper *p, const struct sparse_matrix *m, const char *name, enum tensor_role role)
{
    const uint64_t dims[] = { m->n, m->block, m->block };
    uint32_t value = onnx_value(p->m, arena_printf(p->m->arena, "%s (blocks)", name)), tensor;
    p->m->values[value].known = m->values;
    tensor = graph_tensor(p->g, name, role, p->o->type, 3, dims);
    map_source(p, tensor, ONNX_AS_IS, value);
    return tensor;
}

static uint32_t sparse_product(struct mapper *p, uint32_t x, const struct sparse_matrix *m, const char *name, bool first, bool dynamic, enum tensor_role role)
{
    const struct sparsity s = { .block = (uint32_t)m->block, .dynamic = dynamic, .inner = first ? m->columns : m->rows, .outer = first ? m->rows : m->columns,
                                .places = m->places, .oversize = 0.3 };
    return map_emit2(p, OP_SPARSE_MATMUL, x, values_tensor(p, m, name, role), WITH(.sparse = s, .sparse_first = first));
}

/* The sparse initialiser that is this value, or whose transpose is this value; NULL if there is neither. */
static const struct onnx_value *sparse_of(const struct mapper *p, uint32_t value, bool *turned)
{
    const struct onnx_value *v = &p->m->values[value];
    const struct onnx_node *n = v->constant && v->producer != NO_ID ? &p->m->nodes[v->producer] : NULL;
    *turned = onnx_is(n, ONNX_OP_TRANSPOSE);
    v = *turned ? &p->m->values[n->inputs[0]] : v;
    return v->sparse ? v : NULL;
}

uint32_t map_sparse_factor(struct mapper *p, bool transposed)
{
    bool turned;
    for (uint32_t i = 0; i < 2; i++) {
        const struct onnx_value *v = sparse_of(p, map_in_id(p, i), &turned);
        struct sparse_matrix m;
        if (!v)
            continue;
        if (i == 0 && (map_in(p, 1)->n_dims != 2 || map_in(p, 1)->constant))
            return MAP_REFUSE(p, "a sparse matrix times %u dimensions or a constant; want a product with a matrix", map_in(p, 1)->n_dims), NO_ID;
        if (!read_initialiser(&m, p, v, turned != (transposed && i == 1)))
            return NO_ID;
        uint32_t x = map_as_plain(p, map_in_id(p, 1 - i));
        return x == NO_ID ? NO_ID : sparse_product(p, x, &m, v->name, i == 0, !p->o->inference, ROLE_WEIGHT);
    }
    return NO_ID;
}

bool map_reads_sparse(const struct mapper *p)
{
    bool turned;
    for (uint32_t i = 0; i < p->n->n_inputs; i++)
        if (p->n->inputs[i] != NO_ID && sparse_of(p, p->n->inputs[i], &turned))
            return true;
    return false;
}

/* ---- PopSparse's operators ------------------------------------------------------------------------------------------------- */

static bool is_dynamic(const struct onnx_node *n) { return text_is(n->written, "StaticDynSparse"); }

static bool is_sparse_first(const struct onnx_node *n, struct arena *a)
{
    return is_dynamic(n) || !text_is(onnx_string(n, "mode", "sparse_dense", a), "dense_sparse");
}

bool infer_sparse_matmul(const struct inference *s)
{
    uint64_t rows = (uint64_t)onnx_int(s->n, "n_rows", 0), columns = (uint64_t)onnx_int(s->n, "n_cols", 0);
    bool first = is_sparse_first(s->n, s->m->arena);
    const char *mode = onnx_string(s->n, "mode", "sparse_dense", s->m->arena);
    if (!text_is(mode, "sparse_dense") && !text_is(mode, "dense_sparse"))
        return REFUSE(s, "mode '%.40s'; want sparse_dense or dense_sparse", mode);
    if (s->x->n_dims != 2 || s->x->dims[first ? 0 : 1] != (first ? columns : rows))
        return REFUSE(s, "its input does not fit a sparse matrix of %" PRIu64 " x %" PRIu64 "%s", rows, columns, infer_batch_hint(s));
    const uint64_t dims[] = { first ? rows : s->x->dims[0], first ? s->x->dims[1] : columns };
    return infer_set(s, 0, 2, dims, s->x->type);
}

static bool places_differ(const struct sparse_matrix *m, struct arena *a)
{
    uint64_t *sorted = ARENA_ARRAY(a, uint64_t, m->n);
    for (uint64_t i = 0; i < m->n; i++)
        sorted[i] = m->places[i];
    sort_items(sorted, m->n, sizeof *sorted, by_size_of_number);
    for (uint64_t i = 1; i < m->n; i++)
        if (sorted[i] == sorted[i - 1])
            return false;
    return true;
}

/* Reads the attributes rows, cols and values, one of each for a block. Places are in elements or, for the dynamic operator, in blocks. */
static bool read_blocks(struct sparse_matrix *m, struct mapper *p)
{
    const Onnx__AttributeProto *rows = onnx_attribute(p->n, "rows"), *columns = onnx_attribute(p->n, "cols"), *values = onnx_attribute(p->n, "values");
    uint64_t b = (uint64_t)onnx_int(p->n, "block_size", 1), unit = is_dynamic(p->n) ? 1 : b;
    *m = (struct sparse_matrix){ .rows = (uint64_t)onnx_int(p->n, "n_rows", 0), .columns = (uint64_t)onnx_int(p->n, "n_cols", 0), .block = b };
    if ((b != 1 && b != 4 && b != 8 && b != 16) || m->rows == 0 || m->columns == 0 || m->rows % b || m->columns % b || m->rows * m->columns > UINT32_MAX)
        return MAP_REFUSE(p, "%" PRIu64 " x %" PRIu64 " in blocks of %" PRIu64 "; want blocks of 1, 4, 8 or 16, which divide both, and fewer than 2^32 elements", m->rows, m->columns, b);
    if (!rows || !columns || rows->n_ints == 0 || rows->n_ints != columns->n_ints || (values && values->n_floats && values->n_floats != rows->n_ints * b * b))
        return MAP_REFUSE(p, "want as many rows as cols, and a block of values for each");
    m->n = rows->n_ints;
    m->places = ARENA_ARRAY(p->m->arena, uint32_t, m->n);
    m->values = values && values->n_floats ? ARENA_ARRAY(p->m->arena, double, values->n_floats) : NULL;
    for (uint64_t i = 0; i < m->n; i++) {
        uint64_t row = (uint64_t)rows->ints[i] / unit, column = (uint64_t)columns->ints[i] / unit;
        if (row >= m->rows / b || column >= m->columns / b)
            return MAP_REFUSE(p, "block %" PRIu64 " lies outside the matrix", i);
        if ((uint64_t)rows->ints[i] % unit || (uint64_t)columns->ints[i] % unit)
            return MAP_REFUSE(p, "block %" PRIu64 " begins at row %" PRIu64 " and column %" PRIu64 "; want multiples of %" PRIu64, i, (uint64_t)rows->ints[i],
                              (uint64_t)columns->ints[i], unit);
        m->places[i] = (uint32_t)(row * (m->columns / b) + column);
    }
    if (!places_differ(m, p->m->arena))
        return MAP_REFUSE(p, "two blocks have one place");
    for (size_t i = 0; m->values && i < values->n_floats; i++)
        m->values[i] = (double)values->floats[i];
    return true;
}

bool map_sparse_matmul(struct mapper *p)
{
    struct sparse_matrix m;
    if (!p->o->inference)
        return MAP_REFUSE(p, "it has no gradient, as its PopART operator has none; use recipe.mode=infer");
    uint32_t x = map_as_plain(p, map_in_id(p, 0));
    if (x == NO_ID || !read_blocks(&m, p))
        return false;
    return map_done(p, 0, sparse_product(p, x, &m, "values", is_sparse_first(p->n, p->m->arena), is_dynamic(p->n), ROLE_STATE), false);
}
