/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape_moves.c - shape rules of operators that view, cut, join, repeat, resize or reduce elements.
 */
#include "workloads/onnx/onnx_shapes.h"
#include <inttypes.h>
#include <math.h>

/* ---- other dimensions, the same elements ------------------------------------------------------------------ */

/* 0 keeps a dimension, -1 takes the remaining elements. */
static bool fit_shape(uint64_t *dims, const struct onnx_list *list, const struct onnx_value *x)
{
    uint64_t known = 1, all = onnx_elements(x);
    uint32_t open = NO_ID;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t asked = list->at[i];
        if (asked == -1 && open != NO_ID)
            return false;
        if (asked == -1)
            open = i;
        bool kept = i < x->n_dims && asked == 0;
        dims[i] = kept ? x->dims[i] : asked == -1 ? 1 : (uint64_t)asked;    /* any other negative number becomes too large a size */
        if (!dims[i] || dims[i] > all || known > all)
            return false;
        known *= dims[i];
    }
    if (open == NO_ID)
        return known == all;
    dims[open] = all / known;
    return all % known == 0;
}

/* A shape whose first dimension is a multiple of the batch that the file fixes means the recipe's batch. */
bool infer_reshape(const struct inference *s)
{
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_list(&list, s->m, s->n, "shape", 1) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs; export with fixed or symbolic sizes");
    struct onnx_list mine = list;
    int64_t file = (int64_t)s->m->file_batch, batch = (int64_t)s->m->batch;
    bool names_batch = file && file != batch && !s->x->constant && list.n && list.at[0] % file == 0;
    if (names_batch)
        mine.at[0] = list.at[0] / file * batch;
    if (!(names_batch && fit_shape(dims, &mine, s->x)) && !fit_shape(dims, &list, s->x))
        return REFUSE(s, "%" PRIu64 " elements do not fit the shape it asks for; was it exported for one batch size? use a symbolic one",
                      onnx_elements(s->x));
    return infer_set(s, 0, list.n, dims, s->x->type);
}

bool infer_flatten(const struct inference *s)
{
    uint32_t axis;
    uint64_t dims[2] = { 1, 1 };
    int64_t given = onnx_int(s->n, "axis", 1);     /* the axis may be one past the last dimension */
    if (!onnx_axis(&axis, given < 0 ? given + s->x->n_dims : given, s->x->n_dims + 1))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        dims[i >= axis] *= s->x->dims[i];
    return infer_set(s, 0, 2, dims, s->x->type);
}

bool infer_transpose(const struct inference *s)
{
    struct onnx_list order;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t seen = 0;
    if (!onnx_list(&order, s->m, s->n, "perm", NO_ID) || (order.n && order.n != s->x->n_dims))
        return REFUSE(s, "perm names %u dimensions of %u", order.n, s->x->n_dims);
    for (uint32_t i = 0; i < s->x->n_dims; i++) {
        uint32_t from = order.n ? (uint32_t)order.at[i] : s->x->n_dims - 1 - i;
        if (from >= s->x->n_dims)
            return REFUSE(s, "perm names dimension %u of %u", from, s->x->n_dims);
        seen |= 1u << from;
        dims[i] = s->x->dims[from];
    }
    if (seen != (1u << s->x->n_dims) - 1)
        return REFUSE(s, "perm does not name each dimension once");
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

/* The axes given, as a list and as bits. of_one: the sizes along them must be 1. */
static bool given_axes(struct onnx_list *axes, uint32_t *bits, const struct inference *s, const struct onnx_value *x, bool of_one)
{
    uint32_t axis;
    *bits = 0;
    if (!onnx_list(axes, s->m, s->n, "axes", 1))
        return REFUSE(s, "its axes are not known");
    for (uint32_t i = 0; i < axes->n; i++) {
        if (!onnx_axis(&axis, axes->at[i], x->n_dims) || (of_one && x->dims[axis] != 1))
            return of_one ? REFUSE(s, "axis %" PRId64 " is not of size 1", axes->at[i])
                          : REFUSE(s, "axis %" PRId64 " is out of range", axes->at[i]);
        *bits |= 1u << axis;
    }
    return true;
}

bool infer_squeeze(const struct inference *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t gone, n = 0;
    if (!given_axes(&axes, &gone, s, s->x, true))
        return false;
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        if (axes.n ? !(gone >> i & 1) : s->x->dims[i] != 1)
            dims[n++] = s->x->dims[i];
    return infer_set(s, 0, n, dims, s->x->type);
}

bool infer_unsqueeze(const struct inference *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    uint32_t axis, added = 0, k = 0;
    if (!onnx_list(&axes, s->m, s->n, "axes", 1) || s->x->n_dims + axes.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its axes are not known, or make more than %d dimensions", ONNX_MAX_DIMS);
    for (uint32_t i = 0; i < axes.n; i++) {
        if (!onnx_axis(&axis, axes.at[i], s->x->n_dims + axes.n))
            return REFUSE(s, "axis %" PRId64 " is out of range", axes.at[i]);
        added |= 1u << axis;
    }
    for (uint32_t i = 0; i < s->x->n_dims + axes.n; i++)
        dims[i] = added >> i & 1 || k >= s->x->n_dims ? 1 : s->x->dims[k++];
    return infer_set(s, 0, s->x->n_dims + axes.n, dims, s->x->type);
}

/* ---- joins and parts ------------------------------------------------------------------------------------------ */

/* True if a constant for one sample, in a file whose batch is 1, counts as repeated for each of the recipe's samples. */
static bool repeats_for_samples(const struct inference *s, const struct onnx_value *v, uint64_t samples)
{
    return v->constant && s->m->file_batch == 1 && v->n_dims > 1 && v->dims[0] == 1 && samples == s->m->batch;
}

bool infer_concat(const struct inference *s)
{
    uint32_t axis;
    const struct onnx_value *x = s->x;
    uint64_t dims[ONNX_MAX_DIMS];
    for (uint32_t i = 1; i < s->n->n_inputs && repeats_for_samples(s, x, s->m->batch); i++)
        x = onnx_in(s->m, s->n, i);
    onnx_copy_dims(dims, x);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), x->n_dims))
        return REFUSE(s, "axis is out of range");
    dims[axis] = 0;
    for (uint32_t i = 0; i < s->n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(s->m, s->n, i);
        for (uint32_t d = 0; d < x->n_dims; d++)
            if (v->n_dims != x->n_dims || (d != axis && v->dims[d] != x->dims[d] && !(d == 0 && repeats_for_samples(s, v, x->dims[0]))))
                return REFUSE(s, "its inputs %.60s and %.60s differ in another dimension than %u%s", x->name, v->name, axis,
                              infer_batch_hint(s));
        dims[axis] += v->dims[axis];
    }
    return infer_set(s, 0, x->n_dims, dims, x->type);
}

/* One size for each part; by default equal parts, the last one smaller. */
static bool split_sizes(uint64_t *parts, const struct inference *s, uint64_t whole)
{
    const Onnx__AttributeProto *given = onnx_attribute(s->n, "split");
    const struct onnx_value *sizes = onnx_in(s->m, s->n, 1);
    uint64_t n = s->n->n_outputs, part = ceil_div(whole, n);
    if (sizes ? !sizes->known || onnx_elements(sizes) != n : given && given->n_ints != n)
        return false;
    for (uint64_t i = 0; i < n; i++)
        parts[i] = sizes ? (uint64_t)onnx_whole(sizes->known[i]) : given ? (uint64_t)given->ints[i]
                 : i + 1 < n ? part : whole - min_u64(i * part, whole);
    return true;
}

bool infer_split(const struct inference *s)
{
    uint32_t axis, n = s->n->n_outputs;
    uint64_t dims[ONNX_MAX_DIMS], left, *parts = ARENA_ARRAY(s->m->arena, uint64_t, n);
    onnx_copy_dims(dims, s->x);
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), s->x->n_dims) || !split_sizes(parts, s, s->x->dims[axis]))
        return REFUSE(s, "its axis is out of range, or its sizes are not known, or not as many as its parts");
    left = s->x->dims[axis];
    for (uint32_t i = 0; i < n; i++) {
        uint64_t part = parts[i];
        if (part > left)
            return REFUSE(s, "its parts are larger than the %" PRIu64 " it splits", s->x->dims[axis]);
        left -= part;
        dims[axis] = part;
        if (!infer_set(s, i, s->x->n_dims, dims, s->x->type))
            return false;
    }
    return left == 0 ? true : REFUSE(s, "its parts leave %" PRIu64 " over", left);
}

/* Negative ends count from the last element; ends out of range are clamped. */
static void clamp_cut(struct onnx_cut *c, int64_t from, int64_t to, int64_t size)
{
    bool forwards = c->step >= 1;
    int64_t last = forwards ? size : size - 1;
    from = from < 0 ? from + size : from;
    to = to < 0 ? to + size : to;
    c->from = from < 0 ? 0 : from > last ? last : from;
    to = to < -1 ? -1 : to > size ? size : to;
    int64_t span = forwards ? to - c->from : c->from - to;
    span = span > 0 ? span : 0;
    c->n = ceil_div((uint64_t)span, forwards ? (uint64_t)c->step : -(uint64_t)c->step);
}

/* By default the axes are the first ones and the steps 1. No axis may occur twice. */
bool onnx_cuts(struct onnx_cuts *out, const struct onnx_model *m, const struct onnx_node *n)
{
    struct onnx_list starts, ends, axes, steps;
    const struct onnx_value *x = onnx_in(m, n, 0);
    uint32_t seen = 0;
    *out = (struct onnx_cuts){ .good = true };
    if (!onnx_list(&starts, m, n, "starts", 1) || !onnx_list(&ends, m, n, "ends", 2) || !onnx_list(&axes, m, n, "axes", 3) ||
        !onnx_list(&steps, m, n, "steps", 4) || starts.n != ends.n)
        return false;
    out->good = (!axes.n || axes.n == starts.n) && (!steps.n || steps.n == starts.n);
    for (; out->n < starts.n && out->good; out->n++) {
        struct onnx_cut *c = &out->at[out->n];
        c->step = steps.n ? steps.at[out->n] : 1;
        out->good = onnx_axis(&c->axis, axes.n ? axes.at[out->n] : out->n, x->n_dims) && c->step != 0 && !(seen >> c->axis & 1);
        if (!out->good)
            break;
        seen |= 1u << c->axis;
        clamp_cut(c, starts.at[out->n], ends.at[out->n], (int64_t)x->dims[c->axis]);
    }
    return true;
}

bool infer_slice(const struct inference *s)
{
    struct onnx_cuts cuts;
    uint64_t dims[ONNX_MAX_DIMS];
    onnx_copy_dims(dims, s->x);
    if (!onnx_cuts(&cuts, s->m, s->n) && s->m->approximate)
        onnx_out(s->m, s->n, 0)->largest = true;
    if (!onnx_cuts(&cuts, s->m, s->n))
        return s->m->approximate ? infer_set(s, 0, s->x->n_dims, dims, s->x->type) : REFUSE(s, "its range is computed while the model runs");
    if (!cuts.good)
        return REFUSE(s, "axis or step out of range or given twice, or not one for each of its ranges");
    for (uint32_t i = 0; i < cuts.n; i++)
        dims[cuts.at[i].axis] = cuts.at[i].n;
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

bool infer_gather(const struct inference *s)
{
    uint32_t axis;
    uint64_t dims[2 * ONNX_MAX_DIMS];
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), s->x->n_dims))
        return REFUSE(s, "axis is out of range");
    uint32_t n = 0;
    for (uint32_t i = 0; i < axis; i++)
        dims[n++] = s->x->dims[i];
    for (uint32_t i = 0; i < s->y->n_dims; i++)
        dims[n++] = s->y->dims[i];
    for (uint32_t i = axis + 1; i < s->x->n_dims; i++)
        dims[n++] = s->x->dims[i];
    return infer_set(s, 0, n, dims, s->x->type);
}

bool infer_gather_elements(const struct inference *s)
{
    uint32_t axis;
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), s->x->n_dims) || s->y->n_dims != s->x->n_dims)
        return REFUSE(s, "axis is out of range, or its indices have %u dimensions beside %u", s->y->n_dims, s->x->n_dims);
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        if (i != axis && s->y->dims[i] > s->x->dims[i])
            return REFUSE(s, "its indices are larger than its input in dimension %u", i);
    return infer_set(s, 0, s->y->n_dims, s->y->dims, s->x->type);
}

/* From opset 18 on, some axes alone may be padded. */
bool onnx_pads(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, uint32_t n_dims)
{
    struct onnx_list given, axes;
    if (!onnx_list(&given, m, n, "pads", 1) || !onnx_list(&axes, m, n, "axes", 3))
        return false;
    *out = given;
    if (axes.n == 0)
        return given.n == 2 * n_dims;
    *out = (struct onnx_list){ .n = 2 * n_dims };
    for (uint32_t i = 0; i < axes.n; i++) {
        uint32_t axis;
        if (!onnx_axis(&axis, axes.at[i], n_dims) || given.n != 2 * axes.n)
            return false;
        out->at[axis] = given.at[i];
        out->at[n_dims + axis] = given.at[axes.n + i];
    }
    return true;
}

bool infer_pad(const struct inference *s)
{
    struct onnx_list pads;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_pads(&pads, s->m, s->n, s->x->n_dims))
        return REFUSE(s, "its pads are not known, or not two for each of %u dimensions", s->x->n_dims);
    for (uint32_t i = 0; i < s->x->n_dims; i++) {
        int64_t size = (int64_t)s->x->dims[i] + pads.at[i] + pads.at[s->x->n_dims + i];
        if (size < 1)
            return REFUSE(s, "its pads leave nothing");
        dims[i] = (uint64_t)size;
    }
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

bool infer_expand(const struct inference *s)
{
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_list(&list, s->m, s->n, "shape", 1) || list.n > ONNX_MAX_DIMS)
        return REFUSE(s, "its shape is computed while the model runs");
    uint32_t n = max_u32(list.n, s->x->n_dims);
    for (uint32_t i = 0; i < n; i++) {
        int64_t mine = i + s->x->n_dims < n ? 1 : (int64_t)s->x->dims[i + s->x->n_dims - n], asked = i + list.n < n ? 1 : list.at[i + list.n - n];
        int64_t size = asked > mine ? asked : mine;
        dims[i] = (uint64_t)size;
    }
    return infer_set(s, 0, n, dims, s->x->type);
}

bool infer_tile(const struct inference *s)
{
    enum { MOST_REPEATS = 65535 };
    struct onnx_list list;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_list(&list, s->m, s->n, "repeats", 1) || list.n != s->x->n_dims)
        return REFUSE(s, "its repeats are not known");
    for (uint32_t i = 0; i < s->x->n_dims; i++) {
        if (list.at[i] < 1 || list.at[i] > MOST_REPEATS)
            return REFUSE(s, "repeats of %" PRId64 "; want 1 to %d", list.at[i], MOST_REPEATS);
        dims[i] = s->x->dims[i] * (uint64_t)list.at[i];
    }
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

/* The scales of an Upsample, which are an attribute (opset 7) or input 1, or of a Resize, in input 1 (opset 10) or 2. NULL unless there are n
 * known scales. */
static const double *resize_scales(const struct onnx_model *m, const struct onnx_node *node, uint32_t n)
{
    const Onnx__AttributeProto *old = onnx_attribute(node, "scales");
    const struct onnx_value *v = onnx_in(m, node, node->n_inputs > 2 ? 2 : 1);
    if (!old)
        return v && v->known && onnx_elements(v) == n ? v->known : NULL;
    double *scales = ARENA_ARRAY(m->arena, double, n);
    for (size_t i = 0; i < n && old->n_floats == n; i++)
        scales[i] = (double)old->floats[i];
    return old->n_floats == n ? scales : NULL;
}

/* The factors are the scales, or follow from the sizes in input 3. From opset 18 on, the smallest or the largest of those may be used for all axes
 * (keep_aspect_ratio_policy). */
bool onnx_resize_factors(double out[ONNX_MAX_DIMS], const struct onnx_model *m, const struct onnx_node *node)
{
    struct onnx_list axes;
    const struct onnx_value *x = onnx_in(m, node, 0), *sizes = onnx_in(m, node, 3);
    onnx_list(&axes, m, node, "axes", NO_ID);
    uint32_t n = axes.n ? axes.n : x->n_dims, axis[ONNX_MAX_DIMS];
    bool by_sizes = sizes && sizes->known && onnx_elements(sizes) == n;
    const double *scales = by_sizes ? NULL : resize_scales(m, node, n);
    const char *policy = onnx_string(node, "keep_aspect_ratio_policy", "stretch", m->arena);
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < x->n_dims; i++)
        out[i] = 1;
    if (!by_sizes && !scales)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        onnx_axis(&axis[i], axes.n ? axes.at[i] : i, x->n_dims);        /* infer_resize() has checked the axis */
        double factor = out[axis[i]] = by_sizes ? sizes->known[i] / (double)x->dims[axis[i]] : scales[i];
        least = fmin(least, factor);
        most = fmax(most, factor);
    }
    for (uint32_t i = 0; i < n && by_sizes && !text_is(policy, "stretch"); i++)
        out[axis[i]] = text_is(policy, "not_larger") ? least : most;
    return true;
}

bool infer_resize(const struct inference *s)
{
    double factors[ONNX_MAX_DIMS];
    uint64_t dims[ONNX_MAX_DIMS];
    const bool kept = !text_is(onnx_string(s->n, "keep_aspect_ratio_policy", "stretch", s->m->arena), "stretch");
    struct onnx_list axes;
    uint32_t axis;
    onnx_list(&axes, s->m, s->n, "axes", NO_ID);
    for (uint32_t i = 0; i < axes.n; i++)
        if (!onnx_axis(&axis, axes.at[i], s->x->n_dims))
            return REFUSE(s, "axis is out of range");
    if (!onnx_resize_factors(factors, s->m, s->n))
        return REFUSE(s, "its scales or sizes are not known");
    for (uint32_t i = 0; i < s->x->n_dims; i++) {
        double size = (double)s->x->dims[i] * factors[i] + (kept ? 0.5 : 1e-6);
        if (!(size >= 1 && size < UINT32_MAX + 1.0))
            return REFUSE(s, "makes %g of dimension %u", size, i);
        dims[i] = (uint64_t)size;
    }
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

static bool infer_blocks(const struct inference *s, bool to_space)
{
    const struct onnx_value *x = s->x;
    uint64_t b = (uint64_t)onnx_int(s->n, "blocksize", 0);
    if (x->n_dims != 4 || !b || b > 1024 || (to_space ? x->dims[1] % (b * b) : x->dims[2] % b || x->dims[3] % b))
        return REFUSE(s, "blocksize does not divide its input");
    return to_space ? infer_set(s, 0, 4, (uint64_t[]){ x->dims[0], x->dims[1] / (b * b), x->dims[2] * b, x->dims[3] * b }, x->type)
                    : infer_set(s, 0, 4, (uint64_t[]){ x->dims[0], x->dims[1] * b * b, x->dims[2] / b, x->dims[3] / b }, x->type);
}
bool infer_depth_to_space(const struct inference *s) { return infer_blocks(s, true); }
bool infer_space_to_depth(const struct inference *s) { return infer_blocks(s, false); }

bool infer_reduce(const struct inference *s)
{
    struct onnx_list axes;
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t gone, n = 0;
    if (!given_axes(&axes, &gone, s, s->x, false))
        return false;
    if (axes.n == 0 && onnx_flag(s->n, "noop_with_empty_axes", false))
        return infer_set(s, 0, s->x->n_dims, s->x->dims, s->x->type);
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        if (axes.n && !(gone >> i & 1))
            dims[n++] = s->x->dims[i];
        else if (onnx_flag(s->n, "keepdims", true))
            dims[n++] = 1;
    return infer_set(s, 0, n, dims, s->x->type);
}

bool infer_argmax(const struct inference *s)
{
    uint32_t axis, n = 0;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", 0), s->x->n_dims))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        if (i != axis)
            dims[n++] = s->x->dims[i];
        else if (onnx_flag(s->n, "keepdims", true))
            dims[n++] = 1;
    return infer_set(s, 0, n, dims, ONNX_INT64);
}

bool infer_loss(const struct inference *s)
{
    bool each = text_is(onnx_string(s->n, "reduction", "mean", s->m->arena), "none");
    return infer_set(s, 1, s->x->n_dims, s->x->dims, s->x->type) && infer_set(s, 0, each ? s->y->n_dims : 0, s->y->dims, s->x->type);
}

/* The grid is [batch, height, width, 2]. */
bool infer_grid_sample(const struct inference *s)
{
    if (s->x->n_dims != 4 || s->y->n_dims != 4)
        return REFUSE(s, "its input has %u dimensions, want 4", s->x->n_dims);
    return infer_set(s, 0, 4, (uint64_t[]){ s->x->dims[0], s->x->dims[1], s->y->dims[1], s->y->dims[2] }, s->x->type);
}

/* Quantised results have the type of the zero point, by default bytes; dequantised results have that of the scale. */
bool infer_quantize(const struct inference *s)
{
    const struct onnx_value *zero = onnx_in(s->m, s->n, 2);
    return infer_set(s, 0, s->x->n_dims, s->x->dims, zero ? zero->type : (int)onnx_int(s->n, "output_dtype", ONNX_UINT8));
}

bool infer_dequantize(const struct inference *s)
{
    return infer_set(s, 0, s->x->n_dims, s->x->dims, s->y->type);
}
