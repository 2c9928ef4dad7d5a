/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch_exact.h - the same steps in double precision: the kernels of system-model/execute on the graph, and SGD with momentum. */
#ifndef TORCH_EXACT_H
#define TORCH_EXACT_H
#include "tests/execute.h"
#include "tests/execute/torch_models.h"

struct exact { const struct graph *g; double **values, **gradients, **velocity; struct arena arena; };

static inline void exact_fill(const struct exact *x, uint32_t id, uint64_t step, uint64_t micro_batch)
{
    uint64_t n = tensor_elements(&x->g->tensors[id]);
    float *from = calloc(n, sizeof *from);
    assert_true(torch_fill((void *)(uintptr_t)x->g, from, id, step, 0, micro_batch, NULL));
    for (uint64_t i = 0; i < n; i++)
        x->values[id][i] = (double)from[i];
    free(from);
}

/* Begins with the weights of the execution in fp32. */
static inline void exact_start(struct exact *x, const struct graph *g)
{
    *x = (struct exact){ .g = g };
    double ***all[] = { &x->values, &x->gradients, &x->velocity };
    for (size_t k = 0; k < 3; k++) {
        *all[k] = ARENA_ARRAY(&x->arena, double *, g->n_tensors);
        for (size_t i = 0; i < g->n_tensors; i++)
            (*all[k])[i] = ARENA_ARRAY(&x->arena, double, tensor_elements(&g->tensors[i]));
    }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT)
            exact_fill(x, i, 0, UINT64_MAX);
}

/* Loss and gradients of a micro-batch, as shares of the step's mean. */
static inline double exact_micro_batch(struct exact *x, uint64_t step, uint64_t micro_batch)
{
    double loss = 0;
    for (uint32_t i = 0; i < x->g->n_tensors; i++)
        if (x->g->tensors[i].role == ROLE_INPUT || x->g->tensors[i].role == ROLE_STATE)
            exact_fill(x, i, step, micro_batch);
    for (size_t i = 0; i < x->g->n_ops; i++) {
        const struct op *op = &x->g->ops[i];
        double *const *peers[] = { x->values };
        struct run r = { .g = x->g, .v = x->values, .op = op, .peers = peers, .n_peers = 1, .mean_losses = true, .loss_factor = 1.0 / TORCH_MICRO_BATCHES };
        run_kernel(&r);
        loss += op_is_loss(op) ? x->values[op->outputs[0]][0] / TORCH_MICRO_BATCHES : 0;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const struct tensor *t = &x->g->tensors[op->outputs[k]];
            for (uint64_t e = 0; t->role == ROLE_WEIGHT_GRADIENT && e < tensor_elements(t); e++)
                x->gradients[t->of_tensor][e] += x->values[op->outputs[k]][e];
        }
    }
    return loss;
}

/* Returns the loss before the update; the gradients stay until the next step. */
static inline double exact_step(struct exact *x, uint64_t step, double rate)
{
    double loss = 0;
    for (uint32_t i = 0; i < x->g->n_tensors; i++)
        memset(x->gradients[i], 0, tensor_elements(&x->g->tensors[i]) * sizeof(double));
    for (uint64_t m = 0; m < TORCH_MICRO_BATCHES; m++)
        loss += exact_micro_batch(x, step, m);
    for (uint32_t i = 0; i < x->g->n_tensors; i++)
        for (uint64_t e = 0; x->g->tensors[i].role == ROLE_WEIGHT && e < tensor_elements(&x->g->tensors[i]); e++)
            x->values[i][e] -= rate * (x->velocity[i][e] = TORCH_MOMENTUM * x->velocity[i][e] + x->gradients[i][e]);
    return loss;
}

#endif
