/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpt2.c - GPT-2: Radford et al. 2019, as its released configurations have it; GPT-3: Brown et al. 2020 (arXiv 2005.14165), in two of its sizes.
 *
 * Norms come before attention and before the feed-forward product; a mask of -10000 is added to the scores of later
 * tokens, as the vendor's program subtracts it (examples v3.3.0 nlp/gpt2/pytorch/model/optimized_gpt2_attn.py:39-40); a product with the word table scores every token, whose label is the next token. Inference computes the same for the whole text.
 */
#include "workloads/models/builders.h"

static const double attention_dropout = 0.1;

/* The vendor's commands compute the loss of 128 tokens at a time (--enable-sequence-serialized; arguments.py) and copy these to all tiles for their accuracy
 * (train_gpt2.py:142-165, custom_ops/remap_tensor_ce.cpp). */
static void build_loss_in_slices(struct builder *b, uint32_t scores, uint64_t n_tokens, uint64_t n_slices)
{
    const struct op_attributes pieces = { .axis = 1, .pieces = (uint32_t)n_slices };
    uint32_t labels = build_input(b, "labels", TYPE_INT32, DIMS(b->batch, n_tokens));
    uint32_t labels_of = graph_op(b->g, OP_SLICE, &labels, 1, pieces), scores_of = graph_op(b->g, OP_SLICE, &scores, 1, pieces);
    for (uint32_t i = 0; i < pieces.pieces; i++) {
        build_op1(b, OP_ARG_MAX, build_view(b, scores_of + i, DIMS(b->batch, n_tokens / pieces.pieces, build_width(b, scores))));
        graph_op(b->g, OP_CROSS_ENTROPY, (uint32_t[]){ scores_of + i, labels_of + i }, 2, (struct op_attributes){ .pieces = pieces.pieces });
    }
}

bool gpt2_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct gpt2_config *c = w->config;
    uint64_t length = build_text_length(b, w), n = build_tokens_at_once(b, length);
    uint64_t vocabulary = o->vocabulary ? o->vocabulary : c->vocabulary;
    struct op_attributes serial = { .serial_steps = (uint32_t)o->embedding_serial_steps };
    if (length > c->positions)
        return fail(err, "%s: sequence_length %ju is more than the %ju positions of %s; take a shorter one", o->where,
                    (uintmax_t)length, (uintmax_t)c->positions, w->name);
    uint64_t n_slices = o->loss_slices ? o->loss_slices : c->loss_tokens && n % c->loss_tokens == 0 && n / c->loss_tokens <= MAX_OP_OUTPUTS ? n / c->loss_tokens : 1;
    if (n % n_slices)
        return fail(err, "%s: parallel.loss_slices: %ju slices of %ju tokens are not alike; take a number that divides them", o->where,
                    (uintmax_t)n_slices, (uintmax_t)n);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, n));
    uint32_t places = build_input(b, "positions", TYPE_INT32, DIMS(b->batch, n));
    uint32_t table = build_weight(b, "word-embeddings", DIMS(vocabulary, c->hidden));
    uint32_t x = graph_op(b->g, OP_GATHER, (uint32_t[]){ table, tokens }, 2, serial);
    x = build_op2(b, OP_ADD, x, build_gather(b, build_weight(b, "position-embeddings", DIMS(c->positions, c->hidden)), places));
    uint32_t mask = build_causal_mask(b, length);
    struct attention at = { .heads = c->heads, .past = n < length ? length : 0, .mask = mask, .dropout = o->attention_dropout ? attention_dropout : 0, .split_qkv = o->split_qkv };
    x = build_dropout(b, x, c->dropout);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = build_block(b, x, "decoder", i, &at, FEED_FORWARD * c->hidden, 0, c->dropout);
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    serial.transpose_b = true;
    x = build_layer_norm(b, x);
    uint32_t scores = graph_op(b->g, OP_MATMUL, (uint32_t[]){ x, table }, 2, serial);
    if (b->training && n_slices > 1)
        build_loss_in_slices(b, scores, n, n_slices);
    else
        build_next_tokens(b, scores);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* The smallest is nanoGPT's of characters, without dropout (graphcore-research/flash-attention-ipu demo/train.py). */
static const struct gpt2_config
    gpt2_tiny   = { .n_layers = 6, .hidden = 384, .heads = 6, .vocabulary = 65, .positions = 1024 },
    gpt2_small  = { .n_layers = 12, .hidden = 768, .heads = 12, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_medium = { .n_layers = 24, .hidden = 1024, .heads = 16, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_large  = { .n_layers = 36, .hidden = 1280, .heads = 20, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt2_xl     = { .n_layers = 48, .hidden = 1600, .heads = 25, .vocabulary = 50257, .positions = 1024, .loss_tokens = 128, .dropout = 0.1 },
    gpt3_2_7b   = { .n_layers = 32, .hidden = 2560, .heads = 32, .vocabulary = 50257, .positions = 2048, .dropout = 0.1 },
    gpt3_175b   = { .n_layers = 96, .hidden = 12288, .heads = 96, .vocabulary = 50257, .positions = 2048, .dropout = 0.1 };

WORKLOADS(gpt2)
{
    { "gpt2-small", "gpt2", "GPT-2, 124 million parameters", "sequence", gpt2_build, &gpt2_small, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-medium", "gpt2", "GPT-2, 355 million parameters", "sequence", gpt2_build, &gpt2_medium, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-large", "gpt2", "GPT-2, 774 million parameters", "sequence", gpt2_build, &gpt2_large, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-xl", "gpt2", "GPT-2, 1558 million parameters", "sequence", gpt2_build, &gpt2_xl, 1024, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt2-tiny", "gpt2", "GPT-2 of characters, 11 million parameters", "sequence", gpt2_build, &gpt2_tiny, 256, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt3-2.7b", "gpt2", "GPT-3, 2.65 billion parameters", "sequence", gpt2_build, &gpt3_2_7b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { "gpt3-175b", "gpt2", "GPT-3, 175 billion parameters", "sequence", gpt2_build, &gpt3_175b, 2048, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | GENERATES | CUTS_LOSS },
    { 0 }
};
