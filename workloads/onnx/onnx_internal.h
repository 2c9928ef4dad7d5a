/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_internal.h - HEAD */
#ifndef ONNX_INTERNAL_H
#define ONNX_INTERNAL_H
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

/* ==== shapes ==== */

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


/* ==== mapping ==== */

struct mapped { uint32_t tensor, other; bool image, swapped; };   /* other: the same in the other layout; swapped: last two exchanged */

/* A value that was taken apart along a dimension of the file, in so many pieces; the first one's tensor. */
struct division { uint32_t value, axis, first; uint64_t n; bool image; };

struct mapper {
    struct onnx_model *m;
    struct graph *g;
    const struct onnx_options *o;
    struct onnx_import *import;
    struct mapped *of;              /* by value; tensor NO_ID: not made yet */
    const struct onnx_node *n;      /* being mapped */
    const bool *wanted;             /* by value: an output needs it */
    struct division *divisions; size_t n_divisions, cap_divisions;
    const char *into;               /* what it became, for the report */
    struct err *err;
};

#define MAP_REFUSE(p, ...) onnx_refuse((p)->m, (p)->n, (p)->err, __VA_ARGS__)
#define AT(...) (struct op_attributes){ __VA_ARGS__ }
#define NO_ATTRIBUTES (struct op_attributes){ 0 }

static inline const struct onnx_value *map_in(const struct mapper *p, uint32_t i) { return onnx_in(p->m, p->n, i); }
static inline const struct onnx_value *map_out(const struct mapper *p, uint32_t i) { return onnx_out(p->m, p->n, i); }
static inline uint32_t in_id(const struct mapper *p, uint32_t i) { return i < p->n->n_inputs ? p->n->inputs[i] : NO_ID; }
static inline bool map_is_wanted(const struct mapper *p, uint32_t i) { return map_out(p, i) && p->wanted[p->n->outputs[i]]; }
static inline bool is_image(const struct mapper *p, uint32_t value) { return p->of[value].tensor != NO_ID && p->of[value].image; }
static inline bool known_number(const struct onnx_value *v) { return v && v->known && onnx_elements(v) == 1; }

/* map_tensors.c: operations of the graph, and values as their operands. NO_ID: refused. */
uint32_t emit(struct mapper *p, enum op_kind kind, const uint32_t *inputs, uint32_t n, struct op_attributes at);
uint32_t emit1(struct mapper *p, enum op_kind kind, uint32_t x, struct op_attributes at);
uint32_t emit2(struct mapper *p, enum op_kind kind, uint32_t x, uint32_t y, struct op_attributes at);
uint32_t emit_function(struct mapper *p, enum op_function function, uint32_t x);
uint32_t map_view(struct mapper *p, uint32_t tensor, uint32_t n_dims, const uint64_t *dims);  /* the tensor itself where they are its own */
#define VIEW(p, tensor, ...) map_view(p, tensor, sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t), (uint64_t[]){ __VA_ARGS__ })
void image_dims(uint64_t dims[4], const struct onnx_value *v);          /* [batch, height, width, channels] of three to five dimensions */
uint32_t map_plain_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);     /* its own; a scalar has one. Returns how many. */
uint32_t map_tensor_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);    /* the same, of many the first joined */
bool is_image_along(const struct mapper *p, uint32_t value, uint32_t axis);     /* it lies as one, which has this axis of the file's */
uint32_t as_plain(struct mapper *p, uint32_t value);      /* of its own dimensions, of at most MAX_DIMS; a scalar has one */
uint32_t as_image(struct mapper *p, uint32_t value);
uint32_t any_plain(struct mapper *p, uint32_t value);     /* row-major, whatever its dimensions */
uint32_t in_layout(struct mapper *p, uint32_t value, bool image);
uint32_t as_operand(struct mapper *p, uint32_t value, bool image, uint32_t n_dims);     /* in a layout, of so many dimensions: ones in front */
uint32_t map_axis(const struct mapper *p, int64_t usual, uint32_t n_dims);      /* the node's own, or the usual one */
uint32_t layout_axis(uint32_t axis, bool image, uint32_t n_dims);       /* of the file, in the layout */
bool map_done(struct mapper *p, uint32_t i, uint32_t tensor, bool image);       /* the tensor becomes output i */
bool map_alias(struct mapper *p);                                       /* output 0 is input 0, in whatever dimensions */
const struct onnx_node *map_only_reader(const struct mapper *p, uint32_t value);    /* of a node's result; NULL: none, many, or it leaves the graph */

/* map_weights.c: the type that the graph has for one of the file's; a constant of the file as a weight, or as state where nothing is to be
 * trained; a vector of one number; what a tensor holds. */
enum data_type map_type(const struct mapper *p, int onnx_type);
uint32_t map_weight(struct mapper *p, uint32_t value, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims);
uint32_t map_filled(struct mapper *p, double number, uint64_t n);
struct onnx_source *map_source(struct mapper *p, uint32_t tensor, enum onnx_layout layout, uint32_t value);

/* map.c: by value, whether an output needs it; the mapper's node, as operations of the graph. */
bool *map_wanted(const struct mapper *p);
bool map_node(struct mapper *p);

/* map_pieces.c: the node's range of its first input, where its readers' ranges together are all of it; NO_ID: they are not. */
uint32_t map_piece(struct mapper *p, bool image);

/* map_move.c: every step-th of n along an axis; dimension i of the result is perm[i] of x, which is seen in these dimensions. */
uint32_t every_nth(struct mapper *p, uint32_t x, uint32_t axis, uint64_t from, uint64_t n, uint64_t step);
uint32_t map_transposed(struct mapper *p, uint32_t x, const uint64_t *dims, const uint32_t *perm, uint32_t n);

/* map_math.c */
bool map_fits_in(const struct tensor *small, const struct tensor *large);      /* repeated where it has ones, the small one is as large */
uint32_t map_scaled(struct mapper *p, uint32_t x, double factor);        /* by 1: itself */
uint32_t map_shifted(struct mapper *p, uint32_t x, double by);           /* by 0: itself */
uint32_t map_added(struct mapper *p, uint32_t x, uint32_t y);           /* x + y, of which y fits in x */

/* map_sums.c. Of [outer, n, inner] all of n as the height of an image: the mean, the largest or (OP_MUL) the product. NO_ID: refused, more
 * than 2^32 - 1. */
uint32_t map_pooled(struct mapper *p, uint32_t x, uint64_t outer, uint64_t n, uint64_t inner, enum op_kind kind);
/* Over neighbouring dimensions (gone: a bit each) of x, which is seen in these; they become ones. */
uint32_t map_mean(struct mapper *p, uint32_t x, uint64_t *dims, uint32_t n, uint32_t gone);
uint32_t map_row_sums(struct mapper *p, uint32_t x, uint64_t rows, uint64_t n);    /* [rows, n] to [rows, 1]; n fits in 32 bits */

/* map_pick.c: 0, 1, 2, ... as [1, n]; one where a row's index is the number of the column: [rows] to [rows, columns] of the type. */
uint32_t map_numbers(struct mapper *p, const char *name, enum data_type type, uint64_t n);
uint32_t map_ones_at(struct mapper *p, uint32_t index, uint64_t rows, uint64_t columns, enum data_type type);

/* ---- one function an operator, or a family of them: false: refused ------------------------------- */

#define MAPS(name) bool name(struct mapper *p)
/* map_math.c */
MAPS(map_function); MAPS(map_relu); MAPS(map_binary); MAPS(map_sum); MAPS(map_where); MAPS(map_cast); MAPS(map_clip); MAPS(map_pow);
MAPS(map_dropout); MAPS(map_not); MAPS(map_prelu); MAPS(map_composed); MAPS(map_xor); MAPS(map_mod);
/* map_sums.c */
MAPS(map_matmul); MAPS(map_gemm); MAPS(map_softmax); MAPS(map_reduce); MAPS(map_arg_max); MAPS(map_cumsum); MAPS(map_triangle);
/* map_quantize.c */
MAPS(map_quantize); MAPS(map_dequantize);
/* map_loss.c */
MAPS(map_loss);
/* map_sample.c */
MAPS(map_grid_sample); MAPS(map_roi_align);
/* map_recurrence.c */
MAPS(map_recurrence); MAPS(map_rnn);
/* map_einsum.c */
MAPS(map_einsum);
/* map_image.c */
MAPS(map_conv); MAPS(map_conv_transpose); MAPS(map_pool); MAPS(map_global_pool); MAPS(map_batch_norm); MAPS(map_group_norm);
MAPS(map_layer_norm); MAPS(map_lrn); MAPS(map_resize); MAPS(map_blocks);
/* map_move.c */
MAPS(map_reshape); MAPS(map_transpose); MAPS(map_concat); MAPS(map_split); MAPS(map_slice); MAPS(map_pad); MAPS(map_expand);
MAPS(map_tile);
/* map_pick.c */
MAPS(map_gather); MAPS(map_gather_elements); MAPS(map_gather_nd); MAPS(map_one_hot); MAPS(map_hardmax);
MAPS(map_scatter); MAPS(map_scatter_nd); MAPS(map_top_k);
#undef MAPS

/* layers.c: gives every operation its layer; by tensor: one of this role is among what it is made of. */
void onnx_group_layers(struct graph *g);
void map_dependent(bool *depends, const struct graph *g, enum tensor_role role);

#endif
