/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.h - what the files that write a graph as ONNX share: the writer, its values in both layouts, and the table of operations.
 *
 * A list of inputs is their names, separated by blanks. All that is returned lives in the writer's arena.
 */
#ifndef WRITE_H
#define WRITE_H
#include "workloads/onnx/onnx_message.h"

struct writer;
/* The layout of an operation: as the graph has it; channels first; that of its first input; channels first if that has four dimensions. */
enum written_layout { WRITTEN_PLAIN, WRITTEN_IMAGE, WRITTEN_AS_FIRST, WRITTEN_BY_RANK };
/* How a kind of operation is written; onnx: the operator, where the kind alone decides it, and numbers of the operation that it reads; opset: the
 * first that has the operator, if the usual one does not. */
struct written_number { const char *tag; size_t offset; };
struct writing { void (*write)(struct writer *w); enum written_layout layout; const char *onnx; struct written_number numbers[2]; int opset; };

struct writer {
    struct arena a;
    const struct graph *g;
    const struct op *op;                    /* the operation being written */
    const struct writing *how;              /* the operation's row of the table */
    bool as_image;                          /* the tensor has the layout of an image */
    Onnx__GraphProto graph;
    size_t cap_nodes, cap_weights, cap_inputs, cap_outputs;
    const char **plain, **image;            /* by tensor: its value as the graph has it, and channels first; NULL if not made */
    bool *done;                             /* by operation: it was written as part of another one */
    const uint64_t *seed;                   /* seeds the weights; NULL if they are left out */
    FILE *data;
    int opset;
    uint64_t n_data_bytes;
    const char *location;                   /* the path of the weights, relative to the model */
};

/* ---- write_values.c: nodes, constants, and values in both layouts ---- */

/* Appends a node with one output. `inputs` ends with NULL; each of its texts is one name or several. */
Onnx__NodeProto *writer_node(struct writer *w, const char *op, const char *output, const char *const *inputs);
#define WRITE_NODE(w, op, output, ...) writer_node(w, op, output, (const char *const[]){ __VA_ARGS__, NULL })
#define PUT_INTS(w, n, name, ...) onnx_put_ints(&(w)->a, n, name, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })
void *writer_append(struct writer *w, void *list, size_t *n, size_t *cap, void *one);      /* appends to a list, and returns the list, which may have moved */
int writer_type_of(const struct tensor *t);

/* The functions below add a constant and return its name. */
const char *writer_constant(struct writer *w, Onnx__TensorProto *t);
const char *writer_integers(struct writer *w, const char *name, uint32_t n, const uint64_t *numbers);
const char *writer_floats(struct writer *w, const char *name, uint64_t n, double x);       /* a vector of n */
const char *writer_number(struct writer *w, const char *name, double x);
const char *writer_weight(struct writer *w, uint32_t id, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims);

const char *writer_plain(struct writer *w, uint32_t id);        /* a tensor as the graph holds it */
const char *writer_image(struct writer *w, uint32_t id);        /* channels first; a vector becomes [channels, 1, 1] */
const char *writer_input(struct writer *w, uint32_t i);         /* an input of the operation, in its layout */
const char *writer_inputs(struct writer *w);                    /* the names of all inputs of the operation */
const char *writer_output(struct writer *w, uint32_t i);        /* the name of an output */
/* the name of the first output, which exists from here on in the operation's layout */
const char *writer_result(struct writer *w);
const char *writer_part(struct writer *w, const char *tag);     /* a name for something inside the operation */

/* ---- write_ops.c: how each kind of operation is written; write is NULL for a kind that has no operator ---- */

extern const struct writing writings[N_OP_KINDS];

/* ---- initial.c: numbers of weights that are written ------------------------------------------------------------------ */

/* Writes the numbers that the seed gives a weight, as floats in the file's order: ONNX_AS_IS, ONNX_KERNEL or ONNX_GATES. Returns their bytes. */
uint64_t onnx_write_initial(FILE *f, const struct graph *g, uint32_t id, enum onnx_layout layout, uint64_t seed);
/* The first operation that reads a tensor, and which of its inputs the tensor is; NULL if none. */
const struct op *onnx_first_reader(uint32_t *input, const struct graph *g, uint32_t id);

#endif
