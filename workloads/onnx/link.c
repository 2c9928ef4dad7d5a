/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link.c - names linked to indices: values, initialisers and nodes of a file as those of the model.
 *
 * A node may read only what stands before it, as the format demands and order.c sees to; so everything later walks the nodes once, in order.
 */
#include "workloads/onnx/model.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- values by name: open addressing, linear probing, at most half full ----------------------- */

static void grow_slots(struct onnx_model *m)
{
    m->n_slots = m->n_slots ? 2 * m->n_slots : 1024;
    m->slots = ARENA_ARRAY(m->arena, uint32_t, m->n_slots);
    for (size_t i = 0; i < m->n_values; i++) {
        size_t at = hash_bytes(m->values[i].name, strlen(m->values[i].name), 0) & (m->n_slots - 1);
        while (m->slots[at])
            at = (at + 1) & (m->n_slots - 1);
        m->slots[at] = (uint32_t)i + 1;
    }
}

/* The value's, or the empty one where it would stand. */
static size_t slot_of(const struct onnx_model *m, const char *name)
{
    size_t at = hash_bytes(name, strlen(name), 0) & (m->n_slots - 1);
    while (m->slots[at] && strcmp(m->values[m->slots[at] - 1].name, name) != 0)
        at = (at + 1) & (m->n_slots - 1);
    return at;
}

uint32_t onnx_value(struct onnx_model *m, const char *name)
{
    if (2 * m->n_values >= m->n_slots)
        grow_slots(m);
    size_t at = slot_of(m, name);
    if (m->slots[at])
        return m->slots[at] - 1;
    m->values = arena_grow(m->arena, m->values, m->n_values, &m->cap_values, sizeof *m->values);
    m->values[m->n_values] = (struct onnx_value){ .name = name, .producer = NO_ID };
    m->slots[at] = (uint32_t)m->n_values + 1;
    return (uint32_t)m->n_values++;
}

/* Names of a branch are seen in it and in the branches inside it; its scope, "3/7/", goes before them. */
static const char *in_scope(struct onnx_model *m, const char *scope, const char *name)
{
    return *scope ? arena_printf(m->arena, "%s%s", scope, name) : name;
}

static uint32_t bound_value(const struct onnx_model *m, uint32_t id)
{
    assert(id < m->n_values && m->values);
    return m->values[id].bound ? m->values[id].bound_to : id;
}

void onnx_bind(struct onnx_model *m, const char *scope, const char *name, uint32_t to)
{
    uint32_t id = onnx_value(m, in_scope(m, scope, name));
    m->values[id].bound = true;
    m->values[id].bound_to = to;
}

uint32_t onnx_value_seen(struct onnx_model *m, const char *scope, const char *name)
{
    for (size_t n = strlen(scope); n > 0; ) {
        const char *full = arena_printf(m->arena, "%.*s%s", (int)n, scope, name);
        if (m->slots[slot_of(m, full)])
            return bound_value(m, onnx_value(m, full));
        for (n--; n > 0 && scope[n - 1] != '/'; n--)
            ;
    }
    return onnx_value(m, name);
}

/* ---- initialisers, inputs, nodes ------------------------------------------------------------------- */

static bool too_many_dims(const struct onnx_model *m, const char *name, size_t n, struct err *err)
{
    return fail(err, "%s: %.80s has %zu dimensions, at most %d", m->path, name, n, ONNX_MAX_DIMS);
}

bool onnx_add_initialiser(struct onnx_model *m, const Onnx__TensorProto *t, const char *scope, struct err *err)
{
    uint32_t id = onnx_value(m, in_scope(m, scope, t->name ? t->name : ""));
    struct onnx_value *v = &m->values[id];
    if (t->n_dims > ONNX_MAX_DIMS)
        return too_many_dims(m, v->name, t->n_dims, err);
    v->type = t->data_type;
    v->shaped = v->constant = true;
    v->data = t;
    v->n_dims = (uint32_t)t->n_dims;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        if (t->dims[i] < 0 || t->dims[i] > UINT32_MAX)
            return fail(err, "%s: %.80s: a dimension of %" PRId64 "; want 0 to 2^32 - 1", m->path, v->name, t->dims[i]);
        v->dims[i] = (uint64_t)t->dims[i];
    }
    if (!onnx_has_size(v->n_dims, v->dims))
        return fail(err, "%s: %.80s has more than 2^40 elements", m->path, v->name);
    v->known = onnx_tensor_contents(t, MOST_KNOWN, m->arena);
    return true;
}

bool onnx_add_info(struct onnx_model *m, uint32_t id, const Onnx__ValueInfoProto *info, struct err *err)
{
    struct onnx_value *v = &m->values[id];
    const Onnx__TypeProto__Tensor *t = info->type ? info->type->tensor_type : NULL;
    if (v->constant || !t)
        return true;
    v->type = t->elem_type;
    if (!t->shape)
        return true;
    if (t->shape->n_dim > ONNX_MAX_DIMS)
        return too_many_dims(m, v->name, t->shape->n_dim, err);
    v->n_dims = (uint32_t)t->shape->n_dim;
    v->shaped = true;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];
        if (d->has_dim_value && d->dim_value > 0 && d->dim_value <= UINT32_MAX)
            v->dims[i] = (uint64_t)d->dim_value;
        else
            v->dim_names[i] = d->dim_param && *d->dim_param ? d->dim_param : arena_printf(m->arena, "%s.dim%u", v->name, i);
    }
    return true;
}

/* The tensor of a Constant node; NULL: it has none, or is another operator. */
static const Onnx__TensorProto *tensor_of_constant(const struct onnx_node *n)
{
    const Onnx__AttributeProto *p = text_is(n->op, "Constant") ? onnx_attribute(n, "value") : NULL;
    return p ? p->t : NULL;
}

bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    *n = (struct onnx_node){ .op = p->op_type ? p->op_type : "", .name = p->name ? p->name : "", .proto = p,
                             .written = p->op_type ? p->op_type : "",
                             .n_inputs = (uint32_t)p->n_input, .n_outputs = (uint32_t)p->n_output, .scope = scope,
                             .call = call };
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, p->n_input);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, p->n_output);
    for (size_t i = 0; i < p->n_input; i++) {
        n->inputs[i] = *p->input[i] ? onnx_value_seen(m, scope, p->input[i]) : NO_ID;
        struct onnx_value *v = onnx_in(m, n, (uint32_t)i);
        if (v && !v->constant && v->producer == NO_ID && !v->shaped && !v->type)
            return onnx_refuse(m, n, err, "reads %.80s, which nothing before it makes; is the file cut short?", v->name);
        if (v)
            v->n_readers++;
    }
    for (size_t i = 0; i < p->n_output; i++) {
        n->outputs[i] = *p->output[i] ? bound_value(m, onnx_value(m, in_scope(m, scope, p->output[i]))) : NO_ID;
        struct onnx_value *v = onnx_out(m, n, (uint32_t)i);
        if (v && (v->constant || v->producer != NO_ID))
            return onnx_refuse(m, n, err, "makes %.80s a second time", v->name);
        if (v)
            v->producer = id;
        if (v && i == 0)
            v->data = tensor_of_constant(n);
    }
    return true;
}
