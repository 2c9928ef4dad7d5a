/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rnnt.c - recurrent neural network transducers for speech.
 *
 * Graves 2012 (arXiv 1211.3711), sized as the MLPerf reference. Input: 80 log-mel filters, three frames of 10 ms stacked
 * to 240 features every 30 ms. Encoder: 2 LSTM layers, then time stacked by 2, then 3 LSTM layers. Prediction network:
 * an embedding and 2 LSTM layers. Joint network: relu(enc + pred) over every pair of time step and label.
 * Compiled shapes are static: every utterance of a batch is padded to the longest.
 *
 * transformer-transducer has the same prediction and joint networks, and an encoder of transformer layers (Zhang et al.
 * 2020, arXiv 2002.02562). It is built as the open MLPerf v2.0 entry's program has it (training_results_v2.0, Graphcore rnnt popart, transducer_blocks.py;
 * line by line in docs/maintainers/models-by-source.md): one convolution before the layers, attention head by head, norms after the sums, and the
 * predictor on the first IPU. Left out: norms over channels and time instead of channels, LSTMs in four shards, and
 * weight gradients made sample by sample.
 */
#include "workloads/models/builders.h"
#include <assert.h>

static const double encoder_dropout = 0.1, predictor_dropout = 0.3, joint_dropout = 0.3;

/* Labels of the longest transcript of 16.7 s (557 frames of 30 ms), for which a submission with static shapes makes room: logs of NVIDIA, MLPerf
 * Training v1.0, rnnt: max_txt_len 125. */
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
    uint32_t bias = build_weight(b, "biases", DIMS(8 * hidden));        /* a bias for each of the two products, as in the reference */
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

/* The first slice of time, which stands for all: the layer is repeated for the others. */
static uint32_t first_slice(struct builder *b, uint32_t x, uint64_t n_slices)
{
    if (n_slices < 2)
        return x;
    struct op_attributes at = { .axis = 1, .length = ceil_div(build_dim(b, x, 1), n_slices) };
    b->g->layers[b->g->n_layers - 1].repeats = (uint32_t)n_slices;
    return graph_op(b->g, OP_SLICE, &x, 1, at);
}

/* The joint network over encoder and predictor, and the loss. */
static void joint(struct builder *b, uint32_t encoded, uint32_t predicted, const struct joint_config *c)
{
    encoded = first_slice(b, encoded, c->n_slices);
    uint32_t x = build_op1(b, OP_RELU, build_op2(b, OP_OUTER_ADD, encoded, predicted));
    x = build_dense(b, build_dropout(b, x, joint_dropout), c->labels + 1, true);    /* labels and the blank */
    if (!b->training) {
        build_op1(b, OP_SOFTMAX, x);
        return;
    }
    uint32_t targets = build_input(b, "labels", TYPE_INT32, DIMS(b->batch, c->n_labels));
    struct op_attributes at = { .labels_per_sample = (double)c->n_labels, .pieces = (uint32_t)c->n_slices };
    graph_op(b->g, OP_TRANSDUCER_LOSS, (uint32_t[]){ x, targets }, 2, at);
}

void build_joint(struct builder *b, uint32_t encoded, const struct joint_config *c)
{
    build_layer(b, LAYER_LAST, 0, 0, 1, "predictor");
    uint32_t predicted = predictor(b, c);
    encoded = build_dense(b, encoded, c->joint_hidden, true);
    predicted = build_dense(b, predicted, c->joint_hidden, true);
    build_layer(b, LAYER_LAST, 0, 0, 1, "joint");
    joint(b, encoded, predicted, c);
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

/* The whole convolution before the layers, of 16 taps and a stride of 2, which halves the steps. Then positions are added (transducer_builder.py). */
static uint32_t subsampled(struct builder *b, uint32_t x, const struct transducer_config *c)
{
    uint64_t time = build_dim(b, x, 1), steps = time / c->subsampling;
    uint64_t reach = (steps - 1) * c->subsampling + c->kernel, zeros = reach - time;
    struct op_attributes at = { .kernel_h = 1, .kernel_w = (uint32_t)c->kernel, .stride = 1, .stride_w = (uint32_t)c->subsampling,
                                .zeros = { 0, (uint32_t)(zeros / 2), 0, (uint32_t)(zeros - zeros / 2) } };
    uint32_t w = build_weight(b, "kernel", DIMS(1, c->kernel, c->features, c->hidden));
    x = build_reshape(b, x, DIMS(b->batch, 1, time, c->features));
    x = build_bias(b, graph_op(b->g, OP_CONV, (uint32_t[]){ x, w }, 2, at));
    uint32_t positions = graph_tensor(b->g, "positions", ROLE_STATE, b->type, DIMS(1, steps, c->hidden));
    return build_op2(b, OP_ADD, build_reshape(b, x, DIMS(b->batch, steps, c->hidden)), positions);
}

/* [batch, time, width / heads] of the first head; the others have the next ids. */
static uint32_t first_head(struct builder *b, uint32_t x, uint64_t heads)
{
    return graph_op(b->g, OP_SLICE, &x, 1, (struct op_attributes){ .axis = 2, .pieces = (uint32_t)heads });
}

/* Attention that is computed one head after another, as the program does it. Its products have no biases (transducer_blocks.py:298-302). */
static uint32_t attention_by_heads(struct builder *b, uint32_t x, const struct transducer_config *c)
{
    uint64_t width = c->hidden / c->heads;
    uint32_t qkv[3], parts[MAX_OP_OUTPUTS];
    for (int i = 0; i < 3; i++)
        qkv[i] = first_head(b, build_dense(b, x, c->hidden, false), c->heads);
    assert(c->heads <= MAX_OP_OUTPUTS);
    for (uint32_t h = 0; h < c->heads; h++) {
        uint32_t key = qkv[1] + h;
        key = graph_op(b->g, OP_TRANSPOSE, &key, 1, (struct op_attributes){ .order = { 0, 2, 1 } });
        uint32_t scores = build_op2(b, OP_MATMUL, qkv[0] + h, key);
        scores = graph_op(b->g, OP_SCALE, &scores, 1, (struct op_attributes){ .rate = 1 / sqrt((double)width) });
        uint32_t shares = build_dropout(b, build_op1(b, OP_SOFTMAX, scores), encoder_dropout);
        parts[h] = build_op2(b, OP_MATMUL, shares, qkv[2] + h);
    }
    uint32_t y = c->heads == 1 ? parts[0] : graph_op(b->g, OP_CONCAT, parts, (uint32_t)c->heads, (struct op_attributes){ .axis = 2 });
    return build_dense(b, y, c->hidden, false);
}

static uint32_t transducer_layer(struct builder *b, uint32_t x, uint32_t i, const struct transducer_config *c)
{
    build_layer(b, LAYER_BODY, i, 0, 2, arena_printf(b->g->arena, "encoder%u/attention", i));
    x = build_layer_norm(b, build_op2(b, OP_ADD, attention_by_heads(b, x, c), x));
    build_layer(b, LAYER_BODY, i, 1, 2, arena_printf(b->g->arena, "encoder%u/feed-forward", i));
    uint32_t y = build_dropout(b, build_op1(b, OP_RELU, build_dense(b, x, c->inner, true)), encoder_dropout);
    return build_layer_norm(b, build_op2(b, OP_ADD, build_dense(b, y, c->hidden, true), x));
}

bool transducer_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)err;
    const struct model_options *o = b->o;
    const struct transducer_config *c = w->config;
    uint64_t frames = frames_of(w, o, c->subsampling);
    struct joint_config j = { c->predictor_hidden, c->predictor_layers, c->joint_hidden, c->labels, labels_of(o, frames), o->joint_slices };
    build_layer(b, LAYER_FIRST, 0, 0, 1, "predictor");
    uint32_t predicted = build_dense(b, predictor(b, &j), c->joint_hidden, true);
    build_layer(b, LAYER_FIRST, 0, 0, 1, "front-end");
    uint32_t x = subsampled(b, features(b, frames, c->features), c);
    for (uint32_t i = 0; i < c->n_layers; i++)
        x = transducer_layer(b, x, i, c);
    build_layer(b, LAYER_LAST, 0, 0, 1, "joint-product");
    x = build_dense(b, x, c->joint_hidden, true);
    build_layer(b, LAYER_LAST, 0, 0, 1, "joint");
    joint(b, x, predicted, &j);
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

enum { LONGEST_UTTERANCE_FRAMES = 557,          /* 16.7 s in frames of 30 ms: longer ones are left out of training */
       LONGEST_SLOWED_FRAMES = 659 };           /* 16.8 s at 0.85 of their speed (transducer_train.py:213 and conf_utils.py:93 of that entry) */
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
      transducer_build, &transducer, LONGEST_SLOWED_FRAMES, "rnnt", TAKES_SEQUENCES | HAS_TRANSCRIPTS | HAS_JOINT },
    { 0 }
};
