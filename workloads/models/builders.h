/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builders.h - short forms of graph operations that the model families share, and the configurations of some families.
 */
#ifndef BUILDERS_H
#define BUILDERS_H
#include "system-model/graph/graph.h"
#include "workloads/models/models.h"

/* A graph under construction, with the options that shape it. */
struct builder {
    struct graph *g;
    const struct model_options *o;
    enum data_type type;                /* the type of weights and activations */
    enum data_type product_type;        /* the type of factors of products in the body: fp8 if the options say so */
    bool training;
    uint64_t batch;
    uint64_t undivided_queries;         /* the number of pieces that was asked for but does not divide the queries; 0 if none */
};
/* Starts an empty graph. The functions below return the tensor that they make. */
struct builder builder_start(struct graph *g, const char *name, const struct model_options *o, struct arena *a);

/* Opens a layer, to which all later operations belong. */
uint32_t build_layer(struct builder *b, enum layer_role role, uint32_t block_id, uint32_t part_id, uint32_t n_parts,
                     const char *name);
#define DIMS(...) (sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)), (const uint64_t[]){ __VA_ARGS__ }
uint32_t build_weight(struct builder *b, const char *name, size_t n_dims, const uint64_t *dims);
uint32_t build_input(struct builder *b, const char *name, enum data_type type, size_t n_dims, const uint64_t *dims);
uint32_t build_op1(struct builder *b, enum op_kind kind, uint32_t x);
uint32_t build_op2(struct builder *b, enum op_kind kind, uint32_t x, uint32_t y);
uint64_t build_width(const struct builder *b, uint32_t x);              /* the last dimension */
uint64_t build_dim(const struct builder *b, uint32_t x, uint32_t i);
/* The two factors of a convolution or matmul. build_factor() returns x, cast to fp8 if products are fp8; build_product_weight() makes a weight of
 * the products' type. */
uint32_t build_factor(struct builder *b, uint32_t x);
uint32_t build_product_weight(struct builder *b, size_t n_dims, const uint64_t *dims);
/* A matrix of the products' type, or of packed numbers that are unpacked before the product. */
uint32_t build_matrix(struct builder *b, uint64_t rows, uint64_t columns);
uint32_t build_bias(struct builder *b, uint32_t x);
uint32_t build_dense(struct builder *b, uint32_t x, uint64_t width, bool bias);    /* x times a new matrix, plus a bias */
uint32_t build_layer_norm(struct builder *b, uint32_t x);
uint32_t build_rms_norm(struct builder *b, uint32_t x, double epsilon);
uint32_t build_dropout(struct builder *b, uint32_t x, double rate);     /* drops out in training only */
/* A dropout in place, as torch's dropout_ runs it, because PopTorch from 3.0 on does not intercept that function
 * (poptorch/source/dispatch_tracer/RegisterOptionalAtenOps.cpp.inc has dropout alone): four operations make noise
 * (popart_canonicalization/RandomSamplingOps.cpp:69, bernoulli; ATen's Dropout.cpp), and a product applies it. */
uint32_t build_dropout_in_place(struct builder *b, uint32_t x, double rate);
uint32_t build_gather(struct builder *b, uint32_t table, uint32_t indices);
uint32_t build_view(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims);     /* a view, copied into a layout of its own */
uint32_t build_reshape(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims);  /* a reshape, in which nothing moves */
/* Turns class scores into a loss in training, into probabilities in inference. */
uint32_t build_classes(struct builder *b, uint32_t scores, size_t n_dims, const uint64_t *label_dims);

/* The number of tokens that a pass of a text model computes: the whole text that its options or the workload give or, with a cache, only the newest
 * token. */
uint64_t build_text_length(const struct builder *b, const struct workload *w);
uint64_t build_tokens_at_once(const struct builder *b, uint64_t length);
/* The addend of scores that hides later tokens, [1, 1, tokens at once, length]. */
uint32_t build_causal_mask(struct builder *b, uint64_t length);
/* Ends a text model with the scores [batch, tokens, vocabulary], from which it makes a loss, probabilities, or the next token. */
void build_next_tokens(struct builder *b, uint32_t scores);

/* Tables of cosines and sines [1, tokens at once, turned / 2] that turn queries and keys; a model without them has zeros. */
struct rotary { uint32_t cosines, sines; bool neighbours; };
struct rotary build_rotary(struct builder *b, uint64_t length, uint64_t turned, bool neighbours);

/* Self-attention of [batch, time, width]; mask is added to the scores, NO_ID if none. */
struct attention {
    uint64_t heads; uint32_t mask; double dropout; bool split_qkv;
    uint64_t key_heads;                 /* heads of keys and values, which one product makes while another makes the queries; 0: one product makes all three */
    bool unbiased, unscaled;            /* unbiased: products have no biases; unscaled: scores are not divided by the root of a head's width */
    struct rotary rotary;
    uint64_t past;                      /* keys and values that the chip or streaming memory holds, the newest token's place included; 0: none */
    uint32_t biases;                    /* biases of positions, by head, which are added to the scores before the mask; 0: none */
    uint32_t factor;                    /* a factor of the scores, before the mask is added, and of the shares after the softmax; 0: none */
    bool joins_weights;                 /* with split_qkv, only the weights are separate; they are joined for one product */
    bool shares_key;                    /* the value's product has the key's weights */
    bool divides;                       /* scores are divided by the root of a head's width; else multiplied by its inverse */
    uint32_t positions;                 /* [time, width] of relative positions, which are scored too (Transformer-XL); 0 if none */
};
uint32_t build_attention(struct builder *b, uint32_t x, const struct attention *at);
/* Queries from x, keys and values from another sequence [batch, other time, width]. */
uint32_t build_cross_attention(struct builder *b, uint32_t x, uint32_t other, const struct attention *at);
/* The function between the two products of a feed-forward part: of this kind, unless the options name another. */
uint32_t build_activation(struct builder *b, uint32_t x, enum op_kind usual);
uint32_t build_scale(struct builder *b, uint32_t x, double by);
uint32_t build_feed_forward(struct builder *b, uint32_t x, uint64_t inner, enum op_kind activation, double inner_dropout);
/* activation(x U) (x V) W without biases (Shazeer 2020, arXiv 2002.05202); joined: U and V are one product. */
uint32_t build_gated_feed_forward(struct builder *b, uint32_t x, uint64_t inner, enum op_kind activation, bool joined);
/* [batch, time, width] to [batch, heads, time, width / heads], and back. */
uint32_t build_to_heads(struct builder *b, uint32_t x, uint64_t heads);
uint32_t build_from_heads(struct builder *b, uint32_t x);
enum { FEED_FORWARD = 4 };              /* usual width of a decoder's feed-forward part over its hidden width */
/* Block i of a transformer whose norms come first, as two layers: NAMEi/attention and NAMEi/feed-forward, with GELU. */
uint32_t build_block(struct builder *b, uint32_t x, const char *name, uint32_t i, const struct attention *at, uint64_t inner, double inner_dropout,
                     double dropout);

/* ---- networks for images --------------------------------------------------------------------------------------------- */

enum { N_IMAGE_CLASSES = 1000 };        /* ImageNet */

/* width 0: the kernel is square; the padding is half the kernel, unless unpadded. */
struct conv_spec { uint32_t kernel, width, stride, groups; uint64_t channels; bool unpadded; };
uint32_t build_conv(struct builder *b, uint32_t x, struct conv_spec c);
/* A depthwise convolution over the time of [batch, time, width] that keeps the number of steps, its taps along the inner field axis. */
uint32_t build_time_conv(struct builder *b, uint32_t x, uint64_t kernel);
/* Batch norm, or group norm where the options ask for one; in inference a batch norm is folded and leaves a bias. */
uint32_t build_norm(struct builder *b, uint32_t x);
uint32_t build_own_norm(struct builder *b, uint32_t x);     /* a norm that stays an operation, because no convolution comes directly before it */
uint32_t build_conv_norm(struct builder *b, uint32_t x, struct conv_spec c);
uint32_t build_pool(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad);
uint64_t build_side(const struct builder *b, uint32_t x);   /* the side of square images [batch, side, side, channels], in pixels */
/* The mean over height and width. */
uint32_t build_global_pool(struct builder *b, uint32_t x);
/* Square images of three channels; bytes are cast and normalised on the chip. */
uint32_t build_images(struct builder *b, uint64_t size, uint64_t channels);
/* Ends a network for images: the mean over the image, a product, and the loss. */
void build_image_head(struct builder *b, uint32_t x, uint64_t classes, double dropout);

/* ---- families that tests build in sizes of their own: w->config points to the configuration ----------------------------- */

build_model resnet_build, efficientnet_build, mobilenet_build, vit_build, bert_build, decoder_build, t5_build, rnnt_build, transducer_build, conformer_build;

/* groups 0: a plain 3x3 convolution. image 0: photographs of 224 pixels; else pixels in a row of small images. width: channels of the first stage,
 * 0: 64; classes 0: ImageNet's. */
struct resnet_config { uint64_t units[4]; bool bottleneck; uint32_t groups, group_width; uint64_t image, image_channels, width, classes; };

/* width and depth: in tenths of the smallest network's; group 1: depthwise; image 0: the size comes from the options */
struct inverted_config { uint64_t width_tenths, depth_tenths, image; double dropout; uint32_t group, expansion; };
struct vit_config { uint64_t n_layers, hidden, heads, inner, patch, image; };
struct bert_config { uint64_t n_layers, hidden, heads, inner, vocabulary, positions; };
/* inner 0: four times `hidden`; key_heads 0: as many as `heads`, and one product makes query, key and value; turned: elements of a head that the
 * position turns, 0: all; positions 0: no positions are learned; loss_tokens: tokens of a slice whose loss is computed by itself, 0: the whole text
 * is one slice; epsilon: that of RMS norms. */
enum decoder_name { DECODER_GPT2, DECODER_GPTJ, DECODER_LLAMA, DECODER_BLOOM };
struct decoder_config { enum decoder_name kind; uint64_t n_layers, hidden, heads, key_heads, inner, turned, vocabulary, positions, loss_tokens; double dropout, epsilon; };
struct t5_config { uint64_t n_layers, hidden, heads, inner, vocabulary; };         /* n_layers of the encoder, and of the decoder */
struct rnnt_config {
    uint64_t features, encoder_hidden, encoder_first, encoder_second, time_stack;
    uint64_t predictor_hidden, predictor_layers, joint_hidden, labels;
};
struct transducer_config {
    uint64_t n_layers, hidden, heads, inner, kernel, subsampling, features;
    uint64_t predictor_hidden, predictor_layers, joint_hidden, labels;
};
/* predictor: the width of a transducer's LSTM and joint network; 0: no transducer, the model is trained by CTC and a transformer decoder. */
struct conformer_config { uint64_t n_encoder, n_decoder, hidden, heads, inner, kernel, features, vocabulary, labels, predictor; };

/* rnnt.c: predictor, joint network and transducer loss over an encoder's [batch, time, width]; opens one layer. */
struct joint_config { uint64_t predictor_hidden, predictor_layers, joint_hidden, labels, n_labels, n_slices; };
void build_joint(struct builder *b, uint32_t encoded, const struct joint_config *c);

#endif
