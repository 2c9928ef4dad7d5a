/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - what became of a file's operators, and the sizes of its values for who executes them.
 */
#include "workloads/onnx/model.h"

const char *const onnx_fate_names[N_ONNX_FATES] = {
    [ONNX_MAPPED] = "mapped", [ONNX_FUSED] = "fused", [ONNX_FOLDED] = "folded", [ONNX_UNUSED] = "unused",
    [ONNX_APPROXIMATED] = "approximated",
};

void onnx_print(FILE *f, const struct onnx_import *im)
{
    fprintf(f, "producer %s, opset %jd: %zu nodes\n", im->producer, (intmax_t)im->opset, im->n_nodes);
    for (int fate = 0; fate < N_ONNX_FATES; fate++)
        for (const struct onnx_count *c = im->counts, *end = c + im->n_counts; c < end; c++)
            if (c->fate == (enum onnx_fate)fate)
                fprintf(f, "  %-12s %5u x %-24s %s\n", onnx_fate_names[fate], c->n, c->op, c->into ? c->into : "");
    for (const struct onnx_value *v = im->model->values, *end = v + im->model->n_values; v < end; v++)
        if (v->given)
            fprintf(f, "  given: %s = %g\n", v->name, v->known[0]);
    if (im->loss)
        fprintf(f, "  loss: cross-entropy of %s\n", im->loss);
}
