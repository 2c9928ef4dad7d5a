/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recompute_curve.h - what keeping fewer activations saves in memory, and costs in work.
 */
#ifndef RECOMPUTE_CURVE_H
#define RECOMPUTE_CURVE_H
#include "system-model/base/base.h"
#include "system-model/graph/types.h"

struct recompute_point {
    uint32_t n_checkpoints;
    uint64_t memory_bytes;          /* kept for one micro-batch: checkpoints, and the activations of the largest segment */
    double memory_share;            /* of the memory for keeping everything */
    double extra_work_share;        /* recomputed multiply-accumulates over those of forward and backward together */
};

/* The placement with least memory for each number of checkpoints between layers, beginning with none, which keeps
 * everything. The graph has a backward pass. Each point has less memory and more work than the one before. */
void recompute_curve(struct recompute_point **out, size_t *n, const struct graph *g, struct arena *a);

#endif
