/*
 * layouts.c - cuts of the body's layers into stages, found depth first; a branch is left when a stage is too long already, or when
 * what is left is too long for the IPUs that are left.
 */
#include "results/search/layouts.h"

#include <stdlib.h>
#include <string.h>

void layer_work_of(struct layer_work *out, const struct graph *g, const struct layer_cost *layers, struct arena *a)
{
    uint32_t *body = ARENA_ARRAY(a, uint32_t, g->n_layers + 1);
    *out = (struct layer_work){ .graph = g, .body = body, .before = ARENA_ARRAY(a, uint64_t, g->n_layers + 1) };
    for (uint32_t i = 0; i < g->n_layers; i++) {
        uint64_t cycles = cycles_total(&layers[i].forward) + cycles_total(&layers[i].backward);
        out->weight_bytes += (double)layers[i].weight_bytes;
        out->longest = max_u64(out->longest, cycles);
        if (g->layers[i].role == LAYER_FIRST) {
            out->first += cycles;
        } else if (g->layers[i].role == LAYER_LAST) {
            out->last += cycles;
        } else {
            body[out->n_body] = i;
            out->before[out->n_body + 1] = out->before[out->n_body] + cycles;
            out->n_body++;
        }
    }
}

uint64_t least_bottleneck(const struct layer_work *w, uint32_t n_ipus)
{
    uint64_t total = w->first + w->last + w->before[w->n_body];
    return max_u64(max_u64(ceil_div(total, n_ipus), w->longest), max_u64(w->first, w->last));
}

struct walk { struct layouts *out; const struct layer_work *w; uint32_t n_ipus; bool heads_back; uint64_t below; size_t most; struct arena *a; struct layout now; };

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
    qsort(l->items, l->n, sizeof *l->items, by_bottleneck);
    l->n_dropped += l->n - l->n / 2;
    l->n /= 2;
    l->least_dropped = min_u64(l->least_dropped, l->items[l->n].bottleneck);
    k->below = l->items[l->n].bottleneck;
}

static void keep(struct walk *k, uint64_t bottleneck)
{
    struct layouts *l = k->out;
    if (l->n == k->most)
        drop_half(k);
    if (bottleneck >= k->below)
        return;
    l->items = arena_grow(k->a, l->items, l->n, &l->cap, sizeof *l->items);
    k->now.bottleneck = bottleneck;
    l->items[l->n++] = k->now;
}

/* Stage s takes body layers from `from` on. */
static void cut(struct walk *k, uint32_t s, uint32_t from, uint64_t bottleneck)
{
    const struct layer_work *w = k->w;
    uint64_t fixed = s == 0 ? w->first + (k->heads_back ? w->last : 0) : 0;
    bool last = s + 1 == k->n_ipus;
    uint32_t least = s == 0 && w->first ? from : from + 1;
    if (last) {
        uint64_t here = fixed + w->before[w->n_body] - w->before[from] + (k->heads_back ? 0 : w->last);
        bool empty = from == w->n_body && (k->heads_back || !w->last);
        if (here < k->below && !empty)
            keep(k, max_u64(bottleneck, here));
        return;
    }
    for (uint32_t to = least; to <= w->n_body; to++) {
        uint64_t here = fixed + w->before[to] - w->before[from], rest = w->before[w->n_body] - w->before[to] + (k->heads_back ? 0 : w->last);
        if (here >= k->below)
            return;
        if (ceil_div(rest, k->n_ipus - s - 1) >= k->below)
            continue;
        k->now.cuts[s] = (uint16_t)to;
        cut(k, s + 1, to, max_u64(bottleneck, here));
    }
}

void layouts_list(struct layouts *out, const struct layer_work *w, uint32_t n_ipus, uint64_t below, size_t most, struct arena *a)
{
    *out = (struct layouts){ .least_dropped = UINT64_MAX };
    for (int heads_back = 0; heads_back < (n_ipus > 1 && w->last ? 2 : 1); heads_back++) {
        struct walk k = { out, w, n_ipus, heads_back, below, most, a, { .n_stages = n_ipus + (uint32_t)heads_back } };
        if (out->n_dropped)
            k.below = min_u64(below, out->least_dropped);
        if (heads_back)
            k.now.cuts[n_ipus - 1] = (uint16_t)w->n_body;
        cut(&k, 0, 0, 0);
    }
    qsort(out->items, out->n, sizeof *out->items, by_bottleneck);
}

const char *layout_text(const struct layer_work *w, const struct layout *l, struct arena *a)
{
    const char *text = "";
    for (uint32_t s = 0; s < l->n_stages; s++) {
        uint32_t from = s ? l->cuts[s - 1] : 0, to = s + 1 < l->n_stages ? l->cuts[s] : w->n_body, parts[2] = {0};
        for (uint32_t i = from; i < to; i++) {
            const struct layer *layer = &w->graph->layers[w->body[i]];
            parts[layer->n_parts > 1 ? layer->part_id & 1 : 0]++;
            if (layer->n_parts <= 1)
                parts[1]++;
        }
        text = parts[0] == parts[1] ? arena_printf(a, "%s%s%u", text, s ? "," : "", parts[0])
                                    : arena_printf(a, "%s%s%u/%u", text, s ? "," : "", parts[0], parts[1]);
    }
    return text;
}
