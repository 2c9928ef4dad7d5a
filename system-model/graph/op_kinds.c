/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_kinds.c - what each kind of operation does: shapes, arithmetic, and what its gradient reads. One row a kind.
 *
 *     convolution   output elements x kernel_h x kernel_w x input channels / groups   multiply-accumulates
 *     matmul        groups x rows x inner x columns
 *     LSTM          batch x steps x 4 hidden x (input + hidden); GRU: 3 hidden
 * and the same number again for the gradient of the data and for that of the weights. Vector operations count
 * arithmetic operations an element; exp, tanh and log count as one. These counts serve MFU and the printed tables;
 * the compiler computes time (compiler/vector_plan.c).
 */
#include "system-model/graph/op_kinds.h"

const char *const op_kind_names[N_OP_KINDS] = {
    [OP_CONV] = "conv", [OP_MATMUL] = "matmul", [OP_ADD] = "add", [OP_MUL] = "mul", [OP_SCALE] = "scale",
    [OP_BIAS_ADD] = "bias-add", [OP_RELU] = "relu", [OP_GELU] = "gelu", [OP_TANH] = "tanh",
    [OP_SIGMOID] = "sigmoid", [OP_SWISH] = "swish", [OP_SOFTMAX] = "softmax", [OP_BATCH_NORM] = "batch-norm",
    [OP_GROUP_NORM] = "group-norm", [OP_LAYER_NORM] = "layer-norm", [OP_DROPOUT] = "dropout",
    [OP_MAX_POOL] = "max-pool", [OP_AVERAGE_POOL] = "average-pool", [OP_GATHER] = "gather",
    [OP_TRANSPOSE] = "transpose", [OP_CONCAT] = "concat", [OP_SLICE] = "slice", [OP_PAD] = "pad",
    [OP_LSTM] = "lstm", [OP_GRU] = "gru", [OP_OUTER_ADD] = "outer-add", [OP_CROSS_ENTROPY] = "cross-entropy",
    [OP_TRANSDUCER_LOSS] = "transducer-loss", [OP_CAST] = "cast", [OP_INPUT_PREPARE] = "input-prepare",
    [OP_MAP] = "map", [OP_COMBINE] = "combine", [OP_SELECT] = "select", [OP_VIEW] = "view", [OP_EXPAND] = "expand",
    [OP_RESIZE] = "resize", [OP_LOCAL_NORM] = "local-norm", [OP_ARG_MAX] = "arg-max", [OP_CONV_TRANSPOSE] = "conv-transpose",
    [OP_TOP_K] = "top-k", [OP_SCATTER] = "scatter", [OP_RMS_NORM] = "rms-norm", [OP_ROTARY] = "rotary", [OP_SPARSE_MATMUL] = "sparse-matmul",
    [OP_ALL_REDUCE] = "all-reduce", [OP_SHARE] = "share", [OP_ALL_GATHER] = "all-gather",
    [OP_CODELET] = "codelet", [OP_RANDOM] = "random",
    [OP_ALL_TO_ALL] = "all-to-all", [OP_DISTANCE] = "distance",
    [OP_NOISE] = "noise",
};

static uint64_t dims_product(const uint64_t *dims, uint32_t n)
{
    uint64_t p = 1;
    for (uint32_t i = 0; i < n; i++)
        p *= dims[i];
    return p;
}

static const struct tensor *op_input(const struct graph *g, const struct op *op, uint32_t i)
{
    assert(i < op->n_inputs);
    return &g->tensors[op->inputs[i]];
}

/* ---- shapes: each writes the output's dimensions, and its type where it is not that of input 0 ---- */

static void shape_same(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    out->n_dims = x->n_dims;
    memcpy(out->dims, x->dims, sizeof out->dims);
}

/* The second operand is repeated along dimensions where it has a one. */
static void shape_pair(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = op_input(g, op, 0), *b = op_input(g, op, 1);
    assert(a->n_dims == b->n_dims);
    for (uint32_t i = 0; i < a->n_dims; i++)
        assert(b->dims[i] == a->dims[i] || b->dims[i] == 1);
    shape_same(g, op, out);
}

static void shape_last_vector(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    for (uint32_t i = 1; i < op->n_inputs; i++)
        assert(op_input(g, op, i)->n_dims == 1 && op_input(g, op, i)->dims[0] == out->dims[out->n_dims - 1]);
}

/* The output size along one dimension; `first` and `last` are zeros beyond the pad on both sides. */
static uint64_t window_count(uint64_t size, uint32_t kernel, uint32_t stride, const struct op_attributes *at, uint32_t first, uint32_t last)
{
    uint64_t padded = size + (kernel > 1 ? 2ull * at->pad : 0) + first + last;
    uint64_t reach = (uint64_t)(kernel - 1) * (at->dilation ? at->dilation : 1) + 1;
    assert(kernel > 0 && stride > 0 && padded >= reach);
    return (padded - reach) / stride + 1;
}

static void shape_window(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    assert(x->n_dims == 4);
    out->n_dims = 4;
    out->dims[0] = x->dims[0];
    const struct op_attributes *at = op->at;
    uint32_t stride_w = at->stride_w ? at->stride_w : at->stride;
    out->dims[1] = window_count(x->dims[1], at->kernel_h, at->stride, at, at->zeros[0], at->zeros[2]);
    out->dims[2] = window_count(x->dims[2], at->kernel_w, stride_w, at, at->zeros[1], at->zeros[3]);
    out->dims[3] = x->dims[3];
}

/* fp8 is only an operand type: products of fp8 are fp16. */
static enum data_type product_type(const struct tensor *factor)
{
    return factor->type == TYPE_FP8 ? TYPE_FP16 : factor->type;
}

static void one_group(struct op_attributes *at, const struct tensor *x)
{
    (void)x;
    at->groups = at->groups ? at->groups : 1;
}

static void seen_as_it_is(struct op_attributes *at, const struct tensor *x)
{
    if (at->view[0] == 0)
        memcpy(at->view, x->dims, x->n_dims * sizeof *x->dims);
}

/* Weights are [kernel_h, kernel_w, input channels / groups, output channels]. */
static void shape_conv(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0), *w = op_input(g, op, 1);
    assert(w->n_dims == 4 && w->dims[0] == op->at->kernel_h && w->dims[1] == op->at->kernel_w);
    assert(w->dims[2] * op->at->groups == x->dims[3] && w->dims[3] % op->at->groups == 0);
    shape_window(g, op, out);
    out->dims[3] = w->dims[3];
    out->type = product_type(x);
}

/* A second operand of two dimensions serves all rows; one with more has a matrix for each leading index. */
static void shape_matmul(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = op_input(g, op, 0), *b = op_input(g, op, 1);
    uint32_t n = b->n_dims;
    uint64_t inner = b->dims[op->at->transpose_b ? n - 1 : n - 2];
    assert(a->n_dims >= 2 && n >= 2 && a->dims[a->n_dims - 1] == inner);
    if (n > 2)
        assert(n == a->n_dims && memcmp(a->dims, b->dims, (n - 2) * sizeof *a->dims) == 0);
    shape_same(g, op, out);
    out->dims[out->n_dims - 1] = b->dims[op->at->transpose_b ? n - 2 : n - 1];
    out->type = product_type(a);
}

/* A table [rows, width] with indices of any shape, or a table for each sample [batch, rows, width] with [batch, n].
 * */
static void shape_gather(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *table = op_input(g, op, 0), *at = op_input(g, op, 1);
    assert(table->n_dims == 2 || (table->n_dims == 3 && at->n_dims == 2 && at->dims[0] == table->dims[0]));
    assert(at->n_dims < MAX_DIMS);
    out->n_dims = at->n_dims + 1;
    memcpy(out->dims, at->dims, sizeof out->dims);
    out->dims[at->n_dims] = table->dims[table->n_dims - 1];
}

static void shape_transpose(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    uint64_t dims[MAX_VIEW_DIMS];
    uint32_t n = 0, seen = 0, merge = max_u32(1, op->at->merge);
    while (n < MAX_VIEW_DIMS && op->at->view[n] != 0)
        n++;
    assert(dims_product(op->at->view, n) == tensor_elements(x));
    for (uint32_t i = 0; i < n; i++) {
        seen |= 1u << op->at->order[i];
        dims[i] = op->at->view[op->at->order[i]];
    }
    assert(seen == (1u << n) - 1);      /* each dimension must occur in order, only once */
    assert(merge <= n && n - merge < MAX_DIMS);
    dims[n - merge] = dims_product(dims + n - merge, merge);
    out->n_dims = n - merge + 1;
    memcpy(out->dims, dims, out->n_dims * sizeof *dims);
}

static void shape_concat(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at->axis < out->n_dims);
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const struct tensor *x = op_input(g, op, i);
        for (uint32_t d = 0; d < out->n_dims; d++)
            assert(d == op->at->axis || x->dims[d] == out->dims[d]);
        out->dims[op->at->axis] += x->dims[op->at->axis];
    }
}

static void shape_slice(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    uint64_t *size = &out->dims[op->at->axis];
    assert(op->at->axis < out->n_dims);
    if (op->at->pieces > 0) {
        assert(op->at->pieces <= MAX_OP_OUTPUTS && *size % op->at->pieces == 0);
        op->n_outputs = op->at->pieces;
        *size /= op->at->pieces;
    } else {
        assert(op->at->length > 0 && op->at->begin + op->at->length <= *size);
        *size = op->at->length;
    }
}

static void shape_pad(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at->axis < out->n_dims && op->at->begin + out->dims[op->at->axis] <= op->at->length);
    out->dims[op->at->axis] = op->at->length;
}

static uint64_t gates_of(const struct op *op) { return op->kind == OP_LSTM ? 4 : 3; }

/* Inputs: x [batch, steps, width], its weights [width, gates x hidden], recurrent ones [hidden, gates x hidden],
 * biases of both. In inference an initial state may follow, and for an LSTM an initial cell, each [batch, hidden]; without them they are zeros. */
static void shape_recurrence(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0), *w = op_input(g, op, 1), *r = op_input(g, op, 2);
    uint64_t hidden = op->at->hidden, all = gates_of(op) * hidden;
    assert(x->n_dims == 3 && w->dims[0] == x->dims[2] && w->dims[1] == all);
    assert(r->dims[0] == hidden && r->dims[1] == all && op_input(g, op, 3)->dims[0] == 2 * all);
    for (uint32_t i = 4; i < op->n_inputs; i++)
        assert(op_input(g, op, i)->dims[0] == x->dims[0] && op_input(g, op, i)->dims[1] == hidden);
    shape_same(g, op, out);
    out->dims[1] += op->at->with_cell;
    out->dims[2] = hidden;
}

static void shape_outer_add(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = op_input(g, op, 0), *b = op_input(g, op, 1);
    assert(a->n_dims == 3 && b->n_dims == 3 && a->dims[0] == b->dims[0] && a->dims[2] == b->dims[2]);
    const uint64_t dims[] = { a->dims[0], a->dims[1], b->dims[1], a->dims[2] };
    out->n_dims = 4;
    memcpy(out->dims, dims, sizeof dims);
}

static void shape_loss(const struct graph *g, struct op *op, struct tensor *out)
{
    assert(op->n_inputs == 2 && op_input(g, op, 0)->n_dims >= 2);
    out->n_dims = 1;
    out->dims[0] = 1;
    out->type = TYPE_FP32;
}

static void shape_cast(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    out->type = op->at->to_type;
}

/* Every operand has the sizes of the first, or 1 along dimensions in which it is repeated. */
static void shape_select(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    for (uint32_t k = 1; k < op->n_inputs; k++)
        for (uint32_t i = 0; i < x->n_dims; i++)
            assert(op_input(g, op, k)->n_dims == x->n_dims && (op_input(g, op, k)->dims[i] == x->dims[i] || op_input(g, op, k)->dims[i] == 1));
    shape_same(g, op, out);
}

static void set_dims(struct tensor *out, const uint64_t *dims)
{
    for (out->n_dims = 0; out->n_dims < MAX_DIMS && dims[out->n_dims]; out->n_dims++)
        out->dims[out->n_dims] = dims[out->n_dims];
}

static void shape_view(const struct graph *g, struct op *op, struct tensor *out)
{
    set_dims(out, op->at->view);
    assert(tensor_elements(out) == tensor_elements(op_input(g, op, 0)));
}

static void shape_expand(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    set_dims(out, op->at->view);
    assert(out->n_dims == x->n_dims);
    for (uint32_t i = 0; i < x->n_dims; i++)
        assert(x->dims[i] == out->dims[i] || x->dims[i] == 1);
}

static void shape_resize(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0);
    set_dims(out, op->at->view);
    assert(x->n_dims == 4 && out->n_dims == 4 && out->dims[0] == x->dims[0] && out->dims[3] == x->dims[3]);
}

static void shape_arg_max(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    out->dims[out->n_dims - 1] = 1;
    out->type = TYPE_INT32;
}

static void shape_top_k(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at->length > 0 && op->at->length <= out->dims[out->n_dims - 1]);
    out->dims[out->n_dims - 1] = op->at->length;
    out->type = TYPE_INT32;
}

/* A table [rows, width] with [n] indices and [n, width] updates, or several of those. */
static void shape_scatter(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *at = op_input(g, op, 1), *updates = op_input(g, op, 2);
    shape_same(g, op, out);
    assert(out->n_dims == at->n_dims + 1 && tensor_elements(updates) == tensor_elements(at) * out->dims[out->n_dims - 1]);
}

static void shape_all_gather(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at->axis < out->n_dims && out->dims[op->at->axis] * op->at->ranks >= op->at->length);
    out->dims[op->at->axis] = op->at->length;
}

/* The weights are those of the convolution that it reverses: [kernel_h, kernel_w, output channels / groups, input
 * channels]. */
static void shape_conv_transpose(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0), *w = op_input(g, op, 1);
    set_dims(out, op->at->view);
    assert(w->n_dims == 4 && w->dims[0] == op->at->kernel_h && w->dims[1] == op->at->kernel_w && w->dims[3] == x->dims[3]);
    assert(out->n_dims == 4 && out->dims[0] == x->dims[0] && out->dims[3] == w->dims[2] * op->at->groups);
    out->type = product_type(x);
}

/* x is [batch, time, heads x width] with at.groups heads, or [batch, heads, time, width]; both tables are [batch or 1, time, turned / 2]. */
static void shape_rotary(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0), *cosines = op_input(g, op, 1);
    uint64_t width = x->dims[x->n_dims - 1] / op->at->groups, time = x->dims[x->n_dims - 2];
    shape_same(g, op, out);
    assert(x->n_dims == 4 || (x->n_dims == 3 && x->dims[2] % op->at->groups == 0));
    assert(tensor_is_same_shape(cosines, op_input(g, op, 2)));
    assert(cosines->n_dims == 3 && (cosines->dims[0] == 1 || cosines->dims[0] == x->dims[0]) && cosines->dims[1] == time);
    assert(op->at->length == 2 * cosines->dims[2] && op->at->length <= width);
}

static void shape_distance(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = op_input(g, op, 0), *b = op_input(g, op, 1);
    assert(a->n_dims == 2 && b->n_dims == 2 && a->dims[1] == b->dims[1]);
    shape_same(g, op, out);
    out->dims[1] = b->dims[0];
}

static void shape_sparse_matmul(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = op_input(g, op, 0), *w = op_input(g, op, 1);
    const struct sparsity *s = &op->at->sparse;
    bool first = op->at->sparse_first;
    assert(w->n_dims == 3 && w->dims[1] == s->block && w->dims[2] == s->block && s->inner % s->block == 0 && s->outer % s->block == 0);
    assert(x->dims[first ? 0 : x->n_dims - 1] == s->inner && (!first || x->n_dims == 2));
    shape_same(g, op, out);
    out->dims[first ? 0 : out->n_dims - 1] = s->outer;
}

uint64_t sparse_place(const struct sparsity *s, uint64_t i, uint64_t n)
{
    double share = (double)(s->inner / s->block * (s->outer / s->block)) / (double)n;
    uint64_t first = (uint64_t)(share * (double)i), end = (uint64_t)(share * (double)(i + 1));
    return s->places ? s->places[i] : first + hash_bytes(&i, sizeof i, 0) % max_u64(1, end - first);
}

/* Results (at.pieces) are like the first input, or have the sizes of the sheet. */
static void shape_codelet(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct codelet *c = op->at->codelet;
    assert(c && c->axes[c->n_axes - 1] < op_input(g, op, 0)->n_dims);
    op->n_outputs = max_u32(op->at->pieces, 1);
    shape_same(g, op, out);
    if (c->output_dims[0])
        set_dims(out, c->output_dims);
}

/* The result has the dimensions of the first input, or those that the attributes give. */
static void shape_random(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    if (op->at->view[0])
        set_dims(out, op->at->view);
    out->type = op->at->to_type;
}

bool op_has_gradient(const struct op *op)
{
    const struct codelet *c = op->at ? op->at->codelet : NULL;
    return !op_rules[op->kind].gradient.no_gradient && !(op->at && op->at->detached) && !(c && text_is(c->gradient, "none"));
}

/* ---- work ------------------------------------------------------------------------------ */

struct matmul_shape op_matmul_shape(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *a = op_input(g, f, 0), *b = op_input(g, f, 1);
    const struct tensor *c = &g->tensors[f->outputs[0]];
    struct matmul_shape s = { .inner = a->dims[a->n_dims - 1], .columns = c->dims[c->n_dims - 1] };
    s.groups = dims_product(b->dims, b->n_dims - 2);
    s.rows = tensor_elements(a) / s.inner / s.groups;
    return s;
}

static uint64_t matmul_mac(const struct graph *g, const struct op *op)
{
    struct matmul_shape s = op_matmul_shape(g, op);
    return s.groups * s.rows * s.inner * s.columns;
}

static uint64_t sparse_matmul_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    return tensor_elements(op_input(g, f, 1)) * (tensor_elements(op_input(g, f, 0)) / f->at->sparse.inner);
}

static uint64_t conv_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *w = op_input(g, f, 1);
    return tensor_elements(&g->tensors[f->outputs[0]]) * w->dims[0] * w->dims[1] * w->dims[2];
}

static uint64_t conv_transpose_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *w = op_input(g, f, 1);
    return tensor_elements(op_input(g, f, 0)) * w->dims[0] * w->dims[1] * w->dims[2];
}

/* If the input needs no gradient, as in a first layer, the data pass makes only that of the gates. */
static uint64_t recurrence_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *x = op_input(g, f, 0);
    bool gates_only = op->pass == PASS_BACKWARD_DATA && op->n_outputs == 1;
    return x->dims[0] * x->dims[1] * gates_of(f) * f->at->hidden * ((gates_only ? 0 : x->dims[2]) + f->at->hidden);
}

const struct op_rule op_rules[N_OP_KINDS] = {
    [OP_CONV]             = { .shape = shape_conv, .mac = conv_mac,
                              .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_INPUT }, .defaults = one_group },
    [OP_MATMUL]           = { .shape = shape_matmul, .mac = matmul_mac, .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_ADD]              = { .shape = shape_pair, .flop = { 1, 1 }, .gradient = { .pass_through = true } },
    [OP_MUL]              = { .shape = shape_pair, .flop = { 1, 2 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_SCALE]            = { .shape = shape_same, .flop = { 1, 1 } },
    [OP_BIAS_ADD]         = { .shape = shape_last_vector, .flop = { [PASS_FORWARD] = 1, [PASS_BACKWARD_WEIGHT] = 1 },
                              .gradient = { .pass_through = true } },
    [OP_RELU]             = { .shape = shape_same, .flop = { 1, 1 }, .gradient = { .data_keeps = KEEP_OUTPUT } },
    [OP_GELU]             = { .shape = shape_same, .flop = { 9, 14 }, .gradient = { .data_keeps = KEEP_INPUT } },    /* the tanh form */
    [OP_TANH]             = { .shape = shape_same, .flop = { 1, 3 }, .gradient = { .data_keeps = KEEP_OUTPUT } },
    [OP_SIGMOID]          = { .shape = shape_same, .flop = { 3, 3 }, .gradient = { .data_keeps = KEEP_OUTPUT } },
    [OP_SWISH]            = { .shape = shape_same, .flop = { 4, 6 }, .gradient = { .data_keeps = KEEP_INPUT } },
    [OP_SOFTMAX]          = { .shape = shape_same, .flop = { 5, 4 }, .gradient = { .data_keeps = KEEP_OUTPUT } },    /* max, sub, exp, sum, mul */
    [OP_BATCH_NORM]       = { .shape = shape_last_vector, .flop = { 7, 5, 3 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT } },    /* 3 operations for the statistics, 4 to apply them */
    [OP_GROUP_NORM]       = { .shape = shape_last_vector, .flop = { 7, 5, 3 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_LAYER_NORM]       = { .shape = shape_last_vector, .flop = { 7, 5, 3 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_DROPOUT]          = { .shape = shape_same, .flop = { 1, 1 } },    /* the mask is drawn again from its seed */
    [OP_MAX_POOL]         = { .shape = shape_window, .per = PER_WINDOW, .flop = { 1, 1 }, .gradient = { .data_keeps = KEEP_INPUT | KEEP_OUTPUT } },
    [OP_AVERAGE_POOL]     = { .shape = shape_window, .per = PER_WINDOW, .flop = { 1, 1 } },
    [OP_GATHER]           = { .shape = shape_gather, .flop = { 0, 1, 1 },
                              .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_SECOND } },    /* the backward pass adds rows up */
    [OP_TRANSPOSE]        = { .shape = shape_transpose, .defaults = seen_as_it_is },
    [OP_CONCAT]           = { .shape = shape_concat },
    [OP_SLICE]            = { .shape = shape_slice },
    [OP_PAD]              = { .shape = shape_pad },
    [OP_LSTM]             = { .shape = shape_recurrence, .mac = recurrence_mac, .flop = { 23, 30, 4 },
                              .gradient = { .through_time = true, .data_keeps = KEEP_INPUT | KEEP_WEIGHTS | KEEP_OUTPUT,
                                            .weight_keeps = KEEP_INPUT | KEEP_OUTPUT } },    /* gates, cell, biases */
    [OP_GRU]              = { .shape = shape_recurrence, .mac = recurrence_mac, .flop = { 18, 24, 3 },
                              .gradient = { .through_time = true, .data_keeps = KEEP_INPUT | KEEP_WEIGHTS | KEEP_OUTPUT,
                                            .weight_keeps = KEEP_INPUT | KEEP_WEIGHTS | KEEP_OUTPUT } },
    [OP_OUTER_ADD]        = { .shape = shape_outer_add, .flop = { 1, 2 } },    /* the backward pass sums twice */
    [OP_CROSS_ENTROPY]    = { .shape = shape_loss, .per = PER_INPUT, .flop = { 5, 2 }, .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND } },
    [OP_TRANSDUCER_LOSS]  = { .shape = shape_loss, .per = PER_INPUT, .flop = { 5, 3 }, .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND } },
    [OP_CAST]             = { .shape = shape_cast },
    [OP_INPUT_PREPARE]    = { .shape = shape_cast, .flop = { 2 }, .gradient = { .no_gradient = true } },    /* subtracts the mean, multiplies by the scale */
    [OP_MAP]              = { .shape = shape_same, .flop = { 4, 6 }, .gradient = { .data_keeps = KEEP_INPUT } },
    [OP_COMBINE]          = { .shape = shape_pair, .flop = { 1, 3 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT | KEEP_SECOND } },
    [OP_SELECT]           = { .shape = shape_select, .flop = { 1, 1 }, .gradient = { .data_keeps = KEEP_SECOND } },
    [OP_VIEW]             = { .shape = shape_view },
    [OP_EXPAND]           = { .shape = shape_expand, .flop = { 0, 1, 1 } },    /* the backward pass adds up */
    [OP_RESIZE]           = { .shape = shape_resize, .flop = { 7, 7 } },    /* linear: four neighbours */
    [OP_LOCAL_NORM]       = { .shape = shape_same, .flop = { 9, 14 }, .gradient = { .data_keeps = KEEP_INPUT } },
    [OP_ARG_MAX]          = { .shape = shape_arg_max, .per = PER_INPUT, .flop = { 1 }, .gradient = { .no_gradient = true } },
    [OP_TOP_K]            = { .shape = shape_top_k, .per = PER_INPUT, .flop = { 1 }, .gradient = { .no_gradient = true } },
    [OP_SCATTER]          = { .shape = shape_scatter,
                              .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_SECOND } },    /* rows of zeros, and rows looked up */
    [OP_RMS_NORM]         = { .shape = shape_last_vector, .flop = { 5, 7, 3 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_ROTARY]           = { .shape = shape_rotary, .flop = { 3, 3 },
                              .gradient = { .first_alone = true, .data_keeps = KEEP_SECOND | KEEP_THIRD }, .defaults = one_group },
    [OP_ALL_TO_ALL]       = { .shape = shape_same },
    [OP_DISTANCE]         = { .shape = shape_distance, .per = PER_PAIR, .flop = { 3, 3 }, .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND } },
    [OP_SPARSE_MATMUL]    = { .shape = shape_sparse_matmul, .mac = sparse_matmul_mac,
                              .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_INPUT } },
    [OP_ALL_REDUCE]       = { .shape = shape_same, .flop = { 1 }, .gradient = { .pass_through = true } },
    [OP_SHARE]            = { .shape = shape_same, .flop = { 0, 1 } },
    [OP_ALL_GATHER]       = { .shape = shape_all_gather, .gradient = { .no_gradient = true } },
    [OP_CODELET]          = { .shape = shape_codelet, .flop = { 1, 1, 1 },
                              .gradient = { .data_keeps = KEEP_INPUT | KEEP_SECOND, .weight_keeps = KEEP_INPUT | KEEP_SECOND } },
    [OP_RANDOM]           = { .shape = shape_random, .flop = { 3 }, .gradient = { .no_gradient = true } },    /* drawn, times, plus */
    [OP_CONV_TRANSPOSE]   = { .shape = shape_conv_transpose, .mac = conv_transpose_mac,
                              .gradient = { .data_keeps = KEEP_SECOND, .weight_keeps = KEEP_INPUT }, .defaults = one_group },
    [OP_NOISE]            = { .shape = shape_same, .flop = { 3 }, .gradient = { .no_gradient = true } },    /* scaled, compared, divided */
};
