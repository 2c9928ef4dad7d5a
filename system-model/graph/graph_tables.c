/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph_tables.c - tables whose rows are spread over the replicas of a model, with an all-to-all after each lookup.
 *
 * The scheme is that of BESS (arXiv 2211.12281; graphcore-research/bess-kge at 1fedeac, besskge/bess.py): rows are dealt out at random, the host sorts the
 * indices of a micro-batch by shard and pads them to one length, and each replica looks up in its own rows what others need. A table's gradient is made of
 * what was looked up here, so that nothing reduces it over replicas.
 */
#include "system-model/graph/op_kinds.h"
#include <fnmatch.h>

bool layer_is_named(const char *patterns, const char *layer)
{
    char one[256];
    for (const char *p = patterns; *p; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, p);
        if (fnmatch(one, layer, 0) == 0)
            return true;
        p += n;
    }
    return false;
}

/* A weight of rows that lookups alone read. */
static bool is_looked_up(const struct graph *g, uint32_t id)
{
    const struct tensor *t = &g->tensors[id];
    bool looked_up = false;
    if (t->role != ROLE_WEIGHT || t->n_dims != 2)
        return false;
    for (size_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            if (g->ops[i].inputs[k] == id) {
                if (g->ops[i].kind != OP_GATHER || k != 0)
                    return false;
                looked_up = true;
            }
    return looked_up;
}

/* True if a micro-batch looks up fewer rows than the table has. Smaller tables, mostly of positions, are read whole by all replicas. */
static bool is_large_table(const struct graph *g, uint32_t id)
{
    uint64_t lookups = 0;
    for (const struct op *op = g->ops; op < g->ops + g->n_ops; op++)
        lookups += op->kind == OP_GATHER && op->inputs[0] == id ? tensor_elements(&g->tensors[op->inputs[1]]) : 0;
    return g->tensors[id].dims[0] > lookups;
}

static void append_op(struct graph *g, struct op op)
{
    for (uint32_t i = 0; i < op.n_outputs; i++)
        g->tensors[op.outputs[i]].producer_op = (uint32_t)g->n_ops;
    graph_append(g, op);
    g->n_forward_ops = g->n_ops;
}

/* The lookup makes a new tensor, and the all-to-all turns it into the tensor that others read. */
static void append_lookup(struct graph *g, struct op op)
{
    const struct tensor t = g->tensors[op.outputs[0]];
    const struct op_attributes none = { 0 };
    uint32_t here = graph_tensor(g, t.name, ROLE_ACTIVATION, t.type, t.n_dims, t.dims), there = op.outputs[0];
    g->tensors[here].layer_id = op.layer_id;
    op.outputs = &here;
    append_op(g, op);
    append_op(g, (struct op){ .kind = OP_ALL_TO_ALL, .pass = PASS_FORWARD, .layer_id = op.layer_id, .forward_op = NO_ID, .n_inputs = 1, .inputs = &here,
                              .n_outputs = 1, .outputs = &there, .at = graph_keep_attributes(g, &none) });
}

static size_t mark_tables(struct graph *g, bool *marked, const char *names, uint64_t n)
{
    size_t n_marked = 0;
    bool built = false;                 /* the model's builder has spread the tables that its program spreads */
    for (uint32_t i = 0; i < g->n_tensors; i++)
        built |= g->tensors[i].sharded;
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        struct tensor *t = &g->tensors[i];
        bool found = text_is(names, "auto") && (built ? t->sharded : is_large_table(g, i));
        if (!(found || layer_is_named(names, g->layers[t->layer_id].name)) || !is_looked_up(g, i))
            continue;
        n_marked++;
        marked[i] = !t->sharded;        /* tables that the builder has spread keep their rows */
        t->dims[0] = marked[i] ? ceil_div(t->dims[0], n) : t->dims[0];
        t->sharded = true;
    }
    return n_marked;
}

static bool divides_lookups(const struct graph *g, const bool *marked, uint64_t n, struct err *err)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_GATHER && marked[g->ops[i].inputs[0]] && tensor_elements(&g->tensors[g->ops[i].inputs[1]]) % n != 0)
            return fail(err, "parallel.shard_tables: layer %s looks up %" PRIu64 " rows, which %" PRIu64 " replicas do not divide; change parallel.micro_batch",
                        g->layers[g->ops[i].layer_id].name, tensor_elements(&g->tensors[g->ops[i].inputs[1]]), n);
    return true;
}

bool graph_shard_tables(struct graph *g, const char *names, uint64_t n, struct err *err)
{
    if (!names || n < 2)
        return true;
    struct arena scratch = { 0 };
    bool *marked = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    size_t n_tables = mark_tables(g, marked, names, n);
    bool good = true;
    if (n_tables)
        good = divides_lookups(g, marked, n, err);
    else if (text_is(names, "auto"))
        good = fail(err, "parallel.shard_tables: auto finds no table that lookups alone read and that has more rows than a micro-batch looks up; name its layer");
    else
        good = fail(err, "parallel.shard_tables: no table that lookups alone read is in a layer named '%.80s'; podbench workload prints the layers", names);
    const struct op *ops = g->ops;
    const size_t n_ops = g->n_ops;
    for (size_t i = 0; i < g->n_tensors; i++)
        g->tensors[i].first_reader = NO_ID, g->tensors[i].last_reader = 0;
    g->ops = NULL;
    g->n_ops = g->cap_ops = g->n_forward_ops = 0;
    for (size_t i = 0; i < n_ops; i++)
        if (ops[i].kind == OP_GATHER && marked[ops[i].inputs[0]])
            append_lookup(g, ops[i]);
        else
            append_op(g, ops[i]);
    arena_free(&scratch);
    return good;
}
