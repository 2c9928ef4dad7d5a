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
    for (int fate = 0; fate != N_ONNX_FATES; fate++)
        for (size_t i = 0; i < im->n_counts; i++)
            if (im->counts[i].fate == (enum onnx_fate)fate)
                fprintf(f, "  %-12s %5u x %-24s %s\n", onnx_fate_names[fate], im->counts[i].n, im->counts[i].op,
                        im->counts[i].into ? im->counts[i].into : "");
    for (size_t i = 0; i < im->model->n_values; i++)
        if (im->model->values[i].given)
            fprintf(f, "  given: %s = %g\n", im->model->values[i].name, im->model->values[i].known[0]);
    if (im->loss)
        fprintf(f, "  loss: cross-entropy of %s\n", im->loss);
}
