/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * optimizers.h - work on weights and gradients that is not in the graph, and the optimizers: what each costs, computes and keeps.
 */
#ifndef OPTIMIZERS_H
#define OPTIMIZERS_H
#include "system-model/base/base.h"

/* Each optimizer's work, and its row in optimizers.c. The work gets its number here and nowhere else, so no optimizer is without a row. */
#define OPTIMIZERS(ROW) ROW(SGD_MOMENTUM, sgd) ROW(LARS, lars) ROW(ADAM, adam) ROW(LAMB, lamb) ROW(ADAMW, adamw)

#define WORK(name, row) WORK_##name,
enum vector_work {
    WORK_ACCUMULATE,            /* adds one weight gradient to its accumulator */
    WORK_ZERO,
    WORK_REARRANGE,             /* copies into another layout: every element moves */
    WORK_SQUARES,               /* sum of squares */
    WORK_SCALE,                 /* multiplies by a number */
    N_GRADIENT_WORKS,
    WORK_LAST_OF_GRADIENTS = N_GRADIENT_WORKS - 1,
    OPTIMIZERS(WORK)
    N_VECTOR_WORKS
};
#undef WORK
enum { N_OPTIMIZERS = N_VECTOR_WORKS - N_GRADIENT_WORKS };

/* Which tensors' norms the optimizer needs. LARS leaves out tensors of one dimension (biases, parameters of norms): MLPerf's ResNet-50 merges
 * its norms in 216 B, which is 54 kernels' of fp32. */
enum norms { NORMS_NONE, NORMS_OF_KERNELS, NORMS_OF_ALL };

/* An optimizer as a plan knows it. */
struct optimizer {
    enum vector_work work;              /* the update's arithmetic */
    enum vector_work work_without_norms;        /* the work for tensors whose norms are not needed, or are merged with others */
    double state_bytes_per_param;       /* bytes of all moments together */
    enum norms norms;                   /* LARS, LAMB: norms of weight and gradient or update, added over shards too */
    uint32_t n_moments;
    bool moments_of_framework;          /* the framework chooses the moments' type; otherwise it is that of the weights */
};

/* Values that may change from step to step. The moments' decays are momentum (SGD, LARS: the only one) and second_momentum. */
struct optimizer_values {
    double learning_rate, momentum, second_momentum, epsilon, weight_decay;
    double trust;                       /* LARS: the norm of a step as a share of the weights' norm */
    double clip_norm;                   /* the limit of all gradients' norm, if the program clips; 0 if no limit */
};

/* A recipe sets these for a whole run: the course of the learning rate, and the values of a step. */
enum optimizer_setting {
    SETTING_BASE, SETTING_END, SETTING_POWER, SETTING_WARMUP_STEPS, SETTING_DECAY_STEPS,
    SETTING_MOMENTUM, SETTING_SECOND_MOMENTUM, SETTING_EPSILON, SETTING_WEIGHT_DECAY, SETTING_CLIP_NORM,
    N_OPTIMIZER_SETTINGS
};

/* Elements [0, n) of a weight or its shard. `direction` holds the gradient at first, and may be the gradient's own memory. */
struct weight_part { float *w, *direction; float *const *moments; uint64_t n; };

struct work_cost;               /* the passes over a tensor: passes.h */

/* An optimizer makes a direction from gradients and moments, and steps along it by the learning rate times a factor of the tensor's norms. */
struct optimizer_rule {
    const char *name;                   /* the name in recipes, and of opt_name in logs */
    struct optimizer plan;              /* the optimizer with moments of fp16 */
    const struct work_cost *cost;
    void (*direction)(const struct weight_part *p, const struct optimizer_values *v, uint64_t step);
    double (*factor)(const struct optimizer_values *v, double weight_norm, double gradient_norm, double direction_norm);
    void (*apply)(const struct weight_part *p, const struct optimizer_values *v, double factor);
    const char *settings[N_OPTIMIZER_SETTINGS];         /* names of its own in logs, besides those that all optimizers share; NULL if none */
};
const struct optimizer_rule *optimizer_rule(enum vector_work work);     /* work: N_GRADIENT_WORKS or more */
const struct optimizer_rule *optimizer_find(const char *name);          /* NULL if no optimizer has this name */

#endif
