/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conformer.c - speech recognition by a conformer with its decoder: Gulati et al. 2020 (arXiv 2005.08100), as WeNet
 * trains it.
 *
 * 80 log-mel features every 10 ms; two 3x3 convolutions of stride 2 leave a step every 40 ms. A block is half a
 * feed-forward product, attention with relative positions, a depthwise convolution over time between two products (the
 * first gated), and the other half, as the vendor's program has it (graphcore/examples v3.2.0 speech/conformer/pytorch; line by line in
 * docs/maintainers/models-by-source.md): scores past an utterance's end are multiplied and added to, shares multiplied
 * again, keys and values share their weights. The encoder's steps are trained by connectionist temporal
 * classification (CTC), and a transformer decoder on the transcript. The classification's sum over alignments is
 * priced as the cross-entropy of its steps: the sum itself has steps x labels cells, a hundredth of the softmax before
 * it. Dropout is 0.1 throughout, as in WeNet's configuration for AISHELL-1. The paper's own sizes are transducers: the
 * same encoder, with a predictor and a joint network as in rnnt.c instead of the decoder.
 */
#include "workloads/models/builders.h"
#include <math.h>

static const double dropout = 0.1;

/* The program shifts and scales each feature in halves (src/global_cmvn.py:61-62). Its cast to floats and back, some 1,000 cycles, is left out. */
static uint32_t shifted_and_scaled(struct builder *b, uint32_t x, const struct conformer_config *c)
{
    static const char *const statistics[] = { "feature-means", "feature-factors" };
    static const enum op_kind kinds[] = { OP_ADD, OP_MUL };
    for (int i = 0; i < 2; i++)
        x = build_op2(b, kinds[i], x, graph_tensor(b->g, statistics[i], ROLE_STATE, b->type, DIMS(1, 1, c->features)));
    return x;
}

/* [batch, frames, features] to [batch, steps, hidden]. */
static uint32_t front_end(struct builder *b, uint64_t frames, const struct conformer_config *c)
{
    uint32_t x = build_input(b, "features", b->type, DIMS(b->batch, frames, c->features));
    x = c->predictor ? x : shifted_and_scaled(b, x, c);
    x = build_reshape(b, x, DIMS(b->batch, frames, c->features, 1));
    for (int i = 0; i < 2; i++) {
        struct conv_spec halve = { .kernel = 3, .stride = 2, .channels = c->hidden, .unpadded = true };
        x = build_op1(b, OP_RELU, build_bias(b, build_conv(b, x, halve)));
    }
    x = build_reshape(b, x, DIMS(b->batch, build_dim(b, x, 1), build_dim(b, x, 2) * c->hidden));
    return build_dropout(b, build_scale(b, build_dense(b, x, c->hidden, true), sqrt((double)c->hidden)), dropout);
}

/* x sigmoid(x) as two operations: no pattern of PopART joins them. */
static uint32_t swish(struct builder *b, uint32_t x) { return build_op2(b, OP_MUL, x, build_op1(b, OP_SIGMOID, x)); }

/* Copies every element into the default layout of a tensor of this size, as the program's custom operation does forward and backward. */
static uint32_t remapped(struct builder *b, uint32_t x) { return build_view(b, x, DIMS(b->batch, build_dim(b, x, 1), build_width(b, x))); }

/* The vendor's layers drop out in place (nn.Dropout(inplace=True): encoder_layer.py:86, positionwise_feed_forward.py:35). */
static uint32_t dropped(struct builder *b, uint32_t x, const struct conformer_config *c)
{
    return c->predictor ? build_dropout(b, x, dropout) : build_dropout_in_place(b, x, dropout);
}

static uint32_t half_feed_forward(struct builder *b, uint32_t x, const struct conformer_config *c)
{
    uint32_t y = dropped(b, swish(b, build_dense(b, build_layer_norm(b, x), c->inner, true)), c);
    y = dropped(b, build_dense(b, y, c->hidden, true), c);
    return build_op2(b, OP_ADD, build_scale(b, y, 0.5), x);
}

/* The program's convolutions have no biases and a layer norm; the paper's have both biases and a batch norm. */
static uint32_t convolution(struct builder *b, uint32_t x, const struct conformer_config *c)
{
    uint64_t time = build_dim(b, x, 1);
    bool of_paper = c->predictor;
    uint32_t y = build_dense(b, build_layer_norm(b, x), 2 * c->hidden, of_paper);
    uint32_t half = graph_op(b->g, OP_SLICE, &y, 1, (struct op_attributes){ .axis = 2, .pieces = 2 });
    y = build_op2(b, OP_MUL, half, build_op1(b, OP_SIGMOID, half + 1));
    y = build_time_conv(b, y, c->kernel);
    y = of_paper ? build_norm(b, build_bias(b, build_reshape(b, y, DIMS(b->batch, time, 1, c->hidden)))) : build_layer_norm(b, y);
    y = build_dense(b, swish(b, build_reshape(b, y, DIMS(b->batch, time, c->hidden))), c->hidden, of_paper);
    return build_op2(b, OP_ADD, build_scale(b, dropped(b, y, c), 1), x);
}

/* Masks of the steps past an utterance's end: a factor and an addend of the scores. */
struct masks { uint32_t factor, addend; };

static struct attention masked(const struct conformer_config *c, const struct masks *m)
{
    return (struct attention){ .heads = c->heads, .factor = m->factor, .mask = m->addend, .split_qkv = true, .shares_key = !c->predictor, .divides = true };
}

static uint32_t encoder_block(struct builder *b, uint32_t x, const struct conformer_config *c, uint32_t positions, const struct masks *m, uint32_t i)
{
    struct attention at = masked(c, m);
    at.positions = positions;
    build_layer(b, LAYER_BODY, i, 0, 1, arena_printf(b->g->arena, "encoder%u", i));
    x = half_feed_forward(b, remapped(b, x), c);
    uint32_t y = dropped(b, build_attention(b, build_layer_norm(b, x), &at), c);
    x = convolution(b, build_op2(b, OP_ADD, build_scale(b, y, 1), x), c);
    return remapped(b, build_layer_norm(b, half_feed_forward(b, x, c)));
}

static uint32_t decoder_block(struct builder *b, uint32_t x, uint32_t encoded, const struct masks *later, const struct conformer_config *c,
                              const struct masks *m, uint32_t i)
{
    struct attention own = masked(c, later), cross = masked(c, m);
    build_layer(b, LAYER_LAST, 0, 0, 1, arena_printf(b->g->arena, "decoder%u", i));
    uint32_t y = build_attention(b, build_layer_norm(b, x), &own);
    x = remapped(b, build_op2(b, OP_ADD, build_dropout(b, y, dropout), x));         /* decoder_layer.py:119, 144 */
    y = build_cross_attention(b, build_layer_norm(b, x), encoded, &cross);
    x = build_op2(b, OP_ADD, build_dropout(b, y, dropout), x);
    y = build_op1(b, OP_RELU, build_dense(b, build_layer_norm(b, x), c->inner, true));
    y = build_dense(b, dropped(b, y, c), c->hidden, true);
    return remapped(b, build_op2(b, OP_ADD, build_dropout(b, y, dropout), x));
}

static struct masks masks_of(struct builder *b, const char *factor, const char *addend, uint64_t batch, uint64_t rows, uint64_t columns)
{
    return (struct masks){ graph_tensor(b->g, factor, ROLE_STATE, b->type, DIMS(batch, 1, rows, columns)),
                           graph_tensor(b->g, addend, ROLE_STATE, b->type, DIMS(batch, 1, rows, columns)) };
}

static void decoder(struct builder *b, uint32_t encoded, const struct conformer_config *c, const struct masks *m, uint64_t labels)
{
    build_layer(b, LAYER_LAST, 0, 0, 1, "transcript");
    uint64_t length = labels + 1;               /* the labels and a start or end mark */
    uint32_t tokens = build_input(b, "transcript", TYPE_INT32, DIMS(b->batch, length));
    uint32_t x = build_gather(b, build_weight(b, "embeddings", DIMS(c->vocabulary, c->hidden)), tokens);
    uint32_t positions = graph_tensor(b->g, "transcript-positions", ROLE_STATE, b->type, DIMS(1, length, c->hidden));
    x = build_dropout(b, build_op2(b, OP_ADD, build_scale(b, x, sqrt((double)c->hidden)), positions), dropout);
    struct masks later = masks_of(b, "causal-factor", "causal-mask", 1, length, length);
    for (uint32_t i = 0; i < c->n_decoder; i++)
        x = decoder_block(b, x, encoded, &later, c, m, i);
    build_layer(b, LAYER_LAST, 0, 0, 1, "attention-head");
    build_classes(b, build_dense(b, build_layer_norm(b, x), c->vocabulary, true), DIMS(b->batch, length));
}

bool conformer_build(struct builder *b, const struct workload *w, struct err *err)
{
    const struct model_options *o = b->o;
    const struct conformer_config *c = w->config;
    uint64_t frames = o->sequence_length ? o->sequence_length : w->default_sequence_length;
    if (frames < 7)
        return fail(err, "%s: sequence_length: %ju frames, want at least 7: two convolutions of stride 2", o->where, (uintmax_t)frames);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "front-end");
    uint32_t x = front_end(b, frames, c);
    uint32_t positions = graph_tensor(b->g, "positions", ROLE_STATE, b->type, DIMS(build_dim(b, x, 1), c->hidden));
    uint64_t steps = build_dim(b, x, 1);
    struct masks m = masks_of(b, "score-factor", "score-mask", b->batch, 1, steps);
    for (uint32_t i = 0; i < c->n_encoder; i++)
        x = encoder_block(b, x, c, positions, &m, i);
    uint64_t labels = o->labels_per_sample > 0 ? (uint64_t)o->labels_per_sample : c->labels;
    if (c->predictor) {
        build_joint(b, x, &(struct joint_config){ c->predictor, 1, c->predictor, c->vocabulary, labels, o->joint_slices });
        return true;
    }
    build_layer(b, LAYER_LAST, 0, 0, 1, "alignment-head");
    x = build_layer_norm(b, x);
    build_classes(b, build_dense(b, x, c->vocabulary, true), DIMS(b->batch, build_dim(b, x, 1)));
    decoder(b, x, c, &m, labels);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* WeNet's medium size on AISHELL-1: utterances of up to 12.2 s; transcripts are filled up to 48 tokens with their start (train.yaml:29). */
static const struct conformer_config conformer_medium = { .n_encoder = 12, .n_decoder = 6, .hidden = 256, .heads = 4, .inner = 2048, .kernel = 15,
                                                          .features = 80, .vocabulary = 4233, .labels = 47 };
enum { LONGEST_AISHELL_FRAMES = 1220, LONGEST_LIBRISPEECH_FRAMES = 1670 };

/* Gulati et al. 2020, table 1: 10.3, 30.7 and 118.8 million parameters, a window of 32 steps (31 here: as many on both
 * sides), 1,000 word pieces. Utterances and labels are those of MLPerf's RNN-T, on the same data. The paper does not
 * give the width of the joint network. It is assumed to be that of the predictor, which gives 10.3, 32.4 and 120.2. */
#define OF_PAPER(name, n, width, n_heads, lstm) \
    static const struct conformer_config name = { .n_encoder = n, .hidden = width, .heads = n_heads, .inner = 4 * width, .kernel = 31, \
                                                  .features = 80, .vocabulary = 1023, .labels = 125, .predictor = lstm }
OF_PAPER(paper_s, 16, 144, 4, 320);
OF_PAPER(paper_m, 16, 256, 4, 640);
OF_PAPER(paper_l, 17, 512, 8, 640);
#undef OF_PAPER

WORKLOADS(conformer)
{
    { "conformer-medium", "conformer", "WeNet's conformer with its decoder", "utterance", conformer_build, &conformer_medium, LONGEST_AISHELL_FRAMES,
      NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS },
    { "conformer-transducer-s", "conformer", "the paper's conformer, 10 million parameters", "utterance", conformer_build, &paper_s,
      LONGEST_LIBRISPEECH_FRAMES, NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT | HAS_NORMS },
    { "conformer-transducer-m", "conformer", "the paper's conformer, 31 million parameters", "utterance", conformer_build, &paper_m,
      LONGEST_LIBRISPEECH_FRAMES, NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT | HAS_NORMS },
    { "conformer-transducer-l", "conformer", "the paper's conformer, 119 million parameters", "utterance", conformer_build, &paper_l,
      LONGEST_LIBRISPEECH_FRAMES, NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT | HAS_NORMS },
    { 0 }
};
