/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compliance.h - one log against the rules of an edition, as the official compliance checker judges it.
 *
 * Two readings: the first finds the layers of rules that the log calls for, the second applies all of them to each line at once. Nothing
 * of the log is kept but what the rules' states hold, so a log may have any size.
 */
#ifndef COMPLIANCE_H
#define COMPLIANCE_H
#include "results/mlperf/mllog.h"
#include "results/mlperf/rules.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_REVIEW };
extern const char *const severity_names[3];

struct log_message {
    enum severity severity;
    uint64_t line;                      /* 0: the log as a whole */
    const char *key, *text;             /* key may be "" */
};

struct compliance {
    bool passed;
    uint64_t n_errors, n_warnings;
    struct log_message *messages;
    size_t n_messages, cap_messages;
};
void compliance_say(struct compliance *c, struct log_message m, struct arena *a);

/* ---- which layers: the values of the keys that call for them, in the order of the log ---------------- */

enum { MOST_CALLS = 32, MOST_LAYERS = 16 };
struct layer_calls { struct { const char *key, *value; } items[MOST_CALLS]; size_t n; };
struct layer_queue { const struct rule_layer *layers[MOST_LAYERS]; size_t n; const char *missing; };

void layer_calls_add(struct layer_calls *c, const struct mllog_line *l, struct arena *a);
/* A key of the submission, of which the edition judges the first line alone. */
bool judged_once(const struct edition *e, const char *key);
void layer_queue_fill(struct layer_queue *out, const struct layer_calls *c, const struct rule_book *b, struct arena *a);

/* ---- the checks, line by line; what they own beyond the arena is freed by compliance_end -------------- */

/* Shown each line that the rules gather from several, at the end. */
typedef void line_observer(void *user, const struct mllog_line *l);

struct compliance_run;
struct compliance_run *compliance_start(const struct rule_book *b, const struct layer_queue *q, struct compliance *out, struct arena *a);
void compliance_observe(struct compliance_run *r, line_observer *observer, void *user);
void compliance_line(struct compliance_run *r, const struct mllog_line *l);
void compliance_bad_line(struct compliance_run *r, uint64_t line, const char *problem);
void compliance_end(struct compliance_run *r, uint64_t n_lines);
#endif
