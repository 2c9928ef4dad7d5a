/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_functions.c - what operations on single elements compute: one row a function, with its name and its value in double precision.
 *
 * Constant folding of ONNX files and the execution of graphs in the tests both evaluate elements here.
 */
#include "system-model/graph/graph.h"
#include <assert.h>
#include <math.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
static double swish(double x) { return x * sigmoid(x); }
static double relu(double x) { return x > 0 ? x : 0; }
static double negate(double x) { return -x; }
static double reciprocal(double x) { return 1 / x; }
static double square(double x) { return x * x; }
static double hard_swish(double x) { return x * fmax(0, fmin(1, x / 6 + 0.5)); }
static double softplus(double x) { return log(1 + exp(x)); }
static double sign(double x) { return (x > 0) - (x < 0); }
static double is_nan(double x) { return isnan(x); }
static double is_inf(double x) { return isinf(x) != 0; }

static double leaky_relu(double x, double slope, double unused) { (void)unused; return x > 0 ? x : slope * x; }
static double elu(double x, double alpha, double unused) { (void)unused; return x > 0 ? x : alpha * (exp(x) - 1); }
static double hard_sigmoid(double x, double slope, double addend) { return fmax(0, fmin(1, slope * x + addend)); }
static double clip(double x, double low, double high) { return fmax(low, fmin(high, x)); }
static double add_constant(double x, double addend, double unused) { (void)unused; return x + addend; }

static double subtract(double a, double b) { return a - b; }
static double divide(double a, double b) { return a / b; }
static double equal(double a, double b) { return a == b; }
static double greater(double a, double b) { return a > b; }
static double less(double a, double b) { return a < b; }
static double greater_equal(double a, double b) { return a >= b; }
static double less_equal(double a, double b) { return a <= b; }
static double logical_and(double a, double b) { return a != 0 && b != 0; }
static double logical_or(double a, double b) { return a != 0 || b != 0; }

/* Exactly one of the three is set: f(x), f(x) with the attributes' low and high, f(a, b). */
static const struct op_function_row {
    const char *name;
    double (*of_one)(double x);
    double (*with_constants)(double x, double low, double high);
    double (*of_two)(double a, double b);
} op_function_rows[] = {
    [FUNCTION_EXP]           = { .name = "exp", .of_one = exp },
    [FUNCTION_LOG]           = { .name = "log", .of_one = log },
    [FUNCTION_SQRT]          = { .name = "sqrt", .of_one = sqrt },
    [FUNCTION_ABS]           = { .name = "abs", .of_one = fabs },
    [FUNCTION_NEGATE]        = { .name = "negate", .of_one = negate },
    [FUNCTION_RECIPROCAL]    = { .name = "reciprocal", .of_one = reciprocal },
    [FUNCTION_SQUARE]        = { .name = "square", .of_one = square },
    [FUNCTION_ERF]           = { .name = "erf", .of_one = erf },
    [FUNCTION_LEAKY_RELU]    = { .name = "leaky-relu", .with_constants = leaky_relu },
    [FUNCTION_ELU]           = { .name = "elu", .with_constants = elu },
    [FUNCTION_HARD_SIGMOID]  = { .name = "hard-sigmoid", .with_constants = hard_sigmoid },
    [FUNCTION_HARD_SWISH]    = { .name = "hard-swish", .of_one = hard_swish },
    [FUNCTION_SOFTPLUS]      = { .name = "softplus", .of_one = softplus },
    [FUNCTION_CLIP]          = { .name = "clip", .with_constants = clip },
    [FUNCTION_ADD]           = { .name = "add-constant", .with_constants = add_constant },
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
    [FUNCTION_FLOOR]         = { .name = "floor", .of_one = floor },
    [FUNCTION_CEIL]          = { .name = "ceil", .of_one = ceil },
    [FUNCTION_ROUND]         = { .name = "round", .of_one = nearbyint },
    [FUNCTION_SIGN]          = { .name = "sign", .of_one = sign },
    [FUNCTION_IS_NAN]        = { .name = "is-nan", .of_one = is_nan },
    [FUNCTION_IS_INF]        = { .name = "is-inf", .of_one = is_inf },
    [FUNCTION_SUBTRACT]      = { .name = "subtract", .of_two = subtract },
    [FUNCTION_DIVIDE]        = { .name = "divide", .of_two = divide },
    [FUNCTION_POWER]         = { .name = "power", .of_two = pow },
    [FUNCTION_MAXIMUM]       = { .name = "maximum", .of_two = fmax },
    [FUNCTION_MINIMUM]       = { .name = "minimum", .of_two = fmin },
    [FUNCTION_EQUAL]         = { .name = "equal", .of_two = equal },
    [FUNCTION_GREATER]       = { .name = "greater", .of_two = greater },
    [FUNCTION_LESS]          = { .name = "less", .of_two = less },
    [FUNCTION_GREATER_EQUAL] = { .name = "greater-equal", .of_two = greater_equal },
    [FUNCTION_LESS_EQUAL]    = { .name = "less-equal", .of_two = less_equal },
    [FUNCTION_AND]           = { .name = "and", .of_two = logical_and },
    [FUNCTION_OR]            = { .name = "or", .of_two = logical_or },
};
_Static_assert(sizeof op_function_rows / sizeof *op_function_rows == N_OP_FUNCTIONS, "one row a function");

const char *op_function_name(enum op_function f) { return op_function_rows[f].name; }
bool op_function_is_of_two(enum op_function f) { return op_function_rows[f].of_two != NULL; }

double op_value_of_one(enum op_kind kind, const struct op_attributes *at, double x)
{
    const struct op_function_row *row = &op_function_rows[at->function];
    switch (kind) {
    case OP_RELU:    return relu(x);
    case OP_GELU:    return gelu(x);
    case OP_TANH:    return tanh(x);
    case OP_SIGMOID: return sigmoid(x);
    case OP_SWISH:   return swish(x);
    default:
        assert(kind == OP_MAP && !row->of_two);
        return row->of_one ? row->of_one(x) : row->with_constants(x, at->low, at->high);
    }
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
