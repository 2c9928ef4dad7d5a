/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map.c - which ONNX operator becomes what.
 *
 * One row of `mappings` an operator. Nodes are walked in the file's order; what only computes constants makes no operation.
 */
#include "workloads/onnx/map_internal.h"

static const struct mapping { const char *op; bool (*map)(struct mapper *p); } mappings[] = {
    { "Conv", map_conv }, { "ConvTranspose", map_conv_transpose }, { "Gemm", map_gemm }, { "MatMul", map_matmul },
    { "LSTM", map_recurrence }, { "GRU", map_recurrence }, { "RNN", map_rnn }, { "MaxPool", map_pool }, { "AveragePool", map_pool },
    { "GlobalAveragePool", map_global_pool }, { "GlobalMaxPool", map_global_pool }, { "BatchNormalization", map_batch_norm },
    { "InstanceNormalization", map_group_norm }, { "GroupNormalization", map_group_norm }, { "LayerNormalization", map_layer_norm },
    { "LRN", map_lrn }, { "Softmax", map_softmax }, { "LogSoftmax", map_softmax }, { "Relu", map_relu }, { "PRelu", map_prelu },
    { "Clip", map_clip }, { "Dropout", map_dropout }, { "Cast", map_cast }, { "CastLike", map_cast }, { "Einsum", map_einsum },
    { "CumSum", map_cumsum }, { "Trilu", map_triangle }, { "Not", map_not }, { "Identity", map_alias }, { "Sigmoid", map_function },
    { "Tanh", map_function }, { "Gelu", map_function }, { "Swish", map_function }, { "Erf", map_function }, { "Exp", map_function },
    { "Log", map_function }, { "Sqrt", map_function }, { "Abs", map_function }, { "Neg", map_function }, { "Reciprocal", map_function },
    { "Softplus", map_function }, { "Sin", map_function }, { "Cos", map_function }, { "LeakyRelu", map_function },
    { "Elu", map_function }, { "HardSigmoid", map_function }, { "HardSwish", map_function }, { "Floor", map_function },
    { "Ceil", map_function }, { "Round", map_function }, { "Sign", map_function }, { "IsNaN", map_function }, { "IsInf", map_function },
    { "ArgMax", map_arg_max }, { "ArgMin", map_arg_max }, { "GatherElements", map_gather_elements }, { "Selu", map_composed },
    { "Celu", map_composed }, { "Mish", map_composed }, { "Softsign", map_composed }, { "ThresholdedRelu", map_composed },
    { "Add", map_binary }, { "Sub", map_binary }, { "Mul", map_binary }, { "Div", map_binary }, { "Pow", map_pow }, { "Max", map_binary },
    { "Min", map_binary }, { "Equal", map_binary }, { "Greater", map_binary }, { "Less", map_binary }, { "GreaterOrEqual", map_binary },
    { "LessOrEqual", map_binary }, { "And", map_binary }, { "Or", map_binary }, { "Sum", map_sum }, { "Mean", map_sum },
    { "Where", map_where }, { "ReduceMean", map_reduce }, { "ReduceSum", map_reduce }, { "ReduceMax", map_reduce },
    { "ReduceL2", map_reduce }, { "ReduceMin", map_reduce }, { "ReduceL1", map_reduce }, { "ReduceLogSum", map_reduce },
    { "ReduceLogSumExp", map_reduce }, { "ReduceProd", map_reduce }, { "ReduceSumSquare", map_reduce }, { "Reshape", map_reshape },
    { "Flatten", map_reshape },
    { "Squeeze", map_reshape }, { "Unsqueeze", map_reshape }, { "Transpose", map_transpose }, { "Concat", map_concat },
    { "Split", map_split }, { "Slice", map_slice }, { "Gather", map_gather }, { "Pad", map_pad }, { "Expand", map_expand },
    { "Tile", map_tile }, { "Resize", map_resize }, { "Upsample", map_resize }, { "DepthToSpace", map_blocks },
    { "SpaceToDepth", map_blocks }, { "GatherND", map_gather_nd }, { "OneHot", map_one_hot }, { "Hardmax", map_hardmax }, { "Xor", map_xor },
    { "Mod", map_mod }, { "Scatter", map_scatter }, { "ScatterElements", map_scatter }, { "ScatterND", map_scatter_nd }, { "TopK", map_top_k },
    { "GridSample", map_grid_sample }, { "RoiAlign", map_roi_align },
    { "SoftmaxCrossEntropyLoss", map_loss }, { "NegativeLogLikelihoodLoss", map_loss },
    { "QuantizeLinear", map_quantize }, { "DequantizeLinear", map_dequantize },
};

static bool (*find_mapping(const char *op))(struct mapper *p)
{
    for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++)
        if (text_is(mappings[i].op, op))
            return mappings[i].map;
    return NULL;
}

static void count(struct mapper *p, const char *op, enum onnx_fate fate, const char *into)
{
    struct onnx_import *im = p->import;
    for (size_t i = 0; i < im->n_counts; i++)
        if (im->counts[i].fate == fate && text_is(im->counts[i].op, op) && text_is(im->counts[i].into, into)) {
            im->counts[i].n++;
            return;
        }
    im->counts = arena_grow(p->m->arena, im->counts, im->n_counts, &im->cap_counts, sizeof *im->counts);
    im->counts[im->n_counts++] = (struct onnx_count){ op, into, fate, 1 };
}

/* One pass over the result: what an operation without a rule costs at least. */
static bool approximate(struct mapper *p)
{
    for (uint32_t i = 0; i < p->n->n_outputs; i++) {
        const struct onnx_value *y = map_out(p, i);
        uint64_t dims[ONNX_MAX_DIMS];
        if (!y)
            continue;
        uint32_t x = in_id(p, 0) == NO_ID ? NO_ID : any_plain(p, in_id(p, 0)), n = map_plain_dims(dims, y);
        if (x == NO_ID)
            return false;
        if (tensor_elements(&p->g->tensors[x]) != onnx_elements(y) || p->g->tensors[x].type != map_type(p, y->type)) {
            if (n > MAX_DIMS)
                return MAP_REFUSE(p, "cannot be priced: its result has %u dimensions, at most %d", n, MAX_DIMS);
            x = graph_tensor(p->g, y->name, ROLE_STATE, map_type(p, y->type), n, dims);
        }
        if (!map_done(p, i, emit1(p, OP_SCALE, x, AT(.rate = 1)), false))
            return false;
        p->g->n_rough_ops++;
    }
    return true;
}

static bool is_wanted(const struct mapper *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->n->n_outputs; i++)
        any |= p->n->outputs[i] != NO_ID && p->wanted[p->n->outputs[i]];
    return any;
}

/* Only joins and resizes may have inputs without elements, which they pass over. */
static bool has_empty(const struct mapper *p)
{
    bool may = text_is(p->n->op, "Concat") || text_is(p->n->op, "Resize") || text_is(p->n->op, "Upsample"), empty = false;
    for (uint32_t i = 0; i < p->n->n_inputs && !may; i++)
        empty |= map_in(p, i) && onnx_elements(map_in(p, i)) == 0;
    for (uint32_t i = 0; i < p->n->n_outputs; i++)
        empty |= map_out(p, i) && map_out(p, i)->shaped && onnx_elements(map_out(p, i)) == 0;
    return empty;
}

bool map_node(struct mapper *p)
{
    const char *op = p->n->written;
    const struct onnx_value *y = map_out(p, 0);
    bool (*map)(struct mapper *p) = find_mapping(p->n->op);
    p->into = NULL;
    if (p->n->gone) {
        if (*op && !p->n->fused_as)
            count(p, op, ONNX_UNUSED, "nothing reads it");
        else if (*op)                       /* else a place that was never taken */
            count(p, op, p->n->rough ? ONNX_APPROXIMATED : ONNX_FUSED, p->n->fused_as);
        p->g->n_rough_ops += p->n->rough;
        return true;
    }
    if (!is_wanted(p) || (y && y->constant)) {
        count(p, op, y && y->constant ? ONNX_FOLDED : ONNX_UNUSED, y && y->constant ? "constants" : "nothing reads it");
        return true;
    }
    if (has_empty(p))
        return MAP_REFUSE(p, "works on a tensor without elements");
    if (!map && !p->o->approximate)
        return MAP_REFUSE(p, "is not modelled where data go through it; change the model, or price it roughly with --approximate");
    if (map ? map(p) : approximate(p)) {
        bool rough = !map || p->n->rough;
        p->g->n_rough_ops += map && rough;
        count(p, op, rough ? ONNX_APPROXIMATED : p->n->fused_as ? ONNX_FUSED : ONNX_MAPPED, p->n->fused_as ? p->n->fused_as : p->into);
        return true;
    }
    if (!p->o->approximate || !map || !approximate(p))
        return p->err && *p->err->msg ? false : MAP_REFUSE(p, "lacks an input that it needs");
    if (p->err)
        *p->err = (struct err){ "" };       /* what was refused has a price */
    count(p, op, ONNX_APPROXIMATED, "one pass over its result");
    return true;
}

/* From the outputs back: what no output needs makes no operation. In training that is the first output alone. A condition that was given is
 * computed all the same. */
bool *map_wanted(const struct mapper *p)
{
    const struct onnx_model *m = p->m;
    bool *wanted = ARENA_ARRAY(m->arena, bool, m->n_values);
    for (size_t i = 0; i < m->n_outputs && (i == 0 || p->o->inference); i++)
        wanted[m->outputs[i]] = true;
    for (size_t i = 0; i < m->n_values; i++)
        wanted[i] |= m->values[i].given;
    for (size_t i = m->n_nodes; i-- > 0; ) {
        const struct onnx_node *n = &m->nodes[i];
        bool any = false;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            any |= n->outputs[k] != NO_ID && wanted[n->outputs[k]];
        for (uint32_t k = 0; k < n->n_inputs && any && !n->gone; k++)
            if (n->inputs[k] != NO_ID)
                wanted[n->inputs[k]] = true;
    }
    return wanted;
}
