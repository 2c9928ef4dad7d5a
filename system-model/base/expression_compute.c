/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression_compute.c - the value of a parsed expression, its functions, and what kind of question it asks; see expression.h.
 */
#include "system-model/base/expression_tree.h"
#include <math.h>
#include <string.h>

enum { MOST_ARGUMENTS = 2 };

/* ---- values ------------------------------------------------------------------------------------------- */

static bool is_number(const struct value *v) { return v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL; }

static bool give_number(struct value *out, double x)
{
    *out = (struct value){ .kind = VALUE_NUMBER, .number = x };
    return true;
}

static bool give_truth(struct value *out, bool x)
{
    *out = (struct value){ .kind = VALUE_BOOL, .number = x };
    return true;
}

bool values_equal(const struct value *a, const struct value *b)
{
    if (is_number(a) && is_number(b))
        return a->number == b->number;
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_TEXT)
        return text_is(a->text, b->text);
    if (a->kind != VALUE_OBJECT)
        return true;
    return a->type == b->type && (a->object == b->object || (a->type->equal && a->type->equal(a->object, b->object)));
}

static bool is_true(const struct value *v)
{
    switch (v->kind) {
    case VALUE_BOOL: case VALUE_NUMBER: return v->number != 0;
    case VALUE_TEXT: return *v->text != 0;
    case VALUE_OBJECT: return !v->type->count || v->type->count(v->object) > 0;
    case VALUE_NONE: case VALUE_NULL: break;
    }
    return false;
}

/* ---- functions: one row each -------------------------------------------------------------------------- */

/* Only `has` is called with an argument that has no value. */
static bool call_has(struct value *out, const struct value *x) { return give_truth(out, x->kind != VALUE_NONE); }

static bool call_count(struct value *out, const struct value *x)
{
    if (x->kind == VALUE_OBJECT && x->type->count)
        return give_number(out, (double)x->type->count(x->object));
    return x->kind == VALUE_TEXT && give_number(out, (double)strlen(x->text));
}

static bool call_is_int(struct value *out, const struct value *x)
{
    return give_truth(out, x->kind == VALUE_BOOL || (x->kind == VALUE_NUMBER && x->is_whole));
}

static bool call_integer(struct value *out, const struct value *x)
{
    return is_number(x) && isfinite(x->number) && give_truth(out, fabs(rint(x->number) - x->number) < 1e-5);
}

/* Python's int(): cuts off the fraction of a number, and reads a text that is a whole number. */
static bool call_int(struct value *out, const struct value *x)
{
    double number;
    if (x->kind == VALUE_TEXT && !strpbrk(x->text, ".eExX") && parse_f64(x->text, &number))
        return give_number(out, number);
    return is_number(x) && isfinite(x->number) && give_number(out, trunc(x->number));
}

const struct function expression_functions[] = {
    { "abs", 1, .of_one = fabs },       { "ceil", 1, .of_one = ceil },          { "floor", 1, .of_one = floor },
    { "sqrt", 1, .of_one = sqrt },      { "log2", 1, .of_one = log2 },
    { "min", 2, .of_two = fmin },       { "max", 2, .of_two = fmax },
    { "int", 1, .of_values = call_int },            /* whole part */
    { "integer", 1, .of_values = call_integer },    /* true within 1e-5 of a whole number */
    { "is_int", 1, .of_values = call_is_int },      /* written without point or exponent */
    { "count", 1, .of_values = call_count },        /* counts a text, a list or an object */
    { "has", 1, .of_values = call_has },            /* true if the value exists */
};
const size_t n_expression_functions = sizeof expression_functions / sizeof *expression_functions;

static bool apply(struct value *out, const struct function *f, const struct value *x)
{
    if (f->of_values)
        return (x->kind != VALUE_NONE || f->of_values == call_has) && f->of_values(out, x);
    bool finite = true;
    for (int i = 0; i < f->n_arguments; i++) {
        if (!is_number(&x[i]))
            return false;
        finite = finite && isfinite(x[i].number);
    }
    double y = f->of_one ? f->of_one(x[0].number) : f->of_two(x[0].number, x[1].number);
    return (!finite || isfinite(y)) && give_number(out, y);
}

/* ---- computing ------------------------------------------------------------------------------------------ */

static bool compute(struct value *out, const struct node *n, const struct value *variables);

static bool compute_part(struct value *out, const struct node *n, const struct value *variables)
{
    struct value whole;
    if (!compute(&whole, n->left, variables) || whole.kind != VALUE_OBJECT)
        return false;
    const struct value_type *t = whole.type;
    return n->kind == NODE_MEMBER ? t->member && t->member(out, whole.object, n->name) : t->item && t->item(out, whole.object, n->index);
}

static bool compute_arithmetic(struct value *out, enum node_kind kind, double x, double y)
{
    switch (kind) {
    case NODE_ADD: return give_number(out, x + y);
    case NODE_SUBTRACT: return give_number(out, x - y);
    case NODE_MULTIPLY: return give_number(out, x * y);
    case NODE_DIVIDE: return y != 0 && give_number(out, x / y);
    case NODE_POWER: return isfinite(pow(x, y)) && give_number(out, pow(x, y));
    case NODE_LESS: return give_truth(out, x < y);
    case NODE_AT_MOST: return give_truth(out, x <= y);
    case NODE_MORE: return give_truth(out, x > y);
    case NODE_AT_LEAST: return give_truth(out, x >= y);
    case NODE_CONSTANT: case NODE_VARIABLE: case NODE_MEMBER: case NODE_ITEM: case NODE_NOT: case NODE_MINUS: case NODE_AND: case NODE_OR:
    case NODE_EQUAL: case NODE_DIFFERS: case NODE_IN: case NODE_LIST: case NODE_IF: case NODE_CALL: break;
    }
    assert(false);
    return false;
}

static bool compute_two(struct value *out, const struct node *n, const struct value *variables)
{
    struct value a, b;
    if (!compute(&a, n->left, variables) || !compute(&b, n->right, variables))
        return false;
    if (n->kind == NODE_EQUAL || n->kind == NODE_DIFFERS)
        return give_truth(out, values_equal(&a, &b) == (n->kind == NODE_EQUAL));
    return is_number(&a) && is_number(&b) && compute_arithmetic(out, n->kind, a.number, b.number);
}

static bool compute_logic(struct value *out, const struct node *n, const struct value *variables)
{
    if (!compute(out, n->left, variables))
        return false;
    bool stop = n->kind == NODE_OR ? is_true(out) : !is_true(out);
    return stop || compute(out, n->right, variables);
}

static bool compute_one(struct value *out, const struct node *n, const struct value *variables)
{
    struct value v;
    if (!compute(&v, n->left, variables))
        return false;
    if (n->kind == NODE_NOT)
        return give_truth(out, !is_true(&v));
    return is_number(&v) && give_number(out, -v.number);
}

static bool compute_in(struct value *out, const struct node *n, const struct value *variables)
{
    struct value item, one;
    if (!compute(&item, n->left, variables))
        return false;
    for (const struct node *l = n->right; l; l = l->right) {
        if (!compute(&one, l->left, variables))
            return false;
        if (values_equal(&item, &one))
            return give_truth(out, true);
    }
    return give_truth(out, false);
}

static bool compute_if(struct value *out, const struct node *n, const struct value *variables)
{
    struct value condition;
    return compute(&condition, n->left, variables) && compute(out, is_true(&condition) ? n->right->left : n->right->right, variables);
}

static bool compute_call(struct value *out, const struct node *n, const struct value *variables)
{
    struct value x[MOST_ARGUMENTS] = { { .kind = VALUE_NONE } };
    size_t i = 0;
    for (const struct node *l = n->right; l; l = l->right, i++)
        if (!compute(&x[i], l->left, variables))
            x[i] = (struct value){ .kind = VALUE_NONE };
    return apply(out, n->function, x);
}

static bool compute(struct value *out, const struct node *n, const struct value *variables)
{
    switch (n->kind) {
    case NODE_CONSTANT: *out = n->constant; return true;
    case NODE_VARIABLE: *out = variables[n->index]; return out->kind != VALUE_NONE;
    case NODE_MEMBER: case NODE_ITEM: return compute_part(out, n, variables);
    case NODE_NOT: case NODE_MINUS: return compute_one(out, n, variables);
    case NODE_AND: case NODE_OR: return compute_logic(out, n, variables);
    case NODE_IN: return compute_in(out, n, variables);
    case NODE_IF: return compute_if(out, n, variables);
    case NODE_CALL: return compute_call(out, n, variables);
    case NODE_LIST: return false;
    case NODE_ADD: case NODE_SUBTRACT: case NODE_MULTIPLY: case NODE_DIVIDE: case NODE_POWER: case NODE_EQUAL: case NODE_DIFFERS:
    case NODE_LESS: case NODE_AT_MOST: case NODE_MORE: case NODE_AT_LEAST:
        break;
    }
    return compute_two(out, n, variables);
}

bool expression_compute(struct value *out, const struct expression *e, const struct value *variables)
{
    return compute(out, e->root, variables);
}

enum truth expression_holds(const struct expression *e, const struct value *variables)
{
    struct value v;
    return !compute(&v, e->root, variables) ? TRUTH_NONE : is_true(&v) ? TRUTH_YES : TRUTH_NO;
}

bool expression_asks_constant(struct expression *left, struct value *constant, const struct expression *e)
{
    const struct node *n = e->root, *right = n->kind == NODE_IN ? n->right->left : n->right;
    if ((n->kind != NODE_EQUAL && n->kind != NODE_IN) || right->kind != NODE_CONSTANT)
        return false;
    *left = (struct expression){ e->text, n->left };
    *constant = right->constant;
    return true;
}

static bool mentions_variable(const struct node *n, size_t index)
{
    return n && ((n->kind == NODE_VARIABLE && n->index == index) || mentions_variable(n->left, index) || mentions_variable(n->right, index));
}

/* The variable x of the expressions x, x.y, x[1] and f(x); NULL for any other expression. */
static const struct node *only_variable(const struct node *n)
{
    while (n && (n->kind == NODE_MEMBER || n->kind == NODE_ITEM || n->kind == NODE_CALL || n->kind == NODE_LIST))
        n = n->kind == NODE_CALL ? n->right : n->kind == NODE_LIST && n->right ? NULL : n->left;
    return n && n->kind == NODE_VARIABLE ? n : NULL;
}

bool expression_asks_computed(struct expression *left, struct expression *wanted, const struct expression *e)
{
    const struct node *n = e->root;
    while (n->kind == NODE_OR)
        n = n->right;
    if (n->kind == NODE_LESS && n->left->kind == NODE_CALL && text_is(n->left->function->name, "abs"))
        n = n->left->right->left;
    if (n->kind != NODE_EQUAL && n->kind != NODE_SUBTRACT)
        return false;
    const struct node *x = only_variable(n->left);
    if (!x || n->right->kind == NODE_CONSTANT || mentions_variable(n->right, x->index))
        return false;
    *left = (struct expression){ e->text, n->left }, *wanted = (struct expression){ e->text, n->right };
    return true;
}

bool expression_is_variable(const struct expression *e, const char *name)
{
    return e->root->kind == NODE_VARIABLE && text_is(e->root->name, name);
}
