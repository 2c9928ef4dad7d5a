/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_sample.c - GridSample and RoiAlign, which read images at places that data give: bilinearly, or the nearest element.
 *
 * The rows of all images form a table [images x height x width, channels]. Each point looks up its neighbours' rows, (image x height +
 * y) x width + x, and adds them weighted by their distances. Places are computed in fp32, which fp16 could not hold.
 */
#include "workloads/onnx/onnx_mapper.h"
#include <math.h>
#include <string.h>

/* For each point, the lower and upper neighbour along one side of the image, and their weights. */
struct side { uint32_t at[2], weight[2]; };
struct points { uint64_t n, height, width; uint32_t first_row; struct side y, x; };     /* first_row: of each point's image; NO_ID if there is one image */

static uint32_t both(struct mapper *p, enum op_kind kind, uint32_t a, uint32_t b)
{
    return map_emit2(p, kind, a, b, NO_ATTRIBUTES);
}

/* Neighbours outside have weight 0, or are those at the border. */
static struct side side_of(struct mapper *p, uint32_t place, uint64_t size, bool zeros_outside)
{
    uint32_t low = map_emit_function(p, FUNCTION_FLOOR, place);
    struct side s = { .at = { low, map_shifted(p, low, 1) } };
    s.weight[1] = both(p, OP_ADD, place, map_scaled(p, low, -1));
    s.weight[0] = map_shifted(p, map_scaled(p, s.weight[1], -1), 1);
    for (int i = 0; i < 2; i++) {
        uint32_t inside = map_clipped(p, s.at[i], 0, (double)size - 1);
        s.weight[i] = zeros_outside ? both(p, OP_MUL, s.weight[i], map_combined(p, FUNCTION_EQUAL, s.at[i], inside)) : s.weight[i];
        s.at[i] = inside;
    }
    return s;
}

static struct side nearest(struct mapper *p, uint32_t place, uint64_t size, bool zeros_outside)
{
    uint32_t at = map_emit_function(p, FUNCTION_ROUND, place), inside = map_clipped(p, at, 0, (double)size - 1);
    return (struct side){ .at = { inside, NO_ID }, .weight = { zeros_outside ? map_combined(p, FUNCTION_EQUAL, at, inside) : NO_ID, NO_ID } };
}

/* One neighbour of each point, weighted: [points, channels]. */
static uint32_t neighbour(struct mapper *p, const struct points *s, uint32_t table, int above_y, int above_x)
{
    uint32_t row = both(p, OP_ADD, map_scaled(p, s->y.at[above_y], (double)s->width), s->x.at[above_x]);
    row = s->first_row == NO_ID ? row : both(p, OP_ADD, row, s->first_row);
    row = VIEW(p, map_of_type(p, row, TYPE_INT32), s->n);
    uint32_t found = map_emit2(p, OP_GATHER, table, row, NO_ATTRIBUTES);
    if (s->y.weight[above_y] == NO_ID)
        return found;
    uint32_t weight = both(p, OP_MUL, s->y.weight[above_y], s->x.weight[above_x]);
    return both(p, OP_MUL, found, map_of_type(p, weight, p->g->tensors[found].type));
}

/* Samples of input 0, [points, channels]; NO_ID if refused. */
static uint32_t sampled(struct mapper *p, const struct points *s)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t table = map_as_image(p, map_in_id(p, 0)), sum = NO_ID;
    if (table == NO_ID)
        return NO_ID;
    table = VIEW(p, table, v->dims[0] * s->height * s->width, v->dims[1]);
    for (int i = 0; i < 4; i++) {
        if (s->y.at[i / 2] == NO_ID || s->x.at[i % 2] == NO_ID)
            continue;
        uint32_t one = neighbour(p, s, table, i / 2, i % 2);
        sum = sum == NO_ID ? one : both(p, OP_ADD, sum, one);
    }
    return sum;
}

/* Grid values -1 to 1 span the image from edge to edge or, with align_corners, from the centre of its first element to
 * that of its last. */
static uint32_t grid_place(struct mapper *p, uint32_t grid, uint64_t size, bool corners)
{
    double half = (corners ? (double)size - 1 : (double)size) / 2;
    return map_shifted(p, map_scaled(p, grid, half), corners ? half : half - 0.5);
}

bool map_grid_sample(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *grid = map_in(p, 1);
    const char *mode = onnx_string(p->n, "mode", "bilinear", p->m->arena), *outside = onnx_string(p->n, "padding_mode", "zeros", p->m->arena);
    bool linear = text_is(mode, "bilinear") || text_is(mode, "linear"), corners = onnx_flag(p->n, "align_corners", false);
    if ((!linear && !text_is(mode, "nearest")) || text_is(outside, "reflection"))
        return MAP_REFUSE(p, "mode %.20s, padding %.20s: want bilinear or nearest, zeros or border", mode, outside);
    if (grid->dims[3] != 2 || grid->dims[0] != v->dims[0])
        return MAP_REFUSE(p, "wants two numbers a place, and as many grids as images");
    uint64_t images = grid->dims[0], each = grid->dims[1] * grid->dims[2];
    struct points s = { .n = images * each, .height = v->dims[2], .width = v->dims[3], .first_row = NO_ID };
    uint32_t places = map_of_type(p, map_any_plain(p, map_in_id(p, 1)), TYPE_FP32);
    if (places == NO_ID)
        return false;
    places = VIEW(p, places, s.n, 2);
    struct side (*side)(struct mapper *, uint32_t, uint64_t, bool) = linear ? side_of : nearest;
    s.x = side(p, grid_place(p, map_range(p, places, 1, 0, 1), s.width, corners), s.width, text_is(outside, "zeros"));
    s.y = side(p, grid_place(p, map_range(p, places, 1, 1, 1), s.height, corners), s.height, text_is(outside, "zeros"));
    if (images > 1) {
        uint32_t rows = map_scaled(p, VIEW(p, map_numbers(p, "places", TYPE_FP32, images), images, 1), (double)(s.height * s.width));
        s.first_row = VIEW(p, map_emit1(p, OP_EXPAND, rows, WITH(.view = { images, each })), s.n, 1);
    }
    uint32_t y = sampled(p, &s);
    if (y == NO_ID)
        return false;
    return map_done_as(p, "gather, sums", VIEW(p, y, images, grid->dims[1], grid->dims[2], v->dims[1]), true);
}

/* ---- RoiAlign ------------------------------------------------------------------------------------------------------------ */

struct regions { uint64_t n, high, wide; double scale, offset; bool at_least_one; };    /* high, wide: points of each region */

/* Points along one side, [regions, points], between columns i and i + 2 of the corners. Points more than one element
 * outside have weight 0. */
static struct side region_side(struct mapper *p, const struct regions *r, uint32_t corners, uint32_t i, uint64_t n, uint64_t size)
{
    uint32_t first = map_scaled(p, map_range(p, corners, 1, i, 1), r->scale), last = map_scaled(p, map_range(p, corners, 1, i + 2, 1), r->scale);
    uint32_t extent = both(p, OP_ADD, last, map_scaled(p, first, -1));
    extent = r->at_least_one ? map_clipped(p, extent, 1, INFINITY) : extent;
    uint32_t parts = map_scaled(p, map_shifted(p, map_numbers(p, "places", TYPE_FP32, n), 0.5), 1 / (double)n);
    extent = n > 1 ? map_emit1(p, OP_EXPAND, extent, WITH(.view = { r->n, n })) : extent;
    uint32_t place = map_shifted(p, both(p, OP_ADD, both(p, OP_MUL, extent, parts), first), -r->offset);
    uint32_t near = map_combined(p, FUNCTION_EQUAL, place, map_clipped(p, place, -1, (double)size));
    struct side s = side_of(p, map_clipped(p, place, 0, (double)size - 1), size, false);
    for (int k = 0; k < 2; k++)
        s.weight[k] = both(p, OP_MUL, s.weight[k], near);
    return s;
}

/* Broadcasts one side over the other: [regions, high, wide] as points. */
static uint32_t spread_regions(struct mapper *p, const struct regions *r, uint32_t x, bool along_height)
{
    x = VIEW(p, x, r->n, along_height ? r->high : 1, along_height ? 1 : r->wide);
    x = map_emit1(p, OP_EXPAND, x, WITH(.view = { r->n, r->high, r->wide }));
    return VIEW(p, x, r->n * r->high * r->wide, 1);
}

static void spread_side(struct mapper *p, const struct regions *r, struct side *s, bool along_height)
{
    for (int k = 0; k < 2; k++) {
        s->at[k] = spread_regions(p, r, s->at[k], along_height);
        s->weight[k] = spread_regions(p, r, s->weight[k], along_height);
    }
}

/* The mean of sampling_ratio points in each direction of a bin. */
bool map_roi_align(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    int64_t each = onnx_int(p->n, "sampling_ratio", 0);
    const char *otherwise = p->m->opset < 16 ? "output_half_pixel" : "half_pixel";
    bool half = text_is(onnx_string(p->n, "coordinate_transformation_mode", otherwise, p->m->arena), "half_pixel");
    if (each < 1 || each > 64 || !text_is(onnx_string(p->n, "mode", "avg", p->m->arena), "avg"))
        return MAP_REFUSE(p, "want sampling_ratio from 1 to 64 and mode avg; with 0 data decide how many points a region has");
    if (map_in(p, 1)->n_dims != 2 || map_in(p, 1)->dims[1] != 4 || !map_in(p, 2) || onnx_elements(map_in(p, 2)) != y->dims[0])
        return MAP_REFUSE(p, "wants four numbers and an image a region");
    uint64_t points = (uint64_t)each;
    struct regions r = { y->dims[0], y->dims[2] * points, y->dims[3] * points, onnx_float(p->n, "spatial_scale", 1), half ? 0.5 : 0, !half };
    struct points s = { .n = r.n * r.high * r.wide, .height = v->dims[2], .width = v->dims[3] };
    uint32_t corners = map_of_type(p, map_as_plain(p, map_in_id(p, 1)), TYPE_FP32);
    uint32_t image = corners == NO_ID ? NO_ID : map_of_type(p, map_any_plain(p, map_in_id(p, 2)), TYPE_FP32);
    if (image == NO_ID)
        return false;
    s.x = region_side(p, &r, corners, 0, r.wide, s.width);
    s.y = region_side(p, &r, corners, 1, r.high, s.height);
    spread_side(p, &r, &s.x, false);
    spread_side(p, &r, &s.y, true);
    image = VIEW(p, map_scaled(p, image, (double)(s.height * s.width)), r.n, 1);
    s.first_row = VIEW(p, map_emit1(p, OP_EXPAND, image, WITH(.view = { r.n, r.high * r.wide })), s.n, 1);
    uint32_t x = sampled(p, &s);
    if (x == NO_ID)
        return false;
    x = VIEW(p, x, r.n, r.high, r.wide, v->dims[1]);
    if (points > 1)
        x = map_emit1(p, OP_AVERAGE_POOL, x, WITH(.kernel_h = (uint32_t)points, .kernel_w = (uint32_t)points, .stride = (uint32_t)points));
    return map_done_as(p, "gather, sums", x, true);
}
