/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_code.c - bytes of code and vertex state on a tile, in the categories of the vendor's profiler (PopVision).
 *
 *     vertex code    the codelets in use, once each on an IPU
 *     vertex state   for each compute set the addresses of its operands, and worklists
 *     control code   for each superstep its sync and the call of its vertices; for code that is shared, a call
 *     exchange code  for each exchange its start and end; for each piece received, where it goes
 *
 * Operations with equal plans share one copy of code and state (outlining), and each further use costs a call; a program may be compiled
 * without (parallel.outlining). Sizes are in base/assumed.h.
 * Left out: codelets for operands that are not aligned, and what the linker adds.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiled.h"
#include "system-model/graph/graph.h"

/* Bytes of the codelets of an operation, by the part of time that it counts as. popliner, by operation; lookups: the embedding's share of
 * the first half of BERT-Large. What no profile shows is assumed to be a few of the smallest: recurrences, losses, pooling, optimizers. */
static const uint32_t codelet_bytes[N_PARTS] = {
    [PART_MATMUL] = 1600, [PART_CONV] = 1600, [PART_NORM] = 2019, [PART_SOFTMAX] = 1559, [PART_EMBEDDING] = 1076,
    [PART_ELEMENTWISE] = SMALL_CODELET_BYTES, [PART_REARRANGE] = SMALL_CODELET_BYTES, [PART_POOLING] = SMALL_CODELET_BYTES,
    [PART_LSTM] = 4 * SMALL_CODELET_BYTES, [PART_LOSS] = 2 * SMALL_CODELET_BYTES,
};

uint64_t vector_work_codelet_bytes(enum vector_work work)
{
    return work >= N_GRADIENT_WORKS ? 3 * SMALL_CODELET_BYTES : SMALL_CODELET_BYTES;
}

/* Products share codelets where vertex and types are equal; other operations where kind, direction and type are. */
static uint32_t codelet_id(const struct graph *g, const struct op *op, const struct op_plan *p)
{
    enum data_type type = g->tensors[op_forward(g, op)->inputs[0]].type;
    if (p->vertex != VERTEX_NONE)
        return ((uint32_t)p->vertex * 2 + p->partials) * N_DATA_TYPES + type;
    return (uint32_t)(N_VERTEX_KINDS * 2 + op->kind * 2 + (op->pass != PASS_FORWARD)) * N_DATA_TYPES + type;
}
enum { N_CODELETS = (N_VERTEX_KINDS * 2 + N_OP_KINDS * 2) * N_DATA_TYPES };

void program_start(struct tile_program *out, size_t n_codes, bool outlining, struct arena *a)
{
    *out = (struct tile_program){ .outlining = outlining, .has_code = ARENA_ARRAY(a, bool, n_codes), .has_codelet = ARENA_ARRAY(a, bool, N_CODELETS) };
}

void program_add_op(struct tile_program *out, const struct graph *g, const struct op *op, const struct op_plan *p)
{
    if (p->code.supersteps == 0)
        return;
    uint32_t codelet = codelet_id(g, op, p);
    out->bytes.vertex_code += out->has_codelet[codelet] ? 0 : codelet_bytes[op_part(op)];
    out->has_codelet[codelet] = true;
    if (out->outlining && out->has_code[p->code_id]) {
        bool called = out->is_called && out->layer_id == op->layer_id && out->pass == op->pass;
        out->bytes.control_code += called ? 0 : CALL_BYTES;
        out->is_called = true;
        out->layer_id = op->layer_id;
        out->pass = op->pass;
        return;
    }
    out->has_code[p->code_id] = true;
    out->is_called = false;
    program_bytes_add(&out->bytes, &p->code, 1);
}
