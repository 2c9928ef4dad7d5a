/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression_parse.h - the tree of an expression; private to expression_parse.c and expression.c.
 */
#ifndef EXPRESSION_PARSE_H
#define EXPRESSION_PARSE_H
#include "results/mlperf/expression.h"

enum node_kind {
    NODE_CONSTANT, NODE_VALUE, NODE_METADATA, NODE_STATE, NODE_TIME,   /* leaves */
    NODE_MEMBER, NODE_ITEM,                                            /* of the left side */
    NODE_NOT, NODE_MINUS, NODE_ADD, NODE_SUBTRACT, NODE_MULTIPLY, NODE_DIVIDE,
    NODE_AND, NODE_OR, NODE_EQUAL, NODE_DIFFERS, NODE_LESS, NODE_AT_MOST, NODE_MORE, NODE_AT_LEAST,
    NODE_CHAIN,                         /* left comparison holds, and so does the right one */
    NODE_IN,                            /* left is one of the list that begins at right */
    NODE_LIST,                          /* left, then the list at right */
    NODE_IF,                            /* left, then a LIST of what follows and what else */
    NODE_HAS, NODE_MIN, NODE_COUNT, NODE_INTEGER, NODE_IS_INT, NODE_LOG2, NODE_SAME_NAMES,
};

struct node {
    enum node_kind kind;
    const struct node *left, *right;
    struct value constant;
    const char *name;                   /* of a member or a state */
    size_t index;                       /* of an item */
    const struct name_list *table;      /* of same_names, sorted */
};

struct expression { const char *text; const struct node *root; };
#endif
