/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layers.c - see layers.h. The formulas are those of placement.c and memory.c in the schedule's room, for a stage by itself.
 */
#include "results/study/layers.h"

#include <math.h>
#include <string.h>

enum { WEIGHT_GRAIN_BYTES = 256, ACTIVATION_GRAIN_BYTES = 128 };       /* as memory.c spreads tensors */

/* ---- what is kept of a plan -------------------------------------------------------------------- */

static void copy_layers(struct layer_work *w, const struct plan *p, const struct compiled *compiled, struct arena *a)
{
    struct graph *g = ARENA_NEW(a, struct graph);
    struct layer_cost *layers = ARENA_ARRAY(a, struct layer_cost, p->graph->n_layers);
    *g = *p->graph;
    g->layers = ARENA_ARRAY(a, struct layer, g->n_layers);
    memcpy(g->layers, p->graph->layers, g->n_layers * sizeof *g->layers);
    memcpy(layers, compiled->layers, g->n_layers * sizeof *layers);
    w->graph = g;
    if (p->named_checkpoints) {
        bool *named = ARENA_ARRAY(a, bool, g->n_layers);
        memcpy(named, p->named_checkpoints, g->n_layers * sizeof *named);
        w->named_checkpoints = named;
    }
    w->layers = layers;
    w->n_layers = (uint32_t)g->n_layers;
}

static void copy_weight_work(struct layer_work *w, const struct compiled *compiled, struct compiler *c, struct arena *a)
{
    uint64_t *cycles = ARENA_ARRAY(a, uint64_t, w->n_layers);
    for (uint32_t i = 0; i < w->n_layers; i++) {
        struct cycles sum = compile_weight_work(c, &(struct layer_range){ compiled, i, 1 }, 1, WORK_ACCUMULATE, PART_ACCUMULATE);
        cycles[i] = cycles_total(&sum);
    }
    w->accumulate_cycles = cycles;
    w->tied = ARENA_ARRAY(a, struct tied, c->n_tied);
    for (size_t i = 0; i < c->n_tied; i++) {
        const struct tensor *t = &c->graph->tensors[c->tied[i].tensor_id];
        w->tied[w->n_tied++] = (struct tied){ c->tied[i].layer_id, t->layer_id, tensor_bytes(t), tensor_elements(t) };
    }
}

/* Code of each run of layers, as compile_code_bytes() sums it: operations of equal plans share theirs. */
struct code { uint32_t layer, id; uint64_t bytes; };

static int by_layer(const void *x, const void *y)
{
    const struct code *a = x, *b = y;
    return a->layer != b->layer ? (a->layer < b->layer ? -1 : 1) : 0;
}

static struct code *list_code(uint32_t *n_ids, const struct graph *g, const struct compiled *compiled, struct arena *scratch)
{
    struct code *all = ARENA_ARRAY(scratch, struct code, g->n_ops);
    *n_ids = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct op_plan *p = compiled->op_plans[i];
        all[i] = (struct code){ g->ops[i].layer_id, p->code, p->code_bytes_per_tile };
        *n_ids = max_u32(*n_ids, p->code + 1);
    }
    sort_items(all, g->n_ops, sizeof *all, by_layer);
    return all;
}

static void sum_code(struct layer_work *w, const struct graph *g, const struct compiled *compiled, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t n = w->n_layers, n_ids;
    const struct code *all = list_code(&n_ids, g, compiled, &scratch);
    uint32_t *seen = ARENA_ARRAY(&scratch, uint32_t, n_ids);
    uint64_t *bytes = ARENA_ARRAY(a, uint64_t, (size_t)(n + 1) * (n + 1));
    for (uint32_t first = 0, start = 0; first < n; first++) {
        while (start < g->n_ops && all[start].layer < first)
            start++;
        uint64_t sum = 0;
        for (uint32_t i = start, end = first; end < n; end++) {
            for (; i < g->n_ops && all[i].layer == end; i++)
                if (seen[all[i].id] != first + 1) {
                    seen[all[i].id] = first + 1;
                    sum += all[i].bytes;
                }
            bytes[(size_t)first * (n + 1) + end + 1] = sum;
        }
    }
    w->code_bytes = bytes;
    arena_free(&scratch);
}

static struct hop hop_of(const struct topology *t, uint32_t from, uint32_t to)
{
    uint32_t links[64];
    size_t n;
    struct hop h = {0};
    if (from >= t->n_ipus || to >= t->n_ipus || from == to || !topology_route(links, 64, &n, t, from, to, NULL))
        return h;
    for (size_t i = 0; i < n; i++) {
        struct link l = topology_link(t, links[i]);
        h.latency_s += l.latency_s;
        h.s_per_byte = fmax(h.s_per_byte, 1 / l.bytes_per_s);
    }
    return h;
}

static void find_hops(struct layer_work *w, const struct topology *t)
{
    for (uint32_t i = 0; i < MAX_STAGES; i++) {
        w->forth[i] = hop_of(t, i, i + 1);
        w->back[i] = hop_of(t, i + 1, i);
        w->home[i] = hop_of(t, i, 0);
        w->out[i] = hop_of(t, 0, i);
    }
}

/* First layers, then at least one of the body, then heads. */
static bool find_body(struct layer_work *w)
{
    uint32_t n_of[LAYER_LAST + 1] = {0};
    enum layer_role last = LAYER_FIRST;
    bool in_order = true;
    for (uint32_t i = 0; i < w->n_layers; i++) {
        enum layer_role role = w->graph->layers[i].role;
        in_order &= role >= last;
        n_of[role]++;
        last = role;
    }
    w->first_body = n_of[LAYER_FIRST];
    w->n_body = n_of[LAYER_BODY];
    return in_order && w->n_body > 0;
}

bool layer_work_of(struct layer_work *out, const struct plan *p, struct compiler *c, struct arena *a)
{
    const struct chip *chip = &p->topology->machine->chip;
    const struct compiled *compiled = p->stages[0].compiled;
    *out = (struct layer_work){ .n_tiles = compiled->options.n_tiles, .tile_bytes = chip->tile_memory_bytes, .chip = *chip, .options = compiled->options };
    copy_layers(out, p, compiled, a);
    copy_weight_work(out, compiled, c, a);
    sum_code(out, p->graph, compiled, a);
    find_hops(out, p->topology);
    if (!p->options.io_tiles && chip->host_link_bytes_per_s > 0)
        out->input_s_per_byte = 1 / chip->host_link_bytes_per_s;
    return find_body(out);
}

/* ---- one stage ---------------------------------------------------------------------------------- */

static uint64_t spread(uint64_t bytes, uint64_t n_tiles, uint64_t grain_bytes)
{
    return ceil_div(ceil_div(bytes, grain_bytes), n_tiles) * grain_bytes;
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

uint64_t layer_work_cycles(const struct layer_work *w, const struct layout_rules *r, uint32_t layer, bool last)
{
    const struct layer_cost *l = &w->layers[layer];
    uint64_t forward = l->forward_cycles;
    if (!r->training)
        return forward;
    bool again = r->recompute != RECOMPUTE_NONE && !last;
    return forward * (again ? 2 : 1) + l->backward_cycles + (r->accumulates && w->accumulate_cycles ? w->accumulate_cycles[layer] : 0);
}

/* Checkpoints by names that are not known may be anywhere, or nowhere: what is least is taken. */
static bool are_unknown(const struct layer_work *w, const struct layout_rules *r)
{
    return r->recompute == RECOMPUTE_CHECKPOINTS && !w->named_checkpoints;
}

static bool is_checkpoint_of(const struct layer_work *w, const struct layout_rules *r, uint32_t layer)
{
    return r->recompute == RECOMPUTE_LAYER || (r->recompute == RECOMPUTE_CHECKPOINTS && w->named_checkpoints && w->named_checkpoints[layer]);
}

static uint64_t others_in_flight(const struct layout_rules *r, const struct stage_place *at)
{
    uint64_t behind = at->n_stages - 1 - at->s;
    return r->schedule == SCHEDULE_POPART || r->schedule == SCHEDULE_GROUPED ? 2 * behind : r->schedule == SCHEDULE_INTERLEAVED ? behind : 0;
}

static uint64_t input_bytes(const struct layer_work *w, const struct stage_place *at)
{
    return at->first ? w->layers[at->first - 1].output_bytes : 0;
}

/* What one micro-batch leaves behind until its backward pass. */
static uint64_t stash_of_one(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    uint64_t bytes = input_bytes(w, at);
    for (uint32_t i = at->first; i < at->end; i++)
        bytes += r->recompute == RECOMPUTE_NONE ? w->layers[i].kept_bytes : is_checkpoint_of(w, r, i) && i + 1 < at->end ? w->layers[i].output_bytes : 0;
    return bytes;
}

/* Of the last stage's last segment nothing is computed again. */
static uint64_t cycles_again(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    uint64_t again = 0, segment = 0;
    for (uint32_t i = at->first; i < at->end && r->recompute != RECOMPUTE_NONE; i++) {
        segment += w->layers[i].forward_cycles;
        if (i + 1 < at->end ? is_checkpoint_of(w, r, i) : at->s + 1 < at->n_stages) {
            again += segment;
            segment = 0;
        }
    }
    return again;
}

static struct stash stash_of(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at, uint64_t n_bytes)
{
    bool none_again = r->recompute == RECOMPUTE_NONE;
    struct stash s = { .n_bytes = n_bytes, .n_tensors = at->first > 0, .fp8 = r->half_stash };
    for (uint32_t i = at->first; i + !none_again < at->end; i++)
        s.n_tensors += none_again ? w->layers[i].kept_bytes > 0 : is_checkpoint_of(w, r, i);
    return s;
}

static void add_cycles(struct stage_cost *c, const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at, uint64_t stash_bytes)
{
    uint64_t host_bytes = 0;
    for (uint32_t i = at->first; i < at->end; i++) {
        c->forward += w->layers[i].forward_cycles;
        host_bytes += w->layers[i].host_bytes;
        if (r->training)
            c->backward += layer_work_cycles(w, r, i, true) - w->layers[i].forward_cycles;
    }
    if (w->chip.n_tiles > w->n_tiles)
        c->forward += io_copy_cycles(&w->chip, w->chip.n_tiles - w->n_tiles, host_bytes);
    else
        c->forward += (uint64_t)((double)host_bytes * w->input_s_per_byte * w->chip.clock_hz);
    if (!r->training)
        return;
    c->backward += cycles_again(w, r, at);
    if (at->n_stages < 2 || !r->stash_is_known)
        return;
    struct stash stash = stash_of(w, r, at, stash_bytes);
    struct op_plan write, read;
    stash_plan(&write, &read, &stash, &w->chip, &w->options);
    c->forward += op_plan_cycles(&write);
    c->backward += op_plan_cycles(&read);
}

struct weights { uint64_t bytes, n_elements; };

/* A stage that reads another IPU's weight keeps a copy. Heads back on the first IPU have the first layers beside them. */
static struct weights weights_of(const struct layer_work *w, const struct stage_place *at)
{
    struct weights sum = {0};
    bool beside = at->n_stages > at->n_ipus && at->s % at->n_ipus == 0;
    for (uint32_t i = at->first; i < at->end; i++) {
        sum.bytes += w->layers[i].weight_bytes;
        sum.n_elements += w->layers[i].n_parameters;
    }
    for (size_t i = 0; i < w->n_tied && !beside; i++) {
        const struct tied *t = &w->tied[i];
        if (t->layer >= at->first && t->layer < at->end && (t->owner < at->first || t->owner >= at->end)) {
            sum.bytes += t->bytes;
            sum.n_elements += t->n_elements;
        }
    }
    return sum;
}

static void add_lasting(struct stage_cost *c, const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    struct weights weights = weights_of(w, at);
    uint64_t host_bytes = 0;
    for (uint32_t i = at->first; i < at->end; i++)
        host_bytes += w->layers[i].host_bytes;
    c->lasting_bytes = spread(weights.bytes, w->n_tiles, WEIGHT_GRAIN_BYTES) * (r->training && r->keeps_gradients ? 2 : 1)
                     + spread((uint64_t)((double)weights.n_elements * r->state_bytes_per_param), w->n_tiles, WEIGHT_GRAIN_BYTES)
                     + spread(host_bytes, w->n_tiles, ACTIVATION_GRAIN_BYTES);
    c->code_bytes = w->code_bytes ? w->code_bytes[(size_t)at->first * (w->n_layers + 1) + at->end] : 0;
}

static void keep_worst(struct stage_cost *c, uint64_t stash_bytes, uint64_t moment_bytes)
{
    if (c->stash_bytes + c->moment_bytes < stash_bytes + moment_bytes) {
        c->stash_bytes = stash_bytes;
        c->moment_bytes = moment_bytes;
    }
}

/* Of a tile: a segment's activations and what a layer of it works on, forward or backward. */
static uint64_t moment_of(const struct layer_work *w, const struct layer_cost *l, uint64_t bytes)
{
    return spread(bytes, w->n_tiles, ACTIVATION_GRAIN_BYTES) + l->temp_bytes_per_tile;
}

/* Where nothing is kept on the way through a stage, its worst moment is the same whatever is kept beside it. */
static bool keeps_on_the_way(const struct layout_rules *r)
{
    return r->recompute == RECOMPUTE_LAYER || r->recompute == RECOMPUTE_CHECKPOINTS;
}

static uint64_t worst_moment(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    uint64_t worst = 0, segment = 0;
    for (uint32_t i = at->first; i < at->end; i++) {
        const struct layer_cost *l = &w->layers[i];
        worst = max_u64(worst, moment_of(w, l, segment + l->forward_live_bytes));
        if (!r->training)
            continue;
        segment += l->kept_bytes;
        worst = max_u64(worst, moment_of(w, l, segment + l->backward_live_bytes));
    }
    return worst;
}

static uint64_t stash_of_a_tile(const struct layer_work *w, uint64_t bytes, bool half)
{
    return spread(bytes / (half ? 2 : 1), w->n_tiles, ACTIVATION_GRAIN_BYTES);
}

static void find_worst(struct stage_cost *c, const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at,
                       const struct run_cost *run)
{
    uint64_t mine = r->training ? input_bytes(w, at) : 0, others = run->stash_bytes * others_in_flight(r, at), segment = 0;
    bool half = r->half_stash && (at->s + 1 < at->n_stages || !r->stash_is_known);
    if (!keeps_on_the_way(r)) {
        keep_worst(c, stash_of_a_tile(w, others + mine, half), run->moment_bytes);
        return;
    }
    for (uint32_t i = at->first; i < at->end; i++) {
        const struct layer_cost *l = &w->layers[i];
        uint64_t stash = stash_of_a_tile(w, others + mine, half);
        keep_worst(c, stash, moment_of(w, l, segment + l->forward_live_bytes));
        if (!r->training)
            continue;
        segment += l->kept_bytes;
        keep_worst(c, stash, moment_of(w, l, segment + l->backward_live_bytes));
        if (is_checkpoint_of(w, r, i))
            mine += l->output_bytes;
        if (is_checkpoint_of(w, r, i) || are_unknown(w, r))
            segment = 0;
    }
}

struct run_cost run_cost(const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    struct run_cost c = { .stash_bytes = r->training ? stash_of_one(w, r, at) : 0 };
    add_cycles(&c.cost, w, r, at, c.stash_bytes);
    add_lasting(&c.cost, w, r, at);
    c.cost.output_bytes = at->end < w->n_layers ? w->layers[at->end - 1].output_bytes : 0;
    if (!keeps_on_the_way(r))
        c.moment_bytes = worst_moment(w, r, at);
    return c;
}

struct stage_cost run_cost_at(const struct run_cost *run, const struct layer_work *w, const struct layout_rules *r, const struct stage_place *at)
{
    struct stage_cost c = run->cost;
    find_worst(&c, w, r, at, run);
    return c;
}

struct stage_cost stage_cost(const struct layer_work *w, const struct layout_rules *r, struct stage_place at)
{
    struct run_cost run = run_cost(w, r, &at);
    return run_cost_at(&run, w, r, &at);
}

uint64_t ipu_bytes(const struct stage_cost *a, const struct stage_cost *b)
{
    static const struct stage_cost none;
    b = b ? b : &none;
    return a->lasting_bytes + b->lasting_bytes + a->stash_bytes + b->stash_bytes + max_u64(a->moment_bytes, b->moment_bytes)
         + max_u64(a->code_bytes, b->code_bytes);
}
