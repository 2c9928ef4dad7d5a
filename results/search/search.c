/*
 * search.c - dimensions, branches and their bounds, and what was found.
 *
 * A branch is a compiled graph (micro-batch, memory share, I/O tiles, and whatever else values are given for) on a shape (IPUs of a
 * replica, replicas) with recomputation, schedule and the optimizer's place: what its layouts are judged under. When a layout's step
 * of G micro-batches takes at least T cycles, it makes at most micro-batch x replicas x G / (T / clock) samples a second; training takes
 * at least its samples over that rate, and energy at least that time's. Branches are taken best bound first, in each the layouts with
 * the shortest step first, so that the first bound that is no better than the best known ends it. Before that each branch's even cut
 * is tried alone: it tells what the host's call takes, and a good configuration known early leaves most branches unopened.
 * Configurations are simulated in rounds, on all threads; what is left out is decided between rounds, so that threads change nothing.
 */
#include "results/search/search.h"
#include "results/search/layouts.h"
#include "results/simulate/crew.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const objective_names[N_OBJECTIVES] = { "throughput", "time-to-train", "energy", "ipus" };

/* What is usually tried. The recipe's own values join them. Those before WIDTH, and keys that are not here, are compiled each for itself. */
enum { MICRO_BATCH, MEMORY, IO_TILES, WIDTH, RECOMPUTE, SCHEDULE, OPTIMIZER, SHARDING, STASH, N_USUAL };
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
enum { MOST_LAYOUTS = 32768, MOST_ACCUMULATIONS = 12, ROUND = 256, CHUNK = 4, BRANCHES_AT_ONCE = 32 };

/* A graph as compiled. */
struct compiled_graph {
    const char *settings[MAX_DIMENSIONS]; size_t n_settings;
    struct layer_work work;
    double micro_batch, clock_hz, state_bytes_per_param;
    bool refused, hopeless, usable;     /* hopeless: one layer's activations alone fill a tile */
    struct arena arena;
};

struct branch {
    const struct compiled_graph *graph;
    const char *settings[N_USUAL]; size_t n_settings;
    struct layout_rules rules;
    bool on_chip, sharded;              /* the optimizer's state */
    uint32_t width, replicas, number;   /* number: in the order they were listed */
    uint64_t accumulations[MOST_ACCUMULATIONS + 1]; size_t n_accumulations;     /* the most first */
    double samples, bound;              /* the fewest to converge; of the objective */
    uint64_t least_cycles;              /* of a step, before the host's call is known */
    bool closed;                        /* nothing of it fits and may be better */
};

/* One configuration to simulate, and what came of it. */
struct trial {
    const char *settings[MAX_SETTINGS]; size_t n;
    struct branch *probed;              /* whose host's call is asked for; NULL: none's */
    bool refused;
    struct result r;
    char system[128];
    uint64_t once_cycles, each_cycles, floor_cycles;
};

struct state {
    const struct search_request *q;
    struct search_result *out;
    struct crew crew;
    struct arena *a;
    struct recipe recipe;               /* as it stands */
    struct layout_rules own;            /* its own */
    struct framework framework;
    double samples_per_item, samples, power_w;      /* samples: to converge, where they do not depend on the batch; power: of one IPU */
    bool converges_by_batch;
    struct dimension dimensions[MAX_DIMENSIONS]; size_t n_dimensions;
    struct compiled_graph *graphs; size_t n_graphs;
    struct branch *branches; size_t n_branches, cap_branches;
    struct trial *round; size_t n_round;
    struct arena round_arena;
    bool stopped, any_open;
    double open_bound;                  /* the best of what was left out */
};

/* ---- values ------------------------------------------------------------------------------------ */

static bool maximised(enum objective o)
{
    return o == MAXIMISE_THROUGHPUT;
}

static bool better(enum objective o, double x, double than)
{
    return maximised(o) ? x > than : x < than;
}

static double value_of(enum objective o, const struct result *r)
{
    const double values[] = { r->throughput_samples_per_s, r->time_to_train_s, r->energy_j, (double)r->ipus };
    return values[o];
}

static double tokens_of(const struct state *s, const struct result *r)
{
    return r->global_batch / s->samples_per_item * (double)s->recipe.model.sequence_length;
}

static bool within(const struct limit *l, double x)
{
    return l->high == 0 || (x >= l->low * (1 - 1e-9) && x <= l->high * (1 + 1e-9));
}

static bool counts(const struct state *s, const struct result *r)
{
    const struct search_request *q = s->q;
    return r->fits && within(&q->ipus, (double)r->ipus) && within(&q->global_batch, r->global_batch) && within(&q->tokens, tokens_of(s, r))
        && within(&q->throughput, r->throughput_samples_per_s) && value_of(q->objective, r) > 0;
}

static struct found copied(const struct state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct found f = { .r = *r, .value = value_of(s->q->objective, r), .n_settings = n };
    f.r.id = s->recipe.id;
    f.r.workload = s->recipe.workload;
    f.r.system = arena_strdup(s->a, r->system);
    for (size_t i = 0; i < n; i++)
        f.settings[i] = arena_strdup(s->a, settings[i]);
    return f;
}

/* Kept where nothing has a value as good with as little memory. */
static void join_front(struct state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct search_result *out = s->out;
    double value = value_of(s->q->objective, r);
    size_t kept = 0;
    for (size_t i = 0; i < out->n_front; i++) {
        const struct found *f = &out->front[i];
        if (!better(s->q->objective, value, f->value) && f->r.memory_peak_bytes_per_tile <= r->memory_peak_bytes_per_tile)
            return;
    }
    for (size_t i = 0; i < out->n_front; i++) {
        const struct found *f = &out->front[i];
        if (better(s->q->objective, f->value, value) || f->r.memory_peak_bytes_per_tile < r->memory_peak_bytes_per_tile)
            out->front[kept++] = *f;
    }
    out->n_front = kept;
    if (out->n_front < MAX_FRONT)
        out->front[out->n_front++] = copied(s, r, settings, n);
}

static void take(struct state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct search_result *out = s->out;
    if (!counts(s, r))
        return;
    join_front(s, r, settings, n);
    if (out->any && !better(s->q->objective, value_of(s->q->objective, r), out->best.value))
        return;
    out->best = copied(s, r, settings, n);
    out->any = true;
}

/* ---- rounds ---------------------------------------------------------------------------------------- */

static bool simulate_with(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                          size_t n, struct err *err)
{
    const char *all[MAX_SETTINGS + 64];
    size_t n_all = 0;
    for (size_t i = 0; i < q->n_sets && n_all < 64; i++)
        all[n_all++] = q->sets[i];
    for (size_t i = 0; i < n; i++)
        all[n_all++] = settings[i];
    return simulator_run(by, sim, r, q->recipe, all, n_all, err);
}

/* What the host's call takes does not depend on where the layers are. */
static void take_call(struct trial *t, const struct plan *p)
{
    uint64_t n = p->options.grad_accum;
    for (int i = 0; i < N_CALL_PARTS; i++)
        t->once_cycles += i == CALL_DATA ? 0 : p->call_cycles[i];
    t->each_cycles = p->call_cycles[CALL_DATA] / n;
    t->floor_cycles = p->host_floor_cycles / n;
}

static void run_trial(void *user, size_t i, struct simulator *by)
{
    struct state *s = user;
    struct trial *t = &s->round[i];
    struct simulation sim;
    t->refused = !simulate_with(&sim, &t->r, by, s->q, t->settings, t->n, NULL);
    if (t->refused)
        return;
    snprintf(t->system, sizeof t->system, "%s", t->r.system);
    t->r.system = t->system;
    take_call(t, &sim.plan);
    simulation_free(&sim);
}

static void take_trial(struct state *s, const struct trial *t)
{
    s->out->n_simulated++;
    if (t->refused) {
        s->out->n_refused++;
        return;
    }
    if (t->probed) {
        t->probed->rules.once_cycles = t->once_cycles;
        t->probed->rules.each_cycles = t->each_cycles;
        t->probed->rules.floor_cycles = t->floor_cycles;
    }
    s->out->n_unfit += !t->r.fits;
    take(s, &t->r, t->settings, t->n);
}

/* Simulates what was gathered, and takes it in the order it was gathered in. */
static void end_round(struct state *s)
{
    uint64_t left = s->q->most > s->out->n_simulated ? s->q->most - s->out->n_simulated : 0;
    s->stopped |= s->n_round > left;
    s->n_round = s->n_round < left ? s->n_round : left;
    crew_run(&s->crew, s->n_round, CHUNK, run_trial, s);
    for (size_t i = 0; i < s->n_round; i++)
        take_trial(s, &s->round[i]);
    s->n_round = 0;
    arena_reset(&s->round_arena);
    if (s->q->progress)
        s->q->progress(s->q->user, s->out->n_simulated, s->q->most);
}

/* layout: as parallel.layers_per_ipu has it; "": even. */
static void gather(struct state *s, struct branch *b, const char *layout, uint64_t accumulation, bool probe)
{
    struct arena *a = &s->round_arena;
    struct trial *t = &s->round[s->n_round++];
    *t = (struct trial){ .probed = probe ? b : NULL };
    for (size_t i = 0; i < b->graph->n_settings; i++)
        t->settings[t->n++] = b->graph->settings[i];
    for (size_t i = 0; i < b->n_settings; i++)
        t->settings[t->n++] = b->settings[i];
    t->settings[t->n++] = arena_printf(a, "parallel.ipus_per_replica=%u", b->width);
    t->settings[t->n++] = arena_printf(a, "parallel.replicas=%u", b->replicas);
    t->settings[t->n++] = arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, accumulation);
    t->settings[t->n++] = arena_printf(a, "parallel.layers_per_ipu=%s", b->width > 1 ? layout : "");
    if (s->n_round == ROUND)
        end_round(s);
}

/* ---- dimensions ------------------------------------------------------------------------------------ */

static bool is_key(const char *setting, const char *key)
{
    size_t n = strlen(key);
    return strncmp(setting, key, n) == 0 && setting[n] == '=';
}

static const char *own_value(const struct state *s, const char *key)
{
    const char *dot = strchr(key, '.');
    for (size_t i = 0; i < s->recipe.n_entries; i++) {
        const struct ini_entry *e = &s->recipe.entries[i];
        if (strlen(e->section) == (size_t)(dot - key) && strncmp(e->section, key, (size_t)(dot - key)) == 0 && text_is(e->key, dot + 1))
            return e->value;
    }
    return NULL;
}

static bool is_set(const struct search_request *q, const char *key)
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

/* A list of shares, one an IPU, is no single value: the recipe as it stands is tried by itself. */
static void add_own(struct state *s, struct dimension *d)
{
    const char *own = own_value(s, d->key);
    for (size_t i = 0; own && i < d->n; i++)
        if (text_is(d->values[i], own))
            return;
    if (own && !strchr(own, ',') && d->n < MAX_VALUES)
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

static void settle_dimensions(struct state *s)
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
        if (!is_usual(q->given[i].key) && s->n_dimensions < MAX_DIMENSIONS)
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
    uint64_t least = (uint64_t)fmax(1, ceil(low - 1e-9)), most = (uint64_t)fmin(1e6, floor(high + 1e-9));
    b->n_accumulations = 0;
    if (most < least)
        return;
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

/* Of the objective, where a step of so many micro-batches takes so many cycles. */
static double bound_of(const struct state *s, const struct branch *b, uint64_t accumulation, double cycles)
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

/* The longest step of the most micro-batches that could still beat the best known. */
static uint64_t below(const struct state *s, const struct branch *b)
{
    enum objective o = s->q->objective;
    if (s->out->whole || (!s->out->any && o != MINIMISE_IPUS))
        return UINT64_MAX;
    double rate = b->graph->micro_batch * b->replicas * s->samples_per_item * (double)b->accumulations[0] * b->graph->clock_hz;
    double at_one = o == MINIMISE_IPUS ? rate : bound_of(s, b, b->accumulations[0], 1), best = s->out->best.value;
    double most = o == MINIMISE_IPUS ? rate / (s->q->throughput.low * (1 - 1e-9)) + 1 : maximised(o) ? at_one / best : best / at_one;
    return most < 1e18 ? (uint64_t)ceil(most * (1 + 1e-12)) : UINT64_MAX;
}

static bool may_be_better(const struct state *s, double bound)
{
    return s->out->whole || !s->out->any || better(s->q->objective, bound, s->out->best.value);
}

/* The least of any layout, with what the host's call takes on top; and of those that fit, where they have been looked for. */
static void set_bound(const struct state *s, struct branch *b)
{
    uint64_t least = least_step_cycles(&b->graph->work, &b->rules, b->width);
    uint64_t fitting = b->least_cycles + b->rules.grad_accum * b->rules.each_cycles + b->rules.once_cycles;
    b->bound = bound_of(s, b, b->accumulations[0], (double)max_u64(least, fitting));
}

static void leave_open(struct state *s, double bound)
{
    if (!s->any_open || better(s->q->objective, bound, s->open_bound))
        s->open_bound = bound;
    s->any_open = true;
}

static int by_bound(const void *x, const void *y, void *user)
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
    if (g->hopeless || g->usable || g->refused)
        return;
    for (size_t k = 0; k < g->n_settings; k++)
        all[n++] = g->settings[k];
    g->refused = !simulate_with(&sim, &r, by, s->q, all, n, NULL);
    if (g->refused)
        return;
    g->micro_batch = (double)sim.graph->micro_batch;
    g->clock_hz = sim.machine->chip.clock_hz;
    g->state_bytes_per_param = sim.plan.options.optimizer.state_bytes_per_param;
    g->usable = layer_work_of(&g->work, &sim.plan, sim.compiler, &g->arena);
    g->hopeless = g->usable && activations_fill_a_tile(&g->work, s->own.training);
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
static void compile_graphs(struct state *s)
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
            all[m * each + k].hopeless = first[m].hopeless;
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
        if (fmod(n, (double)b->width) == 0) {
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

static void list_branches(struct state *s)
{
    size_t n = 1;
    for (size_t i = WIDTH; i < N_USUAL; i++)
        n *= at_least_one(s->dimensions[i].n);
    for (size_t g = 0; g < s->n_graphs; g++)
        for (size_t i = 0; i < n && s->graphs[g].usable && !s->graphs[g].hopeless; i++)
            add_branches(s, &s->graphs[g], i);
    if (s->n_branches)
        qsort_r(s->branches, s->n_branches, sizeof *s->branches, by_bound, s);
}

/* ---- the search -------------------------------------------------------------------------------------------- */

struct opened { struct state *s; const struct branch *branches; size_t most; struct layouts layouts[BRANCHES_AT_ONCE]; struct arena arenas[BRANCHES_AT_ONCE]; };

static void open_branch(void *user, size_t i, struct simulator *by)
{
    struct opened *o = user;
    const struct branch *b = &o->branches[i];
    (void)by;
    layouts_list(&o->layouts[i], &b->graph->work, &b->rules, b->width, below(o->s, b), o->most, &o->arenas[i]);
}

static size_t count_better(const struct state *s, size_t first, size_t most)
{
    size_t n = 0;
    while (n < most && first + n < s->n_branches && may_be_better(s, s->branches[first + n].bound))
        n++;
    return n;
}

static void close_branches(struct state *s)
{
    size_t n = s->n_branches;
    s->n_branches = 0;
    for (size_t i = 0; i < n; i++)
        if (!s->branches[i].closed)
            s->branches[s->n_branches++] = s->branches[i];
    s->out->n_bounded += n - s->n_branches;
    for (size_t i = 0; i < s->n_branches; i++)
        set_bound(s, &s->branches[i]);
    if (s->n_branches)
        qsort_r(s->branches, s->n_branches, sizeof *s->branches, by_bound, s);
}

/* Every branch's best layout, best bound first: as long as there may be better. */
static void probe(struct state *s)
{
    for (size_t i = 0, n; !s->stopped && (n = count_better(s, i, BRANCHES_AT_ONCE)) > 0; i += n) {
        struct opened o = { .s = s, .branches = s->branches + i, .most = 2 };
        crew_run(&s->crew, n, 1, open_branch, &o);
        for (size_t k = 0; k < n; k++) {
            struct branch *b = &s->branches[i + k];
            const struct layouts *l = &o.layouts[k];
            b->closed = !l->n && !l->n_dropped;
            b->least_cycles = min_u64(l->n ? l->items[0].step_cycles : UINT64_MAX, l->least_dropped);
            if (l->n && !s->stopped)
                gather(s, b, layout_text(&b->graph->work, &l->items[0], &o.arenas[k]), b->accumulations[0], true);
            arena_free(&o.arenas[k]);
        }
        end_round(s);
    }
    close_branches(s);
}

static void try_layouts(struct state *s, struct branch *b, const struct layouts *l, struct arena *a)
{
    size_t i = 0;
    for (; i < l->n && !s->stopped; i++) {
        const struct layout *at = &l->items[i];
        if (!may_be_better(s, bound_of(s, b, b->accumulations[0], (double)at->step_cycles)))
            break;
        const char *text = layout_text(&b->graph->work, at, a);
        for (size_t k = 0; k < b->n_accumulations && !s->stopped; k++) {
            uint64_t g = b->accumulations[k];
            if (may_be_better(s, bound_of(s, b, g, (double)(g * at->each_cycles + at->once_cycles))))
                gather(s, b, text, g, false);
        }
    }
    if (!s->stopped)
        end_round(s);
    if (s->stopped && i < l->n)
        leave_open(s, bound_of(s, b, b->accumulations[0], (double)l->items[i ? i - 1 : 0].step_cycles));
    if (l->n_dropped)
        leave_open(s, bound_of(s, b, b->accumulations[0], (double)l->least_dropped));
}

static void search_branches(struct state *s)
{
    size_t i = 0;
    while (i < s->n_branches && !s->stopped && may_be_better(s, s->branches[i].bound)) {
        struct opened o = { .s = s, .branches = s->branches + i, .most = MOST_LAYOUTS };
        size_t n = count_better(s, i, BRANCHES_AT_ONCE);
        crew_run(&s->crew, n, 1, open_branch, &o);
        for (size_t k = 0; k < n; k++, i += !s->stopped) {
            if (!s->stopped)
                try_layouts(s, &s->branches[i], &o.layouts[k], &o.arenas[k]);
            arena_free(&o.arenas[k]);
        }
    }
    s->out->n_bounded += s->n_branches - i;
    if (s->stopped && i < s->n_branches)
        leave_open(s, s->branches[i].bound);
}

/* Cuts of n places into `width` stages, heads on the last IPU or back on the first. */
static double count_cuts(double n, double width)
{
    return width < 2 ? 1 : 2 * round(exp(lgamma(n + 1) - lgamma(width) - lgamma(n - width + 2)));
}

static void search_all(struct state *s)
{
    struct search_result *out = s->out;
    for (size_t i = 0; i < s->n_branches; i++)
        out->space += count_cuts(s->branches[i].graph->work.n_body, s->branches[i].width) * (double)s->branches[i].n_accumulations;
    out->whole = out->space <= (double)s->q->exhaustive;
    if (!out->whole)
        probe(s);
    search_branches(s);
    bool open = s->any_open && (!out->any || better(s->q->objective, s->open_bound, out->best.value));
    out->exact = !open;
    out->best_bound = open ? s->open_bound : 0;
    out->whole &= !s->any_open;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static void settle_limits(struct search_request *q, const struct result *own)
{
    if (q->ipus.high == 0)
        q->ipus = (struct limit){ (double)own->ipus, (double)own->ipus };
    if (q->global_batch.high == 0 && q->tokens.high == 0)
        q->global_batch = (struct limit){ own->global_batch * 0.95, own->global_batch * 1.05 };
    if (q->global_batch.high == 0)
        q->global_batch = (struct limit){ 1, 1e15 };
}

static void copy_recipe(struct state *s, const struct recipe *r)
{
    s->recipe = *r;
    s->recipe.id = arena_strdup(s->a, r->id);
    s->recipe.workload = arena_strdup(s->a, r->workload);
    s->recipe.entries = ARENA_ARRAY(s->a, struct ini_entry, r->n_entries + 1);
    for (size_t i = 0; i < r->n_entries; i++) {
        const struct ini_entry *e = &r->entries[i];
        s->recipe.entries[i] = (struct ini_entry){ arena_strdup(s->a, e->section), arena_strdup(s->a, e->key), arena_strdup(s->a, e->value), e->line };
    }
}

/* The recipe as it stands: what is not searched is as it has it. */
static void take_own(struct state *s, struct simulation *sim, const struct result *r)
{
    const struct plan_options *o = &sim->plan.options;
    copy_recipe(s, &sim->recipe);
    s->framework = sim->framework;
    s->framework.schedules = arena_strdup(s->a, sim->framework.schedules);
    s->own = (struct layout_rules){ .training = o->training, .recompute = o->training ? o->recompute : RECOMPUTE_NONE, .schedule = o->schedule,
                                    .stash_is_known = true, .half_stash = o->stash_type == TYPE_FP8, .grad_accum = o->grad_accum };
    s->samples_per_item = recipe_samples_per_item(&sim->recipe);
    s->samples = r->samples_to_converge;
    s->converges_by_batch = sim->recipe.converge != NULL;
    s->power_w = sim->machine->board_power_w / (double)sim->machine->ipus_per_board;
    s->out->own = copied(s, r, NULL, 0);
    s->out->own_counts = counts(s, r);
    s->out->n_simulated = 1;
    take(s, r, NULL, 0);
}

static bool check_request(const struct search_request *q, const struct simulation *sim, const struct result *r, struct err *err)
{
    bool timed = q->objective != MINIMISE_TIME_TO_TRAIN || r->time_to_train_s > 0;
    bool powered = q->objective != MINIMISE_ENERGY || r->energy_j > 0;
    if (is_set(q, "parallel.available_memory") && sim->recipe.available_memory && strchr(sim->recipe.available_memory, ','))
        return fail(err, "--set parallel.available_memory: a share for each IPU cannot be searched around; give one for all, or leave it out");
    return (timed && powered)
        || fail(err, "%s: has no %s: set training.converge=model, epochs or samples_to_converge%s", q->recipe, objective_names[q->objective],
                powered ? "" : "; energy wants board_power_w on the board's sheet too");
}

static void search_with_crew(struct state *s)
{
    crew_open(&s->crew, s->q->simulator->paths, s->q->n_threads ? s->q->n_threads : 1);
    for (uint32_t i = 0; i < s->crew.n; i++)
        s->crew.simulators[i].totals_only = s->crew.simulators[i].as_asked = true;
    s->round = ARENA_ARRAY(s->a, struct trial, ROUND);
    settle_dimensions(s);
    compile_graphs(s);
    list_branches(s);
    search_all(s);
    for (size_t g = 0; g < s->n_graphs; g++)
        arena_free(&s->graphs[g].arena);
    arena_free(&s->round_arena);
    crew_close(&s->crew);
}

bool search(struct search_result *out, const struct search_request *given, struct arena *a, struct err *err)
{
    struct search_request q = *given;
    struct state s = { .q = &q, .out = out, .a = a };
    struct simulation sim;
    struct result r;
    *out = (struct search_result){0};
    if (!simulate_with(&sim, &r, q.simulator, &q, NULL, 0, err))
        return false;
    settle_limits(&q, &r);
    bool good = check_request(&q, &sim, &r, err);
    if (good)
        take_own(&s, &sim, &r);
    simulation_free(&sim);
    if (good)
        search_with_crew(&s);
    return good;
}
