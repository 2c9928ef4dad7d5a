/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression_tree.h - a parsed expression, as its parser makes it and its computation reads it. Private to the two.
 */
#ifndef EXPRESSION_TREE_H
#define EXPRESSION_TREE_H
#include "system-model/base/expression.h"

enum node_kind {
    NODE_CONSTANT, NODE_VARIABLE, NODE_MEMBER, NODE_ITEM,
    NODE_NOT, NODE_MINUS, NODE_ADD, NODE_SUBTRACT, NODE_MULTIPLY, NODE_DIVIDE, NODE_POWER,
    NODE_AND, NODE_OR, NODE_EQUAL, NODE_DIFFERS, NODE_LESS, NODE_AT_MOST, NODE_MORE, NODE_AT_LEAST,
    NODE_IN,                            /* the value at left is one of the LIST at right */
    NODE_LIST,                          /* a list: its first item is at left, and the LIST of the others at right */
    NODE_IF,                            /* left is the condition; right is a LIST of the answer if it holds, and the answer if not */
    NODE_CALL,                          /* function, with the LIST of arguments at right */
};

struct node {
    enum node_kind kind;
    const struct node *left, *right;
    struct value constant;
    const char *name;                   /* the name of a member or variable */
    size_t index;                       /* the index of an item or variable */
    const struct function *function;
};

/* One of the three pointers is set. A function of numbers has no result where the true one is not finite: sqrt(-1), log2(0). */
struct function {
    const char *name;
    int n_arguments;
    double (*of_one)(double);
    double (*of_two)(double, double);
    bool (*of_values)(struct value *out, const struct value *x);
};
extern const struct function expression_functions[];
extern const size_t n_expression_functions;

#endif
