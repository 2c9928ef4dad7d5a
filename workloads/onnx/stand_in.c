/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stand_in.c - what stands for an operator that is not modelled, where a rough price will do (--approximate).
 *
 * The chip multiplies floats, so a quantised operator is priced as the float operator that was there before it was quantised: its scales
 * and zero points go, the steps to and from integers become copies. What a runtime has fused becomes its product, without the function that
 * was fused into it. Each is counted as approximated.
 */
#include "workloads/onnx/onnx_internal.h"
#include <string.h>

static const struct stand_in { const char *op, *as; uint32_t kept[4], n; } stand_ins[] = {
    { "DynamicQuantizeLinear", "Identity", { 0 }, 1 },
    { "QLinearConv", "Conv", { 0, 3, 8 }, 3 }, { "ConvInteger", "Conv", { 0, 1 }, 2 }, { "QLinearMatMul", "MatMul", { 0, 3 }, 2 },
    { "MatMulInteger", "MatMul", { 0, 1 }, 2 }, { "QGemm", "Gemm", { 0, 3, 6 }, 3 }, { "QLinearAdd", "Add", { 0, 3 }, 2 },
    { "QLinearMul", "Mul", { 0, 3 }, 2 }, { "QLinearSigmoid", "Sigmoid", { 0 }, 1 }, { "QLinearLeakyRelu", "LeakyRelu", { 0 }, 1 },
    { "QLinearSoftmax", "Softmax", { 0 }, 1 }, { "QLinearAveragePool", "AveragePool", { 0 }, 1 },
    { "QLinearGlobalAveragePool", "GlobalAveragePool", { 0 }, 1 }, { "FusedConv", "Conv", { 0, 1, 2 }, 3 }, { "FusedGemm", "Gemm", { 0, 1, 2 }, 3 },
    { .op = "QLinearConcat", .as = "Concat" }, { "FastGelu", "Gelu", { 0 }, 1 }, { "QuickGelu", "Gelu", { 0 }, 1 },
    { "DynamicQuantizeLSTM", "LSTM", { 0, 1, 2, 3 }, 4 },
};

/* Integers that stand for floats. */
static void count_as_float(struct onnx_model *m, uint32_t value)
{
    if (value != NO_ID && onnx_is_whole(m->values[value].type))
        m->values[value].type = ONNX_FLOAT;
}

/* Scale and zero point are made beside the numbers. */
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

/* Of a join every third input from the third on: each has its scale and zero point behind it. */
static uint32_t kept_inputs(const struct onnx_model *m, const struct onnx_node *n, const struct stand_in *s, uint32_t **kept)
{
    uint32_t n_kept = 0;
    *kept = ARENA_ARRAY(m->arena, uint32_t, n->n_inputs);
    for (uint32_t i = 2; i < n->n_inputs && s->n == 0; i += 3)
        (*kept)[n_kept++] = n->inputs[i];
    for (uint32_t i = 0; i < s->n; i++)
        if (s->kept[i] < n->n_inputs)
            (*kept)[n_kept++] = n->inputs[s->kept[i]];
    return n_kept;
}

/* A quantised LSTM has its weights as [directions, width, gates]. */
static void turn(struct onnx_model *m, uint32_t value)
{
    struct onnx_value *v = value == NO_ID || m->values[value].n_dims != 3 ? NULL : &m->values[value];
    if (!v)
        return;
    uint64_t gates = v->dims[2];
    v->dims[2] = v->dims[1];
    v->dims[1] = gates;
}

static void replace(struct onnx_model *m, struct onnx_node *n, const struct stand_in *s)
{
    uint32_t *kept, n_kept = kept_inputs(m, n, s, &kept);
    bool lstm = text_is(s->as, "LSTM");
    for (uint32_t i = 0; i < n_kept; i++)
        count_as_float(m, kept[i]);
    for (uint32_t i = 1; i < n->n_outputs && !lstm; i++)
        drop_output(m, n->outputs[i], i == 1);
    if (lstm && n_kept > 2) {
        turn(m, kept[1]);
        turn(m, kept[2]);
    }
    n->op = s->as;
    n->inputs = kept;
    n->n_inputs = n_kept;
    n->n_outputs = lstm || !n->n_outputs ? n->n_outputs : 1;
    n->rough = true;
}

void onnx_stand_in(struct onnx_model *m, struct onnx_node *n)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (text_is(stand_ins[i].op, n->op)) {
            replace(m, n, &stand_ins[i]);
            return;
        }
}
