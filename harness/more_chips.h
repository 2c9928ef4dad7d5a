/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * more_chips.h - where more chips stop paying: the best expected time to train on each size of system.
 */
#ifndef MORE_CHIPS_H
#define MORE_CHIPS_H
#include "harness/harness.h"

/* A run to take to other sizes of system: as configured, but for replicas, gradient accumulation, and what goes with them: host machines
 * by their IPUs, and steps between two returns to the host, as many whole ones as fit into the samples of a call; a call of one stays one. */
struct sweep { const char *name, *recipe; };
extern const struct sweep sweeps[];
extern const size_t n_sweeps;
extern const uint64_t sweep_sizes[];
extern const size_t n_sweep_sizes;

struct sweep_point { uint64_t chips, accumulation; double batch, minutes, low, high, samples; };

/* The gradient accumulation with the shortest expected time to train; false when none can run on so many chips. */
bool sweep_best(struct sweep_point *best, const struct sweep *w, uint64_t chips, struct session *s);

#endif
