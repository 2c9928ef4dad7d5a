/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * more_chips.h - the best expected time to train on each size of system, which shows where more chips stop paying.
 */
#ifndef MORE_CHIPS_H
#define MORE_CHIPS_H
#include "harness/harness.h"

/* A run that is taken to other sizes of system. Replicas and gradient accumulation change, the host machines keep
 * their IPUs each, and a call to the device keeps its samples, in whole steps. */
struct scaling_case { const char *name, *recipe; };
extern const struct scaling_case scaling_cases[];
extern const size_t n_scaling_cases;
extern const uint64_t scaling_sizes[];
extern const size_t n_scaling_sizes;

struct chips_point { uint64_t chips, accumulation; double batch, minutes, low, high, samples; };

/* Finds the gradient accumulation with the shortest expected time to train; false when none can run on so many chips. */
bool scaling_best(struct chips_point *best, const struct scaling_case *w, uint64_t chips, struct session *s);

#endif
