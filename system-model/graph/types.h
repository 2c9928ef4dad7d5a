/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * types.h - the few types of a graph that headers need where the graph itself is only pointed at. Include graph.h to
 * look inside one.
 */
#ifndef GRAPH_TYPES_H
#define GRAPH_TYPES_H
#include <stdint.h>

struct graph;
struct op;
struct tensor;

#define NO_ID UINT32_MAX        /* the index that names nothing */

enum data_type { TYPE_FP16, TYPE_FP32, TYPE_FP8, TYPE_INT32, TYPE_UINT8, TYPE_INT4, N_DATA_TYPES };      /* INT4: packed in words, with a scale and an addend for each group */
enum { PACKED_GROUP = 64 };     /* numbers of 4 bits that share a scale and an addend of fp16 */
uint64_t data_type_bytes(enum data_type t);
extern const char *const float_type_names[];    /* the first three, NULL-ended, as field tables want */

enum op_pass { PASS_FORWARD, PASS_BACKWARD_DATA, PASS_BACKWARD_WEIGHT, N_OP_PASSES };
extern const char *const op_pass_names[N_OP_PASSES];

/* Forward operations that a layer's backward pass does without, as what they make reaches later layers alone: AHEAD_OF_CHECKPOINT if the results that leave the
 * layer are kept, AHEAD_OF_STAGE even if they are not. */
enum ahead { AHEAD_NEVER, AHEAD_OF_CHECKPOINT, AHEAD_OF_STAGE, N_AHEADS };

#endif
