/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * torch_steps.c - trains small models for 20 steps and writes all that PyTorch needs to do the same, and what came out.
 *
 * usage: torch_steps FOLDER. For each setting: NAME.shapes ("rate 0.001 sgd", then a line for each weight and each input: "weight 3 3 4 8"), NAME.numbers (fp32: for
 * each step the weights before it, the inputs of each micro-batch, the mean loss, and the gradient of each weight or, with other
 * optimizers than SGD, its direction), and with SGD NAME.exact (doubles: for each step the loss and the gradient of each weight, computed in double precision).
 */
#include "tests/execute/torch_exact.h"

static void write_shapes(const char *folder, const struct torch_model *m, const struct graph *g)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.shapes", folder, m->name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "rate %g %s\n", m->rate, m->work == WORK_ADAM ? "adamw" : m->work == WORK_LAMB ? "lamb" : "sgd");
    for (int inputs = 0; inputs < 2; inputs++)
        for (size_t i = 0; i < g->n_tensors; i++) {
            const struct tensor *t = &g->tensors[i];
            if (t->role != (inputs ? ROLE_INPUT : ROLE_WEIGHT))
                continue;
            fprintf(f, "%s", inputs ? "input" : "weight");
            for (uint32_t d = 0; d < t->n_dims; d++)
                fprintf(f, " %ju", (uintmax_t)t->dims[d]);
            fputc('\n', f);
        }
    fclose(f);
}

static void write_inputs(FILE *f, const struct graph *g, uint64_t step)
{
    for (uint64_t m = 0; m < TORCH_MICRO_BATCHES; m++)
        for (uint32_t i = 0; i < g->n_tensors; i++) {
            uint64_t n = tensor_elements(&g->tensors[i]);
            float *x = calloc(n, sizeof *x);
            if (g->tensors[i].role == ROLE_INPUT && torch_fill((void *)(uintptr_t)g, x, i, step, 0, m, NULL))
                fwrite(x, sizeof *x, n, f);
            free(x);
        }
}

static void write_weights(FILE *f, const struct planned_model *m, const struct execution *x, bool gradients)
{
    for (uint32_t i = 0; i < m->g.n_tensors; i++)
        if (m->g.tensors[i].role == ROLE_WEIGHT)
            fwrite(gradients ? execution_direction(x, 0, torch_ipu(m, i), i) : execution_weight(x, 0, torch_ipu(m, i), i), sizeof(float),
                   tensor_elements(&m->g.tensors[i]), f);
}

static void write_exact(const char *folder, const struct graph *g, const struct torch_model *t)
{
    char path[512];
    struct exact x;
    snprintf(path, sizeof path, "%s/%s.exact", folder, t->name);
    FILE *f = t->work ? NULL : fopen(path, "wb");
    exact_start(&x, g);
    for (uint64_t step = 0; step < TORCH_STEPS && f; step++) {
        double loss = exact_step(&x, step, t->rate);
        fwrite(&loss, sizeof loss, 1, f);
        for (size_t i = 0; i < g->n_tensors; i++)
            if (g->tensors[i].role == ROLE_WEIGHT)
                fwrite(x.gradients[i], sizeof(double), tensor_elements(&g->tensors[i]), f);
    }
    arena_free(&x.arena);
    assert_true(t->work || (f && fclose(f) == 0));
}

static void write_model(const char *folder, struct planned *y, const struct torch_model *t)
{
    struct planned_model m;
    char path[512];
    struct execution *x = torch_start(&m, y, t);
    assert_non_null(x);
    write_shapes(folder, t, &m.g);
    snprintf(path, sizeof path, "%s/%s.numbers", folder, t->name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (uint64_t step = 0; step < TORCH_STEPS; step++) {
        struct step_result r;
        write_weights(f, &m, x, false);
        write_inputs(f, &m.g, step);
        assert_true(execution_step(x, &r, &m.err));
        float loss = (float)r.loss;
        fwrite(&loss, sizeof loss, 1, f);
        write_weights(f, &m, x, true);
    }
    fclose(f);
    write_exact(folder, &m.g, t);
    execution_end(x);
    arena_free(&m.arena);
}

int main(int argc, char **argv)
{
    struct planned y;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    start(&y, "mlperf-v2.0-closed-bow-pod16-bert-large");
    for (size_t i = 0; i < N_TORCH_MODELS; i++)
        write_model(argv[1], &y, &torch_models[i]);
    stop(&y);
    return 0;
}
