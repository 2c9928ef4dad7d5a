/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bert.c - BERT: embeddings, encoder layers, and the heads of pre-training or of question answering.
 *
 * Devlin et al. 2018 (arXiv 1810.04805). Pre-training predicts the masked tokens, through a projection that shares
 * the word embedding's table, and whether the second sentence follows the first. Packed sequences (Krell et al.
 * 2021, arXiv 2107.02027) share one row of tokens; a mask keeps their attention apart, and the whole row is
 * computed. Question answering (mode infer, or fine_tuning) scores each token as start and end of the answer.
 * An encoder layer is two placeable halves: attention, and feed-forward.
 */
#include "workloads/models/builders.h"

static const double hidden_dropout = 0.1, attention_dropout = 0.1;

/* The number of tokens to predict in a row: 15 % of its length, the limit of the published data sets. */
static uint64_t masked_tokens(uint64_t length)
{
    switch (length) {
    case 384: return 56;
    case 512: return 76;
    default:  return ceil_div(length * 15, 100);
    }
}

struct bert {
    struct builder *b;
    const struct bert_config *c;
    uint64_t length, sequences;
    uint32_t word_table, mask;
};

/* Packs need a mask of [time, time]; other rows only mask their padding. The mask is made on the chip, from a number for each token that says
 * which sequence of the pack it belongs to. The numbers are an input like the tokens: a row has eight inputs, 8.8 KB (MLPerf Training v2.0,
 * Graphcore bert/popart/bert_data/packed_pretraining_dataset.py). */
static uint32_t attention_mask(struct bert *m)
{
    uint64_t rows = m->sequences > 1 ? m->length : 1;
    if (m->sequences > 1) {
        uint32_t numbers = build_input(m->b, "sequence-numbers", TYPE_INT32, DIMS(m->b->batch, m->length));
        graph_op(m->b->g, OP_CAST, &numbers, 1, (struct op_attributes){ .to_type = m->b->type });
    }
    return graph_tensor(m->b->g, "mask", ROLE_STATE, m->b->type, DIMS(m->b->batch, 1, rows, m->length));
}

static uint32_t word_embedding(struct bert *m, uint32_t tokens)
{
    uint64_t vocabulary = m->b->o->vocabulary ? m->b->o->vocabulary : m->c->vocabulary;
    m->word_table = build_weight(m->b, "word-embeddings", DIMS(vocabulary, m->c->hidden));
    struct op_attributes at = { .serial_steps = (uint32_t)m->b->o->embedding_serial_steps };
    return graph_op(m->b->g, OP_GATHER, (uint32_t[]){ m->word_table, tokens }, 2, at);
}

static uint32_t embeddings(struct bert *m)
{
    struct builder *b = m->b;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, m->length));
    uint32_t positions = build_input(b, "positions", TYPE_INT32, DIMS(b->batch, m->length));
    uint32_t types = build_input(b, "types", TYPE_INT32, DIMS(b->batch, m->length));
    uint32_t x = word_embedding(m, tokens);
    uint32_t position_table = build_weight(b, "position-embeddings", DIMS(m->c->positions, m->c->hidden));
    x = build_op2(b, OP_ADD, x, build_gather(b, position_table, positions));
    x = build_op2(b, OP_ADD, x, build_gather(b, build_weight(b, "type-embeddings", DIMS(2, m->c->hidden)), types));
    m->mask = attention_mask(m);
    return build_dropout(b, build_layer_norm(b, x), hidden_dropout);
}

static uint32_t encoder_layer(struct bert *m, uint32_t x, uint32_t i)
{
    struct builder *b = m->b;
    struct attention at = { .heads = m->c->heads, .mask = m->mask, .dropout = b->o->attention_dropout ? attention_dropout : 0, .split_qkv = b->o->split_qkv,
                            .joins_weights = !b->o->unfused_attention, .divides = b->o->unfused_attention };
    at.split_qkv |= b->o->unfused_attention;
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "encoder%u/attention", i));
    uint32_t y = build_dropout(b, build_attention(b, x, &at), hidden_dropout);
    x = build_layer_norm(b, build_op2(b, OP_ADD, y, x));
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "encoder%u/feed-forward", i));
    y = build_dropout(b, build_feed_forward(b, x, m->c->inner, OP_GELU, 0), hidden_dropout);
    return build_layer_norm(b, build_op2(b, OP_ADD, y, x));
}

static void masked_token_head(struct bert *m, uint32_t x)
{
    struct builder *b = m->b;
    uint64_t n = masked_tokens(m->length);
    build_layer(b, LAYER_LAST, 0, 0, 1, "mlm-head");
    uint32_t at = build_input(b, "masked-positions", TYPE_INT32, DIMS(b->batch, n));
    x = build_dense(b, build_gather(b, x, at), m->c->hidden, true);
    x = build_layer_norm(b, build_op1(b, OP_GELU, x));
    struct op_attributes tied = { .transpose_b = true, .serial_steps = (uint32_t)b->o->embedding_serial_steps };
    x = build_bias(b, graph_op(b->g, OP_MATMUL, (uint32_t[]){ x, m->word_table }, 2, tied));
    build_classes(b, x, DIMS(b->batch, n));
}

static void next_sentence_head(struct bert *m, uint32_t x)
{
    struct builder *b = m->b;
    build_layer(b, LAYER_LAST, 0, 0, 1, "nsp-head");
    uint32_t at = build_input(b, "sequence-starts", TYPE_INT32, DIMS(b->batch, m->sequences));
    x = build_op1(b, OP_TANH, build_dense(b, build_gather(b, x, at), m->c->hidden, true));
    build_classes(b, build_dense(b, x, 2, true), DIMS(b->batch, m->sequences));
}

/* In training, the loss takes the positions of a row as classes, once for the start of the answer and once for its end. */
static void answer_head(struct bert *m, uint32_t x)
{
    struct builder *b = m->b;
    build_layer(b, LAYER_LAST, 0, 0, 1, "answer-head");
    x = build_dense(b, x, 2, true);
    if (!b->training)
        return;
    struct op_attributes ends_first = { .view = { b->batch, m->length, 2 }, .order = { 0, 2, 1 } };
    build_classes(b, graph_op(b->g, OP_TRANSPOSE, &x, 1, ends_first), DIMS(b->batch, 2));
}

bool bert_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    struct bert m = { .b = b, .c = w->config, .length = w->default_sequence_length, .sequences = 1 };
    if (o->sequence_length)
        m.length = o->sequence_length;
    if (o->sequences_per_pack > 1)
        m.sequences = (uint64_t)ceil(o->sequences_per_pack);
    if (m.length > m.c->positions)
        return fail(err, "%s: sequence_length %u is more than the %u positions of %s; take a shorter one",
                    o->where, (unsigned)m.length, (unsigned)m.c->positions, w->name);
    uint32_t x = embeddings(&m);
    for (uint32_t i = 0; i < m.c->n_layers; i++)
        x = encoder_layer(&m, x, i);
    if (o->fine_tuning || (o->inference && !o->keeps_training_heads))      /* the evaluation of a training run keeps the heads of pre-training */
        answer_head(&m, x);
    else {
        masked_token_head(&m, x);
        next_sentence_head(&m, x);
    }
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct bert_config
    bert_tiny  = { .n_layers = 2, .hidden = 128, .heads = 2, .inner = 512, .vocabulary = 30522, .positions = 512 },     /* Turc et al. 2019, arXiv 1908.08962 */
    bert_base  = { .n_layers = 12, .hidden = 768, .heads = 12, .inner = 3072, .vocabulary = 30522, .positions = 512 },
    bert_large = { .n_layers = 24, .hidden = 1024, .heads = 16, .inner = 4096, .vocabulary = 30522, .positions = 512 };

WORKLOADS(bert)
{
    { "bert-tiny", "bert", "BERT Tiny: 2 layers of 128", "sequence", bert_build, &bert_tiny, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_PACKS },
    { "bert-base", "bert", "BERT Base: 12 layers of 768", "sequence", bert_build, &bert_base, 512, NULL, TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_PACKS },
    { "bert-large", "bert", "BERT Large: 24 layers of 1024", "sequence", bert_build, &bert_large, 512, "bert", TAKES_SEQUENCES | HAS_TABLE | HAS_ATTENTION | HAS_PACKS },
    { 0 }
};
