/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph_precision.c - keeps kinds of operations in fp32 inside a model of a narrower type.
 *
 * Programs keep some operations in fp32, such as PopRT's fp16_skip_op_types. The forward graph is appended again: such an operation reads
 * casts of its operands, one cast for all readers, and its result is cast back for readers of the other kinds, or when nothing reads it. Tensors
 * keep their ids, and their types except where fp32 operations alone read them: a weight is then held in fp32, and a result goes from one such
 * operation to the next as it is. Whole numbers and truth values stay what they are.
 */
#include "system-model/graph/op_kinds.h"
#include <assert.h>
#include <string.h>

_Static_assert(N_OP_KINDS <= 64, "a set of kinds is 64 bits");

/* True for kinds that state the type of their result. */
static bool has_own_type(int kind) { return kind == OP_CAST || kind == OP_INPUT_PREPARE; }

static bool unknown_kind(const char *name, struct err *err)
{
    struct arena scratch = { 0 };
    const char *names[N_OP_KINDS];
    size_t n = 0;
    for (int kind = 0; kind < N_OP_KINDS; kind++)
        if (!has_own_type(kind))
            names[n++] = op_kind_names[kind];
    fail(err, "'%.40s' is not a kind of operation; %sknown: %s", name, names_suggestion(names, n, name, &scratch), names_list(names, n, &scratch));
    arena_free(&scratch);
    return false;
}

bool op_kinds_read(uint64_t *kinds, const char *names, struct err *err)
{
    struct arena scratch = { 0 };
    bool good = true;
    *kinds = 0;
    for (const char *name; good && (name = text_item(&names, ',', &scratch)); ) {
        int kind = 0;
        while (kind < N_OP_KINDS && (has_own_type(kind) || !text_is(op_kind_names[kind], name)))
            kind++;
        good = kind < N_OP_KINDS || unknown_kind(name, err);
        *kinds |= good ? op_kind_bit((enum op_kind)kind) : 0;
    }
    arena_free(&scratch);
    return good;
}

uint64_t graph_kinds(const struct graph *g)
{
    uint64_t kinds = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        kinds |= op_kind_bit(g->ops[i].kind);
    return kinds;
}

enum reader { READ_IN_FP32 = 1, READ_AS_IT_IS = 2 };

struct widening {
    struct graph *g;
    const uint8_t *readers;             /* by tensor: a set of enum reader */
    uint32_t *wide;                     /* by tensor: its copy in fp32, or NO_ID */
};

static bool is_narrow(const struct tensor *t) { return t->type == TYPE_FP16 || t->type == TYPE_FP8; }

static void append_forward(struct graph *g, struct op op)
{
    for (uint32_t i = 0; i < op.n_outputs; i++)
        g->tensors[op.outputs[i]].producer_op = (uint32_t)g->n_ops;
    graph_append(g, op);
    g->n_forward_ops = g->n_ops;
}

static void append_cast(struct graph *g, uint32_t to, uint32_t from, uint32_t layer_id)
{
    const struct op_attributes at = { .to_type = g->tensors[to].type };
    append_forward(g, (struct op){ .kind = OP_CAST, .pass = PASS_FORWARD, .layer_id = layer_id, .forward_op = NO_ID, .n_inputs = 1, .inputs = &from,
                                   .n_outputs = 1, .outputs = &to, .at = graph_keep_attributes(g, &at) });
}

/* Gives a tensor in fp32. The tensor itself becomes fp32 if `in_place` allows it and only fp32 operations read it; otherwise it gets a copy, which
 * no operation makes yet. */
static uint32_t widen(struct widening *w, uint32_t id, bool in_place, uint32_t layer_id)
{
    struct tensor t = w->g->tensors[id];
    if (in_place && w->readers[id] == READ_IN_FP32) {
        w->g->tensors[id].type = TYPE_FP32;
        return w->wide[id] = id;
    }
    uint32_t copy = w->wide[id] = graph_tensor(w->g, t.name, ROLE_ACTIVATION, TYPE_FP32, t.n_dims, t.dims);
    w->g->tensors[copy].layer_id = layer_id;
    return copy;
}

static uint32_t wide_operand(struct widening *w, uint32_t id, uint32_t layer_id)
{
    const struct tensor t = w->g->tensors[id];
    if (!is_narrow(&t))
        return id;
    if (w->wide[id] == NO_ID && widen(w, id, t.role == ROLE_WEIGHT || t.role == ROLE_STATE, layer_id) != id)
        append_cast(w->g, w->wide[id], id, layer_id);
    return w->wide[id];
}

static void append_wide(struct widening *w, struct op op)
{
    uint32_t inputs[MAX_OP_INPUTS], outputs[MAX_OP_OUTPUTS];
    for (uint32_t i = 0; i < op.n_inputs; i++)
        inputs[i] = wide_operand(w, op.inputs[i], op.layer_id);
    for (uint32_t i = 0; i < op.n_outputs; i++)
        outputs[i] = is_narrow(&w->g->tensors[op.outputs[i]]) ? widen(w, op.outputs[i], true, op.layer_id) : op.outputs[i];
    const uint32_t *results = op.outputs;
    op.inputs = inputs;
    op.outputs = outputs;
    append_forward(w->g, op);
    for (uint32_t i = 0; i < op.n_outputs; i++)
        if (outputs[i] != results[i])
            append_cast(w->g, results[i], outputs[i], op.layer_id);
}

void graph_keep_fp32(struct graph *g, uint64_t kinds)
{
    assert(g->n_ops == g->n_forward_ops);
    if (!(graph_kinds(g) & kinds))
        return;
    struct arena scratch = { 0 };
    const struct op *ops = g->ops;
    const size_t n_ops = g->n_ops;
    uint8_t *readers = ARENA_ARRAY(&scratch, uint8_t, g->n_tensors);
    struct widening w = { g, readers, ARENA_ARRAY(&scratch, uint32_t, g->n_tensors) };
    memset(w.wide, 0xff, g->n_tensors * sizeof *w.wide);       /* NO_ID */
    for (size_t i = 0; i < n_ops; i++)
        for (uint32_t k = 0; k < ops[i].n_inputs; k++)
            readers[ops[i].inputs[k]] |= kinds & op_kind_bit(ops[i].kind) ? READ_IN_FP32 : READ_AS_IT_IS;
    for (size_t i = 0; i < g->n_tensors; i++)
        g->tensors[i].first_reader = NO_ID, g->tensors[i].last_reader = 0;
    g->ops = NULL;
    g->n_ops = g->cap_ops = g->n_forward_ops = 0;
    for (size_t i = 0; i < n_ops; i++)
        if (kinds & op_kind_bit(ops[i].kind))
            append_wide(&w, ops[i]);
        else
            append_forward(g, ops[i]);
    arena_free(&scratch);
}
