/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stand_in.c - the replacement of operators that are not modelled by similar ones (option --approximate): which inputs stay, and what becomes of outputs.
 */
#include "workloads/onnx/onnx_passes.h"

/* Scales and zero points that were outputs become constants. */
static void drop_output(struct onnx_model *m, uint32_t value, double x)
{
    if (value == NO_ID)
        return;
    struct onnx_value *v = &m->values[value];
    v->type = ONNX_FLOAT;
    v->shaped = v->constant = true;
    v->n_dims = 0;
    v->producer = NO_ID;
    v->known = ARENA_ARRAY(m->arena, double, 1);
    v->known[0] = x;
}

/* Without a list of them, every third input from the third on: a quantised join has a scale and a zero point after
 * each. */
static uint32_t kept_inputs(const struct onnx_model *m, const struct onnx_node *n, uint32_t **kept)
{
    uint32_t n_kept = 0;
    *kept = ARENA_ARRAY(m->arena, uint32_t, n->n_inputs);
    for (uint32_t i = 2; i < n->n_inputs && n->op->n_kept == 0; i += 3)
        (*kept)[n_kept++] = n->inputs[i];
    for (uint32_t i = 0; i < n->op->n_kept; i++)
        if (n->op->kept[i] < n->n_inputs)
            (*kept)[n_kept++] = n->inputs[n->op->kept[i]];
    return n_kept;
}

/* A quantised LSTM stores its weights as [directions, width, gates]. */
static void swap_gates(struct onnx_model *m, uint32_t value)
{
    struct onnx_value *v = value == NO_ID || m->values[value].n_dims != 3 ? NULL : &m->values[value];
    if (!v)
        return;
    uint64_t gates = v->dims[2];
    v->dims[2] = v->dims[1];
    v->dims[1] = gates;
}

void onnx_stand_in(struct onnx_model *m, struct onnx_node *n)
{
    if (!n->op->rough_as)
        return;
    uint32_t *kept, n_kept = kept_inputs(m, n, &kept);
    n->op = onnx_operator_named(m->operators, n->op->rough_as, m->arena);
    bool lstm = onnx_is(n, ONNX_OP_LSTM);
    for (uint32_t i = 0; i < n_kept; i++)
        if (kept[i] != NO_ID && onnx_is_whole(m->values[kept[i]].type))
            m->values[kept[i]].type = ONNX_FLOAT;
    for (uint32_t i = 1; i < n->n_outputs && !lstm; i++)
        drop_output(m, n->outputs[i], i == 1);
    for (uint32_t i = 1; i < 3 && lstm && n_kept > 2; i++)
        swap_gates(m, kept[i]);
    n->inputs = kept;
    n->n_inputs = n_kept;
    n->n_outputs = lstm || !n->n_outputs ? n->n_outputs : 1;
    n->rough = true;
}
