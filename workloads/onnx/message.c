/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * message.c - messages of a file that is written: nodes, attributes, tensors, and what inputs and outputs are.
 */
#include "workloads/onnx/onnx_message.h"

enum { NODE_ATTRIBUTES = 8 };           /* the most attributes of a node that is written */

Onnx__NodeProto *onnx_new_node(struct arena *a, const char *op, const char *name)
{
    Onnx__NodeProto *n = ONNX_NEW(a, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
    n->op_type = arena_strdup(a, op);
    n->name = arena_strdup(a, name);
    return n;
}

Onnx__AttributeProto *onnx_new_attribute(struct arena *a, const char *name)
{
    Onnx__AttributeProto *p = ONNX_NEW(a, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
    p->name = arena_strdup(a, name);
    return p;
}

Onnx__TensorProto *onnx_new_tensor(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims)
{
    Onnx__TensorProto *t = ONNX_NEW(a, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
    t->name = arena_strdup(a, name);
    t->has_data_type = true;
    t->data_type = type;
    t->n_dims = n_dims;
    t->dims = ARENA_ARRAY(a, int64_t, n_dims + 1);
    for (size_t i = 0; i < n_dims; i++)
        t->dims[i] = (int64_t)dims[i];
    return t;
}

Onnx__ValueInfoProto *onnx_new_info(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, char *const *names)
{
    Onnx__ValueInfoProto *v = ONNX_NEW(a, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
    Onnx__TypeProto *t = v->type = ONNX_NEW(a, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
    Onnx__TypeProto__Tensor *tensor = t->tensor_type = ONNX_NEW(a, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);
    Onnx__TensorShapeProto *shape = tensor->shape = ONNX_NEW(a, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);
    shape->dim = ARENA_ARRAY(a, Onnx__TensorShapeProto__Dimension *, n_dims + 1);
    for (size_t i = 0; i < n_dims; i++) {
        Onnx__TensorShapeProto__Dimension *d = ONNX_NEW(a, Onnx__TensorShapeProto__Dimension, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);
        d->dim_param = names ? names[i] : NULL;
        d->has_dim_value = !d->dim_param;
        d->dim_value = (int64_t)dims[i];
        shape->dim[shape->n_dim++] = d;
    }
    tensor->has_elem_type = true;
    tensor->elem_type = type;
    v->name = arena_strdup(a, name);
    return v;
}

Onnx__StringStringEntryProto *onnx_new_entry(struct arena *a, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = ONNX_NEW(a, Onnx__StringStringEntryProto, ONNX__STRING_STRING_ENTRY_PROTO__INIT);
    e->key = arena_strdup(a, key);
    e->value = arena_strdup(a, value);
    return e;
}

/* ---- attributes of a node --------------------------------------------------------------------------------------------------- */

Onnx__AttributeProto *onnx_put_attribute(struct arena *a, Onnx__NodeProto *n, const char *name, enum onnx_attribute_type type)
{
    Onnx__AttributeProto *p = onnx_new_attribute(a, name);
    p->has_type = true;
    p->type = type;
    if (!n->attribute)
        n->attribute = ARENA_ARRAY(a, Onnx__AttributeProto *, NODE_ATTRIBUTES);
    n->attribute[n->n_attribute++] = p;
    return p;
}

void onnx_put_int(struct arena *a, Onnx__NodeProto *n, const char *name, int64_t x)
{
    Onnx__AttributeProto *p = onnx_put_attribute(a, n, name, ATTRIBUTE_INT);
    p->has_i = true;
    p->i = x;
}

void onnx_put_float(struct arena *a, Onnx__NodeProto *n, const char *name, double x)
{
    Onnx__AttributeProto *p = onnx_put_attribute(a, n, name, ATTRIBUTE_FLOAT);
    p->has_f = true;
    p->f = (float)x;
}

void onnx_put_ints(struct arena *a, Onnx__NodeProto *n, const char *name, size_t count, const uint32_t *numbers)
{
    Onnx__AttributeProto *p = onnx_put_attribute(a, n, name, ATTRIBUTE_INTS);
    p->ints = ARENA_ARRAY(a, int64_t, count);
    for (size_t i = 0; i < count; i++)
        p->ints[p->n_ints++] = numbers[i];
}

/* ---- numbers of a tensor ------------------------------------------------------------------------------------------------------ */

Onnx__TensorProto *onnx_new_integers(struct arena *a, const char *name, uint32_t n, const uint64_t *numbers)
{
    Onnx__TensorProto *t = onnx_new_tensor(a, name, ONNX_INT64, 1, (uint64_t[]){ n });
    t->int64_data = ARENA_ARRAY(a, int64_t, n);
    for (; t->n_int64_data < n; t->n_int64_data++)
        t->int64_data[t->n_int64_data] = (int64_t)numbers[t->n_int64_data];
    return t;
}

Onnx__TensorProto *onnx_new_floats(struct arena *a, const char *name, size_t n_dims, uint64_t n, double x)
{
    Onnx__TensorProto *t = onnx_new_tensor(a, name, ONNX_FLOAT, n_dims, &n);
    t->float_data = ARENA_ARRAY(a, float, n);
    while (t->n_float_data < n)
        t->float_data[t->n_float_data++] = (float)x;
    return t;
}

Onnx__TensorProto *onnx_new_raw(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, const double *from)
{
    Onnx__TensorProto *t = onnx_new_tensor(a, name, type, n_dims, dims);
    size_t n = 1, each = type == ONNX_BOOL ? 1 : 4;
    for (size_t i = 0; i < n_dims; i++)
        n *= dims[i];
    t->has_raw_data = true;
    t->raw_data = (ProtobufCBinaryData){ n * each, arena_alloc(a, n * each) };
    for (size_t i = 0; i < n; i++) {
        float x = (float)from[i];
        int32_t whole = (int32_t)from[i];
        uint8_t bit = from[i] != 0;
        memcpy(t->raw_data.data + i * each, type == ONNX_BOOL ? (void *)&bit : type == ONNX_INT32 ? (void *)&whole : (void *)&x, each);
    }
    return t;
}

void onnx_put_external(struct arena *a, Onnx__TensorProto *t, const char *location, uint64_t offset, uint64_t n_bytes)
{
    t->has_data_location = true;
    t->data_location = 1;
    t->external_data = ARENA_ARRAY(a, Onnx__StringStringEntryProto *, 3);
    t->external_data[t->n_external_data++] = onnx_new_entry(a, "location", location);
    t->external_data[t->n_external_data++] = onnx_new_entry(a, "offset", arena_printf(a, "%ju", (uintmax_t)offset));
    t->external_data[t->n_external_data++] = onnx_new_entry(a, "length", arena_printf(a, "%ju", (uintmax_t)n_bytes));
}
