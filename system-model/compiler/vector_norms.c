/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_norms.c - batch, layer and group norms as passes (vector_plan.c).
 *
 * Forward: statistics (two sums in one pass, or popnn's stable way). A layer or group norm then subtracts, multiplies, multiplies and adds (popnn
 * GroupNorm.cpp, groupNormalise). A batch norm has one product and one sum: TensorFlow and PopART combine gamma with the deviation, and beta with the mean, channel
 * by channel (graphcore/tensorflow sdk 2.1.0 to 2.5.1 driver/ops/custom_ops/popnn/norm.cc, BatchNormalise; graphcore/popart d2f20d78 willow/src/popx/op/batchnormx.cpp:56-80).
 * In inference its statistics are known. Backward, as PopLibs has it (7eac0f26 lib/poplin/Norms.cpp, normStatisticsGradientsImpl and normParamGradients):
 * the gradient and its product with the whitened input, side by side, are one sum; then the product's share, the mean's, their sum and the deviation are a pass
 * each. Left out: a copy of the gradient, which is dead after it; Poplar elides such copies (lib/poplin/Convolution.cpp:2746-2753 at sdk 2.3.0, a comment).
 *
 * PopLibs has no RMS norm. Programs build it of single operations, in fp32 between two casts (graphcore/examples 3cc8f81
 * nlp/llama/popxl/modelling/rms_norm.py, nlp/t5/popxl/modelling/layer_norm.py): x x, mean, + epsilon, root, a division by rows, and the product with gamma.
 * Its gradient is PopART's, operation by operation (d2f20d78 willow/src/patterns/divarg1gradoppattern.cpp, sqrtgradoppattern.cpp,
 * mularggradoppattern.cpp, willow/src/popx/op/reducemeanx.cpp).
 */
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* The number of statistics that a norm keeps: one for each channel, group or row. */
static uint64_t norm_statistics(const struct vector_op *w)
{
    if (w->op->kind == OP_BATCH_NORM)
        return w->last;
    if (w->op->kind == OP_LAYER_NORM)
        return w->n / w->last;
    return w->x->dims[0] * max_u64(1, w->forward->at->norm_groups);
}

/* Combines n elements with a value for each row, or for each channel. */
static void add_statistic(struct passes *p, enum map_channels op, uint64_t n, bool by_row)
{
    if (by_row)
        passes_map_rows(p, n);
    else
        passes_map_channels(p, op, n);
}

/* A norm over several replicas copies its sums into the all-reduce and back: two more passes on this chip. */
static void add_shared_statistics(struct passes *p, const struct vector_op *w, uint64_t n)
{
    if (w->op->kind != OP_BATCH_NORM || w->forward->at->norm_groups < 2)
        return;
    passes_map(p, MAP_COPY, n);
    passes_map(p, MAP_BINARY, n);
}

/* Subtracts the mean and multiplies by the inverse deviation, each with a value for each row or for each channel. */
static void add_whitening(struct passes *p, uint64_t n, uint64_t n_statistics, bool by_row)
{
    passes_broadcast(p, 2 * n_statistics, n);
    add_statistic(p, CHANNELS_ADD, n, by_row);
    add_statistic(p, CHANNELS_MUL_IN_PLACE, n, by_row);
}

/* The multiplicand and the addend of each channel. */
static void add_combined_channels(struct passes *p, uint64_t n_channels)
{
    passes_map(p, MAP_BINARY, n_channels);
    passes_map(p, MAP_BINARY, n_channels);
}

/* times gamma, out of place because the whitened values are kept, plus beta */
static void add_gamma_beta(struct passes *p, uint64_t n, uint64_t n_channels)
{
    passes_broadcast(p, 2 * n_channels, n);
    passes_map_channels(p, CHANNELS_MUL, n);
    passes_map_channels(p, CHANNELS_ADD, n);
}

/* Mean and variance are two sums in one pass. popnn's stable way sums, subtracts the mean, then sums the squares. */
static void add_statistics(struct passes *p, const struct vector_op *w, uint64_t n, uint64_t k, bool by_row)
{
    bool stable = w->forward->at->stable;
    passes_reduction(p, MAP_REDUCE, by_row, n, k, stable ? 1 : 2);
    add_shared_statistics(p, w, stable ? k : 2 * k);
    if (!stable)
        return;
    passes_broadcast(p, k, n);
    add_statistic(p, CHANNELS_ADD, n, by_row);
    passes_reduction(p, MAP_REDUCE, by_row, n, k, 1);
    add_shared_statistics(p, w, k);
}

/* The sums of the gradient and of its product with the whitened input: one reduction of both. */
static void add_gradient_sums(struct passes *p, uint64_t n, uint64_t n_sums, bool by_row)
{
    passes_map(p, MAP_BINARY, n);
    passes_reduction(p, MAP_REDUCE, by_row, 2 * n, 2 * n_sums, 1);
}

/* Notes the cycles of statistics that replicas share, as TensorFlow keeps these for recomputation. */
static void note_shared_statistics(struct op_plan *plan, const struct vector_op *w)
{
    if (w->forward->at->norm_groups > 1)
        plan->shared_cycles[0] = plan->compute_cycles, plan->shared_cycles[1] = plan->exchange_cycles, plan->shared_cycles[2] = plan->sync_cycles;
}

static void plan_batch_norm(struct passes *p, const struct vector_op *w)
{
    bool known = w->opt->inference;
    if (!known) {
        add_statistics(p, w, w->n, w->last, false);
        note_shared_statistics(p->plan, w);
    }
    passes_map(p, MAP_RSQRT, w->last);
    add_combined_channels(p, w->last);
    if (!known)
        passes_map(p, MAP_BINARY, w->last);         /* the variance */
    add_gamma_beta(p, w->n, w->last);
}

/* The moving averages of a channel take three compute sets: a cast and two sums in PopART (batchnormx.cpp:206-270); two differences and two sums in TensorFlow's
 * program, one more (graphcore/examples v2.4.0 applications/tensorflow/cnns/training/Models/batch_norm.py:66-75). They count in the backward pass, as they
 * are not run again. */
static void add_moving_averages(struct passes *p, uint64_t n_channels)
{
    passes_map(p, MAP_CAST, n_channels);
    passes_map(p, MAP_BINARY, n_channels);
    passes_map(p, MAP_BINARY, n_channels);
}

void plan_norm(struct passes *p, const struct vector_op *w)
{
    uint64_t n = w->n, k = norm_statistics(w);
    bool by_row = w->op->kind == OP_LAYER_NORM, of_batch = w->op->kind == OP_BATCH_NORM;
    if (w->op->pass == PASS_FORWARD && of_batch) {
        plan_batch_norm(p, w);
        return;
    }
    if (w->op->pass == PASS_FORWARD) {
        add_statistics(p, w, n, k, by_row);
        passes_map(p, MAP_RSQRT, k);
        add_whitening(p, n, k, by_row);
        add_gamma_beta(p, n, w->last);
        return;
    }
    if (w->op->pass == PASS_BACKWARD_WEIGHT) {
        add_gradient_sums(p, n, w->last, false);        /* the data pass has made the normalised input */
        return;
    }
    if (of_batch) {
        add_moving_averages(p, k);
        passes_map(p, MAP_RSQRT, k);    /* frameworks keep the variance, not the deviation */
    }
    add_whitening(p, n, k, by_row);     /* the normalised input is made again, once for both gradients */
    passes_map_channels(p, CHANNELS_MUL, n);        /* gradient times gamma */
    add_gradient_sums(p, n, k, by_row);
    add_shared_statistics(p, w, 2 * k);
    passes_map(p, MAP_SCALAR, k);
    passes_broadcast(p, 2 * k, n);
    add_statistic(p, CHANNELS_MUL, n, by_row);      /* the gradient through the deviation */
    add_statistic(p, CHANNELS_ADD, n, by_row);      /* the gradient through the mean */
    passes_map(p, MAP_SCALED_ADD, n);
    add_statistic(p, CHANNELS_MUL_IN_PLACE, n, by_row);
}

/* The passes between the casts are in fp32. */
static void cast_width(struct passes *p, const struct vector_op *w, uint64_t bytes)
{
    uint64_t own = data_type_bytes(w->x->type);
    if (own != 4)
        passes_superstep(p, map_cycles(p->chip, MAP_CAST, passes_share(p, w->n), own));
    p->element_bytes = bytes;
}

/* Brings a value for each row to the row, and divides by it. */
static void divide_by_rows(struct passes *p, uint64_t n, uint64_t n_rows)
{
    passes_broadcast(p, n_rows, n);
    passes_map(p, MAP_DIVIDE_NUMBER, n);
}

static void add_rms_forward(struct passes *p, const struct vector_op *w, uint64_t n_rows)
{
    cast_width(p, w, 4);
    passes_map(p, MAP_BINARY, w->n);
    passes_reduction(p, MAP_REDUCE, true, w->n, n_rows, 1);
    passes_map(p, MAP_DIVIDE_NUMBER, n_rows);
    passes_map(p, MAP_SCALAR, n_rows);
    passes_map(p, MAP_SQRT, n_rows);
    divide_by_rows(p, w->n, n_rows);
    cast_width(p, w, data_type_bytes(w->x->type));
}

/* The gradient reaches x as the dividend, and as both factors of the mean square through the root: -(dy x) / root^2, summed, over twice the root, spread. */
static void add_rms_backward(struct passes *p, const struct vector_op *w, uint64_t n_rows)
{
    passes_broadcast(p, w->last, w->n);
    passes_map_channels(p, CHANNELS_MUL, w->n);
    cast_width(p, w, 4);
    divide_by_rows(p, w->n, n_rows);
    passes_map(p, MAP_SQUARE, n_rows);
    passes_map(p, MAP_BINARY, w->n);
    divide_by_rows(p, w->n, n_rows);
    passes_map(p, MAP_SCALAR, w->n);
    passes_reduction(p, MAP_REDUCE, true, w->n, n_rows, 1);
    passes_map(p, MAP_SCALAR, n_rows);
    passes_map(p, MAP_DIVIDE, n_rows);
    passes_broadcast(p, n_rows, w->n);
    passes_map(p, MAP_DIVIDE_NUMBER, w->n);
    for (int i = 0; i < 4; i++)             /* two products, and two additions to the gradient of the dividend */
        passes_map(p, MAP_BINARY, w->n);
    cast_width(p, w, data_type_bytes(w->x->type));
}

void plan_rms_norm(struct passes *p, const struct vector_op *w)
{
    uint64_t n_rows = w->n / w->last;
    if (w->op->pass == PASS_FORWARD) {
        add_rms_forward(p, w, n_rows);
        passes_broadcast(p, w->last, w->n);
        passes_map_channels(p, CHANNELS_MUL, w->n);
    } else if (w->op->pass == PASS_BACKWARD_WEIGHT) {
        passes_map(p, MAP_BINARY, w->n);
        passes_reduction(p, MAP_REDUCE, false, w->n, w->last, 1);
    } else {
        add_rms_backward(p, w, n_rows);
    }
}
