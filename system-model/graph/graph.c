/*
 * graph.c - operations on tensors: their shapes, their work, and the text of a graph.
 *
 * One row of op_rules says what a kind of operation does to shapes and how much arithmetic it takes:
 *     convolution   output elements x kernel_h x kernel_w x input channels / groups   multiply-accumulates
 *     matmul        groups x rows x inner x columns
 *     LSTM          batch x steps x 4 hidden x (input + hidden)
 * and the same number again for the gradient of the data and for that of the weights. Vector operations count
 * arithmetic operations an element; exp, tanh and log count as one. These counts serve MFU and the printed tables;
 * time is the compiler's affair.
 */
#include "system-model/graph/graph.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

const char *const op_kind_names[N_OP_KINDS] = {
    [OP_CONV] = "conv", [OP_MATMUL] = "matmul", [OP_ADD] = "add", [OP_MUL] = "mul", [OP_SCALE] = "scale",
    [OP_BIAS_ADD] = "bias-add", [OP_RELU] = "relu", [OP_GELU] = "gelu", [OP_TANH] = "tanh",
    [OP_SIGMOID] = "sigmoid", [OP_SWISH] = "swish", [OP_SOFTMAX] = "softmax", [OP_BATCH_NORM] = "batch-norm",
    [OP_GROUP_NORM] = "group-norm", [OP_LAYER_NORM] = "layer-norm", [OP_DROPOUT] = "dropout",
    [OP_MAX_POOL] = "max-pool", [OP_AVERAGE_POOL] = "average-pool", [OP_GATHER] = "gather",
    [OP_TRANSPOSE] = "transpose", [OP_CONCAT] = "concat", [OP_SLICE] = "slice", [OP_PAD] = "pad",
    [OP_LSTM] = "lstm", [OP_OUTER_ADD] = "outer-add", [OP_CROSS_ENTROPY] = "cross-entropy",
    [OP_TRANSDUCER_LOSS] = "transducer-loss", [OP_CAST] = "cast", [OP_INPUT_PREPARE] = "input-prepare",
};
const char *const op_pass_names[N_OP_PASSES] = { "forward", "backward-data", "backward-weight" };

/* ---- tensors -------------------------------------------------------------------------- */

uint64_t data_type_bytes(enum data_type t)
{
    static const uint64_t bytes[N_DATA_TYPES] = {
        [TYPE_FP16] = 2, [TYPE_FP32] = 4, [TYPE_FP8] = 1, [TYPE_INT32] = 4, [TYPE_UINT8] = 1,
    };
    return bytes[t];
}

uint64_t tensor_elements(const struct tensor *t)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n;
}

uint64_t tensor_bytes(const struct tensor *t)
{
    return tensor_elements(t) * data_type_bytes(t->type);
}

bool tensor_is_same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0;
}

static uint64_t product(const uint64_t *dims, uint32_t n)
{
    uint64_t p = 1;
    for (uint32_t i = 0; i < n; i++)
        p *= dims[i];
    return p;
}

static const struct tensor *input(const struct graph *g, const struct op *op, uint32_t i)
{
    assert(i < op->n_inputs);
    return &g->tensors[op->inputs[i]];
}

/* ---- shapes: each writes the output's dimensions, and its type where it is not that of input 0 ---- */

static void shape_same(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = input(g, op, 0);
    out->n_dims = x->n_dims;
    memcpy(out->dims, x->dims, sizeof out->dims);
}

/* The second operand may have ones where the first has more: it is repeated there. */
static void shape_pair(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = input(g, op, 0), *b = input(g, op, 1);
    assert(a->n_dims == b->n_dims);
    for (uint32_t i = 0; i < a->n_dims; i++)
        assert(b->dims[i] == a->dims[i] || b->dims[i] == 1);
    shape_same(g, op, out);
}

static void shape_last_vector(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    for (uint32_t i = 1; i < op->n_inputs; i++)
        assert(input(g, op, i)->n_dims == 1 && input(g, op, i)->dims[0] == out->dims[out->n_dims - 1]);
}

static uint64_t window_count(uint64_t size, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    uint64_t padded = size + (kernel > 1 ? 2ull * pad : 0);
    assert(kernel > 0 && stride > 0 && padded >= kernel);
    return (padded - kernel) / stride + 1;
}

static void shape_window(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = input(g, op, 0);
    assert(x->n_dims == 4);
    out->n_dims = 4;
    out->dims[0] = x->dims[0];
    out->dims[1] = window_count(x->dims[1], op->at.kernel_h, op->at.stride, op->at.pad);
    out->dims[2] = window_count(x->dims[2], op->at.kernel_w, op->at.stride, op->at.pad);
    out->dims[3] = x->dims[3];
}

/* Quarters are only multiplied: products of theirs are halves. */
static enum data_type product_type(const struct tensor *factor)
{
    return factor->type == TYPE_FP8 ? TYPE_FP16 : factor->type;
}

/* Weights are [kernel_h, kernel_w, input channels / groups, output channels]. */
static void shape_conv(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = input(g, op, 0), *w = input(g, op, 1);
    if (op->at.groups == 0)
        op->at.groups = 1;
    assert(w->n_dims == 4 && w->dims[0] == op->at.kernel_h && w->dims[1] == op->at.kernel_w);
    assert(w->dims[2] * op->at.groups == x->dims[3] && w->dims[3] % op->at.groups == 0);
    shape_window(g, op, out);
    out->dims[3] = w->dims[3];
    out->type = product_type(x);
}

/* A second operand of two dimensions serves all rows; one of more has a matrix for each leading index. */
static void shape_matmul(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = input(g, op, 0), *b = input(g, op, 1);
    uint32_t n = b->n_dims;
    uint64_t inner = b->dims[op->at.transpose_b ? n - 1 : n - 2];
    assert(a->n_dims >= 2 && n >= 2 && a->dims[a->n_dims - 1] == inner);
    if (n > 2)
        assert(n == a->n_dims && memcmp(a->dims, b->dims, (n - 2) * sizeof *a->dims) == 0);
    shape_same(g, op, out);
    out->dims[out->n_dims - 1] = b->dims[op->at.transpose_b ? n - 2 : n - 1];
    out->type = product_type(a);
}

/* A table [rows, width] with indices of any shape, or a table a sample [batch, rows, width] with [batch, n]. */
static void shape_gather(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *table = input(g, op, 0), *at = input(g, op, 1);
    assert(table->n_dims == 2 || (table->n_dims == 3 && at->n_dims == 2 && at->dims[0] == table->dims[0]));
    assert(at->n_dims < MAX_DIMS);
    out->n_dims = at->n_dims + 1;
    memcpy(out->dims, at->dims, sizeof out->dims);
    out->dims[at->n_dims] = table->dims[table->n_dims - 1];
}

static void shape_transpose(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = input(g, op, 0);
    if (op->at.view[0] == 0)
        memcpy(op->at.view, x->dims, x->n_dims * sizeof *x->dims);
    uint32_t n = 0;
    while (n < MAX_DIMS && op->at.view[n] != 0)
        n++;
    assert(product(op->at.view, n) == tensor_elements(x));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        seen |= 1u << op->at.order[i];
        out->dims[i] = op->at.view[op->at.order[i]];
    }
    assert(seen == (1u << n) - 1);      /* order names each dimension once */
    out->n_dims = n;
    if (op->at.merge > 1) {
        assert(op->at.merge <= n);
        uint32_t first = n - op->at.merge;
        out->dims[first] = product(out->dims + first, op->at.merge);
        out->n_dims = first + 1;
    }
}

static void shape_concat(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at.axis < out->n_dims);
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const struct tensor *x = input(g, op, i);
        for (uint32_t d = 0; d < out->n_dims; d++)
            assert(d == op->at.axis || x->dims[d] == out->dims[d]);
        out->dims[op->at.axis] += x->dims[op->at.axis];
    }
}

static void shape_slice(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    uint64_t *size = &out->dims[op->at.axis];
    assert(op->at.axis < out->n_dims);
    if (op->at.pieces > 0) {
        assert(op->at.pieces <= MAX_OP_OUTPUTS && *size % op->at.pieces == 0);
        op->n_outputs = op->at.pieces;
        *size /= op->at.pieces;
    } else {
        assert(op->at.length > 0 && op->at.begin + op->at.length <= *size);
        *size = op->at.length;
    }
}

static void shape_pad(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    assert(op->at.axis < out->n_dims && op->at.begin + out->dims[op->at.axis] <= op->at.length);
    out->dims[op->at.axis] = op->at.length;
}

/* Inputs: x [batch, steps, width], its weights [width, 4 hidden], recurrent ones [hidden, 4 hidden], biases. */
static void shape_lstm(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *x = input(g, op, 0), *w = input(g, op, 1), *r = input(g, op, 2);
    uint64_t hidden = op->at.hidden;
    assert(x->n_dims == 3 && w->dims[0] == x->dims[2] && w->dims[1] == 4 * hidden);
    assert(r->dims[0] == hidden && r->dims[1] == 4 * hidden);
    shape_same(g, op, out);
    out->dims[2] = hidden;
}

static void shape_outer_add(const struct graph *g, struct op *op, struct tensor *out)
{
    const struct tensor *a = input(g, op, 0), *b = input(g, op, 1);
    assert(a->n_dims == 3 && b->n_dims == 3 && a->dims[0] == b->dims[0] && a->dims[2] == b->dims[2]);
    const uint64_t dims[] = { a->dims[0], a->dims[1], b->dims[1], a->dims[2] };
    out->n_dims = 4;
    memcpy(out->dims, dims, sizeof dims);
}

static void shape_loss(const struct graph *g, struct op *op, struct tensor *out)
{
    assert(op->n_inputs == 2 && input(g, op, 0)->n_dims >= 2);
    out->n_dims = 1;
    out->dims[0] = 1;
    out->type = TYPE_FP32;
}

static void shape_cast(const struct graph *g, struct op *op, struct tensor *out)
{
    shape_same(g, op, out);
    out->type = op->at.to_type;
}

/* ---- work ------------------------------------------------------------------------------ */

struct matmul_shape op_matmul_shape(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *a = input(g, f, 0), *b = input(g, f, 1);
    const struct tensor *c = &g->tensors[f->outputs[0]];
    struct matmul_shape s = { .inner = a->dims[a->n_dims - 1], .columns = c->dims[c->n_dims - 1] };
    s.groups = product(b->dims, b->n_dims - 2);
    s.rows = tensor_elements(a) / s.inner / s.groups;
    return s;
}

static uint64_t matmul_mac(const struct graph *g, const struct op *op)
{
    struct matmul_shape s = op_matmul_shape(g, op);
    return s.groups * s.rows * s.inner * s.columns;
}

static uint64_t conv_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *w = input(g, f, 1);
    return tensor_elements(&g->tensors[f->outputs[0]]) * w->dims[0] * w->dims[1] * w->dims[2];
}

/* The data pass of a first layer, whose input wants no gradient, makes that of the gates alone. */
static uint64_t lstm_mac(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    const struct tensor *x = input(g, f, 0);
    bool gates_only = op->pass == PASS_BACKWARD_DATA && op->n_outputs == 1;
    return x->dims[0] * x->dims[1] * 4 * f->at.hidden * ((gates_only ? 0 : x->dims[2]) + f->at.hidden);
}

/* What the counts below are per: an element of the output, of the first input, or of the kernel's window. */
enum per { PER_OUTPUT, PER_INPUT, PER_WINDOW };

static const struct op_rule {
    void (*shape)(const struct graph *g, struct op *op, struct tensor *out);
    uint64_t (*mac)(const struct graph *g, const struct op *op);
    enum per per;
    uint32_t flop[N_OP_PASSES];         /* besides the multiply-accumulates */
} op_rules[] = {
    [OP_CONV]            = { shape_conv,        conv_mac,   PER_OUTPUT, { 0, 0, 0 } },
    [OP_MATMUL]          = { shape_matmul,      matmul_mac, PER_OUTPUT, { 0, 0, 0 } },
    [OP_ADD]             = { shape_pair,        NULL,       PER_OUTPUT, { 1, 1, 0 } },
    [OP_MUL]             = { shape_pair,        NULL,       PER_OUTPUT, { 1, 2, 0 } },
    [OP_SCALE]           = { shape_same,        NULL,       PER_OUTPUT, { 1, 1, 0 } },
    [OP_BIAS_ADD]        = { shape_last_vector, NULL,       PER_OUTPUT, { 1, 0, 1 } },
    [OP_RELU]            = { shape_same,        NULL,       PER_OUTPUT, { 1, 1, 0 } },
    [OP_GELU]            = { shape_same,        NULL,       PER_OUTPUT, { 9, 14, 0 } },     /* the tanh form */
    [OP_TANH]            = { shape_same,        NULL,       PER_OUTPUT, { 1, 3, 0 } },
    [OP_SIGMOID]         = { shape_same,        NULL,       PER_OUTPUT, { 3, 3, 0 } },
    [OP_SWISH]           = { shape_same,        NULL,       PER_OUTPUT, { 4, 6, 0 } },
    [OP_SOFTMAX]         = { shape_same,        NULL,       PER_OUTPUT, { 5, 4, 0 } },      /* max, sub, exp, sum, mul */
    [OP_BATCH_NORM]      = { shape_last_vector, NULL,       PER_OUTPUT, { 7, 5, 3 } },      /* 3 statistics, 4 to apply */
    [OP_GROUP_NORM]      = { shape_last_vector, NULL,       PER_OUTPUT, { 7, 5, 3 } },
    [OP_LAYER_NORM]      = { shape_last_vector, NULL,       PER_OUTPUT, { 7, 5, 3 } },
    [OP_DROPOUT]         = { shape_same,        NULL,       PER_OUTPUT, { 1, 1, 0 } },
    [OP_MAX_POOL]        = { shape_window,      NULL,       PER_WINDOW, { 1, 1, 0 } },
    [OP_AVERAGE_POOL]    = { shape_window,      NULL,       PER_WINDOW, { 1, 1, 0 } },
    [OP_GATHER]          = { shape_gather,      NULL,       PER_OUTPUT, { 0, 1, 1 } },      /* backward adds rows up */
    [OP_TRANSPOSE]       = { shape_transpose,   NULL,       PER_OUTPUT, { 0, 0, 0 } },
    [OP_CONCAT]          = { shape_concat,      NULL,       PER_OUTPUT, { 0, 0, 0 } },
    [OP_SLICE]           = { shape_slice,       NULL,       PER_OUTPUT, { 0, 0, 0 } },
    [OP_PAD]             = { shape_pad,         NULL,       PER_OUTPUT, { 0, 0, 0 } },
    [OP_LSTM]            = { shape_lstm,        lstm_mac,   PER_OUTPUT, { 23, 30, 4 } },    /* gates, cell, biases */
    [OP_OUTER_ADD]       = { shape_outer_add,   NULL,       PER_OUTPUT, { 1, 2, 0 } },      /* backward sums twice */
    [OP_CROSS_ENTROPY]   = { shape_loss,        NULL,       PER_INPUT,  { 5, 2, 0 } },
    [OP_TRANSDUCER_LOSS] = { shape_loss,        NULL,       PER_INPUT,  { 5, 3, 0 } },
    [OP_CAST]            = { shape_cast,        NULL,       PER_OUTPUT, { 0, 0, 0 } },
    [OP_INPUT_PREPARE]   = { shape_cast,        NULL,       PER_OUTPUT, { 2, 0, 0 } },      /* less mean, times scale */
};
_Static_assert(sizeof op_rules / sizeof *op_rules == N_OP_KINDS, "one rule per op kind");

const struct op *op_forward(const struct graph *g, const struct op *op)
{
    return op->forward_op == NO_ID ? op : &g->ops[op->forward_op];
}

uint64_t op_mac(const struct graph *g, const struct op *op)
{
    const struct op_rule *rule = &op_rules[op->kind];
    return rule->mac ? rule->mac(g, op) : 0;
}

uint64_t op_flop(const struct graph *g, const struct op *op)
{
    const struct op_rule *rule = &op_rules[op->kind];
    const struct op *f = op_forward(g, op);
    uint64_t elements = 0;
    for (uint32_t i = 0; i < f->n_outputs; i++)
        elements += tensor_elements(&g->tensors[f->outputs[i]]);
    if (rule->per == PER_INPUT)
        elements = tensor_elements(input(g, f, 0));
    else if (rule->per == PER_WINDOW)
        elements *= (uint64_t)f->at.kernel_h * f->at.kernel_w;
    return 2 * op_mac(g, op) + rule->flop[op->pass] * elements;
}

/* By tensor: a backward pass reads it; the last layer that reads it forward (0: none, or the first). */
static void graph_uses(bool *kept, uint32_t *last_reader, const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (op->pass != PASS_FORWARD)
                kept[op->inputs[k]] = true;
            else if (last_reader[op->inputs[k]] < op->layer_id)
                last_reader[op->inputs[k]] = op->layer_id;
    }
}

void graph_activations(uint64_t *kept_bytes, uint64_t *output_bytes, const struct graph *g)
{
    struct arena scratch = {0};
    bool *kept = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    uint32_t *last_reader = ARENA_ARRAY(&scratch, uint32_t, g->n_tensors);
    graph_uses(kept, last_reader, g);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        if (t->role != ROLE_ACTIVATION)
            continue;
        if (kept[i])
            kept_bytes[t->layer_id] += tensor_bytes(t);
        for (uint32_t l = t->layer_id; l < last_reader[i]; l++)
            output_bytes[l] += tensor_bytes(t);
    }
    arena_free(&scratch);
}

uint64_t graph_parameters(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT)
            n += tensor_elements(&g->tensors[i]);
    return n;
}

uint64_t op_repeats(const struct graph *g, const struct op *op)
{
    uint32_t n = g->layers[op->layer_id].repeats;
    return n ? n : 1;
}

uint64_t graph_forward_mac(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        n += op_mac(g, &g->ops[i]) * op_repeats(g, &g->ops[i]);
    return n;
}

/* ---- building --------------------------------------------------------------------------- */

void graph_start(struct graph *g, const char *name, uint64_t micro_batch, struct arena *a)
{
    assert(micro_batch > 0);
    *g = (struct graph){ .name = name, .micro_batch = micro_batch, .arena = a };
}

uint32_t graph_layer(struct graph *g, struct layer layer)
{
    assert(layer.name && layer.part_id < (layer.n_parts ? layer.n_parts : 1));
    if (layer.n_parts == 0)
        layer.n_parts = 1;
    g->layers = arena_grow(g->arena, g->layers, g->n_layers, &g->cap_layers, sizeof *g->layers);
    g->layers[g->n_layers] = layer;
    return (uint32_t)g->n_layers++;
}

static uint32_t append_tensor(struct graph *g, struct tensor t)
{
    assert(g->n_layers > 0 && t.n_dims > 0 && t.n_dims <= MAX_DIMS);
    g->tensors = arena_grow(g->arena, g->tensors, g->n_tensors, &g->cap_tensors, sizeof *g->tensors);
    g->tensors[g->n_tensors] = t;
    return (uint32_t)g->n_tensors++;
}

uint32_t graph_tensor(struct graph *g, const char *name, enum tensor_role role, enum data_type type,
                      uint32_t n_dims, const uint64_t *dims)
{
    struct tensor t = { .name = name, .type = type, .role = role, .n_dims = n_dims,
                        .layer_id = (uint32_t)g->n_layers - 1, .producer_op = NO_ID, .of_tensor = NO_ID };
    for (uint32_t i = 0; i < n_dims; i++) {
        assert(dims[i] > 0);
        t.dims[i] = dims[i];
    }
    return append_tensor(g, t);
}

uint32_t graph_append(struct graph *g, struct op op)
{
    assert(op.n_inputs <= MAX_OP_INPUTS && op.n_outputs > 0 && op.n_outputs <= MAX_OP_OUTPUTS);
    g->ops = arena_grow(g->arena, g->ops, g->n_ops, &g->cap_ops, sizeof *g->ops);
    g->ops[g->n_ops] = op;
    return (uint32_t)g->n_ops++;
}

uint32_t graph_op(struct graph *g, enum op_kind kind, const uint32_t *inputs, uint32_t n_inputs,
                  struct op_attributes at)
{
    assert(g->n_layers > 0 && n_inputs > 0 && n_inputs <= MAX_OP_INPUTS && g->n_ops == g->n_forward_ops);
    struct op op = { .kind = kind, .pass = PASS_FORWARD, .layer_id = (uint32_t)g->n_layers - 1,
                     .forward_op = NO_ID, .n_inputs = n_inputs, .n_outputs = 1, .at = at };
    for (uint32_t i = 0; i < n_inputs; i++) {
        assert(inputs[i] < g->n_tensors);
        op.inputs[i] = inputs[i];
    }
    struct tensor out = { .name = op_kind_names[kind], .type = input(g, &op, 0)->type, .role = ROLE_ACTIVATION,
                          .layer_id = op.layer_id, .producer_op = (uint32_t)g->n_ops, .of_tensor = NO_ID };
    op_rules[kind].shape(g, &op, &out);
    for (uint32_t i = 0; i < op.n_outputs; i++)
        op.outputs[i] = append_tensor(g, out);
    graph_append(g, op);
    g->n_forward_ops = g->n_ops;
    return op.outputs[0];
}

/* ---- text ------------------------------------------------------------------------------- */

static void print_shape(FILE *f, const struct tensor *t)
{
    static const char *const types[N_DATA_TYPES] = { "fp16", "fp32", "fp8", "int32", "uint8" };
    fprintf(f, "%s[", types[t->type]);
    for (uint32_t i = 0; i < t->n_dims; i++)
        fprintf(f, "%s%" PRIu64, i ? "x" : "", t->dims[i]);
    fputc(']', f);
}

static void print_layer(FILE *f, const struct graph *g, uint32_t id)
{
    static const char *const roles[] = { "first", "body", "last" };
    uint64_t parameters = 0, mac = 0, n_ops = 0;
    const struct tensor *out = NULL;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].layer_id == id && g->tensors[i].role == ROLE_WEIGHT)
            parameters += tensor_elements(&g->tensors[i]);
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (g->ops[i].layer_id == id) {
            mac += op_mac(g, &g->ops[i]) * op_repeats(g, &g->ops[i]);
            n_ops++;
            out = &g->tensors[g->ops[i].outputs[0]];
        }
    fprintf(f, "%-24s %-5s %4" PRIu64 " ops %12" PRIu64 " parameters %15" PRIu64 " MAC  ", g->layers[id].name,
            roles[g->layers[id].role], n_ops, parameters, mac);
    if (out)
        print_shape(f, out);
    fputc('\n', f);
}

void graph_print(FILE *f, const struct graph *g)
{
    fprintf(f, "%s, micro-batch %" PRIu64 ": %zu layers, %zu operations (%zu forward), %" PRIu64 " parameters, "
            "%" PRIu64 " MAC forward\n", g->name, g->micro_batch, g->n_layers, g->n_ops, g->n_forward_ops,
            graph_parameters(g), graph_forward_mac(g));
    for (uint32_t i = 0; i < g->n_layers; i++)
        print_layer(f, g, i);
}

static void print_tensors(FILE *f, const struct graph *g, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fprintf(f, " %%%" PRIu32 " ", ids[i]);
        print_shape(f, &g->tensors[ids[i]]);
    }
}

void graph_print_ops(FILE *f, const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        fprintf(f, "%5zu %-24s %-15s %-15s", i, g->layers[op->layer_id].name, op_kind_names[op->kind],
                op_pass_names[op->pass]);
        print_tensors(f, g, op->inputs, op->n_inputs);
        fputs(" ->", f);
        print_tensors(f, g, op->outputs, op->n_outputs);
        fprintf(f, "  %" PRIu64 " MAC %" PRIu64 " flop\n", op_mac(g, op), op_flop(g, op));
    }
}
