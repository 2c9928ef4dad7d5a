/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_math.c - operators on each number by itself: functions of one, and of two.
 */
/*
 * map_quantize.c - the steps to integers and back around operators of floats (QDQ).
 *
 * What is computed is scaled, rounded and cut off as the file says. Quantised weights are floats by the time the graph has them (fold.c).
 */
#include "workloads/onnx/onnx_internal.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- functions of elements --------------------------------------------------------------------------------- */

static bool done_like_input(struct mapper *p, uint32_t y)
{
    return map_done(p, 0, y, is_image(p, in_id(p, 0)));
}

/* In whatever layout and dimensions the input lies. */
static uint32_t input_as_it_is(struct mapper *p)
{
    uint32_t x = in_id(p, 0);
    return is_image(p, x) ? as_image(p, x) : any_plain(p, x);
}

bool map_function(struct mapper *p)
{
    static const struct row { const char *op; enum op_kind kind; enum op_function function; double low, high; const char *names[2]; } rows[] = {
#define KIND(op_, kind_) { .op = op_, .kind = kind_ }
#define MAP(op_, function_) { .op = op_, .kind = OP_MAP, .function = function_ }
        KIND("Sigmoid", OP_SIGMOID), KIND("Tanh", OP_TANH), KIND("Gelu", OP_GELU), KIND("Swish", OP_SWISH),
        MAP("Erf", FUNCTION_ERF), MAP("Exp", FUNCTION_EXP), MAP("Log", FUNCTION_LOG), MAP("Sqrt", FUNCTION_SQRT), MAP("Abs", FUNCTION_ABS),
        MAP("Neg", FUNCTION_NEGATE), MAP("Reciprocal", FUNCTION_RECIPROCAL), MAP("Softplus", FUNCTION_SOFTPLUS), MAP("Sin", FUNCTION_SIN),
        MAP("Cos", FUNCTION_COS), MAP("HardSwish", FUNCTION_HARD_SWISH), MAP("Floor", FUNCTION_FLOOR), MAP("Ceil", FUNCTION_CEIL),
        MAP("IsNaN", FUNCTION_IS_NAN), MAP("IsInf", FUNCTION_IS_INF), MAP("Round", FUNCTION_ROUND), MAP("Sign", FUNCTION_SIGN),
        { .op = "LeakyRelu", .kind = OP_MAP, .function = FUNCTION_LEAKY_RELU, .low = 0.01, .names = { "alpha" } },
        { .op = "Elu", .kind = OP_MAP, .function = FUNCTION_ELU, .low = 1, .names = { "alpha" } },
        { "HardSigmoid", OP_MAP, FUNCTION_HARD_SIGMOID, 0.2, 0.5, { "alpha", "beta" } },
#undef KIND
#undef MAP
    };
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    const struct row *r = rows;
    while (!text_is(r->op, p->n->op))   /* the table of mappings names these alone */
        r++;
    double low = r->names[0] ? onnx_float(p->n, r->names[0], r->low) : 0, high = r->names[1] ? onnx_float(p->n, r->names[1], r->high) : 0;
    return done_like_input(p, emit1(p, r->kind, x, AT(.function = r->function, .low = low, .high = high)));
}

/* Repeated where it has ones, the small one is as large. */
bool map_fits_in(const struct tensor *small, const struct tensor *large)
{
    for (uint32_t i = 0; i < small->n_dims; i++)
        if (small->dims[i] != large->dims[i] && small->dims[i] != 1)
            return false;
    return true;
}

bool map_relu(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    return x != NO_ID && done_like_input(p, emit1(p, OP_RELU, x, NO_ATTRIBUTES));
}

/* Between limits that are tensors: the larger of one, then the smaller of the other. */
static bool clip_computed(struct mapper *p, bool low, bool high)
{
    uint32_t x = as_plain(p, in_id(p, 0));
    for (uint32_t i = 1; i < 3 && x != NO_ID; i++) {
        if (!(i == 1 ? low : high))
            continue;
        uint32_t limit = as_operand(p, in_id(p, i), false, p->g->tensors[x].n_dims);
        if (limit == NO_ID || !map_fits_in(&p->g->tensors[limit], &p->g->tensors[x]))
            return limit != NO_ID && MAP_REFUSE(p, "its limits do not fit its input");
        x = emit2(p, OP_COMBINE, x, limit, AT(.function = i == 1 ? FUNCTION_MAXIMUM : FUNCTION_MINIMUM));
    }
    return x != NO_ID && map_done(p, 0, x, false);
}

bool map_clip(struct mapper *p)
{
    const struct onnx_value *low = map_in(p, 1), *high = map_in(p, 2);
    if ((low && !known_number(low)) || (high && !known_number(high)))
        return clip_computed(p, low != NULL, high != NULL);
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    double from = low ? low->known[0] : onnx_float(p->n, "min", -INFINITY), to = high ? high->known[0] : onnx_float(p->n, "max", INFINITY);
    if (from == 0 && to >= (double)FLT_MAX)
        return done_like_input(p, emit1(p, OP_RELU, x, NO_ATTRIBUTES));
    return done_like_input(p, emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = from, .high = to)));
}

uint32_t map_scaled(struct mapper *p, uint32_t x, double factor)
{
    return factor == 1 ? x : emit1(p, OP_SCALE, x, AT(.rate = factor));
}

uint32_t map_shifted(struct mapper *p, uint32_t x, double by)
{
    return by == 0 ? x : emit1(p, OP_MAP, x, AT(.function = FUNCTION_ADD, .low = by));
}

static uint32_t elu(struct mapper *p, uint32_t x, double alpha)
{
    return emit1(p, OP_MAP, x, AT(.function = FUNCTION_ELU, .low = alpha));
}

/* x / (1 + |x|) */
static uint32_t softsign(struct mapper *p, uint32_t x)
{
    uint32_t below = map_shifted(p, emit_function(p, FUNCTION_ABS, x), 1);
    return emit2(p, OP_COMBINE, x, below, AT(.function = FUNCTION_DIVIDE));
}

/* One number, of as many dimensions as x. */
static uint32_t number_beside(struct mapper *p, double number, uint32_t x)
{
    const uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    return map_view(p, map_filled(p, number, 1), p->g->tensors[x].n_dims, dims);
}

/* x where x > alpha, else 0 */
static uint32_t thresholded(struct mapper *p, uint32_t x, double alpha)
{
    uint32_t limit = number_beside(p, alpha, x);
    uint32_t above = emit2(p, OP_COMBINE, x, limit, AT(.function = FUNCTION_GREATER));
    return emit2(p, OP_SELECT, x, above, NO_ATTRIBUTES);
}

/* Functions that are made of others: gamma elu(x), alpha elu(x / alpha), x tanh(softplus(x)) and those above. */
bool map_composed(struct mapper *p)
{
    const char *op = p->n->op;
    bool selu = text_is(op, "Selu");
    double alpha = onnx_float(p->n, "alpha", selu ? 1.6732632 : 1), gamma = onnx_float(p->n, "gamma", 1.050701);
    uint32_t x = input_as_it_is(p), y;
    if (x == NO_ID)
        return false;
    if (selu)
        y = map_scaled(p, elu(p, x, alpha), gamma);
    else if (text_is(op, "Celu"))
        y = map_scaled(p, elu(p, map_scaled(p, x, 1 / alpha), 1), alpha);
    else if (text_is(op, "Mish"))
        y = emit2(p, OP_MUL, x, emit1(p, OP_TANH, emit_function(p, FUNCTION_SOFTPLUS, x), NO_ATTRIBUTES), NO_ATTRIBUTES);
    else
        y = text_is(op, "Softsign") ? softsign(p, x) : thresholded(p, x, alpha);
    p->into = "functions of elements";
    return done_like_input(p, y);
}

/* max(x, 0) + slope min(x, 0). Older exporters give the slopes by channel without the ones behind them. */
bool map_prelu(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *given = map_in(p, 1);
    bool by_channel = given && given->constant && given->n_dims == 1 && v->n_dims <= 5 && given->dims[0] == v->dims[1] &&
                      given->dims[0] != v->dims[v->n_dims - 1];
    bool image = is_image(p, in_id(p, 0)) || by_channel;
    uint32_t x = image ? as_image(p, in_id(p, 0)) : as_plain(p, in_id(p, 0));
    if (x == NO_ID)
        return false;
    uint32_t slope = by_channel ? map_weight(p, in_id(p, 1), ONNX_AS_IS, 4, (uint64_t[]){ 1, 1, 1, v->dims[1] })
                                : as_operand(p, in_id(p, 1), image, p->g->tensors[x].n_dims);
    if (slope == NO_ID || !map_fits_in(&p->g->tensors[slope], &p->g->tensors[x]))
        return slope != NO_ID && MAP_REFUSE(p, "its slopes do not fit its input; want as many dimensions, or ones behind the channels");
    uint32_t below = emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = -INFINITY, .high = 0));
    below = emit2(p, OP_MUL, below, slope, NO_ATTRIBUTES);
    return map_done(p, 0, emit2(p, OP_ADD, emit1(p, OP_RELU, x, NO_ATTRIBUTES), below, NO_ATTRIBUTES), image);
}

bool map_not(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    return done_like_input(p, map_shifted(p, emit_function(p, FUNCTION_NEGATE, x), 1));
}

bool map_cast(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    enum data_type to = map_type(p, map_out(p, 0)->type);
    if (x == NO_ID)
        return false;
    if (p->g->tensors[x].type == to)
        return map_alias(p);
    return done_like_input(p, emit1(p, OP_CAST, x, AT(.to_type = to)));
}

bool map_dropout(struct mapper *p)
{
    const struct onnx_value *given = map_in(p, 1);
    double rate = known_number(given) ? given->known[0] : onnx_float(p->n, "ratio", 0.5);
    if (p->o->inference || rate <= 0 || rate >= 1)
        return map_alias(p);
    uint32_t x = input_as_it_is(p);
    return x != NO_ID && done_like_input(p, emit1(p, OP_DROPOUT, x, AT(.rate = rate)));
}

/* ---- two operands ---------------------------------------------------------------------------------------------- */

static const struct two { const char *op; enum op_kind kind; enum op_function function; } twos[] = {
    { "Add", OP_ADD, 0 }, { "Mul", OP_MUL, 0 }, { "Sub", OP_COMBINE, FUNCTION_SUBTRACT },
    { "Div", OP_COMBINE, FUNCTION_DIVIDE }, { "Pow", OP_COMBINE, FUNCTION_POWER },
    { "Max", OP_COMBINE, FUNCTION_MAXIMUM }, { "Min", OP_COMBINE, FUNCTION_MINIMUM },
    { "Equal", OP_COMBINE, FUNCTION_EQUAL }, { "Greater", OP_COMBINE, FUNCTION_GREATER },
    { "Less", OP_COMBINE, FUNCTION_LESS }, { "GreaterOrEqual", OP_COMBINE, FUNCTION_GREATER },
    { "LessOrEqual", OP_COMBINE, FUNCTION_LESS }, { "And", OP_COMBINE, FUNCTION_AND }, { "Or", OP_COMBINE, FUNCTION_OR },
};

static const struct two *find_two(const char *op)
{
    const struct two *two = twos;
    while (!text_is(two->op, op))       /* the table of mappings names these alone */
        two++;
    return two;
}

/* A number and a tensor: one pass without an exchange, where the function has such a form. */
static uint32_t with_number(struct mapper *p, const struct two *two, uint32_t x, double number, bool number_first)
{
    bool subtract = two->function == FUNCTION_SUBTRACT && two->kind == OP_COMBINE, divide = two->function == FUNCTION_DIVIDE;
    if (two->kind == OP_MUL || (divide && !number_first))
        return emit1(p, OP_SCALE, x, AT(.rate = two->kind == OP_MUL ? number : 1 / number));
    if (divide)
        return map_scaled(p, emit_function(p, FUNCTION_RECIPROCAL, x), number);
    if (subtract && number_first)
        x = emit_function(p, FUNCTION_NEGATE, x);
    if (two->kind == OP_ADD || subtract)
        return emit1(p, OP_MAP, x, AT(.function = FUNCTION_ADD, .low = subtract && !number_first ? -number : number));
    if (two->function == FUNCTION_MAXIMUM && number == 0)
        return emit1(p, OP_RELU, x, NO_ATTRIBUTES);
    if (two->function == FUNCTION_MAXIMUM || two->function == FUNCTION_MINIMUM)
        return emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = two->function == FUNCTION_MAXIMUM ? number : -INFINITY,
                                      .high = two->function == FUNCTION_MINIMUM ? number : INFINITY));
    return emit2(p, OP_COMBINE, x, number_beside(p, number, x), AT(.function = two->function, .inverted = number_first));
}

/* Repeats x to the dimensions that both together have. */
static uint32_t expanded(struct mapper *p, uint32_t x, uint32_t other)
{
    const struct tensor *a = &p->g->tensors[x], *b = &p->g->tensors[other];
    struct op_attributes at = NO_ATTRIBUTES;
    bool smaller = false;
    for (uint32_t i = 0; i < a->n_dims; i++) {
        at.view[i] = max_u64(a->dims[i], b->dims[i]);
        smaller |= at.view[i] != a->dims[i];
    }
    return smaller ? emit1(p, OP_EXPAND, x, at) : x;
}

static bool is_last_vector(const struct tensor *t, const struct tensor *of)
{
    return t->role == ROLE_WEIGHT && t->dims[t->n_dims - 1] == of->dims[of->n_dims - 1] &&
           tensor_elements(t) == t->dims[t->n_dims - 1];
}

static uint32_t combine(struct mapper *p, const struct two *two, uint32_t a, uint32_t b)
{
    bool inverted = false;
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
    if (p->g->tensors[a].producer_op == NO_ID && p->g->tensors[b].producer_op != NO_ID && two->kind != OP_COMBINE &&
        tensor_is_same_shape(&p->g->tensors[a], &p->g->tensors[b]))
        return emit2(p, two->kind, b, a, NO_ATTRIBUTES);
    return emit2(p, two->kind, a, b, AT(.function = two->function, .inverted = inverted));
}

uint32_t map_added(struct mapper *p, uint32_t x, uint32_t y)
{
    uint64_t width = tensor_elements(&p->g->tensors[y]);
    if (is_last_vector(&p->g->tensors[y], &p->g->tensors[x]))
        return emit2(p, OP_BIAS_ADD, x, VIEW(p, y, width), NO_ATTRIBUTES);
    return combine(p, find_two("Add"), x, y);
}

/* Depth and height may be joined: both are there, or neither. */
static bool joins_depth(const struct onnx_value *v)
{
    uint64_t depth = v->n_dims >= 3 ? v->dims[v->n_dims - 3] : 1, height = v->n_dims >= 2 ? v->dims[v->n_dims - 2] : 1;
    return (depth == 1) == (height == 1);
}

/* Images stay images if the other operand is one too, or has no more than channels. */
static bool joint_layout(const struct mapper *p, uint32_t a, uint32_t b, uint32_t n_dims)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    if (n_dims == 5 && !(joins_depth(va) && joins_depth(vb)))
        return false;
    return (is_image(p, a) && va->n_dims == n_dims && (is_image(p, b) || vb->constant || onnx_elements(vb) <= onnx_elements(va))) ||
           (is_image(p, b) && vb->n_dims == n_dims && (va->constant || onnx_elements(va) <= onnx_elements(vb)));
}

static bool map_pair(struct mapper *p, const struct two *two, uint32_t a, uint32_t b, uint32_t *out, bool *image)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    uint32_t n = max_u32(va->n_dims, vb->n_dims);
    *image = joint_layout(p, a, b, n);
    bool number_first = known_number(va) && va->n_dims <= vb->n_dims, number = number_first || (known_number(vb) && vb->n_dims <= va->n_dims);
    if (number) {
        uint32_t value = number_first ? b : a;
        *image = is_image(p, value);
        uint32_t x = *image ? as_image(p, value) : any_plain(p, value);
        *out = x == NO_ID ? NO_ID : with_number(p, two, x, number_first ? va->known[0] : vb->known[0], number_first);
        return *out != NO_ID;
    }
    uint32_t ta = as_operand(p, a, *image, n), tb = ta == NO_ID ? NO_ID : as_operand(p, b, *image, n);
    if (tb == NO_ID)
        return false;
    const struct tensor *x = &p->g->tensors[ta], *y = &p->g->tensors[tb];
    bool second = is_last_vector(y, x), first = is_last_vector(x, y);
    if (two->kind == OP_ADD && (first || second)) {
        uint32_t vector = second ? tb : ta;
        uint64_t width = tensor_elements(&p->g->tensors[vector]);
        *out = emit2(p, OP_BIAS_ADD, second ? ta : tb, VIEW(p, vector, width), NO_ATTRIBUTES);
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
    if (!map_pair(p, find_two(p->n->op), in_id(p, 0), in_id(p, 1), &y, &image))
        return false;
    if (text_is(p->n->op, "Div") && onnx_is_whole(map_out(p, 0)->type))
        y = emit_function(p, FUNCTION_FLOOR, y);
    return map_done(p, 0, y, image);
}

/* One of two, not both: 1 - (a = b). */
bool map_xor(struct mapper *p)
{
    static const struct two equal = { "Xor", OP_COMBINE, FUNCTION_EQUAL };
    uint32_t y;
    bool image;
    if (!map_pair(p, &equal, in_id(p, 0), in_id(p, 1), &y, &image))
        return false;
    return map_done(p, 0, map_shifted(p, emit_function(p, FUNCTION_NEGATE, y), 1), image);
}

/* a - floor(a / b) b: of the divisor's sign. */
bool map_mod(struct mapper *p)
{
    uint32_t parts, whole;
    bool image;
    if (onnx_flag(p->n, "fmod", false))
        return MAP_REFUSE(p, "of the dividend's sign; want fmod = 0");
    uint32_t n = map_out(p, 0)->n_dims, b = as_operand(p, in_id(p, 1), false, n), a = b == NO_ID ? NO_ID : as_operand(p, in_id(p, 0), false, n);
    if (a == NO_ID || !map_pair(p, find_two("Div"), in_id(p, 0), in_id(p, 1), &parts, &image))
        return false;
    if (image)
        return MAP_REFUSE(p, "on an image");
    whole = map_view(p, emit_function(p, FUNCTION_FLOOR, parts), p->g->tensors[a].n_dims, p->g->tensors[expanded(p, a, b)].dims);
    whole = combine(p, find_two("Mul"), whole, b);
    return map_done(p, 0, combine(p, find_two("Sub"), a, whole), false);
}

/* Sum, Mean, Max, Min of any number: pair by pair. All have the result's dimensions here, as models have them. */
bool map_sum(struct mapper *p)
{
    const char *op = text_is(p->n->op, "Sum") || text_is(p->n->op, "Mean") ? "Add" : p->n->op;
    const struct two *two = find_two(op);
    uint32_t y = NO_ID, n = map_in(p, 0)->n_dims;
    bool image = is_image(p, in_id(p, 0));
    for (uint32_t i = 0; i < p->n->n_inputs; i++) {
        const struct onnx_value *v = map_in(p, i);
        uint32_t x = !v || v->n_dims != n ? NO_ID : image ? as_image(p, in_id(p, i)) : as_plain(p, in_id(p, i));
        if (x == NO_ID)
            return v && v->n_dims == n ? false : MAP_REFUSE(p, "its inputs differ in their number of dimensions");
        y = i == 0 ? x : combine(p, two, y, x);
    }
    if (text_is(p->n->op, "Mean"))
        y = emit1(p, OP_SCALE, y, AT(.rate = 1.0 / p->n->n_inputs));
    return map_done(p, 0, y, image);
}

bool map_pow(struct mapper *p)
{
    const struct onnx_value *power = map_in(p, 1);
    double e = known_number(power) ? power->known[0] : 0;
    uint32_t x = e == 2 || e == 0.5 || e == 3 ? input_as_it_is(p) : NO_ID;
    if (x == NO_ID)
        return map_binary(p);
    uint32_t y = emit_function(p, e == 0.5 ? FUNCTION_SQRT : FUNCTION_SQUARE, x);
    return done_like_input(p, e == 3 ? emit2(p, OP_MUL, y, x, NO_ATTRIBUTES) : y);
}

/* Of two numbers: condition (a - b) + b; where one of them cannot be subtracted from, the other is selected. */
static bool choose_number(struct mapper *p, double a, double b)
{
    uint32_t condition = in_id(p, 0), x = is_image(p, condition) ? as_image(p, condition) : any_plain(p, condition);
    if (x == NO_ID)
        return false;
    if (p->g->tensors[x].type != p->o->type)
        x = emit1(p, OP_CAST, x, AT(.to_type = p->o->type));
    if (isinf(a) || isinf(b)) {
        uint32_t finite = emit1(p, OP_SCALE, x, AT(.rate = 0));
        finite = emit1(p, OP_MAP, finite, AT(.function = FUNCTION_ADD, .low = isinf(a) ? b : a));
        x = emit2(p, OP_SELECT, finite, x, AT(.inverted = isinf(a) != 0, .rate = isinf(a) ? a : b));
    } else {
        x = emit1(p, OP_MAP, map_scaled(p, x, a - b), AT(.function = FUNCTION_ADD, .low = b));
    }
    return map_done(p, 0, x, is_image(p, condition));
}

/* Where(condition, x, y): a number on one side is the constant that the other is replaced by. */
bool map_where(struct mapper *p)
{
    const struct onnx_value *a = map_in(p, 1), *b = map_in(p, 2);
    if (!a || !b)
        return MAP_REFUSE(p, "has %u inputs, want 3", p->n->n_inputs);
    bool inverted = known_number(a);
    uint32_t n = map_out(p, 0)->n_dims, value = in_id(p, inverted ? 2 : 1);
    if (inverted && known_number(b))
        return choose_number(p, a->known[0], b->known[0]);
    uint32_t x = as_operand(p, value, false, n), condition = x == NO_ID ? NO_ID : as_operand(p, in_id(p, 0), false, n);
    if (condition == NO_ID)
        return false;
    x = expanded(p, x, condition);
    struct op_attributes at = AT(.inverted = inverted, .rate = inverted ? a->known[0] : known_number(b) ? b->known[0] : 0);
    if (known_number(a) || known_number(b))
        return map_done(p, 0, emit2(p, OP_SELECT, x, condition, at), false);
    uint32_t other = as_operand(p, in_id(p, 2), false, n);
    if (other == NO_ID)
        return false;
    x = expanded(p, x, other);
    return map_done(p, 0, emit(p, OP_SELECT, (uint32_t[]){ x, condition, other }, 3, at), false);
}

/* ==== from map_quantize.c ==== */

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
