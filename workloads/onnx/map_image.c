/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_image.c - operators on images: convolutions, pooling, normalisation by channel, resizing.
 */
#include "workloads/onnx/onnx_internal.h"
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
    if (!read_window(p, &w))
        return false;
    if (!wants_constants(p))
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

/* The share of frame `at` of the kernel in each frame of the result, [batch, made, frame]: every input frame once, stride frames apart, cut at
 * both ends. y: [batch x frames, ..., groups, depth x channels of a group]. */
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
        return NO_ID;                       /* none of it is in the result */
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
    widen_window(&w, map_in(p, 0), map_out(p, 0));
    uint32_t x = map_as_image(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    bool most = p->n->op->kind == OP_MAX_POOL;
    struct op_attributes at = window_attributes(&w);
    at.counts_padding = !most && onnx_flag(p->n, "count_include_pad", false);
    if (w.n == 3)
        x = each_frame(p, x, map_in(p, 0));
    x = map_emit1(p, most ? OP_MAX_POOL : OP_AVERAGE_POOL, x, at);
    if (w.n < 3)
        return map_done(p, 0, x, true);
    const uint64_t *d = map_in(p, 0)->dims, *to = map_out(p, 0)->dims;      /* first within each frame, then over
                                                                             * the frames */
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

static void moving_statistics(struct mapper *p, uint64_t n)
{
    graph_tensor(p->g, "moving-mean", ROLE_STATE, p->o->type, 1, &n);
    graph_tensor(p->g, "moving-variance", ROLE_STATE, p->o->type, 1, &n);
}

/* In inference the statistics are known: a factor and an addend for each channel. */
static uint32_t known_norm(struct mapper *p, uint32_t x, uint64_t n)
{
    uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    uint32_t rank = p->g->tensors[x].n_dims;
    dims[rank - 1] = n;
    uint32_t scale = map_weight(p, NO_ID, ONNX_NORM_SCALE, rank, dims), shift = map_weight(p, NO_ID, ONNX_NORM_SHIFT, 1, &n);
    struct onnx_source *s = map_source(p, scale, ONNX_NORM_SCALE, NO_ID);
    name_norm(p, s, p->n);
    s = map_source(p, shift, ONNX_NORM_SHIFT, NO_ID);
    name_norm(p, s, p->n);
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
    bool scaled = map_in_id(p, 5) != NO_ID, shifted = map_in_id(p, 6) != NO_ID;     /* inputs of a fused scale and shift; its own are fixed then */
    uint32_t three[] = { x, norm_vector(p, map_in_id(p, scaled ? 5 : 1), 1, v->dims[1]),
                         norm_vector(p, map_in_id(p, shifted ? 6 : 2), 0, v->dims[1]) };
    moving_statistics(p, v->dims[1]);
    struct op_attributes at = WITH(.norm_groups = p->o->batch_norm_span ? p->o->batch_norm_span : 1, .epsilon = norm_epsilon(p));
    return map_done(p, 0, map_emit(p, OP_BATCH_NORM, three, 3, at), image);
}

/* An instance norm has a group for each channel. Input 3 of the fused form has a number for each group. */
bool map_group_norm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *counts = map_in(p, 3);
    bool instance = onnx_is(p->n, ONNX_OP_INSTANCE_NORM);
    uint64_t channels = v->n_dims > 1 ? v->dims[1] : 0;
    uint64_t groups = instance ? channels : counts ? onnx_elements(counts) : (uint64_t)onnx_int(p->n, "num_groups", 1);
    const struct onnx_value *scale = map_in(p, 1);
    if (!groups || channels % groups || v->n_dims < 3 || v->n_dims > 5)
        return MAP_REFUSE(p, "%ju groups of %ju channels in %u dimensions", (uintmax_t)groups, (uintmax_t)channels, v->n_dims);
    if (scale && onnx_elements(scale) != channels)
        return MAP_REFUSE(p, "its scale is by group; export with opset 21, where it is by channel");
    uint32_t x = wants_constants(p) ? map_as_image(p, map_in_id(p, 0)) : NO_ID;
    if (x == NO_ID)
        return false;
    uint32_t three[] = { x, norm_vector(p, map_in_id(p, 1), 1, channels), norm_vector(p, map_in_id(p, 2), 0, channels) };
    return map_done(p, 0, map_emit(p, OP_GROUP_NORM, three, 3, WITH(.norm_groups = (uint32_t)groups, .epsilon = norm_epsilon(p))), true);
}

bool map_layer_norm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", -1), v->n_dims))
        return MAP_REFUSE(p, "axis is out of range");
    uint64_t outer = onnx_elements_between(v, 0, axis), inner = onnx_elements_between(v, axis, v->n_dims);
    uint32_t x = wants_constants(p) ? map_any_plain(p, map_in_id(p, 0)) : NO_ID;
    if (x == NO_ID)
        return false;
    const struct tensor *t = &p->g->tensors[x];
    if (t->dims[t->n_dims - 1] != inner)
        x = VIEW(p, x, outer, inner);
    uint32_t three[] = { x, norm_vector(p, map_in_id(p, 1), 1, inner), norm_vector(p, map_in_id(p, 2), 0, inner) };
    return map_done(p, 0, map_emit(p, OP_LAYER_NORM, three, 3, WITH(.epsilon = norm_epsilon(p))), false);
}

/* x / sqrt(mean of x^2 + epsilon) scale, over the dimensions from the axis on. */
bool map_rms_norm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t axis, last = 2;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", -1), v->n_dims))
        return MAP_REFUSE(p, "axis is out of range");
    uint64_t inner = onnx_elements_between(v, axis, v->n_dims), dims[] = { onnx_elements_between(v, 0, axis), inner };
    uint32_t x = wants_constants(p) ? map_view(p, map_any_plain(p, map_in_id(p, 0)), 2, dims) : NO_ID;
    if (x == NO_ID)
        return false;
    uint32_t root = map_mean(p, map_emit_function(p, FUNCTION_SQUARE, x), dims, 2, last);
    root = map_emit_function(p, FUNCTION_SQRT, map_shifted(p, VIEW(p, root, dims[0], 1), norm_epsilon(p)));
    x = map_emit2(p, OP_COMBINE, x, root, WITH(.function = FUNCTION_DIVIDE));
    if (map_in_id(p, 1) != NO_ID)
        x = map_emit2(p, OP_MUL, x, map_weight(p, map_in_id(p, 1), ONNX_AS_IS, 2, (uint64_t[]){ 1, inner }), NO_ATTRIBUTES);
    p->into = "square, mean, root, division, product";
    return map_done(p, 0, x, false);
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

/* Resizes images in their rows and columns. */
static uint32_t resized(struct mapper *p, uint32_t x, const uint64_t from[4], const uint64_t to[4], bool linear)
{
    struct op_attributes at = WITH(.linear = linear, .view = { to[0], to[1], to[2], to[3] });
    return from[1] == to[1] && from[2] == to[2] ? x : map_emit1(p, OP_RESIZE, map_view(p, x, 4, from), at);
}

/* The four neighbours of each result along one side, and their weights (Keys 1981, with the file's coefficient). Neighbours outside are those at
 * the border or, with exclude_outside, left out. */
static void cubic_taps(const struct onnx_node *n, struct arena *a, uint64_t size, uint64_t made, double scale, double *at[4], double *weight[4])
{
    const char *where = onnx_string(n, "coordinate_transformation_mode", "half_pixel", a);
    double c = onnx_float(n, "cubic_coeff_a", -0.75);
    for (uint64_t i = 0; i < made; i++) {
        double x = ((double)i + 0.5) / scale - 0.5, sum = 0;
        if (text_is(where, "align_corners"))
            x = made > 1 ? (double)i * ((double)size - 1) / (scale * (double)size - 1) : 0;
        else if (text_is(where, "asymmetric"))
            x = (double)i / scale;
        else if (text_is(where, "pytorch_half_pixel") && made == 1)
            x = 0;
        for (int k = 0; k < 4; k++) {
            double place = floor(x) + k - 1, d = fabs(x - place);
            weight[k][i] = d <= 1 ? ((c + 2) * d - (c + 3)) * d * d + 1 : ((c * d - 5 * c) * d + 8 * c) * d - 4 * c;
            if (onnx_flag(n, "exclude_outside", false) && (place < 0 || place >= (double)size))
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
static uint32_t cubic_side(struct mapper *p, uint32_t x, uint64_t outer, uint64_t size, uint64_t inner, uint64_t made, double scale)
{
    double *at[4], *weight[4];
    uint32_t sum = NO_ID, table = outer > 1 ? VIEW(p, x, outer, size, inner) : VIEW(p, x, size, inner);
    if (size == made && scale == 1)
        return x;
    for (int k = 0; k < 4; k++) {
        at[k] = ARENA_ARRAY(p->m->arena, double, made);
        weight[k] = ARENA_ARRAY(p->m->arena, double, made);
    }
    cubic_taps(p->n, p->m->arena, size, made, scale, at, weight);
    for (int k = 0; k < 4; k++) {
        uint32_t rows = known_numbers(p, at[k], made, true);
        rows = outer > 1 ? map_emit1(p, OP_EXPAND, rows, WITH(.view = { outer, made })) : VIEW(p, rows, made);
        uint32_t one = VIEW(p, map_emit2(p, OP_GATHER, table, rows, NO_ATTRIBUTES), outer, made, inner);
        one = map_emit2(p, OP_MUL, one, known_numbers(p, weight[k], made, false), NO_ATTRIBUTES);
        sum = sum == NO_ID ? one : map_emit2(p, OP_ADD, sum, one, NO_ATTRIBUTES);
    }
    return sum;
}

/* The factor along an axis that the file gives, or that of the sizes. */
static double scale_of(const struct mapper *p, uint32_t axis)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0), *scales = map_in(p, p->n->n_inputs > 2 ? 2 : 1);
    bool given = scales && scales->known && onnx_elements(scales) == v->n_dims;
    return given ? scales->known[axis] : (double)y->dims[axis] / (double)v->dims[axis];
}

/* Rows, then columns. */
static bool map_cubic(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    if (onnx_flag(p->n, "antialias", false) || text_is(onnx_string(p->n, "coordinate_transformation_mode", "", p->m->arena), "tf_crop_and_resize"))
        return MAP_REFUSE(p, "mode cubic with antialias or a cut is not modelled; use linear or nearest");
    uint32_t x = map_as_image(p, map_in_id(p, 0)), last = v->n_dims - 1;
    if (x == NO_ID)
        return false;
    uint64_t n = v->dims[0], channels = v->dims[1], rows = last > 2 ? v->dims[2] : 1, made = last > 2 ? y->dims[2] : 1;
    x = last > 2 ? cubic_side(p, x, n, rows, v->dims[last] * channels, made, scale_of(p, 2)) : x;
    x = cubic_side(p, x, n * made, v->dims[last], channels, y->dims[last], scale_of(p, last));
    p->into = "gather, sums";
    return map_done(p, 0, VIEW(p, x, n, made, y->dims[last], channels), true);
}

/* Images with a depth are resized along it first, with a whole slice as one row, and then slice by slice. */
bool map_resize(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    const char *mode = onnx_string(p->n, "mode", "nearest", p->m->arena);
    bool linear = !text_is(mode, "nearest");
    if (v->n_dims < 3 || v->n_dims > 5 || y->dims[0] != v->dims[0] || y->dims[1] != v->dims[1])
        return MAP_REFUSE(p, "only depth, height and width of images can be resized");
    if (text_is(mode, "cubic") && v->n_dims == 5)
        return MAP_REFUSE(p, "mode cubic of images with a depth is not modelled; use linear or nearest");
    if (text_is(mode, "cubic"))
        return map_cubic(p);
    uint32_t x = map_as_image(p, map_in_id(p, 0)), last = v->n_dims - 1;
    uint64_t n = v->dims[0], channels = v->dims[1], depth = v->n_dims == 5 ? v->dims[2] : 1, made = v->n_dims == 5 ? y->dims[2] : 1;
    uint64_t rows = v->n_dims > 3 ? v->dims[last - 1] : 1, to_rows = v->n_dims > 3 ? y->dims[last - 1] : 1, slice = rows * v->dims[last];
    if (x == NO_ID)
        return false;
    x = resized(p, x, (uint64_t[]){ n, depth, slice, channels }, (uint64_t[]){ n, made, slice, channels }, linear);
    x = resized(p, x, (uint64_t[]){ n * made, rows, v->dims[last], channels }, (uint64_t[]){ n * made, to_rows, y->dims[last], channels }, linear);
    p->into = p->into ? p->into : "nothing: its input as it is";
    return map_done(p, 0, x, true);
}

/* Blocks of channels to pixels (depth first, or columns first), or back: one transposition of the image. */
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
