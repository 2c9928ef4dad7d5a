/*
 * search.c - dimensions, branches and their bounds, and what was found.
 *
 * A branch is a compiled graph (micro-batch, memory share, I/O tiles) with a kind of recomputation on a shape (IPUs of a replica,
 * replicas). With b cycles on the
 * busiest IPU no configuration of the branch makes more than micro-batch x replicas / (b / clock) samples a second; training takes at
 * least its samples over that rate, and energy at least that time's. Branches are taken best bound first, and in each the cuts with
 * the shortest busiest IPU first, so that the first bound that is no better than the best known ends it. Before that each branch's
 * best cut is tried alone: a good configuration known early leaves most branches unopened.
 */
#include "results/search/search.h"
#include "results/search/layouts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const objective_names[N_OBJECTIVES] = { "throughput", "time-to-train", "energy", "ipus" };

/* What is usually tried. The recipe's own values join them. */
enum { MICRO_BATCH, MEMORY, IO_TILES, WIDTH, RECOMPUTE, FIRST_FREE };
static const struct dimension usual[] = {
    { "parallel.micro_batch", { "1", "2", "3", "4", "6", "8", "12", "16", "20", "24", "32", "48" }, 12 },
    { "parallel.available_memory", { "0.1", "0.2", "0.3", "0.6" }, 4 },
    { "parallel.io_tiles", { "0", "32" }, 2 },
    { "parallel.ipus_per_replica", { "1", "2", "4", "8", "16" }, 5 },
    { "parallel.recompute", { "none", "stage", "layer" }, 3 },
    { "parallel.optimizer_state", { "on-chip", "streaming" }, 2 },
    { "parallel.rts", { "no", "yes" }, 2 },
};
enum { N_USUAL = sizeof usual / sizeof *usual, MOST_LAYOUTS = 8192, DIVE_LAYOUTS = 64, MOST_ACCUMULATIONS = 12 };

struct branch {
    const char *settings[4];            /* of the compiled graph, and of recomputation */
    struct layer_work work;
    struct layout_rules rules;
    double micro_batch, clock_hz;
    uint32_t width, replicas;
    double bound;                       /* of the objective; infinite or NAN-free */
};

struct state {
    const struct search_request *q;
    struct search_result *out;
    struct arena *a;
    struct recipe recipe;               /* as it stands */
    double samples_per_item, samples, power_w;      /* samples: to converge, where they do not depend on the batch; power: of one IPU */
    bool converges_by_batch;
    struct dimension dimensions[MAX_DIMENSIONS]; size_t n_dimensions;
    struct branch *branches; size_t n_branches, cap_branches;
    bool stopped;
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
    f.r.id = arena_strdup(s->a, r->id);
    f.r.workload = arena_strdup(s->a, r->workload);
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

/* ---- one configuration --------------------------------------------------------------------------- */

static bool simulate_with(struct simulation *sim, struct result *r, const struct state *s, const char *const *settings, size_t n, struct err *err)
{
    const struct search_request *q = s->q;
    const char *all[MAX_SETTINGS + 64];
    size_t n_all = 0;
    for (size_t i = 0; i < q->n_sets && n_all < 64; i++)
        all[n_all++] = q->sets[i];
    for (size_t i = 0; i < n; i++)
        all[n_all++] = settings[i];
    return simulator_run(q->simulator, sim, r, q->recipe, all, n_all, err);
}

static void try_one(struct state *s, const char *const *settings, size_t n)
{
    struct simulation sim;
    struct result r;
    struct err unused;
    if (s->out->n_simulated >= s->q->most) {
        s->stopped = true;
        return;
    }
    s->out->n_simulated++;
    if (s->q->progress)
        s->q->progress(s->q->user, s->out->n_simulated, s->q->most);
    if (!simulate_with(&sim, &r, s, settings, n, &unused)) {
        s->out->n_refused++;
        return;
    }
    s->out->n_unfit += !r.fits;
    take(s, &r, settings, n);
    simulation_free(&sim);
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
    if (own && !strchr(own, ',') && d->n < MAX_VALUES && !text_is(own, "checkpoints"))
        d->values[d->n++] = arena_strdup(s->a, own);
}

static void settle_dimensions(struct state *s)
{
    const struct search_request *q = s->q;
    for (size_t i = 0; i < N_USUAL; i++) {
        struct dimension *d = &s->dimensions[s->n_dimensions++];
        const struct dimension *given = given_for(q, usual[i].key);
        const char *own = own_value(s, usual[i].key);
        *d = given ? *given : usual[i];
        if (!given && is_set(q, d->key)) {
            d->values[0] = own ? arena_strdup(s->a, own) : NULL;
            d->n = own != NULL;
        } else if (!given) {
            add_own(s, d);
        }
    }
    for (size_t i = 0; i < q->n_given; i++) {
        bool known = false;
        for (size_t k = 0; k < N_USUAL; k++)
            known |= text_is(usual[k].key, q->given[i].key);
        if (!known && s->n_dimensions < MAX_DIMENSIONS)
            s->dimensions[s->n_dimensions++] = q->given[i];
    }
}

static const char *setting(const struct state *s, size_t dimension, size_t value)
{
    const struct dimension *d = &s->dimensions[dimension];
    return value < d->n ? arena_printf(s->a, "%s=%s", d->key, d->values[value]) : NULL;
}

/* ---- accumulation ------------------------------------------------------------------------------------- */

/* Those that keep the batch within its limits; of many some, the least and the most among them. */
static size_t accumulations(uint64_t *out, const struct state *s, const struct branch *b)
{
    const struct search_request *q = s->q;
    double each = b->micro_batch * b->replicas * s->samples_per_item, low = q->global_batch.low / each, high = q->global_batch.high / each;
    if (q->tokens.high > 0 && s->recipe.model.sequence_length) {
        double tokens = b->micro_batch * b->replicas * (double)s->recipe.model.sequence_length;
        low = fmax(low, q->tokens.low / tokens);
        high = fmin(high, q->tokens.high / tokens);
    }
    uint64_t least = (uint64_t)fmax(1, ceil(low - 1e-9)), most = (uint64_t)fmin(1e6, floor(high + 1e-9));
    size_t n = 0;
    if (most < least)
        return 0;
    if (most - least < MOST_ACCUMULATIONS) {
        for (uint64_t g = most; g >= least; g--)
            out[n++] = g;
        return n;
    }
    for (int i = 0; i < MOST_ACCUMULATIONS; i++) {
        uint64_t g = (uint64_t)round((double)most * pow((double)least / (double)most, i / (MOST_ACCUMULATIONS - 1.0)));
        if (!n || g != out[n - 1])
            out[n++] = g;
    }
    return n;
}

/* The fewest samples that any of the branch's batches needs. */
static double least_samples(const struct state *s, const struct branch *b)
{
    uint64_t list[MOST_ACCUMULATIONS + 1];
    size_t n = accumulations(list, s, b);
    double least = s->converges_by_batch ? INFINITY : s->samples;
    for (size_t i = 0; s->converges_by_batch && i < n; i++) {
        struct recipe r = s->recipe;
        struct convergence c;
        r.model.micro_batch = (uint64_t)b->micro_batch;
        r.gradient_accumulation = list[i];
        r.replicas = b->replicas;
        if (simulator_convergence(&c, s->q->simulator, &r, NULL))
            least = fmin(least, expected_training(&r, &c).samples);
    }
    return least;
}

/* ---- bounds ---------------------------------------------------------------------------------------------- */

/* Of the objective, where the busiest IPU has so many cycles a micro-batch. */
static double bound_of(const struct state *s, const struct branch *b, double samples, uint64_t bottleneck)
{
    double rate = b->micro_batch * b->replicas * s->samples_per_item * b->clock_hz / (double)bottleneck;
    double ipus = (double)b->width * b->replicas;
    switch (s->q->objective) {
    case MAXIMISE_THROUGHPUT:    return rate;
    case MINIMISE_TIME_TO_TRAIN: return samples / rate;
    case MINIMISE_ENERGY:        return samples / rate * s->power_w * ipus;
    default:                     return within(&s->q->throughput, fmax(rate, s->q->throughput.low)) && rate >= s->q->throughput.low * (1 - 1e-9) ? ipus : INFINITY;
    }
}

/* The longest busiest IPU that could still beat the best known. */
static uint64_t below(const struct state *s, const struct branch *b, double samples)
{
    if (!s->out->any || s->q->objective == MINIMISE_IPUS)
        return UINT64_MAX;
    double at_one = bound_of(s, b, samples, 1), best = s->out->best.value;
    double most = maximised(s->q->objective) ? at_one / best : best / at_one;
    return most >= 1e18 ? UINT64_MAX : (uint64_t)ceil(most * (1 + 1e-12));
}

static int by_bound(const void *x, const void *y, void *user)
{
    const struct branch *a = x, *b = y;
    const struct state *s = user;
    if (a->bound != b->bound)
        return better(s->q->objective, a->bound, b->bound) ? -1 : 1;
    return a < b ? -1 : 1;
}

/* ---- branches -------------------------------------------------------------------------------------------- */

static void add_branch(struct state *s, const struct branch *b)
{
    uint64_t list[MOST_ACCUMULATIONS + 1];
    if (!accumulations(list, s, b))
        return;
    s->branches = arena_grow(s->a, s->branches, s->n_branches, &s->cap_branches, sizeof *s->branches);
    s->branches[s->n_branches] = *b;
    struct branch *kept = &s->branches[s->n_branches++];
    kept->bound = bound_of(s, kept, least_samples(s, kept), least_bottleneck(&kept->work, &kept->rules, kept->width));
}

/* Numbers of IPUs to try: the limit, and the powers of two within it. */
static void add_shapes(struct state *s, struct branch b)
{
    const struct dimension *d = &s->dimensions[WIDTH];
    const struct limit *l = &s->q->ipus;
    for (size_t i = 0; i < d->n; i++) {
        uint64_t width;
        if (!parse_u64(d->values[i], &width) || !width || width > b.work.n_body + (width == 1))
            continue;
        b.width = (uint32_t)width;
        for (double n = l->high; n >= l->low && n >= (double)width; n = n == l->high && exp2(floor(log2(n))) < n ? exp2(floor(log2(n))) : n / 2) {
            if (fmod(n, (double)width) != 0)
                continue;
            b.replicas = (uint32_t)(n / (double)width);
            add_branch(s, &b);
        }
    }
}

static enum recompute recompute_named(const char *name)
{
    int i = 0;
    while (i < N_RECOMPUTES && !text_is(recompute_names[i], name))
        i++;
    return i < N_RECOMPUTES ? (enum recompute)i : RECOMPUTE_CHECKPOINTS;
}

static void add_recomputations(struct state *s, struct branch b)
{
    const struct dimension *d = &s->dimensions[RECOMPUTE];
    if (!b.rules.training || !d->n) {
        b.rules.recompute = b.rules.training ? (enum recompute)s->recipe.recompute : RECOMPUTE_NONE;
        add_shapes(s, b);
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        b.rules.recompute = recompute_named(d->values[i]);
        b.settings[3] = setting(s, RECOMPUTE, i);
        add_shapes(s, b);
    }
}

/* The graph as compiled, by a run on one IPU: fitting is no matter. False where one layer's activations alone fill a tile: no other
 * memory share makes them smaller. */
static bool add_graph(struct state *s, const char *const *settings)
{
    struct simulation sim;
    struct result r;
    const char *all[] = { settings[0], "parallel.replicas=1", "parallel.ipus_per_replica=1", "parallel.layers_per_ipu=",
                          "parallel.gradient_accumulation=64", "parallel.rts=no", "parallel.optimizer_state=on-chip", "parallel.recompute=layer",
                          "training.eval_samples=", settings[1], settings[2] };
    size_t n = 9 + (settings[1] != NULL);
    if (settings[2])
        all[n++] = settings[2];
    if (!settings[1] && settings[2])
        all[9] = settings[2];
    if (!simulate_with(&sim, &r, s, all, n, NULL)) {
        s->out->n_refused++;
        return true;
    }
    bool depth_known = !given_for(s->q, "parallel.schedule");
    struct branch b = { .settings = { settings[0], settings[1], settings[2] }, .micro_batch = (double)sim.graph->micro_batch,
                        .clock_hz = sim.machine->chip.clock_hz };
    b.rules = (struct layout_rules){ .training = sim.plan.options.training, .schedule = depth_known ? sim.plan.options.schedule : SCHEDULE_NONE,
                                     .half_stash = sim.plan.options.stash_type == TYPE_FP8 || given_for(s->q, "parallel.stash_type") };
    bool good = layer_work_of(&b.work, &sim.plan, s->a);
    simulation_free(&sim);
    if (good && activations_fill_a_tile(&b.work, b.rules.training))
        return false;
    if (good)
        add_recomputations(s, b);
    return true;
}

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

static void list_branches(struct state *s)
{
    const struct dimension *d = s->dimensions;
    for (size_t m = 0; m < d[MICRO_BATCH].n; m++) {
        bool hopeless = false;
        for (size_t k = 0; k < at_least_one(d[MEMORY].n) && !hopeless; k++)
            for (size_t t = 0; t < at_least_one(d[IO_TILES].n) && !hopeless; t++)
                hopeless = !add_graph(s, (const char *[]){ setting(s, MICRO_BATCH, m), setting(s, MEMORY, k), setting(s, IO_TILES, t) });
    }
    if (s->n_branches)
        qsort_r(s->branches, s->n_branches, sizeof *s->branches, by_bound, s);
}

/* ---- a branch -------------------------------------------------------------------------------------------- */

static double n_free(const struct state *s)
{
    double n = 1;
    for (size_t i = FIRST_FREE; i < s->n_dimensions; i++)
        n *= (double)at_least_one(s->dimensions[i].n);
    return n;
}

/* All that is left to choose once the layers are placed. */
static void try_layout(struct state *s, const struct branch *b, const char *layout)
{
    uint64_t list[MOST_ACCUMULATIONS + 1];
    size_t n_accumulations = accumulations(list, s, b), n_combinations = (size_t)n_free(s);
    struct arena scratch = {0};
    for (size_t c = 0; c < n_combinations && !s->stopped; c++)
        for (size_t g = 0; g < n_accumulations; g++) {
            const char *settings[MAX_SETTINGS];
            size_t n = 0, at = c;
            for (size_t i = 0; i < 4; i++)
                if (b->settings[i])
                    settings[n++] = b->settings[i];
            settings[n++] = arena_printf(&scratch, "parallel.ipus_per_replica=%u", b->width);
            settings[n++] = arena_printf(&scratch, "parallel.replicas=%u", b->replicas);
            settings[n++] = arena_printf(&scratch, "parallel.gradient_accumulation=%" PRIu64, list[g]);
            settings[n++] = arena_printf(&scratch, "parallel.layers_per_ipu=%s", b->width > 1 ? layout : "");
            for (size_t i = FIRST_FREE; i < s->n_dimensions; i++) {
                size_t n_values = at_least_one(s->dimensions[i].n);
                const char *chosen = setting(s, i, at % n_values);
                at /= n_values;
                if (chosen)
                    settings[n++] = chosen;
            }
            try_one(s, settings, n);
        }
    arena_free(&scratch);
}

/* Its best cut alone, looked for near the even one first. */
static void dive(struct state *s, const struct branch *b)
{
    static const double times_even[] = { 1.1, 1.4, 2.5 };
    struct arena scratch = {0};
    struct layouts layouts = {0};
    double least = (double)least_bottleneck(&b->work, &b->rules, b->width);
    uint64_t most = below(s, b, least_samples(s, b));
    for (size_t i = 0; i < sizeof times_even / sizeof *times_even && !layouts.n; i++)
        layouts_list(&layouts, &b->work, &b->rules, b->width, min_u64(most, (uint64_t)(least * times_even[i])), DIVE_LAYOUTS, &scratch);
    if (layouts.n)
        try_layout(s, b, layout_text(&b->work, &layouts.items[0], &scratch));
    arena_free(&scratch);
}

/* False where something that may be better was left out. */
static bool search_branch(struct state *s, const struct branch *b)
{
    const enum objective o = s->q->objective;
    double samples = least_samples(s, b);
    struct arena scratch = {0};
    struct layouts layouts = {0};
    bool all = s->out->whole, left_out = false;
    layouts_list(&layouts, &b->work, &b->rules, b->width, all ? UINT64_MAX : below(s, b, samples), MOST_LAYOUTS, &scratch);
    for (size_t i = 0; i < layouts.n && !s->stopped; i++) {
        double bound = bound_of(s, b, samples, layouts.items[i].bottleneck);
        if (!all && s->out->any && !better(o, bound, s->out->best.value)) {
            s->out->n_bounded++;
            break;
        }
        try_layout(s, b, layout_text(&b->work, &layouts.items[i], &scratch));
    }
    if (layouts.n_dropped && (!s->out->any || better(o, bound_of(s, b, samples, layouts.least_dropped), s->out->best.value)))
        left_out = true;
    arena_free(&scratch);
    return !left_out && !s->stopped;
}

/* Cuts of n places into `width` stages, heads on the last IPU or back on the first. */
static double count_cuts(double n, double width)
{
    return width < 2 ? 1 : 2 * round(exp(lgamma(n + 1) - lgamma(width) - lgamma(n - width + 2)));
}

static void search_branches(struct state *s)
{
    const enum objective o = s->q->objective;
    for (size_t i = 0; i < s->n_branches; i++) {
        uint64_t list[MOST_ACCUMULATIONS + 1];
        const struct branch *b = &s->branches[i];
        s->out->space += count_cuts(b->work.n_body, b->width) * n_free(s) * (double)accumulations(list, s, b);
    }
    s->out->whole = s->out->space <= (double)s->q->exhaustive;
    s->out->exact = true;
    for (size_t i = 0; !s->out->whole && i < s->n_branches; i++)
        if (!s->out->any || better(o, s->branches[i].bound, s->out->best.value))
            dive(s, &s->branches[i]);
    for (size_t i = 0; i < s->n_branches; i++) {
        const struct branch *b = &s->branches[i];
        if (!s->out->whole && s->out->any && !better(o, b->bound, s->out->best.value)) {
            s->out->n_bounded += s->n_branches - i;
            return;
        }
        if (!search_branch(s, b) && s->out->exact) {
            s->out->exact = false;
            s->out->best_bound = b->bound;
        }
        if (s->out->n_simulated >= s->q->most) {
            s->out->exact = false;
            s->out->best_bound = s->out->best_bound == 0 || better(o, b->bound, s->out->best_bound) ? b->bound : s->out->best_bound;
            return;
        }
    }
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

bool search(struct search_result *out, const struct search_request *given, struct arena *a, struct err *err)
{
    struct search_request q = *given;
    struct state s = { .q = &q, .out = out, .a = a };
    struct simulation sim;
    struct result r;
    *out = (struct search_result){0};
    if (!simulate_with(&sim, &r, &s, NULL, 0, err))
        return false;
    settle_limits(&q, &r);
    s.recipe = sim.recipe;
    s.recipe.entries = ARENA_ARRAY(a, struct ini_entry, sim.recipe.n_entries + 1);
    for (size_t i = 0; i < sim.recipe.n_entries; i++) {
        const struct ini_entry *e = &sim.recipe.entries[i];
        s.recipe.entries[i] = (struct ini_entry){ arena_strdup(a, e->section), arena_strdup(a, e->key), arena_strdup(a, e->value), e->line };
    }
    s.samples_per_item = recipe_samples_per_item(&sim.recipe);
    s.samples = r.samples_to_converge;
    s.converges_by_batch = sim.recipe.converge != NULL;
    s.power_w = sim.machine->board_power_w / (double)sim.machine->ipus_per_board;
    bool timed = q.objective != MINIMISE_TIME_TO_TRAIN || r.time_to_train_s > 0;
    bool powered = q.objective != MINIMISE_ENERGY || r.energy_j > 0;
    out->own = copied(&s, &r, NULL, 0);
    out->own_counts = counts(&s, &r);
    out->n_simulated = 1;
    take(&s, &r, NULL, 0);
    simulation_free(&sim);
    if (is_set(&q, "parallel.available_memory") && strchr(own_value(&s, "parallel.available_memory"), ','))
        return fail(err, "--set parallel.available_memory: a share for each IPU cannot be searched around; give one for all, or leave it out");
    if (!timed || !powered)
        return fail(err, "%s: has no %s: set training.converge=model, epochs or samples_to_converge%s", given->recipe,
                    objective_names[q.objective], powered ? "" : "; energy wants board_power_w on the board's sheet too");
    settle_dimensions(&s);
    list_branches(&s);
    search_branches(&s);
    return true;
}
