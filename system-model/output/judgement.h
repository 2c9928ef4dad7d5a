/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judgement.h - what a command that judges has found, for people and for CI systems: one list, printed as TAP, JUnit's XML, Markdown or
 * annotations; and the failures that are expected, each with its reason.
 */
#ifndef JUDGEMENT_H
#define JUDGEMENT_H
#include "system-model/base/base.h"

enum judged { JUDGED_PASS, JUDGED_FAIL, JUDGED_SKIP, JUDGED_EXPECTED, JUDGED_UNEXPECTED_PASS, N_JUDGED };

struct judgement {
    const char *group, *name;           /* JUnit: classname and name */
    const char *message;                /* numbers of a pass, reason of anything else */
    const char *file; uint32_t line;    /* where it stands; NULL, 0: nowhere */
    enum judged judged;
    const char *reason;                 /* why the failure is expected; NULL: it is not */
};
struct judgements { const char *suite; struct judgement *items; size_t n, cap; };

void judgements_add(struct judgements *set, struct judgement item, struct arena *a);
bool judgements_pass(const struct judgements *set);     /* nothing failed; what was expected to fail may pass */
size_t judgements_count(const struct judgements *set, enum judged judged);

void judgements_print_tap(FILE *f, const struct judgements *set);
void judgements_print_junit(FILE *f, const struct judgements *set);         /* one testsuite; the time is SOURCE_DATE_EPOCH's, else 1970 */
void judgements_print_markdown(FILE *f, const struct judgements *set);      /* verdict, then what did not pass: for a pull request */
void judgements_print_annotations(FILE *f, const struct judgements *set);   /* ::error file=F,line=N,title=T::message */

/* One judgement as a line, for lists that are written as they are found. */
void judgement_print_annotation(FILE *f, const struct judgement *j);        /* nothing for a pass or a skip */
void judgement_print_row(FILE *f, const struct judgement *j);               /* of a Markdown table: name, message */

/* Failures that are expected: a table id,reason; an id may hold * for any text. Marks those of set, by name. Refuses an id that is in
 * nothing judged, and a reason that is empty. */
bool judgements_expect(struct judgements *set, const char *path, struct arena *a, struct err *err);

#endif
