/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_math.c - operators on single elements: functions of one, functions of two, selection; and quantisation around
 * operators of floats (QDQ).
 *
 * Results of quantised operators are scaled, rounded and limited as the file says. Quantised weights are floats
 * already (fold.c).
 */
#include "workloads/onnx/onnx_mapper.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- functions of elements --------------------------------------------------------------------------------- */

static bool done_like_input(struct mapper *p, uint32_t y)
{
    return map_done(p, 0, y, map_is_image(p, map_in_id(p, 0)));
}

/* The first input, in the layout and dimensions that it has. */
static uint32_t input_as_it_is(struct mapper *p)
{
    uint32_t x = map_in_id(p, 0);
    return map_is_image(p, x) ? map_as_image(p, x) : map_any_plain(p, x);
}

bool map_function(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    return done_like_input(p, map_emit1(p, p->n->op->kind, x, onnx_function_attributes(p->n)));
}

bool map_fits_in(const struct tensor *small, const struct tensor *large)
{
    for (uint32_t i = 0; i < small->n_dims; i++)
        if (small->dims[i] != large->dims[i] && small->dims[i] != 1)
            return false;
    return true;
}

/* Limits that are tensors: a maximum, then a minimum. */
static bool clip_computed(struct mapper *p, bool low, bool high)
{
    uint32_t x = map_as_plain(p, map_in_id(p, 0));
    for (uint32_t i = 1; i < 3 && x != NO_ID; i++) {
        if (!(i == 1 ? low : high))
            continue;
        uint32_t limit = map_as_operand(p, map_in_id(p, i), false, p->g->tensors[x].n_dims);
        if (limit == NO_ID || !map_fits_in(&p->g->tensors[limit], &p->g->tensors[x]))
            return limit != NO_ID && MAP_REFUSE(p, "its limits do not fit its input");
        x = map_emit2(p, OP_COMBINE, x, limit, WITH(.function = i == 1 ? FUNCTION_MAXIMUM : FUNCTION_MINIMUM));
    }
    return map_done(p, 0, x, false);
}

bool map_clip(struct mapper *p)
{
    const struct onnx_value *low = map_in(p, 1), *high = map_in(p, 2);
    if ((low && !onnx_is_known_number(low)) || (high && !onnx_is_known_number(high)))
        return clip_computed(p, low != NULL, high != NULL);
    uint32_t x = input_as_it_is(p);
    double from = low ? low->known[0] : onnx_float(p->n, "min", -INFINITY), to = high ? high->known[0] : onnx_float(p->n, "max", INFINITY);
    if (from == 0 && to >= (double)FLT_MAX)
        return done_like_input(p, map_emit1(p, OP_RELU, x, NO_ATTRIBUTES));
    return done_like_input(p, map_clipped(p, x, from, to));
}

uint32_t map_scaled(struct mapper *p, uint32_t x, double factor)
{
    return factor == 1 ? x : map_emit1(p, OP_SCALE, x, WITH(.rate = factor));
}

uint32_t map_shifted(struct mapper *p, uint32_t x, double by)
{
    return by == 0 ? x : map_emit1(p, OP_MAP, x, WITH(.function = FUNCTION_ADD, .low = by));
}

/* A number with as many dimensions as x. */
static uint32_t number_beside(struct mapper *p, double number, uint32_t x)
{
    const uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    return map_view(p, map_filled(p, number, 1), p->g->tensors[x].n_dims, dims);
}

/* Makes y, which is composed of several functions, the result. */
static bool done_composed(struct mapper *p, uint32_t y)
{
    p->into = "functions of elements";
    return done_like_input(p, y);
}

/* gamma elu(x) */
bool map_selu(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    x = map_emit1(p, OP_MAP, x, WITH(.function = FUNCTION_ELU, .low = onnx_float(p->n, "alpha", 1.6732632)));
    return done_composed(p, map_scaled(p, x, onnx_float(p->n, "gamma", 1.050701)));
}

/* alpha elu(x / alpha) */
bool map_celu(struct mapper *p)
{
    double alpha = onnx_float(p->n, "alpha", 1);
    uint32_t x = input_as_it_is(p);
    x = map_emit1(p, OP_MAP, map_scaled(p, x, 1 / alpha), WITH(.function = FUNCTION_ELU, .low = 1));
    return done_composed(p, map_scaled(p, x, alpha));
}

/* x tanh(softplus(x)) */
bool map_mish(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    uint32_t gate = map_emit1(p, OP_TANH, map_emit_function(p, FUNCTION_SOFTPLUS, x), NO_ATTRIBUTES);
    return done_composed(p, map_emit2(p, OP_MUL, x, gate, NO_ATTRIBUTES));
}

/* x sigmoid(alpha x) */
bool map_swish(struct mapper *p)
{
    double alpha = onnx_float(p->n, "alpha", 1);
    uint32_t x = input_as_it_is(p);
    if (alpha == 1)
        return done_like_input(p, map_emit1(p, OP_SWISH, x, NO_ATTRIBUTES));
    uint32_t gate = map_emit1(p, OP_SIGMOID, map_scaled(p, x, alpha), NO_ATTRIBUTES);
    return done_composed(p, map_emit2(p, OP_MUL, x, gate, NO_ATTRIBUTES));
}

/* x / (1 + |x|) */
bool map_softsign(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    uint32_t below = map_shifted(p, map_emit_function(p, FUNCTION_ABS, x), 1);
    return done_composed(p, map_combined(p, FUNCTION_DIVIDE, x, below));
}

/* x where x > alpha, else 0 */
bool map_thresholded_relu(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    uint32_t limit = number_beside(p, onnx_float(p->n, "alpha", 1), x);
    uint32_t above = map_combined(p, FUNCTION_GREATER, x, limit);
    return done_composed(p, map_emit2(p, OP_SELECT, x, above, NO_ATTRIBUTES));
}

/* x - bias sign(x) where |x| > lambd, else 0 */
bool map_shrink(struct mapper *p)
{
    double bias = onnx_float(p->n, "bias", 0);
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    uint32_t limit = number_beside(p, onnx_float(p->n, "lambd", 0.5), x);
    uint32_t far = map_combined(p, FUNCTION_GREATER, map_emit_function(p, FUNCTION_ABS, x), limit);
    if (bias != 0)
        x = map_emit2(p, OP_ADD, x, map_scaled(p, map_emit_function(p, FUNCTION_SIGN, x), -bias), NO_ATTRIBUTES);
    return done_composed(p, map_emit2(p, OP_SELECT, x, far, NO_ATTRIBUTES));
}

/* If only one sign counts, this is a comparison with the infinity of that sign. */
bool map_is_inf(struct mapper *p)
{
    bool positive = onnx_flag(p->n, "detect_positive", true), negative = onnx_flag(p->n, "detect_negative", true);
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID || positive == negative)
        return x != NO_ID && (positive ? map_function(p) : MAP_REFUSE(p, "looks for no infinity"));
    uint32_t limit = number_beside(p, positive ? INFINITY : -INFINITY, x);
    return done_like_input(p, map_combined(p, FUNCTION_EQUAL, x, limit));
}

/* max(x, 0) + slope min(x, 0). Older exporters leave out the trailing ones of [channels, 1, 1]. */
bool map_prelu(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *given = map_in(p, 1);
    bool by_channel = given && given->constant && given->n_dims == 1 && v->n_dims <= 5 && given->dims[0] == v->dims[1] &&
                      given->dims[0] != v->dims[v->n_dims - 1];
    bool image = map_is_image(p, map_in_id(p, 0)) || by_channel;
    uint32_t x = image ? map_as_image(p, map_in_id(p, 0)) : map_as_plain(p, map_in_id(p, 0));
    if (x == NO_ID)
        return false;
    uint32_t slope = by_channel ? map_weight(p, map_in_id(p, 1), ONNX_AS_IS, 4, (uint64_t[]){ 1, 1, 1, v->dims[1] })
                                : map_as_operand(p, map_in_id(p, 1), image, p->g->tensors[x].n_dims);
    if (slope == NO_ID || !map_fits_in(&p->g->tensors[slope], &p->g->tensors[x]))
        return slope != NO_ID && MAP_REFUSE(p, "its slopes do not fit its input; want as many dimensions, or ones behind the channels");
    uint32_t below = map_clipped(p, x, -INFINITY, 0);
    below = map_emit2(p, OP_MUL, below, slope, NO_ATTRIBUTES);
    return map_done(p, 0, map_emit2(p, OP_ADD, map_emit1(p, OP_RELU, x, NO_ATTRIBUTES), below, NO_ATTRIBUTES), image);
}

bool map_not(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    return done_like_input(p, map_shifted(p, map_emit_function(p, FUNCTION_NEGATE, x), 1));
}

bool map_cast(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    enum data_type to = map_type(p, map_out(p, 0)->type);
    if (x == NO_ID)
        return false;
    if (p->g->tensors[x].type == to)
        return map_alias(p);
    return done_like_input(p, map_emit1(p, OP_CAST, x, WITH(.to_type = to)));
}

bool map_dropout(struct mapper *p)
{
    const struct onnx_value *given = map_in(p, 1);
    double rate = onnx_is_known_number(given) ? given->known[0] : onnx_float(p->n, "ratio", 0.5);
    if (p->o->inference || rate <= 0 || rate >= 1)
        return map_alias(p);
    uint32_t x = input_as_it_is(p);
    return x != NO_ID && done_like_input(p, map_emit1(p, OP_DROPOUT, x, WITH(.rate = rate)));
}

/* ---- two operands ---------------------------------------------------------------------------------------------- */

/* A function of two elements, as an operation of the graph. */
struct function_of_two { enum op_kind kind; enum op_function function; };

static struct function_of_two function_of(const struct onnx_node *n) { return (struct function_of_two){ n->op->kind, n->op->function }; }
static struct function_of_two combination(enum op_function f) { return (struct function_of_two){ OP_COMBINE, f }; }

/* A function of a number and a tensor. If PopART has a form for this, it is one pass without an exchange. As PopART does, a division is kept as a
 * division, a maximum does not become a ReLU, and a power has a tensor as its exponent, whatever its value. */
static uint32_t with_number(struct mapper *p, struct function_of_two two, uint32_t x, double number, bool number_first)
{
    bool subtract = two.function == FUNCTION_SUBTRACT && two.kind == OP_COMBINE, divide = two.function == FUNCTION_DIVIDE && two.kind == OP_COMBINE;
    if (two.kind == OP_MUL)
        return map_emit1(p, OP_SCALE, x, WITH(.rate = number));
    if (divide && !number_first)
        return map_emit1(p, OP_MAP, x, WITH(.function = FUNCTION_DIVIDE_BY, .low = number));
    if (subtract && number_first)
        x = map_emit_function(p, FUNCTION_NEGATE, x);
    if (two.kind == OP_ADD || subtract)
        return map_emit1(p, OP_MAP, x, WITH(.function = FUNCTION_ADD, .low = subtract && !number_first ? -number : number));
    return map_emit2(p, OP_COMBINE, x, number_beside(p, number, x), WITH(.function = two.function, .inverted = number_first));
}

/* Broadcasts x to the dimensions of both. */
static uint32_t expanded(struct mapper *p, uint32_t x, uint32_t other)
{
    const struct tensor *a = &p->g->tensors[x], *b = &p->g->tensors[other];
    struct op_attributes at = NO_ATTRIBUTES;
    bool smaller = false;
    for (uint32_t i = 0; i < a->n_dims; i++) {
        at.view[i] = max_u64(a->dims[i], b->dims[i]);
        smaller |= at.view[i] != a->dims[i];
    }
    return smaller ? map_emit1(p, OP_EXPAND, x, at) : x;
}

static bool is_last_vector(const struct tensor *t, const struct tensor *of)
{
    return t->role == ROLE_WEIGHT && t->dims[t->n_dims - 1] == of->dims[of->n_dims - 1] &&
           tensor_elements(t) == t->dims[t->n_dims - 1];
}

/* [batch, t, 1, h] and [batch, 1, u, h]: each step with each label, as the joint network of a transducer adds them. */
static bool is_outer(const struct tensor *a, const struct tensor *b)
{
    return a->n_dims == 4 && a->dims[0] == b->dims[0] && a->dims[3] == b->dims[3] && a->dims[2] == 1 && b->dims[1] == 1 && a->dims[1] > 1 && b->dims[2] > 1;
}

static uint32_t outer_sum(struct mapper *p, uint32_t a, uint32_t b)
{
    uint64_t rows[4], columns[4];
    memcpy(rows, p->g->tensors[a].dims, sizeof rows);
    memcpy(columns, p->g->tensors[b].dims, sizeof columns);
    a = VIEW(p, a, rows[0], rows[1], rows[3]);
    b = VIEW(p, b, columns[0], columns[2], columns[3]);
    return map_emit2(p, OP_OUTER_ADD, a, b, NO_ATTRIBUTES);
}

static uint32_t combine(struct mapper *p, struct function_of_two two, uint32_t a, uint32_t b)
{
    bool inverted = false;
    if (two.kind == OP_ADD && is_outer(&p->g->tensors[a], &p->g->tensors[b]))
        return outer_sum(p, a, b);
    if (two.kind == OP_ADD && is_outer(&p->g->tensors[b], &p->g->tensors[a]))
        return outer_sum(p, b, a);
    if (!map_fits_in(&p->g->tensors[b], &p->g->tensors[a])) {
        if (map_fits_in(&p->g->tensors[a], &p->g->tensors[b])) {
            uint32_t swap = a;
            a = b;
            b = swap;
            inverted = true;
        } else {
            a = expanded(p, a, b);
        }
    }
    if (p->g->tensors[a].producer_op == NO_ID && p->g->tensors[b].producer_op != NO_ID && two.kind != OP_COMBINE &&
        tensor_is_same_shape(&p->g->tensors[a], &p->g->tensors[b]))
        return map_emit2(p, two.kind, b, a, NO_ATTRIBUTES);
    return map_emit2(p, two.kind, a, b, WITH(.function = two.function, .inverted = inverted));
}

uint32_t map_added(struct mapper *p, uint32_t x, uint32_t y)
{
    uint64_t width = tensor_elements(&p->g->tensors[y]);
    if (is_last_vector(&p->g->tensors[y], &p->g->tensors[x]))
        return map_emit2(p, OP_BIAS_ADD, x, VIEW(p, y, width), NO_ATTRIBUTES);
    return combine(p, (struct function_of_two){ .kind = OP_ADD }, x, y);
}

/* Depth and height may be joined if both are 1 or neither is. */
static bool joins_depth(const struct onnx_value *v)
{
    uint64_t depth = v->n_dims >= 3 ? v->dims[v->n_dims - 3] : 1, height = v->n_dims >= 2 ? v->dims[v->n_dims - 2] : 1;
    return (depth == 1) == (height == 1);
}

/* True if the result has the layout of an image. One operand must have that layout and all dimensions; the other must have it too, be constant, or
 * have no more elements. */
static bool joint_layout(const struct mapper *p, uint32_t a, uint32_t b, uint32_t n_dims)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    if (n_dims == 5 && !(joins_depth(va) && joins_depth(vb)))
        return false;
    return (map_is_image(p, a) && va->n_dims == n_dims && (map_is_image(p, b) || vb->constant || onnx_elements(vb) <= onnx_elements(va))) ||
           (map_is_image(p, b) && vb->n_dims == n_dims && (va->constant || onnx_elements(va) <= onnx_elements(vb)));
}

static bool combine_values(struct mapper *p, struct function_of_two two, uint32_t a, uint32_t b, uint32_t *out, bool *image)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    uint32_t n = max_u32(va->n_dims, vb->n_dims);
    *image = joint_layout(p, a, b, n);
    bool number_first = onnx_is_known_number(va) && va->n_dims <= vb->n_dims, number = number_first || (onnx_is_known_number(vb) && vb->n_dims <= va->n_dims);
    if (number) {
        uint32_t value = number_first ? b : a;
        *image = map_is_image(p, value);
        uint32_t x = *image ? map_as_image(p, value) : map_any_plain(p, value);
        *out = x == NO_ID ? NO_ID : with_number(p, two, x, number_first ? va->known[0] : vb->known[0], number_first);
        return *out != NO_ID;
    }
    uint32_t ta = map_as_operand(p, a, *image, n), tb = ta == NO_ID ? NO_ID : map_as_operand(p, b, *image, n);
    if (tb == NO_ID)
        return false;
    const struct tensor *x = &p->g->tensors[ta], *y = &p->g->tensors[tb];
    bool second = is_last_vector(y, x), first = is_last_vector(x, y);
    if (two.kind == OP_ADD && (first || second)) {
        uint32_t vector = second ? tb : ta;
        uint64_t width = tensor_elements(&p->g->tensors[vector]);
        *out = map_emit2(p, OP_BIAS_ADD, second ? ta : tb, VIEW(p, vector, width), NO_ATTRIBUTES);
    } else {
        *out = combine(p, two, ta, tb);
    }
    return true;
}

bool map_binary(struct mapper *p)
{
    uint32_t y;
    bool image;
    if (p->n->n_inputs != 2)
        return map_sum(p);
    if (!combine_values(p, function_of(p->n), map_in_id(p, 0), map_in_id(p, 1), &y, &image))
        return false;
    if (onnx_is(p->n, ONNX_OP_DIV) && onnx_is_whole(map_out(p, 0)->type))
        y = map_emit_function(p, FUNCTION_FLOOR, y);
    return map_done(p, 0, y, image);
}

/* 1 - (a = b) */
bool map_xor(struct mapper *p)
{
    uint32_t y;
    bool image;
    if (!combine_values(p, combination(FUNCTION_EQUAL), map_in_id(p, 0), map_in_id(p, 1), &y, &image))
        return false;
    return map_done(p, 0, map_shifted(p, map_emit_function(p, FUNCTION_NEGATE, y), 1), image);
}

/* a - floor(a / b) b, which has the divisor's sign, or with fmod the remainder, which has the dividend's. */
bool map_mod(struct mapper *p)
{
    uint32_t parts, whole, y;
    bool image;
    if (onnx_flag(p->n, "fmod", false))
        return combine_values(p, combination(FUNCTION_REMAINDER), map_in_id(p, 0), map_in_id(p, 1), &y, &image) && map_done(p, 0, y, image);
    uint32_t n = map_out(p, 0)->n_dims, b = map_as_operand(p, map_in_id(p, 1), false, n), a = b == NO_ID ? NO_ID : map_as_operand(p, map_in_id(p, 0), false, n);
    if (a == NO_ID || !combine_values(p, combination(FUNCTION_DIVIDE), map_in_id(p, 0), map_in_id(p, 1), &parts, &image))
        return false;
    if (image)
        return MAP_REFUSE(p, "on an image");
    whole = map_emit_function(p, FUNCTION_FLOOR, parts);
    whole = map_view(p, whole, p->g->tensors[a].n_dims, p->g->tensors[expanded(p, a, b)].dims);
    whole = combine(p, (struct function_of_two){ .kind = OP_MUL }, whole, b);
    return map_done(p, 0, combine(p, combination(FUNCTION_SUBTRACT), a, whole), false);
}

/* Sum, Mean, Max and Min of any number of operands, pair by pair. */
bool map_sum(struct mapper *p)
{
    uint32_t y = NO_ID, n = map_out(p, 0)->n_dims;
    bool image = map_is_image(p, map_in_id(p, 0)) && map_in(p, 0)->n_dims == n;
    for (uint32_t i = 0; i < p->n->n_inputs; i++) {
        uint32_t x = map_as_operand(p, map_in_id(p, i), image, n);
        if (x == NO_ID)
            return false;
        y = i == 0 ? x : combine(p, function_of(p->n), y, x);
    }
    if (onnx_is(p->n, ONNX_OP_MEAN))
        y = map_emit1(p, OP_SCALE, y, WITH(.rate = 1.0 / p->n->n_inputs));
    return map_done(p, 0, y, image);
}

/* The operator Where(condition, a, b) for two numbers: condition (a - b) + b, or a selection if one is infinite. */
static bool choose_number(struct mapper *p, double a, double b)
{
    uint32_t condition = map_in_id(p, 0), x = map_is_image(p, condition) ? map_as_image(p, condition) : map_any_plain(p, condition);
    if (x == NO_ID)
        return false;
    x = map_of_type(p, x, p->o->type);
    if (isinf(a) || isinf(b)) {
        uint32_t finite = map_emit1(p, OP_SCALE, x, WITH(.rate = 0));
        finite = map_emit1(p, OP_MAP, finite, WITH(.function = FUNCTION_ADD, .low = isinf(a) ? b : a));
        x = map_emit2(p, OP_SELECT, finite, x, WITH(.inverted = isinf(a) != 0, .rate = isinf(a) ? a : b));
    } else {
        x = map_emit1(p, OP_MAP, map_scaled(p, x, a - b), WITH(.function = FUNCTION_ADD, .low = b));
    }
    return map_done(p, 0, x, map_is_image(p, condition));
}

/* A known number becomes a constant of the selection. */
bool map_where(struct mapper *p)
{
    const struct onnx_value *a = map_in(p, 1), *b = map_in(p, 2);
    if (!a || !b)
        return MAP_REFUSE(p, "has %u inputs, want 3", p->n->n_inputs);
    bool inverted = onnx_is_known_number(a);
    uint32_t n = map_out(p, 0)->n_dims, value = map_in_id(p, inverted ? 2 : 1);
    if (inverted && onnx_is_known_number(b))
        return choose_number(p, a->known[0], b->known[0]);
    uint32_t x = map_as_operand(p, value, false, n), condition = x == NO_ID ? NO_ID : map_as_operand(p, map_in_id(p, 0), false, n);
    if (condition == NO_ID)
        return false;
    x = expanded(p, x, condition);
    struct op_attributes at = WITH(.inverted = inverted, .rate = inverted ? a->known[0] : onnx_is_known_number(b) ? b->known[0] : 0);
    if (onnx_is_known_number(a) || onnx_is_known_number(b))
        return map_done(p, 0, map_emit2(p, OP_SELECT, x, condition, at), false);
    uint32_t other = map_as_operand(p, map_in_id(p, 2), false, n);
    if (other == NO_ID)
        return false;
    x = expanded(p, x, other);
    return map_done(p, 0, map_emit(p, OP_SELECT, (uint32_t[]){ x, condition, other }, 3, at), false);
}

/* ---- quantisation ------------------------------------------------------------------------------------------------ */

/* The scale and zero point, each a known number. */
static bool one_scale(struct mapper *p, double *scale, double *zero)
{
    if (!onnx_is_known_number(map_in(p, 1)) || (map_in(p, 2) && !onnx_is_known_number(map_in(p, 2))))
        return MAP_REFUSE(p, "of what is computed; want one scale and zero point that the file knows");
    *scale = map_in(p, 1)->known[0];
    *zero = map_in(p, 2) ? map_in(p, 2)->known[0] : 0;
    return *scale != 0 || MAP_REFUSE(p, "has a scale of 0");
}

/* x / scale + zero point, rounded to even and limited to the range of the type. */
bool map_quantize(struct mapper *p)
{
    static const struct { int type; double least, most; } ends[] = {
        { ONNX_UINT8, 0, 255 }, { ONNX_INT8, -128, 127 }, { ONNX_UINT16, 0, 65535 }, { ONNX_INT16, -32768, 32767 } };
    const struct onnx_value *y = map_out(p, 0);
    bool image = map_is_image(p, map_in_id(p, 0));
    double scale, zero;
    size_t k = 0;
    while (k < sizeof ends / sizeof *ends && ends[k].type != y->type)
        k++;
    if (k == sizeof ends / sizeof *ends)
        return MAP_REFUSE(p, "to numbers of type %d; want integers of 8 or 16 bits", y->type);
    if (!p->o->inference)
        return MAP_REFUSE(p, "its gradient is not modelled; train the model before it is quantised");
    uint32_t x = one_scale(p, &scale, &zero) ? map_in_layout(p, map_in_id(p, 0), image) : NO_ID;
    x = map_emit_function(p, FUNCTION_ROUND, map_scaled(p, x, 1 / scale));
    x = map_shifted(p, x, zero);
    x = map_clipped(p, x, ends[k].least, ends[k].most);
    p->into = "map";
    return map_done(p, 0, map_emit1(p, OP_CAST, x, WITH(.to_type = map_type(p, y->type))), image);
}

bool map_dequantize(struct mapper *p)
{
    bool image = map_is_image(p, map_in_id(p, 0));
    double scale, zero;
    uint32_t x = one_scale(p, &scale, &zero) ? map_in_layout(p, map_in_id(p, 0), image) : NO_ID;
    x = map_emit1(p, OP_CAST, x, WITH(.to_type = p->o->type));
    return map_done(p, 0, map_scaled(p, map_shifted(p, x, -zero), scale), image);
}
