/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.h - the small language in which results/rules/rules.csv states what a line of a log must fulfil.
 *
 *     v>=0.759 & v<1.0                     the line's value
 *     has(m.epoch_num) | has(m.step_num)   a member of its metadata
 *     st.init_started                      what an action of an earlier line left behind
 *     v in {"closed","open"}   0<=v.FID<=90   integer(log2(v/0.0001))   if v=="open" then 240 else 30
 *
 * It means what the same check of the official checker means in Python: text and number are never equal and cannot be ordered, true is 1,
 * & and | stop early, and a check that cannot be computed (an absent member, a division by zero) has no result.
 * Also: + - * /, not, [1] (an item of a list), t_ms (the line's time), inf, null, and the functions has, min,
 * count, integer (within 1e-5), is_int, log2 and same_names(LIST, "TABLE").
 * A language apart: what claims compute with numbers of sheets and figures (results/published/arithmetic.h), where no value is a mistake.
 */
#ifndef EXPRESSION_H
#define EXPRESSION_H
#include "results/mlperf/tensors.h"
#include <jansson.h>

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT, VALUE_JSON, VALUE_NAMES };

struct value {
    enum value_kind kind;
    bool is_whole;                      /* a number written without point or exponent */
    double number;                      /* of a BOOL: 0 or 1 */
    const char *text;
    const json_t *json;                 /* a list or an object; borrowed */
    struct name_list *names;
};

struct value value_of_json(const json_t *v);
bool values_equal(const struct value *a, const struct value *b);

/* What actions leave behind, by name. A log has a handful. */
struct state { struct { const char *name; struct value value; } items[16]; size_t n; };
struct value *state_find(struct state *st, const char *name);           /* NULL: never set */
bool state_set(struct state *st, const char *name, const struct value *v);     /* false: full */

struct scope {
    const json_t *v, *m;                /* the line's value and metadata; NULL where there is no line */
    double t_ms;
    struct state *st;
};

struct expression;                      /* parsed; lives in the arena, with the text it was parsed from */

/* tables: finds the list of names that same_names compares with; where heads the message of a mistake. */
typedef const struct name_list *name_table(void *user, const char *name);
struct expression_tables { name_table *find; void *user; };
bool expression_parse(struct expression **out, const char *text, const struct expression_tables *tables, const char *where, struct arena *a,
                      struct err *err);
const char *expression_text(const struct expression *e);

/* False when it cannot be computed. */
bool expression_compute(struct value *out, const struct expression *e, const struct scope *s);
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_NONE };
enum truth expression_holds(const struct expression *e, const struct scope *s);
/* Of an expression that is same_names(LIST, "TABLE") and nothing else: the table, and the list of a log; NULL and false for any other. */
const struct name_list *expression_name_table(const struct expression *e);
bool expression_name_list(const struct name_list **out, const struct expression *e, const struct scope *s);
/* The value that v==CONSTANT asks for, or the first of v in {CONSTANT,...}; false for any other expression. */
bool expression_names_value(struct value *out, const struct expression *e);
#endif
