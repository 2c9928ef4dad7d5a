/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.h - writes a forward graph as an ONNX file, channels last like the graph, to read it back and compare.
 *
 * Value tN is tensor N. Convolutions and pools are put between transpositions, as TensorFlow's exporters write them.
 */
#ifndef EXPORT_H
#define EXPORT_H
#include "tests/onnx/draft.h"

struct export { struct draft *d; const struct graph *g; const struct op *op; };

static inline const char *name_of(struct export *e, uint32_t tensor) { return arena_printf(&e->d->arena, "t%u", tensor); }
static inline const char *in_name(struct export *e, uint32_t i) { return name_of(e, e->op->inputs[i]); }
static inline const char *out_name(struct export *e, uint32_t i) { return name_of(e, e->op->outputs[i]); }
static inline const char *part(struct export *e, const char *tag) { return arena_printf(&e->d->arena, "%s_%s", out_name(e, 0), tag); }
static inline const struct tensor *in_tensor(const struct export *e, uint32_t i) { return &e->g->tensors[e->op->inputs[i]]; }
static inline const struct tensor *out_tensor(const struct export *e) { return &e->g->tensors[e->op->outputs[0]]; }
#define WORDS(...) arena_printf(&e->d->arena, __VA_ARGS__)

static inline const char *dims_text(struct export *e, uint32_t n, const uint64_t *dims)
{
    char text[160] = "";
    for (uint32_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%ju", i ? "," : "", (uintmax_t)dims[i]);
    return WORDS("%s", text);
}

static inline const char *shape_value(struct export *e, const char *tag, uint32_t n, const uint64_t *dims)
{
    draft_whole(e->d, part(e, tag), n, (const int64_t *)dims);
    return part(e, tag);
}

/* Contents follow from name and index, in the graph as in the file. */
static inline void export_weight(struct export *e, uint32_t id)
{
    const struct tensor *t = &e->g->tensors[id];
    draft_weight(e->d, name_of(e, id), t->n_dims, t->dims);
}

/* [height, width, in, out] as [out, in, height, width]. */
static inline void export_kernel(struct export *e, uint32_t id, const char *name)
{
    const struct tensor *t = &e->g->tensors[id];
    const uint64_t *d = t->dims;
    Onnx__TensorProto *w = draft_tensor(e->d, name, ONNX_FLOAT, DRAFT_DIMS(d[3], d[2], d[0], d[1]));
    w->n_float_data = tensor_elements(t);
    w->float_data = ARENA_ARRAY(&e->d->arena, float, w->n_float_data);
    for (uint64_t i = 0; i < w->n_float_data; i++) {
        uint64_t o = i % d[3], c = i / d[3] % d[2], x = i / d[3] / d[2] % d[1], y = i / d[3] / d[2] / d[1];
        w->float_data[((o * d[2] + c) * d[0] + y) * d[1] + x] = (float)draft_noise(name_of(e, id), i);
    }
}

static inline void export_window(struct export *e, const char *op, const char *more)
{
    const struct op_attributes *at = e->op->at;
    uint32_t ph = at->kernel_h > 1 ? at->pad : 0, pw = at->kernel_w > 1 ? at->pad : 0;
    bool conv = text_is(op, "Conv");
    if (conv)
        export_kernel(e, e->op->inputs[1], part(e, "w"));
    draft_node(e->d, "Transpose", in_name(e, 0), part(e, "first"), "perm=0,3,1,2");
    draft_node(e->d, op, conv ? WORDS("%s %s", part(e, "first"), part(e, "w")) : part(e, "first"), part(e, "last"),
               WORDS("kernel_shape=%u,%u strides=%u,%u pads=%u,%u,%u,%u%s", at->kernel_h, at->kernel_w, at->stride,
                     at->stride_w ? at->stride_w : at->stride, ph + at->zeros[0], pw + at->zeros[1], ph + at->zeros[2], pw + at->zeros[3], more));
    draft_node(e->d, "Transpose", part(e, "last"), out_name(e, 0), "perm=0,2,3,1");
}

static inline void export_transpose(struct export *e)
{
    const struct op_attributes *at = e->op->at;
    uint64_t order[MAX_VIEW_DIMS];
    uint32_t n = 0;
    for (; n < MAX_VIEW_DIMS && at->view[n]; n++)
        order[n] = at->order[n];
    draft_node(e->d, "Reshape", WORDS("%s %s", in_name(e, 0), shape_value(e, "view", n, at->view)), part(e, "seen"), "");
    draft_node(e->d, "Transpose", part(e, "seen"), part(e, "moved"), WORDS("perm=%s", dims_text(e, n, order)));
    draft_node(e->d, "Reshape", WORDS("%s %s", part(e, "moved"), shape_value(e, "shape", out_tensor(e)->n_dims, out_tensor(e)->dims)),
               out_name(e, 0), "");
}

static inline void export_matmul(struct export *e)
{
    const char *b = in_name(e, 1);
    uint32_t n = in_tensor(e, 1)->n_dims;
    if (e->op->at->transpose_b) {
        uint64_t order[MAX_DIMS] = { 0, 1, 2, 3, 4 };
        order[n - 1] = n - 2;
        order[n - 2] = n - 1;
        draft_node(e->d, "Transpose", b, part(e, "turned"), WORDS("perm=%s", dims_text(e, n, order)));
        b = part(e, "turned");
    }
    draft_node(e->d, "MatMul", WORDS("%s %s", in_name(e, 0), b), out_name(e, 0), "");
}

static inline void export_slice(struct export *e)
{
    const struct op_attributes *at = e->op->at;
    if (at->pieces) {
        const char *names = "";
        for (uint32_t i = 0; i < at->pieces; i++)
            names = WORDS("%s%s%s", names, i ? " " : "", out_name(e, i));
        draft_node(e->d, "Split", in_name(e, 0), names, WORDS("axis=%u", at->axis));
        return;
    }
    const uint64_t from = at->begin, to = at->begin + at->length, axis = at->axis;
    draft_node(e->d, "Slice", WORDS("%s %s %s %s", in_name(e, 0), shape_value(e, "from", 1, &from), shape_value(e, "to", 1, &to),
                                    shape_value(e, "axis", 1, &axis)), out_name(e, 0), "");
}

static inline void export_concat(struct export *e)
{
    const char *names = "";
    for (uint32_t i = 0; i < e->op->n_inputs; i++)
        names = WORDS("%s%s%s", names, i ? " " : "", in_name(e, i));
    draft_node(e->d, "Concat", names, out_name(e, 0), WORDS("axis=%u", e->op->at->axis));
}

static inline void export_map(struct export *e)
{
    assert(e->op->at->function == FUNCTION_CLIP);
    draft_number(e->d, part(e, "low"), e->op->at->low);
    draft_number(e->d, part(e, "high"), e->op->at->high);
    draft_node(e->d, "Clip", WORDS("%s %s %s", in_name(e, 0), part(e, "low"), part(e, "high")), out_name(e, 0), "");
}

static inline void export_select(struct export *e)
{
    draft_number(e->d, part(e, "else"), e->op->at->rate);
    draft_node(e->d, "Cast", in_name(e, 1), part(e, "condition"), "to=9");
    draft_node(e->d, "Where", WORDS("%s %s %s", part(e, "condition"), in_name(e, 0), part(e, "else")), out_name(e, 0), "");
}

/* As PyTorch writes swish. */
static inline void export_swish(struct export *e)
{
    draft_node(e->d, "Sigmoid", in_name(e, 0), part(e, "gate"), "");
    draft_node(e->d, "Mul", WORDS("%s %s", in_name(e, 0), part(e, "gate")), out_name(e, 0), "");
}

static inline void export_group_norm(struct export *e)
{
    draft_node(e->d, "Transpose", in_name(e, 0), part(e, "first"), "perm=0,3,1,2");
    draft_node(e->d, "GroupNormalization", WORDS("%s %s %s", part(e, "first"), in_name(e, 1), in_name(e, 2)), part(e, "last"),
               WORDS("num_groups=%u", e->op->at->norm_groups));
    draft_node(e->d, "Transpose", part(e, "last"), out_name(e, 0), "perm=0,2,3,1");
}

static inline void export_op(struct export *e)
{
    const struct op_attributes *at = e->op->at;
    const char *pair = e->op->n_inputs > 1 ? WORDS("%s %s", in_name(e, 0), in_name(e, 1)) : "";
    switch (e->op->kind) {
    case OP_CONV: export_window(e, "Conv", WORDS(" group=%u", at->groups)); return;
    case OP_MAX_POOL: export_window(e, "MaxPool", ""); return;
    case OP_AVERAGE_POOL: export_window(e, "AveragePool", ""); return;
    case OP_GROUP_NORM: export_group_norm(e); return;
    case OP_MATMUL: export_matmul(e); return;
    case OP_ADD: case OP_BIAS_ADD: draft_node(e->d, "Add", pair, out_name(e, 0), ""); return;
    case OP_MUL: draft_node(e->d, "Mul", pair, out_name(e, 0), ""); return;
    case OP_SCALE: draft_number(e->d, part(e, "factor"), at->rate);
        draft_node(e->d, "Mul", WORDS("%s %s", in_name(e, 0), part(e, "factor")), out_name(e, 0), ""); return;
    case OP_RELU: draft_node(e->d, "Relu", in_name(e, 0), out_name(e, 0), ""); return;
    case OP_GELU: draft_node(e->d, "Gelu", in_name(e, 0), out_name(e, 0), "approximate=tanh"); return;
    case OP_SIGMOID: draft_node(e->d, "Sigmoid", in_name(e, 0), out_name(e, 0), ""); return;
    case OP_SWISH: export_swish(e); return;
    case OP_SOFTMAX: draft_node(e->d, "Softmax", in_name(e, 0), out_name(e, 0), "axis=-1"); return;
    case OP_LAYER_NORM: draft_node(e->d, "LayerNormalization", WORDS("%s %s", pair, in_name(e, 2)), out_name(e, 0), ""); return;
    case OP_GATHER: draft_node(e->d, "Gather", pair, out_name(e, 0), "axis=0"); return;
    case OP_TRANSPOSE: export_transpose(e); return;
    case OP_SLICE: export_slice(e); return;
    case OP_CONCAT: export_concat(e); return;
    case OP_MAP: export_map(e); return;
    case OP_SELECT: export_select(e); return;
    case OP_VIEW: draft_node(e->d, "Reshape", WORDS("%s %s", in_name(e, 0), shape_value(e, "shape", out_tensor(e)->n_dims, out_tensor(e)->dims)),
                             out_name(e, 0), ""); return;
    case OP_EXPAND: draft_node(e->d, "Expand", WORDS("%s %s", in_name(e, 0), shape_value(e, "shape", out_tensor(e)->n_dims, out_tensor(e)->dims)),
                               out_name(e, 0), ""); return;
    default: assert(false);
    }
}

static inline struct draft *export_graph(const struct graph *g)
{
    struct export all = { draft_start(21), g, NULL }, *e = &all;
    bool *kernel = ARENA_ARRAY(&e->d->arena, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_CONV)
            kernel[g->ops[i].inputs[1]] = true;
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        int type = t->type == TYPE_INT32 ? ONNX_INT32 : t->type == TYPE_UINT8 ? ONNX_UINT8 : ONNX_FLOAT;
        if (t->role == ROLE_WEIGHT && !kernel[i])
            export_weight(e, i);
        else if (t->producer_op == NO_ID && t->role != ROLE_WEIGHT)
            draft_input(e->d, name_of(e, i), type, dims_text(e, t->n_dims, t->dims));
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        e->op = &g->ops[i];
        export_op(e);
    }
    return e->d;
}
#endif
