/*
 * shape.c - shapes of all values, by the rule of the operator that makes each (onnx/docs/Operators.md, opset 9 to 21).
 *
 * The first dimension of the inputs is the batch, where it has a name or the first input's size. Where the file fixes it, reshapes
 * that name it are taken to mean the recipe's. A symbolic dimension takes the size that the options give by its name.
 */
#include "workloads/onnx/model.h"
#include <inttypes.h>
#include <string.h>

struct shape { struct onnx_model *m; const struct onnx_node *n; struct err *err; };

#define REFUSE(s, ...) onnx_refuse((s)->m, (s)->n, (s)->err, __VA_ARGS__)

static bool wants(const struct shape *s, uint32_t n_inputs)
{
    for (uint32_t i = 0; i < n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        if (!v)
            return REFUSE(s, "has no input %u; want at least %u", i, n_inputs);
        if (!v->shaped)
            return REFUSE(s, "the shape of its input %.80s is not known", v->name);
    }
    return s->n->n_outputs && s->n->outputs[0] != NO_ID ? true : REFUSE(s, "has no output");
}

static bool set_out(const struct shape *s, uint32_t i, uint32_t n_dims, const uint64_t *dims, int type)
{
    struct onnx_value *v = onnx_out(s->m, s->n, i);
    uint64_t elements = 1;
    if (!v)
        return true;
    if (n_dims > ONNX_MAX_DIMS)
        return REFUSE(s, "makes %u dimensions, at most %d", n_dims, ONNX_MAX_DIMS);
    for (uint32_t d = 0; d < n_dims; d++) {
        if (dims[d] > UINT32_MAX || (dims[d] && elements > (UINT64_C(1) << 40) / dims[d]))
            return REFUSE(s, "makes a tensor of more than 2^40 elements; are the symbolic dimensions meant?");
        elements *= dims[d];
        v->dims[d] = dims[d];
    }
    v->n_dims = n_dims;
    v->shaped = true;
    if (type || !v->type)
        v->type = type;
    return true;
}

static void copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v)
{
    for (uint32_t i = 0; i < ONNX_MAX_DIMS; i++)
        dims[i] = v->dims[i];
}

static bool like_input(const struct shape *s)
{
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    return set_out(s, 0, x->n_dims, x->dims, x->type);
}

/* ---- element by element -------------------------------------------------------------------------- */

static bool broadcast(const struct shape *s, uint32_t first, int type)
{
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    uint32_t n = 0;
    if (!wants(s, s->n->n_inputs))
        return false;
    for (uint32_t i = first; i < s->n->n_inputs; i++)
        n = onnx_in(s->m, s->n, i)->n_dims > n ? onnx_in(s->m, s->n, i)->n_dims : n;
    for (uint32_t d = 0; d < n; d++)
        dims[d] = 1;
    for (uint32_t i = first; i < s->n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        for (uint32_t d = 0; d < v->n_dims; d++) {
            uint64_t *to = &dims[n - v->n_dims + d];
            if (v->dims[d] != 1 && *to != 1 && *to != v->dims[d])
                return REFUSE(s, "its inputs have %" PRIu64 " and %" PRIu64 " in one dimension", *to, v->dims[d]);
            if (v->dims[d] != 1)
                *to = v->dims[d];
        }
    }
    return set_out(s, 0, n, dims, type);
}

static bool shape_numbers(const struct shape *s) { return broadcast(s, 0, s->n->n_inputs && onnx_in(s->m, s->n, 0) ? onnx_in(s->m, s->n, 0)->type : 0); }
static bool shape_truth(const struct shape *s) { return broadcast(s, 0, ONNX_BOOL); }
static bool shape_where(const struct shape *s) { return broadcast(s, 0, s->n->n_inputs > 1 && onnx_in(s->m, s->n, 1) ? onnx_in(s->m, s->n, 1)->type : 0); }
static bool shape_cast(const struct shape *s)
{
    return like_input(s) && (onnx_out(s->m, s->n, 0)->type = (int)onnx_int(s->n, "to", ONNX_FLOAT), true);
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static void fill(uint32_t *to, const struct onnx_list *from, uint32_t n, uint32_t otherwise)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = i < from->n && from->at[i] > 0 && from->at[i] < 65536 ? (uint32_t)from->at[i] : otherwise;
}

static void fill_pads(struct onnx_window *w, const struct onnx_list *pads)
{
    for (uint32_t i = 0; i < w->n; i++) {
        w->before[i] = i < pads->n && pads->at[i] > 0 ? (uint32_t)pads->at[i] : 0;
        w->after[i] = w->n + i < pads->n && pads->at[w->n + i] > 0 ? (uint32_t)pads->at[w->n + i] : 0;
    }
}

/* As many outputs as inputs / stride, rounded up; an odd zero goes last (UPPER) or first. */
static void same_pads(struct onnx_window *w, const struct onnx_value *x, bool lower)
{
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t in = x->dims[2 + i], out = (in + w->stride[i] - 1) / w->stride[i];
        uint64_t reach = (uint64_t)(w->kernel[i] - 1) * w->dilation[i] + 1, needed = (out - 1) * w->stride[i] + reach;
        uint32_t zeros = needed > in ? (uint32_t)(needed - in) : 0;
        w->before[i] = lower ? (zeros + 1) / 2 : zeros / 2;
        w->after[i] = zeros - w->before[i];
    }
}

bool onnx_window(struct onnx_window *out, const struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, n, 0), *kernel = onnx_in(m, n, 1);
    struct onnx_list list;
    *out = (struct onnx_window){ .n = x->n_dims - 2 };
    if (x->n_dims < 3 || x->n_dims > 4)
        return onnx_refuse(m, n, err, "its input has %u dimensions; want 3 or 4: windows in three dimensions are not modelled", x->n_dims);
    onnx_list(&list, m, n, "kernel_shape", NO_ID);
    for (uint32_t i = 0; i < out->n && list.n == 0; i++)
        out->kernel[i] = kernel && kernel->n_dims == x->n_dims ? (uint32_t)kernel->dims[2 + i] : 0;
    if (list.n)
        fill(out->kernel, &list, out->n, 0);
    for (uint32_t i = 0; i < out->n; i++)
        if (!out->kernel[i])
            return onnx_refuse(m, n, err, "kernel_shape is missing");
    onnx_list(&list, m, n, "strides", NO_ID);
    fill(out->stride, &list, out->n, 1);
    onnx_list(&list, m, n, "dilations", NO_ID);
    fill(out->dilation, &list, out->n, 1);
    onnx_list(&list, m, n, "pads", NO_ID);
    fill_pads(out, &list);
    const char *automatic = onnx_string(n, "auto_pad", "NOTSET", m->arena);
    if (strncmp(automatic, "SAME", 4) == 0)
        same_pads(out, x, text_is(automatic, "SAME_LOWER"));
    return true;
}

static bool windowed(const struct shape *s, uint64_t channels)
{
    struct onnx_window w;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS] = { x->dims[0], channels };
    if (!onnx_window(&w, s->m, s->n, s->err))
        return false;
    bool ceil = onnx_int(s->n, "ceil_mode", 0) != 0;
    for (uint32_t i = 0; i < w.n; i++) {
        uint64_t padded = x->dims[2 + i] + w.before[i] + w.after[i], reach = (uint64_t)(w.kernel[i] - 1) * w.dilation[i] + 1;
        if (padded < reach)
            return REFUSE(s, "a window of %" PRIu64 " on %" PRIu64 " elements", reach, padded);
        dims[2 + i] = (padded - reach + (ceil ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
        if (ceil && (dims[2 + i] - 1) * w.stride[i] >= x->dims[2 + i] + w.before[i])
            dims[2 + i]--;                  /* a window may not start in the padding behind */
    }
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_pool(const struct shape *s)
{
    if (!wants(s, 1))
        return false;
    if (s->n->n_outputs > 1 && s->n->outputs[1] != NO_ID && onnx_out(s->m, s->n, 1)->n_readers)
        return REFUSE(s, "its indices are read; only its values can be modelled");
    return windowed(s, onnx_in(s->m, s->n, 0)->n_dims > 1 ? onnx_in(s->m, s->n, 0)->dims[1] : 0);
}

static bool shape_conv(const struct shape *s)
{
    if (!wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *w = onnx_in(s->m, s->n, 1);
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1);
    if (w->n_dims != x->n_dims || x->n_dims < 3)
        return REFUSE(s, "its kernel has %u dimensions and its input %u", w->n_dims, x->n_dims);
    if (!groups || w->dims[1] > x->dims[1] || w->dims[1] * groups != x->dims[1] || w->dims[0] % groups || !w->dims[0])
        return REFUSE(s, "%" PRIu64 " groups of %" PRIu64 " channels on an input of %" PRIu64, groups, w->dims[1], x->dims[1]);
    return windowed(s, w->dims[0]);
}

static bool shape_conv_transpose(const struct shape *s)
{
    struct onnx_window w;
    struct onnx_list list, extra;
    if (!wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *k = onnx_in(s->m, s->n, 1);
    uint64_t groups = (uint64_t)onnx_int(s->n, "group", 1), dims[ONNX_MAX_DIMS];
    if (k->n_dims != x->n_dims || x->n_dims < 3 || k->dims[0] != x->dims[1] || !groups || x->dims[1] % groups)
        return REFUSE(s, "its kernel does not fit its input of %" PRIu64 " channels", x->n_dims > 1 ? x->dims[1] : 0);
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
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_global_pool(const struct shape *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    for (uint32_t i = 0; i < x->n_dims; i++)
        dims[i] = i < 2 ? x->dims[i] : 1;
    return set_out(s, 0, x->n_dims, dims, x->type);
}

/* ---- products ------------------------------------------------------------------------------------------ */

static bool shape_gemm(const struct shape *s)
{
    if (!wants(s, 2))
        return false;
    const struct onnx_value *a = onnx_in(s->m, s->n, 0), *b = onnx_in(s->m, s->n, 1);
    int ta = onnx_int(s->n, "transA", 0) != 0, tb = onnx_int(s->n, "transB", 0) != 0;
    if (a->n_dims != 2 || b->n_dims != 2 || a->dims[!ta] != b->dims[tb])
        return REFUSE(s, "its matrices do not fit each other: inner sizes %" PRIu64 " and %" PRIu64, a->dims[!ta], b->dims[tb]);
    return set_out(s, 0, 2, (uint64_t[]){ a->dims[ta], b->dims[!tb] }, a->type);
}

static bool shape_matmul(const struct shape *s)
{
    uint64_t dims[ONNX_MAX_DIMS];
    if (!wants(s, 2))
        return false;
    const struct onnx_value *a = onnx_in(s->m, s->n, 0), *b = onnx_in(s->m, s->n, 1);
    if (a->n_dims < 2 || b->n_dims < 2)
        return REFUSE(s, "a product with a vector is not modelled; unsqueeze it to a matrix");
    if (a->dims[a->n_dims - 1] != b->dims[b->n_dims - 2])
        return REFUSE(s, "inner sizes %" PRIu64 " and %" PRIu64 " differ", a->dims[a->n_dims - 1], b->dims[b->n_dims - 2]);
    uint32_t n = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
    for (uint32_t i = 0; i + 2 < n; i++) {
        uint64_t da = i + a->n_dims < n ? 1 : a->dims[i + a->n_dims - n], db = i + b->n_dims < n ? 1 : b->dims[i + b->n_dims - n];
        if (da != db && da != 1 && db != 1)
            return REFUSE(s, "stacks of %" PRIu64 " and %" PRIu64 " matrices", da, db);
        dims[i] = da > db ? da : db;
    }
    dims[n - 2] = a->dims[a->n_dims - 2];
    dims[n - 1] = b->dims[b->n_dims - 1];
    return set_out(s, 0, n, dims, a->type);
}

/* [steps, batch, width] (layout 0) to [steps, directions, batch, hidden], and the last states. */
static bool shape_lstm(const struct shape *s)
{
    if (!wants(s, 3))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *r = onnx_in(s->m, s->n, 2);
    if (x->n_dims != 3 || r->n_dims != 3)
        return REFUSE(s, "its input has %u dimensions, want 3", x->n_dims);
    uint64_t hidden = r->dims[2], directions = r->dims[0];
    return set_out(s, 0, 4, (uint64_t[]){ x->dims[0], directions, x->dims[1], hidden }, x->type) &&
           set_out(s, 1, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type) &&
           set_out(s, 2, 3, (uint64_t[]){ directions, x->dims[1], hidden }, x->type);
}

/* ---- other dimensions, the same elements ------------------------------------------------------------------ */

/* 0 keeps a dimension, -1 takes what is left. */
static bool fit_shape(uint64_t *dims, const struct onnx_list *list, const struct onnx_value *x)
{
    uint64_t known = 1, all = onnx_elements(x);
    uint32_t open = NO_ID;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->at[i] == -1)
            open = i;
        dims[i] = list->at[i] > 0 ? (uint64_t)list->at[i] : list->at[i] == 0 && i < x->n_dims ? x->dims[i] : 1;
        if (!dims[i] || dims[i] > all || known > all)
            return false;
        known *= dims[i];
    }
    if (open == NO_ID)
        return known == all;
    dims[open] = all / known;
    return all % known == 0;
}

/* Where the file fixes the batch, a shape that begins with it means the recipe's. */
static bool shape_reshape(const struct shape *s)
{
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_list(&list, s->m, s->n, "shape", 1) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs; export with fixed or symbolic sizes");
    struct onnx_list mine = list;
    int64_t file = (int64_t)s->m->file_batch, batch = (int64_t)s->m->batch;
    bool names_batch = file && file != batch && !x->constant && list.n && list.at[0] > 0 && list.at[0] % file == 0;
    if (names_batch)
        mine.at[0] = list.at[0] / file * batch;
    if (!(names_batch && fit_shape(dims, &mine, x)) && !fit_shape(dims, &list, x))
        return REFUSE(s, "%" PRIu64 " elements do not fit the shape it asks for; was it exported for one batch size? use a symbolic one",
                      onnx_elements(x));
    return set_out(s, 0, list.n, dims, x->type);
}

static bool shape_flatten(const struct shape *s)
{
    uint32_t axis;
    uint64_t dims[2] = { 1, 1 };
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 1), x->n_dims + 1))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < x->n_dims; i++)
        dims[i >= axis] *= x->dims[i];
    return set_out(s, 0, 2, dims, x->type);
}

static bool shape_transpose(const struct shape *s)
{
    struct onnx_list order;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t seen = 0;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    onnx_list(&order, s->m, s->n, "perm", NO_ID);
    for (uint32_t i = 0; i < x->n_dims; i++) {
        uint32_t from = order.n == x->n_dims ? (uint32_t)order.at[i] : x->n_dims - 1 - i;
        if (from >= x->n_dims)
            return REFUSE(s, "perm names dimension %u of %u", from, x->n_dims);
        seen |= 1u << from;
        dims[i] = x->dims[from];
    }
    if (seen != (1u << x->n_dims) - 1)
        return REFUSE(s, "perm does not name each dimension once");
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_squeeze(const struct shape *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t gone = 0, n = 0, axis;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_list(&axes, s->m, s->n, "axes", 1))
        return REFUSE(s, "its axes are not known");
    for (uint32_t i = 0; i < axes.n; i++) {
        if (!onnx_axis(&axis, axes.at[i], x->n_dims) || x->dims[axis] != 1)
            return REFUSE(s, "axis %" PRId64 " is not of size 1", axes.at[i]);
        gone |= 1u << axis;
    }
    for (uint32_t i = 0; i < x->n_dims; i++)
        if (axes.n ? !(gone >> i & 1) : x->dims[i] != 1)
            dims[n++] = x->dims[i];
    return set_out(s, 0, n, dims, x->type);
}

static bool shape_unsqueeze(const struct shape *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    uint32_t axis, added = 0, k = 0;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_list(&axes, s->m, s->n, "axes", 1) || x->n_dims + axes.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its axes are not known, or make more than %d dimensions", ONNX_MAX_DIMS);
    for (uint32_t i = 0; i < axes.n; i++) {
        if (!onnx_axis(&axis, axes.at[i], x->n_dims + axes.n))
            return REFUSE(s, "axis %" PRId64 " is out of range", axes.at[i]);
        added |= 1u << axis;
    }
    for (uint32_t i = 0; i < x->n_dims + axes.n; i++)
        dims[i] = added >> i & 1 || k >= x->n_dims ? 1 : x->dims[k++];
    return set_out(s, 0, x->n_dims + axes.n, dims, x->type);
}

/* ---- parts and wholes ---------------------------------------------------------------------------------------- */

static bool shape_concat(const struct shape *s)
{
    uint32_t axis;
    if (!wants(s, s->n->n_inputs ? s->n->n_inputs : 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS];
    copy_dims(dims, x);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), x->n_dims))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 1; i < s->n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        for (uint32_t d = 0; d < x->n_dims; d++)
            if (v->n_dims != x->n_dims || (d != axis && v->dims[d] != x->dims[d]))
                return REFUSE(s, "its inputs %.60s and %.60s differ in another dimension than %u", x->name, v->name, axis);
        dims[axis] += v->dims[axis];
    }
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_split(const struct shape *s)
{
    struct onnx_list sizes;
    uint32_t axis, n = s->n->n_outputs;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS], left;
    copy_dims(dims, x);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), x->n_dims) || !onnx_list(&sizes, s->m, s->n, "split", 1))
        return REFUSE(s, "its axis is out of range, or its sizes are not known");
    left = x->dims[axis];
    for (uint32_t i = 0; i < n; i++) {
        uint64_t part = sizes.n == n ? (uint64_t)sizes.at[i] : i + 1 < n ? ceil_div(x->dims[axis], n) : left;
        if (part > left)
            return REFUSE(s, "its parts are larger than the %" PRIu64 " it splits", x->dims[axis]);
        left -= part;
        dims[axis] = part;
        if (!set_out(s, i, x->n_dims, dims, x->type))
            return false;
    }
    return left == 0 ? true : REFUSE(s, "its parts leave %" PRIu64 " over", left);
}

/* First and last but one by axis; steps of 1 or -1 or more. */
static bool shape_slice(const struct shape *s)
{
    struct onnx_list starts, ends, axes, steps;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS];
    copy_dims(dims, x);
    if (!onnx_list(&starts, s->m, s->n, "starts", 1) || !onnx_list(&ends, s->m, s->n, "ends", 2) ||
        !onnx_list(&axes, s->m, s->n, "axes", 3) || !onnx_list(&steps, s->m, s->n, "steps", 4) || starts.n != ends.n)
        return REFUSE(s, "its range is computed while the model runs");
    for (uint32_t i = 0; i < starts.n; i++) {
        uint32_t axis;
        int64_t step = steps.n > i ? steps.at[i] : 1;
        if (!onnx_axis(&axis, axes.n > i ? axes.at[i] : i, x->n_dims) || step == 0)
            return REFUSE(s, "axis or step out of range");
        int64_t size = (int64_t)x->dims[axis], from = starts.at[i] + (starts.at[i] < 0 ? size : 0);
        int64_t to = ends.at[i] + (ends.at[i] < 0 && ends.at[i] > INT64_MIN / 2 ? size : 0);
        int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
        from = from < 0 ? 0 : from > high ? high : from;
        to = to < low ? low : to > size ? size : to;
        int64_t count = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
        dims[axis] = count > 0 ? (uint64_t)count : 0;
    }
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_gather(const struct shape *s)
{
    uint32_t axis;
    uint64_t dims[2 * ONNX_MAX_DIMS];
    if (!wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *at = onnx_in(s->m, s->n, 1);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), x->n_dims))
        return REFUSE(s, "axis is out of range");
    uint32_t n = 0;
    for (uint32_t i = 0; i < axis; i++)
        dims[n++] = x->dims[i];
    for (uint32_t i = 0; i < at->n_dims; i++)
        dims[n++] = at->dims[i];
    for (uint32_t i = axis + 1; i < x->n_dims; i++)
        dims[n++] = x->dims[i];
    return set_out(s, 0, n, dims, x->type);
}

static bool shape_pad(const struct shape *s)
{
    struct onnx_list pads;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_list(&pads, s->m, s->n, "pads", 1) || pads.n != 2 * x->n_dims)
        return REFUSE(s, "its pads are not known, or not two for each of %u dimensions", x->n_dims);
    for (uint32_t i = 0; i < x->n_dims; i++) {
        int64_t size = (int64_t)x->dims[i] + pads.at[i] + pads.at[x->n_dims + i];
        if (size < 1)
            return REFUSE(s, "its pads leave nothing");
        dims[i] = (uint64_t)size;
    }
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool shape_expand(const struct shape *s)
{
    struct onnx_list list;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[2 * ONNX_MAX_DIMS];
    if (!onnx_list(&list, s->m, s->n, "shape", 1) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs");
    uint32_t n = list.n > x->n_dims ? list.n : x->n_dims;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t mine = i + x->n_dims < n ? 1 : x->dims[i + x->n_dims - n];
        uint64_t theirs = i + list.n < n ? 1 : (uint64_t)(list.at[i + list.n - n] > 0 ? list.at[i + list.n - n] : 1);
        dims[i] = mine > theirs ? mine : theirs;
    }
    return set_out(s, 0, n, dims, x->type);
}

static bool shape_tile(const struct shape *s)
{
    struct onnx_list list;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_list(&list, s->m, s->n, "repeats", 1) || list.n != x->n_dims)
        return REFUSE(s, "its repeats are not known");
    for (uint32_t i = 0; i < x->n_dims; i++)
        dims[i] = x->dims[i] * (uint64_t)(list.at[i] > 0 && list.at[i] < 65536 ? list.at[i] : 1);
    return set_out(s, 0, x->n_dims, dims, x->type);
}

/* Scales, or sizes: Upsample has scales as input 1, Resize as input 1 (opset 10) or 2, sizes as input 3. */
static bool shape_resize(const struct shape *s)
{
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *sizes = onnx_in(s->m, s->n, 3), *scales = onnx_in(s->m, s->n, 2);
    uint64_t dims[ONNX_MAX_DIMS];
    if (!scales || (scales->shaped && onnx_elements(scales) == 0))
        scales = s->n->n_inputs <= 2 ? onnx_in(s->m, s->n, 1) : scales;
    bool by_sizes = sizes && sizes->known && onnx_elements(sizes) == x->n_dims;
    if (!by_sizes && !(scales && scales->known && onnx_elements(scales) == x->n_dims))
        return REFUSE(s, "its scales or sizes are not known");
    for (uint32_t i = 0; i < x->n_dims; i++) {
        double size = by_sizes ? sizes->known[i] : (double)x->dims[i] * scales->known[i] + 1e-6;
        if (!(size >= 1 && size <= UINT32_MAX))
            return REFUSE(s, "makes %g of dimension %u", size, i);
        dims[i] = (uint64_t)size;
    }
    return set_out(s, 0, x->n_dims, dims, x->type);
}

static bool blocks(const struct shape *s, bool to_space)
{
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t b = (uint64_t)onnx_int(s->n, "blocksize", 1);
    if (x->n_dims != 4 || !b || b > 1024 || (to_space ? x->dims[1] % (b * b) : x->dims[2] % b || x->dims[3] % b))
        return REFUSE(s, "blocksize does not divide its input");
    return to_space ? set_out(s, 0, 4, (uint64_t[]){ x->dims[0], x->dims[1] / (b * b), x->dims[2] * b, x->dims[3] * b }, x->type)
                    : set_out(s, 0, 4, (uint64_t[]){ x->dims[0], x->dims[1] * b * b, x->dims[2] / b, x->dims[3] / b }, x->type);
}
static bool shape_depth_to_space(const struct shape *s) { return blocks(s, true); }
static bool shape_space_to_depth(const struct shape *s) { return blocks(s, false); }

static bool shape_reduce(const struct shape *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t gone = 0, n = 0, axis;
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_list(&axes, s->m, s->n, "axes", 1))
        return REFUSE(s, "its axes are not known");
    if (axes.n == 0 && onnx_int(s->n, "noop_with_empty_axes", 0))
        return set_out(s, 0, x->n_dims, x->dims, x->type);
    for (uint32_t i = 0; i < axes.n; i++) {
        if (!onnx_axis(&axis, axes.at[i], x->n_dims))
            return REFUSE(s, "axis %" PRId64 " is out of range", axes.at[i]);
        gone |= 1u << axis;
    }
    for (uint32_t i = 0; i < x->n_dims; i++)
        if (axes.n && !(gone >> i & 1))
            dims[n++] = x->dims[i];
        else if (onnx_int(s->n, "keepdims", 1))
            dims[n++] = 1;
    return set_out(s, 0, n, dims, x->type);
}

static bool shape_argmax(const struct shape *s)
{
    uint32_t axis, n = 0;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), x->n_dims))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < x->n_dims; i++)
        if (i != axis)
            dims[n++] = x->dims[i];
        else if (onnx_int(s->n, "keepdims", 1))
            dims[n++] = 1;
    return set_out(s, 0, n, dims, ONNX_INT64);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static bool shape_constant(const struct shape *s)
{
    const Onnx__AttributeProto *p = onnx_attribute(s->n, "value");
    uint64_t dims[ONNX_MAX_DIMS];
    if (!p || !p->t) {
        p = onnx_attribute(s->n, "value_ints");
        p = p ? p : onnx_attribute(s->n, "value_floats");
        uint64_t n = p ? p->n_ints + p->n_floats : 1;
        return set_out(s, 0, p != NULL, &n, onnx_attribute(s->n, "value_float") || (p && p->n_floats) ? ONNX_FLOAT : ONNX_INT64);
    }
    if (p->t->n_dims > ONNX_MAX_DIMS)
        return REFUSE(s, "more than %d dimensions", ONNX_MAX_DIMS);
    for (size_t i = 0; i < p->t->n_dims; i++)
        dims[i] = p->t->dims[i] >= 0 ? (uint64_t)p->t->dims[i] : 0;
    return set_out(s, 0, (uint32_t)p->t->n_dims, dims, p->t->data_type);
}

static bool shape_of_shape(const struct shape *s)
{
    if (!wants(s, 1))
        return false;
    return set_out(s, 0, 1, (uint64_t[]){ onnx_in(s->m, s->n, 0)->n_dims }, ONNX_INT64);
}

static bool shape_constant_of_shape(const struct shape *s)
{
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    const Onnx__AttributeProto *value = onnx_attribute(s->n, "value");
    if (!onnx_list(&list, s->m, s->n, "shape", 0) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs");
    for (uint32_t i = 0; i < list.n; i++)
        dims[i] = list.at[i] > 0 ? (uint64_t)list.at[i] : 0;
    return set_out(s, 0, list.n, dims, value && value->t ? value->t->data_type : ONNX_FLOAT);
}

static bool shape_range(const struct shape *s)
{
    const struct onnx_value *from = onnx_in(s->m, s->n, 0), *to = onnx_in(s->m, s->n, 1), *by = onnx_in(s->m, s->n, 2);
    if (!from || !to || !by || !from->known || !to->known || !by->known || by->known[0] == 0)
        return REFUSE(s, "its limits are computed while the model runs");
    double n = (to->known[0] - from->known[0]) / by->known[0];
    uint64_t count = n > 0 && n < 1e9 ? (uint64_t)(n + 0.999999) : 0;
    return set_out(s, 0, 1, &count, from->type);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

static const struct shape_rule { const char *op; bool (*shape)(const struct shape *s); } rules[] = {
    { "Conv", shape_conv }, { "ConvTranspose", shape_conv_transpose }, { "Gemm", shape_gemm }, { "MatMul", shape_matmul },
    { "LSTM", shape_lstm },
    { "MaxPool", shape_pool }, { "AveragePool", shape_pool }, { "GlobalAveragePool", shape_global_pool },
    { "GlobalMaxPool", shape_global_pool },
    { "Relu", like_input }, { "LeakyRelu", like_input }, { "PRelu", like_input }, { "Elu", like_input }, { "Selu", like_input },
    { "Sigmoid", like_input }, { "HardSigmoid", like_input }, { "HardSwish", like_input }, { "Swish", like_input },
    { "Mish", like_input }, { "Softplus", like_input }, { "Tanh", like_input }, { "Gelu", like_input }, { "Erf", like_input },
    { "Exp", like_input }, { "Log", like_input }, { "Sqrt", like_input }, { "Neg", like_input }, { "Abs", like_input },
    { "Reciprocal", like_input }, { "Clip", like_input }, { "Identity", like_input }, { "Dropout", like_input },
    { "Not", like_input }, { "Floor", like_input }, { "Ceil", like_input }, { "Round", like_input }, { "Sin", like_input },
    { "Cos", like_input }, { "Softmax", like_input }, { "LogSoftmax", like_input }, { "BatchNormalization", like_input },
    { "InstanceNormalization", like_input }, { "GroupNormalization", like_input }, { "LayerNormalization", like_input },
    { "LRN", like_input }, { "Trilu", like_input }, { "CumSum", like_input }, { "ScatterND", like_input },
    { "Cast", shape_cast },
    { "Add", shape_numbers }, { "Sub", shape_numbers }, { "Mul", shape_numbers }, { "Div", shape_numbers }, { "Pow", shape_numbers },
    { "Max", shape_numbers }, { "Min", shape_numbers }, { "Sum", shape_numbers }, { "Mean", shape_numbers }, { "Mod", shape_numbers },
    { "Equal", shape_truth }, { "Greater", shape_truth }, { "Less", shape_truth }, { "GreaterOrEqual", shape_truth },
    { "LessOrEqual", shape_truth }, { "And", shape_truth }, { "Or", shape_truth }, { "Where", shape_where },
    { "Reshape", shape_reshape }, { "Flatten", shape_flatten }, { "Transpose", shape_transpose }, { "Squeeze", shape_squeeze },
    { "Unsqueeze", shape_unsqueeze }, { "Concat", shape_concat }, { "Split", shape_split }, { "Slice", shape_slice },
    { "Gather", shape_gather }, { "Pad", shape_pad }, { "Expand", shape_expand }, { "Tile", shape_tile }, { "Resize", shape_resize },
    { "Upsample", shape_resize }, { "DepthToSpace", shape_depth_to_space }, { "SpaceToDepth", shape_space_to_depth },
    { "ReduceMean", shape_reduce }, { "ReduceSum", shape_reduce }, { "ReduceMax", shape_reduce }, { "ReduceMin", shape_reduce },
    { "ReduceProd", shape_reduce }, { "ReduceL2", shape_reduce }, { "ArgMax", shape_argmax }, { "ArgMin", shape_argmax },
    { "Constant", shape_constant }, { "ConstantOfShape", shape_constant_of_shape }, { "Shape", shape_of_shape }, { "Range", shape_range },
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
    return rule->shape(&s);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------------- */

static bool symbolic_names(const char ***names, size_t *n, const struct onnx_model *m)
{
    *names = ARENA_ARRAY(m->arena, const char *, m->n_inputs * ONNX_MAX_DIMS + 1);
    *n = 0;
    for (size_t i = 0; i < m->n_inputs; i++)
        for (uint32_t d = 1; d < m->values[m->inputs[i]].n_dims; d++) {
            const char *name = m->values[m->inputs[i]].dim_names[d];
            bool seen = !name;
            for (size_t k = 0; k < *n && !seen; k++)
                seen = text_is((*names)[k], name);
            if (!seen)
                (*names)[(*n)++] = name;
        }
    return *n > 0;
}

static bool check_names(const struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    const char **names;
    size_t n;
    symbolic_names(&names, &n, m);
    for (size_t i = 0; i < o->n_dimensions; i++) {
        bool found = false;
        for (size_t k = 0; k < n && !found; k++)
            found = text_is(names[k], o->dimensions[i].name);
        if (!found)
            return fail(err, "%s: data.%s: the model has no symbolic dimension of this name; %s%s", m->path, o->dimensions[i].name,
                        n ? "its dimensions: " : "it has none but the batch", n ? names_list(names, n, m->arena) : "");
    }
    return true;
}

static bool settle_input(struct onnx_model *m, struct onnx_value *v, const struct onnx_options *o, struct err *err)
{
    if (!v->shaped)
        return fail(err, "%s: input %.80s has no shape; export the model with shapes", m->path, v->name);
    for (uint32_t d = 0; d < v->n_dims; d++) {
        const char *name = v->dim_names[d];
        if (d == 0 && (name || v->dims[0] == m->file_batch))
            v->dims[0] = o->batch;
        for (size_t i = 0; i < o->n_dimensions && d > 0 && name; i++)
            if (text_is(o->dimensions[i].name, name))
                v->dims[d] = o->dimensions[i].size;
        if (v->dims[d] == 0)
            return fail(err, "%s: input %.60s: the size of its dimension '%.60s' is not known; give it: --set data.%.60s=128", m->path,
                        v->name, name, name);
    }
    return true;
}

/* As the file says, or as its first input has it. */
static void guess_shape(const struct onnx_model *m, struct onnx_value *out, const struct onnx_value *x)
{
    if (!out->shaped) {
        out->type = x->type;
        out->n_dims = x->n_dims;
        memcpy(out->dims, x->dims, sizeof out->dims);
    }
    out->shaped = true;
    for (uint32_t d = 0; d < out->n_dims; d++)
        if (!out->dims[d])
            out->dims[d] = d == 0 ? m->batch : 1;
}

static bool guess_shapes(const struct onnx_model *m, const struct onnx_node *n, bool approximate, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, n, 0);
    if (!approximate)
        return onnx_refuse(m, n, err, "this operator is not modelled; change the model, or price it roughly with --approximate");
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        struct onnx_value *out = onnx_out(m, n, k);
        if (out && !out->shaped && !(x && x->shaped))
            return onnx_refuse(m, n, err, "this operator is not modelled, and neither its result nor its input has a shape");
        if (out)
            guess_shape(m, out, x);
    }
    return true;
}

bool onnx_infer(struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    m->batch = o->batch;
    if (!check_names(m, o, err))
        return false;
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct onnx_value *v = &m->values[m->inputs[i]];
        if (v->n_dims && !m->file_batch)
            m->file_batch = v->dims[0];
        if (!settle_input(m, v, o, err))
            return false;
    }
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct onnx_node *n = &m->nodes[i];
        bool known = find_rule(n->op) != NULL;
        if (known ? !onnx_shape_node(m, n, err) : !guess_shapes(m, n, o->approximate, err))
            return false;
        if (known)
            onnx_fold(m, n);
    }
    return true;
}
