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

/* Without a list, blocks are spread evenly; the earlier stages take the remainder. */
static void spread_evenly(struct stage_size *sizes, uint32_t n_stages, uint32_t n_blocks)
{
    for (uint32_t s = 0; s < n_stages; s++) {
        uint32_t n = n_blocks / n_stages + (s < n_blocks % n_stages);
        sizes[s] = (struct stage_size){ { n, n } };
    }
}

static bool settle_sizes(struct plan *p, struct err *err)
{
    struct plan_request *o = &p->request;
    uint32_t n_blocks = count_blocks(p->graph);
    p->n_stages = o->n_stages;
    if (!o->n_stages) {
        p->n_stages = o->ipus_per_replica;
        if (p->n_stages > min_u32(MAX_STAGES, max_u32(n_blocks, 1)))
            return fail(err, "parallel.ipus_per_replica: %u stages for the %u blocks of %s; give at most one stage a block",
                        p->n_stages, n_blocks, p->graph->name);
        spread_evenly(o->stage_sizes, p->n_stages, n_blocks);
        return true;
    }
    for (int part = 0; part < 2; part++) {
        uint32_t sum = 0;
        for (uint32_t s = 0; s < p->n_stages; s++)
            sum += o->stage_sizes[s].part_count[part];
        if (sum != n_blocks)
            return fail(err, "parallel.layers_per_ipu: adds up to %u, want the %u blocks of %s", sum, n_blocks, p->graph->name);
    }
    return true;
}

static uint32_t stage_of_layer(const struct plan *p, const struct layer *l)
{
    if (l->role == LAYER_FIRST)
        return 0;
    if (l->role == LAYER_LAST)
        return p->n_stages - 1;
    uint32_t s = 0, end = p->request.stage_sizes[0].part_count[l->part_id];
    while (l->block_id >= end)          /* ends, as the sizes add up to the blocks */
        end += p->request.stage_sizes[++s].part_count[l->part_id];
    return s;
}

static bool place_layers(struct plan *p, struct err *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->graph->n_layers; i++) {
        const struct layer *l = &p->graph->layers[i];
        uint32_t s = stage_of_layer(p, l);
        if (s < at)
            return fail(err, "parallel.layers_per_ipu: layer %s would go back from stage %u to stage %u; its halves must follow each other",
                        l->name, at, s);
        struct stage_plan *stage = &p->stages[s];
        if (!stage->n_layers)
            stage->first_layer = i;
        stage->n_layers++;
        at = s;
    }
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (!p->stages[s].n_layers)
            return fail(err, "parallel.layers_per_ipu: stage %u of %u holds no layer of %s", s, p->n_stages, p->graph->name);
    return true;
}

static bool name_checkpoints(bool *named, const struct plan *p, struct err *err)
{
    for (uint32_t i = 0; i < p->request.n_checkpoints; i++) {
        bool found = false;
        for (size_t l = 0; l < p->graph->n_layers; l++)
            if (text_is(p->request.checkpoints[i], p->graph->layers[l].name))
                found = named[l] = true;
        if (!found)
            return fail(err, "parallel.recompute_checkpoints: %s has no layer '%s'; its layers are listed by 'podbench workload %s'",
                        p->graph->name, p->request.checkpoints[i], p->graph->name);
    }
    return true;
}

/* The compiler keeps the answer, by the names with their terminating zeros. */
static bool find_checkpoints(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    size_t n_bytes = 0, n_named = p->graph->n_layers + 1;
    if (p->request.recompute != RECOMPUTE_CHECKPOINTS)
        return true;
    for (uint32_t i = 0; i < p->request.n_checkpoints; i++)
        n_bytes += strlen(p->request.checkpoints[i]);
    n_bytes += p->request.n_checkpoints;
    char *names = arena_alloc(a, n_bytes), *end = names;
    for (uint32_t i = 0; i < p->request.n_checkpoints; i++)
        end = stpcpy(end, p->request.checkpoints[i]) + 1;
    p->named_checkpoints = hash_table_find(&plan_tables(c)->checkpoints, names, n_bytes);
    if (p->named_checkpoints)
        return true;
    bool *named = ARENA_ARRAY(a, bool, n_named);
    if (!name_checkpoints(named, p, err))
        return false;
    p->named_checkpoints = memcpy(hash_table_add(&plan_tables(c)->checkpoints, names, n_bytes, n_named, c->arena), named, n_named);
    return true;
}

/* Cuts the stage into segments at its checkpoints, and adds up what is recomputed. */
static void add_recomputation(const struct plan *p, struct stage_plan *s, bool last_stage)
{
    struct cycles again = {0}, segment = {0};
    struct energy segment_energy = {0};
    uint64_t segment_mac = 0;
    for (uint32_t i = s->first_layer; i < stage_end(s); i++) {
        const struct layer_cost *l = &s->compiled->layers[i];
        cycles_add(&segment, &l->forward, 1);
        segment_mac += l->forward_mac;
        energy_add(&segment_energy, &l->forward_energy, 1);
        bool last = i + 1 == stage_end(s);
        if (!last && !plan_is_checkpoint(p, i))
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
static void add_stash_copies(const struct plan *p, struct stage_plan *s)
{
    bool none_again = p->request.recompute == RECOMPUTE_NONE;
    struct stash stash = { .n_bytes = s->stash_bytes, .n_tensors = s->first_layer > 0, .fp8 = p->request.stash_type == TYPE_FP8 };
    struct op_plan write, read;
    for (uint32_t i = s->first_layer; i + !none_again < stage_end(s); i++)
        stash.n_tensors += none_again ? s->compiled->layers[i].kept_bytes > 0 : plan_is_checkpoint(p, i);
    stash_plan(&write, &read, &stash, &p->topology->machine->chip, &s->compiled->options);
    cycles_add_plan(&s->forward, &write, PART_STAGE_COPY, 1);
    cycles_add_plan(&s->backward, &read, PART_STAGE_COPY, 1);
}

static void add_accumulation(struct compiler *c, struct stage_plan *s)
{
    struct layer_range layers = { s->compiled, s->first_layer, s->n_layers };
    struct cycles work = compile_weight_work(c, &layers, 1, WORK_ACCUMULATE, PART_ACCUMULATE);
    cycles_add(&s->backward, &work, 1);
}

/* The time of one batch norm that spans neighbouring replicas: they all-reduce mean and variance of each channel, all groups of replicas side
 * by side, in one sync of them all. */
static bool norm_cycles(uint64_t *cycles, const struct plan *p, struct compiler *c, uint32_t ipu, uint32_t span, uint64_t channels, struct err *err)
{
    uint32_t width = p->request.ipus_per_replica;
    struct collective_question q = { .kind = COLLECTIVE_ALL_REDUCE, .bytes = 2.0 * 4 * (double)channels,
                                     .ranks = { span, 1, plan_played_replicas(p, span * width) / span, width, ipu, 1 },
                                     .n_in_use = p->request.n_replicas * width, .unfolded = p->request.unfolded };
    struct collective_cost cost;
    if (!compile_collective(&cost, c, &q, err))
        return false;
    *cycles = cycles_of(p->topology, cost.time_s);
    return true;
}

static void add_norm(struct stage_plan *s, const struct op *op, uint64_t cycles)
{
    bool forward = op->pass == PASS_FORWARD;
    (forward ? &s->forward : &s->backward)->part[PART_ALL_REDUCE] += cycles;
    if (forward && op->layer_id < s->first_layer + s->n_layers_again) {
        s->backward.part[PART_ALL_REDUCE] += cycles;
        s->recompute_cycles += cycles;
    }
}

static bool holds_layer(const struct stage_plan *s, uint32_t layer_id)
{
    return layer_id >= s->first_layer && layer_id < stage_end(s);
}

/* Adds a small all-reduce for each such norm, forward, recomputed and backward. */
static bool add_distributed_norms(struct plan *p, struct compiler *c, struct stage_plan *s, struct err *err)
{
    bool good = true;
    for (uint32_t i = 0; i < c->n_spanning && good; i++) {
        const struct op *op = &p->graph->ops[c->spanning[i]];
        const struct tensor *x = &p->graph->tensors[op->inputs[0]];
        uint32_t span = min_u32(op->at->norm_groups, p->request.n_replicas);
        uint64_t cycles;
        if (span < 2 || !holds_layer(s, op->layer_id))
            continue;
        bool twice = op->at->stable && op->pass == PASS_FORWARD;     /* the mean first, then the variance */
        good = norm_cycles(&cycles, p, c, s->ipu, span, x->dims[x->n_dims - 1] / (twice ? 2 : 1), err);
        if (good)
            add_norm(s, op, twice ? 2 * cycles : cycles);
    }
    return good;
}

static void sum_layers(const struct plan *p, struct stage_plan *s)
{
    for (uint32_t i = s->first_layer; i < stage_end(s); i++) {
        const struct layer_cost *l = &s->compiled->layers[i];
        cycles_add(&s->forward, &l->forward, 1);
        s->op_cycles += l->op_cycles;
        s->off_amp_cycles += l->off_amp_cycles;
        s->forward_mac += l->forward_mac;
        energy_add(&s->energy, &l->forward_energy, 1);
        s->n_parameters += l->n_parameters;
        s->weight_bytes += l->weight_bytes;
        s->host_bytes += l->host_bytes;
        s->result_bytes += l->result_bytes;
        if (!p->request.training)
            continue;
        cycles_add(&s->backward, &l->backward, 1);
        s->backward_mac += l->backward_mac;
        energy_add(&s->energy, &l->backward_energy, 1);
        s->recompute_mac += l->slices_mac;
    }
    s->output_bytes = s->compiled->layers[stage_end(s) - 1].output_bytes;       /* 0 for the last layer of all */
}

/* If a stage reads a weight of another IPU, its own IPU keeps a copy, accumulates and reduces the copy's gradients and updates it with moments of
 * its own. Not modelled: programs that bring the copies together and update them from the first. */
static void add_tied_copies(const struct plan *p, const struct compiler *c, struct stage_plan *s)
{
    for (size_t i = 0; i < c->n_tied; i++) {
        const struct tied_use *use = &c->tied[i];
        const struct tensor *t = &p->graph->tensors[use->tensor_id];
        if (!holds_layer(s, use->layer_id) || plan_stage_of(p, t->layer_id)->ipu == s->ipu)
            continue;
        s->n_copied += tensor_elements(t);
        s->weight_bytes += tensor_bytes(t);
    }
}

/* Everything that depends on the stage's layers alone. */
static void sum_stage(struct plan *p, struct compiler *c, struct stage_plan *s, bool last)
{
    struct arena scratch = {0};
    struct stage_program program;
    sum_layers(p, s);
    if (p->request.training && p->request.recompute != RECOMPUTE_NONE)
        add_recomputation(p, s, last);
    stage_program_make(&program, p, (uint32_t)(s - p->stages), &scratch);
    stage_moments(s, p, &program, c->arena);
    arena_free(&scratch);
    if (!p->request.training)
        return;
    if (p->n_stages > 1)
        add_stash_copies(p, s);
    if (p->request.grad_accum > 1)
        add_accumulation(c, s);
}

/* The compiler keeps sum_stage() by what it reads. Whether a stage is the last, or the only one, shows in its layers, and training in how they
 * were compiled. */
static void find_stage(struct plan *p, struct compiler *c, struct stage_plan *s, bool last)
{
    const struct plan_request *o = &p->request;
    const uint64_t question[] = { (uint64_t)(uintptr_t)s->compiled, s->first_layer, s->n_layers, o->recompute, o->stash_type,
                                  (uint64_t)(uintptr_t)p->named_checkpoints, o->grad_accum > 1, o->timed_only };
    const struct stage_plan *known = hash_table_find(&plan_tables(c)->stages, question, sizeof question);
    uint32_t ipu = s->ipu;
    if (known)
        *s = *known;
    else
        sum_stage(p, c, s, last);
    if (!known)
        *(struct stage_plan *)hash_table_add(&plan_tables(c)->stages, question, sizeof question, sizeof *s, c->arena) = *s;
    s->ipu = ipu;
}

static bool cost_stage(struct plan *p, struct compiler *c, uint32_t stage_id, struct err *err)
{
    struct stage_plan *s = &p->stages[stage_id];
    find_stage(p, c, s, stage_id + 1 == p->n_stages);
    add_tied_copies(p, c, s);
    if (!add_distributed_norms(p, c, s, err))
        return false;
    stage_sum_cycles(s);
    return true;
}

static bool compile_stage(struct plan *p, struct compiler *c, struct stage_plan *s, struct err *err)
{
    const struct plan_request *o = &p->request;
    const struct chip *chip = &p->topology->machine->chip;
    if (o->io_tiles >= chip->n_tiles)
        return fail(err, "parallel.io_tiles: %u of the %s's %ju tiles leaves none to compute", o->io_tiles, chip->name,
                    (uintmax_t)chip->n_tiles);
    struct op_plan_options opt = {
        .partials = o->partials, .inference = !o->training,
        .n_tiles = chip->n_tiles - o->io_tiles, .available_memory = plan_available_memory(o, s->ipu),
    };
    s->compiled = compile_graph(c, &opt);
    return true;
}

/* The largest share for temporaries that any stage has below the given one; 0 if none. */
static double share_below(const struct plan *p, double below)
{
    double most = 0;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        double share = plan_available_memory(&p->request, p->stages[s].ipu);
        if (share < below)
            most = fmax(most, share);
    }
    return most;
}

/* Compiles stages with more memory first: plans that took little of it also serve the stages with less. */
static bool compile_stages(struct plan *p, struct compiler *c, struct err *err)
{
    for (double share = share_below(p, INFINITY); share > 0; share = share_below(p, share))
        for (uint32_t s = 0; s < p->n_stages; s++)
            if (plan_available_memory(&p->request, p->stages[s].ipu) == share && !compile_stage(p, c, &p->stages[s], err))
                return false;
    return true;
}

static bool place_stages(struct plan *p, struct compiler *c, struct err *err)
{
    if (!place_layers(p, err))
        return false;
    for (uint32_t s = 0; s < p->n_stages; s++)
        p->stages[s].ipu = s % p->request.ipus_per_replica;
    if (!compile_stages(p, c, err))
        return false;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (!cost_stage(p, c, s, err))
            return false;
    return true;
}

/* ---- placements that are known ------------------------------------------------------------------------ */

/* All that place_stages() reads of a plan; replicas only if norms span them. */
struct placement_head { uint64_t checkpoints; uint32_t numbers[12]; };
struct placement_key { struct placement_head head; struct stage_size sizes[MAX_STAGES]; double available_memory[MAX_STAGES]; };

/* Fills the key without gaps, so that unused stages and shares take no bytes; returns its size. */
static size_t placement_key(struct placement_key *q, const struct plan *p, const struct compiler *c)
{
    const struct plan_request *o = &p->request;
    q->head = (struct placement_head){ (uintptr_t)p->named_checkpoints, {
        o->training, o->unfolded, o->faults != NULL, o->grad_accum != 1, p->n_stages, o->ipus_per_replica,
        c->n_spanning ? o->n_replicas : 0, o->recompute, o->stash_type, o->partials, o->io_tiles, o->timed_only } };
    char *end = mempcpy(q->sizes, o->stage_sizes, p->n_stages * sizeof *o->stage_sizes);
    end = mempcpy(end, o->available_memory, o->n_available_memory * sizeof *o->available_memory);
    return (size_t)(end - (char *)q);
}

bool plan_place(struct plan *p, struct compiler *c, struct arena *a, struct err *err)
{
    struct placement_key question;
    if (!settle_sizes(p, err) || !find_checkpoints(p, c, a, err))
        return false;
    size_t n_bytes = placement_key(&question, p, c), stages_bytes = p->n_stages * sizeof *p->stages;
    p->placed = hash_table_find(&plan_tables(c)->placements, &question, n_bytes);
    if (p->placed) {
        p->stages = memcpy(ARENA_ROOM(a, struct stage_plan, p->n_stages), p->placed, stages_bytes);
        return true;
    }
    p->stages = ARENA_ARRAY(a, struct stage_plan, p->n_stages);
    if (!place_stages(p, c, err))
        return false;
    p->placed = memcpy(hash_table_add(&plan_tables(c)->placements, &question, n_bytes, stages_bytes, c->arena), p->stages, stages_bytes);
    return true;
}
