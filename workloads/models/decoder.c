/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decoder.c - models that predict the next token: GPT-2 and GPT-3, GPT-J, Llama 2, Bloom. A table says what their published programs do differently.
 *
 * A mask of -10000 is added to the scores of later tokens, as the vendor's program subtracts it (examples v3.3.0
 * nlp/gpt2/pytorch/model/optimized_gpt2_attn.py:39-40). The head scores every token, whose label is the next token; inference computes the same for the
 * whole text, or for the newest token if earlier keys and values are kept.
 */
#include "workloads/models/builders.h"

static const double attention_dropout = 0.1;

static const struct decoder_kind {
    bool rms;                           /* RMS norms; else layer norms */
    bool gated;                         /* the feed-forward part has three products, joined by SwiGLU; else two, with GELU */
    bool parallel;                      /* one norm serves attention and feed-forward part, which are added to the input together */
    bool unbiased;                      /* attention's products have no biases */
    bool rotary, neighbours;            /* positions turn queries and keys, element by element or in pairs of neighbours */
    bool linear_biases;                 /* each head adds its slope times the key's position to the scores */
    bool embedding_norm;
    bool own_head, head_bias;           /* own_head: the head is a matrix of its own, and does not share the word table; head_bias: it has a bias */
    bool drops;                         /* attention_dropout applies */
} kinds[] = {
    [DECODER_GPT2]  = { .drops = true },
    [DECODER_GPTJ]  = { .parallel = true, .unbiased = true, .rotary = true, .neighbours = true, .own_head = true, .head_bias = true },
    [DECODER_LLAMA] = { .rms = true, .gated = true, .unbiased = true, .rotary = true, .own_head = true },
    [DECODER_BLOOM] = { .linear_biases = true, .embedding_norm = true },
};

static uint32_t decoder_norm(struct builder *b, uint32_t x, const struct decoder_config *c)
{
    return kinds[c->kind].rms ? build_rms_norm(b, x, c->epsilon) : build_layer_norm(b, x);
}

static uint32_t parallel_block(struct builder *b, uint32_t x, const struct decoder_config *c, const struct attention *at, uint64_t inner, uint32_t i)
{
    build_layer(b, LAYER_BODY, i, 0, 1, arena_printf(b->g->arena, "decoder%u", i));
    uint32_t normal = decoder_norm(b, x, c), y = build_attention(b, normal, at);
    y = build_op2(b, OP_ADD, y, build_feed_forward(b, normal, inner, OP_GELU, 0));
    return build_op2(b, OP_ADD, y, x);
}

static uint32_t gated_block(struct builder *b, uint32_t x, const struct decoder_config *c, const struct attention *at, uint64_t inner, uint32_t i)
{
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "decoder%u/attention", i));
    x = build_op2(b, OP_ADD, build_attention(b, decoder_norm(b, x, c), at), x);
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "decoder%u/feed-forward", i));
    return build_op2(b, OP_ADD, build_gated_feed_forward(b, decoder_norm(b, x, c), inner, OP_SWISH, false), x);
}

static uint32_t causal_block(struct builder *b, uint32_t x, const struct decoder_config *c, const struct attention *at, uint32_t i)
{
    uint64_t inner = c->inner ? c->inner : FEED_FORWARD * c->hidden;
    return kinds[c->kind].parallel ? parallel_block(b, x, c, at, inner, i) : kinds[c->kind].gated ? gated_block(b, x, c, at, inner, i)
         : build_block(b, x, "decoder", i, at, inner, 0, c->dropout);
}

/* The embeddings of n tokens; *table is the word table. */
static uint32_t decoder_embeddings(struct builder *b, const struct decoder_config *c, uint64_t n, uint32_t *table, struct op_attributes serial)
{
    build_layer(b, LAYER_FIRST, 0, 0, 1, "embeddings");
    uint32_t tokens = build_input(b, "tokens", TYPE_INT32, DIMS(b->batch, n)), places = c->positions ? build_input(b, "positions", TYPE_INT32, DIMS(b->batch, n)) : NO_ID;
    *table = build_weight(b, "word-embeddings", DIMS(b->o->vocabulary ? b->o->vocabulary : c->vocabulary, c->hidden));
    uint32_t x = graph_op(b->g, OP_GATHER, (uint32_t[]){ *table, tokens }, 2, serial);
    if (c->positions)
        x = build_op2(b, OP_ADD, x, build_gather(b, build_weight(b, "position-embeddings", DIMS(c->positions, c->hidden)), places));
    return kinds[c->kind].embedding_norm ? build_layer_norm(b, x) : x;
}

static struct attention decoder_attention(struct builder *b, const struct decoder_config *c, uint64_t length)
{
    const struct decoder_kind *k = &kinds[c->kind];
    struct attention at = { .heads = c->heads, .key_heads = c->key_heads, .past = build_tokens_at_once(b, length) < length ? length : 0, .unbiased = k->unbiased,
                            .dropout = k->drops && b->o->attention_dropout ? attention_dropout : 0, .split_qkv = b->o->split_qkv };
    at.mask = build_causal_mask(b, length);
    if (k->rotary)
        at.rotary = build_rotary(b, length, c->turned ? c->turned : c->hidden / c->heads, k->neighbours);
    if (k->linear_biases)
        at.biases = graph_tensor(b->g, "linear-biases", ROLE_STATE, b->type, DIMS(1, c->heads, 1, length));
    return at;
}

static uint32_t decoder_head(struct builder *b, uint32_t x, const struct decoder_config *c, uint32_t table, struct op_attributes serial)
{
    const struct decoder_kind *k = &kinds[c->kind];
    build_layer(b, LAYER_LAST, 0, 0, 1, "lm-head");
    serial.transpose_b = !k->own_head;
    x = decoder_norm(b, x, c);
    if (k->own_head)
        table = build_matrix(b, c->hidden, build_dim(b, table, 0));
    x = graph_op(b->g, OP_MATMUL, (uint32_t[]){ x, table }, 2, serial);
    return k->head_bias ? build_bias(b, x) : x;
}

/* The vendor's commands compute the loss of 128 tokens at a time (--enable-sequence-serialized; arguments.py). To compute their accuracy, they copy
 * the scores of these tokens to all tiles (train_gpt2.py:142-165, custom_ops/remap_tensor_ce.cpp). */
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

/* The number of slices whose losses the model's program computes one by one. Programs that cut the vocabulary over IPUs compute one loss of all
 * tokens (graphcore/popxl-addons 7499fca ops/cross_entropy_sharded_loss). */
static uint64_t usual_loss_slices(const struct model_options *o, const struct decoder_config *c, uint64_t n)
{
    uint32_t axes[2];
    bool is_cut = tensor_axes(axes, o->tensor_parallel) && axes[0] * axes[1] > 1;
    return !is_cut && c->loss_tokens && n % c->loss_tokens == 0 && n / c->loss_tokens <= MAX_OP_OUTPUTS ? n / c->loss_tokens : 1;
}

/* Finds the number of slices whose losses are computed one by one: that of the options, or else the usual one. False if it does not divide the text into
 * equal slices. */
static bool find_loss_slices(uint64_t *out, const struct builder *b, const struct decoder_config *c, uint64_t n, struct err *err)
{
    const struct model_options *o = b->o;
    *out = o->loss_slices ? o->loss_slices : usual_loss_slices(o, c, n);
    return n % *out == 0 || fail(err, "%s: parallel.loss_slices: %ju slices of %ju tokens are not alike; take a number that divides them", o->where,
                                 (uintmax_t)*out, (uintmax_t)n);
}

bool decoder_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct decoder_config *c = w->config;
    const struct op_attributes serial = { .serial_steps = (uint32_t)b->o->embedding_serial_steps };
    uint64_t length = build_text_length(b, w), n = build_tokens_at_once(b, length), n_slices;
    uint32_t table;
    if (c->positions && length > c->positions)
        return fail(err, "%s: sequence_length %ju is more than the %ju positions of %s; take a shorter one", b->o->where,
                    (uintmax_t)length, (uintmax_t)c->positions, w->name);
    if (!find_loss_slices(&n_slices, b, c, n, err))
        return false;
    uint32_t x = decoder_embeddings(b, c, n, &table, serial);
    const struct attention at = decoder_attention(b, c, length);
    x = build_dropout(b, x, c->dropout);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = causal_block(b, x, c, &at, i);
    x = decoder_head(b, x, c, table, serial);
    if (b->training && n_slices > 1)
        build_loss_in_slices(b, x, n, n_slices);
    else
        build_next_tokens(b, x);
    return true;
}
