/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts.h - where a model's layers can be cut into stages, and how fast a pipeline of such stages can be at best.
 *
 * Slots of a pipeline's cycle follow one another, and in each every IPU works on each micro-batch once with the tasks it has there;
 * what they made is copied before the next slot. An IPU begins after the stages before it have worked on the first micro-batch, and
 * ends before they have worked back on the last. So with G micro-batches a step takes at least
 *     G x sum over slots (busiest IPU + longest copy alone)      and      G x (all tasks of one IPU + copies) + work of the stages before it
 * PopART copies in the cycles that fill and drain the pipeline too. The update, contention and the host's input only add to it. A
 * tile holds what layers.h says. Both are laws, and tested as such.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H
#include "results/study/layers.h"

/* No layout of n_ipus makes a step of fewer cycles, whatever memory it takes. */
uint64_t least_step_cycles(const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus);

/* A step of G micro-batches takes at least G x each_cycles + once_cycles, for every G up to that of the rules; step_cycles: for that. */
struct layout {
    uint64_t step_cycles, each_cycles, once_cycles;
    uint32_t n_stages;
    uint16_t cuts[MAX_STAGES];          /* cuts[s]: the layer that stage s + 1 begins with */
};
/* Fills the cycles, from the costs of its stages. */
void layout_time(struct layout *l, const struct stage_cost *costs, const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus);

enum { MOST_CUTS = 2000000 };           /* the search's */
struct layouts { struct layout *items; size_t n, cap; uint64_t n_dropped, least_dropped; };     /* dropped: past `most`, of which two are the least */
/* All layouts that may fit and whose step may take fewer than `below` cycles, fastest first; heads on the last IPU, or back on the
 * first one. */
void layouts_list(struct layouts *out, const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus, uint64_t below, size_t most,
                  struct arena *a);
/* As parallel.layers_per_ipu takes it: 3,7,7,7,0 or 7/6,6/7,.. */
const char *layout_text(const struct layer_work *w, const struct layout *l, struct arena *a);

#endif
