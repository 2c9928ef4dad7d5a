/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * message.c - messages of a file that is written: nodes, attributes, tensors, and what inputs and outputs are.
 */
#include "workloads/onnx/onnx_internal.h"

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
