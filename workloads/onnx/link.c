/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link.c - names to indices: scopes, initialisers, declared shapes, and the operands and results of a node.
 */
#include "workloads/onnx/onnx_model.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- names by scope --------------------------------------------------------------------------------- */

/* A scope such as "3/7/" is the prefix of the names in it. They are visible there and in scopes inside it. */
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
        const uint32_t *id = hash_table_find(&m->names, full, strlen(full));
        if (id)
            return bound_value(m, *id);
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
    if (t->data_type < ONNX_FLOAT || t->data_type > ONNX_INT4)
        return fail(err, "%s: %.80s: elements of type %d; want those of TensorProto.DataType up to %d", m->path, v->name, t->data_type, ONNX_INT4);
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

/* NULL if not a Constant node, or one without a tensor. */
static const Onnx__TensorProto *tensor_of_constant(const struct onnx_node *n)
{
    const Onnx__AttributeProto *p = onnx_is(n, ONNX_OP_CONSTANT) ? onnx_attribute(n, "value") : NULL;
    return p ? p->t : NULL;
}

bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    *n = (struct onnx_node){ .op = onnx_operator_named(m->operators, p->op_type ? p->op_type : "", m->arena), .name = p->name ? p->name : "", .proto = p,
                             .written = p->op_type ? p->op_type : "",
                             .n_inputs = (uint32_t)p->n_input, .n_outputs = (uint32_t)p->n_output, .scope = scope,
                             .call = call, .layer = onnx_metadata(p->metadata_props, p->n_metadata_props, ONNX_LAYER_KEY) };
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
