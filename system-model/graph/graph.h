/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph.h - the compiler's input: operations on tensors, grouped in layers, forward and backward.
 *
 * A workload builder makes a graph for one micro-batch. It appends forward operations; graph_add_backward() derives
 * the backward ones by the chain rule, in reverse order. Operations, tensors and layers refer to each other by index. The graph is complete enough to
 * be executed: kinds, attributes, shapes and types.
 */
#ifndef GRAPH_H
#define GRAPH_H
#include "system-model/base/hash_table.h"
#include "system-model/graph/codelet.h"
#include "system-model/graph/types.h"

enum { MAX_DIMS = 5, MAX_VIEW_DIMS = 8, MAX_OP_INPUTS = 34, MAX_OP_OUTPUTS = 32 };

enum tensor_role {
    ROLE_INPUT,             /* comes from the host each micro-batch */
    ROLE_WEIGHT,            /* trainable parameter */
    ROLE_ACTIVATION,        /* forward result */
    ROLE_GRADIENT,          /* backward result, of an activation */
    ROLE_WEIGHT_GRADIENT,   /* backward result, of a weight: accumulated */
    ROLE_STATE,             /* neither trained nor streamed: batch-norm moving averages, masks made on chip */
    N_TENSOR_ROLES
};

/* How a dimension of a tensor is cut over IPUs (graph_slice()). dim: 1 + the dimension, 0 if none is cut. The dimension has `pieces` equal pieces,
 * such as query, key and value side by side, and each piece is cut into `parts`. IPUs with neighbouring parts are `stride` apart. The whole dimension
 * has whole_size elements, so the last parts may hold padding. */
struct tensor_part { uint32_t dim, parts, pieces, stride; uint64_t whole_size, first; };      /* first: the index at which the first part begins */
enum { MOST_CUTS = 2 };     /* the most axes of IPUs; the axes cut different dimensions of a tensor */

/* The place of a ROLE_STATE that each call hands to the next one, such as the keys of earlier tokens. STATE_FIXED: the same in every call. */
enum state_place { STATE_FIXED, STATE_ON_CHIP, STATE_OFF_CHIP };

struct tensor {
    const char *name;
    enum data_type type;
    enum tensor_role role;
    uint32_t n_dims;
    uint64_t dims[MAX_DIMS];
    uint32_t layer_id;      /* the layer that makes or owns it */
    uint32_t producer_op;   /* NO_ID: input or weight */
    uint32_t of_tensor;     /* for a gradient: the tensor of which it is the gradient; else NO_ID */
    uint32_t first_reader, last_reader;         /* the first and the last layer that read it, forward or backward; NO_ID and 0 if no layer does */
    bool read_backward;     /* a backward operation reads it */
    struct tensor_part cuts[MOST_CUTS];         /* by axis of IPUs */
    enum state_place place;
    bool sharded;           /* a weight of which each replica has rows of its own: nothing reduces its gradients */
    uint32_t n_joined;      /* the number of equal weights that this one stands for, which the update treats one by one; 0: it stands for itself alone */
};

/* Row order of op_rules in op_kinds.c. Shapes: image tensors are [batch, height, width, channels]; sequences are
 * [batch, time, features]; matmul is [groups, rows, inner] x [groups, inner, columns]. */
enum op_kind {
    OP_CONV, OP_MATMUL,
    OP_ADD, OP_MUL, OP_SCALE,               /* operands: two tensors; two tensors; a tensor and a constant */
    OP_BIAS_ADD,                            /* adds a vector along the last dimension */
    OP_RELU, OP_GELU, OP_TANH, OP_SIGMOID, OP_SWISH,
    OP_SOFTMAX,                             /* probabilities over the last dimension */
    OP_BATCH_NORM, OP_GROUP_NORM, OP_LAYER_NORM,
    OP_DROPOUT,
    OP_MAX_POOL, OP_AVERAGE_POOL,
    OP_GATHER,                              /* rows of a table by index: embedding; backward scatters and adds */
    OP_TRANSPOSE,                           /* a change of layout that moves every element */
    OP_CONCAT, OP_SLICE, OP_PAD,            /* slice: one range, or all of an axis in equal pieces (no element moves) */
    OP_LSTM,                                /* one layer over all time steps, cell and gates included */
    OP_GRU,                                 /* an LSTM's form with three gates: update, reset, candidate */
    OP_OUTER_ADD,                           /* [b,t,h] + [b,u,h] -> [b,t,u,h]: the joint network's input */
    OP_CROSS_ENTROPY,                       /* softmax, log-likelihood, and the seed of their gradient */
    OP_TRANSDUCER_LOSS,                     /* RNN-T loss over the [time, label] lattice */
    OP_CAST,
    OP_INPUT_PREPARE,                       /* on-chip preprocessing of a host input: cast, normalise */
    OP_MAP, OP_COMBINE,                     /* a function of each element, of two tensors' elements (at.function) */
    OP_SELECT,                              /* x where the condition holds, else the third tensor or a constant */
    OP_VIEW,                                /* the same elements in the same order with other dimensions: nothing moves */
    OP_EXPAND,                              /* repeats the elements along dimensions of size 1 */
    OP_RESIZE,                              /* images made larger or smaller: nearest, or linear in both directions */
    OP_LOCAL_NORM,                          /* local response normalisation over neighbouring channels */
    OP_ARG_MAX,                             /* index of the largest in the last dimension, the first of equal ones */
    OP_CONV_TRANSPOSE,                      /* the data gradient of a convolution, as a layer */
    OP_TOP_K,                               /* indices of the k largest in the last dimension (at.length), in falling order */
    OP_SCATTER,                             /* writes rows of a table by index, in the way of at.scatter; the result is a table */
    OP_RMS_NORM,                            /* x over the root of its mean square in the last dimension, times a vector */
    OP_ROTARY,                              /* pairs of each head's elements turned by their token's angle, given as cosines and sines */
    OP_SPARSE_MATMUL,                       /* a dense matrix times a matrix that has only some of its blocks, or the reverse order (at.sparse) */
    OP_ALL_REDUCE,                          /* the sum of a tensor over at.ranks IPUs; its gradient passes through unchanged */
    OP_SHARE,                               /* a tensor that at.ranks IPUs have alike, each for its own part of the work; its gradient is the sum over these IPUs */
    OP_ALL_GATHER,                          /* the parts of at.ranks IPUs joined along at.axis, to at.length elements; forward only */
    OP_CODELET,                             /* an operation of the user's own (at.codelet) on a grid; at.pieces results like the first input, or of given sizes */
    OP_RANDOM,                              /* numbers of the chip's generator, in the first input's shape or at.view (at.draw, at.low, at.high) */
    OP_ALL_TO_ALL,                          /* [n, ..]: piece i goes to replica i of n; the piece that replica i sent takes its place */
    OP_DISTANCE,                            /* [a, width], [b, width] -> [a, b]: sums of absolute differences */
    OP_NOISE,                               /* the factors of a dropout, 0 or 1 / (1 - at.rate), in the shape of its input, whose elements are not read */
    N_OP_KINDS
};
extern const char *const op_kind_names[N_OP_KINDS];
/* A set of kinds has one bit for each kind. */
static inline uint64_t op_kind_bit(enum op_kind kind) { return UINT64_C(1) << kind; }

/* The border that OP_PAD adds: a number (at.rate), or the tensor's own elements: mirrored, the outermost, or those of the opposite end. */
enum pad_border { BORDER_NUMBER, BORDER_MIRRORED, BORDER_OUTERMOST, BORDER_OTHER_END };

/* Uniform between at.low and at.high; normal with mean at.low and standard deviation at.high. */
enum random_draw { DRAW_UNIFORM, DRAW_NORMAL };

enum scatter_how { SCATTER_REPLACE, SCATTER_ADD, SCATTER_MAXIMUM };

/* The functions of one element (OP_MAP), with low and high as constants, and from FUNCTION_SUBTRACT on those of two (OP_COMBINE). Rows of
 * op_functions.c (names, values) and of compiler/vector_plan.c (passes) have this order. */
enum op_function {
    FUNCTION_EXP, FUNCTION_LOG, FUNCTION_SQRT, FUNCTION_ABS, FUNCTION_NEGATE, FUNCTION_RECIPROCAL, FUNCTION_SQUARE, FUNCTION_ERF,
    FUNCTION_LEAKY_RELU, FUNCTION_ELU, FUNCTION_HARD_SIGMOID, FUNCTION_HARD_SWISH, FUNCTION_SOFTPLUS, FUNCTION_CLIP, FUNCTION_ADD, FUNCTION_DIVIDE_BY,
    FUNCTION_SIN, FUNCTION_COS, FUNCTION_TAN, FUNCTION_ASIN, FUNCTION_ACOS, FUNCTION_ATAN, FUNCTION_SINH, FUNCTION_COSH, FUNCTION_ASINH,
    FUNCTION_ACOSH, FUNCTION_ATANH, FUNCTION_FLOOR, FUNCTION_CEIL, FUNCTION_ROUND, FUNCTION_SIGN,
    FUNCTION_IS_NAN, FUNCTION_IS_INF,
    FUNCTION_SUBTRACT, FUNCTION_DIVIDE, FUNCTION_POWER, FUNCTION_REMAINDER, FUNCTION_MAXIMUM, FUNCTION_MINIMUM,
    FUNCTION_EQUAL, FUNCTION_GREATER, FUNCTION_LESS, FUNCTION_GREATER_EQUAL, FUNCTION_LESS_EQUAL, FUNCTION_AND, FUNCTION_OR,
    N_OP_FUNCTIONS
};

/* How a resize finds the place of a result in the input, and the nearest neighbour of that place (ONNX's coordinate_transformation_mode and
 * nearest_mode). */
enum resize_place { RESIZE_HALF_PIXEL, RESIZE_ASYMMETRIC, RESIZE_ALIGN_CORNERS, RESIZE_PYTORCH_HALF_PIXEL, RESIZE_TF_HALF_PIXEL, RESIZE_SYMMETRIC,
                    N_RESIZE_PLACES };
enum resize_nearest { NEAREST_PREFER_FLOOR, NEAREST_PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL, N_RESIZE_NEAREST };

/* A sparse matrix of inner x outer elements, which has n blocks of block x block elements. Its weight is [n, block, block], each block by rows. */
struct sparsity {
    uint32_t block;
    uint32_t dynamic;                                       /* blocks may move while the program runs */
    uint64_t inner, outer;
    const uint32_t *places;                                 /* place of each block, counted by rows of blocks; NULL: sparse_place() chooses */
    double oversize;                                        /* dynamic: room beyond an even share, 0.3 as a rule */
};

/* Unused members stay 0. */
struct op_attributes {
    uint32_t kernel_h, kernel_w, stride, pad, groups;       /* convolution, pooling (groups: convolution; rotary: heads in the last dimension) */
    uint32_t stride_w, dilation, zeros[4];                  /* stride_w: 0 means `stride`; dilation: 0 means 1; zeros: further zeros besides `pad`, at top, left, bottom, right */
    bool counts_padding;                                    /* average pool: zeros of the padding count in the mean */
    uint32_t hidden;                                        /* LSTM, GRU: width of its state */
    bool from_last;                                         /* LSTM, GRU: the steps run from the last to the first */
    bool with_cell;                                         /* LSTM: its last cell state follows the last step; forward only */
    bool reset_before;                                      /* GRU: the state is reset before its product with the candidate's weights */
    enum op_function function;
    double low, high;                                       /* the constants of a function; in a local norm low is the exponent and high the addend (rate is the factor) */
    bool divided;                                           /* scale: the source divides by the inverse of the constant */
    bool inverted;                                          /* combine: f(b, a); select: x where the condition does not hold */
    bool linear;                                            /* resize: interpolates linearly between neighbours; else takes the nearest */
    enum resize_place place;                                /* resize: the place in the input of each row and column of the result */
    enum resize_nearest nearest;
    double factors[2];                                      /* resize: factors of rows and columns; 0: the quotient of their numbers */
    double rate;                                            /* dropout: the share that is dropped; scale: the constant; pad: the value */
    uint32_t norm_groups;                                   /* group norm: groups; batch norm: replicas that it spans */
    double epsilon;                                         /* norms: the number added to the variance; 0: 1e-5 */
    bool stable;                                            /* batch and group norm: the mean is subtracted before the variance is computed */
    bool detached;                                          /* no gradient goes through the operation, though its kind has one */
    uint32_t axis;                                          /* concat, slice, pad */
    uint32_t pieces;                                        /* slice: the number of equal outputs; 0 means the range below. losses: the number of slices of the logits, of which this loss reads one */
    uint64_t begin, length;                                 /* slice: the range; pad: zeros before, length afterwards; top-k: k; rotary: elements of a head that turn */
    enum pad_border border;                                 /* pad */
    enum scatter_how scatter;                               /* scatter */
    bool neighbours;                                        /* rotary: a pair is two neighbours; else one element of each half */
    enum random_draw draw;                                  /* random */
    const struct codelet *codelet;                          /* codelet; it outlives the graph */
    uint32_t grid_ipus[MOST_GRID_AXES], grid_tiles[MOST_GRID_AXES];     /* codelet: parts of each axis, over IPUs and over tiles; 0: not given */
    bool transpose_b;                                       /* matmul: the second operand is [groups, columns, inner] */
    uint64_t view[MAX_VIEW_DIMS];                           /* transpose: the input seen in this shape; all 0: as it is.
                                                             * View, expand, resize, transposed convolution: the result's shape */
    uint32_t order[MAX_VIEW_DIMS];                          /* transpose: dimension i of the result is order[i] of the view */
    uint32_t again;                                         /* the part of its layer, from 1, that the backward pass runs again before the part's own operations; 0: none */
    uint32_t merge;                                         /* transpose: the number of last dimensions that become one; 0 if none */
    enum data_type to_type;                                 /* cast, input preparation */
    uint32_t ranks;                                         /* all-reduce, share, all-gather: IPUs that take part, `stride` apart; 0: neighbours */
    uint32_t serial_steps;                                  /* matmul: number of serial steps that the user asks for (embedding serialised); 0 if none */
    double labels_per_sample;                               /* transducer loss: target length */
    struct sparsity sparse;
    bool sparse_first;                                      /* sparse matmul: [outer, inner] times dense [inner, columns]; else dense [.., inner] times [inner, outer] */
};

struct op {
    enum op_kind kind;
    enum op_pass pass;
    uint32_t layer_id;
    uint32_t forward_op;                    /* backward passes: the operation they differentiate; else NO_ID */
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs;
    const struct op_attributes *at;         /* a backward operation has the attributes of its forward one; equal attributes are one object */
};

/* A layer is the unit of placement and of recomputation: an encoder's attention half, a residual unit, a head. */
enum layer_role { LAYER_FIRST, LAYER_BODY, LAYER_LAST };    /* stem and embeddings; repeated blocks; heads and loss */
struct layer {
    const char *name;                       /* "stage2/unit1", "encoder3/attention", "mlm-head" */
    enum layer_role role;
    uint32_t block_id;                      /* LAYER_BODY: which block, counted from 0 */
    uint32_t repeats;                       /* forward and backward, the layer's operations work on this many slices of its input, one after another; 0: on the whole input at once */
    uint32_t rounds;                        /* how often its operations run in a micro-batch, each time on the result of the round before; 0: once */
    uint32_t part_id, n_parts;              /* attention is part 0 of 2, feed-forward part 1 of 2; a residual unit 0 of 1 */
};

struct graph {
    const char *name;
    uint64_t micro_batch;                   /* samples (images, packs, utterances) the tensors were shaped for */
    struct arena *arena;                    /* the arena in which the graph grows */
    struct tensor *tensors; size_t n_tensors, cap_tensors;
    struct op *ops;         size_t n_ops, cap_ops;
    struct layer *layers;   size_t n_layers, cap_layers;
    struct hash_table attributes;                 /* attributes of operations, by their bytes */
    size_t n_forward_ops;                   /* ops[0..n_forward_ops) are forward; the rest backward */
    uint32_t n_rough_ops;                   /* operations that stand for others, which are not modelled; each costs a pass over its result */
    const struct graph *whole;              /* the whole model, if this graph is one IPU's part of it (graph_slice()); else NULL */
    const uint32_t *whole_ids;              /* by forward tensor: the id of the same tensor, or of the one it is a part of, in the whole model; NO_ID if none */
};

/* ---- building ----------------------------------------------------------------------- */

/* Begins an empty graph that grows in the arena. The arena must outlive the graph, and the caller keeps the names. */
void graph_start(struct graph *g, const char *name, uint64_t micro_batch, struct arena *a);
uint32_t graph_layer(struct graph *g, struct layer layer);      /* opens a layer; later ops belong to it */
uint32_t graph_tensor(struct graph *g, const char *name, enum tensor_role role, enum data_type type,
                      uint32_t n_dims, const uint64_t *dims);
uint64_t graph_input_numbers(const struct graph *g);    /* whole numbers of a micro-batch's input, such as tokens and labels */
/* Appends a forward operation to the open layer and infers its output's shape. Returns the id of the output; if a slice has several pieces, they
 * have this id and the next ones. A shape that does not fit is a bug of the builder, and asserted. */
uint32_t graph_op(struct graph *g, enum op_kind kind, const uint32_t *inputs, uint32_t n_inputs,
                  struct op_attributes at);

/* Appends every backward pass that the chain rule asks for. PASS_BACKWARD_DATA makes gradients of activations; for a matmul that of its first
 * operand. PASS_BACKWARD_WEIGHT makes gradients of weights; for a matmul that of its second operand, be it a weight or an activation (role
 * ROLE_GRADIENT). An OP_ADD in a backward pass with forward_op NO_ID sums two gradients of one tensor; an OP_SCALE, by 0, is the gradient of a
 * slice's piece that the loss does not depend on. An LSTM's data pass has the gradient of its gates as last output, which its weight pass reads.
 * The inputs of a backward operation include the forward tensors that must be kept for it. */
void graph_add_backward(struct graph *g);
uint32_t graph_append(struct graph *g, struct op op);           /* appends an operation unchanged; returns its id */

/* ---- graph_precision.c: operations in fp32 inside a model of a narrower type -------- */

/* The set of the kinds that a list such as "gelu, layer-norm" names; NULL names none. Casts cannot be named. */
bool op_kinds_read(uint64_t *kinds, const char *names, struct err *err);
uint64_t graph_kinds(const struct graph *g);                    /* the set of the kinds of its forward operations */
/* Computes all operations of these kinds in fp32, between casts from and to the model's type. Must come before graph_add_backward(). */
void graph_keep_fp32(struct graph *g, uint64_t kinds);

/* ---- graph_sparsity.c: products by weights of which blocks are left out --------------- */

enum sparse_pattern { PATTERN_STATIC, PATTERN_DYNAMIC };
extern const char *const sparse_pattern_names[];        /* NULL-ended */
struct sparse_request {
    double density;                     /* the share of blocks that are kept; 0: all products stay dense */
    double oversize;                    /* dynamic: room of a bucket beyond an even share; 0: 0.3 */
    uint64_t block;                     /* 1, 4, 8 or 16 */
    int pattern;                        /* enum sparse_pattern */
    const char *layers;                 /* names or patterns of names, separated by commas; NULL: all */
};
/* Makes products sparse. Must come before graph_add_backward(). Fails on a block that does not divide a weight, and if no layer has one of the names. */
bool graph_make_sparse(struct graph *g, const struct sparse_request *q, struct err *err);

/* ---- graph_grid.c: one grid over several IPUs ---------------------------------------- */

/* Turns the graph into the graph of one of the IPUs that share its grids: each axis that codelets cut has 1/ipus[i] of its length, rounded up. All
 * ones or zeros change nothing. Refuses operations that are neither codelets nor element by element, and grids that differ. */
bool graph_cut_grid(struct graph *g, const uint32_t ipus[MOST_GRID_AXES], struct err *err);

/* ---- split_table.c: a table over several stages ------------------------------------- */

enum { MAX_TABLE_PARTS = MAX_OP_OUTPUTS };       /* the gradient of their sum has one output a part */
/* Copies the model. In the copy its largest table is cut into n_parts parts, each in a layer of its own, and so are products of heads with as many columns
 * as the table has rows. The whole graph has no backward pass yet, and outlives `out`. False if it has no table of at least n_parts rows. */
bool graph_split_table(struct graph *out, const struct graph *whole, uint32_t n_parts, struct arena *a);

/* ---- slice.c: one IPU's part of a model (tensor parallelism) ------------------------- */

/* An axis of n_ipus IPUs, whose numbers are `stride` apart. attention_ipus: the parts into which heads of attention are cut, a divisor of n_ipus. */
struct slice_axis { uint32_t axis, n_ipus, attention_ipus, stride; };
/* Fills `out` with the forward operations that each IPU of an axis runs on its part of the model, and with the sums between them (OP_ALL_REDUCE,
 * OP_SHARE). The whole graph has no backward pass yet, and outlives `out`; axis 1 cuts what axis 0 has left. slice_cuts.c says what is cut. False if
 * nothing of the model can be cut, or if axis 1 does not cut each product that axis 0 has cut. *whole_layer then needs whole rows; it is NULL
 * if no layer does. */
bool graph_slice(struct graph *out, const struct graph *whole, struct slice_axis axis, const char **whole_layer, struct arena *a);

/* slice_parts.c: the element of the whole that element `element` of an IPU's part holds; NO_ID64 where that is padding. */
#define NO_ID64 UINT64_MAX
uint64_t tensor_whole_element(const struct tensor *t, uint64_t element, uint32_t replica);
const struct tensor_part *tensor_cut(const struct tensor *t, uint32_t dim);     /* how dimension `dim` is cut; NULL if it is whole */
uint64_t tensor_whole_size(const struct tensor *t, uint32_t dim);
uint32_t tensor_part_of(const struct tensor_part *cut, uint32_t replica);       /* the part that a replica has; 0 without a cut */
uint32_t tensor_span(const struct tensor *t);           /* replicas this far apart have the same part; 1: all have it whole */
uint32_t tensor_parts(const struct tensor *t);          /* number of different parts; fewer than the span if neighbours have the same part */

/* op_exchange.c: the collectives of one operation. It has n of them, one after the other, over `ranks` replicas of the program that are `stride`
 * apart (0: neighbours). ranks 0: it has none. bytes: the whole vector of one rank. */
struct op_exchange { uint32_t ranks, stride, n; double bytes; bool gathers, of_activations, of_halos, sends_pieces; };     /* of_halos: halos go to neighbours on a grid, and there is no collective */
struct op_exchange op_exchange(const struct graph *g, const struct op *op);
/* ---- graph_tables.c: tables whose rows are spread over replicas ------------------------ */

/* Spreads tables that only lookups read, in layers of these names ("auto": all), over n replicas: each keeps every nth row and looks up the rows
 * that others ask for, so that an all-to-all follows each lookup. The host sorts indices by shard. If `names` is NULL or n below 2, nothing
 * changes. Fails if no layer with such a table has one of the names, or if n does not divide a lookup's rows. Must come before
 * graph_add_backward(). */
bool graph_shard_tables(struct graph *g, const char *names, uint64_t n, struct err *err);
bool layer_is_named(const char *patterns, const char *layer);       /* true if the name fits one of the patterns, which commas separate; * stands for any text */

/* ---- op_functions.c: values of single elements, for folding and for execution ------- */

const char *op_function_name(enum op_function f);
bool op_function_is_of_two(enum op_function f);
bool op_function_is_flat(enum op_function f);       /* comparisons, roundings: no gradient passes through */
/* The values of OP_MAP and the activations (relu, gelu, tanh, sigmoid, swish) for one element; and of OP_ADD, OP_MUL and OP_COMBINE for two. */
double op_value_of_one(enum op_kind kind, const struct op_attributes *at, double x);
double op_slope(enum op_kind kind, double kept);        /* The derivative, computed from what the backward pass reads: the output of relu, tanh and
                                                           sigmoid, the input of gelu and swish. */
/* The place of element i of n_out in n_in elements, which may be between two of them or outside. factor 0: n_out / n_in. */
double op_resize_place(enum resize_place how, double i, double n_in, double n_out, double factor);
double op_value_of_two(enum op_kind kind, const struct op_attributes *at, double a, double b);

/* ---- state_values.c: contents of ROLE_STATE ----------------------------------------- */

enum { N_POSITION_BUCKETS = 32 };        /* rows of T5's table of relative positions */
/* The elements of a table whose name says what it holds, such as rotary-cosines; false for any other state. */
bool state_values(double *out, const struct tensor *t);

/* ---- asking ------------------------------------------------------------------------- */

uint64_t tensor_elements(const struct tensor *t);
uint64_t tensor_bytes(const struct tensor *t);
bool tensor_is_same_shape(const struct tensor *a, const struct tensor *b);
/* The place of block i of n, counted by rows of blocks: as given, or drawn by a hash from an even share of all places. */
uint64_t sparse_place(const struct sparsity *s, uint64_t i, uint64_t n);
/* The operation whose tensors give the sizes: op itself or, for a backward pass, its forward operation. */
const struct op *op_forward(const struct graph *g, const struct op *op);
/* The operation of the sheet that computes this pass of a codelet. The gradients of all codelets were looked up when the model was read. */
const struct codelet *op_codelet(const struct graph *g, const struct op *op);
/* The shape of the forward pass, for a matmul or one of its backward passes. */
struct matmul_shape { uint64_t groups, rows, inner, columns; };
struct matmul_shape op_matmul_shape(const struct graph *g, const struct op *op);
uint64_t op_mac(const struct graph *g, const struct op *op);    /* multiply-accumulates of matmuls, convolutions, LSTMs; else 0 */
uint64_t op_flop(const struct graph *g, const struct op *op);   /* 2 x op_mac, plus the vector operations */
uint64_t op_repeats(const struct graph *g, const struct op *op);   /* repeats of its layer times its rounds, at least 1 */
uint64_t layer_repeats(const struct layer *l);                  /* the repeats of the layer, at least 1 */
/* True for a forward operation that each backward pass runs again, even if its layer is not recomputed: one of a layer in slices, of which only one is in
 * memory at a time, or of a part that is a called graph (graph_mark_again()). */
bool op_runs_again(const struct graph *g, const struct op *op);
void graph_mark_again(struct graph *g, size_t first, uint32_t part);    /* makes the operations from `first` on such a part of their layer */
bool op_has_gradient(const struct op *op);                      /* true if a backward pass can go through the operation */
/* Adds, by layer, to arrays of n_layers zeros. kept_bytes: the layer's activations that backward passes read; output_bytes: activations of this
 * and earlier layers that later layers read forward. */
void graph_activations(uint64_t *kept_bytes, uint64_t *output_bytes, const struct graph *g);
const enum ahead *graph_for_later_layers(const struct graph *g, struct arena *a);       /* by operation */
uint64_t graph_parameters(const struct graph *g);               /* elements of ROLE_WEIGHT; a tied tensor counts once */
uint64_t graph_forward_mac(const struct graph *g);
void graph_print(FILE *f, const struct graph *g);               /* a line a layer: shapes, parameters, MACs */
void graph_print_ops(FILE *f, const struct graph *g);           /* a line for each operation */

#endif
