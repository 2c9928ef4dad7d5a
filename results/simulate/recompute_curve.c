/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recompute_curve.c - checkpoints between layers: memory against recomputation.
 *
 * With checkpoints at the ends of some layers, a training step keeps those layers' outputs for the whole micro-batch. While the backward pass
 * is in one segment, it also keeps that segment's activations:
 *     memory = sum of checkpoint bytes + largest segment.
 * All segments but the last are computed again. For a given limit on the size of a segment, filling each segment greedily with layers gives
 * the fewest segments. Only sums of neighbouring layers matter as limits, so trying each of them finds the least memory for each number of
 * checkpoints. (Chen et al. 2016, arXiv 1604.06174, with uneven layers.)
 */
#include "results/simulate/simulate.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"

struct cut_layer { uint64_t kept_bytes, output_bytes, mac; };

/* Fills the layers and returns the multiply-accumulates of all operations. */
static uint64_t fill_cut_layers(struct cut_layer *layers, const struct graph *g, struct arena *a)
{
    uint64_t all_mac = 0;
    uint64_t *kept = ARENA_ARRAY(a, uint64_t, g->n_layers), *outputs = ARENA_ARRAY(a, uint64_t, g->n_layers);
    graph_activations(kept, outputs, g);
    for (size_t i = 0; i < g->n_layers; i++)
        layers[i] = (struct cut_layer){ .kept_bytes = kept[i], .output_bytes = outputs[i] };
    for (size_t i = 0; i < g->n_ops; i++) {
        uint64_t mac = op_mac(g, &g->ops[i]);
        all_mac += mac;
        layers[g->ops[i].layer_id].mac += g->ops[i].pass == PASS_FORWARD ? mac : 0;
    }
    return all_mac;
}

/* The fewest segments of at most `limit` bytes each; a single layer may be larger. */
static struct recompute_point cut_greedily(const struct cut_layer *layers, size_t n, uint64_t limit)
{
    struct recompute_point p = {0};
    uint64_t segment = 0, largest = 0, checkpoints = 0, segment_mac = 0, again = 0;
    for (size_t i = 0; i < n; i++) {
        if (segment && segment + layers[i].kept_bytes > limit) {
            checkpoints += layers[i - 1].output_bytes;
            again += segment_mac;
            p.n_checkpoints++;
            segment = segment_mac = 0;
        }
        segment += layers[i].kept_bytes;
        segment_mac += layers[i].mac;
        largest = max_u64(largest, segment);
    }
    p.memory_bytes = checkpoints + largest;
    p.extra_work_share = (double)again;
    return p;
}

/* Keeps the point with least memory for its number of checkpoints. At most one checkpoint lies before each layer but the first, so `best` has
 * room. */
static void keep_better(struct recompute_point *best, struct recompute_point p)
{
    if (!best[p.n_checkpoints].memory_bytes || p.memory_bytes < best[p.n_checkpoints].memory_bytes)
        best[p.n_checkpoints] = p;
}

/* Drops the points that a later point beats in memory without more work. */
static size_t drop_dominated(struct recompute_point *points, size_t n)
{
    size_t kept = n;
    double least_work = INFINITY;
    for (size_t i = n; i-- > 0; ) {
        if (points[i].extra_work_share >= least_work)
            continue;
        least_work = points[i].extra_work_share;
        points[--kept] = points[i];
    }
    memmove(points, points + kept, (n - kept) * sizeof *points);
    return n - kept;
}

void recompute_curve(struct recompute_point **out, size_t *n_points, const struct graph *g, struct arena *a)
{
    size_t n = g->n_layers, kept = 0;
    struct cut_layer *layers = ARENA_ARRAY(a, struct cut_layer, n);
    struct recompute_point *best = ARENA_ARRAY(a, struct recompute_point, n + 1);
    double mac = (double)fill_cut_layers(layers, g, a);
    for (size_t i = 0; i < n; i++) {
        uint64_t limit = 0;
        for (size_t k = i; k < n; k++)
            keep_better(best, cut_greedily(layers, n, limit += layers[k].kept_bytes));
    }
    for (size_t i = 0; i < n; i++) {
        struct recompute_point p = best[i];
        if (!p.memory_bytes || (kept && p.memory_bytes >= best[kept - 1].memory_bytes))
            continue;
        p.extra_work_share /= mac;
        p.memory_share = (double)p.memory_bytes / (double)best[0].memory_bytes;
        best[kept++] = p;
    }
    *out = best;
    *n_points = drop_dominated(best, kept);
}
