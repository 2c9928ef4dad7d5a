/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx.h - an ONNX file as a graph: opset 7 to 25, weights present or not.
 *
 * The file's operators become operations of the graph; training adds a loss and the backward pass. What cannot be
 * mapped is refused with operator, node and file or, with approximate, priced as one pass over its result and listed.
 */
#ifndef ONNX_H
#define ONNX_H
#include "system-model/base/base.h"
#include "system-model/graph/graph.h"

struct onnx_dimension { const char *name; uint64_t size; };

struct onnx_options {
    uint64_t batch;                             /* samples */
    enum data_type type;                        /* the type of weights and activations */
    uint64_t fp32_kinds;                        /* kinds of operations in fp32: a bit for each (enum op_kind) */
    bool inference;                             /* forward only; batch norms are folded into convolutions */
    bool forward_only;                          /* training, but the backward pass is added later, after the graph is cut over IPUs, or its table is */
    bool float_images;                          /* images come in fp32, and are cast on the chip to the type of activations */
    bool byte_images;                           /* images come as bytes, and are cast and normalised on the chip */
    bool approximate;                           /* rough prices instead of refusals */
    const char *output;                         /* values to stop at, separated by commas; NULL means the file's outputs */
    const char *shard_tables; uint64_t n_shards;    /* see graph_shard_tables() */
    struct sparse_request sparse;               /* products by weights of the file that are made sparse */
    bool contents;                              /* large tensors are read too, to execute the graph */
    const struct codelets *codelets;            /* the user's own operations; NULL: there are none */
    uint32_t grid_ipus[MOST_GRID_AXES], grid_tiles[MOST_GRID_AXES];     /* parts of operations' grids along each axis: over IPUs, over tiles; 0: not given */
    uint32_t rounds;                            /* how often the whole graph runs, each time on the result of the round before; 0: once */
    uint32_t batch_norm_span;                   /* replicas that share the statistics of batch norms; 0 means one */
    const struct onnx_dimension *dimensions;    /* sizes of symbolic dimensions, and numbers given for inputs of a single value */
    size_t n_dimensions;
};

/* The fate of the file's operators: one count for each operator and fate. */
enum onnx_fate { ONNX_MAPPED, ONNX_FUSED, ONNX_FOLDED, ONNX_UNUSED, ONNX_APPROXIMATED, N_ONNX_FATES };
extern const char *const onnx_fate_names[N_ONNX_FATES];
struct onnx_count { const char *op, *into; enum onnx_fate fate; uint32_t n; };

/* The source of a weight's contents, to execute the graph. */
enum onnx_layout { ONNX_AS_IS, ONNX_KERNEL, ONNX_MATRIX_TRANSPOSED, ONNX_FOLDED_KERNEL, ONNX_FOLDED_BIAS,
                   ONNX_NORM_SCALE, ONNX_NORM_SHIFT, ONNX_NUMBER, ONNX_COUNT, ONNX_TRIANGLE, ONNX_GATES };
struct onnx_source {
    uint32_t tensor_id;
    enum onnx_layout layout;
    uint32_t values[8];    /* ids of the model's values: kernel, bias; a norm's scale, shift, mean, variance, and a fused scale and shift; NO_ID if none */
    double number;    /* the number itself; epsilon of a norm; first diagonal of a triangle's ones; direction of a recurrence */
    bool turned;    /* triangle: its ones are left of the diagonal; gates: the file's order is input, output, forget, cell */
};

struct onnx_import {
    struct onnx_model *model;
    const char *producer;
    int64_t opset;
    size_t n_nodes;
    struct onnx_count *counts; size_t n_counts, cap_counts;
    struct onnx_source *sources; size_t n_sources, cap_sources;
    const char *loss, *ignored;                 /* loss: outputs that are trained; ignored: the other outputs; NULL if there are no such outputs */
    uint32_t *inputs; size_t n_inputs;          /* tensors of the graph's inputs, in file order */
    bool *input_is_image;                       /* true for an input that has its channels last in the graph */
    uint32_t output;                            /* id of the first output's tensor (inference) */
    bool output_is_image;                       /* [batch, channels, height, width] in the file, channels last in the graph */
};

/* Facts from a file that is not imported yet: the sizes to give, whether it was exported for training, with dropouts or norms by batch, and the fixed
 * size that is taken for its batch; 0 if the batch is symbolic. */
struct onnx_description { const char *producer; bool training; const char **dimensions; size_t n_dimensions; uint64_t file_batch; };
bool onnx_describe(struct onnx_description *out, const char *path, struct arena *a, struct err *err);

/* An operator that a file may have, and the kind of operation that it is read as. The list is sorted by name. */
struct onnx_known_operator { const char *name, *read_as; };
const struct onnx_known_operator *onnx_known_operators(size_t *n, struct arena *a);

bool onnx_is_file(const char *name);            /* the name ends in .onnx */
bool onnx_build(struct graph *out, struct onnx_import *import, const char *path, const struct onnx_options *o, struct arena *a,
                struct err *err);
void onnx_print(FILE *f, const struct onnx_import *import);
/* Writes the forward graph as an ONNX file. Its outputs are the tensors that losses read. With a seed, weights are written to PATH.data; without
 * one they have no contents. */
bool onnx_write(const char *path, const struct graph *g, const uint64_t *seed, struct err *err);
/* The contents that the seed gives a weight or state: elements in the graph's order, each exactly a float. */
void onnx_initial(double *out, const struct graph *g, uint32_t tensor_id, uint64_t seed);
/* Contents of a constant, in the model's arena; NULL if not constant, or not in the file. */
double *onnx_contents(struct onnx_model *m, uint32_t value_id);

#endif
