/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - what the commands that judge share: a check, built from a run or from fresh simulations.
 */
#ifndef JUDGE_H
#define JUDGE_H
#include "harness/harness.h"
#include "results/published/check.h"

/* Values come from the run that is named, else every recipe is simulated as it is needed. */
bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err);

/* Marks the failures that --expect lists. */
bool expect_failures(struct judgements *set, const struct options *o, struct session *s, struct err *err);

#endif
