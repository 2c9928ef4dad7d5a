/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * optimizers.c - the optimizers, a row each: passes over a tensor, arithmetic on the elements of a tensor or of its shard, moments, settings. g is the
 * gradient, w the weight.
 *
 *   SGD with momentum   v = momentum v + g + decay w;  w -= rate v                                            (PyTorch's SGD)
 *   LARS                v = momentum v + f (g + decay w);  w -= rate v;  f = trust |w| / (|g| + decay |w| + epsilon)  (You et al. 2017)
 *   AdamW               w -= rate (m' / (sqrt(s') + epsilon) + decay w), m' and s' without their bias                (Loshchilov 2019)
 *   LAMB                w -= rate |w| / |u| u;  u = m' / (sqrt(s') + epsilon) + decay w                              (You et al. 2020)
 * The norms of a tensor of one dimension scale no step, as in the code of the authors of LAMB: a bias begins at zero, and a step that is a share of its
 * norm would keep it there.
 *
 * Passes and their operands are as PopART builds them. Adam and LAMB accumulate m, accumulate v (of squares), make the update (root, add, divide, decay),
 * add it, and clear the gradient's accumulator.
 */
#include "system-model/compiler/passes.h"
#include <math.h>

/* ---- directions -------------------------------------------------------------------------------------------------- */

static void decayed_gradient(const struct weight_part *p, const struct optimizer_values *v, uint64_t step)
{
    (void)step;
    for (uint64_t i = 0; i < p->n; i++)
        p->direction[i] = (float)(p->direction[i] + v->weight_decay * p->w[i]);
}

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

/* ---- factors ----------------------------------------------------------------------------------------------------- */

static double no_factor(const struct optimizer_values *v, double weight_norm, double gradient_norm, double direction_norm)
{
    (void)v, (void)weight_norm, (void)gradient_norm, (void)direction_norm;
    return 1;
}

static double lars_factor(const struct optimizer_values *v, double weight_norm, double gradient_norm, double direction_norm)
{
    (void)direction_norm;
    return weight_norm == 0 || gradient_norm <= 0 ? 1 : v->trust * weight_norm / (gradient_norm + v->weight_decay * weight_norm + v->epsilon);
}

static double lamb_factor(const struct optimizer_values *v, double weight_norm, double gradient_norm, double direction_norm)
{
    (void)v, (void)gradient_norm;
    return weight_norm == 0 || direction_norm <= 0 ? 1 : weight_norm / direction_norm;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void velocity_step(const struct weight_part *p, const struct optimizer_values *v, double factor)
{
    float *velocity = p->moments[0];
    for (uint64_t i = 0; i < p->n; i++) {
        velocity[i] = (float)(v->momentum * velocity[i] + factor * p->direction[i]);
        p->w[i] = (float)(p->w[i] - v->learning_rate * velocity[i]);
    }
}

static void straight_step(const struct weight_part *p, const struct optimizer_values *v, double factor)
{
    for (uint64_t i = 0; i < p->n; i++)
        p->w[i] = (float)(p->w[i] - v->learning_rate * (factor * p->direction[i]));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define MOMENTUM_PASSES { { MAP_SCALED_ADD, WEIGHTS, WEIGHTS }, { MAP_SCALED_ADD, FIRST_MOMENT, WEIGHTS }, { MAP_SCALED_ADD, WEIGHTS, FIRST_MOMENT } }, 3
#define ADAM_PASSES { \
    { MAP_SCALED_ADD, FIRST_MOMENT, WEIGHTS }, { MAP_SQUARE, SECOND_MOMENT, WEIGHTS }, { MAP_SCALED_ADD, SECOND_MOMENT, SECOND_MOMENT }, \
    { MAP_SQRT, SECOND_MOMENT, SECOND_MOMENT }, { MAP_SCALAR, SECOND_MOMENT, SECOND_MOMENT }, { MAP_DIVIDE, UPDATE, FIRST_MOMENT }, \
    { MAP_SCALED_ADD, UPDATE, WEIGHTS }, { MAP_SCALED_ADD, WEIGHTS, UPDATE }, { MAP_FILL, WEIGHTS, WEIGHTS } }, 9
static const struct work_cost sgd_cost = { MOMENTUM_PASSES, { WEIGHTS }, 0, false };
static const struct work_cost lars_cost = { MOMENTUM_PASSES, { WEIGHTS, WEIGHTS }, 2, false };
static const struct work_cost adam_cost = { ADAM_PASSES, { WEIGHTS }, 0, false };
static const struct work_cost lamb_cost = { ADAM_PASSES, { WEIGHTS, UPDATE }, 2, false };

/* Each row initializes all members in order, so that the compiler warns of a missing one. Adam's settings have the same names as LAMB's. */
#define DECAYING(prefix) prefix "base_learning_rate", prefix "end_learning_rate", prefix "learning_rate_decay_poly_power", NULL, \
    prefix "learning_rate_decay_steps", prefix "momentum", NULL
#define LAMB_SETTINGS { NULL, "opt_lamb_learning_rate_min", "opt_lamb_learning_rate_decay_poly_power", NULL, NULL, \
    "opt_lamb_beta_1", "opt_lamb_beta_2", "opt_lamb_epsilon", "opt_lamb_weight_decay_rate", NULL }
static const struct optimizer_rule sgd = {
    "sgd", { WORK_SGD_MOMENTUM, WORK_SGD_MOMENTUM, 2, NORMS_NONE, 1, false }, &sgd_cost, decayed_gradient, no_factor, velocity_step,
    { DECAYING("sgd_opt_"), NULL, "sgd_opt_weight_decay", NULL } };
static const struct optimizer_rule lars = {
    "lars", { WORK_LARS, WORK_SGD_MOMENTUM, 2, NORMS_OF_KERNELS, 1, false }, &lars_cost, decayed_gradient, lars_factor, velocity_step,
    { DECAYING("lars_opt_"), "lars_epsilon", "lars_opt_weight_decay", NULL } };
static const struct optimizer_rule adam = {
    "adam", { WORK_ADAM, WORK_ADAM, 4, NORMS_NONE, 2, true }, &adam_cost, adam_direction, no_factor, straight_step, LAMB_SETTINGS };
static const struct optimizer_rule adamw = {
    "adamw", { WORK_ADAMW, WORK_ADAMW, 4, NORMS_NONE, 2, true }, &adam_cost, adam_direction, no_factor, straight_step,
    { NULL, NULL, NULL, NULL, NULL, "opt_adamw_beta_1", "opt_adamw_beta_2", "opt_adamw_epsilon", "opt_adamw_weight_decay", NULL } };
static const struct optimizer_rule lamb = {
    "lamb", { WORK_LAMB, WORK_ADAM, 4, NORMS_OF_ALL, 2, true }, &lamb_cost, adam_direction, lamb_factor, straight_step, LAMB_SETTINGS };

#define ROW(work, row) [WORK_##work - N_GRADIENT_WORKS] = &row,
static const struct optimizer_rule *const rules[] = { OPTIMIZERS(ROW) };
#undef ROW
_Static_assert(sizeof rules / sizeof *rules == N_OPTIMIZERS, "one row an optimizer");

const struct optimizer_rule *optimizer_rule(enum vector_work work)
{
    assert(work >= N_GRADIENT_WORKS && work < N_VECTOR_WORKS);
    return rules[work - N_GRADIENT_WORKS];
}

const struct optimizer_rule *optimizer_find(const char *name)
{
    for (uint32_t i = 0; i < N_OPTIMIZERS; i++)
        if (text_is(rules[i]->name, name))
            return rules[i];
    return NULL;
}
