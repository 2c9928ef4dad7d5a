/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - tries the families of candidates with the best bounds first, and keeps the best results.
 *
 * Each family starts at its smallest micro-batch whose bound is better than the best known result, and goes on to larger ones until one does
 * not fit. The families with the fewest differences from the recipe are tried first: one of them usually fits, and its value rules out many
 * others. Trials are simulated in rounds on all threads, and decisions about what to leave out are made between rounds, so the number of
 * threads changes nothing. Pipelines are divided with few attempts at first. The fastest of them, and those that nearly fit, are then divided
 * again with the usual number of attempts, each with its best accumulation.
 */
#include "results/study/candidates.h"
#include "results/simulate/split.h"

enum { FAMILIES_AT_ONCE = 32, MOST_TRIALS = FAMILIES_AT_ONCE * (MOST_ACCUMULATIONS + 1), TRIALS_A_JOB = 4 };
enum { FEW_ATTEMPTS = 8, DIVIDED_AGAIN = 64 };

/* One configuration to simulate, and its result. */
struct trial {
    const char *settings[MAX_SETTINGS]; size_t n;
    struct search_family *family;
    struct search_candidate *candidate;
    uint64_t accumulation;
    bool refused, again, skipped;               /* skipped: the search had stopped */
    double rest_cycles;                         /* the part of a step outside the loop: copies between stages, update, the host's call */
    struct result r;
    struct arena texts;                         /* holds the texts of r if r counts */
    char layers[640];                           /* how its layers are divided, as the value of a setting */
};

/* A pipeline whose layers were divided with few attempts. */
struct divided { struct search_family *family; struct search_candidate *candidate; uint64_t accumulation, shortfall_bytes; double value, bound; bool fits; };

/* ---- values ------------------------------------------------------------------------------------ */

static double tokens_of(const struct search_state *s, const struct result *r)
{
    return r->global_batch / s->samples_per_item * (double)s->recipe.model.sequence_length;
}

static bool within(const struct limit *l, double x)
{
    return l->high == 0 || (x >= l->low * (1 - 1e-9) && x <= l->high * (1 + 1e-9));
}

static bool counts(const struct search_state *s, const struct result *r)
{
    const struct search_request *q = s->q;
    return r->fits && within(&q->fits, r->fits_probability) && within(&q->memory_bytes, (double)r->memory_peak_bytes_per_tile) && within(&q->ipus, (double)r->ipus) && within(&q->global_batch, r->global_batch) && within(&q->tokens, tokens_of(s, r))
        && within(&q->throughput, r->throughput_samples_per_s) && within(&q->token_rate, r->throughput_tokens_per_s) && search_value_of(q->objective, r) > 0;
}

static struct found copied(const struct search_state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct found f = { .r = result_copy(r, s->a), .value = search_value_of(s->q->objective, r), .n_settings = n };
    for (size_t i = 0; i < n; i++)
        f.settings[i] = arena_strdup(s->a, settings[i]);
    return f;
}

/* Adds a result to the front, unless another result there is at least as good in value and memory. Results that it beats in both are dropped. */
static void join_front(struct search_state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct search_result *out = s->out;
    double value = search_value_of(s->q->objective, r);
    size_t kept = 0;
    for (size_t i = 0; i < out->n_front; i++) {
        const struct found *f = &out->front[i];
        if (!search_better(s->q->objective, value, f->value) && f->r.memory_peak_bytes_per_tile <= r->memory_peak_bytes_per_tile)
            return;
        if (search_better(s->q->objective, f->value, value) || f->r.memory_peak_bytes_per_tile < r->memory_peak_bytes_per_tile)
            out->front[kept++] = *f;
    }
    out->n_front = kept;
    ARENA_APPEND(s->a, out->front, out->n_front, out->cap_front, copied(s, r, settings, n));
}

static void consider_result(struct search_state *s, const struct result *r, const char *const *settings, size_t n)
{
    struct search_result *out = s->out;
    if (!counts(s, r))
        return;
    join_front(s, r, settings, n);
    if (out->any && !search_better(s->q->objective, search_value_of(s->q->objective, r), out->best.value))
        return;
    out->best = copied(s, r, settings, n);
    out->any = true;
}

/* ---- rounds ---------------------------------------------------------------------------------------- */

static double rest_of_step(const struct timeline *t)
{
    uint64_t cycles = t->step_cycles - t->micro_batches_cycles;
    for (uint32_t i = 0; i < t->plan->n_runs; i++)
        cycles += t->plan->runs[i].copy_cycles * t->plan->runs[i].n_cycles;
    return (double)cycles;
}

static void run_trial(void *user, size_t i, struct simulator *by)
{
    struct search_state *s = user;
    struct trial *t = &s->trials[i];
    struct simulation sim;
    by->options.split_attempts = t->again || s->out->whole ? 0 : FEW_ATTEMPTS;
    t->skipped = search_must_stop(s);
    t->refused = t->skipped || !search_simulate(&sim, &t->r, by, s->q, t->settings, t->n, NULL);
    if (t->refused)
        return;
    t->refused = !recipe_check_schedule(&sim.plan.request, &sim.framework, NULL);       /* split_layers() may have used more stages than IPUs */
    if (counts(s, &t->r))
        t->r = result_copy(&t->r, &t->texts);
    t->rest_cycles = rest_of_step(&sim.timeline);
    if (t->family->width > 1) {
        int n = snprintf(t->layers, sizeof t->layers, "parallel.layers_per_ipu=");
        split_text(t->layers + n, sizeof t->layers - (size_t)n, &sim.plan.request);
        t->settings[t->n - 1] = t->layers;
    }
    simulation_free(&sim);
}

/* A bound for other divisions of this pipeline: the time outside the loop is this trial's. */
static double divided_bound(const struct search_state *s, const struct trial *t)
{
    double cycles = search_least_cycles(t->family, t->candidate, t->accumulation) + t->rest_cycles;
    return search_value(s, t->family, t->candidate, t->accumulation, cycles);
}

static void note_divided(struct search_state *s, const struct trial *t)
{
    ARENA_APPEND(s->a, s->divided, s->n_divided, s->cap_divided, (struct divided){ t->family, t->candidate, t->accumulation, t->r.memory_shortfall_bytes_per_tile,
                                                   search_value_of(s->q->objective, &t->r), divided_bound(s, t), t->r.fits });
}

static void note_family(const struct search_state *s, const struct trial *t)
{
    struct search_family *f = t->family;
    double value = search_value_of(s->q->objective, &t->r);
    if (!counts(s, &t->r))
        return;
    f->best_value = !f->any || search_better(s->q->objective, value, f->best_value) ? value : f->best_value;
    f->any = true;
}

static void end_trial(struct search_state *s, const struct trial *t)
{
    s->stopped |= t->skipped;
    if (t->skipped)
        return;
    s->out->n_simulated++;
    if (t->refused) {
        s->out->n_refused++;
        return;
    }
    t->candidate->tried = true;
    t->candidate->fits |= t->r.fits;
    s->out->n_unfit += !t->r.fits;
    note_family(s, t);
    if (t->family->width > 1 && !t->again)
        note_divided(s, t);
    consider_result(s, &t->r, t->settings, t->n);
}

/* Simulates the gathered trials on all threads, and takes their results in the order of gathering. */
static void end_round(struct search_state *s)
{
    uint64_t left = s->q->most > s->out->n_simulated ? s->q->most - s->out->n_simulated : 0;
    s->stopped |= s->n_trials > left;
    s->n_trials = min_u64(s->n_trials, left);
    simulator_pool_run(&s->pool, s->n_trials, TRIALS_A_JOB, run_trial, s);
    for (size_t i = 0; i < s->n_trials; i++) {
        end_trial(s, &s->trials[i]);
        arena_free(&s->trials[i].texts);
    }
    s->n_trials = 0;
    arena_reset(&s->trial_arena);
    if (s->q->tell)
        s->q->tell(s->q->user, s->out->n_simulated, s->out->any ? &s->out->best : NULL);
}

static struct trial *gather(struct search_state *s, struct search_family *f, struct search_candidate *c, uint64_t accumulation)
{
    struct arena *a = &s->trial_arena;
    struct trial *t = &s->trials[s->n_trials++];
    *t = (struct trial){ .family = f, .candidate = c, .accumulation = accumulation };
    for (size_t i = 0; i < c->graph->n_settings; i++)
        t->settings[t->n++] = c->graph->settings[i];
    for (size_t i = 0; i < f->n_settings; i++)
        t->settings[t->n++] = f->settings[i];
    t->settings[t->n++] = arena_printf(a, "parallel.ipus_per_replica=%u", search_family_width(f));
    t->settings[t->n++] = arena_printf(a, "parallel.replicas=%u", f->replicas);
    t->settings[t->n++] = arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, accumulation);
    if (f->width > 1 || recipe_entry(&s->recipe, "parallel.layers_per_ipu"))
        t->settings[t->n++] = "parallel.layers_per_ipu=";       /* the simulation fills in the division; "" on one IPU */
    return t;
}

/* ---- the search -------------------------------------------------------------------------------------------- */

static bool may_be_better(const struct search_state *s, double bound)
{
    return s->out->whole || !s->out->any || search_better(s->q->objective, bound, s->out->best.value);
}

static void leave_open(struct search_state *s, double bound)
{
    if (!s->any_open || search_better(s->q->objective, bound, s->open_bound))
        s->open_bound = bound;
    s->any_open = true;
}

/* Gathers trials of the next candidate in the family that may be better than the best known result. */
static void climb(struct search_state *s, struct search_family *f)
{
    const struct search_candidate *last = f->next ? &f->candidates[f->next - 1] : NULL;
    if (last && last->tried && !last->fits && !s->out->whole)
        f->next = f->n;
    for (size_t before = s->n_trials; f->next < f->n && s->n_trials == before; f->next++) {
        struct search_candidate *c = &f->candidates[f->next];
        for (size_t k = 0; k < c->n_accumulations && may_be_better(s, c->bound); k++) {
            uint64_t g = c->accumulations[k];
            if (may_be_better(s, search_value(s, f, c, g, search_least_cycles(f, c, g))))
                gather(s, f, c, g);
        }
    }
}

static void search_together(struct search_state *s, struct search_family *const *families, size_t n)
{
    do {
        for (size_t i = 0; i < n; i++)
            climb(s, families[i]);
        if (s->n_trials == 0)
            return;
        end_round(s);
    } while (!s->stopped);
}

static int by_likeness(const void *x, const void *y)
{
    const struct search_family *a = *(struct search_family *const *)x, *b = *(struct search_family *const *)y;
    return a->n_unlike_own != b->n_unlike_own ? (a->n_unlike_own < b->n_unlike_own ? -1 : 1) : a < b ? -1 : a > b;
}

/* Tries the families with the fewest differences from the recipe; among equals, those with better bounds. */
static void search_near_own(struct search_state *s)
{
    struct search_family **near = ARENA_ROOM(s->a, struct search_family *, s->n_families);
    size_t n = min_u64(s->n_families, FAMILIES_AT_ONCE);
    for (size_t i = 0; i < s->n_families; i++)
        near[i] = &s->families[i];
    sort_items(near, s->n_families, sizeof *near, by_likeness);
    search_together(s, near, n);
}

/* Tries families by their bounds, several at once, and returns how many were tried. */
static size_t search_families(struct search_state *s)
{
    struct search_family **in_turn = ARENA_ROOM(s->a, struct search_family *, FAMILIES_AT_ONCE);
    size_t i = 0, n;
    for (; i < s->n_families && !s->stopped && may_be_better(s, s->families[i].bound); i += n) {
        for (n = 1; n < FAMILIES_AT_ONCE && i + n < s->n_families && may_be_better(s, s->families[i + n].bound); )
            n++;
        for (size_t k = 0; k < n; k++)
            in_turn[k] = &s->families[i + k];
        search_together(s, in_turn, n);
    }
    for (size_t k = 0; k < s->n_families && s->stopped; k++)     /* a family that was tried in part counts as open, too */
        leave_open(s, s->families[k].bound);
    return i;
}

/* Sorts pipelines that fit first, by value, best first; then the others by the bytes that they lack. */
static int by_promise(const void *x, const void *y, void *user)
{
    const struct divided *a = x, *b = y;
    const struct search_state *s = user;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if (!a->fits && a->shortfall_bytes != b->shortfall_bytes)
        return a->shortfall_bytes < b->shortfall_bytes ? -1 : 1;
    return a->value == b->value ? 0 : search_better(s->q->objective, a->value, b->value) ? -1 : 1;
}

/* Simulates promising pipelines again with more attempts to divide their layers. Each keeps its best accumulation, on which the division
 * hardly depends. */
static void divide_again(struct search_state *s)
{
    size_t n_taken[2] = { 0, 0 };
    if (s->n_divided)
        qsort_r(s->divided, s->n_divided, sizeof *s->divided, by_promise, s);
    for (size_t i = 0; i < s->n_divided; i++) {
        const struct divided *d = &s->divided[i];
        if (d->fits)
            leave_open(s, d->bound);
        if (d->candidate->again || n_taken[d->fits] >= DIVIDED_AGAIN || !may_be_better(s, d->bound))
            continue;
        n_taken[d->fits]++;
        d->candidate->again = true;
        gather(s, d->family, d->candidate, d->accumulation)->again = true;
    }
    end_round(s);
}

static void list_family_values(struct search_state *s)
{
    s->out->family_values = ARENA_ROOM(s->a, double, s->n_families);
    for (size_t i = 0; i < s->n_families; i++)
        if (s->families[i].any)
            s->out->family_values[s->out->n_family_values++] = s->families[i].best_value;
}

static void search_all(struct search_state *s)
{
    struct search_result *out = s->out;
    for (size_t i = 0; i < s->n_families; i++)
        for (size_t k = 0; k < s->families[i].n; k++)
            out->space += (double)s->families[i].candidates[k].n_accumulations;
    out->whole = out->space <= (double)s->q->exhaustive;
    search_near_own(s);
    out->n_bounded = s->n_families - search_families(s);
    if (!s->stopped && !out->whole)
        divide_again(s);
    list_family_values(s);
    out->stopped = s->stopped || s->any_unplanned;
    out->whole &= !out->stopped;
    out->exact = !s->any_unplanned && (!s->any_open || (out->any && !search_better(s->q->objective, s->open_bound, out->best.value)));
    out->best_bound = s->any_unplanned ? NAN : s->open_bound;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static void settle_limits(struct search_request *q, const struct result *own)
{
    if (q->fits.high == 0)
        q->fits = (struct limit){ FITS_SURELY, 1 };
    if (q->ipus.high == 0)
        q->ipus = (struct limit){ (double)own->ipus, (double)own->ipus };
    if (q->global_batch.high == 0 && q->tokens.high == 0)
        q->global_batch = (struct limit){ own->global_batch * 0.95, own->global_batch * 1.05 };
    if (q->global_batch.high == 0)
        q->global_batch.high = NO_LIMIT;
    if (q->token_rate.high > 0) {                   /* a sample is a text, which gets one token */
        q->throughput.low = fmax(q->throughput.low, q->token_rate.low);
        q->throughput.high = q->throughput.high > 0 ? q->throughput.high : NO_LIMIT;
    }
}

/* Keeps what the search needs from the unchanged recipe, while its simulation exists. */
static void keep_own(struct search_state *s, const struct simulation *sim, const struct result *r)
{
    s->recipe = sim->recipe;
    s->framework = sim->framework;
    s->training = sim->plan.request.training;
    s->samples_per_item = recipe_samples_per_item(&sim->recipe);
    s->samples = fmax(1, r->samples_to_converge);
    s->converges_by_batch = sim->recipe.converge != NULL;
    struct power power;
    machine_power(&power, sim->machine, 1);
    s->power_w = power.has_law ? power.idle_w + power.boards_rest_w : power.waiting_w;
    s->out->own = copied(s, r, NULL, 0);
    s->out->own_counts = counts(s, r);
    s->out->n_simulated = 1;
    consider_result(s, r, NULL, 0);
}

static bool check_request(const struct search_request *q, const struct simulation *sim, const struct result *r, struct err *err)
{
    bool timed = q->objective != MINIMISE_TIME_TO_TRAIN || is_known(r->time_to_train_s);
    bool powered = q->objective != MINIMISE_ENERGY || is_known(r->energy_site_j);
    if (search_is_set(q, "parallel.available_memory") && sim->recipe.available_memory && strchr(sim->recipe.available_memory, ','))
        return fail(err, "--set parallel.available_memory: a search needs one share for all IPUs; give one, or leave it out");
    if (q->token_rate.high > 0 && !is_known(r->throughput_tokens_per_s))
        return fail(err, "%s generates no tokens, so no token rate can be asked for; give samples/s, or set generation.new_tokens", q->recipe);
    return (timed && powered)
        || fail(err, "%s: has no %s: set %s", q->recipe, objective_names[q->objective],
                timed ? "machine.board_power_w, or the chip's tdp_w and idle_power_w" : "training.converge=model, epochs or samples_to_converge");
}

static void search_space(struct search_state *s)
{
    search_settle_dimensions(s);
    search_compile(s);
    search_list_families(s);
    search_all(s);
}

static void search_in_parallel(struct search_state *s, struct search_request *q)
{
    simulator_pool_open(&s->pool, s->q->simulator->paths, s->q->n_threads ? s->q->n_threads : 1,
              (struct simulator_options){ .totals_only = true, .verdict_only = true });
    s->trials = ARENA_ROOM(s->a, struct trial, MOST_TRIALS);
    const size_t n_given = q->n_given;
    search_space(s);
    for (size_t i = 0; i < N_RESORTS && !s->out->any && !s->stopped; i++) {
        q->n_given = n_given;
        if (search_resort(s, q, i))
            search_space(s);
    }
    arena_free(&s->trial_arena);
    simulator_pool_close(&s->pool);
}

bool search(struct search_result *out, const struct search_request *given, struct arena *a, struct err *err)
{
    struct search_request q = *given;
    struct search_state s = { .q = &q, .out = out, .a = a };
    struct simulation sim;
    struct result r;
    *out = (struct search_result){0};
    if (!search_simulate(&sim, &r, q.simulator, &q, NULL, 0, err))
        return false;
    settle_limits(&q, &r);
    bool good = check_request(&q, &sim, &r, err);
    if (good) {
        keep_own(&s, &sim, &r);
        search_in_parallel(&s, &q);
    }
    simulation_free(&sim);
    return good;
}
