/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * knowledge.c - embeddings of knowledge graphs: TransE (Bordes et al. 2013), RotatE (arXiv 1902.10197), ComplEx (arXiv 1606.06357).
 *
 * As two published programs train them, with the rows of the entities spread over shards (BESS): graphcore-research/bess-kge at 1fedeac, and for the
 * form that PyTorch's own operations score, gradient-ai/Graphcore-Pytorch, distributed-kge. A micro-batch has triples of head, relation and tail, and negative
 * entities from each shard. Heads are looked up where their triple is; tails and negatives come in an all-to-all.
 *     score   - sum |h + r - t|     - sum |h rotated by r - t|     sum of h r conj(t)
 * A sampled softmax over the triple's own tail and all negatives is the loss; or log-sigmoids of both scores, negatives weighed by their softmax,
 * through which no gradient goes (besskge/loss.py, detach()). Its last sum over the triples is taken here as a loss over two classes.
 */
#include "workloads/models/builders.h"

enum score { SCORE_TRANSE, SCORE_ROTATE, SCORE_COMPLEX };

/* shared: all triples have the same negatives, to which each adds the other triples' tails; both_ends: negatives replace the heads of one half of the
 * triples, and the tails of the other half; by_operations: distances are differences of expanded tensors in fp32, not an operator of their own. */
struct knowledge_config { enum score score; uint64_t entities, relations, width, negatives; bool shared, both_ends, by_operations; };

struct triples { struct builder *b; const struct knowledge_config *c; uint64_t n, n_shards, width, n_negatives; uint32_t relations, which; };   /* `which` has the index of each triple's relation */

/* In what follows, an operand that makes operations is computed before the call if the call has two such operands, because compilers evaluate
 * arguments in different orders. */

static uint32_t mapped(struct builder *b, enum op_function f, uint32_t x) { return graph_op(b->g, OP_MAP, &x, 1, (struct op_attributes){ .function = f }); }

static uint32_t difference(struct builder *b, uint32_t x, uint32_t y)
{
    return graph_op(b->g, OP_COMBINE, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .function = FUNCTION_SUBTRACT });
}

static uint32_t range(struct builder *b, uint32_t x, uint32_t axis, uint64_t begin, uint64_t length)
{
    if (begin == 0 && length == build_dim(b, x, axis))
        return x;
    return graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = axis, .begin = begin, .length = length });
}

static uint32_t joined(struct builder *b, uint32_t x, uint32_t y, uint32_t axis)
{
    return graph_op(b->g, OP_CONCAT, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .axis = axis });
}

static uint32_t as_type(struct builder *b, uint32_t x, enum data_type type)
{
    return b->g->tensors[x].type == type ? x : graph_op(b->g, OP_CAST, &x, 1, (struct op_attributes){ .to_type = type });
}

/* [rows, width] to [rows, 1] */
static uint32_t row_sums(struct builder *b, uint32_t x)
{
    uint64_t rows = build_dim(b, x, 0), width = build_width(b, x);
    x = build_reshape(b, x, DIMS(rows, width, 1, 1));
    x = graph_op(b->g, OP_AVERAGE_POOL, &x, 1, (struct op_attributes){ .kernel_h = (uint32_t)width, .kernel_w = 1, .stride = 1 });
    return build_reshape(b, build_scale(b, x, (double)width), DIMS(rows, 1));
}

/* [rows, 2 e] times [rows, 2 e] in complex numbers, real parts first; conjugate: times the conjugate of y. */
static uint32_t complex_product(struct builder *b, uint32_t x, uint32_t y, bool conjugate)
{
    uint64_t e = build_width(b, x) / 2;
    uint32_t xr = range(b, x, 1, 0, e), xi = range(b, x, 1, e, e), yr = range(b, y, 1, 0, e), yi = range(b, y, 1, e, e);
    uint32_t both_imaginary = build_op2(b, OP_MUL, xi, yi), both_real = build_op2(b, OP_MUL, xr, yr);
    uint32_t real_part = conjugate ? build_op2(b, OP_ADD, both_real, both_imaginary) : difference(b, both_real, both_imaginary);
    uint32_t x_imaginary = build_op2(b, OP_MUL, xi, yr), y_imaginary = build_op2(b, OP_MUL, xr, yi);
    return joined(b, real_part, conjugate ? difference(b, x_imaginary, y_imaginary) : build_op2(b, OP_ADD, y_imaginary, x_imaginary), 1);
}

/* Rotation by angles: sine and cosine in fp16 always (besskge/utils.py). */
static uint32_t turned_by(struct builder *b, uint32_t x, uint32_t angle)
{
    enum data_type type = b->g->tensors[angle].type;
    uint32_t narrow = as_type(b, angle, TYPE_FP16);
    uint32_t sine = as_type(b, mapped(b, FUNCTION_SIN, narrow), type), cosine = as_type(b, mapped(b, FUNCTION_COS, narrow), type);
    return complex_product(b, x, joined(b, cosine, sine, 1), false);
}

/* One end of a triple with the relation applied, to be compared with the other end. back: `end` is the tail, and the relation is applied in the
 * opposite direction; ComplEx multiplies the tail by the conjugate of the relation. */
static uint32_t translated(const struct triples *t, uint32_t end, uint32_t relation, bool back)
{
    struct builder *b = t->b;
    if (t->c->score == SCORE_TRANSE)
        return back ? difference(b, end, relation) : build_op2(b, OP_ADD, end, relation);
    if (t->c->score == SCORE_ROTATE)
        return turned_by(b, end, back ? mapped(b, FUNCTION_NEGATE, relation) : relation);
    return complex_product(b, end, relation, back);
}

static uint32_t own_scores(const struct triples *t, uint32_t x, uint32_t y)
{
    struct builder *b = t->b;
    if (t->c->score == SCORE_COMPLEX)
        return row_sums(b, build_op2(b, OP_MUL, x, y));
    return mapped(b, FUNCTION_NEGATE, row_sums(b, mapped(b, FUNCTION_ABS, difference(b, x, y))));
}

/* [a, width], [c, width] to [a, c], by differences of expanded tensors. */
static uint32_t expanded_distances(struct builder *b, uint32_t x, uint32_t y)
{
    uint64_t rows = build_dim(b, x, 0), others = build_dim(b, y, 0), width = build_width(b, x);
    x = build_reshape(b, x, DIMS(rows, 1, width));
    x = graph_op(b->g, OP_EXPAND, &x, 1, (struct op_attributes){ .view = { rows, others, width } });
    x = mapped(b, FUNCTION_ABS, difference(b, x, build_reshape(b, y, DIMS(1, others, width))));
    return build_reshape(b, row_sums(b, build_reshape(b, x, DIMS(rows * others, width))), DIMS(rows, others));
}

static uint32_t scores_of_all(const struct triples *t, uint32_t x, uint32_t others)
{
    struct builder *b = t->b;
    if (t->c->score == SCORE_COMPLEX)
        return graph_op(b->g, OP_MATMUL, (uint32_t[]){ x, others }, 2, (struct op_attributes){ .transpose_b = true });
    return mapped(b, FUNCTION_NEGATE, t->c->by_operations ? expanded_distances(b, x, others) : build_op2(b, OP_DISTANCE, x, others));
}

/* 1 for each score of a triple with its own entity, else 0. The program computes these in each step: places are constants, but PopART does not compare
 * constants ahead (graphcore/popart d2f20d78, willow/src/ces/constexpr.cpp:186). */
static uint32_t meets_own(struct builder *b, uint32_t scores)
{
    uint64_t rows = build_dim(b, scores, 0), columns = build_width(b, scores);
    uint32_t x = graph_tensor(b->g, "own-places", ROLE_STATE, TYPE_INT32, 2, (uint64_t[]){ rows, 1 });
    uint32_t y = graph_tensor(b->g, "places", ROLE_STATE, TYPE_INT32, 2, (uint64_t[]){ 1, columns });
    x = graph_op(b->g, OP_EXPAND, &x, 1, (struct op_attributes){ .view = { rows, columns } });
    return graph_op(b->g, OP_COMBINE, (uint32_t[]){ x, y }, 2, (struct op_attributes){ .function = FUNCTION_EQUAL });
}

/* The triple's own entity does not count among its negatives: a large negative number is added to its score. */
static uint32_t without_own(struct builder *b, uint32_t scores)
{
    return build_op2(b, OP_ADD, scores, build_scale(b, as_type(b, meets_own(b, scores), b->g->tensors[scores].type), -50000));
}

static uint32_t shifted(struct builder *b, uint32_t x, double by)
{
    return graph_op(b->g, OP_MAP, &x, 1, (struct op_attributes){ .function = FUNCTION_ADD, .low = by });
}

/* The relations of n triples from `begin` on. The program looks them up anew for each score (besskge/scoring.py). */
static uint32_t relation_of(const struct triples *t, uint64_t begin, uint64_t n)
{
    uint32_t x = build_gather(t->b, t->relations, range(t->b, t->which, 0, begin, n));
    return t->c->by_operations ? as_type(t->b, x, TYPE_FP32) : x;
}

/* ---- losses ---------------------------------------------------------------------------------------------------------- */

/* Makes a triple's own entity the first class, so that labels are constants of the program (besskge/loss.py:236-246) and are not sent by the host. */
static void own_is_first(const struct triples *t, uint32_t scores)
{
    if (t->b->training)
        build_op2(t->b, OP_CROSS_ENTROPY, scores, graph_tensor(t->b->g, "own-classes", ROLE_STATE, TYPE_INT32, 1, &t->n));
    else
        build_op1(t->b, OP_SOFTMAX, scores);
}

/* The drawn entities stand for all, so the logarithm of their number is added to each score but that of the triple's own entity. If `own` is NO_ID, that
 * entity is one of the columns of scores, and operations of PyTorch find it (kge_training.py). */
static void softmax_loss(const struct triples *t, uint32_t own, uint32_t scores)
{
    struct builder *b = t->b;
    double addend = log((double)t->c->entities);
    scores = as_type(b, scores, TYPE_FP32);
    if (own == NO_ID) {
        uint32_t others = as_type(b, shifted(b, meets_own(b, scores), -1), TYPE_FP32);
        own_is_first(t, build_op2(b, OP_ADD, scores, build_scale(b, others, -addend)));
    } else {
        own_is_first(t, joined(b, as_type(b, own, TYPE_FP32), shifted(b, scores, addend), 1));
    }
}

static uint32_t log_sigmoid(struct builder *b, uint32_t x, double margin)
{
    return mapped(b, FUNCTION_LOG, build_op1(b, OP_SIGMOID, shifted(b, x, margin)));
}

static void sigmoid_loss(const struct triples *t, uint32_t own, uint32_t negatives)
{
    struct builder *b = t->b;
    own = as_type(b, own, TYPE_FP32);
    negatives = as_type(b, negatives, TYPE_FP32);
    uint32_t others = log_sigmoid(b, mapped(b, FUNCTION_NEGATE, negatives), -12), scaled = build_scale(b, negatives, 1);
    uint32_t weights = graph_op(b->g, OP_SOFTMAX, &scaled, 1, (struct op_attributes){ .detached = true });
    uint32_t weighed = row_sums(b, build_op2(b, OP_MUL, weights, others)), first = log_sigmoid(b, own, 12);
    own_is_first(t, joined(b, first, weighed, 1));
}

/* ---- the program ------------------------------------------------------------------------------------------------------- */

static uint32_t entity_table(struct triples *t)
{
    uint64_t entities = t->b->o->vocabulary ? t->b->o->vocabulary : t->c->entities;
    uint32_t table = build_weight(t->b, "entities", DIMS(ceil_div(entities, t->n_shards), t->width));
    t->b->g->tensors[table].sharded = t->n_shards > 1;
    return table;
}

/* Looks up rows of other shards: tails, then negatives, in n_shards pieces. */
static uint32_t moved(struct triples *t, uint32_t x) { return t->n_shards > 1 ? build_op1(t->b, OP_ALL_TO_ALL, x) : x; }

static void score_both_ends(struct triples *t, uint32_t head, uint32_t tail, uint32_t negatives, uint32_t own)
{
    struct builder *b = t->b;
    uint64_t half = t->n / 2, n = build_dim(b, negatives, 0) / 2;
    if (half == 0) {                    /* a single triple has its tail replaced */
        sigmoid_loss(t, own, scores_of_all(t, translated(t, head, relation_of(t, 0, t->n), false), negatives));
        return;
    }
    uint32_t relation = relation_of(t, 0, half), first = translated(t, range(b, tail, 0, 0, half), relation, true);
    relation = relation_of(t, half, half);
    uint32_t second = translated(t, range(b, head, 0, half, half), relation, false);
    uint32_t of_second = scores_of_all(t, second, range(b, negatives, 0, n, n)), of_first = scores_of_all(t, first, range(b, negatives, 0, 0, n));
    sigmoid_loss(t, own, joined(b, of_first, of_second, 0));
}

static void score_tails(struct triples *t, uint32_t head, uint32_t tail, uint32_t negatives)
{
    struct builder *b = t->b;
    uint32_t x = translated(t, head, relation_of(t, 0, t->n), false);
    if (t->c->by_operations) {          /* the triple's own tail is one of the classes */
        softmax_loss(t, NO_ID, scores_of_all(t, x, joined(b, tail, negatives, 0)));
        return;
    }
    uint32_t others = without_own(b, scores_of_all(t, x, joined(b, tail, negatives, 0)));
    softmax_loss(t, own_scores(t, translated(t, head, relation_of(t, 0, t->n), false), tail), others);
}

static bool sizes_fit(const struct triples *t, const char *model, struct err *err)
{
    const char *where = t->b->o->where;
    if (t->n % t->n_shards)
        return fail(err, "%s: parallel.micro_batch: %s deals its triples out to %ju shards evenly; want a multiple of that, not %ju", where, model, (uintmax_t)t->n_shards, (uintmax_t)t->n);
    if (t->c->both_ends && t->n > 1 && t->n % 2)
        return fail(err, "%s: parallel.micro_batch: %s replaces the heads of one half of its triples and the tails of the other; want an even number of triples, not %ju", where, model, (uintmax_t)t->n);
    if (t->c->score != SCORE_TRANSE && t->width % 2)
        return fail(err, "%s: data.embedding_size: a row of %s has the real parts of complex numbers, then as many imaginary parts; want an even number, not %ju", where, model, (uintmax_t)t->width);
    return true;
}

static bool knowledge_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct knowledge_config *c = w->config;
    const struct model_options *o = b->o;
    struct triples t = { b, c, b->batch, max_u64(1, o->n_shards), o->embedding_size ? o->embedding_size : c->width, 0, 0, 0 };
    uint64_t each = o->negatives ? o->negatives : c->negatives;
    t.n_negatives = t.n_shards * each * (c->shared ? 1 : t.n);
    if (!sizes_fit(&t, w->name, err))
        return false;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "entities");
    uint32_t table = entity_table(&t), indices = build_input(b, "entity", TYPE_INT32, DIMS(2 * t.n + t.n_negatives));
    uint32_t all = build_gather(b, table, indices), head = range(b, all, 0, 0, t.n), others = moved(&t, range(b, all, 0, t.n, t.n + t.n_negatives));
    build_layer(b, LAYER_BODY, 0, 0, 1, "relations");
    uint64_t relation_width = c->score == SCORE_ROTATE ? t.width / 2 : t.width;
    t.which = build_input(b, "relation", TYPE_INT32, DIMS(t.n));
    t.relations = build_weight(b, "relations", DIMS(c->relations, relation_width));
    build_layer(b, LAYER_LAST, 0, 0, 1, "scores");
    if (c->by_operations) {
        head = as_type(b, head, TYPE_FP32);
        others = as_type(b, others, TYPE_FP32);
    }
    uint32_t tail = range(b, others, 0, 0, t.n), negatives = range(b, others, 0, t.n, t.n_negatives);
    if (c->both_ends)
        score_both_ends(&t, head, tail, negatives, own_scores(&t, translated(&t, head, relation_of(&t, 0, t.n), false), tail));
    else
        score_tails(&t, head, tail, negatives);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

static const struct knowledge_config transe = { SCORE_TRANSE, 2500604, 535, 100, 32, true, false, false };
static const struct knowledge_config transe_pytorch = { SCORE_TRANSE, 2500604, 535, 100, 64, true, false, true };
static const struct knowledge_config rotate = { SCORE_ROTATE, 93773, 51, 128, 1, false, true, false };
static const struct knowledge_config complex_numbers = { SCORE_COMPLEX, 123182, 37, 256, 1, false, true, false };

WORKLOADS(knowledge)
{
    { "transe", "knowledge graph", "TransE of ogbl-wikikg2, sampled softmax", "triple", knowledge_build, &transe, 0, NULL, HAS_TABLE | HAS_ROW_WIDTH | HAS_NEGATIVES },
    { "transe-pytorch", "knowledge graph", "the same, distances by PyTorch's operations in fp32", "triple", knowledge_build, &transe_pytorch, 0, NULL, HAS_TABLE | HAS_ROW_WIDTH | HAS_NEGATIVES },
    { "rotate", "knowledge graph", "RotatE of ogbl-biokg", "triple", knowledge_build, &rotate, 0, NULL, HAS_TABLE | HAS_ROW_WIDTH | HAS_NEGATIVES },
    { "complex", "knowledge graph", "ComplEx of YAGO3-10", "triple", knowledge_build, &complex_numbers, 0, NULL, HAS_TABLE | HAS_ROW_WIDTH | HAS_NEGATIVES },
    { 0 }
};
