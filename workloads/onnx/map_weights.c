/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_weights.c - which constants of a file are trained, and the tensors that constants become.
 */
#include "workloads/onnx/map_internal.h"
#include <string.h>

enum data_type map_type(const struct mapper *p, int onnx)
{
    if (onnx == ONNX_BOOL || onnx == ONNX_UINT8 || onnx == ONNX_INT8)
        return TYPE_UINT8;
    return onnx_is_whole(onnx) ? TYPE_INT32 : p->o->type;
}

/* Floats filled with one number, in a size that stands as an initialiser: a weight of a file without its numbers. */
static bool is_stripped(const struct mapper *p, const struct onnx_node *n)
{
    const struct onnx_value *size = text_is(n->op, "ConstantOfShape") ? onnx_in(p->m, n, 0) : NULL;
    return size && size->data && size->producer == NO_ID;
}

static bool is_among(const char *op, const char *const *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(ops[i], op))
            return true;
    return false;
}

enum { DEEPEST_ROOT = 8 };              /* steps element by element that are followed */
static uint32_t root_of(const struct mapper *p, uint32_t value, uint32_t depth);

/* Element by element of a parameter and of what stands beside it: a weight that is normalised, or counted from one. What is trained has as many
 * elements as what is read. */
static uint32_t root_of_elements(const struct mapper *p, const struct onnx_node *n, uint64_t n_elements, uint32_t depth)
{
    static const char *const ops[] = { "Mul", "Div", "Add", "Sub", "Neg", "Exp", "Softplus", "Sigmoid", "Tanh" };
    uint32_t found = NO_ID;
    if (depth == DEEPEST_ROOT || !is_among(n->op, ops, sizeof ops / sizeof *ops))
        return NO_ID;
    for (uint32_t i = 0; i < n->n_inputs && found == NO_ID; i++)
        if (n->inputs[i] != NO_ID && onnx_elements(&p->m->values[n->inputs[i]]) == n_elements)
            found = root_of(p, n->inputs[i], depth + 1);
    return found != NO_ID && onnx_is_float(p->m->values[found].type) ? found : NO_ID;
}

/* The initialiser behind copies, views and steps element by element; NO_ID: made in another way. */
static uint32_t root_of(const struct mapper *p, uint32_t value, uint32_t depth)
{
    static const char *const views[] = { "Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose", "DequantizeLinear" };
    for (;;) {
        const struct onnx_value *v = &p->m->values[value];
        if (v->producer == NO_ID || onnx_holds_parameters(p->m, v))
            return value;
        const struct onnx_node *n = &p->m->nodes[v->producer];
        if (is_stripped(p, n))
            return value;
        if (!is_among(n->op, views, sizeof views / sizeof *views) || n->n_inputs == 0 || n->inputs[0] == NO_ID)
            return v->constant ? root_of_elements(p, n, onnx_elements(v), depth) : NO_ID;
        value = n->inputs[0];
    }
}

/* Parameters: floats of an initialiser, more than one. What the file computes in another way or has as a constant stays as it is. */
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

/* NO_ID: a weight that the mapping makes of others; its source is named by the caller. */
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
