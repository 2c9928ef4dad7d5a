/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.h - the numeric claims of the source documents, each evaluated anew.
 *
 * results/published/claims/claims.csv has one row for each claim: what it says (relation and value), the expression that it is compared with, and,
 * where the words allow another meaning, that reading with an expression of its own. No verdict is written there: it follows.
 *     holds                          the expression meets the relation
 *     holds under a stated reading   the expression does not, or there is none, and the reading's does
 *     does not hold                  neither does
 *     cannot be checked here         no expression at all; the row says why
 */
#ifndef AUDIT_H
#define AUDIT_H
#include "results/published/values.h"
#include "system-model/output/output.h"

enum relation { RELATION_IS, RELATION_AT_LEAST, RELATION_AT_MOST, RELATION_BETWEEN, N_RELATIONS };
enum audit_verdict { AUDIT_HOLDS, AUDIT_READING, AUDIT_FAILS, AUDIT_UNCHECKED, N_AUDIT_VERDICTS };
extern const char *const relation_names[N_RELATIONS + 1], *const audit_verdict_names[N_AUDIT_VERDICTS];

struct claim {
    const char *id, *kind, *documents, *text, *unit, *expression, *reading, *reading_expression, *beside, *note;
    enum relation relation;
    double value, high;                 /* high: of between */
    double tolerance;                   /* relative, on the claim's side of the relation */
    uint32_t line;
    /* what follows */
    enum audit_verdict verdict;
    bool has_found, has_read, has_beside;
    double found, read, set_beside;     /* of the expression, of the reading's, and of the simulation or log beside them */
};
struct claims { struct claim *items; size_t n; const char *path; };

/* Refuses an unknown relation, a claim without an expression that does not say why, and a reading without words. */
bool claims_load(struct claims *out, const char *path, struct arena *a, struct err *err);
bool claim_meets(const struct claim *c, double found);
bool audit_run(struct claims *claims, struct audit_values *values, void (*progress)(void *user, size_t done, size_t of), void *user,
               struct err *err);

/* All claims as data and as a page; as text the counts and, unless all are asked for, the claims that do not hold. */
void audit_document(struct document *d, const struct claims *c, bool all);

#endif
