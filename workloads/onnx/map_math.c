/*
 * map_math.c - operators on numbers: functions, sums, products, reductions, recurrence.
 */
#include "workloads/onnx/map_internal.h"
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
    static const struct { const char *op; enum op_kind kind; enum op_function function; double low, high; const char *names[2]; } rows[] = {
        { "Sigmoid", OP_SIGMOID, 0, 0, 0, { 0 } }, { "Tanh", OP_TANH, 0, 0, 0, { 0 } }, { "Gelu", OP_GELU, 0, 0, 0, { 0 } },
        { "Swish", OP_SWISH, 0, 0, 0, { 0 } }, { "Erf", OP_MAP, FUNCTION_ERF, 0, 0, { 0 } }, { "Exp", OP_MAP, FUNCTION_EXP, 0, 0, { 0 } },
        { "Log", OP_MAP, FUNCTION_LOG, 0, 0, { 0 } }, { "Sqrt", OP_MAP, FUNCTION_SQRT, 0, 0, { 0 } },
        { "Abs", OP_MAP, FUNCTION_ABS, 0, 0, { 0 } }, { "Neg", OP_MAP, FUNCTION_NEGATE, 0, 0, { 0 } },
        { "Reciprocal", OP_MAP, FUNCTION_RECIPROCAL, 0, 0, { 0 } }, { "Softplus", OP_MAP, FUNCTION_SOFTPLUS, 0, 0, { 0 } },
        { "Sin", OP_MAP, FUNCTION_SIN, 0, 0, { 0 } }, { "Cos", OP_MAP, FUNCTION_COS, 0, 0, { 0 } },
        { "LeakyRelu", OP_MAP, FUNCTION_LEAKY_RELU, 0.01, 0, { "alpha", NULL } }, { "Elu", OP_MAP, FUNCTION_ELU, 1, 0, { "alpha", NULL } },
        { "HardSigmoid", OP_MAP, FUNCTION_HARD_SIGMOID, 0.2, 0.5, { "alpha", "beta" } },
        { "HardSwish", OP_MAP, FUNCTION_HARD_SWISH, 0, 0, { 0 } },
    };
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_is(rows[i].op, p->n->op)) {
            double low = rows[i].names[0] ? onnx_float(p->n, rows[i].names[0], rows[i].low) : 0;
            double high = rows[i].names[1] ? onnx_float(p->n, rows[i].names[1], rows[i].high) : 0;
            return done_like_input(p, emit1(p, rows[i].kind, x, AT(.function = rows[i].function, .low = low, .high = high)));
        }
    return MAP_REFUSE(p, "has no function");
}

bool map_relu(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    return x != NO_ID && done_like_input(p, emit1(p, OP_RELU, x, AT(0)));
}

bool map_clip(struct mapper *p)
{
    const struct onnx_value *low = map_in(p, 1), *high = map_in(p, 2);
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID || (low && !known_number(low)) || (high && !known_number(high)))
        return x != NO_ID && MAP_REFUSE(p, "its limits are computed while the model runs");
    double from = low ? low->known[0] : onnx_float(p->n, "min", -INFINITY), to = high ? high->known[0] : onnx_float(p->n, "max", INFINITY);
    if (from == 0 && to > 1e30)
        return done_like_input(p, emit1(p, OP_RELU, x, AT(0)));
    return done_like_input(p, emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = from, .high = to)));
}

/* max(x, 0) + slope min(x, 0). */
bool map_prelu(struct mapper *p)
{
    bool image = is_image(p, in_id(p, 0));
    uint32_t x = image ? as_image(p, in_id(p, 0)) : as_plain(p, in_id(p, 0));
    if (x == NO_ID)
        return false;
    uint32_t slope = as_operand(p, in_id(p, 1), image, p->g->tensors[x].n_dims);
    if (slope == NO_ID)
        return false;
    uint32_t below = emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = -INFINITY, .high = 0));
    below = emit(p, OP_MUL, (uint32_t[]){ below, slope }, 2, AT(0));
    return map_done(p, 0, emit(p, OP_ADD, (uint32_t[]){ emit1(p, OP_RELU, x, AT(0)), below }, 2, AT(0)), image);
}

bool map_not(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    if (x == NO_ID)
        return false;
    x = emit_function(p, FUNCTION_NEGATE, x);
    return done_like_input(p, emit1(p, OP_MAP, x, AT(.function = FUNCTION_ADD, .low = 1)));
}

bool map_cast(struct mapper *p)
{
    uint32_t x = input_as_it_is(p);
    enum data_type to = map_type(p, (int)onnx_int(p->n, "to", ONNX_FLOAT));
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

static const struct two { const char *op; enum op_kind kind; enum op_function function; bool exchanged; } twos[] = {
    { "Add", OP_ADD, 0, false }, { "Mul", OP_MUL, 0, false }, { "Sub", OP_COMBINE, FUNCTION_SUBTRACT, false },
    { "Div", OP_COMBINE, FUNCTION_DIVIDE, false }, { "Pow", OP_COMBINE, FUNCTION_POWER, false },
    { "Max", OP_COMBINE, FUNCTION_MAXIMUM, false }, { "Min", OP_COMBINE, FUNCTION_MINIMUM, false },
    { "Equal", OP_COMBINE, FUNCTION_EQUAL, false }, { "Greater", OP_COMBINE, FUNCTION_GREATER, false },
    { "Less", OP_COMBINE, FUNCTION_LESS, false }, { "GreaterOrEqual", OP_COMBINE, FUNCTION_GREATER, false },
    { "LessOrEqual", OP_COMBINE, FUNCTION_LESS, false }, { "And", OP_COMBINE, FUNCTION_AND, false }, { "Or", OP_COMBINE, FUNCTION_OR, false },
};

static const struct two *find_two(const char *op)
{
    for (size_t i = 0; i < sizeof twos / sizeof *twos; i++)
        if (text_is(twos[i].op, op))
            return &twos[i];
    return NULL;
}

/* A number and a tensor: one pass without an exchange, where the function has such a form. */
static uint32_t with_number(struct mapper *p, const struct two *two, uint32_t x, double number, bool number_first)
{
    bool subtract = two->function == FUNCTION_SUBTRACT && two->kind == OP_COMBINE, divide = two->function == FUNCTION_DIVIDE;
    if (two->kind == OP_MUL || (divide && !number_first && number != 0))
        return emit1(p, OP_SCALE, x, AT(.rate = two->kind == OP_MUL ? number : 1 / number));
    if (divide)
        return emit1(p, OP_SCALE, emit_function(p, FUNCTION_RECIPROCAL, x), AT(.rate = number));
    if (subtract && number_first)
        x = emit_function(p, FUNCTION_NEGATE, x);
    if (two->kind == OP_ADD || subtract)
        return emit1(p, OP_MAP, x, AT(.function = FUNCTION_ADD, .low = subtract && !number_first ? -number : number));
    if (two->function == FUNCTION_MAXIMUM && number == 0)
        return emit1(p, OP_RELU, x, AT(0));
    if (two->function == FUNCTION_MAXIMUM || two->function == FUNCTION_MINIMUM)
        return emit1(p, OP_MAP, x, AT(.function = FUNCTION_CLIP, .low = two->function == FUNCTION_MAXIMUM ? number : -INFINITY,
                                      .high = two->function == FUNCTION_MINIMUM ? number : INFINITY));
    uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    uint32_t b = map_view(p, map_filled(p, number, 1), p->g->tensors[x].n_dims, dims);
    return emit(p, OP_COMBINE, (uint32_t[]){ x, b }, 2, AT(.function = two->function, .inverted = number_first));
}

/* Repeats x to the dimensions that both together have. */
static uint32_t expanded(struct mapper *p, uint32_t x, uint32_t other)
{
    const struct tensor *a = &p->g->tensors[x], *b = &p->g->tensors[other];
    struct op_attributes at = AT(0);
    bool smaller = false;
    for (uint32_t i = 0; i < a->n_dims; i++) {
        at.view[i] = max_u64(a->dims[i], b->dims[i]);
        smaller |= at.view[i] != a->dims[i];
    }
    return smaller ? emit1(p, OP_EXPAND, x, at) : x;
}

static bool fits_in(const struct tensor *small, const struct tensor *large)
{
    for (uint32_t i = 0; i < small->n_dims; i++)
        if (small->dims[i] != large->dims[i] && small->dims[i] != 1)
            return false;
    return true;
}

static bool is_last_vector(const struct tensor *t, const struct tensor *of)
{
    return t->role == ROLE_WEIGHT && t->dims[t->n_dims - 1] == of->dims[of->n_dims - 1] &&
           tensor_elements(t) == t->dims[t->n_dims - 1] && tensor_elements(t) > 1;
}

static uint32_t combine(struct mapper *p, const struct two *two, uint32_t a, uint32_t b)
{
    bool inverted = two->exchanged;
    if (!fits_in(&p->g->tensors[b], &p->g->tensors[a])) {
        if (fits_in(&p->g->tensors[a], &p->g->tensors[b])) {
            uint32_t swap = a;
            a = b;
            b = swap;
            inverted = !inverted;
        } else {
            a = expanded(p, a, b);
        }
    }
    if (p->g->tensors[a].producer_op == NO_ID && p->g->tensors[b].producer_op != NO_ID && two->kind != OP_COMBINE &&
        tensor_is_same_shape(&p->g->tensors[a], &p->g->tensors[b]))
        return emit(p, two->kind, (uint32_t[]){ b, a }, 2, AT(0));
    return emit(p, two->kind, (uint32_t[]){ a, b }, 2, AT(.function = two->function, .inverted = inverted));
}

/* Images stay images if the other operand is one too, or has no more than channels. */
static bool joint_layout(const struct mapper *p, uint32_t a, uint32_t b, uint32_t n_dims)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    if (n_dims < 3 || n_dims > 4)
        return false;
    return (is_image(p, a) && va->n_dims == n_dims && (is_image(p, b) || vb->constant || onnx_elements(vb) <= onnx_elements(va))) ||
           (is_image(p, b) && vb->n_dims == n_dims && (va->constant || onnx_elements(va) <= onnx_elements(vb)));
}

static bool map_pair(struct mapper *p, const struct two *two, uint32_t a, uint32_t b, uint32_t *out, bool *image)
{
    const struct onnx_value *va = &p->m->values[a], *vb = &p->m->values[b];
    uint32_t n = va->n_dims > vb->n_dims ? va->n_dims : vb->n_dims;
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
        *out = emit(p, OP_BIAS_ADD, (uint32_t[]){ second ? ta : tb, map_view(p, vector, 1, &width) }, 2, AT(0));
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
    return map_pair(p, find_two(p->n->op), in_id(p, 0), in_id(p, 1), &y, &image) && map_done(p, 0, y, image);
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
    return done_like_input(p, e == 3 ? emit(p, OP_MUL, (uint32_t[]){ y, x }, 2, AT(0)) : y);
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
        return MAP_REFUSE(p, "chooses between two numbers by a condition that is computed; multiply by the condition instead");
    uint32_t x = as_operand(p, value, false, n), condition = x == NO_ID ? NO_ID : as_operand(p, in_id(p, 0), false, n);
    if (condition == NO_ID)
        return false;
    x = expanded(p, x, condition);
    struct op_attributes at = AT(.inverted = inverted, .rate = inverted ? a->known[0] : known_number(b) ? b->known[0] : 0);
    if (known_number(a) || known_number(b))
        return map_done(p, 0, emit(p, OP_SELECT, (uint32_t[]){ x, condition }, 2, at), false);
    uint32_t other = as_operand(p, in_id(p, 2), false, n);
    if (other == NO_ID)
        return false;
    x = expanded(p, x, other);
    return map_done(p, 0, emit(p, OP_SELECT, (uint32_t[]){ x, condition, other }, 3, at), false);
}

/* ---- products ------------------------------------------------------------------------------------------------------ */

/* A constant matrix, perhaps behind leading ones. */
static uint32_t matrix(struct mapper *p, uint32_t value, bool transposed)
{
    const struct onnx_value *v = &p->m->values[value];
    uint64_t rows = v->dims[v->n_dims - 2], columns = v->dims[v->n_dims - 1];
    if (!v->constant)
        return as_plain(p, value);
    return map_weight(p, value, transposed ? ONNX_MATRIX_TRANSPOSED : ONNX_AS_IS, 2,
                      transposed ? (uint64_t[]){ columns, rows } : (uint64_t[]){ rows, columns });
}

bool map_gemm(struct mapper *p)
{
    bool ta = onnx_int(p->n, "transA", 0), tb = onnx_int(p->n, "transB", 0), fixed = map_in(p, 1)->constant;
    double alpha = onnx_float(p->n, "alpha", 1), beta = onnx_float(p->n, "beta", 1);
    uint32_t a = as_plain(p, in_id(p, 0)), b = a == NO_ID ? NO_ID : matrix(p, in_id(p, 1), tb && fixed), y;
    if (b == NO_ID)
        return false;
    if (ta)
        a = emit1(p, OP_TRANSPOSE, a, AT(.order = { 1, 0 }));
    y = emit(p, OP_MATMUL, (uint32_t[]){ a, b }, 2, AT(.transpose_b = tb && !fixed));
    if (alpha != 1)
        y = emit1(p, OP_SCALE, y, AT(.rate = alpha));
    if (in_id(p, 2) == NO_ID || beta == 0)
        return map_done(p, 0, y, false);
    uint32_t c = as_operand(p, in_id(p, 2), false, 2);
    if (c == NO_ID || !fits_in(&p->g->tensors[c], &p->g->tensors[y]))
        return c != NO_ID && MAP_REFUSE(p, "its third input does not fit its result");
    if (beta != 1)
        c = emit1(p, OP_SCALE, c, AT(.rate = beta));
    uint64_t width = tensor_elements(&p->g->tensors[c]);
    if (is_last_vector(&p->g->tensors[c], &p->g->tensors[y]))
        y = emit(p, OP_BIAS_ADD, (uint32_t[]){ y, map_view(p, c, 1, &width) }, 2, AT(0));
    else
        y = combine(p, &twos[0], y, c);
    return map_done(p, 0, y, false);
}

/* Both operands get the stack of matrices of the larger one. */
static bool same_stacks(struct mapper *p, uint32_t *a, uint32_t *b)
{
    const struct tensor *x = &p->g->tensors[*a], *y = &p->g->tensors[*b];
    struct op_attributes at[2] = { AT(0), AT(0) };
    bool smaller[2] = { false, false };
    for (uint32_t i = 0; i < x->n_dims; i++) {
        bool stack = i + 2 < x->n_dims;
        at[0].view[i] = stack ? max_u64(x->dims[i], y->dims[i]) : x->dims[i];
        at[1].view[i] = stack ? max_u64(x->dims[i], y->dims[i]) : y->dims[i];
        smaller[0] |= at[0].view[i] != x->dims[i];
        smaller[1] |= at[1].view[i] != y->dims[i];
    }
    *a = smaller[0] ? emit1(p, OP_EXPAND, *a, at[0]) : *a;
    *b = smaller[1] ? emit1(p, OP_EXPAND, *b, at[1]) : *b;
    return true;
}

/* A constant behind a transposition of its two dimensions: the product reads it as it lies, and shares it with who else does. */
static uint32_t turned_constant(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    const struct onnx_node *n = v->constant && v->producer != NO_ID ? &p->m->nodes[v->producer] : NULL;
    return n && text_is(n->op, "Transpose") && v->n_dims == 2 && v->dims[0] * v->dims[1] > 1 ? n->inputs[0] : NO_ID;
}

bool map_matmul(struct mapper *p)
{
    const struct onnx_value *va = map_in(p, 0), *vb = map_in(p, 1);
    uint32_t n = va->n_dims > vb->n_dims ? va->n_dims : vb->n_dims, b_value = in_id(p, 1);
    bool flat = vb->constant && onnx_elements(vb) == vb->dims[vb->n_dims - 1] * vb->dims[vb->n_dims - 2];
    bool swapped = p->of[b_value].tensor != NO_ID && p->of[b_value].swapped;
    uint32_t turned = turned_constant(p, b_value);
    if (turned != NO_ID) {
        swapped = true;
        b_value = turned;
    }
    uint32_t a = flat ? as_plain(p, in_id(p, 0)) : as_operand(p, in_id(p, 0), false, n);
    uint32_t b = a == NO_ID ? NO_ID : flat ? matrix(p, b_value, false) : as_operand(p, b_value, false, n);
    if (b == NO_ID)
        return false;
    if (!flat && n > 2)
        same_stacks(p, &a, &b);
    return map_done(p, 0, emit(p, OP_MATMUL, (uint32_t[]){ a, b }, 2, AT(.transpose_b = swapped)), false);
}

/* ---- softmax, reductions ------------------------------------------------------------------------------------------------ */

/* Up to opset 12 everything from the axis on is one row; from 13 on the axis alone. */
bool map_softmax(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool rows = p->m->opset < 13, image = is_image(p, in_id(p, 0));
    uint32_t axis;
    uint64_t inner = 1, outer = 1;
    if (!onnx_axis(&axis, onnx_int(p->n, "axis", rows ? 1 : -1), v->n_dims))
        return MAP_REFUSE(p, "axis is out of range");
    for (uint32_t i = 0; i < v->n_dims; i++)
        *(i < axis ? &outer : &inner) *= v->dims[i];
    if (!rows && inner != v->dims[axis] && !(image && axis == 1))
        return MAP_REFUSE(p, "over dimension %u of %u; want the last one: transpose before it", axis, v->n_dims);
    bool channels = image && axis == 1 && (!rows || inner == v->dims[1]);
    uint32_t x = channels ? as_image(p, in_id(p, 0)) : any_plain(p, in_id(p, 0));
    if (x == NO_ID)
        return false;
    if (!channels && p->g->tensors[x].dims[p->g->tensors[x].n_dims - 1] != inner)
        x = map_view(p, x, 2, (uint64_t[]){ outer, inner });
    x = emit1(p, OP_SOFTMAX, x, AT(0));
    if (text_is(p->n->op, "LogSoftmax"))
        x = emit_function(p, FUNCTION_LOG, x);
    return map_done(p, 0, x, channels);
}

/* A run of dimensions, seen as the height of an image: pooling over all of it. */
static bool reduced_run(const struct mapper *p, uint32_t *first, uint32_t *last)
{
    struct onnx_list axes;
    const struct onnx_value *v = map_in(p, 0);
    uint32_t gone = 0, axis;
    if (!onnx_list(&axes, p->m, p->n, "axes", 1))
        return false;
    for (uint32_t i = 0; i < axes.n; i++)
        if (onnx_axis(&axis, axes.at[i], v->n_dims))
            gone |= 1u << axis;
    if (!gone)
        gone = (1u << v->n_dims) - 1;
    *first = (uint32_t)__builtin_ctz(gone);
    *last = *first;
    while (gone >> (*last + 1) & 1)
        ++*last;
    return gone >> *first >> (*last - *first + 1) == 0;
}

bool map_reduce(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool most = text_is(p->n->op, "ReduceMax"), sum = text_is(p->n->op, "ReduceSum"), norm = text_is(p->n->op, "ReduceL2");
    uint32_t first, last, x;
    if (v->n_dims == 0 || !reduced_run(p, &first, &last))
        return MAP_REFUSE(p, "its axes do not follow each other");
    bool image = is_image(p, in_id(p, 0)) && first == 2 && last + 1 == v->n_dims;
    uint64_t outer = 1, mid = 1, inner = 1;
    for (uint32_t i = 0; i < v->n_dims; i++)
        *(i < first ? &outer : i <= last ? &mid : &inner) *= v->dims[i];
    x = image ? as_image(p, in_id(p, 0)) : any_plain(p, in_id(p, 0));
    if (x == NO_ID || mid > UINT32_MAX)
        return false;
    if (!image)
        x = map_view(p, x, 4, (uint64_t[]){ outer, mid, 1, inner });
    const struct tensor *t = &p->g->tensors[x];
    struct op_attributes at = AT(.kernel_h = (uint32_t)t->dims[1], .kernel_w = (uint32_t)t->dims[2], .stride = 1);
    x = norm ? emit_function(p, FUNCTION_SQUARE, x) : x;
    x = emit1(p, most ? OP_MAX_POOL : OP_AVERAGE_POOL, x, at);
    x = sum || norm ? emit1(p, OP_SCALE, x, AT(.rate = (double)mid)) : x;
    x = norm ? emit_function(p, FUNCTION_SQRT, x) : x;
    return map_done(p, 0, x, image && map_out(p, 0)->n_dims == v->n_dims);
}

/* ---- recurrence ------------------------------------------------------------------------------------------------------------ */

/* One direction: the file's weights [4 hidden, width] and [4 hidden, hidden], of direction d. */
static uint32_t lstm_direction(struct mapper *p, uint32_t x, uint64_t width, uint64_t hidden)
{
    uint32_t w = map_weight(p, NO_ID, ONNX_AS_IS, 2, (uint64_t[]){ width, 4 * hidden });
    uint32_t r = map_weight(p, NO_ID, ONNX_AS_IS, 2, (uint64_t[]){ hidden, 4 * hidden });
    uint32_t b = map_weight(p, NO_ID, ONNX_AS_IS, 1, (uint64_t[]){ 8 * hidden });
    return emit(p, OP_LSTM, (uint32_t[]){ x, w, r, b }, 4, AT(.hidden = (uint32_t)hidden));
}

/* [steps, batch, width] to [steps, directions, batch, hidden]. A backward direction costs what a forward one does. */
bool map_lstm(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *r = map_in(p, 2), *cell = map_out(p, 2);
    if (!map_in(p, 1) || !r)
        return MAP_REFUSE(p, "has %u inputs, want at least 3", p->n->n_inputs);
    uint64_t steps = v->dims[0], batch = v->dims[1], hidden = r->dims[2], directions = r->dims[0];
    if (!map_in(p, 1)->constant || !r->constant || (cell && cell->n_readers) || onnx_int(p->n, "layout", 0) || directions > 2)
        return MAP_REFUSE(p, "want constant weights, layout 0, and no reader of the last cell state");
    uint32_t x = as_plain(p, in_id(p, 0)), y[2];
    if (x == NO_ID)
        return false;
    x = emit1(p, OP_TRANSPOSE, x, AT(.order = { 1, 0, 2 }));
    for (uint64_t d = 0; d < directions; d++)
        y[d] = lstm_direction(p, x, v->dims[2], hidden);
    uint32_t all = directions == 1 ? y[0] : emit(p, OP_CONCAT, y, 2, AT(.axis = 2));
    uint32_t turned = emit1(p, OP_TRANSPOSE, all, AT(.view = { batch, steps, directions, hidden }, .order = { 1, 2, 0, 3 }));
    if (map_out(p, 1) && map_out(p, 1)->n_readers) {
        uint32_t last = emit1(p, OP_SLICE, turned, AT(.axis = 0, .begin = steps - 1, .length = 1));
        if (!map_done(p, 1, last, false))
            return false;
    }
    return map_done(p, 0, turned, false);
}
