/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_mapper.h - nodes to operations of the graph: values as tensors, what the map_*.c files share, and the rules that rows of the table name. Private to this folder.
 */
#ifndef ONNX_MAPPER_H
#define ONNX_MAPPER_H
#include "workloads/onnx/onnx_model.h"

/*
 * A value of the file is a tensor of the graph in one of two layouts: plain, row-major in the file's dimensions; or
 * image, [batch, height, width, channels] where the file has [batch, channels, height, width] (one spatial dimension:
 * height 1; three: depth and height are joined). Dimensions are followed lazily: a reshape makes no operation until
 * its result is used in its dimensions.
 */
struct mapped { uint32_t tensor, other; bool image, swapped; };   /* other: the same value in the other layout; swapped: the last two dimensions are exchanged */

/* A value that was split along an axis of the file into n equal pieces; first: tensor of the first piece. */
struct division { uint32_t value, axis, first; uint64_t n; bool image; };

struct mapper {
    struct onnx_model *m;
    struct graph *g;
    const struct onnx_options *o;
    struct onnx_import *import;
    struct mapped *of;              /* by value; tensor NO_ID: not made yet */
    const struct onnx_node *n;      /* the node being mapped */
    const bool *wanted;             /* by value: an output depends on it */
    struct division *divisions; size_t n_divisions, cap_divisions;
    const char *into;               /* the node's fate, for the report */
    struct { uint32_t *items; size_t n, cap; } rounds;     /* by operation of the graph: how often it runs, each time on the result of the round
                                                              before */
    bool layers_named;              /* so far, each node that made operations names its layer */
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

/* map_tensors.c: operations of the graph. After a refusal results are NO_ID; these functions and map_done() accept NO_ID as an operand and pass it
 * on. */
uint32_t map_emit(struct mapper *p, enum op_kind kind, const uint32_t *inputs, uint32_t n, struct op_attributes at);
uint32_t map_emit1(struct mapper *p, enum op_kind kind, uint32_t x, struct op_attributes at);
uint32_t map_emit2(struct mapper *p, enum op_kind kind, uint32_t x, uint32_t y, struct op_attributes at);
uint32_t map_emit_function(struct mapper *p, enum op_function function, uint32_t x);
uint32_t map_combined(struct mapper *p, enum op_function function, uint32_t x, uint32_t y);
uint32_t map_of_type(struct mapper *p, uint32_t x, enum data_type type);        /* x itself if it has this type, else a cast of it */
uint32_t map_range(struct mapper *p, uint32_t x, uint32_t axis, uint64_t begin, uint64_t length);
uint32_t map_clipped(struct mapper *p, uint32_t x, double low, double high);
uint32_t map_view(struct mapper *p, uint32_t tensor, uint32_t n_dims, const uint64_t *dims);  /* the tensor itself if dims are its own */
uint32_t map_joined(struct mapper *p, uint32_t *parts, uint64_t n, uint32_t axis);     /* the parts, concatenated; the array of parts is overwritten */
#define VIEW(p, tensor, ...) map_view(p, tensor, sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t), (uint64_t[]){ __VA_ARGS__ })

/* Values as operands, in a layout. NO_ID if refused. */
uint32_t map_as_plain(struct mapper *p, uint32_t value);      /* the value in its own dimensions, at most MAX_DIMS; a scalar has one */
uint32_t map_any_plain(struct mapper *p, uint32_t value);     /* row-major, in whatever dimensions the tensor has */
uint32_t map_as_image(struct mapper *p, uint32_t value);
uint32_t map_in_layout(struct mapper *p, uint32_t value, bool image);       /* map_as_image or map_as_plain */
uint32_t map_as_operand(struct mapper *p, uint32_t value, bool image, uint32_t n_dims);     /* the operand, with dimensions of 1 put in front up to n_dims */
void map_image_dims(uint64_t dims[4], const struct onnx_value *v);          /* [batch, height, width, channels] of three to five dimensions */
uint32_t map_plain_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);     /* writes dims and returns how many there are; a scalar has one */
uint32_t map_tensor_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v);    /* map_plain_dims(), with leading dimensions joined down to MAX_DIMS */
bool map_is_image_along(const struct mapper *p, uint32_t value, uint32_t axis);     /* true if the value is an image with this axis, as the file counts axes */
uint32_t map_axis(const struct mapper *p, int64_t usual, uint32_t n_dims);      /* the attribute `axis`, or `usual` if it is absent */
uint32_t map_layout_axis(uint32_t axis, bool image, uint32_t n_dims);       /* the axis of a tensor in this layout that an axis of the file becomes */
bool map_done(struct mapper *p, uint32_t i, uint32_t tensor, bool image);       /* the tensor becomes output i */
bool map_done_as(struct mapper *p, const char *into, uint32_t tensor, bool image);      /* the tensor becomes output 0; into: the node's fate */
const struct onnx_node *map_only_reader(const struct mapper *p, uint32_t value);    /* NULL if the value has no reader or several, or is an output */

/* map_tensors.c: constants. map_weight() makes a weight, or state if it is not trained; the others make a vector of n equal numbers, and say where a
 * tensor's contents come from. */
enum data_type map_type(const struct mapper *p, int onnx_type);
uint32_t map_weight(struct mapper *p, uint32_t value, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims);
uint32_t map_filled(struct mapper *p, double number, uint64_t n);
struct onnx_source *map_source(struct mapper *p, uint32_t tensor, enum onnx_layout layout, uint32_t value);

/* map_move.c: the piece of its first input that the node reads, if all pieces of that input have readers; the input is then split once. NO_ID
 * otherwise. */
uint32_t map_piece(struct mapper *p, bool image);
uint32_t map_every_nth(struct mapper *p, uint32_t x, uint32_t axis, uint64_t from, uint64_t n, uint64_t step);
/* Dimension i of the result is dimension perm[i] of x, when x has these dimensions. */
uint32_t map_transposed(struct mapper *p, uint32_t x, const uint64_t *dims, const uint32_t *perm, uint32_t n);

/* map_math.c */
bool map_fits_in(const struct tensor *small, const struct tensor *large);      /* true if broadcasting makes `small` as large as `large` */
uint32_t map_scaled(struct mapper *p, uint32_t x, double factor);        /* x itself for 1 */
uint32_t map_shifted(struct mapper *p, uint32_t x, double by);           /* x itself for 0 */
uint32_t map_added(struct mapper *p, uint32_t x, uint32_t y);           /* x + y; y fits in x */

/* map_sums.c: reduces the n elements of [outer, n, inner] to their mean, their largest or (OP_MUL) their product. NO_ID: n is above 2^32 - 1, and
 * refused. */
uint32_t map_pooled(struct mapper *p, uint32_t x, uint64_t outer, uint64_t n, uint64_t inner, enum op_kind kind);
/* The mean over neighbouring axes; gone has a bit for each of them, and their dimensions become 1. */
uint32_t map_mean(struct mapper *p, uint32_t x, uint64_t *dims, uint32_t n, uint32_t gone);

/* map_pick.c: the value that a node reads as input i. If GatherElements or ScatterElements along the first dimension have an index that was
 * expanded from one column, it is that column, because whole rows are then picked. */
uint32_t map_read_id(const struct onnx_model *m, const struct onnx_node *n, uint32_t i);
/* 0, 1, 2, ... as [1, n]; one-hot rows: [rows] of indices to [rows, columns] of the type. */
uint32_t map_numbers(struct mapper *p, const char *name, enum data_type type, uint64_t n);
uint32_t map_ones_at(struct mapper *p, uint32_t index, uint64_t rows, uint64_t columns, enum data_type type);

/* map_sparse.c. map_reads_sparse(): true if the node reads a sparse initialiser, or its transpose. map_sparse_factor(): the product with it; NO_ID
 * after a refusal. transposed: as Gemm reads its second input. */
bool map_reads_sparse(const struct mapper *p);
uint32_t map_sparse_factor(struct mapper *p, bool transposed);

/* ---- the rules: false is a refusal --------------------------------------------------------------------------------------------- */

typedef bool map_rule(struct mapper *p);
/* map_tensors.c, map_math.c */
map_rule map_alias, map_binary, map_cast, map_celu, map_clip, map_dequantize, map_dropout, map_function, map_mish, map_mod, map_not,
    map_is_inf, map_prelu, map_quantize, map_selu, map_shrink, map_softsign, map_sum, map_swish, map_thresholded_relu, map_where, map_xor;
/* map_sparse.c */
map_rule map_sparse_matmul;
/* map_sums.c, map_einsum.c, map_recurrence.c */
map_rule map_arg_max, map_cumsum, map_einsum, map_gemm, map_loss, map_matmul, map_recurrence, map_reduce, map_rnn, map_softmax, map_triangle;
/* map_image.c, map_sample.c */
map_rule map_batch_norm, map_blocks, map_conv, map_conv_transpose, map_global_pool, map_grid_sample, map_group_norm, map_layer_norm, map_lrn,
    map_pool, map_resize, map_rms_norm, map_roi_align;
/* map_attention.c, map_bounded.c */
map_rule map_attention, map_compress, map_non_max_suppression, map_nonzero, map_rotary_embedding;
/* map_random.c */
map_rule map_bernoulli, map_multinomial, map_random;
bool onnx_map_codelet(struct mapper *p, const struct codelet *c);       /* the mapping of one of the user's own operations */
/* map_move.c, map_pick.c */
map_rule map_concat, map_expand, map_gather, map_gather_elements, map_gather_nd, map_hardmax, map_one_hot, map_pad, map_reshape, map_scatter,
    map_scatter_nd, map_slice, map_split, map_tile, map_top_k, map_transpose;

#endif
