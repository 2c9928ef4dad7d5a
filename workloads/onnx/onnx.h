/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx.h - an ONNX file as a graph: any model that can be exported, opset 9 to 21, weights present or not.
 *
 * The file's operations become the graph's kinds, forward; a loss and the backward pass are added for training. What cannot be
 * mapped is refused with operator, node and file, or, if asked to approximate, priced as one pass over its result and listed.
 */
#ifndef ONNX_H
#define ONNX_H
#include "system-model/base/base.h"
#include "system-model/graph/types.h"

struct onnx_dimension { const char *name; uint64_t size; };

struct onnx_options {
    uint64_t batch;                             /* samples: the first dimension of the inputs */
    enum data_type type;                        /* of weights and activations */
    bool inference;                             /* forward only; batch norms folded into convolutions */
    bool byte_images;                           /* images come as bytes, and are cast and normalised on the chip */
    bool approximate;
    const char *output;                         /* values to stop at, with commas between; NULL: the file's outputs */
    bool contents;                              /* large tensors are read too, for who executes the graph; else passed over */
    uint32_t batch_norm_span;                   /* replicas that share the statistics of batch norms; 0: one */
    const struct onnx_dimension *dimensions;    /* sizes of symbolic dimensions */
    size_t n_dimensions;
};

/* What became of the file's operators, one line a kind of operator and fate. */
enum onnx_fate { ONNX_MAPPED, ONNX_FUSED, ONNX_FOLDED, ONNX_UNUSED, ONNX_APPROXIMATED, N_ONNX_FATES };
extern const char *const onnx_fate_names[N_ONNX_FATES];
struct onnx_count { const char *op, *into; enum onnx_fate fate; uint32_t n; };

/* Where a weight's contents come from, for who executes the graph. Of a batch norm: its own values in inputs[1] to [4]. */
enum onnx_layout { ONNX_AS_IS, ONNX_KERNEL, ONNX_MATRIX_TRANSPOSED, ONNX_FOLDED_KERNEL, ONNX_FOLDED_BIAS,
                   ONNX_NORM_SCALE, ONNX_NORM_SHIFT, ONNX_NUMBER, ONNX_COUNT, ONNX_TRIANGLE, ONNX_GATES };
struct onnx_source {
    uint32_t tensor_id;
    enum onnx_layout layout;
    uint32_t values[8];                         /* of the model: kernel, bias; a norm's scale, shift, mean, variance, and what scales and
                                                 * shifts behind it; NO_ID: none */
    double number;                              /* epsilon of a norm, or the number itself; a triangle's first diagonal of ones; the
                                                 * direction of a recurrence */
    bool turned;                                /* triangle: counted to the left; gates: the file's order is input, output, forget, cell */
};

struct onnx_import {
    struct onnx_model *model;
    const char *producer;
    int64_t opset;
    size_t n_nodes;
    struct onnx_count *counts; size_t n_counts, cap_counts;
    struct onnx_source *sources; size_t n_sources, cap_sources;
    const char *loss;                           /* the output that is trained; NULL: none */
    uint32_t *inputs; size_t n_inputs;          /* tensors of the graph's inputs, in file order */
    bool *input_is_image;                       /* channels last in the graph */
    uint32_t output;                            /* tensor of the first output (inference) */
    bool output_is_image;                       /* [batch, channels, height, width] in the file, channels last in the graph */
};

bool onnx_is_file(const char *name);            /* ends in .onnx */
/* Reads the file and builds its graph. *import tells what became of it. */
bool onnx_build(struct graph *out, struct onnx_import *import, const char *path, const struct onnx_options *o, struct arena *a,
                struct err *err);
void onnx_print(FILE *f, const struct onnx_import *import);
/* Contents of a tensor that stands in the file, or follows from such; NULL: neither. They stay in the model's arena. */
double *onnx_contents(struct onnx_model *m, uint32_t value_id);

#endif
