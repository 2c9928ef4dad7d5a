/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuse.c - recognises operations that exporters write out in pieces, as graph compilers do.
 *
 *     GELU          0.5 x (1 + erf(x / sqrt 2)), and its tanh form of products    Hendrycks and Gimpel 2016; a form with a
 *                   power stays in pieces, as PopTorch runs transformers' gelu_new
 *     swish         x sigmoid(x), x hard-sigmoid(x) of slope 1/6
 *     layer norm    (x - mean) / sqrt(mean of squares + epsilon), times gamma, plus beta; or x f + (beta - mean f)
 *     group norm    instance norm of reshaped channels, times gamma, plus beta
 *     batch norm    followed by a scale and a shift for each channel (Caffe's Scale layer)
 * A pattern is an expression of the nodes that make a value: small letters are variables (the same letter is the same
 * value), "d:Sub(x, m)" also names the result of a node, and numbers are constants. The last node of a pattern becomes
 * the whole operation; the others are marked gone.
 */
#include "workloads/onnx/onnx_passes.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_PATTERN_PARTS = 16, N_VARIABLES = 26 };

struct pattern { struct onnx_model *m; uint32_t parts[MOST_PATTERN_PARTS], n_parts, variables[N_VARIABLES]; };

static struct pattern pattern_start(struct onnx_model *m)
{
    struct pattern p = { .m = m };
    for (int i = 0; i < N_VARIABLES; i++)
        p.variables[i] = NO_ID;
    return p;
}

static uint32_t variable(const struct pattern *p, char name) { return p->variables[name - 'a']; }

static bool bind(struct pattern *p, char name, uint32_t value)
{
    uint32_t *v = &p->variables[name - 'a'];
    *v = *v == NO_ID ? value : *v;
    return *v == value;
}

static struct onnx_node *maker(struct pattern *p, uint32_t value)
{
    if (value == NO_ID || p->m->values[value].producer == NO_ID)
        return NULL;
    struct onnx_node *n = &p->m->nodes[p->m->values[value].producer];
    return n->gone ? NULL : n;
}

static void pattern_add(struct pattern *p, const struct onnx_node *n)
{
    if (p->n_parts < MOST_PATTERN_PARTS)
        p->parts[p->n_parts++] = (uint32_t)(n - p->m->nodes);
}

static bool is_near(double found, double x, double share) { return fabs(found - x) <= share * fabs(x); }

static bool is_constant_near(const struct onnx_model *m, uint32_t value, double x)
{
    const struct onnx_value *v = value == NO_ID ? NULL : &m->values[value];
    return onnx_is_known_number(v) && is_near(v->known[0], x, 1e-3);
}

/* True if each element is known, and is x. */
static bool is_filled_with(const struct onnx_model *m, uint32_t value, double x)
{
    const struct onnx_value *v = &m->values[value];
    for (uint64_t i = 0, n = v->known ? onnx_elements(v) : 0; i < n; i++)
        if (!is_near(v->known[i], x, 1e-3))
            return false;
    return v->known;
}

static bool is_over_last(const struct onnx_model *m, const struct onnx_node *n)
{
    struct onnx_list axes;
    return onnx_list(&axes, m, n, "axes", 1) && axes.n == 1 && (axes.at[0] == -1 || axes.at[0] == (int64_t)onnx_in(m, n, 0)->n_dims - 1);
}

static bool is_power_of_two(const struct onnx_model *m, const struct onnx_node *n) { return is_constant_near(m, n->inputs[1], 2); }
static bool is_product_of_one(const struct onnx_model *m, const struct onnx_node *n) { (void)m; return n->inputs[0] == n->inputs[1]; }

/* x / 6 + 1 / 2, limited to 0 to 1. */
static bool is_swish_gate(const struct onnx_model *m, const struct onnx_node *n)
{
    (void)m;
    return is_near(onnx_float(n, "alpha", NAN), 1.0 / 6, 6e-3) && onnx_float(n, "beta", 0.5) == 0.5;
}

/* A name of a pattern matches a node of this operator that meets the condition. A name may have several rows. */
static const struct term {
    const char *name;
    enum onnx_op op;
    bool commutes;
    bool (*condition)(const struct onnx_model *m, const struct onnx_node *n);
} terms[] = {
    { "Add", ONNX_OP_ADD, true, NULL },                 { "Mul", ONNX_OP_MUL, true, NULL },          { "Sub", ONNX_OP_SUB, false, NULL },
    { "Difference", ONNX_OP_SUB, true, NULL },          { "Div", ONNX_OP_DIV, false, NULL },         { "Sqrt", ONNX_OP_SQRT, false, NULL },
    { "Square", ONNX_OP_POW, false, is_power_of_two },  { "Square", ONNX_OP_MUL, false, is_product_of_one },
    { "Mean", ONNX_OP_REDUCE_MEAN, false, is_over_last }, { "Reciprocal", ONNX_OP_RECIPROCAL, false, NULL },
    { "Erf", ONNX_OP_ERF, false, NULL },                { "Tanh", ONNX_OP_TANH, false, NULL },       { "Sigmoid", ONNX_OP_SIGMOID, false, NULL },
    { "Gate", ONNX_OP_HARD_SIGMOID, false, is_swish_gate }, { "Reshape", ONNX_OP_RESHAPE, false, NULL },
    { "InstanceNorm", ONNX_OP_INSTANCE_NORM, false, NULL },
};

static const char *match(struct pattern *p, const char *text, uint32_t value);

/* Matches "x, 2)" with the first inputs of a node, or with these exchanged. Returns the text after it; NULL if no match. */
static const char *match_inputs(struct pattern *p, const char *text, const struct onnx_node *n, bool exchanged)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        text = match(p, text, n->inputs[exchanged ? 1 - i : i]);
        if (!text || *text == ')')
            return text ? text + 1 : NULL;
        text += strlen(", ");
    }
    return NULL;
}

static const char *match_node(struct pattern *p, const char *text, const struct onnx_node *n)
{
    const struct pattern before = *p;
    size_t length = strcspn(text, "(");
    for (const struct term *t = terms, *end = terms + sizeof terms / sizeof *terms; t < end; t++) {
        if (t->op != n->op->id || strlen(t->name) != length || strncmp(t->name, text, length) != 0 || (t->condition && !t->condition(p->m, n)))
            continue;
        for (int exchanged = 0, n_orders = t->commutes && n->n_inputs == 2 ? 2 : 1; exchanged < n_orders; exchanged++) {
            pattern_add(p, n);
            const char *rest = match_inputs(p, text + length + 1, n, exchanged);
            if (rest)
                return rest;
            *p = before;
        }
    }
    return NULL;
}

/* Matches a value with the expression that the text begins with. Returns the text after it; NULL if no match. */
static const char *match(struct pattern *p, const char *text, uint32_t value)
{
    char *end;
    if (value == NO_ID)
        return NULL;
    if (isdigit((unsigned char)*text))
        return is_constant_near(p->m, value, strtod(text, &end)) ? end : NULL;
    if (islower((unsigned char)*text) && !bind(p, *text, value))
        return NULL;
    if (islower((unsigned char)*text) && text[1] != ':')
        return text + 1;
    const struct onnx_node *n = maker(p, value);
    return n ? match_node(p, islower((unsigned char)*text) ? text + 2 : text, n) : NULL;
}

/* True if nothing outside the pattern reads what its parts make. */
static bool only_inside(const struct pattern *p, const struct onnx_node *last)
{
    for (uint32_t i = 0; i < p->n_parts; i++) {
        const struct onnx_node *n = &p->m->nodes[p->parts[i]];
        uint32_t inside = 0;
        const struct onnx_value *v = onnx_out(p->m, n, 0);
        if (n == last)
            continue;
        for (uint32_t k = 0; k < p->n_parts; k++)
            for (uint32_t q = 0; q < p->m->nodes[p->parts[k]].n_inputs; q++)
                inside += p->m->nodes[p->parts[k]].inputs[q] == n->outputs[0];
        if (v->output || v->n_readers != inside)
            return false;
    }
    return true;
}

/* The list and the number of inputs, as become() takes them. */
#define INPUTS(...) (uint32_t[]){ __VA_ARGS__ }, sizeof (uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t)
static bool become(struct pattern *p, struct onnx_node *last, enum onnx_op op, const uint32_t *inputs, uint32_t n_inputs)
{
    struct onnx_model *m = p->m;
    const struct onnx_operator *row = onnx_operator_by_id(m->operators, op);
    if (p->n_parts >= MOST_PATTERN_PARTS || !only_inside(p, last))
        return false;
    for (uint32_t i = 0; i < p->n_parts; i++) {
        m->nodes[p->parts[i]].gone = &m->nodes[p->parts[i]] != last;
        m->nodes[p->parts[i]].fused_as = row->name;
    }
    uint32_t *own = ARENA_ARRAY(m->arena, uint32_t, n_inputs);
    for (uint32_t i = 0; i < n_inputs; i++)
        own[i] = inputs[i];
    last->fused_as = row->name;
    last->op = row;
    last->proto = NULL;
    last->inputs = own;
    last->n_inputs = n_inputs;
    return true;
}

/* ---- functions of elements ---------------------------------------------------------------------------- */

static const double samples[] = { -3, -0.5, 1, 2 };
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* Evaluates a tree of Mul and Add at the samples of x; false: it has other nodes. */
static bool polynomial(struct pattern *p, uint32_t value, uint32_t x, double y[N_SAMPLES])
{
    const struct onnx_value *v = &p->m->values[value];
    bool number = v->known && onnx_elements(v) == 1;
    double b[N_SAMPLES];
    for (size_t i = 0; i < N_SAMPLES && (number || value == x); i++)
        y[i] = value == x ? samples[i] : v->known[0];
    if (number || value == x)
        return true;
    struct onnx_node *n = maker(p, value);
    if (!n || p->n_parts == MOST_PATTERN_PARTS || !(onnx_is(n, ONNX_OP_MUL) || onnx_is(n, ONNX_OP_ADD)))
        return false;
    pattern_add(p, n);
    if (!polynomial(p, n->inputs[0], x, y) || !polynomial(p, n->inputs[1], x, b))
        return false;
    const struct op_attributes at = { .function = n->op->function };
    for (size_t i = 0; i < N_SAMPLES; i++)
        y[i] = op_value_of_two(n->op->kind, &at, y[i], b[i]);
    return true;
}

/* sqrt(2 / pi) (x + 0.044715 x^3), in any arrangement, within the precision of bfloat16. */
static bool is_cubic_of(struct pattern *p, uint32_t value, uint32_t x)
{
    double y[N_SAMPLES];
    bool alike = polynomial(p, value, x, y);
    for (size_t i = 0; i < N_SAMPLES && alike; i++)
        alike = is_near(y[i], 0.79788456 * (samples[i] + 0.044715 * pow(samples[i], 3)), 5e-3);
    return alike;
}

/* The three ways to multiply x, 1/2 and a curve of x. */
#define HALF_X_TIMES(curve) "Mul(Mul(x, 0.5), " curve ")", "Mul(x, Mul(0.5, " curve "))", "Mul(0.5, Mul(x, " curve "))"

static bool fuse_gelu(struct onnx_model *m, struct onnx_node *last)
{
    static const char *const forms[] = {
        HALF_X_TIMES("Add(Erf(Div(x, 1.4142135)), 1)"), HALF_X_TIMES("Add(Erf(Mul(x, 0.70710678)), 1)"), HALF_X_TIMES("Add(Tanh(c), 1)"),
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct pattern p = pattern_start(m);
        if (match(&p, forms[i], last->outputs[0]) && (variable(&p, 'c') == NO_ID || is_cubic_of(&p, variable(&p, 'c'), variable(&p, 'x'))))
            return become(&p, last, ONNX_OP_GELU, INPUTS(variable(&p, 'x')));
    }
    return false;
}

static bool fuse_swish(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern smooth = pattern_start(m), hard = pattern_start(m);
    if (match(&smooth, "Mul(x, Sigmoid(x))", last->outputs[0]))
        return become(&smooth, last, ONNX_OP_SWISH, INPUTS(variable(&smooth, 'x')));
    return match(&hard, "Mul(x, Gate(x))", last->outputs[0]) && become(&hard, last, ONNX_OP_HARD_SWISH, INPUTS(variable(&hard, 'x')));
}

/* ---- norms ----------------------------------------------------------------------------------------------- */

/* The only reader of a node's result, if it is this operator. Nodes are in order, so the search starts at the node. */
static struct onnx_node *only_reader(const struct onnx_model *m, const struct onnx_node *n, enum onnx_op op)
{
    const struct onnx_value *v = onnx_out(m, n, 0);
    if (!v || v->output || v->n_readers != 1)
        return NULL;
    for (size_t i = (size_t)(n - m->nodes); i < m->n_nodes; i++)
        for (uint32_t k = 0; k < m->nodes[i].n_inputs; k++)
            if (m->nodes[i].inputs[k] == n->outputs[0])
                return onnx_is(&m->nodes[i], op) && !m->nodes[i].gone ? &m->nodes[i] : NULL;
    return NULL;
}

/* A constant of n numbers. */
static bool is_vector_of(const struct onnx_model *m, uint32_t value, uint64_t n)
{
    const struct onnx_value *v = value == NO_ID ? NULL : &m->values[value];
    return v && v->constant && onnx_elements(v) == n;
}

/* The other operand of a node with two, one of which is this value; NO_ID: neither is. */
static uint32_t other_than(const struct onnx_node *n, uint32_t value)
{
    return n->n_inputs != 2 ? NO_ID : n->inputs[0] == value ? n->inputs[1] : n->inputs[1] == value ? n->inputs[0] : NO_ID;
}

/* The vector of n numbers that is combined with the result of *last. *last then moves to the operator that combines them. NO_ID: none. */
static uint32_t next_vector(struct pattern *p, struct onnx_node **last, enum onnx_op op, uint64_t n)
{
    struct onnx_node *next = only_reader(p->m, *last, op);
    uint32_t vector = next ? other_than(next, (*last)->outputs[0]) : NO_ID;
    if (vector == NO_ID || !is_vector_of(p->m, vector, n))
        return NO_ID;
    pattern_add(p, next);
    *last = next;
    return vector;
}

/* A Mul and an Add of vectors that follow *last, which moves to the end of the pattern. */
static void scale_and_shift(struct pattern *p, struct onnx_node **last, uint64_t n, uint32_t out[2])
{
    out[0] = next_vector(p, last, ONNX_OP_MUL, n);
    out[1] = out[0] == NO_ID ? NO_ID : next_vector(p, last, ONNX_OP_ADD, n);
}

static bool fuse_layer_norm(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern p = pattern_start(m);
    if (!match(&p, "Div(d:Sub(x, Mean(x)), Sqrt(Add(Mean(Square(d)), e)))", last->outputs[0]))
        return false;
    const struct onnx_value *x = &m->values[variable(&p, 'x')], *epsilon = &m->values[variable(&p, 'e')];
    uint32_t by[2];
    scale_and_shift(&p, &last, x->dims[x->n_dims - 1], by);
    return epsilon->known && become(&p, last, ONNX_OP_LAYER_NORM, INPUTS(variable(&p, 'x'), by[0], by[1])) &&
           (last->epsilon = epsilon->known[0], true);
}

/* TensorFlow's x f + (beta - mean f), with f = gamma / sqrt(variance + epsilon). */
static bool fuse_layer_norm_by_factor(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern p = pattern_start(m);
    if (!match(&p, "Add(Mul(x, f:Mul(g, Reciprocal(Sqrt(Add(Mean(Square(Difference(x, m:Mean(x)))), e))))), Sub(b, Mul(m, f)))", last->outputs[0]))
        return false;
    uint32_t x = variable(&p, 'x'), gamma = variable(&p, 'g'), beta = variable(&p, 'b');
    const double *epsilon = m->values[variable(&p, 'e')].known;
    uint64_t width = m->values[x].dims[m->values[x].n_dims - 1];
    return epsilon && is_vector_of(m, gamma, width) && is_vector_of(m, beta, width) &&
           become(&p, last, ONNX_OP_LAYER_NORM, INPUTS(x, gamma, beta)) && (last->epsilon = epsilon[0], true);
}

static bool fuse_group_norm(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern p = pattern_start(m);
    if (!match(&p, "Reshape(n:InstanceNorm(g:Reshape(x, s), o, z), t)", last->outputs[0]))
        return false;
    const struct onnx_value *x = &m->values[variable(&p, 'x')], *y = onnx_out(m, last, 0), *groups = &m->values[variable(&p, 'g')];
    if (x->n_dims < 3 || x->n_dims != y->n_dims || x->dims[1] != y->dims[1] || groups->n_dims != 3)
        return false;
    if (!is_filled_with(m, variable(&p, 'o'), 1) || !is_filled_with(m, variable(&p, 'z'), 0))
        return false;                   /* the scale or shift is for whole groups */
    uint32_t by[2];
    double epsilon = onnx_float(maker(&p, variable(&p, 'n')), "epsilon", 1e-5);
    scale_and_shift(&p, &last, x->dims[1], by);
    return become(&p, last, ONNX_OP_GROUP_NORM, INPUTS(variable(&p, 'x'), by[0], by[1], variable(&p, 'o'))) &&
           (last->epsilon = epsilon, true);      /* the last input has a number for each group */
}

static bool fuse_batch_norm(struct onnx_model *m, struct onnx_node *norm)
{
    struct pattern p = pattern_start(m);
    struct onnx_node *last = norm;
    if (!onnx_is(norm, ONNX_OP_BATCH_NORM) || norm->n_inputs != 5)
        return false;
    const struct onnx_value *x = onnx_in(m, norm, 0);
    uint32_t *own = norm->inputs, by[2];
    const Onnx__NodeProto *attributes = norm->proto;
    pattern_add(&p, norm);
    scale_and_shift(&p, &last, x->dims[1], by);          /* inputs of one dimension are refused in a later pass */
    if (last == norm || !become(&p, last, ONNX_OP_BATCH_NORM, INPUTS(own[0], own[1], own[2], own[3], own[4], by[0], by[1])))
        return false;
    last->proto = attributes;               /* the attributes hold its epsilon */
    return true;
}

void onnx_fuse(struct onnx_model *m)
{
    static bool (*const patterns[])(struct onnx_model *m, struct onnx_node *last) = {
        fuse_gelu, fuse_swish, fuse_layer_norm, fuse_layer_norm_by_factor, fuse_group_norm, fuse_batch_norm,
    };
    for (struct onnx_node *n = m->nodes, *end = m->nodes + m->n_nodes; n < end; n++)
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns && !n->gone; k++)
            if (patterns[k](m, n))
                break;
}
