/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recompute_curve.h - memory against extra work: what keeping fewer activations saves, and costs.
 */
#ifndef RECOMPUTE_CURVE_H
#define RECOMPUTE_CURVE_H
#include "system-model/base/base.h"
#include "system-model/graph/types.h"

struct recompute_point {
    uint32_t n_checkpoints;
    uint64_t memory_bytes;          /* kept for one micro-batch: checkpoints, and the activations of the largest segment */
    double memory_share;            /* of keeping everything */
    double extra_work_share;        /* forward multiply-accumulates done again, of forward and backward together */
};

/* For each number of checkpoints between layers, from none (all kept, point 0) on, the placement with least memory.
 * g: with backward. Points live in the arena; each has less memory and more work than the one before. */
void recompute_curve(struct recompute_point **out, size_t *n, const struct graph *g, struct arena *a);

#endif
