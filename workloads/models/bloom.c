/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bloom.c - Bloom: Workshop et al. 2022 (arXiv 2211.05100), with the sizes of its released configurations.
 *
 * A decoder like GPT-2's without learned positions: each head adds its slope times the key's position to the scores (ALiBi, Press et al. 2021).
 * The embeddings have a norm of their own, and the head shares their table.
 */
#include "workloads/models/builders.h"

bool bloom_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct bloom_config *c = w->config;
    uint64_t length = build_text_length(b, w), n = build_tokens_at_once(b, length), past = n < length ? length : 0;
    uint64_t vocabulary = o->vocabulary ? o->vocabulary : c->vocabulary;
    struct op_attributes serial = { .serial_steps = (uint32_t)o->embedding_serial_steps };
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, n));
    uint32_t table = build_weight(b, "word-embeddings", DIMS(vocabulary, c->hidden));
    uint32_t x = build_layer_norm(b, graph_op(b->g, OP_GATHER, (uint32_t[]){ table, tokens }, 2, serial));
    struct attention at = { .heads = c->heads, .past = past, .split_qkv = o->split_qkv };
    at.mask = build_causal_mask(b, length);
    at.biases = graph_tensor(b->g, "linear-biases", ROLE_STATE, b->type, DIMS(1, c->heads, 1, length));
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = build_block(b, x, "decoder", i, &at, FEED_FORWARD * c->hidden, 0, 0);
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    serial.transpose_b = true;
    x = build_layer_norm(b, x);
    build_next_tokens(b, graph_op(b->g, OP_MATMUL, (uint32_t[]){ x, table }, 2, serial));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct bloom_config
    bloom_560m = { .n_layers = 24, .hidden = 1024, .heads = 16, .vocabulary = 250880 },
    bloom_7b1  = { .n_layers = 30, .hidden = 4096, .heads = 32, .vocabulary = 250880 },
    bloom_176b = { .n_layers = 70, .hidden = 14336, .heads = 112, .vocabulary = 250880 };

WORKLOADS(bloom)
{
    { "bloom", "bloom", "Bloom, 176 billion parameters", "sequence", bloom_build, &bloom_176b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { "bloom-560m", "bloom", "Bloom, 559 million parameters", "sequence", bloom_build, &bloom_560m, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { "bloom-7b1", "bloom", "Bloom, 7.07 billion parameters", "sequence", bloom_build, &bloom_7b1, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { 0 }
};
