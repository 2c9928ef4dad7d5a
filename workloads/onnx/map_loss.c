/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_loss.c - losses in the path of a model that is not trained: their values are outputs like others.
 *
 * Each row of classes meets a one where its label stands, as PopLibs' encodeOneHot makes it: a label that is no class, as ignored ones often
 * are, has none, and counts for nothing.
 *     loss of a row = -(sum of ones x logarithms of shares) x the label's weight, or 0 if it is ignored
 *     mean = sum of losses / sum of weights
 */
#include "workloads/onnx/map_internal.h"

struct loss { uint64_t rows, classes; uint32_t labels, hot; };

/* [batch, classes, ...] to [rows, classes]; NO_ID: refused. */
static uint32_t rows_of_classes(struct mapper *p, uint64_t inner)
{
    const struct onnx_value *v = map_in(p, 0);
    uint32_t x = any_plain(p, in_id(p, 0));
    if (x != NO_ID && inner > 1)
        x = emit1(p, OP_TRANSPOSE, x, AT(.view = { v->dims[0], v->dims[1], inner }, .order = { 0, 2, 1 }));
    return x == NO_ID ? NO_ID : VIEW(p, x, onnx_elements(v) / v->dims[1], v->dims[1]);
}

static uint32_t product(struct mapper *p, uint32_t x, uint32_t y)
{
    return emit2(p, OP_MUL, x, y, NO_ATTRIBUTES);
}

/* By row, 1 where the label is another than the one that is ignored. */
static uint32_t counted(struct mapper *p, const struct loss *l, int64_t ignored)
{
    uint32_t number = graph_tensor(p->g, "ignored", ROLE_STATE, p->g->tensors[l->labels].type, 2, (uint64_t[]){ 1, 1 });
    map_source(p, number, ONNX_NUMBER, NO_ID)->number = (double)ignored;
    uint32_t labels = VIEW(p, l->labels, l->rows, 1);
    uint32_t same = emit2(p, OP_COMBINE, labels, number, AT(.function = FUNCTION_EQUAL));
    same = emit1(p, OP_CAST, same, AT(.to_type = p->g->tensors[l->hot].type));
    return map_shifted(p, map_scaled(p, same, -1), 1);
}

/* By row [rows, 1], its label's; NO_ID: all are 1. */
static uint32_t row_weights(struct mapper *p, const struct loss *l, uint32_t by_class)
{
    uint32_t weights = NO_ID;
    if (by_class != NO_ID) {
        by_class = VIEW(p, by_class, 1, l->classes);
        weights = map_row_sums(p, product(p, l->hot, by_class), l->rows, l->classes);
    }
    const Onnx__AttributeProto *ignored = onnx_attribute(p->n, "ignore_index");
    if (!ignored)
        return weights;
    uint32_t kept = counted(p, l, ignored->i);
    return weights == NO_ID ? kept : product(p, weights, kept);
}

/* Losses by row to what the node gives: all of them, their sum, or their mean. */
static uint32_t reduced(struct mapper *p, const struct loss *l, uint32_t losses, uint32_t weights)
{
    const char *reduction = onnx_string(p->n, "reduction", "mean", p->m->arena);
    if (text_is(reduction, "none"))
        return losses;
    uint32_t sum = map_row_sums(p, losses, 1, l->rows);
    if (text_is(reduction, "sum"))
        return sum;
    if (weights == NO_ID)
        return map_scaled(p, sum, 1 / (double)l->rows);
    return emit2(p, OP_COMBINE, sum, map_row_sums(p, weights, 1, l->rows), AT(.function = FUNCTION_DIVIDE));
}

static bool check_loss(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0), *weights = map_in(p, 2);
    if (v->n_dims < 2 || onnx_elements(map_in(p, 1)) != onnx_elements(v) / v->dims[1] || (weights && onnx_elements(weights) != v->dims[1]))
        return MAP_REFUSE(p, "wants one label for each row of classes, and a weight a class");
    if (onnx_elements(v) > UINT32_MAX)
        return MAP_REFUSE(p, "of %ju shares, at most %u", (uintmax_t)onnx_elements(v), UINT32_MAX);
    return true;
}

bool map_loss(struct mapper *p)
{
    const struct onnx_value *v = map_in(p, 0);
    bool softmax = text_is(p->n->op, "SoftmaxCrossEntropyLoss");
    if (!check_loss(p))
        return false;
    struct loss l = { .rows = onnx_elements(map_in(p, 1)), .classes = v->dims[1] };
    uint64_t inner = v->dims[0] ? l.rows / v->dims[0] : 0;
    bool weighted = map_in(p, 2) != NULL;
    uint32_t x = rows_of_classes(p, inner), by_class = weighted ? any_plain(p, in_id(p, 2)) : NO_ID;
    l.labels = x == NO_ID ? NO_ID : any_plain(p, in_id(p, 1));
    if (l.labels == NO_ID || (weighted && by_class == NO_ID))
        return false;
    x = softmax ? emit_function(p, FUNCTION_LOG, emit1(p, OP_SOFTMAX, x, NO_ATTRIBUTES)) : x;
    l.hot = map_ones_at(p, l.labels, l.rows, l.classes, p->g->tensors[x].type);
    uint32_t losses = map_scaled(p, map_row_sums(p, product(p, l.hot, x), l.rows, l.classes), -1), weights = row_weights(p, &l, by_class);
    uint32_t y = reduced(p, &l, weights == NO_ID ? losses : product(p, losses, weights), weights);
    if (map_is_wanted(p, 1) && inner > 1)
        x = emit1(p, OP_TRANSPOSE, x, AT(.view = { v->dims[0], inner, l.classes }, .order = { 0, 2, 1 }));
    p->into = "one-hot, sums";
    return map_done(p, 1, x, false) && map_done(p, 0, y, false);
}
