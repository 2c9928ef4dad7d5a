/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape.c - shapes of all values, by the rule of the operator that makes each (onnx/docs/Operators.md, opset 9 to 21).
 */
#include "workloads/onnx/onnx_internal.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool shape_inputs(const struct shape *s, uint32_t n_inputs)
{
    for (uint32_t i = 0; i < n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        if (!v)
            return REFUSE(s, "has no input %u; want at least %u", i, n_inputs);
        if (!v->shaped)
            return REFUSE(s, "the shape of its input %.80s is not known", v->name);
    }
    return true;
}

bool shape_wants(const struct shape *s, uint32_t n_inputs)
{
    return shape_inputs(s, n_inputs) && (s->n->n_outputs && s->n->outputs[0] != NO_ID ? true : REFUSE(s, "has no output"));
}

bool shape_set(const struct shape *s, uint32_t i, uint32_t n_dims, const uint64_t *dims, int type)
{
    struct onnx_value *v = onnx_out(s->m, s->n, i);
    if (!v)
        return true;
    if (n_dims > ONNX_MAX_DIMS)
        return REFUSE(s, "makes %u dimensions, at most %d", n_dims, ONNX_MAX_DIMS);
    if (!onnx_has_size(n_dims, dims))
        return REFUSE(s, "makes a tensor of more than 2^40 elements; are the symbolic dimensions meant?");
    for (uint32_t d = 0; d < n_dims; d++)
        v->dims[d] = dims[d];
    v->n_dims = n_dims;
    v->shaped = true;
    if (type || !v->type)
        v->type = type;
    return true;
}

void copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v)
{
    for (uint32_t i = 0; i < ONNX_MAX_DIMS; i++)
        dims[i] = v->dims[i];
}

static bool like_input(const struct shape *s)
{
    if (!shape_wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    return shape_set(s, 0, x->n_dims, x->dims, x->type);
}

static bool shape_scatter(const struct shape *s)
{
    return shape_wants(s, 3) && like_input(s);
}

/* ---- element by element -------------------------------------------------------------------------- */

static bool broadcast(const struct shape *s, uint32_t first, int type)
{
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    uint32_t n = 0;
    if (!shape_wants(s, s->n->n_inputs))
        return false;
    for (uint32_t i = first; i < s->n->n_inputs; i++)
        n = max_u32(onnx_in(s->m, s->n, i)->n_dims, n);
    for (uint32_t d = 0; d < n; d++)
        dims[d] = 1;
    for (uint32_t i = first; i < s->n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        for (uint32_t d = 0; d < v->n_dims; d++) {
            uint64_t *to = &dims[n - v->n_dims + d];
            if (v->dims[d] != 1 && *to != 1 && *to != v->dims[d])
                return REFUSE(s, "its inputs have %" PRIu64 " and %" PRIu64 " in one dimension%s", *to, v->dims[d], shape_batch_hint(s));
            if (v->dims[d] != 1)
                *to = v->dims[d];
        }
    }
    return shape_set(s, 0, n, dims, type);
}

static int type_of(const struct shape *s, uint32_t i) { return onnx_in(s->m, s->n, i) ? onnx_in(s->m, s->n, i)->type : 0; }
static bool shape_numbers(const struct shape *s) { return broadcast(s, 0, type_of(s, 0)); }

static bool pair(const struct shape *s, int type)
{
    if (s->n->n_inputs > 2)
        return REFUSE(s, "has %u inputs, want 2", s->n->n_inputs);
    return shape_wants(s, 2) && broadcast(s, 0, type);
}

static bool shape_pair(const struct shape *s) { return pair(s, type_of(s, 0)); }
/* Whole numbers have no infinity to become. */
static bool shape_quotient(const struct shape *s)
{
    const struct onnx_value *by = onnx_in(s->m, s->n, 1);
    for (uint64_t i = 0; by && by->known && onnx_is_whole(by->type) && i < onnx_elements(by); i++)
        if (by->known[i] == 0)
            return REFUSE(s, "divides whole numbers by 0");
    return shape_pair(s);
}

static bool shape_truth(const struct shape *s) { return pair(s, ONNX_BOOL); }
static bool shape_where(const struct shape *s) { return broadcast(s, 0, type_of(s, 1)); }
static bool shape_test(const struct shape *s)
{
    if (!onnx_flag(s->n, "detect_negative", true) || !onnx_flag(s->n, "detect_positive", true))
        return REFUSE(s, "looks for one sign of infinity alone");
    return like_input(s) && (onnx_out(s->m, s->n, 0)->type = ONNX_BOOL, true);
}
static bool shape_cast_like(const struct shape *s)
{
    if (onnx_in(s->m, s->n, 1) && onnx_in(s->m, s->n, 1)->type == ONNX_STRING)
        return REFUSE(s, "makes strings; want numbers");
    return shape_wants(s, 2) && like_input(s) && (onnx_out(s->m, s->n, 0)->type = onnx_in(s->m, s->n, 1)->type, true);
}
static bool shape_cast(const struct shape *s)
{
    if (onnx_int(s->n, "to", ONNX_FLOAT) == ONNX_STRING)
        return REFUSE(s, "makes strings; want numbers");
    return like_input(s) && (onnx_out(s->m, s->n, 0)->type = (int)onnx_int(s->n, "to", ONNX_FLOAT), true);
}

/* ---- windows ---------------------------------------------------------------------------------------- */

enum { MOST_OF_WINDOW = 65535 };

/* The attribute's numbers from `first` on, one a dimension; where the file gives none, what is there stays. */
static bool take_numbers(uint32_t *to, uint32_t n_dims, const struct onnx_model *m, const struct onnx_node *n, const char *name, uint32_t first,
                         struct err *err)
{
    struct onnx_list given;
    int64_t least = text_is(name, "pads") ? 0 : 1;
    onnx_list(&given, m, n, name, NO_ID);
    for (uint32_t i = 0; i < n_dims && first + i < given.n; i++) {
        int64_t x = given.at[first + i];
        if (x < least || x > MOST_OF_WINDOW)
            return onnx_refuse(m, n, err, "%s of %" PRId64 "; want %" PRId64 " to %d", name, x, least, MOST_OF_WINDOW);
        to[i] = (uint32_t)x;
    }
    return true;
}

/* As many outputs as inputs / stride, rounded up, or transposed as inputs x stride; an odd zero goes last (UPPER) or first. */
static void same_pads(struct onnx_window *w, const struct onnx_value *x, bool lower, bool transposed)
{
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t in = x->dims[2 + i], out = (in + w->stride[i] - 1) / w->stride[i];
        uint64_t reach = (uint64_t)(w->kernel[i] - 1) * w->dilation[i] + 1, needed = (out - 1) * w->stride[i] + reach;
        if (transposed) {
            in = w->stride[i];
            needed = reach;
        }
        uint32_t zeros = (uint32_t)(max_u64(needed, in) - in);
        w->before[i] = lower ? (zeros + 1) / 2 : zeros / 2;
        w->after[i] = zeros - w->before[i];
    }
}

bool onnx_window(struct onnx_window *out, const struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, n, 0), *kernel = onnx_in(m, n, 1);
    *out = (struct onnx_window){ .n = x->n_dims - 2 };
    if (x->n_dims < 3 || x->n_dims > 5)
        return onnx_refuse(m, n, err, "its input has %u dimensions; want 3 to 5", x->n_dims);
    for (uint32_t i = 0; i < out->n; i++) {
        out->kernel[i] = kernel && kernel->n_dims == x->n_dims ? (uint32_t)kernel->dims[2 + i] : 0;
        out->stride[i] = out->dilation[i] = 1;
    }
    if (!take_numbers(out->kernel, out->n, m, n, "kernel_shape", 0, err) || !take_numbers(out->stride, out->n, m, n, "strides", 0, err) ||
        !take_numbers(out->dilation, out->n, m, n, "dilations", 0, err) || !take_numbers(out->before, out->n, m, n, "pads", 0, err) ||
        !take_numbers(out->after, out->n, m, n, "pads", out->n, err))
        return false;
    for (uint32_t i = 0; i < out->n; i++)
        if (!out->kernel[i])
            return onnx_refuse(m, n, err, "kernel_shape is missing");
    const char *automatic = onnx_string(n, "auto_pad", "NOTSET", m->arena);
    if (strncmp(automatic, "SAME", 4) == 0)
        same_pads(out, x, text_is(automatic, "SAME_LOWER"), text_is(n->op, "ConvTranspose"));
    return true;
}

static bool windowed(const struct shape *s, uint64_t channels)
{
    struct onnx_window w;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS] = { x->dims[0], channels };
    if (!onnx_window(&w, s->m, s->n, s->err))
        return false;
    bool ceil = onnx_flag(s->n, "ceil_mode", false);
    for (uint32_t i = 0; i < w.n; i++) {
        uint64_t padded = x->dims[2 + i] + w.before[i] + w.after[i], reach = (uint64_t)(w.kernel[i] - 1) * w.dilation[i] + 1;
        if (padded < reach)
            return REFUSE(s, "a window of %" PRIu64 " on %" PRIu64 " elements", reach, padded);
        dims[2 + i] = (padded - reach + (ceil ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
        if (ceil && (dims[2 + i] - 1) * w.stride[i] >= x->dims[2 + i] + w.before[i])
            dims[2 + i]--;                  /* a window may not start in the padding behind */
    }
    return shape_set(s, 0, x->n_dims, dims, x->type);
}

static bool shape_pool(const struct shape *s)
{
    if (!shape_wants(s, 1))
        return false;
    if (s->n->n_outputs > 1 && s->n->outputs[1] != NO_ID && onnx_out(s->m, s->n, 1)->n_readers)
        return REFUSE(s, "its indices are read; only its values can be modelled");
    return windowed(s, onnx_in(s->m, s->n, 0)->dims[1]);
}

static bool shape_conv(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *w = onnx_in(s->m, s->n, 1);
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1);
    if (w->n_dims != x->n_dims)
        return REFUSE(s, "its kernel has %u dimensions and its input %u", w->n_dims, x->n_dims);
    if (!groups || w->dims[1] > x->dims[1] || w->dims[1] * groups != x->dims[1] || w->dims[0] % groups || !w->dims[0])
        return REFUSE(s, "%" PRIu64 " groups of %" PRIu64 " channels on an input of %" PRIu64, groups, w->dims[1], x->dims[1]);
    return windowed(s, w->dims[0]);
}

static bool shape_conv_transpose(const struct shape *s)
{
    struct onnx_window w;
    struct onnx_list list, extra;
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *k = onnx_in(s->m, s->n, 1);
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1), dims[ONNX_MAX_DIMS];
    if (k->n_dims != x->n_dims || k->dims[0] != x->dims[1] || !groups || x->dims[1] % groups)
        return REFUSE(s, "its kernel does not fit its input of %" PRIu64 " channels", x->dims[1]);
    if (!onnx_window(&w, s->m, s->n, s->err))
        return false;
    onnx_list(&list, s->m, s->n, "output_shape", NO_ID);
    onnx_list(&extra, s->m, s->n, "output_padding", NO_ID);
    dims[0] = x->dims[0];
    dims[1] = k->dims[1] * groups;
    for (uint32_t i = 0; i < w.n; i++) {
        uint64_t full = (x->dims[2 + i] - 1) * w.stride[i] + (uint64_t)(w.kernel[i] - 1) * w.dilation[i] + 1 +
                        (i < extra.n ? (uint64_t)extra.at[i] : 0);
        uint64_t zeros = w.before[i] + w.after[i];
        if (full <= zeros)
            return REFUSE(s, "its padding is as large as its result");
        dims[2 + i] = list.n == w.n ? (uint64_t)list.at[i] : full - zeros;
    }
    return shape_set(s, 0, x->n_dims, dims, x->type);
}

static bool shape_global_pool(const struct shape *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    if (!shape_wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    for (uint32_t i = 0; i < x->n_dims; i++)
        dims[i] = i < 2 ? x->dims[i] : 1;
    return shape_set(s, 0, x->n_dims, dims, x->type);
}

/* ---- products ------------------------------------------------------------------------------------------ */

static bool shape_gemm(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *a = onnx_in(s->m, s->n, 0), *b = onnx_in(s->m, s->n, 1);
    int ta = onnx_flag(s->n, "transA", false), tb = onnx_flag(s->n, "transB", false);
    if (a->n_dims != 2 || b->n_dims != 2 || a->dims[!ta] != b->dims[tb])
        return REFUSE(s, "its matrices do not fit each other: inner sizes %" PRIu64 " and %" PRIu64, a->dims[!ta], b->dims[tb]);
    return shape_set(s, 0, 2, (uint64_t[]){ a->dims[ta], b->dims[!tb] }, a->type);
}

/* A vector is a row on the left of a product, a column on its right. */
static void as_matrix(struct onnx_value *v, bool row)
{
    if (v->n_dims != 1)
        return;
    v->n_dims = 2;
    v->dims[row ? 1 : 0] = v->dims[0];
    v->dims[row ? 0 : 1] = 1;
}

static bool shape_matmul(const struct shape *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *va = onnx_in(s->m, s->n, 0), *vb = onnx_in(s->m, s->n, 1);
    struct onnx_value mine[2] = { *va, *vb }, *a = &mine[0], *b = &mine[1];
    if (va->n_dims == 0 || vb->n_dims == 0)
        return REFUSE(s, "a product with a single number");
    as_matrix(a, true);
    as_matrix(b, false);
    if (a->dims[a->n_dims - 1] != b->dims[b->n_dims - 2])
        return REFUSE(s, "inner sizes %" PRIu64 " and %" PRIu64 " differ%s", a->dims[a->n_dims - 1], b->dims[b->n_dims - 2], shape_batch_hint(s));
    uint32_t n = max_u32(a->n_dims, b->n_dims);
    for (uint32_t i = 0; i + 2 < n; i++) {
        uint64_t da = i + a->n_dims < n ? 1 : a->dims[i + a->n_dims - n], db = i + b->n_dims < n ? 1 : b->dims[i + b->n_dims - n];
        if (da != db && da != 1 && db != 1)
            return REFUSE(s, "stacks of %" PRIu64 " and %" PRIu64 " matrices", da, db);
        dims[i] = max_u64(da, db);
    }
    n -= 2;
    if (va->n_dims > 1)
        dims[n++] = a->dims[a->n_dims - 2];
    if (vb->n_dims > 1)
        dims[n++] = b->dims[b->n_dims - 1];
    return shape_set(s, 0, n, dims, a->type);
}

/* [steps, batch, width] (layout 0) to [steps, directions, batch, hidden], and the last states. */
static bool shape_recurrence(const struct shape *s)
{
    if (!shape_inputs(s, 3))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *r = onnx_in(s->m, s->n, 2);
    if (x->n_dims != 3 || r->n_dims != 3)
        return REFUSE(s, "its input has %u dimensions, want 3", x->n_dims);
    uint64_t hidden = r->dims[2], directions = r->dims[0];
    return shape_set(s, 0, 4, (uint64_t[]){ x->dims[0], directions, x->dims[1], hidden }, x->type) &&
           shape_set(s, 1, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type) &&
           shape_set(s, 2, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static bool shape_constant(const struct shape *s)
{
    const Onnx__AttributeProto *p = onnx_attribute(s->n, "value");
    uint64_t dims[ONNX_MAX_DIMS];
    if (!p || !p->t) {
        p = onnx_attribute(s->n, "value_ints");
        p = p ? p : onnx_attribute(s->n, "value_floats");
        if (!p)
            return shape_set(s, 0, 0, NULL, onnx_attribute(s->n, "value_float") ? ONNX_FLOAT : ONNX_INT64);
        uint64_t n = p->n_ints + p->n_floats;
        return shape_set(s, 0, 1, &n, p->n_floats ? ONNX_FLOAT : ONNX_INT64);
    }
    if (p->t->n_dims > ONNX_MAX_DIMS)
        return REFUSE(s, "more than %d dimensions", ONNX_MAX_DIMS);
    for (size_t i = 0; i < p->t->n_dims; i++)
        dims[i] = p->t->dims[i] >= 0 ? (uint64_t)p->t->dims[i] : 0;
    return shape_set(s, 0, (uint32_t)p->t->n_dims, dims, p->t->data_type);
}

/* From opset 15 on a part of the dimensions may be asked for. */
uint64_t onnx_shape_range(uint64_t *first, const struct onnx_node *n, uint32_t n_dims)
{
    int64_t all = n_dims, from = onnx_int(n, "start", 0), to = onnx_int(n, "end", all);
    from = from < 0 ? from + all : from;
    to = to < 0 ? to + all : to;
    from = from < 0 ? 0 : from > all ? all : from;
    to = to < from ? from : to > all ? all : to;
    *first = (uint64_t)from;
    return (uint64_t)(to - from);
}

static bool shape_of_shape(const struct shape *s)
{
    if (!shape_wants(s, 1))
        return false;
    uint64_t first, n = onnx_shape_range(&first, s->n, onnx_in(s->m, s->n, 0)->n_dims);
    return shape_set(s, 0, 1, &n, ONNX_INT64);
}

static bool shape_size(const struct shape *s)
{
    return shape_wants(s, 1) && shape_set(s, 0, 0, NULL, ONNX_INT64);
}

static bool shape_constant_of_shape(const struct shape *s)
{
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    const Onnx__AttributeProto *value = onnx_attribute(s->n, "value");
    if (!onnx_list(&list, s->m, s->n, "shape", 0) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs");
    for (uint32_t i = 0; i < list.n; i++) {
        if (list.at[i] < 0)
            return REFUSE(s, "a size of %jd", (intmax_t)list.at[i]);
        dims[i] = (uint64_t)list.at[i];
    }
    return shape_set(s, 0, list.n, dims, value && value->t ? value->t->data_type : ONNX_FLOAT);
}

static bool shape_eye(const struct shape *s)
{
    if (!shape_wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (x->n_dims != 2)
        return REFUSE(s, "its input has %u dimensions, want 2", x->n_dims);
    return shape_set(s, 0, 2, x->dims, (int)onnx_int(s->n, "dtype", x->type));
}

static bool shape_range(const struct shape *s)
{
    const struct onnx_value *from = onnx_in(s->m, s->n, 0), *to = onnx_in(s->m, s->n, 1), *by = onnx_in(s->m, s->n, 2);
    if (!from || !to || !by || !from->known || !to->known || !by->known || by->known[0] == 0)
        return REFUSE(s, "its limits are computed while the model runs");
    double n = (to->known[0] - from->known[0]) / by->known[0];
    if (n >= 1e9)
        return REFUSE(s, "it has a thousand million elements or more");
    uint64_t count = (uint64_t)ceil(fmax(n - 1e-6, 0));      /* the limits are floats */
    return shape_set(s, 0, 1, &count, from->type);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

static const struct shape_rule { const char *op; bool (*shape)(const struct shape *s); } rules[] = {
    { "Conv", shape_conv }, { "ConvTranspose", shape_conv_transpose }, { "Gemm", shape_gemm }, { "MatMul", shape_matmul },
    { "Einsum", shape_einsum }, { "LSTM", shape_recurrence }, { "GRU", shape_recurrence }, { "RNN", shape_recurrence }, { "EyeLike", shape_eye }, { "MaxPool", shape_pool },
    { "AveragePool", shape_pool }, { "GlobalAveragePool", shape_global_pool }, { "GlobalMaxPool", shape_global_pool },
    { "Relu", like_input }, { "LeakyRelu", like_input }, { "PRelu", like_input }, { "Elu", like_input }, { "Selu", like_input },
    { "Sigmoid", like_input }, { "HardSigmoid", like_input }, { "HardSwish", like_input }, { "Swish", like_input },
    { "Mish", like_input }, { "Celu", like_input }, { "ThresholdedRelu", like_input }, { "Softsign", like_input }, { "Sign", like_input },
    { "Softplus", like_input }, { "Tanh", like_input }, { "Gelu", like_input }, { "Erf", like_input }, { "Exp", like_input },
    { "Log", like_input }, { "Sqrt", like_input }, { "Neg", like_input }, { "Abs", like_input }, { "Reciprocal", like_input },
    { "Clip", like_input }, { "Identity", like_input }, { "Dropout", like_input }, { "Not", like_input }, { "Floor", like_input },
    { "Ceil", like_input }, { "Round", like_input }, { "Sin", like_input }, { "Cos", like_input }, { "Softmax", like_input },
    { "LogSoftmax", like_input }, { "BatchNormalization", like_input }, { "InstanceNormalization", like_input },
    { "GroupNormalization", like_input }, { "LayerNormalization", like_input }, { "LRN", like_input }, { "Trilu", like_input },
    { "CumSum", like_input }, { "ScatterND", shape_scatter }, { "Cast", shape_cast }, { "CastLike", shape_cast_like },
    { "Add", shape_pair }, { "Sub", shape_pair }, { "Mul", shape_pair }, { "Div", shape_quotient }, { "Pow", shape_pair },
    { "Max", shape_numbers }, { "Min", shape_numbers }, { "Sum", shape_numbers }, { "Mean", shape_numbers }, { "Mod", shape_quotient },
    { "Equal", shape_truth }, { "Greater", shape_truth }, { "Less", shape_truth }, { "GreaterOrEqual", shape_truth },
    { "LessOrEqual", shape_truth }, { "And", shape_truth }, { "Or", shape_truth }, { "Where", shape_where }, { "Reshape", shape_reshape },
    { "Flatten", shape_flatten }, { "Transpose", shape_transpose }, { "Squeeze", shape_squeeze }, { "Unsqueeze", shape_unsqueeze },
    { "Concat", shape_concat }, { "Split", shape_split }, { "Slice", shape_slice }, { "Gather", shape_gather }, { "Pad", shape_pad },
    { "Expand", shape_expand }, { "Tile", shape_tile }, { "Resize", shape_resize }, { "Upsample", shape_resize },
    { "DepthToSpace", shape_depth_to_space }, { "SpaceToDepth", shape_space_to_depth }, { "ReduceMean", shape_reduce },
    { "ReduceSum", shape_reduce }, { "ReduceMax", shape_reduce }, { "ReduceMin", shape_reduce }, { "ReduceProd", shape_reduce },
    { "ReduceL2", shape_reduce }, { "ReduceL1", shape_reduce }, { "ReduceLogSum", shape_reduce }, { "ReduceLogSumExp", shape_reduce },
    { "ReduceSumSquare", shape_reduce }, { "ArgMax", shape_argmax }, { "ArgMin", shape_argmax }, { "Constant", shape_constant },
    { "ConstantOfShape", shape_constant_of_shape }, { "Shape", shape_of_shape }, { "Size", shape_size }, { "IsNaN", shape_test },
    { "IsInf", shape_test }, { "GatherElements", shape_gather_elements }, { "Range", shape_range },
    { "NonZero", shape_nonzero }, { "NonMaxSuppression", shape_suppression }, { "Compress", shape_compress }, { "TopK", shape_top_k },
    { "OneHot", shape_one_hot }, { "GatherND", shape_gather_nd }, { "RoiAlign", shape_roi_align }, { "GridSample", shape_grid_sample },
    { "SoftmaxCrossEntropyLoss", shape_loss }, { "NegativeLogLikelihoodLoss", shape_loss },
    { "QuantizeLinear", shape_quantize }, { "DequantizeLinear", shape_dequantize }, { "Scatter", shape_scatter },
    { "ScatterElements", shape_scatter }, { "Hardmax", like_input }, { "Xor", shape_truth },
};

static const struct shape_rule *find_rule(const char *op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (text_is(rules[i].op, op))
            return &rules[i];
    return NULL;
}

bool onnx_has_shape_rule(const char *op)
{
    return find_rule(op) != NULL;
}

bool onnx_shape_node(struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    const struct shape s = { m, n, err };
    const struct shape_rule *rule = find_rule(n->op);
    assert(rule);                       /* the others were refused before */
    return rule->shape(&s);
}
