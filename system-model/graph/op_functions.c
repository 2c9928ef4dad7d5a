/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_functions.c - what operations on single elements compute: one row a function, with its name and its value in
 * double precision.
 *
 * Constant folding of ONNX files and the execution of graphs in the tests both evaluate elements here.
 */
#include "system-model/graph/graph.h"

static double of_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double of_gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
static double of_swish(double x) { return x * of_sigmoid(x); }
static double of_relu(double x) { return x > 0 ? x : 0; }
static double of_negate(double x) { return -x; }
static double of_reciprocal(double x) { return 1 / x; }
static double of_square(double x) { return x * x; }
static double of_hard_swish(double x) { return x * fmax(0, fmin(1, x / 6 + 0.5)); }
static double of_softplus(double x) { return log(1 + exp(x)); }
static double of_sign(double x) { return (x > 0) - (x < 0); }
static double of_is_nan(double x) { return isnan(x); }
static double of_is_inf(double x) { return isinf(x) != 0; }

static double of_leaky_relu(double x, double slope, double unused) { (void)unused; return x > 0 ? x : slope * x; }
static double of_elu(double x, double alpha, double unused) { (void)unused; return x > 0 ? x : alpha * (exp(x) - 1); }
static double of_hard_sigmoid(double x, double slope, double addend) { return fmax(0, fmin(1, slope * x + addend)); }
static double of_clip(double x, double low, double high) { return fmin(high, fmax(low, x)); }
static double of_add_constant(double x, double addend, double unused) { (void)unused; return x + addend; }
static double of_divide_by(double x, double divisor, double unused) { (void)unused; return x / divisor; }

static double of_subtract(double a, double b) { return a - b; }
static double of_divide(double a, double b) { return a / b; }
static double of_equal(double a, double b) { return a == b; }
static double of_greater(double a, double b) { return a > b; }
static double of_less(double a, double b) { return a < b; }
static double of_greater_equal(double a, double b) { return a >= b; }
static double of_less_equal(double a, double b) { return a <= b; }
static double of_logical_and(double a, double b) { return a != 0 && b != 0; }
static double of_logical_or(double a, double b) { return a != 0 || b != 0; }

/* Exactly one of the three is set: f(x), f(x) with the attributes' low and high, f(a, b). */
static const struct op_function_row {
    const char *name;
    double (*of_one)(double x);
    double (*with_constants)(double x, double low, double high);
    double (*of_two)(double a, double b);
    bool flat;                          /* the function's gradient is zero wherever it is defined */
} op_function_rows[] = {
    [FUNCTION_EXP]           = { .name = "exp", .of_one = exp },
    [FUNCTION_LOG]           = { .name = "log", .of_one = log },
    [FUNCTION_SQRT]          = { .name = "sqrt", .of_one = sqrt },
    [FUNCTION_ABS]           = { .name = "abs", .of_one = fabs },
    [FUNCTION_NEGATE]        = { .name = "negate", .of_one = of_negate },
    [FUNCTION_RECIPROCAL]    = { .name = "reciprocal", .of_one = of_reciprocal },
    [FUNCTION_SQUARE]        = { .name = "square", .of_one = of_square },
    [FUNCTION_ERF]           = { .name = "erf", .of_one = erf },
    [FUNCTION_LEAKY_RELU]    = { .name = "leaky-relu", .with_constants = of_leaky_relu },
    [FUNCTION_ELU]           = { .name = "elu", .with_constants = of_elu },
    [FUNCTION_HARD_SIGMOID]  = { .name = "hard-sigmoid", .with_constants = of_hard_sigmoid },
    [FUNCTION_HARD_SWISH]    = { .name = "hard-swish", .of_one = of_hard_swish },
    [FUNCTION_SOFTPLUS]      = { .name = "softplus", .of_one = of_softplus },
    [FUNCTION_CLIP]          = { .name = "clip", .with_constants = of_clip },
    [FUNCTION_ADD]           = { .name = "add-constant", .with_constants = of_add_constant },
    [FUNCTION_DIVIDE_BY]     = { .name = "divide-by", .with_constants = of_divide_by },
    [FUNCTION_SIN]           = { .name = "sin", .of_one = sin },
    [FUNCTION_COS]           = { .name = "cos", .of_one = cos },
    [FUNCTION_TAN]            = { .name = "tan", .of_one = tan },
    [FUNCTION_ASIN]           = { .name = "asin", .of_one = asin },
    [FUNCTION_ACOS]           = { .name = "acos", .of_one = acos },
    [FUNCTION_ATAN]           = { .name = "atan", .of_one = atan },
    [FUNCTION_SINH]           = { .name = "sinh", .of_one = sinh },
    [FUNCTION_COSH]           = { .name = "cosh", .of_one = cosh },
    [FUNCTION_ASINH]          = { .name = "asinh", .of_one = asinh },
    [FUNCTION_ACOSH]          = { .name = "acosh", .of_one = acosh },
    [FUNCTION_ATANH]          = { .name = "atanh", .of_one = atanh },
    [FUNCTION_FLOOR]         = { .name = "floor", .of_one = floor, .flat = true },
    [FUNCTION_CEIL]          = { .name = "ceil", .of_one = ceil, .flat = true },
    [FUNCTION_ROUND]         = { .name = "round", .of_one = nearbyint, .flat = true },
    [FUNCTION_SIGN]          = { .name = "sign", .of_one = of_sign, .flat = true },
    [FUNCTION_IS_NAN]        = { .name = "is-nan", .of_one = of_is_nan, .flat = true },
    [FUNCTION_IS_INF]        = { .name = "is-inf", .of_one = of_is_inf, .flat = true },
    [FUNCTION_SUBTRACT]      = { .name = "subtract", .of_two = of_subtract },
    [FUNCTION_DIVIDE]        = { .name = "divide", .of_two = of_divide },
    [FUNCTION_POWER]         = { .name = "power", .of_two = pow },
    [FUNCTION_REMAINDER]     = { .name = "remainder", .of_two = fmod, .flat = true },
    [FUNCTION_MAXIMUM]       = { .name = "maximum", .of_two = fmax },
    [FUNCTION_MINIMUM]       = { .name = "minimum", .of_two = fmin },
    [FUNCTION_EQUAL]         = { .name = "equal", .of_two = of_equal, .flat = true },
    [FUNCTION_GREATER]       = { .name = "greater", .of_two = of_greater, .flat = true },
    [FUNCTION_LESS]          = { .name = "less", .of_two = of_less, .flat = true },
    [FUNCTION_GREATER_EQUAL] = { .name = "greater-equal", .of_two = of_greater_equal, .flat = true },
    [FUNCTION_LESS_EQUAL]    = { .name = "less-equal", .of_two = of_less_equal, .flat = true },
    [FUNCTION_AND]           = { .name = "and", .of_two = of_logical_and, .flat = true },
    [FUNCTION_OR]            = { .name = "or", .of_two = of_logical_or, .flat = true },
};
_Static_assert(sizeof op_function_rows / sizeof *op_function_rows == N_OP_FUNCTIONS, "one row a function");

const char *op_function_name(enum op_function f) { return op_function_rows[f].name; }
bool op_function_is_flat(enum op_function f) { return op_function_rows[f].flat; }
bool op_function_is_of_two(enum op_function f) { return op_function_rows[f].of_two != NULL; }

static double gelu_slope(double x)
{
    const double a = 0.7978845608028654, b = 0.044715;
    double t = tanh(a * (x + b * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * a * (1 + 3 * b * x * x);
}

static double relu_slope(double y) { return y > 0; }
static double tanh_slope(double y) { return 1 - y * y; }
static double sigmoid_slope(double y) { return y * (1 - y); }
static double swish_slope(double x) { return of_sigmoid(x) * (1 + x * (1 - of_sigmoid(x))); }

/* The functions that are operations of their own, and their slopes. */
static const struct { double (*value)(double x), (*slope)(double kept); } activations[N_OP_KINDS] = {
    [OP_RELU] = { of_relu, relu_slope }, [OP_GELU] = { of_gelu, gelu_slope }, [OP_TANH] = { tanh, tanh_slope },
    [OP_SIGMOID] = { of_sigmoid, sigmoid_slope }, [OP_SWISH] = { of_swish, swish_slope },
};

double op_value_of_one(enum op_kind kind, const struct op_attributes *at, double x)
{
    const struct op_function_row *row = &op_function_rows[at->function];
    if (activations[kind].value)
        return activations[kind].value(x);
    assert(kind == OP_MAP && !row->of_two);
    return row->of_one ? row->of_one(x) : row->with_constants(x, at->low, at->high);
}

double op_slope(enum op_kind kind, double kept)
{
    assert(activations[kind].slope);
    return activations[kind].slope(kept);
}

double op_value_of_two(enum op_kind kind, const struct op_attributes *at, double a, double b)
{
    if (kind == OP_ADD)
        return a + b;
    if (kind == OP_MUL)
        return a * b;
    assert(kind == OP_COMBINE && op_function_is_of_two(at->function));
    return at->inverted ? op_function_rows[at->function].of_two(b, a) : op_function_rows[at->function].of_two(a, b);
}

double op_resize_place(enum resize_place how, double i, double n_in, double n_out, double factor)
{
    double step = factor > 0 ? 1 / factor : n_in / n_out, half_pixel = (i + 0.5) * step - 0.5;
    switch (how) {
    case RESIZE_ASYMMETRIC:         return i * step;
    case RESIZE_ALIGN_CORNERS:      return n_out > 1 ? i * (n_in - 1) / (n_in / step - 1) : 0;
    case RESIZE_PYTORCH_HALF_PIXEL: return n_out > 1 ? half_pixel : 0;
    case RESIZE_TF_HALF_PIXEL:      return half_pixel + 0.5;
    case RESIZE_SYMMETRIC:          return n_in / 2 * (1 - n_out * step / n_in) + half_pixel;
    case RESIZE_HALF_PIXEL:         return half_pixel;
    case N_RESIZE_PLACES:           break;
    }
    assert(false);
    return 0;
}
