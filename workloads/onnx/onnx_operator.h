/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_operator.h - a row of the table of operators: what applies to which operator. model.c finds rows, operators.c has them. Private to this folder.
 */
#ifndef ONNX_OPERATOR_H
#define ONNX_OPERATOR_H
#include "system-model/graph/graph.h"

/* ---- operators.c: one row an operator ------------------------------------------------------------------------------ */

/* Operators that the code names. All others are known by their rows alone. */
enum onnx_op {
    ONNX_OP_OTHER, ONNX_OP_ADD, ONNX_OP_ARG_MIN, ONNX_OP_BATCH_NORM, ONNX_OP_CONCAT, ONNX_OP_CONSTANT, ONNX_OP_CONSTANT_OF_SHAPE,
    ONNX_OP_CONV_TRANSPOSE, ONNX_OP_DEPTH_TO_SPACE, ONNX_OP_DIV, ONNX_OP_ERF, ONNX_OP_GATHER, ONNX_OP_GELU, ONNX_OP_GROUP_NORM,
    ONNX_OP_HARD_SIGMOID, ONNX_OP_HARD_SWISH, ONNX_OP_IDENTITY, ONNX_OP_INSTANCE_NORM, ONNX_OP_LAYER_NORM, ONNX_OP_LOG_SOFTMAX,
    ONNX_OP_LSTM, ONNX_OP_MATMUL, ONNX_OP_MEAN, ONNX_OP_MUL, ONNX_OP_POW, ONNX_OP_RECIPROCAL, ONNX_OP_REDUCE_MEAN, ONNX_OP_RESHAPE,
    ONNX_OP_RNN, ONNX_OP_SIGMOID, ONNX_OP_SLICE, ONNX_OP_SOFTMAX, ONNX_OP_SOFTMAX_LOSS, ONNX_OP_SPLIT, ONNX_OP_SQRT, ONNX_OP_SQUEEZE,
    ONNX_OP_SUB, ONNX_OP_SWISH, ONNX_OP_TANH, ONNX_OP_TRANSPOSE, ONNX_OP_UNSQUEEZE, N_ONNX_OPS
};

/* Properties of operators. A pass over the graph asks for them without knowing the operator. */
enum onnx_trait {
    ONNX_VIEWS = 1,                 /* gives the elements of its first input in another form, order or type */
    ONNX_CUTS = 2, ONNX_REPEATS = 4, ONNX_JOINS = 8, ONNX_PICKS = 16,
    ONNX_ARITHMETIC = 32,           /* +, -, *, / */
    ONNX_REPARAMETRISES = 64,       /* a weight may be computed with it from a trained tensor of the same size */
    ONNX_PREPARES = 128,            /* may lie between images and the window that reads them first */
    ONNX_WINDOW = 256,
    ONNX_READS_SIZES = 512,         /* reads the shape of its input, not its contents */
    ONNX_RECURRENT = 1024,
    ONNX_HAS_BODY = 2048,           /* If, Loop, Scan */
    ONNX_PASSES_EMPTY = 4096,       /* inputs without elements are allowed */
    ONNX_LOSS = 8192,
    ONNX_PICKS_ELEMENTS = 16384,    /* picks or places single elements: each index stands for one element along an axis */
    ONNX_DRAWS = 32768,             /* gives different numbers each time, so its result is never a constant */
};

struct onnx_model;
struct inference;
struct fold;
struct mapper;
enum { ALL_INPUTS = UINT8_MAX };
struct onnx_operator {
    const char *name;
    uint8_t n_inputs;                                       /* at least this many inputs have a shape when `shape` is called; ALL_INPUTS: all have */
    bool (*shape)(const struct inference *s);               /* NULL if the operator is not modelled; its result's shape is then guessed */
    bool (*map)(struct mapper *p);                          /* NULL: folded or replaced, never an operation of the graph */
    bool (*fold)(struct fold *f);                           /* contents of the result from those of the inputs; without fold or element they are not followed */
    double (*element)(const struct fold *f, uint64_t i); uint8_t n_folded;      /* one element of the contents; n_folded: how many inputs it reads */
    bool (*unfold)(struct onnx_model *m, size_t node_id, struct err *err);     /* control flow and sequences: the node is replaced */
    enum onnx_op id;
    unsigned traits;                                        /* enum onnx_trait */
    enum op_kind kind; enum op_function function;           /* the operation of the graph that computes its elements */
    double low, high; const char *low_name, *high_name;     /* defaults of the function's constants, and their attributes */
    enum random_draw draw;                                  /* the distribution of random numbers; low and high are its constants */
    bool sum; int before, after;                            /* reductions. sum: the mean is multiplied by the count; before, after: functions of elements, or NO_FUNCTION */
    const char *rough_as; uint32_t n_kept, kept[4];         /* --approximate: the operator that replaces it, and the inputs that stay */
};
enum { NO_FUNCTION = N_OP_FUNCTIONS };

/* The table, which a model knows as its `operators`. */
struct onnx_operators { const struct onnx_operator *rows; size_t n; };
extern const struct onnx_operators onnx_operators;
/* A name without a row gets one of its own, with nothing but the name. */
const struct onnx_operator *onnx_operator_named(const struct onnx_operators *all, const char *name, struct arena *a);
const struct onnx_operator *onnx_operator_by_id(const struct onnx_operators *all, enum onnx_op id);

#endif
