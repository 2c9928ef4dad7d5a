/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - searches the largest sizes that fit, by doubling and then by halving the interval.
 *
 * Memory need not grow with the size: a larger size may divide more evenly over the tiles, or keep no gradients because nothing is
 * accumulated. So sizes just above the first one that does not fit, and sizes twice as large, are tried as well, and one that fits is
 * reported. The IPUs of a replica are tried as powers of two and as the recipe's own number, up to the IPUs that the recipe uses, or 16 if the
 * system has that many.
 */
#include "results/study/fit.h"
#include "system-model/graph/graph.h"

const char *const fit_axis_keys[N_FIT_AXES] = {
    [FIT_MICRO_BATCH] = "parallel.micro_batch", [FIT_SEQUENCE_LENGTH] = "data.sequence_length", [FIT_IPUS] = "parallel.ipus_per_replica",
    [FIT_ROWS] = "data.vocabulary",
};

/* Limits of the sizes. Sequence lengths are multiples of 8, because others do not fill tiles evenly. */
enum { MOST_SAMPLES = 65536, MOST_TOKENS = 16384, TOKENS_STEP = 8, MOST_TABLE_ROWS = 1000000000, TABLE_ROWS_STEP = 1000, MOST_SIZE_SETS = 8, TRIED_AFTER = 4, USUAL_TRIALS = 50 };

struct fit_search {
    struct fit_answer *out;
    const struct fit_request *q;
    const struct recipe *recipe;
    const char *pipeline;               /* the schedule to use for a model without a pipeline when its layers are split */
    struct arena *a;
    size_t n_tried;
};

/* ---- one size ------------------------------------------------------------------------------------------ */

struct size_sets {
    const char *texts[MOST_SIZE_SETS]; size_t n;
    bool keeps_batch;                   /* the last set is an accumulation that keeps the global batch */
    const char *rounded;                /* an override with an accumulation that every schedule can run, tried last; may be NULL */
};

static void add_set(struct size_sets *s, const char *key, uint64_t value, struct arena *a)
{
    s->texts[s->n++] = arena_printf(a, "%s=%" PRIu64, key, value);
}

/* Adds the accumulation that keeps the global batch as the last set, so that it can be dropped. */
static void keep_global_batch(struct size_sets *s, const struct recipe *r, uint64_t from, uint64_t to, struct arena *a)
{
    uint64_t accumulation = max_u64(r->gradient_accumulation, 1);
    s->keeps_batch = r->mode == MODE_TRAIN && from != to && accumulation * from % to == 0;
    if (s->keeps_batch)
        add_set(s, "parallel.gradient_accumulation", accumulation * from / to, a);
}

/* True if every layer is cut over all IPUs of a replica, so that other numbers of IPUs need another cut. */
static bool cuts_over_all(const struct recipe *r)
{
    uint32_t n[2];
    return r->model.tensor_parallel && tensor_axes(n, r->model.tensor_parallel) && n[0] * n[1] == r->ipus_per_replica;
}

/* The setting that cuts layers over `width` IPUs. It keeps the second axis of the recipe's cut if that divides the width. */
static const char *cut_over(const struct recipe *r, uint64_t width, struct arena *a)
{
    uint32_t n[2];
    bool two = tensor_axes(n, r->model.tensor_parallel) && n[1] > 1 && width % n[1] == 0;
    return two ? arena_printf(a, "parallel.tensor_parallel=%" PRIu64 "x%u", width / n[1], n[1]) : arena_printf(a, "parallel.tensor_parallel=%" PRIu64, width);
}

static void set_ipus(struct size_sets *s, const struct fit_search *by, uint64_t width, struct arena *a)
{
    const struct recipe *r = by->recipe;
    uint64_t replicas = max_u64(r->replicas * r->ipus_per_replica / width, 1);
    add_set(s, "parallel.replicas", replicas, a);
    s->texts[s->n++] = "parallel.layers_per_ipu=";
    if (cuts_over_all(r))
        s->texts[s->n++] = cut_over(r, width, a);
    else if (r->mode == MODE_TRAIN && r->schedule == SCHEDULE_NONE && width > 1)
        s->texts[s->n++] = arena_printf(a, "parallel.schedule=%s", by->pipeline);
    keep_global_batch(s, r, r->replicas, replicas, a);
    uint64_t accumulation = ceil_div(max_u64(r->gradient_accumulation, 1) * r->replicas, replicas), multiple = 4 * width;
    if (r->mode == MODE_TRAIN)
        s->rounded = arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, ceil_div(accumulation, multiple) * multiple);
}

/* The settings that give the recipe this size; none for the recipe's own size. */
static struct size_sets sets_of(const struct fit_search *s, const struct fit_axis *axis, uint64_t size)
{
    struct size_sets sets = { .n = 0 };
    if (size == axis->own)
        return sets;
    add_set(&sets, fit_axis_keys[axis->kind], size, s->a);
    if (axis->kind == FIT_MICRO_BATCH)
        keep_global_batch(&sets, s->recipe, axis->own, size, s->a);
    if (axis->kind == FIT_IPUS)
        set_ipus(&sets, s, size, s->a);
    return sets;
}

/* Simulates a size. If its accumulation is refused, for example because it does not fill the pipeline, the recipe's own accumulation is tried,
 * and then the rounded one. */
static bool simulate_size(struct simulation *sim, struct result *r, struct size_sets *sets, const struct simulation_request *q,
                          struct err *err)
{
    bool good = simulate_with(sim, r, q, sets->texts, sets->n, err);
    if (!good && sets->keeps_batch)
        good = simulate_with(sim, r, q, sets->texts, --sets->n, err);
    if (!good && sets->rounded) {
        sets->texts[sets->n++] = sets->rounded;
        good = simulate_with(sim, r, q, sets->texts, sets->n, err);
    }
    if (good)
        *err = (struct err){0};         /* forgets the message about a refused accumulation */
    return good;
}

static void fill_size(struct fit_size *x, const struct simulation *sim, const struct result *r, struct arena *a)
{
    uint32_t n = sim->plan.request.ipus_per_replica;
    struct tile_memory *memory = ARENA_ARRAY(a, struct tile_memory, n);
    memcpy(memory, sim->plan.memory, n * sizeof *memory);
    *x = (struct fit_size){ .size = x->size, .fits = r->fits, .fits_published = r->fits_published, .fits_probability = r->fits_probability,
                            .fits_probability_counted = r->fits_probability_counted, .memory_distance = r->memory_distance, .n_ipus = n, .memory = memory,
                            .worst_ipu = sim->plan.worst_ipu, .shortfall_bytes = r->memory_shortfall_bytes_per_tile,
                            .throughput_samples_per_s = r->throughput_samples_per_s, .global_batch = r->global_batch };
}

const struct fit_size *fit_tried(const struct fit_axis *axis, uint64_t size)
{
    for (size_t i = 0; i < axis->n; i++)
        if (axis->sizes[i].size == size)
            return &axis->sizes[i];
    return NULL;
}

static const struct fit_size *keep_size(struct fit_axis *axis, struct fit_size x, struct arena *a)
{
    axis->sizes = arena_grow(a, axis->sizes, axis->n, &axis->cap, sizeof *axis->sizes);
    size_t at = axis->n++;
    for (; at > 0 && axis->sizes[at - 1].size > x.size; at--)
        axis->sizes[at] = axis->sizes[at - 1];
    axis->sizes[at] = x;
    return &axis->sizes[at];
}

static const char *without_path(const char *message, const char *path, struct arena *a)
{
    size_t n = strlen(path);
    return arena_strdup(a, strncmp(message, path, n) == 0 && strncmp(message + n, ": ", 2) == 0 ? message + n + 2 : message);
}

static const struct fit_size *try_size(struct fit_search *s, struct fit_axis *axis, uint64_t size)
{
    const struct fit_size *known = fit_tried(axis, size);
    if (known)
        return known;
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    struct simulation_request q = s->q->simulation;
    struct fit_size x = { .size = size };
    struct size_sets sets = sets_of(s, axis, size);
    q.options.verdict_only = q.options.step_only = true;
    if (simulate_size(&sim, &r, &sets, &q, &err)) {
        fill_size(&x, &sim, &r, s->a);
        simulation_free(&sim);
    } else {
        x.refused = without_path(err.msg, s->recipe->path, s->a);
    }
    s->n_tried++;
    watch_report(&q.simulator->watch, "trying sizes", s->n_tried, max_u64(s->n_tried + 1, USUAL_TRIALS));
    return keep_size(axis, x, s->a);
}

/* ---- the largest ----------------------------------------------------------------------------------------- */

static bool size_fits(struct fit_search *s, struct fit_axis *axis, uint64_t size, double least)
{
    const struct fit_size *x = try_size(s, axis, size);
    return x->fits && x->fits_probability >= least;
}

/* Doubles the size as long as it fits, or halves it until it does. *fits is 0 if no size fits, and *fails is 0 if all do. */
static void bracket(uint64_t *fits, uint64_t *fails, struct fit_search *s, struct fit_axis *axis, double least)
{
    uint64_t step = axis->step, size = max_u64(axis->own / step, 1) * step;
    *fits = *fails = 0;
    while (size >= step && !size_fits(s, axis, size, least)) {
        *fails = size;
        size = size / 2 / step * step;
    }
    *fits = size;
    while (*fits && !*fails && *fits < axis->most) {
        size = min_u64(2 * *fits, axis->most);
        *(size_fits(s, axis, size, least) ? fits : fails) = size;
    }
}

/* The largest size that fits with at least this probability. *next is the next size, which does not, or 0 if every size fits. */
static uint64_t find_largest(uint64_t *next, struct fit_search *s, struct fit_axis *axis, double least)
{
    uint64_t fits, fails, step = axis->step;
    bracket(&fits, &fails, s, axis, least);
    while (fails && fails - fits > step) {
        uint64_t middle = fits + (fails - fits) / 2 / step * step;
        *(size_fits(s, axis, middle, least) ? &fits : &fails) = middle;
    }
    *next = fails;
    return fits;
}

static void look_further(struct fit_search *s, struct fit_axis *axis)
{
    for (uint64_t k = 1; axis->next && k <= TRIED_AFTER; k++)
        if (axis->next + k * axis->step <= axis->most)
            try_size(s, axis, axis->next + k * axis->step);
    for (uint64_t size = 2 * axis->next; axis->next && size <= min_u64(4 * axis->next, axis->most); size *= 2)
        try_size(s, axis, size);
    for (size_t i = 0; i < axis->n; i++)
        if (axis->next && axis->sizes[i].size > axis->next && axis->sizes[i].fits)
            axis->fits_again = axis->sizes[i].size;
}

static void search_sizes(struct fit_search *s, struct fit_axis *axis)
{
    uint64_t unused;
    if (!axis->step)
        return;
    try_size(s, axis, axis->own);
    axis->best = find_largest(&axis->next, s, axis, 0);
    axis->best_surely = find_largest(&unused, s, axis, FITS_SURELY);
    look_further(s, axis);
    for (uint64_t size = axis->best; size >= axis->step; size = size / 2 / axis->step * axis->step)
        try_size(s, axis, size);                /* shows how memory grows up to the largest size */
}

/* The next number of IPUs to try: the next power of two, or the recipe's own number if that comes first. */
static uint64_t wider_replica(const struct fit_axis *axis, uint64_t width)
{
    uint64_t power = 1;
    while (power <= width)
        power *= 2;
    return axis->own > width && axis->own < power ? axis->own : power;
}

/* Finds the fewest IPUs that fit. axis->next is the largest number tried that does not fit. */
static void search_ipus(struct fit_search *s, struct fit_axis *axis)
{
    for (uint64_t width = 1; width <= axis->most && !axis->best_surely; width = wider_replica(axis, width)) {
        if (!axis->best && size_fits(s, axis, width, 0))
            axis->best = width;
        if (size_fits(s, axis, width, FITS_SURELY))
            axis->best_surely = width;
        if (!axis->best)
            axis->next = width;
    }
}

/* ---- what fills the tile, and what helps ------------------------------------------------------------------- */

static uint64_t layer_bytes(const struct fit_layer *l)
{
    return l->held_bytes + l->stash_bytes + l->work_bytes;
}

static int by_bytes(const void *x, const void *y)
{
    uint64_t a = layer_bytes(x), b = layer_bytes(y);
    return a != b ? (a < b ? 1 : -1) : strcmp(((const struct fit_layer *)x)->name, ((const struct fit_layer *)y)->name);
}

static void list_layers(struct fit_answer *out, const struct plan *p, struct arena *a)
{
    const struct layer_memory *all = plan_layer_memory(p, a);
    out->layers = ARENA_ARRAY(a, struct fit_layer, p->graph->n_layers);
    for (uint32_t i = 0; i < p->graph->n_layers; i++)
        if (plan_stage_of(p, i)->ipu == p->worst_ipu)
            out->layers[out->n_layers++] = (struct fit_layer){ arena_strdup(a, p->graph->layers[i].name), all[i].held_bytes,
                                                               all[i].stash_bytes, all[i].work_bytes };
    sort_items(out->layers, out->n_layers, sizeof *out->layers, by_bytes);
}

static bool fit_find_layers(struct fit_search *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct simulation_request q = s->q->simulation;
    struct fit_axis *axis = &s->out->axes[FIT_MICRO_BATCH];
    s->out->point = max_u64(axis->best, axis->step);
    struct size_sets sets = sets_of(s, axis, s->out->point);
    q.options.verdict_only = q.options.step_only = true;
    if (!simulate_size(&sim, &r, &sets, &q, err))
        return false;
    list_layers(s->out, &sim.plan, s->a);
    simulation_free(&sim);
    return true;
}

/* The settings of the request, followed by those of the size. */
static const char *const *sets_together(size_t *n, const struct simulation_request *q, const struct size_sets *sets, struct arena *a)
{
    const char **all = ARENA_ARRAY(a, const char *, q->n_overrides + sets->n + 1);
    for (size_t i = 0; i < q->n_overrides; i++)
        all[i] = q->overrides[i];
    for (size_t i = 0; i < sets->n; i++)
        all[q->n_overrides + i] = sets->texts[i];
    *n = q->n_overrides + sets->n;
    return all;
}

static const char *const *copied_sets(const struct size_sets *sets, struct arena *a)
{
    const char **texts = ARENA_ARRAY(a, const char *, sets->n + 1);
    memcpy(texts, sets->texts, sets->n * sizeof *texts);
    return texts;
}

static bool find_remedies_for(struct fit_search *s, uint64_t size, struct err *err)
{
    struct fit_answer *out = s->out;
    struct simulation sim;
    struct result r;
    struct size_sets sets = sets_of(s, &out->axes[FIT_MICRO_BATCH], size);
    if (!simulate_size(&sim, &r, &sets, &s->q->simulation, err))
        return false;
    out->target = size;
    out->target_sets = copied_sets(&sets, s->a);
    out->n_target_sets = sets.n;
    out->target_fits = r.fits;
    out->target_throughput_samples_per_s = r.throughput_samples_per_s;
    struct remedy_request asked = { .sim = &sim, .recipe = s->q->simulation.recipe, .keeps_micro_batch = true };
    asked.overrides = sets_together(&asked.n_overrides, &s->q->simulation, &sets, s->a);
    bool good = r.fits || sim.plan.fits || remedies_find(out->remedies, &out->n_remedies, &asked, s->a, err);
    simulation_free(&sim);
    return good;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static uint64_t own_sequence_length(const struct recipe *r, struct arena *a)
{
    struct recipe_setting *settings;
    size_t n = recipe_settings(&settings, r, a);
    const struct workload *w = recipe_workload(r);
    for (size_t i = 0; i < n; i++)
        if (text_is(settings[i].section, "data") && text_is(settings[i].field->name, "sequence_length") && settings[i].matters)
            return r->model.sequence_length ? r->model.sequence_length : w ? w->default_sequence_length : 0;
    return 0;
}

/* The rows of the recipe's largest table over all replicas; 0 if the model's table has one size only. */
static uint64_t own_rows(const struct recipe *r, const struct graph *g)
{
    const struct workload *w = recipe_workload(r);
    uint64_t rows = r->model.vocabulary;
    if (!w || !(w->traits & HAS_ROW_WIDTH))
        return 0;
    for (size_t i = 0; i < g->n_tensors && !r->model.vocabulary; i++)
        if (g->tensors[i].role == ROLE_WEIGHT)
            rows = max_u64(rows, g->tensors[i].dims[0] * (g->tensors[i].sharded ? r->replicas : 1));
    return rows;
}

static void describe_recipe(struct fit_answer *out, const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    uint64_t length = own_sequence_length(r, a), rows = own_rows(r, sim->graph), together = r->model.shard_tables ? r->replicas : 1;
    *out = (struct fit_answer){
        .recipe = arena_strdup(a, r->id), .workload = arena_strdup(a, r->workload), .system = arena_strdup(a, sim->machine->name),
        .framework = r->framework ? arena_strdup(a, r->framework) : NULL, .n_ipus = r->replicas * r->ipus_per_replica,
        .tile_memory_bytes = sim->machine->chip.tile_memory_bytes, .training = r->mode == MODE_TRAIN };
    const struct fit_axis axes[N_FIT_AXES] = {
        [FIT_MICRO_BATCH] = { .own = r->model.micro_batch, .step = r->model.micro_batch % together ? 1 : together, .most = MOST_SAMPLES },
        [FIT_SEQUENCE_LENGTH] = { .own = length, .step = length ? TOKENS_STEP : 0, .most = MOST_TOKENS },
        [FIT_IPUS] = { .own = r->ipus_per_replica, .step = 1, .most = most_ipus_tried(r, sim->machine) },
        [FIT_ROWS] = { .own = rows, .step = rows ? TABLE_ROWS_STEP : 0, .most = MOST_TABLE_ROWS },
    };
    for (int k = 0; k < N_FIT_AXES; k++) {
        out->axes[k] = axes[k];
        out->axes[k].kind = (enum fit_axis_kind)k;
    }
}

bool fit_find(struct fit_answer *out, const struct fit_request *q, struct arena *a, struct err *err)
{
    struct simulation own;
    struct result r;
    struct fit_search s = { .out = out, .q = q, .a = a };
    if (!simulate_with(&own, &r, &q->simulation, NULL, 0, err))
        return false;
    s.recipe = &own.recipe;
    s.pipeline = framework_pipeline(&own.framework, a);
    describe_recipe(out, &own, a);
    search_sizes(&s, &out->axes[FIT_MICRO_BATCH]);
    search_sizes(&s, &out->axes[FIT_SEQUENCE_LENGTH]);
    search_sizes(&s, &out->axes[FIT_ROWS]);
    search_ipus(&s, &out->axes[FIT_IPUS]);
    uint64_t target = q->size ? q->size : r.fits ? 0 : out->axes[FIT_MICRO_BATCH].own;
    bool good = fit_find_layers(&s, err) && (!target || find_remedies_for(&s, target, err));
    simulation_free(&own);
    return good;
}
