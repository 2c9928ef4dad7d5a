/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - an ONNX file in memory: values and nodes by index, shapes inferred, small constants known.
 *
 * Read in order: skim.c, unpack.c, link.c, order.c, call.c and file.c read and link; reach.c leaves what counts; infer.c finds all shapes
 * (rules in shape.c, shape_moves.c and shape_data.c, contents of small constants in fold.c, what If and Loop run in control.c, sequences
 * in sequence.c, stand-ins in stand_in.c); fuse.c recognises operations that exporters write out in pieces. build.c turns the result into
 * a graph (map.c).
 */
#ifndef ONNX_MODEL_H
#define ONNX_MODEL_H
#include "workloads/onnx/onnx.h"
#include "workloads/onnx/onnx.pb-c.h"

enum { ONNX_MAX_DIMS = 8, OLDEST_OPSET = 9, NEWEST_OPSET = 21, MOST_NODES = 200000, DEEPEST_BODIES = 32 };
enum { MOST_KNOWN = 4096 };         /* elements of a constant whose contents are followed */

/* TensorProto.DataType, those that matter here. */
enum onnx_type {
    ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT8 = 3, ONNX_UINT16 = 4, ONNX_INT16 = 5, ONNX_INT32 = 6, ONNX_INT64 = 7, ONNX_STRING = 8, ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10, ONNX_DOUBLE = 11, ONNX_UINT32 = 12, ONNX_UINT64 = 13, ONNX_BFLOAT16 = 16
};
struct onnx_items { uint32_t n; const uint32_t *values; };

struct onnx_value {
    const char *name;
    int type;                               /* enum onnx_type; 0: not known */
    bool shaped;
    uint32_t n_dims;
    uint64_t dims[ONNX_MAX_DIMS];
    const char *dim_names[ONNX_MAX_DIMS];   /* of an input's symbolic dimensions; else NULL */
    double *known;                          /* contents, where they are known and few */
    const struct onnx_items *items;         /* of a sequence; NULL: a tensor */
    bool given;                             /* the number that the options give it */
    bool constant;                          /* made of initialisers alone: a parameter, where a number of it is trained */
    bool output;                            /* of the whole graph */
    const Onnx__TensorProto *data;          /* initialisers and Constant nodes: contents, or none */
    uint32_t producer;                      /* node; NO_ID: input or initialiser */
    bool bound;                             /* a function's parameter or result: the value bound_to of who calls it, NO_ID: left out */
    uint32_t bound_to;
    uint32_t n_readers;
};

/* A function's nodes stand in the place of the node that calls it. */
struct onnx_call { const Onnx__FunctionProto *function; const Onnx__NodeProto *by; const struct onnx_call *outer; };

struct onnx_node {
    const char *op, *name, *written;        /* written: the operator as the file has it, where fusing changed it */
    const Onnx__NodeProto *proto;           /* attributes; NULL: all defaults */
    const struct onnx_call *call;           /* that it is part of; NULL: none */
    const char *scope;                      /* of the branch or round that it stands in; "": the graph itself */
    struct onnx_loop *loop;                 /* of a Loop between two of its rounds */
    uint32_t n_inputs, n_outputs;
    uint32_t *inputs, *outputs;             /* values; NO_ID: left out */
    double epsilon;                         /* of a norm that was fused; 0: its attribute has it */
    const char *fused_as;                   /* it is part of, or became, this operation; else NULL */
    bool gone;                              /* others do its work */
    bool rough;                             /* which others is a guess: counted as approximated */
};

struct onnx_model {
    const char *path, *producer;
    int64_t opset;
    struct arena *arena;
    struct onnx_value *values; size_t n_values, cap_values;
    struct onnx_node *nodes; size_t n_nodes, cap_nodes;
    const Onnx__ModelProto *file;
    uint32_t *inputs, *outputs; size_t n_inputs, n_outputs;
    uint32_t *slots; size_t n_slots;        /* values by name */
    uint64_t batch;                         /* samples, by the recipe */
    uint32_t n_bodies;                      /* branches that were taken, rounds of loops */
    bool approximate;                       /* by the options */
    uint64_t file_batch;                    /* as the file has it; 0: it has a name */
    const char *batch_name;                 /* the first input's; NULL: none */
    bool weights_in_nodes;                  /* its parameters are Constant nodes: it has no initialisers */
};

/* file.c */
bool onnx_read(struct onnx_model *out, const char *path, bool contents, struct arena *a, struct err *err);   /* contents: of large tensors too */

/* skim.c: the file's bytes without those. False: not in protobuf's format, or an error of the file. */
bool onnx_skim(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a);

/* unpack.c: messages in the arena. */
const Onnx__ModelProto *onnx_unpack_model(const char *path, bool contents, struct arena *a, struct err *err);   /* NULL: refused */
const Onnx__GraphProto *onnx_unpack_graph(const ProtobufCBinaryData *bytes, struct arena *a);   /* NULL: no graph */

/* link.c: values by name, seen from a scope (that of a branch, a round or a called function; "": the graph), and nodes by index. */
uint32_t onnx_value(struct onnx_model *m, const char *name);      /* the value so named; new where there is none */
uint32_t onnx_value_seen(struct onnx_model *m, const char *scope, const char *name);    /* in a branch: its own, or of what is around it */
void onnx_bind(struct onnx_model *m, const char *scope, const char *name, uint32_t to);     /* within the scope, the name is that value */
bool onnx_add_initialiser(struct onnx_model *m, const Onnx__TensorProto *t, const char *scope, struct err *err);
/* What the file says of a value: for inputs it counts; for others shape.c finds it again. */
bool onnx_add_info(struct onnx_model *m, uint32_t id, const Onnx__ValueInfoProto *info, struct err *err);
bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err);

/* numbers.c */
bool onnx_is_whole(int type);           /* integers of any size, but no truth values */
bool onnx_is_float(int type);
double *onnx_tensor_contents(const Onnx__TensorProto *t, uint64_t most, struct arena *a);   /* NULL: not there, or more than most elements */

/* model.c. An attribute that is not there is `otherwise`; NULL: it is not there. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *n, const char *name);
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise);
bool onnx_flag(const struct onnx_node *n, const char *name, bool otherwise);
double onnx_float(const struct onnx_node *n, const char *name, double otherwise);
const char *onnx_string(const struct onnx_node *n, const char *name, const char *otherwise, struct arena *a);
/* Always false: one line in err with the file, the node and its operator. */
bool onnx_refuse(const struct onnx_model *m, const struct onnx_node *n, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* NULL: left out. What a node must have is there once shape_wants() has passed it, out of the analyzers' sight. */
struct onnx_value *onnx_in(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
struct onnx_value *onnx_out(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
bool onnx_holds_parameters(const struct onnx_model *m, const struct onnx_value *v);    /* it stands in the file as such */
uint64_t onnx_elements(const struct onnx_value *v);
uint64_t onnx_elements_between(const struct onnx_value *v, uint32_t first, uint32_t end);      /* of these dimensions: before an axis, or behind it */
bool onnx_has_size(uint32_t n_dims, const uint64_t *dims);             /* of at most 2^40 elements, below 2^32 along each dimension */
/* -1 is the last dimension. False: out of range. */
bool onnx_axis(uint32_t *axis, int64_t given, uint32_t n_dims);
/* Numbers that older files have as an attribute and newer ones as an input. n = 0: neither. False: an input that is not known. */
struct onnx_list { uint32_t n; int64_t at[2 * ONNX_MAX_DIMS]; };
bool onnx_list(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, const char *attribute, uint32_t input);
int64_t onnx_whole(double x);          /* what is too large is as large as can be, what is no number 0 */

/* What a Slice takes along a dimension: n elements, step apart. False: known only while the model runs. */
struct onnx_cut { uint32_t axis; int64_t from, step; uint64_t n; };
struct onnx_cuts { uint32_t n; struct onnx_cut at[2 * ONNX_MAX_DIMS]; bool good; };     /* good: each axis and step in range */
bool onnx_cuts(struct onnx_cuts *out, const struct onnx_model *m, const struct onnx_node *n);

/* Of a Pad: all before, all after. */
bool onnx_pads(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, uint32_t n_dims);

/* infer.c: sizes of inputs as the options have them, shapes of all values in file order. What has no rule takes the shape that the
 * file gives, or with approximate that of its first input. */
bool onnx_infer(struct onnx_model *m, const struct onnx_options *o, struct err *err);
bool onnx_shape_node(struct onnx_model *m, const struct onnx_node *n, struct err *err);
bool onnx_has_shape_rule(const char *op);
uint64_t onnx_shape_range(uint64_t *first, const struct onnx_node *n, uint32_t n_dims);    /* how many dimensions a Shape node gives */
/* How a window (convolution, pooling) lies: kernel, strides, dilations, zeros before and after, by spatial dimension. */
struct onnx_window { uint32_t n, kernel[3], stride[3], dilation[3], before[3], after[3]; };
bool onnx_window(struct onnx_window *out, const struct onnx_model *m, const struct onnx_node *n, struct err *err);

/* order.c: the nodes, each behind what makes its inputs. */
Onnx__NodeProto *const *onnx_in_order(struct onnx_model *m, Onnx__NodeProto *const *nodes, size_t n);

/* call.c: appends nodes, those of functions in the place of who calls them. */
bool onnx_link_nodes(struct onnx_model *m, Onnx__NodeProto *const *nodes, size_t n, struct err *err);

/* reach.c: nodes that no output needs are gone. */
bool onnx_reach(struct onnx_model *m, const struct onnx_options *o, struct err *err);

/* place.c: room for n nodes from one on; a node with one result; one that has axes; a node that reads nothing; one that is gone; a known number. */
bool onnx_make_room(struct onnx_model *m, size_t from, size_t n, struct err *err);
void onnx_put(struct onnx_model *m, size_t at, const char *op, uint32_t n_inputs, const uint32_t *inputs, uint32_t result);
void onnx_put_axis(struct onnx_model *m, size_t at, const char *op, uint32_t input, uint32_t result, int64_t axis);
void onnx_reads_no_more(struct onnx_model *m, const struct onnx_node *n);
void onnx_retire(struct onnx_model *m, size_t id, const char *why);
uint32_t onnx_number(struct onnx_model *m, const char *name, int type, double x);

/* sequence.c: nodes that make or read sequences become nodes of their items, or none. */
bool onnx_is_of_sequence(const struct onnx_model *m, const struct onnx_node *n);
bool onnx_open_sequence(struct onnx_model *m, size_t node_id, struct err *err);

/* control.c. An If becomes the nodes of a branch behind it, and is gone. A Loop gets those of its next round before it, and is gone when all
 * have been run: who walks the nodes goes on where the Loop stood. */
bool onnx_is_control(const struct onnx_node *n);
bool onnx_unfold(struct onnx_model *m, size_t node_id, struct err *err);

/* stand_in.c: an operator that is not modelled becomes one that is, where one can stand for it; it is rough then. */
void onnx_stand_in(struct onnx_model *m, struct onnx_node *n);

/* fold.c: contents of a node's outputs where they follow from known inputs. */
void onnx_fold(struct onnx_model *m, const struct onnx_node *n);

/* fuse.c */
void onnx_fuse(struct onnx_model *m);
#endif
