/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gptj.c - GPT-J: Wang and Komatsuzaki 2021, as its released configuration has it (EleutherAI/gpt-j-6b).
 *
 * One norm serves attention and the feed-forward part, which are added to the input together (graphcore/examples 3cc8f81
 * nlp/gpt_j/popxl/modelling/decoder.py). The first 64 elements of each head turn by their position, in pairs of neighbours. The head is a
 * matrix of its own, with a bias.
 */
#include "workloads/models/builders.h"

static uint32_t gptj_block(struct builder *b, uint32_t x, const struct gptj_config *c, const struct attention *at, uint32_t i)
{
    build_layer(b, LAYER_BODY, i, 0, 1, arena_printf(b->g->arena, "decoder%u", i));
    uint32_t normal = build_layer_norm(b, x), y = build_attention(b, normal, at);
    y = build_op2(b, OP_ADD, y, build_feed_forward(b, normal, FEED_FORWARD * c->hidden, OP_GELU, 0));
    return build_op2(b, OP_ADD, y, x);
}

bool gptj_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct gptj_config *c = w->config;
    uint64_t length = build_text_length(b, w), n = build_tokens_at_once(b, length), past = n < length ? length : 0;
    uint64_t vocabulary = o->vocabulary ? o->vocabulary : c->vocabulary;
    struct op_attributes serial = { .serial_steps = (uint32_t)o->embedding_serial_steps };
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, n));
    uint32_t table = build_weight(b, "word-embeddings", DIMS(vocabulary, c->hidden));
    uint32_t x = graph_op(b->g, OP_GATHER, (uint32_t[]){ table, tokens }, 2, serial);
    struct attention at = { .heads = c->heads, .past = past, .unbiased = true, .split_qkv = o->split_qkv };
    at.mask = build_causal_mask(b, length);
    at.rotary = build_rotary(b, length, c->turned, true);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = gptj_block(b, x, c, &at, i);
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    uint32_t two[] = { build_layer_norm(b, x), build_matrix(b, c->hidden, vocabulary) };
    build_next_tokens(b, build_bias(b, graph_op(b->g, OP_MATMUL, two, 2, serial)));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct gptj_config gptj_6b = { .n_layers = 28, .hidden = 4096, .heads = 16, .turned = 64, .vocabulary = 50400 };

WORKLOADS(gptj)
{
    { "gpt-j", "gptj", "GPT-J, 6.05 billion parameters", "sequence", gptj_build, &gptj_6b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES },
    { 0 }
};
