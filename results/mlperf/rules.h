/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.h - what the official compliance checkers ask of a log: the rows of results/rules/rules.csv, by edition and layer.
 *
 * A layer is one file of the official checker: common, closed_common, closed_bert, closed_resnet_lars. It runs over all lines of a log with
 * a state of its own. An action `apply "closed_{}"` calls for another layer, named after the line's value; where a later layer speaks of a
 * key, it replaces what the earlier ones said of it. A layer that the table does not have stops the official checker: the log is refused.
 *
 * A row: for these rulesets, KEY must occur so often (1, 2+, 1+ of a group; nothing: any number), each of its lines must fulfil CHECK (parts
 * between ;;), at least one must fulfil ONCE, and ACTION follows each. Rows without a key hold at the layer's begin and end.
 */
#ifndef RULES_H
#define RULES_H
#include "results/mlperf/tensors.h"
#include "system-model/base/expression.h"
#include "workloads/convergence/editions.h"
#include <jansson.h>

/* ---- what the expressions of rules see ------------------------------------------------------------- */

/* What actions of earlier lines left behind, by name. A log has a handful. */
struct rule_state { struct { const char *name; struct value value; } items[16]; size_t n; };
struct value *rule_state_find(struct rule_state *st, const char *name);        /* NULL: never set */
bool rule_state_set(struct rule_state *st, const char *name, const struct value *v);   /* false: full */

/* v and m are a line's value and metadata, st is the state of its layer, t_ms its time. */
enum { VARIABLE_VALUE, VARIABLE_METADATA, VARIABLE_STATE, VARIABLE_TIME, N_RULE_VARIABLES };
extern const char *const rule_variables[N_RULE_VARIABLES + 1];
struct rule_scope { struct value variables[N_RULE_VARIABLES]; };
/* v and m may be NULL: there is no line; so may st. */
struct rule_scope rule_scope_of(const json_t *v, const json_t *m, double t_ms, struct rule_state *st);

struct value value_of_json(const json_t *v);
/* Two lists are equal when they hold the same names, each as often; comparing sorts the first. */
struct value value_of_names(const struct name_list *names);
const struct name_list *value_names(const struct value *v);             /* NULL: another kind of value */

/* ---- rules --------------------------------------------------------------------------------------------- */

enum rule_occurs { OCCURS_FREE, OCCURS_ONCE, OCCURS_TIMES, OCCURS_ANY_OF, OCCURS_BEGIN, OCCURS_END };

enum action_kind { ACTION_SET, ACTION_NEW_NAMES, ACTION_APPEND, ACTION_APPLY, ACTION_GATHER };

/* name := value; append value to name; apply "name"; gather KEY into name by MEMBER. */
struct action {
    enum action_kind kind;
    const char *name, *key, *member;
    struct expression value;
};

enum { MOST_CHECKS = 6, MOST_ACTIONS = 6, MOST_OF = 3 };

struct rule {
    const char *rulesets, *layer, *key, *source;
    enum rule_occurs occurs;
    uint64_t at_least;
    const char *any_of[MOST_OF];        /* of a group */
    struct expression checks[MOST_CHECKS], once;     /* once.text is NULL where there is none */
    struct action actions[MOST_ACTIONS];
    size_t n_of, n_checks, n_actions;
    bool only_warns, absent_warns;      /* whatever it finds; when the key is absent */
};

struct rule_layer {
    const char *name;
    const struct rule **begins, **ends, **rules;        /* rules: sorted by key */
    size_t n_begins, n_ends, n_rules;
};

/* The rules of one edition. */
struct rule_book {
    const struct edition *edition;
    struct rule_layer *layers;
    size_t n_layers;
};

/* The tables, loaded once for any number of logs. */
struct rule_library {
    struct arena *a;
    struct rule *rules;
    size_t n_rules;
    struct rule_book books[16];         /* of the editions asked for so far */
    size_t n_books;
    struct name_list apply_keys;        /* keys whose value can call for a layer */
    struct tensor_lists tensors;
};

bool rules_load(struct rule_library *out, const char *rules_dir, struct arena *a, struct err *err);
/* Fails on an edition that has no rules; the message names the known ones. */
bool rules_of(const struct rule_book **out, struct rule_library *l, const char *round, struct err *err);

const struct rule_layer *rule_layer_find(const struct rule_book *b, const char *name);      /* NULL: none */
/* The rule of a key, or NULL. */
const struct rule *rule_find(const struct rule_layer *l, const char *key, size_t *index);

/* What a part of a rule asks for, for messages: "v>0.5 (2.0.0 closed_bert)". */
const char *rule_wants(const struct expression *e, const struct rule *r, const struct edition *edition, struct arena *a);
#endif
