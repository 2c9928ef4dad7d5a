/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_model.h - an ONNX file in memory: values, nodes, and questions about them. Private to this folder.
 */
#ifndef ONNX_MODEL_H
#define ONNX_MODEL_H
#include "workloads/onnx/onnx.h"
#include "workloads/onnx/onnx.pb-c.h"
#include "workloads/onnx/onnx_operator.h"

enum { ONNX_MAX_DIMS = 8, OLDEST_OPSET = 7, NEWEST_OPSET = 25, MOST_NODES = 200000, DEEPEST_BODIES = 32 };
enum { MOST_KNOWN = 4096 };         /* constants of at most this many elements have known contents */

/* The key in a node's metadata_props that names its layer: role, block, part, parts and name, as write.c has it. */
#define ONNX_LAYER_KEY "podbench.layer"
/* The key in a model's metadata_props that says that all of its outputs are trained on; its value is the loss. */
#define ONNX_LOSS_KEY "podbench.loss"
/* TensorProto.DataType; types that are not read are left out. */
enum onnx_type {
    ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT8 = 3, ONNX_UINT16 = 4, ONNX_INT16 = 5, ONNX_INT32 = 6, ONNX_INT64 = 7, ONNX_STRING = 8, ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10, ONNX_DOUBLE = 11, ONNX_UINT32 = 12, ONNX_UINT64 = 13, ONNX_BFLOAT16 = 16,
    ONNX_FLOAT8_FIRST = 17, ONNX_FLOAT8_LAST = 20, ONNX_UINT4 = 21, ONNX_INT4 = 22
};

struct onnx_items { uint32_t n; const uint32_t *values; };     /* a sequence of known length */

struct onnx_value {
    const char *name;
    int type;                               /* enum onnx_type; 0 if unknown */
    bool shaped;                            /* n_dims and dims are known */
    uint32_t n_dims;
    uint64_t dims[ONNX_MAX_DIMS];
    const char *dim_names[ONNX_MAX_DIMS];   /* symbolic dimensions of an input; else NULL */
    double *known;                          /* the value's contents, or NULL */
    const struct onnx_items *items;         /* a sequence's tensors; NULL: this is a tensor */
    bool given;                             /* the options give its number or, if it is bounded, its size */
    bool bounded, largest;                  /* bounded: its size depends on data, and the options give it; largest: the size is taken to be the largest possible */
    bool constant;                          /* true if the value follows from initialisers alone */
    bool output;                            /* true for an output of the whole graph */
    const Onnx__SparseTensorProto *sparse;  /* a sparse initialiser; else NULL */
    const Onnx__TensorProto *data;          /* the contents of an initialiser or a Constant node; else NULL */
    uint32_t producer;                      /* node; NO_ID means an input or initialiser */
    bool bound;                             /* for a parameter or result of a function: the value that it is another name for; NO_ID if the caller leaves it out */
    uint32_t bound_to;
    uint32_t n_readers;
};

/* A call of a function of the file. Its nodes replace the calling node; outer is the call that this one is part of, or
 * NULL. */
struct onnx_call { const Onnx__FunctionProto *function; const Onnx__NodeProto *by; const struct onnx_call *outer; };

struct onnx_node {
    const struct onnx_operator *op;         /* its row in operators.c; operators without one get a row with nothing but a name */
    const char *name, *written;             /* written: the operator in the file, which fusing may change */
    const Onnx__NodeProto *proto;           /* the node's attributes; NULL: all have their defaults */
    const struct onnx_call *call;           /* the call that the node is part of, or NULL */
    const char *layer;                      /* the value of ONNX_LAYER_KEY, or NULL */
    const char *scope;                      /* prefix of names in its branch, round or function; "": the graph itself */
    struct onnx_loop *loop;                 /* state of a Loop between two rounds */
    uint32_t n_inputs, n_outputs;
    uint32_t *inputs, *outputs;             /* numbers of values; NO_ID for one that is left out */
    double epsilon;                         /* the epsilon of a fused norm; 0: its attribute holds it */
    const char *fused_as;                   /* the fused operation that the node has become, or is part of; else NULL */
    bool gone;                              /* other nodes do this node's work */
    bool rough;                             /* the nodes that replaced this one are a guess, and count as approximated */
    uint32_t rounds;                        /* the node stands for this many rounds of a loop, each on the result of the round before; 0: once */
};

struct onnx_model {
    const char *path, *producer;
    int64_t opset;
    struct arena *arena;
    const struct onnx_operators *operators;
    struct onnx_value *values; size_t n_values, cap_values;
    struct onnx_node *nodes; size_t n_nodes, cap_nodes;     /* each node follows the nodes that make its inputs */
    const Onnx__ModelProto *file;
    uint32_t *inputs, *outputs; size_t n_inputs, n_outputs;
    size_t n_wanted;                        /* only this many of the outputs, from the first on, count: one in training, or as many as recipe.output names */
    struct hash_table names;                /* the numbers of values, by name */
    uint64_t batch;                         /* the number of samples, from the recipe */
    uint32_t n_bodies;                      /* branches taken and rounds run so far */
    bool approximate;                       /* option --approximate */
    const struct onnx_options *options;
    uint64_t file_batch;                    /* the batch size that the file fixes; 0 if it is symbolic */
    const char *batch_name;                 /* the symbolic batch, or NULL */
    bool has_batch;                         /* a dimension of an input has the recipe's micro-batch as its size */
    bool lacks_batch;                       /* no dimension is the batch: data.batch=0 says so, or an input has the name twice */
    bool weights_in_nodes;                  /* there are no initialisers, so Constant nodes hold the parameters */
};

static inline bool onnx_is(const struct onnx_node *n, enum onnx_op id) { return n && n->op->id == id; }
static inline bool onnx_has(const struct onnx_node *n, unsigned traits) { return n && n->op->traits & traits; }

/* ---- file.c: bytes to messages, messages to numbers ------------------------------------------------------------------ */

/* The two functions below unpack into the arena, and return NULL if they refuse, or find no graph. contents: large tensors are read too. */
const Onnx__ModelProto *onnx_unpack_model(const char *path, bool contents, struct arena *a, struct err *err);
const Onnx__GraphProto *onnx_unpack_graph(const ProtobufCBinaryData *bytes, struct arena *a);
/* The file's bytes without the numbers of large tensors. False: not in protobuf's format, or a read error. */
bool onnx_skim(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a);
bool onnx_is_whole(int type);           /* true for integers of any size, but not for booleans */
bool onnx_is_float(int type);
double *onnx_tensor_contents(const Onnx__TensorProto *t, uint64_t most, struct arena *a);   /* NULL if absent, or if it has more than `most` elements */

/* ---- model.c: attributes, operands and lists of a node; nodes of our own -------------------------------------------------- */

uint32_t onnx_value(struct onnx_model *m, const char *name);      /* the value of this name, made where there is none */
struct onnx_node onnx_empty_node(void);     /* for a place among the nodes that is still empty */
/* The value of a key among metadata_props; NULL if it is not there. */
const char *onnx_metadata(Onnx__StringStringEntryProto *const *props, size_t n, const char *key);


/* `otherwise` is returned for an attribute that is absent. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *n, const char *name);    /* NULL if absent */
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise);
bool onnx_flag(const struct onnx_node *n, const char *name, bool otherwise);
double onnx_float(const struct onnx_node *n, const char *name, double otherwise);
const char *onnx_string(const struct onnx_node *n, const char *name, const char *otherwise, struct arena *a);
struct op_attributes onnx_function_attributes(const struct onnx_node *n);    /* attributes of an operator that is a function of elements */
/* Always false: one line in err with the file, the node and its operator. */
bool onnx_refuse(const struct onnx_model *m, const struct onnx_node *n, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* An input or output of the node; NULL if left out. The inputs that a row of the table demands are there, which static analyzers cannot see. */
struct onnx_value *onnx_in(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
struct onnx_value *onnx_out(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
bool onnx_holds_parameters(const struct onnx_model *m, const struct onnx_value *v);    /* true for floats that the file itself holds */
uint64_t onnx_elements(const struct onnx_value *v);
uint64_t onnx_elements_between(const struct onnx_value *v, uint32_t first, uint32_t end);   /* product of dims[first..end) */
static inline bool onnx_is_known_number(const struct onnx_value *v) { return v && v->known && onnx_elements(v) == 1; }
void onnx_copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);
bool onnx_has_size(uint32_t n_dims, const uint64_t *dims);      /* at most 2^40 elements, and below 2^32 along each dimension */
bool onnx_axis(uint32_t *axis, int64_t given, uint32_t n_dims);     /* given: the axis, or -1 for the last one and so on; false if it is out of range */
/* Numbers that older opsets have as an attribute and newer ones as an input; n = 0 if both are absent. False: the
 * input is not known. */
struct onnx_list { uint32_t n; int64_t at[2 * ONNX_MAX_DIMS]; };
bool onnx_list(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, const char *attribute, uint32_t input);
int64_t onnx_whole(double x);          /* limited to +-2^60; 0 for NAN */

/* Replacing nodes: n empty places from a node on; a node with one result; one with an attribute `axes`; one that is
 * gone; a known number. */
bool onnx_make_room(struct onnx_model *m, size_t from, size_t n, struct err *err);
void onnx_put(struct onnx_model *m, size_t at, enum onnx_op op, uint32_t n_inputs, const uint32_t *inputs, uint32_t result);
void onnx_put_axis(struct onnx_model *m, size_t at, enum onnx_op op, uint32_t input, uint32_t result, int64_t axis);
void onnx_drop_inputs(struct onnx_model *m, const struct onnx_node *n);    /* the node stops counting as a reader of its inputs */
void onnx_retire(struct onnx_model *m, size_t id, const char *why);
uint32_t onnx_number(struct onnx_model *m, const char *name, int type, double x);

/* The node's operator as the options' sheet has it; NULL: the sheet lacks it. (map_random.c) */
const struct codelet *onnx_codelet(const struct onnx_model *m, const struct onnx_node *n);

/* ---- link.c: names to indices ------------------------------------------------------------------------------------------ */

/* The value that a name means in a scope: the scope's own, or that of the nearest scope around it. */
uint32_t onnx_value_seen(struct onnx_model *m, const char *scope, const char *name);
void onnx_bind(struct onnx_model *m, const char *scope, const char *name, uint32_t to);     /* makes the name mean `to` in the scope */
bool onnx_add_initialiser(struct onnx_model *m, const Onnx__TensorProto *t, const char *scope, struct err *err);
/* The type and shape that the file declares for a value. */
bool onnx_add_info(struct onnx_model *m, uint32_t id, const Onnx__ValueInfoProto *info, struct err *err);
bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err);

#endif
