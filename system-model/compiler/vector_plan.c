/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_plan.c - operations that are neither convolution nor matmul, as passes over data where it is.
 *
 * A pass is one compute set: the fullest tile holds ceil(elements / tiles) elements, rounded up to a vector, or more
 * if the operation that made them left them unevenly (popops maps an element-wise result like its operand), and runs
 * one vertex over them (vertex_cost.c). Every compute set costs a sync. Operands with another layout are exchanged
 * first, as is a gradient that meets what the forward pass kept: each pass of a product is planned apart, so that the
 * two are on other tiles. The number of passes of an operation is how PopLibs (popops, popnn, poplin at 7eac0f2) and
 * PopART build it; neighbours are not fused, as these frameworks run one operation after the other.
 *     softmax       max, subtract, exponential, sum, inverse, multiply: at least 6 compute sets
 *     functions     those without a vertex of their own are made of several, as PopART builds them from map
 *                   expressions (willow/src/popx/op)
 *     local norm    squares, one addition for each neighbour, and a power (lrnx.cpp)
 *     resize        copied (nearest), or mixed from two neighbours in either direction (linear); the gradient
 *                   adds up what was copied
 * Norms, lookups, dropouts and recurrent layers have files of their own (vector_*.c), as has work outside the graph (vector_passes.c).
 * Limits: what moves is taken to be even over the tiles afterwards; broadcasts of vectors cost the vector's bytes once
 * a tile.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* ---- what an operation needs to know --------------------------------------------------------------------------- */

/* The gradient of a repeated operand is the sum over its repetitions. */
static void add_operand_gradients(struct passes *p, const struct vector_op *w, enum map_op op)
{
    for (uint32_t i = 0; i < w->op->n_outputs; i++) {
        uint64_t n = tensor_elements(&w->g->tensors[w->op->outputs[i]]);
        passes_map(p, op, w->n_out);
        if (n < w->n_out)
            passes_reduction(p, MAP_REDUCE, false, w->n_out, n, 1);
    }
}

/* A small operand goes to the tiles that need a part of it. A large one goes to the tiles of the other operand, unless it lies there already. */
static void add_operand(struct passes *p, const struct vector_op *w, const struct tensor *b)
{
    uint64_t n = tensor_elements(b);
    if (n < w->n_out)
        passes_broadcast(p, n, w->n_out);
    else if (!w->together)
        passes_move(p, n);
}

/* The form of a vertex whose second operand is one number, or a value for each row. */
static enum map_op number_form(enum map_op op)
{
    static const enum map_op forms[N_MAP_OPS] = {
        [MAP_BINARY] = MAP_SCALAR, [MAP_DIVIDE] = MAP_DIVIDE_NUMBER, [MAP_REMAINDER] = MAP_REMAINDER_NUMBER, [MAP_MAXIMUM] = MAP_MAXIMUM_NUMBER,
        [MAP_COMPARE] = MAP_COMPARE_NUMBER,
    };
    return forms[op] ? forms[op] : op;
}

/* One vertex over all elements of the result, whose second operand may be smaller: a number, a value for each row, a vector that repeats
 * along the rows; others are copied out by the exchange that brings them. */
static void add_two_operands(struct passes *p, const struct vector_op *w, enum map_op op, enum map_channels channels, const struct tensor *b)
{
    uint64_t n = tensor_elements(b), last = b->dims[b->n_dims - 1];
    bool adds = op == MAP_BINARY && !p->integers;
    if (n == 1)
        passes_map(p, number_form(op), w->n_out);
    else if (n < w->n_out && last == 1 && adds)
        passes_map_rows(p, w->n_out);
    else if (n < w->n_out && n == last && adds)
        passes_map_channels(p, channels, w->n_out);
    else
        passes_map(p, n < w->n_out && last == 1 ? number_form(op) : op, w->n_out);
}

static void plan_binary(struct passes *p, const struct vector_op *w)
{
    if (!w->backward) {
        const struct tensor *b = &w->g->tensors[w->op->inputs[w->op->n_inputs - 1]];
        add_operand(p, w, b);
        add_two_operands(p, w, MAP_BINARY, w->op->kind == OP_ADD ? CHANNELS_ADD : CHANNELS_MUL, b);
    } else if (w->op->kind == OP_ADD) {
        uint64_t n = tensor_elements(&w->g->tensors[w->op->outputs[0]]);
        if (n < w->n_out)                   /* same size: the gradient passes unchanged */
            passes_reduction(p, MAP_REDUCE, false, w->n_out, n, 1);
    } else {
        add_operand_gradients(p, w, MAP_BINARY);
    }
}

static void plan_scale(struct passes *p, const struct vector_op *w)
{
    passes_map(p, w->forward->at->divided ? MAP_DIVIDE_NUMBER : MAP_SCALAR, w->n);
}

static void plan_bias_add(struct passes *p, const struct vector_op *w)
{
    if (w->backward) {
        passes_reduction(p, MAP_REDUCE, false, w->n, w->last, 1);
        return;
    }
    passes_broadcast(p, w->last, w->n);
    passes_map_channels(p, CHANNELS_ADD, w->n);
}

static void plan_nonlinearity(struct passes *p, const struct vector_op *w)
{
    static const enum map_op ops[][2] = {
        [OP_RELU] = { MAP_RELU, MAP_RELU_GRAD }, [OP_GELU] = { MAP_GELU, MAP_GELU_GRAD },
        [OP_TANH] = { MAP_TANH, MAP_TANH_GRAD }, [OP_SIGMOID] = { MAP_SIGMOID, MAP_SIGMOID_GRAD },
        [OP_SWISH] = { MAP_SWISH, MAP_SWISH_GRAD },
    };
    passes_map(p, ops[w->op->kind][w->backward], w->n);
}

static void plan_softmax(struct passes *p, const struct vector_op *w)
{
    uint64_t rows = w->n / w->last;
    if (!w->backward) {
        passes_softmax(p, w->n, rows);
        return;
    }
    passes_map(p, MAP_BINARY, w->n);
    passes_reduction(p, MAP_REDUCE, true, w->n, rows, 1);
    passes_broadcast(p, rows, w->n);
    passes_map_rows(p, w->n);
    passes_map(p, MAP_BINARY_IN_PLACE, w->n);
}

/* One window over the whole image is a reduction, as popnn does it (Pooling.cpp, substPoolingWithReduction). Its
 * gradient goes back to every element, for a maximum by a comparison that finds it. */
static void plan_global_pool(struct passes *p, const struct vector_op *w)
{
    bool most = w->op->kind == OP_MAX_POOL;
    if (w->backward) {
        passes_broadcast(p, w->n_out, w->n);
        passes_map(p, most ? MAP_BINARY : MAP_VECTOR, w->n);
        return;
    }
    passes_reduction(p, MAP_REDUCE, false, w->n, w->n_out, 1);
    if (!most)
        passes_map(p, MAP_SCALAR, w->n_out);
}

static void plan_pool(struct passes *p, const struct vector_op *w)
{
    const struct op_attributes *at = w->forward->at;
    if (at->kernel_h == w->x->dims[1] && at->kernel_w == w->x->dims[2] && w->y->dims[1] == 1 && w->y->dims[2] == 1) {
        plan_global_pool(p, w);
        return;
    }
    uint64_t lanes = p->chip->vector_bytes_per_cycle / p->element_bytes;     /* every sheet has 4 bytes or more */
    const struct tensor *out = w->backward ? w->x : w->y;
    uint64_t rows = out->dims[0] * out->dims[1] * ceil_div(out->dims[3], lanes);
    uint64_t kernel = (uint64_t)at->kernel_h * at->kernel_w;
    uint64_t share = passes_share(p, w->backward ? w->n_out : w->n) * p->element_bytes;
    passes_exchange(p, share);
    p->plan->rearrange_cycles += regroup_cycles(&vertex_table, p->chip, share);
    p->plan->compute_cycles += regroup_cycles(&vertex_table, p->chip, share);
    if (w->backward)                    /* the number of windows that an input element is in */
        kernel = max_u64(1, ceil_div(kernel * w->y->dims[1] * w->y->dims[2], w->x->dims[1] * w->x->dims[2]));
    /* Work is cut into pieces so that every tile has some; a piece is at most a row. */
    uint64_t vectors = max_u64(1, min_u64(out->dims[2], ceil_div(rows * out->dims[2], p->n_tiles * p->chip->n_workers)));
    uint64_t items = ceil_div(rows * out->dims[2], p->n_tiles * vectors);
    passes_superstep(p, pool_cycles(p->chip, items, vectors, kernel, w->backward && w->op->kind == OP_MAX_POOL));
    p->plan->n_tiles_used = (uint32_t)p->n_tiles;
}

/* ---- moves ----------------------------------------------------------------------------------------------------- */

static void plan_transpose(struct passes *p, const struct vector_op *w)
{
    uint64_t sent = passes_share(p, w->n) * p->element_bytes, before = p->plan->exchange_cycles;
    p->imbalance = 1;
    uint64_t bytes = passes_share(p, w->n) * p->element_bytes;
    uint64_t compute = rearrange_cycles(&vertex_table, p->chip, bytes, p->element_bytes, true);
    passes_exchange(p, sent);
    passes_superstep(p, compute);
    p->plan->rearrange_cycles += compute + p->plan->exchange_cycles - before;
    p->plan->n_tiles_used = (uint32_t)min_u64(p->n_tiles, w->n);
}

/* True for a slice into equal pieces, which moves nothing: pieces are views, and their gradients are joined as one view instead of being padded and
 * summed (PopART willow/src/popx/op/slicex.cpp and willow/src/patterns/padsum.cpp at d2f20d78). */
bool op_takes_apart(const struct op *op) { return op->kind == OP_SLICE && op->at->pieces != 0; }

/* Concatenation, a range of an axis, and padding copy every element of the result. */
static void plan_copied(struct passes *p, const struct vector_op *w)
{
    if (op_takes_apart(w->op))
        return;
    uint64_t n = w->backward ? w->n : w->n_out, before = op_plan_cycles(p->plan);
    passes_move(p, n);
    passes_superstep(p, copy_cycles(p->chip, passes_share(p, n) * p->element_bytes));
    p->plan->n_tiles_used = (uint32_t)min_u64(p->n_tiles, n);
    p->plan->rearrange_cycles += op_plan_cycles(p->plan) - before - superstep_cycles(p->chip);
}

static bool is_whole(enum data_type type) { return type == TYPE_INT32 || type == TYPE_UINT8; }

/* Bytes become halves in fours; other casts to or from whole numbers take one element at a time. */
static enum map_op cast_vertex(enum data_type from, enum data_type to)
{
    if (from == TYPE_UINT8 && to == TYPE_FP16)
        return MAP_CAST_BYTES;
    return is_whole(from) || is_whole(to) ? MAP_CAST_ELEMENT : MAP_CAST;
}

/* The format and the scale of fp8 data are a separate tensor of one word, which every tile that casts it reads. */
static void plan_cast(struct passes *p, const struct vector_op *w)
{
    if (w->x->type == TYPE_INT4) {
        plan_unpacking(p, w);
        return;
    }
    if (w->x->type == TYPE_FP8 || w->y->type == TYPE_FP8)
        passes_exchange(p, QUARTER_METADATA_BYTES);
    uint64_t from = data_type_bytes(w->x->type), to = data_type_bytes(w->y->type);
    p->element_bytes = max_u64(from, to);
    passes_superstep(p, map_cycles(p->chip, cast_vertex(w->x->type, w->y->type), passes_share(p, w->n), min_u64(from, to)));
    p->plan->n_tiles_used = (uint32_t)min_u64(p->n_tiles, w->n);
    p->element_bytes = w->backward ? from : to;
    if (w->op->kind == OP_INPUT_PREPARE) {      /* subtract the mean, multiply by the scale; into the first layer's layout */
        passes_map(p, MAP_VECTOR, w->n);
        passes_map(p, MAP_VECTOR, w->n);
        passes_move(p, w->n);
    }
}

static void plan_outer_add(struct passes *p, const struct vector_op *w)
{
    if (!w->backward) {
        passes_broadcast(p, w->n, w->n_out);
        passes_map(p, MAP_VECTOR, w->n_out);
        return;
    }
    const struct tensor *b = &w->g->tensors[w->forward->inputs[1]];
    passes_reduction(p, MAP_REDUCE, true, w->n_out, w->n, 1);
    passes_reduction(p, MAP_REDUCE, false, w->n_out, tensor_elements(b), 1);
}

/* A tile finds the largest of its parts of rows and where it stands; values and places of a row's parts then meet (popnn lib/popnn/Loss.cpp, argMax). */
static void plan_arg_max(struct passes *p, const struct vector_op *w)
{
    uint64_t rows = w->n / w->last, share = passes_share(p, w->n);
    passes_map(p, MAP_ARG_MAX, w->n);
    if (w->last > share)
        passes_reduction(p, MAP_REDUCE, false, max_u64(rows, ceil_div(w->n, share)), rows, 2);
}

/* ---- functions of elements ------------------------------------------------------------------------------------- */

/* The vertices of a function, as PopART runs it (willow/src/popx/op and willow/src/patterns at d2f20d78): an expression of equal operands is one
 * vertex whose code follows from its parts. Clip makes tensors of its two bounds; its gradient compares with either. A maximum copies its first
 * operand; its gradient is the sign of operand less result, plus one. tan x is a call of the library, asinh x = log(x + sqrt(x^2 + 1)),
 * atanh x = log((1 + x) / (1 - x)) / 2. A power is never simplified, whatever its exponent. */
enum { MOST_FUNCTION_STEPS = 7 };
static const struct function_row { uint32_t n, n_backward; enum map_op forward[MOST_FUNCTION_STEPS], backward[MOST_FUNCTION_STEPS]; } function_rows[] = {
    [FUNCTION_EXP]          = { 1, 1, { MAP_EXP }, { MAP_BINARY } },
    [FUNCTION_LOG]          = { 1, 1, { MAP_LOG }, { MAP_DIVIDE } },
    [FUNCTION_SQRT]         = { 1, 2, { MAP_SQRT }, { MAP_SCALAR, MAP_DIVIDE } },
    [FUNCTION_ABS]          = { 1, 2, { MAP_SCALAR }, { MAP_SIGN, MAP_BINARY } },
    [FUNCTION_NEGATE]       = { 1, 1, { MAP_SCALAR }, { MAP_SCALAR } },
    [FUNCTION_RECIPROCAL]   = { 2, 4, { MAP_FILL, MAP_DIVIDE }, { MAP_SQUARE, MAP_FILL, MAP_DIVIDE, MAP_BINARY } },
    [FUNCTION_SQUARE]       = { 1, 2, { MAP_BINARY }, { MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_ERF]          = { 1, 5, { MAP_ERF }, { MAP_SQUARE, MAP_SCALAR, MAP_EXP, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_LEAKY_RELU]   = { 2, 2, { MAP_SCALAR, MAP_BINARY }, { MAP_RELU_GRAD, MAP_BINARY } },
    [FUNCTION_ELU]          = { 2, 2, { MAP_EXP, MAP_BINARY }, { MAP_EXP, MAP_BINARY } },
    [FUNCTION_HARD_SIGMOID] = { 2, 1, { MAP_SCALAR, MAP_SCALAR }, { MAP_BINARY } },
    [FUNCTION_HARD_SWISH]   = { 6, 7, { MAP_SCALAR, MAP_FILL, MAP_FILL, MAP_CLAMP, MAP_DIVIDE_NUMBER, MAP_BINARY },
                                { MAP_BINARY, MAP_DIVIDE_NUMBER, MAP_NOT_EQUAL, MAP_CAST_ELEMENT, MAP_BINARY, MAP_BINARY, MAP_BINARY } },
    [FUNCTION_SOFTPLUS]     = { 3, 2, { MAP_EXP, MAP_SCALAR, MAP_LOG }, { MAP_SIGMOID, MAP_BINARY } },
    [FUNCTION_CLIP]         = { 3, 6, { MAP_FILL, MAP_FILL, MAP_CLAMP },
                                { MAP_NOT_EQUAL_NUMBER, MAP_CAST_ELEMENT, MAP_BINARY, MAP_NOT_EQUAL_NUMBER, MAP_CAST_ELEMENT, MAP_BINARY } },
    [FUNCTION_ADD]          = { 1, 0, { MAP_SCALAR }, { MAP_SCALAR } },
    [FUNCTION_DIVIDE_BY]    = { 1, 1, { MAP_DIVIDE_NUMBER }, { MAP_DIVIDE_NUMBER } },
    [FUNCTION_SIN]          = { 1, 2, { MAP_SINE }, { MAP_SINE, MAP_BINARY } },
    [FUNCTION_COS]          = { 1, 2, { MAP_SINE }, { MAP_SINE, MAP_BINARY } },
    [FUNCTION_TAN]          = { 1, 4, { MAP_TANGENT }, { MAP_SINE, MAP_SQUARE, MAP_FILL, MAP_DIVIDE } },
    [FUNCTION_ASIN]         = { 1, 4, { MAP_ARC_SINE }, { MAP_SQUARE, MAP_SCALAR, MAP_RSQRT, MAP_BINARY } },
    [FUNCTION_ACOS]         = { 2, 4, { MAP_ARC_SINE, MAP_SCALAR }, { MAP_SQUARE, MAP_SCALAR, MAP_RSQRT, MAP_BINARY } },
    [FUNCTION_ATAN]         = { 5, 3, { MAP_SQUARE, MAP_SCALAR, MAP_RSQRT, MAP_BINARY, MAP_ARC_SINE }, { MAP_SQUARE, MAP_SCALAR, MAP_DIVIDE } },
    [FUNCTION_SINH]         = { 4, 5, { MAP_EXP, MAP_INVERSE, MAP_BINARY, MAP_SCALAR }, { MAP_EXP, MAP_INVERSE, MAP_BINARY, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_COSH]         = { 4, 5, { MAP_EXP, MAP_INVERSE, MAP_BINARY, MAP_SCALAR }, { MAP_EXP, MAP_INVERSE, MAP_BINARY, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_ASINH]        = { 5, 4, { MAP_SQUARE, MAP_SCALAR, MAP_SQRT, MAP_BINARY, MAP_LOG }, { MAP_SQUARE, MAP_SCALAR, MAP_RSQRT, MAP_BINARY } },
    [FUNCTION_ACOSH]        = { 5, 4, { MAP_SQUARE, MAP_SCALAR, MAP_SQRT, MAP_BINARY, MAP_LOG }, { MAP_SQUARE, MAP_SCALAR, MAP_RSQRT, MAP_BINARY } },
    [FUNCTION_ATANH]        = { 5, 3, { MAP_SCALAR, MAP_SCALAR, MAP_DIVIDE, MAP_LOG, MAP_SCALAR }, { MAP_SQUARE, MAP_SCALAR, MAP_DIVIDE } },
    [FUNCTION_FLOOR]        = { 1, 1, { MAP_ROUND }, { MAP_FILL } },
    [FUNCTION_CEIL]         = { 1, 1, { MAP_ROUND }, { MAP_FILL } },
    [FUNCTION_ROUND]        = { 1, 1, { MAP_ROUND }, { MAP_FILL } },
    [FUNCTION_SIGN]         = { 1, 1, { MAP_SIGN }, { MAP_FILL } },
    [FUNCTION_IS_NAN]       = { 1, 1, { MAP_IS_NAN }, { MAP_FILL } },
    [FUNCTION_IS_INF]       = { 1, 1, { MAP_IS_INF }, { MAP_FILL } },
    [FUNCTION_SUBTRACT]     = { 1, 1, { MAP_BINARY }, { MAP_SCALAR } },
    [FUNCTION_DIVIDE]       = { 1, 2, { MAP_DIVIDE }, { MAP_DIVIDE, MAP_BINARY } },
    [FUNCTION_POWER]        = { 1, 3, { MAP_POWER }, { MAP_POWER, MAP_BINARY, MAP_BINARY } },
    [FUNCTION_REMAINDER]    = { 1, 1, { MAP_REMAINDER }, { MAP_FILL } },
    [FUNCTION_MAXIMUM]      = { 2, 4, { MAP_COPY, MAP_MAXIMUM }, { MAP_BINARY, MAP_SIGN, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_MINIMUM]      = { 2, 4, { MAP_COPY, MAP_MAXIMUM }, { MAP_BINARY, MAP_SIGN, MAP_SCALAR, MAP_BINARY } },
    [FUNCTION_EQUAL]        = { 1, 1, { MAP_COMPARE }, { MAP_FILL } },
    [FUNCTION_GREATER]      = { 1, 1, { MAP_COMPARE }, { MAP_FILL } },
    [FUNCTION_LESS]         = { 1, 1, { MAP_COMPARE }, { MAP_FILL } },
    [FUNCTION_GREATER_EQUAL] = { 1, 1, { MAP_COMPARE }, { MAP_FILL } },
    [FUNCTION_LESS_EQUAL]   = { 1, 1, { MAP_COMPARE }, { MAP_FILL } },
    [FUNCTION_AND]          = { 1, 1, { MAP_LOGICAL }, { MAP_FILL } },
    [FUNCTION_OR]           = { 1, 1, { MAP_LOGICAL }, { MAP_FILL } },
};
_Static_assert(sizeof function_rows / sizeof *function_rows == N_OP_FUNCTIONS, "one row a function");

static void add_function_steps(struct passes *p, const enum map_op *ops, uint32_t n_ops, uint64_t n)
{
    for (uint32_t i = 0; i < n_ops; i++)
        passes_map(p, ops[i], n);
}

static void plan_map(struct passes *p, const struct vector_op *w)
{
    const struct function_row *row = &function_rows[w->forward->at->function];
    add_function_steps(p, w->backward ? row->backward : row->forward, w->backward ? row->n_backward : row->n, w->n);
}

/* A vertex can repeat a second operand only. A small first operand of a function that does not commute is therefore copied out. */
static void add_combination(struct passes *p, const struct vector_op *w, const struct function_row *row)
{
    const struct tensor *b = &w->g->tensors[w->op->inputs[1]];
    add_operand(p, w, b);
    add_function_steps(p, row->forward, row->n - 1, w->n_out);
    if (w->op->at->inverted && tensor_elements(b) < w->n_out) {
        passes_map(p, MAP_COPY, w->n_out);
        passes_map(p, row->forward[row->n - 1], w->n_out);
        return;
    }
    add_two_operands(p, w, row->forward[row->n - 1], CHANNELS_ADD, b);
}

static void plan_combine(struct passes *p, const struct vector_op *w)
{
    const struct function_row *row = &function_rows[w->forward->at->function];
    if (!w->backward) {
        add_combination(p, w, row);
        return;
    }
    add_function_steps(p, row->backward, row->n_backward - 1, w->n_out);
    add_operand_gradients(p, w, row->backward[row->n_backward - 1]);
}

static void plan_select(struct passes *p, const struct vector_op *w)
{
    for (uint32_t i = 1; i < w->op->n_inputs && !w->backward; i++)
        add_operand(p, w, &w->g->tensors[w->op->inputs[i]]);
    if (w->backward) {
        passes_map(p, MAP_CAST_ELEMENT, w->n_out);
        add_operand_gradients(p, w, MAP_BINARY);
    } else {
        passes_map(p, MAP_SELECT, w->n_out);
    }
}

static void plan_expand(struct passes *p, const struct vector_op *w)
{
    if (w->backward) {
        passes_reduction(p, MAP_REDUCE, false, w->n_out, w->n, 1);
        return;
    }
    passes_broadcast(p, w->n, w->n_out);
    passes_map(p, MAP_COPY, w->n_out);
}

/* On the chip nothing moves; op_exchange() gives what moves between chips. */
static void plan_view(struct passes *p, const struct vector_op *w)
{
    (void)p;
    (void)w;
}

static void plan_resize(struct passes *p, const struct vector_op *w)
{
    uint64_t larger = max_u64(w->n, w->n_out);
    passes_move(p, w->backward ? w->n_out : w->n);
    if (w->forward->at->linear) {
        passes_map(p, MAP_SCALED_ADD, larger);
        passes_map(p, MAP_SCALED_ADD, larger);
    }
    if (w->backward)
        passes_reduction(p, MAP_REDUCE, true, larger, w->n, 1);
    else
        passes_map(p, MAP_COPY, w->n_out);
}

/* Squares, one addition for each neighbour, the scale, and the power of it times the input (willow/src/popx/op/lrnx.cpp). The gradient has two
 * powers, the square of the input, three products and a difference. */
static void plan_local_norm(struct passes *p, const struct vector_op *w)
{
    static const enum map_op forward[] = { MAP_POWER, MAP_BINARY };
    static const enum map_op backward[] = { MAP_POWER, MAP_POWER, MAP_SQUARE, MAP_SCALAR, MAP_BINARY, MAP_BINARY, MAP_BINARY };
    passes_map(p, MAP_SQUARE, w->n);
    for (uint32_t i = 1; i < w->forward->at->kernel_w; i++)
        passes_map(p, MAP_BINARY_IN_PLACE, w->n);
    passes_map(p, MAP_SCALAR, w->n);
    add_function_steps(p, w->backward ? backward : forward, w->backward ? sizeof backward / sizeof *backward : sizeof forward / sizeof *forward, w->n);
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* A row for each kind of operation: the part of the breakdown that its computing belongs to, and the function that prices
 * it. Products have planners of their own (NULL). */
static const struct op_row { enum part part; void (*price)(struct passes *p, const struct vector_op *w); } op_rows[] = {
    [OP_CONV] = { PART_CONV, NULL }, [OP_MATMUL] = { PART_MATMUL, NULL }, [OP_CONV_TRANSPOSE] = { PART_CONV, NULL },
    [OP_SPARSE_MATMUL] = { PART_MATMUL, plan_sparse_matmul }, [OP_ALL_TO_ALL] = { PART_REARRANGE, plan_all_to_all },
    [OP_DISTANCE] = { PART_ELEMENTWISE, plan_distance },
    [OP_ADD] = { PART_ELEMENTWISE, plan_binary }, [OP_MUL] = { PART_ELEMENTWISE, plan_binary },
    [OP_SCALE] = { PART_ELEMENTWISE, plan_scale }, [OP_BIAS_ADD] = { PART_ELEMENTWISE, plan_bias_add },
    [OP_RELU] = { PART_ELEMENTWISE, plan_nonlinearity }, [OP_GELU] = { PART_ELEMENTWISE, plan_nonlinearity },
    [OP_TANH] = { PART_ELEMENTWISE, plan_nonlinearity }, [OP_SIGMOID] = { PART_ELEMENTWISE, plan_nonlinearity },
    [OP_SWISH] = { PART_ELEMENTWISE, plan_nonlinearity }, [OP_DROPOUT] = { PART_ELEMENTWISE, plan_dropout }, [OP_NOISE] = { PART_ELEMENTWISE, plan_noise },
    [OP_MAP] = { PART_ELEMENTWISE, plan_map }, [OP_COMBINE] = { PART_ELEMENTWISE, plan_combine },
    [OP_SELECT] = { PART_ELEMENTWISE, plan_select }, [OP_EXPAND] = { PART_ELEMENTWISE, plan_expand },
    [OP_ARG_MAX] = { PART_ELEMENTWISE, plan_arg_max }, [OP_TOP_K] = { PART_ELEMENTWISE, plan_top_k },
    [OP_OUTER_ADD] = { PART_ELEMENTWISE, plan_outer_add }, [OP_ROTARY] = { PART_ELEMENTWISE, plan_rotary },
    [OP_CODELET] = { PART_ELEMENTWISE, plan_codelet }, [OP_RANDOM] = { PART_ELEMENTWISE, plan_random },
    [OP_SOFTMAX] = { PART_SOFTMAX, plan_softmax },
    [OP_BATCH_NORM] = { PART_NORM, plan_norm }, [OP_GROUP_NORM] = { PART_NORM, plan_norm }, [OP_LAYER_NORM] = { PART_NORM, plan_norm },
    [OP_LOCAL_NORM] = { PART_NORM, plan_local_norm }, [OP_RMS_NORM] = { PART_NORM, plan_rms_norm },
    [OP_MAX_POOL] = { PART_POOLING, plan_pool }, [OP_AVERAGE_POOL] = { PART_POOLING, plan_pool }, [OP_RESIZE] = { PART_POOLING, plan_resize },
    [OP_GATHER] = { PART_EMBEDDING, plan_gather }, [OP_SCATTER] = { PART_EMBEDDING, plan_scatter },
    [OP_TRANSPOSE] = { PART_REARRANGE, plan_transpose }, [OP_CONCAT] = { PART_REARRANGE, plan_copied },
    [OP_SLICE] = { PART_REARRANGE, plan_copied }, [OP_PAD] = { PART_REARRANGE, plan_copied }, [OP_VIEW] = { PART_REARRANGE, plan_view },
    [OP_CAST] = { PART_REARRANGE, plan_cast }, [OP_INPUT_PREPARE] = { PART_REARRANGE, plan_cast },
    [OP_LSTM] = { PART_LSTM, plan_recurrence }, [OP_GRU] = { PART_LSTM, plan_recurrence },
    [OP_ALL_REDUCE] = { PART_REARRANGE, plan_view }, [OP_SHARE] = { PART_REARRANGE, plan_view }, [OP_ALL_GATHER] = { PART_REARRANGE, plan_view },
    [OP_CROSS_ENTROPY] = { PART_LOSS, plan_cross_entropy }, [OP_TRANSDUCER_LOSS] = { PART_LOSS, plan_transducer_loss },
};
_Static_assert(sizeof op_rows / sizeof *op_rows == N_OP_KINDS, "one row a kind");

enum part op_part(const struct op *op)
{
    return op_rows[op->kind].part;
}

/* Noise is mapped linearly, wherever its operand lies (PopART willow/src/popx/op/randomuniformx.cpp:36). */
bool op_is_elementwise(const struct op *op)
{
    static const bool by_elements[N_PARTS] = { [PART_ELEMENTWISE] = true, [PART_NORM] = true, [PART_SOFTMAX] = true };
    enum op_kind kind = op->kind;
    return by_elements[op_part(op)] && kind != OP_CODELET && kind != OP_NOISE;  /* a codelet's grid has a layout of its own */
}

/* When an operation writes over its operand: where PopART or popnn have a form in place. Functions have one forward (nonLinearityInPlace), but their gradient
 * is a new tensor (nonLinearityInputGradient), as are the results of dropout (poprand) and of norms in either direction (poplin's Norms.cpp). Tanh and
 * logarithm have none (PopART d2f20d78 willow/include/popart/op/tanh.hpp:16, log.hpp:14). */
enum writes_over { OVER_NEVER, OVER_FORWARD, OVER_ALWAYS };
static const enum writes_over over_operand[N_OP_KINDS] = {
    [OP_ADD] = OVER_ALWAYS, [OP_MUL] = OVER_ALWAYS, [OP_SCALE] = OVER_ALWAYS, [OP_COMBINE] = OVER_ALWAYS,
    [OP_BIAS_ADD] = OVER_FORWARD, [OP_RELU] = OVER_FORWARD, [OP_GELU] = OVER_FORWARD, [OP_SIGMOID] = OVER_FORWARD,
    [OP_SWISH] = OVER_FORWARD, [OP_SOFTMAX] = OVER_FORWARD, [OP_MAP] = OVER_FORWARD, [OP_SELECT] = OVER_FORWARD, [OP_SHARE] = OVER_FORWARD,
};

bool op_writes_over(const struct op *op)
{
    enum writes_over over = over_operand[op->kind];
    bool logarithm = op->kind == OP_MAP && op->at->function == FUNCTION_LOG;
    if (logarithm)
        return false;
    return over == OVER_ALWAYS || (over == OVER_FORWARD && op->pass == PASS_FORWARD);
}

bool op_keeps_layout(const struct op *op)
{
    return op->kind == OP_VIEW || op->kind == OP_CAST || op->kind == OP_CROSS_ENTROPY || op_takes_apart(op) || op_is_elementwise(op);
}

/* Brings a gradient to an operand of its size that the forward pass kept. */
static void add_gradient_move(struct passes *p, const struct vector_op *w)
{
    uint32_t n_large = 0;
    for (uint32_t k = 0; k < w->op->n_inputs; k++)
        n_large += tensor_elements(&w->g->tensors[w->op->inputs[k]]) >= w->n_out;
    if (w->op->pass == PASS_BACKWARD_DATA && w->backward && op_is_elementwise(w->op) && n_large > 1 && !w->together)
        passes_move(p, w->n_out);
}

void vector_op_plan(struct op_plan *out, const struct graph *g, const struct op *op, struct operands at, const struct chip *chip,
                    const struct op_plan_options *opt, struct plan_cache *cache)
{
    const struct op *f = op_forward(g, op);
    struct vector_op w = { .g = g, .op = op, .forward = f, .x = &g->tensors[f->inputs[0]], .y = &g->tensors[f->outputs[0]],
                      .opt = opt, .cache = cache, .backward = op->forward_op != NO_ID };
    w.n = tensor_elements(w.x);
    w.n_out = tensor_elements(w.y);
    w.last = w.x->dims[w.x->n_dims - 1];
    assert(op_rows[op->kind].price);
    struct passes p = passes_start(out, chip, opt, data_type_bytes(w.x->type));
    p.imbalance = at.imbalance * fmax(1, at.crowding);
    p.n_operand = w.n;
    p.row = w.last;
    p.groups = at.groups;
    p.turned = at.turned;
    p.integers = w.x->type == TYPE_INT32;
    w.together = at.together;
    add_gradient_move(&p, &w);
    op_rows[op->kind].price(&p, &w);
    out->imbalance = at.imbalance;
    out->together = at.together;
    out->crowding = at.crowding;
    out->turned = at.turned;
    out->groups = at.groups;
    out->temp_bytes_per_tile = max_u64(out->temp_bytes_per_tile, p.scratch_bytes);
}
