/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judging.h - what several commands that judge need: a check, and the gates between two runs.
 */
#ifndef JUDGING_H
#define JUDGING_H
#include "harness/harness.h"
#include "results/published/check.h"

/* check.c: values come from the run that is named, or every recipe is simulated when it is needed. */
bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err);

/* compare.c */
bool gate_of(struct gate *out, struct gate_tables tables[2], const char *base, const char *run, double margin, struct session *s,
             struct err *err);
bool baseline_is_recorded(const char *baseline, struct arena *a);
bool margin_of(double *margin, const struct options *o, struct err *err);      /* --margin, or one point of mean error */

#endif
