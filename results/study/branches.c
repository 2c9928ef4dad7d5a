/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * branches.c - what is tried, what is compiled for it, and the bound of each branch.
 *
 * A branch is a compiled graph (micro-batch, memory share, I/O tiles, and whatever else values are given for) on a shape (IPUs of a
 * replica, replicas) with recomputation, schedule and the optimizer's place: what its layouts are judged under. When a layout's step
 * of G micro-batches takes at least T cycles, it makes at most micro-batch x replicas x G / (T / clock) samples a second; training takes
 * at least its samples over that rate, and energy at least that time's.
 */
#include "results/study/branches.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is usually tried. The recipe's own values join them. */
static const struct dimension usual[N_USUAL] = {
    [MICRO_BATCH] = { "parallel.micro_batch", { "1", "2", "3", "4", "6", "8", "12", "16", "20", "24", "32", "48" }, 12 },
    [MEMORY]      = { "parallel.available_memory", { "0.03", "0.06", "0.09", "0.12", "0.15", "0.2", "0.25", "0.3", "0.4", "0.6" }, 10 },
    [IO_TILES]    = { "parallel.io_tiles", { "0", "32" }, 2 },
    [WIDTH]       = { "parallel.ipus_per_replica", { "1", "2", "4", "8", "16" }, 5 },
    [RECOMPUTE]   = { "parallel.recompute", { "none", "stage", "layer" }, 3 },
    [SCHEDULE]    = { "parallel.schedule", { "popart", "grouped", "interleaved", "sequential" }, 4 },
    [OPTIMIZER]   = { "parallel.optimizer_state", { "on-chip", "streaming" }, 2 },
    [SHARDING]    = { "parallel.rts", { "no", "yes" }, 2 },
    [STASH]       = { "parallel.stash_type", { NULL }, 0 },
};

/* ---- dimensions ------------------------------------------------------------------------------------ */

static bool is_key(const char *setting, const char *key)
{
    size_t n = strlen(key);
    return strncmp(setting, key, n) == 0 && setting[n] == '=';
}

static const char *own_value(const struct state *s, const char *key)
{
    const struct ini_entry *e = recipe_entry(&s->recipe, key);
    return e ? e->value : NULL;
}

bool is_set(const struct search_request *q, const char *key)
{
    for (size_t i = 0; i < q->n_sets; i++)
        if (is_key(q->sets[i], key))
            return true;
    return false;
}

static const struct dimension *given_for(const struct search_request *q, const char *key)
{
    for (size_t i = 0; i < q->n_given; i++)
        if (text_is(q->given[i].key, key))
            return &q->given[i];
    return NULL;
}

/* Beside usual values, which leave room for it. A list of shares, one an IPU, is no single value: the recipe as it stands is tried by itself. */
static void add_own(struct state *s, struct dimension *d)
{
    const char *own = own_value(s, d->key);
    for (size_t i = 0; own && i < d->n; i++)
        if (text_is(d->values[i], own))
            return;
    if (!own || strchr(own, ','))
        return;
    assert(d->n < MAX_VALUES);
    d->values[d->n++] = arena_strdup(s->a, own);
}

static bool is_usual(const char *key)
{
    for (size_t i = 0; i < N_USUAL; i++)
        if (text_is(usual[i].key, key))
            return true;
    return false;
}

/* Schedules that its framework cannot run are no part of the space; a model that only infers has its own. */
static void drop_schedules(struct state *s, struct dimension *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->n && s->own.training; i++)
        if (framework_can(&s->framework, d->values[i]))
            d->values[kept++] = d->values[i];
    d->n = kept;
}

void settle_dimensions(struct state *s)
{
    const struct search_request *q = s->q;
    for (size_t i = 0; i < N_USUAL; i++) {
        struct dimension *d = &s->dimensions[s->n_dimensions++];
        const struct dimension *given = given_for(q, usual[i].key);
        const char *own = own_value(s, usual[i].key);
        *d = given ? *given : usual[i];
        if (!given && i == SCHEDULE)
            drop_schedules(s, d);
        if (!given && is_set(q, d->key)) {
            d->values[0] = own ? arena_strdup(s->a, own) : NULL;
            d->n = own != NULL;
        } else if (!given && d->n) {
            add_own(s, d);
        }
    }
    for (size_t i = 0; i < q->n_given; i++)
        if (!is_usual(q->given[i].key))
            s->dimensions[s->n_dimensions++] = q->given[i];
}

static const char *setting(const struct state *s, size_t dimension, size_t value)
{
    const struct dimension *d = &s->dimensions[dimension];
    return value < d->n ? arena_printf(s->a, "%s=%s", d->key, d->values[value]) : NULL;
}

/* ---- accumulation ------------------------------------------------------------------------------------- */

/* Whether the batch is good, or limited, for more than the throughput. */
static bool by_batch(const struct state *s)
{
    return s->q->objective != MAXIMISE_THROUGHPUT || s->q->throughput.high > 0;
}

/* Those that keep the batch within its limits; of many some, the least and the most among them. By throughput it is the most, as what a
 * step takes once is then shared by more samples (a law, and tested); or one, which adds up no gradients. */
static void find_accumulations(struct branch *b, const struct state *s)
{
    const struct search_request *q = s->q;
    double each = b->graph->micro_batch * b->replicas * s->samples_per_item, low = q->global_batch.low / each, high = q->global_batch.high / each;
    if (q->tokens.high > 0 && s->recipe.model.sequence_length) {
        double tokens = b->graph->micro_batch * b->replicas * (double)s->recipe.model.sequence_length;
        low = fmax(low, q->tokens.low / tokens);
        high = fmin(high, q->tokens.high / tokens);
    }
    b->n_accumulations = 0;
    double from = fmax(1, ceil(low - 1e-9)), to = fmin(1e6, floor(high + 1e-9));
    if (to < from)
        return;
    uint64_t least = (uint64_t)from, most = (uint64_t)to;
    if (!by_batch(s)) {
        b->accumulations[b->n_accumulations++] = most;
        if (least == 1 && most > 1)
            b->accumulations[b->n_accumulations++] = 1;
        return;
    }
    bool all = most - least < MOST_ACCUMULATIONS;
    for (uint64_t i = 0; i < (all ? most - least + 1 : MOST_ACCUMULATIONS); i++) {
        uint64_t g = all ? most - i : (uint64_t)round((double)most * pow((double)least / (double)most, (double)i / (MOST_ACCUMULATIONS - 1.0)));
        if (!b->n_accumulations || g != b->accumulations[b->n_accumulations - 1])
            b->accumulations[b->n_accumulations++] = g;
    }
}

/* The fewest samples that any of the branch's batches needs. */
static double least_samples(const struct state *s, const struct branch *b)
{
    double least = s->converges_by_batch ? INFINITY : s->samples;
    for (size_t i = 0; s->converges_by_batch && by_batch(s) && i < b->n_accumulations; i++) {
        struct recipe r = s->recipe;
        struct convergence c;
        r.model.micro_batch = (uint64_t)b->graph->micro_batch;
        r.gradient_accumulation = b->accumulations[i];
        r.replicas = b->replicas;
        if (simulator_convergence(&c, s->q->simulator, &r, NULL))
            least = fmin(least, expected_training(&r, &c).samples);
    }
    return least;
}

/* ---- bounds ---------------------------------------------------------------------------------------------- */

double bound_of(const struct state *s, const struct branch *b, uint64_t accumulation, double cycles)
{
    double rate = b->graph->micro_batch * b->replicas * s->samples_per_item * (double)accumulation * b->graph->clock_hz / cycles;
    double ipus = (double)b->width * b->replicas;
    switch (s->q->objective) {
    case MAXIMISE_THROUGHPUT:    return rate;
    case MINIMISE_TIME_TO_TRAIN: return b->samples / rate;
    case MINIMISE_ENERGY:        return b->samples / rate * s->power_w * ipus;
    default:                     return rate >= s->q->throughput.low * (1 - 1e-9) ? ipus : INFINITY;
    }
}

/* The least of any layout, with what the host's call takes on top; and of those that fit, where they have been looked for. */
void set_bound(const struct state *s, struct branch *b)
{
    uint64_t least = least_step_cycles(&b->graph->work, &b->rules, b->width);
    uint64_t fitting = b->least_cycles + b->rules.grad_accum * b->rules.each_cycles + b->rules.once_cycles;
    b->bound = bound_of(s, b, b->accumulations[0], (double)max_u64(least, fitting));
}

int by_bound(const void *x, const void *y, void *user)
{
    const struct branch *a = x, *b = y;
    const struct state *s = user;
    if (a->bound != b->bound)
        return better(s->q->objective, a->bound, b->bound) ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* ---- compiled graphs --------------------------------------------------------------------------------------- */

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

static bool is_compiled(size_t dimension)
{
    return dimension < WIDTH || dimension >= N_USUAL;
}

/* By a run on one IPU: fitting is no matter. */
static void compile_one(void *user, size_t i, struct simulator *by)
{
    struct state *s = user;
    struct compiled_graph *g = &s->graphs[i];
    struct simulation sim;
    struct result r;
    const char *all[MAX_SETTINGS] = { "parallel.replicas=1", "parallel.ipus_per_replica=1", "parallel.layers_per_ipu=", "parallel.gradient_accumulation=64",
                                      "parallel.rts=no", "parallel.optimizer_state=on-chip", "training.eval_samples=" };
    size_t n = 7;
    if (g->tried)
        return;
    g->tried = true;
    for (size_t k = 0; k < g->n_settings; k++)
        all[n++] = g->settings[k];
    g->refused = !search_simulate(&sim, &r, by, s->q, all, n, NULL);
    if (g->refused)
        return;
    g->micro_batch = (double)sim.graph->micro_batch;
    g->clock_hz = sim.machine->chip.clock_hz;
    g->state_bytes_per_param = sim.plan.options.optimizer.state_bytes_per_param;
    bool works = layer_work_of(&g->work, &sim.plan, sim.compiler, &g->arena);
    g->hopeless = works && activations_fill_a_tile(&g->work, s->own.training);
    g->usable = works && !g->hopeless;
    simulation_free(&sim);
}

static void list_graphs(struct state *s)
{
    s->n_graphs = 1;
    for (size_t i = 0; i < s->n_dimensions; i++)
        s->n_graphs *= is_compiled(i) ? at_least_one(s->dimensions[i].n) : 1;
    s->graphs = ARENA_ARRAY(s->a, struct compiled_graph, s->n_graphs);
    for (size_t g = 0; g < s->n_graphs; g++) {
        size_t at = g;
        for (size_t i = s->n_dimensions; i-- > 0; ) {
            if (!is_compiled(i))
                continue;
            const char *chosen = setting(s, i, at % at_least_one(s->dimensions[i].n));
            at /= at_least_one(s->dimensions[i].n);
            if (chosen)
                s->graphs[g].settings[s->graphs[g].n_settings++] = chosen;
        }
    }
}

/* The first graph of a micro-batch tells whether its activations fit at all: no other share of memory makes them smaller. */
void compile_graphs(struct state *s)
{
    size_t n_first = at_least_one(s->dimensions[MICRO_BATCH].n), each;
    list_graphs(s);
    each = s->n_graphs / n_first;
    bool alike = s->n_dimensions == N_USUAL;        /* no other key is in it */
    struct compiled_graph *all = s->graphs, *first = ARENA_ARRAY(s->a, struct compiled_graph, n_first);
    for (size_t m = 0; m < n_first; m++)
        first[m] = all[m * each];
    s->graphs = first;
    crew_run(&s->crew, n_first, 1, compile_one, s);
    s->graphs = all;
    for (size_t m = 0; m < n_first; m++) {
        all[m * each] = first[m];
        for (size_t k = 1; k < each && alike; k++)
            all[m * each + k].tried = first[m].hopeless;
    }
    crew_run(&s->crew, s->n_graphs, 1, compile_one, s);
    for (size_t g = 0; g < s->n_graphs; g++)
        s->out->n_refused += all[g].refused;
}

/* ---- branches -------------------------------------------------------------------------------------------- */

static void add_branch(struct state *s, const struct branch *b)
{
    s->branches = arena_grow(s->a, s->branches, s->n_branches, &s->cap_branches, sizeof *s->branches);
    s->branches[s->n_branches] = *b;
    struct branch *kept = &s->branches[s->n_branches];
    find_accumulations(kept, s);
    if (!kept->n_accumulations)
        return;
    uint64_t least = kept->accumulations[kept->n_accumulations - 1];
    kept->rules.grad_accum = kept->accumulations[0];
    kept->rules.accumulates = least > 1;
    kept->rules.keeps_gradients = least > 1 || kept->replicas > 1;
    kept->rules.state_bytes_per_param = b->on_chip && s->own.training ? b->graph->state_bytes_per_param / (b->sharded ? b->replicas : 1) : 0;
    kept->number = (uint32_t)s->n_branches;
    kept->samples = least_samples(s, kept);
    set_bound(s, kept);
    s->n_branches++;
}

/* Numbers of IPUs to try: the limit, and the powers of two within it. */
static void add_shapes(struct state *s, struct branch *b)
{
    const struct limit *l = &s->q->ipus;
    if (b->width > b->graph->work.n_body + (b->width == 1) || b->width > MAX_STAGES / 2)
        return;
    for (double n = l->high; n >= l->low && n >= (double)b->width; n = n == l->high && exp2(floor(log2(n))) < n ? exp2(floor(log2(n))) : n / 2)
        if (fmod(n, (double)b->width) == 0 && n / (double)b->width <= UINT32_MAX) {     /* a limit may have no upper end */
            b->replicas = (uint32_t)(n / (double)b->width);
            add_branch(s, b);
        }
}

static int index_of(const char *const *names, int n, const char *name, int otherwise)
{
    for (int i = 0; i < n; i++)
        if (text_is(names[i], name))
            return i;
    return otherwise;
}

/* A value as the layouts' rules have it. */
static void apply(struct branch *b, const struct state *s, size_t dimension, const char *value)
{
    struct layout_rules *r = &b->rules;
    uint64_t width;
    switch (dimension) {
    case WIDTH:     b->width = parse_u64(value, &width) && width <= MAX_STAGES ? (uint32_t)width : 0; break;
    case RECOMPUTE: r->recompute = s->own.training ? (enum recompute)index_of(recompute_names, N_RECOMPUTES, value, RECOMPUTE_CHECKPOINTS) : RECOMPUTE_NONE; break;
    case SCHEDULE:  r->schedule = (enum schedule)index_of(schedule_names, N_SCHEDULES, value, SCHEDULE_INTERLEAVED); break;
    case OPTIMIZER: b->on_chip = text_is(value, "on-chip"); break;
    case SHARDING:  b->sharded = !text_is(value, "no"); break;
    case STASH:     r->stash_is_known = false; r->half_stash = true; break;
    default:        break;
    }
}

/* On one IPU there is nothing to schedule or to stash. */
static bool is_idle(size_t dimension, size_t value, const struct branch *b)
{
    return b->width == 1 && (dimension == SCHEDULE || dimension == STASH) && value > 0;
}

static void add_branches(struct state *s, const struct compiled_graph *g, size_t number)
{
    struct branch b = { .graph = g, .rules = s->own, .on_chip = s->recipe.optimizer_state == OPTIMIZER_ON_CHIP, .sharded = s->recipe.rts != RTS_NO,
                        .width = (uint32_t)s->recipe.ipus_per_replica };
    for (size_t i = WIDTH; i < N_USUAL; i++) {
        size_t n = at_least_one(s->dimensions[i].n), value = number % n;
        number /= n;
        if (is_idle(i, value, &b))
            return;
        if (!s->dimensions[i].n)
            continue;
        apply(&b, s, i, s->dimensions[i].values[value]);
        if (i != WIDTH)
            b.settings[b.n_settings++] = setting(s, i, value);
    }
    if (b.width)
        add_shapes(s, &b);
}

void list_branches(struct state *s)
{
    size_t n = 1;
    for (size_t i = WIDTH; i < N_USUAL; i++)
        n *= at_least_one(s->dimensions[i].n);
    for (size_t g = 0; g < s->n_graphs; g++)
        for (size_t i = 0; i < n && s->graphs[g].usable; i++)
            add_branches(s, &s->graphs[g], i);
    if (s->n_branches)
        qsort_r(s->branches, s->n_branches, sizeof *s->branches, by_bound, s);
}
