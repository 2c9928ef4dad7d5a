/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layers.c - groups a forward graph's operations in layers, for placement, recomputation and stages.
 *
 * A layer may end where few tensors are alive: after an operation past which only one result is read (a residual
 * unit's sum, an encoder layer's output). Only results count that depend on weights and on inputs: masks, and what
 * follows from weights alone (position biases, rows of a table of angles), are recomputed or copied. If such places
 * are far apart (a U-Net's levels), a stretch with more than a share of all products is cut again where two tensors
 * are alive, then three. A stretch without products joins the one before it, but the head's pooling joins the head.
 * The first layer is the stem, the last the head, those between are blocks. A file whose nodes name their layers, as this program writes
 * them, keeps those.
 */
#include "workloads/onnx/onnx_passes.h"

enum { SHARE = 4, MOST_ALIVE = 4, SHRINKS = 8 };     /* a stretch with more than 1/SHARE of the products is cut again */

struct grouping { struct graph *g; uint32_t *alive; uint64_t *mac; bool *cut, *of_weights, *of_inputs; };   /* by operation; of_*: by tensor */

static bool is_stashed_result(const struct grouping *s, uint32_t tensor)
{
    return s->g->tensors[tensor].role == ROLE_ACTIVATION && s->of_weights[tensor] && s->of_inputs[tensor];
}

void map_dependent(bool *depends, const struct graph *g, enum tensor_role role)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        depends[i] = g->tensors[i].role == role;
    for (size_t i = 0; i < g->n_ops; i++) {
        bool any = false;
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            any |= depends[g->ops[i].inputs[k]];
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            depends[g->ops[i].outputs[k]] = any;
    }
}

/* Counts, after each operation, the results made so far that later operations read. */
static void count_alive(struct grouping *s, struct arena *scratch)
{
    const struct graph *g = s->g;
    size_t *last = ARENA_ARRAY(scratch, size_t, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++) {
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            last[g->ops[i].inputs[k]] = i;
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            last[g->ops[i].outputs[k]] = i;         /* the last reader, until one is found */
    }
    int64_t *change = ARENA_ARRAY(scratch, int64_t, g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            if (is_stashed_result(s, g->ops[i].outputs[k])) {
                change[i]++;
                change[last[g->ops[i].outputs[k]]]--;
            }
    int64_t alive = 0;
    for (size_t i = 0; i < g->n_ops; i++) {
        alive += change[i];
        s->alive[i] = (uint32_t)alive;
        s->mac[i] = op_mac(g, &g->ops[i]);
        s->mac[i] += g->ops[i].kind == OP_GATHER;       /* an embedding makes a layer too */
    }
    bool products = false;
    for (size_t i = 0; i < g->n_ops; i++)
        products |= s->mac[i] > 0;
    for (size_t i = 0; i < g->n_ops && !products; i++)
        s->mac[i] = 1;                  /* without products any operation may make a layer */
}

static uint64_t work(const struct grouping *s, size_t from, size_t to)
{
    uint64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += s->mac[i];
    return sum;
}

static size_t stretch_end(const struct grouping *s, size_t from)
{
    while (!s->cut[from])
        from++;
    return from + 1;
}

static void make_cuts(struct grouping *s)
{
    size_t n = s->g->n_ops;
    uint64_t all = work(s, 0, n);
    for (size_t i = 0; i < n; i++)
        s->cut[i] = s->alive[i] == 1;
    s->cut[n - 1] = true;               /* nothing is alive after the last operation */
    for (uint32_t most = 2; most <= MOST_ALIVE; most++)
        for (size_t from = 0, to; from < n; from = to) {
            to = stretch_end(s, from);
            for (size_t i = from; i + 1 < to && work(s, from, to) > all / SHARE; i++)
                s->cut[i] |= s->alive[i] == most;
        }
}

static bool shrinks(const struct grouping *s, size_t from, size_t to)
{
    const struct op *first = &s->g->ops[from], *last = &s->g->ops[to - 1];
    uint64_t in = tensor_elements(&s->g->tensors[first->inputs[0]]), out = tensor_elements(&s->g->tensors[last->outputs[0]]);
    return out * SHRINKS < in;
}

/* A stretch without products joins the one before it. After a stretch that shrinks its input much, such stretches join the next one. */
static void join_idle(struct grouping *s)
{
    size_t n = s->g->n_ops;
    bool forward = true;                /* no layer comes before the first */
    for (size_t from = 0, to; from < n; from = to) {
        to = stretch_end(s, from);
        bool idle = work(s, from, to) == 0, last = work(s, to, n) == 0;
        forward = idle && (forward || shrinks(s, from, to));
        if (forward && !last)
            s->cut[to - 1] = false;
        else if (idle) {
            assert(from > 0);           /* some operation has work */
            s->cut[from - 1] = false;
        }
    }
}

static void name_layer(struct graph *g, uint32_t i, uint32_t n)
{
    struct layer l = { .name = "stem", .role = LAYER_FIRST, .n_parts = 1 };
    if (i > 0)
        l = (struct layer){ .name = "head", .role = LAYER_LAST, .n_parts = 1 };
    if (i > 0 && i + 1 < n)
        l = (struct layer){ .name = arena_printf(g->arena, "block%u", i), .role = LAYER_BODY, .block_id = i - 1, .n_parts = 1 };
    if (i == 0)
        g->layers[0] = l;
    else
        graph_layer(g, l);
}

/* A result belongs to the layer that makes it, a weight or input to the one that reads it first. */
static void move_tensors(struct graph *g, struct arena *scratch)
{
    bool *seen = ARENA_ARRAY(scratch, bool, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (g->tensors[op->inputs[k]].producer_op == NO_ID && !seen[op->inputs[k]]) {
                g->tensors[op->inputs[k]].layer_id = op->layer_id;
                seen[op->inputs[k]] = true;
            }
        for (uint32_t k = 0; k < op->n_outputs; k++)
            g->tensors[op->outputs[k]].layer_id = op->layer_id;
    }
}

/* Ends layers where the number of rounds changes, so that all operations of a layer run equally often. */
static void cut_by_rounds(struct grouping *s, const uint32_t *rounds)
{
    for (size_t i = 0; rounds && i + 1 < s->g->n_ops; i++)
        s->cut[i] |= rounds[i] != rounds[i + 1];
}

void onnx_group_layers(struct graph *g, const uint32_t *rounds)
{
    struct arena scratch = { 0 };
    struct grouping s = { g, ARENA_ARRAY(&scratch, uint32_t, g->n_ops), ARENA_ARRAY(&scratch, uint64_t, g->n_ops),
                          ARENA_ARRAY(&scratch, bool, g->n_ops), ARENA_ARRAY(&scratch, bool, g->n_tensors),
                          ARENA_ARRAY(&scratch, bool, g->n_tensors) };
    map_dependent(s.of_weights, g, ROLE_WEIGHT);
    map_dependent(s.of_inputs, g, ROLE_INPUT);
    count_alive(&s, &scratch);
    make_cuts(&s);
    join_idle(&s);
    cut_by_rounds(&s, rounds);
    uint32_t n = 0, layer = 0;
    for (size_t i = 0; i < g->n_ops; i++)
        n += s.cut[i];
    for (uint32_t i = 0; i < n; i++)
        name_layer(g, i, n);
    for (size_t i = 0; i < g->n_ops; i++) {
        g->ops[i].layer_id = layer;
        g->layers[layer].rounds = rounds && rounds[i] > 1 ? rounds[i] : 0;
        layer += s.cut[i];
    }
    move_tensors(g, &scratch);
    arena_free(&scratch);
}

/* ---- layers that the file names -------------------------------------------------------------------------------------- */

bool onnx_open_layer(struct graph *g, const struct onnx_node *n)
{
    int role, at = 0;
    struct layer l = { 0 }, *open = &g->layers[g->n_layers - 1];
    if (!n->layer || sscanf(n->layer, "%d %" SCNu32 " %" SCNu32 " %" SCNu32 " %n", &role, &l.block_id, &l.part_id, &l.n_parts, &at) < 4 || !at || role < LAYER_FIRST ||
        role > LAYER_LAST || l.part_id >= l.n_parts)
        return false;
    l.role = (enum layer_role)role;
    l.name = arena_strdup(g->arena, n->layer + at);
    if (open->n_parts == 0)             /* the part that holds the inputs */
        *open = l;
    else if (open->role != l.role || open->block_id != l.block_id || open->part_id != l.part_id || !text_is(open->name, l.name))
        graph_layer(g, l);
    return true;
}
