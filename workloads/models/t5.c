/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t5.c - Flan-T5: Chung et al. 2022 (arXiv 2210.11416), whose sizes and parts are those of T5 1.1: Raffel et al. 2019 (arXiv 1910.10683).
 *
 * An encoder reads the input; each decoder block attends to the tokens before, and to the encoder's result. Norms are RMS norms, come first and
 * have no bias, like all products. Scores are not scaled; each layer adds a bias that it looks up for each pair of positions in a table that all
 * layers of a side share. The feed-forward part is gated by GELU, with both factors from one product (graphcore/examples 3cc8f81
 * nlp/t5/popxl/modelling). Encoder and decoder share the word table; the head is a matrix of its own. Both attentions are the first half of a block.
 *
 * PopXL programs have one form of block for both sides (modelling/encoder_decoder.py): an encoder block computes the cross-attention as well, with
 * weights of its own, with a second operand that comes from memory as the decoder's does, here the decoder's tokens, and multiplies its result by zero (uniform_blocks).
 * Left out: the masks, which programs make anew in each layer from the tokens' lengths, are states here.
 */
#include "workloads/models/builders.h"

static const double epsilon = 1e-6;
/* The parts that all blocks of the encoder, or of the decoder, share. other: the second operand of cross-attention; NO_ID: there is none. */
struct t5_side { struct builder *b; const struct t5_config *c; uint32_t table, buckets; struct attention own, cross; uint32_t other; bool is_decoder; };

static struct t5_side start_side(struct builder *b, const struct t5_config *c, bool decoder, uint64_t length)
{
    struct t5_side s = { b, c, build_weight(b, "position-biases", DIMS(N_POSITION_BUCKETS, c->heads)), 0, { 0 }, { 0 }, NO_ID, decoder };
    s.buckets = graph_tensor(b->g, decoder ? "position-buckets-causal" : "position-buckets", ROLE_STATE, TYPE_INT32, DIMS(length, length));
    s.own = (struct attention){ .heads = c->heads, .unbiased = true, .unscaled = true, .split_qkv = b->o->split_qkv };
    s.own.mask = decoder ? graph_tensor(b->g, "causal-mask", ROLE_STATE, b->type, DIMS(1, 1, length, length))
                         : graph_tensor(b->g, "mask", ROLE_STATE, b->type, DIMS(b->batch, 1, 1, length));
    s.cross = s.own;
    s.cross.key_heads = c->heads;
    return s;
}

/* [1, heads, time, time] */
static uint32_t position_biases(const struct t5_side *s)
{
    uint64_t length = build_width(s->b, s->buckets);
    uint32_t x = build_gather(s->b, s->table, s->buckets);
    x = graph_op(s->b->g, OP_TRANSPOSE, &x, 1, (struct op_attributes){ .order = { 2, 0, 1 } });
    return build_reshape(s->b, x, DIMS(1, s->c->heads, length, length));
}

static uint32_t cross_attention(const struct t5_side *s, uint32_t x)
{
    uint32_t y = build_cross_attention(s->b, build_rms_norm(s->b, x, epsilon), s->other, &s->cross);
    if (s->b->o->uniform_blocks)
        y = build_scale(s->b, y, s->is_decoder);
    return build_op2(s->b, OP_ADD, y, x);
}

static uint32_t t5_block(struct t5_side *s, uint32_t x, const char *name, uint32_t i, uint32_t first_block)
{
    struct builder *b = s->b;
    build_layer(b, LAYER_BODY, first_block + i, 0, 2, arena_printf(b->g->arena, "%s%u/attention", name, i));
    s->own.biases = position_biases(s);
    x = build_op2(b, OP_ADD, build_attention(b, build_rms_norm(b, x, epsilon), &s->own), x);
    if (s->other != NO_ID)
        x = cross_attention(s, x);
    build_layer(b, LAYER_BODY, first_block + i, 1, 2, arena_printf(b->g->arena, "%s%u/feed-forward", name, i));
    return build_op2(b, OP_ADD, build_gated_feed_forward(b, build_rms_norm(b, x, epsilon), s->c->inner, OP_GELU, true), x);
}

static uint32_t t5_blocks(struct t5_side *s, uint32_t x, const char *name, uint32_t first_block)
{
    for (uint32_t i = 0; i < s->c->n_layers; i++)
        x = t5_block(s, x, name, i, first_block);
    return x;
}

static uint32_t looked_up(struct builder *b, uint32_t table, const char *tokens, uint64_t length, struct op_attributes serial)
{
    uint32_t two[] = { table, build_input(b, tokens, TYPE_INT32, DIMS(b->batch, length)) };
    return graph_op(b->g, OP_GATHER, two, 2, serial);
}

bool t5_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct t5_config *c = w->config;
    uint64_t length = build_text_length(b, w);
    uint64_t vocabulary = o->vocabulary ? o->vocabulary : c->vocabulary;
    struct op_attributes serial = { .serial_steps = (uint32_t)o->embedding_serial_steps };
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t table = build_weight(b, "word-embeddings", DIMS(vocabulary, c->hidden));
    uint32_t x = looked_up(b, table, "tokens", length, serial), y = looked_up(b, table, "decoder-tokens", length, serial);
    struct t5_side encoder = start_side(b, c, false, length), decoder = start_side(b, c, true, length);
    decoder.cross.mask = encoder.cross.mask = encoder.own.mask;
    encoder.other = o->uniform_blocks ? y : NO_ID;
    x = t5_blocks(&encoder, x, "encoder", 0);
    decoder.other = build_rms_norm(b, x, epsilon);
    y = t5_blocks(&decoder, y, "decoder", (uint32_t)c->n_layers);
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    uint32_t two[] = { build_rms_norm(b, y, epsilon), build_matrix(b, c->hidden, vocabulary) };
    build_next_tokens(b, graph_op(b->g, OP_MATMUL, two, 2, serial));
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct t5_config
    flan_base  = { .n_layers = 12, .hidden = 768, .heads = 12, .inner = 2048, .vocabulary = 32128 },
    flan_large = { .n_layers = 24, .hidden = 1024, .heads = 16, .inner = 2816, .vocabulary = 32128 },
    flan_xl    = { .n_layers = 24, .hidden = 2048, .heads = 32, .inner = 5120, .vocabulary = 32128 },
    flan_xxl   = { .n_layers = 24, .hidden = 4096, .heads = 64, .inner = 10240, .vocabulary = 32128 };

WORKLOADS(t5)
{
    { "flan-t5-base", "t5", "Flan-T5 Base, 248 million parameters", "sequence", t5_build, &flan_base, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | HAS_TWO_SIDES },
    { "flan-t5-large", "t5", "Flan-T5 Large, 783 million parameters", "sequence", t5_build, &flan_large, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | HAS_TWO_SIDES },
    { "flan-t5-xl", "t5", "Flan-T5 XL, 2.85 billion parameters", "sequence", t5_build, &flan_xl, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | HAS_TWO_SIDES },
    { "flan-t5-xxl", "t5", "Flan-T5 XXL, 11.1 billion parameters", "sequence", t5_build, &flan_xxl, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_NO_DROPOUT | GENERATES | HAS_TWO_SIDES },
    { 0 }
};
