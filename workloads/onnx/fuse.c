/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuse.c - recognises operations that exporters write out in pieces, as graph compilers do.
 *
 *     GELU          0.5 x (1 + erf(x / sqrt 2)), and its tanh form          Hendrycks and Gimpel 2016
 *     swish         x sigmoid(x), x hard-sigmoid(x) of slope 1/6
 *     layer norm    (x - mean) / sqrt(mean of squares + epsilon), times gamma, plus beta; or x f + (beta - mean f)
 *     group norm    instance norm of reshaped channels, times gamma, plus beta
 *     batch norm    followed by a scale and a shift for each channel (Caffe's Scale layer)
 * The last node of a pattern becomes the whole operation; the others are marked gone.
 */
#include "workloads/onnx/onnx_internal.h"
#include <math.h>

enum { MOST_PARTS = 16 };

struct pattern { struct onnx_model *m; uint32_t parts[MOST_PARTS]; uint32_t n_parts; };

static struct onnx_node *maker(struct pattern *p, uint32_t value)
{
    if (value == NO_ID || p->m->values[value].producer == NO_ID)
        return NULL;
    struct onnx_node *n = &p->m->nodes[p->m->values[value].producer];
    return n->gone ? NULL : n;
}

static struct onnx_node *made_by(struct pattern *p, uint32_t value, enum onnx_op op)
{
    struct onnx_node *n = maker(p, value);
    return n && onnx_is(n, op) ? n : NULL;
}

static void add_part(struct pattern *p, const struct onnx_node *n)
{
    if (p->n_parts < MOST_PARTS)
        p->parts[p->n_parts++] = (uint32_t)(n - p->m->nodes);
}

static bool is_near(double found, double x, double share)
{
    return fabs(found - x) <= share * fabs(x);
}

static bool is_constant_near(const struct onnx_model *m, uint32_t value, double x)
{
    const struct onnx_value *v = value == NO_ID ? NULL : &m->values[value];
    return v && v->known && onnx_elements(v) == 1 && is_near(v->known[0], x, 1e-3);
}

/* The other operand of a node with two, one of which is this value; NO_ID: neither is. */
static uint32_t other_than(const struct onnx_node *n, uint32_t value)
{
    return n->n_inputs != 2 ? NO_ID : n->inputs[0] == value ? n->inputs[1] : n->inputs[1] == value ? n->inputs[0] : NO_ID;
}

static uint32_t other_than_number(const struct onnx_model *m, const struct onnx_node *n, double x)
{
    return n->n_inputs != 2 ? NO_ID : is_constant_near(m, n->inputs[0], x) ? n->inputs[1] : is_constant_near(m, n->inputs[1], x) ? n->inputs[0] : NO_ID;
}

/* Nothing outside the pattern reads what its parts make. */
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

/* The last two arguments of become(). */
#define INPUTS(...) (uint32_t[]){ __VA_ARGS__ }, sizeof (uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t)
static bool become(struct pattern *p, struct onnx_node *last, enum onnx_op op, const uint32_t *inputs, uint32_t n_inputs)
{
    struct onnx_model *m = p->m;
    const struct onnx_operator *row = onnx_operator_by_id(op);
    if (p->n_parts >= MOST_PARTS || !only_inside(p, last))
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

/* ---- GELU -------------------------------------------------------------------------------------------- */

enum { N_FACTORS = 3 };

/* The factors of a tree of Mul nodes; false: their number is not three. */
static bool three_factors(struct pattern *p, const struct onnx_node *last, uint32_t f[N_FACTORS])
{
    uint32_t n = 1;
    f[0] = last->outputs[0];
    for (uint32_t i = 0; i < n; ) {
        const struct onnx_node *mul = made_by(p, f[i], ONNX_OP_MUL);
        if (!mul || (mul != last && p->m->values[f[i]].n_readers > 1)) {
            i++;
            continue;
        }
        if (n == N_FACTORS)
            return false;
        add_part(p, mul);
        f[i] = mul->inputs[0];
        f[n++] = mul->inputs[1];
    }
    return n == N_FACTORS;
}

static bool is_erf_of(struct pattern *p, uint32_t value, uint32_t x)
{
    struct onnx_node *function = made_by(p, value, ONNX_OP_ERF);
    struct onnx_node *inside = function ? maker(p, function->inputs[0]) : NULL;
    if (!inside || !((onnx_is(inside, ONNX_OP_DIV) && inside->inputs[0] == x && is_constant_near(p->m, inside->inputs[1], 1.4142135)) ||
                     (onnx_is(inside, ONNX_OP_MUL) && other_than_number(p->m, inside, 0.70710678) == x)))
        return false;
    add_part(p, inside);
    add_part(p, function);
    return true;
}

static const double samples[] = { -3, -0.5, 1, 2 };
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* Evaluates a tree of Mul, Add and Pow at the samples of x; false: it has other nodes. */
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
    if (!n || p->n_parts == MOST_PARTS || !(onnx_is(n, ONNX_OP_MUL) || onnx_is(n, ONNX_OP_ADD) || onnx_is(n, ONNX_OP_POW)))
        return false;
    add_part(p, n);
    if (!polynomial(p, n->inputs[0], x, y) || !polynomial(p, n->inputs[1], x, b))
        return false;
    const struct op_attributes at = { .function = n->op->function };
    for (size_t i = 0; i < N_SAMPLES; i++)
        y[i] = op_value_of_two(n->op->kind, &at, y[i], b[i]);
    return true;
}

/* tanh of sqrt(2 / pi) (x + 0.044715 x^3), in any arrangement, within the precision of bfloat16. */
static bool is_tanh_of(struct pattern *p, uint32_t value, uint32_t x)
{
    struct onnx_node *function = made_by(p, value, ONNX_OP_TANH);
    double y[N_SAMPLES];
    if (!function)
        return false;
    add_part(p, function);
    bool alike = polynomial(p, function->inputs[0], x, y);
    for (size_t i = 0; i < N_SAMPLES && alike; i++)
        alike = is_near(y[i], 0.79788456 * (samples[i] + 0.044715 * pow(samples[i], 3)), 5e-3);
    return alike;
}

static bool fuse_gelu(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern p = { .m = m };
    uint32_t f[N_FACTORS], x = NO_ID, bell = NO_ID, halves = 0;
    if (!onnx_is(last, ONNX_OP_MUL) || !three_factors(&p, last, f))
        return false;
    for (uint32_t i = 0; i < N_FACTORS; i++) {
        struct onnx_node *add = made_by(&p, f[i], ONNX_OP_ADD);
        uint32_t inside = add ? other_than_number(m, add, 1) : NO_ID;
        if (is_constant_near(m, f[i], 0.5))
            halves++;
        else if (inside != NO_ID && (made_by(&p, inside, ONNX_OP_ERF) || made_by(&p, inside, ONNX_OP_TANH)) && bell == NO_ID) {
            bell = inside;
            add_part(&p, add);
        } else
            x = f[i];
    }
    if (halves != 1 || !(is_erf_of(&p, bell, x) || is_tanh_of(&p, bell, x)))
        return false;
    return become(&p, last, ONNX_OP_GELU, INPUTS(x));
}

/* ---- swish --------------------------------------------------------------------------------------------- */

/* x / 6 + 1 / 2, limited to 0 to 1. */
static bool is_swish_gate(const struct onnx_node *hard_sigmoid)
{
    return is_near(onnx_float(hard_sigmoid, "alpha", NAN), 1.0 / 6, 6e-3) && onnx_float(hard_sigmoid, "beta", 0.5) == 0.5;
}

/* x times a function of x. */
static bool fuse_gated(struct onnx_model *m, struct onnx_node *last, uint32_t x, uint32_t by)
{
    struct pattern p = { .m = m };
    struct onnx_node *gate = made_by(&p, by, ONNX_OP_SIGMOID), *hard = made_by(&p, by, ONNX_OP_HARD_SIGMOID);
    struct onnx_node *n = gate ? gate : hard;
    if (!n || n->inputs[0] != x || (hard && !is_swish_gate(hard)))
        return false;
    add_part(&p, n);
    add_part(&p, last);
    return become(&p, last, gate ? ONNX_OP_SWISH : ONNX_OP_HARD_SWISH, INPUTS(x));
}

static bool fuse_swish(struct onnx_model *m, struct onnx_node *last)
{
    return onnx_is(last, ONNX_OP_MUL) && last->n_inputs == 2 &&
           (fuse_gated(m, last, last->inputs[0], last->inputs[1]) || fuse_gated(m, last, last->inputs[1], last->inputs[0]));
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

/* The vector of n numbers that the operator after *last combines with its result; *last moves to that operator. NO_ID: none. */
static uint32_t next_vector(struct pattern *p, struct onnx_node **last, enum onnx_op op, uint64_t n)
{
    struct onnx_node *next = only_reader(p->m, *last, op);
    uint32_t vector = next ? other_than(next, (*last)->outputs[0]) : NO_ID;
    if (vector == NO_ID || !is_vector_of(p->m, vector, n))
        return NO_ID;
    add_part(p, next);
    *last = next;
    return vector;
}

/* A Mul and an Add of vectors that follow *last, which moves to the end of the pattern. */
static void scale_and_shift(struct pattern *p, struct onnx_node **last, uint64_t n, uint32_t out[2])
{
    out[0] = next_vector(p, last, ONNX_OP_MUL, n);
    out[1] = out[0] == NO_ID ? NO_ID : next_vector(p, last, ONNX_OP_ADD, n);
}

static bool is_mean_of(const struct onnx_model *m, const struct onnx_node *n, uint32_t x)
{
    struct onnx_list axes;
    const struct onnx_value *v = &m->values[x];
    return n && onnx_is(n, ONNX_OP_REDUCE_MEAN) && n->inputs[0] == x && onnx_list(&axes, m, n, "axes", 1) && axes.n == 1 &&
           (axes.at[0] == -1 || axes.at[0] == (int64_t)v->n_dims - 1);
}

static uint64_t last_dim(const struct onnx_value *x)
{
    return x->dims[x->n_dims - 1];
}

static bool fuse_layer_norm(struct onnx_model *m, struct onnx_node *div)
{
    struct pattern p = { .m = m };
    if (!onnx_is(div, ONNX_OP_DIV) || div->n_inputs != 2)
        return false;
    struct onnx_node *less = made_by(&p, div->inputs[0], ONNX_OP_SUB), *root = made_by(&p, div->inputs[1], ONNX_OP_SQRT);
    struct onnx_node *plus = root ? made_by(&p, root->inputs[0], ONNX_OP_ADD) : NULL;
    if (!less || !plus)
        return false;
    struct onnx_node *variance = made_by(&p, plus->inputs[0], ONNX_OP_REDUCE_MEAN);
    variance = variance ? variance : made_by(&p, plus->inputs[1], ONNX_OP_REDUCE_MEAN);
    struct onnx_node *square = variance ? maker(&p, variance->inputs[0]) : NULL, *mean = made_by(&p, less->inputs[1], ONNX_OP_REDUCE_MEAN);
    const struct onnx_value *epsilon = variance ? onnx_in(m, plus, variance->outputs[0] == plus->inputs[0] ? 1 : 0) : NULL;
    uint32_t x = less->inputs[0], d = less->outputs[0];
    bool squared = square && square->inputs[0] == d && ((onnx_is(square, ONNX_OP_POW) && is_constant_near(m, square->inputs[1], 2)) ||
                                                        (onnx_is(square, ONNX_OP_MUL) && square->inputs[1] == d));
    if (!squared || !epsilon->known || !is_mean_of(m, mean, x) || !is_mean_of(m, variance, square->outputs[0]))
        return false;
    struct onnx_node *parts[] = { mean, less, square, variance, plus, root, div }, *last = div;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_part(&p, parts[i]);
    uint32_t by[2];
    scale_and_shift(&p, &last, last_dim(&m->values[x]), by);
    return become(&p, last, ONNX_OP_LAYER_NORM, INPUTS(x, by[0], by[1])) && (last->epsilon = epsilon->known[0], true);
}

/* The node of this operator that makes one operand; *other: the other operand. */
static struct onnx_node *operand_by(struct pattern *p, const struct onnx_node *n, enum onnx_op op, uint32_t *other)
{
    for (uint32_t i = 0; n && n->n_inputs == 2 && i < 2; i++) {
        struct onnx_node *found = made_by(p, n->inputs[i], op);
        *other = n->inputs[1 - i];
        if (found)
            return found;
    }
    return NULL;
}

/* The node that makes the mean of (x - mean)^2, with its parts added to the pattern; NULL: the value is something else. */
static struct onnx_node *variance_of(struct pattern *p, uint32_t value, uint32_t x, uint32_t mean)
{
    struct onnx_node *variance = made_by(p, value, ONNX_OP_REDUCE_MEAN), *square = variance ? maker(p, variance->inputs[0]) : NULL;
    struct onnx_node *less = square ? made_by(p, square->inputs[0], ONNX_OP_SUB) : NULL;
    bool squared = less && ((onnx_is(square, ONNX_OP_MUL) && square->inputs[0] == square->inputs[1]) ||
                            (onnx_is(square, ONNX_OP_POW) && is_constant_near(p->m, square->inputs[1], 2)));
    if (!squared || other_than(less, x) != mean || !is_mean_of(p->m, variance, square->outputs[0]))
        return NULL;
    add_part(p, variance);
    add_part(p, square);
    add_part(p, less);
    return variance;
}

/* TensorFlow's x f + (beta - mean f), with f = gamma / sqrt(variance + epsilon). `times` makes x f, and x is its operand i. */
static bool norm_by_factor(struct onnx_model *m, struct onnx_node *last, struct onnx_node *shift, struct onnx_node *times, uint32_t i)
{
    struct pattern p = { .m = m };
    uint32_t x = times->inputs[i], gamma, epsilon;
    struct onnx_node *factor = made_by(&p, times->inputs[1 - i], ONNX_OP_MUL), *root = operand_by(&p, factor, ONNX_OP_RECIPROCAL, &gamma);
    struct onnx_node *sqrt = root ? made_by(&p, root->inputs[0], ONNX_OP_SQRT) : NULL, *plus = sqrt ? made_by(&p, sqrt->inputs[0], ONNX_OP_ADD) : NULL;
    struct onnx_node *back = made_by(&p, shift->inputs[1], ONNX_OP_MUL);
    uint32_t mean = back && plus ? other_than(back, factor->outputs[0]) : NO_ID;
    struct onnx_node *mean_node = maker(&p, mean);
    if (!mean_node || !is_mean_of(m, mean_node, x))
        return false;
    uint64_t width = last_dim(&m->values[x]);
    uint32_t beta = shift->inputs[0];
    if (!is_vector_of(m, gamma, width) || !is_vector_of(m, beta, width) ||
        !operand_by(&p, plus, ONNX_OP_REDUCE_MEAN, &epsilon) || !m->values[epsilon].known || !variance_of(&p, other_than(plus, epsilon), x, mean))
        return false;
    struct onnx_node *parts[] = { mean_node, plus, sqrt, root, factor, times, back, shift, last };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        add_part(&p, parts[k]);
    return become(&p, last, ONNX_OP_LAYER_NORM, INPUTS(x, gamma, beta)) &&
           (last->epsilon = m->values[epsilon].known[0], true);
}

static bool fuse_layer_norm_by_factor(struct onnx_model *m, struct onnx_node *last)
{
    struct pattern p = { .m = m };
    uint32_t rest = NO_ID;
    struct onnx_node *shift = onnx_is(last, ONNX_OP_ADD) ? operand_by(&p, last, ONNX_OP_SUB, &rest) : NULL;
    struct onnx_node *times = shift ? made_by(&p, rest, ONNX_OP_MUL) : NULL;
    return times && (norm_by_factor(m, last, shift, times, 0) || norm_by_factor(m, last, shift, times, 1));
}

static bool fuse_group_norm(struct onnx_model *m, struct onnx_node *norm)
{
    struct pattern p = { .m = m };
    if (!onnx_is(norm, ONNX_OP_INSTANCE_NORM) || norm->n_inputs != 3)
        return false;
    struct onnx_node *before = made_by(&p, norm->inputs[0], ONNX_OP_RESHAPE), *after = only_reader(m, norm, ONNX_OP_RESHAPE), *last = after;
    if (!before || !after)
        return false;
    const struct onnx_value *x = onnx_in(m, before, 0), *y = onnx_out(m, after, 0), *g = onnx_in(m, norm, 0);
    if (x->n_dims < 3 || x->n_dims != y->n_dims || x->dims[1] != y->dims[1] || g->n_dims != 3)
        return false;
    add_part(&p, before);
    add_part(&p, norm);
    add_part(&p, after);
    uint32_t by[2];
    double epsilon = onnx_float(norm, "epsilon", 1e-5);
    scale_and_shift(&p, &last, x->dims[1], by);
    return become(&p, last, ONNX_OP_GROUP_NORM, INPUTS(before->inputs[0], by[0], by[1], norm->inputs[1]))  /* the last has a number for each group */
           && (last->epsilon = epsilon, true);
}

static bool fuse_batch_norm(struct onnx_model *m, struct onnx_node *norm)
{
    struct pattern p = { .m = m };
    struct onnx_node *last = norm;
    if (!onnx_is(norm, ONNX_OP_BATCH_NORM) || norm->n_inputs != 5)
        return false;
    const struct onnx_value *x = onnx_in(m, norm, 0);
    uint32_t *own = norm->inputs, by[2];
    const Onnx__NodeProto *attributes = norm->proto;
    add_part(&p, norm);
    scale_and_shift(&p, &last, x->dims[1], by);          /* inputs of one dimension are refused later */
    if (last == norm || !become(&p, last, ONNX_OP_BATCH_NORM, INPUTS(own[0], own[1], own[2], own[3], own[4], by[0], by[1])))
        return false;
    last->proto = attributes;               /* its epsilon */
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
