/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_move.c - operators that reorder elements, or view, join, cut, pad and repeat them.
 *
 * Exporters write a split as slices (two halves of a rotary embedding, a chunk of channels) or as numbered rows
 * (query, key and value of one product). A single range is copied. If readers take all ranges of equal length, the
 * value is split once, which moves nothing, and its gradient is joined in one operation instead of one for each range.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_shapes.h"

/* ---- other dimensions ---------------------------------------------------------------------------------------- */

bool map_reshape(struct mapper *p)
{
    const struct onnx_value *x = map_in(p, 0), *y = map_out(p, 0);
    /* an image stays an image if only its spatial dimensions change */
    bool keeps_image = y->n_dims >= 3 && y->n_dims <= 5 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1];
    if (map_is_image(p, map_in_id(p, 0)) && !keeps_image)
        return map_done_as(p, "view", map_any_plain(p, map_in_id(p, 0)), false);
    p->into = "view";
    return map_alias(p);
}

/* Drops dimensions of size 1 and joins those that stay neighbours. Returns how many are left. */
static uint32_t join_dims(uint64_t *view, uint32_t *order, const uint64_t *dims, const uint32_t *perm, uint32_t n)
{
    uint32_t first[ONNX_MAX_DIMS], group[ONNX_MAX_DIMS], n_groups = 0, previous = NO_ID;
    uint64_t size[ONNX_MAX_DIMS];
    for (uint32_t i = 0; i < n; i++) {
        if (dims[perm[i]] == 1)
            continue;
        bool follows = perm[i] > previous;              /* false for the first dimension */
        for (uint32_t d = previous + 1; follows && d < perm[i]; d++)
            follows = dims[d] == 1;
        if (follows) {
            assert(n_groups > 0);
            size[n_groups - 1] *= dims[perm[i]];
        } else {
            first[n_groups] = perm[i];
            size[n_groups++] = dims[perm[i]];
        }
        previous = perm[i];
    }
    for (uint32_t k = 0; k < n_groups; k++) {
        group[k] = 0;
        for (uint32_t q = 0; q < n_groups; q++)
            group[k] += first[q] < first[k];
        order[k] = group[k];
        view[group[k]] = size[k];
    }
    return n_groups;
}

uint32_t map_transposed(struct mapper *p, uint32_t x, const uint64_t *dims, const uint32_t *perm, uint32_t n)
{
    struct op_attributes at = NO_ATTRIBUTES;
    uint32_t left = join_dims(at.view, at.order, dims, perm, n);
    at.merge = max_u32(left, MAX_DIMS) - MAX_DIMS + 1;          /* a view may have more dimensions than a tensor can have */
    return left < 2 ? x : map_emit1(p, OP_TRANSPOSE, x, at);
}

/* The second operand of a product may have rows and columns exchanged, at no cost, unless the first one is sparse. */
static bool feeds_matmul(const struct mapper *p, uint32_t n_dims)
{
    const struct onnx_node *reader = map_only_reader(p, p->n->outputs[0]);
    return n_dims >= 2 && onnx_is(reader, ONNX_OP_MATMUL) && reader->inputs[1] == p->n->outputs[0] &&
           reader->inputs[0] != p->n->outputs[0] && !p->m->values[reader->inputs[0]].sparse;
}

static bool is_order(const uint32_t *perm, uint32_t n, bool to_last)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t want = i == 0 ? 0 : to_last ? (i + 1 < n ? i + 1 : 1) : (i == 1 ? n - 1 : i - 1);
        if (perm[i] != want)
            return false;
    }
    return true;
}

bool map_transpose(struct mapper *p)
{
    struct onnx_list given;
    const struct onnx_value *v = map_in(p, 0);
    uint32_t perm[ONNX_MAX_DIMS], n = v->n_dims, x;
    onnx_list(&given, p->m, p->n, "perm", NO_ID);
    for (uint32_t i = 0; i < n; i++)
        perm[i] = given.n == n ? (uint32_t)given.at[i] : n - 1 - i;
    bool image = map_is_image(p, map_in_id(p, 0));
    p->into = "a change of layout that moves nothing";
    if (image && is_order(perm, n, true))               /* channels last, as the image is stored */
        return map_done(p, 0, map_as_image(p, map_in_id(p, 0)), false);
    x = map_any_plain(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    if (!image && n == 4 && is_order(perm, n, false))   /* channels come first in the file; the graph stores them last */
        return map_done(p, 0, x, true);
    bool swapped = feeds_matmul(p, n);
    if (swapped) {
        uint32_t last = perm[n - 1];
        perm[n - 1] = perm[n - 2];
        perm[n - 2] = last;
    }
    size_t before = p->g->n_ops;
    x = map_transposed(p, x, v->dims, perm, n);
    p->into = p->g->n_ops > before ? "transpose" : swapped ? "the product that reads it" : "view";
    if (!map_done(p, 0, x, false))
        return false;
    p->of[p->n->outputs[0]].swapped = swapped;
    return true;
}

/* ---- joins and cuts ----------------------------------------------------------------------------------------------- */

/* Repeats a constant for one sample for each sample of the batch. */
static uint32_t for_each_sample(struct mapper *p, uint32_t x, const struct onnx_value *v, uint32_t axis)
{
    uint64_t samples = map_out(p, 0)->dims[0];
    struct op_attributes at = NO_ATTRIBUTES;
    if (axis == 0 || v->dims[0] == samples)
        return x;
    const struct tensor *t = &p->g->tensors[x];
    for (uint32_t d = 0; d < t->n_dims; d++)
        at.view[d] = d ? t->dims[d] : samples;
    return map_emit1(p, OP_EXPAND, x, at);
}

bool map_concat(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis = map_axis(p, 0, v->n_dims), parts[MAX_OP_OUTPUTS], n = 0;
    bool image = false;
    for (uint32_t i = 0; i < p->n->n_inputs; i++)
        image |= map_is_image_along(p, map_in_id(p, i), axis);
    for (uint32_t i = 0; i < p->n->n_inputs; i++) {
        if (onnx_elements(map_in(p, i)) == 0)
            continue;
        uint32_t x = map_in_layout(p, map_in_id(p, i), image);
        if (x == NO_ID)
            return false;
        if (n == MAX_OP_OUTPUTS) {      /* an operation takes no more inputs, so the first ones are joined */
            parts[0] = map_emit(p, OP_CONCAT, parts, n, WITH(.axis = map_layout_axis(axis, image, v->n_dims)));
            n = 1;
        }
        parts[n++] = for_each_sample(p, x, map_in(p, i), axis);
    }
    if (n == 0)
        return MAP_REFUSE(p, "joins nothing");
    uint32_t y = n == 1 ? parts[0] : map_emit(p, OP_CONCAT, parts, n, WITH(.axis = map_layout_axis(axis, image, v->n_dims)));
    return map_done(p, 0, y, image);
}

bool map_split(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis = map_axis(p, 0, v->n_dims), n = p->n->n_outputs;
    bool image = map_is_image_along(p, map_in_id(p, 0), axis), equal = n <= MAX_OP_OUTPUTS;
    uint32_t x = map_in_layout(p, map_in_id(p, 0), image), at = map_layout_axis(axis, image, v->n_dims);
    for (uint32_t i = 0; i < n; i++)
        equal &= map_out(p, i) && map_out(p, i)->dims[axis] * n == v->dims[axis];
    if (x == NO_ID)
        return false;
    uint32_t first = equal && n > 1 ? map_emit1(p, OP_SLICE, x, WITH(.axis = at, .pieces = n)) : x;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!map_out(p, i))
            return MAP_REFUSE(p, "leaves output %u out", i);
        uint64_t length = map_out(p, i)->dims[axis];
        uint32_t part = equal ? first + i : length ? map_emit1(p, OP_SLICE, x, WITH(.axis = at, .begin = begin, .length = length)) : NO_ID;
        begin += length;
        if (part != NO_ID && !map_done(p, i, part, image))
            return false;
    }
    return true;
}

/* Every step-th element: the range, padded to a multiple of step, is viewed as pieces of step elements, and the first
 * of each is kept. */
uint32_t map_every_nth(struct mapper *p, uint32_t x, uint32_t axis, uint64_t from, uint64_t n, uint64_t step)
{
    struct tensor t = p->g->tensors[x];
    uint64_t have = min_u64(n * step, t.dims[axis] - from), outer = 1, inner = 1;
    if (have < t.dims[axis])
        x = map_emit1(p, OP_SLICE, x, WITH(.axis = axis, .begin = from, .length = have));
    if (have < n * step)
        x = map_emit1(p, OP_PAD, x, WITH(.axis = axis, .length = n * step));
    for (uint32_t i = 0; i < t.n_dims; i++)
        if (i != axis)
            *(i < axis ? &outer : &inner) *= t.dims[i];
    x = VIEW(p, x, outer, n, step, inner);
    x = map_emit1(p, OP_SLICE, x, WITH(.axis = 2, .length = 1));
    t.dims[axis] = n;
    return map_view(p, x, t.n_dims, t.dims);
}

/* A negative step: the elements one by one, joined in reverse. */
static uint32_t backwards(struct mapper *p, uint32_t x, uint32_t axis, int64_t from, uint64_t n, int64_t step)
{
    uint32_t rows[MAX_OP_OUTPUTS];
    for (uint64_t i = 0; i < n; i++)
        rows[i] = map_emit1(p, OP_SLICE, x, WITH(.axis = axis, .begin = (uint64_t)(from + (int64_t)i * step), .length = 1));
    return n == 1 ? rows[0] : map_emit(p, OP_CONCAT, rows, (uint32_t)n, WITH(.axis = axis));
}

bool map_slice(struct mapper *p)
{
    struct onnx_cuts cuts;
    const struct onnx_value *v = map_in(p, 0);
    bool image = map_is_image_along(p, map_in_id(p, 0), 0);
    uint32_t x = map_in_layout(p, map_in_id(p, 0), image), piece = x == NO_ID ? NO_ID : map_piece(p, image);
    if (piece != NO_ID) {
        p->into = "slice";
        return map_done(p, 0, piece, image);
    }
    if (x == NO_ID || !onnx_cuts(&cuts, p->m, p->n))
        return false;
    for (uint32_t i = 0; i < cuts.n; i++) {
        const struct onnx_cut *c = &cuts.at[i];
        uint32_t axis = map_layout_axis(c->axis, image, v->n_dims);
        bool forwards = c->step >= 1;
        if (c->n == v->dims[c->axis] && forwards)
            continue;
        if (!forwards && c->n > MAX_OP_OUTPUTS)
            return MAP_REFUSE(p, "goes backwards over %ju elements, at most %d; want positive steps", (uintmax_t)c->n, MAX_OP_OUTPUTS);
        if (!forwards)
            x = backwards(p, x, axis, c->from, c->n, c->step);
        else if (c->step > 1 && c->n > 1)
            x = map_every_nth(p, x, axis, (uint64_t)c->from, c->n, (uint64_t)c->step);
        else
            x = map_emit1(p, OP_SLICE, x, WITH(.axis = axis, .begin = (uint64_t)c->from, .length = c->n));
    }
    p->into = p->into ? p->into : "nothing: its input as it is";
    return map_done(p, 0, x, image);
}

/* ---- padding and repeating ---------------------------------------------------------------------------------------------- */

static enum pad_border border_of(const struct mapper *p)
{
    static const struct border { const char *mode; enum pad_border border; } borders[] = {
        { "reflect", BORDER_MIRRORED }, { "edge", BORDER_OUTERMOST }, { "wrap", BORDER_OTHER_END } };
    const char *mode = onnx_string(p->n, "mode", "constant", p->m->arena);
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
        if (text_is(borders[i].mode, mode))
            return borders[i].border;
    return BORDER_NUMBER;
}

bool map_pad(struct mapper *p)
{
    struct onnx_list pads;
    const struct onnx_value *v = map_in(p, 0);
    bool image = map_is_image_along(p, map_in_id(p, 0), 0);
    uint32_t x = map_in_layout(p, map_in_id(p, 0), image);
    const struct onnx_value *with = map_in(p, 2);
    double number = onnx_is_known_number(with) ? with->known[0] : onnx_float(p->n, "value", 0);
    if (x == NO_ID || !onnx_pads(&pads, p->m, p->n, v->n_dims))
        return false;
    const int64_t *ahead = pads.at, *behind = pads.at + v->n_dims;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        int64_t before = ahead[i] > 0 ? ahead[i] : 0, after = behind[i] > 0 ? behind[i] : 0, size = (int64_t)v->dims[i];
        int64_t begin = before - ahead[i], left = size - begin - (after - behind[i]);
        uint32_t axis = map_layout_axis(i, image, v->n_dims);
        if (left < 1)
            return MAP_REFUSE(p, "cuts off all of dimension %u", i);
        if (left < size)                    /* negative pads cut elements off */
            x = map_emit1(p, OP_SLICE, x, WITH(.axis = axis, .begin = (uint64_t)begin, .length = (uint64_t)left));
        if (before || after)
            x = map_emit1(p, OP_PAD, x, WITH(.axis = axis, .begin = (uint64_t)before, .length = (uint64_t)(left + before + after), .rate = number,
                                       .border = border_of(p)));
    }
    return map_done(p, 0, x, image);
}

bool map_expand(struct mapper *p)
{
    const struct onnx_value *y = map_out(p, 0);
    bool image = map_is_image_along(p, map_in_id(p, 0), 0) && y->n_dims == map_in(p, 0)->n_dims;
    uint32_t x = map_as_operand(p, map_in_id(p, 0), image, y->n_dims);
    struct op_attributes at = NO_ATTRIBUTES;
    if (x == NO_ID)
        return false;
    if (tensor_elements(&p->g->tensors[x]) == onnx_elements(y))
        return map_done(p, 0, x, image);
    for (uint32_t i = 0; i < y->n_dims; i++)
        at.view[map_layout_axis(i, image, y->n_dims)] = y->dims[i];
    if (image && y->n_dims == 3)
        at.view[1] = 1;
    return map_done(p, 0, map_emit1(p, OP_EXPAND, x, at), image);
}

/* Dimensions of size 1 are broadcast, others are concatenated copies. */
bool map_tile(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    uint32_t x = map_as_plain(p, map_in_id(p, 0));
    struct op_attributes at = NO_ATTRIBUTES;
    bool repeated = false;
    if (x == NO_ID)
        return false;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        uint64_t times = y->dims[i] / v->dims[i];
        at.view[i] = v->dims[i] == 1 ? y->dims[i] : v->dims[i];
        repeated |= v->dims[i] == 1 && times > 1;
        if (v->dims[i] == 1 || times == 1)
            continue;
        uint32_t copies[MAX_OP_OUTPUTS];
        if (times > MAX_OP_OUTPUTS)
            return MAP_REFUSE(p, "puts %ju copies one behind the other, at most %d", (uintmax_t)times, MAX_OP_OUTPUTS);
        for (uint64_t k = 0; k < times; k++)
            copies[k] = x;
        x = map_emit(p, OP_CONCAT, copies, (uint32_t)times, WITH(.axis = i));
        at.view[i] = y->dims[i];
    }
    return map_done(p, 0, repeated ? map_emit1(p, OP_EXPAND, x, at) : x, false);
}

/* ---- splits that are written as ranges -------------------------------------------------------------------------------------- */

struct row_span { uint32_t axis; uint64_t begin, length; };

/* A Gather of one known row. */
static bool row_range(struct row_span *r, const struct onnx_model *m, const struct onnx_node *n, const struct onnx_value *v)
{
    const struct onnx_value *at = onnx_in(m, n, 1);
    if (!onnx_is_known_number(at) || !onnx_axis(&r->axis, onnx_int(n, "axis", 0), v->n_dims))
        return false;
    double row = at->known[0] + (at->known[0] < 0 ? (double)v->dims[r->axis] : 0);
    if (!(row >= 0 && row < (double)v->dims[r->axis]))
        return false;
    r->begin = (uint64_t)row;
    r->length = 1;
    return true;
}

/* A Slice of one dimension, with step 1. */
static bool slice_range(struct row_span *r, const struct onnx_model *m, const struct onnx_node *n, const struct onnx_value *v)
{
    struct onnx_cuts cuts;
    uint32_t n_cut = 0;
    if (!onnx_cuts(&cuts, m, n) || !cuts.good)
        return false;
    for (uint32_t i = 0; i < cuts.n; i++) {
        const struct onnx_cut *c = &cuts.at[i];
        if (c->step != 1)
            return false;
        if (c->n == v->dims[c->axis])
            continue;
        *r = (struct row_span){ c->axis, (uint64_t)c->from, c->n };
        n_cut++;
    }
    return n_cut == 1;
}

static bool row_span_of(struct row_span *r, const struct onnx_model *m, const struct onnx_node *n, uint32_t value)
{
    const struct onnx_value *v = &m->values[value], *y = n->gone || n->n_inputs == 0 || n->inputs[0] != value ? NULL : onnx_out(m, n, 0);
    if (!y || !y->shaped || y->constant)
        return false;
    return onnx_is(n, ONNX_OP_GATHER) ? row_range(r, m, n, v) : onnx_is(n, ONNX_OP_SLICE) && slice_range(r, m, n, v);
}

/* True if all ranges of this length along this axis have readers. */
static bool covers_all(const struct onnx_model *m, uint32_t value, const struct row_span *like, uint64_t n_pieces)
{
    uint64_t seen = 0;
    uint32_t n_readers = m->values[value].n_readers;
    for (size_t i = m->values[value].producer == NO_ID ? 0 : m->values[value].producer; i < m->n_nodes && n_readers; i++) {
        struct row_span r;
        for (uint32_t k = 0; k < m->nodes[i].n_inputs; k++)
            n_readers -= m->nodes[i].inputs[k] == value;
        if (row_span_of(&r, m, &m->nodes[i], value) && r.axis == like->axis && r.length == like->length && r.begin % r.length == 0)
            seen |= UINT64_C(1) << r.begin / r.length;
    }
    return seen == (UINT64_C(1) << n_pieces) - 1;
}

uint32_t map_piece(struct mapper *p, bool image)
{
    struct row_span r;
    uint32_t value = map_in_id(p, 0);
    const struct onnx_value *v = &p->m->values[value];
    if (!row_span_of(&r, p->m, p->n, value) || v->dims[r.axis] % r.length || r.begin % r.length)
        return NO_ID;
    uint64_t n = v->dims[r.axis] / r.length, piece = r.begin / r.length;
    for (size_t i = 0; i < p->n_divisions; i++)
        if (p->divisions[i].value == value && p->divisions[i].axis == r.axis && p->divisions[i].n == n && p->divisions[i].image == image)
            return p->divisions[i].first + (uint32_t)piece;
    if (n < 2 || n > MAX_OP_OUTPUTS || !covers_all(p->m, value, &r, n))
        return NO_ID;
    uint32_t x = map_in_layout(p, value, image);
    uint32_t first = map_emit1(p, OP_SLICE, x, WITH(.axis = map_layout_axis(r.axis, image, v->n_dims), .pieces = (uint32_t)n));
    if (first == NO_ID)
        return NO_ID;
    ARENA_APPEND(p->m->arena, p->divisions, p->n_divisions, p->cap_divisions, (struct division){ value, r.axis, first, n, image });
    return first + (uint32_t)piece;
}
