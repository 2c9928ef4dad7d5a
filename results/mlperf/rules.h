/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.h - what the official compliance checkers ask of a log: the rows of a round's rules.csv, by layer.
 *
 * A layer is one file of the official checker: common, closed_common, closed_bert, closed_resnet_lars. It runs over all
 * lines of a log with a state of its own. An action `apply "closed_{}"` calls for another layer, named after the line's
 * value; where two layers have a rule for the same key, the later layer's rule replaces the earlier one's. A layer that
 * the table lacks stops the official checker, so the log is refused. A layer "NAME review" follows layer NAME; its rules
 * are those of severity review, which stand in the written rules alone.
 *
 * A row says: KEY must occur so often (1, 2+, 1+ of a group; an empty cell allows any number), each
 * of its lines must fulfil CHECK (parts separated by ;;), at least one line must fulfil ONCE, and ACTION follows each
 * line. Rows without a key apply at the layer's begin and end.
 */
#ifndef RULES_H
#define RULES_H
#include "system-model/base/expression.h"
#include "workloads/convergence/editions.h"
#include <jansson.h>

/* ---- names of weights, from tensors.csv ------------------------------------------------------------- */

struct name_list { char **names; size_t n, cap; };
void name_list_add(struct name_list *l, const char *name, struct arena *a);
bool name_list_has(const struct name_list *l, const char *name);
/* All lists of a round's tensors.csv, each sorted. */
struct tensor_lists { const char **names; struct name_list *lists; size_t n; };
bool tensor_lists_load(struct tensor_lists *out, const char *path, struct arena *a, struct err *err);
const struct name_list *tensor_lists_find(const struct tensor_lists *t, const char *name);      /* NULL if there is no such list */

/* ---- values in the expressions of rules ------------------------------------------------------------- */

/* The values that actions of earlier lines set, by name. A log has a handful. */
struct rule_state { struct { const char *name; struct value value; } items[16]; size_t n; };
struct value *rule_state_find(struct rule_state *st, const char *name);        /* NULL: never set */
bool rule_state_set(struct rule_state *st, const char *name, const struct value *v);   /* false: full */

/* v and m are a line's value and metadata, st is the state of its layer, t_ms its time. */
enum { VARIABLE_VALUE, VARIABLE_METADATA, VARIABLE_STATE, VARIABLE_TIME, N_RULE_VARIABLES };
extern const char *const rule_variables[N_RULE_VARIABLES + 1];
struct rule_scope { struct value variables[N_RULE_VARIABLES]; };
/* v and m may be NULL, at the begin and end of a layer; so may st. */
struct rule_scope rule_scope_of(const json_t *v, const json_t *m, double t_ms, struct rule_state *st);

struct value value_of_json(const json_t *v);
/* Two lists are equal when they hold the same names, each as often. Comparing sorts the first; the second must be
 * sorted. */
struct value value_of_names(const struct name_list *names);
const struct name_list *value_names(const struct value *v);             /* NULL: the value is of another kind */

/* ---- rules --------------------------------------------------------------------------------------------- */

enum rule_occurs { OCCURS_FREE, OCCURS_ONCE, OCCURS_TIMES, OCCURS_ANY_OF, OCCURS_BEGIN, OCCURS_END };

enum action_kind { ACTION_SET, ACTION_NEW_NAMES, ACTION_APPEND, ACTION_APPLY, ACTION_GATHER };

/* name := value; append value to name; apply "name", or apply "name" for "member", a value of the line; gather KEY into name by MEMBER. */
struct action {
    enum action_kind kind;
    const char *name, *key, *member;
    struct expression value;
};

#define LAYER_REVIEW " review"          /* the ending of the name of a layer whose severity is review */
enum { MOST_CHECKS = 6, MOST_ACTIONS = 6, MOST_OF = 3 };

/* A condition, and the sentence that says it, such as "must be above 0"; text is "" for a rule without a sentence. */
struct rule_check { struct expression condition; const char *text; };

struct rule {
    const char *layer, *key, *source;
    enum rule_occurs occurs;
    uint64_t at_least;
    const char *any_of[MOST_OF];        /* the keys of a group */
    struct rule_check checks[MOST_CHECKS], once;    /* once.text is NULL if there is no such check */
    struct action actions[MOST_ACTIONS];
    size_t n_of, n_checks, n_actions;
    bool only_warns, absent_warns;      /* every finding, or an absent key, is a warning */
    bool only_reviews;                  /* every finding is a note for reviewers: the written rules ask for it, the checker does not */
};

struct rule_layer {
    const char *name;
    const struct rule **begins, **ends, **rules;        /* rules: sorted by key */
    size_t n_begins, n_ends, n_rules;
    bool reviews;                       /* its findings are notes for reviewers; it replaces no rule of another layer */
};

/* All rules of one edition, by layer. */
struct rule_book {
    const struct edition *edition;
    struct rule *rules;
    struct rule_layer *layers;
    size_t n_rules, n_layers;
    struct name_list apply_keys;        /* keys whose value can call for a layer */
    struct tensor_lists tensors;
};

/* The books that were read so far, which any number of logs share. */
struct rule_library {
    struct arena *a;
    const struct round_table *rounds;
    struct rule_book **books;
    size_t n_books, cap_books;
};

/* A library with rounds of its own. */
bool rules_load(struct rule_library *out, const char *data_dir, struct arena *a, struct err *err);
/* Reads the rules of an edition, once. */
bool rules_of(const struct rule_book **out, struct rule_library *l, const struct edition *e, struct err *err);
/* rules_of() by the name of a round or ruleset; the message for an unknown name lists the known ones. */
bool rules_of_round(const struct rule_book **out, struct rule_library *l, const char *round, struct err *err);

const struct rule_layer *rule_layer_find(const struct rule_book *b, const char *name);      /* NULL if the book has no layer of this name */
/* The rule for a key and its index, or NULL. */
const struct rule *rule_find(const struct rule_layer *l, const char *key, size_t *index);

/* The demand of a part of a rule, for messages: "must be above 0.5 (2.0.0 closed_bert)". here: what it comes to, or "". */
const char *rule_wants(const struct rule_check *c, const char *here, const struct rule *r, const struct edition *edition, struct arena *a);

/* ---- layers.c: the layers that a log calls for --------------------------------------------------------- */

/* The values of keys that call for layers, in the order of the log. */
enum { MOST_LAYER_CALLS = 32, MOST_LAYERS = 16 };
struct layer_calls { struct { const char *key, *value; } items[MOST_LAYER_CALLS]; size_t n; };
struct layer_queue { const struct rule_layer *layers[MOST_LAYERS]; size_t n; const char *missing; bool gathers_last; };      /* gathers_last: the last layer only gathers lines */

void layer_calls_add(struct layer_calls *c, const char *key, const char *value, struct arena *a);
void layer_queue_fill(struct layer_queue *out, const struct layer_calls *c, const struct rule_book *b, struct arena *a);
/* Adds the layer that gathers lines for this benchmark, even if nothing in the log calls for it: the official reference test always gathers them. */
void layer_queue_gather(struct layer_queue *q, const char *benchmark, const struct rule_book *b, struct arena *a);
/* True for a key of the submission where the edition judges only its first line. */
bool rule_judges_first(const struct edition *e, const char *key);

/* The keys that a log of one edition, division, benchmark and optimizer must have exactly once. */
struct demand {
    const char *key;
    bool fixed;                         /* the rules leave a single value, or name a first one */
    struct value value;
    const char *layer;
};

struct log_demands {
    const struct edition *edition;
    struct demand *items;               /* in the order of the layers */
    size_t n;
    const struct name_list *names;      /* the names that weights_initialization must list; NULL if there are none */
};

/* optimizer is the value of opt_name; it may be NULL. */
bool log_demands_load(struct log_demands *out, const char *round, const char *division, const char *benchmark, const char *optimizer,
                      const char *data_dir, struct arena *a, struct err *err);
#endif
