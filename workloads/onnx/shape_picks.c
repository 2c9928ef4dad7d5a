/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape_picks.c - shape rules of operators that pick or sort elements.
 *
 * The size of some results depends on data, and is known only if the file holds the data, or the options give it. With
 * --approximate it is taken to be the largest possible: every element, every box.
 */
#include "workloads/onnx/onnx_shapes.h"
#include <inttypes.h>

/* A size that depends on data, of at most `most`: data.NAME gives it, by the name of the result; else it is the
 * largest possible. */
static bool size_by_data(const struct inference *s, uint64_t most, uint64_t *n)
{
    struct onnx_value *y = onnx_out(s->m, s->n, 0);
    const struct onnx_options *o = s->m->options;
    *n = most;
    for (size_t i = 0; i < o->n_dimensions; i++)
        if (text_is(o->dimensions[i].name, y->name)) {
            *n = min_u64(most, o->dimensions[i].size);
            y->bounded = y->given = true;
            return true;
        }
    y->largest = s->m->approximate;
    return s->m->approximate || REFUSE(s, "how much it makes is known only while the model runs; bound it with --set data.%.60s=NUMBER, or stop before it "
                                          "with --set recipe.output=NAME", y->name);
}

/* [dimensions, number of elements that are not zero] */
bool infer_nonzero(const struct inference *s)
{
    uint64_t all = onnx_elements(s->x), n = 0;
    if (!s->x->known && !size_by_data(s, all, &n))
        return false;
    for (uint64_t i = 0; i < all && s->x->known; i++)
        n += s->x->known[i] != 0;
    return infer_set(s, 0, 2, (uint64_t[]){ s->x->n_dims, n }, ONNX_INT64);
}

/* Boxes [batch, boxes, 4] and scores [batch, classes, boxes] to [boxes selected, 3]. */
bool infer_non_max_suppression(const struct inference *s)
{
    const struct onnx_value *scores = s->y, *most = onnx_in(s->m, s->n, 2);
    if (scores->n_dims != 3)
        return REFUSE(s, "its scores have %u dimensions, want 3", scores->n_dims);
    uint64_t boxes = scores->dims[2], n;
    if (most && most->known && onnx_elements(most) == 1)
        boxes = min_u64(boxes, (uint64_t)onnx_whole(fmax(most->known[0], 0)));
    return size_by_data(s, scores->dims[0] * scores->dims[1] * boxes, &n) && infer_set(s, 0, 2, (uint64_t[]){ n, 3 }, ONNX_INT64);
}

/* The elements that a condition keeps, along an axis or of all. */
bool infer_compress(const struct inference *s)
{
    uint32_t axis = 0;
    const Onnx__AttributeProto *along = onnx_attribute(s->n, "axis");
    uint64_t dims[ONNX_MAX_DIMS], all = onnx_elements(s->y), n = 0;
    if (!s->y->known && !size_by_data(s, all, &n))
        return false;
    if (along && !onnx_axis(&axis, along->i, s->x->n_dims))
        return REFUSE(s, "axis is out of range");
    onnx_copy_dims(dims, s->x);
    uint64_t size = along ? dims[axis] : onnx_elements(s->x);
    if (all > size)
        return REFUSE(s, "its condition has %" PRIu64 " elements for %" PRIu64, all, size);
    for (uint64_t i = 0; i < all && s->y->known; i++)
        n += s->y->known[i] != 0;
    if (!along)
        return infer_set(s, 0, 1, &n, s->x->type);
    dims[axis] = n;
    return infer_set(s, 0, s->x->n_dims, dims, s->x->type);
}

bool infer_top_k(const struct inference *s)
{
    struct onnx_list k;
    uint32_t axis;
    uint64_t dims[ONNX_MAX_DIMS];
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", -1), s->x->n_dims))
        return REFUSE(s, "axis is out of range");
    const Onnx__AttributeProto *attribute = onnx_attribute(s->n, "k");      /* up to opset 9 */
    bool known = attribute || (onnx_list(&k, s->m, s->n, "k", 1) && k.n == 1);
    onnx_copy_dims(dims, s->x);
    uint64_t largest = dims[axis];
    if (!known && !size_by_data(s, dims[axis], &largest))
        return false;
    int64_t n = attribute ? attribute->i : known ? k.at[0] : (int64_t)largest;
    if (n < 0 || (uint64_t)n > dims[axis])
        return REFUSE(s, "wants the largest %" PRId64 " of %" PRIu64, n, dims[axis]);
    dims[axis] = (uint64_t)n;
    uint32_t n_dims = s->x->n_dims;
    return infer_set(s, 0, n_dims, dims, s->x->type) && infer_set(s, 1, n_dims, dims, ONNX_INT64);
}

/* A new dimension of size depth. */
bool infer_one_hot(const struct inference *s)
{
    struct onnx_list depth;
    uint32_t axis;
    const struct onnx_value *values = onnx_in(s->m, s->n, 2);
    uint64_t dims[ONNX_MAX_DIMS + 1];
    if (!onnx_list(&depth, s->m, s->n, "depth", 1) || depth.n != 1 || depth.at[0] < 1)
        return REFUSE(s, "its depth is computed while the model runs, or less than 1");
    if (!onnx_axis(&axis, onnx_int(s->n, "axis", -1), s->x->n_dims + 1))
        return REFUSE(s, "axis is out of range");
    for (uint32_t i = 0; i < s->x->n_dims; i++)
        dims[i + (i >= axis)] = s->x->dims[i];
    dims[axis] = (uint64_t)depth.at[0];
    return infer_set(s, 0, s->x->n_dims + 1, dims, values->type);
}

/* The last dimension of the indices addresses the leading dimensions of the data; the other dimensions of the data are
 * kept. */
bool infer_gather_nd(const struct inference *s)
{
    uint64_t dims[2 * ONNX_MAX_DIMS], deep = s->y->n_dims ? s->y->dims[s->y->n_dims - 1] : 0;
    int64_t batched = onnx_int(s->n, "batch_dims", 0);
    if (batched < 0 || batched >= (int64_t)s->y->n_dims || !deep || deep + (uint64_t)batched > s->x->n_dims)
        return REFUSE(s, "its indices name %" PRIu64 " of %u dimensions", deep, s->x->n_dims);
    for (int64_t i = 0; i < batched; i++)
        if (s->x->dims[i] != s->y->dims[i])
            return REFUSE(s, "its indices are of %" PRIu64 " samples, its data of %" PRIu64, s->y->dims[i], s->x->dims[i]);
    uint32_t n = 0;
    for (; n + 1 < s->y->n_dims; n++)
        dims[n] = s->y->dims[n];
    for (uint32_t i = (uint32_t)(deep + (uint64_t)batched); i < s->x->n_dims; i++)
        dims[n++] = s->x->dims[i];
    return infer_set(s, 0, n, dims, s->x->type);
}

/* Regions [number, 4] of images [batch, channels, height, width]. */
bool infer_roi_align(const struct inference *s)
{
    int64_t height = onnx_int(s->n, "output_height", 1), width = onnx_int(s->n, "output_width", 1);
    if (s->x->n_dims != 4 || !s->y->n_dims || height < 1 || width < 1)
        return REFUSE(s, "its input has %u dimensions, want 4, or its result no elements", s->x->n_dims);
    return infer_set(s, 0, 4, (uint64_t[]){ s->y->dims[0], s->x->dims[1], (uint64_t)height, (uint64_t)width }, s->x->type);
}

/* Outputs: the loss, or one for each label; the logarithms of the probabilities. */
