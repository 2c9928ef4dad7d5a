/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts.c - cuts of the layers into stages, found depth first. A branch is left when a stage is too large, or when what is placed,
 * or the best that memory allows of the rest, is too long already: that best is known for every rest before the first cut is made.
 */
#include "results/study/layouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how long a step takes at least ------------------------------------------------------------ */

static bool one_after_the_other(const struct layout_rules *r)
{
    return r->schedule == SCHEDULE_NONE || r->schedule == SCHEDULE_SEQUENTIAL;
}

static uint64_t add_floor(uint64_t step, const struct layout_rules *r)
{
    return max_u64(step, r->grad_accum * r->floor_cycles);
}

/* With at most L cycles on each IPU, the last stage's forward work, which is not done again, is as much again of it as of the layer
 * with most: work / (n - 1 + that) <= L. */
uint64_t least_step_cycles(const struct layer_work *w, const struct layout_rules *r, uint32_t n_ipus)
{
    uint64_t total = 0, longest = 0, all_last = 0;
    double most_again = 1;
    for (uint32_t i = 0; i < w->n_layers; i++) {
        uint64_t again = layer_work_cycles(w, r, i, false), last = layer_work_cycles(w, r, i, true);
        total += again;
        all_last += last;
        longest = max_u64(longest, last);
        most_again = last ? fmax(most_again, (double)again / (double)last) : most_again;
    }
    uint64_t each = n_ipus == 1 || one_after_the_other(r) ? all_last
                  : max_u64(longest, (uint64_t)((double)total / ((double)n_ipus - 1 + most_again) * (1 - 1e-12)));
    return add_floor(r->grad_accum * (each + r->each_cycles) + r->once_cycles, r);
}

static uint64_t copy_cycles(const struct layer_work *w, const struct hop *h, uint64_t bytes)
{
    if (!bytes || !(h->s_per_byte > 0))
        return 0;
    return (uint64_t)((h->latency_s + (double)bytes * h->s_per_byte) * w->chip.clock_hz) + w->chip.global_sync_cycles;
}

/* What a task hands on: forward to the next stage, or back to the one before. The last stage has no output, so nothing is handed on from it. */
static uint64_t handed_on(const struct layer_work *w, const struct stage_cost *costs, const struct task *t, uint32_t n_ipus)
{
    bool forward = t->kind == TASK_FORWARD;
    if (!forward && t->stage == 0)
        return 0;
    uint32_t between = forward ? t->stage : t->stage - 1;       /* and the stage after it */
    bool home = between + 1 == n_ipus;
    const struct hop *hops = home ? (forward ? w->home : w->out) : forward ? w->forth : w->back;
    return copy_cycles(w, &hops[between], costs[between].output_bytes);
}

struct busy { uint64_t slots[MAX_STAGES][2], copies[2], work[MAX_STAGES], all; };     /* by IPU and slot; by slot; by stage; one after the other */

static void add_task(struct busy *b, const struct layer_work *w, const struct layout_rules *r, const struct stage_cost *costs, struct task t,
                     uint32_t n_stages, uint32_t n_ipus)
{
    uint64_t cycles = t.kind == TASK_FORWARD ? costs[t.stage].forward : costs[t.stage].backward, copy = handed_on(w, costs, &t, n_ipus);
    b->work[t.stage] += cycles;
    b->all += cycles + copy;
    if (one_after_the_other(r))
        return;
    place_task(&t, r->schedule, n_stages, r->training);
    b->slots[t.stage % n_ipus][t.slot] += cycles;
    b->copies[t.slot] = max_u64(b->copies[t.slot], copy);
}

/* The better of both laws at the most micro-batches. */
static void take_times(struct layout *l, const struct busy *b, const struct layout_rules *r, uint32_t n_ipus)
{
    uint64_t busiest = 0, before = 0, copies = b->copies[0] + b->copies[1];
    for (int slot = 0; slot < 2; slot++) {
        uint64_t longest = 0;
        for (uint32_t i = 0; i < n_ipus; i++)
            longest = max_u64(longest, b->slots[i][slot]);
        busiest += longest;
    }
    l->each_cycles = busiest;
    l->once_cycles = 0;
    for (uint32_t i = 0; i < n_ipus; i++) {
        uint64_t all = b->slots[i][0] + b->slots[i][1];
        if (r->grad_accum * all + before > r->grad_accum * l->each_cycles + l->once_cycles) {
            l->each_cycles = all;
            l->once_cycles = before;
        }
        before += b->work[i];
    }
    l->each_cycles += copies;
    if (r->schedule == SCHEDULE_POPART && r->training)
        l->once_cycles += (2 * (uint64_t)l->n_stages - 2) * copies;
}

static struct stage_place place_of(const struct layout *l, const struct layer_work *w, uint32_t s, uint32_t n_ipus)
{
    return (struct stage_place){ s, l->n_stages, n_ipus, s ? l->cuts[s - 1] : 0, s + 1 < l->n_stages ? l->cuts[s] : w->n_layers };
}

/* costs: of its stages; of their memory nothing is asked. */
void layout_time(struct layout *l, const struct stage_cost *costs, const struct layer_work *w, const struct layout_rules *r, uint32_t n_ipus)
{
    struct busy b = {0};
    for (uint32_t s = 0; s < l->n_stages; s++) {
        add_task(&b, w, r, costs, (struct task){ .stage = s, .kind = TASK_FORWARD }, l->n_stages, n_ipus);
        if (r->training)
            add_task(&b, w, r, costs, (struct task){ .stage = s, .kind = TASK_BACKWARD }, l->n_stages, n_ipus);
    }
    l->each_cycles = b.all;
    l->once_cycles = 0;
    if (!one_after_the_other(r))
        take_times(l, &b, r, n_ipus);
    l->each_cycles += r->each_cycles;
    l->once_cycles += r->once_cycles;
    l->step_cycles = add_floor(r->grad_accum * l->each_cycles + l->once_cycles, r);
}

/* ---- all cuts --------------------------------------------------------------------------------------- */

struct walk {
    struct layouts *out;
    const struct layer_work *w;
    const struct layout_rules *r;
    uint32_t n_ipus, n_stages, end;     /* end: of the layers to place; heads that are back on the first IPU are not among them */
    struct stage_cost heads;            /* those; zero else */
    uint64_t below, host;               /* host: of a step, the host's call and the copies that every layout makes */
    uint64_t n_cuts;                    /* tried */
    uint64_t *before;                   /* before[i]: work of the layers before i, computed again where that is on */
    uint64_t *stage;                    /* cycles of a micro-batch: stage[(s * (n + 1) + from) * (n + 1) + to]; UINT64_MAX: does not fit */
    uint64_t *rest;                     /* a step's at least: rest[s * (n + 1) + from], stages from s on */
    struct run_cost *runs;              /* of every stage but the last: runs[from * (n + 1) + to], the first alone from 0; */
    struct run_cost *ends;              /* of the last: by where it begins; no cycles: not asked for yet */
    size_t most;
    struct arena *a;
    struct layout now;
};

/* Of layers from 0 to n, both among them. */
static size_t place(const struct walk *k, size_t row, uint32_t column)
{
    return row * (k->w->n_layers + 1) + column;
}

static uint64_t *stage_at(const struct walk *k, uint32_t s, uint32_t from, uint32_t to)
{
    return &k->stage[place(k, place(k, s, from), to)];
}

static uint64_t *rest_at(const struct walk *k, uint32_t s, uint32_t from)
{
    return &k->rest[place(k, s, from)];
}

static const struct run_cost *run_at(const struct walk *k, const struct stage_place *at)
{
    struct run_cost *run = at->s + 1 < k->n_stages ? &k->runs[place(k, at->first, at->end)] : &k->ends[at->first];
    if (!run->cost.forward)
        *run = run_cost(k->w, k->r, at);
    return run;
}

static uint64_t stage_cycles(const struct walk *k, uint32_t s, uint32_t from, uint32_t to)
{
    struct stage_place at = { s, k->n_stages, k->n_ipus, from, to };
    struct stage_cost c = run_cost_at(run_at(k, &at), k->w, k->r, &at);
    if (ipu_bytes(&c, s == 0 ? &k->heads : NULL) > k->w->tile_bytes)
        return UINT64_MAX;
    return c.forward + c.backward + (s == 0 ? k->heads.forward + k->heads.backward : 0);
}

/* Of a step, with the stage's and what comes after it, or before. */
static uint64_t joined(const struct walk *k, uint64_t cycles, uint32_t from, uint64_t others)
{
    uint64_t step = k->r->grad_accum * cycles;
    return one_after_the_other(k->r) ? step + others : max_u64(step + k->before[from], others);
}

static uint32_t first_to(const struct walk *k, uint32_t s, uint32_t from)
{
    uint32_t least = from + 1 > k->w->first_body ? from + 1 : k->w->first_body;
    return s + 1 == k->n_ipus ? k->end : least;
}

static uint32_t last_to(const struct walk *k, uint32_t s)
{
    return s + 1 == k->n_ipus ? k->end : k->w->first_body + k->w->n_body;
}

/* A stage that does not fit does not fit with one more layer either. */
static void find_rest(struct walk *k, uint32_t s, uint32_t from)
{
    uint64_t *best = rest_at(k, s, from);
    bool fits = from < k->end;
    *best = UINT64_MAX;
    for (uint32_t to = first_to(k, s, from); to <= last_to(k, s); to++) {
        uint64_t cycles = fits ? stage_cycles(k, s, from, to) : UINT64_MAX, others = s + 1 == k->n_ipus ? 0 : *rest_at(k, s + 1, to);
        fits = cycles != UINT64_MAX;
        *stage_at(k, s, from, to) = cycles;
        if (fits && others != UINT64_MAX)
            *best = min_u64(*best, joined(k, cycles, from, others));
    }
}

/* The best of every rest, from the last stage to the first, which alone begins with layer 0; before another are as many layers as stages. */
static void find_rests(struct walk *k)
{
    for (uint32_t s = k->n_ipus - 1; s > 0; s--)
        for (uint32_t from = s; from <= k->end; from++)
            find_rest(k, s, from);
    find_rest(k, 0, 0);
}

/* Whatever the cut, each IPU hands something to the next one, forward and, in a slot of its own where schedules have one, back. */
static uint64_t host_cycles(const struct walk *k)
{
    const struct layer_work *w = k->w;
    const struct layout_rules *r = k->r;
    uint64_t least_bytes = UINT64_MAX, copies = 0, slots = one_after_the_other(r) || (r->schedule == SCHEDULE_GROUPED && r->training) ? 2 : 1;
    for (uint32_t i = w->first_body ? w->first_body - 1 : 0; i < w->first_body + w->n_body; i++)
        least_bytes = min_u64(least_bytes, w->layers[i].output_bytes);
    for (uint32_t s = 0; s + 1 < k->n_ipus; s++)
        copies = max_u64(copies, min_u64(copy_cycles(w, &w->forth[s], least_bytes), copy_cycles(w, &w->back[s], least_bytes)));
    if (!r->training)
        slots = 1;
    uint64_t times = r->grad_accum + (r->schedule == SCHEDULE_POPART && r->training ? 2 * (uint64_t)k->n_stages - 2 : 0);
    return times * slots * copies + r->grad_accum * r->each_cycles + r->once_cycles;
}

static int by_step(const void *x, const void *y)
{
    const struct layout *a = x, *b = y;
    if (a->step_cycles != b->step_cycles)
        return a->step_cycles < b->step_cycles ? -1 : 1;
    return a->n_stages != b->n_stages ? (int)a->n_stages - (int)b->n_stages : memcmp(a->cuts, b->cuts, sizeof a->cuts);
}

/* Full: the longer half goes, and what comes after has to be shorter. */
static void drop_half(struct walk *k)
{
    struct layouts *l = k->out;
    sort_items(l->items, l->n, sizeof *l->items, by_step);
    l->n_dropped += l->n - l->n / 2;
    l->n /= 2;
    l->least_dropped = min_u64(l->least_dropped, l->items[l->n].step_cycles);
    k->below = min_u64(k->below, l->items[l->n].step_cycles);
}

static void keep(struct walk *k)
{
    struct layouts *l = k->out;
    struct layout timed = k->now;
    struct stage_cost costs[MAX_STAGES + 1];
    for (uint32_t s = 0; s < k->n_stages; s++) {
        struct stage_place at = place_of(&k->now, k->w, s, k->n_ipus);
        costs[s] = run_at(k, &at)->cost;
    }
    layout_time(&timed, costs, k->w, k->r, k->n_ipus);
    if (timed.step_cycles >= k->below)
        return;
    if (l->n == k->most)
        drop_half(k);
    if (timed.step_cycles >= k->below) {
        l->n_dropped++;
        l->least_dropped = min_u64(l->least_dropped, timed.step_cycles);
        return;
    }
    l->items = arena_grow(k->a, l->items, l->n, &l->cap, sizeof *l->items);
    l->items[l->n++] = timed;
}

/* Too many cuts are as good: what is left of them is no better than the best that memory allows. */
static void give_up(struct walk *k)
{
    k->out->n_dropped++;
    k->out->least_dropped = min_u64(k->out->least_dropped, *rest_at(k, 0, 0) + k->host);
    k->below = 0;
}

/* Stage s begins with layer `from`; step: of the stages before it. */
static void cut(struct walk *k, uint32_t s, uint32_t from, uint64_t step)
{
    if (s == k->n_ipus) {
        keep(k);
        return;
    }
    if (++k->n_cuts > k->r->most_cuts) {
        give_up(k);
        return;
    }
    for (uint32_t to = first_to(k, s, from); to <= last_to(k, s); to++) {
        uint64_t cycles = *stage_at(k, s, from, to), others = s + 1 == k->n_ipus ? 0 : *rest_at(k, s + 1, to);
        if (cycles == UINT64_MAX)
            return;
        uint64_t now = joined(k, cycles, from, step);
        uint64_t all = others == UINT64_MAX ? UINT64_MAX : one_after_the_other(k->r) ? now + others : max_u64(now, others);
        if (all >= k->below - min_u64(k->below, k->host))
            continue;
        if (s + 1 < k->n_stages)
            k->now.cuts[s] = (uint16_t)to;
        cut(k, s + 1, to, now);
    }
}

static void walk(struct layouts *out, const struct layer_work *w, const struct layout_rules *r, uint32_t n_ipus, bool back, uint64_t below, size_t most,
                 struct arena *a)
{
    struct arena scratch = {0};
    size_t n = w->n_layers + 1;
    uint32_t body_end = w->first_body + w->n_body;
    struct walk k = { .out = out, .w = w, .r = r, .n_ipus = n_ipus, .n_stages = n_ipus + back, .end = back ? body_end : w->n_layers, .below = below, .most = most,
                      .a = a, .now = { .n_stages = n_ipus + back }, .before = ARENA_ARRAY(&scratch, uint64_t, n),
                      .stage = ARENA_ARRAY(&scratch, uint64_t, n * n * n_ipus), .rest = ARENA_ARRAY(&scratch, uint64_t, n * n_ipus),
                      .runs = ARENA_ARRAY(&scratch, struct run_cost, n * n), .ends = ARENA_ARRAY(&scratch, struct run_cost, n) };
    for (uint32_t i = 0; i < w->n_layers; i++)
        k.before[i + 1] = k.before[i] + layer_work_cycles(w, r, i, false);
    if (back)
        k.heads = stage_cost(w, r, (struct stage_place){ n_ipus, n_ipus + 1, n_ipus, body_end, w->n_layers });
    k.host = host_cycles(&k);
    find_rests(&k);
    cut(&k, 0, 0, 0);
    arena_free(&scratch);
}

void layouts_list(struct layouts *out, const struct layer_work *w, const struct layout_rules *rules, uint32_t n_ipus, uint64_t below, size_t most,
                  struct arena *a)
{
    bool heads = n_ipus > 1 && w->first_body + w->n_body < w->n_layers;
    *out = (struct layouts){ .least_dropped = UINT64_MAX };
    for (int back = 0; back < (heads ? 2 : 1); back++)
        walk(out, w, rules, n_ipus, back, min_u64(below, out->least_dropped), most, a);
    sort_items(out->items, out->n, sizeof *out->items, by_step);
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
