/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression_parse.c - expressions from text, by recursive descent:
 *
 *     expression  if OR then OR [else OR]  |  OR
 *     OR          AND | AND ...            AND      NOT & NOT ...         NOT   not NOT  |  COMPARE
 *     COMPARE     SUM < SUM <= SUM ...     |  SUM in {SUM,SUM}
 *     SUM         TERM + TERM - ...        TERM     FACTOR * FACTOR / ...
 *     FACTOR      -FACTOR | (OR) | 12.5 | "text" | true | inf | FUNCTION(SUM,...) | v.a[1] | m.a | st.a | t_ms
 *
 * A chain a<=b<=c is (a<=b) & (b<=c). Nesting and length are limited, so that no text can exhaust the stack: parsing recurses
 * as deep as a text nests, computing as deep as its tree, and a + b + c ... grows one level a term.
 */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/mlperf/expression_parse.h"

enum { DEEPEST = 60, LONGEST_NAME = 80, LONGEST_TEXT = 4000 };

struct parser {
    const char *at, *text, *where;
    int depth;
    const struct expression_tables *tables;
    struct arena *a;
    struct err *err;
};

static struct node *parse_or(struct parser *p);
static struct node *parse_sum(struct parser *p);

static struct node *wrong(struct parser *p, const char *wanted)
{
    fail(p->err, "%s: '%.100s': at '%.20s', want %s", p->where, p->text, p->at, wanted);
    return NULL;
}

static struct node *new_node(struct parser *p, enum node_kind kind, const struct node *left, const struct node *right)
{
    struct node *n = ARENA_NEW(p->a, struct node);
    *n = (struct node){ .kind = kind, .left = left, .right = right };
    return n;
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    bool word = isalpha((unsigned char)*token);
    if (strncmp(p->at, token, n) || (word && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')))
        return false;
    p->at += n;
    return true;
}

static const char *take_name(struct parser *p)
{
    skip_space(p);
    size_t n = 0;
    if (isalpha((unsigned char)*p->at))
        while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
            n++;
    if (n == 0 || n > LONGEST_NAME)
        return NULL;
    const char *name = arena_printf(p->a, "%.*s", (int)n, p->at);
    p->at += n;
    return name;
}

/* ---- factors ---------------------------------------------------------------------------------- */

static struct node *constant(struct parser *p, struct value v)
{
    struct node *n = new_node(p, NODE_CONSTANT, NULL, NULL);
    n->constant = v;
    return n;
}

static struct node *parse_text(struct parser *p)
{
    const char *first = p->at, *close = strchr(first, '"');
    if (!close)
        return wrong(p, "a closing quote");
    p->at = close + 1;
    return constant(p, (struct value){ .kind = VALUE_TEXT, .text = arena_printf(p->a, "%.*s", (int)(close - first), first) });
}

static struct node *parse_number(struct parser *p)
{
    char copy[40], *end;
    size_t n = strspn(p->at, "0123456789.");
    if (n && (p->at[n] == 'e' || p->at[n] == 'E')) {
        n++;
        n += p->at[n] == '-' || p->at[n] == '+';
        n += strspn(p->at + n, "0123456789");
    }
    if (n == 0 || n >= sizeof copy)
        return wrong(p, "a value");
    snprintf(copy, sizeof copy, "%.*s", (int)n, p->at);
    double x = strtod(copy, &end);
    if (*end || !isfinite(x))
        return wrong(p, "a number");
    p->at += n;
    return constant(p, (struct value){ .kind = VALUE_NUMBER, .number = x, .is_whole = !strpbrk(copy, ".eE") });
}

static struct node *parse_path(struct parser *p, struct node *n)
{
    while (n) {
        if (take(p, ".")) {
            n = new_node(p, NODE_MEMBER, n, NULL);
            if (!(n->name = take_name(p)))
                return wrong(p, "a member's name");
        } else if (*p->at == '[') {
            char *end;
            n = new_node(p, NODE_ITEM, n, NULL);
            n->index = strtoul(p->at + 1, &end, 10);
            if (end == p->at + 1 || *end != ']')
                return wrong(p, "[ITEM]");
            p->at = end + 1;
        } else {
            return n;
        }
    }
    return n;
}

static struct node *parse_state(struct parser *p)
{
    struct node *n = new_node(p, NODE_STATE, NULL, NULL);
    if (!take(p, ".") || !(n->name = take_name(p)))
        return wrong(p, "the state's name after st.");
    return n;
}

static const struct function { const char *name; enum node_kind kind; int arguments; } functions[] = {
    { "has", NODE_HAS, 1 }, { "count", NODE_COUNT, 1 }, { "integer", NODE_INTEGER, 1 }, { "is_int", NODE_IS_INT, 1 },
    { "log2", NODE_LOG2, 1 }, { "min", NODE_MIN, 2 }, { "same_names", NODE_SAME_NAMES, 2 },
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static struct node *find_table(struct parser *p, struct node *call)
{
    assert(call->right);                /* it has two arguments */
    const char *name = call->right->kind == NODE_CONSTANT ? call->right->constant.text : NULL;
    call->table = name && p->tables ? p->tables->find(p->tables->user, name) : NULL;
    return call->table ? call : wrong(p, "same_names(LIST, \"TABLE\") of a table of names that is known");
}

static struct node *parse_call(struct parser *p, const struct function *f)
{
    struct node *left = parse_sum(p), *right = NULL;
    if (!left || (f->arguments == 2 && (!take(p, ",") || !(right = parse_sum(p)))))
        return left ? wrong(p, "a second argument") : NULL;
    if (!take(p, ")"))
        return wrong(p, "')'");
    struct node *call = new_node(p, f->kind, left, right);
    return f->kind == NODE_SAME_NAMES ? find_table(p, call) : call;
}

static struct node *parse_word(struct parser *p)
{
    const char *start = p->at, *name = take_name(p);
    if (text_is(name, "v"))
        return parse_path(p, new_node(p, NODE_VALUE, NULL, NULL));
    if (text_is(name, "m"))
        return parse_path(p, new_node(p, NODE_METADATA, NULL, NULL));
    if (text_is(name, "st"))
        return parse_state(p);
    if (text_is(name, "t_ms"))
        return new_node(p, NODE_TIME, NULL, NULL);
    if (text_is(name, "true") || text_is(name, "false"))
        return constant(p, (struct value){ .kind = VALUE_BOOL, .number = text_is(name, "true") });
    if (text_is(name, "null"))
        return constant(p, (struct value){ .kind = VALUE_NULL });
    if (text_is(name, "inf"))
        return constant(p, (struct value){ .kind = VALUE_NUMBER, .number = HUGE_VAL });
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (text_is(name, functions[i].name) && take(p, "("))
            return parse_call(p, &functions[i]);
    p->at = start;
    return wrong(p, "v, m, st, t_ms, a constant, or a function: has, count, integer, is_int, log2, min, same_names");
}

static struct node *parse_factor(struct parser *p)
{
    if (++p->depth > DEEPEST)
        return wrong(p, "less nesting");
    struct node *n;
    skip_space(p);
    if (take(p, "-"))
        n = (n = parse_factor(p)) ? new_node(p, NODE_MINUS, n, NULL) : NULL;
    else if (take(p, "(")) {
        n = parse_or(p);
        if (n && !take(p, ")"))
            n = wrong(p, "')'");
    } else if (take(p, "\""))
        n = parse_text(p);
    else
        n = isalpha((unsigned char)*p->at) ? parse_word(p) : parse_number(p);
    p->depth--;
    return n;
}

/* ---- operators, from the tightest to the loosest ------------------------------------------------- */

struct operator { const char *token; enum node_kind kind; };

static const struct operator *take_operator(struct parser *p, const struct operator *list)
{
    for (; list->token; list++)
        if (take(p, list->token))
            return list;
    return NULL;
}

/* One level of operators that group to the left. */
static struct node *parse_level(struct parser *p, struct node *(*next)(struct parser *), const struct operator *list)
{
    struct node *n = next(p);
    for (const struct operator *o; n && (o = take_operator(p, list)); ) {
        struct node *right = next(p);
        n = right ? new_node(p, o->kind, n, right) : NULL;
    }
    return n;
}

static struct node *parse_term(struct parser *p)
{
    static const struct operator list[] = { { "*", NODE_MULTIPLY }, { "/", NODE_DIVIDE }, { 0 } };
    return parse_level(p, parse_factor, list);
}

static struct node *parse_sum(struct parser *p)
{
    static const struct operator list[] = { { "+", NODE_ADD }, { "-", NODE_SUBTRACT }, { 0 } };
    return parse_level(p, parse_term, list);
}

static struct node *parse_list(struct parser *p)
{
    struct node *first = NULL, *last = NULL;
    do {
        struct node *item = parse_sum(p);
        if (!item)
            return NULL;
        struct node *one = new_node(p, NODE_LIST, item, NULL);
        if (last)
            last->right = one;
        else
            first = one;
        last = one;
    } while (take(p, ","));
    return first;
}

static struct node *parse_in(struct parser *p, struct node *left)
{
    if (!take(p, "{"))
        return wrong(p, "{ITEM,ITEM}");
    if (++p->depth > DEEPEST)
        return wrong(p, "less nesting");
    struct node *list = parse_list(p);
    p->depth--;
    if (list && !take(p, "}"))
        return wrong(p, "'}'");
    return list ? new_node(p, NODE_IN, left, list) : NULL;
}

static struct node *parse_compare(struct parser *p)
{
    static const struct operator list[] = { { "==", NODE_EQUAL }, { "!=", NODE_DIFFERS }, { "<=", NODE_AT_MOST }, { ">=", NODE_AT_LEAST },
                                            { "<", NODE_LESS }, { ">", NODE_MORE }, { 0 } };
    struct node *left = parse_sum(p), *all = NULL;
    if (left && take(p, "in"))
        return parse_in(p, left);
    for (const struct operator *o; left && (o = take_operator(p, list)); ) {
        struct node *right = parse_sum(p);
        if (!right)
            return NULL;
        struct node *one = new_node(p, o->kind, left, right);
        all = all ? new_node(p, NODE_CHAIN, all, one) : one;
        left = right;
    }
    return all ? all : left;
}

static struct node *parse_not(struct parser *p)
{
    if (!take(p, "not"))
        return parse_compare(p);
    if (++p->depth > DEEPEST)
        return wrong(p, "less nesting");
    struct node *n = parse_not(p);
    p->depth--;
    return n ? new_node(p, NODE_NOT, n, NULL) : NULL;
}

static struct node *parse_and(struct parser *p)
{
    static const struct operator list[] = { { "&", NODE_AND }, { 0 } };
    return parse_level(p, parse_not, list);
}

static struct node *parse_or(struct parser *p)
{
    static const struct operator list[] = { { "|", NODE_OR }, { 0 } };
    return parse_level(p, parse_and, list);
}

static struct node *parse_if(struct parser *p)
{
    if (!take(p, "if"))
        return parse_or(p);
    struct node *condition = parse_or(p), *then = NULL, *other = NULL;
    if (!condition)
        return NULL;
    if (!take(p, "then"))
        return wrong(p, "then");
    then = parse_or(p);
    if (!then || (take(p, "else") && !(other = parse_or(p))))
        return NULL;
    if (!other)
        other = constant(p, (struct value){ .kind = VALUE_BOOL, .number = 1 });
    return new_node(p, NODE_IF, condition, new_node(p, NODE_LIST, then, other));
}

bool expression_parse(struct expression **out, const char *text, const struct expression_tables *tables, const char *where, struct arena *a,
                      struct err *err)
{
    struct parser p = { text, text, where, 0, tables, a, err };
    if (strlen(text) > LONGEST_TEXT)
        return fail(err, "%s: '%.40s...': %zu characters, want at most %d", where, text, strlen(text), LONGEST_TEXT);
    struct node *root = parse_if(&p);
    skip_space(&p);
    if (!root)
        return false;
    if (*p.at)
        return wrong(&p, "nothing more") != NULL;
    *out = ARENA_NEW(a, struct expression);
    **out = (struct expression){ text, root };
    return true;
}

const char *expression_text(const struct expression *e)
{
    return e->text;
}
