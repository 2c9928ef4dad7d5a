/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * message.c - messages of a file that is written: nodes, attributes, tensors, and what inputs and outputs are.
 */
#include "workloads/onnx/onnx_internal.h"

Onnx__NodeProto *onnx_new_node(struct arena *a, const char *op, const char *name)
{
    Onnx__NodeProto *n = ARENA_NEW(a, Onnx__NodeProto);
    *n = (Onnx__NodeProto)ONNX__NODE_PROTO__INIT;
    n->op_type = arena_strdup(a, op);
    n->name = arena_strdup(a, name);
    return n;
}

Onnx__AttributeProto *onnx_new_attribute(struct arena *a, const char *name)
{
    Onnx__AttributeProto *p = ARENA_NEW(a, Onnx__AttributeProto);
    *p = (Onnx__AttributeProto)ONNX__ATTRIBUTE_PROTO__INIT;
    p->name = arena_strdup(a, name);
    return p;
}

Onnx__TensorProto *onnx_new_tensor(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims)
{
    Onnx__TensorProto *t = ARENA_NEW(a, Onnx__TensorProto);
    *t = (Onnx__TensorProto)ONNX__TENSOR_PROTO__INIT;
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
    Onnx__ValueInfoProto *v = ARENA_NEW(a, Onnx__ValueInfoProto);
    Onnx__TypeProto *t = ARENA_NEW(a, Onnx__TypeProto);
    Onnx__TypeProto__Tensor *tensor = ARENA_NEW(a, Onnx__TypeProto__Tensor);
    Onnx__TensorShapeProto *shape = ARENA_NEW(a, Onnx__TensorShapeProto);
    Onnx__TensorShapeProto__Dimension *each = ARENA_ARRAY(a, Onnx__TensorShapeProto__Dimension, n_dims + 1);
    *v = (Onnx__ValueInfoProto)ONNX__VALUE_INFO_PROTO__INIT;
    *t = (Onnx__TypeProto)ONNX__TYPE_PROTO__INIT;
    *tensor = (Onnx__TypeProto__Tensor)ONNX__TYPE_PROTO__TENSOR__INIT;
    *shape = (Onnx__TensorShapeProto)ONNX__TENSOR_SHAPE_PROTO__INIT;
    shape->dim = ARENA_ARRAY(a, Onnx__TensorShapeProto__Dimension *, n_dims + 1);
    for (size_t i = 0; i < n_dims; i++) {
        each[i] = (Onnx__TensorShapeProto__Dimension)ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT;
        each[i].dim_param = names ? names[i] : NULL;
        each[i].has_dim_value = !each[i].dim_param;
        each[i].dim_value = (int64_t)dims[i];
        shape->dim[shape->n_dim++] = &each[i];
    }
    tensor->has_elem_type = true;
    tensor->elem_type = type;
    tensor->shape = shape;
    t->tensor_type = tensor;
    v->name = arena_strdup(a, name);
    v->type = t;
    return v;
}
