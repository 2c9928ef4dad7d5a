/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_internal.h - what the files that turn ONNX operators into graph operations share.
 *
 * A value of the file is a tensor of the graph in one of two layouts: plain, row-major in the file's dimensions; or image,
 * [batch, height, width, channels] where the file has [batch, channels, height, width] (one spatial dimension: height 1; three: depth
 * and height are joined). Dimensions are followed lazily: a reshape makes no operation until someone needs its dimensions.
 */
#ifndef MAP_INTERNAL_H
#define MAP_INTERNAL_H
#include "workloads/onnx/model.h"

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
