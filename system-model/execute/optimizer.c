/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * optimizer.c - the arithmetic of a weight update, on the elements of a tensor or of its shard. g is the gradient, w the weight.
 *
 *   SGD with momentum   v = momentum v + g + decay w;  w -= rate v                                            (PyTorch's SGD)
 *   LARS                v = momentum v + f (g + decay w);  w -= rate v;  f = trust |w| / (|g| + decay |w| + epsilon)  (You et al. 2017)
 *   AdamW               w -= rate (m' / (sqrt(s') + epsilon) + decay w), m' and s' without their bias                (Loshchilov 2019)
 *   LAMB                w -= rate |w| / |u| u;  u = m' / (sqrt(s') + epsilon) + decay w                              (You et al. 2020)
 * The norms of a tensor of one dimension scale no step, as in the code of the authors of LAMB: a bias begins at zero, and a step that is a share of its
 * norm would keep it there.
 * Each is a direction, made of g and of the norms' factor, and a step along it.
 */
#include "system-model/execute/execute_internal.h"

static void adam_direction(const struct weight_part *p, const struct optimizer_values *v, uint64_t step)
{
    double n = (double)step + 1, first = 1 - pow(v->momentum, n), second = 1 - pow(v->second_momentum, n);
    float *m = p->moments[0], *s = p->moments[1];
    for (uint64_t i = 0; i < p->n; i++) {
        double g = p->direction[i];
        m[i] = (float)(v->momentum * m[i] + (1 - v->momentum) * g);
        s[i] = (float)(v->second_momentum * s[i] + (1 - v->second_momentum) * g * g);
        p->direction[i] = (float)(m[i] / first / (sqrt(s[i] / second) + v->epsilon) + v->weight_decay * p->w[i]);
    }
}

void optimizer_direction(const struct weight_part *p, enum vector_work work, const struct optimizer_values *v, uint64_t step)
{
    if (work == WORK_ADAM || work == WORK_LAMB) {
        adam_direction(p, v, step);
        return;
    }
    for (uint64_t i = 0; i < p->n; i++)
        p->direction[i] = (float)(p->direction[i] + v->weight_decay * p->w[i]);
}

double optimizer_factor(enum vector_work work, const struct optimizer_values *v, double weight_norm, double gradient_norm, double direction_norm)
{
    if (weight_norm == 0)
        return 1;
    if (work == WORK_LARS && gradient_norm > 0)
        return v->trust * weight_norm / (gradient_norm + v->weight_decay * weight_norm + v->epsilon);
    return work == WORK_LAMB && direction_norm > 0 ? weight_norm / direction_norm : 1;
}

void optimizer_apply(const struct weight_part *p, enum vector_work work, const struct optimizer_values *v, double factor)
{
    bool keeps_velocity = work == WORK_SGD_MOMENTUM || work == WORK_LARS;
    for (uint64_t i = 0; i < p->n; i++) {
        double d = factor * p->direction[i];
        if (keeps_velocity)
            d = p->moments[0][i] = (float)(v->momentum * p->moments[0][i] + d);
        p->w[i] = (float)(p->w[i] - v->learning_rate * d);
    }
}
