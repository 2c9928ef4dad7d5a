/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch_models.h - the three small models that PyTorch trains too: their plans, without dropout, and their steps. */
#ifndef TORCH_MODELS_H
#define TORCH_MODELS_H
#include "tests/execute/planned_model.h"

enum { TORCH_STEPS = 20, TORCH_MICRO_BATCHES = 3 };

static const struct rnnt_config torch_rnnt = { .features = 5, .encoder_hidden = 12, .encoder_first = 2, .encoder_second = 1, .time_stack = 2,
                                               .predictor_hidden = 10, .predictor_layers = 2, .joint_hidden = 14, .labels = 7 };
static const struct bert_config torch_bert = { .n_layers = 2, .hidden = 12, .heads = 3, .inner = 20, .vocabulary = 31, .positions = 16 };
static const struct resnet_config torch_resnet = { { 1, 1, 0, 0 }, false, 0, 0 };

static const struct small_model torch_models[] = {
    { { .name = "resnet", .build = resnet_build, .config = &torch_resnet }, { .micro_batch = 3, .batch_norm_span = 1, .image_size = 16 } },
    { { .name = "bert", .build = bert_build, .config = &torch_bert, .default_sequence_length = 14 },
      { .micro_batch = 3, .sequences_per_pack = 1, .attention_dropout = true } },
    { { .name = "rnnt", .build = rnnt_build, .config = &torch_rnnt, .default_sequence_length = 12 }, { .micro_batch = 3, .labels_per_sample = 4 } },
};
enum { N_TORCH_MODELS = sizeof torch_models / sizeof *torch_models };

/* A pipeline of two stages with all layers recomputed; SGD with momentum. */
static inline struct execution *torch_start(struct planned_model *m, struct planned *y, const struct small_model *s)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 2, .grad_accum = TORCH_MICRO_BATCHES, .span = 1, .schedule = SCHEDULE_POPART, .recompute = RECOMPUTE_LAYER };
    bool planned = plan_model(m, y, s, &v);
    for (size_t i = 0; i < m->g.n_ops && planned; i++)
        if (m->g.ops[i].kind == OP_DROPOUT)
            ((struct op_attributes *)(uintptr_t)m->g.ops[i].at)->rate = 0;
    struct execution_options o = { .optimizer = { .learning_rate = 0.001, .momentum = 0.9 }, .mean_losses = true, .fill = fill_with_noise, .user = &m->g };
    return planned ? execution_start(&m->p, &o, &m->err) : NULL;
}

/* A weight on the IPU of its own layer. */
static inline uint32_t torch_ipu(const struct planned_model *m, uint32_t id) { return plan_stage_of(&m->p, m->g.tensors[id].layer_id)->ipu; }

#endif
