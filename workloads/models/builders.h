/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builders.h - what the model families share: short forms of graph operations, precision, and their config tables.
 */
#ifndef BUILDERS_H
#define BUILDERS_H
#include "system-model/graph/graph.h"
#include "workloads/models/models.h"

/* A graph under construction with what shapes it. */
struct builder {
    struct graph *g;
    const struct model_options *o;
    enum data_type type;                /* of weights and activations */
    enum data_type product_type;        /* of the factors of products in the body: fp8 where that is asked for */
    bool training;
    uint64_t batch;
};
/* Empty; its name and options are the caller's. Functions that build return the tensor that comes out. */
struct builder builder_start(struct graph *g, const char *name, const struct model_options *o, struct arena *a);

/* Opens a layer, struct layer's fields; all that is built belongs to it until the next one. */
uint32_t build_layer(struct builder *b, enum layer_role role, uint32_t block_id, uint32_t part_id, uint32_t n_parts,
                     const char *name);
#define DIMS(...) (sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)), (const uint64_t[]){ __VA_ARGS__ }
uint32_t build_weight(struct builder *b, const char *name, size_t n_dims, const uint64_t *dims);
uint32_t build_input(struct builder *b, const char *name, enum data_type type, size_t n_dims, const uint64_t *dims);
uint32_t build_op1(struct builder *b, enum op_kind kind, uint32_t x);
uint32_t build_op2(struct builder *b, enum op_kind kind, uint32_t x, uint32_t y);
uint64_t build_width(const struct builder *b, uint32_t x);              /* the last dimension */
uint64_t build_dim(const struct builder *b, uint32_t x, uint32_t i);
/* What stands in a convolution or a matmul: x, cast if products are in fp8; a new matrix of weights, stored as that. */
uint32_t build_factor(struct builder *b, uint32_t x);
uint32_t build_product_weight(struct builder *b, size_t n_dims, const uint64_t *dims);
uint32_t build_bias(struct builder *b, uint32_t x);
uint32_t build_dense(struct builder *b, uint32_t x, uint64_t width, bool bias);    /* x times a new matrix, plus a bias */
uint32_t build_layer_norm(struct builder *b, uint32_t x);
uint32_t build_dropout(struct builder *b, uint32_t x, double rate);     /* in training only */
uint32_t build_gather(struct builder *b, uint32_t table, uint32_t indices);
uint32_t build_view(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims);     /* and brought into its own layout */
uint32_t build_reshape(struct builder *b, uint32_t x, size_t n_dims, const uint64_t *dims);  /* nothing moves */
/* Class scores to a loss in training, to probabilities in inference. */
uint32_t build_classes(struct builder *b, uint32_t scores, size_t n_dims, const uint64_t *label_dims);

/* [batch, time, width] through self-attention of so many heads; mask is added to the scores, NO_ID: none. */
struct attention {
    uint64_t heads; uint32_t mask; double dropout; bool split_qkv;
    bool select;                        /* the mask says which scores count, instead of being added */
    bool select_again;                  /* and which shares do, after the softmax */
    uint32_t positions;                 /* [time, width] of relative positions, scored too (Transformer-XL); 0: none */
};
uint32_t build_attention(struct builder *b, uint32_t x, const struct attention *at);
/* Queries of x, keys and values of another sequence: [batch, other time, width]. */
uint32_t build_cross_attention(struct builder *b, uint32_t x, uint32_t other, const struct attention *at);
uint32_t build_feed_forward(struct builder *b, uint32_t x, uint64_t inner, enum op_kind activation);

/* ---- families that are built in a test too, at sizes of its own: a config, and the builder that reads it as w->config ------ */

struct resnet_config { uint64_t units[4]; bool bottleneck; uint32_t groups, group_width; };     /* groups 0: a plain 3x3 convolution */
bool resnet_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

/* inverted.c: width and depth in tenths of the smallest; group 1: depthwise; image 0: as the options have it. */
struct inverted_config { uint64_t width_tenths, depth_tenths, image; double dropout; uint32_t group, expansion; };
bool efficientnet_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);
bool mobilenet_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

struct vit_config { uint64_t n_layers, hidden, heads, inner, patch, image; };
bool vit_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

struct bert_config { uint64_t n_layers, hidden, heads, inner, vocabulary, positions; };
bool bert_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

struct gpt2_config { uint64_t n_layers, hidden, heads, vocabulary, positions; };
bool gpt2_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

struct rnnt_config {
    uint64_t features, encoder_hidden, encoder_first, encoder_second, time_stack;
    uint64_t predictor_hidden, predictor_layers, joint_hidden, labels;
};
bool rnnt_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

struct transducer_config {
    uint64_t n_layers, hidden, heads, inner, kernel, subsampling, features;
    uint64_t predictor_hidden, predictor_layers, joint_hidden, labels;
};
bool transducer_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

/* predictor 0: trained by alignment and a transformer decoder; else a transducer, with one LSTM so wide and a joint network as wide. */
struct conformer_config { uint64_t n_encoder, n_decoder, hidden, heads, inner, kernel, features, vocabulary, labels, predictor; };
bool conformer_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

/* onnx_file.c: of the file that the options name. */
bool onnx_file_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err);

/* rnnt.c: predictor, joint network and transducer loss over an encoder's [batch, time, width]; opens one layer. */
struct joint_config { uint64_t predictor_hidden, predictor_layers, joint_hidden, labels, n_labels, n_slices; };
void build_joint(struct builder *b, uint32_t encoded, const struct joint_config *c);

#endif
