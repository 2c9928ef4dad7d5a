/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.c - divides a pipeline's layers over its stages.
 *
 * A pipeline runs at the pace of its slowest stage, so the search starts from the division whose longest stage is as short as possible
 * (split_balanced.c). That division ignores copies between IPUs, fill and drain, the update, buffers and code. The search therefore plays
 * whole plans with borders between stages moved by one or two layers in either direction: first one border, then two neighbours together, and
 * then more, as long as that helps. A division that fits is better than one that does not; of two that fit, the one with the shorter step is
 * better. The compiler remembers each answer. Not tried: stages that share an IPU, except for the heads' stage, and more stages than IPUs.
 */
#include "results/simulate/split.h"
#include "system-model/graph/graph.h"

enum { MOST_ATTEMPTS = 400 };

struct splitter {
    struct compiler *compiler;
    const struct plan_request *asked;
    struct units units;
    struct arena scratch, kept;             /* `scratch` is emptied after each play */
    struct memo played;
    uint32_t n_attempts, most_attempts;
};

/* ---- playing a split ---------------------------------------------------------------------------------- */

static void name_stages(struct plan_request *out, const struct splitter *s, const struct split *split)
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

/* without_memory: the division is played without counting its memory. */
MEMO_INPUT(play_input, uint32_t border[MAX_STAGES + 1], n_stages, without_memory, unused;);

/* Plays one division. Its whole plan is dropped afterwards, but the parts of the plan are remembered. */
static const void *play(void *world, const void *input, struct err *err)
{
    struct splitter *s = world;
    struct compiler *c = s->compiler;
    const struct play_input *q = input;
    const struct memo kept = c->plans;
    struct split *split = ARENA_NEW(&s->kept, struct split);
    struct plan_request opt;
    struct plan p;
    struct timeline t;
    split->n_stages = q->n_stages;
    memcpy(split->border, q->border, sizeof split->border);
    name_stages(&opt, s, split);
    opt.detail.totals_only = true;
    memo_start(&c->plans, c, &s->scratch);
    split->valid = plan_time(&p, c, &opt, &s->scratch, err) && timeline_run(&t, &p, &s->scratch, err);
    if (split->valid && !q->without_memory && !opt.detail.timed_only)
        plan_memory(&p, c);
    if (split->valid) {
        split->fits = p.fits || opt.detail.timed_only;
        split->shortfall = p.shortfall_bytes;
        split->step_cycles = t.step_cycles;
    }
    c->plans = kept;
    arena_reset(&s->scratch);
    return split;
}

static const struct split *played(const struct split *split, struct splitter *s, bool without_memory)
{
    struct play_input q = { .n_stages = split->n_stages, .without_memory = without_memory };
    memcpy(q.border, split->border, sizeof q.border);
    return memo_get(&s->played, play, &q, sizeof q, NULL).at;
}

/* Plays a division, without memory at first if the best one fits: if the division is slower than that, its memory does not matter. */
static void play_split(struct split *split, struct splitter *s, const struct split *best)
{
    const struct split *timed = best && best->valid && best->fits ? played(split, s, true) : NULL;
    s->n_attempts++;
    *split = timed && (!timed->valid || timed->step_cycles >= best->step_cycles) ? *timed : *played(split, s, false);
}

static bool split_is_better(const struct split *a, const struct split *b)
{
    if (a->valid != b->valid)
        return a->valid;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits && a->shortfall != b->shortfall)
        return a->shortfall < b->shortfall;
    return a->step_cycles < b->step_cycles;
}

/* Moves the borders from `first` to `last` by this many units; false if borders would cross. */
static bool shift(struct split *out, const struct split *from, uint32_t first, uint32_t last, int by)
{
    *out = *from;
    for (uint32_t i = first; i <= last; i++)
        out->border[i] += (uint32_t)by;         /* a border below zero wraps to a large number, which the check refuses */
    return out->border[first - 1] <= out->border[first] && out->border[first] <= out->border[last] && out->border[last] <= out->border[last + 1];
}

/* Takes the first shift of this many neighbouring borders that makes the division better; false if none does. */
static bool improve_once(struct split *best, struct splitter *s, uint32_t n_borders)
{
    static const int steps[] = { 1, -1, 2, -2 };
    for (uint32_t first = 1; first + n_borders <= best->n_stages; first++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            struct split other;
            if (s->n_attempts >= s->most_attempts || !shift(&other, best, first, first + n_borders - 1, steps[k]))
                continue;
            play_split(&other, s, best);
            if (!split_is_better(&other, best))
                continue;
            *best = other;
            return true;
        }
    return false;
}

/* Moves single borders as long as that helps, then two neighbours together, then three, and so on. */
static void improve(struct split *best, struct splitter *s)
{
    for (uint32_t n = 1; best->valid && n < best->n_stages; )
        n = improve_once(best, s, n) ? 1 : n + 1;
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

/* ---- dividing --------------------------------------------------------------------------------------------- */

/* A division depends on the graph, the machine with its faults, and the whole request. */
MEMO_INPUT(split_input, struct owned request; uint64_t most_attempts;);
struct settled_split { uint32_t n_stages; struct stage_size sizes[MAX_STAGES]; };

static const void *find_division(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct split_input *q = input;
    const struct plan_request *opt = q->request.at;
    struct plan even;
    struct splitter s = { .compiler = c, .asked = opt, .most_attempts = q->most_attempts ? (uint32_t)q->most_attempts : MOST_ATTEMPTS };
    memo_start(&s.played, &s, &s.kept);
    if (!plan_build(&even, c, opt, &s.kept, err)) {
        arena_free(&s.kept);
        return NULL;
    }
    units_of_plan(&s.units, &even, &s.kept);
    struct split best = split_of(&even, &s.units);
    play_split(&best, &s, NULL);
    for (int alone = 0; alone < 2; alone++) {
        struct split other = split_balanced(&s.units, c->chip, opt, opt->ipus_per_replica, alone);
        if (!other.valid)
            continue;
        play_split(&other, &s, NULL);
        improve(&other, &s);
        if (split_is_better(&other, &best))
            best = other;
        s.n_attempts = 0;
    }
    improve(&best, &s);
    struct plan_request settled;
    name_stages(&settled, &s, &best);
    struct settled_split *out = ARENA_NEW(c->arena, struct settled_split);
    memcpy(out->sizes, settled.stage_sizes, sizeof out->sizes);
    out->n_stages = settled.n_stages;
    arena_free(&s.scratch);
    arena_free(&s.kept);
    return out;
}

/* A copy of the request with texts that the memo owns, and with the machine's faults. */
static struct owned own_request(struct compiler *c, const struct plan_request *r)
{
    struct plan_request own;
    memcpy(&own, r, sizeof own);
    for (uint32_t i = 0; i < MAX_CHECKPOINTS; i++)
        own.checkpoints[i] = i < r->n_checkpoints ? memo_own(&c->memo, r->checkpoints[i], strlen(r->checkpoints[i]) + 1).at : NULL;
    own.framework_name = NULL;
    own.faults = r->faults ? c->topology->faults : NULL;
    return memo_own(&c->memo, &own, sizeof own);
}

bool split_layers(struct plan_request *opt, struct compiler *c, uint32_t most_attempts, struct err *err)
{
    if (opt->n_stages || opt->ipus_per_replica < 2)
        return true;
    const struct split_input q = { own_request(c, opt), most_attempts };
    const struct settled_split *found = memo_get(&c->memo, find_division, &q, sizeof q, err).at;
    if (!found)
        return false;
    opt->n_stages = found->n_stages;
    memcpy(opt->stage_sizes, found->sizes, sizeof found->sizes);
    return true;
}

void split_text(char *out, size_t n, const struct plan_request *o)
{
    size_t at = 0;
    for (uint32_t s = 0; s < o->n_stages && at < n; s++) {
        const uint32_t *parts = o->stage_sizes[s].part_count;
        at += (size_t)snprintf(out + at, n - at, parts[0] == parts[1] ? "%s%u" : "%s%u/%u", s ? "," : "", parts[0], parts[1]);
    }
}
