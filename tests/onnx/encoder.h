/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * encoder.h - an encoder layer written as PyTorch exports it: norms in pieces, attention, GELU by erf or by tanh.
 */
#ifndef ENCODER_H
#define ENCODER_H
#include "tests/onnx/import.h"

enum { TOKENS = 5, WIDTH = 12, HEADS = 3, INNER = 20 };

static inline void draft_layer_norm(struct draft *d, const char *x, const char *y, const char *tag)
{
    struct arena *a = &d->arena;
#define NAME(part) arena_printf(a, "%s_%s", tag, part)
    draft_weight(d, NAME("gamma"), DIMS(WIDTH));
    draft_weight(d, NAME("beta"), DIMS(WIDTH));
    draft_number(d, NAME("eps"), 1e-5);
    draft_number(d, NAME("two"), 2);
    draft_node(d, "ReduceMean", x, NAME("mean"), "axes=-1");
    draft_node(d, "Sub", arena_printf(a, "%s %s", x, NAME("mean")), NAME("d"), "");
    draft_node(d, "Pow", arena_printf(a, "%s %s", NAME("d"), NAME("two")), NAME("sq"), "");
    draft_node(d, "ReduceMean", NAME("sq"), NAME("var"), "axes=-1");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("var"), NAME("eps")), NAME("ve"), "");
    draft_node(d, "Sqrt", NAME("ve"), NAME("root"), "");
    draft_node(d, "Div", arena_printf(a, "%s %s", NAME("d"), NAME("root")), NAME("n"), "");
    draft_node(d, "Mul", arena_printf(a, "%s %s", NAME("n"), NAME("gamma")), NAME("g"), "");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("g"), NAME("beta")), y, "");
}

static inline void draft_dense(struct draft *d, const char *x, const char *y, const char *tag, uint64_t in, uint64_t out)
{
    struct arena *a = &d->arena;
    draft_weight(d, NAME("kernel"), DIMS(in, out));
    draft_weight(d, NAME("bias"), DIMS(out));
    draft_node(d, "MatMul", arena_printf(a, "%s %s", x, NAME("kernel")), NAME("product"), "");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("bias"), NAME("product")), y, "");
}

static inline struct draft *draft_encoder(bool tanh_form)
{
    struct draft *d = draft_start(14);
    draft_input(d, "x", ONNX_FLOAT, "batch,5,12");
    draft_whole(d, "heads", WHOLE(0, TOKENS, HEADS, WIDTH / HEADS));
    draft_whole(d, "joined", WHOLE(0, TOKENS, WIDTH));
    draft_layer_norm(d, "x", "a", "ln1");
    draft_dense(d, "a", "q", "q", WIDTH, WIDTH);
    draft_dense(d, "a", "k", "k", WIDTH, WIDTH);
    draft_dense(d, "a", "v", "v", WIDTH, WIDTH);
    draft_text(d, "Reshape q heads > q1; Transpose q1 > q2 perm=0,2,1,3; Reshape k heads > k1; "
                  "Transpose k1 > k2 perm=0,2,3,1; Reshape v heads > v1; Transpose v1 > v2 perm=0,2,1,3; "
                  "MatMul q2 k2 > scores");
    draft_number(d, "two", 2);
    draft_node(d, "Div", "scores two", "scaled", "");       /* sqrt(12 / 3) */
    draft_text(d, "Softmax scaled > shares axis=-1; MatMul shares v2 > mixed; "
                  "Transpose mixed > mixed1 perm=0,2,1,3; Reshape mixed1 joined > mixed2");
    draft_dense(d, "mixed2", "o", "o", WIDTH, WIDTH);
    draft_node(d, "Add", "x o", "x1", "");
    draft_layer_norm(d, "x1", "b", "ln2");
    draft_dense(d, "b", "h", "f1", WIDTH, INNER);
    draft_number(d, "half", 0.5);
    draft_number(d, "one", 1);
    draft_number(d, "root2", 1.41421354);
    draft_number(d, "three", 3);
    draft_number(d, "c", 0.044715);
    draft_number(d, "s", 0.79788458);
    if (tanh_form) {
        draft_text(d, "Mul h h > hsq; Mul hsq h > h3; Mul h3 c > h4; Add h h4 > h5; Mul h5 s > h6; Tanh h6 > e; Add e one > e1; "
                      "Mul half h > hh; Mul hh e1 > gelu");
    } else {
        draft_text(d, "Div h root2 > hr; Erf hr > e; Add e one > e1; Mul h e1 > he; Mul he half > gelu");
    }
    draft_dense(d, "gelu", "m", "f2", INNER, WIDTH);
    draft_node(d, "Add", "x1 m", "y", "");
    return d;
#undef NAME
}

#endif
