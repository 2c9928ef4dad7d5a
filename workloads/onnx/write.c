/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.c - a forward graph as an ONNX file, which ONNX Runtime runs and this room reads back as the same graph.
 *
 * The file is of opset 17, the first with LayerNormalization; what came later (Gelu, GroupNormalization) is written in pieces, as PyTorch does.
 * Images are written channels first, as ONNX has them; a value that is needed in the other layout is transposed, which the reader undoes. A
 * bias joins the convolution before it. The metadata_props of each node name its layer, so that the reader places it alike. Losses are left out;
 * the reader adds them to the outputs. Weights are drawn from a seed into a second file (external data), or left out.
 */
#include "workloads/onnx/onnx_internal.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { WRITTEN_OPSET = 17, WRITTEN_IR = 8, NODE_INPUTS = MAX_OP_INPUTS };

struct writer;
/* The layout of an operation: as the graph has it; channels first; that of its first input; channels first if that has four dimensions. */
enum written_layout { WRITTEN_PLAIN, WRITTEN_IMAGE, WRITTEN_AS_FIRST, WRITTEN_BY_RANK };
/* How a kind of operation is written; onnx: the operator, where the kind alone decides it, and numbers of the operation that it reads. */
struct written_number { const char *tag; size_t offset; };
struct writing { void (*write)(struct writer *w); enum written_layout layout; const char *onnx; struct written_number numbers[2]; };
#define NUMBER_OF(tag, member) { tag, offsetof(struct op_attributes, member) }

struct writer {
    struct arena a;
    const struct graph *g;
    const struct op *op;                    /* the operation being written */
    const struct writing *how;              /* its row of the table */
    bool as_image;                          /* its layout */
    Onnx__GraphProto graph;
    size_t cap_nodes, cap_weights, cap_inputs, cap_outputs;
    const char **plain, **image;            /* by tensor: its value as the graph has it, and channels first; NULL if not made */
    bool *done;                             /* by operation: part of another one */
    const uint64_t *seed;                   /* seeds the weights; NULL if they are left out */
    FILE *data;
    uint64_t n_data_bytes;
    const char *location;                   /* the path of the weights, relative to the model */
};

static const struct tensor *in_tensor(const struct writer *w, uint32_t i) { return &w->g->tensors[w->op->inputs[i]]; }
static const struct tensor *out_tensor(const struct writer *w) { return &w->g->tensors[w->op->outputs[0]]; }

/* ---- messages -------------------------------------------------------------------------------------------------------- */

static void *append(struct writer *w, void *list, size_t *n, size_t *cap, void *one)
{
    void **all = arena_grow(&w->a, list, *n, cap, sizeof *all);
    all[(*n)++] = one;
    return all;
}

static void mark_layer(struct writer *w, Onnx__NodeProto *n)
{
    const struct layer *l = &w->g->layers[w->op->layer_id];
    const char *text = arena_printf(&w->a, "%d %u %u %u %s", (int)l->role, l->block_id, l->part_id, l->n_parts, l->name);
    n->metadata_props = ARENA_ARRAY(&w->a, Onnx__StringStringEntryProto *, 1);
    n->metadata_props[n->n_metadata_props++] = onnx_new_entry(&w->a, ONNX_LAYER_KEY, text);
}

/* Appends a node with one output. Inputs are separated by blanks. */
static Onnx__NodeProto *node(struct writer *w, const char *op, const char *inputs, const char *output)
{
    Onnx__NodeProto *n = onnx_new_node(&w->a, op, arena_printf(&w->a, "%s:%s", output, op));
    n->input = ARENA_ARRAY(&w->a, char *, NODE_INPUTS);
    for (char *at = arena_strdup(&w->a, inputs), *word; (word = strsep(&at, " ")); )
        if (*word)
            n->input[n->n_input++] = word;
    n->output = ARENA_ARRAY(&w->a, char *, MAX_OP_OUTPUTS);
    n->output[n->n_output++] = arena_strdup(&w->a, output);
    if (w->op)
        mark_layer(w, n);
    w->graph.node = append(w, w->graph.node, &w->graph.n_node, &w->cap_nodes, n);
    return n;
}

#define PUT_INTS(w, n, name, ...) onnx_put_ints(&(w)->a, n, name, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

static int onnx_type_of(const struct tensor *t)
{
    return t->type == TYPE_INT32 ? ONNX_INT32 : t->type == TYPE_UINT8 ? ONNX_BOOL : ONNX_FLOAT;
}

static const char *add_constant(struct writer *w, Onnx__TensorProto *t)
{
    w->graph.initializer = append(w, w->graph.initializer, &w->graph.n_initializer, &w->cap_weights, t);
    return t->name;
}

static const char *integers(struct writer *w, const char *name, uint32_t n, const uint64_t *numbers)
{
    return add_constant(w, onnx_new_integers(&w->a, name, n, numbers));
}

static const char *floats(struct writer *w, const char *name, uint64_t n, double x) { return add_constant(w, onnx_new_floats(&w->a, name, 1, n, x)); }
static const char *number(struct writer *w, const char *name, double x) { return add_constant(w, onnx_new_floats(&w->a, name, 0, 1, x)); }

/* ---- weights ------------------------------------------------------------------------------------------------------------ */

static void write_data(struct writer *w, Onnx__TensorProto *to, uint32_t id, enum onnx_layout layout)
{
    uint64_t n_bytes = onnx_write_initial(w->data, w->g, id, layout, *w->seed);
    onnx_put_external(&w->a, to, w->location, w->n_data_bytes, n_bytes);
    w->n_data_bytes += n_bytes;
}

static const char *name_of(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char *layer = w->g->layers[t->layer_id].name;
    return t->role == ROLE_INPUT ? t->name : arena_printf(&w->a, "%s/%s_%u", layer, t->name ? t->name : op_kind_names[w->g->ops[t->producer_op].kind], id);
}

static const char *weight(struct writer *w, uint32_t id, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims)
{
    Onnx__TensorProto *t = onnx_new_tensor(&w->a, arena_printf(&w->a, "%s%s", name_of(w, id), layout == ONNX_AS_IS && n_dims > 1 && w->g->tensors[id].n_dims == 1 ? "_column" : ""),
                                    ONNX_FLOAT, n_dims, dims);
    if (w->seed)
        write_data(w, t, id, layout);
    return add_constant(w, t);
}

/* State is a Constant node, as what is an initialiser is trained. */
static const char *state(struct writer *w, uint32_t id)
{
    const struct tensor *s = &w->g->tensors[id];
    double *from = ARENA_ROOM(&w->a, double, tensor_elements(s));
    onnx_initial(from, w->g, id, w->seed ? *w->seed : 0);
    Onnx__TensorProto *t = onnx_new_raw(&w->a, name_of(w, id), onnx_type_of(s), s->n_dims, s->dims, from);
    onnx_put_attribute(&w->a, node(w, "Constant", "", t->name), "value", ATTRIBUTE_TENSOR)->t = t;
    return t->name;
}

/* ---- values in both layouts ------------------------------------------------------------------------------------------------ */

static const char *plain(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char **name = &w->plain[id];
    if (w->plain[id])
        return w->plain[id];
    if (t->producer_op == NO_ID && t->role == ROLE_WEIGHT)
        return *name = weight(w, id, ONNX_AS_IS, t->n_dims, t->dims);
    if (t->producer_op == NO_ID && t->role == ROLE_STATE)
        return *name = state(w, id);
    *name = arena_printf(&w->a, "%s_channels_last", w->image[id]);
    PUT_INTS(w, node(w, "Transpose", w->image[id], *name), "perm", 0, 2, 3, 1);
    return *name;
}

/* Channels first; a vector becomes [channels, 1, 1]. */
static const char *image(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char **name = &w->image[id];
    if (w->image[id])
        return w->image[id];
    uint64_t channels = t->dims[t->n_dims - 1];
    if (t->role == ROLE_WEIGHT && tensor_elements(t) == channels)
        return *name = weight(w, id, ONNX_AS_IS, 3, (uint64_t[]){ channels, 1, 1 });
    const char *from = plain(w, id);
    *name = arena_printf(&w->a, "%s_channels_first", from);
    PUT_INTS(w, node(w, "Transpose", from, *name), "perm", 0, 3, 1, 2);
    return *name;
}

static const char *out_name(struct writer *w, uint32_t i) { return name_of(w, w->op->outputs[i]); }
static const char *part(struct writer *w, const char *tag) { return arena_printf(&w->a, "%s_%s", out_name(w, 0), tag); }

/* The result and the inputs, in the operation's layout. */
static const char *made(struct writer *w) { return (w->as_image ? w->image : w->plain)[w->op->outputs[0]] = out_name(w, 0); }
static const char *input_name(struct writer *w, uint32_t i) { return (w->as_image ? image : plain)(w, w->op->inputs[i]); }

/* All inputs, separated by blanks. */
static const char *all_inputs(struct writer *w)
{
    const char *names = input_name(w, 0);
    for (uint32_t i = 1; i < w->op->n_inputs; i++)
        names = arena_printf(&w->a, "%s %s", names, input_name(w, i));
    return names;
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

/* A part of the operation: a node of two inputs. */
static const char *piece(struct writer *w, const char *op, const char *tag, const char *x, const char *y)
{
    const char *name = part(w, tag);
    node(w, op, arena_printf(&w->a, "%s %s", x, y), name);
    return name;
}

/* One operator on all inputs, then on numbers of the operation. */
static void write_one(struct writer *w)
{
    const char *inputs = all_inputs(w);
    for (const struct written_number *c = w->how->numbers; c < w->how->numbers + 2 && c->tag; c++)
        inputs = arena_printf(&w->a, "%s %s", inputs, number(w, part(w, c->tag), *(const double *)((const char *)w->op->at + c->offset)));
    node(w, w->how->onnx, inputs, made(w));
}

static void reshape(struct writer *w, const char *from, const char *to, uint32_t n, const uint64_t *dims)
{
    node(w, "Reshape", arena_printf(&w->a, "%s %s", from, integers(w, arena_printf(&w->a, "%s_shape", to), n, dims)), to);
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

/* The addition of a vector that alone reads the result comes with it. */
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
    w->image[next->outputs[0]] = out_name(w, 0);
    return arena_printf(&w->a, "%s %s", inputs, plain(w, next->inputs[1]));
}

static void write_conv(struct writer *w)
{
    const uint64_t *d = in_tensor(w, 1)->dims;
    const char *kernel = weight(w, w->op->inputs[1], ONNX_KERNEL, 4, (uint64_t[]){ d[3], d[2], d[0], d[1] });
    const char *inputs = arena_printf(&w->a, "%s %s", input_name(w, 0), kernel);
    Onnx__NodeProto *n = node(w, w->how->onnx, with_bias(w, inputs), made(w));
    put_window(w, n);
    onnx_put_int(&w->a, n, "group", w->op->at->groups);
    if (w->op->kind == OP_CONV_TRANSPOSE)
        PUT_INTS(w, n, "output_shape", (uint32_t)out_tensor(w)->dims[1], (uint32_t)out_tensor(w)->dims[2]);
}

static void write_pool(struct writer *w)
{
    Onnx__NodeProto *n = node(w, w->how->onnx, input_name(w, 0), made(w));
    put_window(w, n);
    if (w->op->kind == OP_AVERAGE_POOL)
        onnx_put_int(&w->a, n, "count_include_pad", w->op->at->counts_padding);
}

static void put_epsilon(struct writer *w, Onnx__NodeProto *n)
{
    onnx_put_float(&w->a, n, "epsilon", w->op->at->epsilon > 0 ? w->op->at->epsilon : 1e-5);
}

/* Its moving averages are constants, which training replaces. */
static void write_batch_norm(struct writer *w)
{
    uint64_t c = in_tensor(w, 1)->dims[0];
    const char *x = input_name(w, 0), *scale = plain(w, w->op->inputs[1]), *shift = plain(w, w->op->inputs[2]);
    const char *mean = floats(w, part(w, "mean"), c, 0), *variance = floats(w, part(w, "variance"), c, 1);
    put_epsilon(w, node(w, "BatchNormalization", arena_printf(&w->a, "%s %s %s %s %s", x, scale, shift, mean, variance), made(w)));
}

/* An instance norm of reshaped groups, then the scale and the shift of each channel. */
static void write_group_norm(struct writer *w)
{
    const struct tensor *t = in_tensor(w, 0);
    const uint64_t *d = t->dims, groups = w->op->at->norm_groups;
    const char *x = input_name(w, 0), *scale = input_name(w, 1), *shift = input_name(w, 2);
    const char *grouped = part(w, "grouped"), *ones = floats(w, part(w, "ones"), groups, 1), *zeros = floats(w, part(w, "zeros"), groups, 0);
    reshape(w, x, grouped, 3, (uint64_t[]){ d[0], groups, tensor_elements(t) / d[0] / groups });
    const char *normal = part(w, "normal"), *ungrouped = part(w, "ungrouped");
    put_epsilon(w, node(w, "InstanceNormalization", arena_printf(&w->a, "%s %s %s", grouped, ones, zeros), normal));
    reshape(w, normal, ungrouped, 4, (uint64_t[]){ d[0], d[3], d[1], d[2] });
    node(w, "Add", arena_printf(&w->a, "%s %s", piece(w, "Mul", "scaled", ungrouped, scale), shift), made(w));
}

static void write_layer_norm(struct writer *w) { put_epsilon(w, node(w, "LayerNormalization", all_inputs(w), made(w))); }

static void write_softmax(struct writer *w) { onnx_put_int(&w->a, node(w, "Softmax", all_inputs(w), made(w)), "axis", -1); }

static void write_matmul(struct writer *w)
{
    const char *a = input_name(w, 0), *b = input_name(w, 1);
    uint32_t n = in_tensor(w, 1)->n_dims, order[MAX_DIMS] = { 0, 1, 2, 3, 4 };
    order[n - 1] = n - 2;
    order[n - 2] = n - 1;
    if (w->op->at->transpose_b) {
        onnx_put_ints(&w->a, node(w, "Transpose", b, part(w, "turned")), "perm", n, order);
        b = part(w, "turned");
    }
    node(w, "MatMul", arena_printf(&w->a, "%s %s", a, b), made(w));
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static void write_gelu(struct writer *w)
{
    const char *x = input_name(w, 0), *cube = piece(w, "Mul", "cube", piece(w, "Mul", "square", x, x), x);
    const char *sum = piece(w, "Add", "sum", x, piece(w, "Mul", "small", cube, number(w, part(w, "by_cube"), 0.044715)));
    const char *curve = part(w, "curve"), *half = piece(w, "Mul", "half", x, number(w, part(w, "by_half"), 0.5));
    node(w, "Tanh", piece(w, "Mul", "slope", sum, number(w, part(w, "by_slope"), sqrt(2 / M_PI))), curve);
    node(w, "Mul", arena_printf(&w->a, "%s %s", half, piece(w, "Add", "gate", curve, number(w, part(w, "one"), 1))), made(w));
}

/* As PyTorch writes swish. */
static void write_swish(struct writer *w)
{
    const char *x = input_name(w, 0), *gate = part(w, "gate");
    node(w, "Sigmoid", x, gate);
    node(w, "Mul", arena_printf(&w->a, "%s %s", x, gate), made(w));
}

static void write_dropout(struct writer *w)
{
    const char *x = input_name(w, 0), *yes = part(w, "yes");
    Onnx__TensorProto *t = onnx_new_tensor(&w->a, yes, ONNX_BOOL, 0, NULL);
    t->int32_data = ARENA_NEW(&w->a, int32_t);
    t->int32_data[t->n_int32_data++] = 1;
    add_constant(w, t);
    node(w, "Dropout", arena_printf(&w->a, "%s %s %s", x, number(w, part(w, "rate"), w->op->at->rate), yes), made(w));
}

static void write_select(struct writer *w)
{
    const char *x = input_name(w, 0), *condition = input_name(w, 1);
    node(w, "Where", arena_printf(&w->a, "%s %s %s", condition, x, number(w, part(w, "else"), w->op->at->rate)), made(w));
}

static uint32_t onnx_axis_of(uint32_t axis, bool as_image)
{
    static const uint32_t first[] = { 0, 2, 3, 1 };
    return as_image ? first[axis] : axis;
}

static void write_concat(struct writer *w)
{
    Onnx__NodeProto *n = node(w, "Concat", all_inputs(w), made(w));
    onnx_put_int(&w->a, n, "axis", onnx_axis_of(w->op->at->axis, w->as_image));
}

static void write_slice(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const uint64_t from = at->begin, to = at->begin + at->length, axis = onnx_axis_of(at->axis, w->as_image);
    const char *x = input_name(w, 0);
    if (at->pieces == 0) {
        node(w, "Slice", arena_printf(&w->a, "%s %s %s %s", x, integers(w, part(w, "from"), 1, &from), integers(w, part(w, "to"), 1, &to),
                                      integers(w, part(w, "axis"), 1, &axis)), made(w));
        return;
    }
    Onnx__NodeProto *n = node(w, "Split", x, made(w));
    for (uint32_t i = 1; i < at->pieces; i++) {
        (w->as_image ? w->image : w->plain)[w->op->outputs[i]] = out_name(w, i);
        n->output[n->n_output++] = arena_strdup(&w->a, out_name(w, i));
    }
    onnx_put_int(&w->a, n, "axis", (int64_t)axis);
}

static void write_pad(struct writer *w)
{
    const struct op_attributes *at = w->op->at;
    const struct tensor *x = in_tensor(w, 0);
    uint64_t pads[2 * MAX_DIMS] = { 0 };
    uint32_t axis = onnx_axis_of(at->axis, w->as_image);
    pads[axis] = at->begin;
    pads[x->n_dims + axis] = at->length - at->begin - x->dims[at->axis];
    const char *from = input_name(w, 0);
    node(w, "Pad", arena_printf(&w->a, "%s %s %s", from, integers(w, part(w, "pads"), 2 * x->n_dims, pads), number(w, part(w, "border"), at->rate)),
         made(w));
}

/* Input seen in a shape, dimensions in another order, and the result's own shape; steps that change nothing are left out. */
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
    const char *from = plain(w, w->op->inputs[0]);
    bool seen = n != x->n_dims || memcmp(at->view, x->dims, n * sizeof *dims) != 0, joined = n != y->n_dims || memcmp(dims, y->dims, n * sizeof *dims) != 0;
    if (seen && moved) {
        reshape(w, from, part(w, "seen"), n, at->view);
        from = part(w, "seen");
    }
    if (moved) {
        const char *to = joined ? part(w, "moved") : made(w);
        onnx_put_ints(&w->a, node(w, "Transpose", from, to), "perm", n, at->order);
        from = to;
    }
    if (joined || !moved)
        reshape(w, from, made(w), y->n_dims, y->dims);
}

static void write_view(struct writer *w) { reshape(w, input_name(w, 0), made(w), out_tensor(w)->n_dims, out_tensor(w)->dims); }

static void write_expand(struct writer *w)
{
    const struct tensor *y = out_tensor(w);
    const char *x = input_name(w, 0);
    node(w, "Expand", arena_printf(&w->a, "%s %s", x, integers(w, part(w, "shape"), y->n_dims, y->dims)), made(w));
}

/* A table for each sample is read by GatherND with one batch dimension. */
static void write_gather(struct writer *w)
{
    const char *table = input_name(w, 0), *at = input_name(w, 1);
    if (in_tensor(w, 0)->n_dims == 2) {
        onnx_put_int(&w->a, node(w, "Gather", arena_printf(&w->a, "%s %s", table, at), made(w)), "axis", 0);
        return;
    }
    const uint64_t *d = in_tensor(w, 1)->dims;
    onnx_put_int(&w->a, node(w, "Cast", at, part(w, "wide")), "to", ONNX_INT64);
    reshape(w, part(w, "wide"), part(w, "rows"), 3, (uint64_t[]){ d[0], d[1], 1 });
    onnx_put_int(&w->a, node(w, "GatherND", arena_printf(&w->a, "%s %s", table, part(w, "rows")), made(w)), "batch_dims", 1);
}

/* [batch, t, 1, h] + [batch, 1, u, h] */
static void write_outer_add(struct writer *w)
{
    const uint64_t *a = in_tensor(w, 0)->dims, *b = in_tensor(w, 1)->dims;
    reshape(w, input_name(w, 0), part(w, "rows"), 4, (uint64_t[]){ a[0], a[1], 1, a[2] });
    reshape(w, input_name(w, 1), part(w, "columns"), 4, (uint64_t[]){ b[0], 1, b[1], b[2] });
    node(w, "Add", arena_printf(&w->a, "%s %s", part(w, "rows"), part(w, "columns")), made(w));
}

/* ONNX has time first, and a dimension for directions. */
static void write_lstm(struct writer *w)
{
    const struct tensor *first_kernel = in_tensor(w, 1), *again = in_tensor(w, 2), *bias = in_tensor(w, 3);
    const char *x = input_name(w, 0), *first = part(w, "time_first"), *all = part(w, "directions"), *one = part(w, "steps");
    const char *weights[3] = { weight(w, w->op->inputs[1], ONNX_GATES, 3, (uint64_t[]){ 1, first_kernel->dims[1], first_kernel->dims[0] }),
                               weight(w, w->op->inputs[2], ONNX_GATES, 3, (uint64_t[]){ 1, again->dims[1], again->dims[0] }),
                               weight(w, w->op->inputs[3], ONNX_GATES, 2, (uint64_t[]){ 1, bias->dims[0] }) };
    PUT_INTS(w, node(w, "Transpose", x, first), "perm", 1, 0, 2);
    const char *inputs = arena_printf(&w->a, "%s %s %s %s", first, weights[0], weights[1], weights[2]);
    onnx_put_int(&w->a, node(w, "LSTM", inputs, all), "hidden_size", w->op->at->hidden);
    const uint64_t axis = 1;
    node(w, "Squeeze", arena_printf(&w->a, "%s %s", all, integers(w, part(w, "axis"), 1, &axis)), one);
    PUT_INTS(w, node(w, "Transpose", one, made(w)), "perm", 1, 0, 2);
}

static void write_cast(struct writer *w)
{
    onnx_put_int(&w->a, node(w, "Cast", input_name(w, 0), made(w)), "to", w->op->at->to_type == TYPE_INT32 ? ONNX_INT32 : ONNX_FLOAT);
}

/* The reader puts the preparation of bytes before pictures, as the recipe has them. */
static void write_prepare(struct writer *w)
{
    w->image[w->op->outputs[0]] = image(w, w->op->inputs[0]);
}

static void write_nothing(struct writer *w) { (void)w; }

static const struct writing writings[N_OP_KINDS] = {
    [OP_CONV] = { .write = write_conv, .layout = WRITTEN_IMAGE, .onnx = "Conv" },
    [OP_CONV_TRANSPOSE] = { .write = write_conv, .layout = WRITTEN_IMAGE, .onnx = "ConvTranspose" },
    [OP_MAX_POOL] = { .write = write_pool, .layout = WRITTEN_IMAGE, .onnx = "MaxPool" },
    [OP_AVERAGE_POOL] = { .write = write_pool, .layout = WRITTEN_IMAGE, .onnx = "AveragePool" }, [OP_MATMUL] = { .write = write_matmul },
    [OP_ADD] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Add" },
    [OP_BIAS_ADD] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Add" },
    [OP_MUL] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Mul" },
    [OP_SCALE] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Mul", .numbers = { NUMBER_OF("factor", rate) } },
    [OP_RELU] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Relu" },
    [OP_GELU] = { .write = write_gelu, .layout = WRITTEN_AS_FIRST },
    [OP_TANH] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Tanh" },
    [OP_SIGMOID] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Sigmoid" },
    [OP_SWISH] = { .write = write_swish, .layout = WRITTEN_AS_FIRST }, [OP_SOFTMAX] = { .write = write_softmax },
    [OP_BATCH_NORM] = { .write = write_batch_norm, .layout = WRITTEN_BY_RANK },
    [OP_GROUP_NORM] = { .write = write_group_norm, .layout = WRITTEN_IMAGE }, [OP_LAYER_NORM] = { .write = write_layer_norm },
    [OP_DROPOUT] = { .write = write_dropout, .layout = WRITTEN_AS_FIRST },
    [OP_MAP] = { .write = write_one, .layout = WRITTEN_AS_FIRST, .onnx = "Clip", .numbers = { NUMBER_OF("low", low), NUMBER_OF("high", high) } },
    [OP_SELECT] = { .write = write_select }, [OP_CONCAT] = { .write = write_concat, .layout = WRITTEN_AS_FIRST },
    [OP_SLICE] = { .write = write_slice, .layout = WRITTEN_AS_FIRST }, [OP_PAD] = { .write = write_pad, .layout = WRITTEN_AS_FIRST },
    [OP_TRANSPOSE] = { .write = write_transpose }, [OP_VIEW] = { .write = write_view }, [OP_EXPAND] = { .write = write_expand },
    [OP_GATHER] = { .write = write_gather }, [OP_OUTER_ADD] = { .write = write_outer_add }, [OP_LSTM] = { .write = write_lstm },
    [OP_CAST] = { .write = write_cast, .layout = WRITTEN_AS_FIRST },
    [OP_INPUT_PREPARE] = { .write = write_prepare, .layout = WRITTEN_IMAGE }, [OP_CROSS_ENTROPY] = { .write = write_nothing },
};

static bool is_written_as_image(const struct writer *w)
{
    uint32_t x = w->op->inputs[0];
    bool is_image = w->g->tensors[x].n_dims == 4;
    return w->how->layout == WRITTEN_IMAGE || (w->how->layout == WRITTEN_BY_RANK && is_image) ||
           (w->how->layout == WRITTEN_AS_FIRST && is_image && w->image[x] && !w->plain[x]);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

static bool is_loss(enum op_kind kind) { return kind == OP_CROSS_ENTROPY || kind == OP_TRANSDUCER_LOSS; }

/* Pictures come channels first, as floats; labels belong to the losses. */
static Onnx__ValueInfoProto *info(struct writer *w, const char *name, int type, const struct tensor *t, bool as_image)
{
    const uint64_t turned[] = { t->dims[0], t->dims[t->n_dims - 1], t->dims[1], t->dims[2] };
    return onnx_new_info(&w->a, name, type, t->n_dims, as_image ? turned : t->dims, NULL);
}

static void write_input(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    uint32_t input;
    const struct op *by = onnx_first_reader(&input, w->g, id);
    if (t->role != ROLE_INPUT || (by && is_loss(by->kind)))
        return;
    bool picture = t->n_dims == 4 && by && (by->kind == OP_INPUT_PREPARE || by->kind == OP_CONV);
    int type = t->type == TYPE_INT32 ? ONNX_INT32 : ONNX_FLOAT;
    (picture ? w->image : w->plain)[id] = t->name;
    w->graph.input = append(w, w->graph.input, &w->graph.n_input, &w->cap_inputs, info(w, t->name, type, t, picture));
}

/* Outputs are what losses read, or results that nothing reads; casts that nothing reads are left out. */
static void write_outputs(struct writer *w)
{
    uint32_t input;
    for (uint32_t id = 0; id < w->g->n_tensors; id++) {
        const struct tensor *t = &w->g->tensors[id];
        const struct op *by = onnx_first_reader(&input, w->g, id), *from = t->producer_op == NO_ID ? NULL : &w->g->ops[t->producer_op];
        if (!from || from->pass != PASS_FORWARD || is_loss(from->kind) || from->kind == OP_CAST || (by && !(is_loss(by->kind) && input == 0)))
            continue;
        const char *name = w->plain[id] ? w->plain[id] : w->image[id];
        w->graph.output = append(w, w->graph.output, &w->graph.n_output, &w->cap_outputs, info(w, name, onnx_type_of(t), t, !w->plain[id]));
    }
}

static bool check_operations(const struct graph *g, struct err *err)
{
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++)
        if (!writings[op->kind].write || (op->kind == OP_MAP && op->at->function != FUNCTION_CLIP))
            return fail(err, "%s: no ONNX operator is known for %s%s", g->name, op->kind == OP_MAP ? op_function_name(op->at->function) : op_kind_names[op->kind],
                        op->kind == OP_TRANSDUCER_LOSS ? "; write the model's inference: --set recipe.mode=infer" : "");
    return true;
}

static bool pack(struct writer *w, FILE *f)
{
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = { &opset };
    opset.domain = arena_strdup(&w->a, "");
    opset.has_version = model.has_ir_version = true;
    opset.version = WRITTEN_OPSET;
    model.ir_version = WRITTEN_IR;
    model.producer_name = arena_strdup(&w->a, "podbench");
    Onnx__StringStringEntryProto *props[] = { onnx_new_entry(&w->a, ONNX_LOSS_KEY, op_kind_names[OP_CROSS_ENTROPY]) };
    for (size_t i = 0; i < w->g->n_forward_ops; i++)
        if (is_loss(w->g->ops[i].kind))
            model.n_metadata_props = 1;
    model.metadata_props = props;
    model.opset_import = opsets;
    model.n_opset_import = 1;
    model.graph = &w->graph;
    w->graph.name = arena_strdup(&w->a, w->g->name);
    size_t n = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = arena_alloc(&w->a, n);
    onnx__model_proto__pack(&model, bytes);
    errno = 0;
    return fwrite(bytes, 1, n, f) == n && fflush(f) == 0;
}

static void write_graph(struct writer *w)
{
    w->plain = ARENA_ARRAY(&w->a, const char *, w->g->n_tensors);
    w->image = ARENA_ARRAY(&w->a, const char *, w->g->n_tensors);
    w->done = ARENA_ARRAY(&w->a, bool, w->g->n_ops);
    for (uint32_t i = 0; i < w->g->n_tensors; i++)
        write_input(w, i);
    for (size_t i = 0; i < w->g->n_forward_ops; i++) {
        w->op = &w->g->ops[i];
        w->how = &writings[w->op->kind];
        w->as_image = is_written_as_image(w);
        if (!w->done[i])
            w->how->write(w);
    }
    w->op = NULL;
    write_outputs(w);
}

static bool write_both(struct writer *w, struct new_file *model, struct new_file *data, const char *path, struct err *err)
{
    w->data = data->f;
    write_graph(w);
    return (pack(w, model->f) || fail(err, "%s: cannot be written completely: %s", path, write_cause())) &&
           (!w->seed || new_file_save(data, err)) && new_file_save(model, err);
}

bool onnx_write(const char *path, const struct graph *g, const uint64_t *seed, struct err *err)
{
    struct writer w = { .g = g, .seed = seed, .graph = ONNX__GRAPH_PROTO__INIT };
    struct new_file model = { 0 }, data = { 0 };
    const char *data_path = arena_printf(&w.a, "%s.data", path);
    w.location = path_name(data_path);
    bool good = check_operations(g, err) && new_file_open(&model, path, err) && (!seed || new_file_open(&data, data_path, err)) &&
                write_both(&w, &model, &data, path, err);
    new_file_drop(&model);                  /* nothing is left of a file that was saved */
    new_file_drop(&data);
    arena_free(&w.a);
    return good;
}
