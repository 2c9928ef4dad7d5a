/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph.c - operations on tensors: building a graph, asking about its work, and its text. op_kinds.c says what each
 * kind of operation does.
 */
#include "system-model/graph/op_kinds.h"

const char *const op_pass_names[N_OP_PASSES] = { "forward", "backward-data", "backward-weight" };

/* ---- work ------------------------------------------------------------------------------ */

uint64_t op_mac(const struct graph *g, const struct op *op)
{
    const struct op_rule *rule = &op_rules[op->kind];
    return rule->mac ? rule->mac(g, op) : 0;
}

uint64_t op_flop(const struct graph *g, const struct op *op)
{
    const struct op_rule *rule = &op_rules[op->kind];
    const struct op *f = op_forward(g, op);
    uint64_t elements = 0;
    for (uint32_t i = 0; i < f->n_outputs; i++)
        elements += tensor_elements(&g->tensors[f->outputs[i]]);
    if (rule->per == PER_INPUT)
        elements = tensor_elements(&g->tensors[f->inputs[0]]);
    else if (rule->per == PER_WINDOW)
        elements *= (uint64_t)f->at->kernel_h * f->at->kernel_w;
    else if (rule->per == PER_PAIR)
        elements *= g->tensors[f->inputs[0]].dims[1];
    return 2 * op_mac(g, op) + rule->flop[op->pass] * elements;
}

/* kept: true for each tensor that a backward pass reads. last_reader: the last layer that reads each tensor forward; 0 if no layer does. */
static void graph_uses(bool *kept, uint32_t *last_reader, const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (op->pass != PASS_FORWARD)
                kept[op->inputs[k]] = true;
            else
                last_reader[op->inputs[k]] = max_u32(last_reader[op->inputs[k]], op->layer_id);
    }
}

void graph_activations(uint64_t *kept_bytes, uint64_t *output_bytes, const struct graph *g)
{
    struct arena scratch = {0};
    bool *kept = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    uint32_t *last_reader = ARENA_ARRAY(&scratch, uint32_t, g->n_tensors);
    graph_uses(kept, last_reader, g);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        if (t->role != ROLE_ACTIVATION)
            continue;
        if (kept[i])
            kept_bytes[t->layer_id] += tensor_bytes(t);
        for (uint32_t l = t->layer_id; l < last_reader[i]; l++)
            output_bytes[l] += tensor_bytes(t);
    }
    arena_free(&scratch);
}

static bool leaves_its_layer(const struct graph *g, const struct tensor *t) { return t->last_reader > g->ops[t->producer_op].layer_id; }

/* Marks tensors of the layer that an operation of it reads; kept: those that leave the layer are there. */
static void need_inputs(bool *needed, const struct graph *g, const struct op *op, bool kept)
{
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const struct tensor *t = &g->tensors[op->inputs[k]];
        needed[op->inputs[k]] |= t->producer_op != NO_ID && g->ops[t->producer_op].layer_id == op->layer_id && !(kept && leaves_its_layer(g, t));
    }
}

static void find_ahead(enum ahead *ahead, const struct graph *g, bool kept)
{
    struct arena scratch = {0};
    bool *needed = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    for (size_t i = g->n_ops; i-- > 0; ) {
        const struct op *op = &g->ops[i];
        bool is_needed = op->pass != PASS_FORWARD;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            is_needed |= needed[op->outputs[k]];
        if (is_needed)
            need_inputs(needed, g, op, kept);
        else
            ahead[i] = kept ? AHEAD_OF_CHECKPOINT : AHEAD_OF_STAGE;
    }
    arena_free(&scratch);
}

const enum ahead *graph_for_later_layers(const struct graph *g, struct arena *a)
{
    enum ahead *ahead = ARENA_ARRAY(a, enum ahead, g->n_ops);
    find_ahead(ahead, g, true);
    find_ahead(ahead, g, false);
    return ahead;
}

uint64_t graph_parameters(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT)
            n += tensor_elements(&g->tensors[i]);
    return n;
}

uint64_t layer_repeats(const struct layer *l) { return max_u32(l->repeats, 1); }

bool op_runs_again(const struct graph *g, const struct op *op)
{
    return op->pass == PASS_FORWARD && (layer_repeats(&g->layers[op->layer_id]) > 1 || op->at->again);
}

uint64_t op_repeats(const struct graph *g, const struct op *op)
{
    const struct layer *l = &g->layers[op->layer_id];
    return layer_repeats(l) * max_u32(l->rounds, 1);
}

uint64_t graph_forward_mac(const struct graph *g)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        n += op_mac(g, &g->ops[i]) * op_repeats(g, &g->ops[i]);
    return n;
}

/* ---- building --------------------------------------------------------------------------- */

void graph_start(struct graph *g, const char *name, uint64_t micro_batch, struct arena *a)
{
    assert(micro_batch > 0);
    enum { INITIAL_ITEMS = 4096 };               /* enough for models of a usual size; pages that are never touched cost nothing */
    *g = (struct graph){ .name = name, .micro_batch = micro_batch, .arena = a, .cap_tensors = INITIAL_ITEMS, .cap_ops = INITIAL_ITEMS };
    g->tensors = arena_room(a, INITIAL_ITEMS, sizeof *g->tensors);
    g->ops = arena_room(a, INITIAL_ITEMS, sizeof *g->ops);
}

uint32_t graph_layer(struct graph *g, struct layer layer)
{
    assert(layer.name && layer.part_id < (layer.n_parts ? layer.n_parts : 1));
    g->layers = arena_grow(g->arena, g->layers, g->n_layers, &g->cap_layers, sizeof *g->layers);
    g->layers[g->n_layers] = layer;
    return (uint32_t)g->n_layers++;
}

static uint32_t append_tensor(struct graph *g, struct tensor t)
{
    assert(g->n_layers > 0 && t.n_dims > 0 && t.n_dims <= MAX_DIMS);
    g->tensors = arena_grow(g->arena, g->tensors, g->n_tensors, &g->cap_tensors, sizeof *g->tensors);
    t.first_reader = NO_ID;
    g->tensors[g->n_tensors] = t;
    return (uint32_t)g->n_tensors++;
}

uint64_t graph_input_numbers(const struct graph *g)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i].role == ROLE_INPUT && g->tensors[i].type == TYPE_INT32 ? tensor_elements(&g->tensors[i]) : 0;
    return n;
}

uint32_t graph_tensor(struct graph *g, const char *name, enum tensor_role role, enum data_type type,
                      uint32_t n_dims, const uint64_t *dims)
{
    struct tensor t = { .name = name, .type = type, .role = role, .n_dims = n_dims,
                        .layer_id = (uint32_t)g->n_layers - 1, .producer_op = NO_ID, .of_tensor = NO_ID };
    for (uint32_t i = 0; i < n_dims; i++) {
        assert(dims[i] > 0);
        t.dims[i] = dims[i];
    }
    return append_tensor(g, t);
}

static const uint32_t *keep_ids(struct graph *g, const uint32_t *ids, uint32_t n)
{
    uint32_t *kept = ARENA_ARRAY(g->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = ids[i];
    return kept;
}

static void add_reader(struct tensor *t, const struct op *op)
{
    t->first_reader = min_u32(t->first_reader, op->layer_id);
    t->last_reader = max_u32(t->last_reader, op->layer_id);
    t->read_backward |= op->pass != PASS_FORWARD;
}

uint32_t graph_append(struct graph *g, struct op op)
{
    assert(op.n_inputs <= MAX_OP_INPUTS && op.n_outputs > 0 && op.n_outputs <= MAX_OP_OUTPUTS);
    op.inputs = keep_ids(g, op.inputs, op.n_inputs);
    op.outputs = keep_ids(g, op.outputs, op.n_outputs);
    for (uint32_t i = 0; i < op.n_inputs; i++)
        add_reader(&g->tensors[op.inputs[i]], &op);
    g->ops = arena_grow(g->arena, g->ops, g->n_ops, &g->cap_ops, sizeof *g->ops);
    g->ops[g->n_ops] = op;
    return (uint32_t)g->n_ops++;
}

/* Most operations have no attributes, or those of the layer before. */
const struct op_attributes *graph_keep_attributes(struct graph *g, const struct op_attributes *at)
{
    struct op_attributes *kept = hash_table_find(&g->attributes, at, sizeof *at);
    return kept ? kept : memcpy(hash_table_add(&g->attributes, at, sizeof *at, sizeof *at, g->arena), at, sizeof *at);
}

void graph_mark_again(struct graph *g, size_t first, uint32_t part)
{
    for (struct op *op = g->ops + first; op < g->ops + g->n_ops; op++) {
        struct op_attributes at = *op->at;
        at.again = part;
        op->at = graph_keep_attributes(g, &at);
    }
}

uint32_t graph_op(struct graph *g, enum op_kind kind, const uint32_t *inputs, uint32_t n_inputs,
                  struct op_attributes at)
{
    assert(g->n_layers > 0 && n_inputs > 0 && n_inputs <= MAX_OP_INPUTS && g->n_ops == g->n_forward_ops);
    uint32_t outputs[MAX_OP_OUTPUTS];
    if (op_rules[kind].defaults)
        op_rules[kind].defaults(&at, &g->tensors[inputs[0]]);
    struct op op = { .kind = kind, .pass = PASS_FORWARD, .layer_id = (uint32_t)g->n_layers - 1, .forward_op = NO_ID,
                     .n_inputs = n_inputs, .n_outputs = 1, .inputs = inputs, .outputs = outputs, .at = graph_keep_attributes(g, &at) };
    for (uint32_t i = 0; i < n_inputs; i++)
        assert(inputs[i] < g->n_tensors);
    struct tensor out = { .name = op_kind_names[kind], .type = g->tensors[op.inputs[0]].type, .role = ROLE_ACTIVATION,
                          .layer_id = op.layer_id, .producer_op = (uint32_t)g->n_ops, .of_tensor = NO_ID };
    op_rules[kind].shape(g, &op, &out);
    for (uint32_t i = 0; i < op.n_outputs; i++)
        outputs[i] = append_tensor(g, out);
    graph_append(g, op);
    g->n_forward_ops = g->n_ops;
    return outputs[0];
}

/* ---- text ------------------------------------------------------------------------------- */

static void print_shape(FILE *f, const struct tensor *t)
{
    static const char *const types[N_DATA_TYPES] = { "fp16", "fp32", "fp8", "int32", "uint8", "int4" };
    fprintf(f, "%s[", types[t->type]);
    for (uint32_t i = 0; i < t->n_dims; i++)
        fprintf(f, "%s%" PRIu64, i ? "x" : "", t->dims[i]);
    fputc(']', f);
}

static void print_layer(FILE *f, const struct graph *g, uint32_t id)
{
    static const char *const roles[] = { "first", "body", "last" };
    uint64_t parameters = 0, mac = 0, n_ops = 0;
    const struct tensor *out = NULL;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].layer_id == id && g->tensors[i].role == ROLE_WEIGHT)
            parameters += tensor_elements(&g->tensors[i]);
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (g->ops[i].layer_id == id) {
            mac += op_mac(g, &g->ops[i]) * op_repeats(g, &g->ops[i]);
            n_ops++;
            out = &g->tensors[g->ops[i].outputs[0]];
        }
    fprintf(f, "%-24s %-5s %4" PRIu64 " ops %12" PRIu64 " parameters %15" PRIu64 " MAC  ", g->layers[id].name,
            roles[g->layers[id].role], n_ops, parameters, mac);
    if (out)
        print_shape(f, out);
    fputc('\n', f);
}

static void print_sparsity(FILE *f, const struct graph *g)
{
    uint64_t n = 0, there = 0, places = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        if (op->kind != OP_SPARSE_MATMUL)
            continue;
        n++;
        there += tensor_elements(&g->tensors[op->inputs[1]]);
        places += op->at->sparse.inner * op->at->sparse.outer;
    }
    if (n)
        fprintf(f, "sparse: %" PRIu64 " of %" PRIu64 " weights of %" PRIu64 " product%s, %.3g %%\n", there, places, n, plural(n),
                100 * (double)there / (double)places);
}

void graph_print(FILE *f, const struct graph *g)
{
    fprintf(f, "%s, micro-batch %" PRIu64 ": %zu layers, %zu operations (%zu forward), %" PRIu64 " parameters, "
            "%" PRIu64 " MAC forward\n", g->name, g->micro_batch, g->n_layers, g->n_ops, g->n_forward_ops,
            graph_parameters(g), graph_forward_mac(g));
    for (uint32_t i = 0; i < g->n_layers; i++)
        print_layer(f, g, i);
    print_sparsity(f, g);
}

static void print_tensors(FILE *f, const struct graph *g, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fprintf(f, " %%%" PRIu32 " ", ids[i]);
        print_shape(f, &g->tensors[ids[i]]);
    }
}

void graph_print_ops(FILE *f, const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        fprintf(f, "%5zu %-24s %-15s %-15s", i, g->layers[op->layer_id].name, op_kind_names[op->kind],
                op_pass_names[op->pass]);
        print_tensors(f, g, op->inputs, op->n_inputs);
        fputs(" ->", f);
        print_tensors(f, g, op->outputs, op->n_outputs);
        fprintf(f, "  %" PRIu64 " MAC %" PRIu64 " flop\n", op_mac(g, op), op_flop(g, op));
    }
}
