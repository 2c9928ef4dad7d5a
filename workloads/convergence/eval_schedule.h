/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eval_schedule.h - how often the MLPerf rules ask for an evaluation.
 */
#ifndef EVAL_SCHEDULE_H
#define EVAL_SCHEDULE_H
#include <stdbool.h>

struct eval_schedule {
    double interval;                    /* between evaluations, in the unit */
    bool in_samples;                    /* else in epochs */
    double latest_first;                /* the first evaluation is due by here */
};

/* Rounds v1.0 to v2.1. False for a benchmark without a known schedule. */
bool eval_schedule_of(struct eval_schedule *out, const char *benchmark, double global_batch);
#endif
