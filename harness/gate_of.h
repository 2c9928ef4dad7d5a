/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_of.h - the gates between two runs that are named, for the commands that compare and that accept.
 */
#ifndef GATE_OF_H
#define GATE_OF_H
#include "harness/judge.h"
#include "results/published/gate.h"

bool gate_of(struct gate *out, struct gate_tables tables[2], const char *base, const char *run, double margin, struct session *s,
             struct err *err);
bool baseline_is_recorded(const char *baseline, struct arena *a);
bool margin_of(double *margin, const struct options *o, struct err *err);      /* --margin, else one point of mean error */

#endif
