/*
 * layouts.h - where a model's layers can be cut into stages, and how fast a pipeline of such stages can be at best.
 *
 * Bound: every IPU works on each micro-batch once with all the layers it holds, one after the other, whatever the schedule, so that
 *     step >= gradient accumulation x max over IPUs (forward + backward of its layers)
 * and no cut has its busiest IPU below the mean, or below the longest layer. Recomputation, copies, bubbles, the update and the host
 * only add to it. (Laws, tested.)
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H
#include "system-model/schedule/plan.h"

/* Cycles of a graph's layers as compiled: first (stem), body, last (heads); prefix sums over the body. */
struct layer_work {
    const struct graph *graph;
    uint32_t n_body; const uint32_t *body;      /* ids of body layers */
    uint64_t *before;                           /* before[i]: of the body's first i layers; n_body + 1 of them */
    uint64_t first, last, longest;
    double weight_bytes;                        /* of all */
};
void layer_work_of(struct layer_work *out, const struct graph *g, const struct layer_cost *layers, struct arena *a);
/* No layout of n_ipus has its busiest IPU below. */
uint64_t least_bottleneck(const struct layer_work *w, uint32_t n_ipus);

struct layout { uint64_t bottleneck; uint32_t n_stages; uint16_t cuts[MAX_STAGES]; };   /* cuts[s]: body layers before stage s + 1 */
struct layouts { struct layout *items; size_t n, cap; uint64_t n_dropped, least_dropped; };     /* dropped: past `most` */

/* All layouts whose busiest IPU has less than `below` cycles, least first; with the heads on the last IPU, or back on the first one. */
void layouts_list(struct layouts *out, const struct layer_work *w, uint32_t n_ipus, uint64_t below, size_t most, struct arena *a);
/* As parallel.layers_per_ipu takes it: 3,7,7,7,0 or 7/6,6/7,.. */
const char *layout_text(const struct layer_work *w, const struct layout *l, struct arena *a);

#endif
