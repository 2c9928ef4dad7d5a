/*
 * rules.h - what the official compliance checker asks of a log, as rows of a table (results/rules/rules.csv).
 *
 * A row: for these rulesets, division, benchmark and optimizer ("any": all), KEY must occur so often and each (or at least one) of its
 * lines must pass CHECK with ARGUMENT. Rows apply in layers: common, division, benchmark, optimizer; where a later layer has rows for a
 * key, those of earlier layers no longer count.
 */
#ifndef RULES_H
#define RULES_H
#include "results/mlperf/mllog.h"
#include "results/mlperf/tensors.h"

enum rule_severity { RULE_ERROR, RULE_WARNING, RULE_REVIEW, N_RULE_SEVERITIES };
extern const char *const rule_severity_names[N_RULE_SEVERITIES + 1];

enum rule_occurs { OCCURS_ANY, OCCURS_ONCE, OCCURS_AT_LEAST_ONCE };

/* What a check looks at besides its line. Times are NaN before the event was seen. */
struct rule_context {
    bool (*seen)(const void *state, const char *key);   /* on an earlier line */
    const void *state;
    double init_start_ms;
    const char *division;               /* as logged so far; NULL before that */
};

struct rule;
struct rule_check {
    const char *name;
    const char *want;                   /* "{}" is the argument, "{1}" its first word */
    bool at_least_one;                  /* one line passing is enough */
    bool (*pass)(const struct rule *r, const struct mllog_line *l, const struct rule_context *c);
};

struct rule {
    const char *key, *argument, *source, *layer;        /* layer: "1.0.0 closed resnet", for messages */
    const char *instead;                /* a key that may stand in for this one; NULL: none */
    enum rule_occurs occurs;
    const struct rule_check *check;
    enum rule_severity severity;
    struct name_list tensors;           /* of check "tensors", sorted */
};

struct rule_set { const char *ruleset; struct rule *items; size_t n, cap; };

/* The rows that hold for a log of this division, benchmark and optimizer (NULL: not logged), earlier layers' overridden rows left out. */
bool rules_load(struct rule_set *out, const char *ruleset, const char *division, const char *benchmark, const char *optimizer,
                const char *rules_dir, struct arena *a, struct err *err);
bool rule_is_tensors(const struct rule *r);
const char *rule_want(const struct rule *r, struct arena *a);
#endif
