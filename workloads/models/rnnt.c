/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rnnt.c - recurrent neural network transducers for speech.
 *
 * Graves 2012 (arXiv 1211.3711), sized as the MLPerf reference: 80 log-mel filters, three frames of 10 ms stacked
 * to 240 features every 30 ms; encoder of 2 LSTM layers, time stacked by 2, 3 more; prediction network of an
 * embedding and 2 LSTM layers; joint network relu(enc + pred) over every pair of time step and label.
 * Compiled shapes are static: every utterance of a batch is padded to the longest.
 *
 * transformer-transducer keeps predictor and joint; its encoder is of transformer layers (Zhang et al. 2020, arXiv
 * 2002.02562), with a convolution over time in each. The open MLPerf v2.0 entry gives layers, widths, heads, kernel
 * and subsampling, but neither the place of the convolution nor the width of the feed-forward product. A depthwise
 * convolution and four times the width are assumed: the 12 x 256 model of the same family then has 15.3 million
 * parameters, where its authors print about 14 million.
 */
#include "workloads/models/builders.h"

static const double encoder_dropout = 0.1, predictor_dropout = 0.3, joint_dropout = 0.3;

/* The longest transcript of 16.7 s (557 frames of 30 ms) that a submission with static shapes provides for: logs of
 * NVIDIA, MLPerf Training v1.0, rnnt: max_txt_len 125. */
static const double labels_per_frame = 125.0 / 557;

static uint64_t labels_of(const struct model_options *o, uint64_t frames)
{
    double labels = o->labels_per_sample > 0 ? o->labels_per_sample : labels_per_frame * (double)frames;
    return (uint64_t)(fmax(labels, 1) + 0.5);
}

static uint32_t build_lstm(struct builder *b, uint32_t x, uint64_t hidden)
{
    uint32_t w = build_weight(b, "input-kernel", DIMS(build_width(b, x), 4 * hidden));
    uint32_t r = build_weight(b, "recurrent-kernel", DIMS(hidden, 4 * hidden));
    uint32_t bias = build_weight(b, "biases", DIMS(8 * hidden));        /* one for each product, as in the reference */
    struct op_attributes at = { .hidden = (uint32_t)hidden };
    return graph_op(b->g, OP_LSTM, (uint32_t[]){ x, w, r, bias }, 4, at);
}

/* The prediction network, on the labels after a start symbol. */
static uint32_t predictor(struct builder *b, const struct joint_config *c)
{
    uint32_t labels = build_input(b, "previous-labels", TYPE_INT32, DIMS(b->batch, c->n_labels + 1));
    uint32_t table = build_weight(b, "embeddings", DIMS(c->labels, c->predictor_hidden));
    uint32_t x = build_gather(b, table, labels);
    for (uint64_t i = 0; i < c->predictor_layers; i++)
        x = build_dropout(b, build_lstm(b, x, c->predictor_hidden), predictor_dropout);
    return x;
}

/* The first slice of time; the layer repeats for the others. */
static uint32_t first_slice(struct builder *b, uint32_t x, uint64_t n_slices)
{
    if (n_slices < 2)
        return x;
    struct op_attributes at = { .axis = 1, .length = ceil_div(build_dim(b, x, 1), n_slices) };
    b->g->layers[b->g->n_layers - 1].repeats = (uint32_t)n_slices;
    return graph_op(b->g, OP_SLICE, &x, 1, at);
}

void build_joint(struct builder *b, uint32_t encoded, const struct joint_config *c)
{
    build_layer(b, LAYER_LAST, 0, 0, 1, "predictor");
    uint32_t predicted = predictor(b, c);
    encoded = build_dense(b, encoded, c->joint_hidden, true);
    predicted = build_dense(b, predicted, c->joint_hidden, true);
    build_layer(b, LAYER_LAST, 0, 0, 1, "joint");
    encoded = first_slice(b, encoded, c->n_slices);
    uint32_t x = build_op1(b, OP_RELU, build_op2(b, OP_OUTER_ADD, encoded, predicted));
    x = build_dense(b, build_dropout(b, x, joint_dropout), c->labels + 1, true);    /* and the blank */
    if (!b->training) {
        build_op1(b, OP_SOFTMAX, x);
        return;
    }
    uint32_t targets = build_input(b, "labels", TYPE_INT32, DIMS(b->batch, c->n_labels));
    graph_op(b->g, OP_TRANSDUCER_LOSS, (uint32_t[]){ x, targets }, 2, (struct op_attributes){ .labels_per_sample = (double)c->n_labels });
}

/* Frames of the longest utterance, rounded up to a multiple of the stack. */
static uint64_t frames_of(const struct workload *w, const struct model_options *o, uint64_t multiple)
{
    uint64_t n = o->sequence_length ? o->sequence_length : w->default_sequence_length;
    return ceil_div(n, multiple) * multiple;
}

/* [batch, time, width] to [batch, time / n, n width]. */
static uint32_t stack_time(struct builder *b, uint32_t x, uint64_t n)
{
    return build_view(b, x, DIMS(b->batch, build_dim(b, x, 1) / n, n * build_width(b, x)));
}

static uint32_t features(struct builder *b, uint64_t frames, uint64_t width)
{
    return build_input(b, "features", b->type, DIMS(b->batch, frames, width));
}

bool rnnt_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    const struct model_options *o = b->o;
    const struct rnnt_config *c = w->config;
    uint64_t frames = frames_of(w, o, c->time_stack);
    uint32_t x = NO_ID;
    for (uint32_t i = 0; i < c->encoder_first + c->encoder_second; i++) {
        bool first = i < c->encoder_first;
        uint32_t id = (uint32_t)(first ? i : i - c->encoder_first) + 1;
        const char *name = arena_printf(b->g->arena, "%s/lstm%u", first ? "pre-rnn" : "post-rnn", id);
        build_layer(b, i ? LAYER_BODY : LAYER_FIRST, i ? i - 1 : 0, 0, 1, name);
        if (i == 0)
            x = features(b, frames, c->features);
        else if (i == c->encoder_first)
            x = stack_time(b, x, c->time_stack);
        x = build_dropout(b, build_lstm(b, x, c->encoder_hidden), encoder_dropout);
    }
    struct joint_config joint = { c->predictor_hidden, c->predictor_layers, c->joint_hidden, c->labels, labels_of(o, frames), o->joint_slices };
    build_joint(b, x, &joint);
    return true;
}

/* ---- transformer-transducer ------------------------------------------------------------------ */

/* A depthwise convolution over time, which keeps the number of steps. */
static uint32_t time_conv(struct builder *b, uint32_t x, uint64_t kernel)
{
    uint64_t time = build_dim(b, x, 1), width = build_width(b, x);
    struct op_attributes pad = { .axis = 2, .begin = (kernel - 1) / 2, .length = time + kernel - 1 };
    struct op_attributes at = { .kernel_h = 1, .kernel_w = (uint32_t)kernel, .stride = 1, .groups = (uint32_t)width };
    x = build_view(b, x, DIMS(b->batch, 1, time, width));
    x = graph_op(b->g, OP_PAD, &x, 1, pad);
    uint32_t w = build_weight(b, "kernel", DIMS(1, kernel, 1, width));
    x = graph_op(b->g, OP_CONV, (uint32_t[]){ x, w }, 2, at);
    return build_op1(b, OP_SWISH, build_bias(b, build_view(b, x, DIMS(b->batch, time, width))));
}

static uint32_t transducer_layer(struct builder *b, uint32_t x, uint32_t i, const struct transducer_config *c)
{
    struct attention at = { .heads = c->heads, .mask = NO_ID };
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "encoder%u/attention", i));
    uint32_t y = build_dropout(b, build_attention(b, build_layer_norm(b, x), &at), encoder_dropout);
    x = build_op2(b, OP_ADD, y, x);
    y = build_dropout(b, time_conv(b, build_layer_norm(b, x), c->kernel), encoder_dropout);
    x = build_op2(b, OP_ADD, y, x);
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "encoder%u/feed-forward", i));
    y = build_feed_forward(b, build_layer_norm(b, x), c->inner, OP_SWISH);
    return build_op2(b, OP_ADD, build_dropout(b, y, encoder_dropout), x);
}

bool transducer_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    const struct model_options *o = b->o;
    const struct transducer_config *c = w->config;
    uint64_t frames = frames_of(w, o, c->subsampling);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "front-end");
    uint32_t x = stack_time(b, features(b, frames, c->features), c->subsampling);
    x = build_dropout(b, build_dense(b, x, c->hidden, true), encoder_dropout);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = transducer_layer(b, x, i, c);
    struct joint_config joint = { c->predictor_hidden, c->predictor_layers, c->joint_hidden, c->labels, labels_of(o, frames), o->joint_slices };
    build_joint(b, build_layer_norm(b, x), &joint);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

enum { LONGEST_UTTERANCE_FRAMES = 557 };        /* 16.7 s in frames of 30 ms: longer ones are left out of training */
static const struct rnnt_config rnnt = {
    .features = 240, .encoder_hidden = 1024, .encoder_first = 2, .encoder_second = 3, .time_stack = 2,
    .predictor_hidden = 512, .predictor_layers = 2, .joint_hidden = 512, .labels = 1023,
};
static const struct rnnt_config rnnt_tiny = {        /* for a vocabulary of ten words: three frames of 40 filters are stacked */
    .features = 120, .encoder_hidden = 64, .encoder_first = 1, .encoder_second = 1, .time_stack = 2,
    .predictor_hidden = 32, .predictor_layers = 1, .joint_hidden = 64, .labels = 10,
};
static const struct transducer_config transducer = {
    .n_layers = 14, .hidden = 768, .heads = 8, .inner = 4 * 768, .kernel = 16, .subsampling = 2, .features = 240,
    .predictor_hidden = 512, .predictor_layers = 2, .joint_hidden = 512, .labels = 1023,
};

WORKLOADS(rnnt)
{
    { "rnnt", "transducer", "RNN-T of the MLPerf reference: LSTM encoder", "utterance", rnnt_build, &rnnt,
      LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
    { "rnnt-tiny", "transducer", "RNN-T of 1 + 1 LSTM layers for ten words", "utterance", rnnt_build, &rnnt_tiny,
      120, NULL, TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
    { "transformer-transducer", "transducer", "RNN-T of the open MLPerf v2.0 entry: transformer encoder", "utterance",
      transducer_build, &transducer, LONGEST_UTTERANCE_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
    { 0 }
};
