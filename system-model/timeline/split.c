/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.c - a pipeline's layers divided over its stages.
 *
 * A pipeline runs at the pace of its slowest stage, so the longest stage is made as short as can be:
 *     longest(s, i) = min over j of max(longest(s - 1, j), time of units j to i)
 * over units, the layers of blocks in order; time is forward, backward and what is computed again. A stage that holds more than an IPU's
 * memory, weights with what stands beside each and what is kept for the micro-batches in flight, is left out. The stem stands with the
 * first stage, the heads with the last, or with the stem on the first IPU as one stage more.
 * That sees neither copies between IPUs nor fill and drain, the update, buffers or code, so the result is improved by trying: the plan is
 * played with borders moved a unit or two either way, one, two, or more of them together, as long as that helps. What fits comes before what does not, then the shorter step.
 * An answer is remembered by its question, with the compiler that it was found for.
 * Not tried: stages that share an IPU other than the heads', and more stages than IPUs.
 */
#include "system-model/timeline/split.h"
#include <string.h>

enum { MOST_TRIED = 400 };

struct units { uint32_t n, *layer; uint64_t *time, *fixed_bytes, *kept_bytes; uint64_t first_time, last_time; };   /* sums up to a unit */

struct splitter {
    struct compiler *compiler;
    const struct plan_options *asked;
    struct units units;
    struct arena scratch, kept;             /* of one play after the other; of all */
    struct memo played;                     /* by borders */
    uint32_t n_tried;
};

/* Borders between stages, in units; border[n_stages] is the end, what is behind it 0. */
struct split { uint32_t n_stages, border[MAX_STAGES + 1]; bool valid, fits; uint64_t shortfall, step_cycles; };

/* ---- playing a split ---------------------------------------------------------------------------------- */

static void name_stages(struct plan_options *out, const struct splitter *s, const struct split *split)
{
    *out = *s->asked;
    out->n_stages = split->n_stages;
    for (uint32_t i = 0; i < split->n_stages; i++) {
        out->stage_sizes[i] = (struct stage_size){ { 0, 0 } };
        for (uint32_t u = split->border[i]; u < split->border[i + 1]; u++) {
            const struct layer *l = &s->compiler->graph->layers[s->units.layer[u]];
            out->stage_sizes[i].part_count[l->part_id]++;
            if (l->n_parts <= 1)
                out->stage_sizes[i].part_count[1]++;
        }
    }
}

static void play(struct split *split, struct splitter *s)
{
    struct plan_options opt;
    struct plan p;
    struct timeline t;
    const struct split *known = memo_find(&s->played, split->border, sizeof split->border);
    s->n_tried++;
    if (known) {
        *split = *known;
        return;
    }
    name_stages(&opt, s, split);
    opt.totals_only = true;
    split->valid = plan_once(&p, s->compiler, &opt, &s->scratch, NULL) && timeline_run(&t, &p, &s->scratch, NULL);
    if (split->valid) {
        split->fits = p.fits;
        split->shortfall = p.shortfall_bytes;
        split->step_cycles = t.step_cycles;
    }
    arena_reset(&s->scratch);
    *(struct split *)memo_add(&s->played, split->border, sizeof split->border, sizeof *split, &s->kept) = *split;
}

static bool is_better(const struct split *a, const struct split *b)
{
    if (a->valid != b->valid)
        return a->valid;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits && a->shortfall != b->shortfall)
        return a->shortfall < b->shortfall;
    return a->step_cycles < b->step_cycles;
}

/* Borders first to last moved by so many units, if that is a split at all. */
static bool shift(struct split *out, const struct split *from, uint32_t first, uint32_t last, int by)
{
    *out = *from;
    for (uint32_t i = first; i <= last; i++) {
        int64_t at = (int64_t)from->border[i] + by;
        if (at < 0 || at > from->border[from->n_stages])
            return false;
        out->border[i] = (uint32_t)at;
    }
    return out->border[first - 1] <= out->border[first] && out->border[last] <= out->border[last + 1];
}

/* The first shift of so many neighbouring borders that helps. */
static bool improve_once(struct split *best, struct splitter *s, uint32_t n_borders)
{
    static const int steps[] = { 1, -1, 2, -2 };
    for (uint32_t first = 1; first + n_borders <= best->n_stages; first++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            struct split other;
            if (s->n_tried >= MOST_TRIED || !shift(&other, best, first, first + n_borders - 1, steps[k]))
                continue;
            play(&other, s);
            if (!is_better(&other, best))
                continue;
            *best = other;
            return true;
        }
    return false;
}

/* One border at a time as long as that helps, then two together, three, all. */
static void improve(struct split *best, struct splitter *s)
{
    for (uint32_t n = 1; best->valid && n < best->n_stages; )
        n = improve_once(best, s, n) ? 1 : n + 1;
}

/* ---- the longest stage as short as can be ---------------------------------------------------------------- */

/* Micro-batches in flight at a stage, at most. */
static uint64_t in_flight(const struct splitter *s, uint32_t stage, uint32_t n_stages)
{
    enum schedule schedule = s->asked->schedule;
    if (!s->asked->training || schedule == SCHEDULE_NONE || schedule == SCHEDULE_SEQUENTIAL)
        return 1;
    return schedule == SCHEDULE_INTERLEAVED ? n_stages - stage : 2 * (n_stages - 1 - stage) + 1;
}

static bool has_room(const struct splitter *s, uint32_t stage, uint32_t n_stages, uint32_t from, uint32_t to)
{
    const struct chip *chip = &s->compiler->topology->machine->chip;
    const struct units *u = &s->units;
    uint64_t bytes = u->fixed_bytes[to] - u->fixed_bytes[from];
    bytes += (u->kept_bytes[to] - u->kept_bytes[from]) * in_flight(s, stage, n_stages);
    return bytes < chip->tile_memory_bytes * (chip->n_tiles - s->asked->io_tiles);
}

/* alone: the heads get a stage of their own, on the first IPU. */
static uint64_t stage_time(const struct splitter *s, uint32_t stage, uint32_t n_stages, uint32_t from, uint32_t to, bool alone)
{
    const struct units *u = &s->units;
    uint64_t time = u->time[to] - u->time[from];
    time += stage == 0 ? u->first_time + (alone ? u->last_time : 0) : 0;
    return time + (stage + 1 == n_stages && !alone ? u->last_time : 0);
}

static struct split shortest(const struct splitter *s, uint32_t n_stages, bool alone)
{
    struct arena scratch = {0};
    uint32_t n = s->units.n, *from = ARENA_ARRAY(&scratch, uint32_t, (size_t)n_stages * (n + 1));
    uint64_t *longest = ARENA_ARRAY(&scratch, uint64_t, (size_t)n_stages * (n + 1));
    for (uint32_t st = 0; st < n_stages; st++)
        for (uint32_t i = 0; i <= n; i++) {
            uint64_t *best = &longest[st * (n + 1) + i];
            *best = st == 0 && has_room(s, 0, n_stages, 0, i) ? stage_time(s, 0, n_stages, 0, i, alone) : UINT64_MAX;
            for (uint32_t j = 0; st > 0 && j <= i; j++) {
                uint64_t before = longest[(st - 1) * (n + 1) + j], mine = stage_time(s, st, n_stages, j, i, alone);
                uint64_t worse = max_u64(before, mine);
                bool empty = j == i && st + 1 < n_stages;
                if (worse < *best && !empty && has_room(s, st, n_stages, j, i)) {
                    *best = worse;
                    from[st * (n + 1) + i] = j;
                }
            }
        }
    struct split out = { .n_stages = n_stages, .valid = longest[n_stages * (n + 1) - 1] != UINT64_MAX };
    out.border[n_stages] = n;
    for (uint32_t st = n_stages; st-- > 1; )
        out.border[st] = from[st * (n + 1) + out.border[st + 1]];
    if (alone) {
        out.border[n_stages + 1] = n;
        out.n_stages++;
    }
    arena_free(&scratch);
    return out;
}

/* ---- what units cost ---------------------------------------------------------------------------------------- */

/* A weight's bytes on its IPU: itself, its gradients, its state. */
static uint64_t fixed_bytes(const struct plan *even, const struct layer_cost *l)
{
    const struct plan_options *o = &even->options;
    double state = o->training && o->optimizer_place == OPTIMIZER_ON_CHIP ? o->optimizer.state_bytes_per_param * (double)l->n_parameters : 0;
    return l->weight_bytes + (keeps_gradients(o) ? l->weight_bytes : 0) + (uint64_t)(state / shard_replicas(even));
}

static uint64_t kept_bytes(const struct plan_options *o, const struct layer_cost *l)
{
    return !o->training ? 0 : o->recompute == RECOMPUTE_NONE ? l->kept_bytes : o->recompute == RECOMPUTE_LAYER ? l->output_bytes : 0;
}

/* From a plan of an even split, which compiled every layer. */
static void cost_units(struct units *u, const struct plan *even, struct arena *a)
{
    const struct graph *g = even->graph;
    const struct plan_options *o = &even->options;
    *u = (struct units){ .layer = ARENA_ARRAY(a, uint32_t, g->n_layers), .time = ARENA_ARRAY(a, uint64_t, g->n_layers + 1),
                         .fixed_bytes = ARENA_ARRAY(a, uint64_t, g->n_layers + 1), .kept_bytes = ARENA_ARRAY(a, uint64_t, g->n_layers + 1) };
    for (uint32_t i = 0; i < g->n_layers; i++) {
        const struct layer_cost *l = &stage_of(even, i)->compiled->layers[i];
        uint64_t forward = l->forward_cycles, time = forward;
        if (o->training)
            time += l->backward_cycles + (o->recompute == RECOMPUTE_NONE ? 0 : forward);
        if (g->layers[i].role != LAYER_BODY) {
            *(g->layers[i].role == LAYER_FIRST ? &u->first_time : &u->last_time) += time;
            continue;
        }
        u->layer[u->n++] = i;
        u->time[u->n] = u->time[u->n - 1] + time;
        u->fixed_bytes[u->n] = u->fixed_bytes[u->n - 1] + fixed_bytes(even, l);
        u->kept_bytes[u->n] = u->kept_bytes[u->n - 1] + kept_bytes(o, l);
    }
}

static struct split split_of(const struct plan *even, const struct units *u)
{
    struct split out = { .n_stages = even->n_stages };
    out.border[even->n_stages] = u->n;
    for (uint32_t st = 1; st < even->n_stages; st++)
        for (uint32_t i = 0; i < u->n; i++)
            out.border[st] += u->layer[i] < even->stages[st].first_layer;
    return out;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static bool find_split(struct plan_options *opt, struct compiler *c, struct err *err)
{
    struct plan even;
    struct splitter s = { .compiler = c, .asked = opt };
    if (!plan_once(&even, c, opt, &s.kept, err)) {
        arena_free(&s.kept);
        return false;
    }
    cost_units(&s.units, &even, &s.kept);
    struct split best = split_of(&even, &s.units);
    play(&best, &s);
    for (int alone = 0; alone < 2; alone++) {
        struct split other = shortest(&s, opt->ipus_per_replica, alone);
        if (!other.valid || other.n_stages > MAX_STAGES)
            continue;
        play(&other, &s);
        improve(&other, &s);
        if (is_better(&other, &best))
            best = other;
        s.n_tried = 0;
    }
    improve(&best, &s);
    struct plan_options settled;
    name_stages(&settled, &s, &best);
    memcpy(opt->stage_sizes, settled.stage_sizes, sizeof opt->stage_sizes);
    opt->n_stages = settled.n_stages;
    arena_free(&s.scratch);
    arena_free(&s.kept);
    return true;
}

/* All that a split follows from, beside the graph and the machine: the options, with texts in place of what they point to. Which faults
 * there are the compiler's topology has; here it matters that there are some. */
struct question { struct plan_options plain; bool faulty; char checkpoints[]; };

static const struct question *question_of(size_t *n_bytes, const struct plan_options *opt, struct arena *a)
{
    const char *checkpoints = "";
    for (uint32_t i = 0; i < opt->n_checkpoints; i++)
        checkpoints = arena_printf(a, "%s%s\n", checkpoints, opt->checkpoints[i]);
    *n_bytes = sizeof(struct question) + strlen(checkpoints);
    struct question *q = arena_alloc(a, *n_bytes);
    memcpy(q->checkpoints, checkpoints, strlen(checkpoints));
    q->faulty = opt->faults != NULL;
    memcpy(&q->plain, opt, sizeof *opt);
    plan_options_plain(&q->plain);
    return q;
}

struct answer { uint32_t n_stages; struct stage_size sizes[MAX_STAGES]; };

bool split_layers(struct plan_options *opt, struct compiler *c, struct err *err)
{
    struct arena scratch = {0};
    size_t n_bytes;
    if (opt->n_stages || opt->ipus_per_replica < 2)
        return true;
    const struct question *question = question_of(&n_bytes, opt, &scratch);
    struct answer *answer = memo_find(&c->splits, question, n_bytes);
    bool good = answer || find_split(opt, c, err);
    if (good && !answer) {
        answer = memo_add(&c->splits, question, n_bytes, sizeof *answer, c->arena);
        answer->n_stages = opt->n_stages;
        memcpy(answer->sizes, opt->stage_sizes, sizeof answer->sizes);
    }
    if (good) {
        opt->n_stages = answer->n_stages;
        memcpy(opt->stage_sizes, answer->sizes, sizeof answer->sizes);
    }
    arena_free(&scratch);
    return good;
}
