/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builders.c - short forms of graph operations that the model families share, and building blocks of networks for
 * images.
 *
 * Attention as in Vaswani et al. 2017: softmax(Q K^T / sqrt(d) + mask) V, with the copies that bring each head's
 * values together before and after. With fp8, only factors are fp8: inputs (cast from fp16) and weights of
 * convolutions and dense layers of the body. Results and all else stay fp16, as in PopRT (first convolution and last
 * matmul in fp16, a cast before each convolution); PopLibs has no other arithmetic on quarters. Inference folds each
 * batch norm into the convolution before it, as exporters do, which leaves a bias.
 */
#include "workloads/models/builders.h"

struct builder builder_start(struct graph *g, const char *name, const struct model_options *o, struct arena *a)
{
    enum data_type type = o->compute == COMPUTE_FP32 ? TYPE_FP32 : TYPE_FP16;
    struct builder b = { .g = g, .o = o, .type = type, .product_type = o->compute == COMPUTE_FP8 ? TYPE_FP8 : type, .training = !o->inference,
                         .batch = o->micro_batch };
    graph_start(g, name, b.batch, a);
    return b;
}

uint32_t build_layer(struct builder *b, enum layer_role role, uint32_t block_id, uint32_t part_id, uint32_t n_parts,
                     const char *name)
{
    return graph_layer(b->g, (struct layer){ .name = name, .role = role, .block_id = block_id,
                                             .part_id = part_id, .n_parts = n_parts });
}

uint32_t build_weight(struct builder *b, const char *name, size_t n_dims, const uint64_t *dims)
{
    return graph_tensor(b->g, name, ROLE_WEIGHT, b->type, (uint32_t)n_dims, dims);
}

uint32_t build_input(struct builder *b, const char *name, enum data_type type, size_t n_dims, const uint64_t *dims)
{
    return graph_tensor(b->g, name, ROLE_INPUT, type, (uint32_t)n_dims, dims);
}

uint32_t build_op1(struct builder *b, enum op_kind kind, uint32_t x)
{
    return graph_op(b->g, kind, &x, 1, (struct op_attributes){ 0 });
}

uint32_t build_op2(struct builder *b, enum op_kind kind, uint32_t x, uint32_t y)
{
    return graph_op(b->g, kind, (uint32_t[]){ x, y }, 2, (struct op_attributes){ 0 });
}

uint64_t build_dim(const struct builder *b, uint32_t x, uint32_t i)
{
    assert(i < b->g->tensors[x].n_dims);
    return b->g->tensors[x].dims[i];
}

uint64_t build_width(const struct builder *b, uint32_t x)
{
    return build_dim(b, x, b->g->tensors[x].n_dims - 1);
}

static enum data_type factor_type(const struct builder *b)
{
    return b->o->all_products_fp8 || b->g->layers[b->g->n_layers - 1].role == LAYER_BODY ? b->product_type : b->type;
}

uint32_t build_factor(struct builder *b, uint32_t x)
{
    struct graph *g = b->g;
    enum data_type type = factor_type(b);
    if (g->tensors[x].type == type)
        return x;
    for (size_t i = g->n_ops; i-- && g->ops[i].layer_id == g->n_layers - 1; )       /* one cast serves all readers */
        if (g->ops[i].kind == OP_CAST && g->ops[i].inputs[0] == x)
            return g->ops[i].outputs[0];
    return graph_op(g, OP_CAST, &x, 1, (struct op_attributes){ .to_type = type });
}

uint32_t build_product_weight(struct builder *b, size_t n_dims, const uint64_t *dims)
{
    return graph_tensor(b->g, "kernel", ROLE_WEIGHT, factor_type(b), (uint32_t)n_dims, dims);
}

uint32_t build_bias(struct builder *b, uint32_t x)
{
    return build_op2(b, OP_BIAS_ADD, x, build_weight(b, "bias", DIMS(build_width(b, x))));
}

uint32_t build_matrix(struct builder *b, uint64_t rows, uint64_t columns)
{
    if (!b->o->generation.weight_bits)
        return build_product_weight(b, DIMS(rows, columns));
    uint32_t packed = graph_tensor(b->g, "kernel", ROLE_WEIGHT, TYPE_INT4, 2, (uint64_t[]){ rows, columns });
    return graph_op(b->g, OP_CAST, &packed, 1, (struct op_attributes){ .to_type = b->type });
}

uint32_t build_dense(struct builder *b, uint32_t x, uint64_t width, bool bias)
{
    uint32_t y = build_op2(b, OP_MATMUL, build_factor(b, x), build_matrix(b, build_width(b, x), width));
    return bias ? build_bias(b, y) : y;
}

uint32_t build_layer_norm(struct builder *b, uint32_t x)
{
    uint64_t n = build_width(b, x);
    uint32_t gamma = build_weight(b, "gamma", DIMS(n)), beta = build_weight(b, "beta", DIMS(n));
    return graph_op(b->g, OP_LAYER_NORM, (uint32_t[]){ x, gamma, beta }, 3, (struct op_attributes){ 0 });
}

uint32_t build_rms_norm(struct builder *b, uint32_t x, double epsilon)
{
    uint32_t two[] = { x, build_weight(b, "gamma", DIMS(build_width(b, x))) };
    return graph_op(b->g, OP_RMS_NORM, two, 2, (struct op_attributes){ .epsilon = epsilon });
}

uint32_t build_dropout(struct builder *b, uint32_t x, double rate)
{
    if (!b->training || rate <= 0)
        return x;
    return graph_op(b->g, OP_DROPOUT, &x, 1, (struct op_attributes){ .rate = rate });
}

uint32_t build_dropout_in_place(struct builder *b, uint32_t x, double rate)
{
    if (!b->training || rate <= 0)
        return x;
    return build_op2(b, OP_MUL, x, graph_op(b->g, OP_NOISE, &x, 1, (struct op_attributes){ .rate = rate }));
}

uint32_t build_gather(struct builder *b, uint32_t table, uint32_t indices)
{
    return build_op2(b, OP_GATHER, table, indices);
}

uint32_t build_view(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims)
{
    struct op_attributes at = { 0 };
    assert(n_dims <= MAX_DIMS);
    for (uint32_t i = 0; i < n_dims; i++) {
        at.view[i] = dims[i];
        at.order[i] = i;
    }
    return graph_op(b->g, OP_TRANSPOSE, &x, 1, at);
}

uint32_t build_reshape(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims)
{
    struct op_attributes at = { 0 };
    assert(n_dims <= MAX_DIMS);
    for (uint32_t i = 0; i < n_dims; i++)
        at.view[i] = dims[i];
    return graph_op(b->g, OP_VIEW, &x, 1, at);
}

uint64_t build_text_length(const struct builder *b, const struct workload *w)
{
    return b->o->sequence_length ? b->o->sequence_length : w->default_sequence_length;
}

uint64_t build_tokens_at_once(const struct builder *b, uint64_t length)
{
    return b->o->generation.new_tokens && b->o->generation.cache != CACHE_NONE ? 1 : length;
}

uint32_t build_causal_mask(struct builder *b, uint64_t length)
{
    uint64_t n = build_tokens_at_once(b, length);
    return graph_tensor(b->g, n < length ? "newest-mask" : "causal-mask", ROLE_STATE, b->type, DIMS(1, 1, n, length));
}

/* Adds the choice of the next token. A host that chooses gets the scores as they are; a device that chooses takes the largest score (graphcore/examples 3cc8f81 nlp/llama/popxl/modelling/llama_lm.py,
 * nlp/gpt_j/popxl/modelling/gptj_lm.py: scores of all tokens are computed, and those of the last one picked). */
void build_next_tokens(struct builder *b, uint32_t scores)
{
    uint64_t n = build_dim(b, scores, 1);
    if (!b->o->generation.new_tokens) {
        build_classes(b, scores, DIMS(b->batch, n));
        return;
    }
    if (n > 1)
        scores = build_gather(b, scores, build_input(b, "last-token", TYPE_INT32, DIMS(b->batch, 1)));
    if (b->o->generation.choice == CHOICE_BY_DEVICE)
        build_op1(b, OP_ARG_MAX, scores);
}

uint32_t build_classes(struct builder *b, uint32_t scores, size_t n_dims, const uint64_t *label_dims)
{
    if (!b->training)
        return build_op1(b, OP_SOFTMAX, scores);
    uint32_t labels = build_input(b, "labels", TYPE_INT32, n_dims, label_dims);
    return build_op2(b, OP_CROSS_ENTROPY, scores, labels);
}

/* ---- attention --------------------------------------------------------------------------- */

uint32_t build_to_heads(struct builder *b, uint32_t x, uint64_t heads)
{
    uint64_t batch = build_dim(b, x, 0), time = build_dim(b, x, 1), width = build_width(b, x);
    assert(width % heads == 0);
    struct op_attributes at = { .view = { batch, time, heads, width / heads }, .order = { 0, 2, 1, 3 } };
    return graph_op(b->g, OP_TRANSPOSE, &x, 1, at);
}

uint32_t build_from_heads(struct builder *b, uint32_t x)
{
    struct op_attributes at = { .order = { 0, 2, 1, 3 }, .merge = 2 };
    return graph_op(b->g, OP_TRANSPOSE, &x, 1, at);
}

/* Three products, two of which may share their weights. */
static void separate_query_key_value(struct builder *b, uint32_t x, const struct attention *at, uint32_t out[3])
{
    uint64_t width = build_width(b, x);
    out[0] = build_dense(b, x, width, !at->unbiased);
    uint32_t w = NO_ID, bias = NO_ID;
    for (int i = 1; i < 3; i++) {
        if (i == 1 || !at->shares_key) {
            w = build_product_weight(b, DIMS(width, width));
            bias = at->unbiased ? NO_ID : build_weight(b, "bias", DIMS(width));
        }
        out[i] = build_op2(b, OP_MATMUL, build_factor(b, x), w);
        out[i] = at->unbiased ? out[i] : build_op2(b, OP_BIAS_ADD, out[i], bias);
    }
}

/* One product whose result is cut into equal pieces; each may have a weight of its own, joined for the product. */
static void joined_product(struct builder *b, uint32_t x, uint64_t width, uint32_t n, bool bias, bool own_weights, uint32_t *out)
{
    uint32_t w = own_weights ? build_product_weight(b, DIMS(build_width(b, x), n * width)) : build_matrix(b, build_width(b, x), n * width);
    b->g->tensors[w].n_joined = own_weights ? n : 0;
    uint32_t all = build_op2(b, OP_MATMUL, build_factor(b, x), w);
    all = bias ? build_bias(b, all) : all;
    out[0] = graph_op(b->g, OP_SLICE, &all, 1, (struct op_attributes){ .axis = 2, .pieces = n });
    for (uint32_t i = 1; i < n; i++)
        out[i] = out[0] + i;
}

/* Queries of x; keys and values of another sequence, or of x itself. */
static void query_and_others(struct builder *b, uint32_t x, uint32_t other, const struct attention *at, uint32_t out[3])
{
    uint64_t width = build_width(b, x);
    uint64_t key_width = width / at->heads * at->key_heads;
    out[0] = build_dense(b, x, width, !at->unbiased);
    for (int i = 1; i < 3 && at->split_qkv; i++)
        out[i] = build_dense(b, other, key_width, !at->unbiased);
    if (!at->split_qkv)
        joined_product(b, other, key_width, 2, !at->unbiased, false, out + 1);
}

static void query_key_value(struct builder *b, uint32_t x, const struct attention *at, uint32_t out[3])
{
    if (at->key_heads)
        query_and_others(b, x, x, at, out);
    else if (at->split_qkv && !at->joins_weights)
        separate_query_key_value(b, x, at, out);
    else
        joined_product(b, x, build_width(b, x), 3, !at->unbiased, at->split_qkv, out);
}

/* A table for all tokens or, with a cache, for the newest token alone. The second has a name of its own, because only the run knows that token's
 * position. */
static uint32_t table_of_tokens(struct builder *b, const char *of_all, const char *of_newest, uint64_t length, uint64_t width)
{
    uint64_t n = build_tokens_at_once(b, length);
    return graph_tensor(b->g, n < length ? of_newest : of_all, ROLE_STATE, b->type, DIMS(1, n, width));
}

struct rotary build_rotary(struct builder *b, uint64_t length, uint64_t turned, bool neighbours)
{
    assert(turned % 2 == 0);
    return (struct rotary){ table_of_tokens(b, "rotary-cosines", "newest-cosines", length, turned / 2),
                            table_of_tokens(b, "rotary-sines", "newest-sines", length, turned / 2), neighbours };
}

/* [batch, time, heads x width], turned by the position. */
static uint32_t rotated(struct builder *b, uint32_t x, uint64_t heads, const struct rotary *r)
{
    struct op_attributes at = { .groups = (uint32_t)heads, .length = 2 * build_width(b, r->cosines), .neighbours = r->neighbours };
    return graph_op(b->g, OP_ROTARY, (uint32_t[]){ x, r->cosines, r->sines }, 3, at);
}

/* [batch, key heads, time, width], with each head repeated so that there is one for every head of the queries. */
static uint32_t repeated_heads(struct builder *b, uint32_t x, uint64_t heads)
{
    uint64_t batch = build_dim(b, x, 0), own = build_dim(b, x, 1), time = build_dim(b, x, 2), width = build_width(b, x);
    if (own == heads)
        return x;
    x = build_reshape(b, x, DIMS(batch, own, 1, time, width));
    x = graph_op(b->g, OP_EXPAND, &x, 1, (struct op_attributes){ .view = { batch, own, heads / own, time, width } });
    return build_reshape(b, x, DIMS(batch, heads, time, width));
}

/* The keys or values of all earlier tokens, followed by those of the newest token. */
static uint32_t with_past(struct builder *b, uint32_t x, const char *name, uint64_t past)
{
    const uint64_t dims[] = { build_dim(b, x, 0), build_dim(b, x, 1), past - 1, build_width(b, x) };
    if (!past)
        return x;
    uint32_t earlier = graph_tensor(b->g, name, ROLE_STATE, b->type, 4, dims), two[] = { earlier, x };
    b->g->tensors[earlier].place = b->o->generation.cache == CACHE_STREAMING ? STATE_OFF_CHIP : STATE_ON_CHIP;
    return graph_op(b->g, OP_CONCAT, two, 2, (struct op_attributes){ .axis = 2 });
}

/* Scores of relative positions are a product of their own. All samples share the positions. */
static uint32_t position_scores(struct builder *b, uint32_t query, uint32_t positions, uint64_t heads)
{
    uint64_t batch = build_dim(b, query, 0), time = build_dim(b, positions, 0), width = build_width(b, positions);
    uint32_t p = build_dense(b, positions, width, false);
    struct op_attributes by_head = { .view = { 1, time, heads, width / heads }, .order = { 0, 2, 1, 3 } };
    p = graph_op(b->g, OP_TRANSPOSE, &p, 1, by_head);
    if (batch > 1)
        p = graph_op(b->g, OP_EXPAND, &p, 1, (struct op_attributes){ .view = { batch, heads, time, width / heads } });
    return graph_op(b->g, OP_MATMUL, (uint32_t[]){ build_to_heads(b, build_bias(b, query), heads), p }, 2, (struct op_attributes){ .transpose_b = true });
}

/* softmax(Q K^T / sqrt(d) + biases + mask) V for all heads. `placed`, the biases and the mask are for these queries. */
static uint32_t attended(struct builder *b, const uint32_t qkv[3], const struct attention *at, uint32_t placed)
{
    uint32_t scores = graph_op(b->g, OP_MATMUL, qkv, 2, (struct op_attributes){ .transpose_b = true });
    if (at->positions)
        scores = build_op2(b, OP_ADD, scores, placed);
    if (!at->unscaled)
        scores = graph_op(b->g, OP_SCALE, &scores, 1, (struct op_attributes){ .rate = 1 / sqrt((double)build_width(b, qkv[0])), .divided = at->divides });
    if (at->factor)
        scores = build_op2(b, OP_MUL, scores, at->factor);
    if (at->biases)
        scores = build_op2(b, OP_ADD, scores, at->biases);
    if (at->mask != NO_ID)
        scores = build_op2(b, OP_ADD, scores, at->mask);
    uint32_t shares = build_op1(b, OP_SOFTMAX, scores);
    shares = build_dropout(b, at->factor ? build_op2(b, OP_MUL, shares, at->factor) : shares, at->dropout);
    return build_op2(b, OP_MATMUL, shares, qkv[2]);
}

/* Piece i of n along the queries. A tensor with one row for all queries is used whole for every piece. */
static uint32_t piece_of_queries(struct builder *b, uint32_t x, uint32_t i, uint32_t n, uint32_t *first)
{
    if (x == 0 || x == NO_ID || build_dim(b, x, 2) == 1)
        return x;
    if (i == 0)
        *first = graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 2, .pieces = n });
    return *first + i;
}

/* Works on the queries piece by piece, so that the scores of only one piece exist at a time. Each piece is a graph that is called, whose gradient graph calls
 * it again, besides the recomputation of the whole layer (graphcore/examples 3cc8f81 nlp/gpt_j/popxl/finetuning.py:205-222, gpt3_175B/popxl/pretraining.py:148;
 * graphcore/popxl-addons 7499fca transforms/recomputation.py). */
static uint32_t attended_in_steps(struct builder *b, const uint32_t qkv[3], const struct attention *at)
{
    uint32_t n = (uint32_t)b->o->attention_serialisation, pieces[MAX_OP_INPUTS], query, bias, mask;
    for (uint32_t i = 0; i < n; i++) {
        struct attention part = *at;
        uint32_t own[3] = { piece_of_queries(b, qkv[0], i, n, &query), qkv[1], qkv[2] };
        part.biases = piece_of_queries(b, at->biases, i, n, &bias);
        part.mask = piece_of_queries(b, at->mask, i, n, &mask);
        size_t first = b->g->n_ops;
        pieces[i] = attended(b, own, &part, 0);
        graph_mark_again(b->g, first, i + 1);
    }
    return graph_op(b->g, OP_CONCAT, pieces, n, (struct op_attributes){ .axis = 2 });
}

/* Attention by head, and the output product. With relative positions, each of the two products adds a vector of its own to the queries. */
static uint32_t attend(struct builder *b, uint32_t qkv[3], uint64_t width, const struct attention *at)
{
    uint32_t placed = at->positions ? position_scores(b, qkv[0], at->positions, at->heads) : NO_ID;
    uint64_t key_heads = at->key_heads ? at->key_heads : at->heads, time = build_dim(b, qkv[0], 1);
    if (at->positions)
        qkv[0] = build_bias(b, qkv[0]);
    for (int i = 0; i < 2 && at->rotary.cosines; i++)
        qkv[i] = rotated(b, qkv[i], i ? key_heads : at->heads, &at->rotary);
    for (int i = 0; i < 3; i++)
        qkv[i] = build_to_heads(b, qkv[i], i ? key_heads : at->heads);
    qkv[1] = with_past(b, qkv[1], "keys", at->past);
    qkv[2] = with_past(b, qkv[2], "values", at->past);
    for (int i = 1; i < 3; i++)
        qkv[i] = repeated_heads(b, qkv[i], at->heads);
    bool in_steps = b->o->attention_serialisation > 1 && time % b->o->attention_serialisation == 0;
    assert(!in_steps || (!at->positions && !at->factor));
    if (b->o->attention_serialisation > 1 && !in_steps)
        b->undivided_queries = time;
    uint32_t y = in_steps ? attended_in_steps(b, qkv, at) : attended(b, qkv, at, placed);
    return build_dense(b, build_from_heads(b, y), width, !at->unbiased);
}

uint32_t build_attention(struct builder *b, uint32_t x, const struct attention *at)
{
    uint32_t qkv[3];
    query_key_value(b, x, at, qkv);
    return attend(b, qkv, build_width(b, x), at);
}

uint32_t build_cross_attention(struct builder *b, uint32_t x, uint32_t other, const struct attention *at)
{
    uint64_t width = build_width(b, x);
    uint32_t qkv[3];
    if (at->key_heads) {
        query_and_others(b, x, other, at, qkv);
        return attend(b, qkv, width, at);
    }
    for (int i = 0; i < 3; i++)
        qkv[i] = build_dense(b, i ? other : x, width, true);
    return attend(b, qkv, width, at);
}

static uint32_t build_number(struct builder *b, const char *name, uint32_t n_dims)
{
    const uint64_t dims[MAX_DIMS] = { 1, 1, 1, 1, 1 };
    return graph_tensor(b->g, name, ROLE_STATE, b->type, n_dims, dims);
}

uint32_t build_scale(struct builder *b, uint32_t x, double by)
{
    return graph_op(b->g, OP_SCALE, &x, 1, (struct op_attributes){ .rate = by });
}

/* x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, operation by operation; the exponent of the power is a tensor (transformers'
 * NewGELUActivation). */
static uint32_t gelu_in_pieces(struct builder *b, uint32_t x)
{
    uint32_t exponent = build_number(b, "exponent-3", b->g->tensors[x].n_dims);
    uint32_t cube = graph_op(b->g, OP_COMBINE, (uint32_t[]){ x, exponent }, 2, (struct op_attributes){ .function = FUNCTION_POWER });
    uint32_t t = build_op1(b, OP_TANH, build_scale(b, build_op2(b, OP_ADD, x, build_scale(b, cube, 0.044715)), sqrt(2 / M_PI)));
    t = graph_op(b->g, OP_MAP, &t, 1, (struct op_attributes){ .function = FUNCTION_ADD, .low = 1 });
    return build_op2(b, OP_MUL, build_scale(b, x, 0.5), t);
}

uint32_t build_activation(struct builder *b, uint32_t x, enum op_kind usual)
{
    static const enum op_kind kinds[] = { [ACTIVATION_GELU] = OP_GELU, [ACTIVATION_RELU] = OP_RELU, [ACTIVATION_SWISH] = OP_SWISH };
    if (b->o->activation == ACTIVATION_GELU_NEW)
        return gelu_in_pieces(b, x);
    return build_op1(b, b->o->activation == ACTIVATION_OWN ? usual : kinds[b->o->activation], x);
}

uint32_t build_feed_forward(struct builder *b, uint32_t x, uint64_t inner, enum op_kind activation, double inner_dropout)
{
    uint64_t width = build_width(b, x);
    return build_dense(b, build_dropout(b, build_activation(b, build_dense(b, x, inner, true), activation), inner_dropout), width, true);
}

uint32_t build_gated_feed_forward(struct builder *b, uint32_t x, uint64_t inner, enum op_kind activation, bool joined)
{
    uint64_t width = build_width(b, x);
    uint32_t two[2];
    if (joined) {
        joined_product(b, x, inner, 2, false, false, two);
    } else {
        two[1] = build_dense(b, x, inner, false);
        two[0] = build_dense(b, x, inner, false);
    }
    return build_dense(b, build_op2(b, OP_MUL, build_activation(b, two[0], activation), two[1]), width, false);
}

uint32_t build_block(struct builder *b, uint32_t x, const char *name, uint32_t i, const struct attention *at, uint64_t inner, double inner_dropout,
                     double dropout)
{
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "%s%u/attention", name, i));
    uint32_t y = build_dropout(b, build_attention(b, build_layer_norm(b, x), at), dropout);
    x = build_op2(b, OP_ADD, y, x);
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "%s%u/feed-forward", name, i));
    y = build_feed_forward(b, build_layer_norm(b, x), inner, OP_GELU, inner_dropout);
    return build_op2(b, OP_ADD, build_dropout(b, y, dropout), x);
}

/* ---- networks for images: norms over a batch, perhaps of several replicas, or by sample (group norm, Wu and He 2018) ---- */

uint32_t build_conv(struct builder *b, uint32_t x, struct conv_spec c)
{
    uint32_t width = c.width ? c.width : c.kernel, pad = c.unpadded ? 0 : (c.kernel > width ? c.kernel : width) / 2;
    uint32_t stride = c.stride ? c.stride : 1, groups = c.groups ? c.groups : 1;
    struct op_attributes at = { .kernel_h = c.kernel, .kernel_w = width, .stride = stride, .pad = pad, .groups = groups };
    uint32_t w = build_product_weight(b, DIMS(c.kernel, width, build_width(b, x) / groups, c.channels));
    return graph_op(b->g, OP_CONV, (uint32_t[]){ build_factor(b, x), w }, 2, at);
}

uint32_t build_time_conv(struct builder *b, uint32_t x, uint64_t kernel)
{
    uint64_t time = build_dim(b, x, 1), width = build_width(b, x), before = (kernel - 1) / 2;
    struct op_attributes at = { .kernel_h = 1, .kernel_w = (uint32_t)kernel, .stride = 1, .groups = (uint32_t)width,
                                .zeros = { 0, (uint32_t)before, 0, (uint32_t)(kernel - 1 - before) } };
    uint32_t w = build_product_weight(b, DIMS(1, kernel, 1, width));
    x = build_reshape(b, x, DIMS(b->batch, 1, time, width));
    return build_reshape(b, graph_op(b->g, OP_CONV, (uint32_t[]){ build_factor(b, x), w }, 2, at), DIMS(b->batch, time, width));
}

uint32_t build_own_norm(struct builder *b, uint32_t x)
{
    uint64_t n = build_width(b, x), groups = b->o->norm_groups;
    if (!groups && !b->training)            /* known statistics: a factor and an addend for each channel */
        return build_bias(b, build_op2(b, OP_MUL, x, build_weight(b, "factor", DIMS(1, 1, 1, n))));
    uint32_t gamma = build_weight(b, "gamma", DIMS(n)), beta = build_weight(b, "beta", DIMS(n));
    if (groups) {
        struct op_attributes at = { .norm_groups = (uint32_t)(n % groups ? 1 : groups), .stable = b->o->stable_norm };
        return graph_op(b->g, OP_GROUP_NORM, (uint32_t[]){ x, gamma, beta }, 3, at);
    }
    graph_tensor(b->g, "moving-mean", ROLE_STATE, b->type, DIMS(n));
    graph_tensor(b->g, "moving-variance", ROLE_STATE, b->type, DIMS(n));
    struct op_attributes at = { .norm_groups = (uint32_t)b->o->batch_norm_span, .stable = b->o->stable_norm };
    return graph_op(b->g, OP_BATCH_NORM, (uint32_t[]){ x, gamma, beta }, 3, at);
}

uint32_t build_norm(struct builder *b, uint32_t x)
{
    bool by_group = b->o->norm_groups;
    return b->training || by_group ? build_own_norm(b, x) : build_bias(b, x);
}

uint32_t build_conv_norm(struct builder *b, uint32_t x, struct conv_spec c)
{
    return build_norm(b, build_conv(b, x, c));
}

uint32_t build_pool(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    struct op_attributes at = { .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = pad };
    return graph_op(b->g, kind, &x, 1, at);
}

uint64_t build_side(const struct builder *b, uint32_t x)
{
    const struct tensor *t = &b->g->tensors[x];
    assert(t->n_dims == 4 && t->dims[1] == t->dims[2]);
    return t->dims[1];
}

uint32_t build_global_pool(struct builder *b, uint32_t x)
{
    return build_pool(b, OP_AVERAGE_POOL, x, (uint32_t)build_side(b, x), 1, 0);
}

uint32_t build_images(struct builder *b, uint64_t size, uint64_t channels)
{
    const enum data_type types[] = { [INPUT_OWN] = TYPE_UINT8, [INPUT_UINT8] = TYPE_UINT8, [INPUT_FP16] = b->type, [INPUT_FP32] = TYPE_FP32 };
    const enum data_type sent = types[b->o->input_type];
    size = b->o->image_size ? b->o->image_size : size;
    uint32_t x = build_input(b, "images", sent, DIMS(b->batch, size, size, channels));
    if (sent == b->type)
        return x;
    if (sent == TYPE_FP32)
        return graph_op(b->g, OP_CAST, &x, 1, (struct op_attributes){ .to_type = b->type });
    return graph_op(b->g, OP_INPUT_PREPARE, &x, 1, (struct op_attributes){ .to_type = b->type });
}

void build_image_head(struct builder *b, uint32_t x, uint64_t classes, double dropout)
{
    x = build_dropout(b, build_global_pool(b, x), dropout);
    build_classes(b, build_dense(b, x, classes, true), DIMS(b->batch));
}

bool tensor_axes(uint32_t axes[2], const char *text)
{
    axes[0] = axes[1] = 1;
    for (int i = 0; i < 2 && text; i++) {
        char *end;
        unsigned long n = strtoul(text, &end, 10);
        if (end == text || *text < '0' || *text > '9' || n < 1 || n > MOST_AXIS_IPUS || (*end && (*end != 'x' || i == 1)))
            return false;
        axes[i] = (uint32_t)n;
        text = *end ? end + 1 : NULL;
    }
    return true;
}
