/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape_data.c - shapes of what data pick out, sort or put in other places.
 *
 * How much some of these make is known only while the model runs, except where the data stand in the file. Asked to approximate, it is taken
 * to be the most that it can be: every element, every box.
 */
#include "workloads/onnx/shape_internal.h"
#include <inttypes.h>
#include <math.h>

#define UNKNOWN_SIZE "how much it makes is known only while the model runs; stop before it with --set recipe.output=NAME, or price it " \
                     "roughly with --approximate"

/* Places of what is not zero, [dimensions, how many]. */
bool shape_nonzero(const struct shape *s)
{
    if (!shape_wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t all = onnx_elements(x), n = 0;
    if (!x->known && !s->m->approximate)
        return REFUSE(s, UNKNOWN_SIZE);
    for (uint64_t i = 0; i < all; i++)
        n += !x->known || x->known[i] != 0;
    return shape_set(s, 0, 2, (uint64_t[]){ x->n_dims, n }, ONNX_INT64);
}

/* [boxes taken, 3], of [batch, boxes, 4] and scores [batch, classes, boxes]. */
bool shape_suppression(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *scores = onnx_in(s->m, s->n, 1), *most = onnx_in(s->m, s->n, 2);
    if (!s->m->approximate)
        return REFUSE(s, UNKNOWN_SIZE);
    if (scores->n_dims != 3)
        return REFUSE(s, "its scores have %u dimensions, want 3", scores->n_dims);
    uint64_t boxes = scores->dims[2];
    if (most && most->known && onnx_elements(most) == 1)
        boxes = min_u64(boxes, (uint64_t)onnx_whole(fmax(most->known[0], 0)));
    return shape_set(s, 0, 2, (uint64_t[]){ scores->dims[0] * scores->dims[1] * boxes, 3 }, ONNX_INT64);
}

/* What a condition leaves along an axis, or of all elements. */
bool shape_compress(const struct shape *s)
{
    uint32_t axis = 0;
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *condition = onnx_in(s->m, s->n, 1);
    const Onnx__AttributeProto *along = onnx_attribute(s->n, "axis");
    uint64_t dims[ONNX_MAX_DIMS], all = onnx_elements(condition), n = 0;
    if (!condition->known && !s->m->approximate)
        return REFUSE(s, UNKNOWN_SIZE);
    if (along && !onnx_axis(&axis, along->i, x->n_dims))
        return REFUSE(s, "axis is out of range");
    copy_dims(dims, x);
    uint64_t size = along ? dims[axis] : onnx_elements(x);
    if (all > size)
        return REFUSE(s, "its condition has %" PRIu64 " elements for %" PRIu64, all, size);
    for (uint64_t i = 0; i < all; i++)
        n += !condition->known || condition->known[i] != 0;
    if (!along)
        return shape_set(s, 0, 1, &n, x->type);
    dims[axis] = n;
    return shape_set(s, 0, x->n_dims, dims, x->type);
}

bool shape_top_k(const struct shape *s)
{
    struct onnx_list k;
    uint32_t axis;
    if (!shape_wants(s, 1))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", -1), x->n_dims))
        return REFUSE(s, "axis is out of range");
    const Onnx__AttributeProto *attribute = onnx_attribute(s->n, "k");      /* up to opset 9 */
    bool known = attribute || (onnx_list(&k, s->m, s->n, "k", 1) && k.n == 1);
    if (!known && !s->m->approximate)
        return REFUSE(s, UNKNOWN_SIZE);
    copy_dims(dims, x);
    int64_t n = attribute ? attribute->i : known ? k.at[0] : (int64_t)dims[axis];
    if (n < 0 || (uint64_t)n > dims[axis])
        return REFUSE(s, "wants the largest %" PRId64 " of %" PRIu64, n, dims[axis]);
    dims[axis] = (uint64_t)n;
    uint32_t n_dims = x->n_dims;
    return shape_set(s, 0, n_dims, dims, x->type) && shape_set(s, 1, n_dims, dims, ONNX_INT64);
}

/* A dimension of depth beside each index. */
bool shape_one_hot(const struct shape *s)
{
    struct onnx_list depth;
    uint32_t axis;
    if (!shape_wants(s, 3))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *values = onnx_in(s->m, s->n, 2);
    uint64_t dims[ONNX_MAX_DIMS + 1];
    if (!onnx_list(&depth, s->m, s->n, "depth", 1) || depth.n != 1 || depth.at[0] < 1)
        return REFUSE(s, "its depth is computed while the model runs, or less than 1");
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", -1), x->n_dims + 1))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < x->n_dims; i++)
        dims[i + (i >= axis)] = x->dims[i];
    dims[axis] = (uint64_t)depth.at[0];
    return shape_set(s, 0, x->n_dims + 1, dims, values->type);
}

/* The last dimension of the indices says where in so many first ones of the data; the rest of the data follows. */
bool shape_gather_nd(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *at = onnx_in(s->m, s->n, 1);
    uint64_t dims[2 * ONNX_MAX_DIMS], deep = at->n_dims ? at->dims[at->n_dims - 1] : 0;
    int64_t batched = onnx_int(s->n, "batch_dims", 0);
    if (batched < 0 || batched >= (int64_t)at->n_dims || !deep || deep + (uint64_t)batched > x->n_dims)
        return REFUSE(s, "its indices name %" PRIu64 " of %u dimensions", deep, x->n_dims);
    uint32_t n = 0;
    for (; n + 1 < at->n_dims; n++)
        dims[n] = at->dims[n];
    for (uint32_t i = (uint32_t)(deep + (uint64_t)batched); i < x->n_dims; i++)
        dims[n++] = x->dims[i];
    return shape_set(s, 0, n, dims, x->type);
}

/* Regions [how many, 4] of [batch, channels, height, width]. */
bool shape_roi_align(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *regions = onnx_in(s->m, s->n, 1);
    int64_t height = onnx_int(s->n, "output_height", 1), width = onnx_int(s->n, "output_width", 1);
    if (x->n_dims != 4 || !regions->n_dims || height < 1 || width < 1)
        return REFUSE(s, "its input has %u dimensions, want 4, or its result no elements", x->n_dims);
    return shape_set(s, 0, 4, (uint64_t[]){ regions->dims[0], x->dims[1], (uint64_t)height, (uint64_t)width }, x->type);
}

/* A number, or one for each label; and the logarithms of the shares. */
bool shape_loss(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *labels = onnx_in(s->m, s->n, 1);
    bool each = text_is(onnx_string(s->n, "reduction", "mean", s->m->arena), "none");
    return shape_set(s, 1, x->n_dims, x->dims, x->type) && shape_set(s, 0, each ? labels->n_dims : 0, labels->dims, x->type);
}

/* Where to look, [batch, height, width, 2]. */
bool shape_grid_sample(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *grid = onnx_in(s->m, s->n, 1);
    if (x->n_dims != 4 || grid->n_dims != 4)
        return REFUSE(s, "its input has %u dimensions, want 4", x->n_dims);
    return shape_set(s, 0, 4, (uint64_t[]){ x->dims[0], x->dims[1], grid->dims[1], grid->dims[2] }, x->type);
}

/* To the type of the zero point, or bytes; back to that of the scale. */
bool shape_quantize(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0), *zero = onnx_in(s->m, s->n, 2);
    return shape_set(s, 0, x->n_dims, x->dims, zero ? zero->type : (int)onnx_int(s->n, "output_dtype", ONNX_UINT8));
}

bool shape_dequantize(const struct shape *s)
{
    if (!shape_wants(s, 2))
        return false;
    const struct onnx_value *x = onnx_in(s->m, s->n, 0);
    return shape_set(s, 0, x->n_dims, x->dims, onnx_in(s->m, s->n, 1)->type);
}
