/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint_print.h - the formats of lint; private to lint.c and lint_print.c. path NULL: a log given by name stands alone.
 */
#ifndef LINT_PRINT_H
#define LINT_PRINT_H
#include "results/mlperf/lint.h"

void lint_print_head(struct lint *l);
void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a);
void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a);
void lint_print_foot(struct lint *l);
#endif
