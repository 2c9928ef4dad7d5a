/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.h - the one language in which tables state checks and claims.
 *
 *     v>=0.759 & v<1.0      has(m.epoch_num) | has(m.step_num)      v in {"closed","open"}      0<=v.FID<=90
 *     if v=="open" then 240 else 30      v==ceil(1200000*1152/st.batch)-st.warmup      2*sheet[gc2.clock_hz]/1e9
 *
 * Rules of MLPerf rounds (workloads/convergence/rounds) are Python expressions in the official checker, so values behave as in Python:
 * a text and a number are never equal, true is 1, comparisons chain, & and | stop early, and -2**2 is -4. An expression
 * that raises an exception in Python (for an absent member, a division by zero, the order of a text and a number) has
 * no result here, which is neither true nor false. Lua was the alternative: it has no chained comparisons, true is not
 * 1, and 0 is true, so that each rule would have to be translated.
 *
 * Also: + - * / **, not, [1] (an item of a list), true, false, null, inf, and the functions of one table in
 * expression_compute.c. Names are the caller's: variables get their values when an expression is computed, KIND[ARGUMENT] is
 * looked up once, when it is parsed.
 */
#ifndef EXPRESSION_H
#define EXPRESSION_H
#include "system-model/base/base.h"

enum value_kind { VALUE_NONE, VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT, VALUE_OBJECT };

struct value {
    enum value_kind kind;               /* VALUE_NONE: the value does not exist */
    bool is_whole;                      /* a number written without point or exponent */
    double number;                      /* a VALUE_BOOL has 0 or 1 */
    const char *text;
    const struct value_type *type;      /* the type of a VALUE_OBJECT */
    const void *object;                 /* borrowed */
};

/* The operations on an object; each may be NULL. member and item return false for one that does not exist. */
struct value_type {
    bool (*member)(struct value *out, const void *object, const char *name);
    bool (*item)(struct value *out, const void *object, size_t index);
    size_t (*count)(const void *object);
    bool (*equal)(const void *a, const void *b);        /* both objects are of this type */
};

bool values_equal(const struct value *a, const struct value *b);

/* variables ends in NULL. lookup gives the value of KIND[ARGUMENT], or fails with a message; it may be NULL. */
struct expression_names {
    const char *const *variables;
    bool (*lookup)(struct value *out, void *user, const char *kind, const char *argument, struct err *err);
    void *user;
};

struct expression { const char *text; const struct node *root; };       /* text and tree lie in the arena */

/* names may be NULL: there are none. where heads messages: "rules.csv:7: check". */
bool expression_parse(struct expression *out, const char *text, const struct expression_names *names, const char *where, struct arena *a,
                      struct err *err);

/* variables: one value for each name, in order. Returns false without a result. */
bool expression_compute(struct value *out, const struct expression *e, const struct value *variables);
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_NONE };
enum truth expression_holds(const struct expression *e, const struct value *variables);

/* Splits LEFT==CONSTANT, or LEFT in {CONSTANT,...} with its first constant. Returns false for any other expression. */
bool expression_asks_constant(struct expression *left, struct value *constant, const struct expression *e);
/* Splits LEFT==WANTED or abs(LEFT-WANTED)<X, also at the end of alternatives (A | LEFT==WANTED). LEFT has one variable, which WANTED does not use.
 * Returns false for any other expression. */
bool expression_asks_computed(struct expression *left, struct expression *wanted, const struct expression *e);
bool expression_is_variable(const struct expression *e, const char *name);
#endif
