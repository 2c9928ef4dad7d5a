/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_attention.c - Attention and RotaryEmbedding (opset 23) as the operations that graph compilers make of them.
 *
 * Attention is softmax(cap(scale Q K^T + mask)) V by head. Query heads that share a key's head are rows of one product, so that keys and values
 * are not copied. Inputs of three dimensions [batch, sequence, heads x width] are brought into heads and back by transpositions.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_shapes.h"
#include <math.h>

/* Sizes of a node: heads of queries and of keys; tokens of queries, given keys, cached keys; widths of keys and values. */
struct attention_sizes { uint64_t batch, heads, key_heads, queries, keys, past, width, value_width; };

/* Batch, heads, sequence and width of Q, K or V, in three or four dimensions. */
static bool heads_of(uint64_t out[4], const struct onnx_value *v, uint64_t heads)
{
    if (!v || (v->n_dims != 4 && (v->n_dims != 3 || !heads || v->dims[2] % heads)))
        return false;
    bool split = v->n_dims == 4;
    out[0] = v->dims[0];
    out[1] = split ? v->dims[1] : heads;
    out[2] = split ? v->dims[2] : v->dims[1];
    out[3] = split ? v->dims[3] : v->dims[2] / heads;
    return true;
}

static bool sizes_of(struct attention_sizes *out, const struct onnx_model *m, const struct onnx_node *n)
{
    uint64_t q[4], k[4], v[4], heads = (uint64_t)onnx_int(n, "q_num_heads", 0), key_heads = (uint64_t)onnx_int(n, "kv_num_heads", 0);
    const struct onnx_value *past = onnx_in(m, n, 4);
    if (!heads_of(q, onnx_in(m, n, 0), heads) || !heads_of(k, onnx_in(m, n, 1), key_heads) || !heads_of(v, onnx_in(m, n, 2), key_heads))
        return false;
    *out = (struct attention_sizes){ q[0], q[1], k[1], q[2], k[2], past && past->n_dims == 4 ? past->dims[2] : 0, q[3], v[3] };
    return k[0] == q[0] && v[0] == q[0] && v[1] == k[1] && v[2] == k[2] && k[3] == q[3] && k[1] && q[1] % k[1] == 0;
}

/* The shapes of the outputs: Y as Q; keys and values with the cached ones before them; the scores. */
bool infer_attention(const struct inference *s)
{
    struct attention_sizes z;
    if (!sizes_of(&z, s->m, s->n))
        return REFUSE(s, "its queries, keys and values do not fit each other%s", infer_batch_hint(s));
    uint64_t all = z.past + z.keys;
    bool flat = s->x->n_dims == 3;
    return (flat ? infer_set(s, 0, 3, (uint64_t[]){ z.batch, z.queries, z.heads * z.value_width }, s->x->type)
                 : infer_set(s, 0, 4, (uint64_t[]){ z.batch, z.heads, z.queries, z.value_width }, s->x->type)) &&
           infer_set(s, 1, 4, (uint64_t[]){ z.batch, z.key_heads, all, z.width }, s->x->type) &&
           infer_set(s, 2, 4, (uint64_t[]){ z.batch, z.key_heads, all, z.value_width }, s->x->type) &&
           infer_set(s, 3, 4, (uint64_t[]){ z.batch, z.heads, z.queries, all }, s->x->type);
}

/* Input i as [batch, heads, sequence, width], after what is cached of it in input `past`. */
static uint32_t in_heads(struct mapper *p, uint32_t i, uint64_t heads, uint32_t past)
{
    const struct onnx_value *v = map_in(p, i);
    uint32_t x = map_as_plain(p, map_in_id(p, i));
    if (x != NO_ID && v->n_dims == 3)
        x = map_emit1(p, OP_TRANSPOSE, x, WITH(.view = { v->dims[0], v->dims[1], heads, v->dims[2] / heads }, .order = { 0, 2, 1, 3 }));
    if (x == NO_ID || past == 0 || map_in_id(p, past) == NO_ID)
        return x;
    uint32_t before = map_as_plain(p, map_in_id(p, past));
    return map_emit(p, OP_CONCAT, (uint32_t[]){ before, x }, 2, WITH(.axis = 2));
}

/* Keys after the query's own place are left out; cached ones come before it. */
static uint32_t causal(struct mapper *p, uint32_t scores, const struct attention_sizes *z)
{
    uint32_t ones = graph_tensor(p->g, "triangle", ROLE_STATE, TYPE_UINT8, 4, (uint64_t[]){ 1, 1, z->queries, z->past + z->keys });
    struct onnx_source *s = map_source(p, ones, ONNX_TRIANGLE, NO_ID);
    s->number = -(double)z->past;
    s->turned = true;
    return map_emit2(p, OP_SELECT, scores, ones, WITH(.rate = -INFINITY));
}

static uint32_t masked_scores(struct mapper *p, uint32_t scores)
{
    const struct onnx_value *mask = map_in(p, 3);
    uint32_t x = map_as_operand(p, map_in_id(p, 3), false, 4);
    if (x == NO_ID)
        return NO_ID;
    if (!map_fits_in(&p->g->tensors[x], &p->g->tensors[scores])) {
        MAP_REFUSE(p, "its mask does not fit its scores");
        return NO_ID;
    }
    return mask->type == ONNX_BOOL ? map_emit2(p, OP_SELECT, scores, x, WITH(.rate = -INFINITY)) : map_emit2(p, OP_ADD, scores, x, NO_ATTRIBUTES);
}

/* Output 3 may be the scores: as they are, capped, masked, or after the softmax. */
static bool scores_out(struct mapper *p, uint32_t scores, int64_t mode)
{
    return !map_is_wanted(p, 3) || onnx_int(p->n, "qk_matmul_output_mode", 0) != mode || map_done(p, 3, scores, false);
}

bool map_attention(struct mapper *p)
{
    struct attention_sizes z;
    if (map_in(p, 6) || !sizes_of(&z, p->m, p->n))
        return MAP_REFUSE(p, "has keys of a length that depends on data; pad them and give a mask");
    uint64_t all = z.past + z.keys, rows = z.heads / z.key_heads * z.queries;
    double scale = onnx_float(p->n, "scale", 0), cap = onnx_float(p->n, "softcap", 0);
    uint32_t q = in_heads(p, 0, z.heads, 0), k = q == NO_ID ? NO_ID : in_heads(p, 1, z.key_heads, 4), v = k == NO_ID ? NO_ID : in_heads(p, 2, z.key_heads, 5);
    if (v == NO_ID || (map_is_wanted(p, 1) && !map_done(p, 1, k, false)) || (map_is_wanted(p, 2) && !map_done(p, 2, v, false)))
        return false;
    uint32_t scores = map_emit2(p, OP_MATMUL, VIEW(p, q, z.batch, z.key_heads, rows, z.width), k, WITH(.transpose_b = true));
    scores = VIEW(p, map_scaled(p, scores, scale > 0 ? scale : 1 / sqrt((double)z.width)), z.batch, z.heads, z.queries, all);
    if (!scores_out(p, scores, 0))
        return false;
    if (cap > 0)
        scores = map_scaled(p, map_emit1(p, OP_TANH, map_scaled(p, scores, 1 / cap), NO_ATTRIBUTES), cap);
    if (!scores_out(p, scores, 1))
        return false;
    scores = onnx_flag(p->n, "is_causal", false) ? causal(p, scores, &z) : scores;
    scores = map_in(p, 3) ? masked_scores(p, scores) : scores;
    if (!scores_out(p, scores, 2))
        return false;
    scores = map_emit1(p, OP_SOFTMAX, scores, NO_ATTRIBUTES);
    if (!scores_out(p, scores, 3))
        return false;
    uint32_t y = map_emit2(p, OP_MATMUL, VIEW(p, scores, z.batch, z.key_heads, rows, all), v, NO_ATTRIBUTES);
    if (map_out(p, 0) && map_out(p, 0)->n_dims == 3)
        y = map_emit1(p, OP_TRANSPOSE, y, WITH(.view = { z.batch, z.heads, z.queries, z.value_width }, .order = { 0, 2, 1, 3 }, .merge = 2));
    return map_done_as(p, "products, softmax", y, false);
}

/* ---- rotary embedding --------------------------------------------------------------------------------------------------- */

/* Cosines or sines of the angles, which are never trained: rows of a table by position, or given for each token: [batch or 1, sequence, half]. */
static uint32_t angles(struct mapper *p, uint32_t i, uint64_t batch, uint64_t sequence, uint64_t half)
{
    uint32_t x = map_as_plain(p, map_in_id(p, i)), at = map_in(p, 3) ? map_any_plain(p, map_in_id(p, 3)) : NO_ID;
    if (x == NO_ID || (map_in(p, 3) && at == NO_ID))
        return NO_ID;
    if (p->g->tensors[x].producer_op == NO_ID && p->g->tensors[x].role == ROLE_WEIGHT)
        p->g->tensors[x].role = ROLE_STATE;
    if (at != NO_ID)
        x = map_emit2(p, OP_GATHER, x, VIEW(p, at, batch * sequence), NO_ATTRIBUTES);
    if (tensor_elements(&p->g->tensors[x]) != batch * sequence * half) {
        MAP_REFUSE(p, "its angles are not %ju of each token", (uintmax_t)half);
        return NO_ID;
    }
    return VIEW(p, x, batch, sequence, half);
}

/* Pairs of elements, of two halves or of neighbours, are turned by the token's angles; what follows the first rotary_embedding_dim elements
 * stays. */
bool map_rotary_embedding(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    uint64_t heads = (uint64_t)onnx_int(p->n, "num_heads", 0), d[4];
    if (!heads_of(d, v, heads))
        return MAP_REFUSE(p, "wants three dimensions and num_heads, or four");
    uint64_t turned = (uint64_t)onnx_int(p->n, "rotary_embedding_dim", 0), width = d[3];
    turned = turned ? turned : width;
    if (turned % 2 || turned > width)
        return MAP_REFUSE(p, "turns %ju of %ju elements", (uintmax_t)turned, (uintmax_t)width);
    uint32_t x = map_as_plain(p, map_in_id(p, 0)), cosine = x == NO_ID ? NO_ID : angles(p, 1, d[0], d[2], turned / 2);
    uint32_t sine = cosine == NO_ID ? NO_ID : angles(p, 2, d[0], d[2], turned / 2);
    struct op_attributes at = { .groups = v->n_dims == 3 ? (uint32_t)heads : 1, .length = turned, .neighbours = onnx_flag(p->n, "interleaved", false) };
    return sine != NO_ID && map_done(p, 0, map_emit(p, OP_ROTARY, (uint32_t[]){ x, cosine, sine }, 3, at), false);
}
