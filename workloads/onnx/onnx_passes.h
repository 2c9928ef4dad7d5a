/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_passes.h - the way of a file, pass by pass: read.c (bytes to nodes and values), infer.c (sizes and shapes, with control.c for control flow
 * and sequences, shape.c and shape_moves.c for the rules, fold.c for known contents), fuse.c (patterns), build.c (nodes to operations, with the
 * map_*.c files), layers.c. operators.c says what applies to which operator. Private to this folder.
 */
#ifndef ONNX_PASSES_H
#define ONNX_PASSES_H
#include "workloads/onnx/onnx_model.h"

bool onnx_read(struct onnx_model *out, const char *path, bool contents, struct arena *a, struct err *err);

bool onnx_reach(struct onnx_model *m, const struct onnx_options *o, struct err *err);   /* retires nodes that no output needs */
bool onnx_infer(struct onnx_model *m, const struct onnx_options *o, struct err *err);
/* Replaces an operator that is not modelled by a similar one, where the table has one; the node is rough then. */
void onnx_stand_in(struct onnx_model *m, struct onnx_node *n);
void onnx_fuse(struct onnx_model *m);

/* layers.c: onnx_group_layers() gives every operation a layer, whose operations run equally often (rounds, by operation; NULL: all run once);
 * map_dependent() marks tensors that depend on one of this role. */
void onnx_group_layers(struct graph *g, const uint32_t *rounds);
/* Opens the layer that the node's metadata name, unless it is open. False if they name no layer. */
bool onnx_open_layer(struct graph *g, const struct onnx_node *n);
void map_dependent(bool *depends, const struct graph *g, enum tensor_role role);

typedef bool unfold_rule(struct onnx_model *m, size_t node_id, struct err *err);
/* control.c: these replace a node by the nodes of its branch or round, or by nodes that read the tensors of a sequence. */
unfold_rule unfold_if, unfold_loop, unfold_scan, unfold_sequence_alias, unfold_sequence_at, unfold_sequence_concat, unfold_sequence_construct,
    unfold_sequence_erase, unfold_sequence_insert, unfold_sequence_length, unfold_sequence_split;

#endif
