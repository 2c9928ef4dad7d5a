/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write_ops.c - how each kind of operation is written as operators of ONNX.
 */
#include "workloads/onnx/write.h"
#include <math.h>
#include <string.h>

#define NUMBER_OF(tag, member) { tag, offsetof(struct op_attributes, member) }

static const struct tensor *in_tensor(const struct writer *w, uint32_t i) { return &w->g->tensors[w->op->inputs[i]]; }
static const struct tensor *out_tensor(const struct writer *w) { return &w->g->tensors[w->op->outputs[0]]; }

/* Writes a part of the operation as a node of two inputs, and returns its name. */
static const char *piece(struct writer *w, const char *op, const char *tag, const char *x, const char *y)
{
    const char *name = writer_part(w, tag);
    WRITE_NODE(w, op, name, x, y);
    return name;
}

/* One operator on all inputs, then on numbers of the operation. */
static void write_one(struct writer *w)
{
    const char *inputs = writer_inputs(w);
    for (const struct written_number *c = w->how->numbers; c < w->how->numbers + 2 && c->tag; c++)
        inputs = arena_printf(&w->a, "%s %s", inputs,
                              writer_number(w, writer_part(w, c->tag), *(const double *)((const char *)w->op->at + c->offset)));
    WRITE_NODE(w, w->how->onnx, writer_result(w), inputs);
}

/* A function of elements with numbers: a division by one, or bounds. */
static void write_function(struct writer *w)
{
    if (w->op->at->function == FUNCTION_DIVIDE_BY)
        WRITE_NODE(w, "Div", writer_result(w), arena_printf(&w->a, "%s %s", writer_inputs(w), writer_number(w, writer_part(w, "by"), w->op->at->low)));
    else
        write_one(w);
}

static void reshape(struct writer *w, const char *from, const char *to, uint32_t n, const uint64_t *dims)
{
    WRITE_NODE(w, "Reshape", to, from, writer_integers(w, arena_printf(&w->a, "%s_shape", to), n, dims));
}

static void put_window(struct writer *w, Onnx__NodeProto *n)
{
    const struct op_attributes *at = w->op->at;
    uint32_t ph = at->kernel_h > 1 ? at->pad : 0, pw = at->kernel_w > 1 ? at->pad : 0;
    PUT_INTS(w, n, "kernel_shape", at->kernel_h, at->kernel_w);
    PUT_INTS(w, n, "strides", at->stride, at->stride_w ? at->stride_w : at->stride);
    PUT_INTS(w, n, "pads", ph + at->zeros[0], pw + at->zeros[1], ph + at->zeros[2], pw + at->zeros[3]);
    if (at->dilation > 1)
        PUT_INTS(w, n, "dilations", at->dilation, at->dilation);
}

/* An addition of a vector is written with the operation before it, if it alone reads that result. */
static const char *with_bias(struct writer *w, const char *inputs)
{
    const struct op *next = w->op + 1, *end = w->g->ops + w->g->n_forward_ops;
    uint32_t y = w->op->outputs[0];
    for (const struct op *op = next; op < end; op++)
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (op->inputs[k] == y && op != next)
                return inputs;
    if (next >= end || next->kind != OP_BIAS_ADD || next->inputs[0] != y)
        return inputs;
    w->done[next - w->g->ops] = true;
    w->image[next->outputs[0]] = writer_output(w, 0);
    return arena_printf(&w->a, "%s %s", inputs, writer_plain(w, next->inputs[1]));
}

static void write_conv(struct writer *w)
{
    const uint64_t *d = in_tensor(w, 1)->dims;
    const char *kernel = writer_weight(w, w->op->inputs[1], ONNX_KERNEL, 4, (uint64_t[]){ d[3], d[2], d[0], d[1] });
    const char *inputs = arena_printf(&w->a, "%s %s", writer_input(w, 0), kernel);
    Onnx__NodeProto *n = WRITE_NODE(w, w->how->onnx, writer_result(w), with_bias(w, inputs));
    put_window(w, n);
    onnx_put_int(&w->a, n, "group", w->op->at->groups);
    if (w->op->kind == OP_CONV_TRANSPOSE)
        PUT_INTS(w, n, "output_shape", (uint32_t)out_tensor(w)->dims[1], (uint32_t)out_tensor(w)->dims[2]);
}

static void write_pool(struct writer *w)
{
    Onnx__NodeProto *n = WRITE_NODE(w, w->how->onnx, writer_result(w), writer_input(w, 0));
    put_window(w, n);
    if (w->op->kind == OP_AVERAGE_POOL)
        onnx_put_int(&w->a, n, "count_include_pad", w->op->at->counts_padding);
}

static void put_epsilon(struct writer *w, Onnx__NodeProto *n)
{
    onnx_put_float(&w->a, n, "epsilon", w->op->at->epsilon > 0 ? w->op->at->epsilon : 1e-5);
}

/* A batch norm's moving averages are constants, which training replaces. */
static void write_batch_norm(struct writer *w)
{
    uint64_t c = in_tensor(w, 1)->dims[0];
    const char *x = writer_input(w, 0), *scale = writer_plain(w, w->op->inputs[1]), *shift = writer_plain(w, w->op->inputs[2]);
    const char *mean = writer_floats(w, writer_part(w, "mean"), c, 0), *variance = writer_floats(w, writer_part(w, "variance"), c, 1);
    put_epsilon(w, WRITE_NODE(w, "BatchNormalization", writer_result(w), x, scale, shift, mean, variance));
}

/* An instance norm of reshaped groups, then the scale and the shift of each channel. */
static void write_group_norm(struct writer *w)
{
    const struct tensor *t = in_tensor(w, 0);
    const uint64_t *d = t->dims, groups = w->op->at->norm_groups;
    const char *x = writer_input(w, 0), *scale = writer_input(w, 1), *shift = writer_input(w, 2);
    const char *ones = writer_floats(w, writer_part(w, "ones"), groups, 1), *zeros = writer_floats(w, writer_part(w, "zeros"), groups, 0);
    const char *grouped = writer_part(w, "grouped");
    reshape(w, x, grouped, 3, (uint64_t[]){ d[0], groups, tensor_elements(t) / d[0] / groups });
    const char *normal = writer_part(w, "normal"), *ungrouped = writer_part(w, "ungrouped");
    put_epsilon(w, WRITE_NODE(w, "InstanceNormalization", normal, grouped, ones, zeros));
    reshape(w, normal, ungrouped, 4, (uint64_t[]){ d[0], d[3], d[1], d[2] });
    WRITE_NODE(w, "Add", writer_result(w), piece(w, "Mul", "scaled", ungrouped, scale), shift);
}

static void write_layer_norm(struct writer *w) { put_epsilon(w, WRITE_NODE(w, "LayerNormalization", writer_result(w), writer_inputs(w))); }

static void write_rms_norm(struct writer *w) { put_epsilon(w, WRITE_NODE(w, "RMSNormalization", writer_result(w), writer_inputs(w))); }

/* A table of angles for each sample, as the operator wants it. */
static const char *angles_by_sample(struct writer *w, uint32_t i)
{
    const struct tensor *x = in_tensor(w, 0), *t = in_tensor(w, i);
    const char *all = writer_part(w, i == 1 ? "cosines" : "sines");
    if (t->dims[0] == x->dims[0])
        return writer_input(w, i);
    const uint64_t dims[] = { x->dims[0], t->dims[1], t->dims[2] };
    WRITE_NODE(w, "Expand", all, writer_input(w, i), writer_integers(w, arena_printf(&w->a, "%s_shape", all), 3, dims));
    return all;
}

static void write_rotary(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const char *x = writer_input(w, 0), *cosines = angles_by_sample(w, 1), *sines = angles_by_sample(w, 2);
    Onnx__NodeProto *n = WRITE_NODE(w, "RotaryEmbedding", writer_result(w), x, cosines, sines);
    onnx_put_int(&w->a, n, "interleaved", at->neighbours);
    onnx_put_int(&w->a, n, "rotary_embedding_dim", (int64_t)at->length);
    if (in_tensor(w, 0)->n_dims == 3)
        onnx_put_int(&w->a, n, "num_heads", at->groups);
}

static void write_softmax(struct writer *w) { onnx_put_int(&w->a, WRITE_NODE(w, "Softmax", writer_result(w), writer_inputs(w)), "axis", -1); }

static void write_matmul(struct writer *w)
{
    const char *a = writer_input(w, 0), *b = writer_input(w, 1);
    uint32_t n = in_tensor(w, 1)->n_dims, order[MAX_DIMS] = { 0, 1, 2, 3, 4 };
    order[n - 1] = n - 2;
    order[n - 2] = n - 1;
    if (w->op->at->transpose_b) {
        onnx_put_ints(&w->a, WRITE_NODE(w, "Transpose", writer_part(w, "turned"), b), "perm", n, order);
        b = writer_part(w, "turned");
    }
    WRITE_NODE(w, "MatMul", writer_result(w), a, b);
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static void write_gelu(struct writer *w)
{
    const char *x = writer_input(w, 0), *cube = piece(w, "Mul", "cube", piece(w, "Mul", "square", x, x), x);
    const char *sum = piece(w, "Add", "sum", x, piece(w, "Mul", "small", cube, writer_number(w, writer_part(w, "by_cube"), 0.044715)));
    const char *curve = writer_part(w, "curve"), *half = piece(w, "Mul", "half", x, writer_number(w, writer_part(w, "by_half"), 0.5));
    WRITE_NODE(w, "Tanh", curve, piece(w, "Mul", "slope", sum, writer_number(w, writer_part(w, "by_slope"), sqrt(2 / M_PI))));
    WRITE_NODE(w, "Mul", writer_result(w), half, piece(w, "Add", "gate", curve, writer_number(w, writer_part(w, "one"), 1)));
}

/* Swish is written as PyTorch exports it: x times its sigmoid. */
static void write_swish(struct writer *w)
{
    const char *x = writer_input(w, 0), *gate = writer_part(w, "gate");
    WRITE_NODE(w, "Sigmoid", gate, x);
    WRITE_NODE(w, "Mul", writer_result(w), x, gate);
}

static void write_dropout_of(struct writer *w, double rate)
{
    const char *x = writer_input(w, 0), *yes = writer_part(w, "yes");
    Onnx__TensorProto *t = onnx_new_tensor(&w->a, yes, ONNX_BOOL, 0, NULL);
    t->int32_data = ARENA_NEW(&w->a, int32_t);
    t->int32_data[t->n_int32_data++] = 1;
    writer_constant(w, t);
    WRITE_NODE(w, "Dropout", writer_result(w), x, writer_number(w, writer_part(w, "rate"), rate), yes);
}

static void write_dropout(struct writer *w) { write_dropout_of(w, w->op->at->rate); }

/* A product with noise, which a dropout is made of, is written as Dropout. */
static void write_mul(struct writer *w)
{
    uint32_t maker = w->g->tensors[w->op->inputs[1]].producer_op;
    if (maker != NO_ID && w->g->ops[maker].kind == OP_NOISE)
        write_dropout_of(w, w->g->ops[maker].at->rate);
    else
        write_one(w);
}

static void write_select(struct writer *w)
{
    const char *x = writer_input(w, 0), *condition = writer_input(w, 1);
    WRITE_NODE(w, "Where", writer_result(w), condition, x, writer_number(w, writer_part(w, "else"), w->op->at->rate));
}

static uint32_t onnx_axis_of(uint32_t axis, bool as_image)
{
    static const uint32_t first[] = { 0, 2, 3, 1 };
    return as_image ? first[axis] : axis;
}

static void write_concat(struct writer *w)
{
    Onnx__NodeProto *n = WRITE_NODE(w, "Concat", writer_result(w), writer_inputs(w));
    onnx_put_int(&w->a, n, "axis", onnx_axis_of(w->op->at->axis, w->as_image));
}

static void write_slice(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const uint64_t from = at->begin, to = at->begin + at->length, axis = onnx_axis_of(at->axis, w->as_image);
    const char *x = writer_input(w, 0);
    if (at->pieces == 0) {
        const char *first = writer_integers(w, writer_part(w, "from"), 1, &from), *end = writer_integers(w, writer_part(w, "to"), 1, &to);
        WRITE_NODE(w, "Slice", writer_result(w), x, first, end, writer_integers(w, writer_part(w, "axis"), 1, &axis));
        return;
    }
    Onnx__NodeProto *n = WRITE_NODE(w, "Split", writer_result(w), x);
    for (uint32_t i = 1; i < at->pieces; i++) {
        (w->as_image ? w->image : w->plain)[w->op->outputs[i]] = writer_output(w, i);
        n->output[n->n_output++] = arena_strdup(&w->a, writer_output(w, i));
    }
    onnx_put_int(&w->a, n, "axis", (int64_t)axis);
    if (w->opset >= 18)
        onnx_put_int(&w->a, n, "num_outputs", at->pieces);
}

static void write_pad(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const struct tensor *x = in_tensor(w, 0);
    uint64_t pads[2 * MAX_DIMS] = { 0 };
    uint32_t axis = onnx_axis_of(at->axis, w->as_image);
    pads[axis] = at->begin;
    pads[x->n_dims + axis] = at->length - at->begin - x->dims[at->axis];
    const char *from = writer_input(w, 0), *sides = writer_integers(w, writer_part(w, "pads"), 2 * x->n_dims, pads);
    WRITE_NODE(w, "Pad", writer_result(w), from, sides, writer_number(w, writer_part(w, "border"), at->rate));
}

/* Writes a reshape of the input, a transposition, and a reshape to the result's own shape. Steps that change nothing are left out. */
static void write_transpose(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const struct tensor *x = in_tensor(w, 0), *y = out_tensor(w);
    uint32_t n = 0, moved = 0;
    uint64_t dims[MAX_VIEW_DIMS] = {0};
    for (; n < MAX_VIEW_DIMS && at->view[n]; n++) {
        dims[n] = at->view[at->order[n]];
        moved += at->order[n] != n;
    }
    const char *from = writer_plain(w, w->op->inputs[0]);
    bool seen = n != x->n_dims || memcmp(at->view, x->dims, n * sizeof *dims) != 0;
    bool joined = n != y->n_dims || memcmp(dims, y->dims, n * sizeof *dims) != 0;
    if (seen && moved) {
        reshape(w, from, writer_part(w, "seen"), n, at->view);
        from = writer_part(w, "seen");
    }
    if (moved) {
        const char *to = joined ? writer_part(w, "moved") : writer_result(w);
        onnx_put_ints(&w->a, WRITE_NODE(w, "Transpose", to, from), "perm", n, at->order);
        from = to;
    }
    if (joined || !moved)
        reshape(w, from, writer_result(w), y->n_dims, y->dims);
}

static void write_view(struct writer *w) { reshape(w, writer_input(w, 0), writer_result(w), out_tensor(w)->n_dims, out_tensor(w)->dims); }

static void write_expand(struct writer *w)
{
    const struct tensor *y = out_tensor(w);
    const char *x = writer_input(w, 0);
    WRITE_NODE(w, "Expand", writer_result(w), x, writer_integers(w, writer_part(w, "shape"), y->n_dims, y->dims));
}

/* A table for each sample is read by GatherND with one batch dimension. */
static void write_gather(struct writer *w)
{
    const char *table = writer_input(w, 0), *at = writer_input(w, 1);
    if (in_tensor(w, 0)->n_dims == 2) {
        onnx_put_int(&w->a, WRITE_NODE(w, "Gather", writer_result(w), table, at), "axis", 0);
        return;
    }
    const uint64_t *d = in_tensor(w, 1)->dims;
    onnx_put_int(&w->a, WRITE_NODE(w, "Cast", writer_part(w, "wide"), at), "to", ONNX_INT64);
    reshape(w, writer_part(w, "wide"), writer_part(w, "rows"), 3, (uint64_t[]){ d[0], d[1], 1 });
    onnx_put_int(&w->a, WRITE_NODE(w, "GatherND", writer_result(w), table, writer_part(w, "rows")), "batch_dims", 1);
}

/* [batch, t, 1, h] + [batch, 1, u, h] */
static void write_outer_add(struct writer *w)
{
    const uint64_t *a = in_tensor(w, 0)->dims, *b = in_tensor(w, 1)->dims;
    reshape(w, writer_input(w, 0), writer_part(w, "rows"), 4, (uint64_t[]){ a[0], a[1], 1, a[2] });
    reshape(w, writer_input(w, 1), writer_part(w, "columns"), 4, (uint64_t[]){ b[0], 1, b[1], b[2] });
    WRITE_NODE(w, "Add", writer_result(w), writer_part(w, "rows"), writer_part(w, "columns"));
}

/* ONNX has time first, and a dimension for directions. */
static void write_lstm(struct writer *w)
{
    const struct tensor *first_kernel = in_tensor(w, 1), *again = in_tensor(w, 2), *bias = in_tensor(w, 3);
    const char *x = writer_input(w, 0), *first = writer_part(w, "time_first"), *all = writer_part(w, "directions"), *one = writer_part(w, "steps");
    const char *weights[3] = { writer_weight(w, w->op->inputs[1], ONNX_GATES, 3, (uint64_t[]){ 1, first_kernel->dims[1], first_kernel->dims[0] }),
                               writer_weight(w, w->op->inputs[2], ONNX_GATES, 3, (uint64_t[]){ 1, again->dims[1], again->dims[0] }),
                               writer_weight(w, w->op->inputs[3], ONNX_GATES, 2, (uint64_t[]){ 1, bias->dims[0] }) };
    PUT_INTS(w, WRITE_NODE(w, "Transpose", first, x), "perm", 1, 0, 2);
    const char *inputs = arena_printf(&w->a, "%s %s %s %s", first, weights[0], weights[1], weights[2]);
    onnx_put_int(&w->a, WRITE_NODE(w, "LSTM", all, inputs), "hidden_size", w->op->at->hidden);
    const uint64_t axis = 1;
    WRITE_NODE(w, "Squeeze", one, all, writer_integers(w, writer_part(w, "axis"), 1, &axis));
    PUT_INTS(w, WRITE_NODE(w, "Transpose", writer_result(w), one), "perm", 1, 0, 2);
}

static void write_cast(struct writer *w)
{
    onnx_put_int(&w->a, WRITE_NODE(w, "Cast", writer_result(w), writer_input(w, 0)), "to",
                 w->op->at->to_type == TYPE_INT32 ? ONNX_INT32 : ONNX_FLOAT);
}

/* Writes no node: pictures follow the recipe, and the reader prepares bytes again. */
static void write_prepare(struct writer *w)
{
    w->image[w->op->outputs[0]] = writer_image(w, w->op->inputs[0]);
}

static void write_nothing(struct writer *w) { (void)w; }

const struct writing writings[N_OP_KINDS] = {
    [OP_CONV] = { .write = write_conv, .layout = WRITTEN_IMAGE, .onnx = "Conv" },
    [OP_CONV_TRANSPOSE] = { .write = write_conv, .layout = WRITTEN_IMAGE, .onnx = "ConvTranspose" },
    [OP_MAX_POOL] = { .write = write_pool, .layout = WRITTEN_IMAGE, .onnx = "MaxPool" },
    [OP_AVERAGE_POOL] = { .write = write_pool, .layout = WRITTEN_IMAGE, .onnx = "AveragePool" }, [OP_MATMUL] = { .write = write_matmul },
    [OP_ADD] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Add" },
    [OP_BIAS_ADD] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Add" },
    [OP_MUL] = { .write = write_mul, .layout = WRITTEN_AS_FIRST, .onnx = "Mul" },
    [OP_SCALE] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Mul", .numbers = { NUMBER_OF("factor", rate) } },
    [OP_RELU] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Relu" },
    [OP_GELU] = { .write = write_gelu, .layout = WRITTEN_AS_FIRST },
    [OP_TANH] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Tanh" },
    [OP_SIGMOID] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Sigmoid" },
    [OP_SWISH] = { .write = write_swish, .layout = WRITTEN_AS_FIRST }, [OP_SOFTMAX] = { .write = write_softmax },
    [OP_BATCH_NORM] = { .write = write_batch_norm, .layout = WRITTEN_BY_RANK },
    [OP_GROUP_NORM] = { .write = write_group_norm, .layout = WRITTEN_IMAGE }, [OP_LAYER_NORM] = { .write = write_layer_norm },
    [OP_RMS_NORM] = { .write = write_rms_norm, .opset = 23 }, [OP_ROTARY] = { .write = write_rotary, .opset = 23 },
    [OP_DROPOUT] = { .write = write_dropout, .layout = WRITTEN_AS_FIRST },
    [OP_MAP] = { .write = write_function, .layout = WRITTEN_AS_FIRST, .onnx = "Clip", .numbers = { NUMBER_OF("low", low), NUMBER_OF("high", high) } },
    [OP_SELECT] = { .write = write_select }, [OP_CONCAT] = { .write = write_concat, .layout = WRITTEN_AS_FIRST },
    [OP_SLICE] = { .write = write_slice, .layout = WRITTEN_AS_FIRST }, [OP_PAD] = { .write = write_pad, .layout = WRITTEN_AS_FIRST },
    [OP_TRANSPOSE] = { .write = write_transpose }, [OP_VIEW] = { .write = write_view }, [OP_EXPAND] = { .write = write_expand },
    [OP_GATHER] = { .write = write_gather }, [OP_OUTER_ADD] = { .write = write_outer_add }, [OP_LSTM] = { .write = write_lstm },
    [OP_CAST] = { .write = write_cast, .layout = WRITTEN_AS_FIRST },
    [OP_INPUT_PREPARE] = { .write = write_prepare, .layout = WRITTEN_IMAGE }, [OP_CROSS_ENTROPY] = { .write = write_nothing }, [OP_NOISE] = { .write = write_nothing },
};
