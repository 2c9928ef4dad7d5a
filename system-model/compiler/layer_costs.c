/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layer_costs.c - the costs of a graph's operations summed by layer: cycles by part, multiplications, parameters, and
 * the bytes that live while a layer works.
 */
#include "system-model/compiler/compiler_internal.h"
#include "system-model/graph/graph.h"

#include <math.h>
#include <string.h>

static void add_op_cost(struct layer_cost *layer, const struct graph *g, const struct op *op, const struct op_plan *p, const struct chip *chip)
{
    uint64_t repeats = op_repeats(g, op);
    const struct energy energy = op_energy(g, op, p, chip);
    bool forward = op->pass == PASS_FORWARD;
    enum part part = op_part(op);
    cycles_add_plan(forward ? &layer->forward : &layer->backward, p, part, repeats);
    energy_add(forward ? &layer->forward_energy : &layer->backward_energy, &energy, (double)repeats);
    if (forward && repeats > 1) {       /* a slice is computed again for its backward pass, as only one is kept at a time */
        cycles_add_plan(&layer->backward, p, part, repeats);
        energy_add(&layer->backward_energy, &energy, (double)repeats);
        layer->slices_mac += p->mac * repeats;
    }
    if (forward)
        layer->forward_mac += p->mac * repeats;
    else
        layer->backward_mac += p->mac * repeats;
    if (layer->temp_bytes_per_tile < p->temp_bytes_per_tile)
        layer->temp_bytes_per_tile = p->temp_bytes_per_tile;
    layer->interleaved_bytes = max_u64(layer->interleaved_bytes, p->interleaved_bytes);
}

static void add_weights(struct layer_cost *layers, const struct graph *g)
{
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        if (t->role != ROLE_WEIGHT)
            continue;
        struct layer_cost *l = &layers[t->layer_id];
        l->n_parameters += tensor_elements(t);
        l->weight_bytes += tensor_bytes(t);
    }
}

/* A host input is transferred once, for the first layer that reads it. */
static void add_host_inputs(struct layer_cost *layers, const struct graph *g, struct arena *scratch)
{
    bool *seen = ARENA_ARRAY(scratch, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const struct tensor *t = &g->tensors[op->inputs[k]];
            if (t->role == ROLE_INPUT && !seen[op->inputs[k]])
                layers[op->layer_id].host_bytes += tensor_bytes(t);
            seen[op->inputs[k]] = true;
        }
    }
}

static void add_activations(struct layer_cost *layers, const struct graph *g, struct arena *scratch)
{
    uint64_t *kept = ARENA_ARRAY(scratch, uint64_t, g->n_layers), *outputs = ARENA_ARRAY(scratch, uint64_t, g->n_layers);
    graph_activations(kept, outputs, g);
    for (size_t i = 0; i < g->n_layers; i++) {
        layers[i].kept_bytes = kept[i];
        layers[i].output_bytes = outputs[i];
    }
}

/* True if the operation writes over its input, as PopART and popops do with element-wise work. */
static bool in_place(const struct op *op)
{
    return op_is_elementwise(op) && op->kind != OP_OUTER_ADD && op->kind != OP_EXPAND;
}

/* The bytes of each tensor if every tile held as much of it as the fullest tile, which must have room. Results are
 * where their plan computed them (op_plan's imbalance); without plans (NULL), tensors are even. */
static const uint64_t *lying_bytes(const struct graph *g, const struct op_plan *const *plans, struct arena *scratch)
{
    uint64_t *out = ARENA_ROOM(scratch, uint64_t, g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++) {
        uint32_t op = g->tensors[i].producer_op;
        out[i] = tensor_bytes(&g->tensors[i]);
        if (plans && op != NO_ID)
            out[i] = (uint64_t)((double)out[i] * plans[op]->imbalance);
    }
    return out;
}

/* Roles of the tensors that live while an operation works: results of its own direction, and state. */
static const bool live_forward[N_TENSOR_ROLES] = { [ROLE_ACTIVATION] = true, [ROLE_STATE] = true };
static const bool live_backward[N_TENSOR_ROLES] = { [ROLE_GRADIENT] = true, [ROLE_WEIGHT_GRADIENT] = true };
static const bool state_alone[N_TENSOR_ROLES] = { [ROLE_STATE] = true };

static uint64_t bytes_of_roles(const bool *roles, const struct graph *g, const uint64_t *bytes_of, const uint32_t *ids, uint32_t n)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < n; k++)
        if (roles[g->tensors[ids[k]].role])
            bytes += bytes_of[ids[k]];
    return bytes;
}

static uint64_t live_bytes(const struct graph *g, const uint64_t *bytes_of, const struct op *op)
{
    const bool *roles = op->pass == PASS_FORWARD ? live_forward : live_backward;
    uint64_t read = bytes_of_roles(roles, g, bytes_of, op->inputs, op->n_inputs);
    return in_place(op) ? read : read + bytes_of_roles(roles, g, bytes_of, op->outputs, op->n_outputs);
}

/* By operation, the bytes alive while it works. Inference keeps only what later operations read: a unit's input stays
 * alive next to the results of its convolutions until it is added. An operation in place frees what it reads for the
 * last time before it writes. */
static const uint64_t *alive_in_inference(const struct graph *g, const uint64_t *bytes_of, struct arena *scratch)
{
    size_t *last_use = ARENA_ARRAY(scratch, size_t, g->n_tensors);
    uint64_t *out = ARENA_ARRAY(scratch, uint64_t, g->n_ops), alive = 0;
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            last_use[g->ops[i].inputs[k]] = i;
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t made = bytes_of_roles(live_forward, g, bytes_of, op->outputs, op->n_outputs), freed = 0;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            uint32_t id = op->inputs[k];
            if (g->tensors[id].role != ROLE_ACTIVATION || last_use[id] != i)
                continue;
            freed += bytes_of[id];
            last_use[id] = g->n_ops;    /* freed once, even if it is read twice */
        }
        out[i] = bytes_of_roles(state_alone, g, bytes_of, op->inputs, op->n_inputs);
        out[i] += in_place(op) && freed >= made ? alive : alive + made;
        alive += made - freed;
    }
    return out;
}

/* The bytes that an operation takes besides live tensors. If the sums of a convolution are its result (neither shared, nor cast, nor put together
 * from steps), they exist once. */
static uint64_t temp_bytes_besides(const struct graph *g, const uint64_t *bytes_of, const struct op *op, const struct op_plan *p, uint64_t n_tiles)
{
    const struct tensor *result = &g->tensors[op->outputs[0]];
    bool one_step = p->split.in_chans == 1 && p->split.kernel == 1 && p->split.serial_in == 1 && p->split.serial_out == 1;
    bool same_type = data_type_bytes(result->type) == data_type_bytes(p->partials == PARTIALS_FP16 ? TYPE_FP16 : TYPE_FP32);
    if (op->kind != OP_CONV || !one_step || !same_type)
        return p->temp_bytes_per_tile;
    return p->temp_bytes_per_tile - min_u64(bytes_of[op->outputs[0]] / n_tiles, p->temp_bytes_per_tile);
}

static uint64_t moment_bytes_per_tile(const struct op_moment *m, uint64_t n_tiles)
{
    return ceil_div(m->live_bytes, n_tiles) + m->temp_bytes_per_tile;
}

/* The operation of each layer and direction that needs most; the last of equal ones. compiled NULL: nothing is planned yet, so that tensors
 * are even and there are no temporaries. */
static void add_moments(struct layer_cost *layers, const struct graph *g, const struct compiled *compiled)
{
    struct arena scratch = {0};
    const uint64_t *bytes_of = lying_bytes(g, compiled ? compiled->op_plans : NULL, &scratch);
    const uint64_t *alive = g->n_ops == g->n_forward_ops ? alive_in_inference(g, bytes_of, &scratch) : NULL;
    uint64_t n_tiles = compiled ? compiled->options.n_tiles : 1;
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        struct layer_cost *l = &layers[op->layer_id];
        struct op_moment *most = op->pass == PASS_FORWARD ? &l->forward_moment : &l->backward_moment;
        struct op_moment now = { .live_bytes = alive ? alive[i] : live_bytes(g, bytes_of, op) };
        if (compiled)
            now.temp_bytes_per_tile = temp_bytes_besides(g, bytes_of, op, compiled->op_plans[i], n_tiles);
        if (moment_bytes_per_tile(&now, n_tiles) >= moment_bytes_per_tile(most, n_tiles))
            *most = now;
    }
    arena_free(&scratch);
}

const struct layer_cost *layer_costs_unplanned(const struct graph *g, struct arena *a)
{
    struct layer_cost *layers = ARENA_ARRAY(a, struct layer_cost, g->n_layers);
    struct arena scratch = {0};
    add_weights(layers, g);
    add_host_inputs(layers, g, &scratch);
    add_activations(layers, g, &scratch);
    add_moments(layers, g, NULL);
    arena_free(&scratch);
    return layers;
}

void compile_layers(struct compiled *out, struct compiler *c)
{
    const struct graph *g = c->graph;
    if (!c->layers)
        c->layers = layer_costs_unplanned(g, c->arena);
    out->layers = ARENA_ARRAY(c->arena, struct layer_cost, g->n_layers);
    memcpy(out->layers, c->layers, g->n_layers * sizeof *out->layers);
    for (size_t i = 0; i < g->n_ops; i++)
        add_op_cost(&out->layers[g->ops[i].layer_id], g, &g->ops[i], out->op_plans[i], &c->topology->machine->chip);
    for (size_t i = 0; i < g->n_layers; i++)
        out->layers[i].forward_moment = out->layers[i].backward_moment = (struct op_moment){0};
    add_moments(out->layers, g, out);
    for (size_t i = 0; i < g->n_layers; i++) {
        out->layers[i].forward_cycles = cycles_total(&out->layers[i].forward);
        out->layers[i].backward_cycles = cycles_total(&out->layers[i].backward);
    }
}

const char *const part_names[N_PARTS] = {
    [PART_MATMUL] = "matmul", [PART_CONV] = "conv", [PART_NORM] = "norm", [PART_ELEMENTWISE] = "elementwise",
    [PART_SOFTMAX] = "softmax", [PART_EMBEDDING] = "embedding", [PART_POOLING] = "pooling", [PART_LSTM] = "lstm",
    [PART_LOSS] = "loss", [PART_REARRANGE] = "rearrange", [PART_EXCHANGE] = "exchange", [PART_SYNC] = "sync",
    [PART_STAGE_COPY] = "stage_copy", [PART_BUBBLE] = "bubble", [PART_ACCUMULATE] = "accumulate",
    [PART_ALL_REDUCE] = "all_reduce", [PART_OPTIMIZER] = "optimizer", [PART_STREAMING] = "streaming", [PART_HOST] = "host",
};

const char *const part_class_names[N_PART_CLASSES] = {
    [CLASS_COMPUTE] = "compute", [CLASS_EXCHANGE] = "exchange on the chip", [CLASS_SYNC] = "sync of the tiles",
    [CLASS_LINKS] = "links between IPUs", [CLASS_WAITING] = "waiting", [CLASS_MEMORY] = "streaming memory", [CLASS_HOST] = "the host",
};
/* Parts that are not named here are compute. */
const enum part_class part_classes[N_PARTS] = {
    [PART_EXCHANGE] = CLASS_EXCHANGE, [PART_SYNC] = CLASS_SYNC, [PART_STAGE_COPY] = CLASS_LINKS, [PART_ALL_REDUCE] = CLASS_LINKS,
    [PART_BUBBLE] = CLASS_WAITING, [PART_STREAMING] = CLASS_MEMORY, [PART_HOST] = CLASS_HOST,
};

uint64_t cycles_of_class(const struct cycles *c, enum part_class class)
{
    uint64_t sum = 0;
    for (int i = 0; i < N_PARTS; i++)
        sum += part_classes[i] == class ? c->part[i] : 0;
    return sum;
}

uint64_t cycles_total(const struct cycles *c)
{
    uint64_t total = 0;
    for (int i = 0; i < N_PARTS; i++)
        total += c->part[i];
    return total;
}

void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times)
{
    for (int i = 0; i < N_PARTS; i++)
        to->part[i] += c->part[i] * times;
}

uint64_t cycles_of(const struct topology *t, double time_s)
{
    double cycles = ceil(time_s * t->machine->chip.clock_hz);
    return cycles < (double)MOST_CYCLES ? (uint64_t)cycles : MOST_CYCLES;
}

void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times)
{
    to->part[part] += p->compute_cycles * times;
    to->part[PART_EXCHANGE] += p->exchange_cycles * times;
    to->part[PART_SYNC] += p->sync_cycles * times;
}
