/*
 * layouts.h - where a model's layers can be cut into stages, how fast a pipeline of such stages can be at best, and what it must hold.
 *
 * Every IPU works on each micro-batch once with all the layers it holds, one after the other, whatever the schedule, so that
 *     step >= gradient accumulation x max over IPUs (forward + again + backward of its layers)
 * where all but the last segment of the last stage is computed again if recomputation is on. Copies, bubbles, the update and the host
 * only add to it. A tile holds at least its part of
 *     weights and their gradients + stash of the other micro-batches in flight + activations and temporaries of the worst moment
 * Optimizer state, code, buffers and the micro-batch's own stash only add to it. Both are laws, and tested as such.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H
#include "system-model/schedule/plan.h"

struct layout_rules { bool training; enum recompute recompute; enum schedule schedule; bool half_stash; };     /* half: kept as fp8 */

/* Layers as compiled. */
struct layer_work {
    const struct graph *graph;
    const struct layer_cost *layers; uint32_t n_layers;
    uint32_t first_body, n_body;        /* the body is one run of layers; heads come after it */
    uint64_t n_tiles, tile_bytes;
};
/* False where the body is not one run: then there is no layout but the recipe's own. */
bool layer_work_of(struct layer_work *out, const struct plan *p, struct arena *a);
/* No layout of n_ipus has its busiest IPU below. */
uint64_t least_bottleneck(const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus);

/* One layer's activations, all that is computed again cut off, are more than a tile's part: nothing makes them fit. */
bool activations_fill_a_tile(const struct layer_work *w, bool training);

/* Layers first to end - 1 as stage s of n_stages: cycles of a micro-batch, bytes on a tile, at least. */
struct stage_bound { uint64_t cycles, bytes; };
struct stage_bound stage_bound(const struct layer_work *w, const struct layout_rules *rules, uint32_t s, uint32_t n_stages, uint32_t first, uint32_t end);

struct layout { uint64_t bottleneck; uint32_t n_stages; uint16_t cuts[MAX_STAGES]; };   /* cuts[s]: the layer that stage s + 1 begins with */
struct layouts { struct layout *items; size_t n, cap; uint64_t n_dropped, least_dropped; };     /* dropped: past `most` */

/* All layouts that may fit and whose busiest IPU has less than `below` cycles, least first; heads on the last IPU, or back on the
 * first one. */
void layouts_list(struct layouts *out, const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus, uint64_t below, size_t most,
                  struct arena *a);
/* As parallel.layers_per_ipu takes it: 3,7,7,7,0 or 7/6,6/7,.. */
const char *layout_text(const struct layer_work *w, const struct layout *l, struct arena *a);

#endif
