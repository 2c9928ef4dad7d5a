/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_shapes.h - the rules of shapes, which rows of the table name, and what else reads sizes and windows of nodes. Private to this folder.
 */
#ifndef ONNX_SHAPES_H
#define ONNX_SHAPES_H
#include "workloads/onnx/onnx_model.h"

/* x and y are the first two inputs; NULL if left out, where the row does not demand them. */
struct inference { struct onnx_model *m; const struct onnx_node *n; const struct onnx_value *x, *y; struct err *err; };
#define REFUSE(s, ...) onnx_refuse((s)->m, (s)->n, (s)->err, __VA_ARGS__)

bool onnx_shape_node(struct onnx_model *m, const struct onnx_node *n, struct err *err);
bool infer_set(const struct inference *s, uint32_t output, uint32_t n_dims, const uint64_t *dims, int type);
/* The end of a message about sizes that do not fit: the reason may be that the file fixes another batch than the
 * recipe. */
static inline const char *infer_batch_hint(const struct inference *s)
{
    return s->m->file_batch && s->m->file_batch != s->m->batch ? "; was it exported for one batch size? use a symbolic one, or --set data.batch=0 if it has none" : "";
}

uint64_t onnx_shape_range(uint64_t *first, const struct onnx_node *n, uint32_t n_dims);    /* the dimensions that a Shape node gives */
/* Window of a convolution or pool by spatial dimension; before and after are zeros of padding. */
struct onnx_window { uint32_t n, kernel[3], stride[3], dilation[3], before[3], after[3]; };
bool onnx_window(struct onnx_window *out, const struct onnx_model *m, const struct onnx_node *n, struct err *err);
/* The ranges of a Slice: n elements along an axis, `step` apart. onnx_cuts() is false if they are known only while the model runs; good: the node is
 * well-formed. */
struct onnx_cut { uint32_t axis; int64_t from, step; uint64_t n; };
struct onnx_cuts { uint32_t n; struct onnx_cut at[2 * ONNX_MAX_DIMS]; bool good; };
bool onnx_cuts(struct onnx_cuts *out, const struct onnx_model *m, const struct onnx_node *n);
bool onnx_pads(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, uint32_t n_dims);    /* pads before all dimensions, then pads after all */

/* ---- the rules: false is a refusal --------------------------------------------------------------------------------------------- */

typedef bool infer_rule(const struct inference *s);
/* shape.c */
infer_rule infer_cast, infer_cast_like, infer_constant, infer_constant_of_shape, infer_conv, infer_conv_transpose, infer_eye, infer_gemm,
    infer_global_pool, infer_like_first, infer_matmul, infer_numbers, infer_pair, infer_pool, infer_quotient, infer_range, infer_recurrence,
    infer_shape, infer_size, infer_test, infer_truth, infer_where;
/* shape_moves.c */
infer_rule infer_argmax, infer_concat, infer_dequantize, infer_depth_to_space, infer_expand, infer_flatten, infer_gather, infer_gather_elements,
    infer_grid_sample, infer_loss, infer_pad, infer_quantize, infer_reduce, infer_reshape, infer_resize, infer_slice, infer_space_to_depth, infer_split,
    infer_squeeze, infer_tile, infer_transpose, infer_unsqueeze;
/* shape_picks.c */
infer_rule infer_compress, infer_gather_nd, infer_non_max_suppression, infer_nonzero, infer_one_hot, infer_roi_align, infer_top_k;
/* The factor by which a Resize changes each dimension. Returns false if the factors are not known. */
bool onnx_resize_factors(double out[ONNX_MAX_DIMS], const struct onnx_model *m, const struct onnx_node *n);
infer_rule infer_einsum, infer_attention, infer_sparse_matmul;        /* map_einsum.c, map_attention.c, map_sparse.c */
infer_rule infer_random, infer_random_like, infer_multinomial;      /* map_random.c */
/* Shapes of the results of one of the user's own operations. */
bool onnx_shape_codelet(struct onnx_model *m, const struct onnx_node *n, const struct codelet *c, struct err *err);

#endif
