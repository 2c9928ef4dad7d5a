/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape.c - shape rules of operators on elements, windows, products, recurrences and constants
 * (onnx/docs/Operators.md, opset 7 to 25).
 */
#include "workloads/onnx/onnx_shapes.h"

/* The inputs that the row demands exist and have shapes, and the first output exists; outputs of recurrences are
 * optional. */
static bool has_operands(const struct inference *s)
{
    uint32_t n_inputs = s->n->op->n_inputs;
    if (n_inputs == ALL_INPUTS)
        n_inputs = max_u32(s->n->n_inputs, 1);
    for (uint32_t i = 0; i < n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        if (!v)
            return REFUSE(s, "has no input %u; want at least %u", i, n_inputs);
        if (!v->shaped)
            return REFUSE(s, "the shape of its input %.80s is not known", v->name);
    }
    return !n_inputs || onnx_has(s->n, ONNX_RECURRENT) || onnx_out(s->m, s->n, 0) ? true : REFUSE(s, "has no output");
}

bool infer_set(const struct inference *s, uint32_t i, uint32_t n_dims, const uint64_t *dims, int type)
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

bool infer_like_first(const struct inference *s)
{
    return infer_set(s, 0, s->x->n_dims, s->x->dims, s->x->type);
}

/* ---- element by element -------------------------------------------------------------------------- */

static bool infer_broadcast(const struct inference *s, int type)
{
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n->n_inputs; i++)
        n = max_u32(onnx_in(s->m, s->n, i)->n_dims, n);
    for (uint32_t d = 0; d < n; d++)
        dims[d] = 1;
    for (uint32_t i = 0; i < s->n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        for (uint32_t d = 0; d < v->n_dims; d++) {
            uint64_t *to = &dims[n - v->n_dims + d];
            if (v->dims[d] != 1 && *to != 1 && *to != v->dims[d])
                return REFUSE(s, "its inputs have %" PRIu64 " and %" PRIu64 " in one dimension%s", *to, v->dims[d], infer_batch_hint(s));
            if (v->dims[d] != 1)
                *to = v->dims[d];
        }
    }
    return infer_set(s, 0, n, dims, type);
}

bool infer_numbers(const struct inference *s) { return infer_broadcast(s, s->x->type); }
bool infer_where(const struct inference *s) { return infer_broadcast(s, s->y ? s->y->type : 0); }

static bool infer_two(const struct inference *s, int type)
{
    if (s->n->n_inputs > 2)
        return REFUSE(s, "has %u inputs, want 2", s->n->n_inputs);
    return infer_broadcast(s, type);
}

bool infer_pair(const struct inference *s) { return infer_two(s, s->x->type); }

/* A division of integers by zero has no result. */
bool infer_quotient(const struct inference *s)
{
    for (uint64_t i = 0; s->y->known && onnx_is_whole(s->y->type) && i < onnx_elements(s->y); i++)
        if (s->y->known[i] == 0)
            return REFUSE(s, "divides whole numbers by 0");
    return infer_pair(s);
}

bool infer_truth(const struct inference *s) { return infer_two(s, ONNX_BOOL); }

bool infer_test(const struct inference *s)
{
    return infer_like_first(s) && (onnx_out(s->m, s->n, 0)->type = ONNX_BOOL, true);
}
bool infer_cast_like(const struct inference *s)
{
    if (s->y->type == ONNX_STRING)
        return REFUSE(s, "makes strings; want numbers");
    return infer_like_first(s) && (onnx_out(s->m, s->n, 0)->type = s->y->type, true);
}
bool infer_cast(const struct inference *s)
{
    if (onnx_int(s->n, "to", ONNX_FLOAT) == ONNX_STRING)
        return REFUSE(s, "makes strings; want numbers");
    return infer_like_first(s) && (onnx_out(s->m, s->n, 0)->type = (int)onnx_int(s->n, "to", ONNX_FLOAT), true);
}

/* ---- windows ---------------------------------------------------------------------------------------- */

enum { MOST_OF_WINDOW = 65535 };

/* The zeros that make a transposed convolution's output as large as the file says; an odd one goes first, or last with SAME_UPPER. */
static void pads_of_output(struct onnx_window *w, const struct onnx_model *m, const struct onnx_node *n, const struct onnx_value *x)
{
    struct onnx_list made, extra;
    onnx_list(&made, m, n, "output_shape", NO_ID);
    onnx_list(&extra, m, n, "output_padding", NO_ID);
    bool upper = text_is(onnx_string(n, "auto_pad", "NOTSET", m->arena), "SAME_UPPER");
    for (uint32_t i = 0; i < w->n && made.n >= w->n; i++) {
        int64_t full = (int64_t)((x->dims[2 + i] - 1) * w->stride[i] + (uint64_t)(w->kernel[i] - 1) * w->dilation[i] + 1);
        int64_t zeros = full + (i < extra.n ? extra.at[i] : 0) - made.at[made.n - w->n + i];
        zeros = zeros < 0 ? 0 : zeros > MOST_OF_WINDOW ? MOST_OF_WINDOW : zeros;
        w->before[i] = (uint32_t)(upper ? zeros / 2 : zeros - zeros / 2);
        w->after[i] = (uint32_t)zeros - w->before[i];
    }
}

/* Numbers of an attribute from `first` on, one a dimension. `to` keeps its defaults if the attribute is absent. */
static bool window_numbers(uint32_t *to, uint32_t n_dims, const struct onnx_model *m, const struct onnx_node *n, const char *name, uint32_t first,
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

/* Pads so that there are ceil(inputs / stride) outputs, or inputs x stride if the convolution is transposed (auto_pad SAME). If the number of zeros is odd,
 * there is one more after the input (UPPER) or before it (LOWER). */
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
    if (!window_numbers(out->kernel, out->n, m, n, "kernel_shape", 0, err) || !window_numbers(out->stride, out->n, m, n, "strides", 0, err) ||
        !window_numbers(out->dilation, out->n, m, n, "dilations", 0, err) || !window_numbers(out->before, out->n, m, n, "pads", 0, err) ||
        !window_numbers(out->after, out->n, m, n, "pads", out->n, err))
        return false;
    for (uint32_t i = 0; i < out->n; i++)
        if (!out->kernel[i])
            return onnx_refuse(m, n, err, "kernel_shape is missing");
    const char *automatic = onnx_string(n, "auto_pad", "NOTSET", m->arena);
    if (strncmp(automatic, "SAME", 4) == 0)
        same_pads(out, x, text_is(automatic, "SAME_LOWER"), onnx_is(n, ONNX_OP_CONV_TRANSPOSE));
    if (onnx_is(n, ONNX_OP_CONV_TRANSPOSE))
        pads_of_output(out, m, n, x);
    return true;
}

static bool windowed(const struct inference *s, uint64_t channels)
{
    struct onnx_window w;
    const struct onnx_value *x = s->x;
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
            dims[2 + i]--;                  /* no window may start in the padding at the end */
    }
    return infer_set(s, 0, x->n_dims, dims, x->type);
}

bool infer_pool(const struct inference *s)
{
    if (s->n->n_outputs > 1 && s->n->outputs[1] != NO_ID && onnx_out(s->m, s->n, 1)->n_readers)
        return REFUSE(s, "its indices are read; only its values can be modelled");
    return windowed(s, s->x->dims[1]);
}

bool infer_conv(const struct inference *s)
{
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1);
    if (s->y->n_dims != s->x->n_dims)
        return REFUSE(s, "its kernel has %u dimensions and its input %u", s->y->n_dims, s->x->n_dims);
    if (!groups || s->y->dims[1] > s->x->dims[1] || s->y->dims[1] * groups != s->x->dims[1] || s->y->dims[0] % groups || !s->y->dims[0])
        return REFUSE(s, "%" PRIu64 " groups of %" PRIu64 " channels on an input of %" PRIu64, groups, s->y->dims[1], s->x->dims[1]);
    return windowed(s, s->y->dims[0]);
}

bool infer_conv_transpose(const struct inference *s)
{
    struct onnx_window w;
    struct onnx_list list, extra;
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1), dims[ONNX_MAX_DIMS];
    if (s->y->n_dims != s->x->n_dims || s->y->dims[0] != s->x->dims[1] || !groups || s->x->dims[1] % groups)
        return REFUSE(s, "its kernel does not fit its input of %" PRIu64 " channels", s->x->dims[1]);
    if (!onnx_window(&w, s->m, s->n, s->err))
        return false;
    onnx_list(&list, s->m, s->n, "output_shape", NO_ID);
    onnx_list(&extra, s->m, s->n, "output_padding", NO_ID);
    dims[0] = s->x->dims[0];
    dims[1] = s->y->dims[1] * groups;
    for (uint32_t i = 0; i < w.n; i++) {
        uint64_t full = (s->x->dims[2 + i] - 1) * w.stride[i] + (uint64_t)(w.kernel[i] - 1) * w.dilation[i] + 1 +
                        (i < extra.n ? (uint64_t)extra.at[i] : 0);
        uint64_t zeros = w.before[i] + w.after[i];
        if (full <= zeros)
            return REFUSE(s, "its padding is as large as its result");
        dims[2 + i] = list.n == w.n ? (uint64_t)list.at[i] : full - zeros;
    }
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

bool infer_global_pool(const struct inference *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        dims[i] = i < 2 ? s->x->dims[i] : 1;
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

/* ---- products ------------------------------------------------------------------------------------------ */

bool infer_gemm(const struct inference *s)
{
    const struct onnx_value *a = s->x, *b = s->y;
    int ta = onnx_flag(s->n, "transA", false), tb = onnx_flag(s->n, "transB", false);
    if (a->n_dims != 2 || b->n_dims != 2 || a->dims[!ta] != b->dims[tb])
        return REFUSE(s, "its matrices do not fit each other: inner sizes %" PRIu64 " and %" PRIu64, a->dims[!ta], b->dims[tb]);
    return infer_set(s, 0, 2, (uint64_t[]){ a->dims[ta], b->dims[!tb] }, a->type);
}

/* A vector is a row on the left of a product and a column on the right. */
static void as_matrix(struct onnx_value *v, bool row)
{
    if (v->n_dims != 1)
        return;
    v->n_dims = 2;
    v->dims[row ? 1 : 0] = v->dims[0];
    v->dims[row ? 0 : 1] = 1;
}

bool infer_matmul(const struct inference *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    struct onnx_value mine[2] = { *s->x, *s->y }, *a = &mine[0], *b = &mine[1];
    if (s->x->n_dims == 0 || s->y->n_dims == 0)
        return REFUSE(s, "a product with a single number");
    as_matrix(a, true);
    as_matrix(b, false);
    if (a->dims[a->n_dims - 1] != b->dims[b->n_dims - 2])
        return REFUSE(s, "inner sizes %" PRIu64 " and %" PRIu64 " differ%s", a->dims[a->n_dims - 1], b->dims[b->n_dims - 2], infer_batch_hint(s));
    uint32_t n = max_u32(a->n_dims, b->n_dims);
    for (uint32_t i = 0; i + 2 < n; i++) {
        uint64_t da = i + a->n_dims < n ? 1 : a->dims[i + a->n_dims - n], db = i + b->n_dims < n ? 1 : b->dims[i + b->n_dims - n];
        if (da != db && da != 1 && db != 1)
            return REFUSE(s, "stacks of %" PRIu64 " and %" PRIu64 " matrices", da, db);
        dims[i] = max_u64(da, db);
    }
    n -= 2;
    if (s->x->n_dims > 1)
        dims[n++] = a->dims[a->n_dims - 2];
    if (s->y->n_dims > 1)
        dims[n++] = b->dims[b->n_dims - 1];
    return infer_set(s, 0, n, dims, a->type);
}

/* [steps, batch, width] to [steps, directions, batch, hidden], and the last states [directions, batch, hidden]. */
bool infer_recurrence(const struct inference *s)
{
    const struct onnx_value *x = s->x, *r = onnx_in(s->m, s->n, 2);
    if (x->n_dims != 3 || r->n_dims != 3)
        return REFUSE(s, "its input has %u dimensions, want 3", x->n_dims);
    if (s->m->file_batch && s->m->file_batch != s->m->batch && x->dims[0] == s->m->batch && x->dims[1] != s->m->batch)
        return REFUSE(s, "its steps are the file's first dimension, so that is not the batch; give --set data.batch=0, or name the batch's dimension");
    uint64_t hidden = r->dims[2], directions = r->dims[0];
    return infer_set(s, 0, 4, (uint64_t[]){ x->dims[0], directions, x->dims[1], hidden }, x->type) &&
           infer_set(s, 1, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type) &&
           infer_set(s, 2, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

bool infer_constant(const struct inference *s)
{
    const Onnx__AttributeProto *p = onnx_attribute(s->n, "value");
    uint64_t dims[ONNX_MAX_DIMS];
    if (!p || !p->t) {
        p = onnx_attribute(s->n, "value_ints");
        p = p ? p : onnx_attribute(s->n, "value_floats");
        if (!p)
            return infer_set(s, 0, 0, NULL, onnx_attribute(s->n, "value_float") ? ONNX_FLOAT : ONNX_INT64);
        uint64_t n = p->n_ints + p->n_floats;
        return infer_set(s, 0, 1, &n, p->n_floats ? ONNX_FLOAT : ONNX_INT64);
    }
    if (p->t->n_dims > ONNX_MAX_DIMS)
        return REFUSE(s, "more than %d dimensions", ONNX_MAX_DIMS);
    for (size_t i = 0; i < p->t->n_dims; i++)
        dims[i] = p->t->dims[i] >= 0 ? (uint64_t)p->t->dims[i] : 0;
    return infer_set(s, 0, (uint32_t)p->t->n_dims, dims, p->t->data_type);
}

/* Attributes start and end: opset 15 and later. */
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

bool infer_shape(const struct inference *s)
{
    uint64_t first, n = onnx_shape_range(&first, s->n, s->x->n_dims);
    return infer_set(s, 0, 1, &n, ONNX_INT64);
}

bool infer_size(const struct inference *s)
{
    return infer_set(s, 0, 0, NULL, ONNX_INT64);
}

bool infer_constant_of_shape(const struct inference *s)
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
    return infer_set(s, 0, list.n, dims, value && value->t ? value->t->data_type : ONNX_FLOAT);
}

bool infer_eye(const struct inference *s)
{
    if (s->x->n_dims != 2)
        return REFUSE(s, "its input has %u dimensions, want 2", s->x->n_dims);
    return infer_set(s, 0, 2, s->x->dims, (int)onnx_int(s->n, "dtype", s->x->type));
}

bool infer_range(const struct inference *s)
{
    const struct onnx_value *from = s->x, *to = s->y, *by = onnx_in(s->m, s->n, 2);
    if (!from || !to || !by || !from->known || !to->known || !by->known)
        return REFUSE(s, "its limits are computed while the model runs");
    if (by->known[0] == 0)
        return REFUSE(s, "its steps are of 0");
    double n = (to->known[0] - from->known[0]) / by->known[0];
    if (n >= 1e9)
        return REFUSE(s, "it has a thousand million elements or more");
    uint64_t count = (uint64_t)ceil(fmax(n - 1e-6, 0));      /* tolerates rounding of float limits */
    return infer_set(s, 0, 1, &count, from->type);
}

bool onnx_shape_node(struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    const struct inference s = { m, n, onnx_in(m, n, 0), onnx_in(m, n, 1), err };
    return has_operands(&s) && n->op->shape(&s);
}
