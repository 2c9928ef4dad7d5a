/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise.c - weights and inputs drawn by tensor and element, the same on every machine. */
#include "system-model/execute/execution.h"

/* A number between -1 and 1 for each key and element. */
static double noise_of(uint64_t key, uint64_t element)
{
    const uint64_t seed[] = { key, element };
    return (double)(hash_bytes(seed, sizeof seed, 17) >> 11) * 0x1p-52 - 1;
}

/* The number of indices that a tensor may hold: rows of its table, classes of its scores without a transducer's blank; 0 if it holds none. */
static uint64_t n_indices(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        const struct tensor *t = &g->tensors[op->inputs[0]];
        if (op->n_inputs < 2 || op->inputs[1] != id)
            continue;
        if (op->kind == OP_GATHER || op->kind == OP_SCATTER)
            return t->dims[t->n_dims - 2];
        if (op->kind == OP_CROSS_ENTROPY || op->kind == OP_TRANSDUCER_LOSS)
            return t->dims[t->n_dims - 1] - (op->kind == OP_TRANSDUCER_LOSS);
    }
    return 0;
}

static void fill_weight(float *to, const struct tensor *t, uint32_t id)
{
    uint64_t n = tensor_elements(t);
    double bound = sqrt(3.0 * (double)t->dims[t->n_dims - 1] / (double)n), vector = text_is(t->name, "gamma");
    for (uint64_t i = 0; i < n; i++)
        to[i] = (float)(t->n_dims > 1 ? bound * noise_of(id, i) : vector);
}

/* Tables hold what their names say. Added masks are 0; those that select, or multiply, are 1. */
static void fill_state(float *to, const struct tensor *t)
{
    struct arena scratch = { 0 };
    double *table = ARENA_ROOM(&scratch, double, tensor_elements(t));
    bool known = state_values(table, t);
    for (uint64_t i = 0; i < tensor_elements(t) && known; i++)
        to[i] = (float)table[i];
    arena_free(&scratch);
    if (known)
        return;
    float value = text_is(t->name, "exponent-3") ? 3 : t->type == TYPE_UINT8 || strstr(t->name, "-factor");
    for (uint64_t i = 0; i < tensor_elements(t); i++)
        to[i] = value;
}

bool fill_with_noise(void *graph, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct graph *g = graph;
    const struct tensor *t = &g->tensors[id];
    const uint64_t question[] = { id, step, replica, micro_batch };
    uint64_t key = hash_bytes(question, sizeof question, 5), most = n_indices(g, id);
    (void)err;
    if (t->role == ROLE_WEIGHT || t->role == ROLE_STATE) {
        if (t->role == ROLE_WEIGHT)
            fill_weight(to, t, id);
        else
            fill_state(to, t);
        return true;
    }
    for (uint64_t i = 0; i < tensor_elements(t); i++) {
        double x = noise_of(key, i);
        to[i] = (float)(most ? floor((x + 1) / 2 * (double)most) : t->type == TYPE_UINT8 ? floor(127.5 * (x + 1)) : x);
    }
    return true;
}
