/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch_models.h - small models that PyTorch trains too: their plans, without dropout, and their steps. */
#ifndef TORCH_MODELS_H
#define TORCH_MODELS_H
#include "tests/execute/planned_model.h"

enum { TORCH_STEPS = 20, TORCH_MICRO_BATCHES = 3 };
#define TORCH_MOMENTUM 0.9

static const struct rnnt_config torch_rnnt = { .features = 5, .encoder_hidden = 12, .encoder_first = 2, .encoder_second = 1, .time_stack = 2,
                                               .predictor_hidden = 10, .predictor_layers = 2, .joint_hidden = 14, .labels = 7 };
static const struct bert_config torch_bert = { .n_layers = 2, .hidden = 12, .heads = 3, .inner = 20, .vocabulary = 31, .positions = 16 };
static const struct resnet_config torch_resnet = { .units = { 1, 1 } }, torch_deeper = { .units = { 2, 2 } };

#define TORCH_RESNET(of, size) { .name = "resnet", .build = resnet_build, .config = (of) }, { .micro_batch = 3, .batch_norm_span = 1, .image_size = (size) }
#define TORCH_BERT { .name = "bert", .build = bert_build, .config = &torch_bert, .default_sequence_length = 14 }, \
    { .micro_batch = 3, .sequences_per_pack = 1, .attention_dropout = true }
#define TORCH_RNNT { .name = "rnnt", .build = rnnt_build, .config = &torch_rnnt, .default_sequence_length = 12 }, { .micro_batch = 3, .labels_per_sample = 4 }
/* Names begin with the module of torch_modules.py; a dash and the setting follow. */
static const struct torch_model {
    const char *name;
    struct small_model m;
    double rate;
    bool is_smooth;                     /* tanh for ReLU, and the mean of a window for its largest element */
    enum vector_work work;              /* 0: SGD with momentum */
    uint64_t seed;                      /* seeds the inputs */
} torch_models[] = {
#define RESNET_FAST(s) { "resnet-fast-" #s, { TORCH_RESNET(&torch_resnet, 16) }, 0.01, false, 0, (s) }
#define RESNET_DEEPER(s) { "resnet-deeper-" #s, { TORCH_RESNET(&torch_deeper, 32) }, 0.01, false, 0, (s) }
    { "resnet-slow", { TORCH_RESNET(&torch_resnet, 16) }, 0.001, false, 0, 0 },
    RESNET_FAST(0), RESNET_FAST(1), RESNET_FAST(2), RESNET_FAST(3), RESNET_FAST(4), RESNET_FAST(5), RESNET_FAST(6), RESNET_FAST(7),
    RESNET_DEEPER(0), RESNET_DEEPER(1), RESNET_DEEPER(2), RESNET_DEEPER(3),
    { "resnet-fast-smooth", { TORCH_RESNET(&torch_resnet, 16) }, 0.01, true, 0, 0 }, { "resnet-deeper-smooth", { TORCH_RESNET(&torch_deeper, 32) }, 0.01, true, 0, 0 },
    { "bert-slow", { TORCH_BERT }, 0.001, false, 0, 0 }, { "bert-fast", { TORCH_BERT }, 0.01, false, 0, 0 },
    { "bert-adamw", { TORCH_BERT }, 0.001, false, WORK_ADAM, 0 }, { "bert-lamb", { TORCH_BERT }, 0.01, false, WORK_LAMB, 0 },
    { "rnnt-slow", { TORCH_RNNT }, 0.001, false, 0, 0 }, { "rnnt-fast", { TORCH_RNNT }, 0.01, false, 0, 0 },
};
enum { N_TORCH_MODELS = sizeof torch_models / sizeof *torch_models };

static uint64_t torch_seed;             /* the seed of the model that was started last */
static inline bool torch_fill(void *graph, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    return fill_with_noise(graph, to, id, step + 1000 * torch_seed, replica, micro_batch, err);
}

/* A pipeline of two stages with all layers recomputed. */
static inline struct execution *torch_start(struct planned_model *m, struct planned *y, const struct torch_model *t)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 2, .grad_accum = TORCH_MICRO_BATCHES, .span = 1, .schedule = SCHEDULE_POPART, .recompute = RECOMPUTE_LAYER, .work = t->work };
    bool planned = plan_model(m, y, &t->m, &v);
    for (size_t i = 0; i < m->g.n_ops && planned; i++)
        if (m->g.ops[i].kind == OP_DROPOUT)
            ((struct op_attributes *)(uintptr_t)m->g.ops[i].at)->rate = 0;
        else if (m->g.ops[i].kind == OP_RELU && t->is_smooth)
            m->g.ops[i].kind = OP_TANH;         /* its backward pass reads the output, too */
        else if (m->g.ops[i].kind == OP_MAX_POOL && t->is_smooth)
            m->g.ops[i].kind = OP_AVERAGE_POOL;
    struct execution_options o = { .optimizer = { .learning_rate = t->rate, .momentum = TORCH_MOMENTUM, .second_momentum = 0.999, .epsilon = 1e-6,
                                                  .weight_decay = t->work ? 0.01 : 0 },
                                   .mean_losses = true, .fill = torch_fill, .user = &m->g };
    torch_seed = t->seed;
    return planned ? execution_start(&m->p, &o, &m->err) : NULL;
}

/* A weight on the IPU of its own layer. */
static inline uint32_t torch_ipu(const struct planned_model *m, uint32_t id) { return plan_stage_of(&m->p, m->g.tensors[id].layer_id)->ipu; }

#endif
