/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.c - evaluates an expression on one line of a log; see expression.h.
 */
#include "results/mlperf/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/mlperf/expression_parse.h"
#include "results/mlperf/mllog.h"

/* ---- values ------------------------------------------------------------------------------------ */

struct value value_of_json(const json_t *v)
{
    double x;
    if (json_is_boolean(v))
        return (struct value){ .kind = VALUE_BOOL, .number = json_is_true(v) };
    if (mllog_number(v, &x))
        return (struct value){ .kind = VALUE_NUMBER, .number = x, .is_whole = json_is_integer(v) };
    if (json_is_string(v))
        return (struct value){ .kind = VALUE_TEXT, .text = json_string_value(v) };
    if (json_is_array(v) || json_is_object(v))
        return (struct value){ .kind = VALUE_JSON, .json = v };
    return (struct value){ .kind = VALUE_NULL };
}

static bool is_number(const struct value *v)
{
    return v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The same names, each as often; sorts the first list, the second is sorted. */
static bool same_names(struct name_list *list, const struct name_list *sorted)
{
    sort_items(list->names, list->n, sizeof *list->names, by_text);
    if (list->n != sorted->n)
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], sorted->names[i]))
            return false;
    return true;
}

static bool json_values_equal(const json_t *x, const json_t *y)
{
    struct value a = value_of_json(x), b = value_of_json(y);
    return values_equal(&a, &b);
}

static bool lists_equal(const json_t *a, const json_t *b)
{
    if (json_is_array(a) != json_is_array(b))
        return false;
    if (json_is_object(a))
        return json_equal(a, b);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)a, i, item)
        if (!json_values_equal(item, json_array_get(b, i)))
            return false;
    return json_array_size(a) == json_array_size(b);
}

bool values_equal(const struct value *a, const struct value *b)
{
    if (is_number(a) && is_number(b))
        return a->number == b->number;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_TEXT: return text_is(a->text, b->text);
    case VALUE_JSON: return lists_equal(a->json, b->json);
    case VALUE_NAMES: return a->names == b->names;
    default: return true;
    }
}

static bool is_true(const struct value *v)
{
    switch (v->kind) {
    case VALUE_BOOL: case VALUE_NUMBER: return v->number != 0;
    case VALUE_TEXT: return *v->text != 0;
    case VALUE_JSON: return json_array_size(v->json) + json_object_size(v->json) > 0;
    case VALUE_NAMES: return v->names->n > 0;
    default: return false;
    }
}

/* ---- state -------------------------------------------------------------------------------------- */

struct value *state_find(struct state *st, const char *name)
{
    for (size_t i = 0; i < st->n; i++)
        if (text_is(st->items[i].name, name))
            return &st->items[i].value;
    return NULL;
}

bool state_set(struct state *st, const char *name, const struct value *v)
{
    struct value *old = state_find(st, name);
    if (!old) {
        if (st->n == sizeof st->items / sizeof *st->items)
            return false;
        st->items[st->n].name = name;
        old = &st->items[st->n++].value;
    }
    *old = *v;
    return true;
}

/* ---- leaves and members --------------------------------------------------------------------------- */

static bool evaluate(struct value *out, const struct node *n, const struct scope *s);

static bool from_json(struct value *out, const json_t *v)
{
    if (v)
        *out = value_of_json(v);
    return v != NULL;
}

static bool evaluate_part(struct value *out, const struct node *n, const struct scope *s)
{
    struct value whole;
    if (!evaluate(&whole, n->left, s) || whole.kind != VALUE_JSON)
        return false;
    return from_json(out, n->kind == NODE_MEMBER ? json_object_get(whole.json, n->name) : json_array_get(whole.json, n->index));
}

static bool evaluate_state(struct value *out, const struct node *n, const struct scope *s)
{
    const struct value *found = s->st ? state_find(s->st, n->name) : NULL;
    if (found)
        *out = *found;
    return found != NULL;
}

/* ---- operators -------------------------------------------------------------------------------------- */

static bool number(struct value *out, double x)
{
    *out = (struct value){ .kind = VALUE_NUMBER, .number = x };
    return true;
}

static bool truth(struct value *out, bool x)
{
    *out = (struct value){ .kind = VALUE_BOOL, .number = x };
    return true;
}

static bool evaluate_arithmetic(struct value *out, enum node_kind kind, double x, double y)
{
    switch (kind) {
    case NODE_ADD: return number(out, x + y);
    case NODE_SUBTRACT: return number(out, x - y);
    case NODE_MULTIPLY: return number(out, x * y);
    case NODE_DIVIDE: return y != 0 && number(out, x / y);
    case NODE_LESS: return truth(out, x < y);
    case NODE_AT_MOST: return truth(out, x <= y);
    case NODE_MORE: return truth(out, x > y);
    case NODE_AT_LEAST: return truth(out, x >= y);
    default: return number(out, fmin(x, y));         /* min */
    }
}

static bool evaluate_two(struct value *out, const struct node *n, const struct scope *s)
{
    struct value a, b;
    if (!evaluate(&a, n->left, s) || !evaluate(&b, n->right, s))
        return false;
    if (n->kind == NODE_EQUAL)
        return truth(out, values_equal(&a, &b));
    if (n->kind == NODE_DIFFERS)
        return truth(out, !values_equal(&a, &b));
    return is_number(&a) && is_number(&b) && evaluate_arithmetic(out, n->kind, a.number, b.number);
}

static bool evaluate_logic(struct value *out, const struct node *n, const struct scope *s)
{
    if (!evaluate(out, n->left, s))
        return false;
    bool stop = n->kind == NODE_OR ? is_true(out) : !is_true(out);
    return stop || evaluate(out, n->right, s);
}

static bool evaluate_in(struct value *out, const struct node *n, const struct scope *s)
{
    struct value item, one;
    if (!evaluate(&item, n->left, s))
        return false;
    for (const struct node *l = n->right; l; l = l->right) {
        if (!evaluate(&one, l->left, s))
            return false;
        if (values_equal(&item, &one))
            return truth(out, true);
    }
    return truth(out, false);
}

static bool evaluate_if(struct value *out, const struct node *n, const struct scope *s)
{
    struct value condition;
    return evaluate(&condition, n->left, s) && evaluate(out, is_true(&condition) ? n->right->left : n->right->right, s);
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static bool count_of(struct value *out, const struct value *v)
{
    switch (v->kind) {
    case VALUE_TEXT: return number(out, (double)strlen(v->text));
    case VALUE_JSON: return number(out, (double)(json_array_size(v->json) + json_object_size(v->json)));
    case VALUE_NAMES: return number(out, (double)v->names->n);
    default: return false;
    }
}

static bool evaluate_function(struct value *out, const struct node *n, const struct scope *s)
{
    struct value v;
    bool known = evaluate(&v, n->left, s);
    if (n->kind == NODE_HAS)
        return truth(out, known);
    if (!known)
        return false;
    switch (n->kind) {
    case NODE_NOT: return truth(out, !is_true(&v));
    case NODE_MINUS: return is_number(&v) && number(out, -v.number);
    case NODE_COUNT: return count_of(out, &v);
    case NODE_IS_INT: return truth(out, v.kind == VALUE_BOOL || (v.kind == VALUE_NUMBER && v.is_whole));
    case NODE_INTEGER: return is_number(&v) && isfinite(v.number) && truth(out, fabs(rint(v.number) - v.number) < 1e-5);
    case NODE_LOG2: return is_number(&v) && v.number > 0 && number(out, log2(v.number));
    default: return v.kind == VALUE_NAMES && truth(out, same_names(v.names, n->table));
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static bool evaluate(struct value *out, const struct node *n, const struct scope *s)
{
    switch (n->kind) {
    case NODE_CONSTANT: *out = n->constant; return true;
    case NODE_VALUE: return from_json(out, s->v);
    case NODE_METADATA: return from_json(out, s->m);
    case NODE_STATE: return evaluate_state(out, n, s);
    case NODE_TIME: return number(out, s->t_ms);
    case NODE_MEMBER: case NODE_ITEM: return evaluate_part(out, n, s);
    case NODE_AND: case NODE_OR: case NODE_CHAIN: return evaluate_logic(out, n, s);
    case NODE_IN: return evaluate_in(out, n, s);
    case NODE_IF: return evaluate_if(out, n, s);
    case NODE_LIST: return false;
    case NODE_HAS: case NODE_COUNT: case NODE_INTEGER: case NODE_IS_INT: case NODE_LOG2: case NODE_SAME_NAMES:
    case NODE_NOT: case NODE_MINUS:
        return evaluate_function(out, n, s);
    default: return evaluate_two(out, n, s);
    }
}

bool expression_compute(struct value *out, const struct expression *e, const struct scope *s)
{
    return evaluate(out, e->root, s);
}

enum truth expression_holds(const struct expression *e, const struct scope *s)
{
    struct value v;
    return !evaluate(&v, e->root, s) ? TRUTH_NONE : is_true(&v) ? TRUTH_YES : TRUTH_NO;
}

/* ---- what an expression asks for ------------------------------------------------------------------------ */

const struct name_list *expression_name_table(const struct expression *e)
{
    return e->root->kind == NODE_SAME_NAMES ? e->root->table : NULL;
}

bool expression_name_list(const struct name_list **out, const struct expression *e, const struct scope *s)
{
    struct value v;
    if (e->root->kind != NODE_SAME_NAMES || !evaluate(&v, e->root->left, s) || v.kind != VALUE_NAMES)
        return false;
    *out = v.names;
    return true;
}

bool expression_names_value(struct value *out, const struct expression *e)
{
    const struct node *n = e->root, *right = n->kind == NODE_IN ? n->right->left : n->right;
    if ((n->kind != NODE_EQUAL && n->kind != NODE_IN) || n->left->kind != NODE_VALUE || right->kind != NODE_CONSTANT)
        return false;
    *out = right->constant;
    return true;
}
