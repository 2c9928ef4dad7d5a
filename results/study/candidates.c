/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * candidates.c - lists the values that a search tries, the graphs that they compile to, and families of candidates with their bounds
 * (candidates.h).
 */
#include "results/study/candidates.h"
#include "system-model/graph/graph.h"

enum { MOST_WIDTH = 32 };               /* pipelines of more stages cannot be scheduled */

static const char table_key[] = "parallel.embedding_split";

/* Values that are tried for each key, together with the recipe's own value. */
static const struct dimension usual[N_USUAL] = {
    [KEY_MICRO_BATCH] = { "parallel.micro_batch", { "1", "2", "3", "4", "6", "8", "12", "16", "20", "24", "32", "48" }, 12 },
    [KEY_MEMORY]      = { "parallel.available_memory", { "0.03", "0.06", "0.09", "0.12", "0.15", "0.2", "0.25", "0.3", "0.4", "0.6" }, 10 },
    [KEY_IO_TILES]    = { "parallel.io_tiles", { "0", "32" }, 2 },
    [KEY_TENSOR]      = { "parallel.tensor_parallel", { "1", "2", "4", "8", "16", "4x4", "8x8" }, 7 },
    [KEY_WIDTH]       = { "parallel.ipus_per_replica", { "1", "2", "4", "8", "16" }, 5 },
    [KEY_RECOMPUTE]   = { "parallel.recompute", { "none", "stage", "layer" }, 3 },
    [KEY_SCHEDULE]    = { "parallel.schedule", { "popart", "grouped", "interleaved", "sequential" }, 4 },
    [KEY_OPTIMIZER]   = { "parallel.optimizer_state", { "on-chip", "streaming" }, 2 },
    [KEY_SHARDING]    = { "parallel.rts", { "no", "yes" }, 2 },
    [KEY_STASH]       = { "parallel.stash_type", { NULL }, 0 },
    [KEY_WEIGHTS]     = { "parallel.weights", { "on-chip", "streaming" }, 2 },
};

/* ---- dimensions ------------------------------------------------------------------------------------ */

static bool is_key(const char *text, const char *key)
{
    size_t n = strlen(key);
    return strncmp(text, key, n) == 0 && text[n] == '=';
}

static const char *own_value(const struct search_state *s, const char *key)
{
    const struct ini_entry *e = recipe_entry(&s->recipe, key);
    return e ? e->value : NULL;
}

bool search_is_set(const struct search_request *q, const char *key)
{
    for (size_t i = 0; i < q->n_sets; i++)
        if (is_key(q->sets[i], key))
            return true;
    return false;
}

static const struct dimension *given_for(const struct search_request *q, const char *key)
{
    return FIND_TEXT(q->given, q->n_given, struct dimension, key, key);
}

/* Adds the recipe's own value to those that are tried. A list of shares by IPU is not added; it is tried only in the unchanged recipe. */
static void add_own(struct search_state *s, struct dimension *d)
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

/* Drops the schedules that the framework cannot run. Inference keeps the recipe's own schedule. */
static void drop_schedules(struct search_state *s, struct dimension *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->n && s->training; i++)
        if (framework_can(&s->framework, d->values[i]))
            d->values[kept++] = d->values[i];
    d->n = kept;
}

void search_settle_dimensions(struct search_state *s)
{
    const struct search_request *q = s->q;
    for (size_t i = 0; i < N_USUAL; i++) {
        struct dimension *d = &s->dimensions[s->n_dimensions++];
        const struct dimension *given = given_for(q, usual[i].key);
        const char *own = own_value(s, usual[i].key);
        *d = given ? *given : usual[i];
        if (!given && i == KEY_SCHEDULE)
            drop_schedules(s, d);
        if (!given && !own && (i == KEY_TENSOR || i == KEY_WEIGHTS))
            d->n = 0;
        if (!given && search_is_set(q, d->key)) {
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

/* The number of values of a key; a key without values counts as one choice, which sets nothing. */
static size_t n_choices(const struct search_state *s, size_t dimension)
{
    size_t n = s->dimensions[dimension].n;
    return n ? n : 1;
}

static const char *dimension_setting(const struct search_state *s, size_t dimension, size_t value)
{
    const struct dimension *d = &s->dimensions[dimension];
    return value < d->n ? arena_printf(s->a, "%s=%s", d->key, d->values[value]) : NULL;
}

/* ---- graphs ---------------------------------------------------------------------------------------- */

static bool is_compiled(size_t dimension)
{
    return dimension < KEY_WIDTH || dimension >= N_USUAL;
}

void search_measure(struct search_graph *g, const struct simulation *sim)
{
    const struct plan *p = &sim->plan;
    const struct compiled *compiled = p->stages[0].compiled;
    struct layer_range all = { { compiled }, 0, (uint32_t)p->graph->n_layers };
    g->micro_batch = (double)p->graph->micro_batch;
    g->clock_hz = p->topology->machine->chip.clock_hz;
    for (size_t i = 0; i < p->graph->n_layers; i++) {
        enum layer_role role = p->graph->layers[i].role;
        double forward = (double)compiled->layers[i].forward_cycles, backward = p->request.training ? (double)compiled->layers[i].backward_cycles : 0;
        g->forward_cycles += forward;
        g->backward_cycles += backward;
        g->heads_cycles += role == LAYER_LAST ? 2 * forward + backward : 0;
        g->longest_cycles = fmax(g->longest_cycles, forward + backward);
        g->forward_share = forward > 0 ? fmax(g->forward_share, forward / (forward + backward)) : g->forward_share;
        g->n_body_layers += role == LAYER_BODY;
    }
    struct cycles accumulate = compile_weight_work(sim->compiler, &all, 1, WORK_ACCUMULATE, PART_ACCUMULATE);
    g->accumulate_cycles = p->request.training ? (double)cycles_total(&accumulate) : 0;
}

static double share_of_time(const struct search_state *s) { return s->q->left ? s->q->left(s->q->user) : 1; }

/* Compiles a graph by planning it for one IPU, or for as few as a cut of layers or of the word table needs. It need not fit there. */
static void compile_one(void *user, size_t i, struct simulator *by)
{
    struct search_state *s = user;
    struct search_graph *g = s->by_likeness[i];
    struct simulation sim;
    struct result r;
    char width[48];
    snprintf(width, sizeof width, "parallel.ipus_per_replica=%u", max_u32(g->tensor, g->table_parts));
    const char *all[MAX_SETTINGS] = { "parallel.replicas=1", width, "parallel.weights=on-chip", "parallel.phases=", "parallel.layers_per_ipu=", "parallel.gradient_accumulation=64",
                                      "parallel.rts=no", "parallel.optimizer_state=on-chip", "training.eval_samples=" };
    size_t n = 9;
    for (size_t k = 0; k < g->n_settings; k++)
        all[n++] = g->settings[k];
    g->skipped = search_must_stop(s) || share_of_time(s) < s->planning_until;
    g->refused = g->skipped || !search_simulate(&sim, &r, by, s->q, all, n, NULL);
    if (g->refused)
        return;
    search_measure(g, &sim);
    simulation_free(&sim);
}

/* The value of a key in the graph's settings, or else in the recipe. */
static const char *graph_value(const struct search_state *s, const struct search_graph *g, const char *key)
{
    const char *value = own_value(s, key);
    for (size_t i = 0; i < g->n_settings; i++)
        if (is_key(g->settings[i], key))
            value = strchr(g->settings[i], '=') + 1;
    return value;
}

/* The number of IPUs over which the graph's layers are cut; 1 if the value cannot be read, since the simulation refuses it later. */
static uint32_t tensor_ipus_of(const struct search_state *s, const struct search_graph *g)
{
    uint32_t n[2];
    return tensor_axes(n, graph_value(s, g, usual[KEY_TENSOR].key)) && n[0] * n[1] <= MAX_STAGES ? n[0] * n[1] : 1;
}

static uint32_t table_parts_of(const struct search_state *s, const struct search_graph *g)
{
    uint64_t parts;
    const char *value = graph_value(s, g, table_key);
    return value && parse_u64(value, &parts) && parts <= MAX_STAGES ? max_u32(1, (uint32_t)parts) : 1;
}

/* Values to try if no usual configuration counts: first the word table cut over stages; then, if the framework has phases, layers cut over
 * IPUs and run in phases, with weights off the chip. */
static const struct resort { unsigned traits; bool phases; struct dimension values[2]; } resorts[N_RESORTS] = {
    { HAS_TABLE, false, { { table_key, { "2", "4" }, 2 } } },
    { HAS_ATTENTION | TAKES_SEQUENCES, true, { { "parallel.tensor_parallel", { "1", "2", "4", "8", "16" }, 5 }, { "parallel.weights", { "streaming" }, 1 } } },
};

bool search_resort(struct search_state *s, struct search_request *q, size_t i)
{
    static const char *const decided[] = { table_key, "parallel.tensor_parallel", "parallel.weights" };
    const struct resort *r = &resorts[i];
    const struct workload *w = recipe_workload(&s->recipe);
    if (!w || (w->traits & r->traits) != r->traits || q->n_given + 2 > MAX_DIMENSIONS || (r->phases && !s->framework.program.phases))
        return false;
    for (size_t k = 0; k < sizeof decided / sizeof *decided; k++)
        if (own_value(s, decided[k]) || given_for(q, decided[k]) || search_is_set(q, decided[k]))
            return false;
    for (size_t k = 0; k < 2 && r->values[k].n; k++)
        q->given[q->n_given++] = r->values[k];
    s->n_dimensions = s->n_families = s->n_divided = 0;
    return true;
}

/* Lists all graphs, ordered by micro-batch first: graph m * (n_graphs / micro-batches) + k has micro-batch m. */
static void list_graphs(struct search_state *s)
{
    s->n_graphs = 1;
    for (size_t i = 0; i < s->n_dimensions; i++)
        s->n_graphs *= is_compiled(i) ? n_choices(s, i) : 1;
    s->graphs = ARENA_ARRAY(s->a, struct search_graph, s->n_graphs);
    for (size_t g = 0; g < s->n_graphs; g++) {
        size_t at = g;
        for (size_t i = s->n_dimensions; i-- > 0; ) {
            if (!is_compiled(i))
                continue;
            const char *chosen = dimension_setting(s, i, at % n_choices(s, i));
            at /= n_choices(s, i);
            if (chosen)
                s->graphs[g].settings[s->graphs[g].n_settings++] = chosen;
        }
        s->graphs[g].tensor = tensor_ipus_of(s, &s->graphs[g]);
        s->graphs[g].table_parts = table_parts_of(s, &s->graphs[g]);
    }
}

/* True if the setting "key=value" differs from the recipe's value, or, if the recipe has none, from the default. */
static bool is_unlike_own(const struct search_state *s, const char *setting)
{
    const char *value = strchr(setting, '=') + 1, *key = arena_printf(s->a, "%.*s", (int)(value - setting - 1), setting);
    const struct field *field = recipe_field(key);
    const struct ini_entry *given = recipe_entry(&s->recipe, key);
    return !text_is(value, given ? given->value : field ? field_text(field, &s->recipe, s->a) : "");
}

static int by_unlike_settings(const void *x, const void *y)
{
    const struct search_graph *a = *(struct search_graph *const *)x, *b = *(struct search_graph *const *)y;
    return a->n_unlike_own != b->n_unlike_own ? (a->n_unlike_own < b->n_unlike_own ? -1 : 1) : a < b ? -1 : a > b;
}

static void order_graphs(struct search_state *s)
{
    s->by_likeness = ARENA_ROOM(s->a, struct search_graph *, s->n_graphs);
    for (size_t g = 0; g < s->n_graphs; g++) {
        s->by_likeness[g] = &s->graphs[g];
        for (size_t i = 0; i < s->graphs[g].n_settings; i++)
            s->graphs[g].n_unlike_own += is_unlike_own(s, s->graphs[g].settings[i]);
    }
    sort_items(s->by_likeness, s->n_graphs, sizeof *s->by_likeness, by_unlike_settings);
}

void search_compile(struct search_state *s)
{
    list_graphs(s);
    order_graphs(s);
    s->planning_until = share_of_time(s) / 2;
    simulator_pool_run(&s->pool, s->n_graphs, 1, compile_one, s);
    for (size_t g = 0; g < s->n_graphs; g++) {
        s->out->n_refused += s->graphs[g].refused && !s->graphs[g].skipped;
        s->any_unplanned |= s->graphs[g].skipped;
    }
    s->stopped |= search_must_stop(s);
}

/* ---- accumulation ------------------------------------------------------------------------------------- */

/* True if the batch affects the objective or a limit in other ways than through the throughput. */
static bool by_batch(const struct search_state *s)
{
    return s->q->objective != MAXIMISE_THROUGHPUT || s->q->throughput.high > 0;
}

/* Lists the accumulations that keep the batch within its limits: all if they are few, else a selection that includes the least and the most.
 * For throughput two suffice: the most, as more samples share the costs of a step (tested as a law), and 1, which adds no gradients. */
static void find_accumulations(struct search_candidate *c, const struct search_state *s, uint32_t replicas)
{
    const struct search_request *q = s->q;
    double items = c->graph->micro_batch * replicas, each = items * s->samples_per_item, low = q->global_batch.low / each, high = q->global_batch.high / each;
    if (q->tokens.high > 0 && s->recipe.model.sequence_length) {
        double tokens = items * (double)s->recipe.model.sequence_length;
        low = fmax(low, q->tokens.low / tokens);
        high = fmin(high, q->tokens.high / tokens);
    }
    double from = fmax(1, ceil(low - 1e-9)), to = fmin(1e6, floor(high + 1e-9));
    if (to < from)
        return;
    uint64_t least = (uint64_t)from, most = (uint64_t)to;
    if (!by_batch(s)) {
        c->accumulations[c->n_accumulations++] = most;
        if (least == 1 && most > 1)
            c->accumulations[c->n_accumulations++] = 1;
        return;
    }
    bool all = most - least < MOST_ACCUMULATIONS;
    for (uint64_t i = 0; i < (all ? most - least + 1 : MOST_ACCUMULATIONS); i++) {
        uint64_t g = all ? most - i : (uint64_t)round((double)most * pow((double)least / (double)most, (double)i / (MOST_ACCUMULATIONS - 1.0)));
        if (!c->n_accumulations || g != c->accumulations[c->n_accumulations - 1])
            c->accumulations[c->n_accumulations++] = g;
    }
}

/* The fewest samples to converge over the batches of a candidate. */
static double least_samples(const struct search_state *s, const struct search_candidate *c, uint32_t replicas)
{
    double least = s->converges_by_batch ? INFINITY : s->samples;
    for (size_t i = 0; s->converges_by_batch && by_batch(s) && i < c->n_accumulations; i++) {
        struct recipe r = s->recipe;
        struct convergence convergence;
        r.model.micro_batch = (uint64_t)c->graph->micro_batch;
        r.gradient_accumulation = c->accumulations[i];
        r.replicas = replicas;
        if (simulator_convergence(&convergence, s->q->simulator, &r, NULL))
            least = fmin(least, expected_training(&r, &convergence).samples);
    }
    return least;
}

/* ---- bounds ---------------------------------------------------------------------------------------------- */

double search_least_cycles(const struct search_family *f, const struct search_candidate *c, uint64_t accumulation)
{
    const struct search_graph *g = c->graph;
    bool accumulates = c->accumulations[c->n_accumulations - 1] > 1;
    bool in_turns = f->schedule == SCHEDULE_NONE || f->schedule == SCHEDULE_SEQUENTIAL;
    double n = (double)accumulation, work = g->forward_cycles + g->backward_cycles + (accumulates ? g->accumulate_cycles : 0);
    if (f->width == 1 || in_turns)
        return n * work;
    double share = f->recomputes ? g->forward_share : 0;
    work += f->recomputes ? g->forward_cycles : 0;
    double even = n * work / (f->width + share), filled = (work - g->heads_cycles) / (1 - pow(1 - 1 / n, f->width) + share / n);
    return fmax(fmax(even, filled) * (1 - 1e-9), n * g->longest_cycles);
}

double search_value(const struct search_state *s, const struct search_family *f, const struct search_candidate *c, uint64_t accumulation, double cycles)
{
    double rate = c->graph->micro_batch * f->replicas * s->samples_per_item * (double)accumulation * c->graph->clock_hz / cycles;
    double ipus = (double)search_family_width(f) * f->replicas;
    switch (s->q->objective) {
    case MAXIMISE_THROUGHPUT:    return rate;
    case MINIMISE_TIME_TO_TRAIN: return c->samples / rate;
    case MINIMISE_ENERGY:        return c->samples / rate * s->power_w * ipus;
    case MINIMISE_IPUS:          return rate >= s->q->throughput.low * (1 - 1e-9) ? ipus : INFINITY;
    case N_OBJECTIVES:           break;
    }
    assert(false);
    return 0;
}

/* ---- families -------------------------------------------------------------------------------------------- */

static int by_micro_batch(const void *x, const void *y)
{
    const struct search_candidate *a = x, *b = y;
    return (a->graph->micro_batch > b->graph->micro_batch) - (a->graph->micro_batch < b->graph->micro_batch);
}

static int by_bound(const void *x, const void *y, void *user)
{
    const struct search_family *a = x, *b = y;
    const struct search_state *s = user;
    if (a->bound != b->bound)
        return search_better(s->q->objective, a->bound, b->bound) ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static uint32_t count_unlike_own(const struct search_state *s, const struct search_family *f, const struct search_graph *g)
{
    uint32_t ipus = search_family_width(f), n = (ipus != s->recipe.ipus_per_replica) + (ipus * f->replicas != s->recipe.ipus_per_replica * s->recipe.replicas);
    for (size_t i = 0; i < f->n_settings; i++)
        n += is_unlike_own(s, f->settings[i]);
    for (size_t i = 0; i < g->n_settings; i++)
        n += !is_key(g->settings[i], usual[KEY_MICRO_BATCH].key) && is_unlike_own(s, g->settings[i]);
    return n;
}

/* Adds a family, whose graphs differ from graph `first` only in their micro-batch. */
static void add_family(struct search_state *s, const struct search_family *like, size_t first)
{
    struct search_family f = *like;
    size_t n_micro_batches = n_choices(s, KEY_MICRO_BATCH), step = s->n_graphs / n_micro_batches;
    f.candidates = ARENA_ARRAY(s->a, struct search_candidate, n_micro_batches);
    for (size_t m = 0; m < n_micro_batches; m++) {
        struct search_candidate *c = &f.candidates[f.n];
        *c = (struct search_candidate){ .graph = &s->graphs[first + m * step] };
        if (c->graph->refused || f.width > c->graph->n_body_layers + (f.width == 1))
            continue;
        find_accumulations(c, s, f.replicas);
        if (!c->n_accumulations)
            continue;
        c->samples = least_samples(s, c, f.replicas);
        c->bound = search_value(s, &f, c, c->accumulations[0], search_least_cycles(&f, c, c->accumulations[0]));
        if (f.n++ == 0 || search_better(s->q->objective, c->bound, f.bound))
            f.bound = c->bound;
    }
    if (!f.n)
        return;
    sort_items(f.candidates, f.n, sizeof *f.candidates, by_micro_batch);
    f.number = (uint32_t)s->n_families;
    f.n_unlike_own = count_unlike_own(s, &f, f.candidates[0].graph);
    ARENA_APPEND(s->a, s->families, s->n_families, s->cap_families, f);
}

/* Adds families for the limit on IPUs and for the powers of two below it. */
static void add_sizes(struct search_state *s, struct search_family *f, size_t graph)
{
    const struct limit *l = &s->q->ipus;
    double ipus = search_family_width(f);
    if (f->width < s->graphs[graph].table_parts || f->width > MOST_WIDTH)
        return;
    for (double n = l->high; n >= l->low && n >= ipus; n = n == l->high && exp2(floor(log2(n))) < n ? exp2(floor(log2(n))) : n / 2)
        if (fmod(n, ipus) == 0 && n / ipus <= UINT32_MAX) {     /* n may be NO_LIMIT, which is too many replicas */
            f->replicas = (uint32_t)(n / ipus);
            add_family(s, f, graph);
        }
}

static enum schedule schedule_named(const char *name)
{
    for (int i = 0; i < N_SCHEDULES; i++)
        if (text_is(schedule_names[i], name))
            return (enum schedule)i;
    return SCHEDULE_INTERLEAVED;                /* the simulation refuses an unknown schedule later */
}

/* Sets the family's fields that its bounds depend on. */
static void apply_to_family(struct search_family *f, const struct search_state *s, size_t dimension, const char *value)
{
    uint64_t width;
    if (dimension == KEY_WIDTH)
        f->width = parse_u64(value, &width) && width <= MAX_STAGES ? (uint32_t)width : 0;
    if (dimension == KEY_WEIGHTS)
        f->streams = text_is(value, "streaming");
    if (dimension == KEY_RECOMPUTE)
        f->recomputes = s->training && !text_is(value, "none");
    if (dimension == KEY_SCHEDULE)
        f->schedule = schedule_named(value);
}

/* On one IPU the schedule and the stash have no effect, so only their first value is tried. */
static bool has_no_effect(size_t dimension, size_t value, const struct search_family *f)
{
    return f->width == max_u32(1, f->tensor) && (dimension == KEY_SCHEDULE || dimension == KEY_STASH) && value > 0;
}

/* Adds the families of a graph for one combination of keys that do not change the graph; `number` is the combination's index. */
static void add_families(struct search_state *s, size_t graph, size_t number)
{
    struct search_family f = { .width = (uint32_t)s->recipe.ipus_per_replica, .schedule = (enum schedule)s->recipe.schedule,
                        .recomputes = s->training && s->recipe.recompute != RECOMPUTE_NONE, .streams = s->recipe.weights == WEIGHTS_STREAMING,
                        .tensor = s->graphs[graph].tensor };
    for (size_t i = KEY_WIDTH; i < N_USUAL; i++) {
        size_t n = n_choices(s, i), value = number % n;
        number /= n;
        if (has_no_effect(i, value, &f))
            return;
        if (!s->dimensions[i].n)
            continue;
        apply_to_family(&f, s, i, s->dimensions[i].values[value]);
        if (i != KEY_WIDTH)
            f.settings[f.n_settings++] = dimension_setting(s, i, value);
    }
    uint32_t tensor = max_u32(1, f.tensor);
    if (f.width % tensor == 0 && !(f.streams && f.width > tensor)) {
        f.width /= tensor;
        add_sizes(s, &f, graph);
    }
}

void search_list_families(struct search_state *s)
{
    size_t n = 1;
    for (size_t i = KEY_WIDTH; i < N_USUAL; i++)
        n *= n_choices(s, i);
    for (size_t g = 0; g < s->n_graphs / n_choices(s, KEY_MICRO_BATCH); g++)
        for (size_t i = 0; i < n; i++)
            add_families(s, g, i);
    if (s->n_families)
        qsort_r(s->families, s->n_families, sizeof *s->families, by_bound, s);
}
