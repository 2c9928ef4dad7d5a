/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_table.c - the largest table of a model, such as its words', cut by rows into parts that stages of a pipeline hold.
 *
 * A stage looks up the rows that it has, zeros for others, and adds what the stage before found. Heads with a product by the table, or by weights with as many
 * columns, have parts of the product on the last stages; their results are brought together for what follows. Layers of such parts say so
 * (struct layer, n_parts), and placement.c puts each on a stage of its own.
 */
#include "system-model/graph/op_kinds.h"

struct table_splitter {
    const struct graph *g;
    struct graph *out;
    uint32_t n_parts, table;            /* table: the id of the table in the whole graph */
    uint32_t *to;                       /* by tensor of the whole graph: its copy; NO_ID: not made yet */
    uint32_t *whole_ids; uint32_t n_ids; size_t cap_ids;
};

static uint32_t largest_table(const struct graph *g)
{
    uint32_t best = NO_ID;
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        const struct tensor *t = &g->tensors[op->inputs[0]];
        bool is_table = op->kind == OP_GATHER && t->role == ROLE_WEIGHT && t->n_dims == 2 && g->layers[op->layer_id].role == LAYER_FIRST;
        if (is_table && (best == NO_ID || tensor_elements(t) > tensor_elements(&g->tensors[best])))
            best = op->inputs[0];
    }
    return best;
}

static void name_whole(struct table_splitter *s, uint32_t id, uint32_t whole)
{
    while (s->n_ids <= id)
        ARENA_APPEND(s->out->arena, s->whole_ids, s->n_ids, s->cap_ids, NO_ID);
    s->whole_ids[id] = whole;
}

/* A tensor that no operation makes belongs to the layer that first reads it. */
static uint32_t table_operand(struct table_splitter *s, uint32_t id)
{
    const struct tensor *t = &s->g->tensors[id];
    if (s->to[id] == NO_ID) {
        s->to[id] = graph_tensor(s->out, t->name, t->role, t->type, t->n_dims, t->dims);
        s->out->tensors[s->to[id]].n_joined = t->n_joined;
        s->out->tensors[s->to[id]].sharded = t->sharded;
        s->out->tensors[s->to[id]].place = t->place;
        name_whole(s, s->to[id], id);
    }
    return s->to[id];
}

/* Part k of a matrix, by rows (dim 0) or columns (dim 1); each matrix has its parts made once. */
static uint32_t matrix_part(struct table_splitter *s, uint32_t id, uint32_t dim, uint32_t k, uint32_t *made)
{
    const struct tensor *t = &s->g->tensors[id];
    uint64_t size = ceil_div(t->dims[dim], s->n_parts), first = size * k, dims[2] = { t->dims[0], t->dims[1] };
    if (made[k] != NO_ID)
        return made[k];
    dims[dim] = min_u64(size, t->dims[dim] - first);
    made[k] = graph_tensor(s->out, t->name, t->role, t->type, 2, dims);
    s->out->tensors[made[k]].cuts[0] = (struct tensor_part){ .dim = dim + 1, .parts = 1, .pieces = 1, .stride = 1, .whole_size = t->dims[dim], .first = first };
    name_whole(s, made[k], id);
    return made[k];
}

/* Opens the layer of part k, with the name and number of the layer of part 0. */
static void open_part(struct table_splitter *s, const struct layer *of, uint32_t k)
{
    struct layer part = *of;
    part.name = arena_printf(s->out->arena, "%s/%u", of->name, k + 1);
    part.part_id = k;
    part.n_parts = s->n_parts;
    graph_layer(s->out, part);
}

static uint32_t add_lookups(struct table_splitter *s, const struct op *op, uint32_t *made)
{
    uint32_t sum = NO_ID, indices = table_operand(s, op->inputs[1]);
    for (uint32_t k = 0; k < s->n_parts; k++) {
        if (k)
            open_part(s, &s->g->layers[op->layer_id], k);
        uint32_t y = graph_op(s->out, OP_GATHER, (uint32_t[]){ matrix_part(s, s->table, 0, k, made), indices }, 2, *op->at);
        sum = k ? graph_op(s->out, OP_ADD, (uint32_t[]){ sum, y }, 2, (struct op_attributes){ 0 }) : y;
    }
    return sum;
}

static uint32_t add_products(struct table_splitter *s, const struct op *op, uint32_t *made)
{
    uint32_t parts[MAX_OP_INPUTS], x = table_operand(s, op->inputs[0]), of_head[MAX_OP_INPUTS];
    bool by_rows = op->at->transpose_b;
    for (uint32_t k = 0; k < s->n_parts; k++)
        of_head[k] = NO_ID;
    for (uint32_t k = 0; k < s->n_parts; k++) {
        if (k)
            open_part(s, &s->g->layers[op->layer_id], k);
        uint32_t w = matrix_part(s, op->inputs[1], by_rows ? 0 : 1, k, op->inputs[1] == s->table ? made : of_head);
        parts[k] = graph_op(s->out, OP_MATMUL, (uint32_t[]){ x, w }, 2, *op->at);
    }
    uint32_t last = s->g->tensors[op->outputs[0]].n_dims - 1;
    return graph_op(s->out, OP_CONCAT, parts, s->n_parts, (struct op_attributes){ .axis = last });
}

/* A product of a head with as many columns as the table has rows. */
static bool is_head_product(const struct table_splitter *s, const struct op *op)
{
    const struct tensor *w = op->kind == OP_MATMUL ? &s->g->tensors[op->inputs[1]] : NULL;
    return w && s->g->layers[op->layer_id].role == LAYER_LAST && w->role == ROLE_WEIGHT && w->n_dims == 2 && w->dims[op->at->transpose_b ? 0 : 1] == s->g->tensors[s->table].dims[0];
}

static void add_split_op(struct table_splitter *s, const struct op *op, uint32_t *made)
{
    uint32_t inputs[MAX_OP_INPUTS], y;
    if (op->kind == OP_GATHER && op->inputs[0] == s->table) {
        y = add_lookups(s, op, made);
    } else if (is_head_product(s, op)) {
        y = add_products(s, op, made);
    } else {
        for (uint32_t k = 0; k < op->n_inputs; k++)
            inputs[k] = table_operand(s, op->inputs[k]);
        y = graph_op(s->out, op->kind, inputs, op->n_inputs, *op->at);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        s->to[op->outputs[k]] = y + k;
        name_whole(s, y + k, op->outputs[k]);
    }
}

/* Layer l, marked as part 0 of n_parts if one of its operations is divided. */
static struct layer layer_with_parts(const struct table_splitter *s, uint32_t l)
{
    struct layer layer = s->g->layers[l];
    for (size_t i = 0; i < s->g->n_ops; i++) {
        const struct op *op = &s->g->ops[i];
        if (op->layer_id == l && ((op->kind == OP_GATHER && op->inputs[0] == s->table) || is_head_product(s, op)))
            layer.n_parts = s->n_parts;
    }
    return layer;
}

bool graph_split_table(struct graph *out, const struct graph *whole, uint32_t n_parts, struct arena *a)
{
    struct arena scratch = {0};
    struct table_splitter s = { .g = whole, .out = out, .n_parts = n_parts, .table = largest_table(whole), .to = ARENA_ARRAY(&scratch, uint32_t, whole->n_tensors) };
    uint32_t made[MAX_OP_INPUTS], id = 0;
    assert(whole->n_ops == whole->n_forward_ops && n_parts > 1 && n_parts <= MAX_OP_INPUTS);
    bool good = s.table != NO_ID && (n_parts - 1) * ceil_div(whole->tensors[s.table].dims[0], n_parts) < whole->tensors[s.table].dims[0];
    for (size_t i = 0; i < whole->n_tensors; i++)
        s.to[i] = NO_ID;
    for (uint32_t k = 0; k < n_parts; k++)
        made[k] = NO_ID;
    graph_start(out, whole->name, whole->micro_batch, a);
    for (uint32_t l = 0; l < whole->n_layers && good; l++) {
        graph_layer(out, layer_with_parts(&s, l));
        for (; id < whole->n_ops && whole->ops[id].layer_id == l; id++)
            add_split_op(&s, &whole->ops[id], made);
    }
    out->n_rough_ops = whole->n_rough_ops;
    out->whole = whole;
    while (s.n_ids < out->n_tensors)
        ARENA_APPEND(a, s.whole_ids, s.n_ids, s.cap_ids, NO_ID);
    out->whole_ids = s.whole_ids;
    arena_free(&scratch);
    return good;
}
