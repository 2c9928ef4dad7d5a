/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph_backward.c - the backward half of a training graph, by the chain rule.
 *
 * The forward operations are walked in reverse. Each one whose output has a gradient, and each loss, gets a pass for those
 * of its inputs that are activations and a pass for its weights. Inputs of the graph get none. A tensor with several
 * consumers collects several gradients, which are added as they arrive, in the layer of the later arrival, so that one sum
 * crosses a stage boundary. A weight with several uses keeps several gradients, since all are accumulated anyway. An
 * addition hands its gradient on as it is, without an operation.
 */
#include "system-model/graph/op_kinds.h"
#include <assert.h>
#include <string.h>

struct backward {
    struct graph *g;
    bool *wanted;                       /* by tensor: whether its gradient is needed */
    uint32_t *gradient;                 /* by tensor: its gradient so far, or NO_ID */
    const struct op_attributes *none;
};

static bool is_loss_kind(const struct op *op) { return op->kind == OP_CROSS_ENTROPY || op->kind == OP_TRANSDUCER_LOSS; }

static bool is_weight(const struct graph *g, uint32_t tensor_id) { return g->tensors[tensor_id].role == ROLE_WEIGHT; }

/* Whole numbers and truth values have no gradients. */
static bool is_smooth(const struct tensor *t) { return t->type != TYPE_INT32 && t->type != TYPE_UINT8; }

/* Marks the tensors whose gradient is needed: weights, and results that depend on one. */
static void mark_wanted(struct backward *b)
{
    const struct graph *g = b->g;
    for (size_t i = 0; i < g->n_tensors; i++)
        b->wanted[i] = g->tensors[i].role == ROLE_WEIGHT;
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        bool wanted = false;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            wanted |= b->wanted[op->inputs[k]];
        for (uint32_t k = 0; k < op->n_outputs; k++)
            b->wanted[op->outputs[k]] = wanted && op_has_gradient(op) && is_smooth(&g->tensors[op->outputs[k]]);
    }
}

static uint32_t gradient_tensor(struct graph *g, uint32_t of_tensor, uint32_t layer_id)
{
    struct tensor like = g->tensors[of_tensor];
    enum tensor_role role = like.role == ROLE_WEIGHT ? ROLE_WEIGHT_GRADIENT : ROLE_GRADIENT;
    uint32_t id = graph_tensor(g, like.name, role, like.type, like.n_dims, like.dims);
    g->tensors[id].of_tensor = of_tensor;
    g->tensors[id].layer_id = layer_id;
    g->tensors[id].producer_op = (uint32_t)g->n_ops;
    return id;
}

/* Appends an operation that makes a gradient of the tensor from n others, and returns it. */
static uint32_t append_gradient(struct backward *b, enum op_kind kind, uint32_t forward_op, uint32_t of_tensor, uint32_t layer_id,
                                const uint32_t *inputs, uint32_t n)
{
    uint32_t id = gradient_tensor(b->g, of_tensor, layer_id);
    graph_append(b->g, (struct op){ .kind = kind, .pass = PASS_BACKWARD_DATA, .layer_id = layer_id, .forward_op = forward_op, .at = b->none,
                                    .n_inputs = n, .inputs = inputs, .n_outputs = 1, .outputs = &id });
    return id;
}

/* Adds one more gradient of a tensor: the first is stored, later ones are summed with it. */
static void collect_gradient(struct backward *b, uint32_t tensor_id, uint32_t gradient_id, uint32_t layer_id)
{
    const uint32_t both[] = { b->gradient[tensor_id], gradient_id };
    b->gradient[tensor_id] = both[0] == NO_ID ? gradient_id : append_gradient(b, OP_ADD, NO_ID, tensor_id, layer_id, both, 2);
}

static uint32_t keep_inputs(uint32_t *inputs, uint32_t n, const struct graph *g, const struct op *f, uint8_t keeps)
{
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        bool read = (i == 0 && (keeps & KEEP_INPUT)) || (i == 1 && (keeps & KEEP_SECOND)) || (i == 2 && (keeps & KEEP_THIRD)) ||
                    ((keeps & KEEP_WEIGHTS) && is_weight(g, f->inputs[i]));
        if (read)
            inputs[n++] = f->inputs[i];
    }
    if (keeps & KEEP_OUTPUT)
        inputs[n++] = f->outputs[0];
    return n;
}

static bool in_pass(const struct backward *b, const struct op *f, uint32_t i, enum op_pass pass)
{
    if (!b->wanted[f->inputs[i]] || (i > 0 && op_rules[f->kind].gradient.first_alone))
        return false;
    bool second = f->kind == OP_MATMUL ? i == 1 : is_weight(b->g, f->inputs[i]);
    return second == (pass == PASS_BACKWARD_WEIGHT);
}

/* The gradient of the gates, [batch, time, 4 hidden], which flows back through the steps even if the input needs no gradient. For a GRU the four
 * are update, reset, and the candidate's addends from the input and from the state. */
static uint32_t gate_gradient(struct graph *g, const struct op *f)
{
    const struct tensor *y = &g->tensors[f->outputs[0]];
    const uint64_t dims[] = { y->dims[0], y->dims[1], 4 * y->dims[2] };
    uint32_t id = graph_tensor(g, "gates", ROLE_GRADIENT, y->type, 3, dims);
    g->tensors[id].layer_id = f->layer_id;
    g->tensors[id].producer_op = (uint32_t)g->n_ops;
    return id;
}

/* Appends one backward pass of an operation if any of its inputs needs it. */
static void add_backward_pass(struct backward *b, uint32_t forward_id, enum op_pass pass, uint32_t *gradients)
{
    struct graph *g = b->g;
    const struct op f = g->ops[forward_id];
    const struct gradient_rule *rule = &op_rules[f.kind].gradient;
    uint32_t of_tensor[MAX_OP_OUTPUTS], inputs[2 * MAX_OP_INPUTS], outputs[MAX_OP_OUTPUTS], n_inputs = 0, n_collected = 0;
    for (uint32_t i = 0; i < f.n_inputs; i++)
        if (in_pass(b, &f, i, pass)) {
            assert(n_collected < MAX_OP_OUTPUTS);
            of_tensor[n_collected++] = f.inputs[i];
        }
    bool gates = rule->through_time && pass == PASS_BACKWARD_DATA;
    if (n_collected == 0 && !gates)
        return;
    for (uint32_t i = 0; i < f.n_outputs && !is_loss_kind(&f); i++)
        inputs[n_inputs++] = gradients[i];
    n_inputs = keep_inputs(inputs, n_inputs, g, &f, pass == PASS_BACKWARD_DATA ? rule->data_keeps : rule->weight_keeps);
    for (uint32_t i = 0; i < n_collected; i++)
        outputs[i] = gradient_tensor(g, of_tensor[i], f.layer_id);
    if (gates)
        gradients[0] = outputs[n_collected] = gate_gradient(g, &f);
    graph_append(g, (struct op){ .kind = f.kind, .pass = pass, .layer_id = f.layer_id, .forward_op = forward_id, .at = f.at,
                                 .n_inputs = n_inputs, .inputs = inputs, .n_outputs = n_collected + gates, .outputs = outputs });
    for (uint32_t i = 0; i < n_collected; i++)
        if (!is_weight(g, of_tensor[i]))
            collect_gradient(b, of_tensor[i], outputs[i], f.layer_id);
}

/* An addition passes its gradient on to every operand. An operand that was repeated to the result's shape gets the sum over its repetitions. */
static void pass_through(struct backward *b, uint32_t forward_id, uint32_t gradient_id)
{
    struct graph *g = b->g;
    const struct op f = g->ops[forward_id];
    for (uint32_t i = 0; i < f.n_inputs; i++) {
        uint32_t id = f.inputs[i];
        if (!b->wanted[id] || is_weight(g, id))
            continue;
        bool same = tensor_is_same_shape(&g->tensors[id], &g->tensors[f.outputs[0]]);
        collect_gradient(b, id, same ? gradient_id : append_gradient(b, f.kind, forward_id, id, f.layer_id, &gradient_id, 1), f.layer_id);
    }
}

/* A gradient of zeros for a piece of a slice that the loss does not depend on. It is made of another piece's gradient, which has the same shape. */
static uint32_t no_gradient(struct backward *b, const struct op *f, uint32_t piece_id, uint32_t gradient_id)
{
    assert(tensor_is_same_shape(&b->g->tensors[piece_id], &b->g->tensors[gradient_id]));
    return append_gradient(b, OP_SCALE, NO_ID, piece_id, f->layer_id, &gradient_id, 1);
}

/* Finds the gradient of each output; false if the loss depends on none. */
static bool gradients_of(uint32_t gradients[MAX_OP_OUTPUTS], struct backward *b, const struct op *f)
{
    uint32_t known = NO_ID;
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        gradients[i] = b->gradient[f->outputs[i]];
        known = gradients[i] == NO_ID ? known : gradients[i];
    }
    if (!b->wanted[f->outputs[0]] || (known == NO_ID && !is_loss_kind(f)))
        return false;
    for (uint32_t i = 0; i < f->n_outputs && known != NO_ID; i++)
        if (gradients[i] == NO_ID)
            gradients[i] = no_gradient(b, f, f->outputs[i], known);
    return true;
}

static void differentiate(struct backward *b, uint32_t forward_id)
{
    const struct op f = b->g->ops[forward_id];
    uint32_t gradients[MAX_OP_OUTPUTS] = { 0 };
    if (!gradients_of(gradients, b, &f))
        return;
    if (op_rules[f.kind].gradient.pass_through)
        pass_through(b, forward_id, gradients[0]);
    else
        add_backward_pass(b, forward_id, PASS_BACKWARD_DATA, gradients);
    add_backward_pass(b, forward_id, PASS_BACKWARD_WEIGHT, gradients);
}

void graph_add_backward(struct graph *g)
{
    assert(g->n_ops == g->n_forward_ops);
    size_t n = g->n_tensors;            /* only forward tensors are differentiated */
    struct backward b = { .g = g, .wanted = ARENA_ARRAY(g->arena, bool, n),
                          .gradient = ARENA_ARRAY(g->arena, uint32_t, n), .none = ARENA_NEW(g->arena, struct op_attributes) };
    for (size_t i = 0; i < n; i++)
        b.gradient[i] = NO_ID;
    mark_wanted(&b);
    for (size_t i = g->n_forward_ops; i-- > 0; )
        differentiate(&b, (uint32_t)i);
}
