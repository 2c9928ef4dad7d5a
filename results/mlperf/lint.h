/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint.h - says what the official checkers say of MLPerf logs: of each log by the compliance rules, of each folder as a package.
 *
 * Output is written as logs are read, so a tree of any size needs the memory of one folder. One verdict: it passes when every log given by
 * name complies and every folder passes as a package.
 */
#ifndef LINT_H
#define LINT_H
#include "results/mlperf/folder.h"

enum lint_format { LINT_TEXT, LINT_CSV, LINT_JSON, LINT_JUNIT, LINT_TAP, LINT_MARKDOWN, LINT_ANNOTATIONS };

struct lint_counts { uint64_t folders, folders_passed, logs, logs_passed, errors, warnings, reviews, skipped; };

typedef void lint_notice(const char *path, const char *text);   /* of what is passed over */

struct lint {
    FILE *out;
    lint_notice *notice;
    enum lint_format format;
    struct judge *judge;
    struct lint_counts counts;
    FILE *messages, *cases;             /* JSON: all messages; JUnit: a folder's logs; until their place in the output comes */
    bool begun;                         /* something is printed: before that, an error leaves no output */
    bool failed;                        /* something does not pass, or could not be read */
    bool any_message;                   /* of JSON, is written */
    uint64_t n_cases;
};

bool lint_begin(struct lint *l, FILE *out, enum lint_format format, struct judge *j, lint_notice *notice, struct err *err);
/* A file, or a folder of which every folder of logs is judged. Fails when it cannot be read or holds no logs. */
bool lint_path(struct lint *l, const char *path, struct err *err);
/* True when all pass. */
bool lint_end(struct lint *l);
#endif
