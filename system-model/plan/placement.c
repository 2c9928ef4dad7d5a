/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placement.c - puts layers on stages and stages on IPUs, and costs a stage's forward and backward pass of one micro-batch.
 *
 * The first stage also holds the stem or the embeddings, the last one the heads; stage i is on IPU i mod ipus_per_replica,
 * so a list with one stage more than IPUs brings the heads back to the first IPU, as PopART's BERT does.
 *
 * Recomputation: only checkpoints are kept between a micro-batch's forward and backward pass (the stage's input; every
 * layer's input; the outputs of named layers). Everything else is computed again just before its backward
 * pass, segment by segment. The last segment of the last stage is still there when its backward pass begins.
 */
#include "system-model/plan/stage_program.h"
#include "system-model/graph/graph.h"

/* ---- where layers go ----------------------------------------------------------------- */

static uint32_t count_blocks(const struct graph *g)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_layers; i++)
        if (g->layers[i].role == LAYER_BODY)
            n = max_u32(n, g->layers[i].block_id + 1);
    return n;
}

/* Spreads blocks evenly over the stages; the first stages take the remainder. */
static void spread_evenly(struct stage_size *sizes, uint32_t n_stages, uint32_t n_blocks)
{
    for (uint32_t s = 0; s < n_stages; s++) {
        uint32_t n = n_blocks / n_stages + (s < n_blocks % n_stages);
        sizes[s] = (struct stage_size){ { n, n } };
    }
}

/* The number of stages that hold the layers of a role, which are several if the word table is split. */
static uint32_t count_parts(const struct graph *g, enum layer_role role)
{
    uint32_t n = 1;
    for (size_t i = 0; i < g->n_layers; i++)
        n = g->layers[i].role == role ? max_u32(n, g->layers[i].n_parts) : n;
    return n;
}

/* Sets the stages of a split word table. Each of the first IPUs has one part of the table as a stage. The last stages are on the same IPUs, and
 * each computes the heads' product with its part. */
static bool spread_with_table(struct plan *p, uint32_t n_blocks, struct err *err)
{
    struct plan_request *o = &p->request;
    uint32_t first = count_parts(p->graph, LAYER_FIRST), last = count_parts(p->graph, LAYER_LAST), width = o->ipus_per_replica;
    if (first > width)
        return fail(err, "parallel.embedding_split: %u parts for %u IPUs a replica; give at most one an IPU", first, width);
    p->n_stages = width + (last > 1 ? last : 0);
    memset(o->stage_sizes, 0, p->n_stages * sizeof *o->stage_sizes);
    spread_evenly(o->stage_sizes + first - 1, width - (first - 1), n_blocks);
    return true;
}

/* One stage of a list may take all the blocks that the others leave. */
static bool settle_rest(struct stage_size *sizes, uint32_t n_stages, uint32_t n_blocks, const char *name, struct err *err)
{
    struct stage_size *rest = NULL;
    uint32_t sums[2] = { 0, 0 };
    for (uint32_t s = 0; s < n_stages; s++)
        if (sizes[s].part_count[0] == STAGE_REST)
            rest = &sizes[s];
        else
            sums[0] += sizes[s].part_count[0], sums[1] += sizes[s].part_count[1];
    if (rest && max_u32(sums[0], sums[1]) > n_blocks)
        return fail(err, "parallel.layers_per_ipu: %u blocks are more than the %u of %s, and leave none for the stage of -1", max_u32(sums[0], sums[1]), n_blocks, name);
    if (rest)
        *rest = (struct stage_size){ { n_blocks - sums[0], n_blocks - sums[1] } };
    return true;
}

/* Makes phases of this many blocks, between a phase of the embeddings and one of the heads. */
static bool settle_phases(struct plan *p, uint32_t n_blocks, struct err *err)
{
    struct plan_request *o = &p->request;
    uint32_t n = (uint32_t)ceil_div(n_blocks, o->phase_blocks);
    p->n_stages = n + 2;
    if (p->n_stages > MAX_STAGES || !n)
        return fail(err, "parallel.phases: %u phases for the %u blocks of %s, at most %d; give more blocks to each", p->n_stages, n_blocks, p->graph->name, MAX_STAGES);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t blocks = min_u32(o->phase_blocks, n_blocks - i * o->phase_blocks);
        o->stage_sizes[i + 1] = (struct stage_size){ { blocks, blocks } };
    }
    o->stage_sizes[0] = o->stage_sizes[n + 1] = (struct stage_size){ { 0, 0 } };
    return true;
}

static bool settle_sizes(struct plan *p, struct err *err)
{
    struct plan_request *o = &p->request;
    uint32_t n_blocks = count_blocks(p->graph);
    p->n_stages = o->n_stages;
    if (o->phase_blocks)
        return settle_phases(p, n_blocks, err);
    if (!o->n_stages && count_parts(p->graph, LAYER_FIRST) > 1)
        return spread_with_table(p, n_blocks, err);
    if (!o->n_stages) {
        p->n_stages = o->ipus_per_replica;
        if (p->n_stages > min_u32(MAX_STAGES, max_u32(n_blocks, 1)))
            return fail(err, "parallel.ipus_per_replica: %u stages for the %u blocks of %s; give at most one stage a block",
                        p->n_stages, n_blocks, p->graph->name);
        spread_evenly(o->stage_sizes, p->n_stages, n_blocks);
        return true;
    }
    if (!settle_rest(o->stage_sizes, p->n_stages, n_blocks, p->graph->name, err))
        return false;
    for (int part = 0; part < 2; part++) {
        uint32_t sum = 0;
        for (uint32_t s = 0; s < p->n_stages; s++)
            sum += o->stage_sizes[s].part_count[part];
        if (sum != n_blocks)
            return fail(err, "parallel.layers_per_ipu: adds up to %u, want the %u blocks of %s", sum, n_blocks, p->graph->name);
    }
    return true;
}

/* ---- named checkpoints ------------------------------------------------------------------ */

MEMO_INPUT(names_input, struct owned texts; uint64_t n;);       /* texts: names one after the other, each with its terminating zero */

/* An array by layer: true if the layer has one of these names. */
static const void *find_named(void *world, const void *input, struct err *err)
{
    const struct compiler *c = world;
    const struct names_input *q = input;
    const struct graph *g = c->graph;
    const char *name = q->texts.at;
    bool *named = ARENA_ARRAY(c->arena, bool, g->n_layers + 1);
    for (uint64_t i = 0; i < q->n; i++, name += strlen(name) + 1) {
        bool found = false;
        for (size_t l = 0; l < g->n_layers; l++)
            if (text_is(name, g->layers[l].name))
                found = named[l] = true;
        if (!found) {
            fail(err, "parallel.recompute_checkpoints: %s has no layer '%s'; its layers are listed by 'podbench workload %s'", g->name, name, g->name);
            return NULL;
        }
    }
    return named;
}

static bool find_checkpoints(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    const struct plan_request *o = &p->request;
    size_t n_bytes = o->n_checkpoints;
    if (o->recompute != RECOMPUTE_CHECKPOINTS)
        return true;
    for (uint32_t i = 0; i < o->n_checkpoints; i++)
        n_bytes += strlen(o->checkpoints[i]);
    char *texts = arena_alloc(a, n_bytes), *end = texts;
    for (uint32_t i = 0; i < o->n_checkpoints; i++)
        end = stpcpy(end, o->checkpoints[i]) + 1;
    const struct names_input q = { memo_own(&c->memo, texts, n_bytes), o->n_checkpoints };
    p->named_checkpoints = memo_get(&c->memo, find_named, &q, sizeof q, err).at;
    return p->named_checkpoints;
}

/* ---- what a stage costs ------------------------------------------------------------------ */

/* All that the cost of a stage depends on. The layers tell if the stage is the last, or the only one; their compiled form tells if they are
 * trained. */
MEMO_INPUT(stage_input, struct owned compiled, checkpoints; uint64_t calls_by_value; uint32_t first_layer, n_layers, recompute, stash_type, accumulates, timed_only, phased, keeps_statistics;);

/* The cycles of a layer's forward operations that are not run again, although the layer is recomputed. */
static struct cycles spared_cycles(const struct stage_input *q, const struct layer_cost *l, enum ahead spares)
{
    struct cycles spared = l->ahead[spares].cycles;
    for (int i = 0; i < N_PARTS && q->keeps_statistics; i++)
        spared.part[i] += l->shared.part[i] - l->ahead[spares].shared.part[i];
    return spared;
}

/* Cuts the stage into segments at its checkpoints, and adds up what is recomputed. */
static void add_recomputation(const struct stage_input *q, const struct graph *g, struct stage_plan *s)
{
    struct cycles again = {0}, segment = {0};
    struct energy segment_energy = {0};
    uint64_t segment_mac = 0;
    bool last_stage = stage_end(s) == g->n_layers;
    const struct stage_layers layers = { q->first_layer, q->n_layers, 0, (enum recompute)q->recompute, q->checkpoints.at, q->phased };
    for (uint32_t i = s->first_layer; i < stage_end(s); i++) {
        const struct layer_cost *l = &s->compiled->layers[i];
        cycles_add(&segment, &l->forward, 1);
        bool last = i + 1 == stage_end(s);
        enum ahead spares = stage_spares(g, &layers, i);
        const struct cycles spared = spared_cycles(q, l, spares);
        for (int part = 0; part < N_PARTS; part++)
            segment.part[part] -= spared.part[part];
        segment_mac += l->forward_mac - l->ahead[spares].mac;
        energy_add(&segment_energy, &l->forward_energy, 1);
        energy_add(&segment_energy, &l->ahead[spares].energy, -1);
        if (!last && !is_checkpoint(g, q->recompute, q->checkpoints.at, i))
            continue;
        if (!(last && last_stage)) {
            cycles_add(&again, &segment, 1);
            s->recompute_mac += segment_mac;
            energy_add(&s->energy, &segment_energy, 1);
            s->n_layers_again = i + 1 - s->first_layer;
        }
        segment_mac = 0;
        segment = (struct cycles){0};
        segment_energy = (struct energy){0};
    }
    s->recompute_cycles = cycles_total(&again);
    cycles_add(&s->backward, &again, 1);
}

/* A micro-batch's stash is written after its forward pass and read back before its backward pass. It holds the stage's input and the outputs of
 * its checkpoints or, without recomputation, all that its layers keep. */
static void add_stash_copies(const struct stage_input *q, const struct compiler *c, struct stage_plan *s)
{
    bool none_again = q->recompute == RECOMPUTE_NONE;
    struct stash stash = { .n_bytes = s->stash_bytes, .n_tensors = s->first_layer > 0, .fp8 = q->stash_type == TYPE_FP8 };
    struct op_plan write, read;
    for (uint32_t i = s->first_layer; i + !none_again < stage_end(s); i++)
        stash.n_tensors += none_again ? s->compiled->layers[i].kept_bytes > 0 : is_checkpoint(c->graph, q->recompute, q->checkpoints.at, i);
    stash_plan(&write, &read, &stash, c->chip, &s->compiled->options);
    cycles_add_plan(&s->forward, &write, PART_STAGE_COPY, 1);
    cycles_add_plan(&s->backward, &read, PART_STAGE_COPY, 1);
}

static void add_accumulation(struct compiler *c, struct stage_plan *s)
{
    struct layer_range layers = { { s->compiled }, s->first_layer, s->n_layers };
    struct cycles work = compile_weight_work(c, &layers, 1, WORK_ACCUMULATE, PART_ACCUMULATE);
    cycles_add(&s->backward, &work, 1);
}

static void sum_layers(struct stage_plan *s)
{
    for (uint32_t i = s->first_layer; i < stage_end(s); i++) {
        const struct layer_cost *l = &s->compiled->layers[i];
        cycles_add(&s->forward, &l->forward, 1);
        s->op_cycles += l->op_cycles;
        s->off_amp_cycles += l->off_amp_cycles;
        s->codelet_cycles += l->codelet_cycles;
        s->forward_mac += l->forward_mac;
        energy_add(&s->energy, &l->forward_energy, 1);
        s->n_parameters += l->n_parameters;
        s->n_spread += l->n_spread;
        s->weight_bytes += l->weight_bytes;
        s->host_bytes += l->host_bytes;
        s->result_bytes += l->result_bytes;
        s->n_arrivals += l->n_arrivals;
        s->n_results += l->n_results;
        if (s->compiled->options.inference)
            continue;
        cycles_add(&s->backward, &l->backward, 1);
        s->backward_mac += l->backward_mac;
        energy_add(&s->energy, &l->backward_energy, 1);
        s->recompute_mac += l->again_mac;
    }
    s->output_bytes = s->compiled->layers[stage_end(s) - 1].output_bytes;       /* 0 for the last layer of the model */
}

/* Computes everything of a stage that depends on its layers alone. */
static const void *sum_stage(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct stage_input *q = input;
    struct stage_plan *s = ARENA_NEW(c->arena, struct stage_plan);
    (void)err;
    *s = (struct stage_plan){ .compiled = q->compiled.at, .first_layer = q->first_layer, .n_layers = q->n_layers };
    bool training = !s->compiled->options.inference, last = stage_end(s) == c->graph->n_layers;
    sum_layers(s);
    if (training && q->recompute != RECOMPUTE_NONE)
        add_recomputation(q, c->graph, s);
    if (q->calls_by_value)
        stage_calls(s, c);
    const struct stage_layers layers = { q->first_layer, q->n_layers, s->n_layers_again, (enum recompute)q->recompute, q->checkpoints.at, q->phased };
    stage_moments(s, c->graph, compile_stage_program(c, &layers), q->timed_only, q->calls_by_value, c->arena);
    if (training && !(last && s->first_layer == 0) && !q->phased)
        add_stash_copies(q, c, s);
    if (training && q->accumulates)
        add_accumulation(c, s);
    return s;
}

/* ---- a placement --------------------------------------------------------------------------- */

MEMO_INPUT(placement_input,
    struct owned sizes, shares, checkpoints;    /* sizes: by stage; shares: of memory for temporaries, by IPU; checkpoints: by layer */
    uint64_t exchanging_replicas;       /* 0 if no operation exchanges data with other replicas */
    uint64_t calls_by_value;
    uint32_t n_stages, n_shares, ipus_per_replica, training, accumulates, recompute, stash_type, partials, io_tiles, each_replica, unfolded, timed_only;
    uint32_t phased, log_softmax, plain_products, even_slices, keeps_statistics, operations_by_value;
);

struct placer { const struct placement_input *q; struct compiler *c; struct stage_plan *stages; struct err *err; };

static uint32_t stage_of_layer(const struct placer *p, const struct layer *l)
{
    const struct stage_size *sizes = p->q->sizes.at;
    if (l->role == LAYER_FIRST)
        return min_u32(l->part_id, p->q->n_stages - 1);
    if (l->role == LAYER_LAST)
        return l->n_parts > 1 && l->n_parts <= p->q->n_stages ? p->q->n_stages - l->n_parts + l->part_id : p->q->n_stages - 1;
    uint32_t s = 0, end = sizes[0].part_count[l->part_id];
    while (l->block_id >= end)          /* the loop ends, as the sizes add up to the blocks */
        end += sizes[++s].part_count[l->part_id];
    return s;
}

static bool place_layers(struct placer *p)
{
    const struct graph *g = p->c->graph;
    uint32_t at = 0;
    for (uint32_t i = 0; i < g->n_layers; i++) {
        uint32_t s = stage_of_layer(p, &g->layers[i]);
        if (s < at)
            return fail(p->err, "parallel.layers_per_ipu: layer %s would go back from stage %u to stage %u; its halves must follow each other",
                        g->layers[i].name, at, s);
        struct stage_plan *stage = &p->stages[s];
        if (!stage->n_layers)
            stage->first_layer = i;
        stage->n_layers++;
        at = s;
    }
    for (uint32_t s = 0; s < p->q->n_stages; s++)
        if (!p->stages[s].n_layers)
            return fail(p->err, "parallel.layers_per_ipu: stage %u of %u holds no layer of %s", s, p->q->n_stages, g->name);
    return true;
}

static bool holds_layer(const struct stage_plan *s, uint32_t layer_id)
{
    return layer_id >= s->first_layer && layer_id < stage_end(s);
}

/* Adds the time of the collectives of operations: forward, recomputed and backward. */
static bool add_exchanges(const struct placer *p, struct stage_plan *s)
{
    const struct exchange_place at = { (uint32_t)p->q->exchanging_replicas, p->q->ipus_per_replica, p->q->each_replica, p->q->unfolded, p->q->keeps_statistics };
    const struct stage_layers layers = { s->first_layer, s->n_layers, s->n_layers_again, (enum recompute)p->q->recompute, p->q->checkpoints.at, p->q->phased };
    const enum ahead *ahead = p->c->n_spanning ? compile_ahead(p->c) : NULL;
    bool good = true;
    for (uint32_t i = 0; i < p->c->n_spanning && good; i++)
        if (holds_layer(s, p->c->graph->ops[p->c->spanning[i]].layer_id))
            good = stage_exchange(s, p->c, p->c->spanning[i], &at, stage_runs_again(p->c->graph, &layers, p->c->spanning[i], ahead), p->err);
    return good;
}

/* If a stage reads a weight of another IPU, its own IPU keeps a copy, and accumulates, reduces and updates it like a weight of its own. Not
 * modelled: programs that add up the gradients of all copies and update the copies from the first. */
struct ipu_of_placer { const struct placer *p; const struct stage_plan *s; };

static bool is_on_ipu(const void *user, uint32_t layer_id)
{
    const struct ipu_of_placer *at = user;
    return stage_holding(at->p->stages, at->p->q->n_stages, layer_id)->ipu == at->s->ipu;
}

static void add_tied_copies(const struct placer *p, struct stage_plan *s)
{
    const struct ipu_of_placer at = { p, s };
    for (size_t i = 0; i < p->c->n_tied; i++) {
        const struct tied_use *use = &p->c->tied[i];
        const struct tensor *t = &p->c->graph->tensors[use->tensor_id];
        if (!holds_layer(s, use->layer_id) || !tied_is_first(p->c, i, is_on_ipu, &at) || is_on_ipu(&at, t->layer_id))
            continue;
        s->n_copied += tensor_elements(t);
        s->weight_bytes += tensor_bytes(t);
    }
}

static bool cost_stage(struct placer *p, struct stage_plan *s)
{
    const struct placement_input *q = p->q;
    const struct stage_input of_layers = { { s->compiled }, q->checkpoints, q->calls_by_value, s->first_layer, s->n_layers, q->recompute, q->stash_type, q->accumulates,
                                           q->timed_only, q->phased, q->keeps_statistics };
    uint32_t ipu = s->ipu;
    *s = *(const struct stage_plan *)memo_get(&p->c->memo, sum_stage, &of_layers, sizeof of_layers, NULL).at;
    s->ipu = ipu;
    add_tied_copies(p, s);
    if (!add_exchanges(p, s))
        return false;
    stage_sum_cycles(s);
    return true;
}

static double share_of(const struct placer *p, uint32_t stage) { return share_of_ipu(p->q->shares.at, p->q->n_shares, p->stages[stage].ipu); }

static const struct compiled *compile_with(const struct placer *p, double share)
{
    const struct op_plan_options opt = {
        .partials = (enum partials_type)p->q->partials, .inference = !p->q->training, .log_softmax = p->q->log_softmax, .even_slices = p->q->even_slices, .operations_by_value = p->q->operations_by_value, .plain_products = p->q->plain_products,
        .n_tiles = p->c->chip->n_tiles - p->q->io_tiles, .available_memory = share,
    };
    return compile_graph(p->c, &opt);
}

/* The largest share for temporaries that any stage has below the given one; 0 if none. */
static double share_below(const struct placer *p, double below)
{
    double most = 0;
    for (uint32_t s = 0; s < p->q->n_stages; s++) {
        double share = share_of(p, s);
        if (share < below)
            most = fmax(most, share);
    }
    return most;
}

/* Compiles stages with more memory first, because a plan that took little of it also serves the stages with less. */
static bool compile_stages(struct placer *p)
{
    const struct chip *chip = p->c->chip;
    if (p->q->io_tiles >= chip->n_tiles)
        return fail(p->err, "parallel.io_tiles: %u of the %s's %ju tiles leaves none to compute", p->q->io_tiles, chip->name,
                    (uintmax_t)chip->n_tiles);
    for (double share = share_below(p, INFINITY); share > 0; share = share_below(p, share)) {
        const struct compiled *compiled = compile_with(p, share);
        for (uint32_t s = 0; s < p->q->n_stages; s++)
            p->stages[s].compiled = share_of(p, s) == share ? compiled : p->stages[s].compiled;
    }
    return true;
}

static const void *place_stages(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct placement_input *q = input;
    struct placer p = { q, c, ARENA_ARRAY(c->plans.arena, struct stage_plan, q->n_stages), err };
    bool good = place_layers(&p);
    for (uint32_t s = 0; s < q->n_stages; s++)
        p.stages[s].ipu = s % q->ipus_per_replica;
    good = good && compile_stages(&p);
    for (uint32_t s = 0; s < q->n_stages && good; s++)
        good = cost_stage(&p, &p.stages[s]);
    return good ? p.stages : NULL;
}

bool plan_place(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    const struct plan_request *o = &p->request;
    if (!settle_sizes(p, err) || !find_checkpoints(p, c, a, err))
        return false;
    const struct placement_input q = {
        .sizes = memo_own(&c->plans, o->stage_sizes, p->n_stages * sizeof *o->stage_sizes), .n_stages = p->n_stages,
        .shares = memo_own(&c->plans, o->available_memory, o->n_available_memory * sizeof *o->available_memory), .n_shares = o->n_available_memory,
        .checkpoints = { p->named_checkpoints }, .ipus_per_replica = o->ipus_per_replica, .exchanging_replicas = c->n_spanning ? o->n_replicas : 0,
        .training = o->training, .accumulates = o->grad_accum > 1, .recompute = o->recompute, .stash_type = o->stash_type, .partials = o->partials,
        .io_tiles = o->io_tiles, .each_replica = o->detail.unfolded || o->faults, .unfolded = o->detail.unfolded, .timed_only = o->detail.timed_only,
        .calls_by_value = o->program.calls_by_value && o->outlining == OUTLINING_YES, .phased = plan_is_phased(o),
        .log_softmax = o->program.log_softmax, .even_slices = o->program.even_slices, .operations_by_value = o->program.operations_by_value, .plain_products = o->fully_connected_pass == FULLY_CONNECTED_NO,
        .keeps_statistics = plan_keeps_statistics(o),
    };
    p->placed = memo_get(&c->plans, place_stages, &q, sizeof q, err).at;
    if (p->placed)
        p->stages = memcpy(ARENA_ROOM(a, struct stage_plan, p->n_stages), p->placed, p->n_stages * sizeof *p->stages);
    return p->placed;
}
