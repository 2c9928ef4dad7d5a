/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_sums.c - operators that add up: products, softmax, reductions, running sums, and losses that are outputs like
 * others.
 *
 * A loss compares classes with one-hot labels, which PopLibs' encodeOneHot makes. A label that is not a class, as
 * ignored labels often are, has none and counts as zero.
 *     loss of a row = -(sum of one-hot x logarithms of probabilities) x the label's weight, or 0 if it is ignored
 *     mean = sum of losses / sum of weights
 */
#include "workloads/onnx/onnx_mapper.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- products ------------------------------------------------------------------------------------------------------ */

/* A matrix as a weight, or a view of a tensor without its leading dimensions of 1. */
static uint32_t matrix(struct mapper *p, uint32_t value, bool transposed)
{
    const struct onnx_value *v = &p->m->values[value];
    uint64_t rows = v->dims[v->n_dims - 2], columns = v->dims[v->n_dims - 1];
    if (!v->constant)
        return map_as_plain(p, value);
    return map_weight(p, value, transposed ? ONNX_MATRIX_TRANSPOSED : ONNX_AS_IS, 2,
                      transposed ? (uint64_t[]){ columns, rows } : (uint64_t[]){ rows, columns });
}

static uint32_t gemm_product(struct mapper *p, bool ta, bool tb, bool fixed)
{
    if (map_reads_sparse(p))
        return ta ? (MAP_REFUSE(p, "transA with a sparse matrix; transpose it before"), NO_ID) : map_sparse_factor(p, tb);
    uint32_t a = map_as_plain(p, map_in_id(p, 0)), b = a == NO_ID ? NO_ID : matrix(p, map_in_id(p, 1), tb && fixed);
    if (b == NO_ID)
        return NO_ID;
    if (ta)
        a = map_emit1(p, OP_TRANSPOSE, a, WITH(.order = { 1, 0 }));
    return map_emit2(p, OP_MATMUL, a, b, WITH(.transpose_b = tb && !fixed));
}

bool map_gemm(struct mapper *p)
{
    bool ta = onnx_flag(p->n, "transA", false), tb = onnx_flag(p->n, "transB", false), fixed = map_in(p, 1)->constant;
    double alpha = onnx_float(p->n, "alpha", 1), beta = onnx_float(p->n, "beta", 1);
    uint32_t y = gemm_product(p, ta, tb, fixed);
    if (y == NO_ID)
        return false;
    y = map_scaled(p, y, alpha);
    if (map_in_id(p, 2) == NO_ID || beta == 0)
        return map_done(p, 0, y, false);
    uint32_t c = map_as_operand(p, map_in_id(p, 2), false, 2);
    if (c == NO_ID || !map_fits_in(&p->g->tensors[c], &p->g->tensors[y]))
        return c != NO_ID && MAP_REFUSE(p, "its third input does not fit its result");
    return map_done(p, 0, map_added(p, y, map_scaled(p, c, beta)), false);
}

/* Broadcasts the leading dimensions of both operands to each other. */
static void same_stacks(struct mapper *p, uint32_t *a, uint32_t *b)
{
    const struct tensor *x = &p->g->tensors[*a], *y = &p->g->tensors[*b];
    struct op_attributes at[2] = { NO_ATTRIBUTES, NO_ATTRIBUTES };
    bool smaller[2] = { false, false };
    for (uint32_t i = 0; i < x->n_dims; i++) {
        bool stack = i + 2 < x->n_dims;
        at[0].view[i] = stack ? max_u64(x->dims[i], y->dims[i]) : x->dims[i];
        at[1].view[i] = stack ? max_u64(x->dims[i], y->dims[i]) : y->dims[i];
        smaller[0] |= at[0].view[i] != x->dims[i];
        smaller[1] |= at[1].view[i] != y->dims[i];
    }
    *a = smaller[0] ? map_emit1(p, OP_EXPAND, *a, at[0]) : *a;
    *b = smaller[1] ? map_emit1(p, OP_EXPAND, *b, at[1]) : *b;
}

/* The constant matrix that a Transpose turns. The product reads it directly, and may share it. NO_ID: none. */
static uint32_t transposed_constant(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    const struct onnx_node *n = v->constant && v->producer != NO_ID ? &p->m->nodes[v->producer] : NULL;
    return onnx_is(n, ONNX_OP_TRANSPOSE) && v->n_dims == 2 ? n->inputs[0] : NO_ID;
}

/* A vector is a row on the left and a column on the right; the product has one dimension less. */
static bool matmul_vector(struct mapper *p)
{
    const struct onnx_value *va = map_in(p, 0), *vb = map_in(p, 1);
    uint32_t a = map_as_plain(p, map_in_id(p, 0)), b = a == NO_ID ? NO_ID : map_as_plain(p, map_in_id(p, 1));
    if (b == NO_ID)
        return false;
    if (va->n_dims == 1)
        a = VIEW(p, a, 1, va->dims[0]);
    if (vb->n_dims == 1)
        b = VIEW(p, b, vb->dims[0], 1);
    else if (vb->n_dims > 2)
        return MAP_REFUSE(p, "a vector times %u dimensions; unsqueeze it to a matrix", vb->n_dims);
    return map_done(p, 0, map_emit2(p, OP_MATMUL, a, b, NO_ATTRIBUTES), false);
}

bool map_matmul(struct mapper *p)
{
    const struct onnx_value *va = map_in(p, 0), *vb = map_in(p, 1);
    if (va->n_dims < 2 || vb->n_dims < 2)
        return matmul_vector(p);
    if (map_reads_sparse(p))
        return map_done_as(p, "sparse product", map_sparse_factor(p, false), false);
    uint32_t n = max_u32(va->n_dims, vb->n_dims), b_value = map_in_id(p, 1);
    bool flat = vb->constant && onnx_elements(vb) == vb->dims[vb->n_dims - 1] * vb->dims[vb->n_dims - 2];
    bool swapped = p->of[b_value].swapped;
    uint32_t turned = transposed_constant(p, b_value);
    if (turned != NO_ID) {
        swapped = true;
        b_value = turned;
    }
    uint32_t a = flat ? map_as_plain(p, map_in_id(p, 0)) : map_as_operand(p, map_in_id(p, 0), false, n);
    uint32_t b = a == NO_ID ? NO_ID : flat ? matrix(p, b_value, false) : map_as_operand(p, b_value, false, n);
    if (!flat && b != NO_ID)
        same_stacks(p, &a, &b);
    return map_done(p, 0, map_emit2(p, OP_MATMUL, a, b, WITH(.transpose_b = swapped)), false);
}

/* ---- softmax, reductions ------------------------------------------------------------------------------------------------ */

/* A softmax over a middle dimension moves it to the end and back. */
static bool softmax_across(struct mapper *p, uint64_t outer, uint64_t n, uint64_t inner)
{
    uint32_t x = map_any_plain(p, map_in_id(p, 0));
    x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, n, inner }, .order = { 0, 2, 1 }));
    x = map_emit1(p, OP_SOFTMAX, x, NO_ATTRIBUTES);
    if (onnx_is(p->n, ONNX_OP_LOG_SOFTMAX))
        x = map_emit_function(p, FUNCTION_LOG, x);
    x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, inner, n }, .order = { 0, 2, 1 }));
    return map_done_as(p, "softmax between transpositions", x, false);
}

/* Up to opset 12 the dimensions from the axis on are one row; from 13 on the axis alone is. */
bool map_softmax(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool rows = p->m->opset < 13, image = map_is_image(p, map_in_id(p, 0));
    uint32_t axis;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", rows ? 1 : -1), v->n_dims))
        return MAP_REFUSE(p, "axis is out of range");
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis, v->n_dims);
    if (!rows && inner != v->dims[axis] && !(image && axis == 1))
        return softmax_across(p, outer, v->dims[axis], inner / v->dims[axis]);
    bool channels = image && axis == 1 && (!rows || inner == v->dims[1]);
    uint32_t x = channels ? map_as_image(p, map_in_id(p, 0)) : map_any_plain(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    if (!channels && p->g->tensors[x].dims[p->g->tensors[x].n_dims - 1] != inner)
        x = VIEW(p, x, outer, inner);
    x = map_emit1(p, OP_SOFTMAX, x, NO_ATTRIBUTES);
    if (onnx_is(p->n, ONNX_OP_LOG_SOFTMAX))
        x = map_emit_function(p, FUNCTION_LOG, x);
    return map_done(p, 0, x, channels);
}

static bool reduced_axes(const struct mapper *p, uint32_t *gone)
{
    struct onnx_list axes;
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis;
    *gone = 0;
    if (!onnx_list(&axes, p->m, p->n, "axes", 1))
        return false;
    for (uint32_t i = 0; i < axes.n; i++)
        if (onnx_axis(&axis, axes.at[i], v->n_dims))
            *gone |= 1u << axis;
    if (!*gone && !onnx_flag(p->n, "noop_with_empty_axes", false))
        *gone = (1u << v->n_dims) - 1;
    return true;
}

/* Multiplies along n of [outer, n, inner], as no pool does: halves are multiplied until one is left; an odd element joins the next round. */
static uint32_t multiplied_run(struct mapper *p, uint32_t x, uint64_t outer, uint64_t n, uint64_t inner)
{
    x = VIEW(p, x, outer, n, inner);
    while (n > 1) {
        uint64_t half = n / 2;
        uint32_t a = map_emit1(p, OP_SLICE, x, WITH(.axis = 1, .length = half));
        uint32_t b = map_range(p, x, 1, half, half);
        uint32_t both = map_emit2(p, OP_MUL, a, b, NO_ATTRIBUTES);
        uint32_t odd = n % 2 ? map_range(p, x, 1, n - 1, 1) : NO_ID;
        x = odd == NO_ID ? both : map_emit2(p, OP_CONCAT, both, odd, WITH(.axis = 1));
        n -= half;
    }
    return x;
}

uint32_t map_pooled(struct mapper *p, uint32_t x, uint64_t outer, uint64_t n, uint64_t inner, enum op_kind kind)
{
    if (n > UINT32_MAX) {
        MAP_REFUSE(p, "over %ju elements, at most %u", (uintmax_t)n, UINT32_MAX);
        return NO_ID;
    }
    if (kind == OP_MUL)
        return multiplied_run(p, x, outer, n, inner);
    x = VIEW(p, x, outer, n, 1, inner);
    return map_emit1(p, kind, x, WITH(.kernel_h = (uint32_t)n, .kernel_w = 1, .stride = 1));
}

/* Pools the first run of neighbouring dimensions in *gone, and removes it from there. */
static uint32_t pooled_run(struct mapper *p, uint32_t x, uint64_t *dims, uint32_t n, uint32_t *gone, enum op_kind kind)
{
    uint32_t first = (uint32_t)__builtin_ctz(*gone), last = first;
    uint64_t outer = 1, mid = 1, inner = 1;
    while (*gone >> (last + 1) & 1)
        last++;
    for (uint32_t i = 0; i < n; i++) {
        *(i < first ? &outer : i <= last ? &mid : &inner) *= dims[i];
        dims[i] = i >= first && i <= last ? 1 : dims[i];
        *gone &= i >= first && i <= last ? ~(1u << i) : UINT32_MAX;
    }
    return map_pooled(p, x, outer, mid, inner, kind);
}

uint32_t map_mean(struct mapper *p, uint32_t x, uint64_t *dims, uint32_t n, uint32_t gone)
{
    return pooled_run(p, x, dims, n, &gone, OP_AVERAGE_POOL);
}

static uint32_t map_row_sums(struct mapper *p, uint32_t x, uint64_t rows, uint64_t n)
{
    uint64_t dims[] = { rows, n };
    uint32_t last = 2;
    x = map_scaled(p, pooled_run(p, x, dims, 2, &last, OP_AVERAGE_POOL), (double)n);
    return VIEW(p, x, rows, 1);
}

bool map_reduce(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    const struct onnx_operator *r = p->n->op;
    uint32_t gone, n = v->n_dims;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!reduced_axes(p, &gone))
        return MAP_REFUSE(p, "its axes are computed while the model runs");
    bool image = map_is_image(p, map_in_id(p, 0)) && gone == (1u << n) - 4 && r->kind != OP_MUL;
    uint32_t x = image ? map_as_image(p, map_in_id(p, 0)) : map_any_plain(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    memcpy(dims, v->dims, sizeof dims);
    x = r->before == NO_FUNCTION ? x : map_emit_function(p, (enum op_function)r->before, x);
    if (image)
        x = map_emit1(p, r->kind, x, WITH(.kernel_h = (uint32_t)p->g->tensors[x].dims[1], .kernel_w = (uint32_t)p->g->tensors[x].dims[2], .stride = 1));
    while (!image && gone && x != NO_ID)
        x = pooled_run(p, x, dims, n, &gone, r->kind);
    x = r->sum ? map_scaled(p, x, (double)(onnx_elements(v) / onnx_elements(y))) : x;
    x = r->after == NO_FUNCTION ? x : map_emit_function(p, (enum op_function)r->after, x);
    return map_done(p, 0, x, image && y->n_dims == n);
}

/* The last maximum of each row: the highest column number among elements that equal the maximum. */
static uint32_t last_largest(struct mapper *p, uint32_t x, uint64_t rows, uint64_t n)
{
    uint64_t dims[] = { rows, n }, ends[] = { rows, n };
    uint32_t last = 2, again = 2;
    x = map_view(p, x, 2, dims);
    uint32_t most = VIEW(p, pooled_run(p, x, ends, 2, &last, OP_MAX_POOL), rows, 1);
    x = map_combined(p, FUNCTION_EQUAL, x, most);
    x = map_emit1(p, OP_CAST, x, WITH(.to_type = TYPE_INT32));
    uint32_t numbers = map_numbers(p, "columns", TYPE_INT32, n);
    return pooled_run(p, map_emit2(p, OP_MUL, x, numbers, NO_ATTRIBUTES), dims, 2, &again, OP_MAX_POOL);
}

/* A middle dimension is moved to the end. The minimum is the maximum of the negated input. */
bool map_arg_max(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis = map_axis(p, 0, v->n_dims), x = map_any_plain(p, map_in_id(p, 0));
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis + 1, v->n_dims);
    uint64_t length = v->dims[axis];
    if (inner > 1)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, length, inner }, .order = { 0, 2, 1 }));
    else
        x = VIEW(p, x, outer, length);
    if (onnx_is(p->n, ONNX_OP_ARG_MIN))
        x = map_emit_function(p, FUNCTION_NEGATE, x);
    bool last = onnx_flag(p->n, "select_last_index", false);
    x = last ? last_largest(p, x, outer * inner, length) : map_emit1(p, OP_ARG_MAX, x, NO_ATTRIBUTES);
    return map_done_as(p, "arg-max", x, false);
}

/* Running sums are a product with a triangle of ones, as in PopART (willow/src/popx/op/cumsumx.cpp). */
bool map_cumsum(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    uint32_t axis;
    if (!onnx_is_known_number(at) || !onnx_axis(&axis, onnx_whole(at->known[0]), v->n_dims))
        return MAP_REFUSE(p, "its axis is computed while the model runs, or out of range");
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis + 1, v->n_dims);
    uint64_t n = v->dims[axis];
    uint32_t x = map_any_plain(p, map_in_id(p, 0));
    if (x == NO_ID || n > 1u << 16)
        return x != NO_ID && MAP_REFUSE(p, "sums over %ju elements, at most %u", (uintmax_t)n, 1u << 16);
    enum data_type type = p->g->tensors[x].type;
    x = map_of_type(p, x, p->o->type);
    x = inner == 1 ? VIEW(p, x, outer, n)
                   : map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, n, inner }, .order = { 0, 2, 1 }));
    uint32_t ones = graph_tensor(p->g, "triangle", ROLE_STATE, p->o->type, 2, (uint64_t[]){ n, n });
    struct onnx_source *s = map_source(p, ones, ONNX_TRIANGLE, NO_ID);
    s->number = onnx_flag(p->n, "exclusive", false);
    s->turned = onnx_flag(p->n, "reverse", false);
    x = map_emit2(p, OP_MATMUL, x, ones, NO_ATTRIBUTES);
    if (inner != 1)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, inner, n }, .order = { 0, 2, 1 }));
    return map_done(p, 0, map_of_type(p, x, type), false);
}

/* Multiplies each matrix by a triangle of ones that is stored on the chip. */
bool map_triangle(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *k = map_in(p, 1);
    uint32_t x = v->n_dims < 2 ? NO_ID : map_as_plain(p, map_in_id(p, 0)), n = v->n_dims;
    uint64_t dims[MAX_DIMS] = { 1, 1, 1 };         /* dimensions of 1 come first */
    if (x == NO_ID || (k && !onnx_is_known_number(k)))
        return MAP_REFUSE(p, "its diagonal is computed while the model runs, or its input is not a matrix");
    dims[n - 1] = v->dims[n - 1];
    dims[n - 2] = v->dims[n - 2];
    uint32_t ones = graph_tensor(p->g, "triangle", ROLE_STATE, p->g->tensors[x].type, n, dims);
    struct onnx_source *s = map_source(p, ones, ONNX_TRIANGLE, NO_ID);
    s->number = k ? k->known[0] : 0;
    s->turned = !onnx_flag(p->n, "upper", true);
    if (s->turned)
        s->number = -s->number;
    return map_done(p, 0, map_emit2(p, OP_MUL, x, ones, NO_ATTRIBUTES), false);
}

/* ---- losses ---------------------------------------------------------------------------------------------------------------- */

struct loss { uint64_t rows, classes; uint32_t labels, hot; };

/* Input 0, [batch, classes, ...], as [rows, classes]. NO_ID if refused. */
static uint32_t rows_of_classes(struct mapper *p, uint64_t inner)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t x = map_any_plain(p, map_in_id(p, 0));
    if (x != NO_ID && inner > 1)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { v->dims[0], v->dims[1], inner }, .order = { 0, 2, 1 }));
    return x == NO_ID ? NO_ID : VIEW(p, x, onnx_elements(v) / v->dims[1], v->dims[1]);
}

static uint32_t row_product(struct mapper *p, uint32_t x, uint32_t y)
{
    return map_emit2(p, OP_MUL, x, y, NO_ATTRIBUTES);
}

/* For each row, 1 unless its label is the ignored one. */
static uint32_t counted(struct mapper *p, const struct loss *l, int64_t ignored)
{
    uint32_t number = graph_tensor(p->g, "ignored", ROLE_STATE, p->g->tensors[l->labels].type, 2, (uint64_t[]){ 1, 1 });
    map_source(p, number, ONNX_NUMBER, NO_ID)->number = (double)ignored;
    uint32_t labels = VIEW(p, l->labels, l->rows, 1);
    uint32_t same = map_combined(p, FUNCTION_EQUAL, labels, number);
    same = map_emit1(p, OP_CAST, same, WITH(.to_type = p->g->tensors[l->hot].type));
    return map_shifted(p, map_scaled(p, same, -1), 1);
}

/* The weight of each row's label, [rows, 1]. NO_ID: all are 1. */
static uint32_t row_weights(struct mapper *p, const struct loss *l, uint32_t by_class)
{
    uint32_t weights = NO_ID;
    if (by_class != NO_ID) {
        by_class = VIEW(p, by_class, 1, l->classes);
        weights = map_row_sums(p, row_product(p, l->hot, by_class), l->rows, l->classes);
    }
    const Onnx__AttributeProto *ignored = onnx_attribute(p->n, "ignore_index");
    if (!ignored)
        return weights;
    uint32_t kept = counted(p, l, ignored->i);
    return weights == NO_ID ? kept : row_product(p, weights, kept);
}

/* Applies the reduction: none, sum, or mean. */
static uint32_t reduced(struct mapper *p, const struct loss *l, uint32_t losses, uint32_t weights)
{
    const char *reduction = onnx_string(p->n, "reduction", "mean", p->m->arena);
    if (text_is(reduction, "none"))
        return losses;
    uint32_t sum = map_row_sums(p, losses, 1, l->rows);
    if (text_is(reduction, "sum"))
        return sum;
    if (weights == NO_ID)
        return map_scaled(p, sum, 1 / (double)l->rows);
    return map_combined(p, FUNCTION_DIVIDE, sum, map_row_sums(p, weights, 1, l->rows));
}

static bool check_loss(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *weights = map_in(p, 2);
    if (v->n_dims < 2 || onnx_elements(map_in(p, 1)) != onnx_elements(v) / v->dims[1] || (weights && onnx_elements(weights) != v->dims[1]))
        return MAP_REFUSE(p, "wants one label for each row of classes, and a weight a class");
    if (onnx_elements(v) > UINT32_MAX)
        return MAP_REFUSE(p, "of %ju shares, at most %u", (uintmax_t)onnx_elements(v), UINT32_MAX);
    return true;
}

bool map_loss(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool softmax = onnx_is(p->n, ONNX_OP_SOFTMAX_LOSS);
    if (!check_loss(p))
        return false;
    struct loss l = { .rows = onnx_elements(map_in(p, 1)), .classes = v->dims[1] };
    uint64_t inner = v->dims[0] ? l.rows / v->dims[0] : 0;
    bool weighted = map_in(p, 2) != NULL;
    uint32_t x = rows_of_classes(p, inner), by_class = weighted ? map_any_plain(p, map_in_id(p, 2)) : NO_ID;
    l.labels = x == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 1));
    if (l.labels == NO_ID || (weighted && by_class == NO_ID))
        return false;
    x = softmax ? map_emit_function(p, FUNCTION_LOG, map_emit1(p, OP_SOFTMAX, x, NO_ATTRIBUTES)) : x;
    l.hot = map_ones_at(p, l.labels, l.rows, l.classes, p->g->tensors[x].type);
    uint32_t losses = map_scaled(p, map_row_sums(p, row_product(p, l.hot, x), l.rows, l.classes), -1), weights = row_weights(p, &l, by_class);
    uint32_t y = reduced(p, &l, weights == NO_ID ? losses : row_product(p, losses, weights), weights);
    if (map_is_wanted(p, 1) && inner > 1)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { v->dims[0], inner, l.classes }, .order = { 0, 2, 1 }));
    p->into = "one-hot, sums";
    return map_done(p, 1, x, false) && map_done(p, 0, y, false);
}
