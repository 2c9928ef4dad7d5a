/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eval_review.h - whether a closed log was evaluated as often as the rules ask: no checker tests that, reviewers do.
 */
#ifndef EVAL_REVIEW_H
#define EVAL_REVIEW_H
#include "results/mlperf/compliance.h"

struct eval_review { double last, off_gap; uint64_t n, n_off, first_off_line; };

/* An evaluation of a run with this global batch, before its end. */
void eval_review_line(struct eval_review *r, const char *benchmark, double batch, const struct mllog_line *l);
/* A review note where evaluations are off the schedule. */
void eval_review_end(const struct eval_review *r, const char *benchmark, double batch, struct compliance *out, struct arena *a);
#endif
