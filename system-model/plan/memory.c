/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - bytes on the worst tile of each IPU, by region, and the verdict.
 *
 * Always live: weights, gradients (accumulated, or waiting to be reduced over the replicas), optimizer state on chip, the
 * stash of every micro-batch in flight, code with its vertices' state, I/O buffers. Live in turn: activations of the
 * micro-batch at work, temporaries of the operation at work.
 * Tensors are spread over the tiles in grains of 128 bytes (activations) and 256 bytes (weights) as PopLibs maps
 * them, so the worst tile of a tensor smaller than tiles x grain holds a grain; such small tensors start on
 * different tiles, so together they fill evenly. The operands of the operation at work are as unevenly spread as they were computed.
 * Activations that wait for their backward pass are taken as evenly spread, which leaves out up to 35 kB of a tile (BERT-Base) and changes
 * no recipe's verdict. Equal operations share their code (outlining).
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiler.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"

#include <math.h>
#include <string.h>

const char *const region_names[N_REGIONS] = {
    [REGION_WEIGHTS] = "weights", [REGION_ACCUMULATORS] = "accumulators", [REGION_OPTIMIZER] = "optimizer state",
    [REGION_STASH] = "stash", [REGION_CODE] = "code", [REGION_IO_BUFFERS] = "io buffers",
    [REGION_ACTIVATIONS] = "activations", [REGION_TEMPORARIES] = "temporaries",
};

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
static uint64_t stashed(const struct plan *p, const struct stage_plan *s, uint64_t bytes)
{
    bool small = p->request.stash_type == TYPE_FP8 && s != &p->stages[p->n_stages - 1];
    return small ? bytes / 2 : bytes;
}

static struct moment layer_moment(const struct plan *p, const struct stage_plan *s, const struct layer_cost *l, uint64_t stash_bytes,
                                  uint64_t live_bytes)
{
    uint64_t tiles = s->compiled->options.n_tiles;
    return (struct moment){ spread_over_tiles(stashed(p, s, stash_bytes), tiles, ACTIVATION_GRAIN_BYTES),
                            spread_over_tiles(live_bytes, tiles, ACTIVATION_GRAIN_BYTES), l->temp_bytes_per_tile };
}

typedef void on_moment(void *user, uint32_t layer, struct moment m);

/* Calls `on` with every moment of a stage. During the backward pass of layer i of a segment the tile holds the segment's activations up to i,
 * this micro-batch's checkpoints up to the segment, and the whole stash of the other micro-batches in flight. */
static void each_moment(const struct plan *p, const struct stage_plan *s, on_moment *on, void *user)
{
    uint64_t others = s->stash_bytes * (max_u32(s->stash_depth, 1) - 1), segment = 0;
    uint64_t mine = p->request.training ? stage_input_bytes(s) : 0;
    for (uint32_t i = s->first_layer; i < stage_end(s); i++) {
        const struct layer_cost *l = &s->compiled->layers[i];
        on(user, i, layer_moment(p, s, l, others + mine, segment + l->forward_live_bytes));
        if (!p->request.training)
            continue;
        segment += l->kept_bytes;
        on(user, i, layer_moment(p, s, l, others + mine, segment + l->backward_live_bytes));
        if (plan_is_checkpoint(p, i)) {
            mine += l->output_bytes;
            segment = 0;
        }
    }
}

static void on_worst(void *user, uint32_t layer, struct moment m)
{
    (void)layer;
    keep_worst(user, m);
}

static struct moment worst_moment(const struct plan *p, const struct stage_plan *s)
{
    struct moment worst = {0};
    each_moment(p, s, on_worst, &worst);
    return worst;
}

struct layer_rooms { double *bytes, free_bytes; };

static void on_room(void *user, uint32_t layer, struct moment m)
{
    struct layer_rooms *r = user;
    r->bytes[layer] = fmin(r->bytes[layer], r->free_bytes - (double)m.stash - (double)m.activations);
}

static void find_rooms(double *room_bytes, const struct plan *p)
{
    static const bool in_turn[N_REGIONS] = { [REGION_ACTIVATIONS] = true, [REGION_TEMPORARIES] = true };
    double capacity = (double)p->topology->machine->chip.tile_memory_bytes;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        const uint64_t *bytes = p->memory[stage->ipu].bytes;
        struct layer_rooms r = { room_bytes, capacity + (double)worst_moment(p, stage).stash };
        for (int k = 0; k < N_REGIONS; k++)
            if (!in_turn[k])
                r.free_bytes -= (double)bytes[k];
        for (uint32_t i = stage->first_layer; i < stage_end(stage); i++)
            room_bytes[i] = capacity;
        each_moment(p, stage, on_room, &r);
    }
}

/* The compiler keeps the answer, by the memory that it was found for. */
const double *plan_layer_rooms(const struct plan *p, struct compiler *c, struct arena *a)
{
    const double *known = p->placed ? hash_table_find(&c->rooms, &p->memory, sizeof p->memory) : NULL;
    if (known)
        return known;
    size_t n_bytes = p->graph->n_layers * sizeof *known;
    double *rooms = p->placed ? hash_table_add(&c->rooms, &p->memory, sizeof p->memory, n_bytes, c->arena) : arena_alloc(a, n_bytes);
    find_rooms(rooms, p);
    return rooms;
}

static void add_stage(struct tile_memory *m, struct moment *worst, const struct plan *p, const struct stage_plan *s)
{
    const struct plan_request *o = &p->request;
    uint64_t tiles = s->compiled->options.n_tiles;
    m->bytes[REGION_WEIGHTS] += spread_over_tiles(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (plan_keeps_gradients(o))
        m->bytes[REGION_ACCUMULATORS] += spread_over_tiles(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (o->training && o->optimizer_place == OPTIMIZER_ON_CHIP) {
        double state = (double)(s->n_parameters + s->n_copied) * o->optimizer.state_bytes_per_param / plan_shard_replicas(p);
        m->bytes[REGION_OPTIMIZER] += spread_over_tiles((uint64_t)state, tiles, WEIGHT_GRAIN_BYTES);
    }
    m->bytes[REGION_IO_BUFFERS] += spread_over_tiles(s->host_bytes, tiles, ACTIVATION_GRAIN_BYTES);
    struct moment here = worst_moment(p, s);
    m->bytes[REGION_STASH] += here.stash;       /* stages of one IPU work in turn, but all keep their stash */
    keep_worst(worst, (struct moment){ .activations = here.activations, .temporaries = here.temporaries });
}

/* I/O tiles hold their part of the micro-batch that is arriving, and nothing of the model. They and the other tiles hold the code that passes
 * the input on. */
static void add_io_tiles(struct tile_memory *m, const struct plan *p, uint64_t arriving_bytes)
{
    uint64_t received_bytes = ceil_div(arriving_bytes, p->topology->machine->chip.n_tiles - p->request.io_tiles);
    m->io_tile_bytes = spread_over_tiles(arriving_bytes, p->request.io_tiles, ACTIVATION_GRAIN_BYTES);
    m->io_tile_bytes += exchange_code_bytes(ceil_div(arriving_bytes, p->request.io_tiles), MOVED_PIECE_BYTES);
    m->bytes[REGION_CODE] += exchange_code_bytes(received_bytes, MOVED_PIECE_BYTES);
}

/* Optimizer state that add_stage() does not count. Small tensors are not sharded, so the rest of their state is here too; nor are they streamed. */
static uint64_t more_state_bytes(const struct plan *p, uint32_t ipu)
{
    const struct plan_request *o = &p->request;
    bool on_chip = o->optimizer_place == OPTIMIZER_ON_CHIP;
    double shard = plan_shard_replicas(p), n = 0;
    for (uint32_t i = 0; i < p->update.n_chains; i++) {
        const struct update_chain *c = &p->update.chains[i];
        double all = (double)c->n_tensors * (double)c->n_elements, part = all / shard;
        if (c->ipu == ipu && !plan_streams(o, c->n_elements))
            n += (c->steps->sharded ? part : all) - (on_chip ? part : 0);
    }
    return (uint64_t)(n * o->optimizer.state_bytes_per_param);
}

static void count_memory(struct tile_memory *memory, const struct plan *p, struct compiler *c)
{
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
        struct tile_memory *m = &memory[i];
        struct moment worst_here = {0};
        uint64_t arriving_bytes = 0, tiles = 1;
        for (uint32_t s = 0; s < p->n_stages; s++)
            if (p->stages[s].ipu == i) {
                add_stage(m, &worst_here, p, &p->stages[s]);
                arriving_bytes += p->stages[s].host_bytes;
                tiles = p->stages[s].compiled->options.n_tiles;
            }
        m->bytes[REGION_OPTIMIZER] += spread_over_tiles(more_state_bytes(p, i), tiles, WEIGHT_GRAIN_BYTES);
        m->bytes[REGION_ACTIVATIONS] = worst_here.activations;
        m->bytes[REGION_TEMPORARIES] = worst_here.temporaries;
        struct layer_range ranges[MAX_STAGES];
        uint32_t n_ranges = plan_ipu_layers(ranges, p, i);
        m->bytes[REGION_CODE] = compile_code_bytes(c, ranges, n_ranges);
        if (p->request.io_tiles)
            add_io_tiles(m, p, arriving_bytes);
        for (int r = 0; r < N_REGIONS; r++)
            m->total_bytes += m->bytes[r];
        if (m->total_bytes < m->io_tile_bytes)
            m->total_bytes = m->io_tile_bytes;
    }
}

/* The compiler keeps the answer, by where the layers are and all else that memory depends on. */
static const struct tile_memory *find_memory(const struct plan *p, struct compiler *c, struct arena *a)
{
    const struct plan_request *o = &p->request;
    uint64_t state_bytes;
    memcpy(&state_bytes, &o->optimizer.state_bytes_per_param, sizeof state_bytes);
    const uint64_t question[] = { (uint64_t)(uintptr_t)p->placed, o->schedule, o->optimizer_place, state_bytes, plan_shard_replicas(p),
                                  o->program.sharded_elements, o->program.offloaded_elements, plan_keeps_gradients(o) };
    const struct tile_memory *known = p->placed ? hash_table_find(&c->memories, question, sizeof question) : NULL;
    if (known)
        return known;
    size_t n_bytes = o->ipus_per_replica * sizeof *known;
    struct tile_memory *memory = p->placed ? hash_table_add(&c->memories, question, sizeof question, n_bytes, c->arena) : arena_alloc(a, n_bytes);
    count_memory(memory, p, c);
    return memory;
}

void plan_memory(struct plan *p, struct compiler *c, struct arena *a)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes, worst = 0;
    p->memory = find_memory(p, c, a);
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++)
        if (worst < p->memory[i].total_bytes) {
            worst = p->memory[i].total_bytes;
            p->worst_ipu = i;
        }
    p->fits = worst <= capacity;
    p->shortfall_bytes = p->fits ? 0 : worst - capacity;
}
