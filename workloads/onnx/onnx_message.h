/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_message.h - makes protobuf messages, for files that are written and for nodes that an import adds. Private to this folder.
 */
#ifndef ONNX_MESSAGE_H
#define ONNX_MESSAGE_H
#include "workloads/onnx/onnx_model.h"

/* ---- message.c: new messages, in an arena, for files that are written -------------------------------------------------- */

/* An empty message; init: the initialiser of its type. */
#define ONNX_NEW(a, type, init) ((type *)memcpy(ARENA_NEW((a), type), &(type)init, sizeof(type)))
Onnx__NodeProto *onnx_new_node(struct arena *a, const char *op, const char *name);
Onnx__AttributeProto *onnx_new_attribute(struct arena *a, const char *name);
Onnx__TensorProto *onnx_new_tensor(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims);
/* names: those of symbolic dimensions, NULL for a dimension with a size. If names is NULL, all dimensions have sizes. */
Onnx__ValueInfoProto *onnx_new_info(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, char *const *names);

Onnx__StringStringEntryProto *onnx_new_entry(struct arena *a, const char *key, const char *value);
enum onnx_attribute_type { ATTRIBUTE_FLOAT = 1, ATTRIBUTE_INT = 2, ATTRIBUTE_TENSOR = 4, ATTRIBUTE_INTS = 7 };
Onnx__AttributeProto *onnx_put_attribute(struct arena *a, Onnx__NodeProto *n, const char *name, enum onnx_attribute_type type);
void onnx_put_int(struct arena *a, Onnx__NodeProto *n, const char *name, int64_t x);
void onnx_put_float(struct arena *a, Onnx__NodeProto *n, const char *name, double x);
void onnx_put_ints(struct arena *a, Onnx__NodeProto *n, const char *name, size_t count, const uint32_t *numbers);
Onnx__TensorProto *onnx_new_integers(struct arena *a, const char *name, uint32_t n, const uint64_t *numbers);
/* A tensor of n equal floats. n_dims is 1, or 0 for a single float. */
Onnx__TensorProto *onnx_new_floats(struct arena *a, const char *name, size_t n_dims, uint64_t n, double x);
/* A tensor of floats, of whole numbers of 32 bits or of truth values in bytes, made from doubles. */
Onnx__TensorProto *onnx_new_raw(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, const double *from);
/* Makes the tensor take its numbers from another file. */
void onnx_put_external(struct arena *a, Onnx__TensorProto *t, const char *location, uint64_t offset, uint64_t n_bytes);

#endif
