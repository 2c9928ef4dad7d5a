/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remedies.c - changes that may make a model fit. Each change is a few overrides after the recipe's own, and is simulated.
 *
 * A smaller micro-batch keeps the global batch by more gradient accumulation. More IPUs for a replica keep the number of IPUs by fewer
 * replicas; if one replica is left, they take more IPUs of the system. Wider replicas spread the layers evenly and take a schedule that the
 * framework can run. Two changes are tried together only if no single one fits, more only if no two fit, and IPUs in turn and phases only if nothing else fits.
 * A change that cannot be simulated (a pipeline too short to fill, more stages than layers, no memory to stream to) is left out.
 */
#include "results/simulate/simulator.h"
#include "results/simulate/split.h"

#include <jansson.h>

static const char divided_anew[] = "parallel.layers_per_ipu=", widens[] = "parallel.ipus_per_replica=";

static struct remedy *add_remedy(struct remedy *out, size_t *n, const char *what)
{
    assert(*n < MAX_SINGLE_REMEDIES);
    struct remedy *r = &out[(*n)++];
    *r = (struct remedy){ .what = what };
    return r;
}

static void remedy_set(struct remedy *r, const char *text)
{
    assert(r->n_sets < MAX_REMEDY_SETS);
    r->sets[r->n_sets++] = text;
}

static bool has_table(const struct recipe *r)
{
    const struct workload *w = recipe_workload(r);
    return w && w->traits & HAS_TABLE;
}

/* Lists the word table on twice as many stages, and on as many IPUs if a replica has fewer. A recipe without a pipeline can use the first together
 * with wider replicas; the second keeps its IPUs working in turn. */
static void list_table_remedy(struct remedy *out, size_t *n, const struct recipe *r, const struct plan_request *o, struct arena *a)
{
    uint64_t parts = 2 * max_u64(r->model.embedding_split, 1);
    if (!has_table(r) || plan_is_phased(o) || plan_tensor_replicas(o) > 1 || parts > r->ipus_per_replica * 4)
        return;
    struct remedy *split = add_remedy(out, n, arena_printf(a, "the word table over %" PRIu64 " stages", parts));
    remedy_set(split, arena_printf(a, "parallel.embedding_split=%" PRIu64, parts));
    remedy_set(split, divided_anew);
    if (r->ipus_per_replica >= parts)
        return;
    struct remedy *apart = add_remedy(out, n, arena_printf(a, "the word table over %" PRIu64 " IPUs", parts));
    *apart = (struct remedy){ .what = apart->what, .sets = { arena_printf(a, "%s%" PRIu64, widens, parts), split->sets[0], divided_anew }, .n_sets = 3 };
    remedy_set(apart, arena_printf(a, "parallel.replicas=%" PRIu64, max_u64(r->replicas * r->ipus_per_replica / parts, 1)));
}

/* The cut of layers over `width` IPUs, which keeps the second axis of the recipe's own cut. NULL if the width is no multiple of it. */
static const char *cut_over_ipus(const struct recipe *r, uint64_t width, struct arena *a)
{
    uint32_t axes[2] = { 1, 1 };
    if (r->model.tensor_parallel && !tensor_axes(axes, r->model.tensor_parallel))
        return NULL;
    if (axes[1] > 1)
        return width % axes[1] ? NULL : arena_printf(a, "parallel.tensor_parallel=%" PRIu64 "x%u", width / axes[1], axes[1]);
    return arena_printf(a, "parallel.tensor_parallel=%" PRIu64, width);
}

/* Phases as PopXL's programs have them: weights off the chip, and layers cut over all IPUs of a replica, which run one after another. */
static struct remedy phases_over(const struct recipe *r, uint64_t width, const char *cut, struct arena *a)
{
    struct remedy phases = { .what = width == r->ipus_per_replica ? "weights off the chip, in phases of one block"
                                 : arena_printf(a, "weights off the chip, in phases of one block, on %" PRIu64 " IPUs per replica", width) };
    uint64_t replicas = max_u64(r->replicas * r->ipus_per_replica / width, 1), samples = max_u64(r->gradient_accumulation, 1) * r->replicas;
    remedy_set(&phases, "parallel.weights=streaming");
    if (width > 1)
        remedy_set(&phases, cut);
    if (r->layers_per_ipu)
        remedy_set(&phases, "parallel.layers_per_ipu=");
    if (r->model.embedding_split)
        remedy_set(&phases, "parallel.embedding_split=");
    if (width != r->ipus_per_replica) {
        remedy_set(&phases, arena_printf(a, "%s%" PRIu64, widens, width));
        remedy_set(&phases, arena_printf(a, "parallel.replicas=%" PRIu64, replicas));
    }
    if (r->mode == MODE_TRAIN && replicas != r->replicas)
        remedy_set(&phases, arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, ceil_div(samples, replicas)));
    if (r->instances > replicas)
        remedy_set(&phases, "hosts.instances=1");
    return phases;
}

static bool may_run_in_phases(const struct recipe *r, const struct plan_request *o)
{
    const struct workload *w = recipe_workload(r);
    const unsigned wanted = HAS_ATTENTION | TAKES_SEQUENCES;
    return w && (w->traits & wanted) == wanted && o->program.phases;
}

static void list_memory_remedies(struct remedy *out, size_t *n, const struct recipe *r, const struct plan_request *o, const char *smaller,
                                 struct arena *a)
{
    if (o->training && o->recompute != RECOMPUTE_LAYER)
        remedy_set(add_remedy(out, n, "recompute every layer"), "parallel.recompute=layer");
    if (o->training && o->state.rts == RTS_NO && o->n_replicas > 1)
        remedy_set(add_remedy(out, n, "shard the optimizer state over the replicas"), "parallel.rts=yes");
    if (o->training && o->state.place == OPTIMIZER_ON_CHIP)
        remedy_set(add_remedy(out, n, "stream the optimizer state"), "parallel.optimizer_state=streaming");
    if (o->training && o->stash_type != TYPE_FP8 && r->ipus_per_replica > 1)
        remedy_set(add_remedy(out, n, "stash activations as fp8"), "parallel.stash_type=fp8");
    remedy_set(add_remedy(out, n, "less memory for temporaries"), arena_printf(a, "parallel.available_memory=%s", smaller ? smaller : "0.1"));
    if (has_table(r))
        remedy_set(add_remedy(out, n, "products with the embedding in four times as many steps"),
                   arena_printf(a, "parallel.embedding_serial_steps=%" PRIu64, 4 * max_u64(r->model.embedding_serial_steps, 1)));
    list_table_remedy(out, n, r, o, a);
    if (o->io_tiles)
        remedy_set(add_remedy(out, n, "twice the I/O tiles"), arena_printf(a, "parallel.io_tiles=%u", 2 * o->io_tiles));
}

uint64_t most_ipus_tried(const struct recipe *r, const struct machine *m)
{
    return min_u64(max_u64(r->replicas * r->ipus_per_replica, min_u64(MOST_IPUS_TRIED, m->n_ipus)), MAX_REPLICA_IPUS);
}

/* The accumulation, rounded up to a multiple of four times the stages, which every schedule can run. The global batch may grow a little. */
static const char *rounded_accumulation(const struct recipe *r, uint64_t replicas, uint64_t width, struct arena *a)
{
    uint64_t accumulation = ceil_div(max_u64(r->gradient_accumulation, 1) * r->replicas, replicas), multiple = 4 * width;
    return arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, ceil_div(accumulation, multiple) * multiple);
}

/* More IPUs for a replica, and fewer replicas. A pipeline's stages work at the same time on their own micro-batches; others work in turn. */
static void widen_replicas(struct remedy *wider, const struct simulation *sim, uint64_t width, bool pipelined, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    uint64_t replicas = max_u64(r->replicas * r->ipus_per_replica / width, 1);
    remedy_set(wider, arena_printf(a, "%s%" PRIu64, widens, width));
    remedy_set(wider, arena_printf(a, "parallel.replicas=%" PRIu64, replicas));
    remedy_set(wider, divided_anew);
    if (r->mode == MODE_TRAIN && r->schedule == SCHEDULE_NONE && pipelined)
        remedy_set(wider, arena_printf(a, "parallel.schedule=%s", framework_pipeline(&sim->framework, a)));
    if (r->mode == MODE_TRAIN)
        wider->rounded = rounded_accumulation(r, replicas, width, a);
    if (replicas == 1 && width > r->replicas * r->ipus_per_replica && r->instances > 1)
        remedy_set(wider, "hosts.instances=1");
}

static void list_wider_replicas(struct remedy *out, size_t *n, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    for (uint64_t width = 2 * r->ipus_per_replica; width <= most_ipus_tried(r, sim->machine); width *= 2)
        widen_replicas(add_remedy(out, n, width == 2 * r->ipus_per_replica ? "twice the IPUs per replica" : arena_printf(a, "%" PRIu64 " IPUs per replica", width)), sim, width, true, a);
}

static void list_shape_remedies(struct remedy *out, size_t *n, const struct simulation *sim, bool keeps_micro_batch, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    if (r->model.micro_batch > 1 && !keeps_micro_batch) {
        struct remedy *half = add_remedy(out, n, "half the micro-batch");
        remedy_set(half, arena_printf(a, "parallel.micro_batch=%" PRIu64, r->model.micro_batch / 2));
        if (r->mode == MODE_TRAIN)
            remedy_set(half, arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, 2 * r->gradient_accumulation));
    }
    list_wider_replicas(out, n, sim, a);
}

/* Keeps the division of layers that the simulation found. A division that needs another accumulation is not kept, as may happen if heads have a
   stage of their own. */
static void note_division(struct remedy *r, const struct simulation *sim, struct arena *a)
{
    const struct plan_request *o = &sim->plan.request;
    char text[640];
    if (!recipe_check_schedule(o, &sim->framework, NULL))
        return;
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->sets[i] == divided_anew && o->n_stages) {
            split_text(text, sizeof text, o);
            r->division = arena_printf(a, "%s%s", divided_anew, text);
        }
}

/* Replaces "divide anew" by the division that was found, so that simulating the change needs no search. */
static void name_division(struct remedy *r)
{
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->sets[i] == divided_anew && r->division)
            r->sets[i] = r->division;
}

/* Simulates the change and fills its outcome; false if it cannot be simulated. */
static bool try_remedy(struct remedy *r, const struct simulation_request *q, struct arena *a)
{
    struct simulation sim;
    struct result result;
    bool good = simulate_with(&sim, &result, q, r->sets, r->n_sets, NULL);
    if (!good && r->rounded && r->n_sets < MAX_REMEDY_SETS) {
        remedy_set(r, r->rounded);
        good = simulate_with(&sim, &result, q, r->sets, r->n_sets, NULL);
    }
    if (!good)
        return false;
    r->fits = result.fits;
    r->fits_probability = result.fits_probability;
    r->throughput_samples_per_s = result.throughput_samples_per_s;
    r->shortfall_bytes_per_tile = result.memory_shortfall_bytes_per_tile;
    note_division(r, &sim, a);
    simulation_free(&sim);
    return true;
}

static int remedy_order(const void *x, const void *y)
{
    const struct remedy *a = x, *b = y;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if (a->fits && a->throughput_samples_per_s != b->throughput_samples_per_s)
        return a->throughput_samples_per_s > b->throughput_samples_per_s ? -1 : 1;
    if (a->shortfall_bytes_per_tile != b->shortfall_bytes_per_tile)
        return a->shortfall_bytes_per_tile < b->shortfall_bytes_per_tile ? -1 : 1;
    return strcmp(a->what, b->what);
}

/* False if both changes set the number of IPUs; no other two listed changes set the same key. */
static bool is_pair(const struct remedy *x, const struct remedy *y)
{
    return !(strncmp(x->sets[0], widens, strlen(widens)) == 0 && strncmp(y->sets[0], widens, strlen(widens)) == 0);
}

static bool has_set(const struct remedy *r, const char *text)
{
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->sets[i] == text)
            return true;
    return false;
}

static struct remedy remedies_together(const struct remedy *x, const struct remedy *y, struct arena *a)
{
    struct remedy both = *x;
    both.rounded = x->rounded ? x->rounded : y->rounded;
    for (uint32_t k = 0; k < y->n_sets; k++)
        if (!has_set(x, y->sets[k]))
            remedy_set(&both, y->sets[k]);
    both.what = arena_printf(a, "%s, and %s", x->what, y->what);
    return both;
}

static size_t find_pairs(struct remedy *out, const struct remedy *listed, size_t n_listed, const struct simulation_request *q, struct arena *a)
{
    struct remedy pairs[MAX_SINGLE_REMEDIES * MAX_SINGLE_REMEDIES];
    size_t n = 0, kept = 0, tried = 0;
    for (size_t j = 1; j < n_listed; j++)
        for (size_t i = 0; i < j; i++) {
            pairs[n] = remedies_together(&listed[i], &listed[j], a);
            n += is_pair(&listed[i], &listed[j]) && try_remedy(&pairs[n], q, a) && pairs[n].fits;
            watch_report(&q->simulator->watch, "trying remedies in pairs", ++tried, n_listed * (n_listed - 1) / 2);
        }
    sort_items(pairs, n, sizeof *pairs, remedy_order);
    for (; kept < n && kept < MAX_PAIRS; kept++)
        out[kept] = pairs[kept];
    return kept;
}

/* True if the two changes set one key to different values. */
static bool sets_same_key(const struct remedy *x, const struct remedy *y)
{
    for (uint32_t i = 0; i < x->n_sets; i++)
        for (uint32_t k = 0; k < y->n_sets; k++)
            if (x->sets[i] != y->sets[k] && strncmp(x->sets[i], y->sets[k], strcspn(x->sets[i], "=") + 1) == 0)
                return true;
    return false;
}

/* Adds to `so_far` the listed change that leaves the smallest shortfall; false if no change makes it smaller. */
static bool add_most_helpful(struct remedy *so_far, const struct remedy *listed, size_t n_listed, const struct simulation_request *q, struct arena *a)
{
    struct remedy best = *so_far;
    for (size_t i = 0; i < n_listed; i++) {
        if (sets_same_key(so_far, &listed[i]))
            continue;
        struct remedy more = remedies_together(so_far, &listed[i], a);
        if (try_remedy(&more, q, a) && (more.fits || more.shortfall_bytes_per_tile < best.shortfall_bytes_per_tile))
            best = more;
        if (best.fits)
            break;
    }
    bool better = best.n_sets > so_far->n_sets;
    *so_far = best;
    return better;
}

/* Starts from the most helpful change and adds the next most helpful ones until the model fits. */
static bool find_remedy_chain(struct remedy *out, const struct remedy *listed, size_t n_listed, const struct simulation_request *q, struct arena *a)
{
    *out = listed[0];
    for (size_t i = 1; i < n_listed; i++)
        if (listed[i].shortfall_bytes_per_tile && (!out->shortfall_bytes_per_tile || listed[i].shortfall_bytes_per_tile < out->shortfall_bytes_per_tile))
            *out = listed[i];
    while (!out->fits && add_most_helpful(out, listed, n_listed, q, a))
        ;
    return out->fits;
}

/* Adds listed changes to the last of these remedies, if it does not fit alone. */
static void help_last(struct remedy *out, size_t n, const struct remedy *listed, size_t n_listed, const struct simulation_request *q, struct arena *a)
{
    while (n && !out[n - 1].fits && add_most_helpful(&out[n - 1], listed, n_listed, q, a))
        ;
}

/* Tries a model without a pipeline on more and more IPUs that work in turn, until one number surely fits; returns how many could be simulated. */
static size_t find_in_turn(struct remedy *out, const struct remedy *listed, size_t n_listed, const struct simulation *sim, const struct simulation_request *q, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    size_t n = 0;
    bool surely = r->mode != MODE_TRAIN || r->schedule != SCHEDULE_NONE || plan_is_phased(&sim->plan.request) || plan_tensor_replicas(&sim->plan.request) > 1;
    for (uint64_t width = 2 * r->ipus_per_replica; !surely && n < MAX_RESORTS && width <= most_ipus_tried(r, sim->machine); width *= 2) {
        out[n] = (struct remedy){ .what = arena_printf(a, "%" PRIu64 " IPUs per replica, in turn", width) };
        widen_replicas(&out[n], sim, width, false, a);
        if (try_remedy(&out[n], q, a))
            surely = out[n++].fits_probability >= FITS_SURELY;
    }
    help_last(out, n, listed, n_listed, q, a);
    return n;
}

/* Tries phases on the recipe's IPUs, then on twice as many, until one surely fits, then cuts along one axis where the recipe has two, and adds listed changes if none fits. Returns how many could
 * be simulated. */
static size_t find_phases(struct remedy *out, const struct remedy *listed, size_t n_listed, const struct simulation *sim, const struct simulation_request *q,
                          struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    size_t n = 0;
    bool phased = plan_is_phased(&sim->plan.request), surely = !may_run_in_phases(r, &sim->plan.request);
    for (uint64_t width = phased ? 2 * r->ipus_per_replica : r->ipus_per_replica; !surely && n < MAX_RESORTS && width <= most_ipus_tried(r, sim->machine); width *= 2) {
        const char *cut = cut_over_ipus(r, width, a);
        if (width > 1 && !cut)
            continue;
        out[n] = phases_over(r, width, cut, a);
        if (try_remedy(&out[n], q, a))
            surely = out[n++].fits_probability >= FITS_SURELY;
    }
    bool two_axes = r->model.tensor_parallel && strchr(r->model.tensor_parallel, 'x');
    for (uint64_t width = 2; two_axes && !surely && n < MAX_RESORTS && width <= most_ipus_tried(r, sim->machine); width *= 2) {
        out[n] = phases_over(r, width, arena_printf(a, "parallel.tensor_parallel=%" PRIu64, width), a);
        out[n].what = arena_printf(a, "%s, cut along one axis", out[n].what);
        if (try_remedy(&out[n], q, a))
            surely = out[n++].fits_probability >= FITS_SURELY;
    }
    help_last(out, n, listed, n_listed, q, a);
    return n;
}

static size_t find_last_resorts(struct remedy *out, const struct remedy *listed, size_t n_listed, const struct simulation *sim, const struct simulation_request *q,
                                struct arena *a)
{
    size_t n = find_in_turn(out, listed, n_listed, sim, q, a);
    return n && out[n - 1].fits ? n : find_phases(out, listed, n_listed, sim, q, a);
}

bool remedies_find(struct remedy *out, size_t *n, const struct remedy_request *asked, struct arena *a, struct err *err)
{
    const struct simulation *sim = asked->sim;
    const struct simulation_request q = { .recipe = asked->recipe, .overrides = asked->overrides, .n_overrides = asked->n_overrides,
                                          .simulator = sim->simulator, .options = sim->simulator->options };
    struct remedy listed[MAX_SINGLE_REMEDIES];
    size_t n_listed = 0;
    if (sim->plan.fits)
        return fail(err, "%s fits: nothing to remedy", asked->recipe);
    list_memory_remedies(listed, &n_listed, &sim->recipe, &sim->plan.request, sim->smaller_available_memory, a);
    list_shape_remedies(listed, &n_listed, sim, asked->keeps_micro_batch, a);
    *n = 0;
    bool enough = false;
    for (size_t i = 0; i < n_listed; i++) {
        if (try_remedy(&listed[i], &q, a))
            out[(*n)++] = listed[i];
        enough = enough || listed[i].fits;
        watch_report(&sim->simulator->watch, "trying remedies", i + 1, n_listed);
    }
    sort_items(out, *n, sizeof *out, remedy_order);
    if (!enough) {
        size_t n_more = find_pairs(out + *n, listed, n_listed, &q, a);
        n_more = n_more ? n_more : n_listed && find_remedy_chain(out + *n, listed, n_listed, &q, a);
        *n += n_more ? n_more : find_last_resorts(out + *n, listed, n_listed, sim, &q, a);
        sort_items(out, *n, sizeof *out, remedy_order);
    }
    for (size_t i = 0; i < *n; i++)
        name_division(&out[i]);
    return true;
}

struct remedy_row { const char *what, *outcome, *settings; };
static const struct table_column remedy_columns[] = {
#define C(member) { COLUMN(struct remedy_row, member), .heading = "" }
    C(what), C(outcome), C(settings),
#undef C
};

void remedies_document(struct document *d, const struct remedy *r, size_t n)
{
    struct table *t = document_table(d, TABLE(remedy_columns, struct remedy_row, .formats = IN_TEXT, .title = "does not fit; what was tried:", .indent = "  "));
    for (size_t i = 0; i < n; i++) {
        const char *outcome = r[i].fits ? arena_printf(d->arena, "fits (%s), %.6g samples/s:", likely_text(r[i].fits_probability, d->arena), r[i].throughput_samples_per_s)
                                        : arena_printf(d->arena, "%s too many on the fullest tile:", quantity_kept((double)r[i].shortfall_bytes_per_tile, "B", 3, d->arena));
        const char *settings = arena_printf(d->arena, "--set %s", names_joined(r[i].sets, r[i].n_sets, " --set ", d->arena));
        table_keep(t, &(struct remedy_row){ r[i].what, outcome, settings }, d->arena);
    }
}

json_t *remedies_json(const struct remedy *r, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(all, json_pack("{s:s, s:o, s:b, s:f, s:f, s:I}", "what", r[i].what, "set", json_words(r[i].sets, r[i].n_sets), "fits", r[i].fits,
                                             "fits_probability", r[i].fits_probability, "throughput_samples_per_s", r[i].throughput_samples_per_s, "shortfall_bytes_per_tile",
                                             (json_int_t)r[i].shortfall_bytes_per_tile));
    }
    return all;
}
