/* SPDX-License-Identifier: GPL-3.0-or-later */
/* small_models.h - a model of every family, small enough to be executed in milliseconds, and inputs for any graph. */
#ifndef SMALL_MODELS_H
#define SMALL_MODELS_H
#include "workloads/models/builders.h"
#include <math.h>

static const struct bert_config small_bert = { .n_layers = 4, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 13, .positions = 9 };
static const struct decoder_config small_gpt2 = { .kind = DECODER_GPT2, .n_layers = 4, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9, .dropout = 0.1 };
static const struct decoder_config small_gptj = { .kind = DECODER_GPTJ, .n_layers = 4, .hidden = 12, .heads = 2, .turned = 4, .vocabulary = 11 };
static const struct decoder_config small_llama = { .kind = DECODER_LLAMA, .n_layers = 4, .hidden = 24, .heads = 6, .key_heads = 2, .inner = 10, .vocabulary = 11, .epsilon = 1e-5 };
static const struct decoder_config small_bloom = { .kind = DECODER_BLOOM, .n_layers = 4, .hidden = 9, .heads = 3, .vocabulary = 11 };
static const struct t5_config small_t5 = { .n_layers = 2, .hidden = 6, .heads = 3, .inner = 10, .vocabulary = 11 };
static const struct vit_config small_vit = { .n_layers = 4, .hidden = 6, .heads = 3, .inner = 10, .patch = 4, .image = 8 };
static const struct resnet_config small_resnet = { .units = { 2, 2, 0, 0 } },
    small_resnext = { .units = { 2, 1, 1, 0 }, .bottleneck = true, .groups = 8, .group_width = 4 };
static const struct inverted_config small_efficientnet = { 3, 3, 32, 0.2, 1, 2 }, small_mobilenet = { 4, 3, 32, 0, 1, 2 };
static const struct rnnt_config small_rnnt = { .features = 5, .encoder_hidden = 4, .encoder_first = 2, .encoder_second = 3, .time_stack = 2,
                                               .predictor_hidden = 3, .predictor_layers = 2, .joint_hidden = 6, .labels = 7 };
static const struct transducer_config small_transducer = { .n_layers = 4, .hidden = 6, .heads = 2, .inner = 10, .kernel = 4, .subsampling = 2,
                                                           .features = 5, .predictor_hidden = 3, .predictor_layers = 1, .joint_hidden = 4, .labels = 7 };
static const struct conformer_config small_conformer = { .n_encoder = 3, .n_decoder = 1, .hidden = 6, .heads = 2, .inner = 10, .kernel = 3,
                                                         .features = 9, .vocabulary = 8, .labels = 3 };

static const struct small_model { struct workload w; struct model_options o; } small_models[] = {
    { { .name = "bert", .build = bert_build, .config = &small_bert, .default_sequence_length = 8 },
      { .micro_batch = 2, .sequence_length = 8, .sequences_per_pack = 1.7, .attention_dropout = true } },
    { { .name = "gpt2", .build = decoder_build, .config = &small_gpt2, .default_sequence_length = 7 }, { .micro_batch = 2 } },
    { { .name = "gptj", .build = decoder_build, .config = &small_gptj, .default_sequence_length = 6 }, { .micro_batch = 2 } },
    { { .name = "llama", .build = decoder_build, .config = &small_llama, .default_sequence_length = 6 }, { .micro_batch = 2 } },
    { { .name = "bloom", .build = decoder_build, .config = &small_bloom, .default_sequence_length = 6 }, { .micro_batch = 2 } },
    { { .name = "t5", .build = t5_build, .config = &small_t5, .default_sequence_length = 6 }, { .micro_batch = 2 } },
    { { .name = "vit", .build = vit_build, .config = &small_vit }, { .micro_batch = 2 } },
    { { .name = "resnet", .build = resnet_build, .config = &small_resnet }, { .micro_batch = 2, .batch_norm_span = 1, .image_size = 16 } },
    { { .name = "resnext", .build = resnet_build, .config = &small_resnext }, { .micro_batch = 2, .norm_groups = 4, .image_size = 16 } },
    { { .name = "efficientnet", .build = efficientnet_build, .config = &small_efficientnet }, { .micro_batch = 2, .norm_groups = 4 } },
    { { .name = "mobilenet", .build = mobilenet_build, .config = &small_mobilenet }, { .micro_batch = 2, .norm_groups = 4 } },
    { { .name = "rnnt", .build = rnnt_build, .config = &small_rnnt, .default_sequence_length = 9 }, { .micro_batch = 2, .labels_per_sample = 3 } },
    { { .name = "transducer", .build = transducer_build, .config = &small_transducer, .default_sequence_length = 9 },
      { .micro_batch = 2, .labels_per_sample = 3 } },
    { { .name = "conformer", .build = conformer_build, .config = &small_conformer, .default_sequence_length = 19 },
      { .micro_batch = 2, .batch_norm_span = 1 } },
};
enum { N_SMALL_MODELS = sizeof small_models / sizeof *small_models };

/* Between -0.5 and 0.5, the same on every machine. */
static inline double noise_at(uint64_t a, uint64_t b)
{
    uint64_t seed[2] = { a, b };
    return (double)(hash_bytes(seed, sizeof seed, 11) % 2000003) / 2000003 - 0.5;
}

/* Indices must be within their table, and labels within their classes, as the operation that reads them requires. */
static inline uint64_t index_limit(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        const struct tensor *t = &g->tensors[op->inputs[0]];
        if (op->n_inputs < 2 || op->inputs[1] != id)
            continue;
        if (op->kind == OP_GATHER)
            return t->dims[t->n_dims - 2];
        return t->dims[t->n_dims - 1] - (op->kind == OP_TRANSDUCER_LOSS);      /* all but the blank */
    }
    return 1;
}

/* Element k of a tensor that nothing produces; `other` tells samples apart. */
static inline double given_value(const struct graph *g, uint32_t id, uint64_t k, uint64_t other)
{
    const struct tensor *t = &g->tensors[id];
    uint64_t key = id + 1009 * other, seed[2] = { key, k };
    if (t->type == TYPE_INT32)
        return (double)(hash_bytes(seed, sizeof seed, 3) % index_limit(g, id));
    return t->type == TYPE_UINT8 ? floor(255 * (noise_at(key, k) + 0.5)) : noise_at(key, k);
}

#endif
