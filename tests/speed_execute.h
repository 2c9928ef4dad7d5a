/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speed_execute.h - products and convolutions of ResNet-50 and BERT-Large, all three passes, as operations of a graph and as bare calls of the library
 * with the same shapes: what share of the library's rate is left. One thread.
 */
#ifndef SPEED_EXECUTE_H
#define SPEED_EXECUTE_H
#include "system-model/execute/execution.h"
#include "workloads/models/builders.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* side 0: a matrix product of so many rows. */
struct shape { uint64_t batch, side, in, out; uint32_t kernel, stride; };
static const struct shape shapes[] = {
    { 4, 56, 64, 64, 3, 1 }, { 4, 56, 64, 256, 1, 1 }, { 4, 28, 128, 128, 3, 1 }, { 4, 14, 1024, 256, 1, 1 }, { 4, 14, 512, 512, 3, 2 },
    { 384, 0, 1024, 1024, 0, 0 }, { 384, 0, 1024, 4096, 0, 0 }, { 384, 0, 4096, 1024, 0, 0 },
};

static double processor_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Seconds of the passes of one operation whose both operands are weights, so that each has a gradient. */
static double operation_s(const struct shape *s, uint64_t *mac)
{
    struct arena a = { 0 };
    struct graph g;
    struct err err = { "" };
    struct model_options options = { .micro_batch = s->batch };
    struct builder b = builder_start(&g, "shape", &options, &a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    uint32_t x = build_op1(&b, OP_RELU, s->side ? build_weight(&b, "x", DIMS(s->batch, s->side, s->side, s->in)) : build_weight(&b, "x", DIMS(s->batch, s->in)));
    uint32_t y = s->side ? build_conv(&b, x, (struct conv_spec){ .kernel = s->kernel, .stride = s->stride, .channels = s->out }) : build_dense(&b, x, s->out, false);
    y = build_view(&b, y, DIMS(s->batch, tensor_elements(&g.tensors[y]) / s->batch));
    build_classes(&b, y, DIMS(s->batch));
    graph_add_backward(&g);
    struct tensor_value *v = ARENA_ARRAY(&a, struct tensor_value, g.n_tensors);
    for (uint32_t i = 0; i < g.n_tensors; i++) {
        v[i] = (struct tensor_value){ ARENA_ARRAY(&a, float, tensor_elements(&g.tensors[i])), tensor_elements(&g.tensors[i]) };
        fill_with_noise(&g, v[i].x, i, 0, 0, 0, &err);
    }
    double sum = 0;
    *mac = 0;
    for (uint32_t i = 0; i < g.n_ops; i++) {
        double start = processor_s();
        bool good = op_execute(&g, i, v, &(struct op_context){ 0 }, &err);
        if (!good || op_mac(&g, &g.ops[i]) == 0)
            continue;
        sum += processor_s() - start;
        *mac += op_mac(&g, &g.ops[i]);
    }
    arena_free(&a);
    return sum;
}

typedef int bare_sgemm(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t, float, float *, int64_t);

/* y = x w, x' = y w^T, w' = x^T y, with x as one matrix of windows. */
static double library_s(const struct shape *s, bare_sgemm *multiply)
{
    int64_t side = s->side ? (int64_t)((s->side - 1) / s->stride + 1) : 1, rows = (int64_t)s->batch * side * side;
    int64_t inner = (int64_t)(s->side ? s->in * s->kernel * s->kernel : s->in), columns = (int64_t)s->out;
    float *x = calloc((size_t)(rows * inner), sizeof *x), *w = calloc((size_t)(inner * columns), sizeof *w), *y = calloc((size_t)(rows * columns), sizeof *y);
    double start = processor_s();
    multiply('N', 'N', rows, columns, inner, 1, x, inner, w, columns, 1, y, columns);
    multiply('N', 'T', rows, inner, columns, 1, y, columns, w, columns, 1, x, inner);
    multiply('T', 'N', inner, columns, rows, 1, x, inner, y, columns, 1, w, columns);
    double sum = processor_s() - start;
    free(x);
    free(w);
    free(y);
    return sum;
}

/* The least of five times each, in turn. */
static int execution_share(void)
{
    void *library = dlopen("libdnnl.so.2", RTLD_NOW);
    bare_sgemm *multiply = NULL;
    void (*threads)(int) = NULL;
    double sum[2] = { 0, 0 }, mac = 0;
    if (library) {
        *(void **)&multiply = dlsym(library, "dnnl_sgemm");
        *(void **)&threads = dlsym(library, "omp_set_num_threads");
    }
    if (!multiply || !threads) {
        printf("%-50s libdnnl2 is not installed\n", "execution, share of the library");
        return 0;
    }
    threads(1);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double ours = INFINITY, bare = INFINITY;
        uint64_t n = 0;
        for (int k = 0; k < 5; k++) {
            ours = fmin(ours, operation_s(&shapes[i], &n));
            bare = fmin(bare, library_s(&shapes[i], multiply));
        }
        sum[0] += ours, sum[1] += bare, mac += (double)n;
    }
    printf("%-50s %8.0f %%  of %.0f GFLOP/s; aim: 50 %%\n", "execution, share of the library", 100 * sum[1] / sum[0], 2e-9 * mac / sum[1]);
    return sum[1] / sum[0] < 0.5;
}

#endif
