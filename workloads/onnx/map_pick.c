/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_pick.c - operators that pick or place elements by index, and one-hot encodings.
 *
 * All picking is a gather of rows from a table, as PopLibs' multiSlice is; indices of several dimensions are combined
 * into one number first. A scatter with reduction max is refused in training: its gradient is not modelled.
 */
#include "workloads/onnx/onnx_mapper.h"
#include <assert.h>

/* A single known row is a slice. */
static bool gather_one(struct mapper *p, uint32_t axis, double index)
{
    const struct onnx_value *v = map_in(p, 0);
    bool image = map_is_image_along(p, map_in_id(p, 0), axis) && map_in(p, 1)->n_dims > 0;
    double at = index < 0 ? index + (double)v->dims[axis] : index;
    if (!(at >= 0 && at < (double)v->dims[axis]))
        return MAP_REFUSE(p, "takes row %g of %ju", index, (uintmax_t)v->dims[axis]);
    uint32_t x = map_in_layout(p, map_in_id(p, 0), image);
    uint32_t piece = map_piece(p, image);
    p->into = "slice";
    x = piece != NO_ID ? piece : map_emit1(p, OP_SLICE, x, WITH(.axis = map_layout_axis(axis, image, v->n_dims), .begin = (uint64_t)at, .length = 1));
    return map_done(p, 0, x, image);
}

/* Rows along a later axis are brought to the front, as PopART does (graphcore/popart at d2f20d78, popx/op/gatherx.cpp: dimRoll): one lookup takes all of
   them. */
bool map_gather(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    uint32_t axis = map_axis(p, 0, v->n_dims);
    if (onnx_is_known_number(at) && !v->constant)
        return gather_one(p, axis, at->known[0]);
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis + 1, v->n_dims);
    uint64_t rows = v->dims[axis], n = onnx_elements(at);
    uint32_t table = v->constant && axis == 0 ? map_weight(p, map_in_id(p, 0), ONNX_AS_IS, 2, (uint64_t[]){ rows, inner })
                                              : map_any_plain(p, map_in_id(p, 0));
    uint32_t index = table == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 1));
    if (index == NO_ID)
        return false;
    if (outer > 1)
        table = map_emit1(p, OP_TRANSPOSE, table, WITH(.view = { outer, rows, inner }, .order = { 1, 0, 2 }));
    table = VIEW(p, table, rows, outer * inner);
    index = VIEW(p, index, n);
    uint32_t y = map_emit2(p, OP_GATHER, table, index, NO_ATTRIBUTES);
    if (outer > 1)
        y = map_emit1(p, OP_TRANSPOSE, y, WITH(.view = { n, outer, inner }, .order = { 1, 0, 2 }));
    return map_done(p, 0, y, false);
}

/* Moves an axis to the end: [outer, n, inner] to [outer, inner, n]. */
static uint32_t axis_last(struct mapper *p, uint32_t x, const struct onnx_value *v, uint32_t axis)
{
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis + 1, v->n_dims);
    return inner == 1 ? x : map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, v->dims[axis], inner }, .order = { 0, 2, 1 }));
}

uint32_t map_read_id(const struct onnx_model *m, const struct onnx_node *n, uint32_t i)
{
    const struct onnx_value *v = onnx_in(m, n, i), *x = onnx_in(m, n, 0);
    const struct onnx_node *by = v && v->producer != NO_ID ? &m->nodes[v->producer] : NULL;
    const struct onnx_value *column = i == 1 && onnx_has(n, ONNX_PICKS_ELEMENTS) && onnx_has(by, ONNX_REPEATS) ? onnx_in(m, by, 0) : NULL;
    uint32_t axis;
    if (!column || v->n_dims < 2 || column->n_dims != v->n_dims || column->dims[0] != v->dims[0] || onnx_elements(column) != v->dims[0] ||
        !onnx_axis(&axis, onnx_int(n, "axis", 0), v->n_dims) || axis != 0 || x->n_dims != v->n_dims ||
        onnx_elements_between(x, 1, x->n_dims) != onnx_elements_between(v, 1, v->n_dims))
        return i < n->n_inputs ? n->inputs[i] : NO_ID;
    return by->inputs[0];
}

/* Each row along the axis is a table with rows of one element; an index for whole rows needs one table. */
bool map_gather_elements(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    uint32_t axis = map_axis(p, 0, v->n_dims);
    uint64_t n = v->dims[axis], rows = onnx_elements(v) / n, wanted = at->dims[axis], outer = onnx_elements_between(v, 0, axis);
    if (onnx_elements(at) != rows * wanted)
        return MAP_REFUSE(p, "along dimension %u, of a part of the others; want all of them", axis);
    uint32_t x = map_any_plain(p, map_in_id(p, 0)), index = x == NO_ID ? NO_ID : map_any_plain(p, map_read_id(p->m, p->n, 1));
    if (map_read_id(p->m, p->n, 1) != map_in_id(p, 1))
        return map_done(p, 0, map_emit2(p, OP_GATHER, VIEW(p, x, n, rows), VIEW(p, index, wanted), NO_ATTRIBUTES), false);
    x = VIEW(p, axis_last(p, x, v, axis), rows, n, 1);
    index = VIEW(p, axis_last(p, index, at, axis), rows, wanted);
    x = map_emit2(p, OP_GATHER, x, index, NO_ATTRIBUTES);
    if (rows != outer)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { outer, rows / outer, wanted }, .order = { 0, 2, 1 }));
    return map_done_as(p, "gather", x, false);
}

/* Turns indices [n, deep] into row numbers: the sum of each column times its stride in rows. */
static uint32_t row_numbers(struct mapper *p, uint32_t index, uint64_t n, uint64_t deep, const uint64_t *dims)
{
    uint32_t sum = NO_ID;
    uint64_t passed = 1;
    index = VIEW(p, index, n, deep);
    for (uint64_t d = deep; d-- > 0; passed *= dims[d]) {
        uint32_t column = deep == 1 ? index : map_emit1(p, OP_SLICE, index, WITH(.axis = 1, .begin = d, .length = 1));
        column = passed == 1 ? column : map_emit1(p, OP_SCALE, column, WITH(.rate = (double)passed));
        sum = sum == NO_ID ? column : map_emit2(p, OP_ADD, sum, column, NO_ATTRIBUTES);
    }
    return VIEW(p, sum, n);
}

bool map_gather_nd(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    uint32_t batch_dims = (uint32_t)onnx_int(p->n, "batch_dims", 0);
    uint64_t deep = at->dims[at->n_dims - 1], batch = onnx_elements_between(v, 0, batch_dims);
    uint64_t rows = onnx_elements_between(v, batch_dims, batch_dims + (uint32_t)deep);
    assert(deep && rows);               /* empty operands are refused before */
    uint64_t inner = onnx_elements(v) / rows / batch, n = onnx_elements(at) / deep;
    uint32_t table = map_any_plain(p, map_in_id(p, 0)), index = table == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 1));
    index = row_numbers(p, index, n, deep, v->dims + batch_dims);
    table = batch_dims ? VIEW(p, table, batch, rows, inner) : VIEW(p, table, rows, inner);
    index = batch_dims ? VIEW(p, index, batch, n / batch) : index;
    return map_done(p, 0, map_emit2(p, OP_GATHER, table, index, NO_ATTRIBUTES), false);
}

/* Moves the last axis back to its place. */
static uint32_t axis_back(struct mapper *p, uint32_t y, const struct onnx_value *v, uint32_t axis)
{
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis + 1, v->n_dims);
    return inner == 1 ? y : map_emit1(p, OP_TRANSPOSE, y, WITH(.view = { outer, inner, v->dims[axis] }, .order = { 0, 2, 1 }));
}

/* ---- scattering --------------------------------------------------------------------------------------------------------- */

/* PopLibs has updates that replace, add and take the maximum. The minimum is the maximum of what is negated. */
struct scatter_way { const char *reduction; enum scatter_how how; bool negated; };

static const struct scatter_way *scatter_way(struct mapper *p)
{
    static const struct scatter_way ways[] = {
        { "none", SCATTER_REPLACE, false }, { "add", SCATTER_ADD, false }, { "max", SCATTER_MAXIMUM, false }, { "min", SCATTER_MAXIMUM, true } };
    const char *reduction = onnx_string(p->n, "reduction", "none", p->m->arena);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (text_is(ways[i].reduction, reduction) && (p->o->inference || ways[i].how != SCATTER_MAXIMUM))
            return &ways[i];
    MAP_REFUSE(p, "with reduction %.20s is not modelled; none and add are, and in inference max and min", reduction);
    return NULL;
}

static uint32_t scattered(struct mapper *p, const struct scatter_way *way, uint32_t in[3])
{
    for (int i = 0; i < 3 && way->negated; i += 2)
        in[i] = map_emit_function(p, FUNCTION_NEGATE, in[i]);
    uint32_t y = map_emit(p, OP_SCATTER, in, 3, WITH(.scatter = way->how));
    return way->negated ? map_emit_function(p, FUNCTION_NEGATE, y) : y;
}

static bool plain_inputs(struct mapper *p, uint32_t in[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = map_any_plain(p, map_read_id(p->m, p->n, i));
        if (in[i] == NO_ID)
            return false;
    }
    return true;
}

/* Each row along the axis is a table with rows of one element. */
bool map_scatter(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    const struct scatter_way *way = scatter_way(p);
    uint32_t axis, in[3];
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", 0), v->n_dims) || at->n_dims != v->n_dims || onnx_elements(at) != onnx_elements(map_in(p, 2)))
        return MAP_REFUSE(p, "axis is out of range, or there are not as many updates as indices");
    if (!way || !plain_inputs(p, in))
        return false;
    uint64_t n = v->dims[axis], rows = onnx_elements(v) / n, wanted = at->dims[axis];
    if (onnx_elements(at) != rows * wanted)
        return MAP_REFUSE(p, "along dimension %u, of a part of the others; want all of them", axis);
    if (map_read_id(p->m, p->n, 1) != map_in_id(p, 1)) {
        in[0] = VIEW(p, in[0], n, rows);
        in[1] = VIEW(p, in[1], wanted);
        in[2] = VIEW(p, in[2], wanted, rows);
        return map_done(p, 0, scattered(p, way, in), false);
    }
    in[0] = VIEW(p, axis_last(p, in[0], v, axis), rows, n, 1);
    in[1] = VIEW(p, axis_last(p, in[1], at, axis), rows, wanted);
    in[2] = VIEW(p, axis_last(p, in[2], at, axis), rows, wanted, 1);
    uint32_t y = axis_back(p, scattered(p, way, in), v, axis);
    return map_done_as(p, "scatter", y, false);
}

bool map_scatter_nd(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *at = map_in(p, 1);
    const struct scatter_way *way = scatter_way(p);
    uint32_t in[3];
    if (!way || !plain_inputs(p, in))
        return false;
    uint64_t deep = at->n_dims ? at->dims[at->n_dims - 1] : 0;
    if (deep == 0 || deep > v->n_dims)
        return MAP_REFUSE(p, "its indices name %ju of %u dimensions", (uintmax_t)deep, v->n_dims);
    uint64_t rows = onnx_elements_between(v, 0, (uint32_t)deep);
    assert(deep && rows);               /* empty operands are refused before */
    uint64_t inner = onnx_elements(v) / rows, n = onnx_elements(at) / deep;
    if (onnx_elements(map_in(p, 2)) != n * inner)
        return MAP_REFUSE(p, "has %ju updates, want %ju", (uintmax_t)onnx_elements(map_in(p, 2)), (uintmax_t)(n * inner));
    in[0] = VIEW(p, in[0], rows, inner);
    in[1] = row_numbers(p, in[1], n, deep, v->dims);
    in[2] = VIEW(p, in[2], n, inner);
    uint32_t y = scattered(p, way, in);
    return map_done_as(p, "scatter", y, false);
}

/* Finds the indices and gathers the values by them. The smallest are the largest of the negated input. */
bool map_top_k(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0) ? map_out(p, 0) : map_out(p, 1);
    uint32_t axis = map_axis(p, -1, v->n_dims), x = map_any_plain(p, map_in_id(p, 0));
    uint64_t n = v->dims[axis], rows = onnx_elements(v) / n, k = y->dims[axis];
    x = axis_last(p, x, v, axis);
    uint32_t keys = VIEW(p, onnx_flag(p->n, "largest", true) ? x : map_emit_function(p, FUNCTION_NEGATE, x), rows, n);
    uint32_t places = map_emit1(p, OP_TOP_K, keys, WITH(.length = k));
    if (map_is_wanted(p, 0)) {
        uint32_t values = map_emit2(p, OP_GATHER, VIEW(p, x, rows, n, 1), places, NO_ATTRIBUTES);
        map_done(p, 0, axis_back(p, values, y, axis), false);
    }
    places = axis_back(p, places, y, axis);
    p->into = "top-k";
    return map_done(p, 1, places, false);
}

/* ---- one-hot ------------------------------------------------------------------------------------------------------------ */

uint32_t map_numbers(struct mapper *p, const char *name, enum data_type type, uint64_t n)
{
    uint32_t numbers = graph_tensor(p->g, name, ROLE_STATE, type, 2, (uint64_t[]){ 1, n });
    map_source(p, numbers, ONNX_COUNT, NO_ID);
    return numbers;
}

/* Compares indices with column numbers, as PopLibs' encodeOneHot does element by element. */
uint32_t map_ones_at(struct mapper *p, uint32_t index, uint64_t rows, uint64_t columns, enum data_type type)
{
    uint32_t numbers = map_numbers(p, "columns", p->g->tensors[index].type, columns);
    index = VIEW(p, index, rows, 1);
    if (columns > 1)
        index = map_emit1(p, OP_EXPAND, index, WITH(.view = { rows, columns }));
    uint32_t y = map_combined(p, FUNCTION_EQUAL, index, numbers);
    return map_of_type(p, y, type);
}

bool map_one_hot(struct mapper *p)
{
    const struct onnx_value *x = map_in(p, 0), *off_on = map_in(p, 2), *y = map_out(p, 0);
    uint32_t axis = map_axis(p, -1, y->n_dims);
    if (!off_on->known || onnx_elements(off_on) != 2)
        return MAP_REFUSE(p, "its two values are computed while the model runs");
    uint32_t index = map_any_plain(p, map_in_id(p, 0));
    if (index == NO_ID)
        return false;
    double off = off_on->known[0], on = off_on->known[1];
    uint32_t hot = map_ones_at(p, index, onnx_elements(x), y->dims[axis], map_type(p, y->type));
    hot = map_shifted(p, map_scaled(p, hot, on - off), off);
    p->into = "one-hot";
    return map_done(p, 0, axis_back(p, hot, y, axis), false);
}

/* One-hot of the first maximum. Up to opset 12 the dimensions from the axis on are one row. */
bool map_hardmax(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool row = p->m->opset < 13;
    uint32_t axis, x;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", row ? 1 : -1), v->n_dims))
        return MAP_REFUSE(p, "axis is out of range");
    if ((x = map_any_plain(p, map_in_id(p, 0))) == NO_ID)
        return false;
    uint64_t n = row ? onnx_elements_between(v, axis, v->n_dims) : v->dims[axis], all = onnx_elements(v);
    x = VIEW(p, row ? x : axis_last(p, x, v, axis), all / n, n);
    x = map_ones_at(p, map_emit1(p, OP_ARG_MAX, x, NO_ATTRIBUTES), all / n, n, map_type(p, v->type));
    p->into = "arg-max, one-hot";
    return map_done(p, 0, row ? x : axis_back(p, x, v, axis), false);
}
