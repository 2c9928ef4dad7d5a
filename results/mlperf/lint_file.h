/*
 * lint_file.h - lint of one file; private to lint.c and lint_file.c.
 */
#ifndef LINT_FILE_H
#define LINT_FILE_H
#include "results/mlperf/lint.h"

/* What the review of a whole submission needs of one file. */
struct lint_facts {
    const char *benchmark, *division, *optimizer;
    double global_batch;
    double convergence_point;           /* HUGE_VAL: the run did not converge */
    const char *seed;                   /* of the first seed line, with its source file and line; NULL: none */
};

void lint_add(struct lint_report *r, struct lint_file *f, struct lint_message m, struct arena *a);
bool lint_one(struct lint_report *r, struct lint_file *f, struct lint_facts *facts, const struct lint_options *opt, struct arena *a,
              struct err *err);
#endif
