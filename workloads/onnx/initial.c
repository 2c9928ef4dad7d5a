/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * initial.c - the weights of a file that is written: numbers drawn from a seed, in the file's order.
 */
#include "workloads/onnx/write.h"
#include <math.h>

const struct op *onnx_first_reader(uint32_t *input, const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++)
        for (*input = 0; *input < g->ops[i].n_inputs; ++*input)
            if (g->ops[i].inputs[*input] == id)
                return &g->ops[i];
    return NULL;
}

static bool is_scaled(enum op_kind kind) { return kind == OP_BATCH_NORM || kind == OP_GROUP_NORM || kind == OP_LAYER_NORM || kind == OP_RMS_NORM || kind == OP_MUL; }

/* Uniform within a range of the centre: kernels and matrices by their number of inputs (LeCun et al. 1998), tables and vectors narrow. */
void onnx_initial(double *out, const struct graph *g, uint32_t id, uint64_t seed)
{
    const struct tensor *t = &g->tensors[id];
    uint32_t input;
    const struct op *by = onnx_first_reader(&input, g, id);
    uint64_t n = tensor_elements(t), columns = t->dims[t->n_dims - 1], rows = t->n_dims > 1 ? t->dims[t->n_dims - 2] : 1;
    bool state = t->role == ROLE_STATE, factor = by && is_scaled(by->kind) && input == 1;
    bool product = t->n_dims > 1 && by && input > 0 && by->kind != OP_GATHER && !factor;
    double centre = factor, range = product && !state ? sqrt(3 / ((double)n / (double)columns)) : 0.1;
    if (state && state_values(out, t))
        return;
    uint64_t key[2] = { seed, id };
    key[0] = hash_bytes(key, sizeof key, 0);
    for (uint64_t i = 0; i < n; i++) {
        key[1] = i;
        double draw = (double)(hash_bytes(key, sizeof key, 0) >> 11) * 0x1p-53;
        out[i] = state && t->type == TYPE_UINT8 ? columns != rows || i % columns <= i / columns % rows : (double)(float)(centre + (2 * draw - 1) * range);
    }
}

/* Index in the graph's kernel [height, width, in, out] of element i of the file's [out, in, height, width]. */
static uint64_t kernel_index(uint64_t i, const uint64_t *d)
{
    uint64_t x = i % d[1], y = i / d[1] % d[0], in = i / d[1] / d[0] % d[2], out = i / d[1] / d[0] / d[2];
    return ((y * d[1] + x) * d[2] + in) * d[3] + out;
}

/* Index in the graph's [width, 4 x hidden] or [8 x hidden] of element i of the file's [1, 4 x hidden, width] or [1, 8 x hidden], whose
 * gates are input, output, forget, cell where the graph has input, forget, cell, output. */
static uint64_t gate_index(uint64_t i, const struct tensor *t)
{
    static const uint64_t order[] = { 0, 3, 1, 2 };
    bool bias = t->n_dims == 1;
    uint64_t width = bias ? 1 : t->dims[0], all = bias ? t->dims[0] / 2 : t->dims[1], hidden = all / 4;
    uint64_t column = i / width % all, k = order[column / hidden] * hidden + column % hidden;
    return bias ? i / all * all + k : i % width * all + k;
}

uint64_t onnx_write_initial(FILE *f, const struct graph *g, uint32_t id, enum onnx_layout layout, uint64_t seed)
{
    struct arena scratch = { 0 };
    const struct tensor *t = &g->tensors[id];
    uint64_t n = tensor_elements(t);
    double *from = ARENA_ROOM(&scratch, double, n);
    float *numbers = ARENA_ROOM(&scratch, float, n);
    onnx_initial(from, g, id, seed);
    for (uint64_t i = 0; i < n; i++)
        numbers[i] = (float)from[layout == ONNX_KERNEL ? kernel_index(i, t->dims) : layout == ONNX_GATES ? gate_index(i, t) : i];
    fwrite(numbers, sizeof *numbers, n, f);
    arena_free(&scratch);
    return n * sizeof *numbers;
}
