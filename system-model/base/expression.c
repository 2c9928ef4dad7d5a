/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.c - parses an expression by recursive descent; see expression.h. expression_compute.c computes its tree.
 *
 *     WHOLE    if OR then OR [else OR]  |  OR
 *     OR       AND | AND ...            AND      NOT & NOT ...         NOT   not NOT  |  COMPARE
 *     COMPARE  SUM < SUM <= SUM ...  [in {SUM,SUM}]
 *     SUM      TERM + TERM - ...        TERM     SIGNED * SIGNED / ...
 *     SIGNED   - SIGNED  |  POWER       POWER    PRIMARY [** SIGNED]
 *     PRIMARY  (WHOLE)  |  12.5  |  "text"  |  true  |  FUNCTION(SUM,...)  |  VARIABLE.a[1]  |  KIND[ARGUMENT]
 *
 * A chain a<=b<=c is (a<=b) & (b<=c). Nesting and length are limited, so that no text can exhaust the stack: parsing
 * recurses as deep as a text nests, computing as deep as its tree, and a + b + c ... grows one level a term.
 */
#include "system-model/base/expression_tree.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 60, LONGEST_NAME = 80, LONGEST_NUMBER = 39, LONGEST_TEXT = 4000 };

/* ---- parsing: words ---------------------------------------------------------------------------------------- */

struct parser {
    const char *at, *text, *where;
    int depth;
    const struct expression_names *names;
    struct arena *a;
    struct err *err;
};

enum expression_level { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_TERM, LEVEL_SIGN, LEVEL_POWER, LEVEL_PRIMARY };

static struct node *parse_whole(struct parser *p);
static struct node *parse_level(struct parser *p, enum expression_level level);

static struct node *refuse(struct parser *p, const char *wanted)
{
    fail(p->err, "%s: '%.100s': at '%.20s', want %s", p->where, p->text, *p->at ? p->at : "the end", wanted);
    return NULL;
}

static struct node *new_node(struct parser *p, enum node_kind kind, const struct node *left, const struct node *right)
{
    struct node *n = ARENA_NEW(p->a, struct node);
    *n = (struct node){ .kind = kind, .left = left, .right = right };
    return n;
}

static struct node *new_constant(struct parser *p, struct value v)
{
    struct node *n = new_node(p, NODE_CONSTANT, NULL, NULL);
    n->constant = v;
    return n;
}

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " ");
}

/* Letters match only as a whole word. */
static bool take_token(struct parser *p, const char *token)
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

/* Enters one level of nesting; false, with a message, below the deepest. After each success the caller must lower p->depth. */
static bool descend(struct parser *p) { return ++p->depth <= DEEPEST || refuse(p, "less nesting"); }

/* ---- parsing: what operators join ------------------------------------------------------------------------- */

static struct node *parse_text(struct parser *p)
{
    const char *first = p->at, *close = strchr(first, '"');
    if (!close)
        return refuse(p, "a closing quote");
    p->at = close + 1;
    return new_constant(p, (struct value){ .kind = VALUE_TEXT, .text = arena_printf(p->a, "%.*s", (int)(close - first), first) });
}

static struct node *parse_number(struct parser *p)
{
    char digits[LONGEST_NUMBER + 1];
    size_t n = strspn(p->at, "0123456789.");
    bool is_whole = !memchr(p->at, '.', n);
    if (n && (p->at[n] == 'e' || p->at[n] == 'E')) {
        is_whole = false;
        n++;
        n += p->at[n] == '-' || p->at[n] == '+';
        n += strspn(p->at + n, "0123456789");
    }
    if (n == 0 || n > LONGEST_NUMBER)
        return refuse(p, "a value");
    struct value v = { .kind = VALUE_NUMBER, .is_whole = is_whole };
    memcpy(digits, p->at, n);
    digits[n] = 0;
    if (!parse_f64(digits, &v.number))
        return refuse(p, "a number");
    p->at += n;
    return new_constant(p, v);
}

/* The members and items that follow a variable. */
static struct node *parse_path(struct parser *p, struct node *n)
{
    while (*p->at == '.' || *p->at == '[') {
        const char *start = p->at++;
        if (*start == '.') {
            n = new_node(p, NODE_MEMBER, n, NULL);
            if (!(n->name = take_name(p)))
                return refuse(p, "a member's name");
            continue;
        }
        size_t digits = strspn(p->at, "0123456789");
        uint64_t index = 0;
        bool good = digits && digits < 10 && p->at[digits] == ']' && parse_u64(arena_printf(p->a, "%.*s", (int)digits, p->at), &index);
        p->at = good ? p->at + digits + 1 : start;
        if (!good)
            return refuse(p, "[ITEM]");
        n = new_node(p, NODE_ITEM, n, NULL);
        n->index = (size_t)index;
    }
    return n;
}

/* Parses a chain of LIST nodes, and counts them in *count. */
static struct node *parse_list(struct parser *p, int *count)
{
    struct node *first = NULL, *last = NULL;
    *count = 0;
    do {
        struct node *item = parse_level(p, LEVEL_SUM);
        if (!item)
            return NULL;
        struct node *one = new_node(p, NODE_LIST, item, NULL);
        if (last)
            last->right = one;
        else
            first = one;
        last = one;
        ++*count;
    } while (take_token(p, ","));
    return first;
}

static const char *known_functions(struct parser *p)
{
    const char *list = "";
    for (size_t i = 0; i < n_expression_functions; i++)
        list = arena_printf(p->a, "%s%s%s%s", list, *list ? ", " : "", expression_functions[i].name, expression_functions[i].n_arguments == 2 ? "(x,y)" : "(x)");
    return list;
}

static struct node *parse_call(struct parser *p, const char *name, const char *start)
{
    int n;
    struct node *arguments = parse_list(p, &n);
    if (!arguments)
        return NULL;
    if (!take_token(p, ")"))
        return refuse(p, "')'");
    for (size_t i = 0; i < n_expression_functions; i++)
        if (text_is(name, expression_functions[i].name) && n == expression_functions[i].n_arguments) {
            struct node *call = new_node(p, NODE_CALL, NULL, arguments);
            call->function = &expression_functions[i];
            return call;
        }
    p->at = start;
    return refuse(p, arena_printf(p->a, "one of the functions %s", known_functions(p)));
}

static struct node *parse_lookup(struct parser *p, const char *kind)
{
    struct value v;
    struct err why = { "" };
    size_t n = strcspn(p->at, "]");
    const char *argument = arena_printf(p->a, "%.*s", (int)n, p->at);
    if (!p->at[n])
        return refuse(p, "an argument that ends in ]");
    p->at += n + 1;
    if (p->names->lookup(&v, p->names->user, kind, argument, &why))
        return new_constant(p, v);
    fail(p->err, "%s: %s[%.100s]: %.300s", p->where, kind, argument, why.msg);
    return NULL;
}

static struct node *parse_variable(struct parser *p, const char *name)
{
    for (size_t i = 0; p->names && p->names->variables && p->names->variables[i]; i++)
        if (text_is(name, p->names->variables[i])) {
            struct node *n = new_node(p, NODE_VARIABLE, NULL, NULL);
            n->name = p->names->variables[i];
            n->index = i;
            return n;
        }
    return NULL;
}

static const char *known_words(struct parser *p)
{
    const char *list = "";
    for (size_t i = 0; p->names && p->names->variables && p->names->variables[i]; i++)
        list = arena_printf(p->a, "%s%s, ", list, p->names->variables[i]);
    return arena_printf(p->a, "%sa constant, %sor a function: %s", list, p->names && p->names->lookup ? "KIND[ARGUMENT], " : "",
                        known_functions(p));
}

static struct node *parse_word(struct parser *p)
{
    static const struct { const char *name; struct value value; } constants[] = {
        { "true", { .kind = VALUE_BOOL, .number = 1 } }, { "false", { .kind = VALUE_BOOL } }, { "null", { .kind = VALUE_NULL } },
        { "inf", { .kind = VALUE_NUMBER, .number = HUGE_VAL } },
    };
    const char *start = p->at, *name = take_name(p);
    struct node *variable = name ? parse_variable(p, name) : NULL;
    if (variable)
        return parse_path(p, variable);
    if (name && take_token(p, "("))
        return parse_call(p, name, start);
    if (name && p->names && p->names->lookup && take_token(p, "["))
        return parse_lookup(p, name);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (text_is(name, constants[i].name))
            return new_constant(p, constants[i].value);
    p->at = start;
    return refuse(p, known_words(p));
}

static struct node *parse_primary(struct parser *p)
{
    skip_space(p);
    if (take_token(p, "\""))
        return parse_text(p);
    if (!take_token(p, "("))
        return isalpha((unsigned char)*p->at) ? parse_word(p) : parse_number(p);
    struct node *n = parse_whole(p);
    return !n || take_token(p, ")") ? n : refuse(p, "')'");
}

/* ---- parsing: operators -------------------------------------------------------------------------------- */

static const struct operator { const char *token; enum expression_level level; enum node_kind kind; } operators[] = {
    { "|", LEVEL_OR, NODE_OR }, { "&", LEVEL_AND, NODE_AND }, { "in", LEVEL_COMPARE, NODE_IN }, { "==", LEVEL_COMPARE, NODE_EQUAL },
    { "!=", LEVEL_COMPARE, NODE_DIFFERS }, { "<=", LEVEL_COMPARE, NODE_AT_MOST }, { ">=", LEVEL_COMPARE, NODE_AT_LEAST },
    { "<", LEVEL_COMPARE, NODE_LESS }, { ">", LEVEL_COMPARE, NODE_MORE }, { "+", LEVEL_SUM, NODE_ADD }, { "-", LEVEL_SUM, NODE_SUBTRACT },
    { "*", LEVEL_TERM, NODE_MULTIPLY }, { "/", LEVEL_TERM, NODE_DIVIDE }, { "**", LEVEL_POWER, NODE_POWER },
};

static const struct operator *take_operator(struct parser *p, enum expression_level level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].level == level && take_token(p, operators[i].token))
            return &operators[i];
    return NULL;
}

/* The list after `in`, in braces. */
static struct node *parse_braces(struct parser *p)
{
    int n;
    if (!take_token(p, "{"))
        return refuse(p, "{ITEM,ITEM}");
    if (!descend(p))
        return NULL;
    struct node *list = parse_list(p, &n);
    p->depth--;
    return !list || take_token(p, "}") ? list : refuse(p, "'}'");
}

static struct node *parse_prefix(struct parser *p, enum expression_level level)
{
    bool is_sign = level == LEVEL_SIGN, taken = take_token(p, is_sign ? "-" : "not");
    if (!taken && !is_sign)
        return parse_level(p, level + 1);
    if (!descend(p))
        return NULL;
    struct node *n = taken ? parse_prefix(p, level) : parse_level(p, level + 1);
    p->depth--;
    return n && taken ? new_node(p, is_sign ? NODE_MINUS : NODE_NOT, n, NULL) : n;
}

/* Parses operands joined by operators of this level or of tighter ones. Operators group to the left, ** to the right; comparisons chain, and `in`
 * ends a chain. */
static struct node *parse_level(struct parser *p, enum expression_level level)
{
    if (level == LEVEL_NOT || level == LEVEL_SIGN)
        return parse_prefix(p, level);
    if (level == LEVEL_PRIMARY)
        return parse_primary(p);
    struct node *n = parse_level(p, level + 1), *all = NULL;
    for (const struct operator *o; n && (o = take_operator(p, level)); ) {
        struct node *right = o->kind == NODE_IN ? parse_braces(p) : parse_level(p, o->kind == NODE_POWER ? LEVEL_SIGN : level + 1);
        if (!right)
            return NULL;
        n = new_node(p, o->kind, n, right);
        if (level != LEVEL_COMPARE)
            continue;
        all = all ? new_node(p, NODE_AND, all, n) : n;
        if (o->kind == NODE_IN)
            return all;
        n = right;
    }
    return n && all ? all : n;
}

/* An `if` without `else` is true if its condition does not hold. */
static struct node *parse_whole(struct parser *p)
{
    if (!take_token(p, "if"))
        return parse_level(p, LEVEL_OR);
    struct node *condition = parse_level(p, LEVEL_OR), *then = NULL, *other = NULL;
    if (!condition)
        return NULL;
    if (!take_token(p, "then"))
        return refuse(p, "then");
    then = parse_level(p, LEVEL_OR);
    if (!then || (take_token(p, "else") && !(other = parse_level(p, LEVEL_OR))))
        return NULL;
    if (!other)
        other = new_constant(p, (struct value){ .kind = VALUE_BOOL, .number = 1 });
    return new_node(p, NODE_IF, condition, new_node(p, NODE_LIST, then, other));
}

bool expression_parse(struct expression *out, const char *text, const struct expression_names *names, const char *where, struct arena *a,
                      struct err *err)
{
    struct parser p = { text, text, where, 0, names, a, err };
    if (strlen(text) > LONGEST_TEXT)
        return fail(err, "%s: '%.40s...': %zu characters, want at most %d", where, text, strlen(text), LONGEST_TEXT);
    struct node *root = parse_whole(&p);
    skip_space(&p);
    if (!root)
        return false;
    if (*p.at)
        return refuse(&p, "nothing more") != NULL;
    *out = (struct expression){ text, root };
    return true;
}
