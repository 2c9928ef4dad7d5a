/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape_internal.h - what the rules of shapes share.
 */
#ifndef SHAPE_INTERNAL_H
#define SHAPE_INTERNAL_H
#include "workloads/onnx/model.h"

struct shape { struct onnx_model *m; const struct onnx_node *n; struct err *err; };

#define REFUSE(s, ...) onnx_refuse((s)->m, (s)->n, (s)->err, __VA_ARGS__)

/* What sizes that do not fit may come of, where the recipe's batch is another than the file's. */
static inline const char *shape_batch_hint(const struct shape *s)
{
    return s->m->file_batch && s->m->file_batch != s->m->batch ? "; was it exported for one batch size? use a symbolic one" : "";
}

bool shape_wants(const struct shape *s, uint32_t n_inputs);      /* so many inputs with shapes, and an output */
bool shape_set(const struct shape *s, uint32_t i, uint32_t n_dims, const uint64_t *dims, int type);   /* of output i */
void copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);

/* shape_moves.c: operators that move elements */
bool shape_argmax(const struct shape *s);
bool shape_concat(const struct shape *s);
bool shape_depth_to_space(const struct shape *s);
bool shape_einsum(const struct shape *s);       /* map_einsum.c */
bool shape_expand(const struct shape *s);
bool shape_flatten(const struct shape *s);
bool shape_gather_elements(const struct shape *s);
bool shape_gather(const struct shape *s);
bool shape_pad(const struct shape *s);
bool shape_reduce(const struct shape *s);
bool shape_reshape(const struct shape *s);
bool shape_resize(const struct shape *s);
bool shape_slice(const struct shape *s);
bool shape_space_to_depth(const struct shape *s);
bool shape_split(const struct shape *s);
bool shape_squeeze(const struct shape *s);
bool shape_tile(const struct shape *s);
bool shape_transpose(const struct shape *s);
bool shape_unsqueeze(const struct shape *s);

/* shape_data.c: operators that pick elements, or put them, where data say */
bool shape_nonzero(const struct shape *s);
bool shape_suppression(const struct shape *s);
bool shape_compress(const struct shape *s);
bool shape_top_k(const struct shape *s);
bool shape_quantize(const struct shape *s);
bool shape_dequantize(const struct shape *s);
bool shape_one_hot(const struct shape *s);
bool shape_gather_nd(const struct shape *s);
bool shape_roi_align(const struct shape *s);
bool shape_grid_sample(const struct shape *s);
bool shape_loss(const struct shape *s);

#endif
