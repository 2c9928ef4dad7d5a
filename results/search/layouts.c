/*
 * layouts.c - cuts of the layers into stages, found depth first; a branch is left when a stage is too long or too large already, or
 * when what is left is too long for the IPUs that are left.
 */
#include "results/search/layouts.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHT_GRAIN_BYTES = 256, ACTIVATION_GRAIN_BYTES = 128 };       /* as memory.c spreads tensors */

bool layer_work_of(struct layer_work *out, const struct plan *p, struct arena *a)
{
    const struct compiled *compiled = p->stages[0].compiled;
    struct graph *g = ARENA_NEW(a, struct graph);
    struct layer_cost *layers = ARENA_ARRAY(a, struct layer_cost, p->graph->n_layers);
    *g = *p->graph;
    g->layers = ARENA_ARRAY(a, struct layer, g->n_layers);
    memcpy(g->layers, p->graph->layers, g->n_layers * sizeof *g->layers);
    memcpy(layers, compiled->layers, g->n_layers * sizeof *layers);
    *out = (struct layer_work){ .graph = g, .layers = layers, .n_layers = (uint32_t)g->n_layers, .n_tiles = compiled->options.n_tiles,
                                .tile_bytes = p->topology->machine->chip.tile_memory_bytes };
    while (out->first_body < out->n_layers && g->layers[out->first_body].role == LAYER_FIRST)
        out->first_body++;
    while (out->first_body + out->n_body < out->n_layers && g->layers[out->first_body + out->n_body].role == LAYER_BODY)
        out->n_body++;
    for (uint32_t i = out->first_body + out->n_body; i < out->n_layers; i++)
        if (g->layers[i].role != LAYER_LAST)
            return false;
    return out->n_body > 0;
}

static uint64_t work_of(const struct layer_work *w, const struct layout_rules *rules, uint32_t layer, bool again)
{
    const struct layer_cost *l = &w->layers[layer];
    uint64_t forward = cycles_total(&l->forward);
    return rules->training ? forward * (again ? 2 : 1) + cycles_total(&l->backward) : forward;
}

uint64_t least_bottleneck(const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus)
{
    uint64_t total = 0, longest = 0;
    for (uint32_t i = 0; i < w->n_layers; i++) {
        total += work_of(w, rules, i, false);
        longest = max_u64(longest, work_of(w, rules, i, false));
    }
    return max_u64(ceil_div(total, n_ipus), longest);
}

/* ---- one stage ---------------------------------------------------------------------------------- */

static uint64_t spread(uint64_t bytes, uint64_t n_tiles, uint64_t grain_bytes)
{
    return ceil_div(ceil_div(bytes, grain_bytes), n_tiles) * grain_bytes;
}

static uint64_t others_in_flight(const struct layout_rules *rules, uint32_t s, uint32_t n_stages)
{
    uint64_t behind = n_stages - 1 - s;
    return rules->schedule == SCHEDULE_POPART || rules->schedule == SCHEDULE_GROUPED ? 2 * behind
         : rules->schedule == SCHEDULE_INTERLEAVED ? behind : 0;
}

/* What one micro-batch leaves behind until its backward pass. */
static uint64_t stash_bytes(const struct layer_work *w, const struct layout_rules *rules, uint32_t first, uint32_t end)
{
    uint64_t bytes = first ? w->layers[first - 1].output_bytes : 0;
    for (uint32_t i = first; i < end; i++)
        bytes += rules->recompute == RECOMPUTE_NONE ? w->layers[i].kept_bytes
               : rules->recompute == RECOMPUTE_LAYER && i + 1 < end ? w->layers[i].output_bytes : 0;
    return bytes;
}

/* Without checkpoints the whole stage's activations are there when its last layer is worked on backward. */
static uint64_t worst_moment(const struct layer_work *w, const struct layout_rules *rules, uint32_t first, uint32_t end)
{
    uint64_t worst = 0, segment = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct layer_cost *l = &w->layers[i];
        uint64_t live = segment + l->forward_live_bytes;
        if (rules->training) {
            segment += l->kept_bytes;
            live = max_u64(live, segment + l->backward_live_bytes);
        }
        worst = max_u64(worst, spread(live, w->n_tiles, ACTIVATION_GRAIN_BYTES) + l->temp_bytes_per_tile);
        if (rules->recompute == RECOMPUTE_LAYER || rules->recompute == RECOMPUTE_CHECKPOINTS)     /* named ones: each might be one */
            segment = 0;
    }
    return worst;
}

bool activations_fill_a_tile(const struct layer_work *w, bool training)
{
    for (uint32_t i = 0; i < w->n_layers; i++) {
        const struct layer_cost *l = &w->layers[i];
        uint64_t live = training ? max_u64(l->forward_live_bytes, l->kept_bytes + l->backward_live_bytes) : l->forward_live_bytes;
        if (spread(live, w->n_tiles, ACTIVATION_GRAIN_BYTES) > w->tile_bytes)
            return true;
    }
    return false;
}

struct stage_bound stage_bound(const struct layer_work *w, const struct layout_rules *rules, uint32_t s, uint32_t n_stages, uint32_t first, uint32_t end)
{
    struct stage_bound b = {0};
    uint64_t weights = 0, stash = rules->training ? stash_bytes(w, rules, first, end) * others_in_flight(rules, s, n_stages) : 0;
    bool last = s + 1 == n_stages;
    for (uint32_t i = first; i < end; i++) {
        bool kept = last && (rules->recompute != RECOMPUTE_LAYER || i + 1 == end);     /* its last segment */
        b.cycles += work_of(w, rules, i, rules->recompute != RECOMPUTE_NONE && !kept);
        weights += w->layers[i].weight_bytes;
    }
    b.bytes = spread(weights, w->n_tiles, WEIGHT_GRAIN_BYTES) * (rules->training ? 2 : 1)
            + spread(rules->half_stash ? stash / 2 : stash, w->n_tiles, ACTIVATION_GRAIN_BYTES) + worst_moment(w, rules, first, end);
    return b;
}

/* ---- all cuts --------------------------------------------------------------------------------------- */

struct walk {
    struct layouts *out;
    const struct layer_work *w;
    const struct layout_rules *rules;
    uint32_t n_ipus, n_stages;
    struct stage_bound heads;           /* where they are back on the first IPU; zero else */
    uint64_t below, *rest;              /* rest[i]: cycles of the layers from i on that are still to be placed, nothing computed again */
    size_t most;
    struct arena *a;
    struct layout now;
};

static int by_bottleneck(const void *x, const void *y)
{
    const struct layout *a = x, *b = y;
    if (a->bottleneck != b->bottleneck)
        return a->bottleneck < b->bottleneck ? -1 : 1;
    return a->n_stages != b->n_stages ? (int)a->n_stages - (int)b->n_stages : memcmp(a->cuts, b->cuts, sizeof a->cuts);
}

/* Full: the longer half goes, and what comes after has to be shorter. */
static void drop_half(struct walk *k)
{
    struct layouts *l = k->out;
    sort_items(l->items, l->n, sizeof *l->items, by_bottleneck);
    l->n_dropped += l->n - l->n / 2;
    l->n /= 2;
    l->least_dropped = min_u64(l->least_dropped, l->items[l->n].bottleneck);
    k->below = min_u64(k->below, l->items[l->n].bottleneck);
}

static void keep(struct walk *k, uint64_t bottleneck)
{
    struct layouts *l = k->out;
    if (l->n == k->most)
        drop_half(k);
    if (bottleneck >= k->below) {
        l->n_dropped += l->n_dropped > 0;
        return;
    }
    l->items = arena_grow(k->a, l->items, l->n, &l->cap, sizeof *l->items);
    k->now.bottleneck = bottleneck;
    l->items[l->n++] = k->now;
}

static bool may_hold(const struct walk *k, struct stage_bound *b, uint32_t s)
{
    if (s == 0) {                       /* weights and work of both; their moments are not at once */
        b->cycles += k->heads.cycles;
        b->bytes = max_u64(b->bytes, k->heads.bytes);
    }
    return b->bytes <= k->w->tile_bytes;
}

/* Stage s begins with layer `from`. */
static void cut(struct walk *k, uint32_t s, uint32_t from, uint64_t bottleneck)
{
    const struct layer_work *w = k->w;
    uint32_t body_end = w->first_body + w->n_body, end = k->n_stages > k->n_ipus ? body_end : w->n_layers;
    if (s + 1 == k->n_ipus) {
        struct stage_bound b = stage_bound(w, k->rules, s, k->n_stages, from, end);
        if (from < end && may_hold(k, &b, s) && b.cycles < k->below)
            keep(k, max_u64(bottleneck, b.cycles));
        return;
    }
    for (uint32_t to = from + 1 > w->first_body ? from + 1 : w->first_body; to <= body_end; to++) {
        struct stage_bound b = stage_bound(w, k->rules, s, k->n_stages, from, to);
        if (!may_hold(k, &b, s) || b.cycles >= k->below)
            return;
        if (ceil_div(k->rest[to], k->n_ipus - s - 1) >= k->below)
            continue;
        k->now.cuts[s] = (uint16_t)to;
        cut(k, s + 1, to, max_u64(bottleneck, b.cycles));
    }
}

void layouts_list(struct layouts *out, const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus, uint64_t below, size_t most,
                  struct arena *a)
{
    uint32_t body_end = w->first_body + w->n_body;
    *out = (struct layouts){ .least_dropped = UINT64_MAX };
    for (uint32_t back = 0; back < (n_ipus > 1 && body_end < w->n_layers ? 2 : 1); back++) {
        struct walk k = { .out = out, .w = w, .rules = rules, .n_ipus = n_ipus, .n_stages = n_ipus + back, .below = min_u64(below, out->least_dropped),
                          .most = most, .a = a, .now = { .n_stages = n_ipus + back }, .rest = ARENA_ARRAY(a, uint64_t, w->n_layers + 1) };
        for (uint32_t i = back ? body_end : w->n_layers; i-- > 0; )
            k.rest[i] = k.rest[i + 1] + work_of(w, rules, i, false);
        if (back) {
            k.heads = stage_bound(w, rules, n_ipus, n_ipus + 1, body_end, w->n_layers);
            k.now.cuts[n_ipus - 1] = (uint16_t)body_end;
        }
        cut(&k, 0, 0, 0);
    }
    sort_items(out->items, out->n, sizeof *out->items, by_bottleneck);
}

const char *layout_text(const struct layer_work *w, const struct layout *l, struct arena *a)
{
    const char *text = "";
    for (uint32_t s = 0; s < l->n_stages; s++) {
        uint32_t from = s ? l->cuts[s - 1] : 0, to = s + 1 < l->n_stages ? l->cuts[s] : w->n_layers, parts[2] = {0};
        for (uint32_t i = from; i < to; i++) {
            const struct layer *layer = &w->graph->layers[i];
            if (layer->role == LAYER_BODY && layer->n_parts > 1)
                parts[layer->part_id & 1]++;
            else if (layer->role == LAYER_BODY)
                parts[0]++, parts[1]++;
        }
        text = parts[0] == parts[1] ? arena_printf(a, "%s%s%u", text, s ? "," : "", parts[0])
                                    : arena_printf(a, "%s%s%u/%u", text, s ? "," : "", parts[0], parts[1]);
    }
    return text;
}
