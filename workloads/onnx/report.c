/*
 * report.c - what became of a file's operators, and the contents of its tensors for who executes them.
 */
#include "workloads/onnx/model.h"

const char *const onnx_fate_names[N_ONNX_FATES] = {
    [ONNX_MAPPED] = "mapped", [ONNX_FUSED] = "fused", [ONNX_FOLDED] = "folded", [ONNX_UNUSED] = "unused",
    [ONNX_APPROXIMATED] = "approximated",
};

void onnx_print(FILE *f, const struct onnx_import *im)
{
    fprintf(f, "made by %s, opset %jd: %zu nodes\n", im->producer, (intmax_t)im->opset, im->n_nodes);
    for (int fate = 0; fate < N_ONNX_FATES; fate++)
        for (size_t i = 0; i < im->n_counts; i++)
            if (im->counts[i].fate == (enum onnx_fate)fate)
                fprintf(f, "  %-12s %5u x %-24s %s\n", onnx_fate_names[fate], im->counts[i].n, im->counts[i].op,
                        im->counts[i].into ? im->counts[i].into : "");
    if (im->loss)
        fprintf(f, "  loss: cross-entropy of %s\n", im->loss);
}

uint64_t onnx_value_elements(const struct onnx_model *m, uint32_t value_id)
{
    return onnx_elements(&m->values[value_id]);
}

uint64_t onnx_value_dim(const struct onnx_model *m, uint32_t value_id, uint32_t i)
{
    return m->values[value_id].dims[i];
}

static double *transposed_contents(const struct onnx_model *m, const struct onnx_node *n, const double *from, struct arena *a)
{
    struct onnx_list order;
    const struct onnx_value *x = onnx_in(m, n, 0), *y = onnx_out(m, n, 0);
    double *out = ARENA_ARRAY(a, double, onnx_elements(y));
    onnx_list(&order, m, n, "perm", NO_ID);
    for (uint64_t i = 0; from && i < onnx_elements(y); i++) {
        uint64_t rest = i, at = 0;
        for (uint32_t d = y->n_dims; d-- > 0; rest /= y->dims[d]) {
            uint64_t stride = 1;
            for (uint32_t k = (order.n ? (uint32_t)order.at[d] : y->n_dims - 1 - d) + 1; k < x->n_dims; k++)
                stride *= x->dims[k];
            at += rest % y->dims[d] * stride;
        }
        out[i] = from[at];
    }
    return from ? out : NULL;
}

static bool is_view(const char *op)
{
    static const char *const views[] = { "Identity", "Cast", "CastLike", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose" };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (text_is(views[i], op))
            return true;
    return false;
}

double *onnx_contents(const struct onnx_model *m, uint32_t value_id, struct arena *a)
{
    const struct onnx_value *v = &m->values[value_id];
    const struct onnx_node *n = v->producer == NO_ID ? NULL : &m->nodes[v->producer];
    uint64_t elements = onnx_elements(v);
    if (v->known)
        return v->known;
    if (v->data)
        return onnx_tensor_contents(v->data, UINT64_MAX, a);
    if (n && text_is(n->op, "ConstantOfShape")) {
        const Onnx__AttributeProto *value = onnx_attribute(n, "value");
        double *x = value && value->t ? onnx_tensor_contents(value->t, 1, a) : NULL, *out = ARENA_ARRAY(a, double, elements);
        for (uint64_t i = 0; i < elements; i++)
            out[i] = x ? x[0] : 0;
        return out;
    }
    bool seen = n && is_view(n->op) && n->n_inputs && n->inputs[0] != NO_ID && onnx_elements(&m->values[n->inputs[0]]) == elements;
    double *from = seen ? onnx_contents(m, n->inputs[0], a) : NULL;
    return from && text_is(n->op, "Transpose") ? transposed_contents(m, n, from, a) : from;
}
