/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.h - the demands of the official compliance checkers on a log: the rows of a round's rules.csv, by layer.
 *
 * A layer is one file of the official checker, such as common, closed_common, closed_bert or closed_resnet_lars. It runs over all lines of a
 * log with a state of its own. An action `apply "closed_{}"` calls for another layer, which is named after the line's value. If two layers
 * have a rule for the same key, the later layer's rule replaces the earlier one. If a layer is not in the table, the official checker stops,
 * so the log is refused. A layer "NAME review" follows layer NAME; its rules have severity review, and are only in the written rules.
 *
 * A row demands that KEY occurs a number of times (1, 2+, 1+ of a group; an empty cell allows any number), that each of its lines fulfils
 * CHECK (parts separated by ;;), and that at least one line fulfils ONCE; ACTION follows each line. Rows without a key apply at the layer's
 * begin and end.
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
/* All lists in a round's tensors.csv, each sorted. */
struct tensor_lists { const char **names; struct name_list *lists; size_t n; };
bool tensor_lists_load(struct tensor_lists *out, const char *path, struct arena *a, struct err *err);
const struct name_list *tensor_lists_find(const struct tensor_lists *t, const char *name);      /* NULL if there is no such list */

/* ---- values in the expressions of rules ------------------------------------------------------------- */

/* The values that actions have set, by name. A log has only a handful of them. */
struct rule_state { struct { const char *name; struct value value; } items[16]; size_t n; };
struct value *rule_state_find(struct rule_state *st, const char *name);        /* NULL if it was never set */
bool rule_state_set(struct rule_state *st, const char *name, const struct value *v);   /* false: full */

/* Variables in expressions: v and m are a line's value and metadata, st is the state of its layer, and t_ms its time. */
enum { VARIABLE_VALUE, VARIABLE_METADATA, VARIABLE_STATE, VARIABLE_TIME, N_RULE_VARIABLES };
extern const char *const rule_variables[N_RULE_VARIABLES + 1];
struct rule_scope { struct value variables[N_RULE_VARIABLES]; };
/* v and m are NULL at the begin and end of a layer. st may be NULL. */
struct rule_scope rule_scope_of(const json_t *v, const json_t *m, double t_ms, struct rule_state *st);

struct value value_of_json(const json_t *v);
/* A list as a value. Lists are equal if they have the same names equally often. Comparing sorts the first list; the second must be sorted. */
struct value value_of_names(const struct name_list *names);
const struct name_list *value_names(const struct value *v);             /* NULL if the value is no list of names */

/* ---- rules --------------------------------------------------------------------------------------------- */

enum rule_occurs { OCCURS_FREE, OCCURS_ONCE, OCCURS_TIMES, OCCURS_ANY_OF, OCCURS_BEGIN, OCCURS_END };

enum action_kind { ACTION_SET, ACTION_NEW_NAMES, ACTION_APPEND, ACTION_APPLY, ACTION_GATHER };

/* An action: name := value; append value to name; apply "name", or apply "name" for the line's value "member"; gather KEY into name by MEMBER. */
struct action {
    enum action_kind kind;
    const char *name, *key, *member;
    struct expression value;
};

#define LAYER_REVIEW " review"          /* the end of the names of layers with severity review */
enum { MOST_CHECKS = 6, MOST_ACTIONS = 6, MOST_OF = 3 };

/* A condition, and a sentence for messages such as "must be above 0", or "". */
struct rule_check { struct expression condition; const char *text; };

struct rule {
    const char *layer, *key, *source;
    enum rule_occurs occurs;
    uint64_t at_least;
    const char *any_of[MOST_OF];        /* n_of keys; a log must have one of them or the rule's own */
    struct rule_check checks[MOST_CHECKS], once;    /* once.text is NULL if the rule has no ONCE */
    struct action actions[MOST_ACTIONS];
    size_t n_of, n_checks, n_actions;
    bool only_warns, absent_warns;      /* all findings, or only those about an absent key, are warnings */
    bool only_reviews;                  /* all findings are notes for reviewers, as only the written rules demand it */
};

struct rule_layer {
    const char *name;
    const struct rule **begins, **ends, **rules;        /* `rules` is sorted by key */
    size_t n_begins, n_ends, n_rules;
    bool reviews;                       /* findings are notes for reviewers, and the layer replaces no rule of another one */
};

/* All rules of one edition, by layer. */
struct rule_book {
    const struct edition *edition;
    struct rule *rules;
    struct rule_layer *layers;
    size_t n_rules, n_layers;
    struct name_list apply_keys;        /* the keys whose value can call for a layer */
    struct tensor_lists tensors;
};

/* The books that were read so far, shared by all logs. */
struct rule_library {
    struct arena *a;
    const struct round_table *rounds;
    struct rule_book **books;
    size_t n_books, cap_books;
};

/* Makes a library that loads its own table of rounds. */
bool rules_load(struct rule_library *out, const char *data_dir, struct arena *a, struct err *err);
/* Reads the rules of an edition, or finds them if they were read before. */
bool rules_of(const struct rule_book **out, struct rule_library *l, const struct edition *e, struct err *err);
/* rules_of() for the name of a round or ruleset. The message about an unknown name lists the known ones. */
bool rules_of_round(const struct rule_book **out, struct rule_library *l, const char *round, struct err *err);

const struct rule_layer *rule_layer_find(const struct rule_book *b, const char *name);      /* NULL if the book has no layer of this name */
/* Finds the rule for a key and its index, or NULL. */
const struct rule *rule_find(const struct rule_layer *l, const char *key, size_t *index);

/* The demand of a check, for messages, such as "must be above 0.5 (2.0.0 closed_bert)". `here` is the computed demand as text, or "". */
const char *rule_wants(const struct rule_check *c, const char *here, const struct rule *r, const struct edition *edition, struct arena *a);

/* ---- layers.c: the layers that a log calls for --------------------------------------------------------- */

/* The values of keys that call for layers, in the order of the log. */
enum { MOST_LAYER_CALLS = 32, MOST_LAYERS = 16 };
struct layer_call { const char *key, *value; };
struct layer_calls { struct layer_call items[MOST_LAYER_CALLS]; size_t n; };
/* gathers_last: the last layer only gathers lines */
struct layer_queue { const struct rule_layer *layers[MOST_LAYERS]; size_t n; const char *missing; bool gathers_last; };

void layer_calls_add(struct layer_calls *c, const char *key, const char *value, struct arena *a);
void layer_queue_fill(struct layer_queue *out, const struct layer_calls *c, const struct rule_book *b, struct arena *a);
/* Adds the layer that gathers lines for this benchmark, even if no line calls for it, because the official reference test always gathers them. */
void layer_queue_gather(struct layer_queue *q, const char *benchmark, const struct rule_book *b, struct arena *a);
/* True for keys of the submission if the edition judges only the first line of each. */
bool rule_judges_first(const struct edition *e, const char *key);

/* A key that a log of one edition, division, benchmark and optimizer must have exactly once. */
struct demand {
    const char *key;
    bool fixed;                         /* true if the rules allow a single value, or name a first one */
    struct value value;
    const char *layer;
};

struct log_demands {
    const struct edition *edition;
    struct demand *items;               /* sorted by layers */
    size_t n;
    const struct name_list *names;      /* names that weights_initialization must list; NULL if there are none */
};

/* Loads the demands. `optimizer` is the value of opt_name, or NULL. */
bool log_demands_load(struct log_demands *out, const char *round, const char *division, const char *benchmark, const char *optimizer,
                      const char *data_dir, struct arena *a, struct err *err);
#endif
