/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_tensors.c - values of a file as tensors of the graph: operations, layouts, and constants, of which some are
 * trained.
 */
#include "workloads/onnx/onnx_mapper.h"
#include <assert.h>
#include <string.h>

/* ---- operations ------------------------------------------------------------------------------------------------- */

uint32_t map_emit(struct mapper *p, enum op_kind kind, const uint32_t *inputs, uint32_t n, struct op_attributes at)
{
    for (uint32_t i = 0; i < n; i++)
        if (inputs[i] == NO_ID)
            return NO_ID;
    p->into = op_kind_names[kind];
    return graph_op(p->g, kind, inputs, n, at);
}

uint32_t map_emit1(struct mapper *p, enum op_kind kind, uint32_t x, struct op_attributes at)
{
    return map_emit(p, kind, &x, 1, at);
}

uint32_t map_emit2(struct mapper *p, enum op_kind kind, uint32_t x, uint32_t y, struct op_attributes at)
{
    return map_emit(p, kind, (uint32_t[]){ x, y }, 2, at);
}

uint32_t map_emit_function(struct mapper *p, enum op_function function, uint32_t x)
{
    return map_emit1(p, OP_MAP, x, WITH(.function = function));
}

uint32_t map_combined(struct mapper *p, enum op_function function, uint32_t x, uint32_t y)
{
    return map_emit2(p, OP_COMBINE, x, y, WITH(.function = function));
}

uint32_t map_of_type(struct mapper *p, uint32_t x, enum data_type type)
{
    return x == NO_ID || p->g->tensors[x].type == type ? x : map_emit1(p, OP_CAST, x, WITH(.to_type = type));
}

uint32_t map_range(struct mapper *p, uint32_t x, uint32_t axis, uint64_t begin, uint64_t length)
{
    return map_emit1(p, OP_SLICE, x, WITH(.axis = axis, .begin = begin, .length = length));
}

uint32_t map_clipped(struct mapper *p, uint32_t x, double low, double high)
{
    return map_emit1(p, OP_MAP, x, WITH(.function = FUNCTION_CLIP, .low = low, .high = high));
}

uint32_t map_view(struct mapper *p, uint32_t tensor, uint32_t n_dims, const uint64_t *dims)
{
    const struct tensor *t = tensor == NO_ID ? NULL : &p->g->tensors[tensor];
    struct op_attributes at = NO_ATTRIBUTES;
    assert(n_dims <= MAX_DIMS);
    if (!t || (t->n_dims == n_dims && memcmp(t->dims, dims, n_dims * sizeof *dims) == 0))
        return tensor;
    memcpy(at.view, dims, n_dims * sizeof *dims);
    const char *into = p->into;
    tensor = map_emit1(p, OP_VIEW, tensor, at);
    p->into = into;
    return tensor;
}

/* ---- layouts -------------------------------------------------------------------------------------------------------- */

/* A single spatial dimension is the width: PopLibs puts dimensions of size 1 before it. If there are three, the
 * first two are joined. */
void map_image_dims(uint64_t dims[4], const struct onnx_value *v)
{
    dims[0] = v->dims[0];
    dims[1] = v->n_dims == 5 ? v->dims[2] * v->dims[3] : v->n_dims == 4 ? v->dims[2] : 1;
    dims[2] = v->dims[v->n_dims - 1];
    dims[3] = v->dims[1];
}

bool map_is_image_along(const struct mapper *p, uint32_t value, uint32_t axis)
{
    return map_is_image(p, value) && (p->m->values[value].n_dims < 5 || axis == 1);
}

/* The axis of an image tensor that an axis of the file becomes. */
static uint32_t image_axis(uint32_t axis, uint32_t n_dims)
{
    return axis == 0 ? 0 : axis == 1 ? 3 : n_dims == 3 ? axis : axis - 1;
}

uint32_t map_plain_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v)
{
    dims[0] = 1;
    memcpy(dims, v->dims, v->n_dims * sizeof *dims);
    return v->n_dims ? v->n_dims : 1;
}

uint32_t map_tensor_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v)
{
    uint32_t n = map_plain_dims(dims, v);
    for (; n > MAX_DIMS; n--) {
        dims[0] *= dims[1];
        memmove(&dims[1], &dims[2], (n - 2) * sizeof *dims);
    }
    return n;
}

static bool is_empty(struct mapper *p, uint32_t value)
{
    if (value != NO_ID && onnx_elements(&p->m->values[value]))
        return false;
    MAP_REFUSE(p, "reads a tensor without elements");
    return true;
}

/* A constant gets its tensor when it is first read. */
static uint32_t tensor_of(struct mapper *p, uint32_t value)
{
    struct mapped *at = &p->of[value];
    uint64_t dims[ONNX_MAX_DIMS];
    const struct onnx_value *v = &p->m->values[value];
    if (at->tensor != NO_ID)
        return at->tensor;
    if (!v->constant) {
        MAP_REFUSE(p, "reads %.80s, which has not been made", v->name);
        return NO_ID;
    }
    uint32_t n = map_tensor_dims(dims, v);
    return at->tensor = map_weight(p, value, ONNX_AS_IS, n, dims);
}

static uint32_t between_layouts(struct mapper *p, uint32_t tensor, const struct onnx_value *v, bool to_image)
{
    uint64_t inner = onnx_elements_between(v, 2, v->n_dims), channels = v->dims[1];
    if (inner == 1 || channels == 1)
        return tensor;
    struct op_attributes at = WITH(.view = { v->dims[0], to_image ? channels : inner, to_image ? inner : channels }, .order = { 0, 2, 1 });
    const char *into = p->into;
    tensor = map_emit1(p, OP_TRANSPOSE, tensor, at);
    p->into = into;
    return tensor;
}

static uint32_t view_as_image(struct mapper *p, uint32_t tensor, const struct onnx_value *v)
{
    uint64_t dims[4];
    map_image_dims(dims, v);
    return map_view(p, tensor, sizeof dims / sizeof *dims, dims);
}

uint32_t map_any_plain(struct mapper *p, uint32_t value)
{
    if (is_empty(p, value))
        return NO_ID;
    uint32_t tensor = tensor_of(p, value);
    struct mapped *at = &p->of[value];
    if (tensor == NO_ID || !at->image)
        return tensor;
    if (at->other == NO_ID)
        at->other = between_layouts(p, tensor, &p->m->values[value], false);
    return at->other;
}

uint32_t map_as_plain(struct mapper *p, uint32_t value)
{
    uint32_t tensor = map_any_plain(p, value);
    uint64_t dims[ONNX_MAX_DIMS];
    if (tensor == NO_ID)
        return NO_ID;
    uint32_t n = map_plain_dims(dims, &p->m->values[value]);
    if (p->of[value].swapped) {
        assert(n >= 2);
        uint64_t last = dims[n - 1];
        dims[n - 1] = dims[n - 2];
        dims[n - 2] = last;
    }
    if (n > MAX_DIMS) {
        MAP_REFUSE(p, "reads %.60s, which has %u dimensions, at most %d", p->m->values[value].name, n, MAX_DIMS);
        return NO_ID;
    }
    return map_view(p, tensor, n, dims);
}

uint32_t map_as_image(struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = value == NO_ID ? NULL : &p->m->values[value];
    if (!v || v->n_dims < 3 || v->n_dims > 5) {
        MAP_REFUSE(p, "reads %.60s as an image; it has %u dimensions, want 3 to 5", v ? v->name : "nothing", v ? v->n_dims : 0);
        return NO_ID;
    }
    if (v->n_dims == 5 && v->dims[2] * v->dims[3] > UINT32_MAX) {
        MAP_REFUSE(p, "reads %.60s as an image; its depth and height are %ju together, at most %u", v->name, (uintmax_t)(v->dims[2] * v->dims[3]), UINT32_MAX);
        return NO_ID;
    }
    if (is_empty(p, value))
        return NO_ID;
    uint32_t tensor = tensor_of(p, value);
    struct mapped *at = &p->of[value];
    if (!at->image && at->other == NO_ID)
        at->other = between_layouts(p, tensor, v, true);
    return view_as_image(p, at->image ? tensor : at->other, v);
}

/* [channels, 1, 1] in the file is a vector over the last dimension of an image. */
static uint32_t constant_operand(struct mapper *p, uint32_t value, bool image, uint32_t n_dims)
{
    const struct onnx_value *v = &p->m->values[value];
    uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 }, at_image[4];
    memcpy(&dims[n_dims - v->n_dims], v->dims, v->n_dims * sizeof *dims);
    if (!image)
        return map_weight(p, value, ONNX_AS_IS, n_dims, dims);
    struct onnx_value whole = *v;
    whole.n_dims = n_dims;
    memcpy(whole.dims, dims, sizeof dims);
    map_image_dims(at_image, &whole);
    uint32_t n_large = 0;
    for (uint32_t i = 0; i < 4; i++)
        n_large += at_image[i] > 1;
    if (n_large < 2)                        /* one dimension: the same order of elements in any layout */
        return map_weight(p, value, ONNX_AS_IS, 4, at_image);
    uint32_t plain = map_weight(p, value, ONNX_AS_IS, n_dims, dims);
    return view_as_image(p, between_layouts(p, plain, &whole, true), &whole);
}

uint32_t map_as_operand(struct mapper *p, uint32_t value, bool image, uint32_t n_dims)
{
    const struct onnx_value *v = value == NO_ID ? NULL : &p->m->values[value];
    uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    if (!v || is_empty(p, value))
        return NO_ID;
    n_dims = n_dims ? n_dims : 1;
    if (n_dims > MAX_DIMS || v->n_dims > n_dims) {
        MAP_REFUSE(p, "works on %.60s of %u dimensions beside %u, at most %d", v->name, v->n_dims, n_dims, MAX_DIMS);
        return NO_ID;
    }
    if (v->constant && p->of[value].tensor == NO_ID)
        return constant_operand(p, value, image, n_dims);
    if (image && v->n_dims == n_dims)
        return map_as_image(p, value);
    uint32_t tensor = map_as_plain(p, value);
    if (tensor == NO_ID)
        return NO_ID;
    const struct tensor *t = &p->g->tensors[tensor];
    memcpy(&dims[n_dims - v->n_dims], t->dims, v->n_dims * sizeof *dims);
    if (!image)
        return map_view(p, tensor, n_dims, dims);
    struct onnx_value whole = *v;
    whole.n_dims = n_dims;
    memcpy(whole.dims, dims, sizeof dims);
    return view_as_image(p, between_layouts(p, tensor, &whole, true), &whole);
}

/* The attribute `axis`, whose range the shape rule has checked. */
uint32_t map_axis(const struct mapper *p, int64_t usual, uint32_t n_dims)
{
    uint32_t axis = 0;
    onnx_axis(&axis, onnx_int(p->n, "axis", usual), n_dims);
    return axis;
}

uint32_t map_layout_axis(uint32_t axis, bool image, uint32_t n_dims)
{
    return image ? image_axis(axis, n_dims) : axis;
}

uint32_t map_in_layout(struct mapper *p, uint32_t value, bool image)
{
    return image ? map_as_image(p, value) : map_as_plain(p, value);
}

bool map_done(struct mapper *p, uint32_t i, uint32_t tensor, bool image)
{
    const struct onnx_value *v = map_out(p, i);
    if (!v || tensor == NO_ID)
        return !v;
    if (tensor_elements(&p->g->tensors[tensor]) != onnx_elements(v))
        return MAP_REFUSE(p, "comes to %ju elements instead of %ju: this form of the operator is not modelled",
                          (uintmax_t)tensor_elements(&p->g->tensors[tensor]), (uintmax_t)onnx_elements(v));
    p->of[p->n->outputs[i]] = (struct mapped){ tensor, NO_ID, image, false };
    return true;
}

bool map_done_as(struct mapper *p, const char *into, uint32_t tensor, bool image)
{
    p->into = into;
    return map_done(p, 0, tensor, image);
}

bool map_alias(struct mapper *p)
{
    uint32_t value = map_in_id(p, 0);
    if (is_empty(p, value))
        return false;
    uint32_t tensor = tensor_of(p, value);
    bool swapped = p->of[value].swapped;
    if (!p->into)
        p->into = "nothing: its input as it is";
    if (tensor == NO_ID || !map_done(p, 0, tensor, p->of[value].image))
        return false;
    p->of[p->n->outputs[0]].swapped = swapped;
    return true;
}

uint32_t map_joined(struct mapper *p, uint32_t *parts, uint64_t n, uint32_t axis)
{
    while (n > 1) {
        uint64_t left = 0;
        for (uint64_t i = 0; i < n; i += MAX_OP_OUTPUTS) {
            uint32_t some = (uint32_t)min_u64(MAX_OP_OUTPUTS, n - i);
            parts[left++] = some == 1 ? parts[i] : map_emit(p, OP_CONCAT, &parts[i], some, WITH(.axis = axis));
        }
        n = left;
    }
    return parts[0];
}

const struct onnx_node *map_only_reader(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    if (v->output)
        return NULL;
    const struct onnx_node *found = NULL;
    for (size_t i = v->producer; i < p->m->n_nodes; i++)
        for (uint32_t k = 0; k < p->m->nodes[i].n_inputs; k++)
            if (!p->m->nodes[i].gone && p->m->nodes[i].inputs[k] == value) {
                if (found)
                    return NULL;
                found = &p->m->nodes[i];
            }
    return found;
}

/* ---- constants and weights ------------------------------------------------------------------------------------------ */

enum data_type map_type(const struct mapper *p, int onnx)
{
    if (onnx == ONNX_BOOL || onnx == ONNX_UINT8 || onnx == ONNX_INT8)
        return TYPE_UINT8;
    return onnx_is_whole(onnx) ? TYPE_INT32 : p->o->type;
}

/* A weight of a file stripped of its numbers: floats of one value, with a size that is an initialiser. */
static bool is_stripped(const struct mapper *p, const struct onnx_node *n)
{
    const struct onnx_value *size = onnx_is(n, ONNX_OP_CONSTANT_OF_SHAPE) ? onnx_in(p->m, n, 0) : NULL;
    return size && size->data && size->producer == NO_ID;
}

enum { DEEPEST_ROOT = 8 };              /* the longest chain of such nodes that is followed */
static uint32_t root_of(const struct mapper *p, uint32_t value, uint32_t depth);

/* The parameter that a weight is computed from element by element, such as one that is normalised or stored as an offset from one. Both have the
   same number of elements. */
static uint32_t root_of_elements(const struct mapper *p, const struct onnx_node *n, uint64_t n_elements, uint32_t depth)
{
    uint32_t found = NO_ID;
    if (depth == DEEPEST_ROOT || !onnx_has(n, ONNX_ARITHMETIC | ONNX_REPARAMETRISES))
        return NO_ID;
    for (uint32_t i = 0; i < n->n_inputs && found == NO_ID; i++)
        if (n->inputs[i] != NO_ID && onnx_elements(&p->m->values[n->inputs[i]]) == n_elements)
            found = root_of(p, n->inputs[i], depth + 1);
    return found != NO_ID && onnx_is_float(p->m->values[found].type) ? found : NO_ID;
}

/* The initialiser that a value is a copy, view or elementwise function of; NO_ID if none. */
static uint32_t root_of(const struct mapper *p, uint32_t value, uint32_t depth)
{
    for (;;) {
        const struct onnx_value *v = &p->m->values[value];
        if (v->producer == NO_ID || onnx_holds_parameters(p->m, v))
            return value;
        const struct onnx_node *n = &p->m->nodes[v->producer];
        if (is_stripped(p, n))
            return value;
        if (!onnx_has(n, ONNX_VIEWS) || n->n_inputs == 0 || n->inputs[0] == NO_ID)
            return v->constant ? root_of_elements(p, n, onnx_elements(v), depth) : NO_ID;
        value = n->inputs[0];
    }
}

/* Parameters are floats of an initialiser with more than one element. Other constants are not trained. */
static bool is_trained(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    return onnx_is_float(v->type) && onnx_elements(v) > 1 && root_of(p, value, 0) != NO_ID;
}

struct onnx_source *map_source(struct mapper *p, uint32_t tensor, enum onnx_layout layout, uint32_t value)
{
    struct onnx_import *im = p->import;
    for (size_t i = 0; i < im->n_sources; i++)
        if (im->sources[i].tensor_id == tensor) {
            im->sources[i].layout = layout;
            return &im->sources[i];
        }
    im->sources = arena_grow(p->m->arena, im->sources, im->n_sources, &im->cap_sources, sizeof *im->sources);
    struct onnx_source *s = &im->sources[im->n_sources++];
    *s = (struct onnx_source){ .tensor_id = tensor, .layout = layout };
    for (size_t i = 0; i < sizeof s->values / sizeof *s->values; i++)
        s->values[i] = NO_ID;
    s->values[0] = value;
    return s;
}

static uint32_t known_weight(const struct mapper *p, uint32_t value, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims)
{
    for (size_t i = 0; i < p->import->n_sources && value != NO_ID; i++) {
        const struct onnx_source *s = &p->import->sources[i];
        const struct tensor *t = &p->g->tensors[s->tensor_id];
        if (s->values[0] == value && s->layout == layout && t->n_dims == n_dims && memcmp(t->dims, dims, n_dims * sizeof *dims) == 0)
            return s->tensor_id;
    }
    return NO_ID;
}

/* value NO_ID: a weight composed of others, whose source the caller names. */
uint32_t map_weight(struct mapper *p, uint32_t value, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims)
{
    uint32_t tensor = known_weight(p, value, layout, n_dims, dims);
    if (tensor != NO_ID)
        return tensor;
    const struct onnx_value *v = value == NO_ID ? NULL : &p->m->values[value];
    enum tensor_role role = !v || is_trained(p, value) ? ROLE_WEIGHT : ROLE_STATE;
    tensor = graph_tensor(p->g, v ? v->name : "weight", role, v ? map_type(p, v->type) : p->o->type, n_dims, dims);
    map_source(p, tensor, layout, value);
    return tensor;
}

uint32_t map_filled(struct mapper *p, double number, uint64_t n)
{
    uint32_t tensor = graph_tensor(p->g, "constant", ROLE_STATE, p->o->type, 1, &n);
    map_source(p, tensor, ONNX_NUMBER, NO_ID)->number = number;
    return tensor;
}
