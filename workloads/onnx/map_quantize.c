/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_quantize.c - the steps to integers and back around operators of floats (QDQ).
 *
 * What is computed is scaled, rounded and cut off as the file says. Quantised weights are floats by the time the graph has them (fold.c).
 */
#include "workloads/onnx/map_internal.h"

/* One scale and zero point that the file knows. */
static bool one_scale(struct mapper *p, double *scale, double *zero)
{
    if (!known_number(map_in(p, 1)) || (map_in(p, 2) && !known_number(map_in(p, 2))))
        return MAP_REFUSE(p, "of what is computed; want one scale and zero point that the file knows");
    *scale = map_in(p, 1)->known[0];
    *zero = map_in(p, 2) ? map_in(p, 2)->known[0] : 0;
    return *scale != 0 || MAP_REFUSE(p, "has a scale of 0");
}

/* In so many scales, rounded to even, and cut off where the type ends. */
bool map_quantize(struct mapper *p)
{
    static const struct { int type; double least, most; } ends[] = {
        { ONNX_UINT8, 0, 255 }, { ONNX_INT8, -128, 127 }, { ONNX_UINT16, 0, 65535 }, { ONNX_INT16, -32768, 32767 } };
    const struct onnx_value *y = map_out(p, 0);
    bool image = is_image(p, in_id(p, 0));
    double scale, zero;
    size_t k = 0;
    while (k < sizeof ends / sizeof *ends && ends[k].type != y->type)
        k++;
    if (k == sizeof ends / sizeof *ends)
        return MAP_REFUSE(p, "to numbers of type %d; want integers of 8 or 16 bits", y->type);
    if (!p->o->inference)
        return MAP_REFUSE(p, "its gradient is not modelled; train the model before it is quantised");
    uint32_t x = one_scale(p, &scale, &zero) ? in_layout(p, in_id(p, 0), image) : NO_ID;
    if (x == NO_ID)
        return false;
    x = emit_function(p, FUNCTION_ROUND, map_scaled(p, x, 1 / scale));
    x = map_shifted(p, x, zero);
    x = emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = ends[k].least, .high = ends[k].most));
    p->into = "map";
    return map_done(p, 0, emit1(p, OP_CAST, x, AT(.to_type = map_type(p, y->type))), image);
}

bool map_dequantize(struct mapper *p)
{
    bool image = is_image(p, in_id(p, 0));
    double scale, zero;
    uint32_t x = one_scale(p, &scale, &zero) ? in_layout(p, in_id(p, 0), image) : NO_ID;
    if (x == NO_ID)
        return false;
    x = emit1(p, OP_CAST, x, AT(.to_type = p->o->type));
    return map_done(p, 0, map_scaled(p, map_shifted(p, x, -zero), scale), image);
}
