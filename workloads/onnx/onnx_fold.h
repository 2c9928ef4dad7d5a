/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_fold.h - contents from contents: the rules of folding, which rows of the table name. Private to this folder.
 */
#ifndef ONNX_FOLD_H
#define ONNX_FOLD_H
#include "workloads/onnx/onnx_model.h"

/* Evaluates one node with known inputs: contents of the first three inputs (NULL if unknown), and of out to be filled. */
struct fold {
    struct onnx_model *m; const struct onnx_node *n; struct onnx_value *out; const double *a, *b, *c; uint64_t n_out;
    bool all;                                               /* contents of any size, for onnx_contents */
};
void onnx_fold(struct onnx_model *m, const struct onnx_node *n);

typedef bool fold_rule(struct fold *f);
fold_rule fold_concat, fold_constant, fold_constant_of_shape, fold_dequantize, fold_gather, fold_nonzero, fold_reduction, fold_slice, fold_split,
    fold_transpose, fold_triangle;
typedef double fold_element(const struct fold *f, uint64_t i);
fold_element fold_cast, fold_copy, fold_expand, fold_eye, fold_function, fold_mod, fold_not, fold_pair, fold_range, fold_shape, fold_size, fold_where;

#endif
