/*
 * memory.c - bytes on the worst tile of each IPU, by region, and the verdict.
 *
 * Always live: weights, gradient accumulators, optimizer state on chip, the stash of every micro-batch in flight, code,
 * I/O buffers. Live by turns: activations of the micro-batch at work, temporaries of the operation at work.
 * Tensors are spread over the tiles in grains of 128 bytes (activations) and 256 bytes (weights) as PopLibs maps
 * them, so the worst tile of a tensor smaller than tiles x grain holds a grain; such small tensors start on
 * different tiles, so together they fill evenly. Code of equal operations is shared (outlining).
 */
#include "system-model/plan.h"

#include <string.h>

const char *const region_names[N_REGIONS] = {
    [REGION_WEIGHTS] = "weights", [REGION_ACCUMULATORS] = "accumulators", [REGION_OPTIMIZER] = "optimizer state",
    [REGION_STASH] = "stash", [REGION_CODE] = "code", [REGION_VERTEX_STATE] = "vertex state", [REGION_IO_BUFFERS] = "io buffers",
    [REGION_ACTIVATIONS] = "activations", [REGION_TEMPORARIES] = "temporaries",
};

enum { WEIGHT_GRAIN_BYTES = 256, ACTIVATION_GRAIN_BYTES = 128 };

static uint64_t spread(uint64_t bytes, uint64_t n_tiles, uint64_t grain_bytes)
{
    return ceil_div_u64(ceil_div_u64(bytes, grain_bytes), n_tiles) * grain_bytes;
}

static uint64_t code_bytes(const struct plan *p, struct compiler *c, uint32_t ipu)
{
    struct layer_range ranges[MAX_STAGES];
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (p->stages[s].ipu == ipu)
            ranges[n++] = (struct layer_range){ p->stages[s].compiled, p->stages[s].first_layer, p->stages[s].n_layers };
    return compile_code_bytes(c, ranges, n);
}

static uint64_t stage_temporaries(const struct stage_plan *s)
{
    uint64_t most = 0;
    for (uint32_t i = s->first_layer; i < s->first_layer + s->n_layers; i++)
        if (most < s->compiled->layers[i].temp_bytes_per_tile)
            most = s->compiled->layers[i].temp_bytes_per_tile;
    return most;
}

static uint64_t stage_live(const struct stage_plan *s)
{
    uint64_t most = s->activation_bytes;
    for (uint32_t i = s->first_layer; i < s->first_layer + s->n_layers; i++)
        if (most < s->compiled->layers[i].live_bytes)
            most = s->compiled->layers[i].live_bytes;
    return most;
}

static void add_stage(struct tile_memory *m, const struct plan *p, const struct stage_plan *s)
{
    const struct plan_options *o = &p->options;
    uint64_t tiles = s->compiled->options.n_tiles;
    uint64_t stash = s->stash_bytes;
    if (o->stash_type == TYPE_FP8 && s != &p->stages[p->n_stages - 1])
        stash /= 2;
    m->bytes[REGION_WEIGHTS] += spread(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    m->bytes[REGION_STASH] += spread(stash * s->stash_depth, tiles, ACTIVATION_GRAIN_BYTES);
    if (o->training && o->grad_accum > 1)
        m->bytes[REGION_ACCUMULATORS] += spread(s->weight_bytes, tiles, WEIGHT_GRAIN_BYTES);
    if (o->training && o->optimizer_place == OPTIMIZER_ON_CHIP) {
        double state = (double)s->n_parameters * o->optimizer.state_bytes_per_param / shard_replicas(p);
        m->bytes[REGION_OPTIMIZER] += spread((uint64_t)state, tiles, WEIGHT_GRAIN_BYTES);
    }
    /* Input is double-buffered: one micro-batch arrives while another is read. */
    m->bytes[REGION_IO_BUFFERS] += spread(2 * s->host_bytes, o->io_tiles ? o->io_tiles : tiles, ACTIVATION_GRAIN_BYTES);
    uint64_t live = spread(stage_live(s), tiles, ACTIVATION_GRAIN_BYTES);
    if (m->bytes[REGION_ACTIVATIONS] < live)
        m->bytes[REGION_ACTIVATIONS] = live;
    if (m->bytes[REGION_TEMPORARIES] < stage_temporaries(s))
        m->bytes[REGION_TEMPORARIES] = stage_temporaries(s);
}

void plan_memory(struct plan *p, struct compiler *c, struct arena *a)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes, worst = 0;
    p->memory = ARENA_ARRAY(a, struct tile_memory, p->options.ipus_per_replica);
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++) {
        struct tile_memory *m = &p->memory[i];
        for (uint32_t s = 0; s < p->n_stages; s++)
            if (p->stages[s].ipu == i)
                add_stage(m, p, &p->stages[s]);
        m->bytes[REGION_CODE] = code_bytes(p, c, i);
        for (int r = 0; r < N_REGIONS; r++)
            m->total_bytes += m->bytes[r];
        if (worst < m->total_bytes) {
            worst = m->total_bytes;
            p->worst_ipu = i;
        }
    }
    p->fits = worst <= capacity;
    p->shortfall_bytes = p->fits ? 0 : worst - capacity;
}
