/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_internal.h - an ONNX file in memory, the table of operators, and what the files of this room share.
 *
 * Read in the order in which a file passes through: file.c (bytes to messages), link.c (names to indices), infer.c
 * (sizes and shapes, with control.c for control flow and sequences, shape.c and shape_moves.c for the rules, fold.c
 * for known contents), fuse.c (patterns), build.c (nodes to operations, with the map_*.c files), layers.c. operators.c
 * says what applies to which operator. A graph becomes a file in write.c, with message.c and initial.c.
 */
#ifndef ONNX_INTERNAL_H
#define ONNX_INTERNAL_H
#include "system-model/graph/graph.h"
#include "workloads/onnx/onnx.h"
#include "workloads/onnx/onnx.pb-c.h"

enum { ONNX_MAX_DIMS = 8, OLDEST_OPSET = 7, NEWEST_OPSET = 25, MOST_NODES = 200000, DEEPEST_BODIES = 32 };
enum { MOST_KNOWN = 4096 };         /* constants of at most so many elements have known contents */

/* The key in a node's metadata_props that names its layer: role, block, part, parts and name, as write.c has it. */
#define ONNX_LAYER_KEY "podbench.layer"
/* The key in a model's metadata_props that says that all of its outputs are trained on; its value is the loss. */
#define ONNX_LOSS_KEY "podbench.loss"
/* The value of a key among metadata_props; NULL if it is not there. */
const char *onnx_metadata(Onnx__StringStringEntryProto *const *props, size_t n, const char *key);

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
    double *known;                          /* its contents, or NULL */
    const struct onnx_items *items;         /* a sequence's tensors; NULL: this is a tensor */
    bool given;                             /* the options give its number or, bounded, its size */
    bool bounded, largest;                  /* its size depends on data: given, or the largest possible */
    bool constant;                          /* it follows from initialisers alone */
    bool output;                            /* an output of the whole graph */
    const Onnx__TensorProto *data;          /* the contents of an initialiser or a Constant node; else NULL */
    uint32_t producer;                      /* node; NO_ID means an input or initialiser */
    bool bound;                             /* a parameter or result of a function: another name for bound_to, NO_ID if it is left out */
    uint32_t bound_to;
    uint32_t n_readers;
};

/* A call of a function of the file. Its nodes replace the calling node; outer is the call that this one is part of, or
 * NULL. */
struct onnx_call { const Onnx__FunctionProto *function; const Onnx__NodeProto *by; const struct onnx_call *outer; };

struct onnx_node {
    const struct onnx_operator *op;         /* its row in operators.c; operators without one get a row with nothing but a name */
    const char *name, *written;             /* written: the operator in the file, which fusing may change */
    const Onnx__NodeProto *proto;           /* attributes; NULL: all have their defaults */
    const struct onnx_call *call;           /* the call that it is part of, or NULL */
    const char *layer;                      /* the value of ONNX_LAYER_KEY, or NULL */
    const char *scope;                      /* prefix of names in its branch, round or function; "": the graph itself */
    struct onnx_loop *loop;                 /* state of a Loop between two rounds */
    uint32_t n_inputs, n_outputs;
    uint32_t *inputs, *outputs;             /* values; NO_ID if left out */
    double epsilon;                         /* a fused norm's; 0: its attribute has it */
    const char *fused_as;                   /* the operation that it is part of, or has become; else NULL */
    bool gone;                              /* other nodes do its work */
    bool rough;                             /* its replacement is a guess, counted as approximated */
};

struct onnx_model {
    const char *path, *producer;
    int64_t opset;
    struct arena *arena;
    struct onnx_value *values; size_t n_values, cap_values;
    struct onnx_node *nodes; size_t n_nodes, cap_nodes;     /* each after the nodes that make its inputs */
    const Onnx__ModelProto *file;
    uint32_t *inputs, *outputs; size_t n_inputs, n_outputs;
    size_t n_wanted;                        /* the first so many outputs count: in training one, or those that recipe.output names */
    struct hash_table names;                /* the numbers of values, by name */
    uint64_t batch;                         /* samples, from the recipe */
    uint32_t n_bodies;                      /* branches taken and rounds run so far */
    bool approximate;                       /* option --approximate */
    const struct onnx_options *options;
    uint64_t file_batch;                    /* the batch size that the file fixes; 0 if it is symbolic */
    const char *batch_name;                 /* the symbolic batch, or NULL */
    bool has_batch;                         /* a dimension of an input has the recipe's micro-batch as its size */
    bool lacks_batch;                       /* no dimension is the batch: data.batch=0 says so, or an input has the name twice */
    bool weights_in_nodes;                  /* there are no initialisers: Constant nodes hold the parameters */
};

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

/* Properties of operators that passes ask for, whichever the operator is. */
enum onnx_trait {
    ONNX_VIEWS = 1,                 /* the elements of its first input, in another form, order or type */
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
    ONNX_PICKS_ELEMENTS = 16384,    /* by an index for each element along an axis */
};

struct inference;
struct fold;
struct mapper;
enum { ALL_INPUTS = UINT8_MAX };
struct onnx_operator {
    const char *name;
    uint8_t n_inputs;                                       /* at least so many have a shape before `shape` is called; ALL_INPUTS */
    bool (*shape)(const struct inference *s);               /* NULL if not modelled; its result's shape is guessed */
    bool (*map)(struct mapper *p);                          /* NULL: folded or replaced, never an operation of the graph */
    bool (*fold)(struct fold *f);                           /* contents from contents; without fold or element they are not followed */
    double (*element)(const struct fold *f, uint64_t i); uint8_t n_folded;      /* element by element, from so many inputs */
    bool (*unfold)(struct onnx_model *m, size_t node_id, struct err *err);     /* control flow and sequences: the node is replaced */
    enum onnx_op id;
    unsigned traits;                                        /* enum onnx_trait */
    enum op_kind kind; enum op_function function;           /* the operation of the graph that computes its elements */
    double low, high; const char *low_name, *high_name;     /* defaults of the function's constants, and their attributes */
    bool sum; int before, after;                            /* reductions: times the count; functions before and after, NO_FUNCTION */
    const char *rough_as; uint32_t n_kept, kept[4];         /* --approximate: the operator that replaces it, and the inputs that stay */
};
enum { NO_FUNCTION = N_OP_FUNCTIONS };

extern const struct onnx_operator onnx_no_operator;     /* for a place among the nodes that is still empty */
const struct onnx_operator *onnx_operator(const char *name, struct arena *a);
const struct onnx_operator *onnx_operator_by_id(enum onnx_op id);
static inline bool onnx_is(const struct onnx_node *n, enum onnx_op id) { return n && n->op->id == id; }
static inline bool onnx_has(const struct onnx_node *n, unsigned traits) { return n && n->op->traits & traits; }
/* Replaces an operator that is not modelled by a similar one, where the table has one; the node is rough then. */
void onnx_stand_in(struct onnx_model *m, struct onnx_node *n);

/* ---- file.c: bytes to messages, messages to numbers ------------------------------------------------------------------ */

/* Both unpack into the arena; NULL if refused, or no graph. contents: large tensors are read too. */
const Onnx__ModelProto *onnx_unpack_model(const char *path, bool contents, struct arena *a, struct err *err);
const Onnx__GraphProto *onnx_unpack_graph(const ProtobufCBinaryData *bytes, struct arena *a);
/* The file's bytes without the numbers of large tensors. False: not in protobuf's format, or a read error. */
bool onnx_skim(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a);
bool onnx_is_whole(int type);           /* an integer of any size; booleans are not */
bool onnx_is_float(int type);
double *onnx_tensor_contents(const Onnx__TensorProto *t, uint64_t most, struct arena *a);   /* NULL if absent, or more than most elements */

/* ---- message.c: new messages, in an arena, for files that are written -------------------------------------------------- */

/* An empty message; init: the initialiser of its type. */
#define ONNX_NEW(a, type, init) ((type *)memcpy(ARENA_NEW((a), type), &(type)init, sizeof(type)))
Onnx__NodeProto *onnx_new_node(struct arena *a, const char *op, const char *name);
Onnx__AttributeProto *onnx_new_attribute(struct arena *a, const char *name);
Onnx__TensorProto *onnx_new_tensor(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims);
/* names: of symbolic dimensions, NULL where one has its size; NULL: all have. */
Onnx__ValueInfoProto *onnx_new_info(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, char *const *names);

Onnx__StringStringEntryProto *onnx_new_entry(struct arena *a, const char *key, const char *value);
enum onnx_attribute_type { ATTRIBUTE_FLOAT = 1, ATTRIBUTE_INT = 2, ATTRIBUTE_TENSOR = 4, ATTRIBUTE_INTS = 7 };
Onnx__AttributeProto *onnx_put_attribute(struct arena *a, Onnx__NodeProto *n, const char *name, enum onnx_attribute_type type);
void onnx_put_int(struct arena *a, Onnx__NodeProto *n, const char *name, int64_t x);
void onnx_put_float(struct arena *a, Onnx__NodeProto *n, const char *name, double x);
void onnx_put_ints(struct arena *a, Onnx__NodeProto *n, const char *name, size_t count, const uint32_t *numbers);
Onnx__TensorProto *onnx_new_integers(struct arena *a, const char *name, uint32_t n, const uint64_t *numbers);
/* n equal floats; n_dims: 1, or 0 for a single one. */
Onnx__TensorProto *onnx_new_floats(struct arena *a, const char *name, size_t n_dims, uint64_t n, double x);
/* Floats, or bytes of truth values, from numbers. */
Onnx__TensorProto *onnx_new_raw(struct arena *a, const char *name, int type, size_t n_dims, const uint64_t *dims, const double *from);
/* The tensor's numbers are in another file. */
void onnx_put_external(struct arena *a, Onnx__TensorProto *t, const char *location, uint64_t offset, uint64_t n_bytes);

/* ---- initial.c: numbers of weights that are written ------------------------------------------------------------------ */

/* Writes the numbers that the seed gives a weight, as floats in the file's order: ONNX_AS_IS, ONNX_KERNEL or ONNX_GATES. Returns their bytes. */
uint64_t onnx_write_initial(FILE *f, const struct graph *g, uint32_t id, enum onnx_layout layout, uint64_t seed);
/* The first operation that reads a tensor, and which of its inputs the tensor is; NULL if none. */
const struct op *onnx_first_reader(uint32_t *input, const struct graph *g, uint32_t id);

/* ---- link.c: names to indices ------------------------------------------------------------------------------------------ */

bool onnx_read(struct onnx_model *out, const char *path, bool contents, struct arena *a, struct err *err);
uint32_t onnx_value(struct onnx_model *m, const char *name);      /* the value of this name, made where there is none */
/* The value that a name means in a scope: the scope's own, or that of the nearest scope around it. */
uint32_t onnx_value_seen(struct onnx_model *m, const char *scope, const char *name);
void onnx_bind(struct onnx_model *m, const char *scope, const char *name, uint32_t to);     /* in the scope, the name means `to` */
bool onnx_add_initialiser(struct onnx_model *m, const Onnx__TensorProto *t, const char *scope, struct err *err);
bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err);

/* ---- model.c: attributes, operands and lists of a node; nodes of our own -------------------------------------------------- */

/* `otherwise` is returned for an attribute that is absent. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *n, const char *name);    /* NULL if absent */
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise);
bool onnx_flag(const struct onnx_node *n, const char *name, bool otherwise);
double onnx_float(const struct onnx_node *n, const char *name, double otherwise);
const char *onnx_string(const struct onnx_node *n, const char *name, const char *otherwise, struct arena *a);
struct op_attributes onnx_function_attributes(const struct onnx_node *n);    /* for an operator that is a function of elements */
/* Always false: one line in err with the file, the node and its operator. */
bool onnx_refuse(const struct onnx_model *m, const struct onnx_node *n, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* NULL if left out. The inputs that a row of the table demands are there, which static analyzers cannot see. */
struct onnx_value *onnx_in(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
struct onnx_value *onnx_out(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
bool onnx_holds_parameters(const struct onnx_model *m, const struct onnx_value *v);    /* floats that the file itself holds */
uint64_t onnx_elements(const struct onnx_value *v);
uint64_t onnx_elements_between(const struct onnx_value *v, uint32_t first, uint32_t end);   /* product of dims[first..end) */
static inline bool onnx_is_known_number(const struct onnx_value *v) { return v && v->known && onnx_elements(v) == 1; }
void onnx_copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);
bool onnx_has_size(uint32_t n_dims, const uint64_t *dims);      /* at most 2^40 elements, and below 2^32 along each dimension */
bool onnx_axis(uint32_t *axis, int64_t given, uint32_t n_dims);     /* -1 is the last dimension. False: out of range */
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
void onnx_drop_inputs(struct onnx_model *m, const struct onnx_node *n);    /* the node no longer counts as their reader */
void onnx_retire(struct onnx_model *m, size_t id, const char *why);
uint32_t onnx_number(struct onnx_model *m, const char *name, int type, double x);

/* ---- infer.c, control.c: sizes of the inputs, then shapes of all values in file order ------------------------------------- */

bool onnx_reach(struct onnx_model *m, const struct onnx_options *o, struct err *err);   /* retires nodes that no output needs */
bool onnx_infer(struct onnx_model *m, const struct onnx_options *o, struct err *err);

/* ---- shape.c, shape_moves.c: rules of shapes -------------------------------------------------------------------------------- */

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
/* The ranges of a Slice: n elements along an axis, step apart. False: known only while the model runs; good:
 * well-formed. */
struct onnx_cut { uint32_t axis; int64_t from, step; uint64_t n; };
struct onnx_cuts { uint32_t n; struct onnx_cut at[2 * ONNX_MAX_DIMS]; bool good; };
bool onnx_cuts(struct onnx_cuts *out, const struct onnx_model *m, const struct onnx_node *n);
bool onnx_pads(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, uint32_t n_dims);    /* all before, then all after */

/* ---- fold.c, fuse.c ------------------------------------------------------------------------------------------------------------ */

/* Evaluates one node with known inputs: contents of the first three inputs (NULL if unknown), and of out to be filled. */
struct fold {
    struct onnx_model *m; const struct onnx_node *n; struct onnx_value *out; const double *a, *b, *c; uint64_t n_out;
    bool all;                                               /* contents of any size, for onnx_contents */
};
void onnx_fold(struct onnx_model *m, const struct onnx_node *n);
void onnx_fuse(struct onnx_model *m);

/* ---- build.c and map_*.c: nodes to operations of the graph ------------------------------------------------------------------------ */

/*
 * A value of the file is a tensor of the graph in one of two layouts: plain, row-major in the file's dimensions; or
 * image, [batch, height, width, channels] where the file has [batch, channels, height, width] (one spatial dimension:
 * height 1; three: depth and height are joined). Dimensions are followed lazily: a reshape makes no operation until
 * its result is used in its dimensions.
 */
struct mapped { uint32_t tensor, other; bool image, swapped; };   /* other: the same in the other layout; swapped: last two dimensions exchanged */

/* A value that was split along an axis of the file into n equal pieces; first: tensor of the first piece. */
struct division { uint32_t value, axis, first; uint64_t n; bool image; };

struct mapper {
    struct onnx_model *m;
    struct graph *g;
    const struct onnx_options *o;
    struct onnx_import *import;
    struct mapped *of;              /* by value; tensor NO_ID: not made yet */
    const struct onnx_node *n;      /* the node being mapped */
    const bool *wanted;             /* by value: an output needs it */
    struct division *divisions; size_t n_divisions, cap_divisions;
    const char *into;               /* the node's fate, for the report */
    bool layers_named;              /* so far, each node that made operations has named their layer */
    struct err *err;
};

#define MAP_REFUSE(p, ...) onnx_refuse((p)->m, (p)->n, (p)->err, __VA_ARGS__)
#define WITH(...) (struct op_attributes){ __VA_ARGS__ }
#define NO_ATTRIBUTES (struct op_attributes){ 0 }

static inline const struct onnx_value *map_in(const struct mapper *p, uint32_t i) { return onnx_in(p->m, p->n, i); }
static inline const struct onnx_value *map_out(const struct mapper *p, uint32_t i) { return onnx_out(p->m, p->n, i); }
static inline uint32_t map_in_id(const struct mapper *p, uint32_t i) { return i < p->n->n_inputs ? p->n->inputs[i] : NO_ID; }
static inline bool map_is_wanted(const struct mapper *p, uint32_t i) { return map_out(p, i) && p->wanted[p->n->outputs[i]]; }
static inline bool map_is_image(const struct mapper *p, uint32_t value) { return p->of[value].tensor != NO_ID && p->of[value].image; }

/* map_tensors.c: operations of the graph. Operands and results are NO_ID after a refusal, which all of these and
 * map_done() pass on. */
uint32_t map_emit(struct mapper *p, enum op_kind kind, const uint32_t *inputs, uint32_t n, struct op_attributes at);
uint32_t map_emit1(struct mapper *p, enum op_kind kind, uint32_t x, struct op_attributes at);
uint32_t map_emit2(struct mapper *p, enum op_kind kind, uint32_t x, uint32_t y, struct op_attributes at);
uint32_t map_emit_function(struct mapper *p, enum op_function function, uint32_t x);
uint32_t map_combined(struct mapper *p, enum op_function function, uint32_t x, uint32_t y);
uint32_t map_of_type(struct mapper *p, uint32_t x, enum data_type type);        /* x itself if it has the type */
uint32_t map_range(struct mapper *p, uint32_t x, uint32_t axis, uint64_t begin, uint64_t length);
uint32_t map_clipped(struct mapper *p, uint32_t x, double low, double high);
uint32_t map_view(struct mapper *p, uint32_t tensor, uint32_t n_dims, const uint64_t *dims);  /* no operation where dims are its own */
uint32_t map_joined(struct mapper *p, uint32_t *parts, uint64_t n, uint32_t axis);     /* concatenated; parts are overwritten */
#define VIEW(p, tensor, ...) map_view(p, tensor, sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t), (uint64_t[]){ __VA_ARGS__ })

/* Values as operands, in a layout. NO_ID if refused. */
uint32_t map_as_plain(struct mapper *p, uint32_t value);      /* in its own dimensions, at most MAX_DIMS; a scalar has one */
uint32_t map_any_plain(struct mapper *p, uint32_t value);     /* row-major, in whatever dimensions the tensor has */
uint32_t map_as_image(struct mapper *p, uint32_t value);
uint32_t map_in_layout(struct mapper *p, uint32_t value, bool image);       /* map_as_image or map_as_plain */
uint32_t map_as_operand(struct mapper *p, uint32_t value, bool image, uint32_t n_dims);     /* with leading ones up to n_dims */
void map_image_dims(uint64_t dims[4], const struct onnx_value *v);          /* [batch, height, width, channels] of three to five dimensions */
uint32_t map_plain_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);     /* returns their number; a scalar has one */
uint32_t map_tensor_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);    /* the same, leading ones joined down to MAX_DIMS */
bool map_is_image_along(const struct mapper *p, uint32_t value, uint32_t axis);     /* an image that has this axis of the file's */
uint32_t map_axis(const struct mapper *p, int64_t usual, uint32_t n_dims);      /* attribute axis, else the usual one */
uint32_t map_layout_axis(uint32_t axis, bool image, uint32_t n_dims);       /* an axis of the file, in the layout */
bool map_done(struct mapper *p, uint32_t i, uint32_t tensor, bool image);       /* the tensor becomes output i */
bool map_done_as(struct mapper *p, const char *into, uint32_t tensor, bool image);      /* output 0; into: the node's fate */
const struct onnx_node *map_only_reader(const struct mapper *p, uint32_t value);    /* NULL if none, several, or it is an output */

/* map_tensors.c: constants. A weight, or state where it is not trained; a vector of n equal numbers; where a tensor's
 * contents come from. */
enum data_type map_type(const struct mapper *p, int onnx_type);
uint32_t map_weight(struct mapper *p, uint32_t value, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims);
uint32_t map_filled(struct mapper *p, double number, uint64_t n);
struct onnx_source *map_source(struct mapper *p, uint32_t tensor, enum onnx_layout layout, uint32_t value);

/* map_move.c. The piece of its first input that the node takes, if all pieces of it have readers: then the value is
 * split once. NO_ID: else. */
uint32_t map_piece(struct mapper *p, bool image);
uint32_t map_every_nth(struct mapper *p, uint32_t x, uint32_t axis, uint64_t from, uint64_t n, uint64_t step);
/* Dimension i of the result is perm[i] of x, seen in these dimensions. */
uint32_t map_transposed(struct mapper *p, uint32_t x, const uint64_t *dims, const uint32_t *perm, uint32_t n);

/* map_math.c */
bool map_fits_in(const struct tensor *small, const struct tensor *large);      /* broadcasting makes the small one as large */
uint32_t map_scaled(struct mapper *p, uint32_t x, double factor);        /* x itself for 1 */
uint32_t map_shifted(struct mapper *p, uint32_t x, double by);           /* x itself for 0 */
uint32_t map_added(struct mapper *p, uint32_t x, uint32_t y);           /* x + y; y fits in x */

/* map_sums.c. Reduces n of [outer, n, inner], as the height of an image: to the mean, the largest or (OP_MUL) the
 * product. NO_ID: n is above 2^32 - 1, and refused. */
uint32_t map_pooled(struct mapper *p, uint32_t x, uint64_t outer, uint64_t n, uint64_t inner, enum op_kind kind);
uint32_t map_mean(struct mapper *p, uint32_t x, uint64_t *dims, uint32_t n, uint32_t gone);    /* gone: bits of neighbouring axes; they become 1 */
uint32_t map_row_sums(struct mapper *p, uint32_t x, uint64_t rows, uint64_t n);    /* [rows, n] to [rows, 1]; n fits in 32 bits */

/* map_pick.c: the value that a node reads as input i: its own, or the column that an index of GatherElements or
 * ScatterElements along the first dimension was expanded from, as whole rows are picked then. */
uint32_t map_read_id(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
/* 0, 1, 2, ... as [1, n]; one-hot rows: [rows] of indices to [rows, columns] of the type. */
uint32_t map_numbers(struct mapper *p, const char *name, enum data_type type, uint64_t n);
uint32_t map_ones_at(struct mapper *p, uint32_t index, uint64_t rows, uint64_t columns, enum data_type type);

/* layers.c: gives every operation its layer; marks tensors that depend on one of this role. */
void onnx_group_layers(struct graph *g);
/* Opens the layer that the node's metadata name, if it is another one than the open one. False: they name none. */
bool onnx_open_layer(struct graph *g, const struct onnx_node *n);
void map_dependent(bool *depends, const struct graph *g, enum tensor_role role);

/* ---- the functions that rows of the table name: false is a refusal ------------------------------------------------------- */

typedef bool infer_rule(const struct inference *s);
/* shape.c */
infer_rule infer_cast, infer_cast_like, infer_constant, infer_constant_of_shape, infer_conv, infer_conv_transpose, infer_eye, infer_gemm,
    infer_global_pool, infer_like_first, infer_matmul, infer_numbers, infer_pair, infer_pool, infer_quotient, infer_range, infer_recurrence,
    infer_shape, infer_size, infer_test, infer_truth, infer_where;
/* shape_moves.c */
infer_rule infer_argmax, infer_compress, infer_concat, infer_dequantize, infer_depth_to_space, infer_expand, infer_flatten, infer_gather,
    infer_gather_elements, infer_gather_nd, infer_grid_sample, infer_loss, infer_non_max_suppression, infer_nonzero, infer_one_hot, infer_pad,
    infer_quantize, infer_reduce, infer_reshape, infer_resize, infer_roi_align, infer_slice, infer_space_to_depth, infer_split, infer_squeeze,
    infer_tile, infer_top_k, infer_transpose, infer_unsqueeze;
/* The factor by which a Resize changes each dimension. Returns false if the factors are not known. */
bool onnx_resize_factors(double out[ONNX_MAX_DIMS], const struct onnx_model *m, const struct onnx_node *n);
infer_rule infer_einsum, infer_attention;        /* map_einsum.c, map_attention.c */

typedef bool fold_rule(struct fold *f);
fold_rule fold_concat, fold_constant, fold_constant_of_shape, fold_dequantize, fold_gather, fold_nonzero, fold_reduction, fold_slice, fold_split,
    fold_transpose, fold_triangle;
typedef double fold_element(const struct fold *f, uint64_t i);
fold_element fold_cast, fold_copy, fold_expand, fold_eye, fold_function, fold_mod, fold_not, fold_pair, fold_range, fold_shape, fold_size, fold_where;

typedef bool map_rule(struct mapper *p);
/* map_tensors.c, map_math.c */
map_rule map_alias, map_binary, map_cast, map_celu, map_clip, map_dequantize, map_dropout, map_function, map_mish, map_mod, map_not, map_pow,
    map_is_inf, map_prelu, map_quantize, map_selu, map_shrink, map_softsign, map_sum, map_swish, map_thresholded_relu, map_where, map_xor;
/* map_sums.c, map_einsum.c, map_recurrence.c */
map_rule map_arg_max, map_cumsum, map_einsum, map_gemm, map_loss, map_matmul, map_recurrence, map_reduce, map_rnn, map_softmax, map_triangle;
/* map_image.c, map_sample.c */
map_rule map_batch_norm, map_blocks, map_conv, map_conv_transpose, map_global_pool, map_grid_sample, map_group_norm, map_layer_norm, map_lrn,
    map_pool, map_resize, map_rms_norm, map_roi_align;
/* map_attention.c, map_bounded.c */
map_rule map_attention, map_compress, map_non_max_suppression, map_nonzero, map_rotary_embedding;
/* map_move.c, map_pick.c */
map_rule map_concat, map_expand, map_gather, map_gather_elements, map_gather_nd, map_hardmax, map_one_hot, map_pad, map_reshape, map_scatter,
    map_scatter_nd, map_slice, map_split, map_tile, map_top_k, map_transpose;

typedef bool unfold_rule(struct onnx_model *m, size_t node_id, struct err *err);
/* control.c: a node is replaced by those of its branch or round, or by what reads the tensors of a sequence. */
unfold_rule unfold_if, unfold_loop, unfold_scan, unfold_sequence_alias, unfold_sequence_at, unfold_sequence_concat, unfold_sequence_construct,
    unfold_sequence_erase, unfold_sequence_insert, unfold_sequence_length, unfold_sequence_split;

#endif
