/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - bytes on the fullest tile of each IPU, in the categories of the vendor's profiler (PopVision), and the verdict.
 *
 * Always live: weights, gradients (accumulated, or waiting to be reduced over the replicas), optimizer state on chip, the stash of every
 * micro-batch in flight, with inputs that backward passes read, buffers of the host's streams, code, vertices and stacks. Live in turn, at
 * the worst moment of the schedule (stage_moments.c): activations of the micro-batch at work and temporaries of the operation at work.
 *
 * Tensors are spread over the tiles in grains of 128 bytes (activations) and 256 bytes (weights), as PopLibs maps them. A tensor that is smaller than
 * tiles x grain puts one grain on the fullest tile; such tensors start on different tiles, so that together they fill evenly. Tensors that an
 * operation reads or writes while it works count as unevenly as they lie. Tensors that wait for their backward pass count as even.
 *
 * Gaps: on the fullest tile, tensors that come and go take more bytes than the plan of an operation counts, because mappings are uneven, and
 * alignment and memory elements leave bytes unusable. The chip's sheet has the share (memory_gaps_share), which was measured. The sums of products
 * must lie in interleaved memory, so a small program leaves part of the memory before it unused.
 *
 * The weight update is a moment of its own, without activations: tensor by tensor (or merged, up to a buffer's size) the gradient is copied into the
 * layout of the collective, or the gathered weight out of it, and moments come from streaming memory.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiler.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"

#include <math.h>
#include <string.h>

const char *const memory_category_names[N_MEMORY_CATEGORIES] = {
    [MEMORY_WEIGHTS] = "weights", [MEMORY_ACCUMULATORS] = "accumulators", [MEMORY_OPTIMIZER] = "optimizer state",
    [MEMORY_STASH] = "stash", [MEMORY_IO_BUFFERS] = "io buffers", [MEMORY_ACTIVATIONS] = "activations", [MEMORY_TEMPORARIES] = "temporaries",
    [MEMORY_GAPS] = "gaps", [MEMORY_VERTEX_CODE] = "vertex code", [MEMORY_VERTEX_STATE] = "vertex state", [MEMORY_VERTEX_FIELDS] = "vertex fields",
    [MEMORY_CONTROL_CODE] = "control code", [MEMORY_EXCHANGE_CODE] = "exchange code", [MEMORY_STACK] = "stack",
};

/* All that memory depends on, except for the chip. stages: those of the placement, without stash depths. parts: those of the update. */
MEMO_INPUT(memory_input,
    struct owned stages, stash_depths, parts, phases;   /* phases: struct phase_bytes by stage; NULL: weights stay on the chip */
    double state_bytes_per_param;
    uint64_t offloaded_elements, n_stages, n_ipus, n_caches;      /* n_caches: micro-batches whose states stay on the chip from one call to the next */
    uint32_t n_parts, shard, schedule, stash_type, io_tiles, code_sharing, image_code, training, keeps_gradients, streams, optimizer_work, n_moments;
);

enum { WEIGHT_GRAIN_BYTES = 256, ACTIVATION_GRAIN_BYTES = 128 };

static uint64_t spread_over_tiles(uint64_t bytes, uint64_t n_tiles, uint64_t grain_bytes)
{
    return ceil_div(ceil_div(bytes, grain_bytes), n_tiles) * grain_bytes;
}

/* Bytes on a tile at one moment of a stage's schedule. The tile must hold the worst moment. */
struct moment { uint64_t stash, activations, temporaries; };

static uint64_t moment_bytes(const struct moment *m)
{
    return m->stash + m->activations + m->temporaries;
}

static void keep_worst(struct moment *worst, struct moment m)
{
    if (moment_bytes(worst) < moment_bytes(&m))
        *worst = m;
}

/* fp8 halves the stash, on all stages but the last. */
static uint64_t stashed(const struct memory_input *q, const struct stage_plan *s, uint64_t bytes)
{
    const struct stage_plan *stages = q->stages.at;
    bool small = q->stash_type == TYPE_FP8 && s != &stages[q->n_stages - 1];
    return small ? bytes / 2 : bytes;
}

static uint32_t depth_of_stash(const struct memory_input *q, const struct stage_plan *s)
{
    const uint32_t *depths = q->stash_depths.at;
    return depths[s - (const struct stage_plan *)q->stages.at];
}

/* True if a stage runs forward and backward in each cycle, so that the tensors that arrived for one task wait while the other works. */
static bool both_wait(enum schedule schedule) { return schedule == SCHEDULE_GROUPED || schedule == SCHEDULE_POPART; }

uint64_t plan_waiting_bytes(const struct plan *p, const struct stage_plan *s)
{
    uint64_t forward = s->received_bytes[TASK_FORWARD], backward = s->received_bytes[TASK_BACKWARD];
    return both_wait(p->request.schedule) ? forward + backward : max_u64(forward, backward);
}

/* A pipeline's stash is a tensor of its own. PopART's stash always has a slot for each micro-batch in flight, and restored tensors exist besides
 * it; in TensorFlow the micro-batch at work has no slot. If only one micro-batch is in flight, its tensors stay in place, and there is no stash. */
static struct moment moment_of(const struct memory_input *q, const struct stage_plan *s, const struct stage_moment *m, enum task_kind task)
{
    uint64_t tiles = s->compiled->options.n_tiles, depth = q->phases.at ? 1 : max_u32(depth_of_stash(q, s), 1), live_bytes = m->live_bytes, stash = 0;
    bool own_slot = q->schedule == SCHEDULE_POPART;
    live_bytes += both_wait((enum schedule)q->schedule) ? s->received_bytes[TASK_BACKWARD - task] : 0;
    if (depth == 1)
        live_bytes += m->waiting_bytes;
    else
        stash = stashed(q, s, own_slot ? depth * s->stash_bytes : (depth - 1) * s->stash_bytes + m->waiting_bytes)
              + (own_slot ? depth : depth - 1) * s->kept_input_bytes;
    return (struct moment){ spread_over_tiles(stash, tiles, ACTIVATION_GRAIN_BYTES), spread_over_tiles(live_bytes, tiles, ACTIVATION_GRAIN_BYTES),
                            m->temp_bytes_per_tile };
}

typedef void on_moment(void *user, uint32_t layer, struct moment m);

/* Calls `on` with the worst moment of each layer in each task of a stage. */
static void each_moment(const struct memory_input *q, const struct stage_plan *s, on_moment *on, void *user)
{
    for (uint32_t i = 0; i < s->n_layers; i++)
        for (int task = TASK_FORWARD; task <= (q->training ? TASK_BACKWARD : TASK_FORWARD); task++)
            on(user, s->first_layer + i, moment_of(q, s, &s->layers[i].moments[task], (enum task_kind)task));
}

static void on_worst(void *user, uint32_t layer, struct moment m)
{
    (void)layer;
    keep_worst(user, m);
}

static struct moment worst_moment(const struct memory_input *q, const struct stage_plan *s)
{
    struct moment worst = {0};
    each_moment(q, s, on_worst, &worst);
    return worst;
}

static uint64_t most_interleaved_bytes(const struct stage_plan *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = s->first_layer; i < stage_end(s); i++)
        bytes = max_u64(bytes, s->compiled->layers[i].interleaved_bytes);
    return bytes;
}

static void add_stage(struct tile_memory *m, struct moment *worst, const struct memory_input *q, const struct stage_plan *s)
{
    uint64_t tiles = s->compiled->options.n_tiles;
    m->bytes[MEMORY_WEIGHTS] += spread_over_tiles(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (q->keeps_gradients)
        m->bytes[MEMORY_ACCUMULATORS] += spread_over_tiles(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (q->training && !q->streams) {
        double state = (double)(s->n_parameters + s->n_copied) * q->state_bytes_per_param / q->shard;
        m->bytes[MEMORY_OPTIMIZER] += spread_over_tiles((uint64_t)state, tiles, WEIGHT_GRAIN_BYTES);
    }
    m->bytes[MEMORY_IO_BUFFERS] += spread_over_tiles(s->host_bytes, tiles, ACTIVATION_GRAIN_BYTES);
    struct moment here = worst_moment(q, s);
    m->bytes[MEMORY_STASH] += here.stash;       /* stages of one IPU work in turn, but all keep their stash */
    keep_worst(worst, (struct moment){ .activations = here.activations, .temporaries = here.temporaries });
}

static uint64_t held_bytes(const struct tile_memory *m, const struct moment *worst)
{
    return m->bytes[MEMORY_WEIGHTS] + m->bytes[MEMORY_ACCUMULATORS] + m->bytes[MEMORY_OPTIMIZER] + worst->activations + worst->temporaries;
}

/* Only one phase is on the chip at a time. While its micro-batches run, the chip holds the phase's weights, gathered from shards, and their
 * gradients, and no stash; if the phase updates at once, the chip also holds the optimizer's state. While replicas exchange gradients and weights,
 * it holds no activations, but what comes from other groups. While the optimizer runs, it holds shards of weights, gradients and state. `m` and
 * `worst` keep the fullest of these times over all phases so far. */
static void keep_fullest_phase(struct tile_memory *m, struct moment *worst, const struct memory_input *q, uint32_t stage)
{
    enum { WORKS, EXCHANGES, OPTIMIZES, N_TIMES };
    const struct stage_plan *s = &((const struct stage_plan *)q->stages.at)[stage];
    const struct phase_bytes *w = &((const struct phase_bytes *)q->phases.at)[stage];
    uint64_t tiles = s->compiled->options.n_tiles, shards = w->local_weights < w->weights ? w->local_weights : 0;
    uint64_t state = (uint64_t)((double)w->local_elements * q->state_bytes_per_param);
    const uint64_t whole[3] = { w->weights + shards, q->training ? w->weights : 0, w->updates_at_once ? state : 0 };
    const uint64_t local[3] = { w->local_weights, w->local_weights, state };
    const bool happens[N_TIMES] = { true, w->between > 0, q->training && !w->updates_at_once };
    for (int time = WORKS; time < N_TIMES; time++) {
        struct tile_memory here = *m;
        struct moment work = { 0 };
        if (time == WORKS)
            work = worst_moment(q, s);
        else if (time == EXCHANGES)
            work.temporaries = spread_over_tiles(w->between, tiles, WEIGHT_GRAIN_BYTES);
        for (int k = 0; k < 3; k++)
            here.bytes[MEMORY_WEIGHTS + k] = spread_over_tiles(time == OPTIMIZES ? local[k] : whole[k], tiles, WEIGHT_GRAIN_BYTES);
        work.stash = 0;
        if (!happens[time] || held_bytes(m, worst) >= held_bytes(&here, &work))
            continue;
        *m = here;
        *worst = work;
    }
    m->bytes[MEMORY_IO_BUFFERS] += spread_over_tiles(s->host_bytes, tiles, ACTIVATION_GRAIN_BYTES);
}

/* Bytes of a micro-batch's activations on the I/O tiles, in the phase that has most: those that a task loads, which are whole, and those that it stores. */
static uint64_t most_passed_bytes(const struct memory_input *q)
{
    const struct phase_bytes *phases = q->phases.at;
    uint64_t most = 0;
    for (uint32_t s = 0; s < q->n_stages; s++)
        for (int task = TASK_FORWARD; task <= TASK_BACKWARD; task++)
            most = max_u64(most, phases[s].moves.loaded[task] + phases[s].moves.stored[task]);
    return most;
}

/* I/O tiles hold their part of the micro-batch that arrives and of the results that leave, and nothing of the model. Both kinds of tiles hold the
 * code of the copies between them. */
static void add_io_tiles(struct tile_memory *m, const struct memory_input *q, const struct chip *chip, uint64_t passed_bytes)
{
    uint64_t held_bytes = ceil_div(passed_bytes, q->io_tiles);
    uint64_t received_bytes = ceil_div(passed_bytes, chip->n_tiles - q->io_tiles);
    m->io_tile_bytes = spread_over_tiles(passed_bytes, q->io_tiles, ACTIVATION_GRAIN_BYTES);
    m->io_tile_bytes += exchange_code_bytes(1, ceil_div(held_bytes, MOVED_PIECE_BYTES)) + HOST_EXCHANGE_BYTES + STACK_BYTES;
    m->bytes[MEMORY_EXCHANGE_CODE] += exchange_code_bytes(1, ceil_div(received_bytes, MOVED_PIECE_BYTES));
}

/* The bytes that the weight update of one IPU takes besides weights and their state: code, the temporary tensors of a chain, and state that
 * add_stage() does not count. Merged chains have no work on tensors, and are a part of their own. */
struct update_bytes { struct program_bytes code; double most_buffer_bytes; uint64_t more_state_bytes; };

MEMO_INPUT(update_bytes_input,
    struct owned chains;
    double state_bytes_per_param;
    uint64_t n_chains, offloaded_elements, n_tiles, work_tiles;         /* work_tiles: the tiles of the first stage */
    uint32_t shard, streams, training, keeps_gradients, optimizer_work, n_moments;
);

struct update_count { const struct update_bytes_input *q; struct compiler *c; struct update_bytes *out; bool has_codelet[N_VECTOR_WORKS]; };

/* Adds the code of work on a weight tensor, which is called n_calls times. The codelet itself counts once. */
static void add_weight_work(struct update_count *t, const struct update_chain *chain, enum vector_work work, uint64_t n_calls)
{
    const struct op_plan_options opt = { .n_tiles = t->q->work_tiles };
    double moment_bytes = t->q->n_moments ? t->q->state_bytes_per_param / t->q->n_moments : 0;
    const struct op_plan *plan = compile_vector_work(t->c, work, chain->n_elements, chain->type, moment_bytes, &opt);
    t->out->code.vertex_code += t->has_codelet[work] ? 0 : vector_work_codelet_bytes(work);
    t->has_codelet[work] = true;
    program_bytes_add(&t->out->code, &plan->code, n_calls);
}

/* Adds the code of a chain's collectives, accesses to streaming memory, and the work around them. A transfer counts as one exchange of all that a
 * tile receives. Steps of a chain are called together, so only the optimizer's call counts. */
static void add_update_step(struct update_count *t, const struct update_chain *chain, const struct update_op *op)
{
    static const struct { enum vector_work works[2]; uint32_t n; } made_of[N_UPDATE_KINDS] = {
        [UPDATE_ZERO] = { { WORK_ZERO }, 1 }, [UPDATE_REARRANGE] = { { WORK_REARRANGE }, 1 }, [UPDATE_COPY_BACK] = { { WORK_REARRANGE }, 1 },
        [UPDATE_CLIP] = { { WORK_SQUARES, WORK_SCALE }, 2 },
    };
    for (uint32_t i = 0; i < made_of[op->kind].n && !chain->is_merged; i++)
        add_weight_work(t, chain, made_of[op->kind].works[i], 1);
    if (!op->on_tiles && !made_of[op->kind].n)
        t->out->code.exchange_code += exchange_code_bytes(1, ceil_div((uint64_t)op->bytes, t->q->n_tiles * MOVED_PIECE_BYTES));
}

/* The bytes of the temporary tensors of a chain: one in the collective's layout, and moments from streaming memory. */
static double update_buffer_bytes(const struct update_chain *c)
{
    double copy_bytes = 0, loaded_bytes = 0;
    for (uint32_t i = 0; i < c->steps->n_ops; i++) {
        const struct update_op *op = &c->steps->ops[i];
        if (op->kind == UPDATE_ZERO || op->kind == UPDATE_REARRANGE || op->kind == UPDATE_COPY_BACK)
            copy_bytes = fmax(copy_bytes, op->bytes);
        else if (op->kind == UPDATE_LOAD)
            loaded_bytes = op->bytes;
    }
    return copy_bytes + loaded_bytes;
}

/* Optimizer state that add_stage() does not count, in elements. Small tensors are neither sharded nor streamed, so the rest of their state is counted
 * here, too. */
static double more_elements(const struct update_bytes_input *q, const struct update_chain *c)
{
    double all = (double)c->n_tensors * (double)c->n_elements, part = all / q->shard;
    if (c->is_merged || (q->streams && c->n_elements >= q->offloaded_elements))
        return 0;
    return all / c->steps->n_shards - (q->streams ? 0 : part);
}

static const void *count_update(void *world, const void *input, struct err *err)
{
    const struct update_bytes_input *q = input;
    struct compiler *c = world;
    struct update_bytes *out = ARENA_NEW(c->arena, struct update_bytes);
    struct update_count t = { q, c, out, { false } };
    const struct update_chain *chains = q->chains.at;
    double more = 0;
    (void)err;
    for (const struct update_chain *chain = chains; chain < chains + q->n_chains; chain++) {
        for (uint32_t k = 0; k < chain->steps->n_ops; k++)
            add_update_step(&t, chain, &chain->steps->ops[k]);
        if (!chain->is_merged && q->training)
            add_weight_work(&t, chain, (enum vector_work)q->optimizer_work, chain->n_tensors);
        if (!chain->is_merged && q->keeps_gradients)
            add_weight_work(&t, chain, WORK_ACCUMULATE, chain->n_tensors);
        out->most_buffer_bytes = fmax(out->most_buffer_bytes, update_buffer_bytes(chain));
        more += more_elements(q, chain);
    }
    out->more_state_bytes = (uint64_t)(more * q->state_bytes_per_param);
    return out;
}

static struct update_bytes update_part_bytes(const struct memory_input *q, struct compiler *c, const struct update_part *part, uint64_t n_tiles)
{
    const struct stage_plan *stages = q->stages.at;
    const struct update_bytes_input of_part = {
        .chains = { part->chains }, .n_chains = part->end - part->first, .state_bytes_per_param = q->state_bytes_per_param,
        .offloaded_elements = q->offloaded_elements, .n_tiles = n_tiles, .work_tiles = stages[0].compiled->options.n_tiles, .shard = q->shard,
        .streams = q->streams, .training = q->training, .keeps_gradients = q->keeps_gradients, .optimizer_work = q->optimizer_work,
        .n_moments = q->n_moments,
    };
    if (!part->chains->is_merged)
        return *(const struct update_bytes *)memo_get(&c->memo, count_update, &of_part, sizeof of_part, NULL).at;
    return *(const struct update_bytes *)memo_get(&c->plans, count_update, &of_part, sizeof of_part, NULL).at;
}

/* Adds up the bytes of the parts of the update that an IPU runs, alone or together with all others. */
static struct update_bytes update_bytes(const struct memory_input *q, struct compiler *c, uint32_t ipu, uint64_t n_tiles)
{
    const struct update_part *parts = q->parts.at;
    struct update_bytes sum = {0};
    for (uint32_t i = 0; i < q->n_parts; i++) {
        if (parts[i].ipu != ipu && parts[i].ipu != ALL_IPUS)
            continue;
        const struct update_bytes part = update_part_bytes(q, c, &parts[i], n_tiles);
        sum.code.vertex_code += part.code.vertex_code;
        sum.code.vertex_state += part.code.vertex_state;
        sum.code.control_code += part.code.control_code;
        sum.code.exchange_code += part.code.exchange_code;
        sum.most_buffer_bytes = fmax(sum.most_buffer_bytes, part.most_buffer_bytes);
        sum.more_state_bytes += part.more_state_bytes;
    }
    return sum;
}

/* The code by which the stages of an IPU receive: an exchange from other IPUs in each direction, and the pieces of the input, unless I/O tiles have it. */
static uint64_t received_code_bytes(const struct memory_input *q, uint32_t ipu, uint64_t n_tiles)
{
    const struct stage_plan *stages = q->stages.at;
    uint64_t bytes = 0, tile_piece = n_tiles * MOVED_PIECE_BYTES;
    for (uint32_t s = 0; s < q->n_stages; s++) {
        const struct stage_plan *stage = &stages[s];
        if (stage->ipu != ipu)
            continue;
        for (int task = TASK_FORWARD; task <= TASK_BACKWARD; task++)
            bytes += exchange_code_bytes(stage->received_bytes[task] > 0, ceil_div(stage->received_bytes[task], tile_piece));
        bytes += q->io_tiles ? 0 : exchange_code_bytes(0, ceil_div(stage->host_bytes, tile_piece));
    }
    return bytes;
}

/* Adds the code of an IPU's layers, of its weight update, and of what every program contains. */
static void add_program(struct tile_memory *m, const struct memory_input *q, struct compiler *c, uint32_t ipu, const struct program_bytes *update,
                        bool has_streams, uint64_t n_tiles)
{
    struct layer_range ranges[MAX_STAGES];
    uint32_t n_ranges = ipu_layers(ranges, q->stages.at, (uint32_t)q->n_stages, ipu);
    const struct program_bytes layers = compile_program(c, ranges, n_ranges, (struct code_options){ (enum code_sharing)q->code_sharing, q->image_code });
    m->bytes[MEMORY_VERTEX_CODE] = EMPTY_VERTEX_CODE_BYTES + layers.vertex_code + update->vertex_code;
    m->bytes[MEMORY_VERTEX_STATE] = layers.vertex_state + update->vertex_state;
    m->bytes[MEMORY_VERTEX_FIELDS] = layers.vertex_fields;       /* the weight update has no vertex fields of this kind */
    m->bytes[MEMORY_CONTROL_CODE] = EMPTY_CONTROL_BYTES + layers.control_code + update->control_code;
    m->bytes[MEMORY_EXCHANGE_CODE] = (has_streams ? HOST_EXCHANGE_BYTES : 0) + layers.exchange_code + update->exchange_code
                                   + received_code_bytes(q, ipu, n_tiles);
    m->bytes[MEMORY_STACK] = STACK_BYTES;
}

static void count_ipu(struct tile_memory *m, const struct memory_input *q, struct compiler *c, uint32_t ipu)
{
    const struct chip *chip = c->chip;
    const struct stage_plan *stages = q->stages.at;
    struct moment worst_here = {0};
    uint64_t arriving_bytes = 0, leaving_bytes = 0, interleaved_bytes = 0, tiles = 1;
    for (uint32_t s = 0; s < q->n_stages; s++)
        if (stages[s].ipu == ipu) {
            if (q->phases.at)
                keep_fullest_phase(m, &worst_here, q, s);
            else
                add_stage(m, &worst_here, q, &stages[s]);
            m->bytes[MEMORY_STASH] += spread_over_tiles(stages[s].cache_bytes * q->n_caches, stages[s].compiled->options.n_tiles, ACTIVATION_GRAIN_BYTES);
            arriving_bytes += stages[s].host_bytes;
            leaving_bytes += q->training ? 0 : stages[s].result_bytes;
            tiles = stages[s].compiled->options.n_tiles;
            interleaved_bytes = max_u64(interleaved_bytes, most_interleaved_bytes(&stages[s]));
        }
    const struct update_bytes update = update_bytes(q, c, ipu, tiles);
    m->bytes[MEMORY_OPTIMIZER] += spread_over_tiles(update.more_state_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (!q->phases.at)                  /* with phases, the optimizer's phase already counts what it loads */
        keep_worst(&worst_here, (struct moment){ .temporaries = spread_over_tiles((uint64_t)update.most_buffer_bytes, tiles, WEIGHT_GRAIN_BYTES) });
    m->bytes[MEMORY_ACTIVATIONS] = worst_here.activations;
    m->bytes[MEMORY_TEMPORARIES] = worst_here.temporaries;
    m->bytes[MEMORY_GAPS] = (uint64_t)(chip->memory_gaps_share * (double)(worst_here.activations + worst_here.temporaries));
    add_program(m, q, c, ipu, &update.code, arriving_bytes > 0, tiles);
    if (q->io_tiles)
        add_io_tiles(m, q, chip, arriving_bytes + leaving_bytes + (q->phases.at ? most_passed_bytes(q) : 0));
    for (int r = 0; r < N_MEMORY_CATEGORIES; r++)
        m->total_bytes += m->bytes[r];
    m->total_bytes = max_u64(m->total_bytes, m->io_tile_bytes);
    m->end_bytes = chip_end_of_memory(chip, m->total_bytes, interleaved_bytes);
}

/* The memory of the fullest tile of each IPU. */
static const void *count_memory(void *world, const void *input, struct err *err)
{
    struct compiler *c = world;
    const struct memory_input *q = input;
    struct tile_memory *memory = ARENA_ARRAY(c->plans.arena, struct tile_memory, q->n_ipus);
    (void)err;
    for (uint32_t i = 0; i < q->n_ipus; i++)
        count_ipu(&memory[i], q, c, i);
    return memory;
}

/* A tile is full when its memory is, or when what must be interleaved does not fit behind the rest. */
static uint64_t needed_bytes(const struct tile_memory *m, uint64_t capacity)
{
    return m->end_bytes > capacity ? m->end_bytes : m->total_bytes;
}

/* The number of micro-batches whose states stay on the chip from one call to the next: all of a step's, or 0 if no stage keeps states there. */
static uint32_t cache_count(const struct plan *p)
{
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (p->stages[s].cache_bytes)
            return p->request.grad_accum;
    return 0;
}

static enum code_sharing code_sharing_of(const struct plan_request *o)
{
    enum code_sharing shared = o->program.calls_by_value ? CODE_SHARED_BY_VALUE : CODE_SHARED;
    return o->outlining == OUTLINING_NO ? CODE_OWN : shared;
}

/* The input of count_memory() for this plan, with the depths given. It points to stages and parts that the memo owns, or that were made by hand. */
static struct memory_input memory_input_of(const struct plan *p, struct owned stash_depths)
{
    const struct plan_request *o = &p->request;
    bool phased = p->phases != NULL;
    return (struct memory_input){
        .stages = { p->placed ? p->placed : p->stages }, .n_stages = p->n_stages, .stash_depths = stash_depths, .phases = { p->phases },
        .parts = { p->update.parts }, .n_parts = p->update.n_parts, .n_ipus = o->ipus_per_replica, .n_caches = cache_count(p), .shard = plan_shard_replicas(p),
        .schedule = o->schedule, .stash_type = o->stash_type, .io_tiles = o->io_tiles, .code_sharing = code_sharing_of(o),
        .image_code = o->program.exchange_target == EXCHANGE_FOR_CYCLES, .training = o->training,
        .keeps_gradients = plan_keeps_gradients(o), .streams = phased || o->state.place == OPTIMIZER_STREAMING,
        .offloaded_elements = phased ? 0 : o->program.offloaded_elements, .state_bytes_per_param = o->optimizer.state_bytes_per_param,
        .optimizer_work = o->optimizer.work, .n_moments = o->optimizer.n_moments,
    };
}

static const uint32_t *stash_depths(uint32_t depths[MAX_STAGES], const struct plan *p)
{
    for (uint32_t s = 0; s < p->n_stages; s++)
        depths[s] = p->stages[s].stash_depth;
    return depths;
}

void plan_memory(struct plan *p, struct compiler *c)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes, worst = 0;
    uint32_t depths[MAX_STAGES];
    const struct memory_input q = memory_input_of(p, memo_own(&c->plans, stash_depths(depths, p), p->n_stages * sizeof *depths));
    p->memory = p->placed ? memo_get(&c->plans, count_memory, &q, sizeof q, NULL).at : count_memory(c, &q, NULL);
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++)
        if (worst < needed_bytes(&p->memory[i], capacity)) {
            worst = needed_bytes(&p->memory[i], capacity);
            p->worst_ipu = i;
        }
    p->fits = worst <= capacity && !p->off_chip.overflows;
    p->shortfall_bytes = worst <= capacity ? 0 : worst - capacity;
}

/* ---- by layer ------------------------------------------------------------------------------------- */

/* The bytes, by layer, that a tile has for activations, temporaries and their gaps. The stash of a moment still has to be subtracted. */
struct layer_rooms { double *bytes, free_bytes, gaps_share; };

static void on_room(void *user, uint32_t layer, struct moment m)
{
    struct layer_rooms *r = user;
    double room = (r->free_bytes - (double)m.stash) / (1 + r->gaps_share) - (double)m.activations;
    r->bytes[layer] = fmin(r->bytes[layer], room);
}

static void find_rooms(double *room_bytes, const struct plan *p)
{
    uint32_t depths[MAX_STAGES];
    const struct memory_input q = memory_input_of(p, (struct owned){ stash_depths(depths, p) });
    const struct stage_plan *stages = q.stages.at;
    static const bool in_turn[N_MEMORY_CATEGORIES] = { [MEMORY_ACTIVATIONS] = true, [MEMORY_TEMPORARIES] = true, [MEMORY_GAPS] = true };
    const struct chip *chip = &p->topology->machine->chip;
    double capacity = (double)chip->tile_memory_bytes;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &stages[s];
        const uint64_t *bytes = p->memory[stage->ipu].bytes;
        struct layer_rooms r = { room_bytes, capacity + (double)worst_moment(&q, stage).stash, chip->memory_gaps_share };
        for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
            if (!in_turn[k])
                r.free_bytes -= (double)bytes[k];
        for (uint32_t i = stage->first_layer; i < stage_end(stage); i++)
            room_bytes[i] = capacity;
        each_moment(&q, stage, on_room, &r);
    }
}

const double *plan_layer_rooms(const struct plan *p, struct arena *a)
{
    double *rooms = ARENA_ARRAY(a, double, p->graph->n_layers);
    find_rooms(rooms, p);
    return rooms;
}

/* Bytes of a layer's weights, gradients and optimizer state on a tile, spread evenly over the tiles. */
static uint64_t layer_held_bytes(const struct memory_input *q, const struct layer_cost *l, uint64_t n_tiles)
{
    double state = q->training && !q->streams ? q->state_bytes_per_param / q->shard : 0;
    double bytes = (double)l->weight_bytes * (1 + q->keeps_gradients) + (double)l->n_parameters * state;
    return ceil_div((uint64_t)bytes, n_tiles);
}

/* Bytes of a layer on a tile that micro-batches in flight keep. If only one is in flight, its bytes count as the layer's work. */
static uint64_t layer_stash_bytes(const struct memory_input *q, const struct stage_plan *s, uint32_t layer)
{
    uint64_t depth = depth_of_stash(q, s) > 1 && !q->phases.at ? depth_of_stash(q, s) : 0;
    return ceil_div(stashed(q, s, depth * s->layers[layer - s->first_layer].stash_bytes), s->compiled->options.n_tiles);
}

static void on_layer_work(void *user, uint32_t layer, struct moment m)
{
    struct layer_memory *layers = user;
    layers[layer].work_bytes = max_u64(layers[layer].work_bytes, m.activations + m.temporaries);
}

const struct layer_memory *plan_layer_memory(const struct plan *p, struct arena *a)
{
    struct layer_memory *layers = ARENA_ARRAY(a, struct layer_memory, p->graph->n_layers);
    uint32_t depths[MAX_STAGES];
    const struct memory_input q = memory_input_of(p, (struct owned){ stash_depths(depths, p) });
    const struct stage_plan *stages = q.stages.at;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &stages[s];
        for (uint32_t i = stage->first_layer; i < stage_end(stage); i++) {
            layers[i].held_bytes = layer_held_bytes(&q, &stage->compiled->layers[i], stage->compiled->options.n_tiles);
            layers[i].stash_bytes = layer_stash_bytes(&q, stage, i);
        }
        each_moment(&q, stage, on_layer_work, layers);
    }
    return layers;
}

/* ---- the chance to fit ----------------------------------------------------------------------------- */

double memory_fits_probability(uint64_t tile_bytes, struct memory_need n, double error)
{
    double room = (double)tile_bytes - (double)n.certain_bytes, uncertain = (double)n.needed_bytes - (double)n.certain_bytes;
    if (!(error > 0) || !(room > 0) || !(uncertain > 0))
        return n.needed_bytes <= tile_bytes;
    return 0.5 * erfc(-log(room / uncertain) / error / sqrt(2));
}

static uint64_t certain_bytes(const struct tile_memory *m)
{
    static const bool certain[N_MEMORY_CATEGORIES] = { [MEMORY_WEIGHTS] = true, [MEMORY_ACCUMULATORS] = true, [MEMORY_OPTIMIZER] = true,
                                                       [MEMORY_STASH] = true, [MEMORY_IO_BUFFERS] = true };
    uint64_t bytes = 0;
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        bytes += certain[k] ? m->bytes[k] : 0;
    return bytes;
}

struct memory_need plan_memory_need(const struct plan *p, double error)
{
    uint64_t tile_bytes = p->topology->machine->chip.tile_memory_bytes;
    struct memory_need tightest = {0};
    double least = INFINITY;
    for (uint32_t i = 0; i < p->request.ipus_per_replica && p->memory; i++) {
        struct memory_need n = { certain_bytes(&p->memory[i]), needed_bytes(&p->memory[i], tile_bytes) };
        double chance = memory_fits_probability(tile_bytes, n, error);
        if (chance < least) {
            tightest = n;
            least = chance;
        }
    }
    return tightest;
}

double plan_fits_probability(const struct plan *p, double error)
{
    return p->memory ? memory_fits_probability(p->topology->machine->chip.tile_memory_bytes, plan_memory_need(p, error), error) : p->fits;
}

struct memory_need plan_counted_bytes(const struct plan *p, uint32_t ipu)
{
    return (struct memory_need){ certain_bytes(&p->memory[ipu]), p->memory[ipu].total_bytes };
}
