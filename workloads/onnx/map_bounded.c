/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_bounded.c - NonZero, Compress and NonMaxSuppression, whose results have a stated largest size (--set data.NAME=100).
 *
 * A program of fixed shapes makes this many results each time. Elements that count are found by a top-k of their places, the first ones first; where
 * fewer count, others follow. NonMaxSuppression goes round by round, as PopTorch's nms does: the best box that is left, and the end of all
 * that overlap it, for all samples and classes at once. Places and corners are fp32, which fp16 could not hold.
 */
#include "workloads/onnx/onnx_mapper.h"
#include <float.h>
#include <math.h>

enum { MOST_PLACES = 1 << 24, MOST_ROUNDS = 1000 };

/* 1 where an element is not 0, as fp32 [1, n]. */
static uint32_t are_nonzero(struct mapper *p, uint32_t x, uint64_t n)
{
    x = map_of_type(p, VIEW(p, x, 1, n), TYPE_FP32);
    uint32_t zero = map_emit1(p, OP_SCALE, x, WITH(.rate = 0));
    return map_shifted(p, map_scaled(p, map_combined(p, FUNCTION_EQUAL, x, zero), -1), 1);
}

/* The places of the first `most` ones among n elements, in rising order, as int32 [1, most]. If there are fewer ones, places of other elements
   follow. */
static uint32_t places(struct mapper *p, uint32_t ones, uint64_t n, uint64_t most)
{
    uint32_t down = map_shifted(p, map_scaled(p, map_numbers(p, "places", TYPE_FP32, n), -1), (double)n);
    return map_emit1(p, OP_TOP_K, map_emit2(p, OP_MUL, ones, down, NO_ATTRIBUTES), WITH(.length = most));
}

static bool too_many(struct mapper *p, uint64_t n)
{
    return n > MOST_PLACES && (MAP_REFUSE(p, "looks through %ju elements, at most %d", (uintmax_t)n, MOST_PLACES), true);
}

/* Places in row-major order as one row of coordinates for each dimension; half a step is added before each division, so that no rounding
 * reaches the next number. */
bool map_nonzero(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint64_t n = onnx_elements(v), most = map_out(p, 0)->dims[1];
    uint32_t x = too_many(p, n) ? NO_ID : map_any_plain(p, map_in_id(p, 0)), rows[ONNX_MAX_DIMS];
    if (x == NO_ID)
        return false;
    uint32_t left = map_of_type(p, places(p, are_nonzero(p, x, n), n, most), TYPE_FP32);
    for (uint32_t d = 0; d < v->n_dims; d++) {
        double inner = (double)onnx_elements_between(v, d + 1, v->n_dims);
        rows[d] = d + 1 == v->n_dims ? left : map_emit_function(p, FUNCTION_FLOOR, map_scaled(p, map_shifted(p, left, 0.5), 1 / inner));
        left = d + 1 == v->n_dims ? left : map_combined(p, FUNCTION_SUBTRACT, left, map_scaled(p, rows[d], inner));
    }
    uint32_t all = v->n_dims == 1 ? rows[0] : map_emit(p, OP_CONCAT, rows, v->n_dims, WITH(.axis = 0));
    p->into = "top-k";
    return map_done(p, 0, map_of_type(p, all, TYPE_INT32), false);
}

/* Rows along the axis, or elements, that a condition keeps. */
bool map_compress(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *y = map_out(p, 0);
    const Onnx__AttributeProto *along = onnx_attribute(p->n, "axis");
    uint64_t n = onnx_elements(map_in(p, 1));
    uint32_t axis = 0;
    if (along)
        onnx_axis(&axis, along->i, v->n_dims);              /* the shape rule has checked the axis */
    uint64_t outer = along ? onnx_elements_between(v, 0, axis) : 1, size = along ? v->dims[axis] : onnx_elements(v), inner = onnx_elements(v) / outer / size;
    uint64_t most = along ? y->dims[axis] : y->dims[0];
    uint32_t x = too_many(p, n) ? NO_ID : map_any_plain(p, map_in_id(p, 0)), keep = x == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 1));
    if (keep == NO_ID)
        return false;
    uint32_t at = places(p, are_nonzero(p, keep, n), n, most);
    if (outer > 1)
        at = map_emit1(p, OP_EXPAND, at, WITH(.view = { outer, most }));
    x = map_emit2(p, OP_GATHER, outer > 1 ? VIEW(p, x, outer, size, inner) : VIEW(p, x, size, inner), outer > 1 ? at : VIEW(p, at, most), NO_ATTRIBUTES);
    return map_done_as(p, "top-k, gather", x, false);
}

/* ---- NonMaxSuppression ------------------------------------------------------------------------------------------------------ */

/* The least and largest coordinates of boxes, and their areas: each [rows, boxes] or [rows, 1]. */
struct boxes { uint32_t low[2], high[2], area; };
struct suppression { uint64_t batch, classes, rows, n, rounds; double overlap, least; };

static uint32_t area_of(struct mapper *p, const struct boxes *b)
{
    uint32_t side[2];
    for (int i = 0; i < 2; i++)
        side[i] = map_emit1(p, OP_RELU, map_combined(p, FUNCTION_SUBTRACT, b->high[i], b->low[i]), NO_ATTRIBUTES);
    return map_emit2(p, OP_MUL, side[0], side[1], NO_ATTRIBUTES);
}

/* Two opposite corners y, x, y, x; or the centre x, y with width and height. */
static struct boxes corners(struct mapper *p, uint32_t x, bool centred)
{
    struct boxes b;
    for (uint64_t i = 0; i < 2; i++) {
        uint32_t first = map_range(p, x, 1, i, 1), second = map_range(p, x, 1, 2 + i, 1);
        uint32_t half = map_scaled(p, second, 0.5);
        b.low[i] = centred ? map_combined(p, FUNCTION_SUBTRACT, first, half) : map_combined(p, FUNCTION_MINIMUM, first, second);
        b.high[i] = centred ? map_emit2(p, OP_ADD, first, half, NO_ATTRIBUTES) : map_combined(p, FUNCTION_MAXIMUM, first, second);
    }
    b.area = area_of(p, &b);
    return b;
}

/* One column of the table [rows, boxes, 5], as [rows, boxes]. */
static uint32_t of_table(struct mapper *p, uint32_t table, uint64_t i, uint64_t rows, uint64_t n)
{
    return VIEW(p, map_range(p, table, 2, i, 1), rows, n);
}

static struct boxes boxes_of_table(struct mapper *p, uint32_t table, uint64_t rows, uint64_t n)
{
    return (struct boxes){ { of_table(p, table, 0, rows, n), of_table(p, table, 1, rows, n) }, { of_table(p, table, 2, rows, n), of_table(p, table, 3, rows, n) },
                           of_table(p, table, 4, rows, n) };
}

/* Every class's row of [rows, boxes, 5]: corners and areas. */
static uint32_t box_table(struct mapper *p, const struct suppression *s)
{
    uint32_t x = map_any_plain(p, map_in_id(p, 0));
    if (x == NO_ID)
        return NO_ID;
    x = map_of_type(p, VIEW(p, x, s->batch * s->n, 4), TYPE_FP32);
    struct boxes b = corners(p, x, onnx_flag(p->n, "center_point_box", false));
    x = map_emit(p, OP_CONCAT, (uint32_t[]){ b.low[0], b.low[1], b.high[0], b.high[1], b.area }, 5, WITH(.axis = 1));
    x = VIEW(p, x, s->batch, 1, s->n, 5);
    if (s->classes > 1)
        x = map_emit1(p, OP_EXPAND, x, WITH(.view = { s->batch, s->classes, s->n, 5 }));
    return VIEW(p, x, s->rows, s->n, 5);
}

/* 1 where the intersection of a box with the chosen one is more than a share of their union. */
static uint32_t overlapping(struct mapper *p, const struct boxes *all, const struct boxes *one, double share)
{
    struct boxes both;
    for (int i = 0; i < 2; i++) {
        both.low[i] = map_combined(p, FUNCTION_MAXIMUM, all->low[i], one->low[i]);
        both.high[i] = map_combined(p, FUNCTION_MINIMUM, all->high[i], one->high[i]);
    }
    uint32_t shared = area_of(p, &both);
    uint32_t together = map_combined(p, FUNCTION_SUBTRACT, map_emit2(p, OP_ADD, all->area, one->area, NO_ATTRIBUTES), shared);
    return map_combined(p, FUNCTION_GREATER, shared, map_scaled(p, together, share));
}

static uint32_t without_boxes(struct mapper *p, uint32_t scores, uint32_t which)
{
    return map_emit2(p, OP_SELECT, scores, which, WITH(.inverted = true, .rate = -FLT_MAX));
}

/* Runs the rounds one after the other. Each gives the chosen box of each row, and whether it is valid, both [rows, 1]. */
static void run_rounds(struct mapper *p, const struct suppression *s, uint32_t table, uint32_t scores, uint32_t *chosen, uint32_t *valid)
{
    struct boxes all = boxes_of_table(p, table, s->rows, s->n);
    for (uint64_t i = 0; i < s->rounds; i++) {
        chosen[i] = map_emit1(p, OP_ARG_MAX, scores, NO_ATTRIBUTES);
        uint32_t score = VIEW(p, map_emit2(p, OP_GATHER, VIEW(p, scores, s->rows, s->n, 1), chosen[i], NO_ATTRIBUTES), s->rows, 1);
        valid[i] = map_combined(p, FUNCTION_GREATER, score, map_shifted(p, map_emit1(p, OP_SCALE, score, WITH(.rate = 0)), s->least));
        if (i + 1 == s->rounds)
            break;
        struct boxes one = boxes_of_table(p, map_emit2(p, OP_GATHER, table, chosen[i], NO_ATTRIBUTES), s->rows, 1);
        scores = without_boxes(p, scores, overlapping(p, &all, &one, s->overlap));
        scores = without_boxes(p, scores, map_ones_at(p, VIEW(p, chosen[i], s->rows), s->rows, s->n, TYPE_UINT8));
    }
}

/* The numbers 0 to n - 1 along the middle dimension of [before, n, after], as fp32 [before x n x after, 1]. */
static uint32_t numbers_of_rows(struct mapper *p, uint64_t before, uint64_t n, uint64_t after)
{
    uint32_t x = VIEW(p, map_numbers(p, "rows", TYPE_FP32, n), 1, n, 1);
    if (before * after > 1)
        x = map_emit1(p, OP_EXPAND, x, WITH(.view = { before, n, after }));
    return VIEW(p, x, before * n * after, 1);
}

/* Sizes and limits, which the file must state. */
static bool read_suppression(struct mapper *p, struct suppression *s)
{
    const struct onnx_value *scores = map_in(p, 1), *most = map_in(p, 2), *overlap = map_in(p, 3), *least = map_in(p, 4);
    uint64_t wanted = map_out(p, 0)->dims[0];
    *s = (struct suppression){ scores->dims[0], scores->dims[1], scores->dims[0] * scores->dims[1], scores->dims[2], 0,
                               overlap && overlap->known ? overlap->known[0] : 0, least && least->known ? least->known[0] : -FLT_MAX / 2 };
    if ((overlap && !onnx_is_known_number(overlap)) || (least && !onnx_is_known_number(least)))
        return MAP_REFUSE(p, "its thresholds are computed while the model runs");
    s->rounds = min_u64(s->n, wanted);
    if (onnx_is_known_number(most))
        s->rounds = min_u64(s->rounds, (uint64_t)most->known[0]);
    if (map_in(p, 0)->n_dims != 3 || map_in(p, 0)->dims[1] != s->n || map_in(p, 0)->dims[2] != 4 || s->rounds == 0 || s->rounds > MOST_ROUNDS)
        return MAP_REFUSE(p, "wants four numbers a box, and 1 to %d boxes a class", MOST_ROUNDS);
    return true;
}

/* Rows [sample, class, box] of what is chosen, sample by sample and class by class, best first. */
bool map_non_max_suppression(struct mapper *p)
{
    struct suppression s;
    uint64_t wanted = map_out(p, 0)->dims[0];
    if (!read_suppression(p, &s))
        return false;
    uint64_t all = s.rows * s.rounds;
    uint32_t *chosen = ARENA_ARRAY(p->m->arena, uint32_t, s.rounds), *valid = ARENA_ARRAY(p->m->arena, uint32_t, s.rounds);
    uint32_t table = box_table(p, &s), scores = table == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 1));
    if (scores == NO_ID || wanted > all)
        return scores != NO_ID && MAP_REFUSE(p, "has at most %ju boxes to choose", (uintmax_t)all);
    run_rounds(p, &s, table, map_of_type(p, VIEW(p, scores, s.rows, s.n), TYPE_FP32), chosen, valid);
    uint32_t box = VIEW(p, map_of_type(p, map_joined(p, chosen, s.rounds, 1), TYPE_FP32), all, 1), counted = map_joined(p, valid, s.rounds, 1);
    uint32_t columns[] = { numbers_of_rows(p, 1, s.batch, s.classes * s.rounds), numbers_of_rows(p, s.batch, s.classes, s.rounds), box };
    uint32_t y = map_emit(p, OP_CONCAT, columns, 3, WITH(.axis = 1));
    if (wanted < all)
        y = map_emit2(p, OP_GATHER, y, VIEW(p, places(p, map_of_type(p, VIEW(p, counted, 1, all), TYPE_FP32), all, wanted), wanted), NO_ATTRIBUTES);
    p->into = "rounds of arg-max";
    return map_done(p, 0, map_of_type(p, y, TYPE_INT32), false);
}
