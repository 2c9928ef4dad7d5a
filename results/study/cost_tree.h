/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost_tree.h - where the time of one step goes, as a tree: part of the breakdown, phase, operation. Parts add up exactly.
 *
 * Counts are cycles times IPUs, whole numbers; divided by the IPUs and the clock they are the seconds of the breakdown.
 */
#ifndef COST_TREE_H
#define COST_TREE_H
#include "system-model/timeline/timeline.h"

struct cost {
    const char *name;
    uint64_t ipu_cycles;
    enum part part;             /* N_PARTS: the root */
    struct cost *children;      /* largest first; their ipu_cycles add up to this one's */
    size_t n_children;
};

/* The root has every part that took time, each its phases, each forward and backward phase its operations. */
void cost_tree_build(struct cost *root, const struct timeline *t, struct arena *a);
uint64_t timeline_ipus(const struct timeline *t);               /* that the rows stand for */
double cost_seconds(const struct cost *c, const struct timeline *t);    /* mean over the IPUs */
/* NULL when every node's children add up to it; else the one that does not. */
const struct cost *cost_tree_wrong(const struct cost *root);

/* How a part is counted, by part. */
extern const char *const cost_formulas[N_PARTS];

#endif
