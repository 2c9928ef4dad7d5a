/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - branches taken in turn, and what was found.
 *
 * Branches are taken best bound first, in each the layouts with the shortest step first, so that the first bound that is no better
 * than the best known ends it. Before that each branch's best layout is tried alone: it tells what the host's call takes, and a good
 * configuration known early leaves most branches unopened. Configurations are simulated in rounds, on all threads; what is left out is
 * decided between rounds, so that threads change nothing.
 */
#include "results/study/branches.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const objective_names[N_OBJECTIVES] = { "throughput", "time-to-train", "energy", "ipus" };

enum { MOST_LAYOUTS = 32768, ROUND = 256, CHUNK = 4, BRANCHES_AT_ONCE = 32 };

/* One configuration to simulate, and what came of it. */
struct trial {
    const char *settings[MAX_SETTINGS]; size_t n;
    struct branch *probed;              /* whose host's call is asked for; NULL: none's */
    bool refused;
    struct result r;
    char system[128];
    uint64_t once_cycles, each_cycles, floor_cycles;
};

/* ---- values ------------------------------------------------------------------------------------ */

static bool maximised(enum objective o)
{
    return o == MAXIMISE_THROUGHPUT;
}

bool better(enum objective o, double x, double than)
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
    f.r.id = arena_strdup(s->a, s->recipe.id);
    f.r.workload = arena_strdup(s->a, s->recipe.workload);
    f.r.system = arena_strdup(s->a, r->system);
    for (size_t i = 0; i < n; i++)
        f.settings[i] = arena_strdup(s->a, settings[i]);
    return f;
}

/* Kept where nothing has a value as good with as little memory: then it may beat some that are there, and else none. */
static void join_front(struct state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct search_result *out = s->out;
    double value = value_of(s->q->objective, r);
    size_t kept = 0;
    for (size_t i = 0; i < out->n_front; i++) {
        const struct found *f = &out->front[i];
        if (!better(s->q->objective, value, f->value) && f->r.memory_peak_bytes_per_tile <= r->memory_peak_bytes_per_tile)
            return;
        if (better(s->q->objective, f->value, value) || f->r.memory_peak_bytes_per_tile < r->memory_peak_bytes_per_tile)
            out->front[kept++] = *f;
    }
    out->n_front = kept;
    out->front = arena_grow(s->a, out->front, out->n_front, &out->cap_front, sizeof *out->front);
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

const char *const *search_sets(const struct search_request *q, const char *const *settings, size_t n, struct arena *a)
{
    const char **all = ARENA_ROOM(a, const char *, q->n_sets + n);
    size_t n_all = 0;
    for (size_t i = 0; i < q->n_sets; i++)
        all[n_all++] = q->sets[i];
    for (size_t i = 0; i < n; i++)
        all[n_all++] = settings[i];
    return all;
}

bool search_simulate(struct simulation *sim, struct result *r, struct simulator *by, const struct search_request *q, const char *const *settings,
                     size_t n, struct err *err)
{
    struct arena scratch = {0};
    bool good = simulator_run(by, sim, r, q->recipe, search_sets(q, settings, n, &scratch), q->n_sets + n, err);
    arena_free(&scratch);
    return good;
}

static bool in_proportion(enum call_part c) { return c == CALL_DATA || c == CALL_LOADER; }       /* to the micro-batches of a step */

/* What the host takes, in its calls and for each micro-batch, does not depend on where the layers are; but what fills I/O tiles does, as
 * stages of one IPU share its port. */
static void take_call(struct trial *t, const struct plan *p)
{
    uint64_t n = p->options.grad_accum;
    for (int i = 0; i < N_CALL_PARTS; i++)
        t->once_cycles += in_proportion(i) ? 0 : p->call_cycles[i];
    t->each_cycles = p->call_cycles[CALL_DATA] / n + p->call_cycles[CALL_LOADER] / n + p->fetch_cycles;
    t->floor_cycles = p->options.io_tiles && p->n_stages > 1 ? 0 : p->host_floor_cycles / n;
}

static void run_trial(void *user, size_t i, struct simulator *by)
{
    struct state *s = user;
    struct trial *t = &s->round[i];
    struct simulation sim;
    t->refused = !search_simulate(&sim, &t->r, by, s->q, t->settings, t->n, NULL);
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
    s->n_round = min_u64(s->n_round, left);
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

/* ---- bounds ---------------------------------------------------------------------------------------------- */

/* The longest step of the most micro-batches that could still beat the best known. */
static uint64_t below(const struct state *s, const struct branch *b)
{
    enum objective o = s->q->objective;
    if (s->out->whole || (!s->out->any && o != MINIMISE_IPUS))
        return UINT64_MAX;
    double rate = b->graph->micro_batch * b->replicas * s->samples_per_item * (double)b->accumulations[0] * b->graph->clock_hz;
    double at_one = o == MINIMISE_IPUS ? rate : bound_of(s, b, b->accumulations[0], 1), best = s->out->best.value;
    double most = o == MINIMISE_IPUS ? rate / (s->q->throughput.low * (1 - 1e-9)) + 1 : maximised(o) ? at_one / best : best / at_one;
    return (uint64_t)ceil(fmin(most, NO_LIMIT) * (1 + 1e-12));
}

static bool may_be_better(const struct state *s, double bound)
{
    return s->out->whole || !s->out->any || better(s->q->objective, bound, s->out->best.value);
}

static void leave_open(struct state *s, double bound)
{
    if (!s->any_open || better(s->q->objective, bound, s->open_bound))
        s->open_bound = bound;
    s->any_open = true;
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
    for (size_t i = 0; i < l->n && !s->stopped; i++) {
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
    if (l->n_dropped)
        leave_open(s, bound_of(s, b, b->accumulations[0], (double)l->least_dropped));
}

/* Returns how many were taken. */
static size_t search_branches(struct state *s)
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
    if (s->stopped)                     /* within a branch, which has layouts and so is not closed: branch i is there */
        leave_open(s, s->branches[i].bound);
    return i;
}

/* Cuts of n places into `width` stages, heads on the last IPU or back on the first. */
static double count_cuts(double n, double width)
{
    return width < 2 ? 1 : 2 * round(exp(lgamma(n + 1) - lgamma(width) - lgamma(n - width + 2)));
}

static void search_all(struct state *s)
{
    struct search_result *out = s->out;
    size_t n_listed = s->n_branches;
    for (size_t i = 0; i < n_listed; i++)
        out->space += count_cuts(s->branches[i].graph->work.n_body, s->branches[i].width) * (double)s->branches[i].n_accumulations;
    out->whole = out->space <= (double)s->q->exhaustive;
    if (!out->whole)
        probe(s);
    out->n_bounded = n_listed - search_branches(s);
    bool open = s->any_open && (!out->any || better(s->q->objective, s->open_bound, out->best.value));
    out->exact = !open;
    out->best_bound = s->open_bound;
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
        q->global_batch.high = NO_LIMIT;
}

/* The recipe as it stands: what is not searched is as it has it, for as long as its simulation is kept. */
static void take_own(struct state *s, const struct simulation *sim, const struct result *r)
{
    const struct plan_options *o = &sim->plan.options;
    s->recipe = sim->recipe;
    s->framework = sim->framework;
    s->own = (struct layout_rules){ .training = o->training, .recompute = o->training ? o->recompute : RECOMPUTE_NONE, .schedule = o->schedule,
                                    .stash_is_known = true, .half_stash = o->stash_type == TYPE_FP8, .grad_accum = o->grad_accum,
                                    .most_cuts = MOST_CUTS };
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
    bool timed = q->objective != MINIMISE_TIME_TO_TRAIN || is_known(r->time_to_train_s);
    bool powered = q->objective != MINIMISE_ENERGY || is_known(r->energy_j);
    if (is_set(q, "parallel.available_memory") && sim->recipe.available_memory && strchr(sim->recipe.available_memory, ','))
        return fail(err, "--set parallel.available_memory: a share for each IPU cannot be searched around; give one for all, or leave it out");
    return (timed && powered)
        || fail(err, "%s: has no %s: set training.converge=model, epochs or samples_to_converge%s", q->recipe, objective_names[q->objective],
                powered ? "" : "; energy wants board_power_w on the board's sheet too");
}

static void search_with_crew(struct state *s)
{
    crew_open(&s->crew, s->q->simulator->paths, s->q->n_threads ? s->q->n_threads : 1,
              (struct simulator_options){ .totals_only = true, .as_asked = true });
    s->round = ARENA_ROOM(s->a, struct trial, ROUND);
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
    if (!search_simulate(&sim, &r, q.simulator, &q, NULL, 0, err))
        return false;
    settle_limits(&q, &r);
    bool good = check_request(&q, &sim, &r, err);
    if (good) {
        take_own(&s, &sim, &r);
        search_with_crew(&s);
    }
    simulation_free(&sim);
    return good;
}
