/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layer_costs.c - the costs of a graph's operations summed by layer: cycles by part, multiplications, parameters, and the bytes that it keeps
 * and hands on.
 */
#include "system-model/compiler/compiled.h"
#include "system-model/graph/graph.h"

static void add_op_cost(struct layer_cost *layer, const struct graph *g, const struct op *op, const struct op_plan *p, enum ahead ahead, const struct energy *energy)
{
    uint64_t repeats = op_repeats(g, op);
    bool forward = op->pass == PASS_FORWARD;
    enum part part = op_part(op);
    layer->op_cycles += op_plan_cycles(p) * repeats;
    layer->codelet_cycles += op->kind == OP_CODELET ? p->compute_cycles - p->rearrange_cycles : 0;
    layer->off_amp_cycles += p->vertex == VERTEX_HMAC || p->vertex == VERTEX_OUTER_PRODUCT ? op_plan_cycles(p) * repeats : 0;
    cycles_add_plan(forward ? &layer->forward : &layer->backward, p, part, repeats);
    energy_add(forward ? &layer->forward_energy : &layer->backward_energy, energy, (double)repeats);
    if (forward)
        cycles_add_shared(&layer->shared, p, part, repeats);
    for (enum ahead asked = AHEAD_OF_CHECKPOINT; forward && asked <= ahead; asked++) {
        cycles_add_plan(&layer->ahead[asked].cycles, p, part, repeats);
        cycles_add_shared(&layer->ahead[asked].shared, p, part, repeats);
        layer->ahead[asked].mac += p->mac * repeats;
        energy_add(&layer->ahead[asked].energy, energy, (double)repeats);
    }
    if (op_runs_again(g, op)) {
        cycles_add_plan(&layer->backward, p, part, repeats);
        energy_add(&layer->backward_energy, energy, (double)repeats);
        layer->again_mac += p->mac * repeats;
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
        l->n_spread += t->sharded ? tensor_elements(t) : 0;
        l->weight_bytes += tensor_bytes(t);
    }
}

/* A host input is transferred for the first operation that reads it, together with all other inputs that this operation reads first. */
static void add_host_inputs(struct layer_cost *layers, const struct graph *g, struct arena *scratch)
{
    bool *seen = ARENA_ARRAY(scratch, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const struct tensor *t = &g->tensors[op->inputs[k]];
            bytes += t->role == ROLE_INPUT && !seen[op->inputs[k]] ? tensor_bytes(t) : 0;
            seen[op->inputs[k]] = true;
        }
        layers[op->layer_id].host_bytes += bytes;
        layers[op->layer_id].n_arrivals += bytes > 0;
    }
}

/* Results are tensors that no operation reads. */
static void add_results(struct layer_cost *layers, const struct graph *g, struct arena *scratch)
{
    bool *is_read = ARENA_ARRAY(scratch, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            is_read[g->ops[i].inputs[k]] = true;
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++)
        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (!is_read[op->outputs[k]]) {
                layers[op->layer_id].n_results++;
                layers[op->layer_id].result_bytes += tensor_bytes(&g->tensors[op->outputs[k]]) * layer_repeats(&g->layers[op->layer_id]);
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

const struct layer_cost *layer_costs_unplanned(const struct graph *g, struct arena *a)
{
    struct layer_cost *layers = ARENA_ARRAY(a, struct layer_cost, g->n_layers);
    struct arena scratch = {0};
    add_weights(layers, g);
    add_host_inputs(layers, g, &scratch);
    add_results(layers, g, &scratch);
    add_activations(layers, g, &scratch);
    arena_free(&scratch);
    return layers;
}

static const void *ahead_of_graph(void *world, const void *input, struct err *err)
{
    const struct compiler *c = world;
    (void)input, (void)err;
    return graph_for_later_layers(c->graph, c->arena);
}

const enum ahead *compile_ahead(struct compiler *c)
{
    struct compiler *owner = c->of_graph ? c->of_graph : c;
    const uint64_t nothing = 0;
    return memo_get(&owner->memo, ahead_of_graph, &nothing, sizeof nothing, NULL).at;
}

/* Equal operations with one plan have equal energy. */
void compile_layers(struct compiled *out, struct compiler *c)
{
    const struct graph *g = c->graph;
    struct arena scratch = {0};
    struct energy *energies = ARENA_ROOM(&scratch, struct energy, g->n_ops);
    if (!c->layers)
        c->layers = layer_costs_unplanned(g, c->arena);
    const struct energy_prices prices = energy_prices(c->chip);
    const enum ahead *ahead = compile_ahead(c);
    out->layers = memcpy(ARENA_ROOM(c->arena, struct layer_cost, g->n_layers), c->layers, g->n_layers * sizeof *out->layers);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        struct layer_cost *l = &out->layers[g->ops[i].layer_id];
        const uint64_t codes[] = { l->code, out->op_plans[i]->code_id };
        l->code = hash_bytes(codes, sizeof codes, 1);
        uint32_t like = c->alike ? c->alike[i] : i;
        energies[i] = like < i && out->op_plans[like] == out->op_plans[i] ? energies[like] : op_energy(g, &g->ops[i], out->op_plans[i], &prices);
        add_op_cost(l, g, &g->ops[i], out->op_plans[i], ahead[i], &energies[i]);
    }
    arena_free(&scratch);
    for (size_t i = 0; i < g->n_layers; i++) {
        out->layers[i].forward_cycles = cycles_total(&out->layers[i].forward);
        out->layers[i].backward_cycles = cycles_total(&out->layers[i].backward);
    }
}

const char *const part_names[N_PARTS] = {
    [PART_MATMUL] = "matmul", [PART_CONV] = "conv", [PART_NORM] = "norm", [PART_ELEMENTWISE] = "elementwise",
    [PART_SOFTMAX] = "softmax", [PART_EMBEDDING] = "embedding", [PART_POOLING] = "pooling", [PART_LSTM] = "lstm",
    [PART_LOSS] = "loss", [PART_REARRANGE] = "rearrange", [PART_EXCHANGE] = "exchange", [PART_SYNC] = "sync",
    [PART_ACTIVATIONS] = "activation_all_reduce", [PART_STAGE_COPY] = "stage_copy", [PART_BUBBLE] = "bubble", [PART_ACCUMULATE] = "accumulate",
    [PART_ALL_REDUCE] = "all_reduce", [PART_OPTIMIZER] = "optimizer", [PART_STREAMING] = "streaming", [PART_HOST] = "host",
};

const char *const part_class_names[N_PART_CLASSES] = {
    [CLASS_COMPUTE] = "compute", [CLASS_EXCHANGE] = "exchange on the chip", [CLASS_SYNC] = "sync of the tiles",
    [CLASS_LINKS] = "links between IPUs", [CLASS_WAITING] = "waiting", [CLASS_MEMORY] = "streaming memory", [CLASS_HOST] = "the host",
};
/* Parts without an entry are of the class CLASS_COMPUTE. */
const enum part_class part_classes[N_PARTS] = {
    [PART_EXCHANGE] = CLASS_EXCHANGE, [PART_SYNC] = CLASS_SYNC, [PART_ACTIVATIONS] = CLASS_LINKS, [PART_STAGE_COPY] = CLASS_LINKS, [PART_ALL_REDUCE] = CLASS_LINKS,
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

void cycles_add_shared(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times)
{
    to->part[part] += p->shared_cycles[0] * times;
    to->part[PART_EXCHANGE] += p->shared_cycles[1] * times;
    to->part[PART_SYNC] += p->shared_cycles[2] * times;
}

void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times)
{
    to->part[part] += p->compute_cycles * times;
    to->part[PART_EXCHANGE] += p->exchange_cycles * times;
    to->part[PART_SYNC] += p->sync_cycles * times;
}
