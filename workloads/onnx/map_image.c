/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_image.c - operators on images: convolutions, pooling, normalisation by channel, resizing.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_shapes.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Inputs after the first must be constants. */
static bool wants_constants(struct mapper *p)
{
    for (uint32_t i = 1; i < p->n->n_inputs; i++)
        if (map_in(p, i) && !map_in(p, i)->constant)
            return MAP_REFUSE(p, "its input %u, %.60s, is computed while the model runs; want a constant", i, map_in(p, i)->name);
    return true;
}

/* The last two spatial dimensions of a window. */
static struct op_attributes window_attributes(const struct onnx_window *w)
{
    uint32_t h = w->n - 2, x = w->n - 1;
    if (w->n == 1)
        return WITH(.kernel_h = 1, .kernel_w = w->kernel[0], .stride = 1, .stride_w = w->stride[0], .dilation = w->dilation[0],
                  .zeros = { 0, w->before[0], 0, w->after[0] });
    return WITH(.kernel_h = w->kernel[h], .kernel_w = w->kernel[x], .stride = w->stride[h], .stride_w = w->stride[x],
              .dilation = w->dilation[h], .zeros = { w->before[h], w->before[x], w->after[h], w->after[x] });
}

/* Operations of the graph have one dilation for both directions. */
static bool read_window(struct mapper *p, struct onnx_window *w)
{
    if (!onnx_window(w, p->m, p->n, p->err))
        return false;
    uint32_t h = w->n - 2, x = w->n - 1;
    if (w->n >= 2 && w->dilation[h] != w->dilation[x] && w->kernel[h] > 1 && w->kernel[x] > 1)
        return MAP_REFUSE(p, "dilations of %u and %u; want the same in both directions", w->dilation[h], w->dilation[x]);
    if (w->n >= 2 && w->kernel[h] == 1)
        w->dilation[h] = w->dilation[x];
    return true;
}

/* An image with a depth as [batch x depth, height, width, channels]. */
static uint32_t each_frame(struct mapper *p, uint32_t x, const struct onnx_value *v)
{
    return VIEW(p, x, v->dims[0] * v->dims[2], v->dims[3], v->dims[4], v->dims[1]);
}

/* Adds the zeros that a window needs if the number of results was rounded up (ceil_mode). */
static void widen_window(struct onnx_window *w, const struct onnx_value *x, const struct onnx_value *y)
{
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t reach = (y->dims[2 + i] - 1) * w->stride[i] + (uint64_t)(w->kernel[i] - 1) * w->dilation[i] + 1;
        uint64_t have = x->dims[2 + i] + w->before[i];
        w->after[i] = (uint32_t)(max_u64(reach, have) - have);
    }
}

/* ---- convolutions ----------------------------------------------------------------------------------------- */

/* For inference, a batch norm that is the only reader of a convolution is folded into it, as compilers do. */
static const struct onnx_node *norm_behind(const struct mapper *p)
{
    const struct onnx_node *norm = p->o->inference ? map_only_reader(p, p->n->outputs[0]) : NULL;
    return onnx_is(norm, ONNX_OP_BATCH_NORM) && !norm->gone && norm->inputs[0] == p->n->outputs[0] ? norm : NULL;
}

static void name_norm(const struct mapper *p, struct onnx_source *s, const struct onnx_node *norm)
{
    for (uint32_t i = 1; i < 7; i++)
        s->values[1 + i] = i < norm->n_inputs ? norm->inputs[i] : NO_ID;
    s->values[0] = map_in_id(p, 1);
    s->values[1] = map_in_id(p, 2);
    s->number = onnx_float(norm, "epsilon", 1e-5);
}

static uint32_t add_bias(struct mapper *p, uint32_t y, uint64_t channels, const struct onnx_node *norm)
{
    if (!norm && map_in_id(p, 2) == NO_ID)
        return y;
    uint32_t bias = map_weight(p, norm ? NO_ID : map_in_id(p, 2), norm ? ONNX_FOLDED_BIAS : ONNX_AS_IS, 1, &channels);
    if (norm)
        name_norm(p, map_source(p, bias, ONNX_FOLDED_BIAS, NO_ID), norm);
    return map_emit2(p, OP_BIAS_ADD, y, bias, NO_ATTRIBUTES);
}

static uint32_t kernel(struct mapper *p, const struct onnx_window *w)
{
    const struct onnx_value *k = map_in(p, 1);
    uint64_t deep = w->n == 3 ? w->kernel[0] : 1;
    const uint64_t dims[] = { w->n == 1 ? 1 : w->kernel[w->n - 2], w->kernel[w->n - 1], deep * k->dims[1], k->dims[0] };
    return map_weight(p, map_in_id(p, 1), ONNX_KERNEL, 4, dims);
}

/* Turns a window's depth into channels: the frames that a result reads are concatenated, group by group, as PopLibs' planner may do
 * with a dimension of the kernel (expandDims). */
static uint32_t frames_as_channels(struct mapper *p, uint32_t x, const struct onnx_window *w)
{
    const struct onnx_value *v = map_in(p, 0);
    uint64_t frame = v->dims[3] * v->dims[4] * v->dims[1], depth = v->dims[2] + w->before[0] + w->after[0], n = map_out(p, 0)->dims[2];
    uint32_t parts[MAX_OP_OUTPUTS];
    uint64_t groups = (uint64_t)onnx_int(p->n, "group", 1), rows = v->dims[0] * n * v->dims[3] * v->dims[4];
    if (w->kernel[0] > MAX_OP_OUTPUTS) {
        MAP_REFUSE(p, "a window of depth %u, at most %d", w->kernel[0], MAX_OP_OUTPUTS);
        return NO_ID;
    }
    x = VIEW(p, x, v->dims[0], v->dims[2], frame);
    if (depth > v->dims[2])
        x = map_emit1(p, OP_PAD, x, WITH(.axis = 1, .begin = w->before[0], .length = depth));
    for (uint32_t i = 0; i < w->kernel[0]; i++) {
        uint64_t from = (uint64_t)i * w->dilation[0];
        parts[i] = w->stride[0] > 1 ? map_every_nth(p, x, 1, from, n, w->stride[0]) : map_emit1(p, OP_SLICE, x, WITH(.axis = 1, .begin = from, .length = n));
        parts[i] = VIEW(p, parts[i], rows, groups, v->dims[1] / groups);
    }
    x = w->kernel[0] == 1 ? parts[0] : map_emit(p, OP_CONCAT, parts, w->kernel[0], WITH(.axis = 2));
    return VIEW(p, x, v->dims[0] * n, v->dims[3], v->dims[4], w->kernel[0] * v->dims[1]);
}

bool map_conv(struct mapper *p)
{
    struct onnx_window w;
    if (!read_window(p, &w) || !wants_constants(p))
        return false;
    const struct onnx_node *norm = norm_behind(p);
    uint32_t x = map_as_image(p, map_in_id(p, 0)), k = kernel(p, &w);
    if (x == NO_ID || k == NO_ID)
        return false;
    if (norm)
        name_norm(p, map_source(p, k, ONNX_FOLDED_KERNEL, NO_ID), norm);
    x = w.n == 3 ? frames_as_channels(p, x, &w) : x;
    if (x == NO_ID)
        return false;
    struct op_attributes at = window_attributes(&w);
    at.groups = (uint32_t)onnx_int(p->n, "group", 1);
    uint32_t y = add_bias(p, map_emit2(p, OP_CONV, x, k, at), map_out(p, 0)->dims[1], norm);
    if (norm)
        p->of[norm->outputs[0]] = (struct mapped){ y, NO_ID, true, false };
    p->into = at.groups == 1 ? "conv" : k != NO_ID && p->g->tensors[k].dims[2] == 1 ? "depthwise conv" : "grouped conv";
    return map_done(p, 0, y, true);
}

/* The share of frame `at` of the kernel in each frame of the result, [batch, made, frame]. Each input frame contributes once; the frames are
 * `stride` apart and cut at both ends. y: [batch x frames, ..., groups, depth x channels of a group]. */
static uint32_t depth_share(struct mapper *p, uint32_t y, const struct onnx_window *w, uint32_t at, uint64_t groups)
{
    const struct onnx_value *v = map_in(p, 0), *to = map_out(p, 0);
    uint64_t each = to->dims[1] / groups, frame = to->dims[3] * to->dims[4] * to->dims[1], n = v->dims[2], stride = w->stride[0], made = to->dims[2];
    y = map_emit1(p, OP_SLICE, y, WITH(.axis = 2, .begin = at * each, .length = each));
    y = VIEW(p, y, v->dims[0], n, 1, frame);
    if (stride > 1)
        y = map_emit1(p, OP_PAD, y, WITH(.axis = 2, .length = stride));
    y = VIEW(p, y, v->dims[0], n * stride, frame);
    int64_t first = (int64_t)at * w->dilation[0] - (int64_t)w->before[0];
    uint64_t cut = first < 0 ? (uint64_t)-first : 0, before = first < 0 ? 0 : (uint64_t)first;
    if (cut >= n * stride || before >= made)
        return NO_ID;                       /* no element of the result belongs to this frame */
    uint64_t length = min_u64(n * stride - cut, made - before);
    y = length < n * stride ? map_emit1(p, OP_SLICE, y, WITH(.axis = 1, .begin = cut, .length = length)) : y;
    return length < made ? map_emit1(p, OP_PAD, y, WITH(.axis = 1, .begin = before, .length = made)) : y;
}

/* One product makes the results of all frames of the kernel as channels, which are then added where they belong. */
static bool transposed_in_depth(struct mapper *p, const struct onnx_window *w)
{
    const struct onnx_value *v = map_in(p, 0), *to = map_out(p, 0);
    uint64_t groups = (uint64_t)onnx_int(p->n, "group", 1), deep = w->kernel[0], rows = v->dims[0] * v->dims[2] * to->dims[3] * to->dims[4];
    uint32_t x = map_as_image(p, map_in_id(p, 0)), k = kernel(p, w), sum = NO_ID;
    if (x == NO_ID || k == NO_ID)
        return false;
    struct op_attributes at = window_attributes(w);
    at.groups = (uint32_t)groups;
    memcpy(at.view, (uint64_t[]){ v->dims[0] * v->dims[2], to->dims[3], to->dims[4], deep * to->dims[1] }, 4 * sizeof *at.view);
    uint32_t y = VIEW(p, map_emit2(p, OP_CONV_TRANSPOSE, each_frame(p, x, v), k, at), rows, groups, deep * to->dims[1] / groups);
    for (uint32_t i = 0; i < deep; i++) {
        uint32_t share = depth_share(p, y, w, i, groups);
        sum = share == NO_ID ? sum : sum == NO_ID ? share : map_emit2(p, OP_ADD, sum, share, NO_ATTRIBUTES);
    }
    y = VIEW(p, sum, v->dims[0], to->dims[2] * to->dims[3], to->dims[4], to->dims[1]);
    p->into = "conv-transpose, sums over depth";
    return map_done(p, 0, add_bias(p, y, to->dims[1], NULL), true);
}

bool map_conv_transpose(struct mapper *p)
{
    struct onnx_window w;
    const struct onnx_value *y = map_out(p, 0);
    if (!read_window(p, &w) || !wants_constants(p))
        return false;
    if (w.n == 3)
        return transposed_in_depth(p, &w);
    uint32_t x = map_as_image(p, map_in_id(p, 0)), k = kernel(p, &w);
    if (x == NO_ID || k == NO_ID)
        return false;
    struct op_attributes at = window_attributes(&w);
    at.groups = (uint32_t)onnx_int(p->n, "group", 1);
    map_image_dims(at.view, y);
    return map_done(p, 0, add_bias(p, map_emit2(p, OP_CONV_TRANSPOSE, x, k, at), y->dims[1], NULL), true);
}

/* ---- pooling -------------------------------------------------------------------------------------------------- */

bool map_pool(struct mapper *p)
{
    struct onnx_window w;
    if (!read_window(p, &w))
        return false;
    const struct onnx_window given = w;
    bool most = p->n->op->kind == OP_MAX_POOL, counts = !most && onnx_flag(p->n, "count_include_pad", false);
    widen_window(&w, map_in(p, 0), map_out(p, 0));
    for (uint32_t i = 0; i < w.n; i++)
        if (counts && w.after[i] > given.after[i])
            return MAP_REFUSE(p, "counts its padding (count_include_pad), but not the zeros of ceil_mode; leave one of the two out");
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    struct op_attributes at = window_attributes(&w);
    at.counts_padding = counts;
    if (w.n == 3)
        x = each_frame(p, x, map_in(p, 0));
    x = map_emit1(p, most ? OP_MAX_POOL : OP_AVERAGE_POOL, x, at);
    if (w.n < 3)
        return map_done(p, 0, x, true);
    const uint64_t *d = map_in(p, 0)->dims, *to = map_out(p, 0)->dims;      /* first within each frame, then over the frames */
    x = VIEW(p, x, d[0], d[2], to[3] * to[4], d[1]);
    at = WITH(.kernel_h = w.kernel[0], .kernel_w = 1, .stride = w.stride[0], .stride_w = 1, .dilation = w.dilation[0],
            .zeros = { w.before[0], 0, w.after[0], 0 }, .counts_padding = at.counts_padding);
    return map_done(p, 0, map_emit1(p, most ? OP_MAX_POOL : OP_AVERAGE_POOL, x, at), true);
}

bool map_global_pool(struct mapper *p)
{
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    const struct tensor *t = &p->g->tensors[x];
    struct op_attributes at = WITH(.kernel_h = (uint32_t)t->dims[1], .kernel_w = (uint32_t)t->dims[2], .stride = 1);
    return map_done(p, 0, map_emit1(p, p->n->op->kind, x, at), true);
}

/* ---- norms ------------------------------------------------------------------------------------------------------ */

static double norm_epsilon(const struct mapper *p)
{
    return p->n->epsilon > 0 ? p->n->epsilon : onnx_float(p->n, "epsilon", 1e-5);
}

/* A vector of a norm, filled with `otherwise` if it is absent. */
static uint32_t norm_vector(struct mapper *p, uint32_t value, double otherwise, uint64_t n)
{
    return value == NO_ID ? map_filled(p, otherwise, n) : map_weight(p, value, ONNX_AS_IS, 1, &n);
}

/* In inference the statistics are known: a factor and an addend for each channel. */
static uint32_t known_norm(struct mapper *p, uint32_t x, uint64_t n)
{
    uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    uint32_t rank = p->g->tensors[x].n_dims;
    dims[rank - 1] = n;
    uint32_t scale = map_weight(p, NO_ID, ONNX_NORM_SCALE, rank, dims), shift = map_weight(p, NO_ID, ONNX_NORM_SHIFT, 1, &n);
    name_norm(p, map_source(p, scale, ONNX_NORM_SCALE, NO_ID), p->n);
    name_norm(p, map_source(p, shift, ONNX_NORM_SHIFT, NO_ID), p->n);
    x = map_emit2(p, OP_MUL, x, scale, NO_ATTRIBUTES);
    return map_emit2(p, OP_BIAS_ADD, x, shift, NO_ATTRIBUTES);
}

bool map_batch_norm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool image = v->n_dims > 2;
    if (!onnx_flag(p->n, "spatial", true))
        return MAP_REFUSE(p, "has statistics for each element; want spatial = 1");
    if (!wants_constants(p))
        return false;
    if (p->n->n_outputs && p->of[p->n->outputs[0]].tensor != NO_ID) {
        p->into = "folded into the convolution before it";
        return true;
    }
    uint32_t x = image ? map_as_image(p, map_in_id(p, 0)) : map_as_plain(p, map_in_id(p, 0));
    if (x == NO_ID || v->n_dims < 2)
        return x != NO_ID && MAP_REFUSE(p, "its input has %u dimensions, want at least 2", v->n_dims);
    if (p->o->inference)
        return map_done(p, 0, known_norm(p, x, v->dims[1]), image);
    bool scaled = map_in_id(p, 5) != NO_ID, shifted = map_in_id(p, 6) != NO_ID;     /* true for the inputs of a fused scale and shift; then the norm's own scale and shift are fixed */
    uint32_t three[] = { x, norm_vector(p, map_in_id(p, scaled ? 5 : 1), 1, v->dims[1]),
                         norm_vector(p, map_in_id(p, shifted ? 6 : 2), 0, v->dims[1]) };
    graph_tensor(p->g, "moving-mean", ROLE_STATE, p->o->type, 1, &v->dims[1]);
    graph_tensor(p->g, "moving-variance", ROLE_STATE, p->o->type, 1, &v->dims[1]);
    struct op_attributes at = WITH(.norm_groups = p->o->batch_norm_span ? p->o->batch_norm_span : 1, .epsilon = norm_epsilon(p));
    return map_done(p, 0, map_emit(p, OP_BATCH_NORM, three, 3, at), image);
}

/* The scale (input 1) or shift, which has a number for each group in opsets 18 to 20. */
static uint32_t vector_by_channel(struct mapper *p, uint32_t input, uint64_t groups, uint64_t channels)
{
    const struct onnx_value *v = map_in(p, input);
    if (!v || onnx_elements(v) == channels)
        return norm_vector(p, map_in_id(p, input), input == 1, channels);
    uint32_t x = VIEW(p, norm_vector(p, map_in_id(p, input), 1, groups), groups, 1);
    return VIEW(p, map_emit1(p, OP_EXPAND, x, WITH(.view = { groups, channels / groups })), channels);
}

/* An instance norm has a group for each channel. Input 3 of the fused form has a number for each group. */
bool map_group_norm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *counts = map_in(p, 3);
    bool instance = onnx_is(p->n, ONNX_OP_INSTANCE_NORM);
    uint64_t channels = v->n_dims > 1 ? v->dims[1] : 0;
    uint64_t groups = instance ? channels : counts ? onnx_elements(counts) : (uint64_t)onnx_int(p->n, "num_groups", 1);
    const struct onnx_value *scale = map_in(p, 1);
    if (scale && onnx_elements(scale) != channels && onnx_elements(scale) != groups)
        return MAP_REFUSE(p, "its scale has neither a number for each channel nor one for each group");
    if (!groups || channels % groups || v->n_dims < 3 || v->n_dims > 5)
        return MAP_REFUSE(p, "%ju groups of %ju channels in %u dimensions", (uintmax_t)groups, (uintmax_t)channels, v->n_dims);
    uint32_t x = wants_constants(p) ? map_as_image(p, map_in_id(p, 0)) : NO_ID;
    if (x == NO_ID)
        return false;
    uint32_t three[] = { x, vector_by_channel(p, 1, groups, channels), vector_by_channel(p, 2, groups, channels) };
    return map_done(p, 0, map_emit(p, OP_GROUP_NORM, three, 3, WITH(.norm_groups = (uint32_t)groups, .epsilon = norm_epsilon(p))), true);
}

/* The input with the dimensions from the axis on as its last one, whose elements *inner counts. NO_ID: refused. */
static uint32_t rows_from_axis(struct mapper *p, uint64_t *inner)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", -1), v->n_dims)) {
        MAP_REFUSE(p, "axis is out of range");
        return NO_ID;
    }
    *inner = onnx_elements_between(v, axis, v->n_dims);
    uint32_t x = wants_constants(p) ? map_any_plain(p, map_in_id(p, 0)) : NO_ID;
    if (x == NO_ID)
        return NO_ID;
    const struct tensor *t = &p->g->tensors[x];
    return t->dims[t->n_dims - 1] == *inner ? x : VIEW(p, x, onnx_elements_between(v, 0, axis), *inner);
}

bool map_layer_norm(struct mapper *p)
{
    uint64_t inner;
    uint32_t x = rows_from_axis(p, &inner);
    if (x == NO_ID)
        return false;
    uint32_t three[] = { x, norm_vector(p, map_in_id(p, 1), 1, inner), norm_vector(p, map_in_id(p, 2), 0, inner) };
    return map_done(p, 0, map_emit(p, OP_LAYER_NORM, three, 3, WITH(.epsilon = norm_epsilon(p))), false);
}

/* x / sqrt(mean of x^2 + epsilon) scale, over the dimensions from the axis on. */
bool map_rms_norm(struct mapper *p)
{
    uint64_t inner;
    uint32_t x = rows_from_axis(p, &inner);
    return x != NO_ID && map_done(p, 0, map_emit2(p, OP_RMS_NORM, x, norm_vector(p, map_in_id(p, 1), 1, inner), WITH(.epsilon = norm_epsilon(p))), false);
}

bool map_lrn(struct mapper *p)
{
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    int64_t size = onnx_int(p->n, "size", 0);
    if (x == NO_ID || size < 1 || size > 1024)
        return x != NO_ID && MAP_REFUSE(p, "size is %jd, want 1 to 1024", (intmax_t)size);
    struct op_attributes at = WITH(.kernel_w = (uint32_t)size, .rate = onnx_float(p->n, "alpha", 1e-4),
                                 .low = onnx_float(p->n, "beta", 0.75), .high = onnx_float(p->n, "bias", 1));
    return map_done(p, 0, map_emit1(p, OP_LOCAL_NORM, x, at), true);
}

/* ---- other sizes ---------------------------------------------------------------------------------------------------- */

/* The attribute's row in a list of names; `fallback` if it is absent, n if it is unknown. */
static uint32_t choice(const struct mapper *p, const char *attribute, const char *fallback, const char *const *names, uint32_t n)
{
    const char *said = onnx_string(p->n, attribute, fallback, p->m->arena);
    uint32_t k = 0;
    while (k < n && !text_is(said, names[k]))
        k++;
    return k;
}

/* Up to opset 10 a result lies at its index over the factor. */
static bool choose_places(struct mapper *p, struct op_attributes *at)
{
    static const char *const places[N_RESIZE_PLACES] = {
        [RESIZE_HALF_PIXEL] = "half_pixel", [RESIZE_ASYMMETRIC] = "asymmetric", [RESIZE_ALIGN_CORNERS] = "align_corners", [RESIZE_SYMMETRIC] = "half_pixel_symmetric",
        [RESIZE_PYTORCH_HALF_PIXEL] = "pytorch_half_pixel", [RESIZE_TF_HALF_PIXEL] = "tf_half_pixel_for_nn" };
    static const char *const neighbours[N_RESIZE_NEAREST] = {
        [NEAREST_PREFER_FLOOR] = "round_prefer_floor", [NEAREST_PREFER_CEIL] = "round_prefer_ceil", [NEAREST_FLOOR] = "floor", [NEAREST_CEIL] = "ceil" };
    bool old = p->m->opset < 11;
    at->place = choice(p, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel", places, N_RESIZE_PLACES);
    at->nearest = choice(p, "nearest_mode", old ? "floor" : "round_prefer_floor", neighbours, N_RESIZE_NEAREST);
    if (at->place == N_RESIZE_PLACES || at->nearest == N_RESIZE_NEAREST)
        return MAP_REFUSE(p, "cuts its input (tf_crop_and_resize), or has a mode that is not known");
    return true;
}

/* Resizes images in their rows and columns. */
static uint32_t resized(struct mapper *p, uint32_t x, const uint64_t from[4], const uint64_t to[4], struct op_attributes at)
{
    memcpy(at.view, to, 4 * sizeof *to);
    return from[1] == to[1] && from[2] == to[2] && at.factors[0] == 1 && at.factors[1] == 1 ? x : map_emit1(p, OP_RESIZE, map_view(p, x, 4, from), at);
}

/* The four neighbours of each result along one side, and their weights (Keys 1981, with the file's coefficient). Neighbours outside the image are
 * taken from its border or, with exclude_outside, left out. */
static void cubic_taps(const struct mapper *p, enum resize_place how, uint64_t size, uint64_t made, double scale, double *at[4], double *weight[4])
{
    double c = onnx_float(p->n, "cubic_coeff_a", -0.75);
    for (uint64_t i = 0; i < made; i++) {
        double x = op_resize_place(how, (double)i, (double)size, (double)made, scale), sum = 0;
        for (int k = 0; k < 4; k++) {
            double place = floor(x) + k - 1, d = fabs(x - place);
            weight[k][i] = d <= 1 ? ((c + 2) * d - (c + 3)) * d * d + 1 : ((c * d - 5 * c) * d + 8 * c) * d - 4 * c;
            if (onnx_flag(p->n, "exclude_outside", false) && (place < 0 || place >= (double)size))
                weight[k][i] = 0;
            at[k][i] = fmin(fmax(place, 0), (double)size - 1);
            sum += weight[k][i];
        }
        for (int k = 0; k < 4; k++)
            weight[k][i] /= sum;
    }
}

/* Known numbers as state, [1, n, 1] or, for indices, [1, n]. */
static uint32_t known_numbers(struct mapper *p, double *numbers, uint64_t n, bool indices)
{
    uint32_t id = onnx_number(p->m, arena_printf(p->m->arena, "taps/%zu", p->m->n_values), indices ? ONNX_INT64 : ONNX_FLOAT, 0);
    struct onnx_value *v = &p->m->values[id];
    v->known = numbers;
    v->n_dims = 1;
    v->dims[0] = n;
    uint32_t x = map_weight(p, id, ONNX_AS_IS, indices ? 2 : 3, (uint64_t[]){ 1, n, 1 });
    p->g->tensors[x].role = ROLE_STATE;
    return x;
}

/* [outer, size, inner] to [outer, made, inner]: four rows for each result, gathered, weighted and added, as PopART does. */
static uint32_t cubic_side(struct mapper *p, uint32_t x, enum resize_place how, uint64_t outer, uint64_t size, uint64_t inner, uint64_t made,
                           double scale)
{
    double *at[4], *weight[4];
    uint32_t sum = NO_ID, table = outer > 1 ? VIEW(p, x, outer, size, inner) : VIEW(p, x, size, inner);
    if (size == made && scale == 1)
        return x;
    for (int k = 0; k < 4; k++) {
        at[k] = ARENA_ARRAY(p->m->arena, double, made);
        weight[k] = ARENA_ARRAY(p->m->arena, double, made);
    }
    cubic_taps(p, how, size, made, scale, at, weight);
    for (int k = 0; k < 4; k++) {
        uint32_t rows = known_numbers(p, at[k], made, true);
        rows = outer > 1 ? map_emit1(p, OP_EXPAND, rows, WITH(.view = { outer, made })) : VIEW(p, rows, made);
        uint32_t one = VIEW(p, map_emit2(p, OP_GATHER, table, rows, NO_ATTRIBUTES), outer, made, inner);
        one = map_emit2(p, OP_MUL, one, known_numbers(p, weight[k], made, false), NO_ATTRIBUTES);
        sum = sum == NO_ID ? one : map_emit2(p, OP_ADD, sum, one, NO_ATTRIBUTES);
    }
    return sum;
}

/* Resizes rows, then columns. */
static bool map_cubic(struct mapper *p, const struct op_attributes *at)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    uint32_t x = map_as_image(p, map_in_id(p, 0)), last = v->n_dims - 1;
    if (x == NO_ID)
        return false;
    uint64_t n = v->dims[0], channels = v->dims[1], rows = last > 2 ? v->dims[2] : 1, made = last > 2 ? y->dims[2] : 1;
    x = last > 2 ? cubic_side(p, x, at->place, n, rows, v->dims[last] * channels, made, at->factors[0]) : x;
    x = cubic_side(p, x, at->place, n * made, v->dims[last], channels, y->dims[last], at->factors[1]);
    return map_done_as(p, "gather, sums", VIEW(p, x, n, made, y->dims[last], channels), true);
}

/* Images with a depth are resized along it first, with a whole slice as one row, and then slice by slice. */
bool map_resize(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    const char *mode = onnx_string(p->n, "mode", "nearest", p->m->arena);
    uint32_t last = v->n_dims - 1;
    if (v->n_dims < 3 || v->n_dims > 5 || y->dims[0] != v->dims[0] || y->dims[1] != v->dims[1])
        return MAP_REFUSE(p, "only depth, height and width of images can be resized");
    if (text_is(mode, "cubic") && v->n_dims == 5)
        return MAP_REFUSE(p, "mode cubic of images with a depth is not modelled; use linear or nearest");
    double factors[ONNX_MAX_DIMS];
    onnx_resize_factors(factors, p->m, p->n);
    struct op_attributes at = WITH(.linear = !text_is(mode, "nearest"), .factors = { v->n_dims > 3 ? factors[last - 1] : 1, factors[last] }), in_depth;
    if (!choose_places(p, &at))
        return false;
    for (uint32_t i = 2; i < v->n_dims; i++)
        if (onnx_flag(p->n, "antialias", false) && at.linear && y->dims[i] < v->dims[i])
            return MAP_REFUSE(p, "makes images smaller with antialias, which is not modelled");
    if (text_is(mode, "cubic"))
        return map_cubic(p, &at);
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    uint64_t n = v->dims[0], channels = v->dims[1], depth = v->n_dims == 5 ? v->dims[2] : 1, made = v->n_dims == 5 ? y->dims[2] : 1;
    uint64_t rows = v->n_dims > 3 ? v->dims[last - 1] : 1, to_rows = v->n_dims > 3 ? y->dims[last - 1] : 1, slice = rows * v->dims[last];
    if (x == NO_ID)
        return false;
    in_depth = at;
    in_depth.factors[0] = v->n_dims == 5 ? factors[2] : 1;
    in_depth.factors[1] = 1;
    x = resized(p, x, (uint64_t[]){ n, depth, slice, channels }, (uint64_t[]){ n, made, slice, channels }, in_depth);
    x = resized(p, x, (uint64_t[]){ n * made, rows, v->dims[last], channels }, (uint64_t[]){ n * made, to_rows, y->dims[last], channels }, at);
    p->into = p->into ? p->into : "nothing: its input as it is";
    return map_done(p, 0, x, true);
}

/* Blocks of channels to pixels (depth first, or columns first), or back, as one transposition of the image. */
bool map_blocks(struct mapper *p)
{
    uint64_t b = (uint64_t)onnx_int(p->n, "blocksize", 0);
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    const uint64_t *d = p->g->tensors[x].dims;
    bool to_space = onnx_is(p->n, ONNX_OP_DEPTH_TO_SPACE), columns = text_is(onnx_string(p->n, "mode", "DCR", p->m->arena), "CRD");
    struct op_attributes at = WITH(.view = { d[0] * d[1], d[2], b, d[3] / b }, .order = { 0, 2, 1, 3 });
    if (to_space && columns)
        at = WITH(.view = { d[0] * d[1], d[2], d[3] / (b * b), b, b }, .order = { 0, 3, 1, 4, 2 });
    if (!to_space)
        at = WITH(.view = { d[0] * d[1] / b, b, d[2] / b, b * d[3] }, .order = { 0, 2, 1, 3 });
    return map_done(p, 0, map_emit1(p, OP_TRANSPOSE, x, at), true);
}
