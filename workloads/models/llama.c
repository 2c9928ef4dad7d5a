/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * llama.c - Llama 2: Touvron et al. 2023 (arXiv 2307.09288), with the sizes of its released configurations.
 *
 * RMS norms come before attention and before the gated feed-forward part (SwiGLU); no product has a bias. All elements of a head turn by their
 * position. Keys and values come from one product (graphcore/examples 3cc8f81 nlp/llama/popxl/modelling/attention.py); of 70B, eight query heads
 * share one of them. The head is a matrix of its own.
 */
#include "workloads/models/builders.h"

static uint32_t llama_block(struct builder *b, uint32_t x, const struct llama_config *c, const struct attention *at, uint32_t i)
{
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "decoder%u/attention", i));
    x = build_op2(b, OP_ADD, build_attention(b, build_rms_norm(b, x, c->epsilon), at), x);
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "decoder%u/feed-forward", i));
    return build_op2(b, OP_ADD, build_gated_feed_forward(b, build_rms_norm(b, x, c->epsilon), c->inner, OP_SWISH, false), x);
}

bool llama_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct llama_config *c = w->config;
    uint64_t length = build_text_length(b, w), n = build_tokens_at_once(b, length), past = n < length ? length : 0;
    uint64_t vocabulary = o->vocabulary ? o->vocabulary : c->vocabulary;
    struct op_attributes serial = { .serial_steps = (uint32_t)o->embedding_serial_steps };
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, n));
    uint32_t table = build_weight(b, "word-embeddings", DIMS(vocabulary, c->hidden));
    uint32_t x = graph_op(b->g, OP_GATHER, (uint32_t[]){ table, tokens }, 2, serial);
    struct attention at = { .heads = c->heads, .past = past, .key_heads = c->key_heads, .unbiased = true, .split_qkv = o->split_qkv };
    at.mask = build_causal_mask(b, length);
    at.rotary = build_rotary(b, length, c->hidden / c->heads, false);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = llama_block(b, x, c, &at, i);
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    uint32_t two[] = { build_rms_norm(b, x, c->epsilon), build_matrix(b, c->hidden, vocabulary) };
    build_next_tokens(b, graph_op(b->g, OP_MATMUL, two, 2, serial));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct llama_config
    llama2_7b  = { .n_layers = 32, .hidden = 4096, .heads = 32, .key_heads = 32, .inner = 11008, .vocabulary = 32000, .epsilon = 1e-5 },
    llama2_13b = { .n_layers = 40, .hidden = 5120, .heads = 40, .key_heads = 40, .inner = 13824, .vocabulary = 32000, .epsilon = 1e-5 },
    llama2_70b = { .n_layers = 80, .hidden = 8192, .heads = 64, .key_heads = 8, .inner = 28672, .vocabulary = 32000, .epsilon = 1e-5 };

WORKLOADS(llama)
{
    { "llama2-7b", "llama", "Llama 2, 6.74 billion parameters", "sequence", llama_build, &llama2_7b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { "llama2-13b", "llama", "Llama 2, 13.0 billion parameters", "sequence", llama_build, &llama2_13b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { "llama2-70b", "llama", "Llama 2, 69.0 billion parameters", "sequence", llama_build, &llama2_70b, 4096, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { 0 }
};
